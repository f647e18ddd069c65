#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs, and pairs of their versions: cycles that tact trace predicts, and measured ones.

usage: trace_accuracy.py build DIR [--more FILE | --only FILE]
       trace_accuracy.py measure DIR [--runs N] [-o FILE] [PAIR...]
       trace_accuracy.py predict DIR [-a ARCH] [--measured FILE] [--exact] [--kept] [--write [--releases] [--note FILE]]
                         [PAIR...]

build compiles the pairs into DIR, and writes DIR/plan.json.  Kernels are linked statically, so that DIR can
be taken to another machine.  measure runs each version natively and adds a set of runs to DIR/measured.json: user
time times the clock, which a chain of multiplications shows, of N runs in turns, each pinned to a CPU whose core is
quiet if one is, less what a kernel takes to start.  The lowest run of all sets counts; sets of different times show how far it can be trusted.
predict traces the same programs and compares; what it predicts is also in DIR/predicted.ARCH.json, from where --kept
takes what is there.  --more adds pairs, one a line: name | command of A | command of B, run in DIR; {data} is a file
of text; lines with # are ignored.  --only has only these.

The measured side runs with glibc's AVX-512 routines switched off, because QEMU has none.  --write puts the
figures into doc/accuracy.json and doc/accuracy.md, --releases into their section on releases, with what --note says.
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
TUNABLES = 'glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512CD,-AVX512DQ,-ERMS,-RTM,-Prefer_No_VZEROUPPER'
# what both sides of a comparison run with: the same routines, the same order of hashed keys
ENVIRONMENT = {'GLIBC_TUNABLES': TUNABLES, 'PYTHONHASHSEED': '0', 'PERL_HASH_SEED': '0', 'LC_ALL': 'C',
               'GIT_CONFIG_GLOBAL': '/dev/null', 'GIT_PAGER': 'cat'}
V3 = '-O3 -march=x86-64-v3'

# name, kernel of pairs.c, least rounds, compilers of A and B
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
# name, kernel of ways.c, least rounds; A and B are its two ways
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
# ./spin N takes 3000 N cycles: multiplications that wait for each other; ./spin N wide has four additions per cycle instead,
# and takes longer where another thread uses the same core
SPIN = r'''#include <stdlib.h>
int main(int count, char **words)
{
    long n = atol(words[1]);
    for (; count == 2 && n > 0; n--)
        __asm__ volatile(".rept 1000\n\timul %%rax, %%rax\n.endr" : : : "rax");
    for (n *= 12; count > 2 && n > 0; n--)
        __asm__ volatile(".rept 250\n\tadd $1, %%rax\n\tadd $1, %%rcx\n\tadd $1, %%rdx\n\tadd $1, %%rsi\n.endr"
                         : : : "rax", "rcx", "rdx", "rsi");
    return 0;
}
'''
QUIET = 1.12  # times as long as the multiplications take the additions at most on a core that no one else uses
PROBES = 10  # of each CPU, before a run is taken as it comes
TRIES = 4  # to have the core quiet before and after a run
LEAST = 0.06  # seconds of a measured run of a kernel
SAMPLED = 3  # runs of a set with samples, for the share of user time
NEAR = 1.02  # a run that takes at most this much more than the lowest confirms it
TRACED = 4  # times the least rounds that predict traces: kernels do not repeat random data, so more rounds show nothing new


# ---- build ----

def write_inputs(directory):
    sources = sorted(glob.glob(os.path.join(ROOT, 'lib/*/*.c')))
    with open(os.path.join(directory, 'text'), 'wb') as f:
        f.write(b''.join(open(p, 'rb').read() for p in sources)[:TEXT_SIZE])
    shutil.copy(os.path.join(ROOT, 'bench/ways.c'), os.path.join(directory, 'source.c'))
    with open(os.path.join(directory, 'spin.c'), 'w') as f:
        f.write(SPIN)
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


def lines_of(path):
    lines = open(path).read().splitlines() if path else []
    return [tuple(part.strip() for part in line.split(' | ')) for line in lines if line.strip() and line[0] != '#']


def missing_program(directory, commands):
    """The first program that is neither in the folder nor on the machine, or None."""
    for program in (c.split()[0] for c in commands):
        if not shutil.which(os.path.join(directory, program) if '/' in program else program):
            return program
    return None


def program_pairs(directory, pairs):
    for name, a, b in pairs:
        commands = [c.replace('{data}', 'text').replace('{source}', '-DKERNEL=list source.c') for c in (a, b)]
        missing = missing_program(directory, commands)
        if missing:
            print('skip %s: there is no %s' % (name, missing), file=sys.stderr)
        else:
            yield {'pair': name, 'rounds': 0, 'commands': commands}


def build(args):
    os.makedirs(args.directory, exist_ok=True)
    write_inputs(args.directory)
    plan = list(program_pairs(args.directory, lines_of(args.only) or [*PROGRAMS, *lines_of(args.more)]))
    if not args.only:
        plan = [p for p in kernel_pairs(args.directory) if p] + plan
    with open(os.path.join(args.directory, 'plan.json'), 'w') as f:
        json.dump(plan, f, indent=1)
    print('%d pairs in %s' % (len(plan), args.directory))


# ---- measure ----

def chosen(args):
    plan = json.load(open(os.path.join(args.directory, 'plan.json')))
    return [p for p in plan if not args.pairs or any(w in p['pair'] for w in args.pairs)]


def user_seconds(directory, words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, cwd=directory, env=dict(os.environ, **ENVIRONMENT), stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime


def clock(directory):
    """Cycles a second, by a chain of multiplications: three cycles each on every core since 2008."""
    return 3e8 / min(sum(user_seconds(directory, ['./spin', '100000'])) for _ in range(2))


def is_quiet(directory):
    chain, wide = (sum(user_seconds(directory, words)) for words in (['./spin', '10000'], ['./spin', '10000', 'wide']))
    return wide < QUIET * chain


def take_quiet_cpu(directory, cpus):
    """On shared machines, others slow a core for seconds: pins the process to a CPU whose core no one else uses now, if
    there is one.  Returns whether there is."""
    for _ in range(PROBES):
        for cpu in sorted(cpus, reverse=True):
            os.sched_setaffinity(0, {cpu})
            if is_quiet(directory):
                return True
    return False


def take_precedence():
    """Keeps other processes of this machine from running in the middle of a measured one, if that is allowed."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        pass


def perf_record(path):
    return ['perf', 'record', '-q', '-e', 'cpu-clock', '-F', '9973', '-o', path, '--']


class Share:
    """Of user time in a program's CPU time: by samples, where there is perf, or by the kernel's ticks."""

    def __init__(self):
        self.ticks, self.samples = [0, 0], [0, 0]

    def add_ticks(self, user, system):
        self.ticks = [self.ticks[0] + user, self.ticks[1] + system]

    def sample(self, directory, run):
        """run(before) runs the program as an argument of before."""
        if not shutil.which('perf'):
            return
        path = os.path.join(directory, 'perf.%d' % os.getpid())
        try:
            run(perf_record(path))
        except (RuntimeError, subprocess.CalledProcessError):
            return
        script = subprocess.run(['perf', 'script', '-i', path, '-F', 'ip'], capture_output=True, text=True, check=False)
        for address in script.stdout.split():
            self.samples[address.startswith('ffff')] += 1
        os.unlink(path)

    def counted(self):
        """In user mode and in the kernel."""
        return self.samples if sum(self.samples) > 100 else self.ticks

    def user(self):
        user, system = self.counted()
        return user / (user + system)


class Side:
    """One version that is measured."""

    def __init__(self, directory, command, rounds, cpus):
        self.directory, self.words, self.cpus, self.quiet = directory, command.split(), cpus, 0
        self.is_kernel, self.rounds = rounds > 0, rounds
        self.cycles, self.start, self.share = [], math.inf, Share()
        while self.is_kernel and sum(user_seconds(directory, self.words + [str(self.rounds)])) < LEAST:
            self.rounds *= 2

    def quiet_seconds(self):
        """Of the fastest of a few runs; the first one before and after which the core is quiet is the last."""
        runs = []
        while len(runs) < TRIES:
            was_quiet = take_quiet_cpu(self.directory, self.cpus)
            user, system = user_seconds(self.directory, self.words + ([str(self.rounds)] if self.is_kernel else []))
            self.share.add_ticks(user, system)
            runs.append(user + system)
            if was_quiet and is_quiet(self.directory):
                self.quiet += 1
                break
        return min(runs)

    def run(self):
        hertz = clock(self.directory)
        self.cycles.append(self.quiet_seconds() * hertz)
        if self.is_kernel:
            self.start = min(self.start, sum(user_seconds(self.directory, self.words + ['0'])) * hertz)
        elif len(self.cycles) <= SAMPLED:
            self.share.sample(self.directory, lambda before: user_seconds(self.directory, before + self.words))

    def result(self):
        """Cycles of each run: of a round, or of the program with the kernel, and what tells the kernel's share."""
        if self.is_kernel:
            return {'cycles': [round((c - self.start) / self.rounds) for c in self.cycles], 'rounds': self.rounds,
                    'counted': [1, 0]}
        return {'cycles': [round(c) for c in self.cycles], 'rounds': 0, 'counted': self.share.counted()}


class Measured:
    """Both versions of a pair, from all sets of runs."""

    def __init__(self, sets):
        self.sets, self.rounds = sets, [side['rounds'] for side in sets[0]]
        counted = [[sum(s[i]['counted'][mode] for s in sets) for mode in (0, 1)] for i in (0, 1)]
        self.shares = [user / (user + system) for user, system in counted]
        self.runs = sum(len(s[0]['cycles']) for s in sets)
        self.cycles = [min(c for s in sets for c in s[i]['cycles']) * self.shares[i] for i in (0, 1)]

    def ratios(self):
        """Of the lowest runs of each set."""
        return [min(b['cycles']) * self.shares[1] / (min(a['cycles']) * self.shares[0]) for a, b in self.sets]

    def confirmed(self):
        """How many runs of A and of B are close to the lowest."""
        return [sum(c * self.shares[i] <= NEAR * self.cycles[i] for s in self.sets for c in s[i]['cycles'])
                for i in (0, 1)]


def model_name():
    for line in open('/proc/cpuinfo'):
        if line.startswith('model name'):
            return line.split(':')[1].strip()
    return 'an unknown CPU'


def sets_of(path):
    return json.load(open(path)).get('sets', {}) if os.path.exists(path) else {}


def measure(args):
    cpus = os.sched_getaffinity(0)
    take_precedence()
    out = args.output or os.path.join(args.directory, 'measured.json')
    for pair in chosen(args):
        missing = missing_program(args.directory, pair['commands'])
        if missing:
            print('skip %s: there is no %s' % (pair['pair'], missing), file=sys.stderr)
            continue
        sides = [Side(args.directory, c, pair['rounds'], cpus) for c in pair['commands']]
        for _ in range(args.runs):
            for side in sides:
                side.run()
        sets = sets_of(out)
        sets.setdefault(pair['pair'], []).append([side.result() for side in sides])
        with open(out, 'w') as f:
            json.dump({'machine': model_name(), 'sets': sets}, f)
        found = Measured(sets[pair['pair']])
        print('%-40s %12.0f %12.0f  %.3f  sets %s  confirmed by %d, %d of %d runs  user %.1f%%, %.1f%%  quiet %d, %d of %d' % (
            pair['pair'], *found.cycles, found.cycles[1] / found.cycles[0],
            ' '.join('%.3f' % r for r in found.ratios()), *found.confirmed(), found.runs,
            *(100 * share for share in found.shares), *(side.quiet for side in sides), args.runs), flush=True)


# ---- predict ----

def trace(args, words, options=()):
    out = os.path.join(args.directory, 'result.%d.json' % os.getpid())
    # As tact diff does: nothing is skimmed.
    subprocess.run([args.tact, 'trace', '--thorough', '-q', '-a', args.arch, *options, '-o', out, '--', *words], cwd=args.directory,
                   env=dict(os.environ, **ENVIRONMENT), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
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


def predicted_pair(args, pair, rounds):
    """What was predicted of each version, and by how many per cent --exact differs at most, or None."""
    path = os.path.join(args.directory, 'predicted.%s.json' % args.arch)
    known = json.load(open(path)) if os.path.exists(path) else {}
    versions = [(c, min(n, TRACED * pair['rounds'])) for c, n in zip(pair['commands'], rounds)]
    if not args.kept or pair['pair'] not in known:
        known[pair['pair']] = [predicted(args, c, n) for c, n in versions]
        with open(path, 'w') as f:
            json.dump(known, f)
    sides = known[pair['pair']]
    if not args.exact:
        return sides, None
    return sides, max(abs(off(s[0], predicted(args, c, n, ['--exact'])[0])) for s, (c, n) in zip(sides, versions))


def compared(args, pair, found):
    """A row of the table."""
    sides, apart = predicted_pair(args, pair, found.rounds)
    a, b = found.cycles
    guess = sides[1][0] / sides[0][0]
    row = {'pair': pair['pair'], 'million': [round(s[1], 1) for s in sides], 'measured': round(b / a, 3),
           'predicted': round(guess, 3), 'off': off(guess, b / a), 'each': [off(sides[0][0], a), off(sides[1][0], b)],
           'runs': found.runs, 'confirmed': found.confirmed(),
           'sets': [round(r, 3) for r in (min(found.ratios()), max(found.ratios()))]}
    if apart is not None:
        row['apart'] = apart
    print('%-48s measured %8.3f (%.3f to %.3f) predicted %8.3f off %+6.1f%%  A %+.1f%% B %+.1f%%%s' % (
        row['pair'], row['measured'], *row['sets'], row['predicted'], row['off'], *row['each'],
        '  apart %.2f%%' % apart if apart is not None else ''), flush=True)
    return row


def predict(args):
    args.tact = os.path.abspath(args.tact)
    path = args.measured or os.path.join(args.directory, 'measured.json')
    sets = sets_of(path)
    rows = [compared(args, pair, Measured(sets[pair['pair']])) for pair in chosen(args) if pair['pair'] in sets]
    log = lambda percent: abs(math.log(1 + percent / 100))
    mean = geometric([log(r['off']) for r in rows])
    absolute = geometric([log(e) for r in rows for e in r['each']])
    wrong = [r['pair'] for r in rows if abs(r['measured'] - 1) > 0.03 and (r['measured'] - 1) * (r['predicted'] - 1) <= 0]
    print('%d pairs: geometric mean error of the ratio %.1f%%, of the cycles %.1f%%; wrong direction: %s' % (
        len(rows), mean, absolute, ', '.join(wrong) or 'none'))
    if args.write:
        import write_accuracy  # pylint: disable=import-outside-toplevel
        section = {'arch': args.arch, 'machine': json.load(open(path))['machine'], 'runs': min(r['runs'] for r in rows),
                   'pairs': rows, 'mean': round(mean, 1), 'absolute_mean': round(absolute, 1), 'wrong': wrong}
        if args.note:
            section['note'] = open(args.note).read().split('\n\n')
        write_accuracy.save_for(section, 'releases' if args.releases else 'trace')


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('what', choices=('build', 'measure', 'predict'))
    parser.add_argument('directory')
    parser.add_argument('--tact', default=os.path.join(ROOT, 'build/tact'))
    parser.add_argument('-a', dest='arch', default='native')
    parser.add_argument('--runs', type=int, default=7)
    parser.add_argument('--more')
    parser.add_argument('--only')
    parser.add_argument('--measured')
    parser.add_argument('--exact', action='store_true')
    parser.add_argument('--kept', action='store_true')
    parser.add_argument('--note')
    parser.add_argument('--write', action='store_true')
    parser.add_argument('--releases', action='store_true')
    parser.add_argument('-o', dest='output')
    parser.add_argument('pairs', nargs='*')
    args = parser.parse_intermixed_args()
    args.directory = os.path.abspath(args.directory)
    {'build': build, 'measure': measure, 'predict': predict}[args.what](args)
    return 0


if __name__ == '__main__':
    sys.exit(main())
