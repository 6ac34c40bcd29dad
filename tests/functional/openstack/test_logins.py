"""Ways to log in to a real Keystone, and tokens that end."""

import unittest

import keystoneauth1.exceptions

from figures import answers_of, calls_of
from openstack_cloud import label
from real_case import LIMIT, TOKEN_LIFE, RealCase

# The clock of this host is ten minutes late for the launcher: it believes tokens to live longer.
LATE = {'LD_PRELOAD': '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1', 'FAKETIME': '-10m',
        'FAKETIME_DONT_FAKE_MONOTONIC': '1'}
LOGGED_IN = 'Logged in'


class Logins(RealCase):
    def serves(self, **options):
        request = self.submit('l')
        launcher = self.start(**options)
        self.fulfilled(request)
        self.give_back(request)
        return launcher

    def test_OS_07_application_credential(self):
        identity = self.cloud.user.identity
        user = self.cloud.user.current_user_id
        credential = identity.create_application_credential(user, 'drover')
        self.addCleanup(identity.delete_application_credential, user, credential.id)
        self.clouds['real'] = {
            'auth_type': 'v3applicationcredential', 'region_name': 'RegionOne',
            'auth': {'auth_url': self.cloud.auth('drover')['auth_url'],
                     'application_credential_id': credential.id,
                     'application_credential_secret': credential.secret},
            'networks': self.clouds['real']['networks']}
        self.serves()

    def test_token(self):
        self.clouds['real']['auth_type'] = 'v3token'
        self.clouds['real']['auth'] = {
            'auth_url': self.cloud.auth('drover')['auth_url'], 'project_name': 'drover',
            'project_domain_id': 'default', 'token': self.cloud.user.auth_token}
        self.serves()

    def test_OS_12_internal_interface(self):
        self.clouds['real']['interface'] = 'internal'
        self.serves()

    def test_OS_12_endpoint_override(self):
        nova = f'http://localhost:{self.cloud.ports["nova"]}/v2.1'
        self.clouds['real']['compute_endpoint_override'] = nova
        launcher = self.serves()
        self.assertEqual(len(launcher.find_log(f'POST {nova}/servers: 202')), 1)

    def test_OS_10_revoked_tokens(self):
        """The token is not valid any more before its time."""
        launcher = self.start()
        first = self.submit('l')
        self.fulfilled(first)
        mark = launcher.mark()
        self.cloud.forget_tokens()
        launcher.wait_for_log(LOGGED_IN, mark, LIMIT)  # by what is asked now and then
        second = self.submit('l')
        self.fulfilled(second)
        self.check_one_login(launcher, mark)
        self.give_back(first, second)

    def test_OS_10_expired_token(self):
        """The driver does not know that its token has ended, as the clocks differ."""
        self.cloud.set_token_life(60)
        self.addCleanup(self.cloud.set_token_life, TOKEN_LIFE)
        launcher = self.start(cleanup_interval=3600, environment=LATE)
        first = self.submit('l')
        self.fulfilled(first)
        mark = launcher.mark()
        self.wait_until_expired(self.cloud.connect('drover').session)
        second = self.submit('l')
        self.fulfilled(second)
        self.check_one_login(launcher, mark)
        self.give_back(first, second)

    def check_one_login(self, launcher, mark):
        """After calls were refused, which were repeated with success."""
        self.assertGreater(answers_of(launcher, 401, mark), 0)
        self.assertEqual(len(launcher.find_log(LOGGED_IN, mark)), 1)
        self.assertEqual(launcher.find_log('Launch attempt'), [])

    def wait_until_expired(self, session):
        """A token that is issued now, and so each one before it."""
        token, url = session.get_token(), self.cloud.auth('drover')['auth_url'] + '/auth/tokens'

        def is_refused():
            try:
                session.get(url, headers={'X-Auth-Token': token, 'X-Subject-Token': token},
                            authenticated=False)
            except keystoneauth1.exceptions.Unauthorized:
                return True
            return False
        self.wait_in_cloud(is_refused, 'a token that has expired')

    def test_OS_09_renewed_before_it_ends(self):
        """No call is ever refused."""
        self.cloud.set_token_life(150)  # two minutes before the end it is renewed
        self.addCleanup(self.cloud.set_token_life, TOKEN_LIFE)
        launcher = self.start()
        requests = [self.submit('l')]
        self.fulfilled(*requests)
        launcher.wait_for_log(LOGGED_IN, count=2, limit=120)
        requests.append(self.submit('l'))
        self.fulfilled(*requests)
        self.assertEqual(answers_of(launcher, 401), 0)
        self.give_back(*requests)

    def test_OS_74_no_secret_in_the_log(self):
        launcher = self.start(label(userdata='of-a-secret'))
        request = self.submit('l')
        self.fulfilled(request)
        self.give_back(request)
        password = self.cloud.auth('drover')['password']
        self.assertGreater(calls_of(launcher)['POST /v3/auth/tokens'], 0)
        for secret in (password, 'gAAAA', 'adminPass', 'of-a-secret', 'b2YtYS1zZWNyZXQ'):
            self.assertEqual(launcher.find_log(secret), [])


if __name__ == '__main__':
    unittest.main(verbosity=2, warnings='ignore')
