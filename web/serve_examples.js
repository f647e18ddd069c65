/* SPDX-License-Identifier: MIT
 * Examples: a name, assembly text, and the same as a listing with bytes, for a page without an
 * assembler.
 */
'use strict';
/* exported EXAMPLES */
const EXAMPLES = [
['Dot product', [
  '# a dot product',
  'loop:',
  '\tmovsd (%rdi,%rax,8), %xmm1',
  '\tmulsd (%rsi,%rax,8), %xmm1',
  '\taddsd %xmm1, %xmm0',
  '\tinc %rax',
  '\tcmp %rdx, %rax',
  '\tjb loop', ''
].join('\n'), [
  '0:\tf2 0f 10 0c c7\tmovsd  (%rdi,%rax,8),%xmm1',
  '5:\tf2 0f 59 0c c6\tmulsd  (%rsi,%rax,8),%xmm1',
  'a:\tf2 0f 58 c1\taddsd  %xmm1,%xmm0',
  'e:\t48 ff c0\tinc    %rax',
  '11:\t48 39 d0\tcmp    %rdx,%rax',
  '14:\t72 ea\tjb     0 <loop>', ''
].join('\n')],
['Sum, two accumulators', [
  '# two sums, eight numbers each',
  'loop:',
  '\tvpaddd (%rdi), %ymm0, %ymm0',
  '\tvpaddd 32(%rdi), %ymm1, %ymm1',
  '\tadd $64, %rdi',
  '\tcmp %rsi, %rdi',
  '\tjne loop', ''
].join('\n'), [
  '16:\tc5 fd fe 07\tvpaddd (%rdi),%ymm0,%ymm0',
  '1a:\tc5 f5 fe 4f 20\tvpaddd 0x20(%rdi),%ymm1,%ymm1',
  '1f:\t48 83 c7 40\tadd    $0x40,%rdi',
  '23:\t48 39 f7\tcmp    %rsi,%rdi',
  '26:\t75 ee\tjne    16 <loop>', ''
].join('\n')],
['Digits of a number', [
  '# Intel syntax: the digits of rcx, the last one first',
  'loop:',
  '\tmov rax, rcx',
  '\txor edx, edx',
  '\tdiv rbx',
  '\tadd dl, 48',
  '\tmov byte ptr [rdi], dl',
  '\tdec rdi',
  '\tmov rcx, rax',
  '\ttest rax, rax',
  '\tjne loop', ''
].join('\n'), [
  '28:\t48 89 c8\tmov    %rcx,%rax',
  '2b:\t31 d2\txor    %edx,%edx',
  '2d:\t48 f7 f3\tdiv    %rbx',
  '30:\t80 c2 30\tadd    $0x30,%dl',
  '33:\t88 17\tmov    %dl,(%rdi)',
  '35:\t48 ff cf\tdec    %rdi',
  '38:\t48 89 c1\tmov    %rax,%rcx',
  '3b:\t48 85 c0\ttest   %rax,%rax',
  '3e:\t75 e8\tjne    28 <loop>', ''
].join('\n')],
['Length of a string', [
  '# one byte at a time',
  'loop:',
  '\tcmpb $0, (%rdi,%rax)',
  '\tlea 1(%rax), %rax',
  '\tjne loop', ''
].join('\n'), [
  '40:\t80 3c 07 00\tcmpb   $0x0,(%rdi,%rax,1)',
  '44:\t48 8d 40 01\tlea    0x1(%rax),%rax',
  '48:\t75 f6\tjne    40 <loop>', ''
].join('\n')]
];
