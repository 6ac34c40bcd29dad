"""Requests that fail, launchers that die, and several that run the same provider."""

import json
import unittest

from crowd import Crowd
from launcher_case import is_full, seed_of
from metastatic_case import OWNER, MetastaticCase, metastatic, slot_label
from proxy import Proxy
from zuul_client import NODES, REQUESTS


class Lost(MetastaticCase):
    def test_ME_19_no_provider_for_the_backing_label(self):
        launcher = self.begin(self.backing_provider(),
                              metastatic(slot_label(backing='nobody-has-it')))
        request = self.submit('user')
        request.wait('failed')
        self.assertEqual(len(launcher.find_log('Launch attempt')), 3)
        self.wait(lambda cluster: not self.backing_requests(), what='no request left')
        self.wait_for_no_nodes()

    def test_ME_20_ME_35_request_deleted_by_hand_and_a_full_cloud(self):
        self.begin()
        self.fill_cloud()
        request = self.submit('user')
        lost = self.wait_for_backing_request()
        self.client.delete(f'{REQUESTS}/{lost}')
        self.wait_for_backing_request(other_than=lost)
        self.assertEqual(self.observer.sync().request(request.id)['state'], 'pending')
        self.empty_cloud()
        _, node = self.node_of(request)
        self.assertEqual(self.place_of(node)[1], 0)

    def test_ME_23_killed_with_a_node_in_use(self):
        launcher = self.begin()
        request, node_id, node = self.serve()
        one, _ = self.place_of(node)
        nodes = self.use(request)
        launcher.kill()
        self.assertEqual(self.contenders(one), [OWNER])
        launcher.start()
        _, _, other = self.serve()
        self.assertEqual(self.place_of(other), (one, 1))
        self.assertEqual(self.observer.sync().node(node_id)['state'], 'in-use')
        nodes.give_back()
        self.wait_for_gone(node_id)

    def killed_while_asking(self, **options):
        launcher = self.begin(**options)
        self.fill_cloud()
        request = self.submit('user')
        lost = self.wait_for_backing_request()
        launcher.kill()
        self.empty_cloud()
        launcher.start()
        node_id, node = self.node_of(request, limit=60)
        self.wait(lambda cluster: cluster.request(lost) is None, what='the old request gone')
        self.wait(lambda cluster: set(cluster.nodes()) == {node_id, *self.backing(cluster)},
                  what='no other node')
        self.assertEqual(len(self.backing()), 1)

    def test_ME_24_killed_while_the_request_is_pending(self):
        self.killed_while_asking()

    def test_ME_24_killed_and_the_session_lost(self):
        self.killed_while_asking(state=False, timeout=4)

    def test_ME_25_killed_before_the_claim(self):
        """Another launcher has the backing provider, and serves what this one asks for."""
        self.begin(self.backing_provider())
        launcher = self.launcher(metastatic(), cleanup_interval=1, timeout=40)
        self.wait_for_pools('meta-main', 'p-main')
        self.fill_cloud()
        request = self.submit('user')
        asked = self.wait_for_backing_request()
        with launcher.frozen():
            self.empty_cloud()
            self.wait(lambda cluster: cluster.request(asked)['state'] == 'fulfilled',
                      what='fulfilled')
            launcher.kill()
        launcher.start()
        self.node_of(request, limit=60)
        self.wait(lambda cluster: all(node['state'] in ('ready', 'in-use')
                                      for node in cluster.nodes().values()))
        free = self.observer.sync().ready_nodes('backing')
        self.assertLessEqual(len(free), 1)
        self.assertEqual(len(self.backing()), 1)

    def begin_behind_a_proxy(self, **options):
        proxy = Proxy(self.server.port)
        self.addCleanup(proxy.close)
        return proxy, self.begin(
            self.backing_provider(), metastatic(slot_label(grace_time=0)), port=proxy.port,
            labels=[{'name': 'backing'}, {'name': 'user', 'max-ready-age': 1}], **options)

    def test_F_51_answer_to_the_request_lost(self):
        proxy, launcher = self.begin_behind_a_proxy()
        for _ in range(10):
            cuts = proxy.cuts
            proxy.lose_answer(f'{REQUESTS}/100-'.encode())
            request, _, _ = self.serve()
            self.assertEqual(proxy.cuts, cuts + 1)
            self.give_back(request)
            self.wait_for_no_nodes()
        self.assertEqual(self.backing_requests(), [])
        self.assertEqual(launcher.find_log('session lost'), [])

    def test_F_51_answers_lost(self):
        """Every write may be the one whose answer is lost; nothing is asked for and forgotten."""
        random = seed_of(self)
        proxy, launcher = self.begin_behind_a_proxy(debug=False)
        crowd = Crowd(self.hosts, random, workers=6, labels=['user'], most_nodes=2,
                      may_fail=True).start()
        for _ in range(300 if is_full() else 60):
            mark = launcher.mark()
            proxy.lose_answer()
            launcher.wait_for_log('connection established', mark)
            crowd.wait_for_served(random.randint(0, 2))
        crowd.stop()
        crowd.join()
        self.assertEqual(launcher.find_log('session lost'), [])
        self.wait(lambda cluster: not cluster.requests(), 60, 'no requests')
        self.wait_for_no_nodes(60)
        self.cloud.wait_for_machines(0)

    def test_ME_28_two_launchers(self):
        """The observer's invariants see to the slots."""
        providers = (self.backing_provider(), metastatic(slot_label(max_parallel_jobs=3)))
        self.begin(*providers)
        self.launcher(*providers, cleanup_interval=1)
        self.wait(lambda cluster: len(cluster.pools()) == 4, what='four pools')
        for _ in range(2):
            requests = [self.submit('user') for _ in range(6)]
            places = [self.place_of(self.node_of(request, 60)[1]) for request in requests]
            self.assertEqual(len(set(places)), 6)
            for request in requests:
                self.give_back(request)
            self.wait(lambda cluster: set(cluster.nodes()) == set(self.backing(cluster)), 60,
                      'only backing nodes')
        self.wait_for_no_nodes(60)
        self.cloud.wait_for_machines(0)

    def test_ME_29_reload_while_a_node_is_made(self):
        backing = self.backing_provider()
        launcher = self.begin(backing, metastatic())
        self.fill_cloud()
        first = self.submit('user')
        self.wait_for_backing_request()
        launcher.reload([backing, metastatic(slot_label(grace_time=3))])
        second = self.submit('user')
        self.empty_cloud()
        places = {self.place_of(self.node_of(request, 60)[1]) for request in (first, second)}
        self.assertEqual(len(places), 2)

    def test_ME_32_records_of_nodepool(self):
        """As Nodepool writes them: without what its former versions did not know, and slots with what
        a driver alone knows. The other way round needs Nodepool: tests/functional/nodepool."""
        launcher = self.begin()
        _, node_id, node = self.serve()
        one, _ = self.place_of(node)
        launcher.stop()
        for path, fields in ((f'{NODES}/{one}', {'user_data': json.dumps(
                {'owner': OWNER, 'label': 'user', 'slots': 2})}),
                (f'{NODES}/{node_id}', {'driver_data': {
                    'metadata': node['driver_data']['metadata'], 'backing_node': one, 'slot': 0,
                    'node': node_id}, 'image_id': 'unused'})):
            self.client.set(path, json.dumps(
                {**json.loads(self.client.get(path)[0]), **fields}).encode())
        launcher.start()
        _, _, node = self.serve()
        self.assertEqual(self.place_of(node), (one, 1))
        _, _, node = self.serve()
        self.assertNotEqual(self.place_of(node)[0], one)
        self.assertEqual(launcher.find_log(' (ERROR|WARNING) '), [])

    def test_ME_30_ME_31_user_data_of_others(self):
        text = json.dumps({'owner': OWNER, 'label': 'user', 'slots': 9})
        locks = []
        for user_data in (text, 'no JSON', '[1]', '{"owner": 7}', '{}'):
            record = {'state': 'in-use', 'provider': 'p', 'pool': 'main', 'type': ['backing'],
                      'user_data': user_data, 'external_id': None}
            path = self.client.create(f'{NODES}/', json.dumps(record).encode(), sequence=True,
                                      makepath=True)
            locks.append(self.lock(f'{path}/lock'))
        launcher = self.begin()
        _, _, node = self.serve()
        self.assertEqual(len(self.cloud.machines()), 1)
        self.assertEqual(self.place_of(node)[1], 0)
        self.assertEqual(launcher.find_log(' (ERROR|WARNING) '), [])


if __name__ == '__main__':
    unittest.main()
