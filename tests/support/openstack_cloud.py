"""The fake OpenStack as a child process, its clouds.yaml, and providers that use it.

    cloud = OpenStack().start()
    launcher = Launcher(server, providers=[cloud.provider('p', labels=[label('l')])])
    launcher.environment = cloud.environment
    cloud.faults({'method': 'POST', 'path': SERVERS, 'times': 1, 'status': 500})

What can be said to it: fake_openstack/__main__.py, project.py, steering.py.
"""

import json
import os
import shutil
import ssl
import tempfile

from cloud import IMAGE, Process, dashed, pool

# Paths, for rules of faults.
TOKENS = '/identity/v3/auth/tokens$'
SERVERS = '/compute/v2.1/servers$'
SERVER = '/compute/v2.1/servers/(?!detail)'
SERVER_LIST = '/compute/v2.1/servers/detail$'
CREATE = {'method': 'POST', 'path': SERVERS}
DELETE = {'method': 'DELETE', 'path': SERVER}
LIST = {'method': 'GET', 'path': SERVER_LIST}


def label(name='l', **options):
    """A label of a pool; options are written with '_' for '-'."""
    values = {'name': name, **dashed(options)}
    if 'diskimage' not in values:
        values.setdefault('cloud-image', 'plain')
    if 'min-ram' not in values:
        values.setdefault('flavor-name', 'small')
    return values


class OpenStack(Process):
    program = 'fake_openstack'

    def __init__(self, certificate=None, **settings):
        """`certificate`: (its file, its key's) to speak TLS."""
        super().__init__(**settings)
        self.certificate = certificate
        if certificate is not None:
            self.scheme = 'https'
            self.context = ssl.create_default_context(cafile=certificate[0])
        self.folder = None

    def arguments(self):
        if self.certificate is None:
            return []
        return ['--certificate', self.certificate[0], '--key', self.certificate[1]]

    def start(self):
        super().start()
        if self.folder is None:
            self.folder = tempfile.mkdtemp(prefix='drover-test-')
            self.write_clouds({'fake': self.entry()})
        return self

    def stop(self):
        """The process alone; start() begins it again at its port, with nothing in it."""
        super().close()

    def close(self):
        super().close()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder = None

    # ---- clouds.yaml ----

    @property
    def environment(self):
        return {'OS_CLIENT_CONFIG_FILE': f'{self.folder}/clouds.yaml',
                'OS_CLIENT_SECURE_FILE': f'{self.folder}/secure.yaml'}

    @property
    def auth_url(self):
        return f'{self.url}/identity'

    def entry(self, auth=None, **values):
        """A cloud's entry; `auth`: over what logs in with the password of the test."""
        return {'auth': {'auth_url': self.auth_url, 'username': 'drover',
                         'password': 'password-of-the-test', 'project_name': 'drover',
                         'user_domain_id': 'default', 'project_domain_id': 'default',
                         **(auth or {})}, **values}

    def write_file(self, name, values):
        """Replaces a file at once, so that nobody ever reads half of it."""
        path = f'{self.folder}/{name}'
        with open(f'{path}.new', 'w', encoding='utf-8') as out:
            json.dump(values, out)
        os.rename(f'{path}.new', path)

    def write_clouds(self, clouds):
        self.write_file('clouds.yaml', {'clouds': clouds})

    # ---- What a test says and asks ----

    def limits(self, **limits):
        """Other limits, as in fake_openstack/project.py; -1: none."""
        self.settings(limits=limits)

    def servers(self):
        return self.state()['servers']

    def creates(self, since=0):
        return self.log('POST', '/compute/v2.1/servers', since)

    def asked(self, since=0):
        """What each create asked for."""
        return [json.loads(entry['body'])['server'] for entry in self.creates(since)]

    def lists(self, since=0):
        return self.log('GET', '/compute/v2.1/servers/detail', since)

    def make(self, kind='server', count=1, **fields):
        """Ids of things that no launcher knows of."""
        return self.control('make', {'kind': kind, 'count': count, 'fields': fields})['ids']

    def change(self, kind, thing_id, **fields):
        self.control('change', {'kind': kind, 'id': thing_id, 'fields': fields})

    def boot(self, server_id):
        """It is ACTIVE now, whatever `active_after` was."""
        self.change('server', server_id, status='ACTIVE', vm_state='active', task_state=None,
                    plugged=True)

    def remove(self, kind, thing_id):
        """As if somebody had deleted it by hand."""
        self.control('change', {'kind': kind, 'id': thing_id, 'fields': None})

    def revoke(self):
        self.control('revoke', {})

    def image_id(self, name):
        """Of a public image."""
        return self.control('name', {'kind': 'image', 'name': name})['id']

    def flavor_id(self, name):
        return self.control('name', {'kind': 'flavor', 'name': name})['id']

    def network_id(self, name):
        return self.control('name', {'kind': 'network', 'name': name})['id']

    def wait_for_servers(self, count, limit=30):
        return self.wait(lambda state: len(state['servers']) == count and (state['servers'] or True),
                         limit, f'{count} servers')

    # ---- Configuration ----

    def provider(self, name, labels=None, pools=None, **options):
        """A provider's section, with one pool `main` that has the labels unless `pools` are given.
        Quick: calls are not held back."""
        if pools is None:
            pools = [pool(labels=labels if labels is not None else [label()])]
        values = {'name': name, 'driver': 'openstack', 'cloud': 'fake', 'rate': 0.001,
                  'cloud-images': [IMAGE], 'pools': pools}
        values.update(dashed(options))
        return values
