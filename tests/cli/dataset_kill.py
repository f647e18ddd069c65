#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kills `tact dataset import` and `merge` at random moments, checks the store, and continues.

usage: dataset_kill.py TACT import|merge
"""
import glob
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

ROWS = 50000
KILLS = 3


def run(tact, *args):
    subprocess.run([tact, 'dataset', *args], check=True, timeout=60)


def export(tact, store):
    return subprocess.run([tact, 'dataset', 'export', store], check=True, timeout=60,
                          capture_output=True).stdout


def check(store):
    """The number of blocks of a store that is intact."""
    db = sqlite3.connect(store, timeout=10)
    assert db.execute('pragma integrity_check').fetchone() == ('ok',)
    assert db.execute('pragma foreign_key_check').fetchone() is None
    n = db.execute('select count(*) from block').fetchone()[0]
    db.close()
    return n


def write_csv(path, first, rows, seed):
    chance = random.Random(seed)
    with open(path, 'w') as out:
        out.write('hex,cycles,app,weight,clean\n')
        for i in range(first, first + rows):
            out.write('48b8%016x,%.2f,app%d,%.3f,%d\n' % (i * 0x9e3779b97f4a7c15 % 2**64, chance.uniform(1, 9),
                                                         i % 5, chance.random(), i % 2))


def kill_at(tact, seconds, *args):
    """Starts it and kills it; whether it was still at it."""
    p = subprocess.Popen([tact, 'dataset', *args])
    time.sleep(seconds)
    p.send_signal(signal.SIGKILL)
    return p.wait(timeout=30) == -signal.SIGKILL


def main():
    tact, what = sys.argv[1:]
    chance = random.Random(os.getpid())
    write_csv('a.csv', 0, ROWS, 1)
    job = ['import', '-q', '--machine', 'm', '-a', 'SKL', None, 'a.csv']
    if what == 'merge':
        write_csv('b.csv', ROWS // 2, ROWS, 2)
        run(tact, 'import', '-q', '--machine', 'm', '-a', 'SKL', 'a.db', 'a.csv')
        run(tact, 'import', '-q', '--machine', 'n', '-a', 'HSW', 'b.db', 'b.csv')
        job = ['merge', '-q', '--mix-cores', None, 'a.db', 'b.db']
    at = job.index(None)
    job[at] = 'whole.db'
    start = time.monotonic()
    run(tact, *job)
    whole = time.monotonic() - start
    job[at] = 'killed.db'
    killed, before = 0, 0
    for _ in range(40):
        if kill_at(tact, chance.uniform(0.05, 0.9) * whole, *job):
            killed += 1
        else:  # it was faster: once more from the start, with less time
            whole *= 0.7
            before = 0
            for name in glob.glob('killed.db*'):
                os.remove(name)
        if os.path.exists('killed.db') and os.path.getsize('killed.db'):
            n = check('killed.db')
            assert n >= before, 'blocks have gone: %d, then %d' % (before, n)
            before = n
        if killed == KILLS:
            break
    assert killed == KILLS, 'it was faster than the signal'
    for name in ('a.db', 'b.db'):
        assert not os.path.exists(name) or check(name)
    run(tact, *job)
    check('killed.db')
    assert export(tact, 'killed.db') == export(tact, 'whole.db'), 'it differs from one that was left alone'
    run(tact, *job)
    assert export(tact, 'killed.db') == export(tact, 'whole.db'), 'the second time has changed something'
    print('killed %d times, intact; in the end the same as undisturbed' % KILLS)


if __name__ == '__main__':
    main()
