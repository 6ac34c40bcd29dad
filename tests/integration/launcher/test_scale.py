"""Many requests, several launchers, and a rival: nothing is given twice, nothing is forgotten."""

import threading
import unittest

from kazoo.exceptions import NoNodeError

from crowd import Crowd
from launcher import machines, provider
from launcher_case import LauncherCase, is_full, seed_of
from zuul_client import NODES, REQUEST_LOCKS, Session, encode, run_job

SLOTS = 20


class Rival(threading.Thread):
    """Locks whatever there is, for some round trips, and sometimes takes a free node away.

    Uses kazoo's own lock recipe, as a Python launcher does: lock without waiting, read again, act.
    """

    def __init__(self, test, random):
        super().__init__(name='rival')
        self.observer, self.random = test.observer, random
        self.session = Session(test.hosts)
        self.stopping = threading.Event()
        self.locked = 0
        self.problem = None

    def run(self):
        try:
            while not self.stopping.is_set():
                self.race_once()
        except BaseException as problem:  # raised by finish()
            self.problem = problem
        self.session.close()

    def targets(self):
        """Lock directories of what exists now."""
        with self.observer.changed:
            tree = self.observer.tree
            return [(f'{NODES}/{node_id}/lock', node_id)
                    for node_id in tree.children(NODES)] + \
                   [(f'{REQUEST_LOCKS}/{request_id}', None)
                    for request_id in tree.children('/nodepool/requests')]

    def race_once(self):
        targets = self.targets()
        if not targets:
            self.session.client.exists('/')
            return
        directory, node_id = self.random.choice(targets)
        if node_id and not self.session.exists(f'{NODES}/{node_id}'):
            return  # kazoo would make the node again, empty
        lock = self.session.client.Lock(directory)
        try:
            if not lock.acquire(blocking=False):
                return
        except NoNodeError:  # deleted while kazoo was at it
            return
        self.locked += 1
        for _ in range(self.random.randint(0, 5)):
            self.session.client.exists(directory)
        if node_id and self.random.random() < 0.2:
            self.take_away(node_id)
        lock.release()

    def take_away(self, node_id):
        try:
            record, _ = self.session.read(f'{NODES}/{node_id}')
        except NoNodeError:
            record = None
        if record and record['state'] == 'ready' and record['allocated_to'] is None:
            self.session.client.set(f'{NODES}/{node_id}', encode(dict(record, state='deleting')))

    def finish(self):
        self.stopping.set()
        self.join()
        if self.problem:
            raise self.problem


class Scale(LauncherCase):
    def assert_settled(self, slots):
        """Everything was given back, and nothing is left over."""
        self.wait_until_settled(slots)
        self.assertEqual(self.observer.sync().contenders(), [])

    def test_a_thousand_in_a_row(self):
        self.launcher(provider('p', machines(SLOTS // 2, max_parallel_jobs=2)), debug=False)
        self.wait_for_ready(SLOTS)
        count = 1000 if is_full() else 300
        for _ in range(count):
            run_job(self.scheduler, self.executor, ['l'])
        self.assert_settled(SLOTS)

    def test_a_hundred_at_once(self):
        launcher = self.launcher(provider('p', machines(SLOTS // 2, max_parallel_jobs=2)),
                                 debug=False)
        self.wait_for_ready(SLOTS)
        jobs = [self.job('l') for _ in range(SLOTS)]
        requests = [self.submit('l') for _ in range(100)]
        while launcher.dump()['requests'] < 100:
            pass  # a question and an answer each time
        mark = launcher.mark()
        for job in jobs:
            job.give_back()
        for request in requests:
            request.wait('fulfilled')
            nodes = self.executor.accept(request.id)
            nodes.use()
            nodes.give_back()
        # In their order. One may be assigned twice: its node was not to be had after all.
        assigned = [line.partition('node_request: ')[2].partition(']')[0]
                    for line in launcher.find_log('Assigning', mark)]
        self.assertEqual(list(dict.fromkeys(assigned)), [request.id for request in requests])
        self.assert_settled(SLOTS)

    def test_L_17_two_launchers_beside_each_other(self):
        random = seed_of(self)
        self.launcher(provider('p', machines(5, 'l a', 10, max_parallel_jobs=2)), debug=False)
        self.launcher(provider('q', machines(5, 'l b', 11, max_parallel_jobs=2)), debug=False)
        self.wait_for_ready(SLOTS)
        self.wait_for_pools('p-main', 'q-main')
        # One node each: nobody has both a and b.
        Crowd(self.hosts, random, labels=['l', 'l', 'a', 'b'],
              endings={'normal': 9, 'refuse': 1, 'revise': 1}) \
            .start(1000 if is_full() else 300).join()
        self.assert_settled(SLOTS)

    def test_two_launchers_one_provider(self):
        random = seed_of(self)
        for _ in range(2):
            self.launcher(provider('p', machines(5, max_parallel_jobs=2)), debug=False)
        self.wait_for_ready(10)
        self.wait(lambda cluster: len(cluster.pools()) == 2)
        Crowd(self.hosts, random, most_nodes=2).start(600 if is_full() else 150).join()
        self.assert_settled(10)

    def test_L_13_L_14_a_rival_for_every_lock(self):
        random = seed_of(self)
        self.launcher(provider('p', machines(5, max_parallel_jobs=2)), sync_interval=1,
                      debug=False)
        self.wait_for_ready(10)
        rivals = [Rival(self, random) for _ in range(2)]
        for rival in rivals:
            rival.start()
        crowd = Crowd(self.hosts, random, workers=5, most_nodes=2)
        crowd.start(600 if is_full() else 150).join()
        for rival in rivals:
            rival.finish()
            self.assertGreater(rival.locked, 0)
        self.assert_settled(10)

    def test_Z_48_cancelled_at_every_moment(self):
        random = seed_of(self)
        launcher = self.launcher(provider('p', machines(3)))
        self.wait_for_ready(3)
        Crowd(self.hosts, random, workers=4, most_nodes=2, endings={'cancel': 1}) \
            .start(600 if is_full() else 200).join()
        self.assert_settled(3)
        self.assertEqual(launcher.find_log(' (WARNING|ERROR) '), [])


if __name__ == '__main__':
    unittest.main(verbosity=2)
