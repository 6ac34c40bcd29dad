"""Things that exist for some time, and how they looked at any moment."""

import itertools
import time


class Clock:
    """Seconds; a test can advance it."""

    def __init__(self):
        self.ahead = 0.0

    def now(self):
        return time.monotonic() + self.ahead

    def advance(self, seconds):
        self.ahead += seconds


class Thing:
    """What happens to it is written down in advance: (time, changes), in the order of time.

    None in place of changes: it is gone. Lists of the past need no more than a look at an earlier
    time.
    """

    def __init__(self, number, thing_id, fields, since):
        self.number, self.id = number, thing_id
        self.events = [(since, {'id': thing_id, **fields})]

    def change(self, when, changes):
        """From then on; what was to happen later is forgotten."""
        self.forget_after(when)
        self.events.append((when, changes))

    def then(self, when, changes):
        """Beside what is written down already."""
        self.events.append((when, changes))
        self.events.sort(key=lambda event: event[0])

    def vanish(self, when):
        self.change(when, None)

    def forget_after(self, when):
        self.events = [event for event in self.events if event[0] <= when]

    def at(self, when):
        """Its fields at that time; None when it did not exist."""
        fields = None
        for since, changes in self.events:
            if since > when:
                break
            if changes is None:
                return None
            fields = {**(fields or {}), **changes}
        return fields


class Collection:
    """All things of one kind that ever were."""

    def __init__(self, kind):
        self.kind = kind
        self.things = {}
        self.numbers = itertools.count(1)

    def new_id(self, number):
        return f'{self.kind}-{number:06d}'

    def add(self, fields, now):
        number = next(self.numbers)
        thing = Thing(number, self.new_id(number), fields, now)
        self.things[thing.id] = thing
        return thing

    def find(self, thing_id, when):
        """The thing, when it exists then; else None."""
        thing = self.things.get(thing_id)
        return thing if thing is not None and thing.at(when) is not None else None

    def at(self, when):
        """Fields of all that existed then, oldest first."""
        return [fields for thing in self.things.values()
                if (fields := thing.at(when)) is not None]
