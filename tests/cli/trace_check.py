#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Questions about a result of tact trace (JSON).

usage: trace_check.py check FILE               whether the parts add up
       trace_check.py FIELD KIND NAME FILE     sum of a field over the rows of a function
       trace_check.py rows KIND FILE           how many rows there are
"""
import json
import sys


def read(path):
    rows = [json.loads(line) for line in open(path)]
    assert rows[0]['kind'] == 'totals' and all(r['schema'] == 'tact.trace/1' for r in rows)
    return rows[0], rows[1:]


def near(a, b):
    return abs(a - b) <= 1e-3 * max(abs(a), abs(b)) + 0.1


def check(path):
    totals, rows = read(path)
    assert near(totals['ipc'], totals['instructions'] / totals['cycles']), 'ipc'
    sampled = totals['simulated'] < totals['instructions'] and not totals['exact']
    assert totals.get('error', 0) <= 0.02 * totals['cycles'], ('error', totals['error'])
    assert sampled or 'error' not in totals, 'an error without samples'
    for kind in ('function', 'block', 'thread'):
        part = [r for r in rows if r['kind'] == kind]
        for field in ('cycles', 'instructions'):
            s = sum(r[field] for r in part)
            assert near(s, totals[field]), '%s of %ss: %s, in all %s' % (field, kind, s, totals[field])
        assert near(sum(r['share'] for r in part), 1), 'shares of %ss' % kind
        cycles = [r['cycles'] for r in part]
        assert cycles == sorted(cycles, reverse=True), 'order of %ss' % kind
    calls = [r for r in rows if r['kind'] == 'call']
    assert near(sum(r['self'] for r in calls), totals['cycles']), 'cycles of calls'
    for r in calls:
        below = sum(c['cycles'] for c in calls if c['caller'] == r['number'])
        assert near(r['cycles'], r['self'] + below) and r['caller'] < r['number'], ('call', r)
    for r in (x for x in rows if x['kind'] == 'slices'):
        c = r['course']['cycles']
        assert c == sorted(c) and c[-1] == r['cycles'] <= totals['cycles'] + 1, ('slices', r['thread'])
    for r in [totals] + rows:
        assert sum(r.get('stalls', {}).values()) <= r['cycles'] * 1.0001 + 0.01, ('stalls', r)
    print('good')


def main():
    if sys.argv[1] == 'check':
        return check(sys.argv[2])
    if sys.argv[1] == 'rows':
        print(sum(r['kind'] == sys.argv[2] for r in read(sys.argv[3])[1]))
        return None
    field, kind, name, path = sys.argv[1:]
    print(sum(r[field] for r in read(path)[1] if r['kind'] == kind and r.get('function') == name))
    return None


if __name__ == '__main__':
    sys.exit(main())
