"""Everything at once: many clients, three launchers, two clouds that fail, machines cut into slots,
launchers that are killed, stopped, reloaded, or lose their session. In the end nothing is lost,
doubled, or left over.

DROVER_TEST_SEED repeats a run as far as threads allow. DROVER_TEST_STORM_MINUTES: how long storms
follow each other, at least one; DROVER_TEST_FULL makes each ten times as long.
"""

import os
import signal
import time
import unittest

from cloud import Cloud, label, pool
from crowd import Crowd
from launcher import machines, provider
from launcher_case import LauncherCase, is_full, seed_of
from metastatic_case import metastatic, slot_label

SECONDS = 5  # until a session of a stopped launcher is over, and a little more

POOLS = ('meta-main', 'meta-main', 'p-main', 'p-main', 'q-main', 'r-main', 's-main')
FAULTS = (
    {'method': 'POST', 'path': '^/machines$', 'probability': 0.06, 'status': 500},
    {'method': 'POST', 'path': '^/machines$', 'probability': 0.04, 'status': 403,
     'body': 'quota exceeded'},
    {'method': 'POST', 'path': '^/machines$', 'probability': 0.04, 'drop': 'after'},
    {'method': 'POST', 'path': '^/machines$', 'probability': 0.04, 'drop': 'before'},
    {'method': 'POST', 'path': '^/machines$', 'probability': 0.05,
     'machine': {'error': 'no valid host'}},
    {'method': 'POST', 'path': '^/machines$', 'probability': 0.03, 'machine': {'no_address': True}},
    {'method': 'POST', 'path': '^/machines$', 'probability': 0.02, 'machine': {'vanishes': 0.05}},
    {'method': 'DELETE', 'path': '^/machines', 'probability': 0.1, 'status': 500},
    {'method': 'DELETE', 'path': '^/machines', 'probability': 0.05, 'drop': 'after'},
    {'method': 'GET', 'path': '^/machines', 'probability': 0.02, 'garbage': 'text'},
    {'method': 'GET', 'path': '^/machines', 'probability': 0.02, 'half': True},
    {'method': 'GET', 'path': '^/limits', 'probability': 0.1, 'status': 503},
    {'probability': 0.05, 'delay': 0.2},
)


class Storm(LauncherCase):
    def setUp(self):
        super().setUp()
        self.clouds = [Cloud(active_after=0.1, delete_after=0.1).start() for _ in range(2)]
        for cloud in self.clouds:
            self.addCleanup(cloud.close)
            cloud.limits(instances=7)

    def provider(self, index, name, **options):
        return self.clouds[index].provider(
            name, pools=[pool(labels=[label('l'), label('m'), label('large')], **options)],
            launch_timeout=20)

    @staticmethod
    def slots():
        return metastatic(slot_label('s', 'large', max_parallel_jobs=3, grace_time=1),
                          launch_timeout=20)

    def start_all(self):
        """p at the first cloud, served twice; q at the second; static machines beside them; slots of
        machines of both clouds, given away by two launchers."""
        labels = [{'name': name, 'max-ready-age': 2} for name in ('l', 'm', 's', 'large')]
        options = {'cleanup_interval': 2, 'timeout': 3, 'labels': labels, 'debug': False}
        return [
            self.launcher(self.provider(0, 'p', max_servers=5), self.provider(1, 'q'),
                          self.slots(), **options),
            self.launcher(self.provider(0, 'p', max_servers=5), self.slots(), state=False,
                          **options),
            self.launcher(self.provider(1, 'r', max_servers=3), provider('s', machines(2, 'l')),
                          **options)]

    # ---- What happens to launchers ----

    def kill(self, launcher, chance):
        launcher.kill()
        launcher.start()

    def stop(self, launcher, chance):
        # One that has just been started may not listen to signals yet.
        self.assertIn(launcher.stop(), (0, -signal.SIGTERM))
        launcher.start()

    def freeze(self, launcher, chance):
        with launcher.frozen():
            time.sleep(chance.choice((0.2, SECONDS)))

    def reload(self, launcher, chance):
        with open(launcher.config_path, encoding='utf-8') as config:
            text = config.read()
        launcher.write_config(text.replace('"launch-timeout": 20', '"launch-timeout": 21')
                              if chance.random() < 0.5 else
                              text.replace('"launch-timeout": 21', '"launch-timeout": 20'))

    def weather(self, launcher, chance):
        for cloud in self.clouds:
            cloud.faults(*(FAULTS if chance.random() < 0.7 else ()))

    def test_L_17_L_102_L_108_FT_05_storm(self):
        chance = seed_of(self)
        launchers = self.start_all()
        self.wait_for_pools(*POOLS)
        end = time.monotonic() + 60 * float(os.environ.get('DROVER_TEST_STORM_MINUTES', 0))
        self.storm(launchers, chance)
        while time.monotonic() < end:
            self.storm(launchers, chance)

    def storm(self, launchers, chance):
        crowd = Crowd(self.hosts, chance, workers=8, labels=['l', 'l', 'm', 's', 's'], most_nodes=2,
                      may_fail=True).start(1500 if is_full() else 150)
        happenings = [self.kill, self.kill, self.stop, self.freeze, self.reload, self.weather,
                      self.weather]
        while not crowd.has_ended():
            crowd.wait_for_served(chance.randint(3, 12))
            chance.choice(happenings)(chance.choice(launchers), chance)
        for cloud in self.clouds:
            cloud.faults()
        crowd.join()
        print(f'{dict(crowd.counts)}', flush=True)
        self.assert_nothing_left()

    def assert_nothing_left(self):
        """All launchers are back, and nothing is there but the static machines, which are ready again,
        and records of nodes that were just being made when a session ended: those go after ten
        minutes (L-88)."""
        self.wait_for_pools(*POOLS)

        def is_over(cluster):
            nodes = [(node['provider'], node['state']) for node_id, node in cluster.nodes().items()
                     if node['state'] != 'init' or cluster.is_locked(node_id)]
            return not cluster.requests() and nodes == [('s', 'ready')] * 2

        self.wait(is_over, limit=90, what='an end')
        for cloud in self.clouds:
            cloud.wait_for_machines(0, limit=30)


if __name__ == '__main__':
    unittest.main(verbosity=2)
