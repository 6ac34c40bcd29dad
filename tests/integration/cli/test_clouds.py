"""Commands that ask a provider's cloud themselves."""

import json
import unittest

from cli_case import CliCase
from cloud import Cloud

BUILD = '1' * 32
UPLOADS = f'/nodepool/images/img/builds/{BUILD}/providers/{{}}/images'
TAGS = {'nodepool_provider_name': 'p1', 'nodepool_build_id': BUILD,
        'nodepool_upload_id': '0000000001'}
NODE = '0000000007'


class CloudCase(CliCase):
    def setUp(self):
        super().setUp()
        self.cloud = Cloud(active_after=0, delete_after=0.5).start()
        self.addCleanup(self.cloud.close)
        self.config = self.write('clouds.yaml', json.dumps({
            'zookeeper-servers': [{'host': '127.0.0.1', 'port': self.server.port,
                                   'chroot': self.chroot}],
            'labels': [{'name': 'l'}], 'providers': [self.cloud.provider('p1')]}))


class DeleteNow(CloudCase):
    def node(self):
        machine = self.cloud.make(tags={'nodepool_provider_name': 'p1', 'nodepool_node_id': NODE})
        self.put(NODE, provider='p1', external_id=machine['id'])

    def test_CLI_30_node_and_machine_are_gone(self):
        self.node()
        deleted = self.drover('delete', '--now', NODE)
        self.assertEqual((deleted.status, deleted.err, deleted.lines()[4:]), (0, '', []))
        self.assertEqual(self.cloud.machines(), [])
        self.assertEqual(self.zk.get_children('/nodepool/nodes'), [])

    def test_machine_that_is_gone_already(self):
        self.put(NODE, provider='p1', external_id='4711')
        deleted = self.drover('delete', '--now', NODE, '--json')
        self.assertEqual((deleted.status, deleted.json), (0, []))
        self.assertEqual(self.zk.get_children('/nodepool/nodes'), [])

    def test_cloud_that_refuses(self):
        """A launcher does the rest: the node is about to be deleted, and nobody has its lock."""
        self.node()
        self.cloud.faults({'method': 'DELETE', 'status': 400})
        refused = self.drover('delete', '--now', NODE)
        self.assertEqual((refused.status, refused.out), (1, ''))
        self.assertRegex(refused.err, f'the machine of node {NODE} cannot be deleted from here: .')
        self.assertEqual(self.get(NODE)['state'], 'deleting')
        self.assertEqual(self.zk.get_children(f'/nodepool/nodes/{NODE}/lock'), [])
        self.assertEqual(len(self.cloud.machines()), 1)


class AlienImages(CloudCase):
    def upload(self, provider, number, **record):
        path = f'{UPLOADS.format(provider)}/{number:010}'
        self.zk.create(path, json.dumps(record).encode(), makepath=True)

    def test_CLI_40_unknown_to_ZooKeeper(self):
        known, uploading, alien, failed, other, plain = (
            self.cloud.make('images', name=f'img-{index}', tags=TAGS if index < 5 else {})
            for index in range(6))
        self.zk.create(f'/nodepool/images/img/builds/{BUILD}', b'{"state": "ready"}', makepath=True)
        self.upload('p1', 1, state='ready', external_id=known['id'])
        self.upload('p1', 2, state='uploading', external_id=uploading['id'])
        self.upload('p1', 3, state='failed', external_id=failed['id'])
        self.upload('p2', 1, state='ready', external_id=other['id'])
        expected = [{'provider': 'p1', 'name': image['name'], 'image_id': image['id']}
                    for image in (alien, failed, other)]
        self.assertEqual(self.drover('alien-image-list', '--json').json, expected)
        listed = self.drover('alien-image-list', 'p1')
        self.assertEqual((listed.status, listed.err), (0, ''))
        self.assertEqual(listed.cells(-2), ['Provider', 'Name', 'Image ID'])
        self.assertEqual([listed.cells(row)[2] for row in range(3)],
                         [image['image_id'] for image in expected])
        self.assertNotIn(plain['id'], listed.out)
        self.assertEqual(self.drover('alien-image-list', 'p9', '--json').json, [])

    def test_CLI_41_cloud_fails(self):
        self.cloud.faults({'status': 403})
        listed = self.drover('alien-image-list')
        self.assertEqual((listed.status, listed.lines()[4:]), (0, []))
        self.assertRegex(listed.err, 'Exception listing alien images for p1: .')

    def test_driver_without_images(self):
        config = self.write('static.yaml', self.config_text(self.server.port))
        listed = self.drover('alien-image-list', config=config)
        self.assertEqual((listed.status, listed.err, listed.lines()[4:]), (0, '', []))


if __name__ == '__main__':
    unittest.main(verbosity=2)
