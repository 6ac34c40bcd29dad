"""Writes docs/conformance.md: which test shows which case of the specification.

    conformance.py BUILD            writes the page
    conformance.py BUILD --check    fails when the page is not what would be written

BUILD is a configured build folder; it knows which source belongs to which test of ctest. A case
number is looked for in the paths of GLib tests ("/zk/Z-23-refused") and in the names of Python
test methods (test_Z_23_refused). What the cases are about, and what those without a test wait for,
stands in docs/conformance.tsv.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = ROOT / 'docs' / 'conformance.tsv'
PAGE = ROOT / 'docs' / 'conformance.md'
NO_TEST = 'no test of its own'
# Folders whose tests are steps of their own, not among those that always run.
APART = ('functional', 'packaging')

GROUPS = {
    'Z': 'ZooKeeper: paths, records, locks, sessions',
    'C': 'Configuration',
    'ST': 'Static machines',
    'H': 'Host keys',
    'L': 'Launcher',
    'SM': 'Machines of clouds',
    'FT': 'Drivers and clouds under test',
    'ME': 'Metastatic driver',
    'OS': 'OpenStack driver',
    'M': 'Metrics and probes',
    'W': 'Web',
    'CLI': 'Command line',
    'F': 'Faults that systems of this kind had',
}
INTRODUCTION = '''\
# Conformance

Drover is to do what Nodepool 11 does and what Zuul expects of it. That is written down as numbered
cases; the last group are faults that comparable systems had. This page says which test shows which
case: the test's name for `ctest -R`, and the path or method within it. A case may have parts that
its tests do not all show.

The page is written by `tests/support/conformance.py` from `docs/conformance.tsv` and the names of
the tests; `ctest` fails when it is out of date.
'''

CASE = re.compile(r'(?<![A-Za-z0-9])(' + '|'.join(GROUPS) + r')[-_](\d{2,3})(?!\d)')
# A comment, or a string; only the latter is a group.
C_TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"((?:[^"\\\n]|\\.)*)"', re.DOTALL)
PYTHON_TEST = re.compile(r'^class (\w+)|^ +def (test_\w+)', re.MULTILINE)

Case = collections.namedtuple('Case', 'number text reason')


def read_cases():
    cases = {}
    for line in CASES.read_text(encoding='utf-8').splitlines():
        if line and not line.startswith('#'):
            number, text, reason = (line.split('\t') + [NO_TEST])[:3]
            cases[number] = Case(number, text, reason)
    return cases


def tests_of_sources(build):
    """Source file -> names of the tests that run it."""
    listing = subprocess.run(['ctest', '--show-only=json-v1'], cwd=build, check=True,
                             capture_output=True)
    by_program = collections.defaultdict(list)
    sources = collections.defaultdict(list)
    for test in json.loads(listing.stdout)['tests']:
        command = [pathlib.Path(part) for part in test.get('command', [])]
        by_program[command[0].name if command else test['name']].append(test['name'])
        for part in command:
            if part.suffix == '.py':
                sources[part.resolve()].append(test['name'])
    for entry in json.loads((build / 'compile_commands.json').read_text(encoding='utf-8')):
        target = re.search(r' -o \S*CMakeFiles/([^/ ]+)\.dir/', entry['command'])[1]
        sources[pathlib.Path(entry['file']).resolve()] += by_program.get(target, [])
    return sources


def names_in_c(text):
    """Strings that may be paths of tests, or parts of them from a table."""
    for token in C_TOKEN.finditer(text):
        if token[1] and not re.search(r'\s', token[1]):
            yield token[1]


def names_in_python(text):
    test_class = None
    for found in PYTHON_TEST.finditer(text):
        test_class = found[1] or test_class
        if found[2]:
            yield f'{test_class}.{found[2]}'


READERS = {'.c': names_in_c, '.py': names_in_python}


def find_tests(build, cases):
    """Case number -> ["`test` `name`", ...], and what is wrong with the citations."""
    found, problems = collections.defaultdict(list), []
    sources = tests_of_sources(build)
    for path in sorted((ROOT / 'tests').rglob('*')):
        if path.suffix not in READERS or path == pathlib.Path(__file__).resolve():
            continue
        if any(path.is_relative_to(ROOT / 'tests' / folder) for folder in APART):
            continue
        for name in READERS[path.suffix](path.read_text(encoding='utf-8')):
            for group, digits in CASE.findall(name):
                number, place = f'{group}-{digits}', f'{path.relative_to(ROOT)}: {name}'
                if number not in cases:
                    problems.append(f'{place}: there is no case {number}')
                elif not sources.get(path):
                    problems.append(f'{place}: no test of ctest runs this file')
                for test in sources.get(path, []):
                    if (citation := f'`{test}` `{name}`') not in found[number]:
                        found[number].append(citation)
    return found, problems


def page_text(cases, found):
    groups = collections.defaultdict(list)
    for case in cases.values():
        groups[case.number.rsplit('-', 1)[0]].append(case)
    shown = sum(bool(found.get(number)) for number in cases)
    parts = [INTRODUCTION, f'{shown} of {len(cases)} cases are shown by a test.\n']
    for group, title in GROUPS.items():
        parts.append(f'## {title}\n')
        parts.append('| case | what it shows | test |\n| --- | --- | --- |')
        for case in groups[group]:
            tests = '<br>'.join(found.get(case.number, [])) or f'not yet: {case.reason}'
            parts.append(f'| {case.number} | {case.text} | {tests} |')
        parts.append('')
    return '\n'.join(parts)


def main():
    build = pathlib.Path(sys.argv[1])
    cases = read_cases()
    found, problems = find_tests(build, cases)
    text = page_text(cases, found)
    if '--check' not in sys.argv[2:]:
        PAGE.write_text(text, encoding='utf-8')
    elif not PAGE.exists() or PAGE.read_text(encoding='utf-8') != text:
        problems.append(f'docs/{PAGE.name} is out of date; write it again with\n'
                        f'    python3 tests/support/{pathlib.Path(__file__).name} {build}')
    print('\n'.join(problems) or f'{len(cases)} cases, '
          f'{sum(bool(found.get(number)) for number in cases)} with a test')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
