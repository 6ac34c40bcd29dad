"""All services behind one port: finds the service, checks the token, wraps refusals."""

import traceback

from cinder import Cinder
from form import Malformed, Refusal
from glance import Glance
from keystone import Keystone
from neutron import Neutron
from nova import Nova
from wire import Answer, Refused

LOGGED = ('openstack-api-version', 'x-openstack-nova-api-version', 'content-type', 'accept')
# Where the body is no JSON.
NOT_PLAIN_JSON = ('file', 'stage')


class Gateway:
    def __init__(self, project):
        self.project = project
        self.keystone = Keystone(project)
        self.services = {'identity': self.keystone, 'compute': Nova(project),
                         'network': Neutron(project), 'image': Glance(project),
                         'volume': Cinder(project)}

    def split(self, request):
        """(service, the path's parts after its name, the address of the service)."""
        for index, part in enumerate(request.parts):
            if part in self.services:
                base = '/'.join(['', *request.parts[:index + 1]])
                return self.services[part], request.parts[index + 1:], \
                    f'{request.scheme}://{request.headers.get("host", "")}{base}'
        return None, request.parts, ''

    # ---- What the process asks ----

    def streams(self, request):
        return request.method == 'PUT' and request.parts[-1] in NOT_PLAIN_JSON

    def note(self, request):
        request.scheme = self.project.scheme
        self.project.address = f'{request.scheme}://{request.headers.get("host", "")}'
        return {'headers': {name: request.headers[name] for name in LOGGED
                            if name in request.headers}}

    def tags_of(self, request):
        """Metadata in the body of a create, else of the server that the request is about."""
        try:
            return dict(request.json()['server']['metadata'])
        except (Refused, KeyError, TypeError, ValueError):
            pass
        _, rest, _ = self.split(request)
        if rest[1:2] == ['servers'] and len(rest) > 2:
            fields = self.project.look('server', rest[2])
            return fields['metadata'] if fields else {}
        return {}

    def error_body(self, request, status, message, kind='Fault'):
        service, _, _ = self.split(request)
        return (service or self.keystone).error_body(status, message, kind)

    def again(self, request):
        """Makes each list a page whose next one is itself."""
        url = f'{request.scheme}://{request.headers.get("host", "")}{request.path}'
        link = [{'rel': 'next', 'href': f'{url}?marker=again'}]
        name = 'servers' if request.path.endswith('servers/detail') else request.parts[-1]
        return {'next': f'{request.path}?marker=again', f'{name}_links': link}

    async def answer(self, request, fault):
        service, rest, base = self.split(request)
        if service is None:
            return Answer(404, {'message': f'there is no {request.path}'})
        request.base = base
        try:
            return await self.answer_checked(service, request, rest, fault)
        except Refusal as refusal:
            if isinstance(refusal, Malformed):
                self.project.complain(request, refusal.message)
            return self.refuse(service, request, refusal)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            self.project.complain(request, traceback.format_exc())  # a mistake of this cloud's
            return self.refuse(service, request, Refusal(500, 'unexpected API error'))

    def refuse(self, service, request, refusal):
        body = service.error_body(refusal.status, refusal.message, refusal.kind)
        headers = dict(refusal.headers)
        if refusal.status == 401:
            body = self.keystone.error_body(401, refusal.message, '')
            headers['WWW-Authenticate'] = 'Keystone uri="/identity/v3"'
        return Answer(refusal.status, body, headers)

    async def answer_checked(self, service, request, rest, fault):
        self.check_headers(request)
        rest = [part for part in rest if part]
        document = service.version_document(request, rest)
        if document is not None:
            return document
        if service is not self.keystone:
            request.scope = self.keystone.scope_of(request)
        answer = service.answer(request, rest, fault)
        if hasattr(answer, '__await__'):
            answer = await answer
        if request.method == 'POST':
            self.project.note_most()
        return answer

    def check_headers(self, request):
        accept = request.headers.get('accept', '')
        if accept not in ('application/json', '*/*') and not self.streams(request):
            raise Malformed(f'the header Accept says "{accept}"', 406)
        if 'user-agent' not in request.headers:
            raise Malformed('there is no header User-Agent')
        kind = request.headers.get('content-type')
        if self.streams(request):
            if kind != 'application/octet-stream':
                raise Malformed(f'data of the type {kind}', 415)
        elif request.length and kind != 'application/json':
            raise Malformed(f'a body of the type {kind}', 415)
