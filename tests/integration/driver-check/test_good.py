"""The drivers of this tree keep the contract."""

import unittest

from checking import CheckCase
from cloud import Cloud, label
from openstack_cloud import OpenStack, label as openstack_label
from sshd import Sshd

# What a driver that makes machines has to have done.
MACHINES = ('create', 'resource-listed', 'delete', 'delete-again', 'delete-unknown',
            'needless-steps', 'cancel', 'resume', 'resume-nonsense', 'stop', 'leftovers')


class GoodDriverTest(CheckCase):
    def assert_good(self, outcome, done):
        status, checks = outcome
        self.assertEqual(self.failed(checks), {})
        self.assertEqual(status, 0)
        for name in done:
            self.assertEqual(checks[name][0], 'ok', (name, checks[name]))

    def image(self):
        path = f'{self.folder}/image.raw'
        with open(path, 'wb') as out:
            out.write(b'an image' * 1000)
        return path

    def test_FT_09_static(self):
        server = Sshd().start()
        self.addCleanup(server.close)
        node = {'name': server.address, 'connection-port': server.port, 'labels': ['l'],
                'username': 'zuul'}
        config = self.config({'name': 'p', 'driver': 'static',
                              'pools': [{'name': 'main', 'nodes': [node]}]})
        self.assert_good(self.check('drivers/static', '--config', config),
                         ('life', 'quiet', 'inventory', 'slot-register', 'slot-check'))

    def test_FT_09_testcloud(self):
        with Cloud() as cloud:
            config = self.config(cloud.provider('p', labels=[label('l')]))
            self.assert_good(
                self.check('test-drivers/testcloud', '--config', config, '--image', self.image()),
                MACHINES + ('console', 'quota-limits', 'quota-label', 'quota-usage', 'zone-list',
                            'label-ready', 'image-list', 'image-upload', 'image-delete-unknown'))
            state = cloud.state()
        self.assertEqual((state['machines'], state['volumes']), ([], []))

    def test_testcloud_that_blocks(self):
        with Cloud() as cloud:
            config = self.config(cloud.provider('p', labels=[label('l')], style='blocking'))
            # It does all in one step: there is nothing to save.
            self.assert_good(self.check('test-drivers/testcloud', '--config', config),
                             [name for name in MACHINES if name != 'resume'])

    def test_FT_09_openstack(self):
        with OpenStack() as cloud:
            config = self.config(cloud.provider('p', labels=[openstack_label('l')]))
            self.assert_good(
                self.check('drivers/openstack', '--config', config, '--image', self.image(),
                           environment=cloud.environment),
                MACHINES + ('console', 'quota-limits', 'quota-label', 'image-upload'))
            self.assertEqual(cloud.state()['servers'], [])
            self.assertEqual(cloud.state()['complaints'], [])

    def test_FT_09_metastatic(self):
        config = self.config({'name': 'p', 'driver': 'metastatic', 'pools': [
            {'name': 'main', 'labels': [{'name': 'l', 'backing-label': 'other',
                                         'max-parallel-jobs': 2}]}]})
        self.assert_good(self.check('drivers/metastatic', '--config', config),
                         ('life', 'quiet', 'create', 'delete', 'needless-steps', 'cancel'))


if __name__ == '__main__':
    unittest.main()
