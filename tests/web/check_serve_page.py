#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Uses the page of `tact serve` in headless Chromium, with keys and files as a person would.

usage: check_serve_page.py [--tact PATH] [--keep DIRECTORY] [--axe SCRIPT] [--skip WHY]

The browser is driven through pipes (its option --remote-debugging-pipe).  --keep leaves pictures there: 1280 and 390
pixels wide, light and dark.  Without a browser or a service, and with --skip, everything is skipped with the reason.
The last line of the output is "N passed, M failed, K skipped".
"""
import argparse
import base64
import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.parse

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TIMEOUT = 30
KEYS = {'Tab': 9, 'Enter': 13, 'Escape': 27, 'ArrowLeft': 37, 'ArrowUp': 38, 'ArrowRight': 39, 'ArrowDown': 40, 'End': 35,
        'Home': 36}
tests = []


def test(function):
    tests.append(function)
    return function


def same(a, b, what=''):
    if a != b:
        raise AssertionError('%s %.400r is not %.400r' % (what, a, b))


class Skip(Exception):
    pass


class Browser:
    def __init__(self, program, directory):
        to_read, self.to = os.pipe()
        self.source, to_write = os.pipe()
        self.profile = tempfile.mkdtemp(prefix='profile-', dir=directory)
        command = [program, '--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-sync',
                   '--disable-background-networking', '--disable-component-update', '--disable-dev-shm-usage',
                   '--force-device-scale-factor=1', '--user-data-dir=' + self.profile, '--remote-debugging-pipe', 'about:blank']
        script = 'exec 3<&%d 4>&%d; exec "$@"' % (to_read, to_write)
        self.p = subprocess.Popen(['bash', '-c', script, 'sh', *command], pass_fds=[to_read, to_write],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.n, self.data, self.session = 0, b'', None
        self.problems, self.addresses = [], []
        target = [t for t in self.send('Target.getTargets')['targetInfos'] if t['type'] == 'page'][0]['targetId']
        self.session = self.send('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'Network', 'DOM'):
            self.send(domain + '.enable')
        self.send('Emulation.setFocusEmulationEnabled', enabled=True)  # as if its window had the focus

    def close(self):
        self.p.kill()
        self.p.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def read(self, limit):
        """The next message; None if the time is over."""
        while b'\0' not in self.data:
            if not select.select([self.source], [], [], max(0, limit - time.monotonic()))[0]:
                return None
            piece = os.read(self.source, 1 << 20)
            if not piece:
                raise AssertionError('the browser ended')
            self.data += piece
        message, self.data = self.data.split(b'\0', 1)
        return json.loads(message)

    def note(self, m):
        method, p = m.get('method'), m.get('params', {})
        if method == 'Runtime.exceptionThrown':
            self.problems.append(p['exceptionDetails'].get('exception', {}).get('description', 'exception'))
        elif method == 'Runtime.consoleAPICalled' and p['type'] in ('error', 'warning'):
            self.problems.append(json.dumps(p['args']))
        elif method == 'Log.entryAdded' and p['entry']['level'] in ('error', 'warning'):
            self.problems.append('%s %s' % (p['entry']['text'], p['entry'].get('url', '')))
        elif method == 'Network.requestWillBeSent':
            self.addresses.append(p['request']['url'])

    def send(self, method, **parameters):
        self.n += 1
        m = {'id': self.n, 'method': method, 'params': parameters}
        if self.session:
            m['sessionId'] = self.session
        os.write(self.to, json.dumps(m).encode() + b'\0')
        limit = time.monotonic() + TIMEOUT
        while True:
            m = self.read(limit)
            if m is None:
                raise AssertionError('no answer to ' + method)
            if m.get('id') == self.n:
                if 'error' in m:
                    raise AssertionError('%s: %s' % (method, m['error']))
                return m['result']
            self.note(m)

    def js(self, text):
        r = self.send('Runtime.evaluate', expression=text, returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in r:
            raise AssertionError('%s: %s' % (text, r['exceptionDetails']))
        return r['result'].get('value')

    def wait(self, text, what=''):
        limit = time.monotonic() + TIMEOUT
        while not self.js(text):
            if time.monotonic() > limit:
                raise AssertionError('never: %s; status: %r' % (what or text, self.js('$("status").textContent')))
            time.sleep(0.03)

    def key(self, name, modifiers=0):
        more = {'text': '\r'} if name == 'Enter' else {}
        for kind in ('keyDown', 'keyUp'):
            self.send('Input.dispatchKeyEvent', type=kind, key=name, code=name, windowsVirtualKeyCode=KEYS.get(name, 0),
                      modifiers=modifiers, **(more if kind == 'keyDown' else {}))

    def type(self, text):
        self.send('Input.insertText', text=text)

    def size(self, width, height, dark=False):
        self.send('Emulation.setScrollbarsHidden', hidden=True)
        self.send('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.send('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme',
                                                           'value': 'dark' if dark else 'light'}])

    def picture(self, name):
        if args.keep:
            data = self.send('Page.captureScreenshot', format='png', captureBeyondViewport=True)['data']
            with open(os.path.join(args.keep, name + '.png'), 'wb') as f:
                f.write(base64.b64decode(data))


class Page:
    def __init__(self, browser, url):
        self.b, self.url = browser, url

    def open(self, **link):
        self.b.send('Page.navigate', url='about:blank')
        self.b.wait('location.href === "about:blank" && document.readyState === "complete"')
        self.b.send('Page.navigate', url=self.url + ('#' + urllib.parse.urlencode(link) if link else ''))
        self.b.wait('document.documentElement && document.documentElement.dataset.state === "ready"', 'the page is ready')

    def cards(self):
        return self.b.js('Array.from(document.querySelectorAll(".card"), c => [c.querySelector(".cpu").textContent, '
                         'c.querySelector(".big") ? parseFloat(c.querySelector(".big").textContent) : null])')

    def tab(self, name):
        self.b.js('$("tab-%s").click()' % name)

    def set_code(self, text):
        self.b.js('$("code").focus(); $("code").select()')
        self.b.type(text)


def command_line(archs, code):
    out = subprocess.run([args.tact, 'predict', '-q', '-a', archs, '-f', 'json', '-'], input=code.encode(),
                         capture_output=True).stdout
    return [[r['arch'], round(r['cycles_per_iteration'] + 1e-9, 2)] for r in map(json.loads, out.splitlines())]


LOOP = 'l:\n\timul %rax, %rbx\n\tadd %rbx, %rcx\n\tdec %edx\n\tjnz l\n'


@test
def cards_have_the_cycles_of_the_command_line(p):
    p.open()
    same(p.cards(), command_line('SKL,ICL,ZEN4', p.b.js('$("code").value')))
    p.open(code=LOOP, cpus='HSW,ZEN5')
    same(p.cards(), command_line('HSW,ZEN5', LOOP))
    p.open(code=LOOP, cpus='all')
    same(len(p.cards()), len(command_line('all', LOOP)))


@test
def it_answers_as_one_types(p):
    p.open(code='nop', cpus='SKL')
    p.set_code(LOOP)
    p.b.wait('state.results[0].hex.length > 4')
    same(p.cards(), command_line('SKL', LOOP))
    p.set_code('480fafc3 4801d8')
    p.b.wait('state.results[0].hex === "480fafc3 4801d8" || state.results[0].instructions.length === 2')
    same(p.cards(), [['SKL', 4.0]])
    p.set_code('adddq %rax, %rbx')
    p.b.wait('$("status").className === "bad"')
    if 'no such instruction' not in p.b.js('$("status").textContent'):
        raise AssertionError(p.b.js('$("status").textContent'))
    p.set_code(LOOP)
    p.b.wait('$("status").className !== "bad"')


@test
def cpus_come_and_go_by_keyboard(p):
    p.open(code=LOOP, cpus='SKL')
    p.b.js('$("cpu").focus()')
    p.b.type('ZEN4')
    p.b.key('Enter')
    p.b.wait('document.documentElement.dataset.cards === "2"')
    same([c[0] for c in p.cards()], ['SKL', 'ZEN4'])
    p.b.js('$("chosen").firstChild.focus()')
    p.b.key('Enter')
    p.b.wait('document.documentElement.dataset.cards === "1"')
    same(p.cards(), command_line('ZEN4', LOOP))
    p.b.js('$("cpu").focus()')
    p.b.type('nonsense')
    p.b.key('Enter')
    p.b.wait('$("status").className === "bad"')


@test
def every_control_is_reached_by_keyboard(p):
    p.open(code=LOOP, cpus='SKL,ZEN4')
    p.b.js('document.activeElement.blur()')
    seen = []
    for _ in range(40):
        p.b.key('Tab')
        seen.append(p.b.js('(e => e.id || e.className || e.tagName)(document.activeElement)'))
    missing = {'link', 'theme', 'code', 'example', 'syntax', 'mode', 'file', 'cpu', 'add', 'all', 'card', 'tab-insns', 'pane'} - set(seen)
    same(missing, set(), seen)
    p.b.js('$("tab-insns").focus()')
    for want in ('graph', 'time', 'advice', 'models', 'insns'):
        p.b.key('ArrowRight')
        same(p.b.js('document.activeElement.id'), 'tab-' + want)
        same(p.b.js('$("tab-%s").getAttribute("aria-selected")' % want), 'true')


@test
def instructions_tell_more(p):
    p.open(code=LOOP, cpus='SKL')
    same(p.b.js('document.querySelectorAll("#pane tbody tr").length'), 4)
    same(p.b.js('document.querySelectorAll("#pane tr.critical").length > 0'), True)
    p.b.js('document.querySelector("#pane td button").click()')
    p.b.wait('!!document.querySelector("#pane h3")', 'information on an instruction')
    if 'IMUL' not in p.b.js('$("pane").textContent'):
        raise AssertionError(p.b.js('$("pane").textContent'))


@test
def pointing_at_an_instruction_tells_what_is_known(p):
    p.open(code=LOOP, cpus='SKL')
    p.b.js('document.querySelector("#pane td button").focus()')
    p.b.wait('!$("tip").hidden', 'a tip')
    p.b.picture('tip')
    text = p.b.js('$("tip").textContent')
    assert 'IMUL' in text and 'Latency3 cycles' in text and '1*p1' in text, text
    same(p.b.js('document.activeElement.getAttribute("aria-describedby")'), 'tip')
    p.b.key('Escape')
    same(p.b.js('$("tip").hidden'), True)
    x, y = p.b.js('(r => [r.left + 5, r.top + 5])(document.querySelectorAll("#pane td button")[1].getBoundingClientRect())')
    p.b.send('Input.dispatchMouseEvent', type='mouseMoved', x=x, y=y)
    p.b.wait('!$("tip").hidden && $("tip").textContent.includes("ADD")', 'a tip at the pointer')
    p.b.send('Input.dispatchMouseEvent', type='mouseMoved', x=1, y=1)
    same(p.b.js('$("tip").hidden'), True)


@test
def models_are_side_by_side(p):
    p.open(code=LOOP, cpus='SKL,ICL', tab='models')
    p.b.wait('+document.documentElement.dataset.models >= 6', 'a table of models')
    cells = p.b.js('Array.from(document.querySelectorAll("#pane tbody tr"), r => Array.from(r.children, c => c.textContent))')
    same([c[0] for c in cells], ['SKL', 'ICL'])
    for c in cells:
        assert abs(float(c[1]) - 3) < .01 and abs(float(c[2]) - 3) < .1, cells


@test
def examples_and_mistakes_are_painted(p):
    p.open(cpus='SKL')
    for i in range(4):
        p.b.js('$("example").value = "%d"; $("example").dispatchEvent(new Event("change"))' % i)
        p.b.wait('state.results.length === 1 && $("status").textContent.startsWith("1 prediction")')
        same(p.b.js('$("paint").textContent.trimEnd() === $("code").value.trimEnd()'), True)
    p.set_code('nop\naddq %rax, %rbx\nfoo %rax\n')
    p.b.wait('$("status").className === "bad"')
    same(p.b.js('document.querySelector("#paint .bad").textContent.trim()'), 'foo %rax')


@test
def the_graph_is_drawn(p):
    p.open(code=LOOP, cpus='SKL', tab='graph')
    p.b.wait('+document.documentElement.dataset.graph > 100', 'a graph')
    if 'critical cycle' not in p.b.js('document.querySelector("img.graph").alt'):
        raise AssertionError('the picture says nothing without eyes')


@test
def the_timeline_has_reasons(p):
    p.open(code=LOOP, cpus='SKL', tab='time')
    p.b.wait('document.querySelectorAll(".uop").length', 'a timeline')
    same(p.b.js('document.querySelectorAll(".uop").length'), p.b.js('state.details.time.timeline.length'))
    p.b.js('$("time").focus()')
    before = p.b.js('$("why").textContent')
    p.b.key('End')
    after = p.b.js('$("why").textContent')
    assert before != after and re.search(r'Iteration \d+, .*cycles \d+ to \d+: ', after), after
    width = p.b.js('document.querySelector(".lane").offsetWidth')
    p.b.send('Input.dispatchKeyEvent', type='keyDown', key='+', text='+')
    assert p.b.js('document.querySelector(".lane").offsetWidth') > width
    p.b.js('document.querySelector("#pane input").focus()')
    p.b.type('imul')
    p.b.wait('document.querySelectorAll(".uop.miss").length')
    assert 'imul' in p.b.js('document.querySelector(".uop.on .label").textContent')
    p.open(code=LOOP, cpus='SKL', tab='advice')
    p.b.wait('document.documentElement.dataset.advice !== undefined', 'advice')


@test
def a_link_says_it_all_and_nothing_is_stored(p):
    p.open(code=LOOP, cpus='SKL,HSW', mode='unroll', tab='graph')
    link = dict(urllib.parse.parse_qsl(p.b.js('location.hash').lstrip('#')))
    same(link, {'code': LOOP, 'cpus': 'SKL,HSW', 'mode': 'unroll', 'syntax': 'auto', 'tab': 'graph'})
    same(p.b.js('[localStorage.length, sessionStorage.length, document.cookie].join()'), '0,0,')
    requests = [a for a in p.b.addresses if 'rbx' in urllib.parse.unquote(a).split('#')[0]]
    same(requests, [], 'the code is in an address that was sent')


@test
def a_file_is_listed(p):
    with tempfile.TemporaryDirectory(dir='/tmp') as place:
        path = place + '/a.o'
        try:
            subprocess.run(['gcc', '-O1', '-c', '-o', path, '-x', 'c', '-'], check=True,
                           input=b'int f(int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }\n'
                                 b'int g(int a) { return a + 1; }\n')
        except OSError:
            return
        p.open(code='nop', cpus='SKL')
        root = p.b.send('DOM.getDocument')['root']['nodeId']
        node = p.b.send('DOM.querySelector', nodeId=root, selector='#file')['nodeId']
        p.b.send('DOM.setFileInputFiles', files=[path], nodeId=node)
        p.b.wait('+document.documentElement.dataset.regions === 2', 'two functions')
        p.b.wait('state.results[0].mode === "loop"', 'the loop of f')
        assert 'loop in f' in p.b.js('$("regions").textContent')
        p.b.picture('regions')


@test
def hostile_text_stays_text(p):
    evil = '<img src=x onerror=document.title="evil"></script><script>document.title="evil"</script>'
    p.open(code=evil, cpus=evil, tab=evil, mode=evil)
    p.b.wait('$("status").className === "bad"')
    p.open(code=LOOP, cpus='SKL', tab='constructor')
    same(p.b.js('state.tab'), 'insns')
    p.open(code='"a<img src=x onerror=document.title=1>":\nnop\njmp "a<img src=x onerror=document.title=1>"\n', cpus='SKL')
    same('evil' in p.b.js('document.title'), False)
    same(p.b.js('document.querySelectorAll("img[src=x], script[src]").length'), 0)


@test
def it_fits_390_pixels_and_the_dark(p):
    colours = set()
    for width, dark in ((1280, False), (1280, True), (390, False), (390, True)):
        p.b.size(width, 900, dark)
        for tab in ('insns', 'graph', 'time', 'advice', 'models'):
            p.open(cpus='SKL,GLC,ZEN4', tab=tab)
            p.b.wait('$("pane").textContent && !$("pane").textContent.startsWith("Asking")')
            wide, room = p.b.js('(e => [e.scrollWidth, e.clientWidth])(document.documentElement)')
            assert wide <= room, '%s is %d wide, and there is room for %d' % (tab, wide, room)
            same(p.b.js('Array.from(document.querySelectorAll("main > *, header > *, .card, #pane"), e => '
                        'e.getBoundingClientRect().right > document.documentElement.clientWidth ? e.id : "").join("")'), '')
            p.b.picture('serve-%d-%s-%s' % (width, 'dark' if dark else 'light', tab))
        colours.add(p.b.js('getComputedStyle(document.body).backgroundColor'))
        small = p.b.js('Array.from(document.querySelectorAll("button"), b => b.getBoundingClientRect())'
                       '.filter(r => r.width && r.height < 24).length')
        same(small, 0, 'buttons that are too small')
    same(len(colours), 2, 'light and dark')
    p.b.size(1280, 900, False)
    p.open()
    p.b.js('$("theme").click()')
    same(p.b.js('getComputedStyle(document.body).backgroundColor') in colours, True)
    same(p.b.js('$("theme").textContent'), 'Light')


@test
def axe_finds_nothing_serious(p):
    if not args.axe:
        raise Skip('axe-core is not there: tests/web/get_axe.sh gets it from npm')
    with open(args.axe) as f:
        axe = f.read()
    found = {}
    for width, dark in ((1280, False), (1280, True), (390, False)):
        p.b.size(width, 900, dark)
        for tab in ('insns', 'graph', 'time', 'advice', 'models'):
            p.open(cpus='SKL,GLC,ZEN4', tab=tab)
            p.b.wait('$("pane").textContent && !$("pane").textContent.startsWith("Asking")')
            if tab == 'insns':
                p.b.js('document.querySelector("#pane td button").focus()')
                p.b.wait('!$("tip").hidden', 'a tip')
            p.b.js(axe + '; 0')
            for v in p.b.js('axe.run().then(r => r.violations.map(v => [v.id, v.impact, v.nodes.map(n => n.html + " " + '
                            'n.failureSummary).join(" ").slice(0, 300)]))'):
                found.setdefault((v[0], v[1]), '%s, %d, %s: %s' % (tab, width, 'dark' if dark else 'light', v[2]))
    p.b.size(1280, 900)
    print('    axe-core: %s' % ('; '.join('%s (%s)' % k for k in found) or 'no violation'))
    same({k: v for k, v in found.items() if k[1] in ('serious', 'critical')}, {})


@test
def every_control_has_a_name(p):
    p.open(code=LOOP, cpus='SKL', tab='time')
    p.b.wait('document.querySelectorAll(".uop").length')
    nameless = p.b.js('''Array.from(document.querySelectorAll("button, input, select, textarea, [tabindex='0']"), e =>
        e.offsetParent && !(e.textContent.trim() && e.tagName === "BUTTON") && !e.getAttribute("aria-label") &&
        !e.getAttribute("aria-labelledby") && !(e.labels && e.labels.length) ? e.outerHTML.slice(0, 80) : "").filter(x => x)''')
    same(nameless, [])
    same(p.b.js('''(ids => ids.length - new Set(ids).size)(Array.from(document.querySelectorAll("[id]"), e => e.id))'''), 0)


def write_alone(place):
    """The page without a server; its address."""
    p = subprocess.run([args.tact, 'serve', '--static', place + '/alone'], capture_output=True, text=True)
    if p.returncode == 3:
        raise Skip(p.stderr.strip())
    same(p.returncode, 0, p.stderr)
    return 'file://%s/alone/index.html' % place


@test
def a_page_without_a_server_has_the_same_numbers(served):
    with tempfile.TemporaryDirectory(dir='/tmp') as place:
        p = Page(served.b, write_alone(place))
        before = len(p.b.addresses)
        for hex in ('480fafc34801d8', 'f20f58c1f20f5910ffc975f4', '90'):
            p.open(code=hex, cpus='all')
            same(p.cards(), command_line('all', hex))
        # A listing has bytes; text has none.
        p.open(cpus='SKL,ZEN4')
        same(p.cards(), command_line('SKL,ZEN4', 'f20f100cc7f20f590cc6f20f58c148ffc04839d072ea'))
        p.set_code('add %rax, %rbx\n')
        p.b.wait('$("status").className === "bad"')
        assert 'no assembler' in p.b.js('$("status").textContent')
        p.open(code='90', cpus='cortex-a57')  # takes LLVM, which is not there
        p.b.wait('$("status").className === "bad"')
        p.open(cpus='SKL')
        for tab, what in (('graph', '+document.documentElement.dataset.graph > 100'),
                          ('time', 'document.querySelectorAll(".uop").length > 10'),
                          ('advice', 'document.documentElement.dataset.advice !== undefined'),
                          ('models', '+document.documentElement.dataset.models >= 3')):
            p.tab(tab)
            p.b.wait(what, tab)
        timeline = p.b.js('state.details.time.timeline')
        out = subprocess.run([args.tact, 'simulate', '-q', '-a', 'SKL', '-f', 'json', '--timeline', '--iterations', '8',
                              '--from', '1', '-x', 'f20f100cc7f20f590cc6f20f58c148ffc04839d072ea'],
                             stdout=subprocess.PIPE).stdout
        same(timeline, json.loads(out)['timeline'])
        p.open(cpus='SKL')
        p.b.js('document.querySelector("#pane td button").focus()')
        p.b.wait('!$("tip").hidden && $("tip").textContent.includes("MOVSD")', 'a tip')
        same([p.b.js('$("%s").hidden' % e) for e in ('filebox', 'syntaxbox', 'measured', 'tokenbox')], [True] * 4)
        for width, dark in ((1280, False), (390, True)):
            p.b.size(width, 900, dark)
            p.open(cpus='SKL,ICL,ZEN4')
            p.b.picture('alone-%d' % width)
        p.b.size(1280, 900)
        start = time.monotonic()
        p.b.js('(async () => { for (let i = 0; i < 20; i++) await ask("predict", {hex: "480fafc34801d8", archs: "all"}); })()')
        print('    without a server: %.1f ms for all CPUs' % ((time.monotonic() - start) / 20 * 1e3))
        asked = [a for a in p.b.addresses[before:] if not a.startswith(('data:', 'about:', p.url))]
        same(asked, [], 'the page asks')
        del p.b.addresses[before:]


@test
def the_cpu_of_the_server_is_measured(served):
    with tempfile.TemporaryFile('w+') as log:
        s = subprocess.Popen([args.tact, 'serve', '-j', '1', '--port', '0', '--measure'], stdin=subprocess.DEVNULL, stderr=log)
        try:
            m = None
            while not m and s.poll() is None:
                time.sleep(0.02)
                m = re.search(r'serving at (http://\S+/)', os.pread(log.fileno(), 4096, 0).decode())
            if not m:
                raise Skip(os.pread(log.fileno(), 4096, 0).decode().strip())
            p = Page(served.b, m.group(1))
            before = len(p.b.addresses)
            p.open(code=LOOP, cpus='SKL')
            p.b.js('$("measure").focus()')
            p.b.key('Enter')
            p.b.wait('+document.documentElement.dataset.measured > 0', 'a measurement')
            assert 'cycles per iteration on' in p.b.js('$("measuredtext").textContent')
            p.b.picture('measured')
            same([a for a in p.b.addresses[before:] if not a.startswith(('data:', 'about:', p.url))], [])
            del p.b.addresses[before:]
        finally:
            s.terminate()
            s.wait(60)


def main():
    global args
    parser = argparse.ArgumentParser()
    parser.add_argument('--tact', default=os.path.join(TOP, 'build/tact'))
    parser.add_argument('--keep')
    parser.add_argument('--axe')
    parser.add_argument('--skip')
    args = parser.parse_args()
    args.tact = os.path.abspath(args.tact)
    program = shutil.which('chromium') or shutil.which('chromium-browser')
    why = args.skip or (None if program else 'Chromium is missing')
    if args.keep:
        os.makedirs(args.keep, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryFile('w+') as log:
        server = subprocess.Popen([args.tact, 'serve', '-j', '2', '--port', '0'], stdin=subprocess.DEVNULL, stderr=log)
        try:
            m = None
            while not m and server.poll() is None:
                time.sleep(0.02)
                m = re.search(r'serving at (http://\S+/)', os.pread(log.fileno(), 4096, 0).decode())
            why = why or (None if m else os.pread(log.fileno(), 4096, 0).decode().strip())
            if why:
                print('skip: %s\n0 passed, 0 failed, %d skipped' % (why, len(tests)))
                return 0
            return run(program, place, m.group(1))
        finally:
            server.terminate()
            server.wait(60)


def run(program, place, url):
    passed = failed = skipped = 0
    browser = Browser(program, place)
    page = Page(browser, url)
    browser.size(1280, 900)
    try:
        for t in tests:
            try:
                browser.problems.clear()
                t(page)
                # What the service answers with an error, browsers report, too.
                problems = [p for p in browser.problems if not re.search(r'status of (400|422)', p)]
                same(problems, [], 'on the console:')
                passed += 1
                print('ok ' + t.__name__, flush=True)
            except Skip as why:
                skipped += 1
                print('skip: %s: %s' % (t.__name__, why))
            except Exception:
                failed += 1
                print('not ok %s\n%s' % (t.__name__, traceback.format_exc()), flush=True)
        elsewhere = [a for a in browser.addresses if not a.startswith((url, 'data:', 'about:'))]
        passed, failed = passed + (not elsewhere), failed + bool(elsewhere)
        print('%s nothing is asked of another host %s' % ('not ok' if elsewhere else 'ok', elsewhere or ''))
    finally:
        browser.close()
    print('%d passed, %d failed, %d skipped' % (passed, failed, skipped))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
