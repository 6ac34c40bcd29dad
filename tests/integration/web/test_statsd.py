"""What a launcher sends to statsd: Nodepool's keys."""

import os
import socket
import time
import unittest

from cloud import label, pool
from cloud_case import CREATE, CloudCase, labels
from http_site import WithStatsd
from launcher import machine, machines, provider
from launcher_case import LauncherCase

STATES = ('aborted', 'building', 'deleted', 'deleting', 'failed', 'hold', 'in-use', 'init', 'ready',
          'testing', 'used')


class OfStaticMachines(WithStatsd, LauncherCase):
    def test_M_09_M_27_states(self):
        self.start_with(machine('127.0.10.1', 'l1'), machine('127.0.10.2', 'l1', max_parallel_jobs=1),
                        count=2)
        job = self.job('l1')
        self.statsd.wait('nodepool.nodes.ready:1|g', 'nodepool.nodes.in-use:1|g',
                         'nodepool.nodes.building:0|g', 'nodepool.provider.p.nodes.ready:1|g',
                         'nodepool.label.l1.nodes.ready:1|g')
        self.statsd.wait_for_keys(*(f'nodepool.{what}.{state}' for state in STATES
                                    for what in ('nodes', 'label.l1.nodes')))
        job.give_back()

    def test_M_10_two_labels(self):
        self.start_with(machine('127.0.10.1', 'l1 l2'))
        self.statsd.wait('nodepool.nodes.ready:1|g', 'nodepool.label.l1.nodes.ready:1|g',
                         'nodepool.label.l2.nodes.ready:1|g')

    def test_M_11_what_nobody_announces(self):
        self.start_with(machine('127.0.10.1', 'l1'))
        self.client.create('/nodepool/nodes/', b'{"state": "hold", "state_time": 1, "provider": '
                           b'"far away:x", "pool": "m", "type": ["strange"]}', sequence=True)
        self.statsd.wait('nodepool.provider.far_away_x.nodes.hold:1|g',
                         'nodepool.label.strange.nodes.hold:1|g')
        self.assertEqual(self.statsd.values('nodepool.label.strange.nodes.ready'), [])

    def test_last_zero_of_what_vanished(self):
        self.start_with(machine('127.0.10.1', 'l1'))
        path = self.client.create('/nodepool/nodes/', b'{"state": "hold", "state_time": 1, '
                                  b'"provider": "q", "pool": "m", "type": ["strange"]}',
                                  sequence=True)
        self.statsd.wait('nodepool.label.strange.nodes.hold:1|g')
        self.client.delete(path)
        self.statsd.wait('nodepool.label.strange.nodes.hold:0|g', 'nodepool.provider.q.nodes.hold:0|g')

    def test_M_12_Z_32_one_leader(self):
        launchers = [self.launcher(provider(name, machines(1, network=10 + index)), timeout=2)
                     for index, name in enumerate('pq')]
        self.wait_for_ready(2)
        self.statsd.wait('nodepool.nodes.ready:2|g')
        leaders = [self.client.get(f'/nodepool/elections/stats/{name}')[0].decode() for name in
                   sorted(self.client.get_children('/nodepool/elections/stats'),
                          key=lambda name: name[-10:])]
        self.assertEqual(sorted(leaders), sorted(f'{socket.gethostname()}-{launcher.pid}'
                                                 for launcher in launchers))
        leader = next(launcher for launcher in launchers
                      if leaders[0].endswith(f'-{launcher.pid}'))
        leader.kill()
        mark = self.statsd.mark()
        self.statsd.wait('nodepool.nodes.ready:2|g', since=mark)

    def test_M_13_sent_again_without_a_change(self):
        """The first rounds tell of what changes at the start; then there is nothing to tell."""
        whole = ('nodepool.nodes.ready:1|g', 'nodepool.nodes.building:0|g',
                 'nodepool.provider.p.nodes.ready:1|g', 'nodepool.label.l1.nodes.ready:1|g',
                 'nodepool.provider.p.pool.main.addressable_requests:0|g')
        self.start_with(machine('127.0.10.1', 'l1'))
        self.statsd.wait(*whole)
        silence = 0
        while silence < 30:
            mark, began = self.statsd.mark(), time.monotonic()
            self.statsd.wait(*whole, since=mark, limit=150)
            silence = time.monotonic() - began

    def test_M_14_addressable_requests(self):
        self.launcher(provider('p1', machines(1, 'a')), provider('p2', machines(1, 'a b', network=11)))
        self.wait_for_ready(2)
        self.job('a')
        self.job('a')
        self.submit('a')
        self.submit('a', 'b')
        self.statsd.wait('nodepool.provider.p1.pool.main.addressable_requests:1|g',
                         'nodepool.provider.p2.pool.main.addressable_requests:2|g')

    def test_M_15_M_16_M_17_limits(self):
        limits = [{'tenant-name': 'tenant-1', 'max-cores': 8, 'max-servers': 2, 'max-ram': 16384,
                   'max-volumes': 2, 'max-volume-gb': 20},
                  {'tenant-name': 'a.b:c', 'max-servers': 3}]
        pools = [{'name': 'one', 'nodes': machines(1), 'max-servers': 5},
                 {'name': 'two', 'nodes': machines(1, network=11)}]
        self.launcher(provider('p', pools=pools), tenant_resource_limits=limits)
        self.wait_for_ready(2)
        prefix = 'nodepool.tenant_limits.tenant-1'
        self.statsd.wait(f'{prefix}.cores:8|g', f'{prefix}.instances:2|g', f'{prefix}.ram:16384|g',
                         f'{prefix}.volumes:2|g', f'{prefix}.volume-gb:20|g',
                         'nodepool.tenant_limits.a_b_c.instances:3|g',
                         'nodepool.provider.p.max_servers:5|g')
        self.assertEqual(self.statsd.values('nodepool.tenant_limits.a_b_c.cores'), [])

    def test_M_24_queues(self):
        self.start_with(machine('127.0.10.1'))
        prefix = f'nodepool.launcher.{socket.gethostname()}.zk'
        self.wait(lambda _: self.statsd.values(f'{prefix}.image_cache.playback_queue'))
        keys = ['client.connection_queue'] + [
            f'{kind}_cache.{queue}_queue' for kind in ('node', 'request', 'image')
            for queue in ('event', 'playback')]
        for key in keys:
            value, = self.statsd.values(f'{prefix}.{key}')[:1]
            self.assertRegex(value, r'^\d+\|g$')

    def test_M_25_nothing_asked_for(self):
        self.set_environment(STATSD_HOST='', STATSD_PORT='')
        self.start_with(machine('127.0.10.1'))
        self.submit('l').wait('fulfilled')
        self.launchers[0].stop()
        self.assertEqual(self.statsd.datagrams, [])
        self.assertIsNone(self.client.exists('/nodepool/elections/stats'))

    def test_M_25_only_a_port(self):
        self.set_environment(STATSD_HOST='')
        self.start_with(machine('127.0.10.1'))
        self.statsd.wait('nodepool.nodes.ready:1|g')

    def test_M_26_server_away(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as gone:
            gone.bind(('127.0.0.1', 0))
            self.set_environment(STATSD_PORT=str(gone.getsockname()[1]))
        launcher = self.start_with(machine('127.0.10.1'))
        self.submit('l').wait('fulfilled')
        self.assertEqual(launcher.find_log(' (WARNING|ERROR) '), [])


class OfClouds(WithStatsd, CloudCase):
    def test_M_18_standby_node(self):
        self.cloud.settings(zones=['az-1'])
        self.start(pools=[pool(availability_zones=['az-1'])],
                   launcher={'labels': [{'name': 'l', 'min-ready': 1}]})
        self.wait_for_ready(1)
        keys = [f'nodepool.launch.{part}ready' for part in
                ('', 'provider.p.', 'provider.p.az-1.', 'requestor.NodePool_min-ready.')]
        self.statsd.wait(*(f'{key}:1|c' for key in keys))
        for key in keys:
            timer, counter = self.statsd.values(key)
            self.assertRegex(timer, r'^\d+\.000000\|ms$')
            self.assertEqual(counter, '1|c')

    def test_M_19_quota(self):
        self.cloud.limits(instances=5)
        self.start()
        self.node_of(self.submit('l'))
        self.cloud.limits(instances=1)  # and nobody has told the launcher
        request = self.submit('l')
        self.wait_for_paused()
        self.statsd.wait('nodepool.launch.error.quota:1|c',
                         'nodepool.launch.provider.p.error.quota:1|c')
        self.cloud.limits(instances=5)
        self.node_of(request, limit=60)
        self.wait(lambda _: self.statsd.total('nodepool.launch.ready') == 2)
        self.assertEqual(self.statsd.total('nodepool.launch.error.quota'), 1)

    def test_M_20_three_attempts(self):
        self.start(pools=[pool(labels=[label('l')], checked=True)], boot_timeout=1)
        self.cloud.settings(listener={'kind': 'refuse'})
        self.submit('l').wait('failed', limit=90)
        self.wait(lambda _: self.statsd.total('nodepool.launch.error.keyscan') == 3)
        self.assertEqual(self.statsd.total('nodepool.launch.provider.p.error.keyscan'), 3)
        self.assertEqual(self.statsd.total('nodepool.launch.ready'), 0)

    def leak(self):
        self.cloud.make(tags={'nodepool_node_id': '0000004711', 'nodepool_provider_name': 'p',
                              'nodepool_pool_name': 'main'})

    def test_M_21_leak(self):
        self.start(launcher={'cleanup_interval': 1})
        self.leak()
        self.cloud.wait_for_machines(0)
        self.statsd.wait('nodepool.provider.p.leaked.instances:1|c')
        self.assertEqual(self.statsd.total('nodepool.provider.p.leaked.instances'), 1)

    def test_M_23_leak_that_stays(self):
        launcher = self.start(launcher={'cleanup_interval': 1})
        self.cloud.faults({'method': 'DELETE', 'path': '^/machines/', 'status': 400})
        self.leak()
        launcher.wait_for_log('Leaked instance .* cannot be deleted', limit=60)
        self.assertEqual(self.statsd.total('nodepool.provider.p.leaked.instances'), 0)
        self.cloud.faults()
        self.cloud.wait_for_machines(0)


if __name__ == '__main__':
    unittest.main()
