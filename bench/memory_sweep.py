#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sweeps over memory, branches and code: the cycles that tact trace predicts, and the measured ones.

usage: memory_sweep.py [--tact PROGRAM] [-a ARCH] [--quick] [--kind KIND,...] [--size A-B]
                       [--measured FILE | --save FILE] [--only-measure] [--params FILE] [--core]

Each point is one run of bench/programs/sweep_point.c: KIND says what is done over SIZE bytes (or branches, jumps,
functions), STEP how.  It runs natively, which gives core cycles without counters, and under tact trace.  What is printed
is cycles for one operation: a load, a byte, a branch, an instruction, a jump, a call.

The native run checks the prediction only if this machine's CPU is ARCH (default: this one).  --save keeps what was
measured; --measured takes it from such a file, so that points of another machine can be checked anywhere.

Fails if a point is off by more than 25%, or all points by more than 10% on average.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
K, M = 1 << 10, 1 << 20
POINT_LIMIT, MEAN_LIMIT = 0.25, 0.10

# Also sizes at which a cache is just full: of 32 KiB, 48 KiB, 512 KiB, 1 MiB, 2 MiB.
SIZES = (4 * K, 16 * K, 24 * K, 32 * K, 48 * K, 64 * K, 96 * K, 192 * K, 512 * K, M, 3 * M // 2, 2 * M, 3 * M,
         4 * M, 8 * M, 16 * M, 32 * M, 64 * M, 128 * M, 256 * M)
SOME_SIZES = (16 * K, 48 * K, 192 * K, M, 2 * M, 4 * M, 16 * M, 64 * M, 256 * M)
QUICK_SIZES = (16 * K, 192 * K, 4 * M, 64 * M)
SHORT = (1, 8, 32, 64, 128, 256, 512, K, 3 * K)
QUICK_SHORT = (8, 128, 512, 3 * K)
# kind: (steps, sizes, sizes of --quick)
SWEEPS = {
    'chase': ((64,), SIZES, QUICK_SIZES),
    'pages': ((4160,), tuple(4160 * n for n in (16, 48, 64, 128, 256, 1024, 1536, 4096, 16384)), (4160 * 128, 4160 * 4096)),
    'chases': ((4, 8), SOME_SIZES, QUICK_SIZES),
    'random': ((64,), SIZES, QUICK_SIZES),
    'rmw': ((64,), SOME_SIZES, (192 * K, 4 * M)),
    'read': ((64,), SIZES, QUICK_SIZES),
    'write': ((64,), SIZES, QUICK_SIZES),
    'copy': ((64,), SIZES, QUICK_SIZES),
    'stream': ((64,), (96 * K, 192 * K, M, 4 * M, 8 * M, 16 * M, 64 * M, 128 * M, 256 * M), (4 * M,)),
    'stride': ((64, 128, 192, 256, 512, 1024, 2048, 4096, 4160, 8192), (24 * K, 192 * K, M, 4 * M, 16 * M, 64 * M), ()),
    'stride64': ((256, 4160), (), (192 * K, 16 * M)),
    'column': ((1024, 1088, 2048, 8192, 8256, 16384), (M, 4 * M, 16 * M), ()),
    'alias': ((0, 8, 64, 2048), (16 * K,), (16 * K,)),
    'movs': ((0,), SHORT + SIZES, QUICK_SHORT + QUICK_SIZES),
    'movsq': ((0,), SHORT[1:], (128,)),
    'stos': ((0,), SHORT + SIZES, QUICK_SHORT + QUICK_SIZES),
    'stosq': ((0,), SHORT[1:], (128,)),
    'branch': ((50,), (16, 256, 2048, 4096, 16384, 65536, 1000000), (256, 4096, 1000000)),
    'chance': ((5, 20), (1000000,), ()),
    'code': ((4,), (K, 4 * K, 16 * K, 32 * K, 64 * K, 128 * K, 512 * K, M, 4 * M), (16 * K, 128 * K, M)),
    'jumps': ((16, 64), (64, 512, 1024, 4096, 8192, 16384), (512, 8192)),
    'functions': ((64, 256), (64, 512, 2048, 8192), (512, 8192)),
    'depth': ((64,), (8, 16, 24, 32, 48), (16, 48)),
}
KIND_OF = {'pages': 'chase', 'stride64': 'stride', 'chance': 'branch'}  # what the program calls some of them
BY_DIFFERENCE = ('branch', 'code', 'jumps', 'functions', 'depth')


def points(args):
    """(kind, size, step) of all points that are wanted."""
    for name, (steps, sizes, quick) in SWEEPS.items():
        kind = KIND_OF.get(name, name)
        if args.kind and kind not in args.kind and name not in args.kind:
            continue
        for step in steps:
            for size in quick if args.quick else sizes:
                if kind == 'column' and size != 4 * M and step not in (1024, 1088, 16384):
                    continue
                if args.size[0] <= size <= args.size[1]:
                    yield kind, size, step


def operations(kind, size, step, is_traced):
    """As many as show a steady state, and not so many that a trace takes long."""
    if kind in ('read', 'write', 'copy', 'stream'):
        return min(max(size, M), 16 * M)
    if kind in ('movs', 'movsq', 'stos', 'stosq'):
        return max(size * 200, 256 * K) if size < 64 * K else max(size, M)
    if kind == 'column':
        return size // 8
    if kind in ('chase', 'chases'):
        return 16000 if size > 4 * M else 60000 * (1 if is_traced else 4)
    if kind == 'branch':
        return 400000
    if kind in BY_DIFFERENCE:
        return max(60000, size // 4 if kind == 'code' else 2 * size)
    return 100000


def build(directory):
    path = os.path.join(directory, 'memory')
    subprocess.run(['gcc', '-O2', '-o', path, os.path.join(ROOT, 'bench/programs/sweep_point.c')], check=True)
    return path


def native(program, point, rounds):
    words = [program, *map(str, point), str(operations(*point, False)), str(rounds)]
    value = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout.split(',')[3]
    return None if value == '-' else float(value)


def trace(args, program, point, rounds):
    """Cycles of all code and of the measured function, and the operations of a round."""
    with tempfile.TemporaryDirectory() as directory:
        out = os.path.join(directory, 'r.json')
        words = [args.tact, 'trace', '-q', '-a', args.arch, *args.options, '--from', 'begin', '--exclude', 'chain_ticks',
                 '--exclude', 'ticks_per_cycle', '-o', out, '--', program, *map(str, point),
                 str(operations(*point, True)), str(rounds)]
        text = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, timeout=args.timeout).stdout
        rows = [json.loads(line) for line in open(out)]
    whole = next(r['cycles'] for r in rows if r['kind'] == 'totals')
    part = sum(r['cycles'] for r in rows if r['kind'] == 'function' and r['function'] == 'measured_' + point[0])
    return whole, part, float(text.split(',')[4])


def predict(args, program, point):
    whole, part, ops = trace(args, program, point, 1)
    if point[0] in BY_DIFFERENCE:
        part = trace(args, program, point, 2)[0] - whole
    return part / ops


def read_measured(path):
    """Lines KIND,SIZE,STEP,CYCLES[,...]; the lowest of each point."""
    found = {}
    for line in open(path):
        words = line.split(',')
        if line.startswith('#') or len(words) < 4 or words[3].strip() == '-':
            continue
        key = words[0], int(words[1]), int(words[2])
        found[key] = min(float(words[3]), found.get(key, math.inf))
    return found


def show_size(n):
    for unit, text in ((M, ' MiB'), (K, ' KiB')):
        if n >= unit and n % unit == 0:
            return '%d%s' % (n // unit, text)
    return str(n)


def summary(name, errors):
    mean = sum(errors) / len(errors)
    print('%-10s %4d points, mean error %5.1f%%, largest %6.1f%%' % (name, len(errors), 100 * mean, 100 * max(errors)))
    return mean


def judge(args, errors):
    """Prints means and every point that is off; returns whether the gate fails."""
    print()
    by_kind = {}
    for point, error in errors.items():
        by_kind.setdefault(point[0], []).append(abs(error))
    for kind, of_kind in by_kind.items():
        summary(kind, of_kind)
    mean = summary('all', [abs(e) for e in errors.values()])
    far = {point: e for point, e in errors.items() if abs(e) > POINT_LIMIT}
    for (kind, size, step), error in far.items():
        print('off: %s %s %d %+.0f%%' % (kind, show_size(size), step, 100 * error))
    passes = not far and mean <= MEAN_LIMIT
    print('%s on %s: %d of %d points are off by more than %.0f%%, the mean is %.1f%% (may be %.0f%%)' %
          ('PASSED' if passes else 'FAILED', args.arch, len(far), len(errors), 100 * POINT_LIMIT, 100 * mean,
           100 * MEAN_LIMIT))
    return 0 if passes else 1


def main():
    p = argparse.ArgumentParser(usage=__doc__.split('\n\n')[1][7:], description=__doc__.split('\n')[0])
    p.add_argument('--tact', default=os.path.join(ROOT, 'build/tact'))
    p.add_argument('-a', '--arch', default='native')
    p.add_argument('--quick', action='store_true', help='some points of each kind')
    p.add_argument('--kind', type=lambda s: s.split(','), help='only these: ' + ' '.join(SWEEPS))
    p.add_argument('--size', default='0-inf', help='only sizes from A to B bytes')
    p.add_argument('--measured', help='a file with measured points')
    p.add_argument('--save', help='write measured points there')
    p.add_argument('--only-measure', action='store_true', help='do not predict')
    p.add_argument('--params', help='parameters of the microarchitecture, for tact')
    p.add_argument('--core', action='store_true', help='the core alone, without caches and predictor')
    p.add_argument('--rounds', type=int, default=15, help='native runs of a point, of which the fastest counts')
    p.add_argument('--timeout', type=float, default=300, help='seconds for a trace')
    args = p.parse_args()
    args.size = [float(x) for x in args.size.split('-')]
    args.options = ([] if args.core else ['--full']) + (['--params', args.params] if args.params else [])
    known = read_measured(args.measured) if args.measured else None
    errors, refused = {}, 0
    with tempfile.TemporaryDirectory() as directory:
        program = build(directory)
        save = open(args.save, 'a') if args.save else None
        for point in points(args):
            measured = known.get(point) if known is not None else native(program, point, args.rounds)
            if save and measured:
                print('%s,%d,%d,%.4f' % (*point, measured), file=save, flush=True)
            if not measured:
                refused += 1
                continue
            if args.only_measure:
                print('%-10s %10s %6d %10.4g' % (point[0], show_size(point[1]), point[2], measured), flush=True)
                continue
            predicted = predict(args, program, point)
            error = errors[point] = predicted / measured - 1
            print('%-10s %10s %6d  measured %10.4g  predicted %10.4g  %+7.1f%%%s' %
                  (point[0], show_size(point[1]), point[2], measured, predicted, 100 * error,
                   '  *' if abs(error) > POINT_LIMIT else ''), flush=True)
    if refused:
        print('%d points were not measured%s' % (refused, '' if known is not None else ': the clock wavered'))
    if not errors:
        return 0 if args.only_measure else 2
    return judge(args, errors)


if __name__ == '__main__':
    sys.exit(main())
