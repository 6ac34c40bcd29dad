"""Clouds that refuse, fail, forget or are away."""

import unittest

from cloud import Cloud
from cloud import label as small_label
from openstack_case import OpenStackCase
from openstack_cloud import CREATE, LIST, OpenStack, label
from zuul_client import run_job

COMPUTE = {'path': '/compute/'}


def ends_in_error(text, **rule):
    """A create that the cloud takes, and whose server then goes to ERROR."""
    return {**CREATE, **rule, 'machine': {'error': text}}


class Quota(OpenStackCase):
    def aborted(self):
        return self.node_paths('aborted')

    def check_quota(self, launcher, recover):
        """The next request is refused for quota, waits, and is served after `recover`."""
        since = self.cloud.mark()
        request = self.submit('l')
        self.wait(lambda _: self.aborted(), what='an aborted node')
        request.wait('pending')
        self.wait_for_paused()
        self.assertEqual(launcher.find_log('Launch attempt'), [])
        self.assertEqual(self.node_paths('failed'), [])
        creates = len(self.cloud.creates(since))
        self.assertLess(creates, 4)
        recover()
        self.node_of(request, limit=90)
        self.wait_for_books()

    def test_OS_35_F_57_instances(self):
        self.cloud.limits(instances=5)
        launcher = self.start()
        self.node_of(self.submit('l'))
        self.cloud.limits(instances=1)
        self.check_quota(launcher, lambda: self.cloud.limits(instances=5))
        launcher.wait_for_log('Quota exceeded for instances: Requested 1, but already used 1 of 1')

    def test_OS_36_volume_space(self):
        launcher = self.start([label(boot_from_volume=True, volume_size=50)])
        self.node_of(self.submit('l'))
        self.cloud.limits(gigabytes=60)
        self.check_quota(launcher, lambda: self.cloud.limits(gigabytes=100))
        launcher.wait_for_log('VolumeSizeExceedsAvailableQuota')

    def test_OS_37_volumes(self):
        launcher = self.start([label(boot_from_volume=True)])
        self.nodes_of(self.submit('l', 'l'))
        self.cloud.limits(volumes=2)
        self.check_quota(launcher, lambda: self.cloud.limits(volumes=3))
        launcher.wait_for_log('VolumeLimitExceeded')

    def test_OS_38_ports(self):
        self.cloud.limits(ports=1)
        launcher = self.start()
        first = self.submit('l')
        self.node_of(first)
        self.check_quota(launcher, lambda: self.give_back(first))
        launcher.wait_for_log('Maximum number of ports exceeded')

    def test_OS_39_fault_right_after_the_create(self):
        launcher = self.start()
        self.node_of(self.submit('l'))
        self.cloud.faults({**ends_in_error('quota server fault', times=1)})
        request = self.submit('l')
        self.node_of(request, limit=90)
        self.assertEqual(len(self.aborted()), 1)
        self.assertEqual(launcher.find_log('Launch attempt'), [])
        self.wait_for_books()

    def test_OS_55_OS_56_servers_of_others(self):
        """Also those of a flavor that is not there any more."""
        self.cloud.settings(microversion='2.30')
        self.cloud.limits(instances=-1, cores=16)
        self.cloud.make(count=2, flavor='large')
        self.start([label(flavor_name='large')])
        self.submit('l', 'l', 'l').wait('failed')
        self.nodes_of(self.submit('l', 'l'))

    def test_OS_56_deleted_flavor(self):
        self.cloud.settings(microversion='2.30')
        self.cloud.limits(instances=3)
        self.cloud.make(flavor='large')
        self.cloud.settings(flavors=[{'name': 'small', 'vcpus': 1, 'ram': 2048}])
        self.start()
        self.nodes_of(self.submit('l', 'l'))
        self.submit('l', 'l', 'l').wait('failed')

    def test_F_25_limits_are_not_told_for_a_while(self):
        """The last known ones are used."""
        self.start()
        self.node_of(self.submit('l'))
        self.cloud.faults({'method': 'GET', 'path': '/limits$', 'status': 500},
                          {**CREATE, 'times': 1, 'status': 403,
                           'body': 'Quota exceeded for cores: Requested 1, but already used 1 of 1 cores'})
        self.node_of(self.submit('l'), limit=90)


class Errors(OpenStackCase):
    def test_OS_40_no_valid_host(self):
        self.cloud.faults(ends_in_error('No valid host was found. '))
        launcher = self.start()
        self.submit('l').wait('failed', limit=60)
        self.assertEqual(len(self.creates()), 3)
        launcher.wait_for_log('attempt 3/3 failed.*No valid host was found')
        self.wait_for_nothing()

    def test_OS_41_no_text(self):
        self.cloud.faults(ends_in_error(None, times=1))
        launcher = self.start()
        self.node_of(self.submit('l'))
        launcher.wait_for_log('attempt 1/3 failed')
        self.wait_for_books()

    def test_F_33_at_once(self):
        """Nobody waits for a server in ERROR until its time is over."""
        self.cloud.faults(ends_in_error('Build of instance aborted: image is missing', times=2))
        launcher = self.start()
        self.node_of(self.submit('l'))
        launcher.wait_for_log('ERROR .*image is missing', count=2)
        self.assertEqual(len(self.creates()), 3)
        self.wait_for_books()

    def test_conflicts(self):
        """409 about networks cannot be helped; another 409 is one attempt."""
        self.cloud.settings(networks=[{'name': 'a'}, {'name': 'b'}])
        launcher = self.start([label('l'), label('m', networks=['a'])])
        self.submit('l').wait('failed')
        self.assertEqual(len(self.creates()), 1)
        launcher.wait_for_log('Multiple possible networks')
        self.submit('l').wait('failed')
        self.assertEqual(len(self.creates()), 1)
        self.cloud.faults({**CREATE, 'times': 1, 'status': 409, 'body': 'something is going on'})
        self.node_of(self.submit('m'))

    def test_failures_of_all_kinds(self):
        """Each makes one attempt fail, or none; nothing is left."""
        for fault in ({'status': 500}, {'half': True, 'drop': 'before'}, {'garbage': 'text'},
                      {'garbage': 'types'}, {'status': 502, 'body': '<html>bad</html>'}):
            with self.subTest(str(fault)):
                self.cloud.faults({**CREATE, **fault, 'times': 1})
                launcher = self.start(name='p') if not self.launchers else self.launchers[0]
                self.node_of(self.submit('l', reuse=False), limit=60)
                self.assertIsNone(launcher.process.poll())
        self.cloud.faults()
        self.wait_for_books(60)

    def test_forbidden(self):
        """403 that is not for quota: another attempt would end no otherwise."""
        self.cloud.faults({**CREATE, 'times': 1, 'status': 403, 'body': 'Policy does not allow it'})
        launcher = self.start()
        self.submit('l').wait('failed')
        launcher.wait_for_log('Policy does not allow it')
        self.assertEqual(self.node_paths('aborted'), [])
        self.node_of(self.submit('l'))

    def test_OS_73_slow_down(self):
        """429 is never taken for quota; the list is asked for again after the time that was said."""
        self.start()
        self.node_of(self.submit('l'))
        self.cloud.faults({**LIST, 'times': 1, 'status': 503, 'headers': {'Retry-After': '2'}},
                          {**CREATE, 'times': 1, 'status': 429, 'headers': {'Retry-After': '1'}})
        since = self.cloud.mark()
        self.node_of(self.submit('l'), limit=60)
        self.assertEqual(self.node_paths('aborted'), [])
        refused = next(index for index, entry in enumerate(self.cloud.lists(since))
                       if entry['status'] == 503)
        lists = self.cloud.lists(since)
        self.assertGreaterEqual(lists[refused + 1]['time'] - lists[refused]['time'], 1.9)

    def test_half_a_list(self):
        """An answer that ends in the middle says nothing; nobody's server is taken as gone."""
        self.start()
        first, _ = self.node_of(self.submit('l'))
        self.cloud.faults({**LIST, 'times': 3, 'half': True}, {**LIST, 'times': 3, 'garbage': 'types'})
        self.node_of(self.submit('l'), limit=60)
        self.assertIsNotNone(self.observer.sync().node(first))
        self.wait_for_books()


class Doubts(OpenStackCase):
    def test_OS_42_answer_to_a_create_lost(self):
        self.cloud.faults({**CREATE, 'times': 1, 'drop': 'after'})
        launcher = self.start()
        _, node = self.node_of(self.submit('l'), limit=60)
        server, = self.cloud.servers()
        self.assertEqual(server['id'], node['external_id'])
        self.assertEqual(launcher.find_log('Launch attempt'), [])

    def test_OS_42_half_of_the_answer(self):
        self.cloud.faults({**CREATE, 'times': 1, 'half': True})
        self.start()
        _, node = self.node_of(self.submit('l'), limit=60)
        self.wait_for_books(60)
        self.assertEqual([server['id'] for server in self.cloud.servers()], [node['external_id']])

    def test_OS_42_create_that_never_came(self):
        self.cloud.faults({**CREATE, 'times': 1, 'drop': 'before'})
        self.start()
        self.node_of(self.submit('l'), limit=60)
        self.wait_for_books(60)

    def test_OS_43_list_lags(self):
        self.cloud.faults({**LIST, 'lag': 5})
        launcher = self.start()
        self.node_of(self.submit('l'))
        self.assertEqual(launcher.find_log('Launch attempt'), [])
        self.assertEqual(len(self.creates()), 1)

    def test_OS_49_cell_is_down(self):
        """Records without anything: launches wait, and nothing is deleted."""
        launcher = self.start(launcher={'cleanup_interval': 1})
        first, _ = self.node_of(self.submit('l'))
        self.cloud.settings(active_after=1)
        request = self.submit('l')
        self.cloud.wait_for_servers(2)
        self.cloud.settings(cells_down=True)
        launcher.wait_for_log('Finished cleanup', launcher.mark(), count=3)
        self.assertEqual(self.observer.sync().request(request.id)['state'], 'pending')
        self.assertEqual(self.cloud.log('DELETE'), [])
        self.cloud.settings(cells_down=False)
        self.node_of(request)
        self.wait_for_books()

    def test_server_vanishes(self):
        self.cloud.faults({**CREATE, 'times': 1, 'machine': {'stuck': True}})
        self.start()
        request = self.submit('l')
        server, = self.cloud.wait_for_servers(1)
        self.cloud.wait(lambda _: len(self.cloud.lists()) > 2)
        self.cloud.remove('server', server['id'])
        self.node_of(request, limit=120)
        self.assertEqual(len(self.creates()), 2)


class Away(OpenStackCase):
    def test_OS_48_down_in_the_middle(self):
        """Nothing listens for a while: no launch is lost."""
        self.cloud.settings(active_after=3, limits={'instances': 100})
        launcher = self.start()
        requests = [self.submit('l') for _ in range(20)]
        self.cloud.wait(lambda state: len(state['servers']) >= 10)
        self.cloud.faults({**LIST, 'times': 1, 'restart': {'down': 4}})
        for request in requests:
            self.node_of(request, limit=90)
        self.assertEqual(launcher.find_log('attempt 3/3 failed'), [])
        self.wait_for_books()

    def test_F_47_stalled_cloud_harms_no_other(self):
        """All of Nova takes requests and never answers; another provider serves as ever."""
        with Cloud(active_after=0) as other:
            self.cloud.faults({**COMPUTE, 'never': 'before'})
            self.launcher(self.cloud.provider('p'),
                          other.provider('q', labels=[small_label('m')]))
            self.wait_for_pools('p-main', 'q-main')
            stalled = self.submit('l')
            for _ in range(3):
                run_job(self.scheduler, self.executor, ['m'])
            self.assertEqual(self.observer.sync().request(stalled.id)['state'], 'requested')
            self.cloud.faults()
            self.node_of(stalled, limit=120)

    def test_F_47_one_cloud_of_two_is_gone(self):
        """Two clouds of the same driver; one does not even listen."""
        with OpenStack() as gone:
            self.cloud.write_clouds({'fake': self.cloud.entry(), 'gone': gone.entry()})
            gone.stop()
            launcher = self.launcher(self.cloud.provider('p'),
                                     self.cloud.provider('q', [label('m')], cloud='gone'))
            self.wait_for_pools('p-main', 'q-main')
            waiting = self.submit('m')
            for _ in range(3):
                run_job(self.scheduler, self.executor, ['l'])
            launcher.wait_for_log('gone|refused|connect')
            gone.start()
            self.node_of(waiting, limit=120)


if __name__ == '__main__':
    unittest.main(verbosity=2)
