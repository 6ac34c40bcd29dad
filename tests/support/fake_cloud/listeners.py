"""What listens where machines are: a listener each, on a free port of the machine's address.

    {"kind": "accept"}              accepts connections and stays silent
    {"kind": "refuse"}              the port is nobody else's and refuses
    {"kind": "late", "after": S}    refuses for so many seconds, then as "accept"
    {"kind": "forward", "to": PORT} goes on to that port of 127.0.0.1, say to a real sshd;
                                    "silent": N: the first N connections are accepted and left
                                    alone; "after": S: refuses before
"""

import asyncio
import socket


class Listener:
    def __init__(self, all_of_them, address, script):
        self.all, self.script = all_of_them, script
        self.accepted = self.open = 0
        self.silent = script.get('silent', 0)
        self.tasks = set()
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.setblocking(False)
        self.socket.bind((address, 0))  # bound without listening: connections are refused
        self.port = self.socket.getsockname()[1]
        self.timer = None
        loop = asyncio.get_running_loop()
        if script['kind'] != 'refuse':
            self.timer = loop.call_later(script.get('after', 0), self.listen) \
                if script.get('after') else self.listen()

    def listen(self):
        self.socket.listen(64)
        self.keep(self.accept_all())

    def keep(self, coroutine):
        task = asyncio.get_running_loop().create_task(coroutine)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def accept_all(self):
        loop = asyncio.get_running_loop()
        while True:
            connection, _ = await loop.sock_accept(self.socket)
            self.accepted += 1
            forward = self.script['kind'] == 'forward' and self.accepted > self.silent
            self.keep(self.serve(connection, forward))

    async def serve(self, connection, forward):
        self.open += 1
        self.all.note_open(1)
        reader, writer = await asyncio.open_connection(sock=connection)
        try:
            if forward:
                await self.carry(reader, writer)
            else:
                while await reader.read(4096):
                    pass
        except OSError:
            pass
        finally:
            self.open -= 1
            self.all.note_open(-1)
            writer.close()

    async def carry(self, reader, writer):
        inside, outside = await asyncio.open_connection('127.0.0.1', self.script['to'])
        try:
            await asyncio.gather(copy(reader, outside), copy(inside, writer))
        finally:
            outside.close()

    def close(self):
        if self.timer is not None:
            self.timer.cancel()
        for task in list(self.tasks):
            task.cancel()
        self.socket.close()


async def copy(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


class Listeners:
    def __init__(self):
        self.of_machines = {}
        self.past = {}
        self.open_now = self.most_open = 0

    def open(self, machine_id, address, script):
        """Its port."""
        self.of_machines[machine_id] = Listener(self, address, script)
        return self.of_machines[machine_id].port

    def note_open(self, change):
        self.open_now += change
        self.most_open = max(self.most_open, self.open_now)

    def close(self, machine_id):
        listener = self.of_machines.pop(machine_id, None)
        if listener is not None:
            self.past[machine_id] = listener.accepted
            listener.close()

    def close_all(self):
        for machine_id in list(self.of_machines):
            self.close(machine_id)
        self.past.clear()
        self.most_open = self.open_now

    def describe(self):
        """Connections: of each machine that ever listened, and open ones of all."""
        accepted = {**self.past, **{machine_id: listener.accepted
                                    for machine_id, listener in self.of_machines.items()}}
        return {'accepted': accepted, 'open': self.open_now, 'most_open': self.most_open}
