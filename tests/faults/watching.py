# SPDX-License-Identifier: MIT
"""Runs a command, ends it in some way, and sees what it leaves behind."""
import contextlib
import ctypes
import http.client
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

PR_SET_CHILD_SUBREAPER = 36
ADDR_NO_RANDOMIZE = 0x40000
LIBC = ctypes.CDLL(None, use_errno=True)
PATIENCE = 5  # seconds for processes to go away


def adopt():
    """Orphans of what we run become our children, so that none is overlooked."""
    if LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), 'prctl')


def prepare():
    LIBC.personality(ADDR_NO_RANDOMIZE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def processes_of(session, place):
    """Those of a session, or that have a folder in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            fields = open('/proc/%s/stat' % pid).read().rsplit(')', 1)[1].split()
            if fields[0] == 'Z' and int(fields[1]) == os.getpid() and int(fields[3]) == session:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(int(pid), os.WNOHANG)
                continue
            if fields[0] == 'Z' or int(pid) == os.getpid():
                continue
            if int(fields[3]) == session or place in open('/proc/%s/environ' % pid, 'rb').read():
                found.append(int(pid))
        except (OSError, IndexError):
            continue
    return found


def descendants_of(pid):
    """Of a process, those below it that are running, the nearest first."""
    children = {}
    for other in filter(str.isdigit, os.listdir('/proc')):
        with contextlib.suppress(OSError, IndexError):
            fields = open('/proc/%s/stat' % other).read().rsplit(')', 1)[1].split()
            if fields[0] != 'Z':
                children.setdefault(int(fields[1]), []).append(int(other))
    found = list(children.get(pid, []))
    for other in found:
        found += children.get(other, [])
    return found


def name_of(pid):
    try:
        return open('/proc/%d/cmdline' % pid).read().replace('\0', ' ')[:80]
    except OSError:
        return '?'


class Result:
    """What a run has shown. files: contents by name; left: what should not be there."""

    def __init__(self):
        self.code, self.out, self.err, self.files, self.left, self.timed_out = None, b'', '', {}, [], False
        self.seconds = 0


class Watch:
    """A fresh folder for one run, which it removes."""

    def __init__(self, inputs, command, limit):
        self.inputs, self.command, self.limit = inputs, command, limit
        self.root = tempfile.mkdtemp(dir=inputs.place)
        self.folder, self.temporary = os.path.join(self.root, 'run'), os.path.join(self.root, 'tmp')
        inputs.copy(self.folder)
        os.mkdir(self.temporary)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        shutil.rmtree(self.root, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, env):
        whole = dict(os.environ, TMPDIR=self.temporary, HOME=self.root, XDG_STATE_HOME=self.root + '/state', **env)
        self.out, self.err = open(self.root + '/out', 'wb+'), open(self.root + '/err', 'wb+')
        self.started = time.monotonic()
        self.process = subprocess.Popen(self.inputs.words(self.command.args), cwd=self.folder, env=whole,
                                        stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err,
                                        start_new_session=True, preexec_fn=prepare)

    def wait(self, result):
        try:
            self.process.wait(self.limit)
        except subprocess.TimeoutExpired:
            result.timed_out = True
            self.process.kill()
            self.process.wait()

    def run(self, env=None, kill_after=None, how=None):
        """To its end, or until it is killed after so many seconds; or how(process) is called then."""
        result = Result()
        self.start(env or {})
        try:
            if self.command.serves:
                ask_server(self)
            if kill_after is not None:
                time.sleep(max(0, kill_after - (time.monotonic() - self.started)))
                how(self.process) if how else self.process.kill()
        finally:
            self.wait(result)
        result.seconds = time.monotonic() - self.started
        result.code = self.process.returncode
        self.see(result, env is not None and 'FAULT_PLACE' in env or kill_after is not None)
        return result

    def see(self, result, is_disturbed):
        # What keeps a store from being one file again when it is closed is no harm.
        deadline = time.monotonic() + PATIENCE
        while True:
            left = processes_of(self.process.pid, self.root.encode())
            if not left or time.monotonic() > deadline:
                break
            time.sleep(0.01)
        for pid in left:
            result.left.append('process %d: %s' % (pid, name_of(pid)))
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        for f, to in ((self.out, 'out'), (self.err, 'err')):
            f.seek(0)
            data = f.read()
            setattr(result, to, data if to == 'out' else data.decode(errors='replace'))
            f.close()
        result.left += ['temporary file ' + name for name in os.listdir(self.temporary)]
        before = files_of(self.inputs.folder)
        for name in files_of(self.folder):
            base = re.sub('-(wal|shm|journal)$', '', name)
            if name in self.command.outputs:
                result.files[name] = open(self.path(name), 'rb').read()
            elif name.startswith('page/') or name in before:
                continue
            elif base in self.command.stores and (base == name or is_disturbed):
                continue
            else:
                result.left.append('file ' + name)

    def check_stores(self):
        """What is wrong with stores; they need not be there."""
        for name in self.command.stores:
            path = self.path(name)
            if not os.path.exists(path) or not os.path.getsize(path):
                continue
            why = check_store(self.inputs.tact, path)
            if why:
                return '%s: %s' % (name, why)
        return None

    def count(self, query):
        path = self.path(self.command.stores[0])
        if not os.path.exists(path):
            return 0
        with contextlib.closing(sqlite3.connect(path)) as db:
            try:
                return db.execute(query).fetchone()[0]
            except sqlite3.OperationalError:
                return 0


def files_of(folder):
    return sorted(os.path.relpath(os.path.join(d, f), folder) for d, _, names in os.walk(folder) for f in names)


def check_store(tact, path):
    """What tact and SQLite have against a store; None if they agree that it is good."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        try:
            if db.execute('pragma integrity_check').fetchone() != ('ok',):
                return 'SQLite finds it damaged'
            if db.execute('pragma foreign_key_check').fetchone():
                return 'a row refers to none'
            if not db.execute('select count(*) from sqlite_master').fetchone()[0]:
                return None  # nothing has reached it yet
        except sqlite3.DatabaseError as e:
            return str(e)
    p = subprocess.run([tact, 'dataset', 'stat', path], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                       timeout=60)
    if p.returncode:
        # The first transaction of a new store makes its tables.
        return 'tact does not open it: ' + p.stderr.strip()
    return None


def ask_server(watch):
    """One request, then SIGTERM; one that does not say where it is has nothing to do before."""
    port, deadline = None, time.monotonic() + PATIENCE
    while port is None and watch.process.poll() is None and time.monotonic() < deadline:
        text = open(watch.root + '/err').read() + open(watch.root + '/out').read()
        m = re.search(r'http://[^ :/]+:(\d+)/', text)
        port = m and int(m.group(1))
        time.sleep(0.01)
    if port:
        with contextlib.suppress(OSError, http.client.HTTPException):
            c = http.client.HTTPConnection('127.0.0.1', port, timeout=2 * PATIENCE)
            c.request('POST', '/api/1/predict', json.dumps({'hex': '480fafc34801d8', 'archs': ['SKL']}),
                      {'Content-Type': 'application/json'})
            watch.answer = c.getresponse().read()
            c.close()
    watch.process.terminate()
