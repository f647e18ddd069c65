# SPDX-License-Identifier: MIT
"""x87, of which uops.info has nothing: lines of the tables, from other sources, for the importers.

usage: x87.py TABLES_DIR [CORE...]    puts the lines into tables that are there, in place of those they have

Sources:
- Zen 3: our own measurements (family 25, model 1): chains and independent copies of each instruction
- Zen 4: as Zen 3; chains of fadd and fmul, pairs of fld1 and fstp, and fxch were measured and agree
- Zen 5, Golden Cove: InstLatX64 (latency and throughput); ports as on the core before.  What we measured on
  Golden Cove is in data/insn/GLC.fixes
- Lion Cove: latencies of Ice Lake; one of the two pipes that LLVM's model of Lunar Lake has for vectors
- the others: A. Fog, "Instruction tables", and LLVM's models of the cores; never measured by us; data/SOURCES.md says
  which figure agrees with what

Where the time depends on the operands (divisions, microcode), it is that of ordinary numbers of 80 bits.
"""
import os
import sys

AMD = {'load': '45', 'address': '456', 'data': 'C', 'move': '89', 'exchange': None, 'point': None, 'amd': True}
INTEL = {'exchange': 2, 'point': 1, 'amd': False}
# add, mul: ports, latency; div, sqrt: latency, cycles of the divider; load: latency from the address
CORES = {
    'SNB': dict(INTEL, load='23', address='23', data='4', move='01', add=('1', 3), mul=('0', 5), div=(24, 24), sqrt=(24, 24),
                sign='5', compare='1', load_lat=7, exchange=None),
    'HSW': dict(INTEL, load='23', address='237', data='4', move='01', add=('1', 3), mul=('0', 5), div=(20, 18), sqrt=(23, 17),
                sign='0', compare='1', load_lat=7),
    'SKL': dict(INTEL, load='23', address='237', data='4', move='05', add=('5', 3), mul=('0', 4), div=(16, 5), sqrt=(21, 7),
                sign='0', compare='5', load_lat=7),
    'ICL': dict(INTEL, load='23', address='78', data='49', move='05', add=('5', 3), mul=('0', 4), div=(16, 5), sqrt=(21, 7),
                sign='0', compare='5', load_lat=7),
    'GLC': dict(INTEL, load='23A', address='78', data='49', move='05', add=('5', 3), mul=('0', 4), div=(16, 4), sqrt=(21, 7),
                sign='0', compare='5', load_lat=6),
    'LNC': dict(INTEL, load='ABC', address='DEF', data='GH', move='67', add=('8', 3), mul=('6', 4), div=(16, 4), sqrt=(21, 7),
                sign='6', compare='8', load_lat=7),
    'ZEN3': dict(AMD, add=('8', 7), mul=('8', 7), div=(15, 6), sqrt=(23, 11), sign='89', compare='8', load_lat=7),
    'ZEN2': dict(AMD, load='45', address='6', data='A', move='89', add=('8', 5), mul=('8', 5), div=(15, 6), sqrt=(22, 11),
                 sign='8', compare='8', load_lat=7),
    'ZEN5': dict(AMD, load='45', address='456I', data='CJ', add=('8', 6), mul=('8', 6), div=(15, 5), sqrt=(22, 8), sign='89',
                 compare='8', load_lat=7),
}
LIKE = {'IVB': 'SNB', 'BDW': 'HSW', 'SKX': 'SKL', 'KBL': 'SKL', 'CFL': 'SKL', 'CLX': 'SKL', 'TGL': 'ICL', 'RKL': 'ICL', 'ZEN4': 'ZEN3'}
OWN = {'IVB': dict(div=(18, 18), sqrt=(17, 17)), 'BDW': dict(div=(15, 8), sqrt=(23, 9))}
SOURCES = {
    'ZEN3': 'measured by us on Zen 3: x87',
    'ZEN4': 'measured by us: x87, on Zen 3, and in part on Zen 4',
    'ZEN5': "InstLatX64's figures for Zen 5: x87; the rest measured by us on Zen 3",
    'LNC': "x87 as on Ice Lake; its ports from LLVM's model of Lunar Lake: never measured",
    'GLC': "InstLatX64's figures for Golden Cove: x87; ports from LLVM's model; 115 chains and copies were measured by us",
}
OTHERS = "A. Fog's instruction tables and LLVM's models: x87; never measured by us"
# Microcode: macro-ops and cycles, on AMD's cores (measured on Zen 3) and on Intel's (cycles: measured on Golden Cove).
MICROCODE = {
    'FRNDINT': ((3, 5), (17, 21)), 'FSCALE': ((10, 5), (27, 73)), 'FXTRACT': ((13, 6), (17, 11)), 'FPREM': ((31, 21), (28, 27)),
    'FPREM1': ((34, 21), (41, 30)), 'F2XM1': ((15, 53), (24, 76)), 'FSIN': ((70, 57), (90, 133)), 'FCOS': ((70, 130), (90, 108)),
    'FSINCOS': ((80, 67), (110, 145)), 'FPTAN': ((90, 93), (110, 149)), 'FPATAN': ((80, 190), (105, 138)),
    'FYL2X': ((60, 54), (60, 102)), 'FYL2XP1': ((60, 54), (60, 102)), 'FNCLEX': ((10, 10), (5, 28)), 'FNINIT': ((24, 60), (18, 73)),
}
TWO_SOURCES = ('FSCALE', 'FPREM', 'FPREM1')
SECOND_WRITTEN = ('FPATAN', 'FYL2X', 'FYL2XP1')
BOTH_WRITTEN = ('FXTRACT', 'FSINCOS', 'FPTAN')


def text_of(uses):
    merged = {}
    for n, p in uses:
        merged[p] = merged.get(p, 0) + n
    return '+'.join('%d*p%s' % (n, p) for p, n in sorted(merged.items())) or '-'


class Lines:
    def __init__(self, core):
        self.c = dict(CORES[LIKE.get(core, core)], **OWN.get(core, {}))
        self.out = {}

    def put(self, name, uses, lat=(), fused=None, divider='-', tp='-', flags=('-', '-')):
        n = sum(k for k, _ in uses)
        fused = fused or (1 if self.c['amd'] else max(1, n))
        limit = 8 if self.c['amd'] else 4
        ms = 0 if fused <= limit else fused - 1 if self.c['amd'] else fused
        self.out[name] = '\t'.join((
            name, str(n), str(fused), str(1 if ms else fused), str(ms), '-', text_of(uses), str(divider), str(tp),
            ' '.join('%s>%s:%d' % row for row in sorted(lat)) or '-', flags[0], flags[1], '-', '-', '-', 'X'))

    def memory(self, target, extra=0, sources=()):
        address = self.c['load_lat'] + extra
        stored = address + 7 if self.c['amd'] else max(1, address - 3)  # fstp and fld through memory take 14 on Zen 3
        return [('m0.b', target, address), ('m0.i', target, address), ('m0.m', target, stored)] + list(sources)

    def arithmetic(self, stem, reverse, ports, latency, divider='-'):
        load = [(1, self.c['load'])]
        pairs = [('r0', 'r0', latency), ('r1', 'r0', latency)]
        use = [(1, ports)]
        for name in (stem, stem + 'R') if reverse else (stem,):
            self.put(name + ' (ST0, STi)', use, pairs, divider=divider)
            self.put(name + ' (STi, ST0)', use, pairs, divider=divider)
            self.put(name + 'P (STi, ST0)', use, pairs, divider=divider)
            own = [('r0', 'r0', latency)]
            for bits in (32, 64):
                self.put('%s (M%d)' % (name, bits), use + load, self.memory('r0', latency, own), fused=1, divider=divider)
            for bits in (16, 32):  # an integer, which is converted first
                self.put('%s (M%d)' % (name.replace('F', 'FI', 1), bits), use + load + [(1, self.c['add'][0])],
                         self.memory('r0', latency + self.c['add'][1] + 1, own), fused=2, divider=divider)

    def compares(self):
        c, load = self.c, [(1, self.c['load'])]
        use = [(1, c['compare'])]
        status = [('r0', 'r2', 1), ('r1', 'r2', 1)]
        for name in ('FCOM (STi)', 'FCOMP (STi)', 'FUCOM (STi)', 'FUCOMP (ST0, STi)'):
            self.put(name, use, status)
        for name in ('FCOMPP', 'FUCOMPP'):
            self.put(name, use * (1 if c['amd'] else 2), status)
        for name in ('FCOM', 'FCOMP'):
            for bits in (32, 64):
                self.put('%s (M%d)' % (name, bits), use + load, self.memory('r1', 1, [('r0', 'r1', 1)]), fused=1)
            for bits in (16, 32):
                self.put('%s (M%d)' % (name.replace('F', 'FI'), bits), use * 2 + load, self.memory('r1', 4, [('r0', 'r1', 1)]), fused=2)
        flags = 8 if c['amd'] else 3
        for name in ('FCOMI', 'FCOMIP', 'FUCOMI', 'FUCOMIP'):
            uses = use + ([(1, 'A' if c['data'] == 'A' else 'CJ' if c['data'] == 'CJ' else 'D')] if c['amd'] else
                          [(1, c['mul'][0]), (1, c['move'])])
            self.put(name + ' (ST0, STi)', uses, [('r0', 'r2', flags), ('r1', 'r2', flags)], fused=2 if c['amd'] else 3,
                     flags=('-', 'ACOPSZ'))
        for name in ('FTST', 'FXAM'):
            self.put(name, use if name == 'FTST' else [(1, c['move'])] * (1 if c['amd'] else 2), [('r0', 'r0', 0), ('r0', 'r1', 1)])

    def conditional_moves(self):
        read = {'B': 'C', 'NB': 'C', 'E': 'Z', 'NE': 'Z', 'BE': 'CZ', 'NBE': 'CZ', 'U': 'P', 'NU': 'P'}
        for condition, flags in read.items():
            latency, from_flags = (4, 7) if self.c['amd'] else (3, 3)
            uses = [(1, '7'), (2, self.c['move'])] if self.c['amd'] else [(2, self.c['mul'][0]), (1, self.c['move'])]
            self.put('FCMOV%s (ST0, STi)' % condition, uses, [('r0', 'r0', latency), ('r1', 'r0', latency), ('r2', 'r0', from_flags)],
                     fused=4 if self.c['amd'] else 3, flags=(flags, '-'))

    def moves(self):
        c, move = self.c, [(1, self.c['move'])]
        load, store = [(1, c['load'])], [(1, c['address']), (1, c['data'])]
        extra = move if c['amd'] else []
        self.put('FLD (STi)', move, [('r0', 'r1', 1)])
        for name in ('FST (STi)', 'FSTP (STi)', 'FSTPNCE (STi)'):
            self.put(name, move, [('r1', 'r0', 1)])
        for name in ('FLDZ', 'FLD1', 'FLDPI', 'FLDL2E', 'FLDL2T', 'FLDLG2', 'FLDLN2'):
            self.put(name, move * (1 if c['amd'] or name == 'FLDZ' else 2))
        for bits in (32, 64):
            self.put('FLD (M%d)' % bits, load + extra, self.memory('r0'), fused=1)
            for name in ('FST', 'FSTP'):
                self.put('%s (M%d)' % (name, bits), store + extra, [('r0', 'm0', 1)], fused=1)
        self.put('FLD (M80)', load * 2 + move * 2, self.memory('r0', 3), fused=4, tp=4 if c['amd'] else 2)
        self.put('FSTP (M80)', store * 2 + move * 3, [('r0', 'm0', 3)], fused=7, tp=5)
        for bits in (16, 32, 64):
            self.put('FILD (M%d)' % bits, load + [(1, c['move'] if c['amd'] else c['add'][0])], self.memory('r0', 4), fused=1)
            for name in ('FIST', 'FISTP', 'FISTTP'):
                if name != 'FIST' or bits < 64:
                    self.put('%s (M%d)' % (name, bits), store + [(2 if c['amd'] else 1, c['add'][0])], [('r0', 'm0', 3)], fused=2)
        # Only names are exchanged (fadd and fxch in a chain take as long as fadd), if with uops on most of Intel's.
        self.put('FXCH (STi)', [(c['exchange'], c['move'])] if c['exchange'] else [], [('r0', 'r1', 0), ('r1', 'r0', 0)])

    def control(self):
        c, move = self.c, [(1, self.c['move'])]
        store, load = [(1, c['address']), (1, c['data'])], [(1, c['load'])]
        for name in ('FINCSTP', 'FDECSTP', 'FNOP', 'FFREE (STi)', 'FFREEP (STi)'):
            self.put(name, move if c['point'] else [])
        self.put('FWAIT', move if c['point'] else [], fused=1 if c['amd'] else 2)
        self.put('FNSTSW (AX)', move * 2, fused=2, tp=2)
        self.put('FNSTSW (M16)', store + move, fused=2, tp=2)
        self.put('FNSTCW (M16)', store + move, fused=2, tp=2)
        self.put('FLDCW (M16)', load + move, fused=3, tp=2 if c['amd'] else 3)  # BHive: 3.0 on Haswell
        for name, figures in MICROCODE.items():
            n, cycles = figures[not c['amd']]
            pairs = [('r0', 'r0', cycles)]
            if name in TWO_SOURCES:
                pairs.append(('r1', 'r0', cycles))
            elif name in SECOND_WRITTEN:
                pairs = [('r0', 'r1', cycles), ('r1', 'r1', cycles)]
            elif name in BOTH_WRITTEN:
                pairs.append(('r0', 'r1', cycles))
            elif name in ('FNCLEX', 'FNINIT'):
                pairs = []
            self.put(name, [(min(n, 60), c['move'])] if cycles > n / 2 else [(2, c['move'])], pairs, fused=n, tp=cycles)

    def all(self):
        c = self.c
        self.arithmetic('FADD', False, *c['add'])
        self.arithmetic('FSUB', True, *c['add'])
        self.arithmetic('FMUL', False, *c['mul'])
        self.arithmetic('FDIV', True, c['mul'][0], c['div'][0], c['div'][1])
        self.put('FSQRT', [(1, c['mul'][0])], [('r0', 'r0', c['sqrt'][0])], divider=c['sqrt'][1])
        for name in ('FABS', 'FCHS'):
            self.put(name, [(1, c['sign'])], [('r0', 'r0', 1)])
        self.compares()
        self.conditional_moves()
        self.moves()
        self.control()
        return self.out


def lines(core):
    """Lines of a table, sorted by form; none for a core of which nothing is known."""
    return sorted(Lines(core).all().values(), key=lambda line: line.split('\t')[0]) if LIKE.get(core, core) in CORES else []


def source(core):
    return '#src X %s\n' % SOURCES.get(core, OTHERS) if lines(core) else ''


def put_into(path, core):
    """Replaces the lines of x87 in a table."""
    own = lines(core)
    if not own:
        return
    names = {line.split('\t')[0] for line in own}
    with open(path) as f:
        text = [line for line in f if line.split('\t')[0] not in names and not line.startswith('#src X ')]
    head = [line for line in text if line[0] == '#' or line.startswith('form\t')]
    rows = sorted([line for line in text if line not in head] + [line + '\n' for line in own], key=lambda line: line.split('\t')[0])
    at = max(i for i, line in enumerate(head) if line.startswith('#src ')) + 1
    head.insert(at, source(core))
    with open(path, 'w') as f:
        f.writelines(head + rows)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for core in sys.argv[2:] or sorted(set(CORES) | set(LIKE)):
        put_into(os.path.join(sys.argv[1], core + '.tsv'), core)


if __name__ == '__main__':
    main()
