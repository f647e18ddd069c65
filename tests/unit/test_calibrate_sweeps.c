/* SPDX-License-Identifier: MIT
 *
 * Calibration: levels of curves, what points tell and what they do not, and a short run.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#include <tact-program/calibrate.h>

#include "calibrate/calibrate_priv.h"

#define KIB 1024.0
#define MIB (1024.0 * 1024)

/* ---- knees ---- */

static struct knee_point points[64];

static struct knee_curve curve(const double *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		points[i] = (struct knee_point){.at = list[2 * i], .cycles = list[2 * i + 1]};
	return (struct knee_curve){points, n};
}
#define CURVE(...)                                                                                 \
	curve((const double[]){__VA_ARGS__},                                                       \
	      sizeof((const double[]){__VA_ARGS__}) / (2 * sizeof(double)))

TEST(levels_and_their_ends)
{
	const struct knee_curve c =
		CURVE(1, 5, 2, 5, 3, 5.1, 4, 16, 6, 16, 8, 16.2, 12, 100, 16, 101);
	struct knee_level level[4];

	assert_int_equal(knee_levels(&c, level, 4), 3);
	assert_float_equal(level[0].cycles, 5, 0.01);
	assert_float_equal(level[0].end, 3, 0);
	assert_float_equal(level[0].next, 4, 0);
	assert_float_equal(level[1].cycles, 16, 0.01);
	assert_float_equal(level[1].end, 8, 0);
	assert_float_equal(level[2].end, 16, 0);
	assert_float_equal(level[2].next, 16, 0);
	assert_int_equal(knee_levels(&c, level, 2), 2);
}

/* A point that was disturbed is no level, at the beginning, inside and before an edge. */
TEST(noise_is_no_level)
{
	struct knee_curve c = CURVE(1, 5, 2, 9, 3, 5, 4, 5, 6, 30, 8, 16, 12, 16, 16, 16);
	struct knee_level level[4];

	assert_int_equal(knee_levels(&c, level, 4), 2);
	assert_float_equal(level[0].cycles, 5, 0.01);
	assert_float_equal(level[0].end, 4, 0);
	assert_float_equal(level[1].cycles, 16, 0.01);
	c = CURVE(1, 4, 2, 4.2, 3, 4.4, 4, 4.6, 6, 4.8); /* rises, but has no edge */
	assert_int_equal(knee_levels(&c, level, 4), 1);
	/* A ramp that stops on its way has no level there. */
	c = CURVE(1, 5, 2, 5, 4, 5, 5, 9, 6, 9, 7, 14, 8, 14, 10, 30, 16, 30, 32, 30);
	assert_int_equal(knee_levels(&c, level, 4), 2);
	assert_float_equal(level[1].cycles, 30, 0.01);
}

TEST(places_between_points)
{
	const struct knee_curve c = CURVE(4, 10, 16, 30), none = {.n = 0};

	assert_float_equal(knee_at(&c, 8).cycles, 20, 1e-9);
	assert_float_equal(knee_at(&c, 1).cycles, 10, 0);
	assert_float_equal(knee_at(&c, 99).cycles, 30, 0);
	assert_float_equal(knee_at(&none, 1).cycles, 0, 0);
}

/* ---- conclusions ---- */

struct given {
	struct tact_sweep_point list[400];
	size_t n;
};

static void give(struct given *g, const char *sweep, double at, double cycles)
{
	assert_true(g->n < 400);
	g->list[g->n++] = (struct tact_sweep_point){
		.size = sizeof(g->list[0]), .sweep = sweep, .at = (uint64_t)at, .cycles = cycles};
}

/* A core with 32 KiB, 512 KiB and 8 MiB, of which the last level is said to be larger. */
static void give_core(struct given *g, double stated_kib)
{
	g->n = 0;
	give(g, "host", HOST_L1_KIB, 32);
	give(g, "host", HOST_L2_KIB, stated_kib);
	give(g, "host", HOST_LARGE_PAGES, 2);
	for (double at = 4 * KIB; at <= 256 * MIB; at *= 2)
		for (double part = 1; part < 2; part += 0.5) {
			const double b = at * part, cycles = b <= 32 * KIB    ? 4
							     : b <= 512 * KIB ? 13
							     : b <= 8 * MIB   ? 50
									      : 400;

			give(g, "latency", b, cycles);
		}
	for (double n = 8; n <= 16384; n *= 2) {
		const double line = n * 64 <= 32 * KIB ? 4 : n * 64 <= 512 * KIB ? 13 : 50;

		give(g, "pages", n, line + (n <= 64 ? 0 : n <= 2048 ? 7 : 37));
	}
	for (double n = 16; n <= 1 << 18; n *= 2)
		give(g, "pattern", n, n <= 4096 ? 2 : 12);
	for (double n = 4; n <= 64; n += 4)
		give(g, "calls", n, n <= 32 ? 4 : 4 + n / 4);
	for (double n = 16; n <= 32768; n *= 2)
		give(g, "jumps", n, n <= 4096 ? 1 : 13);
	give(g, "rep-copy", 1, 20);
	give(g, "rep-copy", 512, 46);
	give(g, "rep-copy", 2048, 94);
	give(g, "rep-copy", 8192, 286);
	/* 128 bytes a cycle after the start, and 64 that the cache takes */
	give(g, "rep-fill", 1, 10);
	give(g, "rep-fill", 512, 39);
	give(g, "rep-fill", 2048, 51);
	give(g, "rep-fill", 8192, 128);
	give(g, "forward", 8, 7.6);
}

static struct tact_calibrator *take(const struct given *g)
{
	struct tact_calibrator *c;

	assert_int_equal(tact_calibrator_create(&c, NULL, NULL), 0);
	assert_int_equal(tact_calibrator_take(c, g->list, g->n, NULL), 0);
	assert_int_equal(tact_calibrator_points(c), g->n);
	return c;
}

static struct tact_sweep_value find(const struct tact_calibrator *c, const char *name)
{
	struct tact_sweep_value v = {.size = sizeof(v)};

	for (size_t i = 0; tact_calibrator_value(c, i, &v) >= 0; i++)
		if (!strcmp(v.name, name))
			return v;
	v.value = -1;
	v.remark = NULL;
	return v;
}

TEST(points_tell_values)
{
	static const struct {
		const char *name;
		double value;
	} expected[] = {
		{"load_latency", 4},	 {"l1_kib", 32},
		{"l2_latency", 13},	 {"l2_kib", 512},
		{"l3_latency", 50},	 {"l3_kib", 8192},
		{"memory_latency", 400}, {"tlb_pages", 64},
		{"tlb2_pages", 2048},	 {"tlb2_latency", 7},
		{"walk_latency", 30},	 {"store_forward", 8},
		{"branch_penalty", 15},	 {"pattern_branches", 4096},
		{"return_stack", 32},	 {"btb_jumps", 4096},
		{"btb_penalty", 12},	 {"rep_copy_start", 30},
		{"rep_ahead", 32},	 {"rep_rate", 32},
		{"rep_fill_start", 35},	 {"rep_fill_rate", 64},
	};
	struct given g;
	struct tact_calibrator *c;

	give_core(&g, 512);
	c = take(&g);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		const struct tact_sweep_value v = find(c, expected[i].name);

		if (v.value != expected[i].value || v.remark)
			print_message("%s: %g %s\n", expected[i].name, v.value,
				      v.remark ? v.remark : "");
		assert_true(v.value == expected[i].value && !v.remark && *v.experiment);
	}
	/* What nothing was measured for has no value. */
	assert_true(find(c, "l2_line").value < 0 && find(c, "l1_fills").value < 0);
	tact_calibrator_destroy(c);
}

/* What speaks against a value. */
TEST(doubts_are_said)
{
	struct given g;
	struct tact_calibrator *c;

	give_core(&g, 1024); /* half of the cache is somebody else's */
	c = take(&g);
	assert_true(find(c, "l2_kib").value == 512 && find(c, "l2_kib").remark);
	assert_null(find(c, "l2_latency").remark);
	tact_calibrator_destroy(c);
	give_core(&g, 512);
	g.list[2].cycles = 1; /* no large pages */
	for (size_t i = 0; i < g.n; i++)
		if (!strcmp(g.list[i].sweep, "forward"))
			g.list[i].is_shared = true;
		else if (!strcmp(g.list[i].sweep, "jumps"))
			g.list[i].spread = 0.5;
	c = take(&g);
	assert_non_null(strstr(find(c, "memory_latency").remark, "large pages"));
	assert_null(find(c, "l2_latency").remark);
	assert_non_null(strstr(find(c, "store_forward").remark, "used the core"));
	assert_non_null(strstr(find(c, "btb_jumps").remark, "differ by 50%"));
	tact_calibrator_destroy(c);
}

/* Memory that was never left is no cache: the last level has no size and no name. */
TEST(memory_that_was_never_left_has_no_name)
{
	struct given g = {.n = 0};
	struct tact_calibrator *c;

	for (double at = 4 * KIB; at <= MIB; at *= 2)
		give(&g, "latency", at, at <= 32 * KIB ? 4 : 13);
	c = take(&g);
	assert_true(find(c, "l1_kib").value == 32);
	assert_true(find(c, "l2_kib").value < 0 && find(c, "l2_latency").value < 0);
	tact_calibrator_destroy(c);
}

/* ---- errors ---- */

TEST(wrong_arguments)
{
	struct tact_calibrator_options options = TACT_CALIBRATOR_OPTIONS_INIT;
	struct tact_sweep_point p = {.size = sizeof(p), .sweep = "nothing", .at = 1, .cycles = 1};
	struct tact_sweep_value v = {.size = sizeof(v)};
	struct tact_calibrator *c = (void *)&p;
	struct tact_diag diag = {0};

	assert_int_equal(tact_calibrator_create(NULL, NULL, &diag), -TACT_E_INVAL);
	options.most_bytes = 4096;
	assert_int_equal(tact_calibrator_create(&c, &options, &diag), -TACT_E_INVAL);
	assert_null(c);
	assert_int_equal(tact_calibrator_run(NULL, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_calibrator_create(&c, NULL, NULL), 0);
	assert_int_equal(tact_calibrator_take(c, NULL, 1, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_calibrator_take(c, &p, 1, &diag), -TACT_E_INVAL);
	assert_int_equal(diag.line, 1);
	p.sweep = "latency";
	p.cycles = NAN;
	assert_int_equal(tact_calibrator_take(c, &p, 1, &diag), -TACT_E_INVAL);
	p.cycles = 4;
	assert_int_equal(tact_calibrator_take(c, &p, 1, &diag), 0);
	assert_int_equal(tact_calibrator_point(c, 0, &p), 0);
	assert_int_equal(tact_calibrator_point(c, 1, &p), -TACT_E_INVAL);
	assert_int_equal(tact_calibrator_value(c, tact_calibrator_values(c), &v), -TACT_E_INVAL);
	assert_int_equal(tact_calibrator_refused(c), 0);
	tact_calibrator_destroy(c);
	tact_calibrator_destroy(NULL);
	assert_string_equal(tact_sweep_unit("pages"), "pages");
	assert_string_equal(tact_sweep_operation("latency"), "load");
	assert_null(tact_sweep_unit("nothing"));
	assert_int_equal(tact_calibrator_points(NULL) + tact_calibrator_values(NULL), 0);
}

/* ---- a run ---- */

struct asked {
	size_t calls, stop_at;
};

static int ask(void *arg, const char *sweep, size_t done, size_t all)
{
	struct asked *a = arg;

	assert_non_null(tact_sweep_unit(sweep));
	assert_true(done < all);
	return a->calls++ >= a->stop_at;
}

/* All kernels run; numbers are only as good as the machine is quiet. */
TEST(all_kernels_run)
{
	struct tact_calibrator_options options = TACT_CALIBRATOR_OPTIONS_INIT;
	struct asked asked = {.stop_at = 99};
	struct tact_sweep_point p = {.size = sizeof(p)};
	struct tact_calibrator *c;

	options.most_bytes = 1 << 20;
	options.rounds = 1;
	options.is_quick = true;
	options.progress = ask;
	options.arg = &asked;
	assert_int_equal(tact_calibrator_create(&c, &options, NULL), 0);
	assert_int_equal(tact_calibrator_run(c, NULL), 0);
	assert_int_equal(asked.calls, n_sweeps);
	assert_true(tact_calibrator_points(c) + tact_calibrator_refused(c) > 100);
	for (size_t i = 0; tact_calibrator_point(c, i, &p) >= 0; i++)
		assert_true(p.cycles > 0 && isfinite(p.cycles) && p.spread >= 0);
	asked = (struct asked){.stop_at = 1};
	assert_int_equal(tact_calibrator_run(c, NULL), -TACT_E_LIMIT);
	assert_int_equal(asked.calls, 2);
	tact_calibrator_destroy(c);
}

TEST(no_such_cpu)
{
	struct tact_calibrator_options options = TACT_CALIBRATOR_OPTIONS_INIT;
	struct tact_calibrator *c;

	options.cpu = 4096;
	assert_int_equal(tact_calibrator_create(&c, &options, NULL), 0);
	assert_int_equal(tact_calibrator_run(c, NULL), -TACT_E_INVAL);
	tact_calibrator_destroy(c);
}

RUN_TESTS(NULL, NULL)
