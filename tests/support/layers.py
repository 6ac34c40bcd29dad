"""Checks that includes keep to the floors of the house, see docs/architecture.md.

    layers.py ROOT

- In core/ an include only points to the own room or to a lower floor.
- A driver in plugins/ or tests/drivers/ includes <drover/...>, its own headers and those of
  libraries.
- The SDK includes nothing of core/; its public headers only C's own headers.
"""

import functools
import pathlib
import re
import sys

# The rooms of core/, from the ground up. Rooms of one floor do not see each other.
FLOORS = [['base'], ['command', 'config', 'http', 'metrics'], ['zk'], ['model'], ['driver'],
          ['launcher', 'builder', 'cli', 'check'], ['web'], ['programs']]
# The launcher's own floors; above them all is the launcher itself, in its folder.
LAUNCHER_FLOORS = [['telemetry'], ['cluster'], ['provider'], ['machine'], ['request', 'upkeep']]
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
LAUNCHER_FLOOR_OF = {room: floor for floor, rooms in enumerate(LAUNCHER_FLOORS) for room in rooms}
STANDARD = {'assert.h', 'errno.h', 'limits.h', 'stdarg.h', 'stdbool.h', 'stddef.h', 'stdint.h',
            'stdio.h', 'stdlib.h', 'string.h', 'time.h'}
# What a driver may see of the SDK: host.h is the other side.
HIDDEN_FROM_DRIVERS = {'drover/host.h'}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes(path):
    """(line number, '<' or '"', name) of every include of a file."""
    for number, line in enumerate(path.read_text(encoding='utf-8').splitlines(), 1):
        if match := INCLUDE.match(line):
            yield number, match[1], match[2]


def is_core_header(root, name):
    return (root / 'core' / name).is_file()


def problem_in_core(root, path, kind, name):
    room = path.relative_to(root / 'core').parts[0]
    if room not in FLOOR_OF:
        return f'core/{room} is on no floor; name it in tests/support/layers.py'
    if not is_core_header(root, name):
        return 'no such file in core/' if kind == '"' else None
    other = name.split('/')[0]
    if other != room and FLOOR_OF[other] >= FLOOR_OF[room]:
        return f'{room}/ may not use {other}/, which is not below it'
    if room == other == 'launcher':
        return problem_in_launcher(path.relative_to(root / 'core').parts[1:], name.split('/')[1:])
    return None


def problem_in_launcher(parts, other_parts):
    """The same for the rooms within the launcher."""
    room, other = (part[0] if len(part) > 1 else '' for part in (parts, other_parts))
    top = len(LAUNCHER_FLOORS)
    if other != room and LAUNCHER_FLOOR_OF.get(other, top) >= LAUNCHER_FLOOR_OF.get(room, top):
        return f'launcher/{room} may not use launcher/{other}, which is not below it'
    return None


def problem_in_driver(folder, root, path, kind, name):
    own = root / folder / path.relative_to(root / folder).parts[0]
    if is_core_header(root, name):
        return 'a driver may not use core/'
    if kind == '"' and not any((base / name).resolve().is_relative_to(own)
                               and (base / name).is_file() for base in (own, path.parent)):
        return 'not in the driver\'s own folder; the SDK\'s headers are written <drover/...>'
    if name in HIDDEN_FROM_DRIVERS:
        return 'this header is the host\'s, not a driver\'s'
    return None


def problem_in_sdk(root, path, kind, name):
    if is_core_header(root, name):
        return 'the SDK may not use core/'
    is_public = path.is_relative_to(root / 'sdk' / 'include')
    if is_public and not name.startswith('drover/') and name not in STANDARD:
        return 'a public header may only use C\'s own headers'
    return None


RULES = {'core': problem_in_core, 'sdk': problem_in_sdk,
         **{folder: functools.partial(problem_in_driver, folder)
            for folder in ('plugins', 'tests/drivers')}}


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    problems = files = 0
    for folder, rule in RULES.items():
        for path in sorted((root / folder).rglob('*.[ch]')):
            files += 1
            for number, kind, name in includes(path):
                if text := rule(root, path, kind, name):
                    print(f'{path.relative_to(root)}:{number}: {name}: {text}')
                    problems += 1
    print(f'{files} files looked at, {problems} wrong includes')
    return 1 if problems or not files else 0


if __name__ == '__main__':
    sys.exit(main())
