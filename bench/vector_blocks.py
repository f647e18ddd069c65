#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Basic blocks with vectors of no fixed length (RVV, SVE), for bench/llvm_fidelity.py: hex in memory order, one a line.

usage: vector_blocks.py [--clang PROGRAM] [--made N] rvv|sve > BLOCKS

Blocks come from bench/vector_kernels.c, which clang compiles with several options, and from a generator: N sequences
of instructions with operands chosen at random.  Only blocks with an instruction on vectors count.
"""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COMPILED = {
    'rvv': [['--target=riscv64-linux-gnu', '-march=rv64gcv' + more, '-O' + level, *options]
            for more in ('', '_zvfh_zba_zbb_zbs_zvbb')
            for level, options in (('2', []), ('3', []), ('3', ['-ffast-math']),
                                   ('3', ['-mllvm', '-riscv-v-register-bit-width-lmul=4']),
                                   ('3', ['-ffast-math', '-mllvm', '-riscv-v-register-bit-width-lmul=1']),
                                   ('3', ['-mrvv-vector-bits=256']))],
    'sve': [['--target=aarch64-linux-gnu', '-march=' + march, '-O' + level, *options]
            for march in ('armv9-a', 'armv8.2-a+sve')
            for level, options in (('2', []), ('3', []), ('3', ['-ffast-math']), ('3', ['-msve-vector-bits=256']),
                                   ('3', ['-mcpu=neoverse-v1' if march != 'armv9-a' else '-mcpu=neoverse-v2']))],
}
VECTOR = {'rvv': re.compile(r'\tv(?!set)'), 'sve': re.compile(r'\b[zp]\d+[./\]}, ]|\bptrue|\bcnt[bhwd]\b|\bwhile')}
LEADS = re.compile(r'\t(b|b\.\w+|cbn?z|tbn?z|br|bl|blr|ret|j|jr|jal|jalr|call|tail|beq|bne|blt|bge|bltu|bgeu|b[a-z]+z|b[gl][te]u?)\t|\tret')


def made_rvv(rng):
    sew, lmul = rng.choice(('e8', 'e16', 'e32', 'e64')), rng.choice(('m1', 'm2', 'm4', 'm8', 'mf2', 'mf4', 'mf8'))
    if (sew, lmul) in (('e64', 'mf2'), ('e64', 'mf4'), ('e64', 'mf8'), ('e32', 'mf4'), ('e32', 'mf8'), ('e16', 'mf8')):
        lmul = 'm1'
    step = int(lmul[1:]) if lmul[1] != 'f' else 1
    is_float = sew != 'e8'
    reg = lambda: 'v%d' % (rng.randrange(max(1, 32 // step - (step > 4))) * step or (8 if step > 1 else 1))
    lines = ['vsetvli %s, %s, %s, %s, ta, %s' % (rng.choice(('zero', 'a4')), rng.choice(('zero', 'a5')), sew, lmul,
                                                  rng.choice(('ma', 'mu')))]
    plain = ['vadd.vv', 'vsub.vv', 'vand.vv', 'vxor.vv', 'vsll.vv', 'vmul.vv', 'vmulh.vv', 'vmax.vv', 'vminu.vv', 'vdiv.vv',
             'vremu.vv', 'vsaddu.vv', 'vssub.vv', 'vaadd.vv', 'vsmul.vv', 'vmseq.vv', 'vmslt.vv', 'vmacc.vv', 'vredsum.vs',
             'vredmax.vs']
    floats = ['vfadd.vv', 'vfmul.vv', 'vfdiv.vv', 'vfmin.vv', 'vfsgnj.vv', 'vfmacc.vv', 'vmflt.vv', 'vfredusum.vs',
              'vfredosum.vs', 'vfredmax.vs']
    for _ in range(rng.randrange(1, 12)):
        kind = rng.randrange(10)
        if kind < 3:
            lines.append('%s %s, %s, %s%s' % (rng.choice(plain), reg(), reg(), reg(), rng.choice(('', '', ', v0.t'))
                                              if step == 1 else ''))
        elif kind < 5 and is_float:
            lines.append('%s %s, %s, %s' % (rng.choice(floats), reg(), reg(), reg()))
        elif kind == 5:
            lines.append(rng.choice(('vle%s.v %s, (a0)', 'vse%s.v %s, (a1)', 'vlse%s.v %s, (a0), a2', 'vsse%s.v %s, (a1), a2',
                                     'vluxei%s.v %s, (a0), v16', 'vsuxei%s.v %s, (a1), v16')) % (sew[1:], reg()))
        elif kind == 6:
            lines.append(rng.choice(('vmv.v.x %s, a3', 'vmv.v.i %s, 3', 'vmv.s.x %s, a3', 'vid.v %s', 'vadd.vx %s, v8, a3',
                                     'vsll.vi %s, v16, 3', 'vmv1r.v %s, v3', 'vmerge.vvm %s, v16, v24, v0',
                                     'vslidedown.vx %s, v16, a3', 'vslideup.vi %s, v24, 2', 'vslide1down.vx %s, v24, a3'))
                         % ('v8' if step <= 8 else reg()))
        elif kind == 7:
            lines.append(rng.choice(('vmv.x.s a3, v8', 'vcpop.m a3, v8', 'vfirst.m a3, v0', 'vmand.mm v0, v8, v9',
                                     'vmnot.m v0, v0', 'vrgather.vv v8, v16, v24', 'vcompress.vm v8, v16, v0',
                                     'vmsbf.m v4, v8', 'viota.m v8, v0')))
        elif kind == 8:
            lines.append(rng.choice(('add a0, a0, a2', 'addi a1, a1, 64', 'sub a5, a5, a4', 'mul a3, a3, a4', 'ld a6, 0(a0)',
                                     'slli a4, a4, 2', 'sh2add a0, a4, a0')))
        else:
            lines.append(rng.choice(('vzext.vf2 v8, v16', 'vwadd.vv v8, v16, v20', 'vwmulu.vv v8, v16, v20', 'vnsrl.wi v4, v8, 3',
                                     'vwredsumu.vs v4, v8, v5')) if step < 4 and lmul[1] != 'f' and sew not in ('e64', 'e8')
                         else 'addi a0, a0, 16')
    return lines


def made_sve(rng):
    size = rng.choice('bhsd')
    fsize = rng.choice('hsd')
    z, p = lambda: 'z%d' % rng.randrange(32), lambda: 'p%d' % rng.randrange(8)
    lines = []
    for _ in range(rng.randrange(1, 12)):
        kind = rng.randrange(9)
        a, b, c, g = z(), z(), z(), p()
        if kind < 2:
            lines.append('%s %s.%s, %s.%s, %s.%s' % (rng.choice(('add', 'sub', 'sqadd', 'uqsub', 'zip1', 'uzp2', 'trn1', 'mul',
                                                                 'sqdmulh', 'smulh')), a, size, b, size, c, size))
        elif kind == 2:
            lines.append('%s %s.%s, %s/m, %s.%s, %s.%s' % (rng.choice(('add', 'mul', 'smax', 'uabd', 'lsl', 'and', 'eor')), a, size, g,
                                                          a, size, b, size))
        elif kind == 3:
            lines.append('%s %s.%s, %s/m, %s.%s, %s.%s' % (rng.choice(('fmla', 'fmls', 'fnmla', 'fmad')), a, fsize, g, b, fsize, c, fsize))
        elif kind == 4:
            lines.append(rng.choice(('fadd %s.%s, %s.%s, %s.%s', 'fmul %s.%s, %s.%s, %s.%s', 'frecps %s.%s, %s.%s, %s.%s'))
                         % (a, fsize, b, fsize, c, fsize))
        elif kind == 5:
            lines.append(rng.choice(('ld1w {%s.s}, %s/z, [x0, x8, lsl #2]', 'ld1d {%s.d}, %s/z, [x0, #1, mul vl]',
                                     'ld1b {%s.b}, %s/z, [x0, x8]', 'ld1sh {%s.d}, %s/z, [x0]', 'ld1w {%s.d}, %s/z, [x0, z3.d, lsl #2]',
                                     'ldnt1w {%s.s}, %s/z, [x0]', 'ld1rw {%s.s}, %s/z, [x0]', 'st1w {%s.s}, %s, [x1, x8, lsl #2]',
                                     'st1d {%s.d}, %s, [x1]', 'st1b {%s.h}, %s, [x1, x8]', 'st1w {%s.d}, %s, [x1, z4.d]'))
                         % (a, g))
        elif kind == 6:
            lines.append(rng.choice(('whilelo p0.s, x8, x9', 'ptrue p1.b', 'cmpgt p2.s, p0/z, z1.s, z2.s', 'ptest p0, p1.b',
                                     'and p3.b, p0/z, p1.b, p2.b', 'brkb p0.b, p1/z, p2.b', 'fcmgt p2.d, p0/z, z3.d, z4.d',
                                     'sel z5.s, p1, z6.s, z7.s', 'cntp x10, p0, p1.s', 'pnext p1.s, p0, p1.s')))
        elif kind == 7:
            lines.append(rng.choice(('add x8, x8, #4', 'incw x8', 'addvl x0, x0, #1', 'cntd x9', 'subs x9, x9, #1', 'dup z8.s, w9',
                                     'mov z9.d, #3', 'index z10.s, #0, #1', 'insr z3.s, w4', 'lasta w3, p0, z4.s')))
        else:
            lines.append('movprfx z0, z1\nfmla z0.s, p0/m, z2.s, z3.s' if rng.random() < 0.1 else rng.choice(('faddv s0, p0, z1.s', 'uaddv d0, p0, z1.s', 'smaxv s1, p0, z2.s', 'fadda d0, p0, d0, z1.d',
                                     'sdot z0.s, z1.b, z2.b', 'smlalb z0.s, z1.h, z2.h', 'scvtf z0.s, p0/m, z1.s', 'fdiv z0.s, p0/m, z0.s, z1.s',
                                     'sdiv z0.d, p0/m, z0.d, z1.d', 'tbl z0.b, {z1.b}, z2.b', 'ext z0.b, z0.b, z1.b, #3', 'compact z0.s, p0, z1.s',
                                     'rev z0.h, z1.h', 'splice z0.s, p0, z0.s, z1.s', 'umulh z0.s, p0/m, z0.s, z1.s')))
    return lines


def dump(clang, path):
    tool = clang.replace('clang', 'llvm-objdump')
    return subprocess.run([tool, '-d', '--mattr=+all' if 'aarch64' in path else '--mattr=+v,+zvfh,+zvbb,+zba,+zbb,+zbs', path],
                          capture_output=True, text=True, check=True).stdout


def blocks_of(listing, vector):
    """Cuts at labels, targets and transfers."""
    targets = {int(m, 16) for m in re.findall(r'\b0x([0-9a-f]+) <', listing)}
    words, has_vector, out = [], False, []

    def end():
        nonlocal words, has_vector
        if words and has_vector and len(words) <= 64:
            out.append(''.join(words))
        words, has_vector = [], False
    for line in listing.splitlines():
        m = re.match(r'\s*([0-9a-f]+):\s+([0-9a-f]+)\s(.*)$', line)
        if not m:
            end()
            continue
        if int(m.group(1), 16) in targets:
            end()
        text = '\t' + m.group(3).strip().replace(' ', '\t', 1) + '\t'
        words.append(bytes.fromhex(m.group(2))[::-1].hex())
        has_vector = has_vector or bool(vector.search(text))
        if LEADS.search(text):
            end()
    end()
    return out


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--clang', default='clang-22')
    parser.add_argument('--made', type=int, default=400)
    parser.add_argument('set', choices=sorted(COMPILED))
    args = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as d:
        for options in COMPILED[args.set]:
            path = d + '/aarch64.o' if args.set == 'sve' else d + '/riscv64.o'
            subprocess.run([args.clang, *options, '-ffreestanding', '-c', '-o', path, HERE + '/vector_kernels.c'], check=True)
            found.update(dict.fromkeys(blocks_of(dump(args.clang, path), VECTOR[args.set])))
    n = len(found)
    rng = random.Random(1)
    made = made_rvv if args.set == 'rvv' else made_sve
    target = {'rvv': ['--target=riscv64-linux-gnu', '-march=rv64gcv_zvfh_zba_zbb_zvbb'],
              'sve': ['--target=aarch64-linux-gnu', '-march=armv9-a']}[args.set]
    text = ''.join('b%d:\n%s\n' % (i, '\n'.join(made(rng))) for i in range(args.made))
    with tempfile.TemporaryDirectory() as d:
        path = d + '/aarch64.o' if args.set == 'sve' else d + '/riscv64.o'
        open(d + '/x.s', 'w').write(text)
        subprocess.run([args.clang, *target, '-c', '-o', path, d + '/x.s'], check=True)
        found.update(dict.fromkeys(blocks_of(dump(args.clang, path), VECTOR[args.set])))
    print('\n'.join(found))
    print('%d blocks compiled, %d made' % (n, len(found) - n), file=sys.stderr)


if __name__ == '__main__':
    main()
