"""What a running process costs."""

import os
import re
import signal
import time

IDLE_SECONDS = 10


def cpu_seconds(pid):
    """So far, of all its threads."""
    with open(f'/proc/{pid}/stat', encoding='ascii') as stat:
        fields = stat.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def status(pid, key):
    """A number of /proc/PID/status: Threads, VmRSS (KiB), VmHWM (its highest)."""
    with open(f'/proc/{pid}/status', encoding='ascii') as lines:
        return int(re.search(rf'^{key}:\s+(\d+)', lines.read(), re.M).group(1))


def idle_share(pid, settle=False):
    """The part of a core that it uses when nothing happens; `settle`: once it has come to rest."""
    share = None
    for _ in range(6 if settle else 1):
        before, began, last = cpu_seconds(pid), time.monotonic(), share
        time.sleep(IDLE_SECONDS)
        share = (cpu_seconds(pid) - before) / (time.monotonic() - began)
        if last is not None and share > last * 0.8:
            break
    return share


def counters(launcher):
    """The numbers that a drover-launcher writes to its log; none of other programs."""
    if not launcher.find_log('drover-launcher'):
        return {}
    mark = launcher.mark()
    launcher.signal(signal.SIGUSR2)
    line = launcher.wait_for_log('transactions', since=mark)
    return {name: int(value) for name, value in
            re.findall(r'(reads|transactions|writes|events|batches) (\d+)', str(line))}
