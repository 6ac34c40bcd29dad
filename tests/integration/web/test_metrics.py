"""Metrics and probes of a launcher, read by Prometheus' own parsers."""

import os
import socket
import subprocess
import unittest

from cloud import label, pool
from cloud_case import CREATE, CloudCase
from http_site import METRICS, Site, Statsd, sample
from launcher import machine, machines, provider
from launcher_case import LauncherCase
from zookeeper import free_port

EXPORT = {'launcher': {'port': 0, 'listen_address': '127.0.0.1'}}
PROBES = ('/health/live', '/health/ready', '/health/status')
STATES = ('initializing', 'running', 'paused', 'stopped')


class Probes(LauncherCase):
    def probe(self, site):
        """The codes of liveness and readiness, and the state."""
        live, ready, status = (site.get(path) for path in PROBES)
        self.assertEqual((live.body, ready.body), (b'', b''))
        self.assertTrue(status.headers['Content-Type'].startswith('text/plain'))
        return live.status, ready.status, status.text

    def test_M_28_M_29_start(self):
        launcher = self.launcher(provider('p', machines(1)), prometheus=EXPORT, port=free_port())
        site = Site(launcher, METRICS)
        self.assertEqual(self.probe(site), (200, 503, 'INITIALIZING'))
        self.assertEqual(sample(site.samples(), 'drover_zookeeper_connected'), 0)
        launcher.reload([provider('p', machines(1))], prometheus=EXPORT, zookeeper_servers=[
            {'host': '127.0.0.1', 'port': self.server.port, 'chroot': self.chroot}])
        self.wait_for_ready(1)
        self.assertEqual(self.probe(site), (200, 200, 'RUNNING'))

    def test_M_31_zookeeper_away(self):
        self.own_server = True
        server = self._new_server()
        launcher = self.launcher(provider('p', machines(1)), prometheus=EXPORT, start=False)
        launcher.configure([provider('p', machines(1))], prometheus=EXPORT, zookeeper_servers=[
            {'host': '127.0.0.1', 'port': server.port}])
        launcher.start()
        site = Site(launcher, METRICS)
        site.wait_for_sample('drover_zookeeper_connected', 1)
        site.wait_for_sample('drover_component_state', 1, component='launcher', state='running')
        server.stop()
        site.wait_for_sample('drover_zookeeper_connected', 0)
        self.assertEqual(self.probe(site), (200, 200, 'RUNNING'))

    def test_M_32_paused_and_stopping(self):
        launcher = self.start_with(machine('127.0.10.1'), prometheus=EXPORT)
        site = Site(launcher, METRICS)
        launcher.command('pause')
        self.assertEqual(self.probe(site), (200, 200, 'PAUSED'))
        launcher.command('unpause')
        self.submit('l').wait('fulfilled')
        self.assertEqual(self.probe(site), (200, 200, 'RUNNING'))

    def test_M_33_M_34_M_35_paths(self):
        site = Site(self.start_with(machine('127.0.10.1'), prometheus=EXPORT), METRICS)
        for path in ('/metrics', '/', '/metrics?x=1'):
            answer = site.get(path)
            self.assertEqual((answer.status, answer.headers['Content-Type']),
                             (200, 'text/plain; version=0.0.4; charset=utf-8'))
            self.assertIn('\nprocess_resident_memory_bytes ', answer.text)
        for path in ('/healthy/ready', '/health', '/metrics/', '/health/ready/', '//metrics',
                     '/node-list', '/health/../metrics'):
            answer = site.get(path)
            self.assertEqual(answer.status, 404, path)
            self.assertNotIn('drover_', answer.text)
        self.assertEqual(site.get('/health/ready?x=1').status, 200)
        self.assertEqual(site.request('HEAD', '/metrics').status, 200)
        self.assertEqual(site.request('POST', '/metrics').status, 405)

    def test_M_37_no_listener(self):
        launcher = self.start_with(machine('127.0.10.1'))
        self.assertEqual(launcher.find_log('listening on'), [])

    def test_M_38_ipv6(self):
        where = {'launcher': {'port': 0, 'listen_address': '::1'}}
        site = Site(self.start_with(machine('127.0.10.1'), prometheus=where), METRICS)
        self.assertEqual((site.host, site.get('/health/live').status), ('::1', 200))

    def test_environment(self):
        os.environ['DROVER_PROMETHEUS_PORT'], os.environ['DROVER_PROMETHEUS_ADDR'] = '0', '127.0.0.3'
        self.addCleanup(os.environ.pop, 'DROVER_PROMETHEUS_PORT')
        self.addCleanup(os.environ.pop, 'DROVER_PROMETHEUS_ADDR')
        site = Site(self.start_with(machine('127.0.10.1')), METRICS)
        self.assertEqual((site.host, site.get('/health/live').status), ('127.0.0.3', 200))

    def test_port_taken(self):
        with socket.socket() as taken:
            taken.bind(('127.0.0.1', 0))
            taken.listen()
            port = taken.getsockname()[1]
            launcher = self.launcher(provider('p', machines(1)), start=False, prometheus={
                'launcher': {'port': port, 'listen_address': '127.0.0.1'}})
            launcher.start()
            self.assertEqual(launcher.wait_for_exit(), 1)
        self.assertIn(f'Metrics: cannot listen on 127.0.0.1 port {port}', launcher.lines[-1])

    def test_hung_launcher_does_not_look_alive(self):
        launcher = self.start_with(machine('127.0.10.1'), prometheus=EXPORT)
        site = Site(launcher, METRICS)
        with launcher.frozen(), self.assertRaises(TimeoutError):
            site.request('GET', '/health/live', limit=1)
        self.assertEqual(site.get('/health/live').status, 200)


class Metrics(LauncherCase):
    def test_promtool_finds_nothing(self):
        site = Site(self.start_with(machine('127.0.10.1'), prometheus=EXPORT), METRICS)
        self.submit('l').wait('fulfilled')
        site.wait_for_sample('drover_stats_leader', 1)
        text = site.get('/metrics').body
        found = subprocess.run(['promtool', 'check', 'metrics'], input=text, capture_output=True)
        self.assertEqual((found.returncode, found.stdout, found.stderr), (0, b'', b''))

    def test_open_metrics(self):
        from prometheus_client.openmetrics.parser import text_string_to_metric_families
        site = Site(self.start_with(machine('127.0.10.1'), prometheus=EXPORT), METRICS)
        answer = site.get('/metrics', 'application/openmetrics-text;version=1.0.0,'
                                      'text/plain;version=0.0.4;q=0.5,*/*;q=0.1')
        self.assertTrue(answer.headers['Content-Type'].startswith('application/openmetrics-text'))
        names = {family.name for family in text_string_to_metric_families(answer.text)}
        self.assertIn('drover_zookeeper_session_losses', names)

    def test_M_36_two_launchers(self):
        sites = [Site(self.launcher(provider(name, machines(count, network=10 + count)),
                                    prometheus=EXPORT), METRICS)
                 for name, count in (('p', 1), ('q', 2))]
        self.wait_for_ready(3)
        def total():
            return sum(value for site in sites for (name, labels), value in site.samples().items()
                       if name == 'drover_nodes')
        self.wait(lambda _: total() == 3, what='three nodes in all')
        self.assertEqual(sorted(sample(site.samples(), 'drover_stats_leader') for site in sites),
                         [0, 1])

    def test_nodes_and_requests(self):
        launcher = self.start_with(*machines(2, 'l1 l2'), prometheus=EXPORT)
        site = Site(launcher, METRICS)
        job = self.job('l1')
        self.submit('nope').wait('failed')
        site.wait_for_sample('drover_nodes', 1, provider='p', pool='main', state='in-use')
        site.wait_for_sample('drover_label_nodes', 1, label='l2', state='ready')
        site.wait_for_sample('drover_node_requests', 1, state='failed')
        samples = site.samples()
        self.assertEqual(sample(samples, 'drover_nodes', provider='p', pool='main',
                                state='deleting'), 0)
        self.assertEqual(sample(samples, 'drover_pool_max_servers', provider='p', pool='main'),
                         float('inf'))  # M-39
        self.assertEqual(sample(samples, 'drover_pool_paused', provider='p', pool='main'), 0)
        self.assertEqual(sample(samples, 'drover_node_request_duration_seconds_count',
                                provider='p', pool='main', result='fulfilled'), 1)
        self.assertEqual(sample(samples, 'drover_node_request_duration_seconds_count',
                                provider='p', pool='main', result='failed'), 1)
        self.assertEqual(sample(samples, 'drover_node_request_declines_total', provider='p',
                                pool='main', reason='labels'), 1)
        self.assertEqual(sample(samples, 'drover_zookeeper_cache_objects', cache='node'), 2)
        self.assertEqual([sample(samples, 'drover_component_state', component='launcher',
                                 state=state) for state in STATES], [0, 1, 0, 0])
        self.assertGreater(sample(samples, 'drover_loop_lag_seconds_count'), 0)
        self.assertEqual(sample(samples, 'drover_http_connections', listener='metrics'), 1)
        job.give_back()

    def test_M_39_unlimited_and_tenants(self):
        limits = [{'tenant-name': 'tenant-1', 'max-cores': 8}]
        site = Site(self.start_with(machine('127.0.10.1'), prometheus=EXPORT,
                                    tenant_resource_limits=limits), METRICS)
        site.wait_for_sample('drover_tenant_limit', 8, tenant='tenant-1', resource='cores')
        site.wait_for_sample('drover_tenant_usage', 0, tenant='tenant-1', resource='cores')
        samples = site.samples()
        self.assertEqual(sample(samples, 'drover_tenant_limit', tenant='tenant-1', resource='ram'),
                         float('inf'))
        self.assertEqual(sample(samples, 'drover_pool_max_servers', provider='p', pool='main'),
                         float('inf'))


class OfClouds(CloudCase):
    def test_M_40_counters_agree(self):
        statsd = Statsd()
        self.addCleanup(statsd.close)
        for name, value in statsd.environment.items():
            os.environ[name] = value
            self.addCleanup(os.environ.pop, name)
        self.cloud.faults({**CREATE, 'times': 1, 'status': 400})
        launcher = self.start(launcher={'prometheus': EXPORT})
        site = Site(launcher, METRICS)
        self.node_of(self.submit('l'), limit=60)
        statsd.wait('nodepool.launch.ready:1|c')
        samples = site.samples()
        by_result = {}
        for (name, labels), value in samples.items():
            if name == 'drover_node_launches_total':
                result = dict(labels)['result']
                by_result[result] = by_result.get(result, 0) + value
        self.assertEqual(by_result, {result: statsd.total(f'nodepool.launch.{result}')
                                     for result in by_result})
        self.assertEqual(by_result['ready'], 1)
        codes = {dict(labels)['code']: value for (name, labels), value in samples.items()
                 if name == 'drover_cloud_api_requests_total' and
                 ('operation', 'machines') in labels and ('method', 'POST') in labels}
        self.assertEqual((codes['400'], sum(codes.values())), (1, 2))
        self.assertEqual(len(by_result), 2)

    def test_M_30_quota(self):
        self.cloud.limits(instances=1)
        launcher = self.start(pools=[pool(max_servers=5)], launcher={'prometheus': EXPORT})
        site = Site(launcher, METRICS)
        self.node_of(self.submit('l'))
        self.submit('l')
        self.wait_for_paused()
        site.wait_for_sample('drover_pool_paused', 1, provider='p', pool='main')
        self.assertEqual(site.get('/health/ready').status, 200)
        samples = site.samples()
        self.assertEqual(sample(samples, 'drover_provider_available', provider='p',
                                resource='instances'), 1)
        self.assertEqual(sample(samples, 'drover_provider_usage', provider='p',
                                resource='instances'), 1)
        self.assertEqual(sample(samples, 'drover_pool_usage', provider='p', pool='main',
                                resource='instances'), 1)
        self.assertEqual(sample(samples, 'drover_pool_max_servers', provider='p', pool='main'), 5)

    def test_scans_that_fail(self):
        launcher = self.start(pools=[pool(labels=[label('l')], checked=True)], boot_timeout=1,
                              launch_retries=1, launcher={'prometheus': EXPORT})
        self.cloud.settings(listener={'kind': 'refuse'})
        self.submit('l').wait('failed', limit=60)
        samples = Site(launcher, METRICS).samples()
        self.assertEqual(sample(samples, 'drover_nodescan_failures_total', provider='p',
                                reason='timeout'), 1)
        self.assertEqual(sample(samples, 'drover_nodescan_duration_seconds_count', provider='p'), 1)


if __name__ == '__main__':
    unittest.main()
