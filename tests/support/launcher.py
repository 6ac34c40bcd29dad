"""A drover-launcher as a child process, with a configuration made from Python values.

    launcher = Launcher(server, chroot='/t1', providers=[provider('p', nodes=[...])])
    launcher.start()
    launcher.wait_for_log('Provider p started')
    assert launcher.stop() == 0

The programs come from the environment: DROVER_LAUNCHER, and DROVER_DRIVER_PATH for the drivers.
"""

import base64
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

from zookeeper import die_with_parent

SANITIZER = re.compile(r'ERROR: (Address|Leak)Sanitizer|runtime error:|CRITICAL \*\*')


def machine(name, labels='l', checked=False, **options):
    """A node of the static driver; options are written with '_' for '-'. Unchecked: no contact."""
    values = {'name': name, 'labels': labels, 'host-key-checking': checked}
    values.update((option.replace('_', '-'), value) for option, value in options.items())
    return values


def machines(count, labels='l', network=10, **options):
    """`count` machines at loopback addresses, which nobody contacts."""
    return [machine(f'127.0.{network}.{index + 1}', labels, **options) for index in range(count)]


def provider(name, nodes=None, pools=None, **options):
    """A static provider, with one pool `main` unless `pools` says otherwise."""
    values = {'name': name, 'driver': 'static',
              'pools': pools if pools is not None else [{'name': 'main', 'nodes': nodes or []}]}
    values.update((option.replace('_', '-'), value) for option, value in options.items())
    return values


def labels_of(providers):
    names = []
    for one in providers:
        for pool in one['pools']:
            for node in pool.get('nodes', []):
                labels = node['labels']
                names += labels.split() if isinstance(labels, str) else labels
            names += [label['name'] for label in pool.get('labels', [])]
    return [{'name': name} for name in dict.fromkeys(names)]


class CommandError(Exception):
    """A launcher does not do what it was told; its words."""


class Launcher:
    """`state`: False for --no-state. `timeout`: of the session, in seconds. `port`: the server's
    own unless given."""

    def __init__(self, server, chroot='', providers=(), state=True, timeout=10, sync_interval=60,
                 cleanup_interval=60, debug=True, port=None, **config):
        self.folder = tempfile.mkdtemp(prefix='drover-test-')
        self.config_path = f'{self.folder}/nodepool.yaml'
        self.server, self.chroot, self.timeout = server, chroot, timeout
        self.port = port or server.port
        self.arguments = ['-c', self.config_path, '--sync-interval', str(sync_interval),
                          '--cleanup-interval', str(cleanup_interval)]
        self.arguments += ['--state-dir', f'{self.folder}/state'] if state else ['--no-state']
        self.arguments += ['-d'] if debug else []
        self.environment = {}  # variables besides those of this process
        self.process = None
        self.reader = None
        self.lines = []
        self.news = threading.Condition()
        self.configure(providers, **config)

    # ---- Configuration ----

    def write_config(self, text):
        """Replaces the file at once, so that nobody ever reads half of it."""
        with open(f'{self.config_path}.new', 'w', encoding='utf-8') as out:
            out.write(text)
        os.rename(f'{self.config_path}.new', self.config_path)

    def configure(self, providers, **config):
        """Writes the file. Keywords are further top-level options, with '_' for '-'."""
        isolation = os.environ.get('DROVER_TEST_ISOLATION')
        if isolation:  # the same tests with each driver in a process of its own
            providers = [{'isolation': isolation, **one} for one in providers]
        where = {'host': '127.0.0.1', 'port': self.port}
        if self.chroot:
            where['chroot'] = self.chroot
        values = {'zookeeper-servers': [where], 'zookeeper-timeout': self.timeout,
                  'labels': labels_of(providers), 'providers': list(providers)}
        values.update((option.replace('_', '-'), value) for option, value in config.items())
        self.write_config(json.dumps(values, indent=2))

    def reload(self, providers, **config):
        """Configures, and returns when it is in force."""
        mark = self.mark()
        self.configure(providers, **config)
        self.wait_for_log('Using the configuration', since=mark)

    # ---- Process ----

    def start(self):
        self.process = subprocess.Popen(
            [os.environ['DROVER_LAUNCHER'], *self.arguments], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace',
            env={**os.environ, **self.environment}, preexec_fn=die_with_parent)
        self.reader = threading.Thread(target=self._read, args=(self.process.stdout,), daemon=True)
        self.reader.start()
        return self

    def _read(self, stream):
        for line in stream:
            with self.news:
                self.lines.append(line.rstrip('\n'))
                self.news.notify_all()
        with self.news:
            self.news.notify_all()

    @property
    def pid(self):
        return self.process.pid

    def signal(self, number):
        self.process.send_signal(number)

    def lose_session(self):
        """Its session is ended at the server; again when it connected anew in the same moment, and so
        kept it."""
        mark = self.mark()
        while not self.find_log('session lost', mark):
            with open(f'{self.folder}/state/session.json', encoding='utf-8') as file:
                saved = json.load(file)
            self.server.end_session(int(saved['session'], 16), base64.b64decode(saved['password']))
            try:
                self.wait_for_log('session lost', mark, limit=3)
            except AssertionError:
                pass

    @contextlib.contextmanager
    def frozen(self):
        """It is stopped within the block, which may end it."""
        process = self.process
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        try:
            yield
        finally:
            process.send_signal(signal.SIGCONT)  # nothing happens to one that has ended

    def _reap(self, limit):
        code = self.process.wait(limit)
        self.reader.join()
        self.process.stdout.close()
        self.process = None
        return code

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self._reap(20)

    def stop(self, limit=40):
        """Orderly. Returns the exit status, and raises what a sanitizer found."""
        if self.process is None:
            return 0
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self._reap(limit)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f'the launcher did not stop: {self.tail()}') from None
        self.check_sanitizers()
        return code

    def wait_for_exit(self, limit=20):
        """The exit status of a launcher that ends by itself."""
        return self._reap(limit)

    def check_sanitizers(self):
        for index, line in enumerate(self.lines):
            if SANITIZER.search(line):
                raise AssertionError('\n'.join(self.lines[index:index + 60]))

    def close(self):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- Log ----

    def mark(self):
        """The length of the log now, for `since`."""
        with self.news:
            return len(self.lines)

    def find_log(self, pattern, since=0):
        """The lines that match, among those there are."""
        with self.news:
            return [line for line in self.lines[since:] if re.search(pattern, line)]

    def wait_for_log(self, pattern, since=0, limit=20, count=1):
        """The first `count` lines that match."""
        deadline = time.monotonic() + limit
        found = []
        with self.news:
            while True:
                while since < len(self.lines) and len(found) < count:
                    if re.search(pattern, self.lines[since]):
                        found.append(self.lines[since])
                    since += 1
                if len(found) == count:
                    return found
                left = deadline - time.monotonic()
                ended = self.process is None or self.process.poll() is not None
                if left <= 0 or (ended and not self.reader.is_alive()):
                    raise AssertionError(f'no log line matches {pattern!r}: {self.tail()}')
                self.news.wait(min(left, 1.0))

    def tail(self, count=40):
        return '\n'.join(['the log ends with', *self.lines[-count:]])

    # ---- Commands ----

    @property
    def socket_path(self):
        """With a state folder."""
        return f'{self.folder}/state/command.sock'

    def command(self, name, **arguments):
        """The result of a command; raises CommandError."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(30)
            client.connect(self.socket_path)
            client.sendall(json.dumps({'command': name, **arguments}).encode() + b'\n')
            with client.makefile() as answers:
                answer = json.loads(answers.readline())
        if 'error' in answer:
            raise CommandError(answer['error'])
        return answer['result']

    def dump(self):
        """The numbers that SIGUSR2 writes to the log: name -> value."""
        mark = self.mark()
        self.signal(signal.SIGUSR2)
        line = self.wait_for_log('stack_dump: session ', mark)[0]
        numbers = re.findall(r'(\d+) (nodes|requests|pools registered|providers)', line)
        numbers += [(value, name) for name, value in
                    re.findall(r'(reads|transactions|writes|events|batches) (\d+)', line)]
        return {name: int(value) for value, name in numbers}
