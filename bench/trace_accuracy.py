#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs, and pairs of their versions: cycles that tact trace predicts, and measured ones.

usage: trace_accuracy.py build DIR [--more FILE]
       trace_accuracy.py measure DIR [--runs N] [-o FILE] [PAIR...]
       trace_accuracy.py predict DIR [-a ARCH] [--measured FILE] [--exact] [--write] [PAIR...]

build compiles the pairs into DIR, and writes DIR/plan.json.  Kernels are linked statically, so that DIR can
be taken to another machine.  measure runs each version natively and writes DIR/measured.json: user time
times the clock, which a chain of multiplications shows, the lowest of N runs in turns, pinned to one CPU, less what
the program takes to start.  predict traces the same programs and compares.  --more adds pairs, one a line:
name | command of A | command of B, run in DIR; {data} is a file of text.

The measured side runs with glibc's AVX-512 routines switched off, because QEMU has none.  --write puts the
figures into doc/accuracy.json and doc/accuracy.md.
"""
import argparse
import glob
import json
import math
import os
import resource
import shutil
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TUNABLES = 'glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512CD,-AVX512DQ,-ERMS'
V3 = '-O3 -march=x86-64-v3'

# name, kernel of pairs.c, rounds to trace, compilers of A and B
COMPILED = (
    ('crc: gcc -O1, -O3', 'crc', 60, 'gcc -O1', 'gcc -O3'),
    ('crc: gcc -O2, clang -O2', 'crc', 60, 'gcc -O2', 'clang-14 -O2'),
    ('matrix: gcc -O2, -O3 -mavx2 -mfma -ffast-math', 'matrix', 250, 'gcc -O2', 'gcc -O3 -mavx2 -mfma -ffast-math'),
    ('matrix: gcc -O2, clang -O2', 'matrix', 250, 'gcc -O2', 'clang-14 -O2'),
    ('count: gcc -O1, -O2', 'count', 250, 'gcc -O1', 'gcc -O2'),
    ('count: gcc -O2, clang %s' % V3, 'count', 250, 'gcc -O2', 'clang-14 ' + V3),
    ('hash: gcc -O2, -O3 -mavx2', 'hash', 400, 'gcc -O2', 'gcc -O3 -mavx2'),
    ('filter: clang -O1, -O2', 'filter', 300, 'clang-14 -O1', 'clang-14 -O2'),
    ('filter: gcc -O2, %s' % V3, 'filter', 300, 'gcc -O2', 'gcc ' + V3),
    ('sort: gcc -O2, clang -O2', 'sort', 600, 'gcc -O2', 'clang-14 -O2'),
    ('sort: gcc -O0, -O2', 'sort', 300, 'gcc -O0', 'gcc -O2'),
    ('polynomial: gcc -O2, -O2 -mfma', 'polynomial', 300, 'gcc -O2', 'gcc -O2 -mfma'),
    ('divide: gcc -O1, clang -O3', 'divide', 300, 'gcc -O1', 'clang-14 -O3'),
)
# name, kernel of ways.c, rounds to trace; A and B are its two ways
WAYS = (
    ('search: branches, conditional moves', 'search', 20),
    ('above: random, sorted', 'above', 30),
    ('interpreter: switch, computed goto', 'interpreter', 200),
    ('sorting: qsort, in place', 'sorting', 8),
    ('calls: random, sorted', 'calls', 60),
    ('numbers: one to nine digits, five', 'numbers', 60),
    ('square: columns, rows', 'square', 4),
    ('records: whole, one member', 'records', 6),
    ('list: random, in order', 'list', 4),
    ('transpose: rows, blocks', 'transpose', 3),
    ('product: columns, rows', 'product', 1),
    ('indices: random, sorted', 'indices', 6),
    ('prefetch: without, with', 'prefetch', 2),
    ('copy: 16 MB, 16 KB', 'copy', 3),
    ('table: 16 MB, 64 KB', 'table', 20),
    ('pages: one word each, close together', 'pages', 40),
)
# ways.c compiled in two ways
WAYS_COMPILED = (
    ('sorting: gcc -O1, -O2', 'sorting', 8, 1, 'gcc -O1', 'gcc -O2'),
    ('sorting: gcc -O2, clang -O2', 'sorting', 8, 1, 'gcc -O2', 'clang-14 -O2'),
    ('interpreter: gcc -O1, clang -O2', 'interpreter', 200, 0, 'gcc -O1', 'clang-14 -O2'),
)
PROGRAMS = (
    ('gzip -6, pigz -p1 -6', 'gzip -6 -c {data}', 'pigz -p1 -6 -c {data}'),
    ('gzip -1, -6', 'gzip -1 -c {data}', 'gzip -6 -c {data}'),
    ('zstd -1, -3', 'zstd --single-thread -q -1 -c {data}', 'zstd --single-thread -q -3 -c {data}'),
    ('bzip2 -1, -9', 'bzip2 -1 -c {data}', 'bzip2 -9 -c {data}'),
    ('xz -0, -2', 'xz -T1 -0 -c {data}', 'xz -T1 -2 -c {data}'),
    ('clang 14, 16: -O0', 'clang-14 -O0 -c {source} -o out.o', 'clang-16 -O0 -c {source} -o out.o'),
    ('clang 14, 19: -O0', 'clang-14 -O0 -c {source} -o out.o', 'clang-19 -O0 -c {source} -o out.o'),
    ('clang 14, 19: -O2', 'clang-14 -O2 -c {source} -o out.o', 'clang-19 -O2 -c {source} -o out.o'),
)
TEXT_SIZE = 2000000
LEAST = 0.25  # seconds of a measured run of a kernel


# ---- build ----

def write_inputs(directory):
    sources = sorted(glob.glob(os.path.join(ROOT, 'lib/*/*.c')))
    with open(os.path.join(directory, 'text'), 'wb') as f:
        f.write(b''.join(open(p, 'rb').read() for p in sources)[:TEXT_SIZE])
    shutil.copy(os.path.join(ROOT, 'bench/ways.c'), os.path.join(directory, 'source.c'))
    with open(os.path.join(directory, 'spin.c'), 'w') as f:
        f.write('#include <stdlib.h>\nint main(int c, char **v) { for (long i = atol(v[c - 1]); i > 0; i--)\n'
                '__asm__ volatile(".rept 1000\\n\\timul %%rax, %%rax\\n.endr" : : : "rax"); return 0; }\n')
    subprocess.run(['gcc', '-O1', '-static', '-o', 'spin', 'spin.c'], cwd=directory, check=True)


def compile_kernel(directory, name, command, source, defines):
    subprocess.run([*command.split(), '-static', *defines, '-o', name, os.path.join(ROOT, 'bench', source)], cwd=directory,
                   check=True, stderr=subprocess.DEVNULL)
    return './' + name


def kernel_pair(directory, number, name, rounds, versions):
    """versions: (compiler, source, defines) of A and B."""
    words = []
    for side, (command, source, defines) in zip('ab', versions):
        if not shutil.which(command.split()[0]):
            print('skip %s: there is no %s' % (name, command.split()[0]), file=sys.stderr)
            return None
        words.append(compile_kernel(directory, 'k%d%s' % (number, side), command, source, defines))
    return {'pair': name, 'rounds': rounds, 'commands': words}


def kernel_pairs(directory):
    number = 0
    for name, kernel, rounds, a, b in COMPILED:
        number += 1
        yield kernel_pair(directory, number, name, rounds, [(c, 'pairs.c', ['-DKERNEL=' + kernel]) for c in (a, b)])
    for name, kernel, rounds in WAYS:
        number += 1
        yield kernel_pair(directory, number, name, rounds,
                          [('gcc -O2', 'ways.c', ['-DKERNEL=' + kernel, '-DWAY=%d' % w]) for w in (0, 1)])
    for name, kernel, rounds, way, a, b in WAYS_COMPILED:
        number += 1
        yield kernel_pair(directory, number, name, rounds,
                          [(c, 'ways.c', ['-DKERNEL=' + kernel, '-DWAY=%d' % way]) for c in (a, b)])


def program_pairs(more):
    lines = [tuple(part.strip() for part in line.split('|')) for line in open(more) if line.strip()] if more else []
    for name, a, b in (*PROGRAMS, *lines):
        commands = [c.replace('{data}', 'text').replace('{source}', '-DKERNEL=list source.c') for c in (a, b)]
        missing = [c.split()[0] for c in commands if not shutil.which(c.split()[0])]
        if missing:
            print('skip %s: there is no %s' % (name, missing[0]), file=sys.stderr)
        else:
            yield {'pair': name, 'rounds': 0, 'commands': commands}


def build(args):
    os.makedirs(args.directory, exist_ok=True)
    write_inputs(args.directory)
    plan = [p for p in kernel_pairs(args.directory) if p] + list(program_pairs(args.more))
    with open(os.path.join(args.directory, 'plan.json'), 'w') as f:
        json.dump(plan, f, indent=1)
    print('%d pairs in %s' % (len(plan), args.directory))


# ---- measure ----

def chosen(args):
    plan = json.load(open(os.path.join(args.directory, 'plan.json')))
    return [p for p in plan if not args.pairs or any(w in p['pair'] for w in args.pairs)]


def user_seconds(directory, words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, cwd=directory, env=dict(os.environ, GLIBC_TUNABLES=TUNABLES), stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime


def clock(directory):
    """Cycles a second, by a chain of multiplications: three cycles each on every core since 2008."""
    return 3e8 / min(sum(user_seconds(directory, ['./spin', '100000'])) for _ in range(2))


class Side:
    """One version that is measured."""

    def __init__(self, directory, command, rounds):
        self.directory, self.words = directory, command.split()
        self.is_kernel, self.rounds = rounds > 0, rounds
        self.lowest, self.start, self.user, self.system = math.inf, math.inf, 0, 0
        while self.is_kernel and sum(user_seconds(directory, self.words + [str(self.rounds)])) < LEAST:
            self.rounds *= 4

    def run(self):
        hertz = clock(self.directory)
        user, system = user_seconds(self.directory, self.words + ([str(self.rounds)] if self.is_kernel else []))
        self.user, self.system = self.user + user, self.system + system
        self.lowest = min(self.lowest, (user + system) * hertz)
        if self.is_kernel:
            self.start = min(self.start, sum(user_seconds(self.directory, self.words + ['0'])) * hertz)

    def cycles(self):
        """Of a round, or of the program: its user time.  The kernel tells user from system time by samples, so their
        share comes from all runs."""
        if self.is_kernel:
            return (self.lowest - self.start) / self.rounds
        return self.lowest * self.user / (self.user + self.system)


def model_name():
    for line in open('/proc/cpuinfo'):
        if line.startswith('model name'):
            return line.split(':')[1].strip()
    return 'an unknown CPU'


def measure(args):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    rows = {}
    for pair in chosen(args):
        missing = [c.split()[0] for c in pair['commands']
                   if not shutil.which(os.path.join(args.directory, c.split()[0]) if c.startswith('./') else c.split()[0])]
        if missing:
            print('skip %s: there is no %s' % (pair['pair'], missing[0]), file=sys.stderr)
            continue
        sides = [Side(args.directory, c, pair['rounds']) for c in pair['commands']]
        for _ in range(args.runs):
            for side in sides:
                side.run()
        rows[pair['pair']] = [side.cycles() for side in sides]
        print('%-50s %12.0f %12.0f  %.3f' % (pair['pair'], *rows[pair['pair']], rows[pair['pair']][1] / rows[pair['pair']][0]),
              flush=True)
    out = args.output or os.path.join(args.directory, 'measured.json')
    with open(out, 'w') as f:
        json.dump({'machine': model_name(), 'runs': args.runs, 'cycles': rows}, f, indent=1)


# ---- predict ----

def trace(args, words, options=()):
    out = os.path.join(args.directory, 'result.%d.json' % os.getpid())
    subprocess.run([args.tact, 'trace', '-q', '-a', args.arch, *options, '-o', out, '--', *words], cwd=args.directory,
                   stdout=subprocess.DEVNULL, check=True)
    result = json.loads(open(out).readline())
    os.unlink(out)
    return result


def predicted(args, command, rounds, options=()):
    """Returns cycles of a round or of the program, and millions of instructions that were traced."""
    words = command.split()
    if not rounds:
        whole = trace(args, words, options)
        return whole['cycles'], whole['instructions'] / 1e6
    whole, start = (trace(args, words + [str(n)], options) for n in (rounds, 0))
    return (whole['cycles'] - start['cycles']) / rounds, whole['instructions'] / 1e6


def geometric(errors):
    """Mean error of ratios: exp of the mean |log|, less one."""
    return 100 * (math.exp(statistics.mean(errors)) - 1) if errors else 0


def off(a, b):
    return round(100 * (a / b - 1), 1)


def predict(args):
    args.tact = os.path.abspath(args.tact)
    measured = json.load(open(args.measured or os.path.join(args.directory, 'measured.json')))
    rows, ratios, absolutes = [], [], []
    for pair in chosen(args):
        if pair['pair'] not in measured['cycles']:
            continue
        a, b = measured['cycles'][pair['pair']]
        sides = [predicted(args, c, pair['rounds']) for c in pair['commands']]
        row = {'pair': pair['pair'], 'million': [round(s[1], 1) for s in sides], 'measured': round(b / a, 3),
               'predicted': round(sides[1][0] / sides[0][0], 3), 'off': off(sides[1][0] / sides[0][0], b / a),
               'each': [off(sides[0][0], a), off(sides[1][0], b)]}
        if args.exact:
            exact = [predicted(args, c, pair['rounds'], ['--exact']) for c in pair['commands']]
            row['apart'] = max(abs(off(s[0], e[0])) for s, e in zip(sides, exact))
        ratios.append(abs(math.log(row['predicted'] / row['measured'])))
        absolutes += [abs(math.log(sides[0][0] / a)), abs(math.log(sides[1][0] / b))]
        rows.append(row)
        print('%-48s measured %8.3f predicted %8.3f off %+6.1f%%  A %+.1f%% B %+.1f%%%s' % (
            row['pair'], row['measured'], row['predicted'], row['off'], *row['each'],
            '  apart %.2f%%' % row['apart'] if args.exact else ''), flush=True)
    wrong = [r['pair'] for r in rows if abs(r['measured'] - 1) > 0.03 and (r['measured'] - 1) * (r['predicted'] - 1) <= 0]
    section = {'arch': args.arch, 'machine': measured['machine'], 'runs': measured['runs'], 'pairs': rows,
               'mean': round(geometric(ratios), 1), 'absolute_mean': round(geometric(absolutes), 1), 'wrong': wrong}
    print('%d pairs: geometric mean error of the ratio %.1f%%, of the cycles %.1f%%; wrong direction: %s' % (
        len(rows), section['mean'], section['absolute_mean'], ', '.join(wrong) or 'none'))
    if args.write:
        import write_accuracy  # pylint: disable=import-outside-toplevel
        write_accuracy.save_pairs(section)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('what', choices=('build', 'measure', 'predict'))
    parser.add_argument('directory')
    parser.add_argument('--tact', default=os.path.join(ROOT, 'build/tact'))
    parser.add_argument('-a', dest='arch', default='native')
    parser.add_argument('--runs', type=int, default=7)
    parser.add_argument('--more')
    parser.add_argument('--measured')
    parser.add_argument('--exact', action='store_true')
    parser.add_argument('--write', action='store_true')
    parser.add_argument('-o', dest='output')
    parser.add_argument('pairs', nargs='*')
    args = parser.parse_intermixed_args()
    args.directory = os.path.abspath(args.directory)
    {'build': build, 'measure': measure, 'predict': predict}[args.what](args)
    return 0


if __name__ == '__main__':
    sys.exit(main())
