"""Checks that the library exports what its headers declare, each under the right version, and
nothing else.

    symbols.py LIBRARY INCLUDE_DIR
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


def declared(header):
    text = DIRECTIVE.sub('', COMMENT.sub('', header.read_text(encoding='utf-8')))
    exported = [part for part in text.split(';') if 'DROVER_EXPORT' in part]
    return {FUNCTION.search(part)[1] for part in exported} - NOT_IN_THE_LIBRARY


def exported(library):
    """Name -> version of every symbol; versions themselves are symbols too."""
    output = subprocess.run(['nm', '-D', '--defined-only', '--with-symbol-versions', library],
                            check=True, capture_output=True, text=True).stdout
    for line in output.splitlines():
        kind, _, name = line.partition(' ')[2].partition(' ')
        if kind != 'A':
            yield tuple(name.split('@@')) if '@@' in name else (name, '')


def main():
    library, include = sys.argv[1], pathlib.Path(sys.argv[2])
    expected = {}
    for header in (include / 'drover').glob('*.h'):
        version = 'DROVER_HOST_PRIVATE' if header.name == PRIVATE_HEADER else 'DROVER_SDK_1.0'
        expected.update({name: version for name in declared(header)})
    found = dict(exported(library))
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            print(f'{name}: declared for {expected.get(name, "nobody")}, '
                  f'exported as {found.get(name, "nothing")}')
    print(f'{len(found)} functions')
    return 0 if found and expected == found else 1


if __name__ == '__main__':
    sys.exit(main())
