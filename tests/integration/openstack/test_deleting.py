"""Servers are deleted, and what is left is found: also when the cloud does not want to."""

import unittest

from openstack_case import OpenStackCase
from openstack_cloud import DELETE, LIST, label

LOCKED = {**DELETE, 'status': 409}


class Deleting(OpenStackCase):
    def used(self, **options):
        """(launcher, node id) of a node that is given back next."""
        launcher = self.start(**options)
        self.request = self.submit('l')
        node_id, self.node = self.node_of(self.request)
        return launcher, node_id

    def test_OS_44_deleting_takes_long(self):
        """The record stays until the server is gone, and DELETE is not repeated each round."""
        self.cloud.settings(delete_after=4)
        _, node_id = self.used()
        self.give_back(self.request)
        self.cloud.wait(lambda _: self.cloud.log('DELETE'))
        while self.observer.sync().node(node_id) is not None:
            there = self.cloud.servers()
            node = self.observer.sync().node(node_id)
            self.assertTrue(there or node is None or not self.cloud.servers())
        self.assertEqual(self.cloud.servers(), [])
        self.assertEqual(len(self.cloud.log('DELETE')), 1)

    def test_OS_45_F_33_error_on_delete(self):
        """A server that goes to ERROR is deleted once more, within 600 s."""
        self.cloud.faults({**DELETE, 'times': 1, 'delete': 'error'})
        _, node_id = self.used()
        self.give_back(self.request)
        self.wait_for_gone(node_id, limit=150)
        self.wait_for_nothing()
        self.assertEqual(len(self.cloud.log('DELETE')), 2)

    def test_OS_46_deleted_by_hand(self):
        _, node_id = self.used()
        self.cloud.remove('server', self.node['external_id'])
        self.give_back(self.request)
        self.wait_for_gone(node_id)

    def test_OS_47_listed_as_deleted(self):
        for kind in ('deleted', 'soft_deleted'):
            with self.subTest(kind):
                self.cloud.faults({**DELETE, 'delete': kind})
                launcher = self.launchers[0] if self.launchers else self.start(
                    launcher={'cleanup_interval': 1})
                request = self.submit('l')
                node_id, _ = self.node_of(request)
                self.give_back(request)
                self.wait_for_gone(node_id)
        launcher.wait_for_log('Finished cleanup', launcher.mark(), count=3)
        self.assertEqual(launcher.find_log('leaked'), [])
        self.assertEqual(len(self.cloud.log('DELETE')), 2)

    def test_OS_71_locked_by_somebody(self):
        launcher, node_id = self.used()
        self.cloud.change('server', self.node['external_id'], locked=True)
        self.give_back(self.request)
        launcher.wait_for_log('is locked', limit=60)
        self.assertEqual(self.observer.sync().node(node_id)['state'], 'deleting')
        self.cloud.change('server', self.node['external_id'], locked=False)
        self.wait_for_gone(node_id, limit=120)

    def test_F_33_delete_fails(self):
        """500 and 503: tried again until it works."""
        self.cloud.faults({**DELETE, 'times': 1, 'status': 500}, {**DELETE, 'times': 1, 'status': 503})
        _, node_id = self.used()
        self.give_back(self.request)
        self.wait_for_gone(node_id, limit=120)
        self.wait_for_nothing()

    def test_delete_is_lost(self):
        """204, and nothing happens. It is not taken as gone."""
        self.cloud.faults({**DELETE, 'times': 1, 'delete': 'lost'})
        launcher, node_id = self.used()
        self.give_back(self.request)
        self.cloud.wait(lambda _: self.cloud.log('DELETE'))
        self.cloud.wait(lambda _: len(self.cloud.lists()) > 5)
        self.assertEqual(len(self.cloud.servers()), 1)
        self.assertEqual(self.observer.sync().node(node_id)['state'], 'deleting')
        self.cloud.remove('server', self.node['external_id'])
        self.wait_for_gone(node_id, limit=60)

    def test_volumes_and_ports_go_with_the_server(self):
        self.start([label(boot_from_volume=True)])
        request = self.submit('l', 'l', 'l')
        self.nodes_of(request)
        self.assertEqual(self.cloud.state()['most'],
                         {'server': 3, 'port': 3, 'volume': 3, 'floatingip': 0, 'image': 0})
        self.give_back(request)
        self.wait_for_nothing()


class Leaks(OpenStackCase):
    def start(self, cleanup_interval=1, **options):
        return super().start(launcher={'cleanup_interval': cleanup_interval}, **options)

    def tags(self, **changes):
        return {'metadata': {'nodepool_node_id': '0000004711', 'nodepool_provider_name': 'p',
                             'nodepool_pool_name': 'main', **changes}}

    def test_SM_44_F_09_seen_twice(self):
        launcher = self.start(cleanup_interval=3)  # a list is not used for longer than a second
        launcher.wait_for_log('Finished cleanup')
        since = self.cloud.mark()
        server, = self.cloud.make(**self.tags())
        self.cloud.wait_for_servers(0)
        between = self.cloud.log(since=since)
        deleted = next(index for index, entry in enumerate(between)
                       if entry['method'] == 'DELETE' and server in entry['path'])
        self.assertGreaterEqual(len([entry for entry in between[:deleted]
                                     if entry['path'].endswith('servers/detail')]), 2)

    def test_SM_43_of_somebody_else(self):
        self.cloud.make()
        self.cloud.make(**self.tags(nodepool_provider_name='q'))
        self.cloud.make(project='other', **self.tags())
        ours, = self.cloud.make(**self.tags())
        launcher = self.start()
        launcher.wait_for_log('Deleted leaked instance')
        launcher.wait_for_log('Finished cleanup', launcher.mark(), count=2)
        self.assertEqual(len(self.cloud.servers()), 3)
        self.assertNotIn(ours, [server['id'] for server in self.cloud.servers()])

    def test_F_35_half_of_the_pages(self):
        """A list that ends in the middle deletes nobody; all pages are followed."""
        self.cloud.settings(page=2)
        self.start()
        nodes = [self.nodes_of(self.submit('l'))[0] for _ in range(5)]
        self.cloud.faults({**LIST, 'skip': 1, 'times': 6, 'status': 500})
        leaked, = self.cloud.make(**self.tags())
        self.cloud.wait(lambda state: leaked not in [one['id'] for one in state['servers']], 60)
        self.assertEqual(len(self.cloud.servers()), 5)
        self.assertEqual(sorted(self.observer.sync().nodes()), sorted(nodes))


if __name__ == '__main__':
    unittest.main(verbosity=2)
