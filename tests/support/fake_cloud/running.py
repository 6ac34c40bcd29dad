"""What runs a fake cloud until its standard input ends."""

import asyncio
import os
import sys


def write_port(path, port):
    with open(f'{path}.new', 'w', encoding='ascii') as out:
        out.write(f'{port}\n')
    os.rename(f'{path}.new', path)


async def run(make_server, port=0, port_file=None):
    """`make_server`: called when there is a loop. Writes "port N", and N to the file."""
    server = make_server()
    port = await server.start(port)
    print('port', port, flush=True)
    if port_file:
        write_port(port_file, port)
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), lambda: sys.stdin.buffer.read1() or ended.set())
    await ended.wait()
    loop.remove_reader(sys.stdin.fileno())
    server.close()
