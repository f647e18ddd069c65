#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same code as assembly text, object, executable and hex gives the same blocks and the same numbers.

usage: regions_same.py TACT

Every source is a body of functions; each is tried with all kinds of markers that it asks for.  Prints one line per
source, with the modes of its blocks, or what differs.
"""
import json
import subprocess
import sys

TACT = sys.argv[1]
ARCHS = 'SKL,ZEN4'

SAXPY = '''
	.type f, @function
f:	xorl %eax, %eax
	.p2align 4
.L3:
{first}
{begin}
	movss (%rdi,%rax,4), %xmm0
	mulss %xmm1, %xmm0
	addss (%rsi,%rax,4), %xmm0
	movss %xmm0, (%rsi,%rax,4)
{inside}
	addq $1, %rax
	cmpq %rax, %rdx
	jne .L3
{end}
	ret
	.size f, .-f
'''
MARKS = {
    'llvm': ('# LLVM-MCA-BEGIN k', '# LLVM-MCA-END k'),
    'osaca': ('# OSACA-BEGIN', '# OSACA-END'),
    'bytes': ('\tmovl $111, %ebx\n\t.byte 100,103,144', '\tmovl $222, %ebx\n\t.byte 100,103,144'),
}


def saxpy(first='', begin='', inside='', end=''):
    return SAXPY.format(first=first, begin=begin, inside=inside, end=end)


SOURCES = {
    'two functions': '''
	.type f, @function
f:	imulq %rdi, %rax
	addq %rsi, %rax
	ret
	.size f, .-f
	.type g, @function
g:	divq %rdi
	ret
	.size g, .-g
''',
    'loop': saxpy(),
    'loop with a call': saxpy(first='\tcall h') + '\t.type h, @function\nh:\tret\n\t.size h, .-h\n',
    'loop with branches': '''
	.type f, @function
f:	xorl %eax, %eax
.L1:	testb $1, (%rdi,%rax)
	je .L2
	imulq %rcx, %rdx
	jmp .L3
.L2:	xorq %rcx, %rdx
.L3:	addq $1, %rax
	cmpq %rax, %rsi
	jne .L1
	ret
	.size f, .-f
''',
    'loop that is entered in the middle': '''
	.type f, @function
f:	xorl %eax, %eax
	jmp .L2
	.p2align 4
.L1:	imulq %rcx, %rdx
	addq $1, %rax
.L2:	cmpq %rax, %rsi
	jne .L1
	ret
	.size f, .-f
''',
    'nested loops': '''
	.type f, @function
f:	xorl %eax, %eax
.L1:	xorl %ecx, %ecx
.L2:	imulq %rdx, %r8
	addq $1, %rcx
	cmpq %rcx, %rdi
	jne .L2
	addq $1, %rax
	cmpq %rax, %rsi
	jne .L1
	ret
	.size f, .-f
''',
    'no loop, branches': '''
	.type f, @function
f:	testq %rdi, %rdi
	je .L1
	imulq %rdi, %rax
	ret
.L1:	divq %rsi
	ret
	.size f, .-f
''',
    'two functions with labels only': '\nf:\timulq %rdi, %rax\n\taddq %rsi, %rax\n\tret\ng:\tdivq %rdi\n\tret\n',
    'labels only, aligned': '\nf:\timulq %rdi, %rax\n\tret\n\t.p2align 4\ng:\tdivq %rdi\n\tret\n',
    'labels only, global': '\n\t.globl f\nf:\timulq %rdi, %rax\n\tret\ng:\tdivq %rdi\n\tret\n',
    'labels only, a tail call and a branch': '''
f:	imulq %rdi, %rax
	ret
g:	testq %rdi, %rdi
	je out
	imulq %rdi, %rax
	jmp f
out:	divq %rsi
	ret
h:	xorl %eax, %eax
	jmp *%rdi
last:	addq $1, %rax
	ret
''',
    'only instructions': '\timulq %rdi, %rax\n\taddq %rsi, %rax\n',
    'only a loop': '1:\timulq %rdi, %rax\n\tsubq $1, %rsi\n\tjne 1b\n',
    'a loop and what is before it': '\txorl %eax, %eax\n1:\timulq %rdi, %rax\n\tsubq $1, %rsi\n\tjne 1b\n',
}
for kind, (begin, end) in MARKS.items():
    SOURCES['%s: start in the body, end after it' % kind] = saxpy(begin=begin, end=end)
    SOURCES['%s: start after the first instruction' % kind] = saxpy(first='\tnopw (%rax)\n\tincq %rcx', begin=begin, end=end)
    SOURCES['%s: around the loop' % kind] = '\t.type f, @function\nf:\n%s\n.L1:\timulq %%rdi, %%rax\n\tsubq $1, %%rsi\n' \
        '\tjne .L1\n%s\n\tret\n\t.size f, .-f\n' % (begin, end)
    SOURCES['%s: inside the body' % kind] = saxpy(begin=begin, inside=end)
    SOURCES['%s: two regions' % kind] = saxpy(begin=begin, end=end) + saxpy(begin=begin, end=end).replace('.L3', '.L4') \
        .replace('f:', 'g:').replace(' f,', ' g,').replace('-f', '-g')
    SOURCES['%s: around nested loops' % kind] = '\t.type f, @function\nf:\n%s\n.L1:\txorl %%ecx, %%ecx\n.L2:\timulq ' \
        '%%rdx, %%r8\n\taddq $1, %%rcx\n\tcmpq %%rcx, %%rdi\n\tjne .L2\n\taddq $1, %%rax\n\tcmpq %%rax, %%rsi\n' \
        '\tjne .L1\n%s\n\tret\n\t.size f, .-f\n' % (begin, end)
    SOURCES['%s: start twice' % kind] = saxpy(first=begin if kind == 'bytes' else '', begin=begin, end=end)


def blocks(path, *options):
    out = subprocess.run([TACT, 'predict', '-q', '-a', ARCHS, '-f', 'json', *options, path], capture_output=True,
                         text=True, check=False)
    if out.returncode:
        return [out.stderr.strip()]
    found = []
    for line in out.stdout.splitlines():
        row = json.loads(line)
        found.append((row['arch'], row['mode'], row['cycles_per_iteration'],
                      ' '.join(r['name'] for r in row.get('remarks', [])), row['hex']))
    return found


def run(*command):
    subprocess.run(command, check=True)


def check(name, source):
    with open('x.s', 'w', encoding='utf-8') as f:
        f.write('\t.text\n' + source)
    run('as', '-o', 'x.o', 'x.s')
    run('ld', '-e', '0', '-o', 'x', 'x.o')
    has_comments = name.startswith(('llvm', 'osaca'))  # which are not in the object
    text, obj = blocks('x.s'), blocks('x.o')
    if text != obj and not has_comments:
        return 'text and object differ:\n  %s\n  %s' % (text, obj)
    text, obj, program = (blocks(p, '--alignment', '0') for p in ('x.s', 'x.o', 'x'))
    if has_comments:
        obj = program = text
    # Calls have their targets only after linking.
    strip = [[b[:4] for b in rows] for rows in (text, obj, program)]
    if strip[0] != strip[1] or strip[0] != strip[2]:
        return 'these differ:\n  %s\n  %s\n  %s' % tuple(strip)
    # Registers that code around the block moves are not in its bytes.
    digits = [b[4] for b in text if 'move' not in b[3]]
    if digits:
        with open('x.hex', 'w', encoding='utf-8') as f:
            f.write('\n'.join(dict.fromkeys(digits)) + '\n')
        again = {b[:3] + b[4:] for b in hex_blocks()}
        mine = {b[:3] + b[4:] for b in text if 'move' not in b[3]}
        if again != mine:
            return 'hex differs:\n  %s\n  %s' % (sorted(mine), sorted(again))
    return '; '.join('%s %.2f%s' % (b[1], b[2], ' [%s]' % b[3] if b[3] else '') for b in text if b[0] == 'SKL')


def hex_blocks():
    out = subprocess.run([TACT, 'predict', '-q', '-a', ARCHS, '-f', 'json', 'x.hex'], capture_output=True, text=True,
                         check=True)
    for line in out.stdout.splitlines():
        row = json.loads(line)
        yield row['arch'], row['mode'], row['cycles_per_iteration'], '', row['hex']


for title, body in SOURCES.items():
    print('%s: %s' % (title, check(title, body)))
