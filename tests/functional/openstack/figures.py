"""What machines cost, and how long they take beyond what the cloud needed for them."""

import datetime
import os
import re
import statistics
import time
import urllib.parse

CALL = re.compile(r'driver\.openstack.*: (GET|POST|PUT|DELETE) (http\S+): (\d+), ')
LIST = re.compile(r'^(\S+ \S+),(\d+) .* GET \S+/servers/detail(\?\S*)?: 200, \d+ bytes, (\d+) ms')
ID = re.compile(r'[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}')


def time_of(text):
    """Of the epoch, of a time of the cloud's with or without fractions and zone; all are UTC."""
    moment = datetime.datetime.fromisoformat(text)
    return (moment.replace(tzinfo=datetime.timezone.utc) if moment.tzinfo is None
            else moment).timestamp()


def calls_of(launcher, since=0):
    """How often each call was made, from the launcher's log: "GET /v2.1/servers/ID" -> count.
    Later pages of a list have names of their own, with "?marker"."""
    calls = {}
    for line in launcher.find_log(CALL, since):
        method, url, _ = CALL.search(line).groups()
        parts = urllib.parse.urlsplit(url)
        page = '?marker' if 'marker' in parts.query else ''
        name = f'{method} {ID.sub("ID", parts.path)}{page}'
        calls[name] = calls.get(name, 0) + 1
    return calls


def answers_of(launcher, status, since=0):
    """How many calls were answered with the status."""
    return sum(int(CALL.search(line)[3]) == status for line in launcher.find_log(CALL, since))


def lists_of(launcher):
    """[(when it was asked for, when it was there)] of the lists of servers, from the log."""
    lists = []
    for line in launcher.find_log(LIST):
        moment, fraction, query, milliseconds = LIST.search(line).groups()
        ended = time.mktime(time.strptime(moment, '%Y-%m-%d %H:%M:%S')) + int(fraction) / 1000
        began = ended - int(milliseconds) / 1000
        if 'marker' in (query or ''):  # a page of the same list
            began, _ = lists.pop()
        lists.append((began, ended))
    return lists


def own_part(ready, active, lists):
    """Seconds of those from ACTIVE to ready in which the cloud was not answering with a list."""
    return ready - active - sum(max(0, min(ended, ready) - max(began, active))
                                for began, ended in lists)


def spread(values):
    values = sorted(values)
    return (f'{statistics.median(values):.2f} s (median), {values[len(values) * 95 // 100]:.2f} s '
            f'(95 %), {values[-1]:.2f} s at most')


def load():
    return f'load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors'
