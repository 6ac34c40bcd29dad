"""`--json` of every command: one JSON value on standard output and nothing else there, whatever
comes of it. (`watch` is a line for each change: test_watch.py.)"""

import json
import re
import unittest

from cli_case import CliCase, wait_until
from launcher import Launcher, machine, provider

UNKNOWN = '200-0000000999'
NODE = '0000000000'
# Command -> (words after it, what it ends with).
COMMANDS = {
    'list': ([], 0), 'request-list': ([], 0), 'request submit': (['-L', 'l'], 0),
    'request show': ([UNKNOWN], 1), 'request release': ([UNKNOWN], 1), 'explain': ([UNKNOWN], 1),
    'top': ([], 0), 'hold': (['0000000999'], 0), 'delete': (['0000000999'], 0),
    'info': (['p1'], 0), 'image-list': ([], 0), 'dib-image-list': ([], 0), 'image-status': ([], 0),
    'dib-request-list': ([], 0), 'image-build': (['nobodys'], 1), 'image-pause': (['nobodys'], 1),
    'image-unpause': (['nobodys'], 0),
    'image-delete': (['--provider', 'p', '--image', 'i', '--build-id', '1', '--upload-id', '1'], 0),
    'dib-image-delete': (['i-1'], 0), 'alien-image-list': ([], 0),
    'erase': (['nobodys', '--force'], 0), 'export-image-data': (['FOLDER/images.json'], 0),
    'import-image-data': (['FOLDER/images.json'], 0), 'config-validate': ([], 0),
    'driver list': ([], 0), 'driver info': (['static'], 0), 'launcher status': ([], 0),
    'launcher explain': ([UNKNOWN], 0), 'launcher log-level': ([], 0), 'launcher dump': ([], 0),
    'launcher profile': ([], 1), 'launcher reconfigure': ([], 0), 'launcher pause': ([], 0),
    'launcher unpause': ([], 0), 'launcher graceful': ([], 0), 'launcher stop': ([], None),
}


class JsonTest(CliCase):
    def test_every_command(self):
        launcher = Launcher(self.server, self.chroot, providers=[
            provider('p1', nodes=[machine('127.0.0.9')])])
        self.addCleanup(launcher.close)
        launcher.start()
        wait_until(lambda: self.drover('list', '--json').json)
        names = re.findall(r'^  ([a-z][a-z-]*(?: [a-z-]+)?)  ', self.drover('--help').out, re.M)
        self.assertEqual(sorted(COMMANDS), sorted(set(names) - {'watch'}))
        for name, (arguments, status) in COMMANDS.items():
            words = [word.replace('FOLDER', self.folder) for word in arguments]
            if name.startswith('launcher '):
                words += ['--socket', launcher.socket_path]
            done = self.drover(*name.split(), *words, '--json')
            with self.subTest(name):
                if status is not None:  # whether it has ended already, nobody knows
                    self.assertEqual(done.status, status, done.err)
                value = json.loads(done.out)
                self.assertEqual(done.out.count('\n'), 1)
                if done.status:
                    self.assertIn(value['error'], done.err)
        self.assertEqual(launcher.wait_for_exit(), 0)


if __name__ == '__main__':
    unittest.main()
