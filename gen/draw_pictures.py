#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the pictures of the documents from what the program prints.

usage: draw_pictures.py [--tact PROGRAM] [--check]

doc/terminal.svg shows two commands and their output as a terminal does; doc/demo.svg is what tact
predict --graph draws.  Both are the same on every machine; --check compares the files with what they
would be now.
"""
import argparse
import html
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Each command with the first and the last line of its output that are shown.
COMMANDS = (
    ('tact predict -a SKL examples/demo.s', r'Throughput \(in', r'Dependencies: a chain', 1),
    ('tact simulate -a SKL --timeline --from 1 --iterations 2 examples/demo.s',
     r' +cycle 0', r'  - waits to retire', 0),
)
WIDTH, HEIGHT, MARGIN, BAR = 7.8, 17, 16, 30
COLOURS = {
    'prompt': '#7ee787', 'number': '#79c0ff', 'limit': '#ff7b72', 'dim': '#8b949e',
    'I': '#d2a8ff', '=': '#ff7b72', 'e': '#7ee787', 'E': '#7ee787', 'R': '#79c0ff', 'D': '#d2a8ff',
    '.': '#6e7681', '-': '#6e7681',
}


def run(tact, command):
    p = subprocess.run([tact, *command.split()[1:], '-q'], cwd=TOP, capture_output=True, text=True)
    if p.returncode:
        sys.exit('draw_pictures.py: %s: %s' % (command, p.stderr.strip()))
    return p.stdout.splitlines()


def part(lines, first, last, more):
    begin = next(i for i, line in enumerate(lines) if re.match(first, line))
    end = next(i for i, line in enumerate(lines) if i > begin and re.match(last, line))
    return lines[begin:end + 1 + more]


def pieces(line):
    """[(text, colour or None)]"""
    if line.startswith('$ '):
        return [('$', COLOURS['prompt']), (line[1:], None)]
    m = re.match(r'(.{4} +\d+ \w+ +p\d   )( *[DI.=eE\-R]+)( .*)?$', line)
    if m:  # a uop of the timeline
        found = [(m.group(1), None)]
        for run_of in re.finditer(r'(.)\1*', m.group(2)):
            found.append((run_of.group(0), COLOURS.get(run_of.group(1))))
        return found + [(m.group(3) or '', COLOURS['dim'])]
    if re.match(r'Throughput \(|Bottleneck', line):
        head, _, tail = line.partition(': ')
        return [(head + ': ', None), (tail, COLOURS['number' if 'T' in head else 'limit'])]
    if re.match(r'  - Dependencies:|Dependencies:|    \d  \w', line):
        return [(line, COLOURS['limit'])]
    if re.match(r'Throughput if|  M - |  D del|  - waits|\.\.\.|Skylake|Iter| +#|                  cycle', line):
        return [(line, COLOURS['dim'])]
    return [(line, None)]


def draw(lines):
    width = 2 * MARGIN + WIDTH * max(len(line) for line in lines)
    height = BAR + 2 * MARGIN + HEIGHT * len(lines)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f">'
           % (width, height, width, height),
           '<style>text { font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; '
           'fill: #e6edf3; white-space: pre }</style>',
           '<rect width="100%" height="100%" rx="8" fill="#0d1117"/>']
    for i, colour in enumerate(('#ff5f56', '#ffbd2e', '#27c93f')):
        out.append('<circle cx="%d" cy="16" r="6" fill="%s"/>' % (20 + 20 * i, colour))
    for i, line in enumerate(lines):
        at = 0
        y = BAR + MARGIN + HEIGHT * i + 12
        for text, colour in pieces(line):
            if text.strip():
                lead = len(text) - len(text.lstrip())
                shown = text.strip()
                out.append('<text x="%.1f" y="%d" textLength="%.1f"%s>%s</text>' %
                           (MARGIN + WIDTH * (at + lead), y, WIDTH * len(shown),
                            ' style="fill:%s"' % colour if colour else '', html.escape(shown, False)))
            at += len(text)
    return '\n'.join(out) + '\n</svg>\n'


def draw_terminal(tact):
    lines = []
    for command, first, last, more in COMMANDS:
        printed = run(tact, command)
        shown = part(printed, first, last, more)
        lines += ([''] if lines else []) + ['$ ' + command]
        lines += ([] if shown[0] == printed[0] else ['...']) + shown
    return draw(lines)


def draw_graph(tact):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, 'graph.svg')
        run(tact, 'tact predict -a SKL --graph %s examples/demo.s' % path)
        with open(path, encoding='utf-8') as f:
            return f.read()


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--tact', default=os.path.join(TOP, 'build/tact'))
    parser.add_argument('--check', action='store_true')
    args = parser.parse_args()
    status = 0
    for name, make in (('doc/terminal.svg', draw_terminal), ('doc/demo.svg', draw_graph)):
        picture = make(os.path.abspath(args.tact))
        path = os.path.join(TOP, name)
        if not args.check:
            with open(path, 'w', encoding='utf-8') as f:
                f.write(picture)
            continue
        with open(path, encoding='utf-8') as f:
            if f.read() != picture:
                print('draw_pictures.py: %s is out of date: make pictures' % name, file=sys.stderr)
                status = 1
    return status


if __name__ == '__main__':
    sys.exit(main())
