#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the scripts for Ghidra and Binary Ninja against a service, with as much of these programs as they use.

usage: check_disassemblers.py [--tact PATH]

The last line of the output is "N passed, M failed, K skipped".
"""
import argparse
import contextlib
import json
import os
import re
import runpy
import subprocess
import sys
import tempfile
import time
import traceback
import types

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# add rax, rbx; imul rcx, rax; jmp back
CODE = ['4801d8', '480fafc8', 'ebf7']
BASE = 0x40103b  # the code crosses a cache line


class Address:
    def __init__(self, offset):
        self.offset = offset

    def __eq__(self, other):
        return self.offset == other.offset

    def __hash__(self):
        return hash(self.offset)

    def getOffset(self):
        return self.offset


class Instruction:
    def __init__(self, address, digits):
        self.address, self.code = Address(address), bytes.fromhex(digits)

    def getAddress(self):
        return self.address

    def getBytes(self):  # Java's bytes have signs
        return [b - 256 if b > 127 else b for b in self.code]


class Area:
    """A selection, or a basic block."""

    def __init__(self, first, last):
        self.first, self.last = first, last

    def isEmpty(self):
        return self.first == self.last


class Ghidra:
    """What a script finds in its globals."""

    def __init__(self, arguments, processor='x86', code=CODE, selection=True, answers=()):
        self.instructions, at = [], BASE
        for digits in code:
            self.instructions.append(Instruction(at, digits))
            at += len(digits) // 2
        whole = Area(0, len(code))
        self.comments, self.lines, self.errors = {}, [], []
        self.asked, self.answers = [], list(answers)
        listing = types.SimpleNamespace(getInstructions=lambda area, forward: self.instructions[area.first:area.last])
        program = types.SimpleNamespace(
            getListing=lambda: listing,
            getLanguage=lambda: types.SimpleNamespace(getProcessor=lambda: processor))
        block = types.ModuleType('ghidra.program.model.block')
        block.BasicBlockModel = lambda p: types.SimpleNamespace(getFirstCodeBlockContaining=lambda a, m: whole)
        for name in ('ghidra', 'ghidra.program', 'ghidra.program.model'):
            sys.modules[name] = types.ModuleType(name)
        sys.modules['ghidra.program.model.block'] = block
        self.names = {
            'currentProgram': program, 'currentSelection': whole if selection else None, 'monitor': None,
            'currentAddress': Address(BASE), 'getScriptArgs': lambda: arguments, 'println': self.lines.append,
            'printerr': self.errors.append, 'getEOLComment': self.comments.get,
            'setEOLComment': self.comments.__setitem__, 'askString': self.ask,
        }

    def ask(self, title, what, default):
        self.asked.append(what)
        return self.answers.pop(0) or default

    def run(self):
        runpy.run_path(os.path.join(ROOT, 'contrib/ghidra/TactCycles.py'), self.names)
        return self


@contextlib.contextmanager
def service(*options):
    with tempfile.TemporaryFile('w+') as log:
        p = subprocess.Popen([args.tact, 'serve', '-j', '1', '--port', '0', *options], stdin=subprocess.DEVNULL, stderr=log)
        try:
            m = None
            while not m and p.poll() is None:
                time.sleep(0.02)
                m = re.search(r'serving at (http://\S+)/', os.pread(log.fileno(), 4096, 0).decode())
            if not m:
                raise RuntimeError(os.pread(log.fileno(), 4096, 0).decode())
            yield m.group(1)
        finally:
            p.terminate()
            p.wait(60)


def rows(cpu='SKL', code=CODE):
    """What the command line says: start and end of each instruction."""
    out = subprocess.run([args.tact, 'simulate', '-q', '-a', cpu, '-f', 'json', '--timeline', '--iterations', '1', '--from', '1',
                          '--alignment', str(BASE % 64),
                          '-x', ''.join(code)], capture_output=True, check=True).stdout
    d = json.loads(out)
    zero = min(u['issued'] for u in d['timeline'])
    found = []
    for i in range(len(code)):
        uops = [u for u in d['timeline'] if u['instruction'] == i]
        found.append('%d-%d' % (min(u['issued'] for u in uops) - zero, max(u['retired'] for u in uops) - zero))
    return found, d


def equal(a, b):
    if a != b:
        raise AssertionError('%r is not %r' % (a, b))


def ghidra_comments(url):
    g = Ghidra([url, 'SKL'])
    mine = g.instructions[1].address
    g.comments[mine] = 'the product'
    g.run()
    equal(g.errors, [])
    want, d = rows()
    for i, span in zip(g.instructions, want):
        comment = g.comments[i.address]
        if '[tact SKL: %s' % span not in comment:
            raise AssertionError('%r does not say %s' % (comment, span))
    equal(g.comments[mine].startswith('the product [tact SKL: '), True)
    equal('p1 1.00' in g.comments[mine], True)
    equal(g.lines, ['tact: SKL: %.2f cycles per iteration, limited by %s; 3 instructions'
                    % (d['cycles_per_iteration'], ', '.join(d['bottlenecks']))])
    before = dict(g.comments)
    g.run()  # again: replaced, not added
    equal(g.comments, before)


def ghidra_questions_and_blocks(url):
    g = Ghidra([], selection=False, answers=[url, 'ZEN4']).run()
    equal((g.errors, len(g.comments), len(g.asked)), ([], 3, 2))
    equal('[tact ZEN4: ' in g.comments[Address(BASE)], True)
    g = Ghidra([url, 'neoverse-n1'], processor='AARCH64', code=['200040f9', '4200008b']).run()
    if 'tact_llvm.so' in ''.join(g.errors) or 'unknown microarchitecture' in ''.join(g.errors):
        print('    without tact_llvm.so: other sets were not tried')
    else:
        equal((g.errors, len(g.comments)), ([], 2))


def ghidra_failures(url):
    for g, word in ((Ghidra(['http://127.0.0.1:1', 'SKL']), 'tact serve'), (Ghidra([url, 'XXX']), 'unknown microarchitecture'),
                    (Ghidra([url], processor='MIPS'), 'MIPS'), (Ghidra([url, 'SKL'], code=['06']), 'refuses'),
                    (Ghidra([url, 'SKL'], code=[]), 'no instructions')):
        g.names['currentSelection'] = g.names['currentSelection'] if g.instructions else Area(0, 0)
        g.run()
        equal((len(g.errors), g.comments), (1, {}))
        if word not in g.errors[0] and not (word == 'refuses' and 'tact' in g.errors[0]):
            raise AssertionError(g.errors)
    with tempfile.TemporaryDirectory(dir='/tmp') as place, service('--token-file', place + '/token') as other:
        equal('token' in Ghidra([other, 'SKL']).run().errors[0], True)
        equal(Ghidra([other, 'SKL', place + '/token']).run().errors, [])


def binaryninja(url):
    said, registered, values, comments = [], {}, {'tact.url': url, 'tact.cpu': '', 'tact.token': ''}, {BASE: 'mine'}

    class Task:
        def __init__(self, title, can_cancel):
            pass

        def start(self):
            self.run()

    class Settings:
        def register_group(self, name, title):
            pass

        def register_setting(self, name, properties):
            equal(set(json.loads(properties)), {'title', 'type', 'default', 'description'})

        def get_string(self, name):
            return values[name]

    fake = types.ModuleType('binaryninja')
    fake.BackgroundTaskThread, fake.Settings = Task, Settings
    fake.log_error = fake.log_info = said.append
    fake.PluginCommand = types.SimpleNamespace(register_for_range=lambda name, about, f: registered.update({name: f}))
    sys.modules['binaryninja'] = fake
    runpy.run_path(os.path.join(ROOT, 'contrib/binaryninja/tact_cycles.py'))
    code = bytes.fromhex(''.join(CODE))
    holder = types.SimpleNamespace(get_comment_at=lambda a: comments.get(a, ''), set_comment_at=comments.__setitem__)
    view = types.SimpleNamespace(
        arch=types.SimpleNamespace(name='x86_64'), read=lambda a, n: code[a - BASE:a - BASE + n],
        get_functions_containing=lambda a: [holder] if a == BASE else [], get_comment_at=holder.get_comment_at,
        set_comment_at=holder.set_comment_at, undoable_transaction=contextlib.nullcontext)
    run = registered['tact\\Cycles']
    run(view, BASE, len(code))
    want, _ = rows()
    equal(len(comments), 3)
    equal(comments[BASE].startswith('mine [tact SKL: ' + want[0]), True)
    equal('3 instructions' in said.pop(), True)
    view.arch.name = 'mips32'
    run(view, BASE, len(code))
    equal('mips32' in said.pop(), True)
    view.arch.name = 'x86_64'
    values['tact.url'] = 'http://127.0.0.1:1'
    run(view, BASE, len(code))
    equal('tact serve' in said.pop(), True)


def main():
    global args
    parser = argparse.ArgumentParser()
    parser.add_argument('--tact', default=os.path.join(ROOT, 'build/tact'))
    args = parser.parse_args()
    args.tact = os.path.abspath(args.tact)
    passed = failed = 0
    tests = (ghidra_comments, ghidra_questions_and_blocks, ghidra_failures, binaryninja)
    try:
        with service() as url:
            for test in tests:
                try:
                    test(url)
                    passed += 1
                except Exception:
                    failed += 1
                    print('FAIL %s\n%s' % (test.__name__, traceback.format_exc()))
    except RuntimeError as why:
        if 'libmicrohttpd' not in str(why) and 'Landlock' not in str(why):
            raise
        print('skip: %s\n0 passed, 0 failed, %d skipped' % (str(why).strip().splitlines()[-1], len(tests)))
        return 0
    print('%d passed, %d failed, 0 skipped' % (passed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
