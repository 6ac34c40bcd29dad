"""The Debian packages, as an operator meets them: built from what is committed, installed into a
clean system, given a driver later, upgraded while the launcher runs, and removed.

The steps build on each other. Needs root, Debian's mirror and some minutes.
"""

import glob
import os
import re
import signal
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, f'{HERE}/../support']

import built  # noqa: E402
from service import CONFIG, STATE, UNIT, LabCase, wait  # noqa: E402

EXPOSURE_LIMIT = 2.0  # of `systemd-analyze security`, from 0 to 10
PACKAGES = ['drover', 'drover-cli', 'drover-doc', 'drover-driver-metastatic',
            'drover-driver-openstack', 'drover-driver-static', 'drover-launcher',
            'drover-nodepool-compat', 'libdrover-sdk-dev', 'libdrover-sdk1']


class Built(unittest.TestCase):
    def test_all_packages(self):
        names = {os.path.basename(path).split('_')[0]
                 for path in glob.glob(f'{built.debian()[0]}/*.deb')}
        self.assertEqual(sorted(name for name in names if not name.endswith('-dbgsym')), PACKAGES)

    def test_lintian(self):
        changes, = glob.glob(f'{built.debian()[0]}/*.changes')
        self.assertEqual(built.lintian(changes), (0, ''))


class Operated(LabCase):
    def told(self):
        """What the service manager was told to do with the launcher."""
        found = [re.search(r'(?:^| )((?:try-)?restart|start|stop)\b.*drover-launcher', call)
                 for call in self.root.systemctl_calls()]
        return [match.group(1) for match in found if match]

    # ---- The steps ----

    def test_1_what_is_recommended(self):
        plan = self.root.apt('install', '--simulate', '--install-recommends', 'drover-launcher')
        taken = re.findall(r'^Inst (\S+)', plan, re.M)
        for package in ('drover-cli', 'drover-driver-static', 'glib-networking', 'libdrover-sdk1'):
            self.assertIn(package, taken)
        for package in ('drover-driver-openstack', 'drover-nodepool-compat'):
            self.assertNotIn(package, taken)

    def test_2_installed_without_a_driver(self):
        self.root.apt('install', 'drover-launcher', 'drover-cli')
        self.assertIn('/usr/sbin/nologin', self.root.run('getent', 'passwd', 'drover').stdout)
        self.configure({'name': 'site', 'driver': 'beaker', 'pools': []})
        told = self.root.run('drover', 'config-validate', check=False)
        self.assertEqual(told.returncode, 1)
        for driver, advice in (
                ('static', 'install the package drover-driver-static'),
                ('openstack', 'install the package drover-driver-openstack'),
                ('beaker', "it is none of Drover's own: a package with it would be called "
                           'drover-driver-beaker')):
            self.assertRegex(told.stdout, rf'(?m)^{CONFIG}:\d+:\d+: error: provider \w+: driver '
                             rf'{driver} is not installed: .*; {advice}$')

    def test_3_unit(self):
        self.root.run('systemd-analyze', 'verify', '--man=no', UNIT)
        told = self.root.run('systemd-analyze', 'security', '--offline=true', UNIT).stdout
        exposure = float(re.search(r'exposure level for drover-launcher.service: ([\d.]+)',
                                   told).group(1))
        self.assertLessEqual(exposure, EXPOSURE_LIMIT)

    def test_4_driver_added_later(self):
        self.service.start()
        wait(lambda: 'install the package drover-driver-static' in self.service.log(),
             'complaint about the driver')
        request = self.submit('board')
        self.root.apt('install', 'drover-driver-static', managed=True)
        self.assertEqual(self.told(), ['try-restart'])
        # Even a reload is enough: without a service manager nothing was restarted.
        self.service.signal(signal.SIGHUP)
        self.wait_for_fulfilled(request)
        self.requests.append(request)

    def test_5_upgraded_while_it_runs(self):
        self.root.write('/etc/default/drover-launcher', '# The operator has been here.\n')
        self.root.apt('install', 'drover-driver-openstack', managed=True)
        self.service.signal(signal.SIGHUP)
        self.told()
        self.root.set_source(built.debian()[1])
        self.check_upgrade(lambda: self.root.apt('dist-upgrade', managed=True))
        self.assertEqual(self.told(), ['restart'])  # a stop would end the session
        self.assertIn('+next', self.root.run('dpkg-query', '-W', 'drover-launcher').stdout)
        self.assertIn('The operator', self.root.read('/etc/default/drover-launcher'))
        self.assertIn('RestartKillSignal=SIGKILL', self.root.read(UNIT))

    def test_6_removed(self):
        self.assertEqual(self.service.stop(), 0)
        self.root.apt('remove', 'drover-launcher', 'drover-driver-static',
                      'drover-driver-openstack', managed=True)
        self.assertEqual(self.told(), ['stop'])
        self.assertTrue(self.root.exists('/etc/default/drover-launcher'))
        self.assertTrue(self.root.exists(STATE))

    def test_7_purged(self):
        self.root.apt('purge', 'drover*', 'libdrover*', managed=True)
        left = [path for path in self.root.find('drover')
                if not path.startswith(('/srv/', '/var/lib/apt/', '/var/cache/'))]
        self.assertEqual(left, [])
        # What is the operator's stays; so does the account, as Debian's policy has it.
        self.assertTrue(self.root.exists(CONFIG))
        self.root.run('getent', 'passwd', 'drover')


if __name__ == '__main__':
    unittest.main(verbosity=2)
