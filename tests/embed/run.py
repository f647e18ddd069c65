#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The library as others use it: linked, loaded, installed, next to code of their own.

usage: run.py --build DIR [--cc CC] [NAME...]

Each test is a function test_NAME below.  The last line is "N passed, M failed, K skipped".
"""
import argparse
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
INCLUDE = os.path.join(ROOT, 'include')

# A chain through memory, a loop with fused instructions, vector code.
BLOCKS = ['4801d8', '4883c00148ffc975f7', 'c5fc58c1c5f459d0488b07', '480fafc3480fafc3']


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


class Context:
    def __init__(self, build, cc, place):
        self.build, self.cc, self.place = build, cc, place
        makefile = open(os.path.join(ROOT, 'Makefile')).read()
        self.libs = re.search(r'^LIBS := (.*)$', makefile, re.M).group(1).split()
        self.installed = None

    def path(self, name):
        return os.path.join(self.place, name)

    def install(self):
        """The root of an installation, made once."""
        if not self.installed:
            self.installed = self.path('root')
            run(['make', '--no-print-directory', '-s', 'install', 'BUILD=' + self.build, 'PREFIX=/usr',
                 'DESTDIR=' + self.installed], cwd=ROOT)
        return self.installed

    def link(self, name, sources, how, more=()):
        """Compiles a program: how is "static" or "shared", with what the build has."""
        out = self.path(name)
        library = [os.path.join(self.build, 'libtact.a')] if how == 'static' else \
            ['-L' + self.build, '-ltact', '-Wl,-rpath,' + self.path('lib')]
        if how == 'shared' and not os.path.exists(self.path('lib')):
            os.mkdir(self.path('lib'))
            os.symlink(os.path.join(self.build, 'libtact.so'), self.path('lib/libtact.so.0'))
        run([*self.cc, '-g', '-O1', '-pthread', '-I' + INCLUDE, *more, '-o', out, *sources, *library, *self.libs])
        return out


def run(command, status=0, **more):
    """Output of a command that ends with this status."""
    try:
        p = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           timeout=200, **more)
    except subprocess.TimeoutExpired:
        raise Failed('%s does not end' % ' '.join(command)) from None
    output = p.stdout.decode(errors='replace')
    if p.returncode != status:
        raise Failed('%s\nended with %d:\n%s' % (' '.join(command), p.returncode, output[-4000:]))
    return output


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skipped('%s is not installed' % program)


def source(name):
    return os.path.join(HERE, name)


def same(what, got, expected):
    if got != expected:
        raise Failed('%s: got %r instead of %r' % (what, got, expected))


def cycles(c, command, code):
    """What the program says."""
    out = run([os.path.join(c.build, 'tact'), command, '-a', 'SKL', '-f', 'csv', '-x', code])
    header, row = [line.split(',') for line in out.splitlines()[:2]]
    return '%.2f' % float(row[header.index('cycles_per_iteration')])


def expected_lines(c, *blocks):
    return ''.join('%s %s %s\n' % (b, command, cycles(c, command, b)) for b in blocks
                   for command in ('predict', 'simulate'))


# ---- names ----

def defined(path, *options):
    """(kind, name) of what an object, archive or library defines; not what compilers put there."""
    out = subprocess.run(['nm', '--defined-only', *options, path], capture_output=True, text=True, check=True).stdout
    found = [line.split()[-2:] for line in out.splitlines() if len(line.split()) == 3]
    return [(kind, name.split('@')[0]) for kind, name in found
            if kind != 'A' and not re.match(r'_*(asan|ubsan|tsan|odr_asan)\b|__|DW\.', name)]


def private_names(c):
    public = {name for _, name in defined(os.path.join(c.build, 'libtact.a'), '-g')}
    return sorted((name, kind) for kind, name in defined(os.path.join(c.build, 'libtact-all.a'), '-g')
                  if name not in public)


def clashes(c):
    """A source file in which each private name of the library means something else."""
    names = private_names(c)
    if len(names) < 300 or 'block_depend' not in dict(names):
        raise Failed('only %d private names: this test looks at the wrong thing' % len(names))
    path = c.path('clash.c')
    with open(path, 'w') as f:
        for name, kind in names:
            if kind in 'TtWi':
                f.write('void %s(void);\nvoid %s(void)\n{\n\t__builtin_trap();\n}\n' % (name, name))
            else:
                f.write('extern char %s[4096];\nchar %s[4096] = {1};\n' % (name, name))
    return path


def test_clash_static(c):
    """Names of a program that are names inside the library, too: both keep their own."""
    program = c.link('clash_static', [source('embed_predict.c'), clashes(c)], 'static')
    for block in BLOCKS:
        same(block, run([program, 'SKL', block]), expected_lines(c, block))


def test_clash_shared(c):
    """The same, and the program exports its own."""
    program = c.link('clash_shared', [source('embed_predict.c'), clashes(c)], 'shared', ['-rdynamic'])
    for block in BLOCKS:
        same(block, run([program, 'SKL', block]), expected_lines(c, block))


def test_symbols(c):
    """gen/symbols.txt is what the shared library exports."""
    listed = {}
    for line in open(os.path.join(ROOT, 'gen/symbols.txt')):
        if line.strip() and not line.startswith('#'):
            version, name = line.split()
            listed[name] = version
    out = run(['nm', '-D', '--defined-only', os.path.join(c.build, 'libtact.so')])
    exported = dict(re.findall(r' [A-Z] (\w+)@@(\w+\.\w+)$', out, re.M))
    added, removed = sorted(set(exported) - set(listed)), sorted(set(listed) - set(exported))
    problems = []
    if added:
        problems.append('added, but not in gen/symbols.txt: %s\nRun "make symbols" and commit the file.'
                        % ' '.join(added))
    if removed:
        problems.append('in gen/symbols.txt, but no longer exported: %s\nPrograms that use them stop working.  If that '
                        'is meant, raise the version in\ninclude/tact/version.h (from 1.0 on: its major number, which '
                        'is the soname), run\n"make symbols" and commit the file.' % ' '.join(removed))
    problems += ['%s has version %s, listed is %s' % (n, exported[n], listed[n])
                 for n in sorted(set(exported) & set(listed)) if exported[n] != listed[n]]
    if problems:
        raise Failed('\n'.join(problems))


def test_soname(c):
    version = open(os.path.join(INCLUDE, 'tact/version.h')).read()
    major = re.search(r'VERSION_MAJOR (\d+)', version).group(1)
    out = run(['readelf', '-d', os.path.join(c.build, 'libtact.so')])
    if '[libtact.so.%s]' % major not in out:
        raise Failed('the soname is not libtact.so.%s:\n%s' % (major, out))
    # oneDNN, and what comes with it, is loaded by tune when it is needed.
    out = run(['ldd', os.path.join(c.build, 'libtact.so')])
    heavy = [n for n in re.findall(r'^\s*(\S+)', out, re.M) if re.search(r'dnnl|gomp|stdc\+\+|OpenCL', n)]
    same('libraries that every program would load', heavy, [])


# ---- headers ----

def header_source(headers):
    """Includes headers, and initialises each struct that has an _INIT."""
    lines = ['#include <tact/%s>' % os.path.basename(h) for h in headers]
    lines += ['int use(void);', 'int use(void)', '{', '\tint sum = 0;']
    for header in headers:
        text = open(header).read().replace('\\\n', ' ')
        for macro, struct in re.findall(r'#define (TACT_\w+_INIT)\s+TACT_SIZED\((struct \w+)\)', text):
            lines.append('\t{ %s x = %s; sum += x.size != sizeof(x); }' % (struct, macro))
    lines += ['\treturn sum != 0;', '}', '']
    return '\n'.join(lines)


def compile_headers(c, compiler, suffix, standards):
    headers = sorted(glob.glob(os.path.join(INCLUDE, 'tact/*.h')))
    sources = []
    for name, included in [(os.path.basename(h)[:-2], [h]) for h in headers] + [('together', headers)]:
        path = c.path('header_%s.%s' % (name, suffix))
        with open(path, 'w') as f:
            f.write(header_source(included))
        sources.append(path)
    for standard in standards:
        run([*compiler, '-std=' + standard, '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-fsyntax-only', '-I' + INCLUDE,
             *sources])


def test_headers_c(c):
    """Every header alone, and all together, without a warning."""
    compile_headers(c, c.cc, 'c', ['c99', 'c11', 'c17', 'gnu11'])


def cxx(c, compiler):
    need(compiler)
    compile_headers(c, [compiler], 'cc', ['c++98', 'c++11', 'c++14', 'c++17', 'c++20'])


def test_headers_gxx(c):
    cxx(c, 'g++')


def test_headers_clangxx(c):
    cxx(c, 'clang++')


def test_cxx_program(c):
    """A C++ program that is linked and run: names are not mangled."""
    need('g++')
    path = c.path('program.cc')
    with open(path, 'w') as f:
        f.write('#include <cstdio>\n#include <tact/tact.h>\nint main()\n{\n'
                '\tconst unsigned char code[] = {0x48, 0x01, 0xd8};\n'
                '\ttact_prediction p = tact_prediction();\n\ttact_block *b = 0;\n'
                '\tp.size = sizeof(p);\n'
                '\tif (tact_block_create(&b, tact_arch_find("SKL"), 0, 0) < 0 ||\n'
                '\t    tact_block_load(b, code, sizeof(code), 0) < 0 || tact_predict(b, 0, &p) < 0)\n\t\treturn 1;\n'
                '\tstd::printf("%.2f\\n", p.cycles_per_iteration);\n\ttact_block_destroy(b);\n\treturn 0;\n}\n')
    out = c.path('program_cc')
    run(['g++', '-std=c++11', '-Wall', '-Wextra', '-Werror', '-I' + INCLUDE, '-o', out, path,
         os.path.join(c.build, 'libtact.a'), *c.libs])
    same('cycles', run([out]), cycles(c, 'predict', '4801d8') + '\n')


def test_cxx_handles(c):
    """tact.hpp: what succeeds, what throws, what is moved, and the header in two files of a program."""
    need('g++')
    parts = []
    for name, text in (('handles.cc', """
#include <cstdio>
#include <tact/tact.hpp>
double other();
int main()
{
	tact::block block(tact::find_arch("SKL"));
	block.load({0x48, 0x01, 0xd8});
	tact::simulator simulator;
	std::printf("%.2f %.2f %zu %.2f\\n", block.predict().cycles_per_iteration,
		    simulator.run(block).cycles_per_iteration, block.size(), other());
	try {
		block.load({0x48, 0x01, 0xd8, 0x06});
	} catch (const tact::error &e) {
		std::printf("%d %d\\n", e.status() == -TACT_E_DECODE, (int)e.offset());
	}
	tact::block moved = std::move(block);
	moved.load({0x90});
	try {
		tact::block none("SKYNET");
	} catch (const std::runtime_error &e) {
		std::printf("%s\\n", e.what());
	}
}
"""), ('other.cc', """
#include <tact/tact.hpp>
double other()
{
	tact::block block("ZEN4");
	block.load({0x48, 0x0f, 0xaf, 0xc3});
	return block.predict().cycles_per_iteration;
}
""")):
        parts.append(c.path(name))
        with open(parts[-1], 'w') as f:
            f.write(text)
    out = c.path('handles')
    for std in ('c++17', 'c++20'):
        run(['g++', '-std=' + std, '-Wall', '-Wextra', '-Wshadow', '-Werror', '-fsanitize=address', '-I' + INCLUDE,
             '-o', out, *parts, os.path.join(c.build, 'libtact.a'), *c.libs])
        same(std, run([out]), "1.00 1.00 1 3.00\n1 3\nthere is no model of 'SKYNET'\n")


# ---- use ----

def test_ctypes(c):
    for block in BLOCKS:
        out = run([sys.executable, source('ctypes_predict.py'), os.path.join(c.build, 'libtact.so'), 'SKL', block])
        same(block, out, cycles(c, 'predict', block) + '\n')


def test_two_threads(c):
    program = c.link('threads', [source('embed_predict.c')], 'shared')
    same('two threads', run([program, 'SKL', BLOCKS[1], BLOCKS[2]]), expected_lines(c, BLOCKS[1], BLOCKS[2]))


def test_valgrind(c):
    """Nothing leaks and nothing is touched that is not ours."""
    need('valgrind')
    program = c.link('valgrind_static', [source('embed_predict.c')], 'static')
    run(['strip', '-g', program])  # not every valgrind reads the DWARF of every compiler
    out = run(['valgrind', '-q', '--leak-check=full', '--show-leak-kinds=all', '--errors-for-leak-kinds=all',
               '--error-exitcode=99', program, 'SKL', BLOCKS[1], BLOCKS[2]])
    same('under valgrind', out, expected_lines(c, BLOCKS[1], BLOCKS[2]))


def test_small(c):
    """A program that only predicts, linked statically, gets no more than it needs."""
    program = c.path('small')
    run([*c.cc, '-O1', '-pthread', '-I' + INCLUDE, '-o', program, source('embed_predict.c'),
         os.path.join(c.build, 'libtact.a'), '-Wl,--gc-sections', '-lZydis', '-lZycore', '-lm'])
    same('cycles', run([program, 'SKL', BLOCKS[0]]), expected_lines(c, BLOCKS[0]))


# ---- children ----

def children(c, how):
    """What embed_children prints, with measurements that depend on the moment made alike."""
    program = c.path('children')
    if not os.path.exists(program):
        c.link('children', [source('embed_children.c')], 'shared')
    out = run([program, how, "other=sh -c 'while read x; do echo 2.5; done'"])
    return re.sub(r'^(measure [02]: 0) (ok|unstable|disturbed)$', r'\1 ran', out, flags=re.M).splitlines()


def check_children(c, how, counts):
    plain, lines = children(c, 'default'), children(c, how)
    same('with SIGCHLD: ' + how, lines[:-1], plain[:-1])
    same('children that are not ours', lines[-1], counts)
    for line in ('assemble: 4801d8480fafc1', 'model: 0 2.50 '):
        if line not in lines:
            raise Failed('no line %r in\n%s' % (line, '\n'.join(lines)))


def test_children_handler(c):
    """A host whose handler takes every child that it can get, with two of its own."""
    check_children(c, 'handler', 'signals 2, reaped 2')


def test_children_ignored(c):
    check_children(c, 'ignore', 'signals 0, reaped 0')


def test_children_reaped(c):
    """A thread of the host waits for any child all the time."""
    check_children(c, 'wait', 'signals 0, reaped 2')


# ---- installed ----

def pkg_config(c, *options):
    need('pkg-config')
    root = c.install()
    env = dict(os.environ, PKG_CONFIG_PATH=os.path.join(root, 'usr/lib/pkgconfig'))
    return run(['pkg-config', '--define-variable=prefix=%s/usr' % root, *options, 'tact'], env=env).split()


def installed_program(c, name, path, flags):
    program = c.path(name)
    run([*c.cc, '-std=c11', '-Wall', '-Wextra', '-Werror', '-o', program, path, *flags])
    return program


def test_pkg_config_shared(c):
    program = installed_program(c, 'example_shared', os.path.join(ROOT, 'examples/predict.c'),
                                pkg_config(c, '--cflags', '--libs'))
    env = dict(os.environ, LD_LIBRARY_PATH=os.path.join(c.install(), 'usr/lib'))
    same('example', run([program, 'SKL', '4801d8'], env=env),
         'SKL: 1.00 cycles per iteration, limited by Dependencies\n')


def test_pkg_config_static(c):
    flags = ['-l:libtact.a' if f == '-ltact' else f for f in pkg_config(c, '--static', '--cflags', '--libs')]
    program = installed_program(c, 'example_static', os.path.join(ROOT, 'examples/predict.c'), flags)
    if 'libtact' in run(['readelf', '-d', program]):
        raise Failed('the program is not linked statically')
    same('example', run([program, 'SKL', '4801d8']), 'SKL: 1.00 cycles per iteration, limited by Dependencies\n')


def test_plugin(c):
    """An installed library finds its plugin, whoever moved it."""
    root = c.install()
    expected = os.path.realpath(os.path.join(root, 'usr/lib/tact/tact_trace.so'))
    same('plugindir', os.path.realpath(pkg_config(c, '--variable=plugindir')[0]), os.path.dirname(expected))
    program = installed_program(c, 'plugin_shared', source('embed_plugin.c'), pkg_config(c, '--cflags', '--libs'))
    env = dict(os.environ, LD_LIBRARY_PATH=os.path.join(root, 'usr/lib'))
    same('found', run([program], env=env), expected + '\n')


# ---- manual pages ----

def pages(c):
    """Name and text of each page that is installed."""
    found = {}
    for path in glob.glob(os.path.join(c.install(), 'usr/share/man/man3/*.3')):
        found[os.path.basename(path)[:-2]] = open(path).read()
    return found


def contracts(page):
    """Functions that a page describes, with the number of lines that say something of them."""
    lines = {}
    names = []
    said = False
    # Displays are declarations; the comment says that a group has none.
    for line in re.sub(r'^\.Bd.*?^\.Ed\n', '', page, flags=re.M | re.S).splitlines():
        if line == '.\\" no comment':
            names = []
            continue
        tag = re.match(r'\.It (\w+) (\S+)', line)
        if tag or line.startswith(('.Ss', '.Sh')):
            if said or not tag or tag.group(1) != 'Fn':  # several tags share the text after the last one
                names = []
            said = False
            if tag and tag.group(1) == 'Fn':
                names.append(tag.group(2))
                lines.setdefault(tag.group(2), 0)
        elif not line.startswith('.El'):
            said = True
            for name in names:
                lines[name] += 1
    return lines


def test_manual_functions(c):
    """Every public function has a page, and on it a contract."""
    all_pages = pages(c)
    names = [name for kind, name in defined(os.path.join(c.build, 'libtact.a'), '-g') if kind == 'T']
    if len(names) < 200:
        raise Failed('only %d functions: this test looks at the wrong thing' % len(names))
    problems = []
    for name in names:
        text = all_pages.get(name, '')
        link = re.fullmatch(r'\.so man3/(\w+)\.3\n', text)
        if link:
            text = all_pages.get(link.group(1), '')
        if not text:
            problems.append('%s has no page' % name)
        elif '.Fo %s\n' % name not in text:
            problems.append('%s is not in the synopsis of its page' % name)
        elif not contracts(text).get(name):
            problems.append('%s has no comment in its header' % name)
    if problems:
        raise Failed('\n'.join(problems))


def test_manual_headers(c):
    """The overview names the page of every header, and no other."""
    all_pages = pages(c)
    expected = {'tact_' + os.path.basename(h)[:-2] for h in glob.glob(os.path.join(INCLUDE, 'tact/*.h'))} - {'tact_tact'}
    same('pages that tact.3 lists', set(re.findall(r'^\.It Xr (\w+) 3', all_pages['tact'], re.M)), expected)
    missing = {n for text in all_pages.values() for n in re.findall(r'^\.Xr (tact_\w+) 3', text, re.M)} - set(all_pages)
    same('pages that are referred to and do not exist', missing, set())


def test_manual_lint(c):
    need('mandoc')
    names = [n for n, text in pages(c).items() if not text.startswith('.so')]
    problems = []
    paths = [os.path.join(c.install(), 'usr/share/man/man3', name + '.3') for name in sorted(names)]
    for path in paths + sorted(glob.glob(os.path.join(ROOT, 'man/*.1'))):
        out = subprocess.run(['mandoc', '-Tlint', '-Wwarning', path], capture_output=True, text=True).stdout
        problems += [line for line in out.splitlines() if 'referenced manual not found' not in line]
    same('what mandoc says', problems, [])


def test_bill_of_materials(c):
    """It lists what the files need, refers to nothing that is missing, and is the same each time."""
    command = [sys.executable, os.path.join(ROOT, 'gen/sbom.py'), c.build]
    text = run(command)
    same('the second time', run(command), text)
    bill = json.loads(text)
    names = {e['SPDXID'] for e in bill['packages'] + bill['files']} | {bill['SPDXID']}
    ends = {r[k] for r in bill['relationships'] for k in ('spdxElementId', 'relatedSpdxElement')}
    same('what is referred to and missing', ends - names, set())
    needed = subprocess.run(['readelf', '-d', os.path.join(c.build, 'tact')], capture_output=True, text=True).stdout
    linked = [r for r in bill['relationships'] if r['spdxElementId'] == 'SPDXRef-File-tact']
    same('libraries of tact, but those of the C library', len(linked) - 1,
         len([n for n in re.findall(r'NEEDED.*\[(lib[^]]*)', needed) if not re.match(r'lib(c|m)\.so', n)]))


def test_manual_example(c):
    """The program on the overview works, and prints what the page says."""
    text = re.search(r'^\.Sh EXAMPLES$.*', pages(c)['tact'], re.M | re.S).group(0)
    program, session = re.findall(r'^\.Bd .*?\n(.*?)^\.Ed$', text, re.M | re.S)[:2]
    path = c.path('cycles.c')
    with open(path, 'w') as f:
        f.write(program.replace('\\e', '\\'))
    built = installed_program(c, 'cycles', path, pkg_config(c, '--cflags', '--libs'))
    env = dict(os.environ, LD_LIBRARY_PATH=os.path.join(c.install(), 'usr/lib'))
    same('output', run([built], env=env), session.split('./cycles\n')[1])


def main():
    tests = {name[5:]: f for name, f in globals().items() if name.startswith('test_')}
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--build', default='build')
    parser.add_argument('--cc', default='cc')
    parser.add_argument('names', nargs='*', choices=[*tests, []])
    args = parser.parse_args()
    counts = {'ok': 0, 'FAIL': 0, 'skip': 0}
    with tempfile.TemporaryDirectory() as place:
        c = Context(os.path.abspath(os.path.join(ROOT, args.build)), shlex.split(args.cc), place)
        for name in args.names or tests:
            try:
                tests[name](c)
                result, text = 'ok', ''
            except Skipped as e:
                result, text = 'skip', ': %s' % e
            except (Failed, OSError, subprocess.CalledProcessError) as e:
                result, text = 'FAIL', ':\n    ' + str(e).replace('\n', '\n    ')
            counts[result] += 1
            print('%s %s%s' % (result, name, text), flush=True)
    print('%d passed, %d failed, %d skipped' % (counts['ok'], counts['FAIL'], counts['skip']))
    return 1 if counts['FAIL'] else 0


if __name__ == '__main__':
    sys.exit(main())
