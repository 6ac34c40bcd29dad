"""The page for people, in a real browser, and the events that feed it."""

import contextlib
import html
import itertools
import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

import process
from http_site import METRICS, Site, sample, wait_for
from launcher import machine, machines
from launcher_case import LauncherCase
from loop_lag import LoopLag
from web_crowd import Streams, allow_files
from zuul_client import encode

WEBAPP = {'port': 0, 'listen_address': '127.0.0.1'}
BROWSER = ['chromium', '--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
           '--no-first-run', '--disable-background-networking', '--virtual-time-budget=3000']
VIEWERS = 500
MOST_VIEWERS = 512
MOST_MEMORY = 100  # KiB that the launcher needs for a viewer, at most
LAG = 1  # second that the loop may be late, with sanitizers and on a busy machine


class Events:
    """Reads a stream of events, as the page does: what they tell together."""

    def __init__(self, test, site):
        self.client = test.enterContext(site.connect())
        self.client.sendall(b'GET /overview/events HTTP/1.0\r\n\r\n')
        self.lines = self.client.makefile('rb')
        self.head = b''
        while (line := self.lines.readline()) not in (b'\r\n', b''):
            self.head += line
        self.state = {}
        self.last = None  # the last change alone

    def next(self):
        """The state after the next event."""
        kind = 'message'
        while line := self.lines.readline():
            if line.startswith(b'event: '):
                kind = line[7:].decode().strip()
            elif line.startswith(b'data: '):
                self.take(kind, json.loads(line[6:]))
                return self.state
        raise EOFError

    def take(self, kind, event):
        if kind == 'message':
            self.state = event
            return
        assert kind == 'change'
        self.last = dict(event)
        for name in {'nodes', 'requests'} & event.keys():
            merged = {one['id']: one for one in [*self.state[name], *event[name]['set']]}
            event[name] = [one for one in merged.values() if one['id'] not in event[name]['gone']]
        self.state.update(event)

    def wait(self, condition):
        while not condition(state := self.next()):
            pass
        return state


def contrast(one, other):
    """By WCAG 2.1, of two colours of three or six hexadecimal digits."""
    def luminance(colour):
        digits = colour if len(colour) == 6 else ''.join(2 * digit for digit in colour)
        parts = [int(digits[at:at + 2], 16) / 255 for at in (0, 2, 4)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
                  for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


class Page(LauncherCase):
    def start(self, *nodes, **options):
        self.launcher_ = self.start_with(*nodes, webapp=WEBAPP, **options)
        self.site = Site(self.launcher_)

    def browse(self, *options):
        with tempfile.TemporaryDirectory(prefix='drover-test-', ignore_cleanup_errors=True) as folder:
            return subprocess.run([*BROWSER, f'--user-data-dir={folder}', *options,
                                   f'http://127.0.0.1:{self.site.port}/overview?still'],
                                  capture_output=True, text=True, timeout=120, check=True).stdout

    def test_events(self):
        self.start(*machines(2))
        events = Events(self, self.site)
        self.assertIn(b'200 OK', events.head)
        self.assertIn(b'Content-Type: text/event-stream', events.head)
        state = events.wait(lambda state: len(state['nodes']) == 2)
        self.assertEqual((state['state'], state['limits']), ('running', {'p': {'main': None}}))
        job = self.job('l')
        events.wait(lambda state: {node['state'] for node in state['nodes']} == {'in-use', 'ready'})
        request = self.submit('l', 'l')
        state = events.wait(lambda state: state['requests'] and state['requests'][0]['verdicts'])
        waiting, = state['requests']
        verdict, = waiting['verdicts']
        self.assertEqual((waiting['id'], verdict['verdict'], verdict['pool']),
                         (request.id, 'defer', 'main'))
        self.assertIn('wanted', verdict['reason'])
        job.give_back()
        request.wait('fulfilled')
        events.wait(lambda state: not state['requests'])

    def test_only_changes_are_told(self):
        self.start(*machines(3))
        events = Events(self, self.site)
        events.wait(lambda state: len(state['nodes']) == 3)
        job = self.job('l')
        node, = job.ids
        events.wait(lambda state: state['counts'] == {'p': {'main': {'in-use': 1, 'ready': 2}}})
        self.assertEqual([one['id'] for one in events.last['nodes']['set']], [node])
        self.assertEqual(events.last.keys() & {'limits', 'registered', 'version'}, set())
        job.give_back()
        events.wait(lambda state: node not in {one['id'] for one in state['nodes']} and
                    state['counts'] == {'p': {'main': {'ready': 3}}})
        # Who comes later is told the same, but for the time.
        whole = Events(self, self.site).next()
        for state in (whole, events.state):
            del state['now']
            state['nodes'].sort(key=lambda one: one['id'])
        self.assertEqual(whole, events.state)

    def test_500_viewers(self):
        """All are told, for next to nothing, and the work goes on."""
        allow_files(2000)
        self.start(*machines(20), prometheus={'launcher': WEBAPP})
        memory = process.status(self.launcher_.pid, 'VmRSS')
        with LoopLag(self.launcher_) as lag, Streams(self.site, VIEWERS) as streams:
            streams.wait_for_events(1)
            for _ in range(3):
                seen = max(stream.events for stream in streams.clients)
                job = self.job('l')
                streams.wait_for_events(seen + 1)
                job.give_back()
            Site(self.launcher_, METRICS).wait_for_sample('drover_http_streams', VIEWERS,
                                                          listener='status')
            grown = (process.status(self.launcher_.pid, 'VmRSS') - memory) / VIEWERS
        print(f'{VIEWERS} viewers: {grown:.1f} KiB each; loop: {lag}', file=sys.stderr)
        self.assertLess(grown, MOST_MEMORY)
        self.assertLess(lag.quantile(0.99), LAG)
        self.assertEqual(self.cut('unread'), 0)

    def cut(self, reason):
        return sample(Site(self.launcher_, METRICS).samples(), 'drover_http_cut_connections_total',
                      listener='status', reason=reason)

    def test_too_many_viewers(self):
        self.start(machine('127.0.10.1', 'l'))
        allow_files(2000)
        with Streams(self.site, MOST_VIEWERS) as streams:
            streams.wait_for_events(1)
            self.assertIn(b' 503 ', self.ask_for_events())
        wait_for(self.ask_for_events, lambda answer: b' 200 ' in answer, 60, 'a place')

    def ask_for_events(self):
        with self.site.connect() as client:
            client.sendall(b'GET /overview/events HTTP/1.0\r\n\r\n')
            return client.recv(100)

    def test_viewers_that_do_not_read(self):
        """They are cut off, some since they take nothing, some since they fall behind."""
        self.start(machine('127.0.10.1', 'l'), prometheus={'launcher': WEBAPP})
        record = {'state': 'hold', 'state_time': 1, 'provider': 'x', 'pool': 'x', 'type': ['x'],
                  'hostname': 'x' * 500}
        paths = [self.client.create('/nodepool/nodes/', encode(record), sequence=True)
                 for _ in range(900)]
        viewer = Events(self, self.site)
        viewer.wait(lambda state: state['nodes_in_all'] == 901)
        still, slow = ([self.enterContext(self.site.connect()) for _ in range(5)] for _ in range(2))
        for client in still + slow:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32768)
            client.sendall(b'GET /overview/events HTTP/1.0\r\n\r\n')
            client.setblocking(False)
        cut = []
        while not cut or cut[-1] < len(still + slow):
            self.assertLess(len(cut), 90)
            record['state_time'] += 1
            self.client.set(paths[len(cut)], encode(record))
            viewer.next()
            for client in slow:
                with contextlib.suppress(OSError):
                    client.recv(10_000)
            cut.append(self.cut('unread'))
        self.assertIn(len(still), cut)
        self.launcher_.wait_for_log('were cut off so far')

    def enterContext(self, manager):
        return self._viewers.enter_context(manager)

    def setUp(self):
        super().setUp()
        self._viewers = contextlib.ExitStack()
        self.addCleanup(self._viewers.close)

    def test_stop_with_viewers(self):
        self.start(machine('127.0.10.1', 'l'))
        events = Events(self, self.site)
        events.next()
        self.assertEqual(self.launcher_.stop(), 0)
        with self.assertRaises(EOFError):
            while True:
                events.next()

    def test_the_page_is_safe_to_look_at(self):
        self.start(machine('127.0.10.1', 'l'))
        answer = self.site.get('/overview')
        self.assertEqual((answer.status, answer.headers['Content-Type']),
                         (200, 'text/html; charset=UTF-8'))
        self.assertIn("default-src 'none'", answer.headers['Content-Security-Policy'])
        self.assertNotIn('innerHTML', answer.text)
        self.assertEqual(self.site.get('/').status, 404)

    def test_the_page_is_sent_once(self):
        """A browser that has it asks whether it is still that one."""
        self.start(machine('127.0.10.1', 'l'))
        first = self.site.get('/overview')
        tag = first.headers['ETag']
        self.assertRegex(tag, '^"[0-9a-f]{32}"$')
        for known in (tag, f'W/{tag}', f'"x", {tag}', '*'):
            again = self.site.get('/overview', If_None_Match=known)
            self.assertEqual((again.status, again.body, again.headers['ETag']), (304, b'', tag))
        for known in ('"x"', tag.strip('"'), ''):
            again = self.site.get('/overview', If_None_Match=known)
            self.assertEqual((again.status, again.body), (200, first.body))

    def test_contrasts(self):
        """4.5 for texts, 3 for edges of controls, the focus and bars, in both themes."""
        self.start(machine('127.0.10.1', 'l'))
        themes = re.findall(r'^:root[^{]*{([^}]*)}', self.site.get('/overview').text, re.M)
        self.assertEqual(len(themes), 2)
        for theme in themes:
            colours = dict(re.findall(r'--(\w+): #(\w+);', theme))
            wanted = {(name, ground): 4.5 for name in ('fore', 'dim', 'full')
                      for ground in ('back', 'card')}
            wanted |= {(name, 'back'): 3 for name in ('edge', 'focus')}
            wanted |= {('edge', 'card'): 3, ('bar', 'line'): 3, ('full', 'line'): 3}
            low = [pair for pair, least in wanted.items()
                   if contrast(*(colours[name] for name in pair)) < least]
            self.assertEqual(low, [])

    def test_structure_for_those_who_do_not_see_it(self):
        self.start(machine('127.0.10.1', 'l'))
        page = self.site.get('/overview').text
        self.assertIn('<html lang="en">', page)
        self.assertIn('<title>Drover</title>', page)
        ids = re.findall(r' id="(\w+)"', page)
        self.assertEqual(len(ids), len(set(ids)))
        for landmark in ('header', 'nav', 'main', 'h1'):
            self.assertEqual(len(re.findall(f'<{landmark}[ >]', page)), 1, landmark)
        tables = re.findall('<table[^>]*>', page)
        names = re.findall('<table aria-labelledby="(\\w+)">', page)
        self.assertEqual((len(tables), set(names) - set(ids)), (len(names), set()))
        self.assertEqual(re.findall('<th(?! scope="col")[ >]', page), [])

    @unittest.skipUnless(shutil.which('chromium'), 'needs chromium')
    def test_in_a_browser(self):
        self.start(machine('127.0.10.1', 'l <img/src=x>'))
        self.submit('l', 'l', requestor='<script>alert(1)</script>')
        Events(self, self.site).wait(lambda state: state['requests'] and
                                     state['requests'][0]['verdicts'])
        dom = self.browse('--dump-dom')
        text = html.unescape(re.sub(r'<[^>]*>', ' ', dom.split('<main ')[1].split('</main>')[0]))
        text = ' '.join(text.split())
        self.assertIn('1 ready', text)
        self.assertIn('main: 1 nodes', text)
        self.assertIn('p/main: defer, 1 node(s) with label l are free, 2 wanted', text)
        self.assertIn('127.0.10.1', text)
        self.assertIn('<script>alert(1)</script>', text)
        self.assertNotIn('<script>alert(1)', dom)
        self.assertNotIn('<img/src', dom)


if __name__ == '__main__':
    unittest.main()
