"""The base of tests that run a real launcher against a real ZooKeeper, watched by an observer.

One server serves all tests of a file; each test has a chroot of its own. At the end of each test
every launcher is stopped in good order, and nothing that the observer saw may have broken an
invariant.
"""

import logging
import os
import random
import signal
import sys
import unittest

from launcher import Launcher, provider
from observer import Observer
from zookeeper import ZooKeeper
from zuul_client import Executor, Scheduler

logging.getLogger('kazoo').setLevel(logging.CRITICAL)  # lost connections are meant

# Sanitizers make everything slower; so do other programs of the machine.
LIMIT = 30


class LauncherCase(unittest.TestCase):
    tick = 200
    own_server = False  # TRUE for tests that stop the server
    max_hold_age = None  # that of the launchers' configuration, in seconds
    _shared = None
    _chroots = 0

    def setUp(self):
        self.server = self._new_server() if self.own_server else self._shared_server()
        LauncherCase._chroots += 1
        self.chroot = f'/case-{LauncherCase._chroots}'
        self.hosts = self.server.hosts + self.chroot
        with_root = self.server.client()
        with_root.ensure_path(self.chroot)
        with_root.stop()
        with_root.close()
        self.observer = Observer(self.server, self.chroot, LIMIT, self.max_hold_age)
        self.addCleanup(self.observer.finish)
        self.launchers = []
        self._sessions = {}

    def _new_server(self):
        server = ZooKeeper(tick=self.tick).start()
        self.addCleanup(server.close)
        return server

    def _shared_server(self):
        if LauncherCase._shared is None:
            LauncherCase._shared = ZooKeeper(tick=self.tick).start()
            unittest.addModuleCleanup(LauncherCase._close_shared)
        return LauncherCase._shared

    @staticmethod
    def _close_shared():
        LauncherCase._shared.close()
        LauncherCase._shared = None

    def tearDown(self):
        codes = [launcher.stop() for launcher in self.launchers]
        self.assertEqual(codes, [0] * len(codes))
        self.assertEqual(self.observer.finish(), [])

    def shortDescription(self):
        return None  # the name, which has the case number

    def run(self, result=None):
        """Shows the launchers' logs of a test that failed."""
        failed = len(result.failures) + len(result.errors) if result else 0
        super().run(result)
        if result and len(result.failures) + len(result.errors) > failed:
            for launcher in getattr(self, 'launchers', []):
                print(f'---- {self.id()}, {launcher.folder}: {launcher.tail(120)}',
                      file=sys.stderr)

    # ---- Actors ----

    def launcher(self, *providers, start=True, **options):
        """A launcher of this test's cluster; see Launcher for the options."""
        launcher = Launcher(self.server, self.chroot, providers, **options)
        self.addCleanup(launcher.close)
        self.launchers.append(launcher)
        return launcher.start() if start else launcher

    def _session(self, kind):
        if kind not in self._sessions:
            self._sessions[kind] = kind(self.hosts)
            self.addCleanup(self._sessions[kind].close)
        return self._sessions[kind]

    @property
    def scheduler(self):
        return self._session(Scheduler)

    @property
    def executor(self):
        return self._session(Executor)

    @property
    def client(self):
        """A kazoo client that is neither launcher nor executor."""
        return self.scheduler.client

    # ---- Steps that many tests share ----

    def wait(self, condition, limit=LIMIT, what=None):
        return self.observer.wait(condition, limit, what)

    def wait_for_ready(self, count, label=None):
        """Ids of the free nodes, as soon as there are so many."""
        return self.wait(lambda cluster: len(cluster.ready_nodes(label)) == count and
                         cluster.ready_nodes(label), what=f'{count} ready nodes')

    def wait_for_gone(self, node_id, limit=LIMIT):
        self.wait(lambda cluster: cluster.node(node_id) is None, limit, f'{node_id} gone')

    def wait_for_pools(self, *names):
        """Until exactly these pools, named provider-pool, are registered."""
        self.wait(lambda cluster: cluster.pool_names() == sorted(names), what=f'pools {names}')

    def start_with(self, *nodes, count=None, **options):
        """A launcher with one provider `p`, once all of its slots are ready."""
        launcher = self.launcher(provider('p', list(nodes)), **options)
        self.wait_for_ready(count if count is not None else len(nodes))
        self.wait(lambda cluster: cluster.pools(), what='a pool')
        return launcher

    def wait_until_settled(self, slots, limit=60):
        """Until everything was given back."""
        self.wait(lambda cluster: not cluster.requests() and
                  len(cluster.nodes()) == len(cluster.ready_nodes()) == slots, limit,
                  f'{slots} free nodes and no request')

    def submit(self, *labels, **options):
        return self.scheduler.submit(labels, **options)

    def job(self, *labels, **options):
        """A job that runs: its nodes are in use."""
        request = self.submit(*labels, **options)
        request.wait('fulfilled')
        nodes = self.executor.accept(request.id)
        nodes.use()
        return nodes

    def assert_stays(self, launcher, request, state='requested', passes=3):
        """The launcher looks at the request again `passes` times and leaves it as it is."""
        for _ in range(passes):
            mark = launcher.mark()
            launcher.signal(signal.SIGHUP)  # or else it would only look every second
            launcher.wait_for_log(f'{request.id}.*Not now', mark)
        record = self.observer.sync().request(request.id)
        self.assertEqual((record['state'], record.get('declined_by', [])), (state, []))
        return record

    def lock(self, path):
        """A lock, held by the test."""
        lock = self.client.Lock(path)
        self.assertTrue(lock.acquire(blocking=False))
        return lock


def seed_of(test):
    """A random generator for a test; the seed is printed, and may be given as DROVER_TEST_SEED."""
    seed = int(os.environ.get('DROVER_TEST_SEED', random.randrange(1 << 32)))
    print(f'{test.id()}: DROVER_TEST_SEED={seed}', file=sys.stderr)
    return random.Random(seed)


def is_full():
    """TRUE when the long variants of the tests are asked for."""
    return os.environ.get('DROVER_TEST_FULL', '') not in ('', '0')
