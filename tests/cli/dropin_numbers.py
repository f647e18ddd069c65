#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the numbers of drop-ins are those of predict and simulate.

usage: dropin_numbers.py TACT BLOCKS.csv N

Blocks are the first column.  uica and iaca must print simulate's cycles, osaca predict's bound of the
longest chain and its uops on the busiest port, and mca's cycles must grow by simulate's from 100 to
200 iterations.
"""
import csv
import json
import re
import subprocess
import sys

tact, path, count = sys.argv[1], sys.argv[2], int(sys.argv[3])


def run(*args):
    done = subprocess.run([tact] + list(args), capture_output=True, text=True, timeout=300)
    if done.returncode:
        sys.exit('tact %s: %s' % (' '.join(args), done.stderr))
    return done.stdout


with open(path, encoding='utf-8') as file:
    rows = [row[0] for row in csv.reader(file) if row and re.fullmatch('([0-9a-f]{2})+', row[0])]
rows = rows[::max(1, len(rows) // count)][:count]
with open('blocks.hex', 'w', encoding='utf-8') as file:
    file.write('\n'.join(rows) + '\n')


def simulated(*args):
    lines = run('simulate', '-q', '-f', 'csv', '-a', 'SKL', *args, 'blocks.hex').splitlines()
    column = lines[0].split(',').index('cycles_per_iteration')
    return [float(line.split(',')[column]) for line in lines[1:]]


def mca(iterations):
    text = run('mca', '-mcpu=skylake', '-json', '-iterations=%d' % iterations, 'blocks.hex')
    return [r['SummaryView']['TotalCycles'] for r in json.loads(text)['CodeRegions']]


bad = []


def compare(tool, found, expected, allowed):
    if len(found) != len(expected):
        sys.exit('%s: %d results for %d blocks' % (tool, len(found), len(expected)))
    wrong = [(b, f, e) for b, f, e in zip(rows, found, expected) if abs(f - e) > allowed(e)]
    bad.extend((tool,) + w for w in wrong)
    print('%-6s %d of %d blocks' % (tool, len(found) - len(wrong), len(found)))


diff = simulated('--init', 'diff')
compare('uica', [float(x) for x in run('uica', '-arch', 'SKL', '-TPonly', 'blocks.hex').split()],
        diff, lambda e: 0.0051)
stack = simulated()
compare('iaca', [float(x) for x in re.findall(r'Block Throughput: +([\d.]+) Cycles',
                                             run('iaca', '-arch', 'SKL', 'blocks.hex'))],
        stack, lambda e: 0.0051)
compare('mca', [(b - a) / 100 for a, b in zip(mca(100), mca(200))], stack,
        lambda e: 0.02 * e + 0.2)
bounds = [(max(float(r[b] or 0) for b in ('precedence', 'forwarding')), float(r['ports'] or 0)) for r in csv.DictReader(
    run('predict', '-q', '-f', 'csv', '-a', 'SKL', 'blocks.hex').splitlines())]
reports = run('osaca', '--arch', 'SKL', '--ignore-unknown', 'blocks.hex').split('Open Source')[1:]
sums = [re.search(r'^ {5,}[\d. ]+$', report, re.M).group(0) for report in reports]
heads = [re.search(r'^ +\|(.*)\|\|  CP', report, re.M).group(1) for report in reports]


def busiest(head, row):
    """Of the sums, each below its port, but those of the divider."""
    cells = re.split('[|-]', head)
    at, most = 6, 0
    for cell in cells:
        if 'DV' not in cell:
            most = max(most, float(row[at:at + len(cell)].strip() or 0))
        at += len(cell) + 1
    return most


compare('osaca', [float(row.split()[-1]) for row in sums], [b[0] for b in bounds], lambda e: 0.051)
compare('ports', [busiest(*pair) for pair in zip(heads, sums)], [b[1] for b in bounds], lambda e: 0.011 + 0.006 * e)
for what in bad[:5]:
    print(*what)
sys.exit(1 if bad else 0)
