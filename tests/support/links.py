"""Checks that the links of all documents lead to files that exist.

    links.py ROOT
"""

import pathlib
import re
import sys

LINK = re.compile(r'\]\(([^)#\s]+)(?:#[^)]*)?\)')


def documents(root):
    yield from root.glob('*.md')
    yield from (root / 'docs').rglob('*.md')


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    problems, index = [], set()
    for document in documents(root):
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
