"""The base of tests of a launcher with a real OpenStack, of which one serves all tests.

What a test leaves in the cloud's project once its launchers have ended is a mistake, whether they
left it or the test did.
"""

import atexit
import json
import os
import signal
import time

from cloud import IMAGE, dashed, pool
from launcher_case import LauncherCase
from openstack_cloud import label
from real_openstack import RealOpenStack, install

# Seconds. Two processors do all of a cloud's work.
LIMIT = 300
MANY = 200  # most machines of a test
ROOM = MANY + 50
TOKEN_LIFE = 3600
# Programs of the release.
BUILD = os.path.abspath(os.environ['DROVER_BUILD'])


def bring_up():
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    install()
    began = time.monotonic()
    cloud = RealOpenStack(token_life=TOKEN_LIFE, instances=ROOM)
    atexit.register(cloud.close)  # also when a signal ended the tests
    cloud.start()
    print(f'OpenStack came up in {time.monotonic() - began:.0f} s', flush=True)
    return cloud


class RealCase(LauncherCase):
    tick = 2000
    cloud = None

    @classmethod
    def setUpClass(cls):
        if RealCase.cloud is None:
            RealCase.cloud = bring_up()

    def setUp(self):
        super().setUp()
        self.clouds = self.cloud.clouds()
        self.addCleanup(self.check_that_nothing_is_left)

    def check_that_nothing_is_left(self):
        left = self.cloud.left()
        if left:
            self.cloud.empty()  # one test that fails does not disturb the others
            self.fail(f'left: {left}')

    # ---- Launchers ----

    def clouds_file(self):
        path = f'{self.cloud.folder}/clouds.yaml'
        with open(path, 'w', encoding='ascii') as out:
            json.dump({'clouds': self.clouds}, out)
        return path

    def provider(self, labels=None, images=(IMAGE,), uploads=(), main=None, **options):
        """Of the cloud, with a pool `main`; `main`: options of that. Calls are hardly held back."""
        place = pool(labels=labels or [label()], **{'networks': ['provider'], **(main or {})})
        return {'name': 'p', 'driver': 'openstack', 'cloud': 'real', 'rate': 0.01,
                'cloud-images': list(images), 'diskimages': list(uploads),
                'launch-timeout': LIMIT, 'pools': [place], **dashed(options)}

    def start(self, *labels, cleanup_interval=5, environment=None, diskimages=None, **options):
        """A launcher with one provider; see provider()."""
        launcher = self.launcher(self.provider(list(labels), **options), start=False,
                                 cleanup_interval=cleanup_interval,
                                 **({'diskimages': diskimages} if diskimages else {}))
        launcher.environment = {'OS_CLIENT_CONFIG_FILE': self.clouds_file(), **(environment or {})}
        launcher.start()
        self.wait_for_pools('p-main')
        return launcher

    # ---- Requests ----

    def fulfilled(self, *requests, limit=LIMIT):
        """Records of all their nodes."""
        ids = []
        for request in requests:
            record = request.wait('fulfilled', 'failed', limit=limit)
            self.assertEqual(record['state'], 'fulfilled')
            ids += record['nodes']
        nodes = self.observer.sync().nodes()
        return [nodes[node] for node in ids]

    def release(self, *requests):
        for request in requests:
            nodes = self.executor.accept(request.id)
            nodes.use()
            nodes.give_back()

    def give_back(self, *requests):
        """Not before nothing of them is left."""
        self.release(*requests)
        self.wait_for_nothing()

    def wait_for_nothing(self, limit=LIMIT):
        """No node, and nothing in the cloud's project."""
        self.wait(lambda cluster: not cluster.nodes(), limit, 'no nodes')
        self.wait_in_cloud(lambda: not self.cloud.left(), 'nothing left', limit)

    def wait_in_cloud(self, condition, what, limit=LIMIT):
        deadline = time.monotonic() + limit
        while not (found := condition()):
            if time.monotonic() > deadline:
                self.fail(f'{what}: {self.cloud.left()}')
            time.sleep(0.5)
        return found

    def wait_for_server(self, count=1):
        """External ids, as soon as so many nodes have one."""
        def known(cluster):
            ids = [node['external_id'] for node in cluster.nodes().values()
                   if node.get('external_id')]
            return ids if len(ids) >= count else None
        return self.wait(known, LIMIT, f'{count} servers')

    def server_of(self, node):
        """A node's, as openstacksdk sees it."""
        return self.cloud.user.compute.get_server(node['external_id'])
