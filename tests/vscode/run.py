#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the extension for Visual Studio Code against a service, in a stand-in for the editor.

usage: run.py [--tact PATH]

It takes node 18 or later; without, everything is skipped with the reason. The last line of the output is
"N passed, M failed, K skipped".
"""
import argparse
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
TIMEOUT = 300


def lacking(tact):
    """Why the extension cannot be run here; '' if it can."""
    if not shutil.which('node'):
        return 'node is not installed'
    version = subprocess.run(['node', '--version'], capture_output=True, text=True).stdout.strip()
    if int((re.match(r'v(\d+)', version) or [0, 0])[1]) < 18:
        return 'node is %s, older than 18' % version
    if not shutil.which('cc'):
        return 'there is no compiler (cc)'
    # What lacks to serve, it says; its input has ended already.
    p = subprocess.run([tact, 'serve', '--port=0', '--until-eof'], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                       timeout=60)
    return (p.stderr.strip() or 'tact serve fails').splitlines()[-1] if p.returncode == 3 else ''


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--tact', default=os.path.join(TOP, 'build/tact'))
    tact = os.path.abspath(parser.parse_args().tact)
    why = lacking(tact)
    if why:
        print('skip: %s\n0 passed, 0 failed, 1 skipped' % why)
        return 0
    p = subprocess.run(['node', '--test', os.path.join(HERE, 'extension_test.js')], stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT,
                       env=dict(os.environ, TACT=tact, NODE_OPTIONS='', LC_ALL='C'))
    # Tests of a file are nested in node 18.
    good = re.findall(r'^ *ok \d+ - (?!.*extension_test\.js).*', p.stdout, re.M)
    skipped = [line for line in good if '# SKIP' in line]
    passed = len(good) - len(skipped)
    failed = len(re.findall(r'^ *not ok \d+ - (?!.*extension_test\.js)', p.stdout, re.M))
    if p.returncode or failed or not passed:
        print(p.stdout)
        failed = max(failed, 1)
    for line in skipped:
        print(line.strip())
    print('%d passed, %d failed, %d skipped' % (passed, failed, len(skipped)))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
