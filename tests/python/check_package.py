# SPDX-License-Identifier: MIT
"""Tests of the Python package: whichever `import tact` finds."""
import ctypes
import doctest
import importlib
import os
import pkgutil
import random
import subprocess
import tempfile
import threading
import unittest

import numpy as np

import tact
from tact import _abi

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CODES = ['4801d8', '480fafc3', '4883c00148ffc975f7', 'c5fc58c1c5f459d0488b07']


def load_tests(loader, tests, pattern):
    """The examples in the package's own documentation, and those of its tutorial."""
    for module in pkgutil.iter_modules(tact.__path__):
        if not module.name.startswith('_'):
            tests.addTests(doctest.DocTestSuite(importlib.import_module('tact.' + module.name)))
    tests.addTests(doctest.DocTestSuite(tact))
    tests.addTests(doctest.DocFileSuite(ROOT + '/doc/python.md', module_relative=False))
    return tests


def written(text, suffix):
    f = tempfile.NamedTemporaryFile('w', suffix=suffix, delete=False)
    with f:
        f.write(text)
    return f.name


class Headers(unittest.TestCase):
    """What _abi.py says is what the compiler says."""

    def structs(self):
        for value in vars(_abi).values():
            if isinstance(value, type) and issubclass(value, ctypes.Structure) and \
                    value.__doc__ and value.__doc__.startswith('struct '):
                yield value

    def test_members_are_where_the_headers_have_them(self):
        cc = os.environ.get('TACT_CHECK_CC')
        if not cc:
            self.skipTest('there are no headers')
        lines, want = [], {}
        for s in self.structs():
            for name, kind in s._fields_:
                key = '%s.%s' % (s.__doc__, name)
                want[key] = (getattr(s, name).offset, ctypes.sizeof(kind))
                lines.append('printf("%s %%zu %%zu\\n", offsetof(%s, %s), sizeof(((%s *)0)->%s));'
                             % (key.replace(' ', '_'), s.__doc__, name, s.__doc__, name))
        self.assertGreater(len(lines), 150)
        with tempfile.TemporaryDirectory() as place:
            source, program = place + '/abi.c', place + '/abi'
            with open(source, 'w') as f:
                f.write('#include <stddef.h>\n#include <stdio.h>\n#include <tact/tact.h>\n'
                        'int main(void) {%s return 0;}\n' % '\n'.join(lines))
            subprocess.run([*cc.split(), '-I', ROOT + '/include', '-o', program, source], check=True)
            out = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        found = {}
        for line in out.splitlines():
            key, offset, size = line.split()
            found[key.replace('_', ' ', 1)] = (int(offset), int(size))
        self.assertEqual(found, want)

    def test_frozen_structs_have_their_size(self):
        # SimUop is shown by the library: it is never longer than what the headers have
        self.assertEqual(ctypes.sizeof(_abi.SimUop), 80)
        self.assertEqual(ctypes.sizeof(_abi.Diag), 256)


class BlocksTest(unittest.TestCase):
    def test_sequences(self):
        b = tact.Blocks(CODES)
        self.assertEqual(b.hex(), CODES)
        self.assertEqual(b[1:3].hex(), CODES[1:3])
        self.assertEqual(b[np.array([3, 0])].hex(), [CODES[3], CODES[0]])
        self.assertEqual(b[b.lengths > 4].hex(), CODES[2:])
        self.assertEqual(b[-1].hex(), CODES[-1])
        self.assertEqual(len(tact.Blocks()), 0)
        with self.assertRaises(IndexError):
            b[4]

    def test_bad_hex_is_named(self):
        with self.assertRaisesRegex(tact.TactError, 'block 1 '):
            tact.Blocks(['90', '9g'])

    def test_arrays_are_checked(self):
        data = np.zeros(4, np.uint8)
        tact.Blocks.from_arrays(data, np.array([0, 4]))
        for offsets in ([0, 5], [2, 1], [-1, 2], [], [0, 2**63 - 1, -2**63]):
            with self.assertRaises(ValueError):
                tact.Blocks.from_arrays(data, np.array(offsets, np.int64))
        with self.assertRaises(ValueError):
            tact.Blocks.from_arrays(np.zeros((4, 4), np.uint8), np.array([0, 4]))
        offsets = np.array([0, 4])
        blocks = tact.Blocks.from_arrays(data, offsets)
        offsets[1] = 4000
        for model in ('facile', 'sim'):
            with self.assertRaises(ValueError):
                tact.predict(blocks, model=model)

    def test_numbers_and_names_are_not_cut_off(self):
        for words in ({'alignment': 2**32 + 5}, {'alignment': -1}, {'threads': -5}):
            with self.assertRaises(ValueError):
                tact.predict(['90'], **words)
        for words in ({'timeline': -1}, {'timeline': 2**70}, {'max_cycles': -1}):
            with self.assertRaises(ValueError):
                tact.Block('90').simulate(**words)
        with self.assertRaises(ValueError):
            tact.Arch('SKL\0')
        with self.assertRaises(ValueError):
            tact.predict(['90'], model='sim\0x')

    def test_any_name_of_a_file(self):
        path = written('add %rax, %rbx\n', '.s')
        other = os.fsencode(path) + b'\xff'
        os.rename(path, other)
        self.assertEqual(tact.read(other).hex(), ['4801c3'])
        self.assertEqual(tact.read(os.fsdecode(other)).hex(), ['4801c3'])
        os.unlink(other)

    def test_files(self):
        self.assertEqual(tact.read(written('90\n\n4801d8\n', '.hex')).hex(), ['90', '4801d8'])
        self.assertEqual(tact.read(written('# a list\n90\n', '.hex')).hex(), ['90'])
        rows = tact.read(written('app,hex,cycles\nx,90,0.25\ny,4801d8,\n', '.csv'))
        self.assertEqual(rows.hex(), ['90', '4801d8'])
        self.assertEqual(rows.columns['app'].tolist(), ['x', 'y'])
        self.assertEqual(rows.columns['cycles'][0], 0.25)
        self.assertTrue(np.isnan(rows.columns['cycles'][1]))
        self.assertEqual(rows[1:].columns['app'].tolist(), ['y'])
        asm = tact.read(written('.intel_syntax noprefix\nadd rax, rbx\n', '.s'))
        self.assertEqual(asm.hex(), ['4801d8'])

    def test_bad_files_say_where(self):
        with self.assertRaises(FileNotFoundError):
            tact.read('/nonexistent/x.hex')
        with self.assertRaisesRegex(tact.TactError, 'line 2'):
            tact.read(written('90\n909\n', '.hex'))
        with self.assertRaisesRegex(tact.TactError, 'line 3 has 1 cells'):
            tact.read(written('hex,cycles\n90,1\n90\n', '.csv'))

    def test_assembly(self):
        self.assertEqual(tact.assemble('addq %rbx, %rax').hex(), ['4801d8'])
        with self.assertRaises(tact.TactError):
            tact.assemble('nonsense rax')


class Predicting(unittest.TestCase):
    def test_one_is_like_many(self):
        many = tact.predict(CODES * 100, 'SKL')
        for i, code in enumerate(CODES):
            e = tact.Block(code, 'SKL').explain()
            self.assertEqual(many.cycles[i::len(CODES)].tolist(), [e.cycles] * 100)
            row = many.bounds[i]
            self.assertEqual({n: b for n, b in zip(tact.BOUNDS, row) if not np.isnan(b)}, e.bounds)
            self.assertEqual(many.bottleneck()[i], '+'.join(e.bottlenecks))

    def test_more_than_a_chunk_and_any_threads(self):
        codes = CODES * 3000 + ['06']
        a, b = tact.predict(codes, 'ZEN4', threads=1), tact.predict(codes, 'ZEN4', threads=3)
        np.testing.assert_array_equal(a.cycles, b.cycles)
        self.assertEqual(np.count_nonzero(a.status), 1)
        self.assertTrue(np.isnan(a.cycles[-1]) and np.isnan(a.bounds[-1]).all())
        self.assertEqual(a.reason(0), '')
        self.assertNotEqual(a.reason(len(codes) - 1), '')

    def test_bounds_are_chosen(self):
        p = tact.predict('480fafc3', 'SKL', bounds=['ports'])
        self.assertEqual(p.cycles.tolist(), [1.0])
        self.assertTrue(p.limited_by('ports').all())
        with self.assertRaisesRegex(ValueError, 'bound is one of'):
            tact.predict('90', bounds=['port'])

    def test_other_models(self):
        p = tact.predict(CODES + ['06'], 'SKL', model='sim')
        self.assertEqual(p.cycles[:2].tolist(), [1.0, 3.0])
        self.assertLess(p.status[-1], 0)
        self.assertIsNone(p.bounds)
        with self.assertRaisesRegex(tact.TactError, 'nothing'):
            tact.predict('90', model='nothing')

    def test_no_blocks(self):
        self.assertEqual(len(tact.predict([])), 0)
        self.assertEqual(len(tact.predict([], model='sim')), 0)
        self.assertEqual(tact.predict(['']).reason(0) != '', True)

    def test_options(self):
        loop = tact.predict(CODES[2], 'SKL', mode='loop').cycles[0]
        self.assertLessEqual(tact.predict(CODES[2], 'SKL', mode='unroll').cycles[0], loop + 1)
        far = tact.predict('488b00', 'SKL', memory='l2').cycles[0]
        self.assertGreater(far, tact.predict('488b00', 'SKL').cycles[0])
        for wrong in ({'mode': 'x'}, {'memory': 'l9'}, {'init': ''}):
            with self.assertRaises(ValueError):
                tact.predict('90', **wrong)
        with self.assertRaises(ValueError):
            tact.predict('90', model='sim', memory='l2')

    def test_unknown_cpu(self):
        with self.assertRaisesRegex(tact.TactError, "no model of 'SKYNET'"):
            tact.predict('90', 'SKYNET')

    def test_threads_of_python(self):
        found = [None] * 4

        def work(i):
            found[i] = tact.predict(CODES * 500, 'SKL', threads=2).cycles

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for f in found:
            np.testing.assert_array_equal(f, found[0])


class OneBlock(unittest.TestCase):
    def test_explanation(self):
        b = tact.Block('480fafc34801d8', 'SKL')
        self.assertEqual([i.text for i in b.instructions], ['imul rax, rbx', 'add rax, rbx'])
        e = b.explain()
        self.assertEqual((e.cycles, e.bottlenecks), (4.0, ['precedence']))
        self.assertEqual([(c.instruction, c.latency) for c in e.chain], [(0, 3), (1, 1)])
        self.assertAlmostEqual(sum(e.shares.values()), 1)
        self.assertLessEqual(e.interval[0], e.cycles)
        self.assertEqual(b.instructions[0].ports, {1: 1.0})

    def test_timeline(self):
        s = tact.Block('480fafc3', 'SKL').simulate(timeline=3)
        self.assertEqual(s.cycles, 3.0)
        self.assertEqual([u.iteration for u in s.timeline], [0, 1, 2])
        for u in s.timeline:
            self.assertTrue(u.delivered <= u.issued <= u.dispatched <= u.executed <= u.retired)
        self.assertAlmostEqual(sum(s.spent), s.cycles)

    def test_bad_code(self):
        with self.assertRaises(tact.TactError) as caught:
            tact.Block('4801d806', 'SKL')
        self.assertEqual(caught.exception.offset, 3)

    def test_advice_is_faster(self):
        # eight additions to one accumulator
        for advice in tact.Block('c5f858c1' * 8, 'SKL').advise():
            self.assertLess(advice.after, advice.before)


class Scores(unittest.TestCase):
    def brute(self, a, b):
        signs = [(np.sign(a[i] - a[j]), np.sign(b[i] - b[j])) for i in range(len(a)) for j in range(i)]
        s = sum(x * y for x, y in signs)
        below = (sum(x != 0 for x, _ in signs) * sum(y != 0 for _, y in signs)) ** 0.5
        return s / below if below else float('nan')

    def test_tau_is_that_of_all_pairs(self):
        r = random.Random(1)
        for _ in range(200):
            n, top = r.randint(1, 60), r.choice((2, 7, 1000))
            a, b = ([float(r.randint(0, top)) for _ in range(n)] for _ in range(2))
            np.testing.assert_allclose(tact.kendall_tau(np.array(a), np.array(b)), self.brute(a, b))

    def test_missing_numbers(self):
        s = tact.evaluate(np.array([1, np.nan, 3]), np.array([1, 2, np.nan]))
        self.assertEqual((s.n, s.missing, s.mape), (1, 1, 0.0))
        with self.assertRaises(ValueError):
            tact.evaluate(np.zeros(2), np.zeros(3))


class Measuring(unittest.TestCase):
    def test_a_block_and_one_that_is_refused(self):
        try:
            m = tact.measure(['4801d8', '0f05'])
        except tact.TactError as e:
            self.skipTest(str(e))
        self.assertEqual(m.status[1], 'refused')
        self.assertIn('syscall', m.reasons[1])
        if m.status[0] != 'ok':
            self.skipTest('noise: ' + m.reasons[0])
        self.assertGreater(m.cycles[0], 0.5)


if __name__ == '__main__':
    unittest.main(verbosity=2)
