"""The main path: requests served from static slots, seen from Zuul's side. Nobody contacts the
machines here, so what is tested is the launcher."""

import time
import unittest

from launcher import machine, machines, provider
from launcher_case import LauncherCase
from observer import Cluster
from transactions import Tree
from zuul_client import NODES, REQUESTS, AcceptError, encode, run_job

NODE_FIELDS = {
    'state', 'state_time', 'created_time', 'cloud', 'provider', 'pool', 'type', 'allocated_to',
    'az', 'region', 'host_id', 'public_ipv4', 'private_ipv4', 'public_ipv6', 'interface_ip',
    'connection_port', 'ssh_port', 'connection_type', 'username', 'python_path', 'shell_type',
    'host_keys', 'image_id', 'launcher', 'external_id', 'hostname', 'comment', 'user_data',
    'hold_job', 'hold_expiration', 'resources', 'slot', 'attributes', 'tenant_name', 'requestor',
    'driver_data'}
REQUEST_FIELDS = {
    'state', 'state_time', 'node_types', 'nodes', 'declined_by', 'reuse', 'requestor',
    'requestor_data', 'provider', 'relative_priority', 'event_id', 'created_time'}
POOL_FIELDS = {'hostname', 'kind', 'state', 'version', 'model_api', 'id', 'name', 'provider_name',
               'supported_labels', 'priority', 'paused'}


class Records(LauncherCase):
    """What other programs of the cluster read."""

    def test_Z_62_every_field_is_there(self):
        self.start_with(machine('127.0.10.1'), webapp={'port': 0})
        request = self.submit('l')
        fulfilled = request.wait('fulfilled')
        cluster = self.observer.sync()
        node = cluster.node(fulfilled['nodes'][0])
        self.assertEqual(set(node) & NODE_FIELDS, NODE_FIELDS)
        self.assertEqual(set(fulfilled), REQUEST_FIELDS | {'tenant_name'})
        pool, = cluster.pools().values()
        self.assertEqual(set(pool), POOL_FIELDS)
        self.assertEqual((pool['priority'], pool['paused'], pool['model_api'], pool['kind']),
                         (100, False, 0, 'pool'))
        self.assertEqual(pool['supported_labels'], ['l'])
        launcher, = cluster.launchers().values()
        self.assertEqual((launcher['kind'], launcher['state']), ('launcher', 'running'))

    def test_Z_09_Z_11_L_02_node_carries_the_request(self):
        self.start_with(machine('127.0.10.1'))
        before = time.time()
        request = self.submit('l', tenant='tenant-1')
        node_id, = request.wait('fulfilled')['nodes']
        node = self.observer.sync().node(node_id)
        self.assertEqual((node['tenant_name'], node['requestor'], node['allocated_to']),
                         ('tenant-1', self.scheduler.system_id, request.id))
        self.assertEqual((node['provider'], node['pool'], node['type'], node['launcher']),
                         ('p', 'main', ['l'], 'static driver'))
        self.assertLess(abs(node['created_time'] - before), 60)
        self.assertRegex(node_id, r'^\d{10}$')
        acl, _ = self.client.get_acls(f'{NODES}/{node_id}')
        self.assertEqual([(entry.perms, entry.id.id) for entry in acl], [(31, 'anyone')])

    def test_L_03_node_attributes(self):
        attributes = {'executor-zone': 'north', 'key': 'value'}
        self.launcher(provider('p', pools=[
            {'name': 'main', 'node-attributes': attributes, 'nodes': [machine('127.0.10.1', 'a')]},
            {'name': 'other', 'nodes': [machine('127.0.10.2', 'b')]}]))
        self.wait_for_ready(2)
        nodes = {node['pool']: node for node in self.observer.sync().nodes().values()}
        self.assertEqual(nodes['main']['attributes'], attributes)
        self.assertIsNone(nodes['other']['attributes'])

    def test_Z_19_unknown_fields_are_kept(self):
        self.start_with(machine('127.0.10.1'))
        node_id, = self.wait_for_ready(1)
        record, _ = self.scheduler.read(f'{NODES}/{node_id}')
        self.client.set(f'{NODES}/{node_id}', encode(dict(record, x={'y': 1}, id=node_id)))
        request = self.submit('l', zuul_thing=[1])
        self.assertEqual(request.wait('fulfilled')['zuul_thing'], [1])
        cluster = self.observer.sync()
        self.assertEqual(cluster.node(node_id)['x'], {'y': 1})
        self.assertEqual(cluster.node(node_id)['id'], node_id)

    def test_Z_31_locks_leave_nothing(self):
        self.start_with(machine('127.0.10.1'))
        run_job(self.scheduler, self.executor, ['l'])
        self.wait_for_ready(1)
        self.assertEqual(self.observer.sync().contenders(), [])


class Serving(LauncherCase):
    def test_L_04_order_of_labels(self):
        self.start_with(*(machine(f'127.0.10.{number}', f'l{number}') for number in (1, 2, 3, 4)))
        request = self.submit('l3', 'l1', 'l4', 'l2')
        nodes = request.wait('fulfilled')['nodes']
        cluster = self.observer.sync()
        self.assertEqual([cluster.node(node_id)['type'] for node_id in nodes],
                         [['l3'], ['l1'], ['l4'], ['l2']])

    def test_L_05_repeated_labels(self):
        self.start_with(machine('127.0.10.1', 'a', max_parallel_jobs=2), machine('127.0.10.2', 'b'),
                        count=3)
        nodes = self.submit('a', 'b', 'a').wait('fulfilled')['nodes']
        cluster = self.observer.sync()
        self.assertEqual([cluster.node(node_id)['type'] for node_id in nodes],
                         [['a'], ['b'], ['a']])
        self.assertEqual(len(set(nodes)), 3)

    def when_fulfilled(self, request):
        """The cluster as it was at the first moment at which the request is seen fulfilled."""
        past = Cluster(Tree())
        self.observer.sync()
        for transaction, _ in self.observer.history:
            past.tree.apply(transaction)
            if (past.request(request.id) or {}).get('state') == 'fulfilled':
                return past
        self.fail(f'{request.id} was never fulfilled')

    def test_Z_49_at_the_first_moment(self):
        self.start_with(machine('127.0.10.1', 'a', max_parallel_jobs=3), machine('127.0.10.2', 'b'),
                        machine('127.0.10.3', 'c'), count=5)
        wanted = [('c', 'a', 'b'), ('a', 'c'), ('b', 'a', 'a')]
        requests = [self.submit(*labels) for labels in wanted]
        # The nodes come back while others wait for them.
        for request in requests:
            request.wait('fulfilled')
            nodes = self.executor.accept(request.id)
            nodes.use()
            nodes.give_back()
        for request, labels in zip(requests, wanted):
            past = self.when_fulfilled(request)
            ids = past.request(request.id)['nodes']
            records = [past.node(node_id) for node_id in ids]
            self.assertEqual([record['type'] for record in records], [[label] for label in labels])
            self.assertEqual({record['state'] for record in records}, {'ready'})
            self.assertEqual({record['allocated_to'] for record in records}, {request.id})
            self.assertEqual([past.is_locked(node_id) for node_id in ids], [False] * len(ids))

    def test_no_labels_no_nodes(self):
        self.start_with(machine('127.0.10.1'))
        self.assertEqual(self.submit().wait('fulfilled')['nodes'], [])

    def test_L_06_used_node_is_deleted_with_everything_below(self):
        self.start_with(machine('127.0.10.1'))
        node_id, = run_job(self.scheduler, self.executor, ['l'])
        self.wait_for_gone(node_id, 5)
        self.assertIsNone(self.observer.sync().tree.get(f'{NODES}/{node_id}/lock'))
        self.wait_for_ready(1)

    def test_L_10_L_11_accept_fails_and_the_node_is_given_again(self):
        self.start_with(machine('127.0.10.1'))
        first = self.submit('l')
        node_id, = first.wait('fulfilled')['nodes']
        self.executor.refuse(first.id)
        second = self.submit('l', tenant='tenant-2')
        self.assertEqual(second.wait('fulfilled')['nodes'], [node_id])
        node = self.observer.sync().node(node_id)
        self.assertEqual((node['allocated_to'], node['tenant_name']), (second.id, 'tenant-2'))
        second.cancel()
        self.wait_for_ready(1)
        self.assertEqual(self.wait_for_ready(1), [node_id])

    def test_executor_dies_before_use(self):
        self.start_with(machine('127.0.10.1'))
        request = self.submit('l')
        request.wait('fulfilled')
        nodes = self.executor.accept(request.id)
        self._sessions.clear()
        nodes.executor.die()
        self.assertEqual(self.wait_for_ready(1), nodes.ids)

    def test_executor_dies_in_use(self):
        self.start_with(machine('127.0.10.1'))
        nodes = self.job('l')
        self._sessions.clear()
        nodes.executor.die()
        self.wait_for_gone(nodes.ids[0])
        self.wait_for_ready(1)

    def test_node_returned_unused(self):
        self.start_with(machine('127.0.10.1'))
        request = self.submit('l')
        request.wait('fulfilled')
        nodes = self.executor.accept(request.id)
        nodes.give_back()
        self.assertEqual(self.wait_for_ready(1), nodes.ids)

    def test_hold_and_its_end(self):
        launcher = self.start_with(machine('127.0.10.1'))
        nodes = self.job('l')
        nodes.hold()
        nodes.release()
        waiting = self.submit('l')
        self.assert_stays(launcher, waiting)
        self.assertEqual(self.observer.sync().node(nodes.ids[0])['state'], 'hold')
        self.assertTrue(self.scheduler.end_hold(nodes.ids[0]))
        self.wait_for_gone(nodes.ids[0])
        self.assertNotEqual(waiting.wait('fulfilled')['nodes'], nodes.ids)

    def test_accept_of_somebody_elses_node_is_noticed(self):
        """The client itself: what Zuul logs if a launcher gives a node twice."""
        self.start_with(machine('127.0.10.1'))
        request = self.submit('l')
        node_id, = request.wait('fulfilled')['nodes']
        self.client.create(f'{REQUESTS}/100-', encode(dict(request.record, state='fulfilled')),
                           sequence=True)
        forged = self.client.get_children(REQUESTS)
        forged.remove(request.id)
        with self.assertRaises(AcceptError):
            self.executor.accept(forged[0])
        self.assertEqual(self.observer.sync().node(node_id)['allocated_to'], request.id)


class Refusing(LauncherCase):
    def test_L_07_L_20_unknown_label(self):
        launcher = self.start_with(machine('127.0.10.1'))
        request = self.submit('unknown', event_id='event-1')
        record = request.wait('failed')
        pool, = self.observer.sync().pools().values()
        self.assertEqual(record['declined_by'], [pool['id']])
        line, = launcher.wait_for_log(f'{request.id}.*Declined')
        self.assertRegex(line, r' INFO nodepool\.PoolWorker\.p-main: \[e: event-1\] '
                               r'\[node_request: 200-\d{10}\] .*\[unknown\] not available')

    def test_L_08_fails_only_when_all_pools_declined(self):
        self.launcher(provider('p', pools=[
            {'name': 'main', 'nodes': [machine('127.0.10.1', 'a')]},
            {'name': 'other', 'nodes': [machine('127.0.10.2', 'b')]}]))
        self.launcher(provider('q', [machine('127.0.11.1', 'c')]))
        self.wait_for_pools('p-main', 'p-other', 'q-main')
        request = self.submit('unknown')
        record = request.wait('failed')
        ids = {pool['id'] for pool in self.observer.sync().pools().values()}
        self.assertEqual(set(record['declined_by']), ids)
        self.assertEqual(self.observer.states(request.path), ['requested', 'failed'])

    def test_L_09_pool_with_no_servers(self):
        launcher = self.launcher(provider('p', pools=[
            {'name': 'main', 'max-servers': 0, 'nodes': [machine('127.0.10.1')]}]))
        self.wait_for_pools('p-main')
        request = self.submit('l')
        self.assertEqual(len(request.wait('failed')['declined_by']), 1)
        launcher.wait_for_log(f'{request.id}.*disabled by max_servers')

    def test_L_15_node_of_another_pool(self):
        launcher = self.launcher(provider('p', pools=[
            {'name': 'main', 'nodes': [machine('127.0.10.1', 'a')]},
            {'name': 'other', 'max-servers': 0, 'nodes': [machine('127.0.10.2', 'a')]}]))
        self.wait_for_ready(2)
        nodes = self.job('a')
        self.assertEqual(nodes.records[nodes.ids[0]]['pool'], 'main')
        request = self.submit('a')
        launcher.wait_for_log(f'{request.id}.*0 node.* are free')
        self.assertEqual(self.observer.sync().request(request.id)['state'], 'requested')
        nodes.give_back()
        request.wait('fulfilled')

    def test_L_15_node_of_another_provider(self):
        launcher = self.start_with(machine('127.0.10.1', 'a'))
        nodes = self.job('a')
        foreign = dict(nodes.records[nodes.ids[0]], provider='foreign', state='ready',
                       allocated_to=None)
        path = self.client.create(f'{NODES}/', encode(foreign), sequence=True)
        request = self.submit('a')
        self.assert_stays(launcher, request)
        self.assertEqual(self.observer.sync().tree.get(path).version, 0)

    def test_L_19_F_55_broken_nodes(self):
        """One warning or error each, and everything else goes on."""
        launcher = self.launcher(provider('p', machines(1)))
        self.wait_for_ready(1)
        broken = ['{"state": "ready", "provider": "p"}',
                  '{"state": "ready", "provider": "p", "pool": "main", "type": null}',
                  '{"state": "used", "provider": "p", "pool": "main", "type": "l"}',
                  '{"state": "frobnicated", "provider": "p", "pool": "main", "type": ["l"]}',
                  '{"no": "state"}', 'no JSON', '[1]', '']
        paths = [self.client.create(f'{NODES}/', data.encode(), sequence=True) for data in broken]
        for _ in range(3):
            run_job(self.scheduler, self.executor, ['l'])
        frobnicated = paths[3].rpartition('/')[2]
        launcher.wait_for_log(f'node: {frobnicated}.*state that this version does not know')
        for path in paths[4:7]:
            launcher.wait_for_log(f'ERROR .*{path} is unusable')
        self.assertEqual(self.observer.sync().node(frobnicated)['state'], 'frobnicated')
        self.assertEqual(len(launcher.find_log(f'ERROR .*{paths[5]}')), 1)

    def test_Z_14_Z_22_broken_requests(self):
        launcher = self.start_with(machine('127.0.10.1'))
        for data in ('{"no": "state"}', 'no JSON', '[1]', '', '{"state": "frobnicated"}'):
            self.client.create(f'{REQUESTS}/100-', data.encode(), sequence=True)
        self.client.create(f'{REQUESTS}/nodash', b'{"state": "requested", "node_types": ["l"]}')
        run_job(self.scheduler, self.executor, ['l'])
        launcher.wait_for_log(f'ERROR .*{REQUESTS}/nodash is unusable')
        launcher.wait_for_log(f'ERROR .*{REQUESTS}/100-.* is unusable', count=3)


class Revising(LauncherCase):
    """Zuul changes its mind."""

    def test_Z_47_L_59_revised_priority(self):
        launcher = self.start_with(machine('127.0.10.1'))
        nodes = self.job('l')
        first = self.submit('l', relative_priority=2)
        second = self.submit('l', relative_priority=3)
        self.assert_stays(launcher, second)
        self.assertTrue(second.revise(1))
        nodes.give_back()
        node_id, = second.wait('fulfilled')['nodes']
        self.assertEqual(self.observer.sync().request(first.id)['state'], 'requested')
        self.assertEqual(self.observer.sync().node(node_id)['allocated_to'], second.id)

    def test_Z_13_L_59_relative_priority(self):
        self.start_with(machine('127.0.10.1'))
        nodes = self.job('l')
        late = self.submit('l', relative_priority=2)
        soon = self.submit('l', relative_priority=1)
        sooner = self.submit('l', priority='100', relative_priority=9)
        for request in (sooner, soon, late):
            nodes.give_back()
            request.wait('fulfilled')
            nodes = self.executor.accept(request.id)
            nodes.use()

    def test_L_18_request_locked_by_its_owner(self):
        launcher = self.start_with(machine('127.0.10.1'))
        nodes = self.job('l')
        first = self.submit('l', relative_priority=1)
        second = self.submit('l', relative_priority=2)
        lock = self.lock(f'/nodepool/requests-lock/{first.id}')
        nodes.give_back()
        launcher.wait_for_log(f'{first.id}.*Not fulfilled: .* is busy')
        self.assertEqual(self.observer.sync().request(first.id)['state'], 'requested')
        record = dict(first.record, relative_priority=3)
        self.client.set(first.path, encode(record), version=first.version)
        lock.release()
        second.wait('fulfilled')
        nodes = self.executor.accept(second.id)
        nodes.use()
        nodes.give_back()
        first.wait('fulfilled')

    def test_Z_50_L_17_fulfilled_nodes_are_left_alone(self):
        launcher = self.start_with(machine('127.0.10.1'), machine('127.0.10.2', 'm'),
                                   sync_interval=1)
        request = self.submit('l')
        node_id, = request.wait('fulfilled')['nodes']
        version = self.observer.sync().tree.get(f'{NODES}/{node_id}').version
        # Sweeps, synchronisations, other requests, and a reload go by.
        for _ in range(5):
            run_job(self.scheduler, self.executor, ['m'])
        waiting = self.submit('l')
        self.assert_stays(launcher, waiting, passes=10)
        launcher.wait_for_log('Not now', launcher.mark(), count=2)
        self.assertEqual(self.observer.sync().tree.get(f'{NODES}/{node_id}').version, version)
        request.cancel()
        waiting.wait('fulfilled')

    def test_Z_51_L_29_record_erased_while_its_request_is_cancelled(self):
        self.start_with(machine('127.0.10.1'), machine('127.0.10.2', 'm'))
        request = self.submit('l', 'm')
        first, second = request.wait('fulfilled')['nodes']
        self.client.delete(f'{NODES}/{first}', recursive=True)
        request.cancel()
        self.wait_for_ready(2)
        self.assertIn(second, self.observer.sync().ready_nodes())
        self.assertEqual(self.observer.cluster.contenders(), [])


class Registry(LauncherCase):
    def test_Z_45_component_deleted_by_hand(self):
        launcher = self.start_with(machine('127.0.10.1'))
        name, = self.observer.sync().pools()
        before, = self.observer.cluster.pools().values()
        self.client.delete(f'/nodepool/components/pool/{name}')
        launcher.wait_for_log('removed by somebody; registering again')
        self.wait(lambda cluster: cluster.pools() and name not in cluster.pools())
        after, = self.observer.sync().pools().values()
        self.assertEqual(after['id'], before['id'])
        run_job(self.scheduler, self.executor, ['l'])

    def test_Z_46_foreign_components(self):
        self.start_with(machine('127.0.10.1'))
        for data in (b'', b'no JSON', b'{"id": null}',
                     b'{"hostname": "h", "kind": "pool", "state": "running", "model_api": -1}'):
            self.client.create('/nodepool/components/pool/h', data, sequence=True)
        run_job(self.scheduler, self.executor, ['l'])
        self.submit('unknown').wait('failed')

    def test_Z_46_oldest_component_sets_the_form(self):
        launcher = self.start_with(machine('127.0.10.1'))
        launcher.wait_for_log('INFO .*System minimum data model version 0; this component 0')

        def register(kind, **record):
            return self.client.create(f'/nodepool/components/{kind}/h', encode(
                {'hostname': 'h', 'kind': kind, 'state': 'running', **record}), sequence=True,
                ephemeral=True)

        def system():
            return launcher.command('status')['model_api']

        register('builder', model_api=1)
        register('launcher')
        mark = launcher.mark()
        older = register('builder', model_api=-1)
        launcher.wait_for_log('ERROR .*data model version fell from 0 to -1', mark)
        self.assertEqual(system(), {'own': 0, 'system': -1})
        run_job(self.scheduler, self.executor, ['l'])
        self.client.delete(older)
        launcher.wait_for_log('INFO .*System minimum data model version 0', mark)
        self.assertEqual(system(), {'own': 0, 'system': 0})


if __name__ == '__main__':
    unittest.main(verbosity=2)
