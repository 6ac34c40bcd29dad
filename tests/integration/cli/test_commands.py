"""The `drover` program: outputs, exit statuses, and what it leaves in ZooKeeper."""

import json
import os
import re
import subprocess
import tempfile
import time
import unittest

from kazoo.client import KazooClient

from launcher import Launcher, machine, provider
from zookeeper import ZooKeeper

DROVER = os.path.abspath(os.environ['DROVER'])
SANITIZER = re.compile(r'Sanitizer|runtime error:|CRITICAL \*\*')

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


class Result:
    def __init__(self, completed):
        self.status = completed.returncode
        self.out = completed.stdout
        self.err = completed.stderr

    def lines(self):
        return self.out.splitlines()

    def cells(self, row):
        """The cells of a table's row, counted from 0 below the header."""
        return [cell.strip() for cell in self.lines()[3 + row].strip('|').split('|')]


class Case(unittest.TestCase):
    count = 0

    @classmethod
    def setUpClass(cls):
        cls.server = ZooKeeper()
        cls.server.start()
        cls.folder = tempfile.TemporaryDirectory(prefix='drover-cli-')

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.folder.cleanup()

    def setUp(self):
        Case.count += 1
        self.chroot = f'/t{Case.count}'
        self.config = os.path.join(self.folder.name, f'{Case.count}.yaml')
        with open(self.config, 'w', encoding='utf-8') as file:
            file.write(CONFIG.format(port=self.server.port, chroot=self.chroot))
        root = KazooClient(f'127.0.0.1:{self.server.port}')
        root.start()
        root.ensure_path(self.chroot)
        root.stop()
        root.close()
        self.zk = KazooClient(f'127.0.0.1:{self.server.port}{self.chroot}')
        self.zk.start()
        self.addCleanup(self.zk.close)
        self.addCleanup(self.zk.stop)

    def drover(self, *arguments, program=DROVER, config=None, text=None):
        completed = subprocess.run([program, '-c', config or self.config, *arguments],
                                   input=text, capture_output=True, text=True, timeout=60,
                                   check=False)
        self.assertIsNone(SANITIZER.search(completed.stderr), completed.stderr)
        return Result(completed)

    def put(self, node_id, **fields):
        record = {'state': 'ready', 'state_time': time.time(), 'provider': 'p1', 'type': ['l'],
                  'pool': 'main'}
        record.update(fields)
        self.zk.create(f'/nodepool/nodes/{node_id}', json.dumps(record).encode(), makepath=True)

    def get(self, node_id):
        return json.loads(self.zk.get(f'/nodepool/nodes/{node_id}')[0])


class UsageTest(Case):
    def test_CLI_01_no_command(self):
        completed = subprocess.run([DROVER], capture_output=True, text=True, check=False)
        self.assertEqual(completed.returncode, 1)
        self.assertIn('request submit', completed.stdout)

    def test_CLI_02_used_wrongly(self):
        self.assertEqual(self.drover('bogus').status, 2)
        self.assertEqual(self.drover('list', '--bogus').status, 2)
        missing = self.drover('hold')
        self.assertEqual(missing.status, 2)
        self.assertIn('ID', missing.err)
        self.assertEqual(self.drover('list', 'superfluous').status, 2)
        self.assertIn('--label', self.drover('request', 'submit').err)

    def test_CLI_03_version(self):
        own = self.drover('--version')
        self.assertRegex(own.out, r'^drover \d+\.\d+\.\d+\n$')
        link = os.path.join(self.folder.name, 'nodepool')
        if not os.path.exists(link):
            os.symlink(DROVER, link)
        compatible = self.drover('--version', program=link)
        self.assertRegex(compatible.out, r'^Nodepool version: 11\.0\.0\+drover\d')
        self.assertEqual(compatible.status, 0)

    def test_configuration_cannot_be_used(self):
        missing = self.drover('list', config='/nonexistent.yaml')
        self.assertEqual(missing.status, 1)
        self.assertIn('/nonexistent.yaml', missing.err)

    def test_connection_is_given_up(self):
        path = os.path.join(self.folder.name, 'dead.yaml')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(CONFIG.format(port=1, chroot='/x'))
        dead = self.drover('--connect-timeout', '1', 'list', config=path)
        self.assertEqual(dead.status, 1)
        self.assertIn('127.0.0.1:1', dead.err)
        self.assertEqual(len(dead.err.strip().splitlines()), 1)

    def test_help_of_each_command(self):
        names = re.findall(r'^  ([a-z][a-z-]*(?: [a-z]+)?)  ', self.drover('--help').out, re.M)
        self.assertGreater(len(names), 8)
        for name in names:
            described = self.drover(*name.split(), '--help')
            self.assertEqual(described.status, 0, name)
            self.assertIn('--json', described.out)


class ListTest(Case):
    def test_CLI_04_empty(self):
        listed = self.drover('list')
        self.assertEqual(listed.status, 0)
        self.assertEqual(len(listed.lines()), 4)
        self.assertEqual([cell.strip() for cell in listed.lines()[1].strip('|').split('|')],
                         ['ID', 'Provider', 'Label', 'Server ID', 'Public IPv4', 'IPv6', 'State',
                          'Age', 'Locked'])

    def test_CLI_05_detail(self):
        self.put('0000000000', hostname='h')
        detail = self.drover('list', '--detail')
        self.assertEqual(len(detail.cells(0)), 21)
        self.assertEqual(detail.cells(0)[10], 'h')

    def test_CLI_06_CLI_07_values(self):
        self.put('0000000000', type=['a', 'b'], user_data={'zuul_system': 'x', 'n': None},
                 driver_data={'k': [1]}, external_id={'e': True},
                 connection_port={'token': 'verysecret'}, pool=None)
        self.put('0000000001', connection_port='22022')
        self.put('0000000002', connection_port=None)
        self.put('0000000003', connection_port=22)
        self.put('0000000004')
        listed = self.drover('list', '--detail')
        self.assertNotIn('verysecret', listed.out + self.drover('list', '--json').out)
        first = listed.cells(0)
        self.assertEqual((first[2], first[3], first[9]), ('a,b', "{'e': True}", ''))
        self.assertEqual((first[19], first[20]), ("{'zuul_system': 'x', 'n': None}", "{'k': [1]}"))
        self.assertEqual([listed.cells(row)[14] for row in range(5)],
                         ['redacted', '22022', 'redacted', '22', '22'])
        as_json = json.loads(self.drover('list', '--json').out)
        self.assertEqual([node['connection_port'] for node in as_json],
                         ['redacted', '22022', 'redacted', 22, 22])
        self.assertEqual(as_json[0]['label'], ['a', 'b'])

    def test_CLI_08_username(self):
        self.put('0000000000', username='u1', hostname='h')
        self.put('0000000001', username='u2', hostname='h')
        listed = self.drover('list', '--detail')
        self.assertEqual([listed.cells(row)[13] for row in range(2)], ['u1', 'u2'])

    def test_CLI_11_no_data(self):
        self.zk.create('/nodepool/nodes/0000000000', b'', makepath=True)
        self.zk.create('/nodepool/nodes/0000000001', b'{broken')
        listed = self.drover('list')
        self.assertEqual((listed.status, len(listed.lines())), (0, 4))
        self.assertIn('0000000001', listed.err)

    def test_CLI_12_locked(self):
        self.put('0000000000')
        self.put('0000000001')
        lock = self.zk.Lock('/nodepool/nodes/0000000000/lock')
        lock.acquire()
        listed = self.drover('list')
        self.assertEqual([listed.cells(row)[8] for row in range(2)], ['locked', 'unlocked'])
        lock.release()

    def test_CLI_13_listing_writes_nothing(self):
        self.put('0000000000')
        before = self.zk.get('/nodepool/nodes/0000000000')[1]
        self.drover('list', '--detail')
        self.assertEqual(self.zk.get('/nodepool/nodes/0000000000')[1], before)
        self.assertEqual(self.zk.get_children('/nodepool'), ['nodes'])

    def test_ten_thousand_nodes(self):
        record = json.dumps({'state': 'ready', 'state_time': time.time(), 'type': ['l'],
                             'provider': 'p1'}).encode()
        self.zk.ensure_path('/nodepool/nodes')
        pending = [self.zk.create_async('/nodepool/nodes/', record, sequence=True)
                   for _ in range(10000)]
        for one in pending:
            one.get()
        self.assertEqual(len(json.loads(self.drover('list', '--json').out)), 10000)

    def test_CLI_36_requests(self):
        self.zk.create('/nodepool/requests/100-0000000000', json.dumps({
            'state': 'requested', 'state_time': 1.0, 'node_types': ['a', 'b'],
            'requestor': 'zuul', 'relative_priority': 7, 'event_id': 'e1'}).encode(),
            makepath=True)
        listed = self.drover('request-list')
        self.assertEqual(listed.cells(0),
                         ['100-0000000000', '7', 'requested', 'zuul', 'a,b', '', '', 'e1'])
        self.assertEqual(json.loads(self.drover('request-list', '--json').out)[0]['node_types'],
                         ['a', 'b'])

    def test_CLI_37_info(self):
        self.zk.create('/nodepool/images/img/builds/b2/providers/p1/images/0000000001', b'{}',
                       makepath=True)
        self.zk.create('/nodepool/images/img/builds/b1/providers/p1/images/0000000000', b'{}',
                       makepath=True)
        self.zk.create('/nodepool/images/img/builds/b1/providers/p1/images/lock', b'')
        self.zk.delete('/nodepool/images/img/builds/b2/providers/p1/images/0000000001')
        self.put('0000000000', external_id='server-1')
        self.put('0000000001', provider='other')
        shown = self.drover('info', 'p1')
        self.assertEqual(shown.lines()[0], 'ZooKeeper data for provider p1')
        self.assertEqual(shown.lines()[1:3], ['', 'Image data:'])
        rows = [line for line in shown.lines() if line.startswith('| img')]
        self.assertEqual([[cell.strip() for cell in row.strip('|').split('|')] for row in rows],
                         [['img', 'b1', '0000000000'], ['img', 'b2', '']])
        self.assertIn('| 0000000000 | server-1  |', shown.out)
        self.assertNotIn('0000000001 |', shown.out.split('Nodes:')[1])
        self.assertEqual(self.drover('info', 'unknown').status, 0)


class NodeTest(Case):
    def test_CLI_29_delete(self):
        self.put('0000000000', comment='kept')
        deleted = self.drover('delete', '0000000000')
        self.assertEqual((deleted.status, deleted.cells(0)[6]), (0, 'deleting'))
        self.assertEqual(self.get('0000000000')['comment'], 'kept')
        self.assertEqual(self.zk.get_children('/nodepool/nodes/0000000000/lock'), [])

    def test_CLI_31_CLI_30_delete_now(self):
        self.put('0000000000', provider='elsewhere')
        refused = self.drover('delete', '--now', '0000000000')
        self.assertEqual(refused.status, 0)
        self.assertIn('Provider elsewhere for node 0000000000 not defined on this launcher',
                      refused.out)
        self.assertEqual(self.get('0000000000')['state'], 'ready')

    def test_CLI_32_unknown(self):
        for command in ('delete', 'hold'):
            answer = self.drover(command, '0000000009')
            self.assertEqual(answer.status, 0)
            self.assertIn('Node id 0000000009 not found', answer.out)
        self.assertEqual(self.drover('hold', '../requests').status, 0)
        self.assertIsNone(self.zk.exists('/nodepool'))

    def test_CLI_33_hold(self):
        self.put('0000000000', hold_expiration=5, comment='c')
        held = self.drover('hold', '0000000000')
        self.assertEqual((held.cells(0)[6], held.cells(0)[8]), ('hold', 'unlocked'))
        record = self.get('0000000000')
        self.assertEqual((record['hold_expiration'], record['comment']), (5, 'c'))
        self.assertGreater(record['state_time'], time.time() - 60)

    def test_CLI_34_locked_by_someone_else(self):
        self.put('0000000000')
        lock = self.zk.Lock('/nodepool/nodes/0000000000/lock')
        lock.acquire()
        refused = self.drover('hold', '0000000000')
        self.assertEqual(refused.status, 1)
        self.assertIn('Timeout trying to acquire lock /nodepool/nodes/0000000000/lock',
                      refused.err)
        self.assertEqual(self.get('0000000000')['state'], 'ready')
        self.assertEqual(len(self.zk.get_children('/nodepool/nodes/0000000000/lock')), 1)
        lock.release()

    def test_F_05_forget_a_node_of_an_unknown_provider(self):
        self.put('0000000000', provider='gone', external_id='vm-7')
        forgotten = self.drover('delete', '--force', '0000000000')
        self.assertEqual(forgotten.status, 0)
        self.assertIn('vm-7', forgotten.err)
        self.assertIsNone(self.zk.exists('/nodepool/nodes/0000000000'))
        self.put('0000000001', provider='gone')
        lock = self.zk.Lock('/nodepool/nodes/0000000001/lock')
        lock.acquire()
        self.assertEqual(self.drover('delete', '--force', '0000000001').status, 1)
        self.assertIsNotNone(self.zk.exists('/nodepool/nodes/0000000001'))
        lock.release()


class ValidateTest(Case):
    def validate(self, text, *options):
        path = os.path.join(self.folder.name, 'checked.yaml')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        return self.drover(*options, 'config-validate', config=path)

    def test_CLI_48_good(self):
        os.environ['NODEPOOL_PORT'] = '8005'
        good = self.validate('zookeeper-servers: [{host: h}]\nwebapp: {port: %(NODEPOOL_PORT)}\n')
        self.assertEqual((good.status, good.out), (0, ''))

    def test_CLI_49_bad(self):
        image = 'zookeeper-servers: [{host: h}]\ndiskimages:\n'
        for text, expected in (
                ('a: [', 'YAML parsing failed'),
                ('zookeeper-servers: [{host: h}]\nnothandled: 1\n', 'Schema validation failed'),
                (image + '  - {name: a}\n  - {name: a}\n', 'diskimage a already defined'),
                (image + '  - {name: a, parent: x}\n', 'diskimage a has non-existant parent: x')):
            bad = self.validate(text)
            self.assertEqual(bad.status, 1, text)
            self.assertIn(expected, bad.err)
            self.assertRegex(bad.err, r'checked\.yaml:\d+:\d+: ')

    def test_CLI_50_all_mistakes_at_once(self):
        bad = self.validate('zookeeper-servers: [{host: h}]\ndiskimages:\n'
                            '  - {name: a, parent: x}\n  - {name: b, formats: 7}\n')
        self.assertIn('parent', bad.err)
        self.assertIn('formats', bad.err)

    def test_json(self):
        good = self.validate('zookeeper-servers: [{host: h}]\n', '--json')
        self.assertTrue(json.loads(good.out)['valid'])


class DriverTest(Case):
    def test_list_and_info(self):
        listed = json.loads(self.drover('driver', 'list', '--json').out)
        static = [one for one in listed if one['name'] == 'static'][0]
        self.assertEqual((static['enabled'], static['abi'], static['problem']),
                         ('yes', '1.0', None))
        self.assertIn('| static |', self.drover('driver', 'list').out)
        info = json.loads(self.drover('driver', 'info', 'static', '--json').out)
        self.assertEqual(info['capabilities'], ['inventory'])
        self.assertIn('pools[].nodes[].host-key', [one['path'] for one in info['options']])
        self.assertIn('max-parallel-jobs', self.drover('driver', 'info', 'static').out)

    def test_without_configuration(self):
        listed = json.loads(self.drover('driver', 'list', '--json', config='/nonexistent').out)
        self.assertEqual(listed[0]['enabled'], 'unknown')

    def test_not_installed(self):
        missing = self.drover('driver', 'info', 'nope')
        self.assertEqual(missing.status, 1)
        self.assertIn('nope.so', missing.err)


class RequestTest(Case):
    def setUp(self):
        super().setUp()
        self.launcher = Launcher(self.server, chroot=self.chroot, state=False, providers=[
            provider('p1', nodes=[machine('127.0.0.9', max_parallel_jobs=2)])])
        self.launcher.start()
        self.addCleanup(self.launcher.stop)

    def test_submit_use_and_give_back(self):
        waited = self.drover('request', 'submit', '--label', 'l', '--wait', '--timeout', '30')
        self.assertEqual(waited.status, 0, waited.err)
        self.assertIn('ssh zuul@127.0.0.9', waited.out)
        request = re.search(r'request release (\S+)', waited.out).group(1)
        shown = json.loads(self.drover('request', 'show', request, '--json').out)
        self.assertEqual((shown['state'], len(shown['nodes'])), ('fulfilled', 1))
        node = shown['nodes'][0]['id']
        self.assertEqual(self.get(node)['allocated_to'], request)
        self.assertEqual(self.drover('request', 'release', request).status, 0)
        self.assertIsNone(self.zk.exists(f'/nodepool/requests/{request}'))
        deadline = time.monotonic() + 20
        while self.zk.exists(f'/nodepool/nodes/{node}') and time.monotonic() < deadline:
            self.launcher.wait_for_log(f'node: {node}] Deleted')
        self.assertIsNone(self.zk.exists(f'/nodepool/nodes/{node}'))
        again = self.drover('request', 'release', request)
        self.assertEqual(again.status, 1)
        self.assertIn('not found', again.err)

    def test_two_machines(self):
        waited = self.drover('request', 'submit', '-L', 'l', '--count', '2', '--wait', '--json')
        answer = json.loads(waited.out)
        self.assertEqual(len({node['id'] for node in answer['nodes']}), 2)
        self.assertEqual(self.drover('request', 'release', answer['id']).status, 0)

    def test_what_nobody_has_fails(self):
        failed = self.drover('request', 'submit', '--label', 'nope', '--wait')
        self.assertEqual(failed.status, 1)
        self.assertIn('declined by', failed.out)

    def test_too_long(self):
        late = self.drover('request', 'submit', '-L', 'l', '--count', '9', '--wait', '--timeout',
                           '1')
        self.assertEqual(late.status, 1)
        request = re.search(r'request show (\S+)', late.err).group(1)
        self.assertEqual(self.drover('request', 'release', request).status, 0)
        self.assertIsNone(self.zk.exists(f'/nodepool/requests/{request}'))

    def test_release_of_a_node_in_use(self):
        answer = json.loads(self.drover('request', 'submit', '-L', 'l', '--wait', '--json').out)
        lock = self.zk.Lock(f"/nodepool/nodes/{answer['nodes'][0]['id']}/lock")
        lock.acquire()
        self.assertEqual(self.drover('request', 'release', answer['id']).status, 1)
        self.assertIsNotNone(self.zk.exists(f"/nodepool/requests/{answer['id']}"))
        lock.release()
        self.assertEqual(self.drover('request', 'release', answer['id']).status, 0)


if __name__ == '__main__':
    unittest.main(verbosity=2)
