#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tact trace with programs that do not end well, or that do not end.

usage: trace_kill.py TACT          ./p is collect_programs.c
"""
import json
import resource
import signal
import subprocess
import sys

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


if __name__ == '__main__':
    main()
