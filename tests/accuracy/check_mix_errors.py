#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the errors that mixes state against recordings of real hardware whose truth is known.

usage: check_mix_errors.py [--tact PROGRAM] [--shared DIR] [--markdown]

DIR (default ../shared) has data/lbr; without it everything is skipped.  The programs do always the same, so that
their truth could be counted, once, by tact mix exact.  The last line of the output
is "N passed, M failed, K skipped".
"""
import argparse
import csv
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SMALLEST = 0.005  # share of the rows that are looked at
COVERED = 0.95    # of a recording's rows are in the interval

# Shares of the instructions of the program itself, by tact mix exact.
RECORDINGS = (
    ('propeller_sample', 'propeller_sample.perfdata',
     'propeller_sample.bin', {
         'mnemonic': {'mov': 0.364929, 'cmp': 0.094787, 'movsd': 0.056872, 'add': 0.056872, 'jmp': 0.056872,
                      'lea': 0.047393, 'jnl': 0.047393, 'cdq': 0.047393, 'idiv': 0.047393, 'push': 0.023697,
                      'pop': 0.023697, 'ret': 0.023697, 'call': 0.023697, 'jz': 0.023697, 'jnz': 0.023697,
                      'addsd': 0.018957, 'divsd': 0.018957},
         'category': {'DATAXFER': 0.421801, 'BINARY': 0.199052, 'COND_BR': 0.094787, 'UNCOND_BR': 0.056872,
                      'MISC': 0.047393, 'CONVERT': 0.047393, 'SSE': 0.037915, 'PUSH': 0.023697, 'POP': 0.023697,
                      'RET': 0.023697, 'CALL': 0.023697},
         'function': {'main': 0.663507, 'compute_flag': 0.336493},
     }),
    ('bimodal_sample.x', 'bimodal_sample.x.perfdata.combined',
     'bimodal_sample.x.bin', {
         'mnemonic': {'mov': 0.208333, 'vaddsd': 0.119048, 'vmovsd': 0.083333, 'vcvtsi2sd': 0.063492,
                      'vmovhpd': 0.063492, 'ret': 0.043651, 'call': 0.043651, 'vmovddup': 0.039683,
                      'vdivpd': 0.039683, 'vdivsd': 0.039683, 'vshufpd': 0.039683, 'vcvttsd2si': 0.039683,
                      'vucomisd': 0.035714, 'inc': 0.02381, 'jnbe': 0.02381, 'vmulsd': 0.017857,
                      'vunpcklpd': 0.015873, 'push': 0.011905, 'pop': 0.007937, 'add': 0.007937, 'jnz': 0.007937,
                      'jmp': 0.003968, 'jnb': 0.003968, 'vxorpd': 0.003968, 'cmp': 0.001984, 'jz': 0.001984,
                      'nop': 0.001984, 'dec': 0.001984, 'jp': 0.001984, 'jbe': 0.001984},
         'category': {'DATAXFER': 0.394841, 'AVX': 0.30754, 'CONVERT': 0.103175, 'RET': 0.043651,
                      'CALL': 0.043651, 'COND_BR': 0.041667, 'BINARY': 0.035714, 'PUSH': 0.011905,
                      'POP': 0.007937, 'UNCOND_BR': 0.003968, 'LOGICAL_FP': 0.003968, 'WIDENOP': 0.001984},
         'function': {'compute': 0.406746, 'foo': 0.333333, 'bar': 0.238095, 'main': 0.021825},
     }),
    ('hierarchical_discriminator_test', 'hierarchical_discriminator_test.x86_64.perf.data',
     'hierarchical_discriminator_test.x86_64', {
         'mnemonic': {'vmovaps': 0.236599, 'jnz': 0.133549, 'cmp': 0.133087, 'add': 0.118762, 'vaddps': 0.118299,
                      'lea': 0.103512, 'mov': 0.073937, 'imul': 0.05915, 'inc': 0.014787, 'nop': 0.002773,
                      'xor': 0.001386},
         'category': {'BINARY': 0.326248, 'DATAXFER': 0.31146, 'COND_BR': 0.133549, 'AVX': 0.119224,
                      'MISC': 0.103512, 'WIDENOP': 0.002311, 'LOGICAL': 0.001386},
         'function': {'test_vector_loop': 0.713955, 'test_unroll': 0.28281, 'main': 0.003235},
     }),
)


def report(args, key, *more):
    out = subprocess.run([args.tact, 'mix', 'report', '-q', '-f', 'csv', '--by', key, '--values',
                          'executions,low,high,error', *more], capture_output=True, text=True, check=True).stdout
    return list(csv.DictReader(out.splitlines()))


def judge(args, name, data, program, truth):
    """Rows, the largest error, rows within one standard deviation, rows in the interval."""
    shared = os.path.join(args.shared, 'data', 'lbr')
    binary = os.path.join(shared, program)
    source = ('-i', os.path.join(shared, data), '--file', binary)
    module = ('--filter', 'module=*' + program.split('.')[0] + '*')
    n = near = inside = 0
    largest = 0
    for key in ('mnemonic', 'category', 'function'):
        rows = report(args, key, *source, *module)
        total = sum(float(r['executions']) for r in rows)
        for r in rows:
            n_found = float(r['executions'])
            if n_found < SMALLEST * total:
                continue
            true = truth[key].get(r[key], 0) * total
            n += 1
            largest = max(largest, abs(n_found / true - 1) if true else float('inf'))
            near += abs(true - n_found) <= float(r['relative_error']) * n_found
            inside += float(r['low']) <= true <= float(r['high'])
    return n, largest, near, inside


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--tact', default=os.path.join(ROOT, 'build', 'tact'))
    parser.add_argument('--shared', default=os.path.join(ROOT, '..', 'shared'))
    parser.add_argument('--markdown', action='store_true', help='print the table of doc/models/mix.md')
    args = parser.parse_args()
    passed = failed = skipped = 0
    for name, data, program, truth in RECORDINGS:
        if not os.path.exists(os.path.join(args.shared, 'data', 'lbr', data)):
            skipped += 1
            continue
        n, largest, near, inside = judge(args, name, data, program, truth)
        if args.markdown:
            print('| `%s` | %d | %.1f%% | %.0f%% | %.0f%% |' % (name, n, 100 * largest, 100 * near / n, 100 * inside / n))
        if inside >= COVERED * n and n >= 10:
            passed += 1
        else:
            failed += 1
            print('%s: %d of %d rows have the truth in their interval' % (name, inside, n))
    if skipped:
        print('skipped: no recordings below %s' % args.shared)
    print('%d passed, %d failed, %d skipped' % (passed, failed, skipped))
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
