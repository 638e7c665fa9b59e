#!/usr/bin/env python3
"""A simulated instrument with SCPI on a socket: an oscilloscope whose readings are known, or a generator.

It prints its port, serves one connection after the other, and ends with its standard input. Received commands
go to --log, readings to --list: one line for each trigger.
"""

import argparse
import os
import random
import socket
import sys
import threading
import time

parser = argparse.ArgumentParser()
parser.add_argument("--identity", default="KEYSIGHT TECHNOLOGIES,MSO-X 3024T,MY00000001,07.50")
parser.add_argument("--list", help="file for the readings")
parser.add_argument("--log", help="file for the commands")
parser.add_argument("--censor", type=int, action="append", default=[], help="this reading is 9.9E+37")
parser.add_argument("--silent", type=int, action="append", default=[], help="this reading is not answered in time")
parser.add_argument("--untriggered", type=int, action="append", default=[], help="this trigger does not come")
parser.add_argument("--close-at", type=int, help="the connection ends at this reading, and so does the instrument")
parser.add_argument("--endless", type=int, help="the answer to this reading has no end")
parser.add_argument("--late", type=float, default=2.0, help="seconds until a silent reading is answered after all")
options = parser.parse_args()

random.seed(1)
armed, reading, running = 0, 0, False


def note(path, text):
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text + "\n")


def answer(command, send):
    """Executes a command; false ends the connection."""
    global armed, reading, running
    note(options.log, command)
    if command == "*IDN?":
        send(options.identity)
    elif command == ":SINGle":
        running = armed in options.untriggered
        armed += 1
    elif command == ":OPERegister:CONDition?":
        send("+40" if running else "+32")
    elif command == ":STOP":
        running = False
    elif command.startswith(":MEASure:DELay?"):
        number = armed - 1
        value = f"{random.gauss(9.05e-6, 0.3e-6):+.5E}"
        if number == options.close_at:
            return False
        if number == options.endless:
            while True:
                send("9" * 4096, end="")
        if number in options.censor:
            value = "+9.9E+37"
        note(options.list, f"{number}\t{'timed out' if number in options.silent else value}")
        if number in options.silent:
            time.sleep(options.late)
        send(value)
    return True


def serve(connection):
    def send(text, end="\n"):
        connection.sendall((text + end).encode())

    with connection, connection.makefile("r", encoding="utf-8") as lines:
        try:
            for line in lines:
                if not answer(line.strip(), send):
                    return False
        except OSError:
            pass
    return True


listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
while True:
    accepted, _ = listener.accept()
    if options.close_at is None:
        # An abandoned connection must not delay the next one.
        threading.Thread(target=serve, args=(accepted,), daemon=True).start()
    elif not serve(accepted):
        break
