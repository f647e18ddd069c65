// SPDX-License-Identifier: MIT
//
// A flame graph that zooms and searches: part of the drawing that tact writes, without a page
// around it.  Click or Enter: zoom; Escape: back; arrows: go; / or Ctrl-F: search.
'use strict';
(function () {
	const svg = document.documentElement;
	const boxes = Array.from(svg.querySelectorAll('.f'));
	const note = svg.querySelector('#note');
	const said = note.textContent;
	const margin = 10;
	const width = svg.viewBox.baseVal.width - 2 * margin;
	const letter = 7.2;
	const items = boxes.map(function (g) {
		const rect = g.querySelector('rect');
		const title = g.querySelector('title').textContent;
		return {
			g: g, rect: rect, text: g.querySelector('text'), title: title,
			name: title.replace(/( \([^()]*\))?: [^:]*$/, ''),
			x: Number(g.dataset.x), w: Number(g.dataset.w),
			y: Number(rect.getAttribute('y')),
		};
	});
	let current = items[0];

	// Rounding must not hide a box of the same place.
	function isWithin(inner, outer) {
		return inner.x >= outer.x - 1e-6 && inner.x + inner.w <= outer.x + outer.w + 1e-6;
	}

	function label(item, shown) {
		const room = Math.floor((shown - 6) / letter);
		if (room < 3)
			return '';
		return item.name.length <= room ? item.name : item.name.slice(0, room - 1) + '…';
	}

	function put(item, x, shown) {
		item.rect.setAttribute('x', margin + x);
		item.rect.setAttribute('width', Math.max(shown - 0.3, 0.2));
		item.text.setAttribute('x', margin + x + 3);
		item.text.textContent = label(item, shown);
	}

	function zoom(target) {
		current = target;
		items.forEach(function (item) {
			const isBelow = item.y > target.y && isWithin(target, item);
			const isInside = item.y <= target.y && isWithin(item, target);
			item.g.classList.toggle('above', isBelow);
			item.g.classList.toggle('gone', !isBelow && !isInside);
			if (isBelow)
				put(item, 0, width);
			else if (isInside)
				put(item, (item.x - target.x) / target.w * width, item.w / target.w * width);
		});
		note.textContent = target === items[0] ? said : target.title;
	}

	function search() {
		const wanted = window.prompt('Functions that contain (nothing: none):', '');
		let share = 0;
		let end = -1;
		if (wanted === null)
			return;
		const hits = items.slice(1).filter(function (item) {
			const isHit = wanted !== '' && item.name.toLowerCase().includes(wanted.toLowerCase());
			item.g.classList.toggle('hit', isHit);
			return isHit;
		});
		// Boxes above others must not count twice.
		hits.sort(function (a, b) { return a.x - b.x || b.w - a.w; });
		hits.forEach(function (item) {
			if (item.x + item.w <= end + 1e-9)
				return;
			share += item.x + item.w - Math.max(item.x, end);
			end = item.x + item.w;
		});
		note.textContent = wanted === '' ? said :
			hits.length + ' found, ' + (100 * share).toFixed(1) + '% of all';
	}

	// The nearest box above or below, or the next one in the same row.
	function neighbour(from, key) {
		const row = Number(from.rect.getAttribute('height')) + 1;
		const visible = items.filter(function (item) {
			return !item.g.classList.contains('gone');
		});
		if (key === 'ArrowDown')
			return visible.find(function (item) {
				return item.y === from.y + row && isWithin(from, item);
			});
		if (key === 'ArrowUp')
			return visible.find(function (item) {
				return item.y === from.y - row && isWithin(item, from);
			});
		const same = visible.filter(function (item) { return item.y === from.y; })
			.sort(function (a, b) { return a.x - b.x; });
		return same[same.indexOf(from) + (key === 'ArrowRight' ? 1 : -1)];
	}

	items.forEach(function (item) {
		item.g.setAttribute('tabindex', item === items[0] ? '0' : '-1');
		item.g.addEventListener('click', function () { zoom(item); });
		item.g.addEventListener('focus', function () { note.textContent = item.title; });
	});
	document.addEventListener('keydown', function (event) {
		const at = items.find(function (item) { return item.g === document.activeElement; });
		if (event.key === '/' || (event.key === 'f' && (event.ctrlKey || event.metaKey))) {
			event.preventDefault();
			search();
		} else if (event.key === 'Escape') {
			zoom(items[0]);
		} else if (event.key === 'Enter' && at) {
			zoom(at === current ? items[0] : at);
		} else if (event.key.startsWith('Arrow')) {
			const next = at ? neighbour(at, event.key) : items[0];
			event.preventDefault();
			if (next)
				next.g.focus();
		}
	});
}());
