/* SPDX-License-Identifier: MIT
 * The code, the CPUs and the link to both; asks as one types.
 */
'use strict';
/* global $, D, EXAMPLES, make, ask, state, showCards, say, plural, root */
(function () {
const DELAY = 120; /* ms after a key */
const code = $('code'), cpus = [];
let timer = 0;

/* Hex digits in groups or not, and nothing else. */
function isHex(text) {
  return /^[0-9a-fA-F\s]+$/.test(text) && text.replace(/\s/g, '').length % 2 === 0;
}

function request() {
  const text = code.value, r = { mode: $('mode').value };
  if (isHex(text)) r.hex = text.split(/\n/).join(' ').trim();
  else { r.text = text; r.syntax = $('syntax').value; }
  return r;
}

/* ---- the link: everything is behind the #, which is not sent ---- */

function keepLink() {
  const p = new URLSearchParams({ code: code.value, cpus: cpus.join(','), mode: $('mode').value,
    syntax: $('syntax').value, tab: state.tab });
  history.replaceState(null, '', '#' + p.toString());
}

function readLink() {
  const p = new URLSearchParams(location.hash.slice(1));
  code.value = p.get('code') || EXAMPLES[0][D.is_static ? 2 : 1];
  state.paint(0);
  state.select(p.get('tab'));
  cpus.length = 0;
  (p.get('cpus') || 'SKL,ICL,ZEN4').split(',').forEach(function (c) {
    if (c && !cpus.includes(c)) cpus.push(c);
  });
  [['mode', 'auto'], ['syntax', 'auto']].forEach(function (f) {
    $(f[0]).value = p.get(f[0]) || f[1];
    if (!$(f[0]).value) $(f[0]).value = f[1];
  });
}

/* ---- asking ---- */

function evaluate() {
  const r = request(), start = performance.now();
  clearTimeout(timer);
  keepLink();
  if (state.controller) state.controller.abort();
  if (!code.value.trim() || !cpus.length) {
    say(cpus.length ? 'There is no code yet.' : 'Choose a CPU.');
    return;
  }
  state.controller = new AbortController();
  ask('predict', Object.assign({ archs: cpus }, r), state.controller.signal)
    .then(function (answer) {
      const blocks = new Set(answer.results.map(function (x) { return x.hex + x.loop; }));
      const first = answer.results[0];
      state.request = r;
      if (state.onNew) state.onNew();
      /* Of several loops, the first is shown in detail. */
      if (blocks.size > 1)
        state.request = Object.assign({}, r, first.loop ? { loop: first.loop } : { hex: first.hex,
          text: undefined, syntax: undefined });
      showCards(answer.results.filter(function (x) {
        return x.hex === first.hex && x.loop === first.loop;
      }));
      say(plural(cpus.length === 1 && cpus[0] !== 'all' ? 1 : answer.results.length, 'prediction') +
        ' in ' + Math.round(performance.now() - start) + ' ms' + (blocks.size > 1 ? '; of ' +
        blocks.size + ' blocks, the first is shown' : '') + answer.messages.map(function (m) {
        return '\n' + m;
      }).join(''));
      root.dataset.state = 'ready';
    }).catch(function (e) {
      if (e.name === 'AbortError') return;
      const line = /^standard input:(\d+):/.exec(e.message);
      say(e.message.replace(/^standard input:/, 'line '), true);
      state.paint(line ? +line[1] : 0);
      root.dataset.state = 'ready';
      root.dataset.message = e.message;
    });
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(evaluate, DELAY);
}

/* ---- CPUs ---- */

function showCpus() {
  $('chosen').textContent = '';
  cpus.forEach(function (c, i) {
    const button = make($('chosen'), 'button', c);
    button.type = 'button';
    button.setAttribute('aria-label', 'Remove ' + c);
    button.addEventListener('click', function () {
      cpus.splice(i, 1);
      showCpus();
      evaluate();
      ($('chosen').children[Math.min(i, cpus.length - 1)] || $('cpu')).focus();
    });
  });
}

function addCpu() {
  const name = $('cpu').value.trim();
  if (name && !cpus.includes(name)) cpus.push(name);
  $('cpu').value = '';
  showCpus();
  evaluate();
}

/* ---- files ---- */

function takeRegion(r, button) {
  Array.from($('regions').children).forEach(function (b) {
    b.setAttribute('aria-pressed', b === button);
  });
  code.value = r.hex.replace(/(..)/g, '$1 ').replace(/(.{48})/g, '$1\n').trim();
  state.paint(0);
  evaluate();
}

function showRegions(answer) {
  const box = $('regions');
  box.textContent = '';
  box.hidden = false;
  answer.results.forEach(function (r) {
    const button = make(box, 'button');
    button.type = 'button';
    make(button, 'b', (r.is_loop ? 'loop in ' : '') + (r.function || r.name || 'code'));
    make(button, 'span', ' at 0x' + r.address.toString(16) + ', ' +
      plural(r.instructions, 'instruction') + (r.source ? ', ' + r.source : ''), 'sub');
    button.addEventListener('click', function () { takeRegion(r, button); });
  });
  root.dataset.regions = answer.results.length;
  const loop = answer.results.findIndex(function (r) { return r.is_loop; });
  if (answer.results.length)
    takeRegion(answer.results[Math.max(0, loop)], box.children[Math.max(0, loop)]);
}

function readFile(file) {
  const reader = new FileReader();
  if (!file) return;
  reader.addEventListener('load', function () {
    const data = reader.result, base64 = data.slice(data.indexOf(',') + 1);
    say('Reading ' + file.name + ' \u2026');
    ask('code', { file: base64 }).then(showRegions).catch(function (e) { say(e.message, true); });
  });
  reader.readAsDataURL(file);
}

/* ---- */

code.addEventListener('input', later);
code.addEventListener('keydown', function (e) {
  if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) evaluate();
});
['syntax', 'mode'].forEach(function (id) { $(id).addEventListener('change', evaluate); });
$('token').addEventListener('change', evaluate);
$('add').addEventListener('click', addCpu);
$('cpu').addEventListener('keydown', function (e) { if (e.key === 'Enter') addCpu(); });
$('all').addEventListener('click', function () {
  cpus.splice(0, cpus.length, 'all');
  showCpus();
  evaluate();
});
$('file').addEventListener('change', function () { readFile($('file').files[0]); });
['dragover', 'dragleave', 'drop'].forEach(function (name) {
  $('input').addEventListener(name, function (e) {
    if (!e.dataTransfer || !e.dataTransfer.types.includes('Files')) return;
    e.preventDefault();
    $('input').classList.toggle('over', name === 'dragover');
    if (name === 'drop') readFile(e.dataTransfer.files[0]);
  });
});
$('link').addEventListener('click', function () {
  keepLink();
  if (navigator.clipboard)
    navigator.clipboard.writeText(location.href).then(function () { say('Copied.'); },
      function () { say('The link is in the address bar.'); });
  else say('The link is in the address bar.');
});
window.addEventListener('hashchange', function () { readLink(); showCpus(); evaluate(); });
EXAMPLES.forEach(function (e, i) { make($('example'), 'option', e[0]).value = i; });
$('example').addEventListener('change', function () {
  if ($('example').value === '') return;
  code.value = EXAMPLES[+$('example').value][D.is_static ? 2 : 1];
  $('example').value = '';
  $('regions').hidden = true;
  state.paint(0);
  evaluate();
});
$('codehelp').textContent = (D.is_static ? 'Hex digits, or a listing with bytes as objdump -d ' +
  'prints it; there is no assembler here.' : 'Assembly text in AT&T or Intel syntax, or that of ' +
  'the CPU; a listing; hex digits; or drop an object file here.') +
  ' Ctrl with Enter asks at once.';
$('cpuhelp').textContent = 'SKL, skylake, i7-8700K' + (D.is_static ? '.' :
  '; neoverse-v2 or sifive-p670 if LLVM is there.');
$('filebox').hidden = $('syntaxbox').hidden = !!D.is_static;
ask('archs', {}).then(function (answer) {
  answer.results.forEach(function (a) {
    make($('cpus'), 'option', a.full_name).value = a.name;
    state.names.set(a.name, a.full_name);
  });
  document.querySelectorAll('.card .title').forEach(function (t) {
    t.lastChild.textContent = state.names.get(t.firstChild.textContent) || '';
  });
}).catch(function () { /* the names are a help only */ });
root.dataset.version = D.version;
readLink();
state.keepLink = keepLink;
showCpus();
evaluate();
}());
