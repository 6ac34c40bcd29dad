"""Limits of clouds, pools and labels: who waits, who fails, and who goes on when there is room."""

import unittest

from cloud import TOKEN, Cloud, label, pool
from cloud_case import CREATE, CloudCase, labels
from zuul_client import run_job

VOLUME_GB = 1
LIMITS = {'method': 'GET', 'path': '^/limits'}


def large(name, **options):
    """4 cores, 8192 MiB, a volume."""
    return label(name, flavor='large', extra_objects=['volume'], **options)


class Full(CloudCase):
    """There is room for two machines, and a request for two waits."""

    def check_waiting(self, name, pool_name, count=2):
        first = [self.submit(name) for _ in range(count)]
        sets = [self.use(request) for request in first]
        since = self.cloud.mark()
        waiting = self.submit(*[name] * count)
        self.wait_for_paused(pool=pool_name)
        waiting.wait('pending')
        self.assertEqual(self.creates(since), [])
        sets[0].give_back()
        self.cloud.wait(lambda _: len(self.creates(since)) == 1, what='one create')
        waiting.wait('pending')
        for nodes in sets[1:]:
            nodes.give_back()
        self.nodes_of(waiting)
        self.wait_for_paused(False, pool_name)
        self.assertEqual(len(self.creates(since)), count)
        self.give_back(waiting)

    def test_L_31_L_63_pool(self):
        self.start(pools=[pool(max_servers=2)])
        self.check_waiting('l', 'p-main')
        self.wait_for_no_nodes()
        self.assertEqual(self.cloud.state()['most']['machine'], 2)
        path, = self.observer.paths('/nodepool/components/pool')
        # With the first of two machines it goes on, and waits again for the second.
        self.assertEqual(self.written(path, 'paused'), [False, True, False, True, False])

    def test_L_32_SM_18_SM_19_limits_of_a_pool(self):
        limits = {'cores': {'max_cores': 8}, 'ram': {'max_ram': 16384},
                  'volumes': {'max_volumes': 2}, 'volume-gb': {'max_volume_gb': 2 * VOLUME_GB},
                  'instances': {'max_resources': {'instances': 2}},
                  'named': {'max_resources': {'addresses': 100, 'cores': 11}}}
        self.start(pools=[pool(name, [large(name)], **limit) for name, limit in limits.items()])
        for name in limits:
            with self.subTest(name):
                self.check_waiting(name, f'p-{name}')

    def test_L_32_SM_18_SM_19_limits_of_the_provider(self):
        plenty = {'instances': -1, 'cores': -1, 'ram': -1, 'volumes': -1, 'volume_gb': -1}
        for name, limit in (('instances', 2), ('cores', 8), ('ram', 16384), ('volumes', 2),
                            ('volume_gb', 2 * VOLUME_GB)):
            with self.subTest(name):
                self.cloud.limits(**{**plenty, name: limit})
                launcher = self.start([large('l')])
                self.check_waiting('l', 'p-main')
                self.wait_for_no_nodes()
                self.assertEqual(launcher.stop(), 0)
                self.wait(lambda cluster: not cluster.pools())

    def test_L_33_requests_at_once(self):
        self.cloud.settings(active_after=0.5)
        self.start(pools=[pool(max_servers=2)])
        requests = [self.submit('l') for _ in range(5)]
        for request in requests:
            self.give_back(request)
        self.wait_for_no_nodes()
        self.assertEqual(self.cloud.state()['most']['machine'], 2)

    def test_L_33_R_23_many_labels_at_once(self):
        self.start(pools=[pool(labels=labels('a', 'b'), max_servers=3)])
        requests = [self.submit('a', 'b') for _ in range(4)] + [self.submit('a', 'a', 'b')]
        for request in requests:
            self.give_back(request)
        self.assertEqual(self.cloud.state()['most']['machine'], 3)

    def test_L_41_SM_21_paused_pool_declines(self):
        self.start(pools=[pool(max_servers=1)])
        self.use(self.submit('l'))
        waiting = self.submit('l')
        self.wait_for_paused()
        later = self.submit('l')
        self.submit('unknown').wait('failed')
        self.submit('l', 'l').wait('failed')
        requests = self.observer.sync()
        self.assertEqual([requests.request(one.id)['state'] for one in (waiting, later)],
                         ['pending', 'requested'])

    def test_cancelled_while_it_waits(self):
        self.start(pools=[pool(max_servers=1)])
        nodes = self.use(self.submit('l'))
        waiting = self.submit('l')
        self.wait_for_paused()
        waiting.cancel()
        self.wait_for_paused(False)
        nodes.give_back()
        self.wait_for_no_nodes()
        self.assertEqual(len(self.creates()), 1)

    def test_L_44_numbers_in_the_log(self):
        launcher = self.start([label('l', flavor='large')])
        self.cloud.limits(cores=6)
        self.use(self.submit('l'))
        self.submit('l').wait('pending', 'failed')
        launcher.wait_for_log('INFO .*Not enough quota.*4 more cores needed, 4 used, limit 6')

    def test_L_49_unused_nodes_make_room(self):
        self.start(pools=[pool(labels=labels('a', 'b'), max_servers=2)])
        free = []
        for _ in range(2):
            request = self.submit('a', reuse=False)
            free += self.nodes_of(request)
            self.refuse(request)
        self.node_of(self.submit('b'))
        self.wait_for_gone(free[0])
        self.wait_for_books()
        self.assertIsNotNone(self.observer.sync().node(free[1]))

    def test_L_49_nothing_makes_room_when_a_machine_leaves_anyway(self):
        self.cloud.settings(delete_after=2)
        self.start(pools=[pool(labels=labels('a', 'b'), max_servers=2)])
        free, = self.nodes_of(self.submit('a', reuse=False))
        request = self.submit('a', reuse=False)
        self.nodes_of(request)
        self.refuse(self.scheduler_request_of(free))
        self.give_back(request)
        self.node_of(self.submit('b'))
        self.wait_for_books()
        self.assertIsNotNone(self.observer.sync().node(free))

    def scheduler_request_of(self, node_id):
        request_id = self.observer.sync().node(node_id)['allocated_to']
        return next(request for request in self.submitted if request.id == request_id)

    def submit(self, *wanted, **options):
        request = super().submit(*wanted, **options)
        self.submitted = [*getattr(self, 'submitted', []), request]
        return request


class Impossible(CloudCase):
    def reason(self, launcher, request):
        line, = launcher.wait_for_log(f'{request.id}.*Declined')
        return line.split('Declined node request: ')[1]

    def test_SM_26_L_09_disabled_pool(self):
        launcher = self.start(pools=[pool(max_servers=0)])
        request = self.submit('l')
        request.wait('failed')
        self.assertEqual(self.reason(launcher, request), 'pool is disabled by max_servers')

    def test_L_35_SM_16_never_fits(self):
        self.cloud.limits(cores=0)
        launcher = self.start([label('l', flavor='large')])
        request = self.submit('l')
        request.wait('failed')
        self.assertIn('it would exceed quota', self.reason(launcher, request))
        self.assertEqual(self.creates(), [])

    def test_never_fits_into_the_pool(self):
        launcher = self.start(pools=[pool(labels=[large('l')], max_volume_gb=VOLUME_GB)])
        request = self.submit('l', 'l')
        request.wait('failed')
        self.assertIn('volume-gb', self.reason(launcher, request))

    def test_L_36_SM_16_SM_17_ignored_quota(self):
        """The cloud says that there is none, and has some all the same."""
        self.cloud.faults({**LIMITS, 'status': 200, 'body': {'limits': {'cores': 0}}})
        self.start(pools=[pool(labels=[label('l', flavor='large')], max_servers=1,
                               ignore_provider_quota=True)])
        nodes = self.use(self.submit('l'))
        second = self.submit('l')
        self.wait_for_paused()
        self.submit('l', 'l').wait('failed')
        second.wait('pending')
        nodes.give_back()
        self.node_of(second)

    def test_L_34_no_limits(self):
        self.cloud.limits(instances=-1, cores=-1, ram=-1, volumes=-1, volume_gb=-1, addresses=-1)
        self.start([large('l')])
        self.nodes_of(self.submit(*['l'] * 10))

    def test_L_34_limits_that_are_not_told(self):
        self.cloud.faults({**LIMITS, 'status': 200, 'body': {'limits': {}}})
        self.start()
        self.node_of(self.submit('l'))

    def test_old_answers_decide_nothing(self):
        """What was true when it was asked last is asked again before anybody is refused."""
        self.cloud.settings(cloud_images=[])
        self.start()
        self.submit('l').wait('failed')
        self.cloud.settings(cloud_images=['plain'])
        # For some seconds it is not asked again.
        self.cloud.wait(lambda _: self.submit('l').wait('failed', 'fulfilled')['state'] ==
                        'fulfilled')


class Others(CloudCase):
    """What other users of the cloud have there."""

    def test_L_37_machines_of_others(self):
        self.cloud.limits(instances=2)
        self.cloud.make()
        self.start()
        nodes = self.use(self.submit('l'))
        second = self.submit('l')
        self.wait_for_paused()
        self.assertEqual(len(self.cloud.machines()), 2)
        nodes.give_back()
        self.node_of(second)
        self.submit('l', 'l').wait('failed')

    def test_L_37_own_machines_count_once(self):
        self.cloud.limits(instances=2)
        self.start()
        self.use(self.submit('l'))
        # The list of what is there is asked for anew now, and has the first one.
        self.cloud.faults({**CREATE, 'times': 1, 'status': 403, 'body': 'Quota exceeded'})
        self.node_of(self.submit('l'))
        self.wait_for_books()

    def test_L_37_leaked_machines_count(self):
        self.cloud.limits(instances=2)
        self.cloud.make(tags={'nodepool_provider_name': 'p', 'nodepool_node_id': '0000009999'})
        self.start()
        self.submit('l', 'l').wait('failed')
        self.node_of(self.submit('l'))

    def test_SM_43_machines_with_another_name(self):
        self.cloud.limits(instances=2)
        self.cloud.make(tags={'nodepool_provider_name': 'q', 'nodepool_node_id': '0000000000'})
        self.start()
        self.use(self.submit('l'))
        self.submit('l')
        self.wait_for_paused()
        self.assertEqual(len(self.cloud.machines()), 2)


class Refused(CloudCase):
    """The cloud refuses what should have fitted."""

    def aborted(self):
        return self.node_paths('aborted')

    def test_L_39_SM_13_SM_14_F_57_no_failure(self):
        self.cloud.limits(instances=5)
        launcher = self.start()
        self.node_of(self.submit('l'))
        # What the launcher knows is too much now.
        self.cloud.limits(instances=1)
        since = self.cloud.mark()
        request = self.submit('l')
        self.wait_for_paused()
        request.wait('pending')
        self.assertEqual(len(self.aborted()), 1)
        # Asked again, and that is all.
        self.assertEqual(len(self.creates(since)), 1)
        self.cloud.wait(lambda _: self.cloud.log('GET', '/limits', since))
        launcher.wait_for_log('INFO .*refuses for quota.*Quota exceeded')
        self.assertEqual(launcher.find_log('Launch attempt'), [])
        self.cloud.limits(instances=5)
        node_id, _ = self.node_of(request, limit=60)
        self.assertNotIn(node_id, self.aborted()[0])
        self.wait(lambda cluster: len(cluster.nodes()) == 2)
        self.wait_for_books()

    def test_L_40_SM_15_two_at_once(self):
        self.cloud.limits(instances=2)
        self.start()
        run_job(self.scheduler, self.executor, ['l'])
        self.wait_for_no_nodes()
        # It does not tell.
        self.cloud.limits(instances=0)
        self.cloud.faults({**CREATE, 'delay': 0.5, 'times': 2},
                          {**LIMITS, 'status': 200, 'body': {'limits': {'instances': 2}}})
        second = self.submit('l', relative_priority=2)
        first = self.submit('l', relative_priority=1)
        self.wait(lambda _: len(self.aborted()) >= 2)
        self.wait_for_paused()
        for request in (first, second):
            request.wait('pending')
        self.cloud.limits(instances=1)
        self.cloud.faults()
        self.nodes_of(first, limit=60)
        self.assertEqual(self.observer.sync().request(second.id)['state'], 'pending')
        self.give_back(first)
        self.node_of(second, limit=60)

    def test_refused_again_and_again(self):
        """Although the cloud says that there is room; with and without a look at what it says."""
        self.start(pools=[pool(), pool('blind', labels('m'), ignore_provider_quota=True)])
        self.cloud.faults({**CREATE, 'status': 403, 'body': 'Quota exceeded for this and that'})
        requests = [self.submit('l'), self.submit('m')]
        self.cloud.wait(lambda _: len(self.creates()) >= 6, limit=60)
        creates = self.cloud.creates()
        self.assertGreater(creates[5]['time'] - creates[0]['time'], 2)
        self.cloud.faults()
        for request in requests:
            self.node_of(request, limit=60)
        self.wait_for_books()

    def test_R_22_refused_for_a_label_that_nobody_limits(self):
        """Its cost is known only when it is there."""
        self.cloud.limits(cores=4)
        self.start([label('l', flavor='large', cost_after_create=True)])
        _, node = self.node_of(self.submit('l'))
        self.assertEqual(node['resources']['cores'], 4)


class Unanswered(CloudCase):
    def test_L_38_SM_25_last_known_limits(self):
        launcher = self.start(call_tries=1)
        self.node_of(self.submit('l'))
        # The limits are asked for anew when the cloud refuses.
        self.cloud.faults({**LIMITS, 'status': 500},
                          {**CREATE, 'times': 1, 'status': 403, 'body': 'Quota exceeded'})
        self.node_of(self.submit('l'), limit=60)
        launcher.wait_for_log('ERROR .*does not tell the limits.*last known')
        self.node_of(self.submit('l'))

    def test_L_38_use_that_is_not_told(self):
        launcher = self.start(call_tries=1, launch_retries=100)
        self.node_of(self.submit('l'))
        self.cloud.faults({'method': 'GET', 'path': '^/machines$', 'status': 500},
                          {**CREATE, 'times': 1, 'status': 403, 'body': 'Quota exceeded',
                           'delay': 0.5})
        request = self.submit('l')
        launcher.wait_for_log('ERROR .*does not tell the use.*last known')
        self.cloud.faults()
        self.node_of(request, limit=60)

    def test_L_38_F_47_nothing_known_yet(self):
        with Cloud() as other:
            other.faults({**LIMITS, 'status': 500})
            self.launcher(self.cloud.provider('p', labels('l')),
                          other.provider('q', labels('m'), call_tries=1))
            self.wait_for_pools('p-main', 'q-main')
            waiting = self.submit('m')
            self.node_of(self.submit('l'))
            self.assertEqual(self.observer.sync().request(waiting.id)['state'], 'requested')
            other.faults()
            self.node_of(waiting)

    def test_F_25_F_31_token_that_is_not_valid_for_a_while(self):
        """What was known is used on, and machines are made again when the token is valid again."""
        launcher = self.start(call_tries=1)
        self.node_of(self.submit('l'))
        self.cloud.settings(token='another')
        self.submit('l').wait('failed')
        self.assertEqual(len(self.creates()), 2)  # another try would end no otherwise
        launcher.wait_for_log('ERROR .*attempt 1/3 failed')
        self.cloud.settings(token=TOKEN)
        self.node_of(self.submit('l'))

    def test_L_27_SM_23_limits_fail_while_a_request_waits(self):
        """It waits on: the last known limits say that it will fit some time."""
        self.cloud.limits(instances=1)
        self.start(call_tries=1)
        nodes = self.use(self.submit('l'))
        waiting = self.submit('l')
        self.wait_for_paused()
        self.cloud.faults({**LIMITS, 'status': 500})
        self.submit('unknown').wait('failed')
        waiting.wait('pending')
        nodes.give_back()
        self.node_of(waiting)
        self.wait_for_paused(False)


class Labels(CloudCase):
    """Labels that can never work, and labels of which nobody can say."""

    def test_L_22_L_23_L_24_SM_24_permanently_broken(self):
        broken = label('x', flavor='no-such-flavor')
        launcher = self.start([broken, label('y')])
        request = self.submit('x')
        served = self.submit('y')
        self.assertEqual(len(request.wait('failed')['declined_by']), 1)
        line, = launcher.wait_for_log(f'{request.id}.*Declined')
        self.assertIn('node type(s) [x] not available', line)
        self.node_of(served)
        self.submit('x', 'y').wait('failed')
        self.submit('x').wait('failed')
        self.assertEqual(len(launcher.find_log('Label x cannot work')), 1)
        launcher.reload([self.cloud.provider('p', [label('x', flavor='medium'), label('y')])])
        self.node_of(self.submit('x'))

    def test_SM_24_broken_when_it_is_made(self):
        """The cost is known only then."""
        launcher = self.start([label('x', flavor='no-such-flavor', cost_after_create=True),
                               label('y')])
        self.submit('x').wait('failed')
        self.assertEqual(len(self.creates()), 1)
        self.submit('x').wait('failed')
        self.assertEqual(len(self.creates()), 1)
        launcher.wait_for_log('Label x cannot work')
        self.node_of(self.submit('y'))

    def test_L_25_a_label_that_nobody_knows_of(self):
        self.cloud.faults({'path': '^/flavors', 'status': 500})
        launcher = self.start([label('x'), label('y', cost_after_create=True)], call_tries=1)
        unknown = [self.submit('x') for _ in range(20)]
        for _ in range(3):
            self.node_of(self.submit('y'))
        states = {self.observer.sync().request(request.id)['state'] for request in unknown}
        self.assertEqual(states, {'requested'})
        self.assertLess(len(launcher.find_log('ERROR ')), 6)
        self.cloud.faults()
        self.node_of(unknown[0])

    def test_SM_27_image_that_is_not_there(self):
        self.cloud.settings(cloud_images=['another'])
        launcher = self.start()
        request = self.submit('l')
        request.wait('failed')
        launcher.wait_for_log(f'{request.id}.*Declined.*images are not available')
        self.assertEqual(self.creates(), [])

    def test_images_that_cannot_be_listed(self):
        """Nobody is refused because the cloud is away."""
        self.cloud.faults({'path': '^/images', 'status': 500})
        self.start(call_tries=1)
        request = self.submit('l')
        self.submit('unknown').wait('failed')
        self.assertEqual(self.observer.sync().request(request.id)['state'], 'requested')
        self.cloud.faults()
        self.node_of(request)


class Concurrency(CloudCase):
    def test_L_61_one_at_a_time(self):
        self.cloud.settings(active_after=1)
        self.start(max_concurrency=1)
        first, second, third = (self.submit('l') for _ in range(3))
        first.wait('pending')
        self.submit('unknown').wait('failed')
        self.assertEqual([self.observer.sync().request(one.id)['state']
                          for one in (first, second, third)],
                         ['pending', 'requested', 'requested'])
        self.node_of(first)
        self.node_of(second)
        self.node_of(third)
        # Never two that are not ended.
        ends = {path: self.observer.states(path) for path in self.node_paths()}
        self.assertEqual(set(map(tuple, ends.values())), {('init', 'building', 'ready')})
        self.assert_one_building()

    def assert_one_building(self, most=1):
        """At no time were more nodes in building."""
        building, seen = set(), 0
        for _, operations in self.observer.history:
            for operation in operations:
                if operation.path.rpartition('/')[0] == '/nodepool/nodes' and operation.data:
                    if '"building"' in operation.data:
                        building.add(operation.path)
                    else:
                        building.discard(operation.path)
            seen = max(seen, len(building))
        self.assertEqual(seen, most)

    def test_L_61_over_the_pools_of_a_provider(self):
        self.cloud.settings(active_after=0.5)
        self.start(max_concurrency=1, pools=[pool(), pool('other', labels('m'))])
        requests = [self.submit(name) for name in ('l', 'm', 'l', 'm')]
        for request in requests:
            self.node_of(request)
        self.assert_one_building()

    def test_paused_requests_do_not_count(self):
        """What waits for room in one pool does not keep another one from serving."""
        self.start(max_concurrency=1, pools=[pool(max_servers=1), pool('other', labels('m'))])
        self.use(self.submit('l'))
        self.submit('l')
        self.wait_for_paused()
        self.node_of(self.submit('m'))

    def test_L_62_none(self):
        launcher = self.start(max_concurrency=0)
        request, unknown = self.submit('l'), self.submit('unknown')
        self.launcher(self.cloud.provider('q', labels('m')))
        self.wait_for_pools('p-main', 'q-main')
        self.node_of(self.submit('m'))
        states = [self.observer.sync().request(one.id)['state'] for one in (request, unknown)]
        self.assertEqual(states, ['requested', 'requested'])
        launcher.wait_for_log('WARNING .*max-concurrency')

    def test_L_62_what_was_accepted_goes_on(self):
        pools = [pool(max_servers=1)]
        launcher = self.start(pools=pools)
        used = self.use(self.submit('l'))
        waiting = self.submit('l')
        self.wait_for_paused()
        launcher.reload([self.cloud.provider('p', pools=pools, max_concurrency=0)])
        used.give_back()
        self.node_of(waiting)


if __name__ == '__main__':
    unittest.main(verbosity=2)
