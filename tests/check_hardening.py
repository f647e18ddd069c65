#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks at the programs and libraries that were built: what keeps a mistake from becoming an attack is in there.

usage: check_hardening.py [--build DIR]

Tables that the loader writes are read only before main begins, no stack can be executed, code lies at random
addresses and is never written to, no folder of the build is searched for libraries; canaries guard the stack,
and copies with known sizes are checked.  The last line is "N passed, M failed, K skipped".
"""
import argparse
import os
import re
import subprocess
import sys

FILES = ['tact', 'libtact.so', 'tact_trace.so', 'tact_llvm.so']
COPIES = ['tact', 'libtact.so']  # enough code that the compiler knows sizes in some of it


def read(path, *options):
    return subprocess.run(['readelf', '-W', *options, path], capture_output=True, text=True, check=True).stdout


def is_instrumented(path):
    return bool(re.search(r'__(asan|tsan|ubsan)_', read(path, '--dyn-syms')))


def wrong(path, name):
    segments, dynamic, symbols = read(path, '-l'), read(path, '-d'), read(path, '--dyn-syms')
    stack = re.search(r'GNU_STACK.*', segments)
    if 'GNU_RELRO' not in segments:
        yield 'no GNU_RELRO'
    if not re.search(r'BIND_NOW|Flags:.*\bNOW\b', dynamic):
        yield 'no BIND_NOW'
    if not stack or re.search(r'\bRWE\b', stack.group()):
        yield 'the stack can be executed'
    if re.search(r'LOAD .*\bRWE\b', segments):
        yield 'a segment can be written and executed'
    if not re.search(r'DYN \(', read(path, '-h')):
        yield 'it has a fixed address'
    if re.search(r'RPATH|RUNPATH', dynamic):
        yield 'it searches a folder of its own for libraries'
    if 'TEXTREL' in dynamic:
        yield 'its code is relocated'
    if '__stack_chk_fail' not in symbols:
        yield 'no stack protector'
    if name in COPIES and not re.search(r'__(memset|vsnprintf|asprintf)_chk', symbols):
        yield 'no FORTIFY_SOURCE'


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', default='build')
    args = parser.parse_args()
    passed = failed = skipped = 0
    for name in FILES:
        path = os.path.join(args.build, name)
        if not os.path.exists(path) or is_instrumented(path):
            print('skip %s: it is %s' % (name, 'instrumented' if os.path.exists(path) else 'not there'))
            skipped += 1
            continue
        found = list(wrong(path, name))
        print('%s %s%s' % ('FAIL' if found else 'ok', name, ''.join('\n    ' + why for why in found)))
        failed += bool(found)
        passed += not found
    print('%d passed, %d failed, %d skipped' % (passed, failed, skipped))
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
