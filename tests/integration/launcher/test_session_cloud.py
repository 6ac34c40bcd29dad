"""Machines being made and deleted while the connection, the session or the process goes away: nothing
is written without a lock, every request is served, and no machine is left over."""

import signal
import unittest

from cloud import pool
from cloud_case import CREATE, DELETE, CloudCase
from crowd import Crowd
from launcher_case import is_full, seed_of
from proxy import Proxy
from test_session import session_of
from zuul_client import NODES

SHORT = 2  # seconds: the time-out of sessions that are meant to end


class CloudSession(CloudCase):
    own_server = True

    def start(self, timeout=10, state=True, cleanup_interval=1, port=None, debug=True, **options):
        return super().start(launcher={
            'timeout': timeout, 'state': state, 'cleanup_interval': cleanup_interval,
            'port': port, 'debug': debug}, **options)

    def launching(self, count=1, after=3600, **options):
        """Requests whose machines are being made, and have an external id."""
        self.cloud.faults({**CREATE, 'machine': {'after': after}})
        requests = [self.submit('l', **options) for _ in range(count)]
        self.wait(lambda cluster: len(cluster.nodes(state='building')) == count and
                  all(node['external_id'] for node in cluster.nodes().values()))
        return requests

    def assert_served(self, requests, limit=60):
        for request in requests:
            request.wait('fulfilled', limit=limit)
        self.wait_for_books(limit)
        self.assertEqual(len(self.cloud.machines()), len(requests))
        self.assertEqual(self.observer.sync().contenders(), [])

    # ---- Session ----

    def test_L_100_SM_53_session_lost_during_a_launch(self):
        launcher = self.start()
        requests = self.launching(3)
        old, = session_of(self.observer.sync())
        ids = set(self.observer.cluster.nodes())
        mark = self.observer.mark()
        self.cloud.faults()
        launcher.lose_session()
        self.assert_served(requests)
        self.wait(lambda cluster: not ids & set(cluster.nodes()))
        # The end of the session itself unlocks them.
        written = [operation for transaction, operations in self.observer.history[mark:]
                   for operation in operations
                   if transaction.session == old and transaction.kind != 'end'
                   and operation.path.startswith(f'{NODES}/')]
        self.assertEqual(written, [])

    def test_L_100_session_lost_while_a_request_waits(self):
        launcher = self.start(pools=[pool(max_servers=1)])
        nodes = self.use(self.submit('l'))
        waiting = self.submit('l')
        self.wait_for_paused()
        launcher.lose_session()
        self.wait_for_paused(False)
        waiting.wait('pending')
        self.wait_for_paused()
        nodes.give_back()
        self.assert_served([waiting])

    def test_L_100_session_lost_during_deletions(self):
        launcher = self.start()
        requests = [self.submit('l') for _ in range(3)]
        for request in requests:
            request.wait('fulfilled')
        self.cloud.settings(delete_after=2)
        for request in requests:
            self.give_back(request)
        self.wait(lambda cluster: len(cluster.nodes(state='deleting')) == 3)
        launcher.lose_session()
        self.wait_for_no_nodes()
        self.cloud.wait_for_machines(0)

    def test_L_101_connection_lost_during_launches(self):
        launcher = self.start()
        requests = self.launching(20, after=3)
        ids = set(self.observer.sync().nodes())
        self.server.kill()
        launcher.wait_for_log('suspended')
        self.cloud.faults()
        self.server.start()
        for request in requests:
            request.wait('fulfilled', limit=60)
        self.assertEqual(set(self.observer.sync().nodes()), ids)
        self.assertEqual(len(self.creates()), 20)
        self.assertEqual(launcher.find_log('session lost'), [])
        self.assert_served(requests)

    def test_L_101_results_while_the_connection_is_away(self):
        """Machines become ready meanwhile, or fail."""
        launcher = self.start()
        self.cloud.faults({**CREATE, 'times': 3, 'machine': {'after': 1, 'error': 'broken'}},
                          {**CREATE, 'machine': {'after': 1}})
        requests = [self.submit('l') for _ in range(6)]
        self.cloud.wait_for_machines(6)
        self.server.kill()
        self.cloud.wait(lambda state: all(machine['state'] != 'BUILD'
                                          for machine in state['machines']))
        self.server.start()
        self.assert_served(requests)
        self.assertEqual(launcher.find_log('session lost'), [])

    def lose_answers(self, random, times, crowd, launcher, proxy):
        for _ in range(times):
            mark = launcher.mark()
            proxy.lose_answer()
            launcher.wait_for_log('connection established', mark)
            crowd.wait_for_served(random.randint(0, 2))

    def test_F_51_F_53_answers_lost_under_load(self):
        """Every write may be the one whose answer is lost."""
        random = seed_of(self)
        self.cloud.limits(instances=6)
        proxy = Proxy(self.server.port)
        self.addCleanup(proxy.close)
        launcher = self.start(port=proxy.port, debug=False)
        crowd = Crowd(self.hosts, random, workers=4, most_nodes=2).start()
        self.lose_answers(random, 300 if is_full() else 40, crowd, launcher, proxy)
        crowd.stop()
        crowd.join()
        self.assert_quiet()
        self.assertEqual(launcher.find_log('session lost'), [])
        # Nobody's request failed or was begun anew because of it.
        self.assertEqual(launcher.find_log('Declining|Reset lost'), [])

    def assert_quiet(self):
        """Nothing but free nodes, and their machines."""
        self.wait(lambda cluster: not cluster.requests() and
                  len(cluster.nodes()) == len(cluster.ready_nodes()), 60)
        self.wait_for_books(60)
        self.assertEqual(self.observer.sync().contenders(), [])

    def test_L_104_stopped_past_the_session(self):
        launcher = self.start(timeout=SHORT, state=False)
        requests = self.launching(2)
        old, = session_of(self.observer.sync())
        self.cloud.faults()
        with launcher.frozen():
            self.wait(lambda cluster: not cluster.pools())
            mark = self.observer.mark()
        self.assert_served(requests)
        self.assertEqual([transaction for transaction, operations in self.observer.history[mark:]
                          if transaction.session == old and operations], [])

    # ---- Stop ----

    def assert_stopped(self, launcher):
        session, = session_of(self.observer.sync())
        self.assertEqual(launcher.stop(), 0)
        cluster = self.observer.sync()
        self.assertEqual((cluster.pools(), cluster.launchers(), cluster.contenders(session)),
                         ({}, {}, []))
        self.assertEqual(cluster.requests('pending'), {})

    def test_L_105_stopped_with_work_under_way(self):
        launcher = self.start(pools=[pool(max_servers=4)], state=False)
        ready = self.submit('l')
        self.refuse(ready)
        self.use(self.submit('l', reuse=False))
        # The free node, and one that is being made; then one that waits.
        self.cloud.faults({**CREATE, 'machine': {'after': 30}})
        mixed, waiting = self.submit('l', 'l'), self.submit('l', 'l')
        self.wait_for_paused()
        self.wait(lambda cluster: len(cluster.nodes(state='building')) == 2)
        self.assert_stopped(launcher)
        self.assertEqual(sorted(self.observer.cluster.requests()), sorted([mixed.id, waiting.id]))
        self.assertEqual(len(self.observer.cluster.ready_nodes()), 1)
        # The next one serves them, and what was begun is gone.
        self.cloud.faults()
        mixed.cancel()
        launcher.start()
        self.nodes_of(waiting)
        self.wait(lambda cluster: not cluster.nodes(state='building'))
        self.wait_for_books()

    def test_L_105_stopped_in_each_stage(self):
        random = seed_of(self)
        launcher = self.start(state=False)
        for _ in range(10):
            request = self.submit('l', 'l', reuse=False)
            self.observer.wait(lambda _, count=random.randint(1, 12):
                               len(self.observer.changes(request.path)) > 1 or count < 6)
            for _ in range(random.randint(0, 12)):
                self.client.exists('/')
            self.assert_stopped(launcher)
            launcher.start()
            self.wait_for_pools('p-main')
            self.nodes_of(request, 60)
            self.give_back(request)
        self.wait_for_no_nodes()
        self.cloud.wait_for_machines(0)

    def test_F_63_stopped_during_deletions(self):
        launcher = self.start(state=False)
        requests = [self.submit('l') for _ in range(5)]
        self.cloud.settings(delete_after=3)
        for request in requests:
            self.give_back(request)
        self.wait(lambda cluster: len(cluster.nodes(state='deleting')) == 5)
        self.assert_stopped(launcher)
        launcher.start()
        self.wait_for_no_nodes()
        self.cloud.wait_for_machines(0)

    def test_stopped_while_the_cloud_does_not_answer(self):
        launcher = self.start(state=False, call_timeout=60)
        self.refuse(self.submit('l'))
        self.cloud.faults({**CREATE, 'never': 'before'}, {**DELETE, 'never': 'before'})
        request = self.submit('l', reuse=False)
        self.wait(lambda cluster: cluster.nodes(state='building'))
        self.assert_stopped(launcher)
        self.cloud.faults()
        launcher.start()
        self.node_of(request)

    # ---- Killed ----

    def test_SM_60_F_03_F_09_killed_during_a_launch(self):
        launcher = self.start(state=False, timeout=SHORT, resume=False)
        requests = self.launching(2)
        self.cloud.faults()
        launcher.kill()
        launcher.start()
        self.assert_served(requests)

    def test_F_09_killed_before_the_id_was_stored(self):
        launcher = self.start(state=False, timeout=SHORT)
        self.cloud.faults({**CREATE, 'never': 'after'})
        request = self.submit('l')
        self.cloud.wait_for_machines(1)
        launcher.kill()
        self.cloud.faults()
        launcher.start()
        self.assert_served([request])

    def test_L_99_code_that_fails_for_good(self):
        """All pools are decided about in one loop. When that fails for good the process ends; the
        one that follows registers anew and serves what was accepted."""
        launcher = self.start(state=False, timeout=SHORT)
        before, = self.observer.sync().pools()
        requests = self.launching(2)
        launcher.signal(signal.SIGABRT)
        self.assertEqual(launcher.wait_for_exit(), -signal.SIGABRT)
        self.cloud.faults()
        launcher.start()
        self.wait(lambda cluster: len(cluster.pools()) == 1 and before not in cluster.pools())
        self.assert_served(requests)
        for request in requests:
            self.assertEqual(self.observer.states(request.path),
                             ['requested', 'pending', 'requested', 'pending', 'fulfilled'])

    def kill_again_and_again(self, state, times):
        random = seed_of(self)
        self.cloud.limits(instances=6)
        launcher = self.start(state=state, timeout=SHORT, debug=False)
        crowd = Crowd(self.hosts, random, workers=4, most_nodes=2).start()
        for _ in range(times):
            crowd.wait_for_served(random.randint(0, 4))
            with self.observer.changed:
                self.observer.changed.wait(random.random() * 0.3)
            launcher.kill()
            launcher.start()
        crowd.stop()
        crowd.join()
        self.assert_quiet()

    def test_L_102_killed_under_load_session_kept(self):
        self.kill_again_and_again(True, 60 if is_full() else 10)

    def test_L_102_killed_under_load_session_lost(self):
        self.kill_again_and_again(False, 60 if is_full() else 8)


if __name__ == '__main__':
    unittest.main(verbosity=2)
