"""The process: connections, and what faults do to them."""

import asyncio
import socket
import time

from faults import Faults, spoil
from wire import Answer, Refused, read_request


class Cut(Exception):
    """The connection is to be cut without another word."""


class Server:
    """`account`: what there is; `api`: the cloud's calls; `control`: the class of the test's."""

    def __init__(self, account, api, control, context=None):
        self.account, self.api, self.context = account, api, context
        self.faults = Faults()
        self.log = []
        self.control = control(account, self.faults, self.log)
        self.writers = {}  # connection -> its number
        self.connections = 0
        self.port = None
        self.listening = None

    async def start(self, port):
        self.listening = await asyncio.start_server(self.serve, '127.0.0.1', port, backlog=1024,
                                                    reuse_address=True, ssl=self.context)
        self.port = self.listening.sockets[0].getsockname()[1]
        return self.port

    def close(self):
        self.listening.close()
        self.account.close()
        self.cut_all()

    def cut_all(self, but=None):
        for writer in list(self.writers):
            if writer is not but:
                writer.transport.abort()

    async def serve(self, reader, writer):
        self.connections += 1
        self.writers[writer] = self.connections
        writer.get_extra_info('socket').setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while (request := await read_request(reader)) is not None:
                await self.serve_one(request, writer)
        except (Cut, OSError, asyncio.IncompleteReadError, ValueError):
            pass
        finally:
            del self.writers[writer]
            writer.transport.abort()

    async def serve_one(self, request, writer):
        if request.parts[0] == 'control':
            await request.read_body()
            answer = await self.refuse_or(self.control.answer, request)
            answer.write_to(writer)
            await writer.drain()
            return
        if not self.api.streams(request):
            await request.read_body()
        entry = self.note(request, writer)
        fault = self.faults.find(request, self.api.tags_of(request))
        try:
            await self.carry_out(request, writer, fault, entry)
        finally:
            entry['end'] = time.monotonic()

    def note(self, request, writer):
        entry = {'time': time.monotonic(), 'client': self.writers[writer], 'method': request.method,
                 'path': request.path, 'query': request.query, 'body': request.text(),
                 'user_agent': request.headers.get('user-agent'), 'status': None, 'answer': None,
                 **self.api.note(request)}
        self.log.append(entry)
        return entry

    async def refuse_or(self, function, *arguments):
        try:
            answer = function(*arguments)
            return await answer if asyncio.iscoroutine(answer) else answer
        except Refused as refused:
            return refused.answer

    # ---- Faults ----

    async def carry_out(self, request, writer, fault, entry):
        await asyncio.sleep(fault.get('delay', 0))
        await self.maybe_lose(request, writer, fault, 'before')
        if 'restart' in fault:
            await self.restart(fault['restart'])
        if 'limits' in fault:
            self.account.change_settings({'limits': fault['limits']})
        answer = self.scripted(request, fault) if 'status' in fault else \
            await self.refuse_or(self.api.answer, request, fault)
        await self.finish_body(request)
        entry['status'], entry['answer'] = answer.status, answer.body
        await self.maybe_lose(request, writer, fault, 'after')
        if 'garbage' in fault:
            spoil(fault, answer, self.api.again(request))
        answer.write_to(writer, fault.get('half', False))
        await writer.drain()
        if fault.get('half'):
            writer.write_eof()
            raise Cut

    async def finish_body(self, request):
        """What nobody wanted of an upload."""
        async for _ in request.pieces():
            pass

    def scripted(self, request, fault):
        body = fault.get('body', 'as the test wants')
        if isinstance(body, str):
            body = self.api.error_body(request, fault['status'], body)
        return Answer(fault['status'], body, fault.get('headers'))

    async def maybe_lose(self, request, writer, fault, when):
        if fault.get('drop') == when:
            raise Cut
        if fault.get('never') == when:
            await self.finish_body(request)
            await request.reader.read(1)  # until the client hangs up, or speaks out of turn
            raise Cut

    async def restart(self, script):
        if 'token' in script:
            self.account.change_settings({'token': script['token']})
        self.listening.close()
        self.cut_all()
        await asyncio.sleep(script.get('down', 0))
        await self.start(self.port)
        raise Cut
