// SPDX-License-Identifier: MIT
//
// What people read: the line above a loop, the hover, the panel.
'use strict';

// Columns of FACILE's bounds, and ours, by the names that the bottlenecks have.
const BOUNDS = {
  predec: 'Predecoder',
  dec: 'Decoder',
  dsb: 'DSB',
  lsd: 'LSD',
  issue: 'Issue',
  ports: 'Ports',
  precedence: 'Dependencies',
  divider: 'Divider',
  stores: 'Stores',
  stack_sync: 'StackSync',
  forwarding: 'Forwarding',
  blocked: 'Blocked',
  microcoded: 'Microcode',
  loads: 'Loads',
  binding: 'Binding'
};
const MOST_LINES = 8;

/** "4.00", "≥ 4.00" where instructions without data are left out. */
function cyclesOf(r) {
  return (r.coverage < 1 ? '≥ ' : '') + r.cycles_per_iteration.toFixed(2);
}

const isGood = r => r.status === 'ok';
const bottlenecksOf = r => (r.bottlenecks || []).join(', ') || 'nothing';
const failureOf = r => r.error || String(r.status).replace(/_/g, ' ');

/** Above the loop: "4.00 cycles per iteration on SKL: Dependencies". */
function lensTitle(loop) {
  const results = loop.results;

  if (results.length === 1 && isGood(results[0]))
    return `${cyclesOf(results[0])} cycles per iteration on ${results[0].arch}: ${bottlenecksOf(results[0])}`;
  return results
    .map(r =>
      isGood(r) ? `${r.arch} ${cyclesOf(r)} ${bottlenecksOf(r)}` : `${r.arch}: ${failureOf(r)}`
    )
    .join(' | ');
}

/** In the status bar: "4.00 Dependencies (SKL)". */
function statusText(loop) {
  const r = loop.results.find(isGood);

  return r
    ? `${cyclesOf(r)} ${bottlenecksOf(r)} (${r.arch}${loop.results.length > 1 ? ', ...' : ''})`
    : failureOf(loop.results[0]);
}

/** Rows of bounds: [title, value for each result], the largest first; those of 0 are left out. */
function boundRows(results) {
  const keys = [...new Set(results.flatMap(r => Object.keys(r.bounds || {})))];
  const value = (r, key) => (r.bounds && r.bounds[key]) || 0;
  const most = key => Math.max(...results.map(r => value(r, key)));

  return keys
    .filter(key => most(key) >= 0.005)
    .sort((a, b) => most(b) - most(a))
    .map(key => [
      BOUNDS[key] || key,
      ...results.map(r => (r.bounds && key in r.bounds ? r.bounds[key].toFixed(2) : ''))
    ]);
}

const portsOf = insn =>
  Object.keys(insn.ports || {})
    .sort((a, b) => Number(a) - Number(b))
    .map(p => `p${p} ${insn.ports[p].toFixed(2)}`)
    .join(' ');

/** What is known of an instruction: "2 uops, p0 0.50 p1 0.50". */
function costOf(insn) {
  const notes = insn.notes || [];

  if (notes.includes('unknown')) return 'no data: counted as one uop that needs no port';
  if (notes.includes('fused_prev')) return 'fused with the one before';
  return [`${insn.uops} uop${insn.uops === 1 ? '' : 's'}`, portsOf(insn)]
    .filter(Boolean)
    .join(', ');
}

const markdown = text => String(text).replace(/[\\`*_{}[\]()#+\-.!|<>~]/g, '\\$&');

/** The hover, as Markdown: cycles, bounds, and the instructions of the line. */
function hoverText(loop, line) {
  const good = loop.results.filter(isGood);
  const parts = loop.results.map(r =>
    isGood(r)
      ? `**${markdown(r.arch)}: ${cyclesOf(r)} cycles per iteration**, limited by ${markdown(bottlenecksOf(r))}`
      : `**${markdown(r.arch)}**: ${markdown(failureOf(r))}`
  );

  if (good.length) {
    parts.push(
      [
        `| bound | ${good.map(r => markdown(r.arch)).join(' | ')} |`,
        `|---|${good.map(() => '---:|').join('')}`,
        ...boundRows(good).map(row => `| ${row.join(' | ')} |`)
      ].join('\n')
    );
    const here = (loop.all.get(line) || []).map(i => good[0].instructions[i]).filter(Boolean);
    const width = Math.min(50, Math.max(0, ...here.map(i => i.text.length)));
    const lines = here.slice(0, MOST_LINES).map(i => `${i.text.padEnd(width)}  ; ${costOf(i)}`);

    if (here.length > MOST_LINES) lines.push(`; and ${here.length - MOST_LINES} more`);
    if (lines.length)
      parts.push(
        `This line on ${markdown(good[0].arch)}:\n\n\`\`\`asm\n${lines.join('\n')}\n\`\`\``
      );
  }
  return parts.join('\n\n');
}

/* ---- the panel ---- */

const escape = text => String(text).replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`);

function table(head, rows) {
  const cells = (row, tag) =>
    row.map((cell, i) => `<${tag}${i ? ' class="number"' : ''}>${escape(cell)}</${tag}>`).join('');

  return (
    `<table><thead><tr>${cells(head, 'th')}</tr></thead><tbody>` +
    `${rows.map(row => `<tr>${cells(row, 'td')}</tr>`).join('')}</tbody></table>`
  );
}

function instructionTable(r) {
  return `<table><thead><tr><th>#</th><th>instruction</th><th>costs</th></tr></thead><tbody>${r.instructions
    .map(
      (insn, i) =>
        `<tr><td class="number">${i + 1}</td><td><code>${escape(insn.text)}</code></td>` +
        `<td>${escape(costOf(insn))}</td></tr>`
    )
    .join('')}</tbody></table>`;
}

function adviceText(advice) {
  const gain = `${advice.cycles_before.toFixed(2)} to ${advice.cycles_after.toFixed(2)} cycles`;

  return (
    `<li>${escape(advice.text)}: ${escape(gain)}${advice.assumes ? `<br>if ${escape(advice.assumes)}` : ''}` +
    `${advice.changes ? `<pre>${escape(advice.changes)}</pre>` : ''}</li>`
  );
}

function section(r) {
  if (!isGood(r)) return `<h2>${escape(r.arch)}</h2><p>${escape(failureOf(r))}</p>`;
  const remarks = (r.remarks || []).map(x => `<li>${escape(x.text)}</li>`).join('');
  const advice = (r.advice || []).map(adviceText).join('');
  const interval =
    r.confidence && 'low' in r.confidence
      ? ` (90% interval ${r.confidence.low.toFixed(2)} to ${r.confidence.high.toFixed(2)})`
      : '';

  return (
    `<h2>${escape(r.arch)}: ${escape(cyclesOf(r))} cycles per iteration${escape(interval)}</h2>` +
    `<p>limited by ${escape(bottlenecksOf(r))}</p>` +
    (r.explanation ? `<pre>${escape(r.explanation)}</pre>` : '') +
    (advice ? `<h3>What would gain</h3><ul>${advice}</ul>` : '') +
    `<h3>Instructions</h3>${instructionTable(r)}` +
    (remarks ? `<h3>Remarks</h3><ul>${remarks}</ul>` : '')
  );
}

/** The page of the panel: no scripts, nothing from elsewhere. */
function panelHtml(title, results, nonce) {
  const good = results.filter(isGood);

  return `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-${nonce}'">
<title>${escape(title)}</title>
<style nonce="${nonce}">
body { color: var(--vscode-foreground); font-family: var(--vscode-font-family); font-size: var(--vscode-font-size); line-height: 1.45; max-width: 60em; padding: 0 1em 2em; }
h1 { font-size: 1.4em; } h2 { font-size: 1.2em; margin-top: 1.6em; } h3 { font-size: 1em; }
pre, code { font-family: var(--vscode-editor-font-family); font-size: var(--vscode-editor-font-size); }
pre { background: var(--vscode-textCodeBlock-background); overflow-x: auto; padding: .6em .8em; }
table { border-collapse: collapse; } th, td { padding: .1em .8em .1em 0; text-align: left; vertical-align: top; }
th { border-bottom: 1px solid var(--vscode-panel-border); font-weight: normal; opacity: .8; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
</style></head><body><h1>${escape(title)}</h1>
${good.length > 1 ? table(['bound', ...good.map(r => r.arch)], [['cycles', ...good.map(cyclesOf)], ...boundRows(good)]) : ''}
${results.map(section).join('\n')}
</body></html>`;
}

module.exports = { boundRows, costOf, hoverText, lensTitle, panelHtml, statusText };
