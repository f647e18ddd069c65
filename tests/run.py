#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs all tests and adds up their results.

usage: run.py [--build DIR] [--cc CC] [--slow] [SUITE...]

SUITE: layers unit hw cases cli fuzz threads example embed docs property accuracy (default: all).  The last line of the
output is "N passed, M failed, K skipped"; the exit status is 1 if something failed.
--slow: the build is instrumented, so fewer mutations are tried and nothing is timed.
"""
import argparse
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TIMEOUT = 300  # seconds for one program


class Total:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add(self, name, passed, failed, skipped, seconds, output=''):
        self.passed += passed
        self.failed += failed
        self.skipped += skipped
        counts = '%d passed' % passed
        if failed:
            counts += ', %d FAILED' % failed
        if skipped:
            counts += ', %d skipped' % skipped
        print('%-36s %s (%.1f s)' % (name, counts, seconds))
        if failed and output:
            lines = [line for line in output.rstrip().splitlines()
                     if not re.match(r'ok |\[ +(RUN|OK) ', line)]
            print('\n'.join('    ' + line for line in lines[-60:]))
        sys.stdout.flush()


def call(command, **more):
    """Exit status, output (stdout and stderr together), seconds; a time-out is status 124."""
    start = time.monotonic()
    try:
        p = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, timeout=TIMEOUT, **more)
        status, output = p.returncode, p.stdout
    except subprocess.TimeoutExpired as e:
        status, output = 124, (e.stdout or b'') + b'\ntimed out\n'
    except OSError as e:
        status, output = 127, str(e).encode()
    return status, output.decode(errors='replace'), time.monotonic() - start


def counted(total, name, command):
    """A runner whose last line is "N passed, M failed, K skipped"."""
    status, output, seconds = call(command)
    last = output.rstrip().splitlines()[-1:] or ['']
    m = re.fullmatch(r'(\d+) passed, (\d+) failed, (\d+) skipped', last[0])
    if not m:
        total.add(name, 0, 1, 0, seconds, output + '\n(no summary; status %d)' % status)
        return
    passed, failed, skipped = map(int, m.groups())
    if status and not failed:
        failed = 1
    for line in output.splitlines():
        if line.startswith('skip'):
            print('    ' + line)
    total.add(name, passed, failed, skipped, seconds, output)


def run_cmocka(total, args, suite):
    for source in sorted(glob.glob(os.path.join(ROOT, 'tests', suite, 'test_*.c'))):
        name = os.path.basename(source)[:-2]
        program = os.path.join(args.build, 'tests', suite, name)
        env = dict(os.environ, TACT_BUILD=args.build, TACT_SLOW='1' if args.slow else '0')
        status, output, seconds = call([program], env=env)
        passed = len(re.findall(r'^\[ +OK +\]', output, re.M))
        failed = len(set(re.findall(r'^\[ +(?:FAILED|ERROR) +\] (\w+)$', output, re.M)))
        skipped = len(re.findall(r'^\[ +SKIPPED +\] \w+$', output, re.M))
        if output.count('SKIPPED') > 1:  # cmocka repeats them in its summary
            skipped = len(set(re.findall(r'^\[ +SKIPPED +\] (\w+)$', output, re.M)))
        if (status and not failed) or not passed + failed + skipped:
            failed += 1
            output += '\n(status %d)' % status
        for line in output.splitlines():
            if line.startswith('skip:'):
                print('    ' + line)
        total.add('%s %s' % (suite, name), passed, failed, skipped, seconds, output)


def run_unit(total, args):
    run_cmocka(total, args, 'unit')


def run_hw(total, args):
    """On this very CPU: what cannot be tested here is skipped, with the reason."""
    run_cmocka(total, args, 'hw')


def run_cases(total, args):
    counted(total, 'cases', [sys.executable, 'tests/cases/run.py', '--tact', args.tact])


def run_cli(total, args):
    if not os.path.exists(os.path.join(ROOT, 'tests/cli/run.py')):
        total.add('cli', 0, 1, 0, 0, 'tests/cli/run.py is missing')
        return
    counted(total, 'cli', [sys.executable, 'tests/cli/run.py', '--tact', args.tact])


def run_fuzz(total, args):
    mutations = {'fuzz_hex': 500000, 'fuzz_csv': 500000, 'fuzz_asm': 300000, 'fuzz_elf': 50000,
                 'fuzz_block': 50000, 'fuzz_trace': 200000, 'fuzz_rows': 200000,
                 'fuzz_records': 200000, 'fuzz_perfdata': 20000, 'fuzz_mixtext': 20000,
                 'fuzz_result': 50000, 'fuzz_listing': 50000, 'fuzz_jit': 100000}
    for source in sorted(glob.glob(os.path.join(ROOT, 'tests/fuzz/fuzz_*.c'))):
        name = os.path.basename(source)[:-2]
        n = mutations.get(name, 1000) // (4 if args.slow else 1)
        corpus = os.path.join('tests/fuzz/corpus', name[5:])
        status, output, seconds = call([os.path.join(args.build, 'tests/fuzz', name),
                                        '--mutate', str(n), '--seed', '1', corpus])
        total.add('fuzz ' + name, status == 0, status != 0, 0, seconds,
                  output + '\n(status %d)' % status)


def run_example(total, args):
    """Installs into a temporary place and builds the example against that, through pkg-config."""
    start = time.monotonic()
    place = tempfile.mkdtemp()
    try:
        steps = (
            ['make', '--no-print-directory', '-s', 'install', 'BUILD=' + args.build,
             'PREFIX=' + place],
            ['sh', '-c', 'export PKG_CONFIG_PATH="%s/lib/pkgconfig"; '
             '%s -std=c11 -Wall -Wextra -Werror -o "%s/predict" examples/predict.c '
             '$(pkg-config --cflags --libs tact)' % (place, args.cc, place)],
        )
        for step in steps:
            status, output, _ = call(step)
            if status:
                total.add('example', 0, 1, 0, time.monotonic() - start, output)
                return
        env = dict(os.environ, LD_LIBRARY_PATH=place + '/lib')
        # add rax,rbx; and a block that does not decode
        good = call([place + '/predict', 'SKL', '4801d8'], env=env)
        bad = call([place + '/predict', 'SKL', '06'], env=env)
        ok = good[0] == 0 and good[1] == 'SKL: 1.00 cycles per iteration, limited by Dependencies\n'
        total.add('example predict', ok, not ok, 0, time.monotonic() - start, good[1])
        ok = bad[0] == 1 and 'byte 0' in bad[1]
        total.add('example bad input', ok, not ok, 0, 0, bad[1])
        status, output, _ = call(['make', '--no-print-directory', '-s', 'uninstall',
                                  'PREFIX=' + place])
        left = [f for _, _, files in os.walk(place) for f in files if f != 'predict']
        ok = status == 0 and not left
        total.add('example uninstall', ok, not ok, 0, 0, output + ' '.join(left))
    finally:
        shutil.rmtree(place)


def run_embed(total, args):
    counted(total, 'embed', [sys.executable, 'tests/embed/run.py', '--build', args.build, '--cc', args.cc])
    counted(total, 'embed misuse', [sys.executable, 'tests/embed/misuse.py', '--build', args.build, '--cc', args.cc])


def run_layers(total, args):
    counted(total, 'layers', [sys.executable, 'tests/check_layers.py', '--build', args.build])


def run_property(total, args):
    counted(total, 'property', [sys.executable, 'tests/property/check_bounds.py', '--tact', args.tact])
    counted(total, 'explanations', [sys.executable, 'tests/property/check_explanations.py', '--tact', args.tact])
    counted(total, 'mix cycles', [sys.executable, 'tests/property/check_mix_cycles.py', '--tact', args.tact])
    counted(total, 'memo', [sys.executable, 'tests/property/check_memo.py', '--tact', args.tact])
    counted(total, 'stalls', [sys.executable, 'tests/property/check_stalls.py', '--tact', args.tact])


def run_threads(total, args):
    counted(total, 'threads', [sys.executable, 'tests/check_threads.py', '--tact', args.tact,
                              *(['--slow'] if args.slow else [])])


def run_accuracy(total, args):
    counted(total, 'accuracy sample', [sys.executable, 'tests/accuracy/check_sample.py', '--tact', args.tact])
    counted(total, 'accuracy', [sys.executable, 'tests/accuracy/check_accuracy.py', '--tact', args.tact])
    counted(total, 'accuracy', [sys.executable, 'tests/accuracy/check_classify.py', '--tact', args.tact])
    counted(total, 'accuracy tune', [sys.executable, 'tests/accuracy/check_tune.py', '--tact', args.tact])


def run_docs(total, args):
    counted(total, 'docs', [sys.executable, 'tests/docs/check_docs.py', '--tact', args.tact])
    counted(total, 'docs examples', [sys.executable, 'tests/docs/check_examples.py', '--tact', args.tact,
                                     '--build', args.build, '--cc', args.cc])


SUITES = {'layers': run_layers, 'unit': run_unit, 'hw': run_hw, 'cases': run_cases, 'cli': run_cli,
          'fuzz': run_fuzz, 'threads': run_threads, 'example': run_example, 'embed': run_embed, 'docs': run_docs,
          'property': run_property, 'accuracy': run_accuracy}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--build', default='build')
    parser.add_argument('--cc', default='cc')
    parser.add_argument('--slow', action='store_true')
    parser.add_argument('suites', nargs='*', choices=[*SUITES, []])
    args = parser.parse_args()
    # Under nohup and in some jobs SIGINT is ignored, and programs that are started inherit that: tests
    # that interrupt one would wait for ever.  A handler here means the default there.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Tests ask for more memory than there can be: sanitizers are to refuse it as malloc does.
    for name in ('ASAN_OPTIONS', 'TSAN_OPTIONS'):
        os.environ.setdefault(name, 'allocator_may_return_null=1')
    if args.slow:
        global TIMEOUT
        TIMEOUT *= 3
    args.build = os.path.join(ROOT, args.build)
    args.tact = os.path.join(args.build, 'tact')
    total = Total()
    for name, run in SUITES.items():
        if not args.suites or name in args.suites:
            run(total, args)
    print('%d passed, %d failed, %d skipped' % (total.passed, total.failed, total.skipped))
    return 1 if total.failed else 0


if __name__ == '__main__':
    sys.exit(main())
