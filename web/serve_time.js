/* SPDX-License-Identifier: MIT
 * The timeline: a row per uop, a bar per phase, and why it waited.
 */
'use strict';
/* global $, NAMES, make, plural, describe, state, root */
/* exported showTimeline */
const PHASES = [['idq', 'waits to be issued', 'delivered', 'issued'],
  ['wait', 'waits for an operand', 'issued', 'ready'],
  ['port', 'waits for a port', 'ready', 'dispatched'],
  ['exec', 'executes', 'dispatched', 'executed'],
  ['retire', 'waits to retire', 'executed', 'retired']];

const ISSUE = { issue: 'waited for older uops to be issued',
  rob: 'waited for room in the reorder buffer', rs: 'waited for room in the scheduler',
  serialize: 'waited for a serializing instruction' };

/* Sentences about a uop. */
function reasonsOf(u, insns) {
  const list = [];
  const waited = function (from, to) { return u[to] >= 0 && u[from] >= 0 && u[to] > u[from]; };
  if (u.front_wait) list.push('came late because of the ' + (NAMES[u.front_wait] ||
    u.front_wait.replace(/_/g, ' ')));
  if (u.issue_wait) list.push(ISSUE[u.issue_wait] || 'waited to be issued: ' + u.issue_wait);
  if (u.operand_wait && waited('issued', 'ready'))
    list.push('waited ' + plural(u.ready - u.issued, 'cycle') + ' for ' +
      (u.operand_wait === 'store' ? 'the data of a store' : 'an operand') +
      (u.waits_for === undefined ? '' : ' of ' + (u.waits_for + 1) + ': ' +
        insns[u.waits_for].text));
  if (u.port_wait && waited('ready', 'dispatched'))
    list.push('waited ' + plural(u.dispatched - u.ready, 'cycle') + ' for the ' + u.port_wait);
  if (waited('executed', 'retired'))
    list.push('retired ' + plural(u.retired - u.executed, 'cycle') + ' after its result');
  return list;
}

function firstOf(u) {
  return Math.min.apply(null, [u.delivered, u.issued, u.dispatched, u.executed, u.retired]
    .filter(function (c) { return c !== undefined && c >= 0; }));
}

function showTimeline(r) {
  const pane = $('pane'), uops = r.timeline || [], insns = r.instructions;
  const tools = make(pane, 'div', undefined, 'tools');
  if (r.status !== 'ok' || !uops.length) {
    make(pane, 'p', r.error || 'There is no timeline.');
    return;
  }
  const begin = uops.reduce(function (m, u) { return Math.min(m, firstOf(u)); }, Infinity);
  const end = uops.reduce(function (m, u) { return Math.max(m, u.retired); }, 0);
  let px = Math.max(2, Math.min(16, (pane.clientWidth - 290) / (end - begin + 1))), at = 0;
  const search = make(tools, 'input');
  search.placeholder = 'search';
  search.setAttribute('aria-label', 'Search instructions of the timeline');
  const buttons = [['\u2212', 'Zoom out', 1 / 1.4], ['+', 'Zoom in', 1.4]].map(function (b) {
    const button = make(tools, 'button', b[0]);
    button.setAttribute('aria-label', b[1]);
    button.addEventListener('click', function () { zoom(b[2]); });
    return button;
  });
  const from = make(tools, 'select');
  from.setAttribute('aria-label', 'Which iterations');
  [['first', 'first iterations'], ['steady', 'steady state']].forEach(function (f) {
    make(from, 'option', f[1]).value = f[0];
  });
  from.value = state.from;
  from.addEventListener('change', function () {
    state.timeFrom(from.value);
    state.focusTime = true;
  });
  PHASES.forEach(function (p) {
    const key = make(tools, 'span', undefined, 'key');
    make(key, 'i', undefined, p[0]);
    make(key, 'span', p[1]);
  });
  const why = make(pane, 'p');
  why.id = 'why';
  why.setAttribute('role', 'status');
  why.setAttribute('aria-live', 'polite');
  const box = make(pane, 'div');
  box.id = 'time';
  box.tabIndex = 0;
  box.setAttribute('role', 'application');
  box.setAttribute('aria-label', 'Timeline of uops: arrow keys choose one, plus and minus zoom');
  const axis = make(make(box, 'div', undefined, 'axis'), 'span', 'cycle', 'label').parentNode;
  const ticks = make(axis, 'span', undefined, 'lane');
  const rows = uops.map(function (u, i) {
    const row = make(box, 'div', undefined, 'uop' + (i && u.iteration !== uops[i - 1].iteration ?
      ' begin' : ''));
    const insn = insns[u.instruction];
    const label = make(row, 'span', (u.iteration + 1) + '.' + (u.instruction + 1) + ' ' + insn.text,
      'label');
    const lane = make(row, 'span', undefined, 'lane');
    row.bars = [];
    PHASES.forEach(function (p) {
      const from = u[p[2]], to = u[p[3]];
      if (from === undefined || to === undefined || from < 0 || to <= from) return;
      row.bars.push([make(lane, 'i', undefined, p[0]), from - begin, to - from]);
    });
    row.lane = lane;
    row.addEventListener('click', function () { choose(i); });
    row.addEventListener('mouseenter', function () { tell(i); });
    describe(label, insn);
    return row;
  });

  function tell(i) {
    const u = uops[i], list = reasonsOf(u, insns);
    why.textContent = 'Iteration ' + (u.iteration + 1) + ', ' + insns[u.instruction].text +
      (u.port >= 0 ? ', port ' + u.port : '') + ', cycles ' + (firstOf(u) - begin) + ' to ' +
      (u.retired - begin) + ': ' + (list.join('; ') || 'it waited for nothing') + '.';
  }
  function choose(i) {
    rows[at].classList.remove('on');
    at = Math.max(0, Math.min(rows.length - 1, i));
    rows[at].classList.add('on');
    const y = rows[at].offsetTop;
    if (y - 18 < box.scrollTop) box.scrollTop = y - 18;
    if (y + 20 > box.scrollTop + box.clientHeight) box.scrollTop = y + 20 - box.clientHeight;
    tell(at);
  }
  /* Numbers of cycles, as many as there is room for. */
  function drawAxis() {
    const step = [5, 10, 20, 50, 100, 200, 500, 1000].find(function (n) { return n * px >= 36; });
    ticks.textContent = '';
    ticks.style.width = (end - begin + 1) * px + 'px';
    for (let c = 0; c <= end - begin; c += step || 2000)
      make(ticks, 'b', c).style.left = c * px + 'px';
  }
  function draw() {
    box.style.setProperty('--px', px);
    drawAxis();
    rows.forEach(function (row) {
      row.lane.style.width = (end - begin + 1) * px + 'px';
      row.bars.forEach(function (b) {
        b[0].style.left = b[1] * px + 'px';
        b[0].style.width = Math.max(2, b[2] * px - 1) + 'px';
      });
    });
  }
  function zoom(factor) {
    const before = px;
    px = Math.max(1, Math.min(40, px * factor));
    draw();
    box.scrollLeft *= px / before;
  }
  search.addEventListener('input', function () {
    const word = search.value.toLowerCase();
    let first = -1;
    rows.forEach(function (row, i) {
      const hit = insns[uops[i].instruction].text.toLowerCase().includes(word);
      row.classList.toggle('miss', !hit);
      if (hit && first < 0) first = i;
    });
    if (first >= 0) choose(first);
  });
  box.addEventListener('keydown', function (e) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: insns.length, PageUp: -insns.length,
      Home: -rows.length, End: rows.length }[e.key];
    if (step) choose(at + step);
    else if (e.key === '+' || e.key === '=') zoom(1.4);
    else if (e.key === '-') zoom(1 / 1.4);
    else if (e.key === 'ArrowLeft' || e.key === 'ArrowRight')
      box.scrollLeft += e.key === 'ArrowLeft' ? -40 : 40;
    else return;
    e.preventDefault();
  });
  draw();
  choose(0);
  if (state.focusTime) from.focus();
  state.focusTime = false;
  root.dataset.uops = rows.length;
  root.dataset.zoom = buttons.length;
}
