"""drover list, request-list, info: what is printed, and that nothing is written."""

import json
import struct
import threading
import time
import unicodedata
import unittest

from cli_case import CliCase, Cutter, wait_until
from transactions import TransactionLog

NODE_HEADERS = ['ID', 'Provider', 'Label', 'Server ID', 'Public IPv4', 'IPv6', 'State', 'Age',
                'Locked', 'Pool', 'Hostname', 'Private IPv4', 'AZ', 'Username', 'Port', 'Launcher',
                'Allocated To', 'Hold Job', 'Comment', 'User Data', 'Driver Data']
NODE_KEYS = ['id', 'provider', 'label', 'server_id', 'public_ipv4', 'ipv6', 'state', 'age',
             'locked', 'pool', 'hostname', 'private_ipv4', 'AZ', 'username', 'connection_port',
             'launcher', 'allocated_to', 'hold_job', 'comment', 'user_data', 'driver_data']
REQUEST_KEYS = ['id', 'relative_priority', 'state', 'requestor', 'node_types', 'nodes',
                'declined_by', 'event_id']

MULTI_READ = 22  # the request that servers before ZooKeeper 3.6 hang up on


def width(text):
    return sum(2 if unicodedata.east_asian_width(character) in 'WF' else 1 for character in text)


class ListTest(CliCase):
    def test_CLI_04_empty(self):
        listed = self.drover('list')
        self.assertEqual((listed.status, listed.err, len(listed.lines())), (0, '', 4))
        self.assertEqual(listed.cells(-2), NODE_HEADERS[:9])
        self.assertEqual(self.drover('list', '--json').out, '[]\n')

    def test_CLI_05_detail(self):
        self.put('0000000000', hostname='h')
        detail = self.drover('list', '--detail')
        self.assertEqual(detail.cells(-2), NODE_HEADERS)
        self.assertEqual((len(detail.cells(0)), detail.cells(0)[10]), (21, 'h'))

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
        as_json = self.drover('list', '--json').json
        self.assertEqual([node['connection_port'] for node in as_json],
                         ['redacted', '22022', 'redacted', 22, 22])
        self.assertEqual((as_json[0]['label'], as_json[0]['server_id'], as_json[0]['user_data']),
                         (['a', 'b'], {'e': True}, {'zuul_system': 'x', 'n': None}))

    def test_json_has_the_keys_of_the_status_page(self):
        self.put('0000000001', state_time=time.time() - 90061)
        self.put('0000000000')
        listed = self.drover('list', '--json').json
        self.assertEqual([list(node) for node in listed], [NODE_KEYS, NODE_KEYS])
        self.assertEqual([node['id'] for node in listed], ['0000000000', '0000000001'])
        self.assertRegex(listed[1]['age'], r'^01:01:0[12]:\d\d$')
        self.assertEqual((listed[0]['locked'], listed[0]['username'], listed[0]['comment']),
                         ('unlocked', 'zuul', None))

    def test_CLI_08_username(self):
        self.put('0000000000', username='u1', hostname='h')
        self.put('0000000001', username='u2', hostname='h')
        listed = self.drover('list', '--detail')
        self.assertEqual([listed.cells(row)[13] for row in range(2)], ['u1', 'u2'])

    def test_CLI_09_lines_and_wide_characters(self):
        self.put('0000000000', hostname='h\nsecond', comment='日本語 ＡＢ')
        lines = self.drover('list', '--detail').lines()
        self.assertEqual(len(lines), 6)
        self.assertEqual(len({width(line) for line in lines}), 1)
        self.assertIn('| second ', lines[4])

    def test_CLI_10_age(self):
        now = time.time()
        self.put('0000000000', state_time=now - (5 * 86400 + 18 * 3600 + 53 * 60 + 1))
        self.put('0000000001', state_time=now + 3600)
        self.put('0000000002', state_time=None)
        listed = self.drover('list')
        self.assertRegex(listed.cells(0)[7], r'^05:18:53:\d\d$')
        self.assertRegex(listed.cells(1)[7], r'^-1:23:\d\d:\d\d$')
        self.assertEqual(listed.cells(2)[7], '')

    def test_CLI_11_no_data(self):
        self.zk.create('/nodepool/nodes/0000000000', b'', makepath=True)
        self.zk.create('/nodepool/nodes/0000000001', b'{broken')
        listed = self.drover('list')
        self.assertEqual((listed.status, len(listed.lines())), (0, 4))
        self.assertNotIn('0000000000', listed.err)
        self.assertIn('0000000001', listed.err)

    def test_CLI_12_locked(self):
        for node_id in range(5):
            self.put(f'{node_id:010d}')
        self.lock('0000000000')
        # A waiter without a holder, before it has seen that the holder is gone.
        self.zk.create('/nodepool/nodes/0000000001/lock/'
                       '0123456789abcdef0123456789abcdef__lock__0000000007', ephemeral=True,
                       makepath=True)
        self.zk.create('/nodepool/nodes/0000000002/lock/x-1-0000000000', makepath=True)
        self.zk.create('/nodepool/nodes/0000000003/lock')
        listed = self.drover('list')
        self.assertEqual([listed.cells(row)[8] for row in range(5)],
                         ['locked', 'locked', 'unlocked', 'unlocked', 'unlocked'])

    def test_CLI_13_listing_writes_nothing(self):
        self.put('0000000000')
        before = self.zk.get('/nodepool/nodes/0000000000')[1]
        self.drover('list', '--detail')
        self.assertEqual(self.zk.get('/nodepool/nodes/0000000000')[1], before)
        self.assertEqual(self.zk.get_children('/nodepool'), ['nodes'])

    def test_CLI_13_missing_chroot_stays_missing(self):
        missing = self.write('missing.yaml', self.config_text(self.server.port).replace(
            self.chroot, f'{self.chroot}/not/there'))
        for words in (['list'], ['request-list'], ['info', 'p1'], ['request', 'show', '200-1']):
            shown = self.drover(*words, config=missing)
            self.assertIn(f'there is no chroot {self.chroot}/not/there', shown.err)
            self.assertEqual(shown.status, 1 if 'show' in words else 0, shown.err)
        self.assertEqual(self.drover('list', '--json', config=missing).out, '[]\n')
        self.assertEqual(self.zk.get_children('/'), [])
        self.assertEqual(self.drover('request', 'submit', '-L', 'l', config=missing).status, 0)
        self.assertEqual(len(self.zk.get_children('/not/there/nodepool/requests')), 1)

    def test_CLI_13_nodes_deleted_meanwhile(self):
        ended = threading.Event()

        def churn():
            while not ended.is_set():
                self.put('0000000000')
                self.zk.create('/nodepool/nodes/0000000000/lock')
                self.zk.delete('/nodepool/nodes/0000000000', recursive=True)
        churning = threading.Thread(target=churn)
        churning.start()
        try:
            for _ in range(5):
                listed = self.drover('list')
                self.assertEqual((listed.status, listed.err), (0, ''))
        finally:
            ended.set()
            churning.join()
        self.assertEqual(self.zk.get_children('/nodepool/nodes'), [])

    def test_terminal_takes_no_orders_from_records(self):
        self.put('0000000000', hostname='\x1b[31mred')
        self.assertIn('\x1b[31mred', self.drover('list', '--detail').out)
        shown = self.on_terminal('list', '--detail')
        self.assertEqual(shown.status, 0)
        self.assertIn('?[31mred', shown.out)
        self.assertNotIn('\x1b', shown.out)

    def test_tables_fit_the_terminal(self):
        """Nothing that a row has is lost by that. A script sees the whole table."""
        address, uuid = '192.0.2.200', '6f0a4b1e-5c8e-4d1b-9a51-0f4be8b3c2d1'
        for number in range(3):
            self.put(f'{number:010}', provider='openstack-zurich-production', external_id=uuid,
                     type=['ubuntu-noble-large', 'debian-12'], public_ipv4=address)
        whole = self.drover('list').out
        self.assertIn('| IPv6 |', whole)
        self.assertEqual([self.on_terminal('list', columns=columns).out.count('\n')
                          for columns in (0, 300)], [whole.count('\n')] * 2)
        for words in (['list'], ['list', '--detail']):
            for columns in (40, 80, 130):
                with self.subTest(words, columns=columns):
                    shown = self.on_terminal(*words, columns=columns)
                    self.assertEqual(shown.status, 0)
                    self.assertLessEqual(max(map(width, shown.out.splitlines())), columns)
                    self.assertEqual(shown.out.count('ready'), 3)
        listed = self.on_terminal('list', columns=80).out
        self.assertEqual((listed.count(address), listed.count(uuid)), (3, 3))
        self.assertIn('Server ID    6f0a', listed)
        self.assertNotIn('IPv6', listed)

    def test_connection_lost_on_the_way(self):
        for node_id in range(300):
            self.put(f'{node_id:010d}', comment='x' * 1000)
        cutter = Cutter(self.server.port, answered=100000)
        listed = self.drover('list', '--json', config=self.through(cutter))
        self.assertTrue(cutter.has_cut)
        self.assertEqual((listed.status, len(listed.json)), (0, 300))

    def put_thousand(self, **fields):
        self.zk.ensure_path('/nodepool/nodes')
        record = json.dumps({'state': 'ready', **fields}).encode()
        for created in [self.zk.create_async('/nodepool/nodes/', record, sequence=True)
                        for _ in range(1000)]:
            created.get()

    def list_many_through(self, **cut):
        """Nodes enough to be read in few requests, on a connection that is cut."""
        self.put_thousand(comment=500 * 'x')
        self.lock('0000000998')
        cutter = Cutter(self.server.port, **cut)
        listed = self.drover('list', '--json', config=self.through(cutter))
        self.assertTrue(cutter.has_cut)
        self.assertEqual((listed.status, listed.err, len(listed.json)), (0, '', 1000))
        self.assertEqual([node['locked'] for node in listed.json[997:]],
                         ['unlocked', 'locked', 'unlocked'])

    def test_server_without_reads_of_many_nodes(self):
        self.list_many_through(request=struct.pack('>ii', 0, MULTI_READ))

    def test_connection_lost_while_many_nodes_are_read(self):
        self.list_many_through(answered=300000)

    def test_sessions_are_ended(self):
        self.put_thousand()
        log = TransactionLog(f'{self.server.folder}/data')
        self.addCleanup(log.close)
        before = {one.session for one in log if one.kind == 'begin'}
        self.assertEqual(len(self.drover('list', '--json').json), 1000)
        begun, ended = set(), set()
        wait_until(lambda: self.note_sessions(log, begun, ended))
        self.assertEqual((len(begun), begun & before), (2, set()))

    @staticmethod
    def note_sessions(log, begun, ended):
        """Whether all that have begun have ended."""
        for one in log:
            {'begin': begun, 'end': ended}.get(one.kind, set()).add(one.session)
        return begun <= ended

    def test_ten_thousand_nodes(self):
        record = json.dumps({'state': 'ready', 'state_time': time.time(), 'type': ['l'],
                             'provider': 'p1'}).encode()
        self.zk.ensure_path('/nodepool/nodes')
        pending = [self.zk.create_async('/nodepool/nodes/', record, sequence=True)
                   for _ in range(10000)]
        for one in pending:
            one.get()
        self.assertEqual(len(self.drover('list', '--json').json), 10000)


class RequestListTest(CliCase):
    def test_CLI_36_requests(self):
        self.put_request('200-0000000000')
        self.put_request('100-0000000001', node_types=['a', 'b'], relative_priority=7,
                         event_id='e1')
        self.put_request('nonsense')
        listed = self.drover('request-list')
        self.assertEqual(listed.status, 0)
        self.assertEqual(listed.cells(-2), ['Request ID', 'Priority', 'State', 'Requestor',
                                            'Node Types', 'Nodes', 'Declined By', 'Event ID'])
        self.assertEqual(listed.cells(0),
                         ['100-0000000001', '7', 'requested', 'zuul', 'a,b', '', '', 'e1'])
        self.assertEqual(listed.cells(1)[:2], ['200-0000000000', '0'])
        self.assertIn('nonsense', listed.err)
        as_json = self.drover('request-list', '--json').json
        self.assertEqual([list(request) for request in as_json], [REQUEST_KEYS, REQUEST_KEYS])
        self.assertEqual((as_json[0]['relative_priority'], as_json[0]['node_types'],
                          as_json[0]['nodes']), (7, ['a', 'b'], []))


class InfoTest(CliCase):
    def test_CLI_37_info(self):
        builds = '/nodepool/images/img/builds'
        self.zk.create(f'{builds}/b2/providers/p1/images', makepath=True)
        self.zk.create(f'{builds}/b1/providers/p1/images/0000000002', b'{}', makepath=True)
        self.zk.create(f'{builds}/b1/providers/p1/images/0000000000', b'{}')
        self.zk.create(f'{builds}/b1/providers/p1/images/lock', b'')
        self.zk.create(f'{builds}/b3/providers/other/images/0000000000', b'{}', makepath=True)
        self.zk.create(f'{builds}/lock')
        self.zk.create('/nodepool/images/another/builds/b4/providers/p1', makepath=True)
        self.put('0000000000', external_id='server-1')
        self.put('0000000001', provider='other')
        shown = self.drover('info', 'p1')
        self.assertEqual(shown.lines()[:3], ['ZooKeeper data for provider p1', '', 'Image data:'])
        images, nodes = shown.out.split('\nNodes:\n')
        self.assertTrue(images.endswith('+\n'))
        rows = [[cell.strip() for cell in line.strip('|').split('|')]
                for line in images.splitlines() if line.startswith('|')]
        self.assertEqual(rows, [['Image Name', 'Build ID', 'Upload IDs'], ['another', 'b4', ''],
                                ['img', 'b1', '0000000000,0000000002'], ['img', 'b2', '']])
        self.assertEqual(nodes.splitlines()[1:4:2], ['| ID         | Server ID |',
                                                     '| 0000000000 | server-1  |'])
        self.assertNotIn('0000000001', nodes)
        as_json = self.drover('info', 'p1', '--json').json
        self.assertEqual([one['upload_ids'] for one in as_json['images']],
                         [[], ['0000000000', '0000000002'], []])

    def test_unknown_provider(self):
        for name in ('unknown', '../../x'):
            shown = self.drover('info', name)
            self.assertEqual((shown.status, shown.out.count('\n+')), (0, 6))


if __name__ == '__main__':
    unittest.main(verbosity=2)
