"""`drover` as a program: options, exit statuses, configuration, drivers."""

import json
import os
import pathlib
import re
import subprocess
import unittest

from cli_case import DROVER, LIMIT, CliCase

HEADER = pathlib.Path(__file__).resolve().parents[3] / 'sdk/include/drover/driver.h'
ABI = '.'.join(re.findall(r'#define DROVER_ABI_M\w+ (\d+)', HEADER.read_text(encoding='utf-8')))


class UsageTest(CliCase):
    def test_CLI_01_no_command(self):
        done = subprocess.run([DROVER], capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn('request submit', done.stdout)

    def test_CLI_02_used_wrongly(self):
        for words, message in ((['bogus'], 'drover: error: unknown command: bogus; --help '
                                           'lists them'),
                               (['lst'], 'unknown command: lst; did you mean list?'),
                               (['list', '--bogus'], 'drover list: error: Unknown option --bogus'),
                               (['--bogus', 'list'], 'drover: error: Unknown option --bogus'),
                               (['hold'], 'drover hold: error: the following arguments are '
                                          'required: ID'),
                               (['list', 'more'], 'drover list: error: unrecognized arguments: '
                                                  'more'),
                               (['request'], 'drover: error: request is followed by one of: '
                                             'submit, show, release'),
                               (['request', 'submit'], 'the following arguments are required: '
                                                       '--label')):
            refused = self.drover(*words)
            self.assertEqual((refused.status, refused.out), (2, ''), words)
            self.assertRegex(refused.err, r'^usage: drover ')
            self.assertIn(message, refused.err)

    def test_CLI_03_version(self):
        own = self.drover('--version')
        self.assertEqual(own.status, 0)
        self.assertRegex(own.out, r'^drover \d+\.\d+\.\d+\n$')
        link = os.path.join(self.folder, 'nodepool')
        os.symlink(DROVER, link)
        compatible = self.drover('--version', program=link)
        self.assertEqual(compatible.status, 0)
        self.assertRegex(compatible.out, r'^Nodepool version: 11\.0\.0\+drover\d+\.\d+\.\d+\n$')
        self.assertRegex(self.drover('bogus', program=link).err, r'(?m)^nodepool: error: ')

    def test_options_in_every_form(self):
        attached = subprocess.run([DROVER, f'-c{self.config}', '--connect=9', '--js', 'list',
                                   '--det'], capture_output=True, text=True, timeout=LIMIT,
                                  check=False)
        self.assertEqual((attached.returncode, attached.stdout), (0, '[]\n'), attached.stderr)
        self.assertEqual(self.drover('hold', '--', '-1').out, 'Node id -1 not found\n')

    def test_help_of_each_command(self):
        names = re.findall(r'^  ([a-z][a-z-]*(?: [a-z-]+)?)  ', self.drover('--help').out, re.M)
        self.assertGreater(len(names), 8)
        for name in names:
            described = self.drover(*name.split(), '--help')
            self.assertEqual(described.status, 0, name)
            self.assertIn(f'drover {name}', described.out)
            self.assertIn('--json', described.out)
        group = self.drover('driver', '--help')
        self.assertEqual(group.status, 0)
        self.assertIn('driver info', group.out)

    def test_configuration_cannot_be_used(self):
        missing = self.drover('list', config='/nonexistent.yaml')
        self.assertEqual(missing.status, 1)
        self.assertIn('/nonexistent.yaml', missing.err)

    def test_CLI_57_logging_configuration(self):
        log = os.path.join(self.folder, 'log')
        config = self.write('logging.yaml', f'''
            version: 1
            handlers: {{h: {{class: logging.FileHandler, filename: {log}}}}}
            root: {{level: INFO, handlers: [h]}}
            ''')
        checked = self.drover('-l', config, 'config-validate')
        self.assertEqual((checked.status, checked.out, checked.err), (0, '', ''))
        with open(log, encoding='utf-8') as file:
            self.assertEqual(file.read(), f'validating {self.config}\n')
        self.assertIn('validating', self.drover('-l', config, '--debug', 'config-validate').err)
        missing = self.drover('-l', '/nonexistent.conf', 'list')
        self.assertEqual(missing.status, 1)
        self.assertIn('Unable to read logging config file at /nonexistent.conf', missing.err)

    def test_connection_is_given_up(self):
        dead = self.drover('--connect-timeout', '1', 'list',
                           config=self.write('dead.yaml', self.config_text(1)))
        self.assertEqual((dead.status, dead.out), (1, ''))
        self.assertIn('127.0.0.1:1', dead.err)
        self.assertEqual(len(dead.err.splitlines()), 1)

    def test_json_of_failures(self):
        failed = self.drover('request', 'show', '200-0000000009', '--json')
        self.assertEqual((failed.status, failed.err), (1, 'drover: request 200-0000000009 not '
                                                          'found\n'))
        self.assertEqual(failed.json, {'error': 'request 200-0000000009 not found'})
        absent = self.drover('--json', 'hold', '0000000009')
        self.assertEqual((absent.status, absent.json), (0, []))
        self.assertIn('Node id 0000000009 not found', absent.err)


class ValidateTest(CliCase):
    def validate(self, text, *options):
        return self.drover(*options, 'config-validate', config=self.write('checked.yaml', text))

    def test_CLI_48_good(self):
        os.environ['NODEPOOL_PORT'] = '8005'
        good = self.validate('zookeeper-servers: [{host: h}]\nwebapp: {port: %(NODEPOOL_PORT)}\n')
        self.assertEqual((good.status, good.out), (0, ''))
        self.assertRegex(good.err, r'INFO nodepool\.\S+: validating \S+checked\.yaml\n$')

    def test_CLI_49_bad(self):
        image = 'zookeeper-servers: [{host: h}]\ndiskimages:\n'
        static = ('zookeeper-servers: [{host: h}]\nproviders:\n  - name: p\n    driver: static\n'
                  '    pools: [{name: main, nodes: [{name: h, labels: x}]}]\n')
        for text, expected in (
                ('a: [', 'YAML parsing failed'),
                ('zookeeper-servers: [{host: h}]\nnothandled: 1\n', 'Schema validation failed'),
                (image + '  - {formats: qcow2}\n', 'Schema validation failed'),
                (image + '  - {name: a}\n  - {name: a}\n', 'diskimage a already defined'),
                (image + '  - {name: a, parent: x}\n', 'diskimage a has non-existant parent: x'),
                (static, 'label x in provider p not in top-level labels')):
            bad = self.validate(text)
            self.assertEqual(bad.status, 1, text)
            self.assertIn(expected, bad.err)
            self.assertRegex(bad.err, r'checked\.yaml:\d+:\d+: error: ')

    def test_OS_01_OS_02_openstack(self):
        """What labels and images of the cloud say must be enough, and agree."""
        both = {'image-id': 'x', 'image-name': 'y'}
        good = {'name': 'l', 'cloud-image': 'i', 'flavor-name': 'small'}
        for label, image, expected in (
                ({**good, 'diskimage': 'd'}, {}, 'one of diskimage and cloud-image'),
                ({'name': 'l', 'flavor-name': 'small'}, {}, 'one of diskimage and cloud-image'),
                ({'name': 'l', 'cloud-image': 'i'}, {}, 'needs min-ram or flavor-name'),
                (good, both, 'cloud-image i has image-id and image-name'),
                ({**good, 'cloud-image': 'j'}, {}, 'cloud-image: j is not in cloud-images')):
            provider = {'name': 'p', 'driver': 'openstack', 'cloud': 'c',
                        'cloud-images': [{'name': 'i', **image}],
                        'diskimages': [{'name': 'd'}],
                        'pools': [{'name': 'main', 'labels': [label]}]}
            bad = self.validate(json.dumps({
                'zookeeper-servers': [{'host': 'h'}], 'labels': [{'name': 'l'}],
                'diskimages': [{'name': 'd', 'elements': ['vm']}], 'providers': [provider]},
                indent=1))
            self.assertEqual(bad.status, 1, expected)
            self.assertIn(expected, bad.err)
            self.assertRegex(bad.err, r'checked\.yaml:\d+:\d+: error: .*\bp\b')

    def test_CLI_50_all_mistakes_at_once(self):
        bad = self.validate('zookeeper-servers: [{host: h}]\ndiskimages:\n'
                            '  - {name: a, parent: x}\n  - {name: b, formats: 7}\n', '--json')
        self.assertIn('parent', bad.err)
        self.assertIn('formats', bad.err)
        self.assertFalse(bad.json['valid'])
        self.assertEqual([(one['severity'], one['line']) for one in bad.json['problems']],
                         [('error', 3), ('error', 4)])

    def test_secure_file(self):
        secure = self.write('secure.yaml', 'zookeeper-servers: [{host: h}]\n')
        os.chmod(secure, 0o600)
        self.assertEqual(self.validate('labels: []\n', '-s', secure).status, 0)
        broken = self.validate('labels: []\n', '-s', self.write('secure.yaml', 'a: ['))
        self.assertEqual(broken.status, 1)
        self.assertIn('secure.yaml:', broken.err)

    def test_servers_that_stand_only_in_the_secure_file(self):
        alone = self.validate('labels: []\n')
        self.assertEqual(alone.status, 0, alone.err)
        self.assertRegex(alone.err, r'checked\.yaml: warning: zookeeper-servers: .*secure file')
        self.assertEqual(self.drover('list', config=self.write('checked.yaml', 'labels: []\n'))
                         .status, 1)

    def test_strict(self):
        good = self.validate('zookeeper-servers: [{host: h}]\n', '--json')
        self.assertEqual((good.status, good.json['valid'], good.json['problems']), (0, True, []))
        # The launcher loads it, with a warning.
        lenient = self.validate('zookeeper-servers: [{host: h}]\nproviders:\n'
                                '  - {name: p, driver: nowhere, pools: []}\n')
        self.assertEqual(lenient.status, 1)
        self.assertIn('nowhere.so', lenient.err)


class DriverTest(CliCase):
    def test_list_and_info(self):
        static = [one for one in self.drover('driver', 'list', '--json').json
                  if one['name'] == 'static'][0]
        self.assertEqual((static['enabled'], static['abi'], static['problem']),
                         ('yes', ABI, None))
        self.assertTrue(os.path.exists(static['file']))
        self.assertRegex(self.drover('driver', 'list').out, r'(?m)^\| static +\|')
        info = self.drover('driver', 'info', 'static', '--json').json
        self.assertEqual(info['capabilities'], ['inventory'])
        self.assertIn('pools[].nodes[].host-key', [one['path'] for one in info['options']])
        port = [one for one in info['options'] if one['path'].endswith('connection-port')][0]
        self.assertEqual((port['default'], port['default_when'], port['old_name']),
                         ('22', 'connection-type=winrm: 5986', 'ssh-port'))
        self.assertIn('max-parallel-jobs', self.drover('driver', 'info', 'static').out)

    def test_without_configuration(self):
        listed = self.drover('driver', 'list', '--json', config='/nonexistent').json
        self.assertEqual(listed[0]['enabled'], 'unknown')

    def test_named_and_not_installed(self):
        config = self.write('other.yaml', 'zookeeper-servers: [{host: h}]\nproviders:\n'
                                          '  - {name: p, driver: nowhere, pools: []}\n')
        listed = {one['name']: one for one in
                  self.drover('driver', 'list', '--json', config=config).json}
        self.assertEqual(listed['static']['enabled'], 'no')
        self.assertEqual((listed['nowhere']['enabled'], listed['nowhere']['file'],
                          listed['nowhere']['problem']), ('yes', None, 'not installed'))
        missing = self.drover('driver', 'info', 'nowhere')
        self.assertEqual(missing.status, 1)
        self.assertIn('nowhere.so', missing.err)

    def test_refused(self):
        self.write('broken.so', 'no driver')
        os.environ['DROVER_DRIVER_PATH'] += f':{self.folder}'
        try:
            listed = {one['name']: one for one in self.drover('driver', 'list', '--json').json}
        finally:
            os.environ['DROVER_DRIVER_PATH'] = os.environ['DROVER_DRIVER_PATH'].rpartition(':')[0]
        self.assertIn('broken.so', listed['broken']['problem'])
        self.assertEqual((listed['broken']['version'], listed['broken']['enabled']), (None, 'no'))
        self.assertIsNone(listed['static']['problem'])


if __name__ == '__main__':
    unittest.main(verbosity=2)
