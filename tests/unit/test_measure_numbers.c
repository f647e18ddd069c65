/* SPDX-License-Identifier: MIT
 *
 * From made-up samples to a number, and from a made-up trace to flags.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "measure/x86/measure_x86.h"
#include "support.h"

/* ---- from samples to a number ---- */

enum { N = 32, STEP = 26, CHAIN_TICKS = 8632, CANARY_TICKS = 754 };

static const double chain_cycles = 3.0 * (MEASURE_CHAIN_LONG - MEASURE_CHAIN_SHORT);

/* A duration as a counter sees it that advances by `step` now and then. */
static uint32_t quantised(struct rng *rng, double ticks, unsigned step)
{
	double begin = rng_below(rng, 1000000) / 1000.0;

	return ((uint32_t)((begin + ticks) / step) - (uint32_t)(begin / step)) * step;
}

/* Samples of runs that take this many cycles on a machine whose clock is this much faster than
 * ticks.
 */
static void fill_samples(struct measure_sample *s, double low, double high, unsigned step)
{
	double ticks_per_cycle = CHAIN_TICKS / chain_cycles;
	struct rng rng = {4711};

	memset(s, 0, N * sizeof(*s));
	for (unsigned i = 0; i < N; i++) {
		s[i].chain_before = quantised(&rng, CHAIN_TICKS, step);
		s[i].chain_after = quantised(&rng, CHAIN_TICKS, step);
		s[i].canary_before = s[i].canary_after = quantised(&rng, CANARY_TICKS, step);
		s[i].low = quantised(&rng, low * ticks_per_cycle, step);
		s[i].high = quantised(&rng, high * ticks_per_cycle, step);
	}
}

static void assert_close(double value, double expected, double tolerance)
{
	if (value < expected * (1 - tolerance) || value > expected * (1 + tolerance))
		fail_msg("%.4f instead of %.4f", value, expected);
}

TEST(estimates_clean_samples)
{
	static const unsigned steps[] = {1, 2, STEP};
	struct measure_sample s[N];
	struct measure_pass pass;

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		fill_samples(s, 2000, 10000, steps[i]);
		measure_evaluate_pass(&pass, s, N, true, steps[i], 0);
		assert_true(pass.valid);
		assert_int_equal(pass.kept, N);
		assert_int_equal(pass.dropped, 0);
		assert_close(pass.low, 2000, 0.01);
		assert_close(pass.high, 10000, 0.003);
		assert_close(pass.high - pass.low, 8000, 0.003);
	}
}

/* With a counter of cycles there is no clock to compare with. */
TEST(estimates_counters)
{
	struct measure_sample s[N] = {0};
	struct measure_pass pass;

	for (unsigned i = 0; i < N; i++) {
		s[i].low = 300 + i % 2;
		s[i].high = 600 + (i % 8 ? 0 : 10000); /* interrupts */
	}
	measure_evaluate_pass(&pass, s, N, false, 1, 0);
	assert_true(pass.valid);
	assert_close(pass.low, 300.5, 0.001);
	assert_close(pass.high, 600, 0.001);
}

TEST(outliers_do_not_count)
{
	struct measure_sample s[N];
	struct measure_pass pass;

	fill_samples(s, 2000, 10000, STEP);
	for (unsigned i = 0; i < N; i += 4)
		s[i].high += 5000; /* interrupts: in a quarter of them */
	s[5].low /= 2;		   /* one that cannot be */
	s[7].high /= 2;
	measure_evaluate_pass(&pass, s, N, true, STEP, 0);
	assert_true(pass.valid);
	assert_close(pass.high - pass.low, 8000, 0.005);
}

TEST(drifting_clock)
{
	struct measure_sample s[N];
	struct measure_pass pass;

	fill_samples(s, 2000, 10000, 2);
	for (unsigned i = 0; i < N; i += 3)
		s[i].chain_after += s[i].chain_after / 50;
	measure_evaluate_pass(&pass, s, N, true, 2, 0);
	assert_true(pass.valid);
	assert_int_equal(pass.dropped, (N + 2) / 3);
	assert_close(pass.high - pass.low, 8000, 0.003);

	/* Another frequency in every sample, but the same before and after: it cancels out. */
	fill_samples(s, 2000, 10000, 1);
	for (unsigned i = 0; i < N; i++) {
		double f = 1 + 0.01 * (i % 7);

		s[i].chain_before = (uint32_t)(s[i].chain_before * f);
		s[i].chain_after = (uint32_t)(s[i].chain_after * f);
		s[i].canary_before = s[i].canary_after = (uint32_t)(s[i].canary_before * f);
		s[i].low = (uint64_t)((double)s[i].low * f);
		s[i].high = (uint64_t)((double)s[i].high * f);
	}
	measure_evaluate_pass(&pass, s, N, true, 1, 0);
	assert_true(pass.valid);
	assert_close(pass.high - pass.low, 8000, 0.003);

	for (unsigned i = 0; i < N; i++)
		s[i].chain_after += s[i].chain_after / 10;
	measure_evaluate_pass(&pass, s, N, true, 1, 0);
	assert_false(pass.valid);
	assert_int_equal(pass.kept, 0);
	assert_int_equal(pass.dropped, N);
}

TEST(busy_sibling)
{
	const double floor = (double)CANARY_TICKS / CHAIN_TICKS;
	struct measure_sample s[N];
	struct measure_pass pass;

	/* For a third of the time: those samples go, the rest is good. */
	fill_samples(s, 2000, 10000, STEP);
	for (unsigned i = 0; i < N; i += 3) {
		s[i].canary_after = s[i].canary_after * 17 / 10;
		s[i].high = s[i].high * 17 / 10;
	}
	measure_evaluate_pass(&pass, s, N, true, STEP, floor);
	assert_true(pass.valid);
	assert_int_equal(pass.dropped, (N + 2) / 3);
	assert_close(pass.high - pass.low, 8000, 0.005);

	/* All the time: only somebody who knows how fast it can be notices. */
	for (unsigned i = 0; i < N; i++)
		s[i].canary_before = CANARY_TICKS * 17 / 10;
	measure_evaluate_pass(&pass, s, N, true, STEP, floor);
	assert_false(pass.valid);
	measure_evaluate_pass(&pass, s, N, true, STEP, 0);
	assert_true(pass.valid);
}

TEST(all_disturbed)
{
	struct measure_sample s[N];
	struct measure_pass pass;

	for (int calibrated = 0; calibrated < 2; calibrated++) {
		fill_samples(s, 2000, 10000, 2);
		for (unsigned i = 0; i < N; i++)
			s[i].disturbed = 1;
		measure_evaluate_pass(&pass, s, N, calibrated, 2, 0);
		assert_false(pass.valid);
		assert_int_equal(pass.dropped, N);
		for (unsigned i = 0; i < 8; i++)
			s[i].disturbed = 0;
		measure_evaluate_pass(&pass, s, N, calibrated, 2, 0);
		assert_true(pass.valid);
		measure_evaluate_pass(&pass, s + 1, N - 1, calibrated, 2, 0);
		assert_false(pass.valid); /* less than a quarter */
	}
	measure_evaluate_pass(&pass, s, 0, true, 2, 0);
	assert_false(pass.valid);
	/* Times of zero, as a block that overwrites them would have it. */
	memset(s, 0, sizeof(s));
	measure_evaluate_pass(&pass, s, N, true, 2, 0);
	assert_false(pass.valid);
	memset(s, 0xff, sizeof(s));
	measure_evaluate_pass(&pass, s, N, true, 2, 0);
	assert_false(pass.valid);
}

TEST(floor_of_the_canary)
{
	struct measure_quiet quiet[MEASURE_QUIET] = {{CANARY_TICKS, CHAIN_TICKS},
						     {CANARY_TICKS, CHAIN_TICKS},
						     {CANARY_TICKS, CHAIN_TICKS}};
	double level = (double)CANARY_TICKS / CHAIN_TICKS, floor = 0;

	measure_lower_floor(&floor, quiet, STEP);
	assert_close(floor, level, 1e-9);
	for (unsigned i = 0; i < MEASURE_QUIET; i++)
		quiet[i].canary *= 2;
	measure_lower_floor(&floor, quiet, STEP);
	assert_close(floor, level, 1e-9); /* never up */
	for (unsigned i = 0; i < MEASURE_QUIET; i++)
		quiet[i].canary = CANARY_TICKS;
	quiet[1].chain *= 6; /* an interrupt: not down either */
	measure_lower_floor(&floor, quiet, STEP);
	assert_close(floor, level, 1e-9);
	quiet[1].chain = 0;
	measure_lower_floor(&floor, quiet, STEP);
	assert_close(floor, level, 1e-9);
	for (unsigned i = 0; i < MEASURE_QUIET; i++)
		quiet[i] = (struct measure_quiet){CANARY_TICKS / 2, CHAIN_TICKS + STEP * i};
	measure_lower_floor(&floor, quiet, STEP);
	assert_true(floor < 0.51 * level);
}

/* ---- flags of a trace ---- */

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };
#define BODY (MEASURE_CODE_BASE + 0x1140)

static struct measure_host *new_host(void)
{
	struct measure_host *host = calloc(1, sizeof(*host));

	assert_non_null(host);
	return host;
}

static struct measure_step *add_step(struct measure_host *host, uint64_t rip)
{
	struct measure_step *s = &host->step[host->n_steps++];

	s->pc = rip;
	for (unsigned r = 0; r < 16; r++)
		s->reg[r] = 0x10000;
	return s;
}

/* Flags of store and load, mov [rsi], .. and mov .., [rdi], at these addresses, whose pages share
 * so many physical ones.
 */
static uint32_t flags_with(const char *hex, size_t first_size, uint64_t store, uint64_t load,
			   unsigned n_physical)
{
	struct measure_host *host = new_host();
	uint8_t code[64];
	size_t size = bytes_of(code, sizeof(code), hex);
	uint32_t flags;

	host->page[0] = store & ~0xfffull;
	host->page[1] = load & ~0xfffull;
	host->n_pages = 2;
	host->n_physical = n_physical;
	add_step(host, BODY)->reg[RSI] = store;
	add_step(host, BODY + first_size)->reg[RDI] = load;
	flags = measure_trace_flags(&measure_x86, host, code, size, BODY, false);
	free(host);
	return flags;
}

static uint32_t flags_of(const char *hex, size_t first_size, uint64_t store, uint64_t load)
{
	return flags_with(hex, first_size, store, load, 1);
}

TEST(flags_of_stores_and_loads)
{
	static const char same[] = "488906 488b07"; /* mov [rsi], rax; mov rax, [rdi] */
	static const char wider[] = "8906 488b07";  /* mov [rsi], eax; mov rax, [rdi] */
	static const char part[] = "488906 0fb607"; /* mov [rsi], rax; movzx eax, byte [rdi] */

	assert_int_equal(flags_of(same, 3, 0x10000, 0x10008), 0);
	assert_int_equal(flags_of(same, 3, 0x10000, 0x20008), 0);
	assert_int_equal(flags_of(same, 3, 0x10000, 0x10000), TACT_MFLAG_FORWARDS);
	assert_int_equal(flags_of(same, 3, 0x10000, 0x20000), TACT_MFLAG_ALIAS_PAGE);
	assert_int_equal(flags_of(same, 3, 0x10000, 0x20004), TACT_MFLAG_ALIAS_PAGE);
	assert_int_equal(flags_with(same, 3, 0x10000, 0x20000, 2), 0); /* not the same page */
	assert_int_equal(flags_of(same, 3, 0x10000, 0x10004),
			 TACT_MFLAG_FORWARDS | TACT_MFLAG_PARTIAL);
	assert_int_equal(flags_of(wider, 2, 0x10000, 0x10000),
			 TACT_MFLAG_FORWARDS | TACT_MFLAG_PARTIAL);
	assert_int_equal(flags_of(wider, 2, 0x10000, 0x0fffc),
			 TACT_MFLAG_FORWARDS | TACT_MFLAG_PARTIAL | TACT_MFLAG_CROSSES_LINE);
	assert_int_equal(flags_of(part, 3, 0x10000, 0x10007), TACT_MFLAG_FORWARDS);
	assert_int_equal(flags_of(part, 3, 0x10000, 0x10008), 0);
	assert_int_equal(flags_of(same, 3, 0x1003c, 0x10000), TACT_MFLAG_CROSSES_LINE);
	assert_int_equal(flags_of(same, 3, 0x10000, 0x1003a), TACT_MFLAG_CROSSES_LINE);
	assert_int_equal(flags_of(same, 3, 0x10038, 0x10030), 0);
	assert_int_equal(flags_of(same, 3, 0x10fff, 0x1003f), TACT_MFLAG_CROSSES_LINE);
	assert_int_equal(flags_of(same, 3, 0x1003c, 0x1003c),
			 TACT_MFLAG_CROSSES_LINE | TACT_MFLAG_FORWARDS);
}

/* push stores below rsp, pop loads at it. */
TEST(flags_of_the_stack)
{
	struct measure_host *host = new_host();
	uint8_t code[] = {0x50, 0x5b}; /* push rax; pop rbx */

	add_step(host, BODY)->reg[RSP] = 0x10040;
	add_step(host, BODY + 1)->reg[RSP] = 0x10038;
	assert_int_equal(measure_trace_flags(&measure_x86, host, code, 2, BODY, false),
			 TACT_MFLAG_FORWARDS);
	host->step[1].reg[RSP] = 0x10040;
	assert_int_equal(measure_trace_flags(&measure_x86, host, code, 2, BODY, false), 0);
	host->step[0].reg[RSP] = 0x10044;
	assert_int_equal(measure_trace_flags(&measure_x86, host, code, 2, BODY, false),
			 TACT_MFLAG_CROSSES_LINE | TACT_MFLAG_FORWARDS | TACT_MFLAG_PARTIAL);
	free(host);
}

/* Later copies, the loop's counter, what is outside, too many steps. */
TEST(places_of_steps)
{
	struct measure_host *host = new_host();
	uint8_t code[] = {0x48, 0x8b, 0x00}; /* mov rax, [rax] */

	add_step(host, BODY + 3 * 50)->reg[RAX] = 0x1003c;
	assert_int_equal(measure_trace_flags(&measure_x86, host, code, 3, BODY, false),
			 TACT_MFLAG_CROSSES_LINE);
	assert_int_equal(measure_trace_flags(&measure_x86, host, code, 3, BODY, true),
			 0); /* after the loop */
	host->step[0].pc = BODY;
	assert_int_equal(measure_trace_flags(&measure_x86, host, code, 3, BODY, true),
			 TACT_MFLAG_CROSSES_LINE);
	host->step[0].pc = BODY - 1;
	assert_int_equal(measure_trace_flags(&measure_x86, host, code, 3, BODY, false), 0);
	host->step[0].pc = 0;
	assert_int_equal(measure_trace_flags(&measure_x86, host, code, 3, BODY, false), 0);
	host->n_steps = 0;
	assert_int_equal(measure_trace_flags(&measure_x86, host, code, 3, BODY, false), 0);
	host->n_steps = ~0u; /* a child whose memory was overwritten */
	assert_int_equal(measure_trace_flags(&measure_x86, host, code, 3, BODY, false), 0);
	free(host);
}

TEST(other_addresses)
{
	static const struct {
		const char *hex;
		uint32_t flags;
	} cases[] = {
		{"488d403c", 0},				 /* lea: no access */
		{"488b403c", TACT_MFLAG_CROSSES_LINE},		 /* mov rax, [rax+0x3c] */
		{"488b8038f0ffff", 0},				 /* displacement below zero */
		{"488b443001", 0},				 /* base and index */
		{"488b44703c", TACT_MFLAG_CROSSES_LINE},	 /* base, index and scale */
		{"678b403e", TACT_MFLAG_CROSSES_LINE},		 /* 32-bit address */
		{"64488b04253c000000", TACT_MFLAG_CROSSES_LINE}, /* fs:[0x3c] */
		{"0f28403c", TACT_MFLAG_CROSSES_LINE},		 /* movaps */
		{"62f17c48284001", 0},				 /* vmovaps zmm, [rax+0x40] */
		{"48014038", 0},				 /* read, then write */
		{"0f1f403f", 0},				 /* nop: no access either */
		{"0f18483f", 0},				 /* prefetch of one byte */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct measure_host *host = new_host();
		uint8_t code[64];
		size_t size = bytes_of(code, sizeof(code), cases[i].hex);
		uint32_t flags;

		add_step(host, BODY);
		flags = measure_trace_flags(&measure_x86, host, code, size, BODY, false);
		if (flags != cases[i].flags)
			fail_msg("%s: flags %x", cases[i].hex, flags);
		free(host);
	}
}

RUN_TESTS(NULL, NULL)
