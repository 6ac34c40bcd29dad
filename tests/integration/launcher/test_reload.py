"""Changes of the configuration while the launcher runs."""

import json
import os
import signal
import threading
import time
import unittest

from launcher import machine, machines, provider
from launcher_case import LauncherCase, seed_of
from sshd import Sshd
from zuul_client import run_job

STARTED = 'Provider {} started'


class Reload(LauncherCase):
    def two_providers(self, **first):
        return [provider('p', machines(2), **first), provider('q', machines(1, 'm', 11))]

    def start_two(self):
        launcher = self.launcher(*self.two_providers())
        self.wait_for_ready(3)
        self.wait_for_pools('p-main', 'q-main')
        return launcher

    def test_L_90_F_49_same_values_in_other_words(self):
        launcher = self.start_two()
        with open(launcher.config_path, encoding='utf-8') as file:
            values = json.load(file)

        def reorder(value):
            if isinstance(value, dict):
                return {key: reorder(value[key]) for key in reversed(value)}
            return [reorder(one) for one in value] if isinstance(value, list) else value

        launcher.write_config('# The same, backwards.\n' + json.dumps(reorder(values)) + '\n\n')
        launcher.wait_for_log('Using the configuration')
        run_job(self.scheduler, self.executor, ['l'])
        self.assertEqual(len(launcher.find_log(STARTED.format('p'))), 1)
        self.assertEqual(len(launcher.find_log(STARTED.format('q'))), 1)

    def test_L_91_only_what_changed_restarts(self):
        launcher = self.start_two()
        ids = {pool['provider_name']: pool['id'] for pool in self.observer.sync().pools().values()}
        nodes = self.job('l')
        launcher.reload(self.two_providers(max_concurrency=7))
        launcher.wait_for_log(STARTED.format('p'), count=2)
        self.assertEqual(len(launcher.find_log(STARTED.format('q'))), 1)
        nodes.give_back()
        run_job(self.scheduler, self.executor, ['l', 'l'])
        # The pool is the same one for everybody else.
        self.assertEqual({pool['provider_name']: pool['id']
                          for pool in self.observer.sync().pools().values()}, ids)

    def test_L_91_request_under_way(self):
        # Its machine is being asked when the provider gets a new object.
        sshd = Sshd()
        self.addCleanup(sshd.close)
        sshd.start()
        one = machine('127.0.0.1', checked=True, connection_port=sshd.port, timeout=10)
        launcher = self.launcher(provider('p', [one]))
        self.wait_for_ready(1)
        sshd.stop()
        request = self.submit('l')
        launcher.wait_for_log(f'{request.id}.*Assigning')
        sshd.start()
        launcher.reload([provider('p', [one], priority=7)])
        request.wait('fulfilled')

    def test_L_92_R_29_F_49_broken_file(self):
        launcher = self.start_two()
        mark = launcher.mark()
        launcher.write_config('zookeeper-servers: [{host: ')
        launcher.wait_for_log(r'ERROR .*nodepool\.yaml:1:\d+', mark)
        launcher.wait_for_log('the running one stays in force', mark)
        run_job(self.scheduler, self.executor, ['l'])
        one, = machines(1)
        launcher.configure([provider('p', [one, one])])
        launcher.wait_for_log(r'ERROR .*nodepool\.yaml:\d+:\d+: .*127\.0\.10\.1')
        os.unlink(launcher.config_path)
        run_job(self.scheduler, self.executor, ['l'])
        self.assertEqual(launcher.find_log('Using the configuration'), [])
        launcher.reload([provider('p', machines(3))])
        self.wait_for_ready(3, 'l')
        # It is said once, not at every look.
        self.assertEqual(len(launcher.find_log('ERROR .*the same|ERROR .*127')), 1)

    def test_C_56_file_missing_for_a_moment(self):
        launcher = self.start_two()
        mark = launcher.mark()
        os.unlink(launcher.config_path)
        time.sleep(1)  # this is the moment
        launcher.configure([provider('p', machines(3)), provider('q', machines(1, 'm', 11))])
        run_job(self.scheduler, self.executor, ['l'])
        launcher.wait_for_log('Using the configuration', mark)
        self.wait_for_ready(4)
        self.assertEqual(launcher.find_log(' ERROR ', mark), [])
        self.assertEqual(len(launcher.find_log(STARTED.format('q'))), 1)

    def test_C_57_broken_file_is_repaired(self):
        launcher = self.start_two()
        refused = 'the running one stays in force'
        waiting = self.submit('l', 'l', 'l')
        mark = launcher.mark()
        launcher.write_config('providers: [')
        launcher.wait_for_log(refused, mark)
        launcher.wait_for_log('Not now', launcher.mark(), count=3)  # it was looked at three times
        self.assertEqual(len(launcher.find_log(r' ERROR .*nodepool\.yaml:1:', mark)), 1)
        mark = launcher.mark()
        launcher.signal(signal.SIGHUP)
        launcher.wait_for_log(refused, mark)
        self.assertEqual(len(launcher.find_log(r' ERROR .*nodepool\.yaml:1:', mark)), 1)
        run_job(self.scheduler, self.executor, ['m'])
        self.assertEqual(launcher.find_log('Using the configuration'), [])
        launcher.reload([provider('p', machines(3)), provider('q', machines(1, 'm', 11))])
        waiting.wait('fulfilled')

    def test_C_61_changes_that_need_a_restart(self):
        """They are named, and the rest of the file is used."""
        sshd = Sshd()  # has files that can be read
        self.addCleanup(sshd.close)
        files = {'cert': f'{sshd.folder}/0.pub', 'key': f'{sshd.folder}/0',
                 'ca': f'{sshd.folder}/0.pub'}
        launcher = self.launcher(provider('p', machines(1)))
        self.wait_for_ready(1)
        chroot = launcher.chroot
        for count, (changed_chroot, options) in enumerate((
                (f'{chroot}/elsewhere', {}), (chroot, {}), (chroot, {'zookeeper_tls': files}),
                (chroot, {})), 2):
            mark = launcher.mark()
            launcher.chroot = changed_chroot
            launcher.reload([provider('p', machines(count))], **options)
            launcher.wait_for_log('WARNING .*restart the launcher', mark)
            self.wait_for_ready(count)
        run_job(self.scheduler, self.executor, ['l'])
        self.assertEqual(launcher.find_log('suspended|session lost'), [])

    def test_L_94_Z_44_provider_removed(self):
        launcher = self.start_two()
        nodes = self.job('l')
        waiting = [self.submit('l', 'l', 'l'), self.submit('l', 'l')]
        before = set(self.observer.sync().pools())
        launcher.reload([provider('q', machines(1, 'm', 11))])
        self.wait_for_pools('q-main')
        self.assertLess(set(self.observer.sync().pools()), before)
        for request in waiting:  # nobody has the label any more
            request.wait('failed')
        self.assertEqual(self.observer.sync().node(nodes.ids[0])['state'], 'in-use')
        run_job(self.scheduler, self.executor, ['m'])
        # What it had is stranded until somebody has it in his configuration.
        nodes.give_back()
        launcher.reload(self.two_providers())
        self.wait_for_ready(3)

    def test_L_95_F_47_provider_that_cannot_start(self):
        # The driver is not installed: the other provider serves all the same.
        launcher = self.launcher(start=False)
        launcher.write_config(json.dumps({
            'zookeeper-servers': [{'host': '127.0.0.1', 'port': self.server.port,
                                   'chroot': self.chroot}],
            'labels': [{'name': 'l'}, {'name': 'm'}],
            'providers': [provider('q', machines(1, 'm', 11)),
                          {'name': 'p', 'driver': 'unheard-of', 'pools': []}]}))
        launcher.start()
        launcher.wait_for_log('ERROR .*unheard-of')

    def test_L_97_Z_43_label_added(self):
        launcher = self.start_with(machine('127.0.10.1', 'a'))
        name, = self.observer.sync().pools()
        launcher.reload([provider('p', [machine('127.0.10.1', 'a b')])])
        self.wait(lambda cluster: cluster.pools()[name]['supported_labels'] == ['a', 'b'])
        self.assertEqual(self.observer.tree.get(f'/nodepool/components/pool/{name}').version, 1)
        run_job(self.scheduler, self.executor, ['b'])
        launcher.reload([provider('p', [machine('127.0.10.1', 'a b')], priority=5)])
        self.wait(lambda cluster: cluster.pools()[name]['priority'] == 5)

    def test_reload_on_request(self):
        launcher = self.start_two()
        launcher.signal(signal.SIGHUP)
        launcher.wait_for_log('Using the configuration')
        run_job(self.scheduler, self.executor, ['l'])

    def test_changes_under_load(self):
        # Requests go on while providers and slots come and go.
        random = seed_of(self)
        launcher = self.launcher(provider('p', machines(3, max_parallel_jobs=2)))
        self.wait_for_ready(6)
        failures = []

        def work(scheduler, executor, count):
            try:
                for _ in range(count):
                    run_job(scheduler, executor, ['l'])
            except Exception as problem:  # pylint: disable=broad-except
                failures.append(problem)

        from zuul_client import Executor, Scheduler
        clients = [(Scheduler(self.hosts), Executor(self.hosts)) for _ in range(3)]
        threads = [threading.Thread(target=work, args=(*pair, 40)) for pair in clients]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            launcher.reload([provider('p', machines(random.randint(1, 4),
                                                    max_parallel_jobs=random.randint(1, 3)),
                                      priority=random.randint(1, 200))])
        for scheduler, executor in clients:
            scheduler.close()
            executor.close()
        self.assertEqual(failures, [])
        launcher.reload([provider('p', machines(2, max_parallel_jobs=2))])
        self.wait(lambda cluster: len(cluster.nodes()) == len(cluster.ready_nodes()) == 4)


if __name__ == '__main__':
    unittest.main(verbosity=2)
