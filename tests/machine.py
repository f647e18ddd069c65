# SPDX-License-Identifier: MIT
"""What this machine can do for tests that run programs next to each other, and who else uses it."""
import contextlib
import functools
import os
import re
import subprocess
import threading
import time

TIMEOUT = 120  # seconds for a question
FRESH = 10  # seconds for which an answer about neighbours holds


def ask(tact, *words):
    return subprocess.run([tact, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT)


@functools.lru_cache(maxsize=None)
def is_instrumented(tact):
    """Whether a program was built with a sanitizer of addresses or threads."""
    with open(tact, 'rb') as f:
        code = f.read()
    return b'__asan_init' in code or b'__tsan_init' in code


def llvm_version(tact):
    """The version of LLVM that the module beside the program was built for; 0 if there is no module."""
    try:
        with open(os.path.join(os.path.dirname(os.path.abspath(tact)), 'tact_llvm.so'), 'rb') as f:
            found = re.search(rb'libLLVM(?:\.so\.|-)(\d+)', f.read())
    except FileNotFoundError:
        return 0
    return int(found.group(1)) if found else 0


@functools.lru_cache(maxsize=None)
def why_not_measure(tact):
    """What keeps this machine from measuring; None if nothing does."""
    p = ask(tact, 'measure', '-q', '--tp-only', '-x', '90')
    return (p.stderr.splitlines() or ['cannot measure'])[0] if p.returncode == 3 else None


@functools.lru_cache(maxsize=None)
def why_not_ptrace(tact):
    """Why programs cannot be stepped through here; None if they can."""
    p = ask(tact, 'collect', '-q', '--native', '-o', '/dev/null', '--', 'true')
    return (p.stderr.splitlines() or ['no ptrace'])[0] if p.returncode == 3 else None


class Neighbours:
    """Whether somebody else uses the core that blocks are measured on, so that there are no numbers.

    options of tact measure: with --noisy, only who interrupts a block counts; without, also who slows it down.
    """

    def __init__(self, tact, *options):
        self.command = [tact, 'measure', *options, '-q', '--tp-only', '-x', '4801d8', '-x', '480fafc0']
        self.lock, self.asked, self.answer = threading.Lock(), None, False

    def are_here(self):
        with self.lock:
            if self.asked is None or time.monotonic() - self.asked > FRESH:
                self.answer = 'disturbed' in ask(*self.command).stdout
                self.asked = time.monotonic()
            return self.answer


class Cores:
    """The cores that jobs of ours take: one each if they compute, all if they measure, none if they wait."""

    def __init__(self, total):
        self.total = self.free = total
        self.want_all = 0
        self.change = threading.Condition()

    @contextlib.contextmanager
    def one(self):
        with self.change:
            self.change.wait_for(lambda: self.free and not self.want_all)
            self.free -= 1
        try:
            yield
        finally:
            self.give_back(1)

    @contextlib.contextmanager
    def all(self):
        with self.change:
            self.want_all += 1
            self.change.wait_for(lambda: self.free == self.total)
            self.free = 0
            self.want_all -= 1
        try:
            yield
        finally:
            self.give_back(self.total)

    def give_back(self, n):
        with self.change:
            self.free += n
            self.change.notify_all()


def run_measuring(job, cores, neighbours):
    """Runs a job that measures, with all cores for itself; returns what it returns.

    Next to neighbours it has nothing of that: it would wait for them with idle cores.
    """
    with cores.all():
        if not neighbours.are_here():
            return job()
    return job()
