#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that explanations derive their bounds: the numbers that they name give the figures.

usage: check_explanations.py [--tact PROGRAM] [--shared DIR] [--count N]

Of N blocks (default 5000), spread over CPUs, modes and alignments, every bound that applies is
explained as 'tact predict --explain all' prints it.  Each explanation has one arithmetic
expression, such as "(7 / 4, rounded up = 2.00)", that must give the bound, and what it lists must
add up to the numbers in the expression.  Once with random blocks, and once with blocks of
DIR/data/bhive (default ../shared) if they are there.  The last line of the output is
"N passed, M failed, K skipped".
"""
import argparse
import math
import re
import subprocess
import sys

from check_bounds import looped, random_blocks, real_blocks

CPUS = ('SNB', 'HSW', 'SKL', 'SKX', 'ICL', 'ICX', 'ZEN4')
MODES = ('unroll', 'loop')
ALIGNMENTS = (0, 23, 48)
BOUND = re.compile(r'^  - (\w[\w ]*):\s+([\d.]+)$', re.M)
PARAGRAPH = re.compile(r'\n\n([A-Z]\w*(?: \w+)?): ')
ARITHMETIC = re.compile(r'\(((?:measured for )?\d[^()=]*|measured for \d+) = ([\d.]+)\)')


def evaluate(expression, table):
    """The value of "7 / 4", "7 / 4, rounded up", "5 * 3 / 4, rounded up, / 3" or of a table."""
    if expression.startswith('measured for '):
        return table[int(expression.split()[-1])]
    value, tokens = None, re.findall(r'\d+|[*/]|rounded up', expression)
    if re.sub(r'\d+|[*/]|rounded up|[ ,]', '', expression):
        raise ValueError(expression)
    operator = None
    for token in tokens:
        if token == 'rounded up':
            value = math.ceil(value - 1e-9)
        elif token in '*/':
            operator = token
        elif value is None:
            value = int(token)
        else:
            value = value * int(token) if operator == '*' else value / int(token)
    return value


def rows(text):
    return re.findall(r'^ {2,5}(\d+)  (.*)$', text, re.M)


def sum_of_cycles(text):
    return sum(int(n) for n in re.findall(r'(\d+) cycles?(?:, to the next iteration)?$', text, re.M))


def check_list(name, text, numbers):
    """What is listed below an expression with these numbers; None, or what is wrong."""
    head, _, rest = text.partition('\n')
    amount, per = numbers[0], numbers[-1]
    if name == 'Divider' and re.search(r'sequencer|wait for', text):
        return None  # microcode and fences: the block as a whole, no list
    if name in ('Dependencies', 'Forwarding', 'Divider') and sum_of_cycles(rest) != amount:
        return 'the listed cycles are %d, not %d' % (sum_of_cycles(rest), amount)
    if name in ('Decoder', 'Op cache') and len(rows(rest)) != amount:
        return '%d rows are listed, not %d' % (len(rows(rest)), amount)
    if name == 'Ports':
        ports = re.search(r'only go to ports? ([\d, and]+) \(', head).group(1)
        if len(re.findall(r'\d+', ports)) != per:
            return '%s are not %d ports' % (ports, per)
    return None


def check_paragraph(name, text, bound, table):
    found = ARITHMETIC.findall(text)
    if len(found) != 1:
        return '%d expressions in: %s' % (len(found), text)
    expression, result = found[0]
    value = evaluate(expression, table)
    if abs(value - float(result)) > 0.005 + 1e-9 or result != bound:
        return '%s gives %.4f, says %s, and the bound is %s' % (expression, value, result, bound)
    return check_list(name, text, [int(n) for n in re.findall(r'\d+', expression)])


def check_report(text, table):
    """(explanations checked, what is wrong with them)"""
    bounds = dict(BOUND.findall(text))
    parts = PARAGRAPH.split('\n' + text)
    paragraphs = dict(zip(parts[1::2], parts[2::2]))
    wrong = []
    for name, bound in bounds.items():
        if name not in paragraphs:
            wrong.append('%s: no explanation' % name)
            continue
        why = check_paragraph(name, paragraphs[name], bound, table)
        if why:
            wrong.append('%s: %s' % (name, why))
    return len(bounds), wrong


def small_loops(tact, cpu):
    """Cycles of small loops by uops, as the parameter of the CPU says."""
    text = subprocess.run([tact, 'archs', cpu], capture_output=True, text=True).stdout
    value = re.search(r'^dsb_small_loop = (.*?)(?:\s*#.*)?$', text, re.M).group(1)
    table = {}
    for first, last, cycles in re.findall(r'(\d+)-(\d+):(\d+)', value):
        table.update((n, int(cycles) / 100) for n in range(int(first), int(last) + 1))
    return table


def explain(tact, cpu, mode, alignment, codes):
    if mode == 'loop':
        codes = [looped(c) for c in codes]
    p = subprocess.run([tact, 'predict', '-q', '-v', '-j', '1', '-a', cpu, '-m', mode, '--alignment',
                        str(alignment), '--explain', 'all', '-'],
                       input='hex\n' + '\n'.join(codes) + '\n', capture_output=True, text=True)
    if p.returncode not in (0, 1):
        raise RuntimeError('%s %s: status %d: %s' % (cpu, mode, p.returncode, p.stderr[:200]))
    return re.split(r'^== ', p.stdout, flags=re.M)[1:]


def check(tact, what, codes):
    kinds = [(c, m, a) for c in CPUS for m in MODES for a in ALIGNMENTS]
    n_blocks = n_bounds = 0
    wrong = []
    for k, (cpu, mode, alignment) in enumerate(kinds):
        table = small_loops(tact, cpu)
        for text in explain(tact, cpu, mode, alignment, codes[k::len(kinds)]):
            n, why = check_report(text, table)
            n_blocks += 1
            n_bounds += n
            wrong += ['%s %s at %d, %s: %s' % (cpu, mode, alignment, text.split(' ==')[0], w)
                      for w in why]
    for w in wrong[:10]:
        print(w)
    good = not wrong and n_blocks > len(codes) * 0.9
    print('%s: %d explanations of %d blocks, %d wrong: %s' %
          (what, n_bounds, n_blocks, len(wrong), 'good' if good else 'BAD'))
    return good


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--tact', default='build/tact')
    ap.add_argument('--shared', default='../shared')
    ap.add_argument('--count', type=int, default=5000)
    args = ap.parse_args()
    results = [check(args.tact, 'random blocks', random_blocks(args.count, True))]
    real = real_blocks(args.shared, args.count)
    if real:
        results.append(check(args.tact, 'real blocks', real))
    print('%d passed, %d failed, %d skipped' % (results.count(True), results.count(False),
                                                int(not real)))
    return 0 if all(results) else 1


if __name__ == '__main__':
    sys.exit(main())
