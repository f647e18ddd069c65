// SPDX-License-Identifier: MIT
//
// The object file of a C or C++ file: which command makes it, and running that into a place of our
// own.
'use strict';

const childProcess = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');

const { Failure } = require('./service');

const COMPILE_MS = 120000;
const MOST_TEXT = 1 << 20;

/** Cuts a command as a shell does: blanks, quotes and backslashes; nothing is expanded. */
function splitWords(command) {
  const words = [];
  let word = null,
    quote = '';

  for (let i = 0; i < command.length; i++) {
    const c = command[i];

    if (quote === "'") {
      if (c === quote) quote = '';
      else word += c;
    } else if (
      c === '\\' &&
      i + 1 < command.length &&
      (!quote || '"\\$`\n'.includes(command[i + 1]))
    ) {
      word = (word || '') + command[++i];
    } else if (quote) {
      if (c === quote) quote = '';
      else word += c;
    } else if (c === '"' || c === "'") {
      quote = c;
      word = word || '';
    } else if (/\s/.test(c)) {
      if (word !== null) words.push(word);
      word = null;
    } else {
      word = (word || '') + c;
    }
  }
  if (word !== null) words.push(word);
  return words;
}

// What decides about outputs, which are to be ours alone.
const WITH_VALUE = new Set([
  '-o',
  '-MF',
  '-MT',
  '-MQ',
  '-MJ',
  '--serialize-diagnostics',
  '-dumpdir',
  '-dumpbase'
]);
const ALONE =
  /^(-c|-S|-E|-M|-MM|-MD|-MMD|-MP|-MG|-MV|-Wp,-M.*|-fsyntax-only|-save-temps.*|--save-temps.*|-gsplit-dwarf.*|-flto.*)$/;
const ATTACHED = /^(-o|-MF|-MT|-MQ|-MJ)./;

/** The words that compile to `output` with lines, and write nothing else. */
function withOutput(words, output) {
  const kept = [];

  for (let i = 0; i < words.length; i++) {
    if (WITH_VALUE.has(words[i])) i++;
    else if (words[i] === '--')
      // Only the names of files follow.
      return [...kept, '-g', '-c', '-o', output, ...words.slice(i)];
    else if (!ALONE.test(words[i]) && !ATTACHED.test(words[i])) kept.push(words[i]);
  }
  return [...kept, '-g', '-c', '-o', output];
}

function real(file) {
  try {
    return fs.realpathSync(file);
  } catch (e) {
    return path.resolve(file);
  }
}

/** Where a compile_commands.json may be: from the file's folder up to `root`, nearest first. */
function places(file, root) {
  const found = [];
  const stop = root ? path.resolve(root) : path.dirname(path.resolve(file));

  for (let dir = path.dirname(path.resolve(file)); ; dir = path.dirname(dir)) {
    found.push(
      path.join(dir, 'compile_commands.json'),
      path.join(dir, 'build', 'compile_commands.json')
    );
    if (dir === stop || dir === path.dirname(dir)) return found;
  }
}

function readDatabase(database) {
  let entries;

  try {
    entries = JSON.parse(fs.readFileSync(database, 'utf8'));
  } catch (e) {
    throw new Failure(`${database} cannot be read: ${e.message}`);
  }
  if (!Array.isArray(entries)) throw new Failure(`${database} is no list of commands`);
  return entries;
}

function findEntry(entries, file) {
  const wanted = real(file);

  return entries.find(
    e =>
      e && typeof e.file === 'string' && real(path.resolve(e.directory || '.', e.file)) === wanted
  );
}

/** The command for a file: {words, directory, from}; null if no database names it. */
function findCommand(file, root, database) {
  const candidates = database ? [database] : places(file, root).filter(p => fs.existsSync(p));

  for (const candidate of candidates) {
    const entry = findEntry(readDatabase(candidate), file);

    if (!entry) continue;
    const words = Array.isArray(entry.arguments)
      ? entry.arguments.map(String)
      : splitWords(String(entry.command || ''));

    if (!words.length) throw new Failure(`${candidate} has no command for ${file}`);
    return {
      words,
      directory: path.resolve(path.dirname(candidate), entry.directory || '.'),
      from: candidate
    };
  }
  return null;
}

/** The command by the setting tact.compilers. */
function defaultCommand(file, language, compilers) {
  const command = compilers[language];

  if (!command)
    throw new Failure(
      `no compile_commands.json names ${file}, and the setting tact.compilers has no '${language}'`
    );
  return {
    words: [...splitWords(command), file],
    directory: path.dirname(file),
    from: 'tact.compilers'
  };
}

/** Runs a program without a shell; resolves to {code, text}. `token` may cancel it. */
function run(words, directory, token) {
  return new Promise((resolve, reject) => {
    let text = '',
      isDone = false,
      timer = null;
    let child;

    try {
      child = childProcess.spawn(words[0], words.slice(1), {
        cwd: directory,
        stdio: ['ignore', 'pipe', 'pipe']
      });
    } catch (e) {
      reject(new Failure(`${words[0]} does not start: ${e.message}`));
      return;
    }
    timer = setTimeout(() => child.kill(), COMPILE_MS);
    const add = data => {
      text = (text + data).slice(0, MOST_TEXT);
    };
    if (token) token.onCancellationRequested(() => isDone || child.kill());
    child.stdout.on('data', add);
    child.stderr.on('data', add);
    child.on('error', e => {
      clearTimeout(timer);
      reject(
        new Failure(
          e.code === 'ENOENT' && fs.existsSync(directory)
            ? `the compiler '${words[0]}' is not there`
            : `${words[0]} does not start in ${directory}: ${e.message}`
        )
      );
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      isDone = true;
      resolve({ code, signal, text });
    });
  });
}

/** Compiles, and resolves to the bytes of the object file. */
async function compile(command, token) {
  const place = fs.mkdtempSync(path.join(os.tmpdir(), 'tact-vscode-'));
  const output = path.join(place, 'code.o');

  try {
    const words = withOutput(command.words, output);
    const { code, signal, text } = await run(words, command.directory, token);
    const first = text.split('\n').find(line => /error|fatal/i.test(line)) || text.split('\n')[0];

    if (code !== 0)
      throw Object.assign(
        new Failure(
          signal
            ? `${words[0]} was ended (${signal})`
            : `it does not compile: ${first || 'status ' + code}`
        ),
        { details: `${words.join(' ')}\n${text}` }
      );
    if (!fs.existsSync(output))
      throw new Failure(
        `${words[0]} wrote no object file: is it a compiler with the options of gcc?`
      );
    return fs.readFileSync(output);
  } finally {
    fs.rmSync(place, { recursive: true, force: true });
  }
}

/** The path of the setting tact.object for a file. */
function objectPath(pattern, file, root) {
  const folder = root || path.dirname(file);
  const relative = path.relative(folder, file);
  const values = {
    workspaceFolder: folder,
    file,
    fileDirname: path.dirname(file),
    fileBasename: path.basename(file),
    fileBasenameNoExtension: path.basename(file, path.extname(file)),
    relativeFile: relative,
    relativeFileDirname: path.dirname(relative)
  };
  const filled = pattern.replace(/\$\{(\w+)\}/g, (whole, name) =>
    name in values ? values[name] : whole
  );

  if (/\$\{/.test(filled))
    throw new Failure(`the setting tact.object has an unknown variable: ${filled}`);
  return path.resolve(folder, filled);
}

module.exports = { compile, defaultCommand, findCommand, objectPath, real, splitWords, withOutput };
