#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How good tact measure is on this machine: yield, repeatability, rate, and agreement with other measurements.

usage: measure_quality.py [--tact PROGRAM] [--data DIR] [--sample N] [--seed N] [--truth N] [--confirmed] [--figures]

Takes N blocks of BHive (default: 5000) at random and measures them twice in both modes.  If DIR has
measurements of this kind of CPU by another harness, up to --truth of their blocks are measured and
compared as well (default: all); on other CPUs that part is left out, and the report says so.  The
exit status is 1 if a goal is missed.
--confirmed measures with --until-confirmed, which has goals of its own: more numbers, closer to each
other.  Of the other measurements, only those that three rounds saw count then.
--figures prints lines of a name and a value instead, for bench/figures.py.
"""
import argparse
import collections
import csv
import glob
import io
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# family and model of the CPUs whose measurements there are; the files' names begin so
TRUTH = {(6, 106): 'icl', (6, 108): 'icl', (6, 207): 'emr'}


def this_cpu():
    fields = {}
    for line in open('/proc/cpuinfo'):
        key, _, value = line.partition(':')
        fields.setdefault(key.strip(), value.strip())
    return int(fields.get('cpu family', 0)), int(fields.get('model', 0)), fields.get('model name', 'an unknown CPU')


class Goals:
    """What is asked of numbers that were measured once, and of confirmed ones."""

    def __init__(self, is_confirmed):
        self.is_confirmed = is_confirmed
        self.options = ['--until-confirmed'] if is_confirmed else []
        self.share = 0.97 if is_confirmed else 0.9
        self.rate = 100 if is_confirmed else 20
        self.median, self.within, self.inside = (0.003, 0.03, 0.97) if is_confirmed else (0.01, 0.05, 0.9)


def measure(tact, mode, blocks, options=()):
    """Rows of tact measure by hex, and seconds."""
    with tempfile.NamedTemporaryFile('w', suffix='.txt') as f:
        f.write('\n'.join(blocks) + '\n')
        f.flush()
        start = time.monotonic()
        p = subprocess.run([tact, 'measure', '-q', '-m', mode, '--init', 'same', '-f', 'csv', *options, f.name], capture_output=True, text=True)
        seconds = time.monotonic() - start
    if p.returncode not in (0, 1):
        sys.exit(p.stderr)
    return {row['hex']: row for row in csv.DictReader(io.StringIO(p.stdout))}, seconds


def cycles(row):
    return float(row['cycles_per_iteration']) if row and row['status'] == 'ok' else None


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else float('nan')


class Report:
    def __init__(self):
        self.missed = 0

    def line(self, name, value, goal, is_met):
        self.missed += not is_met
        print('| %s | %s | %s | %s |' % (name, value, goal, 'yes' if is_met else '**no**'), flush=True)


def print_figures(tact, blocks):
    print('blocks %d' % len(blocks))
    for mode in 'unroll', 'loop':
        runs = [measure(tact, mode, blocks)[0] for _ in range(2)]
        for run, rows in enumerate(runs, 1):
            statuses = collections.Counter(rows[b]['status'] for b in blocks if b in rows)
            for status, n in sorted(statuses.items()):
                print('%s_%s_%d %d' % (mode, status, run, n))
            print('%s_executed_%d %d' % (mode, run, statuses['ok'] + statuses['unstable']))
            print('%s_share_%d %.1f' % (mode, run, 100 * statuses['ok'] / len(blocks)))
        pairs = [[cycles(rows.get(b)) for rows in runs] for b in blocks]
        apart = [abs(second / first - 1) for first, second in pairs if first and second]
        for q in 50, 90, 95, 99:
            print('%s_apart_%d %.2f' % (mode, q, 100 * quantile(apart, q / 100)))


def sample_part(report, goals, tact, mode, blocks):
    (first, seconds), (second, _) = (measure(tact, mode, blocks, goals.options) for _ in range(2))
    numbers = [cycles(first.get(b)) for b in blocks]
    # what ran and was then rejected for its spread ran all the same
    ran = sum(b in first and (cycles(first[b]) is not None or first[b]['status'] in ('unstable', 'disturbed', 'unconfirmed')) for b in blocks)
    reasons = sum(b in first and (cycles(first[b]) is not None or first[b]['reason'] != '') for b in blocks)
    apart = [abs(cycles(second.get(b)) / cycles(first[b]) - 1) for b in blocks if cycles(first.get(b)) and cycles(second.get(b))]
    share = len([n for n in numbers if n is not None]) / len(blocks)
    report.line('%s: executed' % mode, '%.1f%%' % (100 * ran / len(blocks)), '97%', ran >= 0.97 * len(blocks))
    report.line('%s: with a number' % mode, '%.1f%%' % (100 * share), '%.0f%%' % (100 * goals.share), share >= goals.share)
    report.line('%s: number or reason' % mode, '%.1f%%' % (100 * reasons / len(blocks)), '100%', reasons == len(blocks))
    report.line('%s: two runs apart, median' % mode, '%.2f%%' % (100 * quantile(apart, 0.5)), '0.5%', quantile(apart, 0.5) < 0.005)
    report.line('%s: two runs apart, 95th percentile' % mode, '%.2f%%' % (100 * quantile(apart, 0.95)), '4%', quantile(apart, 0.95) < 0.04)
    if goals.is_confirmed:
        near = sum(a <= 0.01 for a in apart) / max(1, len(apart))
        report.line('%s: two runs within 1%%' % mode, '%.1f%%' % (100 * near), '99%', near >= 0.99)
    rate = len(blocks) / seconds
    report.line('%s: blocks a second' % mode, '%.0f' % rate, '%d' % goals.rate, rate >= goals.rate)


def truth_part(report, goals, tact, path, mode, limit):
    with open(path) as f:
        rows = [r for r in csv.DictReader(f) if r['clean'] == '1' and (not goals.is_confirmed or int(r.get('agree', 3)) >= 3)]
    rows = rows[:limit] if limit else rows
    measured, _ = measure(tact, mode, [r['hex'] for r in rows], goals.options)
    apart = [abs(cycles(measured[r['hex']]) / float(r['cycles']) - 1) for r in rows if cycles(measured.get(r['hex']))]
    within = sum(a <= goals.within for a in apart) / max(1, len(apart))
    name = '%s, %d blocks' % (os.path.basename(path), len(apart))
    report.line(name + ': apart, median', '%.2f%%' % (100 * statistics.median(apart)), '%.1f%%' % (100 * goals.median),
                statistics.median(apart) < goals.median)
    report.line(name + ': within %.0f%%' % (100 * goals.within), '%.1f%%' % (100 * within), '%.0f%%' % (100 * goals.inside),
                within >= goals.inside)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--tact', default=os.path.join(ROOT, 'build/tact'))
    parser.add_argument('--data', default=os.path.join(ROOT, '../shared/data'))
    parser.add_argument('--sample', type=int, default=5000)
    parser.add_argument('--seed', type=int, default=3)
    parser.add_argument('--truth', type=int, default=0)
    parser.add_argument('--confirmed', action='store_true')
    parser.add_argument('--figures', action='store_true')
    args = parser.parse_args()
    family, model, name = this_cpu()
    blocks = sorted({line.split(',')[0] for path in glob.glob(os.path.join(args.data, 'bhive/*.csv')) for line in open(path)} - {'', 'hex'})
    if not blocks:
        sys.exit('no blocks in %s: give --data DIR, with bhive/*.csv in it' % args.data)
    if args.figures:
        print_figures(args.tact, random.Random(args.seed).sample(blocks, min(args.sample, len(blocks))))
        return 0
    report, goals = Report(), Goals(args.confirmed)
    print('%s (family %d, model %d)\n\n| what | here | goal | met |\n|---|---|---|---|' % (name, family, model))
    chosen = random.Random(args.seed).sample(blocks, min(args.sample, len(blocks)))
    for mode in 'unroll', 'loop':
        sample_part(report, goals, args.tact, mode, chosen)
    kind = TRUTH.get((family, model))
    if kind:
        for mode in 'unroll', 'loop':
            truth_part(report, goals, args.tact, os.path.join(args.data, 'truth/%s_%s.csv' % (kind, mode[0])), mode, args.truth)
    else:
        print('\nNo measurements of this CPU by others: that comparison needs an Ice Lake or Emerald Rapids server.')
    return 1 if report.missed else 0


if __name__ == '__main__':
    sys.exit(main())
