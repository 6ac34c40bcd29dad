#!/usr/bin/env python3
"""Makes the manual page drover-driver(3) of the comments in the public headers.

    reference.py            writes docs/man/drover-driver.3
    reference.py --check    says whether that is what it would write
"""

import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
INCLUDE = ROOT / 'sdk/include/drover'
PAGE = ROOT / 'docs/man/drover-driver.3'
HEADERS = ('driver.h', 'http.h', 'limit.h', 'cache.h', 'scan.h')
WIDTH = 78
# What is there for the compiler alone.
NOISE = re.compile(r'^#(ifndef DROVER_\w+_H|define DROVER_\w+_H|endif|include|ifdef __cplusplus)\b')
FUNCTION = re.compile(r'^(typedef .*\(\*|[\w\s*]+\()')

BEGIN = r'''.\" Made by sdk/reference.py of the headers in sdk/include/drover. Do not edit.
.TH DROVER-DRIVER 3 "" "Drover" "Drover"
.SH NAME
drover\-driver \- what a driver of Drover is made of, and what it may call
.SH SYNOPSIS
.nf
.B #include <drover/driver.h>
.PP
cc \-shared \-fPIC $(pkg\-config \-\-cflags drover\-sdk) \-o mycloud.so mycloud.c \e
    $(pkg\-config \-\-libs drover\-sdk)
.fi
.SH DESCRIPTION
'''
END = r'''.SH FILES
.TP
.I share/drover/template
A whole driver to begin with, below the folder that the SDK is installed in.
.SH SEE ALSO
.BR drover\-driver\-check (1),
.BR drover\-launcher (1)
'''


# ---- Reading a header ----

def blocks(text):
    """('comment', lines) and ('code', lines) in their order; code ends with an empty line, or where a
    comment begins that is not in braces."""
    lines = iter(text.splitlines())
    code, depth = [], 0
    for line in lines:
        if depth == 0 and line.startswith('/*'):
            if code:
                yield 'code', code
                code = []
            comment = [line]
            while '*/' not in comment[-1]:
                comment.append(next(lines))
            yield 'comment', comment
            continue
        if line.strip():
            code.append(line)
        depth += line.count('{') - line.count('}')
        if depth == 0 and not line.strip() and code:
            yield 'code', code
            code = []
    if code:
        yield 'code', code


def words_of(comment):
    """The comment's lines without its frame."""
    text = '\n'.join(comment)
    text = re.sub(r'^/\*+|\*+/$', '', text.strip())
    return [re.sub(r'^ \* ?|^ {3}(?=\S)', '', line).rstrip() for line in text.splitlines()]


def title_of(lines):
    """(title, the rest) of a comment that begins a part; (None, lines) of any other."""
    if len(lines) == 1 and (match := re.fullmatch(r'\s*-{4} (.*?)\s*-*\s*(.*)', lines[0])):
        return match[1].rstrip(' -.'), []
    if lines and re.fullmatch(r'\s*-{20,}', lines[0]):
        rest = [line for line in lines[1:] if not re.fullmatch(r'\s*-{20,}', line)]
        return rest[0].strip(), rest[1:]
    return None, lines


# ---- Writing roff ----

def escaped(line):
    line = line.replace('\\', '\\e').replace('-', '\\-')
    return '\\&' + line if line.startswith(('.', "'")) else line


def verbatim(lines):
    return ['.PP', '.RS 4', '.nf', *(escaped(line) for line in lines), '.fi', '.RE']


def paragraphs(lines):
    """Text; lines that stand further in are an example."""
    out, example, begun = [], [], False
    for line in [*lines, '']:
        if line.startswith('    ') or (example and not line):
            example.append(line[4:])
            continue
        if example:
            out += verbatim(textwrap.dedent('\n'.join(example)).strip('\n').splitlines())
            example, begun = [], False
        if not line.strip():
            begun = False
            continue
        if not begun:
            out.append('.PP')
            begun = True
        if line.startswith('- '):
            out.append('.br')
        out.append(escaped(line.strip()))
    return out + (verbatim(example) if any(example) else [])


def wrapped(function):
    """Broken between parameters only."""
    text = re.sub(r'(\*) (?=drover)', r'\1', ' '.join(function.split()))
    lines = textwrap.wrap(re.sub(r'(?<!,) ', '\0', text), WIDTH, subsequent_indent=' ' * 8,
                          break_long_words=False, break_on_hyphens=False)
    return [line.replace('\0', ' ') for line in lines]


def declaration(lines):
    """Code as it is shown: without marks for the compiler, a function's parameters anew."""
    code = re.sub(r'^DROVER_EXPORT\s*|\s*DROVER_PRINTF\([^)]*\)', '', '\n'.join(lines),
                  flags=re.MULTILINE)
    shown = []
    for part in re.split(r'(?<=;)\n(?=\S)', code):
        if FUNCTION.match(part) and '{' not in part and '/*' not in part:
            shown += wrapped(part)
        else:
            shown += part.splitlines()
    return [line.replace('\t', ' ') for line in shown]


def without_noise(text):
    text = re.sub(r'#ifdef __cplusplus\n.*?#endif\n', '', text, flags=re.DOTALL)
    text = re.sub(r'#if defined\(__GNUC__\)\n.*?#endif\n', '', text, flags=re.DOTALL)
    return '\n'.join(line for line in text.splitlines() if not NOISE.match(line))


def section(name):
    """A header's part of the page."""
    text = without_noise((INCLUDE / name).read_text(encoding='utf-8'))
    out, is_first = [], True
    for kind, lines in blocks(text):
        if kind == 'code':
            out += verbatim(declaration(lines))
            continue
        title, words = title_of(words_of(lines))
        if is_first:
            # "drover/driver.h - what ...": the heading is made of the name.
            words = re.sub(r'^drover/\S+ - (\w)', lambda match: match[1].upper(),
                           '\n'.join(words).strip('\n')).splitlines()
            out += [*paragraphs(words)] if name == 'driver.h' else [
                f'.SH "<drover/{name}>"', *paragraphs(words)]
            out += [f'.SH "<drover/{name}>"'] if name == 'driver.h' else []
            is_first = False
            continue
        out += [f'.SS "{escaped(title)}"'] if title else []
        out += paragraphs(words)
    return out


def page():
    lines = [line for name in HEADERS for line in section(name)]
    text = BEGIN + '\n'.join(lines) + '\n' + END
    # A paragraph that begins at a heading begins there by itself.
    return re.sub(r'(^\.S[HS] .*\n)\.PP\n', r'\1', text, flags=re.MULTILINE)


def main():
    if sys.argv[1:] not in ([], ['--check']):
        sys.exit(__doc__)
    text = page()
    if sys.argv[1:] == []:
        PAGE.write_text(text, encoding='utf-8')
    elif PAGE.read_text(encoding='utf-8') != text:
        print(f'{PAGE} is not what the headers say; run sdk/reference.py')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
