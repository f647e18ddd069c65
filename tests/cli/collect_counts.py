#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the counts of tact collect with QEMU's own log of executed blocks, instruction by instruction.

usage: collect_counts.py TACT PROGRAM [ARGUMENT...]

PROGRAM is linked statically, at fixed addresses.  QEMU's log (-d in_asm,exec,nochain) names the
instructions of each block when it is translated, and each execution.
"""
import collections
import csv
import re
import subprocess
import sys

CPU = 'max,-erms'
ENVIRONMENT = {'PATH': '/usr/bin:/bin'}


def counts_of_log(path):
    """How often each instruction (address, bytes) was executed."""
    counts = collections.Counter()
    translated, blocks, last = [], {}, None
    for line in open(path, errors='replace'):
        if line.startswith('IN:'):
            translated = []
        elif line.startswith('0x'):
            m = re.match(r'0x([0-9a-f]+):  ((?:[0-9a-f]{2} ?)+)( *\S)?', line)
            code = m.group(2).replace(' ', '')
            if m.group(3):
                translated.append((int(m.group(1), 16), code))
            else:  # more bytes of a long instruction
                translated[-1] = (translated[-1][0], translated[-1][1] + code)
        elif line.startswith('Trace '):
            m = re.match(r'Trace \d+: (0x[0-9a-f]+) \[[0-9a-f]+/([0-9a-f]+)/', line)
            where, address = m.group(1), int(m.group(2), 16)
            if translated:
                if translated[0][0] == address:
                    blocks[where] = translated
                translated = []
            block = blocks[where]
            # A repeated instruction is logged once for each repetition.
            again = last is not None and last[-1][0] == block[0][0]
            for insn in block[1:] if again else block:
                counts[insn] += 1
            last = block
    return counts


def counts_of_csv(path, known):
    """The same from blocks; `known` tells where instructions end."""
    at = collections.defaultdict(list)
    for address, code in known:
        at[address].append(code)
    counts = collections.Counter()
    n_blocks = 0
    for row in csv.DictReader(open(path)):
        address, code, weight = int(row['address'], 16), row['hex'], int(row['weight'])
        n_blocks += 1
        while code:
            fits = [c for c in at[address] if code.startswith(c)]
            assert fits, 'at %x there is no %s' % (address, code)
            counts[address, fits[0]] += weight
            code = code[len(fits[0]):]
            address += len(fits[0]) // 2
    return counts, n_blocks


def main():
    tact, program = sys.argv[1], sys.argv[2:]
    subprocess.run(['qemu-x86_64', '-cpu', CPU, '-d', 'in_asm,exec,nochain', '-D', 'qemu.log'] + program,
                   env=ENVIRONMENT, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    subprocess.run([tact, 'collect', '-q', '-o', 'blocks.csv', '--'] + program, env=ENVIRONMENT,
                   stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=True)
    theirs = counts_of_log('qemu.log')
    ours, n_blocks = counts_of_csv('blocks.csv', theirs)
    different = [i for i in theirs.keys() | ours.keys() if theirs[i] != ours[i]]
    for address, code in sorted(different)[:10]:
        print('%x %s: QEMU says %d, tact %d' % (address, code, theirs[address, code], ours[address, code]))
    enough = n_blocks > 4 and sum(ours.values()) > 10
    print('%s: %s' % (program[0], 'the same' if not different and enough else '%d different' % len(different)))


if __name__ == '__main__':
    main()
