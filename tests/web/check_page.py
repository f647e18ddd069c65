#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens pages of `tact simulate --html`, `tact evaluate --report`, `tact mix report --html`, `tact trace --html` and
`tact diff --html` in headless Chromium and checks them.

usage: check_page.py [--tact PATH] [--keep DIRECTORY] [--skip WHY]

A page reports its state in attributes of its root element: data-state is "ready" once everything is
drawn, or "error" with data-error.  A picture is good if it is not blank and has the colours of the
timeline.  --keep leaves pages and pictures there.  Without a browser, and with --skip, everything is
skipped with the reason.  The last line of the output is "N passed, M failed, K skipped".
"""
import argparse
import collections
import html
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TIMEOUT = 120
SIZE = (1400, 900)
EXECUTES, WAITS = (0x1f, 0x9d, 0x73), (0xf4, 0xc1, 0x52)  # of the script's table of colours


class Page:
    """A page made by tact, as the browser shows it."""

    def __init__(self, browser, directory, name, path):
        self.name, self.path, self.browser, self.directory = name, path, browser, directory
        self.text = open(path, encoding='utf-8').read()
        data = re.search(r"id='data'>\n(.*?)</script>", self.text, re.S).group(1)
        self.data, self.code = json.loads(data), self.text.replace(data, '')
        self.dom = self.run('--dump-dom')
        self.picture = os.path.join(directory, name + '.png')
        self.run('--screenshot=' + self.picture)

    def run(self, *options, place=''):
        profile = tempfile.mkdtemp(prefix='profile-', dir=self.directory)
        command = [self.browser, '--headless', '--no-sandbox', '--disable-gpu', '--no-first-run',
                   '--disable-background-networking', '--disable-component-update',
                   '--disable-sync', '--disable-dev-shm-usage', '--force-device-scale-factor=1',
                   '--user-data-dir=' + profile, '--window-size=%d,%d' % SIZE,
                   '--virtual-time-budget=3000', *options, 'file://' + self.path + place]
        p = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           timeout=TIMEOUT)
        shutil.rmtree(profile, ignore_errors=True)
        return p.stdout

    def run_with(self, script):
        """The elements of the page after a script at its end."""
        copy = Page.__new__(Page)
        copy.__dict__.update(self.__dict__, path=self.path[:-5] + '-script.html')
        with open(copy.path, 'w', encoding='utf-8') as out:
            out.write(self.text.replace('</body>', '<script>%s</script></body>' % script))
        copy.dom = copy.run('--dump-dom')
        return copy

    def attribute(self, name):
        m = re.search(r'<html[^>]*\bdata-%s="([^"]*)"' % name, self.dom)
        return html.unescape(m.group(1)) if m else None


def pixels(path):
    """Width, height and counted colours of a PNG with 8 bits a channel."""
    raw = open(path, 'rb').read()
    assert raw[:8] == b'\x89PNG\r\n\x1a\n', 'not a PNG'
    at, packed = 8, b''
    while at < len(raw):
        length, kind = struct.unpack('>I4s', raw[at:at + 8])
        if kind == b'IHDR':
            width, height, depth, color = struct.unpack('>IIBB', raw[at + 8:at + 18])
        elif kind == b'IDAT':
            packed += raw[at + 8:at + 8 + length]
        at += 12 + length
    assert depth == 8 and color in (2, 6), 'depth %d, colour type %d' % (depth, color)
    n = 3 if color == 2 else 4
    data, before, count = zlib.decompress(packed), bytearray(width * n), collections.Counter()
    for y in range(height):
        start = y * (width * n + 1)
        line = unfilter(data[start], bytearray(data[start + 1:start + 1 + width * n]), before, n)
        count.update(zip(line[0::n], line[1::n], line[2::n]))
        before = line
    return width, height, count


def unfilter(kind, line, before, n):
    """A row of pixels from its differences (PNG specification, section 9)."""
    if kind == 2:
        return bytearray((a + b) & 255 for a, b in zip(line, before))
    for i in range(len(line)):
        a = line[i - n] if i >= n else 0
        b, c = before[i], before[i - n] if i >= n else 0
        if kind == 1:
            line[i] = (line[i] + a) & 255
        elif kind == 3:
            line[i] = (line[i] + (a + b) // 2) & 255
        elif kind == 4:
            p = a + b - c
            d = (abs(p - a), abs(p - b), abs(p - c))
            line[i] = (line[i] + (a if d[0] <= d[1] and d[0] <= d[2] else b if d[1] <= d[2] else c)) & 255
    return line


class Tests:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, name, good, why=''):
        self.passed += bool(good)
        self.failed += not good
        print('%s %s%s' % ('ok' if good else 'not ok', name, '' if good else ': %s' % (why,)))

    def page(self, page, instructions, iterations):
        """What every page must show."""
        name = page.name
        self.check(name + ': drawn without an error', page.attribute('state') == 'ready',
                   page.attribute('error') or page.attribute('state'))
        rows = len(page.data['uops'])
        self.check(name + ': a row for every uop', rows and page.attribute('rows') == str(rows),
                   (rows, page.attribute('rows')))
        self.check(name + ': as many iterations as asked for',
                   len({u[0] for u in page.data['uops']}) == iterations)
        self.check(name + ': bars', int(page.attribute('bars') or 0) > rows / 4,
                   page.attribute('bars'))
        table = re.search(r'id="insns".*?</table>', page.dom, re.S)
        lines = re.findall(r'<code>(.*?)</code>', table.group(0) if table else '')
        self.check(name + ': a line for every instruction', len(lines) == instructions, lines)
        self.check(name + ': nothing from elsewhere',
                   not re.search(r'(?:https?:)?//[\w.-]+\.\w|\bsrc=|\bhref=|@import|url\(', page.code))
        width, height, count = pixels(page.picture)
        self.check(name + ': the picture is not blank', (width, height) == SIZE and len(count) > 100,
                   (width, height, len(count)))
        self.check(name + ': uops execute in it', count[EXECUTES] > 300, count[EXECUTES])
        return count


def make_page(tact, directory, name, *arguments):
    path = os.path.join(directory, name + '.html')
    p = subprocess.run([tact, 'simulate', '-q', '--html', path, *arguments], cwd=TOP,
                       stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT)
    if p.returncode:
        raise RuntimeError('tact simulate: %s' % (p.stderr or p.returncode))
    return path


def check_demo(tests, tact, browser, directory):
    """The README's example: additions that wait for each other."""
    page = Page(browser, directory, 'demo', make_page(tact, directory, 'demo', '-a', 'SKL',
                                                      'examples/demo.s'))
    count = tests.page(page, 6, 12)
    tests.check('demo: stalls in the picture', count[WAITS] > 5000, count[WAITS])
    chain = [u for u in page.data['uops'] if u[1] == 2 and u[12] >= 0]
    tests.check('demo: an addition waits for the one before',
                len(chain) >= 11 and all(page.data['uops'][u[12]][1] == 2 for u in chain) and
                all('#3 (addsd)' in u[-1] for u in chain), chain[:2])
    tests.check('demo: header', all(text in page.dom for text in (
        'demo.s', 'Skylake (SKL)', '>Dependencies<', 'cycles per iteration')))
    narrow = os.path.join(directory, 'demo-narrow.png')
    page.run('--window-size=390,900', '--screenshot=' + narrow)
    tests.check('demo: names leave room for the bars on a narrow screen',
                pixels(narrow)[2][WAITS] > 1000, pixels(narrow)[2][WAITS])
    # The uop that is chosen has a box with its cycles and the reason.
    number = page.data['uops'].index(chain[5])
    dom = page.run('--dump-dom', place='#%d' % number)
    box = re.search(r'<div id="tip".*', dom, re.S).group(0)
    tests.check('demo: the box says why', all(text in box for text in (
        'addsd xmm0, xmm1', 'dispatched', 'retired', 'waits for #3 (addsd)')), box[:300])


KEYS = """
const root = document.documentElement, at = { bubbles: true, clientX: 900, clientY: 300 };
const press = function (key) {
  document.dispatchEvent(new KeyboardEvent('keydown', { key: key }));
};
const canvas = document.getElementById('rows');
root.dataset.first = root.dataset.scale;
press('+');
root.dataset.plus = root.dataset.scale;
canvas.dispatchEvent(new WheelEvent('wheel', Object.assign({ deltaY: -200 }, at)));
root.dataset.wheel = root.dataset.scale;
press('-'); press('ArrowRight'); press('ArrowLeft'); press('PageDown'); press('PageUp');
press('End'); press('Home'); press('0');
root.dataset.fit = root.dataset.scale;
canvas.dispatchEvent(new PointerEvent('pointermove', at));
root.dataset.tip = document.getElementById('tip').style.display;
press('Escape');
root.dataset.gone = document.getElementById('tip').style.display;
press('ArrowDown'); press('ArrowDown');
root.dataset.said = document.getElementById('status').textContent;
"""


def check_keys(tests, tact, browser, directory):
    """Keys, wheel and pointer do something, and nothing goes wrong."""
    page = Page(browser, directory, 'keys', make_page(tact, directory, 'keys', '-a', 'SKL',
                                                      'examples/demo.s')).run_with(KEYS)
    first, plus, wheel, fit = (float(page.attribute(k) or 0) for k in ('first', 'plus', 'wheel', 'fit'))
    tests.check('keys: no error', page.attribute('state') == 'ready', page.attribute('error'))
    tests.check('keys: + and the wheel zoom', 0 < first < plus < wheel, (first, plus, wheel))
    tests.check('keys: 0 shows all again', fit == first, (fit, first))
    tests.check('keys: the pointer shows a box, Escape takes it away',
                (page.attribute('tip'), page.attribute('gone')) == ('block', 'none'))
    tests.check('keys: down chooses a uop', 'mulsd' in (page.attribute('said') or ''),
                page.attribute('said'))


def check_unverified(tests, tact, browser, directory):
    page = Page(browser, directory, 'unverified', make_page(tact, directory, 'unverified', '-a',
                                                            'ZEN2', 'examples/demo.s'))
    tests.check('unverified: the header says so', 'Zen 2 (ZEN2, not verified)' in page.dom)


def check_names(tests, tact, browser, directory):
    """Text that looks like markup stays text; a loop of the front end."""
    nasty = os.path.join(directory, 'x<img src=q onerror=alert(1)>&quot;.s')
    with open(nasty, 'w') as out:
        out.write('.intel_syntax noprefix\n# LLVM-MCA-BEGIN </script><b>&amp;\n'
                  'add rax, rbx\nnop\nxor ecx, ecx\nmov rdx, rax\n# LLVM-MCA-END\n')
    page = Page(browser, directory, 'names', make_page(
        tact, directory, 'names', '-a', 'ICL', '-m', 'unroll', '--iterations', '5', nasty))
    tests.page(page, 4, 5)
    tests.check('names: shown as they are', 'onerror=alert(1)&gt;' in page.dom and
                '<img' not in page.dom and '</script><b>' not in page.text)


# Blocks and what an imaginary machine takes for them.
MEASURED = ('4801d8', 1.0), ('480fafc3', 3.1), ('488b00', 4.4), ('488903', 1.0), ('90', 0.24), \
    ('4801d84801cb', 2.2), ('f20f58c1', 4.0), ('f7f1', 21.0), ('c5fc58c0', 4.0), ('31c0', 0.3), \
    ('488d0448', 1.0), ('4889c34889d9', 0.6), ('0fb6c0', 1.1), ('50', 1.0), ('5b', 0.5)
HEAT = (0x04, 0x1c, 0x40), (0xf2, 0xfb, 0xf4)  # the last shade, light and dark

CHOOSE = """
(function () {
  const root = document.documentElement, choice = document.getElementById('choice');
  root.dataset.before = document.querySelector('#list summary').textContent;
  choice.value = '1';
  choice.dispatchEvent(new Event('change'));
  root.dataset.after = document.querySelector('#list summary').textContent;
  document.querySelector('#list details').open = true;
  root.dataset.inside = document.querySelector('#list .inside').textContent;
  root.dataset.wide = root.scrollWidth > window.innerWidth ? 'yes' : 'no';
})();
"""


def make_report(tact, directory):
    table = os.path.join(directory, 'measured.csv')
    with open(table, 'w') as out:
        out.write('app,category,hex,cycles,arch,mode\n')
        for i in range(90):
            code, cycles = MEASURED[i % len(MEASURED)]
            out.write('%s,%s,%s,%.2f,SKL,%s\n' % (
                ('gzip', '"</script><b>x"', 'llvm')[i % 3], ('Ld', 'St')[i % 2], code,
                cycles * (1 + i // 15 * .03), ('unroll', 'loop')[i % 7 == 0]))
        out.write('gzip,Ld,06,1.0,SKL,unroll\n')
    report = os.path.join(directory, 'report')
    p = subprocess.run([tact, 'evaluate', '-q', '--model', 'facile,mca', '--model',
                        'x<img src>=sed s/.*/1.5/', '--report', report, '--worst', '7', table],
                       stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT)
    if p.returncode:
        raise RuntimeError('tact evaluate: %s' % (p.stderr or p.returncode))
    path = os.path.join(directory, 'report.html')
    shutil.move(os.path.join(report, 'index.html'), path)
    return path


def check_report(tests, tact, browser, directory):
    """Heat maps, errors, tables, the flow of bottlenecks and the worst blocks."""
    page = Page(browser, directory, 'report', make_report(tact, directory))
    tests.check('report: drawn without an error', page.attribute('state') == 'ready',
                page.attribute('error') or page.attribute('state'))
    cells = sum(len(m['map']['cells']) + 8 for m in page.data['models'])
    tests.check('report: a square for every cell', page.attribute('cells') == str(cells),
                (cells, page.attribute('cells')))
    tests.check('report: every block is in the maps', all(
        sum(c[2] for c in m['map']['cells']) == sum(m['errors']) == m['scores']['n']
        for m in page.data['models']))
    tests.check('report: failures apart', [m['scores']['failed'] for m in page.data['models']] ==
                [1, 1, 0], page.data['models'][0]['scores'])
    tests.check('report: bands between CPUs', int(page.attribute('bands') or 0) > 3,
                page.attribute('bands'))
    tests.check('report: as many of the worst blocks as asked for', page.attribute('worst') == '7',
                page.attribute('worst'))
    tests.check('report: tables', all(text in page.dom for text in (
        '91 measured blocks', 'By application', 'By category', 'Skylake (SKL), as a loop')))
    tests.check('report: names stay text', '<img' not in page.dom and '<b>x' not in page.dom and
                '</script><b>' not in page.text and '&lt;/script&gt;&lt;b&gt;x' in page.dom)
    tests.check('report: nothing from elsewhere', not re.search(
        r'(?:https?:)?//[\w.-]+\.\w|\bsrc=|\bhref=|@import|url\(', page.code))
    width, height, count = pixels(page.picture)
    tests.check('report: the picture is not blank and has heat', (width, height) == SIZE and
                len(count) > 100 and count[HEAT[0]] > 30, (width, height, count[HEAT[0]]))
    dark = os.path.join(directory, 'report-dark.png')
    page.run('--blink-settings=preferredColorScheme=0', '--screenshot=' + dark)
    count = pixels(dark)[2]
    tests.check('report: dark where that is preferred', count[HEAT[1]] > 30 and
                sum(n for c, n in count.items() if sum(c) < 150) > width * height / 2)
    narrow = page.run_with(CHOOSE)
    tests.check('report: another model has other blocks', narrow.attribute('before') and
                narrow.attribute('before') != narrow.attribute('after'), narrow.attribute('after'))
    tests.check('report: a block says why', all(text in (narrow.attribute('inside') or '')
                                                for text in ('measured', 'Bottleneck', 'alone')),
                narrow.attribute('inside'))
    narrow.dom = narrow.run('--window-size=500,900', '--dump-dom')
    tests.check('report: a narrow window does not scroll sideways',
                narrow.attribute('wide') == 'no', narrow.attribute('wide'))
    narrow.run('--window-size=500,900', '--screenshot=' + os.path.join(directory, 'narrow.png'))


# ---- mix ----

CODE = """	.globl "fun</script><b>x"
	.type "fun</script><b>x", @function
"fun</script><b>x":
	imul %rax, %rax
	vaddps %ymm0, %ymm1, %ymm2
	mov (%rdi), %rcx
	jnz "fun</script><b>x"
	ret
	.size "fun</script><b>x", . - "fun</script><b>x"
	.globl other
	.type other, @function
other:	.rept 9
	add $1, %rbx
	.endr
	ret
	.size other, . - other
"""
CLICK = """
const heads = [...document.querySelectorAll('th')];
const first = () => document.querySelector('tbody tr').children[1].textContent;
const root = document.documentElement.dataset;
root.before = first();
heads[1].click();
heads[1].click();
root.after = first();
root.sort = heads[1].getAttribute('aria-sort');
const find = document.getElementById('find');
find.value = 'IMUL';
find.dispatchEvent(new Event('input'));
root.found = document.querySelectorAll('tbody tr').length;
"""


def make_mix(tact, directory):
    """A page of exact counts of a program that was never run."""
    place = lambda name: os.path.join(directory, name)
    with open(place('m.s'), 'w') as f:
        f.write(CODE)
    subprocess.run(['as', '-o', place('m.o'), place('m.s')], check=True)
    subprocess.run(['ld', '-shared', '-o', place('m.so'), place('m.o')], check=True)
    headers = subprocess.run(['objdump', '-h', place('m.so')], check=True, capture_output=True, text=True).stdout
    size, offset = re.search(r'\.text\s+(\w+)\s+\w+\s+\w+\s+(\w+)', headers).groups()
    with open(place('m.counts'), 'w') as f:
        f.write('#tact.mix.counts/1\ncommand <i>prog</i>\nmodule - %s\ncode %s %s 1000\n' % (
            place('m.so'), offset, size))
    path = place('mix.html')
    subprocess.run([tact, 'mix', 'report', '-q', '--by', 'function,mnemonic', '--html', path, place('m.counts')],
                   check=True, capture_output=True, timeout=TIMEOUT)
    return path


def check_mix(tests, tact, browser, directory):
    """Rows, sorting, searching; names stay text."""
    page = Page(browser, directory, 'mix', make_mix(tact, directory))
    tests.check('mix: drawn without an error', page.attribute('state') == 'ready', page.attribute('state'))
    rows = re.findall(r'<tr>', page.dom.split('<tbody', 1)[1])
    tests.check('mix: a row for each', len(rows) == len(page.data['rows']) == 7, (len(rows), len(page.data['rows'])))
    tests.check('mix: figures', all(text in page.dom for text in ('in vector registers', '15,000', 'FLOP')))
    tests.check('mix: names stay text', '<b>x' not in page.dom and '<i>prog' not in page.dom and
                '</script><b>' not in page.text and '&lt;/script&gt;&lt;b&gt;x' in page.dom)
    tests.check('mix: nothing from elsewhere', not re.search(
        r'(?:https?:)?//[\w.-]+\.\w|\bsrc=|\bhref=|@import|url\(', page.code))
    width, height, count = pixels(page.picture)
    tests.check('mix: the picture is not blank and has bars', (width, height) == SIZE and
                count[(0xd9, 0x63, 0x3f)] > 300, count[(0xd9, 0x63, 0x3f)])
    clicked = page.run_with(CLICK)
    tests.check('mix: sorts by what is clicked', clicked.attribute('before') == 'add' and
                clicked.attribute('after') == 'vaddps' and clicked.attribute('sort') == 'descending',
                (clicked.attribute('before'), clicked.attribute('after'), clicked.attribute('sort')))
    tests.check('mix: finds', clicked.attribute('found') == '1', clicked.attribute('found'))


# ---- trace and diff ----

# Names as nobody should give them, one of them not UTF-8; recursion, and a loop that divides.
RUN = b"""	.globl _start
	.type _start, @function
_start:	mov $3000, %ebx
1:	call "fun</script><b>x"
	mov $6, %edi
	call "q'\xff&amp;"
	dec %ebx
	jnz 1b
	mov $60, %eax
	xor %edi, %edi
	syscall
	.size _start, . - _start
	.type "fun</script><b>x", @function
"fun</script><b>x":	# </script><i>a comment</i>
	mov $20, %ecx
1:	imul %rax, %rax
	DIVIDE
	mov %rax, -8(%rsp)
	dec %ecx
	jnz 1b
	ret
	.size "fun</script><b>x", . - "fun</script><b>x"
	.type "q'\xff&amp;", @function
"q'\xff&amp;":
	dec %edi
	jz 1f
	call "q'\xff&amp;"
1:	ret
	.size "q'\xff&amp;", . - "q'\xff&amp;"
"""
LOOK = """
(function () {
  const root = document.documentElement, flame = document.getElementById('flame');
  const frames = () => flame.querySelectorAll('[role=treeitem]').length;
  root.dataset.wide = root.scrollWidth > window.innerWidth ? 'yes' : 'no';
  root.dataset.frames = frames();
  const second = flame.querySelectorAll('[role=treeitem]')[1];
  second.focus();
  second.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
  root.dataset.zoomed = flame.querySelectorAll('.off').length;
  document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
  root.dataset.back = flame.querySelectorAll('.off').length;
  const find = document.querySelector('#calltools input');
  find.value = 'FUN';
  find.dispatchEvent(new Event('input'));
  root.dataset.hits = flame.querySelectorAll('.hit').length;
  root.dataset.said = document.querySelector('#calltools .say').textContent;
  document.getElementById('theme').click();
  root.dataset.after = root.dataset.theme;
  const time = document.getElementById('time');
  if (!time) return;
  root.dataset.whole = root.dataset.to - root.dataset.from;
  time.dispatchEvent(new KeyboardEvent('keydown', { key: '+' }));
  root.dataset.part = root.dataset.to - root.dataset.from;
  const line = document.querySelector('#source tr[data-line]');
  line.click();
  root.dataset.lit = document.querySelectorAll('#assembly tr.on').length;
})();
"""


def make_runs(tact, directory):
    """Pages of a program that was run, and of two versions of it."""
    place = lambda name: os.path.join(directory, name)
    for name, instead in (('one', b'nop'), ('two', b'div %ecx')):
        with open(place(name + '.s'), 'wb') as f:
            f.write(RUN.replace(b'DIVIDE', instead))
        subprocess.run(['as', '-g', '-o', place(name + '.o'), place(name + '.s')], check=True)
        subprocess.run(['ld', '-o', place(name), place(name + '.o')], check=True)
    for arguments in (['trace', '--full', '--html', place('trace.html'), '--', place('one')],
                      ['diff', '--html', place('diff.html'), '--', place('one'), place('two')]):
        p = subprocess.run([tact, arguments[0], '-q', '-a', 'SKL', *arguments[1:]], capture_output=True,
                           text=True, errors='replace', timeout=TIMEOUT)
        if p.returncode:
            raise RuntimeError('tact %s: %s' % (arguments[0], p.stderr or p.returncode))
    return place('trace.html'), place('diff.html')


def check_run(tests, browser, directory, name, path):
    """What the pages of trace and diff have in common."""
    page = Page(browser, directory, name, path)
    check = lambda what, good, why='': tests.check('%s: %s' % (name, what), good, why)
    check('drawn without an error', page.attribute('state') == 'ready', page.attribute('error'))
    check('names stay text', '<b>x' not in page.dom and '<i>a comment' not in page.dom and
          '</script><b>' not in page.text and '&lt;/script&gt;&lt;b&gt;x' in page.dom and '&amp;amp;' in page.dom)
    check('nothing from elsewhere', not re.search(
        r'(?:https?:)?//[\w.-]+\.\w|\bsrc=|\bhref=|@import|url\(', page.code))
    check('small', len(page.text) < 300000, len(page.text))
    width, height, count = pixels(page.picture)
    check('the picture is not blank', (width, height) == SIZE and len(count) > 60, len(count))
    dark = os.path.join(directory, name + '-dark.png')
    page.run('--blink-settings=preferredColorScheme=0', '--screenshot=' + dark)
    check('dark where that is preferred',
          sum(n for c, n in pixels(dark)[2].items() if sum(c) < 150) > width * height / 3)
    looked = page.run_with(LOOK)
    looked.dom = looked.run('--window-size=500,900', '--dump-dom')
    check('a narrow window does not scroll sideways', looked.attribute('wide') == 'no')
    check('no error after using it', looked.attribute('state') == 'ready', looked.attribute('error'))
    check('frames of the call graph', int(looked.attribute('frames') or 0) == 3, looked.attribute('frames'))
    check('Enter zooms in, Escape out', (looked.attribute('zoomed'), looked.attribute('back')) == ('1', '0'),
          (looked.attribute('zoomed'), looked.attribute('back')))
    check('search finds and sums', looked.attribute('hits') == '1' and
          re.search('[0-9.]+% of the cycles', looked.attribute('said') or ''), looked.attribute('said'))
    check('colours can be switched', looked.attribute('after') == 'dark', looked.attribute('after'))
    return page, looked


def check_runs(tests, tact, browser, directory):
    if not shutil.which('qemu-x86_64'):
        print('skip pages of runs: there is no qemu-x86_64')
        return
    trace, diff = make_runs(tact, directory)
    page, looked = check_run(tests, browser, directory, 'trace', trace)
    check = lambda what, good, why='': tests.check('trace: ' + what, good, why)
    check('paths add up', abs(sum(c[7] for c in page.data['calls']) / page.data['cycles'] - 1) < .01)
    check('the timeline zooms', float(looked.attribute('part')) < float(looked.attribute('whole')),
          (looked.attribute('part'), looked.attribute('whole')))
    check('uops of the pipeline', int(page.attribute('pipe') or 0) > 50, page.attribute('pipe'))
    check('source beside assembly', 'imul %rax, %rax' in page.dom and 'imul rax, rax' in page.dom and
          looked.attribute('lit') == '1', looked.attribute('lit'))
    check('what limits, and what is not modelled', all(text in page.dom for text in (
        'standard error', 'Not modelled: kernel', 'retiring')))
    page, looked = check_run(tests, browser, directory, 'diff', diff)
    check = lambda what, good, why='': tests.check('diff: ' + what, good, why)
    check('says how much', re.search(r'B takes [0-9.]+% more cycles than A', page.dom))
    first = page.data['functions'][0]
    check('what changed most comes first', page.data['strings'][first[0]].startswith('fun<') and
          first[6] > 2 * first[2], first)
    check('the new instruction is marked', re.search('class="new">div ecx', page.dom))


FLAME = """
  const root = document.documentElement, boxes = Array.from(document.querySelectorAll('.f'));
  const key = k => document.dispatchEvent(new KeyboardEvent('keydown', {key: k}));
  const gone = () => document.querySelectorAll('.gone').length;
  const box = boxes.filter(b => b.querySelector('title').textContent.startsWith('imul'))[0];
  window.prompt = () => 'IMUL';
  key('/');
  root.dataset.hits = document.querySelectorAll('.hit').length;
  root.dataset.said = document.querySelector('#note').textContent;
  box.dispatchEvent(new MouseEvent('click', {bubbles: true}));
  root.dataset.zoomed = gone();
  root.dataset.wide = box.querySelector('rect').getAttribute('width');
  key('Escape');
  root.dataset.back = gone();
  key('ArrowUp');
  root.dataset.focus = document.activeElement.querySelector('title').textContent;
"""


def check_flame(tests, tact, browser, directory):
    """A flame graph alone in the browser: it zooms, searches and has keys."""
    make_mix(tact, directory)
    path = os.path.join(directory, 'flame.svg')
    subprocess.run([tact, 'mix', 'report', '-q', '--by', 'module,function,mnemonic', '-f', 'flame', '-o', path,
                    os.path.join(directory, 'm.counts')], check=True, capture_output=True, timeout=TIMEOUT)
    check = lambda what, good, why='': tests.check('flame: %s' % what, good, why)
    page = Page.__new__(Page)
    page.name, page.path, page.browser, page.directory = 'flame', path, browser, directory
    text = open(path, encoding='utf-8').read()
    check('nothing from elsewhere', not re.search(r'\bsrc=|\bhref=|@import|url\(', text))
    check('names stay text', '<i>prog' not in text and '&lt;i&gt;prog' in text)
    picture = os.path.join(directory, 'flame.png')
    page.run('--screenshot=' + picture)
    check('the picture is not blank', len(pixels(picture)[2]) > 40, len(pixels(picture)[2]))
    page.path = os.path.join(directory, 'flame-script.svg')
    with open(page.path, 'w', encoding='utf-8') as out:
        out.write(text.replace('</svg>', '<script><![CDATA[%s]]></script></svg>' % FLAME))
    dom = page.run('--dump-dom')
    got = {name: html.unescape(value) for name, value in re.findall(r'\bdata-(\w{3,})="([^"]*)"', dom[:4000])}
    check('search finds and sums', int(got.get('hits', 0)) > 0 and
          re.fullmatch(r'\d+ found, [0-9.]+% of all', got.get('said', '')), got)
    check('a click zooms in', int(got.get('zoomed', 0)) > 0 and float(got.get('wide', 0)) > 1000, got)
    check('Escape zooms out', got.get('back') == '0', got)
    check('arrows go', got.get('focus', '') != '', got)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--tact', default=os.path.join(TOP, 'build', 'tact'))
    parser.add_argument('--keep')
    parser.add_argument('--skip')
    args = parser.parse_args()
    browser = shutil.which('chromium') or shutil.which('chromium-browser')
    if args.skip or not browser:
        print('skip pages: %s' % (args.skip or 'there is no Chromium'))
        print('0 passed, 0 failed, 1 skipped')
        return 0
    tests = Tests()
    with tempfile.TemporaryDirectory(prefix='tact-web-') as directory:
        for check in (check_demo, check_keys, check_unverified, check_names, check_report, check_mix, check_flame,
                      check_runs):
            try:
                check(tests, os.path.abspath(args.tact), browser, directory)
            except Exception as e:  # whatever it is, the others still run and the sum is right
                tests.check(check.__name__, False, '%s: %s' % (type(e).__name__, e))
        if args.keep:
            os.makedirs(args.keep, exist_ok=True)
            for name in os.listdir(directory):
                if name.endswith(('.html', '.png')):
                    shutil.copy(os.path.join(directory, name), args.keep)
    print('%d passed, %d failed, 0 skipped' % (tests.passed, tests.failed))
    return 1 if tests.failed else 0


if __name__ == '__main__':
    sys.exit(main())
