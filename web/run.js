/* SPDX-License-Identifier: MIT
 * What the pages of trace and diff share: numbers, the box beside the pointer, bars, flame graphs.
 */
'use strict';
/* exported D, root, $, make, clear, count, share, ratio, base, str, brief, figure, redraws, isDark,
   setUpTheme, color, hideTip, showTip, stallParts, stallBar, WORDS, limitText, Flame, plain,
   flameTools, Table, meter */
const D = JSON.parse(document.getElementById('data').textContent);
const root = document.documentElement, tip = document.getElementById('tip');
const $ = function (id) { return document.getElementById(id); };
const STALLS = ['#2f9e77', '#64748b', '#f0a202', '#e4572e', '#7c5cd6', '#d1478c', '#3b82c4',
  '#8a6d3b', '#0e9aa7', '#a3b18a', '#b5651d', '#9aa5b1', '#5b8c5a', '#c9a227'];

function make(parent, tag, text, className) {
  const e = document.createElement(tag);
  if (text !== undefined && text !== null) e.textContent = text;
  if (className) e.className = className;
  parent.appendChild(e);
  return e;
}
function clear(e) { while (e.firstChild) e.removeChild(e.firstChild); return e; }
function count(n) {
  const a = Math.abs(n);
  if (a < 999999.5) return Math.round(n).toLocaleString('en-US');
  const unit = a < 1e9 ? [1e6, 'M'] : a < 1e12 ? [1e9, 'G'] : [1e12, 'T'];
  return (n / unit[0]).toFixed(2) + unit[1];
}
function share(part, all) {
  const p = all > 0 ? 100 * part / all : 0;
  return (Math.abs(p) >= 9.95 ? p.toFixed(1) : p.toFixed(2)) + '%';
}
function ratio(a, b) { return b > 0 ? a / b : 0; }
function base(path) { return path.slice(path.lastIndexOf('/') + 1); }
function str(i) { return D.strings[i]; }
/* A name that people can read: without what is between angle brackets if it is long. */
function brief(text) {
  if (text.length <= 64) return text;
  let out = '', depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i], isArrow = c === '>' && text[i - 1] === '-';
    const isName = /operator[<>-]*$/.test(text.slice(Math.max(0, i - 10), i));
    if (c === '<' && !isName && depth++ === 0) out += '<\u2026>';
    else if (c === '>' && !isArrow && !isName && depth > 0) depth--;
    else if (!depth) out += c;
  }
  return out.length > 110 ? out.slice(0, 60) + '\u2026' + out.slice(-48) : out;
}
function figure(parent, value, words) {
  const f = make(parent, 'div', undefined, 'figure');
  make(f, 'b', value);
  make(f, 'span', words);
}

/* ---- light and dark ---- */

const redraws = [];
function isDark() {
  return root.dataset.theme ? root.dataset.theme === 'dark' :
    matchMedia('(prefers-color-scheme: dark)').matches;
}
function setUpTheme() {
  const button = $('theme'), show = function () {
    button.textContent = isDark() ? 'Light' : 'Dark';
    button.title = 'Switch to ' + (isDark() ? 'light' : 'dark') + ' colours';
  };
  button.addEventListener('click', function () {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    show();
    redraws.forEach(function (f) { f(); });
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', function () {
    show();
    redraws.forEach(function (f) { f(); });
  });
  show();
}
function color(variable) { return getComputedStyle(root).getPropertyValue(variable).trim(); }

/* ---- the box beside the pointer ---- */

function hideTip() { tip.style.display = 'none'; }
function showTip(x, y, title, small, rows) {
  clear(tip);
  make(tip, 'b', title);
  if (small) make(tip, 'small', small);
  const table = make(tip, 'table');
  rows.forEach(function (r) {
    const tr = make(table, 'tr');
    r.forEach(function (cell) { make(tr, 'td', cell); });
  });
  tip.style.display = 'block';
  const w = tip.offsetWidth, h = tip.offsetHeight;
  tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - w - 6)) + 'px';
  tip.style.top = (y + 18 + h < innerHeight ? y + 18 : Math.max(4, y - h - 12)) + 'px';
}
document.addEventListener('keydown', function (e) { if (e.key === 'Escape') hideTip(); });

/* ---- bars ---- */

/* A bar of what the cycles went to, with words; returns the parts, largest first. */
function stallParts(stalls, cycles, isSorted) {
  const sum = stalls.reduce(function (a, b) { return a + b; }, 0);
  const all = Math.max(cycles, sum);
  const parts = stalls.map(function (s, i) {
    return { name: D.stalls[i], cycles: s, color: STALLS[(i + 1) % STALLS.length], all: all };
  });
  if (isSorted !== false) parts.sort(function (a, b) { return b.cycles - a.cycles; });
  parts.unshift({ name: 'retiring', cycles: Math.max(0, all - sum), color: STALLS[0], all: all });
  return parts.filter(function (p) { return p.cycles > 0; });
}
function stallBar(parent, stalls, cycles, withKeys) {
  const bar = make(parent, 'div', undefined, 'stack'), parts = stallParts(stalls, cycles, withKeys);
  bar.setAttribute('role', 'img');
  bar.setAttribute('aria-label', parts.map(function (p) {
    return p.name + ' ' + share(p.cycles, p.all);
  }).join(', '));
  const keys = withKeys ? make(parent, 'div', undefined, 'keys') : null;
  parts.forEach(function (p) {
    const i = make(bar, 'i');
    i.style.background = p.color;
    i.style.width = 100 * p.cycles / p.all + '%';
    i.addEventListener('pointermove', function (e) {
      showTip(e.clientX, e.clientY, p.name, WORDS[p.name] || '',
        [['cycles', count(p.cycles)], ['share', share(p.cycles, p.all)]]);
    });
    i.addEventListener('pointerleave', hideTip);
    if (!keys || p.cycles < 5e-4 * p.all) return;
    const key = make(keys, 'span');
    make(key, 'i').style.background = p.color;
    key.appendChild(document.createTextNode(p.name + ' '));
    make(key, 'b', share(p.cycles, p.all));
    key.title = WORDS[p.name] || '';
  });
}
const WORDS = {
  'retiring': 'Cycles in which instructions retired: nothing stalled',
  'front end': 'Nothing was there to execute: instructions had not been fetched or decoded',
  'operands': 'The oldest uop waited for the result of another instruction',
  'loads': 'The oldest uop waited for a load',
  'ports': 'The oldest uop waited for an execution port',
  'branches': 'Time lost to mispredicted branches',
  'execution': 'The oldest uop was being executed',
  'stores': 'Too many stores waited to leave for the cache',
  'locked': 'A locked instruction waited for its turn, or others waited for it',
  'serializing': 'An instruction that waits until all before it have finished',
  'strings': 'A repeated string instruction was moving its data'
};
function limitText(stalls, cycles) {
  return stallParts(stalls, cycles).filter(function (p) {
    return p.name !== 'retiring' && p.cycles >= .1 * p.all;
  }).slice(0, 2).map(function (p) {
    return p.name + ' ' + (100 * p.cycles / p.all).toFixed(0) + '%';
  }).join(', ');
}

/* ---- flame graphs ---- */

function hashOf(text) {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  return h >>> 0;
}

/* nodes: {parent, name, module, cycles, self, ...}, callers first; colorOf and rowsOf by node. */
function Flame(box, nodes, all, colorOf, rowsOf, say) {
  const ROW = 18, children = nodes.map(function () { return []; }), roots = [];
  let zoomed = -1, down = true, wanted = '', places = [];
  nodes.forEach(function (n, i) { (n.parent < 0 ? roots : children[n.parent]).push(i); });
  function path(i) {
    const list = [];
    for (; i >= 0; i = nodes[i].parent) list.unshift(i);
    return list;
  }
  function isHit(n) { return wanted && n.name.toLowerCase().includes(wanted); }
  function add(i, x, width, depth, off) {
    const n = nodes[i], e = document.createElement('div');
    e.style.left = 100 * x + '%';
    e.style.width = 100 * width + '%';
    e.style.background = colorOf(n, i);
    if (width * box.clientWidth > 26) e.textContent = brief(n.name);
    if (off) e.className = 'off';
    if (isHit(n)) e.classList.add('hit');
    e.tabIndex = places.length ? -1 : 0;
    e.setAttribute('role', 'treeitem');
    e.setAttribute('aria-level', depth + 1);
    e.setAttribute('aria-label', n.name + ', ' + share(n.cycles, all) + ' in total, ' +
      share(n.self, all) + ' itself');
    e.dataset.node = i;
    places.push({ i: i, depth: depth, x: x, width: width, e: e });
    box.appendChild(e);
  }
  function draw(focus) {
    clear(box);
    places = [];
    const up = zoomed < 0 ? [] : path(zoomed).slice(0, -1);
    up.forEach(function (i, d) { add(i, 0, 1, d, true); });
    const least = 1.2 / Math.max(200, box.clientWidth), work = [];
    const start = zoomed < 0 ? roots : [zoomed];
    const span = zoomed < 0 ? all : nodes[zoomed].cycles;
    let x = 0;
    start.forEach(function (i) {
      work.push([i, x, nodes[i].cycles / span, up.length]);
      x += nodes[i].cycles / span;
    });
    while (work.length && places.length < 4000) {
      const w = work.shift();
      if (w[2] < least) continue;
      add(w[0], w[1], w[2], w[3], false);
      let at = w[1];
      children[w[0]].forEach(function (c) {
        const width = nodes[c].cycles / span;
        work.push([c, at, width, w[3] + 1]);
        at += width;
      });
    }
    const deepest = places.reduce(function (m, p) { return Math.max(m, p.depth); }, 0);
    box.style.height = Math.min(620, (deepest + 1) * ROW + 2) + 'px';
    const height = Math.max((deepest + 1) * ROW, 0);
    places.forEach(function (p) {
      p.e.style.top = (down ? p.depth * ROW : height - (p.depth + 1) * ROW) + 'px';
    });
    if (!down) box.scrollTop = height;
    const first = places.find(function (p) { return p.i === focus; });
    if (first) { places.forEach(function (p) { p.e.tabIndex = -1; }); first.e.tabIndex = 0;
      first.e.focus({ preventScroll: false }); }
    tell();
  }
  function tell() {
    if (!wanted) {
      say(zoomed < 0 ? '' : nodes[zoomed].name + ': ' + share(nodes[zoomed].cycles, all));
      return;
    }
    let sum = 0;
    const inside = nodes.map(function () { return false; });
    nodes.forEach(function (n, i) {
      const above = n.parent >= 0 && inside[n.parent];
      inside[i] = above || isHit(n);
      if (inside[i] && !above) sum += n.cycles;
    });
    say('\u201c' + wanted + '\u201d: ' + share(sum, all) + ' of the cycles');
  }
  function zoom(i, focus) { zoomed = i; hideTip(); draw(focus); }
  function nodeOf(e) { return e.target.dataset.node === undefined ? -1 : +e.target.dataset.node; }
  function box_of(i, x, y) {
    const n = nodes[i];
    showTip(x, y, n.name, n.module, rowsOf(n, i));
  }
  box.addEventListener('click', function (e) {
    const i = nodeOf(e);
    if (i >= 0) zoom(i === zoomed ? nodes[i].parent : i, i);
  });
  box.addEventListener('pointermove', function (e) {
    const i = nodeOf(e);
    if (i >= 0) box_of(i, e.clientX, e.clientY); else hideTip();
  });
  box.addEventListener('pointerleave', hideTip);
  box.addEventListener('focusin', function (e) {
    const i = nodeOf(e), r = e.target.getBoundingClientRect();
    if (i >= 0 && e.target.matches(':focus-visible')) box_of(i, r.left, r.bottom - 14);
  });
  box.addEventListener('focusout', hideTip);
  box.addEventListener('keydown', function (e) {
    const at = places.findIndex(function (p) { return p.e === document.activeElement; });
    if (at < 0) return;
    const p = places[at], key = e.key;
    let to = null;
    if (key === 'Enter' || key === ' ') { e.preventDefault();
      zoom(p.i === zoomed ? nodes[p.i].parent : p.i, p.i); return; }
    if (key === 'Escape' || key === 'Home') { zoom(-1, p.i); return; }
    const same = places.filter(function (q) { return q.depth === p.depth; })
      .sort(function (a, b) { return a.x - b.x; }), k = same.indexOf(p);
    if (key === 'ArrowRight') to = same[k + 1];
    else if (key === 'ArrowLeft') to = same[k - 1];
    else if (key === (down ? 'ArrowDown' : 'ArrowUp'))
      to = places.find(function (q) { return nodes[q.i].parent === p.i; });
    else if (key === (down ? 'ArrowUp' : 'ArrowDown'))
      to = places.find(function (q) { return q.i === nodes[p.i].parent; });
    else return;
    e.preventDefault();
    if (to) { p.e.tabIndex = -1; to.e.tabIndex = 0; to.e.focus(); }
  });
  box.setAttribute('role', 'tree');
  addEventListener('resize', function () { draw(-1); });
  redraws.push(function () { draw(-1); });
  draw(-1);
  return {
    find: function (text) { wanted = text.trim().toLowerCase(); draw(-1); },
    turn: function (isDown) { down = isDown; draw(-1); },
    all: function () { zoom(-1, -1); }
  };
}

/* The colour of a function: of its module's hue. */
function plain(n) {
  const hue = (hashOf(base(n.module) || n.name) + hashOf(n.name + ' ') % 44 + 338) % 360;
  const light = 62 + hashOf(n.name) % 18;
  return 'hsl(' + hue + ',' + (isDark() ? 42 : 58) + '%,' + (isDark() ? light - 8 : light) + '%)';
}

/* Buttons and search above a flame graph. */
function flameTools(tools, flame, extra) {
  const say = tools.querySelector('.say');
  const find = document.createElement('input');
  find.type = 'search';
  find.placeholder = 'Search functions';
  find.setAttribute('aria-label', 'Search functions in the call graph');
  find.addEventListener('input', function () { flame.find(find.value); });
  const pair = [['Icicle', true], ['Flame', false]].map(function (b) {
    const button = document.createElement('button');
    button.textContent = b[0];
    button.setAttribute('aria-pressed', b[1]);
    button.addEventListener('click', function () {
      pair.forEach(function (x) { x.setAttribute('aria-pressed', x === button); });
      flame.turn(b[1]);
    });
    return button;
  });
  const all = document.createElement('button');
  all.textContent = 'Show all';
  all.addEventListener('click', flame.all);
  pair.concat([all, find], extra || []).forEach(function (e) { tools.insertBefore(e, say); });
}

/* ---- tables ---- */

/* columns: [title, number or text of a row, text of a cell, class]; a click on one sorts. */
function Table(table, columns, rows, most, onRow) {
  let by = 0, order = -1, filter = '', shown = most;
  const head = make(make(table, 'thead'), 'tr'), body = make(table, 'tbody');
  columns.forEach(function (c, i) {
    const th = make(head, 'th', undefined, c[3] || ''), b = make(th, 'button', c[0]);
    b.addEventListener('click', function () {
      order = by === i ? -order : typeof c[1](rows[0] || {}) === 'string' ? 1 : -1;
      by = i;
      draw();
    });
  });
  function draw() {
    [...head.children].forEach(function (th, i) {
      th.setAttribute('aria-sort', i !== by ? 'none' : order < 0 ? 'descending' : 'ascending');
    });
    clear(body);
    const list = rows.filter(function (r) { return !filter || r.text.includes(filter); });
    list.sort(function (a, b) {
      const x = columns[by][1](a), y = columns[by][1](b);
      return order * (x < y ? -1 : x > y ? 1 : 0);
    });
    list.slice(0, shown).forEach(function (r) {
      const tr = make(body, 'tr');
      columns.forEach(function (c) {
        const td = make(tr, 'td', undefined, c[3] || ''), what = c[2](r, td);
        if (what !== undefined) td.textContent = what;
      });
      if (onRow) onRow(r, tr);
    });
    if (list.length > shown) {
      const td = make(make(body, 'tr'), 'td', undefined, 'l');
      td.colSpan = columns.length;
      const b = make(td, 'button', 'Show ' + (list.length - shown) + ' more', 'link');
      b.addEventListener('click', function () { shown = Infinity; draw(); });
    }
  }
  draw();
  return { find: function (text) { filter = text.trim().toLowerCase(); draw(); }, draw: draw };
}
function meter(td, part, all, text) {
  make(td, 'span', text);
  const m = make(td, 'span', undefined, 'meter'), i = make(m, 'i');
  i.style.width = Math.min(100, 100 * ratio(part, all)) + '%';
}
