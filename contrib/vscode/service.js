// SPDX-License-Identifier: MIT
//
// Requests to a service of tact: one that runs already, or one of our own.
'use strict';

const childProcess = require('child_process');
const fs = require('fs');
const http = require('http');
const https = require('https');

const START_MS = 20000;
const ANSWER_MS = 60000;
// A service of our own answers one person: whole programs may come.
const LIMITS = [
  '--max-body=131072',
  '--max-blocks=20000',
  '--max-instructions=2000000',
  '--max-answer=512',
  '--timeout=50'
];

/** What went wrong, in words for people. `status` is that of the answer; 0: there was none. */
class Failure extends Error {
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

function startFailure(path, error) {
  if (error.code === 'ENOENT')
    return new Failure(
      `'${path}' is not there: install tact, or say in the setting tact.path where it is`
    );
  if (error.code === 'EACCES')
    return new Failure(`'${path}' may not be run: see the setting tact.path`);
  return new Failure(`'${path}' does not start: ${error.message}`);
}

/** Starts `tact serve`; resolves to its address and the process. */
function start(path, log) {
  return new Promise((resolve, reject) => {
    const child = childProcess.spawn(
      path,
      ['serve', '--port=0', '--until-eof', '--jobs=2', ...LIMITS],
      { stdio: ['pipe', 'ignore', 'pipe'] }
    );
    let said = '';
    const timer = setTimeout(() => {
      child.kill();
      reject(new Failure(`'${path} serve' does not say where it serves: ${said.trim()}`));
    }, START_MS);

    // Its input stays open, and ends with us however we end: then it ends, too.
    child.stdin.on('error', () => {});
    child.stderr.setEncoding('utf8');
    child.stderr.on('data', text => {
      said = (said + text).slice(-4000);
      log(text.trimEnd());
      const m = /serving at (http:\S+?)\/?\s/.exec(said);
      if (m) {
        clearTimeout(timer);
        resolve({ url: m[1], child });
      }
    });
    child.on('error', error => {
      clearTimeout(timer);
      reject(startFailure(path, error));
    });
    child.on('exit', (code, signal) => {
      clearTimeout(timer);
      const words = said
        .trim()
        .split('\n')
        .slice(-3)
        .join('; ')
        .replace(/^tact: /, '');
      const old = /unknown option|until-eof|not a command/.test(said);

      reject(
        new Failure(
          old
            ? `'${path}' is too old for this extension: ${words}`
            : words || `'${path} serve' ended (${signal || code})`
        )
      );
    });
  });
}

/** One request; resolves to status and body. */
function post(url, token, body) {
  return new Promise((resolve, reject) => {
    let parts;

    try {
      parts = new URL(url);
    } catch (e) {
      reject(new Failure(`'${url}' is no address: see the setting tact.server`));
      return;
    }
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body)
    };
    if (token) headers.Authorization = 'Bearer ' + token;
    const request = (parts.protocol === 'https:' ? https : http).request(
      parts,
      { method: 'POST', headers },
      reply => {
        const chunks = [];

        reply.on('data', chunk => chunks.push(chunk));
        reply.on('error', reject);
        reply.on('end', () =>
          resolve({
            status: reply.statusCode,
            body: Buffer.concat(chunks).toString('utf8')
          })
        );
      }
    );
    request.setTimeout(ANSWER_MS, () =>
      request.destroy(new Failure(`${parts.origin} takes too long to answer`))
    );
    request.on('error', error =>
      reject(
        error instanceof Failure
          ? error
          : new Failure(`${parts.origin} does not answer (${error.code || error.message})`)
      )
    );
    request.end(body);
  });
}

function readAnswer(url, reply) {
  let answer;

  try {
    answer = JSON.parse(reply.body);
  } catch (e) {
    throw new Failure(
      `${new URL(url).origin} is no service of tact (status ${reply.status})`,
      reply.status
    );
  }
  if (reply.status === 200 && answer && Array.isArray(answer.results)) return answer;
  const why = answer && answer.error ? String(answer.error) : `status ${reply.status}`;
  if (reply.status === 401)
    throw new Failure(`the service wants its token: see the setting tact.tokenFile (${why})`, 401);
  if (/takes no field/.test(why))
    throw new Failure(`the service is too old for this extension: ${why}`, reply.status);
  throw new Failure(why, reply.status);
}

class Service {
  /** settings(): {path, server, tokenFile}, asked for each time; log(text). */
  constructor(settings, log) {
    this.settings = settings;
    this.log = log;
    this.starting = null; // a promise of our own service
    this.path = '';
  }

  own(path) {
    if (this.starting && this.path !== path) this.stop();
    if (!this.starting) {
      this.path = path;
      const starting = start(path, this.log);

      this.starting = starting;
      // Once it has ended, or could not start, the next request starts another one.
      const forget = () => {
        if (this.starting === starting) this.starting = null;
      };
      starting.then(own => own.child.on('exit', forget), forget);
    }
    return this.starting;
  }

  /** Resolves to the answer of an address such as 'predict'; rejects with a Failure. */
  async ask(endpoint, request) {
    const s = this.settings();
    const base = s.server ? s.server.replace(/\/+$/, '') : (await this.own(s.path || 'tact')).url;
    const url = `${base}/api/1/${endpoint}`;
    const begin = Date.now();
    const reply = await post(
      url,
      s.server && s.tokenFile ? readToken(s.tokenFile) : '',
      JSON.stringify(request)
    );

    this.log(`${endpoint}: status ${reply.status}, ${Date.now() - begin} ms`);
    return readAnswer(url, reply);
  }

  stop() {
    const starting = this.starting;

    this.starting = null;
    if (starting)
      starting.then(
        own => own.child.kill(),
        () => {}
      );
  }
}

function readToken(path) {
  try {
    return fs.readFileSync(path, 'utf8').trim();
  } catch (e) {
    throw new Failure(`the file of tact.tokenFile cannot be read: ${e.message}`);
  }
}

module.exports = { Failure, Service };
