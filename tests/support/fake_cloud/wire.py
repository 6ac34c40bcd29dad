"""HTTP/1.1 as far as the fake cloud needs it: requests in, answers out."""

import json
import urllib.parse
from http import HTTPStatus

MOST_HEAD = 64 * 1024
PIECE = 64 * 1024


class Refused(Exception):
    """What the cloud answers instead of doing it."""

    def __init__(self, status, code, message):
        super().__init__(message)
        self.answer = Answer(status, {'error': {'code': code, 'message': message}})


class Answer:
    """`body`: bytes, text, or any value that becomes JSON; None: no body."""

    def __init__(self, status=200, body=None, headers=None):
        self.status, self.body, self.headers = status, body, dict(headers or {})

    def encode(self):
        if self.body is None:
            return b''
        if isinstance(self.body, bytes):
            return self.body
        if isinstance(self.body, str):
            return self.body.encode()
        return json.dumps(self.body).encode()

    def write_to(self, writer, half=False):
        body = self.encode()
        try:
            phrase = HTTPStatus(self.status).phrase
        except ValueError:
            phrase = 'As Asked'
        kind = 'text/plain' if isinstance(self.body, (str, bytes)) else 'application/json'
        headers = {'Content-Type': kind, 'Content-Length': len(body), **self.headers}
        lines = [f'HTTP/1.1 {self.status} {phrase}']
        lines += [f'{name}: {value}' for name, value in headers.items()]
        writer.write('\r\n'.join([*lines, '', '']).encode('latin-1'))
        writer.write(body[:max(len(body) // 2, 1)] if half else body)


class Request:
    """The body is read by read_body(): uploads want to see it pass."""

    def __init__(self, method, target, headers, reader):
        parts = urllib.parse.urlsplit(target)
        self.method, self.path = method, urllib.parse.unquote(parts.path)
        self.parts = [urllib.parse.unquote(part) for part in parts.path.strip('/').split('/')]
        self.query = dict(urllib.parse.parse_qsl(parts.query))
        self.headers = headers
        self.reader = reader
        self.length = int(headers.get('content-length', 0))
        self.left = self.length
        self.body = b''

    async def pieces(self):
        while self.left > 0:
            piece = await self.reader.read(min(self.left, PIECE))
            if not piece:
                raise ConnectionResetError('the client went away')
            self.left -= len(piece)
            yield piece

    async def read_body(self):
        """Unless somebody has read it already."""
        async for piece in self.pieces():
            self.body += piece

    def json(self):
        try:
            value = json.loads(self.body)
        except ValueError:
            raise Refused(400, 'bad_request', 'the body is not JSON') from None
        if not isinstance(value, dict):
            raise Refused(400, 'bad_request', 'the body is not an object')
        return value

    def text(self):
        """For the log; a file's bytes are not kept."""
        return self.body.decode('utf-8', 'replace')


async def read_request(reader):
    """None when the client has closed the connection."""
    head = b''
    while not head.endswith(b'\r\n\r\n'):
        line = await reader.readline()
        if not line or len(head) > MOST_HEAD:
            return None
        head += line
        if head == b'\r\n':
            head = b''
    first, *lines = head.decode('latin-1').split('\r\n')
    words = first.split(' ')
    if len(words) != 3:
        return None
    headers = {}
    for line in lines:
        name, colon, value = line.partition(':')
        if colon:
            headers[name.lower()] = value.strip()
    return Request(words[0], words[1], headers, reader)
