#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every command with threads gives the same results with four threads as with one.

usage: check_threads.py [--tact PROGRAM] [--slow]

If tact is built with ThreadSanitizer (make tsan), a race is a failure as well; --slow then uses
fewer blocks.  The last line of the output is "N passed, M failed, K skipped".
"""
import argparse
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SAMPLE = os.path.join(ROOT, 'tests/accuracy/sample.csv')

# Commands; {sample} is a file of measured blocks, {out} one that is written and compared as well.
COMMANDS = [
    'predict -q -a all -m loop -f csv {sample}',
    'predict -q -a ICX,ZEN4 -f json {sample}',
    'predict -q -a SKL --model sim -f csv {sample}',
    'predict -q -a SKL --model mca -f csv {sample}',
    'simulate -q -a SKL -f csv {sample}',
    'evaluate -q -f csv --model facile,sim,mca --bottlenecks SNB,RKL {sample}',
    'classify -q --train {out} --topics 3 --starts 4 {sample}',
    'tune -q -f csv -a ICX --init same --seed 1 --from {sample} -o {out}',
    'tune -q -f csv -a ICX --init same --seed 1 --model facile --budget 20 --from {sample} -o {out}',
    'tune -q -f csv -a ICX --init same --method surrogate --random-start --embedding 4 --hidden 8'
    ' --samples 1 --epochs 1 --table-epochs 1 --rounds 1 --from {sample} -o {out}',
    'hunt -q -f csv -a SKL --against sim --blocks 1000 {sample}',
    'hunt -q -f csv -a ICX --model sim --relative 3 --share 30 --truth {sample}',
]


def run(tact, command, jobs, sample, out):
    words = command.format(sample=sample, out=out).split()
    p = subprocess.run([tact, *words, '-j', str(jobs)], capture_output=True, timeout=900)
    written = b''
    if os.path.exists(out):
        with open(out, 'rb') as f:
            written = f.read()
        os.remove(out)
    return p.returncode, p.stdout, written, p.stderr.decode(errors='replace')


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--tact', default=os.path.join(ROOT, 'build/tact'))
    parser.add_argument('--slow', action='store_true')
    args = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix='tact-threads-') as directory:
        out, sample = os.path.join(directory, 'out'), os.path.join(directory, 'sample.csv')
        with open(SAMPLE) as f, open(sample, 'w') as g:
            g.writelines(line for i, line in enumerate(f) if not args.slow or i % 6 == 0)
        for command in COMMANDS:
            one, four = (run(args.tact, command, jobs, sample, out) for jobs in (1, 4))
            problems = ['status %d: %s' % (r[0], r[3][-2000:]) for r in (one, four)
                        if r[0] or 'Sanitizer' in r[3]]
            if not one[1]:
                problems.append('it printed nothing')
            if one[1:3] != four[1:3]:
                problems.append('four threads give something else than one')
            passed += not problems
            failed += bool(problems)
            for problem in problems:
                print('FAIL tact %s: %s' % (command, problem))
    print('%d passed, %d failed, 0 skipped' % (passed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
