"""What there is in the cloud, what may be there, and what becomes of it.

Settings, as POST /control/settings takes them; what is not named stays as it is:

    limits            {"instances", "cores", "ram" (MiB), "volumes", "gigabytes", "ports",
                      "floatingips"}; -1: none
    users             [{"name", "password", "project", "admin", "credential": {"id", "name",
                      "secret"}}]
    token_life        seconds that a new token is valid
    clock             seconds that the cloud's clock is ahead of all others
    services          types in the catalog: identity compute network image volumev3
    regions           names of the regions; all have the same services
    microversion      the highest of Nova
    flavors           [{"name", "vcpus", "ram", "disk"}]
    zones             names of the zones that are available
    keys, security_groups   names
    images            names of public images that are there from the beginning
    networks          [{"name", "external", "shared", "gateway", "versions": [4, 6], "number"}]
    router            {"external": NAME, "networks": [NAME]}, or null
    active_after      seconds until a server is ACTIVE
    delete_after      seconds from the DELETE to when it is gone
    ports_after       seconds until a server's port is there
    floating_active_after, floating_shown_after
                      seconds until a floating IP is ACTIVE, and is in its server's record
    ready_after       the same for an image after its data
    forget_after      seconds until an image has forgotten data that ended in the middle
    address           every server's address; null: each has one of its own in 127.0.0.0/8
    cells_down        TRUE: records of servers have nothing but their id
    console           text of every console
    page, image_page  most items of one page; what Glance gives who does not ask for more
    direct_upload     FALSE: Glance takes no data at .../file

What a fault may do to a server that is being created, "machine" in its rule:

    "after" seconds until its end; "error": text of its fault (null: none); "stuck"; "vanishes":
    seconds; "no_address": true

What a fault may do to a DELETE, "delete" in its rule:

    "stays": it stays deleting; "lost": nothing happens; "error": it goes to ERROR; "deleted",
    "soft_deleted": it is listed as such for ever
"""

import datetime
import time
import uuid

from things import Clock, Collection

NAMESPACE = uuid.UUID('5a1f7a51-6f0e-4e5e-9a4e-3f3a8f6a0c11')
SETTINGS = {
    'limits': {'instances': 20, 'cores': 100, 'ram': 1000000, 'volumes': 100, 'gigabytes': 100000,
               'ports': 1000, 'floatingips': 100},
    'users': [{'name': 'drover', 'password': 'password-of-the-test', 'project': 'drover',
               'credential': {'id': '559f54ac44024ba4b644cb92510705df', 'name': 'for-drover',
                              'secret': 'secret-of-the-test'}},
              {'name': 'admin', 'password': 'password-of-the-admin', 'project': 'drover',
               'admin': True}],
    'token_life': 3600,
    'clock': 0,
    'services': ['network', 'image', 'compute', 'volumev3', 'identity'],
    'regions': ['RegionOne'],
    'microversion': '2.93',
    'flavors': [{'name': 'small', 'vcpus': 1, 'ram': 2048, 'disk': 20},
                {'name': 'medium', 'vcpus': 2, 'ram': 4096, 'disk': 40},
                {'name': 'large', 'vcpus': 4, 'ram': 8192, 'disk': 80}],
    'zones': ['nova'],
    'keys': ['key'],
    'security_groups': ['default'],
    'images': ['plain'],
    'networks': [{'name': 'public', 'external': True}],
    'router': None,
    'active_after': 0.1,
    'delete_after': 0.1,
    'ports_after': 0,
    'floating_active_after': 0,
    'floating_shown_after': 0,
    'ready_after': 0.1,
    'forget_after': 0,
    'address': None,
    'cells_down': False,
    'console': 'first line\nsecond line\n',
    'page': 1000,
    'image_page': 25,
    'direct_upload': True,
}
KINDS = ('server', 'port', 'floatingip', 'volume', 'image')
# A server in one of these uses nothing of the limits any more.
GONE = ('DELETED', 'SOFT_DELETED')


class Named(Collection):
    """Things whose ids are like OpenStack's."""

    def new_id(self, number):
        return str(uuid.uuid4())


class Project:
    def __init__(self, scheme):
        self.scheme, self.address = scheme, ''
        self.clock = Clock()
        self.reset()

    def reset(self):
        self.settings = {**SETTINGS, 'limits': dict(SETTINGS['limits'])}
        self.collections = {kind: Named(kind) for kind in KINDS}
        self.ever, self.most = dict.fromkeys(KINDS, 0), dict.fromkeys(KINDS, 0)
        self.ports_by_server = {}
        self.tokens, self.issued, self.complaints = {}, 0, []

    def close(self):
        pass

    def change_settings(self, changes):
        unknown = set(changes) - set(SETTINGS)
        if unknown:
            raise ValueError(f'no such settings: {sorted(unknown)}')
        limits = {**self.settings['limits'], **changes.get('limits', {})}
        self.settings.update(changes, limits=limits)

    @property
    def now(self):
        return self.clock.now()

    def wall_time(self):
        return time.time() + self.clock.ahead + self.settings['clock']

    def stamp(self):
        when = datetime.datetime.fromtimestamp(self.wall_time(), datetime.timezone.utc)
        return when.strftime('%Y-%m-%dT%H:%M:%SZ')

    def complain(self, request, message):
        self.complaints.append(f'{request.method} {request.path}: {message}')

    # ---- Names ----

    def named_id(self, kind, name):
        return str(uuid.uuid5(NAMESPACE, f'{kind}/{name}'))

    def project_id(self, name):
        return self.named_id('project', name).replace('-', '')

    def named(self, kind, entries):
        """Entries of the settings with their ids."""
        return [{'id': self.named_id(kind, one['name']), **one} for one in entries]

    def flavors(self):
        return self.named('flavor', self.settings['flavors'])

    def networks(self):
        return [{'external': False, 'shared': False, 'gateway': True, 'versions': [4],
                 'number': number, **one}
                for number, one in enumerate(self.named('network', self.settings['networks']))]

    def public_images(self):
        return [{'id': self.named_id('image', name), 'name': name, 'status': 'active',
                 'project_id': self.project_id('admin'), 'visibility': 'public', 'size': 4096,
                 'protected': False, 'properties': {}, 'created': '2026-01-01T00:00:00Z'}
                for name in self.settings['images']]

    # ---- Looking ----

    def items(self, kind, lag=0.0):
        """All of a kind, oldest first, as they were so many seconds ago."""
        own = self.collections[kind].at(self.now - lag)
        return self.public_images() + own if kind == 'image' else own

    def look(self, kind, thing_id):
        """Its fields; None when there is no such thing."""
        for image in self.public_images() if kind == 'image' else []:
            if image['id'] == thing_id:
                return image
        thing = self.collections[kind].find(thing_id, self.now)
        return thing.at(self.now) if thing else None

    def thing(self, kind, thing_id):
        return self.collections[kind].find(thing_id, self.now)

    def add(self, kind, fields, after=0.0):
        self.ever[kind] += 1
        return self.collections[kind].add(fields, self.now + after)

    def note_most(self):
        """After things were made: how much there was at once."""
        for kind in KINDS:
            there = sum(one.get('status') not in GONE
                        for one in self.collections[kind].at(self.now))
            self.most[kind] = max(self.most[kind], there)

    def change(self, kind, thing_id, changes, after=0.0):
        self.thing(kind, thing_id).then(self.now + after, changes)

    def used(self, project_id):
        servers = [one for one in self.items('server')
                   if one['status'] not in GONE and one['project_id'] == project_id]
        volumes = [one for one in self.items('volume') if one['project_id'] == project_id]
        return {'instances': len(servers),
                'cores': sum(one['flavor']['vcpus'] for one in servers),
                'ram': sum(one['flavor']['ram'] for one in servers),
                'volumes': len(volumes), 'gigabytes': sum(one['size'] for one in volumes),
                'ports': sum(one['project_id'] == project_id for one in self.items('port')),
                'floatingips': sum(one['project_id'] == project_id
                                   for one in self.items('floatingip'))}

    def exceeded(self, project_id, **wanted):
        """[(resource, wanted, used, limit)] of what would be too much."""
        used, limits = self.used(project_id), self.settings['limits']
        return [(name, amount, used[name], limits[name]) for name, amount in wanted.items()
                if 0 <= limits[name] < used[name] + amount]

    def describe(self):
        state = {f'{kind}s': self.collections[kind].at(self.now) for kind in KINDS}
        for server in state['servers']:
            server['addresses'] = self.addresses_of(server)
        return {**state, 'ever': self.ever, 'most': self.most, 'tokens_issued': self.issued,
                'complaints': self.complaints}

    # ---- Addresses ----

    def new_addresses(self, network, number):
        """One for each version of IP that the network has."""
        made = {4: f'127.{100 + network["number"]}.{1 + number // 250 % 250}.{1 + number % 250}',
                6: f'fd00:{network["number"]:x}::{number + 1:x}'}
        if self.settings['address']:
            made[4] = self.settings['address']
        return [made[version] for version in network['versions']]

    def subnet_ids(self, network):
        return [self.named_id('subnet', f'{network["name"]}-v{version}')
                for version in network['versions']]

    def add_port(self, network, server_id, number, project_id, after, zone):
        addresses = self.new_addresses(network, number)
        fixed = [{'subnet_id': subnet, 'ip_address': address} for subnet, address in
                 zip(self.subnet_ids(network), addresses)]
        thing = self.add('port', {
            'network_id': network['id'], 'network': network['name'], 'device_id': server_id,
            'device_owner': f'compute:{zone or "nova"}', 'status': 'DOWN', 'fixed_ips': fixed,
            'project_id': project_id, 'created': self.stamp(),
            'mac': 'fa:16:3e:%02x:%02x:%02x' % (number >> 16 & 255, number >> 8 & 255,
                                                number & 255)}, after)
        self.ports_by_server.setdefault(server_id, []).append(thing)
        return thing

    def addresses_of(self, server):
        """As Nova shows them: by network; floating ones beside the fixed ones."""
        if not server['plugged']:
            return {}
        addresses = {}
        floating_ips = self.items('floatingip')
        for thing in self.ports_by_server.get(server['id'], []):
            port = thing.at(self.now)
            if port is None:
                continue
            mine = addresses.setdefault(port['network'], [])
            for fixed in port['fixed_ips']:
                mine.append(self.shown_address(fixed['ip_address'], 'fixed', port['mac']))
            for floating in floating_ips:
                if floating['port_id'] == port['id'] and floating['shown']:
                    mine.append(self.shown_address(floating['address'], 'floating', port['mac']))
        return addresses

    def shown_address(self, address, kind, mac):
        return {'version': 6 if ':' in address else 4, 'addr': address, 'OS-EXT-IPS:type': kind,
                'OS-EXT-IPS-MAC:mac_addr': mac}

    # ---- The life of a server ----

    def add_server(self, fields, networks, volume_gb, result):
        """`result`: what a fault wants of it."""
        settings, after = self.settings, result.get('after', self.settings['active_after'])
        thing = self.add('server', {
            'status': 'BUILD', 'vm_state': 'building', 'task_state': 'scheduling', 'fault': None,
            'plugged': False, 'host': '', 'volumes': [], 'locked': False,
            'created': self.stamp(), **fields})
        for network in networks:
            port = self.add_port(network, thing.id, thing.number, fields['project_id'],
                                 settings['ports_after'], fields['zone'])
            port.then(self.now + max(after, settings['ports_after']), {'status': 'ACTIVE'})
        error = result.get('error', False)
        if volume_gb is not None:
            error = self.add_boot_volume(thing, volume_gb) or error
        if not result.get('stuck'):
            self.settle(thing, after, error, result)
        return thing

    def add_boot_volume(self, server, size):
        """The fault that the server gets; None when there is room for the volume."""
        project_id = server.at(self.now)['project_id']
        for name, _, used, limit in self.exceeded(project_id, volumes=1, gigabytes=size):
            if name == 'volumes':
                return ('Build of instance %s aborted: VolumeLimitExceeded: Maximum number of '
                        "volumes allowed (%d) exceeded for quota 'volumes'." % (server.id, limit))
            return ('Build of instance %s aborted: VolumeSizeExceedsAvailableQuota: Requested '
                    'volume or snapshot exceeds allowed gigabytes quota. Requested %dG, quota is '
                    '%dG and %dG has been consumed.' % (server.id, size, limit, used))
        volume = self.add('volume', {'size': size, 'status': 'in-use', 'server': server.id,
                                     'project_id': project_id, 'created': self.stamp()})
        server.then(self.now, {'volumes': [volume.id]})
        return None

    def settle(self, thing, after, error, result):
        when = self.now + after
        if error is not False:
            fault = None if error is None else {'code': 500, 'created': self.stamp(),
                                                'message': error}
            thing.then(when, {'status': 'ERROR', 'vm_state': 'error', 'task_state': None,
                              'fault': fault})
            for port in self.ports_of(thing.id):
                port.vanish(when)
            return
        thing.then(when, {'status': 'ACTIVE', 'vm_state': 'active', 'task_state': None,
                          'host': uuid.uuid5(NAMESPACE, 'host').hex,
                          'plugged': not result.get('no_address')})
        if 'vanishes' in result:
            self.remove_server(thing, self.now + result['vanishes'])

    def ports_of(self, server_id):
        """Also those that are only going to be there."""
        return [port for port in self.ports_by_server.get(server_id, [])
                if port.events[-1][1] is not None]

    def delete_server(self, thing, result):
        when = self.now + self.settings['delete_after']
        if result == 'lost':
            return
        thing.change(self.now, {'task_state': 'deleting'})
        if result == 'error':
            fault = {'code': 400, 'created': self.stamp(),
                     'message': 'Failed to terminate instance: as the test wants'}
            thing.then(when, {'status': 'ERROR', 'vm_state': 'error', 'task_state': None,
                              'fault': fault})
        elif result in ('deleted', 'soft_deleted'):
            thing.then(when, {'status': result.upper(), 'vm_state': result, 'task_state': None})
            self.release(thing, when)
        elif result != 'stays':
            self.remove_server(thing, when)

    def remove_server(self, thing, when):
        thing.then(when, None)
        self.release(thing, when)

    def release(self, thing, when):
        """What goes with a server; floating IPs stay, and are free."""
        for port in self.ports_of(thing.id):
            port.vanish(when)
            for floating in self.collections['floatingip'].things.values():
                fields = floating.at(self.now)
                if fields and fields['port_id'] == port.id:
                    floating.then(when, {'port_id': None, 'fixed': None, 'shown': False})
        fields = thing.at(self.now) or {}
        for volume_id in fields.get('volumes', []):
            if volume := self.thing('volume', volume_id):
                volume.vanish(when)
