#!/usr/bin/python3
"""A launcher with a real OpenStack, which real_openstack.py brings up. See README.md."""

import atexit
import calendar
import json
import os
import re
import signal
import statistics
import time
import unittest

from cloud import IMAGE, pool
from launcher_case import LauncherCase
from openstack_cloud import label
from real_openstack import RealOpenStack, install

MANY = int(os.environ.get('DROVER_MACHINES', '200'))
LIMIT = 300
ID = r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'


def seconds_of(text):
    """Of the epoch, of a time of the cloud's with or without fractions and zone; all are UTC."""
    return calendar.timegm(time.strptime(text[:19], '%Y-%m-%dT%H:%M:%S'))


def calls_of(launcher):
    """How often the driver made each kind of call, from its log."""
    calls = {}
    for line in launcher.find_log(r'driver.openstack.*: (GET|POST|DELETE) http'):
        method, url = re.search(r'(GET|POST|DELETE) (\S+?):? ', line).groups()
        last = url.rstrip('/').rpartition('/')[2].partition('?')[0]
        name = f'{method} {"ID" if re.fullmatch(ID, last) else last}'
        calls[name] = calls.get(name, 0) + 1
    return calls


class Real(LauncherCase):
    tick = 2000

    @classmethod
    def setUpClass(cls):
        install()
        began = time.monotonic()
        # Nova goes on using the token of a create that waits its turn, so it has to live long enough.
        cls.cloud = RealOpenStack(token_life=900, instances=MANY + 50)
        cls.addClassCleanup(cls.cloud.close)
        atexit.register(cls.cloud.close)  # also when a signal ended the tests
        cls.cloud.start()
        print(f'OpenStack came up in {time.monotonic() - began:.0f} s', flush=True)
        with open(f'{cls.cloud.folder}/clouds.yaml', 'w', encoding='ascii') as out:
            json.dump(cls.cloud.clouds(), out)

    def start(self, labels=None, images=(IMAGE,), **options):
        provider = {'name': 'p', 'driver': 'openstack', 'cloud': 'real', 'rate': 0.01,
                    'cloud-images': list(images), 'launch-timeout': LIMIT,
                    'pools': [pool(labels=labels or [label()], networks=['provider'])], **options}
        launcher = self.launcher(provider, start=False, cleanup_interval=5)
        launcher.environment = {'OS_CLIENT_CONFIG_FILE': f'{self.cloud.folder}/clouds.yaml'}
        launcher.start()
        self.wait_for_pools('p-main')
        return launcher

    def wait_for_nothing(self):
        """The launcher leaves nothing behind, or finds it itself."""
        deadline = time.monotonic() + LIMIT
        while left := self.cloud.left():
            if time.monotonic() > deadline:
                self.fail(f'left: {left}')
            time.sleep(1)

    def setUp(self):
        super().setUp()
        self.addCleanup(self.cloud.empty)  # one test that fails does not disturb the others

    def give_back(self, *requests):
        for request in requests:
            nodes = self.executor.accept(request.id)
            nodes.use()
            nodes.give_back()
        self.wait(lambda cluster: not cluster.nodes(), LIMIT, 'no nodes')
        self.wait_for_nothing()

    def report(self, launcher, count, seconds):
        """What a machine cost, beside what the cloud needed for it."""
        own, ours = [], []
        for server in self.cloud.user.compute.servers():
            active = seconds_of(server.launched_at)  # the cloud tells whole seconds
            own.append(active - seconds_of(server.created_at))
            node = self.observer.sync().node(server.metadata['nodepool_node_id'])
            ours.append(node['state_time'] - active)
        calls = calls_of(launcher)
        print(f'{count} machines in {seconds:.1f} s; the cloud needed {statistics.median(own):.0f} s '
              f'for one (median, from accepted to ACTIVE), at most {max(own):.0f} s; ready '
              f'{statistics.median(ours):.1f} s after ACTIVE (median), at most {max(ours):.1f} s; '
              f'calls: {calls}, {sum(calls.values()) / count:.2f} a machine', flush=True)
        # A cloud that is short of processor time gives some servers up by itself.
        failed = len(launcher.find_log('Launch attempt'))
        print(f'attempts that failed: {failed}', flush=True)
        self.assertLessEqual(calls.get('POST servers', 0), count + failed)

    def check_with_another_client(self):
        """What openstacksdk sees is what the nodes say."""
        user = self.cloud.user
        image = user.image.find_image(IMAGE['name'])
        servers = {server.id: server for server in user.compute.servers()}
        nodes = self.observer.sync().nodes()
        self.assertEqual(sorted(servers), sorted(node['external_id'] for node in nodes.values()))
        for node_id, node in nodes.items():
            server = servers[node['external_id']]
            self.assertEqual((server.name, server.status, server.image.id),
                             (f'np{node_id}', 'ACTIVE', image.id))
            self.assertEqual(server.metadata['nodepool_node_id'], node_id)
            self.assertEqual(server.metadata['nodepool_provider_name'], 'p')
            self.assertEqual(server.metadata['groups'], f'p,{IMAGE["name"]},l')

    def create(self, count, at_once):
        """Makes machines, shows their figures, and deletes them."""
        launcher = self.start()
        began = time.monotonic()
        requests = [self.submit(*['l'] * at_once) for _ in range(count // at_once)]
        for request in requests:
            request.wait('fulfilled', limit=900)
        self.report(launcher, count, time.monotonic() - began)
        self.check_with_another_client()
        began = time.monotonic()
        self.give_back(*requests)
        print(f'{count} machines deleted in {time.monotonic() - began:.1f} s', flush=True)

    def test_a_few_machines(self):
        self.create(min(MANY, 5), 1)

    def test_many_machines(self):
        self.create(MANY // 10 * 10, 10)

    def test_OS_35_F_57_quota(self):
        launcher = self.start()
        first = self.submit('l')
        first.wait('fulfilled', limit=LIMIT)
        self.cloud.limit(1)
        self.addCleanup(self.cloud.limit, MANY + 50)
        second = self.submit('l')
        launcher.wait_for_log('Quota exceeded', limit=LIMIT)
        second.wait('pending')
        self.cloud.limit(MANY + 50)
        second.wait('fulfilled', limit=LIMIT)
        self.give_back(first, second)

    def test_OS_40_no_host_is_big_enough(self):
        launcher = self.start([label('l', flavor_name='nowhere')], **{'launch-retries': 2})
        self.submit('l').wait('failed', limit=LIMIT)
        launcher.wait_for_log('attempt 2/2 failed.*No valid host')
        self.wait(lambda cluster: not cluster.nodes(), LIMIT, 'no nodes')
        self.wait_for_nothing()

    def test_image_that_is_deleted(self):
        image = self.cloud.make_image('mine', self.cloud.user)
        launcher = self.start([label('l', cloud_image='mine'), label('m')],
                              [IMAGE, {'name': 'mine', 'image-id': image}])
        request = self.submit('l')
        request.wait('fulfilled', limit=LIMIT)
        self.cloud.user.image.delete_image(image)
        self.submit('l', reuse=False).wait('failed', limit=LIMIT)
        launcher.wait_for_log('Can not find requested image')
        other = self.submit('m')
        other.wait('fulfilled', limit=LIMIT)
        self.give_back(request, other)

    def test_OS_10_tokens_that_are_not_valid_any_more(self):
        launcher = self.start()
        first = self.submit('l')
        first.wait('fulfilled', limit=LIMIT)
        mark = launcher.mark()
        self.cloud.forget_tokens()
        second = self.submit('l')
        second.wait('fulfilled', limit=LIMIT)
        launcher.wait_for_log('Logged in', mark, LIMIT)
        self.give_back(first, second)

    def test_OS_48_nova_is_away_for_a_while(self):
        self.start()
        requests = [self.submit('l') for _ in range(10)]
        self.wait(lambda cluster: any(node.get('external_id') for node in cluster.nodes().values()),
                  LIMIT)
        self.cloud.stop_service('nova-api')
        requests += [self.submit('l') for _ in range(5)]
        self.cloud.run_service('nova-api')
        self.cloud.wait_for_answer('nova')
        for request in requests:
            request.wait('fulfilled', limit=LIMIT)
        self.give_back(*requests)


if __name__ == '__main__':
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    unittest.main(verbosity=2, warnings='ignore')  # those of the client's libraries
