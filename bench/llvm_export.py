#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs llvm-mca with a scheduling model that tact tune --export llvm has written, without a build of LLVM.

usage: llvm_export.py --source DIR [--llvm VERSION] [--work DIR] [--tact PROGRAM] [--sample N] [--show N] -a CPU PARAMS BLOCKS

PARAMS is the file of parameters; PARAMS.td is the model.  DIR is llvm/ of LLVM's sources, of the version that
llvm-tblgen-VERSION, llvm-mca-VERSION and llvm-mc-VERSION have, and that tact's module was built with (default: 19).
llvm-tblgen compiles the x86 target with the model; the tables are loaded into llvm-mca in the place of its own
(bench/llvm_tables.cpp).  BLOCKS is a CSV file with the columns hex and cycles, as BHive's measurements; cycles may
be missing.  It prints how many predictions of llvm-mca and of tact agree, the error of both, and which blocks differ.
"""
import argparse
import csv
import glob
import json
import os
import re
import shutil
import subprocess
import sys

import llvm_fidelity

BENCH = os.path.dirname(os.path.abspath(__file__))
TRIPLE = 'x86_64-unknown-linux-gnu'
FEATURES = ','.join('+' + f for f in (
    'cx16,sahf,popcnt,sse4.2,avx2,bmi,bmi2,f16c,fma,lzcnt,movbe,xsave,xsaveopt,xsavec,xsaves,aes,pclmul,adx,rdrnd,rdseed,'
    'fsgsbase,prfchw,clflushopt,mmx,fxsr,x87,cx8,cmov,invpcid,sgx').split(','))


def run(command, **more):
    p = subprocess.run(command, capture_output=True, text=True, **more)
    if p.returncode:
        sys.exit('%s:\n%s' % (' '.join(command[:3]), p.stderr[:2000]))
    return p.stdout


def with_lists(text, records):
    """The model with what !instances finds written out: llvm-tblgen before 21 does not have it."""
    found = {'SchedWrite': [], 'SchedRead': []}
    for line in records.splitlines():
        m = re.match(r'def (\w+) \{.*// (.*)', line)
        if m and not m.group(1).startswith('anonymous'):
            for kind, names in found.items():
                if kind in m.group(2).split():
                    names.append(m.group(1))
    for kind, names in found.items():
        text = text.replace('!instances<%s>()' % kind, '[%s]' % ', '.join(names))
    return text


def compile_model(args):
    """Tables of the target with the model, and from these the library that llvm-mca is to load."""
    target = os.path.join(args.source, 'lib/Target/X86')
    td = os.path.join(args.work, 'td')
    os.makedirs(td, exist_ok=True)
    for path in glob.glob(target + '/*.td'):
        shutil.copy(path, td)
    tblgen = ['llvm-tblgen-' + args.llvm, '-I', os.path.join(args.source, 'include'), '-I', td, td + '/X86.td']
    with open(args.params + '.td') as f:
        text = f.read()
    if int(args.llvm) < 21:
        text = with_lists(text, run(tblgen + ['--print-records']))
    with open(td + '/X86SchedTact.td', 'w') as f:
        f.write(text)
    with open(td + '/X86.td', 'a') as f:
        f.write('include "X86SchedTact.td"\n')
    for option, name in (('-gen-subtarget', 'X86GenSubtargetInfo'), ('-gen-instr-info', 'X86GenInstrInfo'),
                         ('-gen-register-info', 'X86GenRegisterInfo'),
                         ('-gen-x86-mnemonic-tables', 'X86GenMnemonicTables')):
        run(tblgen + [option, '-o', '%s/%s.inc' % (args.work, name)] + (['-asmwriternum=1'] if 'mnemonic' in option else []))
    config = 'llvm-config-' + args.llvm
    library = os.path.join(args.work, 'tables.so')
    run(['c++', '-std=c++17', '-O0', '-w', '-fno-rtti', '-fPIC', '-shared', '-o', library,
         os.path.join(BENCH, 'llvm_tables.cpp'), '-I', args.work, '-I', target, '-I', run([config, '--includedir']).strip(),
         '-L', run([config, '--libdir']).strip(), '-l:libLLVM.so.%s.1' % args.llvm, '-ldl'])
    return library, re.search(r'ProcessorModel<"([^"]*)"', text).group(1)


def of_llvm(blocks, args, library, cpu):
    of = (TRIPLE, '', '#', 1)
    text = llvm_fidelity.texts_of(blocks, of, args.llvm)
    cycles, refused = {}, set()
    for start in range(0, len(blocks), 200):
        part = [b for b in blocks[start:start + 200] if b in text]
        lines = []
        for i, b in enumerate(part):
            lines += ['# LLVM-MCA-BEGIN b%d' % i, *text[b], '# LLVM-MCA-END b%d' % i]
        p = subprocess.run(['llvm-mca-' + args.llvm, '-mtriple', TRIPLE, '-mcpu', cpu, '-mattr', FEATURES, '-json',
                            '-instruction-info=0', '-resource-pressure=0', '-skip-unsupported-instructions=lack-sched'],
                           input='\n'.join(lines) + '\n', capture_output=True, text=True,
                           env=dict(os.environ, LD_PRELOAD=library))
        if not p.stdout:
            sys.exit('llvm-mca: ' + p.stderr[:600])
        # Instructions without data are left out: their blocks do not count.
        unknown = set()
        for n in re.findall(r'<stdin>:(\d+):', p.stderr):
            begins = [l for l in lines[:int(n)] if 'BEGIN' in l]
            unknown.add(int(begins[-1].rsplit('b', 1)[1]))
        for region in json.loads(p.stdout)['CodeRegions']:
            i = int(region['Name'][1:])
            s = region['SummaryView']
            if i not in unknown and s['Instructions'] == s['Iterations'] * len(text[part[i]]):
                cycles[part[i]] = s['TotalCycles'] / s['Iterations']
            else:
                refused.add(part[i])
    return cycles, refused


def of_tact(blocks, args):
    listed = os.path.join(args.work, 'blocks.csv')
    with open(listed, 'w') as f:
        f.write('\n'.join(blocks) + '\n')
    out = run([args.tact, 'predict', '-q', '-a', args.arch, '-m', 'unroll', '--model', 'mca', '--mca-params', args.params,
               '-f', 'csv', listed])
    return {r['hex']: float(r['cycles_per_iteration']) for r in csv.DictReader(out.splitlines()) if r['cycles_per_iteration']}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--tact', default='build/tact')
    parser.add_argument('--source', required=True)
    parser.add_argument('--llvm', default='19')
    parser.add_argument('--work', default='build/llvm_export')
    parser.add_argument('--sample', type=int, default=0)
    parser.add_argument('--show', type=int, default=0)
    parser.add_argument('--library', help='of an earlier run, with the name of the CPU after a colon')
    parser.add_argument('-a', '--arch', required=True)
    parser.add_argument('params')
    parser.add_argument('blocks')
    args = parser.parse_args()
    args.work = os.path.abspath(args.work)
    os.makedirs(args.work, exist_ok=True)
    library, cpu = args.library.split(':') if args.library else compile_model(args)
    with open(args.blocks) as f:
        measured = {r['hex']: float(r['cycles'] or 0) for r in csv.DictReader(f)}
    # llvm-mca sees what its assembler makes of the text: blocks with other bytes are left out.
    same = set(llvm_fidelity.encode(list(measured), (TRIPLE, '', '#', 1), args.llvm))
    blocks = [b for b in measured if b in same]
    blocks = blocks[:args.sample] if args.sample else blocks
    theirs, refused = of_llvm(blocks, args, library, cpu)
    ours = of_tact(blocks, args)
    both = [b for b in blocks if b in theirs and b in ours]
    ratio = {b: theirs[b] / ours[b] for b in both}
    for limit in (0.001, 0.01, 0.02, 0.05):
        print('within %g%%: %.1f%%' % (100 * limit, 100 * sum(abs(r - 1) <= limit for r in ratio.values()) / len(both)))
    print('%d blocks, %d without data for an instruction; llvm-mca larger: %d, smaller: %d' % (
        len(both), len(refused), sum(r > 1.01 for r in ratio.values()), sum(r < 0.99 for r in ratio.values())))
    for name, cycles in (('tact', ours), ('llvm-mca', theirs)):
        errors = [abs(cycles[b] - measured[b]) / measured[b] for b in both if measured[b]]
        if errors:
            print('mean error of %s: %.2f%%' % (name, 100 * sum(errors) / len(errors)))
    for b in [b for b in both if abs(ratio[b] - 1) > 0.01][:args.show]:
        print('%s llvm-mca %.2f tact %.2f' % (b, theirs[b], ours[b]))
    return 0


if __name__ == '__main__':
    sys.exit(main())
