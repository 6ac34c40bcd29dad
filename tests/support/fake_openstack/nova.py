"""Nova 2.1 with microversions."""

import re

from form import (Malformed, Refusal, check_fields, check_query, count, count_or_digits, either,
                  flag, list_of, one_of, page_of, record, short_text, text, texts_by_name, wrapped)
from wire import Answer

WRAPPERS = {400: 'badRequest', 403: 'forbidden', 404: 'itemNotFound', 409: 'conflictingRequest',
            413: 'overLimit', 429: 'overLimit', 503: 'serviceUnavailable'}
SERVER = {
    'name': short_text, 'flavorRef': short_text, 'imageRef': text, 'min_count': count_or_digits,
    'max_count': count_or_digits, 'metadata': texts_by_name, 'key_name': short_text,
    'availability_zone': short_text, 'config_drive': flag, 'user_data': text,
    'security_groups': list_of(record({'name': short_text}, ['name'])),
    'networks': either(one_of('auto', 'none'),
                       list_of(record({'uuid': text, 'port': text, 'fixed_ip': text}))),
    'block_device_mapping_v2': list_of(record({
        'boot_index': either(count_or_digits), 'uuid': text, 'source_type': one_of('image'),
        'destination_type': one_of('volume'), 'volume_size': count_or_digits,
        'delete_on_termination': flag})),
}
LIST_QUERY = ('limit', 'marker', 'name', 'status', 'all_tenants', 'sort_key', 'sort_dir',
              'changes-since')
BASE64 = re.compile(r'[A-Za-z0-9+/]*={0,2}')


def version_number(word):
    if not re.fullmatch(r'\d+\.\d+', word):
        raise Malformed(f'API Version String {word} is of invalid format.')
    return tuple(int(part) for part in word.split('.'))


class Nova:
    def __init__(self, project):
        self.project = project

    def error_body(self, status, message, kind):
        return {WRAPPERS.get(status, 'computeFault'): {'code': status, 'message': message}}

    # ---- Versions ----

    def version_document(self, request, rest):
        if request.method != 'GET' or rest not in ([], ['v2.1']):
            return None
        version = {'id': 'v2.1', 'status': 'CURRENT', 'min_version': '2.1',
                   'version': self.project.settings['microversion'],
                   'updated': '2013-07-23T11:33:21Z',
                   'links': [{'rel': 'self', 'href': f'{request.base}/v2.1/'}]}
        return Answer(200, {'version': version} if rest else {'versions': [version]})

    def version_of(self, request):
        asked = request.headers.get('openstack-api-version')
        old = request.headers.get('x-openstack-nova-api-version')
        word = old
        if asked is not None:
            service, _, word = asked.partition(' ')
            if service != 'compute' or old not in (None, word):
                raise Malformed(f'microversion "{asked}", and "{old}"')
        if word is None:
            return (2, 1)
        most = self.project.settings['microversion']
        if not (2, 1) <= version_number(word) <= version_number(most):
            raise Malformed(f'Version {word} is not supported by the API. Minimum is 2.1 and '
                            f'maximum is {most}.', 406)
        return version_number(word)

    # ---- Calls ----

    def answer(self, request, rest, fault):
        version = self.version_of(request)
        if rest[:1] == ['v2.1']:
            rest = rest[1:]
        if rest and rest[0] == request.scope['project_id']:
            rest = rest[1:]
        calls = {('GET', 'flavors', 2): self.flavors,
                 ('GET', 'os-availability-zone', 1): self.zones, ('GET', 'limits', 1): self.limits,
                 ('GET', 'servers', 1): self.list, ('GET', 'servers', 2): self.show,
                 ('POST', 'servers', 1): self.create, ('DELETE', 'servers', 2): self.delete,
                 ('POST', 'servers', 3): self.act}
        call = calls.get((request.method, rest[0] if rest else '', len(rest)))
        if call is None or (rest[0] == 'servers' and len(rest) == 3 and rest[2] != 'action'):
            raise Malformed(f'there is no {request.method} {request.path}', 404)
        answer = call(request, rest[1:], version, fault)
        answer.headers.setdefault('OpenStack-API-Version', f'compute {version[0]}.{version[1]}')
        answer.headers.setdefault('x-openstack-request-id', f'req-{id(request):x}')
        return answer

    def next_link(self, request, name, marker):
        if marker is None:
            return {}
        limit = f'limit={request.query["limit"]}&' if 'limit' in request.query else ''
        href = f'{self.project.address}{request.path}?{limit}marker={marker}'
        return {f'{name}_links': [{'rel': 'next', 'href': href}]}

    def flavors(self, request, rest, version, fault):
        check_query(request, ('limit', 'marker', 'is_public'))
        flavors = self.project.flavors()
        if rest != ['detail']:
            for one in flavors:
                if one['id'] == rest[0]:
                    return Answer(200, {'flavor': self.flavor_view(one)})
            raise Refusal(404, f'Flavor {rest[0]} could not be found.')
        page, marker = page_of(request, flavors, self.project.settings['page'])
        return Answer(200, {'flavors': [self.flavor_view(one) for one in page],
                            **self.next_link(request, 'flavors', marker)})

    def flavor_view(self, flavor):
        return {'id': flavor['id'], 'name': flavor['name'], 'ram': flavor['ram'],
                'disk': flavor.get('disk', 20), 'swap': '', 'OS-FLV-EXT-DATA:ephemeral': 0,
                'OS-FLV-DISABLED:disabled': flavor.get('disabled', False),
                'vcpus': flavor['vcpus'], 'os-flavor-access:is_public': True, 'rxtx_factor': 1.0,
                'links': []}

    def zones(self, request, rest, version, fault):
        check_query(request, ())
        zones = [{'zoneName': name, 'zoneState': {'available': True}, 'hosts': None}
                 for name in self.project.settings['zones']]
        zones.append({'zoneName': 'closed', 'zoneState': {'available': False}, 'hosts': None})
        return Answer(200, {'availabilityZoneInfo': zones})

    def limits(self, request, rest, version, fault):
        check_query(request, ('reserved',))
        limits = self.project.settings['limits']
        used = self.project.used(request.scope['project_id'])
        return Answer(200, {'limits': {'rate': [], 'absolute': {
            'maxTotalInstances': limits['instances'], 'maxTotalCores': limits['cores'],
            'maxTotalRAMSize': limits['ram'], 'maxServerMeta': 128, 'maxTotalKeypairs': 100,
            'totalRAMUsed': used['ram'], 'totalCoresUsed': used['cores'],
            'totalInstancesUsed': used['instances']}}})

    # ---- Servers: looking ----

    def own_servers(self, request, fault):
        return [one for one in reversed(self.project.items('server', fault.get('lag', 0.0)))
                if one['project_id'] == request.scope['project_id']]

    def list(self, request, rest, version, fault):
        check_query(request, LIST_QUERY)
        servers = self.own_servers(request, fault)
        if 'name' in request.query:
            servers = [one for one in servers if re.search(request.query['name'], one['name'])]
        if 'status' in request.query:
            servers = [one for one in servers if one['status'] == request.query['status'].upper()]
        page, marker = page_of(request, servers, self.project.settings['page'])
        if self.project.settings['cells_down'] and version < (2, 69):
            page = []
        return Answer(200, {'servers': [self.view(one, version) for one in page],
                            **self.next_link(request, 'servers', marker)})

    def find(self, request, server_id):
        fields = self.project.look('server', server_id)
        if fields is None or fields['project_id'] != request.scope['project_id']:
            raise Refusal(404, f'Instance {server_id} could not be found.')
        return fields

    def show(self, request, rest, version, fault):
        if rest == ['detail']:
            return self.list(request, rest, version, fault)
        return Answer(200, {'server': self.view(self.find(request, rest[0]), version)})

    def links(self, server):
        return [{'rel': 'self', 'href': f'{self.project.address}/compute/v2.1/servers/{server["id"]}'}]

    def view(self, server, version):
        head = {'id': server['id'], 'tenant_id': server['project_id'], 'created': server['created'],
                'links': self.links(server)}
        if self.project.settings['cells_down']:
            return {**head, 'status': 'UNKNOWN'}
        flavor = server['flavor']
        shown = {**head, 'name': server['name'], 'status': server['status'],
                 'user_id': self.project.named_id('user', 'drover'),
                 'metadata': server['metadata'], 'hostId': server['host'],
                 'image': {'id': server['image'], 'links': []} if server['image'] else '',
                 'flavor': {'id': flavor['id'], 'links': []}, 'updated': server['created'],
                 'addresses': self.project.addresses_of(server),
                 'accessIPv4': server.get('access4', ''), 'accessIPv6': server.get('access6', ''),
                 'OS-DCF:diskConfig': 'MANUAL', 'progress': 0,
                 'OS-EXT-AZ:availability_zone': server['zone'] if server['host'] else '',
                 'config_drive': 'True' if server['config_drive'] else '',
                 'key_name': server['key_name'], 'OS-SRV-USG:launched_at': None,
                 'OS-SRV-USG:terminated_at': None,
                 'security_groups': [{'name': name} for name in server['security_groups']],
                 'OS-EXT-STS:task_state': server['task_state'],
                 'OS-EXT-STS:vm_state': server['vm_state'],
                 'OS-EXT-STS:power_state': int(server['status'] == 'ACTIVE'),
                 'os-extended-volumes:volumes_attached': [{'id': one} for one in server['volumes']]}
        if server['fault']:
            shown['fault'] = server['fault']
        if version >= (2, 47):
            shown['flavor'] = {'vcpus': flavor['vcpus'], 'ram': flavor['ram'],
                               'disk': flavor.get('disk', 20), 'ephemeral': 0, 'swap': 0,
                               'original_name': flavor['name'], 'extra_specs': {}}
        if version >= (2, 9):
            shown['locked'] = server['locked']
        return shown

    # ---- Servers: making ----

    def create(self, request, rest, version, fault):
        fields = wrapped(request, 'server')
        required = ['name', 'flavorRef'] + (['networks'] if version >= (2, 37) else [])
        check_fields(fields, SERVER, required, 'server')
        if 'user_data' in fields and not BASE64.fullmatch(fields['user_data']):
            raise Malformed('user_data is not base64')
        if isinstance(fields.get('networks'), str) and version < (2, 37):
            raise Malformed('networks is no list')
        server = self.resolve(request, fields)
        networks = self.networks_of(request, fields.get('networks', 'auto'))
        self.check_quota(request, server['flavor'], networks)
        size = self.volume_size(fields)
        thing = self.project.add_server(server, networks, size, fault.get('machine', {}))
        return Answer(202, {'server': {
            'id': thing.id, 'links': self.links({'id': thing.id}), 'OS-DCF:diskConfig': 'MANUAL',
            'security_groups': [{'name': name} for name in server['security_groups']],
            'adminPass': 'adminPass-of-the-test'}},
            {'Location': self.links({'id': thing.id})[0]['href']})

    def volume_size(self, fields):
        mappings = fields.get('block_device_mapping_v2', [])
        return int(mappings[0]['volume_size']) if mappings else None

    def image_id(self, fields):
        mappings = fields.get('block_device_mapping_v2', [])
        if bool(fields.get('imageRef')) == bool(mappings):
            raise Malformed('imageRef and block_device_mapping_v2, or neither')
        return mappings[0]['uuid'] if mappings else fields['imageRef']

    def resolve(self, request, fields):
        settings = self.project.settings
        flavor = next((one for one in self.project.flavors() if one['id'] == fields['flavorRef']),
                      None)
        if flavor is None:
            raise Refusal(400, f'Flavor {fields["flavorRef"]} could not be found.')
        image = self.project.look('image', self.image_id(fields))
        if image is None:
            raise Refusal(400, 'Can not find requested image')
        if image['status'] != 'active':
            raise Refusal(400, f'Image {image["id"]} is not active.')
        if fields.get('key_name') not in (None, *settings['keys']):
            raise Refusal(400, 'Invalid key_name provided.')
        zone = fields.get('availability_zone')
        if zone not in (None, *settings['zones']):
            raise Refusal(400, 'The requested availability zone is not available')
        groups = [one['name'] for one in fields.get('security_groups', [{'name': 'default'}])]
        for name in groups:
            if name not in settings['security_groups']:
                raise Refusal(400, f"Unable to find security_group with name or id '{name}'")
        return {'name': fields['name'], 'flavor': flavor, 'project_id': request.scope['project_id'],
                'image': '' if 'block_device_mapping_v2' in fields else image['id'],
                'key_name': fields.get('key_name'), 'security_groups': groups,
                'zone': zone or (settings['zones'] or ['nova'])[0],
                'config_drive': fields.get('config_drive', False),
                'user_data': fields.get('user_data'), 'metadata': fields.get('metadata', {}),
                'asked': fields}

    def networks_of(self, request, wanted):
        known = self.project.networks()
        if wanted == 'none':
            return []
        if wanted == 'auto' or not wanted:
            known = [one for one in known if not one['external']] or known
            if len(known) > 1:
                raise Refusal(409, 'Multiple possible networks found, use a Network ID to be more '
                                   'specific.')
            return known
        by_id = {one['id']: one for one in known}
        for one in wanted:
            if one['uuid'] not in by_id:
                raise Refusal(400, f'Network {one["uuid"]} could not be found.')
        return [by_id[one['uuid']] for one in wanted]

    def check_quota(self, request, flavor, networks):
        project_id = request.scope['project_id']
        over = self.project.exceeded(project_id, instances=1, cores=flavor['vcpus'],
                                     ram=flavor['ram'])
        if over:
            names, wanted, used, limits = (', '.join(str(one[i]) for one in over) for i in range(4))
            what = names if len(over) > 1 else over[0][0]
            raise Refusal(403, f'Quota exceeded for {names}: Requested {wanted}, but already used '
                               f'{used} of {limits} {what}')
        if self.project.exceeded(project_id, ports=len(networks)):
            raise Refusal(403, 'Maximum number of ports exceeded')

    # ---- Servers: the rest ----

    def delete(self, request, rest, version, fault):
        server = self.find(request, rest[0])
        if server['locked']:
            raise Refusal(409, f'Instance {server["id"]} is locked')
        self.project.delete_server(self.project.thing('server', rest[0]), fault.get('delete'))
        return Answer(204)

    def act(self, request, rest, version, fault):
        server = self.find(request, rest[0])
        check_fields(request.json(), {'os-getConsoleOutput': record({'length': count})},
                     ['os-getConsoleOutput'])
        if server['status'] != 'ACTIVE':
            raise Refusal(409, f'Instance {server["id"]} is not ready')
        return Answer(200, {'output': self.project.settings['console']})
