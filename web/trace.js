/* SPDX-License-Identifier: MIT */
'use strict';
/* global D, root, $, make, clear, count, share, ratio, base, str, brief, figure, setUpTheme,
   stallBar, limitText, Flame, plain, flameTools, Table, meter */
/* exported CALLS, NODE_OF */
const CALLS = D.calls.map(function (c) {
  return { row: c[0], parent: c[1], name: str(c[2]), module: str(c[3]), calls: c[4],
    instructions: c[5], cycles: c[6], self: c[7] };
});
/* Rows of the result have numbers of their own: some were left out. */
const NODE_OF = new Map(CALLS.map(function (c, i) { return [c.row, i]; }));
CALLS.forEach(function (c) { c.parent = c.parent < 0 ? -1 : NODE_OF.get(c.parent); });

(function () {
function fillHeader() {
  const words = D.command || 'a run';
  $('title').textContent = words.length > 160 ? words.slice(0, 160) + '\u2026' : words;
  document.title = count(D.cycles) + ' cycles: ' + words.slice(0, 60);
  $('sub').textContent = D.cpu + ' (' + D.arch + (D.caveat ? ', ' + D.caveat : '') + ')';
  const box = $('figures');
  figure(box, count(D.cycles), 'cycles' + (D.error > 0 ?
    ' \u00b1 ' + share(D.error, D.cycles) + ' (standard error)' : ''));
  figure(box, count(D.instructions), 'instructions');
  figure(box, ratio(D.instructions, D.cycles).toFixed(2), 'instructions per cycle');
  if (D.threads > 1) figure(box, D.threads, 'threads');
  D.misses.forEach(function (m, i) {
    figure(box, (1000 * ratio(m, D.instructions)).toFixed(2), 'L' + (i + 1) +
      ' misses per 1000 instructions');
  });
  if (D.caches) {
    figure(box, (1000 * ratio(D.page_walks, D.instructions)).toFixed(2),
      'page walks per 1000 instructions');
    figure(box, count(D.page_faults), 'page faults');
  }
  if (D.branches) figure(box, (1000 * ratio(D.mispredicted, D.instructions)).toFixed(2),
    'mispredictions per 1000 instructions');
}

function fillSummary() {
  const box = $('summary'), list = [];
  stallBar(box, D.stalled, D.cycles, true);
  if (D.unmodelled.length) list.push('Not modelled: ' + D.unmodelled.join(', ') + '.');
  if (D.unmeasured.length) list.push('With parameters that were never measured on this CPU: ' +
    D.unmeasured.join(', ') + '.');
  if (!D.exact) list.push('The cycles come from samples: ' + share(D.simulated, D.instructions) +
    ' of the instructions went through the simulated pipeline. The standard error is the ' +
    'uncertainty of sampling alone, not that of the model.');
  if (D.followed_branches < D.executed_branches) list.push(share(D.followed_branches,
    D.executed_branches) + ' of the branches were followed; the others are taken to be like them.');
  if (D.unknown >= 5e-5 * D.instructions) list.push(share(D.unknown, D.instructions) +
    ' of the instructions have no data for this CPU.');
  if (D.caveat) list.push('Predictions for this CPU: ' + D.caveat + '.');
  if (D.partial) list.push('The run is not complete.');
  const ul = make(box, 'ul', undefined, 'notes');
  list.forEach(function (text) { make(ul, 'li', text); });
}

/* ---- calls ---- */

function fillCalls() {
  if (!CALLS.length) { $('callsection').hidden = true; return; }
  const say = $('calltools').querySelector('.say');
  const flame = Flame($('flame'), CALLS, D.cycles, plain, function (n) {
    return [['total', count(n.cycles), share(n.cycles, D.cycles)],
      ['itself', count(n.self), share(n.self, D.cycles)], ['calls', count(n.calls)],
      ['IPC', ratio(n.instructions, n.cycles).toFixed(2)]];
  }, function (text) { say.textContent = text; });
  flameTools($('calltools'), flame);
}

/* Cycles of functions with those of what they called, by name and module; recursion counts once. */
function totals() {
  const sums = new Map(), key = function (n) { return n.name + '\n' + n.module; };
  CALLS.forEach(function (n) {
    for (let up = n.parent; up >= 0; up = CALLS[up].parent)
      if (key(CALLS[up]) === key(n)) return;
    sums.set(key(n), (sums.get(key(n)) || 0) + n.cycles);
  });
  return sums;
}

/* ---- tables ---- */

function row(r) {
  return { name: str(r[0]), module: str(r[1]), cycles: r[2], instructions: r[3], times: r[4],
    bound: str(r[5]), stalls: r[6], text: (str(r[0]) + ' ' + str(r[1])).toLowerCase() };
}
function limits(r) {
  return [r.bound, limitText(r.stalls, r.cycles)].filter(Boolean).join('; ') || '\u2013';
}
function openListing(r) {
  const i = D.listings.findIndex(function (l) {
    return str(l.function) === r.name && str(l.module) === r.module;
  });
  if (i < 0) return false;
  $('which').value = i;
  showListing(i);
  $('codesection').scrollIntoView({ behavior: 'smooth', block: 'start' });
  return true;
}
function putName(r, td) {
  const has = D.listings.some(function (l) {
    return str(l.function) === r.name && str(l.module) === r.module;
  });
  if (has) {
    const b = make(td, 'button', brief(r.name), 'link');
    b.title = r.name;
    b.addEventListener('click', function () { openListing(r); });
  } else {
    make(td, 'span', brief(r.name)).title = r.name;
  }
  if (r.module && r.name[0] !== '[') make(td, 'small', ' ' + base(r.module));
}
function fillFunctions() {
  const sums = totals(), rows = D.functions.map(row);
  rows.forEach(function (r) { r.total = sums.get(r.name + '\n' + r.module) || r.cycles; });
  const columns = [
    ['Share', function (r) { return r.cycles; }, function (r, td) {
      meter(td, r.cycles, D.cycles, share(r.cycles, D.cycles)); }],
    ['Cycles', function (r) { return r.cycles; }, function (r) { return count(r.cycles); }, 'wide'],
    ['Total', function (r) { return r.total; }, function (r) { return share(r.total, D.cycles); }],
    ['IPC', function (r) { return ratio(r.instructions, r.cycles); },
      function (r) { return ratio(r.instructions, r.cycles).toFixed(2); }, 'wide'],
    ['Calls', function (r) { return r.times; }, function (r) { return count(r.times); }, 'wide'],
    ['Limited by', limits, limits, 'l wide'],
    ['Function', function (r) { return r.name; }, putName, 'l name']
  ];
  const table = Table($('functions'), columns, rows, 40);
  $('find').addEventListener('input', function () { table.find($('find').value); });
}
function fillBlocks() {
  const rows = D.blocks.map(function (b) {
    const r = row(b);
    return Object.assign(r, { address: b[7], source: str(b[8]), line: b[9], alone: b[10],
      code: b[11] });
  });
  const each = function (r) { return ratio(r.cycles, r.times); };
  const columns = [
    ['Share', function (r) { return r.cycles; }, function (r, td) {
      meter(td, r.cycles, D.cycles, share(r.cycles, D.cycles)); }],
    ['Times', function (r) { return r.times; }, function (r) { return count(r.times); }, 'wide'],
    ['Each', each, function (r) { return each(r).toFixed(2); }],
    ['Alone', function (r) { return ratio(r.alone, r.times); },
      function (r) { return ratio(r.alone, r.times).toFixed(2); }, 'wide'],
    ['Limited by', limits, limits, 'l wide'],
    ['Block', function (r) { return r.name; }, function (r, td) {
      const d = make(td, 'details'), s = make(d, 'summary');
      make(s, 'span', brief(r.name) + ' ' + r.address).title = r.name;
      if (r.line) make(s, 'small', ' ' + base(r.source) + ':' + r.line);
      const pre = make(d, 'pre');
      pre.textContent = r.code.map(function (c) {
        return ratio(c[1], r.times).toFixed(2).padStart(8) + '  ' + str(c[0]);
      }).join('\n');
      make(d, 'small', 'Cycles per execution of each instruction. Alone: cycles if the block ' +
        'were repeated by itself.');
    }, 'l name']
  ];
  Table($('blocks'), columns, rows, 20);
}

/* ---- source and assembly ---- */

function heat(td, part, all) {
  td.classList.add('heat');
  td.style.setProperty('--warm', Math.min(70, Math.round(160 * ratio(part, all))));
}
function light(file, line) {
  document.querySelectorAll('.pair tr.on').forEach(function (tr) { tr.classList.remove('on'); });
  const first = [];
  document.querySelectorAll('.pair tr[data-line]').forEach(function (tr) {
    if (tr.dataset.line !== file + ':' + line) return;
    tr.classList.add('on');
    const table = tr.closest('table').id;
    if (!first.includes(table)) { first.push(table); const box = tr.closest('.pair > div');
      box.scrollTop = Math.max(0, tr.offsetTop - box.clientHeight / 3); }
  });
}
function onLine(tr, file, line) {
  tr.dataset.line = file + ':' + line;
  tr.tabIndex = 0;
  const go = function () { light(file, line); };
  tr.addEventListener('click', go);
  tr.addEventListener('keydown', function (e) { if (e.key === 'Enter') go(); });
}
function showSource(l, sums) {
  const table = clear($('source'));
  if (!l.sources.length) {
    make(make(make(table, 'tr'), 'td'), 'span',
      'No source lines: the code was built without -g.', 'dim');
    return;
  }
  l.sources.forEach(function (s) {
    const tr = make(table, 'tr', undefined, 'file'), td = make(tr, 'td', str(s.file));
    td.colSpan = 4;
    let last = 0;
    s.lines.forEach(function (x) {
      if (last && x[0] !== last + 1) {
        const gap = make(make(table, 'tr', undefined, 'gap'), 'td', '\u22ee');
        gap.colSpan = 4;
      }
      last = x[0];
      const cycles = sums.get(s.file + ':' + x[0]), r = make(table, 'tr');
      const n = make(r, 'td', cycles === undefined ? '' : share(cycles, D.cycles), 'n');
      if (cycles !== undefined) { heat(n, cycles, l.cycles); onLine(r, s.file, x[0]); }
      const why = x[2] && cycles ? limitText(x[2], cycles) : '';
      make(r, 'td', why, 'why').title = why;
      make(r, 'td', x[0], 'n');
      make(r, 'td', x[1].replace(/\t/g, '    ') || ' ');
    });
  });
}
/* Scrolls to the row with the most cycles. */
function showHottest(table) {
  const rows = [...table.querySelectorAll('tr')], box = table.parentNode;
  const warm = function (tr) {
    const td = tr.querySelector('.heat');
    return td ? parseFloat(td.textContent) || 0 : 0;
  };
  const best = rows.reduce(function (m, tr) { return warm(tr) > warm(m) ? tr : m; }, rows[0]);
  if (best) box.scrollTop = Math.max(0, best.offsetTop - box.clientHeight / 3);
}
function showListing(i) {
  const l = D.listings[i], sums = new Map();
  l.insns.forEach(function (x) {
    const key = x[4] + ':' + x[5];
    if (x[4] >= 0) sums.set(key, (sums.get(key) || 0) + x[2]);
  });
  showSource(l, sums);
  const table = clear($('assembly'));
  l.insns.forEach(function (x, k) {
    if (k && x[3] !== l.insns[k - 1][3])
      make(make(table, 'tr', undefined, 'gap'), 'td', ' ').colSpan = 5;
    const tr = make(table, 'tr');
    const n = make(tr, 'td', share(x[2], D.cycles), 'n');
    heat(n, x[2], l.cycles);
    make(tr, 'td', ratio(x[2], x[3]).toFixed(2), 'n').title = 'cycles per execution';
    make(tr, 'td', x[0], 'n');
    make(tr, 'td', str(x[1]));
    make(tr, 'td', x[5] ? base(str(x[4])) + ':' + x[5] : '', 'why');
    if (x[4] >= 0) onLine(tr, x[4], x[5]);
  });
  showHottest($('source'));
  showHottest(table);
  $('whichsay').textContent = share(l.cycles, D.cycles) + ' of all cycles; columns: share of all ' +
    'cycles, cycles per execution. Click a line to find its instructions.';
}
function fillListings() {
  if (!D.listings.length) { $('codesection').hidden = true; return; }
  D.listings.forEach(function (l, i) {
    const o = make($('which'), 'option', share(l.cycles, D.cycles) + '  ' +
      brief(str(l.function)));
    o.value = i;
  });
  $('which').addEventListener('change', function () { showListing(+$('which').value); });
  /* The hottest one whose source is there. */
  const best = Math.max(0, D.listings.findIndex(function (l) {
    return l.sources.some(function (s) {
      return s.lines.some(function (x) { return x[1]; });
    });
  }));
  $('which').value = best;
  showListing(best);
}

setUpTheme();
fillHeader();
fillSummary();
fillCalls();
fillFunctions();
fillBlocks();
fillListings();
$('foot').textContent = 'Made by tact. Nothing on this page comes from elsewhere.';
root.dataset.calls = CALLS.length;
})();
