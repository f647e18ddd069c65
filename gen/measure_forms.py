#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Latencies and throughputs of all forms of a table, measured on this CPU.

usage: measure_forms.py blocks TABLE DIR [--tact PROGRAM] [--arch NAME]
       measure_forms.py apply TABLE DIR [--tact PROGRAM] [--arch NAME]

blocks writes small loops into DIR/blocks.txt, and DIR/forms.json, which says what each of them is for.  Measure them
in between:

    tact measure -q --until-confirmed --init same -m loop -f csv DIR/blocks.txt > DIR/cycles.csv

apply changes what the measurements contradict in the rows of TABLE, and gives all measured rows the source M: their
throughput and their latencies between registers were measured, ports and what concerns memory are as they were.

A form is written as text from its name, assembled, and kept if tact decodes it to that name again.  Each loop ends with
dec and jnz, and is one of
  copies    the instruction eight times, with eight destinations: its throughput
  same N    four times, each waiting for the one before through operand N: its latency from there
  back N    through operand N of another kind of register, twice, with a move back; the two moves share what they take
            together as moves.def_ says, since only the sum can be measured
  mask      the same through the write mask
"""
import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile

COPIES, CHAIN, BACK = 8, 4, 2
GENERAL = {64: 'rax rbx rcx rdx r8 r9 r10 r11', 32: 'eax ebx ecx edx r8d r9d r10d r11d',
           16: 'ax bx cx dx r8w r9w r10w r11w', 8: 'al bl cl dl r8b r9b r10b r11b'}
CONSTANT = {64: 'rdi', 32: 'edi', 16: 'di', 8: 'dil'}
MEMORY = {8: 'byte', 16: 'word', 32: 'dword', 64: 'qword', 80: 'tbyte', 128: 'xmmword', 256: 'ymmword', 512: 'zmmword'}
IMMEDIATE = {'I8': '5', 'I16': '0x1234', 'I32': '0x12345678', 'I64': '0x123456789abcdef0'}
FIXED = ('RAX', 'EAX', 'AX', 'AL', 'CL', 'DX')
KIND = {'XMM': 'vector', 'YMM': 'vector', 'ZMM': 'vector', 'R64': 'general', 'R32': 'general', 'K': 'mask'}
# Moves back, and what they take of the sum of both ways: movq there and back takes 7 cycles on Zen 5, kmovq 9, vpmovm2d
# with vpmovd2m 5.
MOVES = {('vector', 'general'): ('vmovq xmm3, rdx', 3), ('general', 'vector'): ('vmovq rdx, xmm3', 4),
         ('vector', 'mask'): ('vpmovm2d xmm3, k5', 2), ('mask', 'vector'): ('vpmovd2m k5, xmm3', 3),
         ('general', 'mask'): ('kmovq rdx, k5', 4), ('mask', 'general'): ('kmovq k5, rdx', 5)}
# Branches, what faults or changes the machine, what has no explicit operands, x87.
LEFT_OUT = re.compile(
    r'J|LOOP|CALL|RET|CPUID|RDTSC|RDP|RDM|RDRAND|RDSEED|RDFS|RDGS|SYS|INT|IN |OUT|HLT|CLI|STI|UD|V?ZERO|X?SAVE|XRST|'
    r'XSAVE|WR|MOV_CR|MOV_DR|MOV_SEG|MOV \(.*SEG|L[DEFGS]S|LLDT|LAR|LSL|LAHF|SAHF|LODS|STOS|SCAS|CMPS|INS|STR|SLDT|'
    r'SGDT|SIDT|SMSW|LMSW|VERR|VERW|PUSH|POP|ENTER|LEAVE|CL[A-Z]+|PREF|F[A-Z0-9]+|MONIT|MWAI|SWAPG|RSM|IRET|XBEGIN|'
    r'XEND|XABORT|XTEST|XGETBV|XSETBV|XLAT|MOVS[BWDQ]( |_RE|$)|V?P?GATHER|VPGATHER|V?P?SCATTER|V?MASKMOVDQU|MASKMOVQ|'
    r'EMMS|BOUND|ARPL|INV|STAC|CLTS|PTWRITE|TPAUSE|UMWAIT|SERIAL|MFENCE|LFENCE|SFENCE|PAUSE|ENDBR|I?DIV')
# Throughputs that say which ports a uop has: those of the loop's own branch (eight of them take 3.0 cycles with it), or
# four others (eight take 2.1).  (forms, ports before, ports, uops)
PORTS = (
    (r'(TZCNT|BSF|BSR|BLSR|BLSI|BLSMSK) ', '1*p0123GH', '1*p3GH', 0),
    (r'MOV \(R64, I64\)', '1*p0123GH', '1*p3GH', 0),
    (r'(CMOV|SET)\w+ ', '1*p0123GH', '1*p0123', 0),
    # Those that need two of the parts of the flags: two uops, and two cycles from the flags.
    (r'CMOV(BE|NBE|L|NL|LE|NLE) ', '1*p0123', '2*p0123', 1),
)
# Stores of some elements, which were microcode on the core before: masked ones are a uop with a store now; those that
# compress first keep their ports, but are no longer issued in many slots.
MASKED_STORE = re.compile(r'VP?MASKMOV\w+ \(M')
COMPRESSED_STORE = re.compile(r'VP?COMPRESS\w+ \(M')
ALL_PIPES = re.compile(r'1\*p(?!89AB$)[89AB]+$')
LATE_FLAGS = re.compile(r'CMOV(BE|NBE|L|NL|LE|NLE) ')


def operands(form):
    m = re.search(r'\((.*)\)', form)
    return [o.strip() for o in m.group(1).split(',')] if m else []


def is_masked(form):
    """Whether the second operand is a write mask."""
    ops = operands(form)
    return len(ops) > 1 and ops[1] == 'K' and not form.startswith('K')


def registers(form):
    """The explicit registers, without the write mask."""
    ops = operands(form)
    return [o for i, o in enumerate(ops) if not (i == 1 and is_masked(form))
            and re.fullmatch(r'[XYZ]MM|MM|K|R\d+[lh]?|STi|ST0|' + '|'.join(FIXED), o)]


class Writer:
    """Writes one instruction: destination number dst; operand `same` is the destination's register, too."""

    def __init__(self, dst, same):
        self.dst, self.same, self.n = dst, same, 0

    def register(self, o):
        chosen = self.n in (0, self.same)
        place = 13 + min(self.n, 2)
        self.n += 1
        if o in FIXED:
            return o.lower()
        if o in ('XMM', 'YMM', 'ZMM'):
            return '%s%d' % (o.lower(), self.dst if chosen else place)
        if o == 'K':
            return 'k%d' % (2 + self.dst % 6 if chosen else 1)
        if o == 'MM':
            return 'mm%d' % (self.dst % 7 if chosen else 7)
        if o == 'R8h':
            return ('ah', 'bh', 'ch', 'dh')[self.dst % 4]
        bits = 8 if o == 'R8l' else int(o[1:])
        return GENERAL[bits].split()[self.dst % 8] if chosen else CONSTANT[bits]

    def operand(self, o):
        if o in IMMEDIATE:
            return IMMEDIATE[o]
        if o in ('0', '1'):
            return o
        m = re.fullmatch(r'M(\d+)(?:_1to(\d+))?', o)
        if m and int(m.group(1)) in MEMORY:
            return '%s ptr [rsi+%d]%s' % (MEMORY[int(m.group(1))], 64 * self.dst,
                                          '{1to%s}' % m.group(2) if m.group(2) else '')
        if re.fullmatch(r'[XYZ]MM|MM|K|R\d+[lh]?|' + '|'.join(FIXED), o):
            return self.register(o)
        raise ValueError(o)


def write(form, dst=3, same=None):
    """Intel's notation, or None."""
    suffixes = form.split(' ')[0].split('_')
    mnemonic = suffixes.pop(0).lower()
    writer, words = Writer(dst, same), []
    try:
        for i, o in enumerate(operands(form)):
            if i == 1 and is_masked(form):
                words[0] += '{k1}' + ('{z}' if 'Z' in suffixes else '')
            else:
                words.append(writer.operand(o))
    except ValueError:
        return None
    if 'ER' in suffixes:
        words.append('{rn-sae}')
    if 'SAE' in suffixes:
        words.insert(len(words) - (words[-1] == IMMEDIATE['I8']), '{sae}')
    lead = ('{evex} ' if 'EVEX' in suffixes else '') + ('lock ' if 'LOCK' in suffixes else '')
    return '%s%s %s' % (lead, mnemonic, ', '.join(words))


def assemble(texts):
    """Bytes of each text (instructions separated by ;), or None: one run of the assembler for all, more if it complains."""
    mark = bytes.fromhex('f1f1f1f15aa5')
    bad = {i for i, t in enumerate(texts) if t is None}
    with tempfile.TemporaryDirectory() as place:
        source, code = os.path.join(place, 'a.s'), os.path.join(place, 'a.o')
        while True:
            lines, owner = ['.intel_syntax noprefix'], [None]
            for i, t in enumerate(texts):
                if i not in bad:
                    part = ['.byte ' + ','.join('0x%02x' % b for b in mark)] + t.split(';')
                    lines += part
                    owner += [i] * len(part)
            with open(source, 'w', encoding='ascii') as f:
                f.write('\n'.join(lines) + '\n')
            p = subprocess.run(['as', source, '-o', code], capture_output=True, text=True)
            if not p.returncode:
                break
            more = {owner[int(n) - 1] for n in re.findall(r':(\d+): Error', p.stderr)} - bad
            if not more:
                sys.exit('as: ' + p.stderr[:500])
            bad |= more
        subprocess.run(['objcopy', '-O', 'binary', '-j', '.text', code, code + '.bin'], check=True)
        with open(code + '.bin', 'rb') as f:
            parts = iter(f.read().split(mark)[1:])
    return [None if i in bad else next(parts) for i in range(len(texts))]


def loop(code):
    """The block in a loop: dec r15; jnz."""
    code += bytes.fromhex('49ffcf')
    back = -(len(code) + 2)
    if back >= -128:
        return (code + b'\x75' + bytes([back & 255])).hex()
    return (code + b'\x0f\x85' + (back - 4).to_bytes(4, 'little', signed=True)).hex()


def read_table(path):
    with open(path, encoding='ascii') as f:
        return f.read().splitlines()


def columns(lines):
    return next(line for line in lines if line.startswith('form\t')).split('\t')


def tact(args, command, hexes, *more):
    p = subprocess.run([args.tact, command, '-q', '-a', args.arch, *more, '-'], input='\n'.join(hexes) + '\n',
                       capture_output=True, text=True)
    return p.stdout.splitlines()


def decoded(args, codes):
    """The forms to which single instructions decode."""
    out = {}
    for line in tact(args, 'predict', [c.hex() for c in codes], '-m', 'unroll', '-f', 'json', '--info'):
        block = json.loads(line)
        if block['status'] == 'ok' and len(block['instructions']) == 1:
            out[block['hex']] = block['instructions'][0]['form']
    return out


def experiments(form):
    """[(kind, operand, text)]"""
    regs, single = registers(form), write(form)
    out = [('copies', 0, ';'.join(write(form, dst) for dst in range(COPIES))), ('same', 0, ';'.join([single] * CHAIN))]
    kind = KIND.get(regs[0]) if regs else None
    for n in range(1, len(regs)):
        text = write(form, same=n)
        if text != single:
            out.append(('same', n, ';'.join([text] * CHAIN)))
        if kind and regs[n] in KIND and KIND[regs[n]] != kind:
            out.append(('back', n, ';'.join([text, MOVES[KIND[regs[n]], kind][0]] * BACK)))
    if kind not in (None, 'mask') and is_masked(form):
        out.append(('mask', 1, ';'.join([single.replace('{k1}', '{k5}'), MOVES['mask', kind][0]] * BACK)))
    return out


def make_blocks(args):
    lines = read_table(args.table)
    forms = [line.split('\t')[0] for line in lines if not line.startswith(('#', 'form\t'))]
    forms = [f for f in forms if not LEFT_OUT.match(f)]
    codes = dict(zip(forms, assemble([write(f) for f in forms])))
    names = decoded(args, [c for c in codes.values() if c])
    forms = [f for f in forms if codes[f] and names.get(codes[f].hex()) == f]
    plans = [(f, *e) for f in forms for e in experiments(f)]
    found = [(f, kind, n, loop(code)) for (f, kind, n, _), code in zip(plans, assemble([p[3] for p in plans])) if code]
    os.makedirs(args.dir, exist_ok=True)
    with open(os.path.join(args.dir, 'forms.json'), 'w', encoding='ascii') as f:
        json.dump(found, f)
    with open(os.path.join(args.dir, 'blocks.txt'), 'w', encoding='ascii') as f:
        f.write('\n'.join(dict.fromkeys(code for *_, code in found)) + '\n')
    print('%d forms, %d loops' % (len(forms), len(found)))


class Facts:
    """What was measured of a form: cycles of a copy, and latencies from its operands."""

    def __init__(self):
        self.copy = None
        self.again = None  # of one that writes the same destination
        self.from_operand = {}

    def add(self, kind, n, cycles, form):
        if kind == 'copies':
            self.copy = cycles / COPIES
            return
        mask = is_masked(form)
        if kind == 'same':
            latency = cycles / CHAIN
            key = n + (mask and n > 0)
            if not n:
                self.again = latency
        else:
            regs = registers(form)
            other = 'mask' if kind == 'mask' else KIND[regs[n]]
            latency = cycles / BACK - MOVES[other, KIND[regs[0]]][1]
            key = 1 if kind == 'mask' else n + mask
        whole = round(latency)
        if whole >= 1 and abs(latency - whole) < .04 * max(whole, 1) + .02:
            self.from_operand[key] = whole


def read_facts(args):
    with open(os.path.join(args.dir, 'forms.json'), encoding='ascii') as f:
        plans = json.load(f)
    with open(os.path.join(args.dir, 'cycles.csv'), newline='') as f:
        cycles = {r['hex']: float(r['cycles_per_iteration']) for r in csv.DictReader(f)
                  if r['status'] == 'ok' and r['cycles_per_iteration'] and int(r['agree']) >= 2}
    facts = {}
    for form, kind, n, code in plans:
        if code in cycles:
            facts.setdefault(form, Facts()).add(kind, n, cycles[code], form)
    return plans, cycles, facts


def put_latencies(form, row, facts):
    """Latencies to the first register, from what is chained through each operand.  A chain through a source waits for
    the destination as well, if that is read.
    """
    ops = operands(form)
    if not ops or ops[0].startswith('M') and ops[0] != 'MM' or re.match(r'MULX|XCHG|XADD', form):
        return
    lat = dict(x.rsplit(':', 1) for x in row['lat'].split()) if row['lat'] != '-' else {}
    known = facts.from_operand
    inherent = known.get(0, 0)
    # A write mask that is not there counts as an operand in some rows.
    last = len(registers(form))
    shift = not is_masked(form) and last > 1 and 'r1>r0' not in lat and 'r%d>r0' % last in lat
    if facts.again is not None and facts.again < 0.8 and 'r0>r0' in lat:
        lat['r0>r0'] = '0'
    # as fast without a chain: no dependence
    if facts.copy is not None and inherent and inherent <= 1.1 * facts.copy and 'r0>r0' not in lat:
        inherent = 0
    for n, value in known.items():
        key = 'r%d>r0' % (n + (shift and n > 0))
        if n and value <= inherent:
            continue  # hidden behind the destination
        if n and facts.copy is not None and value <= 1.1 * facts.copy:
            continue  # as many a cycle as without a chain
        if not n and not inherent:
            continue
        lat[key] = str(value)
    row['lat'] = ' '.join('%s:%s' % (k, lat[k]) for k in sorted(lat)) or '-'


def put_slots(row, slots):
    row['fused'] = row['mite'] = str(slots)
    row['ms'] = '0'


def put_ports(form, row, facts):
    if facts.copy is not None and ALL_PIPES.match(row['ports']) and abs(facts.copy - 0.25) < 0.01:
        row['ports'] = '1*p89AB'
    if facts.copy is not None and facts.copy < 0.6 and MASKED_STORE.match(form):
        row['uops'], row['ports'] = '2', '1*p456I+1*pCJ'
        put_slots(row, 1)
    if facts.copy is not None and COMPRESSED_STORE.match(form):
        put_slots(row, row['uops'])
    if re.match(r'RC[LR]\w* \(.*, 1\)', form):  # also through the carry
        row['lat'] = re.sub(r'(r\d>r\d):\d+', r'\1:1', row['lat'])
    for pattern, before, ports, more in PORTS:
        if re.match(pattern, form) and before in row['ports'] and not re.search(r'\(M', form):
            row['ports'] = row['ports'].replace(before, ports)
            row['uops'] = str(int(row['uops']) + more)
    if LATE_FLAGS.match(form):
        flags = len(registers(form))
        row['lat'] = re.sub(r'\br%d>r0:\d+' % flags, 'r%d>r0:2' % flags, row['lat'])


def put_throughput(row, facts, predicted):
    """What neither ports nor chains explain; where the table had such a figure already, the new one."""
    if facts.copy is None or facts.copy * COPIES <= facts.from_operand.get(0, 0) * 1.05:
        return
    if row['tp'] != '-' or (facts.copy >= 1 and facts.copy > 1.08 * predicted / COPIES):
        row['tp'] = str(round(facts.copy))
        if facts.copy < 1:
            row['tp'] = '-'


def apply(args):
    plans, cycles, facts = read_facts(args)
    lines = read_table(args.table)
    names = columns(lines)
    copies = {form: code for form, kind, _, code in plans if kind == 'copies' and code in cycles}
    predicted = {}
    for r in csv.DictReader(tact(args, 'predict', list(copies.values()), '-m', 'loop', '--init', 'same', '-f', 'csv')):
        if r['cycles_per_iteration']:
            predicted[r['hex']] = float(r['cycles_per_iteration'])
    changed = 0
    for i, line in enumerate(lines):
        form = line.split('\t')[0]
        if line.startswith('#') or form not in facts:
            continue
        row = dict(zip(names, line.split('\t')))
        before = dict(row)
        put_ports(form, row, facts[form])
        put_latencies(form, row, facts[form])
        if form in copies and copies[form] in predicted:
            put_throughput(row, facts[form], predicted[copies[form]])
        changed += row != before
        row['src'] = 'M'
        lines[i] = '\t'.join(row[n] for n in names)
    with open(args.table, 'w', encoding='ascii') as f:
        f.write('\n'.join(lines) + '\n')
    print('%d of %d measured forms changed' % (changed, len(facts)))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('what', choices=('blocks', 'apply'))
    parser.add_argument('table')
    parser.add_argument('dir')
    parser.add_argument('--tact', default='build/tact')
    parser.add_argument('--arch', default='ZEN5')
    args = parser.parse_args()
    (make_blocks if args.what == 'blocks' else apply)(args)


if __name__ == '__main__':
    main()
