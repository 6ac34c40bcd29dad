"""Each way of breaking the contract is found by the check that is about it.

The drivers are made from tests/drivers/bad/bad.c, each with another mistake.
"""

import concurrent.futures
import functools
import os
import tempfile
import unittest

from checking import BUILD, CheckCase

# Driver -> (the check that fails, a part of its reason).
EXPECTED = {
    'bad-load': ('load', 'ended with status 3'),
    'bad-entry': ('entry', 'drover_driver_entry'),
    'bad-major': ('table', 'its ABI is another one'),
    'bad-size': ('table', 'its table says that it has 12 bytes'),
    'bad-name': ('table', 'it calls itself somebody'),
    'bad-incomplete': ('table', 'it has no quota_limits()'),
    'bad-undeclared': ('functions', 'resource_...'),
    'bad-symbols': ('symbols', 'list_free'),
    'bad-private': ('symbols', 'for hosts alone'),
    'bad-version': ('identity', 'version'),
    'bad-default': ('options', 'volume: its default (loud)'),
    'bad-help': ('options', 'volume: it has no help'),
    'bad-twice': ('options', 'volume: declared twice'),
    'bad-member': ('options', 'speaker is not declared before it'),
    'bad-open': ('life', 'without drover_provider_fail()'),
    'bad-static': ('two-at-once', 'share one object'),
    'bad-quiet': ('quiet', 'it logs after it was closed: still here'),
    'bad-threads': ('threads', '3 threads'),
    'bad-files': ('files', '3 open files'),
    'bad-crash': ('create', 'signal 6'),
    'bad-hang': ('create', 'did not come back within 5 s'),
    'bad-slow': ('create', 'does not say DROVER_MAY_BLOCK'),
    'bad-step': ('create', 'answers 42'),
    'bad-reason': ('create', 'without drover_operation_fail()'),
    'bad-field': ('create', 'ip_address, which is no such field'),
    'bad-text': ('create', 'not UTF-8'),
    'bad-id': ('create', 'no external_id'),
    'bad-late': ('create', 'after that has ended'),
    'bad-secret': ('resource-delete-unknown', 'resource_delete() writes the secret of the '
                                              'option token into the text of its failure'),
    'bad-secret-log': ('create', 'machine_create() writes the secret of the option token into the '
                                 'log'),
    'bad-secret-saved': ('create', 'operation_save() writes the secret of the option token into '
                                   'what is kept'),
    'bad-secret-open': ('life', 'provider_open() writes the secret of the option token into the '
                                'text of its failure'),
    'bad-tags': ('resource-listed', 'with its tags'),
    'bad-cleaned-name': ('resource-listed', 'cleaned what no metric can be called'),
    'bad-cleaned-count': ('resource-listed', 'cleaned more than there can be'),
    'bad-delete': ('delete-again', 'there is no such machine'),
    'bad-needless': ('needless-steps', 'stepped too early'),
    'bad-cancel': ('cancel', 'did not come back'),
    'bad-forgets': ('leftovers', 'still in the cloud'),
    'bad-resume': ('resume', 'operation_resume() refuses'),
    'bad-nonsense': ('resume-nonsense', 'signal 6'),
}


TOKEN = 'known-to-nobody-else'
# Most of the time is spent waiting.
AT_ONCE = 4


class BadDriverTest(CheckCase):
    @classmethod
    def setUpClass(cls):
        """All are looked at side by side, and each outcome is kept for its test."""
        cls.common = tempfile.TemporaryDirectory(prefix='drover-test-')
        cls.addClassCleanup(cls.common.cleanup)
        pool = concurrent.futures.ThreadPoolExecutor(AT_ONCE)
        cls.addClassCleanup(pool.shutdown, cancel_futures=True)
        cls.outcomes = {driver: pool.submit(functools.partial(cls().look_at, driver))
                        for driver in ['good', 'shorter', 'longer', 'cleaning', 'bad-memory',
                                       *EXPECTED]}

    def look_at(self, driver):
        self.folder = f'{self.common.name}/{driver}'
        os.mkdir(self.folder)
        config = self.config({'name': 'p', 'driver': driver, 'token': TOKEN,
                              'pools': [{'name': 'main', 'labels': [{'name': 'l'}]}]})
        return self.check(f'bad-drivers/{driver}', '--config', config, '--limit', '5')

    def test_good_ones(self):
        for driver in ('good', 'cleaning'):
            with self.subTest(driver):
                status, checks = self.outcomes[driver].result()
                self.assertEqual((status, self.failed(checks)), (0, {}))

    def test_tables_of_other_minors(self):
        """A shorter table lacks nothing that it has no use for; a longer one's tail is ignored."""
        for driver, version in (('shorter', '1.0'), ('longer', '1.9')):
            with self.subTest(driver):
                status, checks = self.outcomes[driver].result()
                self.assertEqual((status, self.failed(checks)), (0, {}))
                self.assertIn(f'ABI {version}', checks['identity'][1])
                self.assertEqual([checks[name][0] for name in ('create', 'resume', 'leftovers')],
                                 ['ok'] * 3)

    def test_FT_10_worst_ones(self):
        """Each is named by a line, and what one would tell of its secrets, the check does not."""
        for driver in ('bad-forgets', 'bad-slow', 'bad-symbols', 'bad-secret', 'bad-secret-log',
                       'bad-secret-saved', 'bad-secret-open'):
            with self.subTest(driver):
                check, reason = EXPECTED[driver]
                status, checks = self.outcomes[driver].result()
                self.assertEqual(status, 1)
                self.assertIn(reason, self.failed(checks)[check])
                self.assertNotIn(TOKEN, str(checks))

    def test_FT_10_masked_in_the_log_too(self):
        self.folder = self.common.name
        config = self.config({'name': 'p', 'driver': 'bad-secret-log', 'token': TOKEN,
                              'pools': [{'name': 'main', 'labels': [{'name': 'l'}]}]})
        done = self.run_program('--debug', '--config', config,
                                f'{BUILD}/bad-drivers/bad-secret-log.so')
        self.assertIn('X-Token: (a secret)', done.stderr)
        self.assertNotIn(TOKEN, done.stdout + done.stderr)

    def test_memory(self):
        """Seen by the check, or by a sanitizer that the program was built with, at the end."""
        status, checks = self.outcomes['bad-memory'].result()
        self.assertEqual(status, 1)
        self.assertTrue({'memory', 'end'} & self.failed(checks).keys(), checks)


def test_of(driver, check, reason):
    def test(self):
        status, checks = self.outcomes[driver].result()
        self.assertEqual(status, 1, checks)
        self.assertEqual(checks[check][0], 'FAIL', checks)
        self.assertIn(reason, checks[check][1])
    return test


for name, (expected, text) in EXPECTED.items():
    setattr(BadDriverTest, f'test_{name.replace("-", "_")}', test_of(name, expected, text))


if __name__ == '__main__':
    unittest.main()
