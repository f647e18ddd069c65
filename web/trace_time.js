/* SPDX-License-Identifier: MIT
 * The timeline of a run, and the pipeline at moments that were recorded.
 */
'use strict';
/* global D, root, $, make, clear, count, ratio, str, brief, redraws, isDark, color, hideTip,
   showTip, plain, CALLS, NODE_OF */
(function () {
const canvas = $('time'), say = $('timetools').querySelector('.say');
const TRACKS = [['IPC', 64], ['Misses per 1000 instructions', 46], ['Mispredictions per 1000', 34]];
const LEVELS = ['#3b82c4', '#e0a100', '#d9534f'];
const ROW = 15, DEPTH = 14, AXIS = 20, LABEL = 15, GAP = 4;
let thread = 0, from = 0, to = 1, drag = null, chosen = -1;
const threads = D.slices.filter(function (s) { return s.at.length > 1; });

function points() { return threads[thread].at; }
function end() { const p = points(); return p[p.length - 1][0]; }
function views() {
  return D.views.map(function (v, i) { return [v, i]; }).filter(function (v) {
    return v[0].thread === threads[thread].thread && v[0].uops.length > 10;
  });
}
function stackOf(call) {
  const list = [];
  let i = NODE_OF.has(call) ? NODE_OF.get(call) : -1;
  for (; i >= 0; i = CALLS[i].parent) list.unshift(i);
  return list;
}
/* Sums between two cycles, from the samples around them. */
function indexAt(cycle) {
  const p = points();
  let low = 0, high = p.length - 1;
  while (high - low > 1) {
    const middle = low + high >> 1;
    if (p[middle][0] <= cycle) low = middle; else high = middle;
  }
  return low;
}
function values(a, b) {
  const p = points(), i = indexAt(a), k = Math.min(p.length - 1, Math.max(i + 1, indexAt(b)));
  const d = function (c) { return p[k][c] - p[i][c]; };
  return { ipc: ratio(d(1), d(0)), misses: [2, 3, 4].map(function (c) {
    return 1000 * ratio(d(c), d(1)); }), mistakes: 1000 * ratio(d(5), d(1)), call: p[i][6],
    instructions: d(1), cycles: d(0) };
}
function stackTop() {
  return LABEL + TRACKS.reduce(function (y, t, i) {
    return y + (i === 1 && !D.caches || i === 2 && !D.branches ? 0 : t[1] + LABEL);
  }, 0);
}
/* The callers that all samples share say nothing. */
function common() {
  let list = null;
  points().forEach(function (p) {
    const s = stackOf(p[6]);
    if (!s.length) return;
    if (!list) { list = s; return; }
    let n = 0;
    while (n < list.length && n < s.length && list[n] === s[n]) n++;
    list = list.slice(0, n);
  });
  return list ? Math.max(0, list.length - 1) : 0;
}
function depth(skip) {
  const most = points().reduce(function (m, p) {
    return Math.max(m, stackOf(p[6]).length - skip);
  }, 0);
  return Math.max(1, Math.min(DEPTH, most));
}
function maximum(of) {
  let m = 0;
  for (let i = 0; i < 200; i++) {
    const a = from + (to - from) * i / 200;
    m = Math.max(m, of(values(a, a + (to - from) / 200)));
  }
  return m || 1;
}
function drawTrack(g, width, y, height, most, of, fill, isLine) {
  g.fillStyle = g.strokeStyle = fill;
  g.lineWidth = 1.4;
  g.beginPath();
  for (let x = 0; x < width; x++) {
    const a = from + (to - from) * x / width;
    const h = height * Math.min(1, of(values(a, a + (to - from) / width)) / most);
    if (!isLine) g.rect(x, y + height - h, 1, h);
    else if (x) g.lineTo(x, y + height - h); else g.moveTo(x, y + height - h);
  }
  if (isLine) g.stroke(); else g.fill();
}
function draw() {
  const box = canvas.getBoundingClientRect(), width = Math.max(200, Math.floor(box.width));
  const skip = common(), top = stackTop();
  const height = top + AXIS + (CALLS.length ? (depth(skip) + 1) * ROW + GAP + 4 : 0);
  const scale = devicePixelRatio || 1, g = canvas.getContext('2d');
  canvas.style.height = height + 'px';
  canvas.width = width * scale;
  canvas.height = height * scale;
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.fillStyle = color('--paper');
  g.fillRect(0, 0, width, height);
  g.font = '11px system-ui, Liberation Sans, Arial, sans-serif';
  let y = 0;
  const title = function (text) {
    g.fillStyle = color('--soft');
    g.fillText(text, 4, y + 11);
    y += LABEL;
  };
  const most = Math.max(1, maximum(function (v) { return v.ipc; }));
  title('Instructions per cycle, up to ' + most.toFixed(1));
  drawTrack(g, width, y, TRACKS[0][1], most, function (v) { return v.ipc; }, color('--bar'));
  y += TRACKS[0][1];
  if (D.caches) {
    const m = maximum(function (v) { return v.misses[0]; });
    title('Misses per 1000 instructions, up to ' + m.toFixed(1) + ': L1 blue, L2 yellow, L3 red');
    [0, 1, 2].forEach(function (k) {
      drawTrack(g, width, y, TRACKS[1][1], m, function (v) { return v.misses[k]; }, LEVELS[k],
        true);
    });
    y += TRACKS[1][1];
  }
  if (D.branches) {
    const m = maximum(function (v) { return v.mistakes; });
    title('Mispredicted branches per 1000 instructions, up to ' + m.toFixed(1));
    drawTrack(g, width, y, TRACKS[2][1], m, function (v) { return v.mistakes; }, color('--hot'));
    y += TRACKS[2][1];
  }
  title('');
  drawStacks(g, width, top, skip);
  drawMarks(g, width, top);
  drawAxis(g, width, height);
  if (drag) {
    g.fillStyle = isDark() ? '#ffffff30' : '#00000022';
    g.fillRect(Math.min(drag.x, drag.at), 0, Math.abs(drag.at - drag.x), height);
  }
  say.textContent = from > 0 || to < end() ? 'cycles ' + count(from) + ' to ' + count(to) + ' of ' +
    count(end()) : count(end()) + ' cycles';
  root.dataset.from = from;
  root.dataset.to = to;
}
function drawStacks(g, width, top, skip) {
  const last = [];
  const flush = function (d, x) {
    if (!last[d] || last[d].i < 0) return;
    const n = CALLS[last[d].i], w = x - last[d].x;
    g.fillStyle = plain(n);
    const y = top + d * ROW + (d ? GAP : 0);
    g.fillRect(last[d].x, y, Math.max(1, w - (w > 3 ? .5 : 0)), ROW - 1);
    if (w < 30) return;
    g.save();
    g.beginPath();
    g.rect(last[d].x, y, w - 2, ROW);
    g.clip();
    g.fillStyle = '#14202c';
    g.fillText(brief(n.name), last[d].x + 3, y + 11);
    g.restore();
  };
  for (let x = 0; x <= width; x++) {
    const whole = x === width ? [] : stackOf(values(from + (to - from) * x / width,
      from + (to - from) * (x + 1) / width).call);
    const list = whole.slice(-1).concat(whole.slice(skip, skip + DEPTH));
    for (let d = 0; d <= DEPTH; d++) {
      const i = d < list.length ? list[d] : -1;
      if (last[d] && last[d].i === i && x < width) continue;
      flush(d, x);
      last[d] = { i: i, x: x };
    }
  }
}
function xOf(cycle, width) { return width * (cycle - from) / (to - from); }
function drawMarks(g, width, top) {
  views().forEach(function (v) {
    const x = xOf(v[0].at, width);
    g.fillStyle = v[1] === chosen ? color('--hot') : color('--ink');
    g.beginPath();
    g.moveTo(x, top - 2);
    g.lineTo(x - 5, top - 11);
    g.lineTo(x + 5, top - 11);
    g.fill();
  });
}
function drawAxis(g, width, height) {
  const n = width < 500 ? 3 : 6;
  g.fillStyle = color('--soft');
  for (let i = 0; i <= n; i++) {
    const x = width * i / n, text = count(from + (to - from) * i / n);
    g.textAlign = i === 0 ? 'left' : i === n ? 'right' : 'center';
    g.fillText(text, i === 0 ? 3 : i === n ? width - 3 : x, height - 6);
  }
  g.textAlign = 'left';
}

/* ---- moving ---- */

function show(a, b) {
  const least = Math.max(10, end() / 2000);
  if (b - a < least) { const m = (a + b) / 2; a = m - least / 2; b = m + least / 2; }
  if (a < 0) { b -= a; a = 0; }
  if (b > end()) { a = Math.max(0, a - (b - end())); b = end(); }
  from = a;
  to = b;
  draw();
}
function zoom(by, at) {
  const m = at === undefined ? (from + to) / 2 : at;
  show(m - (m - from) / by, m + (to - m) / by);
}
function cycleAt(e) {
  const box = canvas.getBoundingClientRect();
  return from + (to - from) * (e.clientX - box.left) / box.width;
}
function listen() {
  canvas.addEventListener('wheel', function (e) {
    if (!e.ctrlKey && !e.shiftKey && document.activeElement !== canvas) return;
    e.preventDefault();
    zoom(Math.exp(-e.deltaY / 300), cycleAt(e));
  }, { passive: false });
  canvas.addEventListener('pointerdown', function (e) {
    const x = e.clientX - canvas.getBoundingClientRect().left;
    drag = { x: x, at: x, from: cycleAt(e) };
    canvas.setPointerCapture(e.pointerId);
  });
  canvas.addEventListener('pointermove', function (e) {
    const box = canvas.getBoundingClientRect(), a = cycleAt(e);
    if (drag) { drag.at = e.clientX - box.left; hideTip(); draw(); return; }
    const v = values(a, a + (to - from) / box.width), rows = [['IPC', v.ipc.toFixed(2)]];
    if (D.caches) v.misses.forEach(function (m, i) {
      rows.push(['L' + (i + 1) + ' misses', m.toFixed(2)]); });
    if (D.branches) rows.push(['mispredicted', v.mistakes.toFixed(2)]);
    const list = stackOf(v.call), row = Math.floor((e.clientY - box.top - stackTop()) / ROW);
    const at = row < 1 ? list.length - 1 : Math.min(list.length - 1, common() + row - 1);
    const node = CALLS[list[at]];
    showTip(e.clientX, e.clientY, node ? node.name : '', 'cycle ' + count(a), rows);
  });
  canvas.addEventListener('pointerleave', hideTip);
  canvas.addEventListener('pointerup', function (e) {
    const d = drag, a = cycleAt(e);
    drag = null;
    if (!d) return;
    if (Math.abs(d.at - d.x) > 5) { show(Math.min(d.from, a), Math.max(d.from, a)); return; }
    const box = canvas.getBoundingClientRect();
    const near = views().map(function (v) {
      return [Math.abs(xOf(v[0].at, box.width) - d.x), v[1]];
    }).sort(function (p, q) { return p[0] - q[0]; })[0];
    if (near && near[0] < 12) choose(near[1]); else draw();
  });
  canvas.addEventListener('pointercancel', function () { drag = null; draw(); });
  canvas.addEventListener('dblclick', function () { show(0, end()); });
  canvas.addEventListener('keydown', function (e) {
    const w = to - from;
    if (e.key === '+' || e.key === '=') zoom(1.6);
    else if (e.key === '-') zoom(1 / 1.6);
    else if (e.key === '0' || e.key === 'Escape') show(0, end());
    else if (e.key === 'ArrowRight') show(from + w / 8, to + w / 8);
    else if (e.key === 'ArrowLeft') show(from - w / 8, to - w / 8);
    else return;
    e.preventDefault();
  });
  addEventListener('resize', draw);
}

/* ---- the pipeline ---- */

const PHASES = [['waits to be issued', '#b8c4d2', 3, 4, 5],
  ['waits for operands', '#f0b429', 4, 5, 9],
  ['waits for a port', '#e4572e', 5, 6, 9], ['executes', '#1f9d73', 6, 7, 12],
  ['waits to retire', '#b9aee3', 7, 8, 5]];
/* The name of the namespace, without writing an address into the page. */
const SVG = new DOMParser().parseFromString('<svg></svg>', 'text/html').querySelector('svg')
  .namespaceURI;
function svg(parent, tag, attributes, text) {
  const e = document.createElementNS(SVG, tag);
  Object.keys(attributes).forEach(function (k) { e.setAttribute(k, attributes[k]); });
  if (text !== undefined) e.textContent = text;
  parent.appendChild(e);
  return e;
}
/* Cycles of the phases: a uop that needs no port goes from its issue to its retirement. */
function phases(u) {
  const at = u.slice();
  if (at[3] < 0) at[3] = at[4];
  for (let i = 4; i < 9; i++) if (at[i] < 0 || at[i] < at[i - 1]) at[i] = at[i - 1];
  if (u[6] < 0) { at[5] = at[6] = at[7] = at[4]; }
  return at;
}
function choose(i) {
  const v = D.views[i], H = 15, narrow = innerWidth < 720, left = narrow ? 150 : 360;
  const box = clear($('pipe')), rows = [];
  chosen = i;
  $('pipebox').hidden = false;
  $('viewpick').value = i;
  v.uops.forEach(function (u) {
    if (u[1] >= 0) rows.push([brief(str(u[1])), null]);
    rows.push([u[0] >= 0 ? '  ' + str(u[0]) : '', u]);
  });
  const last = v.uops.reduce(function (m, u) { return Math.max(m, u[8]); }, 0);
  const scale = Math.max(2, Math.min(16, (box.clientWidth - left - 20) / (last + 1)));
  const s = svg(box, 'svg', { width: left + (last + 2) * scale + 8,
    height: (rows.length + 1) * H + 6,
    role: 'img', 'aria-label': 'What each uop did, cycle by cycle' });
  const ten = scale < 3.5 ? 50 : scale < 7 ? 20 : 10;
  for (let c = 0; c <= last; c += ten) {
    svg(s, 'line', { x1: left + c * scale, x2: left + c * scale, y1: 0, y2: (rows.length + 1) * H,
      stroke: color('--grid') });
    svg(s, 'text', { x: left + c * scale + 2, y: 11, class: 'dim' }, c);
  }
  rows.forEach(function (r, k) {
    const y = (k + 1) * H, most = narrow ? 20 : 48;
    const text = r[0].length > most ? r[0].slice(0, most - 1) + '\u2026' : r[0];
    svg(s, 'text', { x: 4, y: y + 11, class: r[1] ? '' : 'dim' }, text);
    if (!r[1]) return;
    const at = phases(r[1]), group = svg(s, 'g', {});
    PHASES.forEach(function (p) {
      const a = at[p[2]], b = at[p[3]];
      if (b <= a) return;
      svg(group, 'rect', { x: left + a * scale, y: y + (H - p[4]) / 2, width: (b - a) * scale,
        height: p[4], fill: p[1], rx: 1 });
    });
    svg(group, 'rect', { x: left + at[8] * scale, y: y + 2, width: Math.max(2, scale - 1),
      height: H - 4, fill: '#7c5cd6', rx: 1 });
    group.addEventListener('pointermove', function (e) {
      const list = PHASES.map(function (p) { return [p[0], at[p[3]] - at[p[2]]]; })
        .filter(function (p) { return p[1] > 0; })
        .map(function (p) { return [p[0], p[1] + (p[1] === 1 ? ' cycle' : ' cycles')]; });
      list.push(['retires in cycle', at[8]]);
      if (r[1][2] >= 0) list.push(['port', r[1][2]]);
      showTip(e.clientX, e.clientY, r[0].trim() || 'uop', '', list);
    });
    group.addEventListener('pointerleave', hideTip);
  });
  $('pipetitle').textContent = 'The pipeline at cycle ' + count(v.at) + ' of thread ' + v.thread +
    ': ' + v.uops.length + ' uops';
  root.dataset.pipe = rows.length;
  draw();
}

/* ---- set up ---- */

function fillViews(pick) {
  clear(pick);
  const list = views();
  list.forEach(function (v) {
    const first = v[0].uops.find(function (u) { return u[1] >= 0; });
    const o = make(pick, 'option', 'pipeline at ' + count(v[0].at) + (first ?
      ': ' + brief(str(first[1])).slice(0, 40) : ''));
    o.value = v[1];
  });
  pick.hidden = !list.length;
  $('pipebox').hidden = !list.length;
  chosen = -1;
  if (list.length) choose(list[list.length >> 1][1]);
}
function start() {
  const tools = $('timetools');
  const pick = make(tools, 'select');
  pick.id = 'viewpick';
  pick.setAttribute('aria-label', 'Moment whose pipeline is shown');
  pick.addEventListener('change', function () { choose(+pick.value); });
  if (threads.length > 1) {
    const which = make(tools, 'select');
    which.setAttribute('aria-label', 'Thread');
    threads.forEach(function (t, i) {
      make(which, 'option', 'thread ' + t.thread + ': ' + count(t.at[t.at.length - 1][0]) +
        ' cycles').value = i;
    });
    which.addEventListener('change', function () {
      thread = +which.value;
      show(0, end());
      fillViews(pick);
    });
  }
  [['\u2212', 'Zoom out', function () { zoom(1 / 2); }], ['+', 'Zoom in', function () { zoom(2); }],
    ['Show all', '', function () { show(0, end()); }]].forEach(function (b) {
    const button = make(tools, 'button', b[0]);
    if (b[1]) button.setAttribute('aria-label', b[1]);
    button.addEventListener('click', b[2]);
  });
  tools.appendChild(say);
  PHASES.concat([['retires', '#7c5cd6']]).forEach(function (p) {
    const key = make($('pipekeys'), 'span');
    make(key, 'i').style.background = p[1];
    key.appendChild(document.createTextNode(p[0]));
  });
  redraws.push(function () { draw(); if (chosen >= 0) choose(chosen); });
  show(0, end());
  fillViews(pick);
  listen();
}
threads.sort(function (a, b) { return b.at[b.at.length - 1][0] - a.at[a.at.length - 1][0]; });
if (threads.length) start(); else $('timesection').hidden = true;
root.dataset.state = 'ready';
})();
