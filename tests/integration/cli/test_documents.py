"""The manual page and the completion of `drover` name what its --help names, and nothing else.

The options of the page's section OPTIONS are checked by tests/support/manual.py.
"""

import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
DROVER = os.path.abspath(os.environ['DROVER'])
COMPLETION = ROOT / 'packaging/completion/drover.bash'
OPTION = re.compile(r'(?<![\w-])(--?[A-Za-z][\w-]*)')
COMMON = {'--json', '--help', '-h'}


def help_of(*command):
    return subprocess.run([DROVER, *command, '--help'], check=True, capture_output=True,
                          text=True).stdout


def commands():
    listed = help_of().split('Commands:\n')[1]
    return re.findall(r'^  ([a-z][a-z-]*(?: [a-z-]+)?)  ', listed, re.M)


def options_of(*command):
    # An option's own column ends at two blanks; the sentence that explains it follows.
    columns = [line.strip().split('  ')[0] for line in help_of(*command).splitlines()
               if line.startswith('  -')]
    return set(OPTION.findall(' '.join(columns)))


class ManualTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        text = (ROOT / 'docs/man/drover.1').read_text(encoding='utf-8').replace('\\-', '-')
        section = re.search(r'^\.SH COMMANDS\n(.*?)^\.SH ', text, re.DOTALL | re.M)[1]
        cls.introduction, *parts = re.split(r'^\.SS ', section, flags=re.M)
        cls.parts = {}
        for part in parts:
            heading, body = part.split('\n', 1)
            cls.parts[heading.split(' \\f')[0].strip()] = body

    def test_names_each_command(self):
        self.assertEqual(sorted(self.parts), sorted(commands()))

    def test_names_each_option(self):
        self.assertEqual(set(OPTION.findall(self.introduction)) & COMMON, COMMON)
        for command, body in self.parts.items():
            bold = re.findall(r'^\.TP\n\.(?:B|BR) (.*)$', body, re.M)
            named = {option for words in bold for option in OPTION.findall(words)}
            self.assertEqual(named, options_of(*command.split()) - COMMON, command)


class CompletionTest(unittest.TestCase):
    def complete(self, *words):
        """What is offered when the cursor is at the end of the last word."""
        script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _drover; ' \
                 'printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(['bash', '-c', script, 'bash', COMPLETION, DROVER, *words],
                              check=True, capture_output=True, text=True)
        self.assertEqual(done.stderr, '')
        return set(done.stdout.split())

    def test_first_word(self):
        first = {command.split()[0] for command in commands()}
        self.assertEqual(self.complete(''), first | options_of())
        self.assertEqual(self.complete('-c', '/etc/x.yaml', '--debug', ''), first | options_of())
        self.assertEqual(self.complete('--config', '=', '/etc/x.yaml', 'reque'),
                         {'request', 'request-list'})

    def test_second_word(self):
        for group in {command.split()[0] for command in commands() if ' ' in command}:
            words = {command.split()[1] for command in commands()
                     if command.startswith(f'{group} ')}
            self.assertEqual(self.complete(group, ''), words | {'-h', '--help'})

    def test_options(self):
        for command in commands():
            self.assertEqual(self.complete('--json', *command.split(), '-'),
                             options_of(*command.split()), command)

    def test_values(self):
        self.assertEqual(self.complete('request', 'submit', '--priority', ''),
                         {'100', '200', '300'})
        self.assertEqual(self.complete('request', 'submit', '--label', ''), set())
        self.assertEqual(self.complete('driver', 'info', 'stat'), {'static'})
        self.assertIn(f'{ROOT}/LICENSE', self.complete('-c', f'{ROOT}/LICEN'))

    def test_launcher(self):
        launcher = os.path.abspath(os.environ['DROVER_LAUNCHER'])
        helped = subprocess.run([launcher, '--help'], check=True, capture_output=True, text=True)
        columns = [line.strip().split('  ')[0] for line in helped.stdout.splitlines()
                   if line.startswith('  -')]
        script = f'source {COMPLETION.parent}/drover-launcher.bash; COMP_WORDS=(x "$@"); ' \
                 'COMP_CWORD=$#; _drover_launcher; printf "%s\\n" "${COMPREPLY[@]}"'
        for words, expected in (([''], set(OPTION.findall(' '.join(columns)))),
                                (['-c', f'{ROOT}/LICEN'], {f'{ROOT}/LICENSE'}),
                                (['--config', '=', f'{ROOT}/LICEN'], {f'{ROOT}/LICENSE'}),
                                (['--stop-timeout', ''], set())):
            done = subprocess.run(['bash', '-c', script, 'bash', *words], check=True,
                                  capture_output=True, text=True)
            self.assertEqual((set(done.stdout.split()), done.stderr), (expected, ''), words)


if __name__ == '__main__':
    unittest.main(verbosity=2)
