#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How closely tact's model mca, on LLVM's facts, follows llvm-mca of the same version.

usage: llvm_fidelity.py [--tact PROGRAM] [--llvm VERSION] [--sample N] [--from N] [--show N] -a CPU[,CPU...] BLOCKS

BLOCKS is a CSV file (perhaps .gz) whose first column is hex in memory order.  Both run 100 iterations; cycles agree
if they differ by 1% or less.  Blocks with an instruction that LLVM's model does not know are counted apart.  The last
line of each CPU is a row of a Markdown table.
"""
import argparse
import csv
import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile

SETS = {  # by the first letters of llvm-mca's CPU names: triple, features that decode everything, comment
    'aarch64': ('aarch64', '+all', '#', 4),
    'riscv64': ('riscv64', '+m,+a,+f,+d,+c,+v,+zicsr,+zifencei,+zicond,+zimop,+zcb,+zfh,+zfa,+zba,+zbb,+zbc,+zbs,+zbkb,+zbkc,'
                '+zbkx,+zknd,+zkne,+zknh,+zvfh,+zvbb,+zvbc,+zvkned,+zvknhb,+zvkg,+zicbom,+zicbop,+zicboz,+zawrs,+zacas', '#', 2),
}


SETS['x86_64'] = ('x86_64', '', '#', 1)


def set_of(cpu):
    if cpu.startswith('llvm:'):
        return SETS['x86_64']
    return SETS['riscv64' if cpu.startswith(('sifive', 'rocket', 'spacemit', 'tt-', 'xiangshan', 'syntacore', 'andes'))
                else 'aarch64']


def read_blocks(path, first, n, seed):
    with (gzip.open(path, 'rt') if path.endswith('.gz') else open(path)) as f:
        rows = [row[0] for row in csv.reader(f) if row and len(row[0]) >= 4 and
                all(c in '0123456789abcdef' for c in row[0].lower())]
    if n and n < len(rows):
        random.Random(seed).shuffle(rows)
        rows = rows[first:first + n]
    return rows


def run(command, text):
    p = subprocess.run(command, input=text, capture_output=True, text=True)
    return p.stdout, p.stderr


def words_of(block, least):
    code = bytes.fromhex(block)
    at = 0
    while at < len(code):
        n = 4 if least == 4 or code[at] & 3 == 3 else 2
        yield code[at:at + n].hex()
        at += n


def disassemble(blocks, of, llvm):
    """The text of each different instruction."""
    triple, features, _, least = of
    words = sorted({w for b in blocks for w in words_of(b, least)})
    text = {}
    # One line each; those that are none are named on stderr.
    lines = [' '.join('0x' + w[i:i + 2] for i in range(0, len(w), 2)) for w in words]
    out, err = run(['llvm-mc-%s' % llvm, '-disassemble', '-triple', triple, '-mattr', features], '\n'.join(lines) + '\n')
    bad = {int(line.split(':')[1]) for line in err.splitlines() if line.startswith('<stdin>:') and 'warning' in line}
    good = [w for n, w in enumerate(words, 1) if n not in bad]
    out = [line.strip() for line in out.splitlines() if line.strip() and not line.strip().startswith('.')]
    if len(out) != len(good):
        sys.exit('llvm-mc: %d instructions, %d lines' % (len(good), len(out)))
    text.update(zip(good, out))
    return text


def texts_of(blocks, of, llvm):
    """The instructions of each block as text; blocks with bytes that are none are left out."""
    triple, features, _, least = of
    if least > 1:
        text = disassemble(blocks, of, llvm)
        return {b: [text[w] for w in words_of(b, least)] for b in blocks if all(w in text for w in words_of(b, least))}
    lines = [' '.join('0x' + b[i:i + 2] for i in range(0, len(b), 2)) + ' 0x0f 0x0b' for b in blocks]
    out, err = run(['llvm-mc-%s' % llvm, '-disassemble', '-triple', triple], '\n'.join(lines) + '\n')
    bad = {int(line.split(':')[1]) for line in err.splitlines() if line.startswith('<stdin>:') and 'warning' in line}
    parts = [[]]
    for line in out.splitlines():
        line = line.strip()
        if line == 'ud2':
            parts.append([])
        elif line and not line.startswith('.'):
            parts[-1].append(line)
    return {b: part for n, (b, part) in enumerate(zip(blocks, parts), 1) if n not in bad}


def encode(blocks, of, llvm):
    """Blocks of sets with encodings that differ in length, as LLVM's assembler encodes their text: llvm-mca sees these."""
    if of[3] > 1:
        return blocks
    text = texts_of(blocks, of, llvm)
    out, _ = run(['llvm-mc-%s' % llvm, '-show-encoding', '-triple', of[0]],
                 '\n'.join('\n'.join(text.get(b, ())) + '\nud2' for b in blocks) + '\n')
    parts = [[]]
    for code in re.findall(r'encoding: \[([^]]*)\]', out):
        if code == '0x0f,0x0b':
            parts.append([])
        else:
            parts[-1].append(code)
    found = [''.join(c.replace('0x', '').replace(',', '') for c in part) for part in parts[:-1]]
    return [b for b in dict.fromkeys(found) if b and all(c in '0123456789abcdef' for c in b)]


def vector_type(lines):
    """The last instruction of a block that sets the type of vectors: its next iteration begins with that."""
    return [line for line in lines if line.startswith(('vsetvli', 'vsetivli'))][-1:]


def of_llvm(blocks, cpu, llvm):
    of = set_of(cpu)
    triple, features, comment, _ = of
    text = texts_of(blocks, of, llvm)
    cycles = {}
    # llvm-mca follows the type of vectors through the whole text, and begins with none.
    blocks = sorted(text, key=lambda b: bool(vector_type(text[b])))
    for start in range(0, len(blocks), 250):
        part = blocks[start:start + 250]
        lines = []
        for i, b in enumerate(part):
            lines += [*vector_type(text[b]), '%s LLVM-MCA-BEGIN b%d' % (comment, i), *text[b],
                      '%s LLVM-MCA-END b%d' % (comment, i)]
        command = ['llvm-mca-%s' % llvm, '-mtriple', triple, '-mcpu', cpu.replace('llvm:', ''), '-json',
                   '-instruction-info=0', '-resource-pressure=0', '-skip-unsupported-instructions=parse-failure']
        out, err = run(command + (['-mattr', features] if features else []), '\n'.join(lines) + '\n')
        if not out:
            print(err[:400], file=sys.stderr)
            continue
        for region in json.loads(out)['CodeRegions']:
            s = region['SummaryView']
            cycles[part[int(region['Name'][1:])]] = s['TotalCycles'] / s['Iterations']
    return cycles


def of_tact(blocks, cpu, tact):
    with tempfile.NamedTemporaryFile('w', suffix='.csv') as f:
        f.write('\n'.join(blocks) + '\n')
        f.flush()
        out, err = run([tact, 'predict', '-q', '-a', cpu, '-m', 'unroll', '--model', 'mca', '-f', 'csv', f.name], None)
    cycles, unknown = {}, set()
    for row in csv.DictReader(out.splitlines()):
        if row.get('status') not in ('ok', None, ''):
            continue
        if float(row.get('coverage') or 1) < 1:
            unknown.add(row['hex'])
        else:
            cycles[row['hex']] = float(row['cycles_per_iteration'])
    return cycles, unknown


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--tact', default='build/tact')
    parser.add_argument('--llvm', default='22')
    parser.add_argument('--sample', type=int, default=0)
    parser.add_argument('--from', dest='first', type=int, default=0)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--show', type=int, default=0)
    parser.add_argument('-a', '--arch', required=True)
    parser.add_argument('blocks')
    args = parser.parse_args()
    blocks = read_blocks(args.blocks, args.first, args.sample, args.seed)
    print('| CPU | blocks | without data | agree within 1% | exactly | larger | smaller |')
    print('|---|---|---|---|---|---|---|')
    for cpu in args.arch.split(','):
        blocks = encode(blocks, set_of(cpu), args.llvm)
        ours, unknown = of_tact(blocks, cpu, args.tact)
        theirs = of_llvm([b for b in blocks if b in ours], cpu, args.llvm)
        both = [b for b in blocks if b in theirs and b in ours]
        ratio = {b: ours[b] / theirs[b] for b in both}
        good = sum(abs(r - 1) <= 0.01 for r in ratio.values())
        exact = sum(ours[b] == theirs[b] for b in ratio)
        n = max(len(ratio), 1)
        for b in [b for b in ratio if abs(ratio[b] - 1) > 0.01][:args.show]:
            print('%s tact %.2f llvm-mca %.2f' % (b, ours[b], theirs[b]))
        print('| %s | %d | %d | %.2f%% | %.2f%% | %d | %d |' % (
            cpu, len(ratio), len(unknown), 100 * good / n, 100 * exact / n,
            sum(r > 1.01 for r in ratio.values()), sum(r < 0.99 for r in ratio.values())), flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
