"""What the options do: checks of the configuration, host keys, limits, ready nodes."""

import unittest

from launcher import Launcher
from metastatic_case import MetastaticCase, metastatic, slot_label

LONG = 300


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
        """What the pool publishes of its limits comes with its decisions."""
        self.begin(self.backing_provider(), metastatic(slot_label(max_parallel_jobs=20)))
        pools = {record['provider_name']: record
                 for record in self.observer.sync().pools().values()}
        self.assertEqual(pools['meta']['priority'], 1)
        requests = [self.submit('user') for _ in range(10)]
        places = [self.place_of(self.node_of(request)[1]) for request in requests]
        self.assertEqual(sorted(slot for _, slot in places), list(range(10)))
        waiting = self.submit('user')
        self.wait_for_paused(pool='meta-main')
        self.wait(lambda cluster: [decisions['limits']['pool']['instances'] for decisions in
                                   cluster.tree.records('/drover/decisions').values()
                                   if decisions['provider'] == 'meta'] == [10])
        self.give_back(requests[0])
        self.node_of(waiting)


class Reached(MetastaticCase):
    def test_ME_12_H_30_node_is_not_reached(self):
        sshd = self.sshd()
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
        """But for the keys of the backing node, before it is claimed."""
        sshd = self.sshd()
        self.begin(self.backing_provider(checked=True), metastatic(slot_label(grace_time=LONG)))
        found = self.submit('backing')
        _, node = self.node_of(found)
        self.assertEqual(node['host_keys'], sshd.keys)
        self.refuse(found)
        contacts = self.cloud.state()['connections']['accepted']
        self.assertGreater(sum(contacts.values()), 0)
        for _ in range(2):
            _, _, node = self.serve()
            self.assertEqual(node['host_keys'], sshd.keys)
        (_, backing), = self.backing().items()
        self.assertEqual(backing['host_keys'], sshd.keys)
        self.assertEqual(self.cloud.state()['connections']['accepted'], contacts)


class Limits(MetastaticCase):
    def test_ME_35_backing_pool_is_full(self):
        self.begin(self.backing_provider(max_servers=1), metastatic())
        filling = self.use(self.submit('backing'))
        waiting = self.submit('user')
        self.wait_for_paused(pool='p-main')
        self.assertEqual(self.observer.sync().request(waiting.id)['state'], 'pending')
        filling.give_back()
        _, node = self.node_of(waiting)
        self.assertEqual(self.place_of(node)[1], 0)

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
