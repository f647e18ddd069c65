#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cycles from samples against those of --exact, for the same recordings.

usage: memo_error.py [--tact PATH] [--arch NAME] [--only NAME[,NAME]] [--limit PERCENT] [--keep DIR]

Each program runs once under QEMU and is recorded; the recording is analysed as by default, and with --exact.  The
exit status is 1 if one differs by more than the limit (default 0.5).  An exact analysis takes a few seconds for a
million instructions.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

import mix_accuracy

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# A chain of pointers through `size` bytes in random order, `steps` of them; and sums of an array by rows and columns.
CHASE = '''#include <stdlib.h>
int main(int argc, char **argv) {
	size_t n = strtoul(argv[1], 0, 0) / 64, steps = strtoul(argv[2], 0, 0), random = 1;
	char *base = aligned_alloc(64, n * 64);
	size_t *order = malloc(n * sizeof(*order));
	for (size_t i = 0; i < n; i++) order[i] = i;
	for (size_t i = n - 1; i > 0; i--) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		size_t k = (random >> 33) % (i + 1), t = order[i];
		order[i] = order[k]; order[k] = t;
	}
	for (size_t i = 0; i < n; i++) *(void **)(base + 64 * order[i]) = base + 64 * order[(i + 1) % n];
	void **at = (void **)base;
	for (size_t i = 0; i < steps; i++) at = *at;
	return at == 0;
}
'''
MATRIX = '''#include <stdlib.h>
int main(int argc, char **argv) {
	enum { N = 1024 };
	float *a = calloc(N * N, sizeof(*a)), s = 0;
	for (int i = 0; i < N; i++) for (int k = 0; k < N; k++) s += a[i * N + k];
	for (int i = 0; i < N; i++) for (int k = 0; k < N; k++) s += a[k * N + i];
	return s > 1;
}
'''


def kernels(work):
    """(name, what must be installed, command)"""
    for name, source in (('chase', CHASE), ('matrix', MATRIX)):
        path = os.path.join(work, name + '.c')
        with open(path, 'w') as f:
            f.write(source)
        subprocess.run(['gcc', '-O2', '-o', os.path.join(work, name), path], check=True)
    chase = os.path.join(work, 'chase')
    yield 'chase 1M', chase, [chase, '0x100000', '3000000']
    yield 'chase 64M', chase, [chase, '0x4000000', '3000000']
    yield 'matrix', os.path.join(work, 'matrix'), [os.path.join(work, 'matrix')]


def programs(work):
    """The same, and whole programs."""
    yield from kernels(work)
    yield from mix_accuracy.programs(work)


def cycles(tact, arch, recording, *options):
    out = subprocess.run([tact, 'trace', '-q', '-a', arch, '-f', 'json', '-o', '-', *options, '--input', recording],
                         capture_output=True, text=True, check=True).stdout
    return json.loads(out[:out.index('\n')])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--tact', default=os.path.join(TOP, 'build', 'tact'))
    parser.add_argument('--arch', default='GLC')
    parser.add_argument('--only', default='')
    parser.add_argument('--limit', type=float, default=0.5)
    parser.add_argument('--keep')
    args = parser.parse_args()
    only = args.only.split(',') if args.only else None
    failed = 0
    with tempfile.TemporaryDirectory() as work:
        work = args.keep or work
        os.makedirs(work, exist_ok=True)
        for name, needed, command in programs(work):
            if (only and name not in only) or not needed or not shutil.which(needed):
                continue
            recording = os.path.join(work, name.replace(' ', '_') + '.tct')
            subprocess.run([args.tact, 'trace', '-q', '--record', recording, '--', *command], check=True,
                           stdout=subprocess.DEVNULL)
            sampled, exact = (cycles(args.tact, args.arch, recording, *o) for o in ([], ['--exact']))
            percent = 100 * (sampled['cycles'] / exact['cycles'] - 1)
            failed += abs(percent) > args.limit
            print('%-14s exact %14.0f  sampled %14.0f  %+6.2f%%, standard error %.2f%%, %.1f M instructions' %
                  (name, exact['cycles'], sampled['cycles'], percent,
                   100 * sampled.get('error', 0) / sampled['cycles'], exact['instructions'] / 1e6), flush=True)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
