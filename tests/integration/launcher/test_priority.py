"""Which pool serves a request: priorities, preferred providers, labels, and max-concurrency."""

import unittest

from launcher import machine, provider
from launcher_case import LauncherCase
from zuul_client import encode


def pool(name, nodes, **options):
    return {'name': name, 'nodes': nodes, **options}


class Priority(LauncherCase):
    def two_providers(self, first_options=None, second_options=None, label='l', other=None):
        """p1 and p2, each with one machine. Returns the launcher."""
        launcher = self.launcher(
            provider('p1', [machine('127.0.10.1', label)], **(first_options or {})),
            provider('p2', [machine('127.0.11.1', other or label)], **(second_options or {})))
        self.wait_for_ready(2)
        self.wait_for_pools('p1-main', 'p2-main')
        return launcher

    def provider_of(self, request):
        node_id, = request.wait('fulfilled')['nodes']
        return self.observer.sync().node(node_id)['provider']

    def test_L_50_better_priority_first(self):
        # A static pool is never paused, so the other one waits for it, as in Nodepool.
        launcher = self.two_providers({'priority': 1}, {'priority': 100})
        first = self.submit('l')
        self.assertEqual(self.provider_of(first), 'p1')
        second = self.submit('l')
        launcher.wait_for_log(f'PoolWorker.p2-main.*{second.id}.*yield.*priority 1, this one 100')
        nodes = self.executor.accept(first.id)
        nodes.use()
        nodes.give_back()
        self.assertEqual(self.provider_of(second), 'p1')

    def test_L_51_pools_priority_before_its_providers(self):
        self.launcher(
            provider('p1', pools=[pool('main', [machine('127.0.10.1')], priority=50)],
                     priority=100),
            provider('p2', [machine('127.0.11.1')], priority=60))
        self.wait_for_ready(2)
        self.wait_for_pools('p1-main', 'p2-main')
        self.assertEqual({record['provider_name']: record['priority']
                          for record in self.observer.sync().pools().values()},
                         {'p1': 50, 'p2': 60})
        for _ in range(3):
            request = self.submit('l')
            self.assertEqual(self.provider_of(request), 'p1')
            self.executor.refuse(request.id)
            self.wait_for_ready(2)

    def test_L_52_default_priority(self):
        self.start_with(machine('127.0.10.1'))
        record, = self.observer.sync().pools().values()
        self.assertEqual(record['priority'], 100)

    def test_L_53_preference_before_priority(self):
        self.two_providers({'priority': 1}, {'priority': 100})
        self.assertEqual(self.provider_of(self.submit('l', provider='p2')), 'p2')

    def test_L_54_preferred_provider(self):
        launcher = self.two_providers()
        request = self.submit('l', provider='p2')
        self.assertEqual(self.provider_of(request), 'p2')
        waiting = self.submit('l', provider='p2')
        launcher.wait_for_log(f'PoolWorker.p1-main.*{waiting.id}.*yield.*prefers provider p2')
        self.assertEqual(self.observer.sync().request(waiting.id)['state'], 'requested')

    def test_L_55_preferred_provider_is_not_there(self):
        self.two_providers()
        self.submit('l', provider='p3').wait('fulfilled')

    def test_L_56_preferred_provider_lacks_the_label(self):
        self.two_providers(label='a', other='b')
        self.assertEqual(self.provider_of(self.submit('a', provider='p2')), 'p1')

    def test_L_57_preferred_provider_declines(self):
        self.launcher(
            provider('p1', [machine('127.0.10.1')]),
            provider('p2', pools=[pool('main', [machine('127.0.11.1')], **{'max-servers': 0})]))
        self.wait_for_ready(2)
        self.wait_for_pools('p1-main', 'p2-main')
        request = self.submit('l', provider='p2')
        self.assertEqual(self.provider_of(request), 'p1')
        declined_by, = self.observer.sync().request(request.id)['declined_by']
        self.assertIn('PoolWorker.p2-main', declined_by)

    def test_L_58_L_21_labels_of_another_pool(self):
        # The pool without the label never touches the request.
        launcher = self.launcher(provider('p', pools=[
            pool('one', [machine('127.0.10.1', 'a')]), pool('two', [machine('127.0.10.2', 'b')])]))
        self.wait_for_ready(2)
        self.wait_for_pools('p-one', 'p-two')
        self.assertEqual({record['name']: record['supported_labels']
                          for record in self.observer.sync().pools().values()},
                         {'one': ['a'], 'two': ['b']})
        for label, name in (('b', 'two'), ('a', 'one')):
            request = self.submit(label)
            node_id, = request.wait('fulfilled')['nodes']
            self.assertEqual(self.observer.sync().node(node_id)['pool'], name)
            self.assertEqual(self.observer.states(request.path), ['requested', 'fulfilled'])
        self.assertEqual(launcher.find_log('Declined'), [])

    def test_L_60_what_can_be_served_comes_first(self):
        # Both are there when the first decision is made.
        launcher = self.start_with(machine('127.0.10.1'))
        launcher.stop()
        for labels, priority in ((['unknown'], '100'), (['l'], '300')):
            record = {'state': 'requested', 'state_time': 1.0, 'node_types': labels,
                      'requestor': 'zuul', 'requestor_data': None, 'provider': None,
                      'event_id': 'e', 'relative_priority': 0}
            self.client.create(f'/nodepool/requests/{priority}-0000009999', encode(record))
        launcher.start()
        wanted = {'100-0000009999': 'failed', '300-0000009999': 'fulfilled'}
        self.wait(lambda cluster: all(cluster.request_is(name, state)
                                      for name, state in wanted.items()))
        # The decline is written while the other one's machine is still being looked at.
        served, = launcher.wait_for_log('300-0000009999.*Assigning')
        declined, = launcher.wait_for_log('100-0000009999.*Declined')
        self.assertLess(launcher.lines.index(served), launcher.lines.index(declined))

    def test_L_62_no_concurrency_at_all(self):
        launcher = self.launcher(provider('p', [machine('127.0.10.1')], max_concurrency=0))
        self.wait_for_ready(1)
        self.wait_for_pools('p-main')
        launcher.wait_for_log('WARNING .*max-concurrency')
        requests = [self.submit('l'), self.submit('unknown')]
        launcher.reload([provider('p', [machine('127.0.10.1')], max_concurrency=1)])
        requests[1].wait('failed')
        requests[0].wait('fulfilled')
        self.observer.sync()
        self.assertEqual(self.observer.states(requests[0].path), ['requested', 'fulfilled'])

    def test_L_61_concurrency_of_one(self):
        self.launcher(provider('p', [machine(f'127.0.10.{number}') for number in range(1, 6)],
                               max_concurrency=1))
        self.wait_for_ready(5)
        requests = [self.submit('l') for _ in range(5)]
        for request in requests:
            request.wait('fulfilled')
        self.observer.sync()
        moments = [self.observer.changes(request.path)[-1][0].zxid for request in requests]
        self.assertEqual(moments, sorted(moments))


if __name__ == '__main__':
    unittest.main(verbosity=2)
