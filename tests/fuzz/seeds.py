#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes seeds for fuzz_command: the command lines of tests/cli/*.case with their files.

usage: seeds.py DIRECTORY

A seed has up to six commands of one case, those that the target runs: without variables of the
shell, without names of other directories.  Files that are only written become no part of a seed.
"""
import glob
import os
import re
import shlex
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMMANDS = 6
MOST = 20000  # bytes of a seed


def read_case(path):
    """Returns the lines of the script, and the files."""
    script, files, section = [], {}, None
    for line in open(path, encoding='utf-8').read().split('\n'):
        if line.startswith('--- '):
            section = line[4:].strip()
            if section.startswith('file '):
                files[section[5:]] = []
        elif section is None and line.startswith('run:'):
            script.append(line[4:].strip())
        elif section and section.startswith('file '):
            files[section[5:]].append(line)
    return script, {name: '\n'.join(lines) for name, lines in files.items()}


def commands_of(script):
    """Yields the words of the commands that need no shell."""
    for line in script:
        for m in re.finditer(r'"\$TACT" ([^|;&<>`]*)', line):
            text = re.sub(r'\s[0-9]$', '', m.group(1))  # of a redirection
            try:
                words = shlex.split(text)
            except ValueError:
                continue
            if words and not any(re.search(r'[/$(){}*\s]', w) or not w for w in words):
                yield ' '.join(words)


def main():
    place = sys.argv[1]
    os.makedirs(place, exist_ok=True)
    n = 0
    for path in sorted(glob.glob(os.path.join(ROOT, 'tests/cli/*.case'))):
        script, files = read_case(path)
        lines = list(dict.fromkeys(commands_of(script)))
        tail = ''.join('--- file %s\n%s\n' % (name, text) for name, text in files.items() if '/' not in name)
        for i in range(0, len(lines), COMMANDS):
            seed = '\n'.join(lines[i:i + COMMANDS]) + '\n' + tail
            if len(seed) <= MOST:
                name = '%s_%d' % (os.path.splitext(os.path.basename(path))[0], i // COMMANDS)
                with open(os.path.join(place, name), 'w', encoding='utf-8') as out:
                    out.write(seed)
                n += 1
    print('%d seeds' % n)


if __name__ == '__main__':
    main()
