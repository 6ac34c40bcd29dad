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

    def make_build(self, image, build, **uploads):
        """`uploads`: provider -> numbers."""
        path = f'{IMAGES}/{image}/builds/{build}'
        self.make(path, state='ready', image=image, strange='\u00e4')
        self.make(f'{path}/lock/left')
        for provider, numbers in uploads.items():
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
