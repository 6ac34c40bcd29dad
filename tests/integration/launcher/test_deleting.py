"""Machines that are not wanted any more: deleted, however often that fails."""

import os
import time
import unittest

from cloud import label
from cloud_case import DELETE, CloudCase
from zuul_client import NODES, encode


class Deleting(CloudCase):
    def ready_node(self):
        """The id of a new free node."""
        request = self.submit('l', reuse=False)
        node_id, _ = self.node_of(request)
        self.refuse(request)
        return node_id

    def set_state(self, node_id, state, **fields):
        """As an operator does it, without a lock."""
        record, _ = self.scheduler.read(f'{NODES}/{node_id}')
        self.client.set(f'{NODES}/{node_id}',
                        encode({**record, 'state': state, 'state_time': time.time(), **fields}))

    def deletes(self, since=0):
        return [entry for entry in self.cloud.log('DELETE', since=since)]

    # ---- How it ends ----

    def test_SM_36_deleted_and_replaced(self):
        self.launcher(self.cloud.provider('p'), labels=[{'name': 'l', 'min-ready': 1}])
        node_id, = self.wait_for_ready(1)
        self.set_state(node_id, 'deleting')
        self.wait_for_gone(node_id)
        self.wait_for_ready(1)
        self.wait_for_books()

    def test_SM_37_L_82_F_33_cannot_be_deleted(self):
        launcher = self.launcher(self.cloud.provider('p', call_tries=1),
                                 labels=[{'name': 'l', 'min-ready': 1}])
        node_id, = self.wait_for_ready(1)
        self.cloud.faults({**DELETE, 'status': 500})
        since, began = self.cloud.mark(), time.monotonic()
        self.set_state(node_id, 'deleting')
        other_id, = self.wait(lambda cluster: [one for one in cluster.ready_nodes()
                                               if one != node_id])
        self.cloud.wait(lambda state: len(self.deletes(since)) == 3, limit=60)
        # Further and further apart.
        self.assertGreater(time.monotonic() - began, 14)
        states = self.observer.states(f'{NODES}/{node_id}')
        self.assertEqual(states[-2:], ['ready', 'deleting'])
        self.wait(lambda cluster: not cluster.is_locked(node_id))
        launcher.wait_for_log(f'ERROR .*node: {node_id}.*cannot be deleted')
        self.cloud.faults()
        self.wait_for_gone(node_id, 60)
        self.assertEqual(self.observer.sync().ready_nodes(), [other_id])
        self.wait_for_books()

    def test_machine_in_an_error_state(self):
        """The cloud agrees, and then does not do it."""
        self.start()
        node_id = self.ready_node()
        self.cloud.faults({**DELETE, 'times': 1, 'delete': 'error'})
        self.set_state(node_id, 'used')
        self.wait_for_gone(node_id)
        self.assertEqual(len(self.deletes()), 2)
        self.cloud.wait_for_machines(0)

    def test_SM_38_L_83_not_found(self):
        launcher = self.start()
        node_id = self.ready_node()
        self.cloud.faults({**DELETE, 'status': 404})
        self.set_state(node_id, 'used')
        self.wait_for_gone(node_id, 5)
        launcher.wait_for_log(f'INFO .*node: {node_id}.*Deleted node')
        self.assertEqual(launcher.find_log('ERROR |WARNING '), [])

    def test_SM_39_F_07_listed_as_deleted_for_ever(self):
        self.start()
        node_id = self.ready_node()
        self.cloud.faults({**DELETE, 'delete': 'deleted'})
        self.set_state(node_id, 'used')
        self.wait_for_gone(node_id)
        machine, = self.cloud.machines()
        self.assertEqual(machine['state'], 'DELETED')

    def test_SM_40_takes_too_long(self):
        launcher = self.start(arguments=['--delete-timeout', '2'])
        node_id = self.ready_node()
        self.cloud.faults({**DELETE, 'times': 1, 'delete': 'stays'})
        self.set_state(node_id, 'deleting')
        launcher.wait_for_log(f'WARNING .*node: {node_id}.*not deleted after 2 s')
        self.wait(lambda cluster: not cluster.is_locked(node_id))
        self.assertEqual(self.observer.sync().node(node_id)['state'], 'deleting')
        self.wait_for_gone(node_id)
        self.assertEqual(len(self.deletes()), 2)
        self.cloud.wait_for_machines(0)

    def test_F_07_F_27_gone_only_when_the_cloud_says_so(self):
        """Its room is given to nobody before."""
        self.cloud.settings(limits={'instances': 1}, delete_after=3)
        self.start()
        node_id = self.ready_node()
        self.set_state(node_id, 'used')
        request = self.submit('l')
        self.cloud.wait(lambda state: state['machines'][0]['state'] == 'DELETING')
        request.wait('pending')
        self.assertIsNotNone(self.observer.sync().node(node_id))
        self.wait_for_gone(node_id)
        self.node_of(request)
        self.assertEqual(self.cloud.state()['most']['machine'], 1)
        self.assertEqual(len(self.deletes()), 1)

    def test_SM_41_no_machine_was_made(self):
        self.start()
        self.node_of(self.submit('l'))
        pool, = self.observer.sync().pools().values()
        for state in ('aborted', 'failed', 'building', 'deleting'):
            record = {'state': state, 'type': ['l'], 'provider': 'p', 'pool': 'main',
                      'launcher': pool['id'], 'external_id': None, 'state_time': time.time()}
            path = self.client.create(f'{NODES}/', encode(record), sequence=True)
            self.wait_for_gone(path.rpartition('/')[2], 10)
        self.assertEqual(self.deletes(), [])

    def test_L_84_F_53_record_in_its_last_state(self):
        self.start()
        node_id = self.ready_node()
        self.set_state(node_id, 'deleted')
        self.wait_for_gone(node_id, 6)
        self.assertEqual(self.deletes(), [])
        self.assertEqual(len(self.cloud.machines()), 1)

    def test_L_81_the_driver_is_told_once(self):
        launcher = self.start()
        node_id = self.ready_node()
        self.set_state(node_id, 'used')
        self.wait_for_gone(node_id)
        self.ready_node()  # something that comes after it
        self.assertEqual(len(launcher.find_log(f'Node {node_id} is gone')), 1)

    # ---- Which ----

    def test_L_80_F_03_each_state(self):
        self.start()
        ids = {}
        for state in ('used', 'in-use', 'building', 'failed', 'aborted', 'deleting', 'hold',
                      'ready', 'init', 'testing'):
            ids[state] = self.ready_node()
        for state, node_id in ids.items():
            if state != 'ready':
                self.set_state(node_id, state)
        for state in ('used', 'in-use', 'building', 'failed', 'aborted', 'deleting'):
            self.wait_for_gone(ids[state])
        self.assertEqual(sorted(self.observer.sync().nodes()),
                         sorted(ids[state] for state in ('hold', 'ready', 'init', 'testing')))
        self.cloud.wait_for_machines(4)

    def test_L_80_locked_ones_are_left_alone(self):
        self.start()
        ids = [self.ready_node() for _ in range(2)]
        lock = self.lock(f'{NODES}/{ids[0]}/lock')
        for node_id in ids:
            self.set_state(node_id, 'used')
        self.wait_for_gone(ids[1])
        self.assertEqual(self.observer.sync().node(ids[0])['state'], 'used')
        lock.release()
        self.wait_for_gone(ids[0], 5)

    def test_L_80_many_at_once(self):
        count = 200
        self.cloud.limits(instances=count, cores=count, ram=-1)
        launcher = self.start()
        requests = [self.submit(*['l'] * 20) for _ in range(count // 20)]
        for request in requests:
            request.wait('fulfilled', limit=60)
        before = len(os.listdir(f'/proc/{launcher.pid}/task'))
        since, most = self.cloud.mark(), 0
        for request in requests:
            self.give_back(request)
        while self.observer.sync().nodes():
            most = max(most, len(os.listdir(f'/proc/{launcher.pid}/task')))
        self.assertLessEqual(most, before + 2)
        self.assertEqual(self.cloud.machines(), [])
        # One list for all, not one for each.
        lists = [entry for entry in self.cloud.log('GET', '/machines', since)]
        self.assertLess(len(lists), count)
        self.assertEqual(self.observer.sync().contenders(), [])

    def test_deletions_do_not_count_for_max_concurrency(self):
        self.cloud.settings(delete_after=5)
        self.start(max_concurrency=1)
        request = self.submit('l')
        self.give_back(request)
        self.cloud.wait(lambda state: state['machines'][0]['state'] == 'DELETING')
        self.node_of(self.submit('l'))
        self.assertEqual(len(self.cloud.machines()), 2)

    def test_F_01_another_launcher_deletes_it(self):
        """Two launchers that both want to: one does."""
        self.start()
        self.launcher(self.cloud.provider('p', [label('m')], pools=[
            {'name': 'second', 'labels': [label('m')], 'host-key-checking': False}]))
        self.wait_for_pools('p-main', 'p-second')
        requests = [self.submit('l') for _ in range(10)]
        for request in requests:
            self.give_back(request)
        self.wait_for_no_nodes()
        self.assertEqual(len(self.deletes()), 10)
        self.assertEqual(self.observer.sync().contenders(), [])


if __name__ == '__main__':
    unittest.main(verbosity=2)
