#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Feeds `tact serve --lines` as Beam and Spark do: through pipes.

usage: serve_lines.py TACT
"""
import json
import os
import select
import subprocess
import sys
import threading
import time

TACT = sys.argv[1]
COMMAND = [TACT, 'serve', '--lines', '-q', '--jobs', '2']


def answers(lines, *options):
    done = subprocess.run(COMMAND + list(options), input=lines, capture_output=True, timeout=60, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def start():
    return subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def order():
    ids = [i if i % 3 else {'of': [i, 'ü\n"']} for i in range(500)]
    # requests that take longer and shorter
    lines = ''.join(json.dumps({'id': n, 'hex': '90' * (1 + 37 * i % 200), 'archs': ['SKL'],
                                'request': 'simulate' if i % 50 == 0 else 'predict'}) + '\n' for i, n in enumerate(ids))
    out = answers(lines.encode())
    assert [a['id'] for a in out] == ids and [a['line'] for a in out] == list(range(1, 501))
    assert {a['status'] for a in out} == {200}
    print('500 answers in the order of their lines, with their ids')


def bad_lines():
    lines = [b'', b'nonsense', b'\xff\xfe\x00', b'[' * 5000, b'[1]', b'{"request":"page"}', b'{"request":"measure","hex":"90"}',
             b'{"hex":"' + b'90' * 3000 + b'"}', b'{"hex":"90","hex":"91"}', b'{"id":"last","hex":"90"}']
    out = answers(b'\n'.join(lines), '--max-body', '5')
    print('bad lines have answers of their own:', *[a['status'] for a in out])
    assert out[-1]['id'] == 'last'


def at_once():
    p = start()
    for i in range(3):
        p.stdin.write(b'{"id":%d,"hex":"4801d8"}\n' % i)
        p.stdin.flush()
        assert select.select([p.stdout], [], [], 30)[0], 'no answer'
        assert json.loads(p.stdout.readline())['id'] == i
    p.stdin.close()
    assert p.wait(timeout=30) == 0
    print('an answer comes before the next line is there')


def pressure():
    """Without a reader, it must stop to take lines after some."""
    p = start()
    os.set_blocking(p.stdin.fileno(), False)
    line = json.dumps({'hex': '90' * 1000, 'archs': ['SKL']}).encode() + b'\n'
    sent, last, rest = 0, time.monotonic(), b''
    while time.monotonic() - last < 3:
        assert sent < 100 << 20, 'it reads on and on'
        rest = rest or line
        try:
            n = os.write(p.stdin.fileno(), rest)
        except BlockingIOError:
            time.sleep(0.05)
            continue
        sent, rest, last = sent + n, rest[n:], time.monotonic()
    os.set_blocking(p.stdin.fileno(), True)
    with open('/proc/%d/status' % p.pid, encoding='utf-8') as status:
        memory = int(next(row for row in status if row.startswith('VmHWM')).split()[1])
    assert memory < 100 << 10, '%d KB' % memory

    def finish():
        if rest:
            os.write(p.stdin.fileno(), rest)
        p.stdin.close()

    writer = threading.Thread(target=finish)
    writer.start()
    out = sum(json.loads(answer)['status'] == 200 for answer in p.stdout)
    writer.join()
    assert p.wait(timeout=30) == 0 and out == (sent + len(rest)) // len(line)
    print('who does not read is not read from')


def same():
    codes = ['480fafc34801d8', '4801d8', 'f30f58c1']
    out = answers(json.dumps({'id': 1, 'hex': codes, 'archs': ['SKL', 'ZEN4']}).encode())
    text = subprocess.run([TACT, 'predict', '-q', '-f', 'json', '-a', 'SKL,ZEN4'] + [w for c in codes for w in ('-x', c)],
                          capture_output=True, check=True).stdout
    assert out[0]['answer']['results'] == [json.loads(line) for line in text.splitlines()]
    print('as predict says')


def closed():
    p = start()
    p.stdout.close()
    try:
        for _ in range(1000):
            p.stdin.write(b'{"hex":"90"}\n')
            p.stdin.flush()
    except BrokenPipeError:
        pass
    assert p.wait(timeout=30) != 0
    print('a closed pipe ends it')


order()
bad_lines()
at_once()
pressure()
same()
closed()
