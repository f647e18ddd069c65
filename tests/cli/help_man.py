#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that a command's manual page and its --help list the same options.

usage: help_man.py TACT MAN_DIRECTORY
"""
import os
import re
import subprocess
import sys


SUBCOMMANDS = {'mix': ('record', 'report', 'diff', 'exact', 'train')}


def help_of(tact, *words):
    return subprocess.run([tact, *words, '--help'], capture_output=True, text=True, check=True).stdout


def options_of_help(tact, command):
    text = ''.join(help_of(tact, command, *more) for more in
                   [[s] for s in SUBCOMMANDS.get(command, ())] or [[]])
    found = set()
    for line in text.splitlines():
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
    for command in ('predict', 'simulate', 'measure', 'classify', 'evaluate', 'dataset', 'collect', 'trace', 'diff', 'mix', 'tune', 'archs', 'doctor'):
        a = options_of_help(tact, command)
        b = options_of_page(os.path.join(man, 'tact-%s.1' % command))
        print('%s: %s' % (command, 'good' if a == b and a else
                          'only in help %s, only in the page %s' % (sorted(a - b), sorted(b - a))))


if __name__ == '__main__':
    main()
