"""Node requests over HTTP: submitted, shown, waited for, given back; each client sees its own."""

import concurrent.futures
import json
import threading
import unittest

from http_site import Site
from launcher import machine, machines, provider
from launcher_case import LauncherCase
from zookeeper import free_port
from zuul_client import NODES

WEBAPP = {'port': 0, 'listen_address': '127.0.0.1'}
TOKENS = [{'name': 'deploy', 'token': 'token-of-the-deployer'},
          {'name': 'night', 'token': 'token-of-the-nightly', 'tenant': 'nightly'}]
REQUESTS = '/api/v1/requests'
LEASE = 10  # seconds, the shortest there is


class Client:
    def __init__(self, site, token='token-of-the-deployer'):
        self.site, self.token = site, token

    def ask(self, method, path=REQUESTS, body=None):
        headers = {'Authorization': f'Bearer {self.token}'} if self.token else {}
        text = body if isinstance(body, (str, bytes, type(None))) else json.dumps(body)
        return self.site.request(method, path, headers, text, limit=90)

    def submit(self, *labels, **order):
        return self.ask('POST', body={'labels': labels, **order})

    def show(self, request_id, wait=None):
        suffix = '' if wait is None else f'?wait={wait}'
        return self.ask('GET', f'{REQUESTS}/{request_id}{suffix}')


class Api(LauncherCase):
    def start(self, *nodes):
        return self.start_api(TOKENS, *nodes)

    def start_api(self, tokens, *nodes):
        self.launcher_ = self.start_with(*nodes, webapp=WEBAPP, api={'tokens': tokens})
        self.site = Site(self.launcher_)
        return Client(self.site)

    def test_submit_wait_give_back(self):
        client = self.start(machine('127.0.10.1', 'l'))
        answer = client.submit('l')
        submitted = answer.json()
        self.assertEqual((answer.status, submitted['state']), (201, 'requested'))
        self.assertEqual(answer.headers['Location'], f'{REQUESTS}/{submitted["id"]}')
        shown = client.show(submitted['id'], wait=60)
        request = shown.json()
        self.assertEqual((shown.status, request['state'], request['requestor'],
                          request['labels'], request['event_id']),
                         (200, 'fulfilled', 'api:deploy', ['l'], submitted['event_id']))
        node, = request['nodes']
        self.assertEqual((node['state'], node['label'], node['connect']),
                         ('ready', 'l', 'ssh zuul@127.0.10.1'))
        self.assertEqual([one['id'] for one in client.ask('GET').json()], [request['id']])
        answer = client.ask('DELETE', f'{REQUESTS}/{request["id"]}')
        self.assertEqual((answer.status, answer.body), (204, b''))
        self.assertEqual(client.show(request['id']).status, 404)
        self.wait_for_gone(node['id'])
        self.wait_for_ready(1)

    def test_long_poll(self):
        """It ends with the request, which another job holds up."""
        client = self.start(machine('127.0.10.1', 'l'))
        job = self.job('l')
        request = client.submit('l').json()['id']
        self.assertEqual(client.show(request, wait=1).json()['state'], 'requested')
        answers = []
        waiter = threading.Thread(target=lambda: answers.append(client.show(request, wait=60)))
        waiter.start()
        self.assertEqual(self.site.get('/ready').status, 200)
        job.give_back()
        waiter.join()
        self.assertEqual(answers[0].json()['state'], 'fulfilled')

    def test_failed(self):
        client = self.start(machine('127.0.10.1', 'l'))
        request = client.submit('nope').json()['id']
        shown = client.show(request, wait=60).json()
        self.assertEqual((shown['state'], len(shown['declined_by']), shown['nodes']),
                         ('failed', 1, []))
        self.assertEqual(client.ask('DELETE', f'{REQUESTS}/{request}').status, 204)

    def test_cancel_while_it_waits(self):
        client = self.start(machine('127.0.10.1', 'l'))
        job = self.job('l')
        request = client.submit('l', 'l').json()['id']
        self.assertEqual(client.ask('DELETE', f'{REQUESTS}/{request}').status, 204)
        self.wait(lambda cluster: cluster.request(request) is None)
        job.give_back()
        self.wait_for_ready(1)

    def test_submitted_twice(self):
        client = self.start(*machines(2))
        order = {'labels': ['l'], 'event_id': 'event-1'}
        first = client.ask('POST', body=order)
        client.show(first.json()['id'], wait=60)
        second = client.ask('POST', body=order)
        self.assertEqual((first.status, second.status, second.json()['id']),
                         (201, 200, first.json()['id']))

    def test_tenants_and_priorities(self):
        client = self.start(machine('127.0.10.1', 'l'))
        request = client.submit('l', tenant='mine', priority=100, relative_priority=3).json()['id']
        self.assertTrue(request.startswith('100-'))
        record = self.observer.sync().request(request)
        self.assertEqual((record['tenant_name'], record['relative_priority']), ('mine', 3))
        request = Client(self.site, TOKENS[1]['token']).submit('l', tenant='mine').json()['id']
        self.assertEqual(self.observer.sync().request(request)['tenant_name'], 'nightly')

    def test_tokens(self):
        client = self.start(machine('127.0.10.1', 'l'))
        request = client.submit('l').json()['id']
        foreign = self.submit('l').id
        for token in (None, '', 'wrong', 'token-of-the-deployer ', 'token-of-the-deploye',
                      'x' * 10_000):
            for method, path in (('GET', REQUESTS), ('POST', REQUESTS),
                                 ('DELETE', f'{REQUESTS}/{request}')):
                answer = Client(self.site, token).ask(method, path)
                self.assertEqual((answer.status, answer.headers['WWW-Authenticate']),
                                 (401, 'Bearer realm="drover"'), token)
        other = Client(self.site, TOKENS[1]['token'])
        self.assertEqual(other.ask('GET').json(), [])
        for who, theirs in ((other, request), (other, foreign), (client, foreign),
                            (client, '..'), (client, '%2e%2e%2fnodes'), (client, '')):
            for method in ('GET', 'DELETE'):
                self.assertEqual(who.ask(method, f'{REQUESTS}/{theirs}').status, 404)
        self.assertEqual(client.show(request).status, 200)
        text = '\n'.join(self.launcher_.lines)
        for token in TOKENS:
            self.assertNotIn(token['token'], text)

    def test_orders_that_make_no_sense(self):
        client = self.start(machine('127.0.10.1', 'l'))
        for body in ('', 'x', '[]', '{}', '"l"', b'\xff', {'labels': []}, {'labels': 'l'},
                     {'labels': [1]}, {'labels': ['']}, {'labels': ['l'] * 1001},
                     {'labels': ['x' * 256]}, {'labels': ['l'], 'priority': 7},
                     {'labels': ['l'], 'priority': '100'}, {'labels': ['l'], 'nodes': ['1']},
                     {'labels': ['l'], 'state': 'fulfilled'}, {'labels': ['l'], 'tenant': None},
                     {'labels': ['l'], 'event_id': ''}):
            answer = client.ask('POST', body=body)
            self.assertEqual((answer.status, list(answer.json())), (400, ['error']), body)
        self.assertEqual(client.ask('GET').json(), [])

    def test_node_that_somebody_uses(self):
        client = self.start(machine('127.0.10.1', 'l'))
        request = client.submit('l').json()['id']
        node, = client.show(request, wait=60).json()['nodes']
        lock = self.lock(f'{NODES}/{node["id"]}/lock')
        self.assertEqual(client.ask('DELETE', f'{REQUESTS}/{request}').status, 409)
        lock.release()
        self.assertEqual(client.ask('DELETE', f'{REQUESTS}/{request}').status, 204)

    def start_limited(self, *nodes, **limits):
        token = {**TOKENS[0], **{name.replace('_', '-'): value for name, value in limits.items()}}
        return self.start_api([token, TOKENS[1]], *nodes)

    def test_labels_of_a_client(self):
        client = self.start_limited(machine('127.0.10.1', 'l'), machine('127.0.10.2', 'm'),
                                    labels=['l'])
        for labels in (['m'], ['l', 'm'], ['nope'], ['L'], ['l ']):
            answer = client.submit(*labels)
            self.assertEqual((answer.status, list(answer.json())), (403, ['error']), labels)
        self.assertEqual(client.ask('GET').json(), [])
        self.assertEqual(client.submit('l').status, 201)
        self.assertEqual(Client(self.site, TOKENS[1]['token']).submit('m').status, 201)

    def test_number_of_nodes_of_a_client(self):
        """Of all its requests, also those that it submits at the same time."""
        client = self.start_limited(machine('127.0.10.1', 'l'), max_nodes=5)
        self.assertEqual(client.submit(*6 * ['l']).status, 429)
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            answers = list(pool.map(lambda _: client.submit('l', 'l'), range(20)))
        self.assertEqual(sorted(answer.status for answer in answers), 2 * [201] + 18 * [429])
        self.assertEqual(len(client.ask('GET').json()), 2)
        self.assertEqual(Client(self.site, TOKENS[1]['token']).submit('l', 'l').status, 201)
        request = next(answer for answer in answers if answer.status == 201).json()['id']
        self.assertEqual(client.ask('DELETE', f'{REQUESTS}/{request}').status, 204)
        self.wait(lambda cluster: cluster.request(request) is None)
        self.assertEqual([client.submit('l', event_id='mine').status for _ in range(2)], [201, 200])
        self.assertEqual(client.submit(*3 * ['l']).status, 429)
        self.assertEqual(client.submit('l', 'l').status, 201)

    def test_failed_requests_do_not_count(self):
        client = self.start_limited(machine('127.0.10.1', 'l'), max_nodes=1)
        for _ in range(3):
            request = client.submit('nope').json()['id']
            self.assertEqual(client.show(request, wait=60).json()['state'], 'failed')

    def test_lease(self):
        """It ends when the client has vanished, and not before, whatever state the request is in."""
        client = self.start_limited(*machines(2), lease=LEASE)
        vanished = [client.submit(label).json()['id'] for label in ('l', 'nope')]
        client.show(vanished[0], wait=60)
        waiting = client.submit('l', 'l').json()['id']
        kept = Client(self.site, TOKENS[1]['token']).submit('l').json()['id']
        # Longer than a lease, in which the client asks about the last one only, or waits for it.
        for patience in (2 * LEASE, LEASE // 2, LEASE // 2):
            self.assertEqual(client.show(waiting, wait=patience).json()['state'], 'requested')
        self.wait(lambda cluster: not any(cluster.request(one) for one in vanished))
        self.launcher_.wait_for_log(f'{vanished[0]}.*longer than its lease: given back')
        Client(self.site, TOKENS[1]['token']).ask('DELETE', f'{REQUESTS}/{kept}')
        self.assertEqual(client.show(waiting, wait=60).json()['state'], 'fulfilled')
        self.wait(lambda cluster: cluster.request(waiting) is None, 60)
        self.wait_for_ready(2)
        self.assertEqual(self.client.get_children('/drover/leases'), [])

    def test_lease_after_a_restart(self):
        """Another launcher ends it, which has never heard of the client."""
        client = self.start_limited(machine('127.0.10.1', 'l'), lease=LEASE)
        request = client.submit('l').json()['id']
        self.assertEqual(client.show(request, wait=60).json()['state'], 'fulfilled')
        self.assertEqual(self.launcher_.stop(), 0)
        other = self.launcher(provider('p', [machine('127.0.10.1', 'l')]), webapp=WEBAPP)
        other.wait_for_log(f'{request}.*longer than its lease: given back', limit=60)
        self.wait_for_ready(1)

    def test_description(self):
        """All that is described is there."""
        client = self.start(machine('127.0.10.1', 'l'))
        described = self.site.get('/api/v1/openapi.json').json()
        self.assertEqual(described['openapi'][:2], '3.')
        for path, methods in described['paths'].items():
            for method in {'get', 'post', 'delete', 'put'}:
                answer = client.ask(method.upper(), path.replace('{id}', 'nope'))
                if method in methods:
                    self.assertIn(str(answer.status), methods[method]['responses'], (method, path))
                elif path != '/api/v1/openapi.json':
                    self.assertEqual(answer.status, 405, (method, path))
        self.assertEqual(client.ask('GET', '/api/v2/requests').status, 404)

    def test_without_clients(self):
        self.launcher_ = self.start_with(machine('127.0.10.1', 'l'), webapp=WEBAPP)
        site = Site(self.launcher_)
        self.assertEqual(site.get(REQUESTS).status, 404)
        self.launcher_.reload([provider('p', [machine('127.0.10.1', 'l')])], webapp=WEBAPP,
                              api={'tokens': TOKENS})
        self.assertEqual(site.get(REQUESTS).status, 401)
        self.assertEqual(Client(site).ask('GET').status, 200)

    def test_without_zookeeper(self):
        launcher = self.launcher(provider('p', machines(1)), webapp=WEBAPP, port=free_port(),
                                 api={'tokens': TOKENS})
        answer = Client(Site(launcher)).submit('l')
        self.assertEqual((answer.status, answer.headers['Retry-After']), (503, '1'))

    def test_stop_while_somebody_waits(self):
        client = self.start(machine('127.0.10.1', 'l'))
        self.job('l')
        request = client.submit('l').json()['id']
        with self.site.connect() as waiter:
            waiter.sendall(f'GET {REQUESTS}/{request}?wait=60 HTTP/1.1\r\nHost: h\r\n'
                           f'Authorization: Bearer {client.token}\r\n\r\n'.encode())
            self.assertEqual(self.site.get('/ready').status, 200)
            self.assertEqual(self.launcher_.stop(), 0)
            self.assertIn(waiter.recv(100)[:12], (b'HTTP/1.1 503', b''))
        self.client.delete(f'/nodepool/requests/{request}')


if __name__ == '__main__':
    unittest.main()
