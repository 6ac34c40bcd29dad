"""ZooKeeper's own transaction log: all that ever happened in a server, complete and in order.

The log is the strongest witness there is: no state is too short to be seen in it, a transaction is
one entry however many znodes it changes, and each entry names the session that made it. Files are
`log.<zxid>` in <dataDir>/version-2, in ZooKeeper's jute encoding (big-endian, see
org.apache.zookeeper.server.persistence.FileTxnLog and zookeeper.jute, release 3.8).

    for transaction in TransactionLog(server.folder + '/data'):
        ...

Entries are written before they are answered, so whoever has seen an answer finds its entry.
"""

import dataclasses
import glob
import json
import os
import struct
import zlib

HEADER = struct.Struct('>4siq')
ENTRY = struct.Struct('>qi')
TRANSACTION = struct.Struct('>qiqqi')
END_OF_ENTRY = b'B'

CREATE_SESSION, CLOSE_SESSION, ERROR = -10, -11, -1
CREATE, DELETE, SET, SET_ACL, CHECK, MULTI = 1, 2, 5, 7, 13, 14
CREATES = {CREATE, 15, 19, 21}  # also create2, container, time to live


@dataclasses.dataclass
class Operation:
    """One change of one znode. `kind` is create, set, delete or check."""
    kind: str
    path: str
    data: str = None  # of a create or set
    version: int = 0  # of the record after a create or set; of a check, what was expected
    ephemeral: bool = False


@dataclasses.dataclass
class Transaction:
    """`session` is who did it; `kind` is change, begin or end (of the session), or failed."""
    zxid: int
    session: int
    time: float  # seconds since the epoch
    kind: str
    operations: list

    def to_json(self):
        return json.dumps([self.zxid, self.session, self.time, self.kind,
                           [dataclasses.astuple(operation) for operation in self.operations]])

    @classmethod
    def from_json(cls, text):
        *head, operations = json.loads(text)
        return cls(*head, [Operation(*fields) for fields in operations])


class _Record:
    """Reads jute's types one after another."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, form):
        value, = struct.unpack_from('>' + form, self.data, self.at)
        self.at += struct.calcsize('>' + form)
        return value

    def buffer(self):
        length = self.number('i')
        value = self.data[self.at:self.at + max(length, 0)]
        self.at += len(value)
        return value

    def text(self):
        return self.buffer().decode(errors='surrogateescape')

    def skip_acl(self):
        for _ in range(self.number('i')):
            self.number('i')
            self.buffer()
            self.buffer()


def _read_create(record, kind):
    path, data = record.text(), record.text()
    record.skip_acl()
    return Operation('create', path, data, 0, kind == CREATE and bool(record.number('b')))


def _read_operation(record, kind):
    """The change of an entry's type; None for what changes no znode."""
    if kind in CREATES:
        return _read_create(record, CREATE if kind == 15 else kind)
    if kind == DELETE:
        return Operation('delete', record.text())
    if kind == SET:
        return Operation('set', record.text(), record.text(), record.number('i'))
    if kind == CHECK:
        return Operation('check', record.text(), None, record.number('i'))
    return None


def _read_multi(record):
    """The operations, or None for a transaction that was refused."""
    operations = []
    for _ in range(record.number('i')):
        kind = record.number('i')
        part = _Record(record.buffer())
        if kind == ERROR:
            return None
        operations.append(_read_operation(part, kind))
    return operations


def decode(entry):
    """A Transaction from the bytes of one entry."""
    session, _, zxid, milliseconds, kind = TRANSACTION.unpack_from(entry)
    record = _Record(entry[TRANSACTION.size:])
    words = {CREATE_SESSION: 'begin', CLOSE_SESSION: 'end', ERROR: 'failed'}
    operations = []
    if kind == MULTI:
        operations = _read_multi(record)
    elif kind not in words and kind != SET_ACL:
        operation = _read_operation(record, kind)
        operations = [operation] if operation else []
    word = 'failed' if operations is None else words.get(kind, 'change')
    return Transaction(zxid, session, milliseconds / 1000, word, operations or [])


class TransactionLog:
    """Iterates over what is there now; iterating again goes on with what came since."""

    def __init__(self, data_folder):
        self.folder = os.path.join(data_folder, 'version-2')
        self.path, self.file, self.offset = None, None, 0
        self.zxid = -1

    def close(self):
        if self.file:
            self.file.close()

    def _files(self):
        return sorted(glob.glob(f'{self.folder}/log.*'),
                      key=lambda path: int(path.rsplit('.', 1)[1], 16))

    def _next_file(self, files):
        later = files[files.index(self.path) + 1:] if self.path in files else files
        if not later:
            return False
        if self.file:
            self.file.close()
        self.path, self.offset = later[0], HEADER.size
        self.file = open(self.path, 'rb', buffering=0)  # what is read ahead grows old
        return True

    def _read_entry(self):
        """The next complete entry of this file, or None. Files are filled with zeros in advance."""
        self.file.seek(self.offset)
        head = self.file.read(ENTRY.size)
        if len(head) < ENTRY.size:
            return None
        checksum, length = ENTRY.unpack(head)
        if length <= 0:
            return None
        entry = self.file.read(length + 1)
        if entry[-1:] != END_OF_ENTRY or len(entry) <= length \
                or zlib.adler32(entry[:-1]) != checksum:
            return None
        self.offset += ENTRY.size + length + 1
        return entry[:-1]

    def __iter__(self):
        files = self._files()  # before reading: a file that has a successor is complete
        while True:
            entry = self._read_entry() if self.file else None
            if entry is None:
                if not self._next_file(files):
                    return
                continue
            transaction = decode(entry)
            if transaction.zxid > self.zxid:
                self.zxid = transaction.zxid
                yield transaction


def backdate(data_folder, path, seconds):
    """Makes a znode older, in the log of a server that is stopped and has no snapshot of it yet."""
    for name in glob.glob(os.path.join(data_folder, 'version-2', 'log.*')):
        with open(name, 'r+b') as file:
            _backdate_in(file, path, seconds)


def _backdate_in(file, path, seconds):
    offset = HEADER.size
    while True:
        file.seek(offset)
        _, length = ENTRY.unpack(file.read(ENTRY.size).ljust(ENTRY.size, b'\0'))
        if length <= 0:
            return
        entry = bytearray(file.read(length))
        if any(operation.kind == 'create' and operation.path == path
               for operation in decode(bytes(entry)).operations):
            session, number, zxid, milliseconds, kind = TRANSACTION.unpack_from(entry)
            TRANSACTION.pack_into(entry, 0, session, number, zxid, milliseconds - seconds * 1000,
                                  kind)
            file.seek(offset)
            file.write(ENTRY.pack(zlib.adler32(entry), length) + entry)
        offset += ENTRY.size + length + len(END_OF_ENTRY)


@dataclasses.dataclass
class Znode:
    data: str
    version: int
    owner: int  # the session of an ephemeral, else 0
    created: float  # seconds since the epoch
    children: set = dataclasses.field(default_factory=set)
    _record: tuple = (None, None)

    @property
    def record(self):
        """The data as a JSON object; None when it is no such thing."""
        if self._record[0] is not self.data:
            try:
                value = json.loads(self.data)
            except ValueError:
                value = None
            self._record = (self.data, value if isinstance(value, dict) else None)
        return self._record[1]


class Tree:
    """The znodes, after the transactions that were applied."""

    def __init__(self):
        self.znodes = {}

    def get(self, path):
        return self.znodes.get(path)

    def record(self, path):
        znode = self.znodes.get(path)
        return znode.record if znode else None

    def children(self, path):
        znode = self.znodes.get(path)
        return sorted(znode.children) if znode else []

    def records(self, path):
        """Name -> record of the children that have one."""
        found = {name: self.record(f'{path}/{name}') for name in self.children(path)}
        return {name: record for name, record in found.items() if record is not None}

    def _parent(self, path):
        return self.znodes.get(path.rpartition('/')[0] or '/')

    def _delete(self, path):
        if self.znodes.pop(path, None) and self._parent(path):
            self._parent(path).children.discard(path.rpartition('/')[2])

    def _apply(self, operation, transaction):
        if operation.kind == 'create':
            owner = transaction.session if operation.ephemeral else 0
            self.znodes[operation.path] = Znode(operation.data, 0, owner, transaction.time)
            if self._parent(operation.path):
                self._parent(operation.path).children.add(operation.path.rpartition('/')[2])
        elif operation.kind == 'set' and operation.path in self.znodes:
            self.znodes[operation.path].data = operation.data
            self.znodes[operation.path].version = operation.version
        elif operation.kind == 'delete':
            self._delete(operation.path)

    def apply(self, transaction):
        """Returns the operations, those that the end of a session implies among them."""
        operations = list(transaction.operations)
        if transaction.kind == 'end':
            operations += [Operation('delete', path) for path, znode in self.znodes.items()
                           if znode.owner == transaction.session]
        for operation in operations:
            self._apply(operation, transaction)
        return operations
