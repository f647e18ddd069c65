#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How fast tact trace is: million instructions per second, next to QEMU alone, with an empty plugin, and with one that counts.

usage: trace_speed.py [--tact PROGRAM] [-a ARCH] [--runs N] [-L DIR] [PROGRAM...]

PROGRAM: gzip sqlite3 python3 perl clang (default: those that are installed).  -L: those of a sysroot (sysroots.sh), for
another machine; natively they do not run.  The best of N runs counts.
Memory is the largest resident set of tact itself.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SQL = """create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 60000)
insert into t select i, 'name ' || (i * 7919 % 1000), i * 0.5 from n;
create index x on t(b);
select b, count(*), sum(c) from t group by b order by 3 desc limit 5;
select count(*) from t u join t v on u.a = v.a + 1 where u.b > v.b;
"""
PYTHON = """
d = {}
for i in range(60000):
    k = str(i * 7919 % 1000)
    d[k] = d.get(k, 0) + i
print(sum(sorted(d.values())[:10]))
"""
PERL = """my %w; open my $f, '<', 'text'; while (<$f>) { $w{lc $_}++ for /(\\w+)/g; last if $. > 20000 }
my @k = sort { $w{$b} <=> $w{$a} || $a cmp $b } keys %w; print "$_ $w{$_}\\n" for @k[0..4];
"""
C = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { struct node *next; int value; char name[16]; };
static struct node *add(struct node *list, int value) {
	struct node *n = malloc(sizeof(*n)); n->next = list; n->value = value; snprintf(n->name, 16, "%d", value); return n; }
static int total(const struct node *list) { int s = 0; for (; list; list = list->next) s += list->value + (int)strlen(list->name); return s; }
int main(int argc, char **argv) { struct node *l = NULL; for (int i = 0; i < argc * 100; i++) l = add(l, i); printf("%d\\n", total(l)); return 0; }
"""


def workloads(directory):
    text = os.path.join(directory, 'text')
    with open(text, 'wb') as f:
        data = b''.join(open(os.path.join(ROOT, p), 'rb').read() for p in
                        ('README.md', 'doc/formats.md', 'lib/sim/pipeline.c', 'lib/trace/events.c'))
        f.write((data * 40)[:3000000])
    for name, content in (('q.sql', SQL), ('p.py', PYTHON), ('p.pl', PERL), ('c.c', C)):
        with open(os.path.join(directory, name), 'w') as f:
            f.write(content)
    clang = next((p for p in ('clang', 'clang-14', 'clang-16', 'clang-19') if shutil.which(p)), 'clang')
    return {'gzip': ['gzip', '-c', 'text'],
            'sqlite3': ['sqlite3', '-init', 'q.sql', ':memory:', '.quit'],
            'python3': ['python3', '-I', 'p.py'],
            'perl': ['perl', 'p.pl'],
            'clang': [clang, '-O2', '-c', 'c.c', '-o', 'c.o']}


class Run:
    def __init__(self, words, directory):
        start = time.monotonic()
        self.peak = 0
        p = subprocess.Popen(words, cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE)
        watcher = threading.Thread(target=self.watch, args=(p,))
        watcher.start()
        err = p.communicate()[1]
        self.seconds = time.monotonic() - start
        watcher.join()
        if p.returncode:
            sys.exit('%s: status %d: %s' % (' '.join(words), p.returncode, err.decode()))

    def watch(self, p):
        while p.poll() is None:
            try:
                for line in open('/proc/%d/status' % p.pid):
                    if line.startswith('VmHWM'):
                        self.peak = max(self.peak, int(line.split()[1]))
            except OSError:
                pass
            time.sleep(0.02)


# Version 1 of QEMU's interface for plugins; a call for each translated block makes QEMU prepare for more, as any plugin does.
EMPTY_PLUGIN = """#include <stdint.h>
__attribute__((visibility("default"))) int qemu_plugin_version = 1;
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*f)(uint64_t, void *));
static void translated(uint64_t id, void *tb) { (void)id, (void)tb; }
__attribute__((visibility("default"))) int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{ (void)info, (void)argc, (void)argv; qemu_plugin_register_vcpu_tb_trans_cb(id, translated); return 0; }
"""


def empty_plugin(directory):
    source, plugin = os.path.join(directory, 'empty.c'), os.path.join(directory, 'empty.so')
    with open(source, 'w') as f:
        f.write(EMPTY_PLUGIN)
    subprocess.run(['cc', '-O2', '-shared', '-fPIC', '-o', plugin, source], check=True)
    return plugin


def best(words, directory, runs):
    return min((Run(words, directory) for _ in range(runs)), key=lambda r: r.seconds)


def of_sysroot(root, name, words, tact, arch, directory, runs):
    """A row for a program of another machine, or None."""
    program = os.path.join(root, 'usr/bin', words[0])
    if not os.path.exists(program):
        return None
    with open(program, 'rb') as f:
        machine = {183: 'aarch64', 243: 'riscv64'}[int.from_bytes(f.read(20)[18:], 'little')]
    trace = [tact, 'trace', '-q', '-a', arch, '-L', root, '-o', 'r.json', '--', *words]
    full = best(trace, directory, runs)
    with open(os.path.join(directory, 'r.json')) as f:
        n = json.loads(f.readline())['instructions'] / 1e6
    plain = best([*trace[:3], '--core', *trace[3:]], directory, runs)
    alone = best(['qemu-' + machine, '-L', root, program, *words[1:]], directory, runs)
    return '| %s | %.0f | - | %.0f | - | - | %.0f | %.0f | %.0f |' % (
        name, n, n / alone.seconds, n / plain.seconds, n / full.seconds, max(plain.peak, full.peak) / 1024)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--tact', default=os.path.join(ROOT, 'build/tact'))
    parser.add_argument('-a', dest='arch', default='SKL')
    parser.add_argument('--runs', type=int, default=3)
    parser.add_argument('-L', dest='root')
    parser.add_argument('programs', nargs='*')
    args = parser.parse_args()
    tact = os.path.abspath(args.tact)
    print('| million instructions a second | instructions (million) | native | QEMU alone | QEMU, empty plugin | QEMU, counting (collect) | '
          'tact trace --core | tact trace | memory (MB) |')
    print('|---|---|---|---|---|---|---|---|---|')
    with tempfile.TemporaryDirectory() as directory:
        plugin = empty_plugin(directory)
        for name, words in workloads(directory).items():
            if args.programs and name not in args.programs:
                continue
            if args.root:
                row = of_sysroot(os.path.abspath(args.root), name, words, tact, args.arch, directory, args.runs)
                print(row or '| %s | not there |' % name)
                sys.stdout.flush()
                continue
            if not shutil.which(words[0]):
                print('| %s | not installed |' % name)
                continue
            program = shutil.which(words[0])
            trace = [tact, 'trace', '-q', '-a', args.arch, '-o', 'r.json', '--', *words]
            plain = best([*trace[:3], '--core', *trace[3:]], directory, args.runs)
            totals = json.loads(open(os.path.join(directory, 'r.json')).readline())
            n = totals['instructions'] / 1e6
            full = best(trace, directory, args.runs)
            qemu, under = ['qemu-x86_64', '-cpu', 'max,-erms'], [program, *words[1:]]
            columns = [best(words, directory, args.runs), best([*qemu, *under], directory, args.runs),
                       best([*qemu, '-plugin', plugin, *under], directory, args.runs),
                       best([tact, 'collect', '-q', '-o', 'c.csv', '--', *words], directory, args.runs), plain, full]
            print('| %s | %.0f | %s | %.0f |' % (name, n, ' | '.join('%.0f' % (n / c.seconds) for c in columns),
                                               max(plain.peak, full.peak) / 1024))
            sys.stdout.flush()
    return 0


if __name__ == '__main__':
    sys.exit(main())
