"""Builds the documents as HTML, a warning being an error, and checks that every link in them leads
somewhere: to a page, to a place in it, to a file. Addresses of others are not asked.

    html_pages.py ROOT OUT
"""

import html.parser
import pathlib
import subprocess
import sys
import tempfile
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.places, self.links = {''}, []
        self.feed(path.read_text(encoding='utf-8'))

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == 'id' or (tag == 'a' and name == 'name'):
                self.places.add(value)
            elif name in ('href', 'src') and value:
                self.links.append(value)


def build(root, out):
    with tempfile.TemporaryDirectory() as work:
        return subprocess.run(['sphinx-build', '-q', '-E', '-W', '--keep-going', '-n', '-b', 'html',
                               '-c', root / 'docs', '-d', work, root, out], check=False).returncode


def complaints(out):
    pages = {path: Page(path) for path in out.rglob('*.html')}
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = path
            if parts.path:
                target = (path.parent / urllib.parse.unquote(parts.path)).resolve()
            place = urllib.parse.unquote(parts.fragment)
            if not target.is_file():
                yield f'{path.relative_to(out)}: {link} does not exist'
            elif target in pages and place not in pages[target].places:
                yield f'{path.relative_to(out)}: {link} leads to no place of that page'


def main():
    root, out = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    if build(root, out):
        return 1
    problems = sorted(set(complaints(out)))
    print('\n'.join(problems) or f'{len(list(out.rglob("*.html")))} pages')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
