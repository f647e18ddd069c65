#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads what tact simulate writes for other programs and prints what the cases expect.

usage: simulate_check.py json | perfetto | konata | html
"""
import collections
import json
import re
import sys


def check_uop(u):
    """Things happen to a uop in order."""
    order = [u[k] for k in ('delivered', 'issued', 'ready', 'dispatched', 'executed', 'retired') if k in u]
    assert order == sorted(order) and len(order) >= 3, u
    assert ('waits_for' in u) <= ('operand_wait' in u), u


def check_json(text):
    for line in text.splitlines():
        d = json.loads(line)
        assert next(iter(d)) == 'schema' and d['schema'] == 'tact.simulate/1'
        if d['status'] != 'ok':
            assert 'cycles_per_iteration' not in d and d['error']
            print(d['status'], d['arch'])
            continue
        assert d['bounds'] and d['coverage'] == 1 and d['cycles'] > 0 and d['repeats'] in (True, False)
        assert all(set(i) >= {'offset', 'hex', 'form', 'sources', 'issued', 'ports', 'divider',
                              'wait_operand', 'wait_port', 'notes'} for i in d['instructions'])
        for u in d['timeline']:
            check_uop(u)
        print(d['status'], d['arch'], d['mode'], d['cycles_per_iteration'], d['bottlenecks'],
              [i['text'] for i in d['instructions']], len(d['timeline']), 'uops')


def check_perfetto(text):
    events = json.loads(text)['traceEvents']
    names, slices, ends = {}, collections.defaultdict(list), collections.Counter()
    for e in events:
        if e['ph'] == 'M' and e['name'].endswith('_name'):
            names[e['name'], e['pid'], e['tid']] = e['args']['name']
        elif e['ph'] == 'X':
            assert e['dur'] > 0 and e['name']
            slices[e['pid'], e['tid']].append((e['ts'], e['ts'] + e['dur']))
            assert 'reason' in e['args'] or e['cat'] == 'port'
        elif e['ph'] in 'sf':
            ends[e['id']] += 1
            assert any(a <= e['ts'] < b for a, b in slices[e['pid'], e['tid']]), e
    for (pid, tid), found in slices.items():
        assert ('thread_name', pid, tid) in names
        found.sort()
        assert all(a[1] <= b[0] for a, b in zip(found, found[1:])), (pid, tid, found)
    assert set(ends.values()) <= {2}
    uops = [k for k in slices if k[0] != 1]
    print('%d uops, %d iterations, %d ports, %d arrows' % (
        len(uops), len({pid for pid, _ in uops}),
        sum(k[0] == 'thread_name' and k[1] == 1 for k in names), len(ends)))


KONATA = {'C=': 1, 'C': 1, 'I': 3, 'L': 3, 'S': 3, 'E': 3, 'R': 3, 'W': 3}


def check_konata(text):
    lines = text.splitlines()
    assert lines[0] == 'Kanata\t0004' and lines[1].startswith('C=\t')
    known, stage, retired, wakes = set(), {}, [], 0
    for line in lines[1:]:
        kind, *fields = line.split('\t')
        assert len(fields) == KONATA[kind], line
        number = int(fields[0])
        if kind == 'C':
            assert number > 0
        elif kind == 'I':
            assert number == len(known)
            known.add(number)
        elif kind != 'C=':
            assert number in known, line
        if kind == 'S':
            assert number not in stage, line
            stage[number] = fields[2]
        elif kind == 'E':
            assert stage.pop(number) == fields[2], line
        elif kind == 'W':
            assert int(fields[1]) in known
            wakes += 1
        elif kind == 'R':
            assert number not in stage and fields[2] == '0'
            retired.append(number)
    assert retired == sorted(known)
    print('%d uops, %d wake-ups, %d retired' % (len(known), wakes, len(retired)))


def check_html(text):
    assert text.startswith('<!DOCTYPE html>') and text.endswith('</html>\n')
    data = re.findall(r"<script type='application/json' id='data'>\n(.*?)</script>", text, re.S)
    page = text.replace(data[0], '')
    assert not re.search(r'https?:|\bsrc=|\bhref=|@import|url\(', page)
    assert '<' not in data[0]
    d = json.loads(data[0])
    scripts = re.findall(r'<script>(.*?)</script>', page, re.S)
    print('%d uops, name %s, %d scripts, %d data' % (len(d['uops']), d['name'], len(scripts), len(data)))


globals()['check_' + sys.argv[1]](sys.stdin.read())
