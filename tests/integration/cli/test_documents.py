"""The manual page and the completion of `drover` name what its --help names, and nothing else.

The options of the page's section OPTIONS are checked by tests/support/manual.py.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from terminal import Terminal

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


@unittest.skipUnless(shutil.which('zsh'), 'needs zsh')
class ZshTest(unittest.TestCase):
    """The same by a zsh on a terminal, which lists what there is after two tabs."""

    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix='drover-test-'))
        os.symlink(COMPLETION.with_suffix('.zsh'), f'{cls.folder}/_drover')
        cls.terminal = cls.enterClassContext(Terminal(
            ['zsh', '-f', '-i'], rows=100, columns=120, HOME=cls.folder,
            PATH=f'{os.path.dirname(DROVER)}:{os.environ["PATH"]}'))
        cls.terminal.send(f"PS1='%% '; fpath=({cls.folder} $fpath); autoload -U compinit; "
                          'compinit -u -D; unsetopt beep list_beep; LISTMAX=0; clear; '
                          'print can-begin\n')
        cls.terminal.wait_for(lambda lines: 'can-begin' in lines)

    def complete(self, line, *expected):
        """What is offered at the end of the line, as soon as all that is expected is."""
        self.terminal.send('\x15\x0c')  # an empty line on an empty screen
        self.terminal.wait_for(lambda lines: lines[0] == '%' and not any(lines[1:]))
        self.terminal.send(f'{line}\t\t')

        def offered(lines):
            # Either "NAME  -- what it is" or names in columns.
            return {word for one in lines[1:] if one for word in one.split('  -- ')[0].split()}
        return offered(self.terminal.wait_for(lambda lines: set(expected) <= offered(lines)))

    def test_commands(self):
        first = {command.split()[0] for command in commands()}
        self.assertEqual(self.complete('drover ', *first), first)
        for group in {command.split()[0] for command in commands() if ' ' in command}:
            words = {command.split()[1] for command in commands()
                     if command.startswith(f'{group} ')}
            self.assertEqual(self.complete(f'drover {group} ', *words), words)

    def test_options(self):
        for command in commands():
            options = {one for one in options_of(*command.split()) if one.startswith('--')}
            self.assertEqual(self.complete(f'drover {command} --', *options), options, command)

    def test_values(self):
        self.assertEqual(self.complete('drover request submit --priority=', '100', '200', '300'),
                         {'100', '200', '300'})
        self.assertIn('building', self.complete('drover watch --state ', 'aborted', 'used'))


if __name__ == '__main__':
    unittest.main(verbosity=2)
