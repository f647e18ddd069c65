/* SPDX-License-Identifier: MIT */
'use strict';
/* global data, root, esc, percent, fixed, count, cycles, heatMap, errorChart, flowChart, color */
function put(id, html) {
  document.getElementById(id).innerHTML = html;
}

/* One row per model; the best of a column is marked. */
function scoreTable(scores, caption) {
  const columns = [
    ['Blocks', function (s) { return count(s.n); }, null, 0],
    ['MAPE', function (s) { return percent(s.mape, 2); }, 'mape', -1],
    ['Median error', function (s) { return percent(s.median, 2); }, 'median', -1],
    ['Bias', function (s) { return (s.bias > 0 ? '+' : '') + percent(s.bias, 2); }, null, 0],
    ['Within 5%', function (s) { return percent(s.within5); }, 'within5', 1],
    ['Within 10%', function (s) { return percent(s.within10); }, 'within10', 1],
    ['Kendall\u2019s tau', function (s) { return fixed(s.tau, 4); }, 'tau', 1],
    ['Failed', function (s) { return count(s.failed); }, null, 0]];
  const best = columns.map(function (c) {
    const values = scores.filter(function (s) { return s.n && s[c[2]] !== null; })
      .map(function (s) { return s[c[2]]; });
    return scores.length < 2 || !c[2] ? null
      : c[3] > 0 ? Math.max.apply(null, values) : Math.min.apply(null, values);
  });
  return "<div class='scroll'><table><caption>" + caption + '</caption><thead><tr><th>Model</th>' +
    columns.map(function (c) { return '<th>' + c[0] + '</th>'; }).join('') +
    '</tr></thead><tbody>' + scores.map(function (s, i) {
      return "<tr><th scope='row'>" + esc(data.models[i].name) + '</th>' +
        columns.map(function (c, k) {
          const text = s.n || k === 0 || k === 7 ? c[1](s) : '\u2013';
          const why = k === 7 && s.why ? " title='" + esc(s.why) + "'" : '';
          return '<td' + why + (c[2] && s.n && s[c[2]] === best[k] ? " class='best'" : '') + '>' +
            text + '</td>';
        }).join('') + '</tr>';
    }).join('') + '</tbody></table></div>';
}

/* Groups down, models across. */
function groupTable(groups, title) {
  if (!groups.length)
    return '';
  return '<h4>By ' + title + "</h4><div class='scroll'><table><thead><tr><th>" +
    title.charAt(0).toUpperCase() + title.slice(1) + '</th><th>Blocks</th>' +
    data.models.map(function (m) { return '<th>' + esc(m.name) + '</th>'; }).join('') +
    '</tr></thead><tbody>' + groups.map(function (g) {
      const errors = g.scores.filter(function (s) { return s.n; })
        .map(function (s) { return s.mape; });
      const least = Math.min.apply(null, errors);
      const most = g.scores.reduce(function (a, s) { return Math.max(a, s.n + s.failed); }, 0);
      return "<tr><th scope='row'>" + esc(g.name) + '</th><td>' + count(most) + '</td>' +
        g.scores.map(function (s) {
          const good = s.n && errors.length > 1 && s.mape === least;
          return s.n ? '<td' + (good ? " class='best'" : '') + " title='" + count(s.n) +
            ' blocks, within 5%: ' + percent(s.within5) + ', failed: ' + count(s.failed) + "'>" +
            percent(s.mape, 2) + ' <small>\u03c4 ' + fixed(s.tau, 3) + '</small></td>'
            : '<td>\u2013</td>';
        }).join('') + '</tr>';
    }).join('') + '</tbody></table></div>';
}

function showHead() {
  const n = data.rows, sets = data.sets.map(function (s) { return s.arch + ' ' + s.mode; });
  const title = data.models.length === 1 ? data.models[0].name : data.models.length + ' models';
  document.title = 'tact evaluate: ' + title;
  put('title', esc(title) + ' against ' + count(n) + ' measured blocks');
  put('sub', esc(sets.join(' \u00b7 ')) + (data.weighted ? ' \u00b7 weighted' : '') +
    (data.common ? ' \u00b7 only blocks that every model predicts' : '') +
    (data.clean ? ' \u00b7 clean rows only' : '') +
    (data.rounded ? ' \u00b7 rounded to two decimals' : '') + '<br>' + esc(data.files.join(', ')));
  put('overview', '<h2>Overview</h2>' + "<div class='panel'>" + scoreTable(
    data.models.map(function (m) { return m.scores; }), 'All blocks') + '</div>');
  put('foot', 'MAPE: mean of |predicted \u2212 measured| / measured. Bias: the same with its ' +
    'sign. Kendall\u2019s tau is tau-b. Blocks without a prediction count as failed ' +
    'and are in no other figure. Made by tact ' + esc(data.version) + '.');
}

function showMaps() {
  put('maps', "<h2>Measured and predicted</h2><p class='sub'>A block on the dashed line is " +
    'predicted exactly. Above the line the model predicts more cycles than were measured, ' +
    'below it fewer. The shade is the logarithm of the number of blocks.</p>' +
    "<div class='cards'>" + data.models.map(function (m) {
      const s = m.scores;
      return "<div class='panel'><h3>" + esc(m.name) + "</h3><div class='figures'>" + (s.n
        ? '<div><b>' + percent(s.mape, 2) + '</b> <span>MAPE</span></div><div><b>' +
          fixed(s.tau, 3) + '</b> <span>tau</span></div><div><b>' + percent(s.within5, 0) +
          '</b> <span>within 5%</span></div></div>' + heatMap(m.map, m.name) +
          errorChart(m.errors, m.name)
        : '<span>no prediction for any block</span></div>') + '</div>';
    }).join('') + '</div>');
  root.dataset.cells = document.querySelectorAll('#maps rect[class^=h]').length;
}

function showSets() {
  put('sets', '<h2>By CPU, application and category</h2>' + data.sets.map(function (s) {
    return "<div class='panel' style='margin-top:12px'><h3>" +
      esc(s.cpu + ' (' + s.arch + (s.caveat ? ', ' + s.caveat : '') +
      '), ' + (s.mode === 'loop' ? 'as a loop' : 'unrolled')) + '</h3>' +
      scoreTable(s.scores, count(s.n) + ' measured blocks') + groupTable(s.apps, 'application') +
      groupTable(s.categories, 'category') + '</div>';
  }).join(''));
}

function showFlow() {
  const names = data.bottlenecks, stages = data.stages;
  const used = names.map(function (_, k) {
    return stages.some(function (s) { return s.shares[k] > 0; });
  });
  if (!stages.length)
    return;
  put('flow', "<h2>Bottlenecks</h2><p class='sub'>What limits the same blocks on each CPU, by " +
    'FACILE; of several bottlenecks, the one closest to the front end counts.</p>' +
    "<div class='panel'><div class='keys'>" + names.map(function (name, k) {
      return used[k] ? "<span><i style='background:" + color(k) + "'></i>" + esc(name) +
        '</span>' : '';
    }).join('') + "</div><div class='scroll'>" + flowChart(stages, data.flows, names) + '</div>' +
    "<div class='scroll'><table><thead><tr><th>Share, and speedup if it were ideal</th>" +
    stages.map(function (s) { return '<th>' + esc(s.arch) + '</th>'; }).join('') +
    '</tr></thead><tbody>' + names.map(function (name, k) {
      return used[k] ? "<tr><th scope='row'>" + esc(name) + '</th>' + stages.map(function (s) {
        return '<td>' + percent(s.shares[k]) + (k < s.ideal.length
          ? ' <small>\u00d7' + fixed(s.ideal[k], 3) + '</small>' : '') + '</td>';
      }).join('') + '</tr>' : '';
    }).join('') + '</tbody></table></div></div>');
  root.dataset.bands = document.querySelectorAll('#flow path[fill]').length;
}

function blockHtml(number, model) {
  const b = data.blocks[number], p = b.predicted[model];
  const most = Math.max.apply(null, b.bounds.map(function (x) { return x[1]; })
    .concat([b.measured, 1e-9]));
  const line = function (name, value, color) {
    return '<tr><td>' + esc(name) + "</td><td><span class='meter'><i style='width:" +
      Math.min(100, 100 * value / most).toFixed(1) + '%' + (color ? ';background:' + color : '') +
      "'></i></span>" + cycles(value) + '</td></tr>';
  };
  return "<details class='block'><summary><span class='error'>" +
    (p > b.measured ? '+' : '\u2212') + (100 * Math.abs(p / b.measured - 1)).toFixed(0) +
    '%</span><span>measured ' + cycles(b.measured) +
    '</span><span>predicted ' + cycles(p) + '</span><span>' + esc(b.arch) +
    ', ' + esc(b.mode) + '</span><code>' + esc(b.listing.join('; ')) + '</code></summary>' +
    "<div class='inside'><div><pre>" + b.listing.map(esc).join('\n') + '</pre></div><div>' +
    '<table><tbody>' + line('measured', b.measured, 'var(--ink)') +
    data.models.map(function (m, i) {
      return b.predicted[i] === null ? '<tr><td>' + esc(m.name) + '</td><td>\u2013</td></tr>'
        : line(m.name, b.predicted[i], 'var(--bad)');
    }).join('') + b.bounds.map(function (x) {
      return line(x[0] + ' alone', x[1]);
    }).join('') + '</tbody></table></div><div class="wide"><pre>' + esc(b.why) +
    "</pre><p class='sub'>" + esc(b.place) + ' \u00b7 ' +
    '<code style="overflow-wrap:anywhere">' + esc(b.hex) + '</code></p></div></div></details>';
}

function showWorst(model) {
  put('list', data.models[model].worst.map(function (number) {
    return blockHtml(number, model);
  }).join('') || '<p>There are no such blocks.</p>');
  root.dataset.worst = data.models[model].worst.length;
}

function start() {
  showHead();
  showMaps();
  showSets();
  showFlow();
  put('worst', "<h2>Largest disagreement</h2><p class='sub'>Measured and predicted cycles, " +
    'the bounds of FACILE, and its explanation. It may be the measurement that is ' +
    "wrong.</p><div class='panel'><label>Model <select id='choice'>" +
    data.models.map(function (m, i) {
      return "<option value='" + i + "'>" + esc(m.name) + '</option>';
    }).join('') + "</select></label><div id='list' style='margin-top:8px'></div></div>");
  const choice = document.getElementById('choice');
  choice.addEventListener('change', function () { showWorst(Number(choice.value)); });
  showWorst(0);
  root.dataset.models = data.models.length;
  root.dataset.state = 'ready';
}
start();
