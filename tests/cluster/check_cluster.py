#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures blocks on a Slurm of several virtual nodes, with tasks killed at random; tunes over MPI.

usage: check_cluster.py [--build DIR] [--blocks N] [--nodes N] [--shards N] [--list FILE] [--seed N] [PART...]

The parts are slurm and mpi.  Blocks come from the list, or from programs of this machine.
The last line is "N passed, M failed, K skipped".
"""
import argparse
import os
import random
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import slurm  # noqa: E402

NEAR = 0.03  # two rounds of a block
ENDED = ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT', 'NODE_FAIL', 'OUT_OF_MEMORY')


class Skip(Exception):
    pass


def need(*programs):
    lacking = [p for p in programs if not shutil.which(p)]
    if lacking:
        raise Skip('there is no ' + ', '.join(lacking) + ': gen/setup.sh --install cluster')


def tact(opt, *args, check=True, **more):
    done = subprocess.run([opt.tact, *args], capture_output=True, text=True, **more)
    assert not check or done.returncode == 0, '%s: %d\n%s' % (' '.join(args), done.returncode, done.stderr[-2000:])
    return done


# ---- blocks ----

PROGRAMS = ['gdb', 'python3', 'perl', 'git', 'bash', 'ld', 'as', 'objdump', 'openssl', 'ssh', 'vim', 'emacs', 'gcc', 'cmake', 'tar']


def write_list(opt, path):
    """Different blocks, as many as are wanted."""
    seen = {}
    if opt.list:
        with open(opt.list, encoding='utf-8') as rows:
            for row in rows:
                code = row.split(',')[0].strip().lower()
                if code and not set(code) - set('0123456789abcdef'):
                    seen[code] = True
    else:
        for name in PROGRAMS:
            program = shutil.which(name)
            if not program or len(seen) >= opt.blocks:
                continue
            done = tact(opt, 'collect', '-q', '--static', '--no-branch', os.path.realpath(program), '-f', 'csv', check=False, timeout=300)
            for row in done.stdout.splitlines()[1:]:
                seen[row.split(',')[0]] = True
    codes = sorted(seen)
    random.Random(opt.seed).shuffle(codes)
    codes = codes[:opt.blocks]
    assert len(codes) >= min(200, opt.blocks), 'too few blocks: %d' % len(codes)
    with open(path, 'w', encoding='utf-8') as out:
        out.write('\n'.join(codes) + '\n')
    return len(codes)


# ---- Slurm ----

def processes_of(store):
    """Those that have a store on their command line, by number; only children of this test are looked at."""
    found = []
    for name in os.listdir('/proc'):
        if name.isdigit():
            try:
                with open('/proc/%s/cmdline' % name, 'rb') as f:
                    words = f.read().split(b'\0')
            except OSError:
                continue
            if store.encode() in words and b'measure' in words:
                found.append(int(name))
    return found


def disturb(s, job, shards, chance, how_often):
    """Does something bad to a task that runs."""
    running = [t for t, state in s.tasks(job).items() if state == 'RUNNING']
    if not running:
        return False
    task = chance.choice(running)
    what = chance.choice(['kill', 'kill', 'signal', 'term', 'requeue'])
    if what == 'requeue':
        s.run('scontrol', 'requeue', '%s_%s' % (job, task), check=False)
    elif what == 'signal':
        s.run('scancel', '--signal=USR1', '--batch', '%s_%s' % (job, task), check=False)
    else:
        for pid in processes_of('%s/%s.db' % (shards, task)):
            try:
                os.kill(pid, signal.SIGKILL if what == 'kill' else signal.SIGTERM)
            except ProcessLookupError:
                pass
    how_often[what] = how_often.get(what, 0) + 1
    return True


def follow(s, array, merge, shards, seed, seconds, most):
    chance = random.Random(seed)
    how_often = {}
    next_time = time.monotonic() + 5
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        states = s.tasks(array)
        if s.tasks(merge).get('') in ENDED or 'FAILED' in states.values():
            return how_often
        if time.monotonic() > next_time and sum(how_often.values()) < most and disturb(s, array, shards, chance, how_often):
            next_time = time.monotonic() + chance.uniform(2, 10)
        time.sleep(0.5)
    raise AssertionError('not finished in %d seconds: %s\n%s' % (seconds, s.tasks(array), s.logs()))


def rows(store):
    db = sqlite3.connect(store)
    assert db.execute('pragma integrity_check').fetchone() == ('ok',)
    out = {(r[0], r[1], r[2]): (r[3], r[4]) for r in db.execute(
        'select hex, mode, init, status, cycles_per_iteration from measurement join block on id = block')}
    hosts = dict(db.execute('select name, count(*) from measurement m join host h on h.id = m.host group by name').fetchall())
    db.close()
    return out, hosts


def compare(merged, whole):
    """The same rows, whose numbers agree but for noise."""
    assert merged.keys() == whole.keys(), '%d rows, but %d of an undisturbed run' % (len(merged), len(whole))
    pairs = [(merged[k][1], whole[k][1]) for k in merged if merged[k][0] == whole[k][0] == 'ok']
    near = sum(abs(a - b) <= NEAR * b for a, b in pairs)
    # What a block is refused for does not depend on time; whether a core was quiet does.
    lasting = ('refused', 'unmappable', 'decode')
    other = sum((merged[k][0] in lasting) != (whole[k][0] in lasting) for k in merged)
    ratio = statistics.median(a / b for a, b in pairs)
    text = '%d rows in both, %d with two numbers, %.2f%% of them within %d%%, median ratio %.4f, %d refused by one only' % (
        len(merged), len(pairs), 100 * near / len(pairs), 100 * NEAR, ratio, other)
    assert len(pairs) > 0.8 * len(merged), text
    assert near > 0.95 * len(pairs) and abs(ratio - 1) < 0.01 and not other, text
    return text


def check_slurm(opt, folder):
    need('slurmctld', 'slurmd', 'sbatch', 'munged')
    if os.getuid():
        raise Skip('daemons of Slurm need root')
    n = write_list(opt, folder + '/list')
    options = opt.options
    env = {'TACT': opt.tact, 'TACT_OPTIONS': options}
    start = time.monotonic()
    with slurm.Slurm(opt.nodes) as s:
        out = s.run(ROOT + '/contrib/slurm/submit.sh', folder + '/list', folder + '/campaign', str(opt.shards), env=env).stdout
        array, merge = out.split()[1].rstrip(','), out.split()[3]
        how_often = follow(s, array, merge, folder + '/campaign/shards', opt.seed, opt.seconds,
                           4 * opt.shards)
        states = s.tasks(array)
        assert set(states.values()) == {'COMPLETED'}, (states, s.logs())
        with open(folder + '/campaign/merge.log', encoding='utf-8') as log:
            text = log.read()
        state = s.tasks(merge)['']
    took = time.monotonic() - start
    assert state == 'COMPLETED' or 'canaries' in text, text
    assert how_often, 'nothing was disturbed: more blocks are needed'
    # The same again, in another order
    stores = ['%s/campaign/shards/%d.db' % (folder, i) for i in range(opt.shards)]
    random.Random(opt.seed).shuffle(stores)
    tact(opt, 'dataset', 'merge', '-q', folder + '/again.db', *stores, check=False)
    for name in ('again.db', 'campaign/blocks.db'):
        tact(opt, 'dataset', 'export', '-q', '-o', '%s/%s.csv' % (folder, os.path.basename(name)), '%s/%s' % (folder, name))
    with open(folder + '/again.db.csv', 'rb') as a, open(folder + '/blocks.db.csv', 'rb') as b:
        assert a.read() == b.read(), 'another order, other bytes'
    start = time.monotonic()
    tact(opt, 'measure', '-q', *options.split(), '-o', folder + '/whole.db', folder + '/list', check=False)
    whole_took = time.monotonic() - start
    merged, hosts = rows(folder + '/campaign/blocks.db')
    assert len(merged) == n and set(hosts) <= {'n%d' % i for i in range(1, opt.nodes + 1)} and len(hosts) > 1, hosts
    print('# %d blocks, %d shards on %d nodes in %.0f s (undisturbed, one process: %.0f s); disturbed: %s; rows by host: %s' % (
        n, opt.shards, opt.nodes, took, whole_took, how_often, hosts))
    print('# ' + compare(merged, rows(folder + '/whole.db')[0]))
    for line in text.splitlines():
        if 'canaries' in line:
            print('# ' + line)


# ---- MPI ----

def tune(opt, folder, ranks, *args):
    """Returns what it writes and prints; with 0 ranks, of one process without MPI."""
    path = '%s/learned.%d' % (folder, ranks)
    command = [opt.tact, 'tune', '-q', '--from', folder + '/rows.csv', '-o', path, *args]
    if ranks:
        command = ['mpirun', '--oversubscribe', *(['--allow-run-as-root'] if not os.getuid() else []), '-n', str(ranks),
                   *command, '--mpi']
    done = subprocess.run(command, capture_output=True, timeout=1200)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    with open(path, 'rb') as learned:
        return learned.read(), done.stdout


def check_mpi(opt, folder):
    need('mpirun')
    if not os.path.exists(os.path.dirname(opt.tact) + '/tact_mpi.so'):
        raise Skip('tact_mpi.so was not built: gen/setup.sh --install cluster, then make')
    opt.blocks, blocks = min(opt.blocks, 1500), opt.blocks
    write_list(opt, folder + '/list')
    opt.blocks = blocks
    # Of another core, so that there is much to learn
    done = tact(opt, 'predict', '-q', '-a', 'HSW', '-f', 'csv', folder + '/list', check=False)
    lines = [line.split(',') for line in done.stdout.splitlines()]
    hexes, cycles = lines[0].index('hex'), lines[0].index('cycles_per_iteration')
    with open(folder + '/rows.csv', 'w', encoding='utf-8') as out:
        out.write('hex,cycles\n')
        out.writelines('%s,%s\n' % (line[hexes], line[cycles]) for line in lines[1:]
                       if line[cycles].replace('.', '', 1).isdigit() and float(line[cycles]) > 0)
    for args in (['-a', 'ICL', '--model', 'facile'], ['-a', 'SKL', '--model', 'mca'],
                 ['-a', 'SKL', '--model', 'mca', '--method', 'bandit', '--budget', '100']):
        seen = {}
        start = time.monotonic()
        for ranks in (0, 1, 2, 4):
            seen[tune(opt, folder, ranks, *args)] = True
        assert len(seen) == 1, 'the number of ranks shows: ' + ' '.join(args)
        learned, text = list(seen)[0]
        assert len(text.splitlines()) > 3, text
        print('# %s: %d bytes of parameters are the same without MPI and for 1, 2 and 4 ranks, %.0f s' % (
            ' '.join(args), len(learned), time.monotonic() - start))
    # Ranks that read other files must not go on with that
    with open(folder + '/rank.sh', 'w', encoding='utf-8') as script:
        script.write('#!/bin/sh\nhead -n $((400 + OMPI_COMM_WORLD_RANK)) %s/rows.csv > %s/own.$OMPI_COMM_WORLD_RANK.csv\n'
                     'exec %s tune -q --mpi -a ICL --model facile --from %s/own.$OMPI_COMM_WORLD_RANK.csv\n' % (
                         folder, folder, opt.tact, folder))
    os.chmod(folder + '/rank.sh', 0o755)
    done = subprocess.run(['mpirun', '--oversubscribe', *(['--allow-run-as-root'] if not os.getuid() else []), '-n', '2',
                           folder + '/rank.sh'], capture_output=True, text=True, timeout=300)
    assert done.returncode and 'other rows' in done.stderr, done


# ---- all ----

PARTS = {'slurm': check_slurm, 'mpi': check_mpi}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--build', default='build')
    parser.add_argument('--blocks', type=int, default=1500)
    parser.add_argument('--nodes', type=int, default=3)
    parser.add_argument('--shards', type=int, default=8)
    parser.add_argument('--seconds', type=int, default=3600, help='that the cluster may take')
    parser.add_argument('--options', default='--until-confirmed --rounds 6', help='of tact measure')
    parser.add_argument('--list', help='CSV whose first column is hex')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('parts', nargs='*')
    opt = parser.parse_args()
    opt.tact = os.path.abspath(opt.build + '/tact')
    counts = {'ok': 0, 'not ok': 0, 'skip': 0}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # daemons end, too
    for name in opt.parts or PARTS:
        folder = tempfile.mkdtemp(prefix='tact-cluster-')
        how, why = 'ok', ''
        try:
            PARTS[name](opt, folder)
        except Skip as e:
            how, why = 'skip', ': %s' % e
        except (AssertionError, RuntimeError, subprocess.SubprocessError) as e:
            how, why = 'not ok', ': %s' % e
        finally:
            if os.environ.get('KEEP'):
                print('kept: ' + folder)
            else:
                shutil.rmtree(folder)
        counts[how] += 1
        print(how + ' ' + name + why, flush=True)
    print('%d passed, %d failed, %d skipped' % tuple(counts.values()))
    return 1 if counts['not ok'] else 0


if __name__ == '__main__':
    sys.exit(main())
