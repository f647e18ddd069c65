#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tact serve`: what it answers, whom it answers, and what hostile clients can do to it.

usage: check_serve.py [--tact PATH] [--slow] [--malformed N] [NAME...]

NAME: only tests whose name contains it.  --slow: the build is instrumented, so nothing is timed or weighed.
--malformed: how many requests that are malformed.
Servers listen on this machine only, on ports that are free.  The last line of the output is
"N passed, M failed, K skipped".
"""
import argparse
import base64
import concurrent.futures
import glob
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LOOP = 'l:\n\taddsd %xmm1, %xmm0\n\tmulsd (%rax), %xmm2\n\tdec %ecx\n\tjnz l\n'
HEX = '480fafc34801d8'
JSON = {'Content-Type': 'application/json'}
ENDPOINT_MEASURE = 11  # of enum serve_endpoint: what travels to a worker
tests = []


def test(function):
    tests.append(function)
    return function


class Skip(Exception):
    pass


def same(a, b, what=''):
    if a != b:
        raise AssertionError('%s: %.300r is not %.300r' % (what, a, b))


class Server:
    """A running service; ends it, and whatever is left of it, at the end of a with."""

    def __init__(self, *options, port=0, **more):
        where = [] if '--listen' in options else ['--port', str(port)]
        self.log = tempfile.TemporaryFile('w+')
        more.setdefault('stdin', subprocess.DEVNULL)
        self.p = subprocess.Popen([args.tact, 'serve', *where, *options],
                                  stdout=subprocess.DEVNULL, stderr=self.log, **more)
        limit = time.monotonic() + 60
        m = None
        while not m and self.p.poll() is None and time.monotonic() < limit:
            time.sleep(0.02)
            m = re.search(r'serving at http://(\S+):(\d+)/', self.said())
        if not m:
            self.p.kill()
            raise AssertionError('it does not start: ' + self.said())
        self.host, self.port = m.group(1).strip('[]'), int(m.group(2))

    def said(self):
        return os.pread(self.log.fileno(), 1 << 20, 0).decode(errors='replace')

    def __enter__(self):
        return self

    def __exit__(self, *what):
        if self.p.poll() is None:
            self.p.terminate()
            try:
                self.p.wait(70)
            except subprocess.TimeoutExpired:
                self.p.kill()
                raise AssertionError('it does not end')
        if 'Sanitizer' in self.said() or 'runtime error' in self.said():
            raise AssertionError(self.said()[-4000:])

    def connect(self, timeout=60):
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def raw(self, data=b'', timeout=60):
        s = socket.create_connection((self.host, self.port), timeout=timeout)
        s.sendall(data)
        return s

    def ask(self, endpoint, body=None, method=None, headers=None, connection=None):
        """Status and answer."""
        c = connection or self.connect()
        data = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
        c.request(method or ('GET' if body is None else 'POST'), '/api/1/' + endpoint, data,
                  dict(JSON if body is not None else {}, **(headers or {})))
        r = c.getresponse()
        text = r.read()
        if not connection:
            c.close()
        return r.status, json.loads(text)

    def results(self, endpoint, body):
        status, answer = self.ask(endpoint, body)
        same(status, 200, answer)
        return answer['results']

    def processes(self):
        """This one and all that it started."""
        children = {}
        for path in glob.glob('/proc/[0-9]*/stat'):
            try:
                with open(path) as f:
                    words = f.read().rsplit(')', 1)[1].split()
            except OSError:
                continue
            children.setdefault(int(words[1]), []).append(int(path.split('/')[2]))
        found, todo = [], [self.p.pid]
        while todo:
            found.append(todo.pop())
            todo += children.get(found[-1], [])
        return found


def tact(*words, stdin=None):
    """The command line's lines of JSON."""
    p = subprocess.run([args.tact, *words], input=stdin, capture_output=True, cwd='/')
    return [json.loads(line) for line in p.stdout.splitlines()]


def make_elf(source='int f(int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i] * i; return s; }\n'
             'int g(int *p, int n) { int s = 1; for (int i = 0; i < n; i++) s ^= p[i]; return s; }\n'
             'int h(int a) { return a + 1; }\n'):
    with tempfile.TemporaryDirectory() as place:
        try:
            subprocess.run(['gcc', '-O1', '-c', '-o', place + '/a.o', '-x', 'c', '-'], input=source.encode(), check=True)
        except OSError:
            raise Skip('gcc is missing')
        with open(place + '/a.o', 'rb') as f:
            return f.read()


def llvm_is_there():
    return bool(tact('predict', '-q', '-a', 'cortex-a57', '-f', 'json', '-x', '4e0180a9'))


# ---- the same numbers as the command line ----

@test
def predictions_are_those_of_the_command_line(s):
    archs = ['SKL', 'ICL', 'ZEN4']
    same(s.results('predict', {'hex': HEX, 'archs': archs}),
         tact('predict', '-q', '-a', ','.join(archs), '-f', 'json', '-x', HEX))
    same(s.results('predict', {'text': LOOP, 'archs': 'all'}),
         tact('predict', '-q', '-a', 'all', '-f', 'json', '-', stdin=LOOP.encode()))
    same(s.results('predict', {'hex': [HEX, '4801d8'], 'archs': 'HSW', 'mode': 'unroll', 'idealize': True,
                               'alignment': 5, 'memory': 'l2', 'init': 'diff', 'alias': False}),
         tact('predict', '-q', '-a', 'HSW', '-f', 'json', '-m', 'unroll', '--idealize', '--alignment', '5',
              '--memory', 'l2', '--init', 'diff', '--noalias', '-x', HEX, '-x', '4801d8'))
    same(s.results('predict', {'text': LOOP, 'archs': 'SKL', 'advice': True, 'model': 'sim'}),
         tact('predict', '-q', '-a', 'SKL', '-f', 'json', '--advice', '--model', 'sim', '-', stdin=LOOP.encode()))


@test
def intel_syntax_is_read(s):
    text = 'l: add rax, rbx\nimul rbx, rcx\njmp l\n'
    for request in ({'text': text}, {'text': text, 'syntax': 'intel'}):
        same(s.results('predict', dict(request, archs='SKL')),
             tact('predict', '-q', '-a', 'SKL', '-f', 'json', '-', stdin=text.encode()))


@test
def mca_is_that_of_the_command_line(s):
    same(s.results('mca', {'hex': HEX, 'archs': 'SKL,ZEN4'}),
         tact('predict', '-q', '-a', 'SKL,ZEN4', '--model', 'mca', '-f', 'json', '-x', HEX))


@test
def models_are_side_by_side(s):
    rows = s.results('models', {'text': LOOP, 'archs': 'SKL,ICL', 'models': 'facile,sim,mca'})
    same([(r['arch'], r['model']) for r in rows], [(a, m) for a in ('SKL', 'ICL') for m in ('facile', 'sim', 'mca')])
    for r in rows:
        same((r['schema'], r['status']), ('tact.models/1', 'ok'))
        same(r['cycles_per_iteration'],
             tact('predict', '-q', '-a', r['arch'], '--model', r['model'], '-f', 'json', '-', stdin=LOOP.encode())[0]
             ['cycles_per_iteration'], r)
    file = base64.b64encode(make_elf()).decode()
    loops = s.results('predict', {'file': file, 'archs': 'SKL', 'function': 'f'})
    same([[r['hex'], r['cycles_per_iteration']] for r in
          s.results('models', {'file': file, 'archs': 'SKL', 'function': 'f', 'models': 'facile'})],
         [[r['hex'], r['cycles_per_iteration']] for r in loops])
    same(len(s.results('models', {'hex': [HEX, '4801d8'], 'archs': 'SKL'})), 2 * 4)
    for wrong in ('command', 'id=id', 'stored:x', 'mca:params=/etc/passwd', 'llvm-mca-', 'llvm-mca-1x', 'llvm-mca-123', '',
                  'facile,', ','.join(['sim'] * 9), 'facile:ablations'):
        same(s.ask('models', {'hex': HEX, 'archs': 'SKL', 'models': wrong})[0], 400, wrong)


@test
def llvm_mca_works_in_the_box_of_a_worker(s):
    if not shutil.which('llvm-mca') or not shutil.which('llvm-mc'):
        same([r['status'] for r in s.results('models', {'hex': HEX, 'archs': 'SKL', 'models': 'llvm-mca'})], ['no_tool'])
        raise Skip('llvm-mca is not installed')
    row = s.results('models', {'hex': HEX, 'archs': 'SKL', 'models': 'llvm-mca'})[0]
    out = subprocess.run(['llvm-mca', '-mcpu=skylake', '-iterations=100'], text=True, stdout=subprocess.PIPE,
                         input='imul %rbx, %rax\nadd %rbx, %rax\n').stdout
    same(row['cycles_per_iteration'], int(re.search(r'Total Cycles:\s+(\d+)', out).group(1)) / 100)


@test
def code_is_measured_where_that_is_allowed(s):
    status, answer = s.ask('measure', {'hex': HEX})
    same((status, '--measure' in answer['error']), (501, True))
    try:
        t = Server('-j', '1', '--measure', '--max-measured', '3')
    except AssertionError as e:
        if 'cannot measure' in str(e):
            raise Skip(str(e).strip().splitlines()[-1])
        raise
    with t:
        rows = t.results('measure', {'hex': [HEX, '4801d8', '06'], 'mode': 'unroll', 'init': 'same', 'alignment': 7})
        same([(r['schema'], r['hex'], r['mode'], r['init'], r['alignment']) for r in rows],
             [('tact.measure/1', h, 'unroll', 'same', 7) for h in (HEX, '4801d8', '06')])
        same([r['status'] for r in rows], ['ok', 'ok', 'decode_error'])
        rows = t.results('measure', {'text': 'l: imul %rax, %rbx\ndec %ecx\njnz l\n'})
        same([(r['hex'], r['mode']) for r in rows], [('480fafd8ffc975f8', 'loop')])
        rows = t.results('measure', {'file': base64.b64encode(make_elf()).decode(), 'function': 'f'})
        same(len(rows), 1)
        # What would harm is refused or held by the sandbox, and the next one is measured.
        for hex in ('0f05', '0f0b', 'cd80', 'cc', 'f4', 'c3', 'ebfe', '48c70425000000000100', 'ff2500000000'):
            same(len(t.results('measure', {'hex': hex})), 1)
        for want, body, word in ((413, {'hex': ['90'] * 4}, 'more than 3 blocks'), (400, {'hex': '90', 'archs': 'SKL'}, 'archs'),
                                 (400, {'hex': '90', 'mode': 'no'}, 'mode'), (400, {'hex': '90', 'memory': '/etc'}, ''),
                                 (400, {'hex': '90', 'alignment': 'all'}, 'whole number'),
                                 (400, {'hex': '90', 'output': '/tmp/x'}, 'output'),
                                 (400, {'hex': '90', 'vectors': 'zero --output=/tmp/x'}, 'may not have'),
                                 (422, {'text': 'addx rax'}, 'no such instruction')):
            status, answer = t.ask('measure', body)
            same((status, word in answer.get('error', '')), (want, True), answer)
        same([r['status'] for r in t.results('measure', {'hex': HEX})], ['ok'])
        same(t.ask('health')[1]['workers_replaced'], 0)
        # The workers' box is as tight as without.
        workers = [p for p in t.processes() if b'--worker' in cmdline(p)]
        same(len(workers), 1)
        with open('/proc/%d/status' % workers[0]) as f:
            same(re.findall(r'^(?:NoNewPrivs|Seccomp):\t(\d)', f.read(), re.M), ['1', '2'])
        measurer = [p for p in t.processes() if b'--measurer' in cmdline(p)]
        os.kill(measurer[0], signal.SIGKILL)
        time.sleep(0.5)
        same([r['status'] for r in t.results('measure', {'hex': HEX})], ['ok'])


@test
def the_process_that_measures_takes_plans_only(s):
    with tempfile.TemporaryDirectory(dir='/tmp') as place:
        out = place + '/out'
        for plan in ('--output=' + out, '-o' + out, '-o ' + out, '--hex=90 --output=' + out, '--state=' + out, 'a.o', '-', '/etc/passwd',
                     '--hex=90 -', '--hex=', '--hex=zz', '--rung=' + 'x' * 99, '--alignment=123', '--memory=/etc', '--mode=a=b',
                     '--hex=90 ' * 20, '--no-namespaces'):
            status, answer = measurer_says(plan)
            if status is None:
                raise Skip('this machine cannot measure')
            same(status, 400, (plan, answer))
            assert 'not a plan' in answer, answer
        same(measurer_says('--mode=unroll --hex=90')[0], 200)
        same(os.listdir(place), [])


def measurer_says(plan):
    ours, its = socket.socketpair()
    with ours, tempfile.TemporaryFile() as messages:
        script = 'exec 3<&%d; exec "$0" serve --measurer 1,1,1,1,1,1,1,1' % its.fileno()
        p = subprocess.Popen(['sh', '-c', script, args.tact], pass_fds=[its.fileno()], stderr=messages)
        its.close()
        try:
            ours.settimeout(60)
            if len(ours.recv(8, socket.MSG_WAITALL)) < 8:
                return None, ''
            ours.sendall(struct.pack('II', ENDPOINT_MEASURE, len(plan)) + plan.encode())
            status, size = struct.unpack('II', ours.recv(8, socket.MSG_WAITALL))
            return status, ours.recv(size, socket.MSG_WAITALL).decode()
        finally:
            ours.close()
            p.wait(60)


@test
def simulations_are_those_of_the_command_line(s):
    same(s.results('simulate', {'text': LOOP, 'archs': ['SKL', 'ZEN4'], 'timeline': True, 'iterations': 4, 'from': 2}),
         tact('simulate', '-q', '-a', 'SKL,ZEN4', '-f', 'json', '--timeline', '--iterations', '4', '--from', '2', '-',
              stdin=LOOP.encode()))


@test
def timelines_agree_with_simulations(s):
    for arch in ('SKL', 'ZEN4'):
        t = s.results('timeline', {'text': LOOP, 'archs': arch, 'iterations': 3})[0]
        d = tact('simulate', '-q', '-a', arch, '-f', 'json', '--timeline', '--iterations', '3', '--from', '1', '-',
                 stdin=LOOP.encode())[0]
        uops = d['timeline']
        zero = min(u['issued'] for u in uops)
        same(t['schema'], 'tact.timeline/1')
        same(t['cycles_per_iteration'], d['cycles_per_iteration'])
        same(len(t['instructions']), 3 * len(d['instructions']))
        for row in t['instructions']:
            mine = [u for u in uops if (u['iteration'], u['instruction']) == (row['iteration'], row['instruction'])]
            same(row['uops'], len(mine))
            same(row['text'], d['instructions'][row['instruction']]['text'])
            same(row['pressure'], d['instructions'][row['instruction']]['ports'])
            if mine:
                same(row['start'], min(u['issued'] for u in mine) - zero)
                same(row['end'], max(u['retired'] for u in mine) - zero)
                same(row['under_pressure'], any('port_wait' in u for u in mine))


@test
def insn_and_archs_are_those_of_the_command_line(s):
    same(s.results('insn', {'name': 'popcnt', 'archs': 'SKL'}), tact('insn', '-q', '-a', 'SKL', '-f', 'json', 'popcnt'))
    same(s.results('insn', {'text': 'add rax, rbx', 'archs': ['SKL', 'ZEN4']}),
         tact('insn', '-q', '-a', 'SKL,ZEN4', '-f', 'json', 'add rax, rbx'))
    same(s.results('insn', {'hex': '480fafc3', 'archs': 'ICL'}),
         tact('insn', '-q', '-a', 'ICL', '-f', 'json', '-x', '480fafc3'))
    same(s.ask('archs')[1]['results'], tact('archs', '-q', '-f', 'json'))
    same(s.results('archs', {'archs': 'SKL'}), tact('archs', '-q', '-f', 'json', 'SKL'))


@test
def functions_and_loops_of_a_file_are_listed_and_predicted(s):
    elf = make_elf()
    file = base64.b64encode(elf).decode()
    regions = s.results('code', {'file': file})
    same(sorted({r['function'] for r in regions}), ['f', 'g', 'h'])
    loops = [r for r in regions if r['is_loop']]
    same(len(loops), 2)
    with tempfile.NamedTemporaryFile(dir='/tmp', suffix='.o') as f:
        f.write(elf)
        f.flush()
        for r in loops:
            for choice in ({'loop': r['loop']}, {'function': r['function']}):
                got = s.results('predict', dict(choice, file=file, archs='SKL'))
                same([g['hex'] for g in got], [r['hex']], choice)
            want = tact('predict', '-q', '-a', 'SKL', '-f', 'json', '--loop', str(r['loop']), f.name)
            for w in want:
                w['file'] = 'standard input'
            same(s.results('predict', {'file': file, 'archs': 'SKL', 'loop': r['loop']}), want)


INLINED = '''
static inline float mul(float a, float b)
{
	return a * b;
}
float dot(const float *a, const float *b, long n)
{
	float s = 0;
	for (long i = 0; i < n; i++)
		s += mul(a[i], b[i]);
	return s;
}
'''


@test
def lines_lead_to_the_source(s):
    region = s.results('code', {'text': '\n# two\nl:\tdec %eax\n\n\tjnz l\n', 'lines': True})[0]
    same(region['lines'], [{'offset': 0, 'source': [{'line': 3}]}, {'offset': 2, 'source': [{'line': 5}]}])
    same('lines' in s.results('code', {'text': 'nop', 'lines': False})[0], False)
    with tempfile.TemporaryDirectory(dir='/tmp') as place:
        with open(place + '/dot.c', 'w') as f:
            f.write(INLINED)
        subprocess.run(['cc', '-O1', '-g', '-c', '-o', place + '/dot.o', place + '/dot.c'], check=True)
        with open(place + '/dot.o', 'rb') as f:
            file = base64.b64encode(f.read()).decode()
        loop = [r for r in s.results('code', {'file': file, 'lines': True}) if r['is_loop']][0]
        sources = [row['source'] for row in loop['lines']]
        inner = {'line': 4, 'path': place + '/dot.c', 'function': 'mul'}
        same([inner, {'line': 10, 'path': place + '/dot.c'}] in sources, True, sources)
        same({source[-1]['line'] for source in sources} <= {9, 10}, True, sources)
        same(all(row['offset'] < loop['size'] for row in loop['lines']), True)
        # A line for neighbours that share it, none that says the same twice.
        same([a for a, b in zip(sources, sources[1:]) if a == b], [])


@test
def explanations_are_those_of_the_command_line(s):
    for which in ('bottlenecks', 'all'):
        got = s.results('predict', {'hex': HEX, 'archs': 'SKL', 'explain': which})
        same(got, tact('predict', '-q', '-a', 'SKL', '-f', 'json', '--explain', which, '-x', HEX))
        text = subprocess.run([args.tact, 'predict', '-q', '-a', 'SKL', '--explain', which, '-x', HEX],
                              stdout=subprocess.PIPE, check=True, text=True).stdout
        same(len(got[0]['explanation']) > 40 and got[0]['explanation'] in text, True)
    same('explanation' in s.results('predict', {'hex': HEX, 'archs': 'SKL'})[0], False)
    same('explanation' in s.results('predict', {'hex': HEX, 'archs': 'SKL', 'explain': 'none'})[0], False)


@test
def other_instruction_sets_go_by_the_cpu(s):
    if not llvm_is_there():
        raise Skip('tact_llvm.so is not built')
    for arch, text in (('cortex-a57,neoverse-n1', 'l: ldr x0, [x1], #8\nadd x2, x2, x0\nsubs x3, x3, #1\nb.ne l\n'),
                       ('sifive-p670', 'l: ld a0, 0(a1)\nadd a2, a2, a0\naddi a1, a1, 8\nbne a1, a3, l\n')):
        same(s.results('predict', {'text': text, 'archs': arch}),
             tact('predict', '-q', '-a', arch, '-f', 'json', '-', stdin=text.encode()))
        same(s.results('mca', {'text': text, 'archs': arch}),
             tact('predict', '-q', '-a', arch, '--model', 'mca', '-f', 'json', '-', stdin=text.encode()))
    status, answer = s.ask('predict', {'hex': HEX, 'archs': 'SKL,cortex-a57'})
    same((status, 'different instruction sets' in answer['error']), (400, True))


# ---- requests that are wrong ----

@test
def wrong_requests_are_told_what_is_wrong(s):
    good = {'hex': HEX, 'archs': 'SKL'}
    cases = [
        (400, 'predict', '{', 'not JSON'), (400, 'predict', '', 'not JSON'), (400, 'predict', '[]', 'no JSON object'),
        (400, 'predict', '{"hex":"90","hex":"90"}', 'not JSON'),
        (400, 'predict', {}, 'exactly one of'), (400, 'predict', {'hex': '90', 'text': 'nop'}, 'exactly one of'),
        (400, 'predict', {'hex': 'xyz'}, 'hex digits'), (400, 'predict', {'hex': []}, 'empty list'),
        (400, 'predict', {'hex': [1]}, 'hex digits'), (400, 'predict', {'text': 5}, 'string'),
        (400, 'predict', {'text': ''}, 'empty'), (400, 'predict', {'file': '$$'}, 'base64'),
        (400, 'predict', {'file': 'AAAAA'}, 'cut short'),
        (400, 'predict', dict(good, archs='XXX'), 'unknown microarchitecture'),
        (400, 'predict', dict(good, archs=['a/b']), 'archs'), (400, 'predict', dict(good, archs=7), 'archs'),
        (400, 'predict', dict(good, params='/etc/passwd'), 'no field "params"'),
        (400, 'predict', dict(good, output='/tmp/x'), 'no field "output"'),
        (400, 'predict', dict(good, timeline=True), 'no field "timeline"'),
        (400, 'predict', dict(good, model='command:id'), 'none of facile'),
        (400, 'predict', dict(good, model='csv:/etc/passwd'), 'none of facile'),
        (400, 'predict', dict(good, mode='sideways'), 'sideways'),
        (400, 'predict', dict(good, mode='a\nb'), 'may not have'), (400, 'predict', dict(good, loop=0), 'whole number'),
        (400, 'predict', dict(good, loop=1.5), 'whole number'), (400, 'predict', dict(good, idealize=1), 'true or false'),
        (400, 'predict', dict(good, alignment=64), '64'), (400, 'insn', {'name': 'a\nb'}, 'one line'),
        (400, 'insn', {}, 'exactly one'),
        (422, 'predict', {'text': 'adddq %rax, %rbx', 'archs': 'SKL'}, 'no such instruction'),
        (422, 'predict', {'file': base64.b64encode(b'\x7fELF' + bytes(60)).decode()}, ''),
        (422, 'predict', dict({'text': LOOP, 'archs': 'SKL'}, function='nowhere'), 'nowhere'),
        (404, 'nothing', {}, 'no such address'), (404, '../../etc/passwd', {}, 'no such address'),
    ]
    for want, endpoint, body, word in cases:
        status, answer = s.ask(endpoint, body)
        same(status, want, (endpoint, body, answer))
        if word not in answer['error']:
            raise AssertionError('%r: %r does not say %r' % (body, answer['error'], word))
    same(s.ask('predict', method='GET')[0], 405)
    same(s.ask('health', {})[0], 405)
    same(s.ask('predict', '{}', method='DELETE')[0], 405)
    same(s.ask('predict', good)[0], 200)
    # A block that fails has a status, as on the command line.
    same([r['status'] for r in s.results('predict', {'hex': ['4801d8', '06', '480'], 'archs': 'SKL'})],
         ['ok', 'decode_error', 'bad_hex'])


@test
def every_answer_is_json_and_no_page_may_read_it(s):
    for body in ({'hex': HEX, 'archs': 'SKL'}, {}):
        c = s.connect()
        c.request('POST', '/api/1/predict', json.dumps(body), JSON)
        r = c.getresponse()
        json.loads(r.read())
        same(r.getheader('Content-Type'), 'application/json')
        same(r.getheader('X-Content-Type-Options'), 'nosniff')
        same([h for h in r.headers if h.lower().startswith('access-control')], [])


@test
def other_sites_get_no_answer(s):
    good = json.dumps({'hex': HEX, 'archs': 'SKL'})

    def status(**headers):
        return s.ask('predict', good, headers={k.replace('_', '-'): v for k, v in headers.items()})[0]

    here = '127.0.0.1:%d' % s.port
    for host in ('192.0.2.7', 'evil.example', 'evil.example:%d' % s.port, '127.0.0.1.evil.example', 'localhost.evil.example',
                 '127.0.0.1:%dx' % s.port, 'localhost:', '[::1', ':80', '127.0.0.1@evil.example'):
        same(status(Host=host), 421, host)
    for host in (here, 'localhost:%d' % s.port, 'LOCALHOST:%d' % s.port, '[::1]:%d' % s.port):
        same(status(Host=host), 200, host)
    same(status(Origin='http://evil.example'), 403)
    same(status(Origin='null'), 403)
    same(status(Host=here, Origin='http://' + here), 200)
    same(status(Content_Type='text/plain'), 415)
    same(status(Content_Type='application/jsonp'), 415)
    same(status(Content_Type='application/json; charset=utf-8'), 200)
    with s.raw(b'GET /api/1/health HTTP/1.0\r\n\r\n') as c:
        assert c.recv(100).startswith(b'HTTP/1.'), 'no answer'
    status, answer = s.ask('predict', '{}', method='OPTIONS')
    same(status, 405)


# ---- the assembler ----

@test
def text_reads_no_file_and_does_not_hang(s):
    with tempfile.TemporaryDirectory(dir='/tmp') as place:
        os.mkfifo(place + '/fifo')
        secret = place + '/secret'
        with open(secret, 'w') as f:
            f.write('\x90' * 8)
        os.chmod(secret, 0o644)
        texts = ['.incbin "%s"' % secret, '.include "%s"' % secret, '.include "%s/fifo"' % place,
                 '.INCBIN "%s"' % secret, 'nop; .incbin "%s"' % secret, '".incbin" "%s"' % secret,
                 '.macro m a\n\\a "%s"\n.endm\nm .incbin' % secret,
                 '.macro m a, b, c\n\\a\\b \\c\n.endm\nm .inc, bin, "\\"%s\\""' % secret,
                 '.macro m a:vararg\n\\a\n.endm\nm .inc\\()bin "%s"' % secret,
                 '.irp a,.incbin\n\\a "%s"\n.endr' % secret, '.altmacro\n.macro m a\n.inc&a "%s"\n.endm\nm bin' % secret,
                 '.rept 1000000000\nnop\n.endr', '.fill 2900000000,1,0x90', '.space 100000000000',
                 '.macro r\nr\nr\n.endm\nr', '.org 1 << 40']
        for syntax in ('att', 'intel'):
            for text in texts:
                start = time.monotonic()
                status, answer = s.ask('predict', {'text': text + '\nnop\n', 'archs': 'SKL', 'syntax': syntax})
                if '90909090' in json.dumps(answer):
                    raise AssertionError('%r came into %r' % (text, answer))
                if status not in (422, 504):
                    raise AssertionError('%r: %r' % (text, answer))
                assert args.slow or time.monotonic() - start < 60, text
        same(s.ask('predict', {'text': LOOP, 'archs': 'SKL'})[0], 200)
    if llvm_is_there():
        for text in ('.incbin "/etc/passwd"', '.include "/etc/passwd"'):
            status, answer = s.ask('predict', {'text': text, 'archs': 'cortex-a57'})
            same(status, 422, answer)


@test
def nothing_is_left_behind_when_it_is_killed(s):
    with Server('-j', '2', '--timeout', '30') as t:
        slow = {'text': '.rept 20000\n.rept 20000\n.if 0\n.endif\n.endr\n.endr\nnop\n', 'archs': 'SKL'}
        thread = threading.Thread(target=lambda: quietly(t.ask, 'predict', slow), daemon=True)
        thread.start()
        limit = time.monotonic() + 20
        while len(t.processes()) < 1 + 2 * 2 + 2 and time.monotonic() < limit and thread.is_alive():
            time.sleep(0.01)
        left = t.processes()
        t.p.kill()
        t.p.wait()
        limit = time.monotonic() + 10
        while [p for p in left if os.path.exists('/proc/%d' % p)] and time.monotonic() < limit:
            time.sleep(0.02)
        left = [p for p in left if os.path.exists('/proc/%d/exe' % p)]
        same(left, [], 'left behind')


# ---- limits ----

@test
def limits_have_answers(s):
    with Server('-j', '1', '--max-body', '4', '--max-blocks', '3', '--max-instructions', '20', '--max-iterations', '5',
                '--max-archs', '2', '--max-requests', '3', '--timeout', '2') as t:
        status, answer = t.ask('predict', {'hex': '90' * 4000})
        same((status, 'max-body' in answer['error']), (413, True))
        c = t.connect()
        c.request('POST', '/api/1/predict', iter([b' ' * 3000, b' ' * 3000]), JSON, encode_chunked=True)
        r = c.getresponse()
        same((r.status, 'max-body' in json.loads(r.read())['error']), (413, True))
        for body, word in (({'hex': ['90'] * 4}, 'max-blocks'), ({'text': '90\n90\n90\n90\n'}, 'more than 3 blocks'),
                           ({'hex': '90' * 21}, 'more than 20 instructions'),
                           ({'hex': '90' * 301}, 'max-instructions'),
                           ({'hex': '90', 'archs': ['SKL', 'HSW', 'ICL']}, 'max-archs'),
                           ({'hex': '90', 'archs': 'SKL,HSW,ICL'}, 'max-archs')):
            status, answer = t.ask('predict', dict({'archs': 'SKL'}, **body))
            same((status, word in answer['error']), (413, True), answer)
        status, answer = t.ask('timeline', {'hex': '90', 'archs': 'SKL', 'iterations': 6})
        same((status, 'max-iterations' in answer['error']), (413, True))
        status, answer = t.ask('code', {'text': '\n'.join('f%d:\nnop\nret\n.globl f%d\n.type f%d, @function' % (i, i, i)
                                                          for i in range(9)), 'archs': 'SKL'})
        same((status, 'more than' in answer['error']), (413, True), answer)
        # The third answer over a connection is its last.
        c = t.connect()
        for i in range(3):
            c.request('GET', '/api/1/health')
            r = c.getresponse()
            r.read()
            same(r.getheader('Connection') == 'close', i == 2)
        # A worker that takes too long is replaced.
        start = time.monotonic()
        status, answer = t.ask('predict', {'text': '.rept 20000\n.rept 20000\n.if 0\n.endif\n.endr\n.endr\nnop\n', 'archs': 'SKL'})
        same(status, 504, answer)
        assert args.slow or time.monotonic() - start < 30
        same(t.ask('predict', {'hex': '90', 'archs': 'SKL'})[0], 200)
        same(t.ask('health')[1]['workers_replaced'], 1)
    with Server('-j', '1', '--max-answer', '1') as t:
        status, answer = t.ask('simulate', {'hex': '4801d8' * 100, 'archs': 'SKL', 'timeline': True, 'iterations': 100})
        same((status, 'max-answer' in answer['error']), (413, True), answer)
        same(t.ask('predict', {'hex': '90', 'archs': 'SKL'})[0], 200)


@test
def too_many_connections_are_told(s):
    with Server('-j', '1', '--max-connections', '5') as t:
        held = [t.raw() for _ in range(5)]
        c = t.raw(b'GET /api/1/health HTTP/1.1\r\nHost: localhost\r\n\r\n')
        answer = read_all(c)
        assert answer.startswith(b'HTTP/1.1 503 '), answer
        same(json.loads(answer.split(b'\r\n\r\n', 1)[1])['status'], 503)
        for h in held:
            h.close()
        same(in_time(lambda: t.ask('health')[0], lambda status: status == 200), 200)


def in_time(ask, is_good, limit=30):
    """The first good answer, or the last one: what takes how long depends on the machine."""
    end = time.monotonic() + limit
    while True:
        answer = ask()
        if is_good(answer) or time.monotonic() > end:
            return answer
        time.sleep(0.05)


@test
def a_connection_without_memory_keeps_no_place(s):
    """libmicrohttpd closes one that it has no memory for, and does not say so."""
    if args.slow:
        raise Skip('sanitizers have an allocator of their own')
    if not shutil.which('gcc'):
        raise Skip('there is no gcc')
    with tempfile.TemporaryDirectory() as place:
        library = os.path.join(place, 'no_memory.so')
        subprocess.run(['gcc', '-shared', '-fPIC', '-o', library, os.path.join(ROOT, 'tests/serve/no_memory.c')], check=True)
        more = dict(os.environ, LD_PRELOAD=library, NO_MEMORY='9')
        with Server('-j', '1', '--max-connections', '4', env=more) as t:
            dropped = 0
            for _ in range(9):
                with t.raw(b'GET /api/1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n') as c:
                    dropped += not read_all(c)
            assert dropped, 'nothing was dropped: this library asks for memory in another way'
            same(in_time(lambda: t.ask('health')[1].get('connections'), lambda n: n == 1), 1)


def read_all(s):
    data = b''
    try:
        while True:
            piece = s.recv(65536)
            if not piece:
                break
            data += piece
    except OSError:
        pass
    return data


@test
def slow_clients_time_out_and_hold_up_nobody(s):
    with Server('-j', '2') as t:
        head = b'POST /api/1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n'
        clients = [t.raw() for _ in range(10)]                       # say nothing
        clients += [t.raw(b'POST /api/1/pre') for _ in range(10)]   # stop in the middle of a line
        clients += [t.raw(head + b'{"hex":') for _ in range(10)]    # or of the body
        start = time.monotonic()
        trickle = [t.raw(head) for _ in range(10)]                  # a byte now and then
        reasons = []
        while time.monotonic() - start < 14:
            for c in trickle:
                try:
                    c.send(b' ')
                except OSError:
                    pass
            before = time.monotonic()
            same(t.ask('predict', {'hex': HEX, 'archs': 'SKL'})[0], 200)
            # Behind one, it would be as long as a client may take: ten seconds.
            assert args.slow or time.monotonic() - before < 9, 'a slow client holds others up'
            time.sleep(0.4)
        for c in clients + trickle:
            c.settimeout(20)
            answer = read_all(c)
            reasons.append(answer[:12])
            try:
                c.settimeout(20)
                gone = c.recv(1) == b''
            except socket.timeout:
                gone = False
            except OSError:
                gone = True
            assert gone, 'a slow client is still there'
        assert reasons.count(b'HTTP/1.1 408') >= 20, reasons
        same(in_time(lambda: t.ask('health')[1]['connections'], lambda n: n == 1), 1)


# ---- others ----

@test
def others_need_a_token(s):
    with tempfile.TemporaryDirectory(dir='/tmp') as place:
        file = place + '/token'
        for options in (['--listen', '0.0.0.0:0'], ['--listen', '[::]:0'], ['--listen', ':7342'], ['--listen', '7342'],
                        ['--listen', 'example.org:1']):
            p = subprocess.run([args.tact, 'serve', *options], capture_output=True, text=True, timeout=60)
            same(p.returncode, 2, p.stderr)
        with Server('-j', '1', '--listen', '0.0.0.0:0', '--token-file', file, '--host', 'box.example,other') as t:
            t.host = '127.0.0.1'
            same(stat.S_IMODE(os.stat(file).st_mode), 0o600)
            with open(file) as f:
                token = f.read().strip()
            same(len(token), 64)
            body = {'hex': HEX, 'archs': 'SKL'}

            def status(endpoint='predict', **headers):
                return t.ask(endpoint, body if endpoint == 'predict' else None, headers=headers)[0]

            same(status(), 401)
            for wrong in ('', 'Bearer', 'Bearer ', 'Bearer x', 'Bearer ' + token[:-1], 'Bearer ' + token + 'x',
                          'Bearer ' + token * 2, 'Basic ' + token, token):
                same(status(Authorization=wrong), 401, wrong)
            same(status(Authorization='Bearer ' + token), 200)
            same(status('archs'), 401)
            same(status('health'), 200)
            same(status(Authorization='Bearer ' + token, Host='evil.example'), 421)
            same(status(Authorization='Bearer ' + token, Host='box.example:%d' % t.port), 200)
            same(status(Authorization='Bearer ' + token, Host='192.0.2.7:%d' % t.port), 200)
            same(status(Authorization='Bearer ' + token, Host='[2001:db8::1]:%d' % t.port), 200)
            same(status(Authorization='Bearer ' + token, Host='192.0.2.7.evil.example:%d' % t.port), 421)
        with Server('-j', '1', '--token-file', file) as t:  # the same token again
            same(t.ask('predict', body, headers={'Authorization': 'Bearer ' + token})[0], 200)
        for content, mode in ((token, 0o644), ('short', 0o600), (token + '\nmore', 0o600), ('', 0o600)):
            with open(file, 'w') as f:
                f.write(content)
            os.chmod(file, mode)
            p = subprocess.run([args.tact, 'serve', '--port', '0', '--token-file', file], capture_output=True, timeout=60)
            same(p.returncode, 2, content)


# ---- many, and malformed ----

@test
def a_hundred_at_once_are_answered(s):
    want = tact('predict', '-q', '-a', 'all', '-f', 'json', '-x', HEX)
    with Server('-j', '2', '-v') as t:
        with concurrent.futures.ThreadPoolExecutor(100) as e:
            answers = list(e.map(lambda i: t.results('predict', {'hex': HEX, 'archs': 'all'}), range(300)))
        same([a for a in answers if a != want], [])
        lines = re.findall(r'"/api/1/predict" 200, \d+ bytes, [\d.]+ ms', t.said())
        same(len(lines), 300)


def mutate(rng, data):
    data = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(data) + 1)
        how = rng.randrange(4)
        if how == 0 and data:
            data[at % len(data)] = rng.randrange(256)
        elif how == 1:
            data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 8)))
        elif how == 2:
            del data[at:at + rng.randint(1, 12)]
        else:
            data[at:at] = rng.choice([b'{', b'[', b'"', b'\\u0000', b'1e999', b'null', b'-1', b'\xff', b'.rept 9\n', b'%s%n',
                                      b'\x00', b'99999999999999999999', b'[' * 300])
    return bytes(data)


@test
def malformed_requests_do_no_harm(s):
    rng = random.Random(1)
    n = args.malformed or (500 if args.slow else 2000)
    try:
        elf = base64.b64encode(make_elf()).decode()
    except Skip:
        elf = ''
    bodies = [('predict', {'hex': HEX, 'archs': 'SKL'}), ('predict', {'text': LOOP, 'archs': ['SKL', 'ZEN4']}),
              ('simulate', {'hex': HEX, 'archs': 'SKL', 'timeline': True, 'iterations': 2}),
              ('timeline', {'hex': HEX, 'archs': 'SKL'}), ('mca', {'hex': HEX, 'archs': 'SKL'}),
              ('insn', {'name': 'popcnt', 'archs': 'SKL'}), ('code', {'text': LOOP, 'archs': 'SKL'}),
              ('archs', {'archs': 'SKL'}), ('predict', {'file': elf, 'archs': 'SKL'}),
              ('models', {'hex': HEX, 'archs': 'SKL', 'models': 'facile,sim,mca'})]
    statuses, slowest = {}, []
    lock = threading.Lock()

    def one(i):
        endpoint, body = bodies[i % len(bodies)]
        data = json.dumps(body).encode()
        if 'file' in body and elf:  # the file itself, not its wrapping
            whole = mutate(random.Random(i), base64.b64decode(elf))
            data = json.dumps({'file': base64.b64encode(whole).decode(), 'archs': 'SKL'}).encode()
        else:
            data = mutate(random.Random(i), data)
        start = time.monotonic()
        status, answer = t.ask(endpoint, data)
        with lock:
            slowest.append((time.monotonic() - start, status, endpoint, data[:200]))
            slowest.sort(reverse=True)
            del slowest[1:]
            statuses[status] = statuses.get(status, 0) + 1
        if status != 200 and not answer.get('error'):
            raise AssertionError('%r: %r' % (data, answer))

    def raw(i):
        head = b'POST /api/1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n' \
            b'{"hex":"90909090"}  '
        with t.raw(mutate(random.Random(i), head), 20) as c:
            c.shutdown(socket.SHUT_WR)
            read_all(c)

    with Server('-j', '2') as t:
        with concurrent.futures.ThreadPoolExecutor(8) as e:
            list(e.map(one, range(n)))
            list(e.map(raw, range(n // 4)))
        same(t.ask('predict', {'hex': HEX, 'archs': 'SKL'})[0], 200)
        print('    statuses of malformed requests: %s; the slowest took %.1f s' % (dict(sorted(statuses.items())),
                                                                                    slowest[0][0]))
        # GNU as takes seconds and much memory for hundreds of brackets in Intel syntax, and its box ends that; on a
        # machine that others use, the request is over then.
        same(t.ask('health')[1]['workers_replaced'], statuses.pop(504, 0), 'a worker ended: %s; %r' % (t.said()[-2000:], slowest))
        assert 'a worker ended' not in t.said(), t.said()[-2000:]
        assert not set(statuses) - {200, 400, 413, 422}, statuses


@test
def values_without_end_take_no_memory(s):
    with Server('-j', '1') as t:
        t.ask('predict', {'hex': HEX, 'archs': 'all'})
        before = own_memory(t.processes())
        n = 7 << 20
        for body in ('{"hex":[' + '{},' * (n // 3) + '{}]}', '{"hex":[' + '"",' * (n // 3) + '""]}', '[' * n, '{"a":' * (n // 5),
                     '{' + ','.join('"%x":1' % i for i in range(500000)) + '}', '{"hex":[' + '1,' * (n // 2) + '1]}'):
            status, answer = t.ask('predict', body)
            same((status, 'values' in answer['error']), (413, True), answer)
        same(t.ask('predict', '{"text":"' + '[,{\\"' * 1000 + '"}')[0], 422)  # of a string, they are no values
        after = own_memory(t.processes())
        print('    %d KB before, %d KB after' % (before, after))
        assert args.slow or after < before + 60000, (before, after)
        same(t.ask('health')[1]['workers_replaced'], 0)


@test
def workers_hold_nothing_else(s):
    with open(__file__, 'rb') as secret, Server('-j', '1', pass_fds=[secret.fileno()]) as t:
        worker = [p for p in t.processes() if b'--worker' in cmdline(p)][0]
        links = {f: os.readlink('/proc/%d/fd/%s' % (worker, f)) for f in os.listdir('/proc/%d/fd' % worker)}
        strange = [v for v in links.values() if not re.match(r'/dev/null|/memfd:tact-|socket:', v)]
        same((strange, len([v for v in links.values() if v.startswith('socket:')])), ([], 1), links)
        with open('/proc/%d/status' % worker) as f:
            status = f.read()
        same(re.findall(r'^(?:NoNewPrivs|Seccomp):\t(\d)', status, re.M), ['1', '2'])


@test
def a_worker_that_dies_is_replaced(s):
    with Server('-j', '1') as t:
        workers = [p for p in t.processes() if b'--worker' in cmdline(p)]
        same(len(workers), 1)
        os.kill(workers[0], signal.SIGKILL)
        time.sleep(0.2)
        same(t.ask('predict', {'hex': HEX, 'archs': 'SKL'})[0], 200)


def cmdline(pid):
    try:
        with open('/proc/%d/cmdline' % pid, 'rb') as f:
            return f.read()
    except OSError:
        return b''


# ---- ending ----

class Load:
    """Clients that ask again and again, over new and over kept connections; counts what becomes of requests."""

    def __init__(self, server, n=16):
        self.answered = self.refused = 0
        self.lost = []
        self.stop = False
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.work, args=(server, i % 2), daemon=True) for i in range(n)]
        for thread in self.threads:
            thread.start()

    def work(self, server, keeps):
        c = None
        while not self.stop:
            try:
                c = c or server.connect()
                if not c.sock:
                    c.connect()
            except OSError:
                with self.lock:
                    self.refused += 1
                c = None
                time.sleep(0.01)
                continue
            fresh = not getattr(c, 'used', False)
            try:
                status, answer = server.ask('predict', {'hex': HEX, 'archs': 'SKL,ZEN4'}, connection=c)
                assert status == 200 and len(answer['results']) == 2, answer
                c.used = True
                with self.lock:
                    self.answered += 1
                if not keeps:
                    c.close()
                    c = None
            except (OSError, http.client.HTTPException) as e:
                # A kept connection may be closed while it is idle (RFC 9112, 9.3.1); a new one may not.
                if fresh:
                    with self.lock:
                        self.lost.append(repr(e))
                c.close()
                c = None

    def end(self):
        self.stop = True
        for thread in self.threads:
            thread.join(60)


@test
def stopping_under_load_loses_nothing(s):
    for number in (signal.SIGTERM, signal.SIGINT):
        for _ in range(2):
            t = Server('-j', '2')
            load = Load(t)
            time.sleep(0.7)
            t.p.send_signal(number)
            same(t.p.wait(60), 0)
            load.end()
            assert load.answered > 20, load.answered
            same(load.lost, [])


@test
def it_ends_with_the_program_that_holds_its_input(s):
    for way in ('closed', 'killed'):
        # Something in between, so that a holder can be killed.
        holder = subprocess.Popen(['cat'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with Server('-j', '1', '--until-eof', stdin=holder.stdout) as t:
            holder.stdout.close()
            holder.stdin.write(b'nothing to do with it\n')
            holder.stdin.flush()
            same(t.ask('health')[0], 200)
            if way == 'closed':
                holder.stdin.close()
            else:
                holder.kill()
            holder.wait(60)
            same(t.p.wait(60), 0)
    # Without the option, and an input that has ended.
    same(s.ask('health')[0], 200)


@test
def beginning_anew_under_load_loses_nothing(s):
    with Server('-j', '2') as t:
        load = Load(t)
        for i in range(3):
            time.sleep(0.7)
            t.p.send_signal(signal.SIGHUP)
            limit = time.monotonic() + 30
            while t.said().count('serving at') < i + 2 and time.monotonic() < limit:
                time.sleep(0.02)
            same(t.said().count('serving at'), i + 2)
        time.sleep(0.5)
        load.end()
        assert load.answered > 50, load.answered
        same((load.lost, load.refused), ([], 0))


@test
def a_socket_may_be_handed_over(s):
    listener = socket.socket()
    listener.bind(('127.0.0.1', 0))
    listener.listen(10)
    port = listener.getsockname()[1]
    # The shell knows its number, which stays that of the program.
    script = 'exec 3<&%d; LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" serve -j 1' % listener.fileno()
    p = subprocess.Popen(['sh', '-c', script, args.tact], pass_fds=[listener.fileno()], stderr=subprocess.DEVNULL)
    listener.close()
    try:
        c = http.client.HTTPConnection('127.0.0.1', port, timeout=30)
        c.request('GET', '/api/1/health')
        same(json.loads(c.getresponse().read())['status'], 'ok')
    finally:
        p.terminate()
        p.wait(60)


# ---- memory and time ----

def own_memory(pids):
    """Kilobytes that belong to these alone, without files: these are shared with others, more or less."""
    total = 0
    for p in pids:
        try:
            with open('/proc/%d/smaps_rollup' % p) as f:
                total += int(re.search(r'^Anonymous:\s+(\d+)', f.read(), re.M).group(1))
        except (OSError, AttributeError):
            pass
    return total


@test
def memory_stays_flat(s):
    if args.slow:
        raise Skip('an instrumented build keeps what was freed')
    with Server('-j', '2') as t:
        bodies = [('predict', {'hex': HEX, 'archs': 'all'}), ('simulate', {'hex': HEX, 'archs': 'SKL'}),
                  ('predict', {'text': LOOP, 'archs': 'SKL'}), ('predict', '{'), ('mca', {'hex': HEX, 'archs': 'ZEN4'}),
                  ('predict', {'hex': '90' * 2000, 'archs': 'SKL'}), ('timeline', {'hex': HEX, 'archs': 'SKL'})]

        def some(n):
            with concurrent.futures.ThreadPoolExecutor(8) as e:
                list(e.map(lambda i: t.ask(*bodies[i % len(bodies)]), range(n)))
            time.sleep(0.5)
            return own_memory(t.processes())

        some(700)
        before = some(700)
        after = some(2100)
        print('    %d KB after 1400 requests, %d KB after 3500' % (before, after))
        assert after < before * 1.05 + 1000, (before, after)
        same(t.ask('health')[1]['workers_replaced'], 0)


@test
def a_loop_on_all_cpus_takes_less_than_50_ms(s):
    if args.slow:
        raise Skip('instrumented builds are slow')
    c = s.connect()
    for body in ({'hex': 'f20f58c1f20f5910ffc975f4', 'archs': 'all'}, {'text': LOOP, 'archs': 'all'}):
        times, before = [], cpu_time(s)
        for _ in range(30):
            start = time.perf_counter()
            same(s.ask('predict', body, connection=c)[0], 200)
            times.append(time.perf_counter() - start)
        times.sort()
        print('    %s on all CPUs: %.1f ms (median), %.1f ms (slowest of 30)' % (next(iter(body)), times[15] * 1e3,
                                                                               times[-1] * 1e3))
        # Not the time that it took: others may use the machine.
        spent = (cpu_time(s) - before) / 30
        assert spent < 0.05, (spent, times)


def cpu_time(s):
    """Seconds of the service and its workers, of what they waited for too."""
    total = 0
    for pid in s.processes():
        with open('/proc/%d/stat' % pid) as f:
            total += sum(map(int, f.read().rsplit(')', 1)[1].split()[11:15]))
    return total / os.sysconf('SC_CLK_TCK')


@test
def the_interface_is_documented(s):
    status, served = s.ask('openapi.json')
    with open(ROOT + '/doc/openapi.json') as f:
        same(served, json.load(f))
    same(status, 200)
    known = {'/api/1/' + n for n in ('health', 'version', 'openapi.json', 'archs', 'insn', 'predict', 'mca', 'simulate',
                                     'timeline', 'models', 'code', 'measure')} | {'/'}
    same(set(served['paths']), known)
    with open(ROOT + '/cli/serve/serve_request.c') as f:
        source = f.read()
    fields = set(re.findall(r'\{"(\w+)", IS_', source)) | set(re.findall(r'^\t\{"(\w+)", (?:SOURCE|CODE|ON)', source, re.M))
    documented = set()
    for schema in served['components']['schemas'].values():
        for part in [schema, *schema.get('allOf', [])]:
            documented |= set(part.get('properties', {}))
    same(fields - documented, set(), 'fields that doc/openapi.json does not have')
    with open(ROOT + '/doc/api.md') as f:
        text = f.read()
    same([f for f in sorted(fields) if '`%s`' % f not in text], [], 'fields that doc/api.md does not have')


def quietly(f, *words):
    try:
        f(*words)
    except (OSError, http.client.HTTPException):
        pass


def main():
    global args
    parser = argparse.ArgumentParser()
    parser.add_argument('--tact', default=os.path.join(ROOT, 'build/tact'))
    parser.add_argument('--slow', action='store_true')
    parser.add_argument('--malformed', type=int)
    parser.add_argument('names', nargs='*')
    args = parser.parse_args()
    args.tact = os.path.abspath(args.tact)
    chosen = [t for t in tests if not args.names or any(n in t.__name__ for n in args.names)]
    try:
        server = Server('-j', '2')
    except AssertionError as e:
        if 'libmicrohttpd' in str(e) or 'Landlock' in str(e):
            print('skip: %s' % str(e).strip().splitlines()[-1])
            print('0 passed, 0 failed, %d skipped' % len(chosen))
            return 0
        raise
    passed = failed = skipped = 0
    with server:
        for t in chosen:
            start = time.monotonic()
            try:
                t(server)
                passed += 1
                print('ok %s (%.1f s)' % (t.__name__, time.monotonic() - start), flush=True)
            except Skip as why:
                skipped += 1
                print('skip: %s: %s' % (t.__name__, why))
            except Exception:
                failed += 1
                print('FAIL %s\n%s' % (t.__name__, traceback.format_exc()), flush=True)
    print('%d passed, %d failed, %d skipped' % (passed, failed, skipped))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
