"""What belongs to machines of a real cloud, and what was left: disks, addresses, ports, images."""

import base64
import unittest

from figures import calls_of
from openstack_cloud import label
from real_case import LIMIT, RealCase

TAGS = {'nodepool_node_id': '0000004711', 'nodepool_provider_name': 'p',
        'nodepool_pool_name': 'main'}


class Parts(RealCase):
    def test_OS_13_OS_16_OS_17_OS_69_what_a_server_is_made_of(self):
        user = self.cloud.user
        user.compute.create_keypair(name='ci')
        self.addCleanup(user.compute.delete_keypair, 'ci')
        group = user.network.create_security_group(name='jobs')
        self.addCleanup(user.network.delete_security_group, group)
        self.start(label(min_ram=256, flavor_name='mal', key_name='ci', userdata='#!/bin/true',
                         instance_properties={'n': 5},
                         dynamic_instance_properties={'for': 'of {request.tenant_name}'}),
                   images=[{'name': 'plain', 'config-drive': True}],
                   main={'security-groups': ['jobs']})
        request = self.submit('l')
        node, = self.fulfilled(request)
        server = self.server_of(node)
        self.assertEqual((server.key_name, server.has_config_drive, server.flavor.original_name),
                         ('ci', 'True', 'small'))
        self.assertEqual([one['name'] for one in server.security_groups], ['jobs'])
        self.assertEqual((server.metadata['n'], server.metadata['for']), ('5', 'of tenant-1'))
        secret = self.cloud.admin.compute.get_server(server.id).user_data
        self.assertEqual(base64.b64decode(secret), b'#!/bin/true')
        self.assertEqual((node['az'], node['host_id'], node['cloud']),
                         ('nova', server.host_id, 'real'))
        self.assertEqual(node['resources'], {'instances': 1, 'cores': 1, 'ram': 512})
        self.give_back(request)

    def test_OS_19_OS_28_two_networks(self):
        """In the order of the label; one of them gives IPv6 addresses."""
        self.start(label(networks=['six', 'provider']))
        request = self.submit('l')
        node, = self.fulfilled(request)
        addresses = {name: one['addr'] for name, (one,) in
                     self.server_of(node).addresses.items()}
        self.assertEqual((node['public_ipv4'], node['public_ipv6']),
                         (addresses['provider'], addresses['six']))
        self.assertIn(node['interface_ip'], addresses.values())
        self.give_back(request)

    def test_OS_22_boot_from_volume(self):
        self.start(label(boot_from_volume=True, volume_size=3))
        request = self.submit('l', 'l', 'l')
        nodes = self.fulfilled(request)
        volumes = list(self.cloud.user.block_storage.volumes())
        self.assertEqual([(one.size, one.status) for one in volumes], [(3, 'in-use')] * 3)
        self.assertEqual({one.attachments[0]['server_id'] for one in volumes},
                         {node['external_id'] for node in nodes})
        for node in nodes:
            self.assertEqual(node['resources'], {'instances': 1, 'cores': 1, 'ram': 512,
                                                 'volumes': 1, 'volume-gb': 3})
        self.give_back(request)

    def test_OS_31_OS_32_floating_ips(self):
        launcher = self.start(main={'networks': ['inside']})
        requests = [self.submit('l') for _ in range(5)]
        nodes = self.fulfilled(*requests)
        addresses = {one.floating_ip_address: one.port_id
                     for one in self.cloud.user.network.ips(project_id=self.cloud.project)}
        self.assertEqual(sorted(addresses), sorted(node['public_ipv4'] for node in nodes))
        for node in nodes:
            port = self.cloud.user.network.get_port(addresses[node['public_ipv4']])
            self.assertEqual(port.device_id, node['external_id'])
            self.assertEqual(node['private_ipv4'], port.fixed_ips[0]['ip_address'])
            self.assertEqual(node['interface_ip'], node['public_ipv4'])
        self.assertEqual(calls_of(launcher)['POST /v2.0/floatingips'], 5)
        self.give_back(*requests)

    def test_launcher_is_killed_while_it_makes_addresses(self):
        launcher = self.start(main={'networks': ['inside']})
        requests = [self.submit('l') for _ in range(5)]
        launcher.wait_for_log('Floating IP .* is made', limit=LIMIT)
        launcher.kill()
        launcher.start()
        self.fulfilled(*requests)
        self.assertEqual([len(self.cloud.left()[kind]) for kind in ('servers', 'floating IPs')],
                         [5, 5])
        self.give_back(*requests)

    def test_OS_67_console(self):
        """There is no machine behind a server of the fake hypervisor, but words."""
        launcher = self.start(label(console_log=True), boot_timeout=5, launch_retries=1,
                              main={'host-key-checking': True})
        self.submit('l').wait('failed', limit=LIMIT)
        launcher.wait_for_log('FAKE CONSOLE')
        self.wait_for_nothing()


class Leaks(RealCase):
    def wait_until_gone(self, kind, thing):
        self.wait_in_cloud(lambda: thing not in self.cloud.left().get(kind, []), f'{thing} gone')

    def test_SM_42_SM_43_server(self):
        """One that nobody knows of goes; one that is somebody else's stays."""
        lost = self.cloud.make_server('lost', metadata=TAGS)
        other = self.cloud.make_server('other',
                                       metadata={**TAGS, 'nodepool_provider_name': 'q'})
        launcher = self.start(cleanup_interval=1)
        self.wait_until_gone('servers', lost)
        launcher.wait_for_log('Finished cleanup', launcher.mark(), count=3)
        self.assertEqual(self.cloud.left()['servers'], [other])
        self.cloud.user.compute.delete_server(other)
        self.wait_for_nothing()

    def test_SM_42_server_with_floating_ip_and_volume(self):
        launcher = self.start(label(boot_from_volume=True, volume_size=1), cleanup_interval=1,
                              main={'networks': ['inside']})
        request = self.submit('l')
        self.fulfilled(request)
        self.assertEqual({kind: len(things) for kind, things in self.cloud.left().items()},
                         {'servers': 1, 'ports': 1, 'floating IPs': 1, 'volumes': 1})
        node_id, = request.record['nodes']
        self.client.delete(f'/nodepool/nodes/{node_id}', recursive=True)
        launcher.wait_for_log('Deleted leaked instance', limit=LIMIT)
        request.cancel()
        self.wait_for_nothing()

    def test_SM_44_image(self):
        lost = self.cloud.make_image('lost', self.cloud.user, nodepool_provider_name='p',
                                     nodepool_build_id='b1', nodepool_upload_id='0000000001')
        other = self.cloud.make_image('other', self.cloud.user)
        launcher = self.start(cleanup_interval=1)
        self.wait_until_gone('images', lost)
        launcher.wait_for_log('Finished cleanup', launcher.mark(), count=3)
        self.assertEqual(self.cloud.left(), {'images': [other]})
        self.cloud.user.image.delete_image(other)

    def test_OS_50_OS_70_ports(self):
        """Those that are DOWN for long go; those of another project stay."""
        provider = self.cloud.user.network.find_network('provider')
        for owner in ('', 'compute:nova'):
            self.cloud.user.network.create_port(network_id=provider.id, device_owner=owner)
        foreign = self.cloud.admin.network.create_port(network_id=provider.id)
        self.addCleanup(self.cloud.admin.network.delete_port, foreign)
        launcher = self.start(cleanup_interval=1, port_cleanup_interval=2)
        launcher.wait_for_log('The leaked port .* is deleted', limit=LIMIT, count=2)
        self.wait_for_nothing()
        self.assertEqual(self.cloud.admin.network.get_port(foreign).status, 'DOWN')

    def test_OS_53_floating_ip(self):
        outside = self.cloud.user.network.find_network('outside')
        self.cloud.user.network.create_ip(floating_network_id=outside.id)
        launcher = self.start(cleanup_interval=1, clean_floating_ips=True)
        launcher.wait_for_log('The leaked floating IP .* is deleted', limit=LIMIT)
        self.wait_for_nothing()


if __name__ == '__main__':
    unittest.main(verbosity=2, warnings='ignore')
