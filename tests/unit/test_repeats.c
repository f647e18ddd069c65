/* SPDX-License-Identifier: MIT
 *
 * Repeated string instructions: what they take, by kind, number, place and direction.
 */
#include <string.h>

#include "testing.h"

#include "trace/repeats.h"

/* One execution of a block of one instruction. */
struct one {
	struct tact_trace_block block;
	struct tact_trace_access accesses[2];
	struct tact_trace_event event;
};

static struct repeat begin(struct one *x, const char *code, uint64_t n, uint64_t from, uint64_t to)
{
	struct repeat r;

	*x = (struct one){.block = {.isa = tact_isa_default(),
				    .code = (const uint8_t *)code,
				    .code_size = (uint32_t)strlen(code),
				    .n_insns = 1,
				    .is_rep = true}};
	r = repeat_at_end(&x->block);
	x->accesses[0] = (struct tact_trace_access){from, 0, false, (uint32_t)(n * r.element)};
	x->accesses[1] = (struct tact_trace_access){to, 0, true, (uint32_t)(n * r.element)};
	x->event = (struct tact_trace_event){.size = sizeof(x->event),
					     .kind = TACT_TRACE_EXEC,
					     .block = &x->block,
					     .accesses = x->accesses,
					     .n_accesses = 2,
					     .repeats = n};
	return r;
}

static double cycles(const char *arch, const char *code, uint64_t n, uint64_t from, uint64_t to)
{
	struct one x;
	struct repeat r = begin(&x, code, n, from, to);

	return repeat_cycles(&tact_arch_find(arch)->params, r, &x.event, 0);
}

static const char MOVSB[] = "\xf3\xa4", MOVSQ[] = "\xf3\x48\xa5", STOSB[] = "\xf3\xaa",
		  STOSQ[] = "\xf3\x48\xab", LODSB[] = "\xf3\xac", SCASB[] = "\xf2\xae",
		  CMPSB[] = "\xf3\xa6", CMPSQ[] = "\xf3\x48\xa7";

TEST(kinds_are_told_apart)
{
	static const struct {
		const char *code;
		enum repeat_kind kind;
		unsigned element;
	} all[] = {
		{MOVSB, REPEAT_COPY, 1},    {MOVSQ, REPEAT_COPY, 8},	{STOSB, REPEAT_FILL, 1},
		{STOSQ, REPEAT_FILL, 8},    {LODSB, REPEAT_LOAD, 1},	{SCASB, REPEAT_SCAN, 1},
		{CMPSB, REPEAT_COMPARE, 1}, {CMPSQ, REPEAT_COMPARE, 8}, {"\xa4", REPEAT_NONE, 1}};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct one x;
		struct repeat r = begin(&x, all[i].code, 1, 0, 0);

		assert_int_equal(r.kind, all[i].kind);
		assert_int_equal(r.element, all[i].element);
	}
}

/* Cycles that were measured with a loop around the instruction. */
TEST(cycles_are_those_that_were_measured)
{
	static const struct {
		const char *arch, *code;
		unsigned n;
		double measured;
	} all[] = {
		{"GLC", MOVSB, 1, 10},	    {"GLC", MOVSB, 128, 10},	{"GLC", MOVSB, 256, 30},
		{"GLC", MOVSB, 1024, 43},   {"GLC", MOVSB, 16384, 262}, {"GLC", MOVSQ, 8, 34},
		{"GLC", MOVSQ, 128, 43},    {"GLC", STOSB, 64, 9},	{"GLC", STOSB, 16384, 262},
		{"GLC", SCASB, 64, 21},	    {"GLC", CMPSB, 1024, 507},	{"GLC", CMPSQ, 128, 319},
		{"GLC", LODSB, 64, 186},    {"ZEN3", MOVSB, 64, 23},	{"ZEN3", MOVSB, 1024, 60},
		{"ZEN3", MOVSQ, 8, 26},	    {"ZEN3", MOVSQ, 128, 67},	{"ZEN3", STOSB, 64, 89},
		{"ZEN3", STOSB, 128, 68},   {"ZEN3", STOSB, 2048, 128}, {"ZEN3", STOSQ, 64, 88},
		{"ZEN3", LODSB, 256, 536},  {"ZEN3", SCASB, 64, 153},	{"ZEN3", CMPSB, 256, 792},
		{"ZEN3", CMPSQ, 128, 407},  {"ZEN4", MOVSB, 1, 14},	{"ZEN4", MOVSB, 127, 14},
		{"ZEN4", MOVSB, 512, 39},   {"ZEN4", MOVSB, 4096, 151}, {"ZEN4", MOVSQ, 24, 15},
		{"ZEN4", MOVSQ, 64, 42},    {"ZEN4", STOSB, 64, 9},	{"ZEN4", STOSB, 128, 29},
		{"ZEN4", STOSB, 1024, 47},  {"ZEN4", STOSQ, 8, 15},	{"ZEN4", STOSQ, 128, 49},
		{"ZEN4", LODSB, 256, 536},  {"ZEN4", SCASB, 256, 537},	{"ZEN4", CMPSB, 16, 16},
		{"ZEN4", CMPSB, 1024, 137}, {"ZEN4", CMPSQ, 128, 407},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		double c = cycles(all[i].arch, all[i].code, all[i].n, 0x10400, 0x20000);

		if (c < 0.8 * all[i].measured || c > 1.25 * all[i].measured)
			fail_msg("row %zu: %f, measured %f", i, c, all[i].measured);
	}
}

TEST(places_matter)
{
	/* the destination alone; source and destination in different ways; close behind */
	assert_float_equal(cycles("ZEN3", MOVSB, 512, 0x10400, 0x20000), 44, 0.1);
	assert_float_equal(cycles("ZEN3", MOVSB, 512, 0x10411, 0x20011), 62, 0.1);
	assert_true(cycles("ZEN3", MOVSB, 8192, 0x10411, 0x20000) >
		    1.3 * cycles("ZEN3", MOVSB, 8192, 0x10400, 0x20000));
	assert_true(cycles("ZEN3", MOVSB, 1024, 0x10000, 0x20011) > 1000);
	assert_true(cycles("ZEN3", MOVSB, 1024, 0x10000, 0x20020) < 100);
	assert_true(cycles("ZEN3", STOSB, 512, 0, 0x20001) ==
		    45 + cycles("ZEN3", STOSB, 512, 0, 0x20000));
}

TEST(direction_and_lines_matter)
{
	const struct arch_params *p = &tact_arch_find("ZEN3")->params;
	struct one x;
	struct repeat r = begin(&x, MOVSQ, 512, 0x10400, 0x20000);

	assert_true(repeat_cycles(p, r, &x.event, 0) < 200);
	assert_float_equal(repeat_cycles(p, r, &x.event, 1000), 1000, 50);
	x.event.is_descending = true;
	assert_true(repeat_cycles(p, r, &x.event, 0) > 512);
	x.event.repeats = 0;
	assert_true(repeat_cycles(p, r, &x.event, 0) == 0);
}

/* More never takes less within a way, and nothing is free. */
TEST(every_core_has_a_cost)
{
	static const char *const codes[] = {MOVSB, MOVSQ, STOSB, STOSQ, LODSB, SCASB, CMPSB};

	for (const struct tact_arch *a = NULL; (a = tact_arch_next(a));)
		for (size_t k = 0; k < sizeof(codes) / sizeof(codes[0]); k++) {
			const char *name = tact_arch_name(a);

			assert_true(cycles(name, codes[k], 1, 0x10400, 0x20000) >= 5);
			assert_true(cycles(name, codes[k], 100000, 0x10400, 0x20000) > 500);
			assert_true(cycles(name, codes[k], 200000, 0x10400, 0x20000) >
				    1.9 * cycles(name, codes[k], 100000, 0x10400, 0x20000));
		}
}

RUN_TESTS(NULL, NULL)
