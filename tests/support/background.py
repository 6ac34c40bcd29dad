"""A launcher in the background, which its starter leaves behind.

The test becomes the parent of what its children leave, so that it can wait for the daemon's end, and
ends it with the test.
"""

import ctypes
import glob
import os
import signal
import subprocess
import time

PR_SET_CHILD_SUBREAPER = 36
LIMIT = 60


def start(program, arguments, folder):
    """The starting process; its streams are pipes."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # The daemon has no standard error, where a sanitizer could complain.
    options = f"{os.environ.get('ASAN_OPTIONS', '')}:log_path={folder}/sanitizer"
    return subprocess.Popen([program, *arguments], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=dict(os.environ, ASAN_OPTIONS=options))


class Background:
    """`link`: the name under which the program is called."""

    def __init__(self, launcher, link='nodepool-launcher'):
        self.folder = launcher.folder
        self.pid_file, self.log = f'{self.folder}/pid', f'{self.folder}/log'
        self.program = f'{self.folder}/{link}'
        if not os.path.lexists(self.program):
            os.symlink(os.path.abspath(os.environ['DROVER_LAUNCHER']), self.program)
        self.arguments = [word for word in launcher.arguments if word != '-d']
        self.arguments += ['-p', self.pid_file, '--log-file', self.log]
        self.pid = None

    def begin(self, *more):
        """The starting process."""
        return start(self.program, [*self.arguments, *more], self.folder)

    def start(self, *more):
        """Returns (status, standard error) of the starting process."""
        starter = self.begin(*more)
        _, complaint = starter.communicate(timeout=LIMIT)
        if starter.returncode == 0:
            with open(self.pid_file, encoding='ascii') as file:
                self.pid = int(file.read())
        return starter.returncode, complaint

    def text(self):
        try:
            with open(self.log, encoding='utf-8') as file:
                return file.read()
        except FileNotFoundError:
            return ''

    def stop(self, number=signal.SIGTERM):
        """Returns the daemon's exit status, and raises what a sanitizer found."""
        os.kill(self.pid, number)
        deadline = time.monotonic() + LIMIT
        while (ended := os.waitpid(self.pid, os.WNOHANG))[0] == 0:
            if time.monotonic() > deadline:
                self.close()
                raise AssertionError(f'the daemon does not end: {self.text()}')
            time.sleep(0.02)
        self.pid = None
        for path in glob.glob(f'{self.folder}/sanitizer*'):
            with open(path, encoding='utf-8') as file:
                raise AssertionError(file.read())
        return os.waitstatus_to_exitcode(ended[1])

    def close(self):
        if self.pid is not None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = None
