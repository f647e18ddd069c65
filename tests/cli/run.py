#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the command-line cases in the directory of this file.

usage: run.py [--tact PATH] [--rebase] [--jobs N] [CASE...]

A case is one file NAME.case:

    # what it is about
    run: "$TACT" predict -x 90      a line of a shell script; several make a longer one
    exit: 0                         expected exit code (default 0)
    needs: as gcc user measure      skipped if one of these is missing (user: not root; measure: a
                                    machine that can measure; ptrace: one that allows it; llvm: tact_llvm.so;
                                    llvm-22: with that version, whose models' numbers the case has)
    waits: for what                 it does nothing most of the time: it runs beside the others
    --- file NAME                   a file that the script finds in its directory
    ...
    --- stdout                      expected output, line by line
    ...
    --- stderr
    ...

In expected output a line "..." stands for any number of lines, and a line that begins with "~ "
is a regular expression for a whole line.  A missing section is not compared, except that stderr must then be
empty.  --rebase writes the output into sections without such lines.
The script runs in an empty directory; $TACT is the program, $TOP the project's directory.
Each case has a core, and those that measure have all of them.
"""
import argparse
import concurrent.futures
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
import machine  # noqa: E402

TIMEOUT = 60
TRIES = 4
PATIENCE = 20  # seconds for the tries of a case that neighbours disturb, two at least
WAITING = 8  # cases that wait, at a time


class Case:
    def __init__(self, path):
        self.path = path
        self.name = os.path.splitext(os.path.basename(path))[0]
        self.script, self.exit, self.needs, self.waits = [], 0, [], False
        self.files, self.expected, self.order = {}, {}, []
        self.head = []
        section = None
        for line in open(path, encoding='utf-8').read().splitlines():
            if line.startswith('--- '):
                section = line[4:].strip()
                self.order.append(section)
                self.section(section)
            elif section is None:
                self.head.append(line)
                self.header(line)
            else:
                self.section(section).append(line)

    def header(self, line):
        key, _, value = line.partition(':')
        if key == 'run':
            self.script.append(value.strip())
        elif key == 'exit':
            self.exit = int(value)
        elif key == 'needs':
            self.needs += value.split()
        elif key == 'waits':
            self.waits = True
        elif line.strip() and not line.startswith('#'):
            sys.exit('%s: cannot read: %s' % (self.path, line))

    def section(self, name):
        if name.startswith('file '):
            return self.files.setdefault(name[5:].strip(), [])
        if name not in ('stdout', 'stderr'):
            sys.exit('%s: unknown section: %s' % (self.path, name))
        return self.expected.setdefault(name, [])

    def missing(self, tact):
        for need in self.needs:
            if need == 'measure':
                why = machine.why_not_measure(tact)
                if why:
                    return why
            elif need == 'ptrace':
                why = machine.why_not_ptrace(tact)
                if why:
                    return why
            elif need in ('llvm', 'llvm-22'):
                version = machine.llvm_version(tact)
                if not version:
                    return 'tact_llvm.so was not built: there is no llvm-22-dev or llvm-19-dev'
                if need == 'llvm-22' and version != 22:
                    return 'the numbers are those of LLVM 22, here is %d' % version
            elif need == 'plain':
                if machine.is_instrumented(tact):
                    return 'sanitizers need more address space than the test leaves'
            elif need == 'user':
                if os.geteuid() == 0:
                    return 'root may read everything'
            elif not shutil.which(need):
                return 'there is no %s' % need
        return None

    def write(self):
        with open(self.path, 'w', encoding='utf-8') as out:
            out.writelines(line + '\n' for line in self.head)
            for name in self.order:
                out.write('--- %s\n' % name)
                out.writelines(line + '\n' for line in self.section(name))


def is_pattern(line):
    return line == '...' or line.startswith('~ ')


def line_matches(expected, line):
    if expected.startswith('~ '):
        return re.fullmatch(expected[2:], line) is not None
    return expected == line


def matches(expected, lines):
    """Whether lines are as expected; "..." is tried with the shortest stretch first."""
    places = {0}
    for want in expected:
        if want == '...':
            places = set(range(min(places), len(lines) + 1)) if places else set()
        else:
            places = {p + 1 for p in places if p < len(lines) and line_matches(want, lines[p])}
    return len(lines) in places


def run_script(case, tact):
    with tempfile.TemporaryDirectory(prefix='tact-cli-') as directory:
        for name, lines in case.files.items():
            with open(os.path.join(directory, name), 'w', encoding='utf-8') as out:
                out.writelines(line + '\n' for line in lines)
        env = dict(os.environ, TACT=tact, TOP=TOP, LC_ALL='C')
        env.pop('NO_COLOR', None)
        env.pop('COLUMNS', None)
        p = subprocess.run(['sh', '-c', '\n'.join(case.script)], cwd=directory, env=env,
                           stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT)
    text = lambda raw: raw.decode('utf-8', 'replace').splitlines()
    return p.returncode, {'stdout': text(p.stdout), 'stderr': text(p.stderr)}


class Checker:
    def __init__(self, args, tact):
        self.tact, self.rebase = tact, args.rebase
        self.cores = machine.Cores(args.jobs)
        self.neighbours = machine.Neighbours(tact, '--noisy')

    def check(self, case):
        """Returns (result, lines that explain it)."""
        why = case.missing(self.tact)
        if why:
            return 'skip', [why]
        if 'measure' in case.needs:
            return self.check_measuring(case)
        with contextlib.nullcontext() if case.waits else self.cores.one():
            return check_once(case, self.tact, self.rebase)

    def check_measuring(self, case):
        """A measurement that the neighbours spoil is tried again."""
        begin, busy = time.monotonic(), False
        for n in range(TRIES):
            result = machine.run_measuring(lambda: check_once(case, self.tact, self.rebase), self.cores,
                                           self.neighbours)
            if result[0] == 'ok':
                return result
            busy = busy or self.neighbours.are_here()
            if n and busy and time.monotonic() - begin > PATIENCE:
                break
        return ('skip', ['others keep the core busy']) if busy else result


def check_once(case, tact, rebase):
    try:
        code, got = run_script(case, tact)
    except subprocess.TimeoutExpired:
        return 'not ok', ['still running after %d s' % TIMEOUT]
    faults, changed = [], False
    if code != case.exit:
        faults.append('exit code %d, expected %d' % (code, case.exit))
    for stream in ('stdout', 'stderr'):
        expected = case.expected.get(stream)
        if expected is None:
            expected = [] if stream == 'stderr' else ['...']
        if matches(expected, got[stream]):
            continue
        if rebase and stream in case.expected and not any(map(is_pattern, expected)):
            case.expected[stream][:] = got[stream]
            changed = True
            continue
        faults += ['%s is:' % stream] + ['  ' + line for line in got[stream][:40]]
        faults += ['expected:'] + ['  ' + line for line in expected[:40]]
    if changed:
        case.write()
    return ('not ok' if faults else 'ok'), faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--tact', default=os.path.join(TOP, 'build', 'tact'))
    parser.add_argument('--rebase', action='store_true')
    parser.add_argument('--jobs', type=int, default=os.cpu_count() or 1)
    parser.add_argument('cases', nargs='*')
    args = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # cases must not inherit that it is ignored
    tact = os.path.abspath(args.tact)
    if not os.access(tact, os.X_OK):
        sys.exit('run.py: there is no program %s' % tact)
    paths = sorted(os.path.join(HERE, n) for n in os.listdir(HERE) if n.endswith('.case'))
    cases = [c for c in map(Case, paths) if not args.cases or c.name in args.cases]
    count = {'ok': 0, 'not ok': 0, 'skip': 0}
    checker = Checker(args, tact)
    with concurrent.futures.ThreadPoolExecutor(args.jobs + WAITING) as pool:
        # first those that wait, and those that measure before the others are there
        first = sorted(cases, key=lambda c: (not c.waits, 'measure' not in c.needs))
        checks = {case: pool.submit(checker.check, case) for case in first}
        for case in cases:
            result, why = checks[case].result()
            count[result] += 1
            print('%s %s%s' % (result, case.name, ': ' + why[0] if result == 'skip' else ''))
            if result == 'not ok':
                print(''.join('    %s\n' % line for line in why), end='')
    print('%d passed, %d failed, %d skipped' % (count['ok'], count['not ok'], count['skip']))
    return 1 if count['not ok'] else 0


if __name__ == '__main__':
    sys.exit(main())
