#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that tact tune learns from real measurements, which are not part of the project.

usage: check_tune.py [--tact PROGRAM] [--shared DIR]

DIR (default ../shared) has data/truth; without it everything is skipped.  The last line of the output
is "N passed, M failed, K skipped".  Only some thousand rows are used: doc/models/tune.md has figures of
all of them.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROWS = 5000

# Blocks of DiffTune's section VI-C on Haswell, with the cycles that the paper gives for them.  Our
# machine has a stack engine and zero idioms: learning must leave them right.
STUDIES = [('pushq, testl', '534585c0', 1.01, 0.15), ('xorl', '4531ed', 0.31, 0.20)]


def tune(tact, path, params, *options):
    out = subprocess.run([tact, 'tune', '-q', '-f', 'json', '-o', params] + list(options) + [path],
                         capture_output=True, text=True, check=True).stdout
    scores = {(s['table'], s['part']): s['mape'] for s in json.loads(out)['scores']}
    return {table: scores[table, 'test'] for table in ('default', 'start', 'learned')}


def head(path, to):
    with open(path) as f, open(to, 'w') as g:
        for _, line in zip(range(ROWS + 1), f):
            g.write(line)


def corrupted(tact, work, truth):
    """At least 80% of the accuracy that corrupted tables lose returns."""
    head(os.path.join(truth, 'bhive_skl_u.csv'), work + '/skl.csv')
    e = tune(tact, work + '/skl.csv', work + '/p', '-a', 'SKL', '--model', 'facile', '--corrupt', '30')
    back = (e['start'] - e['learned']) / (e['start'] - e['default'])
    return back >= 0.8, 'default %.4f, start %.4f, learned %.4f: %.0f%% back' % (
        e['default'], e['start'], e['learned'], 100 * back)


def latencies(tact, work, truth):
    """Latencies alone make the plain machine better, and leave the paper's blocks right."""
    head(os.path.join(truth, 'bhive_hsw_u.csv'), work + '/hsw.csv')
    e = tune(tact, work + '/hsw.csv', work + '/p', '-a', 'HSW', '--learn', 'latency', '--memory', 'none')
    if e['learned'] > e['default'] - 0.01:
        return False, 'default %.4f, learned %.4f' % (e['default'], e['learned'])
    for name, code, cycles, tolerance in STUDIES:
        out = subprocess.run([tact, 'predict', '-q', '--tp-only', '-a', 'HSW', '-m', 'unroll', '--model', 'mca',
                              '--mca-params', work + '/p', '-x', code], capture_output=True, text=True, check=True)
        if abs(float(out.stdout) - cycles) > tolerance * cycles:
            return False, '%s: %s instead of %.2f' % (name, out.stdout.strip(), cycles)
    return True, ''


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--tact', default='build/tact')
    parser.add_argument('--shared', default=os.path.join(ROOT, '..', 'shared'))
    args = parser.parse_args()
    truth = os.path.join(args.shared, 'data', 'truth')
    counts = [0, 0, 0]
    for check in (corrupted, latencies):
        if not os.path.isdir(truth):
            print('skip %s: no measurements' % check.__name__)
            counts[2] += 1
            continue
        with tempfile.TemporaryDirectory() as work:
            good, why = check(os.path.abspath(args.tact), work, truth)
        if not good:
            print('FAIL %s: %s' % (check.__doc__, why))
        counts[0 if good else 1] += 1
    print('%d passed, %d failed, %d skipped' % tuple(counts))
    return 1 if counts[1] else 0


if __name__ == '__main__':
    sys.exit(main())
