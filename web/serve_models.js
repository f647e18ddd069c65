/* SPDX-License-Identifier: MIT
 * Models side by side, and what the server's CPU says.
 */
'use strict';
/* global $, D, make, fixed, ask, state, root */
/* exported showModels */
const MODELS = [['facile', 'FACILE'], ['sim', 'Simulation'], ['mca', 'Plain machine'],
  ['llvm-mca', 'llvm-mca']];

/* Rows of tact.models/1 as a table of CPUs by models. */
function showModels(rows) {
  const pane = $('pane'), archs = Array.from(new Set(rows.map(function (r) { return r.arch; })));
  const models = MODELS.filter(function (m) {
    return rows.some(function (r) { return r.model === m[0] && r.status !== 'no_tool'; });
  });
  const table = make(pane, 'table'), head = make(make(table, 'thead'), 'tr');
  make(head, 'th', 'CPU', 'l').scope = 'col';
  models.forEach(function (m) { make(head, 'th', m[1]).scope = 'col'; });
  const body = make(table, 'tbody');
  archs.forEach(function (arch) {
    const tr = make(body, 'tr'), first = make(tr, 'th', arch, 'l');
    first.scope = 'row';
    models.forEach(function (m) {
      const r = rows.find(function (x) { return x.arch === arch && x.model === m[0]; });
      const td = make(tr, 'td', r && r.status === 'ok' ? fixed(r.cycles_per_iteration) : '\u2013');
      if (r && r.error) td.title = r.error;
    });
  });
  make(pane, 'p', 'Cycles per iteration. FACILE is what the cards show; the simulation goes ' +
    'cycle by cycle; the plain machine is that of llvm-mca with tact\u2019s data' +
    (models.length > 3 ? '; llvm-mca is the program that the server has: 100 iterations from an ' +
    'empty pipeline.' : '.'), 'sub');
  root.dataset.models = archs.length * models.length;
}

/* ---- measuring ---- */

(function () {
const text = $('measuredtext');
let asked = 0;

function tell(answer) {
  const r = answer.results[0], predicted = state.results.find(function (x) {
    return x.arch === D.measures;
  });
  text.textContent = '';
  if (r.status !== 'ok') {
    text.textContent = 'No number: ' + (r.reason || r.status.replace(/_/g, ' ')) + '.';
    return;
  }
  make(text, 'b', fixed(r.cycles_per_iteration));
  make(text, 'span', ' cycles per iteration on ' + D.measures + ', ' +
    (r.mode === 'loop' ? 'as a loop' : 'unrolled') + ', ' + r.kept + ' samples within ' +
    (100 * r.spread).toFixed(2) + '%' + (r.disturbed ? ', disturbed' : '') +
    (predicted && predicted.status === 'ok' ? '; predicted: ' +
      fixed(predicted.cycles_per_iteration) : '') + '.');
  root.dataset.measured = r.cycles_per_iteration;
}

function measure() {
  const request = Object.assign({}, state.request), mine = ++asked;
  text.textContent = 'Measuring \u2026';
  ask('measure', request).then(function (answer) {
    if (mine === asked) tell(answer);
  }).catch(function (e) { if (mine === asked) text.textContent = e.message; });
}

$('measured').hidden = !D.measures;
if (D.measures) {
  $('measure').textContent = 'Measure on ' + D.measures;
  $('measure').addEventListener('click', measure);
  state.onNew = function () {
    asked++;
    text.textContent = 'on the CPU of this server, in a sandbox';
  };
}
}());
