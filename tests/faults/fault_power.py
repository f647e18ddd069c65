# SPDX-License-Identifier: MIT
"""A loss of power, simulated: of what a command has written, only what it has synced is sure to be there.

The log of inject_log.c has everything that happened to files, in order. At some moment in it, the machine stops:
- what was written to a file before its last sync is there;
- of what was written after that, any sectors of 512 bytes may be there or not;
- names change in order (a journal of the file system), up to some point after the last sync of their folder; the
  sync of a new file keeps its name as well, as file systems with a journal do.
"""
import os
import struct

import fault_kill
import watching

WROTE, TRUNCATED, SYNCED, OPENED, LINKED, RENAMED, UNLINKED, REPORTED = range(8)
SECTOR = 512


class Event:
    def __init__(self, what, inode, data, offset, second):
        self.what, self.inode, self.data, self.offset, self.second = what, inode, data, offset, second


def read_log(path):
    data, at, events = open(path, 'rb').read(), 0, []
    while at < len(data):
        what, inode, size, offset, second, _ = struct.unpack_from('6Q', data, at)
        at += 48
        first, at = data[at:at + size], at + size
        events.append(Event(what, inode, first, offset, data[at:at + second]))
        at += second
    return events


class Disk:
    """Files and names in one folder, as they are after the machine has stopped."""

    def __init__(self, folder):
        self.folder = os.path.realpath(folder)
        self.contents, self.names = {}, {}
        for name in watching.files_of(folder):
            path = os.path.join(self.folder, name)
            inode = os.stat(path).st_ino
            self.contents[inode] = bytearray(open(path, 'rb').read())
            self.names[path] = inode

    def rename(self, event):
        first, second = event.data.decode(), event.second.decode()
        if event.what in (OPENED, LINKED):
            self.names.setdefault(first, event.inode)
        elif event.what == UNLINKED:
            self.names.pop(first, None)
        elif first in self.names:
            self.names[second] = self.names.pop(first)

    def write(self, event, chance=None):
        """All of it or, with chance, some of its sectors."""
        data = self.contents.setdefault(event.inode, bytearray())
        if event.what == TRUNCATED:
            if not chance or chance.random() < 0.5:
                if event.offset < len(data):
                    del data[event.offset:]
                else:
                    data.extend(bytes(event.offset - len(data)))
            return
        for at in range(0, len(event.data), SECTOR):
            if chance and chance.random() < 0.5:
                continue
            part = event.data[at:at + SECTOR]
            if len(data) < event.offset + at + len(part):
                data.extend(bytes(event.offset + at + len(part) - len(data)))
            data[event.offset + at:event.offset + at + len(part)] = part

    def save(self, to):
        for path, inode in self.names.items():
            if not path.startswith(self.folder + '/'):
                continue
            copy = os.path.join(to, os.path.relpath(path, self.folder))
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            with open(copy, 'wb') as out:
                out.write(self.contents.get(inode, b''))


def is_name(event):
    return event.what in (OPENED, LINKED, RENAMED, UNLINKED)


def last_syncs(events):
    """For each inode, the number of the last event that a sync covers; for names, the same."""
    synced, names = {}, -1
    for i, e in enumerate(events):
        if e.what == SYNCED:
            synced[e.inode] = names = i
    return synced, names


def stop(disk, events, chance):
    """What the disk has after these events."""
    synced, names = last_syncs(events)
    n_names = sum(map(is_name, events[:names + 1]))
    later = sum(map(is_name, events[names + 1:]))
    n_names += chance.randint(0, later)
    loses_all = chance.random() < 0.3
    for i, e in enumerate(events):
        if is_name(e):
            if n_names:
                disk.rename(e)
            n_names -= n_names > 0
        elif e.what in (WROTE, TRUNCATED):
            if i <= synced.get(e.inode, -1):
                disk.write(e)
            elif not loses_all:
                disk.write(e, chance)


def reported(events):
    return b''.join(e.data for e in events if e.what == REPORTED).decode(errors='replace')


class Recording:
    """A command, run to its end, with all that it did to files."""

    def __init__(self, injector, inputs, command, limit):
        self.command, self.inputs = command, inputs
        self.watch = watching.Watch(inputs, command, limit)
        self.start = Disk(self.watch.folder)
        self.before = self.watch.count(command.rows[1]) if command.rows else 0
        log = self.watch.root + '/log'
        self.result = self.watch.run({'LD_PRELOAD': injector, 'FAULT_PROGRAM': os.path.realpath(inputs.tact),
                                      'FAULT_LOG': log})
        self.events = read_log(log)
        self.versions = self.list_versions()

    def list_versions(self):
        """What each output has been as a whole, one version after the other."""
        disk, versions = self.disk(), {name: set() for name in self.command.outputs}
        for e in self.events:
            if is_name(e):
                disk.rename(e)
            elif e.what in (WROTE, TRUNCATED):
                disk.write(e)
            if e.what in (LINKED, RENAMED):
                for name, known in versions.items():
                    inode = disk.names.get(os.path.join(disk.folder, name))
                    if inode is not None:
                        known.add(bytes(disk.contents.get(inode, b'')))
        return versions

    def close(self):
        self.watch.__exit__()

    def disk(self):
        copy = Disk.__new__(Disk)
        copy.folder, copy.names = self.start.folder, dict(self.start.names)
        copy.contents = {i: bytearray(data) for i, data in self.start.contents.items()}
        return copy

    def moment(self, i, chance):
        """Where the i-th crash is: at the end, when all has to be there; right after a report; or anywhere."""
        n = len(self.events)
        reports = [k + 1 for k, e in enumerate(self.events) if e.what == REPORTED]
        if i % 4 == 0:
            return n
        return chance.choice(reports) if i % 4 == 1 and reports else chance.randint(0, n)

    def crash(self, at, reference, chance):
        """The power fails after `at` events.  Returns what is wrong."""
        events, disk = self.events[:at], self.disk()
        stop(disk, events, chance)
        with watching.Watch(self.inputs, self.command, 60) as after:
            for name in watching.files_of(after.folder):
                os.remove(after.path(name))
            disk.save(after.folder)
            is_over = at == len(self.events) and not self.result.code
            return self.judge(after, events, reference, is_over)

    def judge(self, after, events, reference, is_over):
        wrong = []
        for name in self.command.outputs:
            made, whole = None, reference.result.files.get(name)
            if os.path.exists(after.path(name)):
                made = open(after.path(name), 'rb').read()
            if made is None and is_over and whole is not None:
                wrong.append('%s is missing, but the command had ended well' % name)
            elif made is not None and made not in self.versions[name]:
                wrong.append('%s has %d bytes, not all that was written' % (name, len(made)))
        why = after.check_stores()
        if why:
            wrong.append(why)
        elif self.command.rows:
            least = max(self.before, fault_kill.promised(self.command, reported(events)))
            if is_over:
                least = max(least, reference.rows if self.command.same else 0.9 * reference.rows)
            rows = after.count(self.command.rows[1])
            if rows < least:
                wrong.append('%d rows, %d were promised' % (rows, least))
        return wrong
