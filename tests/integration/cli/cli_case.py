"""The base of tests that run the real `drover` against a real ZooKeeper.

One server serves all tests of a file; each test has a chroot of its own, with records that kazoo
makes. The program comes from the environment: DROVER.
"""

import fcntl
import json
import os
import pty
import queue
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import threading
import time
import unittest

from kazoo.client import KazooClient

from zookeeper import ZooKeeper, die_with_parent

DROVER = os.path.abspath(os.environ['DROVER'])
SANITIZER = re.compile(r'Sanitizer|runtime error:|CRITICAL \*\*')
LIMIT = 60  # seconds; sanitizers make everything slower, so do other programs of the machine

CONFIG = '''\
zookeeper-servers:
  - {{host: 127.0.0.1, port: {port}, chroot: {chroot}}}
labels:
  - name: l
providers:
  - name: p1
    driver: static
    pools:
      - name: main
        nodes:
          - {{name: 127.0.0.9, labels: l, host-key-checking: false}}
'''


def wait_until(condition, limit=LIMIT):
    """For what nothing tells. The condition's value."""
    deadline = time.monotonic() + limit
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError('it does not happen')
        time.sleep(0.02)
    return value


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def lines(self):
        return self.out.splitlines()

    @property
    def json(self):
        return json.loads(self.out)

    def cells(self, row):
        """The cells of a table's row, counted from 0 below the header; -2 is the header."""
        return [cell.strip() for cell in self.lines()[3 + row].strip('|').split('|')]


class Running:
    """A `drover` that has not ended yet."""

    def __init__(self, arguments, stderr=subprocess.PIPE):
        self.process = subprocess.Popen([DROVER, *arguments], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=stderr, text=True,
                                        preexec_fn=die_with_parent)

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def result(self):
        out, err = self.process.communicate(timeout=LIMIT)
        return Result(self.process.returncode, out, err or '')


class Cutter:
    """Stands before a server and cuts the first connection on which something is seen.

    `request`: what is in a request of a client. It is passed on, and the connection ends instead of
    its answer; or it `is_lost`, and the connection ends instead of it. `answered`: how many bytes of
    answers are passed on before it ends. Later connections are left alone.
    """

    def __init__(self, port, request=None, answered=None, is_lost=False):
        self.target, self.request, self.answered = port, request, answered
        self.is_lost = is_lost
        self.has_cut = False
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        self.acceptor = threading.Thread(target=self._accept)
        self.acceptor.start()

    def close(self):
        # Ended before it is closed: its number is soon another socket's, whose clients it would take.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.acceptor.join()
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        with client, socket.create_connection(('127.0.0.1', self.target)) as server:
            numbers = queue.SimpleQueue()
            back = threading.Thread(target=self._carry, args=(self._back, server, client, numbers),
                                    daemon=True)
            back.start()
            self._carry(self._forth, client, server, numbers)
            back.join()

    @staticmethod
    def _carry(work, source, sink, numbers):
        try:
            work(source, sink, numbers)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    @staticmethod
    def _packets(source):
        """Each with its length before it, and then, but for the first, its request's number."""
        data = b''
        while more := source.recv(4096):
            data += more
            while len(data) >= 4 and len(data) >= (end := 4 + int.from_bytes(data[:4], 'big')):
                yield data[:end]
                data = data[end:]

    def _forth(self, source, sink, numbers):
        for packet in self._packets(source):
            if self.request is not None and not self.has_cut and self.request in packet:
                self.has_cut = True
                if self.is_lost:
                    return
                numbers.put(packet[4:8])
            sink.sendall(packet)

    def _back(self, source, sink, numbers):
        if self.answered is not None:
            self._pass_some(source, sink)
            return
        cut_at = None
        for packet in self._packets(source):
            if not numbers.empty():
                cut_at = numbers.get()
            if packet[4:8] == cut_at:
                return
            sink.sendall(packet)

    def _pass_some(self, source, sink):
        passed = 0
        while data := source.recv(4096):
            passed += len(data)
            if not self.has_cut and passed > self.answered:
                self.has_cut = True
                return
            sink.sendall(data)


class CliCase(unittest.TestCase):
    chroots = 0

    @classmethod
    def setUpClass(cls):
        cls.server = ZooKeeper().start()
        cls.addClassCleanup(cls.server.close)

    def setUp(self):
        CliCase.chroots += 1
        self.chroot = f'/t{CliCase.chroots}'
        self.folder = tempfile.mkdtemp(prefix='drover-test-')
        self.addCleanup(shutil.rmtree, self.folder)
        self.config = self.write('nodepool.yaml', self.config_text(self.server.port))
        root = self.server.client()
        root.ensure_path(self.chroot)
        root.stop()
        root.close()
        self.zk = self.client()

    def client(self):
        client = KazooClient(hosts=f'{self.server.hosts}{self.chroot}')
        client.start()
        self.addCleanup(client.close)
        self.addCleanup(client.stop)
        return client

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, 'w', encoding='utf-8') as out:
            out.write(text)
        return path

    def config_text(self, port):
        return CONFIG.format(port=port, chroot=self.chroot)

    def through(self, cutter):
        """A configuration whose server is behind a Cutter."""
        self.addCleanup(cutter.close)
        return self.write('cut.yaml', self.config_text(cutter.port))

    # ---- Running the program ----

    def drover(self, *arguments, program=DROVER, config=None, answer=''):
        """`answer`: what it finds on its standard input."""
        done = subprocess.run([program, '-c', config or self.config, *arguments],
                              input=answer, capture_output=True, text=True, timeout=LIMIT,
                              check=False)
        self.assertIsNone(SANITIZER.search(done.stderr), done.stderr)
        return Result(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments, **options):
        running = Running(['-c', self.config, *arguments], **options)

        def end():
            if running.process.poll() is None:
                running.process.kill()
                running.process.communicate()
        self.addCleanup(end)
        return running

    def on_terminal(self, *arguments, columns=0):
        """The result as seen on a terminal, where standard error comes too. `columns`: 0, it does
        not say."""
        terminal, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
        process = subprocess.Popen([DROVER, '-c', self.config, *arguments],
                                   stdin=subprocess.DEVNULL, stdout=side, stderr=side,
                                   preexec_fn=die_with_parent)
        os.close(side)
        shown = b''
        try:
            while data := os.read(terminal, 4096):
                shown += data
        except OSError:
            pass  # how a terminal says that nobody is at the other side any more
        os.close(terminal)
        status = process.wait(LIMIT)
        text = shown.decode().replace('\r\n', '\n')
        self.assertIsNone(SANITIZER.search(text), text)
        return Result(status, text, '')

    # ---- Records ----

    def put(self, node_id, **fields):
        record = {'state': 'ready', 'state_time': time.time(), 'provider': 'p1', 'type': ['l'],
                  'pool': 'main'}
        record.update(fields)
        self.zk.create(f'/nodepool/nodes/{node_id}', json.dumps(record).encode(), makepath=True)

    def put_request(self, request_id, **fields):
        record = {'state': 'requested', 'state_time': time.time(), 'node_types': ['l'],
                  'requestor': 'zuul', 'event_id': 'e'}
        record.update(fields)
        self.zk.create(f'/nodepool/requests/{request_id}', json.dumps(record).encode(),
                       makepath=True)

    def get(self, node_id):
        return json.loads(self.zk.get(f'/nodepool/nodes/{node_id}')[0])

    def get_request(self, request_id):
        return json.loads(self.zk.get(f'/nodepool/requests/{request_id}')[0])

    def requests(self):
        return self.zk.get_children('/nodepool/requests')

    def lock(self, node_id):
        """Somebody else's lock of a node, held."""
        lock = self.client().Lock(f'/nodepool/nodes/{node_id}/lock')
        self.assertTrue(lock.acquire())
        return lock
