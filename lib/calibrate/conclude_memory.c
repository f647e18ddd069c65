/* SPDX-License-Identifier: MIT
 *
 * What the points tell about caches, memory and pages.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "calibrate/calibrate_priv.h"

enum { LEVELS = 6, CACHES = 3, LINE = 64 };

/* Levels of the memory, as a chase through large pages shows them: caches, then memory. */
struct memory_levels {
	struct knee_level level[LEVELS];
	unsigned n;
	double stated[CACHES]; /* bytes that the CPU states; 0: unknown */
	const char *doubt;     /* about everything from level `doubted` on; NULL: none */
	unsigned doubted;
};

/* ---- for all conclusions ---- */

int conclude_add(const struct conclusion *c, const char *name, double value,
		 const struct evidence *evidence, const char *format, ...)
{
	char text[256];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	return c->add(c->arg, name, value, evidence, text);
}

struct evidence evidence_of(const struct knee_point *a, const struct knee_point *b)
{
	return (struct evidence){.spread = fmax(a->spread, b->spread),
				 .is_shared = a->is_shared || b->is_shared};
}

struct evidence evidence_of_level(const struct knee_level *level)
{
	return (struct evidence){.spread = level->spread, .is_shared = level->is_shared};
}

const char *conclude_size(double bytes, char *to, size_t size)
{
	if (bytes >= 1 << 20)
		snprintf(to, size, "%.4g MiB", bytes / (1 << 20));
	else if (bytes >= 1024)
		snprintf(to, size, "%.4g KiB", bytes / 1024);
	else
		snprintf(to, size, "%.0f bytes", bytes);
	return to;
}

double conclude_capacity(const struct knee_level *level)
{
	const double size = level->end * 32 / 31, step = exp2(floor(log2(size)) - 3);

	return step * round(size / step);
}

/* ---- caches ---- */

static const char *doubt_of(const struct memory_levels *m, unsigned level)
{
	return level >= m->doubted ? m->doubt : NULL;
}

/* The size of a cache: what the CPU states, if the points agree with it. */
static int add_size(const struct conclusion *c, const struct memory_levels *m, unsigned i)
{
	static const char *const names[CACHES] = {"l1_kib", "l2_kib", "l3_kib"};
	const struct knee_level *level = &m->level[i];
	struct evidence evidence = evidence_of_level(level);
	const double stated = m->stated[i];
	/* A cache that is just full misses a little: lines of others are in it. */
	const bool agrees = stated >= level->end && stated <= level->next;
	char text[32], other[32], after[32];

	conclude_size(level->end, text, sizeof(text));
	conclude_size(level->next, after, sizeof(after));
	evidence.doubt = doubt_of(m, i);
	if (!stated || agrees)
		return conclude_add(c, names[i],
				    (agrees ? stated : conclude_capacity(level)) / 1024, &evidence,
				    "loads that wait for each other take %.1f cycles in %s, %.1f "
				    "from %s on%s%s",
				    level->cycles, text, m->level[i + 1].cycles, after,
				    agrees ? "; the CPU states " : "",
				    agrees ? conclude_size(stated, other, sizeof(other)) : "");
	evidence.doubt = evidence.doubt	       ? evidence.doubt
			 : stated > level->end ? "less than the CPU states: something else uses it"
					       : "more than the CPU states";
	return conclude_add(c, names[i], conclude_capacity(level) / 1024, &evidence,
			    "such loads take %.1f cycles in %s, %.1f from %s on; the CPU states %s",
			    level->cycles, text, m->level[i + 1].cycles, after,
			    conclude_size(stated, other, sizeof(other)));
}

static int conclude_caches(const struct conclusion *c, const struct memory_levels *m)
{
	static const char *const latencies[CACHES + 1] = {"load_latency", "l2_latency",
							  "l3_latency", "memory_latency"};
	char text[32];
	int status = 0;

	for (unsigned i = 0; i < m->n && i <= CACHES && !status; i++) {
		struct evidence evidence = evidence_of_level(&m->level[i]);

		evidence.spread = fmax(evidence.spread, m->level[i].scatter);
		evidence.doubt = doubt_of(m, i);
		/* The last level is memory only if all caches came before it. */
		if (i == CACHES || i + 1 < m->n)
			status = conclude_add(
				c, latencies[i], round(m->level[i].cycles), &evidence,
				"loads that wait for each other take %.1f cycles in %s",
				m->level[i].cycles,
				conclude_size(m->level[i].end, text, sizeof(text)));
		if (!status && i < CACHES && i + 1 < m->n)
			status = add_size(c, m, i);
	}
	return status;
}

/* Half of what the level holds, and more than the one before it; for memory, all there is. */
static double inside(const struct memory_levels *m, unsigned level)
{
	const double end = m->level[level].end;

	if (level + 1 >= m->n)
		return end;
	return level && end / 2 <= m->level[level - 1].end ? end : end / 2;
}

static int conclude_bandwidth(const struct conclusion *c, const struct memory_levels *m)
{
	static const struct {
		const char *sweep, *does, *names[CACHES];
		unsigned areas;
	} kinds[] = {
		{"read", "reading", {"l2_line", "l3_line", "memory_line"}, 1},
		{"write", "writing", {"l2_write_line", "l3_write_line", "memory_write_line"}, 1},
		{"copy", "copying", {"l2_copy_line", "l3_copy_line", "memory_copy_line"}, 2},
		{"stream", "copying past the caches", {NULL, NULL, "memory_stream_line"}, 2},
	};
	int status = 0;

	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
		for (unsigned i = 1; i < m->n && i <= CACHES && !status; i++) {
			const struct knee_curve curve = c->curve(c->arg, kinds[k].sweep);
			const double bytes = inside(m, i) / (i + 1 < m->n ? kinds[k].areas : 1);
			const struct knee_point point = knee_at(&curve, bytes);
			struct evidence evidence = evidence_of(&point, &point);
			char text[32];

			evidence.doubt = doubt_of(m, i);
			if (!curve.n || !kinds[k].names[i - 1])
				continue;
			status = conclude_add(
				c, kinds[k].names[i - 1], round(100 * point.cycles), &evidence,
				"%s %s takes %.2f cycles for 64 bytes, %.1f bytes a cycle",
				kinds[k].does, conclude_size(bytes, text, sizeof(text)),
				point.cycles, LINE / point.cycles);
		}
	return status;
}

/* Loads that wait for nothing: how many of them are under way at once (Little's law).  Where the
 * bandwidth does not limit them, that is what the first level has room for.
 */
static int conclude_fills(const struct conclusion *c, const struct memory_levels *m)
{
	const double near_bandwidth = 1.25;
	struct knee_curve curve = c->curve(c->arg, "random");
	struct knee_point point, line;
	struct evidence evidence;
	double bytes, hits;
	char text[32];

	if (!curve.n || m->n < 3)
		return 0;
	bytes = inside(m, 2);
	hits = m->level[1].end / bytes;
	point = knee_at(&curve, bytes);
	evidence = evidence_of(&point, &point);
	evidence.doubt = doubt_of(m, 2);
	curve = c->curve(c->arg, "read");
	line = knee_at(&curve, bytes);
	if (curve.n && point.cycles < near_bandwidth * line.cycles)
		evidence.doubt = "the bandwidth limits them, too: it may be more";
	return conclude_add(
		c, "l1_fills", round((1 - hits) * m->level[2].cycles / point.cycles), &evidence,
		"independent loads from %s take %.2f cycles each, of %.0f that one takes",
		conclude_size(bytes, text, sizeof(text)), point.cycles, m->level[2].cycles);
}

/* ---- pages ---- */

static int add_pages(const struct conclusion *c, const struct knee_level *level, unsigned n)
{
	const double second = n > 1 ? level[1].cycles - level[0].cycles : 0;
	struct evidence evidence = evidence_of_level(&level[0]);
	int status = 0;

	if (n > 1)
		status =
			conclude_add(c, "tlb_pages", conclude_capacity(&level[0]), &evidence,
				     "loads from %.0f pages cost what their lines cost, from %.0f "
				     "pages %.1f cycles more",
				     level[0].end, level[1].cycles > 0 ? level[0].next : 0, second);
	if (n > 1 && !status) {
		evidence = evidence_of_level(&level[1]);
		status = conclude_add(
			c, "tlb2_latency", round(second), &evidence,
			"loads from %.0f to %.0f pages take %.1f cycles more than their lines",
			level[0].next, level[1].end, second);
	}
	if (n > 2 && !status)
		status = conclude_add(c, "tlb2_pages", conclude_capacity(&level[1]), &evidence,
				      "loads from %.0f pages take %.1f cycles more than their "
				      "lines, from %.0f pages %.1f",
				      level[1].end, second, level[1].next,
				      level[2].cycles - level[0].cycles);
	if (n > 2 && !status) {
		evidence = evidence_of_level(&level[2]);
		status = conclude_add(c, "walk_latency", round(level[2].cycles - level[1].cycles),
				      &evidence,
				      "loads from more than %.0f pages take %.1f cycles more than "
				      "those from fewer",
				      level[1].end, level[2].cycles - level[1].cycles);
	}
	return status;
}

/* What a page costs is what remains after the cache that its line is in. */
static int conclude_pages(const struct conclusion *c)
{
	enum { MOST = 64, BASE = 4 /* cycles: levels are told apart by their ratios */ };
	struct knee_point extra[MOST];
	struct knee_curve curve = c->curve(c->arg, "pages"), lines;
	const size_t n = curve.n < MOST ? curve.n : MOST;
	const struct knee_curve costs = {extra, n};
	struct knee_level level[LEVELS];

	for (size_t i = 0; i < n; i++)
		extra[i] = curve.points[i];
	lines = c->curve(c->arg, "latency");
	if (!lines.n)
		return 0;
	for (size_t i = 0; i < n; i++) {
		const struct knee_point line = knee_at(&lines, extra[i].at * LINE);

		/* What is wrong about the line is wrong about the rest. */
		extra[i].cycles = BASE + fmax(extra[i].cycles - line.cycles, 0);
		extra[i].spread = fmax(extra[i].spread, line.spread);
		extra[i].is_shared |= line.is_shared;
	}
	return add_pages(c, level, knee_levels(&costs, level, LEVELS));
}

int conclude_memory(const struct conclusion *c)
{
	struct memory_levels m = {.doubted = 2};
	struct knee_curve curve = c->curve(c->arg, "host");
	int status;

	for (size_t i = 0; i < curve.n; i++) {
		const unsigned property = (unsigned)curve.points[i].at;

		if (property >= HOST_L1_KIB && property <= HOST_L3_KIB)
			m.stated[property - HOST_L1_KIB] = 1024 * curve.points[i].cycles;
		if (property == HOST_LARGE_PAGES && curve.points[i].cycles < 2)
			m.doubt = "without large pages, it includes the cost of page walks";
	}
	curve = c->curve(c->arg, "latency");
	m.n = knee_levels(&curve, m.level, LEVELS);
	if (m.n > CACHES + 1) {
		m.doubt = "there are more steps than caches";
		m.doubted = 1;
	}
	status = conclude_caches(c, &m);
	if (!status)
		status = conclude_fills(c, &m);
	if (!status)
		status = conclude_bandwidth(c, &m);
	return status ? status : conclude_pages(c);
}
