#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks fidelity, accuracy and coverage on data that are not part of the project.

usage: check_accuracy.py [--tact PROGRAM] [--shared DIR]

DIR (default ../shared) has tools/score.py and data/; without it everything is skipped.  The
last line of the output is "N passed, M failed, K skipped".
"""
import argparse
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COVERAGE = 99.5  # per cent of the instructions, on each of the cores below

# What score.py is asked; {data} is the directory of the data.
CHECKS = [
    ('components as facile.py', 'components {data}/facile/components.csv.gz --min 0.99'),
    ('known answers of the papers', 'known'),
] + [
    ('%s not worse than facile.py' % arch,
     'accuracy {data}/truth/bhive_%s_u.csv %s unroll --peer {data}/facile/pred_bhive_%s_u.csv'
     ' --against facile' % (arch.lower(), arch, arch.lower())) for arch in ('IVB', 'HSW', 'SKL')
] + [
    ('ICX unrolled below 1.2%',
     'accuracy {data}/truth/icl_u.csv ICX unroll --init same --clean --max-mape 1.2'),
    ('ICX as a loop below 2.5%',
     'accuracy {data}/truth/icl_l.csv ICX loop --init same --clean --max-mape 2.5'),
]


def run_check(command, tact, data):
    """None if all is well, else what went wrong; a file that is missing raises."""
    words = command.format(data=data).split()
    for word in words:
        if word.startswith(data) and not os.path.exists(word):
            raise FileNotFoundError(word)
    p = subprocess.run([sys.executable, os.path.join(os.path.dirname(data), 'tools/score.py'), *words],
                       capture_output=True, text=True, env=dict(os.environ, TACT=tact), timeout=250)
    said = (p.stdout + p.stderr).strip()
    print(said)
    return None if p.returncode == 0 else said or 'status %d' % p.returncode


def check_coverage(tact, data):
    files = sorted(glob.glob(os.path.join(data, 'bhive/*.csv')))
    if not files:
        raise FileNotFoundError(os.path.join(data, 'bhive'))
    p = subprocess.run([tact, 'archs', '-q', '--coverage', '-a', 'SKL,HSW,ICL', *files],
                       capture_output=True, text=True, timeout=250)
    shares = dict(re.findall(r'^([A-Z]{3}) +([\d.]+)%', p.stdout, re.M))
    print('coverage: ' + ', '.join('%s %s%%' % s for s in shares.items()))
    if len(shares) != 3:
        return 'three lines of figures expected: ' + p.stdout[:200] + p.stderr[:200]
    low = [arch for arch, share in shares.items() if float(share) < COVERAGE]
    return 'below %g%%: %s' % (COVERAGE, ', '.join(low)) if low else None


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--tact', default=os.path.join(ROOT, 'build/tact'))
    parser.add_argument('--shared', default=os.path.join(ROOT, '../shared'))
    args = parser.parse_args()
    data = os.path.join(os.path.normpath(args.shared), 'data')
    passed = failed = skipped = 0
    checks = [(name, lambda command=command: run_check(command, args.tact, data))
              for name, command in CHECKS]
    checks.append(('coverage of real code', lambda: check_coverage(args.tact, data)))
    for name, run in checks:
        if not os.path.exists(os.path.join(data, '../tools/score.py')):
            print('skip: %s: there is no ../shared with its data' % name)
            skipped += 1
            continue
        try:
            problem = run()
        except FileNotFoundError as e:
            print('skip: %s: no %s' % (name, e))
            skipped += 1
            continue
        if problem:
            print('FAIL %s: %s' % (name, problem))
            failed += 1
        else:
            passed += 1
    print('%d passed, %d failed, %d skipped' % (passed, failed, skipped))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
