#!/usr/bin/python3
"""A real OpenStack on loopback, of Debian's packages: Keystone, Placement, Glance, Neutron, Cinder,
Nova.

    real_openstack.py [--install]       brings it up, prints its clouds.yaml, ends with Enter

It needs about 5 GB of memory and two minutes, once its packages are there. Nothing of it is left.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from configuration import Configuration

HERE = os.path.dirname(os.path.abspath(__file__))
DATABASES = ('keystone', 'placement', 'glance', 'nova_api', 'nova', 'nova_cell0', 'neutron',
             'cinder')
# A cloud's API has processors of its own: what makes machines does not hold it up.
FIRST = ('mysql', 'keystone', 'nova-api')
PASSWORD = 'password-of-the-test'
# Nova has stored what it built, and tells how long it took.
BUILT = re.compile(r'^(\S+ [\d:]+)(\.\d+) .*\[instance: (\S+)\] Took [\d.]+ seconds to build',
                   re.MULTILINE)
# name: (vcpus, MiB, GiB)
FLAVORS = {'small': (1, 512, 1), 'nowhere': (1, 512, 700000)}


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(('127.0.0.1', 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def install():
    """Nothing that is installed is started by that."""
    subprocess.run([f'{HERE}/../../../packaging/install-packages', 'openstack'], check=True,
                   env={**os.environ, 'DROVER_PACKAGE_LIST': f'{HERE}/debian-packages.txt'})


def go_first():
    """This process goes before others, and its session before others."""
    os.nice(-10)
    if os.path.exists('/proc/self/autogroup'):
        with open('/proc/self/autogroup', 'w', encoding='ascii') as group:
            group.write('-10')


class RealOpenStack:
    def __init__(self, token_life=3600, instances=250):
        self.token_life, self.instances = token_life, instances
        self.folder = tempfile.mkdtemp(prefix='drover-openstack-')
        names = ('keystone', 'placement', 'glance', 'neutron', 'nova', 'cinder', 'rabbit', 'epmd',
                 'erlang')
        self.ports = dict(zip(names, free_ports(len(names))))
        self.configuration = Configuration(self.folder, self.ports, PASSWORD, token_life)
        self.processes = {}
        self.admin = self.user = None
        self.own = set()  # ids of what is always there

    # ---- Processes ----

    def run(self, name, *command, environment=None):
        """A process in the background, with a log of its own."""
        with open(f'{self.folder}/{name}.log', 'ab') as log:
            self.processes[name] = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                start_new_session=True, preexec_fn=go_first if name in FIRST else None,
                env={**os.environ, **(environment or self.environment)})

    @property
    def environment(self):
        return {'PYTHONPATH': f'{self.folder}/python:{HERE}/plugins', 'PYTHONWARNINGS': 'ignore',
                'HOME': self.folder, 'PYTHONDONTWRITEBYTECODE': '1', 'OS_STDOUT_CAPTURE': '1'}

    def command(self, name, *arguments):
        return ['/usr/bin/python3', f'{HERE}/services.py', self.folder, name, *arguments]

    def run_service(self, name, *arguments):
        self.run(name, *self.command(name, *arguments))

    def manage(self, name, *arguments):
        """One task, to its end."""
        print(name, *arguments, file=sys.stderr, flush=True)
        done = subprocess.run(self.command(name, *arguments), text=True, check=False,
                              env={**os.environ, **self.environment}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode:
            raise RuntimeError(f'{name} {arguments}: {done.stdout[-3000:]}')

    def stop_service(self, name, numbers=(signal.SIGTERM, signal.SIGKILL)):
        process = self.processes.pop(name)
        for number in numbers:
            try:
                os.killpg(process.pid, number)
                process.wait(10)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass

    def kill_service(self, name):
        self.stop_service(name, [signal.SIGKILL])

    def freeze(self, name):
        os.killpg(self.processes[name].pid, signal.SIGSTOP)

    def thaw(self, name):
        os.killpg(self.processes[name].pid, signal.SIGCONT)

    def wait(self, what, condition, limit=120):
        """Until it is true; fails early when a process has ended."""
        deadline = time.monotonic() + limit
        while True:
            try:
                if found := condition():
                    return found
            except Exception as error:  # whatever the client library makes of "not yet"
                what = f'{what.partition(": ")[0]}: {error}'
            ended = [name for name, process in self.processes.items() if process.poll() is not None]
            if ended or time.monotonic() > deadline:
                raise RuntimeError(f'{what}; ended: {[(name, self.tail(name)) for name in ended]}')
            time.sleep(0.2)

    def tail(self, name):
        with open(f'{self.folder}/{name}.log', encoding='utf-8', errors='replace') as log:
            return log.read()[-2000:]

    def wait_for_answer(self, name):
        def answers():
            try:
                urllib.request.urlopen(self.configuration.url(name), timeout=5).close()
            except urllib.error.HTTPError as error:
                return error.code < 500
            return True
        self.wait(f'{name} answers', answers)

    # ---- Start ----

    def start(self):
        self.configuration.write()
        self.start_database()
        self.start_queues()
        self.migrate()
        self.run_service('keystone', str(self.ports['keystone']))
        self.wait_for_answer('keystone')
        self.make_accounts()
        self.run_service('placement', str(self.ports['placement']))
        for name in ('glance', 'neutron', 'nova-api', 'cinder-api', 'cinder-scheduler',
                     'cinder-volume'):
            self.run_service(name)
        self.wait_for_answer('placement')
        for name in ('nova-conductor', 'nova-scheduler', 'nova-compute'):
            self.run_service(name)
        for name in ('glance', 'neutron', 'nova', 'cinder'):
            self.wait_for_answer(name)
        self.make_resources()
        return self

    def start_database(self):
        folder = f'{self.folder}/mysql'
        os.makedirs(f'{folder}/data')
        options = ['--no-defaults', '--user=root', f'--datadir={folder}/data', '--skip-log-bin',
                   '--innodb-flush-log-at-trx-commit=0', '--innodb-doublewrite=0']
        tables = ''.join(pathlib.Path(f'/usr/share/mysql/mysql_system_tables{part}.sql').read_text(
            encoding='utf-8') for part in ('', '_data'))
        subprocess.run(['mariadbd', *options, '--bootstrap'], check=True, capture_output=True,
                       input=f'create database mysql;\nuse mysql;\n{tables}', text=True)
        self.run('mysql', 'mariadbd', *options, '--skip-networking', '--skip-grant-tables',
                 f'--socket={self.configuration.socket}', '--max-connections=1000')
        import pymysql
        database = self.wait('the database', lambda: pymysql.connect(
            user='root', unix_socket=self.configuration.socket))
        for name in DATABASES:
            database.cursor().execute(f'create database {name} character set utf8')
        database.close()

    def start_queues(self):
        folder = f'{self.folder}/rabbit'
        os.makedirs(folder)
        ports = {name: str(self.ports[name]) for name in ('rabbit', 'epmd', 'erlang')}
        self.configuration.write_file('rabbit/rabbitmq.conf',
                                      f'listeners.tcp.1 = 127.0.0.1:{ports["rabbit"]}\n'
                                      'log.console = true\nlog.file = false\n')
        self.configuration.write_file('rabbit/plugins', '[].\n')
        self.run('epmd', 'epmd', '-address', '127.0.0.1', '-port', ports['epmd'])
        self.run('rabbit', '/usr/lib/rabbitmq/bin/rabbitmq-server', environment={
            'HOME': folder, 'ERL_EPMD_PORT': ports['epmd'], 'ERL_EPMD_ADDRESS': '127.0.0.1',
            'RABBITMQ_CONFIG_FILE': f'{folder}/rabbitmq.conf', 'RABBITMQ_NODENAME':
            f'drover{ports["rabbit"]}@localhost', 'RABBITMQ_NODE_IP_ADDRESS': '127.0.0.1',
            'RABBITMQ_NODE_PORT': ports['rabbit'], 'RABBITMQ_DIST_PORT': ports['erlang'],
            'RABBITMQ_MNESIA_BASE': folder, 'RABBITMQ_LOG_BASE': folder,
            'RABBITMQ_LOGS': '-', 'RABBITMQ_ENABLED_PLUGINS_FILE': f'{folder}/plugins',
            'RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS':
            '+S 1:1 -kernel inet_dist_use_interface {127,0,0,1}'})

    def migrate(self):
        self.manage('keystone-manage', 'db_sync')
        self.manage('placement-manage', 'db', 'sync')
        self.manage('glance-manage', 'db', 'sync')
        self.manage('neutron-db-manage', 'upgrade', 'heads')
        self.manage('cinder-manage', 'db', 'sync')
        database = self.configuration.database('nova_cell0')['connection']
        self.manage('nova-manage', 'api_db', 'sync')
        self.manage('nova-manage', 'cell_v2', 'map_cell0', '--database_connection', database)
        self.manage('nova-manage', 'db', 'sync')
        self.manage('nova-manage', 'cell_v2', 'create_cell', '--name', 'cell1')
        url = self.configuration.url('keystone') + '/v3'
        self.manage('keystone-manage', 'bootstrap', '--bootstrap-password', PASSWORD,
                    '--bootstrap-region-id', 'RegionOne', '--bootstrap-public-url', url,
                    '--bootstrap-internal-url', url)

    # ---- What is in it ----

    def auth(self, name):
        return {'auth_url': self.configuration.url('keystone') + '/v3', 'username': name,
                'password': PASSWORD, 'project_name': name, 'user_domain_id': 'default',
                'project_domain_id': 'default'}

    def connect(self, name):
        from openstack.connection import Connection
        return Connection(auth=self.auth(name), region_name='RegionOne')

    def make_accounts(self):
        self.admin = self.connect('admin')
        identity = self.admin.identity
        identity.create_role(name='service')
        roles = {role.name: role for role in identity.roles()}
        service = identity.create_project(name='service', domain_id='default')
        for name, kind, path in (('placement', 'placement', ''), ('glance', 'image', ''),
                                 ('neutron', 'network', ''), ('nova', 'compute', '/v2.1'),
                                 ('cinder', 'volumev3', '/v3/%(project_id)s')):
            user = identity.create_user(name=name, password=PASSWORD, domain_id='default')
            for role in ('admin', 'service'):  # those of the latter vouch for expired tokens
                identity.assign_project_role_to_user(service, user, roles[role])
            entry = identity.create_service(type=kind, name=name)
            for interface in ('public', 'internal'):  # services use the latter among themselves
                identity.create_endpoint(service_id=entry.id, interface=interface,
                                         region_id='RegionOne',
                                         url=self.configuration.url(name) + path)
        project = identity.create_project(name='drover', domain_id='default')
        user = identity.create_user(name='drover', password=PASSWORD, domain_id='default')
        identity.assign_project_role_to_user(project, user, roles['member'])
        self.project = project.id

    def make_resources(self):
        self.admin = self.connect('admin')  # with all of the catalog
        for name, (vcpus, ram, disk) in FLAVORS.items():
            self.admin.compute.create_flavor(name=name, vcpus=vcpus, ram=ram, disk=disk)
        self.user = self.connect('drover')
        self.make_image('plain', self.admin, visibility='public')
        self.make_networks()
        self.admin.network.update_quota(self.project, ports=-1)
        self.limit(self.instances)
        self.wait('a hypervisor', lambda: [
            one for one in self.admin.compute.hypervisors(details=True) if one.state == 'up'])
        self.wait('a storage', lambda: [
            one for one in self.admin.block_storage.get('/os-services').json()['services']
            if (one['binary'], one['state']) == ('cinder-volume', 'up')])
        self.own = {thing for things in self.things().values() for thing in things}

    def make_networks(self):
        """`provider` and `six`, which need no floating IPs; `inside`, which a router joins to
        `outside`."""
        subnets = {name: self.make_network(name, cidr, **options) for name, cidr, options in (
            ('provider', '127.80.0.0/16', {'is_shared': True}),
            ('six', 'fd80::/64', {'is_shared': True}),
            ('inside', '10.80.0.0/16', {'project_id': self.project}),
            ('outside', '127.81.0.0/16', {'is_router_external': True}))}
        router = self.admin.network.create_router(
            name='router', project_id=self.project,
            external_gateway_info={'network_id': subnets['outside'].network_id})
        self.admin.network.add_interface_to_router(router, subnet_id=subnets['inside'].id)

    def make_network(self, name, cidr, **options):
        """Its subnet."""
        network = self.admin.network.create_network(
            name=name, provider_network_type='flat', provider_physical_network=name, **options)
        return self.admin.network.create_subnet(
            network_id=network.id, project_id=network.project_id, cidr=cidr, name=name,
            ip_version=6 if ':' in cidr else 4, is_dhcp_enabled=False)

    def make_image(self, name, connection, **options):
        image = connection.image.create_image(name, disk_format='raw', container_format='bare',
                                              data=b'\0' * 4096, **options)
        return image.id

    def times_of_active(self):
        """Server's id -> when Nova had made it ACTIVE. Its API tells only whole seconds."""
        with open(f'{self.folder}/nova-compute.log', encoding='utf-8', errors='replace') as log:
            found = BUILT.findall(log.read())
        return {server: time.mktime(time.strptime(second, '%Y-%m-%d %H:%M:%S')) + float(fraction)
                for second, fraction, server in found}

    def make_server(self, name, **options):
        """Of somebody else than Drover, running."""
        user = self.user
        server = user.compute.create_server(
            name=name, image_id=user.image.find_image('plain').id,
            flavor_id=user.compute.find_flavor('small').id,
            networks=[{'uuid': user.network.find_network('provider').id}], **options)
        return user.compute.wait_for_server(server).id

    def break_server(self, server):
        """Puts it in state ERROR, as soon as it is scheduled."""
        def reset():
            self.admin.compute.reset_server_state(server, 'error')
            return True
        self.wait('a broken server', reset)

    def limit_volumes(self, volumes):
        """Most volumes of the project."""
        self.admin.set_volume_quotas(self.project, volumes=volumes)

    def limit(self, instances):
        """Most servers of the project."""
        self.admin.set_compute_quotas(self.project, instances=instances, cores=instances,
                                      ram=512 * instances)

    def restart_keystone(self):
        self.stop_service('keystone')
        self.run_service('keystone', str(self.ports['keystone']))
        self.wait_for_answer('keystone')
        self.admin, self.user = self.connect('admin'), self.connect('drover')

    def forget_tokens(self):
        """No token that was issued is valid any more, neither a user's nor a service's."""
        self.configuration.new_keys('fernet')
        self.restart_keystone()

    def set_token_life(self, seconds):
        """Of tokens that are issued from now on."""
        self.configuration.token_life = seconds
        self.configuration.write_service('keystone')
        self.restart_keystone()

    def clouds(self):
        """What clouds.yaml says under `clouds`."""
        return {'real': {'auth': self.auth('drover'), 'region_name': 'RegionOne',
                         'networks': [{'name': 'provider', 'routes_externally': True}]}}

    def things(self):
        """Ids of all that the project has, by kind, as another client than Drover sees them."""
        own = {'project_id': self.project}
        kinds = {'servers': self.user.compute.servers(),
                 'ports': self.user.network.ports(**own),
                 'floating IPs': self.user.network.ips(**own),
                 'volumes': self.user.block_storage.volumes(details=False),
                 'images': self.user.image.images(owner=self.project)}
        return {kind: [thing.id for thing in things] for kind, things in kinds.items()}

    def left(self):
        """The same, without what was there at the beginning; no kind of which there is nothing."""
        left = {kind: [thing for thing in things if thing not in self.own]
                for kind, things in self.things().items()}
        return {kind: things for kind, things in left.items() if things}

    def empty(self):
        """Deletes what a test left, and does not return before it is gone."""
        delete = {'servers': self.user.compute.delete_server,
                  'ports': self.user.network.delete_port,
                  'floating IPs': self.user.network.delete_ip,
                  'volumes': self.user.block_storage.delete_volume,
                  'images': self.user.image.delete_image}

        def delete_all():
            left = self.left()
            for kind, things in left.items():
                for thing in things:
                    delete[kind](thing)
            return not left
        self.wait('an empty project', delete_all, 600)

    def close(self):
        for name in reversed(list(self.processes)):
            self.stop_service(name)
        shutil.rmtree(self.folder, ignore_errors=True)


def main():
    if '--install' in sys.argv:
        install()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # or else the processes would stay
    cloud = RealOpenStack()
    try:
        cloud.start()
        print(json.dumps({'clouds': cloud.clouds()}, indent=2), flush=True)
        sys.stdin.readline()
    finally:
        cloud.close()


if __name__ == '__main__':
    main()
