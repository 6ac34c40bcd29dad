"""The status pages, as scripts and browsers ask for them."""

import json
import re
import socket
import subprocess
import time
import unittest

from http_site import STATUS, Site
from launcher import machine, machines, provider
from launcher_case import LIMIT, LauncherCase
from zookeeper import free_port
from zuul_client import NODES, encode

LISTS = ('/image-list', '/dib-image-list', '/image-status', '/node-list', '/request-list',
         '/label-list', '/dib-request-list')
WEBAPP = {'port': 0, 'listen_address': '127.0.0.1'}
BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
IMAGE_KEYS = ['id', 'upload_id', 'provider', 'image', 'external_name', 'external_id', 'state',
              'age']
TEXT, JSON = 'text/plain; charset=UTF-8', 'application/json'
BUILD = '/nodepool/images/img/builds/build-1'


class StatusPages(LauncherCase):
    def setUp(self):
        super().setUp()
        self.launcher_ = self.start_with(machine('127.0.10.1', 'l1 l2'), webapp=WEBAPP)
        self.site = Site(self.launcher_)

    def put(self, path, record):
        self.client.create(path, encode(record), makepath=True)

    def make_image(self):
        """One build, one upload."""
        state = {'state': 'ready', 'state_time': time.time()}
        self.put(BUILD, {**state, 'builder': 'b.example.org', 'formats': 'qcow2'})
        self.put(f'{BUILD}/providers/p/images/0000000001',
                 {**state, 'external_id': 'id-1', 'external_name': 'img-1'})
        return state['state_time']

    def test_W_01_W_02_text(self):
        self.make_image()
        for accept in (BROWSER, 'text/plain'):
            answer = self.site.get('/image-list', accept)
            self.assertEqual((answer.status, answer.headers['Content-Type']), (200, TEXT))
            self.assertIn('| img ', answer.text)
            self.assertFalse(answer.text.endswith('\n'))

    def test_W_03_json(self):
        for path in LISTS:
            answer = self.site.get(path, JSON)
            self.assertEqual((answer.status, answer.headers['Content-Type']), (200, JSON), path)
            self.assertIsInstance(answer.json(), list)

    def test_W_04_accept(self):
        expected = {None: TEXT, '': TEXT, 'nonsense': TEXT, '*/*': TEXT, 'text/*': TEXT,
                    'application/json': JSON, 'application/*': JSON,
                    'application/json, text/plain': TEXT,
                    'text/html;q=0.1,application/json': JSON,
                    'application/json;q=0.9, text/plain;q=0.1': JSON}
        for accept, content_type in expected.items():
            answer = self.site.get('/label-list', accept)
            self.assertEqual(answer.headers['Content-Type'], content_type, accept)
        self.assertEqual(self.site.get('/label-list', 'image/png').status, 406)

    def test_W_05_W_06_W_07_W_08_fields(self):
        self.make_image()
        self.assertIn('| build-1  | img   | ready |',
                      self.site.get('/image-list?fields=id,image,state').text)
        self.assertEqual(self.site.get('/image-list?fields=state,id').text.split('\n')[1],
                         '| Build ID | State |')
        row, = self.site.json('/image-list?fields=id')
        self.assertEqual(list(row), IMAGE_KEYS)
        self.assertEqual(self.site.get('/image-list?fields=').text,
                         self.site.get('/image-list').text)
        answer = self.site.get('/image-list?fields=nosuch')
        self.assertEqual((answer.status, answer.text), (200, '++\n||\n++'))
        self.assertEqual(self.site.get('/label-list?fields=nosuch&fields=label').text,
                         self.site.get('/label-list').text)

    def test_W_09_W_10_W_11_images(self):
        made = self.make_image()
        self.assertEqual(self.site.json('/image-list'), [
            {'id': 'build-1', 'upload_id': '0000000001', 'provider': 'p', 'image': 'img',
             'external_name': 'img-1', 'external_id': 'id-1', 'state': 'ready',
             'age': int(made)}])
        build = {'id': 'img-build-1', 'image': 'img', 'builder': 'b.example.org',
                 'formats': ['qcow2'], 'state': 'ready', 'age': int(made)}
        self.assertEqual(self.site.json('/dib-image-list'), [build])
        self.client.create('/nodepool/images/img/pause')
        self.site.poll('/dib-image-list', lambda rows: rows == [{**build, 'state': 'paused'}])

    def test_W_12_W_32_image_status(self):
        self.client.create('/nodepool/images/img/builds', makepath=True)
        nothing = {'image': 'img', 'paused': False, 'build_request': None,
                   'build_request_age': None}
        self.assertEqual(self.site.json('/image-status'), [nothing])
        self.assertEqual(self.site.json('/dib-request-list'), [])
        self.client.create('/nodepool/images/img/request-build')
        rows = self.site.poll('/image-status', lambda rows: rows != [nothing])
        age = rows[0]['build_request_age']
        self.assertAlmostEqual(age, time.time(), delta=60)
        self.assertEqual(rows, [{**nothing, 'build_request': 'pending', 'build_request_age': age}])
        self.assertEqual(self.site.poll('/dib-request-list', lambda rows: rows),
                         [{'image': 'img', 'state': 'pending', 'age': age}])
        self.lock('/nodepool/images/img/builds/lock')
        self.put(BUILD, {'state': 'building', 'state_time': time.time()})
        rows = self.site.poll('/image-status', lambda rows: rows[0]['build_request'] != 'pending')
        self.assertEqual(rows[0]['build_request'], 'building')

    def test_W_13_W_14_nodes(self):
        row, = self.site.poll('/node-list', lambda rows: rows)
        self.assertEqual(len(row), 21)
        self.assertEqual((row['id'], row['provider'], row['pool'], row['label'], row['state'],
                          row['locked'], row['connection_port'], row['ipv6'], row['AZ']),
                         ('0000000000', 'p', 'main', ['l1', 'l2'], 'ready', 'unlocked', 22, None,
                          None))
        self.assertRegex(row['age'], r'^-?\d+:\d\d:\d\d:\d\d$')
        one, = self.site.poll('/node-list?node_id=0000000000', lambda rows: rows)
        self.assertEqual(one['id'], '0000000000')
        answer = self.site.get('/node-list?node_id=999999', JSON)
        self.assertEqual((answer.status, answer.json()), (200, []))

    def test_W_15_one_node(self):
        for name in ('..%2Fimages', '..', '%2F', '0000000000%2Flock'):
            answer = self.site.get(f'/node-list?node_id={name}', JSON)
            self.assertEqual((answer.status, answer.json()), (200, []), name)
        self.lock(f'{NODES}/0000000000/lock')
        self.site.poll('/node-list?node_id=0000000000',
                       lambda rows: [row['locked'] for row in rows] == ['locked'])

    def test_W_15_W_21_one_node_is_not_taken_for_another(self):
        """What is kept for a wish is nobody else's, though it reads alike."""
        nothing = '/node-list?node_id=0000000000%20x&fields=,state'
        something = '/node-list?node_id=0000000000&fields=x%20,state'
        for _ in range(20):
            began = time.monotonic()
            answers = [self.site.get(path).text for path in (nothing, something)]
            if time.monotonic() - began < 0.9:
                break
        self.assertNotIn('ready', answers[0])
        self.assertIn('ready', answers[1])

    def test_W_16_W_26_secrets_and_other_letters(self):
        port = {'server': 'https://k', 'token': 'very-secret'}
        path = self.client.create(f'{NODES}/', encode({
            'state': 'hold', 'state_time': 1.5, 'created_time': 1.5, 'provider': 'k', 'pool': 'x',
            'type': ['pod'], 'connection_port': port, 'comment': 'für später'}), sequence=True)
        rows = self.site.poll('/node-list', lambda rows: len(rows) == 2)
        row = next(row for row in rows if row['id'] == path.rsplit('/', 1)[1])
        self.assertEqual((row['connection_port'], row['comment']), ('redacted', 'für später'))
        text = self.site.get('/node-list').text
        self.assertIn('für später', text)
        self.assertNotIn('very-secret', text + json.dumps(rows))

    def test_W_17_requests(self):
        request = self.submit('l1')
        request.wait('fulfilled')
        row, = self.site.poll('/request-list',
                              lambda rows: rows and rows[0]['state'] == 'fulfilled')
        self.assertEqual((row['id'], row['node_types'], row['requestor'], row['event_id'],
                          row['nodes'], row['declined_by'], row['relative_priority']),
                         (request.id, ['l1'], request.record['requestor'],
                          request.record['event_id'], ['0000000000'], [], 0))

    def test_W_20_not_found(self):
        for path in ('/', '/nope', '/node-list/', '/Node-list', '//node-list', '/../node-list',
                     '/node-list/../ready', '/ready/', '/%2e%2e/etc/passwd'):
            answer = self.site.get(path)
            self.assertEqual((answer.status, answer.headers['Access-Control-Allow-Origin']),
                             (404, '*'), path)
        self.assertEqual(self.site.get('/node%2Dlist').status, 200)

    def test_W_21_W_22_kept_for_a_second(self):
        """Within a second nothing is read again."""
        def ask():
            answer = self.site.get('/request-list', JSON)
            return answer.headers['Last-Modified'], answer.body
        for _ in range(20):
            before, began = ask(), time.monotonic()
            request = self.submit('nope')
            request.wait('failed')
            after = ask()
            if time.monotonic() - began < 0.9:
                break
        self.assertEqual(after, before)
        self.site.poll('/request-list', lambda rows: request.id in [row['id'] for row in rows])

    def test_W_21_parameters_that_mean_nothing(self):
        """They make no new answer; nor do those that mean something elsewhere."""
        def ask(parameters, accept):
            answer = self.site.get(f'{path}?{parameters}', accept)
            return answer.headers['Last-Modified'], answer.body
        for path, accept, others in (
                ('/request-list', JSON, ('x=1', 'x=2&y', 'fields=id', 'node_id=1', 'nodes=1')),
                ('/request-list', TEXT, ('x=1', 'node_id=1', 'x', '')),
                ('/node-list', JSON, ('x=1', 'fields=id', 'fields=state', 'node=1'))):
            for _ in range(20):
                began = time.monotonic()
                before = ask('', accept)
                request = self.submit('nope')
                request.wait('failed')
                after = {ask(parameters, accept) for parameters in others}
                if time.monotonic() - began < 0.9:
                    break
            self.assertEqual(after, {before}, path)

    def test_W_23_W_24_W_25_headers(self):
        first = self.site.get('/node-list')
        self.assertEqual((first.headers['Cache-Control'],
                          first.headers['Access-Control-Allow-Origin'],
                          int(first.headers['Content-Length'])),
                         ('max-age=1, public', '*', len(first.body)))
        self.assertRegex(first.headers['Last-Modified'],
                         r'^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$')
        self.assertIn('Expires', first.headers)
        for _ in range(20):
            seen = self.site.get('/node-list').headers['Last-Modified']
            again = self.site.get('/node-list', If_Modified_Since=seen)
            if again.status == 304:
                break
        self.assertEqual((again.status, again.body, again.headers['Last-Modified']),
                         (304, b'', seen))
        for date in ('nonsense', 'Sun, 06 Nov 1994 08:49:37 GMT', 'Sun, 99 Nov 1994 08:49:37 GMT'):
            self.assertEqual(self.site.get('/node-list', If_Modified_Since=date).status, 200)
        self.assertEqual(self.site.get('/node-list', If_None_Match='"x"').status, 200)
        head = self.site.request('HEAD', '/node-list')
        self.assertEqual((head.status, head.body, sorted(head.headers)),
                         (200, b'', sorted(first.headers)))

    def test_lists_that_have_not_changed(self):
        """Their tag tells, also when they have been made again; it counts more than the date."""
        tags = set()
        for accept in ('text/plain', 'application/json'):
            first = self.site.get('/label-list', Accept=accept)
            tag = first.headers['ETag']
            tags.add(tag)
            deadline = time.monotonic() + LIMIT
            modified = first.headers['Last-Modified']
            while modified == first.headers['Last-Modified']:
                self.assertLess(time.monotonic(), deadline)
                again = self.site.get('/label-list', Accept=accept, If_None_Match=f'"x", W/{tag}')
                self.assertEqual((again.status, again.body, again.headers['ETag']),
                                 (304, b'', tag))
                modified = again.headers['Last-Modified']
            other = self.site.get('/label-list', Accept=accept, If_None_Match='"x"',
                                  If_Modified_Since=modified)
            self.assertEqual((other.status, other.body), (200, first.body))
        self.assertEqual(len(tags), 2)

    def test_conditional_request_by_curl(self):
        url = f'http://127.0.0.1:{self.site.port}/label-list'
        file = f'{self.launcher_.folder}/labels'
        subprocess.run(['curl', '-sSf', '-R', '-o', file, url], check=True)
        for _ in range(20):  # its time may be that of an answer that is made again meanwhile
            code = subprocess.run(['curl', '-sS', '-R', '-z', file, '-o', file, '-w', '%{http_code}',
                                   url], check=True, capture_output=True, text=True).stdout
            if code == '304':
                break
        self.assertEqual(code, '304')

    def test_methods(self):
        for method in ('PUT', 'DELETE', 'PATCH', 'OPTIONS', 'NONSENSE'):
            answer = self.site.request(method, '/node-list')
            self.assertEqual((answer.status, answer.headers['Allow']),
                             (405, 'GET, HEAD, POST' if method == 'DELETE' else
                              'GET, HEAD, POST, DELETE'), method)
        form = {'Content-Type': 'application/x-www-form-urlencoded'}
        answer = self.site.request('POST', '/label-list', form, 'fields=label&x=%41+')
        self.assertEqual((answer.status, answer.text), (200, self.site.get('/label-list').text))
        self.assertEqual(self.site.request('POST', '/label-list', form, 'fields=%').status, 400)

    def test_broken_encoding(self):
        for query in ('fields=%', 'fields=%zz', '%', 'a=%0'):
            self.assertEqual(self.site.get(f'/node-list?{query}').status, 400, query)


class Listeners(LauncherCase):
    def test_W_18_labels_of_two_launchers(self):
        self.launcher(provider('p', machines(1, 'a b')))
        other = self.launcher(provider('q', machines(1, 'b c', network=11)), webapp=WEBAPP)
        self.wait_for_pools('p-main', 'q-main')
        Site(other).poll('/label-list', lambda rows: rows == [
            {'label': 'a'}, {'label': 'b'}, {'label': 'c'}])

    def test_W_19_L_107_ready_and_lists_before_the_start(self):
        port = free_port()
        launcher = self.launcher(provider('p', machines(1)), webapp=WEBAPP, port=port)
        site = Site(launcher)
        self.assertEqual(site.get('/ready').status, 503)
        answer = site.get('/node-list')  # waits for a while
        self.assertEqual((answer.status, answer.headers['Retry-After']), (503, '1'))
        launcher.reload([provider('p', machines(1))], zookeeper_servers=[
            {'host': '127.0.0.1', 'port': self.server.port, 'chroot': self.chroot}], webapp=WEBAPP)
        self.wait_for_ready(1)
        answer = site.get('/ready')
        self.assertEqual((answer.status, answer.text, answer.headers['Content-Type']),
                         (200, 'OK', TEXT))
        self.assertEqual(site.get('/ready', JSON).headers['Content-Type'], JSON)

    def test_lists_that_wait_are_answered_when_it_stops(self):
        launcher = self.launcher(provider('p', machines(1)), webapp=WEBAPP, port=free_port())
        with Site(launcher).connect() as client:
            client.sendall(b'GET /node-list HTTP/1.1\r\nHost: x\r\n\r\n')
            launcher.wait_for_log('Status pages')
            self.assertEqual(launcher.stop(), 0)
            self.assertIn(client.recv(100)[:12], (b'HTTP/1.1 503', b''))

    def test_W_27_address(self):
        launcher = self.start_with(machine('127.0.10.1'),
                                   webapp={'port': 0, 'listen_address': '127.0.0.2'})
        site = Site(launcher)
        self.assertEqual(site.get('/ready').status, 200)
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(('127.0.0.1', site.port))

    def test_W_28_no_webapp(self):
        launcher = self.launcher(provider('p', machines(1)), webapp=WEBAPP, start=False)
        launcher.arguments.append('--no-webapp')
        launcher.start()
        self.wait_for_ready(1)
        self.assertEqual(launcher.find_log(f'{STATUS}: listening'), [])

    def test_W_29_port_taken(self):
        with socket.socket() as taken:
            taken.bind(('127.0.0.1', 0))
            taken.listen()
            port = taken.getsockname()[1]
            launcher = self.launcher(provider('p', machines(1)), start=False,
                                     webapp={'port': port, 'listen_address': '127.0.0.1'})
            launcher.start()
            self.assertEqual(launcher.wait_for_exit(), 1)
        message = '\n'.join(launcher.lines)
        self.assertRegex(message, f'Status pages: cannot listen on 127.0.0.1 port {port}: '
                                  '.*(in use|Address)')
        launcher.check_sanitizers()

    def test_http_1_0(self):
        site = Site(self.start_with(machine('127.0.10.1'), webapp=WEBAPP))
        with site.connect() as client:
            client.sendall(b'GET /ready HTTP/1.0\r\n\r\n')
            answer = client.makefile('rb').read()
        self.assertRegex(answer, re.compile(rb'^HTTP/1\.[01] 200 .*\r\n\r\nOK$', re.S))


if __name__ == '__main__':
    unittest.main()
