"""When backing nodes get no new nodes, and when they are given back."""

import json
import time
import unittest

from crowd import Crowd
from launcher_case import is_full, seed_of
from metastatic_case import OWNER, MetastaticCase, metastatic, slot_label
from zuul_client import NODES

LONG = 300


class Release(MetastaticCase):
    def change_user_data(self, node_id, **changes):
        """Behind everybody's back."""
        path = f'{NODES}/{node_id}'
        record = json.loads(self.client.get(path)[0])
        record['user_data'] = json.dumps({**json.loads(record['user_data']), **changes})
        self.client.set(path, json.dumps(record).encode())

    def delete_ready(self):
        """What was ready before its request was cancelled stays as it is."""
        for node_id, node in self.observer.sync().nodes().items():
            if node['provider'] == 'meta' and node['state'] == 'ready':
                node['state'] = 'deleting'
                self.client.set(f'{NODES}/{node_id}', json.dumps(node).encode())

    def test_ME_11_label_is_unknown_after_a_restart(self):
        providers = (self.backing_provider(), metastatic(slot_label(grace_time=LONG)))
        launcher = self.begin(*providers)
        request, node_id, node = self.serve()
        one, _ = self.place_of(node)
        launcher.stop()
        self.change_user_data(one, label='forgotten')
        launcher.start()
        self.wait_for_pools('p-main', 'meta-main')
        self.delete(request, node_id)
        self.wait_for_gone(one)
        self.cloud.wait_for_machines(0)

    def test_ME_14_retention(self):
        self.begin(self.backing_provider(),
                   metastatic(slot_label(max_parallel_jobs=1, min_retention_time=LONG)))
        launcher, = self.launchers
        request, node_id, node = self.serve()
        one, _ = self.place_of(node)
        self.delete(request, node_id)
        deadline = time.time() + 4  # more than grace time and two cleanings
        self.wait(lambda cluster: time.time() > deadline)
        self.assertEqual(list(self.backing()), [one])
        launcher.stop()
        self.change_user_data(one, launched=int(time.time()) - LONG - 1)
        launcher.start()
        self.wait_for_gone(one)

    def test_ME_15_over_its_age(self):
        launcher = self.begin(self.backing_provider(),
                              metastatic(slot_label(grace_time=LONG, max_age=LONG)))
        first, first_id, node = self.serve()
        one, _ = self.place_of(node)
        launcher.stop()
        self.change_user_data(one, launched=int(time.time()) - LONG - 10)
        launcher.start()
        _, _, node = self.serve()
        two, slot = self.place_of(node)
        self.assertNotEqual(two, one)
        self.assertEqual(slot, 0)
        self.wait(lambda cluster: json.loads(cluster.node(one)['user_data'])['failed'])
        self.assertEqual(self.observer.sync().node(one)['state'], 'in-use')
        self.delete(first, first_id)
        self.wait_for_backing(two)
        self.wait_for_gone(one)

    def test_ME_16_backing_node_deleted_by_force(self):
        launcher = self.begin()
        request, node_id, node = self.serve()
        one, _ = self.place_of(node)
        lock = f'{NODES}/{one}/lock'
        transaction = self.client.transaction()
        for path in [f'{lock}/{name}' for name in self.client.get_children(lock)]:
            transaction.delete(path)
        transaction.delete(lock)
        transaction.delete(f'{NODES}/{one}')
        transaction.commit()
        launcher.wait_for_log(f'backing node {one} is gone, with these nodes on it: {node_id}')
        _, _, node = self.serve()
        self.assertNotEqual(self.place_of(node)[0], one)
        self.delete(request, node_id)
        self.assertEqual(launcher.find_log(' ERROR '), [])

    def test_ME_16_forced_release_of_the_lock(self):
        """Whoever takes the contender away has the node."""
        launcher = self.begin()
        _, node_id, node = self.serve()
        one, _ = self.place_of(node)
        lock = f'{NODES}/{one}/lock'
        for name in self.client.get_children(lock):
            self.client.delete(f'{lock}/{name}')
        _, _, node = self.serve()
        self.assertNotEqual(self.place_of(node)[0], one)
        self.assertTrue(launcher.find_log('is gone, with these nodes on it'))

    def test_ME_21_nobody_waits_any_more(self):
        self.begin()
        self.fill_cloud()
        request = self.submit('user')
        self.wait_for_backing_request()
        request.cancel()
        self.wait(lambda cluster: not cluster.requests(), 60, 'the request withdrawn')
        self.empty_cloud()
        self.wait_for_no_nodes()
        self.assertEqual(len(self.cloud.creates()), 1)

    def test_ME_21_cancelled_at_any_moment(self):
        """Also while a slot is being written down."""
        self.begin()
        request, node_id, _ = self.serve()
        for _ in range(60):
            other = self.submit('user')
            self.wait(lambda cluster, other=other: any(
                node['allocated_to'] == other.id for node in cluster.nodes().values()))
            other.cancel()
        self.delete(request, node_id)
        self.wait(lambda cluster: all(not node['allocated_to'] or node['provider'] == 'p'
                                      for node in cluster.nodes().values()))
        self.delete_ready()
        self.wait_for_no_nodes()

    def test_ME_26_ME_27_configuration_changes(self):
        backing = self.backing_provider('backing', 'other')
        launcher = self.begin(backing, metastatic(slot_label(grace_time=LONG),
                                                  slot_label('user-2', 'other', grace_time=LONG)))
        (first, first_id, node), (second, second_id, other) = self.serve(), self.serve('user-2')
        one, two = self.place_of(node)[0], self.place_of(other)[0]
        launcher.reload([backing, metastatic(slot_label(grace_time=LONG, max_parallel_jobs=4))])
        third, _, node = self.serve()
        self.assertEqual(self.place_of(node), (one, 1))
        fourth, _, node = self.serve()
        three, slot = self.place_of(node)
        self.assertNotIn(three, (one, two))
        self.assertEqual([self.user_data(node_id)['slots'] for node_id in (one, three)], [2, 4])
        self.assertEqual(self.observer.sync().node(two)['state'], 'in-use')
        self.delete(second, second_id)
        self.wait_for_gone(two)
        self.assertEqual(sorted(self.backing()), sorted([one, three]))

    def test_provider_that_nobody_has(self):
        """Section 10: what it has claimed is reported at the start, and only that."""
        launcher = self.begin()
        _, _, node = self.serve()
        one, _ = self.place_of(node)
        launcher.stop()
        backing = self.backing_provider()
        other = self.launcher(metastatic(name='meta'))
        self.wait_for_pools('meta-main')
        launcher.configure([backing])
        launcher.start()
        self.wait_for_pools('meta-main', 'p-main')
        for one_of_them in (other, launcher):
            self.assertEqual(one_of_them.find_log('No launcher has'), [])
        for one_of_them in (other, launcher):
            one_of_them.stop()
        mark = launcher.mark()
        launcher.start()
        launcher.wait_for_log('WARNING nodepool.Backing: No launcher has the provider meta, '
                              f'whose backing nodes stay locked: {one}$', mark)

    def test_ME_22_new_request_in_the_moment_of_release(self):
        """Each node given back releases its machine at once, and the next request comes with it. The
        observer sees to it that none is put on a machine that was given back, and none of these is
        given back with a node on it."""
        tries = 10000 if is_full() else 150
        self.begin(self.backing_provider(), metastatic(slot_label(
            max_parallel_jobs=1, grace_time=0)), debug=False)
        mark = self.observer.mark()
        Crowd(self.hosts, seed_of(self), workers=4, labels=['user'],
              endings={'normal': 1}).start(tries).join()
        self.wait_for_no_nodes(60)
        released = [operation for _, operations in self.observer.history[mark:]
                    for operation in operations if OWNER in (operation.data or '')
                    and operation.kind == 'set' and json.loads(operation.data)['state'] == 'used']
        print(f'{len(released)} machines given back for {tries} requests', flush=True)
        self.assertGreater(len(released), tries // 20)
        self.cloud.wait_for_machines(0)


if __name__ == '__main__':
    unittest.main()
