#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes what include/tact/*.h declares as Rust: tact-sys/src/bindings.rs, and the names for its test.

usage: generate.py [--check] [--cc CC] [--include DIRECTORY]

--check only tells whether the files are what this would write. It knows the form that CONTRIBUTING.md gives the
headers, and fails on what it does not know: nothing is guessed.
"""
import argparse
import os
import re
import subprocess
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
CRATE = os.path.join(HERE, 'tact-sys')
HEAD = '// SPDX-License-Identifier: MIT\n//\n// Made by contrib/rust/generate.py from include/tact/*.h: do not edit.\n'

PLAIN = {
    'char': 'c_char', 'signed char': 'c_schar', 'unsigned char': 'c_uchar', 'int': 'c_int', 'unsigned': 'c_uint',
    'unsigned int': 'c_uint', 'long': 'c_long', 'unsigned long': 'c_ulong', 'long long': 'c_longlong',
    'unsigned long long': 'c_ulonglong', 'double': 'f64', 'float': 'f32', 'bool': 'bool', '_Bool': 'bool', 'void': 'c_void',
    'size_t': 'usize', 'ssize_t': 'isize', 'ptrdiff_t': 'isize', 'uintptr_t': 'usize',
    **{'%sint%d_t' % (u, n): '%s%d' % (u or 'i', n) for u in ('', 'u') for n in (8, 16, 32, 64)},
}
# The options and results of the library: zero is always the default, `size` tells how much of a struct there is.
DEFAULTS = '''macro_rules! sized {
    ($($name:ident)*) => {$(
        impl Default for $name {
            /// Zeros, which are the defaults, with the size.
            fn default() -> Self {
                // SAFETY: all members may be zero: numbers, pointers, arrays of them.
                Self { size: std::mem::size_of::<Self>(), ..unsafe { std::mem::zeroed() } }
            }
        }
    )*};
}

macro_rules! zeroed {
    ($($name:ident)*) => {$(
        impl Default for $name {
            /// Zeros.
            fn default() -> Self {
                // SAFETY: all members may be zero: numbers, pointers, arrays of them.
                unsafe { std::mem::zeroed() }
            }
        }
    )*};
}
'''
KEYWORDS = {'type', 'in', 'match', 'move', 'ref', 'use', 'where', 'loop', 'fn', 'mod', 'impl', 'self', 'box', 'final', 'priv',
            'yield', 'async', 'dyn', 'as', 'crate', 'let', 'mut', 'pub', 'super', 'trait', 'true', 'false', 'unsafe', 'virtual'}


class Unknown(Exception):
    pass


def own_text(cc, include):
    """The headers after the preprocessor, without what comes from the system and without attributes."""
    out = subprocess.run([cc, '-E', '-x', 'c', '-I', include, '-'], input='#include <tact/tact.h>\n', capture_output=True, text=True,
                         check=True).stdout
    own, lines = False, []
    for line in out.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            own = '/tact/' in marker.group(1)
        elif own:
            lines.append(line)
    return re.sub(r'\s*__attribute__\s*\(\(.*?\)\)\)?(?=\s*;)', '', ' '.join(' '.join(lines).split()))


def cut(text, separator):
    """Parts of a text, where the separator is not inside of brackets."""
    depth, start, parts = 0, 0, []
    for i, c in enumerate(text):
        depth += (c in '([{') - (c in ')]}')
        if c == separator and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
    return [p for p in [*parts, text[start:].strip()] if p]


def rust_name(name):
    if name in ('self', 'super', 'crate'):  # not even as r#self
        return name + '_'
    return 'r#' + name if name in KEYWORDS else name


class Interface:
    def __init__(self, text):
        self.constants, self.enums, self.structs, self.opaque, self.functions, self.data = {}, {}, {}, [], [], []
        declarations = cut(text, ';')
        for d in declarations:  # types before what uses them: enums may come later than a pointer to them
            self.add_enum(d)
        for d in declarations:
            self.add(d)
        self.opaque = [n for n in dict.fromkeys(self.opaque) if n not in self.structs]

    # ---- declarations ----

    def add_enum(self, text):
        m = re.match(r'enum (\w+ )?\{(.*)\}$', text)
        if not m:
            return
        value, names = -1, []
        for part in cut(m.group(2), ','):
            name, _, expression = (w.strip() for w in part.partition('='))
            value = self.value(expression) if expression else value + 1
            self.constants[name] = (value, (m.group(1) or '').strip())
            names.append(name)
        if m.group(1):
            # As gcc and clang choose: signed only if a value is negative.
            self.enums[m.group(1).strip()] = 'c_int' if any(self.constants[n][0] < 0 for n in names) else 'c_uint'

    def value(self, expression):
        words = {name: value for name, (value, _) in self.constants.items()}
        expression = re.sub(r'\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b', r'\1', expression)
        if re.search(r'[^\w\s()+\-*/|&~<>]', expression):
            raise Unknown('a value: %s' % expression)
        return int(eval(expression, {'__builtins__': {}}, words))  # of names, numbers and operators

    def add(self, text):
        if text.startswith('enum ') and '{' in text:
            return
        m = re.match(r'struct (\w+)$', text)
        if m:
            self.opaque.append(m.group(1))
            return
        m = re.match(r'struct (\w+) \{(.*)\}$', text)
        if m:
            self.structs[m.group(1)] = [f for part in cut(m.group(2), ';') for f in self.fields(part)]
            return
        m = re.match(r'([\w\s*]+?)\b(tact_\w+)\s*\((.*)\)$', text)
        if m and not text.startswith('typedef'):
            result = m.group(1).replace('extern ', '').strip()
            self.functions.append((m.group(2), self.parameters(m.group(3)), None if result == 'void' else self.type(result)))
            return
        m = re.match(r'extern (const )?(.*)$', text)
        if m and '(' not in text:
            (name, kind), = self.fields(m.group(2))
            self.data.append((name, kind))
            return
        raise Unknown('a declaration: %s' % text[:200])

    def fields(self, text):
        """Names and types of "const char *a, *b[2]"."""
        m = re.match(r'(.*?)\(\s*\*\s*(\w+)\s*\)\s*\((.*)\)$', text)
        if m:
            return [(m.group(2), self.function_pointer(m.group(1).strip(), m.group(3)))]
        m = re.match(r'((?:(?:const|struct|enum|unsigned|signed|long) )*)(\w+)\s*(.*)$', text)
        if m.group(1).strip() in ('unsigned', 'long', 'unsigned long') and m.group(2) not in ('int', 'char', 'long'):
            base, rest = m.group(1).strip(), m.group(2) + ' ' + m.group(3)
        else:
            base, rest = m.group(1) + m.group(2), m.group(3)
        found = []
        for part in cut(rest, ','):
            d = re.match(r'((?:\*\s*(?:const\b)?\s*)*)(\w+)\s*((?:\[[^]]*\]\s*)*)$', part)
            if not d:
                raise Unknown('a member: %s' % text)
            kind = self.type(base + ' ' + d.group(1))
            for size in reversed(re.findall(r'\[([^]]*)\]', d.group(3))):
                kind = '[%s; %d]' % (kind, self.value(size))
            found.append((d.group(2), kind))
        return found

    def function_pointer(self, result, parameters):
        words = ', '.join('%s: %s' % (rust_name(n), t) for n, t in self.parameters(parameters))
        tail = '' if result == 'void' else ' -> ' + self.type(result)
        return 'Option<unsafe extern "C" fn(%s)%s>' % (words, tail)

    def parameters(self, text):
        found = []
        for i, part in enumerate(cut(text, ',')):
            if part == 'void':
                continue
            if part == '...':
                found.append(('...', ''))
                continue
            m = re.match(r'(.*?)\(\s*\*\s*(\w*)\s*\)\s*\((.*)\)$', part)
            if m:
                found.append((m.group(2) or 'f%d' % i, self.function_pointer(m.group(1).strip(), m.group(3))))
                continue
            m = re.match(r'(.*?[\s*])(\w+)\s*((?:\[[^]]*\])*)$', part)
            if not m:
                raise Unknown('a parameter: %s' % part)
            array = m.group(3)
            if array.count('[') > 1:
                raise Unknown('a parameter: %s' % part)
            found.append((m.group(2), self.type(m.group(1) + (' *' if array else ''))))
        return found

    # ---- types ----

    def type(self, text):
        words = re.findall(r'\w+|\*', text)
        pointers = words[words.index('*'):] if '*' in words else []
        base = words[:len(words) - len(pointers)]
        is_const, base = 'const' in base, ' '.join(w for w in base if w != 'const')
        m = re.match(r'(struct|enum) (\w+)$', base)
        if m and m.group(1) == 'struct':
            self.opaque.append(m.group(2))
            kind = m.group(2)
        elif m and m.group(2) in self.enums:
            kind = m.group(2)
        elif base in PLAIN:
            kind = PLAIN[base]
        else:
            raise Unknown('a type: %s' % text)
        for w in pointers:
            if w == 'const':
                is_const = True
            else:
                kind, is_const = '*%s %s' % ('const' if is_const else 'mut', kind), False
        return kind

    # ---- Rust ----

    def is_sized(self, name):
        return self.structs[name][:1] == [('size', 'usize')]

    def bindings(self):
        out = [HEAD, 'use std::marker::{PhantomData, PhantomPinned};', 'use std::os::raw::*;', '']
        for name, kind in self.enums.items():
            out.append('pub type %s = %s;' % (name, kind))
        for name, (value, enum) in self.constants.items():
            kind = enum or ('c_int' if value < 1 << 31 else 'i64')
            out.append('pub const %s: %s = %d;' % (name, kind, value))
        for name in self.opaque:
            out += ['', '#[repr(C)]', 'pub struct %s {' % name, '    _data: [u8; 0],',
                    '    _marker: PhantomData<(*mut u8, PhantomPinned)>,', '}']
        for name, fields in self.structs.items():
            out += ['', '#[repr(C)]', '#[derive(Clone, Copy)]', 'pub struct %s {' % name]
            out += ['    pub %s: %s,' % (rust_name(n), t) for n, t in fields]
            out.append('}')
        out += ['', DEFAULTS, 'sized! {', *self.wrapped(n for n in self.structs if self.is_sized(n)), '}', '',
                'zeroed! {', *self.wrapped(n for n in self.structs if not self.is_sized(n)), '}']
        out += ['', 'extern "C" {']
        for name, kind in self.data:
            out.append('    pub static %s: %s;' % (name, kind))
        for name, parameters, result in self.functions:
            words = ', '.join('...' if n == '...' else '%s: %s' % (rust_name(n), t) for n, t in parameters)
            out.append('    pub fn %s(%s)%s;' % (name, words, ' -> ' + result if result else ''))
        return '\n'.join([*out, '}', ''])

    def wrapped(self, names):
        """Lines of words."""
        return textwrap.wrap(' '.join(names), 96, initial_indent='    ', subsequent_indent='    ')

    def names(self):
        """Everything by name, for macros of the test."""
        out = [HEAD, 'structs! {']
        for name, fields in self.structs.items():
            out += textwrap.wrap('%s: %s;' % (name, ' '.join(rust_name(n) for n, _ in fields)), 96, initial_indent='    ',
                                 subsequent_indent='        ')
        out += ['}', '', 'constants! {', *self.wrapped(self.constants), '}', '',
                'functions! {', *self.wrapped(n for n, _, _ in self.functions), '}', '']
        return '\n'.join(out)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--cc', default='cc')
    parser.add_argument('--include', default=os.path.join(TOP, 'include'))
    args = parser.parse_args()
    try:
        interface = Interface(own_text(args.cc, args.include))
    except Unknown as what:
        print('generate.py: %s' % what, file=sys.stderr)
        return 1
    old = []
    for path, text in (('src/bindings.rs', interface.bindings()), ('tests/names/mod.rs', interface.names())):
        path = os.path.join(CRATE, path)
        have = open(path, encoding='utf-8').read() if os.path.exists(path) else None
        if have == text:
            continue
        old.append(os.path.relpath(path, TOP))
        if not args.check:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8') as f:
                f.write(text)
    if args.check and old:
        print('%s: not what the headers say: run contrib/rust/generate.py' % ', '.join(old), file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
