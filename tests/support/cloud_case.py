"""The base of tests with machines of the fake cloud: a cloud of its own for each test.

Each test ends with its books: what there is in the cloud is what nodes say that there is.
"""

import json

from cloud import Cloud, label
from launcher_case import LIMIT, LauncherCase

CREATE = {'method': 'POST', 'path': '^/machines$'}
DELETE = {'method': 'DELETE', 'path': '^/machines/'}


def broken(text='broken'):
    """A create that the cloud begins, and then says that it failed."""
    return {**CREATE, 'machine': {'error': text}}


def ids_in(external_id):
    """The cloud's ids in a node's external id, which may be an object."""
    return set(external_id.values()) if isinstance(external_id, dict) else {external_id}


class CloudCase(LauncherCase):
    cloud_class = Cloud
    cloud_settings = {}

    def setUp(self):
        super().setUp()
        self.cloud = self.cloud_class(**self.cloud_settings).start()
        self.addCleanup(self.cloud.close)

    def start(self, labels=None, pools=None, launcher=None, name='p', arguments=(), **options):
        """A launcher with one provider; `launcher`: options of the launcher itself, `arguments`:
        words for its command line. Returns as soon as its pools are registered."""
        provider = self.cloud.provider(name, labels=labels, pools=pools, **options)
        started = self.launcher(provider, start=False, **(launcher or {}))
        started.arguments += arguments
        started.start()
        self.wait_for_pools(*(f'{name}-{pool["name"]}' for pool in provider['pools']))
        return started

    # ---- Requests ----

    def nodes_of(self, request, limit=LIMIT):
        """The ids of the nodes of a request, as soon as it is fulfilled."""
        return request.wait('fulfilled', limit=limit)['nodes']

    def node_of(self, request, limit=LIMIT):
        """(id, record) of its only node."""
        node_id, = self.nodes_of(request, limit)
        return node_id, self.observer.sync().node(node_id)

    def use(self, request):
        """The nodes of a fulfilled request, in use."""
        request.wait('fulfilled')
        nodes = self.executor.accept(request.id)
        nodes.use()
        return nodes

    def give_back(self, request):
        self.use(request).give_back()

    def refuse(self, request):
        """The nodes stay ready, and are nobody's."""
        request.wait('fulfilled')
        self.executor.refuse(request.id)
        self.wait(lambda cluster: not cluster.nodes(allocated_to=request.id))

    # ---- What there is ----

    def wait_for_paused(self, paused=True, pool='p-main'):
        self.wait(lambda cluster: [record['paused'] for record in cluster.pools().values()
                                   if f'{record["provider_name"]}-{record["name"]}' == pool]
                  == [paused], what=f'{pool} {"" if paused else "not "}paused')

    def wait_for_no_nodes(self, limit=LIMIT):
        self.wait(lambda cluster: not cluster.nodes(), limit, 'no nodes')

    def node_paths(self, state=None, since=0):
        """Paths of all nodes that ever were; only those that were in the state."""
        return [path for path in self.observer.paths('/nodepool/nodes', since)
                if state is None or state in self.observer.states(path, since)]

    def written(self, path, field):
        """The different values that a field of a record had, in their order."""
        values = []
        for _, operation in self.observer.changes(path):
            if operation.kind != 'delete' and operation.data:
                value = json.loads(operation.data).get(field)
                if values[-1:] != [value]:
                    values.append(value)
        return values

    def wait_for_books(self, limit=LIMIT):
        """What is in the cloud is what nodes say that there is, and nothing is on its way."""
        def balance(state):
            nodes = self.observer.sync().nodes()
            known = set()
            for node in nodes.values():
                known |= ids_in(node['external_id'])
            there = {thing['id'] for kind in ('machines', 'volumes', 'addresses')
                     for thing in state[kind]}
            return there == known and all(node['state'] in ('ready', 'in-use', 'hold')
                                          for node in nodes.values())
        self.cloud.wait(balance, limit, 'books that balance')

    def creates(self, since=0):
        """What was asked of the cloud, one body for each machine."""
        return [json.loads(entry['body']) for entry in self.cloud.creates(since)]


def labels(*names, **options):
    return [label(name, **options) for name in names]
