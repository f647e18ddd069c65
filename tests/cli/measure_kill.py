#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ends `tact measure -o x.db` halfway, checks the store, and continues.

usage: measure_kill.py TACT kill|interrupt
"""
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time

BLOCKS = 60
SLOW = ['--passes', '50', '--samples', '160', '--timeout', '60000']  # so that there is a middle


def rows(check=False):
    """The rows of the store by hex; empty while there is no store."""
    try:
        db = sqlite3.connect('file:x.db?mode=ro', uri=True, timeout=10)
        found = db.execute('select hex, status, cycles_per_iteration from measurement '
                           'join block on id = block').fetchall()
        if check:
            assert db.execute('pragma integrity_check').fetchone() == ('ok',)
            assert db.execute('pragma foreign_key_check').fetchone() is None
        db.close()
    except sqlite3.OperationalError:
        return {}
    assert len({r[0] for r in found}) == len(found), 'a block is there twice'
    return {r[0]: r[1:] for r in found}


def children(pid):
    found = []
    for task in os.listdir('/proc/%d/task' % pid):
        try:
            found += open('/proc/%d/task/%s/children' % (pid, task)).read().split()
        except OSError:
            pass  # a thread that has ended, or a kernel without such files
    return [int(c) for c in found]


def is_alive(pid):
    try:
        return open('/proc/%d/stat' % pid).read().rsplit(')', 1)[1].split()[0] != 'Z'
    except OSError:
        return False


def end_in_the_middle(tact, more, number):
    """Starts it, waits until there are `more` new rows, sends the signal; returns its messages."""
    wanted = len(rows()) + more
    p = subprocess.Popen([tact, 'measure', '-o', 'x.db', '--resume', 'l.hex'] + SLOW,
                         stderr=subprocess.PIPE, text=True)
    while len(rows()) < wanted:
        assert p.poll() is None, 'it ended too early: ' + p.stderr.read()
        time.sleep(0.01)
    left = children(p.pid)
    p.send_signal(number)
    err = p.communicate(timeout=30)[1]
    deadline = time.monotonic() + 10
    while any(map(is_alive, left)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(map(is_alive, left)), 'a child has outlived it'
    return p.returncode, err


def finish(tact, before):
    subprocess.run([tact, 'measure', '-q', '-o', 'x.db', '--resume', 'l.hex'], timeout=50)
    after = rows(check=True)
    assert len(after) == BLOCKS, '%d rows' % len(after)
    assert all(after[h] == before[h] for h in before), 'a row was measured again'


def main():
    tact, what = sys.argv[1:]
    with open('l.hex', 'w') as out:
        out.writelines('4883c0%02x\n' % i for i in range(BLOCKS))
    if what == 'kill':
        for more in (1, 4, 7):
            before = rows()
            code, _ = end_in_the_middle(tact, more, signal.SIGKILL)
            after = rows(check=True)
            assert code == -signal.SIGKILL and len(before) + more <= len(after) < BLOCKS
            assert all(after[h] == before[h] for h in before)
        print('killed 3 times, intact')
        finish(tact, rows())
        print('%d rows, all different, none measured again' % BLOCKS)
    else:
        code, err = end_in_the_middle(tact, 3, signal.SIGINT)
        print('exit %d' % code)
        said = [line for line in err.splitlines() if 'interrupted' in line]
        assert said and int(re.search(r'(\d+) of', said[0]).group(1)) == len(rows())
        print(re.sub(r'\d+ of', 'N of', said[0]))
        finish(tact, rows(check=True))
        print('intact')


if __name__ == '__main__':
    main()
