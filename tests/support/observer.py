"""A witness of everything that happens in a ZooKeeper server, in a process of its own.

    observer = Observer(server, chroot='/t1')
    observer.wait(lambda cluster: cluster.ready_nodes('label'))
    assert observer.finish() == []

The process follows the server's transaction log, so nothing escapes it, not even what is changed
again in the next moment, and it asks the server nothing. It checks invariants.py at each
transaction and passes each one on; the parent keeps the same tree and can wait for any condition
on it.

By hand: observer.py DATA-FOLDER [CHROOT [MAX-HOLD-AGE]], commands on the input.
"""

import collections
import ctypes
import json
import os
import select
import subprocess
import sys
import threading
import time

from invariants import Invariants, contenders, lock_of_node, lock_of_request
from transactions import Transaction, TransactionLog, Tree

IN_MODIFY, IN_CREATE = 0x2, 0x100


# ---- The process ----

def watch_folder(folder):
    """A descriptor that becomes readable when a file of the folder changes."""
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.inotify_init()
    if libc.inotify_add_watch(descriptor, folder.encode(), IN_MODIFY | IN_CREATE) < 0:
        raise OSError(ctypes.get_errno(), folder)
    return descriptor


def below(transaction, chroot):
    """The part of a transaction that concerns the chroot, with paths relative to it; or None."""
    operations = []
    for operation in transaction.operations:
        if operation.path == chroot or operation.path.startswith(chroot + '/'):
            operation.path = operation.path[len(chroot):] or '/'
            operations.append(operation)
    if transaction.operations and not operations:
        return None
    transaction.operations = operations
    return transaction


class Follower:
    def __init__(self, data_folder, chroot, max_hold_age):
        self.log = TransactionLog(data_folder)
        self.chroot = chroot
        self.invariants = Invariants(Tree(), max_hold_age)

    def follow(self):
        """Everything up to now."""
        told = 0
        for transaction in self.log:
            transaction = below(transaction, self.chroot)
            if transaction is None or transaction.kind == 'failed':
                continue
            self.invariants.apply(transaction)
            print('transaction', transaction.to_json())
            for violation in self.invariants.violations[told:]:
                print('violation', violation)
            told = len(self.invariants.violations)
        self.invariants.violations.clear()

    def run(self):
        """Until the input ends. Each line of it is answered once all before it was told."""
        changes = watch_folder(self.log.folder)
        while True:
            self.follow()
            sys.stdout.flush()
            ready, _, _ = select.select([0, changes], [], [])
            if changes in ready:
                os.read(changes, 65536)
            if 0 in ready:
                words = os.read(0, 4096).decode()
                self.follow()
                for word in words.split():
                    print('answer', word)
                sys.stdout.flush()
                if not words:
                    return


# ---- The parent's side ----

class Cluster:
    """Questions about the tree, in the terms of the launcher."""

    def __init__(self, tree):
        self.tree = tree

    def nodes(self, **fields):
        """Id -> record; only those that have these values."""
        return {node_id: record
                for node_id, record in self.tree.records('/nodepool/nodes').items()
                if all(record.get(field) == value for field, value in fields.items())}

    def node(self, node_id):
        return self.tree.record(f'/nodepool/nodes/{node_id}')

    def ready_nodes(self, label=None):
        """Ids of free nodes."""
        return [node_id for node_id, node in self.nodes(state='ready', allocated_to=None).items()
                if label is None or label in node['type']]

    def requests(self, *states):
        """Id -> record."""
        return {request_id: record
                for request_id, record in self.tree.records('/nodepool/requests').items()
                if not states or record['state'] in states}

    def request(self, request_id):
        return self.tree.record(f'/nodepool/requests/{request_id}')

    def request_is(self, request_id, state):
        """Not so while it has not been seen yet, or no longer exists."""
        return (self.request(request_id) or {}).get('state') == state

    def pools(self):
        """Component name -> record."""
        return self.tree.records('/nodepool/components/pool')

    def pool_names(self):
        return sorted(f'{pool["provider_name"]}-{pool["name"]}' for pool in self.pools().values())

    def launchers(self):
        return self.tree.records('/nodepool/components/launcher')

    def is_locked(self, node_id):
        return bool(contenders(self.tree, lock_of_node(node_id)))

    def contenders(self, session=None):
        """Paths of all contenders for locks of nodes and requests; only those of a session."""
        directories = [lock_of_node(node_id) for node_id in self.tree.children('/nodepool/nodes')]
        directories += [lock_of_request(request_id)
                        for request_id in self.tree.children('/nodepool/requests-lock')]
        paths = [f'{directory}/{name}' for directory in directories
                 for name in contenders(self.tree, directory)]
        return [path for path in paths if session in (None, self.tree.get(path).owner)]


class Observer:
    """Starts the process. `history` holds every transaction so far, with what it implies.
    `max_hold_age`: as configured for the launchers, in seconds."""

    def __init__(self, server, chroot='', limit=20, max_hold_age=None):
        self.limit = limit
        self.tree = Tree()
        self.cluster = Cluster(self.tree)
        self.history = []
        self.violations = []
        self.changed = threading.Condition(threading.RLock())
        self.answers = collections.deque()
        self.ended = False
        self.process = subprocess.Popen(
            [sys.executable, __file__, f'{server.folder}/data', chroot, str(max_hold_age or '')],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, errors='surrogateescape')
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            kind, _, rest = line.rstrip('\n').partition(' ')
            with self.changed:
                if kind == 'transaction':
                    transaction = Transaction.from_json(rest)
                    self.history.append((transaction, self.tree.apply(transaction)))
                elif kind == 'violation':
                    self.violations.append(rest)
                else:
                    self.answers.append(rest)
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def wait(self, condition, limit=None, what=None):
        """Returns the first true value of condition(cluster), looked at after each transaction."""
        deadline = time.monotonic() + (limit or self.limit)
        with self.changed:
            while True:
                value = condition(self.cluster)
                if value:
                    return value
                left = deadline - time.monotonic()
                if left <= 0 or self.ended:
                    raise AssertionError(f'not within {limit or self.limit} s: '
                                         f'{what or "what was waited for"}; {self.describe()}')
                self.changed.wait(left)

    def sync(self):
        """Everything that was answered before this call is in the tree when it returns."""
        self.process.stdin.write('now\n')
        self.process.stdin.flush()
        with self.changed:
            seen = self.changed.wait_for(lambda: self.answers or self.ended, self.limit)
            assert seen and self.answers, 'the observer has ended'
            self.answers.popleft()
            return self.cluster

    def mark(self):
        """The length of the history now, for changes()."""
        self.sync()
        return len(self.history)

    def _operations(self, since):
        """Everything that was answered before this call is among them."""
        with self.changed:
            if not self.process.stdin.closed:
                self.sync()
            return [(transaction, operation) for transaction, operations in self.history[since:]
                    for operation in operations]

    def changes(self, path, since=0):
        """The operations on a znode, in order, each with its transaction."""
        return [(transaction, operation) for transaction, operation in self._operations(since)
                if operation.path == path and operation.kind != 'check']

    def paths(self, below, since=0):
        """The children of a znode that ever had a record."""
        return sorted({operation.path for _, operation in self._operations(since)
                       if operation.path.rpartition('/')[0] == below})

    def states(self, path, since=0):
        """The states that a record went through; None: it was deleted."""
        states = []
        for _, operation in self.changes(path, since):
            state = json.loads(operation.data)['state'] if operation.kind != 'delete' else None
            if states[-1:] != [state]:
                states.append(state)
        return states

    def describe(self):
        """For messages: what there is."""
        nodes = {node_id: (node['state'], node.get('allocated_to'), node.get('slot'),
                           self.cluster.is_locked(node_id))
                 for node_id, node in self.cluster.nodes().items()}
        requests = {request_id: request['state']
                    for request_id, request in self.cluster.requests().items()}
        return f'nodes {nodes}, requests {requests}, pools {self.cluster.pool_names()}'

    def finish(self):
        """Ends the process and returns all violations."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
            self.reader.join()
            self.process.stdout.close()
            if self.process.wait() != 0:
                self.violations.append('the observer itself failed')
        return self.violations


if __name__ == '__main__':
    folder, root, hold_age = (*sys.argv[1:], '', '')[:3]
    Follower(folder, root, float(hold_age or 'inf')).run()
