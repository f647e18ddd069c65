#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes data/insn/ZEN4.tsv from uops.info's facts on Zen 4 and Zen 3 and from our own experiments.

usage: import_zen.py FACTS_DIR TABLES_DIR

FACTS_DIR holds uops/zen4.csv (one line per form: range of latencies, throughput, macro-ops, pipes of the
floating-point side) and insn-more/ZEN3.jsonl.gz (latencies from operand to operand); TABLES_DIR is
data/insn: the tables of Intel's cores there say which operands and flags a form reads and writes, and
which of its uops access memory.

Ports of the table: 0-3 ALU0 to ALU3, 4-6 the three address units, 7 the way from integer to
floating-point registers, 8-B FP0 to FP3, C stores of the floating-point side, D the way from
floating-point to integer registers, E and F data of integer stores.

What the facts do not cover comes from experiments on a family 25, model 17 (doc/models/zen4.md): pipes
of integer operations, latencies between the two sides, idioms, which pairs are fused.
"""
import csv
import gzip
import itertools
import json
import math
import os
import re
import sys

import x87

HEADER = """\
#tact-insn 1
#src U uops.info, measured on Zen 4; pipes of integer operations from our experiments
#src E uops.info, corrected by experiments on Zen 4 (CORRECTIONS in gen/import_zen.py)
#src V uops.info, measured on Zen 4, latencies from operand to operand on Zen 3; pipes of integer operations from our experiments
# Instruction table of ZEN4: one line a form, sorted by form.
# Source: uops.info's figures for Zen 4 and Zen 3; pipes of integer operations from experiments;
# written by gen/import_zen.py.  Edit freely: give the changed line another src.
#
# Columns as in the other tables, separated by tabs; '-' is nothing.  fused: macro-ops.  Ports: 0-3 ALUs,
# 4-6 addresses, 7 integer to floating point, 8-B floating point, C its stores, D floating point to
# integer, E and F data of integer stores.
#  src      source: E corrected by experiments; U uops.info, Zen 4; V its latencies from operand to operand are those of Zen 3
form	uops	fused	mite	ms	dec	ports	div	tp	lat	rf	wf	fuse	indexed	same	src
"""

TEMPLATES = ('RKL', 'ICL', 'SKX', 'SKL', 'HSW', 'SNB')  # later ones only for forms that are not in earlier ones
LOADS, STORE_ADDRESSES, STORE_DATA = ('23',), ('78', '237'), ('49', '4')
LOAD_LATENCY, LOAD_LATENCY_VEC = 4, 6
MOST_ACCESSES = 64  # of microcode, whose counts in the templates are those of other cores
MOST_DECODED = 8  # macro-ops; no sign of the microcode sequencer up to there (shld, pcmpistri, cmpxchg)
TO_INTEGER, TO_VECTOR = 3, 3  # experiments: movq there and back takes 6; a vector load and movq 9

ALU, SHIFT, SELECT, MULTIPLY, DIVIDE = '0123', '12', '03', '1', '2'
# Experiments with pairs of instructions in one loop: what competes with what.
INTEGER_PIPES = (
    (r'(SHL|SHR|SAR|ROL|ROR|RCL|RCR|SHLX|SHRX|SARX|RORX|BT|BTS|BTR|BTC|BEXTR|BZHI|SHLD|SHRD|CDQ|CQO|CWD)$', SHIFT),
    (r'(CMOV|SET|J|LOOP)', SELECT),
    (r'(I?MUL|MULX|PDEP|PEXT|CRC32)$', MULTIPLY),
    (r'(I?DIV)$', DIVIDE),
)
UNDECODED = ('CLZERO', 'INSD_REPE_REX64', 'INSD_REPNE_REX64', 'OUTSD_REPE_REX64', 'OUTSD_REPNE_REX64')
FUSED = r'(CMP|TEST|ADD|SUB|AND|OR|XOR|INC|DEC)$'
CONDITIONS = 'B,BE,L,LE,NB,NBE,NL,NLE,NO,NP,NS,NZ,O,P,S,Z'
WITHOUT_CARRY = 'L,LE,NL,NLE,NO,NP,NS,NZ,O,P,S,Z'
# Experiments on the core that contradict the facts or add to them: forms, and what of them is different.  In lat,
# + adds a pair of operands.
CORRECTIONS = (
    # A chain through the destination, which these read (also if the mask zeroes the rest).
    (r'VP?(COMPRESS|EXPAND)\w+_Z \(XMM', {'lat': '+r0>r0:2'}),
    (r'VP?(COMPRESS|EXPAND)\w+_Z \(YMM', {'lat': '+r0>r0:4'}),
    (r'VP?(COMPRESS|EXPAND)\w+_Z \(ZMM', {'lat': '+r0>r0:5'}),
    (r'VEXTRACT[IF]128 \(XMM', {'ports': '1*p9A', 'lat': 'r1>r0:3'}),
    (r'V?DIVPS( |_EVEX)\((XMM|YMM), ', {'lat': 'r0>r0:10 r1>r0:10 r2>r0:10'}),
    # What only keeps an upper part: the whole operation waits for it, unless the pipeline knows that it is zero.
    (r'(CVT(SI2S[SD]|SS2SD|SD2SS)|ROUNDS[SD]|RCPSS|RSQRTSS) \(XMM', {'lat': '+r0>r0:3'}),
    (r'V(CVT(SI2S[SD]|SS2SD|SD2SS)|ROUNDS[SD]|RCPSS|RSQRTSS) \(XMM, XMM', {'lat': '+r1>r0:3'}),
    (r'V(CVT(SI2S[SD]|SS2SD|SD2SS))_EVEX(_ER)? \(XMM, XMM', {'lat': '+r2>r0:3'}),
    (r'SQRTSS \(XMM', {'lat': '+r0>r0:15'}),
    (r'SQRTSD \(XMM', {'lat': '+r0>r0:21'}),
    (r'VSQRTSS \(XMM, XMM', {'lat': '+r1>r0:15'}),
    (r'VSQRTSD \(XMM, XMM', {'lat': '+r1>r0:21'}),
    (r'(MOV[LH]P[SD] \(XMM, M|MOVS[SD]\w* \(XMM, XMM|MOV(HL|LH)PS)', {'lat': '+r0>r0:1'}),
    (r'V(MOV[LH]P[SD] \(XMM, XMM, M|MOVS[SD](_1\w)? \(XMM, XMM, XMM)', {'lat': '+r1>r0:1'}),
    (r'SH[LR]D_(IMMB|CL) ', {'lat': 'r0>r0:2 r0>r2:2 r0>r3:2 r1>r0:2 r1>r2:2 r1>r3:2 r2>r0:2 r2>r3:2'}),
    (r'I?DIV \((R32|R64)\)', {'lat': 'r2>r1:10 r2>r2:10'}),  # cdq, idiv: 11
    (r'XLAT', {'lat': 'm0.i>r0:6'}),
    (r'LAHF', {'lat': '+r0>r0:1'}),
    (r'LEAVE$', {'ports': '1*p456', 'lat': 'm0.b>r0:4 m0.b>r1:1 m0.i>r0:4 m0.i>r1:1 m0.m>r0:0 m0.m>r1:0'}),
    (r'SET\w+ \(M8\)', {'ports': '1*p03+1*p456+1*pEF', 'tp': '1'}),
    (r'XCHG \((R32|R64), (R32|R64|EAX|RAX)\)', {'ports': '-', 'lat': 'r0>r0:0 r0>r1:0 r1>r0:0 r1>r1:0'}),
    (r'CMPXCHG \(M(16|32|64)', {'lat': ' '.join('m0.%s>%s:6' % (p, t) for p in 'bi' for t in ('m0', 'r1', 'r2')) + ' m0.m>m0:0'}),
    (r'CMPXCHG_LOCK \(M(16|32|64)', {'tp': '9'}),
    (r'PAUSE', {'tp': '90'}),
    (r'LFENCE', {'tp': '17'}),
    (r'SFENCE', {'tp': '1'}),
    (r'V?MOV[DQ](_EVEX)? \(XMM, R', {'ports': '1*p0+1*pB'}),
)
# Idioms: same registers, no dependence.  Those of general registers need no pipe.
IDIOMS = (r'V?(PXOR[DQ]?|XORPS|XORPD|PSUB[BWDQ]|PSUBU?S[BW]|PCMPGT[BWDQ]|PCMPEQ[BWDQ]|PANDN[DQ]?|ANDNPS|ANDNPD)'
          r'(_EVEX)? \((XMM|YMM|ZMM)(, (XMM|YMM|ZMM))+\)$')
GENERAL_IDIOMS = r'(XOR_31|XOR_33|SUB_29|SUB_2B) \((R32, R32|R64, R64)\)$'


def read_facts(directory):
    with open(os.path.join(directory, 'uops/zen4.csv'), newline='') as f:
        zen4 = {row['instruction']: row for row in csv.DictReader(f)}
    with gzip.open(os.path.join(directory, 'insn-more/ZEN3.jsonl.gz'), 'rt') as f:
        zen3 = {form['string']: form for form in map(json.loads, f)}
    return zen4, zen3


def read_templates(directory):
    rows = {}
    for arch in TEMPLATES:
        with open(os.path.join(directory, arch + '.tsv')) as f:
            for line in f:
                fields = line.rstrip('\n').split('\t')
                if line[0] != '#' and fields[0] != 'form':
                    rows.setdefault(fields[0], dict(zip(
                        ('form', 'uops', 'fused', 'mite', 'ms', 'dec', 'ports', 'div', 'tp', 'lat', 'rf', 'wf', 'fuse',
                         'indexed', 'same'), fields)))
    return rows


def number(text):
    return float(text.replace('≤', '')) if text else None


def latency_range(text):
    """'[1;≤7]' -> (1, 7); '≤6' -> (6, 6); '' -> None"""
    ends = [number(t) for t in text.strip('[]').split(';')] if text else []
    return (int(ends[0]), int(ends[-1])) if ends else None


def throughput(text):
    """The measured one of 'computed / measured'."""
    return number(text.split('/')[-1].strip()) or 0


def uses(text):
    """'1*p01+2*p5' -> [(1, '01'), (2, '5')]"""
    return [(int(u.split('*')[0]), u.split('*')[1].lstrip('FPp')) for u in text.split('+')] if text not in ('', '-') else []


def count(port_uses, names):
    return sum(n for n, p in port_uses if p in names)


def bound(port_uses):
    """Cycles that the most contended set of ports needs."""
    best = 0
    for k in range(1, len(port_uses) + 1):
        for some in itertools.combinations(port_uses, k):
            best = max(best, sum(n for n, _ in some) / len(set(''.join(p for _, p in some))))
        if k == 3:
            break
    return best


class Form:
    def __init__(self, name, row, template, zen3):
        self.name, self.row, self.template, self.zen3 = name, row, template, zen3
        self.mnemonic = re.split(r'[ _]', name)[0]
        self.operands = name.split('(')[1].rstrip(')').split(', ') if '(' in name else []
        self.ops = max(1, int(row['uops'] or 1))
        self.tp = throughput(row['throughput'])
        self.is_wide = 'ZMM' in name or 'M512' in name
        intel = uses(template['ports']) if template else []
        self.loads = count(intel, LOADS)
        self.stores = max(count(intel, STORE_ADDRESSES), count(intel, STORE_DATA))
        if not template:
            memory = [o for o in self.operands if re.match(r'M\d', o)]
            self.stores = int(bool(memory) and self.operands[0] in memory)
            self.loads = int(bool(memory) and not self.stores)
        if 'PREFETCH' in name:
            self.loads, self.stores = 1, 0
        self.loads, self.stores = min(self.loads, MOST_ACCESSES), min(self.stores, MOST_ACCESSES)
        self.is_vector = bool(row['ports']) or re.search(r'\b[XYZ]?MM\b', name) is not None

    # ---- ports ----

    def vector_ports(self):
        out = []
        for n, pipes in uses(self.row['ports']):
            if pipes == '45':  # one of them stores, the other one moves to integer registers
                pipes = 'C' if self.stores and not self.writes_integer() else 'D'
                if self.stores:
                    n = min(n, max(self.stores, 1)) if self.ops <= 4 else n
            else:
                pipes = ''.join('89AB'[int(c)] for c in pipes)
            out.append((n, pipes))
        computed = [u for u in out if u[1] not in 'CD']
        if self.is_wide and computed and self.tp >= 1.8 * bound(computed) and not self.is_division() and \
                self.mnemonic != 'VPCLMULQDQ':  # which takes as long with 256 bits
            out = [(2 * n if p not in ('C', 'D') else n, p) for n, p in out]
        if self.reads_integer():
            out.append((1, '7'))
        return out

    def reads_integer(self):
        return self.is_vector and any(re.match(r'R\d', o) for o in self.operands[1:])

    def writes_integer(self):
        return self.is_vector and (bool(self.operands) and re.match(r'R\d', self.operands[0]) is not None
                                   or re.match(r'V?(U?COMIS|PTEST|TESTP|PCMP[EI]STRI)|K(OR)?TEST', self.mnemonic) is not None)

    def integer_ports(self):
        n = self.ops - (1 if self.stores and self.ops > 1 else 0)
        if self.mnemonic in ('NOP', 'PAUSE', 'LFENCE', 'MFENCE', 'SFENCE', 'CLC', 'VZEROUPPER') or 'PREFETCH' in self.mnemonic:
            return []
        if self.mnemonic == 'MOV' and self.loads and re.match(r'(R8|R16|AL|AX)', self.operands[0]):
            return [(1, ALU)]  # what is loaded is merged into the register
        if self.mnemonic in ('MOV', 'MOVNTI', 'POP', 'PUSH') and (self.loads or self.stores):
            return []
        if self.mnemonic.startswith('SET') and self.stores:
            return [(2, SELECT)]
        if self.mnemonic in ('MOVZX', 'MOVSX', 'MOVSXD', 'MOVBE') and self.loads and self.ops == 1:
            return []
        if self.mnemonic in ('CALL', 'RET'):
            return [(1, SELECT)]
        pipes = ALU
        for pattern, where in INTEGER_PIPES:
            if re.match(pattern, self.mnemonic):
                pipes = where
        if self.mnemonic in ('SHLD', 'SHRD') and not self.loads:
            return [(3, SHIFT), (1, ALU)]
        if pipes in (MULTIPLY, DIVIDE) and n > 1:
            return [(1, pipes), (n - 1, ALU)]
        if n > 4 and pipes != ALU:
            return [(2, pipes), (n - 2, ALU)]
        while n > 1 and n / len(pipes) > 1.1 * self.tp:
            n -= 1
        return [(n, pipes)]

    def port_uses(self):
        out = self.vector_ports() if self.is_vector else self.integer_ports()
        wide = 2 if re.search(r'M512|ZMM', self.name) and 'PREFETCH' not in self.name and not re.search(r'1to|VSIB|M(8|16|32|64|128|256)\b', self.name) else 1
        vector_memory = self.is_vector and not self.mnemonic.startswith('CVTSI')
        if self.loads:
            out.append((self.loads * wide, '45' if vector_memory else '456'))
        if self.stores:
            out.append((self.stores * wide, '456'))
            has_data = any(p == 'C' for _, p in out)
            if self.is_vector and has_data:
                out = [(self.stores * wide if p == 'C' else n, p) for n, p in out]
            else:
                out.append((self.stores * wide, 'C' if self.is_vector else 'EF'))
        merged = {}
        for n, p in out:
            merged[p] = merged.get(p, 0) + n
        # The first uop makes the results: the way to the other side, or the one with the least choice.
        return sorted(((n, p) for p, n in merged.items()), key=lambda u: (u[1] not in '7D', len(u[1]), u[1]))

    def is_division(self):
        return re.search(r'DIV|SQRT', self.mnemonic) is not None

    # ---- latencies ----

    def operand_cycles(self, source, target):
        """From register to register, or to flags."""
        ends = latency_range(self.row['latency'])
        cycles = None
        if self.zen3:
            for row in self.zen3['latencies']:
                if row['s'] == source.replace('r', 'REG') and row['t'] == target.replace('r', 'REG'):
                    cycles = row['cycles']
        if re.match(r'(SHL|SHR|SAR|ROL|ROR)$', self.mnemonic) and 'CL' in self.name:
            return min(cycles, 1) if cycles is not None else 1  # 16 to the flags cannot be seen in code
        if cycles is None:
            cycles = ends[0] if ends else 1
        if ends and ends[0] == ends[1] and cycles:
            cycles = ends[0]
        elif ends and not ends[0] and self.idiom() and cycles:
            cycles = ends[1]  # the other end is that of equal registers
        elif ends and cycles:
            cycles = min(max(cycles, ends[0]), ends[1])
        bounded = '≤' in self.row['latency']
        if self.mnemonic == 'XCHG' and not cycles:
            cycles = 1
        if self.writes_integer() and bounded and cycles > TO_INTEGER:
            cycles = max(cycles - (3 if cycles < 8 else 4), TO_INTEGER)
        elif self.reads_integer() and bounded and cycles > TO_VECTOR:
            cycles = max(cycles - (2 if cycles <= 6 else 1), TO_VECTOR)
        return cycles

    def latencies(self):
        pairs = [p.split(':')[0].split('>') for p in self.template['lat'].split()] if self.template and self.template['lat'] != '-' \
            else self.own_pairs()
        if self.loads and not any(s.startswith('m0') for s, _ in pairs):
            pairs += [(m, t) for m in ('m0.b', 'm0.i', 'm0.m') for t in sorted({t for _, t in pairs})]
        rows = {}
        registers = [self.operand_cycles(s, t) for s, t in pairs if s[0] == 'r' and t[0] == 'r']
        operation = min([c for c in registers if c] or [self.operation_cycles()])
        load = LOAD_LATENCY_VEC if self.is_vector else LOAD_LATENCY
        if self.is_vector and self.writes_integer():
            operation = max(operation, TO_INTEGER)
        plain = self.is_plain_load()
        for source, target in pairs:
            kind = source.split('.')[1] if '.' in source else ''
            if source[0] == 'a':
                rows[source, target] = self.address_cycles(kind)
            elif source[0] == 'r' and target[0] == 'r':
                rows[source, target] = self.operand_cycles(source, target)
            elif kind == 'm':
                # Renamed memory takes no time; the pipeline knows when it is not.
                rows[source, target] = (0 if not self.is_vector else 1) if plain else 1 if target[0] == 'm' else operation
            elif kind and target[0] == 'r':
                rows[source, target] = load if plain else load + operation
            elif kind:
                rows[source, target] = load + operation
            else:
                rows[source, target] = 1
        return ' '.join('%s>%s:%d' % (s, t, c) for (s, t), c in sorted(rows.items())) or '-'

    def operation_cycles(self):
        ends = latency_range(self.row['latency'])
        if not ends or self.is_plain_load():
            return 1
        if '[' not in self.row['latency'] or ends[0] > LOAD_LATENCY:  # only from memory
            return max(1, (ends[0] if ends[0] != ends[1] else ends[1] - 1) - (8 if self.is_vector else LOAD_LATENCY))
        return max(1, ends[0])

    def is_plain_load(self):
        return self.loads == 1 and not self.stores and \
            re.match(r'V?(MOV|LDDQU$|POP$|P?BROADCAST)', self.mnemonic) is not None and ', K' not in self.name \
            and not re.match(r'V?MOV([HL]P|S[XHL]|SXD)', self.mnemonic) \
            and not (self.mnemonic == 'MOV' and re.match(r'(R8|R16|AL|AX)', self.operands[0]))

    def address_cycles(self, kind):
        if self.zen3:
            for row in self.zen3['latencies']:
                cycles = row.get('addr' if kind == 'b' else 'addr_index')
                if row['s'].startswith('AGEN') and cycles:
                    return cycles
        ends = latency_range(self.row['latency'])
        return max(1, ends[1]) if ends else 1

    def own_pairs(self):
        """Operands of a form that no template has: the first is written, the others are read."""
        registers = [i for i, o in enumerate(self.operands) if re.match(r'([XYZ]?MM|K|R\d+\w?)$', o)]
        names = {i: 'r%d' % k for k, i in enumerate(registers)}
        target = 'm0' if self.stores else 'r0'
        merges = re.match(r'V(DP|FM|FN)', self.mnemonic) or (len(self.operands) > 1 and self.operands[1] == 'K' and '_Z' not in self.name)
        sources = [names[i] for i in registers if i or self.stores or merges]
        if self.loads:
            sources += ['m0.b', 'm0.i', 'm0.m']
        return [(s, target) for s in sources] if registers else []

    # ---- the line ----

    def eliminated(self):
        return self.tp <= 0.18 and self.mnemonic != 'CLC' and 'MOV' in self.mnemonic and not self.loads and not self.stores

    def idiom(self):
        if re.match(GENERAL_IDIOMS, self.name):
            return 'uops=0 ports=- lat=%s'
        return 'lat=%s' if re.match(IDIOMS, self.name) and ', K' not in self.name else None

    def same(self, lat):
        form = self.idiom()
        pairs = [p.split(':')[0] for p in lat.split()]
        if form and lat != '-':
            return form % ','.join(p + ':0' for p in pairs)
        if self.mnemonic == 'SBB' and re.search(r'\((R32, R32|R64, R64)\)', self.name):
            return 'lat=' + ','.join(p if p.split('>')[0] == 'r2' else p.split(':')[0] + ':0' for p in lat.split())
        return '-'

    def fuse(self):
        if not re.match(FUSED, self.mnemonic) or self.loads or self.stores or '_LOCK' in self.name:
            return '-'
        return WITHOUT_CARRY if self.mnemonic in ('INC', 'DEC') else CONDITIONS

    def line(self):
        ports, lat = self.port_uses(), self.latencies()
        alone = divider = '-'
        excess = self.tp - bound(ports)
        if self.is_division() and excess > 0.6:
            divider = str(round(self.tp))
        elif self.mnemonic not in ('RET', 'CALL', 'JMP') and excess >= 0.9 and self.tp >= 2 and self.tp > 1.4 * bound(ports) and self.tp > 1.4 * self.ops / 6:
            alone = str(round(self.tp))
        if self.eliminated():
            ports, lat = [], re.sub(r':\d+', ':0', lat)
        elif self.mnemonic == 'VZEROUPPER':
            ports = [(1, '7')]  # one a cycle; where is not known
        elif not ports and self.mnemonic not in ('NOP', 'CLC', 'LFENCE', 'MFENCE', 'SFENCE', 'PAUSE', 'VZEROUPPER'):
            ports = [(1, '89AB' if self.is_vector else ALU)]
        ms = self.ops - 1 if self.ops > MOST_DECODED else 0
        ports = '+'.join('%d*p%s' % u for u in ports) or '-'
        source = 'V' if self.zen3 else 'U'
        for pattern, changes in CORRECTIONS:
            if re.match(pattern, self.name):
                ports, alone = changes.get('ports', ports), changes.get('tp', alone)
                lat = self.corrected(lat, changes.get('lat'))
                source = 'E'
        n = sum(k for k, _ in uses(ports))
        flags = (self.template['rf'], self.template['wf']) if self.template else self.zen3_flags()
        return '\t'.join((
            self.name, str(n), str(self.ops), str(self.ops - ms), str(ms), '-',
            ports, divider, alone, lat, flags[0], flags[1], self.fuse(), '-', self.same(lat), source))

    @staticmethod
    def corrected(lat, changes):
        """Latencies with these changes; + adds a pair."""
        rows = dict(row.split(':') for row in lat.split()) if lat != '-' else {}
        for pair, cycles in (row.split(':') for row in (changes or '').split()):
            if pair[0] == '+' or pair in rows:
                rows[pair.lstrip('+')] = cycles
        return ' '.join('%s:%s' % row for row in sorted(rows.items())) or '-'

    def zen3_flags(self):
        out = {'flags_r': set(), 'flags_w': set()}
        for operand in (self.zen3 or {'operands': ()})['operands']:
            for key in out:
                out[key] |= set(''.join(operand.get(key, ()))) & set('ACOPSZ')
        return [''.join(sorted(out[k])) or '-' for k in ('flags_r', 'flags_w')]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    zen4, zen3 = read_facts(sys.argv[1])
    templates = read_templates(sys.argv[2])
    lines = []
    for name, row in zen4.items():
        plain = name.replace('_EVEX', '')  # told apart from VEX here only where our tables do
        if name not in templates and plain in templates:
            name = plain
        if name.split(' ')[0] not in UNDECODED:
            lines.append(Form(name, row, templates.get(name), zen3.get(name)).line())
    lines.sort(key=lambda line: line.split('\t')[0])
    with open(os.path.join(sys.argv[2], 'ZEN4.tsv'), 'w') as f:
        f.write(HEADER)
        f.writelines(line + '\n' for line in lines)
    x87.put_into(os.path.join(sys.argv[2], 'ZEN4.tsv'), 'ZEN4')
    print('ZEN4: %d forms' % len(lines), file=sys.stderr)


if __name__ == '__main__':
    main()
