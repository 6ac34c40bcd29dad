"""A real ZooKeeper server as a child process, for tests written in Python.

    with ZooKeeper() as server:
        client = server.client(timeout=10)

The same as zookeeper.h for tests written in C: free loopback ports, a temporary data folder, no
admin server, no fsync. The server does not outlive the thread that started it. Run with
/usr/bin/python3, which has Debian's python3-kazoo.
"""

import ctypes
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

# Debian's zookeeper.jar names the jars it needs, but for those of Netty's TLS.
CLASSPATH = ':'.join(f'/usr/share/java/{jar}.jar'
                     for jar in ('zookeeper', 'netty-codec', 'slf4j-simple'))
JAVA = ['java', '-Xmx256m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xshare:auto',
        '-XX:-UsePerfData', '-Dzookeeper.forceSync=no', '-Dzookeeper.jmx.log4j.disable=true',
        '-Dzookeeper.admin.enableServer=false',
        '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-cp', CLASSPATH,
        'org.apache.zookeeper.server.quorum.QuorumPeerMain']
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def die_with_parent():
    """For subprocess's preexec_fn: the child is killed when the thread that starts it ends."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def free_port():
    """A free port of 127.0.0.1, below those that the kernel gives to outgoing connections."""
    while True:
        port = random.randrange(16000, 32000)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(('127.0.0.1', port))
                return port
            except OSError:
                continue


class ZooKeeper:
    """`tick`: milliseconds; the shortest session is two ticks, the longest a minute.

    `tls`: None, or the paths (certificate, key, CA) of PEM files, for a second port with TLS that
    asks clients for a certificate of this CA. `config`: further lines of zoo.cfg.
    """

    def __init__(self, tick=200, tls=None, config=''):
        self.folder = tempfile.mkdtemp(prefix='drover-test-')
        self.port = free_port()
        self.tls_port = free_port() if tls else None
        self.hosts = f'127.0.0.1:{self.port}'
        self.process = None
        self._write_config(tick, tls, config)

    def _write_config(self, tick, tls, config):
        lines = [f'tickTime={tick}', f'minSessionTimeout={2 * tick}', 'maxSessionTimeout=60000',
                 f'dataDir={self.folder}/data', f'clientPort={self.port}',
                 'clientPortAddress=127.0.0.1', 'maxClientCnxns=0', 'admin.enableServer=false',
                 '4lw.commands.whitelist=*']
        if tls:
            cert, key, ca = tls
            with open(f'{self.folder}/keystore.pem', 'w', encoding='ascii') as store:
                for path in (key, cert):
                    with open(path, encoding='ascii') as part:
                        store.write(part.read())
            lines += [f'secureClientPort={self.tls_port}', 'secureClientPortAddress=127.0.0.1',
                      'serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory',
                      f'ssl.keyStore.location={self.folder}/keystore.pem',
                      f'ssl.trustStore.location={ca}',
                      'ssl.hostnameVerification=false', 'ssl.clientAuth=need']
        with open(f'{self.folder}/zoo.cfg', 'w', encoding='utf-8') as out:
            out.write('\n'.join(lines + [config, '']))

    def start(self):
        """Starts the server and waits until it answers. Returns the server."""
        with open(f'{self.folder}/log', 'ab') as log:
            self.process = subprocess.Popen(
                JAVA + [f'{self.folder}/zoo.cfg'], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, preexec_fn=die_with_parent)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                if 'Mode: ' in self.command('srvr', limit=0.25):
                    return self
            except OSError:
                pass
            time.sleep(0.02)
        self.kill()
        with open(f'{self.folder}/log', encoding='utf-8') as log:
            raise RuntimeError(f'ZooKeeper at {self.hosts} did not start: {log.read(4000)}')

    def command(self, word, limit=5.0):
        """The answer to a four-letter command."""
        answer = b''
        with socket.create_connection(('127.0.0.1', self.port), limit) as connection:
            connection.sendall(word.encode())
            while piece := connection.recv(4096):
                answer += piece
        return answer.decode()

    def end_session(self, session, password):
        """Ends a client's session, as its expiry would. The client may be connected meanwhile."""
        connect = struct.pack('>iqiqi16s?', 0, 0, 10000, session, len(password), password, False)
        close = struct.pack('>ii', 1, -11)
        with socket.create_connection(('127.0.0.1', self.port), 5) as connection:
            for message in (connect, close):
                connection.sendall(struct.pack('>i', len(message)) + message)
            while connection.recv(4096):
                pass

    def _end(self, number):
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait()
            self.process = None

    def stop(self):
        self._end(signal.SIGTERM)

    def kill(self):
        self._end(signal.SIGKILL)

    def restart(self):
        """Starts it again with the same ports and data; kills it first if it runs."""
        self.kill()
        return self.start()

    def pause(self):
        """Connections stay, nothing answers."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def client(self, timeout=10.0, **options):
        """A kazoo client that is connected. The caller stops and closes it."""
        from kazoo.client import KazooClient
        client = KazooClient(hosts=self.hosts, timeout=timeout, **options)
        client.start()
        return client

    def close(self):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()


if __name__ == '__main__':
    # By hand: a server to look at, until the input ends.
    import sys
    with ZooKeeper() as running:
        print(running.hosts, flush=True)
        sys.stdin.read()
