"""A real Prometheus, Debian's, which scrapes a launcher and evaluates the alerts of packaging/."""

import http.client
import json
import os
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.parse

from http_site import METRICS, Site
from launcher import machine
from launcher_case import LauncherCase
from zookeeper import die_with_parent, free_port

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
ALERTS = f'{ROOT}/packaging/monitoring/drover-alerts.yml'
EXPORT = {'launcher': {'port': 0, 'listen_address': '127.0.0.1'}}
LIMIT = 120  # seconds
# In OpenMetrics, which Prometheus asks for, the name of a counter has no "_total".
TYPES = {'drover_zookeeper_connected': 'gauge', 'drover_nodes': 'gauge',
         'drover_zookeeper_session_losses': 'counter', 'drover_loop_lag_seconds': 'histogram',
         'process_resident_memory_bytes': 'gauge', 'process_cpu_seconds': 'counter'}


class Prometheus:
    """Ends with close(), or with the thread that started it."""

    def __init__(self, target):
        self.folder = tempfile.mkdtemp(prefix='drover-test-')
        self.port = free_port()
        self.log = open(f'{self.folder}/log', 'w+', encoding='utf-8')
        path = f'{self.folder}/prometheus.yml'
        with open(path, 'w', encoding='utf-8') as out:
            json.dump({'global': {'scrape_interval': '1s', 'evaluation_interval': '1s'},
                       'rule_files': [ALERTS],
                       'scrape_configs': [{'job_name': 'drover',
                                           'static_configs': [{'targets': [target]}]}]}, out)
        self.process = subprocess.Popen(
            ['prometheus', f'--config.file={path}', f'--storage.tsdb.path={self.folder}/data',
             f'--web.listen-address=127.0.0.1:{self.port}'],
            stdout=self.log, stderr=subprocess.STDOUT, preexec_fn=die_with_parent)

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder)

    def ask(self, what, **parameters):
        """None as long as it does not answer."""
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=30)
        try:
            connection.request('GET', f'/api/v1/{what}?{urllib.parse.urlencode(parameters)}')
            answer = json.loads(connection.getresponse().read())
        except (OSError, ValueError, http.client.HTTPException):
            return None
        finally:
            connection.close()
        return answer['data'] if answer['status'] == 'success' else None

    def values(self, query):
        return [float(one['value'][1])
                for one in (self.ask('query', query=query) or {'result': []})['result']]

    def rules(self):
        return [rule for group in (self.ask('rules') or {'groups': []})['groups']
                for rule in group['rules']]

    def wait(self, condition):
        """It scrapes and evaluates once a second; nothing tells when. The condition's value."""
        deadline = time.monotonic() + LIMIT
        while not (value := condition()):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.log.seek(0)
                raise AssertionError(f'it does not happen:\n{self.log.read()}')
            time.sleep(0.1)
        return value


class PrometheusTest(LauncherCase):
    def setUp(self):
        super().setUp()
        launcher = self.start_with(machine('127.0.10.1'), prometheus=EXPORT)
        self.wait_for_ready(1)
        site = Site(launcher, METRICS)
        self.prometheus = Prometheus(f'{site.host}:{site.port}')
        self.addCleanup(self.prometheus.close)
        self.prometheus.wait(lambda: self.prometheus.values('up{job="drover"} == 1'))

    def test_scrape(self):
        prometheus = self.prometheus
        prometheus.wait(lambda: prometheus.values('drover_zookeeper_connected') == [1])
        prometheus.wait(lambda: prometheus.values('sum(drover_nodes{state="ready"})') == [1])
        self.assertEqual(prometheus.values('drover_zookeeper_session_losses_total'), [0])
        self.assertGreater(prometheus.values('process_resident_memory_bytes')[0], 1e6)
        self.assertGreater(prometheus.values('drover_loop_lag_seconds_count')[0], 0)
        known = prometheus.ask('metadata')
        self.assertEqual({name: known[name][0]['type'] for name in TYPES}, TYPES)

    def test_alerts_are_evaluated(self):
        rules = self.prometheus.wait(self.evaluated)
        self.assertGreater(len(rules), 5)
        self.assertEqual([(rule['name'], rule.get('lastError')) for rule in rules
                          if rule['health'] != 'ok'], [])
        self.assertEqual([rule['name'] for rule in rules if rule['state'] == 'firing'], [])

    def evaluated(self):
        """The rules, when each was evaluated once."""
        rules = self.prometheus.rules()
        return rules if rules and all(rule['health'] != 'unknown' for rule in rules) else None


if __name__ == '__main__':
    unittest.main(verbosity=2)
