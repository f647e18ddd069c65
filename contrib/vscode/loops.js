// SPDX-License-Identifier: MIT
//
// From the answers of the service to loops of a document: which lines each one has, and which one
// is under the cursor. Lines of a document count from 0 here, those of answers from 1.
'use strict';

const fs = require('fs');
const path = require('path');

const { real } = require('./compile_command');

/** Tells whether a file of debug information is the document. */
function fileMatcher(file) {
  const wanted = real(file);
  const known = new Map();

  return p => {
    if (!known.has(p))
      known.set(
        p,
        p === file ||
          real(p) === wanted ||
          // Written elsewhere, or with -ffile-prefix-map: the name has to do.
          (!fs.existsSync(p) && path.basename(p) === path.basename(file))
      );
    return known.get(p);
  };
}

/** One row for each instruction: {offset, source}. The service leaves out those that repeat. */
function rowsOf(region, offsets) {
  const given = new Map((region.lines || []).map(row => [row.offset, row.source]));
  let source = [];

  return offsets.map(offset => {
    source = given.get(offset) || source;
    return { offset, source };
  });
}

const sameFrame = (a, b) => a.path === b.path && a.line === b.line && a.function === b.function;

/**
 * How many of the outermost lines are calls that all of the code was inlined by: the loop is below
 * them.
 */
function commonCalls(rows) {
  const chains = rows.map(row => [...row.source].reverse());
  let depth = 0;

  for (; ; depth++) {
    const first = chains[0];

    if (
      !chains.every(
        c =>
          c.length > depth + 1 &&
          sameFrame(c[depth], first[depth]) &&
          c[depth + 1].function === first[depth + 1].function
      )
    )
      return depth;
  }
}

/** Lines of the document: those of the loop itself, and all, with what instructions they have. */
function placeOf(rows, isHere) {
  const known = rows.map((row, i) => ({ ...row, i })).filter(row => row.source.length);
  const own = [],
    all = new Map();
  let depth = 0;

  if (!known.length) return null;
  depth = commonCalls(known);
  for (const row of known) {
    const chain = [...row.source].reverse();

    if (isHere(chain[depth])) own.push(chain[depth].line - 1);
    for (const line of new Set(chain.filter(isHere).map(frame => frame.line - 1)))
      all.set(line, [...(all.get(line) || []), row.i]);
  }
  if (!all.size) return null;
  const lines = own.length ? own : [...all.keys()];
  return { first: Math.min(...lines), last: Math.max(...lines), own: new Set(own), all };
}

/** A region that the service predicts: markers chose it, or it is a loop. */
const keyOf = r => (r.loop ? `loop ${r.loop}` : `${r.member || ''}/${r.name}/${r.hex}`);

/**
 * The loops of a document. code and predict: results of these addresses; file: the path of a file
 * that was compiled, '' for assembly text; text: lines of that text.
 */
function loopsOf(code, predict, file, text) {
  const isFile = file ? fileMatcher(file) : null;
  const isHere = frame => (isFile ? Boolean(frame.path) && isFile(frame.path) : !frame.path);
  const results = new Map(),
    loops = [];

  for (const r of predict) results.set(keyOf(r), [...(results.get(keyOf(r)) || []), r]);
  for (const region of code) {
    const found = results.get(keyOf(region));
    const good = found && (found.find(r => r.instructions) || found[0]);
    const place =
      good &&
      placeOf(
        rowsOf(
          region,
          (good.instructions || [{ offset: 0 }]).map(i => i.offset)
        ),
        isHere
      );

    if (place)
      loops.push({
        ...place,
        head: headOf(place.first, file ? [] : text),
        key: keyOf(region),
        loop: region.loop,
        name: region.name,
        function: region.function,
        isLoop: region.is_loop,
        results: found
      });
  }
  return loops.sort((a, b) => a.head - b.head || a.last - b.last);
}

/** Assembly: the labels above the first instruction belong to the loop; .loc may stand between. */
function headOf(first, text) {
  let head = first;

  for (let i = first - 1; i >= 0; i--) {
    if (/^\s*[\w.$@]+:\s*([#;/].*)?$/.test(text[i] || '')) head = i;
    else if (!/^\s*(\.loc\b.*)?$/.test(text[i] || '')) break;
  }
  return head;
}

/** The loop at a line: the innermost that has the line itself, else one that is around it. */
function loopAt(loops, line) {
  const smaller = (a, b) => a.last - a.first - (b.last - b.first);
  const ways = [l => l.own.has(line), l => l.head <= line && line <= l.last, l => l.all.has(line)];

  for (const way of ways) {
    const found = loops.filter(way).sort(smaller);

    if (found.length) return found[0];
  }
  return null;
}

/** Moves loops with an edit: lines [from, to] of before became `lines` lines. */
function moveLoops(loops, from, to, lines) {
  const delta = lines - (to - from + 1);
  const moved = line => (line > to ? line + delta : Math.min(line, from + lines - 1));

  if (!delta) return loops;
  return loops.map(l => ({
    ...l,
    head: moved(l.head),
    first: moved(l.first),
    last: moved(l.last),
    own: new Set([...l.own].map(moved)),
    all: new Map([...l.all].map(([line, insns]) => [moved(line), insns]))
  }));
}

module.exports = { keyOf, loopAt, loopsOf, moveLoops };
