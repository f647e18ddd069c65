#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Errors of instruction mixes from samples, against exact counts: real programs under the virtual PMU.

usage: mix_accuracy.py [--tact PATH] [--keep DIR] [--seed N] [--write] [--only NAME[,NAME]] [-- OPTION...]

Each program runs once under QEMU, sampled by the virtual PMU and counted at the same time.  The error is
the average weighted error of mnemonics (HBBP paper, section VI): absolute, not scaled.  `tact mix train`
leaves each program out in turn.  "Covered" are the rows of at least a thousandth of all instructions
whose stated interval has the truth: mnemonics, categories and functions.  The programs of the second table were not
used when the weights of the intervals were learned (lib/mix/bias.c).
--write puts the figures into doc/accuracy.json and doc/accuracy.md.  Options after -- go to tact mix record.
"""
import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile

import write_accuracy

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)


def text(n, seed=1):
    """Words that compress about as English does."""
    words = ['the', 'of', 'block', 'cycle', 'port', 'branch', 'and', 'to', 'in', 'a', 'is', 'that', 'sample', 'stack',
             'register', 'which', 'when', 'load', 'store', 'it', 'x86', 'front', 'end', 'queue']
    out = []
    size = 0
    while size < n:
        seed = seed * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        word = words[(seed >> 33) % len(words)] if seed >> 60 else '%d' % (seed >> 40)
        out.append(word)
        size += len(word) + 1
    return ' '.join(out)[:n]


SQL = ('create table t(a integer primary key, b integer, c text);'
       'with recursive n(i) as (select 1 union all select i+1 from n where i<12000) '
       'insert into t select i, (i*7919)%9973, "row"||i from n;'
       'create index tb on t(b);'
       'select count(*), sum(length(c)) from t where b between 100 and 5000;'
       'select b%100, count(*), max(c) from t group by 1 order by 2 desc limit 5;')
PYTHON = ('d = {}\n'
          'for i in range(60000):\n'
          '    k = (i * 7919) % 1009\n'
          '    d[k] = d.get(k, 0) + len(str(i))\n'
          'print(sum(sorted(d.values())[:100]))\n')
PERL = 'my %c; while (<>) { $c{$_}++ for split /\\s+/; s/block/BLOCK/g; } print scalar(keys %c), "\\n";'
LUA = ('local t = {} for i = 1, 30000 do t[i] = (i * 7919) % 10007 end table.sort(t) '
       'local s = 0 for i, v in ipairs(t) do s = s + v * i % 7 end print(s, #table.concat(t, ","))')
AWK = '{ for (i = 1; i <= NF; i++) c[$i] += length($i); n += NF } END { for (w in c) if (c[w] > m) m = c[w]; print n, m }'


def programs(work):
    """(name, what must be installed, command)"""
    corpus = os.path.join(work, 'corpus.txt')
    small = os.path.join(work, 'small.txt')
    with open(corpus, 'w') as f:
        f.write(text(400000).replace(' end ', '\n'))
    with open(small, 'w') as f:
        f.write(text(120000, 7).replace(' end ', '\n'))
    lua = next((p for p in ('lua5.4', 'lua5.3', 'lua') if shutil.which(p)), 'lua')
    awk = next((p for p in ('mawk', 'gawk', 'awk') if shutil.which(p)), 'awk')
    python = '/usr/bin/python3' if os.path.exists('/usr/bin/python3') else sys.executable
    virtual = os.path.join(work, 'virtual_calls')
    if shutil.which('g++'):
        subprocess.run(['g++', '-O2', '-o', virtual, os.path.join(HERE, 'programs', 'virtual_calls.cpp')], check=True)
    return [
        ('gzip', 'gzip', ['gzip', '-6', '-c', corpus]),
        ('bzip2', 'bzip2', ['bzip2', '-c', corpus]),
        ('xz', 'xz', ['xz', '-2', '-c', '-T1', corpus]),
        ('sqlite3', 'sqlite3', ['sqlite3', ':memory:', SQL]),
        ('python3', python, [python, '-S', '-E', '-c', PYTHON]),
        ('perl', 'perl', ['perl', '-e', PERL, corpus]),
        ('lua', lua, [lua, '-e', LUA]),
        ('awk', awk, [awk, AWK, corpus]),
        ('openssl', 'openssl', ['openssl', 'speed', '-bytes', '256', '-seconds', '3', 'sha256']),
        ('virtual calls', virtual, [virtual, '2500']),
    ]


def held_out(work, args_tact):
    """Programs that nothing was learned from."""
    corpus = os.path.join(work, 'corpus.txt')
    small = os.path.join(work, 'small.txt')
    return [
        ('find', 'find', ['find', TOP, '-name', '*.[ch]', '-size', '+4']),
        ('strings', 'strings', ['strings', '-n', '7', args_tact]),
        ('od', 'od', ['od', '-A', 'x', '-t', 'x1z', small]),
        ('m4', 'm4', ['m4', '-D', 'block=incr(1)', corpus]),
        ('cmp', 'cmp', ['cmp', corpus, corpus]),
        ('fold', 'fold', ['fold', '-s', '-w', '60', corpus]),
    ]


def run(command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def error(args, exact, data, *options):
    out = run([args.tact, 'mix', 'diff', '-q', '--absolute', '-f', 'json', '--top', '1', *options, exact, data])
    return json.loads(out)['average_weighted_error']


COVERED = 0.001  # of all instructions: rows that are looked at


def covered(args, exact, data):
    """How many rows there are, and how many have the truth within one standard deviation and in the interval."""
    def rows(path, key):
        out = run([args.tact, 'mix', 'report', '-q', '-f', 'csv', '--by', key, '--values',
                   'executions,share,low,high,error', path])
        return {r[key]: r for r in csv.DictReader(out.splitlines())}
    n = inside = near = 0
    for key in ('mnemonic', 'category', 'function'):
        truth = rows(exact, key)
        for name, row in rows(data, key).items():
            if float(row['share']) < COVERED or not row['low']:
                continue
            true = float(truth[name]['executions']) if name in truth else 0
            n += 1
            inside += float(row['low']) <= true <= float(row['high'])
            near += abs(true - float(row['executions'])) <= float(row['relative_error']) * float(row['executions'])
    return n, near, inside


def measure(args, work, only, what):
    runs = []
    for name, needs, command in what:
        if only and name not in only:
            continue
        if not shutil.which(needs):
            print('skip %s: there is no %s' % (name, needs), file=sys.stderr)
            continue
        base = os.path.join(work, name.replace(' ', '_'))
        exact, data = base + '.counts', base + '.data'
        if not (args.reuse and os.path.exists(data)):
            subprocess.run([args.tact, 'mix', 'record', '-q', '--virtual', '--seed', str(args.seed), '--exact', exact,
                            '-o', data, *args.options, '--', *command], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        runs.append({'name': name, 'exact': exact, 'data': data})
        print('%-14s recorded' % name, file=sys.stderr)
    return runs


def judge(args, runs):
    for r in runs:
        for method in ('ebs', 'lbr', 'hybrid'):
            r[method] = error(args, r['exact'], r['data'], '--method', method)
        report = json.loads(run([args.tact, 'mix', 'report', '-q', '-f', 'json', '--top', '1', r['data']]))
        r['samples'], r['stacks'] = report['ebs_samples'], report['lbr_samples']
        r['instructions'] = json.loads(run([args.tact, 'mix', 'report', '-q', '-f', 'json', '--top', '1',
                                            r['exact']]))['instructions']
        r['block'] = report['figures']['instructions_per_block']


def train(args, runs):
    """What tact mix train says of a rule learned from these programs: each is left out in turn."""
    pairs = [x for r in runs for x in (r['data'], r['exact'])]
    return run([args.tact, 'mix', 'train', '-q', *pairs]).split('\nlength')[0].strip()


def cover(args, runs):
    for r in runs:
        r['rows'], r['near'], r['covered'] = covered(args, r['exact'], r['data'])


METHODS = ('ebs', 'lbr', 'hybrid')


def section(runs, others, verdict, seed):
    """What doc/accuracy.json keeps."""
    percent = lambda x: None if x is None else round(100 * x, 2)
    keep = lambda r: {'name': r['name'], 'rows': r['rows'], 'near': r['near'], 'covered': r['covered']}
    return {'seed': seed, 'verdict': verdict,
            'runs': [{**keep(r), 'million': round(r['instructions'] / 1e6), 'block': round(r['block'], 1),
                      'samples': r['samples'], 'stacks': r['stacks'], **{m: percent(r[m]) for m in METHODS}}
                     for r in runs],
            'held_out': [keep(r) for r in others],
            'average': {m: percent(sum(r[m] for r in runs) / len(runs)) for m in METHODS}}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--tact', default=os.path.join(TOP, 'build', 'tact'))
    parser.add_argument('--keep')
    parser.add_argument('--reuse', action='store_true')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--write', action='store_true')
    parser.add_argument('--only')
    parser.add_argument('options', nargs='*')
    args = parser.parse_args()
    work = args.keep or tempfile.mkdtemp(prefix='tact-mix-')
    os.makedirs(work, exist_ok=True)
    try:
        only = args.only.split(',') if args.only else None
        runs = measure(args, work, only, programs(work))
        if not runs:
            sys.exit('no program to run')
        others = measure(args, work, only, held_out(work, args.tact))
        judge(args, runs)
        cover(args, runs + others)
        found = section(runs, others, train(args, runs), args.seed)
        print(json.dumps(found, indent=1))
        if args.write:
            write_accuracy.save('mix', found)
    finally:
        if not args.keep:
            shutil.rmtree(work)


if __name__ == '__main__':
    main()
