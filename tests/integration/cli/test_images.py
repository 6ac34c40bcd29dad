"""What ZooKeeper knows of images and providers: forgotten, saved, and restored."""

import json
import os
import stat
import unittest

from cli_case import CliCase

IMAGES = '/nodepool/images'
BUILD = '1' * 32
QUESTION = '\nWARNING! This action is not reversible!\nErase ZooKeeper data for provider p2? [N/y] '


class ImagesCase(CliCase):
    def make(self, path, **record):
        self.zk.create(path, json.dumps(record).encode() if record else b'', makepath=True)

    def make_build(self, image, build, p1=(), p2=(), **fields):
        """With those numbers of uploads to two providers."""
        path = f'{IMAGES}/{image}/builds/{build}'
        self.make(path, state='ready', image=image, strange='\u00e4', **fields)
        self.make(f'{path}/lock/left')
        for provider, numbers in ('p1', p1), ('p2', p2):
            if not numbers:
                continue
            self.make(f'{path}/providers/{provider}/images/lock')
            for number in numbers:
                self.make(f'{path}/providers/{provider}/images/{number:010}', state='ready',
                          external_id=f'{provider}-{number}')
        return path

    def tree(self, path=IMAGES):
        """path -> data of all znodes but locks."""
        found = {path: self.zk.get(path)[0]}
        for name in self.zk.get_children(path):
            if name != 'lock':
                found.update(self.tree(f'{path}/{name}'))
        return found


class Lists(ImagesCase):
    """The configuration has the images img and cold, the latter with `pause`."""

    def setUp(self):
        super().setUp()
        self.config = self.write('images.yaml', json.dumps({
            'zookeeper-servers': [{'host': '127.0.0.1', 'port': self.server.port,
                                   'chroot': self.chroot}],
            'diskimages': [{'name': 'img', 'elements': ['vm']},
                           {'name': 'cold', 'elements': ['vm'], 'pause': True},
                           {'name': 'base', 'abstract': True}]}))
        self.other = '2' * 32

    def notice(self, *words):
        result = self.drover(*words)
        self.assertEqual((result.status, result.err), (0, ''))
        return result.out.rstrip('\n')

    def test_CLI_14_uploads(self):
        self.make_build('img', BUILD, p1=[1], state_time=10)
        self.make_build('img', self.other, p1=[4], p2=[2, 3], state_time=20)
        listed = self.drover('image-list')
        self.assertEqual((listed.status, listed.err), (0, ''))
        self.assertEqual(listed.cells(-2), ['Build ID', 'Upload ID', 'Provider', 'Image',
                                            'Provider Image Name', 'Provider Image ID', 'State',
                                            'Age'])
        self.assertEqual([listed.cells(row)[:7] for row in range(4)], [
            [build, f'{number:010}', provider, 'img', '', f'{provider}-{number}', 'ready']
            for build, provider, number in ((self.other, 'p1', 4), (self.other, 'p2', 2),
                                            (self.other, 'p2', 3), (BUILD, 'p1', 1))])

    def test_CLI_15_CLI_16_builds_and_pauses(self):
        self.make_build('img', BUILD, formats='raw,qcow2', builder='b')

        def state():
            return self.drover('dib-image-list').cells(0)
        self.assertEqual(state()[:5], [f'img-{BUILD}', 'img', 'b', 'qcow2,raw', 'ready'])
        for command, expected in (('image-pause', 'paused'), ('image-unpause', 'ready')):
            self.assertEqual([self.notice(command, 'img') for _ in range(2)], ['', ''])
            self.assertEqual(state()[4], expected)
        self.assertEqual(self.notice('image-unpause', 'nosuch'), '')
        self.assertEqual(self.notice('image-pause', 'cold'), '')

    def test_CLI_17_unknown_image(self):
        refused = self.drover('image-pause', 'nosuch')
        self.assertEqual((refused.status, refused.out), (1, ''))
        self.assertIn('nosuch', refused.err)
        self.assertIsNone(self.zk.exists('/nodepool'))
        self.assertEqual(self.drover('image-pause', 'a/b').status, 2)

    def test_CLI_18_CLI_19_states(self):
        self.make_build('a', BUILD)
        self.make(f'{IMAGES}/b/builds/lock')
        self.make(f'{IMAGES}/b/request-build')
        self.make(f'{IMAGES}/b/pause')
        contender = self.zk.Lock(f'{IMAGES}/c/builds/lock', 'builder')
        self.assertTrue(contender.acquire())
        self.make_build('c', BUILD)
        self.make(f'{IMAGES}/c/request-build')
        listed = self.drover('image-status')
        self.assertEqual([listed.cells(row)[:3] for row in range(3)], [
            ['a', 'False', ''], ['b', 'True', 'pending'], ['c', 'False', 'building']])
        self.assertEqual(listed.cells(0)[3], '')
        self.assertRegex(listed.cells(1)[3], r'^00:00:\d\d:\d\d$')
        requests = self.drover('dib-request-list')
        self.assertEqual(len(requests.lines()), 6)
        self.assertEqual([requests.cells(row)[:2] for row in range(2)],
                         [['b', 'pending'], ['c', 'building']])

    def test_CLI_20_CLI_22_build(self):
        self.make(f'{IMAGES}/img/pause')
        for _ in range(2):
            self.assertEqual(self.notice('image-build', 'img'), '')
            self.assertIsNotNone(self.zk.exists(f'{IMAGES}/img/request-build'))

    def test_CLI_21_cannot_be_built(self):
        for name, text in (
                ('nosuch', 'Trying to build a non disk-image-builder image: nosuch'),
                ('base', 'Trying to build a non disk-image-builder image: base'),
                ('cold', 'Skipping build request for image cold; paused')):
            refused = self.drover('image-build', name)
            self.assertEqual((refused.status, refused.out), (1, ''))
            self.assertIn(text, refused.err)
        self.assertIsNone(self.zk.exists('/nodepool'))

    def delete_upload(self, number, provider='p1', build=BUILD):
        return self.notice('image-delete', '--upload-id', f'{number:010}', '--build-id', build,
                           '--image', 'img', '--provider', provider)

    def test_CLI_23_CLI_25_delete_upload(self):
        folder = self.make_build('img', BUILD, p1=[1, 2]) + '/providers/p1/images'
        self.zk.set(f'{folder}/0000000002', b'{"state": "uploading", "x": 1}')
        for wrong in ((3,), (1, 'p2'), (1, 'p1', 'x'), (1, '../p1'), (1, 'p1', '')):
            self.assertEqual(self.delete_upload(*wrong), 'Image upload not found')
        self.assertEqual(self.delete_upload(2), 'Cannot delete because image upload in progress')
        self.assertEqual(self.zk.get(f'{folder}/0000000002')[0], b'{"state": "uploading", "x": 1}')
        self.assertEqual(self.delete_upload(1), '')
        record = json.loads(self.zk.get(f'{folder}/0000000001')[0])
        self.assertEqual((record['state'], record['external_id']), ('deleting', 'p1-1'))
        self.assertGreater(record['state_time'], 1e9)
        self.assertEqual(self.drover('image-delete', '--image', 'img').status, 2)

    def test_CLI_27_CLI_28_delete_build(self):
        path = self.make_build('my-img', '0000000001')
        building = self.make_build('img', BUILD)
        self.zk.set(building, b'{"state": "building"}')
        self.assertEqual(self.drover('dib-image-delete', 'x').status, 1)
        self.assertEqual(self.notice('dib-image-delete', 'x-1'), 'Build x-1 not found')
        self.assertEqual(self.notice('dib-image-delete', f'img-{BUILD}'),
                         'Cannot delete a build in progress')
        self.assertEqual(self.zk.get(building)[0], b'{"state": "building"}')
        self.assertEqual(self.notice('dib-image-delete', 'my-img-0000000001'), '')
        record = json.loads(self.zk.get(path)[0])
        self.assertEqual((record['state'], record['strange']), ('deleting', '\u00e4'))


class Erase(ImagesCase):
    def setUp(self):
        super().setUp()
        self.build = self.make_build('img', BUILD, p1=[1], p2=[1, 2])
        self.put('0000000001', provider='p1')
        self.put('0000000002', provider='p2')
        self.zk.create('/nodepool/nodes/0000000002/lock/somebody', makepath=True)

    def is_whole(self):
        return (self.zk.get_children('/nodepool/nodes') == ['0000000001', '0000000002'] and
                len(self.zk.get_children(f'{self.build}/providers/p2/images')) == 3)

    def test_CLI_38_questions(self):
        for answer in ('n\n', 'yes\n', '\n', 'y \n'):
            refused = self.drover('erase', 'p2', answer=answer)
            self.assertEqual((refused.status, refused.out),
                             (0, f'{QUESTION}Aborting. No data erased.\n'))
        ended = self.drover('erase', 'p2')
        self.assertEqual((ended.status, ended.out), (1, QUESTION))
        self.assertTrue(self.is_whole())
        erased = self.drover('erase', 'p2', answer='Y\n')
        self.assertEqual((erased.status, erased.err), (0, ''))
        self.assertEqual(erased.out, f'{QUESTION}Erasing build data for p2...\n'
                                     'Erasing node data for p2...\n')
        self.assertFalse(self.is_whole())

    def test_CLI_39_without_a_question(self):
        erased = self.drover('erase', 'p2', '--force')
        self.assertEqual((erased.status, erased.err), (0, ''))
        self.assertEqual(self.zk.get_children('/nodepool/nodes'), ['0000000001'])
        self.assertEqual(self.zk.get_children(f'{self.build}/providers'), ['p1'])
        self.assertIn('0000000001', self.zk.get_children(f'{self.build}/providers/p1/images'))
        unknown = self.drover('erase', 'p9', '--force')
        self.assertEqual((unknown.status, unknown.out),
                         (0, 'Erasing build data for p9...\nErasing node data for p9...\n'))
        self.assertEqual(self.drover('erase', 'a/b', '--force').status, 2)


class Data(ImagesCase):
    def setUp(self):
        super().setUp()
        self.file = os.path.join(self.folder, 'images.json')

    def export(self):
        saved = self.drover('export-image-data', self.file)
        self.assertEqual((saved.status, saved.out, saved.err), (0, '', ''))
        with open(self.file, encoding='ascii') as file:
            text = file.read()
        self.assertEqual(text, json.dumps(json.loads(text)))
        return json.loads(text)

    def restore(self):
        restored = self.drover('import-image-data', self.file)
        self.assertEqual((restored.status, restored.out, restored.err), (0, '', ''))

    def test_CLI_42_new_file(self):
        build = self.make_build('img', BUILD, p1=[1])
        self.make(f'{IMAGES}/img/request-build')
        self.make(f'{IMAGES}/img/pause')
        upload = f'{build}/providers/p1/images/0000000001'
        self.assertEqual(self.export(), {f'{IMAGES}/img/pause': '', **{
            path: self.zk.get(path)[0].decode() for path in (build, upload)}})
        self.assertEqual(stat.S_IMODE(os.stat(self.file).st_mode), 0o600)

    def test_CLI_43_over_a_longer_file(self):
        self.write('images.json', 'x' * 1000)
        self.make_build('img', BUILD)
        self.assertEqual(len(self.export()), 1)
        self.assertEqual(stat.S_IMODE(os.stat(self.file).st_mode), 0o600)

    def test_nothing_to_export(self):
        self.assertEqual(self.export(), {})
        refused = self.drover('export-image-data', f'{self.folder}/none/file')
        self.assertEqual((refused.status, refused.out), (1, ''))
        self.assertIn('none/file', refused.err)

    def test_CLI_44_restored(self):
        self.make_build('a', BUILD, p1=[1, 3], p2=[2])
        self.make_build('b', '2' * 32, p1=[1])
        self.make(f'{IMAGES}/b/pause')
        before = self.tree()
        self.export()
        self.zk.delete('/nodepool', recursive=True)
        self.restore()
        self.assertEqual(self.tree(), before)
        self.restore()
        self.assertEqual(self.tree(), before)

    def test_CLI_45_number_of_the_next_upload(self):
        build = self.make_build('img', BUILD, p1=[7])
        self.export()
        self.zk.delete('/nodepool', recursive=True)
        self.restore()
        following = self.zk.create(f'{build}/providers/p1/images/', sequence=True)
        self.assertGreater(int(following[-10:]), 7)

    def test_CLI_46_numbered_builds(self):
        build = self.make_build('img', '0000000011', p1=[1])
        before = self.tree()
        self.export()
        self.zk.delete('/nodepool', recursive=True)
        self.restore()
        self.assertEqual(self.tree(), before)
        self.assertEqual(self.zk.get_children(f'{IMAGES}/img/builds'), ['0000000011'])
        self.assertIn('0000000011', self.drover('info', 'p1').out)
        self.zk.delete(build, recursive=True)

    def test_CLI_47_nonsense(self):
        good = f'"{IMAGES}/img/builds/{BUILD}": "{{}}"'
        for text in ('{', '[]', f'{{{good}, "/nodepool/nodes/1": "x"}}', f'{{{good}, "x": ""}}',
                     f'{{{good}, "{IMAGES}/img/pause": 1}}', f'{{{good}, "{IMAGES}//a": ""}}',
                     f'{{{good}, "{IMAGES}/../nodes": ""}}'):
            self.write('images.json', text)
            refused = self.drover('import-image-data', self.file)
            self.assertEqual((refused.status, refused.out), (1, ''), text)
            self.assertIn('images.json', refused.err)
            self.assertIsNone(self.zk.exists('/nodepool'))
        self.assertEqual(self.drover('import-image-data', f'{self.folder}/none').status, 1)


if __name__ == '__main__':
    unittest.main(verbosity=2)
