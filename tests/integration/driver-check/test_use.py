"""The program's command line and output."""

import json
import re
import unittest

from checking import BUILD, CheckCase

GOOD = f'{BUILD}/bad-drivers/good.so'


class UseTest(CheckCase):
    def assert_misused(self, *words):
        done = self.run_program(*words)
        self.assertEqual((done.returncode, done.stdout), (2, ''))
        self.assertRegex(done.stderr, '^drover-driver-check: ')

    def test_wrong_words(self):
        self.assert_misused()
        self.assert_misused(GOOD, GOOD)
        self.assert_misused('--no-such-option', GOOD)
        self.assert_misused('--limit', '0', GOOD)
        self.assert_misused('/no/such/driver.so')
        self.assert_misused('--config', '/no/such/file', GOOD)

    def test_no_driver_at_all(self):
        path = f'{self.folder}/text.so'
        with open(path, 'w', encoding='utf-8') as out:
            out.write('no driver')
        done = self.run_program(path)
        self.assertEqual(done.returncode, 1)
        self.assertIn('FAIL     load: ', done.stdout)

    def test_lines(self):
        done = self.run_program(GOOD)
        *lines, last = done.stdout.splitlines()
        self.assertEqual(done.returncode, 0)
        for line in lines:
            self.assertRegex(line, r'^(ok     |FAIL   |skipped)  [a-z-]+(: \S.*)?$')
        self.assertRegex(last, r'good\.so: \d+ ok, 0 failed, \d+ skipped$')

    def test_without_configuration(self):
        """What needs no label is tried all the same, unless options are required."""
        status, checks = self.check('bad-drivers/good')
        self.assertEqual((status, checks['life'][0]), (0, 'ok'))
        self.assertEqual(checks['create'][0], 'skipped')
        self.assertIn('has no label', checks['create'][1])
        status, checks = self.check('test-drivers/testcloud')
        self.assertEqual((status, checks['configuration'][0]), (0, 'skipped'))
        self.assertIn('--config', checks['configuration'][1])
        self.assertEqual(checks['life'][0], 'skipped')

    def test_choice(self):
        config = self.config({'name': 'p', 'driver': 'good',
                              'pools': [{'name': 'main', 'labels': [{'name': 'l'}]}]})
        _, checks = self.check('bad-drivers/good', '--config', config, '--label', 'other')
        self.assertIn('no label of the provider\'s called other', checks['create'][1])
        status, checks = self.check('bad-drivers/good', '--config', config, '--provider', 'other')
        self.assertEqual(status, 1)
        self.assertIn('no provider other', checks['configuration'][1])

    def test_wrong_configuration(self):
        config = self.config({'name': 'p', 'driver': 'good', 'volume': 'loud', 'pools': []})
        status, checks = self.check('bad-drivers/good', '--config', config)
        self.assertEqual((status, checks['configuration'][0]), (1, 'FAIL'))
        self.assertTrue(re.search(r'nodepool\.yaml:1:\d+: error', checks['configuration'][1]))

    def test_json(self):
        done = self.run_program('--json', GOOD)
        report = json.loads(done.stdout)
        self.assertEqual(report['file'], GOOD)
        self.assertEqual(set(report), {'file', 'checks', 'ok', 'failed', 'skipped'})


if __name__ == '__main__':
    unittest.main()
