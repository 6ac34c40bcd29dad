"""Static machines end to end: registration, comparison with the configuration, and use. Where a
machine is really contacted it is an SSH server of the test's own."""

import json
import socket
import subprocess
import time
import unittest

from launcher import machine, machines, provider
from launcher_case import LIMIT, LauncherCase, seed_of
from sshd import Sshd
from zuul_client import NODES, encode, run_job


class StaticCase(LauncherCase):
    def sshd(self, *key_types, start=True):
        """Listens on 127.0.0.1 with one key of each type."""
        server = Sshd(key_types or ('ed25519',))
        self.addCleanup(server.close)
        return server.start() if start else server

    def host(self, sshd, labels='l', **options):
        """The machine behind an SSH server, contacted as in production."""
        options = {'username': 'zuul', 'timeout': 13, **options}
        return machine('127.0.0.1', labels, checked=True, connection_port=sshd.port, **options)

    def listener(self, address='127.0.0.1', port=0):
        """Accepts connections and says nothing."""
        listener = socket.create_server((address, port), backlog=200)
        self.addCleanup(listener.close)
        return listener

    def only_node(self):
        (node_id, node), = self.observer.sync().nodes().items()
        return node_id, node


class Registering(StaticCase):
    def test_ST_01_record(self):
        sshd = self.sshd('ed25519', 'rsa')
        self.start_with(self.host(sshd, host_key=sshd.keys[0]))
        node_id, node = self.only_node()
        self.assertEqual(
            {field: node[field] for field in
             ('state', 'provider', 'pool', 'launcher', 'type', 'hostname', 'interface_ip',
              'external_id', 'username', 'connection_port', 'ssh_port', 'connection_type',
              'python_path', 'shell_type', 'slot', 'public_ipv4', 'allocated_to')},
            {'state': 'ready', 'provider': 'p', 'pool': 'main', 'launcher': 'static driver',
             'type': ['l'], 'hostname': '127.0.0.1', 'interface_ip': '127.0.0.1',
             'external_id': '127.0.0.1', 'username': 'zuul', 'connection_port': sshd.port,
             'ssh_port': sshd.port, 'connection_type': 'ssh', 'python_path': 'auto',
             'shell_type': None, 'slot': 0, 'public_ipv4': '127.0.0.1', 'allocated_to': None})
        self.assertIn(sshd.keys[0], node['host_keys'])
        self.assertFalse(self.observer.cluster.is_locked(node_id))
        for field in ('resources', 'az', 'cloud', 'region', 'image_id', 'tenant_name', 'requestor',
                      'driver_data', 'public_ipv6'):
            self.assertIsNone(node[field], field)

    def test_a_name_is_resolved(self):
        self.start_with(machine('localhost'))
        _, node = self.only_node()
        self.assertEqual((node['hostname'], node['interface_ip']), ('localhost', 'localhost'))
        self.assertIn(node['public_ipv4'] or node['public_ipv6'], ('127.0.0.1', '::1'))

    def test_ST_02_ST_03_attributes_and_paths(self):
        self.launcher(provider('p', pools=[
            {'name': 'main', 'node-attributes': {'key1': 'value1'},
             'nodes': [machine('127.0.10.1', python_path='/usr/bin/python3.11', shell_type='cmd')]}
        ]))
        self.wait_for_ready(1)
        for _ in range(2):
            _, node = self.only_node()
            self.assertEqual((node['attributes'], node['python_path'], node['shell_type']),
                             ({'key1': 'value1'}, '/usr/bin/python3.11', 'cmd'))
            run_job(self.scheduler, self.executor, ['l'])
            self.wait_for_ready(1)

    def test_ST_04_ST_05_used_node_is_registered_anew(self):
        sshd = self.sshd()
        self.start_with(self.host(sshd))
        first, _ = self.only_node()
        self.assertEqual(run_job(self.scheduler, self.executor, ['l']), [first])
        second, = self.wait_for_ready(1)
        self.assertNotEqual(second, first)
        node = self.observer.sync().node(second)
        self.assertEqual((node['hostname'], node['slot']), ('127.0.0.1', 0))
        used = self.observer.changes(f'{NODES}/{first}')[-2][0]
        ready = self.observer.changes(f'{NODES}/{second}')[0][0]
        self.assertLess(ready.time - used.time, 1 + sanitizer_slack())

    def test_ST_06_ST_07_identities(self):
        """Users and ports tell machines apart."""
        other_port = self.sshd()
        sshd = self.sshd()
        self.start_with(self.host(sshd, 'l'), self.host(sshd, 'm', username='zuul-2'),
                        self.host(other_port, 'n'))
        nodes = self.observer.sync().nodes()
        self.assertEqual(sorted((node['type'][0], node['username'], node['connection_port'],
                                 node['slot']) for node in nodes.values()),
                         sorted([('l', 'zuul', sshd.port, 0), ('m', 'zuul-2', sshd.port, 0),
                                 ('n', 'zuul', other_port.port, 0)]))
        used, = run_job(self.scheduler, self.executor, ['l'])
        self.wait_for_ready(3)
        nodes = self.observer.sync().nodes()
        self.assertEqual(sorted((node['type'][0], node['username']) for node in nodes.values()),
                         [('l', 'zuul'), ('m', 'zuul-2'), ('n', 'zuul')])
        self.assertNotIn(used, nodes)
        # Each is asked on its own port.
        other_port.stop()
        self.submit('m').wait('fulfilled')
        waiting = self.submit('n')
        self.wait(lambda cluster: not any('n' in node['type'] for node in cluster.nodes().values()))
        self.assertEqual(self.observer.sync().request(waiting.id)['state'], 'requested')

    def test_ST_08_refused_configuration(self):
        """Two entries for one machine: nothing starts, and both places are named."""
        one = machine('127.0.10.1', connection_port=2222)
        launcher = self.launcher(provider('p', [one, dict(one, **{'connection-type': 'winrm'})]))
        line, = launcher.wait_for_log(r'ERROR .*nodepool\.yaml:\d+:\d+: .*127\.0\.10\.1')
        self.assertRegex(line, r'\d+.*\d+:\d+.*line \d+|nodepool\.yaml:\d+:\d+.*nodepool\.yaml:\d+')
        self.assertEqual(launcher.wait_for_exit(), 1)

    def test_ST_45_unknown_options(self):
        """The launcher goes on without them, as files of Nodepool ask for, and says so."""
        launcher = self.start_with(machine('127.0.10.1', max_paralel_jobs=2))
        launcher.wait_for_log(r'WARNING .*nodepool\.yaml:\d+:\d+: .*max-paralel-jobs.*'
                              r'did you mean max-parallel-jobs')

    def test_ST_09_name_that_does_not_resolve(self):
        launcher = self.launcher(provider('p', [machine('no-such-host.invalid', 'm'),
                                                machine('127.0.10.1')]))
        self.wait_for_ready(1, 'l')
        launcher.wait_for_log('WARNING .*no-such-host.invalid')

    def test_ST_22_no_key_configured(self):
        sshd = self.sshd('ed25519', 'rsa', 'ecdsa')
        self.start_with(self.host(sshd))
        _, node = self.only_node()
        self.assertEqual(sorted(node['host_keys']), sorted(sshd.keys))

    def test_ST_21_other_key_than_configured(self):
        sshd = self.sshd('ed25519', 'rsa')
        sshd.stop()
        sshd.start(offered=[1])
        launcher = self.launcher(provider('p', [self.host(sshd, host_key=sshd.keys[0])]),
                                 sync_interval=1)
        launcher.wait_for_log('WARNING .*host key mismatch')
        self.assertEqual(self.observer.sync().nodes(), {})
        sshd.stop()
        sshd.start(offered=[0])
        self.wait_for_ready(1)

    def test_H_33_port_other_than_22(self):
        """What Zuul makes of the record is what ssh needs to know the machine."""
        sshd = self.sshd('ed25519', 'rsa')
        self.start_with(self.host(sshd))
        _, node = self.only_node()
        self.assertEqual(len(node['host_keys']), 2)
        for index, key in enumerate(node['host_keys']):
            # An account without keys: the handshake is over when the server refuses it.
            self.assertIn('Permission denied', self.ssh(sshd, node, key))
            sshd.stop()
            sshd.start(offered=[1 - index])
            self.assertIn('Host key verification failed', self.ssh(sshd, node, key))
            sshd.stop()
            sshd.start(offered=[0, 1])

    def ssh(self, sshd, node, key):
        """What ssh says on its way to the machine, if this is all it knows of it."""
        known = f'{sshd.folder}/known_hosts'
        with open(known, 'w', encoding='ascii') as file:
            file.write(f"[{node['interface_ip']}]:{node['connection_port']} {key}\n")
        return subprocess.run(
            ['ssh', '-F', 'none', '-o', 'BatchMode=yes', '-o', 'StrictHostKeyChecking=yes',
             '-o', f'UserKnownHostsFile={known}', '-o', 'GlobalKnownHostsFile=none',
             '-o', 'IdentitiesOnly=yes', '-o', 'IdentityFile=none', '-p', str(sshd.port),
             f"{node['username']}@{node['interface_ip']}", 'true'],
            capture_output=True, text=True, check=False, timeout=60).stderr

    def test_ST_23_unchecked_machine_is_never_contacted(self):
        listener = self.listener()
        listener.setblocking(False)
        key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEb'
        self.start_with(machine('127.0.0.1', host_key=key,
                                connection_port=listener.getsockname()[1]), sync_interval=1)
        _, node = self.only_node()
        self.assertEqual(node['host_keys'], [key])
        run_job(self.scheduler, self.executor, ['l'])
        self.wait_for_ready(1)
        with self.assertRaises(BlockingIOError):
            listener.accept()

    def test_ST_24_machine_down_at_start(self):
        sshd = self.sshd()
        launcher = self.start_with(self.host(sshd, 'l', timeout=2), machine('127.0.10.1', 'm'),
                                   sync_interval=1)
        before = {node['type'][0]: node_id
                  for node_id, node in self.observer.sync().nodes().items()}
        launcher.stop()
        sshd.stop()
        launcher.start()
        self.wait_for_gone(before['l'])
        warning, = launcher.wait_for_log('WARNING .*127.0.0.1.*not reached')
        self.assertEqual(warning.count(f'127.0.0.1 (user zuul, port {sshd.port})'), 1)
        self.assertEqual(self.observer.sync().ready_nodes(), [before['m']])
        sshd.start()
        self.wait_for_ready(2)

    def test_ST_34_record_deleted_by_hand(self):
        self.start_with(machine('127.0.10.1', max_parallel_jobs=2), count=2)
        victim = next(node_id for node_id, node in self.observer.sync().nodes().items()
                      if node['slot'] == 1)
        self.client.delete(f'{NODES}/{victim}', recursive=True)
        self.wait_for_gone(victim)
        self.wait_for_ready(2)
        self.assertEqual(sorted(node['slot'] for node in self.observer.sync().nodes().values()),
                         [0, 1])

    def test_ST_35_comparison_and_deletion_at_once(self):
        """Whichever comes first, there is one node a slot; the observer sees to that."""
        random = seed_of(self)
        slots = 100
        launcher = self.start_with(*machines(slots // 2, max_parallel_jobs=2), count=slots,
                                   sync_interval=1, timeout=30)
        self.submit('l', *['l'] * slots)  # asks for more than there is: looked at with each tick
        deletions = 0
        while deletions < 1000:
            # Ticks and comparisons come at the same moment, once a second.
            launcher.wait_for_log('Not now', launcher.mark())
            tick = time.monotonic()
            victims = self.wait_for_ready(slots)[deletions % 2::2]
            time.sleep(max(0, tick + 1 + random.uniform(-0.05, 0.01) - time.monotonic()))
            self.delete_at_once(victims)
            deletions += len(victims)
            for node_id in victims:
                self.wait_for_gone(node_id)
        self.wait_for_ready(slots)
        created = [operation for _, operations in self.observer.history for operation in operations
                   if operation.kind == 'create' and operation.path.count('/') == 3 and
                   operation.path.startswith(f'{NODES}/')]
        self.assertEqual(len(created), slots + deletions)

    def delete_at_once(self, node_ids):
        """Half of them by hand, half of them as used: the launcher deletes these."""
        nodes = self.observer.sync().nodes()
        answers = []
        for index, node_id in enumerate(node_ids):
            path = f'{NODES}/{node_id}'
            answers.append(self.client.delete_async(path) if index % 2 else
                           self.client.set_async(path, encode(dict(nodes[node_id], state='used'))))
        for answer in answers:
            answer.get(LIMIT)

    def test_ST_43_killed_between_deletion_and_registration(self):
        launcher = self.start_with(machine('127.0.10.1'), timeout=1)
        node_id, _ = self.only_node()
        launcher.kill()
        self.client.delete(f'{NODES}/{node_id}', recursive=True)
        launcher.start()
        self.wait_for_ready(1)

    def test_ST_38_ST_39_records_of_older_versions(self):
        """Three nodes without slot numbers, for two slots."""
        launcher = self.start_with(machine('127.0.10.1', max_parallel_jobs=2), count=2)
        launcher.stop()
        for node_id, node in self.observer.sync().nodes().items():
            del node['slot']
            self.client.set(f'{NODES}/{node_id}', encode(node))
        third = self.client.create(f'{NODES}/', encode(node), sequence=True)
        first_two = sorted(self.observer.sync().nodes())[:2]
        launcher.start()
        self.wait_for_gone(third.rpartition('/')[2])
        self.wait(lambda cluster: sorted(str(node.get('slot')) for node in
                                         cluster.nodes().values()) == ['0', '1'])
        self.assertEqual(sorted(self.observer.sync().nodes()), first_two)

    def test_FT_04_names_have_no_meaning(self):
        """What is called fake is contacted like anything else."""
        sshd = self.sshd()
        launcher = self.launcher(provider('p', [
            machine('fake.invalid', 'l', checked=True, timeout=3, connection_port=sshd.port),
            self.host(sshd)]))
        launcher.wait_for_log('WARNING .*Cannot register fake.invalid')
        self.wait_for_ready(1)
        self.assertEqual(self.only_node()[1]['hostname'], '127.0.0.1')

    def test_ST_42_half_of_the_machines_dead(self):
        silent = self.listener('127.0.0.1')
        alive = self.listener('127.0.0.2')
        dead = [machine('127.0.0.1', 'd', checked=True, timeout=3, username=f'user-{number}',
                        connection_port=silent.getsockname()[1]) for number in range(50)]
        live = [machine('127.0.0.2', 'l', checked=True, timeout=3, username=f'user-{number}',
                        connection_type='winrm', connection_port=alive.getsockname()[1])
                for number in range(50)]
        mixed = [one for pair in zip(dead, live) for one in pair]
        launcher = self.launcher(provider('p', mixed), provider('q', [machine('127.0.10.1', 'q')]))
        self.wait_for_ready(50, 'l')
        ready = max(self.observer.changes(f'{NODES}/{node_id}')[0][0].time
                    for node_id in self.observer.cluster.nodes())
        pools = [self.observer.changes(f'/nodepool/components/pool/{name}')[0][0].time
                 for name in self.observer.cluster.pools()]
        self.assertLess(ready - min(pools), 2 + sanitizer_slack())
        run_job(self.scheduler, self.executor, ['q'])
        failures = launcher.wait_for_log('WARNING .*Cannot register 127.0.0.1', count=50)
        self.assertLess(seconds_of(failures[-1]) - seconds_of(failures[0]), 3 + sanitizer_slack())

    def test_ST_46_labels_in_one_text(self):
        self.start_with(machine('127.0.10.1', 'a b'))
        run_job(self.scheduler, self.executor, ['a'])
        run_job(self.scheduler, self.executor, ['b'])

    def test_ST_48_two_launchers_one_provider(self):
        nodes = machines(3, max_parallel_jobs=2)
        first = self.launcher(provider('p', nodes), timeout=2)
        second = self.launcher(provider('p', nodes), timeout=2)
        self.wait(lambda cluster: len(cluster.pools()) == 2)
        self.wait_for_ready(6)
        for _ in range(10):
            run_job(self.scheduler, self.executor, ['l'])
        self.wait_for_ready(6)
        # Whoever registers, the other one goes on when it ends.
        first.stop()
        run_job(self.scheduler, self.executor, ['l'])
        self.wait_for_ready(6)
        second.stop()


class Reconfiguring(StaticCase):
    def test_ST_10_ST_11_second_host(self):
        one, two = machines(2)
        launcher = self.start_with(one, sync_interval=1)
        first, _ = self.only_node()
        launcher.reload([provider('p', [one, two])])
        self.wait_for_ready(2)
        self.assertEqual([node['slot'] for node in self.observer.sync().nodes().values()], [0, 0])
        self.assertIn(first, self.observer.cluster.nodes())
        launcher.reload([provider('p', [one])])
        self.wait_for_ready(1)
        self.assertEqual(list(self.observer.sync().nodes()), [first])

    def test_ST_12_ST_13_ST_14_number_of_slots(self):
        one, two = (machine('127.0.10.1', max_parallel_jobs=slots) for slots in (1, 2))
        launcher = self.start_with(one, sync_interval=1)
        first, _ = self.only_node()
        launcher.reload([provider('p', [two])])
        self.wait_for_ready(2)
        nodes = self.observer.sync().nodes()
        self.assertEqual(sorted(node['slot'] for node in nodes.values()), [0, 1])
        self.assertEqual(nodes[first]['slot'], 0)
        launcher.reload([provider('p', [one])])
        self.assertEqual(self.wait_for_ready(1), [first])
        # Again, while slot 1 is in use.
        launcher.reload([provider('p', [two])])
        self.wait_for_ready(2)
        jobs = [self.job('l'), self.job('l')]
        jobs.sort(key=lambda job: job.records[job.ids[0]]['slot'])
        launcher.reload([provider('p', [one])])
        launcher.wait_for_log('Provider p started', launcher.mark() - 5)
        self.assertEqual(self.observer.sync().node(jobs[1].ids[0])['state'], 'in-use')
        mark = self.observer.mark()
        jobs[1].give_back()
        self.wait_for_gone(jobs[1].ids[0])
        jobs[0].give_back()
        self.wait_for_ready(1)
        run_job(self.scheduler, self.executor, ['l'])
        self.wait_for_ready(1)
        slots = {json.loads(operation.data)['slot'] for _, operations in
                 self.observer.history[mark:] for operation in operations
                 if operation.kind == 'create' and operation.path.startswith(NODES) and
                 operation.data}
        self.assertEqual(slots, {0})

    def test_ST_15_ST_16_ST_19_updated_in_place(self):
        launcher = self.start_with(machine('127.0.10.1', 'l'))
        first, _ = self.only_node()

        def wait_for(field, value):
            self.wait(lambda cluster: (cluster.node(first) or {}).get(field) == value)

        launcher.reload([provider('p', [machine('127.0.10.1', ['l', 'm'])])])
        wait_for('type', ['l', 'm'])
        launcher.reload([provider('p', pools=[
            {'name': 'main', 'node-attributes': {'zone': 'n'},
             'nodes': [machine('127.0.10.1', ['l', 'm'])]}])])
        wait_for('attributes', {'zone': 'n'})
        launcher.stop()
        launcher.configure([provider('p', [machine('127.0.10.1', ['l', 'm', 'n'])])])
        launcher.start()
        wait_for('type', ['l', 'm', 'n'])
        wait_for('attributes', None)
        self.assertEqual(self.only_node()[1]['slot'], 0)
        run_job(self.scheduler, self.executor, ['n'])

    def test_ST_17_identity_changed(self):
        sshd = self.sshd()
        winrm = self.listener()
        port = winrm.getsockname()[1]
        launcher = self.start_with(self.host(sshd))
        first, node = self.only_node()
        self.assertNotEqual(node['host_keys'], [])
        launcher.reload([provider('p', [machine('127.0.0.1', checked=True, username='admin',
                                                connection_type='winrm', connection_port=port)])])
        self.wait_for_gone(first)
        self.wait_for_ready(1)
        _, node = self.only_node()
        self.assertEqual((node['username'], node['connection_port'], node['connection_type'],
                          node['host_keys']), ('admin', port, 'winrm', []))

    def test_ST_18_connection_type_changed(self):
        sshd = self.sshd()
        launcher = self.start_with(self.host(sshd))
        first, _ = self.only_node()
        launcher.reload([provider('p', [self.host(sshd, connection_type='winrm')])])
        self.wait(lambda cluster: cluster.nodes(connection_type='winrm'))
        node_id, node = self.only_node()
        self.assertEqual((node_id, node['host_keys'], node['state']), (first, [], 'ready'))

    def test_ST_20_nothing_to_write(self):
        sshd = self.sshd('ed25519', 'rsa')
        launcher = self.start_with(self.host(sshd, max_parallel_jobs=2), count=2, sync_interval=1)
        mark = self.observer.mark()
        sshd.stop()
        sshd.start(offered=[1, 0])
        launcher.reload([provider('p', [self.host(sshd, timeout=12, max_parallel_jobs=2)])])
        launcher.wait_for_log('Registering the machines', count=2)
        # A slot that is filled again shows that the machine was looked at since.
        used, = run_job(self.scheduler, self.executor, ['l'])
        self.wait_for_ready(2)
        other, = (node_id for node_id, node in self.observer.sync().nodes().items()
                  if node['slot'] != 0) if used else ()
        kept = [node_id for node_id in self.observer.cluster.nodes()
                if self.observer.changes(f'{NODES}/{node_id}', mark) == []]
        self.assertEqual(len(kept), 1)

    def test_ST_36_L_93_reload_while_nodes_are_deleted(self):
        launcher = self.start_with(*machines(4, max_parallel_jobs=2), count=8)
        for round_number in range(8):
            jobs = [self.job('l') for _ in range(3)]
            for job in jobs:
                job.give_back()
            launcher.reload([provider('p', machines(4, max_parallel_jobs=1 + round_number % 2))])
        self.wait_for_ready(8)
        self.assertEqual(len(self.observer.sync().nodes()), 8)

    def test_ST_37_host_removed_while_its_node_is_locked(self):
        one, two = machines(2)
        launcher = self.start_with(one, two, sync_interval=1)
        victim = next(iter(self.observer.sync().nodes(hostname=two['name'])))
        lock = self.lock(f'{NODES}/{victim}/lock')
        launcher.reload([provider('p', [one])])
        launcher.wait_for_log('Node is locked by somebody; not deregistered')
        lock.release()
        self.wait_for_gone(victim, 5)
        self.wait_for_ready(1)

    def test_F_61_nothing_is_left_of_machines_with_several_slots(self):
        """Ten jobs on two machines of five slots; then nobody wants them any more."""
        slots = machines(2, max_parallel_jobs=5)
        launcher = self.start_with(*slots, count=10, labels=[{'name': 'l', 'min-ready': 0}])
        jobs = [self.job('l') for _ in range(10)]
        self.assertEqual(sorted((node['external_id'], node['slot']) for node in
                                self.observer.sync().nodes(state='in-use').values()),
                         [(one['name'], slot) for one in slots for slot in range(5)])
        for job in jobs[:5]:
            job.give_back()
        self.wait_for_ready(5)
        launcher.reload([provider('p', [])], labels=[{'name': 'l', 'min-ready': 0}])
        for job in jobs[5:]:
            job.give_back()
        self.wait(lambda cluster: not cluster.nodes(), what='no nodes')

    def test_provider_emptied_then_removed(self):
        launcher = self.start_with(*machines(2), sync_interval=1)
        launcher.reload([provider('p', [])])
        self.wait(lambda cluster: not cluster.nodes())
        launcher.reload([])
        self.wait(lambda cluster: not cluster.pools())


class Using(StaticCase):
    def test_ST_25_ST_26_ST_27_L_43_H_26_H_27_machine_dies_and_lives_again(self):
        sshd = self.sshd()
        launcher = self.start_with(self.host(sshd, 'l', timeout=2), machine('127.0.10.1', 'm'),
                                   sync_interval=1)
        before = {node['type'][0]: node_id
                  for node_id, node in self.observer.sync().nodes().items()}
        sshd.stop()
        waiting = self.submit('l')
        self.wait_for_gone(before['l'])
        self.assertEqual(self.submit('m').wait('fulfilled')['nodes'], [before['m']])
        self.assert_stays(launcher, waiting)
        pool, = self.observer.sync().pools().values()
        self.assertFalse(pool['paused'])
        sshd.start()
        alive = time.time() * 1000
        after, = waiting.wait('fulfilled')['nodes']
        self.assertNotEqual(after, before['l'])
        self.assertEqual(self.observer.states(waiting.path), ['requested', 'fulfilled'])
        registered = self.observer.changes(f'{NODES}/{after}')[0][0].time
        # A comparison may have begun just before: it takes its time-out, the next one a second.
        self.assertLess(registered - alive / 1000, 1 + 2 + sanitizer_slack())

    def test_dead_machine_whose_node_is_locked_for_a_moment(self):
        """It is not given away while it is dead, and is not forgotten when it lives again."""
        sshd = self.sshd()
        launcher = self.start_with(self.host(sshd, timeout=2), sync_interval=1)
        node_id, _ = self.only_node()
        sshd.stop()
        lock = self.lock(f'{NODES}/{node_id}/lock')
        waiting = self.submit('l')
        launcher.wait_for_log('is not used: .*not reached')
        sshd.start()
        lock.release()
        waiting.wait('fulfilled')

    def test_ST_28_busy_node_defers(self):
        launcher = self.start_with(machine('127.0.10.1'))
        nodes = self.job('l')
        request = self.submit('l')
        self.assert_stays(launcher, request)
        self.assertTrue(request.revise(7))
        self.assertEqual(self.observer.sync().contenders(), self.observer.cluster.contenders(
            self.executor.client.client_id[0]))
        nodes.give_back()
        request.wait('fulfilled')

    def test_ST_29_labels_of_two_hosts(self):
        launcher = self.start_with(machine('127.0.10.1', 'l l2 hA'), machine('127.0.10.2', 'l2 hB'))
        first, second = self.submit('hA'), self.submit('hB')
        third = self.submit('l2')
        first.wait('fulfilled')
        second.wait('fulfilled')
        self.assert_stays(launcher, third)
        nodes = self.executor.accept(first.id)
        nodes.use()
        nodes.give_back()
        third.wait('fulfilled')

    def test_ST_30_one_host_busy(self):
        launcher = self.start_with(machine('127.0.10.1', 'l l2'), machine('127.0.10.2', 'l2'))
        self.job('l')
        waiting = self.submit('l')
        served = self.submit('l2').wait('fulfilled')
        node = self.observer.sync().node(served['nodes'][0])
        self.assertEqual(node['hostname'], '127.0.10.2')
        self.assert_stays(launcher, waiting)

    def test_ST_31_order_of_waiting_requests(self):
        self.start_with(machine('127.0.10.1'))
        nodes = self.job('l')
        low = self.submit('l', priority='300')
        normal = self.submit('l', priority='200')
        later = self.submit('l', priority='200')
        for request in (normal, later, low):
            nodes.give_back()
            request.wait('fulfilled')
            nodes = self.executor.accept(request.id)
            nodes.use()

    def test_ST_32_labels_of_several_hosts(self):
        self.start_with(machine('127.0.10.1'), machine('127.0.10.2', 'c', max_parallel_jobs=2),
                        count=3)
        nodes = self.submit('l', 'c').wait('fulfilled')['nodes']
        cluster = self.observer.sync()
        self.assertEqual([cluster.node(node_id)['type'] for node_id in nodes], [['l'], ['c']])

    def test_ST_33_allocated_node_is_left_alone(self):
        launcher = self.start_with(machine('127.0.10.1'), sync_interval=1)
        request = self.submit('l')
        node_id, = request.wait('fulfilled')['nodes']
        mark = self.observer.mark()
        waiting = self.submit('l')
        self.assert_stays(launcher, waiting, passes=20)
        self.assertEqual(self.observer.changes(f'{NODES}/{node_id}', mark), [])

    def test_ST_40_label_shared_with_another_provider(self):
        launcher = self.start_with(machine('127.0.10.1'))
        nodes = self.job('l')
        cloud = dict(nodes.records[nodes.ids[0]], provider='cloud', pool='main', state='ready',
                     allocated_to=None, slot=None, hostname=None)
        self.client.create(f'{NODES}/', encode(cloud), sequence=True)
        request = self.submit('l')
        self.assert_stays(launcher, request)
        self.assertEqual(self.observer.sync().tree.get(request.path).version, 0)

    def test_ST_41_standby_request(self):
        """A min-ready request wants a new machine, and there never is one."""
        launcher = self.start_with(machine('127.0.10.1'))
        nodes = self.job('l')
        record = {'state': 'requested', 'state_time': 1.0, 'node_types': ['l'], 'nodes': [],
                  'declined_by': [], 'reuse': False, 'requestor': 'NodePool:min-ready',
                  'requestor_data': None, 'provider': None, 'relative_priority': 0,
                  'event_id': 'standby', 'created_time': None, 'tenant_name': None}
        path = self.client.create('/nodepool/requests/900-', encode(record), ephemeral=True,
                                  sequence=True)
        launcher.wait_for_log('standby.*Not now')
        nodes.give_back()
        self.wait(lambda cluster: cluster.tree.record(path)['state'] == 'failed')
        self.wait_for_ready(1)
        self.assertEqual(len(self.observer.sync().nodes()), 1)

    def test_ST_44_held_by_an_operator(self):
        launcher = self.start_with(machine('127.0.10.1'), sync_interval=1)
        node_id, node = self.only_node()
        lock = self.lock(f'{NODES}/{node_id}/lock')
        self.client.set(f'{NODES}/{node_id}', encode(dict(node, state='hold', state_time=1.0)))
        lock.release()
        request = self.submit('l')
        self.assert_stays(launcher, request)
        self.assertEqual(list(self.observer.sync().nodes()), [node_id])
        lock = self.lock(f'{NODES}/{node_id}/lock')
        self.client.set(f'{NODES}/{node_id}', encode(dict(node, state='deleting')))
        lock.release()
        self.wait_for_gone(node_id)
        request.wait('fulfilled')


def sanitizer_slack():
    """Seconds that slow machines and sanitizers may add to a limit that is about design."""
    return 3


def seconds_of(line):
    """The time of day of a log line."""
    hours, minutes, seconds = line.split()[1].replace(',', '.').split(':')
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


if __name__ == '__main__':
    unittest.main(verbosity=2)
