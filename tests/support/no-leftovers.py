"""Runs a command and fails when it leaves processes behind, which are then ended.

    no-leftovers.py COMMAND...

Children whose parent has ended become children of this process, so none is missed, whatever it
did to its session, environment or name.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
GRACE = 3.0  # seconds for those that are just ending


def children():
    """(pid, command line) of every process whose parent is this one."""
    found = []
    for name in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{name}/stat', encoding='utf-8', errors='replace') as stat:
                parent = int(stat.read().rpartition(')')[2].split()[1])
            if parent == os.getpid():
                with open(f'/proc/{name}/cmdline', 'rb') as line:
                    found.append((int(name), line.read().replace(b'\0', b' ').decode(
                        errors='replace').strip()))
        except OSError:
            continue
    return found


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def main():
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    command = subprocess.Popen(sys.argv[1:])
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda received, _: command.send_signal(received))
    status = command.wait()
    deadline = time.monotonic() + GRACE
    reap()
    while children() and time.monotonic() < deadline:
        time.sleep(0.05)
        reap()
    while left := children():
        for pid, line in left:
            print(f'Left running, and ended now: {pid} {line}', flush=True)
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        status = status or 1
    return status if status >= 0 else 128 - status


if __name__ == '__main__':
    sys.exit(main())
