"""New machines are reached before they count as ready: with a real SSH server, and without one."""

import json
import os
import socket
import re
import time
import unittest

from cloud import label, pool
from cloud_case import CREATE, DELETE, CloudCase
from sshd import Sshd
from zuul_client import NODES


def connections_of(pid):
    """How many connections a process has to machines of the cloud, which are in 127.100.0.0/16."""
    sockets = set()
    for name in os.listdir(f'/proc/{pid}/fd'):
        try:
            sockets.add(os.readlink(f'/proc/{pid}/fd/{name}'))
        except FileNotFoundError:
            pass
    with open('/proc/net/tcp', encoding='ascii') as table:
        rows = [line.split() for line in table][1:]
    return len(sockets & {f'socket:[{row[9]}]' for row in rows
                          if row[2].split(':')[0].endswith('647F')})


def scanned(*names, **options):
    """One pool, whose machines are reached."""
    return [pool(labels=[label(name, **options) for name in names], checked=True)]


class Scanning(CloudCase):
    def setUp(self):
        super().setUp()
        self.sshd = Sshd(('ed25519', 'rsa')).start()
        self.addCleanup(self.sshd.close)

    def listen(self, kind='forward', **options):
        """What listens on the machines from now on."""
        script = {'kind': kind, **options}
        if kind == 'forward':
            script['to'] = self.sshd.port
        self.cloud.settings(listener=script)

    def connections(self):
        return self.cloud.state()['connections']

    def ready_record(self, node_id):
        """The record with which the node became ready, and the one before."""
        records = [json.loads(operation.data)
                   for _, operation in self.observer.changes(f'{NODES}/{node_id}')
                   if operation.kind != 'delete']
        index = next(index for index, record in enumerate(records) if record['state'] == 'ready')
        return records[index], records[index - 1]

    # ---- Keys ----

    def test_SM_28_H_20_refused_then_there(self):
        self.listen(after=2)
        self.start(pools=scanned('l'))
        node_id, node = self.node_of(self.submit('l'))
        self.assertEqual(sorted(node['host_keys']), sorted(self.sshd.keys))
        ready, before = self.ready_record(node_id)
        self.assertEqual((before['state'], before['host_keys']), ('building', []))
        self.assertEqual(ready['host_keys'], node['host_keys'])

    def test_SM_33_network_cli(self):
        self.listen()
        images = [{'name': 'plain', 'connection-type': 'network_cli'}]
        self.start(pools=scanned('l'), cloud_images=images)
        _, node = self.node_of(self.submit('l'))
        self.assertEqual(sorted(node['host_keys']), sorted(self.sshd.keys))
        self.assertEqual(node['connection_type'], 'network_cli')

    def test_SM_32_winrm(self):
        listener = socket.create_server(('127.77.0.1', 5986))
        self.addCleanup(listener.close)
        self.cloud.settings(ssh_address='127.77.0.1')
        images = [{'name': 'plain', 'connection-type': 'winrm'}]
        self.start(pools=scanned('l'), cloud_images=images)
        _, node = self.node_of(self.submit('l'))
        self.assertEqual((node['host_keys'], node['connection_port'], node['connection_type']),
                         ([], 5986, 'winrm'))
        listener.accept()[0].close()

    def test_SM_31_host_key_checking_off(self):
        self.listen()
        self.start(pools=[pool(labels=[label('a'), label('b', host_key_checking=True)]),
                          pool('other', [label('c', host_key_checking=False), label('d')],
                               checked=True)])
        nodes = {name: self.node_of(self.submit(name))[1] for name in 'abcd'}
        self.assertEqual([bool(nodes[name]['host_keys']) for name in 'abcd'],
                         [False, True, False, True])
        accepted = self.connections()['accepted']
        self.assertEqual([accepted[nodes[name]['external_id']] > 0 for name in 'abcd'],
                         [False, True, False, True])

    def test_keys_wanted_and_none_obtained(self):
        """What answers is no SSH server."""
        listener = socket.create_server(('127.77.0.2', 0))
        self.addCleanup(listener.close)
        self.cloud.settings(ssh_address='127.77.0.2', ssh_port=listener.getsockname()[1])
        self.start(pools=scanned('l'), boot_timeout=1, launch_retries=1)
        self.submit('l').wait('failed')

    def test_connection_port_that_is_an_object(self):
        """There is nothing to connect to; and what it holds is for nobody's eyes."""
        launcher = self.start(pools=scanned('l'))
        port = {'host': 'namespace', 'token': 'secret-of-the-test'}
        self.cloud.settings(ssh_port=1)
        self.cloud.faults({**CREATE, 'machine': {'connection': {'connection_port': port}}})
        _, node = self.node_of(self.submit('l'))
        self.assertEqual((node['connection_port'], node['host_keys']), (port, []))
        self.assertEqual(launcher.find_log('secret-of-the-test'), [])

    def test_use_internal_ip(self):
        self.listen()
        self.cloud.settings(ssh_address='127.77.0.3')
        self.start(pools=[pool(use_internal_ip=True)])
        _, node = self.node_of(self.submit('l'))
        self.assertEqual((node['interface_ip'], node['public_ipv4']),
                         (node['private_ipv4'], '127.77.0.3'))
        self.assertEqual(node['public_ipv6'], '')

    # ---- Failures ----

    def test_SM_29_second_machine_is_reached(self):
        self.listen()
        self.start(pools=scanned('l'), boot_timeout=1)
        self.cloud.faults({**CREATE, 'times': 1, 'machine': {'listener': {'kind': 'refuse'}}})
        _, node = self.node_of(self.submit('l'))
        machine, = self.cloud.machines()
        self.assertEqual((machine['id'], len(self.creates())), (node['external_id'], 2))
        self.assertEqual(sorted(node['host_keys']), sorted(self.sshd.keys))

    def test_SM_30_F_45_H_19_never_reached(self):
        self.listen('refuse')
        launcher = self.start(pools=scanned('l', console_log=True), boot_timeout=1,
                              launch_retries=3)
        self.submit('l').wait('failed')
        self.assertEqual(len(launcher.find_log('WARNING .*keyscan')), 3)
        console = [re.search('Console log|first line|second line', line)[0]
                   for line in launcher.find_log('INFO .*(Console log of .*:|(first|second) line)$')]
        self.assertEqual(console, ['Console log', 'first line', 'second line'] * 3)
        # The driver is told first, then asked for the console.
        order = ['told' if 'The scan of' in line else 'asked'
                 for line in launcher.find_log('The scan of machine-|GET .*/console')]
        self.assertEqual(order, ['told', 'asked'] * 3)
        self.wait_for_no_nodes()
        self.wait_for_books()

    def test_H_31_nothing_to_contact(self):
        """A pod has no address of its own; what the cloud says of it is stored, and nobody calls."""
        self.listen('refuse')
        ports = {'22': 30022, '80': 30080}
        self.cloud.faults({**CREATE, 'machine': {'connection': {
            'connection_type': 'kubectl', 'connection_port': ports}}})
        self.start()
        _, node = self.node_of(self.submit('l'))
        self.assertEqual((node['connection_type'], node['connection_port'], node['host_keys']),
                         ('kubectl', ports, []))
        self.assertEqual(set(self.connections()['accepted'].values()), {0})

    def test_console_that_cannot_be_had(self):
        self.listen('refuse')
        self.cloud.faults({'path': '/console', 'status': 500})
        self.start(pools=scanned('l', console_log=True), boot_timeout=1, launch_retries=2)
        self.submit('l').wait('failed')
        self.assertEqual(len(self.creates()), 2)

    def test_launch_timeout_during_the_scan(self):
        self.listen('refuse')
        launcher = self.start(pools=scanned('l'), launch_timeout=2, launch_retries=1)
        self.submit('l').wait('failed')
        self.assertEqual(len(launcher.find_log('servercreatetimeout')), 1)
        self.wait_for_no_nodes()
        self.wait_for_books()

    def test_SM_35_silent_at_first(self):
        self.listen(silent=1)
        self.start(pools=scanned('l'))
        began = time.monotonic()
        _, node = self.node_of(self.submit('l'), limit=60)
        self.assertGreater(time.monotonic() - began, 9)
        self.assertEqual(sorted(node['host_keys']), sorted(self.sshd.keys))

    def test_record_erased_during_the_scan(self):
        """Its end ends the scan."""
        self.listen('accept')
        launcher = self.start(pools=scanned('l'), launcher={'cleanup_interval': 1})
        request = self.submit('l')
        self.cloud.wait(lambda state: state['connections']['open'] == 1)
        launcher.stop()
        self.cloud.wait(lambda state: state['connections']['open'] == 0)
        self.assertEqual(self.observer.sync().request(request.id)['state'], 'requested')

    # ---- Many ----

    def test_SM_34_H_14_many_machines_at_once(self):
        count = 150
        self.cloud.limits(instances=count, cores=count, ram=-1)
        self.cloud.settings(active_after=3)
        self.listen()
        launcher = self.start(pools=scanned('l'), boot_timeout=120)
        before = len(os.listdir(f'/proc/{launcher.pid}/task'))
        requests = [self.submit(*['l'] * 10) for _ in range(count // 10)]
        self.cloud.wait(lambda state: state['connections']['open'] > 50, limit=60)
        self.assertEqual(len(os.listdir(f'/proc/{launcher.pid}/task')), before)
        most = 0
        while self.observer.sync().requests('requested', 'pending'):
            most = max(most, connections_of(launcher.pid))
        self.assertLessEqual(most, 100)
        self.assertGreater(most, 50)
        for request in requests:
            request.wait('fulfilled')
        nodes = self.observer.sync().nodes()
        self.assertEqual(len(nodes), count)
        self.assertEqual({tuple(sorted(node['host_keys'])) for node in nodes.values()},
                         {tuple(sorted(self.sshd.keys))})


if __name__ == '__main__':
    unittest.main(verbosity=2)
