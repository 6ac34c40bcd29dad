"""Faults: rules, of which the first that matches a request wins.

    {"method": "POST", "path": "^/machines$",      regular expressions; a missing one matches all
     "tags": {"nodepool_node_id": "0000000001"},   all these tags in the body, or on the object
     "skip": 1, "times": 2,                        leave the first alone; so often, else for ever
     "probability": 0.5, "seed": 7,
     ... what happens ...}

What happens; several may stand in one rule and take effect in this order:

    "delay": S             answers so much later
    "drop": "before"       cuts the connection; nothing was done
    "never": "before"      never answers; nothing was done
    "restart": {"token": T, "down": S}
                           cuts all connections; then refuses new ones for S seconds, and takes no
                           other token than T
    "limits": {...}        from now on
    "status": N, "body": B, "headers": {...}
                           answers so instead of doing it; a text for body is the error's message
    "machine": {...}       how the machine of a create becomes: "after" seconds until its end;
                           "error": TEXT, "stuck": true, "vanishes": S, "no_address": true,
                           "zone": NAME, "address", "port", "listener"; "connection": {...} fields
                           of the connection that the cloud names itself
    "delete": "stays", "error", "deleted" (listed as such for ever); others: fake_openstack
    "upload": "cut" (the data end in the middle, and so does the connection), "checksum", "stuck",
                           "killed"
    "lag": S               a list shows what was so long ago
    "drop": "after", "never": "after"
                           the same, and it was done
    "garbage": "text", "types", "missing", "huge", "endless" (paging), "duplicate",
               "mutated": some values, drawn by the rule's seed, are others
    "half": true           half of the body, then cut
"""

import copy
import random
import re

from wire import Refused

MATCHES = {'method', 'path', 'tags', 'skip', 'times', 'probability', 'seed'}
ACTIONS = {'delay', 'drop', 'never', 'restart', 'limits', 'status', 'body', 'headers', 'machine',
           'delete', 'upload', 'lag', 'garbage', 'half'}
HUGE = 20 * 1024 * 1024


class Rule:
    def __init__(self, script):
        unknown = set(script) - MATCHES - ACTIONS
        if unknown:
            raise Refused(400, 'bad_request', f'no such parts of a fault: {sorted(unknown)}')
        self.script = script
        self.method = re.compile(script.get('method', ''))
        self.path = re.compile(script.get('path', ''))
        self.skip = script.get('skip', 0)
        self.times = script.get('times')
        self.random = random.Random(script.get('seed', 0))
        self.taken = 0

    def takes(self, request, tags):
        if not self.method.fullmatch(request.method) and self.method.pattern:
            return False
        if not self.path.search(request.path):
            return False
        if not self.script.get('tags', {}).items() <= tags.items():
            return False
        if self.times is not None and self.taken >= self.times:
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        if self.random.random() >= self.script.get('probability', 1):
            return False
        self.taken += 1
        return True


class Faults:
    def __init__(self):
        self.rules = []

    def set(self, scripts):
        self.rules = [Rule(script) for script in scripts]

    def add(self, scripts):
        self.rules += [Rule(script) for script in scripts]

    def find(self, request, tags):
        """What is to happen to the request; empty when nothing is."""
        for rule in self.rules:
            if rule.takes(request, tags):
                return {**rule.script, 'random': rule.random}
        return {}

    def describe(self):
        return [{**rule.script, 'taken': rule.taken} for rule in self.rules]


# ---- Garbage ----

def wrong_types(value):
    if isinstance(value, dict):
        return {name: wrong_types(one) for name, one in value.items()}
    if isinstance(value, list):
        return {str(index): wrong_types(one) for index, one in enumerate(value)}
    if isinstance(value, str):
        return 17
    return 'text'


def without_keys(value):
    if isinstance(value, list):
        return [without_keys(one) for one in value]
    if isinstance(value, dict):
        return {name: {} if isinstance(one, dict) else without_keys(one)
                for name, one in value.items() if isinstance(one, (dict, list))}
    return value


def duplicates(value):
    return {name: one + one if isinstance(one, list) else one for name, one in value.items()}


NASTY = (None, True, False, [], {}, '', 'x' * 3000, 0, -1, 2 ** 63 - 1, -2 ** 63, 1e300, [None],
         {'id': None}, {'id': ''}, '../../..', '%s%n', 'ACTIVE', 'ERROR', 'DELETED', '\u202e\n\t', '::1',
         [[[[[[]]]]]], '1999-01-01T00:00:00Z', '{x}')


def places(value, found=None):
    """All (container, key) of it and of what is in it."""
    found = [] if found is None else found
    pairs = value.items() if isinstance(value, dict) else \
        enumerate(value) if isinstance(value, list) else ()
    for key, one in pairs:
        found.append((value, key))
        places(one, found)
    return found


def mutated(body, draw):
    """`draw`: what draws at random. A place gets another value, or is gone."""
    body = copy.deepcopy(body)
    for _ in range(draw.randint(1, 4)):
        if not (found := places(body)):
            break
        container, key = draw.choice(found)
        if draw.random() < 0.2:
            del container[key]
        else:
            container[key] = copy.deepcopy(draw.choice(NASTY))
    return body


GARBAGE = {
    'text': lambda body: '<html>Bad gateway \x00</html>',
    'types': wrong_types,
    'missing': without_keys,
    'huge': lambda body: 'x' * HUGE,
    'duplicate': duplicates,
}


def spoil(fault, answer, again):
    """Puts garbage in the place of an answer's body; `again`: what makes a page the next of itself."""
    kind = fault['garbage']
    if kind not in GARBAGE and kind not in ('endless', 'mutated'):
        raise Refused(400, 'bad_request', f'no such garbage: {kind}')
    body = answer.body if isinstance(answer.body, dict) else {}
    if kind == 'endless':
        answer.body = {**body, **again}
    elif kind == 'mutated':
        answer.body = mutated(body, fault['random']) if answer.body is not None else None
    else:
        answer.body = GARBAGE[kind](body)
