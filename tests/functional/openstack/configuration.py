"""Configuration of Keystone, Placement, Glance, Neutron, Cinder and Nova on loopback, as little as
works.

The hypervisor is Nova's own fake one; instead of network agents and of a storage there are the
plugins of plugins/, which say at once that a port is connected, a floating IP leads to it, a volume
is made. Everything else is OpenStack's own.
"""

import base64
import os

# What authenticates before the application, in the form that Paste wants.
NOVA_PASTE = '''[composite:osapi_compute]
use = call:nova.api.openstack.urlmap:urlmap_factory
/: versions
/v2.1: version
/v2.1/+: api
[composite:api]
use = call:nova.api.auth:pipeline_factory_v21
keystone = id fault token context app
[pipeline:versions]
pipeline = fault versionsapp
[pipeline:version]
pipeline = fault versionapp
[app:versionsapp]
paste.app_factory = nova.api.openstack.compute.versions:Versions.factory
[app:versionapp]
paste.app_factory = nova.api.openstack.compute.versions:VersionsV2.factory
[app:app]
paste.app_factory = nova.api.openstack.compute:APIRouterV21.factory
[filter:id]
paste.filter_factory = nova.api.compute_req_id:ComputeReqIdMiddleware.factory
[filter:fault]
paste.filter_factory = nova.api.openstack:FaultWrapper.factory
[filter:context]
paste.filter_factory = nova.api.auth:NovaKeystoneContext.factory
[filter:token]
paste.filter_factory = keystonemiddleware.auth_token:filter_factory
'''
NEUTRON_PASTE = '''[composite:neutron]
use = egg:Paste#urlmap
/: versions
/v2.0: api
[composite:api]
use = call:neutron.auth:pipeline_factory
keystone = id errors token context extensions app
[app:versions]
paste.app_factory = neutron.pecan_wsgi.app:versions_factory
[app:app]
paste.app_factory = neutron.api.v2.router:APIRouter.factory
[filter:id]
paste.filter_factory = oslo_middleware:RequestId.factory
[filter:errors]
paste.filter_factory = oslo_middleware:CatchErrors.factory
[filter:context]
paste.filter_factory = neutron.auth:NeutronKeystoneContext.factory
[filter:token]
paste.filter_factory = keystonemiddleware.auth_token:filter_factory
[filter:extensions]
paste.filter_factory = neutron.api.extensions:plugin_aware_extension_middleware_factory
'''
GLANCE_PASTE = '''[pipeline:glance-api-keystone]
pipeline = version token context root
[composite:root]
paste.composite_factory = glance.api:root_app_factory
/: versions
/v2: app
[app:versions]
paste.app_factory = glance.api.versions:create_resource
[app:app]
paste.app_factory = glance.api.v2.router:API.factory
[filter:version]
paste.filter_factory = glance.api.middleware.version_negotiation:VersionNegotiationFilter.factory
[filter:context]
paste.filter_factory = glance.api.middleware.context:ContextMiddleware.factory
[filter:token]
paste.filter_factory = keystonemiddleware.auth_token:filter_factory
delay_auth_decision = true
'''
CINDER_PASTE = '''[composite:osapi_volume]
use = call:cinder.api:root_app_factory
/: versions
/v3: api
[composite:api]
use = call:cinder.api.middleware.auth:pipeline_factory
keystone = id fault token context app
[pipeline:versions]
pipeline = fault versionsapp
[app:versionsapp]
paste.app_factory = cinder.api.versions:Versions.factory
[app:app]
paste.app_factory = cinder.api.v3.router:APIRouter.factory
[filter:id]
paste.filter_factory = oslo_middleware:RequestId.factory
[filter:fault]
paste.filter_factory = cinder.api.middleware.fault:FaultWrapper.factory
[filter:context]
paste.filter_factory = cinder.api.middleware.auth:CinderKeystoneContext.factory
[filter:token]
paste.filter_factory = keystonemiddleware.auth_token:filter_factory
'''
# How Neutron finds the mechanism driver.
ENTRY = '[neutron.ml2.mechanism_drivers]\nconnected = connected_ports:Connected\n'


class Configuration:
    """`ports`: of keystone placement glance neutron nova cinder rabbit, all on 127.0.0.1."""

    def __init__(self, folder, ports, password, token_life):
        self.folder, self.ports, self.password = folder, ports, password
        self.token_life = token_life
        self.socket = f'{folder}/mysql.sock'

    def url(self, name):
        return f'http://127.0.0.1:{self.ports[name]}'

    def database(self, name):
        return {'connection': f'mysql+pymysql://root@localhost/{name}?unix_socket={self.socket}',
                'max_pool_size': 20, 'max_overflow': 40}

    def account(self, name):
        return {'auth_type': 'password', 'auth_url': self.url('keystone') + '/v3',
                'username': name, 'password': self.password, 'project_name': 'service',
                'user_domain_id': 'default', 'project_domain_id': 'default',
                'region_name': 'RegionOne'}

    def service(self, name):
        """Sections that each service with queues has."""
        return {'keystone_authtoken': {**self.account(name),
                                       'www_authenticate_uri': self.url('keystone') + '/v3',
                                       # or a revoked token would be good for five minutes more;
                                       # Keystone cannot be asked each time
                                       'token_cache_time': 30},
                'oslo_concurrency': {'lock_path': f'{self.folder}/{name}/locks'},
                'oslo_messaging_notifications': {'driver': 'noop'}}

    def queues(self, name):
        return {'transport_url': f'rabbit://guest:guest@127.0.0.1:{self.ports["rabbit"]}/',
                'state_path': f'{self.folder}/{name}'}

    def write(self):
        for name in ('nova', 'neutron', 'glance', 'cinder'):
            os.makedirs(f'{self.folder}/{name}/locks')
        for name in ('keystone', 'placement', 'glance', 'neutron', 'nova', 'nova_db', 'cinder'):
            self.write_service(name)
        for name, text in (('nova', NOVA_PASTE), ('neutron', NEUTRON_PASTE),
                           ('glance', GLANCE_PASTE), ('cinder', CINDER_PASTE)):
            self.write_file(f'{name}-paste.ini', text)
        for name in ('fernet', 'credential'):
            os.makedirs(f'{self.folder}/{name}', mode=0o700)
            self.new_keys(name)
        os.makedirs(f'{self.folder}/python/connected_ports-1.dist-info')
        self.write_file('python/connected_ports-1.dist-info/entry_points.txt', ENTRY)
        self.write_file('python/connected_ports-1.dist-info/METADATA',
                        'Metadata-Version: 2.1\nName: connected-ports\nVersion: 1\n')

    def write_service(self, name):
        self.write_ini(name.replace('_', '-'), getattr(self, name)())

    def new_keys(self, name):
        for index in (0, 1):
            self.write_file(f'{name}/{index}', base64.urlsafe_b64encode(os.urandom(32)).decode())

    def write_file(self, name, text):
        with open(f'{self.folder}/{name}', 'w', encoding='ascii') as out:
            out.write(text)

    def write_ini(self, name, sections):
        lines = []
        for section, values in sections.items():
            lines += [f'[{section}]', *(f'{key} = {value}' for key, value in values.items())]
        self.write_file(f'{name}.conf', '\n'.join([*lines, '']))

    def keystone(self):
        keys = {'key_repository': f'{self.folder}/fernet'}
        return {'database': self.database('keystone'),
                'token': {'provider': 'fernet', 'expiration': self.token_life},
                'fernet_tokens': keys, 'fernet_receipts': keys,
                'credential': {'key_repository': f'{self.folder}/credential'},
                'identity': {'password_hash_rounds': 4},
                'cache': {'backend': 'dogpile.cache.memory'},
                'oslo_messaging_notifications': {'driver': 'noop'}}

    def placement(self):
        return {'placement_database': self.database('placement'),
                'api': {'auth_strategy': 'keystone'},
                'keystone_authtoken': self.service('placement')['keystone_authtoken']}

    def glance(self):
        folder = f'{self.folder}/glance'
        return {'DEFAULT': {'bind_host': '127.0.0.1', 'bind_port': self.ports['glance'],
                            'workers': 0, 'node_staging_uri': f'file://{folder}/staging'},
                'database': self.database('glance'),
                'glance_store': {'stores': 'file', 'default_store': 'file',
                                 'filesystem_store_datadir': f'{folder}/images'},
                'paste_deploy': {'flavor': 'keystone',
                                 'config_file': f'{self.folder}/glance-paste.ini'},
                **self.service('glance')}

    def neutron(self):
        return {'DEFAULT': {**self.queues('neutron'), 'bind_host': '127.0.0.1',
                            'bind_port': self.ports['neutron'], 'core_plugin': 'ml2',
                            'api_paste_config': f'{self.folder}/neutron-paste.ini',
                            'service_plugins': 'connected_ports.ConnectedRouters',
                            'api_workers': 0, 'rpc_workers': 0, 'rpc_state_report_workers': 0,
                            'dhcp_agent_notification': 'false'},
                'ml2': {'type_drivers': 'flat', 'tenant_network_types': '',
                        'mechanism_drivers': 'connected', 'extension_drivers': 'port_security'},
                'ml2_type_flat': {'flat_networks': '*'},
                'database': self.database('neutron'), 'nova': self.account('neutron'),
                'placement': self.account('neutron'), **self.service('neutron')}

    def nova(self):
        account = self.account('nova')
        return {'DEFAULT': {**self.queues('nova'), 'my_ip': '127.0.0.1', 'host': 'compute1',
                            'enabled_apis': 'osapi_compute', 'osapi_compute_workers': 1,
                            'osapi_compute_listen': '127.0.0.1',
                            'osapi_compute_listen_port': self.ports['nova'],
                            'compute_driver': 'fake.FakeDriver',
                            'instances_path': f'{self.folder}/nova/instances'},
                'wsgi': {'api_paste_config': f'{self.folder}/nova-paste.ini'},
                # 200 servers are two pages.
                'api': {'max_limit': 150},
                'conductor': {'workers': 1},
                'scheduler': {'workers': 1, 'discover_hosts_in_cells_interval': 1},
                'vnc': {'enabled': 'false'}, 'glance': account, 'placement': account,
                # A create that waits for its turn may outlive the token that it was asked with.
                'service_user': {**account, 'send_service_user_token': 'true'},
                'neutron': account, 'cinder': {**account, 'catalog_info': 'volumev3::publicURL'},
                **self.service('nova')}

    def nova_db(self):
        """Apart: nova-compute refuses to start when it has a database."""
        return {'api_database': self.database('nova_api'), 'database': self.database('nova')}

    def cinder(self):
        return {'DEFAULT': {**self.queues('cinder'), 'my_ip': '127.0.0.1',
                            'osapi_volume_listen': '127.0.0.1', 'osapi_volume_workers': 1,
                            'osapi_volume_listen_port': self.ports['cinder'],
                            'api_paste_config': f'{self.folder}/cinder-paste.ini',
                            'glance_api_servers': self.url('glance'),
                            'enabled_backends': 'nothing'},
                'nothing': {'volume_driver': 'empty_volumes.EmptyVolumes',
                            'volume_backend_name': 'nothing'},
                'database': self.database('cinder'), 'nova': self.account('cinder'),
                'coordination': {'backend_url': f'file://{self.folder}/cinder/coordination'},
                **self.service('cinder')}
