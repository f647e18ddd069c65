#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which of the real tools' own inputs the drop-ins accept.

usage: dropin_inputs.py [--tact PATH] [--list] llvm DIR | osaca DIR | uica DIR

llvm DIR   llvm/test/tools/llvm-mca of LLVM's sources: the RUN lines of each file, without FileCheck
osaca DIR  OSACA's sources: its examples and test files, with the CPU of their names
uica DIR   files of any kind, each as an object and as text

Prints how many were accepted, by instruction set, and counts the reasons of the others.
"""
import argparse
import collections
import concurrent.futures
import os
import re
import shlex
import subprocess
import sys


def run(command, data=None):
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=120)
    except subprocess.TimeoutExpired:
        return 124, 'timeout'
    return done.returncode, done.stderr.decode(errors='replace')


def reason(text):
    lines = [line for line in text.splitlines() if line and 'warning:' not in line]
    line = lines[0] if lines else 'no message'
    line = re.sub(r"^\S*?:\d+:\d+: error: ", '', re.sub('^tact: ', '', line))
    line = re.sub(r"'[^']*'|`[^']*'|0x[0-9a-f]+|\d+", '#', line)
    return line[:100]


def llvm_runs(root):
    """Yields (set, file, options): those of each RUN line that should succeed."""
    for base, _, names in sorted(os.walk(root)):
        for name in sorted(names):
            if not name.endswith('.s'):
                continue
            path = os.path.join(base, name)
            text = open(path, errors='replace').read().replace('\\\n', ' ')
            text = re.sub(r'(RUN:[^\n|]*?) +# RUN::?', r'\1', text)
            for line in re.findall(r'RUN:+(.*)', text):
                first = line.split('|')[0].split('2>&1')[0].split(' > ')[0].replace('<', ' ')
                if 'llvm-mca' not in first or ' not ' in ' ' + first:
                    continue
                words = shlex.split(first.replace('%s', path).replace('%t', '/dev/null'))
                words = words[words.index('llvm-mca') + 1:]
                if words.count(path) == 2:
                    words.remove(path)
                yield os.path.relpath(path, root).split(os.sep)[0], path, words


def osaca_runs(root):
    cpus = {'csx': 'CSX', 'tx2': 'TX2', 'zen': 'ZEN2', 'a64fx': 'A64FX', 'n1': 'N1', 'aarch64': 'V2', 'arm': 'TX2'}
    for base, _, names in sorted(os.walk(root)):
        for name in sorted(names):
            if name.endswith('.s') and ('examples' in base or 'test_files' in base):
                words = re.split(r'[._]', name.lower())
                cpu = next((cpus[w] for w in words if w in cpus), 'SKX')
                yield cpu, os.path.join(base, name), ['--arch', cpu, os.path.join(base, name)]


def uica_runs(root):
    for base, _, names in sorted(os.walk(root)):
        for name in sorted(names):
            yield 'x86', os.path.join(base, name), ['-arch', 'SKL', os.path.join(base, name)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--tact', default='build/tact')
    parser.add_argument('--list', action='store_true', help='name those that are refused')
    parser.add_argument('--only', default='', help='sets, separated by commas')
    parser.add_argument('tool', choices=['llvm', 'osaca', 'uica'])
    parser.add_argument('dir')
    args = parser.parse_args()
    runs = {'llvm': llvm_runs, 'osaca': osaca_runs, 'uica': uica_runs}[args.tool](args.dir)
    command = {'llvm': 'mca'}.get(args.tool, args.tool)
    runs = [r for r in runs if not args.only or r[0] in args.only.split(',')]
    accepted, all_of, why = collections.Counter(), collections.Counter(), collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda r: run([args.tact, command] + r[2]), runs)
        for (group, path, words), (status, err) in zip(runs, results):
            all_of[group] += 1
            accepted[group] += status == 0
            if status:
                why[(group, reason(err) if status > 0 else 'signal %d' % -status)] += 1
                if args.list:
                    print(status, path, ' '.join(words), '|', reason(err))
    for group in sorted(all_of):
        print('%-12s %5d of %5d accepted' % (group, accepted[group], all_of[group]))
    for (group, text), n in why.most_common(40):
        print('%5d  %-8s %s' % (n, group, text))
    return 0


if __name__ == '__main__':
    sys.exit(main())
