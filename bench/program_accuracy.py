#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole programs with real inputs: user cycles that tact trace predicts, and measured ones.

usage: program_accuracy.py build DIR [--size N]
       program_accuracy.py measure DIR [--runs N] [PROGRAM...]
       program_accuracy.py predict DIR [-a ARCH] [--keep | --kept] [--write] [PROGRAM...]
       program_accuracy.py functions DIR [-a ARCH] [--top N] PROGRAM...

build writes inputs into DIR, made of what is on the machine, and DIR/programs.json; a program that is not installed
is left out.  --size makes the inputs N times as large: 1 is some 300 million instructions each.

measure runs each program natively and adds to DIR/measured.json: user time times the clock, which a chain of
multiplications shows right before, the lowest of N runs in turns and of earlier calls, pinned to one CPU.  The kernel tells user from
system time by its few ticks a second; so the share comes from samples (perf), or from the ticks of all runs where
there is no perf.

predict traces the same programs and prints predicted / measured; --keep leaves each result in DIR, from where --kept
takes what is there, so that more runs can be measured later.  functions samples
a program natively by the clock (perf) and compares the cycles of each function with the predicted ones: it says
where a program is off.

Nothing here depends on time: node compiles in its one thread, ffmpeg works in one, and redis-server answers one
client that waits for each answer, so that its loop turns as often under QEMU; its timer runs once a second.  The
client is neither measured nor traced.  The measured side runs without the AVX-512 routines of the C library and of
ffmpeg, because QEMU has none.
"""
import argparse
import bisect
import collections
import contextlib
import glob
import json
import math
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import time

import trace_accuracy

ROOT = trace_accuracy.ROOT
PORT = 7391
BATCH = 50
SAMPLED = 3  # runs with samples, for the share of user time
FFMPEG = ('ffmpeg -nostdin -v error -threads 1 -cpuflags '
          'mmx+mmxext+sse+sse2+sse3+ssse3+sse4.1+sse4.2+avx+avx2+fma3+bmi1+bmi2')
# name, command; {x} is the file x of DIR
PROGRAMS = (
    ('gcc -O0', 'gcc -O0 -w -c {gcc many}'),
    ('gcc -O2', 'gcc -O2 -w -c {gcc few}'),
    ('clang -O0', 'clang-14 -O0 -w -c {clang-14 many}'),
    ('clang -O2', 'clang-14 -O2 -w -c {clang-14 few}'),
    ('python3', '{python} -S -E program.py modules'),
    ('perl', 'perl program.pl headers'),
    ('sqlite3', 'sqlite3 :memory: -init program.sql .exit'),
    ('node', 'node --single-threaded program.js headers'),
    ('redis', '{requests} redis-server --port %d --save --appendonly no --hz 1 --dynamic-hz no --io-threads 1 '
              '--activerehashing no --loglevel warning' % PORT),
    ('ffmpeg mpeg4', FFMPEG + ' -i film.y4m -an -c:v mpeg4 -threads 1 -q:v 5 -f null -'),
    ('ffmpeg x264', FFMPEG + ' -i film.y4m -an -frames:v {shots} -c:v libx264 -preset fast -threads 1 '
                    '-x264-params asm=MMX2,SSE2Fast,SSSE3,SSE4.2,AVX,FMA3,BMI2,AVX2 -f null -'),
    ('ffmpeg decode', FFMPEG + ' -i film.mp4 -f null -'),
    ('git rev-list', 'git -C repository rev-list --objects --all'),
    ('git log', 'git -C repository log -{commits} --stat -p'),
    ('xz', 'xz -T1 -4 -c headers'),
    ('xz -d', 'xz -T1 -d -c lines.xz'),
    ('zstd', 'zstd --single-thread -q -7 -c lines'),
    ('zstd -d', 'zstd -q -d -c lines.zst'),
    ('gzip', 'gzip -6 -c headers'),
    ('bzip2', 'bzip2 -9 -c headers'),
    ('sort', 'sort --parallel=1 lines'),
    ('awk', 'awk -f program.awk lines'),
    ('lua', 'lua5.4 program.lua'),
)

SQL = '''.output /dev/null
create table t(a integer primary key, b integer, c text, d real);
with recursive n(i) as (select 1 union all select i+1 from n where i<{rows})
insert into t select i, (i*7919)%9973, 'row '||(i*31%1009)||' of '||i, i*0.37 from n;
create index tb on t(b);
create table u as select b, count(*) n, group_concat(substr(c, 1, 6)) g from t group by b;
create index uc on u(n, b);
select t.c, u.n from t join u on t.b = u.b where u.n > 5 order by t.c desc limit 200;
select count(*), sum(length(c)), avg(d) from t where c like '%row 1%9%' and b between 100 and 8000;
update t set d = d * 2, c = upper(c) where b % 3 = 0;
delete from t where b in (select b from u where n % 2 = 1);
select b % 100, count(*), max(c), min(d) from t group by 1 order by 2 desc, 1;
'''
PYTHON = '''import ast, json, os, re, sys
total = 0
for name in sorted(os.listdir(sys.argv[1])):
    source = open(os.path.join(sys.argv[1], name)).read()
    tree = ast.parse(source)
    text = ast.unparse(tree)
    words = {}
    for word in re.findall(r"[A-Za-z_]\\w*", text):
        words[word] = words.get(word, 0) + 1
    kinds = {}
    for node in ast.walk(tree):
        kinds.setdefault(type(node).__name__, []).append(getattr(node, "lineno", 0))
    dump = json.dumps({"words": sorted(words.items(), key=lambda i: (-i[1], i[0])), "kinds": kinds}, indent=1)
    total += len(dump) + len(json.loads(dump)["words"])
print(total)
'''
PERL = '''use strict; my (%count, %pair, $last, @long);
while (<>) {
  s{/\\*.*?\\*/}{}g; s/\\s+/ /g;
  for my $word (split /[^A-Za-z0-9_]+/) {
    next unless length $word; $count{lc $word}++; $pair{"$last $word"}++ if defined $last; $last = $word;
  }
  push @long, $_ if /^#\\s*define\\s+(\\w+)\\s+(0x[0-9a-f]+|\\d+)/i && length > 30;
}
my @top = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
my @two = sort { $pair{$b} <=> $pair{$a} || $a cmp $b } keys %pair;
printf "%s %d\\n", $_, $count{$_} for @top[0..50]; printf "%s %d\\n", $_, $pair{$_} for @two[0..50];
print join(",", map { substr $_, 8, 12 } sort @long), "\\n";
'''
JAVASCRIPT = '''const text = require("fs").readFileSync(process.argv[2], "latin1");
class Node { constructor(key) { this.key = key; this.count = 1; this.left = null; this.right = null; } }
function insert(root, key) {
  if (!root) return new Node(key);
  let at = root;
  for (;;) {
    if (key === at.key) { at.count++; return root; }
    const side = key < at.key ? "left" : "right";
    if (!at[side]) { at[side] = new Node(key); return root; }
    at = at[side];
  }
}
let root = null;
const words = new Map();
for (const line of text.split("\\n")) {
  for (const word of line.split(/[^A-Za-z0-9_]+/)) {
    if (!word) continue;
    words.set(word, (words.get(word) || 0) + 1);
    root = insert(root, word);
  }
}
const sorted = [...words].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
const copy = JSON.parse(JSON.stringify(sorted.map(([word, n]) => ({ word, n, half: n / 2, parts: word.split("_") }))));
let sum = 0;
for (let i = 0; i < 20; i++) for (const item of copy) sum += item.parts.length * item.half + item.word.charCodeAt(0);
console.log(sorted.length, sum, root.count, text.replace(/\\b(int|char)\\b/g, s => s.toUpperCase()).length);
'''
AWK = '''{ gsub(/[^A-Za-z0-9_ ]/, " ")
  for (i = 1; i <= NF; i++) { count[$i]++; size += length($i) }
  if ($0 ~ /define +[A-Z]+_/) defines[$2] = NR }
END { for (w in count) if (count[w] > most) most = count[w]
  for (d in defines) n += defines[d]; print size, most, n }
'''
LUA = '''local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local t, seed = {}, 42
for i = 1, {rows} do
  seed = (seed * 1103515245 + 12345) % 2147483648; t[i] = { key = seed % 50021, name = "n" .. seed % 997 }
end
table.sort(t, function(a, b) if a.key ~= b.key then return a.key < b.key end return a.name < b.name end)
local groups = {}
for i, v in ipairs(t) do local g = groups[v.name]; if not g then g = {}; groups[v.name] = g end g[#g + 1] = v.key end
local parts = {}
for name, g in pairs(groups) do parts[#parts + 1] = name .. "=" .. table.concat(g, ","):gsub("%d%d", "%0-") end
table.sort(parts)
print(#table.concat(parts, ";"), fib({depth}))
'''


# ---- build ----

def gathered(patterns, size):
    """Text of the files, in the order of their names, up to size bytes."""
    out = b''
    for path in sorted(p for pattern in patterns for p in glob.glob(pattern, recursive=True) if os.path.isfile(p)):
        out += open(path, 'rb').read()
        if len(out) >= size:
            break
    return out[:size]


def write(directory, name, content):
    with open(os.path.join(directory, name), 'wb' if isinstance(content, bytes) else 'w') as f:
        f.write(content)


def write_sources(directory, size):
    """C sources, preprocessed: what they include is not on every machine.  Returns the names for the commands."""
    names = {'{python}': os.path.realpath(sys.executable)}
    for compiler in ('gcc', 'clang-14'):
        if not shutil.which(compiler):
            continue
        for amount, pattern, most in (('many', 'sim/*.c', 2 * size), ('few', 'trace/c*.c', (size + 1) // 2)):
            outs = []
            for path in sorted(glob.glob(os.path.join(ROOT, 'lib', pattern)), key=os.path.getsize)[-most:]:
                outs.append('%s-%s-%s' % (compiler, amount, os.path.basename(path)))
                write(directory, outs[-1], subprocess.run([compiler, '-E', '-P', '-Iinclude', '-Ilib', path], cwd=ROOT,
                                                          check=True, capture_output=True).stdout)
            names['{%s %s}' % (compiler, amount)] = ' '.join(outs)
    return names


def write_film(directory, size):
    """A film with structure, motion and noise."""
    if not shutil.which('ffmpeg'):
        return
    run = lambda *words: subprocess.run(['ffmpeg', '-nostdin', '-v', 'error', '-y', *words], cwd=directory, check=True)
    run('-f', 'lavfi', '-i', 'mandelbrot=size=640x360:rate=25:start_scale=0.5', '-vf',
        'noise=alls=8:allf=t:all_seed=7', '-frames:v', str(12 * size), '-pix_fmt', 'yuv420p', 'film.y4m')
    run('-i', 'film.y4m', '-c:v', 'libx264', '-threads', '1', '-crf', '20', 'film.mp4')


def program_of(command):
    """A number in front is that of the client's requests."""
    return next(word for word in command.split() if not word.isdigit())


def build(args):
    os.makedirs(args.directory, exist_ok=True)
    trace_accuracy.write_inputs(args.directory)
    here = args.directory
    write(here, 'headers', gathered(['/usr/include/**/*.h'], 1000000 * args.size))
    write(here, 'lines', gathered(['/usr/include/**/*.h'], 4000000 * args.size))
    for name, packer in (('lines.xz', 'xz -T1 -6 -c'), ('lines.zst', 'zstd -q -9 -c')):
        if shutil.which(packer.split()[0]):
            write(here, name, subprocess.run([*packer.split(), 'lines'], cwd=here, check=True,
                                             capture_output=True).stdout)
    rows, depth = str(20000 * args.size), str(23 + args.size.bit_length())
    for name, content in (('program.sql', SQL), ('program.py', PYTHON), ('program.pl', PERL),
                          ('program.js', JAVASCRIPT), ('program.awk', AWK), ('program.lua', LUA)):
        write(here, name, content.replace('{rows}', rows).replace('{depth}', depth))
    modules = os.path.join(here, 'modules')
    os.makedirs(modules, exist_ok=True)
    for name in ('difflib', 'argparse', 'tarfile', 'inspect')[:args.size]:
        shutil.copy(os.path.join(os.path.dirname(os.__file__), name + '.py'), modules)
    names = write_sources(here, args.size)
    names.update({'{shots}': str(3 * args.size), '{commits}': str(25 * args.size),
                  '{requests}': str(50000 * args.size)})
    write_film(here, args.size)
    if not os.path.exists(os.path.join(here, 'repository')):
        subprocess.run(['git', 'clone', '-q', '--bare', ROOT, os.path.join(here, 'repository')], check=True)
    plan = {}
    for name, command in PROGRAMS:
        for key, value in names.items():
            command = command.replace(key, value)
        if shutil.which(program_of(command)):
            plan[name] = command
        else:
            print('skip %s: there is no %s' % (name, program_of(command)), file=sys.stderr)
    write(here, 'programs.json', json.dumps(plan, indent=1))
    print('%d programs in %s' % (len(plan), here))


# ---- run ----

def chosen(args):
    plan = json.load(open(os.path.join(args.directory, 'programs.json')))
    return {name: command.split() for name, command in plan.items() if not args.programs or name in args.programs}


def message(words):
    return b'*%d\r\n' % len(words) + b''.join(b'$%d\r\n%s\r\n' % (len(w), w) for w in words)


def request(seed, value):
    """One of eight kinds of commands about one of 40,000 keys."""
    key = b'key:%d' % ((seed >> 33) % 40000)
    return ((b'SET', key, b'value %d' % value), (b'GET', key), (b'INCR', b'count:' + key[-2:]),
            (b'ZADD', b'ranks', b'%d' % (seed >> 44), key), (b'HSET', b'hash:' + key[-3:], key, b'1'),
            (b'LPUSH', b'list:' + key[-1:], key), (b'GET', key), (b'HGET', b'hash:' + key[-3:], key))[(seed >> 60) % 8]


def connect():
    for _ in range(3000):
        try:
            return socket.create_connection(('127.0.0.1', PORT))
        except OSError:
            time.sleep(0.05)
    raise RuntimeError('redis-server does not answer')


def serve(requests):
    """The client of redis: fixed requests in batches, each of which waits for its answers."""
    client = connect()
    read = client.makefile('rb')
    seed = 1
    for n in range(0, requests, BATCH):
        batch = b''
        for _ in range(BATCH):
            seed = (seed * 6364136223846793005 + 1442695040888963407) % (1 << 64)
            batch += message(request(seed, n))
        client.sendall(batch)
        for _ in range(BATCH):
            head = read.readline()
            if head[:1] == b'$' and head != b'$-1\r\n':
                read.readline()
    client.sendall(message((b'SHUTDOWN', b'NOSAVE')))
    read.read()
    client.close()


@contextlib.contextmanager
def elsewhere():
    """The client runs on other CPUs than the server."""
    mine = os.sched_getaffinity(0)
    every = set(range(os.cpu_count()))
    try:
        os.sched_setaffinity(0, every - mine or every)
        yield
    finally:
        os.sched_setaffinity(0, mine)


def run(args, name, words, before=()):
    """Returns user and system seconds of the program and of its children."""
    requests = int(words[0]) if words[0].isdigit() else 0
    process = subprocess.Popen([*before, *words[requests > 0:]], cwd=args.directory,
                               env=dict(os.environ, **trace_accuracy.ENVIRONMENT), stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if requests:
        with elsewhere():
            serve(requests)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status:
        raise RuntimeError('%s: exit status %d' % (name, status >> 8))
    return usage.ru_utime, usage.ru_stime


# ---- measure ----

class Program:
    def __init__(self, name, words):
        self.name, self.words = name, words
        self.cycles, self.share = [], trace_accuracy.Share()

    def measure(self, args):
        hertz = trace_accuracy.clock(args.directory)
        seconds = run(args, self.name, self.words)
        self.cycles.append(sum(seconds) * hertz)
        self.share.add_ticks(*seconds)
        if len(self.cycles) <= SAMPLED:
            self.share.sample(args.directory, lambda before: run(args, self.name, self.words, before))

    def result(self):
        lowest, median = min(self.cycles), sorted(self.cycles)[len(self.cycles) // 2]
        return {'cycles': lowest * self.share.user(), 'user share': self.share.user(), 'runs': len(self.cycles),
                'spread': round(median / lowest, 3)}


def measure(args):
    cpu = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cpu})
    out = os.path.join(args.directory, 'measured.json')
    programs = [Program(name, words) for name, words in chosen(args).items()]
    for _ in range(args.runs):
        for program in programs:
            program.measure(args)
    kept = json.load(open(out))['programs'] if os.path.exists(out) else {}
    for program in programs:
        result = program.result()
        before = kept.get(program.name)
        if before and before['cycles'] < result['cycles']:
            result = dict(before, runs=before['runs'] + result['runs'])
        kept[program.name] = result
        print('%-16s %8.1f M user cycles, %3.0f%% user, median / lowest %.3f' % (
            program.name, result['cycles'] / 1e6, 100 * result['user share'], result['spread']), flush=True)
    write(args.directory, 'measured.json',
          json.dumps({'machine': trace_accuracy.model_name(), 'programs': kept}, indent=1))


# ---- predict ----

def predicted(args, name, words):
    out = os.path.join(args.directory, 'result.%s.json' % name.replace(' ', '_'))
    started = time.time()
    if not (args.kept and os.path.exists(out)):
        run(args, name, words, [args.tact, 'trace', '-q', '-a', args.arch, '-o', out, '--'])
    result = json.loads(open(out).readline())
    result['seconds'] = time.time() - started
    if not (args.keep or args.kept):
        os.unlink(out)
    return result


def predict(args):
    measured = json.load(open(os.path.join(args.directory, 'measured.json')))
    errors, rows = [], []
    for name, words in chosen(args).items():
        if name not in measured['programs']:
            continue
        try:
            result = predicted(args, name, words)
        except RuntimeError as error:
            print(error, flush=True)
            continue
        cycles = measured['programs'][name]['cycles']
        rows.append({'program': name, 'million': round(result['instructions'] / 1e6), 'measured': round(cycles / 1e6),
                     'ratio': round(result['cycles'] / cycles, 3)})
        errors.append(abs(math.log(result['cycles'] / cycles)))
        print('%-16s %6d M instructions, measured %6d M cycles, predicted / measured %.3f (%.0f s)' % (
            name, rows[-1]['million'], rows[-1]['measured'], rows[-1]['ratio'], result['seconds']), flush=True)
    mean = trace_accuracy.geometric(errors)
    print('%d programs: geometric mean error %.1f%%; beyond 20%%: %s' % (
        len(rows), mean, ', '.join(r['program'] for r in rows if abs(math.log(r['ratio'])) > math.log(1.2)) or 'none'))
    if args.write:
        import write_accuracy  # pylint: disable=import-outside-toplevel
        write_accuracy.save_for({'arch': args.arch, 'machine': measured['machine'], 'mean': round(mean, 1),
                                 'programs': rows}, 'programs')


# ---- functions ----

def segments(path):
    """(offset in the file, size, address) of what an ELF file has the loader map."""
    with open(path, 'rb') as f:
        head = f.read(64)
        if head[:5] != b'\x7fELF\x02':
            return []
        start, size, count = struct.unpack_from('<Q', head, 32)[0], *struct.unpack_from('<HH', head, 54)
        f.seek(start)
        table = f.read(size * count)
    rows = [struct.unpack_from('<IIQQQQQQ', table, i * size) for i in range(count)]
    return [(r[2], r[5], r[3]) for r in rows if r[0] == 1]


MAPPED = re.compile(r' *(\d+) PERF_RECORD_MMAP2 .*\[0x([0-9a-f]+)\(0x([0-9a-f]+)\) @ (?:0x)?([0-9a-f]+) .*: '
                    r'\S+ (.*)$')


def places(text):
    """Modules and addresses in their files, one for each sample of what perf script says."""
    maps, parts = collections.defaultdict(list), {}
    for line in text.splitlines():
        match = MAPPED.match(line)
        if match:
            start, size, offset = (int(match.group(i), 16) for i in (2, 3, 4))
            module = os.path.realpath(match.group(5))
            if module not in parts:
                parts[module] = segments(module) if os.path.isfile(module) else []
            maps[match.group(1)].insert(0, (start, start + size, offset, module))
        elif len(line.split()) == 2 and not line.split()[1].startswith('ffff'):
            process, address = line.split()[0], int(line.split()[1], 16)
            for start, end, offset, module in maps[process]:
                if start <= address < end:
                    offset += address - start
                    yield module, next((v + offset - o for o, n, v in parts[module] if o <= offset < o + n), offset)
                    break


def sampled(args, name, words):
    """Samples of user code by module and address in its file, from several native runs."""
    found = collections.Counter()
    data = os.path.join(args.directory, 'perf.%d' % os.getpid())
    for _ in range(args.runs):
        run(args, name, words, trace_accuracy.perf_record(data))
        found.update(places(subprocess.run(['perf', 'script', '-i', data, '--show-mmap-events', '-F', 'pid,ip'],
                                           check=True, capture_output=True, text=True).stdout))
    os.unlink(data)
    return found


def by_function(rows, samples):
    """Cycles and waits that were predicted, and samples, by module and function."""
    starts, guess, waits, seen = collections.defaultdict(list), collections.Counter(), {}, collections.Counter()
    for row in rows:
        module = os.path.realpath(row['module'])
        starts[module].append((int(row['address'], 16), row['function']))
        guess[module, row['function']] += row['cycles']
        waits[module, row['function']] = row
    for functions_of in starts.values():
        functions_of.sort()
    for (module, address), n in samples.items():
        at = bisect.bisect(starts[module], (address, '\x7f')) - 1
        seen[module, starts[module][at][1] if at >= 0 else '?'] += n
    return guess, waits, seen


def functions(args):
    args.keep = True
    measured = json.load(open(os.path.join(args.directory, 'measured.json')))
    for name, words in chosen(args).items():
        path = os.path.join(args.directory, 'result.%s.json' % name.replace(' ', '_'))
        if not os.path.exists(path):
            predicted(args, name, words)
        rows = [r for r in map(json.loads, open(path)) if r['kind'] == 'function' and 'address' in r]
        guess, waits, seen = by_function(rows, sampled(args, name, words))
        cycles = measured['programs'][name]['cycles']
        scale = cycles / sum(seen.values())
        print('%s: %.1f M measured, %.1f M predicted; %d samples' % (
            name, cycles / 1e6, sum(guess.values()) / 1e6, sum(seen.values())))
        print('  measured  predicted     off  function, what it waits for as predicted')
        for key in sorted(set(guess) | set(seen), key=lambda k: -abs(guess[k] - seen[k] * scale))[:args.top]:
            stalls = sorted(waits[key]['stalls'].items(), key=lambda s: -s[1])[:4] if key in waits else []
            print('%9.2fM %9.2fM %+6.2fM  %s %s (%s; %.1f M instructions)' % (
                seen[key] * scale / 1e6, guess[key] / 1e6, (guess[key] - seen[key] * scale) / 1e6,
                os.path.basename(key[0]), key[1], ', '.join('%s %.1f' % (k, v / 1e6) for k, v in stalls),
                waits[key]['instructions'] / 1e6 if key in waits else 0))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('what', choices=('build', 'measure', 'predict', 'functions'))
    parser.add_argument('directory')
    parser.add_argument('--tact', default=os.path.join(ROOT, 'build/tact'))
    parser.add_argument('-a', dest='arch', default='native')
    parser.add_argument('--size', type=int, default=1)
    parser.add_argument('--runs', type=int, default=7)
    parser.add_argument('--top', type=int, default=20)
    parser.add_argument('--keep', action='store_true')
    parser.add_argument('--kept', action='store_true')
    parser.add_argument('--write', action='store_true')
    parser.add_argument('programs', nargs='*')
    args = parser.parse_intermixed_args()
    args.directory, args.tact = os.path.abspath(args.directory), os.path.abspath(args.tact)
    {'build': build, 'measure': measure, 'predict': predict, 'functions': functions}[args.what](args)
    return 0


if __name__ == '__main__':
    sys.exit(main())
