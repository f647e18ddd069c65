#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Merges shards in many orders and groupings, and shards of a host that is off.

usage: dataset_order.py TACT
"""
import os
import random
import shutil
import sqlite3
import subprocess
import sys

SHARDS, ROWS, ORDERS = 12, 300, 20


def tact(*args, check=True):
    return subprocess.run([TACT, *args], check=check, timeout=60, capture_output=True, text=True)


def write_csv(path, chance):
    """Rows about blocks of which shards share many; what they say of them differs in every way."""
    with open(path, 'w') as out:
        out.write('hex,record,app,weight,category,classifier,arch,mode,model,version,status,cycles_per_iteration,coverage,'
                  'spread,rounds,agree,machine,vendor,family,cpu_model,stepping,microcode,host,kernel,reason\n')
        for _ in range(ROWS):
            code = '48b8%016x' % (chance.randrange(400) * 0x9e3779b97f4a7c15 % 2**64)
            kind = chance.choice(['source', 'category', 'measurement', 'measurement', 'prediction'])
            ok = chance.random() < 0.8
            row = dict.fromkeys('app weight category classifier arch mode model version status cycles coverage spread '
                                'rounds agree machine vendor family cpu_model stepping microcode host kernel reason'.split(), '')
            if kind == 'source':
                row.update(app='app%d' % chance.randrange(3), weight=chance.choice(['', '1', '2', '0.5']))
            elif kind == 'category':
                row.update(category='c%d' % chance.randrange(4), classifier='k', arch='SKL')
            elif kind == 'measurement':
                agree = chance.randrange(3) if ok else 0
                row.update(mode=chance.choice(['loop', 'unroll']), version=chance.choice(['', '0.1.0', '0.10.0', '0.9']),
                           status='ok' if ok else 'unstable', cycles=chance.choice(['1', '2']) if ok else '',
                           spread=chance.choice(['', '0.01', '0']) if ok else '', rounds=max(agree, 2), agree=agree,
                           machine='m', vendor='v', family='6', cpu_model='%d' % chance.randrange(2), stepping='1',
                           microcode='0x1', arch='SKL', host=chance.choice(['', 'h1', 'h2', 'h3']),
                           kernel=chance.choice(['6.1', '6.2']), reason='' if ok else chance.choice(['a', 'b']))
            else:
                row.update(arch='SKL', mode='unroll', model='sim', version='1', status='ok' if ok else 'decode',
                           cycles=chance.choice(['3', '4']) if ok else '', coverage=chance.choice(['', '1', '0.5']) if ok else '')
            out.write(','.join([code, kind, *map(str, row.values())]) + '\n')


def orders():
    chance = random.Random(7)
    for i in range(SHARDS):
        write_csv('s.csv', chance)
        done = tact('dataset', 'import', '%d.db' % i, 's.csv', check=False)
        assert done.returncode == 0, done.stderr
    seen = set()
    for k in range(ORDERS):
        names = ['%d.db' % i for i in range(SHARDS)]
        chance.shuffle(names)
        names += chance.sample(names, 3)  # some a second time
        for f in ('all.db', 'part.db'):
            if os.path.exists(f):
                os.remove(f)
        cut = chance.randrange(1, SHARDS)
        if k % 3 == 0:  # at once
            tact('dataset', 'merge', '-q', 'all.db', *names)
        elif k % 3 == 1:  # one after the other
            for name in names:
                tact('dataset', 'merge', '-q', 'all.db', name)
        else:  # a merged store is a shard, too
            tact('dataset', 'merge', '-q', 'part.db', *names[:cut])
            tact('dataset', 'merge', '-q', 'all.db', *names[cut:], 'part.db')
        seen.add(tact('dataset', 'export', '-q', 'all.db').stdout)
    assert len(seen) == 1, 'the order shows'
    print('%d shards, %d orders: the same bytes, %d rows' % (SHARDS, ORDERS, seen.pop().count('\n') - 1))


def change(path, sql, *values):
    db = sqlite3.connect(path)
    n = db.execute(sql, values).rowcount
    db.commit()
    db.close()
    return n


def report(*args):
    done = tact('dataset', 'merge', '-q', *args, check=False)
    assert done.returncode == (1 if done.stderr else 0), done
    for line in done.stderr.splitlines():
        what = line[line.index('host '):line.index(';', line.index(';') + 1)]
        print(what)
    return done


def hosts():
    for name in ('good0', 'good1', 'bad'):
        tact('measure', '-q', '--noisy', '-o', name + '.db', '--host', name, '-x', '90', check=False)
        change(name + '.db', 'delete from canary')
        change(name + '.db', "insert into canary select '4801d8', 'unroll', 'stack', 'pointer', 'ordinary', 1, host.id,"
               " 'tsc', ? from host", 1.2 if name == 'bad' else 1.0)
    report('one.db', 'bad.db')
    for name in ('good0', 'good1', 'bad'):  # of no known answer
        change(name + '.db', "insert into canary select '31c0', 'loop', 'stack', 'pointer', 'ordinary', 1, host.id, 'tsc', ?"
               ' from host', 5.1 if name == 'bad' else 5.0 if name == 'good0' else 5.01)
    change('bad.db', "update canary set cycles_per_iteration = 6.2 where hex = '31c0'")
    done = tact('dataset', 'merge', '-q', 'all3.db', 'bad.db', 'good0.db', 'good1.db', check=False)
    assert done.returncode == 1 and done.stderr.count(': host ') == 1, done
    print(done.stderr[done.stderr.index('host '):].split('; leave')[0])
    tact('dataset', 'merge', '-q', '--without-host', 'bad', 'good.db', 'bad.db', 'good0.db', 'good1.db')
    stat = tact('dataset', 'stat', '-f', 'csv', 'good.db').stdout.splitlines()
    column = stat[0].split(',').index('host')
    print('without it: hosts', *sorted({line.split(',')[column] for line in stat if line.startswith('hosts,')} | {
        row[0] for row in sqlite3.connect('good.db').execute('select name from host')}))
    shutil.copy('good0.db', 'old.db')
    change('old.db', 'update measurement set host = null')
    tact('dataset', 'merge', '-q', '--without-host', 'good0', 'kept.db', 'old.db')
    assert sqlite3.connect('kept.db').execute('select count(*) from measurement').fetchone()[0] == 1
    print('no row of unknown hosts was lost')


TACT = sys.argv[1]
orders()
hosts()
