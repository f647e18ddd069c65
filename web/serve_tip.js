/* SPDX-License-Identifier: MIT
 * What is known of an instruction, beside the pointer or the focus.
 */
'use strict';
/* global $, make, ask, state */
/* exported describe */
const describe = (function () {
const DELAY = 150; /* ms */
const tip = $('tip'), known = new Map();
let timer = 0, shown = null;

/* Resolves with what tact.insn/1 says; each is asked for once. */
function lookUp(hex, arch) {
  const key = arch + ' ' + hex;
  if (!known.has(key)) {
    known.set(key, ask('insn', { hex: hex, archs: arch }).then(function (answer) {
      return answer.results[0];
    }));
    known.get(key).catch(function () { known.delete(key); });
  }
  return known.get(key);
}

function hide() {
  clearTimeout(timer);
  tip.hidden = true;
  if (shown) shown.removeAttribute('aria-describedby');
  shown = null;
}

function latencyOf(f) {
  if (f.latency_min_cycles === undefined || f.latency_min_cycles === null) return '';
  return f.latency_min_cycles === f.latency_max_cycles ? f.latency_min_cycles + ' cycles' :
    f.latency_min_cycles + ' to ' + f.latency_max_cycles + ' cycles';
}

function rowsOf(f) {
  return [['Uops', f.uops], ['Ports', f.ports], ['Latency', latencyOf(f)],
    ['Latencies', f.latencies], ['Throughput', f.throughput_cycles === undefined ||
      f.throughput_cycles === null ? '' : f.throughput_cycles.toFixed(2) + ' cycles'],
    ['Fuses with', f.fuses_with], ['Eliminated', f.eliminated ? 'yes' : ''],
    ['Breaks a dependence', f.breaks_dependence ? 'yes' : ''], ['Source', f.source]]
    .filter(function (r) { return r[1] !== undefined && r[1] !== null && r[1] !== ''; });
}

function place(e) {
  const r = e.getBoundingClientRect(), w = tip.offsetWidth, h = tip.offsetHeight;
  const most = document.documentElement.clientWidth - w - 8, below = r.bottom + 6;
  tip.style.left = Math.max(4, Math.min(r.left + 12, most)) + 'px';
  tip.style.top = (below + h < innerHeight ? below : Math.max(4, r.top - h - 6)) + 'px';
}

function show(e, insn, arch) {
  shown = e;
  lookUp(insn.hex, arch).then(function (f) {
    if (shown !== e) return;
    tip.textContent = '';
    make(tip, 'b', f.form || insn.text);
    make(tip, 'div', 'on ' + arch, 'sub');
    const table = make(tip, 'table'), body = make(table, 'tbody');
    rowsOf(f).forEach(function (row) {
      const tr = make(body, 'tr');
      make(tr, 'th', row[0]).scope = 'row';
      make(tr, 'td', row[1]);
    });
    tip.hidden = false;
    place(e);
    e.setAttribute('aria-describedby', 'tip');
  }).catch(function () { /* a click says why */ });
}

function soon(e, insn) {
  hide();
  const arch = state.results[state.at].arch;
  timer = setTimeout(function () { show(e, insn, arch); }, DELAY);
}

document.addEventListener('keydown', function (e) { if (e.key === 'Escape') hide(); });
document.addEventListener('scroll', function () { if (shown && !tip.hidden) place(shown); }, true);

/* Shows what is known of the instruction when the element is pointed at, or has the focus. */
return function (element, insn) {
  element.addEventListener('mouseenter', function () { soon(element, insn); });
  element.addEventListener('mouseleave', hide);
  element.addEventListener('focus', function () { soon(element, insn); });
  element.addEventListener('blur', hide);
};
}());
