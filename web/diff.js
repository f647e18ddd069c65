/* SPDX-License-Identifier: MIT */
'use strict';
/* global D, root, $, make, count, share, ratio, base, str, brief, figure, setUpTheme, stallParts,
   stallBar, isDark, WORDS, Flame, flameTools, Table */
(function () {
const A = D.sides[0], B = D.sides[1], change = B.cycles - A.cycles;

function signed(x, text) { return (x > 0 ? '+' : x < 0 ? '\u2212' : '') + text; }
function percent(from, to) {
  const p = from > 0 ? 100 * (to / from - 1) : to > 0 ? Infinity : 0;
  return p === Infinity ? 'new' : signed(p, Math.abs(p).toFixed(Math.abs(p) < 10 ? 2 : 1) + '%');
}
function delta(x) { return signed(x, count(Math.abs(x))); }
/* A bar to the right for more, to the left for less. */
function bar(td, x, most) {
  const c = make(td, 'span', undefined, 'change ' + (x > 0 ? 'more' : 'less')), i = make(c, 'i');
  const w = 50 * Math.min(1, Math.abs(x) / (most || 1));
  i.style.width = w + '%';
  i.style.left = x > 0 ? '50%' : 50 - w + '%';
}
function unlike(text) { return text.length > 90 ? text.slice(0, 90) + '\u2026' : text; }

function fillHeader() {
  const r = ratio(B.cycles, A.cycles);
  $('title').textContent = 'B takes ' + (Math.abs(r - 1) < 5e-5 ? 'as many cycles as A' :
    Math.abs(100 * (r - 1)).toFixed(2) + '% ' + (r > 1 ? 'more' : 'fewer') + ' cycles than A');
  document.title = percent(A.cycles, B.cycles) + ' cycles: ' + A.name + ' and ' + B.name;
  $('sub').textContent = A.cpu + ' (' + A.arch + (A.caveat ? ', ' + A.caveat : '') + ')';
  [['A', A], ['B', B]].forEach(function (s) {
    make($('sub'), 'br');
    make($('sub'), 'b', s[0] + ' ');
    $('sub').appendChild(document.createTextNode(unlike(s[1].name)));
  });
  figure($('figures'), delta(change), 'cycles, of ' + count(A.cycles));
  figure($('figures'), percent(A.instructions, B.instructions), 'instructions, of ' +
    count(A.instructions));
  figure($('figures'), ratio(A.instructions, A.cycles).toFixed(2) + ' \u2192 ' +
    ratio(B.instructions, B.cycles).toFixed(2), 'instructions per cycle');
  if (A.caches && B.caches) figure($('figures'), [A, B].map(function (s) {
    return (1000 * ratio(s.misses[0], s.instructions)).toFixed(1);
  }).join(' \u2192 '), 'L1 misses per 1000 instructions');
  if (A.branches && B.branches) figure($('figures'), [A, B].map(function (s) {
    return (1000 * ratio(s.mispredicted, s.instructions)).toFixed(1);
  }).join(' \u2192 '), 'mispredictions per 1000 instructions');
}

function fillBars() {
  const most = Math.max(A.cycles, B.cycles);
  [['A', A], ['B', B]].forEach(function (s) {
    const row = make($('bars'), 'div', undefined, 'side');
    make(row, 'b', s[0]);
    const cell = make(row, 'div');
    stallBar(cell, s[1].stalled, s[1].cycles, false);
    cell.firstChild.style.width = 100 * ratio(s[1].cycles, most) + '%';
    make(row, 'span', count(s[1].cycles), 'num');
  });
  const rows = [];
  const both = stallParts(A.stalled, A.cycles, false).concat(
    stallParts(B.stalled, B.cycles, false));
  both.forEach(function (p) {
    if (rows.some(function (r) { return r.name === p.name; })) return;
    const of = function (s) {
      const x = stallParts(s.stalled, s.cycles).find(function (q) { return q.name === p.name; });
      return x ? x.cycles : 0;
    };
    rows.push({ name: p.name, color: p.color, a: of(A), b: of(B), text: p.name });
  });
  rows.forEach(function (r) {
    const key = make($('keys'), 'span');
    make(key, 'i').style.background = r.color;
    key.appendChild(document.createTextNode(r.name));
    key.title = WORDS[r.name] || '';
  });
  const largest = rows.reduce(function (m, r) { return Math.max(m, Math.abs(r.b - r.a)); }, 0);
  Table($('stalls'), [
    ['Change', function (r) { return Math.abs(r.b - r.a); }, function (r, td) {
      make(td, 'span', delta(r.b - r.a)); bar(td, r.b - r.a, largest); }],
    ['A', function (r) { return r.a; }, function (r) { return count(r.a); }, 'wide'],
    ['B', function (r) { return r.b; }, function (r) { return count(r.b); }, 'wide'],
    ['What', function (r) { return r.name; }, function (r, td) { make(td, 'span', r.name);
      if (WORDS[r.name]) make(td, 'small', ' ' + WORDS[r.name], 'wide dim'); }, 'l name']
  ], rows, 20);
}
function fillNotes() {
  const list = [];
  [['A', A], ['B', B]].forEach(function (s) {
    if (s[1].error > 0) list.push(s[0] + ' comes from samples, with a standard error of ' +
      share(s[1].error, s[1].cycles) + ' of its cycles.');
    if (s[1].partial) list.push('The run of ' + s[0] + ' is not complete.');
  });
  const both = Math.hypot(A.error, B.error);
  if (both > 0 && Math.abs(change) < 2 * both)
    list.push('The difference is less than two standard errors: it may be chance.');
  [['unmodelled', 'Not modelled'],
    ['unmeasured', 'With parameters that were never measured']].forEach(
    function (k) {
      const of = function (s) { return s[k[0]].join(', ') || 'nothing'; };
      if (A[k[0]].length + B[k[0]].length) list.push(k[1] + ': ' + of(A) +
        (of(A) === of(B) ? '' : ' in A; ' + of(B) + ' in B') + '.');
    });
  if (A.arch !== B.arch) list.push('The runs are for different CPUs: ' + A.arch + ' and ' + B.arch);
  list.forEach(function (text) { make($('notes'), 'li', text); });
}

/* ---- functions and blocks ---- */

function sides(r, at) {
  return { a: r[at], b: r[at + 4], timesA: r[at + 1], timesB: r[at + 5], insnsA: r[at + 2],
    insnsB: r[at + 6], stallsA: r[at + 3], stallsB: r[at + 7] };
}
/* The reason whose stalls changed most in the direction of the cycles. */
function cause(r) {
  let best = '', most = 0;
  D.stalls.forEach(function (s, i) {
    const d = (r.stallsB[i] - r.stallsA[i]) * Math.sign(r.b - r.a);
    if (d > most) { most = d; best = s; }
  });
  return most > .1 * Math.abs(r.b - r.a) ? best : '';
}
const FUNCTIONS = D.functions.map(function (f) {
  return Object.assign(sides(f, 2), { name: str(f[0]), module: str(f[1]),
    text: (str(f[0]) + ' ' + str(f[1])).toLowerCase() });
});
function fillFunctions() {
  const most = FUNCTIONS.reduce(function (m, f) { return Math.max(m, Math.abs(f.b - f.a)); }, 0);
  const table = Table($('functions'), [
    ['Change', function (f) { return Math.abs(f.b - f.a); }, function (f, td) {
      make(td, 'span', delta(f.b - f.a), f.b > f.a ? 'up' : 'down'); bar(td, f.b - f.a, most); }],
    ['', function (f) { return ratio(f.b, f.a); }, function (f) { return percent(f.a, f.b); }],
    ['A', function (f) { return f.a; }, function (f) { return count(f.a); }, 'wide'],
    ['B', function (f) { return f.b; }, function (f) { return count(f.b); }, 'wide'],
    ['Instructions', function (f) { return f.insnsB - f.insnsA; },
      function (f) { return percent(f.insnsA, f.insnsB); }, 'wide'],
    ['Because of', cause, cause, 'l wide'],
    ['Function', function (f) { return f.name; }, function (f, td) {
      make(td, 'span', brief(f.name)).title = f.name;
      if (f.module && f.name[0] !== '[') make(td, 'small', ' ' + base(f.module));
      if (!f.a && f.b) make(td, 'small', ' only in B');
      if (f.a && !f.b) make(td, 'small', ' only in A');
    }, 'l name']
  ], FUNCTIONS, 30);
  $('find').addEventListener('input', function () { table.find($('find').value); });
}
/* Lines that both sides have, in order: the longest common subsequence. */
function common(a, b) {
  const n = a.length, m = b.length, t = Array.from({ length: n + 1 }, function () {
    return new Uint16Array(m + 1); });
  for (let i = n - 1; i >= 0; i--)
    for (let k = m - 1; k >= 0; k--)
      t[i][k] = a[i] === b[k] ? t[i + 1][k + 1] + 1 : Math.max(t[i + 1][k], t[i][k + 1]);
  const inA = new Set(), inB = new Set();
  for (let i = 0, k = 0; i < n && k < m;) {
    if (a[i] === b[k]) { inA.add(i++); inB.add(k++); }
    else if (t[i + 1][k] >= t[i][k + 1]) i++; else k++;
  }
  return [inA, inB];
}
/* Addresses differ from build to build: they do not make an instruction another one. */
function plainText(text) { return text.replace(/0x[0-9a-f]{4,}/g, '0x'); }
function putCode(parent, title, code, kept, className) {
  const div = make(parent, 'div');
  make(div, 'small', title + (code ? ' ' + code[0] : ' does not have it'), 'dim');
  if (!code) return;
  const pre = make(div, 'pre');
  code.slice(1).forEach(function (s, i) {
    make(pre, 'span', str(s) + '\n', kept && !kept.has(i) ? className : '');
  });
}
function linesOf(code) {
  return code ? code.slice(1).map(function (x) { return plainText(str(x)); }) : null;
}
/* Blocks that only one side has belong together if they are of one function and alike. */
function align(rows) {
  const onlyB = rows.filter(function (r) { return !r.codeA; }), gone = new Set();
  rows.forEach(function (r) {
    if (r.codeB || !r.f) return;
    let best = null, most = .5;
    onlyB.forEach(function (q) {
      if (gone.has(q) || q.f !== r.f) return;
      const a = linesOf(r.codeA), b = linesOf(q.codeB);
      const same = common(a, b)[0].size / Math.max(a.length, b.length);
      if (same >= most && (!best || same > most)) { best = q; most = same; }
    });
    if (!best) return;
    gone.add(best);
    Object.assign(r, { b: best.b, timesB: best.timesB, insnsB: best.insnsB, stallsB: best.stallsB,
      codeB: best.codeB });
  });
  return rows.filter(function (r) { return !gone.has(r) && r.a !== r.b; })
    .sort(function (x, y) { return Math.abs(y.b - y.a) - Math.abs(x.b - x.a); });
}
function each(cycles, times) { return times ? ratio(cycles, times).toFixed(2) : '\u2013'; }
function fillBlocks() {
  const rows = align(D.blocks.map(function (b) {
    return Object.assign(sides(b, 1), { f: FUNCTIONS[b[0]], codeA: b[9], codeB: b[10] });
  }).filter(function (r) { return r.codeA || r.codeB; }));
  if (!rows.length) { $('blocksection').hidden = true; return; }
  const most = Math.abs(rows[0].b - rows[0].a);
  const add = function (r, i) {
    const d = make($('blocks'), 'details', undefined, 'block'), s = make(d, 'summary');
    make(s, 'span', delta(r.b - r.a), r.b > r.a ? 'up' : 'down');
    bar(s, r.b - r.a, most);
    make(s, 'span', '  ' + (r.f ? brief(r.f.name) : 'a function below the table'));
    make(s, 'small', '  each ' + each(r.a, r.timesA) + ' \u2192 ' + each(r.b, r.timesB) +
      ' cycles, ' + count(r.timesA) + ' \u2192 ' +
      count(r.timesB) + ' times' + (cause(r) ? ', ' + cause(r) : ''), 'dim');
    const open = function () {
      if (d.children.length > 1) return;
      const two = make(d, 'div', undefined, 'two');
      const kept = r.codeA && r.codeB ? common(linesOf(r.codeA), linesOf(r.codeB)) : [null, null];
      putCode(two, 'A', r.codeA, kept[0], 'old');
      putCode(two, 'B', r.codeB, kept[1], 'new');
    };
    d.addEventListener('toggle', open);
    if (i < 3) { d.open = true; open(); }
  };
  rows.slice(0, 40).forEach(add);
}

/* ---- calls ---- */

function nodesOf(side) {
  const of = new Map(), list = side.calls.map(function (c, i) {
    of.set(c[0], i);
    return { parent: c[1], name: str(c[2]), key: c[2], module: str(c[3]), calls: c[4],
      instructions: c[5], cycles: c[6], self: c[7], other: 0 };
  });
  list.forEach(function (n) { n.parent = n.parent < 0 ? -1 : of.get(n.parent); });
  return list;
}
/* Finds what a path takes on the other side: paths are equal if all names on them are. */
function pair(a, b) {
  const ids = new Map(), number = function (list, n) {
    const key = (n.parent < 0 ? -1 : list[n.parent].id) + ' ' + n.key;
    if (!ids.has(key)) ids.set(key, ids.size);
    n.id = ids.get(key);
  };
  a.forEach(function (n) { number(a, n); });
  b.forEach(function (n) { number(b, n); });
  const of = function (list) { return new Map(list.map(function (n) { return [n.id, n]; })); };
  const inA = of(a), inB = of(b);
  a.forEach(function (n) { n.other = inB.has(n.id) ? inB.get(n.id).cycles : 0; });
  b.forEach(function (n) { n.other = inA.has(n.id) ? inA.get(n.id).cycles : 0; });
}
function fillCalls() {
  const lists = [nodesOf(A), nodesOf(B)];
  if (!lists[0].length || !lists[1].length) { $('callsection').hidden = true; return; }
  pair(lists[0], lists[1]);
  const say = $('calltools').querySelector('.say');
  const least = .001 * Math.max(A.cycles, B.cycles);
  const graphs = [];
  const buttons = ['A', 'B'].map(function (s, side) {
    const b = document.createElement('button');
    b.textContent = 'Widths of ' + s;
    b.setAttribute('aria-pressed', side === 1);
    b.addEventListener('click', function () {
      buttons.forEach(function (x) { x.setAttribute('aria-pressed', x === b); });
      start(side);
    });
    return b;
  });
  const of = function (n, side) { return side ? [n.other, n.cycles] : [n.cycles, n.other]; };
  function start(side) {
    const old = $('flame'), box = old.cloneNode(false);
    old.replaceWith(box);
    graphs[0] = Flame(box, lists[side], D.sides[side].cycles, function (n) {
      const c = of(n, side), d = c[1] - c[0], k = Math.min(1, Math.abs(d) /
        Math.max(least, .25 * Math.max(c[0], c[1]))), dark = isDark();
      if (Math.abs(d) < least) return dark ? '#8d9aa8' : '#d7dee6';
      return 'hsl(' + (d > 0 ? 14 : 212) + ',' + Math.round(30 + 50 * k) + '%,' +
        Math.round((dark ? 74 : 84) - 18 * k) + '%)';
    }, function (n) {
      const c = of(n, side);
      return [['A', count(c[0]), share(c[0], A.cycles)], ['B', count(c[1]), share(c[1], B.cycles)],
        ['change', delta(c[1] - c[0]), percent(c[0], c[1])]];
    }, function (text) { say.textContent = text; });
  }
  start(1);
  flameTools($('calltools'), { find: function (t) { graphs[0].find(t); },
    turn: function (d) { graphs[0].turn(d); }, all: function () { graphs[0].all(); } }, buttons);
  root.dataset.calls = lists[1].length;
}

setUpTheme();
fillHeader();
fillBars();
fillNotes();
fillFunctions();
fillCalls();
fillBlocks();
$('foot').textContent = 'Made by tact. Nothing on this page comes from elsewhere.' +
  (D.more_functions ? ' ' + D.more_functions + ' functions that changed less are left out.' : '');
root.dataset.state = 'ready';
})();
