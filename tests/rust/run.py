#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The crate tact-sys: its declarations are those of the headers, and its tests pass against an installed library.

usage: run.py [--build BUILD] [--cc CC]

Without cargo, what needs it is skipped with the reason. The last line of the output is "N passed, M failed, K skipped".
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CRATE = os.path.join(TOP, 'contrib/rust/tact-sys')
GENERATE = os.path.join(TOP, 'contrib/rust/generate.py')
TIMEOUT = 600

failed = passed = 0


def check(name, good, why=''):
    global failed, passed
    passed += bool(good)
    failed += not good
    print('%s %s%s' % ('ok' if good else 'FAIL', name, '' if good else ': %s' % why))


def call(words, **more):
    p = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                       timeout=TIMEOUT, **more)
    return p.returncode, p.stdout


def declarations():
    status, output = call([sys.executable, GENERATE, '--check', '--cc', args.cc])
    check('bindings.rs is what the headers say', status == 0, output)
    with open(os.path.join(CRATE, 'src/bindings.rs')) as f:
        ours = set(re.findall(r'^    pub (?:fn|static) (\w+)', f.read(), re.M))
    with open(os.path.join(TOP, 'gen/symbols.txt')) as f:
        theirs = {line.split()[1] for line in f if line.startswith('TACT_')}
    check('every exported name is declared', ours == theirs, sorted(ours ^ theirs))
    with open(os.path.join(CRATE, 'Cargo.toml')) as f:
        version = re.search(r'^version = "(.*)"', f.read(), re.M).group(1)
    with open(os.path.join(TOP, 'include/tact/version.h')) as f:
        numbers = re.findall(r'#define TACT_VERSION_\w+ (\d+)', f.read())
    check('the crate has the version of the library', version == '.'.join(numbers[:3]), version)


def not_understood(place):
    """A declaration that is new in kind is an error, not a guess."""
    include = os.path.join(place, 'include')
    shutil.copytree(os.path.join(TOP, 'include'), include)
    with open(os.path.join(include, 'tact/tact.h'), 'a') as f:
        f.write('union tact_both { int a; float b; };\n')
    status, output = call([sys.executable, GENERATE, '--check', '--cc', args.cc, '--include', include])
    check('what the generator does not know is an error', status == 1 and 'union tact_both' in output, output)


def crate(place):
    prefix, copy = os.path.join(place, 'prefix'), os.path.join(place, 'tact-sys')
    status, output = call(['make', '--no-print-directory', '-s', 'install', 'BUILD=' + args.build, 'PREFIX=' + prefix], cwd=TOP)
    if status:
        check('it is installed', False, output)
        return
    # Cargo writes beside the sources.
    shutil.copytree(CRATE, copy, ignore=shutil.ignore_patterns('target', 'Cargo.lock'))
    env = dict(os.environ, PKG_CONFIG_PATH=prefix + '/lib/pkgconfig', LD_LIBRARY_PATH=prefix + '/lib', CC=args.cc,
               CARGO_TARGET_DIR=os.path.join(place, 'target'), CARGO_HOME=os.path.join(place, 'home'), CARGO_NET_OFFLINE='true')
    if 'RUSTUP_HOME' not in env and os.path.isdir(os.path.expanduser('~/.rustup')):
        env['RUSTUP_HOME'] = os.path.expanduser('~/.rustup')
    status, output = call(['cargo', 'test', '--offline'], cwd=copy, env=env)
    good = re.findall(r'^test (.+) \.\.\. ok$', output, re.M)
    check('cargo test', status == 0 and len(good) == 5 and 'warning:' not in output, output)
    run = ['cargo', 'run', '-q', '--offline', '--example', 'predict', '--']
    status, output = call([*run, 'SKL', '4801d8'], cwd=copy, env=env)
    check('the example predicts', (status, output) == (0, 'SKL: 1.00 cycles per iteration, limited by Dependencies\n'), output)
    status, output = call([*run, 'SKL', '06'], cwd=copy, env=env)
    check('the example says what is wrong', status == 1 and 'byte 0' in output, output)
    env.update(PKG_CONFIG_PATH='/nowhere', PKG_CONFIG_LIBDIR='/nowhere')
    status, output = call(['cargo', 'build', '--offline'], cwd=copy, env=env)
    check('without the library it says so', status != 0 and 'PKG_CONFIG_PATH' in output, output)


def main():
    global args
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default=os.path.join(TOP, 'build'))
    parser.add_argument('--cc', default='cc')
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    skipped = 0
    with tempfile.TemporaryDirectory(dir='/tmp', prefix='tact-rust-') as place:
        declarations()
        not_understood(place)
        status, version = call(['cargo', '--version']) if shutil.which('cargo') else (1, '')
        if status:
            print('skip: cargo is not installed')
            skipped = 1
        elif re.search(b'__[at]san_init', open(os.path.join(args.build, 'libtact.so'), 'rb').read()):
            print('skip: the library is built with a sanitizer')
            skipped = 1
        else:
            crate(place)
    print('%d passed, %d failed, %d skipped' % (passed, failed, skipped))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
