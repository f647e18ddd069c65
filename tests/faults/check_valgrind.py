#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs every command once under valgrind: memory that is used wrongly, or lost, is a failure.

usage: check_valgrind.py [--build DIR] [--jobs N] [--only NAME]...

Programs that commands start are not looked at, processes that they fork are. The last line is "N passed, M failed,
K skipped".
"""
import argparse
import concurrent.futures
import glob
import os
import re
import shutil
import sys
import tempfile

import commands
import watching

LIMIT = 600
VALGRIND = ['valgrind', '-q', '--leak-check=full', '--show-leak-kinds=definite', '--errors-for-leak-kinds=definite',
            '--num-callers=20', '--child-silent-after-fork=no']
SHOWN = 3000  # characters of what it says


class Inputs(commands.Inputs):
    """Made without valgrind, used with it."""

    log = None

    def words(self, args):
        return [*(VALGRIND + ['--log-file=%s' % self.log] if self.log else []), *super().words(args)]


class Watch(watching.Watch):
    def start(self, env):
        self.inputs.log = self.root + '/valgrind.%p'
        super().start(env)


def findings(path, is_forked):
    """What valgrind says of one process, in paragraphs; one that was forked ends without freeing anything.

    The dynamic linker reads strings by words, beyond their end.
    """
    text = re.sub(r'^[=-]=\d+=[=-] ?', '', open(path, errors='replace').read(), flags=re.M)
    return [p for p in text.split('\n\n') if re.search(r'^ +(?:at|by) 0x', p, re.M) and
            not (is_forked and 'definitely lost' in p) and '(dl-load.c' not in p]


def run(place, args, command):
    """Returns what is wrong, and why it was skipped."""
    inputs = Inputs.__new__(Inputs)
    inputs.__dict__.update(place.__dict__)
    with Watch(inputs, command, LIMIT) as watch:
        result = watch.run()
        said = []
        for path in sorted(glob.glob(watch.root + '/valgrind.*')):
            said += findings(path, not path.endswith('.%d' % watch.process.pid))
    if result.timed_out:
        return 'it takes more than %d s' % LIMIT, None
    if said:
        return '\n\n'.join(said)[:SHOWN], None
    if result.code == 3:
        return None, result.err.strip().splitlines()[0]
    return (None if result.code in (0, 1) else 'exit status %d: %s' % (result.code, result.err[-300:])), None


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--build', default=os.path.join(commands.TOP, 'build'))
    parser.add_argument('--jobs', type=int, default=os.cpu_count() or 1)
    parser.add_argument('--only', action='append')
    args = parser.parse_args()
    if not shutil.which('valgrind') or not shutil.which('gcc'):
        print('skip: there is no valgrind, or no gcc\n0 passed, 0 failed, 1 skipped')
        return 0
    passed = failed = skipped = 0
    watching.adopt()
    with tempfile.TemporaryDirectory(prefix='tact-valgrind-') as folder:
        place = Inputs(os.path.join(os.path.abspath(args.build), 'tact'), folder)
        chosen = [c for c in commands.COMMANDS if not args.only or c.name in args.only]
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            for c, (wrong, why) in zip(chosen, pool.map(lambda c: run(place, args, c), chosen)):
                passed, failed, skipped = passed + (not wrong and not why), failed + bool(wrong), skipped + bool(why)
                print('FAILED %s:\n%s' % (c.name, wrong) if wrong else 'skip %s: %s' % (c.name, why) if why
                      else 'ok ' + c.name, flush=True)
    print('%d passed, %d failed, %d skipped' % (passed, failed, skipped))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
