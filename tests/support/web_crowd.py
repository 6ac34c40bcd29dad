"""Many clients of an HTTP listener at once, which one thread serves.

    with Streams(site, 500) as streams:
        streams.wait_for_events(1)
    with Tricklers(site, 300): ...      # a byte now and then, and again when they are cut off
    with Silent(site, 10_000): ...      # connected, and that is all

`allow_files(count)` first, where there are more than a few hundred.
"""

import contextlib
import errno
import resource
import selectors
import socket
import threading
import time

EVENT = b'}\n\n'  # the end of one that tells something
REQUEST = b'GET /node-list HTTP/1.1\r\nHost: h\r\n'


def allow_files(count):
    """So many descriptors for this process, or as many as there may be. Returns how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = max(soft, min(count, hard) if hard != resource.RLIM_INFINITY else count)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return most


class Client:
    """One connection."""

    def __init__(self, site):
        self.socket = socket.socket()
        self.socket.setblocking(False)
        code = self.socket.connect_ex((site.host, site.port))
        if code not in (0, errno.EINPROGRESS):
            self.socket.close()
            raise OSError(code, 'no connection')
        self.opened = time.monotonic()
        self.received = b''
        self.bytes = 0
        self.ended = False
        self.place = None  # in its crowd

    def on_ready(self):
        """FALSE once the other side has ended it."""
        try:
            data = self.socket.recv(1 << 20)
        except BlockingIOError:
            return True
        except OSError:
            data = b''
        self.bytes += len(data)
        self.ended = not data
        if data:
            self.on_data(data)
        return not self.ended

    def on_data(self, data):
        if len(self.received) < 4096:
            self.received = (self.received + data)[:4096]

    def send(self, data):
        with contextlib.suppress(OSError):
            self.socket.send(data)


class Crowd:
    """`again`: who is cut off comes again."""

    kind = Client

    def __init__(self, site, count, period=0.1, again=False):
        self.site, self.period, self.again = site, period, again
        self.clients = [self.kind(site) for _ in range(count)]
        self.cut_off = 0
        self.news = threading.Condition()
        self.closing = False
        self.selector = selectors.DefaultSelector()
        for place, client in enumerate(self.clients):
            self._watch(client, place)
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.closing = True
        self.thread.join()
        for client in self.clients:
            client.socket.close()
        self.selector.close()

    def _run(self):
        due = 0
        while not self.closing:
            now = time.monotonic()
            if now >= due:
                due = now + self.period
                for client in self.clients:
                    self.on_time(client)
            ended = [key.data for key, _ in self.selector.select(min(0.1, self.period))
                     if not key.data.on_ready()]
            for client in ended:
                self._replace(client)
            with self.news:
                self.news.notify_all()

    def _replace(self, client):
        self.cut_off += 1
        self.selector.unregister(client.socket)
        client.socket.close()
        if self.again:
            with contextlib.suppress(OSError):
                self.clients[client.place] = self.kind(self.site)
                self._watch(self.clients[client.place], client.place)

    def _watch(self, client, place):
        client.place = place
        self.selector.register(client.socket, selectors.EVENT_READ, client)

    def on_time(self, client):
        """Once in each period."""

    def wait(self, condition, limit=60, what='what the clients wait for'):
        deadline = time.monotonic() + limit
        with self.news:
            while not condition():
                if time.monotonic() > deadline:
                    raise AssertionError(f'{what} has not come')
                self.news.wait(1)


class Silent(Crowd):
    """Says nothing."""


class Trickler(Client):
    def __init__(self, site):
        super().__init__(site)
        self.left = REQUEST + b'X-Padding: ' + b'x' * 10_000


class Tricklers(Crowd):
    """A request head that never ends, byte by byte."""

    kind = Trickler

    def __init__(self, site, count, period=0.1, again=True):
        super().__init__(site, count, period, again)

    def on_time(self, client):
        client.send(client.left[:1])
        client.left = client.left[1:]


class Stream(Client):
    def __init__(self, site):
        super().__init__(site)
        self.asked = False
        self.events = 0
        self.last = b''  # may be the beginning of an end

    def ask(self):
        if not self.asked:
            self.asked = True
            self.send(b'GET /overview/events HTTP/1.0\r\n\r\n')

    def on_data(self, data):
        super().on_data(data)
        data = self.last + data
        self.events += data.count(EVENT)
        self.last = data[1 - len(EVENT):]


class Streams(Crowd):
    """Server-sent events, counted when they are there."""

    kind = Stream

    def on_time(self, client):
        client.ask()

    def wait_for_events(self, count, limit=60):
        """Until each has got so many."""
        self.wait(lambda: min(one.events for one in self.clients) >= count, limit,
                  f'an event number {count} for each')
