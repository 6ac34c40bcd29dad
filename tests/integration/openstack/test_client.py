"""The fake OpenStack, and what a launcher makes in it, seen by OpenStack's own client library."""

import os
import unittest

import openstack.config
import openstack.connection
from cloud import pool
from openstack_case import OpenStackCase
from openstack_cloud import OpenStack, label


def connect(cloud):
    config = openstack.config.OpenStackConfig(
        config_files=[cloud.environment['OS_CLIENT_CONFIG_FILE']], secure_files=[])
    return openstack.connection.Connection(config=config.get_one('fake'))


class Form(unittest.TestCase):
    """The library, which knows the real form, takes every answer, and every request is taken."""

    def setUp(self):
        self.cloud = OpenStack(networks=[{'name': 'private', 'versions': [4, 6]},
                                         {'name': 'public', 'external': True}],
                               router={'external': 'public', 'networks': ['private']}).start()
        self.addCleanup(self.cloud.close)
        self.connection = connect(self.cloud)
        self.addCleanup(self.connection.close)

    def tearDown(self):
        self.assertEqual(self.cloud.state()['complaints'], [])

    def create(self, **options):
        server = self.connection.compute.create_server(
            name='np1', flavor_id=self.cloud.flavor_id('small'), metadata={'key': 'value'},
            image_id=self.cloud.image_id('plain'), **{'networks': 'auto', **options})
        return self.connection.compute.wait_for_server(server, interval=0.1)

    def test_life_of_a_server(self):
        server = self.create()
        self.assertEqual((server.status, server.metadata, server.flavor.vcpus, server.flavor.ram),
                         ('ACTIVE', {'key': 'value'}, 1, 2048))
        self.assertEqual([one['version'] for one in server.addresses['private']], [4, 6])
        self.assertEqual([one.id for one in self.connection.compute.servers()], [server.id])
        port, = self.connection.network.ports(device_id=server.id)
        self.assertEqual((port.status, port.device_owner), ('ACTIVE', 'compute:nova'))
        self.assertEqual(self.connection.compute.get_limits().absolute.total_cores_used, 1)
        self.connection.compute.delete_server(server)
        self.connection.compute.wait_for_delete(server, interval=0.1)
        self.assertEqual(self.cloud.state()['ports'], [])

    def test_floating_ip(self):
        server = self.create()
        port, = self.connection.network.ports(device_id=server.id)
        network = self.connection.network.find_network('public')
        self.assertTrue(network.is_router_external)
        made = self.connection.network.create_ip(floating_network_id=network.id, port_id=port.id)
        server = self.connection.compute.get_server(server)
        shown = [one['addr'] for one in server.addresses['private']
                 if one['OS-EXT-IPS:type'] == 'floating']
        self.assertEqual(shown, [made.floating_ip_address])
        self.connection.network.delete_ip(made)
        self.assertEqual(list(self.connection.network.ips()), [])

    def test_pages(self):
        self.cloud.settings(page=2)
        ids = self.cloud.make(count=5)
        self.assertEqual([one.id for one in self.connection.compute.servers()], ids[::-1])
        for index in range(30):
            self.cloud.make('image', name=f'image-{index}')
        self.cloud.settings(page=1000)
        self.assertEqual(len(list(self.connection.image.images())), 31)

    def test_image(self):
        image = self.connection.image.create_image('up', disk_format='qcow2', data=b'data',
                                                   container_format='bare', meta={'key': 'value'})
        self.cloud.wait(lambda state: state['images'][0]['status'] == 'active')
        image = self.connection.image.get_image(image.id)
        self.assertEqual((image.size, image.checksum),
                         (4, '8d777f385d3dfec8815d20f7496026dc'))
        self.connection.image.delete_image(image)
        self.assertEqual(self.cloud.state()['images'], [])

    def test_refusals(self):
        self.cloud.limits(instances=0)
        with self.assertRaisesRegex(openstack.exceptions.HttpException,
                                    'Quota exceeded for instances: Requested 1, but already used '
                                    '0 of 0 instances'):
            self.create()
        with self.assertRaisesRegex(openstack.exceptions.ResourceNotFound, 'could not be found'):
            self.connection.compute.get_server('00000000-0000-0000-0000-000000000000')
        with self.assertRaises(openstack.exceptions.ResourceNotFound):
            self.connection.network.get_port('00000000-0000-0000-0000-000000000000')


class SameServers(OpenStackCase):
    def test_OS_17_SM_42_servers_and_their_metadata(self):
        """Both see the same: what the launcher wrote down, and what the library reads."""
        connection = connect(self.cloud)
        self.addCleanup(connection.close)
        self.start(pools=[pool(labels=[label('l', boot_from_volume=True, volume_size=10)])])
        node_ids = self.nodes_of(self.submit('l', 'l'))
        nodes = {node['external_id']: node_id for node_id, node in self.observer.sync().nodes().items()}
        servers = {server.id: server for server in connection.compute.servers()}
        self.assertEqual({server_id: server.metadata['nodepool_node_id']
                          for server_id, server in servers.items()}, nodes)
        self.assertEqual(sorted(nodes.values()), sorted(node_ids))
        for server in servers.values():
            self.assertEqual((server.name, server.metadata['groups']),
                             (f'np{nodes[server.id]}', 'p,plain,l'))
            self.assertEqual(server.metadata['nodepool_provider_name'], 'p')
        self.assertEqual([one.size for one in connection.block_storage.volumes()], [10, 10])


if __name__ == '__main__':
    for name in [name for name in os.environ if name.startswith('OS_')]:
        del os.environ[name]
    unittest.main(verbosity=2)
