#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes doc/accuracy.md: every model on measured blocks, next to published figures.

usage: write_accuracy.py [--tact PROGRAM] [--data DIR] [--llvm NAME|none] [-o FILE]
       write_accuracy.py --lookup PREDICTIONS COLUMN TRUTH

DIR (default ../shared/data beside the project) has truth/*.csv, measured cycles; facile/pred_*.csv,
what other programs predict for the same blocks; bhive/*.csv, the applications of blocks.  All figures
come from `tact evaluate`.  NAME is the llvm-mca to run (default: the newest installed).  Without
-o the text goes to standard output.  Without the data nothing is written but the reason.

With --lookup it is a model for tact evaluate: hex lines in, numbers of a table out.
"""
import argparse
import collections
import csv
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# name of the files, CPU, what was measured, what registers hold at entry, rows known to be clean
Set = collections.namedtuple('Set', 'name arch title init has_clean')
SETS = (
    Set('bhive_ivb_u', 'IVB', 'Ivy Bridge, unrolled (BHive)', 'stack', False),
    Set('bhive_hsw_u', 'HSW', 'Haswell, unrolled (BHive)', 'stack', True),
    Set('bhive_skl_u', 'SKL', 'Skylake, unrolled (BHive)', 'stack', True),
    Set('icl_u', 'ICX', 'Ice Lake server, unrolled', 'same', True),
    Set('icl_l', 'ICX', 'Ice Lake server, as a loop', 'same', True),
)
PEERS = (('facile.py', 'facile'), ('llvm-mca 19', 'mca19'), ('uiCA', 'uica'))

# Table 2 of the FACILE paper (Abel, Sharma, Reineke 2023): MAPE in per cent, Kendall's tau;
# BHive_U and BHive_L.
FACILE_TABLE_2 = {
    'IVB': (('FACILE', 1.80, .9568, 1.52, .9624), ('uiCA', 1.50, .9609, 1.11, .9495),
            ('Ithemal', 7.08, .8212, 12.43, .7785), ('IACA 2.3', 13.94, .7739, 11.54, .8271),
            ('OSACA', 23.87, .6388, 15.80, .7467), ('llvm-mca 15', 22.79, .7656, 20.76, .8154),
            ('DiffTune', 26.21, .6470, 82.94, .7516)),
    'HSW': (('FACILE', 1.26, .9791, 1.50, .9690), ('uiCA', 0.76, .9850, 0.59, .9842),
            ('Ithemal', 7.38, .8400, 16.19, .7700), ('IACA 3.0', 15.04, .8080, 12.00, .8733),
            ('OSACA', 17.49, .7644, 9.06, .8517), ('llvm-mca 15', 20.29, .7835, 18.97, .8259),
            ('DiffTune', 24.80, .6997, 138.47, .6925)),
    'SKL': (('FACILE', 0.69, .9753, 1.08, .9752), ('uiCA', 0.45, .9798, 0.38, .9895),
            ('Ithemal', 8.28, .8172, 13.66, .7582), ('IACA 3.0', 13.49, .7802, 14.26, .8290),
            ('OSACA', 14.04, .7810, 10.04, .8223), ('llvm-mca 15', 15.61, .7258, 12.01, .8015),
            ('DiffTune', 24.48, .6626, 104.88, .6426)),
    'ICL': (('FACILE', 1.17, .9713, 1.36, .9681), ('uiCA', 1.00, .9771, 0.77, .9759),
            ('OSACA', 20.11, .7032, 10.07, .7865), ('llvm-mca 15', 25.55, .6970, 13.64, .8512)),
}
# Table IV of the BHive paper (Chen et al. 2019): average error, Kendall's tau.
BHIVE_TABLE_4 = {
    'IVB': (('IACA', .1664, .8000), ('llvm-mca 8', .2813, .7544), ('Ithemal', .0973, .8442),
            ('OSACA', .3299, .6197)),
    'HSW': (('IACA', .1790, .8043), ('llvm-mca 8', .2511, .7829), ('Ithemal', .0926, .8544),
            ('OSACA', .3566, .6067)),
    'SKL': (('IACA', .1566, .8121), ('llvm-mca 8', .2683, .7745), ('Ithemal', .0980, .8516),
            ('OSACA', .3573, .6111)),
}
# Table 3 of the FACILE paper, Rocket Lake: BHive_U, BHive_L.
ABLATIONS = (
    ('facile', 'FACILE', '0.42 / .9860', '1.04 / .9731'),
    ('facile:simple-predec', 'with SimplePredec', '4.38 / .9024', ''),
    ('facile:simple-dec', 'with SimpleDec', '0.69 / .9836', ''),
    ('facile:only=predec', 'only Predec', '14.84 / .7291', ''),
    ('facile:only=dec', 'only Dec', '26.37 / .6840', ''),
    ('facile:only=dsb', 'only DSB', '', '100.00 / .0078'),
    ('facile:only=lsd', 'only LSD', '', '24.26 / .6505'),
    ('facile:only=issue', 'only Issue', '41.45 / .6774', '29.85 / .6520'),
    ('facile:only=ports', 'only Ports', '29.18 / .5122', '26.40 / .7132'),
    ('facile:only=precedence', 'only Precedence', '88.56 / .3589', '22.55 / .4428'),
    ('facile:only=predec+ports', 'only Predec+Ports', '9.36 / .8399', ''),
    ('facile:only=precedence+ports', 'only Precedence+Ports', '22.40 / .6149', '6.59 / .8467'),
    ('facile:without=predec', 'without Predec', '9.02 / .8512', ''),
    ('facile:without=dec', 'without Dec', '1.19 / .9734', ''),
    ('facile:without=dsb', 'without DSB', '', '1.04 / .9731'),
    ('facile:without=lsd', 'without LSD', '', '2.52 / .9556'),
    ('facile:without=issue', 'without Issue', '0.43 / .9857', '1.06 / .9724'),
    ('facile:without=ports', 'without Ports', '7.88 / .8570', '7.90 / .8002'),
    ('facile:without=precedence', 'without Precedence', '5.36 / .8853', '14.88 / .7967'),
)
# Table 4 of the FACILE paper: speedup if a component were ideal.
IDEAL = (('Predecoder', 'Predec'), ('Decoder', 'Dec'), ('Issue', 'Issue'), ('Ports', 'Ports'),
         ('Dependencies', 'Precedence'))
FACILE_TABLE_4 = {
    'SNB': (1.04, 1.03, 1.00, 1.17, 1.08), 'IVB': (1.07, 1.02, 1.00, 1.16, 1.09),
    'HSW': (1.07, 1.03, 1.00, 1.13, 1.08), 'BDW': (1.08, 1.03, 1.00, 1.12, 1.08),
    'SKL': (1.11, 1.00, 1.00, 1.17, 1.11), 'CLX': (1.10, 1.00, 1.00, 1.15, 1.09),
    'ICL': (1.11, 1.01, 1.00, 1.08, 1.12), 'TGL': (1.11, 1.01, 1.00, 1.08, 1.12),
    'RKL': (1.12, 1.01, 1.00, 1.10, 1.10),
}


def lookup(predictions, column, truth):
    """Answers from a table; of loops tact gives the code with the branch, tables have it without."""
    with open(predictions, newline='') as f:
        known = {r['hex'].lower(): r[column] for r in csv.DictReader(f)}
    with open(truth, newline='') as f:
        for r in csv.DictReader(f):
            if r.get('hex_loop'):
                known[r['hex_loop'].lower()] = known.get(r['hex'].lower(), '')
    for line in sys.stdin:
        print(known.get(line.strip(), '') or '-')


class Tables:
    def __init__(self, args):
        self.args = args
        self.out = []

    def path(self, *parts):
        return os.path.join(self.args.data, *parts)

    def evaluate(self, *options):
        """Rows of tact evaluate -f csv."""
        p = subprocess.run([self.args.tact, 'evaluate', '-q', '-f', 'csv', '--round', *options],
                           capture_output=True, text=True)
        if p.returncode not in (0, 1):
            sys.exit('write_accuracy.py: %s' % p.stderr.strip())
        sys.stderr.write(p.stderr)
        return list(csv.DictReader(p.stdout.splitlines()))

    def input(self, s):
        return ['-a', s.arch, '--init', s.init, self.path('truth', s.name + '.csv')]

    def peers(self, s, names):
        options = []
        for name, column in PEERS:
            if name in names:
                command = shlex.join([sys.executable, os.path.abspath(__file__), '--lookup',
                                      self.path('facile', 'pred_%s.csv' % s.name), column,
                                      self.path('truth', s.name + '.csv')])
                options += ['--model', '%s=%s' % (name, command)]
        return options

    def text(self, *lines):
        self.out += list(lines)

    def table(self, titles, rows):
        self.text('| ' + ' | '.join(titles) + ' |', '|' + '---|' * len(titles))
        self.text(*('| ' + ' | '.join(str(c) for c in row) + ' |' for row in rows))
        self.text('')


def short(row):
    """MAPE in per cent and tau."""
    if not row or not row['mape']:
        return '-'
    tau = '%.4f' % float(row['kendall_tau']) if row['kendall_tau'] else '-'
    return '%.2f / %s' % (100 * float(row['mape']), tau.replace('0.', '.', 1))


def thousands(n):
    return format(int(n), ',')


def add_overview(t, models):
    t.text('## All measured rows', '',
           'Clean rows are those without known trouble: for BHive those that the authors of uiCA '
           'kept, for ours those without aliasing, partial overlap and unsteady runs.', '')
    rows = []
    for s in SETS:
        for clean in (False, True):
            if clean and not s.has_clean:
                continue
            scores = t.evaluate(*(['--clean'] if clean else []), '--model', ','.join(models),
                                *t.input(s))
            for r in scores:
                if r['by'] == 'all':
                    rows.append((s.title + (', clean' if clean else ''), r['model'],
                                 thousands(r['blocks']), '%.2f' % (100 * float(r['mape'])),
                                 '%.2f' % (100 * float(r['median_error'])),
                                 '%+.2f' % (100 * float(r['bias'])),
                                 '%.1f' % (100 * float(r['within_5_percent'])),
                                 '%.1f' % (100 * float(r['within_10_percent'])),
                                 '%.4f' % float(r['kendall_tau']), r['failed']))
    t.table(('measured', 'model', 'blocks', 'MAPE %', 'median %', 'bias %', 'within 5%',
             'within 10%', 'tau', 'failed'), rows)


def add_peers(t, models):
    t.text('## Next to facile.py, llvm-mca and uiCA', '',
           'MAPE in per cent / Kendall\'s tau-b. All figures of a line are on the same rows: those '
           'that every model of the line predicts. The other programs ran on samples of the rows, '
           'uiCA on a smaller one.', '')
    lines = []
    every = [name for name, _ in PEERS]
    for s in SETS:
        if not os.path.exists(t.path('facile', 'pred_%s.csv' % s.name)):
            continue
        for names in (every[:-1], every):
            scores = t.evaluate('--common', *(['--clean'] if s.has_clean else []), '--model',
                                ','.join(models), *t.peers(s, names), *t.input(s))
            all_rows = {r['model']: r for r in scores if r['by'] == 'all'}
            lines.append((s.title + (', clean' if s.has_clean else ''),
                          thousands(all_rows['facile']['blocks']),
                          *(short(all_rows[m]) if m in all_rows else ''
                            for m in (*models, *every))))
    t.table(('measured', 'blocks', *models, *every), lines)


def add_published(t):
    t.text('## Published figures', '',
           'From the papers, on their own rows: not the same blocks and not the same measurements '
           'as above. MAPE in per cent / Kendall\'s tau.', '',
           'FACILE paper, Table 2: the part of BHive that fits the assumptions, measured again by '
           'its authors (BHive_U unrolled, BHive_L as loops); a predictor that fails counts as zero '
           'there. ICL is the client core.', '')
    t.table(('CPU', 'predictor', 'BHive_U', 'BHive_L'),
            [(arch, name, ('%.2f / %.4f' % (u, tu)).replace(' 0.', ' .'),
              ('%.2f / %.4f' % (l, tl)).replace(' 0.', ' .'))
             for arch, rows in FACILE_TABLE_2.items() for name, u, tu, l, tl in rows])
    t.text('BHive paper, Table IV: all blocks, unrolled, their own measurements (the same as the '
           'BHive rows above, before suspects of aliasing were dropped).', '')
    t.table(('CPU', 'predictor', 'error / tau'),
            [(arch, name, ('%.2f / %.4f' % (100 * e, tau)).replace(' 0.', ' .'))
             for arch, rows in BHIVE_TABLE_4.items() for name, e, tau in rows])


def add_ablations(t):
    sets = [s for s in SETS if s.name in ('bhive_skl_u', 'icl_u', 'icl_l')]
    ours = []
    for s in sets:
        scores = t.evaluate('--clean', '--model', 'facile:ablations', *t.input(s))
        ours.append({r['model']: r for r in scores if r['by'] == 'all'})
    t.text('## Parts of FACILE', '',
           'Clean rows, MAPE in per cent / tau, next to Table 3 of the FACILE paper (Rocket Lake, '
           'its own rows). What a limit does not apply to is left out here (with the number of '
           'blocks that remain) and counts as zero there; `facile` here has limits beyond the '
           'paper\'s, which stay in "without".', '')

    def cell(r):
        part = '' if not r or r['failed'] == '0' or not r['mape'] else \
            ' (%s)' % thousands(r['blocks'])
        return short(r) + part
    t.table(('variant', *(s.title for s in sets), 'paper, RKL, BHive_U', 'paper, RKL, BHive_L'),
            [(name, *(cell(o.get(model)) for o in ours), u, l) for model, name, u, l in ABLATIONS])


def add_ideal(t):
    s = next(s for s in SETS if s.name == 'bhive_skl_u')
    p = subprocess.run([t.args.tact, 'evaluate', '-q', '-f', 'json', '--clean', '--bottlenecks',
                        ','.join(FACILE_TABLE_4), *t.input(s)], capture_output=True, text=True)
    found = {m.group(1): line for line in p.stdout.splitlines()
             for m in [re.search(r'"kind":"bottlenecks","arch":"(\w+)"', line)] if m}

    def value(arch, key, name):
        part = found[arch].partition('"%s":{' % key)[2]
        return float(re.search(r'"%s":([\d.]+)' % name, part).group(1))
    t.text('## Ideal components and bottlenecks', '',
           'Speedup if one component were ideal, geometric mean over the clean blocks of '
           'BHive (Skylake\'s rows) on each CPU / Table 4 of the FACILE paper.', '')
    t.table(('CPU', *(paper for _, paper in IDEAL)),
            [(arch, *('%.2f / %.2f' % (value(arch, 'ideal_speedups', ours), published)
                      for (ours, _), published in zip(IDEAL, row)))
             for arch, row in FACILE_TABLE_4.items()])
    t.text('Share of the same blocks by bottleneck, in per cent; of several the one closest to the '
           'front end. The paper shows this as a picture (Figure 6): the share of the predecoder '
           'rises from CPU to CPU, that of the ports falls.', '')
    t.table(('CPU', *(paper for _, paper in IDEAL)),
            [(arch, *('%.1f' % (100 * value(arch, 'shares', ours)) for ours, _ in IDEAL))
             for arch in FACILE_TABLE_4])


def add_applications(t, models):
    """BHive's rows have no application; the lists of blocks by application have."""
    apps = collections.defaultdict(list)
    for path in sorted(glob.glob(t.path('bhive', '*.csv'))):
        with open(path, newline='') as f:
            for r in csv.reader(f):
                apps[r[0].lower()].append(os.path.basename(path)[:-4])
    if not apps:
        return
    t.text('## By application', '',
           'Model `%s`, MAPE in per cent / tau (blocks); a block of several applications counts for '
           'each of them.' % models[0], '')
    columns = []
    for s in SETS:
        with tempfile.NamedTemporaryFile('w', suffix='.csv') as f:
            with open(t.path('truth', s.name + '.csv'), newline='') as truth:
                f.write('app,hex,hex_loop,cycles\n')
                for r in csv.DictReader(truth):
                    for app in apps.get(r['hex'].lower(), []):
                        f.write('%s,%s,%s,%s\n' % (app, r['hex'], r.get('hex_loop') or '',
                                                   r['cycles']))
            f.flush()
            scores = t.evaluate('--model', models[0], '-a', s.arch, '--init', s.init, f.name)
        columns.append({r['name']: r for r in scores if r['by'] == 'app'})
    names = sorted({n for c in columns for n in c})
    t.table(('application', *(s.title for s in SETS)),
            [(n, *('%s (%s)' % (short(c[n]), thousands(c[n]['blocks'])) if n in c else ''
                   for c in columns)) for n in names])


def newest_llvm():
    found = [(int(m.group(1)), m.group(0)) for d in os.environ.get('PATH', '').split(':')
             for m in (re.fullmatch(r'llvm-mca-(\d+)', os.path.basename(p))
                       for p in glob.glob(os.path.join(d, 'llvm-mca-*'))) if m]
    return max(found)[1] if found else 'llvm-mca' if shutil.which('llvm-mca') else 'none'


def main():
    if sys.argv[1:2] == ['--lookup'] and len(sys.argv) == 5:
        return lookup(*sys.argv[2:])
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--tact', default=os.path.join(ROOT, 'build/tact'))
    parser.add_argument('--data', default=os.path.join(ROOT, '../shared/data'))
    parser.add_argument('--llvm', default=newest_llvm())
    parser.add_argument('-o', dest='output')
    args = parser.parse_args()
    if not os.path.isdir(os.path.join(args.data, 'truth')):
        print('write_accuracy.py: there are no measurements in %s' % os.path.relpath(args.data))
        return 0
    models = ['facile', 'sim', 'mca']
    t = Tables(args)
    t.text('# How accurate the models are', '',
           'Written by `bench/write_accuracy.py` (`make bench-accuracy`) from the output of `tact '
           'evaluate`: change that, not this. Predictions are rounded to two digits, as in the '
           'papers, and for tau measurements, too. What a model has no number for is counted as failed and '
           'nowhere else.', '',
           'MAPE is the mean of |predicted - measured| / measured, bias the same with its sign '
           '(below 0: too optimistic), tau is Kendall\'s tau-b. `facile` is `tact predict`, `sim` '
           '`tact simulate`, `mca` our copy of llvm-mca\'s machine with our tables.', '',
           'Measurements: BHive\'s published ones for Ivy Bridge, Haswell and Skylake; our own on '
           'an Ice Lake server core without performance counters. There are also measurements on '
           'Emerald Rapids; tact has no tables for that core, so nothing is predicted for it.', '')
    add_overview(t, models + ([args.llvm] if args.llvm != 'none' else []))
    add_peers(t, models)
    add_published(t)
    add_ablations(t)
    add_ideal(t)
    add_applications(t, models)
    text = '\n'.join(t.out).rstrip() + '\n'
    if args.output:
        if os.path.exists(args.output):  # what other scripts keep between their markers stays
            with open(args.output) as f:
                text += ''.join('\n' + part for part in re.findall(
                    r'<!-- \w+: written by .*?<!-- \w+: end -->\n', f.read(), re.S))
        with open(args.output, 'w') as f:
            f.write(text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == '__main__':
    sys.exit(main())
