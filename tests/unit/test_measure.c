/* SPDX-License-Identifier: MIT
 *
 * measure without running a block: names, what is refused, options; and that harnesses come and go
 * without a trace.  tests/hw checks the numbers.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/harness.h"
#include "measure/x86/measure_x86.h"
#include "support.h"

/* ---- names ---- */

TEST(names_of_statuses)
{
	static const char *const names[] = {
		"ok",	       "decode_error",	 "too_long",   "refused",
		"unmappable",  "too_many_pages", "protection", "illegal",
		"arithmetic",  "trap",		 "own_code",   "timeout",
		"crashed",     "no_counter",	 "unstable",   "disturbed",
		"unconfirmed",
	};

	assert_int_equal(ARRAY_SIZE(names), TACT_N_MEASURE_STATUS);
	for (unsigned i = 0; i < TACT_N_MEASURE_STATUS; i++)
		assert_string_equal(tact_measure_status_name((enum tact_measure_status)i),
				    names[i]);
	assert_string_equal(tact_measure_status_name(TACT_N_MEASURE_STATUS), "unknown");
	assert_string_equal(tact_measure_status_name((enum tact_measure_status) - 1), "unknown");
}

TEST(names_of_rungs)
{
	assert_string_equal(tact_rung_name(TACT_RUNG_AUTO), "auto");
	assert_string_equal(tact_rung_name(TACT_RUNG_RDPMC), "rdpmc");
	assert_string_equal(tact_rung_name(TACT_RUNG_PERF), "perf");
	assert_string_equal(tact_rung_name(TACT_RUNG_APERF), "aperf");
	assert_string_equal(tact_rung_name(TACT_RUNG_TSC), "tsc");
	assert_string_equal(tact_rung_name((enum tact_rung)99), "unknown");
}

TEST(text_of_flags)
{
	char buf[TACT_MEASURE_FLAGS_SIZE];

	assert_string_equal(tact_measure_flags_text(~0u, NULL), "");
	assert_string_equal(tact_measure_flags_text(0, buf), "-");
	assert_string_equal(tact_measure_flags_text(TACT_MFLAG_CROSSES_LINE, buf), "L");
	assert_string_equal(
		tact_measure_flags_text(TACT_MFLAG_CROSSES_LINE | TACT_MFLAG_ALIAS_PAGE, buf),
		"LX");
	assert_string_equal(tact_measure_flags_text(TACT_MFLAG_SHORT, buf), "T");
	assert_string_equal(tact_measure_flags_text(~0u, buf), "LXDSRFVWBTCOP");
	assert_ptr_equal(tact_measure_flags_text(0, buf), buf);
}

/* ---- what is refused ---- */

TEST(checks)
{
	static const struct {
		const char *hex;
		enum tact_mode mode;
		enum tact_measure_status status;
		const char *reason; /* a part of it */
	} cases[] = {
		{"4801d8", TACT_MODE_UNROLL, TACT_MEASURE_OK, ""},
		{"4801d8", TACT_MODE_LOOP, TACT_MEASURE_OK, ""},
		{"4801d8", TACT_MODE_AUTO, TACT_MEASURE_OK, ""},
		{"90", TACT_MODE_UNROLL, TACT_MEASURE_OK, ""},
		{"c5fc58c1", TACT_MODE_UNROLL, TACT_MEASURE_OK, ""},
		{"62f17c4858c1", TACT_MODE_UNROLL, TACT_MEASURE_OK, ""},
		{"0f28c1", TACT_MODE_UNROLL, TACT_MEASURE_OK, ""},
		{"f3aa", TACT_MODE_UNROLL, TACT_MEASURE_OK, ""},   /* rep stosb */
		{"9c9d", TACT_MODE_UNROLL, TACT_MEASURE_OK, ""},   /* pushf; popf */
		{"f390", TACT_MODE_UNROLL, TACT_MEASURE_OK, ""},   /* pause */
		{"0faee8", TACT_MODE_UNROLL, TACT_MEASURE_OK, ""}, /* lfence */
		{"0fae38", TACT_MODE_UNROLL, TACT_MEASURE_OK, ""}, /* clflush [rax] */
		{"8cd8", TACT_MODE_UNROLL, TACT_MEASURE_OK, ""},   /* mov eax, ds */
		{"64488b0425280000 00", TACT_MODE_UNROLL, TACT_MEASURE_OK,
		 ""},						 /* mov rax, fs:[0x28] */
		{"d9e8", TACT_MODE_UNROLL, TACT_MEASURE_OK, ""}, /* fld1 */
		{"c9", TACT_MODE_UNROLL, TACT_MEASURE_OK, ""},	 /* leave */
		/* no instruction */
		{"", TACT_MODE_UNROLL, TACT_MEASURE_DECODE, "no code"},
		{"", TACT_MODE_LOOP, TACT_MEASURE_DECODE, "no code"},
		{"06", TACT_MODE_UNROLL, TACT_MEASURE_DECODE, "at byte 0"},
		{"9048", TACT_MODE_UNROLL, TACT_MEASURE_DECODE, "at byte 1"},
		{"4801", TACT_MODE_LOOP, TACT_MEASURE_DECODE, "at byte 0"},
		{"66666666666666666666666666666690", TACT_MODE_UNROLL, TACT_MEASURE_DECODE,
		 "at byte 0"},
		/* kernel */
		{"0f05", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "syscall enters the kernel"},
		{"900f34", TACT_MODE_LOOP, TACT_MEASURE_REFUSED, "sysenter enters the kernel"},
		{"cd80", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "enters the kernel"},
		{"cc", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "enters the kernel"},
		{"f1", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "enters the kernel"},
		{"0f07", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, ""},
		/* privileged */
		{"f4", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "hlt is privileged"},
		{"0f30", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "wrmsr is privileged"},
		{"0f22c0", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "is privileged"},
		{"fa", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "cli is privileged"},
		{"fb", TACT_MODE_LOOP, TACT_MEASURE_REFUSED, "sti is privileged"},
		{"0f09", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "wbinvd is privileged"},
		/* devices */
		{"e460", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "accesses ports of devices"},
		{"ee", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "accesses ports of devices"},
		{"6c", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "accesses ports of devices"},
		{"f36f", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "accesses ports of devices"},
		/* not deterministic */
		{"0fc7f0", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "is not deterministic"},
		{"480fc7f8", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "is not deterministic"},
		{"0f31", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "rdtsc is not deterministic"},
		{"0fa2", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "cpuid is not deterministic"},
		{"0f33", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "rdpmc is not deterministic"},
		{"0f01f9", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "rdtscp is not deterministic"},
		{"f30fc7f8", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "is not deterministic"},
		{"0f01fd", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "rdpru is not deterministic"},
		/* segments */
		{"8ed8", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "changes segments"},
		{"0fa1", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "changes segments"},
		{"0fb400", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "changes segments"},
		{"f3480faed0", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "changes segments"},
		{"f3480faed8", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "changes segments"},
		/* branches */
		{"c3", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "ret leaves the block"},
		{"e800000000", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "leaves the block"},
		{"ffe0", TACT_MODE_LOOP, TACT_MEASURE_REFUSED, "leaves the block"},
		{"7400", TACT_MODE_LOOP, TACT_MEASURE_REFUSED, "leaves the block"},
		{"eb0090", TACT_MODE_LOOP, TACT_MEASURE_REFUSED, "leaves the block"},
		{"ff28", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "leaves the block"},
		{"cb", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "leaves the block"},
		/* the own back edge: only a loop may have it, and only as its last instruction */
		{"48ffc875fb", TACT_MODE_LOOP, TACT_MEASURE_OK, ""},
		{"48ffc875fb", TACT_MODE_AUTO, TACT_MEASURE_OK, ""},
		{"48ffc875fb", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "leaves the block"},
		{"48ffc87 5fb90", TACT_MODE_LOOP, TACT_MEASURE_REFUSED, "leaves the block"},
		{"48ffc875fc", TACT_MODE_LOOP, TACT_MEASURE_REFUSED, "leaves the block"},
		{"ebfe", TACT_MODE_LOOP, TACT_MEASURE_OK, ""},
		{"ebfe", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "leaves the block"},
		{"90e2fd", TACT_MODE_AUTO, TACT_MEASURE_OK, ""},
		{"480fafc30f85f6ffffff", TACT_MODE_AUTO, TACT_MEASURE_OK, ""},
		/* the rest */
		{"0f00c0", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "is a system instruction"},
		{"0f0100", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "is a system instruction"},
		{"0f01c1", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "is a system instruction"},
		{"0f01d7", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "is a system instruction"},
		{"0f01fa", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "waits for events"},
		{"f20faef0", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "waits for events"},
		{"c7f800000000", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, ""},
		{"0f01d5", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "is transactional"},
		{"c6f800", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, ""},
		{"0fae08", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "restores processor state"},
		{"0fae28", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "restores processor state"},
		{"0f01ef", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "restores processor state"},
		{"0f0b", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "ud2 is undefined on purpose"},
		{"0fb9c0", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, "is undefined on purpose"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char reason[160] = "?", shorter[8];
		uint8_t code[64];
		size_t size = bytes_of(code, sizeof(code), cases[i].hex);
		enum tact_measure_status status = tact_measure_check(
			&isa_x86, code, size, cases[i].mode, reason, sizeof(reason));

		if (status != cases[i].status || !strstr(reason, cases[i].reason))
			fail_msg("%s: %s, '%s'", cases[i].hex, tact_measure_status_name(status),
				 reason);
		assert_int_equal(status == TACT_MEASURE_OK, !reason[0]);
		assert_int_equal(tact_measure_check(&isa_x86, code, size, cases[i].mode, NULL, 0),
				 status);
		tact_measure_check(&isa_x86, code, size, cases[i].mode, shorter, sizeof(shorter));
		assert_true(strlen(shorter) < sizeof(shorter));
	}
}

TEST(check_of_sizes)
{
	enum { MOST = MEASURE_MAX_BODY / 32 };
	uint8_t code[MOST + 1];
	char reason[160];

	memset(code, 0x90, sizeof(code));
	assert_int_equal(tact_measure_check(&isa_x86, code, MOST, TACT_MODE_UNROLL, NULL, 0),
			 TACT_MEASURE_OK);
	assert_int_equal(tact_measure_check(&isa_x86, code, MOST + 1, TACT_MODE_LOOP, reason,
					    sizeof(reason)),
			 TACT_MEASURE_TOO_LONG);
	assert_non_null(strstr(reason, "769 bytes"));
	assert_int_equal(
		tact_measure_check(&isa_x86, NULL, 0, TACT_MODE_UNROLL, reason, sizeof(reason)),
		TACT_MEASURE_DECODE);
	assert_int_equal(tact_measure_check(&isa_x86, NULL, 5, TACT_MODE_UNROLL, NULL, 0),
			 TACT_MEASURE_DECODE);
	assert_int_equal(
		tact_measure_check(&isa_x86, code, 1, (enum tact_mode)7, reason, sizeof(reason)),
		TACT_MEASURE_REFUSED);
	assert_non_null(strstr(reason, "mode"));
	assert_int_equal(tact_measure_check(NULL, code, 1, TACT_MODE_UNROLL, NULL, 0),
			 TACT_MEASURE_REFUSED);
	assert_int_equal(
		tact_measure_check(&isa_x86, code, 1, TACT_MODE_UNROLL, reason, sizeof(reason)),
		TACT_MEASURE_OK);
	assert_string_equal(reason, "");
	assert_int_equal(tact_measure_loop(NULL, code, code, 1), 0);
	assert_int_equal(tact_measure_loop(&isa_x86, NULL, code, 1), 0);
	assert_int_equal(tact_measure_loop(&isa_x86, code, NULL, 1), 0);
}

/* Which register counts, and what the screen notes. */
TEST(screens)
{
	static const struct {
		const char *hex;
		bool is_loop;
		size_t branch_size;
		int own_counter;
		uint16_t gpr_used;
		uint32_t flags;
	} cases[] = {
		{"4801d8", false, 0, -1, 1 << 0 | 1 << 3, 0},
		{"48ffc975fb", true, 2, 1, 1 << 1, 0},		   /* dec rcx; jnz */
		{"4883e90175fa", true, 2, 1, 1 << 1, 0},	   /* sub rcx, 1; jnz */
		{"4983ef010f85f6ffffff", true, 6, 15, 1 << 15, 0}, /* sub r15, 1; jnz long */
		{"4883e90275fa", true, 2, -1, 1 << 1, 0},	   /* sub rcx, 2; jnz */
		{"ffc975fc", true, 2, -1, 1 << 1, 0},		   /* dec ecx: half of it */
		{"48ffc974fb", true, 2, -1, 1 << 1, 0},		   /* dec rcx; jz */
		{"48ffcc75fb", true, 2, -1, 1 << 4, 0},		   /* dec rsp: never */
		{"48ffc148ffc975f8", true, 2, -1, 1 << 1, 0},	   /* written elsewhere too */
		{"48ffc99075fa", true, 2, -1, 1 << 1, 0},	   /* not directly before */
		{"89c948ffc975f9", true, 2, -1, 1 << 1, 0},	   /* its half is written */
		{"f348ab", false, 0, -1, 1 << 0 | 1 << 1 | 1 << 7, 0},
		{"48f7e3", false, 0, -1, 1 << 0 | 1 << 2 | 1 << 3, 0},
		{"50", false, 0, -1, 1 << 0 | 1 << 4, 0},
		{"488b0500000000", false, 0, -1, 1 << 0, TACT_MFLAG_RIP},
		{"c5fc58c1", false, 0, -1, 0, TACT_MFLAG_VEX},
		{"62f17c4858c1", false, 0, -1, 0, TACT_MFLAG_VEX},
		{"d8c1", false, 0, -1, 0, TACT_MFLAG_X87},
		{"0ffec1", false, 0, -1, 0, TACT_MFLAG_X87},
		{"0f58c1", false, 0, -1, 0, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct measure_screen s;
		char reason[160];
		uint8_t code[64];
		size_t size = bytes_of(code, sizeof(code), cases[i].hex);

		measure_x86_screen(&s, code, size, true, reason, sizeof(reason));
		if (s.status != TACT_MEASURE_OK || s.is_loop != cases[i].is_loop ||
		    s.branch_size != cases[i].branch_size ||
		    s.own_counter != cases[i].own_counter || s.used != cases[i].gpr_used ||
		    s.flags != cases[i].flags)
			fail_msg("%s: status %d, loop %d, branch %zu, counter %d, registers %x, "
				 "flags %x",
				 cases[i].hex, (int)s.status, s.is_loop, s.branch_size,
				 s.own_counter, s.used, s.flags);
	}
}

/* ---- options, harnesses ---- */

TEST(refuses_options)
{
	static const int below[] = {-1}, above[] = {0, 1024};
	static const struct tact_measure_options bad[] = {
		{.size = 1},
		{.size = sizeof(bad[0]), .pin = true, .cpu = -1},
		{.size = sizeof(bad[0]), .pin = true, .cpu = 1024},
		{.size = sizeof(bad[0]), .cpu = -1},
		{.size = sizeof(bad[0]), .cpu = 1},
		{.size = sizeof(bad[0]), .mode = (enum tact_mode)3},
		{.size = sizeof(bad[0]), .init = TACT_INIT_DIFF},
		{.size = sizeof(bad[0]), .init = (enum tact_init)9},
		{.size = sizeof(bad[0]), .rung = (enum tact_rung)5},
		{.size = sizeof(bad[0]), .pages = MEASURE_MAX_PHYSICAL + 1},
		{.size = sizeof(bad[0]), .max_pages = MEASURE_MAX_PAGES + 1},
		{.size = sizeof(bad[0]), .passes = 65},
		{.size = sizeof(bad[0]), .samples = MEASURE_MAX_SAMPLES + 1},
		{.size = sizeof(bad[0]), .samples = ~0u},
		{.size = sizeof(bad[0]), .max_spread = -1},
		{.size = sizeof(bad[0]), .max_spread = NAN},
		{.size = sizeof(bad[0]), .n_cpus = 1},
		{.size = sizeof(bad[0]), .cpus = below, .n_cpus = 1},
		{.size = sizeof(bad[0]), .cpus = above, .n_cpus = 2},
	};
	struct tact_harness *h = NULL;
	struct tact_diag diag;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		memset(&diag, 0, sizeof(diag));
		h = (struct tact_harness *)&diag;
		if (tact_harness_create(&h, &bad[i], &diag) != -TACT_E_INVAL)
			fail_msg("options %zu were taken, or refused for another reason", i);
		assert_null(h);
		assert_true(diag.text[0]);
	}
	assert_int_equal(tact_harness_create(NULL, NULL, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_harness_create(NULL, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_harness_create(&h, &bad[1], NULL), -TACT_E_INVAL);
	tact_harness_destroy(NULL);
}

/* Returns NULL, and prints the reason, if this machine cannot do it. */
static struct tact_harness *create_or_say_why(const struct tact_measure_options *opt)
{
	struct tact_harness *h = NULL;
	struct tact_diag diag = {0};

	if (tact_harness_create(&h, opt, &diag) < 0)
		print_message("skip: no harness here: %s\n", diag.text);
	return h;
}

TEST(harnesses_come_and_go)
{
	unsigned descriptors = count_descriptors();
	struct tact_harness *first = create_or_say_why(NULL);

	if (!first)
		skip();
	tact_harness_destroy(first);
	for (unsigned i = 0; i < rounds(60); i++) {
		struct tact_harness *a = NULL, *b = NULL;

		assert_int_equal(tact_harness_create(&a, NULL, NULL), 0);
		assert_int_equal(tact_harness_create(&b, NULL, NULL), 0);
		assert_true(has_children());
		assert_true(tact_harness_rung(a) > TACT_RUNG_AUTO &&
			    tact_harness_rung(a) <= TACT_RUNG_TSC);
		/* a rung is better than this one, and has a reason not to be taken; or not */
		for (int r = TACT_RUNG_AUTO; r <= (int)TACT_RUNG_TSC + 1; r++)
			assert_int_equal(r != TACT_RUNG_AUTO && r < (int)tact_harness_rung(a),
					 tact_harness_refusal(a, (enum tact_rung)r)[0] != 0);
		tact_harness_destroy(a);
		tact_harness_destroy(b);
		assert_false(has_children());
		assert_int_equal(count_descriptors(), descriptors);
	}
	/* Whether a rung exists or not, nothing is left over. */
	for (int rung = TACT_RUNG_RDPMC; rung <= (int)TACT_RUNG_TSC; rung++) {
		const struct tact_measure_options opt = {.size = sizeof(opt),
							 .rung = (enum tact_rung)rung};
		struct tact_diag diag = {0};
		struct tact_harness *h = NULL;
		int error = tact_harness_create(&h, &opt, &diag);

		assert_true(error == 0 ||
			    (error == -TACT_E_IO && strstr(diag.text, tact_rung_name(opt.rung))));
		assert_true(rung != TACT_RUNG_TSC || error == 0);
		tact_harness_destroy(h);
		assert_false(has_children());
		assert_int_equal(count_descriptors(), descriptors);
	}
}

/* What tact_measure returns without running anything. */
TEST(measures_nothing)
{
	struct tact_harness *h = create_or_say_why(NULL);
	struct tact_measurement m = TACT_MEASUREMENT_INIT;
	uint8_t code[1000];

	if (!h)
		skip();
	memset(code, 0x90, sizeof(code));
	assert_int_equal(tact_measure(NULL, code, 1, &m), -TACT_E_INVAL);
	assert_int_equal(tact_measure(h, code, 1, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_measure(h, NULL, 1, &m), -TACT_E_INVAL);
	assert_int_equal(tact_measure(h, NULL, 0, &m), 0);
	assert_int_equal(m.status, TACT_MEASURE_DECODE);
	assert_int_equal(m.size, sizeof(m));
	assert_int_equal(m.init, TACT_INIT_STACK);
	assert_int_equal(m.rung, tact_harness_rung(h));
	assert_true(m.reason[0]);
	assert_int_equal(tact_measure(h, code, sizeof(code), &m), 0);
	assert_int_equal(m.status, TACT_MEASURE_TOO_LONG);
	assert_int_equal(tact_measure(h, (const uint8_t *)"\x0f\x05", 2, &m), 0);
	assert_int_equal(m.status, TACT_MEASURE_REFUSED);
	assert_true(m.cycles_per_iteration == 0 && m.kept == 0);
	tact_harness_destroy(h);
}

/* Zero is the default of every option, and that of predict where both have it. */
TEST(no_options_are_zeroed_options)
{
	const struct tact_measure_options zeros = TACT_MEASURE_OPTIONS_INIT;
	struct tact_harness *none = create_or_say_why(NULL), *all;

	if (!none)
		skip();
	all = create_or_say_why(&zeros);
	assert_non_null(all);
	none->opt.size = all->opt.size;
	assert_memory_equal(&none->opt, &all->opt, sizeof(all->opt));
	assert_false(none->opt.pin);
	assert_int_equal(none->opt.init, ((struct tact_block_options){.size = 0}).init);
	tact_harness_destroy(none);
	tact_harness_destroy(all);
}

TEST(pins_the_child)
{
	struct tact_measure_options opt = TACT_MEASURE_OPTIONS_INIT;
	struct tact_harness *h = create_or_say_why(&opt);
	struct tact_diag diag;
	cpu_set_t own, set;

	if (!h || sched_getaffinity(0, sizeof(own), &own))
		skip();
	assert_int_equal(sched_getaffinity(h->keeper, sizeof(set), &set), 0);
	assert_true(CPU_EQUAL(&own, &set));
	tact_harness_destroy(h);
	while (!CPU_ISSET(opt.cpu, &own))
		opt.cpu++;
	opt.pin = true;
	assert_int_equal(tact_harness_create(&h, &opt, NULL), 0);
	assert_int_equal(sched_getaffinity(h->keeper, sizeof(set), &set), 0);
	assert_true(CPU_COUNT(&set) == 1 && CPU_ISSET(opt.cpu, &set));
	tact_harness_destroy(h);
	if (sysconf(_SC_NPROCESSORS_CONF) > 1023)
		return;
	opt.cpu = 1023;
	assert_int_equal(tact_harness_create(&h, &opt, &diag), -TACT_E_IO);
	assert_null(h);
	assert_non_null(strstr(diag.text, "1023"));
}

static void *create_in_thread(void *arg)
{
	(void)arg;
	return create_or_say_why(NULL);
}

/* The kernel ends the child together with the thread that started it. */
TEST(a_harness_outlives_its_thread)
{
	static const uint8_t nop[] = {0x90};
	struct tact_measurement m = TACT_MEASUREMENT_INIT;
	struct tact_harness *h;
	pthread_t thread;
	void *made;

	assert_int_equal(pthread_create(&thread, NULL, create_in_thread, NULL), 0);
	assert_int_equal(pthread_join(thread, &made), 0);
	h = made;
	if (!h)
		skip();
	for (int i = 0; i < 2; i++) {
		assert_int_equal(tact_measure(h, nop, sizeof(nop), &m), 0);
		if (m.status != TACT_MEASURE_OK && m.status != TACT_MEASURE_UNSTABLE &&
		    m.status != TACT_MEASURE_DISTURBED)
			fail_msg("call %d: %s", i, m.reason);
	}
	tact_harness_destroy(h);
}

/* Neither does the block get the blame, nor the program SIGPIPE. */
TEST(a_killed_child_is_replaced)
{
	static const uint8_t nop[] = {0x90};
	const struct tact_measure_options opt = {
		.size = sizeof(opt), .passes = 2, .samples = 8, .timeout_ms = 20000};
	struct tact_measurement m = TACT_MEASUREMENT_INIT;
	struct tact_harness *h = create_or_say_why(&opt);

	if (!h)
		skip();
	for (unsigned i = 0; i < rounds(30); i++) {
		kill(h->child, SIGKILL);
		assert_int_equal(tact_measure(h, nop, sizeof(nop), &m), 0);
		if (m.status != TACT_MEASURE_OK && m.status != TACT_MEASURE_UNSTABLE &&
		    m.status != TACT_MEASURE_DISTURBED)
			fail_msg("call %u: %s", i, m.reason);
	}
	tact_harness_destroy(h);
}

/* Results for an older caller, a newer one, and one that set no size. */
TEST(results_of_any_size)
{
	static const uint8_t syscall_code[] = {0x0f, 0x05};
	struct tact_harness *h = create_or_say_why(NULL);
	struct {
		struct tact_measurement m;
		uint64_t newer[4];
	} x;

	if (!h)
		skip();
	assert_int_equal(tact_harness_rung(NULL), TACT_RUNG_AUTO);
	assert_string_equal(tact_harness_refusal(NULL, TACT_RUNG_PERF), "");
	memset(&x, 0xa5, sizeof(x));
	x.m.size = 0;
	assert_int_equal(tact_measure(h, syscall_code, 2, &x.m), -TACT_E_INVAL);
	x.m.size = offsetof(struct tact_measurement, rung);
	assert_int_equal(tact_measure(h, syscall_code, 2, &x.m), 0);
	assert_int_equal(x.m.size, offsetof(struct tact_measurement, rung));
	assert_int_equal(x.m.status, TACT_MEASURE_REFUSED);
	assert_int_equal(x.m.kept, 0);
	assert_int_equal((unsigned)x.m.rung, 0xa5a5a5a5);
	x.m.size = sizeof(x);
	assert_int_equal(tact_measure(h, syscall_code, 2, &x.m), 0);
	assert_int_equal(x.m.size, sizeof(x));
	assert_int_equal(x.m.rung, tact_harness_rung(h));
	assert_int_equal(x.newer[0] | x.newer[3], 0);
	tact_harness_destroy(h);
}

/* Options of a shorter struct, of an older program: the rest is zero. */
TEST(shorter_options)
{
	const struct tact_measure_options opt = {
		.size = offsetof(struct tact_measure_options, pages),
		.mode = TACT_MODE_LOOP,
		.init = TACT_INIT_SAME,
		.pages = 1000};
	struct tact_harness *h = create_or_say_why(&opt);

	if (!h)
		skip();
	assert_int_equal(h->opt.pages, 0);
	assert_int_equal(h->opt.mode, TACT_MODE_LOOP);
	assert_true(h->opt.passes > 0 && h->opt.samples > 0 && h->opt.timeout_ms > 0);
	tact_harness_destroy(h);
}

RUN_TESTS(NULL, NULL)
