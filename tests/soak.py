#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks for errors for hours: fuzzing, hunting, properties of fresh random blocks, differences to llvm-mca.

usage: soak.py [--build BUILD] [--fuzz PROGRAM]... [--out DIR] [--seed N] [--jobs N] HOURS

Three fifths of the time go to all fuzz targets (tests/fuzz/run_all.sh; each PROGRAM is tests/fuzz/all of
a build), the rest in turns to what has blocks that nobody has seen: the property tests with a new seed
each, a hunt of each model against another one, and llvm-mca of the module's version against the machine
that follows it.  DIR (default: build/soak) gets soak.md, one page with what was done and found, and what
is needed to repeat each of it.  Exits with 1 if something was found.
"""
import argparse
import datetime
import glob
import os
import random
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, 'tests'))
sys.path.insert(0, os.path.join(ROOT, 'tests/property'))
import check_bounds  # noqa: E402
import machine  # noqa: E402

FUZZING = 0.6  # of the time
BLOCKS = 1000  # of a comparison
PROPERTY = {'check_bounds.py': 20000, 'check_llvm_bounds.py': 1000}  # blocks, the latter of each CPU
AGREE = 97.0  # percent of the blocks within 1% of llvm-mca, at least: doc/models/mca.md has what is usual
HUNTED = (('facile', 'sim'), ('sim', 'facile'), ('mca', 'sim'))


class Page:
    """What is written at the end, and what was found so far."""
    def __init__(self, out, seed):
        self.out, self.seed = out, seed
        self.sections, self.found, self.rows = [], [], []

    def row(self, what, count, seconds, result):
        self.rows.append('| %s | %s | %.0f | %s |' % (what, count, seconds, result))
        print('%s: %s in %.0f s: %s' % (what, count, seconds, result), flush=True)

    def finding(self, title, command, text):
        self.found.append('### %s\n\n```\n$ %s\n%s\n```\n' % (title, command, text.strip()[-3000:]))

    def write(self, hours, commit):
        lines = ['# Soak', '',
                 '%s: %s.' % (datetime.date.today().isoformat(),
                              '%d finding%s' % (len(self.found), '' if len(self.found) == 1 else 's')
                              if self.found else 'nothing was found'),
                 '', 'Version %s, %.2f hours, first seed %d.' % (commit, hours, self.seed), '',
                 '| what | how much | seconds | result |', '|---|---|---|---|'] + self.rows
        if self.found:
            lines += ['', '## Findings', ''] + self.found
        lines += self.sections
        path = os.path.join(self.out, 'soak.md')
        with open(path, 'w', encoding='utf-8') as page:
            page.write('\n'.join(lines) + '\n')
        return path


def run(words, timeout=None):
    """Returns exit status (None: ended after the time), output and seconds."""
    start = time.monotonic()
    try:
        p = subprocess.run(words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True, errors='replace', timeout=timeout)
        return p.returncode, p.stdout, time.monotonic() - start
    except subprocess.TimeoutExpired as e:
        return None, (e.stdout or b'').decode(errors='replace'), time.monotonic() - start


def shown(words):
    return ' '.join(os.path.relpath(w, ROOT) if w.startswith(ROOT) else w for w in words)


# ---- fuzzing ----

def fuzz(page, args, hours):
    corpus, work = os.path.join(args.out, 'corpus'), os.path.join(args.out, 'fuzz')
    shutil.rmtree(corpus, ignore_errors=True)
    shutil.rmtree(os.path.join(work, 'findings'), ignore_errors=True)
    shutil.copytree(os.path.join(ROOT, 'tests/fuzz/corpus'), corpus)
    run([sys.executable, 'tests/fuzz/seeds.py', os.path.join(corpus, 'command')])
    words = ['sh', 'tests/fuzz/run_all.sh', corpus, work, str(args.jobs), '%.2f' % (hours * 60)] + args.fuzz
    status, output, seconds = run(words)
    found = sorted(glob.glob(os.path.join(work, 'findings/*-said')))
    total = re.search(r'^all +(\d+)', output, re.M)
    page.row('fuzzing', '%s executions' % (total.group(1) if total else '?'), seconds,
             'good' if status == 0 else '%d findings' % len(found))
    page.sections += ['', '## Executions of each fuzz target', '', '```', output.strip(), '```']
    if status and not found:
        page.finding('fuzzing did not run', shown(words), output)
    for path in found:
        with open(path, encoding='utf-8', errors='replace') as said:
            target = os.path.basename(path).split('-')[0]
            inputs = [p for p in glob.glob(path[:-len('said')] + '*') if not p.endswith('-said')]
            page.finding('fuzz_' + target, 'TACT_FUZZ=%s %s %s' % (target, shown(args.fuzz[:1]), ' '.join(inputs)),
                         said.read())


# ---- blocks that nobody has seen ----

def write_blocks(args, seed):
    path = os.path.join(args.out, 'blocks-%d.csv' % seed)
    with open(path, 'w', encoding='utf-8') as out:
        out.write('hex\n' + '\n'.join(check_bounds.random_blocks(BLOCKS, False, seed)) + '\n')
    return path


def check_property(page, args, seed, script):
    words = [sys.executable, 'tests/property/' + script, '--tact', args.tact, '--count', str(PROPERTY[script]),
             '--shared', '/nowhere', '--seed', str(seed)]
    status, output, seconds = run(words)
    page.row(script[:-3], '%d blocks, seed %d' % (PROPERTY[script], seed), seconds, 'good' if status == 0 else 'FOUND')
    if status:
        page.finding(script, shown(words), output)


def hunt(page, args, seed):
    """Models may disagree: a hunt is a finding only if it fails.  What it found goes to a file."""
    model, judge = HUNTED[seed % len(HUNTED)]
    path = write_blocks(args, seed)
    out = os.path.join(args.out, 'hunt-%s-%s.txt' % (model, judge))
    words = [args.tact, 'hunt', '-q', '-a', 'SKL', '--model', model, '--against', judge, '--blocks', '2000',
             '--classes', '5', '--seed', str(seed), '-o', out, path]
    status, output, seconds = run(words)
    classes = '?'
    if os.path.exists(out):
        with open(out, encoding='utf-8') as text:
            classes = (re.search(r'^Classes: (\d+)', text.read(), re.M) or [0, '0'])[1]
    page.row('hunt: %s against %s' % (model, judge), '2000 blocks, seed %d' % seed, seconds,
             '%s classes, in %s' % (classes, os.path.basename(out)) if status in (0, 1) else 'FOUND')
    if status not in (0, 1):
        page.finding('hunt', shown(words), output)


def compare_with_llvm(page, args, seed):
    version = machine.llvm_version(args.tact)
    if not version or not shutil.which('llvm-mca-%d' % version):
        if not any('llvm-mca' in row for row in page.rows):
            page.row('llvm-mca', '-', 0, 'left out: tact_llvm.so and llvm-mca of its version are not here')
        return
    cpu = ('llvm:skylake', 'llvm:znver3', 'llvm:haswell', 'llvm:btver2')[seed % 4]
    words = [sys.executable, 'bench/llvm_fidelity.py', '--tact', args.tact, '--llvm', str(version), '--show', '5',
             '-a', cpu, write_blocks(args, seed)]
    status, output, seconds = run(words)
    row = re.search(r'^\| %s \| (\d+) \| (\d+) \| ([0-9.]+)%%' % re.escape(cpu), output, re.M)
    agree = float(row.group(3)) if row else 0
    is_good = status == 0 and row and int(row.group(1)) > 0 and agree >= AGREE
    page.row('llvm-mca, %s' % cpu, '%s blocks, seed %d' % (row.group(1) if row else '?', seed), seconds,
             '%.2f%% agree within 1%%%s' % (agree, '' if is_good else ': FOUND'))
    if not is_good:
        page.finding('llvm-mca, ' + cpu, shown(words), output)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--build', default='build')
    parser.add_argument('--fuzz', action='append', default=[])
    parser.add_argument('--out', default='build/soak')
    parser.add_argument('--seed', type=int, default=random.SystemRandom().randrange(1, 10 ** 6))
    parser.add_argument('--jobs', type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument('hours', type=float)
    args = parser.parse_args()
    args.out = os.path.join(ROOT, args.out)
    args.tact = os.path.join(ROOT, args.build, 'tact')
    args.fuzz = [os.path.join(ROOT, p) for p in args.fuzz or [args.build + '/tests/fuzz/all']]
    os.makedirs(args.out, exist_ok=True)
    _, commit, _ = run(['git', 'describe', '--always', '--dirty'])
    page, start = Page(args.out, args.seed), time.monotonic()
    fuzz(page, args, args.hours * FUZZING)
    tasks = (lambda seed: check_property(page, args, seed, 'check_bounds.py'), lambda seed: hunt(page, args, seed),
             lambda seed: compare_with_llvm(page, args, seed),
             lambda seed: check_property(page, args, seed, 'check_llvm_bounds.py'))
    for n in range(10 ** 6):
        if n >= len(tasks) and time.monotonic() - start >= args.hours * 3600:
            break
        tasks[n % len(tasks)](args.seed + n)
        if not page.found:  # the blocks of a finding stay
            for path in glob.glob(os.path.join(args.out, 'blocks-*.csv')):
                os.unlink(path)
    path = page.write((time.monotonic() - start) / 3600, commit.strip())
    print('%s: %s' % (os.path.relpath(path), '%d findings' % len(page.found) if page.found else 'nothing was found'))
    return 1 if page.found else 0


if __name__ == '__main__':
    sys.exit(main())
