"""A real cloud that refuses, breaks what it makes, or is away in the middle."""

import time
import unittest

from cloud import IMAGE
from figures import calls_of, load
from openstack_cloud import label
from real_case import LIMIT, ROOM, RealCase

# Seconds in which room that has become free is used, besides the time that a machine needs.
SOON = 60
# Of calls that nobody answers.
REFUSED = r'driver\.openstack.*(GET|POST|DELETE) .*[Cc]onnect'


class Quota(RealCase):
    def limit(self, instances):
        self.cloud.limit(instances)
        self.addCleanup(self.cloud.limit, ROOM)

    def refused(self, launcher):
        """A request that waits, as the cloud has refused for quota."""
        mark = launcher.mark()
        request = self.submit('l')
        launcher.wait_for_log('The cloud refuses for quota', mark, LIMIT)
        request.wait('pending')
        self.assertEqual(launcher.find_log('Launch attempt'), [])
        return request

    def served_soon(self, launcher, request):
        """After there is room again."""
        mark, began = launcher.mark(), time.monotonic()
        launcher.wait_for_log(r'POST http\S+/servers: 202', mark, SOON)
        print(f'room is used {time.monotonic() - began:.1f} s after it is there, {load()}',
              flush=True)
        self.fulfilled(request)

    def test_OS_35_F_57_more_is_allowed(self):
        launcher = self.start()
        first = self.submit('l')
        self.fulfilled(first)
        self.limit(1)
        mark = launcher.mark()
        second = self.refused(launcher)
        # It is known by then that there is no room, not just that the cloud has refused.
        launcher.wait_for_log(r'GET http\S+/limits: 200', mark, LIMIT)
        self.cloud.limit(ROOM)
        self.served_soon(launcher, second)
        self.give_back(first, second)

    def test_OS_35_F_57_a_machine_goes(self):
        launcher = self.start()
        first = self.submit('l')
        self.fulfilled(first)
        self.limit(1)
        second = self.refused(launcher)
        self.release(first)
        self.served_soon(launcher, second)
        self.give_back(second)

    def test_OS_55_a_stranger_goes(self):
        """A machine of somebody else is in the way; nobody tells when it goes."""
        stranger = self.cloud.make_server('stranger')
        self.limit(2)
        launcher = self.start()
        first = self.submit('l')
        self.fulfilled(first)
        second = self.submit('l')
        launcher.wait_for_log('Not enough quota.*limit 1', limit=LIMIT)
        self.cloud.user.compute.delete_server(stranger)
        self.served_soon(launcher, second)
        self.give_back(first, second)

    def test_OS_37_volumes(self):
        launcher = self.start(label(boot_from_volume=True, volume_size=1))
        first = self.submit('l')
        self.fulfilled(first)
        self.cloud.limit_volumes(1)
        self.addCleanup(self.cloud.limit_volumes, 10)
        second = self.refused(launcher)
        launcher.wait_for_log('VolumeLimitExceeded')
        self.cloud.limit_volumes(10)
        self.served_soon(launcher, second)
        self.give_back(first, second)


class Broken(RealCase):
    def test_OS_40_no_host_is_big_enough(self):
        launcher = self.start(label(flavor_name='nowhere'), launch_retries=2)
        self.submit('l').wait('failed', limit=LIMIT)
        launcher.wait_for_log('attempt 2/2 failed.*No valid host')
        self.wait_for_nothing()
        self.assertEqual(calls_of(launcher)['POST /v2.1/servers'], 2)

    def test_OS_41_server_in_error(self):
        """Without a word why. The attempt failed, its server goes, the next one works."""
        launcher = self.start()
        self.cloud.freeze('nova-compute')
        self.addCleanup(self.cloud.thaw, 'nova-compute')
        request = self.submit('l')
        server, = self.wait_for_server()
        self.cloud.break_server(server)
        launcher.wait_for_log('attempt 1/3 failed.*ERROR', limit=LIMIT)
        self.cloud.thaw('nova-compute')
        node, = self.fulfilled(request)
        self.assertNotEqual(node['external_id'], server)
        self.give_back(request)

    def test_image_that_is_deleted(self):
        image = self.cloud.make_image('mine', self.cloud.user)
        launcher = self.start(label('l', cloud_image='mine'), label('m'),
                              images=[IMAGE, {'name': 'mine', 'image-id': image}])
        request = self.submit('l')
        self.fulfilled(request)
        self.cloud.user.image.delete_image(image)
        self.submit('l', reuse=False).wait('failed', limit=LIMIT)
        launcher.wait_for_log('Can not find requested image')
        other = self.submit('m')
        self.fulfilled(other)
        self.give_back(request, other)

    def test_OS_26_image_that_comes_later(self):
        """Known by its name."""
        self.start(label('l', cloud_image='later'), images=[{'name': 'later'}])
        self.submit('l').wait('failed', limit=LIMIT)
        image = self.cloud.make_image('later', self.cloud.user)
        self.addCleanup(self.cloud.user.image.delete_image, image)
        request = self.wait_in_cloud(self.serve, 'a request that is served')
        self.release(request)
        self.wait(lambda cluster: not cluster.nodes(), LIMIT)

    def serve(self):
        """A request that was fulfilled; None: it failed."""
        request = self.submit('l')
        record = request.wait('failed', 'fulfilled', limit=LIMIT)
        return request if record['state'] == 'fulfilled' else None


class Away(RealCase):
    def wait_for_calls(self, launcher, count):
        """Until so many calls were in vain."""
        launcher.wait_for_log(REFUSED, launcher.mark(), LIMIT, count)

    def come_back(self):
        self.cloud.run_service('nova-api')
        self.cloud.wait_for_answer('nova')

    def test_OS_48_nova_in_the_middle(self):
        """Of launches, then of deletions: none is lost, nothing is left."""
        launcher = self.start(main={'auto-floating-ip': False})
        requests = [self.submit('l') for _ in range(20)]
        self.wait_for_server(5)
        self.cloud.stop_service('nova-api')
        requests += [self.submit('l') for _ in range(5)]
        self.wait_for_calls(launcher, 30)
        self.come_back()
        nodes = self.fulfilled(*requests)
        self.assertEqual(len({node['external_id'] for node in nodes}), 25)
        self.cloud.stop_service('nova-api')
        self.release(*requests)
        self.wait_for_calls(launcher, 30)
        self.come_back()
        self.wait_for_nothing()

    def test_hypervisor_is_killed_and_comes_back(self):
        """What was being built is in ERROR then, or is never built: it is made anew."""
        self.start(launch_timeout=60, launch_retries=5)
        requests = [self.submit('l') for _ in range(10)]
        self.wait_for_server(5)
        self.cloud.kill_service('nova-compute')
        self.cloud.run_service('nova-compute')
        self.fulfilled(*requests, limit=2 * LIMIT)
        self.give_back(*requests)

    def test_launcher_is_killed_and_comes_back(self):
        """It goes on with what it had begun."""
        launcher = self.start()
        requests = [self.submit('l') for _ in range(10)]
        self.wait_for_server(3)
        launcher.kill()
        launcher.start()
        self.fulfilled(*requests)
        self.assertEqual(len(self.cloud.left()['servers']), 10)
        self.give_back(*requests)


class Deleting(RealCase):
    def used(self):
        """(launcher, request, server) of a machine in use."""
        launcher, request = self.start(), self.submit('l')
        node, = self.fulfilled(request)
        return launcher, request, node['external_id']

    def test_OS_46_deleted_by_hand(self):
        _, request, server = self.used()
        self.cloud.user.compute.delete_server(server)
        self.give_back(request)

    def test_OS_71_locked_by_somebody(self):
        launcher, request, server = self.used()
        self.cloud.admin.compute.lock_server(server)
        self.release(request)
        launcher.wait_for_log('is locked', limit=LIMIT)
        self.assertEqual(self.cloud.left()['servers'], [server])
        self.cloud.admin.compute.unlock_server(server)
        self.wait_for_nothing()

    def test_server_in_error(self):
        """One that broke after it had been given away."""
        _, request, server = self.used()
        self.cloud.break_server(server)
        self.give_back(request)


if __name__ == '__main__':
    unittest.main(verbosity=2, warnings='ignore')
