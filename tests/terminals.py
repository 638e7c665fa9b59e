"""Terminals that are not read, that close, or that have odd sizes."""

import fcntl
import glob
import os
import pty
import signal
import struct
import sys
import termios
import threading
import time


def unread(runs, end, *command):
    """Runs a command on a terminal that is not read, and stays open until the run is published."""
    name = command[command.index("--name") + 1]
    pid, master = pty.fork()
    if pid == 0:
        os.execv(command[0], command)

    def wait_for(pattern, holds):
        until = time.monotonic() + 60
        while not any(map(holds, glob.glob(f"{runs}/{pattern}"))) and time.monotonic() < until:
            time.sleep(0.1)

    wait_for(f".*_{name}.partial/journal", lambda file: os.path.getsize(file) > 20_000)
    # Long enough to fill the terminal.
    time.sleep(2)
    if end == "TERM":
        os.kill(pid, signal.SIGTERM)
    # Keep the terminal open until the run is published.
    wait_for(f"*_{name}/run.json", lambda file: True)
    os.close(master)


def taken_away(runs, hangup, *command):
    """Runs a command on a terminal that closes once its first run measures; the exit code must be $EXPECTED."""
    pid, master = pty.fork()
    if pid == 0:
        if hangup == "ignored":
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        os.execv(command[0], command)

    # A terminal that is not read blocks.
    def read():
        try:
            while os.read(master, 1 << 16):
                pass
        except OSError:
            pass

    threading.Thread(target=read, daemon=True).start()
    journals = lambda: glob.glob(f"{runs}/**/.*.partial/journal", recursive=True)
    until = time.monotonic() + 60
    while not any(os.path.getsize(one) > 20_000 for one in journals()) and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.5)
    os.close(master)
    _, status = os.waitpid(pid, 0)
    print("ended with", os.waitstatus_to_exitcode(status))
    sys.exit(0 if os.WIFEXITED(status) and os.WEXITSTATUS(status) == int(os.environ["EXPECTED"]) else 1)


def odd_sizes(*command):
    """Runs a command on terminals of the largest and the smallest sizes."""
    for columns, rows in (65535, 65535), (65535, 24), (80, 65535), (1, 1):
        pid, master = pty.fork()
        if pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execv(command[0], command)
        said = b""
        try:
            while block := os.read(master, 1 << 16):
                said = (said + block)[-4000:]
        except OSError:
            pass
        _, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        print(columns, rows, code)
        if code != 0:
            sys.exit(said.decode(errors="replace"))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
