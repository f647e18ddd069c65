# SPDX-License-Identifier: MIT
"""Commands that are killed at random moments, and what they have promised by then."""
import contextlib
import os
import re
import signal

import watching


def promised(command, text):
    """Rows that messages say are stored; 0 if they do not say it yet."""
    if not command.rows or not command.rows[0]:
        return 0
    found = re.findall(command.rows[0], text)
    return int(found[-1]) if found else 0


def judge_files(command, result, reference):
    """A file is there as a whole, or not at all."""
    wrong = []
    for name, made in result.files.items():
        whole = reference.result.files.get(name)
        if whole is None:
            wrong.append(name + ' is there, an undisturbed run does not make it')
        elif made != whole if command.same else len(made) < 0.5 * len(whole):
            wrong.append('%s is there, with %d bytes instead of %d' % (name, len(made), len(whole)))
    return wrong


def run_kill(inputs, command, reference, after, limit):
    """Returns whether the kill came before the end, and what is wrong."""
    with watching.Watch(inputs, command, limit) as watch:
        before = watch.count(command.rows[1]) if command.rows else 0
        result = watch.run(kill_after=after)
        wrong = ['it hangs'] if result.timed_out else []
        wrong += result.left + judge_files(command, result, reference)
        why = watch.check_stores()
        if why:
            wrong.append(why)
        elif command.rows:
            rows, least = watch.count(command.rows[1]), max(before, promised(command, result.err))
            if rows < least:
                wrong.append('%d rows, %d were promised' % (rows, least))
        # Where it was killed does not matter to those that come after it.
        if not wrong and command.stores and result.code == -signal.SIGKILL:
            again = watch.run()
            # A neighbour may disturb a measurement at any time.
            if again.code != reference.result.code and not (command.measures and again.code == 1):
                wrong.append('run again, it ends with %d: %s' % (again.code, again.err.strip()[-300:]))
            elif command.rows and watch.count(command.rows[1]) < (1 if command.same else 0.9) * reference.rows:
                wrong.append('run again, it has %d rows instead of %d'
                             % (watch.count(command.rows[1]), reference.rows))
        return result.code == -signal.SIGKILL, wrong


def run_end(inputs, command, reference, after, number, limit):
    """A signal that asks it to end. Returns what is wrong: it ends, soon, and leaves nothing behind."""
    with watching.Watch(inputs, command, limit) as watch:
        before = watch.count(command.rows[1]) if command.rows else 0
        result = watch.run(kill_after=after, how=lambda process: process.send_signal(number))
        wrong = ['it does not end'] if result.timed_out else []
        if result.code < 0 and result.code != -number:
            wrong.append('signal %d ended it; %s' % (-result.code, result.err.strip()[-300:]))
        wrong += result.left + judge_parts(command, result, reference)
        why = watch.check_stores()
        if why:
            wrong.append(why)
        elif command.rows and watch.count(command.rows[1]) < max(before, promised(command, result.err)):
            wrong.append('%d rows, %d were promised' % (watch.count(command.rows[1]), promised(command, result.err)))
        return wrong


def judge_parts(command, result, reference):
    """What was asked to end early may write what it has by then, as a whole file, and says so."""
    return [] if command.parts else judge_files(command, result, reference)


def run_tree(inputs, command, reference, after, chance, limit):
    """Kills one of the processes that it has started. Returns what is wrong."""
    victims = []

    def kill_one(process):
        pids = watching.descendants_of(process.pid)
        if pids:
            pid = chance.choice(pids)
            victims.append(watching.name_of(pid))
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    with watching.Watch(inputs, command, limit) as watch:
        result = watch.run(kill_after=after, how=kill_one)
        wrong = ['it hangs'] if result.timed_out else []
        if result.code < 0 and not command.serves:
            wrong.append('signal %d ended it' % -result.code)
        if result.code > 0 and not result.err.strip():
            wrong.append('exit status %d without a message' % result.code)
        wrong += result.left
        if not result.code:  # nothing was lost by it
            wrong += judge_files(command, result, reference)
        wrong += filter(None, [watch.check_stores()])
        return wrong + ['killed was ' + v for v in victims] if wrong else []
