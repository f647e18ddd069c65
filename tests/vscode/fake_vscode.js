// SPDX-License-Identifier: MIT
//
// As much of VS Code's interface as the extension uses. What it shows and asks is kept for tests.
'use strict';

const fs = require('fs');
const Module = require('module');
const path = require('path');
const { pathToFileURL } = require('url');

class Emitter {
  constructor() {
    this.listeners = [];
    this.event = f => {
      this.listeners.push(f);
      return { dispose() {} };
    };
  }

  fire(value) {
    return this.listeners.map(f => f(value));
  }

  dispose() {
    this.listeners = [];
  }
}

class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}

class Range {
  constructor(a, b, c, d) {
    this.start = new Position(a, b);
    this.end = new Position(c, d);
  }
}

class Uri {
  constructor(scheme, place) {
    Object.assign(this, { scheme, path: place, fsPath: place });
  }

  toString() {
    return this.scheme === 'file' ? pathToFileURL(this.path).href : `${this.scheme}:${this.path}`;
  }
}

class Document {
  constructor(uri, languageId, text) {
    Object.assign(this, { uri, languageId, text, isDirty: false });
  }

  getText() {
    return this.text;
  }
}

class CancellationTokenSource {
  constructor() {
    const cancelled = new Emitter();

    this.token = { isCancellationRequested: false, onCancellationRequested: cancelled.event };
    this.cancel = () => {
      this.token.isCancellationRequested = true;
      cancelled.fire();
    };
  }
}

/** An editor with a workspace folder. values: settings; the others have the manifest's default. */
class FakeCode {
  constructor(manifest, root, values = {}) {
    this.defaults = Object.fromEntries(
      Object.entries(manifest.contributes.configuration.properties).map(([name, p]) => [
        name.replace(/^tact\./, ''),
        p.default
      ])
    );
    this.values = values;
    this.root = root;
    this.isTrusted = true;
    this.commands = new Map();
    this.providers = {};
    this.asked = []; // messages: [kind, text, ...buttons]
    this.answers = []; // what people choose next
    this.logged = [];
    this.events = {};
    for (const name of [
      'SaveTextDocument',
      'ChangeTextDocument',
      'CloseTextDocument',
      'ChangeConfiguration',
      'GrantWorkspaceTrust',
      'ChangeActiveTextEditor',
      'ChangeVisibleTextEditors',
      'ChangeTextEditorSelection'
    ])
      this.events[name] = new Emitter();
    this.editors = [];
    this.api = this.makeApi();
  }

  makeApi() {
    const code = this;
    const on = name => this.events[name].event;
    const message =
      kind =>
      async (text, ...buttons) => {
        code.asked.push([kind, text, ...buttons]);
        return code.answers.shift();
      };

    return {
      CodeLens: class {
        constructor(range, command) {
          Object.assign(this, { range, command });
        }
      },
      Hover: class {
        constructor(contents) {
          this.contents = contents;
        }
      },
      MarkdownString: class {
        constructor(value) {
          this.value = value;
        }
      },
      CancellationTokenSource,
      EventEmitter: Emitter,
      Position,
      Range,
      ConfigurationTarget: { Global: 1, Workspace: 2 },
      StatusBarAlignment: { Left: 1, Right: 2 },
      ViewColumn: { Beside: -2 },
      commands: {
        registerCommand(name, f) {
          code.commands.set(name, f);
          return { dispose() {} };
        },
        executeCommand: async (name, ...words) => code.asked.push(['command', name, ...words])
      },
      languages: {
        registerCodeLensProvider: (selector, p) => {
          code.providers.lens = p;
          return { dispose() {} };
        },
        registerHoverProvider: (selector, p) => {
          code.providers.hover = p;
          return { dispose() {} };
        }
      },
      window: {
        createOutputChannel: () => ({
          appendLine: text => code.logged.push(text),
          show: () => code.asked.push(['log']),
          dispose() {}
        }),
        createStatusBarItem: () => {
          code.status = { isShown: false, dispose() {} };
          code.status.show = () => {
            code.status.isShown = true;
          };
          code.status.hide = () => {
            code.status.isShown = false;
          };
          return code.status;
        },
        createWebviewPanel: (kind, title, column, options) => {
          code.panel = {
            title,
            options,
            webview: { html: '' },
            onDidDispose() {},
            reveal() {},
            dispose() {}
          };
          return code.panel;
        },
        showErrorMessage: message('error'),
        showInformationMessage: message('information'),
        showQuickPick: async (items, options) => {
          code.asked.push(['pick', items, options]);
          return code.answers.shift();
        },
        get activeTextEditor() {
          return code.editors[0];
        },
        get visibleTextEditors() {
          return code.editors;
        },
        onDidChangeActiveTextEditor: on('ChangeActiveTextEditor'),
        onDidChangeVisibleTextEditors: on('ChangeVisibleTextEditors'),
        onDidChangeTextEditorSelection: on('ChangeTextEditorSelection')
      },
      workspace: {
        get isTrusted() {
          return code.isTrusted;
        },
        get workspaceFolders() {
          return [{ uri: new Uri('file', code.root) }];
        },
        getWorkspaceFolder: uri =>
          uri.scheme === 'file' && uri.path.startsWith(code.root + path.sep)
            ? { uri: new Uri('file', code.root) }
            : undefined,
        getConfiguration: () => ({
          get: name => {
            if (!(name in code.defaults))
              throw new Error(`the manifest has no setting tact.${name}`);
            return name in code.values ? code.values[name] : code.defaults[name];
          },
          update: async (name, value) => code.set({ [name]: value })
        }),
        openTextDocument: async uri =>
          code.editors.map(e => e.document).find(d => d.uri.toString() === uri.toString()),
        onDidSaveTextDocument: on('SaveTextDocument'),
        onDidChangeTextDocument: on('ChangeTextDocument'),
        onDidCloseTextDocument: on('CloseTextDocument'),
        onDidChangeConfiguration: on('ChangeConfiguration'),
        onDidGrantWorkspaceTrust: on('GrantWorkspaceTrust')
      }
    };
  }

  set(values) {
    Object.assign(this.values, values);
    this.events.ChangeConfiguration.fire({ affectsConfiguration: name => name === 'tact' });
  }

  /** Shows a file of the disk, with the cursor at a line (from 0). */
  open(file, languageId, line = 0) {
    const document = new Document(new Uri('file', file), languageId, fs.readFileSync(file, 'utf8'));

    return this.showDocument(document, line);
  }

  openUntitled(text, languageId, line = 0) {
    return this.showDocument(
      new Document(new Uri('untitled', 'Untitled-1'), languageId, text),
      line
    );
  }

  showDocument(document, line) {
    this.editors = [{ document, selection: { active: new Position(line, 0) } }, ...this.editors];
    this.events.ChangeVisibleTextEditors.fire(this.editors);
    this.events.ChangeActiveTextEditor.fire(this.editors[0]);
    return document;
  }

  moveTo(line) {
    this.editors[0].selection.active = new Position(line, 0);
    this.events.ChangeTextEditorSelection.fire({});
  }

  /** Puts text in the place of whole lines [from, to). */
  edit(document, from, to, text) {
    const lines = document.text.split('\n');

    lines.splice(from, to - from, ...(text === '' ? [] : text.replace(/\n$/, '').split('\n')));
    document.text = lines.join('\n');
    document.isDirty = true;
    this.events.ChangeTextDocument.fire({
      document,
      contentChanges: [{ range: new Range(from, 0, to, 0), text }]
    });
  }

  save(document) {
    fs.writeFileSync(document.uri.path, document.text);
    document.isDirty = false;
    this.events.SaveTextDocument.fire(document);
  }

  run(command, ...words) {
    return this.commands.get(command)(...words);
  }

  lenses(document) {
    return this.providers.lens
      .provideCodeLenses(document)
      .map(l => [l.range.start.line, l.command.title, l.command]);
  }

  hover(document, line) {
    const hover = this.providers.hover.provideHover(document, new Position(line, 0));

    return hover && hover.contents.value;
  }
}

let current = null;
const load = Module._load;

/* What `require('vscode')` is for the extension. */
Module._load = function loadWithVscode(name, ...rest) {
  return name === 'vscode'
    ? new Proxy({}, { get: (_, key) => current.api[key] })
    : load.call(this, name, ...rest);
};

/** Activates the extension in a new editor. */
function start(extensionPath, root, values) {
  const manifest = JSON.parse(fs.readFileSync(path.join(extensionPath, 'package.json'), 'utf8'));
  const code = new FakeCode(manifest, root, values);

  current = code;
  code.context = { subscriptions: [] };
  code.tact = require(extensionPath).activate(code.context);
  code.stop = () => code.context.subscriptions.forEach(s => s.dispose());
  return code;
}

module.exports = { start };
