#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes data/insn/<ARCH>.tsv from uops.info's facts.

usage: import_uops.py FACTS_DIR OUT_DIR [ARCH...]

FACTS_DIR holds <ARCH>.jsonl.gz, one JSON object per instruction form.  The schema of the output
is at the top of every table; doc/formats.md explains it in detail.  Run it only when
the facts change: the tables are the project's own and are edited by hand as well (data/insn/ICX.tsv
is written by hand alone).
"""
import gzip
import json
import os
import re
import sys

import x87

HEADER = """\
#tact-insn 1
#src U uops.info, measured on {cpu}
#src C uops.info, measured on {cpu}, with a correction of ours (gen/import_uops.py)
# Instruction table of {arch}: one line a form, sorted by form.
# Source: uops.info (measurements on {cpu}), edition of 2022-12 as converted for uiCA in 2023;
# written by gen/import_uops.py.  Edit freely: give the changed line another src.
#
# Columns, separated by tabs; '-' is nothing:
#  form     mnemonic and explicit operands; suffixes tell encodings apart
#  uops     unfused uops        fused  fused-domain uops that issue and retire (after unlamination)
#  mite     uops from the decoders, at least 1        ms  uops from the microcode sequencer
#  dec      cN: needs the complex decoder, N simple ones can work beside it
#  ports    uops by set of ports, as in 1*p0156+1*p23
#  div      cycles that the divider is held        tp  measured cycles where nothing else explains them
#  lat      from>to:cycles; rN is the N-th register operand (implicit ones and flags included, after
#           the explicit ones), mN a memory operand: mN.b its base, mN.i its index, mN.m its content;
#           a.b and a.i are base and index of an address that is only computed
#  rf, wf   flags read, flags written
#  fuse     conditions of the jumps that it macro-fuses with
#  indexed  differences when the address has an index        same  when all registers are the same one
#  src      source: U uops.info; C corrected, see gen/import_uops.py
form	uops	fused	mite	ms	dec	ports	div	tp	lat	rf	wf	fuse	indexed	same	src
"""

CPUS = {
    'SNB': 'Core i7-2600', 'IVB': 'Core i5-3470', 'HSW': 'Xeon E3-1225 v3', 'BDW': 'Core i5-5200U',
    'SKL': 'Core i7-6500U', 'SKX': 'Core i9-7900X', 'KBL': 'Core i7-7700', 'CFL': 'Core i7-8700K',
    'CLX': 'Core i9-10980XE', 'ICL': 'Core i5-1035G1', 'TGL': 'Core i7-1165G7', 'RKL': 'Core i9-11900',
}
# Measurements that cannot be right: more simple decoders beside the instruction than there are, or two
# decoded uops for a jump of one.  The figures are those of ICL, the same core; src is C.
CORRECTIONS = {
    ('TGL', 'JNBE (Rel8)'): {'uopsMITE': 1, 'complDec': 0}, ('TGL', 'JNO (Rel8)'): {'uopsMITE': 1, 'complDec': 0},
    ('RKL', 'JRCXZ (Rel8)'): {'sDec': 3}, ('RKL', 'SHRD (M32, R32, I8)'): {'sDec': 2},
}

# The registers that these write keep part of what they held, so they wait for it: uops.info's edition of
# 2022 took the destination for written only, that of 2026 has the latency (from it, on Redwood Cove: one
# cycle for moves, otherwise that of the other source).
MERGING = re.compile(r'(MOVHLPS|MOVLHPS|MOV[HL]P[SD] \(XMM, M64\)|(RCPSS|RSQRTSS|ROUNDS[SD]|SQRTS[SD]) )')
# A return is never predicted where uops.info measures it: its ports have the uops of the wrong path, too.
# The uops that retire are right; of these, one loads and one jumps.
RETURNS = {'RET_NEAR': 0, 'RET_NEAR (I16)': 2}

KIND = {'addr': 'b', 'addrI': 'i', 'mem': 'm'}


def ports(usage):
    return '+'.join('%d*p%s' % (n, p) for p, n in sorted(usage.items())) or '-'


def decoder(form, suffix):
    return 'c%d' % form['sDec' + suffix] if form.get('complDec' + suffix) else '-'


def operand(name, kind=None):
    short = 'a' if name.startswith('AGEN') else name[0].lower() + name[-1]
    return short + ('.' + KIND[kind] if kind else '')


def latencies(rows):
    out = []
    for row in rows:
        kind = row[2] if len(row) == 4 else None
        if row[0].startswith('MEM') and not kind:
            continue  # absolute addresses (Moffs): the row with kind 'mem' says the same
        out.append('%s>%s:%d' % (operand(row[0], kind), operand(row[1]), row[-1]))
    return ' '.join(sorted(out)) or '-'


def variant(form, suffix):
    """The keys in which a variant differs from the plain form, as key=value."""
    names = (('uops', 'uops'), ('fused', 'retSlots'), ('mite', 'uopsMITE'), ('ms', 'uopsMS'),
             ('div', 'divC'), ('tp', 'TP'))
    out = []
    if not any(k.endswith(suffix) for k in form):
        return '-'
    for ours, theirs in names:
        if theirs + suffix in form and form[theirs + suffix] != form.get(theirs):
            out.append('%s=%d' % (ours, form[theirs + suffix]))
    if 'ports' + suffix in form and form['ports' + suffix] != form['ports']:
        out.append('ports=' + ports(form['ports' + suffix]))
    if 'uops' + suffix in form and decoder(form, suffix) not in ('-', decoder(form, '')):
        out.append('dec=' + decoder(form, suffix))
    if 'lat' + suffix in form:
        out.append('lat=' + latencies(form['lat' + suffix]).replace(' ', ','))
    # A variant that was measured and does not differ has '=', which is a fact as well.
    return ' '.join(out) or '='


def line(form):
    jumps = sorted({j.split()[0][1:] for j in form.get('macroFusible', ())})
    return '\t'.join((
        form['string'], str(form['uops']), str(form['retSlots']), str(form['uopsMITE']), str(form['uopsMS']),
        decoder(form, ''), ports(form['ports']), str(form.get('divC', '-')), str(form.get('TP', '-')),
        latencies(form.get('lat', ())), ''.join(form.get('flagsR', ())) or '-',
        ''.join(form.get('flagsW', ())) or '-', ','.join(jumps) or '-',
        variant(form, '_I'), variant(form, '_SR'), form.get('src', 'U')))


def correct(arch, form, forms):
    name = form['string']
    if (arch, name) in CORRECTIONS:
        form.update(CORRECTIONS[arch, name], src='C')
    if MERGING.match(name) and not any(row[:2] == ['REG0', 'REG0'] for row in form.get('lat', ())):
        of_registers = re.sub(r'M(32|64)', 'XMM', name)
        other = [row[-1] for row in forms.get(of_registers, {}).get('lat', ()) if row[:2] == ['REG1', 'REG0']]
        moves = name.startswith('MOV') or not other
        form['lat'] = [*form.get('lat', ()), ['REG0', 'REG0', 1 if moves else other[0]]]
        form['src'] = 'C'
    if name in RETURNS:
        old = arch in ('SNB', 'IVB')
        ports_used = {'23': 1, '5' if old else '6': 1}
        if RETURNS[name]:
            ports_used['015' if old else '0156'] = RETURNS[name]
        form.update(uops=2 + RETURNS[name], uopsMITE=form['retSlots'], uopsMS=0, ports=ports_used, src='C')


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    facts, out = sys.argv[1:3]
    for arch in sys.argv[3:] or sorted(CPUS):
        with gzip.open(os.path.join(facts, arch + '.jsonl.gz'), 'rt') as f:
            forms = [json.loads(text) for text in f]
        by_name = {form['string']: form for form in forms}
        for form in forms:
            correct(arch, form, by_name)
        with open(os.path.join(out, arch + '.tsv'), 'w') as f:
            f.write(HEADER.format(arch=arch, cpu=CPUS[arch]))
            f.writelines(line(form) + '\n' for form in sorted(forms, key=lambda x: x['string']))
        x87.put_into(os.path.join(out, arch + '.tsv'), arch)
        print('%s: %d forms' % (arch, len(forms)), file=sys.stderr)


if __name__ == '__main__':
    main()
