"""The base of tests with servers of the fake OpenStack, a cloud of its own for each test.

At the end of each test the cloud has had no request that it does not know the form of.
"""

from cloud_case import CloudCase
from launcher_case import LIMIT
from openstack_cloud import OpenStack


class OpenStackCase(CloudCase):
    cloud_class = OpenStack

    def launcher(self, *providers, start=True, **options):
        launcher = super().launcher(*providers, start=False, **options)
        launcher.environment = self.cloud.environment
        return launcher.start() if start else launcher

    def tearDown(self):
        super().tearDown()
        if self.cloud.process is not None:
            self.assertEqual(self.cloud.state()['complaints'], [])

    def wait_for_books(self, limit=LIMIT):
        """Each server is a node's, each port, volume and floating IP a server's."""
        def balance(state):
            nodes = self.observer.sync().nodes()
            known = {node['external_id'] for node in nodes.values()}
            servers = {server['id'] for server in state['servers']}
            ports = {port['id'] for port in state['ports']}
            return (servers == known and
                    {port['device_id'] for port in state['ports']} <= servers and
                    {volume['server'] for volume in state['volumes']} <= servers and
                    {floating['port_id'] for floating in state['floatingips']} <= ports and
                    all(node['state'] in ('ready', 'in-use', 'hold') for node in nodes.values()))
        self.cloud.wait(balance, limit, 'books that balance')

    def wait_for_nothing(self, limit=LIMIT):
        """No node and nothing in the cloud."""
        self.wait_for_no_nodes(limit)
        self.cloud.wait(lambda state: not any(state[kind] for kind in (
            'servers', 'ports', 'volumes', 'floatingips')), limit, 'an empty cloud')

    def server_of(self, node):
        """The server of a node's record."""
        return next(server for server in self.cloud.servers()
                    if server['id'] == node['external_id'])

    def creates(self, since=0):
        return self.cloud.asked(since)
