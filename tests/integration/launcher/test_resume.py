"""A launcher that is killed while it makes machines, and comes back with the same session: what it
had begun goes on, and nobody else notices."""

import random
import unittest

from cloud import Cloud, label, pool
from launcher_case import LauncherCase, seed_of


class Resume(LauncherCase):
    def setUp(self):
        super().setUp()
        self.cloud = Cloud(active_after=1.5).start()
        self.addCleanup(self.cloud.close)

    def start_with_cloud(self, **options):
        launcher = self.launcher(self.cloud.provider('p', resume=True, **options),
                                 cleanup_interval=2)
        self.wait_for_pools('p-main')
        return launcher

    def again(self, launcher):
        launcher.kill()
        launcher.start()

    def wait_for_external_ids(self, count):
        self.wait(lambda cluster: sum(1 for node in cluster.nodes().values()
                                      if node['external_id']) == count,
                  what=f'{count} external ids')

    def states(self, request):
        return self.observer.states(request.path)

    def assert_nothing_leaked(self):
        nodes = {node['external_id'] for node in self.observer.sync().nodes().values()}
        self.cloud.wait(lambda state: {machine['id'] for machine in state['machines']} == nodes,
                        what=f'machines of {nodes}')

    def test_SM_61_FT_14_killed_while_a_machine_boots(self):
        launcher = self.start_with_cloud()
        request = self.submit('l')
        self.wait_for_external_ids(1)
        node_id, = self.observer.sync().nodes()
        self.again(launcher)
        self.assertEqual(request.wait('fulfilled')['nodes'], [node_id])
        self.assertEqual(len(self.cloud.creates()), 1)
        self.assertEqual(self.states(request), ['requested', 'pending', 'fulfilled'])
        launcher.wait_for_log('Going on with the launch')

    def test_several_nodes_one_ready(self):
        launcher = self.start_with_cloud(labels=[label('l'), label('m')])
        self.cloud.faults({'method': 'POST', 'path': '^/machines$', 'times': 1,
                           'machine': {'after': 0}})
        request = self.submit('l', 'm', 'l')
        self.wait(lambda cluster: any(node['state'] == 'ready'
                                      for node in cluster.nodes().values()))
        before = set(self.observer.sync().nodes())
        self.again(launcher)
        nodes = request.wait('fulfilled')['nodes']
        self.assertEqual(set(nodes), before)
        self.assertEqual([self.observer.sync().node(node)['type'] for node in nodes],
                         [['l'], ['m'], ['l']])
        self.assertEqual(len(self.cloud.creates()), 3)

    def test_L_102_killed_again_and_again(self):
        chance = seed_of(self)
        launcher = self.start_with_cloud(pools=[pool(labels=[label('l')], max_servers=6)])
        requests = [self.submit(*['l'] * chance.randint(1, 2)) for _ in range(6)]
        for _ in range(8):
            mark = launcher.mark()
            launcher.wait_for_log('.', mark)
            for _ in range(chance.randint(0, 12)):
                self.observer.sync()
            self.again(launcher)
        for request in requests:
            request.wait('fulfilled', limit=120)
            nodes = self.executor.accept(request.id)
            nodes.use()
            nodes.give_back()
        self.wait(lambda cluster: not cluster.nodes() and not cluster.requests())
        self.cloud.wait_for_machines(0)

    def test_SM_60_driver_that_cannot_go_on(self):
        launcher = self.launcher(self.cloud.provider('p', resume=False), cleanup_interval=2)
        self.wait_for_pools('p-main')
        request = self.submit('l')
        self.wait_for_external_ids(1)
        first, = self.observer.sync().nodes()
        self.again(launcher)
        node, = request.wait('fulfilled')['nodes']
        self.assertNotEqual(node, first)
        self.assertEqual(self.states(request), ['requested', 'pending', 'fulfilled'])
        self.wait(lambda cluster: list(cluster.nodes()) == [node])
        self.assert_nothing_leaked()

    def test_provider_that_is_gone_meanwhile(self):
        launcher = self.start_with_cloud()
        request = self.submit('l')
        self.wait_for_external_ids(1)
        launcher.kill()
        launcher.configure([self.cloud.provider('q', resume=True)])
        launcher.start()
        node_id, = request.wait('fulfilled', limit=60)['nodes']
        self.assertEqual(self.observer.sync().node(node_id)['provider'], 'q')

    def test_deletion_that_was_under_way(self):
        self.cloud.settings(active_after=0, delete_after=1.5)
        launcher = self.start_with_cloud()
        request = self.submit('l')
        request.wait('fulfilled')
        nodes = self.executor.accept(request.id)
        nodes.use()
        nodes.give_back()
        self.wait(lambda cluster: any(node['state'] == 'deleting'
                                      for node in cluster.nodes().values()))
        self.again(launcher)
        self.wait(lambda cluster: not cluster.nodes())
        self.cloud.wait_for_machines(0)


if __name__ == '__main__':
    random.seed()
    unittest.main(verbosity=2)
