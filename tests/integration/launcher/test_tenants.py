"""Limits of tenants, over all providers: who is at their limit waits, others do not."""

import unittest

from cloud import Cloud, label
from cloud_case import CloudCase, labels
from launcher import machine, provider
from zuul_client import REQUEST_LOCKS


def limits(name='tenant-1', **amounts):
    return {'tenant-name': name, **{resource.replace('_', '-'): amount
                             for resource, amount in amounts.items()}}


class Tenants(CloudCase):
    def start(self, *tenants, names=('l',), **options):
        return super().start([label(name, flavor='large', extra_objects=['volume'])
                              for name in names],
                             launcher={'tenant_resource_limits': list(tenants)}, **options)

    def assert_waits(self, launcher, request):
        """It stays as it is, and nobody has it locked."""
        self.assert_stays(launcher, request)
        self.assertEqual(self.observer.sync().tree.children(f'{REQUEST_LOCKS}/{request.id}'), [])

    def check_limit(self, **amounts):
        launcher = self.start(limits(**amounts))
        first = self.use(self.submit('l'))
        second = self.submit('l')
        second.wait('fulfilled')
        third = self.submit('l')
        launcher.wait_for_log(f'{third.id}.*Not now.*tenant tenant-1')
        self.node_of(self.submit('l', tenant='tenant-2'))
        self.assert_waits(launcher, third)
        first.give_back()
        self.node_of(third)

    def test_L_45_max_servers(self):
        self.check_limit(max_servers=2)

    def test_L_46_max_cores(self):
        self.check_limit(max_cores=8)

    def test_L_46_max_ram(self):
        self.check_limit(max_ram=16384)

    def test_L_46_max_volumes(self):
        self.check_limit(max_volumes=2)

    def test_L_46_max_volume_gb(self):
        self.check_limit(max_volume_gb=2)

    def test_SM_20_requests_for_several(self):
        launcher = self.start(limits(max_servers=2))
        nodes = self.use(self.submit('l', 'l'))
        second = self.submit('l', 'l')
        self.nodes_of(self.submit(*['l'] * 4, tenant='tenant-2'))
        self.assert_waits(launcher, second)
        nodes.give_back()
        self.nodes_of(second)

    def test_L_45_R_23_requests_at_once(self):
        """What is about to be made counts, and what is about to be used again."""
        self.start(limits(max_servers=2))
        requests = [self.submit('l') for _ in range(6)]
        served = []
        for _ in requests:
            done = self.wait(lambda cluster: [request for request in requests
                                              if request not in served and
                                              cluster.request_is(request.id, 'fulfilled')])
            self.assertLessEqual(len(self.observer.sync().nodes()), 2)
            served.append(done[0])
            self.give_back(done[0])
        self.assertEqual(self.cloud.state()['most']['machine'], 2)

    def test_L_45_free_nodes_at_once(self):
        launcher = self.start(limits(max_servers=2))
        for _ in range(4):
            self.refuse(self.submit('l', reuse=False, tenant='tenant-2'))
        self.wait_for_ready(4)
        launcher.kill()
        requests = [self.submit('l') for _ in range(4)]
        launcher.start()
        self.wait(lambda cluster: sum(cluster.request_is(request.id, 'fulfilled')
                                      for request in requests) == 2)
        launcher.wait_for_log('Not now.*tenant tenant-1')
        states = [self.observer.sync().request(request.id)['state'] for request in requests]
        self.assertEqual(sorted(states), ['fulfilled', 'fulfilled', 'requested', 'requested'])

    def test_L_47_free_nodes_do_not_help(self):
        launcher = self.start(limits(max_servers=1))
        request = self.submit('l', tenant='tenant-2')
        self.node_of(request)
        self.refuse(request)
        self.use(self.submit('l', reuse=False))
        waiting = self.submit('l')
        self.assert_waits(launcher, waiting)
        self.assertEqual(len(self.observer.sync().ready_nodes()), 1)

    def test_L_48_no_limits(self):
        self.start(limits(max_servers=1))
        for tenant in ('tenant-2', None):
            for request in [self.submit('l', tenant=tenant) for _ in range(3)]:
                self.node_of(request)

    def test_L_48_two_providers(self):
        with Cloud() as other:
            launcher = self.launcher(self.cloud.provider('p', labels('l')),
                                     other.provider('q', labels('m')),
                                     tenant_resource_limits=[limits(max_servers=2)])
            self.wait_for_pools('p-main', 'q-main')
            nodes = self.use(self.submit('l'))
            self.use(self.submit('m'))
            waiting = [self.submit('l'), self.submit('m')]
            for request in waiting:
                self.assert_waits(launcher, request)
            nodes.give_back()
            self.wait(lambda cluster: [request for request in waiting
                                       if cluster.request_is(request.id, 'fulfilled')])

    def test_more_than_the_limit_at_once(self):
        """It waits for ever; whoever looks for it finds why."""
        launcher = self.start(limits(max_servers=2))
        request = self.submit('l', 'l', 'l')
        launcher.wait_for_log(f'WARNING .*{request.id}.*tenant-1.*limit 2')
        self.assert_waits(launcher, request)
        self.assertEqual(len(launcher.find_log('WARNING .*tenant-1')), 1)
        self.node_of(self.submit('l'))

    def test_ST_47_machines_that_exist_already(self):
        """A node counts as one instance while it is asked for, and not while it is used."""
        launcher = self.launcher(
            provider('s', [machine('127.0.10.1'), machine('127.0.10.2'), machine('127.0.10.3')]),
            tenant_resource_limits=[limits(max_servers=1)])
        self.wait_for_ready(3)
        request = self.submit('l', 'l')
        launcher.wait_for_log(f'WARNING .*{request.id}.*tenant-1.*2 more instances.*limit 1')
        self.assert_waits(launcher, request)
        for _ in range(2):
            self.use(self.submit('l'))
        self.use(self.submit('l', tenant='tenant-2'))
        self.assert_waits(launcher, request)

    def test_L_98_limit_changed(self):
        launcher = self.start(limits(max_servers=1))
        self.use(self.submit('l'))
        waiting = self.submit('l')
        self.assert_waits(launcher, waiting)
        provider = self.cloud.provider('p', [label('l', flavor='large', extra_objects=['volume'])])
        mark = launcher.mark()
        launcher.reload([provider], tenant_resource_limits=[limits(max_servers=2)])
        self.node_of(waiting)
        launcher.reload([provider], tenant_resource_limits=[limits(max_servers=1)])
        self.assert_waits(launcher, self.submit('l'))
        self.assertEqual(launcher.find_log('Provider p started', mark), [])


if __name__ == '__main__':
    unittest.main(verbosity=2)
