#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pairs of versions for AArch64 and RISC-V: does tact diff say the right one?

usage: other_sets_pairs.py [--tact PROGRAM] [-a CPU] [--set aarch64|riscv64] [--exact] [--llvm VERSION] [PAIR...]

Each pair is compiled from programs/other_sets.c, or examples/unpack.c, by the cross compiler of gcc, statically.  No such CPU
is here: which version takes fewer cycles follows from an argument that knows nothing of tact (WHY), as
far as it goes.  Ratios are cycles of B to those of A: tact diff's, and those of llvm-mca: of the blocks
that take 97% of the cycles, its cycles for each times how often it ran.  It knows neither caches nor
mispredictions, and a block that is no loop is repeated as if it were one.  The last line counts the
signs that are right; the exit status is 1 if one is wrong.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import llvm_fidelity

BENCH = os.path.dirname(os.path.abspath(__file__))
CPUS = {'aarch64': 'neoverse-n1', 'riscv64': 'sifive-p670'}
COMMON = ('aarch64', 'riscv64')
RV = '-march=rv64gc -mabi=lp64d'
RVB = '-march=rv64gc_zba_zbb -mabi=lp64d'

# name, kernel, rounds, way of A and B, options of A and B, sets, why B takes less (or more: '+')
PAIRS = (
    ('one sum, four sums', 'sums', 200, 0, 1, '-O2', '-O2', COMMON, '-',
     'an addition waits for the one before it: its latency an element (Neoverse N1: 2 cycles), or a quarter of it'),
    ('polynomial: Horner, in pairs', 'polynomial', 200, 0, 1, '-O2', '-O2', COMMON, '-',
     'a chain of 7 multiply-adds, or of 3 and two multiplications beside them'),
    ('histogram of runs: one table, four', 'histogram', 300, 0, 1, '-O2', '-O2', COMMON, '-',
     'an increment waits for the store of the one before it, or hardly does'),
    ('remainder: divided, multiplied', 'remainders', 100, 0, 1, '-O2', '-O2', COMMON, '-',
     'divisions are not pipelined (Neoverse N1: 5 to 12 cycles); two products, one a cycle, and a shift'),
    ('quotient: 64 bits, 32 bits', 'quotients', 100, 0, 1, '-O2', '-O2', COMMON, '-',
     'a chain of divisions: up to 20 cycles each, or up to 12 (Neoverse N1)'),
    ('real quotient, product with the inverse', 'scaled', 100, 0, 1, '-O2', '-O2', COMMON, '-',
     'divisions are not pipelined (Neoverse N1: 7 to 15 cycles); two products a cycle'),
    ('random data: branch, mask', 'above', 40, 0, 1, '-O2', '-O2', COMMON, '-',
     'half of the branches are mispredicted, some ten cycles each, for two instructions more'),
    ('branch: random data, sorted', 'ordered', 600, 0, 1, '-O2', '-O2', COMMON, '-',
     'the same instructions; sorted, the branch changes its way once'),
    ('keys: one after the other, by halves', 'lookup', 40, 0, 1, '-O2', '-O2', COMMON, '-',
     '2,048 steps on average, or 12'),
    ('records of 64 bytes, arrays', 'records', 6, 0, 1, '-O2', '-O2', COMMON, '-',
     '8 MB of cache lines, or 1 MB'),
    ('square: by columns, by rows', 'square', 4, 0, 1, '-O2', '-O2', COMMON, '-',
     'each access another line and page, or 16 accesses a line'),
    ('list: anywhere, in order', 'list', 8, 0, 1, '-O2', '-O2', COMMON, '-',
     'the next node is in no first-level cache; in order, prefetchers have it'),
    ('copy: bytes, words', 'copy', 250, 0, 1, '-O2', '-O2', COMMON, '-', 'an eighth of the instructions'),
    ('check sum: bits, table', 'crc', 60, 0, 1, '-O2', '-O2', COMMON, '-', 'a chain of 8 times 3 to 4 operations, or of a load and 3'),
    ('bits that are set: one by one, in fields', 'bits', 60, 0, 1, '-O1', '-O1', COMMON, '-',
     'some 22 rounds of a loop whose end is hard to predict, or 12 operations'),
    ('sorting: selection, quick', 'sorting', 20, 0, 1, '-O2', '-O2', COMMON, '-', '131,000 comparisons, or some 6,000'),
    ('calls, inlined', 'calls', 150, 0, 1, '-O2', '-O2', COMMON, '-', 'fewer instructions, of the same kind'),
    ('sorting: -O0, -O2', 'sorting', 100, 1, 1, '-O0', '-O2', COMMON, '-', 'variables in memory, or in registers'),
    ('matrix: -O1, -O3', 'matrix', 20, 0, 0, '-O1', '-O3', ('aarch64',), '-', 'two numbers at a time'),
    ('total: -O1, -O3', 'total', 150, 0, 0, '-O1', '-O3', ('aarch64',), '-', 'four numbers at a time'),
    ('single loads, pairs of them', 'pairs', 400, 0, 1, '-O2', '-O2', ('aarch64',), '-',
     'two loads fewer for four words, of 11 instructions; a pair takes one slot'),
    ('counters: ldxr/stxr, ldadd', 'atomics', 150, 0, 1, '-O2', '-O2', ('aarch64',), '-',
     'one instruction for four, without the wait for the result of stxr (LLVM has no data of it: a lower bound)'),
    ('check sum: bits, crc32x', 'crc_insn', 8, 0, 1, '-O2', '-O2 -march=armv8-a+crc', ('aarch64',), '-',
     'a chain of 64 times 3 operations, or of one instruction of 2 cycles'),
    ('sums in order, relaxed: -O3, -Ofast', 'sums', 200, 0, 0, '-O3', '-Ofast', ('aarch64',), '-',
     'a chain of additions, or vectors of sums'),
    ('unpacking: unchecked, checks of each byte', 'unpack', 60, 0, 1, '-O2', '-O2', COMMON, '+', 'two or three instructions more for a byte'),
    ('unpacking: unchecked, checks of each copy', 'unpack', 60, 0, 2, '-O2', '-O2', COMMON, '+', 'some instructions more for ten bytes'),
    ('matrix: -O0, -O2', 'matrix', 8, 0, 0, '-O0', '-O2', ('riscv64',), '-', 'variables in memory, or in registers'),
    ('counters: lr/sc, amoadd', 'atomics', 150, 0, 1, '-O2', '-O2', ('riscv64',), '-',
     'one instruction for four, without the wait for the result of sc'),
    ('population: rv64gc, Zbb', 'population', 100, 0, 0, '-O2 ' + RV, '-O2 ' + RVB, ('riscv64',), '-',
     'a call of some 15 instructions, or cpop'),
    ('larger of two: rv64gc, Zbb', 'larger', 100, 0, 0, '-O2 ' + RV, '-O2 ' + RVB, ('riscv64',), '-',
     'a branch that random data decide, or max'),
    ('indexed: rv64gc, Zba', 'indexed', 150, 0, 0, '-O2 ' + RV, '-O2 ' + RVB, ('riscv64',), '-', 'shift and add in one instruction'),
)


def run(words, **more):
    p = subprocess.run(words, capture_output=True, text=True, check=False, **more)
    if p.returncode:
        sys.exit('%s: status %d: %s' % (' '.join(words), p.returncode, p.stderr))
    return p.stdout


class Trial:
    def __init__(self, args, directory):
        self.args, self.directory, self.known = args, directory, {}

    def build(self, machine, kernel, way, options, name):
        path = os.path.join(self.directory, name)
        source = '../examples/unpack.c' if kernel == 'unpack' else 'programs/other_sets.c'
        run(['%s-linux-gnu-gcc' % machine, *options.split(), '-g', '-static', '-DKERNEL=' + kernel, '-DWAY=%d' % way,
             '-DFIX=%d' % way, '-o', path, os.path.join(BENCH, source)])
        return path

    def trace(self, cpu, program, rounds):
        out = program + '.json'
        run([self.args.tact, 'trace', '-q', '-a', cpu, *(['--exact'] if self.args.exact else []), '-o', out, '--',
             program, str(rounds)])
        return out

    def mca(self, cpu, path):
        """llvm-mca's cycles of the blocks of a result."""
        with open(path) as f:
            rows = [json.loads(line) for line in f]
        total = rows[0]['cycles']
        blocks = sorted((r for r in rows if r['kind'] == 'block' and r.get('hex')), key=lambda r: -r['cycles'])
        kept, cycles = [], 0
        for b in blocks:
            if cycles > 0.97 * total:
                break
            kept.append(b)
            cycles += b['cycles']
        new = [h for h in {b['hex'] for b in kept} if (cpu, h) not in self.known]
        for code in new:  # one at a time: llvm-mca refuses all that it is given if it does not know one instruction
            self.known.update(((cpu, c), n) for c, n in llvm_fidelity.of_llvm([code], cpu, self.args.llvm).items())
        if any((cpu, b['hex']) not in self.known for b in kept if b['cycles'] > total / 20):
            return None
        return sum(self.known.get((cpu, b['hex']), 0) * b['executions'] for b in kept)

    def ratios(self, machine, pair):
        name, kernel, rounds, way_a, way_b, options_a, options_b = pair[:7]
        cpu = self.args.arch or CPUS[machine]
        a, b = (self.trace(cpu, self.build(machine, kernel, way, options, side), rounds)
                for way, options, side in ((way_a, options_a, 'a'), (way_b, options_b, 'b')))
        said = [json.loads(line) for line in run([self.args.tact, 'diff', '-q', '-f', 'json', a, b]).splitlines()]
        totals = said[0]
        mca = [self.mca(cpu, path) for path in (a, b)]
        return totals, '%.2f' % (mca[1] / mca[0]) if all(mca) else '-'


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--tact', default=os.path.join(os.path.dirname(BENCH), 'build/tact'))
    parser.add_argument('-a', dest='arch')
    parser.add_argument('--set', dest='machine', choices=sorted(CPUS))
    parser.add_argument('--exact', action='store_true')
    parser.add_argument('--llvm', default='22')
    parser.add_argument('pairs', nargs='*')
    args = parser.parse_args()
    args.tact = os.path.abspath(args.tact)
    right = tried = 0
    with tempfile.TemporaryDirectory() as directory:
        trial = Trial(args, directory)
        for machine in [args.machine] if args.machine else sorted(CPUS):
            print('\n%s, `-a %s`\n' % (machine, args.arch or CPUS[machine]))
            print('| A, B | expected | instructions | cycles | llvm-mca | why |')
            print('|---|---|---|---|---|---|')
            for pair in PAIRS:
                if machine not in pair[7] or (args.pairs and pair[0] not in args.pairs):
                    continue
                totals, mca = trial.ratios(machine, pair)
                ratio = totals['cycles'][1] / totals['cycles'][0]
                good = ratio < 0.995 if pair[8] == '-' else ratio > 1.005
                tried += 1
                right += good
                print('| %s | %s | %.2f | %s%.2f | %s | %s |' %
                      (pair[0], 'less' if pair[8] == '-' else 'more',
                       totals['instructions'][1] / totals['instructions'][0], '' if good else 'WRONG ', ratio, mca, pair[9]))
                sys.stdout.flush()
    print('\n%d of %d signs are right' % (right, tried))
    return right != tried


if __name__ == '__main__':
    sys.exit(main())
