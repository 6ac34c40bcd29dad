"""The cleaner: what is over its age, and what launchers that died left behind. Where a case needs a
launcher that died at an unlucky moment, its records are written by hand."""

import json
import time
import unittest

from kazoo.security import ACL, Id, Permissions

from crowd import Crowd
from launcher import machine, machines, provider
from launcher_case import LauncherCase, seed_of
from transactions import backdate
from zuul_client import NODES, REQUEST_LOCKS, REQUESTS, Session, encode, run_job

# Longer than the launcher may take to notice, on a slow machine with sanitizers.
SLACK = 6
POOLS = '/nodepool/components/pool'
MISSING = '200-9999999999'
STATES = ('init', 'building', 'testing', 'ready', 'in-use', 'used', 'hold', 'failed', 'aborted',
          'deleting', 'deleted', 'frobnicated')


class CleaningCase(LauncherCase):
    def launcher(self, *providers, **options):
        options.setdefault('cleanup_interval', 1)
        return super().launcher(*providers, **options)

    def wait_for_cleanup(self, launcher, count=2):
        """Until so many runs have begun and ended."""
        mark = launcher.mark()
        launcher.wait_for_log('Starting cleanup', mark)
        launcher.wait_for_log('Finished cleanup', mark, count=count + 1)

    # ---- Records ----

    def make_node(self, state='ready', age=1000.0, **fields):
        """A node that some launcher left. Returns its id."""
        record = {'state': state, 'state_time': time.time() - age, 'created_time': 1.0,
                  'provider': 'p', 'pool': 'main', 'type': ['other'], 'allocated_to': None,
                  'launcher': 'gone', **fields}
        return self.client.create(f'{NODES}/', encode(record), sequence=True).rpartition('/')[2]

    def make_empty_node(self, node_id='12345'):
        self.client.ensure_path(NODES)
        self.client.create(f'{NODES}/{node_id}')
        return node_id

    def write(self, path, **fields):
        self.client.set(path, encode(dict(self.scheduler.read(path)[0], **fields)))

    def write_locked(self, node_id, **fields):
        """Writes fields of a node's record as a launcher does."""
        lock = self.client.Lock(f'{NODES}/{node_id}/lock')
        lock.acquire(timeout=30)
        self.write(f'{NODES}/{node_id}', **fields)
        lock.release()

    def make_pending(self, *labels, client=None):
        """A pending request whose lock the client has, as long as it wants: (id, lock)."""
        record = {'state': 'fulfilled', 'state_time': time.time(), 'node_types': list(labels),
                  'nodes': [], 'declined_by': ['somebody'], 'requestor': 'test', 'event_id': 'lost'}
        path = self.client.create(f'{REQUESTS}/200-', encode(record), sequence=True, makepath=True)
        request_id = path.rpartition('/')[2]
        lock = (client or self.client).Lock(f'{REQUEST_LOCKS}/{request_id}')
        lock.acquire(timeout=30)
        self.write(path, state='pending')
        return request_id, lock

    # ---- What became of them ----

    def wait_for_request(self, request_id, state='fulfilled'):
        self.wait(lambda cluster: cluster.request_is(request_id, state),
                  what=f'{request_id} {state}')
        return self.observer.cluster.request(request_id)

    def wait_for_state(self, node_id, state):
        self.wait(lambda cluster: state in self.observer.states(f'{NODES}/{node_id}'),
                  what=f'{node_id} {state}')

    def age_at_deletion(self, node_id):
        """How long the node had been in its last state when it began to be deleted."""
        self.wait_for_state(node_id, 'deleting')
        former = None
        for transaction, operation in self.observer.changes(f'{NODES}/{node_id}'):
            record = json.loads(operation.data)
            if record['state'] == 'deleting':
                return transaction.time - former['state_time']
            former = record

    def owners(self, node_id, since=0):
        """What stood in allocated_to, one after the other."""
        owners = []
        for _, operation in self.observer.changes(f'{NODES}/{node_id}', since):
            if operation.kind != 'delete':
                owner = json.loads(operation.data)['allocated_to']
                owners += [owner] if owners[-1:] != [owner] else []
        return owners

    def version(self, node_id):
        return self.observer.sync().tree.get(f'{NODES}/{node_id}').version

    def assert_age(self, node_id, expected):
        age = self.age_at_deletion(node_id)
        self.assertGreaterEqual(age, expected)
        self.assertLess(age, expected + SLACK)

    def assert_kept(self, launcher, *node_ids):
        """Not one of them is written while the cleaner runs again and again."""
        before = {node_id: self.version(node_id) for node_id in node_ids}
        self.wait_for_cleanup(launcher, 3)
        self.assertEqual({node_id: self.version(node_id) for node_id in node_ids}, before)


class ReadyAge(CleaningCase):
    def test_L_71_ready_age(self):
        self.start_with(machine('127.0.10.1'), machine('127.0.10.2', 'm'),
                        labels=[{'name': 'l', 'max-ready-age': 2}, {'name': 'm'}])
        old, = self.observer.sync().ready_nodes('l')
        kept, = self.observer.cluster.ready_nodes('m')
        self.assert_age(old, 2)
        self.wait_for_gone(old)
        self.wait(lambda cluster: cluster.ready_nodes('l'), what='another node')
        self.assertEqual(self.version(kept), 0)

    def test_L_71_smallest_limit_of_several_labels(self):
        self.start_with(machine('127.0.10.1', 'l m n'), labels=[
            {'name': 'l', 'max-ready-age': 60}, {'name': 'm', 'max-ready-age': 3}, {'name': 'n'}])
        node_id, = self.observer.sync().ready_nodes('n')
        self.assert_age(node_id, 3)

    def test_L_71_age_that_is_configured_later(self):
        launcher = self.start_with(machine('127.0.10.1'))
        node_id, = self.observer.sync().ready_nodes()
        self.assert_kept(launcher, node_id)
        launcher.reload([provider('p', [machine('127.0.10.1')])],
                        labels=[{'name': 'l', 'max-ready-age': 1}])
        self.wait_for_state(node_id, 'deleting')

    def test_L_72_R_09_allocated_just_then(self):
        """Somebody locked the node first, and the cleaner is not told before it looks."""
        launcher = self.start_with(machine('127.0.10.1'),
                                   labels=[{'name': 'l', 'max-ready-age': 3}])
        node_id, = self.observer.sync().ready_nodes()
        lock = self.lock(f'{NODES}/{node_id}/lock')
        launcher.wait_for_log(f'{node_id}.*left as it is: busy', count=2)
        request_id, request_lock = self.make_pending('l')
        self.write(f'{NODES}/{node_id}', allocated_to=request_id)
        self.write(f'{REQUESTS}/{request_id}', state='fulfilled', nodes=[node_id])
        lock.release()
        request_lock.release()
        self.assert_kept(launcher, node_id)

    def test_L_72_R_09_ages_under_load(self):
        """The oldest nodes are given away, and are over their age, at the same time."""
        self.launcher(provider('p', machines(15, max_parallel_jobs=4)), debug=False,
                      labels=[{'name': 'l', 'max-ready-age': 1}])
        crowd = Crowd(self.hosts, seed_of(self), workers=1).start()
        self.wait_for_cleaned_nodes(12)
        crowd.stop()
        crowd.join()

    def wait_for_cleaned_nodes(self, count):
        """Until so many nodes went from ready to deleting."""
        with self.observer.changed:
            since, seen = 0, set()
        def enough(cluster):
            nonlocal since
            for _, operations in self.observer.history[since:]:
                seen.update(operation.path for operation in operations
                            if operation.kind == 'set' and '"deleting"' in operation.data)
            since = len(self.observer.history)
            return len(seen) >= count
        self.wait(enough, limit=120, what=f'{count} cleaned nodes')

    def test_wrong_clock(self):
        """A time that is missing, or still to come, says nothing about an age."""
        launcher = self.start_with(*machines(4))
        nodes = self.observer.sync().ready_nodes()
        for node_id, state_time in zip(nodes, (time.time() + 3600, None, 'yesterday', 0)):
            self.write_locked(node_id, state_time=state_time)
        nodes += [self.make_node('hold', age=-3600, hold_expiration=1),
                  self.make_node('hold', state_time=None, hold_expiration=1),
                  self.make_node('init', age=-3600), self.make_node('init', state_time=0)]
        launcher.reload([provider('p', machines(4))], labels=[{'name': 'l', 'max-ready-age': 1}])
        self.assert_kept(launcher, *nodes)


class HoldAge(CleaningCase):
    max_hold_age = 5

    def test_L_73_smaller_of_both_limits(self):
        self.launcher(provider('p', machines(1)), max_hold_age=5)
        self.wait_for_pools('p-main')
        nodes = {self.make_node('hold', 0, hold_expiration=expiration): expected
                 for expiration, expected in ((2, 2), (None, 5), (180, 5))}
        for node_id, expected in nodes.items():
            self.assert_age(node_id, expected)
            self.wait_for_gone(node_id)


class HoldExpiration(CleaningCase):
    def test_L_74_odd_expirations(self):
        launcher = self.launcher(provider('p', machines(1)))
        self.wait_for_pools('p-main')
        expires = [self.make_node('hold', 0, hold_expiration='1'),
                   self.make_node('hold', 0, hold_expiration=1.5)]
        kept = [self.make_node('hold', hold_expiration=expiration)
                for expiration in (None, 'x', 0, -1, '', [1])]
        for node_id in expires:
            self.assert_age(node_id, 1)
        self.assert_kept(launcher, *kept)

    def test_held_node_of_a_job(self):
        """As Zuul does it; somebody looks at the node when its time is over."""
        launcher = self.start_with(machine('127.0.10.1'))
        nodes = self.job('l')
        nodes.hold(2)
        launcher.wait_for_log(f'{nodes.ids[0]}.*left as it is: busy')
        nodes.release()
        self.assert_age(nodes.ids[0], 2)
        self.wait_for_ready(1)


class EmptyNodes(CleaningCase):
    def test_L_75_empty_node(self):
        launcher = self.start_with(machine('127.0.10.1'))
        self.make_empty_node()
        self.client.create(f'{NODES}/12346/lock/what/ever', makepath=True)
        for node_id in ('12345', '12346'):
            self.wait(lambda cluster, name=node_id: cluster.tree.get(f'{NODES}/{name}') is None)
            launcher.wait_for_log(f'INFO .*{node_id}.*Deleted empty node')

    def test_L_75_empty_node_that_somebody_has_locked(self):
        """Time to notice, and no more than that."""
        launcher = self.start_with(machine('127.0.10.1'))
        mark = launcher.mark()
        self.client.create(f'{NODES}/12345/lock/{"0" * 32}__lock__0000000000', ephemeral=True,
                           makepath=True)
        self.wait(lambda cluster: cluster.tree.get(f'{NODES}/12345') is None)
        launcher.wait_for_log('12345.*Deleted empty node', mark)
        self.assertGreaterEqual(len(launcher.find_log('Starting cleanup', mark)), 2)

    def test_node_that_is_not_empty_for_long(self):
        launcher = self.start_with(machine('127.0.10.1'))
        lock = self.lock(f'{NODES}/12345/lock')
        self.client.set(f'{NODES}/12345', encode({'state': 'hold', 'provider': 'elsewhere'}))
        self.assert_kept(launcher, '12345')
        lock.release()

    def test_record_that_is_no_record(self):
        launcher = self.start_with(machine('127.0.10.1'))
        self.make_empty_node()
        self.client.set(f'{NODES}/12345', b'no JSON')
        self.assert_kept(launcher, '12345')


class DeclinedRequests(CleaningCase):
    def test_L_08_last_pool_that_had_not_declined_is_gone(self):
        """Say that of a launcher that was killed, which is there until its session ends."""
        launcher = self.start_with(machine('127.0.10.1'))
        other = Session(self.hosts)
        self.addCleanup(other.close)
        other.client.create(f'{POOLS}/gone', encode({
            'id': 'gone', 'name': 'main', 'provider_name': 'gone', 'supported_labels': ['other'],
            'priority': 100, 'state': 'running'}), ephemeral=True)
        self.wait(lambda cluster: len(cluster.pools()) == 2)
        request = self.submit('unknown')
        launcher.wait_for_log(f'{request.id}.*Declined')
        self.write(request.path, state_time=time.time() - 61)
        self.wait_for_cleanup(launcher)
        other.close()
        request.wait('failed')

    def test_L_08_time_to_come_back(self):
        launcher = self.start_with(machine('127.0.10.1'))
        pool, = self.observer.sync().pools().values()
        record = {'state': 'requested', 'state_time': time.time(), 'node_types': ['unknown'],
                  'nodes': [], 'declined_by': [pool['id']], 'requestor': 'test'}
        path = self.client.create(f'{REQUESTS}/200-', encode(record), sequence=True, makepath=True)
        self.wait_for_cleanup(launcher)
        self.assertEqual(self.observer.states(path), ['requested'])
        self.write(path, state_time=time.time() - 61)
        self.wait(lambda cluster: self.observer.states(path) == ['requested', 'failed'])


class LostRequests(CleaningCase):
    def lose(self, *node_states, labels=('l',)):
        """A lost request with nodes in these states allocated to it: (id, ids of the nodes)."""
        request_id, lock = self.make_pending(*labels)
        nodes = [self.make_node(state, 60, allocated_to=request_id) for state in node_states]
        lock.release()
        return request_id, nodes

    def test_L_76_with_a_ready_node(self):
        launcher = self.start_with(machine('127.0.10.1'))
        node_id, = self.observer.sync().ready_nodes()
        request_id, lock = self.make_pending('l')
        self.write_locked(node_id, allocated_to=request_id)
        self.assert_kept(launcher, node_id)
        lock.release()
        record = self.wait_for_request(request_id)
        self.assertEqual((record['nodes'], record['declined_by']), ([node_id], ['somebody']))
        launcher.wait_for_log(f'INFO .*e: lost.*{request_id}.*Reset lost node request')
        self.assertEqual(self.observer.states(f'{REQUESTS}/{request_id}')[-3:],
                         ['pending', 'requested', 'fulfilled'])

    def test_L_77_with_an_unready_node(self):
        self.start_with(machine('127.0.10.1'))
        request_id, nodes = self.lose('init', 'building')
        self.wait_for_request(request_id)
        for node_id in nodes:
            self.wait_for_gone(node_id)
        self.assertEqual(self.observer.states(f'{NODES}/{nodes[0]}'), ['init', 'deleting', None])

    def test_L_78_with_a_node_that_somebody_has_locked(self):
        launcher = self.start_with(machine('127.0.10.1'))
        request_id, request_lock = self.make_pending('l')
        node_id, other = (self.make_node(state, 60, allocated_to=request_id)
                          for state in ('ready', 'init'))
        lock = self.lock(f'{NODES}/{node_id}/lock')
        request_lock.release()
        launcher.wait_for_log(f'WARNING .*{request_id}.*Cannot lock node {node_id}', count=2)
        self.make_empty_node()
        self.wait(lambda cluster: cluster.tree.get(f'{NODES}/12345') is None)
        self.assertEqual(self.observer.sync().request(request_id)['state'], 'pending')
        self.assertEqual(self.observer.cluster.node(other)['state'], 'init')
        lock.release()
        self.wait_for_request(request_id)
        self.assertEqual(self.owners(node_id), [request_id, None])
        self.wait_for_gone(other)

    def test_request_that_somebody_serves(self):
        launcher = self.start_with(machine('127.0.10.1'))
        request_id, lock = self.make_pending('l')
        before = self.observer.sync().tree.get(f'{REQUESTS}/{request_id}').version
        self.wait_for_cleanup(launcher, 3)
        self.assertEqual(self.observer.sync().tree.get(f'{REQUESTS}/{request_id}').version, before)
        lock.release()
        self.wait_for_request(request_id)

    def test_request_that_a_dead_session_served(self):
        """From the moment on that the server ends the session."""
        launcher = self.start_with(machine('127.0.10.1'))
        server_of_it = Session(self.hosts)
        request_id, _ = self.make_pending('l', client=server_of_it.client)
        self.wait_for_cleanup(launcher)
        self.assertEqual(self.observer.sync().request(request_id)['state'], 'pending')
        server_of_it.die()
        self.wait_for_request(request_id)

    def test_many_at_once_for_two_launchers(self):
        """Each is reset once; nobody complains about the other."""
        launchers = [self.launcher(provider('p', machines(5))) for _ in range(2)]
        self.wait_for_ready(5)
        requests = [f'{REQUESTS}/{self.lose("init")[0]}' for _ in range(30)]
        for path in requests:
            self.wait(lambda cluster, name=path: 'requested' in self.observer.states(name))
        for path in requests:
            self.client.delete(path)
        self.wait(lambda cluster: len(cluster.nodes()) == len(cluster.ready_nodes()) == 5)
        for path in requests:
            self.assertEqual(self.observer.states(path).count('requested'), 1)
        for launcher in launchers:
            self.assertEqual(launcher.find_log(' (WARNING|ERROR) '), [])


class VanishedRequests(CleaningCase):
    """The deleter's part, which does not wait for a cleanup."""

    def test_L_79_allocated_to_nothing(self):
        self.start_with(machine('127.0.10.1'), cleanup_interval=600)
        node_id, = self.observer.sync().ready_nodes()
        self.write_locked(node_id, allocated_to=MISSING)
        self.wait(lambda cluster: cluster.ready_nodes() == [node_id], what='freed')

    def test_R_03_two_launchers_free_a_node_once(self):
        for _ in range(2):
            self.launcher(provider('p', machines(1)))
        self.wait_for_ready(1)
        node_id, = self.observer.sync().ready_nodes()
        for _ in range(20):
            mark = self.observer.mark()
            self.write_locked(node_id, allocated_to=MISSING)
            self.wait(lambda cluster: cluster.ready_nodes() == [node_id])
            # It is given away at once: a second freeing would take it from its new owner.
            run_job(self.scheduler, self.executor, ['l'])
            owners = self.owners(node_id, mark)
            self.assertEqual(owners[:2], [MISSING, None])
            self.assertNotIn(None, owners[2:])
            node_id, = self.wait_for_ready(1)


class RequestLocks(CleaningCase):
    own_server = True

    def test_L_86_Z_52_stale_locks(self):
        gone, kept = f'{REQUEST_LOCKS}/200-8000000001', f'{REQUEST_LOCKS}/200-8000000002'
        held = f'{REQUEST_LOCKS}/200-8000000003'
        asked_for = self.submit('l')
        wanted = f'{REQUEST_LOCKS}/{asked_for.id}'
        for path in (gone, kept, held, wanted):
            self.client.ensure_path(path)
        self.client.create(f'{gone}/left-over')
        self.age({gone: 9, kept: 7, held: 9, wanted: 9})
        lock = self.lock(held)
        launcher = self.launcher(provider('p', machines(1, 'm')))
        self.wait(lambda cluster: cluster.tree.get(gone) is None)
        launcher.wait_for_log(f'INFO .*Deleted stale request lock {gone}')
        self.wait_for_cleanup(launcher)
        for path in (kept, held, wanted):
            self.assertIsNotNone(self.observer.sync().tree.get(path))
        lock.release()
        self.wait(lambda cluster: cluster.tree.get(held) is None)

    def age(self, hours):
        self.server.kill()
        for path, count in hours.items():
            backdate(f'{self.server.folder}/data', self.chroot + path, count * 3600)
        self.server.start()

    def test_connection_lost_meanwhile(self):
        launcher = self.start_with(machine('127.0.10.1'))
        self.server.kill()
        launcher.wait_for_log('suspended')
        self.server.start()
        self.make_empty_node()
        self.wait(lambda cluster: cluster.tree.get(f'{NODES}/12345') is None)
        self.assertEqual(launcher.find_log('ERROR .*Clean'), [])


class Independence(CleaningCase):
    def test_L_87_one_task_fails(self):
        launcher = self.start_with(machine('127.0.10.1'))
        self.client.set_acls(REQUEST_LOCKS, [ACL(Permissions.ALL & ~Permissions.READ,
                                                 Id('world', 'anyone'))])
        launcher.wait_for_log('ERROR .*Cleaning stale request locks failed at '
                              f'{REQUEST_LOCKS}: not authenticated')
        self.make_empty_node()
        request_id, lock = self.make_pending('l')
        lock.release()
        self.wait(lambda cluster: cluster.tree.get(f'{NODES}/12345') is None)
        self.wait_for_request(request_id)

    def test_L_87_one_object_fails(self):
        launcher = self.start_with(machine('127.0.10.1'))
        self.make_empty_node()
        self.client.create(f'{NODES}/12345/x')
        self.client.set_acls(f'{NODES}/12345', [ACL(Permissions.READ, Id('world', 'anyone'))])
        launcher.wait_for_log('ERROR .*Cleaning empty nodes failed at .*12345')
        self.make_empty_node('12346')
        self.wait(lambda cluster: cluster.tree.get(f'{NODES}/12346') is None)


class Orphans(CleaningCase):
    def test_L_88_init_node_of_an_unknown_launcher(self):
        launcher = self.start_with(machine('127.0.10.1'))
        old, young = self.make_node('init', 11 * 60), self.make_node('init', 60)
        locked = self.make_node('init', 60)
        lock = self.lock(f'{NODES}/{locked}/lock')
        self.write(f'{NODES}/{locked}', state_time=1.0)
        self.wait_for_gone(old)
        self.assertEqual(self.observer.states(f'{NODES}/{old}'), ['init', 'deleting', None])
        launcher.wait_for_log(f'{locked}.*left as it is: busy')
        self.assert_kept(launcher, young, locked)
        lock.release()
        self.wait_for_gone(locked)

    def test_L_88_init_node_of_a_launcher_that_lives(self):
        launcher = self.start_with(machine('127.0.10.1'))
        pool, = self.observer.sync().pools().values()
        waiting = self.submit('l', 'l')
        wanted = self.make_node('init', allocated_to=waiting.id, launcher=pool['id'])
        self.assert_kept(launcher, wanted)
        waiting.cancel()
        self.wait_for_gone(wanted)
        self.wait_for_gone(self.make_node('init', launcher=pool['id']))

    def test_L_89_node_of_an_unknown_provider(self):
        launcher = self.start_with(machine('127.0.10.1'), labels=[
            {'name': 'l'}, {'name': 'other', 'max-ready-age': 1}], max_hold_age=1)
        foreign = [self.make_node(state, provider=name, allocated_to=owner, hold_expiration=1)
                   for state in STATES for name in ('foreign', None) for owner in (None, MISSING)]
        self.assert_kept(launcher, *foreign)


if __name__ == '__main__':
    unittest.main(verbosity=2)
