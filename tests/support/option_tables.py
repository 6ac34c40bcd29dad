"""Writes the tables of options in the documents from those that the programs check with.

    option_tables.py ROOT COMMON-OPTIONS DROVER            writes them
    option_tables.py ROOT COMMON-OPTIONS DROVER --check    fails when they differ

A table stands between "<!-- options: TABLE [PREFIX] -->" and "<!-- end of options -->". TABLE is
"common", or the name of a driver; the options are those below PREFIX that belong to no longer one.
"""

import json
import pathlib
import re
import subprocess
import sys

MARKED = re.compile(r'(<!-- options: (\S+?)(?: (\S+))? -->\n).*?(<!-- end of options -->)',
                    re.DOTALL)
HEADING = '| option | type | default | allowed | meaning |\n| --- | --- | --- | --- | --- |\n'
TYPES = {'strings': 'list of strings', 'list': 'list of maps'}
EMPTY = ('[]', '{}', '""')


def options_of(table, common, drover):
    if table == 'common':
        command = [common]
    else:
        command = [drover, 'driver', 'info', table, '--json']
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return found if table == 'common' else found['options']


def code(text):
    return f'`{text}`' if text else ''


def default_of(option):
    if option['required']:
        return 'required'
    default = option['default'] or ''
    default = '' if default in EMPTY else code(default.strip('"'))
    if option['default_when']:
        condition, _, other = option['default_when'].partition(': ')
        default += f'; {code(other)} with {code(condition.replace("=", ": "))}'
    return default


def allowed_of(option):
    """ "1..65535" or "a|b" in words."""
    allowed = option['allowed'] or ''
    least, dots, most = allowed.partition('..')
    if not dots:
        return ', '.join(map(code, allowed.split('|')))
    if least and most:
        return f'{least} to {most}'
    return f'{least} or more' if least else f'{most} or less'


def meaning_of(option):
    words = [option['help'].replace('|', '\\|')]
    if option['secret']:
        words.append('Secret.')
    if option['old_name']:
        words.append(f'Formerly {code(option["old_name"])}.')
    if option['deprecated']:
        words.append('Deprecated.')
    return ' '.join(words)


def row(option, prefix):
    name = option['path'][len(prefix) + 1 if prefix else 0:].removesuffix('[]')
    cells = (code(name), TYPES.get(option['type'], option['type']), default_of(option),
             allowed_of(option), meaning_of(option))
    return ''.join(f'| {cell} ' if cell else '| ' for cell in cells) + '|\n'


class Tables:
    def __init__(self, common, drover, prefixes):
        """prefixes: table -> those that stand in the documents."""
        self.prefixes, self.rows, self.problems = prefixes, {}, []
        for table in prefixes:
            for option in options_of(table, common, drover):
                self.take(table, option)

    def take(self, table, option):
        fitting = [prefix for prefix in self.prefixes[table]
                   if not prefix or option['path'].startswith(f'{prefix}.')]
        if not option['help']:
            self.problems.append(f'{table}: {option["path"]} is not explained')
        elif not fitting and option['path'] in self.prefixes[table]:
            pass  # the document is about what is in it
        elif not fitting:
            self.problems.append(f'{table}: no document has {option["path"]}')
        else:
            prefix = max(fitting, key=len)
            self.rows.setdefault((table, prefix), []).append(row(option, prefix))

    def text(self, found):
        rows = self.rows.get((found[2], found[3] or ''), [])
        if not rows:
            self.problems.append(f'{found[2]}: there is no option below {found[3]}')
        return found[1] + '\n' + HEADING + ''.join(rows) + '\n' + found[4]


def main():
    root, common, drover = pathlib.Path(sys.argv[1]), *sys.argv[2:4]
    documents = {path: path.read_text(encoding='utf-8') for path in sorted(root.glob('docs/*.md'))}
    prefixes = {}
    for text in documents.values():
        for found in MARKED.finditer(text):
            prefixes.setdefault(found[2], []).append(found[3] or '')
    tables = Tables(common, drover, prefixes)
    for path, text in documents.items():
        wanted = MARKED.sub(tables.text, text)
        if wanted == text:
            continue
        if '--check' in sys.argv:
            tables.problems.append(f'{path.relative_to(root)} is out of date; write it again with\n'
                                   f'    python3 {" ".join(sys.argv[:4])}')
        else:
            path.write_text(wanted, encoding='utf-8')
    print('\n'.join(tables.problems) or f'{sum(map(len, tables.rows.values()))} options')
    return 1 if tables.problems or not prefixes else 0


if __name__ == '__main__':
    sys.exit(main())
