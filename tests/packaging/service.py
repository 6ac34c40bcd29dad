"""The launcher of a package, started by hand as its unit would, and tests in a root that has it."""

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import unittest

import built
from clean_root import CleanRoot
from openstack_cloud import OpenStack
from sshd import Sshd
from zookeeper import ZooKeeper

LIMIT = 120
CONFIG = '/etc/nodepool/nodepool.yaml'
UNIT = '/lib/systemd/system/drover-launcher.service'
STATE = '/var/lib/drover/launcher'


def wait(condition, what):
    deadline = time.monotonic() + LIMIT
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise AssertionError(f'no {what} within {LIMIT} s')
        time.sleep(0.1)


class Service:
    def __init__(self, root):
        self.root = root
        self.process = None
        self.log_path = root.path('/srv/launcher.log')

    def command_line(self):
        unit = self.root.read(UNIT).replace('\\\n', ' ')
        line = re.search('^ExecStart=(.*)$', unit, re.M).group(1)
        return [word for word in shlex.split(line.replace('%t', '/run'))
                if not word.startswith('$')]

    def start(self):
        for folder, mode in ((STATE, '0700'), ('/run/drover', '0750'), ('/var/log/drover', '0750')):
            self.root.run('install', '-d', '-o', 'drover', '-g', 'drover', '-m', mode, folder)
        with open(self.log_path, 'a', encoding='utf-8') as log:
            self.process = subprocess.Popen(
                self.root.command(*self.command_line(), user='drover'),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        """As `systemctl restart` ends it."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def stop(self):
        """Returns its exit code. The run-time folder goes, as its unit has it."""
        self.process.terminate()
        code = self.process.wait(LIMIT)
        self.process = None
        shutil.rmtree(self.root.path('/run/drover'))
        return code

    def log(self):
        with open(self.log_path, encoding='utf-8') as log:
            return log.read()

    def session(self):
        return json.loads(self.root.read(f'{STATE}/session.json'))


class ServiceCase(unittest.TestCase):
    """Steps that build on each other, in a clean root beside a store."""

    failed = False

    @classmethod
    def setUpClass(cls):
        cls.root = cls.enterClassContext(CleanRoot())
        cls.root.set_source(built.debian()[0])
        cls.server = cls.enterClassContext(ZooKeeper())
        cls.service = Service(cls.root)
        cls.addClassCleanup(cls.service.kill)

    def run(self, result=None):
        """What comes after a failure of the same class would only fail as well."""
        if type(self).failed:
            result.addSkip(self, 'an earlier step failed')
            return
        before = len(result.failures) + len(result.errors)
        super().run(result)
        type(self).failed = len(result.failures) + len(result.errors) > before
        if type(self).failed and os.path.exists(self.service.log_path):
            print(self.service.log()[-6000:], file=sys.stderr)

    def drover(self, *words):
        """What the command line prints with --json."""
        return json.loads(self.root.run('drover', *words, '--json').stdout)

    def submit(self, label):
        return self.drover('request', 'submit', '--label', label)['id']

    def wait_for_fulfilled(self, request):
        wait(lambda: self.drover('request', 'show', request)['state'] == 'fulfilled',
             f'fulfilled request {request}')


class LabCase(ServiceCase):
    """The same with a machine, which is the only one, and a cloud."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.machine = cls.enterClassContext(contextlib.closing(Sshd().start()))
        cls.cloud = cls.enterClassContext(contextlib.closing(OpenStack().start()))
        cls.root.write('/etc/openstack/clouds.yaml',
                       json.dumps({'clouds': {'fake': cls.cloud.entry()}}))
        cls.requests = []

    def configure(self, *others):
        """With providers beside those of the machine and of the cloud."""
        lab = {'name': 'lab', 'driver': 'static', 'pools': [{'name': 'main', 'nodes': [{
            'name': '127.0.0.1', 'labels': 'board', 'host-key': self.machine.keys[0],
            'connection-port': self.machine.port}]}]}
        self.root.write(CONFIG, json.dumps({
            'zookeeper-servers': [{'host': '127.0.0.1', 'port': self.server.port}],
            'zookeeper-timeout': 30,
            'labels': [{'name': 'board'}, {'name': 'l'}],
            'providers': [lab, self.cloud.provider('cloud'), *others]}, indent=1))

    def serve(self):
        """The machine has been given away when this returns."""
        request = self.submit('board')
        self.wait_for_fulfilled(request)
        self.requests.append(request)

    def check_upgrade(self, upgrade):
        """With a request that waits and a launch that is under way: both are served after, in the
        same session, and nothing is made twice."""
        waiting = self.submit('board')
        self.cloud.settings(active_after=1000)
        launched = self.submit('l')
        server, = wait(self.cloud.servers, 'server in the cloud')
        session = self.service.session()
        upgrade()
        self.service.kill()
        self.service.start()
        self.drover('request', 'release', self.requests.pop())
        self.wait_for_fulfilled(waiting)
        self.cloud.boot(server['id'])
        self.wait_for_fulfilled(launched)
        self.assertEqual([made['id'] for made in self.cloud.servers()], [server['id']])
        self.assertEqual(len(self.cloud.creates()), 1)
        self.assertEqual(self.service.session(), session)
        self.assertIn('taken up again', self.service.log())
        self.requests.append(waiting)
