"""Ways to log in, tokens that end, endpoints of the catalog and of the configuration."""

import json
import os
import subprocess
import tempfile
import unittest

from openstack_case import OpenStackCase
from openstack_cloud import CREATE, TOKENS, OpenStack, label

ISSUE = {'method': 'POST', 'path': TOKENS}


def logins(cloud, since=0):
    """Bodies of all requests for a token."""
    return [json.loads(entry['body'])['auth']
            for entry in cloud.log('POST', '/identity/v3/auth/tokens', since)]


class Ways(OpenStackCase):
    def works_with(self, auth=None, **values):
        self.cloud.write_clouds({'fake': self.cloud.entry(auth, **values)})
        launcher = self.start()
        self.node_of(self.submit('l'))
        return launcher

    def works_with_exactly(self, auth, **values):
        self.cloud.write_clouds({'fake': {'auth': {'auth_url': self.cloud.auth_url, **auth},
                                          **values}})
        launcher = self.start()
        self.node_of(self.submit('l'))
        return launcher

    def test_password(self):
        self.works_with()
        login, = logins(self.cloud)
        self.assertEqual(login, {
            'identity': {'methods': ['password'], 'password': {'user': {
                'name': 'drover', 'password': 'password-of-the-test', 'domain': {'id': 'default'}}}},
            'scope': {'project': {'name': 'drover', 'domain': {'id': 'default'}}}})

    def test_auth_url_with_its_version(self):
        self.works_with({'auth_url': f'{self.cloud.auth_url}/v3'}, auth_type='v3password')
        self.assertEqual(self.cloud.log('GET', '/identity'), [])

    def test_names_of_domains(self):
        self.works_with_exactly({'username': 'drover', 'password': 'password-of-the-test',
                                 'project_name': 'drover', 'domain_name': 'Default'})
        login, = logins(self.cloud)
        self.assertEqual(login['scope'],
                         {'project': {'name': 'drover', 'domain': {'name': 'Default'}}})

    def test_OS_07_application_credential(self):
        self.works_with_exactly(
            {'application_credential_id': '559f54ac44024ba4b644cb92510705df',
             'application_credential_secret': 'secret-of-the-test'},
            auth_type='v3applicationcredential')
        login, = logins(self.cloud)
        self.assertEqual(login, {'identity': {
            'methods': ['application_credential'], 'application_credential': {
                'id': '559f54ac44024ba4b644cb92510705df', 'secret': 'secret-of-the-test'}}})

    def test_OS_07_application_credential_by_name(self):
        self.works_with_exactly(
            {'application_credential_name': 'for-drover', 'username': 'drover',
             'application_credential_secret': 'secret-of-the-test', 'user_domain_id': 'default'},
            auth_type='v3applicationcredential')
        self.assertNotIn('scope', logins(self.cloud)[0])

    def test_OS_06_secret_in_a_file_of_its_own(self):
        self.cloud.write_file('secure.yaml', {'clouds': {'fake': {
            'auth': {'password': 'password-of-the-test'}}}})
        self.works_with({'password': 'of-somebody-else'})

    def test_OS_05_another_password(self):
        launcher = self.works_with()
        self.cloud.settings(users=[{'name': 'drover', 'password': 'new', 'project': 'drover'}])
        self.cloud.revoke()
        since = self.cloud.mark()
        self.cloud.write_clouds({'fake': self.cloud.entry({'password': 'new'})})
        launcher.reload([self.cloud.provider('p', rate=0.002)])
        self.node_of(self.submit('l'))
        self.assertEqual(logins(self.cloud, since)[-1]['identity']['password']['user']['password'],
                         'new')

    def test_OS_74_no_secrets_in_the_log(self):
        launcher = self.start([label(userdata='userdata-of-the-test')])
        self.node_of(self.submit('l'))
        token = 'gAAAAAB-'
        for secret in ('password-of-the-test', 'adminPass-of-the-test', 'userdata-of-the-test',
                       'dXNlcmRhdGEtb2YtdGhlLXRlc3Q', token):
            self.assertEqual(launcher.find_log(secret), [])


class Refused(OpenStackCase):
    def check_refused(self, words, **options):
        """A provider that cannot start; another one can."""
        bad = self.cloud.provider('bad', labels=[label('m')], **options)
        launcher = self.launcher(bad, self.cloud.provider('p'))
        launcher.wait_for_log(f'ERROR .*{words}')
        self.node_of(self.submit('l'))

    def test_OS_03_F_47_no_such_cloud(self):
        self.check_refused('nope', cloud='nope')

    def test_OS_04_no_such_region(self):
        self.cloud.write_clouds({'fake': self.cloud.entry(), 'regions': self.cloud.entry(
            regions=['RegionOne', 'RegionTwo'])})
        self.check_refused('RegionOne.*RegionTwo', cloud='regions', region_name='elsewhere')

    def test_OS_08_way_that_is_not_known(self):
        self.cloud.write_clouds({'fake': self.cloud.entry(),
                                 'oidc': self.cloud.entry(auth_type='v3oidcpassword')})
        self.check_refused('v3oidcpassword.*password', cloud='oidc')

    def test_OS_72_name_without_domain(self):
        entry = self.cloud.entry()
        del entry['auth']['user_domain_id']
        self.cloud.write_clouds({'bare': entry})
        launcher = self.launcher(self.cloud.provider('bad', cloud='bare'))
        self.launchers.remove(launcher)
        self.assertNotEqual(launcher.wait_for_exit(), 0)
        launcher.wait_for_log('provider bad.*bare.*username needs user_domain_name')

    def test_F_47_wrong_password(self):
        """The provider is not served by, its requests are not failed in a storm, others are."""
        self.cloud.write_clouds({'fake': self.cloud.entry(),
                                 'wrong': self.cloud.entry({'password': 'wrong'})})
        launcher = self.launcher(self.cloud.provider('bad', [label('m')], cloud='wrong'),
                                 self.cloud.provider('p'))
        self.wait_for_pools('bad-main', 'p-main')
        self.submit('m')
        self.node_of(self.submit('l'))
        launcher.wait_for_log('ERROR .*requires authentication')
        self.assertLess(len(logins(self.cloud)), 12)


class Tokens(OpenStackCase):
    def test_OS_09_F_31_renewed_before_it_ends(self):
        """One new token for all who need it at once, and nobody is refused."""
        self.cloud.settings(token_life=100)
        self.start(launch_retries=1)
        self.cloud.wait(lambda _: logins(self.cloud), what='a token that ends soon')
        self.cloud.settings(token_life=3600)
        since = self.cloud.mark()
        self.nodes_of(self.submit(*['l'] * 15))
        self.assertLessEqual(len(logins(self.cloud, since)), 1)
        self.assertGreaterEqual(len(logins(self.cloud)), 2)
        self.assertEqual([entry for entry in self.cloud.log() if entry['status'] == 401], [])

    def test_OS_10_F_31_ends_in_the_middle(self):
        """Exactly one new token, although many calls are refused."""
        self.cloud.settings(active_after=2)
        launcher = self.start(launch_retries=1)
        request = self.submit(*['l'] * 10)
        self.cloud.wait_for_servers(10)
        since = self.cloud.mark()
        self.cloud.revoke()
        others = [self.submit('l') for _ in range(5)]
        for one in [request, *others]:
            self.nodes_of(one)
        self.assertEqual(len(logins(self.cloud, since)), 1)
        self.assertEqual(launcher.find_log('Launch attempt'), [])
        self.wait_for_books()

    def test_OS_10_refused_again(self):
        """A service that takes no token: an error, and no storm of logins."""
        launcher = self.start(launch_retries=1)
        self.node_of(self.submit('l'))
        since = self.cloud.mark()
        self.cloud.faults({**CREATE, 'status': 401})
        self.submit('l').wait('failed')
        self.assertLessEqual(len(logins(self.cloud, since)), 2)
        self.assertLessEqual(len(self.cloud.creates(since)), 2)
        launcher.wait_for_log('ERROR .*attempt 1/1 failed')
        self.cloud.faults()
        self.node_of(self.submit('l'))

    def test_F_31_F_25_login_refused_for_a_while(self):
        launcher = self.start(launch_retries=1)
        first, _ = self.node_of(self.submit('l'))
        self.cloud.faults({**ISSUE, 'status': 401})
        self.cloud.revoke()
        since = self.cloud.mark()
        request = self.submit('l')
        launcher.wait_for_log('ERROR ')
        self.cloud.wait(lambda _: logins(self.cloud, since))
        self.cloud.faults()
        if request.wait('fulfilled', 'failed', limit=60)['state'] == 'failed':
            self.cloud.wait(lambda _: self.submit('l').wait('fulfilled', 'failed', limit=60)['state'] ==
                            'fulfilled', 60)
        self.assertLess(len(logins(self.cloud, since)), 12)
        self.assertIsNotNone(self.observer.sync().node(first))


class Endpoints(OpenStackCase):
    def paths(self):
        """First parts of the paths of Nova's calls."""
        return {entry['path'].partition('/compute')[0] for entry in self.cloud.log()
                if '/compute/' in entry['path']}

    def test_OS_12_interface(self):
        self.cloud.write_clouds({'fake': self.cloud.entry(interface='internal')})
        self.start()
        self.node_of(self.submit('l'))
        self.assertEqual(self.paths(), {'/internal'})

    def test_OS_12_override(self):
        self.cloud.write_clouds({'fake': self.cloud.entry(
            compute_endpoint_override=f'{self.cloud.url}/admin/compute/v2.1')})
        self.start()
        self.node_of(self.submit('l'))
        self.assertEqual(self.paths(), {'/admin'})

    def test_region(self):
        self.cloud.settings(regions=['RegionOne', 'RegionTwo'])
        self.start(region_name='RegionTwo')
        _, node = self.node_of(self.submit('l'))
        self.assertEqual((node['region'], node['cloud']), ('RegionTwo', 'fake'))
        self.assertEqual(self.paths(), {'/RegionTwo'})

    def test_highest_microversion(self):
        self.cloud.settings(microversion='2.72')
        self.start()
        self.node_of(self.submit('l'))
        entry, = self.cloud.creates()
        self.assertEqual(entry['headers']['openstack-api-version'], 'compute 2.72')
        self.assertTrue(entry['user_agent'].startswith('drover/'))

    def test_OS_54_no_volumes(self):
        self.cloud.settings(services=['network', 'image', 'compute', 'identity'])
        self.cloud.limits(instances=-1, cores=8)
        self.start([label(), label('v', boot_from_volume=True)])
        self.submit('v').wait('failed')
        self.nodes_of(self.submit(*['l'] * 8))
        self.submit(*['l'] * 9).wait('failed')


def make_certificate(folder):
    """(certificate and authority in one, key)"""
    paths = f'{folder}/certificate', f'{folder}/key'
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2',
                    '-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1',
                    '-out', paths[0], '-keyout', paths[1]], check=True, capture_output=True)
    return paths


class Encrypted(OpenStackCase):
    """Over TLS."""

    def setUp(self):
        super().setUp()
        folders = [tempfile.TemporaryDirectory(prefix='drover-test-') for _ in range(2)]
        for folder in folders:
            self.addCleanup(folder.cleanup)
        self.certificate, self.another = (make_certificate(folder.name) for folder in folders)
        self.cloud.close()
        self.cloud = OpenStack(certificate=self.certificate).start()
        self.addCleanup(self.cloud.close)

    def test_OS_11_authority(self):
        self.cloud.write_clouds({'fake': self.cloud.entry(cacert=self.certificate[0])})
        self.start()
        self.node_of(self.submit('l'))

    def test_OS_11_another_authority(self):
        self.cloud.write_clouds({'fake': self.cloud.entry(cacert=self.another[0])})
        launcher = self.launcher(self.cloud.provider('p'))
        self.submit('l')
        launcher.wait_for_log('(ERROR|WARNING) .*([Cc]ertificate|TLS|SSL)')
        self.assertEqual(self.cloud.log(), [])

    def test_OS_11_no_check(self):
        self.cloud.write_clouds({'fake': self.cloud.entry(verify=False)})
        launcher = self.start()
        self.node_of(self.submit('l'))
        launcher.wait_for_log('WARNING .*certificate')


if __name__ == '__main__':
    for name in [name for name in os.environ if name.startswith('OS_')]:
        del os.environ[name]
    unittest.main(verbosity=2)
