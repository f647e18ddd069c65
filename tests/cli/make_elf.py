#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes an ELF object with one function, for machines that the tests have no compiler for.

usage: make_elf.py FILE MACHINE HEX [--big] [--32]
"""
import struct
import sys


def main():
    path, machine, code = sys.argv[1], int(sys.argv[2], 0), bytes.fromhex(sys.argv[3])
    order = '>' if '--big' in sys.argv else '<'
    is_64 = '--32' not in sys.argv
    names = b'\0.text\0.symtab\0.strtab\0.shstrtab\0'
    strings = b'\0f\0'
    word = 'Q' if is_64 else 'I'
    if is_64:  # name, info, other, section, value, size
        symbols = bytes(24) + struct.pack(order + 'IBBHQQ', 1, 0x12, 0, 1, 0, len(code))
    else:
        symbols = bytes(16) + struct.pack(order + 'IIIBBH', 1, 0, len(code), 0x12, 0, 1)
    header = 64 if is_64 else 52
    parts, at = [], header
    for data in (code, symbols, strings, names):
        parts.append((at, len(data)))
        at += len(data)
    sections = [(0,) * 10]
    for name, kind, flags, (offset, size), link, info, entry in (
            (1, 1, 6, parts[0], 0, 0, 0), (7, 2, 0, parts[1], 3, 1, 24 if is_64 else 16),
            (15, 3, 0, parts[2], 0, 0, 0), (23, 3, 0, parts[3], 0, 0, 0)):
        sections.append((name, kind, flags, 0, offset, size, link, info, 1, entry))
    ident = b'\x7fELF' + bytes([2 if is_64 else 1, 2 if order == '>' else 1, 1]) + bytes(9)
    out = ident + struct.pack(order + 'HHI3%sIHHHHHH' % word, 1, machine, 1, 0, 0, at, 0, header, 0, 0,
                              64 if is_64 else 40, len(sections), 4)
    out += code + symbols + strings + names
    for s in sections:
        out += struct.pack(order + 'II4%sII2%s' % (word, word), *s)
    with open(path, 'wb') as f:
        f.write(out)


main()
