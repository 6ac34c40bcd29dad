"""Nodepool's own launcher as a child process, in place of ours: see Launcher.

DROVER_NODEPOOL names a folder with Nodepool's sources. Its drivers need libraries of many clouds;
those whose libraries are not there have to be removed from nodepool/driver.
"""

import os
import subprocess
import threading

from launcher import Launcher
from zookeeper import die_with_parent

# It only connects with TLS, which the server of the tests has not: the files are any that can be
# read, and kazoo does not hear of them.
PROGRAM = '''
import sys
import nodepool.zk
TLS = ('use_ssl', 'certfile', 'keyfile', 'ca')
Client = nodepool.zk.ZuulKazooClient
nodepool.zk.ZuulKazooClient = lambda **options: Client(
    **{name: value for name, value in options.items() if name not in TLS})
sys.argv[0] = 'nodepool-launcher'
from nodepool.cmd import launcher
sys.exit(launcher.main())
'''


class NodepoolLauncher(Launcher):
    """It ends at SIGTERM without a word, as it always does, and keeps no session."""

    def configure(self, providers, **config):
        super().configure(providers, zookeeper_tls={'cert': '/etc/hostname', 'key': '/etc/hostname',
                                                    'ca': '/etc/hostname'}, **config)

    def start(self):
        environment = {**os.environ, 'PYTHONPATH': os.environ['DROVER_NODEPOOL'],
                       'PBR_VERSION': '11.0.0', 'PYTHONUNBUFFERED': '1'}
        self.process = subprocess.Popen(
            ['/usr/bin/python3', '-c', PROGRAM, '-c', self.config_path, '-d', '--no-webapp',
             '-p', f'{self.folder}/nodepool.pid'],
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors='replace', preexec_fn=die_with_parent)
        self.reader = threading.Thread(target=self._read, args=(self.process.stdout,), daemon=True)
        self.reader.start()
        return self
