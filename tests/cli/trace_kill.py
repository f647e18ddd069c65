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


def calls():
    rows = [json.loads(line) for line in open('x.json')]
    return sum(r['executions'] for r in rows if r['kind'] == 'function' and r['function'] == 'leaf'), \
        rows[0]['partial']


def processes():
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


def run(tact, what):
    p = subprocess.run([tact, 'trace', '-a', 'SKL', '-o', 'x.json', '--', './p', what], capture_output=True,
                       text=True)
    print(what, p.returncode, *calls())
    for line in p.stderr.splitlines():
        if line.startswith('tact: '):
            print(line)


def end(tact, number, stop=False):
    p = subprocess.Popen([tact, 'trace', '-a', 'SKL', '-o', 'x.json', '--', './p', 'endless'],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        for _ in range(2):  # the program and its child
            p.stdout.readline()
        assert len(processes()) >= 3, 'tact, the program and its child'
        if stop:  # a reader that does not read: the program waits, and nothing is lost
            p.send_signal(signal.SIGSTOP)
            time.sleep(0.5)
            p.send_signal(signal.SIGCONT)
        p.send_signal(number)
        err = p.communicate(timeout=30)[1]
    finally:  # whatever went wrong: an endless program does not outlive the test
        p.kill()
    deadline = time.monotonic() + 10
    while processes() and time.monotonic() < deadline:
        time.sleep(0.02)
    left = 'nobody left' if not processes() else 'left: %s' % processes()
    print(number.name, p.returncode, left, *(calls() if number != signal.SIGKILL else ()))
    for line in err.splitlines():
        if 'interrupted' in line:
            print(line)


def main():
    tact = sys.argv[1]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    run(tact, 'kill')
    run(tact, 'crash')
    run(tact, 'fails')
    end(tact, signal.SIGTERM)
    end(tact, signal.SIGINT, True)
    end(tact, signal.SIGKILL)


if __name__ == '__main__':
    main()
