"""Images uploaded to a real Glance by the driver; and all that drover-driver-check tries."""

import hashlib
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

from openstack_cloud import label
from real_case import BUILD, LIMIT, RealCase
from zuul_client import encode

TAGS = {'nodepool_build_id': 'f8a5a9f4c8c14a5f9d0b6f9f6a1e2d3c',
        'nodepool_upload_id': '0000000001', 'nodepool_provider_name': 'p', 'os': 'debian'}
# Large enough not to be gone at once.
LARGE = 512 * 1024 * 1024


class ImageCase(RealCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix='drover-test-')
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.environment = {**os.environ, 'OS_CLIENT_CONFIG_FILE': self.clouds_file()}

    def file(self, size, name='image.raw'):
        path = f'{self.folder}/{name}'
        with open(path, 'wb') as out:
            out.write(os.urandom(min(size, 1024 * 1024)))
            out.truncate(size)
        return path

    def begin(self, *words):
        """The driver's work with images, in a process: see image.c."""
        program = f'{BUILD}/tests/functional/openstack/openstack-image'
        process = subprocess.Popen([program, *words], stdout=subprocess.PIPE, text=True,
                                   env=self.environment)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        return process

    def begin_upload(self, path):
        """The process, and the image's id, which is known before anything is sent."""
        process = self.begin('upload', path, 'img-1', json.dumps(TAGS))
        word, image = process.stdout.readline().split()
        self.assertEqual(word, 'id')
        return process, image

    def end(self, process):
        """(status, last line)"""
        lines = process.stdout.read().splitlines()
        return process.wait(LIMIT), lines[-1]


class Images(ImageCase):
    def test_OS_60_upload(self):
        """openstacksdk sees what was sent; a machine is made from it; then it is deleted."""
        path = self.file(3 * 1024 * 1024 + 17)
        process, image_id = self.begin_upload(path)
        self.assertEqual(self.end(process), (0, f'done {os.path.getsize(path)}'))
        image = self.cloud.user.image.get_image(image_id)
        with open(path, 'rb') as file:
            data = file.read()
        self.assertEqual((image.name, image.status, image.visibility, image.disk_format,
                          image.container_format, image.size, image.checksum),
                         ('img-1', 'active', 'private', 'raw', 'bare', len(data),
                          hashlib.md5(data).hexdigest()))
        self.assertEqual({key: image.properties.get(key) for key in TAGS}, TAGS)
        self.assertEqual(self.cloud.user.image.download_image(image).content, data)
        self.check_list(image_id)
        self.make_machine(image_id)
        self.assertEqual(self.end(self.begin('delete', image_id))[0], 0)
        self.assertEqual(self.end(self.begin('delete', image_id))[0], 0)
        self.wait_for_nothing()

    def check_list(self, image_id):
        lines = self.begin('list').stdout.read().splitlines()
        listed = [json.loads(line.partition(' ')[2]) for line in lines if line.startswith('image')]
        self.assertEqual([one['id'] for one in listed], [image_id])
        self.assertEqual(json.loads(listed[0]['tags'])['nodepool_upload_id'],
                         TAGS['nodepool_upload_id'])

    def make_machine(self, image_id):
        """What a builder writes about an upload names the image; it is no leak."""
        build = f'/nodepool/images/img/builds/{TAGS["nodepool_build_id"]}'
        self.client.ensure_path(f'{build}/providers/p/images')
        self.client.set(build, encode({'state': 'ready', 'state_time': 1.0}))
        self.client.create(f'{build}/providers/p/images/{TAGS["nodepool_upload_id"]}', encode({
            'state': 'ready', 'state_time': time.time(), 'external_id': image_id,
            'external_name': 'img-1', 'format': 'raw', 'username': 'zuul'}))
        launcher = self.start(label(diskimage='img'), cleanup_interval=1,
                              diskimages=[{'name': 'img', 'elements': ['vm']}],
                              uploads=[{'name': 'img'}])
        request = self.submit('l')
        node, = self.fulfilled(request)
        self.assertEqual(self.server_of(node).image.id, image_id)
        launcher.wait_for_log('Finished cleanup', launcher.mark(), count=3)
        self.release(request)
        self.wait(lambda cluster: not cluster.nodes(), LIMIT)
        self.assertEqual(launcher.find_log('leaked'), [])
        launcher.stop()

    def test_upload_is_cancelled(self):
        process, image = self.begin_upload(self.file(LARGE))
        self.wait_in_cloud(
            lambda: self.cloud.user.image.get_image(image).status == 'saving', 'a transfer')
        process.send_signal(signal.SIGTERM)
        status, last = self.end(process)
        self.assertEqual((status, last.split()[:2]), (1, ['failed', 'cancelled']))
        self.wait_for_nothing()

    def test_OS_62_F_09_glance_goes_away_in_the_middle(self):
        """What cannot be deleted then is found later, as nobody has made it."""
        process, image = self.begin_upload(self.file(LARGE))
        self.wait_in_cloud(
            lambda: self.cloud.user.image.get_image(image).status == 'saving', 'a transfer')
        self.cloud.kill_service('glance')
        status, last = self.end(process)
        self.assertEqual((status, last.split()[0]), (1, 'failed'))
        self.cloud.run_service('glance')
        self.cloud.wait_for_answer('glance')
        launcher = self.start(cleanup_interval=1)
        launcher.wait_for_log('Deleted leaked image', limit=LIMIT)
        self.wait_for_nothing()


class DriverCheck(ImageCase):
    def test_FT_09_all_that_a_launcher_may_do(self):
        """Cancelled and taken up after each step, deleted twice, listed, uploaded."""
        config = f'{self.folder}/nodepool.yaml'
        with open(config, 'w', encoding='utf-8') as out:
            json.dump({'zookeeper-servers': [{'host': 'localhost'}], 'labels': [{'name': 'l'}],
                       'providers': [self.provider()]}, out)
        done = subprocess.run(
            [f'{BUILD}/core/programs/drover-driver-check', '--json', '--limit', str(LIMIT),
             '--config', config, '--image', self.file(1024 * 1024),
             f'{BUILD}/drivers/openstack.so'],
            check=False, capture_output=True, text=True, env=self.environment)
        self.assertTrue(done.stdout, done.stderr)
        report = json.loads(done.stdout)
        print(f'\n{report["ok"]} checks of the driver passed, {report["skipped"]} were skipped: '
              f'{[one["check"] for one in report["checks"] if one["outcome"] == "skipped"]}',
              flush=True)
        self.assertEqual([one for one in report['checks'] if one['outcome'] == 'FAIL'], [])
        self.wait_in_cloud(lambda: not self.cloud.left(), 'nothing left')


if __name__ == '__main__':
    unittest.main(verbosity=2, warnings='ignore')
