#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures shards of a list, and ends campaigns by signals.

usage: measure_shard.py TACT
"""
import os
import signal
import sqlite3
import subprocess
import sys
import time

TACT = sys.argv[1]
BLOCKS = ['48ffc%x' % i for i in range(8)] + ['4801d8', '0fafc3', '90', '6690', '0f1f00']


def shard_of(code, n):
    """FNV-1a, as doc/cluster.md has it."""
    h = 0xcbf29ce484222325
    for byte in bytes.fromhex(code):
        h = (h ^ byte) * 0x100000001b3 % 2**64
    return h % n


def measure(*args, env=None):
    return subprocess.run([TACT, 'measure', '-q', '--noisy', *args], timeout=60, capture_output=True, text=True,
                          env={**os.environ, **(env or {})})


def blocks(store):
    return sorted(row[0] for row in sqlite3.connect(store).execute(
        'select hex from measurement join block on block.id = block'))


def array(number, count, least, step=1):
    return {'SLURM_ARRAY_TASK_ID': str(number), 'SLURM_ARRAY_TASK_COUNT': str(count),
            'SLURM_ARRAY_TASK_MIN': str(least), 'SLURM_ARRAY_TASK_STEP': str(step)}


def shards():
    for i in range(3):
        measure('--shard', '%d/3' % i, '-o', 's%d.db' % i, 'list')
        assert blocks('s%d.db' % i) == sorted(b for b in BLOCKS if shard_of(b, 3) == i)
    print('3 shards: each block once, where its hash says')
    for i in range(3):
        measure('-o', 'a%d.db' % i, 'list', env=array(i + 1, 3, 1))
        measure('-o', 'b%d.db' % i, 'list', env=array(4 * i, 3, 0, 4))
        assert blocks('a%d.db' % i) == blocks('b%d.db' % i) == blocks('s%d.db' % i)
    print('tasks 1 to 3 of an array, and 0, 4, 8: the same shards')
    out = measure('-f', 'csv', 'list', env=array(1, 3, 1)).stdout
    assert out.count('\n') == 1 + len(BLOCKS)
    measure('--shard', '0/1', '-o', 'whole.db', 'list', env=array(1, 3, 1))
    assert len(blocks('whole.db')) == len(BLOCKS)
    print('not with text, nor with --shard 0/1')


def signals():
    """Many blocks, so that the signal comes in the middle."""
    with open('many', 'w') as out:
        for i in range(3000):
            out.write('48b8%016x\n' % i)
    for number in (signal.SIGTERM, signal.SIGUSR1):
        for name in ('cut.db', 'cut.db-wal', 'cut.db-shm'):
            if os.path.exists(name):
                os.remove(name)
        p = subprocess.Popen([TACT, 'measure', '-q', '--noisy', '--host', 'first', '-o', 'cut.db', 'many'],
                             stderr=subprocess.DEVNULL)
        end = time.monotonic() + 30
        while time.monotonic() < end:  # until there is a row
            try:
                if os.path.exists('cut.db') and blocks('cut.db'):
                    break
            except sqlite3.OperationalError:
                pass
            time.sleep(0.02)
        p.send_signal(number)
        assert p.wait(timeout=30) == 75
        done = len(blocks('cut.db'))
        assert 0 < done < 3000, done
    measure('--resume', '--limit', '20', '--host', 'second', '-o', 'cut.db', 'many')
    assert len(blocks('cut.db')) == done + 20
    print('SIGTERM and SIGUSR1: 75; the rest on another host')
    db = sqlite3.connect('cut.db')
    rows = db.execute('select name, count(*) from measurement join host on host.id = host group by name').fetchall()
    assert rows == [('first', done), ('second', 20)], rows
    assert db.execute('select kernel from host').fetchone()[0] == os.uname().release
    print('rows of first and second')


with open('list', 'w') as f:
    f.write('\n'.join(BLOCKS) + '\n')
shards()
signals()
