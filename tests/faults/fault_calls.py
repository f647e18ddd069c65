# SPDX-License-Identifier: MIT
"""Calls of the C library that fail: see inject.c.  Which ones there are is seen in an undisturbed run."""
import errno
import os
import random
import re
import struct
import subprocess

import watching

KINDS = ['ALLOC', 'OPEN', 'READ', 'WRITE', 'SYNC', 'RENAME', 'UNLINK', 'TRUNCATE', 'CLOSE', 'MAP', 'WAIT', 'START']
SHORT = 0  # less than was asked for
FAULTS = {'ALLOC': [errno.ENOMEM], 'OPEN': [errno.EMFILE, errno.EIO], 'READ': [errno.EIO, errno.EINTR, SHORT],
          'WRITE': [errno.ENOSPC, errno.EIO, errno.EINTR, SHORT], 'SYNC': [errno.EIO], 'RENAME': [errno.ENOSPC],
          'UNLINK': [errno.EIO], 'TRUNCATE': [errno.EIO], 'CLOSE': [errno.EIO], 'MAP': [errno.ENOMEM],
          'WAIT': [errno.EINTR], 'START': [errno.EAGAIN]}
HARMLESS = (errno.EINTR, SHORT)
SLOTS = 1 << 16
CODES = (0, 1, 2, 3, 4)
# This one ends the program if it cannot write to an eventfd of its own, which does not happen.
ENDING = ('libmicrohttpd',)
# Where an input fails, the others are done, and what is written says so.
INPUTS = ('OPEN', 'READ', 'MAP', 'START', 'WAIT')
# These crash, or go without what they were to read, when memory runs out within them.
FOREIGN = ('ld-linux', 'libdw', 'libelf', 'libjansson', 'libLLVM', 'libdnnl', 'libgomp', 'libstdc++')


class Fault:
    def __init__(self, place, nth, number):
        self.place, self.nth, self.number = place, nth, number
        self.kind = KINDS[place & 15]

    def __str__(self):
        how = errno.errorcode[self.number] if self.number else 'less'
        return '%s at %#x, call %d: %s' % (self.kind, self.place, self.nth, how)

    def env(self):
        return {'FAULT_PLACE': hex(self.place), 'FAULT_NTH': str(self.nth), 'FAULT_ERRNO': str(self.number)}


def environment(injector, inputs, watch):
    """Of a run under the library, with a new table of places."""
    with open(watch.root + '/table', 'wb') as table:
        table.truncate(SLOTS * 16)
    return {'LD_PRELOAD': injector, 'FAULT_PROGRAM': os.path.realpath(inputs.tact), 'FAULT_TABLE': table.name}


def read_places(watch):
    data = open(watch.root + '/table', 'rb').read()
    pairs = struct.iter_unpack('QQ', data)
    return {place: count for place, count in pairs if place}


class Reference:
    """What a command does when nothing fails."""

    def __init__(self, injector, inputs, command, limit):
        with watching.Watch(inputs, command, limit) as watch:
            self.result = watch.run(environment(injector, inputs, watch))
            self.places = read_places(watch)
            self.wrong = self.result.left + list(filter(None, [watch.check_stores()]))
            self.rows = watch.count(command.rows[1]) if command.rows else None


def choose(places, kinds, chance, most):
    """Faults at all places of some kinds: at the first call, and at another one."""
    all_of_them = []
    for place, count in sorted(places.items()):
        kind = KINDS[place & 15]
        if kind not in kinds:
            continue
        for number in FAULTS[kind]:
            all_of_them.append(Fault(place, 1, number))
        if count > 1:
            all_of_them.append(Fault(place, chance.randint(2, count), chance.choice(FAULTS[kind])))
    return all_of_them if most is None or len(all_of_them) <= most else chance.sample(all_of_them, most)


def judge_outputs(command, watch, fault, result, reference):
    wrong = []
    is_partial = fault.kind in INPUTS and result.code != reference.result.code
    for name in command.outputs if not is_partial else ():
        made, whole = result.files.get(name), reference.result.files.get(name)
        if whole is None:
            continue
        if made is None:
            if result.code == reference.result.code:
                wrong.append('%s is missing, the exit status is %d' % (name, result.code))
        elif command.same and made != whole:
            wrong.append('%s differs from that of an undisturbed run (%d bytes instead of %d)'
                         % (name, len(made), len(whole)))
        elif not command.same and len(made) < 0.5 * len(whole):
            wrong.append('%s has %d bytes instead of %d' % (name, len(made), len(whole)))
    if result.code == reference.result.code and command.same and result.out != reference.result.out:
        wrong.append('standard output differs from that of an undisturbed run')
    why = watch.check_stores()
    if why:
        wrong.append(why)
    elif result.code == reference.result.code and command.rows and command.rows[1]:
        rows = watch.count(command.rows[1])
        if rows != reference.rows if command.same else rows < 0.9 * reference.rows:
            wrong.append('%d rows instead of %d, the exit status is %d' % (rows, reference.rows, result.code))
    return wrong


def judge_message(command, fault, result):
    err = result.err.lower()
    if not err.strip() and command.name == 'doctor':
        return []  # its report says what does not work
    if not err.strip():
        return ['exit status %d without a message' % result.code]
    # A neighbour may disturb a measurement at any time; what became of each block is said.
    if command.measures and result.code == 1 and re.search(r'[0-9]+ without \(', err):
        return []
    # A thread needs memory of the kernel, too, which does not say what it lacked.
    if fault.number == errno.ENOMEM and 'memory' not in err and 'thread' not in err:
        return ['memory ran out, the message says: ' + result.err.strip()[-300:]]
    if fault.kind == 'WRITE' and fault.number == errno.ENOSPC and 'no space' not in err:
        return ['the disk is full, the message says: ' + result.err.strip()[-300:]]
    names = [*command.outputs, *command.stores, 'standard output']
    if fault.kind == 'WRITE' and fault.number == errno.ENOSPC and not any(name in result.err for name in names):
        return ['the disk is full, the message names no file: ' + result.err.strip()[-300:]]
    return []


def is_foreign(watch, fault):
    """Whether the call that failed came from a library of others that does not bear it."""
    libraries = FOREIGN if fault.number == errno.ENOMEM else FOREIGN + ENDING
    try:
        lines = open(watch.root + '/stack').read().splitlines()
    except FileNotFoundError:
        return False
    callers = [os.path.basename(line.split('(')[0]) for line in lines]
    callers = [c for c in callers if not c.startswith(('inject.so', 'libc.so'))]
    return bool(callers) and callers[0].startswith(libraries)


def judge(command, watch, fault, result, reference):
    """What is wrong with a disturbed run."""
    if result.timed_out:
        return ['it hangs'] + result.left
    wrong = list(result.left)
    if is_foreign(watch, fault):
        return wrong + list(filter(None, [watch.check_stores()]))
    if result.code < 0:
        wrong.append('signal %d ended it; %s' % (-result.code, result.err.strip()[-300:]))
    elif result.code not in CODES:
        wrong.append('exit status %d; %s' % (result.code, result.err.strip()[-300:]))
    elif result.code != reference.result.code:
        # A neighbour may disturb a measurement at any time.
        if fault.number in HARMLESS and not (command.measures and result.code == 1):
            wrong.append('exit status %d: %s' % (result.code, result.err.strip()[-300:]))
        wrong += judge_message(command, fault, result)
    return wrong + judge_outputs(command, watch, fault, result, reference)


def show(inputs, path):
    """The functions of tact that a call came from."""
    if not os.path.exists(path):
        return []
    places = re.findall(r'^%s\((?:\w*)\+(0x[0-9a-f]+)\)' % re.escape(os.path.realpath(inputs.tact)), open(path).read(),
                        re.M)
    if not places:
        return ['from outside: ' + ' '.join(os.path.basename(line) for line in open(path).read().splitlines()[2:8])]
    p = subprocess.run(['addr2line', '-fs', '-e', inputs.tact, *places], capture_output=True, text=True)
    lines = p.stdout.splitlines()
    return ['from ' + ' '.join('%s(%s)' % pair for pair in list(zip(lines[::2], lines[1::2]))[:14])]


def run_fault(injector, inputs, command, reference, fault, limit):
    with watching.Watch(inputs, command, limit) as watch:
        env = environment(injector, inputs, watch)
        result = watch.run(dict(env, FAULT_SHOW=watch.root + '/stack', **fault.env()))
        wrong = judge(command, watch, fault, result, reference)
        stack = show(inputs, watch.root + '/stack') if wrong else []
        # Debug information that cannot be read only means that no source line is named.
        if fault.kind in ('OPEN', 'MAP', 'READ') and stack and '(dwarf.c' in stack[0] and not result.left and \
                result.code == reference.result.code:
            return []
        # Messages between processes are no output: what was to be started is an input that fails.
        if stack and '(process.c' in stack[0] and result.code not in (0, reference.result.code):
            wrong = [line for line in wrong if 'differs' not in line]
        return wrong + stack if wrong else []


def run_clock(injector, inputs, command, reference, jump, limit):
    """With a time of day that jumps to and fro."""
    fault = Fault(KINDS.index('WAIT'), 0, errno.EINTR)
    with watching.Watch(inputs, command, limit) as watch:
        env = environment(injector, inputs, watch)
        result = watch.run(dict(env, FAULT_CLOCK=str(jump)))
        return judge(command, watch, fault, result, reference)


def run_naps(injector, inputs, command, reference, seed, limit):
    """With calls that wait at random, so that processes and threads meet in other ways."""
    fault = Fault(KINDS.index('WAIT'), 0, errno.EINTR)
    with watching.Watch(inputs, command, limit) as watch:
        env = environment(injector, inputs, watch)
        result = watch.run(dict(env, FAULT_NAPS=str(seed + 1)))
        return judge(command, watch, fault, result, reference)


def random_of(seed, *words):
    return random.Random('%d %s' % (seed, ' '.join(words)))
