#!/usr/bin/python3
"""One cluster, two kinds of launchers: Nodepool's and Drover's serve one queue together.

    DROVER_NODEPOOL=FOLDER DROVER_LAUNCHER=PROGRAM DROVER_DRIVER_PATH=FOLDER test_mixed.py

Not among the tests that always run, because Nodepool's sources are not here.
"""

import os
import threading
import unittest

from crowd import Crowd
from launcher import machines, provider
from launcher_case import LauncherCase, is_full, seed_of
from nodepool_launcher import NodepoolLauncher

SLOTS = 8  # of each


@unittest.skipUnless(os.environ.get('DROVER_NODEPOOL'), 'Nodepool\'s sources are needed')
class Mixed(LauncherCase):
    tick = 2000

    def start_both(self):
        ours = self.launcher(provider('ours', machines(SLOTS // 2, ['l', 'a'], max_parallel_jobs=2)),
                             debug=False)
        theirs = NodepoolLauncher(self.server, self.chroot, [
            provider('theirs', machines(SLOTS // 2, ['l', 'b'], network=11, max_parallel_jobs=2))])
        self.addCleanup(theirs.close)
        self.launchers.append(theirs)  # is stopped, and its log shown, like one of ours
        theirs.start()
        self.wait(lambda cluster: len(cluster.ready_nodes()) == 2 * SLOTS, 60,
                  'the slots of both launchers')
        return ours, theirs

    def tearDown(self):
        """As for our own launchers, but Nodepool drops fields of records that it does not know."""
        finish, self.observer.finish = self.observer.finish, lambda: [
            finding for finding in finish() if not finding.startswith('keep: ')]
        super().tearDown()

    def jobs(self):
        return 1000 if is_full() else 200

    def test_one_queue(self):
        random = seed_of(self)
        self.start_both()
        Crowd(self.hosts, random, workers=10, labels=['l', 'l', 'a', 'b'],
              endings={'normal': 9, 'refuse': 1}).start(self.jobs()).join()
        self.wait_until_settled(2 * SLOTS, 180)

    def test_one_queue_and_either_is_killed(self):
        random = seed_of(self)
        launchers = self.start_both()
        crowd = Crowd(self.hosts, random, workers=10, labels=['l', 'l', 'a', 'b'],
                      endings={'normal': 9, 'refuse': 1}).start(self.jobs())
        done = threading.Thread(target=crowd.join)
        done.start()
        while done.is_alive():
            launcher = random.choice(launchers)
            launcher.kill()
            launcher.start()
            done.join(random.uniform(5, 15))
        done.join()
        self.wait_until_settled(2 * SLOTS, 180)


if __name__ == '__main__':
    unittest.main()
