#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the tables of the cores whose facts need a way of their own: ZEN2, ZEN3, GRT, RWC, LNC, ZEN5.

usage: import_more.py FACTS_DIR TABLES_DIR [CORE...]

FACTS_DIR holds what uops.info measured (uops/*.csv: the table view of 2023; insn-more/*.jsonl.gz: the
edition of 2026) and, for ZEN5, the figures of InstLatX64 (latency/zen5.csv).  TABLES_DIR is data/insn:
its tables say which operands and flags a form reads and writes.

ZEN2, ZEN3  as gen/import_zen.py does it for ZEN4: pipes of the floating-point side from uops.info, those
            of integer operations from their throughput and AMD's guides
GRT         uops.info has no ports of Gracemont: they follow from what Intel's manual says of its ports and
            from the throughput
RWC         differences from GLC, the same core but for a few figures; AVX-512 stays as it is there
LNC         uops.info names kinds of ports (ALU, SHIFT, V01, ...) instead of numbers
ZEN5        differences from ZEN4: latencies and throughputs of InstLatX64
"""
import csv
import gzip
import json
import os
import re
import sys

import import_zen
import x87
from import_zen import Form, bound, read_templates

COLUMNS = 'form	uops	fused	mite	ms	dec	ports	div	tp	lat	rf	wf	fuse	indexed	same	src\n'


def read_csv(facts, name):
    with open(os.path.join(facts, 'uops', name + '.csv'), newline='') as f:
        return {known_name(row['instruction']): row for row in csv.DictReader(f)}


# What the decoder does not know yet.
UNDECODED = r'CMP\w+XADD |VBCSTNE|VCVTNE[EO]|VCVTNEPS2BF16_VEX|VPDPB(SS|SU|UU)DS? |VPDPW(SU|US|UU)DS? |VSHA512|VSM[34]' \
            r'|VPMADD52[HL]UQ_VEX'


def known_name(name):
    """The name of a form in the edition of 2022, which our tables use."""
    if re.match(r'IMUL \(R\d+, R\d+, ', name):
        return name.replace('IMUL', 'IMUL_IMMB' if re.search(r', (0|I8)\)', name) else 'IMUL_IMMZ')
    if re.match(r'SH[LR]D \(R', name):
        return name.replace(' (', '_CL (' if name.endswith('CL)') else '_IMMB (')
    return re.sub(r'^(VPDP\w+)_VEX', r'\1', name)


def read_forms(facts, name):
    out = {}
    with gzip.open(os.path.join(facts, 'insn-more', name + '.jsonl.gz'), 'rt') as f:
        for form in map(json.loads, f):
            form['string'] = known_name(form['string'])
            if not re.match(UNDECODED, form['string']) and form['string'].split(' ')[0] not in import_zen.UNDECODED:
                out[form['string']] = form
    return out


def write(tables, core, header, lines):
    lines = sorted(lines, key=lambda line: line.split('\t')[0])
    with open(os.path.join(tables, core + '.tsv'), 'w') as f:
        f.write('#tact-insn 1\n' + header + COLUMNS)
        f.writelines(line + '\n' for line in lines)
    x87.put_into(os.path.join(tables, core + '.tsv'), core)
    print('%s: %d forms' % (core, len(lines)), file=sys.stderr)


# ---- Zen 2 and Zen 3 ----

class Zen3Form(Form):
    """As Zen 4."""

    def line(self):
        line = super().line()
        if self.mnemonic == 'VZEROUPPER' and self.tp < 0.3:
            line = line.replace('VZEROUPPER\t1\t', 'VZEROUPPER\t0\t').replace('1*p7', '-')
        return line


class Zen2Form(Zen3Form):
    """Four pipes on the floating-point side, the third of which stores and moves to integer registers;
    two loads and one store per cycle; the ALUs differ less from each other."""

    def vector_ports(self):
        out = [(n, ''.join('89AB'[int(c)] for c in pipes)) for n, pipes in import_zen.uses(self.row['ports'])]
        if self.reads_integer():
            out.append((1, '7'))
        if not out and self.is_vector and not (self.loads or self.stores):
            out = [(1, self.unnamed_pipes())]
        return out

    def eliminated(self):
        return super().eliminated() or (self.row['latency'] == '0' and 'MOV' in self.mnemonic and not self.loads)

    def fuse(self):
        return super().fuse() if self.mnemonic in ('CMP', 'TEST') else '-'  # vendor: 56305

    def unnamed_pipes(self):
        """uops.info names no pipes where there are several ways to explain the throughput."""
        if self.is_division():
            return 'B'  # vendor: the divider is on the last pipe
        return '89AB' if self.tp < 0.3 else '89B' if self.tp < 0.4 else '89' if self.tp < 0.9 else 'A'

    def integer_ports(self):
        out = super().integer_ports()
        wide = {import_zen.SHIFT: import_zen.ALU, import_zen.SELECT: import_zen.ALU}
        if self.mnemonic[0] == 'J' or self.mnemonic in ('CALL', 'RET', 'LOOP') or self.tp >= 0.45 * self.ops:
            return out
        return [(n, wide.get(pipes, pipes)) for n, pipes in out]

    def port_uses(self):
        out = self.vector_ports() if self.is_vector else self.integer_ports()
        if self.loads:
            out.append((self.loads, '45'))
        if self.stores:
            out.append((self.stores, '6'))
            if not self.is_vector:
                out.append((self.stores, 'E'))
            elif not any(p == 'A' for _, p in out):
                out.append((self.stores, 'A'))
        merged = {}
        for n, p in out:
            merged[p] = merged.get(p, 0) + n
        return sorted(((n, p) for p, n in merged.items()), key=lambda u: u[1])


ZEN_HEADER = """\
#src U uops.info, measured on {name}; pipes of integer operations {integer}
#src E uops.info, measured on {name}, corrected by our experiments
# Instruction table of {core}: one line a form, sorted by form.
# Source: uops.info's figures for {name}; written by gen/import_more.py.  Edit freely: give the changed line
# another src.
#
# Columns as in the other tables.  fused: macro-ops.  {ports}
"""
ZEN = {
    'ZEN2': (Zen2Form, 'zen2', 'Zen 2', 'from their throughput',
             'Ports: 0-3 ALUs, 4-5 loads, 6 stores,\n# 7 integer to floating point, 8-B floating point (A: its stores, and to integer registers), E data of integer stores.'),
    'ZEN3': (Zen3Form, 'zen3', 'Zen 3', 'as our experiments found them on Zen 4',
             'Ports: 0-3 ALUs, 4-6 addresses, 7 integer to\n# floating point, 8-B floating point, C its stores, D floating point to integer, E and F data of integer stores.'),
}


# What experiments found on Zen 4 and what is not known to be otherwise on Zen 3.
ZEN3_TOO = r'SH\[LR\]D|XLAT|LAHF|LEAVE|XCHG|VEXTRACT'


# Our own measurements on Zen 3.
ZEN3_OWN = ((r'PAUSE', {'tp': '87'}), (r'LFENCE', {'tp': '13'}), (r'MFENCE', {'tp': '62'}))


def import_zens(facts, tables, core):
    corrections = import_zen.CORRECTIONS
    import_zen.CORRECTIONS = [c for c in corrections if core == 'ZEN3' and re.match(ZEN3_TOO, c[0])]
    import_zen.CORRECTIONS += ZEN3_OWN if core == 'ZEN3' else ()
    try:
        import_zens_plain(facts, tables, core)
    finally:
        import_zen.CORRECTIONS = corrections


def import_zens_plain(facts, tables, core):
    kind, file, name, integer, ports = ZEN[core]
    rows, forms, templates = read_csv(facts, file), read_forms(facts, core), read_templates(tables)
    lines = []
    for form, row in rows.items():
        if form.split(' ')[0] in import_zen.UNDECODED:
            continue
        line = kind(form, row, templates.get(form), forms.get(form)).line().split('\t')
        lines.append('\t'.join(line[:-1] + ['E' if line[-1] == 'E' else 'U']))
    write(tables, core, ZEN_HEADER.format(core=core, name=name, integer=integer, ports=ports), lines)


# ---- Intel's cores of the edition of 2026 ----

def named(operand):
    return operand.replace('REG', 'r').replace('MEM', 'm')


def latency_list(form, key=None):
    """What a form's results wait for; `key`: the latencies of a variant, where there are any."""
    out = {}
    for row in form['latencies']:
        source, target = row['s'], named(row['t'])
        cycles = row.get(key, row['cycles']) if key else row['cycles']
        if source.startswith('AGEN'):
            out['a.b', target] = row.get('addr', cycles)
            out['a.i', target] = row.get('addr_index', cycles)
        elif source.startswith('MEM'):
            for name, suffix in (('addr', 'b'), ('addr_index', 'i'), ('mem', 'm')):
                if name in row:
                    out[named(source) + '.' + suffix, target] = row[name]
        else:
            out[named(source), target] = cycles
    return ['%s>%s:%d' % (s, t, c) for (s, t), c in sorted(out.items())]


def flags_of(form, template):
    if template:  # the same on every core
        return template['rf'], template['wf']
    found = {'flags_r': set(), 'flags_w': set()}
    for operand in form['operands']:
        for key, letters in found.items():
            letters |= set(''.join(operand.get(key, ()))) & set('ACOPSZ')
    return tuple(''.join(sorted(found[k])) or '-' for k in ('flags_r', 'flags_w'))


MOST_BESIDE = 7  # simple decoders of the widest of these cores; a few measurements say more


def decoder(v):
    return 'c%d' % min(v['n_available_simple_decoders'], MOST_BESIDE) if v.get('complex_decoder') else '-'


def port_text(uses):
    return '+'.join('%d*p%s' % (uses[p], p) for p in sorted(uses)) or '-'


class IntelForm:
    """A form of Intel's core; `place` turns its uses of kinds of ports into uses of ports."""

    def __init__(self, form, template, place, source):
        self.form, self.template, self.source = form, template, source
        self.ports = place(form, form['ports'])
        self.place = place

    def variant(self, key, lat):
        v = self.form['variants'].get(key, {})
        out = []
        for ours, theirs in (('uops', 'uops'), ('fused', 'retire_slots'), ('mite', 'uops_MITE'), ('ms', 'uops_MS')):
            if v.get(theirs, self.form[theirs]) != self.form[theirs]:
                out.append('%s=%d' % (ours, max(v[theirs], ours in ('fused', 'mite'))))
        ports = self.place(self.form, v['ports']) if 'ports' in v else self.ports
        if sum(ports.values()) == v.get('uops') and ports != self.ports:  # some lists lack a uop
            out.append('ports=' + port_text(ports))
        if decoder(v) not in ('-', decoder(self.form)):
            out.append('dec=' + decoder(v))
        if lat:
            out.append('lat=' + ','.join(lat))
        return ' '.join(out) or ('=' if v else '-')

    def line(self):
        f = self.form
        same = latency_list(f, 'same_reg') if any('same_reg' in row for row in f['latencies']) else None
        fuse = sorted({j.split()[0][1:] for j in f['macro_fusible']})
        flags = flags_of(f, self.template)
        tp = f.get('TP')
        return '\t'.join((
            f['string'], str(f['uops']), str(max(1, f['retire_slots'])), str(max(1, f['uops_MITE'])), str(f['uops_MS']),
            decoder(f), port_text(self.ports), str(f['div_cycles'] or '-'), str(round(tp)) if tp and tp >= 1 else '-',
            ' '.join(latency_list(f)) or '-', flags[0], flags[1], ','.join(fuse) or '-', self.variant('indexed', None),
            self.variant('same_reg', same), self.source))


def as_named(form, uses):
    return dict(uses)


# Kinds of ports of Lion Cove; Intel's optimization manual has six integer ports, three of which take jumps and the
# other three shifts and what is slow, and four vector ports.  Vector operations that uops.info calls unknown go
# where the same form of Redwood Cove points: multiplications and shifts to the first two, the others to all four.
LION_COVE = {'ALU': '012345', 'JMP': '024', 'SHIFT': '135', 'SLOW': '135', 'INT_OTHER': '135', 'V01': '67', 'V23': '89',
             'LD': 'ABC', 'STA': 'DEF', 'STD': 'GH'}
LION_COVE_VECTOR = {'0': '67', '01': '67', '1': '67', '5': '89', '15': '89', '05': '6789', '015': '6789'}


def lion_cove(older):
    def place(form, uses):
        out = {}
        for kind, n in uses.items():
            where = LION_COVE.get(kind)
            if not where:
                like = older.get(form['string'])
                sets = {LION_COVE_VECTOR[p] for p in like['ports'] if p in LION_COVE_VECTOR} if like else set()
                where = sets.pop() if len(sets) == 1 else '6789'
            out[where] = out.get(where, 0) + n
        return out
    return place


# Gracemont, of which uops.info has no ports: Intel's optimization manual has four ALUs (two of which multiply), two
# ports for jumps, two for loads, two for store addresses, two for the data of integer and two for that of vector
# stores, and three vector ports, two of which do floating point.  Throughput tells how many of them a form uses.
class GracemontForm(Form):
    siblings = {}  # ports of forms without memory, by mnemonic and kinds of operands

    def vector_ports(self):
        return self.by_throughput(('CDE', 'CD', 'C'))

    def integer_ports(self):
        if self.mnemonic == 'NOP' or 'PREFETCH' in self.mnemonic or \
                (self.mnemonic in ('MOV', 'MOVZX', 'MOVSX', 'MOVSXD', 'POP', 'PUSH') and (self.loads or self.stores)):
            return []
        if re.match(r'(J|LOOP|CALL|RET)', self.mnemonic):
            return [(1, '45')]
        return self.by_throughput(('0123', '012', '12', '1'))

    def by_throughput(self, sets):
        n = self.ops if self.ops <= 4 else self.ops - self.loads - self.stores
        if self.is_vector and self.is_plain_move():
            return []
        key = self.mnemonic, table_kinds(self.name)
        if not self.loads and not self.stores:
            self.siblings.setdefault(key, self)
        elif key in self.siblings:  # here it is memory that limits the throughput
            return self.siblings[key].by_throughput(sets)
        for ports in sets[:-1]:
            if n / len(ports) >= 0.9 * self.tp:
                return [(max(1, n), ports)]
        return [(max(1, n), sets[-1])]

    def is_plain_move(self):
        return re.match(r'V?(MOV([AU]P|DQ|[DQS]|SS|SD|NT)|LDDQU)', self.mnemonic) is not None and bool(self.loads or self.stores)

    def port_uses(self):
        out = self.vector_ports() if self.is_vector else self.integer_ports()
        wide = 2 if re.search(r'M256|YMM', self.name) else 1
        if self.loads:
            out.append((self.loads * wide, '67'))
        if self.stores:
            out += [(self.stores * wide, '89'), (self.stores * wide, 'FG' if self.is_vector else 'AB')]
        merged = {}
        for n, p in out:
            merged[p] = merged.get(p, 0) + n
        return sorted(((n, p) for p, n in merged.items()), key=lambda u: u[1])


INTEL_HEADER = """\
{base}#src {letter} {source}
# Instruction table of {core}: one line a form, sorted by form.
# Source: uops.info (measurements on {name}), edition of 2026; written by gen/import_more.py.  Edit freely: give
# the changed line another src.
#
# Columns as in the other tables.  {ports}
"""


def import_rwc(facts, tables, core):
    templates = read_templates(tables)
    lines = [IntelForm(f, templates.get(f['string']), as_named, 'W').line() for f in read_forms(facts, 'MTL-P').values()]
    write(tables, core, INTEL_HEADER.format(
        base='#base GLC\n', letter='W', source='uops.info, measured on Meteor Lake', core=core, name='Meteor Lake',
        ports='Forms that are not here, AVX-512 above all, are those of GLC.'), lines)


def import_lnc(facts, tables, core):
    templates, place = read_templates(tables), lion_cove(read_forms(facts, 'MTL-P'))
    lines = [IntelForm(f, templates.get(f['string']), place, 'U').line() for f in read_forms(facts, 'ARL-P').values()]
    write(tables, core, INTEL_HEADER.format(
        base='', letter='U', source='uops.info, measured on Arrow Lake; ports of vector operations in part from Redwood Cove',
        core=core, name='Arrow Lake',
        ports='Ports: 0-5 integer, 6-9 vector, A-C loads, D-F store\n# addresses, G-H store data: our own numbers, since uops.info names kinds.'), lines)


def import_grt(facts, tables, core):
    rows, forms, templates = read_csv(facts, 'alderlake'), read_forms(facts, 'ADL-E'), read_templates(tables)
    lines = []
    for name, form in sorted(forms.items(), key=lambda f: re.search(r'\bM\d', f[0]) is not None):
        row = rows.get(name)
        if not row:
            continue
        kind = GracemontForm(name, row, templates.get(name), None)
        ports = {p: n for n, p in kind.port_uses()}
        line = IntelForm(form, templates.get(name), lambda f, u: ports, 'U').line().split('\t')
        line[1] = str(sum(ports.values()))
        line[2] = str(max(1, form['uops']))
        excess = kind.tp - bound([(n, p) for p, n in ports.items()])
        if kind.is_division() or line[7] != '-':
            line[7] = str(round(kind.tp)) if kind.tp > 1.5 else '-'
        elif line[8] == '-' and excess > 1 and kind.tp >= 2 and kind.tp > 1.4 * form['uops'] / 5:
            line[8] = str(round(kind.tp))
        lines.append('\t'.join(line))
    write(tables, core, INTEL_HEADER.format(
        base='', letter='U', source="uops.info, measured on Alder Lake's small cores; ports from throughput", core=core,
        name="Alder Lake's small cores",
        ports='Ports: 0-3 ALUs, 4-5 jumps, 6-7 loads, 8-9 store\n# addresses, A-B data of integer stores, C-E vectors, F-G data of vector stores: our own numbers.'), lines)


# ---- Zen 5 ----

KINDS = {'r8l': 'R8', 'r8': 'R8', 'r16': 'R16', 'r32': 'R32', 'r64': 'R64', 'xmm': 'XMM', 'ymm': 'YMM', 'zmm': 'ZMM', 'mm': 'MM',
         'k': 'K', 'cl': 'CL'}


def figures_kind(text):
    text = re.sub(r'\{.*?\}', '', text).strip()
    text = re.sub(r'^r\d_(\d+)', r'r\1', text)
    text = re.sub(r'^([xyz]mm|k)\d$', r'\1', text)
    return 'I' if re.match(r'(imm\d+|i8|1)$', text) else KINDS.get(text)


def read_figures(facts):
    """(mnemonic, kinds of operands) -> (latency or None, throughput)"""
    out = {}
    with open(os.path.join(facts, 'latency', 'zen5.csv'), newline='') as f:
        for row in csv.DictReader(f):
            text = re.sub(r'^\{\w+\} ', '', row['instruction'])
            if '+' in text or '{k}' in text or not row['throughput_cycles']:
                continue
            mnemonic, _, rest = text.partition(' ')
            kinds = tuple(figures_kind(t) for t in rest.split(',')) if rest else ()
            if None in kinds:
                continue
            latency = float(row['latency_cycles']) if row['latency_cycles'] else None
            key = mnemonic, kinds
            if key in out and out[key][0] is not None and (latency is None or latency < out[key][0]):
                continue  # the same registers may be an idiom: the longer one counts
            out[key] = latency, float(row['throughput_cycles'])
    return out


def table_kinds(name):
    """The kinds of a form's operands; that of a memory operand is the register that it could be."""
    operands = name.split('(')[1].rstrip(')').split(', ') if '(' in name else []
    if len(operands) > 1 and operands[1] == 'K' and name[0] == 'V':
        del operands[1]
    out = []
    for o in operands:
        memory = re.match(r'M(\d+)', o)
        if memory:
            vector = [k for k in operands if k in ('XMM', 'YMM', 'ZMM')]
            out.append(vector[0] if vector else 'R' + memory.group(1))
        elif o in ('AL', 'AX', 'EAX', 'RAX'):
            out.append({'AL': 'R8', 'AX': 'R16', 'EAX': 'R32', 'RAX': 'R64'}[o])
        elif o[:2] == 'R8':
            out.append('R8')
        else:
            out.append('I' if re.match(r'(I\d+|0|1)$', o) else o)
    return tuple(out)


# Zen 5 has two ALUs (G, H), one address unit (I) and one unit for the data of vector stores (J) more than Zen 4.
SIX, THREE = '0123GH', {'03': '3GH', '12': '3GH', '1': '012', '2': '2'}
ZEN5_MEMORY = {'456': '456I', '45': '45', 'C': 'CJ', 'D': 'CJ', 'EF': 'EF', '7': '7'}


def zen5_ports(text, name, tp):
    out = {}
    n_vector = sum(n for n, p in import_zen.uses(text) if set(p) <= set('89AB'))
    for n, p in import_zen.uses(text):
        if p in ZEN5_MEMORY:
            wide = 'ZMM' in name or 'M512' in name
            # 512 bits at once; stores of them need both units
            n = max(1, n // 2) if wide and p in ('456', '45') else n
            p = ZEN5_MEMORY[p]
        elif set(p) <= set('89AB'):
            if 'ZMM' in name and n > 1 and (tp is None or tp < 0.75 * n_vector / len(p)):
                n = (n + 1) // 2
            if tp is not None and n == 1 and n_vector in (1, 2):
                p = '89AB' if tp < 0.3 else p if len(p) == 2 else '9A' if 0.4 < tp < 0.6 else p
        elif p == '0123' or (tp is not None and tp < 0.25):
            p = SIX
        else:
            p = THREE.get(p, p)
        out[p] = out.get(p, 0) + n
    return out


def zen5_latencies(text, latency):
    """Between registers, if the predecessor has one latency for all of them."""
    if latency is None or text == '-':
        return text
    rows = [re.match(r'(\S+)>(\S+):(\d+)$', t).groups() for t in text.split(' ')]
    between = {int(c) for s, t, c in rows if s[0] == 'r' and t[0] == 'r' and int(c)}
    if len(between) != 1:
        return text
    old, new = between.pop(), max(1, round(latency))
    out = []
    for s, t, c in rows:
        c = int(c)
        if t[0] == 'r' and c and not s.startswith('a.'):
            c = new if s[0] == 'r' else max(1, c + new - old)
        out.append('%s>%s:%d' % (s, t, c))
    return ' '.join(out)


def zen5_line(fields, figures):
    name = fields[0]
    mnemonic = re.split(r'[ _]', name)[0]
    timed = re.sub(r'^CMOV.*', 'CMOVNZ', re.sub(r'^SET.*', 'SETC', mnemonic))  # one condition stands for all
    latency, tp = figures.get((timed, table_kinds(name)), (None, None))
    if fields[6] != '-':
        ports = zen5_ports(fields[6], name, tp)
        fields[1], fields[6] = str(sum(ports.values())), port_text(ports)
    is_division = re.search(r'DIV|SQRT', mnemonic) is not None
    if is_division and tp and tp > 1.5:
        fields[7] = str(round(tp))
    if tp is not None:
        fields[9] = zen5_latencies(fields[9], latency)
        fields[-1] = 'I'
    else:
        fields[-1] = 'P'
    return '\t'.join(fields)


ZEN5_HEADER = """\
#src I InstLatX64's figures for Zen 5 (latency, throughput); the rest as uops.info measured it on Zen 4
#src P uops.info, measured on Zen 4, with Zen 5's pipes: never measured on Zen 5
# Instruction table of ZEN5: one line a form, sorted by form.
# Source: ZEN4.tsv, changed by InstLatX64's figures; written by gen/import_more.py.  Edit freely: give the
# changed line another src.
#
# Columns as in the other tables.  fused: macro-ops.  Ports as in ZEN4.tsv, and G-H: two more ALUs, I: one
# more address unit, J: one more for the data of vector stores.
"""


def import_zen5(facts, tables, core):
    figures, lines = read_figures(facts), []
    with open(os.path.join(tables, 'ZEN4.tsv')) as f:
        for line in f:
            fields = line.rstrip('\n').split('\t')
            if line[0] != '#' and fields[0] != 'form':
                lines.append(zen5_line(fields, figures))
    write(tables, core, ZEN5_HEADER, lines)
    print('%d of them with figures of their own' % sum(line.endswith('\tI') for line in lines), file=sys.stderr)


CORES = {'ZEN2': import_zens, 'ZEN3': import_zens, 'GRT': import_grt, 'RWC': import_rwc, 'LNC': import_lnc, 'ZEN5': import_zen5}


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    for core in sys.argv[3:] or CORES:
        CORES[core](sys.argv[1], sys.argv[2], core)


if __name__ == '__main__':
    main()
