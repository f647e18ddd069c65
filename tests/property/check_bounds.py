#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the pipeline is nowhere faster than FACILE's bounds allow, on many blocks.

usage: check_bounds.py [--tact PROGRAM] [--shared DIR] [--count N] [--known] [--seed N]

A bound is what one component alone would allow, so the simulation of all components cannot take
less; the two models count a few things differently, so some blocks differ.  Of N blocks (default
20000), spread over all CPUs and both modes, at most 0.2% may be simulated to take less than 98% of
the largest bound.  Once with random blocks, and once with blocks of DIR/data/bhive (default
../shared) if they are there.  The same blocks every time, unless --seed makes others.  The last line
of the output is "N passed, M failed, K skipped".

Known to differ:
- Instructions that work on memory with more than one uop between load and result (adc, sbb, cmov,
  shifts): the pipeline takes a cycle less on some CPUs.
- Divisions and square roots: the pipeline occupies the divider for less, and ICL's latencies
  differ.
- rep movs and cpuid, which take what their operands and the system say.
Random blocks have the last three only with --known; real ones have them as often as programs do.
"""
import argparse
import concurrent.futures
import csv
import glob
import os
import random
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SEED = 1
SLACK = 0.02
ALLOWED = 0.002  # of the blocks
MODES = ('unroll', 'loop')
NO_BOUNDS = ('hex', 'arch', 'mode', 'status', 'cycles_per_iteration', 'coverage', 'bottlenecks',
             'facile_cycles_per_iteration', 'function', 'address', 'line', 'remarks')

# ---- random blocks ----

ALU = (0x01, 0x03, 0x09, 0x21, 0x29, 0x31, 0x39, 0x85, 0x89, 0x8b)
CARRY = (0x11, 0x13, 0x19, 0x1b)  # adc sbb
TWO_BYTE = (0xaf, 0xb6, 0xbe, 0xbf, 0xbc)  # imul movzx movsx bsf
CMOV = (0x44, 0x4c)
SSE = (0x58, 0x59, 0x5c)
SSE_PACKED = (0x54, 0x57, 0x14, 0x28)
SSE_INTEGER = (0xfe, 0xd4, 0xf4, 0xef, 0x6f, 0x62, 0xeb, 0xdb, 0x76)
AVX = (0x58, 0x59, 0x5c, 0x54, 0x57, 0x14)
DIVIDE = (0x5e, 0x51)  # and square roots


def operands(rng, reg, memory=True):
    """ModRM and what follows: a register, or [base + displacement], with one of the first eight."""
    base = rng.randrange(8)
    mod = rng.choice((3, 3, 3, 0, 1, 2)) if memory else 3
    if mod == 0 and base == 5:  # would be relative to rip
        mod = 1
    modrm = bytes([mod << 6 | reg << 3 | base]) + (b'\x24' if mod != 3 and base == 4 else b'')
    return modrm + rng.randbytes((0, 1, 4, 0)[mod])


def integer(rng, known):
    rex = rng.choice((b'', b'', b'\x48', b'\x48', b'\x4c', b'\x49', b'\x4d'))
    reg, kind = rng.randrange(8), rng.choices(range(8), (30, 8, 8, 12, 4, 8, 6, 8))[0]
    if kind == 0:
        return rex + bytes([rng.choice(ALU)]) + operands(rng, reg)
    if kind == 1:
        return rex + bytes([rng.choice(CARRY)]) + operands(rng, reg, known)
    if kind == 2:  # add, or, and, sub, xor, cmp with an immediate
        return rex + b'\x83' + operands(rng, rng.choice((0, 1, 4, 5, 6, 7))) + rng.randbytes(1)
    if kind == 3:
        return rex + b'\x0f' + bytes([rng.choice(TWO_BYTE)]) + operands(rng, reg)
    if kind == 4:
        return rex + b'\x0f' + bytes([rng.choice(CMOV)]) + operands(rng, reg, known)
    if kind == 5:  # lea
        base = rng.choice((0, 1, 2, 3, 6, 7))
        return b'\x48\x8d' + bytes([0x40 | reg << 3 | base]) + rng.randbytes(1)
    if kind == 6:  # shifts by an immediate
        shift = rng.choice((0, 1, 4, 5, 7))
        return rex + b'\xc1' + operands(rng, shift, known) + rng.randbytes(1)
    return bytes([rng.choice((0x50, 0x58)) | rng.choice((0, 1, 2, 3, 6, 7))])  # push, pop


def vector(rng, known):
    reg, kind = rng.randrange(8), rng.randrange(4)
    divide = DIVIDE if known else ()
    if kind == 0:
        prefix = rng.choice((b'', b'\x66', b'\xf2', b'\xf3'))
        return prefix + b'\x0f' + bytes([rng.choice(SSE + divide)]) + operands(rng, reg)
    if kind == 1:
        return b'\x0f' + bytes([rng.choice(SSE_PACKED)]) + operands(rng, reg)
    if kind == 2:
        return b'\x66\x0f' + bytes([rng.choice(SSE_INTEGER)]) + operands(rng, reg)
    # AVX, 128 or 256 bits wide, single or double
    vex = 0xc0 | rng.randrange(8) << 3 | rng.choice((0, 4)) | rng.choice((0, 1))
    return b'\xc5' + bytes([vex, rng.choice(AVX + divide[:1])]) + operands(rng, reg)


def other(rng, known):
    few = [b'\x90', b'\x0f\x1f\x00', b'\x0f\x1f\x44\x00\x00', b'\x87\xc8',
           b'\x66\x81\xc0' + rng.randbytes(2), b'\x48\xb8' + rng.randbytes(8)]
    if known:  # div, idiv, cpuid, rep movsb
        few += [b'\xf7\xf1', b'\x48\xf7\xf9', b'\x0f\xa2', b'\xf3\xa4']
    return rng.choice(few)


def random_blocks(count, known, seed=SEED):
    rng = random.Random(seed)
    make = lambda: rng.choices((integer, vector, other), (75, 20, 5))[0](rng, known)
    return [b''.join(make() for _ in range(rng.randint(1, 12))).hex() for _ in range(count)]


# ---- real blocks ----

def real_blocks(shared, count, seed=SEED):
    codes = []
    for path in sorted(glob.glob(os.path.join(shared, 'data/bhive/*.csv'))):
        with open(path) as f:
            codes += [line.split(',')[0].strip() for line in f]
    codes = [c for c in codes if c and not c.startswith('hex')]
    return random.Random(seed).sample(codes, min(count, len(codes)))


# ---- the check ----

def looped(code):
    """The block and a counter's decrement and branch (dec r15; jne)."""
    size = len(code) // 2 + 3
    branch = (b'\x75' + (-(size + 2)).to_bytes(1, 'little', signed=True) if size + 2 <= 128 else
              b'\x0f\x85' + (-(size + 6)).to_bytes(4, 'little', signed=True))
    return code + '49ffcf' + branch.hex()


def simulate(tact, arch, mode, codes):
    """(rows, rows below the bound, rows that failed)"""
    if mode == 'loop':
        codes = [looped(c) for c in codes]
    p = subprocess.run([tact, 'predict', '-q', '-j', '1', '--model', 'sim', '-a', arch, '-m', mode,
                        '-f', 'csv', '-'], input='hex\n' + '\n'.join(codes) + '\n',
                       capture_output=True, text=True)
    rows = list(csv.DictReader(p.stdout.splitlines()))
    if p.returncode not in (0, 1) or len(rows) != len(codes):
        raise RuntimeError('%s %s: status %d, %d of %d rows: %s' %
                           (arch, mode, p.returncode, len(rows), len(codes), p.stderr[:200]))
    ignored = NO_BOUNDS
    below, failed = [], []
    for r in rows:
        if r['status'] != 'ok':
            failed.append('%s %s %s: %s' % (arch, mode, r['hex'], r['status']))
            continue
        bounds = {name: float(v) for name, v in r.items() if v and name not in ignored}
        name = max(bounds, key=bounds.get)
        if float(r['cycles_per_iteration']) < (1 - SLACK) * bounds[name]:
            below.append('%s %s %s: simulated %s, %s %s' %
                         (arch, mode, r['hex'], r['cycles_per_iteration'], name, r[name]))
    return len(rows), below, failed


def check(name, tact, archs, codes):
    cells = [(arch, mode) for arch in archs for mode in MODES]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        results = list(pool.map(lambda i: simulate(tact, *cells[i], codes[i::len(cells)]),
                                range(len(cells))))
    n = sum(r[0] for r in results)
    below = [line for r in results for line in r[1]]
    failed = [line for r in results for line in r[2]]
    for line in below + failed[:20]:
        print(line)
    print('%s: %d blocks, %d below their largest bound, %d failed' %
          (name, n, len(below), len(failed)))
    return n > 0 and len(below) <= ALLOWED * n and not failed


def main():
    parser = argparse.ArgumentParser(description='The pipeline against the bounds of FACILE.')
    parser.add_argument('--tact', default=os.path.join(ROOT, 'build/tact'))
    parser.add_argument('--shared', default=os.path.join(ROOT, '../shared'))
    parser.add_argument('--count', type=int, default=20000)
    parser.add_argument('--known', action='store_true')
    parser.add_argument('--seed', type=int, default=SEED)
    args = parser.parse_args()
    archs = [line.split(',')[0] for line in subprocess.run(
        [args.tact, 'archs', '-f', 'csv'], capture_output=True, text=True,
        check=True).stdout.splitlines()[1:]]
    results = [check('random blocks', args.tact, archs, random_blocks(args.count, args.known, args.seed))]
    real, skipped = real_blocks(args.shared, args.count, args.seed), 0
    if real:
        results.append(check('real blocks', args.tact, archs, real))
    else:
        print('skip: real blocks: there is no ../shared with its data')
        skipped = 1
    print('%d passed, %d failed, %d skipped' %
          (results.count(True), results.count(False), skipped))
    return 0 if all(results) else 1


if __name__ == '__main__':
    sys.exit(main())
