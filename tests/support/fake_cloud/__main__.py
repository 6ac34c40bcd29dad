"""A small cloud in a process of its own, for tests: HTTP and JSON, own state, faults as scripted.

    python3 tests/support/fake_cloud [--port N] [--port-file FILE] [--token TOKEN]

Listens on 127.0.0.1, writes "port N" (and N to FILE), and ends with its standard input.

What an account of a cloud has (api.py):

    POST GET      /machines /volumes /addresses /images     lists in pages: ?limit=N&marker=ID
    GET DELETE    /machines/ID and so on
    GET           /machines/ID/console
    PUT           /images/ID/data
    GET           /flavors /zones /limits

Every call needs the header X-Token. What a real cloud would refuse is refused: 400 for what makes
no sense, 401, 403 "Quota exceeded ...", 404, 409.

What a test has (control.py), without token:

    POST          /control/faults      rules, see faults.py
    POST          /control/settings    how machines become, limits, flavors, zones: account.py
    POST          /control/clock       {"advance": seconds}
    POST          /control/reset       as it was at the start; the log stays
    GET           /control/state       everything that exists, and how much of it
    GET           /control/log?since=N every request with its answer
"""

import argparse
import asyncio

from account import Account
from api import Api
from control import Control
from listeners import Listeners
from running import run
from server import Server


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--port', type=int, default=0)
    parser.add_argument('--port-file')
    parser.add_argument('--token', default='token-of-the-test')
    arguments = parser.parse_args()

    def make_server():
        account = Account(arguments.token, Listeners())
        return Server(account, Api(account), Control)

    asyncio.run(run(make_server, arguments.port, arguments.port_file))


if __name__ == '__main__':
    main()
