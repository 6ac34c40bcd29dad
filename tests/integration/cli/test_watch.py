"""`drover watch`: each change of a node or a request, as it happens."""

import array
import fcntl
import json
import os
import pty
import signal
import subprocess
import termios
import threading
import time
import unittest

from cli_case import DROVER, LIMIT, SANITIZER, CliCase, wait_until
from launcher import Launcher, machine, provider
from zookeeper import ZooKeeper, die_with_parent

NODE = '0000000000'
REQUEST = '200-0000000000'


class Watch:
    """A `drover watch` that is under way, and what it has said."""

    def __init__(self, *arguments, stdout=subprocess.PIPE, **environment):
        self.process = subprocess.Popen(
            [DROVER, *arguments], stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE,
            preexec_fn=die_with_parent, env={**os.environ, **environment})
        self.lines, self.words = [], []
        self.readers = [threading.Thread(target=self._read, args=(stream, to), daemon=True)
                        for stream, to in ((self.process.stdout, self.lines),
                                           (self.process.stderr, self.words)) if stream]
        for reader in self.readers:
            reader.start()

    @staticmethod
    def _read(stream, to):
        for line in stream:
            to.append(line.decode().rstrip('\n'))

    def wait_for_words(self, text, count=1):
        wait_until(lambda: sum(text in line for line in list(self.words)) >= count)

    @property
    def told(self):
        return [json.loads(line) for line in list(self.lines)]

    def states(self, one):
        return [(told['old'], told['new']) for told in self.told if told['id'] == one]

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        return self.wait()

    def wait(self):
        status = self.process.wait(LIMIT)
        for reader in self.readers:
            reader.join(LIMIT)
        return status

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.wait()
        for stream in (self.process.stdout, self.process.stderr):
            if stream:
                stream.close()
        assert not SANITIZER.search('\n'.join(self.words)), self.words


class WatchCase(CliCase):
    def watch(self, *arguments, config=None, before=(), **options):
        watch = Watch('-c', config or self.config, *before, 'watch', *arguments, **options)
        self.addCleanup(watch.close)
        watch.wait_for_words('watching')
        return watch

    def set_node(self, node_id, **fields):
        record = {**self.get(node_id), **fields, 'state_time': time.time()}
        self.zk.set(f'/nodepool/nodes/{node_id}', json.dumps(record).encode())

    def set_request(self, request_id, **fields):
        record = {**self.get_request(request_id), **fields, 'state_time': time.time()}
        self.zk.set(f'/nodepool/requests/{request_id}', json.dumps(record).encode())


class TransitionTest(WatchCase):
    def test_life_of_a_node(self):
        watch = self.watch()
        self.put(NODE, state='building', launcher='host-1-p1-main', state_time=1700000000.25)
        wait_until(lambda: watch.lines)
        self.assertEqual(watch.told[0], {
            'time': 1700000000.25, 'kind': 'node', 'id': NODE, 'old': None, 'new': 'building',
            'labels': ['l'], 'provider': 'p1', 'pool': 'main', 'request': None, 'nodes': [],
            'by': 'host-1-p1-main', 'why': None})
        self.set_node(NODE, hostname='h')  # which is nothing to speak of
        for fields in ({'state': 'ready'}, {'allocated_to': REQUEST}, {'state': 'in-use'},
                       {'state': 'hold', 'comment': 'for\nme'}, {'state': 'deleting'}):
            known = len(watch.lines)
            self.set_node(NODE, **fields)
            wait_until(lambda: len(watch.lines) > known)
        self.zk.delete(f'/nodepool/nodes/{NODE}')
        wait_until(lambda: watch.states(NODE)[-1][1] is None)
        self.assertEqual(watch.states(NODE), [
            (None, 'building'), ('building', 'ready'), ('ready', 'ready'), ('ready', 'in-use'),
            ('in-use', 'hold'), ('hold', 'deleting'), ('deleting', None)])
        self.assertEqual([told['why'] for told in watch.told],
                         [None, None, f'allocated to {REQUEST}', None, 'for\nme', None, None])
        self.assertEqual([told['request'] for told in watch.told], [None] * 2 + [REQUEST] * 5)
        self.assertEqual(watch.end(), 0)

    def test_life_of_a_request(self):
        watch = self.watch('requests')
        self.put(NODE, launcher='host-1-p1-main')
        self.put_request(REQUEST)
        wait_until(lambda: watch.lines)
        for fields in ({'declined_by': ['other']}, {'state': 'pending'},
                       {'state': 'fulfilled', 'nodes': [NODE]}):
            known = len(watch.lines)
            self.set_request(REQUEST, **fields)
            wait_until(lambda: len(watch.lines) > known)
        self.zk.delete(f'/nodepool/requests/{REQUEST}')
        wait_until(lambda: watch.states(REQUEST)[-1][1] is None)
        self.assertEqual(watch.states(REQUEST), [
            (None, 'requested'), ('requested', 'requested'), ('requested', 'pending'),
            ('pending', 'fulfilled'), ('fulfilled', None)])
        self.assertEqual([(told['by'], told['why']) for told in watch.told],
                         [('zuul', None), ('other', 'declined'), (None, None),
                          ('host-1-p1-main', f'nodes {NODE}'), (None, None)])
        self.assertEqual(watch.told[3]['nodes'], [NODE])
        self.assertEqual(watch.end(signal.SIGTERM), 0)

    def test_what_cannot_be_read(self):
        self.zk.create('/nodepool/nodes/0000000007', b'{', makepath=True)
        self.zk.create('/nodepool/nodes/0000000008', b'')
        self.put(NODE)
        watch = self.watch('nodes')
        self.zk.set(f'/nodepool/nodes/{NODE}', b'[')
        wait_until(lambda: watch.lines)
        self.put('0000000001')
        wait_until(lambda: len(watch.lines) > 1)
        self.assertEqual([(one['id'], one['old'], one['new']) for one in watch.told],
                         [(NODE, 'ready', 'broken'), ('0000000001', None, 'ready')])

    def test_current(self):
        self.put_request(REQUEST)
        self.put('0000000001')
        self.put(NODE, state='building')
        watch = self.watch('--current')
        wait_until(lambda: len(watch.lines) == 3)
        self.assertEqual([(one['id'], one['old'], one['new']) for one in watch.told],
                         [(REQUEST, None, 'requested'), (NODE, None, 'building'),
                          ('0000000001', None, 'ready')])

    def test_filters(self):
        self.put(NODE, type=['a'], allocated_to=REQUEST)
        self.put('0000000001', type=['b'], provider='p2', state='building')
        self.put_request(REQUEST, state='fulfilled', node_types=['a'], nodes=[NODE])
        self.put_request('300-0000000001', node_types=['b'], provider='p2')
        for words, expected in ((['--request', REQUEST], {REQUEST, NODE}),
                                (['--node', NODE], {REQUEST, NODE}),
                                (['nodes', '--label', 'b'], {'0000000001'}),
                                (['--provider', 'p1'], {REQUEST, NODE}),
                                (['requests', '--provider', 'p2'], {'300-0000000001'}),
                                (['--state', 'requested'], {'300-0000000001'}),
                                (['-L', 'a', '--state', 'ready'], {NODE})):
            watch = self.watch('--current', *words)
            wait_until(lambda: len(watch.lines) >= len(expected))
            self.assertEqual(watch.end(), 0)
            self.assertEqual({told['id'] for told in watch.told}, expected, words)

    def test_used_wrongly(self):
        for words, message in ((['machines'], 'what is watched is "requests" or "nodes"'),
                               (['--state', 'redy'], 'ready, in-use'),
                               (['nodes', 'requests'], 'unrecognized arguments: requests')):
            refused = self.drover('watch', *words)
            self.assertEqual((refused.status, refused.out), (2, ''), words)
            self.assertIn(message, refused.err)

    def test_who_and_why_of_a_launcher(self):
        watch = self.watch('requests')
        launcher = Launcher(self.server, self.chroot, providers=[
            provider('p1', nodes=[machine('127.0.0.9')])])
        self.addCleanup(launcher.close)
        launcher.start()
        launcher.wait_for_log('Registered /nodepool/components/pool')
        self.put_request(REQUEST, node_types=['nope'])
        wait_until(lambda: any(told['new'] == 'failed' for told in watch.told))
        failed = [told for told in watch.told if told['new'] == 'failed'][0]
        self.assertRegex(failed['by'], r'-PoolWorker\.p1-main-')
        self.assertIsNotNone(failed['why'])


class OutputTest(WatchCase):
    def test_text(self):
        watch = self.watch('--text')
        self.put(NODE, state='building', launcher='x\x1b[2Jy\nz', type=['l', 'm'])
        wait_until(lambda: watch.lines)
        self.assertRegex(watch.lines[0],
                         rf'^\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{{3}} node    {NODE}     '
                         r'-         -> building   l,m on p1/main by x\?\[2Jy\?z$')
        self.put_request(REQUEST)
        wait_until(lambda: len(watch.lines) > 1)
        self.assertRegex(watch.lines[1], rf' request {REQUEST} -         -> requested  l by zuul$')
        self.assertEqual(watch.end(), 0)

    def on_terminal(self, **environment):
        terminal, side = pty.openpty()
        self.addCleanup(os.close, terminal)
        watch = self.watch(stdout=side, **environment)
        os.close(side)
        self.put(NODE)
        shown = b''
        while not shown.endswith(b'\n'):
            shown += os.read(terminal, 4096)
        self.assertEqual(watch.end(), 0)
        return shown.decode()

    def test_colours_only_on_a_terminal(self):
        self.assertRegex(self.on_terminal(TERM='xterm'), r'-> \x1b\[32mready    \x1b\[0m  l on p1')

    def test_no_colours_when_not_wanted(self):
        self.assertNotIn('\x1b', self.on_terminal(TERM='xterm', NO_COLOR='1'))

    def test_reader_goes_away(self):
        reading, side = os.pipe()
        watch = self.watch(stdout=side)
        os.close(side)
        os.close(reading)
        self.assertEqual(watch.wait(), 0)
        self.assertEqual([word for word in watch.words if 'watching' not in word], [])

    def test_reader_that_does_not_read(self):
        silent, side = os.pipe()
        self.addCleanup(os.close, silent)
        watch = self.watch(stdout=side)
        os.close(side)
        for i in range(40):
            self.put(f'{i:010}', launcher='y' * 9000)

        def is_full():
            waiting = array.array('i', [0])
            fcntl.ioctl(silent, termios.FIONREAD, waiting)
            return waiting[0] > 40000  # pages that are not filled up count as full, too
        wait_until(is_full)
        self.assertEqual(watch.end(), 0)


class ConnectionTest(WatchCase):
    def test_server_is_restarted(self):
        with ZooKeeper() as server:
            root = server.client()
            self.addCleanup(root.close)
            self.addCleanup(root.stop)
            for i in range(3):
                root.create(f'/nodepool/nodes/{i:010}', self.record('building'), makepath=True)
            self.chroot = '/'
            watch = self.watch(config=self.write('own.yaml', self.config_text(server.port)))
            server.kill()
            watch.wait_for_words('is lost')
            server.start()
            watch.wait_for_words('connected again')
            wait_until(lambda: self.try_set(root, f'/nodepool/nodes/{1:010}', 'ready'))
            wait_until(lambda: watch.states(f'{1:010}'))
            self.assertEqual([(told['id'], told['old'], told['new']) for told in watch.told],
                             [('0000000001', 'building', 'ready')])
            self.assertEqual(watch.end(), 0)

    @staticmethod
    def record(state):
        return json.dumps({'state': state, 'state_time': time.time(), 'type': ['l'],
                           'provider': 'p1', 'pool': 'main'}).encode()

    def try_set(self, client, path, state):
        client.retry(client.set, path, self.record(state))
        return True

    def test_what_happened_while_it_slept_past_its_session(self):
        config = self.write('short.yaml',
                            self.config_text(self.server.port) + 'zookeeper-timeout: 1\n')
        self.put(NODE, state='building')
        self.put('0000000001')
        watch = self.watch(config=config)
        watch.process.send_signal(signal.SIGSTOP)
        before = self.server.command('cons').count('recved')
        self.set_node(NODE, state='testing')
        self.set_node(NODE, state='ready')
        self.zk.delete('/nodepool/nodes/0000000001')
        self.put('0000000002')
        wait_until(lambda: self.server.command('cons').count('recved') < before)
        watch.process.send_signal(signal.SIGCONT)
        watch.wait_for_words('connected again')
        wait_until(lambda: len(watch.lines) >= 3)
        self.assertEqual(sorted((told['id'], told['old'] or '', told['new'] or '')
                                for told in watch.told),
                         [(NODE, 'building', 'ready'), ('0000000001', 'ready', ''),
                          ('0000000002', '', 'ready')])
        self.assertEqual(watch.end(), 0)

    def test_given_up(self):
        with ZooKeeper() as server:
            self.chroot = '/'
            watch = self.watch(config=self.write('own.yaml', self.config_text(server.port)),
                               before=['--connect-timeout', '1'])
            server.kill()
            self.assertEqual(watch.wait(), 1)
            self.assertIn('no connection to ZooKeeper within 1 s', watch.words[-1])

    def test_burst_loses_no_final_state(self):
        nodes = [f'{i:010}' for i in range(250)]
        self.zk.ensure_path('/nodepool/nodes')
        watch = self.watch('nodes')
        changes = []
        for node in nodes:
            changes.append(self.zk.create_async(f'/nodepool/nodes/{node}', self.record('building')))
        for state in ('ready', 'in-use', 'used'):
            for node in nodes:
                changes.append(self.zk.set_async(f'/nodepool/nodes/{node}', self.record(state)))
        for change in changes:
            change.get(LIMIT)
        self.assertEqual(len(changes), 1000)
        wait_until(lambda: sum('"new":"used"' in line for line in list(watch.lines)) == 250)
        by_node = {}
        for told in watch.told:
            by_node.setdefault(told['id'], []).append((told['old'], told['new']))
        for states in by_node.values():
            self.assertIsNone(states[0][0])
            self.assertEqual([old for old, _ in states[1:]], [new for _, new in states[:-1]])
            self.assertEqual(states[-1][1], 'used')
        self.assertEqual(watch.end(), 0)


if __name__ == '__main__':
    unittest.main(verbosity=2)
