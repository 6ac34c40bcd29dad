"""Which pool serves a request when they make machines, of which each has room for so many."""

import unittest

from cloud import pool
from cloud_case import CREATE, CloudCase


class Priority(CloudCase):
    def two_providers(self, first=None, second=None, **pool_options):
        """p1 and p2, each with a pool of one server."""
        options = {'max_servers': 1, **pool_options}
        launcher = self.launcher(
            self.cloud.provider('p1', pools=[pool(**options)], **(first or {})),
            self.cloud.provider('p2', pools=[pool(**options)], **(second or {})))
        self.wait_for_pools('p1-main', 'p2-main')
        return launcher

    def provider_of(self, request):
        return self.node_of(request)[1]['provider']

    def test_L_50_R_20_full_provider_is_passed_over(self):
        self.two_providers({'priority': 1}, {'priority': 100})
        first = self.submit('l')
        self.assertEqual(self.provider_of(first), 'p1')
        second = self.submit('l')
        second.wait('pending')
        self.wait_for_paused(pool='p1-main')
        third = self.submit('l')
        self.assertEqual(self.provider_of(third), 'p2')
        self.assertEqual(self.observer.sync().request(second.id)['state'], 'pending')
        self.give_back(first)
        self.assertEqual(self.provider_of(second), 'p1')

    def test_L_50_in_two_launchers(self):
        for name, priority in (('p1', 1), ('p2', 100)):
            self.launcher(self.cloud.provider(name, pools=[pool(max_servers=1)],
                                              priority=priority))
        self.wait_for_pools('p1-main', 'p2-main')
        self.assertEqual(self.provider_of(self.submit('l')), 'p1')
        self.submit('l').wait('pending')
        self.wait_for_paused(pool='p1-main')
        self.assertEqual(self.provider_of(self.submit('l')), 'p2')

    def test_L_57_the_next_one_serves_what_could_not_be_made(self):
        self.two_providers({'priority': 1, 'launch_retries': 1})
        self.cloud.faults({**CREATE, 'status': 500, 'tags': {'nodepool_provider_name': 'p1'}})
        request = self.submit('l')
        self.assertEqual(self.provider_of(request), 'p2')
        self.assertEqual(len(request.record['declined_by']), 1)

    def test_L_59_relative_priority(self):
        launcher = self.start(pools=[pool(max_servers=1)])
        launcher.kill()
        late = self.submit('l', relative_priority=2)
        soon = self.submit('l', relative_priority=1)
        launcher.start()
        self.nodes_of(soon)
        self.assertIn(self.observer.sync().request(late.id)['state'], ('requested', 'pending'))
        self.give_back(soon)
        self.nodes_of(late)

    def test_R_16_several_wait(self):
        """In the order of their priority; a small one is served while a large one waits."""
        launcher = self.start(pools=[pool(max_servers=3)])
        sets = [self.use(self.submit('l')) for _ in range(3)]
        launcher.kill()
        large = self.submit('l', 'l', 'l', priority='100')
        small = self.submit('l', priority='200')
        launcher.start()
        large.wait('pending')
        self.wait_for_paused()
        for nodes in sets:
            nodes.give_back()
        self.nodes_of(large)
        self.give_back(large)
        self.nodes_of(small)
        self.wait_for_paused(False)


if __name__ == '__main__':
    unittest.main(verbosity=2)
