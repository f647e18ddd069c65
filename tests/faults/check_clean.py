#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs every command, with threads and on real inputs, under sanitizers or valgrind: what these say is a failure.

usage: check_clean.py [--build DIR] [--valgrind] [--jobs N] [--only NAME]...

DIR is a build with sanitizers; with --valgrind it is one without.  Processes that commands fork are looked at, too;
programs that they start are not.  The last line is "N passed, M failed, K skipped".
"""
import argparse
import concurrent.futures
import contextlib
import glob
import os
import re
import shutil
import signal
import sys
import tempfile
import time

import clean_commands
import commands
import watching

LIMIT = 900
VALGRIND = ['valgrind', '-q', '--leak-check=full', '--show-leak-kinds=definite', '--errors-for-leak-kinds=definite',
            '--num-callers=20', '--child-silent-after-fork=no']
SHOWN = 4000  # characters of what was found
# Tests ask for more memory than there can be.  A frame pointer is in all of ours, but not in libraries.
SANITIZER = 'log_path=%s:allocator_may_return_null=1:print_stacktrace=1:detect_stack_use_after_return=1'
REPORT = r'(?:ERROR|WARNING): \w+Sanitizer|: runtime error: '


class Inputs(clean_commands.Inputs):
    """Made without valgrind, used with it."""

    log = None

    def words(self, args):
        return [*(VALGRIND + ['--log-file=%s' % self.log] if self.log else []), *super().words(args)]


class Watch(watching.Watch):
    uses_valgrind = False
    wrong = ()

    def start(self, env):
        log = self.root + '/log'
        if self.uses_valgrind:
            self.inputs.log = log + '.%p'
        options = SANITIZER % log
        super().start(dict(env, ASAN_OPTIONS=options, UBSAN_OPTIONS=options, LSAN_OPTIONS='log_path=' + log,
                           TSAN_OPTIONS=options + ':second_deadlock_stack=1'))
        self.wrong = self.talk()

    def find_port(self, pattern):
        deadline = time.monotonic() + 120
        while self.process.poll() is None and time.monotonic() < deadline:
            m = re.search(pattern, open(self.root + '/err').read())
            if m:
                return int(m.group(1))
            time.sleep(0.02)
        return None

    def talk(self):
        """To those that listen."""
        if self.command.name == 'trace_listen':
            port = self.find_port(r'waiting for a trace on 127\.0\.0\.1:(\d+)')
            if port:
                clean_commands.send_trace(self.inputs.tact, port, self.inputs.threads)
        if self.command.name == 'serve_clients':
            port = self.find_port(r'http://[^ :/]+:(\d+)/')
            return clean_commands.ask_together(port) if port else ['it does not serve']
        return ()


def said_by_valgrind(path, is_forked):
    """In paragraphs; a process that was forked ends without freeing anything.

    The dynamic linker reads strings by words, beyond their end; memmove of glibc with checks is taken for memcpy.
    """
    text = re.sub(r'^[=-]=\d+=[=-] ?', '', open(path, errors='replace').read(), flags=re.M)
    return [p for p in text.split('\n\n') if re.search(r'^ +(?:at|by) 0x', p, re.M) and
            not (is_forked and 'definitely lost' in p) and '(dl-load.c' not in p and
            not ('overlap in memcpy_chk' in p and 'memmove (string_fortified.h' in p)]


def findings(watch, result):
    said = []
    for path in sorted(glob.glob(watch.root + '/log.*')):
        if watch.uses_valgrind:
            said += said_by_valgrind(path, not path.endswith('.%d' % watch.process.pid))
        else:
            said.append(open(path, errors='replace').read())
    # A process in a box opens no log, and says it here.
    if re.search(REPORT, result.err):
        said.append(result.err)
    return [s for s in said if s.strip()]


def run(place, args, command):
    """Returns what is wrong, and why it was skipped."""
    inputs = Inputs.__new__(Inputs)
    inputs.__dict__.update(place.__dict__)
    with Watch(inputs, command, LIMIT) as watch:
        watch.uses_valgrind = args.valgrind
        result = watch.run()
        said = findings(watch, result)
    if result.timed_out:
        return 'it takes more than %d s' % LIMIT, None
    if said:
        return '\n\n'.join(said)[:SHOWN], None
    if result.code == 3:
        return None, (result.err.strip().splitlines() or ['this machine cannot do it'])[-1]
    if watch.wrong:
        return '\n'.join([*watch.wrong, result.err])[:SHOWN], None
    return (None if result.code in (0, 1) else 'exit status %d: %s' % (result.code, result.err[-300:])), None


def is_instrumented(path):
    with open(path, 'rb') as f:
        return re.search(rb'__(asan|tsan|ubsan)_', f.read()) is not None


def read_arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--build', default=os.path.join(commands.TOP, 'build'))
    parser.add_argument('--valgrind', action='store_true')
    parser.add_argument('--jobs', type=int, default=os.cpu_count() or 1)
    parser.add_argument('--only', action='append')
    return parser.parse_args()


def why_not(args, tact):
    if not shutil.which('gcc'):
        return 'there is no gcc, which compiles what is traced'
    if args.valgrind and not shutil.which('valgrind'):
        return 'there is no valgrind'
    if args.valgrind == is_instrumented(tact):
        return '%s is built with%s sanitizers' % (tact, '' if args.valgrind else 'out')
    return None


def check_all(args, tact, folder):
    place = Inputs(tact, folder)
    passed = failed = skipped = 0
    chosen = [c for c in commands.COMMANDS + clean_commands.clean_commands()
              if (not args.only or c.name in args.only) and (place.has_qemu or not c.traces)]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for c, (wrong, why) in zip(chosen, pool.map(lambda c: run(place, args, c), chosen)):
            passed, failed, skipped = passed + (not wrong and not why), failed + bool(wrong), skipped + bool(why)
            print('FAILED %s: tact %s\n%s' % (c.name, ' '.join(c.args), wrong) if wrong
                  else 'skip %s: %s' % (c.name, why) if why else 'ok ' + c.name, flush=True)
    print('%d passed, %d failed, %d skipped' % (passed, failed, skipped))
    return 1 if failed else 0


def main():
    args = read_arguments()
    tact = os.path.join(os.path.abspath(args.build), 'tact')
    why = why_not(args, tact)
    if why:
        print('skip: %s\n0 passed, 0 failed, 1 skipped' % why)
        return 0
    watching.adopt()
    os.environ.setdefault('ASAN_OPTIONS', 'allocator_may_return_null=1')
    with contextlib.suppress(AttributeError):  # not without removing the folder
        signal.signal(signal.SIGTERM, lambda *unused: sys.exit(1))
    # ThreadSanitizer's shadow memory does not go with random addresses of every kernel.
    watching.prepare()
    with tempfile.TemporaryDirectory(prefix='tact-clean-') as folder:
        return check_all(args, tact, folder)


if __name__ == '__main__':
    sys.exit(main())
