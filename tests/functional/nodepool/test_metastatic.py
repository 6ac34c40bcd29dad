#!/usr/bin/python3
"""Nodepool's launcher takes over what ours has cut into slots, and ours takes it back.

    DROVER_NODEPOOL=FOLDER DROVER_LAUNCHER=PROGRAM DROVER_DRIVER_PATH=FOLDERS test_metastatic.py

Not among the tests that always run, because Nodepool's sources are not here.
"""

import json
import os
import unittest

from metastatic_case import OWNER, MetastaticCase, metastatic, slot_label
from nodepool_launcher import NodepoolLauncher

LONG = 300


@unittest.skipUnless(os.environ.get('DROVER_NODEPOOL'), 'Nodepool\'s sources are needed')
class Takeover(MetastaticCase):
    tick = 2000

    def setUp(self):
        super().setUp()
        self.begin(self.backing_provider())  # throughout

    def tearDown(self):
        """As for our own launchers, but Nodepool drops fields of records that it does not know."""
        finish, self.observer.finish = self.observer.finish, lambda: [
            finding for finding in finish() if not finding.startswith('keep: ')]
        super().tearDown()

    def begin_ours(self, *labels):
        launcher = self.launcher(metastatic(*labels), cleanup_interval=1)
        self.wait_for_pools('meta-main', 'p-main')
        return launcher

    def begin_theirs(self, *labels):
        launcher = NodepoolLauncher(self.server, self.chroot, [metastatic(*labels)])
        self.addCleanup(launcher.close)
        self.launchers.append(launcher)  # is stopped, and its log shown, like one of ours
        launcher.start()
        self.wait_for_pools('meta-main', 'p-main')
        return launcher

    def end(self, launcher):
        launcher.stop()
        self.wait_for_pools('p-main')

    def place(self):
        """(request, id, place) of a new node."""
        request, node_id, node = self.serve()
        return request, node_id, self.place_of(node)

    def test_ME_32_there_and_back(self):
        label = slot_label(grace_time=LONG)
        launcher = self.begin_ours(label)
        _, _, (one, _) = self.place()
        self.end(launcher)
        launcher = self.begin_theirs(label)
        _, _, place = self.place()
        self.assertEqual(place, (one, 1))
        _, _, (two, slot) = self.place()
        self.assertEqual(slot, 0)
        self.assertNotEqual(two, one)
        self.assertEqual(self.contenders(two), [OWNER])
        self.end(launcher)
        launcher = self.begin_ours(label)
        _, _, place = self.place()
        self.assertEqual(place, (two, 1))
        _, _, (three, _) = self.place()
        self.assertNotIn(three, (one, two))
        for record in self.backing().values():
            self.assertEqual(set(json.loads(record['user_data'])),
                             {'owner', 'label', 'slots', 'failed', 'launched'})
        self.assertEqual(launcher.find_log(' (ERROR|WARNING) '), [])

    def test_ME_32_they_release_what_we_claimed(self):
        label = slot_label(grace_time=1)
        launcher = self.begin_ours(label)
        request, node_id, _ = self.place()
        nodes = self.use(request)
        self.end(launcher)
        self.begin_theirs(label)
        nodes.give_back()
        self.wait_for_gone(node_id)
        self.wait_for_no_nodes(limit=150)
        self.cloud.wait_for_machines(0)

    def test_ME_32_we_release_what_they_claimed(self):
        label = slot_label(grace_time=1)
        launcher = self.begin_theirs(label)
        request, node_id, _ = self.place()
        nodes = self.use(request)
        self.end(launcher)
        self.begin_ours(label)
        nodes.give_back()
        self.wait_for_gone(node_id)
        self.wait_for_no_nodes()
        self.cloud.wait_for_machines(0)


if __name__ == '__main__':
    unittest.main(verbosity=2)
