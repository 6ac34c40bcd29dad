"""Neutron v2.0: networks, subnets, routers, ports, floating IPs."""

from form import (Malformed, Refusal, check_fields, check_query, page_of, text, text_or_null,
                  wrapped)
from wire import Answer

KINDS = {'networks': 'network', 'subnets': 'subnet', 'routers': 'router', 'ports': 'port',
         'floatingips': 'floatingip', 'security-groups': 'security_group'}
FLOATING = {'floating_network_id': text, 'port_id': text_or_null, 'fixed_ip_address': text,
            'description': text}
LIST_QUERY = ('limit', 'marker', 'fields', 'sort_key', 'sort_dir')
NOT_FOUND = {'network': 'NetworkNotFound', 'port': 'PortNotFound',
             'floatingip': 'FloatingIPNotFound'}


class Neutron:
    def __init__(self, project):
        self.project = project

    def error_body(self, status, message, kind):
        return {'NeutronError': {'type': kind, 'message': message, 'detail': ''}}

    def version_document(self, request, rest):
        if request.method != 'GET' or rest not in ([], ['v2.0']):
            return None
        version = {'id': 'v2.0', 'status': 'CURRENT',
                   'links': [{'rel': 'self', 'href': f'{request.base}/v2.0/'}]}
        return Answer(200, {'resources': []} if rest else {'versions': [version]})

    def answer(self, request, rest, fault):
        if rest[:1] != ['v2.0'] or len(rest) not in (2, 3):
            raise Malformed(f'there is no {request.method} {request.path}', 404)
        if rest[1] == 'extensions':
            return Answer(200, {'extensions': []})
        kind = KINDS.get(rest[1])
        call = {('GET', 2): self.list, ('GET', 3): self.show, ('POST', 2): self.create,
                ('PUT', 3): self.update, ('DELETE', 3): self.delete}.get((request.method, len(rest)))
        if kind is None or call is None:
            raise Malformed(f'there is no {request.method} {request.path}', 404)
        return call(request, kind, rest[1], rest[2] if len(rest) > 2 else None, fault)

    # ---- Looking ----

    def views(self, request, kind, lag=0.0):
        """All that the token's project may see, as they are shown."""
        if kind in ('port', 'floatingip'):
            shown = [getattr(self, f'{kind}_view')(one) for one in self.project.items(kind, lag)]
        else:
            shown = getattr(self, f'{kind}s')(request)
        return [one for one in shown if self.may_see(request, one)]

    def may_see(self, request, view):
        return (request.scope['admin'] or view['project_id'] == request.scope['project_id'] or
                view.get('shared') or view.get('router:external'))

    def common(self, name, project_id):
        return {'name': name, 'tenant_id': project_id, 'project_id': project_id,
                'admin_state_up': True, 'description': '', 'tags': [], 'revision_number': 1,
                'created_at': '2026-01-01T00:00:00Z', 'updated_at': '2026-01-01T00:00:00Z'}

    def owner(self, network):
        name = 'admin' if network['external'] or network['shared'] else 'drover'
        return self.project.project_id(name)

    def networks(self, request):
        return [{'id': one['id'], **self.common(one['name'], self.owner(one)), 'mtu': 1500,
                 'status': 'ACTIVE', 'subnets': self.project.subnet_ids(one),
                 'shared': one['shared'], 'router:external': one['external'],
                 'port_security_enabled': True,
                 **({'provider:physical_network': one['physical']}
                    if one.get('physical') and request.scope['admin'] else {})}
                for one in self.project.networks()]

    def subnets(self, request):
        return [{'id': subnet_id, **self.common(f'{one["name"]}-v{version}', self.owner(one)),
                 'network_id': one['id'], 'ip_version': version, 'enable_dhcp': False,
                 'gateway_ip': self.gateway(one, version),
                 'cidr': f'127.{100 + one["number"]}.0.0/16' if version == 4 else
                         f'fd00:{one["number"]:x}::/64',
                 'shared': one['shared'], 'router:external': one['external']}
                for one in self.project.networks()
                for subnet_id, version in zip(self.project.subnet_ids(one), one['versions'])]

    def gateway(self, network, version):
        if not network['gateway']:
            return None
        return f'127.{100 + network["number"]}.0.1' if version == 4 else \
            f'fd00:{network["number"]:x}::1'

    def routers(self, request):
        router = self.project.settings['router']
        if router is None:
            return []
        return [{'id': self.project.named_id('router', 'router'),
                 **self.common('router', self.project.project_id('drover')), 'status': 'ACTIVE',
                 'external_gateway_info': {
                     'network_id': self.project.named_id('network', router['external']),
                     'external_fixed_ips': [], 'enable_snat': True}, 'routes': []}]

    def security_groups(self, request):
        return [{'id': self.project.named_id('group', name), 'security_group_rules': [],
                 **self.common(name, self.project.project_id('drover'))}
                for name in self.project.settings['security_groups']]

    def port_view(self, port):
        return {'id': port['id'], **self.common('', port['project_id']),
                'network_id': port['network_id'], 'mac_address': port['mac'],
                'status': port['status'], 'device_id': port['device_id'],
                'device_owner': port['device_owner'], 'fixed_ips': port['fixed_ips'],
                'security_groups': [], 'created_at': port['created'],
                'updated_at': port['created']}

    def port_details(self, port_id):
        port = self.project.look('port', port_id) if port_id else None
        return port and {'name': '', 'network_id': port['network_id'], 'mac_address': port['mac'],
                         'admin_state_up': True, 'status': port['status'],
                         'device_id': port['device_id'], 'device_owner': port['device_owner']}

    def floatingip_view(self, floating):
        view = {'id': floating['id'], **self.common('', floating['project_id']),
                'floating_ip_address': floating['address'],
                'floating_network_id': floating['network_id'], 'port_id': floating['port_id'],
                'router_id': self.project.named_id('router', 'router')
                if floating['port_id'] else None,
                'fixed_ip_address': floating['fixed'], 'status': floating['status'],
                'port_details': self.port_details(floating['port_id'])}
        return {name: value for name, value in view.items() if name not in ('name', 'admin_state_up')}

    def list(self, request, kind, plural, _, fault):
        views = self.views(request, kind, fault.get('lag', 0.0))
        known = set().union(*views) if views else set(request.query)
        check_query(request, {*LIST_QUERY, *known, 'project_id', 'tenant_id', 'device_id',
                              'router:external', 'port_id', 'status', 'name',
                              'floating_ip_address'})
        for name, value in request.query.items():
            if name not in LIST_QUERY:
                views = [one for one in views if self.fits(one.get(name), value)]
        page, marker = page_of(request, views, self.project.settings['page'])
        name = plural.replace('-', '_')
        body = {name: page}
        if marker is not None:
            limit = f'limit={request.query["limit"]}&' if 'limit' in request.query else ''
            kept = ''.join(f'{key}={value}&' for key, value in request.query.items()
                           if key not in ('limit', 'marker'))
            body[f'{name}_links'] = [{'rel': 'next', 'href': f'{self.project.address}'
                                      f'{request.path}?{kept}{limit}marker={marker}'}]
        return Answer(200, body)

    def fits(self, value, wanted):
        if isinstance(value, bool):
            return wanted.lower() == str(value).lower()
        return ('' if value is None else str(value)) == wanted

    def find(self, request, kind, thing_id):
        for one in self.views(request, kind):
            if one['id'] == thing_id:
                return one
        words = {'floatingip': 'Floating IP'}.get(kind, kind.capitalize())
        raise Refusal(404, f'{words} {thing_id} could not be found.',
                      NOT_FOUND.get(kind, 'HTTPNotFound'))

    def show(self, request, kind, plural, thing_id, fault):
        return Answer(200, {kind: self.find(request, kind, thing_id)})

    # ---- Changing ----

    def create(self, request, kind, plural, _, fault):
        if kind != 'floatingip':
            raise Malformed(f'there is no POST {request.path}', 404)
        fields = wrapped(request, 'floatingip')
        check_fields(fields, FLOATING, ['floating_network_id'], 'floatingip')
        project, project_id = self.project, request.scope['project_id']
        network = self.find(request, 'network', fields['floating_network_id'])
        if not network['router:external']:
            raise Refusal(400, f'Bad floatingip request: Network {network["id"]} is not a valid '
                               'external network.')
        port = self.port_to_join(request, fields)
        if project.exceeded(project_id, floatingips=1):
            raise Refusal(409, "Quota exceeded for resources: ['floatingip'].", 'OverQuota')
        number = project.ever['floatingip'] + 1
        thing = project.add('floatingip', {
            'network_id': network['id'], 'project_id': project_id, 'shown': False,
            'port_id': port['id'] if port else None, 'status': 'DOWN',
            'fixed': fields.get('fixed_ip_address', port['fixed_ips'][0]['ip_address'])
            if port else None, 'address': f'127.99.{1 + number // 250}.{1 + number % 250}'})
        if port:
            self.join(thing)
        return Answer(201, {'floatingip': self.floatingip_view(thing.at(project.now))})

    def join(self, thing):
        """What becomes of a floating IP that got a port."""
        settings, now = self.project.settings, self.project.now
        if settings['floating_active_after'] is not None:
            thing.then(now + settings['floating_active_after'], {'status': 'ACTIVE'})
        thing.then(now + settings['floating_shown_after'], {'shown': True})

    def port_to_join(self, request, fields):
        if fields.get('port_id') is None:
            return None
        port, router = self.find(request, 'port', fields['port_id']), self.project.settings['router']
        reached = [self.project.named_id('network', name)
                   for name in (router['networks'] if router else [])]
        if port['network_id'] not in reached:
            raise Refusal(404, f'External network {fields["floating_network_id"]} is not reachable '
                               f'from subnet {port["fixed_ips"][0]["subnet_id"]}.  Therefore, '
                               f'cannot associate Port {port["id"]} with a Floating IP.',
                          'ExternalGatewayForFloatingIPNotFound')
        own = [fixed['ip_address'] for fixed in port['fixed_ips']]
        if fields.get('fixed_ip_address', own[0]) not in own:
            raise Malformed(f'port {port["id"]} has no address {fields["fixed_ip_address"]}')
        return port

    def update(self, request, kind, plural, thing_id, fault):
        if kind != 'floatingip':
            raise Malformed(f'there is no PUT {request.path}', 404)
        self.find(request, kind, thing_id)
        fields = wrapped(request, 'floatingip')
        check_fields(fields, {'port_id': text_or_null}, ['port_id'], 'floatingip')
        thing = self.project.thing('floatingip', thing_id)
        thing.change(self.project.now, {'port_id': fields['port_id'], 'status': 'DOWN',
                                        'shown': False, 'fixed': None})
        if fields['port_id'] is not None:
            self.port_to_join(request, {'floating_network_id': '', **fields})
            self.join(thing)
        return self.show(request, kind, plural, thing_id, fault)

    def delete(self, request, kind, plural, thing_id, fault):
        if kind not in ('port', 'floatingip'):
            raise Malformed(f'there is no DELETE {request.path}', 404)
        self.find(request, kind, thing_id)
        if fault.get('delete') != 'lost':
            self.project.thing(kind, thing_id).vanish(self.project.now)
        return Answer(204)
