/* SPDX-License-Identifier: MIT
 *
 * A report as a page: the JSON of the report in a frame that sorts, filters and draws bars.
 */
#include <string.h>

#include "mixer.h"

const char mix_page_head[] =
	"<!DOCTYPE html>\n"
	"<html lang='en' data-state='loading'>\n"
	"<head>\n"
	"<meta charset='utf-8'>\n"
	"<meta name='viewport' content='width=device-width'>\n"
	"<meta http-equiv='Content-Security-Policy'\n"
	" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
	"<title>tact mix</title>\n"
	"<style>\n"
	":root { --ink: #1d2733; --soft: #64748b; --line: #e2e8f0; --paper: #ffffff; }\n"
	"* { box-sizing: border-box; }\n"
	"body { margin: 0; color: var(--ink); background: #f5f7fa;\n"
	"  font: 14px/1.45 system-ui, 'Segoe UI', 'Liberation Sans', Arial, sans-serif; }\n"
	"header { padding: 14px 24px 12px; background: var(--paper);\n"
	"  border-bottom: 1px solid var(--line); }\n"
	"h1 { margin: 0 0 4px; font-size: 19px; font-weight: 650; }\n"
	".sub { color: var(--soft); }\n"
	"#figures { display: flex; flex-wrap: wrap; gap: 8px 34px; margin-top: 10px; }\n"
	"#figures b { display: block; font-size: 20px; font-variant-numeric: tabular-nums; }\n"
	"#figures span { color: var(--soft); font-size: 12px; }\n"
	"main { padding: 12px 24px 24px; }\n"
	"input { font: inherit; padding: 3px 10px; margin-bottom: 8px; width: 280px;\n"
	"  border: 1px solid #cbd5e1; border-radius: 5px; }\n"
	"table { border-collapse: collapse; background: var(--paper); width: 100%;\n"
	"  border: 1px solid var(--line); }\n"
	"th, td { padding: 3px 12px; text-align: left; border-bottom: 1px solid var(--line); }\n"
	"th { cursor: pointer; user-select: none; position: sticky; top: 0; background: #eef2f7; "
	"}\n"
	"th:focus-visible, input:focus-visible { outline: 2px solid #2563eb; outline-offset: -2px; "
	"}\n"
	"td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }\n"
	"td i { display: inline-block; height: 9px; border-radius: 2px; background: #d9633f; }\n"
	"</style>\n"
	"</head>\n"
	"<body>\n"
	"<header><h1>Instruction mix</h1><div class='sub' id='sub'></div>\n"
	"<div id='figures'></div></header>\n"
	"<main><input id='find' type='search' placeholder='find' aria-label='find'>\n"
	"<span class='sub' id='count'></span>\n"
	"<table><thead><tr id='head'></tr></thead><tbody id='body'></tbody></table></main>\n"
	"<script type='application/json' id='data'>\n";

const char mix_page_script[] =
	"</script>\n"
	"<script>\n"
	"'use strict';\n"
	"(() => {\n"
	"const data = JSON.parse(document.getElementById('data').textContent);\n"
	"const $ = id => document.getElementById(id);\n"
	"const k = data.keys.length;\n"
	"const percent = (x, d) => (100 * x).toFixed(d) + '%';\n"
	"$('sub').textContent = [data.command, 'rung: ' + data.rung, 'method: ' + data.method,\n"
	"  'error to expect: ' + data.expected_error].filter(x => x).join(' \\u00b7 ');\n"
	"const f = data.figures;\n"
	"const big = [[Math.round(data.instructions).toLocaleString('en'),\n"
	"    data.is_relative ? 'instructions (relative)' : 'instructions'],\n"
	"  [percent(f.vectorisation, 1), 'vectorisation'],\n"
	"  [f.flops_per_instruction.toFixed(3), 'FLOP an instruction'],\n"
	"  [percent(f.branch_density, 1), 'branches'], [percent(f.load_density, 1), 'loads'],\n"
	"  [percent(f.store_density, 1), 'stores'],\n"
	"  [f.instructions_per_block.toFixed(2), 'instructions a block']];\n"
	"for (const [value, name] of big) {\n"
	"  const div = document.createElement('div'), b = document.createElement('b');\n"
	"  const span = document.createElement('span');\n"
	"  b.textContent = value; span.textContent = name; div.append(b, span);\n"
	"  $('figures').append(div);\n"
	"}\n"
	"const names = data.keys.concat(['executions', 'share', 'error', '']);\n"
	"let column = k, down = true, word = '';\n"
	"const most = data.rows.reduce((a, r) => Math.max(a, r[k + 1]), 0);\n"
	"const compare = (a, b) => {\n"
	"  const x = a[column], y = b[column];\n"
	"  if (typeof x === 'string') {\n"
	"    const n = Number(x) - Number(y);\n"
	"    return isNaN(n) ? x.localeCompare(y, 'en') : n;\n"
	"  }\n"
	"  return (x === null ? -1 : x) - (y === null ? -1 : y);\n"
	"};\n"
	"function draw() {\n"
	"  const rows = data.rows.filter(r => !word ||\n"
	"    r.slice(0, k).some(t => t.toLowerCase().includes(word)));\n"
	"  rows.sort((a, b) => down ? compare(b, a) : compare(a, b));\n"
	"  const shown = rows.slice(0, 2000), body = document.createDocumentFragment();\n"
	"  for (const r of shown) {\n"
	"    const tr = document.createElement('tr');\n"
	"    for (let i = 0; i < k + 3; i++) {\n"
	"      const td = document.createElement('td');\n"
	"      if (i >= k) td.className = 'n';\n"
	"      td.textContent = i < k ? r[i] : i === k ? r[i].toLocaleString('en') :\n"
	"        i === k + 1 ? percent(r[i], 2) : r[i] === null ? '?' : percent(r[i], 1);\n"
	"      tr.append(td);\n"
	"    }\n"
	"    const td = document.createElement('td'), bar = document.createElement('i');\n"
	"    bar.style.width = (most > 0 ? 160 * r[k + 1] / most : 0) + 'px';\n"
	"    td.append(bar); tr.append(td); body.append(tr);\n"
	"  }\n"
	"  $('body').replaceChildren(body);\n"
	"  $('count').textContent = rows.length + ' rows' +\n"
	"    (shown.length < rows.length ? ', ' + shown.length + ' shown' : '');\n"
	"  [...$('head').children].forEach((th, i) => th.setAttribute('aria-sort',\n"
	"    i !== column ? 'none' : down ? 'descending' : 'ascending'));\n"
	"}\n"
	"names.forEach((name, i) => {\n"
	"  const th = document.createElement('th');\n"
	"  th.textContent = name;\n"
	"  if (i >= k && i < k + 3) th.className = 'n';\n"
	"  if (i < k + 3) {\n"
	"    th.tabIndex = 0;\n"
	"    const sort = () => { down = column === i ? !down : i >= k; column = i; draw(); };\n"
	"    th.addEventListener('click', sort);\n"
	"    th.addEventListener('keydown', e => {\n"
	"      if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); sort(); } });\n"
	"  }\n"
	"  $('head').append(th);\n"
	"});\n"
	"$('find').addEventListener('input', e => { word = e.target.value.toLowerCase(); draw(); "
	"});\n"
	"draw();\n"
	"document.documentElement.dataset.state = 'ready';\n"
	"})();\n"
	"</script>\n"
	"</body>\n"
	"</html>\n";

/* In a script element < would end it: every < is written as \u003c. */
void mix_html(const struct mixer *m, struct text *out)
{
	struct text json = {0};
	const char *p, *end;

	mix_json(m, &json);
	text_add(out, mix_page_head);
	p = json.data;
	end = json.data + json.size;
	while (p < end) {
		const char *less = memchr(p, '<', (size_t)(end - p));

		text_add_bytes(out, p, (size_t)((less ? less : end) - p));
		if (!less)
			break;
		text_add(out, "\\u003c");
		p = less + 1;
	}
	text_add(out, mix_page_script);
	text_free(&json);
}
