"""Control calls that only this cloud has, beside those of fake_cloud/control.py.

    POST /control/make     {"kind": "server", "count": N, "fields": {...}}: things that no client
                           asked for: server, port, floatingip, volume, image
    POST /control/change   {"kind", "id", "fields"}: what a thing is from now on; null: it is gone
    POST /control/name     {"kind", "name"}: the id of a network, flavor or public image
    POST /control/revoke   {}: no token that was issued is valid any more
"""

from control import Control
from wire import Refused


class Steering(Control):
    def answer(self, request):
        try:
            return super().answer(request)
        except (ValueError, KeyError) as error:
            raise Refused(400, 'bad_request', repr(error)) from None

    @property
    def project(self):
        return self.account

    def do_make(self, request):
        wanted = request.json()
        make = getattr(self, f'make_{wanted["kind"]}')
        return {'ids': [make(wanted.get('fields', {})) for _ in range(wanted.get('count', 1))]}

    def project_of(self, fields):
        return self.project.project_id(fields.pop('project', 'drover'))

    def make_server(self, fields):
        fields = dict(fields)
        name = fields.pop('flavor', 'small')
        flavor = next(one for one in self.project.flavors() if one['name'] == name)
        server = {'name': 'of-somebody-else', 'flavor': flavor, 'image': '', 'key_name': None,
                  'security_groups': ['default'], 'zone': 'nova', 'config_drive': False,
                  'user_data': None, 'metadata': {}, 'asked': {},
                  'project_id': self.project_of(fields), **fields}
        return self.project.add_server(server, self.project.networks()[:1], None,
                                       {'after': 0}).id

    def make_port(self, fields):
        fields = dict(fields)
        network = self.project.networks()[0]
        thing = self.project.add_port(network, '', self.project.ever['port'],
                                      self.project_of(fields), 0, 'nova')
        thing.then(self.project.now, fields)
        return thing.id

    def make_floatingip(self, fields):
        fields = dict(fields)
        number = self.project.ever['floatingip'] + 1
        return self.project.add('floatingip', {
            'network_id': self.project.networks()[0]['id'], 'project_id': self.project_of(fields),
            'shown': False, 'port_id': None, 'status': 'DOWN', 'fixed': None,
            'address': f'127.99.{1 + number // 250}.{1 + number % 250}', **fields}).id

    def make_volume(self, fields):
        fields = dict(fields)
        return self.project.add('volume', {
            'size': 1, 'status': 'available', 'server': None, 'created': self.project.stamp(),
            'project_id': self.project_of(fields), **fields}).id

    def make_image(self, fields):
        fields = dict(fields)
        return self.project.add('image', {
            'name': 'image', 'status': 'active', 'project_id': self.project_of(fields),
            'visibility': 'private', 'size': 4096, 'protected': False, 'properties': {},
            'created': self.project.stamp(), **fields}).id

    def do_change(self, request):
        wanted = request.json()
        thing = self.project.thing(wanted['kind'], wanted['id'])
        thing.then(self.project.now, wanted['fields'])
        return {}

    def do_name(self, request):
        return {'id': self.project.named_id(request.json()['kind'], request.json()['name'])}

    def do_revoke(self, request):
        self.project.tokens.clear()
        return {}
