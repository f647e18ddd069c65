#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every command has a manual page, which lists the same options as its --help, and a place in tact.1;
that those of the drop-ins have the texts of --help, too.

usage: help_man.py TACT MAN_DIRECTORY
"""
import os
import re
import subprocess
import sys


DROPINS = ('mca', 'uica', 'osaca', 'iaca')  # options with one dash, as the tools have them
SUBCOMMANDS = {'mix': ('record', 'report', 'diff', 'exact', 'export', 'merge', 'train')}


def help_of(tact, *words):
    return subprocess.run([tact, *words, '--help'], capture_output=True, text=True, check=True).stdout


def options_of_help(tact, command):
    text = ''.join(help_of(tact, command, *more) for more in
                   [[s] for s in SUBCOMMANDS.get(command, ())] or [[]])
    found = set()
    for line in text.splitlines():
        m = re.match(r'  -([\w-]+)(?=[ \[]|$)', line) if command in DROPINS else None
        if m:
            found.add('-' + m.group(1))
            continue
        m = re.match(r'  (?:-(\w), |    )--([\w-]+)', line)
        if m:
            found |= {'--' + m.group(2)} | ({'-' + m.group(1)} if m.group(1) else set())
    return found


def options_of_page(path):
    """Those of .It Fl lines (mdoc), where - is written as \\-."""
    found = set()
    for line in open(path):
        if line.startswith('.It Fl '):
            found |= {'-' + name.replace('\\', '') for name in re.findall(r'Fl ([\w\\-]+)', line)}
    return found


def main():
    tact, man = sys.argv[1:]
    sys.stdout.reconfigure(line_buffering=True)
    commands = re.findall(r'^  (\w+) ', help_of(tact).partition('Commands:')[2].partition('Examples:')[0], re.M)
    first_page = open(os.path.join(man, 'tact.1')).read()
    for command in commands:
        page = os.path.join(man, 'tact-%s.1' % command)
        a = options_of_help(tact, command)
        b = options_of_page(page) if os.path.exists(page) else set()
        if a != b or not a:
            print('%s: only in help %s, only in the page %s' % (command, sorted(a - b), sorted(b - a)))
        for line in ('.It Cm %s' % command, '.Xr tact-%s 1' % command):
            if not re.search(re.escape(line) + r'( [.,;])?\n', first_page):
                print('tact.1 has no line "%s"' % line)
    subprocess.run([sys.executable, os.path.join(man, '../gen/manual_options.py'), '--check', tact, man],
                   check=True)
    print('good' if len(commands) > 10 else 'no commands in the help')


if __name__ == '__main__':
    main()
