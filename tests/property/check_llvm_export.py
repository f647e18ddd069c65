#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that LLVM takes the scheduling models that tact tune --export llvm writes, value by value.

usage: check_llvm_export.py [--tact PROGRAM] [--tblgen PROGRAM]

LLVM's x86 target is not installed with LLVM, so the model is compiled with a target of its own that has the same names
of instructions: the program (default: llvm-tblgen-22) then writes the tables that llvm-mca reads.  Micro-ops, latencies,
cycles of each port, width and buffer must be there as they are in the file of parameters.  bench/llvm_export.py
goes further where LLVM's sources are.
The last line of the output is "N passed, M failed, K skipped".
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

# Instructions by LLVM's name: hex, cycles that are measured, tact's form.
ROWS = (('IMUL64rr', '480fafc3', 5, 'IMUL (R64, R64)'), ('MULPDrr', '660f59c1', 7, 'MULPD (XMM, XMM)'),
        ('ADD64rm', '480303', 9, 'ADD (R64, M64)'), ('PUSH64r', '50', 2, 'PUSH (R64)'))

TARGET = '''
include "llvm/Target/Target.td"
def Anything : InstrInfo;
def Test : Target { let InstructionSet = Anything; }
def R0 : Register<"r0">;
def R : RegisterClass<"Test", [i64], 64, (add R0)>;
class Some : Instruction {
  let Namespace = "Test"; let OutOperandList = (outs); let InOperandList = (ins); let Size = 4;
  field bits<32> Inst = 0; let hasSideEffects = 0;
}
def WriteAnything : SchedWrite;
class Listed : Some, Sched<[WriteAnything]>;
'''


def rows():
    lines = ['hex,cycles']
    for n in range(40):
        for _, code, cycles, _ in ROWS:
            lines.append('%s4883c6%02x,%d' % (code, n + 1, cycles))
    return '\n'.join(lines) + '\n'


def tables(tblgen, text):
    names = sorted(set(re.findall(r'\b[A-Z][A-Z0-9a-z_]*', ','.join(re.findall(r'\(instrs ([^)]*)\)', text)))))
    with tempfile.TemporaryDirectory() as work:
        with open(work + '/t.td', 'w') as f:
            f.write(TARGET + ''.join('def %s : Listed;\n' % n for n in names) + text)
        where = subprocess.run([os.path.join(os.path.dirname(os.path.realpath(tblgen)), 'llvm-config'), '--includedir'],
                               capture_output=True, text=True).stdout.strip()
        p = subprocess.run([tblgen, '-I', where, '-gen-subtarget', work + '/t.td'], capture_output=True, text=True)
    return p.stdout if p.returncode == 0 else '', p.stderr


def read_params(path):
    values, forms = {}, {}
    with open(path) as f:
        for line in f:
            if '\t' in line and line[0] != '#':
                form, uops, latency, _, ports = line.rstrip('\n').split('\t')
                forms[form] = (int(uops), int(latency), [int(c) for c in ports.split(',')])
            elif ' = ' in line and line[0] != '#':
                values.update([line.strip().split(' = ')])
    return values, forms


def table(out, name):
    """The rows of numbers of one of the arrays."""
    body = re.search(r'\b%s\[\] = \{\n(.*?)\n\};' % name, out, re.S).group(1)
    return [[int(n) for n in re.findall(r'\d+', row)] for row in re.findall(r'^  \{([^}]*)\}', body, re.M)]


def entry(out, name):
    """What LLVM's tables say of an instruction: micro-ops, latency, cycles of each port."""
    line = re.search(r'\{DBGFIELD\(/\*%s\*/ \d+\)\s*([^}]*)\}' % name, out).group(1).split(',')
    uops, *_, first_use, n_uses, first_latency, n_latencies = [int(n) for n in line[:1] + line[4:8]]
    resources = re.findall(r'\{"Tact_SKL_P(\d)",\s*1, ', out)
    ports = [0] * 10
    for resource, cycles, _ in table(out, 'TestWriteProcResTable')[first_use:first_use + n_uses]:
        ports[int(resources[resource - 1])] = cycles
    latencies = table(out, 'TestWriteLatencyTable')[first_latency:first_latency + n_latencies]
    return uops, max(latency for latency, _ in latencies), ports


def check(tact, tblgen):
    with tempfile.TemporaryDirectory() as work:
        with open(work + '/rows.csv', 'w') as f:
            f.write(rows())
        params = work + '/skl.params'
        p = subprocess.run([tact, 'tune', '-q', '-a', 'SKL', '--memory', 'none', '--min-gain', '5', '--export', 'llvm',
                            '-o', params, work + '/rows.csv'], capture_output=True, text=True)
        if p.returncode:
            return p.stderr
        with open(params + '.td') as f:
            text = f.read()
        values, forms = read_params(params)
        out, why = tables(tblgen, text)
    if not out:
        return 'llvm-tblgen: ' + why[:600]
    model = out[out.index('Tact_SKL = {'):]
    if not re.match(r'Tact_SKL = \{\s*%s,[^\n]*\n\s*%s,' % (values['dispatch_width'], values['reorder_buffer']), model):
        return 'width and buffer are not %s and %s: %s' % (values['dispatch_width'], values['reorder_buffer'], model[:200])
    learned = 0
    for name, _, _, form in ROWS:
        line = re.search(r'def : InstRW<\[([^\]]*)\], \(instrs %s\)>' % name, text)
        if not line:
            return name + ' is not in the model'
        if form not in forms:
            continue
        learned += 1
        uops, latency, ports = forms[form]
        cost = 'Tact_SKL_U%d_L%d%s' % (uops, latency, ''.join('_P%dx%d' % (i, c) for i, c in enumerate(ports) if c))
        if cost not in line.group(1):
            return '%s: %s, not %s' % (name, line.group(1), cost)
        found = entry(out, name)
        if found != (uops, latency, ports):
            return '%s: LLVM has %s, the parameters %s' % (name, found, (uops, latency, ports))
    if learned < 2:
        return 'only %d of the forms have been learned' % learned
    push = re.search(r'def : InstRW<\[([^\]]*)\], \(instrs PUSH64r\)>', text).group(1)
    if not push.startswith('Tact_SKL_None, '):
        return 'the stack pointer of push is waited for: ' + push
    return ''


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--tact', default='build/tact')
    parser.add_argument('--tblgen', default='llvm-tblgen-22')
    args = parser.parse_args()
    tblgen = shutil.which(args.tblgen)
    module = os.path.join(os.path.dirname(os.path.realpath(args.tact)), 'tact_llvm.so')
    if not tblgen or not os.path.exists(module):
        print('skip: no %s' % ('tact_llvm.so' if tblgen else args.tblgen))
        print('0 passed, 0 failed, 1 skipped')
        return 0
    why = check(os.path.abspath(args.tact), tblgen)
    if why:
        print('FAIL ' + why)
    print('%d passed, %d failed, 0 skipped' % (not why, bool(why)))
    return 1 if why else 0


if __name__ == '__main__':
    sys.exit(main())
