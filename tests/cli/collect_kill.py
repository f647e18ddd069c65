#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tact collect with programs that do not end well, or that do not end.

usage: collect_kill.py TACT          ./p is collect_programs.c
"""
import csv
import resource
import signal
import subprocess
import sys

import endless


def executions():
    return sum(int(r['weight']) for r in csv.DictReader(open('x.csv')) if r['function'] == 'leaf')


def remarks(err):
    for line in err.splitlines():
        if line.startswith('tact: ') and 'blocks' not in line.split(',')[0]:
            print(line)


def run(tact, name, what):
    p = subprocess.run([tact, 'collect', '-o', 'x.csv', '--', './p', what], capture_output=True, text=True)
    print(name, p.returncode, executions())
    remarks(p.stderr)


def end(tact, number):
    code, said, left = endless.end([tact, 'collect', '-o', 'x.csv'], number)
    if number == signal.SIGKILL:
        print('SIGKILL: exit %d, %s' % (code, left))
        return
    print('SIGTERM: exit %d, %d executions, %s' % (code, executions(), left))
    for line in said:
        print(line)


def main():
    tact = sys.argv[1]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    run(tact, 'kill', 'kill')
    run(tact, 'crash', 'crash')
    run(tact, 'fails', '')
    end(tact, signal.SIGTERM)
    end(tact, signal.SIGKILL)


if __name__ == '__main__':
    main()
