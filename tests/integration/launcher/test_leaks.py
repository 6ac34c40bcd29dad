"""What is left at a cloud: found by its tags, and deleted when it was seen twice."""

import unittest

from cloud import Cloud, label
from launcher_case import LauncherCase


class Leaks(LauncherCase):
    def setUp(self):
        super().setUp()
        self.cloud = Cloud(active_after=0, delete_after=0).start()
        self.addCleanup(self.cloud.close)

    def start(self, **options):
        launcher = self.launcher(self.cloud.provider('p', **options), cleanup_interval=1)
        self.wait_for_pools('p-main')
        return launcher

    def tags(self, **changes):
        return {'nodepool_node_id': '0000004711', 'nodepool_provider_name': 'p',
                'nodepool_pool_name': 'main', **changes}

    def test_L_85_SM_42_record_erased(self):
        launcher = self.start()
        request = self.submit('l')
        node_id, = request.wait('fulfilled')['nodes']
        kept, = self.submit('l').wait('fulfilled')['nodes']
        self.client.delete(f'/nodepool/nodes/{node_id}', recursive=True)
        launcher.wait_for_log(f'{node_id}.*Deleted leaked instance')
        machine, = self.cloud.machines()
        self.assertEqual(machine['tags']['nodepool_node_id'], kept)

    def test_SM_43_of_somebody_else(self):
        launcher = self.start()
        self.cloud.make()
        self.cloud.make(tags=self.tags(nodepool_provider_name='other'))
        self.cloud.make(tags={'nodepool_provider_name': 'p'})
        self.cloud.make(tags=self.tags())
        launcher.wait_for_log('Deleted leaked')
        launcher.wait_for_log('Finished cleanup', launcher.mark(), count=2)
        self.assertEqual(len(self.cloud.machines()), 3)

    def test_SM_44_seen_once(self):
        launcher = self.start()
        launcher.wait_for_log('Finished cleanup')
        mark = self.cloud.mark()
        machine = self.cloud.make(tags=self.tags())
        self.cloud.wait_for_machines(0)
        between = self.cloud.log(since=mark)
        deleted = next(index for index, entry in enumerate(between)
                       if entry['method'] == 'DELETE' and machine['id'] in entry['path'])
        lists = [entry for entry in between[:deleted]
                 if (entry['method'], entry['path']) == ('GET', '/machines')]
        self.assertGreaterEqual(len(lists), 2)

    def test_SM_45_upload_that_is_not_known(self):
        """The number of an upload counts together with its build."""
        uploads = '/nodepool/images/img/builds/{}/providers/p/images'.format('1' * 32)
        self.client.ensure_path(uploads)
        upload = self.client.create(f'{uploads}/', b'not JSON', sequence=True).rpartition('/')[2]
        self.client.ensure_path(f'{uploads}/lock')
        tags = {'nodepool_provider_name': 'p', 'nodepool_build_id': '1' * 32,
                'nodepool_upload_id': upload}
        kept = [self.cloud.make('images', name='img', tags=changed) for changed in (
            tags, {**tags, 'nodepool_provider_name': 'other', 'nodepool_build_id': '3' * 32},
            {'nodepool_provider_name': 'p', 'nodepool_build_id': '2' * 32}, {})]
        lost = [self.cloud.make('images', name='img', tags={**tags, **changes}) for changes in (
            {'nodepool_build_id': '2' * 32}, {'nodepool_upload_id': '0000004711'})]
        launcher = self.start()
        launcher.wait_for_log('Deleted leaked image', count=2)
        launcher.wait_for_log('Finished cleanup', launcher.mark(), count=2)
        self.assertEqual({image['id'] for image in self.cloud.state()['images']},
                         {image['id'] for image in kept})
        self.assertEqual(len(launcher.find_log('Deleted leaked')), len(lost))

    def test_FT_06_answer_to_a_create_lost(self):
        launcher = self.start()
        self.cloud.faults({'method': 'POST', 'path': '^/machines$', 'times': 1, 'drop': 'after'})
        node_id, = self.submit('l').wait('fulfilled', limit=60)['nodes']
        external_id = self.observer.sync().node(node_id)['external_id']
        launcher.wait_for_log('Deleted leaked instance')
        self.assertEqual([machine['id'] for machine in self.cloud.machines()], [external_id])

    def test_cloud_that_does_not_list(self):
        launcher = self.start()
        self.cloud.make(tags=self.tags())
        self.cloud.faults({'method': 'GET', 'path': '^/machines', 'times': 8, 'status': 500})
        launcher.wait_for_log('does not list its resources')
        self.cloud.wait_for_machines(0)


class Templates(LauncherCase):
    def test_SM_05_SM_06_FT_15_tags_made_of_the_request(self):
        cloud = Cloud(active_after=0).start()
        self.addCleanup(cloud.close)
        tags = {'tenant': 'Tenant is {request.tenant_name}', 'none': '{request.nope}',
                'labels': '{request.labels}', 'job': '{request.requestor_data[job_name]!r}'}
        launcher = self.launcher(cloud.provider('p', labels=[label('l', dynamic_tags=tags)]))
        self.wait_for_pools('p-main')
        self.submit('l').wait('fulfilled')
        machine, = cloud.machines()
        self.assertEqual({key: value for key, value in machine['tags'].items() if key in tags},
                         {'tenant': 'Tenant is tenant-1', 'labels': "['l']",
                          'job': "'unit-tests'"})
        launcher.wait_for_log('ERROR .*none is left out')


if __name__ == '__main__':
    unittest.main(verbosity=2)
