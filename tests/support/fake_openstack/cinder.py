"""Cinder v3: limits and volumes."""

from form import Malformed, Refusal, check_query, page_of
from wire import Answer

WRAPPERS = {400: 'badRequest', 403: 'forbidden', 404: 'itemNotFound', 413: 'overLimit'}


class Cinder:
    def __init__(self, project):
        self.project = project

    def error_body(self, status, message, kind):
        return {WRAPPERS.get(status, 'computeFault'): {'code': status, 'message': message}}

    def version_document(self, request, rest):
        if request.method != 'GET' or rest not in ([], ['v3']):
            return None
        version = {'id': 'v3.0', 'status': 'CURRENT', 'version': '3.70', 'min_version': '3.0',
                   'updated': '2022-08-31T00:00:00Z',
                   'links': [{'rel': 'self', 'href': f'{request.base}/v3/'}]}
        return Answer(200 if rest else 300, {'versions': [version]})

    def answer(self, request, rest, fault):
        if rest[:2] != ['v3', request.scope['project_id']]:
            raise Malformed(f'there is no {request.path}', 404)
        calls = {('GET', ('limits',)): self.limits, ('GET', ('volumes', 'detail')): self.list}
        call = calls.get((request.method, tuple(rest[2:])))
        if call is not None:
            return call(request, fault)
        if rest[2:3] == ['volumes'] and len(rest) == 4:
            volume = self.find(request, rest[3])
            if request.method == 'GET':
                return Answer(200, {'volume': self.view(volume)})
            if request.method == 'DELETE':
                return self.delete(volume)
        raise Malformed(f'there is no {request.method} {request.path}', 404)

    def limits(self, request, fault):
        limits, used = self.project.settings['limits'], self.project.used(
            request.scope['project_id'])
        return Answer(200, {'limits': {'rate': [], 'absolute': {
            'maxTotalVolumes': limits['volumes'], 'maxTotalSnapshots': 10,
            'maxTotalVolumeGigabytes': limits['gigabytes'], 'totalVolumesUsed': used['volumes'],
            'totalGigabytesUsed': used['gigabytes']}}})

    def own(self, request, lag=0.0):
        return [one for one in reversed(self.project.items('volume', lag))
                if one['project_id'] == request.scope['project_id']]

    def view(self, volume):
        attached = [{'id': volume['id'], 'volume_id': volume['id'], 'server_id': volume['server'],
                     'device': '/dev/sda'}] if volume['server'] else []
        return {'id': volume['id'], 'status': volume['status'], 'size': volume['size'],
                'availability_zone': 'nova', 'created_at': volume['created'], 'name': '',
                'description': '', 'metadata': {}, 'bootable': 'true', 'encrypted': False,
                'multiattach': False, 'attachments': attached, 'links': []}

    def list(self, request, fault):
        check_query(request, ('limit', 'marker', 'name', 'status'))
        page, marker = page_of(request, self.own(request, fault.get('lag', 0.0)),
                               self.project.settings['page'])
        body = {'volumes': [self.view(one) for one in page]}
        if marker is not None:
            limit = f'limit={request.query["limit"]}&' if 'limit' in request.query else ''
            body['volumes_links'] = [{'rel': 'next', 'href': f'{self.project.address}'
                                      f'{request.path}?{limit}marker={marker}'}]
        return Answer(200, body)

    def find(self, request, volume_id):
        for one in self.own(request):
            if one['id'] == volume_id:
                return one
        raise Refusal(404, f'Volume {volume_id} could not be found.')

    def delete(self, volume):
        if volume['server']:
            raise Refusal(400, 'Invalid volume: Volume status must be available or error.')
        self.project.thing('volume', volume['id']).vanish(self.project.now)
        return Answer(202)
