#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tact trace with programs that do not end well, or that do not end.

usage: trace_kill.py TACT          ./p is collect_programs.c
"""
import json
import os
import resource
import signal
import subprocess
import sys
import time

import endless


def calls():
    rows = [json.loads(line) for line in open('x.json')]
    return sum(r['executions'] for r in rows if r['kind'] == 'function' and r['function'] == 'leaf'), \
        rows[0]['partial']


def run(tact, what):
    p = subprocess.run([tact, 'trace', '-a', 'SKL', '-o', 'x.json', '--', './p', what], capture_output=True,
                       text=True)
    print(what, p.returncode, *calls())
    for line in p.stderr.splitlines():
        if line.startswith('tact: '):
            print(line)


def end(tact, *signals):
    code, said, left = endless.end([tact, 'trace', '-a', 'SKL', '-o', 'x.json'], *signals)
    number = signals[-1]
    print(number.name, code, left, *(calls() if number != signal.SIGKILL else ()))
    for line in said:
        print(line)


def end_keeper(tact, *options):
    """Somebody kills the process between tact and the program."""
    p = subprocess.Popen([tact, 'trace', '-a', 'SKL', *options, '-o', 'x.json', '--', './p', 'endless'],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    keeper = None
    while keeper is None and p.poll() is None:
        time.sleep(0.5)
        for pid in open('/proc/%d/task/%d/children' % (p.pid, p.pid)).read().split():
            if open('/proc/%s/comm' % pid).read().strip() == 'tact-keeper':
                keeper = int(pid)
    os.kill(keeper, signal.SIGKILL)
    _, err = p.communicate(timeout=30)
    print('keeper', p.returncode, *[line for line in err.splitlines() if 'keeper' in line])


def main():
    tact = sys.argv[1]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    run(tact, 'kill')
    run(tact, 'crash')
    run(tact, 'fails')
    end(tact, signal.SIGTERM)
    # a reader that does not read for a while: the program waits, and nothing is lost
    end(tact, signal.SIGSTOP, signal.SIGCONT, signal.SIGINT)
    end(tact, signal.SIGKILL)
    end_keeper(tact)


if __name__ == '__main__':
    main()
