"""Floating IPs: made when they are needed, and gone with their servers."""

import unittest

from cloud import pool
from http_site import METRICS, Site, WithStatsd
from openstack_case import OpenStackCase
from openstack_cloud import label

INSIDE = [{'name': 'inside'}, {'name': 'public', 'external': True}]
ROUTER = {'external': 'public', 'networks': ['inside']}
FLOATING = '/network/v2.0/floatingips'


class Floating(OpenStackCase):
    cloud_settings = {'networks': INSIDE, 'router': ROUTER}

    def made(self, since=0):
        return self.cloud.log('POST', FLOATING, since)

    def test_OS_31_OS_32_life(self):
        self.cloud.settings(floating_active_after=0.5, floating_shown_after=1)
        self.start()
        request = self.submit('l')
        _, node = self.node_of(request)
        floating, = self.cloud.state()['floatingips']
        self.assertEqual((node['public_ipv4'], node['interface_ip'], node['private_ipv4']),
                         (floating['address'], floating['address'], '127.100.1.2'))
        self.assertTrue(floating['shown'])
        self.assertEqual(node['external_id'], self.cloud.servers()[0]['id'])
        self.assertEqual(len(self.made()), 1)
        self.assertIn('port_id', self.made()[0]['body'])
        since = self.cloud.mark()
        self.give_back(request)
        self.wait_for_nothing()
        deleted = [entry['path'].split('/')[-2] for entry in self.cloud.log('DELETE', since=since)]
        self.assertEqual(deleted, ['floatingips', 'servers'])

    def test_OS_30_none_wanted(self):
        self.start(pools=[pool(labels=[label()], auto_floating_ip=False)])
        _, node = self.node_of(self.submit('l'))
        self.assertEqual(node['interface_ip'], '127.100.1.2')
        self.assertEqual([entry for entry in self.cloud.log() if 'floatingips' in entry['path'] and
                          entry['method'] == 'POST'], [])

    def test_no_source_of_floating_ips(self):
        self.cloud.write_clouds({'fake': self.cloud.entry(floating_ip_source='None')})
        self.start()
        self.node_of(self.submit('l'))
        self.assertEqual(self.made(), [])

    def test_quota_of_floating_ips(self):
        """For quota is no failure: it waits, and goes on when there is room."""
        self.cloud.limits(floatingips=1)
        self.start()
        first = self.submit('l')
        self.node_of(first)
        second = self.submit('l')
        self.cloud.wait(lambda _: len(self.made()) >= 2)
        self.wait(lambda _: self.node_paths('aborted'))
        second.wait('pending')
        self.give_back(first)
        self.node_of(second, limit=90)
        self.wait_for_books()

    def test_OS_34_port_on_the_network_that_a_router_reaches(self):
        self.cloud.settings(networks=[{'name': 'closed', 'gateway': False}, *INSIDE])
        self.start([label(networks=['closed', 'inside'])])
        self.node_of(self.submit('l'))
        floating, = self.cloud.state()['floatingips']
        port = next(port for port in self.cloud.state()['ports']
                    if port['id'] == floating['port_id'])
        self.assertEqual(port['network'], 'inside')

    def test_OS_34_network_that_is_configured(self):
        self.cloud.settings(networks=[{'name': 'first'}, *INSIDE])
        self.cloud.write_clouds({'fake': self.cloud.entry(networks=[
            {'name': 'inside', 'nat_destination': True}])})
        self.start([label(networks=['first', 'inside'])])
        self.node_of(self.submit('l'))
        floating, = self.cloud.state()['floatingips']
        self.assertEqual(floating['fixed'].split('.')[1], '101')

    def test_create_of_a_floating_ip_fails(self):
        """The attempt fails, its server is deleted, the next one works."""
        self.cloud.faults({'method': 'POST', 'path': f'{FLOATING}$', 'times': 1, 'status': 500})
        launcher = self.start()
        self.node_of(self.submit('l'), limit=60)
        launcher.wait_for_log('attempt 1/3 failed')
        self.wait_for_books()

    def test_answer_about_a_floating_ip_lost(self):
        self.cloud.faults({'method': 'POST', 'path': f'{FLOATING}$', 'times': 1, 'drop': 'after'})
        self.start()
        self.node_of(self.submit('l'), limit=60)
        self.wait_for_books(60)

    def test_OS_33_never_active(self):
        """Also 60 s of the driver's own clock."""
        self.cloud.settings(floating_active_after=None)
        launcher = self.start(launch_retries=1)
        request = self.submit('l')
        request.wait('failed', limit=120)
        launcher.wait_for_log('ERROR .*attempt 1/1 failed')
        self.wait_for_nothing()

    def test_leaked_server_with_a_floating_ip(self):
        launcher = self.start(launcher={'cleanup_interval': 1})
        node_id, = self.nodes_of(self.submit('l'))
        self.client.delete(f'/nodepool/nodes/{node_id}', recursive=True)
        launcher.wait_for_log('Deleted leaked instance', limit=60)
        self.wait_for_nothing()


class Cleaning(WithStatsd, OpenStackCase):
    """What nobody uses any more."""

    def start(self, settings=None, **options):
        return super().start(launcher={'cleanup_interval': 1, **(settings or {})}, **options)

    def test_OS_50_OS_51_ports(self):
        down = [self.cloud.make('port')[0], *self.cloud.make('port', device_owner='')]
        dhcp, = self.cloud.make('port', device_owner='network:dhcp')
        up, = self.cloud.make('port')
        launcher = self.start(port_cleanup_interval=2)
        launcher.wait_for_log('Finished cleanup')
        self.cloud.change('port', up, status='ACTIVE')
        self.cloud.wait(lambda state: not {port['id'] for port in state['ports']} & set(down))
        self.assertEqual({port['id'] for port in self.cloud.state()['ports']}, {dhcp, up})

    def test_OS_50_ports_of_servers_that_exist(self):
        """A server that was stopped, or is not up yet, has its port DOWN."""
        server, = self.cloud.make()
        down, = self.cloud.make('port', device_id=server)
        leaked, = self.cloud.make('port', device_id='of-a-server-that-is-gone')
        self.start(port_cleanup_interval=1)
        self.cloud.wait(lambda state: leaked not in {port['id'] for port in state['ports']})
        self.assertIn(down, {port['id'] for port in self.cloud.state()['ports']})

    def test_OS_70_login_without_a_project(self):
        """All projects are seen, none is one's own."""
        entry = self.cloud.entry({'username': 'admin', 'password': 'password-of-the-admin',
                                  'system_scope': 'all'})
        del entry['auth']['project_name']
        self.cloud.write_clouds({'fake': entry})
        self.cloud.make('port')
        self.cloud.make('floatingip')
        launcher = self.start(port_cleanup_interval=1, clean_floating_ips=True)
        launcher.wait_for_log('Finished cleanup', count=5)
        self.assertEqual(self.cloud.log('DELETE'), [])

    def test_OS_52_no_ports(self):
        self.cloud.make('port')
        launcher = self.start(port_cleanup_interval=0)
        launcher.wait_for_log('Finished cleanup', count=3)
        self.assertEqual(self.cloud.log('GET', '/network/v2.0/ports'), [])
        self.assertEqual(len(self.cloud.state()['ports']), 1)

    def test_OS_53_floating_ips(self):
        self.cloud.make('floatingip')
        self.start(clean_floating_ips=True)
        self.cloud.wait(lambda state: not state['floatingips'])
        deleted = next(index for index, entry in enumerate(self.cloud.log())
                       if entry['method'] == 'DELETE')
        self.assertGreaterEqual(len([entry for entry in self.cloud.log()[:deleted]
                                     if entry['path'] == FLOATING]), 2)

    def test_OS_53_floating_ips_are_left(self):
        self.cloud.make('floatingip')
        launcher = self.start()
        launcher.wait_for_log('Finished cleanup', count=3)
        self.assertEqual(len(self.cloud.state()['floatingips']), 1)

    def test_M_22_counted(self):
        """What it cleans is counted, in one number for each look; what stays is not."""
        self.cloud.faults({'method': 'DELETE', 'path': '/floatingips/', 'times': 1, 'status': 409})
        self.cloud.make('port', 2)
        self.cloud.make('floatingip')
        launcher = self.start(port_cleanup_interval=2, clean_floating_ips=True, settings={
            'prometheus': {'launcher': {'port': 0, 'listen_address': '127.0.0.1'}}})
        site = Site(launcher, METRICS)
        for what, count in (('ports', 2), ('floatingips', 1)):
            self.statsd.wait(f'nodepool.provider.p.leaked.{what}:{count}|c', limit=60)
            site.wait_for_sample('drover_leaked_resources_deleted_total', count, provider='p',
                                 resource=what)
        launcher.wait_for_log('leaked floating IP .* cannot be deleted')
        self.assertEqual(self.statsd.total('nodepool.provider.p.leaked.floatingips'), 1)
        self.assertEqual(self.statsd.total('nodepool.provider.p.leaked.ports'), 2)

    def test_OS_70_other_projects(self):
        """An administrator sees what others have, and leaves it alone."""
        self.cloud.write_clouds({'fake': self.cloud.entry(
            {'username': 'admin', 'password': 'password-of-the-admin'})})
        port, = self.cloud.make('port', project='other')
        floating, = self.cloud.make('floatingip', project='other')
        self.cloud.make('port')
        self.cloud.make('floatingip')
        self.start(port_cleanup_interval=2, clean_floating_ips=True)
        self.cloud.wait(lambda state: (len(state['ports']), len(state['floatingips'])) == (1, 1))
        state = self.cloud.state()
        self.assertEqual((state['ports'][0]['id'], state['floatingips'][0]['id']), (port, floating))


if __name__ == '__main__':
    unittest.main(verbosity=2)
