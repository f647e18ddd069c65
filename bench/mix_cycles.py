#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Core cycles of a profile against those of a trace of the same program.

usage: mix_cycles.py [--tact PATH] [--arch NAME] [--only NAME[,NAME]] [--limit PERCENT]

Each program runs twice under QEMU: once traced, for the core alone, and once counted by 'tact mix exact', whose
counts 'tact mix report --cycles' turns into cycles.  The exit status is 1 if a program differs by more than the
limit (default 10).
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

import mix_accuracy

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

JS = ('let d = {}; for (let i = 0; i < 40000; i++) { const k = "k" + (i * 7919) % 1009; d[k] = (d[k] || 0) + i } '
      'console.log(JSON.stringify(d).length)')
C = 'int f(int x) { int s = 0; for (int i = 0; i < x; i++) s += i * x % 7; return s; }\n'


def programs(work):
    """(name, what must be installed, command)"""
    yield from (p for p in mix_accuracy.programs(work) if p[0] != 'openssl')
    source = os.path.join(work, 'many.c')
    with open(source, 'w') as f:
        f.writelines(C.replace('f(', 'f%d(' % i) for i in range(40))
    compiler = subprocess.run(['gcc', '-print-prog-name=cc1'], capture_output=True, text=True).stdout.strip()
    yield 'gcc', compiler, [compiler, '-quiet', '-O2', source, '-o', '/dev/null']
    yield 'git', 'git', ['git', '-C', TOP, 'log', '--oneline', '--stat', '-n', '20']
    yield 'node', 'node', ['node', '--jitless', '-e', JS]


def run(command):
    return subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


def compare(tact, arch, command, work):
    """Returns the cycles of the trace and of the profile."""
    result, counts = os.path.join(work, 'run.json'), os.path.join(work, 'run.counts')
    run([tact, 'trace', '-q', '--core', '-a', arch, '-f', 'json', '-o', result, '--', *command])
    run([tact, 'mix', 'exact', '-q', '-o', counts, '--', *command])
    with open(result) as f:
        traced = json.loads(f.readline())['cycles']
    report = subprocess.run([tact, 'mix', 'report', '-q', '--cycles', '-a', arch, '-f', 'json', '--top', '1', counts],
                            capture_output=True, text=True, check=True).stdout
    return traced, json.loads(report)['cycles']


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--tact', default=os.path.join(TOP, 'build', 'tact'))
    parser.add_argument('--arch', default='ZEN3')
    parser.add_argument('--only', default='')
    parser.add_argument('--limit', type=float, default=10)
    args = parser.parse_args()
    only = args.only.split(',') if args.only else None
    failed = 0
    with tempfile.TemporaryDirectory() as work:
        for name, needed, command in programs(work):
            if (only and name not in only) or not needed or not shutil.which(needed):
                continue
            traced, counted = compare(args.tact, args.arch, command, work)
            percent = 100 * (counted / traced - 1)
            failed += abs(percent) > args.limit
            print('%-14s trace %14.0f  mix %14.0f  %+6.1f%%' % (name, traced, counted, percent), flush=True)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
