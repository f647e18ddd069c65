#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Errors of instruction mixes from windows (tact mix record --native), against exact counts (tact mix exact).

usage: mix_windows.py [--tact PATH] [--keep DIR] [--runs N] [--only NAME[,NAME]]

Each program takes some seconds.  It runs once under QEMU, which counts everything, and N times natively, with
different seeds.  The error is the average weighted error of mnemonics (HBBP paper, section VI): of shares, and of
executions, which has the error of the total as well.  "said" is the mean error that the report itself gives for
mnemonics, weighted by their shares.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

import mix_accuracy

SQL = mix_accuracy.SQL.replace('12000', '2000000')
PYTHON = mix_accuracy.PYTHON.replace('60000', '9000000')
LUA = mix_accuracy.LUA.replace('30000', '1500000')


def programs(work):
    corpus = os.path.join(work, 'corpus.txt')
    if not os.path.exists(corpus):
        with open(corpus, 'w') as f:
            f.write(mix_accuracy.text(48000000).replace(' end ', '\n'))
    lua = next((p for p in ('lua5.4', 'lua5.3', 'lua') if shutil.which(p)), 'lua')
    awk = next((p for p in ('mawk', 'gawk', 'awk') if shutil.which(p)), 'awk')
    return [
        ('gzip', ['gzip', '-6', '-c', corpus]),
        ('bzip2', ['bzip2', '-c', corpus]),
        ('xz', ['xz', '-0', '-c', '-T1', corpus]),
        ('sqlite3', ['sqlite3', ':memory:', SQL]),
        ('python3', ['/usr/bin/python3', '-S', '-E', '-c', PYTHON]),
        ('lua', [lua, '-e', LUA]),
        ('perl', ['perl', '-e', mix_accuracy.PERL, corpus]),
        ('awk', [awk, mix_accuracy.AWK, corpus]),
    ]


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True).stdout


def quiet(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)


def difference(tact, exact, other, *options):
    out = run(tact, 'mix', 'diff', '-q', '-f', 'json', '--top', '1', *options, exact, other)
    return 100 * json.loads(out)['average_weighted_error']


def measure(args, work, name, command):
    exact = os.path.join(work, name + '.exact')
    if not os.path.exists(exact):
        quiet(args.tact, 'mix', 'exact', '-q', '-o', exact, '--', *command)
    rows = []
    for seed in range(1, args.runs + 1):
        windows = os.path.join(work, '%s.%d.windows' % (name, seed))
        quiet(args.tact, 'mix', 'record', '-q', '--native', '--seed', str(seed), '-o', windows, '--', *command)
        report = json.loads(run(args.tact, 'mix', 'report', '-q', '-f', 'json', windows))
        said = 100 * sum(r[2] * r[3] for r in report['rows'] if r[3] is not None)
        rows.append((report['windows'], difference(args.tact, exact, windows),
                     difference(args.tact, exact, windows, '--absolute'), said))
    return [sum(column) / len(column) for column in zip(*rows)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--tact', default='build/tact')
    parser.add_argument('--keep')
    parser.add_argument('--runs', type=int, default=3)
    parser.add_argument('--only')
    args = parser.parse_args()
    args.tact = os.path.abspath(args.tact)
    only = args.only.split(',') if args.only else None
    with tempfile.TemporaryDirectory() as temporary:
        work = args.keep or temporary
        os.makedirs(work, exist_ok=True)
        print('| program | windows | error of shares | of executions | said |\n|---|---|---|---|---|')
        for name, command in programs(work):
            if only and name not in only:
                continue
            if not shutil.which(command[0]):
                print('skip %s' % name, file=sys.stderr)
                continue
            print('| %s | %.0f | %.1f%% | %.1f%% | %.1f%% |' % (name, *measure(args, work, name, command)), flush=True)


if __name__ == '__main__':
    main()
