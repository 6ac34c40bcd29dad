"""Checks that log.c lists the loggers that the programs have, so that their levels can be set.

    loggers.py ROOT

Those of pools and providers come and go: they are declared, and only what they begin with is known.
"""

import pathlib
import re
import sys

LIST = 'core/base/log.c'
KNOWN = re.compile(r'known_loggers\[\] = \{(.*?)\};', re.DOTALL)
USES = (re.compile(r'#define \w*LOGGER\s+"([\w.]+)"'),
        re.compile(r'\.logger = "([\w.]+)"'),
        re.compile(r'logger = g_strdup_printf\("([\w.]+)\.%s'),
        re.compile(r'drover_log_for\((?:[^,()]|\([^()]*\))+,\s*"([\w.]+)"'))


def used(root):
    """Each logger, with a file that has it."""
    return {name: path.relative_to(root) for path in sorted((root / 'core').rglob('*.[ch]'))
            for use in USES for name in use.findall(path.read_text(encoding='utf-8'))}


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    listed = re.findall(r'"([\w.]+)"', KNOWN.search((root / LIST).read_text(encoding='utf-8'))[1])
    known = set(listed) | {name.rpartition('.')[0] for name in listed}
    uses = used(root)
    problems = [f'{uses[name]}: {LIST} does not list the logger {name}'
                for name in sorted(uses.keys() - known)]
    problems += [f'{LIST}: nothing logs as {name}' for name in sorted(set(listed) - uses.keys())]
    print('\n'.join(problems) or f'{LIST} lists all {len(listed)} loggers')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
