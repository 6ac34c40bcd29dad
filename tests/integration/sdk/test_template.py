"""The template of a driver, as an author has it: the SDK is installed into an empty folder, the
template is copied to another one, built there, tried by its own test, and loaded by a launcher."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request

from launcher_case import LauncherCase
from zookeeper import die_with_parent
from zuul_client import run_job

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = os.path.abspath(os.environ['DROVER_BUILD'])
COMPILER = os.environ.get('DROVER_CC', 'cc')


class ToyCloud:
    def __init__(self, template):
        self.process = subprocess.Popen(
            [sys.executable, '-B', f'{template}/tests/toycloud.py'], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
        self.url = f'http://127.0.0.1:{self.process.stdout.readline().split()[1]}'

    def machines(self):
        request = urllib.request.Request(f'{self.url}/machines', headers={'X-Token': 'secret'})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)['machines']

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


class TemplateTest(LauncherCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix='drover-test-')
        cls.addClassCleanup(folder.cleanup)
        cls.prefix = f'{folder.name}/prefix'
        cls.template = f'{folder.name}/mycloud'
        cls.call('cmake', '--install', BUILD, '--component', 'sdk', '--prefix', cls.prefix)
        shutil.copytree(f'{cls.prefix}/share/drover/template', cls.template)
        cls.call('cmake', '-S', cls.template, '-B', f'{cls.template}/build',
                 f'-DCMAKE_PREFIX_PATH={cls.prefix}', f'-DCMAKE_C_COMPILER={COMPILER}',
                 '-DCMAKE_C_FLAGS=-Wall -Wextra -Wno-unused-parameter -Werror')
        cls.call('cmake', '--build', f'{cls.template}/build')

    @staticmethod
    def call(*words):
        done = subprocess.run(words, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=300)
        if done.returncode != 0:
            raise AssertionError(f'{" ".join(words)}: {done.stdout}')
        return done.stdout

    def start_launcher(self, cloud, drivers=None, **options):
        pool = {'name': 'main', 'labels': [{'name': 'test-label', 'size': 'large'}]}
        launcher = self.launcher({'name': 'toy', 'driver': 'mycloud', 'url': cloud.url,
                                  'token': 'secret', 'pools': [pool]}, start=False, **options)
        launcher.environment = {'DROVER_DRIVER_PATH': drivers or f'{self.template}/build'}
        launcher.start()
        self.wait_for_pools('toy-main')

    def cloud(self):
        cloud = ToyCloud(self.template)
        self.addCleanup(cloud.close)
        return cloud

    def test_FT_11_contract(self):
        """Its own test is drover-driver-check, with every check that it can have."""
        output = self.call('ctest', '--test-dir', f'{self.template}/build', '--verbose')
        for check in ('table', 'symbols', 'options', 'create', 'resource-listed', 'needless-steps',
                      'cancel', 'resume', 'resume-nonsense', 'stop', 'leftovers'):
            self.assertRegex(output, rf'ok +{check}\b')
        self.assertNotIn('FAIL', output)

    def test_tutorial(self):
        """What docs/driver-author.md says, in an empty folder; "sh" are the commands to build and
        try the driver."""
        text = (ROOT / 'docs/driver-author.md').read_text(encoding='utf-8')
        commands = re.findall(r'^```sh\n(.*?)^```', text, re.MULTILINE | re.DOTALL)
        self.assertEqual(len(commands), 2)
        script = 'set -eu\n' + ''.join(commands).replace('/usr/share', f'{self.prefix}/share')
        with tempfile.TemporaryDirectory(prefix='drover-test-') as folder:
            done = subprocess.run(['/bin/sh', '-c', script], cwd=folder, check=False, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
                                  env={**os.environ, 'CMAKE_PREFIX_PATH': self.prefix})
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn('100% tests passed', done.stdout)

    def test_install(self):
        self.call('cmake', '--install', f'{self.template}/build')
        self.assertEqual(len(list(pathlib.Path(self.prefix).rglob('drover/drivers/mycloud.so'))), 1)

    def test_FT_01_standby_node_of_a_driver_from_outside(self):
        cloud = self.cloud()
        self.start_launcher(cloud, labels=[{'name': 'test-label', 'min-ready': 1}])
        node_id, = self.wait_for_ready(1, 'test-label')
        node = self.observer.sync().node(node_id)
        machine, = cloud.machines()
        self.assertEqual((node['external_id'], node['interface_ip'], node['username']),
                         (machine['id'], '127.0.0.1', 'zuul'))
        self.assertEqual(machine['tags']['nodepool_provider_name'], 'toy')

    def serve(self, drivers=None):
        cloud = self.cloud()
        self.start_launcher(cloud, drivers)
        run_job(self.scheduler, self.executor, ['test-label', 'test-label'])
        self.wait(lambda cluster: not cluster.nodes(), what='no nodes')
        self.assertEqual(cloud.machines(), [])

    def test_request(self):
        self.serve()

    def test_request_by_a_driver_of_sdk_1_0(self):
        """Built against the headers that are kept for ever."""
        self.serve(f'{BUILD}/frozen-drivers/1.0')

    def test_request_by_a_driver_of_sdk_1_1(self):
        self.serve(f'{BUILD}/frozen-drivers/1.1')


if __name__ == '__main__':
    unittest.main()
