"""Machines of a cloud: made, used, deleted, and what becomes of those that fail."""

import unittest

from cloud import Cloud, label, pool
from launcher_case import LauncherCase


class Launching(LauncherCase):
    def setUp(self):
        super().setUp()
        self.cloud = Cloud().start()
        self.addCleanup(self.cloud.close)

    def start(self, **options):
        launcher = self.launcher(self.cloud.provider('p', labels=options.pop('labels', None),
                                                     pools=options.pop('pools', None), **options))
        self.wait_for_pools('p-main')
        return launcher

    def node_of(self, request, limit=30):
        node_id, = request.wait('fulfilled', limit=limit)['nodes']
        return node_id, self.observer.sync().node(node_id)

    def give_back(self, request):
        nodes = self.executor.accept(request.id)
        nodes.use()
        nodes.give_back()

    # ---- The main path ----

    def test_L_01_L_02_SM_01_one_request(self):
        self.start()
        request = self.submit('l')
        node_id, node = self.node_of(request)
        self.assertEqual(self.observer.states(request.path), ['requested', 'pending', 'fulfilled'])
        self.assertEqual((node['state'], node['allocated_to'], node['type'], node['provider'],
                          node['pool']), ('ready', request.id, ['l'], 'p', 'main'))
        self.assertEqual(node['tenant_name'], 'tenant-1')
        self.assertEqual(node['requestor'], request.record['requestor'])
        self.assertIn('PoolWorker.p-main', node['launcher'])
        self.assertGreater(node['created_time'], 0)
        machine, = self.cloud.machines()
        self.assertEqual(machine['id'], node['external_id'])

    def test_SM_04_names_and_tags(self):
        self.start()
        node_id, _ = self.node_of(self.submit('l'))
        machine, = self.cloud.machines()
        self.assertEqual(machine['name'], f'np{node_id}')
        self.assertEqual({key: value for key, value in machine['tags'].items()
                          if key.startswith('nodepool_')},
                         {'nodepool_node_id': node_id, 'nodepool_pool_name': 'main',
                          'nodepool_provider_name': 'p'})

    def test_L_06_used_machines_are_deleted(self):
        self.start()
        request = self.submit('l')
        node_id, _ = self.node_of(request)
        self.give_back(request)
        self.cloud.wait_for_machines(0)
        self.wait(lambda cluster: cluster.node(node_id) is None)
        self.assertIsNone(self.client.exists(f'/nodepool/nodes/{node_id}'))

    def test_L_04_L_05_order_of_labels(self):
        self.start(labels=[label('a'), label('b')])
        request = self.submit('a', 'b', 'a')
        nodes = request.wait('fulfilled')['nodes']
        cluster = self.observer.sync()
        self.assertEqual([cluster.node(node)['type'] for node in nodes], [['a'], ['b'], ['a']])
        self.assertEqual(len(set(nodes)), 3)

    # ---- Attempts ----

    def test_SM_08_a_second_attempt(self):
        self.start()
        self.cloud.faults({'method': 'POST', 'path': '^/machines$', 'times': 1, 'status': 500,
                           'body': {'error': 'broken'}})
        self.node_of(self.submit('l'))
        self.assertEqual(len(self.cloud.creates()), 2)
        self.cloud.wait_for_machines(1)

    def test_SM_09_L_26_no_more_attempts(self):
        self.start(launch_retries=2)
        self.cloud.faults({'method': 'POST', 'path': '^/machines$', 'status': 500,
                           'body': {'error': 'broken'}})
        request = self.submit('l')
        record = request.wait('failed')
        self.assertEqual(len(record['declined_by']), 1)
        self.assertEqual(len(self.cloud.creates()), 2)
        self.wait(lambda cluster: not cluster.nodes())

    # ---- Quota ----

    def test_L_31_pool_limit(self):
        self.start(pools=[pool(labels=[label('l')], max_servers=2)])
        first = [self.submit('l') for _ in range(2)]
        for request in first:
            request.wait('fulfilled')
        sets = [self.executor.accept(request.id) for request in first]
        waiting = self.submit('l', 'l')
        waiting.wait('pending')
        self.wait(lambda cluster: any(record['paused'] for record in cluster.pools().values()))
        self.assertEqual(len(self.cloud.machines()), 2)
        for nodes in sets:
            nodes.use()
            nodes.give_back()
        waiting.wait('fulfilled')
        self.wait(lambda cluster: not any(record['paused'] for record in cluster.pools().values()))

    def test_L_39_SM_13_SM_14_quota_refusal_is_no_failure(self):
        self.cloud.limits(instances=5)
        self.start()
        self.node_of(self.submit('l'))
        # What the launcher knows is too much now.
        self.cloud.limits(instances=1)
        request = self.submit('l')
        self.wait(lambda cluster: any(record['paused'] for record in cluster.pools().values()))
        request.wait('pending')
        aborted = [path for path in self.observer.paths('/nodepool/nodes')
                   if 'aborted' in self.observer.states(path)]
        self.assertEqual(len(aborted), 1)
        self.cloud.limits(instances=5)
        request.wait('fulfilled', limit=60)
        self.wait(lambda cluster: len(cluster.nodes()) == 2)
        self.assertEqual(len(self.cloud.machines()), 2)


if __name__ == '__main__':
    unittest.main(verbosity=2)
