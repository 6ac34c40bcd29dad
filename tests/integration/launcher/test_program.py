"""The launcher as a program: signals, the background, its log."""

import os
import re
import signal
import stat
import subprocess
import tempfile
import time
import unittest

from background import Background
from launcher import machine, machines, provider
from launcher_case import LIMIT, LauncherCase
from zookeeper import free_port
from zuul_client import run_job

LINE = r'^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (DEBUG|INFO|WARNING|ERROR) nodepool\.[\w.-]+: '


def run(*arguments):
    return subprocess.run([os.environ['DROVER_LAUNCHER'], *arguments], capture_output=True,
                          text=True, check=False, timeout=60)


def wait_until(condition, limit=LIMIT):
    deadline = time.monotonic() + limit
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError('it does not happen')
        time.sleep(0.02)


class Arguments(unittest.TestCase):
    def test_CLI_02_used_wrongly(self):
        for words, message in ((['--bogus'], 'Unknown option --bogus'),
                               (['more'], 'unrecognized argument: more'),
                               (['--background', '-d'], '--background excludes -d and -f'),
                               (['-l', 'x', '--log-file', 'y'], '--log-file excludes -l'),
                               (['--state-dir', 'x', '--no-state'],
                                '--state-dir excludes --no-state')):
            done = run(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ''), words)
            self.assertIn(f'drover-launcher: error: {message}\n', done.stderr)

    def test_CLI_03_version(self):
        own = run('--version')
        self.assertEqual(own.returncode, 0)
        self.assertRegex(own.stdout, r'^drover \d+\.\d+\.\d+\n$')
        with tempfile.TemporaryDirectory() as folder:
            link = f'{folder}/nodepool-launcher'
            os.symlink(os.path.abspath(os.environ['DROVER_LAUNCHER']), link)
            compatible = subprocess.run([link, '--version'], capture_output=True, text=True,
                                        check=True, timeout=60)
        self.assertRegex(compatible.stdout,
                         r'^Nodepool version: 11\.0\.0\+drover\d+\.\d+\.\d+\n$')

    def test_configuration_missing(self):
        done = run('-c', '/nonexistent.yaml', '--no-state')
        self.assertEqual(done.returncode, 1)
        self.assertIn('/nonexistent.yaml', done.stderr)


class Signals(LauncherCase):
    def test_CLI_54_stop_in_the_foreground(self):
        launcher = self.launcher(provider('p', machines(1)), start=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
            launcher.start()
            self.wait(lambda cluster: cluster.pools() and cluster.launchers(), what='the launcher')
            sessions = {self.observer.cluster.tree.get(
                f'/nodepool/components/pool/{name}').owner
                for name in self.observer.cluster.pools()}
            launcher.signal(number)
            self.assertEqual(launcher.wait_for_exit(), 0)
            launcher.check_sanitizers()
            self.assertEqual([path for path, znode in self.observer.sync().tree.znodes.items()
                              if znode.owner in sessions], [])

    def test_CLI_55_stop_before_the_first_connection(self):
        launcher = self.launcher(provider('p', machines(1)), port=free_port())
        launcher.wait_for_log('Provider p started')
        began = time.monotonic()
        launcher.signal(signal.SIGTERM)
        self.assertEqual(launcher.wait_for_exit(), 0)
        self.assertLess(time.monotonic() - began, 2)

    def test_stop_while_starting(self):
        """A signal that comes before anything is there is not lost."""
        launcher = self.launcher(provider('p', machines(1)), debug=False)
        launcher.wait_for_log('Starting drover-launcher')
        launcher.signal(signal.SIGTERM)
        self.assertEqual(launcher.wait_for_exit(), 0)

    def test_CLI_56_two_dumps_at_once(self):
        launcher = self.start_with(machine('127.0.10.1'), debug=False)
        launcher.signal(signal.SIGUSR2)
        launcher.signal(signal.SIGUSR2)
        launcher.wait_for_log('stack_dump: End debug handler')
        run_job(self.scheduler, self.executor, ['l'])
        dump = launcher.find_log('stack_dump')
        begins, ends = (len(launcher.find_log(f'{word} debug handler'))
                        for word in ('Beginning', 'End'))
        self.assertEqual(begins, ends)
        self.assertIn(begins, (1, 2))
        self.assertRegex(dump[0], r' INFO nodepool\.stack_dump: Beginning debug handler$')
        self.assertRegex('\n'.join(dump), r'stack_dump: Thread: \d+ \S.* d: False, \w')
        self.assertRegex('\n'.join(dump), r'stack_dump: Thread: \d+ \S.* d: True, \w')


class InBackground(LauncherCase):
    def background(self, **options):
        launcher = self.launcher(provider('p', machines(1)), start=False)
        background = Background(launcher, **options)
        self.addCleanup(background.close)
        return background

    def test_CLI_53_start(self):
        for link, more in (('nodepool-launcher', []), ('drover-launcher', ['--background'])):
            daemon = self.background(link=link)
            self.assertEqual(daemon.start(*more), (0, ''))
            with open(daemon.pid_file, encoding='ascii') as file:
                self.assertEqual(file.read(), f'{daemon.pid}\n')
            self.assertEqual(stat.S_IMODE(os.stat(daemon.pid_file).st_mode), 0o644)
            self.assertEqual(os.readlink(f'/proc/{daemon.pid}/cwd'), '/')
            self.assertEqual({os.readlink(f'/proc/{daemon.pid}/fd/{fd}') for fd in range(3)},
                             {'/dev/null'})
            self.assertNotIn(os.getsid(daemon.pid), (os.getsid(0), daemon.pid))
            with open(f'/proc/{daemon.pid}/status', encoding='ascii') as file:
                self.assertIn('Umask:\t0022', file.read())
            with open(f'/proc/{daemon.pid}/limits', encoding='ascii') as file:
                self.assertRegex(file.read(), r'Max core file size +0 +0 ')
            self.wait(lambda cluster: len(cluster.pools()) == 1, what='a pool')
            self.assertRegex(daemon.text(), LINE)
            self.assertNotIn(' DEBUG ', daemon.text())
            self.assertEqual(daemon.stop(), 0)
            self.assertFalse(os.path.exists(daemon.pid_file))
            self.assertEqual(self.observer.sync().pools(), {})

    def test_CLI_53_place_of_the_log(self):
        if os.path.exists('/var/log/nodepool'):
            self.skipTest('this host has logs of its own')
        daemon = self.background()
        where = daemon.arguments.index('--log-file')
        del daemon.arguments[where:where + 2]
        status, complaint = daemon.start()
        self.assertEqual(status, 1)
        self.assertIn('cannot write the log file /var/log/nodepool/nodepool.log', complaint)
        self.assertFalse(os.path.exists(daemon.pid_file))

    def test_start_fails(self):
        """The starting process says so."""
        daemon = self.background()
        with open(f'{daemon.folder}/nodepool.yaml', 'w', encoding='utf-8') as file:
            file.write('providers: [')
        status, complaint = daemon.start()
        self.assertEqual(status, 1)
        self.assertIn('nodepool-launcher: the configuration', complaint)
        self.assertFalse(os.path.exists(daemon.pid_file))
        self.assertRegex(daemon.text(), r' ERROR .*nodepool\.yaml:1:')

    def test_CLI_51_CLI_52_pid_files(self):
        daemon = self.background()
        ended = subprocess.Popen(['true'])
        ended.wait()
        for path, content in ((daemon.pid_file, f'{ended.pid}\n'),
                              (f'{daemon.folder}/odd', 'no number')):
            with open(path, 'w', encoding='ascii') as file:
                file.write(content)
        self.assertEqual(daemon.start(), (0, ''))  # over a stale one
        began = time.monotonic()
        others = [daemon.begin(), daemon.begin('-p', f'{daemon.folder}/odd')]
        for other, name in zip(others, ('pid', 'odd')):
            _, complaint = other.communicate(timeout=60)
            self.assertEqual(other.returncode, 1)
            self.assertIn(f'Timeout waiting to acquire lock for {daemon.folder}/{name}', complaint)
        self.assertTrue(9.9 < time.monotonic() - began < 20)
        with open(daemon.pid_file, encoding='ascii') as file:
            self.assertEqual(file.read(), f'{daemon.pid}\n')
        # In the foreground nobody asks for it.
        done = run('-f', '-c', '/nonexistent.yaml', '--no-state', '-p', daemon.pid_file)
        self.assertIn('/nonexistent.yaml', done.stderr)
        self.assertEqual(daemon.stop(signal.SIGINT), 0)

    def test_killed_one_is_followed(self):
        """Its pid file stays, and is no obstacle; nor is its session."""
        daemon = self.background()
        self.assertEqual(daemon.start(), (0, ''))
        daemon.close()
        self.assertTrue(os.path.exists(daemon.pid_file))
        self.assertEqual(daemon.start(), (0, ''))
        self.wait_for_ready(1)
        self.assertEqual(daemon.stop(), 0)


class Log(LauncherCase):
    def configured(self, name, text):
        """A launcher with a logging configuration that may name its folder as @."""
        launcher = self.launcher(provider('p', machines(1)), start=False)
        path = f'{launcher.folder}/{name}'
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text.replace('@', launcher.folder))
        launcher.arguments += ['-l', path]
        return launcher.start()

    def text(self, launcher, name='log'):
        with open(f'{launcher.folder}/{name}', encoding='utf-8') as file:
            return file.read()

    def test_CLI_57_configured_log(self):
        launcher = self.configured('logging.yaml', '''
            version: 1
            formatters:
              short: {format: '<%(levelname)s> %(name)s %(process)d: %(message)s'}
            handlers:
              file: {class: logging.FileHandler, filename: '@/log', formatter: short}
            loggers:
              nodepool: {level: DEBUG, handlers: [file]}
              nodepool.zk: {level: WARNING}
            ''')
        self.wait_for_ready(1)
        pid = launcher.pid
        launcher.stop()
        text = self.text(launcher)
        self.assertRegex(text, rf'(?m)^<INFO> nodepool\.NodePool {pid}: Starting drover-launcher')
        self.assertIn(f'<DEBUG> nodepool.driver.inventory {pid}: ', text)
        self.assertNotRegex(text, '<(INFO|DEBUG)> nodepool.zk')
        self.assertEqual(launcher.lines, [])

    def test_CLI_57_ini_file(self):
        launcher = self.configured('logging.conf', '''
[formatters]
keys=
[handlers]
keys=file
[loggers]
keys=root
[logger_root]
level=INFO
handlers=file
[handler_file]
class=handlers.TimedRotatingFileHandler
args=('@/log', 'midnight', 1, 30)
''')
        self.wait_for_ready(1)
        launcher.stop()
        self.assertRegex(self.text(launcher), r'(?m)^Starting drover-launcher')

    def test_CLI_57_file_that_cannot_be_used(self):
        missing = run('-l', '/nonexistent.yaml', '--no-state')
        self.assertEqual(missing.returncode, 1)
        self.assertIn('Unable to read logging config file at /nonexistent.yaml', missing.stderr)
        launcher = self.configured('logging.yaml', 'version: 1\nroot: {level: LOUD}\n')
        self.assertEqual(launcher.wait_for_exit(), 1)
        self.assertRegex(launcher.lines[0], r'logging\.yaml:2:15: error: level: must be')

    def test_CLI_58_renamed_file(self):
        launcher = self.launcher(provider('p', machines(1)), start=False)
        launcher.arguments += ['--log-file', f'{launcher.folder}/log']
        launcher.start()
        self.wait_for_ready(1)
        os.rename(f'{launcher.folder}/log', f'{launcher.folder}/log.1')
        run_job(self.scheduler, self.executor, ['l'])
        wait_until(lambda: os.path.exists(f'{launcher.folder}/log') and
                   'Fulfilled' in self.text(launcher))
        self.assertIn('Starting', self.text(launcher, 'log.1'))
        self.assertNotIn('Fulfilled', self.text(launcher, 'log.1'))

    def test_CLI_60_lines_about_a_request(self):
        launcher = self.start_with(machine('127.0.10.1'))
        request = self.submit('l', event_id='event-1')
        node_id, = request.wait('fulfilled')['nodes']
        launcher.wait_for_log('Fulfilled node request')
        lines = [line for line in launcher.find_log(re.escape(request.id))
                 if 'Fulfilled' in line or 'Assigning' in line]
        self.assertGreaterEqual(len(lines), 2)
        for line in lines:
            self.assertRegex(line, LINE + rf'\[e: event-1\] \[node_request: {request.id}\] ')
        request.cancel()
        line, = launcher.wait_for_log('Freed node')
        self.assertRegex(line, rf'\[node_request: {request.id}\] \[node: {node_id}\] ')


if __name__ == '__main__':
    unittest.main(verbosity=2)
