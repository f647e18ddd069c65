/* SPDX-License-Identifier: MIT
 *
 * Tries everything that measures.
 */
#include "doctor/self_test.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/base.h"
#include "common/cli.h"

/* Seconds after which nothing new is begun. */
#define RUNG_TIME   2.2 /* for each rung */
#define REPEAT_TIME 15.0

#define NEAR 0.01 /* repeated */
#define FAR  0.05
#define SAME 0.02 /* known, and by two rungs */

enum { MAX_CODE = 48, MAX_TRIES = 4, WAIT_MS = 100, TIMEOUT_MS = 1000 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void say_off(struct self_test *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say_off(struct self_test *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_vprintf(&t->off, format, args);
	va_end(args);
	text_add(&t->off, "\n");
	t->n_off++;
}

/* ---- the machine ---- */

/* The version alone: what follows it may be somebody's name. */
static void find_kernel(struct self_test *t)
{
	struct utsname name;

	if (uname(&name))
		return;
	snprintf(t->kernel, sizeof(t->kernel), "%.*s", (int)strspn(name.release, "0123456789."),
		 name.release);
}

static void find_parts(struct self_test *t)
{
	static const enum tact_check_id ids[SELF_PARTS] = {
		TACT_CHECK_SECCOMP, TACT_CHECK_MEMFD, TACT_CHECK_FIXED_MAP, TACT_CHECK_MMAP_MIN};

	for (int i = 0; i < SELF_PARTS; i++) {
		t->part[i].size = sizeof(t->part[i]);
		tact_check_run(ids[i], &t->part[i]);
		if (t->part[i].is_vital && t->part[i].state == TACT_CHECK_MISSING)
			say_off(t, "%s: %s", t->part[i].title, t->part[i].found);
	}
}

/* ---- measuring ---- */

static struct tact_harness *create(struct self_test *t, enum tact_rung rung)
{
	const struct tact_measure_options opt = {.size = sizeof(opt),
						 .mode = TACT_MODE_UNROLL,
						 .rung = rung,
						 .timeout_ms = TIMEOUT_MS,
						 .wait_ms = WAIT_MS};
	struct tact_harness *harness = NULL;
	struct tact_diag diag = {0};
	const char *reason;
	int status = tact_harness_create(&harness, &opt, &diag);

	if (status >= 0)
		return harness;
	reason = strstr(diag.text, "': "); /* after the name of the rung */
	snprintf(t->rung[rung - 1].reason, sizeof(t->rung[rung - 1].reason), "%.190s",
		 reason		? reason + 3
		 : diag.text[0] ? diag.text
				: tact_strerror(status));
	return NULL;
}

static bool measure(struct self_test *t, struct tact_harness *harness, const char *hex,
		    struct tact_measurement *m)
{
	uint8_t code[MAX_CODE];
	size_t bad;
	const long size = tact_hex_decode(code, hex, strlen(hex), &bad);

	*m = (struct tact_measurement)TACT_MEASUREMENT_INIT;
	if (size < 0 || tact_measure(harness, code, (size_t)size, m) < 0)
		return false;
	t->measured++;
	t->disturbed += m->status == TACT_MEASURE_DISTURBED;
	t->unstable += m->status == TACT_MEASURE_UNSTABLE;
	t->kept += m->kept;
	t->dropped += m->dropped;
	if (m->disturbance > t->disturbance)
		t->disturbance = m->disturbance;
	return true;
}

static bool is_right(const struct tact_known_answer *k, double cycles)
{
	return cycles >= k->low * (1 - SAME) && cycles <= k->high * (1 + SAME);
}

/* Measures a block until two tries confirm the lowest number.  Returns how many there were. */
static unsigned confirm(struct self_test *t, struct tact_harness *harness, const char *hex,
			struct tact_measurement *out)
{
	struct tact_rounds *rounds = NULL;
	struct tact_measurement m;
	unsigned tries = 0;

	*out = (struct tact_measurement)TACT_MEASUREMENT_INIT;
	out->status = TACT_MEASURE_CRASHED;
	if (tact_rounds_create(&rounds) < 0)
		cli_out_of_memory();
	while (tries < MAX_TRIES && !tact_rounds_is_confirmed(rounds)) {
		tries++;
		if (!measure(t, harness, hex, &m) || tact_rounds_add(rounds, &m) < 0)
			break;
		tact_rounds_result(rounds, out);
	}
	tact_rounds_destroy(rounds);
	return tries;
}

static void try_known(struct self_test *t, struct tact_harness *harness,
		      const struct tact_known_answer *k, struct self_answer *a)
{
	a->is_tried = true;
	a->tries = confirm(t, harness, k->hex, &a->m);
	a->is_right = a->m.status == TACT_MEASURE_OK && is_right(k, a->m.cycles_per_iteration);
}

/* Says what is off with an answer.  That a machine is not quiet is no fault. */
static void judge(struct self_test *t, const struct tact_known_answer *k,
		  const struct self_answer *a, const char *rung)
{
	switch (a->m.status) {
	case TACT_MEASURE_OK:
		if (!a->is_right)
			say_off(t, "%s takes %.2f cycles by %s, not %g to %g", k->name,
				a->m.cycles_per_iteration, rung, k->low, k->high);
		return;
	case TACT_MEASURE_UNSTABLE:
	case TACT_MEASURE_DISTURBED:
	case TACT_MEASURE_UNCONFIRMED:
		return;
	default:
		say_off(t, "%s has no number by %s: %s%s%s", k->name, rung,
			tact_measure_status_name(a->m.status), a->m.reason[0] ? ", " : "",
			a->m.reason);
	}
}

static void try_rung(struct self_test *t, enum tact_rung rung)
{
	struct tact_harness *harness = create(t, rung);
	const double end = now() + RUNG_TIME;

	if (!harness)
		return;
	t->rung[rung - 1].works = true;
	for (int i = 0; i < SELF_KNOWN; i++) {
		struct self_answer *a = &t->answer[i][rung - 1];

		if (now() > end) {
			t->is_cut = true;
			break;
		}
		try_known(t, harness, &tact_known()->answer[i], a);
		judge(t, &tact_known()->answer[i], a, tact_rung_name(rung));
	}
	tact_harness_destroy(harness);
}

/* ---- agreement ---- */

static double difference(double a, double b)
{
	const double lower = a < b ? a : b;

	return lower > 0 ? fabs(a - b) / lower : 0;
}

static void compare_rungs(struct self_test *t)
{
	for (int i = 0; i < SELF_KNOWN; i++) {
		double low = 0, high = 0, d;
		unsigned n = 0;

		for (int r = 0; r < SELF_RUNGS; r++) {
			const struct tact_measurement *m = &t->answer[i][r].m;

			if (!t->answer[i][r].is_tried || m->status != TACT_MEASURE_OK)
				continue;
			if (!n || m->cycles_per_iteration < low)
				low = m->cycles_per_iteration;
			if (!n || m->cycles_per_iteration > high)
				high = m->cycles_per_iteration;
			n++;
		}
		if (n < 2)
			continue;
		d = difference(low, high);
		t->compared++;
		t->agree += d <= SAME;
		if (!t->differs || d > t->largest_difference) {
			t->largest_difference = d;
			t->differs = tact_known()->answer[i].name;
		}
		if (d > SAME)
			say_off(t, "%s: rungs differ by %.1f%%", tact_known()->answer[i].name,
				100 * d);
	}
}

/* ---- repeatability ---- */

/* Measures the blocks, each once or until it is confirmed; 0 for those without a number. */
static void measure_blocks(struct self_test *t, struct tact_harness *harness, bool confirms,
			   double end, double cycles[SELF_BLOCKS])
{
	for (int i = 0; i < SELF_BLOCKS; i++) {
		struct tact_measurement m = TACT_MEASUREMENT_INIT;

		cycles[i] = 0;
		if (now() > end)
			t->is_cut = true;
		else if (confirms ? confirm(t, harness, tact_known()->block[i], &m) > 0
				  : measure(t, harness, tact_known()->block[i], &m))
			cycles[i] = m.status == TACT_MEASURE_OK ? m.cycles_per_iteration : 0;
	}
}

static void repeat(struct self_test *t, struct tact_harness *harness, bool confirms, double end)
{
	struct self_repeat *r = &t->repeat[confirms];
	double first[SELF_BLOCKS], second[SELF_BLOCKS], begin = now();
	const unsigned before = t->measured;

	measure_blocks(t, harness, confirms, end, first);
	measure_blocks(t, harness, confirms, end, second);
	r->rate = (t->measured - before) / (now() - begin);
	for (int i = 0; i < SELF_BLOCKS; i++) {
		const double d = difference(first[i], second[i]);

		if (first[i] <= 0 || second[i] <= 0)
			continue;
		r->both++;
		r->near += d <= NEAR;
		r->far += d > FAR;
		r->largest = d > r->largest ? d : r->largest;
		if (confirms && d > FAR)
			say_off(t, "%s takes %.2f cycles, confirmed, and then %.2f",
				tact_known()->block[i], first[i], second[i]);
	}
}

static void repeat_both_ways(struct self_test *t, double end)
{
	for (int r = TACT_RUNG_RDPMC; r <= (int)TACT_RUNG_TSC; r++) {
		struct tact_harness *harness = NULL;

		if (t->rung[r - 1].works)
			harness = create(t, (enum tact_rung)r);
		if (!harness)
			continue;
		t->best = tact_rung_name((enum tact_rung)r);
		repeat(t, harness, false, end);
		repeat(t, harness, true, end);
		tact_harness_destroy(harness);
		return;
	}
}

/* ---- all of it ---- */

bool self_test_measures(const struct self_test *t)
{
	for (int r = 0; r < SELF_RUNGS; r++)
		if (t->rung[r].works)
			return true;
	return false;
}

const char *self_test_verdict(const struct self_answer *a)
{
	if (!a->is_tried)
		return "-";
	if (a->m.status != TACT_MEASURE_OK)
		return tact_measure_status_name(a->m.status);
	return a->is_right ? "ok" : "off";
}

void self_test_run(struct self_test *t)
{
	const double begin = now();
	unsigned without = 0;
	char emulator[TACT_EMULATOR_SIZE];

	*t = (struct self_test){.host = TACT_HOST_INIT};
	tact_host_probe(&t->host);
	t->arch = tact_arch_host();
	find_kernel(t);
	find_parts(t);
	if (tact_host_emulator(emulator, sizeof(emulator)))
		say_off(t, "an emulator executes this program: its numbers mean nothing");
	for (int r = TACT_RUNG_RDPMC; r <= (int)TACT_RUNG_TSC; r++)
		try_rung(t, (enum tact_rung)r);
	compare_rungs(t);
	repeat_both_ways(t, begin + REPEAT_TIME);
	without = t->disturbed + t->unstable;
	if (!self_test_measures(t))
		say_off(t, "no rung works: nothing can be measured");
	if (2 * without > t->measured)
		say_off(t, "%u of %u measurements gave no number: the machine is not quiet",
			without, t->measured);
	if (t->is_cut)
		say_off(t, "time was up before everything was tried");
	t->seconds = now() - begin;
}

void self_test_free(struct self_test *t)
{
	text_free(&t->off);
}
