"""What must always be true of nodes and requests, checked at every transaction of a cluster.

Sessions that registered a component are launchers; all others are clients, which may do what they
like with what is theirs. Numbers are those of the launcher's specification:

    I-01  a node is allocated only when it is ready and nobody's, under its lock
    I-02  an allocation is cleared only under the node's lock, and not of a fulfilled request
    I-03  nobody but the requestor writes the nodes of a fulfilled request that exists
    I-04  every write to a request is under the request's lock
    I-05  fulfilled: a node for each label, in order, ready, allocated to it, unlocked
    I-06  failed: every registered pool has declined
    I-08  building: locked by who builds it
    I-13  what somebody else has locked is not written
    I-14  held nodes are not deleted before their time
    I-18  declined_by only grows, without duplicates
    slot  no slot of a machine has two nodes, and none is given away on a node that was released
    keep  a record that is written back has every field that it had
"""

import re

NODE = re.compile(r'/nodepool/nodes/([^/]+)')
REQUEST = re.compile(r'/nodepool/requests/([^/]+)')
COMPONENT = re.compile(r'/nodepool/components/(launcher|pool)/[^/]+')
SEQUENCE = re.compile(r'__lock__(-?\d{10})$')
MIN_READY = 'NodePool:min-ready'
BACKING = 'NodePool:metastatic:'
OWN = (MIN_READY, BACKING, 'api:')  # requests that a launcher makes, for itself or for its clients
# A pool that registers while another one decides is not known to it yet.
REGISTRY_LAG = 2.0
STATES_WITHOUT_SLOT = ('building', 'deleting', 'deleted')


def lock_of_node(node_id):
    return f'/nodepool/nodes/{node_id}/lock'


def lock_of_request(request_id):
    return f'/nodepool/requests-lock/{request_id}'


def contenders(tree, directory):
    """Names in a lock directory, the holder's first."""
    names = [name for name in tree.children(directory) if SEQUENCE.search(name)]
    return sorted(names, key=lambda name: SEQUENCE.search(name).group(1))


def holder(tree, directory):
    """The session that holds a lock, or None."""
    names = contenders(tree, directory)
    return tree.get(f'{directory}/{names[0]}').owner if names else None


def is_backing(record):
    """A node that a metastatic provider has claimed: its lock is no session's."""
    return BACKING in ((record or {}).get('user_data') or '')


def backing_node_of(record):
    """The node whose slot a node of a metastatic provider has; None for others."""
    data = (record or {}).get('driver_data')
    return data.get('backing_node') if isinstance(data, dict) else None


def slot_of(record):
    """What tells the slots of machines apart; None for nodes that have none."""
    if backing_node_of(record):
        return record['provider'], backing_node_of(record), record['driver_data']['slot']
    if record is None or record.get('slot') is None or record['state'] in STATES_WITHOUT_SLOT:
        return None
    return tuple(record.get(field) for field in
                 ('provider', 'hostname', 'username', 'connection_port', 'slot'))


class Invariants:
    """Feed it every transaction, in order; `violations` holds a sentence for each breach."""

    def __init__(self, tree, max_hold_age=float('inf')):
        self.tree = tree
        self.max_hold_age = max_hold_age
        self.violations = []
        self.launchers = set()
        self.transaction = None

    def apply(self, transaction):
        """Applies the transaction to the tree. Returns what Tree.apply returns."""
        self.transaction = transaction
        before = self._look(transaction)
        operations = self.tree.apply(transaction)
        for operation in transaction.operations:
            if operation.kind == 'create' and COMPONENT.fullmatch(operation.path):
                self.launchers.add(transaction.session)
        for path, (old, lock_holder) in before.items():
            self._check(path, old, lock_holder)
        return operations

    # ---- Before and after ----

    def _lock(self, path):
        node = NODE.fullmatch(path)
        if node:
            return lock_of_node(node.group(1))
        return lock_of_request(REQUEST.fullmatch(path).group(1))

    def _look(self, transaction):
        """Path -> (record, who holds its lock) of the nodes and requests that are written."""
        paths = {operation.path for operation in transaction.operations
                 if operation.kind != 'check' and
                 (NODE.fullmatch(operation.path) or REQUEST.fullmatch(operation.path))}
        return {path: (self.tree.record(path), holder(self.tree, self._lock(path)))
                for path in paths}

    def _check(self, path, old, lock_holder):
        new = self.tree.record(path)
        by_launcher = self.transaction.session in self.launchers
        if NODE.fullmatch(path):
            self._check_node(NODE.fullmatch(path).group(1), old, new, lock_holder, by_launcher)
        elif by_launcher and old is not None:
            self._check_request(REQUEST.fullmatch(path).group(1), old, new, lock_holder)
        if by_launcher and old is not None and new is not None:
            self._check_fields(path, old, new)

    def _violated(self, number, text):
        self.violations.append(f'{number}: {text} (zxid {self.transaction.zxid}, '
                               f'session {self.transaction.session:#x})')

    def _has_the_lock(self, directory, lock_holder):
        """Held before, or proved free by creating its directory in the same transaction."""
        if lock_holder is not None:
            return lock_holder == self.transaction.session
        return any(operation.kind == 'create' and operation.path == directory
                   for operation in self.transaction.operations)

    # ---- Nodes ----

    def _check_node(self, node_id, old, new, lock_holder, by_launcher):
        if old is not None and by_launcher:
            self._check_node_write(node_id, old, new, lock_holder)
        if new is not None:
            self._check_node_state(node_id, old, new, by_launcher)
        if old is not None and new is not None and \
                old.get('allocated_to') != new.get('allocated_to'):
            self._check_allocation(node_id, old, new, lock_holder)

    def _check_node_write(self, node_id, old, new, lock_holder):
        if is_backing(old) or is_backing(new):
            # Its record's version and its contender are the proof.
            self._check_release(node_id, old, new)
            return
        owner = self.tree.record(f'/nodepool/requests/{old.get("allocated_to")}')
        if lock_holder not in (None, self.transaction.session):
            self._violated('I-13', f'node {node_id} is written although {lock_holder:#x} has it')
        # A deletion needs no further proof: the server refuses it while there is a contender.
        if new is not None and not self._has_the_lock(lock_of_node(node_id), lock_holder):
            self._violated('I-13', f'node {node_id} is written without its lock')
        if owner and owner['state'] == 'fulfilled' and owner.get('requestor') != MIN_READY \
                and node_id in owner['nodes'] and not self._fulfilled_now(old['allocated_to']):
            self._violated('I-03', f'node {node_id} of the fulfilled request '
                                   f'{old["allocated_to"]} is written')
        if old['state'] == 'hold' and (new is None or new['state'] != 'hold') and \
                not self._is_hold_over(old):
            self._violated('I-14', f'held node {node_id} is taken away')

    def _check_release(self, node_id, old, new):
        if new is None or (old['state'], new['state']) != ('in-use', 'used'):
            return
        for other_id, other in self.tree.records('/nodepool/nodes').items():
            if backing_node_of(other) == node_id:
                self._violated('slot', f'{node_id} is released with node {other_id} on it')

    def _is_hold_over(self, node):
        try:
            age = self.transaction.time - node['state_time']
            expiration = int(node.get('hold_expiration') or 0)
        except (KeyError, TypeError, ValueError):
            return False
        return age >= min(self.max_hold_age, expiration if expiration > 0 else self.max_hold_age)

    def _fulfilled_now(self, request_id):
        return any(operation.path == f'/nodepool/requests/{request_id}'
                   for operation in self.transaction.operations)

    def _check_node_state(self, node_id, old, new, by_launcher):
        if by_launcher and new['state'] == 'building' and (old or {}).get('state') != 'building' \
                and holder(self.tree, lock_of_node(node_id)) != self.transaction.session:
            self._violated('I-08', f'node {node_id} is building without a lock')
        if by_launcher and slot_of(new) not in (None, slot_of(old)):
            self._check_slot(node_id, new)

    def _check_slot(self, node_id, new):
        slot = slot_of(new)
        for other_id, other in self.tree.records('/nodepool/nodes').items():
            if other_id != node_id and slot_of(other) == slot:
                self._violated('slot', f'nodes {other_id} and {node_id} are both {slot}')
        backing_id = backing_node_of(new)
        backing = self.tree.record(f'/nodepool/nodes/{backing_id}')
        if backing_id and (not is_backing(backing) or backing['state'] != 'in-use'):
            self._violated('slot', f'node {node_id} is put on {backing_id}, which is {backing}')

    def _check_allocation(self, node_id, old, new, lock_holder):
        was, now = old.get('allocated_to'), new.get('allocated_to')
        if not self._has_the_lock(lock_of_node(node_id), lock_holder):
            self._violated('I-01' if now else 'I-02',
                           f'node {node_id} goes from {was} to {now} without its lock')
        if now and was:
            self._violated('I-01', f'node {node_id} goes from {was} to {now}')
        if now and old['state'] != 'ready':
            self._violated('I-01', f'node {node_id} is allocated in state {old["state"]}')
        owner = self.tree.record(f'/nodepool/requests/{was}')
        if not now and owner and owner['state'] == 'fulfilled' \
                and owner.get('requestor') != MIN_READY:
            self._violated('I-02', f'node {node_id} is taken from the fulfilled request {was}')

    # ---- Requests ----

    def _check_request(self, request_id, old, new, lock_holder):
        if new is None:
            if not old.get('requestor', '').startswith(OWN):
                self._violated('I-04', f'a launcher deletes request {request_id}')
            return
        if not self._has_the_lock(lock_of_request(request_id), lock_holder):
            self._violated('I-04', f'request {request_id} is written without its lock')
        if old['state'] in ('fulfilled', 'failed'):
            self._violated('I-04', f'request {request_id} was {old["state"]} and is written')
        if new['state'] == 'fulfilled':
            self._check_fulfilled(request_id, new)
        if new['state'] == 'failed':
            self._check_failed(request_id, new)
        declined = new.get('declined_by') or []
        if len(set(declined)) != len(declined) or \
                not set(declined) >= set(old.get('declined_by') or []):
            self._violated('I-18', f'declined_by of {request_id} goes from '
                                   f'{old.get("declined_by")} to {declined}')

    def _check_fulfilled(self, request_id, request):
        nodes = {node_id: self.tree.record(f'/nodepool/nodes/{node_id}')
                 for node_id in request['nodes']}
        if len(nodes) != len(request['node_types']):
            self._violated('I-05', f'request {request_id} for {request["node_types"]} has '
                                   f'{request["nodes"]}')
        for (node_id, node), label in zip(nodes.items(), request['node_types']):
            if node is None or node['state'] != 'ready' or label not in node['type'] or \
                    node.get('allocated_to') != request_id or \
                    contenders(self.tree, lock_of_node(node_id)):
                self._violated('I-05', f'request {request_id} is fulfilled with node {node_id}, '
                                       f'which is {node}')

    def _check_failed(self, request_id, request):
        for name, pool in self.tree.records('/nodepool/components/pool').items():
            age = self.transaction.time - \
                self.tree.get(f'/nodepool/components/pool/{name}').created
            if pool.get('id') and pool['id'] not in request['declined_by'] and age > REGISTRY_LAG:
                self._violated('I-06', f'request {request_id} failed, but {pool["id"]} has not '
                                       f'declined it')

    def _check_fields(self, path, old, new):
        lost = set(old) - set(new)
        if lost:
            self._violated('keep', f'{path} loses {sorted(lost)}')
        if path.startswith('/nodepool/requests/') and 'tenant_name' in set(new) - set(old):
            self._violated('keep', f'{path} gets a tenant_name')
