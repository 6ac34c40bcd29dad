"""Many clients at once, each doing what Zuul does with its requests, and sometimes worse.

    crowd = Crowd(hosts, random, workers=6, labels=['l'])
    crowd.start(jobs=100)          # or until stop()
    crowd.join()                   # raises what went wrong
    crowd.wait_for_served(10)      # meanwhile

Requests end in one of the ways of Crowd.ENDINGS, chosen at random by weight.
"""

import collections
import queue
import random as random_module
import threading

from zuul_client import AcceptError, Executor, Scheduler

PATIENCE = 150  # seconds until a request counts as forgotten


class Worker(threading.Thread):
    """One client: a scheduler and an executor with a session each. One request at a time."""

    def __init__(self, crowd, number):
        super().__init__(name=f'client-{number}', daemon=True)  # a test that fails ends at once
        self.crowd = crowd
        self.random = random_module.Random(crowd.random.random())
        self.scheduler = Scheduler(crowd.hosts, crowd.timeout)
        self.executor = None

    def run(self):
        try:
            while self.crowd.take():
                self.serve_one()
        except BaseException as problem:  # reported by join()
            self.crowd.problems.put((self.name, problem))
        finally:
            for session in (self.scheduler, self.executor):
                if session is not None:
                    session.close()
            self.crowd.note('ended')

    def serve_one(self):
        labels = self.random.choices(self.crowd.labels,
                                     k=self.random.randint(1, self.crowd.most_nodes))
        ending = self.random.choices(list(self.crowd.endings), self.crowd.endings.values())[0]
        request = self.scheduler.submit(labels, priority=self.random.choice(('100', '200', '300')))
        self.crowd.note('submitted')
        if ending == 'cancel':
            self.wait_a_little()
            request.cancel()
        elif ending == 'revise':
            request.revise(self.random.randint(0, 9))
            self.take_nodes(request, 'normal')
        else:
            self.take_nodes(request, ending)
        self.crowd.note(ending)

    def wait_a_little(self):
        """Some round trips, not a time."""
        for _ in range(self.random.randint(0, 12)):
            self.scheduler.client.retry(self.scheduler.client.exists, '/nodepool')

    def take_nodes(self, request, ending):
        if self.crowd.may_fail and \
                request.wait('fulfilled', 'failed', limit=PATIENCE)['state'] == 'failed':
            self.crowd.note('failed')
            request.cancel()
            return
        request.wait('fulfilled', limit=PATIENCE)
        self.crowd.note('served')
        if self.executor is None:
            self.executor = Executor(self.crowd.hosts, self.crowd.timeout)
        if ending == 'refuse':
            self.executor.refuse(request.id)
            return
        nodes = self.executor.accept(request.id)
        self.crowd.occupy(nodes.ids)
        if ending in ('normal', 'die in use', 'hold'):
            nodes.use()
        if ending == 'hold':
            nodes.hold()
        self.crowd.vacate(nodes.ids)
        if ending in ('die in use', 'die before use'):
            self.executor.die()
            self.executor = None
        elif ending == 'hold':
            nodes.release()
            for node_id in nodes.ids:
                self.end_hold(node_id)
        else:
            nodes.give_back()

    def end_hold(self, node_id):
        while not self.scheduler.end_hold(node_id):
            self.wait_a_little()


class Crowd:
    ENDINGS = {'normal': 70, 'cancel': 8, 'revise': 8, 'refuse': 4, 'unused': 4, 'hold': 3,
               'die in use': 2, 'die before use': 1}

    def __init__(self, hosts, random, workers=6, labels=('l',), most_nodes=1, endings=None,
                 timeout=10.0, may_fail=False):
        self.may_fail = may_fail  # the requests, since clouds do
        self.hosts, self.random, self.timeout = hosts, random, timeout
        self.labels, self.most_nodes = list(labels), most_nodes
        self.endings = endings or self.ENDINGS
        self.counts = collections.Counter()
        self.problems = queue.SimpleQueue()
        self.in_use = set()
        self.guard = threading.Condition()
        self.left = None  # jobs still to begin; None: no end
        self.workers = [Worker(self, number) for number in range(workers)]

    def start(self, jobs=None):
        self.left = jobs
        for worker in self.workers:
            worker.start()
        return self

    def take(self):
        """TRUE when a worker shall begin another request."""
        with self.guard:
            if self.left is not None:
                self.left -= 1
            return (self.left is None or self.left >= 0) and self.problems.empty()

    def stop(self):
        with self.guard:
            self.left = 0

    def join(self):
        for worker in self.workers:
            worker.join()
        if not self.problems.empty():
            name, problem = self.problems.get()
            raise AssertionError(f'{name}: {problem!r}') from problem

    def note(self, event):
        with self.guard:
            self.counts[event] += 1
            self.guard.notify_all()

    def has_ended(self):
        with self.guard:
            return self.counts['ended'] == len(self.workers)

    def wait_for_served(self, count):
        """Until so many more requests were fulfilled, or the crowd has ended."""
        with self.guard:
            goal = self.counts['served'] + count
            self.guard.wait_for(lambda: self.counts['served'] >= goal or
                                self.counts['ended'] == len(self.workers))

    # What no launcher may ever let happen, as the clients themselves see it.

    def occupy(self, node_ids):
        with self.guard:
            twice = self.in_use & set(node_ids)
            self.in_use |= set(node_ids)
        if twice:
            raise AcceptError(f'nodes {twice} are used twice at once')

    def vacate(self, node_ids):
        with self.guard:
            self.in_use -= set(node_ids)
