/* SPDX-License-Identifier: MIT
 * Below the cards: instructions with ports, the dependence graph, advice, information on one.
 */
'use strict';
/* global $, make, fixed, ask, state, onShow, plural, showTimeline, showModels, describe, root */
(function () {
const TABS = [['insns', 'Instructions'], ['graph', 'Dependences'], ['time', 'Timeline'],
  ['advice', 'Advice'], ['models', 'Models']];
const pane = $('pane');
const MORE = 'An instruction tells more when it is pointed at, or pressed.';

function heading(table, names) {
  const head = make(make(table, 'thead'), 'tr');
  names.forEach(function (n) {
    make(head, 'th', n[0], n[1] ? 'l' : '').scope = 'col';
  });
  return make(table, 'tbody');
}

/* The instructions of the chain that limits the block. */
function critical(r) {
  return new Set(r.chain ? r.chain.links.map(function (l) { return l.instruction; }) : []);
}

function portsOf(r) {
  const seen = new Set();
  r.instructions.forEach(function (x) {
    Object.keys(x.ports).forEach(function (p) { seen.add(+p); });
  });
  return Array.from(seen).sort(function (a, b) { return a - b; });
}

function showInsn(x, box) {
  const arch = state.results[state.at].arch;
  box.textContent = 'Looking up ' + x.text + ' \u2026';
  ask('insn', { hex: x.hex, archs: arch }).then(function (answer) {
    const f = answer.results[0];
    box.textContent = '';
    make(box, 'h3', x.text + (f.form ? ' \u2014 ' + f.form : ''));
    const table = make(box, 'table'), body = make(table, 'tbody');
    Object.keys(f).forEach(function (k) {
      const v = f[k];
      if (['schema', 'hex', 'status', 'instruction', 'form', 'arch'].includes(k) || v === null ||
          v === '' || (Array.isArray(v) && !v.length)) return;
      const tr = make(body, 'tr');
      make(tr, 'th', k.replace(/_/g, ' '), 'l').scope = 'row';
      make(tr, 'td', typeof v === 'object' ? brief(v) : String(v), 'l').style.whiteSpace = 'normal';
    });
  }).catch(function (e) { box.textContent = e.message; });
}

function brief(v) {
  if (Array.isArray(v)) return v.map(brief).join('; ');
  if (v && typeof v === 'object')
    return Object.keys(v).map(function (k) { return k.replace(/_/g, ' ') + ' ' + brief(v[k]); })
      .join(', ');
  return String(v);
}

function insns(r) {
  const ports = portsOf(r), hot = critical(r), table = make(pane, 'table');
  const divides = r.instructions.some(function (x) { return x.divider >= .005; });
  const body = heading(table, [['#', true], ['Instruction', true], ['Uops'], ['Issued']]
    .concat(ports.map(function (p) { return ['p' + p]; }), divides ? [['Divider']] : [],
      [['Notes', true]]));
  const box = make(pane, 'div');
  r.instructions.forEach(function (x, i) {
    const tr = make(body, 'tr', undefined, hot.has(i) ? 'critical' : '');
    make(tr, 'td', i + 1, 'l');
    const button = make(make(tr, 'td', undefined, 'l'), 'button');
    make(button, 'code', x.text);
    describe(button, x);
    button.addEventListener('click', function () { showInsn(x, box); });
    make(tr, 'td', x.uops);
    make(tr, 'td', x.issued);
    ports.forEach(function (p) {
      const v = x.ports[p] || 0, cell = make(tr, 'td', v >= .005 ? fixed(v) : '');
      if (v >= .005)
        cell.style.background = 'rgba(31,157,115,' + Math.min(.55, .1 + v / 3) + ')';
    });
    if (divides) make(tr, 'td', x.divider >= .005 ? fixed(x.divider) : '');
    make(tr, 'td', x.notes.join(', ').replace(/_/g, ' '), 'l');
  });
  make(pane, 'p', hot.size ? 'The mark at the left: instructions of the chain of dependences ' +
    'that limits the loop, ' + plural(r.chain.latency, 'cycle') + ' in ' +
    plural(r.chain.iterations, 'iteration') + '. ' + MORE :
    MORE, 'sub');
  (r.remarks || []).forEach(function (m) { make(pane, 'p', 'Remark: ' + m.text); });
  root.dataset.insns = r.instructions.length;
}

/* Asked for when the tab is opened: key is what to keep it under. */
function fetched(key, endpoint, more, show) {
  const r = state.results[state.at], request = Object.assign({}, state.request,
    { archs: r.arch }, more);
  if (state.details[key]) { show(state.details[key]); return; }
  const say = make(pane, 'p', 'Asking \u2026', 'sub'), details = state.details;
  ask(endpoint, request).then(function (answer) {
    details[key] = key === 'models' ? answer.results : answer.results[0];
    if (details !== state.details || state.tab !== key) return;
    pane.textContent = '';
    show(details[key]);
  }).catch(function (e) { say.textContent = e.message; });
}

function graph() {
  fetched('graph', 'predict', { graph: true }, function (r) {
    const image = make(pane, 'img', undefined, 'graph');
    image.alt = 'Dependence graph of ' + plural(r.instructions.length, 'instruction') +
      (r.chain ? '; its critical cycle: ' + r.chain.links.map(function (l) {
        return (l.instruction + 1) + ' by ' + l.to + ', ' + plural(l.latency, 'cycle');
      }).join('; ') : '; no cycle limits it');
    image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(r.graph || '');
    image.addEventListener('load', function () { root.dataset.graph = image.naturalWidth; });
    if (r.chain)
      make(pane, 'p', 'Red: the cycle of dependences that takes longest, ' +
        fixed(r.chain.cycles_per_iteration) + ' cycles per iteration.', 'sub');
  });
}

function advice() {
  fetched('advice', 'predict', { advice: true }, function (r) {
    if (!r.advice || !r.advice.length) make(pane, 'p', 'No change is known that would gain.');
    (r.advice || []).forEach(function (a) {
      const box = make(pane, 'div', undefined, 'advice');
      make(box, 'b', fixed(a.cycles_before) + ' \u2192 ' + fixed(a.cycles_after) + ' cycles: ');
      make(box, 'span', a.text);
      if (a.assumes) make(box, 'p', 'It assumes that ' + a.assumes + '.', 'sub');
      if (a.changes) make(box, 'pre', a.changes);
    });
    root.dataset.advice = (r.advice || []).length;
  });
}

function time() {
  fetched('time', 'simulate', Object.assign({ timeline: true, iterations: 8 },
    state.from === 'first' ? { from: 1 } : {}), showTimeline);
}
state.timeFrom = function (from) {
  state.from = from;
  delete state.details.time;
  show(state.results[state.at]);
};

function models() {
  const archs = state.results.filter(function (r) { return r.status === 'ok'; })
    .map(function (r) { return r.arch; });
  fetched('models', 'models', { archs: archs }, showModels);
}

const SHOW = { insns: insns, graph: graph, time: time, advice: advice, models: models };

function show(r) {
  $('details').hidden = !r || r.status !== 'ok';
  if ($('details').hidden) return;
  $('detailname').textContent = r.arch + ', ' + (r.mode === 'loop' ? 'as a loop' : 'unrolled') +
    ', ' + plural(r.instructions.length, 'instruction');
  pane.textContent = '';
  pane.setAttribute('aria-labelledby', 'tab-' + state.tab);
  SHOW[state.tab](r);
}

function select(name, focus) {
  state.tab = name;
  if (state.keepLink) state.keepLink();
  TABS.forEach(function (t) {
    const tab = $('tab-' + t[0]), on = t[0] === name;
    tab.setAttribute('aria-selected', on);
    tab.tabIndex = on ? 0 : -1;
    if (on && focus) tab.focus();
  });
  if (state.results.length) show(state.results[state.at]);
}

TABS.forEach(function (t, i) {
  const tab = make($('tabs'), 'button', t[1]);
  tab.type = 'button';
  tab.id = 'tab-' + t[0];
  tab.setAttribute('role', 'tab');
  tab.setAttribute('aria-controls', 'pane');
  tab.addEventListener('click', function () { select(t[0]); });
  tab.addEventListener('keydown', function (e) {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -i, End: TABS.length - 1 - i }[e.key];
    if (step !== undefined) select(TABS[(i + step + TABS.length) % TABS.length][0], true);
  });
});
onShow.push(show);
state.select = function (name) {
  select(TABS.some(function (t) { return t[0] === name; }) ? name : 'insns');
};
select('insns');
}());
