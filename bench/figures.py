#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Keeps the figures of the documents in step with what was measured.

usage: figures.py [--tact PROGRAM] [--build DIR] [--data DIR] measure GROUP...
       figures.py write [FILE...]
       figures.py check [FILE...]

doc/figures.json holds the figures in groups, each with the machine that it was measured on and the
command that measured it.  A document marks a figure with comments that do not show:

    some <!--f:speed.predict ,.0f-->650,000<!--/f--> blocks per second

The word after "f:" is GROUP.NAME, what follows a format of Python's format().  A figure may be
multiplied before it is formatted: <!--f:speed.predict*1e-3 .0f-->.  Figures of doc/accuracy.json are
named accuracy.SET.MODEL.COLUMN, where SET is a line of its first table: accuracy.icl_u.clean.sim.mape.

measure  measures the groups that are named (speed start size embed quality) and rewrites the documents
write    puts the figures of the file into the documents
check    fails where a document says something else than the file

Times are processor time, so that other programs on the machine hardly change them.
"""
import argparse
import atexit
import functools
import glob
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILE = os.path.join(TOP, 'doc/figures.json')
ACCURACY = os.path.join(TOP, 'doc/accuracy.json')
MARK = re.compile(r'<!--f:([\w.]+)(?:\*([\d.e+-]+))?(?: (\S+?))?-->(.*?)<!--/f-->')


def documents():
    return [*sorted(glob.glob(TOP + '/*.md')), *sorted(glob.glob(TOP + '/doc/**/*.md', recursive=True)),
            *sorted(glob.glob(TOP + '/data/*.md'))]


def load(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding='utf-8') as f:
        return json.load(f)


def accuracy_values():
    """Figures of the first table of doc/accuracy.json by name."""
    values = {}
    for row in load(ACCURACY).get('overview', {}).get('rows', []):
        for column in ('blocks', 'mape', 'median', 'bias', 'within5', 'within10', 'tau', 'failed'):
            key = '%s.%s%s.%s' % (row['set'], 'clean.' if row['clean'] else '', row['model'], column)
            values[key] = row[column]
    for row in load(ACCURACY).get('peers', {}).get('rows', []):
        for model, (mape, tau) in row['scores'].items():
            name = '%s.peers%s.%s' % (row['set'], '_uica' if 'uiCA' in row['scores'] else '',
                                      re.sub(r'\W', '_', model))
            values[name + '.mape'], values[name + '.tau'] = mape, tau
            values[name + '.blocks'] = row['blocks']
    mix = load(ACCURACY).get('mix', {})
    for name, value in mix.get('average', {}).items():
        values['mix.' + name] = value
    return values


def all_values():
    values = {'accuracy.' + k: v for k, v in accuracy_values().items()}
    for group, content in load(FILE).items():
        if isinstance(content, dict):
            for name, value in content.get('values', {}).items():
                values['%s.%s' % (group, name)] = value
            if 'machine' in content:
                values[group + '.machine'] = content['machine']
    return values


def shown(values, key, factor, form):
    value = values[key]
    if isinstance(value, str):
        return value
    return format(value * float(factor) if factor else value, form or '')


def update(paths, write):
    """Problems: where a document and the file differ, or a figure does not exist."""
    values, problems = all_values(), []
    for path in paths:
        with open(path, encoding='utf-8') as f:
            text = f.read()

        def put(m):
            key, factor, form, old = m.groups()
            line = text[:m.start()].count('\n') + 1
            where = '%s:%d: %s' % (os.path.relpath(path, TOP), line, key)
            if key not in values:
                problems.append('%s: there is no such figure' % where)
                return m.group(0)
            new = shown(values, key, factor, form)
            if new != old and not write:
                problems.append('%s is %s in the file, the document says %s' % (where, new, old))
            head = m.group(0)[:m.group(0).index('-->') + 3]
            return head + new + '<!--/f-->'
        fresh = MARK.sub(put, text)
        if write and fresh != text:
            with open(path, 'w', encoding='utf-8') as f:
                f.write(fresh)
    return problems


# ---- measuring ----

def machine():
    name = platform.machine()
    with open('/proc/cpuinfo') as f:
        text = f.read()
    brand = re.search(r'model name\s*: (.*)', text)
    family = re.search(r'cpu family\s*: (\d+)', text)
    model = re.search(r'model\s*: (\d+)', text)
    if brand:
        name = brand.group(1).strip()
    if family and model:
        name += ' (family %s, model %s)' % (family.group(1), model.group(1))
    return name + (', virtual machine' if 'hypervisor' in text else '')


# Python's own memory would count as that of the programs that it starts: a small one starts them.
LAUNCHER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct rusage u;
	int status;
	pid_t pid = fork();
	if (argc < 2 || pid < 0)
		return 125;
	if (!pid) {
		if (freopen("/dev/null", "r", stdin) && freopen("/dev/null", "w", stdout) &&
		    freopen("/dev/null", "w", stderr))
			execv(argv[1], argv + 1);
		_exit(127);
	}
	if (wait4(pid, &status, 0, &u) != pid)
		return 125;
	printf("%.6f %ld\n", (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec), u.ru_maxrss);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}
"""


@functools.lru_cache(maxsize=None)
def launcher():
    directory = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, directory)
    program = os.path.join(directory, 'launch')
    subprocess.run(['cc', '-O1', '-x', 'c', '-o', program, '-'], input=LAUNCHER, text=True, check=True)
    return program


def timed(command):
    """Processor seconds and peak memory in MB of one command."""
    p = subprocess.run([launcher(), *command], capture_output=True, text=True)
    if p.returncode not in (0, 1):
        sys.exit('figures.py: %s ends with %d' % (' '.join(command), p.returncode))
    seconds, kib = p.stdout.split()
    return float(seconds), int(kib) / 1024


def some_blocks(data, n, path):
    """n blocks of BHive, evenly from all of its files."""
    rows = []
    for name in sorted(glob.glob(os.path.join(data, 'bhive', '*.csv'))):
        with open(name) as f:
            rows += [line.split(',')[0] for line in f]
    if not rows:
        sys.exit('figures.py: there are no blocks in %s/bhive' % data)
    step = max(1, len(rows) // n)
    with open(path, 'w') as f:
        f.writelines(r.strip() + '\n' for r in rows[::step][:n])
    return len(rows[::step][:n])


def measure_speed(args):
    values = {}
    bench = [os.path.join(args.build, 'bench/bench'), '--tact', args.tact, '--library',
             os.path.join(args.build, 'libtact.so'), '--blocks', os.path.join(args.data, 'bhive')]
    out = subprocess.run(bench, capture_output=True, text=True, check=True, cwd=TOP).stdout
    rows = re.findall(r'^(\w+) +(\d+) +\d+% +(\d+) +\d+% +(\d+) +(\d+)$', out, re.M)
    unroll, loop, simulated, simulated_loop = ([int(r[i]) for r in rows] for i in range(1, 5))
    values['blocks'] = int(re.match(r'(\d+) blocks', out).group(1))
    values['unroll_low'], values['unroll_high'] = min(unroll), max(unroll)
    values['loop_low'], values['loop_high'] = min(loop), max(loop)
    values['simulate_low'], values['simulate_high'] = min(simulated), max(simulated)
    values['simulate_loop_low'], values['simulate_loop_high'] = min(simulated_loop), max(simulated_loop)
    values['zydis'] = int(re.search(r'Zydis alone.* (\d+) blocks/s', out).group(1))
    m = re.search(r'llvm-mca \(skylake\) +(\d+) blocks/s', out)
    if m:
        values['llvm_mca'] = int(m.group(1))
        text = subprocess.run(['llvm-mca', '--version'], capture_output=True, text=True).stdout
        values['llvm_mca_version'] = int(re.search(r'version (\d+)', text).group(1))
    with tempfile.TemporaryDirectory() as d:
        path, db = os.path.join(d, 'blocks.csv'), os.path.join(d, 'blocks.db')
        n = some_blocks(args.data, 200000, path)
        seconds, values['predict_mb'] = timed([args.tact, 'predict', '-q', '-j', '1', '-a', 'SKL', '-m',
                                               'unroll', '-f', 'csv', path])
        values['predict'] = n / seconds
        values['dataset'] = n / timed([args.tact, 'dataset', 'import', '-q', db, path])[0]
        n = some_blocks(args.data, 20000, path)
        for mode in ('unroll', 'loop'):
            seconds, _ = timed([args.tact, 'simulate', '-q', '-j', '1', '-a', 'SKL', '-m', mode, '-f',
                                'csv', path])
            values['simulate_' + mode] = n / seconds
        seconds, _ = timed([args.tact, 'predict', '-q', '-j', '1', '-a', 'SKL', '-m', 'unroll', '--model',
                            'mca', '-f', 'csv', path])
        values['mca'] = n / seconds
        model = os.path.join(d, 'model')
        timed([args.tact, 'classify', '-q', '--train', model, path])
        values['classify'] = n / timed([args.tact, 'classify', '-q', '--apply', model, '-f', 'csv', path])[0]
        n = some_blocks(args.data, 200, path)
        out = subprocess.run([args.tact, 'measure', '-q', '-j', '1', '-m', 'unroll', '-f', 'csv', path],
                             capture_output=True, text=True)
        if out.returncode in (0, 1):
            values['measure'] = n / timed([args.tact, 'measure', '-q', '-j', '1', '-m', 'unroll', '-f',
                                           'csv', path])[0]
            values['measure_ms'] = 1e3 / values['measure']
    values['predict_us'] = 1e6 / values['predict']
    values['dataset_us'] = 1e6 / values['dataset']
    values['classify_us'] = 1e6 / values['classify']
    values['simulate_ms'] = 1e3 / values['simulate_unroll']
    return values


def median_start(command):
    runs = [timed(command) for _ in range(51)]
    return 1e3 * statistics.median(r[0] for r in runs), statistics.median(r[1] for r in runs)


def measure_start(args):
    """A program that does nothing but predict one block: tact, and examples/predict.c."""
    values = {}
    values['tact_ms'], values['tact_mb'] = median_start([args.tact, 'predict', '-q', '-a', 'SKL', '-x',
                                                         '4801d8'])
    with tempfile.TemporaryDirectory() as d:
        program = os.path.join(d, 'predict')
        subprocess.run(['cc', '-O2', '-I' + os.path.join(TOP, 'include'), '-o', program,
                        os.path.join(TOP, 'examples/predict.c'), os.path.join(args.build, 'libtact.so'),
                        '-Wl,-rpath,' + d], check=True)
        os.symlink(os.path.join(args.build, 'libtact.so'), os.path.join(d, 'libtact.so.0'))
        values['library_ms'], values['library_mb'] = median_start([program, 'SKL', '4801d8'])
    return values


def loaded(path):
    """Bytes of a shared library that are loaded into memory."""
    out = subprocess.run(['readelf', '-lW', path], capture_output=True, text=True, check=True).stdout
    return sum(int(m, 16) for m in re.findall(r'^ +LOAD +\S+ +\S+ +\S+ +\S+ +(0x\w+)', out, re.M))


def measure_size(args):
    tables = glob.glob(TOP + '/data/insn/*.tsv')
    lines = sum(1 for t in tables for line in open(t) if not line.startswith('#'))
    forms = {line.split('\t')[0] for t in tables for line in open(t) if not line.startswith('#')}
    out = subprocess.run(['size', '-A', os.path.join(args.build, 'lib/arch/arch.o'),
                          os.path.join(args.build, 'lib/isa/forms.o')], capture_output=True, text=True,
                         check=True).stdout
    constants = sum(int(n) for n in re.findall(r'^\.(?:rodata|data\.rel\.ro)\S* +(\d+)', out, re.M))
    return {'library_mb': loaded(os.path.join(args.build, 'libtact.so')) / 1e6, 'table_lines': lines,
            'hostile': sum(1 for line in open(TOP + '/tests/hw/hostile.txt') if line.strip() and line[0] != '#'),
            'forms': len(forms), 'archs': len(glob.glob(TOP + '/data/arch/*.arch')),
            'table_mb': constants / 1e6}


def measure_embed(args):
    """bench/embed.c says its figures as lines NAME VALUE."""
    out = subprocess.run([os.path.join(args.build, 'bench/embed'), '--figures'], capture_output=True,
                         text=True, check=True, cwd=TOP).stdout
    return {name: float(value) for name, value in re.findall(r'^(\w+)[ \t]+([\d.]+)$', out, re.M)}


def measure_quality(args):
    """How well tact measure does on this machine: bench/measure_quality.py."""
    out = subprocess.run([sys.executable, os.path.join(TOP, 'bench/measure_quality.py'), '--tact', args.tact,
                          '--data', args.data, '--figures'], capture_output=True, text=True, check=True).stdout
    return {name: float(value) if '.' in value else int(value)
            for name, value in re.findall(r'^(\w+) ([\d.]+)$', out, re.M)}


GROUPS = {'speed': measure_speed, 'start': measure_start, 'size': measure_size, 'embed': measure_embed,
          'quality': measure_quality}


def rounded(value):
    return float('%.4g' % value) if isinstance(value, float) else value


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--build', default='build')
    parser.add_argument('--tact')
    parser.add_argument('--data', default=os.path.join(TOP, '../shared/data'))
    parser.add_argument('action', choices=('measure', 'write', 'check'))
    parser.add_argument('rest', nargs='*')
    args = parser.parse_args()
    args.build = os.path.join(TOP, args.build)
    args.tact = os.path.abspath(args.tact or os.path.join(args.build, 'tact'))
    if args.action == 'measure':
        figures = load(FILE)
        for group in args.rest or GROUPS:
            figures[group] = {'command': 'bench/figures.py measure %s' % group, 'machine': machine(),
                              'values': {k: rounded(v) for k, v in GROUPS[group](args).items()}}
            with open(FILE, 'w', encoding='utf-8') as f:
                json.dump(figures, f, indent=1, sort_keys=True)
                f.write('\n')
        args.rest = []
    problems = update(args.rest or documents(), args.action != 'check')
    for p in problems:
        print('figures.py: ' + p, file=sys.stderr)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
