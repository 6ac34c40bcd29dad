"""What the tests of drover-driver-check share."""

import json
import os
import subprocess
import tempfile
import unittest

PROGRAM = os.path.abspath(os.environ['DROVER_DRIVER_CHECK'])
BUILD = os.path.abspath(os.environ['DROVER_BUILD'])


class CheckCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='drover-test-')
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def config(self, provider, labels=('l',)):
        """A configuration with that provider."""
        path = f'{self.folder}/nodepool.yaml'
        with open(path, 'w', encoding='utf-8') as out:
            json.dump({'zookeeper-servers': [{'host': 'localhost'}],
                       'labels': [{'name': name} for name in labels],
                       'providers': [provider]}, out)
        return path

    def run_program(self, *words, environment=None):
        return subprocess.run([PROGRAM, *words], check=False, capture_output=True, text=True,
                              timeout=500, env={**os.environ, **(environment or {})})

    def check(self, driver, *words, environment=None):
        """(exit status, check -> (outcome, reason)) of a driver's file below the build folder."""
        done = self.run_program('--json', *words, f'{BUILD}/{driver}.so', environment=environment)
        self.assertTrue(done.stdout, done.stderr)
        report = json.loads(done.stdout)
        checks = {entry['check']: (entry['outcome'], entry['reason'] or '')
                  for entry in report['checks']}
        for outcome, count in (('ok', 'ok'), ('FAIL', 'failed'), ('skipped', 'skipped')):
            self.assertEqual(sum(entry['outcome'] == outcome for entry in report['checks']),
                             report[count])
        return done.returncode, checks

    @staticmethod
    def failed(checks):
        return {name: reason for name, (outcome, reason) in checks.items() if outcome == 'FAIL'}
