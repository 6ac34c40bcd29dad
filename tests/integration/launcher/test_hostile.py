"""A driver that means harm: its provider is shown as unhealthy, and no other provider is harmed."""

import os
import unittest

from launcher import machines, provider
from launcher_case import LauncherCase

FOLDER = os.path.join(os.path.dirname(os.environ['DROVER_DRIVER_PATH'].split(':')[0]),
                      'hostile-drivers')


def hostile(name, attack, gate, **options):
    return {'name': name, 'driver': 'hostile', 'attack': attack, 'gate': gate,
            'driver-timeout': 1, 'pools': [{'name': 'main', 'labels': [{'name': 'h'}]}], **options}


class Hostile(LauncherCase):
    def setUp(self):
        super().setUp()
        self.gate = None

    def start(self, attack):
        """A launcher whose provider `bad` blocks as long as `gate` exists, beside a good one."""
        good = provider('good', machines(2))
        launcher = self.launcher(start=False)
        self.gate = f'{launcher.folder}/gate'
        with open(self.gate, 'w', encoding='utf-8'):
            pass
        self.addCleanup(self.open_gate)
        launcher.configure([good, hostile('bad', attack, self.gate)])
        launcher.environment['DROVER_DRIVER_PATH'] = \
            f"{os.environ['DROVER_DRIVER_PATH']}:{FOLDER}/hostile"
        launcher.start()
        self.wait_for_ready(2)
        return launcher

    def open_gate(self):
        if os.path.exists(self.gate):
            os.unlink(self.gate)

    def bad(self, launcher):
        one, = [one for one in launcher.command('status')['providers'] if one['name'] == 'bad']
        return one

    def wait_for_state(self, launcher, state):
        self.observer.wait(lambda _: self.bad(launcher)['state'] == state, what=state)

    def components(self, name):
        return [pool for pool in self.observer.sync().pools().values()
                if pool['provider_name'] == name]

    def serve_another(self):
        self.job('l').give_back()

    def test_F_47_blocks_in_an_operation(self):
        launcher = self.start('block-operation')
        waiting = self.submit('h')
        self.wait_for_state(launcher, 'unhealthy')
        self.assertIn('machine_create()', self.bad(launcher)['problem'])
        self.wait(lambda cluster: [pool for pool in cluster.pools().values()
                                   if 'problem' in pool], what='a component that says so')
        component, = self.components('bad')
        self.assertIn('machine_create()', component['problem'])
        self.assertTrue(component['paused'])
        self.serve_another()
        self.open_gate()
        self.wait_for_state(launcher, 'running')
        self.wait(lambda cluster: not any('problem' in pool for pool in
                                              cluster.pools().values()))
        waiting.wait('failed', 'fulfilled')

    def test_F_47_blocks_at_the_start(self):
        launcher = self.start('block-open')
        self.wait_for_state(launcher, 'unhealthy')
        self.assertIn('provider_open()', self.bad(launcher)['problem'])
        self.serve_another()
        self.open_gate()
        self.wait_for_state(launcher, 'running')


class Checking(LauncherCase):
    """What a driver does when it is to check its section costs that configuration only."""

    def start(self):
        launcher = self.launcher(start=False)
        launcher.configure([provider('good', machines(2))])
        launcher.environment['DROVER_DRIVER_PATH'] = \
            f"{os.environ['DROVER_DRIVER_PATH']}:{FOLDER}/hostile"
        launcher.start()
        self.wait_for_ready(2)
        return launcher

    def offer(self, launcher, attack, said):
        """A configuration with a hostile provider, and a new good one, is refused."""
        mark = launcher.mark()
        launcher.configure([provider('good', machines(2)), hostile('bad', attack, '/none'),
                            provider('other', machines(1, 'o', 21))])
        launcher.wait_for_log(rf'{launcher.config_path}:\d+:\d+: error: provider bad: the driver '
                              rf'hostile cannot check this section: in config_check\(\) {said}',
                              since=mark)
        self.assertEqual([one['name'] for one in launcher.command('status')['providers']],
                         ['good'])
        self.job('l').give_back()

    def test_L_92_F_47_check_that_crashes(self):
        launcher = self.start()
        self.offer(launcher, 'check-crash', r'its process was ended by signal 6 \(Aborted\)')
        self.offer(launcher, 'check-leave', 'its process ended with status 5')
        # The same driver with a section that it survives.
        launcher.reload([provider('good', machines(2)), hostile('bad', 'none', '/none')])
        self.wait_for_pools('good-main', 'bad-main')

    def test_L_92_F_47_check_without_end(self):
        launcher = self.start()
        self.offer(launcher, 'check-hang', 'it has not come back for 10 s')

    def test_F_47_check_in_a_process_of_its_own(self):
        """`isolation: process` is no other way."""
        launcher = self.start()
        launcher.configure([provider('good', machines(2)),
                            hostile('bad', 'check-crash', '/none', isolation='process')])
        launcher.wait_for_log('error: provider bad: .* its process was ended by signal 6')
        self.job('l').give_back()


if __name__ == '__main__':
    unittest.main()
