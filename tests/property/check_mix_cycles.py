#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that a profile and a trace of the same program say the same core cycles.

usage: check_mix_cycles.py [--tact PROGRAM]

Three quick programs; bench/mix_cycles.py has more.  Both must agree within 10%.  The last line of the output is
"N passed, M failed, K skipped".
"""
import argparse
import os
import shutil
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, 'bench'))
import mix_accuracy  # noqa: E402
import mix_cycles  # noqa: E402

AWK = '{ for (i = 1; i <= NF; i++) c[$i] += length($i) } END { for (w in c) if (c[w] > m) m = c[w]; print m }'


def programs(corpus):
    awk = next((p for p in ('mawk', 'gawk', 'awk') if shutil.which(p)), 'awk')
    yield 'gzip', ['gzip', '-6', '-c', corpus]
    yield 'bzip2', ['bzip2', '-c', corpus]
    yield awk, [awk, AWK, corpus]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--tact', default=os.path.join(TOP, 'build', 'tact'))
    args = parser.parse_args()
    counts = {'passed': 0, 'failed': 0, 'skipped': 0}
    with tempfile.TemporaryDirectory() as work:
        corpus = os.path.join(work, 'corpus.txt')
        with open(corpus, 'w') as f:
            f.write(mix_accuracy.text(30000).replace(' end ', '\n'))
        for name, command in programs(corpus):
            if not shutil.which(command[0]) or not shutil.which('qemu-x86_64'):
                print('%s: skipped, %s and qemu-x86_64 are needed' % (name, command[0]))
                counts['skipped'] += 1
                continue
            traced, counted = mix_cycles.compare(args.tact, 'ZEN3', command, work)
            good = abs(counted / traced - 1) <= 0.1
            counts['passed' if good else 'failed'] += 1
            print('%s: %s, trace %.0f, mix %.0f' % (name, 'agrees' if good else 'DIFFERS', traced, counted))
    print('%(passed)d passed, %(failed)d failed, %(skipped)d skipped' % counts)
    return 1 if counts['failed'] else 0


if __name__ == '__main__':
    sys.exit(main())
