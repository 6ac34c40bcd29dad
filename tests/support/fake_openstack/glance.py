"""Glance v2: images, their data, import."""

import hashlib

from form import (Malformed, Refusal, check_fields, check_query, count, flag, list_of, one_of,
                  page_of, record, short_text, text)
from wire import Answer

PHRASES = {400: '400 Bad Request', 403: '403 Forbidden', 404: '404 Not Found', 409: '409 Conflict',
           405: '405 Method Not Allowed', 413: '413 Request Entity Too Large'}
IMAGE = {'name': short_text, 'disk_format': one_of('qcow2', 'raw', 'vhd', 'vmdk', 'vdi', 'iso'),
         'container_format': one_of('bare'), 'visibility': one_of('private', 'public', 'shared'),
         'min_disk': count, 'min_ram': count, 'protected': flag, 'tags': list_of(short_text)}
LIST_QUERY = ('limit', 'marker', 'name', 'status', 'visibility', 'owner', 'sort', 'sort_key',
              'sort_dir', 'tag', 'os_hidden', 'member_status', 'id')


class Glance:
    def __init__(self, project):
        self.project = project

    def error_body(self, status, message, kind):
        phrase = PHRASES.get(status, f'{status} Error')
        return {'message': f'{message}<br /><br />\n\n\n', 'code': phrase,
                'title': phrase.partition(' ')[2]}

    def version_document(self, request, rest):
        if request.method != 'GET' or rest:
            return None
        version = {'id': 'v2.15', 'status': 'CURRENT',
                   'links': [{'rel': 'self', 'href': f'{request.base}/v2/'}]}
        return Answer(300, {'versions': [version]})

    async def answer(self, request, rest, fault):
        if rest[:2] != ['v2', 'images']:
            raise Malformed(f'there is no {request.method} {request.path}', 404)
        calls = {('GET', 0): self.list, ('POST', 0): self.create, ('GET', 1): self.show,
                 ('DELETE', 1): self.delete}
        parts = rest[2:]
        if len(parts) == 2:
            if request.method == 'PUT' and parts[1] in ('file', 'stage'):
                return await self.receive(request, parts[0], parts[1], fault)
            if request.method == 'POST' and parts[1] == 'import':
                return self.take_in(request, parts[0], fault)
        call = calls.get((request.method, len(parts)))
        if call is None:
            raise Malformed(f'there is no {request.method} {request.path}', 404)
        return call(request, parts, fault)

    # ---- Looking ----

    def view(self, image):
        return {**image['properties'], 'id': image['id'], 'name': image['name'],
                'disk_format': image.get('disk_format', 'raw'), 'container_format': 'bare',
                'visibility': image['visibility'], 'size': image['size'],
                'virtual_size': image['size'], 'status': image['status'],
                'checksum': image.get('checksum'), 'protected': image['protected'],
                'min_ram': image.get('min_ram', 0), 'min_disk': image.get('min_disk', 0),
                'owner': image['project_id'], 'os_hidden': False,
                'os_hash_algo': 'sha512' if image.get('sha512') else None,
                'os_hash_value': image.get('sha512'), 'created_at': image['created'],
                'updated_at': image['created'], 'tags': [],
                'self': f'/v2/images/{image["id"]}', 'file': f'/v2/images/{image["id"]}/file',
                'schema': '/v2/schemas/image'}

    def visible(self, request, lag=0.0):
        return [self.view(one) for one in reversed(self.project.items('image', lag))
                if one['visibility'] == 'public' or
                one['project_id'] == request.scope['project_id']]

    def list(self, request, parts, fault):
        views = self.visible(request, fault.get('lag', 0.0))
        properties = set().union(*views) if views else set()
        check_query(request, {*LIST_QUERY, *properties, 'nodepool_provider_name'})
        for name, value in request.query.items():
            if name in ('limit', 'marker', 'sort', 'sort_key', 'sort_dir', 'member_status'):
                continue
            if value.startswith('in:'):
                wanted = [one.strip('"') for one in value[3:].split(',')]
                views = [one for one in views if one.get(name) in wanted]
            else:
                views = [one for one in views if str(one.get(name, '')) == value or
                         (name == 'visibility' and value == 'all')]
        settings = self.project.settings
        most = settings['page'] if 'limit' in request.query else settings['image_page']
        page, marker = page_of(request, views, most)
        body = {'images': page, 'first': '/v2/images', 'schema': '/v2/schemas/images'}
        if marker is not None:
            kept = ''.join(f'{key}={value}&' for key, value in request.query.items()
                           if key != 'marker')
            body['next'] = f'/v2/images?{kept}marker={marker}'
        return Answer(200, body)

    def find(self, request, image_id, words='No image found with ID {}'):
        for one in self.visible(request):
            if one['id'] == image_id:
                return one
        raise Refusal(404, words.format(image_id))

    def show(self, request, parts, fault):
        return Answer(200, self.find(request, parts[0]))

    # ---- Making ----

    def create(self, request, parts, fault):
        fields = request.json()
        properties = {name: value for name, value in fields.items() if name not in IMAGE}
        for name, value in properties.items():
            if not text(value):
                raise Malformed(f'{value!r} is not of type \'string\', in {name}')
        check_fields({name: fields[name] for name in fields if name in IMAGE}, IMAGE)
        project = self.project
        thing = project.add('image', {
            **{name: fields[name] for name in fields if name in IMAGE},
            'name': fields.get('name'), 'visibility': fields.get('visibility', 'shared'),
            'protected': fields.get('protected', False), 'properties': properties,
            'project_id': request.scope['project_id'], 'size': None, 'status': 'queued',
            'created': project.stamp()})
        return Answer(201, self.view(thing.at(project.now)), {
            'Location': f'{project.address}/image/v2/images/{thing.id}',
            'OpenStack-image-import-methods': 'glance-direct,web-download'})

    async def receive(self, request, image_id, where, fault):
        image = self.find(request, image_id)
        if where == 'file' and not self.project.settings['direct_upload']:
            raise Refusal(403, 'You are not permitted to upload data to this image.')
        if image['status'] != 'queued':
            raise Refusal(409, f'Image status transition from {image["status"]} to saving is not '
                               'allowed')
        thing, project = self.project.thing('image', image_id), self.project
        thing.change(project.now, {'status': 'saving' if where == 'file' else 'uploading'})
        md5, sha512, size = hashlib.md5(usedforsecurity=False), hashlib.sha512(), 0
        try:
            async for piece in request.pieces():
                md5.update(piece)
                sha512.update(piece)
                size += len(piece)
            if fault.get('upload') == 'cut':
                raise ConnectionResetError('as the test wants')
        except OSError:
            if thing.at(project.now) is not None:
                thing.then(project.now + project.settings['forget_after'], {'status': 'queued'})
            raise
        result = {'size': size, 'checksum': md5.hexdigest(), 'sha512': sha512.hexdigest()}
        if fault.get('upload') == 'checksum':
            result.update(checksum='0' * 32, sha512='0' * 128)
        thing.then(project.now, result)
        if where == 'file':
            self.finish(thing, fault)
        return Answer(204)

    def finish(self, thing, fault):
        result, project = fault.get('upload'), self.project
        status = 'killed' if result == 'killed' else 'active'
        if result != 'stuck':
            thing.then(project.now + project.settings['ready_after'], {'status': status})

    def take_in(self, request, image_id, fault):
        body = request.json()
        check_fields(body, {'method': record({'name': one_of('glance-direct')}, ['name'])},
                     ['method'])
        if self.find(request, image_id)['status'] != 'uploading':
            raise Refusal(409, 'Image needs to be staged before \'glance-direct\' method can be used')
        thing = self.project.thing('image', image_id)
        thing.then(self.project.now, {'status': 'importing'})
        self.finish(thing, fault)
        return Answer(202)

    def delete(self, request, parts, fault):
        image = self.find(request, parts[0], 'Failed to find image {} to delete')
        if image['protected'] or image['owner'] != request.scope['project_id']:
            raise Refusal(403, f'Image {image["id"]} is protected and cannot be deleted.')
        self.project.thing('image', parts[0]).vanish(self.project.now)
        return Answer(204)
