#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that stalls are part of the cycles, in every part of a program.

usage: check_stalls.py [--tact PROGRAM]

Some programs are traced for several CPUs, with caches and without, sampled and not.  In the totals and in
every function, line and block, no stall is negative, and together they do not exceed the cycles.  The last
line of the output is "N passed, M failed, K skipped".
"""
import argparse
import json
import shutil
import subprocess
import sys
import tempfile

PROGRAMS = (('true',), ('ls', '/'), ('sort', '/etc/services', '/etc/passwd'), ('gzip', '-c', '/bin/true'),
            ('python3', '-S', '-c', 'print(sum(i % 7 for i in range(20000)))'))
OPTIONS = ((), ('--exact',), ('--core',), ('--core', '--exact'))
CPUS = ('SKL', 'GLC', 'ZEN4')


def faults(text):
    """Yields what is wrong with the result of a run."""
    for line in text.splitlines():
        row = json.loads(line)
        stalls = row.get('stalls')
        if stalls is None:
            continue
        name = '%s %s' % (row['kind'], row.get('function', ''))
        if min(stalls.values()) < 0:
            yield '%s: a stall is negative' % name
        # Numbers are written with six digits.
        if sum(stalls.values()) > 1.0001 * row['cycles'] + 0.01:
            yield '%s: %.1f stalled of %.1f cycles' % (name, sum(stalls.values()), row['cycles'])


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--tact', default='build/tact')
    args = parser.parse_args()
    passed = failed = skipped = 0
    for program in PROGRAMS:
        path = shutil.which(program[0])
        for options in OPTIONS:
            if not path or (program[0] == 'python3' and '--exact' in options):
                skipped += 1
                continue
            cpu = CPUS[(passed + failed) % len(CPUS)]
            with tempfile.NamedTemporaryFile('r', suffix='.json') as out:
                run = subprocess.run([args.tact, 'trace', '-q', '-a', cpu, '-o', out.name, *options, '--', path,
                                      *program[1:]], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                     timeout=600)
                text = out.read()
            if run.returncode == 3:
                skipped += 1
                continue
            wrong = list(faults(text)) if run.returncode == 0 else [run.stderr.decode(errors='replace').strip()]
            for what in wrong[:5]:
                print('FAIL %s, %s %s: %s' % (' '.join(program), cpu, ' '.join(options), what))
            failed += bool(wrong)
            passed += not wrong
    print('%d passed, %d failed, %d skipped' % (passed, failed, skipped))
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
