#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the cases of this directory: one file per case, with input, options and expected results.

usage: run.py [--tact PROGRAM] [--rebase] [CASE...]

A case:
    # what it shows
    arch: SKL,HSW                   as for --arch
    mode: unroll                    loop, unroll or auto
    options: --init diff            more options of tact predict, if any
    within: HSW 19.46 23.78         cycles that hold whatever is rebased, if any (CPU, low, high)
    simulated: HSW 19.46 23.78      the same for tact simulate
    hex: 31c0                       or "asm:", and the code on lines that begin with a tab
    expect:
    SKL unroll 0.25 Predecoder+Decoder+Issue | predec=0.25 dec=0.25 ...
One line per CPU is expected: mode, cycles, bottlenecks, and every bound that applies and is not 0.

Files *.rows hold measured blocks, one per line, each a case of its own:
    ZEN4 loop 0  4.00  2 2  4801c0  # why
They have CPU, mode, alignment, measured cycles, the tolerances of predict and simulate in per cent,
and the code.
A tolerance of - is for a model that is known to be wrong there.  Registers begin with one value.
--rebase writes the results of the program into the files; check the diff before you keep it.
The last line of the output is "N passed, M failed, K skipped".
"""
import argparse
import csv
import glob
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FIRST_BOUND = 'coverage'  # the columns of the bounds follow it, before bottlenecks


class Case:
    def __init__(self, path):
        self.path = path
        self.head = []  # lines up to and with "expect:"
        self.expected = []
        self.fields = {'arch': 'SKL', 'mode': 'auto', 'options': ''}
        self.within = []
        self.simulated = []
        self.asm = []
        with open(path) as f:
            lines = f.read().splitlines()
        if 'expect:' not in lines:
            raise ValueError('no line "expect:"')
        at = lines.index('expect:')
        self.head, self.expected = lines[:at + 1], lines[at + 1:]
        for line in lines[:at]:
            if line.startswith('\t'):
                self.asm.append(line)
            elif line and not line.startswith('#'):
                name, _, value = line.partition(':')
                if name in ('within', 'simulated'):
                    arch, low, high = value.split()
                    getattr(self, name).append((arch, float(low), float(high)))
                elif name in ('arch', 'mode', 'options', 'hex', 'asm'):
                    self.fields[name] = value.strip()
                else:
                    raise ValueError('unknown field "%s"' % name)
        if ('hex' in self.fields) == ('asm' in self.fields):
            raise ValueError('either hex or asm is needed')

    def rows(self, tact, command, arch):
        """What a command of the program answers for some CPUs."""
        command = [tact, command, '-q', '-f', 'csv', '-a', arch,
                   '-m', self.fields['mode'], *self.fields['options'].split()]
        text = ''
        if 'hex' in self.fields:
            command += ['-x', self.fields['hex'].replace(' ', '')]
        else:
            command += ['-']
            text = '\n'.join(self.asm) + '\n'
        p = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)
        if p.returncode:
            raise ValueError('exit status %d: %s' % (p.returncode, p.stderr.strip()))
        rows = list(csv.DictReader(p.stdout.splitlines()))
        if not rows:
            raise ValueError('no output')
        return rows

    def simulate(self, tact):
        """The cycles that tact simulate gives, by CPU."""
        if not self.simulated:
            return {}
        rows = self.rows(tact, 'simulate', ','.join(dict.fromkeys(s[0] for s in self.simulated)))
        return {r['arch']: float(r['cycles_per_iteration']) for r in rows}

    def run(self, tact):
        """The lines that the program's answer gives, and the cycles by CPU."""
        rows = self.rows(tact, 'predict', self.fields['arch'])
        names = list(rows[0])
        bounds = names[names.index(FIRST_BOUND) + 1:names.index('bottlenecks')]
        lines = []
        for r in rows:
            parts = ['%s=%s' % (b, r[b]) for b in bounds if r[b] and float(r[b])]
            line = '%s %s %s %s | %s' % (r['arch'], r['mode'], r['cycles_per_iteration'],
                                         r['bottlenecks'].replace(', ', '+').replace(';', '+').replace(' ', '+'),
                                         ' '.join(parts))
            if float(r['coverage']) < 1:
                line += ' coverage=' + r['coverage']
            lines.append(line)
        return lines, {r['arch']: float(r['cycles_per_iteration']) for r in rows}


def read_rows(path):
    """The rows of a file as dictionaries."""
    names = ('arch', 'mode', 'alignment', 'cycles', 'predict', 'simulate', 'hex')
    with open(path) as f:
        for line in f:
            fields = line.partition('#')[0].split()
            if fields:
                yield dict(zip(names, fields, strict=True), why=line.partition('#')[2].strip())


def check_rows(path, tact):
    """Messages, and the number of rows that are right."""
    rows, messages = list(read_rows(path)), []
    wrong = set()
    groups = {}
    for r in rows:
        groups.setdefault((r['arch'], r['mode'], r['alignment']), []).append(r)
    for (arch, mode, alignment), group in groups.items():
        for command in ('predict', 'simulate'):
            p = subprocess.run([tact, command, '-q', '-f', 'csv', '-a', arch, '-m', mode, '--alignment', alignment,
                                '--init', 'same', '-'], input='\n'.join(r['hex'] for r in group) + '\n',
                               capture_output=True, text=True, timeout=60)
            answers = {r['hex']: r['cycles_per_iteration'] for r in csv.DictReader(p.stdout.splitlines())}
            for r in group:
                cycles = float(answers.get(r['hex']) or 'nan')
                if r[command] != '-' and not abs(cycles / float(r['cycles']) - 1) * 100 <= float(r[command]):
                    wrong.add(id(r))
                    messages.append('%s %s: %s says %g, measured %s: %s' % (arch, r['hex'], command, cycles, r['cycles'], r['why']))
    return messages, len(rows) - len(wrong)


def check(case, tact, rebase):
    """Messages; none if all is well."""
    lines, cycles = case.run(tact)
    if rebase and lines != case.expected:
        case.expected = lines
        with open(case.path, 'w') as f:
            f.write('\n'.join(case.head + lines) + '\n')
    messages = ['%s: %s cycles are not within %g and %g' % (arch, found.get(arch), low, high)
                for expected, found in ((case.within, cycles),
                                        (case.simulated, case.simulate(tact)))
                for arch, low, high in expected
                if arch not in found or not low <= found[arch] <= high]
    if lines != case.expected:
        messages += ['- ' + line for line in case.expected if line not in lines]
        messages += ['+ ' + line for line in lines if line not in case.expected]
        messages = messages or ['the order of the lines differs']
    return messages


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--tact', default='build/tact')
    parser.add_argument('--rebase', action='store_true')
    parser.add_argument('cases', nargs='*')
    args = parser.parse_args()
    passed = failed = 0
    for path in args.cases or sorted(glob.glob(os.path.join(HERE, '*.case'))):
        try:
            messages = check(Case(path), args.tact, args.rebase)
        except (ValueError, KeyError, OSError, subprocess.TimeoutExpired) as e:
            messages = ['%s: %s' % (type(e).__name__, e)]
        if messages:
            failed += 1
            print('FAIL %s' % os.path.basename(path))
            for m in messages:
                print('    ' + m)
        else:
            passed += 1
    for path in [] if args.cases else sorted(glob.glob(os.path.join(HERE, '*.rows'))):
        messages, right = check_rows(path, args.tact)
        passed += right
        failed += bool(messages)
        for m in messages:
            print('FAIL %s: %s' % (os.path.basename(path), m))
    print('%d passed, %d failed, 0 skipped' % (passed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
