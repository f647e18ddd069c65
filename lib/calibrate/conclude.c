/* SPDX-License-Identifier: MIT
 *
 * What the points of sweeps tell about a core: one function for each group of parameters.  A value
 * that the points do not show is left out.
 */
#include <math.h>

#include "calibrate/calibrate_priv.h"

enum { LEVELS = 6 };

static int conclude_forward(const struct conclusion *c)
{
	const struct knee_curve curve = c->curve(c->arg, "forward");
	struct evidence evidence;

	if (!curve.n)
		return 0;
	evidence = evidence_of(&curve.points[0], &curve.points[0]);
	if (curve.points[0].cycles < 2)
		evidence.doubt = "the core takes the stored register instead";
	return conclude_add(
		c, "store_forward", round(curve.points[0].cycles), &evidence,
		"a store of 64 bits and a load of half of them, in a chain, take %.1f cycles",
		curve.points[0].cycles);
}

/* What a sweep over a repeated string instruction is called, and what it tells. */
struct repeated {
	const char *sweep, *start, *ahead, *rate; /* ahead: may be NULL */
};

/* A repeated string instruction in the first-level cache: a start, then so many bytes a cycle, but
 * no more than the cache takes.  Long ones show that limit if they take longer than the first two
 * say.
 */
static int conclude_repeated(const struct conclusion *c, const struct repeated *r)
{
	enum { SHORT = 512, MIDDLE = 2048, LONG = 8192 };
	const double near = 1.05;
	const struct knee_curve curve = c->curve(c->arg, r->sweep);
	const struct knee_point one = knee_at(&curve, 1), brief = knee_at(&curve, SHORT),
				middle = knee_at(&curve, MIDDLE), lengthy = knee_at(&curve, LONG);
	const struct evidence of_start = evidence_of(&brief, &middle),
			      of_rate = evidence_of(&middle, &lengthy);
	double ahead, rate, start;
	int status;

	if (curve.n < 3 || middle.cycles <= brief.cycles || lengthy.cycles <= middle.cycles)
		return 0;
	ahead = (MIDDLE - SHORT) / (middle.cycles - brief.cycles);
	start = fmax(brief.cycles - SHORT / ahead, 0);
	rate = lengthy.cycles <= near * (start + LONG / ahead) ? ahead : LONG / lengthy.cycles;
	status = conclude_add(c, r->start, round(start), &of_start,
			      "one byte takes %.0f cycles, 512 bytes %.0f, 2 KiB %.0f", one.cycles,
			      brief.cycles, middle.cycles);
	if (!status && r->ahead)
		status = conclude_add(c, r->ahead, round(ahead), &of_start,
				      "from 512 bytes to 2 KiB, %.1f bytes a cycle", ahead);
	return status ? status
		      : conclude_add(c, r->rate, round(rate), &of_rate,
				     "8 KiB take %.0f cycles, 512 bytes %.0f, 2 KiB %.0f",
				     lengthy.cycles, brief.cycles, middle.cycles);
}

/* ---- branches ---- */

static int conclude_branches(const struct conclusion *c)
{
	struct knee_curve curve = c->curve(c->arg, "latency");
	const double latency = curve.n ? curve.points[0].cycles : 0;
	const struct knee_point *learned, *unlearned;
	struct evidence evidence;
	double middle, longest = 0;
	int status;

	curve = c->curve(c->arg, "pattern");
	if (curve.n < 4 || latency <= 0)
		return 0;
	learned = &curve.points[1];
	unlearned = &curve.points[curve.n - 1];
	if (unlearned->cycles < 2 * learned->cycles)
		return 0;
	evidence = evidence_of(learned, unlearned);
	middle = (learned->cycles + unlearned->cycles) / 2;
	for (size_t i = 0; i < curve.n && curve.points[i].cycles < middle; i++)
		longest = curve.points[i].at;
	/* Half of the outcomes of a random sequence are mispredicted.  Before the next one can be
	 * noticed, its outcome is loaded and compared: no part of the penalty.
	 */
	status = conclude_add(c, "branch_penalty",
			      round(2 * (unlearned->cycles - learned->cycles) - latency - 1),
			      &evidence,
			      "a branch takes %.1f cycles if its outcomes are learned, %.1f if "
			      "they are random; to "
			      "load and to compare one takes %.1f",
			      learned->cycles, unlearned->cycles, latency + 1);
	return status ? status
		      : conclude_add(c, "pattern_branches", longest, &evidence,
				     "outcomes that repeat after %.0f branches are learned",
				     longest);
}

static int conclude_calls(const struct conclusion *c)
{
	const struct knee_curve curve = c->curve(c->arg, "calls");
	struct evidence evidence = {.spread = 0};
	double least = 0, deepest = 0;

	for (size_t i = 0; i < curve.n; i++)
		least = !i || curve.points[i].cycles < least ? curve.points[i].cycles : least;
	for (size_t i = 0; i < curve.n && curve.points[i].cycles < 1.25 * least + 1; i++) {
		evidence = evidence_of(&curve.points[i], &curve.points[i]);
		deepest = curve.points[i].at;
	}
	/* Where no depth is too much, returns are predicted in another way as well. */
	if (!curve.n || deepest >= curve.points[curve.n - 1].at || !deepest)
		return 0;
	return conclude_add(
		c, "return_stack", deepest, &evidence,
		"a call and its return take %.1f cycles, up to %.0f of them inside each other",
		least, deepest);
}

static int conclude_jumps(const struct conclusion *c)
{
	const struct knee_curve curve = c->curve(c->arg, "jumps");
	struct knee_level level[LEVELS];
	const unsigned n = knee_levels(&curve, level, LEVELS);
	struct evidence evidence;
	int status;

	if (n < 2)
		return 0;
	evidence = evidence_of_level(&level[n - 2]);
	status = conclude_add(c, "btb_jumps", level[n - 2].end, &evidence,
			      "a jump takes %.1f cycles with %.0f jumps, %.1f with more",
			      level[n - 2].cycles, level[n - 2].end, level[n - 1].cycles);
	evidence = evidence_of_level(&level[n - 1]);
	return status ? status
		      : conclude_add(c, "btb_penalty", round(level[n - 1].cycles - level[0].cycles),
				     &evidence,
				     "a jump takes %.1f cycles with few jumps, %.1f with many",
				     level[0].cycles, level[n - 1].cycles);
}

/* ---- code ---- */

static int conclude_code(const struct conclusion *c)
{
	const struct knee_curve curve = c->curve(c->arg, "code");
	struct knee_level level[LEVELS];
	const unsigned n = knee_levels(&curve, level, LEVELS);
	char text[32];
	int status = 0;

	for (unsigned i = 0; i + 1 < n && !status; i++) {
		static const char *const names[] = {"code_kib_1", "code_kib_2", "code_kib_3"};
		const struct evidence evidence = evidence_of_level(&level[i]);

		if (i < ARRAY_SIZE(names))
			status = conclude_add(
				c, names[i], level[i].end / 1024, &evidence,
				"%s of code take %.2f cycles for 4 bytes, more code takes %.2f",
				conclude_size(level[i].end, text, sizeof(text)), level[i].cycles,
				level[i + 1].cycles);
	}
	return status;
}

int calibrate_conclude(const struct conclusion *c)
{
	static const struct repeated copy = {"rep-copy", "rep_copy_start", "rep_ahead", "rep_rate"},
				     fill = {"rep-fill", "rep_fill_start", NULL, "rep_fill_rate"};
	int status = conclude_memory(c);

	if (!status)
		status = conclude_forward(c);
	if (!status)
		status = conclude_repeated(c, &copy);
	if (!status)
		status = conclude_repeated(c, &fill);
	if (!status)
		status = conclude_branches(c);
	if (!status)
		status = conclude_calls(c);
	if (!status)
		status = conclude_jumps(c);
	return status ? status : conclude_code(c);
}
