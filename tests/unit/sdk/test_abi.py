"""Today's library and headers are what drivers of earlier versions were built against.

The environment names the library, the compiler, and builds of one driver, against each version's
kept headers, joined by colons, and against today's: DROVER_SDK_LIBRARY, DROVER_CC, DROVER_FROZEN,
DROVER_TODAY.
"""

import os
import re
import tempfile
import unittest

import abi

LIBRARY = os.environ['DROVER_SDK_LIBRARY']
COMPILER = os.environ['DROVER_CC']


class LibraryTest(unittest.TestCase):
    def setUp(self):
        if not abi.has_debug_information(LIBRARY):
            self.skipTest('the library was built without debug information')

    def test_functions_have_the_types_they_had(self):
        for folder in abi.versions():
            with self.subTest(folder.name):
                self.assertEqual(abi.compare(folder / abi.DUMP, LIBRARY), '')

    def test_driver_table_has_the_types_it_had(self):
        frozen = os.environ['DROVER_FROZEN'].split(':')
        self.assertEqual(len(frozen), len(abi.versions()))
        for driver in frozen:
            with self.subTest(driver):
                self.assertEqual(abi.compare(driver, os.environ['DROVER_TODAY']), '')

    def changed(self, pattern, replacement):
        """What the comparison says when the kept dump had been another one."""
        text = (abi.ABI / '1.0' / abi.DUMP).read_text(encoding='utf-8')
        other, count = re.subn(pattern, replacement, text, count=1)
        self.assertEqual(count, 1)
        with tempfile.NamedTemporaryFile('w', suffix='.abi') as file:
            file.write(other)
            file.flush()
            return abi.compare(file.name, LIBRARY)

    def test_lost_function_is_noticed(self):
        for version, name in (('1.0', 'drover_now'), ('1.1', 'drover_provider_cleaned')):
            text = (abi.ABI / version / abi.DUMP).read_text(encoding='utf-8')
            with self.subTest(version), tempfile.NamedTemporaryFile('w', suffix='.abi') as file:
                file.write(text.replace(name, 'drover_lost'))
                file.flush()
                self.assertIn('drover_lost', abi.compare(file.name, LIBRARY))

    def test_other_constant_is_noticed(self):
        self.assertIn("DROVER_DONE' from value '77'", self.changed(
            r"name='DROVER_DONE' value='\d+'", "name='DROVER_DONE' value='77'"))


class HeaderTest(unittest.TestCase):
    def test_nothing_has_moved(self):
        for folder in abi.versions():
            program = abi.program_of(sorted((folder / 'drover').glob('*.h')))
            before = abi.layout(COMPILER, program, folder)
            self.assertGreater(len(before), 100)
            self.assertEqual(abi.layout(COMPILER, program, abi.INCLUDE.parent), before)

    def test_members_are_found(self):
        structs, constants = abi.declared(abi.INCLUDE / 'driver.h')
        members = dict(structs)
        self.assertLessEqual({'size', 'abi_minor', 'name', 'options', 'provider_open',
                              'machine_create', 'node_reused'}, set(members['drover_driver']))
        self.assertLessEqual({'path', 'type', 'flags', 'help'}, set(members['drover_option']))
        self.assertIn('DROVER_FAILURE_NO_ADDRESS', constants)


if __name__ == '__main__':
    unittest.main()
