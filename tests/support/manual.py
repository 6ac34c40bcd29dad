"""Checks that a manual page is well formed and names the options that its program has.

    manual.py PAGE PROGRAM

The options of the page are the bold words with a '-' in front, below the heading OPTIONS.
"""

import re
import subprocess
import sys

OPTION = re.compile(r'(?<![\w-])(--?[A-Za-z][\w-]*)')


def options_of_help(program):
    text = subprocess.run([program, '--help'], check=True, capture_output=True, text=True).stdout
    # An option's own column ends at two blanks; the sentence that explains it follows.
    columns = [line.strip().split('  ')[0] for line in text.splitlines() if line.startswith('  -')]
    return set(OPTION.findall(' '.join(columns)))


def options_of_page(path):
    with open(path, encoding='utf-8') as page:
        text = page.read().replace('\\-', '-')
    section = re.search(r'^\.SH OPTIONS\n(.*?)(?=^\.SH |\Z)', text, re.DOTALL | re.MULTILINE)
    bold = re.findall(r'^\.(?:B|BR|BI|IP|TP) (.*)$|\\fB(.*?)\\fR', section[1], re.MULTILINE)
    return {option for words in bold for option in OPTION.findall(' '.join(words))}


def complaints_of_groff(path):
    return subprocess.run(['groff', '-man', '-Tutf8', '-K', 'utf8', '-ww', '-z', path],
                          check=False, capture_output=True, text=True).stderr.splitlines()


def main():
    page, program = sys.argv[1:]
    has, names = options_of_help(program), options_of_page(page)
    problems = [f'{page} does not name {option}' for option in sorted(has - names)]
    problems += [f'{program} has no {option}' for option in sorted(names - has)]
    problems += complaints_of_groff(page)
    print('\n'.join(problems) or f'{len(has)} options')
    return 1 if problems or not has else 0


if __name__ == '__main__':
    sys.exit(main())
