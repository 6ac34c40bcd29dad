"""The fake cloud as a child process, and providers of the test driver that use it.

    cloud = Cloud().start()
    launcher = Launcher(server, providers=[cloud.provider('p', labels=[label('l')])])
    cloud.faults({'method': 'POST', 'path': '^/machines$', 'times': 1, 'status': 500})
    ...
    assert cloud.state()['machines'] == []
    cloud.close()

What can be said to it: fake_cloud/__main__.py, faults.py, account.py. The driver is found when
DROVER_DRIVER_PATH has the folder of the test drivers.
"""

import json
import os
import subprocess
import sys
import time
import urllib.request

from zookeeper import die_with_parent

HERE = os.path.dirname(os.path.abspath(__file__))
TOKEN = 'token-of-the-test'
# Machines that are reached at once and without host keys.
IMAGE = {'name': 'plain', 'username': 'zuul'}


def dashed(options):
    return {option.replace('_', '-'): value for option, value in options.items()}


def label(name='l', **options):
    """A label of a pool; options are written with '_' for '-'."""
    values = {'name': name, **dashed(options)}
    if 'diskimage' not in values:
        values.setdefault('cloud-image', 'plain')
    return values


def pool(name='main', labels=None, checked=False, **options):
    """A pool; unless `checked`, its machines are ready without being contacted."""
    return {'name': name, 'labels': labels if labels is not None else [label()],
            'host-key-checking': checked, **dashed(options)}


class Process:
    """A fake cloud's process, and what all of them can be told. `settings`: from the start on."""

    program = None
    scheme = 'http'
    context = None  # of TLS

    def __init__(self, **settings):
        self.settings_at_start = settings
        self.process = None
        self.port = None

    # ---- Process ----

    def arguments(self):
        return []

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, '-B', f'{HERE}/{self.program}', '--port', str(self.port or 0),
             *self.arguments()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
        line = self.process.stdout.readline()
        if not line.startswith('port '):
            raise RuntimeError(f'{self.program} did not start')
        self.port = int(line.split()[1])
        if self.settings_at_start:
            self.settings(**self.settings_at_start)
        return self

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process.stdout.close()
            self.process = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()

    @property
    def url(self):
        return f'{self.scheme}://127.0.0.1:{self.port}'

    # ---- What a test says and asks ----

    def control(self, call, body=None):
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(f'{self.url}/control/{call}', data, timeout=30,
                                    context=self.context) as answer:
            return json.load(answer)

    def faults(self, *rules, keep=False):
        """These rules from now on; `keep`: beside those there are. None: no faults any more."""
        self.control('faults', {'faults': list(rules), 'keep': keep})

    def taken(self):
        """How often each rule was applied."""
        return [rule['taken'] for rule in self.control('faults')['faults']]

    def settings(self, **changes):
        return self.control('settings', changes)

    def advance(self, seconds):
        """Moves the cloud's clock."""
        self.control('clock', {'advance': seconds})

    def reset(self):
        self.control('reset', {})
        if self.settings_at_start:
            self.settings(**self.settings_at_start)

    def state(self):
        return self.control('state')

    def log(self, method=None, path=None, since=0):
        """Requests in the order in which they came; only those of a method, of an exact path."""
        return [entry for entry in self.control(f'log?since={since}')['log']
                if method in (None, entry['method']) and path in (None, entry['path'])]

    def mark(self):
        """The length of the log now, for `since`."""
        return self.control('log?since=1000000000')['next']

    def wait(self, condition, limit=30, what='the cloud'):
        """Until the condition holds of state(); returns what it returned."""
        deadline = time.monotonic() + limit
        while True:
            state = self.state()
            if found := condition(state):
                return found
            if time.monotonic() > deadline:
                raise AssertionError(f'{what}: {json.dumps(state)}')
            time.sleep(0.02)


class Cloud(Process):
    """The one of the test driver; settings: fake_cloud/account.py."""

    program = 'fake_cloud'

    def arguments(self):
        return ['--token', TOKEN]

    def limits(self, **limits):
        """Other limits, written with '_' for '-'; -1: none."""
        self.settings(limits=dashed(limits))

    def machines(self):
        """Those there are: id, name, tags, state and so on."""
        return self.state()['machines']

    def creates(self, since=0):
        return self.log('POST', '/machines', since)

    def wait_for_machines(self, count, limit=30):
        return self.wait(lambda state: len(state['machines']) == count and (state['machines'] or True),
                         limit, f'{count} machines')

    # ---- Configuration ----

    def make(self, kind='machines', **fields):
        """Something that no launcher knows of: a machine, or another kind of object."""
        if kind == 'machines':
            fields = {'name': 'of-somebody-else', 'flavor': 'small', 'image': 'plain', **fields}
        request = urllib.request.Request(f'{self.url}/{kind}', json.dumps(fields).encode(),
                                         {'X-Token': TOKEN, 'Content-Type': 'application/json'})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return next(iter(json.load(answer).values()))

    def provider(self, name, labels=None, pools=None, **options):
        """A provider's section, with one pool `main` that has the labels unless `pools` are given.
        Quick: lists are fetched ten times a second."""
        values = {'name': name, 'driver': 'testcloud', 'url': self.url, 'token': TOKEN,
                  'list-interval': 0.1, 'cloud-images': [IMAGE],
                  'pools': pools if pools is not None else [pool(labels=labels)]}
        values.update(dashed(options))
        return values
