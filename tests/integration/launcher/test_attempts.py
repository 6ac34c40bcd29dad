"""Launches that fail: other attempts, time-outs, and clouds that answer nonsense or nothing."""

import time
import unittest

from cloud import label, pool
from cloud_case import CREATE, DELETE, CloudCase, broken
from zuul_client import NODES


class Attempts(CloudCase):
    def test_SM_08_a_second_attempt(self):
        self.start()
        self.cloud.faults({**broken(), 'times': 1})
        node_id, _ = self.node_of(self.submit('l'))
        self.assertEqual([body['name'] for body in self.creates()], [f'np{node_id}'] * 2)
        self.wait_for_books()

    def test_SM_09_L_26_no_more_attempts(self):
        self.start(launch_retries=2)
        self.cloud.faults(broken())
        record = self.submit('l').wait('failed')
        pools = self.observer.sync().pools().values()
        self.assertEqual(record['declined_by'], [one['id'] for one in pools])
        self.assertEqual(len(self.creates()), 2)
        path, = self.node_paths()
        self.wait_for_no_nodes()
        self.assertEqual(self.observer.states(path),
                         ['init', 'building', 'failed', 'deleting', None])
        self.wait_for_books()

    def test_SM_10_one_machine_at_a_time(self):
        self.start(call_tries=1)
        self.cloud.faults({**broken(), 'times': 1}, {**DELETE, 'times': 1, 'status': 500})
        self.node_of(self.submit('l'))
        calls = [(entry['method'], entry['status']) for entry in self.cloud.log()
                 if entry['method'] in ('POST', 'DELETE')]
        self.assertEqual(calls, [('POST', 202), ('DELETE', 500), ('DELETE', 202), ('POST', 202)])
        self.assertEqual(self.cloud.state()['most']['machine'], 1)
        self.wait_for_books()

    def test_SM_11_nothing_is_wedged(self):
        launcher = self.start(launch_retries=2, call_tries=1)
        # What the first attempt made can be deleted; nothing can after that.
        self.cloud.faults({**broken(), 'times': 2}, {**DELETE, 'skip': 1, 'status': 500})
        self.submit('l').wait('failed')
        self.node_of(self.submit('l'))
        launcher.wait_for_log('cannot be deleted')
        self.cloud.faults()
        self.wait_for_books()

    def test_SM_12_launch_timeout(self):
        launcher = self.start(launch_timeout=1, launch_retries=2)
        self.cloud.faults({**CREATE, 'machine': {'stuck': True}})
        began = time.monotonic()
        record = self.submit('l').wait('failed')
        self.assertEqual(len(record['declined_by']), 1)
        self.assertGreater(time.monotonic() - began, 2)
        self.assertEqual(len(launcher.find_log('WARNING .*servercreatetimeout')), 2)
        self.assertEqual(len(self.creates()), 2)
        self.wait_for_no_nodes()
        self.wait_for_books()

    def test_launch_timeout_while_deleting_the_former_machine(self):
        launcher = self.start(launch_timeout=1, launch_retries=3, call_tries=1)
        self.cloud.faults({**broken(), 'times': 1}, {**DELETE, 'status': 500})
        self.submit('l').wait('failed')
        self.assertEqual(len(launcher.find_log('servercreatetimeout')), 2)
        self.assertEqual(len(self.creates()), 1)
        self.cloud.faults()
        self.wait_for_no_nodes()
        self.wait_for_books()

    def test_kinds_of_failures(self):
        launcher = self.start(launch_retries=5)
        self.cloud.faults(
            {**CREATE, 'times': 1, 'status': 503, 'body': 'There is no capacity left'},
            {**broken(), 'times': 1},
            {**CREATE, 'times': 1, 'machine': {'no_address': True}},
            {**CREATE, 'times': 1, 'status': 409, 'body': 'Conflict'})
        self.node_of(self.submit('l'))
        kinds = [line.split('failed (')[1].split(')')[0]
                 for line in launcher.find_log('Launch attempt')]
        self.assertEqual(sorted(kinds), ['capacity', 'network', 'status', 'unknown'])
        self.wait_for_books()

    def test_L_28_the_second_pool_serves(self):
        self.start(pools=[pool(priority=1), pool('other', [label('m')])], launch_retries=1)
        # In another provider, as one label belongs to one pool of a provider.
        self.launcher(self.cloud.provider('q', launch_retries=1))
        self.wait_for_pools('p-main', 'p-other', 'q-main')
        self.cloud.faults({**broken(), 'tags': {'nodepool_provider_name': 'p'}})
        request = self.submit('l')
        _, node = self.node_of(request)
        self.assertEqual(node['provider'], 'q')
        main = next(record['id'] for record in self.observer.cluster.pools().values()
                    if (record['provider_name'], record['name']) == ('p', 'main'))
        self.assertEqual(request.record['declined_by'], [main])
        self.wait_for_books()

    def test_L_30_one_node_cannot_be_freed(self):
        """Somebody has it locked: it is named, and the others are free all the same."""
        launcher = self.start(launch_retries=1)
        self.cloud.faults({**CREATE, 'skip': 2, 'times': 1,
                           'machine': {'error': 'broken', 'after': 3600}})
        request = self.submit('l', 'l', 'l')
        self.wait(lambda cluster: len(cluster.nodes(state='ready', allocated_to=request.id)) == 2,
                  what='two nodes')
        locked, other = self.observer.sync().nodes(state='ready')
        lock = self.lock(f'{NODES}/{locked}/lock')
        self.cloud.advance(3600)
        request.wait('failed')
        line, = launcher.wait_for_log('ERROR .*is not freed')
        self.assertIn(f'node: {locked}', line)
        self.assertEqual(len(launcher.find_log('ERROR .*is not freed')), 1)
        cluster = self.observer.sync()
        self.assertEqual(cluster.ready_nodes(), [other])
        self.assertEqual(cluster.node(locked)['allocated_to'], request.id)
        request.cancel()
        lock.release()
        self.assertEqual(sorted(self.wait_for_ready(2)), sorted([locked, other]))
        self.wait_for_books()

    def test_one_node_of_several_fails(self):
        """The others are free again, and serve the next request."""
        self.start(launch_retries=1, labels=[label('a'), label('b', flavor='large')])
        self.cloud.faults({**broken(), 'skip': 2, 'times': 1})
        self.submit('a', 'a', 'a').wait('failed')
        ready = self.wait_for_ready(2)
        self.assertEqual(set(self.nodes_of(self.submit('a', 'a'))), set(ready))
        self.wait_for_books()


class Vanishing(CloudCase):
    """What is worked on disappears."""

    def launching(self, *wanted, **machine):
        """A request whose machines are being made."""
        self.cloud.faults({**CREATE, 'machine': {'after': 2, **machine}})
        request = self.submit(*wanted)
        self.cloud.wait_for_machines(len(wanted))
        self.wait(lambda cluster: len(cluster.nodes(state='building')) == len(wanted) and
                  all(node['external_id'] for node in cluster.nodes().values()))
        return request, sorted(self.observer.sync().nodes())

    def test_SM_54_request_cancelled(self):
        launcher = self.start()
        request, ids = self.launching('l', 'l')
        request.cancel()
        launcher.wait_for_log(f'{request.id}.*vanished')
        self.assertEqual(sorted(self.wait_for_ready(2)), ids)
        self.cloud.faults()
        self.assertEqual(sorted(self.nodes_of(self.submit('l', 'l'))), ids)
        self.assertEqual(len(self.creates()), 2)

    def test_cancelled_and_failed(self):
        """Nobody wants a second attempt."""
        self.start()
        request, _ = self.launching('l', error='broken')
        request.cancel()
        self.wait_for_no_nodes()
        self.assertEqual(len(self.creates()), 1)
        self.wait_for_books()

    def erase(self, node_id):
        """As `erase` does it, whoever has it locked; at once, or else it would be deleted first."""
        path = f'{NODES}/{node_id}'
        transaction = self.client.transaction()
        for name in self.client.get_children(f'{path}/lock'):
            transaction.delete(f'{path}/lock/{name}')
        transaction.delete(f'{path}/lock')
        transaction.delete(path)
        self.assertEqual(transaction.commit(), [True] * 3)

    def test_SM_55_request_and_nodes(self):
        launcher = self.start(launcher={'cleanup_interval': 1})
        request, ids = self.launching('l', 'l')
        request.cancel()
        for node_id in ids:
            self.erase(node_id)
        for node_id in ids:
            launcher.wait_for_log(f'ERROR .*node: {node_id}.*gone')
        self.cloud.faults()
        self.cloud.wait_for_machines(0)
        self.node_of(self.submit('l'))
        # Once for each node, however often its machine is looked for.
        for node_id in ids:
            self.assertEqual(len(launcher.find_log(f'ERROR .*node: {node_id}.*lock is gone')), 1)
        self.assertEqual(self.observer.sync().contenders(), [])

    def test_L_29_request_and_one_node(self):
        launcher = self.start(launcher={'cleanup_interval': 1})
        request, (first, second) = self.launching('l', 'l')
        request.cancel()
        self.erase(first)
        launcher.wait_for_log(f'ERROR .*node: {first}.*gone')
        self.assertEqual(self.wait_for_ready(1), [second])
        self.wait_for_books()
        self.assertEqual(self.observer.sync().contenders(), [])

    def test_one_node_erased(self):
        """That node failed; the other is free."""
        self.start(launcher={'cleanup_interval': 1})
        request, (first, second) = self.launching('l', 'l')
        self.erase(first)
        request.wait('failed')
        self.assertEqual(self.wait_for_ready(1), [second])
        self.wait_for_books()

    def test_machine_that_vanishes(self):
        self.start()
        self.cloud.faults({**CREATE, 'times': 1, 'machine': {'after': 10, 'vanishes': 0.3}})
        self.node_of(self.submit('l'))
        self.wait_for_books()


class Nonsense(CloudCase):
    """Clouds that do not answer as they should, in each call once, then as they should."""

    def spoil_each_call(self, **fault):
        for method, path in (('GET', '^/limits'), ('GET', '^/flavors'), ('GET', '^/zones'),
                             ('GET', '^/images'), ('GET', '^/machines'), ('POST', '^/machines$')):
            self.cloud.faults({'method': method, 'path': path, 'times': 1, **fault}, keep=True)

    def one_life(self):
        request = self.submit('l')
        self.node_of(request, limit=60)
        self.cloud.faults({**DELETE, 'times': 1, **self.fault}, keep=True)
        self.give_back(request)
        self.wait_for_no_nodes(60)

    def check(self, **fault):
        self.fault = fault
        self.start(call_timeout=1, call_tries=2,
                   launcher={'cleanup_interval': 1, 'debug': True})
        self.spoil_each_call(**fault)
        for _ in range(2):
            self.one_life()
        # What was made without anybody's knowledge is found by its tags.
        self.cloud.wait_for_machines(0, 60)

    def test_F_09_answers_lost(self):
        self.check(drop='after')

    def test_questions_lost(self):
        self.check(drop='before')

    def test_half_bodies(self):
        self.check(half=True)

    def test_no_answer(self):
        self.check(never='before')

    def test_no_answer_although_it_was_done(self):
        self.check(never='after')

    def test_garbage_text(self):
        self.check(garbage='text')

    def test_garbage_types(self):
        self.check(garbage='types')

    def test_garbage_missing(self):
        self.check(garbage='missing')

    def test_errors(self):
        self.check(status=500)

    def test_cloud_that_never_answers(self):
        """Nothing is decided; a request that names an unknown label fails all the same."""
        self.cloud.faults({'path': '', 'never': 'before'})
        launcher = self.start()
        request = self.submit('l')
        self.submit('unknown').wait('failed')
        launcher.wait_for_log(f'{request.id}.*Not now.*not told')
        self.assertEqual(launcher.stop(), 0)
        self.assertEqual(self.observer.sync().request(request.id)['state'], 'requested')

    def test_create_that_never_answers(self):
        launcher = self.start(launch_timeout=1, launch_retries=1)
        self.cloud.faults({**CREATE, 'never': 'before'})
        self.submit('l').wait('failed')
        launcher.wait_for_log('servercreatetimeout')
        self.wait_for_no_nodes()


if __name__ == '__main__':
    unittest.main(verbosity=2)
