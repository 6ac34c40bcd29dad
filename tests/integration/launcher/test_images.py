"""Machines of images that a builder has made and uploaded."""

import time
import unittest

from cloud import Cloud, label, pool
from launcher_case import LauncherCase
from zuul_client import encode

IMAGES = '/nodepool/images'
BUILD = 'f8a5a9f4c8c14a5f9d0b6f9f6a1e2d3c'


class Images(LauncherCase):
    def setUp(self):
        super().setUp()
        self.cloud = Cloud(active_after=0).start()
        self.addCleanup(self.cloud.close)

    def start(self, **config):
        launcher = self.launcher(
            self.cloud.provider('p', diskimages=[{'name': 'img'}],
                                pools=[pool(labels=[label('l', diskimage='img')])]),
            diskimages=[{'name': 'img', 'elements': ['vm'], 'username': 'builder',
                         'python-path': '/usr/bin/python3'}], **config)
        self.wait_for_pools('p-main')
        return launcher

    def upload(self, build=BUILD, state='ready', external_id=None, state_time=None):
        path = f'{IMAGES}/img/builds/{build}'
        self.client.ensure_path(path)
        self.client.set(path, encode({'state': 'ready', 'state_time': 1.0}))
        folder = f'{path}/providers/p/images'
        self.client.ensure_path(folder)
        record = {'state': state, 'state_time': state_time or time.time(),
                  'external_id': external_id or 'image-of-plain', 'external_name': 'img-1',
                  'format': 'qcow2', 'username': 'builder'}
        return self.client.create(f'{folder}/', encode(record), sequence=True), record

    def test_SM_02_uploaded_image(self):
        path, record = self.upload()
        self.start()
        node_id, = self.submit('l').wait('fulfilled')['nodes']
        node = self.observer.sync().node(node_id)
        self.assertEqual(node['image_id'], path)
        self.assertEqual((node['username'], node['python_path'], node['connection_type'],
                          node['connection_port']), ('builder', '/usr/bin/python3', 'ssh', 22))
        machine, = self.cloud.machines()
        self.assertEqual(machine['image'], record['external_id'])

    def test_SM_27_no_upload_is_ready(self):
        self.upload(state='uploading')
        launcher = self.start()
        self.submit('l').wait('failed')
        launcher.wait_for_log('Declined.*images are not available')
        self.assertEqual(self.cloud.creates(), [])

    def test_most_recent_upload_of_several_builds(self):
        self.upload('a' * 32, state_time=20.0)
        self.start()
        path, _ = self.upload('b' * 32, state_time=30.0)
        self.upload('b' * 32, state_time=10.0)
        self.upload('b' * 32, state='deleting', state_time=40.0)
        self.observer.sync()
        for _ in range(20):
            node_id, = self.submit('l').wait('fulfilled')['nodes']
            image_id = self.observer.sync().node(node_id)['image_id']
            if image_id == path:
                break
        self.assertEqual(image_id, path)

    def test_L_67_standby_nodes_wait_for_the_image(self):
        launcher = self.start(labels=[{'name': 'l', 'min-ready': 1}])
        mark = launcher.mark()
        self.assertEqual(self.observer.sync().requests(), {})
        self.upload()
        self.wait_for_ready(1)
        self.assertEqual(launcher.find_log('ERROR', mark), [])

    def test_upload_that_is_unusable(self):
        path, _ = self.upload()
        self.client.create(f'{path.rpartition("/")[0]}/0000000009', b'{')
        self.client.create(f'{path.rpartition("/")[0]}/lock', b'')
        launcher = self.start()
        self.submit('l').wait('fulfilled')
        launcher.wait_for_log('ERROR .*0000000009 is unusable')


if __name__ == '__main__':
    unittest.main(verbosity=2)
