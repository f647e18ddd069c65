// SPDX-License-Identifier: MIT
//
// Uses the extension in the real editor, by hand: no other test needs what this does.
//
// usage: node in_editor.js SERVER MODULES [PICTURES]
//
// SERVER is the server of Visual Studio Code, out/server-main.js: npm's package code-server has it
// in lib/vscode. MODULES is a node_modules folder with puppeteer-core, PICTURES a folder for what
// the page looked like. It takes Chromium; TACT is the program. The editor asks for its gallery of
// extensions, in vain if the machine is offline.
/* global document */
'use strict';

const assert = require('assert');
const { spawn } = require('child_process');
const fs = require('fs');
const http = require('http');
const os = require('os');
const path = require('path');

const TOP = path.resolve(__dirname, '../..');
const EXTENSION = path.join(TOP, 'contrib/vscode');
const TACT = path.resolve(process.env.TACT || path.join(TOP, 'build/tact'));
const PORT = 8731;

const ASSEMBLY = `dot:
	xor %eax, %eax
.L3:
	movss (%rdi,%rax,4), %xmm1
	mulss (%rsi,%rax,4), %xmm1
	addss %xmm1, %xmm0
	inc %rax
	cmp %rax, %rdx
	jne .L3
	ret
`;
const C = `float dot(const float *a, const float *b, int n)
{
	float s = 0;

	for (int i = 0; i < n; i++)
		s += a[i] * b[i];
	return s;
}
`;
const LENS = 'SKL 4.00 Dependencies | ZEN4 3.00 Dependencies';

const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));

/** Waits until f() gives something. */
async function until(what, f) {
  for (let i = 0; i < 200; i++) {
    const found = await f().catch(() => null);

    if (found) {
      console.log(`ok ${what}`);
      return found;
    }
    await sleep(200);
  }
  throw new Error(`in vain: ${what}`);
}

/** A home with the extension in it, as one copies it there, and a folder to open. */
function makeHome() {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'tact-editor-'));
  const { publisher, name, version } = JSON.parse(
    fs.readFileSync(path.join(EXTENSION, 'package.json'))
  );
  const settings = {
    'tact.path': TACT,
    'tact.cpus': ['SKL', 'ZEN4'],
    'workbench.startupEditor': 'none',
    'telemetry.telemetryLevel': 'off',
    'extensions.autoCheckUpdates': false
  };
  const files = {
    'data/Machine/settings.json': JSON.stringify(settings),
    'code/dot.s': ASSEMBLY,
    'code/dot.c': C,
    'code/compile_commands.json': JSON.stringify([
      { directory: path.join(home, 'code'), file: 'dot.c', command: 'cc -O2 -c dot.c -o dot.o' }
    ])
  };

  for (const [file, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(home, file)), { recursive: true });
    fs.writeFileSync(path.join(home, file), text);
  }
  fs.cpSync(EXTENSION, path.join(home, 'extensions', `${publisher}.${name}-${version}`), {
    recursive: true
  });
  return home;
}

function startServer(program, home) {
  const words = [program, '--host', '127.0.0.1', '--port', String(PORT)];

  words.push('--without-connection-token', '--accept-server-license-terms');
  words.push('--telemetry-level', 'off', '--server-data-dir', path.join(home, 'data'));
  words.push('--user-data-dir', path.join(home, 'data'));
  words.push('--extensions-dir', path.join(home, 'extensions'));
  return spawn(process.execPath, words, { stdio: 'ignore' });
}

const answers = () =>
  new Promise(resolve => {
    http
      .get({ host: '127.0.0.1', port: PORT }, reply => resolve(reply.statusCode === 200))
      .on('error', () => resolve(false));
  });

class Editor {
  constructor(page, home, pictures) {
    Object.assign(this, { page, home, pictures });
  }

  async open(name) {
    const file = `vscode-remote://127.0.0.1:${PORT}${this.home}/code/${name}`;
    const payload = encodeURIComponent(JSON.stringify([['openFile', file]]));

    await this.page.goto(`http://127.0.0.1:${PORT}/?folder=${this.home}/code&payload=${payload}`, {
      waitUntil: 'domcontentloaded'
    });
  }

  texts(selector) {
    return this.page.$$eval(selector, all => all.map(e => e.textContent));
  }

  async has(selector, text) {
    return (await this.texts(selector)).some(t => t.replace(/\s+/g, ' ').includes(text));
  }

  /** The place of a word in the code. */
  async place(word) {
    const all = await this.page.$$('.view-line span span');

    for (const e of all)
      if ((await e.evaluate(x => x.textContent)).includes(word)) return e.boundingBox();
    throw new Error(`${word} is not on the page`);
  }

  async picture(name) {
    if (this.pictures)
      await this.page.screenshot({ path: path.join(this.pictures, `${name}.png`) });
  }

  async trust() {
    for (const button of await this.page.$$('.monaco-dialog-box .monaco-button'))
      if (/Yes/.test(await button.evaluate(x => x.textContent))) {
        await button.click();
        return true;
      }
    return false;
  }

  async panelSays(text) {
    for (const frame of this.page.frames()) {
      const body = await frame.evaluate(() => document.body.innerText).catch(() => '');

      if (body.includes(text)) return true;
    }
    return false;
  }
}

async function use(editor) {
  const lens = '.codelens-decoration';

  await editor.open('dot.s');
  await until('a line above the loop, before the folder is trusted', () => editor.has(lens, LENS));
  await until('the folder is trusted', () => editor.trust());
  await sleep(2000);
  const box = await editor.place('addss');
  await editor.page.mouse.click(box.x + 40, box.y + 8);
  await until('the status bar', () =>
    editor.has('.statusbar-item', '4.00 Dependencies (SKL, ...)')
  );
  await until('the hover', async () => {
    await editor.page.mouse.move(box.x + 30, box.y + 7);
    await sleep(800);
    await editor.page.mouse.move(box.x + 36, box.y + 8);
    return editor.has('.monaco-hover', 'SKL: 4.00 cycles per iteration');
  });
  await editor.picture('hover');
  await editor.page.mouse.move(5, 5);
  await sleep(500);
  await (await editor.page.$(`${lens} a`)).click();
  await until('the panel', () => editor.panelSays('a chain that takes 4 cycles for 1 iteration'));
  await editor.picture('panel');
  await editor.open('dot.c');
  await until('C', () => editor.has(lens, LENS));
  await editor.picture('c');
  await editor.page.keyboard.press('F1');
  await sleep(700);
  await editor.page.keyboard.type('tact:');
  await until('the palette', () => editor.has('.quick-input-list', 'Explain the Loop under'));
}

async function main() {
  const [program, modules, pictures] = process.argv.slice(2);

  assert.ok(program && modules, 'usage: node in_editor.js SERVER MODULES [PICTURES]');
  const puppeteer = require(path.resolve(modules, 'puppeteer-core'));
  const home = makeHome();
  const server = startServer(path.resolve(program), home);
  let browser = null;

  try {
    await until('the editor starts', answers);
    browser = await puppeteer.launch({
      executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu'],
      defaultViewport: { width: 1400, height: 900 }
    });
    const editor = new Editor(await browser.newPage(), home, pictures);

    await use(editor).catch(async e => {
      await editor.picture('failure');
      throw e;
    });
  } finally {
    if (browser) await browser.close();
    server.kill();
    await sleep(1500);
    fs.rmSync(home, { recursive: true, force: true });
  }
}

main().catch(e => {
  console.error(e.message);
  process.exitCode = 1;
});
