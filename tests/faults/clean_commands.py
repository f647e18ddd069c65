# SPDX-License-Identifier: MIT
"""What is run under sanitizers and valgrind beside commands.py: more of each command, on more data, with threads."""
import http.client
import json
import os
import subprocess
import threading

import commands
from commands import Command

SAMPLE = os.path.join(commands.TOP, 'tests/accuracy/sample.csv')
CLIENTS = 8

# A program with threads, floating point, calls through pointers and C's library.
THREADS = r'''
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double values[512];

static int compare(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static void *work(void *arg)
{
	double copy[512], sum = 0;

	for (int round = 0; round < 3; round++) {
		memcpy(copy, values, sizeof(copy));
		qsort(copy, 512, sizeof(*copy), compare);
		for (int i = 0; i < 512; i++)
			sum += copy[i] * (i + (long)arg);
	}
	return (void *)(long)(sum > 0);
}

int main(void)
{
	pthread_t threads[3];
	long n = 0;

	for (int i = 0; i < 512; i++)
		values[i] = (i * 7919) % 1000;
	for (long i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < 3; i++) {
		void *result;

		pthread_join(threads[i], &result);
		n += (long)result;
	}
	printf("%ld\n", n);
	return n != 3;
}
'''
LOOPS = '''	.globl f
f:
# LLVM-MCA-BEGIN first
1:	vmulps (%rdi), %ymm1, %ymm2
	vaddps %ymm2, %ymm3, %ymm3
	addq $32, %rdi
	cmpq %rsi, %rdi
	jb 1b
# LLVM-MCA-END
	movq %rax, 8(%rsp)
	ret
'''
KERNEL_ARM = '''1:	fmla v0.4s, v1.4s, v2.4s
	ldr q1, [x0], #16
	subs x1, x1, #1
	b.ne 1b
'''


def clean_commands():
    """With {sample} and {few} for measured blocks, {elf} for a program of gcc's and {threads} for one with threads."""
    return [
        Command('predict_all', 'predict -q -a all -m loop -j 4 -f csv -o out {few}'),
        Command('predict_sim', 'predict -q -a SKL,ZEN4 --model sim -j 4 -f json -o out {few}'),
        Command('predict_mca', 'predict -q -a SKL --model mca -j 4 -f csv -o out {few}'),
        Command('predict_explain', 'predict -q -a SKL --explain all --graph g.svg loops.s', ['g.svg']),
        Command('predict_llvm', 'predict -q -a neoverse-v2 arm.s'),
        Command('predict_program', 'predict -q -a SKL -f csv -o out {elf}'),
        Command('predict_lines', 'predict -q -a ICL --function main --alignment all {elf}'),
        Command('predict_advice', 'predict -q -a SKL --advice loops.s'),
        Command('simulate_csv', 'simulate -q -a SKL,GLC -j 4 -f csv -o out {few}'),
        Command('simulate_timeline', 'simulate -q -a ZEN4 --timeline --html page.html loops.s', ['page.html']),
        Command('measure_file', 'measure -q --noisy --tp-only -j 2 --rounds 1 -f csv -o out {dozen}', measures=True),
        Command('classify_threads', 'classify -q --train m.new --topics 4 --starts 4 -j 4 -o out {few}'),
        Command('evaluate_threads', 'evaluate -q -a ICX --model facile,sim,mca --bottlenecks SNB,RKL -j 4 -f csv {few}'),
        Command('evaluate_page', 'evaluate -q -a ICX --report page -j 4 {few}'),
        Command('dataset_import', 'dataset import -q -a ICX --machine big big.db {sample}'),
        Command('dataset_lint', 'dataset lint -q sample.db'),
        Command('dataset_merge', 'dataset merge -q sample.db a.db b.db'),
        Command('dataset_export', 'dataset export -q -o out sample.db'),
        Command('trace_threads', 'trace -q -a SKL -f json -o out -- {threads}', traces=True),
        Command('trace_text', 'trace -q -a SKL --iterations 50 --input plain.s'),
        Command('trace_page', 'trace -q -a ZEN4 --html page.html --by caller -o out --input threads.trace', traces=True),
        Command('trace_exact', 'trace -q -a GLC --exact -f csv -o out --input threads.trace', traces=True),
        Command('trace_core', 'trace -q -a SKL --core -o out --input threads.trace', traces=True),
        Command('trace_native', 'trace -q --native -a SKL -o out -- {elf} 900'),
        Command('trace_listen', 'trace -a SKL -o out --listen 127.0.0.1:0', traces=True),
        Command('diff_runs', 'diff -q threads1.json threads2.json', traces=True),
        Command('mix_exact', 'mix exact -q -o out -- {threads}', traces=True),
        Command('mix_virtual', 'mix record -q --virtual --ebs-period 1009 --lbr-period 101 --exact e.counts -o out --'
                               ' {threads}', traces=True),
        Command('mix_native', 'mix record -q --native -o out -- {elf} 900'),
        Command('mix_cycles', 'mix report -q --cycles -a SKL -i mix.data', traces=True),
        Command('mix_functions', 'mix report -q --by function,mnemonic --html page.html -i mix.data', traces=True),
        Command('mix_export', 'mix export --bolt -q -o out mix.data', traces=True),
        Command('mix_diff', 'mix diff -q mix.data tiny.counts', traces=True),
        Command('tune_threads', 'tune -q -a ICX --model facile --budget 20 -j 4 -o out {few}'),
        Command('tune_sim', 'tune -q -a ICX --model sim --budget 4 -j 4 -o out few.csv'),
        Command('tune_mca', 'tune -q -a ICX --budget 20 -j 4 -o out few.csv'),
        Command('tune_surrogate', 'tune -q -a ICX --method surrogate --random-start --embedding 4 --hidden 8 --samples 1'
                                  ' --epochs 1 --table-epochs 1 --rounds 2 -j 4 -o out few.csv'),
        Command('serve_clients', 'serve --port 0 -j 3', serves=True),
        Command('hunt_threads', 'hunt -q -a SKL --against sim --blocks 200 -j 4 -f csv -o out {few}'),
        Command('hunt_truth', 'hunt -q -a ICX --model sim --relative 3 --share 30 -j 4 --truth {few}'),
        Command('hunt_emit', 'hunt -q -a SKL --blocks 50 --emit out'),
        Command('insn_all', 'insn -q -a all -f json -o out imul'),
        Command('insn_forms', 'insn -q -a SKL,GLC -f csv -o out -x 480fafc3'),
        Command('archs_all', 'archs -f json -o out'),
        Command('archs_text', 'archs -o out GLC'),
        Command('archs_coverage', 'archs --coverage -q -a SKL,ICL {few}'),
        Command('check_json', 'check -q -f json check.ini'),
        Command('calibrate_run', 'calibrate -q --quick --memory 1 --rounds 1', measures=True),
        Command('doctor_json', 'doctor -f json -o out'),
        Command('mca', 'mca -mcpu=skylake -all-views -iterations 50 loops.s'),
        Command('mca_llvm', 'mca -mtriple=aarch64 -mcpu=neoverse-v2 -timeline arm.s'),
        Command('mca_json', 'mca -mcpu=alderlake -json loops.s'),
        Command('uica', 'uica -arch SKL -trace t.html -depGraph d.svg loops.s'),
        Command('uica_all', 'uica -arch all loops.s'),
        Command('iaca', 'iaca -arch SKL -trace t.txt loops.s'),
        Command('osaca', 'osaca --arch SKX --export-graph g.dot loops.s'),
        Command('osaca_arm', 'osaca --arch v2 --ignore-unknown arm.s'),
    ]


class Inputs(commands.Inputs):
    def __init__(self, tact, place):
        super().__init__(tact, place)
        self.write('threads.c', THREADS)
        self.elf, self.threads = os.path.join(place, 'elf'), os.path.join(place, 'threads')
        source = os.path.join(self.folder, 'threads.c')
        subprocess.run(['gcc', '-O2', '-g', '-pthread', '-static', '-o', self.threads, source], check=True)
        subprocess.run(['gcc', '-O2', '-g', '-o', self.elf, os.path.join(commands.TOP, 'examples/histogram.c')],
                       check=True)
        self.write('loops.s', LOOPS)
        self.write('arm.s', KERNEL_ARM)
        self.write('plain.s', 'addq %rax, %rbx\nimulq %rbx, %rcx\nmovq %rcx, (%rsp)\n')
        with open(SAMPLE) as f:
            rows = f.readlines()
        self.write('sample.csv', ''.join(rows))
        self.write('hundreds.csv', ''.join(rows[:1] + rows[1::8]))
        self.write('dozen.csv', ''.join(rows[:13]))
        self.run('dataset import -q -a ICX --machine s sample.db hundreds.csv')
        if self.has_qemu:
            self.run('trace -q --record threads.trace -- {threads}')
            self.run('trace -q -a SKL -f json -o threads1.json --input threads.trace')
            self.run('trace -q -a ZEN4 -f json -o threads2.json --input threads.trace')

    def words(self, args):
        known = {'{sample}': 'sample.csv', '{few}': 'hundreds.csv', '{dozen}': 'dozen.csv',
                 '{elf}': getattr(self, 'elf', ''), '{threads}': getattr(self, 'threads', '')}
        return super().words([known.get(a, a) for a in args])


# ---- who talks to it ----

QUESTIONS = [
    ('POST', 'predict', {'hex': '480fafc34801d8', 'archs': ['SKL', 'ZEN4']}),
    ('POST', 'simulate', {'hex': '480fafc34801d8', 'archs': ['GLC']}),
    ('POST', 'predict', {'text': 'addq %rax, %rbx\nimulq %rbx, %rax\n', 'archs': ['ICL']}),
    ('GET', 'archs', None),
    ('POST', 'predict', {'hex': 'zz'}),
    ('GET', 'nowhere', None),
]


def ask(port, first, answers):
    for i in range(len(QUESTIONS)):
        method, name, body = QUESTIONS[(first + i) % len(QUESTIONS)]
        try:
            c = http.client.HTTPConnection('127.0.0.1', port, timeout=300)
            c.request(method, '/api/1/' + name, json.dumps(body) if body else None,
                      {'Content-Type': 'application/json'} if body else {})
            answers.append((name, body, c.getresponse().status))
            c.close()
        except (OSError, http.client.HTTPException) as e:
            answers.append((name, body, str(e)))


def ask_together(port):
    """Returns what was answered wrongly."""
    answers = []
    clients = [threading.Thread(target=ask, args=(port, i, answers)) for i in range(CLIENTS)]
    for c in clients:
        c.start()
    for c in clients:
        c.join()
    # What should be there is answered, what is wrong is refused.
    return ['%s %s: %s' % a for a in answers
            if a[2] not in ((200,) if a[0] != 'nowhere' and a[1] != {'hex': 'zz'} else (200, 400, 404))]


def send_trace(tact, port, program):
    """A second tact, which is not looked at, sends a trace."""
    subprocess.run([tact, 'trace', '-q', '--connect', '127.0.0.1:%d' % port, '--', program], capture_output=True,
                   timeout=300)
