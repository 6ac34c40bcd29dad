"""Another configuration while machines are being made, deleted and waited for."""

import re
import signal
import unittest

from cloud import label, pool
from cloud_case import CREATE, CloudCase, labels
from crowd import Crowd
from launcher import machine, provider
from launcher_case import is_full, seed_of


class CloudReload(CloudCase):
    def provider(self, name='p', **options):
        return self.cloud.provider(name, **options)

    def drivers(self, launcher):
        """How many objects of providers there are, those that are about to end among them."""
        mark = launcher.mark()
        launcher.signal(signal.SIGUSR2)
        line, = launcher.wait_for_log('drivers running', mark)
        return int(re.search(r'(\d+) drivers running', line)[1])

    def wait_for_drivers(self, launcher, count):
        self.cloud.wait(lambda _: self.drivers(launcher) == count, what=f'{count} drivers')

    def launching(self, *wanted, after=3):
        """A request whose machines are being made."""
        self.cloud.faults({**CREATE, 'machine': {'after': after}})
        request = self.submit(*wanted)
        self.wait(lambda cluster: all(node['external_id'] for node in cluster.nodes(
            allocated_to=request.id).values()) and
            len(cluster.nodes(state='building', allocated_to=request.id)) == len(wanted))
        self.cloud.faults()
        return request

    def test_L_91_SM_51_F_49_launch_under_way(self):
        other = self.provider('q', labels=labels('m'))
        launcher = self.launcher(self.provider(), other)
        self.wait_for_pools('p-main', 'q-main')
        first, second = self.launching('l', 'l'), self.launching('m')
        mark = launcher.mark()
        launcher.reload([self.provider(rate=100), other])
        launcher.wait_for_log('Provider p started', mark)
        # The new object is at work beside the old one.
        self.node_of(self.submit('l'))
        self.assertEqual(self.observer.sync().request(first.id)['state'], 'pending')
        self.assertEqual(self.drivers(launcher), 3)
        for request in (first, second):
            request.wait('fulfilled')
        self.wait_for_drivers(launcher, 2)
        self.assertEqual(len(self.creates()), 4)
        self.assertEqual(launcher.find_log('Provider q started', mark), [])
        self.wait_for_books()

    def test_deletion_under_way(self):
        launcher = self.start()
        self.cloud.settings(delete_after=2)
        self.give_back(self.submit('l'))
        self.wait(lambda cluster: cluster.nodes(state='deleting'))
        launcher.reload([self.provider(rate=100)])
        self.wait_for_no_nodes()
        self.assertEqual(len(self.cloud.log('DELETE')), 1)
        self.wait_for_drivers(launcher, 1)

    def test_attempts_go_on_in_the_old_object(self):
        launcher = self.start(launch_retries=2)
        self.cloud.faults({**CREATE, 'machine': {'after': 1, 'error': 'broken'}})
        request = self.submit('l')
        self.cloud.wait_for_machines(1)
        launcher.reload([self.provider(launch_retries=5)])
        request.wait('failed')
        self.assertEqual(len(self.creates()), 2)
        self.wait_for_drivers(launcher, 1)
        self.wait_for_books()

    def test_L_96_SM_22_less_room_while_a_request_waits(self):
        launcher = self.start(pools=[pool(max_servers=2)])
        self.use(self.submit('l'))
        waiting = self.submit('l', 'l')
        self.wait_for_paused()
        launcher.reload([self.provider(pools=[pool(max_servers=1)])])
        self.assertEqual(len(waiting.wait('failed')['declined_by']), 1)
        self.wait_for_paused(False)
        self.wait_for_books()

    def test_more_room_while_a_request_waits(self):
        launcher = self.start(pools=[pool(max_servers=1)])
        self.use(self.submit('l'))
        waiting = self.submit('l')
        self.wait_for_paused()
        launcher.reload([self.provider(pools=[pool(max_servers=2)])])
        self.node_of(waiting)
        self.assertEqual(self.observer.states(waiting.path), ['requested', 'pending', 'fulfilled'])

    def test_L_94_provider_removed(self):
        launcher = self.launcher(self.provider(pools=[pool(max_servers=3)]))
        self.wait_for_pools('p-main')
        kept = self.use(self.submit('l'))
        launching = self.launching('l', 'l')
        waiting = self.submit('l')
        self.wait_for_paused()
        mark = self.observer.mark()
        launcher.reload([self.provider('q')])
        self.wait_for_pools('q-main')
        for request in (launching, waiting):
            self.nodes_of(request)
            self.assertEqual(self.observer.states(request.path, mark),
                             ['requested', 'pending', 'fulfilled'])
        self.assertEqual(self.observer.sync().node(kept.ids[0])['state'], 'in-use')
        # What was being made is ready, and nobody's.
        self.wait(lambda cluster: [node['allocated_to'] for node in
                                   cluster.nodes(provider='p', state='ready').values()] ==
                  [None, None])
        self.wait_for_drivers(launcher, 1)
        self.assertEqual([path for path in self.observer.sync().contenders()
                          if kept.ids[0] not in path], [])
        self.wait_for_books()

    def test_L_94_nobody_else_serves_it(self):
        launcher = self.launcher(self.provider(pools=[pool(max_servers=2)]))
        self.wait_for_pools('p-main')
        launching = self.launching('l', 'l')
        waiting = self.submit('l')
        self.wait_for_paused()
        launcher.reload([self.provider('q', labels=labels('m'))])
        for request in (launching, waiting):
            request.wait('failed')

    def test_L_95_SM_52_F_47_provider_that_cannot_start(self):
        """Beside a good one, at the start and later."""
        broken = {**self.provider('q', labels=labels('m')), 'driver': 'no-such-driver'}
        launcher = self.launcher(self.provider(), broken)
        self.wait_for_pools('p-main')
        self.submit('m').wait('failed')
        self.node_of(self.submit('l'))
        launcher.wait_for_log('ERROR .*Provider q cannot start')
        launcher.reload([self.provider(), self.provider('q', labels=labels('m'))])
        self.node_of(self.submit('m'))
        # Its object goes, and with it its pool.
        request = self.launching('m')
        launcher.reload([self.provider(), broken])
        self.wait_for_pools('p-main')
        request.wait('failed')
        self.node_of(self.submit('l'))

    def test_F_49_label_removed(self):
        """A request for it that is served already is declined; what is made for it is finished."""
        launcher = self.start(labels('l', 'm'))
        request = self.launching('m')
        launcher.reload([self.provider(labels=labels('l'))])
        request.wait('failed')
        self.wait_for_ready(1)
        self.node_of(self.submit('l'))
        self.wait_for_books()

    def test_another_driver_under_the_same_name(self):
        launcher = self.start(pools=[pool(max_servers=2)])
        nodes = self.use(self.submit('l'))
        launching = self.launching('l')
        waiting = self.submit('l')
        self.wait_for_paused()
        inventory = [machine('127.0.10.1'), machine('127.0.10.2')]
        launcher.reload([provider('p', inventory)])
        for request in (launching, waiting):
            node_id, = self.nodes_of(request)
            self.assertIn(self.observer.sync().node(node_id)['hostname'],
                          ('127.0.10.1', '127.0.10.2'))
        self.wait_for_paused(False)
        self.wait_for_drivers(launcher, 1)
        # And back.
        for request in (launching, waiting):
            self.give_back(request)
        launcher.reload([self.provider(pools=[pool(max_servers=9)])])
        _, node = self.node_of(self.submit('l', reuse=False))
        self.assertIsNotNone(node['external_id'])
        nodes.give_back()

    def test_connection_options_of_a_cloud(self):
        """What a waiting request needs is asked of the new object."""
        launcher = self.launcher(self.provider(url='http://127.0.0.1:1', call_tries=1))
        self.wait_for_pools('p-main')
        request = self.submit('l')
        launcher.wait_for_log(f'{request.id}.*Not now.*not told')
        launcher.reload([self.provider()])
        self.node_of(request)

    def test_changes_under_load(self):
        random = seed_of(self)
        self.cloud.limits(instances=6)
        launcher = self.start(launcher={'debug': False})
        crowd = Crowd(self.hosts, random, workers=4, most_nodes=2).start()
        for number in range(200 if is_full() else 25):
            crowd.wait_for_served(random.randint(0, 2))
            launcher.reload([self.provider(rate=1000 + number)] + random.choice(
                ([], [self.provider('q', labels=[label('m')])])))
        crowd.stop()
        crowd.join()
        self.wait(lambda cluster: not cluster.requests() and
                  len(cluster.nodes()) == len(cluster.ready_nodes()))
        self.wait_for_books()
        self.assertEqual(self.observer.sync().contenders(), [])
        self.assertEqual(launcher.find_log('Declin|Reset lost'), [])
        launcher.reload([self.provider()])
        self.wait_for_drivers(launcher, 1)


if __name__ == '__main__':
    unittest.main(verbosity=2)
