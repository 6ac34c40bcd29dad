"""How late a launcher's core loop is, as somebody sees it who asks it for something small.

    with LoopLag(launcher) as lag:
        ...
    lag.worst, lag.quantile(0.99), lag.count

Asks over the command socket, from a process of its own, so that nothing which the test does delays
what is measured. Seconds, from the question to the answer: what the loop does in between, and what
the machine's other programs take from both.
"""

import json
import os
import select
import socket
import subprocess
import sys
import time

PERIOD = 0.01  # seconds between two questions; an answer that takes longer delays the next
QUESTION = b'{"command": "log-level"}\n'


class LoopLag:
    def __init__(self, launcher):
        self.path = launcher.socket_path
        self.samples = []
        self.process = None

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), self.path],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()  # it has begun
        return self

    def __exit__(self, *_):
        self.samples = sorted(json.loads(self.process.communicate()[0]))

    @property
    def count(self):
        return len(self.samples)

    @property
    def worst(self):
        return self.samples[-1]

    def __str__(self):
        return (f'median {self.quantile(0.5) * 1e3:.1f} ms, 99 of 100 below '
                f'{self.quantile(0.99) * 1e3:.1f} ms, worst {self.worst * 1e3:.1f} ms')

    def quantile(self, part):
        return self.samples[int(part * (self.count - 1))]


def ask(client):
    """Seconds until the answer."""
    began = time.monotonic()
    client.sendall(QUESTION)
    while not client.recv(65536).endswith(b'\n'):
        pass
    return time.monotonic() - began


def main(path):
    """Until the standard input ends."""
    samples = []
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        ask(client)
        print('began', flush=True)
        while not select.select([sys.stdin], [], [], PERIOD)[0]:
            samples.append(ask(client))
    json.dump(samples, sys.stdout)


if __name__ == '__main__':
    main(sys.argv[1])
