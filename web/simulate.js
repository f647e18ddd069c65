/* SPDX-License-Identifier: MIT */
'use strict';
(function () {
const D = JSON.parse(document.getElementById('data').textContent);
const IT = 0, INSN = 1, UOP = 2, SRC = 3, PORT = 4, ELIM = 5, DELIV = 6, ISSUED = 7,
  READY = 8, DISP = 9, EXEC = 10, RET = 11, FROM = 12, FLAGS = 13, WHY = 14;
const OPERAND = 1, BUSY = 2, FULL = 4, STORE = 8; /* bits of FLAGS */
const AXIS = 24, ROW = 17, LANE = 13;
const MONO = 'ui-monospace, DejaVu Sans Mono, monospace';
const COLOR = { idq: '#d3dce6', full: '#8ea4bd', way: '#f6ead0', rs: '#f4c152',
  port: '#e4572e', exec: '#1f9d73', retire: '#dcd6f0', ink: '#1d2733', soft: '#64748b',
  line: '#e7ecf2', arrow: '#b3261e' };
const $ = function (id) { return document.getElementById(id); };
const U = D.uops, panel = $('panel'), tip = $('tip');
const rows = { canvas: $('rows') }, strip = { canvas: $('strip') };
const span = Math.max(1, D.end - D.begin + 1);
let gutter = 392; /* the width of the names; less on a narrow screen */
let scale = 1, left = D.begin, top = 0, width = 0, height = 0;
let chosen = -1, pinned = false, cross = null, drag = null, drawn = 0;

function make(parent, tag, text, className) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (className) e.className = className;
  parent.appendChild(e);
  return e;
}
function fixed(x) { return (x + 1e-9).toFixed(2); }
function hue(i) { return 'hsl(' + Math.round((i * 137.5 + 205) % 360) + ',52%,48%)'; }
function plural(n, word) { return n + ' ' + word + (n === 1 ? '' : 's'); }

/* ---- around the timeline ---- */

function fillHeader() {
  const where = D.file === '-x' ? 'a block in hex digits' : D.file.split('/').pop();
  $('name').textContent = where + (D.name ? ' \u2014 ' + D.name : '');
  document.title = fixed(D.cycles_per_iteration) + ' cycles: ' + where + ' on ' +
    D.arch;
  $('sub').textContent = D.cpu + ' (' + D.arch + (D.caveat ? ', ' + D.caveat : '') + '), ' +
    (D.mode === 'loop' ? 'as a loop' : 'unrolled') + ', ' +
    plural(D.insns.length, 'instruction');
  $('cycles').textContent = fixed(D.cycles_per_iteration) + (D.coverage < 1 ? '+' : '');
  $('limit').textContent = D.bottlenecks.length > 1 ? 'Bottlenecks' : 'Bottleneck';
  D.bottlenecks.forEach(function (b) { make($('pills'), 'span', b, 'pill'); });
  if (!D.bottlenecks.length) make($('pills'), 'span', 'none', 'pill');
  const most = D.bounds.reduce(function (m, b) { return Math.max(m, b[1]); },
    D.cycles_per_iteration);
  [['Simulated', D.cycles_per_iteration]].concat(D.bounds).forEach(function (b, i) {
    make($('bounds'), 'b', b[0]);
    const cell = make($('bounds'), 'div');
    const bar = make(cell, 'i', '', !i ? 'sim' :
      D.bottlenecks.includes(b[0]) ? 'worst' : '');
    bar.style.width = Math.max(1, 100 * b[1] / most) + '%';
    make($('bounds'), 'span', fixed(b[1]));
  });
  const state = D.repeats ? 'The state of the pipeline repeats after ' +
    plural(D.period, 'iteration') : 'The state of the pipeline did not repeat';
  const shown = new Set(U.map(function (u) { return u[IT]; })).size;
  $('foot').textContent = state + ' (' + plural(D.cycles, 'cycle') + ' simulated). ' +
    'Shown: ' + plural(shown, 'iteration') + (D.steady ? ' of the steady state' : '') +
    '; cycle 0 here is cycle ' + D.begin + ' of the simulation. ' + (D.coverage < 1 ?
    'Some instructions have no data: the result is a lower bound. ' : '') +
    'The bars next to the bottleneck are the bounds of FACILE. Keys: + and \u2212 ' +
    'zoom, 0 shows all, \u2190 \u2192 move, \u2191 \u2193 select a uop, Esc clears ' +
    'the selection. A click keeps a uop selected.';
}

function fillLegend() {
  const bar = $('legend');
  [['in the IDQ', 'idq', 6], ['ROB or RS full', 'full', 6], ['in transit', 'way', 10],
    ['waits for an operand', 'rs', 10], ['port busy', 'port', 10],
    ['executes', 'exec', 13], ['waits to retire', 'retire', 6]].forEach(function (k) {
    const key = make(bar, 'span', undefined, 'key'), box = make(key, 'i');
    box.style.background = COLOR[k[1]];
    box.style.height = k[2] + 'px';
    key.appendChild(document.createTextNode(k[0]));
  });
  make(bar, 'span', '', 'grow');
  make(bar, 'span', 'wheel: zoom, drag: move, point: reasons', 'hint');
  [['\u2212', 'zoom out', function () { zoom(1 / 1.5); }], ['+', 'zoom in',
    function () { zoom(1.5); }], ['fit', 'show all cycles', fit]].forEach(function (b) {
    const button = make(bar, 'button', b[0]);
    button.title = b[1];
    button.addEventListener('click', b[2]);
  });
}

function fillTable() {
  const table = $('insns'), head = make(make(table, 'thead'), 'tr');
  const body = make(table, 'tbody');
  const used = D.sources.map(function (s, k) {
    return D.insns.some(function (x) { return x.sources[k] > 0; });
  });
  const divides = D.insns.some(function (x) { return x.divider > 0; });
  make(head, 'th', '#', 'l');
  make(head, 'th', 'Instruction', 'l');
  D.sources.forEach(function (s, k) { if (used[k]) make(head, 'th', s); });
  make(head, 'th', 'Issued');
  D.ports.forEach(function (p) { make(head, 'th', 'p' + p); });
  if (divides) make(head, 'th', 'Divider');
  make(head, 'th', 'Waits: operand');
  make(head, 'th', 'port');
  make(head, 'th', 'Notes', 'l');
  D.insns.forEach(function (x, i) {
    const tr = make(body, 'tr'), value = function (v) {
      return make(tr, 'td', v >= .005 ? fixed(v) : '');
    };
    make(make(tr, 'td', undefined, 'l'), 'span', x.n, 'chip').style.background = hue(i);
    make(make(tr, 'td', undefined, 'l'), 'code', x.text);
    x.sources.forEach(function (v, k) { if (used[k]) value(v); });
    value(x.issued);
    D.ports.forEach(function (p) {
      const v = x.ports[p], shade = v >= .005 ? Math.min(.55, .1 + v / 3) : 0;
      value(v).style.background = 'rgba(31,157,115,' + shade + ')';
    });
    if (divides) value(x.divider);
    [x.wait_operand, x.wait_port].forEach(function (v) {
      make(tr, 'td', v >= .05 ? v.toFixed(1) : '');
    });
    const notes = x.notes.map(function (n) { return n.replace(/_/g, ' '); }).join(', ');
    make(tr, 'td', notes, 'l').title = x.notes.map(function (n) {
      return D.notes[n];
    }).join('; ');
  });
}

/* ---- coordinates ---- */

function xOf(cycle) { return gutter + (cycle - left) * scale; }
function cycleAt(x) { return left + (x - gutter) / scale; }
function yOf(row) { return AXIS + row * ROW - top; }
function clampView() {
  const room = width - gutter - 14, least = Math.min(room / span, 6);
  scale = Math.min(60, Math.max(least, scale));
  left = Math.max(D.begin - 2, Math.min(left, D.end + 3 - room / scale));
  if (span * scale <= room) left = D.begin;
  top = Math.max(0, Math.min(top, U.length * ROW + 6 - (height - AXIS)));
}
function fit() {
  scale = (width - gutter - 14) / span;
  left = D.begin;
  draw();
}
function zoom(factor, x) {
  const at = x === undefined ? gutter + (width - gutter) / 2 : Math.max(gutter, x);
  const cycle = cycleAt(at);
  scale *= factor;
  clampView();
  left = cycle - (at - gutter) / scale;
  draw();
}

/* ---- drawing ---- */

function begin(view, h) {
  const ratio = window.devicePixelRatio || 1, c = view.canvas;
  if (c.width !== Math.round(width * ratio) || c.height !== Math.round(h * ratio)) {
    c.width = Math.round(width * ratio);
    c.height = Math.round(h * ratio);
    c.style.height = h + 'px';
  }
  const g = c.getContext('2d');
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, h);
  g.textBaseline = 'middle';
  return g;
}
function gridStep() {
  return [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find(function (s) {
    return s * scale >= 44;
  }) || 2000;
}
function drawGrid(g, from, to, labels) {
  const step = gridStep(), first = Math.ceil((cycleAt(gutter) - D.begin) / step) * step;
  g.fillStyle = COLOR.line;
  if (scale >= 9)
    for (let c = Math.ceil(cycleAt(gutter)); xOf(c) < width; c++)
      g.fillRect(Math.round(xOf(c)), from, .5, to - from);
  g.font = '11px ' + MONO;
  g.textAlign = 'left';
  for (let c = first; xOf(c + D.begin) < width; c += step) {
    const x = Math.round(xOf(c + D.begin));
    if (x < gutter) continue;
    g.fillStyle = '#d5dde6';
    g.fillRect(x, from, 1, to - from);
    if (labels) {
      g.fillStyle = COLOR.soft;
      g.fillText(c, x + 4, AXIS / 2);
    }
  }
}
function bar(g, a, b, y, h, color) {
  const x = Math.max(gutter, xOf(a)), w = Math.min(width, xOf(b)) - x;
  if (b <= a || w <= 0) return;
  g.fillStyle = color;
  g.fillRect(x, y + (ROW - h) / 2, Math.max(w, .7), h);
  drawn++;
}
function drawUop(g, u, y) {
  const runs = u[DISP] >= 0, ready = Math.max(u[ISSUED], Math.min(u[READY], u[DISP]));
  bar(g, u[DELIV], u[ISSUED], y, 5, u[FLAGS] & FULL ? COLOR.full : COLOR.idq);
  if (runs) {
    bar(g, u[ISSUED], ready, y, 9, u[FLAGS] & OPERAND ? COLOR.rs : COLOR.way);
    bar(g, ready, u[DISP], y, 9, u[FLAGS] & BUSY ? COLOR.port : COLOR.way);
    bar(g, u[EXEC], u[RET], y, 5, COLOR.retire);
    if (u[FLAGS] & STORE) bar(g, u[DISP], u[EXEC], y, 9, COLOR.rs);
    bar(g, u[DISP], u[FLAGS] & STORE ? u[DISP] + 1 : u[EXEC], y, 13, COLOR.exec);
  } else {
    bar(g, u[ISSUED], u[RET], y, 5, COLOR.retire);
  }
  if (scale < 2.5) return;
  [u[ISSUED], u[RET]].forEach(function (c) {
    if (xOf(c) < gutter) return;
    g.fillStyle = COLOR.ink;
    g.fillRect(Math.round(xOf(c)), y + 4, 1, ROW - 8);
  });
}
function drawLabel(g, u, i, y) {
  const middle = y + ROW / 2;
  if (!i || U[i - 1][IT] !== u[IT]) {
    g.fillStyle = COLOR.ink;
    g.font = '600 11px ' + MONO;
    g.textAlign = 'right';
    g.fillText(u[IT] + 1, 48, middle);
    g.fillStyle = '#cbd5e1';
    if (i) g.fillRect(0, Math.round(y), width, 1);
  }
  g.fillStyle = hue(u[INSN]);
  g.beginPath();
  g.roundRect(57, y + 2, 24, ROW - 4, 3);
  g.fill();
  g.fillStyle = '#fff';
  g.font = '600 10.5px ' + MONO;
  g.textAlign = 'center';
  g.fillText(D.insns[u[INSN]].n, 69, middle + .5);
  g.fillStyle = i === chosen ? COLOR.arrow : COLOR.ink;
  g.font = '11.5px ' + MONO;
  g.textAlign = 'left';
  let text = D.insns[u[INSN]].text;
  while (text.length > 4 && g.measureText(text).width > gutter - 128)
    text = text.replace(/.{1,2}\u2026?$/, '\u2026');
  g.fillText(text, 88, middle);
  g.fillStyle = COLOR.soft;
  g.textAlign = 'right';
  g.fillText(u[PORT] >= 0 ? 'p' + u[PORT] : u[ELIM] ? 'elim' : '\u2013', gutter - 8,
    middle);
}
/* The uops that the selected one waits for, directly and indirectly. */
function chain() {
  const list = [];
  for (let i = chosen; i >= 0 && list.length < 200; i = U[i][FROM]) list.push(i);
  return list;
}
function drawArrows(g, list) {
  g.strokeStyle = g.fillStyle = COLOR.arrow;
  g.lineWidth = 1.6;
  for (let k = 0; k + 1 < list.length; k++) {
    const to = U[list[k]], from = U[list[k + 1]];
    const x0 = xOf(from[EXEC]), y0 = yOf(list[k + 1]) + ROW / 2;
    const x1 = xOf(to[DISP]), y1 = yOf(list[k]) + ROW / 2;
    const bend = Math.max(14, (x1 - x0) / 2);
    g.globalAlpha = k ? .6 : 1;
    g.beginPath();
    g.moveTo(x0, y0);
    g.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 3, y1);
    g.stroke();
    g.beginPath();
    g.moveTo(x1 + 1, y1);
    g.lineTo(x1 - 6, y1 - 4);
    g.lineTo(x1 - 6, y1 + 4);
    g.fill();
  }
  g.globalAlpha = 1;
}
function drawRows() {
  const g = begin(rows, height), list = chain();
  const first = Math.max(0, Math.floor(top / ROW)), last = Math.min(U.length - 1,
    Math.ceil((top + height - AXIS) / ROW));
  g.save();
  g.beginPath();
  g.rect(0, AXIS, width, height - AXIS);
  g.clip();
  for (let i = first; i <= last; i++) {
    g.fillStyle = i === chosen ? '#ffe9e4' : list.includes(i) ? '#fff4ef'
      : (U[i][IT] - U[0][IT]) % 2 ? '#f7f9fc' : '#ffffff';
    g.fillRect(0, yOf(i), width, ROW);
  }
  drawGrid(g, AXIS, height, false);
  for (let i = first; i <= last; i++) {
    drawUop(g, U[i], yOf(i));
    drawLabel(g, U[i], i, yOf(i));
  }
  g.beginPath();
  g.rect(gutter, AXIS, width - gutter, height - AXIS);
  g.clip();
  if (list.length > 1) drawArrows(g, list);
  g.restore();
  drawGrid(g, 0, AXIS, true);
  g.fillStyle = COLOR.soft;
  g.font = '11px ' + MONO;
  g.textAlign = 'left';
  g.fillText('iter.', 14, AXIS / 2);
  g.fillText('instruction', 88, AXIS / 2);
  g.textAlign = 'right';
  g.fillText('port', gutter - 8, AXIS / 2);
  g.fillStyle = '#cbd5e1';
  g.fillRect(0, AXIS - 1, width, 1);
  g.fillRect(gutter - 1, 0, 1, height);
  const all = U.length * ROW, seen = height - AXIS;
  if (all > seen) g.fillRect(width - 6, AXIS + top / all * seen, 4, seen * seen / all);
  drawCross(g, height);
}
function drawCross(g, h) {
  if (cross === null || xOf(cross) < gutter) return;
  g.fillStyle = '#2563eb40';
  g.fillRect(xOf(cross), 0, Math.max(1, scale), h);
}
function drawStrip() {
  const h = D.ports.length * LANE + 8, g = begin(strip, h);
  const it0 = U.length ? U[0][IT] : 0, it1 = U.length ? U[U.length - 1][IT] : 0;
  drawGrid(g, 0, h, false);
  D.ports.forEach(function (p, k) {
    const share = D.insns.reduce(function (s, x) { return s + x.ports[p]; }, 0) /
      D.cycles_per_iteration;
    g.fillStyle = COLOR.ink;
    g.font = '11px ' + MONO;
    g.textAlign = 'left';
    g.fillText('port ' + p, 88, 4 + k * LANE + LANE / 2);
    g.textAlign = 'right';
    g.fillStyle = share > .95 ? COLOR.port : COLOR.soft;
    g.fillText(share >= .005 ? Math.round(100 * share) + '% busy' : 'idle', gutter - 8,
      4 + k * LANE + LANE / 2);
  });
  D.busy.forEach(function (b) {
    const x = xOf(b[0]), y = 4 + D.ports.indexOf(b[1]) * LANE + 1, mine = chosen >= 0 &&
      U[chosen][DISP] === b[0] && U[chosen][PORT] === b[1];
    if (x + scale < gutter || x > width) return;
    g.globalAlpha = b[3] >= it0 && b[3] <= it1 ? 1 : .28;
    g.fillStyle = mine ? COLOR.arrow : hue(b[2]);
    const w = Math.max(1, scale - (scale > 4 ? 1 : 0));
    g.fillRect(Math.max(gutter, x), y, w, LANE - 2);
    if (scale >= 20) {
      g.fillStyle = '#fff';
      g.font = '600 9.5px ' + MONO;
      g.textAlign = 'center';
      g.fillText(D.insns[b[2]].n, x + w / 2, y + LANE / 2 - .5);
    }
  });
  g.globalAlpha = 1;
  g.fillStyle = '#cbd5e1';
  g.fillRect(gutter - 1, 0, 1, h);
  drawCross(g, h);
}
function draw() {
  clampView();
  drawn = 0;
  drawRows();
  drawStrip();
  document.documentElement.dataset.scale = scale.toFixed(3);
}

/* ---- what the pointer and the keys do ---- */

function showTip(x, y) {
  const u = U[chosen], runs = u[DISP] >= 0, table = document.createElement('table');
  tip.textContent = '';
  make(tip, 'h2', '#' + D.insns[u[INSN]].n + '  ' + D.insns[u[INSN]].text);
  make(tip, 'p', 'iteration ' + (u[IT] + 1) + ', uop ' + (u[UOP] + 1) + ', from ' +
    D.sources[u[SRC]] + (u[PORT] >= 0 ? ', port ' + u[PORT] : u[ELIM] ?
    ', eliminated by the renamer' : ', needs no port'));
  tip.appendChild(table);
  const last = [];
  [['delivered', DELIV], ['issued', ISSUED], ['ready', READY], ['dispatched', DISP],
    ['executed', EXEC], ['retired', RET]].forEach(function (k) {
    if (u[k[1]] < 0 || (!runs && k[1] > ISSUED && k[1] < RET)) return;
    const tr = make(table, 'tr'), c = u[k[1]];
    make(tr, 'td', k[0]);
    make(tr, 'td', 'cycle ' + (c - D.begin));
    make(tr, 'td', last.length && c > last[0] ? '+' + (c - last[0]) : '');
    last[0] = c;
  });
  make(tip, 'div', u[WHY] || 'waits for nothing', 'why');
  tip.style.display = 'block';
  const w = tip.offsetWidth, h = tip.offsetHeight;
  const beside = x > window.innerWidth * .6 ? x - w - 24 : x + 18;
  const below = y + h + 24 > window.innerHeight ? y - h - 14 : y + 16;
  tip.style.left = Math.max(4, Math.min(beside, window.innerWidth - w - 10)) + 'px';
  tip.style.top = Math.max(4, below) + 'px';
}
function choose(i, x, y) {
  chosen = i;
  document.querySelectorAll('#insns tbody tr').forEach(function (tr, k) {
    tr.className = i >= 0 && U[i][INSN] === k ? 'on' : '';
  });
  if (i < 0) tip.style.display = 'none';
  else showTip(x, y);
  draw();
}
function rowAt(y) {
  const i = Math.floor((y - AXIS + top) / ROW);
  return y >= AXIS && i >= 0 && i < U.length ? i : -1;
}
function busyAt(x, y) {
  const cycle = Math.floor(cycleAt(x)), port = D.ports[Math.floor((y - 4) / LANE)];
  return U.findIndex(function (u) { return u[DISP] === cycle && u[PORT] === port; });
}
/* From the keyboard: scrolls the row and its execution into view. */
function select(i) {
  i = Math.max(0, Math.min(U.length - 1, i));
  const u = U[i], at = u[DISP] >= 0 ? u[DISP] : u[ISSUED];
  if (yOf(i) < AXIS) top = i * ROW;
  if (yOf(i) + ROW > height) top = (i + 1) * ROW - height + AXIS;
  if (xOf(at) < gutter || xOf(at) > width - 40)
    left = at - (width - gutter) / 2 / scale;
  clampView();
  const box = rows.canvas.getBoundingClientRect();
  choose(i, box.left + xOf(at), box.top + yOf(i) + ROW);
  $('status').textContent = tip.textContent;
}
function onMove(e) {
  const view = e.target === strip.canvas ? strip : rows;
  if (drag) {
    left = drag.left - (e.clientX - drag.x) / scale;
    top = drag.top - (e.clientY - drag.y);
    tip.style.display = 'none';
    draw();
    return;
  }
  const box = view.canvas.getBoundingClientRect();
  const x = e.clientX - box.left, y = e.clientY - box.top;
  cross = x > gutter ? Math.floor(cycleAt(x)) : null;
  if (pinned) draw();
  else choose(view === rows ? rowAt(y) : busyAt(x, y), e.clientX, e.clientY);
}
function onKey(e) {
  const step = (width - gutter) / 8 / scale;
  const actions = { '+': function () { zoom(1.5); }, '=': function () { zoom(1.5); },
    '-': function () { zoom(1 / 1.5); }, '0': fit, f: fit,
    ArrowLeft: function () { left -= step; draw(); },
    ArrowRight: function () { left += step; draw(); },
    ArrowDown: function () { select(chosen + 1); },
    ArrowUp: function () { select(chosen < 0 ? 0 : chosen - 1); },
    PageDown: function () { top += height / 2; draw(); },
    PageUp: function () { top -= height / 2; draw(); },
    Home: function () { left = D.begin; top = 0; draw(); },
    End: function () { left = D.end; top = U.length * ROW; draw(); },
    Escape: function () { pinned = false; cross = null; choose(-1); } };
  if (e.ctrlKey || e.altKey || e.metaKey || !actions[e.key]) return;
  e.preventDefault();
  actions[e.key]();
}
function listen() {
  [rows.canvas, strip.canvas].forEach(function (c) {
    c.addEventListener('pointerdown', function (e) {
      drag = { x: e.clientX, y: e.clientY, left: left, top: top };
      c.setPointerCapture(e.pointerId);
    });
    c.addEventListener('pointerup', function (e) {
      const still = drag && Math.hypot(e.clientX - drag.x, e.clientY - drag.y) < 4;
      drag = null;
      if (still) pinned = !pinned && chosen >= 0;
      if (still) onMove(e);
    });
    c.addEventListener('pointermove', onMove);
    c.addEventListener('pointerleave', function () {
      cross = null;
      if (!pinned && !drag) choose(-1);
    });
    c.addEventListener('wheel', function (e) {
      e.preventDefault();
      if (e.shiftKey || e.offsetX < gutter) {
        top += e.deltaY || e.deltaX;
        draw();
      } else {
        zoom(Math.exp(-e.deltaY / 400), e.offsetX);
      }
    }, { passive: false });
  });
  document.addEventListener('keydown', onKey);
  window.addEventListener('resize', resize);
}
function resize() {
  const before = width;
  width = panel.clientWidth;
  gutter = Math.max(210, Math.min(392, Math.round(width / 2)));
  const room = window.innerHeight - panel.getBoundingClientRect().top - window.scrollY -
    D.ports.length * LANE - 120;
  height = Math.min(AXIS + U.length * ROW + 6, Math.max(300, room));
  if (before) draw();
  else fit();
}

fillHeader();
fillLegend();
fillTable();
listen();
resize();
const wanted = location.hash.slice(1);
if (wanted) select(parseInt(wanted, 10) || 0);
document.documentElement.dataset.rows = U.length;
document.documentElement.dataset.bars = drawn;
document.documentElement.dataset.state = 'ready';
})();
