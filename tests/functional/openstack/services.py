"""Runs one program of OpenStack in the foreground: Debian's libraries come without their programs.

    python3 services.py FOLDER NAME [ARGUMENT...]

FOLDER has the configuration that configuration.py wrote.
"""

import importlib
import os
import sys

# name: (module, function, files)
PROGRAMS = {
    'keystone-manage': ('keystone.cmd.manage', 'main', ['keystone']),
    'placement-manage': ('placement.cmd.manage', 'main', ['placement']),
    'glance-manage': ('glance.cmd.manage', 'main', ['glance']),
    'glance': ('glance.cmd.api', 'main', ['glance']),
    'neutron-db-manage': ('neutron.db.migration.cli', 'main', ['neutron']),
    'neutron': ('neutron.cmd.eventlet.server', 'main', ['neutron']),
    'cinder-manage': ('cinder.cmd.manage', 'main', ['cinder']),
    'cinder-api': ('cinder.cmd.api', 'main', ['cinder']),
    'cinder-scheduler': ('cinder.cmd.scheduler', 'main', ['cinder']),
    'cinder-volume': ('cinder.cmd.volume', 'main', ['cinder']),
    'nova-manage': ('nova.cmd.manage', 'main', ['nova', 'nova-db']),
    'nova-api': ('nova.cmd.api_os_compute', 'main', ['nova', 'nova-db']),
    'nova-conductor': ('nova.cmd.conductor', 'main', ['nova', 'nova-db']),
    'nova-scheduler': ('nova.cmd.scheduler', 'main', ['nova', 'nova-db']),
    'nova-compute': ('nova.cmd.compute', 'main', ['nova']),
}
# Served by a plain WSGI server; name: (module, function, variable that tells the folder's file)
APPLICATIONS = {
    'keystone': ('keystone.server.wsgi', 'initialize_public_application',
                 'OS_KEYSTONE_CONFIG_FILES', 'keystone.conf'),
    'placement': ('placement.wsgi', 'init_application', 'OS_PLACEMENT_CONFIG_DIR', ''),
}


def serve(folder, name, port):
    import waitress
    module, function, variable, file = APPLICATIONS[name]
    os.environ[variable] = os.path.join(folder, file)
    sys.argv = [name]
    application = getattr(importlib.import_module(module), function)()
    waitress.serve(application, host='127.0.0.1', port=int(port), threads=8, ident='')


def main():
    folder, name, *arguments = sys.argv[1:]
    if name in APPLICATIONS:
        return serve(folder, name, *arguments)
    module, function, files = PROGRAMS[name]
    sys.argv = [name]
    for file in files:
        sys.argv += ['--config-file', f'{folder}/{file}.conf']
    sys.argv += arguments
    return getattr(importlib.import_module(module), function)()


if __name__ == '__main__':
    sys.exit(main())
