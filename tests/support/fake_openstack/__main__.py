"""A small OpenStack in a process of its own, for tests: real wire format, own state, faults.

    python3 tests/support/fake_openstack [--port N] [--certificate FILE --key FILE]

Listens on 127.0.0.1, writes "port N", and ends with its standard input. All services are at one
port: /identity/v3 (Keystone), /compute/v2.1 (Nova), /network/v2.0 (Neutron), /image/v2 (Glance),
/volume/v3/PROJECT (Cinder). The catalog has further interfaces and regions, whose paths have that
name in front: /internal/compute/v2.1.

Form and texts of answers are those of OpenStack Zed. What a service would not take (no token, a
field or parameter that it does not know, a wrong type, a microversion that is too new) is refused,
and is kept in "complaints" of the state: what a driver sends must cause none.

Faults, the control calls and the log are those of the other fake cloud (fake_cloud/__main__.py,
faults.py); what is different stands in project.py (settings, what may become of a server) and
steering.py (more control calls).
"""

import argparse
import asyncio
import os
import ssl
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'fake_cloud'))

from gateway import Gateway  # noqa: E402
from project import Project  # noqa: E402
from running import run  # noqa: E402
from server import Server  # noqa: E402
from steering import Steering  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--port', type=int, default=0)
    parser.add_argument('--certificate')
    parser.add_argument('--key')
    arguments = parser.parse_args()

    def make_server():
        context = None
        if arguments.certificate:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(arguments.certificate, arguments.key)
        project = Project('https' if context else 'http')
        return Server(project, Gateway(project), Steering, context)

    asyncio.run(run(make_server, arguments.port))


if __name__ == '__main__':
    main()
