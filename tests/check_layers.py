#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what the compiler does not: layers, output, state and form of the sources.

usage: check_layers.py [--build DIR]

The last line of the output is "N passed, M failed, K skipped".
"""
import argparse
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# What a module may include apart from itself; arrows only go down (doc/architecture.md).
MAY_INCLUDE = {
    'base': [],
    'llvm': ['base'],
    'isa': ['base', 'llvm'],
    'obj': ['base', 'isa'],
    'code': ['base', 'isa', 'obj'],
    'input': ['base', 'isa', 'obj', 'code'],
    'arch': ['base', 'llvm', 'isa'],
    'block': ['base', 'llvm', 'isa', 'code', 'arch'],
    'pmu': ['base', 'llvm', 'isa'],
    'facile': ['base', 'isa', 'arch', 'block'],
    'sim': ['base', 'isa', 'arch', 'block'],
    'mca': ['base', 'llvm', 'isa', 'arch', 'block'],
    'simulate': ['base', 'isa', 'arch', 'block', 'facile', 'sim'],
    'advice': ['base', 'isa', 'code', 'arch', 'block', 'facile'],
    'confidence': ['base', 'isa', 'arch', 'block', 'facile'],
    'measure': ['base', 'isa', 'arch', 'pmu'],
    'calibrate': ['base', 'arch', 'measure'],
    'store': ['base', 'isa', 'arch', 'block', 'pmu', 'measure'],
    'model': ['base', 'isa', 'arch', 'block', 'facile', 'sim', 'mca', 'simulate', 'store'],
    'rows': ['base', 'isa', 'code', 'arch', 'block', 'measure', 'store'],
    'view': ['base', 'isa', 'obj', 'input', 'arch', 'block', 'facile', 'sim', 'simulate', 'advice', 'confidence'],
    'evaluate': ['base', 'isa', 'arch', 'block', 'facile', 'confidence', 'model', 'measure', 'store', 'rows'],
    'dataset': ['base', 'isa', 'obj', 'input', 'arch', 'block', 'pmu', 'measure', 'facile', 'store', 'rows', 'evaluate'],
    'hunt': ['base', 'isa', 'arch', 'block', 'measure', 'facile', 'model', 'store', 'rows', 'dataset'],
    'trace': ['base', 'isa', 'obj', 'code', 'input', 'arch', 'block', 'facile', 'sim', 'simulate', 'model'],
    'collect': ['base', 'isa', 'obj', 'code', 'trace', 'store'],
    'tune': ['base', 'isa', 'obj', 'input', 'arch', 'block', 'facile', 'mca', 'model'],
    'classify': ['base', 'isa', 'arch', 'block'],
    'diff': ['base', 'isa', 'obj', 'code', 'input', 'arch', 'block', 'facile', 'model'],
    'check': ['base', 'isa', 'obj', 'input', 'arch', 'block', 'model', 'diff'],
    'profile': ['base'],
    'report': ['base', 'isa', 'profile', 'diff', 'check', 'obj', 'arch', 'facile', 'simulate', 'trace', 'mix', 'classify', 'block', 'sim', 'view'],
    # arch, block and simulate for the virtual PMU's retirement, trace for what it samples
    'mix': ['base', 'isa', 'obj', 'code', 'pmu', 'arch', 'block', 'facile', 'sim', 'simulate', 'model', 'trace'],
}
# Public headers are interfaces of a module as well,
PUBLIC = {
    'status.h': 'base', 'version.h': 'base', 'remark.h': 'base', 'insn.h': 'isa', 'input.h': 'input', 'arch.h': 'arch', 'block.h': 'block',
    'model.h': 'model', 'predict.h': 'facile', 'pipeline.h': 'sim', 'simulate.h': 'simulate', 'mca.h': 'mca',
    'measure.h': 'measure', 'classify.h': 'classify', 'store.h': 'store', 'view.h': 'view', 'advice.h': 'advice', 'doctor.h': 'pmu',
    'trace.h': 'trace', 'cycles.h': 'trace', 'symbols.h': 'trace', 'result.h': 'trace', 'analysis.h': 'trace',
    'collect.h': 'collect', 'confidence.h': 'confidence', 'tune.h': 'tune', 'mix.h': 'mix', 'tact.h': None,
}
# and so are those that only the program includes: they are not installed, and the libraries do not export them.
PROGRAM = {
    'calibrate.h': 'calibrate', 'codecheck.h': 'check', 'codediff.h': 'diff', 'coverage.h': 'arch', 'drawing.h': 'view', 'dataset.h': 'dataset', 'lint.h': 'dataset', 'mixfile.h': 'mix', 'campaign.h': 'dataset', 'rows.h': 'rows',
    'evaluate.h': 'evaluate', 'ranks.h': 'tune', 'hunt.h': 'hunt', 'known.h': 'measure', 'report.h': 'report', 'shares.h': 'classify', 'tracing.h': 'trace', 'program.h': None,
}

PRINTING = re.compile(r'\b(printf|puts|putchar|perror|vprintf|fputs|fputc|fprintf|vfprintf|fwrite|err|warn)'
                      r'\s*\(')
STREAMS = re.compile(r'\bstd(out|err)\b')
EXITING = re.compile(r'\b(exit|_exit|abort|getenv|secure_getenv|setenv)\s*\(')
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)

failures = []
passed = 0


def check(name, problems):
    global passed
    if problems:
        failures.append(name)
        print('FAIL %s' % name)
        for p in problems[:20]:
            print('    ' + p)
        if len(problems) > 20:
            print('    and %d more' % (len(problems) - 20))
    else:
        passed += 1


def relative(path):
    return os.path.relpath(path, ROOT)


def read(path):
    with open(path, encoding='utf-8', errors='replace') as f:
        return f.read()


def code_of(path):
    """The text without comments and strings, lines kept."""
    return COMMENT.sub(lambda m: '\n' * m.group(0).count('\n') if m.group(0)[0] == '/' else '""', read(path))


def sources(*patterns):
    return sorted(p for pattern in patterns for p in glob.glob(os.path.join(ROOT, pattern)))


def includes(path):
    return re.findall(r'^\s*#\s*include\s+[<"]([^">]+)[">]', read(path), re.M)


def check_layers():
    problems = []
    for path in sources('lib/*/*.[ch]', 'lib/*/*/*.[ch]'):
        module = relative(path).split('/')[1]
        if module not in MAY_INCLUDE:
            problems.append('%s: module %s is not in the table' % (relative(path), module))
            continue
        allowed = MAY_INCLUDE[module] + [module]
        for name in includes(path):
            parts = name.split('/')
            if parts[0] in ('tact', 'tact-program') and len(parts) == 2:
                target = (PUBLIC if parts[0] == 'tact' else PROGRAM).get(parts[1], '?')
            elif parts[0] in MAY_INCLUDE:
                target = parts[0]
            else:
                continue
            if target not in allowed:
                problems.append('%s includes %s' % (relative(path), name))
    check('arrows only go down', problems)
    problems = ['%s includes %s' % (relative(p), i) for p in sources('include/tact/*.h')
                for i in includes(p) if not i.startswith(('tact/', 'std'))]
    check('public headers need only each other and libc', problems)
    problems = ['%s includes %s' % (relative(p), i) for p in sources('include/tact-program/*.h')
                for i in includes(p) if not i.startswith(('tact/', 'tact-program/', 'std'))]
    check("the program's headers need only public ones and libc", problems)
    own = {os.path.basename(p) for p in sources('cli/*/*.h')}
    problems = ['%s includes %s' % (relative(p), i) for p in sources('cli/*.[ch]', 'cli/*/*.[ch]') for i in includes(p)
                if os.path.basename(i) not in own and
                ('/' in i and i.split('/')[0] in MAY_INCLUDE and i.split('/')[0] != 'base' or
                                     i.startswith(('Zydis', 'elfutils', 'libelf', 'dwarf')))]
    check('cli includes public headers and base only', problems)
    own = {os.path.basename(p) for p in sources('plugin/qemu/*.h')}
    problems = ['%s includes %s' % (relative(p), i) for p in sources('plugin/qemu/*.[ch]', 'plugin/qemu/*/*.c', 'lib/trace/wire.h')
                for i in includes(p)
                if i not in own and i != 'trace/wire.h' and ('tact' in i or i.split('/')[0] in MAY_INCLUDE)]
    check('the plugin includes wire.h and nothing else of ours', problems)


def symbols(*files):
    """The output of nm: (object, kind, name) of each global symbol."""
    out = subprocess.run(['nm', '-A', '-g', *files], capture_output=True, text=True).stdout
    for line in out.splitlines():
        m = re.fullmatch(r'(.+?):([0-9a-f]{16})? *(\w) (\S+)', line)
        if m:
            yield m.group(1), m.group(3), m.group(4)


def check_links(build):
    """The same arrows from what is really linked: a declaration of one's own hides from includes."""
    module_of = {os.path.basename(p)[:-2] + '.o': relative(p).split('/')[1]
                 for p in sources('lib/*/*.c', 'lib/*/*/*.c')}
    library = os.path.join(build, 'libtact-all.a')
    found = [(module_of.get(o.split(':')[-1], '?'), o, kind, name) for o, kind, name in symbols(library)]
    problems = [] if found else ['no symbols in %s' % library]
    defined = {name: module for module, _, kind, name in found if kind not in 'Uw'}
    for module, where, kind, name in found:
        target = defined.get(name)
        if kind in 'Uw' and target and target != module and target not in MAY_INCLUDE.get(module, []):
            problems.append('%s (%s) uses %s of %s' % (where, module, name, target))
    check('arrows only go down, by what is linked', problems)
    declared = set(re.findall(r'\b(tact_\w+)\b', ' '.join(code_of(p) for p in sources('include/tact*/*.h'))))
    defined.pop('main', None)
    objects = [os.path.join(build, relative(p)[:-2] + '.o') for p in sources('cli/*.c', 'cli/*/*.c')]
    problems = ['%s uses %s of %s' % (o, name, defined[name]) for o, kind, name in symbols(*objects)
                if kind == 'U' and defined.get(name, 'base') != 'base' and name not in declared]
    check('cli uses what public headers declare, and base', problems)


# A longer function cannot be read at a glance.
MAX_FUNCTION = 80


def check_functions():
    problems = []
    for path in sources('lib/*/*.c', 'lib/*/*/*.c', 'cli/*.c', 'cli/*/*.c', 'plugin/*/*.c', 'plugin/*/*/*.c', 'gen/*.c'):
        start = None
        for n, line in enumerate(read(path).splitlines(), 1):
            if line == '{':
                start = n
            elif line == '}' and start:
                if n - start + 1 > MAX_FUNCTION:
                    problems.append('%s:%d: %d lines' % (relative(path), start, n - start + 1))
                start = None
    check('no function has more than %d lines' % MAX_FUNCTION, problems)


def check_modules():
    """A module has its place in the documentation, and a test with its name: tests/unit/test_MODULE*.c."""
    tests = sources('tests/unit/test_*.c')
    seen = set()
    for path in tests:
        name = os.path.basename(path)[5:-2]
        seen.update(m for m in MAY_INCLUDE if name == m or name.startswith(m + '_'))
    rows = re.findall(r'^\| \d+ \| ([\w, ]+) \|', read(os.path.join(ROOT, 'doc/architecture.md')), re.M)
    named = {m for row in rows for m in row.split(', ')} - {'cli'}
    check('doc/architecture.md has the layer of every module', sorted(named ^ set(MAY_INCLUDE)))
    check('every module has a unit test of its own: tests/unit/test_MODULE*.c',
          ['there is none for lib/%s' % m for m in MAY_INCLUDE if m not in seen])


def check_output():
    problems = []
    for path in sources('lib/*/*.[ch]', 'lib/*/*/*.[ch]'):
        for n, line in enumerate(code_of(path).splitlines(), 1):
            if (STREAMS.search(line) or EXITING.search(line) or PRINTING.search(line)) and \
                    not re.search(r'\bfile\b.*\bFILE\b', line):
                problems.append('%s:%d: %s' % (relative(path), n, line.strip()))
    check('only cli prints, exits and reads the environment', problems)


def check_processes():
    """Hosts must not notice our children: only base/process.c may start them."""
    starts = re.compile(r'\b(v?fork|_Fork|posix_spawnp?|popen|system|clone3?)\s*\(|\bSYS_v?fork\b|\bSYS_clone')
    check('only base/process.c starts processes',
          ['%s:%d: %s' % (relative(path), n, line.strip()) for path in sources('lib/*/*.[ch]', 'lib/*/*/*.[ch]')
           if relative(path) != 'lib/base/process.c'
           for n, line in enumerate(code_of(path).splitlines(), 1) if starts.search(line)])


def check_state(build):
    objects = sorted(glob.glob(os.path.join(build, 'lib/**/*.o'), recursive=True))
    problems = [] if objects else ['no objects under %s' % build]
    out = subprocess.run(['nm', '-A', '-f', 'sysv', *objects], capture_output=True, text=True).stdout
    seen = set()
    for line in out.splitlines():
        columns = [c.strip() for c in line.split('|')]
        if len(columns) < 7:
            continue
        (path, _, name), section = columns[0].partition('.o:'), columns[6]
        seen.add(path + '.o')
        if section.startswith(('.data', '.bss', '.tbss', '.tdata', '*COM*')) and \
                not section.startswith('.data.rel.ro') and not name.startswith(('__asan', '__ubsan', '.L')):
            problems.append('%s.o: %s in %s' % (os.path.relpath(path, build), name, section))
    problems += ['%s: nm says nothing of it' % os.path.relpath(path, build) for path in objects if path not in seen]
    check('no mutable file-scope variable in lib', problems)


def check_exports(build):
    """Both libraries show what public headers declare, and nothing else."""
    declared = set()
    for path in sources('include/tact/*.h'):
        text = re.sub(r'#ifdef __cplusplus.*?(#else|#endif)', '', code_of(path), flags=re.S)
        declared.update(re.findall(r'^[^\n#/]*?\b(tact_\w+)\((?!\*)', text, re.M))
        declared.update(re.findall(r'^extern .*?\b(\w+)(?:\[\w*\])*;', text, re.M))
    for name, options in (('libtact.so', ['-D']), ('libtact.a', ['-g'])):
        library = os.path.join(build, name)
        out = subprocess.run(['nm', *options, '--defined-only', library], capture_output=True, text=True).stdout
        # "ADDRESS KIND NAME@@VERSION"; A is the name of a version.  Sanitizers bring their own.
        shown = {parts[2].split('@')[0] for parts in (line.split() for line in out.splitlines())
                 if len(parts) == 3 and parts[1] != 'A' and not re.match(r'_*(asan|ubsan|tsan|odr_asan)\b', parts[2])}
        check('%s shows what public headers declare, and nothing else' % name,
              ['%s is shown and not declared' % n for n in sorted(shown - declared)] +
              ['%s is declared and not there' % n for n in sorted(declared - shown)])


def tracked():
    p = subprocess.run(['git', '-C', ROOT, 'ls-files', '--cached', '--others', '--exclude-standard'],
                       capture_output=True, text=True)
    if p.returncode == 0 and p.stdout:
        names = p.stdout.splitlines()
    else:  # a copy without git
        names = [relative(os.path.join(d, f)) for d, dirs, files in os.walk(ROOT) for f in files]
    return [n for n in names if not n.startswith(('build', '.git/')) and '__pycache__' not in n and
            os.path.isfile(os.path.join(ROOT, n))]


def is_text(path):
    with open(os.path.join(ROOT, path), 'rb') as f:
        return b'\0' not in f.read(4096)


# Words of one instruction set: its libraries, its names, its registers.  They may occur in the folders of the set, in
# data, and in comments, where they explain where a rule comes from.
SET_WORDS = re.compile(r'(?i:zydis|zyan|(?<!0)x86|\bqemu-(?!user|binfmt)[a-z])|\b(?:TACT_REG_(?!NONE\b)\w+|AVX\w*|SSE\d?|'
                       r'[re](?:ax|bx|cx|dx|sp|bp|si|di)|[xyz]mm\d*|r(?:8|9|1[0-5])[dwb]?|'
                       r'imul|iretq|jnz|lea|movzx|rdtsc|xgetbv)\b')
SET_FOLDERS = tuple(relative(p) + '/' for p in glob.glob(os.path.join(ROOT, 'lib', '*', '*', '')))


def check_words():
    """Neither an instruction set nor a CPU has its name outside of its folder and of data."""
    sets, cpus = [], []
    names = '|'.join(os.path.basename(p)[:-len('.arch')] for p in sources('data/arch/*.arch'))
    for path in sources('lib/*/*.[ch]', 'lib/*/*/*.[ch]', 'lib/*/*.def', 'include/tact*/*.h', 'cli/*.[ch]', 'cli/*/*.[ch]',
                        'plugin/qemu/*.[ch]'):
        name = relative(path)
        # What other tools' options take is in one file.
        if name.startswith(SET_FOLDERS) or name == 'cli/dropin/dropin_words.c':
            continue
        text = COMMENT.sub(lambda m: '\n' * m.group(0).count('\n') if m.group(0)[0] == '/' else m.group(0), read(path))
        for n, line in enumerate(text.splitlines(), 1):
            if SET_WORDS.search(line):
                sets.append('%s:%d: %s' % (name, n, line.strip()[:80]))
            if name.startswith('lib/') and re.search(r'\b(?:%s)\b' % names, line):
                cpus.append('%s:%d: %s' % (name, n, line.strip()[:80]))
    check('no word of an instruction set outside of its folders', sets)
    check('no name of a CPU in lib', cpus)


def check_names():
    # Headers of a module and of its public interface share a name by design.
    seen = {}
    problems = []
    for path in tracked():
        if not path.endswith(('.c', '.h', '.py', '.def')) or path.startswith('include/') or \
                os.path.basename(path) == 'run.py':
            continue
        name = os.path.basename(path)
        if name in seen:
            problems.append('%s and %s' % (seen[name], path))
        seen[name] = path
    check('file names are unique in the tree', problems)


def check_form():
    no_spdx, columns, blanks, indents = [], [], [], []
    for path in tracked():
        if not path.endswith(('.c', '.h', '.py', '.sh', '.def')) and os.path.basename(path) != 'Makefile':
            continue
        text = read(os.path.join(ROOT, path))
        # What is loaded into QEMU has QEMU's licence.
        licence = 'GPL-2.0-or-later' if path.startswith('plugin/') else 'MIT'
        if 'SPDX-License-Identifier: ' + licence not in '\n'.join(text.splitlines()[:3]):
            no_spdx.append(path)
        for n, line in enumerate(text.splitlines(), 1):
            where = '%s:%d' % (path, n)
            if line != line.rstrip():
                blanks.append(where)
            if path.endswith(('.c', '.h')):
                if len(line.expandtabs(8)) > 120:
                    columns.append('%s: %d columns' % (where, len(line.expandtabs(8))))
                if re.match(r' {8}', line):
                    indents.append(where)
    check('SPDX line in every source', no_spdx)
    check('no line is much longer than 100 columns', columns)
    check('no blanks at the end of a line', blanks)
    check('C code is indented with tabs', indents)


def check_paths():
    """No absolute path of somebody's machine."""
    pattern = re.compile(r'/(?:home|root|Users)/\w+|/work/\w+|/opt/\w+')
    problems = []
    for path in tracked():
        if path.startswith('tests/fuzz/corpus') or not is_text(path) or path == 'tests/check_layers.py':
            continue
        for n, line in enumerate(read(os.path.join(ROOT, path)).splitlines(), 1):
            if pattern.search(line):
                problems.append('%s:%d: %s' % (path, n, line.strip()[:80]))
    check('no absolute paths of a machine', problems)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--build', default='build')
    args = parser.parse_args()
    check_layers()
    check_output()
    check_processes()
    check_links(os.path.join(ROOT, args.build))
    check_functions()
    check_modules()
    check_state(os.path.join(ROOT, args.build))
    check_exports(os.path.join(ROOT, args.build))
    check_names()
    check_words()
    check_form()
    check_paths()
    print('%d passed, %d failed, 0 skipped' % (passed, len(failures)))
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
