"""An independent ZooKeeper client for tests: kazoo, driven by JSON lines.

    kazoo-peer.py HOSTS TIMEOUT [CERT KEY CA]

Each line of the input is {"id": number, "command": name, ...arguments}; each gets one line
{"id": number, "result": value} or {"id": number, "error": exception's name, "message": text}.
Commands run side by side, so that a blocking lock does not keep the others waiting. A change of the
connection is told as {"state": "CONNECTED" | "SUSPENDED" | "LOST"}. At the end of the input the
process ends without closing the session, as a crashed client would.
"""

import json
import os
import socket
import sys
import threading

from kazoo.client import KazooClient, KazooState
from kazoo.security import ACL, Id

output_lock = threading.Lock()


def tell(**message):
    with output_lock:
        print(json.dumps(message), flush=True)


def as_dict(stat):
    return None if stat is None else stat._asdict()


class Peer:
    def __init__(self, hosts, timeout, tls):
        self.hosts = hosts
        options = {}
        if tls:
            options = dict(zip(('certfile', 'keyfile', 'ca'), tls), use_ssl=True)
        self.client = KazooClient(hosts=hosts, timeout=timeout, **options)
        self.locks = {}
        self.lost = threading.Event()
        self.client.add_listener(self.state_changed)

    def state_changed(self, state):
        if state == KazooState.LOST:
            self.lost.set()
        tell(state=state)

    # Each method below is a command; its parameters are the command's arguments.

    def create(self, path, data='', ephemeral=False, sequence=False, makepath=False):
        return self.client.create(path, data.encode(), ephemeral=ephemeral, sequence=sequence,
                                  makepath=makepath)

    def ensure(self, path):
        self.client.ensure_path(path)

    def get(self, path):
        data, stat = self.client.get(path)
        return dict(as_dict(stat), data=data.decode(errors='backslashreplace'))

    def set(self, path, data, version=-1):
        return as_dict(self.client.set(path, data.encode(), version))

    def delete(self, path, version=-1, recursive=False):
        self.client.delete(path, version, recursive)

    def children(self, path):
        return sorted(self.client.get_children(path))

    def exists(self, path):
        return as_dict(self.client.exists(path))

    def acl(self, path):
        return [[entry.id.scheme, entry.id.id, entry.perms]
                for entry in self.client.get_acls(path)[0]]

    def allow(self, path, permissions):
        """What everybody may do with the znode: the sum of kazoo.security.Permissions."""
        self.client.set_acls(path, [ACL(permissions, Id('world', 'anyone'))])

    def lock(self, path, identifier=None, blocking=True, timeout=None, ephemeral=True):
        """True or False; the error LockTimeout after `timeout` seconds."""
        lock = self.client.Lock(path, identifier)
        acquired = lock.acquire(blocking=blocking, timeout=timeout, ephemeral=ephemeral)
        if acquired:
            self.locks[path] = lock
        return acquired

    def unlock(self, path):
        return self.locks.pop(path).release()

    def contenders(self, path):
        """The identifiers, the holder's first."""
        return self.client.Lock(path).contenders()

    def session(self):
        session_id, password = self.client.client_id
        return {'id': session_id, 'password': password.hex()}

    def drop_connection(self):
        """Cuts the connection. The client connects again with the same session."""
        self.client._connection._socket.shutdown(socket.SHUT_RDWR)

    def end_session(self, session, password):
        """Ends the session of another client at the server, as its expiry would."""
        other = KazooClient(hosts=self.hosts, client_id=(session, bytes.fromhex(password)))
        other.start()
        other.stop()
        other.close()

    def expire(self):
        """Ends this client's own session at the server and waits until the client knows."""
        self.lost.clear()
        session, password = self.client.client_id
        self.end_session(session, password.hex())
        if not self.lost.wait(20):
            raise TimeoutError('the session did not end')

    def close(self):
        """Closes the session in good order."""
        self.client.stop()
        self.client.close()


def run(peer, command):
    number = command.pop('id')
    try:
        method = getattr(peer, command.pop('command'))
        tell(id=number, result=method(**command))
    except Exception as problem:
        tell(id=number, error=type(problem).__name__, message=str(problem))


def main():
    peer = Peer(sys.argv[1], float(sys.argv[2]), sys.argv[3:])
    peer.client.start(timeout=60)
    for line in sys.stdin:
        threading.Thread(target=run, args=(peer, json.loads(line)), daemon=True).start()
    os._exit(0)


main()
