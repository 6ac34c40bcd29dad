"""`drover top`: pools, waiting requests and machines, on a terminal and once."""

import json
import os
import re
import signal
import time
import unittest

from cli_case import DROVER, SANITIZER, CliCase, wait_until
from launcher import Launcher, machine, provider
from terminal import Terminal
from zookeeper import ZooKeeper

REQUEST = '200-0000000000'


class TopCase(CliCase):
    def top(self, *arguments, config=None, before=(), **options):
        terminal = Terminal([DROVER, '-c', config or self.config, *before, 'top', *arguments],
                            **options)
        self.addCleanup(terminal.close)
        return terminal

    def end(self, terminal, keys='q'):
        terminal.send(keys)
        self.assertEqual(terminal.wait(), 0, terminal.errors)
        self.assertIsNone(SANITIZER.search(terminal.errors), terminal.errors)
        wait_until(terminal.is_restored)

    def put_pool(self, name, limits=None, provider_name='p1', requests=(), **fields):
        launcher_id = f'{name}-id'
        self.zk.create(f'/nodepool/components/pool/{name}', json.dumps({
            'hostname': 'h1', 'kind': 'pool', 'state': 'running', 'version': '11', 'id': launcher_id,
            'name': name, 'provider_name': provider_name, 'supported_labels': ['l'],
            'priority': 100, 'paused': False, **fields}).encode(), makepath=True)
        self.zk.create(f'/drover/decisions/{name}-', json.dumps({
            'launcher': launcher_id, 'provider': provider_name, 'pool': name, 'left_out': 0,
            'limits': limits or {}, 'requests': list(requests)}).encode(), makepath=True)

    def put_cluster(self):
        now = time.time()
        self.put_pool('main', {'pool': {'instances': 10, 'cores': 40},
                               'provider': {'ram': 65536}}, paused=True, requests=[
            {'id': REQUEST, 'verdict': 'wait', 'reason': 'pool: 1 more instances needed, 10 used, '
                                                         'limit 10', 'since': now}])
        self.put_pool('other')
        self.put('0000000000', resources={'instances': 1, 'cores': 4, 'ram': 8192},
                 state='building')
        self.put('0000000001', resources={'instances': 1, 'cores': 4, 'ram': 8192},
                 state='in-use', state_time=now - 7300)
        self.put('0000000002', state_time=now - 90000)
        self.put('0000000003', provider='gone', pool='x')
        self.put_request(REQUEST, state_time=now - 65, state='pending')
        self.put_request('300-0000000001', node_types=['nowhere'])
        self.put_request('300-0000000002', state='fulfilled')


class OnceTest(TopCase):
    def test_json(self):
        self.put_cluster()
        top = self.drover('top', '--json')
        self.assertEqual((top.status, top.err), (0, ''))
        self.assertEqual((top.json['launchers'], top.json['nodes']), (1, 4))
        self.assertEqual({one['state']: (one['count'], one['ages']) for one in top.json['states']},
                         {'building': (1, [1, 0, 0, 0, 0]), 'in-use': (1, [0, 0, 0, 1, 0]),
                          'ready': (2, [1, 0, 0, 0, 1])})
        pools = {(one['provider'], one['pool']): one for one in top.json['pools']}
        self.assertEqual(pools['p1', 'main'], {
            'provider': 'p1', 'pool': 'main', 'registered': True, 'paused': True,
            'nodes': {'building': 1, 'ready': 1, 'in-use': 1}, 'waiting': 1,
            'used': {'instances': 3, 'cores': 8, 'ram': 16384},
            'limits': {'pool': {'instances': 10, 'cores': 40}, 'provider': {'ram': 65536}}})
        self.assertFalse(pools['gone', 'x']['registered'])
        self.assertEqual(pools['p1', 'other']['nodes'], {})
        first, second = top.json['requests']
        self.assertEqual((first['id'], first['verdict'], first['by'], first['labels']),
                         (REQUEST, 'wait', 'p1', ['l']))
        self.assertGreaterEqual(first['age'], 65)
        self.assertEqual((second['verdict'], second['why']),
                         (None, 'no registered pool has its labels'))

    def test_text(self):
        self.put_cluster()
        for words in (['top'], ['top', '--once']):
            text = self.drover(*words)
            self.assertEqual((text.status, text.err), (0, ''))
            self.assertRegex(text.out, r'(?m)^\| p1/main +\| 1 +\| 3 +\| 3/10 +\| 8/40 +\| '
                                       r'16384/\(65536\) +\| 1 +\| 1 +\| 1 +\| full')
            self.assertRegex(text.out, r'(?m)^\| gone/x +\|.*\| no launcher')
            self.assertRegex(text.out, rf'(?m)^\| {REQUEST} +\| pending +\| 1m +\| l +\| '
                                       r'wait \(p1\): pool: 1 more instances needed')
        self.assertIn('launchers 1', self.on_terminal('top', '--once').out)

    def test_empty(self):
        empty = self.drover('top', '--json').json
        self.assertEqual((empty['nodes'], empty['states'], empty['pools'], empty['requests']),
                         (0, [], [], []))

    def test_terminal_that_cannot_be_drawn_on(self):
        terminal = self.top(TERM='dumb')
        self.assertEqual(terminal.wait(), 0)
        wait_until(lambda: 'launchers 0' in terminal.text)
        self.assertNotIn(b'\x1b', terminal.raw)

    def test_records_give_no_orders(self):
        self.put('0000000000', provider='p\x1b[2J\n', pool='x')
        self.put_request(REQUEST, node_types=['l\x07'], requestor='\x1b]0;x\x07')
        self.assertRegex(self.drover('top').out, r'\| p\?\[2J\?/x ')

    def test_limits_that_a_launcher_publishes(self):
        launcher = Launcher(self.server, self.chroot, providers=[
            provider('p1', pools=[{'name': 'main', 'max-servers': 3,
                                   'nodes': [machine('127.0.0.9')]}])])
        self.addCleanup(launcher.close)
        launcher.start()
        wait_until(lambda: any(pool['limits'] for pool in self.drover('top', '--json').json['pools']))
        pool = self.drover('top', '--json').json['pools'][0]
        self.assertEqual(pool['limits'], {'pool': {'instances': 3}, 'provider': {}})


class ScreenTest(TopCase):
    def test_what_is_drawn(self):
        self.put_cluster()
        terminal = self.top(columns=110)
        lines = terminal.wait_for('p1/main')
        self.assertRegex(lines[0], r'^ drover top  \d\d:\d\d:\d\d  launchers 1  machines 4  '
                                   r'requests waiting 2$')
        self.assertRegex('\n'.join(lines), r'(?m)^Machines all <1m <10m <1h <1d older oldest$')
        self.assertRegex('\n'.join(lines), r'(?m)^in-use +1 +0 +0 +0 +1 +0 +2h01m$')
        self.assertRegex('\n'.join(lines), r'(?m)^p1/main +1 +3 +3/10 +8/40 +16384/\(65536\) +1 +1 '
                                           r'+1 full$')
        self.assertRegex('\n'.join(lines), rf'(?m)^{REQUEST} pending +1m l +wait \(p1\): pool: 1 ')
        self.assertIn('? help', lines[-1])
        self.end(terminal)

    def test_it_follows(self):
        terminal = self.top()
        terminal.wait_for('machines 0')
        self.put('0000000000')
        terminal.wait_for('machines 1')
        self.put_request(REQUEST)
        terminal.wait_for(REQUEST)
        self.zk.delete('/nodepool/nodes/0000000000')
        terminal.wait_for('machines 0')
        self.end(terminal, 'Q')

    def test_stands_still(self):
        terminal = self.top()
        terminal.wait_for('machines 0')
        terminal.send('p')
        terminal.wait_for('[stands still]')
        self.put('0000000000')
        self.put_request(REQUEST)
        terminal.send('?')
        terminal.wait_for('another order')
        terminal.send('x')
        terminal.wait_for('Request ')
        self.assertIn('machines 0', terminal.text)
        terminal.send('p')
        terminal.wait_for('machines 1')
        self.end(terminal)

    def test_orders_and_lists(self):
        self.put_pool('a', {'pool': {'instances': 2}})
        self.put_pool('b', {'pool': {'instances': 1}})
        self.put('0000000000', pool='b')
        for i in range(3):
            self.put(f'{i + 1:010}', pool='c')
        terminal = self.top()

        def order(lines):
            return [line.split()[0] for line in lines if line.startswith('p1/')]
        terminal.wait_for(lambda lines: order(lines) == ['p1/a', 'p1/b', 'p1/c'])
        terminal.send('s')
        terminal.wait_for('by use')
        terminal.wait_for(lambda lines: order(lines) == ['p1/b', 'p1/a', 'p1/c'])
        terminal.send('ss')
        terminal.wait_for(lambda lines: order(lines) == ['p1/c', 'p1/b', 'p1/a'])
        terminal.send('\t')
        terminal.wait_for('requests 0-0 of 0 by turn')
        self.end(terminal)

    def test_moving(self):
        for i in range(100):
            self.put_request(f'200-{i:010}', state_time=time.time() - i)
        terminal = self.top(rows=20)
        terminal.wait_for('200-0000000000')
        terminal.send('\t')
        for keys, mark in (('j', '2-'), ('\x1b[B', '3-'), ('k\x1b[A', '1-'), ('\x1b[6~', '7-'),
                           (' ', '13-'), ('\x1b[5~b', '1-'), ('G', 'of 100'), ('\x1b[H', '1-')):
            terminal.send(keys)
            terminal.wait_for(f'requests {mark}' if mark != 'of 100' else '-100 of 100')
        terminal.send('s')
        terminal.wait_for(lambda lines: any(line.startswith('200-0000000099') for line in lines)
                          and 'by age' in lines[-1])
        self.end(terminal)

    def test_what_matters_is_seen_on_small_screens(self):
        """Columns are cut, with a sign, and left out by their weight."""
        self.put_cluster()
        self.put_pool('ubuntu-noble-large', {'pool': {'instances': 200}}, paused=True,
                      provider_name='openstack-zurich-production')
        for columns, cut, left_out in ((80, 'openstack-zurich', 'RAM MiB'),
                                       (40, 'openstack-zurich', 'Ready')):
            with self.subTest(columns=columns):
                terminal = self.top(columns=columns, LC_ALL='C.UTF-8')
                lines = terminal.wait_for(lambda lines: any(line.startswith('p1/main')
                                                            for line in lines))
                self.assertNotIn(left_out, '\n'.join(lines))
                self.assertRegex('\n'.join(lines), rf'(?m)^{cut}\S*\u2026 +0 .*0/200 .*full$')
                self.assertRegex('\n'.join(lines), rf'(?m)^{REQUEST} .*wait \(p1\): p\S*')
                self.assertIn('waiting 2', lines[0])
                self.assertIn('? help', lines[-1])
                self.end(terminal)
        plain = self.top(LC_ALL='C')
        plain.wait_for(lambda lines: any(re.match(r'openstack-zurich\S*\+ ', line)
                                         for line in lines))
        self.end(plain)

    def test_size(self):
        self.put_cluster()
        terminal = self.top(rows=40, columns=120)
        terminal.wait_for('full')
        for rows, columns in ((10, 40), (30, 100), (2, 10), (1, 1), (24, 80)):
            terminal.resize(rows, columns)
            if rows < 6:
                wait_until(lambda: 'too small'[:columns] in terminal.text)
            else:
                terminal.wait_for(lambda lines: 'machines 4' in lines[0]
                                  and lines[-1].startswith('pools '))
        self.end(terminal)

    def test_connection_is_lost(self):
        with ZooKeeper() as server:
            self.chroot = '/'
            terminal = self.top(config=self.write('own.yaml', self.config_text(server.port)))
            terminal.wait_for('machines 0')
            server.kill()
            terminal.wait_for('[NOT CONNECTED]')
            terminal.resize(24, 40)
            terminal.wait_for(lambda lines: lines[0] == ' [NOT CONNECTED] machines 0  waiting 0')
            server.start()
            terminal.wait_for(lambda lines: 'NOT CONNECTED' not in lines[0])
            self.end(terminal)

    def test_connection_is_given_up(self):
        with ZooKeeper() as server:
            self.chroot = '/'
            terminal = self.top(config=self.write('own.yaml', self.config_text(server.port)),
                                before=['--connect-timeout', '1'])
            terminal.wait_for('machines 0')
            server.kill()
            self.assertEqual(terminal.wait(), 1)
            self.assertIn('no connection to ZooKeeper within 1 s', terminal.errors)
            wait_until(terminal.is_restored)

    def test_restored_after_a_signal(self):
        for number, status in ((signal.SIGINT, 0), (signal.SIGTERM, 0), (signal.SIGHUP, 0),
                               (signal.SIGQUIT, -signal.SIGQUIT)):
            terminal = self.top()
            terminal.wait_for('machines 0')
            self.assertFalse(terminal.is_restored())
            terminal.process.send_signal(number)
            self.assertEqual(terminal.wait(), status)
            wait_until(terminal.is_restored)

    def test_control_c(self):
        terminal = self.top()
        terminal.wait_for('machines 0')
        self.end(terminal, '\x03')

    def test_stopped_and_continued(self):
        terminal = self.top()
        terminal.wait_for('machines 0')
        terminal.send('\x1a')
        wait_until(terminal.is_restored)
        wait_until(lambda: self.process_state(terminal.process.pid) == 'T')
        terminal.process.send_signal(signal.SIGCONT)
        terminal.wait_for('machines 0')
        self.end(terminal)

    @staticmethod
    def process_state(pid):
        with open(f'/proc/{pid}/stat', encoding='ascii') as stat:
            return stat.read().rpartition(')')[2].split()[0]

    def test_ten_thousand_machines(self):
        self.zk.ensure_path('/nodepool/nodes')
        self.put_pool('main', {'pool': {'instances': 20000}})
        states = ['ready', 'in-use', 'building', 'used']
        made = [self.zk.create_async(f'/nodepool/nodes/{i:010}', json.dumps({
            'state': states[i % 4], 'state_time': time.time(), 'provider': 'p1', 'pool': 'main',
            'type': ['l'], 'resources': {'instances': 1, 'cores': 4}}).encode())
            for i in range(10000)]
        for one in made:
            one.get(60)
        terminal = self.top(columns=120)
        lines = terminal.wait_for('machines 10000')
        self.assertRegex('\n'.join(lines), r'(?m)^p1/main +0 +10000 +10000/20000 +40000/-')
        spent = self.processor_time(terminal.process.pid)
        shown = lines[0]
        for _ in range(3):
            shown = terminal.wait_for(lambda lines: lines[0] != shown)[0]
        self.assertLess(self.processor_time(terminal.process.pid) - spent, 6)
        self.end(terminal)

    @staticmethod
    def processor_time(pid):
        with open(f'/proc/{pid}/stat', encoding='ascii') as stat:
            fields = stat.read().rpartition(')')[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


if __name__ == '__main__':
    unittest.main(verbosity=2)
