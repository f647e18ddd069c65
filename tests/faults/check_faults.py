#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lets tact fail in all ways that it does not choose: no memory, a full disk, signals, kill -9, a loss of power.

usage: check_faults.py [--build DIR] [--sample] [--seed N] [--faults N] [--kills N] [--crashes N] [--naps N]
                       [--depth N] [--jobs N] [--only NAME]... [--verbose] [SUITE...]

SUITE: clock naps kill end tree power calls memory (default: all).
--sample: a few of everything, in some seconds.  --seed: of everything that is random.
--faults: most faults for each command and suite.  --kills: how many commands are killed, in each way.
--crashes: losses of power for each command that writes files.  --naps: runs with random waits for each command.
--only: these commands of commands.py.
--depth: calls differ if one of so many callers does (default: 6; 14 takes an hour).
--verbose: says how far it is, and everything that failed.

memory and calls run each command under a library that counts its calls of the C library by where they come from,
and lets one of them fail. Afterwards,
- the exit status is that of the undisturbed run, with the same results; or it is not, and a message says what
  failed;
- no signal has ended it, and it did not hang;
- a file that it was to make is whole, or is not there, or is as it was;
- a store opens, SQLite finds it intact, and it has all rows that were reported;
- no process, no temporary file and no other file is left.
naps: system calls wait at random, so that processes and threads meet in other ways.
kill, end, tree and power: the same after SIGKILL, after SIGTERM or SIGINT, after SIGKILL for one of the processes
that it started, and with what a disk has after a loss of power.
The last line is "N passed, M failed, K skipped".
"""
import argparse
import concurrent.futures
import os
import shutil
import signal
import sys
import tempfile
import time

import commands
import fault_calls
import fault_kill
import fault_power
import watching

sys.path.insert(0, os.path.join(commands.TOP, 'tests'))
import machine  # noqa: E402

LIMIT = 90  # seconds: what hangs, not what is slow next to others; a server waits a minute for its clients
MEASURED_AGAIN = 4
JUMP = 4000  # seconds
PROGRESS = 20  # lines of --verbose for each suite
KILLED = ('measure', 'measure_jobs', 'import', 'import_again', 'merge', 'tune', 'tune_checkpoint', 'mix_record',
          'trace', 'trace_record', 'serve', 'collect', 'classify_apply')
# These start processes.
TREES = ('predict_text', 'measure', 'measure_jobs', 'measure_csv', 'collect', 'trace', 'trace_record', 'mix_record',
         'hunt', 'serve')
SAMPLE = {'faults': 1, 'kills': 12, 'crashes': 1, 'naps': 0}
WHOLE = {'faults': None, 'kills': 500, 'crashes': 40, 'naps': 10}
DEPTH = 6  # return addresses that make a place: SQLite's allocations have ten times as many ways to come about


class Totals:
    def __init__(self, is_verbose):
        self.passed, self.failed, self.skipped, self.is_verbose, self.seen = 0, 0, 0, is_verbose, {}

    def add(self, suite, command, what, wrong):
        if not wrong:
            self.passed += 1
            return
        self.failed += 1
        key = (suite, command.name, wrong[0][:40])
        self.seen[key] = self.seen.get(key, 0) + 1
        if self.seen[key] <= 3 or self.is_verbose:
            print('\n    '.join(['FAILED %s %s: %s' % (suite, command.name, what), *wrong]), flush=True)

    def skip(self, command, why):
        self.skipped += 1
        print('skip %s: %s' % (command.name, why), flush=True)


class Suites:
    def __init__(self, args, inputs, totals):
        self.args, self.inputs, self.totals, self.references = args, inputs, totals, {}
        self.injector = os.path.join(args.build, 'tests/faults/inject.so')
        self.pool = concurrent.futures.ThreadPoolExecutor(args.jobs)

    def why_not(self, command):
        if command.traces and not self.inputs.has_qemu:
            return 'there is no qemu-x86_64'
        if command.measures:
            return machine.why_not_measure(self.inputs.tact)
        return None

    def try_one(self, command):
        why = self.why_not(command)
        if why:
            return why, None
        reference = fault_calls.Reference(self.injector, self.inputs, command, LIMIT)
        # What measures may find a neighbour, and no number: that is nothing to compare with.
        for _ in range(MEASURED_AGAIN if command.measures else 0):
            if not reference.result.code:
                break
            reference = fault_calls.Reference(self.injector, self.inputs, command, LIMIT)
        if command.measures and reference.result.code == 1:
            why = 'others keep the core busy'
        return why, reference

    def refer(self, commands_to_try):
        """Runs each undisturbed; returns those that work here."""
        good = []
        tried = self.pool.map(self.try_one, commands_to_try)
        for command, (why, reference) in zip(commands_to_try, tried):
            if not why and reference.result.code == 3:
                why = reference.result.err.strip().splitlines()[-1]
            if why:
                self.totals.skip(command, why)
                continue
            wrong = list(reference.wrong)
            if reference.result.code not in (0, 1) or reference.result.timed_out:
                wrong.append('exit status %s: %s' % (reference.result.code, reference.result.err[-300:]))
            self.totals.add('undisturbed', command, 'nothing fails', wrong)
            if not wrong:
                self.references[command.name] = reference
                good.append(command)
        return good

    def together(self, suite, jobs):
        """Each job is a command, words for it, and a function that returns what is wrong."""
        running = [(c, what, self.pool.submit(f)) for c, what, f in jobs]
        for i, (command, what, future) in enumerate(running):
            self.totals.add(suite, command, what, future.result())
            if self.args.verbose and (i + 1) % max(1, len(running) // PROGRESS) == 0:
                print('%s: %d of %d' % (suite, i + 1, len(running)), flush=True)

    def disturb(self, suite, kinds, commands_to_try):
        jobs = []
        for c in commands_to_try:
            reference = self.references[c.name]
            chance = fault_calls.random_of(self.args.seed, suite, c.name)
            for fault in fault_calls.choose(reference.places, kinds, chance, self.args.faults):
                jobs.append((c, str(fault), lambda c=c, r=reference, f=fault: fault_calls.run_fault(
                    self.injector, self.inputs, c, r, f, LIMIT)))
        self.together(suite, jobs)

    def memory(self, good):
        self.disturb('memory', ('ALLOC',), good)

    def calls(self, good):
        self.disturb('calls', set(fault_calls.KINDS) - {'ALLOC'}, good)

    def clock(self, good):
        self.together('clock', [(c, 'the clock jumps', lambda c=c: fault_calls.run_clock(
            self.injector, self.inputs, c, self.references[c.name], JUMP, LIMIT)) for c in good])

    def kill(self, good):
        victims = [c for c in good if c.name in KILLED]
        chance = fault_calls.random_of(self.args.seed, 'kill')
        jobs = []
        for i in range(self.args.kills if victims else 0):
            c = victims[i % len(victims)]
            after = chance.uniform(0, 1.1) * self.references[c.name].result.seconds
            jobs.append((c, 'after %.3f s' % after, lambda c=c, after=after: fault_kill.run_kill(
                self.inputs, c, self.references[c.name], after, LIMIT)[1]))
        self.together('kill', jobs)

    def naps(self, good):
        self.together('naps', [(c, 'number %d' % i, lambda c=c, i=i: fault_calls.run_naps(
            self.injector, self.inputs, c, self.references[c.name], i + 1000 * self.args.seed, LIMIT))
            for i in range(self.args.naps) for c in good])

    def moments(self, suite, good, names):
        """Commands of these names in turn, each with a moment and a source of chance."""
        victims = [c for c in good if c.name in names]
        for i in range(self.args.kills if victims else 0):
            chance = fault_calls.random_of(self.args.seed, suite, str(i))
            c = victims[i % len(victims)]
            yield c, chance, chance.uniform(0, 1.1) * self.references[c.name].result.seconds

    def end(self, good):
        self.together('end', [(c, 'after %.3f s' % after, lambda c=c, chance=chance, after=after: fault_kill.run_end(
            self.inputs, c, self.references[c.name], after, chance.choice([signal.SIGTERM, signal.SIGINT]), LIMIT))
            for c, chance, after in self.moments('end', good, KILLED)])

    def tree(self, good):
        self.together('tree', [(c, 'after %.3f s' % after, lambda c=c, chance=chance, after=after: fault_kill.run_tree(
            self.inputs, c, self.references[c.name], after, chance, LIMIT))
            for c, chance, after in self.moments('tree', good, TREES)])

    def power(self, good):
        for c in good:
            if not c.outputs and not c.stores:
                continue
            recording = fault_power.Recording(self.injector, self.inputs, c, LIMIT)
            n, jobs = len(recording.events), []
            for i in range(self.args.crashes):
                chance = fault_calls.random_of(self.args.seed, 'power', c.name, str(i))
                at = recording.moment(i, chance)
                jobs.append((c, 'after %d of %d events, number %d' % (at, n, i), lambda at=at, chance=chance, r=recording,
                             c=c: r.crash(at, self.references[c.name], chance)))
            self.together('power', jobs)
            recording.close()


NAMES = ('clock', 'naps', 'kill', 'end', 'tree', 'power', 'calls', 'memory')  # the shortest first


def read_arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--build', default=os.path.join(commands.TOP, 'build'))
    parser.add_argument('--sample', action='store_true')
    parser.add_argument('--seed', type=int, default=0)
    for name in WHOLE:
        parser.add_argument('--' + name, type=int)
    parser.add_argument('--jobs', type=int, default=os.cpu_count() or 1)
    parser.add_argument('--depth', type=int, default=DEPTH)
    parser.add_argument('--only', action='append')
    parser.add_argument('--verbose', action='store_true')
    parser.add_argument('suites', nargs='*', choices=[*NAMES, []])
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    for name, most in (SAMPLE if args.sample else WHOLE).items():
        if getattr(args, name) is None:
            setattr(args, name, most)
    return args


def run(args, place):
    totals = Totals(args.verbose)
    suites = Suites(args, commands.Inputs(os.path.join(args.build, 'tact'), place), totals)
    chosen = [c for c in commands.COMMANDS if not args.only or c.name in args.only]
    good = suites.refer(chosen)
    for name in NAMES:
        if args.suites and name not in args.suites:
            continue
        start, before = time.monotonic(), totals.passed + totals.failed
        getattr(suites, name)(good)
        print('%-8s %d runs (%.1f s)' % (name, totals.passed + totals.failed - before, time.monotonic() - start),
              flush=True)
    print('%d passed, %d failed, %d skipped' % (totals.passed, totals.failed, totals.skipped))
    return 1 if totals.failed else 0


def main():
    args = read_arguments()
    if not shutil.which('gcc'):
        print('skip: there is no gcc, which compiles what is traced\n0 passed, 0 failed, 1 skipped')
        return 0
    os.environ['FAULT_DEPTH'] = str(args.depth)
    watching.adopt()
    signal.signal(signal.SIGTERM, lambda *unused: sys.exit(1))  # not without removing the folder
    # In memory: these files are made by the thousand, and a sync of one need not wait for a disk.
    shm = '/dev/shm' if os.access('/dev/shm', os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix='tact-faults-', dir=shm) as place:
        return run(args, place)


if __name__ == '__main__':
    sys.exit(main())
