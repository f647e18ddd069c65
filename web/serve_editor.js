/* SPDX-License-Identifier: MIT
 * Colours behind the text that is typed: the text itself is that of the textarea.
 */
'use strict';
/* global $, make, state */
(function () {
const MOST = 40000; /* characters; longer texts are plain */
const code = $('code'), paint = $('paint'), editor = $('editor');
/* Of an instruction, after its mnemonic. */
const WORDS = new RegExp(['(%[a-z][a-z0-9]*(?:\\(\\d\\))?)',
  '\\b((?:[re]?(?:[abcd]x|[sd]i|[sb]p)|[abcd][lh]|[sd]il|[sb]pl|r\\d+[bwd]?|[xyzt]mm\\d+|k[0-7]|' +
  '[xwvsdq]\\d+|[ast]\\d+)\\b)', '(\\$?-?\\b(?:0x[0-9a-f]+|\\d+)\\b)'].join('|'), 'gi');
const KINDS = ['register', 'register', 'number'];

function put(parent, text, kind) { if (text) make(parent, 'span', text, kind); }

function operands(line, text) {
  let at = 0;
  for (const m of text.matchAll(WORDS)) {
    put(line, text.slice(at, m.index));
    put(line, m[0], KINDS[m.slice(1).findIndex(function (g) { return g !== undefined; })]);
    at = m.index + m[0].length;
  }
  put(line, text.slice(at));
}

function paintLine(line, text) {
  const comment = text.search(/(^|\s)#|\/\/|;/), end = comment < 0 ? text.length : comment;
  const m = /^(\s*(?:[\w.$@]+:)?)(\s*)([.\w]*)(.*)$/.exec(text.slice(0, end));
  if (/^\s*[0-9a-f]+:?\t|^[0-9a-f\s]+$/i.test(text) || !m) {
    put(line, text.slice(0, end)); /* bytes */
  } else {
    put(line, m[1], 'label');
    put(line, m[2]);
    put(line, m[3], m[3][0] === '.' ? 'directive' : 'mnemonic');
    operands(line, m[4]);
  }
  put(line, text.slice(end), 'comment');
}

/* badLine: the one with the mistake, from 1; 0: none. */
function draw(badLine) {
  const isLong = code.value.length > MOST;
  editor.classList.toggle('long', isLong);
  paint.textContent = '';
  if (isLong) return;
  code.value.split('\n').forEach(function (text, i) {
    const line = make(paint, 'span', undefined, 'line' + (i + 1 === badLine ? ' bad' : ''));
    paintLine(line, text);
    line.appendChild(document.createTextNode('\n'));
  });
  follow();
}
function follow() {
  paint.scrollTop = code.scrollTop;
  paint.scrollLeft = code.scrollLeft;
}
code.addEventListener('scroll', follow);
code.addEventListener('input', function () { draw(0); });
state.paint = draw;
}());
