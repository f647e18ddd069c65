#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python package: its structs against the headers, its doctests, its arrays, its wheel.

usage: run.py --build DIR [--cc CC]

Runs check_package.py with a Python that has numpy, and again from the wheel in a virtual environment
of its own.  The last line is "N passed, M failed, K skipped".
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def python_with_numpy():
    for python in (sys.executable, '/usr/bin/python3'):
        if os.path.exists(python) and subprocess.run(
                [python, '-c', 'import numpy'], capture_output=True).returncode == 0:
            return python
    return None


class Tally:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add(self, name, ok, output=''):
        self.passed += ok
        self.failed += not ok
        print('%s %s' % ('ok  ' if ok else 'FAIL', name))
        if not ok:
            print(output)

    def skip(self, name, why):
        self.skipped += 1
        print('skip %s: %s' % (name, why))

    def run_package_tests(self, title, python, env):
        p = subprocess.run([python, os.path.join(HERE, 'check_package.py')], env=env, cwd=ROOT,
                           capture_output=True, text=True)
        m = re.search(r'^Ran (\d+) tests', p.stderr, re.M)
        ran = int(m.group(1)) if m else 0
        skipped = sum(map(int, re.findall(r'skipped=(\d+)', p.stderr)))
        bad = sum(map(int, re.findall(r'(?:failures|errors)=(\d+)', p.stderr)))
        self.passed += ran - skipped - bad
        self.skipped += skipped
        for line in re.findall(r"^(\w+) .*skipped '(.*)'$", p.stderr, re.M):
            print('skip %s %s: %s' % (title, *line))
        if p.returncode or not ran:
            self.failed += max(bad, 1)
            print(p.stdout + p.stderr)


def check_wheel(tally, python, build):
    """Two wheels are the same byte by byte, and work without the tree."""
    with tempfile.TemporaryDirectory() as place:
        env = dict(os.environ, TACT_BUILD=build)
        wheels = []
        for name in 'ab':
            out = os.path.join(place, name)
            p = subprocess.run([python, os.path.join(ROOT, 'python', 'tact_build.py'), out], env=env,
                               capture_output=True, text=True)
            wheels.append(sorted(glob.glob(out + '/*')))
            if p.returncode or len(wheels[-1]) != 2:
                tally.add('wheel', False, p.stdout + p.stderr)
                return
        same = all(open(a, 'rb').read() == open(b, 'rb').read() for a, b in zip(*wheels))
        tally.add('wheel and source archive are reproducible', same)
        venv = os.path.join(place, 'venv')
        p = subprocess.run([python, '-m', 'venv', '--system-site-packages', venv],
                           capture_output=True, text=True)
        if p.returncode:
            tally.skip('installed wheel', 'this Python makes no virtual environments')
            return
        inside = os.path.join(venv, 'bin', 'python')
        wheel = next(w for w in wheels[0] if w.endswith('.whl'))
        p = subprocess.run([inside, '-m', 'pip', 'install', '--no-index', '--no-deps', '-q', wheel],
                           capture_output=True, text=True)
        tally.add('pip installs the wheel', p.returncode == 0, p.stderr)
        clean = {k: v for k, v in os.environ.items() if not k.startswith(('TACT_', 'PYTHON'))}
        tally.run_package_tests('installed', inside, dict(clean, TACT_CHECK_CC=''))
        check_source_archive(tally, inside, next(w for w in wheels[0] if w.endswith('.gz')), clean, build)


def check_source_archive(tally, python, archive, env, build):
    """What pip installs from it has no library, and takes the one that the system has."""
    p = subprocess.run([python, '-m', 'pip', 'install', '--no-index', '--no-deps', '--no-build-isolation',
                        '--force-reinstall', '-q', archive], env=env, capture_output=True, text=True)
    tally.add('pip installs the source archive', p.returncode == 0, p.stderr)
    code = "import tact; assert 'site-packages' in tact.__file__; print(tact.predict('4801d8', 'SKL').cycles)"
    p = subprocess.run([python, '-c', code], cwd='/', capture_output=True, text=True,
                       env=dict(env, TACT_LIBRARY=os.path.join(build, 'libtact.so.0')))
    tally.add('the source archive works with a library', p.stdout == '[1.]\n', p.stdout + p.stderr)
    p = subprocess.run([python, '-m', 'pip', 'show', '-f', 'tact'], env=env, capture_output=True, text=True)
    tally.add('it has the licence and no library', 'LICENSE' in p.stdout and 'native' not in p.stdout, p.stdout)


def check_types(tally, python):
    """The package says that it is typed (py.typed)."""
    if not shutil.which('mypy'):
        tally.skip('types', 'mypy is missing')
        return
    with tempfile.TemporaryDirectory() as cache:
        p = subprocess.run(['mypy', '--cache-dir', cache, '--python-executable', python, 'tact'],
                           cwd=os.path.join(ROOT, 'python'), capture_output=True, text=True)
    tally.add('types', p.returncode == 0, p.stdout + p.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--cc', default='cc')
    args = parser.parse_args()
    build = os.path.abspath(args.build)
    tally, python = Tally(), python_with_numpy()
    if python is None:
        tally.skip('python package', 'no Python here has numpy')
    else:
        tally.run_package_tests('in the tree', python, dict(
            os.environ, PYTHONPATH=os.path.join(ROOT, 'python'), TACT_CHECK_CC=args.cc,
            TACT_LIBRARY=os.path.join(build, 'libtact.so.0'), PYTHONDONTWRITEBYTECODE='1'))
        check_types(tally, python)
        check_wheel(tally, python, build)
    print('%d passed, %d failed, %d skipped' % (tally.passed, tally.failed, tally.skipped))
    return 1 if tally.failed else 0


sys.exit(main())
