"""`drover delete --force` of a backing node: given back when it is empty, or at once."""

import json
import os
import subprocess
import unittest

from metastatic_case import OWNER, MetastaticCase, metastatic, slot_label
from zuul_client import NODES

DROVER = os.environ['DROVER']


class ByForce(MetastaticCase):
    def start_it(self):
        """Backing node `one` with one node, which nobody would give back by itself."""
        self.launcher_ = self.begin(self.backing_provider(),
                                    metastatic(slot_label(min_retention_time=3000)))
        request, node_id, node = self.serve()
        return request, node_id, self.place_of(node)[0]

    def drover(self, *words):
        return subprocess.run([DROVER, '-c', self.launcher_.config_path, *words],
                              capture_output=True, text=True, check=False, timeout=60)

    def test_ME_16_given_back_when_it_is_empty(self):
        request, node_id, one = self.start_it()
        done = self.drover('delete', '--force', one)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f'{one} gets no new nodes, and is given back when these have gone: {node_id}',
                      done.stderr)
        self.assertIn(f'| {one} | p ', done.stdout)
        self.assertTrue(self.user_data(one)['failed'])
        self.launcher_.wait_for_log(f'backing node {one} gets no new nodes: its user data says so')
        _, _, other = self.serve()
        two, _ = self.place_of(other)
        self.assertNotEqual(two, one)
        self.assertEqual(self.observer.sync().node(one)['state'], 'in-use')
        self.assertEqual(self.contenders(one), [OWNER])
        self.delete(request, node_id)
        self.wait_for_backing(two)
        self.wait_for_gone(one)

    def test_ME_16_empty_already(self):
        request, node_id, one = self.start_it()
        self.delete(request, node_id)
        self.assertEqual(self.observer.sync().node(one)['state'], 'in-use')
        done = self.drover('--json', 'delete', '--force', one)
        self.assertEqual([node['state'] for node in json.loads(done.stdout)], ['in-use'])
        self.wait_for_gone(one)

    def test_ME_16_at_once(self):
        request, node_id, one = self.start_it()
        done = self.drover('delete', '--force', '--now', one)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f'given back with these nodes on it: {node_id}', done.stderr)
        self.launcher_.wait_for_log(f'backing node {one} is gone, with these nodes on it: {node_id}')
        self.wait_for_gone(one)
        self.assertIsNotNone(self.observer.sync().node(node_id))
        self.delete(request, node_id)

    def test_provider_that_is_configured_no_more(self):
        _, _, one = self.start_it()
        self.launcher_.reload([self.backing_provider()])
        self.wait_for_pools('p-main')
        self.assertEqual(self.drover('delete', '--force', '--now', one).returncode, 0)
        self.wait_for_gone(one)

    def test_ME_30_user_data_alone_does_not_do(self):
        """Somebody else's node that says that it is one is locked, and stays as it is."""
        self.start_it()
        node_id, = self.nodes_of(self.submit('backing'))
        lock = self.lock(f'{NODES}/{node_id}/lock')
        record = self.observer.sync().node(node_id)
        data = json.dumps({**record, 'state': 'in-use', 'user_data': json.dumps({
            'owner': OWNER, 'label': 'user', 'slots': 2, 'launched': 1, 'failed': False})}).encode()
        self.client.set(f'{NODES}/{node_id}', data)
        for words in (['--force'], ['--force', '--now']):
            done = self.drover('delete', *words, node_id)
            self.assertEqual(done.returncode, 1)
            self.assertIn('is locked by somebody', done.stderr)
        self.assertEqual(self.client.get(f'{NODES}/{node_id}')[0], data)
        lock.release()


if __name__ == '__main__':
    unittest.main()
