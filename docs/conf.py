"""How the documents become HTML: "cmake --build BUILD --target docs", or the test check-html.

The tree itself is the source, so that links between documents are the same here and in a checkout.
"""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]

project = 'Drover'
author = copyright = 'the authors of Drover'
version = release = re.search(r'project\(drover VERSION ([\d.]+)',
                              (ROOT / 'CMakeLists.txt').read_text(encoding='utf-8'))[1]

extensions = ['myst_parser']
myst_heading_anchors = 4
source_suffix = {'.md': 'markdown', '.1': 'markdown', '.3': 'markdown'}
include_patterns = ['*.md', 'docs/*.md', 'docs/man/*', 'sdk/abi/README.md',
                    'sdk/template/README.md', 'tests/functional/*/README.md']
root_doc = 'docs/index'
highlight_language = 'none'
nitpicky = True

html_theme = 'sphinx_rtd_theme'
html_static_path = ['html']
html_css_files = ['drover.css']
html_copy_source = False
html_show_sphinx = False

ROW = re.compile(r'^\|([^|]*)\| \[[^]]*\]\(([^)#]+\.(?:md|\d))\) \|', re.MULTILINE)


def navigation(index):
    """The table of docs/index.md as what stands beside each page."""
    parts = []
    for group, target in ROW.findall(index):
        if group.strip():
            parts.append([f'```{{toctree}}\n:hidden:\n:caption: {group.strip().capitalize()}\n'])
        parts[-1].append('/' + str((ROOT / 'docs' / target).resolve().relative_to(ROOT)))
    return '\n'.join('\n'.join(part) + '\n```\n' for part in parts)


def manual_page(path):
    """A manual page as a terminal shows it."""
    text = subprocess.run(['groff', '-man', '-Tutf8', '-Kutf8', '-P-c', '-P-b', '-P-o', '-P-u',
                           path], check=True, capture_output=True, text=True).stdout
    return f'# {path.stem}({path.suffix[1:]})\n\n````\n{text}\n````\n'


def read_source(app, name, source):
    path = pathlib.Path(app.env.doc2path(name))
    if path.parent.name == 'man':
        source[0] = manual_page(path)
    elif name == root_doc:
        source[0] += '\n' + navigation(source[0])
    elif path.parent not in (ROOT, ROOT / 'docs'):
        source[0] = '---\norphan: true\n---\n' + source[0]  # found by the links to it


def setup(app):
    app.connect('source-read', read_source)
