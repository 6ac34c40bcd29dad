"""A program on a terminal of some size, and what is drawn there.

    with Terminal(['drover', 'top'], rows=24, columns=80) as terminal:
        terminal.wait_for('Pool')
        terminal.send('q')
        status = terminal.wait()

Needs python3-pyte.
"""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
import threading
import time

import pyte

from zookeeper import die_with_parent

LIMIT = 60


class _Screen(pyte.Screen):
    """One that also knows the other screen, on which full-screen programs draw."""

    is_other = False

    def set_mode(self, *modes, **kwargs):
        super().set_mode(*modes, **kwargs)
        if kwargs.get('private') and 1049 in modes:
            self.is_other = True
            self.erase_in_display(2)

    def reset_mode(self, *modes, **kwargs):
        super().reset_mode(*modes, **kwargs)
        if kwargs.get('private') and 1049 in modes:
            self.is_other = False
            self.erase_in_display(2)


class Terminal:
    def __init__(self, words, rows=24, columns=80, **environment):
        self.side, inner = pty.openpty()
        self.inner = inner  # held, so that its settings can be looked at when the program has ended
        self._set_size(rows, columns)
        self.before = termios.tcgetattr(inner)
        self.screen = _Screen(columns, rows)
        self.lock = threading.Lock()
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b''
        self.process = subprocess.Popen(
            words, stdin=inner, stdout=inner, stderr=subprocess.PIPE,
            preexec_fn=self._prepare, env={**os.environ, 'TERM': 'xterm', **environment})
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _prepare(self):
        os.setsid()
        fcntl.ioctl(self.inner, termios.TIOCSCTTY, 0)
        die_with_parent()

    def _read(self):
        try:
            while data := os.read(self.side, 65536):
                with self.lock:
                    self.raw += data
                    self.stream.feed(data)
        except OSError:
            pass

    def _set_size(self, rows, columns):
        fcntl.ioctl(self.side, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def resize(self, rows, columns):
        with self.lock:
            self.screen.resize(rows, columns)
            self._set_size(rows, columns)
        self.process.send_signal(signal.SIGWINCH)

    def send(self, keys):
        os.write(self.side, keys.encode())

    @property
    def lines(self):
        with self.lock:
            return [line.rstrip() for line in self.screen.display]

    @property
    def text(self):
        return '\n'.join(self.lines)

    def wait_for(self, wanted):
        """A text on the screen, or a condition of its lines."""
        condition = wanted if callable(wanted) else (lambda lines: wanted in '\n'.join(lines))
        deadline = time.monotonic() + LIMIT
        while not condition(lines := self.lines):
            if time.monotonic() > deadline:
                raise AssertionError(f'it is not drawn: {wanted}\n' + '\n'.join(lines))
            time.sleep(0.02)
        return lines

    def is_restored(self):
        """The settings as they were, the usual screen, a cursor."""
        return (termios.tcgetattr(self.inner) == self.before and not self.screen.is_other
                and not self.screen.cursor.hidden)

    def wait(self):
        status = self.process.wait(LIMIT)
        self.errors = self.process.stderr.read().decode()
        return status

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.wait()
        self.process.stderr.close()
        os.close(self.inner)
        self.reader.join(LIMIT)
        os.close(self.side)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
