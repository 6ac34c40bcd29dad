"""Checks that the links of all documents lead to files that exist, and that tables are whole.

    links.py ROOT
"""

import pathlib
import re
import sys

LINK = re.compile(r'\]\(([^)#\s]+)(?:#[^)]*)?\)')


def documents(root):
    yield from root.glob('*.md')
    yield from (root / 'docs').rglob('*.md')


def headless_rows(text):
    """Numbers of lines that look like a table's, but begin none: they are shown as they stand."""
    lines = re.sub(r'^```.*?^```', lambda code: '\n' * code[0].count('\n'), text,
                   flags=re.DOTALL | re.MULTILINE).split('\n')
    for number, (before, line, after) in enumerate(zip(['', *lines], lines, [*lines[1:], '']), 1):
        if line.startswith('| ') and not before.strip() and not after.startswith('| -'):
            yield number


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    problems, index = [], set()
    for document in documents(root):
        problems += [f'{document.relative_to(root)}:{number}: a row without a table'
                     for number in headless_rows(document.read_text(encoding='utf-8'))]
        for target in LINK.findall(document.read_text(encoding='utf-8')):
            if '://' in target:
                continue
            path = (document.parent / target).resolve()
            if not path.exists():
                problems.append(f'{document.relative_to(root)}: {target} does not exist')
            if document == root / 'docs' / 'index.md':
                index.add(path)
    problems += [f'docs/index.md does not name {document.relative_to(root)}'
                 for document in documents(root)
                 if document not in index and document.name != 'index.md']
    print('\n'.join(problems) or 'all links lead somewhere, and the index is complete')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
