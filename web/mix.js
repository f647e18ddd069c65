/* SPDX-License-Identifier: MIT */
'use strict';
(() => {
const data = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const k = data.keys.length;
const percent = (x, d) => (100 * x).toFixed(d) + '%';
$('sub').textContent = [data.command, 'rung: ' + data.rung, 'method: ' + data.method,
  'expected error: ' + data.expected_error].filter(x => x).join(' \u00b7 ');
const f = data.figures;
const big = [[Math.round(data.instructions).toLocaleString('en'),
    data.is_relative ? 'instructions (relative)' : 'instructions'],
  [percent(f.simd_density, 1), 'in vector registers'],
  [percent(f.packed_flops, 1), 'of FLOP are packed'],
  [f.flops_per_instruction.toFixed(3), 'FLOP per instruction'],
  [percent(f.branch_density, 1), 'branches'], [percent(f.load_density, 1), 'loads'],
  [percent(f.store_density, 1), 'stores'],
  [f.instructions_per_block.toFixed(2), 'instructions per block']];
for (const [value, name] of big) {
  const div = document.createElement('div'), b = document.createElement('b');
  const span = document.createElement('span');
  b.textContent = value; span.textContent = name; div.append(b, span);
  $('figures').append(div);
}
const names = data.keys.concat(['executions', 'share', 'error', '']);
let column = k, down = true, word = '';
const most = data.rows.reduce((a, r) => Math.max(a, r[k + 1]), 0);
const compare = (a, b) => {
  const x = a[column], y = b[column];
  if (typeof x === 'string') {
    const n = Number(x) - Number(y);
    return isNaN(n) ? x.localeCompare(y, 'en') : n;
  }
  return (x === null ? -1 : x) - (y === null ? -1 : y);
};
function draw() {
  const rows = data.rows.filter(r => !word ||
    r.slice(0, k).some(t => t.toLowerCase().includes(word)));
  rows.sort((a, b) => down ? compare(b, a) : compare(a, b));
  const shown = rows.slice(0, 2000), body = document.createDocumentFragment();
  for (const r of shown) {
    const tr = document.createElement('tr');
    for (let i = 0; i < k + 3; i++) {
      const td = document.createElement('td');
      if (i >= k) td.className = 'n';
      td.textContent = i < k ? r[i] : i === k ? r[i].toLocaleString('en') :
        i === k + 1 ? percent(r[i], 2) : r[i] === null ? '?' : percent(r[i], 1);
      tr.append(td);
    }
    const td = document.createElement('td'), bar = document.createElement('i');
    bar.style.width = (most > 0 ? 160 * r[k + 1] / most : 0) + 'px';
    td.append(bar); tr.append(td); body.append(tr);
  }
  $('body').replaceChildren(body);
  $('count').textContent = rows.length + ' rows' +
    (shown.length < rows.length ? ', ' + shown.length + ' shown' : '');
  [...$('head').children].forEach((th, i) => th.setAttribute('aria-sort',
    i !== column ? 'none' : down ? 'descending' : 'ascending'));
}
$('head').replaceChildren();
names.forEach((name, i) => {
  const th = document.createElement('th');
  th.textContent = name;
  if (i >= k && i < k + 3) th.className = 'n';
  if (i < k + 3) {
    th.tabIndex = 0;
    const sort = () => { down = column === i ? !down : i >= k; column = i; draw(); };
    th.addEventListener('click', sort);
    th.addEventListener('keydown', e => {
      if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); sort(); } });
  }
  $('head').append(th);
});
$('find').addEventListener('input', e => { word = e.target.value.toLowerCase(); draw(); });
draw();
document.documentElement.dataset.state = 'ready';
})();
