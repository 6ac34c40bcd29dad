"""What a running launcher is told and asked over its socket, and how it stops when all is done."""

import os
import signal
import socket
import stat
import time
import unittest

from cloud import label
from cloud_case import CREATE, CloudCase
from launcher import CommandError, machines, provider
from launcher_case import LIMIT, LauncherCase
from zookeeper import free_port
from zuul_client import NODES

SLOW = 1000  # seconds of the cloud's clock, which advance() moves


class OnStaticMachines(LauncherCase):
    def assert_refused(self, launcher, message, command, **arguments):
        with self.assertRaises(CommandError) as refusal:
            launcher.command(command, **arguments)
        self.assertIn(message, str(refusal.exception))

    def test_status(self):
        launcher = self.start_with(*machines(2))
        status = launcher.command('status')
        self.assertEqual((status['program'], status['pid'], status['state']),
                         ('drover-launcher', launcher.pid, 'running'))
        self.assertRegex(status['version'], r'^\d+\.\d+\.\d+$')
        self.assertLess(status['uptime'], 600)
        self.assertEqual((status['session']['state'], status['caches_complete']),
                         ('connected', True))
        self.assertRegex(status['session']['id'], r'^0x[0-9a-f]+$')
        one, = status['providers']
        self.assertEqual((one['name'], one['driver'], one['state'], one['problem']),
                         ('p', 'static', 'running', None))
        self.assertGreaterEqual(one['blocked'], 0)
        pool, = status['pools']
        self.assertEqual((pool['provider'], pool['pool'], pool['registered'], pool['paused'],
                          pool['handlers']), ('p', 'main', True, False, 0))
        self.assertIn(pool['launcher'], [record['id'] for record in
                                         self.observer.cluster.pools().values()])
        self.assertGreater(status['counters']['reads'], 0)

    def test_status_of_a_provider_that_cannot_start(self):
        launcher = self.launcher(provider('p', machines(1)), {**provider('q'), 'driver': 'nope'})
        self.wait_for_pools('p-main')
        launcher.wait_for_log('Provider q cannot start')
        bad = next(one for one in launcher.command('status')['providers'] if one['name'] == 'q')
        self.assertEqual(bad['state'], 'failed')
        self.assertIn('nope', bad['problem'])

    def test_dump_and_profile(self):
        launcher = self.start_with(*machines(2))
        self.submit('nope').wait('failed')
        everything = launcher.command('dump')
        self.assertEqual((everything['nodes'], everything['node_requests'],
                          everything['pools_registered']), ({'ready': 2}, {'failed': 1}, 1))
        self.assertEqual(everything['pools'][0]['requests'], [])
        self.assert_refused(launcher, 'no profiler is built in', 'profile')

    def test_wrong_commands(self):
        launcher = self.start_with(*machines(1))
        self.assert_refused(launcher, 'there is no command "bogus"', 'bogus')
        self.assert_refused(launcher, 'no argument "provider"', 'status', provider='p')
        self.assert_refused(launcher, '"provider" must be a text', 'reconfigure', provider=7)
        self.assert_refused(launcher, '"request" must be', 'explain')

    def test_stop(self):
        launcher = self.start_with(*machines(1))
        sessions = {self.observer.cluster.tree.get(f'/nodepool/components/pool/{name}').owner
                    for name in self.observer.cluster.pools()}
        self.assertEqual(launcher.command('stop'), {'state': 'stopping'})
        self.assertEqual(launcher.wait_for_exit(), 0)
        launcher.check_sanitizers()
        self.assertFalse(os.path.exists(launcher.socket_path))
        self.assertEqual([path for path, znode in self.observer.sync().tree.znodes.items()
                          if znode.owner in sessions], [])

    def test_before_the_first_connection(self):
        launcher = self.launcher(provider('p', machines(1)), port=free_port())
        deadline = time.monotonic() + LIMIT
        while not os.path.exists(launcher.socket_path):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        status = launcher.command('status')
        self.assertEqual((status['state'], status['session']['state'], status['caches_complete']),
                         ('starting', 'connecting', False))
        launcher.command('pause')
        launcher.command('stop')
        self.assertEqual(launcher.wait_for_exit(), 0)
        launcher.check_sanitizers()

    # ---- The socket ----

    def test_file(self):
        launcher = self.start_with(*machines(1))
        self.assertEqual(stat.S_IMODE(os.stat(launcher.socket_path).st_mode), 0o600)
        launcher.kill()
        self.assertTrue(os.path.exists(launcher.socket_path))
        launcher.start()
        launcher.wait_for_log('Provider p started', count=2)
        self.assertEqual(launcher.command('status')['pid'], launcher.pid)

    def test_socket_of_another_launcher(self):
        first = self.start_with(*machines(1))
        second = self.launcher(provider('p', machines(1)), start=False)
        second.arguments += ['--command-socket', first.socket_path]
        second.start()
        self.assertEqual(second.wait_for_exit(LIMIT), 1)
        self.assertTrue(second.find_log('somebody listens there'))
        self.assertEqual(first.command('status')['pid'], first.pid)

    def test_folder_that_is_too_long(self):
        launcher = self.launcher(provider('p', machines(1)), start=False)
        folder = f'{launcher.folder}/{"x" * 100}'
        launcher.arguments[launcher.arguments.index('--state-dir') + 1] = folder
        launcher.start()
        launcher.wait_for_log('WARNING .*No commands are taken: .*longer than')
        self.wait_for_ready(1)

    def test_clients_that_hang_hold_up_nothing(self):
        launcher = self.start_with(*machines(1))
        clients = [socket.socket(socket.AF_UNIX) for _ in range(20)]
        for client in clients:
            self.addCleanup(client.close)
            client.connect(launcher.socket_path)
            client.sendall(b'{"command":')
        self.job('l').give_back()
        self.wait_for_ready(1)
        self.assertEqual(launcher.command('status')['state'], 'running')

    # ---- reconfigure ----

    def test_reconfigure(self):
        launcher = self.start_with(*machines(1))
        launcher.configure([provider('p', machines(2))])
        self.assertEqual(launcher.command('reconfigure'), {'state': 'running'})
        self.wait_for_ready(2)
        launcher.write_config('providers: [')
        self.assert_refused(launcher, 'the running one stays in force', 'reconfigure')
        self.job('l').give_back()

    def test_reconfigure_a_provider(self):
        launcher = self.launcher(provider('p', machines(1)), provider('q', machines(1, 'm', 11)))
        self.wait_for_ready(2)
        nodes = self.job('l')
        mark = launcher.mark()
        launcher.command('reconfigure', provider='p')
        launcher.wait_for_log('Provider p started', mark)
        self.assertEqual(launcher.find_log('Provider q started', mark), [])
        nodes.give_back()
        self.wait_for_ready(2)
        self.assert_refused(launcher, 'no such provider in the configuration: nope', 'reconfigure',
                            provider='nope')

    # ---- pause ----

    def test_pause_and_unpause(self):
        launcher = self.start_with(*machines(2))
        self.assertEqual(launcher.command('pause'), {'state': 'paused'})
        self.assertEqual(launcher.command('pause'), {'state': 'paused'})
        self.wait(lambda cluster: [(pool['state'], pool['paused']) for pool in
                                   cluster.pools().values()] == [('paused', True)])
        self.wait(lambda cluster: [one['state'] for one in cluster.launchers().values()] ==
                  ['paused'])
        waiting = self.submit('l')
        self.assert_stays(launcher, waiting)
        verdict, = launcher.command('explain', request=waiting.id)
        self.assertEqual((verdict['verdict'], verdict['reason']),
                         ('defer', 'the launcher was paused by its operator'))
        self.submit('nope').wait('failed')
        launcher.reload([provider('p', machines(2)), provider('q', machines(1, 'm', 11))])
        self.wait_for_pools('p-main', 'q-main')
        self.wait(lambda cluster: all(pool['paused'] for pool in cluster.pools().values()))
        self.assertEqual(launcher.command('unpause'), {'state': 'running'})
        waiting.wait('fulfilled')
        self.wait(lambda cluster: [(pool['state'], pool['paused']) for pool in
                                   cluster.pools().values()] == [('running', False)] * 2)

    def test_others_serve_while_one_is_paused(self):
        first = self.launcher(provider('p', machines(1), priority=1))
        self.launcher(provider('q', machines(1, network=11), priority=2))
        self.wait_for_pools('p-main', 'q-main')
        self.wait_for_ready(2)
        first.command('pause')
        request = self.submit('l')
        node_id, = request.wait('fulfilled')['nodes']
        self.assertEqual(self.observer.sync().node(node_id)['provider'], 'q')

    # ---- graceful, with nothing under way ----

    def test_graceful_without_work(self):
        launcher = self.start_with(*machines(1))
        self.assertEqual(launcher.command('graceful'), {'state': 'stopping when done'})
        self.assertEqual(launcher.wait_for_exit(), 0)
        launcher.check_sanitizers()
        self.assertEqual((self.observer.sync().pools(), self.observer.cluster.launchers()),
                         ({}, {}))


class OnACloud(CloudCase):
    def test_L_106_graceful(self):
        launcher = self.start(labels=[label('l'), label('m')], launcher={
            'labels': [{'name': 'l'}, {'name': 'm', 'min-ready': 1}]})
        self.wait_for_ready(1, 'm')
        used = self.job('l')
        self.cloud.settings(active_after=SLOW, delete_after=SLOW)
        used.give_back()
        begun = self.submit('l', 'l')
        self.cloud.wait_for_machines(4)
        self.wait(lambda cluster: len(cluster.nodes(state='building')) == 2 and
                  cluster.nodes(state='deleting'))
        self.assertEqual(launcher.command('graceful'), {'state': 'stopping when done'})
        self.wait(lambda cluster: [(pool['paused']) for pool in cluster.pools().values()] == [True]
                  and [one['state'] for one in cluster.launchers().values()] == ['stopping'])

        # Nothing new: neither for requests nor for min-ready, nor by a new configuration.
        late, impossible = self.submit('l'), self.submit('nope')
        taken = self.submit('m')
        impossible.wait('failed')
        with self.assertRaises(CommandError) as refusal:
            launcher.command('unpause')
        self.assertIn('about to stop', str(refusal.exception))
        with self.assertRaises(CommandError):
            launcher.command('reconfigure')
        launcher.configure([self.cloud.provider('q')])
        launcher.wait_for_log(f'{late.id}.*Not now .*about to stop')
        self.assertEqual(launcher.command('status')['pools'][0]['handlers'], 1)

        self.cloud.settings(active_after=0.1, delete_after=0.1)
        self.cloud.advance(SLOW)
        begun.wait('fulfilled')
        self.assertEqual(launcher.wait_for_exit(LIMIT), 0)
        launcher.check_sanitizers()
        cluster = self.observer.sync()
        self.assertEqual((cluster.request(late.id)['state'], cluster.request(taken.id)['state']),
                         ('requested', 'requested'))
        self.assertEqual((cluster.pools(), cluster.launchers(), cluster.contenders()),
                         ({}, {}, []))
        self.assertEqual(launcher.find_log('Provider q'), [])
        # Two of the request, one that stood by; the used one is gone.
        self.assertEqual(sorted(node['state'] for node in cluster.nodes().values()), ['ready'] * 3)
        self.cloud.wait_for_machines(3)

    def test_graceful_deletes_what_failed(self):
        launcher = self.start(launch_retries=1)
        self.cloud.faults({**CREATE, 'machine': {'error': 'broken', 'after': SLOW}})
        begun = self.submit('l')
        self.cloud.wait_for_machines(1)
        launcher.command('graceful')
        self.cloud.advance(SLOW)
        begun.wait('failed')
        self.assertEqual(launcher.wait_for_exit(LIMIT), 0)
        launcher.check_sanitizers()
        self.assertEqual(self.observer.sync().nodes(), {})
        self.assertEqual(self.cloud.machines(), [])

    def test_stop_while_it_stops_gracefully(self):
        launcher = self.start()
        self.cloud.settings(active_after=SLOW)
        begun = self.submit('l')
        self.cloud.wait_for_machines(1)
        launcher.command('graceful')
        launcher.signal(signal.SIGTERM)  # the orderly stop, which waits for no machine
        self.assertEqual(launcher.wait_for_exit(LIMIT), 0)
        launcher.check_sanitizers()
        self.assertEqual(self.observer.sync().request(begun.id)['state'], 'requested')

    def test_what_was_accepted_goes_on_while_paused(self):
        launcher = self.start()
        self.cloud.settings(active_after=SLOW)
        begun = self.submit('l')
        self.cloud.wait_for_machines(1)
        launcher.command('pause')
        self.cloud.settings(active_after=0.1)
        self.cloud.advance(SLOW)
        node_id, = begun.wait('fulfilled')['nodes']
        nodes = self.executor.accept(begun.id)
        nodes.use()
        nodes.give_back()
        self.wait_for_gone(node_id)
        self.assertIsNone(self.client.exists(f'{NODES}/{node_id}'))
        self.assertEqual(launcher.command('status')['state'], 'paused')

    def test_explain_a_request_that_waits_for_room(self):
        self.cloud.limits(instances=1)
        launcher = self.start()
        self.node_of(self.submit('l'))
        waiting = self.submit('l')
        waiting.wait('pending')
        launcher.wait_for_log('Not enough quota')
        verdict, = launcher.command('explain', request=waiting.id)
        self.assertEqual((verdict['verdict'], verdict['provider'], verdict['pool']),
                         ('wait', 'p', 'main'))
        self.assertRegex(verdict['reason'], '0 of 1 node.s. ready, 0 being launched; provider: '
                                            '1 more instances needed, 1 used, limit 1')
        self.assertEqual(launcher.command('explain', request='200-0000009999'), [])
        pool, = launcher.command('dump')['pools']
        self.assertEqual([(one['id'], one['accepted']) for one in pool['requests']],
                         [(waiting.id, True)])


if __name__ == '__main__':
    unittest.main(verbosity=2)
