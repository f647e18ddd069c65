#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tact trace --native and --attach: the program must not notice, and the result must be what is known about it.

usage: native_check.py TACT attach | PROGRAM...          ./p is native_programs.c
"""
import json
import os
import signal
import subprocess
import sys
import time

N, MANY, LONG = '12000000', '200000000', '1000000000'


def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def rows():
    return [json.loads(line) for line in open('x.json')]


def ipc(name):
    """Instructions per cycle of a function, which the model knows whatever the machine does."""
    found = [r for r in rows() if r['kind'] == 'function' and r['function'] == name]
    return sum(r['instructions'] for r in found) / sum(r['cycles'] for r in found) if found else 0


def program(tact, what, function=None):
    n = MANY if what in ('threads', 'forks') else N
    alone = run('./p', what, n)
    for _ in range(5):  # a busy machine may leave a short program one window or none
        traced = run(tact, 'trace', '-a', 'SKL', '--native', '-o', 'x.json', '--', './p', what, n)
        if os.path.getsize('x.json') and rows()[0]['windows'] > 1:
            break
    said = [line for line in traced.stderr.splitlines() if 'exited with' not in line]
    total = rows()[0]
    good = traced.stdout == alone.stdout and total['windows'] > 1 and total['user_seconds'] > 0
    if alone.returncode > 0:
        good = good and 'exited with status %d' % alone.returncode in traced.stderr
    if function and abs(ipc(function) - 1) > 0.02:
        said.append('%s has an IPC of %.3f' % (function, ipc(function)))
    print(what, traced.returncode, 'the same' if good else 'differs: %s %s' % (traced.stdout, total), *said)


def attach(tact, alone, name, *how, stop=None):
    p = subprocess.Popen(['./p', 'chain', LONG], stdout=subprocess.PIPE, text=True)
    t = subprocess.Popen([tact, 'trace', '-a', 'SKL', '-o', 'x.json', '--attach', str(p.pid), *how],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while stop and 'TracerPid:\t0' in open('/proc/%d/status' % p.pid).read() and p.poll() is None:
        time.sleep(0.01)
    if stop:
        time.sleep(1)
        t.send_signal(stop)
    said = t.communicate()[1].splitlines()
    running = p.poll() is None
    good = p.communicate()[0] == alone
    print(name, t.returncode, 'runs on' if running else 'has ended', 'the same' if good else 'differs', *said)
    if stop != signal.SIGKILL:
        print(name, 'IPC %.1f' % ipc('chain'))


def main():
    tact, *what = sys.argv[1:]
    if what != ['attach']:
        for name in what:
            program(tact, name, None if name in ('flags', 'copies') else 'chain')
        return
    alone = run('./p', 'chain', LONG).stdout
    attach(tact, alone, 'time', '--time', '1')
    attach(tact, alone, 'interrupt', stop=signal.SIGINT)
    attach(tact, alone, 'kill', stop=signal.SIGKILL)
    nobody = run(tact, 'trace', '-a', 'SKL', '--attach', '999999999')
    print(nobody.returncode, nobody.stderr.strip())


if __name__ == '__main__':
    main()
