"""What the launcher tells the service manager, here a datagram socket as systemd has one."""

import os
import signal
import socket
import tempfile
import unittest

from launcher import Launcher, machines, provider
from zookeeper import free_port

LIMIT = 60  # seconds for anything that has to happen
WATCHDOG = 0.4  # seconds in which the manager wants a sign of life


class NoServer:
    """No ZooKeeper: a launcher is ready before it has reached one."""

    def __init__(self):
        self.port = free_port()


class Manager:
    def __init__(self, watchdog=None):
        self.folder = tempfile.TemporaryDirectory(prefix='drover-test-')
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(f'{self.folder.name}/notify')
        self.socket.settimeout(LIMIT)
        self.environment = {'NOTIFY_SOCKET': f'{self.folder.name}/notify'}
        if watchdog:
            self.environment['WATCHDOG_USEC'] = str(int(watchdog * 1e6))

    def hear(self):
        return self.socket.recv(4096).decode().splitlines()

    def hear_all(self):
        """What was said and not heard yet."""
        said = []
        self.socket.setblocking(False)
        try:
            while True:
                said += self.hear()
        except BlockingIOError:
            self.socket.settimeout(LIMIT)
            return said

    def close(self):
        self.socket.close()
        self.folder.cleanup()


class Service(unittest.TestCase):
    def start(self, **options):
        manager = Manager(**options)
        self.addCleanup(manager.close)
        launcher = Launcher(NoServer(), providers=[provider('p', machines(1))])
        self.addCleanup(launcher.close)
        os.environ.update(manager.environment)
        try:
            launcher.start()
        finally:
            for name in manager.environment:
                del os.environ[name]
        return manager, launcher

    def test_ready_and_stopping(self):
        manager, launcher = self.start()
        self.assertEqual(manager.hear(), ['READY=1'])
        launcher.signal(signal.SIGTERM)
        self.assertEqual(manager.hear(), ['STOPPING=1'])
        self.assertEqual(launcher.wait_for_exit(), 0)
        self.assertLessEqual(set(manager.hear_all()), {'STOPPING=1'})
        launcher.check_sanitizers()

    def test_stopping_by_command(self):
        manager, launcher = self.start()
        self.assertEqual(manager.hear(), ['READY=1'])
        launcher.command('stop')
        self.assertEqual(manager.hear(), ['STOPPING=1'])
        self.assertEqual(launcher.wait_for_exit(), 0)

    def test_signs_of_life(self):
        """They come in time while the loop runs, and end when it does not run."""
        manager, launcher = self.start(watchdog=WATCHDOG)
        self.assertEqual(manager.hear(), ['READY=1'])
        for _ in range(4):
            self.assertEqual(manager.hear(), ['WATCHDOG=1'])
        with launcher.frozen():
            manager.hear_all()
            manager.socket.settimeout(3 * WATCHDOG)
            with self.assertRaises(TimeoutError):
                manager.hear()
        manager.socket.settimeout(LIMIT)
        self.assertEqual(manager.hear(), ['WATCHDOG=1'])
        self.assertEqual(launcher.stop(), 0)


if __name__ == '__main__':
    unittest.main(verbosity=2)
