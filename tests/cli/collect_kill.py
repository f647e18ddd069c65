#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tact collect with programs that do not end well, or that do not end.

usage: collect_kill.py TACT          ./p is collect_programs.c
"""
import csv
import os
import resource
import signal
import subprocess
import sys
import time


def executions():
    return sum(int(r['weight']) for r in csv.DictReader(open('x.csv')) if r['function'] == 'leaf')


def processes():
    """Those that run ./p, whoever their parents are."""
    found = set()
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            words = open('/proc/%s/cmdline' % pid, 'rb').read().split(b'\0')
            state = open('/proc/%s/stat' % pid).read().rsplit(')', 1)[1].split()[0]
            here = os.readlink('/proc/%s/cwd' % pid) == os.getcwd()
        except OSError:
            continue
        if here and state != 'Z' and b'endless' in words:
            found.add(int(pid))
    return found


def remarks(err):
    for line in err.splitlines():
        if line.startswith('tact: ') and 'blocks' not in line.split(',')[0]:
            print(line)


def run(tact, name, what):
    p = subprocess.run([tact, 'collect', '-o', 'x.csv', '--', './p', what], capture_output=True, text=True)
    print(name, p.returncode, executions())
    remarks(p.stderr)


def end(tact, number):
    p = subprocess.Popen([tact, 'collect', '-o', 'x.csv', '--', './p', 'endless'], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    for _ in range(2):  # the program and its child
        p.stdout.readline()
    assert len(processes()) >= 3, 'tact, the program and its child'
    p.send_signal(number)
    err = p.communicate(timeout=30)[1]
    deadline = time.monotonic() + 10
    while processes() and time.monotonic() < deadline:
        time.sleep(0.02)
    left = 'nobody left' if not processes() else 'left: %s' % processes()
    if number == signal.SIGKILL:
        print('SIGKILL: exit %d, %s' % (p.returncode, left))
    else:
        print('SIGTERM: exit %d, %d executions, %s' % (p.returncode, executions(), left))
        for line in err.splitlines():
            if 'interrupted' in line:
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
