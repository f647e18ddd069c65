// SPDX-License-Identifier: MIT
//
// Cycles and bottleneck of loops, in assembly and, by the lines of the object file, in C and C++.
'use strict';

const crypto = require('crypto');
const fs = require('fs');
const path = require('path');
const vscode = require('vscode');

const { compile, defaultCommand, findCommand, objectPath } = require('./compile_command');
const { keyOf, loopAt, loopsOf, moveLoops } = require('./loops');
const { Failure, Service } = require('./service');
const { hoverText, lensTitle, panelHtml, statusText } = require('./texts');

const SELECTOR = [
  { language: 'asm' },
  { language: 'gas' },
  { language: 'c' },
  { language: 'cpp' },
  { scheme: 'file', pattern: '**/*.{s,S,asm}' }
];
const TYPING_MS = 300;
const HEADER = /\.(h|hh|hpp|hxx|inl|inc|ipp|tcc)$/i;

/** 'assembly': its text is sent; 'compiled': an object file is; '': not ours. */
function kindOf(document) {
  const extension = path.extname(document.uri.path);

  if (document.languageId === 'c' || document.languageId === 'cpp')
    return document.uri.scheme === 'file' && !HEADER.test(extension) ? 'compiled' : '';
  if (!['asm', 'gas'].includes(document.languageId) && !/^\.(s|S|asm)$/.test(extension)) return '';
  return extension === '.S' &&
    document.uri.scheme === 'file' &&
    needsPreprocessor(document.getText())
    ? 'compiled'
    : 'assembly';
}

const needsPreprocessor = text =>
  /^\s*#\s*(include|define|if|ifdef|ifndef|undef|pragma)\b/m.test(text);

/** A compiler's lines would be those of C; without them, lines are those of the text itself. */
const withoutLines = text => text.replace(/^[ \t]*\.(loc|file[ \t]+\d+)\b.*$/gm, '');

const asFailure = error =>
  error instanceof Failure ? error : new Failure(String(error.message || error));

class Tact {
  constructor() {
    this.log = vscode.window.createOutputChannel('tact');
    this.service = new Service(
      () => this.serviceSettings(),
      text => this.log.appendLine(text)
    );
    this.files = new Map(); // by URI: what is known of a document
    this.changed = new vscode.EventEmitter();
    this.onDidChangeCodeLenses = this.changed.event;
    this.status = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Right, 50);
    this.status.command = 'tact.explain';
    this.wasTold = false; // that tact is missing
  }

  dispose() {
    for (const file of this.files.values()) clearTimeout(file.timer);
    this.service.stop();
    this.log.dispose();
    this.status.dispose();
    this.changed.dispose();
    if (this.panel) this.panel.dispose();
  }

  /* ---- settings ---- */

  setting(name, document) {
    return vscode.workspace.getConfiguration('tact', document && document.uri).get(name);
  }

  serviceSettings() {
    return {
      path: this.setting('path'),
      server: this.setting('server'),
      tokenFile: this.setting('tokenFile')
    };
  }

  /** Fields of each request about a document. */
  options(document) {
    const cpus = this.setting('cpus', document) || [],
      model = this.setting('model', document);

    return {
      ...(cpus.length && { archs: cpus }),
      ...(model && model !== 'facile' && { model })
    };
  }

  /* ---- what a document is sent as ---- */

  async source(document, kind, token) {
    if (kind === 'assembly') return { request: { text: withoutLines(document.getText()) } };
    const file = document.uri.fsPath;
    const folder = vscode.workspace.getWorkspaceFolder(document.uri);
    const root = folder && folder.uri.fsPath;
    const pattern = this.setting('object', document);

    if (!vscode.workspace.isTrusted)
      throw new Failure(
        'this workspace is not trusted: nothing is compiled, and no object file is read'
      );
    if (pattern) return readObject(objectPath(pattern, file, root), file);
    const database = this.setting('compileCommands', document);
    const command =
      findCommand(file, root, database && path.resolve(root || path.dirname(file), database)) ||
      defaultCommand(
        file,
        document.languageId === 'c' || document.languageId === 'cpp' ? document.languageId : 'asm',
        this.setting('compilers', document) || {}
      );

    this.log.appendLine(`${command.from}: ${command.words.join(' ')}`);
    return {
      request: { file: (await compile(command, token)).toString('base64') },
      from: command.from
    };
  }

  /* ---- analysis ---- */

  /** What is known of a document; a new entry if nothing is. */
  entry(document) {
    const key = document.uri.toString();

    if (!this.files.has(key)) this.files.set(key, { loops: [], runs: 0, isKnown: false });
    return this.files.get(key);
  }

  /** Looks at a document again. Resolves to its entry; file.failure says what went wrong. */
  async analyse(document) {
    const kind = kindOf(document);

    if (!kind) return null;
    const file = this.entry(document),
      run = ++file.runs;

    clearTimeout(file.timer);
    if (file.cancel) file.cancel.cancel();
    file.cancel = new vscode.CancellationTokenSource();
    file.isKnown = true;
    const news = await this.look(document, kind, file.cancel.token);

    // A later run, or the document is closed: its result counts.
    if (run !== file.runs || this.files.get(document.uri.toString()) !== file) return file;
    Object.assign(file, { kind, failure: null }, news);
    if (file.failure) this.told(file.failure);
    this.show();
    return file;
  }

  async look(document, kind, token) {
    const text = document.getText().split('\n');

    try {
      const source = await this.source(document, kind, token);
      const options = this.options(document);
      const code = await this.service.ask('code', {
        ...source.request,
        lines: true,
        ...(options.archs && { archs: options.archs[0] })
      });
      const predict = await this.service.ask('predict', { ...source.request, ...options });
      const loops = loopsOf(
        code.results,
        predict.results,
        kind === 'compiled' ? document.uri.fsPath : '',
        text
      )
        // Functions without loops are shown only where they are all there is to see: in assembly.
        .filter(l => l.isLoop || kind === 'assembly' || l.name !== l.function);

      return { loops, source };
    } catch (e) {
      if (!(e instanceof Failure)) this.log.appendLine(e.stack || String(e));
      const failure = asFailure(e);

      // The service knows no name for the text.
      failure.message = failure.message.replace(
        /^standard input/,
        path.basename(document.uri.path)
      );
      return { loops: [], failure };
    }
  }

  /** A failure that nobody asked for goes to the log; that tact is missing is said once. */
  told(failure) {
    this.log.appendLine(failure.message);
    if (failure.details) this.log.appendLine(failure.details);
    if (this.wasTold || !/tact\.path|too old|tact\.server|tokenFile/.test(failure.message)) return;
    this.wasTold = true;
    this.complain(failure);
  }

  async complain(failure) {
    const settings = 'Open Settings',
      log = 'Show the Log';
    const chosen = await vscode.window.showErrorMessage(`tact: ${failure.message}`, settings, log);

    if (chosen === settings)
      vscode.commands.executeCommand('workbench.action.openSettings', '@ext:tact.tact-cycles');
    else if (chosen === log) this.log.show();
  }

  /* ---- events ---- */

  opened(document) {
    if (kindOf(document) && this.setting('automatic', document)) {
      const file = this.entry(document);

      if (!file.isKnown || (file.source && file.source.isOutdated && file.source.isOutdated()))
        this.analyse(document);
    }
    this.show();
  }

  saved(document) {
    if (this.files.has(document.uri.toString()) && this.setting('automatic', document))
      this.analyse(document);
  }

  edited(event) {
    const { document, contentChanges } = event;
    const file = this.files.get(document.uri.toString());

    if (!file || !contentChanges.length) return;
    // The service sees C and C++ as they are saved: until then, loops move with the text.
    for (const change of contentChanges)
      file.loops = moveLoops(
        file.loops,
        change.range.start.line,
        change.range.end.line,
        change.text.split('\n').length
      );
    if (kindOf(document) === 'assembly' && this.setting('automatic', document)) {
      clearTimeout(file.timer);
      file.timer = setTimeout(() => this.analyse(document), TYPING_MS);
    }
    this.show();
  }

  closed(document) {
    const file = this.files.get(document.uri.toString());

    if (!file) return;
    clearTimeout(file.timer);
    file.cancel && file.cancel.cancel();
    this.files.delete(document.uri.toString());
  }

  /** Settings or trust have changed, or the service is to begin anew. */
  async again() {
    this.service.stop();
    this.wasTold = false;
    for (const file of this.files.values()) file.isKnown = false;
    await Promise.all(vscode.window.visibleTextEditors.map(editor => this.opened(editor.document)));
  }

  /* ---- what is seen ---- */

  show() {
    this.changed.fire();
    this.showStatus();
  }

  showStatus() {
    const editor = vscode.window.activeTextEditor;
    const file = editor && this.files.get(editor.document.uri.toString());
    const loop = file && loopAt(file.loops, editor.selection.active.line);

    if (file && file.failure) {
      this.status.text = '$(warning) tact';
      this.status.tooltip = file.failure.message;
    } else if (loop) {
      this.status.text = `$(dashboard) ${statusText(loop)}`;
      this.status.tooltip = new vscode.MarkdownString(hoverText(loop, -1));
    } else {
      this.status.hide();
      return;
    }
    this.status.show();
  }

  /** What the lines of a C file are those of, if not of the file as it is. */
  age(document, file) {
    if (file.kind !== 'compiled') return '';
    if (document.isDirty) return ' (as last saved)';
    return file.source && file.source.isOlder ? ' (the object file is older than the source)' : '';
  }

  provideCodeLenses(document) {
    const file = this.files.get(document.uri.toString());

    if (!file || !this.setting('codeLens', document)) return [];
    return file.loops.map(
      loop =>
        new vscode.CodeLens(new vscode.Range(loop.head, 0, loop.head, 0), {
          title: `${this.isAlone(file, loop) ? '' : `in ${loop.name}: `}${lensTitle(loop)}${this.age(document, file)}`,
          tooltip: 'Explain this loop',
          command: 'tact.explain',
          arguments: [document.uri, loop.key]
        })
    );
  }

  isAlone(file, loop) {
    return file.loops.filter(l => l.head === loop.head).length === 1;
  }

  provideHover(document, position) {
    const file = this.files.get(document.uri.toString());
    const loop = file && loopAt(file.loops, position.line);

    if (!loop) return null;
    const text = new vscode.MarkdownString(
      hoverText(loop, position.line) + this.age(document, file)
    );

    return new vscode.Hover(text);
  }

  /* ---- commands ---- */

  async explain(uri, key) {
    const editor = vscode.window.activeTextEditor;
    const document = uri ? await vscode.workspace.openTextDocument(uri) : editor && editor.document;
    let file = document && this.files.get(document.uri.toString());

    if (!document || !kindOf(document)) {
      vscode.window.showInformationMessage('tact: this takes a file of assembly, C or C++');
      return;
    }
    if (!file || !file.source || file.failure || file.kind === 'assembly')
      file = await this.analyse(document);
    if (file.failure) {
      await this.complain(file.failure);
      return;
    }
    const loop = key
      ? file.loops.find(l => l.key === key)
      : editor && loopAt(file.loops, editor.selection.active.line);

    if (!loop) {
      vscode.window.showInformationMessage(
        `tact: there is no loop at the cursor; this file has ${
          file.loops.length || 'none'
        }${this.age(document, file)}`
      );
      return;
    }
    await this.explainLoop(document, file, loop);
  }

  async explainLoop(document, file, loop) {
    try {
      const answer = await this.service.ask('predict', {
        ...file.source.request,
        ...this.options(document),
        ...(loop.loop && { loop: loop.loop }),
        explain: 'all',
        advice: true
      });
      const results = loop.loop
        ? answer.results
        : answer.results.filter(r => keyOf(r) === loop.key);

      this.showPanel(
        `${path.basename(document.uri.path)}:${loop.first + 1}${loop.function ? `, ${loop.function}` : ''}`,
        results
      );
    } catch (e) {
      await this.complain(asFailure(e));
    }
  }

  showPanel(title, results) {
    if (!this.panel) {
      this.panel = vscode.window.createWebviewPanel(
        'tact.explanation',
        title,
        { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
        { enableScripts: false, localResourceRoots: [] }
      );
      this.panel.onDidDispose(() => {
        this.panel = null;
      });
    } else {
      this.panel.reveal(undefined, true);
    }
    this.panel.title = title;
    this.panel.webview.html = panelHtml(title, results, crypto.randomBytes(16).toString('hex'));
  }

  async refresh() {
    const editor = vscode.window.activeTextEditor;
    const file = editor && (await this.analyse(editor.document));

    if (!file)
      vscode.window.showInformationMessage('tact: this takes a file of assembly, C or C++');
    else if (file.failure) await this.complain(file.failure);
    else if (!file.loops.length)
      vscode.window.showInformationMessage('tact: this file has no loop');
  }

  async chooseCpus() {
    const editor = vscode.window.activeTextEditor;
    const chosen = this.setting('cpus', editor && editor.document) || [];

    try {
      const { results } = await this.service.ask('archs', {});
      const items = results
        .filter(r => r.kind === 'cpu')
        .map(r => ({
          label: r.name,
          description: r.full_name,
          picked: chosen.includes(r.name)
        }));
      // Names that tact knows, but does not list: of LLVM, of products.
      const others = chosen
        .filter(name => !items.some(i => i.label === name))
        .map(label => ({ label, description: 'from the settings', picked: true }));
      const picked = await vscode.window.showQuickPick([...others, ...items], {
        canPickMany: true,
        title: 'CPUs to predict for',
        matchOnDescription: true
      });

      if (picked)
        await vscode.workspace.getConfiguration('tact').update(
          'cpus',
          picked.map(i => i.label),
          vscode.workspace.workspaceFolders
            ? vscode.ConfigurationTarget.Workspace
            : vscode.ConfigurationTarget.Global
        );
    } catch (e) {
      await this.complain(asFailure(e));
    }
  }
}

/** An object file that a build made, and whether there is a newer one by now. */
function readObject(object, file) {
  let before;

  try {
    before = fs.statSync(object).mtimeMs;
    return {
      request: { file: fs.readFileSync(object).toString('base64') },
      from: object,
      isOlder: before < fs.statSync(file).mtimeMs,
      isOutdated: () => fs.existsSync(object) && fs.statSync(object).mtimeMs !== before
    };
  } catch (e) {
    throw new Failure(`the file of the setting tact.object cannot be read: ${e.message}`);
  }
}

function activate(context) {
  const tact = new Tact();
  const { commands, languages, window, workspace } = vscode;

  context.subscriptions.push(
    tact,
    languages.registerCodeLensProvider(SELECTOR, tact),
    languages.registerHoverProvider(SELECTOR, tact),
    commands.registerCommand('tact.explain', (uri, key) =>
      tact.explain(typeof key === 'string' ? uri : undefined, key)
    ),
    commands.registerCommand('tact.refresh', () => tact.refresh()),
    commands.registerCommand('tact.chooseCpus', () => tact.chooseCpus()),
    commands.registerCommand('tact.restart', () => tact.again()),
    commands.registerCommand('tact.showLog', () => tact.log.show()),
    workspace.onDidSaveTextDocument(document => tact.saved(document)),
    workspace.onDidChangeTextDocument(event => tact.edited(event)),
    workspace.onDidCloseTextDocument(document => tact.closed(document)),
    workspace.onDidChangeConfiguration(event => event.affectsConfiguration('tact') && tact.again()),
    workspace.onDidGrantWorkspaceTrust(() => tact.again()),
    window.onDidChangeVisibleTextEditors(editors =>
      editors.forEach(editor => tact.opened(editor.document))
    ),
    window.onDidChangeActiveTextEditor(editor =>
      editor ? tact.opened(editor.document) : tact.showStatus()
    ),
    window.onDidChangeTextEditorSelection(() => tact.showStatus())
  );
  for (const editor of window.visibleTextEditors) tact.opened(editor.document);
  return tact;
}

function deactivate() {}

module.exports = { activate, deactivate };
