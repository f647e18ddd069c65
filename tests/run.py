#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs all tests and adds up their results.

usage: run.py [--build DIR] [--cc CC] [--slow] [--jobs N] [--slowest N] [SUITE...]

SUITE: layers unit hw cases cli serve fuzz faults threads cross example embed python docs property accuracy (default: all).
The last line of the output is "N passed, M failed, K skipped"; the exit status is 1 if something failed.
--slow: the build is instrumented, so fewer mutations are tried and nothing is timed.
--jobs: programs at a time, as many as there are cores unless it is given.  What measures (hw), and what has
jobs of its own (cli, the examples of docs), runs alone.
--slowest: names the programs that took longest, and the CPU time of all, before the last line.
"""
import argparse
import concurrent.futures
import glob
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TIMEOUT = 600  # seconds for one program: what hangs, not what is slow next to others


class Part:
    """What one job has found: counts, times and the lines to print."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.lines, self.times = [], []

    def say(self, line):
        self.lines.append(line)

    def add(self, name, passed, failed, skipped, seconds, output=''):
        self.passed += passed
        self.failed += failed
        self.skipped += skipped
        self.times.append((seconds, name))
        counts = '%d passed' % passed
        if failed:
            counts += ', %d FAILED' % failed
        if skipped:
            counts += ', %d skipped' % skipped
        self.say('%-36s %s (%.1f s)' % (name, counts, seconds))
        if failed and output:
            lines = [line for line in output.rstrip().splitlines()
                     if not re.match(r'ok |\[ +(RUN|OK) ', line)]
            self.lines += ['    ' + line for line in lines[-60:]]


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
            total.say('    ' + line)
    total.add(name, passed, failed, skipped, seconds, output)


def run_cmocka(total, args, suite, name):
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
            total.say('    ' + line)
    total.add('%s %s' % (suite, name), passed, failed, skipped, seconds, output)


def programs(pattern):
    return [os.path.basename(p)[:-2] for p in sorted(glob.glob(os.path.join(ROOT, 'tests', pattern)))]


def unit_jobs():
    return [job(run_cmocka, 'unit', name) for name in programs('unit/test_*.c')]


def hw_jobs():
    """On this very CPU: what cannot be tested here is skipped, with the reason."""
    return [job(run_cmocka, 'hw', name) for name in programs('hw/test_*.c')]


def run_cases(total, args):
    counted(total, 'cases', [sys.executable, 'tests/cases/run.py', '--tact', args.tact])


def run_cli(total, args):
    if not os.path.exists(os.path.join(ROOT, 'tests/cli/run.py')):
        total.add('cli', 0, 1, 0, 0, 'tests/cli/run.py is missing')
        return
    counted(total, 'cli', [sys.executable, 'tests/cli/run.py', '--tact', args.tact])


MUTATIONS = {'fuzz_hex': 500000, 'fuzz_csv': 500000, 'fuzz_asm': 300000, 'fuzz_elf': 50000,
             'fuzz_block': 50000, 'fuzz_trace': 10000, 'fuzz_rows': 200000,
             'fuzz_records': 200000, 'fuzz_perfdata': 20000, 'fuzz_mixtext': 20000,
             'fuzz_llvm': 20000, 'fuzz_forms': 20000, 'fuzz_encoding': 200000, 'fuzz_result': 50000,
             'fuzz_listing': 50000, 'fuzz_jit': 100000,
             'fuzz_command': 30, 'fuzz_mca': 20000, 'fuzz_pipeline': 6000, 'fuzz_measure': 50000,
             'fuzz_cycles': 600, 'fuzz_plugin': 3000, 'fuzz_assembler': 100000,
             'fuzz_checkpoint': 50000, 'fuzz_vpmu': 300, 'fuzz_system': 2000,
             'fuzz_symbols': 20000, 'fuzz_store': 1000}


def run_fuzz(total, args, name):
    n = MUTATIONS.get(name, 1000) // (4 if args.slow else 1)
    corpus = os.path.join('tests/fuzz/corpus', name[5:])
    status, output, seconds = call([os.path.join(args.build, 'tests/fuzz', name),
                                    '--mutate', str(n), '--seed', '1', corpus])
    total.add('fuzz ' + name, status == 0, status != 0, 0, seconds,
              output + '\n(status %d)' % status)


def fuzz_jobs():
    return [job(run_fuzz, name) for name in programs('fuzz/fuzz_*.c')]


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


def script(total, args, name, path, *options):
    """A program in Python; options are the names of what it gets of args."""
    counted(total, name, [sys.executable, 'tests/' + path,
                          *(word for o in options for word in ('--' + o, getattr(args, o)))])


def run_threads(total, args):
    counted(total, 'threads', [sys.executable, 'tests/check_threads.py', '--tact', args.tact,
                              *(['--slow'] if args.slow else [])])


def run_serve(total, args):
    counted(total, 'serve', [sys.executable, 'tests/serve/check_serve.py', '--tact', args.tact,
                            *(['--slow'] if args.slow else [])])


def run_faults(total, args):
    """A few of make check-faults; a build with a sanitizer has allocators of its own."""
    if not args.slow:
        counted(total, 'faults', [sys.executable, 'tests/faults/check_faults.py', '--build', args.build, '--sample'])


# ---- the order ----

def job(run, *more):
    return lambda total, args: run(total, args, *more)


# Programs that may run next to each other, the longest first within a suite.
SUITES = {
    'layers': lambda: [job(script, 'layers', 'check_layers.py', 'build'),
                       job(script, 'hardening', 'check_hardening.py', 'build')],
    'unit': unit_jobs,
    'hw': hw_jobs,
    'cases': lambda: [job(run_cases)],
    'cli': lambda: [job(run_cli)],
    'serve': lambda: [job(run_serve), job(script, 'serve disassemblers', 'serve/check_disassemblers.py', 'tact')],
    'fuzz': fuzz_jobs,
    'faults': lambda: [job(run_faults)],
    'threads': lambda: [job(run_threads)],
    'cross': lambda: [job(script, 'cross', 'cross/run.py', 'tact')],
    'example': lambda: [job(run_example)],
    'embed': lambda: [job(script, 'embed', 'embed/run.py', 'build', 'cc'),
                      job(script, 'embed misuse', 'embed/misuse.py', 'build', 'cc')],
    'editors': lambda: [job(script, 'editors', 'vscode/run.py', 'tact')],
    'rust': lambda: [job(script, 'rust', 'rust/run.py', 'build', 'cc')],
    'python': lambda: [job(script, 'python', 'python/run.py', 'build', 'cc')],
    'docs': lambda: [job(script, 'docs', 'docs/check_docs.py', 'tact'),
                     job(script, 'docs examples', 'docs/check_examples.py', 'tact', 'build', 'cc')],
    'property': lambda: [job(script, 'stalls', 'property/check_stalls.py', 'tact'),
                         job(script, 'memo', 'property/check_memo.py', 'tact'),
                         job(script, 'property', 'property/check_bounds.py', 'tact'),
                         job(script, 'bounds of LLVM', 'property/check_llvm_bounds.py', 'tact'),
                         job(script, 'export to LLVM', 'property/check_llvm_export.py', 'tact'),
                         job(script, 'mix cycles', 'property/check_mix_cycles.py', 'tact'),
                         job(script, 'explanations', 'property/check_explanations.py', 'tact')],
    'accuracy': lambda: [job(script, 'accuracy', 'accuracy/check_accuracy.py', 'tact'),
                         job(script, 'accuracy tune', 'accuracy/check_tune.py', 'tact'),
                         job(script, 'accuracy', 'accuracy/check_classify.py', 'tact'),
                         job(script, 'accuracy mix', 'accuracy/check_mix_errors.py', 'tact'),
                         job(script, 'accuracy sample', 'accuracy/check_sample.py', 'tact')],
}
# These measure, or keep all cores busy by themselves: one program at a time.
ALONE = ('hw', 'cli', 'docs', 'serve', 'cross', 'faults')
# The others, those with long programs first, so that no core waits for one at the end.
TOGETHER = ('property', 'embed', 'python', 'rust', 'editors', 'accuracy', 'layers', 'fuzz', 'unit', 'threads', 'example', 'cases')


def run_one(run, args):
    part = Part()
    run(part, args)
    return part


def run_suites(args, names, workers):
    """Yields what each job has found, in the order of the jobs."""
    jobs = [j for name in names for j in SUITES[name]()]
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        yield from pool.map(lambda j: run_one(j, args), jobs)


def use_this_python(place):
    """Tests that call python3 get the one that runs this: shims of version managers take longer than many tests."""
    os.symlink(sys.executable, os.path.join(place, 'python3'))
    os.environ['PATH'] = place + os.pathsep + os.environ.get('PATH', os.defpath)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--build', default='build')
    parser.add_argument('--cc', default='cc')
    parser.add_argument('--slow', action='store_true')
    parser.add_argument('--jobs', type=int, default=os.cpu_count() or 1)
    parser.add_argument('--slowest', type=int, default=0)
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
    with tempfile.TemporaryDirectory(prefix='tact-python-') as place:
        use_this_python(place)
        return report(run_all(args), args.slowest)


def run_all(args):
    """Prints what each job has found as soon as it is known, and returns it."""
    parts = []
    for names, workers in ((ALONE, 1), (TOGETHER, args.jobs)):
        for part in run_suites(args, [n for n in names if not args.suites or n in args.suites], workers):
            parts.append(part)
            print('\n'.join(part.lines), flush=True)
    return parts


def report(parts, slowest):
    for seconds, name in sorted((t for p in parts for t in p.times), reverse=True)[:slowest]:
        print('%8.1f s  %s' % (seconds, name))
    if slowest:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print('%8.1f s  of CPU time, all together' % (used.ru_utime + used.ru_stime))
    failed = sum(p.failed for p in parts)
    print('%d passed, %d failed, %d skipped' % (sum(p.passed for p in parts), failed, sum(p.skipped for p in parts)))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
