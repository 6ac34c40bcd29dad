"""Keystone v3: tokens and the catalog."""

import datetime
import uuid

from form import (Malformed, Refusal, check_fields, list_of, one_of, record, short_text, text,
                  wrapped)
from wire import Answer

NAMES = {400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found'}
DENIED = 'The request you have made requires authentication.'
DOMAIN = {'id': 'default', 'name': 'Default'}

DOMAIN_FIELDS = record({'id': short_text, 'name': short_text})
USER = {'id': short_text, 'name': short_text, 'password': text, 'domain': DOMAIN_FIELDS}
PLAIN_USER = {name: check for name, check in USER.items() if name != 'password'}
IDENTITY = {
    'methods': list_of(one_of('password', 'token', 'application_credential')),
    'password': record({'user': record(USER, ['password'])}, ['user']),
    'token': record({'id': text}, ['id']),
    'application_credential': record({'id': short_text, 'name': short_text, 'secret': text,
                                      'user': record(PLAIN_USER)}, ['secret']),
}
SCOPE = {'project': record({'id': short_text, 'name': short_text, 'domain': DOMAIN_FIELDS}),
         'domain': DOMAIN_FIELDS, 'system': record({'all': one_of(True)}),
         'OS-TRUST:trust': record({'id': short_text})}

# type in the catalog: (name, path after the host; {project} is put in)
SERVICES = {'identity': ('keystone', '/identity/v3'), 'compute': ('nova', '/compute/v2.1'),
            'network': ('neutron', '/network'), 'image': ('glance', '/image'),
            'volumev3': ('cinder', '/volume/v3/{project}')}


def stamp(seconds):
    when = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return when.strftime('%Y-%m-%dT%H:%M:%S.%fZ')


class Keystone:
    def __init__(self, project):
        self.project = project

    def error_body(self, status, message, kind):
        return {'error': {'code': status, 'message': message, 'title': NAMES.get(status, 'Error')}}

    def version_document(self, request, rest):
        if request.method != 'GET' or rest not in ([], ['v3']):
            return None
        version = {'id': 'v3.14', 'status': 'stable', 'updated': '2020-04-07T00:00:00Z',
                   'links': [{'rel': 'self', 'href': f'{request.base}/v3/'}],
                   'media-types': [{'base': 'application/json',
                                    'type': 'application/vnd.openstack.identity-v3+json'}]}
        if rest:
            return Answer(200, {'version': version})
        return Answer(300, {'versions': {'values': [version]}},
                      {'Location': f'{request.base}/v3/'})

    def answer(self, request, rest, fault):
        if rest != ['v3', 'auth', 'tokens']:
            raise Refusal(404, 'The resource could not be found.')
        if request.method == 'POST':
            return self.issue(request)
        if request.method == 'DELETE':
            self.scope_of(request)
            self.project.tokens.pop(request.headers.get('x-subject-token'), None)
            return Answer(204)
        raise Refusal(405, 'The method is not allowed for the requested URL.')

    # ---- Tokens ----

    def scope_of(self, request):
        """The token's record; refuses what has none that is valid."""
        token = self.project.tokens.get(request.headers.get('x-auth-token'))
        if token is None or token['expires'] <= self.project.now:
            raise Refusal(401, DENIED)
        return token

    def issue(self, request):
        auth = wrapped(request, 'auth')
        check_fields(auth, {'identity': lambda _: True, 'scope': lambda _: True}, ['identity'])
        identity = auth['identity']
        check_fields(identity, IDENTITY, ['methods'], 'identity')
        if 'scope' in auth:
            check_fields(auth['scope'], SCOPE, (), 'scope')
            if len(auth['scope']) != 1:
                raise Malformed('more than one scope')
        method, = identity['methods']
        if set(identity) != {'methods', method}:
            raise Malformed(f'identity has more than {method}')
        user = getattr(self, f'by_{method}')(identity[method], auth)
        project = self.find_project(user, auth.get('scope', {}))
        return self.make(method, user, project)

    def user_of(self, fields):
        if 'id' not in fields and 'domain' not in fields:
            raise Malformed('the user has a name, and no domain')
        if fields.get('domain', DOMAIN) not in ({'id': 'default'}, {'name': 'Default'}, DOMAIN):
            raise Refusal(401, DENIED)
        for user in self.project.settings['users']:
            if fields.get('name') == user['name'] or fields.get('id') == self.user_id(user):
                return user
        raise Refusal(401, DENIED)

    def user_id(self, user):
        return self.project.named_id('user', user['name'])

    def by_password(self, fields, auth):
        user = self.user_of(fields['user'])
        if fields['user']['password'] != user['password']:
            raise Refusal(401, DENIED)
        return user

    def by_token(self, fields, auth):
        token = self.project.tokens.get(fields['id'])
        if token is None or token['expires'] <= self.project.now:
            raise Refusal(401, DENIED)
        return token['user']

    def by_application_credential(self, fields, auth):
        if 'scope' in auth:
            raise Refusal(401, DENIED)
        if 'id' not in fields and not {'name', 'user'} <= set(fields):
            raise Malformed('application_credential needs id, or name and user')
        for user in self.project.settings['users']:
            credential = user.get('credential')
            if credential is None or credential['secret'] != fields['secret']:
                continue
            if fields.get('id') == credential['id']:
                return user
            if fields.get('name') == credential['name'] and self.user_of(fields['user']) is user:
                return user
        raise Refusal(401, DENIED)

    def find_project(self, user, scope):
        wanted = scope.get('project')
        if wanted is not None and 'id' not in wanted and 'domain' not in wanted:
            raise Malformed('the project has a name, and no domain')
        name = user['project']
        if wanted is not None and wanted.get('id', self.project.project_id(name)) != \
                self.project.project_id(name):
            raise Refusal(401, DENIED)
        if wanted is not None and wanted.get('name', name) != name:
            raise Refusal(401, DENIED)
        if 'domain' in scope or ('system' in scope and not user.get('admin')):
            raise Refusal(401, DENIED)
        return None if 'system' in scope else name

    def make(self, method, user, name):
        """`name`: of a project; None: the token is for the whole system."""
        project, project_id = self.project, name and self.project.project_id(name)
        life = project.settings['token_life']
        token = f'gAAAAAB-{uuid.uuid4().hex}'
        project.tokens[token] = {'user': user, 'project_id': project_id, 'method': method,
                                 'admin': user.get('admin', False),
                                 'expires': project.now + life}
        project.issued += 1
        now = project.wall_time()
        body = {'methods': [method], 'user': {'domain': DOMAIN, 'id': self.user_id(user),
                                              'name': user['name'], 'password_expires_at': None},
                'audit_ids': [uuid.uuid4().hex[:22]], 'expires_at': stamp(now + life),
                'issued_at': stamp(now),
                **({'project': {'domain': DOMAIN, 'id': project_id, 'name': name}} if name else
                   {'system': {'all': True}}), 'is_domain': False,
                'roles': [{'id': project.named_id('role', 'member'), 'name': 'member'}],
                'catalog': self.catalog(project_id)}
        return Answer(201, {'token': body}, {'X-Subject-Token': token, 'Vary': 'X-Auth-Token'})

    def catalog(self, project_id):
        settings, catalog = self.project.settings, []
        for service_type in settings['services']:
            name, path = SERVICES[service_type]
            endpoints = []
            for index, region in enumerate(settings['regions']):
                for interface in ('admin', 'public', 'internal'):
                    front = '' if index == 0 else f'/{region}'
                    front += '' if interface == 'public' else f'/{interface}'
                    url = self.project.address + front + path.format(project=project_id)
                    endpoints.append({'id': uuid.uuid4().hex, 'interface': interface,
                                      'region_id': region, 'region': region, 'url': url})
            catalog.append({'endpoints': endpoints, 'type': service_type, 'name': name,
                            'id': self.project.named_id('service', name)})
        return catalog
