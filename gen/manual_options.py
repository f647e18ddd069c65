#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the lists of options in the manual pages of the drop-ins: names, arguments and texts are those
of --help, which the program makes from its tables of options.

usage: manual_options.py [--check] TACT MAN_DIRECTORY

--check writes nothing and names the pages that differ.
"""
import os
import re
import subprocess
import sys
import textwrap

COMMANDS = ('mca', 'uica', 'osaca', 'iaca')


def options_of(text):
    """Name, argument as in the help, and text of each option of a part of the help."""
    found = []
    for line in text.splitlines():
        m = re.match(r'  -([\w-]+)((?:\[=| \[| )(?=[A-Z])[A-Z]+\]?)?(?:  +(\S.*))?$', line)
        if m:
            found.append([m.group(1), m.group(2) or '', [m.group(3)] if m.group(3) else []])
        elif found and re.match(r' {30}\S', line):
            found[-1][2].append(line.strip())
    return [(name, argument, ' '.join(words)) for name, argument, words in found]


def list_of(options):
    out = ['.Bl -tag -width "-iterations n"']
    for name, argument, text in options:
        word = argument.strip(' []=').lower()
        how = '' if not word else ' Ar ' + word if argument[1] != '[' and argument[0] != '[' else \
            ' Op Ar ' + word if argument[0] == ' ' else ' Ns Op = Ns Ar ' + word
        out.append('.It Fl %s%s' % (name.replace('-', '\\-'), how))
        out += ['\\&' + line if line[0] in ".'" else line
                for line in textwrap.wrap(text, 88, break_on_hyphens=False)]
    return '\n'.join(out + ['.El\n'])


def page_of(tact, command, page):
    """The page with its two lists as the help has them."""
    text = subprocess.run([tact, command, '--help'], capture_output=True, text=True, check=True).stdout
    options, _, rest = text.partition('\nOptions,')[2].partition('\nRefused:')
    lists = [list_of(options_of(part)) for part in (options, rest.partition('\nExample')[0])]
    before, mark, body = page.partition('.Sh OPTIONS\n')
    body, end, after = body.partition('.Sh EXIT STATUS\n')
    parts = re.split(r'(?ms)^\.Bl -tag.*?^\.El\n', body)
    if not mark or not end or len(parts) != 3:
        sys.exit('tact-%s.1: no two lists of options before EXIT STATUS' % command)
    return before + mark + parts[0] + lists[0] + parts[1] + lists[1] + parts[2] + end + after


def main():
    check = sys.argv[1:2] == ['--check']
    tact, man = sys.argv[1 + check:]
    for command in COMMANDS:
        path = os.path.join(man, 'tact-%s.1' % command)
        with open(path, encoding='utf-8') as file:
            page = file.read()
        new = page_of(tact, command, page)
        if check and new != page:
            print('%s: its options are not those of --help; gen/manual_options.py writes them'
                  % os.path.basename(path))
        elif new != page:
            with open(path, 'w', encoding='utf-8') as file:
                file.write(new)


if __name__ == '__main__':
    main()
