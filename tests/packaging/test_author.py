"""The day of who writes a driver: a clean system with libdrover-sdk-dev and nothing of this tree, the
template in a folder, built, tried and made a package of; that is installed beside a launcher, and
serves a request.

The steps build on each other. Needs root, Debian's mirror and some minutes.
"""

import glob
import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, f'{HERE}/../support']

import built  # noqa: E402
from service import CONFIG, ServiceCase, wait  # noqa: E402

TEMPLATE = '/usr/share/drover/template'
FOLDER = '/srv/work/mycloud'
# The commands of docs/driver-abi.md, for the template's two files.
BY_PKG_CONFIG = """set -eu
cd /srv/work/mycloud
cc -shared -fPIC -fvisibility=hidden -D_GNU_SOURCE -DVERSION='"0.1"' -Wall -Wextra -Werror \\
    -Wno-unused-parameter $(pkg-config --cflags drover-sdk jansson) -o /srv/work/mycloud.so \\
    src/mycloud.c src/machine.c $(pkg-config --libs drover-sdk jansson)
python3 tests/contract.py "$(command -v drover-driver-check)" /srv/work/mycloud.so
"""


class Author(ServiceCase):
    def start_cloud(self):
        """Its port."""
        cloud = subprocess.Popen(
            self.root.command('python3', '-B', f'{FOLDER}/tests/toycloud.py'),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

        def end():
            cloud.stdin.close()
            cloud.wait()
            cloud.stdout.close()

        self.addCleanup(end)
        return cloud.stdout.readline().split()[1]

    def package(self):
        made, = glob.glob(self.root.path('/srv/work/drover-driver-mycloud_*.deb'))
        return f'/srv/work/{os.path.basename(made)}'

    def test_1_what_there_is(self):
        self.root.apt('install', 'libdrover-sdk-dev', 'build-essential')
        self.assertFalse(self.root.exists('/usr/sbin/drover-launcher'))
        self.root.run('mkdir', '/srv/work')
        self.root.run('cp', '-r', TEMPLATE, FOLDER)
        self.root.apt('build-dep', FOLDER)

    def test_2_FT_11_built_by_cmake(self):
        self.root.run('cmake', '-S', FOLDER, '-B', '/srv/work/build')
        self.root.run('cmake', '--build', '/srv/work/build')
        said = self.root.run('ctest', '--test-dir', '/srv/work/build', '--verbose').stdout
        self.assertRegex(said, r'ok +leftovers\b')
        self.assertNotIn('FAIL', said)

    def test_3_FT_11_built_by_pkg_config(self):
        said = self.root.run('sh', '-c', BY_PKG_CONFIG).stdout
        self.assertRegex(said, r'(?m)^ok +leftovers\b')
        self.assertNotIn('FAIL', said)

    def test_4_package(self):
        self.root.run('sh', '-c', f'cd {FOLDER} && dpkg-buildpackage -b --no-sign')
        package = self.package()
        listed = self.root.run('dpkg-deb', '-c', package).stdout
        self.assertRegex(listed, r'/drover/drivers/mycloud\.so')
        # Only what goes into Debian itself begins with a bug that asks for it.
        self.assertEqual(built.lintian('--suppress-tags', 'initial-upload-closes-no-bugs',
                                       self.root.path(package)), (0, ''))

    def test_5_FT_01_serves(self):
        package = self.package()
        self.root.apt('install', 'drover-launcher', 'drover-cli', package)
        # Any driver is enough for the launcher's recommendation.
        self.assertFalse(self.root.find('static.so'))
        self.assertEqual([(one['name'], one.get('problem'))
                          for one in self.drover('driver', 'list')], [('mycloud', None)])
        self.root.write(CONFIG, json.dumps({
            'zookeeper-servers': [{'host': '127.0.0.1', 'port': self.server.port}],
            'labels': [{'name': 'test-label', 'min-ready': 1}],
            'providers': [{'name': 'toy', 'driver': 'mycloud', 'token': 'secret',
                           'url': f'http://127.0.0.1:{self.start_cloud()}',
                           'pools': [{'name': 'main', 'max-servers': 3, 'labels': [
                               {'name': 'test-label', 'size': 'small'}]}]}]}))
        self.root.run('drover', 'config-validate')
        self.service.start()
        wait(lambda: os.path.exists(self.root.path('/run/drover/launcher.sock')), 'launcher')
        request = self.submit('test-label')
        self.wait_for_fulfilled(request)
        self.drover('request', 'release', request)
        self.assertEqual(self.service.stop(), 0)


if __name__ == '__main__':
    unittest.main(verbosity=2)
