"""Clients that ask for too much, or go on for ever: they are cut off, and the work goes on."""

import base64
import concurrent.futures
import contextlib
import itertools
import selectors
import socket
import sys
import time
import unittest

from http_site import METRICS, Site, sample
from launcher import machine, machines, provider
from launcher_case import LauncherCase, is_full
from loop_lag import LoopLag
from web_crowd import Silent, Tricklers, allow_files
from zuul_client import encode

WEBAPP = {'port': 0, 'listen_address': '127.0.0.1'}
PLACES = 1024  # at a listener, for one address
CROWD = 10_000
PATIENCE = 15  # seconds for a first line, and for the rest of a request
ANSWER = 10  # seconds until an honest client has its answer; sanitizers make all slower
LAG = 1  # second that the loop may be late, with sanitizers and on a busy machine


class Abuse(LauncherCase):
    def setUp(self):
        super().setUp()
        self.launcher_ = self.start_with(machine('127.0.10.1', 'l'), webapp=WEBAPP,
                                         prometheus={'launcher': WEBAPP})
        self.site = Site(self.launcher_)
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)

    def connect(self):
        return self.stack.enter_context(self.site.connect())

    def send(self, data):
        """The code of the answer; None when there is none."""
        with self.site.connect() as client:
            try:
                client.sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                pass  # answered before all was sent
            try:
                words = client.recv(100).split()
            except ConnectionResetError:
                return None
        return int(words[1]) if words else None

    def assert_works(self):
        """A job is served, as ever."""
        self.job('l').give_back()

    def test_large_heads(self):
        field = b'X-Field: ' + b'x' * 1000 + b'\r\n'
        self.assertEqual(self.send(b'GET /ready HTTP/1.1\r\nHost: h\r\n' + field * 64 + b'\r\n'), 431)
        self.assertEqual(self.send(b'GET /ready HTTP/1.1\r\nHost: h\r\nX: ' + b'x' * 100_000 +
                                   b'\r\n\r\n'), 431)
        self.assertEqual(self.send(b'GET /' + b'x' * 100_000 + b' HTTP/1.1\r\nHost: h\r\n\r\n'), 414)
        self.assertEqual(self.send(b'GET /ready HTTP/1.1\r\nHost: h\r\n' + field * 8 + b'\r\n'), 200)

    def test_large_bodies(self):
        head = b'POST /label-list HTTP/1.1\r\nHost: h\r\n'
        self.assertEqual(self.send(head + b'Content-Length: 100000000000\r\n\r\n'), 413)
        chunk = b'4000\r\n' + b'x' * 0x4000 + b'\r\n'
        self.assertEqual(self.send(head + b'Transfer-Encoding: chunked\r\n\r\n' + chunk * 10 +
                                   b'0\r\n\r\n'), 413)
        self.assertEqual(self.send(head + b'Content-Length: 3\r\n\r\na=b'), 200)

    def test_what_is_no_request(self):
        for data in (b'\r\n\r\n\x00\x01\x02\x03\r\n\r\n', b'GET\r\n\r\n', b'GET / HTTP/9.9\r\n\r\n',
                     b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03' + b'\xff' * 600,
                     b'POST /ready HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n',
                     b'POST /ready HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n'):
            with self.site.connect() as client:
                client.sendall(data)
                client.shutdown(socket.SHUT_WR)
                answer = client.recv(100)
            self.assertNotIn(b' 200 ', answer, data)
        self.assertEqual(self.site.get('/ready').status, 200)
        self.assert_works()

    def test_paths_that_leave(self):
        for path in ('/../../../../etc/passwd', '/..%2f..%2fetc/passwd', '/%00', '/node-list%00',
                     '/%', '/node-list;x', '/node-list%3Ffields=id', 'http://h/node-list'):
            request = f'GET {path} HTTP/1.1\r\nHost: h\r\n\r\n'.encode()
            self.assertIn(self.send(request), (400, 404), path)

    def test_W_30_slow_clients(self):
        clients = [self.connect() for _ in range(50)]
        for letter in b'GET /node-list HT':
            for client in clients:
                client.send(bytes([letter]))
            self.assertEqual(self.site.get('/ready').status, 200)
        self.assert_works()
        # Who says no more is cut off.
        began = time.monotonic()
        for client in clients:
            self.assertIn(client.recv(100)[:12], (b'', b'HTTP/1.1 408'))
        self.assertLess(time.monotonic() - began, PATIENCE * 2)

    def test_clients_that_read_nothing(self):
        for index in range(300):
            self.client.create('/nodepool/nodes/', encode({
                'state': 'hold', 'state_time': 1, 'provider': 'x', 'pool': 'x', 'type': ['x'],
                'comment': 'x' * 1000}), sequence=True)
        self.site.poll('/node-list', lambda rows: len(rows) == 301)
        for _ in range(30):
            client = self.connect()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.sendall(b'GET /node-list HTTP/1.1\r\nHost: h\r\n\r\n' * 10)
        self.assertEqual(len(self.site.json('/node-list')), 301)
        self.assert_works()

    def cuts(self, reason):
        """How many connections were ended for that."""
        return sample(Site(self.launcher_, METRICS).samples(), 'drover_http_cut_connections_total',
                      listener='status', reason=reason)

    def ask_honestly(self):
        """Answered in time."""
        began = time.monotonic()
        self.assertEqual(self.site.request('GET', '/label-list', limit=ANSWER).status, 200)
        self.assertLess(time.monotonic() - began, ANSWER)

    def test_crowd_that_comes_again(self):
        """As fast as it can, from one address; who comes from another one is not even touched."""
        allow_files(CROWD + 500)
        honest = Site(self.launcher_)
        honest.source = '127.0.0.2'
        with LoopLag(self.launcher_) as lag, Silent(self.site, CROWD, again=True):
            while self.cuts('room') < 5 * CROWD:
                began = time.monotonic()
                self.assertEqual(honest.request('GET', '/label-list', limit=ANSWER).status, 200)
                self.assertLess(time.monotonic() - began, ANSWER)
        print(f'loop with {CROWD} connections again and again: {lag}', file=sys.stderr)
        self.assertLess(lag.quantile(0.99), LAG)

    def ask_until_cut(self, reason, count):
        """Again and again, until so many connections have been ended."""
        deadline = time.monotonic() + 120
        while self.cuts(reason) < count:
            self.ask_honestly()
            self.assertLess(time.monotonic(), deadline)

    def test_tricklers(self):
        """More than there are places, a byte now and then, and again when they are cut off."""
        allow_files(4000)
        with LoopLag(self.launcher_) as lag, Tricklers(self.site, 1500):
            self.ask_until_cut('room', 5000)
            self.assert_works()
            self.assertEqual(Site(self.launcher_, METRICS).get('/health/live').status, 200)
        print(f'loop with 1,500 tricklers: {lag}', file=sys.stderr)
        self.assertLess(lag.quantile(0.99), LAG)
        self.launcher_.wait_for_log('Status pages: clients that were cut off so far')

    def test_tricklers_in_their_places(self):
        """Those for whom there is room are ended, too, however busy they are."""
        with Tricklers(self.site, 300, again=False) as crowd:
            self.ask_honestly()
            crowd.wait(lambda: crowd.cut_off == 300, 3 * PATIENCE, 'the end of all')
        self.assertEqual(self.cuts('slow'), 300)
        self.assertEqual({client.received[:12] for client in crowd.clients}, {b'HTTP/1.1 408'})

    def trickle(self, client, data):
        """Bytes, one each half second, until the other side has had enough; its answer."""
        client.settimeout(0.5)
        for byte in data:
            with contextlib.suppress(OSError):
                client.send(bytes([byte]))
            with contextlib.suppress(TimeoutError):
                return client.recv(100)
        self.fail('the client was never cut off')

    def test_parts_of_a_request_that_take_too_long(self):
        head = b'POST /label-list HTTP/1.1\r\nHost: h\r\n'
        starts = (b'', head, head + b'Content-Length: 1000\r\n\r\n',
                  head + b'Transfer-Encoding: chunked\r\n\r\n3e8\r\n')
        with concurrent.futures.ThreadPoolExecutor() as pool:
            answers = []
            for start in starts:
                client = self.connect()
                client.sendall(start)
                answers.append(pool.submit(self.trickle, client, b'GET ' + b'x' * 500))
            codes = [answer.result()[9:12] for answer in answers]
        self.assertEqual(codes, [b'', b'408', b'408', b'408'])
        self.assertEqual(self.cuts('slow'), len(starts))

    def test_idle_connection_is_no_slow_one(self):
        client = self.connect()
        client.sendall(b'GET /ready HTTP/1.1\r\nHost: h\r\n\r\n')
        self.assertEqual(client.recv(1000)[9:12], b'200')
        self.assertEqual(client.recv(100), b'')
        self.assertEqual(self.cuts('slow'), 0)

    def test_crowd(self):
        """Ten thousand connections, of which nobody says anything."""
        allow_files(CROWD + 500)
        with LoopLag(self.launcher_) as lag, Silent(self.site, CROWD):
            self.ask_until_cut('room', CROWD - PLACES)
            self.assert_works()
            self.assertEqual(Site(self.launcher_, METRICS).get('/health/live').status, 200)
        print(f'loop with {CROWD} connections: {lag}', file=sys.stderr)
        self.assertLess(lag.quantile(0.99), LAG)
        self.ask_honestly()
        self.assertEqual(self.launcher_.find_log(' (WARNING|ERROR) '), [])

    def test_many_at_once(self):
        """Every one of many requests at the same time gets an answer."""
        selector = self.stack.enter_context(selectors.DefaultSelector())
        for _ in range(100):
            client = self.connect()
            client.sendall(b'GET /node-list HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n')
            selector.register(client, selectors.EVENT_READ)
        answered = 0
        while selector.get_map():
            ready = selector.select(30)
            self.assertTrue(ready)
            for key, _ in ready:
                data = key.fileobj.recv(65536)
                answered += data.startswith(b'HTTP/1.1 200')
                if not data:
                    selector.unregister(key.fileobj)
        self.assertEqual(answered, 100)


class Tokens(LauncherCase):
    """Who has no token of the configuration gets nowhere, however it is dressed up."""
    TOKEN = 'token-of-the-deployer'
    OTHER = 'token-of-the-nightly'
    REQUESTS = '/api/v1/requests'

    def setUp(self):
        super().setUp()
        tokens = [{'name': 'deploy', 'token': self.TOKEN}, {'name': 'night', 'token': self.OTHER}]
        self.launcher_ = self.start_with(machine('127.0.10.1', 'l'), webapp=WEBAPP,
                                         api={'tokens': tokens})
        self.site = Site(self.launcher_)

    def ask(self, *fields, method='GET', path=REQUESTS):
        """The code of the answer, and its body; the fields go out as they are."""
        head = [f'{method} {path} HTTP/1.1'.encode(), b'Host: h', b'Connection: close',
                b'Content-Length: 0', *fields, b'', b'']
        with self.site.connect() as client:
            client.sendall(b'\r\n'.join(head))
            with client.makefile('rb') as answer:
                head, _, body = answer.read().partition(b'\r\n\r\n')
        return int(head.split()[1]), body

    def assert_refused(self, *fields, code=401):
        """And told nothing but that."""
        answers = set()
        for method, path in (('GET', self.REQUESTS), ('POST', self.REQUESTS),
                             ('GET', f'{self.REQUESTS}/200-0000000000'),
                             ('DELETE', f'{self.REQUESTS}/200-0000000000'), ('GET', '/api/v1/x')):
            answers.add(self.ask(*fields, method=method, path=path))
        self.assertEqual([status for status, _ in answers], [code], fields)
        for line in [*self.launcher_.lines, *(body.decode() for _, body in answers)]:
            self.assertNotIn(self.TOKEN, line)

    def bearer(self, value):
        return b'Authorization: Bearer ' + value

    def test_right_token(self):
        right = self.TOKEN.encode()
        self.assertEqual(self.ask(self.bearer(right)), (200, b'[]'))
        self.assertEqual(self.ask(b'authorization: bEARER ' + right), (200, b'[]'))

    def test_no_token(self):
        self.assert_refused()
        for field in (b'Authorization:', b'Authorization: Bearer', b'Authorization: Bearer '):
            self.assert_refused(field)

    def test_wrong_scheme(self):
        right = self.TOKEN.encode()
        for value in (right, b'Basic ' + right, b'Token ' + right, b'Bearer:' + right,
                      b'Bearer' + right, b'Basic Bearer ' + right,
                      b'Basic ' + base64.b64encode(b'deploy:' + right)):
            self.assert_refused(b'Authorization: ' + value)

    def test_nearly_right(self):
        right = self.TOKEN.encode()
        for value in (right[:-1], right + b'x', right + right, right + b'\t', b'"' + right + b'"',
                      right + b', ' + right, right + b'\\0', right + b'%00', right + b'\xff',
                      right.upper(), b'deploy', b'api:deploy'):
            self.assert_refused(self.bearer(value))

    def test_strange_letters(self):
        for value in (b'\xff' * 21, b'\x80', 'ключ-от-машины'.encode(), '🔑'.encode() * 5,
                      self.TOKEN.replace('o', 'о').encode(), b'\x01\x7f'):
            self.assert_refused(self.bearer(value))

    def test_long_tokens(self):
        self.assert_refused(self.bearer(b'x' * 10_000))
        self.assert_refused(self.bearer(self.TOKEN.encode() + b'x' * 10_000))
        self.assert_refused(self.bearer(b'x' * 100_000), code=431)

    def test_two_fields(self):
        """Whichever of them a proxy has gone by."""
        right, other = (self.bearer(one.encode()) for one in (self.TOKEN, self.OTHER))
        wrong = self.bearer(b'wrong')
        for fields in ((right, right), (right, other), (right, wrong), (wrong, right),
                       (right, b'AUTHORIZATION: x'), (b'Authorization:', right)):
            self.assert_refused(*fields, code=400)

    def test_token_elsewhere(self):
        for path in ('?token=', '?access_token=', '?Authorization=Bearer%20'):
            self.assertEqual(self.ask(path=f'{self.REQUESTS}{path}{self.TOKEN}')[0], 401)
        for field in ('Proxy-Authorization: Bearer ', 'X-Auth-Token: ', 'Cookie: token='):
            self.assert_refused((field + self.TOKEN).encode())

    def test_two_lengths(self):
        """A request that hides another one behind what a proxy takes for its body."""
        hidden = (f'GET {self.REQUESTS} HTTP/1.1\r\nHost: h\r\n'
                  f'Authorization: Bearer {self.TOKEN}\r\n\r\n').encode()
        chunks = b'0\r\n\r\n'
        for fields in (b'Content-Length: 0\r\nContent-Length: %d\r\n' % len(hidden),
                       b'Transfer-Encoding: chunked\r\nContent-Length: %d\r\n' % len(hidden)):
            with self.site.connect() as client:
                client.sendall(b'POST /label-list HTTP/1.1\r\nHost: h\r\n' + fields + b'\r\n' +
                               chunks + hidden)
                with client.makefile('rb') as answer:
                    text = read_all(answer)
            self.assertTrue(text.startswith(b'HTTP/1.1 400 '), text)
            self.assertEqual(text.count(b'HTTP/1.1 '), 1, text)


def read_all(stream):
    """To its end, in good order or not."""
    text = b''
    with contextlib.suppress(ConnectionResetError):
        while data := stream.read1():
            text += data
    return text


class Large(LauncherCase):
    def test_many_different_lists(self):
        """Each of them has to be made; the loop has other things to do, too."""
        record = encode({'state': 'hold', 'state_time': 1, 'provider': 'x', 'pool': 'x',
                         'type': ['x'], 'comment': 'x' * 100})
        self.client.ensure_path('/nodepool/nodes')
        for one in [self.client.create_async('/nodepool/nodes/', record, sequence=True)
                    for _ in range(1000)]:
            one.get(60)
        launcher = self.start_with(machine('127.0.10.1', 'l'), webapp=WEBAPP)
        site = Site(launcher)
        site.poll('/node-list', lambda rows: len(rows) == 1001, limit=120)
        keys = list(site.json('/node-list')[0])
        fields = itertools.islice(itertools.permutations(keys, 3), 400)
        with LoopLag(launcher) as lag, concurrent.futures.ThreadPoolExecutor(30) as pool:
            answers = [pool.submit(site.get, f'/node-list?fields={",".join(one)}')
                       for one in fields]
            self.job('l').give_back()
            codes = {answer.result().status for answer in answers}
        print(f'loop with many different lists: {lag}', file=sys.stderr)
        self.assertLessEqual(codes, {200, 503})
        self.assertIn(200, codes)
        self.assertLess(lag.quantile(0.99), LAG)

    def test_W_31_many_nodes(self):
        count = 10_000 if is_full() else 2000
        record = encode({'state': 'hold', 'state_time': 1, 'provider': 'x', 'pool': 'x',
                         'type': ['x']})
        self.client.ensure_path('/nodepool/nodes')
        made = [self.client.create_async('/nodepool/nodes/', record, sequence=True)
                for _ in range(count)]
        for one in made:
            one.get(60)
        launcher = self.launcher(provider('p', machines(1, 'l')), webapp=WEBAPP,
                                 prometheus={'launcher': WEBAPP})
        site = Site(launcher)
        self.wait_for_ready(1)
        site.poll('/node-list', lambda rows: len(rows) == count + 1, limit=120)
        metrics = Site(launcher, METRICS)
        metrics.wait_for_sample('drover_nodes', count, provider='x', pool='x', state='hold')
        for _ in range(5):
            began = time.monotonic()
            self.job('l').give_back()
            self.assertLess(time.monotonic() - began, 10)
            self.assertEqual(len(site.json('/node-list')) > count, True)


if __name__ == '__main__':
    unittest.main()
