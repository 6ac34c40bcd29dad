"""`drover launcher`: commands to a launcher of this host."""

import json
import re
import unittest

from cli_case import CliCase, wait_until
from launcher import Launcher, machine, provider


class LauncherCommandsTest(CliCase):
    def setUp(self):
        super().setUp()
        self.launcher = Launcher(self.server, self.chroot, providers=[
            provider('p1', nodes=[machine('127.0.0.9')]),
            {'name': 'p2', 'driver': 'nope', 'pools': []}])
        self.addCleanup(self.launcher.close)
        self.launcher.start()
        self.launcher.wait_for_log('Registered /nodepool/components/pool')
        self.launcher.wait_for_log('Provider p2 cannot start')

    def tell(self, *words):
        return self.drover('launcher', *words, '--socket', self.launcher.socket_path)

    def done(self, *words):
        result = self.tell(*words)
        self.assertEqual((result.status, result.err), (0, ''), words)
        return result.out

    def test_status(self):
        text = self.done('status')
        self.assertRegex(text, rf'^drover-launcher \d+\.\d+\.\d+, pid {self.launcher.pid}: running, '
                               r'started 00:00:\d\d:\d\d ago\n'
                               r'ZooKeeper session 0x[0-9a-f]+: connected, caches complete\n')
        self.assertRegex(text, r'(?m)^\| Provider +\| Driver +\| Version +\| State +\| Tasks +\|')
        self.assertRegex(text, r'(?m)^\| p1 +\| static +\| \d+\.\d+\.\d+ +\| running +\| \d+ +\| \d+ +\| none ')
        self.assertRegex(text, r'(?m)^\| p2 +\| nope +\| +\| failed +\|.* nope')
        self.assertRegex(text, r'(?m)^\| p1 +\| main +\| yes +\| no +\| 0 +\| 0 +\| 0 +\|')
        status = json.loads(self.done('status', '--json'))
        self.assertEqual((status['pid'], status['state']), (self.launcher.pid, 'running'))

    def test_pause_and_reconfigure(self):
        self.assertEqual(self.done('pause'), 'The launcher is paused\n')
        self.assertEqual(json.loads(self.done('unpause', '--json')), {'state': 'running'})
        self.assertEqual(self.done('reconfigure'), 'The launcher is running\n')
        mark = self.launcher.mark()
        self.done('reconfigure', 'p1')
        self.launcher.wait_for_log('Provider p1 started', mark)
        refused = self.tell('reconfigure', 'p9', '--json')
        self.assertEqual(refused.status, 1)
        self.assertEqual(refused.json, {'error': 'There is no such provider in the configuration: '
                                                 'p9'})

    def test_explain_and_dump(self):
        self.put_request('200-0000000001', node_types=['nope'])
        wait_until(lambda: self.get_request('200-0000000001')['state'] == 'failed')
        self.assertRegex(self.done('explain', '200-0000000001'),
                         r'\| p1 +\| main +\| decline +\| 00:00:\d\d:\d\d \| node type\(s\) \[nope\]')
        self.assertEqual(json.loads(self.done('dump'))['node_requests'], {'failed': 1})
        refused = self.tell('profile')
        self.assertEqual((refused.status, refused.out), (1, ''))
        self.assertIn('no profiler is built in', refused.err)

    def test_stop(self):
        self.assertEqual(self.done('stop'), 'The launcher is stopping\n')
        self.assertEqual(self.launcher.wait_for_exit(), 0)
        gone = self.tell('status')
        self.assertEqual((gone.status, gone.out), (1, ''))
        self.assertEqual(gone.err, 'drover: no launcher takes commands at '
                                   f'{self.launcher.socket_path}\n')

    def test_graceful(self):
        self.assertEqual(self.done('graceful'), 'The launcher is stopping when done\n')
        self.assertEqual(self.launcher.wait_for_exit(), 0)

    def test_log_level(self):
        self.assertRegex(self.done('log-level'), r'(?m)^\| nodepool\.zk\.cache +\| +\| debug +\|')
        self.assertRegex(self.done('log-level', 'zk.cache', 'error'),
                         r'(?m)^\| nodepool\.zk\.cache +\| error +\| error +\|')
        self.assertEqual(json.loads(self.done('log-level', 'nodepool.zk.cache', '--json')),
                         {'domains': [{'domain': 'nodepool.zk.cache', 'level': 'error',
                                       'effective': 'error'}]})
        refused = self.tell('log-level', 'zk', 'loud')
        self.assertEqual((refused.status, refused.out), (1, ''))
        self.assertIn('only debug, info, warning, error, critical and default', refused.err)
        refused = self.tell('log-level', 'nope', 'debug')
        self.assertIn('nodepool.zk.cache', refused.err)

    def test_used_wrongly(self):
        for words, message in ((['status', 'more'], 'unrecognized arguments: more'),
                               (['reconfigure', 'p1', 'more'], 'unrecognized arguments: more'),
                               (['log-level', 'zk', 'info', 'x'], 'unrecognized arguments: x'),
                               (['explain'], 'the following arguments are required: ID')):
            refused = self.tell(*words)
            self.assertEqual((refused.status, refused.out), (2, ''), words)
            self.assertIn(message, refused.err)
        group = self.drover('launcher')
        self.assertEqual(group.status, 2)
        self.assertRegex(group.err, re.escape('launcher is followed by one of: status, pause,'))

    def test_no_configuration_is_needed(self):
        lone = self.drover('launcher', 'status', '--socket', self.launcher.socket_path,
                           config='/nonexistent.yaml')
        self.assertEqual(lone.status, 0, lone.err)


if __name__ == '__main__':
    unittest.main(verbosity=2)
