"""Many servers: pages, and how many calls they cost."""

import time
import unittest

from openstack_case import OpenStackCase
from openstack_cloud import CREATE, LIST

MANY = 100


class Many(OpenStackCase):
    cloud_settings = {'limits': {'instances': -1, 'cores': -1, 'ram': -1, 'ports': -1,
                                 'volumes': -1, 'gigabytes': -1}}

    def test_F_13_a_hundred_at_once(self):
        """One list for all of them, at most one a second; one create and one DELETE each."""
        self.cloud.settings(active_after=2, delete_after=1)
        launcher = self.start()
        since, began = self.cloud.mark(), time.monotonic()
        requests = [self.submit(*['l'] * 10) for _ in range(MANY // 10)]
        for request in requests:
            self.nodes_of(request, limit=120)
        for request in requests:
            self.give_back(request)
        self.wait_for_nothing(120)
        seconds = time.monotonic() - began
        log = self.cloud.log(since=since)
        self.assertEqual(len([entry for entry in log if entry['method'] == 'POST' and
                              entry['path'].endswith('/servers')]), MANY)
        self.assertEqual(len([entry for entry in log if entry['method'] == 'DELETE']), MANY)
        self.assertLessEqual(len(self.cloud.lists(since)), seconds + 2)
        others = [entry for entry in log if entry['method'] == 'GET' and
                  not entry['path'].endswith('servers/detail')]
        self.assertLessEqual(len(others), 30)
        self.assertEqual(launcher.find_log('Launch attempt'), [])

    def test_lists_do_not_wait_for_creates(self):
        """Creates take all the connections that operations have, again and again."""
        self.start()
        self.node_of(self.submit('l'))
        since = self.cloud.mark()
        self.cloud.faults({**CREATE, 'delay': 3})
        requests = [self.submit('l') for _ in range(30)]
        for request in requests:
            self.node_of(request, limit=60)
        creates = [entry['time'] for entry in self.cloud.creates(since)]
        self.assertGreater(creates[20] - creates[10], 2)
        self.assertTrue([entry for entry in self.cloud.lists(since)
                         if creates[10] < entry['time'] < creates[20]])

    def test_OS_57_F_35_pages(self):
        """All pages are followed, at most one list a second."""
        self.cloud.settings(page=200)
        self.cloud.limits(instances=1202)
        self.cloud.make(count=1200)
        self.start()
        self.nodes_of(self.submit('l', 'l'), limit=60)
        self.submit('l', 'l', 'l').wait('failed', limit=60)
        first = [entry['time'] for entry in self.cloud.lists() if 'marker' not in entry['query']]
        self.assertLessEqual(len(first), first[-1] - first[0] + 2)
        self.assertGreaterEqual(len(self.cloud.lists()) - len(first), 6)

    def test_OS_58_F_35_page_that_is_its_own_next(self):
        launcher = self.start()
        self.node_of(self.submit('l'))
        since = self.cloud.mark()
        self.cloud.faults({**LIST, 'garbage': 'endless'})
        request = self.submit('l')
        launcher.wait_for_log('(marker|page|next)')
        self.assertLess(len(self.cloud.lists(since)), 20)
        self.cloud.faults()
        self.node_of(request, limit=60)
        self.wait_for_books()

    def test_F_35_marker_of_a_deleted_server(self):
        """400: the list is begun again."""
        self.cloud.settings(page=2)
        self.start()
        for _ in range(3):
            self.node_of(self.submit('l'))
        self.cloud.faults({**LIST, 'skip': 1, 'times': 1, 'status': 400,
                           'body': 'marker [x] not found'})
        self.node_of(self.submit('l'), limit=60)
        self.wait_for_books()

    def test_OS_68_rate(self):
        """Creates are apart once the credit is used."""
        self.cloud.settings(active_after=0)
        self.start(rate=0.25)
        requests = [self.submit('l') for _ in range(20)]
        for request in requests:
            self.node_of(request, limit=90)
        times = [entry['time'] for entry in self.cloud.creates()]
        compute = [entry['time'] for entry in self.cloud.log() if '/compute/' in entry['path']]
        self.assertGreaterEqual(compute[-1] - compute[0], (len(compute) - 11) * 0.25 * 0.9)
        self.assertEqual(len(times), 20)


class Standby(OpenStackCase):
    def test_F_23_cloud_that_cannot_deliver(self):
        """Attempts for standby nodes grow apart; nothing is left of them."""
        self.cloud.faults({**CREATE, 'machine': {'error': 'No valid host was found. ', 'after': 0}})
        self.start(launcher={'labels': [{'name': 'l', 'min-ready': 3}]}, launch_retries=1)
        self.cloud.wait(lambda _: len(self.cloud.creates()) >= 6, 60)
        times = [entry['time'] for entry in self.cloud.creates()]
        self.assertGreater(times[5] - times[0], 2)
        self.cloud.faults()
        self.wait_for_ready(3)


if __name__ == '__main__':
    unittest.main(verbosity=2)
