"""Servers that are reached before they count as ready."""

import unittest

from cloud import pool
from openstack_case import OpenStackCase
from openstack_cloud import label
from sshd import Sshd


class Scanning(OpenStackCase):
    def start_scanned(self, port, labels, checked, **options):
        """Servers are at 127.0.0.1 and are reached at the port, when their label is checked."""
        self.cloud.settings(address='127.0.0.1')
        image = {'name': 'plain', 'connection-port': port}
        return self.start(pools=[pool(labels=labels, checked=checked)], cloud_images=[image],
                          **options)

    def consoles(self):
        return [entry for entry in self.cloud.log('POST') if entry['path'].endswith('/action')]

    def test_H_06_label_goes_before_the_pool(self):
        sshd = Sshd(('ed25519',)).start()
        self.addCleanup(sshd.close)
        self.start_scanned(sshd.port, [label('l', host_key_checking=True), label('m')], False)
        _, checked = self.node_of(self.submit('l'))
        _, unchecked = self.node_of(self.submit('m'))
        self.assertEqual((checked['host_keys'], unchecked['host_keys']), (sshd.keys, []))

    def test_OS_67_console_after_a_failed_scan(self):
        """Nothing listens on port 1."""
        launcher = self.start_scanned(
            1, [label('l', console_log=True), label('m')], True, boot_timeout=1, launch_retries=2)
        self.submit('m').wait('failed')
        self.assertEqual(self.consoles(), [])
        self.submit('l').wait('failed')
        self.assertEqual(len(self.consoles()), 2)
        self.assertEqual(len(launcher.find_log('INFO .*second line$')), 2)
        self.wait_for_nothing()


if __name__ == '__main__':
    unittest.main(verbosity=2)
