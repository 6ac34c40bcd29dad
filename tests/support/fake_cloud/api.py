"""The calls of the cloud: what they take, and what they answer."""

from account import KINDS
from wire import Answer, Refused

PLURALS = {('addresses' if kind == 'address' else f'{kind}s'): kind for kind in KINDS}


class Api:
    def __init__(self, account):
        self.account = account

    def streams(self, request):
        """TRUE when the body is not to be read at once."""
        return request.parts[-1] == 'data'

    def note(self, request):
        """What the log is to have besides."""
        return {}

    def error_body(self, request, status, message):
        return {'error': {'code': 'fault', 'message': message}}

    def again(self, request):
        return {'next': 'again'}

    def check_token(self, request):
        token = self.account.settings['token']
        if token is not None and request.headers.get('x-token') != token:
            raise Refused(401, 'unauthorized', 'the token is not valid')

    def tags_of(self, request):
        """Of the body, else of the object that the request is about."""
        try:
            return dict(request.json().get('tags', {}))
        except (Refused, TypeError, ValueError):
            pass
        kind = PLURALS.get(request.parts[0])
        if kind and len(request.parts) > 1:
            thing = self.account.collections[kind].find(request.parts[1], self.account.now)
            return thing.at(self.account.now)['tags'] if thing else {}
        return {}

    async def answer(self, request, fault):
        self.check_token(request)
        what, *rest = request.parts
        if what in PLURALS:
            return await self.answer_things(request, PLURALS[what], rest, fault)
        plain = {'flavors': self.flavors, 'zones': self.zones, 'limits': self.limits}
        if what not in plain or rest or request.method != 'GET':
            raise Refused(404, 'no_such_call', f'there is no {request.method} {request.path}')
        return plain[what]()

    async def answer_things(self, request, kind, rest, fault):
        calls = {('GET', 0): self.list, ('POST', 0): self.create, ('GET', 1): self.show,
                 ('DELETE', 1): self.delete}
        if kind == 'machine' and request.method == 'GET' and rest[1:] == ['console']:
            return self.console(rest[0])
        if kind == 'image' and request.method == 'PUT' and rest[1:] == ['data']:
            return await self.receive(request, rest[0], fault)
        call = calls.get((request.method, len(rest)))
        if call is None:
            raise Refused(404, 'no_such_call', f'there is no {request.method} {request.path}')
        return call(request, kind, rest, fault)

    # ---- Things ----

    def list(self, request, kind, rest, fault):
        items = self.account.items(kind, fault.get('lag', 0.0))
        ids = [item['id'] for item in items]
        marker = request.query.get('marker')
        begin = ids.index(marker) + 1 if marker in ids else 0
        limit = min(int(request.query.get('limit', '1000000')), self.account.settings['page'])
        end = begin + limit
        return Answer(200, {request.parts[0]: items[begin:end],
                            'next': ids[end - 1] if end < len(items) else None})

    def create(self, request, kind, rest, fault):
        fields, account = request.json(), self.account
        if kind == 'machine':
            thing = account.create_machine(fields, fault.get('machine', {}))
        else:
            thing = getattr(account, f'create_{kind}')(fields)
        return Answer(202, {kind: thing.at(account.now)})

    def show(self, request, kind, rest, fault):
        return Answer(200, {kind: self.account.look(kind, rest[0])})

    def delete(self, request, kind, rest, fault):
        self.account.delete(kind, rest[0], fault.get('delete'))
        return Answer(202, {})

    def console(self, machine_id):
        self.account.find('machine', machine_id)
        return Answer(200, self.account.settings['console'])

    async def receive(self, request, image_id, fault):
        thing = self.account.find('image', image_id)
        await self.account.receive_image(thing, request.pieces(), fault.get('upload'))
        return Answer(202, {})

    # ---- The rest ----

    def flavors(self):
        return Answer(200, {'flavors': self.account.settings['flavors']})

    def zones(self):
        return Answer(200, {'zones': [{'name': name} for name in self.account.settings['zones']]})

    def limits(self):
        return Answer(200, {'limits': self.account.settings['limits'],
                            'used': self.account.used()})
