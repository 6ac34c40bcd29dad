"""An HTTP server that does what the path asks for, also what no server should.

    http-server.py [--certificate FILE --key FILE [--clients CA_FILE]]

Listens on a free port of 127.0.0.1 and writes "port N". Ends with its standard input. KEY is any
word; what is counted is counted for it.

    /echo                 what arrived, as JSON: method, path, headers (names in lower case), body
    /status/N             the answer N
    /fail/KEY/N/TIMES     the first TIMES requests are answered with N, later ones echo;
                          ?retry=S adds Retry-After
    /drop/KEY/TIMES       the first TIMES connections are closed without an answer
    /half/KEY/TIMES       the first TIMES answers end in the middle of the body
    /stall                never answers
    /pause                begins an answer and never ends it
    /big/N                a body of N bytes
    /zipped/N             the same, compressed
    /secret               an answer with headers that nobody may log
    /odd                  headers given twice or empty, bytes that are no UTF-8
    /garbage              something else than HTTP
    /count/KEY            how many requests there were
    /times/KEY            counts this one; the milliseconds between the requests, as a JSON list

It also is a proxy: "CONNECT" is followed, and "GET http://..." echoes with "proxied" set.
"""

import argparse
import collections
import gzip
import http.server
import json
import socket
import ssl
import sys
import threading
import time
import urllib.parse

seen = collections.defaultdict(list)
lock = threading.Lock()
ended = threading.Event()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *arguments):
        pass

    def answer(self, body=b'', status=200, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(body)

    def answer_json(self, value, **more):
        self.answer(json.dumps(value).encode(), headers=[('Content-Type', 'application/json')],
                    **more)

    def note(self, key):
        with lock:
            seen[key].append(time.monotonic())
            return len(seen[key])

    def hang_up(self):
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    # ---- What paths ask for ----

    def do_echo(self, proxied=False):
        if 'chunked' in self.headers.get('Transfer-Encoding', ''):
            raise ValueError('a body without its length')
        body = self.rfile.read(int(self.headers.get('Content-Length', 0)))
        self.answer_json({'method': self.command, 'path': self.path, 'proxied': proxied,
                          'headers': {name.lower(): value for name, value in self.headers.items()},
                          'body': body.decode('latin-1')})

    def do_status(self, status):
        self.answer(b'' if status == '204' else b'as asked', int(status))

    def do_fail(self, key, status, times):
        if self.note(key) > int(times):
            self.do_echo()
            return
        self.rfile.read(int(self.headers.get('Content-Length', 0)))
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        self.answer(b'not yet', int(status),
                    [('Retry-After', value) for value in query.get('retry', [])])

    def do_drop(self, key, times):
        if self.note(key) > int(times):
            self.do_echo()
        else:
            self.hang_up()

    def do_half(self, key, times):
        whole = self.note(key) > int(times)
        self.send_response(200)
        self.send_header('Content-Length', '10')
        self.end_headers()
        self.wfile.write(b'0123456789' if whole else b'01234')
        if not whole:
            self.wfile.flush()
            self.hang_up()

    def do_stall(self):
        ended.wait()

    def do_pause(self):
        self.send_response(200)
        self.send_header('Content-Length', '10')
        self.end_headers()
        self.wfile.write(b'01234')
        self.wfile.flush()
        ended.wait()

    def do_big(self, size):
        self.answer(b'x' * int(size))

    def do_zipped(self, size):
        self.answer(gzip.compress(b'x' * int(size)), headers=[('Content-Encoding', 'gzip')])

    def do_secret(self):
        self.answer(b'token-in-body', headers=[('X-Subject-Token', 'token-in-answer'),
                                               ('Set-Cookie', 'session=cookie-in-answer'),
                                               ('X-Request-Id', 'req-1')])

    def do_odd(self):
        self.wfile.write(b'HTTP/1.1 200 \xff\xfe\r\nX-Bytes: a\xffb\r\nX-Twice: 1\r\nX-Twice:   2  \r\n'
                         b'X-Empty:\r\nContent-Length: 3\r\n\r\n\x00\xffz')

    def do_garbage(self):
        self.wfile.write(b'\x16\x03\x01 no HTTP at all\r\n\r\n')
        self.hang_up()

    def do_count(self, key):
        self.answer(str(len(seen[key])).encode())

    def do_times(self, key):
        self.note(key)
        times = seen[key]
        self.answer_json([round((after - before) * 1000)
                          for before, after in zip(times, times[1:])])

    # ---- Methods ----

    def handle_any(self):
        if self.path.startswith('http://'):
            self.do_echo(proxied=True)
            return
        what, *arguments = urllib.parse.urlsplit(self.path).path.strip('/').split('/')
        method = getattr(self, f'do_{what}', None)
        if what == 'echo':
            arguments = []
        if method is None:
            self.do_status(404)
        else:
            method(*arguments)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = handle_any

    def do_CONNECT(self):
        host, port = self.path.rsplit(':', 1)
        self.note('connect')
        with socket.create_connection((host, int(port))) as server:
            self.send_response(200)
            self.send_header('X-Of-Proxy', '1')
            self.end_headers()
            threading.Thread(target=copy, args=(server, self.connection), daemon=True).start()
            copy(self.connection, server)
        self.close_connection = True


def copy(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    context = None

    def finish_request(self, request, client_address):
        if self.context is not None:
            request = self.context.wrap_socket(request, server_side=True)
        super().finish_request(request, client_address)

    def handle_error(self, request, client_address):
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--certificate')
    parser.add_argument('--key')
    parser.add_argument('--clients')
    arguments = parser.parse_args()
    server = Server(('127.0.0.1', 0), Handler)
    if arguments.certificate:
        server.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.context.load_cert_chain(arguments.certificate, arguments.key)
        if arguments.clients:
            server.context.verify_mode = ssl.CERT_REQUIRED
            server.context.load_verify_locations(arguments.clients)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print('port', server.server_port, flush=True)
    sys.stdin.read()
    ended.set()


if __name__ == '__main__':
    main()
