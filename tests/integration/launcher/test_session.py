"""Trouble with the connection, the session and the process: what is written rests on locks that are
held, and everybody's request is served in the end."""

import socket
import time
import unittest

from crowd import Crowd
from launcher import machine, machines, provider
from launcher_case import LIMIT, LauncherCase, is_full, seed_of
from proxy import Proxy
from zuul_client import NODES, encode, run_job

SHORT = 2  # seconds: the time-out of sessions that are meant to end


def session_of(cluster):
    """Who registered the pools."""
    return {cluster.tree.get(f'/nodepool/components/pool/{name}').owner for name in cluster.pools()}


class Listener:
    """Accepts connections until it goes deaf: then the kernel drops whoever wants to connect."""

    def __init__(self):
        self.socket = socket.create_server(('127.0.0.1', 0), backlog=50)
        self.port = self.socket.getsockname()[1]
        self.fillers = []

    def go_deaf(self):
        self.socket.listen(0)
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(self.socket.getsockname())
            self.fillers.append(filler)

    def close(self):
        for one in (*self.fillers, self.socket):
            one.close()


class Session(LauncherCase):
    own_server = True

    def test_Z_36_L_100_session_ends_at_the_server(self):
        launcher = self.start_with(*machines(2))
        before = self.observer.sync().pools()
        session, = session_of(self.observer.cluster)
        held = self.job('l')
        launcher.lose_session()
        self.wait(lambda cluster: cluster.pools() and session not in session_of(cluster))
        after = self.observer.sync().pools()
        self.assertNotEqual(set(before), set(after))
        self.assertEqual([pool['id'] for pool in before.values()],
                         [pool['id'] for pool in after.values()])
        run_job(self.scheduler, self.executor, ['l'])
        held.give_back()
        self.wait_for_ready(2)

    def test_L_100_session_ends_again_and_again_under_load(self):
        random = seed_of(self)
        launcher = self.start_with(*machines(5, max_parallel_jobs=2), count=10, debug=False)
        crowd = Crowd(self.hosts, random, workers=4, most_nodes=2).start()
        for _ in range(60 if is_full() else 15):
            mark = launcher.mark()
            launcher.lose_session()
            launcher.wait_for_log('connection established', mark)
            crowd.wait_for_served(3)
        crowd.stop()
        crowd.join()
        self.wait_for_ready(10)

    def test_Z_37_L_101_connection_lost_for_a_moment(self):
        launcher = self.start_with(*machines(5, max_parallel_jobs=2), count=10)
        before = self.observer.sync().pools()
        requests = [self.submit('l') for _ in range(20)]
        self.server.kill()
        launcher.wait_for_log('suspended')
        self.server.start()
        for request in requests:
            request.wait('fulfilled')
            self.executor.refuse(request.id)
        self.wait_for_ready(10)
        self.assertEqual(self.observer.sync().pools(), before)
        self.assertEqual(launcher.find_log('session lost'), [])

    def test_F_51_F_53_answers_lost_under_load(self):
        random = seed_of(self)
        proxy = Proxy(self.server.port)
        self.addCleanup(proxy.close)
        launcher = self.start_with(*machines(4, max_parallel_jobs=2), count=8, debug=False,
                                   port=proxy.port)
        crowd = Crowd(self.hosts, random, workers=4, most_nodes=2).start()
        for _ in range(300 if is_full() else 30):
            mark = launcher.mark()
            proxy.lose_answer()
            launcher.wait_for_log('connection established', mark)
            crowd.wait_for_served(random.randint(0, 2))
        crowd.stop()
        crowd.join()
        self.wait_until_settled(8, LIMIT)
        self.assertEqual(self.observer.sync().contenders(), [])
        self.assertEqual(launcher.find_log('session lost'), [])

    def test_server_away_for_longer_than_the_session(self):
        proxy = Proxy(self.server.port)
        self.addCleanup(proxy.close)
        launcher = self.start_with(*machines(2), timeout=SHORT, port=proxy.port)
        nodes = self.job('l')
        proxy.cut()
        launcher.wait_for_log('suspended')
        # Longer than two sessions; the launcher says every ten seconds that it still tries.
        launcher.wait_for_log('WARNING .*Retrying zookeeper connection', count=1)
        proxy.mend()
        nodes.give_back()
        self.wait_for_ready(2)
        self.wait_for_pools('p-main')
        run_job(self.scheduler, self.executor, ['l', 'l'])
        self.wait_for_ready(2)

    def test_L_103_reconnection_with_many_nodes(self):
        """A launcher that reads everything again fails nothing that the other one can serve."""
        first = self.launcher(provider('p', machines(1)))
        self.launcher(provider('q', machines(1, 'm', 11)))
        self.wait_for_ready(2)
        foreign = encode({'state': 'in-use', 'provider': 'foreign', 'pool': 'main', 'type': ['x'],
                          'state_time': time.time()})
        made = [self.client.create_async(f'{NODES}/', foreign, sequence=True)
                for _ in range(5000)]
        for answer in made:
            answer.get(60)
        for _ in range(3):
            first.lose_session()
            self.assert_served('m', 'm', 'm')  # the second one is there all the time
            self.wait_for_pools('p-main', 'q-main')
            self.server.restart()
            self.assert_served('l', 'm', 'l', 'm')
        impossible = self.submit('unknown').wait('failed', limit=60)
        self.assertEqual(len(impossible['declined_by']), 2)

    def assert_served(self, *labels):
        """Requests of one label each, which nobody fails meanwhile."""
        requests = [self.submit(label) for label in labels]
        for request in requests:
            request.wait('fulfilled', limit=60)
            self.observer.sync()
            self.assertEqual(self.observer.states(request.path), ['requested', 'fulfilled'])
            self.executor.refuse(request.id)

    def test_Z_08_server_comes_later(self):
        self.server.kill()
        launcher = self.launcher(provider('p', machines(1)))
        launcher.wait_for_log('Provider p started')
        self.server.start()
        self.wait_for_ready(1)
        run_job(self.scheduler, self.executor, ['l'])

    def test_server_killed_at_random(self):
        random = seed_of(self)
        self.start_with(*machines(5, max_parallel_jobs=2), count=10, debug=False)
        crowd = Crowd(self.hosts, random, workers=4, most_nodes=2, timeout=30).start()
        for _ in range(30 if is_full() else 6):
            crowd.wait_for_served(random.randint(1, 15))
            self.server.restart()
        crowd.stop()
        crowd.join()
        self.wait_for_ready(10)
        self.wait(lambda cluster: not cluster.requests())

    def test_Z_34_L_104_stopped_past_its_session_beside_a_rival(self):
        random = seed_of(self)
        nodes = machines(4, max_parallel_jobs=2)
        first = self.launcher(provider('p', nodes), timeout=SHORT, debug=False)
        self.wait_for_ready(8)
        for _ in range(5 if is_full() else 2):
            crowd = Crowd(self.hosts, random, workers=4, most_nodes=2).start()
            crowd.wait_for_served(10)
            sessions = session_of(self.observer.sync())
            mark = first.mark()
            with first.frozen():
                second = self.launcher(provider('p', nodes), timeout=SHORT, debug=False)
                self.wait(lambda cluster: cluster.pools() and not session_of(cluster) & sessions,
                          what='the first session to end')
                crowd.wait_for_served(20)
            first.wait_for_log('session lost', mark)
            self.wait(lambda cluster: len(cluster.pools()) == 2)
            crowd.stop()
            crowd.join()
            second.stop()
            self.wait_for_ready(8)

    def test_L_105_orderly_stop(self):
        slow = Listener()
        self.addCleanup(slow.close)
        launcher = self.start_with(
            *machines(2), machine('127.0.0.1', 'slow', checked=True, timeout=60,
                                  connection_type='winrm', connection_port=slow.port), count=3)
        in_use = self.job('l')
        waiting = self.submit('l', 'l')
        slow.go_deaf()
        checked = self.submit('slow')
        launcher.wait_for_log(f'{checked.id}.*Assigning')
        session, = session_of(self.observer.sync())
        began = time.monotonic()
        self.assertEqual(launcher.stop(), 0)
        self.assertLess(time.monotonic() - began, 20)
        cluster = self.observer.sync()
        self.assertEqual([path for path, znode in cluster.tree.znodes.items()
                          if znode.owner == session], [])
        self.assertEqual((cluster.pools(), cluster.launchers()), ({}, {}))
        self.assertEqual(cluster.contenders(), cluster.contenders(
            self.executor.client.client_id[0]))
        for request in (waiting, checked):
            self.assertEqual(self.observer.states(request.path), ['requested'])
        in_use.give_back()


if __name__ == '__main__':
    unittest.main(verbosity=2)
