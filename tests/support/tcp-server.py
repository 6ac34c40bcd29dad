#!/usr/bin/python3
"""A TCP server of which a test decides, step by step, what it does with connections.

Called with the address to listen on. Commands arrive on the standard input, one a line:

    refuse                    connections are refused (the port stays reserved)
    deaf                      packets that open a connection are dropped
    silent                    accepts and says nothing
    close                     accepts and closes at once
    say TEXT                  accepts and sends TEXT (with escapes as in Python), then is silent
    forward PORT              passes everything on to PORT of the same address
    forward PORT drop REGEX   the same, but closes when the list of host key types that an SSH
                              client asks for matches
    forward PORT corrupt REGEX   the same, but then changes one bit of the server's signature

What happened is written to the standard output, one word a line: "port N" at the start, then "ready"
for each command, "accepted" and "closed" (by the client) for each connection. Ends with its input.
"""
import asyncio
import re
import socket
import struct
import sys

KEXINIT, NEWKEYS, KEX_REPLY = 20, 21, 31
TYPE = 5  # offset of a packet's type, after its length and the length of the padding


def tell(*words):
    print(*words, flush=True)


def split_packets(data):
    """The SSH packets at the start of data, and the rest."""
    packets = []
    while len(data) >= 4:
        size = 4 + struct.unpack(">I", data[:4])[0]
        if len(data) < size:
            break
        packets.append(data[:size])
        data = data[size:]
    return packets, data


def host_key_types(packet):
    """The second list of names in a KEXINIT packet, after type and cookie."""
    position = TYPE + 1 + 16
    for _ in range(2):
        size = struct.unpack(">I", packet[position:position + 4])[0]
        names = packet[position + 4:position + 4 + size]
        position += 4 + size
    return names.decode()


class PlainPackets:
    """What passes in one direction, looked at packet by packet until encryption begins.

    look(packet) returns the packet to pass on instead, or None to end the connection.
    """

    def __init__(self, look):
        self.look = look
        self.pending = b""
        self.version_seen = False
        self.encrypted = False

    def pass_on(self, data):
        if self.encrypted:
            return data
        self.pending += data
        passed = b""
        if not self.version_seen:
            end = self.pending.find(b"\n") + 1
            if end == 0:
                return b""
            passed, self.pending = self.pending[:end], self.pending[end:]
            self.version_seen = True
        packets, self.pending = split_packets(self.pending)
        for packet in packets:
            self.encrypted = self.encrypted or packet[TYPE] == NEWKEYS
            packet = self.look(packet)
            if packet is None:
                return None
            passed += packet
        if self.encrypted:
            passed, self.pending = passed + self.pending, b""
        return passed


class Meddler:
    """What is done to the packets of one SSH connection; None in place of a packet ends it."""

    def __init__(self, how="", pattern=""):
        self.how = how
        self.pattern = pattern
        self.active = False

    def from_client(self, packet):
        if packet[TYPE] == KEXINIT and self.how:
            self.active = re.search(self.pattern, host_key_types(packet)) is not None
        return None if self.active and self.how == "drop" else packet

    def from_server(self, packet):
        if packet[TYPE] != KEX_REPLY or not self.active:
            return packet
        last = len(packet) - packet[TYPE - 1] - 1  # of the payload, before the padding
        return packet[:last] + bytes([packet[last] ^ 1]) + packet[last + 1:]


class Server:
    def __init__(self, address):
        self.address = address
        self.family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.port = 0
        self.listener = None
        self.accepting = None
        self.connections = set()
        self.fillers = []
        self.bind()

    def bind(self):
        self.listener = socket.socket(self.family, socket.SOCK_STREAM)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.setblocking(False)
        self.listener.bind((self.address, self.port))
        self.port = self.listener.getsockname()[1]

    async def stop(self):
        """Back to a bound socket that refuses connections."""
        tasks = [task for task in [self.accepting, *self.connections] if task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.accepting = None
        for filler in self.fillers:
            filler.close()
        self.fillers = []
        self.listener.close()
        self.bind()

    async def obey(self, line):
        words = line.split()
        await self.stop()
        if words[0] == "deaf":
            self.fill_queue()
        elif words[0] != "refuse":
            self.listener.listen(1000)
            self.accepting = asyncio.create_task(self.accept(words, line))
        tell("ready")

    def fill_queue(self):
        """A queue of connections that nobody accepts: the kernel drops further ones."""
        self.listener.listen(0)
        for _ in range(4):
            filler = socket.socket(self.family, socket.SOCK_STREAM)
            filler.setblocking(False)
            filler.connect_ex((self.address, self.port))
            self.fillers.append(filler)

    async def accept(self, words, line):
        loop = asyncio.get_running_loop()
        while True:
            connection, _ = await loop.sock_accept(self.listener)
            tell("accepted")
            task = asyncio.create_task(self.serve(connection, words, line))
            self.connections.add(task)
            task.add_done_callback(self.connections.discard)

    async def serve(self, connection, words, line):
        if words[0] == "close":
            connection.close()
            return
        reader, writer = await asyncio.open_connection(sock=connection)
        try:
            if words[0] == "say":
                writer.write(line.split(" ", 1)[1].encode().decode("unicode_escape").encode())
            if words[0] == "forward":
                await self.forward(reader, writer, words)
            else:
                while await reader.read(4096):
                    pass
                tell("closed")
        except OSError:
            tell("closed")
        finally:
            writer.close()

    async def forward(self, reader, writer, words):
        meddler = Meddler(*words[2:])
        server_reader, server_writer = await asyncio.open_connection(self.address, int(words[1]))

        async def copy(source, target, packets):
            while True:
                data = await source.read(65536)
                passed = packets.pass_on(data) if data else None
                if passed is None:
                    return
                target.write(passed)

        both = [asyncio.create_task(copy(*way)) for way in (
            (reader, server_writer, PlainPackets(meddler.from_client)),
            (server_reader, writer, PlainPackets(meddler.from_server)))]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in both:
                task.cancel()
            await asyncio.gather(*both, return_exceptions=True)
            server_writer.close()
        tell("closed")


async def main():
    server = Server(sys.argv[1])
    tell("port", server.port)
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := (await reader.readline()).decode().rstrip("\n"):
        await server.obey(line)
    await server.stop()


asyncio.run(main())
