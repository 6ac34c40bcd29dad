"""The fake cloud itself: it refuses what a cloud refuses, and does what the tests ask it for."""

import http.client
import json
import socket
import threading
import time
import unittest

from cloud import TOKEN, Cloud

LIMIT = 20
MACHINE = {'name': 'm', 'flavor': 'small', 'image': 'plain'}


class CloudCase(unittest.TestCase):
    def setUp(self):
        self.cloud = Cloud().start()
        self.addCleanup(self.cloud.close)

    def call(self, method, path, body=None, token=TOKEN):
        """(status, answer); what is no JSON as bytes."""
        connection = http.client.HTTPConnection('127.0.0.1', self.cloud.port, timeout=LIMIT)
        try:
            connection.request(method, path, None if body is None else json.dumps(body),
                               {'X-Token': token} if token else {})
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, text

    def make(self, **fields):
        """A machine that is up."""
        machine = self.cloud.make(**fields)
        return self.cloud.wait(lambda state: next(
            (one for one in state['machines']
             if one['id'] == machine['id'] and one['state'] == 'ACTIVE'), None))

    def assert_refused(self, status, method, path, body=None, **options):
        found, answer = self.call(method, path, body, **options)
        self.assertEqual(found, status, answer)
        self.assertIn('message', answer['error'])


class Refusals(CloudCase):
    def test_tokens(self):
        for token in (None, '', 'another'):
            self.assert_refused(401, 'GET', '/machines', token=token)

    def test_calls_that_there_are_not(self):
        for method, path in (('GET', '/'), ('GET', '/paint'), ('PATCH', '/machines'),
                             ('POST', '/limits'), ('GET', '/machines/m/paint'),
                             ('PUT', '/machines/m/data'), ('GET', '/control/paint')):
            self.assert_refused(404, method, path)

    def test_machines_that_make_no_sense(self):
        for part in MACHINE:
            self.assert_refused(400, 'POST', '/machines',
                                {name: value for name, value in MACHINE.items() if name != part})
        for body in ({**MACHINE, 'tags': {'a': 1}}, {**MACHINE, 'tags': []},
                     {**MACHINE, 'zone': 'nowhere'}, {**MACHINE, 'name': 7}, [], 'text'):
            self.assert_refused(400, 'POST', '/machines', body)
        self.assert_refused(404, 'POST', '/machines', {**MACHINE, 'flavor': 'enormous'})
        self.assert_refused(404, 'POST', '/machines', {**MACHINE, 'image': 'unknown'})
        self.assert_refused(400, 'POST', '/volumes', {'size': 0})
        self.assert_refused(404, 'POST', '/volumes', {'machine': 'unknown'})
        self.assertEqual(self.cloud.state()['ever'],
                         {'machine': 0, 'volume': 0, 'address': 0, 'image': 0})

    def test_ids_that_there_are_not(self):
        for kind in ('machines', 'volumes', 'addresses', 'images'):
            self.assert_refused(404, 'GET', f'/{kind}/x')
            self.assert_refused(404, 'DELETE', f'/{kind}/x')

    def test_limits(self):
        self.cloud.limits(instances=1, volume_gb=3)
        self.cloud.make()
        self.assert_refused(403, 'POST', '/machines', MACHINE)
        self.cloud.make('volumes', size=2)
        self.assert_refused(403, 'POST', '/volumes', {'size': 2})
        self.cloud.limits(instances=-1)
        self.cloud.make()
        used = self.call('GET', '/limits')[1]['used']
        self.assertEqual((used['instances'], used['volume-gb']), (2, 2))

    def test_image_that_is_not_ready(self):
        image = self.cloud.make('images', name='i')
        self.assert_refused(409, 'POST', '/machines', {**MACHINE, 'image': image['id']})

    def test_control_that_makes_no_sense(self):
        self.assert_refused(400, 'POST', '/control/faults', {'faults': [{'statsu': 500}]})
        self.assert_refused(400, 'POST', '/control/settings', {'paint': 1})


class Life(CloudCase):
    def test_clock(self):
        self.cloud.settings(active_after=3600, delete_after=3600)
        machine = self.cloud.make()
        self.assertEqual(self.cloud.machines()[0]['state'], 'BUILD')
        self.cloud.advance(3601)
        self.assertEqual(self.cloud.machines()[0]['state'], 'ACTIVE')
        self.call('DELETE', f'/machines/{machine["id"]}')
        self.assertEqual(self.cloud.machines()[0]['state'], 'DELETING')
        self.cloud.advance(3601)
        self.assertEqual(self.cloud.machines(), [])

    def test_pages(self):
        made = [self.cloud.make('volumes')['id'] for _ in range(5)]
        found, marker = [], ''
        while marker is not None:
            page = self.call('GET', f'/volumes?limit=2&marker={marker}')[1]
            found += [one['id'] for one in page['volumes']]
            marker = page['next']
        self.assertEqual(found, made)

    def test_addresses_differ(self):
        self.cloud.limits(instances=-1, cores=-1)
        addresses = {self.make()['addresses']['public_ipv4'] for _ in range(5)}
        self.assertEqual(len(addresses), 5)
        self.assertTrue(all(address.startswith('127.') for address in addresses))

    def test_named_address(self):
        self.cloud.settings(ssh_address='127.0.0.1', ssh_port=2222)
        machine = self.make()
        self.assertEqual(machine['addresses']['public_ipv4'], '127.0.0.1')
        self.assertEqual(machine['connection'], {'connection_port': 2222})

    def test_reset_and_start_again(self):
        self.cloud.make()
        self.cloud.faults({'status': 500})
        self.cloud.reset()
        self.assertEqual(self.call('GET', '/machines'), (200, {'machines': [], 'next': None}))
        port = self.cloud.port
        self.cloud.close()
        self.cloud.start()
        self.assertEqual(self.cloud.port, port)


class Faults(CloudCase):
    def test_who_matches(self):
        self.cloud.faults({'method': 'POST', 'path': '^/machines$', 'status': 500, 'skip': 1,
                           'times': 2, 'tags': {'node': '7'}})
        answers = [self.call('POST', '/machines', {**MACHINE, 'tags': {'node': node}})[0]
                   for node in '7876777']
        self.assertEqual(answers, [202, 202, 500, 202, 500, 202, 202])
        self.assertEqual(self.cloud.taken(), [2])

    def test_tags_of_what_is_there(self):
        ours, other = (self.cloud.make('volumes', tags={'node': node}) for node in '12')
        self.cloud.faults({'method': 'DELETE', 'tags': {'node': '1'}, 'status': 409})
        self.assertEqual(self.call('DELETE', f'/volumes/{ours["id"]}')[0], 409)
        self.assertEqual(self.call('DELETE', f'/volumes/{other["id"]}')[0], 202)

    def test_probability(self):
        rule = {'path': 'limits', 'probability': 0.5, 'seed': 7, 'status': 500}

        def answers():
            self.cloud.faults(rule)
            return [self.call('GET', '/limits')[0] for _ in range(40)]

        first = answers()
        self.assertEqual(set(first), {200, 500})
        self.assertEqual(answers(), first)

    def test_lost_connections(self):
        for when, machines in (('before', 0), ('after', 1)):
            self.cloud.faults({'drop': when})
            with self.assertRaises((http.client.HTTPException, OSError)):
                self.call('POST', '/machines', MACHINE)
            self.assertEqual(len(self.cloud.machines()), machines)
        self.cloud.faults({'half': True})
        with self.assertRaises(http.client.IncompleteRead):
            self.call('GET', '/machines')

    def test_restart(self):
        self.cloud.faults({'path': 'limits', 'times': 1, 'restart': {'token': 'new'}})
        with self.assertRaises((http.client.HTTPException, OSError)):
            self.call('GET', '/limits')
        deadline = time.monotonic() + LIMIT
        while True:
            try:
                status = self.call('GET', '/machines')[0]
                break
            except OSError:
                self.assertLess(time.monotonic(), deadline)
        self.assertEqual(status, 401)
        self.assertEqual(self.call('GET', '/machines', token='new')[0], 200)

    def test_delay(self):
        self.cloud.faults({'path': 'limits', 'delay': 0.3})
        begun = time.monotonic()
        self.assertEqual(self.call('GET', '/limits')[0], 200)
        self.assertGreaterEqual(time.monotonic() - begun, 0.3)

    def test_lists_of_the_past(self):
        self.cloud.faults({'method': 'GET', 'path': '^/volumes$', 'lag': 10})
        volume = self.cloud.make('volumes')
        self.assertEqual(self.call('GET', '/volumes')[1]['volumes'], [])
        self.assertEqual(self.call('GET', f'/volumes/{volume["id"]}')[0], 200)
        self.cloud.advance(11)
        self.call('DELETE', f'/volumes/{volume["id"]}')
        self.assertEqual(len(self.call('GET', '/volumes')[1]['volumes']), 1)
        self.assertEqual(self.cloud.state()['volumes'], [])

    def test_log(self):
        mark = self.cloud.mark()
        self.call('POST', '/machines', MACHINE)
        self.call('GET', '/paint')
        entries = self.cloud.log(since=mark)
        self.assertEqual([(entry['method'], entry['path'], entry['status']) for entry in entries],
                         [('POST', '/machines', 202), ('GET', '/paint', 404)])
        self.assertEqual(json.loads(entries[0]['body']), MACHINE)
        self.assertEqual(len(self.cloud.creates(mark)), 1)


class Listeners(CloudCase):
    def machine(self, **listener):
        """(address, port) of a machine with this listener."""
        self.cloud.settings(listener=listener)
        machine = self.make()
        return machine['addresses']['public_ipv4'], machine['connection']['connection_port']

    def connect(self, where):
        connection = socket.create_connection(where, timeout=LIMIT)
        self.addCleanup(connection.close)
        return connection

    def assert_silent(self, connection):
        connection.settimeout(0.2)
        with self.assertRaises(TimeoutError):
            connection.recv(1)

    def test_accept(self):
        self.assert_silent(self.connect(self.machine(kind='accept')))
        connections = self.cloud.state()['connections']
        self.assertEqual((connections['open'], connections['most_open']), (1, 1))
        self.assertEqual(list(connections['accepted'].values()), [1])

    def test_refuse(self):
        with self.assertRaises(ConnectionRefusedError):
            self.connect(self.machine(kind='refuse'))

    def test_late(self):
        where = self.machine(kind='late', after=0.5)
        refused = 0
        deadline = time.monotonic() + LIMIT
        while time.monotonic() < deadline:
            try:
                self.connect(where)
                break
            except ConnectionRefusedError:
                refused += 1
                time.sleep(0.05)
        self.assertGreater(refused, 0)
        self.assertLess(time.monotonic(), deadline)

    def test_forward(self):
        with socket.create_server(('127.0.0.1', 0)) as server:
            def serve():
                connection, _ = server.accept()
                with connection:
                    connection.sendall(connection.recv(100).upper())

            thread = threading.Thread(target=serve)
            thread.start()
            where = self.machine(kind='forward', to=server.getsockname()[1], silent=1)
            self.assert_silent(self.connect(where))
            second = self.connect(where)
            second.sendall(b'hello')
            self.assertEqual(second.recv(100), b'HELLO')
            self.assertEqual(second.recv(100), b'')
            thread.join()

    def test_closed_with_the_machine(self):
        where = self.machine(kind='accept')
        connection = self.connect(where)
        self.cloud.wait(lambda state: state['connections']['open'] == 1)
        self.call('DELETE', f'/machines/{self.cloud.machines()[0]["id"]}')
        self.assertEqual(connection.recv(1), b'')
        with self.assertRaises(ConnectionRefusedError):
            self.connect(where)


if __name__ == '__main__':
    unittest.main()
