/* SPDX-License-Identifier: MIT
 *
 * Runs hostile blocks, and innocent ones between them, and judges the answers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attack.h"

enum {
	PASSES = 2, /* few samples: most numbers do not matter */
	SAMPLES = 8,
	WAIT_MS = 20,
	SLACK_MS = 1000,
	SHORT_MS = 20, /* for a block that takes longer */
	MAX_SHOWN = 25,
	MAX_NOISY = 40,
	MAX_TRIES = 5
};

/* Of the chain: cold code at the start of the shorter run can take a little off the difference. */
#define LEAST	   0.92
#define FASTEST_HZ 7e9 /* no core has more cycles in a second */

void judge_complain(struct judge *j, const char *format, ...)
{
	char text[600];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (j->n_wrong++ < MAX_SHOWN)
		print_message("wrong: %s\n", text);
}

struct tact_harness *judge_harness(unsigned which, unsigned timeout_ms)
{
	const struct tact_measure_options opt = {
		.size = sizeof(opt),
		.mode = which & 1 ? TACT_MODE_LOOP : TACT_MODE_UNROLL,
		.init = which & 2 ? TACT_INIT_SAME : TACT_INIT_STACK,
		.memory = (enum tact_contents)(which >> 2 & 3),
		.passes = PASSES,
		.samples = SAMPLES,
		.wait_ms = WAIT_MS,
		.noisy = true,
		.timeout_ms = timeout_ms};
	struct tact_diag diag = {0};
	struct tact_harness *h = NULL;

	if (tact_harness_create(&h, &opt, &diag) < 0)
		print_message("skip: no harness here: %s\n", diag.text);
	return h;
}

bool judge_begin(struct judge *j, unsigned n_harnesses, unsigned timeout_ms)
{
	memset(j, 0, sizeof(*j));
	j->timeout_ms = timeout_ms;
	j->n_harnesses = n_harnesses;
	j->secrets = secrets_plant(4711);
	for (unsigned i = 0; i < n_harnesses; i++) {
		j->harness[i] = judge_harness(i, timeout_ms);
		if (!j->harness[i])
			return false;
	}
	j->secrets->n_descriptors = count_descriptors();
	return true;
}

/* Whether a number below what the chain takes is more than noise: noise does not come back. */
static bool is_too_low(struct judge *j, unsigned which, const struct attack *a, double cycles)
{
	for (unsigned i = 0; i < 4; i++) {
		struct tact_measurement m = TACT_MEASUREMENT_INIT;

		if (cycles > ATTACK_CYCLES * LEAST ||
		    tact_measure(j->harness[which], a->code.data, a->code.size, &m) < 0 ||
		    m.status != TACT_MEASURE_OK)
			return false;
		cycles = m.cycles_per_iteration;
	}
	return true;
}

static void judge_number(struct judge *j, unsigned which, const struct attack *a,
			 const struct tact_measurement *m, double seconds)
{
	double cycles = m->cycles_per_iteration;
	/* What was kept has run for at least that long. */
	double least = cycles * (double)m->kept * (m->high - m->low) / FASTEST_HZ;

	if (!(cycles > 0) || !(least <= seconds * 1.1))
		judge_complain(j, "%s: %g cycles in %.3f s", a->what, cycles, seconds);
	else if (a->facts & ATTACK_CHAIN && is_too_low(j, which, a, cycles))
		judge_complain(j, "%s: %.3f cycles, with a chain of %d", a->what, cycles,
			       ATTACK_CYCLES);
}

void judge_attack(struct judge *j, unsigned which, const struct attack *a)
{
	struct tact_measurement m;
	const double limit = (j->timeout_ms + SLACK_MS) / 1000.0;
	const char *leak;
	double seconds;

	memset(&m, 0xff, sizeof(m));
	m.size = sizeof(m);
	if (hw_measure_within(j->harness[which], a->code.data, a->code.size, &m, limit, &seconds) <
	    0) {
		judge_complain(j, "%s: the harness is broken", a->what);
		return;
	}
	j->n_blocks++;
	snprintf(j->last, sizeof(j->last), "%s", a->what);
	if (seconds > j->longest)
		j->longest = seconds;
	if (seconds > limit)
		judge_complain(j, "%s: took %.1f seconds", a->what, seconds);
	if ((unsigned)m.status >= TACT_N_MEASURE_STATUS) {
		judge_complain(j, "%s: status %d", a->what, (int)m.status);
		return;
	}
	j->by_status[m.status]++;
	if ((m.status == TACT_MEASURE_OK) != !m.reason[0])
		judge_complain(j, "%s: %s with reason '%s'", a->what,
			       tact_measure_status_name(m.status), m.reason);
	if (m.status == TACT_MEASURE_OK)
		judge_number(j, which, a, &m, seconds);
	leak = secrets_in_answer(j->secrets, &m);
	if (leak)
		judge_complain(j, "%s: %s: %s", a->what, leak, m.reason);
}

/* ---- innocent blocks ---- */

static bool is_noise(enum tact_measure_status status)
{
	return status == TACT_MEASURE_UNSTABLE || status == TACT_MEASURE_DISTURBED;
}

bool judge_met_noise(const struct judge *j)
{
	return j->by_status[TACT_MEASURE_UNSTABLE] || j->by_status[TACT_MEASURE_DISTURBED];
}

/* A chain of three cycles a link: one of one cycle is at the mercy of a sibling thread. */
static const uint8_t imul[] = {0x48, 0x0f, 0xaf, 0xc3};

static void expect_number(struct judge *j, unsigned which)
{
	struct tact_measurement m = TACT_MEASUREMENT_INIT;
	enum hw_answer answer = hw_expect(j->harness[which], imul, sizeof(imul), 3, &m);

	/* A neighbour can make a chain slower, but not by that much, and never faster. */
	if (answer == HW_NOISY && m.status == TACT_MEASURE_OK &&
	    (m.cycles_per_iteration < 2.9 || m.cycles_per_iteration > 6))
		answer = HW_WRONG;
	if (answer == HW_WRONG)
		judge_complain(j, "after '%s' (harness %u): %s, %.3f cycles; %s", j->last, which,
			       tact_measure_status_name(m.status), m.cycles_per_iteration,
			       m.reason);
	j->n_noisy += answer == HW_NOISY;
}

static void expect_status(struct judge *j, unsigned which, const char *hex,
			  enum tact_measure_status status)
{
	struct tact_measurement m = TACT_MEASUREMENT_INIT;
	uint8_t code[64];

	if (hw_measure(j->harness[which], code, bytes_of(code, sizeof(code), hex), &m) < 0 ||
	    m.status != status)
		judge_complain(j, "after '%s' (harness %u): %s is %s instead of %s; %s", j->last,
			       which, hex, tact_measure_status_name(m.status),
			       tact_measure_status_name(status), m.reason);
}

void judge_control(struct judge *j, unsigned which)
{
	const char *change;

	if (j->n_noisy < MAX_NOISY)
		expect_number(j, which);
	expect_status(j, which, "488b042500000000", TACT_MEASURE_UNMAPPABLE); /* mov rax, [0] */
	change = secrets_check(j->secrets);
	if (change)
		judge_complain(j, "after '%s': %s", j->last, change);
}

/* A block for which there is no time. */
static void expect_timeout(struct judge *j)
{
	const struct tact_measure_options opt = {.size = sizeof(opt),
						 .passes = 64,
						 .samples = 512,
						 .timeout_ms = SHORT_MS,
						 .noisy = true};
	struct tact_measurement m = TACT_MEASUREMENT_INIT;
	struct tact_harness *h;

	if (tact_harness_create(&h, &opt, NULL) < 0) {
		judge_complain(j, "after '%s': no harness", j->last);
		return;
	}
	/* a neighbour may disturb what ends early; a number is wrong at once */
	for (unsigned tries = 0; tries < MAX_TRIES; tries++)
		if (tact_measure(h, imul, sizeof(imul), &m) < 0 || !is_noise(m.status))
			break;
	if (is_noise(m.status))
		j->n_noisy++;
	else if (m.status != TACT_MEASURE_TIMEOUT)
		judge_complain(j, "after '%s': %s instead of timeout; %s", j->last,
			       tact_measure_status_name(m.status), m.reason);
	tact_harness_destroy(h);
}

void judge_controls(struct judge *j, bool slow)
{
	for (unsigned i = 0; i < j->n_harnesses; i++) {
		judge_control(j, i);
		expect_status(j, i, "31c0f7f0", TACT_MEASURE_ARITHMETIC); /* div by zero */
		expect_status(j, i, "0f05", TACT_MEASURE_REFUSED);	  /* syscall */
	}
	if (slow)
		expect_timeout(j);
}

void judge_end(struct judge *j)
{
	for (unsigned i = 0; i < j->n_harnesses; i++)
		tact_harness_destroy(j->harness[i]);
	if (has_children())
		judge_complain(j, "a process is left");
	secrets_free(j->secrets);
	print_message("%u blocks, the longest %.2f s:", j->n_blocks, j->longest);
	for (unsigned i = 0; i < TACT_N_MEASURE_STATUS; i++)
		if (j->by_status[i])
			print_message(" %s %u",
				      tact_measure_status_name((enum tact_measure_status)i),
				      j->by_status[i]);
	print_message("%s\n", j->n_noisy ? "; some innocent blocks met too much noise" : "");
	if (j->n_wrong)
		fail_msg("%u answers are wrong", j->n_wrong);
}
