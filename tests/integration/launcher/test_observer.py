"""The witness itself: it sees everything, and it objects to what must not be."""

import contextlib
import glob
import json
import subprocess
import unittest

from invariants import Invariants
from observer import Observer
from transactions import Operation, Transaction, TransactionLog, Tree
from zookeeper import CLASSPATH, ZooKeeper

LAUNCHER, RIVAL, CLIENT = 1, 2, 3
NODE, REQUEST = '/nodepool/nodes/0000000001', '/nodepool/requests/200-0000000001'
OTHER = '/nodepool/nodes/0000000002'
NODE_LOCK, REQUEST_LOCK = f'{NODE}/lock', '/nodepool/requests-lock/200-0000000001'
CONTENDER = 'a__lock__0000000000'
FREE = {'state': 'ready', 'type': ['l'], 'allocated_to': None, 'provider': 'p', 'hostname': 'h',
        'username': 'u', 'connection_port': 22, 'slot': 0}
TAKEN = dict(FREE, allocated_to='200-0000000001')
BACKING = dict(TAKEN, state='in-use', slot=None, user_data='{"owner": "NodePool:metastatic:m"}')
WANTED = {'state': 'requested', 'node_types': ['l'], 'nodes': [], 'declined_by': []}
SERVED = dict(WANTED, state='fulfilled', nodes=['0000000001'])


def create(path, record='', ephemeral=False):
    return Operation('create', path, json.dumps(record) if record else '', 0, ephemeral)


def write(path, record):
    return Operation('set', path, json.dumps(record), 1)


def delete(path):
    return Operation('delete', path)


class Breaches(unittest.TestCase):
    """Histories that must not be, one for each invariant."""

    def setUp(self):
        self.invariants = Invariants(Tree())
        self.zxid = 0
        self.time = 0
        for path in ('/nodepool/nodes', '/nodepool/requests', '/nodepool/requests-lock',
                     '/nodepool/components/pool'):
            self.apply(CLIENT, create(path))
        for session in (LAUNCHER, RIVAL):
            self.apply(session, create(f'/nodepool/components/pool/host{session}',
                                       {'id': f'id-{session}'}, ephemeral=True))

    def apply(self, session, *operations, kind='change'):
        self.zxid += 1
        self.time += 1
        self.invariants.apply(Transaction(self.zxid, session, self.time, kind, list(operations)))

    def given(self, node=FREE, request=WANTED, node_lock=None, request_lock=None):
        """The state before; locks are held by these sessions."""
        self.apply(LAUNCHER, create(NODE, node), create(NODE_LOCK))
        self.apply(CLIENT, create(REQUEST, request), create(REQUEST_LOCK))
        for session, lock in ((node_lock, NODE_LOCK), (request_lock, REQUEST_LOCK)):
            if session:
                self.apply(session, create(f'{lock}/{CONTENDER}', ephemeral=True))
        self.assertEqual(self.invariants.violations, [])

    def assert_breach(self, number):
        numbers = {violation.split(':')[0] for violation in self.invariants.violations}
        self.assertEqual(numbers, {number} if number else set(), self.invariants.violations)

    def fulfil(self, session=LAUNCHER, node=TAKEN, request=SERVED):
        self.apply(session, delete(REQUEST_LOCK), create(REQUEST_LOCK), write(REQUEST, request),
                   delete(NODE_LOCK), create(NODE_LOCK), write(NODE, node))

    def given_backing(self, **changes):
        """A node that is cut into slots, and one that is to be put on it."""
        self.given(dict(BACKING, **changes))
        self.apply(LAUNCHER, create(OTHER, dict(FREE, provider='m', state='building', slot=None)),
                   create(f'{OTHER}/lock'),
                   create(f'{OTHER}/lock/{CONTENDER}', ephemeral=True))

    def put(self, path=OTHER, slot=1):
        self.apply(LAUNCHER, write(path, dict(
            FREE, provider='m', state='building', slot=slot,
            driver_data={'backing_node': '0000000001', 'slot': slot})))

    def test_put_on_a_backing_node(self):
        self.given_backing()
        self.put()
        self.assert_breach(None)

    def test_put_on_a_node_that_was_released(self):
        self.given_backing(state='used')
        self.put()
        self.assert_breach('slot')

    def test_slot_given_away_twice(self):
        self.given_backing()
        self.apply(LAUNCHER, create(f'{OTHER}1', dict(
            FREE, provider='m', driver_data={'backing_node': '0000000001', 'slot': 1})))
        self.put()
        self.assert_breach('slot')

    def test_released_with_a_node_on_it(self):
        self.given_backing()
        self.put()
        self.apply(LAUNCHER, write(NODE, dict(BACKING, state='used')))
        self.assert_breach('slot')

    def test_fulfilled_properly(self):
        self.given()
        self.fulfil()
        self.apply(CLIENT, create(f'{NODE_LOCK}/{CONTENDER}', ephemeral=True))
        self.apply(CLIENT, delete(REQUEST))
        self.apply(CLIENT, write(NODE, dict(TAKEN, state='in-use')))
        self.apply(CLIENT, write(NODE, dict(TAKEN, state='used')))
        self.apply(CLIENT, delete(f'{NODE_LOCK}/{CONTENDER}'))
        self.apply(LAUNCHER, delete(NODE_LOCK), delete(NODE))
        self.assert_breach(None)

    def test_held_locks_are_proofs_too(self):
        self.given(node_lock=LAUNCHER, request_lock=LAUNCHER)
        self.apply(LAUNCHER, write(REQUEST, dict(WANTED, state='pending')))
        self.apply(LAUNCHER, write(NODE, TAKEN))
        self.apply(LAUNCHER, write(REQUEST, SERVED), delete(f'{NODE_LOCK}/{CONTENDER}'))
        self.assert_breach(None)

    def test_I_01_allocated_twice(self):
        self.given(node=dict(FREE, allocated_to='200-0000000009'))
        self.fulfil()
        self.assert_breach('I-01')

    def test_I_01_not_ready(self):
        self.given(node=dict(FREE, state='used'))
        self.apply(LAUNCHER, delete(NODE_LOCK), create(NODE_LOCK),
                   write(NODE, dict(TAKEN, state='used')))
        self.assert_breach('I-01')

    def test_I_02_taken_away(self):
        self.given(node=TAKEN, request=SERVED)
        self.apply(CLIENT, create(f'{NODE_LOCK}/{CONTENDER}', ephemeral=True))
        self.apply(CLIENT, write(NODE, FREE))
        self.assert_breach('I-02')

    def test_I_03_written_by_a_launcher(self):
        self.given()
        self.fulfil()
        self.apply(RIVAL, delete(NODE_LOCK), create(NODE_LOCK), write(NODE, dict(TAKEN, x=1)))
        self.assert_breach('I-03')

    def test_I_04_request_without_lock(self):
        self.given(request_lock=RIVAL)
        self.apply(LAUNCHER, write(REQUEST, dict(WANTED, state='pending')))
        self.assert_breach('I-04')

    def test_I_04_fulfilled_twice(self):
        self.given()
        self.fulfil()
        self.apply(LAUNCHER, delete(REQUEST_LOCK), create(REQUEST_LOCK), write(REQUEST, WANTED))
        self.assert_breach('I-04')

    def test_I_05_locked_node(self):
        self.given(node_lock=LAUNCHER)
        self.apply(LAUNCHER, write(NODE, TAKEN))
        self.apply(LAUNCHER, delete(REQUEST_LOCK), create(REQUEST_LOCK), write(REQUEST, SERVED))
        self.assert_breach('I-05')

    def test_I_05_too_few_nodes(self):
        self.given(request=dict(WANTED, node_types=['l', 'l']))
        self.fulfil(request=dict(SERVED, node_types=['l', 'l']))
        self.assert_breach('I-05')

    def test_I_05_wrong_label(self):
        self.given(node=dict(FREE, type=['m']))
        self.fulfil(node=dict(TAKEN, type=['m']))
        self.assert_breach('I-05')

    def test_I_06_failed_too_early(self):
        self.given()
        failed = dict(WANTED, state='failed', declined_by=['id-1'])
        self.apply(LAUNCHER, delete(REQUEST_LOCK), create(REQUEST_LOCK), write(REQUEST, failed))
        self.assert_breach('I-06')

    def test_I_08_building_without_lock(self):
        self.given(node=dict(FREE, state='init', slot=None))
        self.apply(LAUNCHER, delete(NODE_LOCK), create(NODE_LOCK),
                   write(NODE, dict(FREE, state='building', slot=None)))
        self.assert_breach('I-08')

    def test_I_13_somebody_elses_node(self):
        self.given(node_lock=CLIENT)
        self.apply(LAUNCHER, write(NODE, dict(FREE, x=1)))
        self.assert_breach('I-13')

    def test_I_16_lock_of_a_session_that_ended(self):
        self.given(node_lock=LAUNCHER)
        self.apply(LAUNCHER, kind='end')
        self.apply(RIVAL, create(f'{NODE_LOCK}/b__lock__0000000001', ephemeral=True))
        self.apply(LAUNCHER, write(NODE, dict(FREE, x=1)))
        self.assert_breach('I-13')

    def test_I_14_held_node(self):
        self.given(node=dict(FREE, state='hold'))
        self.apply(LAUNCHER, delete(NODE_LOCK), delete(NODE))
        self.assert_breach('I-14')

    def test_I_18_decline_forgotten(self):
        self.given(request=dict(WANTED, declined_by=['id-2']), request_lock=LAUNCHER)
        self.apply(LAUNCHER, write(REQUEST, dict(WANTED, declined_by=['id-1'])))
        self.assert_breach('I-18')

    def test_I_18_declined_twice(self):
        self.given(request=dict(WANTED, declined_by=['id-1']), request_lock=LAUNCHER)
        self.apply(LAUNCHER, write(REQUEST, dict(WANTED, declined_by=['id-1', 'id-1'])))
        self.assert_breach('I-18')

    def test_two_nodes_for_a_slot(self):
        self.given()
        self.apply(RIVAL, create('/nodepool/nodes/0000000002', FREE))
        self.assert_breach('slot')

    def test_fields_lost(self):
        self.given(node=dict(FREE, unknown=1), node_lock=LAUNCHER)
        self.apply(LAUNCHER, write(NODE, FREE))
        self.assert_breach('keep')


class Following(unittest.TestCase):
    def setUp(self):
        self.server = ZooKeeper().start()
        self.addCleanup(self.server.close)

    def client(self):
        client = self.server.client()
        self.addCleanup(client.close)
        self.addCleanup(client.stop)
        return client

    def write_much(self, client):
        client.ensure_path('/t/a')
        client.create('/t/e', b'', ephemeral=True)
        for number in range(200):
            client.set('/t/a', str(number).encode())
        transaction = client.transaction()
        transaction.create('/t/b', 'gr\u00fc\u00df'.encode())
        transaction.set_data('/t/a', b'in between')
        transaction.delete('/t/b')
        transaction.create('/t/b', b'')
        transaction.commit()
        refused = client.transaction()
        refused.delete('/t/a')
        refused.check('/t/b', 99)
        refused.commit()

    def test_everything_is_seen(self):
        observer = Observer(self.server, '/t')
        client = self.client()
        self.write_much(client)
        observer.sync()
        self.assertEqual([operation.data for _, operation in observer.changes('/a')],
                         ['', *map(str, range(200)), 'in between'])
        self.assertEqual([(operation.kind, operation.data)
                          for _, operation in observer.changes('/b')],
                         [('create', 'gr\u00fc\u00df'), ('delete', None), ('create', '')])
        self.assertTrue(observer.tree.get('/e').owner)
        # A crash of the server loses nothing, and the end of a session removes its ephemerals.
        self.server.restart()
        client.retry(client.set, '/t/a', b'after')
        client.stop()
        observer.wait(lambda cluster: not cluster.tree.get('/e'))
        self.assertEqual(observer.tree.get('/a').data, 'after')
        self.assertEqual(observer.tree.get('/a').version, 202)
        self.assertEqual(observer.finish(), [])

    def test_as_zookeepers_own_tool_reads_it(self):
        self.write_much(self.client())
        with contextlib.closing(TransactionLog(f'{self.server.folder}/data')) as log:
            own = sum(1 for _ in log)
        tools = 0
        for path in glob.glob(f'{self.server.folder}/data/version-2/log.*'):
            done = subprocess.run(
                ['java', '-Dorg.slf4j.simpleLogger.defaultLogLevel=error', '-cp', CLASSPATH,
                 'org.apache.zookeeper.server.persistence.TxnLogToolkit', path],
                capture_output=True, text=True, check=True)
            tools += int(done.stdout.rpartition('EOF reached after ')[2].split()[0])
        self.assertEqual(own, tools)


if __name__ == '__main__':
    unittest.main(verbosity=2)
