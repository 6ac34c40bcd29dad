"""The RPM packages are built, are clean, and have what Debian's have, each in the same one; they are
installed, run and are removed, in a folder with what they need. Needs root and Debian's mirror.
"""

import glob
import json
import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, f'{HERE}/../support']

import built  # noqa: E402
from service import LabCase  # noqa: E402

# Names, and folders, that differ by custom.
NAMES = {'libdrover-sdk-devel': 'libdrover-sdk-dev'}
PLACES = [(r'^/usr/lib/[^/]+-linux-gnu[^/]*/|^/usr/lib64/', '/LIB/'),
          (r'^/lib/systemd/', '/usr/lib/systemd/'),
          (r'/zsh/(vendor-completions|site-functions)/', '/zsh/')]
# What each kind of package has for itself.
OWN = re.compile(r'^/usr/share/doc/[^/]+/(changelog\.gz|copyright)$|^/usr/share/licenses/'
                 r'|^/usr/lib/\.build-id|^/usr/share/lintian/')


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def binary_packages(folder=None):
    """Name -> file, without what is only for debuggers."""
    names = {output('rpm', '-qp', '--queryformat', '%{name}', package): package
             for package in glob.glob(f'{folder or built.rpm()[0]}/*.rpm')
             if not package.endswith('.src.rpm')}
    return {name: package for name, package in names.items()
            if not re.search('-debug(info|source)$', name)}


def common(paths):
    """The paths, as both kinds of package would call them."""
    for pattern, place in PLACES:
        paths = [re.sub(pattern, place, path) for path in paths]
    return sorted(path for path in paths if not OWN.search(path))


def debian_files():
    found = {}
    for package in glob.glob(f'{built.debian()[0]}/*.deb'):
        name = os.path.basename(package).split('_')[0]
        if not name.endswith('-dbgsym'):
            lines = output('dpkg-deb', '-c', package).splitlines()
            found[name] = common([line.split(maxsplit=5)[5].split(' -> ')[0][1:]
                                  for line in lines if not line.startswith('d')])
    return found


def rpm_files():
    found = {}
    for name, package in binary_packages().items():
        lines = output('rpm', '-qp', '--queryformat', '[%{filemodes:perms} %{filenames}\n]',
                       package).split('\n')
        found[NAMES.get(name, name)] = common([line.split(' ', 1)[1] for line in lines
                                               if line.startswith(('-', 'l'))])
    return found


class Rpm(unittest.TestCase):
    maxDiff = None

    def test_same_files_in_the_same_package(self):
        ours, debian = rpm_files(), debian_files()
        self.assertEqual(len(debian), 10)
        self.assertEqual(ours, debian)

    def test_same_version(self):
        with open(f'{built.TOP}/CMakeLists.txt', encoding='utf-8') as project:
            version = re.search(r'project\(drover VERSION ([\d.]+)', project.read()).group(1)
        spec = output('rpmspec', '--query', '--srpm', '--queryformat', '%{version}',
                      f'{built.TOP}/packaging/rpm/drover.spec')
        with open(f'{built.TOP}/packaging/debian/changelog', encoding='utf-8') as changelog:
            debian = re.match(r'drover \(([\d.]+)\)', changelog.read()).group(1)
        self.assertEqual((spec, debian), (version, version))

    def test_rpmlint(self):
        done = subprocess.run(
            ['rpmlint', '--config', f'{built.TOP}/packaging/rpm/rpmlint.toml',
             *glob.glob(f'{built.rpm()[0]}/*.rpm')], check=False, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        self.assertRegex(done.stdout, ' 0 errors, 0 warnings')


class Installed(LabCase):
    """Into a Debian, which has no packages that RPM knows of; the steps build on each other."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.put_libraries()

    @classmethod
    def put_libraries(cls):
        """What the packages need of others comes with Debian's packages, which then go."""
        root = cls.root
        root.apt('install', 'systemd', 'drover-nodepool-compat', 'drover-driver-openstack')
        root.apt('purge', 'drover*', 'libdrover*')
        root.run('userdel', 'drover')
        root.write('/etc/ld.so.conf.d/lib64.conf', '/usr/lib64\n')

    def rpm(self, *words):
        """What rpm has to say, and what it told the service manager."""
        command = self.root.with_mounts('rpm', '--root', self.root.folder, '--dbpath',
                                        '/var/lib/rpm', *words, managed=True)
        said = self.root.run_here(*command).stdout.splitlines()
        # Debian's rpm says each time what it is not meant for.
        return ([line for line in said if not line.startswith('rpm: ')],
                self.root.systemctl_calls())

    def ours(self):
        return [path for path in self.root.find('drover')
                if not path.startswith(('/srv/', '/var/lib/apt/', '/var/cache/', '/var/lib/rpm/'))]

    def test_1_installed(self):
        self.assertEqual(self.ours(), [])
        said, told = self.rpm('--install', '--nodeps', *binary_packages().values())
        self.assertEqual([line for line in said if not line.startswith('Creating ')], [])
        self.assertEqual(told, ['daemon-reload', 'try-restart drover-launcher.service'])
        self.assertIn('/sbin/nologin', self.root.run('getent', 'passwd', 'drover').stdout)

    def test_2_as_packed(self):
        """Modes, owners, contents."""
        self.assertEqual(self.rpm('--verify', '--nodeps', *binary_packages())[0], [])
        for program in ('/usr/bin/drover', '/usr/sbin/drover-launcher', '/usr/bin/nodepool',
                        '/usr/libexec/drover/drover-driver-host'):
            self.assertEqual(os.stat(self.root.path(program)).st_mode & 0o7777, 0o755, program)

    def test_3_runs(self):
        for program in ('drover', 'drover-launcher', 'drover-driver-check'):
            self.assertIn('0.', self.root.run(program, '--version').stdout)
        found = json.loads(self.root.run('drover', 'driver', 'list', '--json').stdout)
        self.assertEqual({driver['name']: driver.get('problem') for driver in found},
                         {'metastatic': None, 'openstack': None, 'static': None})

    def test_4_put_over_themselves(self):
        said, told = self.rpm('--reinstall', '--nodeps', *binary_packages().values())
        self.assertEqual(said, [])
        self.assertIn('try-restart drover-launcher.service', told)

    def test_5_upgraded_while_it_runs(self):
        self.configure()
        self.service.start()
        self.serve()
        self.check_upgrade(self.upgrade)

    def upgrade(self):
        following = binary_packages(built.rpm()[1])
        said, told = self.rpm('--upgrade', '--nodeps', *following.values())
        self.assertEqual(said, [])
        self.assertIn('try-restart drover-launcher.service', told)
        self.assertNotIn('disable', ' '.join(told))
        self.assertEqual(
            set(self.rpm('--query', '--queryformat', '%{release}\n', *following)[0]), {'2'})
        self.assertEqual(self.rpm('--verify', '--nodeps', *following)[0], [])

    def test_6_removed(self):
        self.assertEqual(self.service.stop(), 0)
        self.root.write('/etc/default/drover-launcher', '# The operator has been here.\n')
        said, told = self.rpm('--erase', '--nodeps', *binary_packages())
        self.assertRegex(', '.join(said), r'^warning: \S+ saved as \S+\.rpmsave$')
        self.assertEqual(told[0], '--no-reload disable --now drover-launcher.service')
        self.assertNotIn('try-restart drover-launcher.service', told)
        # What the launcher has written stays as well.
        self.assertEqual(self.ours(), ['/etc/default/drover-launcher.rpmsave', '/var/lib/drover',
                                       '/var/log/drover'])
        self.root.run('getent', 'passwd', 'drover')


if __name__ == '__main__':
    unittest.main(verbosity=2)
