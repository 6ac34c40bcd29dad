"""Nodes on slots of other nodes: given away, shared, and given back."""

import json
import threading
import unittest

from metastatic_case import OWNER, MetastaticCase, metastatic, slot_label
from zuul_client import NODES


class MainPath(MetastaticCase):
    def test_ME_04_ME_05_H_29_first_node(self):
        sshd = self.sshd()
        launcher = self.begin(self.backing_provider(checked=True), metastatic())
        request, node_id, node = self.serve()
        self.assertEqual(node['host_keys'], sshd.keys)
        (backing_id, backing), = self.backing().items()
        self.assertEqual((node['state'], node['provider'], node['external_id'],
                          node['connection_type']), ('ready', 'meta', node_id, 'ssh'))
        self.assertEqual(node['driver_data'],
                         {'metadata': {'nodepool_node_id': node_id, 'nodepool_pool_name': 'main',
                                       'nodepool_provider_name': 'meta'},
                          'backing_node': backing_id, 'slot': 0, 'node': node_id})
        self.assertEqual(node['slot'], 0)
        for field in ('interface_ip', 'public_ipv4', 'python_path', 'shell_type', 'cloud',
                      'host_keys', 'username', 'connection_port', 'az', 'region'):
            self.assertEqual(node[field], backing[field], field)
        self.assertIsNone(node['host_id'])
        self.assertEqual(node['resources'], {'cores': 0, 'instances': 1, 'ram': 0})
        self.assertEqual(backing['attributes'], {'backattr': 'back', 'testattr': 'testing'})
        self.assertEqual(node['attributes'],
                         {'backattr': 'back', 'metaattr': 'meta', 'testattr': 'metastatic'})
        self.assertIsNone(backing['tenant_name'])
        self.assertEqual(self.contenders(backing_id), [OWNER])
        data = json.loads(backing['user_data'])
        self.assertGreater(data.pop('launched'), 0)
        self.assertEqual(data, {'owner': OWNER, 'label': 'user', 'slots': 2, 'failed': False})
        self.assertEqual(self.backing_requests(), [])
        self.assertEqual(launcher.find_log(' ERROR '), [])
        self.give_back(request)

    def test_ME_06_ME_07_ME_08_ME_09_slots_are_shared(self):
        self.begin()
        (first, first_id, node), (second, second_id, other) = self.serve(), self.serve()
        one, _ = self.place_of(node)
        self.assertEqual(self.place_of(other), (one, 1))
        third, third_id, node = self.serve()
        two, slot = self.place_of(node)
        self.assertNotEqual(two, one)
        self.assertEqual(slot, 0)
        self.delete(second, second_id)
        fourth, fourth_id, node = self.serve()
        self.assertEqual(self.place_of(node), (one, 1))
        self.delete(first, first_id)
        self.delete(fourth, fourth_id)
        self.wait_for_backing(two)
        self.wait_for_gone(one)
        self.cloud.wait_for_machines(1)
        self.delete(third, third_id)
        self.wait_for_no_nodes()
        self.cloud.wait_for_machines(0)

    def test_ME_10_ME_23_Z_33_restart(self):
        launcher = self.begin()
        _, _, node = self.serve()
        one, _ = self.place_of(node)
        launcher.stop()
        self.assertEqual(self.contenders(one), [OWNER])
        launcher.start()
        _, _, node = self.serve()
        self.assertEqual(self.place_of(node), (one, 1))
        _, _, node = self.serve()
        self.assertNotEqual(self.place_of(node)[0], one)

    def test_Z_33_lock_of_a_backing_node(self):
        """kazoo sees whose it is; when the node is given back, whoever waits gets it."""
        self.begin(self.backing_provider(), metastatic(slot_label(grace_time=0)))
        request, _, node = self.serve()
        one, _ = self.place_of(node)
        path = f'{NODES}/{one}/lock'
        name, = self.client.get_children(path)
        self.assertEqual(self.client.exists(f'{path}/{name}').ephemeralOwner, 0)
        lock = self.client.Lock(path, 'somebody')
        self.assertEqual(lock.contenders(), [OWNER])
        self.assertFalse(lock.acquire(blocking=False))
        waiting = threading.Thread(target=lock.acquire)
        waiting.start()
        self.wait(lambda cluster: len(cluster.contenders()) == 2, what='somebody who waits')
        self.give_back(request)
        waiting.join(30)
        self.assertTrue(lock.is_acquired)
        self.assertEqual(self.observer.sync().node(one)['state'], 'used')
        self.assertEqual(lock.contenders(), ['somebody'])
        lock.release()
        self.wait_for_no_nodes()

    def test_claimed_at_once(self):
        """Not when something else happens, say the next cleaning."""
        providers = self.backing_provider(), metastatic(slot_label(max_parallel_jobs=1))
        self.launcher(*providers, cleanup_interval=3600)
        self.wait_for_pools('meta-main', 'p-main')
        for _ in range(5):
            self.serve()

    def test_ME_17_two_at_once(self):
        self.begin()
        requests = [self.submit('user') for _ in range(2)]
        places = {self.place_of(self.node_of(request)[1]) for request in requests}
        self.assertEqual(sorted(slot for _, slot in places), [0, 1])
        self.assertEqual(len(self.backing()), 1)

    def test_ME_18_five_at_once(self):
        self.begin()
        requests = [self.submit('user') for _ in range(5)]
        places = {self.place_of(self.node_of(request)[1]) for request in requests}
        self.assertEqual(len(places), 5)
        self.assertEqual(len(self.backing()), 3)
        self.assertEqual(len(self.cloud.machines()), 3)


if __name__ == '__main__':
    unittest.main()
