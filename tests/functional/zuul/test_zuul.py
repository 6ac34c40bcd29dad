#!/usr/bin/python3
"""Zuul's own client asks for nodes, uses them, and gives them back.

    DROVER_ZUUL=FOLDER DROVER_LAUNCHER=PROGRAM DROVER_DRIVER_PATH=FOLDER test_zuul.py

Not among the tests that always run, because Zuul's sources are not here: README.md.
"""

import os
import threading
import types
import unittest

from launcher import machines, provider
from launcher_case import LIMIT, LauncherCase, is_full

SKIP = 'Zuul\'s sources are needed'
if os.environ.get('DROVER_ZUUL'):
    from zuul_library import zuul


class Watch:
    """Requests that have ended, as Zuul's scheduler is told by its own cache."""

    def __init__(self):
        self.ended, self.news = {}, threading.Condition()

    def note(self, request, event):
        with self.news:
            self.ended[request.id] = (event, request.state)
            self.news.notify_all()

    def wait(self, request_id):
        with self.news:
            if not self.news.wait_for(lambda: request_id in self.ended, LIMIT):
                raise AssertionError(f'nothing was heard of request {request_id}')
            return self.ended[request_id]


@unittest.skipUnless(os.environ.get('DROVER_ZUUL'), SKIP)
class ZuulClient(LauncherCase):
    tick = 2000

    def setUp(self):
        super().setUp()
        self.watch = Watch()
        self.scheduler_side = zuul.zk.nodepool.ZooKeeperNodepool(
            self.connect(), enable_node_request_cache=True, enable_node_cache=True,
            node_request_event_callback=self.watch.note)
        self.executor_side = zuul.nodepool.Nodepool(self.connect(), 'zuul-system', None)

    def connect(self):
        client = zuul.zk.ZooKeeperClient(self.hosts)
        client.connect()
        self.addCleanup(client.disconnect)
        return client

    def job(self, *labels):
        nodeset = zuul.model.NodeSet('nodes')
        for index, name in enumerate(labels):
            nodeset.addNode(zuul.model.Node([f'node-{index}'], name))
        return types.SimpleNamespace(nodeset=nodeset, uuid=f'job-{id(nodeset)}', name='unit-tests')

    def request(self, job, priority=200, relative_priority=0, provider_name=None):
        return self.executor_side.requestNodes('build-set-1', job, 'tenant-1', 'check',
                                               provider_name, priority, relative_priority)

    def accept(self, request, job):
        """As the executor does: the request's nodes, locked."""
        request = self.executor_side.zk_nodepool.getNodeRequest(request.id)
        nodeset = self.executor_side.getNodeSet(request, job.nodeset)
        self.executor_side.acceptNodes(request, nodeset)
        return nodeset

    def run_job(self, job):
        request = self.request(job)
        self.assertEqual(self.watch.wait(request.id)[1], 'fulfilled')
        nodeset = self.accept(request, job)
        self.executor_side.useNodeSet(nodeset, 'tenant-1', 'project-1')
        self.executor_side.returnNodeSet(nodeset, types.SimpleNamespace(uuid='build-1'),
                                         'tenant-1', 'project-1', 1)
        return nodeset

    def test_jobs(self):
        self.start_with(*machines(3, ['l', 'm'], username='worker', connection_port=2222))
        for _ in range(200 if is_full() else 20):
            nodeset = self.run_job(self.job('l', 'm'))
            for node in nodeset.getNodes():
                self.assertEqual((node.username, node.connection_port, node.provider, node.state),
                                 ('worker', 2222, 'p', 'used'))
                self.assertRegex(node.interface_ip, '^127.0.10.')
                self.assertEqual(node.connection_type, 'ssh')
        self.wait_until_settled(3)

    def test_request_that_nobody_serves(self):
        self.start_with(*machines(1))
        request = self.request(self.job('nope'))
        self.assertEqual(self.watch.wait(request.id)[1], 'failed')
        self.executor_side.cancelRequest(request)
        self.wait_until_settled(1)

    def test_canceled_and_revised(self):
        self.start_with(*machines(1))
        held = self.job('l')
        first = self.request(held)
        self.watch.wait(first.id)
        nodeset = self.accept(first, held)
        jobs = [self.job('l') for _ in range(3)]
        waiting = [self.request(job, relative_priority=5) for job in jobs]
        self.executor_side.reviseRequest(self.scheduler_side.getNodeRequest(waiting[2].id), 1)
        self.executor_side.cancelRequest(waiting[0])
        self.executor_side.useNodeSet(nodeset, 'tenant-1', 'project-1')
        self.executor_side.returnNodeSet(nodeset, None, 'tenant-1', 'project-1', 1)
        # The one that was revised comes before the other.
        self.assertEqual(self.watch.wait(waiting[2].id)[1], 'fulfilled')
        self.assertNotIn(waiting[1].id, self.watch.ended)
        nodeset = self.accept(waiting[2], jobs[2])
        self.executor_side.returnNodeSet(nodeset, None, 'tenant-1', 'project-1', 1)
        # Its node was never in use: whoever has no use for it any more lets it go.
        self.watch.wait(waiting[1].id)
        self.executor_side.cancelRequest(waiting[1])
        self.wait_until_settled(1)

    def test_launchers_and_nodes_as_zuul_lists_them(self):
        self.launcher(provider('p', machines(2, ['l', 'm'])))
        self.wait_for_ready(2)
        self.wait_for_pools('p-main')
        self.wait(lambda cluster: len(self.scheduler_side.getNodes(cached=True)) == 2)
        nodes = list(self.scheduler_side.nodeIterator(cached=True))
        self.assertEqual(
            sorted((node.provider, node.state, node.interface_ip) for node in nodes),
            [('p', 'ready', '127.0.10.1'), ('p', 'ready', '127.0.10.2')])


if __name__ == '__main__':
    unittest.main()
