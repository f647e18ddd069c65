# SPDX-License-Identifier: MIT
"""Commands that are killed at random moments, and what they have promised by then."""
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
