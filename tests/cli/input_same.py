# SPDX-License-Identifier: MIT
"""One loop in all forms that people have: each must give the same cycles.

usage: input_same.py TACT

Prints how many forms were tried if all agree, otherwise those that do not.  Forms whose tool is not installed are
left out, those of binutils never.
"""
import shutil
import subprocess
import sys

SOURCE = '''\t.text
\t.globl\tdot
\t.type\tdot, @function
dot:
\ttestq\t%rdx, %rdx
\tjle\t.L4
\txorl\t%eax, %eax
\tpxor\t%xmm1, %xmm1
\t.p2align 4
.L3:
\tmovsd\t(%rdi,%rax,8), %xmm0
\tmulsd\t(%rsi,%rax,8), %xmm0
\taddq\t$1, %rax
\taddsd\t%xmm0, %xmm1
\tcmpq\t%rax, %rdx
\tjne\t.L3
\tmovapd\t%xmm1, %xmm0
\tret
.L4:
\tpxor\t%xmm1, %xmm1
\tmovapd\t%xmm1, %xmm0
\tret
\t.size\tdot, .-dot
\t.globl\t_start
_start:
\tret
'''
HEX = 'f20f1004c7f20f5904c64883c001f20f58c84839c275e9'
EXPLORER = '''dot(double const*, double const*, long):
        test    rdx, rdx
        jle     .L4
        xor     eax, eax
        pxor    xmm1, xmm1
        .p2align 4
.L3:
        movsd   xmm0, QWORD PTR [rdi+rax*8]
        mulsd   xmm0, QWORD PTR [rsi+rax*8]
        add     rax, 1
        addsd   xmm1, xmm0
        cmp     rdx, rax
        jne     .L3
        movapd  xmm0, xmm1
        ret
.L4:
        pxor    xmm1, xmm1
        movapd  xmm0, xmm1
        ret
'''

# Form: what makes it, a shell script that writes to stdout.
LISTINGS = {
    'objdump': 'objdump -d dot.o',
    'objdump_intel': 'objdump -d -M intel dot.o',
    'objdump_text': 'objdump -d --no-show-raw-insn dot.o',
    'objdump_intel_text': 'objdump -d -M intel --no-show-raw-insn dot.o',
    'objdump_source': 'objdump -d -S -C dot.o',
    'objdump_relocations': 'objdump -dr --no-show-raw-insn dot.o',
    'objdump_program': 'objdump -d dot',
    'objdump_program_text': 'objdump -d --no-show-raw-insn dot',
    'llvm_objdump': 'llvm-objdump -d dot.o',
    'llvm_objdump_text': 'llvm-objdump -d --no-show-raw-insn dot',
    'llvm_objdump_intel': 'llvm-objdump -d -M intel --no-show-raw-insn dot.o',
    'gdb': "gdb -nx -batch -ex 'disassemble dot' dot",
    'gdb_bytes': "gdb -nx -batch -ex 'disassemble /r dot' dot",
    'gdb_source': "gdb -nx -batch -ex 'disassemble /s dot' dot",
    'gdb_lines': "gdb -nx -batch -ex 'disassemble /m dot' dot",
    'gdb_examine': "gdb -nx -batch -ex 'x/17i dot' dot",
    'gdb_intel': "gdb -nx -batch -ex 'set disassembly-flavor intel' -ex 'x/17i dot' dot.o",
}


def shell(command):
    return subprocess.run(['sh', '-c', command], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout


def predict(tact, form):
    p = subprocess.run([tact, 'predict', '-q', '-a', 'SKL', '-f', 'csv'] + form, stdin=subprocess.DEVNULL,
                       capture_output=True, text=True)
    rows = [line.split(',') for line in p.stdout.splitlines()[1:]]
    return [(row[0], row[3], row[4]) for row in rows], p.stderr


def main():
    tact = sys.argv[1]
    with open('dot.s', 'w') as out:
        out.write(SOURCE)
    with open('explorer', 'w') as out:
        out.write(EXPLORER)
    shell('as -g -o dot.o dot.s; ld -o dot dot.o; ar rcD dot.a dot.o')
    forms = {'hex': ['-x', HEX], 'explorer': ['explorer']}
    for name in ('dot.s', 'dot.o', 'dot', 'dot.a'):
        forms[name] = [name]
    for name, command in LISTINGS.items():
        if not shutil.which(command.split()[0]):
            continue
        with open(name, 'wb') as out:
            out.write(shell(command))
        forms[name] = [name]
    want, bad = None, 0
    for name, form in forms.items():
        got, err = predict(tact, form)
        want = want or got
        if got != want or not got:
            print('%s: %s instead of %s %s' % (name, got, want, err))
            bad += 1
    if not bad and len(forms) >= 13:
        print('the same number in all forms')


main()
