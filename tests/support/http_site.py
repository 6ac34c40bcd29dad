"""A client of a launcher's HTTP listeners, and a statsd server.

    site = Site(launcher, 'Status pages')
    answer = site.get('/node-list', accept='application/json')
    answer.status, answer.headers['Content-Type'], answer.json()
"""

import http.client
import json
import os
import re
import socket
import threading
import time

STATUS = 'Status pages'
METRICS = 'Metrics'


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def text(self):
        return self.body.decode()

    def json(self):
        return json.loads(self.body)


class Site:
    def __init__(self, launcher, what=STATUS):
        line, = launcher.wait_for_log(f'{what}: listening on')
        self.host, port = re.search(r'listening on (\S+) port (\d+)', line).groups()
        self.port = int(port)
        if self.host == '0.0.0.0':
            self.host = '127.0.0.1'
        self.source = None  # address to come from

    def request(self, method, path, headers=None, body=None, limit=30):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=limit,
                                                source_address=self.source and (self.source, 0))
        try:
            connection.request(method, path, body, headers or {})
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def get(self, path, accept=None, **headers):
        """Headers are written with '_' for '-'."""
        values = {name.replace('_', '-'): value for name, value in headers.items()}
        if accept is not None:
            values['Accept'] = accept
        return self.request('GET', path, values)

    def json(self, path):
        return self.get(path, 'application/json').json()

    def connect(self):
        return socket.create_connection((self.host, self.port), timeout=30)

    def poll(self, path, condition, limit=30):
        """The rows of a list, as soon as the condition holds of them; none while it is not known."""
        def rows():
            answer = self.get(path, 'application/json')
            return [] if answer.status == 503 else answer.json()
        return wait_for(rows, condition, limit, path)

    def wait_for_sample(self, name, value, limit=30, **labels):
        """Until a sample has the value."""
        wait_for(self.samples, lambda all_of_them: sample(all_of_them, name, **labels) == value,
                 limit, name)

    def samples(self):
        """(name, labels) -> value, as Prometheus' own client reads them."""
        from prometheus_client.parser import text_string_to_metric_families
        return {(one.name, tuple(sorted(one.labels.items()))): one.value
                for family in text_string_to_metric_families(self.get('/metrics').text)
                for one in family.samples}


def sample(samples, name, **labels):
    return samples.get((name, tuple(sorted(labels.items()))))


def wait_for(ask, condition, limit, what):
    deadline = time.monotonic() + limit
    while True:
        found = ask()
        if condition(found):
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f'{what}: {found}')
        time.sleep(0.05)


class Statsd:
    """Collects what is sent to it."""

    def __init__(self, host='127.0.0.1'):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((host, 0))
        self.port = self.socket.getsockname()[1]
        self.datagrams = []
        self.news = threading.Condition()
        self.closing = False
        self.thread = threading.Thread(target=self._receive, daemon=True)
        self.thread.start()

    def _receive(self):
        while True:
            datagram = self.socket.recv(65536)
            with self.news:
                if self.closing:
                    return
                self.datagrams.append(datagram.decode())
                self.news.notify_all()

    def close(self):
        with self.news:
            self.closing = True
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            out.sendto(b'', self.socket.getsockname())
        self.thread.join()
        self.socket.close()

    @property
    def environment(self):
        return {'STATSD_HOST': '127.0.0.1', 'STATSD_PORT': str(self.port)}

    def mark(self):
        with self.news:
            return len(self.datagrams)

    def lines(self, since=0):
        with self.news:
            return [line for datagram in self.datagrams[since:] for line in datagram.split('\n')]

    def wait(self, *expected, since=0, limit=30):
        """Until each of these lines has come."""
        self._wait_for(lambda: set(expected) - set(self.lines(since)), since, limit)

    def wait_for_keys(self, *keys, since=0, limit=30):
        """Until something has come under each of these keys."""
        self._wait_for(lambda: {key for key in keys if not self.values(key, since)}, since, limit)

    def _wait_for(self, find_missing, since, limit):
        deadline = time.monotonic() + limit
        while missing := find_missing():
            left = deadline - time.monotonic()
            if left <= 0:
                raise AssertionError(f'{sorted(missing)} did not come, but {self.lines(since)}')
            with self.news:
                self.news.wait(min(left, 0.5))

    def values(self, key, since=0):
        """What was sent under a key, with the type."""
        return [line[len(key) + 1:] for line in self.lines(since) if line.startswith(f'{key}:')]

    def total(self, key):
        """The sum of a counter."""
        return sum(int(value[:-2]) for value in self.values(key) if value.endswith('|c'))


class WithStatsd:
    """A part of test cases: what their launchers send to statsd comes to `statsd`."""

    def setUp(self):
        super().setUp()
        self.statsd = Statsd()
        self.addCleanup(self.statsd.close)
        self.set_environment(**self.statsd.environment)

    def set_environment(self, **values):
        for name, value in values.items():
            os.environ[name] = value
            self.addCleanup(os.environ.pop, name, None)

    def tearDown(self):
        super().tearDown()
        for datagram in self.statsd.datagrams:
            if '\n' in datagram:
                self.assertLess(len(datagram.encode()), 512)  # M-27
            self.assertNotIn('inf', datagram.lower())
