# SPDX-License-Identifier: MIT
"""The commands that are disturbed: each with a small input and what it leaves behind.

In arguments, {tiny} is a small program. Each command runs in a fresh copy of the folder that Inputs makes.
"""
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))

TINY = r'''
int work(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * n; return s; }
int main(int argc, char **argv) { (void)argv; return work(2000 * argc) == 1; }
'''
KERNEL = '''.globl work
work:
	xorl %eax, %eax
1:	imull %edi, %eax
	addl $3, %eax
	decl %edi
	jne 1b
	ret
'''
CHECK = '[check]\nfile = k.s\narch = SKL\n[work]\nfunction = work\n'


class Command:
    """outputs: files that it makes as a whole; stores: files that it adds rows to.

    same: its results are the same each time. measures: it runs blocks on this CPU. traces: it needs QEMU.
    parts: asked to end early, it writes what it has. rows: what its messages promise of a store, as a pattern with one number, and the query for it.
    """

    def __init__(self, name, args, outputs=(), stores=(), same=True, measures=False, traces=False, rows=None,
                 serves=False, parts=False):
        self.name, self.args = name, args.split()
        self.outputs, self.stores, self.same, self.measures = tuple(outputs), tuple(stores), same, measures
        self.traces, self.rows, self.serves, self.parts = traces, rows, serves, parts


BLOCKS = 'select count(*) from block'
MEASURED = 'select count(*) from measurement'

COMMANDS = [
    Command('predict', 'predict -a SKL,ZEN4 -f csv -j 1 -o out blocks.csv', ['out']),
    Command('predict_jobs', 'predict -a SKL -f csv -j 2 -o out blocks.csv', ['out']),
    Command('predict_text', 'predict -a SKL k.s'),
    Command('predict_elf', 'predict -a SKL -f json -o out --function work {tiny}', ['out']),
    Command('simulate', 'simulate -a SKL -o out k.s', ['out']),
    Command('measure', 'measure --noisy --tp-only -o s.db -x 4801d8 -x 90 -x 480fafc3', stores=['s.db'], same=False,
            measures=True, rows=(r'(\d+) blocks? measured', MEASURED)),
    Command('measure_jobs', 'measure --noisy --tp-only --rounds 2 -j 2 -o s.db -x 4801d8 -x 90', stores=['s.db'],
            same=False, measures=True, rows=(r'(\d+) blocks? measured', MEASURED)),
    Command('measure_csv', 'measure --noisy -f csv -o out -x 4801d8', ['out'], same=False, measures=True),
    Command('collect', 'collect --app tiny -o c.db -- {tiny}', stores=['c.db'], same=False, traces=True, rows=(None, BLOCKS)),
    Command('collect_static', 'collect --static -o out {tiny}', ['out']),
    Command('classify_train', 'classify --train m.new --topics 3 --starts 2 -j 1 -o out blocks.csv', ['m.new', 'out']),
    Command('classify_apply', 'classify --apply ports.model --store c.db -f csv -o out blocks.csv', ['out'], ['c.db']),
    Command('evaluate', 'evaluate -a ICX --model facile,sim -f csv -j 1 --rows rows -o out few.csv', ['out', 'rows']),
    Command('evaluate_report', 'evaluate -q -a ICX -f csv -j 1 --report page -o out few.csv',
            ['out', 'page/index.html']),
    Command('evaluate_partial', 'evaluate -q -a ICX -f csv -j 1 --partial scores -o out few.csv', ['out', 'scores']),
    Command('import', 'dataset import -a SKL --machine m i.db blocks.csv', stores=['i.db'],
            rows=(r'(\d+) with a measurement', MEASURED)),
    Command('import_again', 'dataset import -a HSW --machine n a.db few.csv', stores=['a.db'],
            rows=(r'(\d+) with a measurement', MEASURED)),
    Command('export', 'dataset export -o out a.db', ['out']),
    Command('merge', 'dataset merge a.db b.db', stores=['a.db'],
            rows=(r'(\d+) measurements', "select count(*) from measurement join machine on machine.id = machine"
                                         " where brand = 'n'")),
    Command('lint', 'dataset lint --check units -o out a.db', ['out']),
    Command('stat', 'dataset stat a.db'),
    Command('trace', 'trace -a SKL -f json -o out -- {tiny}', ['out'], same=False, traces=True, parts=True),
    Command('trace_record', 'trace --record out -- {tiny}', ['out'], same=False, traces=True, parts=True),
    Command('trace_read', 'trace -a SKL --html out --input tiny.trace', ['out'], same=False, traces=True),
    Command('diff', 'diff -f json -o out one.json two.json', ['out'], traces=True),
    Command('diff_code', 'diff -a SKL -o out k.s k2.s', ['out']),
    Command('mix_record', 'mix record -o out -- {tiny}', ['out'], same=False, parts=True),
    Command('mix_report', 'mix report -o out mix.data', ['out'], traces=True),
    Command('mix_merge', 'mix merge -o out tiny.counts tiny.counts', ['out'], traces=True),
    Command('tune', 'tune -a ICX --model facile --learn latency -j 1 -o out few.csv', ['out']),
    Command('tune_checkpoint', 'tune -a ICX --method surrogate --embedding 4 --hidden 4 --batch 8 --samples 1 --epochs 1'
                               ' --table-epochs 1 --rounds 1 -j 1 --checkpoint run.ckpt -o out few.csv',
            ['out', 'run.ckpt'], same=False),
    Command('hunt', 'hunt -a SKL --against sim --blocks 20 -j 1 -o out', ['out']),
    Command('insn', 'insn -a SKL -f csv -o out add', ['out']),
    Command('archs', 'archs SKL -o out', ['out']),
    Command('doctor', 'doctor -o out', ['out'], same=False),
    Command('check', 'check -o out check.ini', ['out']),
    Command('check_update', 'check --update --baseline base.new check.ini', ['base.new']),
    Command('calibrate', 'calibrate --points points.csv -a SKL -o out', ['out']),
    Command('serve', 'serve --port 0 -j 1', same=False, serves=True),
]


class Inputs:
    """The folder that commands run in, and programs that they start."""

    def __init__(self, tact, place):
        self.tact, self.place, self.folder = tact, place, os.path.join(place, 'inputs')
        self.tiny = os.path.join(place, 'tiny')
        os.makedirs(self.folder)
        self.write('tiny.c', TINY)
        subprocess.run(['gcc', '-O1', '-g', '-static', '-o', self.tiny, os.path.join(self.folder, 'tiny.c')],
                       check=True)
        os.remove(os.path.join(self.folder, 'tiny.c'))
        rows = open(os.path.join(TOP, 'examples/blocks.csv')).read().splitlines(True)
        self.write('blocks.csv', ''.join(rows))
        self.write('few.csv', ''.join(rows[:41]))
        self.write('k.s', KERNEL)
        self.write('k2.s', KERNEL.replace('imull', 'addl'))
        self.write('check.ini', CHECK)
        shutil.copy(os.path.join(TOP, 'tests/cli/calibrate_noisy.csv'), os.path.join(self.folder, 'points.csv'))
        self.run('dataset import -a SKL --machine m a.db few.csv')
        self.run('dataset import -a HSW --machine n b.db blocks.csv')
        self.run('check --update check.ini')
        self.run('classify --train ports.model --topics 3 --starts 1 -j 1 blocks.csv')
        self.has_qemu = shutil.which('qemu-x86_64') is not None
        if self.has_qemu:
            self.run('trace --record tiny.trace -- {tiny}')
            self.run('trace -a SKL -f json -o one.json --input tiny.trace')
            self.run('trace -a HSW -f json -o two.json --input tiny.trace')
            self.run('mix exact -o tiny.counts -- {tiny}')
            self.run('mix record --virtual -o mix.data -- {tiny}')

    def write(self, name, text):
        with open(os.path.join(self.folder, name), 'w') as out:
            out.write(text)

    def words(self, args):
        return [self.tact, *(a.replace('{tiny}', self.tiny) for a in args)]

    def run(self, line, is_needed=True):
        p = subprocess.run(self.words(line.split()), cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                           text=True, timeout=120)
        if is_needed and p.returncode:
            raise SystemExit('%s: %s' % (line, p.stderr))

    def copy(self, to):
        shutil.copytree(self.folder, to)
