#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Loads behind mispredicted branches (bench/programs/behind_branches.c): measured and predicted cycles.

usage: behind_branches.py [-a ARCH] [--tact PROGRAM] [--rounds N] [--measure N] [KIND...]

Prints for each kind the cycles of an operation: the fewest of N rounds on this CPU (default: 60, 0: none), and what
tact trace predicts, over 30 rounds or --rounds.  On a shared machine what comes from the last level and memory differs
from minute to minute: measure more than once.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def measured(program, rounds, kinds):
    """Cycles of an operation, and operations of a round, by kind."""
    lines = subprocess.run([program, str(rounds), *kinds], capture_output=True, text=True, check=True).stdout.split()
    return {name: (float(cycles), int(operations)) for name, cycles, operations in (line.split(',') for line in lines)}


def predicted(args, program, kind, operations):
    out = program + '.json'
    subprocess.run([args.tact, 'trace', '-q', '-a', args.arch, '--region', 'measured_' + kind, '-o', out, '--', program,
                    str(args.rounds), kind], check=True, stdout=subprocess.DEVNULL)
    return json.loads(open(out).readline())['cycles'] / (args.rounds * operations)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('-a', dest='arch', default='native')
    parser.add_argument('--tact', default=os.path.join(ROOT, 'build/tact'))
    parser.add_argument('--rounds', type=int, default=30)
    parser.add_argument('--measure', type=int, default=60)
    parser.add_argument('kinds', nargs='*')
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        program = os.path.join(work, 'behind_branches')
        subprocess.run(['gcc', '-O2', '-o', program, os.path.join(ROOT, 'bench/programs/behind_branches.c')], check=True)
        for kind, (cycles, operations) in measured(program, max(args.measure, 1), args.kinds).items():
            print('%-12s measured %8s predicted %8.1f' % (kind, '%.1f' % cycles if args.measure else '-',
                                                          predicted(args, program, kind, operations)), flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
