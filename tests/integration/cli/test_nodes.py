"""drover hold and delete."""

import time
import unittest

from cli_case import CliCase, Cutter, wait_until
from launcher import Launcher, machine, provider

NODE = '0000000000'


class NodeTest(CliCase):
    def test_CLI_29_delete(self):
        self.put(NODE, comment='kept', unknown={'k': 1})
        deleted = self.drover('delete', NODE)
        self.assertEqual((deleted.status, deleted.cells(0)[6], deleted.cells(0)[8]),
                         (0, 'deleting', 'unlocked'))
        self.assertEqual((self.get(NODE)['comment'], self.get(NODE)['unknown']), ('kept', {'k': 1}))
        self.assertEqual(self.zk.get_children(f'/nodepool/nodes/{NODE}/lock'), [])

    def test_CLI_31_provider_not_configured(self):
        self.put(NODE, provider='elsewhere')
        before = self.zk.get(f'/nodepool/nodes/{NODE}')
        refused = self.drover('delete', '--now', NODE)
        self.assertEqual((refused.status, refused.out),
                         (0, f'Provider elsewhere for node {NODE} not defined on this launcher\n'))
        after = self.zk.get(f'/nodepool/nodes/{NODE}')
        self.assertEqual((after[0], after[1].version), (before[0], before[1].version))
        self.assertEqual(self.zk.get_children(f'/nodepool/nodes/{NODE}/lock'), [])

    def test_delete_now_of_a_machine_that_exists_already(self):
        self.put(NODE)
        self.assertEqual(self.drover('delete', '--now', NODE).cells(0)[6], 'deleting')

    def test_CLI_32_unknown(self):
        self.zk.ensure_path('/nodepool/nodes')
        for command in ('delete', 'hold'):
            for node_id in ('0000000009', '../requests', '..', ''):
                answer = self.drover(command, node_id)
                self.assertEqual((answer.status, answer.out),
                                 (0, f'Node id {node_id} not found\n'))
        self.zk.create(f'/nodepool/nodes/{NODE}')
        self.assertIn('not found', self.drover('hold', NODE).out)
        self.assertEqual(self.zk.get_children(f'/nodepool/nodes/{NODE}'), [])
        self.assertEqual(self.zk.get_children('/nodepool'), ['nodes'])

    def test_CLI_33_hold(self):
        self.put(NODE, hold_expiration=5, comment='c', state='in-use')
        held = self.drover('hold', NODE)
        self.assertEqual((held.cells(0)[6], held.cells(0)[8]), ('hold', 'unlocked'))
        record = self.get(NODE)
        self.assertEqual((record['hold_expiration'], record['comment']), (5, 'c'))
        self.assertGreater(record['state_time'], time.time() - 60)
        self.assertEqual([node['state'] for node in self.drover('hold', NODE, '--json').json],
                         ['hold'])

    def test_CLI_34_locked_by_someone_else(self):
        self.put(NODE)
        self.lock(NODE)
        started = time.monotonic()
        refused = self.drover('hold', NODE)
        self.assertGreater(time.monotonic() - started, 4.9)
        self.assertEqual((refused.status, refused.out), (1, ''))
        self.assertEqual(refused.err, 'drover: Timeout trying to acquire lock '
                                      f'/nodepool/nodes/{NODE}/lock\n')
        self.assertEqual(self.get(NODE)['state'], 'ready')
        self.assertEqual(len(self.zk.get_children(f'/nodepool/nodes/{NODE}/lock')), 1)

    def test_lock_released_meanwhile(self):
        self.put(NODE)
        lock = self.lock(NODE)
        holding = self.start('hold', NODE)
        wait_until(lambda: len(self.zk.get_children(f'/nodepool/nodes/{NODE}/lock')) == 2)
        lock.release()
        self.assertEqual(holding.result().status, 0)
        self.assertEqual(self.get(NODE)['state'], 'hold')

    def test_node_deleted_while_waiting_for_it(self):
        self.put(NODE)
        self.lock(NODE)
        holding = self.start('hold', NODE)
        wait_until(lambda: len(self.zk.get_children(f'/nodepool/nodes/{NODE}/lock')) == 2)
        removal = self.zk.transaction()
        for contender in self.zk.get_children(f'/nodepool/nodes/{NODE}/lock'):
            removal.delete(f'/nodepool/nodes/{NODE}/lock/{contender}')
        removal.delete(f'/nodepool/nodes/{NODE}/lock')
        removal.delete(f'/nodepool/nodes/{NODE}')
        removal.commit()
        result = holding.result()
        self.assertEqual((result.status, result.out), (0, f'Node id {NODE} not found\n'))
        self.assertEqual(self.zk.get_children('/nodepool/nodes'), [])

    def test_answer_to_the_write_is_lost(self):
        self.put(NODE)
        cutter = Cutter(self.server.port, request=b'"state":"hold"')
        held = self.drover('hold', NODE, config=self.through(cutter))
        self.assertTrue(cutter.has_cut)
        self.assertEqual((held.status, held.cells(0)[6]), (0, 'hold'), held.err)
        self.assertEqual(self.get(NODE)['state'], 'hold')
        self.assertEqual(self.zk.get_children(f'/nodepool/nodes/{NODE}/lock'), [])

    def test_F_05_forget_a_node_of_an_unknown_provider(self):
        self.put(NODE, provider='gone', external_id='vm-7')
        forgotten = self.drover('delete', '--force', NODE)
        self.assertEqual(forgotten.status, 0)
        self.assertIn('vm-7', forgotten.err)
        self.assertIsNone(self.zk.exists(f'/nodepool/nodes/{NODE}'))
        self.put('0000000001', provider='gone')
        self.lock('0000000001')
        self.assertEqual(self.drover('delete', '--force', '0000000001').status, 1)
        self.assertIsNotNone(self.zk.exists('/nodepool/nodes/0000000001'))


class WithLauncherTest(CliCase):
    def setUp(self):
        super().setUp()
        self.launcher = Launcher(self.server, self.chroot, state=False,
                                 providers=[provider('p1', nodes=[machine('127.0.0.9')])])
        self.addCleanup(self.launcher.close)
        self.launcher.start()
        wait_until(lambda: self.zk.exists('/nodepool/nodes') and self.ready())
        self.addCleanup(lambda: self.assertEqual(self.launcher.stop(), 0))

    def ready(self):
        return [node['id'] for node in self.drover('list', '--json').json
                if (node['state'], node['locked']) == ('ready', 'unlocked')]

    def test_CLI_29_delete_with_a_launcher(self):
        node_id = self.ready()[0]
        deleted = self.drover('delete', node_id)
        self.assertEqual(deleted.cells(0)[:1] + deleted.cells(0)[6:7], [node_id, 'deleting'])
        wait_until(lambda: not self.zk.exists(f'/nodepool/nodes/{node_id}'))
        wait_until(self.ready)

    def test_CLI_33_CLI_35_held_machine_is_not_given_away(self):
        node_id = self.ready()[0]
        self.assertEqual(self.drover('hold', node_id).cells(0)[6], 'hold')
        request = self.drover('request', 'submit', '-L', 'l', '--json').json['id']
        self.launcher.wait_for_log(request)
        waiting = self.drover('request', 'show', request, '--json').json
        self.assertIn(waiting['state'], ('requested', 'pending'))
        self.assertEqual(self.get(node_id)['state'], 'hold')
        self.drover('delete', node_id)
        wait_until(lambda: self.get_request(request)['state'] == 'fulfilled')
        self.assertNotEqual(self.get_request(request)['nodes'], [node_id])
        self.assertEqual(self.drover('request', 'release', request).status, 0)


if __name__ == '__main__':
    unittest.main(verbosity=2)
