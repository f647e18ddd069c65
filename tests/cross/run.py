#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tact for another machine, under an emulator of it: prints what it prints here, and its harness works.

usage: run.py [--tact TACT] [--build DIR] [--machine aarch64]

TACT: the program for this machine.  DIR: what `make sysroot build HOST=MACHINE` made, build-MACHINE; if it is not
there, the tests are skipped.  The last line of the output is "N passed, M failed, K skipped".
"""
import argparse
import csv
import io
import json
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# What both programs are asked.  The CPU is always named: it is another one there.
ASKED = [
    'predict -a SKL -x 480fafc34801d8',
    'predict -a all -f csv -x 480fafc34801d8 -x 90 -x 06',
    'predict -a ICL -f json -x f20f58c1f20f59c1',
    'predict -a ZEN4 --tp-only examples/demo.s',
    'predict -a neoverse-n1 -x 0000018b200040f9',
    'predict -a sifive-u74 -x 33055500',
    'predict -a llvm:znver4 -x 4801d8',
    'predict -a SKL --model mca -x 480fafc3',
    'simulate -a SKL -x 480fafc34801d8',
    'simulate -a cortex-a55 -x 0000018b',
    'simulate -a RKL -f json -x 488b004801d8',
    'insn -a SKL imul',
    'insn -a SKL -x 0fafc3',
    'archs',
    'archs GLC',
    'classify -a SKL -x 4801d8 -x f20f58c1',
    'diff -a SKL examples/demo.s examples/demo.s',
    'predict -a nowhere -x 90',
    'predict -a SKL -x 4',
    'doctor --help',
]

# Blocks for `tact measure`, and how they end.  An emulator may take no time for some: no number is allowed, too.
MEASURED = {
    '0000018b': 'ok',                  # add x0, x0, x1
    '200040f9': 'ok',                  # ldr x0, [x1]
    '0008c09a': 'ok',                  # udiv x0, x0, x0
    '0018611e': 'ok',                  # fdiv d0, d0, d1
    '010000d4': 'refused',             # svc #0
    '7f2003d5': 'refused',             # wfi
    '00000014': 'refused',             # b . as straight code
    '40e03bd5': 'refused',             # mrs x0, cntvct_el0
    '200080d2000040f9': 'unmappable',  # mov x0, #1; ldr x0, [x0]
    '00000010010000f9': 'own_code',    # adr x0, .; str x1, [x0]
    'ffffffff': 'decode_error',
    '0000018b00': 'decode_error',
}


class Tests:
    def __init__(self, args):
        self.args, self.passed, self.failed = args, 0, 0

    def here(self, command):
        return subprocess.run([self.args.tact] + command, capture_output=True, text=True, cwd=ROOT, timeout=120,
                              stdin=subprocess.DEVNULL)

    def there(self, command, program='tact'):
        emulator = ['qemu-' + self.args.machine, '-L', os.path.join(self.args.build, 'sysroot')]
        return subprocess.run(emulator + [os.path.join(self.args.build, program)] + command, capture_output=True,
                              text=True, cwd=ROOT, timeout=240, stdin=subprocess.DEVNULL)

    def check(self, name, good, details=''):
        if good:
            self.passed += 1
        else:
            self.failed += 1
            print('FAIL %s\n%s' % (name, details))

    def compare(self):
        for line in ASKED:
            here, there = self.here(line.split()), self.there(line.split())
            same = (here.returncode, here.stdout, here.stderr) == (there.returncode, there.stdout, there.stderr)
            self.check('the same answer: ' + line, same,
                       '%d, not %d\n%s%s' % (there.returncode, here.returncode, there.stdout[-2000:], there.stderr))

    def doctor(self):
        done = self.there(['doctor'])
        self.check('doctor names the emulator', 'executes this program: its numbers mean nothing' in
                   ' '.join(done.stdout.split()) and 'runs under an emulator' in done.stdout, done.stdout)
        self.check('doctor measures', done.returncode == 0 and 'Measuring works' in done.stdout, done.stdout)
        done = self.there(['doctor', '--format', 'json'])
        report = json.loads(done.stdout)
        self.check('doctor as JSON', report['emulator'] and report['cpu']['is_virtual'] and
                   any(c['name'] == 'seccomp' and c['state'] == 'missing' for c in report['checks']), done.stdout)
        done = self.there(['doctor', '--self-test', '--quiet'])
        self.check('the self-test says so', done.returncode == 1 and 'emulator' in done.stdout, done.stdout)

    def core(self):
        """A core that LLVM knows is found by its ID register."""
        os.environ['QEMU_CPU'] = 'neoverse-n1'
        done = self.there(['predict', '-q', '-x', '0000018b'])
        self.check('the native CPU', 'neoverse-n1' in done.stdout, done.stdout + done.stderr)
        done = self.there(['doctor'])
        self.check('doctor names the core', done.stdout.startswith('CPU: Arm Neoverse N1') and
                   'Model: neoverse-n1' in done.stdout, done.stdout)
        del os.environ['QEMU_CPU']

    def measure(self):
        words = [w for code in MEASURED for w in ('-x', code)]
        done = self.there(['measure', '-q', '-f', 'csv', '-m', 'unroll', '--timeout', '20000'] + words)
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.check('measure warns', 'warning' in done.stderr and 'mean nothing' in done.stderr and
                   'sandbox' in done.stderr, done.stderr)
        self.check('a row each', [r['hex'] for r in rows] == list(MEASURED), done.stdout + done.stderr)
        for row in rows:
            wanted = MEASURED.get(row['hex'])
            good = row['status'] == wanted or (wanted == 'ok' and row['status'] == 'unstable')
            self.check('measure %s' % row['hex'], good, str(row))
            if row['status'] == 'ok':
                self.check('its number', float(row['cycles_per_iteration']) > 0, str(row))
        self.check('some have numbers', any(r['status'] == 'ok' for r in rows), done.stdout)
        self.check('some failed', done.returncode == 1, str(done.returncode))
        done = self.there(['measure', '-q', '-f', 'csv', '--timeout', '1', '-x', '0008c09a'])
        self.check('time-outs', ',timeout,' in done.stdout, done.stdout)
        done = self.there(['calibrate'])
        self.check('no sweeps', done.returncode == 3 and 'no sweeps for AArch64' in done.stderr, done.stderr)

    def harness(self):
        done = self.there([], 'tests/cross/test_harness_a64')
        self.check('test_harness_a64', done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:])


def missing(args):
    """Returns why the tests cannot run, or None."""
    if not shutil.which('qemu-' + args.machine):
        return 'qemu-%s is not there' % args.machine
    if not os.path.exists(os.path.join(args.build, 'sysroot', 'complete')):
        return "there is no sysroot: 'make check-cross' makes it"
    for name in ('tact', 'tact_llvm.so', 'tests/cross/test_harness_a64'):
        if not os.path.exists(os.path.join(args.build, name)):
            return "%s is not built for %s: 'make check-cross' does it" % (name, args.machine)
    return None


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--tact', default=os.path.join(ROOT, 'build', 'tact'))
    parser.add_argument('--machine', default='aarch64')
    parser.add_argument('--build')
    args = parser.parse_args()
    args.build = os.path.abspath(args.build or os.path.join(ROOT, 'build-' + args.machine))
    reason = missing(args)
    if reason:
        print('skip: ' + reason)
        print('0 passed, 0 failed, 1 skipped')
        return 0
    tests = Tests(args)
    tests.compare()
    tests.core()
    tests.doctor()
    tests.measure()
    tests.harness()
    print('%d passed, %d failed, 0 skipped' % (tests.passed, tests.failed))
    return 1 if tests.failed else 0


if __name__ == '__main__':
    sys.exit(main())
