#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads predictions as JSON lines and prints what the case json expects."""
import json
import sys

for line in sys.stdin:
    pairs = json.loads(line, object_pairs_hook=list)
    assert pairs[0] == ('schema', 'tact.predict/1') or pairs[0] == ['schema', 'tact.predict/1'], pairs[0]
    d = json.loads(line)
    if d['status'] != 'ok':
        assert 'cycles_per_iteration' not in d and d['error']
        print(d['status'], d['arch'])
        continue
    assert d['bounds'] and d['coverage'] == 1 and d['idealized']['precedence'] < d['bounds']['precedence']
    assert all(set(i) >= {'offset', 'hex', 'form', 'uops', 'issued', 'ports', 'notes'} for i in d['instructions'])
    assert d['port_contention']['uops'] and d['port_contention']['ports']
    print(d['status'], d['arch'], d['mode'], d['cycles_per_iteration'], d['bottlenecks'],
          [i['text'] for i in d['instructions']], [l['instruction'] for l in d['chain']['links']])
