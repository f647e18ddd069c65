#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Accuracy of the models of tact predict on measured blocks, next to facile.py and uiCA.

usage: compare_models.py [--tact PROGRAM] [--data DIR] [--models LIST]

DIR (default ../shared/data beside the project) has truth/*.csv, measured cycles, and
facile/pred_*.csv, the other programs' predictions for the same blocks.  Two lines a set: the rows
that facile.py predicted, and those that uiCA predicted, too.  All figures of a line are on the same
rows: MAPE in per cent / Kendall's tau-b, predictions rounded to two digits.  Without the data
nothing is printed but the reason.
"""
import argparse
import collections
import csv
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PEERS = ('facile.py', 'uiCA')

# name of the files, CPU, mode, what registers hold at entry, clean rows only
SETS = (
    ('bhive_ivb_u', 'IVB', 'unroll', 'stack', False),
    ('bhive_hsw_u', 'HSW', 'unroll', 'stack', False),
    ('bhive_skl_u', 'SKL', 'unroll', 'stack', False),
    ('icl_u', 'ICX', 'unroll', 'same', True),
    ('icl_l', 'ICX', 'loop', 'same', True),
)


def ties(values):
    return sum(n * (n - 1) // 2 for n in collections.Counter(values).values())


def inversions(values):
    """The values in order, and how many pairs were not."""
    if len(values) < 2:
        return values, 0
    middle = len(values) // 2
    a, n_a = inversions(values[:middle])
    b, n_b = inversions(values[middle:])
    merged, n, i = [], n_a + n_b, 0
    for y in b:
        while i < len(a) and a[i] <= y:
            merged.append(a[i])
            i += 1
        n += len(a) - i
        merged.append(y)
    return merged + a[i:], n


def kendall(x, y):
    """Tau-b (Knight's algorithm)."""
    pairs = sorted(zip(x, y))
    total = len(pairs) * (len(pairs) - 1) // 2
    tied_x, tied_y = ties(x), ties(y)
    discordant = inversions([b for _, b in pairs])[1]
    scale = ((total - tied_x) * (total - tied_y)) ** .5
    return (total - tied_x - tied_y + ties(pairs) - 2 * discordant) / scale if scale else 0.0


def score(measured, predicted):
    predicted = [round(p, 2) for p in predicted]
    error = 100 * sum(abs(m - p) / m for m, p in zip(measured, predicted)) / len(measured)
    return '%.2f / %.3f' % (error, kendall([round(m, 2) for m in measured], predicted))


def predict(args, model, codes, arch, mode, init):
    """Cycles by code; blocks that fail are missing."""
    command = [args.tact, 'predict', '-q', '--model', model, '-a', arch, '-m', mode, '--init', init,
               '-f', 'csv']
    with tempfile.NamedTemporaryFile('w', suffix='.csv') as f:
        f.write('hex\n' + ''.join(code + '\n' for code in codes))
        f.flush()
        p = subprocess.run(command + [f.name], capture_output=True, text=True)
    if p.returncode not in (0, 1):
        sys.exit('compare_models.py: %s' % p.stderr.strip())
    return {r['hex']: float(r['cycles_per_iteration'])
            for r in csv.DictReader(p.stdout.splitlines()) if r['status'] == 'ok'}


def read_rows(args, name, clean):
    """(code, measured, facile.py's, uiCA's or None) of the rows that facile.py predicted."""
    with open(os.path.join(args.data, 'facile', 'pred_%s.csv' % name), newline='') as f:
        peers = {r['hex']: r for r in csv.DictReader(f) if r['facile']}
    rows = []
    with open(os.path.join(args.data, 'truth', '%s.csv' % name), newline='') as f:
        for r in csv.DictReader(f):
            peer = peers.get(r['hex'])
            if not peer or float(r['cycles']) <= 0 or (clean and r['clean'] != '1'):
                continue
            rows.append((r.get('hex_loop', r['hex']).lower(), float(r['cycles']),
                         float(peer['facile']), float(peer['uica']) if peer['uica'] else None))
    return rows


def compare(args, name, arch, mode, init, clean):
    rows = read_rows(args, name, clean)
    codes = [r[0] for r in rows]
    ours = {m: predict(args, m, codes, arch, mode, init) for m in args.models}
    good = [r for r in rows if all(r[0] in o for o in ours.values())]
    if len(good) < len(rows):
        print('%s: %d blocks failed' % (name, len(rows) - len(good)))
    for subset in (good, [r for r in good if r[3] is not None]):
        if not subset:
            continue
        measured = [r[1] for r in subset]
        cells = [score(measured, [ours[m][r[0]] for r in subset]) for m in args.models]
        cells.append(score(measured, [r[2] for r in subset]))
        cells.append(score(measured, [r[3] for r in subset])
                     if all(r[3] is not None for r in subset) else '')
        print_line((name + (' clean' if clean else ''), arch, mode, len(subset), *cells))
        sys.stdout.flush()


def print_line(cells):
    head = '| %-12s | %-4s | %-6s | %5s |' % cells[:4]
    print(head + ''.join(' %-13s |' % c for c in cells[4:]))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--tact', default=os.path.join(ROOT, 'build/tact'))
    parser.add_argument('--data', default=os.path.join(ROOT, '../shared/data'))
    parser.add_argument('--models', default='facile,sim,mca', type=lambda v: v.split(','))
    args = parser.parse_args()
    if not os.path.isdir(os.path.join(args.data, 'truth')):
        print('compare_models.py: there are no measurements in %s' % os.path.relpath(args.data))
        return 0
    print_line(('set', 'arch', 'mode', 'rows', *args.models, *PEERS))
    print_line(('---',) * (4 + len(args.models) + len(PEERS)))
    for row in SETS:
        compare(args, *row)
    return 0


if __name__ == '__main__':
    sys.exit(main())
