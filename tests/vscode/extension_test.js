// SPDX-License-Identifier: MIT
//
// The extension of contrib/vscode against a real tact, in a stand-in for VS Code. TACT is that
// program.
'use strict';

const assert = require('node:assert');
const { execFileSync, spawn } = require('node:child_process');
const fs = require('node:fs');
const http = require('node:http');
const os = require('node:os');
const path = require('node:path');
const { after, test } = require('node:test');

const { start } = require('./fake_vscode');

const TOP = path.resolve(__dirname, '../..');
const EXTENSION = path.join(TOP, 'contrib/vscode');
const TACT = process.env.TACT || path.join(TOP, 'build/tact');
const MANIFEST = JSON.parse(fs.readFileSync(path.join(EXTENSION, 'package.json'), 'utf8'));

const compiling = require(path.join(EXTENSION, 'compile_command.js'));
const { moveLoops } = require(path.join(EXTENSION, 'loops.js'));

const DOT = `	.text
	.globl dot
dot:
	xor %eax, %eax
# the loop
.L3:
	movss (%rdi,%rax,4), %xmm1

	mulss (%rsi,%rax,4), %xmm1
	addss %xmm1, %xmm0
	inc %rax
	cmp %rax, %rdx
	jne .L3
	ret
`;
const C = `static inline float mul(float a, float b)
{
	return a * b;
}

static inline float sum(const float *a, int n)
{
	float s = 0;

	for (int i = 0; i < n; i++)
		s += a[i];
	return s;
}

float dot(const float *a, const float *b, int n)
{
	float s = 0;

	for (int i = 0; i < n; i++)
		s += mul(a[i], b[i]);
	return s;
}

float total(const float *a)
{
	return sum(a, 1000);
}

int straight(int a)
{
	return a * 3 + 1;
}
`;
const FOR = 18,
  SUM = 9; // lines of `for` in C, from 0

const places = [],
  editors = [];

function place() {
  const dir = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'tact-test-')));

  places.push(dir);
  return dir;
}

function write(dir, name, text) {
  const file = path.join(dir, name);

  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
  return file;
}

function edit(dir, values = {}) {
  const code = start(EXTENSION, dir, { path: TACT, cpus: ['SKL'], ...values });

  editors.push(code);
  return code;
}

/** Waits until f() is true. */
async function until(f, what) {
  for (let i = 0; i < 1500; i++) {
    if (await f()) return;
    await new Promise(resolve => setTimeout(resolve, 20));
  }
  assert.fail(`in vain: ${what || f}\n${editors[editors.length - 1].logged.join('\n')}`);
}

const isDone = (code, document) => () => {
  const file = code.tact.files.get(document.uri.toString());

  return file && (file.source || file.failure);
};
const cyclesOf = (...words) =>
  JSON.parse(
    execFileSync(TACT, ['predict', '-q', '-f', 'json', ...words], { encoding: 'utf8' })
      .trim()
      .split('\n')[0]
  );

after(() => {
  editors.forEach(code => code.stop());
  places.forEach(dir => fs.rmSync(dir, { recursive: true, force: true }));
});

/* ---- assembly ---- */

test('a loop in assembly has its cycles above its label, in the status bar and in the hover', async () => {
  const dir = place(),
    file = write(dir, 'dot.s', DOT),
    code = edit(dir);
  const document = code.open(file, 'asm', 8);
  const want = cyclesOf('-a', 'SKL', file);

  await until(() => code.lenses(document).length);
  assert.deepStrictEqual(
    code.lenses(document).map(l => l.slice(0, 2)),
    [[5, `${want.cycles_per_iteration.toFixed(2)} cycles per iteration on SKL: Dependencies`]]
  );
  assert.strictEqual(code.status.isShown, true);
  assert.match(code.status.text, /4\.00 Dependencies \(SKL\)/);
  code.moveTo(0);
  assert.strictEqual(code.status.isShown, false);
  assert.match(
    code.hover(document, 9),
    /\*\*SKL: 4\.00 cycles per iteration\*\*, limited by Dependencies/
  );
  assert.match(code.hover(document, 9), /\| Dependencies \| 4\.00 \|\n\| Issue \| 1\.25 \|/);
  assert.match(code.hover(document, 9), /addss xmm0, xmm1 +; 1 uop, p0 0\.50 p1 0\.50/);
  assert.match(code.hover(document, 12), /jnz .*fused with the one before/);
  assert.strictEqual(code.hover(document, 3), null);
  assert.strictEqual(code.hover(document, 13), null);
  assert.deepStrictEqual(code.asked, []);
});

test('edits move the loop at once, and are looked at', async () => {
  const dir = place(),
    code = edit(dir);
  const document = code.openUntitled(DOT, 'asm');

  await until(() => code.lenses(document).length);
  code.edit(document, 0, 0, '# one\n# two\n');
  assert.strictEqual(code.lenses(document)[0][0], 7);
  code.edit(document, 11, 12, '\taddss %xmm1, %xmm0\n\taddss %xmm1, %xmm0\n');
  await until(() => /8\.00/.test(code.lenses(document)[0] || ''), 'two additions');
  assert.strictEqual(code.lenses(document)[0][0], 7);
  code.edit(document, 11, 12, '\tadddss %xmm1, %xmm0\n');
  await until(() => /warning/.test(code.status.text), 'a failure');
  assert.match(code.status.tooltip, /^line 12: no such instruction: .adddss/);
  assert.deepStrictEqual([code.lenses(document), code.asked], [[], []]);
});

test('several CPUs stand side by side, and may be chosen', async () => {
  const dir = place(),
    code = edit(dir);
  const document = code.open(write(dir, 'dot.s', DOT), 'plaintext', 8);

  await until(() => code.lenses(document).length);
  code.answers.push([{ label: 'SKL' }, { label: 'ZEN4' }]);
  await code.run('tact.chooseCpus');
  const [, items] = code.asked[0];
  assert.deepStrictEqual(
    items.filter(i => i.picked).map(i => i.label),
    ['SKL']
  );
  assert.ok(items.some(i => i.label === 'ZEN4' && i.description === 'Zen 4'));
  assert.deepStrictEqual(code.values.cpus, ['SKL', 'ZEN4']);
  await until(() => /ZEN4/.test(code.lenses(document)[0] || ''), 'ZEN4');
  assert.strictEqual(code.lenses(document)[0][1], 'SKL 4.00 Dependencies | ZEN4 3.00 Dependencies');
  assert.match(code.hover(document, 8), /\| bound \| SKL \| ZEN4 \|/);
});

test('what a compiler wrote with debug information has the lines of the text', async () => {
  const dir = place(),
    source = write(dir, 'a.c', C),
    code = edit(dir);

  execFileSync('cc', ['-O1', '-g', '-S', '-o', path.join(dir, 'a.s'), source]);
  const document = code.open(path.join(dir, 'a.s'), 'asm');
  await until(() => code.lenses(document).length);
  const lines = document.text.split('\n');
  for (const [line] of code.lenses(document)) assert.match(lines[line], /^\.L\w+:/);
  assert.strictEqual(code.lenses(document).length, 2);
});

test('other instruction sets go by the CPU', async t => {
  const text = 'f:\nl:\n\tldr x0, [x1], #8\n\tadd x2, x2, x0\n\tsubs x3, x3, #1\n\tb.ne l\n\tret\n';
  const code = edit(place(), { cpus: ['neoverse-n1'] });
  const document = code.openUntitled(text, 'asm');

  await until(isDone(code, document));
  if (code.status.tooltip && /tact_llvm\.so|unknown microarch/.test(code.status.tooltip)) {
    t.skip('tact_llvm.so is not built');
    return;
  }
  assert.match(code.lenses(document)[0][1], /cycles per iteration on neoverse-n1: /);
  assert.strictEqual(code.lenses(document)[0][0], 0);
});

test('without tact.automatic only commands look, without tact.codeLens no line is shown', async () => {
  const dir = place();
  const code = edit(dir, { automatic: false });
  const document = code.open(write(dir, 'dot.s', DOT), 'asm', 8);

  await new Promise(resolve => setTimeout(resolve, 500));
  assert.deepStrictEqual(code.lenses(document), []);
  assert.strictEqual(code.tact.service.starting, null);
  await code.run('tact.refresh');
  assert.strictEqual(code.lenses(document).length, 1);
  code.values.codeLens = false;
  assert.deepStrictEqual(code.lenses(document), []);
  assert.match(code.hover(document, 8), /4\.00/);
});

test('markers choose', async () => {
  const dir = place(),
    code = edit(dir);
  const text =
    'a:\n\tnop\n# LLVM-MCA-BEGIN first\n\timul %rax, %rbx\n# LLVM-MCA-END\n\tnop\n# LLVM-MCA-BEGIN\n\tadd %rax, %rbx\n' +
    '# LLVM-MCA-END\n\tret\n';
  const document = code.open(write(dir, 'a.s', text), 'asm');

  await until(() => code.lenses(document).length === 2);
  assert.deepStrictEqual(
    code.lenses(document).map(l => l[0]),
    [3, 7]
  );
  assert.match(code.lenses(document)[0][1], /^3\.00/);
  await code.run('tact.explain', ...code.lenses(document)[0][2].arguments);
  assert.match(code.panel.webview.html, /imul/);
  assert.doesNotMatch(code.panel.webview.html, /add rbx/);
});

/* ---- C ---- */

function database(dir, entry) {
  return write(
    dir,
    'build/compile_commands.json',
    JSON.stringify([{ directory: dir, file: 'other.c', command: 'false' }, entry])
  );
}

test('C is compiled by its entry in compile_commands.json, and nothing but that is written', async () => {
  const dir = place(),
    file = write(dir, 'src/a b.c', C);

  database(dir, {
    directory: path.join(dir, 'src'),
    file: 'a b.c',
    command: 'cc -O2 -DNAME=\\"x\\" -flto -MD -MF a.d -MT a.o -o \'a.o\' -c "a b.c"'
  });
  const before = fs.readdirSync(path.join(dir, 'src')),
    temporary = fs.readdirSync(os.tmpdir()).filter(n => n.startsWith('tact-vscode-'));
  const code = edit(dir),
    document = code.open(file, 'c', FOR + 1);
  await until(() => code.lenses(document).length);
  const lenses = code.lenses(document);
  assert.deepStrictEqual(
    lenses.map(l => l[0]),
    [SUM, FOR]
  );
  assert.match(lenses[1][1], /^4\.00 cycles per iteration on SKL: Dependencies$/);
  assert.match(code.status.text, /4\.00 Dependencies/);
  // The inlined function belongs to the loop, too; a function without a loop has none.
  assert.match(code.hover(document, 2), /mulss/);
  assert.match(code.hover(document, FOR + 1), /addss/);
  assert.strictEqual(
    code.hover(document, C.split('\n').findIndex(l => /straight/.test(l)) + 2),
    null
  );
  // Where it was inlined, the loop of sum is under the cursor, too.
  assert.match(
    code.hover(
      document,
      C.split('\n').findIndex(l => /sum\(a, 1000/.test(l))
    ),
    /limited by Dependencies/
  );
  assert.deepStrictEqual(fs.readdirSync(path.join(dir, 'src')), before);
  assert.deepStrictEqual(
    fs
      .readdirSync(os.tmpdir())
      .filter(n => n.startsWith('tact-vscode-'))
      .sort(),
    temporary.sort()
  );
  assert.ok(code.logged.some(l => l.startsWith(path.join(dir, 'build/compile_commands.json'))));
});

test('unsaved changes of C move the loops, a save looks at them', async () => {
  const dir = place(),
    file = write(dir, 'a.c', C),
    code = edit(dir, { compilers: { c: 'cc -O2' } });
  const document = code.open(file, 'c');

  await until(() => code.lenses(document).length);
  code.edit(document, 0, 0, '/* new */\n\n');
  assert.deepStrictEqual(
    code.lenses(document).map(l => l[0]),
    [SUM + 2, FOR + 2]
  );
  assert.match(code.lenses(document)[0][1], / \(as last saved\)$/);
  code.edit(document, FOR + 3, FOR + 4, '\t\ts += a[i] / b[i];\n');
  code.save(document);
  await until(
    () =>
      !/saved/.test(code.lenses(document)[1] || 'saved') &&
      /divss/.test(code.hover(document, FOR + 3)),
    'the division'
  );
  assert.deepStrictEqual(
    code.lenses(document).map(l => l[0]),
    [SUM + 2, FOR + 2]
  );
});

test('C that does not compile says why, when asked', async () => {
  const dir = place(),
    code = edit(dir),
    document = code.open(write(dir, 'a.c', 'int f(void) { return x; }\n'), 'c');

  await until(() => /warning/.test(code.status.text));
  assert.match(code.status.tooltip, /does not compile: .*a\.c:1:.*x/);
  assert.deepStrictEqual(code.asked, []);
  code.answers.push('Show the Log');
  await code.run('tact.explain');
  assert.match(code.asked[0][1], /does not compile/);
  assert.deepStrictEqual(code.asked[1], ['log']);
  fs.writeFileSync(document.uri.path, 'int f(void) { return 1; }\n');
  await code.run('tact.refresh');
  assert.match(code.asked[2][1], /no loop/);
  code.set({ compilers: { c: 'no-such-compiler -O2' } });
  await until(() => /no-such-compiler/.test(code.status.tooltip || ''));
  assert.match(code.status.tooltip, /'no-such-compiler' is not there/);
});

test('an object file of a build is read instead', async () => {
  const dir = place(),
    file = write(dir, 'src/a.c', C);

  fs.mkdirSync(path.join(dir, 'out/src'), { recursive: true });
  execFileSync('cc', [
    '-O2',
    '-g',
    '-ffile-prefix-map=' + dir + '=/usr/src/nowhere',
    '-c',
    '-o',
    path.join(dir, 'out/src/a.o'),
    file
  ]);
  const code = edit(dir, {
    object: '${workspaceFolder}/out/${relativeFileDirname}/${fileBasenameNoExtension}.o',
    compilers: {}
  });
  const document = code.open(file, 'c');
  await until(() => code.lenses(document).length);
  assert.deepStrictEqual(
    code.lenses(document).map(l => l[0]),
    [SUM, FOR]
  );
  const later = Date.now() / 1000 + 60;
  fs.utimesSync(file, later, later);
  await code.run('tact.refresh');
  assert.match(code.lenses(document)[0][1], /object file is older/);
  code.set({ object: '${workspaceFolder}/none.o' });
  await until(() => /none\.o/.test(code.status.tooltip || ''));
  assert.match(code.status.tooltip, /tact\.object cannot be read/);
  code.set({ object: '${nothing}/a.o' });
  await until(() => /unknown variable/.test(code.status.tooltip || ''));
});

test('nothing is compiled in a workspace that is not trusted', async () => {
  const dir = place(),
    mark = path.join(dir, 'mark');

  database(dir, { directory: dir, file: 'a.c', arguments: ['touch', mark] });
  const code = edit(dir);
  code.isTrusted = false;
  const document = code.open(write(dir, 'a.c', C), 'c');
  await until(isDone(code, document));
  assert.match(code.status.tooltip, /not trusted/);
  assert.strictEqual(fs.existsSync(mark), false);
  const assembly = code.open(write(dir, 'dot.s', DOT), 'asm');
  await until(() => code.lenses(assembly).length);
});

test('assembly that needs the preprocessor is compiled', async () => {
  const dir = place(),
    code = edit(dir);
  const document = code.open(
    write(
      dir,
      'a.S',
      '#define COUNT %ecx\nf:\nl:\n\timul %rax, %rax\n\tdec COUNT\n\tjnz l\n\tret\n'
    ),
    'asm'
  );

  await until(() => code.lenses(document).length);
  assert.deepStrictEqual(
    code.lenses(document).map(l => l[0]),
    [3]
  );
  assert.match(code.lenses(document)[0][1], /^3\.00/);
});

test('the words of a command are cut as a shell does, and outputs are left out', () => {
  const { splitWords, withOutput, findCommand } = compiling;

  assert.deepStrictEqual(splitWords('a  \'b c\' "d \\" e" f\\ g "" \\\\ x"y"z'), [
    'a',
    'b c',
    'd " e',
    'f g',
    '',
    '\\',
    'xyz'
  ]);
  assert.deepStrictEqual(splitWords(' '), []);
  assert.deepStrictEqual(
    withOutput(
      [
        'cc',
        '-c',
        '-o',
        'x.o',
        '-ox',
        '-MF',
        'd',
        '-MFd',
        '-Wp,-MMD,d',
        '-gsplit-dwarf',
        '-save-temps=obj',
        '-O2',
        '-o',
        'y',
        'a.c'
      ],
      'OUT'
    ),
    ['cc', '-O2', 'a.c', '-g', '-c', '-o', 'OUT']
  );
  assert.deepStrictEqual(withOutput(['cc', '-O2', '--', '-c'], 'OUT'), [
    'cc',
    '-O2',
    '-g',
    '-c',
    '-o',
    'OUT',
    '--',
    '-c'
  ]);
  const dir = place(),
    file = write(dir, 'deep/er/a.c', '');
  const link = path.join(dir, 'link.c');
  fs.symlinkSync(file, link);
  write(
    dir,
    'compile_commands.json',
    JSON.stringify([{ directory: dir, file: link, arguments: ['cc', '-c', link] }])
  );
  assert.deepStrictEqual(findCommand(file, dir, '').words, ['cc', '-c', link]);
  assert.strictEqual(findCommand(path.join(dir, 'deep/b.c'), dir, ''), null);
  assert.strictEqual(findCommand(file, path.join(dir, 'deep'), ''), null);
  write(dir, 'compile_commands.json', '{');
  assert.throws(() => findCommand(file, dir, ''), /compile_commands\.json cannot be read/);
});

test('lines move with the text', () => {
  const loops = [
    {
      head: 5,
      first: 6,
      last: 9,
      own: new Set([6, 9]),
      all: new Map([
        [6, [0]],
        [9, [1]]
      ])
    }
  ];
  const move = (from, to, lines) => {
    const l = moveLoops(loops, from, to, lines)[0];

    return [l.head, l.first, l.last];
  };

  assert.deepStrictEqual(move(10, 10, 3), [5, 6, 9]);
  assert.deepStrictEqual(move(0, 0, 3), [7, 8, 11]);
  assert.deepStrictEqual(move(7, 8, 1), [5, 6, 8]);
  assert.deepStrictEqual(move(0, 4, 1), [1, 2, 5]);
  assert.deepStrictEqual(move(6, 6, 1), [5, 6, 9]);
});

/* ---- the panel ---- */

test('the panel explains the loop under the cursor, without scripts', async () => {
  const dir = place(),
    code = edit(dir, { cpus: ['SKL', 'ZEN4'] });
  const document = code.open(write(dir, 'dot.s', DOT.replace(/\.L3/g, '"<b>&"')), 'asm', 8);

  await until(() => code.lenses(document).length);
  await code.run('tact.explain');
  const { html } = code.panel.webview;
  assert.match(code.panel.title, /^dot\.s:7/);
  assert.match(html, /Dependencies: a chain that takes 4 cycles for 1 iteration/);
  assert.match(html, /<h2>SKL: 4\.00 cycles per iteration/);
  assert.match(html, /<h2>ZEN4: 3\.00 cycles per iteration/);
  assert.match(html, /use 4 accumulators/);
  assert.match(
    html,
    /Content-Security-Policy" content="default-src 'none'; style-src 'nonce-[0-9a-f]{32}'/
  );
  assert.doesNotMatch(html, /<script|<b>|onclick|https?:/);
  assert.strictEqual(code.panel.options.enableScripts, false);
  code.moveTo(0);
  await code.run('tact.explain');
  assert.match(code.asked[0][1], /no loop at the cursor; this file has 1/);
});

/* ---- the service ---- */

test('it is said once that tact is missing, and where to say where it is', async () => {
  const dir = place(),
    code = edit(dir, { path: path.join(dir, 'nowhere/tact') });
  const document = code.open(write(dir, 'dot.s', DOT), 'asm');

  code.answers.push('Open Settings');
  await until(isDone(code, document));
  assert.match(
    code.asked[0][1],
    /nowhere\/tact' is not there: install tact, or say in the setting tact\.path/
  );
  await until(() => code.asked.length === 2);
  assert.strictEqual(code.asked[1][1], 'workbench.action.openSettings');
  code.edit(document, 0, 0, '\n');
  await new Promise(resolve => setTimeout(resolve, 600));
  assert.strictEqual(code.asked.length, 2);
  code.set({ path: TACT });
  await until(() => code.lenses(document).length, 'the right path');
});

test('programs that are no tact are told by what they say', async () => {
  const dir = place(),
    file = write(dir, 'dot.s', DOT);

  for (const [script, words] of [
    ['echo "tact: unknown option --until-eof" >&2; exit 2', /too old/],
    ['exit 7', /ended \(7\)/],
    ['echo "tact: it needs libmicrohttpd" >&2; exit 3', /^it needs libmicrohttpd$/]
  ]) {
    const program = write(dir, 'program', `#!/bin/sh\n${script}\n`);

    fs.chmodSync(program, 0o755);
    const code = edit(dir, { path: program }),
      document = code.open(file, 'asm');
    await until(isDone(code, document));
    assert.match(code.status.tooltip, words);
  }
});

async function serve(...options) {
  const child = spawn(TACT, ['serve', '--port=0', '--jobs=1', '--until-eof', ...options], {
    stdio: ['pipe', 'ignore', 'pipe']
  });
  let said = '';

  child.stderr.on('data', data => {
    said += data;
  });
  for (let i = 0; i < 500 && !/serving at/.test(said); i++)
    await new Promise(resolve => setTimeout(resolve, 20));
  return { url: /serving at (http:\S+)\//.exec(said)[1], stop: () => child.stdin.end() };
}

test('a server that runs already is asked, with its token', async () => {
  const dir = place(),
    tokenFile = path.join(dir, 'token'),
    server = await serve('--token-file', tokenFile);
  const code = edit(dir, { server: server.url, path: '/nowhere' });
  const document = code.open(write(dir, 'dot.s', DOT), 'asm');

  try {
    await until(isDone(code, document));
    assert.match(code.status.tooltip, /wants its token: see the setting tact\.tokenFile/);
    code.set({ tokenFile: path.join(dir, 'none') });
    await until(() => /tokenFile cannot be read/.test(code.status.tooltip));
    code.set({ tokenFile });
    await until(() => code.lenses(document).length, 'the token');
    code.set({ server: server.url + '/' });
    await until(() => code.lenses(document).length);
  } finally {
    server.stop();
  }
  code.set({ server: 'http://127.0.0.1:1' });
  await until(() => /127\.0\.0\.1:1 does not answer \(ECONNREFUSED\)/.test(code.status.tooltip));
  code.set({ server: 'nonsense' });
  await until(() => /'nonsense\/api\/1\/\w+' is no address/.test(code.status.tooltip));
  const other = http.createServer((request, reply) => reply.end('<html>')).listen(0, '127.0.0.1');
  await until(() => other.address());
  code.set({ server: `http://127.0.0.1:${other.address().port}` });
  await until(() => /is no service of tact \(status 200\)/.test(code.status.tooltip));
  other.close();
});

test('the service of the extension is started again, and ends with the editor', async () => {
  const dir = place(),
    code = edit(dir),
    document = code.open(write(dir, 'dot.s', DOT), 'asm');

  await until(() => code.lenses(document).length);
  const first = (await code.tact.service.starting).child;
  first.kill('SIGKILL');
  await until(() => !code.tact.service.starting, 'its end is noticed');
  await code.run('tact.refresh');
  assert.strictEqual(code.lenses(document).length, 1);
  const second = (await code.tact.service.starting).child;
  assert.notStrictEqual(second.pid, first.pid);
  code.stop();
  await until(() => second.exitCode !== null || second.signalCode !== null, 'it ends');

  // An editor that is killed: nobody is left to end it.
  const script = `const { Service } = require(${JSON.stringify(path.join(EXTENSION, 'service.js'))});
		const s = new Service(() => ({ path: ${JSON.stringify(TACT)} }), () => {});
		s.ask('archs', {}).then(async () => console.log((await s.starting).child.pid));`;
  const host = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const pid = Number(await new Promise(resolve => host.stdout.once('data', resolve)));
  assert.ok(pid > 0);
  host.kill('SIGKILL');
  await until(() => {
    try {
      process.kill(pid, 0);
      return /^State:\s+Z/m.test(fs.readFileSync(`/proc/${pid}/status`, 'utf8'));
    } catch (e) {
      return true;
    }
  }, 'it ends with the editor');
});

/* ---- the manifest ---- */

test('commands and settings are those of the manifest and of the README', () => {
  const dir = place(),
    code = edit(dir),
    readme = fs.readFileSync(path.join(EXTENSION, 'README.md'), 'utf8');
  const declared = MANIFEST.contributes.commands.map(c => c.command).sort();

  assert.deepStrictEqual([...code.commands.keys()].sort(), declared);
  for (const command of MANIFEST.contributes.commands)
    assert.ok(
      readme.includes(`*${command.category}: ${command.title}*`),
      `README: ${command.title}`
    );
  for (const [name, p] of Object.entries(MANIFEST.contributes.configuration.properties)) {
    assert.ok(readme.includes(`\`${name}\``), `README: ${name}`);
    assert.ok('default' in p && (p.description || p.markdownDescription), name);
  }
  const restricted = MANIFEST.capabilities.untrustedWorkspaces.restrictedConfigurations;
  for (const name of ['path', 'server', 'tokenFile', 'object', 'compileCommands', 'compilers'])
    assert.ok(restricted.includes('tact.' + name), name);
});
