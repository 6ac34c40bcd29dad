"""Checks that the library exports what its headers declare, each under the right version, and
nothing else. The version of a function is the first one of those kept whose headers declare it, and
else today's.

    symbols.py LIBRARY INCLUDE_DIR KEPT_DIR
"""

import pathlib
import re
import subprocess
import sys

PRIVATE_HEADER = 'host.h'
# Declared for drivers to define.
NOT_IN_THE_LIBRARY = {'drover_driver_entry'}
COMMENT = re.compile(r'/\*.*?\*/', re.DOTALL)
DIRECTIVE = re.compile(r'^[ \t]*#(?:.*\\\n)*.*$', re.MULTILINE)
FUNCTION = re.compile(r'\b(drover_\w+)\s*\(')
TODAY = re.compile(r'#define DROVER_ABI_(MAJOR|MINOR) (\d+)')


def declared(header):
    text = DIRECTIVE.sub('', COMMENT.sub('', header.read_text(encoding='utf-8')))
    exported = [part for part in text.split(';') if 'DROVER_EXPORT' in part]
    return {FUNCTION.search(part)[1] for part in exported} - NOT_IN_THE_LIBRARY


def version_of(include):
    numbers = dict(TODAY.findall((include / 'driver.h').read_text(encoding='utf-8')))
    return f'{numbers["MAJOR"]}.{numbers["MINOR"]}'


def functions_of(include):
    return {name for header in include.glob('*.h') if header.name != PRIVATE_HEADER
            for name in declared(header)}


def promised(include, kept):
    """Name -> version of every function of the public headers."""
    today = version_of(include)
    folders = [(today, include)]
    folders += sorted(((folder.name, folder / 'drover') for folder in kept.iterdir()
                       if folder.is_dir() and folder.name != today), reverse=True,
                      key=lambda item: tuple(map(int, item[0].split('.'))))
    return {name: f'DROVER_SDK_{version}' for version, headers in folders
            for name in functions_of(headers)}


def too_late(include, kept):
    """Functions that came when this version was kept already."""
    folder = kept / version_of(include) / 'drover'
    return functions_of(include) - functions_of(folder) if folder.is_dir() else set()


def exported(library):
    """Name -> version of every symbol; versions themselves are symbols too."""
    output = subprocess.run(['nm', '-D', '--defined-only', '--with-symbol-versions', library],
                            check=True, capture_output=True, text=True).stdout
    for line in output.splitlines():
        kind, _, name = line.partition(' ')[2].partition(' ')
        if kind != 'A':
            yield tuple(name.split('@@')) if '@@' in name else (name, '')


def main():
    library, include, kept = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    expected = promised(include / 'drover', kept)
    expected.update({name: 'DROVER_HOST_PRIVATE'
                     for name in declared(include / 'drover' / PRIVATE_HEADER)})
    found = dict(exported(library))
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            print(f'{name}: declared for {expected.get(name, "nobody")}, '
                  f'exported as {found.get(name, "nothing")}')
    late = too_late(include / 'drover', kept)
    for name in sorted(late):
        print(f'{name}: sdk/abi has this version without it; a function belongs to a new minor')
    print(f'{len(found)} functions')
    return 0 if found and expected == found and not late else 1


if __name__ == '__main__':
    sys.exit(main())
