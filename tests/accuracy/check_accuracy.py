#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks fidelity, accuracy and coverage on data that are not part of the project.

usage: check_accuracy.py [--tact PROGRAM] [--shared DIR]

DIR (default ../shared) has tools/score.py and data/; without it everything is skipped.  The
last line of the output is "N passed, M failed, K skipped".
"""
import argparse
import csv
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


# Files of measured rows, their CPU, and what registers held at entry.
TRUTH = (('bhive_ivb_u', 'IVB', 'stack'), ('bhive_hsw_u', 'HSW', 'stack'),
         ('bhive_skl_u', 'SKL', 'stack'), ('icl_u', 'ICX', 'same'), ('icl_l', 'ICX', 'same'))
SECONDS = 3  # for all measured rows, on one core


def check_evaluate(tact, data):
    """All measured rows in one run: fast enough, and with the error of tact predict."""
    files = {name: os.path.join(data, 'truth', name + '.csv') for name, _, _ in TRUTH}
    for path in files.values():
        if not os.path.exists(path):
            raise FileNotFoundError(path)
    words = [w for name, arch, init in TRUTH for w in ('-a', arch, '--init', init, files[name])]
    before = os.times()
    p = subprocess.run([tact, 'evaluate', '-q', '-j', '1', '-f', 'csv', *words],
                       capture_output=True, text=True, timeout=250)
    after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    rows = [r for r in csv.DictReader(p.stdout.splitlines()) if r['by'] == 'all']
    total = sum(int(r['blocks']) + int(r['failed']) for r in rows if r['arch'] == 'all')
    print('evaluate: %d rows in %.2f s' % (total, seconds))
    if p.returncode or seconds > SECONDS or total < 100000:
        return '%.2f s, %d rows, status %d: %s' % (seconds, total, p.returncode, p.stderr[:200])
    p = subprocess.run([tact, 'predict', '-q', '-a', 'SKL', '-m', 'unroll', '-f', 'csv',
                        files['bhive_skl_u']], capture_output=True, text=True, timeout=250)
    with open(files['bhive_skl_u'], newline='') as f:
        errors = [abs(float(x['cycles_per_iteration']) / float(m['cycles']) - 1)
                  for m, x in zip(csv.DictReader(f), csv.DictReader(p.stdout.splitlines()))
                  if x['status'] == 'ok' and float(x['coverage']) == 1]
    mape = next(float(r['mape']) for r in rows if r['arch'] == 'SKL')
    print('evaluate: MAPE on SKL %.4f%%, by hand %.4f%%' % (100 * mape, 100 * sum(errors) / len(errors)))
    # predict prints four digits
    return None if abs(mape - sum(errors) / len(errors)) < 2e-5 else 'the means differ'


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
    checks.append(('evaluate: all measured rows', lambda: check_evaluate(args.tact, data)))
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
