"""Drivers in processes of their own: the same life, and what happens when such a process crashes,
hangs, talks nonsense, or loses its launcher."""

import os
import resource
import signal
import unittest

from cloud import label, pool
from cloud_case import CloudCase, labels
from http_site import WithStatsd
from launcher import machines, provider
from launcher_case import LauncherCase, seed_of

HOSTILE = os.path.join(os.path.dirname(os.environ['DROVER_DRIVER_PATH'].split(':')[0]),
                       'hostile-drivers', 'hostile')
ISOLATED = {'isolation': 'process'}


def read(path):
    try:
        with open(path, 'rb') as file:
            return file.read().decode(errors='replace')
    except (FileNotFoundError, ProcessLookupError):
        return ''


def hosts_of(pid):
    """The pids of the drivers' processes that the process started."""
    found = []
    for name in filter(str.isdigit, os.listdir('/proc')):
        words = read(f'/proc/{name}/cmdline').split('\0')
        status = read(f'/proc/{name}/stat').rpartition(')')[2].split()
        if '--serve' in words and status and status[1] == str(pid) and status[0] != 'Z':
            found.append(int(name))
    return found


def is_alive(pid):
    state = read(f'/proc/{pid}/stat').rpartition(')')[2].split()
    return bool(state) and state[0] != 'Z'


class IsolatedCase(CloudCase):
    cloud_settings = {'active_after': 1.0}

    def start(self, launcher=None, **options):
        return super().start(launcher={'cleanup_interval': 2, **(launcher or {})},
                             **{**ISOLATED, 'resume': True, **options})

    def host_of(self, launcher, other_than=None):
        """The pid of its driver's process, as soon as there is one."""
        self.observer.wait(lambda _: [pid for pid in hosts_of(launcher.pid) if pid != other_than],
                           what='a process for the driver')
        return hosts_of(launcher.pid)[0]

    def wait_for_end(self, pid):
        self.observer.wait(lambda _: not is_alive(pid), what=f'the end of {pid}')

    def wait_for_external_ids(self, count):
        self.wait(lambda cluster: sum(1 for node in cluster.nodes().values()
                                      if node['external_id']) == count,
                  what=f'{count} external ids')

    def state_of(self, launcher):
        return [one['state'] for one in launcher.command('status')['providers']]


class Life(IsolatedCase):
    def test_one_request(self):
        launcher = self.start()
        host = self.host_of(launcher)
        request = self.submit('l')
        _, node = self.node_of(request)
        machine, = self.cloud.machines()
        self.assertEqual(node['external_id'], machine['id'])
        self.assertEqual(node['resources']['instances'], 1)
        self.give_back(request)
        self.wait_for_no_nodes()
        self.cloud.wait_for_machines(0)
        self.assertEqual(hosts_of(launcher.pid), [host])

    def test_nothing_secret_is_in_its_title(self):
        launcher = self.start(token='very-secret-token')
        host = self.host_of(launcher)
        self.assertNotIn('very-secret', read(f'/proc/{host}/cmdline'))
        self.assertNotIn('very-secret', read(f'/proc/{host}/environ'))
        self.assertEqual(launcher.find_log('very-secret'), [])

    def test_it_may_open_as_many_files_as_its_launcher_at_the_start(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (500, hard))
        launcher = self.start()
        host = self.host_of(launcher)
        self.assertEqual(resource.prlimit(launcher.pid, resource.RLIMIT_NOFILE),
                         (min(hard, 65536), hard))
        self.assertEqual(resource.prlimit(host, resource.RLIMIT_NOFILE), (500, hard))

    def test_it_ends_with_its_launcher(self):
        launcher = self.start()
        host = self.host_of(launcher)
        self.assertEqual(launcher.stop(), 0)
        self.assertFalse(is_alive(host))

    def test_signals_to_the_whole_group_end_it_in_order(self):
        launcher = self.start()
        host = self.host_of(launcher)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            os.kill(host, number)
        self.node_of(self.submit('l'))
        self.assertEqual(hosts_of(launcher.pid), [host])
        self.assertEqual(launcher.stop(), 0)

    def test_reload_to_isolation_and_back(self):
        launcher = self.start()
        host = self.host_of(launcher)
        launcher.reload([self.cloud.provider('p')])
        self.wait_for_end(host)
        self.node_of(self.submit('l'))
        launcher.reload([self.cloud.provider('p', **ISOLATED)])
        self.host_of(launcher)
        self.node_of(self.submit('l'))

    def test_quota_and_room(self):
        self.cloud.limits(instances=1)
        self.start()
        first, second = self.submit('l'), self.submit('l')
        self.node_of(first)
        self.wait_for_paused()
        self.give_back(first)
        self.node_of(second)


class Crashes(IsolatedCase):
    def test_F_47_killed_while_a_machine_boots(self):
        launcher = self.start()
        request = self.submit('l')
        self.wait_for_external_ids(1)
        node_id, = self.observer.sync().nodes()
        host = self.host_of(launcher)
        os.kill(host, signal.SIGKILL)
        self.assertEqual(self.nodes_of(request), [node_id])
        self.assertEqual(len(self.cloud.creates()), 1)
        self.assertNotEqual(self.host_of(launcher), host)
        launcher.wait_for_log('unhealthy: the driver.s process was ended by signal 9')
        launcher.wait_for_log('healthy again')

    def test_killed_when_it_cannot_go_on(self):
        launcher = self.start(resume=False)
        request = self.submit('l')
        self.wait_for_external_ids(1)
        os.kill(self.host_of(launcher), signal.SIGKILL)
        self.node_of(request, 60)
        self.wait_for_books(60)

    def test_killed_again_and_again(self):
        chance = seed_of(self)
        launcher = self.start(pools=[pool(labels=[label('l')], max_servers=6)])
        requests = [self.submit(*['l'] * chance.randint(1, 2)) for _ in range(6)]
        host = None
        for _ in range(5):
            host = self.host_of(launcher, host)
            for _ in range(chance.randint(0, 20)):
                self.observer.sync()
            os.kill(host, signal.SIGKILL)
        for request in requests:
            request.wait('fulfilled', limit=120)
            nodes = self.executor.accept(request.id)
            nodes.use()
            nodes.give_back()
        self.wait(lambda cluster: not cluster.nodes() and not cluster.requests(), 120)
        self.cloud.wait_for_machines(0)
        self.assertEqual(self.state_of(launcher), ['running'])

    def test_it_hangs(self):
        launcher = self.start(driver_timeout=2)
        host = self.host_of(launcher)
        os.kill(host, signal.SIGSTOP)
        request = self.submit('l')
        launcher.wait_for_log('unhealthy: the driver has not come back', limit=30)
        self.assertFalse(is_alive(host))
        self.node_of(request, 60)
        self.assertEqual(len(self.cloud.creates()), 1)

    def test_launcher_is_killed(self):
        launcher = self.start()
        request = self.submit('l')
        self.wait_for_external_ids(1)
        node_id, = self.observer.sync().nodes()
        host = self.host_of(launcher)
        launcher.kill()
        self.wait_for_end(host)
        launcher.start()
        self.assertEqual(self.nodes_of(request), [node_id])
        self.assertEqual(len(self.cloud.creates()), 1)
        launcher.wait_for_log('Going on with the launch')

    def test_several_providers(self):
        """Each has a process of its own, and only one of them crashes."""
        one, two = (self.cloud.provider(name, labels=labels(name), resume=True, **ISOLATED)
                    for name in 'pq')
        launcher = self.launcher(one, two)
        self.wait_for_pools('p-main', 'q-main')
        self.observer.wait(lambda _: len(hosts_of(launcher.pid)) == 2)
        bad, good = sorted(hosts_of(launcher.pid),
                           key=lambda pid: 'p' not in read(f'/proc/{pid}/cmdline').split('\0'))
        os.kill(bad, signal.SIGKILL)
        self.node_of(self.submit('q'))
        self.node_of(self.submit('p'))
        self.assertIn(good, hosts_of(launcher.pid))


class Hostile(LauncherCase):
    def fail_at(self, attack):
        """Its request fails, and a request of another provider is served meanwhile."""
        bad = {'name': 'bad', 'driver': 'hostile', 'attack': attack, **ISOLATED,
               'pools': [{'name': 'main', 'labels': [{'name': 'h'}]}]}
        launcher = self.launcher(provider('good', machines(2)), bad, start=False)
        launcher.environment['DROVER_DRIVER_PATH'] = \
            f"{os.environ['DROVER_DRIVER_PATH']}:{HOSTILE}"
        launcher.start()
        self.wait_for_ready(2)
        self.wait_for_pools('bad-main', 'good-main')
        request = self.submit('h')
        launcher.wait_for_log('bad: unhealthy: ')
        self.job('l').give_back()
        request.wait('failed', limit=60)
        return launcher

    def test_F_47_crash(self):
        self.fail_at('crash').wait_for_log('ended by signal 6')

    def test_F_47_garbage_in_its_socket(self):
        self.fail_at('socket')

    def test_F_47_it_leaves(self):
        self.fail_at('leave').wait_for_log('ended with status 0')


class Cleaned(WithStatsd, LauncherCase):
    def test_M_22_counted(self):
        """What it says of cleaning comes through its process, as far as it makes sense."""
        hostile = {'name': 'p', 'driver': 'hostile', 'attack': 'cleaned', **ISOLATED,
                   'pools': [{'name': 'main', 'labels': [{'name': 'h'}]}]}
        launcher = self.launcher(hostile, start=False)
        launcher.environment['DROVER_DRIVER_PATH'] = HOSTILE
        launcher.start()
        self.wait_for_pools('p-main')
        self.submit('h')
        # Words without end, and what comes after the first 200, are one series.
        self.statsd.wait('nodepool.provider.p.leaked.name-0:1|c',
                         'nodepool.provider.p.leaked.other:2|c')
        # One more or less, as the other thread's is one of the 200 or not.
        self.assertIn(self.statsd.total('nodepool.provider.p.leaked.other') +
                      self.statsd.total('nodepool.provider.p.leaked.elsewhere'), (202, 203))
        self.assertEqual(self.statsd.values('nodepool.provider.p.leaked.name-200'), [])
        self.assertEqual(self.statsd.values('nodepool.provider.p.leaked.ports'), [])
        launcher.wait_for_log('WARNING .*cleaned what no metric can be called: left out')
        launcher.wait_for_log('WARNING .*cleaned more than there can be: left out')


class Static(LauncherCase):
    def test_jobs(self):
        launcher = self.launcher(provider('p', machines(3), **ISOLATED))
        self.wait_for_ready(3)
        self.job('l', 'l').give_back()
        self.wait_for_ready(3)
        host, = hosts_of(launcher.pid)
        os.kill(host, signal.SIGKILL)
        self.job('l').give_back()
        self.wait_for_ready(3)
        self.observer.wait(lambda _: hosts_of(launcher.pid) not in ([], [host]))


if __name__ == '__main__':
    unittest.main()
