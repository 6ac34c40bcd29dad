"""A TCP relay on loopback that loses answers, or everything, when told to.

    with Proxy(server.port) as proxy:
        ...connect to proxy.port...
        proxy.lose_answer()
        proxy.cut()
        proxy.mend()

For a lost answer the connection is cut only once the server has answered what the client sent, so
that it did happen and the client cannot know.
"""

import asyncio
import threading


class Proxy:
    def __init__(self, port):
        self.upstream = port
        self.port = None
        self.cuts = 0
        self.loop = asyncio.new_event_loop()
        self.losing = None  # what is in the question whose answer is to be lost
        self.is_cut = False
        self.listener = None
        self.connections = set()
        self.started = threading.Event()
        self.thread = threading.Thread(target=self._run, name='proxy', daemon=True)
        self.thread.start()
        self.started.wait()

    # ---- In the proxy's own thread ----

    def _run(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self._listen())
        self.loop.run_forever()
        self.loop.close()

    async def _listen(self):
        self.listener = await asyncio.start_server(self._serve, '127.0.0.1', 0)
        self.port = self.listener.sockets[0].getsockname()[1]
        self.started.set()

    async def _serve(self, reader, writer):
        if self.is_cut:
            writer.transport.abort()
            return
        try:
            answers, requests = await asyncio.open_connection('127.0.0.1', self.upstream)
        except OSError:
            writer.transport.abort()
            return
        connection = {'ends': (writer, requests), 'asked': False}
        self.connections.add(writer)
        await asyncio.gather(self._pass_on(reader, requests, connection, True),
                             self._pass_on(answers, writer, connection, False))
        self.connections.discard(writer)

    async def _pass_on(self, reader, writer, connection, is_request):
        try:
            while data := await reader.read(65536):
                if is_request:
                    if self.losing is not None and self.losing in data:
                        connection['asked'] = True
                elif self.losing is not None and connection['asked']:
                    self.losing = None
                    self.cuts += 1
                    break
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        for end in connection['ends']:
            end.transport.abort()

    # ---- Outside ----

    def lose_answer(self, to=b''):
        """The next question of any client, with this in it, is passed on; its answer is not, and the
        line is cut."""
        self.loop.call_soon_threadsafe(setattr, self, 'losing', to)

    def cut(self):
        """No connection from now on."""
        def end():
            self.is_cut = True
            self._abort_all()

        self.loop.call_soon_threadsafe(end)

    def mend(self):
        self.loop.call_soon_threadsafe(setattr, self, 'is_cut', False)

    def _abort_all(self):
        for writer in self.connections:
            writer.transport.abort()

    def close(self):
        def end():
            self.listener.close()
            self._abort_all()
            self.loop.call_soon(self.loop.stop)

        self.loop.call_soon_threadsafe(end)
        self.thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
