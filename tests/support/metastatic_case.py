"""The base of tests of the metastatic driver: a provider `meta` on machines of the fake cloud."""

import json

from cloud import dashed, label, pool
from cloud_case import CloudCase
from sshd import Sshd
from zuul_client import NODES

OWNER = 'NodePool:metastatic:meta'


def slot_label(name='user', backing='backing', **options):
    return {'name': name, 'backing-label': backing,
            **dashed({'max_parallel_jobs': 2, 'grace_time': 2, **options})}


def metastatic(*labels, name='meta', pool_options=None, **options):
    return {'name': name, 'driver': 'metastatic',
            'pools': [{'name': 'main', 'max-servers': 10, 'priority': 1,
                       'node-attributes': {'metaattr': 'meta', 'testattr': 'metastatic'},
                       'labels': list(labels) or [slot_label()], **dashed(pool_options or {})}],
            **dashed(options)}


class MetastaticCase(CloudCase):
    def backing_provider(self, *names, **options):
        attributes = {'backattr': 'back', 'testattr': 'testing'}
        return self.cloud.provider('p', pools=[pool(
            labels=[label(name) for name in names or ('backing',)], node_attributes=attributes,
            **options)])

    def begin(self, *providers, **options):
        """A launcher with the backing provider and `meta`, or with these. Cleans each second."""
        providers = providers or (self.backing_provider(), metastatic())
        launcher = self.launcher(*providers, cleanup_interval=1, **options)
        self.wait_for_pools(*(f'{one["name"]}-main' for one in providers))
        return launcher

    def sshd(self):
        """What is found on each machine: checked backing nodes get its keys."""
        sshd = Sshd().start()
        self.addCleanup(sshd.close)
        self.cloud.settings(listener={'kind': 'forward', 'to': sshd.port})
        return sshd

    def serve(self, name='user'):
        """(request, id, record) of a new node."""
        request = self.submit(name)
        return request, *self.node_of(request)

    def place_of(self, node):
        """(backing node, slot)."""
        return node['driver_data']['backing_node'], node['slot']

    def backing(self, cluster=None):
        """Backing nodes: id -> record."""
        cluster = cluster or self.observer.sync()
        return {node_id: node for node_id, node in cluster.nodes().items()
                if node['provider'] == 'p' and node['state'] == 'in-use' and node['user_data']}

    def user_data(self, node_id):
        return json.loads(self.observer.sync().node(node_id)['user_data'])

    # ---- A cloud without room ----

    def fill_cloud(self):
        """Somebody else has the only machine of the account."""
        self.cloud.limits(instances=1)
        self.filling = self.use(self.submit('backing'))

    def empty_cloud(self):
        self.cloud.limits(instances=-1)
        self.filling.give_back()

    def wait_for_backing_request(self, other_than=None):
        """The id of one that is open: accepted or not, as the backing pool comes to it."""
        def found(cluster):
            return [request_id for request_id, record in cluster.requests().items()
                    if record['requestor'] == OWNER and request_id != other_than
                    and record['state'] in ('requested', 'pending')]
        return self.wait(found, what='an open backing request')[0]

    def backing_requests(self):
        """Of the provider, as they are."""
        return [record for record in self.observer.sync().requests().values()
                if record['requestor'] == OWNER]

    def contenders(self, node_id):
        """The data of each contender, in their order."""
        names = sorted(self.client.get_children(f'{NODES}/{node_id}/lock'),
                       key=lambda name: name[-10:])
        return [self.client.get(f'{NODES}/{node_id}/lock/{name}')[0].decode() for name in names]

    def wait_for_backing(self, *ids):
        """Until exactly these are backing nodes."""
        self.wait(lambda cluster: sorted(self.backing(cluster)) == sorted(ids),
                  what=f'backing nodes {ids}')

    def delete(self, request, node_id):
        self.give_back(request)
        self.wait_for_gone(node_id)
