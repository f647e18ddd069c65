#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that cycles from samples are those of --exact.

usage: check_memo.py [--tact PROGRAM]

Two quick recordings; bench/memo_error.py has more, and longer ones.  Both must agree within 1%, or three standard
errors, none of them above 1%: they are short.  A third one is skimmed, and must agree with --thorough as closely, with
standard errors of up to 0.6%.  The last line of the output is "N passed, M failed, K skipped".
"""
import argparse
import math
import os
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, 'bench'))
import memo_error  # noqa: E402


# A table of counters, and a branch that depends on random data: 50 million instructions.
LONG = '''#include <stdint.h>
static uint32_t table[1 << 18];
int main(void) {
	uint64_t random = 1, sum = 0;
	for (int i = 0; i < 3500000; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		uint32_t *at = &table[random >> (i & 1 ? 46 : 52)];
		if (++*at & 1 && random >> 60 < 5) sum += *at; else sum ^= random;
	}
	return sum == 1;
}
'''


def check_skimmed(tact, work):
    """A program that stays in its code is skimmed; what is counted must not change, and cycles hardly."""
    recording, source = os.path.join(work, 'long.tct'), os.path.join(work, 'long.c')
    with open(source, 'w') as f:
        f.write(LONG)
    subprocess.run(['gcc', '-O2', '-o', source[:-2], source], check=True)
    subprocess.run([tact, 'trace', '-q', '--record', recording, '--', source[:-2]], check=True)
    skimmed, thorough = (memo_error.cycles(tact, 'ZEN4', recording, *o) for o in ([], ['--thorough']))
    off = abs(skimmed['cycles'] - thorough['cycles']) / thorough['cycles']
    same = all(skimmed[key] == thorough[key]
               for key in ('instructions', 'executions', 'accesses', 'executed_branches', 'page_walks'))
    # Others fill the last level by the cycles of the run, which are estimates.
    same = same and all(abs(a - b) <= 0.01 * b for a, b in zip(skimmed['misses'], thorough['misses']))
    followed = skimmed['followed_branches'] / skimmed['executed_branches']
    wrong = abs(skimmed['mispredicted'] - thorough['mispredicted']) / thorough['mispredicted']
    errors = [run['error'] / run['cycles'] for run in (skimmed, thorough)]
    close = off < max(0.01, 3 * math.hypot(*errors)) and max(errors) < 0.006
    good = same and close and followed < 0.9 and wrong < 0.1 and \
        thorough['followed_branches'] == thorough['executed_branches']
    print('%s skimmed: %.2f%% off, %.0f%% of the branches followed, mispredictions %.1f%% off%s' % (
        'ok' if good else 'not ok', 100 * off, 100 * followed, 100 * wrong, '' if same else ', counts differ'))
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--tact', default=os.path.join(TOP, 'build', 'tact'))
    args = parser.parse_args()
    if not shutil.which('qemu-x86_64') or not shutil.which('gcc'):
        print('skip memo: QEMU and gcc are needed')
        print('0 passed, 0 failed, 1 skipped')
        return 0
    passed = failed = 0
    with tempfile.TemporaryDirectory() as work:
        commands = {name: command for name, _, command in memo_error.kernels(work)}
        for name, command in (('chase', [commands['chase 1M'][0], '0x40000', '600000']),
                              ('matrix', commands['matrix'])):
            recording = os.path.join(work, 'run.tct')
            subprocess.run([args.tact, 'trace', '-q', '--record', recording, '--', *command], check=True,
                           stdout=subprocess.DEVNULL)
            sampled, exact = (memo_error.cycles(args.tact, 'GLC', recording, *o) for o in ([], ['--exact']))
            off = abs(sampled['cycles'] - exact['cycles'])
            error = sampled.get('error', 0)
            good = off <= max(0.01 * exact['cycles'], 3 * error) and error < 0.01 * exact['cycles']
            print('%s memo of %s: %.2f%% off' % ('ok' if good else 'not ok', name, 100 * off / exact['cycles']))
            passed += good
            failed += not good
        good = check_skimmed(args.tact, work)
        passed += good
        failed += not good
    print('%d passed, %d failed, 0 skipped' % (passed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
