"""Standby nodes: `min-ready` of a label, asked for by the launcher itself."""

import json
import signal
import unittest

from cloud import Cloud, label, pool
from launcher import machines, provider
from launcher_case import LauncherCase
from zuul_client import NODES, REQUESTS

FIELDS = {'state', 'state_time', 'node_types', 'nodes', 'declined_by', 'reuse', 'requestor',
          'requestor_data', 'provider', 'relative_priority', 'event_id', 'created_time',
          'tenant_name'}
SHORT = 2


def wanted(**labels):
    """The `labels` section: name=min-ready."""
    return [{'name': name, 'min-ready': count} for name, count in labels.items()]


class StandbyCase(LauncherCase):
    settings = {}  # of the cloud

    def setUp(self):
        super().setUp()
        self.cloud = Cloud(**self.settings).start()
        self.addCleanup(self.cloud.close)

    def start(self, names='l', labels=None, provider_options=None, **options):
        """A launcher whose cloud offers the labels."""
        offered = self.cloud.provider('p', labels=[label(name) for name in names],
                                      **(provider_options or {}))
        return self.launcher(offered, labels=labels or wanted(l=2), **options)

    def made(self, since=0):
        """(time, operation) of each request for a standby node that was ever made."""
        with self.observer.changed:
            return [(transaction.time, operation)
                    for transaction, operations in self.observer.history[since:]
                    for operation in operations
                    if operation.kind == 'create' and operation.path.startswith(f'{REQUESTS}/900-')]

    def wait_for_made(self, count, since=0, limit=30):
        self.wait(lambda cluster: len(self.made(since)) >= count, limit, f'{count} requests')

    def wait_for_standby(self, count, label_name='l'):
        """Until so many nodes are free, and nothing is asked for."""
        self.wait(lambda cluster: len(cluster.ready_nodes(label_name)) == count and
                  not cluster.requests(), what=f'{count} standby nodes')
        return self.observer.cluster.ready_nodes(label_name)

    def assert_nothing_made(self, launcher, passes=5, since=0):
        before = len(self.made(since))
        for _ in range(passes):
            mark = launcher.mark()
            launcher.signal(signal.SIGHUP)
            launcher.wait_for_log('Using the configuration', mark)
        self.observer.sync()
        self.assertEqual(len(self.made(since)), before)


class Keeping(StandbyCase):
    def test_L_64_Z_10_two_nodes(self):
        launcher = self.start()
        nodes = self.wait_for_standby(2)
        self.assertEqual(len(self.made()), 2)
        for _, operation in self.made():
            record = json.loads(operation.data)
            self.assertTrue(operation.ephemeral)
            self.assertEqual(set(record), FIELDS)
            self.assertEqual((record['node_types'], record['reuse'], record['requestor'],
                              record['state']), (['l'], False, 'NodePool:min-ready', 'requested'))
            self.assertRegex(record['event_id'], r'^[0-9a-f]{32}$')
            self.assertEqual(self.observer.states(operation.path),
                             ['requested', 'pending', 'fulfilled', None])
        launcher.wait_for_log(r' INFO nodepool\.NodePool: Created requests for 2 l nodes')
        self.assertEqual(len(self.cloud.machines()), 2)
        self.assertEqual({self.observer.cluster.node(node)['tenant_name'] for node in nodes}, {None})
        self.assert_nothing_made(launcher)

    def test_L_65_one_is_taken(self):
        self.start()
        nodes = self.wait_for_standby(2)
        mark = self.observer.mark()
        request = self.submit('l')
        self.assertIn(request.wait('fulfilled')['nodes'][0], nodes)
        self.executor.accept(request.id).use()
        self.wait_for_standby(2)
        self.assertEqual(len(self.made(mark)), 1)

    def test_L_66_none(self):
        launcher = self.start('lm', wanted(l=0, m=-1))
        self.wait_for_pools('p-main')
        self.assert_nothing_made(launcher)
        self.assertEqual(self.observer.sync().nodes(), {})

    def test_labels_that_nobody_here_can_make(self):
        launcher = self.launcher(provider('s', machines(1)), labels=wanted(l=2, elsewhere=1))
        self.wait_for_ready(1)
        self.assert_nothing_made(launcher)

    def test_several_labels(self):
        self.start('lm', wanted(l=1, m=3))
        self.wait(lambda cluster: (len(cluster.ready_nodes('l')), len(cluster.ready_nodes('m'))) ==
                  (1, 3) and not cluster.requests())

    def test_more_is_wanted_later(self):
        launcher = self.start(labels=wanted(l=1))
        self.wait_for_standby(1)
        launcher.reload([self.cloud.provider('p')], labels=wanted(l=3))
        self.wait_for_standby(3)
        launcher.reload([self.cloud.provider('p')], labels=wanted(l=0))
        request = self.submit('l')
        request.wait('fulfilled')
        mark = self.observer.mark()
        self.executor.accept(request.id).use()
        self.assert_nothing_made(launcher, since=mark)

    def test_L_71_over_its_age(self):
        self.start(labels=[{'name': 'l', 'min-ready': 1, 'max-ready-age': 2}], cleanup_interval=1)
        first, = self.wait_for_standby(1)
        self.wait_for_gone(first)
        self.wait_for_standby(1)
        self.wait_for_made(2)

    def test_F_61_idle_nodes_are_gone(self):
        """What ten jobs leave behind idles for its time; then there is nothing any more."""
        launcher = self.start(labels=[{'name': 'l', 'min-ready': 0, 'max-ready-age': 2}],
                              cleanup_interval=1)
        requests = [self.submit('l') for _ in range(10)]
        for request in requests:
            request.wait('fulfilled')
            self.executor.refuse(request.id)
        self.wait(lambda cluster: not cluster.nodes(), what='no nodes')
        self.cloud.wait_for_machines(0)
        self.assert_nothing_made(launcher)

    def test_L_70_fails_again_and_again(self):
        self.cloud.faults({'method': 'POST', 'path': '^/machines$', 'status': 500,
                           'body': {'error': 'broken'}})
        self.start(labels=wanted(l=1), provider_options={'launch_retries': 1})
        self.wait_for_made(4, limit=60)
        times = [time for time, _ in self.made()]
        gaps = [later - sooner for sooner, later in zip(times, times[1:])]
        for gap, least in zip(gaps, (1, 2, 4)):
            self.assertGreaterEqual(gap, least)
        self.cloud.faults()
        self.wait_for_standby(1)

    def test_F_23_nothing_can_be_had(self):
        """All are tried once, then one now and then; and it is said once, not at each attempt."""
        self.cloud.faults({'method': 'POST', 'path': '^/machines$', 'status': 503,
                           'body': 'There is no capacity left'})
        launcher = self.start(labels=wanted(l=5), provider_options={'launch_retries': 2})
        self.wait_for_made(8, limit=90)
        times = [time for time, _ in self.made()]
        self.assertLess(times[4] - times[0], 0.5)
        gaps = [later - sooner for sooner, later in zip(times[4:], times[5:8])]
        for gap, least in zip(gaps, (1, 2, 4)):
            self.assertGreaterEqual(gap, least)
        self.wait(lambda cluster: not cluster.requests())
        made = len(self.made())
        self.assertEqual(len(self.cloud.creates()), 2 * made)
        self.assertEqual(len(launcher.find_log('(WARNING|ERROR) .*no capacity')), 1)
        self.assertEqual(len(launcher.find_log(' DEBUG .*attempt.*no capacity')), 2 * made - 1)
        # Another cause is news, and so is the same one after a success.
        self.cloud.faults({'method': 'POST', 'path': '^/machines$', 'status': 503,
                           'body': 'There is no capacity in this zone'})
        launcher.wait_for_log('(WARNING|ERROR) .*in this zone', limit=90)
        self.cloud.faults()
        self.wait(lambda cluster: len(cluster.ready_nodes('l')) == 5, limit=90)

    def test_L_42_pool_is_full(self):
        self.start(labels=wanted(l=3), provider_options={'pools': [
            pool(labels=[label('l')], max_servers=2)]})
        self.wait(lambda cluster: len(cluster.ready_nodes()) == 2)
        self.wait(lambda cluster: any(self.observer.states(operation.path)[-2:] == ['failed', None]
                                      for _, operation in self.made()))
        self.assertFalse(any(record['paused'] for record in self.observer.cluster.pools().values()))
        self.assertEqual(len(self.cloud.machines()), 2)


class Images(StandbyCase):
    settings = {'cloud_images': []}

    def test_L_67_image_comes_later(self):
        launcher = self.start(labels=wanted(l=1))
        self.wait_for_pools('p-main')
        self.assert_nothing_made(launcher)
        self.cloud.settings(cloud_images=['plain'])
        self.wait_for_standby(1)


class Slow(StandbyCase):
    """Requests are outstanding for a while."""

    settings = {'active_after': 3}

    def test_L_69_second_launcher(self):
        first = self.start(labels=wanted(l=1))
        self.wait_for_made(1)
        second = self.start(labels=wanted(l=1))
        self.wait(lambda cluster: len(cluster.pools()) == 2)
        self.wait_for_standby(1)
        for launcher in (first, second):
            self.assert_nothing_made(launcher)
        self.assertEqual(len(self.made()), 1)

    def test_session_ends_meanwhile(self):
        self.cloud.settings(active_after=60)
        launcher = self.start(labels=wanted(l=1))
        self.cloud.wait_for_machines(1)
        (_, first), = self.made()
        self.cloud.settings(active_after=0)  # of those to come
        launcher.lose_session()
        self.wait(lambda cluster: cluster.tree.get(first.path) is None)
        self.wait_for_standby(1)
        self.wait(lambda cluster: len(cluster.nodes()) == 1)
        self.cloud.wait_for_machines(1)
        self.assertEqual(len(self.made()), 2)

    def test_killed_meanwhile_with_the_session_kept(self):
        launcher = self.start(labels=wanted(l=2), cleanup_interval=1)
        self.wait_for_made(2)
        self.wait(lambda cluster: len(cluster.requests('pending')) == 2)
        launcher.kill()
        launcher.start()
        self.wait_for_standby(2)
        self.wait(lambda cluster: len(cluster.nodes()) == 2)
        self.cloud.wait_for_machines(2)

    def test_killed_meanwhile_with_the_session_lost(self):
        """What was made for the requests of the dead session is not wasted."""
        launcher = self.start(labels=wanted(l=2), state=False, timeout=SHORT)
        self.wait_for_made(2)
        launcher.kill()
        launcher.start()
        self.wait(lambda cluster: 2 <= len(cluster.nodes()) == len(cluster.ready_nodes()) and
                  not cluster.requests())
        self.cloud.wait_for_machines(len(self.observer.sync().nodes()))

    def test_not_wanted_any_more(self):
        launcher = self.start(labels=wanted(l=1))
        self.wait_for_made(1)
        launcher.reload([self.cloud.provider('p')], labels=wanted(l=0))
        self.wait_for_standby(1)


class SeveralLaunchers(StandbyCase):
    def test_L_69_one_for_each_that_is_taken(self):
        launchers = [self.start(labels=wanted(l=2)) for _ in range(3)]
        self.wait(lambda cluster: len(cluster.pools()) == 3)
        self.wait_for_standby(2)
        for _ in range(8):
            mark = self.observer.mark()
            request = self.submit('l')
            request.wait('fulfilled')
            nodes = self.executor.accept(request.id)
            nodes.use()
            self.wait_for_standby(2)
            nodes.give_back()
            self.wait(lambda cluster: len(cluster.nodes()) == 2)
            self.assertEqual(len(self.made(mark)), 1)
        for launcher in launchers:
            self.assert_nothing_made(launcher)


class ServedByAnother(StandbyCase):
    """One launcher asks and is stopped for a moment, the other one serves."""

    def setUp(self):
        super().setUp()
        idle = self.cloud.provider('idle', labels=[label('l'), label('m')], max_concurrency=0)
        self.asking = self.launcher(idle, labels=wanted(l=1, m=0), timeout=30)
        self.wait_for_made(1)
        self.asking.signal(signal.SIGSTOP)
        self.addCleanup(lambda: self.asking.process and self.asking.signal(signal.SIGCONT))
        self.launcher(self.cloud.provider('p', labels=[label('l'), label('m')]))
        self.wait(lambda cluster: cluster.requests('fulfilled'), what='fulfilled')
        (self.request_id, record), = self.observer.cluster.requests('fulfilled').items()
        self.node_id, = record['nodes']

    def go_on(self):
        self.asking.signal(signal.SIGCONT)

    def test_L_68_node_is_gone(self):
        self.client.delete(f'{NODES}/{self.node_id}', recursive=True)
        self.go_on()
        self.wait(lambda cluster: cluster.request(self.request_id) is None)
        self.asking.reload([self.cloud.provider('idle', labels=[label('l'), label('m')],
                                                max_concurrency=0)], labels=wanted(l=1, m=1))
        self.wait(lambda cluster: len(cluster.ready_nodes('l')) == 1 and
                  len(cluster.ready_nodes('m')) == 1 and not cluster.requests())

    def test_node_is_locked(self):
        """Its lock is not waited for; who has it gives the node back."""
        lock = self.lock(f'{NODES}/{self.node_id}/lock')
        self.go_on()
        self.wait(lambda cluster: cluster.request(self.request_id) is None)
        self.assertEqual(self.observer.sync().node(self.node_id)['allocated_to'], self.request_id)
        lock.release()
        self.wait(lambda cluster: self.node_id in cluster.ready_nodes())

    def tearDown(self):
        self.go_on()
        super().tearDown()


if __name__ == '__main__':
    unittest.main(verbosity=2)
