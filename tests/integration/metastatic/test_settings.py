"""What the options do: checks of the configuration, host keys, limits, ready nodes."""

import unittest

from cloud_case import CREATE
from launcher import Launcher
from metastatic_case import MetastaticCase, metastatic, slot_label
from sshd import Sshd


class Checked(MetastaticCase):
    def refusal(self, *providers):
        """What the launcher says of a configuration that it does not take."""
        launcher = Launcher(self.server, self.chroot, providers)
        self.addCleanup(launcher.close)
        launcher.start()
        self.assertNotEqual(launcher.wait_for_exit(60), 0)
        return '\n'.join(launcher.lines)

    def test_ME_01_labels_of_one_backing_label(self):
        text = self.refusal(self.backing_provider(), metastatic(
            slot_label('one'), slot_label('other', max_parallel_jobs=3)))
        self.assertRegex(text, 'labels one and other .* same max-parallel-jobs')
        self.begin(self.backing_provider(), metastatic(slot_label('one'), slot_label('other')))

    def test_ME_02_age_and_retention(self):
        text = self.refusal(self.backing_provider(), metastatic(
            slot_label(max_age=10, min_retention_time=20)))
        self.assertRegex(text, 'max-age is less than min-retention-time')

    def test_ME_33_rings(self):
        self.assertRegex(self.refusal(metastatic(slot_label('a', 'a'))), 'backing-label a')
        text = self.refusal(metastatic(slot_label('a', 'b')),
                            metastatic(slot_label('b', 'a'), name='other'))
        self.assertRegex(text, 'the backing-label b leads back to this provider')

    def test_isolation_is_refused(self):
        self.assertRegex(self.refusal(self.backing_provider(), metastatic(isolation='process')),
                         'isolation: found process, must be none')

    def test_ME_03_pool_values(self):
        self.begin()
        pools = {record['provider_name']: record
                 for record in self.observer.sync().pools().values()}
        self.assertEqual(pools['meta']['priority'], 1)


class Reached(MetastaticCase):
    def test_ME_12_H_30_node_is_not_reached(self):
        sshd = Sshd().start()
        self.addCleanup(sshd.close)
        self.cloud.settings(listener={'kind': 'forward', 'to': sshd.port})
        launcher = self.begin(self.backing_provider(), metastatic(
            slot_label(), boot_timeout=4, pool_options={'host_key_checking': True}))
        first, first_id, node = self.serve()
        one, _ = self.place_of(node)
        self.assertEqual(node['host_keys'], sshd.keys)
        mark = launcher.mark()
        sshd.stop()
        second = self.submit('user')
        launcher.wait_for_log('Cannot reach', mark, 60)
        sshd.start()
        second_id, node = self.node_of(second, 60)
        two, slot = self.place_of(node)
        self.assertNotEqual(two, one)
        self.assertEqual(slot, 0)
        self.assertTrue(self.user_data(one)['failed'])
        third, third_id, node = self.serve()
        self.assertEqual(self.place_of(node), (two, 1))
        self.delete(third, third_id)
        self.assertEqual(sorted(self.backing()), sorted([one, two]))
        self.delete(second, second_id)
        self.wait_for_backing(one)
        self.delete(first, first_id)
        self.wait_for_no_nodes()

    def test_ME_13_H_29_not_contacted(self):
        """The machines have no listener at all."""
        keys = ['ssh-ed25519 AAAA']
        self.cloud.faults({**CREATE, 'machine': {'connection': {'host_keys': keys}}})
        self.begin()
        _, _, node = self.serve()
        (_, backing), = self.backing().items()
        self.assertEqual(node['host_keys'], backing['host_keys'])


class Limits(MetastaticCase):
    def test_ME_34_tenants(self):
        self.begin(tenant_resource_limits=[{'tenant-name': 'tenant-1', 'max-servers': 1}])
        first, first_id, _ = self.serve()
        waiting = self.submit('user')
        other = self.submit('user', tenant='tenant-2')
        self.node_of(other)
        self.assertNotEqual(self.observer.sync().request(waiting.id)['state'], 'fulfilled')
        self.delete(first, first_id)
        self.node_of(waiting)

    def test_ME_36_ready_backing_node(self):
        backing = self.backing_provider()
        self.begin(backing, metastatic(), labels=[{'name': 'backing', 'min-ready': 1},
                                                  {'name': 'user'}])
        ready, = self.wait_for_ready(1, 'backing')
        _, _, node = self.serve()
        self.assertEqual(self.place_of(node)[0], ready)


if __name__ == '__main__':
    unittest.main()
