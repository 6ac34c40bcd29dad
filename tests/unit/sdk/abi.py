#!/usr/bin/env python3
"""The ABI as it is kept in sdk/abi, and how today's is compared with it.

    abi.py keep BUILD VERSION      makes sdk/abi/VERSION from a build with debug information

libabigail reads the types that functions have in the library's debug information. It sees the same
in what gcc and clang make, with and without optimisation and sanitizers; abi-dumper and
abi-compliance-checker want one compiler, -Og and DWARF before version 5.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
ABI = ROOT / 'sdk/abi'
INCLUDE = ROOT / 'sdk/include/drover'
PRIVATE_HEADER = 'host.h'
DUMP = 'libdrover-sdk.abi'
GROWTH = ('--suppressions', str(ABI / 'growth.suppr'))
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.DOTALL)
DIRECTIVE = re.compile(r'^[ \t]*#(?:.*\\\n)*.*$', re.MULTILINE)
STRUCT = re.compile(r'\bstruct (\w+)\s*\{(.*?)\n\};', re.DOTALL)
ENUM = re.compile(r'\benum (\w+)\s*\{(.*?)\};', re.DOTALL)
POINTER_TO_FUNCTION = re.compile(r'\(\*(\w+)\)\s*\(')
LAST_WORD = re.compile(r'(\w+)\s*(?:\[[^]]*\])?\s*$')


def versions():
    """The folders of versions that are kept."""
    return sorted(path for path in ABI.iterdir() if path.is_dir())


# ---- Functions and their types ----

def has_debug_information(library):
    sections = subprocess.run(['readelf', '-SW', library], check=True, capture_output=True,
                              text=True).stdout
    return '.debug_info' in sections


def dump(library, headers, out):
    subprocess.run(['abidw', *GROWTH, '--headers-dir', headers, '--drop-private-types',
                    '--no-show-locs', '--no-comp-dir-path', '--no-corpus-path', '--no-elf-needed',
                    '--exported-interfaces-only', '--out-file', out, library], check=True)


def compare(old, new, headers=INCLUDE):
    """What a driver that was built against the old one would notice in the new one; '' is nothing.
    The new one is a library; the old one may be a dump, which has no private types."""
    words = ['--headers-dir2', headers]
    if not str(old).endswith('.abi'):
        words += ['--headers-dir1', headers]
    done = subprocess.run(['abidiff', *GROWTH, *words, '--drop-private-types', '--no-added-syms',
                           old, new], check=False, capture_output=True, text=True)
    return '' if done.returncode == 0 else done.stdout + done.stderr


# ---- Layout and constants of the headers ----

def members(statement):
    """The names in "uint16_t a, b", or in "int (*a)(void *)"."""
    pointer = POINTER_TO_FUNCTION.search(statement)
    return [pointer[1]] if pointer else [LAST_WORD.search(part)[1] for part in statement.split(',')]


def declared(header):
    """(structs with their members, constants of enums) of a header."""
    text = DIRECTIVE.sub('', COMMENT.sub('', header.read_text(encoding='utf-8')))
    structs = [(name, [member for statement in body.split(';')[:-1]
                       for member in members(statement)]) for name, body in STRUCT.findall(text)]
    constants = [item.split('=')[0].strip() for _, body in ENUM.findall(text)
                 for item in body.split(',') if item.strip()]
    return structs, constants


def program_of(headers):
    """A C program that prints where each member is, how large it is, and what constants are."""
    lines = ['#include <stddef.h>', '#include <stdio.h>']
    lines += [f'#include <drover/{header.name}>' for header in headers]
    lines += ['int main(void)', '{']
    for header in headers:
        structs, constants = declared(header)
        lines += [f'    printf("{name}.{member} %zu %zu\\n", offsetof(struct {name}, {member}), '
                  f'sizeof(((struct {name} *)0)->{member}));'
                  for name, names in structs for member in names]
        lines += [f'    printf("{name} %lld\\n", (long long)({name}));' for name in constants]
    return '\n'.join(lines + ['    return 0;', '}', ''])


def layout(compiler, program, include):
    """The program's lines, compiled with the headers of that folder."""
    with tempfile.TemporaryDirectory(prefix='drover-test-') as folder:
        source, binary = f'{folder}/layout.c', f'{folder}/layout'
        pathlib.Path(source).write_text(program, encoding='utf-8')
        subprocess.run([compiler, '-std=c11', '-I', include, source, '-o', binary], check=True)
        return subprocess.run([binary], check=True, capture_output=True,
                              text=True).stdout.splitlines()


# ---- Keeping a version ----

def keep(build, version):
    folder = ABI / version
    shutil.rmtree(folder, ignore_errors=True)
    (folder / 'drover').mkdir(parents=True)
    for header in INCLUDE.glob('*.h'):
        if header.name != PRIVATE_HEADER:
            shutil.copy(header, folder / 'drover')
    library = f'{build}/sdk/libdrover-sdk.so'
    if not has_debug_information(library):
        sys.exit(f'{library} has no debug information')
    dump(library, folder / 'drover', folder / DUMP)


if __name__ == '__main__':
    if len(sys.argv) != 4 or sys.argv[1] != 'keep':
        sys.exit(__doc__)
    keep(*sys.argv[2:])
