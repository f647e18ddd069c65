/* SPDX-License-Identifier: MIT */
'use strict';
/* exported data, root, esc, percent, fixed, count, cycles, heatMap, errorChart, flowChart, color */
const data = JSON.parse(document.getElementById('data').textContent);
const root = document.documentElement;

function esc(text) {
  return String(text).replace(/[&<>"']/g, function (c) {
    return '&#' + c.charCodeAt(0) + ';';
  });
}
function percent(x, digits) {
  return x === null || x === undefined ? '\u2013'
    : (100 * x).toFixed(digits === undefined ? 1 : digits) + '%';
}
function fixed(x, digits) {
  return x === null || x === undefined ? '\u2013' : x.toFixed(digits);
}
function count(n) {
  return Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, '\u202f');
}
function cycles(x) {
  return x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2);
}

/* Measured against predicted: both logarithmic, shade by the logarithm of the count. */
function heatMap(map, name) {
  const left = 34, top = 6, side = 288, step = side / map.bins;
  const scale = function (v) {
    return side * Math.log(v / map.low) / Math.log(map.high / map.low);
  };
  let out = "<svg viewBox='0 0 330 336' role='img' aria-label='" +
    esc(name + ': predicted against measured cycles') + "'>";
  for (let v = Math.pow(2, Math.ceil(Math.log2(map.low) - 1e-9)); v <= map.high * 1.0001; v *= 2) {
    const x = left + scale(v), y = top + side - scale(v), text = v < 1 ? '1/' + 1 / v : v;
    out += "<path class='grid' d='M" + x + ' ' + top + 'v' + side + 'M' + left + ' ' + y +
      'h' + side + "'/><text x='" + x + "' y='" + (top + side + 13) +
      "' text-anchor='middle'>" + text + "</text><text x='" + (left - 5) + "' y='" +
      (y + 3.5) + "' text-anchor='end'>" + text + '</text>';
  }
  map.cells.forEach(function (cell) {
    const shade = map.most <= 1 ? 8
      : 1 + Math.min(7, Math.floor(8 * Math.log(Math.max(cell[2], 1)) / Math.log(map.most)));
    out += "<rect class='h" + shade + "' x='" + (left + cell[0] * step).toFixed(1) + "' y='" +
      (top + side - (cell[1] + 1) * step).toFixed(1) + "' width='" + step.toFixed(2) +
      "' height='" + step.toFixed(2) + "'><title>measured about " +
      cycles(map.low * Math.pow(map.high / map.low, (cell[0] + .5) / map.bins)) +
      ', predicted about ' +
      cycles(map.low * Math.pow(map.high / map.low, (cell[1] + .5) / map.bins)) +
      ': ' + count(cell[2]) + '</title></rect>';
  });
  out += "<path class='diagonal' d='M" + left + ' ' + (top + side) + 'L' + (left + side) + ' ' +
    top + "'/><path class='axis' fill='none' d='M" + left + ' ' + top + 'v' + side + 'h' + side +
    "'/><text x='" + (left + side / 2) + "' y='" + (top + side + 28) +
    "' text-anchor='middle'>measured cycles</text><text transform='translate(9 " +
    (top + side / 2) + ") rotate(-90)' text-anchor='middle'>predicted cycles</text>";
  for (let i = 1; i <= 8; i++)
    out += "<rect class='h" + i + "' x='" + (left + 8 + 9 * i) + "' y='" + (top + 9) +
      "' width='9' height='9'/>";
  out += "<text x='" + (left + 14) + "' y='" + (top + 17) + "' text-anchor='end'>1</text>" +
    "<text x='" + (left + 93) + "' y='" + (top + 17) + "'>" + count(map.most) + ' blocks</text>';
  return out + '</svg>';
}

/* Signed errors: bins of 5%; the first and the last have everything beyond. */
function errorChart(errors, name) {
  const left = 34, top = 8, width = 288, height = 74, n = errors.length, step = width / n;
  const sum = errors.reduce(function (a, b) { return a + b; }, 0) || 1;
  const most = Math.max.apply(null, errors) / sum || 1, middle = (n - 1) / 2;
  let out = "<svg viewBox='0 0 330 112' role='img' aria-label='" +
    esc(name + ': distribution of errors') + "'>";
  errors.forEach(function (e, i) {
    const h = height * Math.sqrt(e / sum / most);
    const range = i === 0 ? 'below \u2212102.5%' : i === n - 1 ? 'above 102.5%'
      : 'from ' + (5 * (i - middle) - 2.5) + '% to ' + (5 * (i - middle) + 2.5) + '%';
    out += "<rect class='bar' x='" + (left + i * step + .5).toFixed(2) + "' y='" +
      (top + height - h).toFixed(2) + "' width='" + (step - 1).toFixed(2) + "' height='" +
      h.toFixed(2) + "'><title>error " + range + ': ' + percent(e / sum, 2) +
      '</title></rect>';
  });
  [-100, -50, 0, 50, 100].forEach(function (v) {
    const x = left + (v / 5 + middle + .5) * step;
    out += "<text x='" + x + "' y='" + (top + height + 13) + "' text-anchor='middle'>" +
      (v > 0 ? '+' : v < 0 ? '\u2212' : '') + Math.abs(v) + '%</text>';
  });
  out += "<path class='axis' d='M" + left + ' ' + (top + height) + 'h' + width + "'/>" +
    "<text x='" + (left + width / 2) + "' y='" + (top + height + 26) +
    "' text-anchor='middle'>error (bars: square root of the share)</text><text x='" +
    (left - 5) + "' y='" + (top + 7) + "' text-anchor='end'>" + percent(most, 0) + '</text>';
  return out + '</svg>';
}

/* Colours that everybody can tell apart (Okabe and Ito), and greys. */
const COLORS = ['#0072b2', '#56b4e9', '#8a7fc7', '#b79fe0', '#cc79a7', '#e69f00', '#009e73',
  '#d55e00', '#c9b400', '#6f7f8f', '#a35c2e', '#b03060', '#4d5b2b', '#00838f'];
function color(k) {
  return k === data.bottlenecks.length - 1 ? '#a9b3bf' : COLORS[k % COLORS.length];
}

/* Shares as columns, moves between them as bands. */
function flowChart(stages, flows, names) {
  const gap = stages.length > 6 ? 96 : 290, bar = 16, top = 24, height = 380, pad = 5;
  const left = 136, width = left + gap * (stages.length - 1) + 160;
  let out = "<svg style='min-width:" + Math.min(width, 96 * stages.length + 200) +
    'px;max-width:' + width + "px' viewBox='0 0 " + width + ' ' + (top + height + 30) +
    "' role='img' aria-label='Flow of bottlenecks'>";
  const at = stages.map(function (stage) {
    const used = stage.shares.filter(function (s) { return s > 0; }).length;
    const scale = height - pad * (used - 1);
    let y = top;
    return stage.shares.map(function (s) {
      const place = { y: y, h: s * scale, from: y, to: y, scale: scale };
      y += s > 0 ? s * scale + pad : 0;
      return place;
    });
  });
  flows.forEach(function (flow, i) {
    const x = left + gap * i + bar, x2 = left + gap * (i + 1), bend = (x2 - x) / 2;
    flow.forEach(function (f) {
      const a = at[i][f[0]], b = at[i + 1][f[1]], h = f[2] * a.scale, h2 = f[2] * b.scale;
      out += "<path fill='" + color(f[0]) + "' fill-opacity='.38' d='M" + x + ' ' + a.from +
        'c' + bend + ' 0 ' + bend + ' ' + (b.to - a.from) + ' ' + (x2 - x) + ' ' +
        (b.to - a.from) + 'v' + h2 + 'c' + -bend + ' 0 ' + -bend + ' ' +
        (a.from + h - b.to - h2) + ' ' + (x - x2) + ' ' + (a.from + h - b.to - h2) +
        "z'><title>" + esc(names[f[0]] + ' on ' + stages[i].arch + ', ' + names[f[1]] + ' on ' +
        stages[i + 1].arch + ': ' + percent(f[2])) + '</title></path>';
      a.from += h;
      b.to += h2;
    });
  });
  stages.forEach(function (stage, i) {
    const x = left + gap * i;
    out += "<text class='label' x='" + (x + bar / 2) + "' y='" + (top - 9) +
      "' text-anchor='middle'>" + esc(stage.arch) + '</text>';
    stage.shares.forEach(function (s, k) {
      const place = at[i][k], first = i === 0, last = i === stages.length - 1;
      if (!(s > 0))
        return;
      out += "<rect fill='" + color(k) + "' x='" + x + "' y='" + place.y + "' width='" + bar +
        "' height='" + Math.max(place.h, 1) + "'><title>" + esc(stage.arch + ', ' + names[k] +
        ': ' + percent(s)) + '</title></rect>';
      if ((first || last) && place.h >= 11)
        out += "<text class='label' x='" + (first ? x - 7 : x + bar + 7) + "' y='" +
          (place.y + place.h / 2 + 4) + "' text-anchor='" + (first ? 'end' : 'start') + "'>" +
          esc(names[k]) + ' ' + percent(s, 0) + '</text>';
    });
  });
  return out + '</svg>';
}
