"""Clients of `latlab serve`, including hostile and idle ones."""

import http.client
import json
import pathlib
import random
import select
import socket
import sys
import time
import urllib.parse


def hostile(url):
    """Requests 1000 malicious paths; each must be refused."""
    host = urllib.parse.urlsplit(url).netloc
    parts = ["..", ".", "%2e%2e", "%2f", "/", "//", "%00", "%", "%zz", "\\", "etc", "passwd", "~", ";",
             "runs", "live", "assets", "events", "run.json", ".journal", "%c0%ae", "?", "&", "=", "'",
             "%0d%0aX:1", "a" * 3000, "%F0%9F%98%80", "\xe9", "<script>", "{{", "$(id)"]
    dice, codes = random.Random(1), {}
    for _ in range(1000):
        path = "/" + "".join(dice.choice(parts) for _ in range(dice.randint(1, 8)))
        path = path.split("?")[0] if path.split("?")[0] != "/" else "/x"
        connection = http.client.HTTPConnection(host, timeout=10)
        connection._validate_path = lambda url: None
        connection._encode_request = lambda request: request.encode("latin-1")
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        codes[answer.status] = codes.get(answer.status, 0) + 1
        if answer.status not in (400, 404, 414, 431) or b"root:" in body:
            sys.exit(f"{path!r}: {answer.status}")
    print(codes)


def adds_up(events, document):
    """That the events of a followed run add up to its figures."""
    blocks = open(events).read().strip().split("\n\n")
    told = [(b.split("\n")[0][7:], json.loads(b.split("\n")[1][6:])) for b in blocks if b[0] != ":"]
    run = json.load(open(document))
    # A client from before the first release gets a second plan.
    last = max(at for at, (name, _) in enumerate(told) if name == "plan")
    rows = [row for name, row in told[last:] if name == "interval"]
    assert sum(row["count"] for row in rows) == run["total"]["cycles"], "cycles"
    assert sum(row["overruns"] for row in rows) == run["total"]["overruns"], "overruns"
    assert sum(row["misses"] for row in rows) == run["total"]["misses"], "deadline misses"
    assert max(row["max_ns"] for row in rows) == run["total"]["max_ns"], "observed maximum"


def peak_mib(process):
    """The peak memory of a process, in MiB."""
    lines = dict(line.split(":", 1) for line in open(f"/proc/{process}/status") if ":" in line)
    return int(lines["VmHWM"].split()[0]) / 1024


def never_read(url, run, server):
    """50 clients that never read take no memory and delay no other client."""
    host = urllib.parse.urlsplit(url)
    ask = lambda path: f"GET {path} HTTP/1.1\r\nHost: {host.netloc}\r\n\r\n".encode()
    stored = next(pathlib.Path("fixtures/schema-1/runs").glob("*_sampled")).name
    clients, before = [], peak_mib(server)
    for number in range(50):
        one = socket.create_connection((host.hostname, host.port))
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        # They send requests repeatedly, and never read.
        pages = ask("/") * 10 + ask(f"/runs/{stored}") * 20
        one.sendall(ask(f"/live/{run}/events") if number % 2 else pages)
        clients.append(one)
    time.sleep(4)
    begun = time.monotonic()
    connection = http.client.HTTPConnection(host.netloc, timeout=60)
    connection.request("GET", "/")
    assert connection.getresponse().status == 200
    took = time.monotonic() - begun
    # The program itself also takes some, more if it is less optimised.
    taken = peak_mib(server) - before
    print(f"{taken:.0f} MiB in addition to {before:.0f} MiB, answer after {took:.2f} s")
    assert taken < 48, f"the server took {taken:.0f} MiB"


def crowd(url):
    """54 idle clients of a server with 64 open files shut no other client out."""
    host = urllib.parse.urlsplit(url)
    connect = lambda: socket.create_connection((host.hostname, host.port), timeout=30)
    begun, idle = time.monotonic(), [connect() for _ in range(54)]
    # A client that sends its head byte by byte is as idle as one that sends nothing.
    slow = idle[-1]
    slow.sendall(b"GET / HTTP/1.1\r\nHost: ")
    # There are 16 places; each newcomer took that of the client that had waited longest.
    for one in idle[:38]:
        assert one.recv(4096) == b"", "an idle client was told something"
    client = connect()
    client.sendall(f"GET / HTTP/1.1\r\nHost: {host.netloc}\r\nConnection: close\r\n\r\n".encode())
    assert client.recv(4096).startswith(b"HTTP/1.1 200 "), "no answer"
    assert not select.select([slow], [], [], 0)[0], "the newest client had to make room"
    slow.settimeout(0.5)
    while time.monotonic() < begun + 120:
        try:
            slow.send(b"l")
            if not slow.recv(4096):
                break
        except TimeoutError:
            pass
        except ConnectionError:
            break
    else:
        sys.exit("a client that sends byte by byte is open yet")
    took = time.monotonic() - begun
    for one in idle[38:-1]:
        assert one.recv(4096) == b"", "an idle client was told something"
    print(f"idle and slow clients were closed after {took:.1f} s")
    assert took > 2, took


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
