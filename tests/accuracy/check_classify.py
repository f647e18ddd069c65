#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the categories of BHive's blocks: stable over seeds, in line with the paper, fast.

usage: check_classify.py [--tact PROGRAM] [--shared DIR] [--seeds N] [--starts N]

DIR (default ../shared) has data/bhive; without it everything is skipped.  The last line of the
output is "N passed, M failed, K skipped".
"""
import argparse
import collections
import csv
import glob
import os
import resource
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MIN_ARI = 0.8
MAX_SECONDS = 60  # of CPU time, to train and to apply; a start takes some 0.3 s

HOLDOUT = ('redis', 'sqlite')
MAX_LOSS = 1.02  # perplexity of a model that has not seen them, next to that of one that has


def adjusted_rand(a, b):
    """Hubert and Arabie 1985."""
    def pairs(counts):
        return sum(n * (n - 1) / 2 for n in counts)
    both = pairs(collections.Counter(zip(a, b)).values())
    of_a, of_b = (pairs(collections.Counter(x).values()) for x in (a, b))
    expected = of_a * of_b / (len(a) * (len(a) - 1) / 2)
    return (both - expected) / ((of_a + of_b) / 2 - expected)


class Classify:
    def __init__(self, args, directory):
        self.tact, self.starts, self.directory = args.tact, args.starts, directory

    def run(self, *words):
        p = subprocess.run([self.tact, 'classify', '-q', *words], capture_output=True, text=True, timeout=400)
        # One of BHive's blocks does not decode, so that the status is 1.
        if p.returncode not in (0, 1):
            raise RuntimeError(p.stderr[-400:])
        return p.stdout

    def train(self, name, seed, files, starts=None):
        model = os.path.join(self.directory, name)
        self.run('--train', model, '--seed', str(seed), '--starts', str(starts or self.starts), *files)
        return model

    def labels(self, model, files):
        """Rows with a category."""
        rows = csv.DictReader(self.run('--apply', model, '-f', 'csv', *files).splitlines())
        return [r for r in rows if r['status'] == 'ok']

    def perplexity(self, model, files):
        text = self.run('--apply', model, *files)
        line = next(x for x in text.splitlines() if x.startswith('Perplexity'))
        return float(line.split(', ')[1].split()[0])


def vector_shares(rows):
    """By application: share of blocks, and of weights, that are vector code."""
    blocks, weights = (collections.defaultdict(lambda: [0, 0]) for _ in range(2))
    for r in rows:
        is_vector = 'Vec' in r['category']
        for table, weight in ((blocks, 1), (weights, float(r['weight'] or 0))):
            table[r['app']][0] += weight * is_vector
            table[r['app']][1] += weight
    return [{app: v / max(n, 1e-30) for app, (v, n) in table.items()} for table in (blocks, weights)]


def check_shares(rows):
    """The paper's figure 3: much vector code in numerical programs, hardly any in SQLite and LLVM
    (which other.csv is, mostly).  doc/models/classify.md tells why not more of it is expected.
    """
    blocks, weights = vector_shares(rows)
    print('vector code, of blocks: ' + ', '.join('%s %.1f%%' % (a, 100 * s) for a, s in sorted(blocks.items())))
    print('vector code, of weights: ' + ', '.join('%s %.1f%%' % (a, 100 * s) for a, s in sorted(weights.items())))
    problems = []
    for table, high, low in ((blocks, 'openblas', ('sqlite', 'other', 'redis', 'gzip', 'openssl')),
                             (weights, 'tensorflow', ('sqlite', 'redis', 'gzip')),
                             (weights, 'eigen', ('sqlite', 'redis', 'gzip'))):
        problems += ['%s has not four times the vector code of %s' % (high, x)
                     for x in low if table[high] < 4 * table[x]]
    if blocks['openblas'] < 0.08:
        problems.append('too little vector code in OpenBLAS')
    if max(blocks['sqlite'], blocks['other']) > 0.02:
        problems.append('too much vector code in SQLite or LLVM')
    return '; '.join(problems)


def check_stability(labels):
    scores = [adjusted_rand(labels[i], labels[k]) for i in range(len(labels)) for k in range(i)]
    print('adjusted Rand index of %d pairs of seeds: %.4f to %.4f' % (len(scores), min(scores), max(scores)))
    return 'below %g' % MIN_ARI if min(scores) < MIN_ARI else ''


def check_holdout(classify, model, files):
    kept = [f for f in files if not any(x in f for x in HOLDOUT)]
    left = [f for f in files if f not in kept]
    unseen = classify.perplexity(classify.train('without', 0, kept, starts=3), left)
    seen = classify.perplexity(model, left)
    print('perplexity of %s: %.4f, without having seen them %.4f' % (' and '.join(HOLDOUT), seen, unseen))
    return 'more than %g' % MAX_LOSS if unseen > MAX_LOSS * seen else ''


def run_all(args, files, directory):
    classify = Classify(args, directory)
    rows, labels, seconds = [], [], 0
    for seed in range(args.seeds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        model = classify.train('m%d' % seed, seed, files)
        rows = classify.labels(model, files)
        seconds = max(seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
        labels.append([r['category'] for r in rows])
    print('%d blocks: %.1f s of CPU time to train and apply, %d starts' % (len(rows), seconds, args.starts))
    yield 'classify: stable over seeds', check_stability(labels)
    yield 'classify: shares as in the paper', check_shares(rows)
    yield 'classify: fast', 'more than %d s' % MAX_SECONDS if seconds > MAX_SECONDS else ''
    yield 'classify: unseen applications', check_holdout(classify, os.path.join(directory, 'm0'), files)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--tact', default=os.path.join(ROOT, 'build/tact'))
    parser.add_argument('--shared', default=os.path.join(ROOT, '../shared'))
    parser.add_argument('--seeds', type=int, default=3)
    parser.add_argument('--starts', type=int, default=6)
    args = parser.parse_args()
    files = sorted(glob.glob(os.path.join(args.shared, 'data/bhive/*.csv')))
    passed = failed = 0
    if not files:
        print('skip: classify: there is no ../shared with its data')
        print('0 passed, 0 failed, 1 skipped')
        return 0
    with tempfile.TemporaryDirectory(prefix='tact-classify-') as directory:
        for name, problem in run_all(args, files, directory):
            print('%s %s%s' % ('FAIL' if problem else 'ok', name, ': ' + problem if problem else ''))
            passed += not problem
            failed += bool(problem)
    print('%d passed, %d failed, 0 skipped' % (passed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
