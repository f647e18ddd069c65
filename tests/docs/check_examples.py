#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the examples of README.md, doc/ and the manual pages.

usage: check_examples.py [--tact PROGRAM] [--build DIR] [--cc CC] [--rebase] [DOCUMENT...]

Markdown: every block ```console is run.  Lines that begin with "$ " are commands, the lines after
them are what they print (standard error included); a line "..." stands for any number of lines.  A
comment right before the block says how it is compared:

    <!-- example: shape -->             numbers may differ: words and columns must not
    <!-- example: status -->            only the exit status counts, and that something is printed
    <!-- example: needs qemu -->        skipped where there is none: qemu, measure, ptrace,
                                        a program's name; quiet: no neighbours that disturb
    <!-- example: exit 4 -->            the exit status of the last command, 0 unless it says so
    <!-- example: skip REASON -->       not run

Several words may be combined (shape needs qemu).  Without a comment the output must be equal.
A block after <!-- file: NAME --> is a file that the examples of that document find.  Blocks in C,
C++ and Python must be such files, so that none stays untried; sessions (pycon) of doc/python.md are tried by
tests/python.  All examples of a document run in one
directory, in order, with examples/ in it.

Manual pages: each command of the section EXAMPLES must end with status 0 and print or write
something.  A line of .Dl or of .Bd -literal is a command; if one line of a block begins with "$ ",
only such lines are.  fixture() makes the files that the commands find.

--rebase writes what comes out into blocks that are compared as a whole.
The last line of the output is "N passed, M failed, K skipped".
"""
import argparse
import concurrent.futures
import glob
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, 'tests'))
import machine  # noqa: E402

TIMEOUT = 120
WAITING = 4  # documents that wait, at a time
MEASURES = re.compile(r'tact (measure|doctor)\b')
FENCE = re.compile(r'^```(\w*)\s*$')
MARK = re.compile(r'^<!-- (example|file): (.*?) -->$')
NUMBER = re.compile(r'0x[0-9a-f]+|[-+]?\d[\d,]*(\.\d+)?%?')
TRIED = ('c', 'cpp', 'python')

# Examples of manual pages that cannot run here, and why.
MAN_SKIPPED = (
    (r'--listen|--connect', 'needs two machines'),
    (r'^tact serve( --measure)?$|^curl ', 'serves until a signal ends it; tests/serve asks'),
    (r'^tact serve --static', 'needs what make wasm builds; make check-web tries it'),
    (r'^sudo |^#', 'changes the machine'),
)
MAN_NEEDS = (
    (r'tact (measure)\b', 'measure'),
    (r'--until-confirmed', 'quiet'),
    (r'tact (collect|trace|diff)\b(?!.*(--static|\.json))', 'qemu'),
    (r'tact mix (record|exact)', 'qemu'),
    (r'--model [\w,:]*llvm-mca', 'llvm-mca'),
    (r'^clang ', 'clang'),
)


class Block:
    """A fenced block of a document."""

    def __init__(self, line, language, mark):
        self.line, self.language, self.mark = line, language, mark
        self.lines = []

    def commands(self):
        """[(command, expected lines)]"""
        found = []
        for line in self.lines:
            if line.startswith('$ '):
                found.append((line[2:], []))
            elif found and found[-1][0].endswith('\\') and not found[-1][1]:
                found[-1] = (found[-1][0] + '\n' + line, [])
            elif found:
                found[-1][1].append(line)
        return found


def blocks_of(path):
    blocks, block, mark = [], None, None
    with open(path, encoding='utf-8') as f:
        for n, line in enumerate(f.read().splitlines(), 1):
            fence = FENCE.match(line)
            if block is None and fence:
                block = Block(n, fence.group(1), mark)
            elif block is not None and line == '```':
                blocks.append(block)
                block, mark = None, None
            elif block is not None:
                block.lines.append(line)
            elif MARK.match(line):
                mark = MARK.match(line).groups()
            elif line.strip():
                mark = None
    return blocks


class Rule:
    """What a comment says about a block."""

    def __init__(self, text):
        self.way, self.status, self.needs, self.why = 'equal', 0, [], None
        words = text.split()
        while words:
            word = words.pop(0)
            if word == 'skip':
                self.why, words = ' '.join(words), []
            elif word == 'exit':
                self.status = int(words.pop(0))
            elif word == 'needs':
                self.needs.append(words.pop(0))
            elif word in ('shape', 'status'):
                self.way = word
            else:
                raise ValueError('cannot read the comment: example: %s' % text)
        if self.why == '':
            raise ValueError('an example is skipped without a reason')


def missing(need, args):
    """What keeps an example from running here; None if nothing does."""
    if need == 'measure':
        return machine.why_not_measure(args.tact)
    if need == 'ptrace':
        return machine.why_not_ptrace(args.tact)
    if need == 'quiet':
        with args.cores.all():
            return 'others keep the core busy' if args.neighbours.are_here() else None
    name = 'qemu-x86_64' if need == 'qemu' else need
    return None if shutil.which(name) else 'there is no %s' % name


def shape(line):
    return ' '.join(NUMBER.sub('N', line).split())


def matches(expected, lines, way):
    if way == 'status':
        return bool(lines) or not expected
    same = (lambda a, b: shape(a) == shape(b)) if way == 'shape' else str.__eq__
    places = {0}
    for want in expected:
        if want == '...':
            places = set(range(min(places), len(lines) + 1)) if places else set()
        else:
            places = {p + 1 for p in places if p < len(lines) and same(want, lines[p].rstrip())}
    return len(lines) in places


class Place:
    """An empty directory with examples/ in it, in which commands are run."""

    def __init__(self, args, template=None):
        self.path = tempfile.mkdtemp(prefix='tact-docs-')
        self.args = args
        self.env = dict(os.environ, LC_ALL='C', PATH=args.bin + ':' + os.environ['PATH'],
                        LD_LIBRARY_PATH=args.prefix + '/lib',
                        PKG_CONFIG_PATH=args.prefix + '/lib/pkgconfig', COLUMNS='100')
        self.env.pop('NO_COLOR', None)
        if template:
            shutil.copytree(template.path, self.path, symlinks=True, dirs_exist_ok=True)
        else:
            os.symlink(os.path.join(TOP, 'examples'), os.path.join(self.path, 'examples'))

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.path, name)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
        os.chmod(path, mode)

    def run(self, command):
        """Status and lines; a command that measures has all cores, others have one each."""
        if MEASURES.search(command):
            return machine.run_measuring(lambda: self.call(command), self.args.cores, self.args.neighbours)
        with self.args.cores.one():
            return self.call(command)

    def call(self, command):
        try:
            p = subprocess.run(['bash', '-c', command], cwd=self.path, env=self.env, timeout=TIMEOUT,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
        except subprocess.TimeoutExpired:
            return 124, ['still running after %d s' % TIMEOUT]
        return p.returncode, p.stdout.decode('utf-8', 'replace').splitlines()

    def remove(self):
        shutil.rmtree(self.path)


def accepted(command, status):
    """Statuses other than 0 that are no failure of an example."""
    # A block need not be stable on a busy machine; what differs, and what could be better, are statuses.
    return status == 0 or (status == 1 and 'tact measure' in command) or \
        (status == 4 and 'tact diff' in command) or (status in (1, 3) and 'tact doctor' in command)


def check_block(block, place, args):
    """(result, why, lines that the block should have)"""
    rule = Rule(block.mark[1] if block.mark and block.mark[0] == 'example' else '')
    why = rule.why or next(filter(None, (missing(n, args) for n in rule.needs)), None)
    if why:
        return 'skip', why, None
    commands = block.commands()
    if not commands:
        return 'FAIL', 'no line begins with "$ "', None
    fresh, problem = [], None
    for i, (command, expected) in enumerate(commands):
        wanted = rule.status if i == len(commands) - 1 else 0
        status, lines = place.run(command)
        fresh += ['$ ' + command, *lines]
        if status == 124 and 'quiet' in rule.needs:
            return 'skip', 'others came, and keep the core busy', None
        if status != wanted and (wanted or not accepted(command, status)):
            return 'FAIL', '$ %s\nends with status %d:\n%s' % (command, status, '\n'.join(lines)), None
        while expected and not expected[-1]:
            expected.pop()
        while lines and not lines[-1]:
            lines.pop()
        if not matches(expected, lines, rule.way):
            problem = problem or '$ %s\nprints:\n%s' % (command, '\n'.join(lines))
    whole = '...' not in block.lines
    return ('FAIL' if problem else 'ok'), problem, fresh if problem and whole else None


def check_document(path, args):
    """Results of one Markdown file, in order: (name, result, why)."""
    found = []
    replaced = []
    name = os.path.relpath(path, TOP)
    place = Place(args)
    try:
        for block in blocks_of(path):
            where = '%s:%d' % (name, block.line)
            is_file = block.mark is not None and block.mark[0] == 'file'
            if is_file:
                place.write(block.mark[1], '\n'.join(block.lines) + '\n')
            elif block.language == 'console':
                try:
                    result, why, fresh = check_block(block, place, args)
                except ValueError as e:
                    result, why, fresh = 'FAIL', str(e), None
                if fresh:
                    replaced.append((block, fresh))
                found.append((where, result, why))
            elif block.language == 'pycon' and name != 'doc/python.md':
                found.append((where, 'FAIL', 'sessions are tried in doc/python.md only'))
            elif block.language in TRIED and not (block.mark and block.mark[1].startswith('skip ')):
                found.append((where, 'FAIL', 'code that is neither a file of the examples nor skipped'))
            elif not block.language and any(re.match(r'\$ |tact [a-z]', x) for x in block.lines):
                found.append((where, 'FAIL', 'commands in a block that is not ```console'))
    finally:
        place.remove()
    if args.rebase and replaced:
        rebase(path, replaced)
    return found


def rebase(path, replaced):
    with open(path, encoding='utf-8') as f:
        lines = f.read().splitlines()
    for block, fresh in reversed(replaced):
        lines[block.line:block.line + len(block.lines)] = fresh
    with open(path, 'w', encoding='utf-8') as f:
        f.write('\n'.join(lines) + '\n')


# ---- manual pages ----

def fixture(place, args):
    """The files that examples of manual pages name."""
    with open(os.path.join(TOP, 'examples/blocks.csv')) as f:
        rows = f.read().splitlines()
    table = [r.split(',') for r in rows]
    column = {n: i for i, n in enumerate(table[0])}
    measured = 'hex,cycles,clean\n' + ''.join('%s,%s,1\n' % (r[column['hex']], r[column['cycles']])
                                              for r in table[1:41])
    counts = 'hex,weight\n' + ''.join('%s,%d\n' % (r[column['hex']], i) for i, r in enumerate(table) if i)
    hundred = 'hex,cycles\n' + ''.join('%s,%.0f\n' % (r[column['hex']], 100 * float(r[column['cycles']]))
                                       for r in table[1:])
    with open(os.path.join(TOP, 'examples/demo.s')) as f:
        place.write('kernel.s', f.read())
    place.write('kernel-a64.s', 'sum:\n\tldr\td1, [x0], #8\n\tfadd\td0, d0, d1\n\tcmp\tx0, x1\n\tb.ne\tsum\n')
    place.write('kernel.asm', '.intel_syntax noprefix\nl:\n\tadd\trax, [rsi]\n\tadd\trsi, 8\n\tdec\tr15\n\tjnz\tl\n')
    place.write('sum.c', 'double sum(const double *a, long n)\n{\n\tdouble s = 0;\n\n'
                '\tfor (long i = 0; i < n; i++)\n\t\ts += a[i];\n\treturn s;\n}\n')
    for name in ('blocks.csv', 'hsw.csv', 'skl.csv', 'rkl.csv', 'icl.csv'):
        place.write(name, measured)
    place.write('measured.csv', 'hex,cycles,arch\n' + ''.join(
        '%s,%s,%s\n' % (r[column['hex']], r[column['cycles']], arch)
        for arch in ('ICX', 'SKL') for r in table[1:41]))
    place.write('bhive-hsw.csv', hundred)
    for name in ('gzip.csv', 'openssl.csv', 'sqlite.csv', 'openblas.csv'):
        place.write(name, counts)
    place.write('file', 'All work and no play makes Jack a dull boy.\n' * 200)
    place.write('script.py', 'print(sum(range(100)))\n')
    place.write('other.py', '#!/usr/bin/env python3\nimport sys\nfor line in sys.stdin:\n    print(1.0)\n',
                0o755)
    place.write('server.c', '#include <string.h>\n__attribute__((noinline)) int parse(const char *s)\n{\n'
                '\tint n = 0;\n\n\twhile (*s)\n\t\tn = 10 * n + *s++ - 48;\n\treturn n;\n}\n\n'
                'int main(int argc, char **argv)\n{\n\treturn parse(argv[argc - 1]) == 7;\n}\n')
    with sqlite3.connect(os.path.join(place.path, 'base.db')) as base:
        base.execute('create table t (x)')
    place.run('%s -O2 -g -o a.out examples/histogram.c && cp a.out old && cp a.out new && cp a.out x && '
              'cp a.out prog && cp a.out program && %s -O1 -g -o server server.c' % (args.cc, args.cc))
    for name in ('hsw.db', 'skl.db', 'blocks.db', 'all.db'):
        place.run('tact dataset import -q -a ICX --machine one %s examples/blocks.csv' % name)
    # what is measured here may be too little to tune with: a busy neighbour leaves no number
    place.run('tact dataset import -q -a ZEN4 --machine zen zen.db examples/blocks.csv')
    for name in ('old.json', 'new.json', 'base.json'):
        place.run('tact trace -q -a SKL -o %s --input kernel.s' % name)
    place.run('tact classify -q --train ports.model gzip.csv')


def man_commands(path):
    with open(path, encoding='utf-8') as f:
        text = f.read()
    m = re.search(r'^\.Sh EXAMPLES\n(.*?)(?=^\.Sh |\Z)', text, re.M | re.S)
    if not m:
        return []
    groups, literal = [], None
    for line in m.group(1).splitlines():
        if line.startswith('.Bd'):
            literal = []
        elif line.startswith('.Ed'):
            groups.append(literal or [])
            literal = None
        elif literal is not None:
            literal.append(line)
        elif line.startswith('.Dl '):
            groups.append([line[4:]])
    commands = []
    for group in groups:
        group = [x.replace('\\e', '\\').replace('\\-', '-').replace('\\(aq', "'").replace('\\&', '')
                 for x in group]
        if any(x.startswith('$ ') for x in group):
            joined = '\n'.join(group).replace('\\\n', '')
            group = [x[2:] for x in joined.splitlines() if x.startswith('$ ')]
        else:
            group = '\n'.join(group).replace('\\\n', '').splitlines()
        commands += [re.sub(r' {3,}[a-z].*$', '', x) if x.startswith('tact') else x
                     for x in group if x.strip()]
    return commands


def files_in(directory):
    return {p: os.stat(p).st_mtime_ns for p in glob.glob(directory + '/**', recursive=True)
            if '/examples/' not in p and os.path.exists(p)}


def check_page(path, args):
    found = []
    name = os.path.relpath(path, TOP)
    commands = man_commands(path)
    if not commands:
        return []
    place = Place(args, args.fixture)
    try:
        for command in commands:
            why = next((w for pattern, w in MAN_SKIPPED if re.search(pattern, command)), None)
            why = why or next(filter(None, (missing(n, args) for pattern, n in MAN_NEEDS
                                            if re.search(pattern, command))), None)
            where = '%s: %s' % (name, command)
            if why:
                found.append((where, 'skip', why))
                continue
            before = files_in(place.path)
            status, lines = place.run(command)
            good = accepted(command, status)
            if status == 124 and '--until-confirmed' in command:
                found.append((where, 'skip', 'others came, and keep the core busy'))
            elif not good:
                found.append((where, 'FAIL', 'status %d: %s' % (status, '\n'.join(lines[:10]))))
            elif not lines and files_in(place.path) == before:
                found.append((where, 'FAIL', 'nothing is printed or written'))
            else:
                found.append((where, 'ok', None))
    finally:
        place.remove()
    return found


def install(args):
    """What pkg-config finds: the library as it is installed."""
    p = subprocess.run(['make', '--no-print-directory', '-s', 'install', 'BUILD=' + args.build,
                        'PREFIX=' + args.prefix], cwd=TOP, capture_output=True, text=True)
    if p.returncode:
        print('FAIL make install: %s' % p.stderr[-2000:])
    return p.returncode == 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--build', default='build')
    parser.add_argument('--tact')
    parser.add_argument('--cc', default='cc')
    parser.add_argument('--rebase', action='store_true')
    parser.add_argument('documents', nargs='*')
    args = parser.parse_args()
    args.build = os.path.join(TOP, args.build)
    args.fixture = None
    args.tact = os.path.abspath(args.tact or os.path.join(args.build, 'tact'))
    args.cores = machine.Cores(os.cpu_count() or 1)
    args.neighbours = machine.Neighbours(args.tact)
    documents = [os.path.abspath(d) for d in args.documents] or \
        [os.path.join(TOP, 'README.md'), *sorted(glob.glob(TOP + '/doc/**/*.md', recursive=True)),
         *sorted(glob.glob(TOP + '/man/*.1'))]
    counts = {'ok': 0, 'FAIL': 0, 'skip': 0}
    with tempfile.TemporaryDirectory(prefix='tact-docs-') as directory:
        args.prefix = os.path.join(directory, 'prefix')
        args.bin = os.path.join(directory, 'bin')
        os.mkdir(args.bin)
        os.symlink(args.tact, os.path.join(args.bin, 'tact'))
        for name in ('cc', 'c++'):
            real = shutil.which(args.cc.split()[-1] if name == 'cc' else name)
            if real:
                os.symlink(real, os.path.join(args.bin, name))
        if not install(args):
            print('0 passed, 1 failed, 0 skipped')
            return 1
        if any(d.endswith('.1') for d in documents):
            args.fixture = Place(args)
            fixture(args.fixture, args)
        with concurrent.futures.ThreadPoolExecutor(args.cores.total + WAITING) as pool:
            checks = [pool.submit(check_page if d.endswith('.1') else check_document, d, args)
                      for d in documents]
            for check in checks:
                for name, result, why in check.result():
                    counts[result] += 1
                    if result != 'ok':
                        print('%s %s: %s' % (result, name, (why or '').replace('\n', '\n    ')))
    if args.fixture:
        args.fixture.remove()
    print('%d passed, %d failed, %d skipped' % (counts['ok'], counts['FAIL'], counts['skip']))
    return 1 if counts['FAIL'] else 0


if __name__ == '__main__':
    sys.exit(main())
