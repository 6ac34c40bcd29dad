"""Lines of the log as objects, key=value, and fields of the journal; and levels of its domains."""

import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import threading
import unittest

import loggers
from cloud import TOKEN
from cloud_case import CloudCase
from launcher import CommandError

ROOT = pathlib.Path(__file__).resolve().parents[3]
KEYS = ['time', 'level', 'logger', 'event_id', 'node_request', 'node', 'provider', 'pool', 'message']
LEVELS = {'debug', 'info', 'warning', 'error'}
EVIL = 'e"\n{"level":"error"} level=error \\ \x1b[2J \u2028 ]'
JOURNAL = '/run/systemd/journal/socket'
JOURNALD = '/lib/systemd/systemd-journald'


def parse_pairs(line):
    """What key=value says; fails when there is more in the line."""
    found, at = {}, 0
    while at < len(line):
        pair = re.compile(r'([a-z_]+)=("(?:[^"\\]|\\.)*"|[^ "=\\]+)(?: |$)').match(line, at)
        if pair is None:
            raise AssertionError(f'no key=value: {line[at:]!r}')
        found[pair[1]] = json.loads(pair[2]) if pair[2].startswith('"') else pair[2]
        at = pair.end()
    return found


def parse_journal(datagram):
    fields, at = {}, 0
    while at < len(datagram):
        end = datagram.index(b'\n', at)
        name, equals, value = datagram[at:end].partition(b'=')
        if equals:
            at = end + 1
        else:
            size, = struct.unpack_from('<Q', datagram, end + 1)
            value = datagram[end + 9:end + 9 + size]
            at = end + 9 + size + 1
        fields[name.decode()] = value.decode()
    return fields


class StructuredTest(CloudCase):
    def be_busy(self, launcher):
        """Requests that are fulfilled, declined and withdrawn; one with an evil event id."""
        good = self.scheduler.submit(['l'])
        with_evil = self.client.create('/nodepool/requests/300-', json.dumps({
            'state': 'requested', 'state_time': 0, 'node_types': ['nope'], 'nodes': [],
            'declined_by': [], 'requestor': 'x', 'event_id': EVIL}).encode(), sequence=True)
        node_id, = self.nodes_of(good)
        launcher.wait_for_log(f'{good.id}.*[Ff]ulfilled')
        launcher.wait_for_log(f'{with_evil.rpartition("/")[2]}.*[Dd]eclin')
        self.client.delete(with_evil)
        self.give_back(good)
        self.wait_for_no_nodes()
        launcher.wait_for_log('NodeDeleter.*eleted')
        return good.id, node_id

    def check(self, parse, *arguments):
        launcher = self.start(arguments=arguments)
        request_id, node_id = self.be_busy(launcher)
        lines = [parse(line) for line in launcher.lines]
        self.assertGreater(len(lines), 30)
        self.assertEqual(launcher.find_log(TOKEN), [])
        for line in lines:
            self.assertEqual(list(line), [key for key in KEYS if key in line])
            self.assertRegex(line['time'], r'^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$')
            self.assertIn(line['level'], LEVELS)
            self.assertTrue(line['logger'].startswith('nodepool.'))
            self.assertFalse(line['message'].startswith('[node'), line)
        of_node = [line for line in lines if line.get('node') == node_id]
        self.assertTrue(any(line.get('node_request') == request_id for line in of_node))
        self.assertEqual({(line.get('provider'), line.get('pool')) for line in of_node
                          if 'pool' in line}, {('p', 'main')})
        fulfilled = [line for line in lines if line['message'].startswith('Fulfilled')][0]
        self.assertEqual((fulfilled['node_request'], fulfilled['provider'], fulfilled['pool']),
                         (request_id, 'p', 'main'))
        self.assertEqual({line['event_id'] for line in lines if 'level=error' in
                          line.get('event_id', '')}, {EVIL})

    def test_json(self):
        self.check(json.loads, '--log-format', 'json')

    def test_key_value(self):
        self.check(parse_pairs, '--log-format', 'logfmt')

    def test_chosen_in_the_configuration(self):
        for name, parse in (('pythonjsonlogger.jsonlogger.JsonFormatter', json.loads),
                            ('logfmter.Logfmter', parse_pairs)):
            launcher = self.launcher(self.cloud.provider('p'), start=False, debug=False)
            path = f'{launcher.folder}/logging.yaml'
            with open(path, 'w', encoding='utf-8') as out:
                json.dump({'version': 1, 'formatters': {'f': {'class': name}},
                           'handlers': {'h': {'class': 'logging.StreamHandler', 'formatter': 'f',
                                              'stream': 'ext://sys.stdout'}},
                           'root': {'level': 'INFO', 'handlers': ['h']}}, out)
            launcher.arguments += ['-l', path]
            launcher.start()
            launcher.wait_for_log('Registered /nodepool/components/pool')
            self.assertEqual({parse(line)['level'] for line in launcher.lines} - LEVELS, set())
            launcher.stop()

    def test_used_wrongly(self):
        launcher = self.launcher(self.cloud.provider('p'), start=False)
        for words, message in ((['--log-format', 'xml'], 'text, logfmt or json'),
                               (['--log-format', 'json', '-l', 'x'], 'excludes -l')):
            done = subprocess.run([os.environ['DROVER_LAUNCHER'], *launcher.arguments, *words],
                                  capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)
        self.launchers.clear()


class JournalTest(CloudCase):
    def begin(self, launcher, address):
        path = f'{launcher.folder}/logging.json'
        with open(path, 'w', encoding='utf-8') as out:
            json.dump({'version': 1, 'handlers': {'j': {
                'class': 'systemd.journal.JournalHandler', 'address': address}},
                'root': {'level': 'DEBUG', 'handlers': ['j']}}, out)
        launcher.arguments += ['-l', path]
        launcher.start()

    def test_fields(self):
        launcher = self.launcher(self.cloud.provider('p'), start=False)
        address = f'{launcher.folder}/journal'
        journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        journal.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        journal.bind(address)
        entries = []

        def read():
            while datagram := journal.recv(1 << 18):
                entries.append(parse_journal(datagram))
        reader = threading.Thread(target=read)
        reader.start()
        # Ended before it is closed: its number is soon another socket's, which it would read.
        for step in (journal.close, reader.join, lambda: journal.shutdown(socket.SHUT_RDWR)):
            self.addCleanup(step)
        self.begin(launcher, address)
        request = self.scheduler.submit(['l'])
        self.nodes_of(request)
        self.wait(lambda cluster: any('Fulfilled' in entry['MESSAGE'] for entry in list(entries)))
        entry, = [entry for entry in entries if 'Fulfilled' in entry['MESSAGE']]
        self.assertEqual((entry['PRIORITY'], entry['SYSLOG_IDENTIFIER'], entry['DROVER_PROVIDER'],
                          entry['DROVER_POOL'], entry['DROVER_NODE_REQUEST']),
                         ('6', 'drover-launcher', 'p', 'main', request.id))
        self.assertRegex(entry['DROVER_LOGGER'], r'^nodepool\.')
        launcher.signal(signal.SIGUSR2)  # USR2: messages with several lines
        self.wait(lambda cluster: any('End debug handler' in entry['MESSAGE']
                                      for entry in list(entries)))
        self.refuse(request)
        self.assertEqual(launcher.lines, [])

    def begin_journald(self, run):
        """One of our own, whose /run is this folder."""
        settings = f'{run}/systemd/journald.conf.d'
        os.makedirs(settings)
        os.makedirs(f'{run}/log/journal')
        with open(f'{settings}/test.conf', 'w', encoding='utf-8') as out:
            out.write('[Journal]\nStorage=volatile\nReadKMsg=no\nAudit=no\nRateLimitBurst=0\n'
                      'ForwardToSyslog=no\nForwardToConsole=no\nForwardToWall=no\n')
        journald = subprocess.Popen(
            ['unshare', '--mount', 'sh', '-c', 'mount --bind "$1" /run && exec "$2"', 'sh', run,
             JOURNALD], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(journald.communicate, timeout=60)
        self.addCleanup(journald.terminate)
        address = f'{run}/systemd/journal/socket'
        self.wait(lambda _: os.path.exists(address) or journald.poll() is not None)
        if journald.poll() is not None:
            self.skipTest(f'no journald of our own: {journald.stderr.read()}')
        return address

    @unittest.skipUnless(os.geteuid() == 0 and os.path.exists(JOURNALD),
                         'needs root and systemd-journald')
    def test_in_a_real_journal(self):
        launcher = self.launcher(self.cloud.provider('p'), start=False)
        run = f'{launcher.folder}/run'
        self.begin(launcher, self.begin_journald(run))
        request = self.scheduler.submit(['l'])
        self.nodes_of(request)

        def entries():
            out = subprocess.run(['journalctl', '--directory', f'{run}/log/journal', '-o', 'json',
                                  f'DROVER_NODE_REQUEST={request.id}'], stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, text=True, check=False).stdout
            return [json.loads(line) for line in out.splitlines()]
        self.wait(lambda _: any('Fulfilled' in entry['MESSAGE'] for entry in entries()))
        entry, = [entry for entry in entries() if 'Fulfilled' in entry['MESSAGE']]
        self.assertEqual((entry['PRIORITY'], entry['SYSLOG_IDENTIFIER'], entry['DROVER_PROVIDER'],
                          entry['DROVER_POOL'], entry['_PID'], entry['_TRANSPORT']),
                         ('6', 'drover-launcher', 'p', 'main', str(launcher.pid), 'journal'))
        self.refuse(request)

    @unittest.skipIf(os.path.exists(JOURNAL), 'there is a journal')
    def test_journal_that_is_not_there(self):
        """The stream is the journal's, as JOURNAL_STREAM says; but nobody is at its socket."""
        script = 'JOURNAL_STREAM=$(stat -L -c %d:%i /proc/$$/fd/1) exec "$@"'
        launcher = self.launcher(self.cloud.provider('p'), start=False)
        for words, line in (([], '^nodepool.NodePool: Starting drover-launcher'),
                            (['--log-format', 'text'], '^20.* INFO nodepool.NodePool: Starting')):
            begun = subprocess.Popen(
                ['sh', '-c', script, 'sh', os.environ['DROVER_LAUNCHER'], *launcher.arguments,
                 *words], stdout=subprocess.PIPE, text=True)
            self.assertRegex(begun.stdout.readline(), line)
            begun.terminate()
            begun.communicate(timeout=60)
        self.launchers.clear()


class ListenerTest(CloudCase):
    def test_reload_warns_of_changed_listeners(self):
        launcher = self.start()
        launcher.reload([self.cloud.provider('p')])
        self.assertEqual(launcher.find_log('restart the launcher'), [])
        launcher.reload([self.cloud.provider('p')], webapp={'port': 8006},
                        prometheus={'launcher': {'port': 9007}})
        for section in ('webapp', 'prometheus'):
            launcher.wait_for_log(f'WARNING .*{section} has changed; restart the launcher')


class LevelTest(CloudCase):
    def levels(self, launcher, **arguments):
        return {one['domain']: (one['level'], one['effective'])
                for one in launcher.command('log-level', **arguments)['domains']}

    def test_all_loggers_have_a_domain(self):
        launcher = self.start()
        known = set(self.levels(launcher))
        self.assertLessEqual({'root', 'nodepool', 'nodepool.zk', 'nodepool.PoolWorker.p-main',
                              'nodepool.driver', 'nodepool.NodePool'}, known)
        self.assertLessEqual({f'nodepool.{name}' for name in loggers.used(ROOT)}, known)

    def test_takes_effect_at_once(self):
        launcher = self.start(launcher={'debug': False})
        self.assertEqual(self.levels(launcher)['nodepool.command'], (None, 'info'))
        self.assertEqual(self.levels(launcher, domain='command', level='error'),
                         {'nodepool.command': ('error', 'error')})
        mark = launcher.mark()
        self.levels(launcher, domain='root', level='Debug')
        self.assertEqual(self.levels(launcher)['nodepool.zk.cache'], (None, 'debug'))
        request = self.scheduler.submit(['l'])
        self.nodes_of(request)
        launcher.wait_for_log(' DEBUG ', mark)
        self.assertEqual(launcher.find_log('nodepool.command', mark), [])
        self.levels(launcher, domain='root', level='default')
        self.levels(launcher, domain='nodepool.command', level='default')
        launcher.wait_for_log('The log level of nodepool.command is now default', mark)
        mark = launcher.mark()
        self.refuse(request)
        self.nodes_of(self.scheduler.submit(['l']))
        self.assertEqual(launcher.find_log(' DEBUG ', mark), [])

    def test_only_one_pool(self):
        launcher = self.start(launcher={'debug': False})
        name = 'nodepool.PoolWorker.p-main'
        self.assertEqual(self.levels(launcher, domain=name, level='warning'),
                         {name: ('warning', 'warning')})
        self.assertEqual(self.levels(launcher)['nodepool.PoolWorker'], (None, 'info'))

    def test_what_there_is_not(self):
        launcher = self.start()
        for arguments, message in (
                ({'domain': 'zk.cach', 'level': 'debug'},
                 r'no log domain zk\.cach, only .*nodepool\.zk\.cache'),
                ({'domain': 'zk', 'level': 'loud'},
                 'no log level loud, only debug, info, warning, error, critical and default'),
                ({'level': 'debug'}, 'needs a "domain"'),
                ({'domain': 7, 'level': 'debug'}, '"domain" must be a text'),
                ({'domain': 'nope'}, 'no log domain nope')):
            with self.assertRaisesRegex(CommandError, message):
                launcher.command('log-level', **arguments)


if __name__ == '__main__':
    unittest.main(verbosity=2)
