"""A real SSH server (Debian's package openssh-server) on a loopback port, for tests in Python.

The same as sshd.h for tests in C. It does not outlive the thread that started it.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from zookeeper import die_with_parent, free_port

PROGRAM = '/usr/sbin/sshd'


class Sshd:
    """`keys` holds "type base64" of each host key, in the order of `key_types`."""

    def __init__(self, key_types=('ed25519',), address='127.0.0.1'):
        self.folder = tempfile.mkdtemp(prefix='drover-test-')
        self.address, self.port = address, free_port()
        self.process = None
        self.keys = []
        self._files = []
        for key_type in key_types:
            self.add_key(key_type)
        self.offered = list(range(len(self.keys)))

    def add_key(self, key_type):
        path = f'{self.folder}/{len(self._files)}'
        subprocess.run(['ssh-keygen', '-q', '-N', '', '-t', key_type, '-f', path], check=True)
        with open(f'{path}.pub', encoding='ascii') as public:
            self.keys.append(' '.join(public.read().split()[:2]))
        self._files.append(path)

    def start(self, offered=None):
        """Returns when it accepts connections. `offered`: indices of the keys, in their order."""
        if offered is not None:
            self.offered = offered
        lines = [f'ListenAddress {self.address}', f'Port {self.port}', 'PidFile none', 'UsePAM no',
                 'MaxStartups 1000', 'AuthorizedKeysFile none',
                 *(f'HostKey {self._files[index]}' for index in self.offered), '']
        with open(f'{self.folder}/sshd_config', 'w', encoding='ascii') as config:
            config.write('\n'.join(lines))
        os.makedirs('/run/sshd', mode=0o755, exist_ok=True)
        with open(f'{self.folder}/log', 'ab') as log:
            self.process = subprocess.Popen(
                [PROGRAM, '-D', '-e', '-f', f'{self.folder}/sshd_config'],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=die_with_parent)
        deadline = time.monotonic() + 20
        while True:
            try:
                socket.create_connection((self.address, self.port), 1).close()
                return self
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise
                time.sleep(0.01)

    def stop(self):
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait()
            self.process = None

    def close(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
