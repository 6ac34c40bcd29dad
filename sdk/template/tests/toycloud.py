#!/usr/bin/env python3
"""A cloud of no machines, to try the driver with.

    toycloud.py [PORT]

    POST   /machines      {"name", "size", "tags"}: 201 and the machine, which is up a little later
    GET    /machines      {"machines": [...]}
    GET    /machines/ID   the machine
    DELETE /machines/ID   204

Prints "port N" when it listens, on loopback. Ends when its standard input does.
"""

import http.server
import itertools
import json
import os
import sys
import threading
import time

BOOT_SECONDS = 0.3
MOST = 20
TOKEN = 'secret'


class Cloud:
    def __init__(self):
        self.lock = threading.Lock()
        self.machines = {}
        self.numbers = itertools.count(1)

    def create(self, wanted):
        with self.lock:
            if len(self.machines) == MOST:
                return 409, {'error': 'the account has no room left'}
            machine = {'id': f'machine-{next(self.numbers)}', 'name': wanted.get('name'),
                       'tags': wanted.get('tags', {}), 'made': time.monotonic()}
            self.machines[machine['id']] = machine
        return 201, self.show(machine)

    def show(self, machine):
        is_up = time.monotonic() - machine['made'] > BOOT_SECONDS
        return {'id': machine['id'], 'name': machine['name'], 'tags': machine['tags'],
                'state': 'up' if is_up else 'booting', 'address': '127.0.0.1' if is_up else None}

    def list(self):
        with self.lock:
            return 200, {'machines': [self.show(machine) for machine in self.machines.values()]}

    def get(self, machine_id):
        machine = self.machines.get(machine_id)
        return (200, self.show(machine)) if machine else (404, {'error': 'no such machine'})

    def delete(self, machine_id):
        with self.lock:
            gone = self.machines.pop(machine_id, None)
        return (204, None) if gone else (404, {'error': 'no such machine'})


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    cloud = Cloud()

    def answer(self):
        length = int(self.headers.get('Content-Length') or 0)
        body = self.rfile.read(length)
        _, collection, *rest = self.path.split('/')
        status, value = 404, {'error': 'no such address'}
        if self.headers.get('X-Token') != TOKEN:
            status, value = 401, {'error': 'who are you?'}
        elif collection == 'machines':
            key = (self.command, len(rest))
            if key == ('POST', 0):
                status, value = self.cloud.create(json.loads(body))
            elif key == ('GET', 0):
                status, value = self.cloud.list()
            elif key == ('GET', 1):
                status, value = self.cloud.get(rest[0])
            elif key == ('DELETE', 1):
                status, value = self.cloud.delete(rest[0])
        text = b'' if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_DELETE = answer

    def log_message(self, *_):
        pass


def main():
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    server = http.server.ThreadingHTTPServer(('127.0.0.1', port), Handler)
    print(f'port {server.server_address[1]}', flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
    os._exit(0)


if __name__ == '__main__':
    main()
