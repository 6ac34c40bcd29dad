"""The account of the fake cloud's one customer: what there is, what it may have, what it has.

Settings, as POST /control/settings takes them; what is not named stays as it is:

    limits           {"instances", "cores", "ram" (MiB), "volumes", "volume-gb", "addresses"}
    flavors          [{"name", "cores", "ram"}]
    zones            [name]
    cloud_images     [name]: images that are there from the beginning, ids "image-of-NAME"
    token            the only one that is accepted; null: every one
    active_after     seconds until a machine is ACTIVE
    delete_after     seconds from the DELETE to when it is gone
    ready_after      the same for an image after its data
    forget_after     seconds until an image has forgotten data that ended in the middle
    ssh_address      every machine's address; null: each has one of its own in 127.0.0.0/8
    ssh_port         every machine's port; null: none is named
    listener         null, or what listens at the address of each machine: listeners.py
    console          text of every console
    page             most items of one page of a list
"""

import hashlib

from things import Clock, Collection
from wire import Refused

SETTINGS = {
    'limits': {'instances': 20, 'cores': 100, 'ram': 1000000, 'volumes': 100, 'volume-gb': 1000000,
               'addresses': 100},
    'flavors': [{'name': 'small', 'cores': 1, 'ram': 1024}, {'name': 'medium', 'cores': 2, 'ram': 4096},
                {'name': 'large', 'cores': 4, 'ram': 8192}],
    'zones': ['az1', 'az2'],
    'cloud_images': ['plain'],
    'token': None,
    'active_after': 0.1,
    'delete_after': 0.1,
    'ready_after': 0.1,
    'forget_after': 0,
    'ssh_address': None,
    'ssh_port': None,
    'listener': None,
    'console': 'first line\nsecond line\n',
    'page': 1000,
}
KINDS = ('machine', 'volume', 'address', 'image')
# A machine in one of these uses nothing of the limits any more.
GONE = ('DELETED',)


def need_text(fields, name):
    value = fields.get(name)
    if not isinstance(value, str) or not value:
        raise Refused(400, 'bad_request', f'{name} is missing, or no text')
    return value


def tags_of(fields):
    tags = fields.get('tags', {})
    if not isinstance(tags, dict) or not all(isinstance(tag, str) for tag in tags.values()):
        raise Refused(400, 'bad_request', 'tags is no object of texts')
    return tags


class Account:
    def __init__(self, token, listeners):
        self.clock = Clock()
        self.listeners = listeners
        self.token = token
        self.reset()

    def reset(self):
        self.listeners.close_all()
        self.settings = {**SETTINGS, 'limits': dict(SETTINGS['limits']), 'token': self.token}
        self.collections = {kind: Collection(kind) for kind in KINDS}
        self.ever = dict.fromkeys(KINDS, 0)
        self.most = dict.fromkeys(KINDS, 0)

    def close(self):
        self.listeners.close_all()

    def change_settings(self, changes):
        unknown = set(changes) - set(SETTINGS)
        if unknown:
            raise Refused(400, 'bad_request', f'no such settings: {sorted(unknown)}')
        limits = {**self.settings['limits'], **changes.get('limits', {})}
        self.settings.update(changes, limits=limits)

    @property
    def now(self):
        return self.clock.now()

    # ---- Looking ----

    def cloud_images(self):
        return [{'id': f'image-of-{name}', 'name': name, 'state': 'READY', 'tags': {},
                 'public': True}
                for name in self.settings['cloud_images']]

    def items(self, kind, lag=0.0):
        """All of a kind, as they were so many seconds ago."""
        own = self.collections[kind].at(self.now - lag)
        return self.cloud_images() + own if kind == 'image' else own

    def find(self, kind, thing_id):
        thing = self.collections[kind].find(thing_id, self.now)
        if thing is None:
            raise Refused(404, 'not_found', f'there is no {kind} {thing_id}')
        return thing

    def look(self, kind, thing_id):
        for image in self.cloud_images() if kind == 'image' else []:
            if image['id'] == thing_id:
                return image
        return self.find(kind, thing_id).at(self.now)

    def used(self):
        machines = [one for one in self.items('machine') if one['state'] not in GONE]
        volumes = self.items('volume')
        return {'instances': len(machines),
                'cores': sum(one['flavor']['cores'] for one in machines),
                'ram': sum(one['flavor']['ram'] for one in machines),
                'volumes': len(volumes),
                'volume-gb': sum(one['size'] for one in volumes),
                'addresses': len(self.items('address'))}

    # ---- Making ----

    def check_limits(self, **wanted):
        used, limits = self.used(), self.settings['limits']
        for resource, amount in wanted.items():
            resource = resource.replace('_', '-')
            limit = limits.get(resource, -1)
            if 0 <= limit < used[resource] + amount:
                raise Refused(403, 'quota', f'Quota exceeded for {resource}: requested {amount}, '
                                            f'but already used {used[resource]} of {limit}')

    def add(self, kind, fields):
        thing = self.collections[kind].add(fields, self.now)
        self.ever[kind] += 1
        self.most[kind] = max(self.most[kind], len(self.collections[kind].at(self.now)))
        return thing

    def choose(self, what, among, name):
        for one in among:
            if name in (one.get('id'), one['name']):
                return one
        raise Refused(404, f'{what}_not_found', f'there is no {what} {name}')

    def create_machine(self, fields, result):
        """`result`: what a fault wants of it, see faults.py."""
        name = need_text(fields, 'name')
        flavor = self.choose('flavor', self.settings['flavors'], need_text(fields, 'flavor'))
        image = self.choose('image', self.items('image'), need_text(fields, 'image'))
        if image['state'] != 'READY':
            raise Refused(409, 'conflict', f'image {image["name"]} is {image["state"]}')
        zone = fields.get('zone') or (self.settings['zones'] or [None])[0]
        if zone not in self.settings['zones'] and zone is not None:
            raise Refused(400, 'bad_request', f'there is no zone {zone}')
        self.check_limits(instances=1, cores=flavor['cores'], ram=flavor['ram'])
        machine = self.add('machine', {
            'name': name, 'flavor': flavor, 'image': image['id'], 'zone': result.get('zone', zone),
            'tags': tags_of(fields), 'state': 'BUILD', 'fault': None, 'addresses': {},
            'connection': result.get('connection', {}), 'host': 'host-1'})
        self.become(machine, result)
        return machine

    def become(self, machine, result):
        """Writes down what will happen to a machine."""
        when = self.now + result.get('after', self.settings['active_after'])
        if result.get('stuck'):
            return
        if 'error' in result:
            machine.then(when, {'state': 'ERROR', 'fault': result['error']})
            return
        machine.then(when, {'state': 'ACTIVE', **self.place(machine, result)})
        if 'vanishes' in result:
            machine.then(self.now + result['vanishes'], None)

    def place(self, machine, result):
        """Where a machine is to be reached."""
        if result.get('no_address'):
            return {'addresses': {}}
        number = machine.number
        own = f'127.{100 + number // 62500 % 100}.{1 + number // 250 % 250}.{1 + number % 250}'
        address = result.get('address', self.settings['ssh_address']) or own
        port = result.get('port', self.settings['ssh_port'])
        listener = result.get('listener', self.settings['listener'])
        if listener is not None:
            port = self.listeners.open(machine.id, address, listener)
        place = {'addresses': {'public_ipv4': address, 'private_ipv4': own, 'public_ipv6': ''}}
        if port is not None:
            connection = machine.at(self.now)['connection']
            place['connection'] = {'connection_port': port, **connection}
        return place

    def create_volume(self, fields):
        size = fields.get('size', 1)
        if not isinstance(size, int) or size < 1:
            raise Refused(400, 'bad_request', 'size is no positive number')
        self.check_limits(volumes=1, volume_gb=size)
        machine = fields.get('machine')
        if machine is not None:
            self.find('machine', machine)
        return self.add('volume', {'size': size, 'machine': machine, 'state': 'READY',
                                   'tags': tags_of(fields)})

    def create_address(self, fields):
        self.check_limits(addresses=1)
        machine = fields.get('machine')
        if machine is not None:
            self.find('machine', machine)
        return self.add('address', {'machine': machine, 'state': 'READY', 'tags': tags_of(fields)})

    def create_image(self, fields):
        return self.add('image', {
            'name': need_text(fields, 'name'), 'format': fields.get('format'),
            'md5': fields.get('md5'), 'sha256': fields.get('sha256'), 'tags': tags_of(fields),
            'state': 'QUEUED', 'received': 0, 'fault': None})

    # ---- Images' data ----

    async def receive_image(self, thing, pieces, result):
        """`result`: what a fault wants: "cut", "stuck", "checksum", "killed"."""
        if thing.at(self.now)['state'] != 'QUEUED':
            raise Refused(409, 'conflict', f'image {thing.id} has its data already')
        sums = {'md5': hashlib.md5(usedforsecurity=False), 'sha256': hashlib.sha256()}
        saving = {'state': 'SAVING', 'received': 0}
        thing.change(self.now, saving)
        try:
            async for piece in pieces:
                for one in sums.values():
                    one.update(piece)
                saving['received'] += len(piece)
                self.find('image', thing.id)  # or else nobody wants the rest
            if result == 'cut':
                raise ConnectionResetError('as the test wants')
        except OSError:
            if thing.at(self.now) is not None:
                thing.then(self.now + self.settings['forget_after'],
                           {'state': 'QUEUED', 'received': 0})
            raise
        found = {name: one.hexdigest() for name, one in sums.items()}
        if result == 'stuck':
            return
        self.finish_image(thing, found, result)

    def finish_image(self, thing, found, result):
        fields, when = thing.at(self.now), self.now + self.settings['ready_after']
        wrong = [name for name, value in found.items() if fields[name] not in (None, value)]
        if wrong or result == 'checksum':
            thing.then(when, {'state': 'ERROR', 'fault': f'the checksum {wrong or "md5"} differs'})
        elif result == 'killed':
            thing.then(when, {'state': 'KILLED', 'fault': 'killed'})
        else:
            thing.then(when, {'state': 'READY', **found})

    # ---- Deleting ----

    def delete(self, kind, thing_id, result):
        """`result`: what a fault wants: "stays", "error", "deleted"."""
        thing = self.find(kind, thing_id)
        if kind == 'machine' and thing.at(self.now)['state'] == 'DELETED':
            raise Refused(404, 'not_found', f'there is no machine {thing_id}')
        self.listeners.close(thing_id)
        if result == 'stays':
            return
        if kind != 'machine':
            thing.vanish(self.now)
            return
        thing.change(self.now, {'state': 'DELETING'})
        when = self.now + self.settings['delete_after']
        if result == 'error':
            thing.then(when, {'state': 'ERROR', 'fault': 'cannot be deleted'})
        elif result == 'deleted':
            thing.then(when, {'state': 'DELETED'})
        else:
            thing.then(when, None)

    # ---- For assertions ----

    def describe(self):
        return {**{f'{kind}s' if kind != 'address' else 'addresses': self.collections[kind].at(self.now)
                   for kind in KINDS},
                'used': self.used(), 'ever': self.ever, 'most': self.most,
                'settings': self.settings, 'connections': self.listeners.describe()}
