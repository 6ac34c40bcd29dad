"""A client of the launcher that does what Zuul does, with kazoo, and writes only Zuul's fields.

    scheduler = Scheduler(hosts)                     executor = Executor(hosts)
    request = scheduler.submit(['label'])
    request.wait('fulfilled')
    nodes = executor.accept(request.id)              # locks the nodes, deletes the request
    nodes.use()                                      # in-use
    nodes.give_back()                                # used, unlocked

Scheduler and executors are different processes in Zuul: here each has a session of its own, which
can be ended at any moment as if its process had been killed.
"""

import json
import threading
import time
import uuid

from kazoo.client import KazooClient
from kazoo.exceptions import (BadVersionError, ConnectionLoss, NoNodeError,
                              SessionExpiredError)
from kazoo.retry import KazooRetry

REQUESTS, REQUEST_LOCKS, NODES = ('/nodepool/requests', '/nodepool/requests-lock',
                                  '/nodepool/nodes')
LOCK_SECONDS = 30


class AcceptError(Exception):
    """What Zuul logs when it cannot take the nodes of a request."""


def encode(record):
    return json.dumps(record).encode()


class Session:
    """A connection of one process. All calls wait out a lost connection."""

    def __init__(self, hosts, timeout=10.0):
        self.client = KazooClient(hosts=hosts, timeout=timeout,
                                  command_retry=KazooRetry(max_tries=-1, max_delay=0.5),
                                  connection_retry=KazooRetry(max_tries=-1, max_delay=0.2))
        self._start()

    def _start(self):
        try:
            self.client.start(timeout=60)
        except ConnectionLoss:  # kazoo's question for the chroot; it goes on connecting
            self.client.retry(self.client.exists, '/')

    def read(self, path, watch=None):
        """(record, stat); raises NoNodeError."""
        data, stat = self.client.retry(self.client.get, path, watch)
        return (json.loads(data) if data else None), stat

    def exists(self, path):
        return self.client.retry(self.client.exists, path) is not None

    def die(self):
        """Ends the session with everything that it holds, as the server does when it expires."""
        self.close()

    def close(self):
        self.client.stop()
        self.client.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Request:
    """A submitted request, watched. `record` and `version` are what was read last."""

    def __init__(self, session, path, record):
        self.session, self.path, self.record = session, path, record
        self.id = path.rpartition('/')[2]
        self.version = 0
        self.gone = False
        self.news = threading.Event()

    def _look(self):
        self.news.clear()
        try:
            record, stat = self.session.read(self.path, watch=lambda _: self.news.set())
        except NoNodeError:
            self.gone = True
            return
        if stat.version >= self.version:  # as Zuul: what is not newer is no news
            self.record, self.version = record, stat.version

    def wait(self, *states, limit=30):
        """Until the request is in one of the states. Returns the record."""
        deadline = time.monotonic() + limit
        while True:
            self._look()
            if self.gone or self.record['state'] in states:
                break
            if not self.news.wait(max(0, deadline - time.monotonic())):
                raise AssertionError(f'request {self.id} not {states} within {limit} s: '
                                     f'{self.record}')
        if self.gone:
            raise AssertionError(f'request {self.id} is gone')
        return self.record

    def revise(self, relative_priority):
        """FALSE when it is locked or changed: Zuul then forgets about it."""
        lock = self.session.client.Lock(f'{REQUEST_LOCKS}/{self.id}')
        if not lock.acquire(blocking=False):
            return False
        try:
            record = dict(self.record, relative_priority=relative_priority)
            client = self.session.client
            stat = client.retry(client.set, self.path, encode(record), version=self.version)
            self.record, self.version = record, stat.version
            return True
        except (BadVersionError, NoNodeError):
            return False
        finally:
            lock.release()

    def cancel(self):
        """Deletes the request, in whatever state it is."""
        try:
            self.session.client.retry(self.session.client.delete, self.path)
        except NoNodeError:
            pass


class Scheduler(Session):
    def __init__(self, hosts, timeout=10.0, system_id=None):
        super().__init__(hosts, timeout)
        self.system_id = system_id or uuid.uuid4().hex

    def submit(self, labels, priority='200', relative_priority=0, provider=None,
               tenant='tenant-1', event_id=None, **fields):
        """Creates a request, with further fields that some later version may have."""
        now = time.time()
        record = {
            'requestor_data': {'build_set_uuid': uuid.uuid4().hex, 'tenant_name': tenant,
                               'pipeline_name': 'check', 'job_uuid': uuid.uuid4().hex,
                               'job_name': 'unit-tests', 'span_info': None},
            'node_types': list(labels),
            'requestor': self.system_id,
            'created_time': now,
            'provider': provider,
            'state': 'requested',
            'state_time': now,
            'relative_priority': relative_priority,
            'event_id': event_id or uuid.uuid4().hex,
            'tenant_name': tenant,
            **fields,
        }
        return Request(self, self._create(f'{REQUESTS}/{priority}-', record), record)

    def _create(self, path, record):
        """Creates the request once: after a lost answer it is looked for by its event."""
        while True:
            try:
                return self.client.create(path, encode(record), sequence=True, makepath=True)
            except (ConnectionLoss, SessionExpiredError):
                found = self._find(record['event_id'])
                if found:
                    return found

    def _find(self, event_id):
        for name in self.client.retry(self.client.get_children, REQUESTS):
            try:
                record, _ = self.read(f'{REQUESTS}/{name}')
            except NoNodeError:
                continue
            if record and record.get('event_id') == event_id:
                return f'{REQUESTS}/{name}'
        return None

    def end_hold(self, node_id):
        """The hold request of a held node was deleted."""
        lock = self.client.Lock(f'{NODES}/{node_id}/lock')
        if not lock.acquire(blocking=False):
            return False
        record, _ = self.read(f'{NODES}/{node_id}')
        record['state'] = 'used'
        self.client.set(f'{NODES}/{node_id}', encode(record))
        lock.release()
        return True


class NodeSet:
    """The nodes of a job, locked by an executor. `records` is keyed by node id, in order."""

    def __init__(self, executor, records, locks):
        self.executor, self.records, self.locks = executor, records, locks

    @property
    def ids(self):
        return list(self.records)

    def _store(self, node_id, **fields):
        """Zuul writes all keys that it read, at any version."""
        self.records[node_id].update(fields, id=node_id)
        client = self.executor.client
        client.retry(client.set, f'{NODES}/{node_id}', encode(self.records[node_id]))

    def use(self):
        for node_id, record in self.records.items():
            self._store(node_id, state='in-use', state_time=time.time(),
                        user_data={'zuul_system': record['requestor'],
                                   'project_name': 'review.example.org/project'})

    def hold(self, expiration=None):
        """Keeps the nodes for people."""
        for node_id in self.records:
            self._store(node_id, state='hold', state_time=time.time(),
                        hold_job='tenant-1 review.example.org/project unit-tests .*',
                        comment='look at this', hold_expiration=expiration)

    def release(self):
        """Only the locks."""
        for lock in self.locks:
            self.executor.client.retry(lock.release)

    def give_back(self):
        """What was in use is used; what never was stays ready."""
        for node_id, record in self.records.items():
            if record['state'] == 'in-use':
                self._store(node_id, state='used', state_time=time.time())
        self.release()


class Executor(Session):
    def accept(self, request_id, deletes=True):
        """Locks the nodes of a fulfilled request, then deletes it. Raises AcceptError."""
        path = f'{REQUESTS}/{request_id}'
        records, locks = {}, []
        try:
            request, _ = self.read(path)
            for index, label in enumerate(request['node_types']):
                node_id = request['nodes'][index]
                record, _ = self.read(f'{NODES}/{node_id}')
                if record['allocated_to'] != request_id:
                    raise AcceptError(f'node {node_id} is allocated to {record["allocated_to"]}, '
                                      f'not {request_id}')
                if label not in record['type'] or node_id in records:
                    raise AcceptError(f'node {node_id} of {request_id} is no {label}')
                lock = self.client.Lock(f'{NODES}/{node_id}/lock')
                if not lock.acquire(timeout=LOCK_SECONDS):
                    raise AcceptError(f'node {node_id} cannot be locked')
                records[node_id] = record
                locks.append(lock)
        except (AcceptError, NoNodeError, IndexError) as problem:
            for lock in locks:
                lock.release()
            self._delete_request(path)
            raise AcceptError(f'{request_id}: {problem!r}') from problem
        if deletes:
            self._delete_request(path)
        return NodeSet(self, records, locks)

    def _delete_request(self, path):
        try:
            self.client.retry(self.client.delete, path)
        except NoNodeError:
            pass

    def refuse(self, request_id):
        """An accept that fails after the locks were taken: all is given back, the request goes."""
        self.accept(request_id).release()


def run_job(scheduler, executor, labels, **options):
    """One request from its creation to the return of its nodes. Returns the ids of its nodes."""
    request = scheduler.submit(labels, **options)
    request.wait('fulfilled')
    nodes = executor.accept(request.id)
    nodes.use()
    nodes.give_back()
    return nodes.ids
