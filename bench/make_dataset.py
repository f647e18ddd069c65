#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures a folder of blocks on this CPU, as loops and unrolled, until two rounds confirm each number.

usage: make_dataset.py --blocks FOLDER --out FOLDER [--tact TACT] [--core NAME] [--shards N] [--only I/N]
                       [--sample N] [--seed N] [--jobs N]

FOLDER of --blocks has CSV files whose first two columns are hex and weight, one for each application,
as BHive has them.  What is done is kept in the folder of --out: the same command goes on where it
ended, whatever ended it.  doc/dataset.md describes the result:

    blocks.db     the blocks with their applications and weights
    shards/       the stores of shards: MODE.I.db
    dataset.db    all of it in one store
    dataset.csv   its measurements, one a line
    quality.json  what became of the blocks, which machine, which version

The exit status is 75 if a signal ended it before all was measured.
"""
import argparse
import csv
import glob
import hashlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys

MODES = ('unroll', 'loop')
UNFINISHED = 75
child = None


def pass_on(number, _):
    """tact finishes the blocks in flight."""
    if child:
        child.send_signal(signal.SIGTERM if number == signal.SIGINT else number)


def run(opt, *args, good=(0,)):
    """Runs tact; its messages are ours."""
    global child
    child = subprocess.Popen([opt.tact, *args], start_new_session=True)
    status = child.wait()
    child = None
    if status == UNFINISHED:
        print('ended before all was measured; the same command goes on', file=sys.stderr)
        sys.exit(UNFINISHED)
    if status not in good:
        sys.exit('make_dataset.py: tact %s ended with status %d' % (' '.join(args[:2]), status))
    return status


def check_core(opt):
    """Refuses to call something by the name of another core."""
    path = opt.out + '/core.db'
    run(opt, 'measure', '-q', '--noisy', '-x', '90', '-o', path, good=(0, 1))
    arch, brand = sqlite3.connect(path).execute("select coalesce(arch, ''), brand from machine").fetchone()
    os.remove(path)
    if opt.core and arch != opt.core:
        sys.exit('make_dataset.py: this CPU is %s (%s), not %s' % (brand, arch or 'unknown', opt.core))
    return arch


def write_list(opt):
    """The blocks, each once, in an order that depends on nothing but their bytes."""
    store, path = opt.out + '/blocks.db', opt.out + '/list'
    files = sorted(glob.glob(opt.blocks + '/*.csv'))
    if not files:
        sys.exit('make_dataset.py: %s has no CSV files' % opt.blocks)
    if not os.path.exists(path):
        # Lines that are no blocks are reported and left out.
        run(opt, 'dataset', 'import', '-q', '--weights', store, *files, good=(0, 1))
        codes = [row[0] for row in sqlite3.connect(store).execute('select hex from block order by hex')]
        random.Random(opt.seed).shuffle(codes)
        codes = codes[:opt.sample] if opt.sample else codes
        with open(path + '.new', 'w', encoding='ascii') as out:
            out.write('\n'.join(codes) + '\n')
        os.rename(path + '.new', path)
    with open(path, encoding='ascii') as lines:
        return sum(1 for _ in lines)


def measure(opt, shards):
    for i in shards:
        for mode in MODES:
            store = '%s/shards/%s.%d.db' % (opt.out, mode, i)
            status = run(opt, 'measure', '-q', '-m', mode, '-j', str(opt.jobs), '--until-confirmed', '--resume', '--shard',
                         '%d/%d' % (i, opt.shards), '-o', store, opt.out + '/list', good=(0, 1))
            if status and not os.path.exists(store):
                sys.exit('make_dataset.py: %s could not be written' % store)
            print('%s: shard %d of %d is measured' % (mode, i, opt.shards), file=sys.stderr)


def quality(opt, n):
    """What became of the blocks."""
    db = sqlite3.connect(opt.out + '/dataset.db')
    out = {'blocks': n, 'modes': {}}
    for mode in MODES:
        status = dict(db.execute('select status, count(*) from measurement where mode = ? group by status', (mode,)).fetchall())
        confirmed, rounds = db.execute("select count(*), avg(rounds) from measurement where mode = ? and status = 'ok'"
                                       ' and agree >= 2', (mode,)).fetchone()
        ok = status.get('ok', 0)
        out['modes'][mode] = {'rows': sum(status.values()), 'with_number': ok, 'confirmed': confirmed,
                              'yield': ok / n, 'confirmed_share': confirmed / ok if ok else None,
                              'rounds': rounds, 'status': dict(sorted(status.items()))}
    out['machines'] = [dict(zip(('vendor', 'brand', 'family', 'model', 'stepping', 'microcode', 'hypervisor', 'arch', 'host',
                                 'kernel', 'rung', 'version', 'rows'), row)) for row in db.execute(
        'select vendor, brand, family, model, stepping, microcode, hypervisor, arch, h.name, h.kernel, rung, version,'
        ' count(*) from measurement join machine m on m.id = machine left join host h on h.id = host'
        ' group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 order by 13 desc')]
    out['canaries'] = [dict(zip(('hex', 'mode', 'host', 'rung', 'cycles_per_iteration'), row)) for row in db.execute(
        'select hex, mode, name, rung, cycles_per_iteration from canary join host on host.id = host order by 1, 2, 3, 4')]
    with open(opt.out + '/dataset.csv', 'rb') as data:
        out['sha256'] = hashlib.file_digest(data, 'sha256').hexdigest()
    with open(opt.out + '/dataset.csv', newline='', encoding='utf-8') as data:
        out['lines'] = sum(1 for _ in csv.reader(data)) - 1
    with open(opt.out + '/quality.json', 'w', encoding='utf-8') as report:
        json.dump(out, report, indent=1)
        report.write('\n')
    return out


def finish(opt, n):
    stores = ['%s/shards/%s.%d.db' % (opt.out, mode, i) for mode in MODES for i in range(opt.shards)]
    missing = [s for s in stores if not os.path.exists(s)]
    if missing and opt.only:
        print('%d of %d stores of shards are not there yet' % (len(missing), len(stores)), file=sys.stderr)
        return 0
    for name in ('dataset.db', 'dataset.db-wal', 'dataset.db-shm'):
        if os.path.exists(opt.out + '/' + name):
            os.remove(opt.out + '/' + name)
    # Status 1: a host disagrees with the others; the message names it.
    run(opt, 'dataset', 'merge', opt.out + '/dataset.db', opt.out + '/blocks.db', *[s for s in stores if os.path.exists(s)],
        good=(0, 1))
    run(opt, 'dataset', 'export', '-q', '--record', 'measurement', '-o', opt.out + '/dataset.csv', opt.out + '/dataset.db')
    q = quality(opt, n)
    for mode, m in q['modes'].items():
        print('%s: %d of %d blocks have a number (%.1f%%); two rounds confirm %.1f%% of them, after %.1f rounds; others: %s' % (
            mode, m['with_number'], n, 100 * m['yield'], 100 * (m['confirmed_share'] or 0), m['rounds'] or 0,
            ', '.join('%d %s' % (k, s) for s, k in m['status'].items() if s != 'ok') or 'none'))
    print('%s: %d lines, sha256 %s' % (opt.out + '/dataset.csv', q['lines'], q['sha256']))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--tact', default='build/tact')
    parser.add_argument('--blocks', required=True)
    parser.add_argument('--out', required=True)
    parser.add_argument('--core', help='refuse to measure on another one')
    parser.add_argument('--shards', type=int, default=16)
    parser.add_argument('--only', help='I/N: every Nth shard from the Ith on; for several machines')
    parser.add_argument('--sample', type=int, help='so many blocks, chosen at random')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--jobs', type=int, default=0, help='of tact measure: workers; 0: one for each core')
    opt = parser.parse_args()
    signal.signal(signal.SIGTERM, pass_on)
    signal.signal(signal.SIGINT, pass_on)
    signal.signal(signal.SIGUSR1, pass_on)
    os.makedirs(opt.out + '/shards', exist_ok=True)
    check_core(opt)
    n = write_list(opt)
    first, step = (int(x) for x in opt.only.split('/')) if opt.only else (0, 1)
    measure(opt, range(first, opt.shards, step))
    return finish(opt, n)


if __name__ == '__main__':
    sys.exit(main())
