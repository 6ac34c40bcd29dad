"""The launcher is killed at random moments, with the session kept and with the session lost."""

import json
import os
import unittest

from crowd import Crowd
from launcher import machines, provider
from launcher_case import LIMIT, LauncherCase, is_full, seed_of
from zuul_client import run_job

SHORT = 2


class Restart(LauncherCase):
    def test_session_is_taken_up_again(self):
        launcher = self.start_with(*machines(2))
        before = self.observer.sync().pools()
        waiting = self.submit('l', 'l', 'l')
        held = self.job('l')
        mark = self.observer.mark()
        launcher.kill()
        launcher.start()
        launcher.wait_for_log('taken up again')
        held.give_back()
        run_job(self.scheduler, self.executor, ['l'])
        self.wait_for_ready(2)
        # Nobody else noticed: the components, and the ids by which requests know the pools.
        self.assertEqual(self.observer.sync().pools(), before)
        for name in before:
            self.assertEqual(self.observer.changes(f'/nodepool/components/pool/{name}', mark), [])
        waiting.cancel()
        self.assertEqual(oct(os.stat(f'{launcher.folder}/state/session.json').st_mode)[-3:], '600')

    def test_decline_before_and_after_a_restart_counts_once(self):
        launcher = self.launcher(provider('p', machines(1)), provider('q', machines(1, 'm', 11)))
        self.wait_for_ready(2)
        self.wait_for_pools('p-main', 'q-main')
        launcher.kill()
        request = self.submit('unknown')
        launcher.start()
        declined_by = request.wait('failed')['declined_by']
        ids = {pool['id'] for pool in self.observer.sync().pools().values()}
        self.assertEqual(set(declined_by), ids)

    def test_L_103_requests_wait_for_the_launcher(self):
        # Whichever pool is there first leaves the other one what only that can serve.
        providers = [provider('p', machines(1)), provider('q', machines(1, 'm', 11)),
                     provider('r', machines(1, 'n', 12))]
        for _ in range(5):
            requests = [self.submit(label) for label in ('n', 'm', 'l')]
            launcher = self.launcher(*providers)
            for request in requests:
                request.wait('fulfilled')
                self.executor.refuse(request.id)
            impossible = self.submit('unknown')
            self.assertEqual(len(impossible.wait('failed')['declined_by']), 3)
            launcher.stop()

    def test_state_folder_has_one_holder(self):
        launcher = self.start_with(*machines(1))
        second = self.launcher(provider('p', machines(1)), start=False)
        second.arguments[second.arguments.index('--state-dir') + 1] = f'{launcher.folder}/state'
        second.start()
        second.wait_for_log('another process uses the state folder')
        self.assertEqual(second.wait_for_exit(), 1)

    def test_broken_state_is_no_obstacle(self):
        launcher = self.start_with(*machines(1), timeout=SHORT)
        launcher.kill()
        for text in ('', '{', '{"session": 1}', json.dumps({
                'session': 'ffff', 'password': 'AAAAAAAAAAAAAAAAAAAAAA==', 'holder': '0' * 16,
                'cluster': self.chroot})):
            with open(f'{launcher.folder}/state/session.json', 'w', encoding='utf-8') as file:
                file.write(text)
            launcher.start()
            run_job(self.scheduler, self.executor, ['l'])
            launcher.kill()
        launcher.start()
        self.wait_for_ready(1)

    def kill_again_and_again(self, state, times):
        random = seed_of(self)
        launcher = self.launcher(provider('p', machines(5, 'l', 10, max_parallel_jobs=2)),
                                 provider('q', machines(3, 'l m', 11)), state=state, timeout=SHORT,
                                 sync_interval=1, debug=False)
        self.wait_for_ready(13)
        self.wait_for_pools('p-main', 'q-main')
        crowd = Crowd(self.hosts, random, workers=4, labels=['l', 'l', 'm']).start()
        for _ in range(times):
            # After so many served requests, and a random part of what comes next.
            crowd.wait_for_served(random.randint(0, 6))
            with self.observer.changed:
                self.observer.changed.wait(random.random() * 0.03)
            launcher.kill()
            launcher.start()
        crowd.stop()
        crowd.join()
        self.wait_for_pools('p-main', 'q-main')
        # Every node is usable again, and nothing is left over.
        self.wait_until_settled(13, LIMIT)
        self.assertEqual(self.observer.sync().contenders(), [])
        # What nobody can serve fails for all of its pools, not for those of dead processes.
        request = self.submit('unknown')
        request.wait('failed')

    def test_L_102_ST_43_F_03_killed_with_session_kept(self):
        self.kill_again_and_again(True, 100 if is_full() else 15)

    def test_L_102_ST_43_F_03_killed_with_session_lost(self):
        self.kill_again_and_again(False, 100 if is_full() else 10)


if __name__ == '__main__':
    unittest.main(verbosity=2)
