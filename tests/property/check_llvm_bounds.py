#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that on CPUs of LLVM the pipeline is nowhere faster than the bounds of predict.

usage: check_llvm_bounds.py [--tact PROGRAM] [--shared DIR] [--count N] [--cpu CPU[,CPU...]] [--seed N]

The models count the same there, so no block may be below, in order or out of order, unrolled or as
a loop.  Three kinds of blocks, N of each CPU (default 1500; 0: all that there are) and the same
every time, unless --seed makes other random ones:
- random words that decode, in random blocks;
- AArch64: DIR/data/aarch64/blocks.csv.gz (default ../shared), if it is there;
- RISC-V: blocks of our own sources, if riscv64-linux-gnu-gcc is there.
The last line of the output is "N passed, M failed, K skipped".
"""
import argparse
import csv
import glob
import gzip
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SEED = 1
SLACK = 1.0001
ROUNDING = 0.0051  # of figures with two digits
CPUS = {'aarch64': ('cortex-a57', 'neoverse-n1', 'neoverse-v2', 'cortex-a55'),
        'riscv64': ('sifive-u74', 'sifive-p670')}
BOUNDS = ('issue', 'ports', 'precedence', 'divider', 'stores', 'forwarding', 'blocked', 'microcoded')
SOURCES = ('lib/base/*.c', 'lib/sim/*.c', 'lib/facile/*.c')


def predict(tact, cpu, mode, model, blocks):
    """Rows of CSV, one for each block."""
    with tempfile.NamedTemporaryFile('w', suffix='.csv') as f:
        f.write('hex\n' + '\n'.join(blocks) + '\n')
        f.flush()
        p = subprocess.run([tact, 'predict', '-q', '--model', model, '-a', cpu, '-m', mode,
                            '-f', 'csv', f.name], capture_output=True, text=True)
    rows = list(csv.DictReader(p.stdout.splitlines()))
    if p.returncode not in (0, 1) or len(rows) != len(blocks):
        raise RuntimeError('%s %s: status %d, %d of %d rows: %s' % (
            cpu, mode, p.returncode, len(rows), len(blocks), p.stderr[:200]))
    return rows


# ---- blocks ----

def random_blocks(tact, cpu, count, seed=SEED):
    """Of words that decode and that the CPU's model knows."""
    rng = random.Random(seed)
    words = [rng.randbytes(4).hex() for _ in range(20000)]
    if cpu in CPUS['riscv64']:  # these and compressed ones
        words = ['%02x%s' % (int(w[:2], 16) | 3, w[2:]) for w in words]
        words += [w for w in (rng.randbytes(2).hex() for _ in range(10000)) if int(w[:2], 16) & 3 != 3]
    words = [r['hex'] for r in predict(tact, cpu, 'unroll', 'facile', words)
             if r['status'] == 'ok' and float(r['coverage'] or 0) == 1]
    return [''.join(rng.choices(words, k=rng.randint(1, 12))) for _ in range(count or 20000)]


def stored_blocks(shared, count):
    path = os.path.join(shared, 'data/aarch64/blocks.csv.gz')
    if not os.path.exists(path):
        return []
    with gzip.open(path, 'rt') as f:
        rows = [row[0] for row in csv.reader(f)
                if row and re.fullmatch('(?:[0-9a-f]{8})+', row[0])]
    rows = sorted(set(rows))
    return random.Random(SEED).sample(rows, min(count, len(rows))) if count else rows


def split(listing):
    """Basic blocks of a listing by objdump, as hex in memory order."""
    lines, targets = [], set()
    for line in listing.splitlines():
        m = re.match(r'\s+([0-9a-f]+):\s+([0-9a-f]+)\s+(\S+)\s*(.*)', line)
        if not m:
            lines.append(None)
            continue
        lines.append((int(m[1], 16), bytes.fromhex(m[2])[::-1].hex(), m[3]))
        target = re.search('([0-9a-f]+) <', m[4])
        if target and m[3][0] in 'bj':
            targets.add(int(target[1], 16))
    block = ''
    for line in lines:
        if block and (not line or line[0] in targets):
            yield block
            block = ''
        block += line[1] if line else ''
        if line and (line[2][0] in 'bj' or line[2] in ('ret', 'ecall', 'call', 'tail')):
            yield block
            block = ''
    if block:
        yield block


def compiled_blocks(count):
    compiler = 'riscv64-linux-gnu-'
    if not shutil.which(compiler + 'gcc') or not shutil.which(compiler + 'objdump'):
        return []
    blocks = set()
    with tempfile.TemporaryDirectory() as folder:
        for pattern in SOURCES:
            for path in sorted(glob.glob(os.path.join(ROOT, pattern))):
                o = os.path.join(folder, 'x.o')
                if subprocess.run([compiler + 'gcc', '-std=gnu11', '-D_GNU_SOURCE', '-O2', '-I',
                                   os.path.join(ROOT, 'include'), '-I', os.path.join(ROOT, 'lib'),
                                   '-I', os.path.join(ROOT, 'build/gen'), '-c', '-o', o, path],
                                  capture_output=True).returncode:
                    continue
                blocks.update(split(subprocess.run([compiler + 'objdump', '-d', o], text=True,
                                                   capture_output=True).stdout))
    blocks = sorted(blocks)
    return random.Random(SEED).sample(blocks, min(count, len(blocks))) if count else blocks


def looped(cpu, code):
    """The block, a counter's decrement and a branch."""
    size = len(code) // 2 + 4
    if cpu in CPUS['aarch64']:  # subs x28, x28, #1; b.ne
        words = (0xf100079c, 0x54000001 | (-size // 4 & 0x7ffff) << 5)
    else:  # addi s11, s11, -1; bne s11, zero
        by = -size & 0x1fff
        words = (0xfffd8d93, 0x000d9063 | by >> 12 << 31 | (by >> 5 & 63) << 25 |
                 (by >> 1 & 15) << 8 | (by >> 11 & 1) << 7)
    return code + ''.join(w.to_bytes(4, 'little').hex() for w in words)


# ---- the check ----

def check(tact, name, cpu, blocks):
    below, n = [], 0
    for mode in ('unroll', 'loop'):
        codes = [looped(cpu, b) for b in blocks if len(b) < 4000] if mode == 'loop' else blocks
        for row in predict(tact, cpu, mode, 'sim', codes):
            if row['status'] != 'ok':
                below.append('%s %s %s: %s' % (cpu, mode, row['hex'], row['status']))
                continue
            n += 1
            bounds = {b: float(row[b]) for b in BOUNDS if row.get(b)}
            worst = max(bounds, key=bounds.get)
            if float(row['cycles_per_iteration']) * SLACK + ROUNDING < bounds[worst]:
                below.append('%s %s %s: simulated %s, %s %s' % (
                    cpu, mode, row['hex'], row['cycles_per_iteration'], worst, row[worst]))
    for line in below[:20]:
        print(line)
    print('%s, %s: %d blocks, %d below a bound or failed' % (name, cpu, n, len(below)))
    return n > 0 and not below


def main():
    parser = argparse.ArgumentParser(description='The pipeline against bounds, on CPUs of LLVM.')
    parser.add_argument('--tact', default=os.path.join(ROOT, 'build/tact'))
    parser.add_argument('--shared', default=os.path.join(ROOT, '../shared'))
    parser.add_argument('--count', type=int, default=1500)
    parser.add_argument('--cpu', default=','.join(sum(CPUS.values(), ())))
    parser.add_argument('--seed', type=int, default=SEED)
    args = parser.parse_args()
    if not os.path.exists(os.path.join(os.path.dirname(args.tact), 'tact_llvm.so')):
        print('skip: LLVM\'s models: tact_llvm.so was not built\n0 passed, 0 failed, 1 skipped')
        return 0
    results, skipped = [], 0
    real = {'aarch64': stored_blocks(args.shared, args.count), 'riscv64': compiled_blocks(args.count)}
    for cpu in args.cpu.split(','):
        kind = 'riscv64' if cpu in CPUS['riscv64'] else 'aarch64'
        results.append(check(args.tact, 'random blocks', cpu,
                             random_blocks(args.tact, cpu, args.count, args.seed)))
        if real[kind]:
            results.append(check(args.tact, 'real blocks', cpu, real[kind]))
        else:
            print('skip: real blocks for %s: %s' % (
                cpu, 'there is no ../shared with its data' if kind == 'aarch64' else
                'riscv64-linux-gnu-gcc is not installed'))
            skipped += 1
    print('%d passed, %d failed, %d skipped' % (
        results.count(True), results.count(False), skipped))
    return 0 if all(results) else 1


if __name__ == '__main__':
    sys.exit(main())
