"""drover request submit, show, release."""

import getpass
import re
import socket
import time
import unittest

from cli_case import CliCase, Cutter, wait_until
from launcher import Launcher, machine, provider

NODE = '0000000000'
REQUEST = '200-0000000000'


class SubmitTest(CliCase):
    """Without a launcher."""

    def test_record_is_one_of_zuul(self):
        submitted = self.drover('request', 'submit', '-L', 'a', '--label', 'b', '--count', '2',
                                '--tenant', 't', '--provider', 'p', '--priority', '100', '--json')
        self.assertEqual((submitted.status, submitted.json['state']), (0, 'requested'))
        request_id = submitted.json['id']
        self.assertRegex(request_id, r'^100-\d{10}$')
        record = self.get_request(request_id)
        self.assertEqual(record['node_types'], ['a', 'b', 'a', 'b'])
        self.assertEqual((record['state'], record['tenant_name'], record['provider'],
                          record['relative_priority']), ('requested', 't', 'p', 0))
        self.assertEqual(record['requestor'], f'drover:{getpass.getuser()}@{socket.gethostname()}')
        self.assertRegex(record['event_id'], r'^[0-9a-f]{32}$')
        self.assertEqual(record['requestor_data'], {})
        self.assertAlmostEqual(record['created_time'], time.time(), delta=60)
        self.assertEqual(self.zk.exists(f'/nodepool/requests/{request_id}').ephemeralOwner, 0)

    def test_what_makes_no_sense(self):
        for words in (['--count', '0'], ['--count', '1001'], ['--priority', '150'],
                      ['--timeout', '5'], ['--wait', '--timeout', '-1'], ['--count', 'many'],
                      ['more']):
            refused = self.drover('request', 'submit', '-L', 'l', *words)
            self.assertEqual((refused.status, refused.out), (2, ''), words)
        self.assertIsNone(self.zk.exists('/nodepool'))

    def cut_at_the_creation(self, **options):
        cutter = Cutter(self.server.port, request=b'/nodepool/requests/200-', **options)
        submitted = self.drover('request', 'submit', '-L', 'l', config=self.through(cutter))
        self.assertTrue(cutter.has_cut)
        self.assertEqual(submitted.status, 0, submitted.err)
        self.assertEqual(len(self.requests()), 1)
        self.assertIn(f'Submitted request {self.requests()[0]}\n', submitted.out)

    def test_answer_to_the_creation_is_lost(self):
        self.cut_at_the_creation()

    def test_creation_is_lost(self):
        self.cut_at_the_creation(is_lost=True)

    def test_interrupted_while_waiting(self):
        waiting = self.start('request', 'submit', '-L', 'l', '--wait')
        wait_until(lambda: self.zk.exists('/nodepool/requests') and self.requests())
        self.assertIn('requested', waiting.process.stderr.readline())
        waiting.interrupt()
        result = waiting.result()
        self.assertEqual((result.status, result.out), (130, ''))
        self.assertIn(f'request show {self.requests()[0]}', result.err)

    def test_deleted_while_waiting(self):
        waiting = self.start('request', 'submit', '-L', 'l', '--wait')
        self.assertIn('requested', waiting.process.stderr.readline())
        self.zk.delete(f'/nodepool/requests/{self.requests()[0]}')
        result = waiting.result()
        self.assertEqual(result.status, 1)
        self.assertIn('was deleted by somebody', result.err)

    def test_too_long(self):
        late = self.drover('request', 'submit', '-L', 'l', '--wait', '--timeout', '1')
        self.assertEqual(late.status, 1)
        request = re.search(r'request show (\S+)', late.err)[1]
        self.assertEqual(self.requests(), [request])

    def test_progress(self):
        self.put_request('100-0000000000')
        self.put_request('200-0000000001', state='fulfilled')
        self.put_request('300-0000000002')
        plain = self.drover('request', 'submit', '-L', 'l', '--wait', '--timeout', '1')
        self.assertRegex(plain.err, r'^request \S+: requested, number 2 in the queue\n')
        shown = self.on_terminal('request', 'submit', '-L', 'l', '--wait', '--timeout', '2')
        self.assertRegex(shown.out, r'\r\x1b\[Krequest \S+: requested, number 3 in the queue, 1 s')
        self.assertEqual(self.drover('request', 'submit', '-L', 'l', '--wait', '--timeout', '1',
                                     '--json').err.count('\n'), 1)


class ShowTest(CliCase):
    def test_nodes_and_how_to_reach_them(self):
        self.put('0000000000', interface_ip='192.0.2.7', connection_port=22022, username='u',
                 connection_type='ssh', host_keys=['ssh-ed25519 AAAA'], allocated_to=REQUEST)
        self.put('0000000001', interface_ip='2001:db8::1', connection_type='winrm',
                 connection_port=5986)
        self.put('0000000002', connection_type='kubectl', interface_ip='192.0.2.9',
                 connection_port={'token': 'verysecret'})
        self.put_request(REQUEST, state='fulfilled', node_types=['a', 'b'], declined_by=['other'],
                         nodes=['0000000000', '0000000001', '0000000002', '0000000003'])
        text = self.drover('request', 'show', REQUEST)
        self.assertEqual(text.status, 0)
        self.assertRegex(text.out, rf'^request {REQUEST}: fulfilled for 00:00:\d\d:\d\d, '
                                   r'wants a, b\n  requested by zuul\n')
        self.assertIn('  node 0000000000 (l), ready: ssh -p 22022 u@192.0.2.7\n', text.out)
        self.assertIn('  node 0000000001 (l), ready: 2001:db8::1\n', text.out)
        self.assertIn('  node 0000000003 is gone\n  declined by other\n', text.out)
        self.assertIn(f'drover request release {REQUEST}\n', text.out)
        shown = self.drover('request', 'show', REQUEST, '--json')
        self.assertNotIn('verysecret', shown.out + text.out)
        self.assertEqual([(node['state'], node.get('port')) for node in shown.json['nodes']],
                         [('ready', 22022), ('ready', 5986), ('ready', None), (None, None)])
        self.assertEqual(shown.json['nodes'][0]['host_keys'], ['ssh-ed25519 AAAA'])
        self.assertEqual(shown.json['nodes'][0]['connect'], 'ssh -p 22022 u@192.0.2.7')

    def test_unusable(self):
        self.zk.create(f'/nodepool/requests/{REQUEST}', b'{', makepath=True)
        broken = self.drover('request', 'show', REQUEST)
        self.assertEqual(broken.status, 1)
        self.assertIn(f'/nodepool/requests/{REQUEST} is unusable', broken.err)


class ReleaseTest(CliCase):
    def put_fulfilled(self, *node_ids, **fields):
        self.put_request(REQUEST, state='fulfilled', nodes=list(node_ids), **fields)

    def test_nodes_are_marked_used_with_the_deletion(self):
        self.put('0000000000', allocated_to=REQUEST, unknown=1)
        self.put('0000000001', allocated_to=REQUEST, state='in-use')
        self.zk.create('/nodepool/nodes/0000000001/lock')
        self.put_fulfilled('0000000000', '0000000001', '0000000009')
        self.assertEqual(self.drover('request', 'release', REQUEST).out,
                         f'Released request {REQUEST} (it was fulfilled)\n')
        self.assertEqual(self.requests(), [])
        self.assertEqual([self.get(f'000000000{one}')['state'] for one in range(2)],
                         ['used', 'used'])
        self.assertEqual(self.get('0000000000')['unknown'], 1)
        self.assertEqual(self.zk.get('/nodepool/nodes/0000000000')[1].last_modified_transaction_id,
                         self.zk.get('/nodepool/nodes/0000000001')[1].last_modified_transaction_id)

    def test_nodes_in_other_hands_are_left_alone(self):
        self.put('0000000000', allocated_to='100-0000000007')
        self.put('0000000001', allocated_to=REQUEST, state='hold')
        self.put('0000000002', allocated_to=REQUEST, state='deleting')
        self.put_fulfilled('0000000000', '0000000001', '0000000002')
        self.assertEqual(self.drover('request', 'release', REQUEST, '--json').json,
                         {'id': REQUEST, 'was': 'fulfilled'})
        self.assertEqual([self.get(f'000000000{one}')['state'] for one in range(3)],
                         ['ready', 'hold', 'deleting'])

    def test_node_in_use(self):
        self.put('0000000000', allocated_to=REQUEST)
        self.put('0000000001', allocated_to=REQUEST)
        self.put_fulfilled('0000000000', '0000000001')
        lock = self.lock('0000000001')
        refused = self.drover('request', 'release', REQUEST)
        self.assertEqual(refused.status, 1)
        self.assertIn('locked', refused.err)
        self.assertEqual((self.requests(), self.get('0000000000')['state']), ([REQUEST], 'ready'))
        lock.release()
        self.assertEqual(self.drover('request', 'release', REQUEST).status, 0)

    def test_cancel(self):
        for state in ('requested', 'pending', 'failed'):
            self.put_request(REQUEST, state=state)
            self.assertEqual(self.drover('request', 'release', REQUEST).out,
                             f'Released request {REQUEST} (it was {state})\n')
            self.assertEqual(self.requests(), [])

    def test_answer_is_lost(self):
        self.put(NODE, allocated_to=REQUEST)
        self.put_fulfilled(NODE)
        cutter = Cutter(self.server.port, request=b'"state":"used"')
        released = self.drover('request', 'release', REQUEST, config=self.through(cutter))
        self.assertTrue(cutter.has_cut)
        self.assertEqual((released.status, self.requests(), self.get(NODE)['state']),
                         (0, [], 'used'), released.err)


class WithLauncherTest(CliCase):
    def setUp(self):
        super().setUp()
        self.launcher = Launcher(self.server, self.chroot, state=False, providers=[
            provider('p1', nodes=[machine('127.0.0.9', max_parallel_jobs=2)])])
        self.addCleanup(self.launcher.close)
        self.launcher.start()
        self.addCleanup(lambda: self.assertEqual(self.launcher.stop(), 0))

    def test_submit_use_and_give_back(self):
        waited = self.drover('request', 'submit', '--label', 'l', '--wait')
        self.assertEqual(waited.status, 0, waited.err)
        self.assertIn('ssh zuul@127.0.0.9', waited.out)
        request = re.search(r'request release (\S+)', waited.out)[1]
        shown = self.drover('request', 'show', request, '--json').json
        self.assertEqual((shown['state'], len(shown['nodes'])), ('fulfilled', 1))
        node = shown['nodes'][0]['id']
        self.assertEqual(self.get(node)['allocated_to'], request)
        self.assertEqual(self.drover('request', 'release', request).status, 0)
        self.assertIsNone(self.zk.exists(f'/nodepool/requests/{request}'))
        wait_until(lambda: not self.zk.exists(f'/nodepool/nodes/{node}'))
        again = self.drover('request', 'release', request)
        self.assertEqual((again.status, again.err), (1, f'drover: request {request} not found\n'))

    def test_two_machines(self):
        waited = self.drover('request', 'submit', '-L', 'l', '--count', '2', '--wait', '--json')
        self.assertEqual((waited.status, waited.err), (0, ''))
        self.assertEqual(len({node['id'] for node in waited.json['nodes']}), 2)
        self.assertEqual(self.drover('request', 'release', waited.json['id']).status, 0)

    def test_what_nobody_has_fails(self):
        failed = self.drover('request', 'submit', '--label', 'nope', '--wait')
        self.assertEqual(failed.status, 1)
        self.assertIn('declined by', failed.out)
        self.assertEqual(self.requests(), [])


if __name__ == '__main__':
    unittest.main(verbosity=2)
