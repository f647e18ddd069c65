#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads what a drop-in prints as programs read the real tool's output, and prints what they find.

usage: dropin_parse.py mca|mca-json|uica|osaca|iaca < OUTPUT
"""
import json
import re
import sys

text = sys.stdin.read()


def mca():
    """Summary by label, tables by the columns of their heads, timeline by its letters."""
    for label in ('Iterations', 'Instructions', 'Total Cycles', 'Total uOps', 'Dispatch Width', 'uOps Per Cycle', 'IPC',
                  'Block RThroughput'):
        m = re.search(r'^%s: +(\d+(?:\.\d+)?)$' % label, text, re.M)
        print('%s: %s' % (label, m and m.group(1)))
    info = text.split('[1]    [2]    [3]    [4]    [5]    [6]    Instructions:\n')[1].split('\n\n')[0]
    for line in info.splitlines():
        m = re.fullmatch(r' (\d+) +(\d+) +([\d.]+|-) +(?:(\*)?)( *)(\*)? +(U)? *(\w+\t?.*)', line)
        flags = ''.join(n for n, at in (('L', 22), ('S', 29), ('U', 36)) if line[at:at + 1] in '*U')
        print('info', m.group(1), m.group(3), flags or '-', m.group(8).replace('\t', ' '))
    names = re.findall(r'^\[(\d+(?:\.\d+)?)\] +- (\S+)$', text, re.M)
    print('resources', len(names), names[0][1], names[-1][1])
    table = text.split('Resource pressure by instruction:\n')[1].split('\n\n')[0].splitlines()
    columns = re.findall(r'\[[\d.]+\]', table[0])
    print('columns', len(columns) == len(names),
          all(re.fullmatch(r'( -     |\d+\.\d\d +){%d}\S.*' % len(columns), row) for row in table[1:]))
    for line in re.findall(r'^\[\d+,\d+\] .*$', text, re.M):
        assert re.fullmatch(r'\[\d+,\d+\] +[. ]*D(=*(e*E)?-*R?)[. ]*   \S.*', line), line
    print('timeline', len(re.findall(r'^\[\d+,\d+\] ', text, re.M)),
          len(re.findall(r'^\d+\. +\d+ +[\d.]+ +[\d.]+ +[\d.]+ +\S', text, re.M)))


def mca_json():
    data = json.loads(text)
    region = data['CodeRegions'][0]
    print(sorted(data), sorted(region))
    print(sorted(region['SummaryView']), region['SummaryView']['Iterations'])
    print(region['Instructions'], len(region['InstructionInfoView']['InstructionList']))
    print(max(u['ResourceIndex'] for u in region['ResourcePressureView']['ResourcePressureInfo'])
          < len(data['TargetInfo']['Resources']), data['TargetInfo']['CPUName'])
    print([sorted(e) for e in region['TimelineView']['TimelineInfo']][0])


def uica():
    print(re.match(r'Throughput \(in cycles per iteration\): (\d+\.\d\d)\n', text).group(1),
          re.search(r'^Bottlenecks?: (.+)$', text, re.M).group(1))
    print(re.findall(r'^  - (\w+): (\d+\.\d\d)$', text, re.M))
    rows = [re.split(r'[│]', line) for line in text.splitlines() if line.startswith('│')]
    print([c.strip() for c in ' '.join(rows[0]).split('  ') if c.strip()])
    print([r[-1].strip() for r in rows[1:]], len({line.index('│', 1) for line in text.splitlines() if line.startswith('│')}))


def osaca():
    head = re.search(r'^ +\|(.*)\|\|  CP  \| LCD  \|$', text, re.M).group(1)
    print([c.strip() for c in re.split(r'[|-]', head)])
    for line in text.splitlines():
        m = re.fullmatch(r' *(\d+) \|(.*)\|\| +([\d.]*) \| +([\d.]*) \| ([ X*P]+) (\S.*)', line)
        if m:
            cells = [float(x) for x in re.findall(r'[\d.]+', m.group(2))]
            print(m.group(1), round(sum(cells), 1), m.group(3) or '-', m.group(4) or '-', m.group(5).strip() or '-',
                  m.group(6))
    sums = [line for line in text.splitlines() if re.fullmatch(r' +[\d. ]+', line)]
    print('sum', sums[0].split()[-2:])
    print(re.findall(r'^ +(\d+) \| +([\d.]+) \| (\S.*\S) *\| (\[.*\])$', text, re.M))


def iaca():
    print(re.search(r'^Block Throughput: +([\d.]+) Cycles +Throughput Bottleneck: (.*)$', text, re.M).groups())
    ports = re.search(r'^\|  Port  \|(.*)\|$', text, re.M).group(1).split('|')
    cycles = re.search(r'^\| Cycles \|(.*)\|$', text, re.M).group(1).split('|')
    print([' '.join(p.split()) for p in ports])
    print(len(ports) == len(cycles), len({len(x) for x in re.findall(r'^\|  Port .*|^\| Cycles .*', text, re.M)}))
    for m in re.finditer(r'^\| +(\d+)(\S?) +\|(.*)\| (\S.*)$', text, re.M):
        print(m.group(1), m.group(2) or '-', len(m.group(3).split('|')) == len(ports), m.group(4))
    print(re.search(r'^Total Num Of Uops: (\d+)$', text, re.M).group(1))


{'mca': mca, 'mca-json': mca_json, 'uica': uica, 'osaca': osaca, 'iaca': iaca}[sys.argv[1]]()
