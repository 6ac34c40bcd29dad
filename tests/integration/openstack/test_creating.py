"""What servers are asked for, and what nodes say of them."""

import base64
import time
import unittest

from cloud import pool
from openstack_case import OpenStackCase
from openstack_cloud import label
from zuul_client import encode

LARGE = [{'name': 'Unreal Flavor', 'vcpus': 4, 'ram': 8192},
         {'name': 'Fake Flavor', 'vcpus': 4, 'ram': 8192}]
HOST_KEYS = {'nodepool_node_id', 'nodepool_provider_name', 'nodepool_pool_name'}


class Flavors(OpenStackCase):
    def flavor_of(self, **options):
        """The name of the flavor that a label's servers get."""
        self.start([label('l', **options)])
        _, node = self.node_of(self.submit('l'))
        return node, self.server_of(node)['flavor']['name']

    def test_OS_13_by_size_and_part_of_the_name(self):
        self.cloud.settings(flavors=LARGE)
        node, name = self.flavor_of(min_ram=8192, flavor_name='Fake')
        self.assertEqual(name, 'Fake Flavor')
        self.assertEqual({key: node['resources'][key] for key in ('cores', 'ram', 'instances')},
                         {'cores': 4, 'ram': 8192, 'instances': 1})

    def test_OS_14_least_that_is_enough(self):
        self.cloud.settings(flavors=[{'name': 'b', 'vcpus': 1, 'ram': 8192},
                                     {'name': 'z', 'vcpus': 1, 'ram': 4096},
                                     {'name': 'a', 'vcpus': 1, 'ram': 4096}])
        _, name = self.flavor_of(min_ram=4096)
        self.assertEqual(name, 'a')

    def test_OS_15_id(self):
        _, name = self.flavor_of(flavor_name=self.cloud.flavor_id('medium'))
        self.assertEqual(name, 'medium')

    def test_OS_15_part_of_a_name_is_none(self):
        self.cloud.settings(flavors=[{'name': 'm1.small', 'vcpus': 1, 'ram': 2048}])
        launcher = self.start([label('l', flavor_name='m1'), label('k', flavor_name='m1.small')])
        self.submit('l').wait('failed')
        launcher.wait_for_log('m1')
        self.assertEqual(self.creates(), [])
        self.node_of(self.submit('k'))


class Bodies(OpenStackCase):
    def test_OS_16_OS_17_everything(self):
        self.cloud.settings(networks=[{'name': 'a'}, {'name': 'b'}], security_groups=['web', 'db'])
        self.start(pools=[pool(
            labels=[label('l', key_name='key', userdata='#cloud-config\n{}\n', networks=['b', 'a'],
                          instance_properties={'mine': 'x', 'nodepool_node_id': 'not-me'})],
            availability_zones=['nova'], security_groups=['web', 'db'])],
            cloud_images=[{'name': 'img', 'image-name': 'plain', 'config-drive': True},
                          {'name': 'plain', 'config-drive': True}])
        node_id, node = self.node_of(self.submit('l'))
        asked, = self.creates()
        metadata = asked.pop('metadata')
        self.assertEqual(asked, {
            'name': f'np{node_id}', 'flavorRef': self.cloud.flavor_id('small'),
            'imageRef': self.cloud.image_id('plain'), 'min_count': 1, 'max_count': 1,
            'key_name': 'key', 'availability_zone': 'nova', 'config_drive': True,
            'security_groups': [{'name': 'web'}, {'name': 'db'}],
            'user_data': base64.b64encode(b'#cloud-config\n{}\n').decode(),
            'networks': [{'uuid': self.cloud.network_id('b')},
                         {'uuid': self.cloud.network_id('a')}]})
        self.assertEqual(metadata['groups'], 'p,plain,l')
        self.assertEqual((metadata['mine'], metadata['nodepool_node_id']), ('x', node_id))
        self.assertLessEqual(HOST_KEYS, set(metadata))
        self.assertEqual((node['az'], node['cloud'], node['region'], node['provider']),
                         ('nova', 'fake', None, 'p'))
        self.assertTrue(node['host_id'])

    def test_OS_16_as_little_as_possible(self):
        self.cloud.settings(zones=[])
        self.start()
        self.node_of(self.submit('l'))
        asked, = self.creates()
        self.assertEqual(set(asked), {'name', 'flavorRef', 'imageRef', 'min_count', 'max_count',
                                      'metadata', 'networks'})

    def test_OS_18_properties_made_of_the_request(self):
        self.start([label('l', dynamic_instance_properties={
            'tenant': 'Tenant is {request.tenant_name}'}, instance_properties={'tenant': 'none'})])
        self.node_of(self.submit('l'))
        self.assertEqual(self.creates()[0]['metadata']['tenant'], 'Tenant is tenant-1')

    def test_OS_69_numbers_become_text(self):
        self.start([label('l', instance_properties={'n': 5, 'yes': True})])
        self.node_of(self.submit('l'))
        metadata = self.creates()[0]['metadata']
        self.assertEqual((metadata['n'], metadata['yes']), ('5', 'true'))

    def test_OS_19_networks_of_labels_and_pools(self):
        self.cloud.settings(networks=[{'name': name} for name in 'abc'])
        self.start(pools=[pool(labels=[label('l', networks=['b', 'c']), label('m')],
                               networks=['a'])])
        for name, networks in (('l', 'bc'), ('m', 'a')):
            self.node_of(self.submit(name))
            self.assertEqual(self.creates()[-1]['networks'],
                             [{'uuid': self.cloud.network_id(one)} for one in networks])

    def test_OS_20_no_networks(self):
        self.start()
        self.node_of(self.submit('l'))
        self.assertEqual(self.creates()[0]['networks'], 'auto')

    def test_OS_20_no_networks_for_an_older_cloud(self):
        self.cloud.settings(microversion='2.30')
        self.start()
        self.node_of(self.submit('l'))
        self.assertNotIn('networks', self.creates()[0])

    def test_OS_20_default_interface(self):
        self.cloud.settings(networks=[{'name': 'a'}, {'name': 'b'}])
        self.cloud.write_clouds({'fake': self.cloud.entry(networks=[
            {'name': 'b', 'default_interface': True}])})
        self.start()
        self.node_of(self.submit('l'))
        self.assertEqual(self.creates()[0]['networks'], [{'uuid': self.cloud.network_id('b')}])

    def test_OS_21_security_groups_of_pools(self):
        self.cloud.settings(security_groups=['default', 'fake-sg'])
        self.start(pools=[pool('one', [label('l')], security_groups=['fake-sg']),
                          pool('two', [label('m')])])
        self.node_of(self.submit('l'))
        self.node_of(self.submit('m'))
        first, second = self.creates()
        self.assertEqual(first['security_groups'], [{'name': 'fake-sg'}])
        self.assertNotIn('security_groups', second)

    def test_OS_22_boot_from_volume(self):
        self.start([label('l', boot_from_volume=True, volume_size=10)])
        request = self.submit('l')
        _, node = self.node_of(request)
        asked, = self.creates()
        self.assertEqual(asked['imageRef'], '')
        self.assertEqual(asked['block_device_mapping_v2'], [
            {'boot_index': '0', 'uuid': self.cloud.image_id('plain'), 'source_type': 'image',
             'destination_type': 'volume', 'volume_size': '10', 'delete_on_termination': True}])
        self.assertEqual((node['resources']['volumes'], node['resources']['volume-gb']), (1, 10))
        self.assertEqual(len(self.cloud.state()['volumes']), 1)
        self.give_back(request)
        self.wait_for_nothing()

    def test_resources_without_volumes(self):
        self.start()
        _, node = self.node_of(self.submit('l'))
        self.assertEqual(node['resources'], {'instances': 1, 'cores': 1, 'ram': 2048})


class Zones(OpenStackCase):
    def test_OS_23_zones_of_pools(self):
        self.cloud.settings(zones=['az1', 'az2'])
        self.start(pools=[pool('one', [label('l')], availability_zones=['az1']),
                          pool('two', [label('m')], availability_zones=['az2'])])
        zones = [self.node_of(self.submit(name))[1]['az'] for name in ('l', 'm')]
        self.assertEqual(zones, ['az1', 'az2'])

    def test_nodes_of_a_request_are_kept_together(self):
        self.cloud.settings(zones=['az1', 'az2', 'az3'])
        self.start()
        for _ in range(3):
            nodes = self.nodes_of(self.submit('l', 'l', 'l'))
            cluster = self.observer.sync()
            self.assertEqual(len({cluster.node(node_id)['az'] for node_id in nodes}), 1)

    def test_OS_24_zones_get_other_names(self):
        """The first attempt is refused, and goes on with what there is now."""
        self.cloud.settings(zones=['old'])
        launcher = self.start(launch_retries=1)
        self.assertEqual(self.node_of(self.submit('l'))[1]['az'], 'old')
        self.cloud.settings(zones=['new'])
        self.assertEqual(self.node_of(self.submit('l'))[1]['az'], 'new')
        self.assertEqual([entry['status'] for entry in self.cloud.creates()], [202, 400, 202])
        self.assertEqual(launcher.find_log('Launch attempt'), [])

    def test_OS_25_zones_are_not_told(self):
        self.cloud.faults({'method': 'GET', 'path': 'os-availability-zone', 'status': 403})
        self.start()
        self.node_of(self.submit('l'))
        self.assertNotIn('availability_zone', self.creates()[0])


class Images(OpenStackCase):
    def test_OS_26_by_id_without_a_look(self):
        image_id = self.cloud.image_id('plain')
        self.start(cloud_images=[{'name': 'plain', 'image-id': image_id}])
        self.node_of(self.submit('l'))
        self.assertEqual(self.creates()[0]['imageRef'], image_id)
        self.assertEqual([entry for entry in self.cloud.log('GET', '/image/v2/images')
                          if 'nodepool_provider_name' not in entry['query']], [])

    def test_OS_26_missing(self):
        launcher = self.start(cloud_images=[{'name': 'plain', 'image-name': 'missing'}])
        request = self.submit('l')
        request.wait('failed')
        launcher.wait_for_log(f'{request.id}.*Declined.*images are not available')
        self.assertEqual(self.creates(), [])

    def test_OS_59_F_35_many_images(self):
        """Ours is on the second page of those that Glance gives who does not ask for more."""
        for index in range(30):
            self.cloud.make('image', name=f'other-{index}')
        self.start()
        self.node_of(self.submit('l'))

    def test_OS_27_winrm(self):
        self.start(cloud_images=[{'name': 'plain', 'connection-type': 'winrm'},
                                 {'name': 'other', 'image-name': 'plain', 'username': 'admin',
                                  'connection-type': 'winrm', 'connection-port': 1234}],
                   pools=[pool(labels=[label('l'), label('m', cloud_image='other')])])
        for name, port, username in (('l', 5986, None), ('m', 1234, 'admin')):
            _, node = self.node_of(self.submit(name))
            self.assertEqual((node['connection_type'], node['connection_port'], node['username'],
                              node['python_path'], node['host_keys']),
                             ('winrm', port, username, 'auto', []))

    def test_image_that_was_uploaded(self):
        """A builder's record names the image; its id goes straight into the request."""
        image_id, = self.cloud.make('image', name='img-1')
        build = '/nodepool/images/img/builds/f8a5a9f4c8c14a5f9d0b6f9f6a1e2d3c'
        folder = f'{build}/providers/p/images'
        self.client.ensure_path(folder)
        self.client.set(build, encode({'state': 'ready', 'state_time': 1.0}))
        path = self.client.create(f'{folder}/', encode({
            'state': 'ready', 'state_time': time.time(), 'external_id': image_id,
            'external_name': 'img-1', 'format': 'qcow2', 'username': 'builder'}), sequence=True)
        provider = self.cloud.provider('p', [label('l', diskimage='img')],
                                       diskimages=[{'name': 'img', 'config-drive': True}])
        self.launcher(provider, diskimages=[{'name': 'img', 'elements': ['vm'],
                                             'username': 'builder'}])
        _, node = self.node_of(self.submit('l'))
        self.assertEqual((node['image_id'], node['username'], node['connection_port']),
                         (path, 'builder', 22))
        asked, = self.creates()
        self.assertEqual((asked['imageRef'], asked['config_drive'], asked['metadata']['groups']),
                         (image_id, True, 'p,img,l'))

    def test_uploaded_image_that_is_gone(self):
        """It was deleted by hand: the attempts fail, nothing is left, other labels go on."""
        image_id, = self.cloud.make('image', name='img-1')
        self.start(cloud_images=[{'name': 'gone', 'image-id': image_id}, {'name': 'plain'}],
                   pools=[pool(labels=[label('g', cloud_image='gone'), label('l')])])
        self.node_of(self.submit('g'))
        self.cloud.remove('image', image_id)
        self.submit('g').wait('failed')
        self.node_of(self.submit('l'))
        self.wait_for_books()


class Addresses(OpenStackCase):
    def address_of(self, **options):
        self.start(**options)
        return self.node_of(self.submit('l'))[1]

    def test_external_network(self):
        node = self.address_of()
        self.assertEqual((node['public_ipv4'], node['interface_ip'], node['public_ipv6']),
                         ('127.100.1.2', '127.100.1.2', ''))

    def test_OS_28_F_37_both_versions(self):
        """Whatever stands first in the list."""
        self.cloud.settings(networks=[{'name': 'public', 'external': True, 'versions': [6, 4]}])
        node = self.address_of()
        self.assertEqual((node['public_ipv4'], node['public_ipv6']), ('127.100.1.2', 'fd00:0::2'))
        self.assertIn(node['interface_ip'], (node['public_ipv4'], node['public_ipv6']))

    def test_OS_29_OS_30_no_public_address(self):
        self.cloud.settings(networks=[{'name': 'inside'}])
        node = self.address_of(pools=[pool(labels=[label()], auto_floating_ip=False)])
        self.assertEqual((node['public_ipv4'], node['public_ipv6'], node['private_ipv4'],
                          node['interface_ip']), ('', '', '127.100.1.2', '127.100.1.2'))

    def test_OS_30_private(self):
        self.cloud.settings(networks=[{'name': 'inside'}, {'name': 'public', 'external': True}],
                            router={'external': 'public', 'networks': ['inside']})
        self.cloud.write_clouds({'fake': self.cloud.entry(private=True)})
        node = self.address_of()
        self.assertEqual(node['interface_ip'], '127.100.1.2')
        self.assertEqual(self.cloud.log('POST', '/network/v2.0/floatingips'), [])

    def test_access_address_counts_first(self):
        self.cloud.settings(active_after=1)
        self.start()
        request = self.submit('l')
        server, = self.cloud.wait_for_servers(1)
        self.cloud.change('server', server['id'], access4='192.0.2.17')
        _, node = self.node_of(request)
        self.assertEqual(node['public_ipv4'], '192.0.2.17')

    def test_F_37_ports_are_late(self):
        """ACTIVE without an address: not ready yet."""
        self.cloud.settings(ports_after=2)
        node = self.address_of()
        self.assertEqual(node['interface_ip'], '127.100.1.2')


if __name__ == '__main__':
    unittest.main(verbosity=2)
