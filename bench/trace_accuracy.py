#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pairs of versions of programs: the ratio of cycles that tact trace predicts, and the measured one.

usage: trace_accuracy.py [--tact PROGRAM] [-a ARCH] [--runs N] [--write] [PAIR...]

The measured ratio is that of CPU time on this machine (user and system, the median of N runs of each
version in turns, pinned to one core); both sides exclude the start of the program.  It checks the
prediction only if this machine's CPU is ARCH (default: this one, else SKL); the table says which CPU
it is.  The native side runs with glibc's AVX-512
routines switched off, because QEMU has none.  Each version is also run with --exact.

--write puts the figures into doc/accuracy.json and doc/accuracy.md; otherwise they go to standard output.
"""
import argparse
import glob
import json
import math
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

import write_accuracy

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TUNABLES = 'glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512CD,-AVX512DQ,-ERMS'

# name, version A, version B: compiler and its options, for a kernel of pairs.c with rounds
KERNELS = (
    ('crc: gcc -O1, -O3', 'crc', 60, 'gcc -O1', 'gcc -O3'),
    ('matrix: gcc -O2, -O3 -mavx2 -mfma -ffast-math', 'matrix', 250, 'gcc -O2', 'gcc -O3 -mavx2 -mfma -ffast-math'),
    ('count: gcc -O1, -O2', 'count', 250, 'gcc -O1', 'gcc -O2'),
    ('hash: gcc -O2, -O3 -mavx2', 'hash', 400, 'gcc -O2', 'gcc -O3 -mavx2'),
    ('filter: clang -O1, -O2', 'filter', 300, 'clang-14 -O1', 'clang-14 -O2'),
    ('sort: gcc -O2, clang -O2', 'sort', 600, 'gcc -O2', 'clang-14 -O2'),
    ('polynomial: gcc -O2, -O2 -mfma', 'polynomial', 300, 'gcc -O2', 'gcc -O2 -mfma'),
    ('divide: gcc -O1, clang -O3', 'divide', 300, 'gcc -O1', 'clang-14 -O3'),
)
# name, commands; gzip and pigz look back 32 KiB, so that ten times the same text measures the same thing; zstd looks back
# farther, and is traced on as much as it is measured on
PROGRAMS = (
    ('gzip -6, pigz -p1 -6', 'gzip -6 -c text', 'pigz -p1 -6 -c text'),
    ('gzip -1, -6', 'gzip -1 -c text', 'gzip -6 -c text'),
    ('zstd -1, -3', 'zstd --single-thread -q -1 -c project', 'zstd --single-thread -q -3 -c project'),
)
TEXT_SIZE = 400000
NATIVE_ROUNDS = 100  # times as many as are traced, so that the clock's resolution does not matter


class Version:
    """Words to trace, words with more work to measure, and words without any: what the program takes to start, which is no
    part of the comparison."""

    def __init__(self, directory, trace, native, empty):
        self.directory, self.trace, self.native, self.empty, self.times = directory, trace, native, empty, []

    def time(self, words):
        env = dict(os.environ, GLIBC_TUNABLES=TUNABLES)
        cores = os.sched_getaffinity(0)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        os.sched_setaffinity(0, {max(cores)})
        subprocess.run(words, cwd=self.directory, env=env, stdout=subprocess.DEVNULL, check=True)
        os.sched_setaffinity(0, cores)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def measure(self):
        self.times.append(self.time(self.native) - self.time(self.empty))

    def run(self, words, tact, arch, options):
        out = os.path.join(self.directory, 'r.json')
        subprocess.run([tact, 'trace', '-q', '-a', arch, *options, '-o', out, '--', *words], cwd=self.directory,
                       stdout=subprocess.DEVNULL, check=True)
        return json.loads(open(out).readline())

    def predict(self, tact, arch, *options):
        """Totals of the program; `net` is without its start."""
        whole = self.run(self.trace, tact, arch, options)
        whole['net'] = whole['cycles'] - self.run(self.empty, tact, arch, options)['cycles']
        return whole


def build(directory, kernel, command, name):
    path = os.path.join(directory, name)
    subprocess.run([*command.split(), '-DKERNEL=' + kernel, '-o', path, os.path.join(ROOT, 'bench/pairs.c')], check=True)
    return path


def pairs(directory, wanted):
    sources = sorted(glob.glob(os.path.join(ROOT, 'lib/*/*.c')))
    data = b''.join(open(p, 'rb').read() for p in sources)[:TEXT_SIZE]
    texts = sorted(p for d in ('lib', 'cli', 'tests', 'doc', 'bench', 'man', 'include', 'plugin')
                   for p in glob.glob(os.path.join(ROOT, d, '**'), recursive=True) if os.path.isfile(p))
    project = b''.join(open(p, 'rb').read() for p in texts)
    for name, content in (('text', data), ('long', data * 10), ('project', project), ('empty', b'')):
        with open(os.path.join(directory, name), 'wb') as f:
            f.write(content)
    for name, kernel, rounds, a, b in KERNELS:
        if wanted and not any(w in name for w in wanted):
            continue
        if shutil.which(a.split()[0]) and shutil.which(b.split()[0]):
            versions = [build(directory, kernel, c, 'v%d' % i) for i, c in enumerate((a, b))]
            yield name, [Version(directory, [v, str(rounds)], [v, str(NATIVE_ROUNDS * rounds)], [v, '0']) for v in versions]
        else:
            print('skip %s: no such compiler' % name, file=sys.stderr)
    for name, a, b in PROGRAMS:
        if wanted and not any(w in name for w in wanted):
            continue
        if shutil.which(a.split()[0]) and shutil.which(b.split()[0]):
            yield name, [Version(directory, c.split(), c.replace(' text', ' long').split(),
                                 c.replace(' text', ' empty').replace(' project', ' empty').split()) for c in (a, b)]
        else:
            print('skip %s: not installed' % name, file=sys.stderr)


def this_cpu(tact):
    p = subprocess.run([tact, 'predict', '-x', '90'], capture_output=True, text=True)
    m = re.search(r'predicting for this CPU, (\w+)', p.stderr)
    return m.group(1) if m else None


def model_name():
    for line in open('/proc/cpuinfo'):
        if line.startswith('model name'):
            return line.split(':')[1].strip()
    return 'an unknown CPU'


def geometric(errors):
    """Mean error of ratios: exp of the mean |log|, less one."""
    return math.exp(statistics.mean(errors)) - 1 if errors else 0


def section(args, tact, arch, host):
    """What doc/accuracy.json keeps."""
    rows, errors, full_errors = [], [], []
    with tempfile.TemporaryDirectory() as directory:
        for name, versions in pairs(directory, args.pairs):
            for _ in range(args.runs):
                for v in versions:
                    v.measure()
            measured = statistics.median(versions[1].times) / statistics.median(versions[0].times)
            plain = [v.predict(tact, arch) for v in versions]
            full = [v.predict(tact, arch, '--full') for v in versions]
            exact = [v.predict(tact, arch, '--exact') for v in versions]
            ratio = plain[1]['net'] / plain[0]['net']
            ratio_full = full[1]['net'] / full[0]['net']
            errors.append(abs(math.log(ratio / measured)))
            full_errors.append(abs(math.log(ratio_full / measured)))
            rows.append({
                'pair': name, 'million': [round(p['instructions'] / 1e6, 1) for p in plain],
                'measured': round(measured, 3), 'predicted': round(ratio, 3),
                'off': round(100 * (ratio / measured - 1), 1), 'full': round(ratio_full, 3),
                'full_off': round(100 * (ratio_full / measured - 1), 1),
                'apart': round(100 * max(abs(p['cycles'] / e['cycles'] - 1)
                                         for p, e in zip(plain, exact)), 2)})
            print(rows[-1], file=sys.stderr)
    if host == arch:
        note = 'The measurements and the predictions are for the same core, %s.' % arch
    else:
        note = ('The measurements are for another core than the predictions: this machine has %s, for which '
                'tact has no tables, and the predictions are for %s. So the differences below mix two cores '
                'with the errors of the model.' % (model_name(), arch))
    return {'runs': args.runs, 'note': note, 'mean': round(100 * geometric(errors), 1),
            'full_mean': round(100 * geometric(full_errors), 1), 'pairs': rows}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--tact', default=os.path.join(ROOT, 'build/tact'))
    parser.add_argument('-a', dest='arch')
    parser.add_argument('--runs', type=int, default=15)
    parser.add_argument('--write', action='store_true')
    parser.add_argument('pairs', nargs='*')
    args = parser.parse_args()
    tact = os.path.abspath(args.tact)
    host = this_cpu(tact)
    found = section(args, tact, args.arch or host or 'SKL', host)
    if args.write:
        write_accuracy.save('trace', found)
    else:
        text = write_accuracy.Text()
        write_accuracy.render_trace(text, found)
        print('\n'.join(text.lines))
    return 0


if __name__ == '__main__':
    sys.exit(main())
