#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures how accurate the models are, and writes doc/accuracy.md.

usage: write_accuracy.py [--tact PROGRAM] [--data DIR] [--models NAMES] [--llvm NAME|none] measure [SECTION...]
       write_accuracy.py render
       write_accuracy.py check
       write_accuracy.py --lookup PREDICTIONS COLUMN TRUTH

measure  runs `tact evaluate` for the sections that are named (overview intervals peers ablations ideal
         applications; default: all), puts its results into doc/accuracy.json, and renders; intervals
         also writes the tables in data/confidence
render   writes doc/accuracy.md from doc/accuracy.json
check    fails if doc/accuracy.md is anything else than that

DIR (default: ../shared/data beside the project) has truth/*.csv, measured cycles; facile/pred_*.csv, what
other programs predict for the same blocks; bhive/*.csv, the blocks of each application.  Without the data
nothing is measured.  NAMES are the models of the overview (default: facile,sim,mca and the newest llvm-mca
installed): rows of models that are not run now stay as they are.  bench/mix_accuracy.py and
bench/trace_accuracy.py write the sections on mixes and on whole programs.

With --lookup it is a model for tact evaluate: hex lines in, numbers of a table out.
"""
import argparse
import collections
import csv
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FIGURES = os.path.join(ROOT, 'doc/accuracy.json')
DOCUMENT = os.path.join(ROOT, 'doc/accuracy.md')

# name of the files, CPU, mode, what was measured, what registers hold at entry, rows known to be clean
Set = collections.namedtuple('Set', 'name arch mode title init has_clean')
SETS = (
    Set('bhive_ivb_u', 'IVB', 'unroll', 'Ivy Bridge, unrolled (BHive)', 'stack', False),
    Set('bhive_hsw_u', 'HSW', 'unroll', 'Haswell, unrolled (BHive)', 'stack', True),
    Set('bhive_skl_u', 'SKL', 'unroll', 'Skylake, unrolled (BHive)', 'stack', True),
    Set('icl_u', 'ICX', 'unroll', 'Ice Lake server, unrolled', 'same', True),
    Set('icl_l', 'ICX', 'loop', 'Ice Lake server, as a loop', 'same', True),
    Set('emr_u', 'GLC', 'unroll', 'Golden Cove, unrolled', 'same', True),
    Set('emr_l', 'GLC', 'loop', 'Golden Cove, as a loop', 'same', True),
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
    """Answers from a table.  tact asks for a loop with its branch; the tables have it without."""
    with open(predictions, newline='') as f:
        known = {r['hex'].lower(): r[column] for r in csv.DictReader(f)}
    with open(truth, newline='') as f:
        for r in csv.DictReader(f):
            if r.get('hex_loop'):
                known[r['hex_loop'].lower()] = known.get(r['hex'].lower(), '')
    for line in sys.stdin:
        print(known.get(line.strip(), '') or '-')


class Measuring:
    """Runs tact evaluate and returns its results, ready for doc/accuracy.json."""

    def __init__(self, args):
        self.args = args

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
        return ['-a', s.arch, '-m', s.mode, '--init', s.init, self.path('truth', s.name + '.csv')]

    def peer_options(self, s, names):
        options = []
        for name, column in PEERS:
            if name in names:
                command = shlex.join([sys.executable, os.path.abspath(__file__), '--lookup',
                                      self.path('facile', 'pred_%s.csv' % s.name), column,
                                      self.path('truth', s.name + '.csv')])
                options += ['--model', '%s=%s' % (name, command)]
        return options

    def overview(self, old):
        models = self.args.models.split(',') + ([self.args.llvm] if self.args.llvm != 'none' else [])
        found = {(r['set'], r['clean'], r['model']): r for r in old.get('rows', [])}
        for s in SETS:
            for clean in (False, True):
                if clean and not s.has_clean:
                    continue
                for r in self.evaluate(*(['--clean'] if clean else []), '--model', ','.join(models),
                                       *self.input(s)):
                    if r['by'] == 'all':
                        found[s.name, clean, r['model']] = {
                            'set': s.name, 'clean': clean, 'model': r['model'],
                            'blocks': int(r['blocks']), 'mape': percent(r['mape'], 2),
                            'median': percent(r['median_error'], 2), 'bias': percent(r['bias'], 2),
                            'within5': percent(r['within_5_percent'], 1),
                            'within10': percent(r['within_10_percent'], 1),
                            'tau': round(float(r['kendall_tau']), 4), 'failed': int(r['failed'])}
        order = [s.name for s in SETS]
        rank = ['facile', 'sim', 'mca']
        return {'rows': sorted(found.values(), key=lambda r: (
            order.index(r['set']), r['clean'],
            rank.index(r['model']) if r['model'] in rank else len(rank), r['model']))}

    def intervals(self, _):
        """Learns the 90% intervals, and says how they hold on rows that they were not learned from."""
        apps = self.programs()
        tables = os.path.join(ROOT, 'data/confidence')
        with tempfile.TemporaryDirectory() as folder:
            options = []
            for s in SETS:
                path = os.path.join(folder, s.name + '.csv')
                with open(self.path('truth', s.name + '.csv'), newline='') as truth, open(path, 'w') as f:
                    f.write('app,hex,hex_loop,cycles\n')
                    for r in csv.DictReader(truth):
                        app = r.get('app') or (apps.get(r['hex'].lower()) or [''])[0]
                        f.write('%s,%s,%s,%s\n' % (app, r['hex'], r.get('hex_loop') or '', r['cycles']))
                options += ['-a', s.arch, '-m', s.mode, '--init', s.init, path]
            path = os.path.join(folder, 'micro_zen4.csv')
            with open(self.path('truth/micro.csv'), newline='') as truth, open(path, 'w') as f:
                f.write('app,hex,mode,cycles\n')
                for r in csv.DictReader(truth):
                    if r['zen4_cycles']:
                        f.write('%s,%s,%s,%s\n' % (r['group'], r['hex'], r['mode'], r['zen4_cycles']))
            rows = self.evaluate('--calibrate', tables, *options, '-a', 'ZEN4', '-m', 'auto', '--init', 'same',
                                 path)
        path = os.path.join(tables, 'ZEN4.tsv')
        with open(path, encoding='utf-8') as f:
            text = f.read()
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text.replace('mode\t', 'note\tlearned from small experiments, not from programs\nmode\t', 1))
        return {'rows': [{'arch': r['arch'], 'mode': r['mode'], 'model': r['model'],
                          'blocks': int(r['blocks']), 'held': percent(r['held'], 1),
                          'width': percent(r['width'], 1), 'program_held': percent(r['program_held'], 1)}
                         for r in rows]}

    def peers(self, _):
        rows = []
        every = [name for name, _ in PEERS]
        for s in SETS:
            if not os.path.exists(self.path('facile', 'pred_%s.csv' % s.name)):
                continue
            for names in (every[:-1], every):
                scores = self.evaluate('--common', *(['--clean'] if s.has_clean else []), '--model',
                                       'facile,sim,mca', *self.peer_options(s, names), *self.input(s))
                scores = {r['model']: r for r in scores if r['by'] == 'all'}
                rows.append({'set': s.name, 'clean': s.has_clean, 'blocks': int(scores['facile']['blocks']),
                             'scores': {m: score(r) for m, r in scores.items()}})
        return {'rows': rows}

    def ablations(self, _):
        found = {}
        for s in SETS:
            if s.name not in ABLATED:
                continue
            for r in self.evaluate('--clean', '--model', 'facile:ablations', *self.input(s)):
                if r['by'] == 'all' and r['mape']:
                    part = [int(r['blocks'])] if r['failed'] != '0' else []
                    found.setdefault(r['model'], {})[s.name] = score(r) + part
        return found

    def ideal(self, _):
        s = next(s for s in SETS if s.name == 'bhive_skl_u')
        p = subprocess.run([self.args.tact, 'evaluate', '-q', '-f', 'json', '--clean', '--bottlenecks',
                            ','.join(FACILE_TABLE_4), *self.input(s)], capture_output=True, text=True)
        found = {}
        for line in p.stdout.splitlines():
            r = json.loads(line)
            if r['kind'] == 'bottlenecks':
                found[r['arch']] = {
                    'speedups': {p: round(r['ideal_speedups'][o], 2) for o, p in IDEAL},
                    'shares': {p: round(100 * r['shares'].get(o, 0), 1) for o, p in IDEAL}}
        return found

    def programs(self):
        """BHive's rows have no application; the lists of blocks by application have."""
        apps = collections.defaultdict(list)
        for path in sorted(glob.glob(self.path('bhive', '*.csv'))):
            with open(path, newline='') as f:
                for r in csv.reader(f):
                    apps[r[0].lower()].append(os.path.basename(path)[:-4])
        return apps

    def applications(self, old):
        apps = self.programs()
        if not apps:
            return old
        found = {}
        for s in SETS:
            with tempfile.NamedTemporaryFile('w', suffix='.csv') as f:
                with open(self.path('truth', s.name + '.csv'), newline='') as truth:
                    f.write('app,hex,hex_loop,cycles\n')
                    for r in csv.DictReader(truth):
                        for app in apps.get(r['hex'].lower(), []):
                            f.write('%s,%s,%s,%s\n' % (app, r['hex'], r.get('hex_loop') or '',
                                                       r['cycles']))
                f.flush()
                for r in self.evaluate('--model', 'facile', '-a', s.arch, '-m', s.mode, '--init', s.init,
                                       f.name):
                    if r['by'] == 'app':
                        found.setdefault(r['name'], {})[s.name] = score(r) + [int(r['blocks'])]
        return found


SECTIONS = ('overview', 'intervals', 'peers', 'ablations', 'ideal', 'applications')
ABLATED = ('bhive_skl_u', 'icl_u', 'icl_l')


def percent(text, digits):
    return round(100 * float(text), digits)


def score(r):
    """MAPE in per cent, tau."""
    return [percent(r['mape'], 2), round(float(r['kendall_tau'] or 0), 4)]


# ---- the document ----

class Text:
    def __init__(self):
        self.lines = []

    def add(self, *paragraphs):
        for p in paragraphs:
            self.lines += textwrap.wrap(p, 100, break_long_words=False, break_on_hyphens=False) + ['']

    def title(self, text):
        self.lines += [text, '']

    def table(self, titles, rows):
        self.lines += ['| ' + ' | '.join(titles) + ' |', '|' + '---|' * len(titles)]
        self.lines += ['| ' + ' | '.join(str(c) for c in row) + ' |' for row in rows]
        self.lines.append('')


def title_of(name, clean=False):
    return next(s.title for s in SETS if s.name == name) + (', clean' if clean else '')


def short(pair):
    """MAPE / tau, and the number of blocks where it is given."""
    if not pair:
        return '-'
    text = '%.2f / %s' % (pair[0], ('%.4f' % pair[1]).replace('0.', '.', 1))
    return text + (' (%s)' % thousands(pair[2]) if len(pair) > 2 else '')


def thousands(n):
    return format(int(n), ',')


def render_head(t):
    t.title('# How accurate the models are')
    t.add('This document says how far each model is from measured cycles, so that you can decide how much '
          'to trust a prediction. It is written by `bench/write_accuracy.py` from `doc/accuracy.json`, '
          'which holds what `tact evaluate` printed. Do not edit it by hand.',
          'How to read the tables:')
    t.lines += [
        '- **MAPE** is the mean of |predicted - measured| / measured.',
        '- **Bias** is the same mean with its sign. Below 0, predictions are too optimistic.',
        '- **tau** is Kendall\'s tau-b: 1 means that the model puts all blocks in the right order.',
        '- **Failed** blocks have no prediction. They count nowhere else.',
        '- `facile` is `tact predict`. `sim` is `tact simulate`. `mca` is our version of llvm-mca\'s machine,',
        '  with our tables.', '']
    t.add('Predictions are rounded to two digits, as in the papers; for tau, measurements are rounded too.',
          'The measurements for Ivy Bridge, Haswell and Skylake are the ones that BHive published. Those for '
          'Ice Lake server and Golden Cove (Emerald Rapids) are our own, taken on cores without performance '
          'counters; a loop there is the block with a counter, dec and jnz. Measurements may be wrong as well: '
          'BHive\'s contain blocks whose memory accesses alias and blocks that ran from another part of the '
          'front end than an unrolled block should.')


def render_overview(t, data):
    t.title('## All measured blocks')
    t.add('Clean rows have no known defect. For BHive, these are the rows that the authors of uiCA kept. For '
          'our own measurements, these are the rows without aliasing, partial overlap or unsteady runs. The '
          'model of Golden Cove was corrected with these rows in sight: on other blocks it may be further off.')
    t.table(('measured', 'model', 'blocks', 'MAPE %', 'median %', 'bias %', 'within 5%', 'within 10%', 'tau',
             'failed'),
            [(title_of(r['set'], r['clean']), r['model'], thousands(r['blocks']), '%.2f' % r['mape'],
              '%.2f' % r['median'], '%+.2f' % r['bias'], '%.1f' % r['within5'], '%.1f' % r['within10'],
              '%.4f' % r['tau'], r['failed']) for r in data['rows']])


def render_intervals(t, data):
    t.title('## Intervals')
    t.add('`tact predict` and `tact simulate` print a 90% interval with each prediction. How many '
          'measurements do these intervals hold? Each figure is for rows that the intervals were not learned '
          'from: the other half of the blocks (divided by their bytes, each half in turn), and all blocks of '
          'a program that was left out (each program in turn). The goal is 90; the intervals in the tree '
          'are learned from all rows. The width is that of the median interval, in per cent of the '
          'prediction. [Confidence](confidence.md) describes the method.')
    t.table(('CPU', 'mode', 'model', 'blocks', 'other half, %', 'program left out, %', 'median width, %'),
            [(r['arch'], r['mode'], r['model'], thousands(r['blocks']), '%.1f' % r['held'],
              '%.1f' % r['program_held'], '%.1f' % r['width']) for r in data['rows']])
    t.add('For ZEN4, the rows are small experiments, and a kind of experiment takes the place of a program. '
          'Much of the width for IVB, HSW and SKL is noise in the measurements of BHive, which have two '
          'digits: values below one cycle are often off by 3 per cent and more.')


def render_peers(t, data):
    models = ['facile', 'sim', 'mca', *(name for name, _ in PEERS)]
    t.title('## Compared with facile.py, llvm-mca and uiCA')
    t.add('Each cell is MAPE in per cent / tau. All figures of a line are for the same blocks: those that '
          'every model of the line predicts. The other programs ran on samples of the blocks; the sample '
          'for uiCA is smaller.')
    t.table(('measured', 'blocks', *models),
            [(title_of(r['set'], r['clean']), thousands(r['blocks']),
              *(short(r['scores'].get(m)) if m in r['scores'] else '' for m in models))
             for r in data['rows']])


def render_published(t):
    t.title('## Published figures')
    t.add('These figures come from the papers. They are for other blocks and other measurements than those '
          'above, so compare orders of magnitude only. Each cell is MAPE in per cent / tau.',
          'FACILE paper, Table 2. The authors measured the part of BHive that fits their assumptions again '
          '(BHive_U unrolled, BHive_L as loops). A predictor that fails counts as having predicted zero. ICL '
          'is the client core.')
    t.table(('CPU', 'predictor', 'BHive_U', 'BHive_L'),
            [(arch, name, short((u, tu)), short((l, tl)))
             for arch, rows in FACILE_TABLE_2.items() for name, u, tu, l, tl in rows])
    t.add('BHive paper, Table IV. All blocks, unrolled, measured by the authors. These are the BHive rows '
          'above, before suspected aliasing was removed.')
    t.table(('CPU', 'predictor', 'error / tau'),
            [(arch, name, short((100 * e, tau))) for arch, rows in BHIVE_TABLE_4.items()
             for name, e, tau in rows])


def render_ablations(t, data):
    t.title('## Parts of FACILE')
    t.add('How much each bound contributes: clean rows, MAPE in per cent / tau, next to Table 3 of the FACILE '
          'paper (Rocket Lake, its own blocks). Where a bound does not apply to a block, the block is left '
          'out here, and the number of remaining blocks follows in parentheses; in the paper it counts as '
          'zero. Our `facile` has bounds beyond the paper\'s, which stay active in the "without" rows.')
    sets = [s for s in SETS if s.name in ABLATED]
    t.table(('variant', *(s.title for s in sets), 'paper, RKL, BHive_U', 'paper, RKL, BHive_L'),
            [(name, *(short(data.get(model, {}).get(s.name)) for s in sets), u, l)
             for model, name, u, l in ABLATIONS])


def render_ideal(t, data):
    columns = [paper for _, paper in IDEAL]
    t.title('## Ideal components and bottlenecks')
    t.add('The first table says how much faster code would be if one component were ideal: the geometric '
          'mean over the clean blocks of BHive (Skylake\'s rows) on each CPU / Table 4 of the FACILE paper.')
    t.table(('CPU', *columns),
            [(arch, *('%.2f / %.2f' % (data[arch]['speedups'][c], published)
                      for c, published in zip(columns, row))) for arch, row in FACILE_TABLE_4.items()])
    t.add('The second table says which component limits the same blocks, in per cent. If several limit a '
          'block, the one closest to the front end counts. The paper shows this as a picture (Figure 6): '
          'from one CPU to the next, the predecoder limits more blocks and the ports limit fewer.')
    t.table(('CPU', *columns),
            [(arch, *('%.1f' % data[arch]['shares'][c] for c in columns)) for arch in FACILE_TABLE_4])


def render_applications(t, data):
    t.title('## By application')
    t.add('Model `facile`, MAPE in per cent / tau (blocks). A block that occurs in several applications '
          'counts for each of them.')
    t.table(('application', *(s.title for s in SETS)),
            [(name, *(short(row.get(s.name)) if s.name in row else '' for s in SETS))
             for name, row in sorted(data.items())])


def render_mix(t, data):
    t.title('## Instruction mixes from samples')
    t.add('Average weighted error of the mix of mnemonics (HBBP paper, section VI): samples against exact '
          'counts of the same run. The programs run under QEMU, and the virtual PMU takes the samples '
          '(`doc/models/mix.md`), seed %d. So this tests the method, not a real PMU. '
          '`bench/mix_accuracy.py` measures this section.' % data['seed'])
    cell = lambda x: '-' if x is None else '%.2f%%' % x
    part = lambda r, k: '%.0f%%' % (100 * r[k] / r['rows']) if r['rows'] else '-'
    methods = ('ebs', 'lbr', 'hybrid')
    rows = [(r['name'], r['million'], '%.1f' % r['block'], r['samples'], r['stacks'],
             *(cell(r[m]) for m in methods), r['rows'], part(r, 'covered')) for r in data['runs']]
    rows.append(('**average**', '', '', '', '', *(cell(data['average'][m]) for m in methods), '', ''))
    t.table(('program', 'million instructions', 'instructions per block', 'samples', 'stacks', 'EBS', 'LBR',
             'hybrid', 'rows', 'truth in the interval'), rows)
    t.add('Rows are mnemonics, categories and functions with at least a thousandth of all instructions. The interval '
          'is the one of `--values low,high`, which should have the truth in 95% of them. Its weights were learned '
          'on the programs above, with others. Nothing was learned from the programs below, except that the hybrid\'s '
          'intervals were made wider by a fifth, because they had the truth of 91% of these rows:')
    total = {k: sum(r[k] for r in data['held_out']) for k in ('rows', 'near', 'covered')}
    t.table(('held-out program', 'rows', 'within one standard deviation', 'truth in the interval'),
            [(r['name'], r['rows'], part(r, 'near'), part(r, 'covered'))
             for r in [*data['held_out'], {'name': '**all**', **total}]])
    t.add('`tact mix train` on the programs of the first table: ' + data['verdict'].replace('\n', '. ') + '.')


def render_programs(t, data):
    """data: sections by microarchitecture."""
    t.title('## Whole programs')
    t.add('User cycles that `tact trace` predicts, divided by measured ones: user time times the clock, which a chain '
          'of multiplications shows, the lowest of several runs. The routines of the C library and of ffmpeg that '
          'need AVX-512 or RTM are off, because QEMU has neither. `bench/program_accuracy.py` has the programs and '
          'measures this section.')
    for arch, section in sorted(data.items()):
        beyond = [r['program'] for r in section['programs'] if not 1 / 1.2 <= r['ratio'] <= 1.2]
        t.add('**%s**, measured on %s. %d programs: the geometric mean of the errors is %.1f%%. Beyond 20%%: %s.'
              % (arch, section['machine'], len(section['programs']), section['mean'], ', '.join(beyond) or 'none'))
        t.table(('program', 'million instructions', 'measured million cycles', 'predicted / measured'),
                [(r['program'], r['million'], r['measured'], '%.2f' % r['ratio']) for r in section['programs']])


def render_pairs(t, data):
    """data: sections by microarchitecture; the one with most pairs first."""
    for arch, section in sorted(data.items(), key=lambda s: (-len(s[1]['pairs']), s[0])):
        rows = section['pairs']
        t.add('**%s**, measured on %s, %d runs. %d pairs: the geometric mean of the errors is %.1f%% for the ratio, '
              '%.1f%% for the cycles. Wrong direction, where the measured change exceeds 3%%: %s.'
              % (arch, section['machine'], section['runs'], len(rows), section['mean'], section['absolute_mean'],
                 '; '.join(section['wrong']) or 'none'))
        note = section.get('note', [])
        t.add(*([note] if isinstance(note, str) else note))
        known = any('sets' in r for r in rows)  # several sets of runs
        t.table(('pair A, B', 'million instructions', 'measured', *['single sets'] * known, 'predicted', 'off', 'A off',
                 'B off'),
                [(r['pair'], '%.1f, %.1f' % tuple(r['million']), '%.3f' % r['measured'],
                  *['%.3f to %.3f' % tuple(r['sets']) if 'sets' in r else ''] * known, '%.3f' % r['predicted'],
                  '%+.1f%%' % r['off'], '%+.1f%%' % r['each'][0], '%+.1f%%' % r['each'][1]) for r in rows])


def render_trace(t, data):
    t.title('## Whole programs: pairs of versions')
    t.add('A change makes a program faster or slower; does `tact trace` predict by how much? Each line has the '
          'cycles of version B divided by those of version A, measured and predicted, and how far off the '
          'predicted cycles of each are. Measured means user time times the clock, the lowest of several '
          'alternating runs, pinned to a CPU, without the AVX-512 routines of the C library. For kernels, the '
          'start of the program is subtracted on both sides. `bench/trace_accuracy.py` measures this section.')
    render_pairs(t, data)


def render_releases(t, data):
    t.title('## Whole programs: releases')
    t.add('The same for two releases of a program with the same input, A before B: a new release makes a program faster '
          'or slower, and is that predicted? `bench/trace_accuracy.py build DIR --only FILE` takes such pairs, '
          '`measure DIR` measures them, each time it is called once more, and `predict DIR --write --releases` writes '
          'this section.')
    render_pairs(t, data)


def render(data):
    t = Text()
    render_head(t)
    render_overview(t, data['overview'])
    render_intervals(t, data['intervals'])
    render_peers(t, data['peers'])
    render_published(t)
    render_ablations(t, data['ablations'])
    render_ideal(t, data['ideal'])
    render_applications(t, data['applications'])
    render_mix(t, data['mix'])
    render_programs(t, data.get('programs', {}))
    render_trace(t, data['trace'])
    render_releases(t, data.get('releases', {}))
    return '\n'.join(t.lines).rstrip() + '\n'


def load():
    with open(FIGURES, encoding='utf-8') as f:
        return json.load(f)


def save(section, content):
    """Replaces one section of doc/accuracy.json and renders the document."""
    data = load()
    data[section] = content
    with open(FIGURES, 'w', encoding='utf-8') as f:
        json.dump(data, f, indent=1)
        f.write('\n')
    with open(DOCUMENT, 'w', encoding='utf-8') as f:
        f.write(render(data))


def save_for(section, name):
    """Replaces what one microarchitecture has in a section: trace (pairs), releases, programs."""
    sections = load().get(name, {})
    save(name, dict({k: v for k, v in sections.items() if isinstance(v, dict)}, **{section['arch']: section}))


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
    parser.add_argument('--models', default='facile,sim,mca')
    parser.add_argument('--llvm', default=newest_llvm())
    parser.add_argument('action', choices=('measure', 'render', 'check'))
    parser.add_argument('sections', nargs='*', choices=[*SECTIONS, []])
    args = parser.parse_args()
    if args.action == 'check':
        with open(DOCUMENT, encoding='utf-8') as f:
            if f.read() != render(load()):
                sys.exit('write_accuracy.py: doc/accuracy.md is not what doc/accuracy.json says: '
                         'bench/write_accuracy.py render')
    elif args.action == 'render':
        with open(DOCUMENT, 'w', encoding='utf-8') as f:
            f.write(render(load()))
    elif not os.path.isdir(os.path.join(args.data, 'truth')):
        print('write_accuracy.py: there are no measurements in %s' % os.path.relpath(args.data))
    else:
        for section in args.sections or SECTIONS:
            save(section, getattr(Measuring(args), section)(load().get(section, {})))
    return 0


if __name__ == '__main__':
    sys.exit(main())
