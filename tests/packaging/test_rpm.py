"""The RPM packages are built, are clean, and have what Debian's have, each in the same one."""

import glob
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import built  # noqa: E402

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
    for package in glob.glob(f'{built.rpm()}/*.rpm'):
        name = output('rpm', '-qp', '--queryformat', '%{name}', package)
        if package.endswith('.src.rpm') or re.search('-debug(info|source)$', name):
            continue
        lines = output('rpm', '-qp', '--queryformat', '[%{filemodes:perms} %{filenames}\n]',
                       package).split('\n')
        found[NAMES.get(name, name)] = common([line.split(' ', 1)[1] for line in lines
                                               if line.startswith(('-', 'l'))])
    return found


class Rpm(unittest.TestCase):
    maxDiff = None

    def test_same_files_in_the_same_package(self):
        ours, debian = rpm_files(), debian_files()
        self.assertEqual(len(debian), 9)
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
             *glob.glob(f'{built.rpm()}/*.rpm')], check=False, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        self.assertRegex(done.stdout, ' 0 errors, 0 warnings')


if __name__ == '__main__':
    unittest.main(verbosity=2)
