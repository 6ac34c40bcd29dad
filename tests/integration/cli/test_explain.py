"""`drover explain`: why a request waits, and what a node does, from ZooKeeper alone."""

import json
import re
import unittest

from cli_case import CliCase, wait_until
from cloud import Cloud, label, pool
from launcher import Launcher, machines, provider
from zuul_client import Executor, Scheduler

REQUEST, NODE = '200-0000000007', '0000000003'


class ExplainCase(CliCase):
    def launch(self, *providers, **options):
        launcher = Launcher(self.server, self.chroot, providers=providers, state=False, **options)
        self.addCleanup(launcher.close)
        self.addCleanup(lambda: self.assertEqual(launcher.stop(), 0))
        launcher.start()
        for one in providers:
            launcher.wait_for_log(rf'Registered /nodepool/components/pool/.*PoolWorker\.{one["name"]}-')
        return launcher

    def put_pool(self, pool_id, provider_name='np', labels=('l',), **fields):
        """A pool of a launcher that publishes no decisions, as Nodepool's."""
        record = {'hostname': 'nl01', 'kind': 'pool', 'state': 'running', 'id': pool_id,
                  'name': 'main', 'provider_name': provider_name, 'priority': 100,
                  'supported_labels': list(labels), 'paused': False, **fields}
        self.zk.create('/nodepool/components/pool/nl01', json.dumps(record).encode(),
                       ephemeral=True, sequence=True, makepath=True)

    def explain(self, *words):
        result = self.drover('explain', *words, '--json')
        self.assertEqual(result.status, 0, result.err)
        return result.json

    def wait_for_verdict(self, request_id, provider_name, verdict, pattern):
        """Pools publish what they decided a little later."""
        def find():
            for one in self.explain(request_id)['pools']:
                if one['provider'] == provider_name and one['verdict'] == verdict and \
                        re.search(pattern, one['reason'] or ''):
                    return one
            return None
        try:
            return wait_until(find)
        except AssertionError:
            raise AssertionError(self.explain(request_id)) from None

    def findings(self, *words):
        return self.explain(*words)['findings']


class RequestTest(ExplainCase):
    def setUp(self):
        super().setUp()
        hosts = f'{self.server.hosts}{self.chroot}'
        self.scheduler, self.executor = Scheduler(hosts), Executor(hosts)
        self.addCleanup(self.scheduler.close)
        self.addCleanup(self.executor.close)

    def use(self, *labels, **options):
        request = self.scheduler.submit(labels, **options)
        request.wait('fulfilled')
        nodes = self.executor.accept(request.id)
        nodes.use()
        return nodes

    def test_yield_and_defer_with_numbers(self):
        self.launch(provider('p', machines(1), priority=1))
        self.use('l')
        self.launch(provider('q', machines(1, network=11), priority=2))
        request = self.scheduler.submit(['l'])
        self.wait_for_verdict(request.id, 'p', 'defer',
                              r'0 node\(s\) with label l are free, 1 wanted')
        self.wait_for_verdict(request.id, 'q', 'yield',
                              'pool main of provider p has priority 1, this one 2')
        text = self.drover('explain', request.id).out
        self.assertRegex(text, rf'^request {request.id}: requested for 00:00:\d\d:\d\d, wants l\n'
                               r'  requested by \w+\n  for tenant tenant-1\n'
                               r'  number 1 in the queue\n\n'
                               r'It waits; 2 of 2 pools could serve it\. See why they do not:\n')
        self.assertRegex(text, r'(?m)^\| q +\| main +\| yield +\| 00:00:\d\d:\d\d \| pool main of ')

    def test_more_than_a_pool_has(self):
        self.launch(provider('p', machines(1)))
        request = self.scheduler.submit(['l', 'l'])
        self.wait_for_verdict(request.id, 'p', 'defer',
                              r'1 node\(s\) with label l are free, 2 wanted')

    def test_preferred_provider(self):
        self.launch(provider('p', machines(1)), provider('q', machines(1, network=11)))
        self.use('l', provider='p')
        request = self.scheduler.submit(['l'], provider='p')
        self.wait_for_verdict(request.id, 'q', 'yield', 'it prefers provider p')
        self.assertIn('prefers provider p', self.drover('explain', request.id).out)

    def test_labels_of_another_pool(self):
        self.launch(provider('p', machines(1)), provider('q', machines(1, 'm', 11)))
        self.use('l')
        request = self.scheduler.submit(['l'])
        self.wait_for_verdict(request.id, 'q', 'yield', 'another pool has all of its labels')
        by_provider = {one['provider']: one for one in self.explain(request.id)['pools']}
        self.assertEqual(by_provider['q']['missing_labels'], ['l'])

    def test_waiting_for_quota(self):
        cloud = Cloud(limits={'instances': 1}).start()
        self.addCleanup(cloud.close)
        self.launch(cloud.provider('p'))
        self.use('l')
        request = self.scheduler.submit(['l'])
        request.wait('pending')
        self.wait_for_verdict(request.id, 'p', 'wait',
                              'provider: 1 more instances needed, 1 used, limit 1')
        explained = self.explain(request.id)
        self.assertRegex(explained['locked_by'], r'^the launcher on \S+ \(session 0x[0-9a-f]+\)$')
        self.assertRegex(explained['findings'][0],
                         '^Pool main of provider p has accepted it and waits for room: 0 of 1 '
                         r'node\(s\) ready, 0 being launched; provider: .* limit 1\.$')
        # The next one is not accepted before that.
        later = self.scheduler.submit(['l'])
        self.wait_for_verdict(later.id, 'p', 'defer', 'accepted earlier waits for quota')

    def test_limits_of_pool_and_tenant(self):
        cloud = Cloud().start()
        self.addCleanup(cloud.close)
        self.launch(cloud.provider('p', pools=[pool(labels=[label('l')], max_servers=5)]),
                    **{'tenant-resource-limits': [{'tenant-name': 't', 'max-servers': 1}]})
        self.use('l', tenant='t')
        request = self.scheduler.submit(['l'], tenant='t')
        self.wait_for_verdict(request.id, 'p', 'defer',
                              'tenant t: 1 more instances needed, 1 used, limit 1')
        huge = self.scheduler.submit(['l'] * 6)
        huge.wait('failed')
        self.wait_for_verdict(huge.id, 'p', 'decline', 'it would exceed quota .*limit 5')

    def test_being_launched(self):
        cloud = Cloud(active_after=1000).start()
        self.addCleanup(cloud.close)
        self.launch(cloud.provider('p'))
        request = self.scheduler.submit(['l'])
        self.wait_for_verdict(request.id, 'p', 'serve',
                              r'0 of 1 node\(s\) ready, 1 being launched')
        explained = self.explain(request.id)
        node, = explained['nodes']
        self.assertEqual(node['state'], 'building')
        self.assertRegex(explained['findings'][-1],
                         rf'^Its node {node["id"]} \(l\) is building for 00:')
        self.assertRegex(self.findings('--node', node['id'])[0],
                         r'^It is being made by the launcher on \S+ \(session 0x')

    def test_decline_and_unknown_label(self):
        self.launch(provider('p', machines(1)), provider('q', machines(1, 'm', 11)))
        request = self.scheduler.submit(['nope', 'l'])
        request.wait('failed')
        for name in 'pq':
            self.wait_for_verdict(request.id, name, 'decline', r'node type\(s\) \[nope')
        self.assertEqual(self.findings(request.id),
                         ['It failed: all pools that were registered then declined it. Its '
                          'requestor is to delete it.',
                          'No registered pool has the label nope.'])

    def test_reason_of_a_launcher_that_left(self):
        launcher = self.launch(provider('p', machines(1)))
        request = self.scheduler.submit(['nope'])
        record = request.wait('failed')
        self.assertEqual(launcher.stop(), 0)
        wait_until(lambda: not self.zk.get_children('/drover/decisions'))
        explained = self.explain(request.id)
        self.assertEqual(explained['pools'], [])
        self.assertIn(f'It was declined by {record["declined_by"][0]}, which is not registered any '
                      'more.', explained['findings'])

    def test_fulfilled(self):
        self.launch(provider('p', machines(1)))
        request = self.scheduler.submit(['l'])
        node, = request.wait('fulfilled')['nodes']
        found = self.findings(request.id)
        self.assertIn('its requestor is to take the nodes', found[0])
        self.assertIn(f'Its node {node} (l) is ready', found[1])


class WithoutLauncherTest(ExplainCase):
    def test_no_launcher_at_all(self):
        self.put_request(REQUEST)
        explained = self.explain(REQUEST)
        self.assertEqual(explained['findings'],
                         ['No pool is registered (launchers: 0): nobody looks at requests.'])
        self.assertEqual((explained['pools'], explained['locked_by'], explained['position']),
                         ([], None, 1))
        text = self.drover('explain', REQUEST)
        self.assertEqual(text.status, 0)
        self.assertTrue(text.out.endswith('nobody looks at requests.\n'), text.out)

    def test_pools_that_do_not_tell(self):
        self.put_pool('able')
        self.put_pool('unwilling', 'nq')
        self.put_pool('unable', 'nr', ['m', 'n'])
        self.put_request('100-0000000001')
        self.put_request(REQUEST, declined_by=['unwilling', 'unwilling'])
        explained = self.explain(REQUEST)
        self.assertEqual([(one['launcher'], one['verdict'], one['reason'])
                          for one in explained['pools']],
                         [('able', None, 'it has all labels and does not tell what it decides'),
                          ('unwilling', 'decline',
                           "it declined before; the launcher's log has the reason"),
                          ('unable', None, 'it does not have [l]')])
        self.assertEqual(explained['position'], 2)
        self.assertEqual(explained['findings'],
                         ['It waits; 1 of 3 pools could serve it. See why they do not:'])

    def test_labels_that_nobody_has(self):
        self.put_pool('one', labels=['l'])
        self.put_pool('two', 'nq', labels=['m'])
        self.put_request(REQUEST, node_types=['l', 'x', 'y', 'x'])
        self.assertEqual(self.findings(REQUEST), ['No registered pool has the label x.',
                                                  'No registered pool has the label y.'])
        self.put_request('200-0000000008', node_types=['l', 'm'])
        self.assertEqual(self.findings('200-0000000008'),
                         ['No single pool has all of its labels.'])

    def test_all_that_could_have_declined(self):
        self.put_pool('one')
        self.put_pool('other', 'nq', labels=['m'])
        self.put_request(REQUEST, declined_by=['one', 'gone'])
        self.assertEqual(self.findings(REQUEST),
                         ['Every pool that has its labels has declined it.',
                          'It was declined by gone, which is not registered any more.'])

    def test_locked(self):
        self.put_pool('able')
        self.put_request(REQUEST)
        lock = self.zk.Lock(f'/nodepool/requests-lock/{REQUEST}')
        self.assertTrue(lock.acquire())
        self.assertRegex(self.explain(REQUEST)['locked_by'],
                         r'^the launcher on nl01 \(session 0x[0-9a-f]+\)$')
        stranger = self.client().Lock(f'/nodepool/requests-lock/{REQUEST}', 'a word\nor two')
        lock.release()
        self.assertTrue(stranger.acquire())
        self.assertRegex(self.findings(REQUEST)[-1],
                         r'^It is locked just now by a word\nor two \(session 0x[0-9a-f]+\): ')

    def test_lost(self):
        self.put_pool('able')
        self.put_request(REQUEST, state='pending')
        self.assertEqual(self.findings(REQUEST)[0],
                         'It was accepted by a launcher that is gone; another one puts it back '
                         'within about a minute.')

    def test_broken_records(self):
        self.put_pool('able')
        for name, data in (('a-', b'{'), ('b-', b'{"launcher": 7}'), ('c-', b''), ('d-', b'[]'),
                           ('e-', b'{"launcher": "able", "requests": {"id": 1}, "left_out": "x"}')):
            self.zk.create(f'/drover/decisions/{name}', data, makepath=True, sequence=True)
        self.zk.create('/nodepool/components/pool/broken', b'{')
        self.put_request(REQUEST)
        one, = self.explain(REQUEST)['pools']
        self.assertEqual(one['reason'], 'it has all labels and has not told yet what it decided')

    def test_not_found(self):
        for words, message in ((['300-0000000001'], 'request 300-0000000001 not found'),
                               (['--node', NODE], f'node {NODE} not found'),
                               (['--node', '../requests'], 'node ../requests not found')):
            result = self.drover('explain', *words, '--json')
            self.assertEqual((result.status, result.json), (1, {'error': message}))
        self.assertEqual(self.drover('explain').status, 2)

    def test_nothing_is_written(self):
        self.put_request(REQUEST)
        self.put(NODE)
        self.explain(REQUEST)
        self.explain('--node', NODE)
        self.assertIsNone(self.zk.exists('/drover'))
        self.assertIsNone(self.zk.exists('/zuul'))
        self.assertIsNone(self.zk.exists('/nodepool/components'))
        self.assertIsNone(self.zk.exists(f'/nodepool/nodes/{NODE}/lock'))
        self.assertIsNone(self.zk.exists('/nodepool/requests-lock'))


class NodeTest(ExplainCase):
    def first(self):
        return self.findings('--node', NODE)[0]

    def test_free(self):
        self.put(NODE)
        self.assertIn('It is free: the next request', self.first())
        text = self.drover('explain', '--node', NODE).out
        self.assertRegex(text, rf'^node {NODE}: ready for 00:00:\d\d:\d\d, provider p1, pool main, '
                               r'label l\n  locked by nobody\n\nIt is free')

    def test_allocated(self):
        self.put(NODE, allocated_to=REQUEST)
        self.assertEqual(self.first(), f'Its request {REQUEST} is gone. It is going to be free '
                                       'again.')
        self.put_request(REQUEST, state='pending')
        self.assertIn(f'until request {REQUEST}, which is pending, has all', self.first())
        self.zk.delete(f'/nodepool/requests/{REQUEST}')
        self.put_request(REQUEST, state='fulfilled', nodes=[NODE])
        self.assertIn(f'waits for the requestor of {REQUEST}', self.first())

    def test_used_by_zuul(self):
        zuul = self.client()
        zuul.create('/zuul/components/executor/ze01', b'{"hostname": "ze01.example.org"}',
                    ephemeral=True, sequence=True, makepath=True)
        self.put(NODE, state='in-use')
        self.assertIn('Whoever used it is gone', self.first())
        self.assertTrue(zuul.Lock(f'/nodepool/nodes/{NODE}/lock').acquire())
        explained = self.explain('--node', NODE)
        self.assertRegex(explained['locked_by'],
                         r"^Zuul's executor on ze01\.example\.org \(session 0x[0-9a-f]+\)$")
        self.assertIn('It is used by Zuul', explained['findings'][0])

    def test_being_made(self):
        self.put(NODE, state='building')
        self.assertIn('Whoever made it is gone', self.first())
        self.lock(NODE)
        self.assertIn('It is being made by somebody (session', self.first())

    def test_held(self):
        self.put(NODE, state='hold', hold_expiration=60, comment='look at this')
        self.assertEqual(self.findings('--node', NODE),
                         ['It is held for 60 s at most.', 'Comment: look at this'])

    def test_to_be_deleted(self):
        self.put(NODE, state='used')
        self.assertEqual(self.first(), 'No registered pool has provider p1: nobody deletes it.')
        self.put_pool('own', 'p1')
        self.assertIn('It waits to be deleted, which a launcher with provider p1', self.first())
        self.lock(NODE)
        self.assertIn('who deletes it or still uses it', self.first())

    def test_unknown_state(self):
        self.put(NODE, state='from the future')
        self.assertEqual(self.first(), 'Its state means nothing to this version.')


if __name__ == '__main__':
    unittest.main(verbosity=2)
