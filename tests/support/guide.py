"""Checks what the documents tell operators to type, and the messages that they explain.

    guide.py ROOT PROGRAM...

In code blocks and between backquotes of README.md and docs/*.md:

- after the name of one of our programs stands a command that it has, with options that it has;
- configurations (blocks of yaml) have no mistakes;
- in the first column of the tables of docs/troubleshooting.md stand texts that the programs say.
  Words in capitals, and numbers, stand there for what differs from time to time.
"""

import functools
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

OPTION = re.compile(r'(?<![\w-])(--?[A-Za-z][\w-]*)')
FENCE = re.compile(r'^( *)```\w*\n(.*?)^\1```', re.DOTALL | re.MULTILINE)
INDENTED = re.compile(r'^(?: {4}.*\n)+', re.MULTILINE)
SPAN = re.compile(r'`([^`]+)`')
# What ends one command: a shell's operators, and an explanation behind blanks.
END = re.compile(r'\||;|&&|\s#|\s>|\)')
DRAWING = re.compile('[\u2500-\u257f\u25b2-\u25c4]')
VARIABLE = re.compile(r'\b[A-Z]{1,}\b|\d+|\.\.\.')
PLACEHOLDER = re.compile(r'%(?:[-+ 0#]*[\d.*]*(?:[hlz]*[a-zA-Z]))')
CONFIGURATION = re.compile(r'^```yaml\n(.*?)^```', re.DOTALL | re.MULTILINE)
# Blocks of yaml that are no configurations of ours, and the driver that the reader is to write.
OTHERS = re.compile(r'^(version: 1|livenessProbe:)', re.MULTILINE)
READERS_DRIVER = 'driver mycloud is not installed'
# Said by others: the service manager, the system.
FOREIGN = {'Watchdog timeout', 'Permission denied', 'deleting', 'paused',
           '/etc/nodepool/nodepool.yaml'}


class Program:
    def __init__(self, path):
        self.path, self.name = path, pathlib.Path(path).name
        self.commands = set(re.findall(r'^  ([a-z][a-z-]*(?: [a-z-]+)?)  +[A-Z]',
                                       self.help().partition('Commands:\n')[2], re.MULTILINE))

    @functools.cache
    def help(self, *command):
        return subprocess.run([self.path, *command, '--help'], check=True, capture_output=True,
                              text=True).stdout

    @functools.cache
    def options(self, *command):
        """Option -> whether a value follows."""
        found = {}
        for line in self.help(*command).splitlines():
            if line.startswith('  -'):
                column = line.strip().split('  ')[0]
                found.update((option, '=' in column) for option in OPTION.findall(column))
        return found

    def complaint(self, words):
        """What is wrong with the words behind the program's name; None: nothing."""
        options, command, rest = dict(self.options()), [], list(words)
        while rest:
            word = rest.pop(0)
            if word.startswith('-') and word not in ('-', '--'):
                name, _, value = word.partition('=')
                if name not in options:
                    return f'{" ".join([self.name, *command])} has no option {name}'
                if options[name] and not value:
                    rest[:1] = []
            elif self.commands and not command:
                command = [word]
                if word not in self.commands:
                    if not rest and any(known.startswith(f'{word} ') for known in self.commands):
                        return None  # the group as a whole
                    command += rest[:1]
                    rest = rest[1:]
                if ' '.join(command) not in self.commands:
                    return f'{self.name} has no command "{" ".join(command)}"'
                options.update(self.options(*' '.join(command).split()))
        return None


def pieces(text):
    """(place in the text, code): lines of blocks, and what stands between backquotes."""
    blocks = [(found.start(2), found[2]) for found in FENCE.finditer(text)]
    prose = FENCE.sub(lambda found: re.sub(r'[^\n]', ' ', found[0]), text)
    blocks += [(found.start(), found[0]) for found in INDENTED.finditer(prose)]
    for start, block in blocks:
        for line in re.sub(r'\\\n', '  ', block).splitlines():
            if not DRAWING.search(line):
                yield start, line
    for found in SPAN.finditer(prose):
        yield found.start(), found[1].replace('\n', ' ')


def commands_in(code, programs):
    """(program, words behind its name)"""
    code = re.sub(r'^\s*(?:[$#] )?', '', code)
    first = code.split(' ', 1)[0]
    name = first.rpartition('/')[2]
    if name not in programs or not re.match(r'[\w./-]+( |$)', code):
        return
    words = END.split(code[len(first):])[0].replace('[', ' ').replace(']', ' ')
    try:
        yield programs[name], shlex.split(words)
    except ValueError:
        return


def mistakes_in(configuration, drover):
    with tempfile.NamedTemporaryFile('w', suffix='.yaml') as file:
        file.write(configuration)
        file.flush()
        said = subprocess.run([drover.path, '-c', file.name, 'config-validate'], check=False,
                              capture_output=True, text=True).stderr
    return [line.partition(': error: ')[2] for line in said.splitlines()
            if ': error: ' in line and READERS_DRIVER not in line]


def said_by_programs(root):
    """All strings of the sources as one text, with blanks where something is put in."""
    text = []
    for folder in ('core', 'plugins', 'sdk/src'):
        for path in sorted((root / folder).rglob('*.c')):
            source = re.sub(r'"\s*\n?\s*"', '', path.read_text(encoding='utf-8'))
            text += re.findall(r'"((?:[^"\\\n]|\\.)*)"', source)
    return PLACEHOLDER.sub(' ', '\n'.join(text))


def unknown_messages(page, said):
    for row in re.findall(r'^\| (.*?) \|', page, re.MULTILINE):
        for span in SPAN.findall(row):
            if span in FOREIGN:
                continue
            for part in VARIABLE.split(span):
                if part.strip(' ,:()[]"') not in said:
                    yield f'troubleshooting.md: nothing says "{part.strip()}" of "{span}"'


def problems_in(text, programs):
    """(place in the text, what is wrong), for each command and configuration; None: nothing."""
    for start, code in pieces(text):
        for program, words in commands_in(code, programs):
            yield start, program.complaint(words)
    for found in CONFIGURATION.finditer(text):
        if not OTHERS.search(found[1]):
            for mistake in mistakes_in(found[1], programs['drover']) or [None]:
                yield found.start(), mistake


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    programs = {program.name: program for program in map(Program, sys.argv[2:])}
    problems, count = [], 0
    for document in [root / 'README.md', *sorted((root / 'docs').rglob('*.md'))]:
        text = document.read_text(encoding='utf-8')
        for start, complaint in problems_in(text, programs):
            count += 1
            if complaint:
                line = text.count('\n', 0, start) + 1
                problems.append(f'{document.relative_to(root)}:{line}: {complaint}')
    page = (root / 'docs' / 'troubleshooting.md').read_text(encoding='utf-8')
    problems += unknown_messages(page, said_by_programs(root))
    print('\n'.join(problems) or f'{count} commands and configurations')
    return 1 if problems or not count else 0


if __name__ == '__main__':
    sys.exit(main())
