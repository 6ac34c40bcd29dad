"""What pools publish of their decisions: where it stands, when it is written, and when it is gone."""

import json
import time
import unittest

from launcher import machines, provider
from launcher_case import LauncherCase

DECISIONS = '/drover/decisions'


class Decisions(LauncherCase):
    def boards(self):
        """Name of the znode -> what stands there."""
        return self.observer.cluster.tree.records(DECISIONS)

    def wait_for_boards(self, condition, what):
        return self.wait(lambda _: condition(self.boards()), what=what)

    def verdict(self, request_id, provider_name='p'):
        for board in self.boards().values():
            for one in board['requests']:
                if board['provider'] == provider_name and one['id'] == request_id:
                    return one
        return None

    def wait_for_verdict(self, request, verdict):
        return self.wait(lambda _: (one := self.verdict(request.id)) and
                         one['verdict'] == verdict and one, what=f'{request.id}: {verdict}')

    def test_one_board_for_each_pool(self):
        launcher = self.launcher(provider('p', machines(1)), provider('q/r', machines(1, 'm', 11)))
        boards = self.wait_for_boards(lambda boards: len(boards) == 2 and boards, 'two boards')
        self.assertEqual(sorted(board['launcher'] for board in boards.values()),
                         sorted(pool['id'] for pool in self.observer.cluster.pools().values()))
        self.assertEqual({board['provider'] for board in boards.values()}, {'p', 'q/r'})
        self.assertEqual([(board['pool'], board['requests'], board['left_out'])
                          for board in boards.values()], [('main', [], 0)] * 2)
        # The pool of a provider that is not configured any more has nothing to say.
        launcher.reload([provider('p', machines(1))])
        self.wait_for_boards(lambda boards: len(boards) == 1, 'one board')
        self.assertEqual(launcher.stop(), 0)
        self.observer.sync()
        self.assertEqual(self.boards(), {})

    def test_what_becomes_of_a_request(self):
        self.start_with(*machines(1))
        nodes = self.job('l')
        request = self.submit('l')
        one = self.wait_for_verdict(request, 'defer')
        self.assertEqual(one['reason'], '0 node(s) with label l are free, 1 wanted')
        self.assertLess(abs(time.time() - one['since']), 60)
        nodes.give_back()
        request.wait('fulfilled')
        self.wait(lambda _: self.verdict(request.id) is None, what='nothing more is said')

    def test_a_cancelled_request_is_forgotten(self):
        self.start_with(*machines(1))
        self.job('l')
        request = self.submit('l')
        self.wait_for_verdict(request, 'defer')
        request.cancel()
        self.wait(lambda _: self.verdict(request.id) is None)

    def test_a_successor_goes_on_with_the_board(self):
        launcher = self.start_with(*machines(1))
        self.job('l')
        first = self.submit('l')
        self.wait_for_verdict(first, 'defer')
        name, = self.boards()
        launcher.kill()
        launcher.start()
        second = self.submit('l')
        self.wait_for_verdict(second, 'defer')
        self.assertEqual(list(self.boards()), [name])

    def test_a_new_session(self):
        launcher = self.start_with(*machines(1), timeout=4)
        self.job('l')
        request = self.submit('l')
        self.wait_for_verdict(request, 'defer')
        name, = self.boards()
        launcher.kill()
        self.wait_for_boards(lambda boards: not boards, 'the session over')
        launcher.start()
        self.wait_for_verdict(request, 'defer')
        self.assertNotEqual(list(self.boards()), [name])

    def test_nothing_new_is_not_written(self):
        launcher = self.start_with(*machines(1))
        self.job('l')
        request = self.submit('l')
        self.wait_for_verdict(request, 'defer')
        name, = self.boards()
        mark = self.observer.mark()
        self.assert_stays(launcher, request, passes=10)
        self.assertEqual(self.observer.changes(f'{DECISIONS}/{name}', mark), [])

    def test_many_requests(self):
        self.start_with(*machines(1))
        self.job('l')
        began = time.monotonic()
        mark = self.observer.mark()
        requests = [self.submit('l') for _ in range(600)]
        board = self.wait_for_boards(
            lambda boards: next((board for board in boards.values() if board['left_out'] == 100),
                                None), '100 requests left out')
        self.assertEqual([one['id'] for one in board['requests']],
                         [request.id for request in requests[:500]])
        name, = self.boards()
        writes = self.observer.changes(f'{DECISIONS}/{name}', mark)
        self.assertLess(max(len(operation.data) for _, operation in writes), 256 * 1024)
        # At most one in two seconds, whatever happens.
        self.assertLessEqual(len(writes), (time.monotonic() - began) / 2 + 2)
        self.assertIsInstance(json.loads(writes[-1][1].data), dict)


if __name__ == '__main__':
    unittest.main(verbosity=2)
