/* SPDX-License-Identifier: MIT
 *
 * The harness for AArch64 on such a machine, or under an emulator of one: there, numbers mean
 * nothing, but how each block ends must be right, and what it starts from.
 */
#include <stdlib.h>
#include <string.h>

#include "../unit/testing.h"

#include "../unit/llvm_module.h"
#include "../unit/support.h"
#include "base/emulator.h"
#include "measure/aarch64/timer_a64.h"
#include "measure/aarch64/words_a64.h"
#include "measure/measure_job.h"
#include "measure/native.h"

static struct tact_harness *create(enum tact_mode mode, enum tact_vectors vectors)
{
	const struct tact_measure_options opt = {.size = sizeof(opt),
						 .mode = mode,
						 .vectors = vectors,
						 .passes = 2,
						 .samples = 8,
						 .timeout_ms = 6000,
						 .no_namespaces = true};
	struct tact_harness *h = NULL;
	struct tact_diag diag = {0};

	need_llvm();
	if (tact_harness_create(&h, &opt, &diag) < 0)
		fail_msg("%s", diag.text);
	return h;
}

/* ---- how blocks end ---- */

static const struct {
	const char *hex;
	enum tact_mode mode;
	enum tact_measure_status status;
	unsigned pages;
} blocks[] = {
	{"0000018b", TACT_MODE_UNROLL, TACT_MEASURE_OK, 0}, /* add x0, x0, x1 */
	{"0008c09a", TACT_MODE_UNROLL, TACT_MEASURE_OK, 0}, /* udiv x0, x0, x0 */
	{"0018611e", TACT_MODE_UNROLL, TACT_MEASURE_OK, 0}, /* fdiv d0, d0, d1 */
	{"200040f9", TACT_MODE_UNROLL, TACT_MEASURE_OK, 1}, /* ldr x0, [x1] */
	{"000040f9", TACT_MODE_UNROLL, TACT_MEASURE_OK, 1}, /* ldr x0, [x0] */
	{"e20f00f9", TACT_MODE_UNROLL, TACT_MEASURE_OK, 1}, /* str x2, [sp, #24] */
	{"200440f8", TACT_MODE_UNROLL, TACT_MEASURE_OK, 0}, /* ldr x0, [x1], #0 */
	{"208440f8", TACT_MODE_LOOP, TACT_MEASURE_OK, 0},   /* ldr x0, [x1], #8 */
	{"208440f8", TACT_MODE_UNROLL, TACT_MEASURE_OK, 0},
	{"000000580000018b", TACT_MODE_UNROLL, TACT_MEASURE_OK, 0}, /* ldr x0, . */
	{"e00314aa", TACT_MODE_LOOP, TACT_MEASURE_OK, 0},	    /* mov x0, x20 */
	{"0000018b210400f1c1ffff54", TACT_MODE_AUTO, TACT_MEASURE_OK, 0},
	{"20743fd5", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, 0},
	{"010000d4", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, 0}, /* svc #0 */
	{"00003fd6", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, 0}, /* blr x0 */
	{"207c5fc8", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, 0}, /* ldxr x0, [x1] */
	{"0000e004", TACT_MODE_UNROLL, TACT_MEASURE_REFUSED, 0}, /* SVE */
	{"0000018b00", TACT_MODE_UNROLL, TACT_MEASURE_DECODE, 0},
	/* mov x0, #1; ldr x0, [x0]: below everything that can be mapped */
	{"200080d2000040f9", TACT_MODE_UNROLL, TACT_MEASURE_UNMAPPABLE, 0},
	/* mov x0, #-8; ldr x0, [x0] */
	{"e0008092000040f9", TACT_MODE_UNROLL, TACT_MEASURE_UNMAPPABLE, 0},
	/* adr x0, .; str x1, [x0] */
	{"00000010010000f9", TACT_MODE_UNROLL, TACT_MEASURE_OWN_CODE, 0},
	/* movz x0, #0x2000, lsl #32; movk x0, #0x18, lsl #16; str x1, [x0]: the runner's code */
	{"0000c4d20003a0f2010000f9", TACT_MODE_UNROLL, TACT_MEASURE_OWN_CODE, 0},
	/* add x1, x1, x1, lsl #8; ldrb w0, [x1]: other pages all the time */
	{"21a0018b20004039", TACT_MODE_UNROLL, TACT_MEASURE_UNMAPPABLE, 0},
};

TEST(ends_as_it_should)
{
	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
		struct tact_harness *h = create(blocks[i].mode, TACT_VECTORS_ORDINARY);
		struct tact_measurement m = TACT_MEASUREMENT_INIT;
		uint8_t code[64];
		const size_t size = bytes_of(code, sizeof(code), blocks[i].hex);
		char emulator[TACT_EMULATOR_SIZE];

		assert_int_equal(tact_measure(h, code, size, &m), 0);
		if (tact_host_emulator(emulator, sizeof(emulator))) {
			/* QEMU was seen to hang now and then on a busy machine. */
			if (m.status == TACT_MEASURE_TIMEOUT)
				assert_int_equal(tact_measure(h, code, size, &m), 0);
			/* What takes no time has no number. */
			if (m.status == TACT_MEASURE_UNSTABLE)
				m.status = TACT_MEASURE_OK;
		}
		if (m.status != blocks[i].status)
			fail_msg("%s: %s (%s)", blocks[i].hex, tact_measure_status_name(m.status),
				 m.reason);
		if (blocks[i].pages)
			assert_int_equal(m.n_pages, blocks[i].pages);
		tact_harness_destroy(h);
	}
}

/* The harness lives on after blocks that end badly; one that never ends has a time. */
TEST(goes_on_after_bad_blocks)
{
	static const char *const bad[] = {"200080d2000040f9", "00000010010000f9"};
	struct tact_harness *h = create(TACT_MODE_UNROLL, TACT_VECTORS_ORDINARY);
	struct tact_measurement m = TACT_MEASUREMENT_INIT;
	const uint8_t add[] = {0x00, 0x00, 0x01, 0x8b};
	uint8_t code[64];

	for (int i = 0; i < 6; i++) {
		assert_int_equal(
			tact_measure(h, code, bytes_of(code, sizeof(code), bad[i % 2]), &m), 0);
		assert_true(m.status != TACT_MEASURE_OK);
		assert_int_equal(tact_measure(h, add, sizeof(add), &m), 0);
		assert_true(m.status == TACT_MEASURE_OK || m.status == TACT_MEASURE_UNSTABLE);
	}
	tact_harness_destroy(h);
}

/* ---- what blocks start from ---- */

/* Runs a block step by step. */
static void step_through(struct job *job, struct tact_harness *h, const uint8_t *code, size_t size,
			 bool loop)
{
	static struct tact_measurement m;

	m = (struct tact_measurement)TACT_MEASUREMENT_INIT;
	*job = (struct job){.h = h, .out = &m};
	assert_int_equal(harness_begin_block(h), 0);
	assert_int_equal(harness_learn(h), 0);
	job->deadline = harness_now_ms() + 5000;
	h->host->init_value = MEASURE_INIT_VALUE;
	h->host->init_stack = MEASURE_INIT_STACK;
	h->host->max_pages = 16;
	h->opt.mode = loop ? TACT_MODE_LOOP : TACT_MODE_UNROLL;
	measure_a64_screen(&job->screen, code, size, loop, m.reason, sizeof(m.reason));
	assert_int_equal(job->screen.status, TACT_MEASURE_OK);
	assert_int_equal(job_plan(job, code, size), 0);
	assert_int_equal(job_prepare(job), 0);
	h->host->max_steps = 12;
	assert_int_equal(job_order(job, ORDER_STEP), 0);
	assert_int_equal(h->host->n_steps, 12);
	job_place_steps(job);
}

static uint64_t expected_register(unsigned r)
{
	return r == 31 ? MEASURE_INIT_STACK : r == 29 ? MEASURE_INIT_FRAME : MEASURE_INIT_VALUE;
}

TEST(starts_from_known_registers)
{
	/* str x2, [x1]; add x3, x3, #1 */
	const uint8_t code[] = {0x22, 0x00, 0x00, 0xf9, 0x63, 0x04, 0x00, 0x91};

	for (int loop = 0; loop < 2; loop++) {
		struct tact_harness *h = create(TACT_MODE_UNROLL, TACT_VECTORS_ORDINARY);
		const struct measure_step *s = h->host->step;
		struct job job;

		step_through(&job, h, code, sizeof(code), loop);
		for (unsigned r = 0; r < 32; r++)
			if (!loop || r != job.plan.counter)
				assert_int_equal(s[0].reg[r], expected_register(r));
		for (unsigned i = 0; i < 12; i++) {
			const unsigned at = loop ? i % 2 : i;

			assert_int_equal(s[i].pc, MEASURE_CODE_BASE + job.layout.body + 4 * at);
			assert_int_equal(s[i].reg[3], MEASURE_INIT_VALUE + i / 2);
		}
		if (loop) {
			assert_int_equal(s[0].reg[job.plan.counter], h->host->counter_low);
			assert_int_equal(s[2].reg[job.plan.counter], h->host->counter_low - 1);
		}
		tact_harness_destroy(h);
	}
}

/* mrs x0, nzcv; mrs x1, fpcr; mrs x2, fpsr; fmov x3, d0; mov x4, v31.d[1]; mrs x5, tpidr_el0 */
TEST(starts_from_known_modes)
{
	const uint32_t words[] = {0xd53b4200, 0xd53b4401, 0xd53b4422,
				  0x9e660003, 0x4e183fe4, 0xd53bd045};

	for (int zero = 0; zero < 2; zero++) {
		struct tact_harness *h = create(TACT_MODE_UNROLL, (enum tact_vectors)zero);
		const struct measure_step *s = &h->host->step[6];
		struct job job;

		step_through(&job, h, (const uint8_t *)words, sizeof(words), false);
		assert_int_equal(s->reg[0], 0);
		assert_int_equal(s->reg[1], 1 << 24);
		assert_int_equal(s->reg[2], 0);
		assert_int_equal(s->reg[3], zero ? 0 : measure_a64_ordinary(0));
		assert_int_equal(s->reg[4], zero ? 0 : measure_a64_ordinary(31));
		assert_int_equal(s->reg[5], MEASURE_THREAD_BASE);
		tact_harness_destroy(h);
	}
}

/* ---- the machine ---- */

TEST(knows_its_cpu)
{
	struct tact_host host = TACT_HOST_INIT;

	assert_ptr_equal(tact_isa_default(), &isa_aarch64);
	assert_ptr_equal(measure_native, &measure_aarch64);
	assert_int_equal(tact_host_probe(&host), 0);
	assert_true(host.tsc_hz > 1e6);
	assert_true(native_clock() > 0);
	assert_true(native_features() <= A64_MAX_SHIFT);
}

RUN_TESTS(NULL, NULL)
