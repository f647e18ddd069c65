/* SPDX-License-Identifier: MIT
 * The page of tact serve: what its parts share, requests, and the cards of CPUs.
 */
'use strict';
/* global askHere */
/* exported NAMES, D, root, $, make, fixed, ask, state, showCards, say, plural, onShow */
const D = JSON.parse(document.getElementById('data').textContent);
const root = document.documentElement;
const $ = function (id) { return document.getElementById(id); };
/* What is shown: results by CPU, the chosen one, and its details by kind. */
const state = { request: null, results: [], at: 0, tab: 'insns', details: {}, controller: null,
  names: new Map(), from: 'first' };
const onShow = [];

function make(parent, tag, text, className) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (className) e.className = className;
  if (parent) parent.appendChild(e);
  return e;
}
function fixed(x) { return (x + 1e-9).toFixed(2); }
function plural(n, word) { return n + ' ' + word + (n === 1 ? '' : 's'); }

function say(text, isBad) {
  $('status').textContent = text;
  $('status').className = isBad ? 'bad' : '';
}

/* An answer of the service, or an Error whose text is for people. */
function accept(answer) {
  if (!answer.error) return answer;
  const rest = (answer.messages || []).slice(1).join('\n');
  throw new Error(answer.error + (rest ? '\n' + rest : ''));
}

/* Resolves with the answer, or rejects with such an Error. */
function ask(endpoint, body, signal) {
  if (D.is_static) return askHere(endpoint, body).then(accept);
  const headers = { 'Content-Type': 'application/json' };
  if ($('token').value) headers.Authorization = 'Bearer ' + $('token').value;
  return fetch('api/1/' + endpoint, { method: 'POST', headers: headers, signal: signal,
    body: JSON.stringify(body), credentials: 'omit', cache: 'no-store' })
    .then(function (r) { return r.json(); }, function (e) {
      if (e.name === 'AbortError') throw e;
      throw new Error('The service does not answer.');
    }).then(accept);
}

/* ---- cards ---- */

const NAMES = { predec: 'Predecoder', dec: 'Decoder', dsb: 'DSB', lsd: 'LSD', issue: 'Issue',
  ports: 'Ports', precedence: 'Dependencies', divider: 'Divider', stores: 'Stores',
  stack_sync: 'Stack sync', forwarding: 'Forwarding', blocked: 'Blocked loads',
  microcoded: 'Microcode', binding: 'Port binding', loads: 'Load buffer' };

function bars(card, r) {
  const list = Object.entries(r.bounds).filter(function (b) { return b[1] >= .005; })
    .sort(function (a, b) { return b[1] - a[1]; });
  const most = Math.max(r.cycles_per_iteration, list.length ? list[0][1] : 0);
  const box = make(card, 'div', undefined, 'bars');
  list.forEach(function (b) {
    const name = NAMES[b[0]] || b[0].replace(/_/g, ' ');
    make(box, 'b', name);
    const bar = make(make(box, 'span'), 'i', undefined,
      b[1] > .98 * r.cycles_per_iteration ? 'worst' : '');
    bar.style.width = Math.max(1, 100 * b[1] / most) + '%';
    make(box, 'span', fixed(b[1]));
  });
}

function showCard(r, i) {
  const card = make($('cards'), 'button', undefined, 'card');
  card.type = 'button';
  card.setAttribute('aria-pressed', i === state.at);
  const title = make(card, 'div', undefined, 'title');
  make(title, 'span', r.arch, 'cpu');
  make(title, 'span', state.names.get(r.arch) || '', 'name');
  if (r.status !== 'ok') {
    make(card, 'div', r.error || r.status, 'limits');
    return card;
  }
  const big = make(card, 'div', fixed(r.cycles_per_iteration) + (r.coverage < 1 ? '+' : ''), 'big');
  make(big, 'small', ' cycles per iteration');
  make(card, 'div', r.bottlenecks.join(', ') || 'no bottleneck', 'limits');
  if (r.confidence && r.confidence.low)
    make(card, 'div', '90% of such blocks: ' + fixed(r.confidence.low) + ' to ' +
      fixed(r.confidence.high), 'name').title = r.confidence.reason;
  else if (!r.verified)
    make(card, 'div', 'not verified on this CPU', 'name');
  bars(card, r);
  return card;
}

function choose(i) {
  state.at = i;
  state.details = {};
  Array.from($('cards').children).forEach(function (c, k) {
    c.setAttribute('aria-pressed', k === i);
  });
  onShow.forEach(function (f) { f(state.results[i]); });
}

function showCards(results) {
  const before = state.results[state.at], had = document.activeElement;
  const hadAt = Array.from($('cards').children).indexOf(had);
  state.results = results;
  state.at = Math.max(0, results.findIndex(function (r) {
    return before && r.arch === before.arch;
  }));
  $('cards').textContent = '';
  results.forEach(function (r, i) {
    showCard(r, i).addEventListener('click', function () { choose(i); });
  });
  if (hadAt >= 0 && $('cards').children[hadAt]) $('cards').children[hadAt].focus();
  $('cards').classList.toggle('many', results.length > 6);
  root.dataset.cards = results.length;
  if (results.length) choose(state.at);
}

/* ---- light and dark ---- */

function isDark() {
  const set = root.dataset.theme;
  return set ? set === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}
function setTheme() {
  $('theme').textContent = isDark() ? 'Light' : 'Dark';
  root.classList.toggle('dark', isDark());
}
$('theme').addEventListener('click', function () {
  root.dataset.theme = isDark() ? 'light' : 'dark';
  setTheme();
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', setTheme);
setTheme();
$('tokenbox').hidden = !D.needs_token;
