"""Many machines at once: what they cost, how long they take, that another client sees the same."""

import os
import time
import unittest

from cloud import IMAGE
from figures import calls_of, lists_of, load, own_part, spread, time_of
from real_case import MANY, RealCase

SERVERS, SERVER, LIST = '/v2.1/servers', '/v2.1/servers/ID', '/v2.1/servers/detail'
MOST = int(os.environ.get('DROVER_MACHINES', MANY))
# Seconds until 200 machines are there, or gone.
PATIENCE = 1800


class Scale(RealCase):
    def create(self, count, at_once):
        """Makes machines, all of them at once, shows their figures, and deletes them."""
        if count > MOST:
            self.skipTest(f'DROVER_MACHINES is {MOST}')
        launcher = self.start(launch_timeout=PATIENCE, main={'auto-floating-ip': False})
        began = time.monotonic()
        requests = [self.submit(*['l'] * at_once) for _ in range(count // at_once)]
        nodes = self.fulfilled(*requests, limit=PATIENCE)
        seconds = time.monotonic() - began
        calls = calls_of(launcher)
        # A cloud that is short of processor time gives some servers up by itself.
        failed = len(launcher.find_log('Launch attempt'))
        print(f'\n{count} machines at once in {seconds:.1f} s, {load()}; calls until ready: '
              f'{sum(calls.values())}, {sum(calls.values()) / count:.2f} a machine: {calls}; '
              f'attempts that failed: {failed}', flush=True)
        overhead = self.check_times(launcher, nodes)
        self.check_with_another_client(nodes)
        self.assertEqual(calls[f'POST {SERVERS}'], count + failed)
        self.assertLessEqual(calls[f'GET {LIST}'], seconds + 2)
        mark, began = launcher.mark(), time.monotonic()
        self.release(*requests)
        self.wait_for_nothing(PATIENCE)
        seconds = time.monotonic() - began
        calls = calls_of(launcher, mark)
        print(f'{count} machines deleted in {seconds:.1f} s, {load()}; calls: {calls}', flush=True)
        self.assertEqual(calls[f'DELETE {SERVER}'], count)
        self.assertEqual(launcher.find_log('leaked'), [])
        self.assertLess(overhead, 2)

    def check_times(self, launcher, nodes):
        """Most of the seconds from ACTIVE until a node is ready that are Drover's: a cloud that is
        short of processor time takes seconds to tell what it has."""
        active, lists = self.cloud.times_of_active(), lists_of(launcher)
        own, ours, drovers = [], [], []
        for node in nodes:
            since, ready = active[node['external_id']], node['state_time']
            # The cloud tells whole seconds of this, and cuts them off.
            own.append(since - time_of(self.server_of(node).created_at))
            ours.append(ready - since)
            drovers.append(own_part(ready, since, lists))
        print(f'the cloud needed for one, from accepted to ACTIVE: {spread(own)}; '
              f'ready after ACTIVE: {spread(ours)}; without the time in which the cloud answered: '
              f'{spread(drovers)}', flush=True)
        return max(drovers)

    def check_with_another_client(self, nodes):
        """What openstacksdk sees is what the nodes say."""
        user = self.cloud.user
        image = user.image.find_image(IMAGE['name'])
        servers = {server.id: server for server in user.compute.servers()}
        self.assertEqual(sorted(servers), sorted(node['external_id'] for node in nodes))
        for node_id, node in self.observer.sync().nodes().items():
            server = servers[node['external_id']]
            self.assertEqual((server.name, server.status, server.image.id),
                             (f'np{node_id}', 'ACTIVE', image.id))
            self.assertEqual(server.metadata, {
                'nodepool_node_id': node_id, 'nodepool_provider_name': 'p',
                'nodepool_pool_name': 'main', 'groups': f'p,{IMAGE["name"]},l'})
            addresses = [address['addr'] for address in server.addresses['provider']]
            self.assertEqual([node['public_ipv4']], addresses)

    def test_20_machines(self):
        self.create(20, 1)

    def test_F_13_100_machines(self):
        self.create(100, 10)

    def test_F_13_OS_57_200_machines(self):
        """More than a page of servers."""
        self.create(200, 10)


if __name__ == '__main__':
    unittest.main(verbosity=2, warnings='ignore')
