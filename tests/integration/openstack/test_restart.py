"""A launcher that is killed in the middle; its successor goes on, and nothing is left."""

import unittest

from openstack_case import OpenStackCase
from openstack_cloud import CREATE, DELETE


class Killed(OpenStackCase):
    def restart(self, launcher):
        launcher.kill()
        launcher.start()
        self.wait_for_pools('p-main')

    def test_F_03_F_09_while_servers_are_being_made(self):
        self.cloud.settings(active_after=6)
        launcher = self.start()
        request = self.submit('l', 'l', 'l')
        self.cloud.wait_for_servers(3)
        self.wait(lambda cluster: len([node for node in cluster.nodes().values()
                                       if node.get('external_id')]) == 3)
        self.restart(launcher)
        self.nodes_of(request, limit=60)
        self.assertEqual(len(self.cloud.creates()), 3)
        self.wait_for_books()

    def test_F_03_OS_42_before_the_answer_to_a_create(self):
        """The cloud has taken it, and nobody has heard of it: exactly one server in the end."""
        self.cloud.faults({**CREATE, 'times': 1, 'never': 'after'})
        launcher = self.start(launcher={'cleanup_interval': 1})
        request = self.submit('l')
        self.cloud.wait_for_servers(1)
        self.restart(launcher)
        _, node = self.node_of(request, limit=90)
        self.wait_for_books(60)
        self.assertEqual([server['id'] for server in self.cloud.servers()], [node['external_id']])

    def test_F_03_while_a_floating_ip_is_being_made(self):
        self.cloud.settings(networks=[{'name': 'inside'}, {'name': 'public', 'external': True}],
                            router={'external': 'public', 'networks': ['inside']},
                            floating_active_after=4)
        launcher = self.start()
        request = self.submit('l')
        self.cloud.wait(lambda state: state['floatingips'])
        self.restart(launcher)
        self.node_of(request, limit=90)
        self.wait_for_books(60)

    def test_F_03_while_a_server_is_being_deleted(self):
        self.cloud.settings(delete_after=5)
        launcher = self.start()
        request = self.submit('l')
        self.node_of(request)
        self.give_back(request)
        self.cloud.wait(lambda _: self.cloud.log('DELETE'))
        self.restart(launcher)
        self.wait_for_nothing(60)

    def test_F_63_stop_while_servers_are_being_deleted(self):
        """They stay recorded for the next start."""
        self.cloud.faults({**DELETE, 'delete': 'stays'})
        launcher = self.start()
        request = self.submit('l', 'l')
        self.nodes_of(request)
        self.give_back(request)
        self.cloud.wait(lambda _: len(self.cloud.log('DELETE')) == 2)
        self.assertEqual(launcher.stop(), 0)
        self.assertEqual(len(self.observer.sync().nodes()), 2)
        self.cloud.faults()
        launcher.start()
        self.wait_for_nothing(60)


if __name__ == '__main__':
    unittest.main(verbosity=2)
