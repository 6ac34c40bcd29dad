"""Machines of a cloud: made, given away, used again, deleted."""

import json
import unittest

from cloud import label, pool
from cloud_case import CREATE, CloudCase, labels
from zuul_client import NODES, REQUESTS, Request, encode


class MainPath(CloudCase):
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
        self.assertEqual(self.executor.accept(request.id).ids, [node_id])

    def test_SM_02_what_the_image_says(self):
        images = [{'name': 'plain', 'username': 'zuul', 'python-path': '/usr/bin/python3',
                   'shell-type': 'cmd'}, {'name': 'other', 'image-id': 'plain'}]
        self.start(labels('l') + [label('m', cloud_image='other')], cloud_images=images)
        fields = ('image_id', 'username', 'python_path', 'shell_type', 'connection_type',
                  'connection_port')
        _, node = self.node_of(self.submit('l'))
        self.assertEqual([node[field] for field in fields],
                         ['plain', 'zuul', '/usr/bin/python3', 'cmd', 'ssh', 22])
        _, node = self.node_of(self.submit('m'))
        self.assertEqual([node[field] for field in fields],
                         ['other', None, 'auto', None, 'ssh', 22])

    def test_SM_03_resources(self):
        self.start([label('l', flavor='large')])
        node_id, node = self.node_of(self.submit('l'))
        resources = {'cores': 4, 'instances': 1, 'ram': 8192}
        self.assertEqual(node['resources'], resources)
        # From the first step on.
        path = f'{NODES}/{node_id}'
        self.assertEqual(self.written(path, 'resources'), [None, resources])
        building = [json.loads(operation.data) for _, operation in self.observer.changes(path)
                    if json.loads(operation.data)['state'] == 'building']
        self.assertEqual(building[0]['resources'], resources)

    def test_SM_04_names_and_tags(self):
        self.start()
        node_id, _ = self.node_of(self.submit('l'))
        machine, = self.cloud.machines()
        self.assertEqual(machine['name'], f'np{node_id}')
        self.assertEqual({key: value for key, value in machine['tags'].items()
                          if key.startswith('nodepool_')},
                         {'nodepool_node_id': node_id, 'nodepool_pool_name': 'main',
                          'nodepool_provider_name': 'p'})

    def test_L_03_node_attributes(self):
        attributes = {'executor-zone': 'north'}
        self.start(pools=[pool(labels=labels('l'), node_attributes=attributes),
                          pool('other', labels('m'))])
        self.assertEqual(self.node_of(self.submit('l'))[1]['attributes'], attributes)
        self.assertIsNone(self.node_of(self.submit('m'))[1]['attributes'])

    def test_L_06_used_machines_are_deleted(self):
        self.start()
        request = self.submit('l')
        node_id, _ = self.node_of(request)
        self.give_back(request)
        self.cloud.wait_for_machines(0)
        self.wait_for_gone(node_id, 5)
        self.assertIsNone(self.client.exists(f'{NODES}/{node_id}'))

    def test_L_04_L_05_order_of_labels(self):
        self.start(labels('a', 'b'))
        nodes = self.nodes_of(self.submit('a', 'b', 'a'))
        cluster = self.observer.sync()
        self.assertEqual([cluster.node(node)['type'] for node in nodes], [['a'], ['b'], ['a']])
        self.assertEqual(len(set(nodes)), 3)

    def test_L_04_SM_07_order_with_ready_nodes(self):
        self.cloud.settings(zones=['here'])
        self.start(labels('l1', 'l2', 'l3', 'l4'))
        for name in ('l2', 'l1', 'l4', 'l3'):
            self.refuse(self.submit(name))
        self.wait_for_ready(4)
        since = self.cloud.mark()
        nodes = self.nodes_of(self.submit('l3', 'l1', 'l4', 'l2'))
        cluster = self.observer.sync()
        self.assertEqual([cluster.node(node)['type'] for node in nodes],
                         [['l3'], ['l1'], ['l4'], ['l2']])
        self.assertEqual(self.creates(since), [])

    def test_L_03_SM_59_what_the_cloud_says_counts_more(self):
        self.start()
        self.cloud.faults({**CREATE, 'machine': {'connection': {'username': None,
                                                                'shell_type': 'sh'}}})
        _, node = self.node_of(self.submit('l'))
        self.assertEqual((node['username'], node['shell_type'], node['python_path']),
                         (None, 'sh', 'auto'))

    def test_SM_58_external_id_that_grows(self):
        self.start([label('l', extra_objects=['address', 'volume'])])
        # Slow enough for each form to be stored.
        self.cloud.faults({'method': 'POST', 'path': '^/(address|volume)', 'delay': 0.3})
        request = self.submit('l')
        node_id, node = self.node_of(request)
        # Null, the machine alone, the machine and more.
        first, *grown = self.written(f'{NODES}/{node_id}', 'external_id')
        self.assertIsNone(first)
        self.assertEqual([len(value) for value in grown], [1, 2, 3])
        self.assertEqual(len(node['external_id']), 3)
        self.wait_for_books()
        self.give_back(request)
        self.wait_for_no_nodes()
        state = self.cloud.state()
        self.assertEqual([state['machines'], state['addresses'], state['volumes']], [[], [], []])

    def test_SM_46_F_55_broken_records(self):
        for record in ('{"state": "ready", "provider": "p", "type": ["l"]}',
                       '{"state": "used", "provider": "p", "pool": "main"}',
                       '{"state": "building", "type": ["l"], "pool": "main"}',
                       '{"state": "ready", "provider": "p", "pool": "main", "type": ["unknown"]}',
                       '{"state": "in-use", "provider": "p", "pool": "gone", "type": ["l"]}', ''):
            self.client.create(f'{NODES}/', record.encode(), sequence=True, makepath=True)
        self.start(pools=[pool(max_servers=2)])
        requests = [self.submit('l') for _ in range(2)]
        for request in requests:
            request.wait('fulfilled')


class ReadyNodes(CloudCase):
    """What is there already is used first."""

    def ready_node(self, name='l'):
        """The id of a free node that was made for a request."""
        request = self.submit(name)
        node_id, _ = self.node_of(request)
        self.refuse(request)
        return node_id

    def test_L_11_reused(self):
        launcher = self.start()
        node_id = self.ready_node()
        request = self.submit('l', tenant='tenant-2')
        reused_id, node = self.node_of(request)
        self.assertEqual((reused_id, node['allocated_to'], node['tenant_name']),
                         (node_id, request.id, 'tenant-2'))
        self.assertEqual(len(self.creates()), 1)
        # A request that is partly served from what is there.
        self.refuse(request)
        both = self.nodes_of(self.submit('l', 'l'))
        self.assertIn(node_id, both)
        self.assertEqual(len(self.creates()), 2)
        launcher.wait_for_log(f'Node {node_id} is used again')

    def test_L_16_reuse_forbidden(self):
        self.start()
        node_id = self.ready_node()
        self.assertNotEqual(self.node_of(self.submit('l', reuse=False))[0], node_id)
        self.assertEqual(self.observer.sync().ready_nodes(), [node_id])

    def test_L_12_locked_by_somebody(self):
        self.start()
        node_id = self.ready_node()
        lock = self.lock(f'{NODES}/{node_id}/lock')
        self.assertNotEqual(self.node_of(self.submit('l'))[0], node_id)
        mixed = self.nodes_of(self.submit('l', 'l'))
        self.assertNotIn(node_id, mixed)
        lock.release()
        self.assertEqual(self.node_of(self.submit('l'))[0], node_id)

    def test_L_13_L_14_SM_63_F_59_changed_meanwhile(self):
        """Others write the node in the same moment in which it is wanted."""
        self.start()
        template = self.submit('unknown').wait('failed')
        for round_ in range(4):
            node_id = self.ready_node()
            path = f'{NODES}/{node_id}'
            owner, wanted = f'100-000000900{round_}', f'200-000000900{round_}'
            record, _ = self.scheduler.read(path)
            change = {'allocated_to': owner} if round_ % 2 else {'state': 'hold'}
            request = {**template, 'declined_by': [], 'state': 'requested',
                       'node_types': ['l'] * (1 + round_ // 2)}
            transaction = self.client.transaction()
            transaction.delete(f'{path}/lock')
            transaction.create(f'{path}/lock')
            transaction.set_data(path, encode({**record, **change}))
            transaction.create(f'{REQUESTS}/{owner}',
                               encode({**template, 'state': 'fulfilled', 'nodes': [node_id]}))
            transaction.create(f'{REQUESTS}/{wanted}', encode(request))
            self.assertEqual([answer for answer in transaction.commit()
                              if isinstance(answer, Exception)], [])
            request = Request(self.scheduler, f'{REQUESTS}/{wanted}', request)
            self.assertNotIn(node_id, self.nodes_of(request))
            self.give_back(request)
            self.wait(lambda cluster: len(cluster.nodes()) == round_ + 1)

    def test_L_15_nodes_of_others(self):
        self.start(pools=[pool(labels=labels('l')), pool('other', labels('m'))])
        _, record = self.node_of(self.submit('l'))
        for change in ({'pool': 'other'}, {'provider': 'q'}):
            foreign = {**record, **change, 'allocated_to': None, 'external_id': None}
            path = self.client.create(f'{NODES}/', encode(foreign), sequence=True)
            self.assertNotEqual(self.node_of(self.submit('l'))[0], path.rpartition('/')[2])


class Zones(CloudCase):
    many = [f'zone-{number}' for number in range(20)]

    def zones_of(self, request):
        nodes = self.nodes_of(request)
        return [self.observer.sync().node(node_id)['az'] for node_id in nodes]

    def test_SM_47_one_zone_for_all_nodes(self):
        self.cloud.settings(zones=self.many)
        self.start()
        first = self.submit('l')
        zone, = self.zones_of(first)
        self.refuse(first)
        # One is reused, the others are made beside it.
        self.assertEqual(self.zones_of(self.submit('l', 'l', 'l')), [zone] * 3)
        self.assertEqual(len(set(self.zones_of(self.submit('l', 'l', 'l')))), 1)

    def test_SM_48_zones_of_the_pool(self):
        self.start(pools=[pool(availability_zones=['az2'])])
        for _ in range(3):
            self.assertEqual(self.zones_of(self.submit('l')), ['az2'])
        self.assertEqual([body['zone'] for body in self.creates()], ['az2'] * 3)

    def test_SM_49_no_zones(self):
        self.cloud.settings(zones=[])
        self.start()
        self.assertEqual(self.zones_of(self.submit('l')), [None])
        self.assertEqual([body['zone'] for body in self.creates()], [None])

    def test_SM_50_other_zones(self):
        self.cloud.settings(zones=['old'])
        self.start(launch_retries=2)
        self.assertEqual(self.zones_of(self.submit('l')), ['old'])
        self.cloud.settings(zones=['new'])
        self.submit('l').wait('failed')
        self.assertEqual(self.zones_of(self.submit('l')), ['new'])

    def test_cloud_that_does_not_tell_its_zones(self):
        """Its requests wait, and do not keep the pool from declining others."""
        self.cloud.faults({'path': '^/zones', 'status': 500})
        self.start(call_tries=1)
        request = self.submit('l')
        self.submit('unknown').wait('failed')
        self.cloud.faults()
        self.assertEqual(self.zones_of(request), [self.zones_of(request)[0]])
        self.assertFalse(any(self.written(path, 'paused') != [False] for path in
                             self.observer.paths('/nodepool/components/pool')))


if __name__ == '__main__':
    unittest.main(verbosity=2)
