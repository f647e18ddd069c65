#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes data/insn/GLC.tsv (Golden Cove) from uops.info's facts on two cores and from our own experiments.

usage: import_glc.py FACTS_DIR TABLES_DIR

FACTS_DIR holds uops/alderlakep.csv (one line per form: range of latencies, throughput, uops, ports) and
insn-more/MTL-P.jsonl.gz (Redwood Cove, the same core a generation later without AVX-512: everything,
latencies from operand to operand included).  TABLES_DIR is data/insn: the tables of Rocket Lake and Ice
Lake there say which operands an AVX-512 form reads and writes, those of Skylake's and Cascade Lake's
servers which 512-bit operations the unit behind port 5 can do, which Alder Lake does not have.

data/insn/GLC.fixes, beside the tables, holds what we measured on the core itself: the importer puts it
over what the facts say.  Its format is at its top.

Ports are uops.info's, and those of the performance counters: A (10) loads, B (11) is the fifth ALU.
Figures in Intel's manual have the two the other way round.
"""
import csv
import fnmatch
import gzip
import itertools
import json
import os
import re
import sys

import x87

HEADER = """\
#tact-insn 1
#src U uops.info, measured on Golden Cove (Alder Lake) and, in detail, on Redwood Cove
#src A uops.info, measured on Golden Cove (Alder Lake), latencies from operand to operand on Rocket Lake
#src B uops.info, measured on Golden Cove (Alder Lake); which operands depend on each other is inferred
#src R uops.info, measured on Redwood Cove alone
#src I uops.info, measured on Rocket Lake alone
#src M measured by us on this core; the rest from uops.info
# Instruction table of GLC (Golden Cove, server): one line a form, sorted by form.
# Source: uops.info's figures for Alder Lake (2023), Meteor Lake (2026) and Rocket Lake; our experiments on
# Emerald Rapids (data/insn/GLC.fixes); written by gen/import_glc.py.  Do not edit: edit GLC.fixes.
#
# Columns as in SKL.tsv, separated by tabs; '-' is nothing.  Port A (10) loads, port B (11) is an ALU.
form	uops	fused	mite	ms	dec	ports	div	tp	lat	rf	wf	fuse	indexed	same	src
"""

COLUMNS = ('form', 'uops', 'fused', 'mite', 'ms', 'dec', 'ports', 'div', 'tp', 'lat', 'rf', 'wf', 'fuse', 'indexed', 'same', 'src')
TEMPLATES = ('RKL', 'ICL')  # the second only for forms that are not in the first
SERVERS = ('SKX', 'CLX')
DECODERS, MOST_DECODED = 6, 5  # uops of the complex decoder
BEFORE_SEQUENCER = 4  # uops that it decodes of an instruction with more; the rest come from the sequencer
LOAD_LATENCY = 5
ALU = '0156B'
UNDECODED = ('INSD_REPE_REX64', 'INSD_REPNE_REX64', 'OUTSD_REPE_REX64', 'OUTSD_REPNE_REX64')


# ---- facts ----

def read_facts(directory):
    with open(os.path.join(directory, 'uops/alderlakep.csv'), newline='') as f:
        alder = {row['instruction']: row for row in csv.DictReader(f)}
    with gzip.open(os.path.join(directory, 'insn-more/MTL-P.jsonl.gz'), 'rt') as f:
        redwood = {}
        for form in map(json.loads, f):
            form['string'] = our_name(form['string'])
            redwood[form['string']] = form
    return alder, redwood


def our_name(name):
    """The edition of 2026 does not tell encodings of some forms apart by their names."""
    m = re.match(r'(IMUL|SHLD|SHRD) (\(R\d+, R\d+, (\w+)\))$', name)
    if not m:
        return name
    kind = 'CL' if m.group(3) == 'CL' else 'IMMZ' if m.group(3) in ('I16', 'I32') else 'IMMB'
    return '%s_%s %s' % (m.group(1), kind, m.group(2))


def read_table(directory, arch):
    rows = {}
    with open(os.path.join(directory, arch + '.tsv')) as f:
        for text in f:
            fields = text.rstrip('\n').split('\t')
            if text[0] != '#' and fields[0] != 'form':
                rows[fields[0]] = dict(zip(COLUMNS, fields))
    return rows


def read_fixes(path):
    """[(pattern, {column: value})] in the order of the file."""
    fixes = []
    with open(path) as f:
        for text in f:
            if text.strip() and text[0] != '#':
                pattern, *changes = text.split('#')[0].rstrip().split('\t')
                fixes.append((pattern, dict(c.split('=', 1) for c in changes)))
    return fixes


def uses(text):
    """'1*p01+2*p5' -> {'01': 1, '5': 2}"""
    return {u.split('*p')[1]: int(u.split('*')[0]) for u in text.split('+')} if text not in ('', '-') else {}


def written(port_uses):
    return '+'.join('%d*p%s' % (n, p) for p, n in sorted(port_uses.items()) if n) or '-'


def number(text):
    return float(text.replace('≤', ''))


def latency_range(text):
    """'[1;≤7]' -> (1, 7); '' -> None"""
    ends = [int(number(t)) for t in text.strip('[]').split(';')] if text else []
    return (ends[0], ends[-1]) if ends else None


def throughput(row):
    """The measured one of 'computed / measured'."""
    return number(row['throughput'].split('/')[-1].strip()) if row['throughput'] else 0


def bound(port_uses):
    """Cycles that the most contended set of ports needs."""
    best = 0
    for k in range(1, min(3, len(port_uses)) + 1):
        for some in itertools.combinations(port_uses, k):
            best = max(best, sum(port_uses[p] for p in some) / len(set(''.join(some))))
    return best


# ---- forms that Redwood Cove has ----

def decoder(form):
    return 'c%d' % form['n_available_simple_decoders'] if form.get('complex_decoder') else '-'


def flags(form, key):
    found = set(''.join(''.join(o.get(key, ())) for o in form['operands']))
    return ''.join(sorted(found & set('ACOPSZ'))) or '-'


def short(name):
    return 'a' if name.startswith('AGEN') else name.lower().replace('reg', 'r').replace('mem', 'm')


def redwood_latencies(form, key):
    rows = []
    for row in form['latencies']:
        source, target = short(row['s']), short(row['t'])
        if key == 'same_reg':
            if key in row:
                rows.append('%s>%s:%d' % (source, target, row[key]))
        elif {'addr', 'addr_index', 'mem'} & set(row):
            for kind, k in (('b', 'addr'), ('i', 'addr_index'), ('m', 'mem')):
                if k in row:
                    rows.append('%s.%s>%s:%d' % (source, kind, target, row[k]))
        elif source[0] == 'r':
            rows.append('%s>%s:%d' % (source, target, row['cycles']))
    return sorted(rows)


# Chains of these are faster than uops.info's mixed ones on Alder Lake; InstLatX64 and our experiments
# agree with Redwood Cove.  A shift takes 3 cycles only if its count comes from a constant.
FASTER_IN_CHAINS = r'V?(AES\w+|GF2P8\w+|SHA\w+)$|(BEXTR|BZHI|S[AH][LR]X)$'


def faster_in_chains(name, rows):
    """The same for the forms that only Alder Lake has: encryption in wide registers."""
    if not re.match(r'V(AES|GF2P8)', name) or ', K' in name:
        return rows
    return [re.sub(r'^(r\d>r0):5$', r'\1:3', r) for r in rows]


def golden_latencies(form, row, rows):
    """Redwood Cove multiplies a cycle faster, and so on: where both cores have one latency, it is Golden Cove's."""
    text = row['latency'] if row else ''
    if not text or re.match(FASTER_IN_CHAINS, re.split(r'[ _]', form['string'])[0]):
        return rows
    low = latency_range(text)[0]
    registers = {int(r.split(':')[1]) for r in rows if re.match(r'[ra]', r)}
    if len(registers) != 1 or re.match(r'\[?≤', text) or ('[' in text and ', M' not in form['string']):
        return rows
    more = low - registers.pop()
    if more != 1:
        return rows
    return [re.sub(r':(\d+)$', lambda m: ':%d' % (int(m.group(1)) + more), r) if re.match(r'[ra]|m\d\.\w>r', r) else r for r in rows]


def float_adds(name, rows):
    """An addition takes 3 cycles, 2 for the sum of another one: the table has the 3, fast_float_add the rest."""
    if not re.match(r'V?(ADD|SUB|ADDSUB)[PS][SD] ', name):
        return rows
    return [re.sub(r'^(r\d>r0):2$', r'\1:3', r) for r in rows]


def between_sides(name, rows):
    """uops.info's latencies between general and vector registers are upper bounds: a cycle too much each way.

    InstLatX64 and our experiments: movd there and back takes 4 cycles, pextrd and pinsrd 6, cvtsd2si and cvtsi2sd 12.
    """
    kinds = ['R' if re.match(r'R\d+$', o) else 'V' if re.match(r'[XYZ]?MM$', o) else 'K' for o in operands_of(name)
             if re.match(r'(R\d+|[XYZ]?MM|K)$', o)]
    if len(set(kinds) & set('RV')) < 2:
        return rows

    def less(m):
        s, t, c = (int(g) for g in m.groups())
        crosses = max(s, t) < len(kinds) and {kinds[s], kinds[t]} == {'R', 'V'}
        return 'r%d>r%d:%d' % (s, t, c - 1 if crosses and c > 1 else c)
    return [re.sub(r'^r(\d+)>r(\d+):(\d+)$', less, r) for r in rows]


def redwood_variant(form, kind):
    variant = form['variants'].get(kind)
    out = []
    if variant:
        for ours, theirs in (('uops', 'uops'), ('fused', 'retire_slots'), ('mite', 'uops_MITE'), ('ms', 'uops_MS'), ('div', 'div_cycles')):
            if variant.get(theirs, form[theirs]) != form[theirs]:
                out.append('%s=%d' % (ours, variant[theirs]))
        ports = variant.get('ports', form['ports'])
        if ports != form['ports'] and sum(ports.values()) == variant['uops']:
            out.append('ports=' + written(ports))
        elif kind == 'same_reg' and variant['uops'] == 1 and not form['ports']:
            out.append('ports=1*p' + ('015' if 'MM' in form['string'] else ALU))
        if decoder(variant) not in ('-', decoder(form)):
            out.append('dec=' + decoder(variant))
    if kind == 'same_reg':
        lat = redwood_latencies(form, 'same_reg')
        if lat:
            out.append('lat=' + ','.join(lat))
    return ' '.join(out) or ('=' if variant else '-')


# Throughput that neither ports nor chains explain.
MEASURED_ALONE = (r'(LODS|STOS|SCAS|MOVS|CMPS)[BWDQ]$|(CLD|STD|SFENCE|EMMS|POPFQ?|XGETBV|RDTSCP|RDPID|V?LDMXCSR|CLFLUSH(OPT)?|CLWB|MASKMOVDQU|'
                  r'VMASKMOVDQU|ENTER|CMPXCHG|SHA1MSG2|SHA1RNDS4|SHA256MSG1|SHA256RNDS2|V?AESKEYGENASSIST) ?(\((I|R|XMM, XMM|XMM, M|M).*)?$')


def from_redwood(form, row):
    """Where the two cores do not agree on ports and uops, those of Golden Cove count."""
    ports, fused = dict(form['ports']), form['retire_slots']
    if row:
        alder = uses(row['ports'])
        executed = sum(alder.values())
        if alder != ports and executed and (executed == form['uops'] or sum(ports.values()) != form['uops']):
            ports = alder
        fused = int(row['uops'].split('/')[0] or fused)
    jumps = sorted({j.split()[0][1:] for j in form['macro_fusible']})
    mite, ms = max(1, form['uops_MITE']), form['uops_MS']
    if fused != form['retire_slots']:
        if not ms and fused < MOST_DECODED:
            mite = fused
        elif ms:
            ms = max(1, fused - (form['retire_slots'] - ms))
    alone = int(form['TP']) if 'TP' in form else '-'
    if alone == '-' and row and re.match(MEASURED_ALONE, form['string']):
        alone = round(throughput(row))
    return {
        'form': form['string'], 'uops': sum(ports.values()), 'fused': fused, 'mite': mite, 'ms': ms, 'dec': decoder(form),
        'ports': written(ports), 'div': form['div_cycles'] or '-', 'tp': alone,
        'lat': ' '.join(between_sides(form['string'], golden_latencies(form, row, float_adds(form['string'], redwood_latencies(form, ''))))) or '-', 'rf': flags(form, 'flags_r'), 'wf': flags(form, 'flags_w'),
        'fuse': ','.join(jumps) or '-', 'indexed': redwood_variant(form, 'indexed'), 'same': redwood_variant(form, 'same_reg'),
        'src': 'U' if row else 'R'}


# ---- forms that only Alder Lake has: AVX-512 ----

def is_division(name):
    return re.match(r'V?(I?DIV|SQRT|F?I?DIVR?|FSQRT)', name) is not None


def latencies(name, row, template):
    """The pairs of the template with Alder Lake's cycles: its range, and within it the template's."""
    ends = latency_range(row['latency'])
    pairs = [(p.split(':')[0], int(p.split(':')[1])) for p in template['lat'].split()] if template['lat'] != '-' else []
    if not ends:
        return pairs
    low, high = ends
    has_memory = any(p.startswith('m') for p, _ in pairs)
    content = {p.split('>')[1]: c for p, c in pairs if p.startswith('m0.b')}
    registers = [c for p, c in pairs if p[0] == 'r' and '>r' in p]
    exact = '≤' not in row['latency'] or has_memory
    out = []
    for pair, cycles in pairs:
        source, target = pair.split('>')
        if source[0] == 'r' and target[0] == 'r' and exact:
            if has_memory:  # the lower end is an operation's, the upper one is the address's
                cycles = low if registers and cycles == min(registers) else max(low, min(cycles, high - LOAD_LATENCY))
            else:
                cycles = low if low == high else min(max(cycles, low), high)
        elif source in ('m0.b', 'm0.i') and target[0] == 'r':
            cycles = high
        elif source == 'm0.m' and target[0] == 'r' and target in content:
            cycles = max(low, high - max(0, content[target] - cycles))
        out.append((pair, cycles))
    return out


# Cycles from the base of a gather's address to its result, by the elements that it loads; measured.  From the
# index, which is a vector, it takes four more.
GATHERED = {2: 15, 4: 24, 8: 25, 16: 28}


def gathers(name, pairs, ports):
    """The mask that a gather clears does not wait for the old destination."""
    if 'GATHER' not in name or ', K' not in name:
        return pairs
    cycles = {'m0.b>r0': GATHERED[ports['23A']], 'm0.i>r0': GATHERED[ports['23A']] + 4, 'r0>r1': 0}
    return [(p, cycles.get(p, c)) for p, c in pairs]


def operands_of(name):
    return name.split('(')[1].rstrip(')').split(', ') if '(' in name else []


def own_pairs(name, row):
    """Pairs of a form that no other core has: everything that is read reaches the result."""
    operands = operands_of(name)
    ends = latency_range(row['latency']) or (1, 1)
    if not operands or operands[0][0] == 'M':
        return []
    masked = 'K' in operands[1:2]
    merges = (masked and '_Z' not in name) or re.match(r'V(FN?M(ADD|SUB)|FCMADD|FIXUP|DP|PDP)', name)
    out, register = [], 0
    for i, operand in enumerate(operands):
        if i == 1 and not masked and not re.search(r'COMISH|MOVW|[, (]R\d', name):
            register += 1  # all of these have EVEX: register 1 is k0 if there may be a mask
        if re.match(r'M\d|VSIB', operand):
            out += [('m0.b>r0', ends[1]), ('m0.i>r0', ends[1]), ('m0.m>r0', max(ends[0], ends[1] - 3))]
        elif operand not in ('0', '1') and operand[0] != 'I':
            if i or merges:
                out.append(('r%d>r0' % register, ends[0]))
            register += 1
    return out


# Measured on Emerald Rapids: independent copies of these in 512 bits take half a cycle for each uop.
MEASURED_ON_PORT5 = r'V(PMADD52|CVTT?PH2U?W|CVTU?W2PH|FC?MADDC|FC?MULC)'


# Arithmetic on half-precision numbers alone.  What uops.info measured is a cycle more than a chain of them
# takes: their results reach other kinds of instructions later.
HALF = (r'V(ADD|SUB|MUL|MAX|MIN|FN?M(ADD|SUB)(ADD|SUB)?\d+|FC?MADDC|FC?MULC|GETEXP|GETMANT|RNDSCALE|REDUCE|SCALEF|CVTT?PH2U?W|CVTU?W2PH)(PH|SH)?'
        r'(_Z|_ER|_SAE)* ')


def half_chains(name, pairs, ports):
    """Measured: 4 cycles for each uop in a chain, a cycle more with a mask that merges, two in 512 bits.

    A single chain of 512 bits takes 5.5: it goes from port to port.  Several at once take 4.
    """
    if not re.match(HALF, name) or not re.search(r'[PS]H|2PH', name.split(' ')[0]):
        return pairs
    uops = sum(n for p, n in ports.items() if p in ('01', '05'))
    wide, merges = 'ZMM' in name, any(p == 'r0>r0' for p, _ in pairs) and ', K,' in name
    cycles = 4 * uops + (merges and uops == 1) * (1 + wide)
    if merges and re.match(r'VFC?M(ADD|UL)C', name):
        cycles = 15 if wide else 14
    old = max([c for p, c in pairs if p[0] == 'r'] or [cycles])
    own = 'r0>r0' if re.match(r'V(RNDSCALE|REDUCE|SCALEF)', name) and merges else None  # blended after the last uop
    return [(p, c if p == own else cycles if p[0] == 'r' else c + min(0, cycles - old)) for p, c in pairs]


def wide_on_port5(name, servers):
    """Whether port 5 of the servers does this 512-bit operation beside port 0."""
    if re.match(MEASURED_ON_PORT5, name):
        return True
    plain = re.sub(r'_Z$', '', name.split(' ')[0]) + ' ' + name.split(' ', 1)[1].replace(', K,', ',', 1)
    for table in servers:
        for other in (name, plain, name.replace('PH', 'PS').replace('M16_1to32', 'M32_1to16'), re.sub(r'^VDPBF16PS', 'VFMADD231PS', name)):
            if other in table:
                return '05' in uses(table[other]['ports'])
    return False


def from_alder(name, row, template, servers):
    ports = uses(row['ports'])
    fused = int(row['uops'].split('/')[0] or 1)
    needed = bound(ports)
    if 'ZMM' in name and '0' in ports and '05' not in ports and wide_on_port5(name, servers):
        ports['05'] = ports.pop('0')
    uops = sum(ports.values())
    own = template is None
    if own:
        pairs = half_chains(name, own_pairs(name, row), ports)
        template = dict.fromkeys(COLUMNS, '-')
        if 'M' in name and uops == 2 and fused == 1:
            template['indexed'] = 'fused=2'
    else:
        pairs = gathers(name, latencies(name, row, template), ports)
    ms = fused - BEFORE_SEQUENCER if fused > MOST_DECODED else 0
    mite = fused - ms
    decode = '-' if fused == 1 else 'c0' if ms else 'c%d' % (DECODERS - fused)
    tp, div = throughput(row), '-'
    alone = template['tp']
    if is_division(name) and tp - needed > 0.6:
        div, alone = str(round(tp)), '-'
    elif tp >= 3 and tp > 1.4 * needed and tp > 1.4 * fused / 6 and tp - needed > 1:
        alone = str(round(tp))
    same = template['same']
    if same != '-' and not ports and not uses(template['ports']):
        same = same.replace('ports=1*p05 ', 'ports=1*p05 ')
    elif same != '-':
        same = same
    return {
        'form': name, 'uops': uops, 'fused': fused, 'mite': mite, 'ms': ms, 'dec': decode, 'ports': written(ports), 'div': div, 'tp': alone,
        'lat': ' '.join(between_sides(name, faster_in_chains(name, ['%s:%d' % p for p in sorted(pairs)]))) or '-', 'rf': template['rf'], 'wf': template['wf'], 'fuse': template['fuse'],
        'indexed': template['indexed'], 'same': same, 'src': 'B' if own else 'A'}


def from_template(row):
    """A form that nobody measured on either core: Rocket Lake's, with the ports of this one."""
    rename = {'23': '23A', '0156': ALU, '156': '156B', '237': '78', '15': '15'}
    out = dict(row, src='I')
    for key in ('ports', 'indexed', 'same'):
        out[key] = re.sub(r'\*p(\w+)', lambda m: '*p' + rename.get(m.group(1), m.group(1)), row[key])
    if re.match(r'c\d', row['dec']):
        out['dec'] = 'c%d' % (int(row['dec'][1:]) + 1)
    return out


# ---- loads ----

def register_latency(rows, name):
    """The longest latency between registers of a form, or of the form with a register in place of memory."""
    wide = re.findall(r'[XYZ]MM', name)
    for other in [name] + [re.sub(r'M\d+(_1to\d+)?', w, name) for w in (['ZMM'] if 'M512' in name else ['YMM'] if 'M256' in name else []) + wide + ['XMM']]:
        found = [int(p.split(':')[1]) for p in rows.get(other, {'lat': '-'})['lat'].split() if re.match(r'r\d>r0:', p)]
        if found:
            return max(found)
    return None


def vector_loads(rows):
    """A load takes a cycle less to a vector register than uops.info's upper bound.  Some forms have no latency there.

    Measured for 1,100 forms: the load, a move to a general register and what makes an address of that.
    """
    for name, row in rows.items():
        operands = operands_of(name)
        memory = [i for i, o in enumerate(operands) if re.match(r'M\d', o)]
        if not memory or memory[0] == 0 or not any(re.match(r'([XYZ]?MM|K)$', o) for o in operands):
            continue
        pairs = row['lat'].split() if row['lat'] != '-' else []
        if operands[0] == 'K':
            pairs = [p for p in pairs if not re.match(r'm0\.\w>r0:[1-6]$', p)]
        if not any(p.startswith('m0.') for p in pairs) and re.match(r'([XYZ]MM|K)$', operands[0]):
            after = register_latency(rows, name)
            if operands[0] == 'K':
                load = 8 if name.startswith('KMOV') else 7 + (after or 3)
            elif after is None:
                continue
            else:
                load = after + (7 if re.search('[YZ]MM|M256|M512', name) else 6)
            pairs += ['m0.b>r0:%d' % load, 'm0.i>r0:%d' % load, 'm0.m>r0:%d' % (load - 3)]
        else:
            pairs = [re.sub(r'^(m0\.[bi]>r\d+):(\d+)$', lambda m: '%s:%d' % (m.group(1), max(1, int(m.group(2)) - 1)), p) for p in pairs]
        row['lat'] = ' '.join(sorted(pairs)) or '-'


def widest_stores(rows):
    """The data of a store of 512 bits takes both ports: one store per cycle, even to the same line."""
    for name, row in rows.items():
        ports = uses(row['ports'])
        if re.search(r'\(M512, (K, )?ZMM', name) and ports.get('49'):
            row['uops'] = int(row['uops']) + ports['49']
            row['ports'] = written(dict(ports, **{'49': 2 * ports['49']}))


# ---- corrections ----

def all_pairs(text, cycles):
    """Gives all pairs of registers one latency; what comes from memory changes by as much as the longest one."""
    pairs = [(p.split(':')[0], int(p.split(':')[1])) for p in text.split()]
    old = max([c for p, c in pairs if re.match(r'r\d>r', p)] or [cycles])
    return ' '.join('%s:%d' % (p, cycles if re.match(r'r\d>r', p) else c + cycles - old) for p, c in pairs)


def apply(fixes, rows):
    for pattern, changes in fixes:
        names = [n for n in rows if fnmatch.fnmatchcase(n, pattern)] if '*' in pattern else [pattern]
        if not names:
            sys.exit('GLC.fixes: no form %s' % pattern)
        for name in names:
            row = rows[name]
            for column, value in changes.items():
                if column == 'lat' and value[0] == '@':  # all pairs of registers
                    value = all_pairs(row['lat'], int(value[1:]))
                elif column == 'lat' and value[0] in '~':  # single pairs
                    have = dict(p.split(':') for p in row['lat'].split()) if row['lat'] != '-' else {}
                    have.update(p.split(':') for p in value[1:].split())
                    value = ' '.join('%s:%s' % p for p in sorted(have.items()))
                row[column] = value
            row['src'] = changes.get('src', 'M')


def masked_sources(rows):
    """Of forms with a mask that only uops.info's range is known of, the lower end belongs to the register that
    is merged: the sources and the mask take at least as long as without a mask."""
    for name, row in rows.items():
        plain = rows.get(re.sub(r'_Z \(', ' (', name).replace(', K, ', ', '))
        if row['src'] != 'B' or ', K, ' not in name or not plain or re.search(r', M\d', name):
            continue
        without = dict(p.split(':') for p in plain['lat'].split() if re.match(r'r[2-9]>r0:\d', p))
        if not without:
            continue
        without['r1>r0'] = max(without.values(), key=int)
        pairs = (p.split(':') for p in row['lat'].split())
        row['lat'] = ' '.join('%s:%d' % (p, max(int(c), int(without.get(p, 0)))) for p, c in pairs)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    alder, redwood = read_facts(sys.argv[1])
    tables = [read_table(sys.argv[2], arch) for arch in TEMPLATES]
    servers = [read_table(sys.argv[2], arch) for arch in SERVERS]
    templates = dict(tables[1], **tables[0])
    rows = {name: from_redwood(form, alder.get(name)) for name, form in redwood.items() if '_VEX' not in name}
    for name, form in redwood.items():  # AVX-VNNI: the tables say EVEX for the other encoding
        plain = name.replace('_VEX', '')
        if name != plain and name in alder and plain not in rows:
            rows[plain] = dict(from_redwood(form, alder[name]), form=plain)
    for name, row in alder.items():
        plain = name.replace('_EVEX', '')  # told apart from VEX here only where our tables do
        if name not in templates and plain in templates and plain not in alder:
            name = plain
        if name not in rows and '_VEX' not in name:
            rows[name] = from_alder(name, row, templates.get(name), servers)
    for name, row in templates.items():
        if name not in rows:
            rows[name] = from_template(row)
    vector_loads(rows)
    widest_stores(rows)
    rows.update((text.split('\t')[0], dict(zip(COLUMNS, text.split('\t')))) for text in x87.lines('GLC'))
    apply(read_fixes(os.path.join(sys.argv[2], 'GLC.fixes')), rows)
    masked_sources(rows)
    lines = sorted('\t'.join(str(row[c]) for c in COLUMNS) for name, row in rows.items() if name.split(' ')[0] not in UNDECODED)
    lines.sort(key=lambda text: text.split('\t')[0])
    with open(os.path.join(sys.argv[2], 'GLC.tsv'), 'w') as f:
        f.write(HEADER.replace('# Instruction table', x87.source('GLC') + '# Instruction table'))
        f.writelines(text + '\n' for text in lines)
    print('GLC: %d forms' % len(lines), file=sys.stderr)


if __name__ == '__main__':
    main()
