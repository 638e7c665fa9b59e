"""A line to an ssh server, as ProxyCommand: relay.py HOST PORT DELAY BYTES, seconds each way and bytes a
second. If a signal stops it, it is a line whose packets vanish."""

import queue
import socket
import sys
import threading
import time

host, port, delay, rate = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
server = socket.create_connection((host, port))


def carry(read, write):
    pieces = queue.Queue(256)

    def send():
        free_at = 0.0
        while (piece := pieces.get())[1]:
            came, content = piece
            free_at = max(free_at, came + delay) + len(content) / rate
            time.sleep(max(0.0, free_at - time.monotonic()))
            write(content)
        write(b"")

    sender = threading.Thread(target=send)
    sender.start()
    while content := read():
        pieces.put((time.monotonic(), content))
    pieces.put((0.0, b""))
    sender.join()


def to_server(content):
    server.sendall(content) if content else server.shutdown(socket.SHUT_WR)


def to_client(content):
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


back = threading.Thread(target=carry, args=(lambda: server.recv(4096), to_client))
back.start()
carry(lambda: sys.stdin.buffer.read1(4096), to_server)
back.join()
