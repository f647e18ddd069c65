/* SPDX-License-Identifier: MIT
 *
 * Where code comes from: the DSB by sets and lines, the caches and TLBs behind it.
 */
#include <stddef.h>
#include <stdint.h>

#include <string.h>

#include "testing.h"

#include "arch/arch.h"
#include "trace/caches.h"
#include "trace/code_caches.h"
#include "trace/page_faults.h"

/* Executes a block of `size` bytes with an instruction every four bytes. */
static struct code_fetch execute(struct code_caches *c, uint64_t address, uint32_t size)
{
	static struct code_place
		place; /* often of another block: then it is of no use, and no harm */
	struct code_fetch fetch;

	code_caches_execute(c, &(struct code_piece){address, size, size / 4}, false, &place,
			    &fetch);
	return fetch;
}

/* Executes code of so many bytes from its first to its last.  Returns how many of its blocks, of 64
 * bytes, are decoded.
 */
static unsigned sweep(struct code_caches *c, uint64_t bytes)
{
	unsigned decoded = 0;

	for (uint64_t at = 0; at < bytes; at += 64)
		decoded += execute(c, 0x400000 + at, 64).is_decoded;
	return decoded;
}

TEST(the_dsb_holds_what_was_executed)
{
	const struct arch_params *p = &tact_arch_find("ZEN3")->params; /* 64 sets of 8 lines of 8 */
	struct code_caches c;

	assert_int_equal(code_caches_init(&c, p, NULL), 0);
	assert_true(execute(&c, 0x1000, 16).is_decoded);
	assert_false(execute(&c, 0x1000, 16).is_decoded);
	/* the same window, entered elsewhere; and a block in two windows */
	assert_true(execute(&c, 0x1008, 8).is_decoded);
	assert_true(execute(&c, 0x1020, 64).is_decoded);
	assert_false(execute(&c, 0x1000, 16).is_decoded);
	assert_false(execute(&c, 0x1008, 8).is_decoded);
	assert_false(execute(&c, 0x1020, 64).is_decoded);
	code_caches_fini(&c);
}

TEST(the_dsb_is_as_large_as_it_is)
{
	static const struct {
		const char *arch;
		uint64_t fits,
			is_too_large; /* bytes of code with four bytes for each instruction */
	} cases[] = {{"ZEN3", 16384, 32768},
		     {"ZEN4", 24576, 65536},
		     {"GLC", 16384, 32768},
		     {"SKL", 4096, 12288},
		     {"ICL", 6144, 16384}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct code_caches c;

		assert_int_equal(code_caches_init(&c, &tact_arch_find(cases[i].arch)->params, NULL),
				 0);
		sweep(&c, cases[i].fits);
		assert_int_equal(sweep(&c, cases[i].fits), 0);
		sweep(&c, cases[i].is_too_large);
		assert_int_equal(sweep(&c, cases[i].is_too_large), cases[i].is_too_large / 64);
		code_caches_fini(&c);
	}
}

/* Sets know how many lines their windows have, and never more than there are. */
TEST(lines_of_the_dsb_add_up)
{
	static const char *const archs[] = {"ZEN4", "GLC", "SKL"};

	for (size_t i = 0; i < sizeof(archs) / sizeof(archs[0]); i++) {
		const struct arch_params *p = &tact_arch_find(archs[i])->params;
		uint64_t random = 1;
		struct code_caches c;

		assert_int_equal(code_caches_init(&c, p, NULL), 0);
		for (unsigned n = 0; n < 20000; n++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			execute(&c, 0x400000 + (random >> 40) % 80000, 4 + (random >> 20) % 160);
			if (n % 500 == 499)
				code_caches_enter_kernel(
					&c, &(struct kernel_trail){.dsb = (int)(random >> 33) % 600,
								   .is_fault = n % 1000 == 999});
		}
		for (size_t s = 0; s < c.sets; s++) {
			unsigned held = 0;

			for (size_t w = 0; w < c.ways; w++)
				if (c.windows[s * c.ways + w].window)
					held += c.windows[s * c.ways + w].lines;
			assert_int_equal(held, c.held[s]);
			assert_true(held <= c.ways);
		}
		code_caches_fini(&c);
	}
}

/* A window with more uops than its lines hold, and a core that says no size. */
TEST(some_code_is_never_or_always_there)
{
	struct arch_params p = tact_arch_find("SKL")->params; /* three lines of six for 32 bytes */
	struct code_caches c;
	struct code_fetch fetch;
	struct code_place place = {.at = 0};

	assert_int_equal(code_caches_init(&c, &p, NULL), 0);
	for (unsigned i = 0; i < 3; i++) {
		code_caches_execute(&c, &(struct code_piece){0x1000, 32, 24}, false, &place,
				    &fetch);
		assert_true(fetch.is_decoded);
	}
	code_caches_fini(&c);
	p.dsb_size = 0;
	assert_int_equal(code_caches_init(&c, &p, NULL), 0);
	code_caches_execute(&c, &(struct code_piece){0x1000, 16, 4}, true, &place, &fetch);
	assert_true(fetch.is_decoded);
	assert_int_equal(fetch.lines, 0); /* nothing but the DSB is followed */
	code_caches_execute(&c, &(struct code_piece){0x1000, 16, 4}, false, &place, &fetch);
	assert_false(fetch.is_decoded);
	code_caches_fini(&c);
}

TEST(lines_come_from_where_they_are)
{
	const struct arch_params *p = &tact_arch_find("ZEN3")->params;
	struct code_caches c;
	struct code_fetch fetch;
	struct tact_stream_trip trip;
	struct caches data;
	struct code_place place = {.at = 0};

	assert_int_equal(caches_init(&data, p, NULL), 0);
	assert_int_equal(code_caches_init(&c, p, &data), 0);
	/* three lines, from memory; new ones from the last level, where the file was read to */
	fetch = execute(&c, 0x10020, 128);
	assert_int_equal(fetch.lines, 3 | 3 << 2 | 3 << 4);
	assert_int_equal(fetch.delay, p->itlb_walk);
	code_caches_execute(&c, &(struct code_piece){0x20000, 64, 16}, true, &place, &fetch);
	assert_int_equal(fetch.lines, 2);
	/* code in the first level, in a page that is known */
	fetch = execute(&c, 0x10024, 16);
	assert_true(fetch.is_decoded);
	assert_int_equal(fetch.lines, 0);
	assert_int_equal(fetch.delay, 0);
	/* 64 KiB of code leave the first level, but not the second */
	for (uint64_t at = 0; at < 65536; at += 64)
		execute(&c, 0x400000 + at, 64);
	fetch = execute(&c, 0x400000, 128);
	assert_int_equal(fetch.lines, 1 | 1 << 2);
	/* data and code share the second level */
	for (uint64_t at = 0; at < 1 << 20; at += 64)
		caches_access(&data, 0x10000000 + at, 8, 0, false, &trip);
	for (uint64_t at = 0; at < 65536; at += 64)
		execute(&c, 0x500000 + at, 64);
	assert_int_equal(execute(&c, 0x400000, 64).lines, 2);
	code_caches_fini(&c);
	caches_fini(&data);
}

TEST(pages_are_translated)
{
	const struct arch_params *p = &tact_arch_find("ZEN3")->params;
	unsigned second = 0, walks = 0;
	struct code_caches c;
	struct caches data;

	assert_int_equal(caches_init(&data, p, NULL), 0);
	assert_int_equal(code_caches_init(&c, p, &data), 0);
	for (unsigned round = 0; round < 2; round++)
		for (uint64_t page = 0; page < 256; page++)
			for (uint64_t at = 0; at < 4096; at += 64) {
				unsigned delay = execute(&c, page * 4096 + at, 64).delay;

				second += delay == (unsigned)p->itlb2_cycles;
				walks += delay == (unsigned)p->itlb_walk;
			}
	/* once for each page: more than the first level holds, fewer than the second */
	assert_int_equal(walks, 256);
	assert_int_equal(second, 256);
	assert_int_equal(c.walks, 256);
	code_caches_fini(&c);
	caches_fini(&data);
}

/* Zen 3's DSB is empty after the kernel ran; some other one might be after a page fault only;
 * Skylake's is not known to be.
 */
TEST(the_kernel_empties_the_dsb)
{
	static const char *const archs[] = {"ZEN3", "SKL", "SKL"};
	const struct kernel_trail call = {.dsb = 0}, fault = {.is_fault = true};

	for (unsigned i = 0; i < 3; i++) {
		struct arch_params p = tact_arch_find(archs[i])->params;
		struct code_caches c;

		p.dsb_flushed = i == 1 ? 2 : p.dsb_flushed;
		assert_int_equal(code_caches_init(&c, &p, NULL), 0);
		execute(&c, 0x1000, 16);
		code_caches_enter_kernel(&c, &call);
		assert_int_equal(execute(&c, 0x1000, 16).is_decoded, i == 0);
		code_caches_enter_kernel(&c, &fault);
		assert_int_equal(execute(&c, 0x1000, 16).is_decoded, i <= 1);
		code_caches_fini(&c);
	}
}

/* After a call of each kind, so many of the blocks that fit before are decoded. */
static unsigned decoded_after(const struct kernel_trail *trail, uint64_t bytes)
{
	struct code_caches c;
	unsigned decoded;

	assert_int_equal(code_caches_init(&c, &tact_arch_find("ZEN4")->params, NULL), 0);
	sweep(&c, bytes);
	assert_int_equal(sweep(&c, bytes), 0);
	code_caches_enter_kernel(&c, trail);
	decoded = sweep(&c, bytes);
	assert_int_equal(sweep(&c, bytes), 0); /* nothing of it stays */
	code_caches_fini(&c);
	return decoded;
}

/* Measured on Zen 4 with nops, of which two count as one: 16 KiB here are 32 KiB there. */
TEST(the_kernel_takes_places_in_the_dsb)
{
	const struct arch_params *p = &tact_arch_find("ZEN4")->params;
	const struct kernel_trail light = {.dsb = p->kernel_light_dsb},
				  usual = {.dsb = p->kernel_usual_dsb},
				  heavy = {.dsb = p->kernel_heavy_dsb},
				  fault = {.is_fault = true, .dsb = p->kernel_fault_dsb};

	assert_int_equal(decoded_after(&light, 12 << 10), 0);
	assert_int_equal(decoded_after(&light, 16 << 10), 256);
	assert_int_equal(decoded_after(&usual, 8 << 10), 0);
	assert_int_equal(decoded_after(&usual, 12 << 10), 192);
	assert_int_equal(decoded_after(&fault, 4 << 10), 0);
	assert_int_equal(decoded_after(&fault, 8 << 10), 128);
	assert_int_equal(decoded_after(&heavy, 4 << 10), 64);
}

/* Its code is in the second level at the next call, and that of the program after it as well. */
TEST(the_kernel_takes_places_of_code)
{
	struct arch_params p = tact_arch_find("ZEN4")->params;
	const struct kernel_trail heavy = {.code = p.kernel_heavy_code},
				  light = {.code = p.kernel_light_code};
	unsigned lost[2] = {0, 0};
	struct code_caches c;
	struct caches data;

	p.dsb_size = p.dsb_ways; /* one set: all is decoded */
	assert_int_equal(caches_init(&data, &p, NULL), 0);
	assert_int_equal(code_caches_init(&c, &p, &data), 0);
	for (unsigned round = 0; round < 4; round++) {
		const uint64_t from_l2 = c.misses[0], beyond = c.misses[1] + c.misses[2];

		sweep(&c, 16 << 10);
		if (round >= 2) {
			lost[round - 2] = (unsigned)(c.misses[0] - from_l2);
			assert_int_equal(c.misses[1] + c.misses[2], beyond);
		}
		code_caches_enter_kernel(&c, round == 1 ? &light : &heavy);
	}
	/* half of the cache is free for a light call; a heavy one takes more than all of it */
	assert_true(lost[0] < 8);
	assert_true(lost[1] > 128);
	code_caches_fini(&c);
	caches_fini(&data);
}

TEST(pages_fault_once)
{
	struct faults f = {.n = 0};

	assert_false(faults_has(&f, 1, 0x401000));
	assert_int_equal(faults_touch(&f, 1, 0x401000, false), FAULT_FILE);
	assert_true(faults_has(&f, 1, 0x40f000));
	assert_false(faults_has(&f, 2, 0x401000));
	assert_int_equal(f.count, 1);					    /* asking is no fault */
	assert_int_equal(faults_touch(&f, 1, 0x40f000, false), FAULT_NONE); /* mapped with it */
	assert_int_equal(faults_touch(&f, 1, 0x410000, false), FAULT_FILE);
	assert_int_equal(faults_touch(&f, 1, 0x402000, true), FAULT_FRESH); /* its own copy */
	assert_int_equal(faults_touch(&f, 1, 0x402ff8, true), FAULT_NONE);
	/* a fresh page is there for loads as well, and says nothing about those around it */
	assert_int_equal(faults_touch(&f, 1, 0x7000000, true), FAULT_FRESH);
	assert_int_equal(faults_touch(&f, 1, 0x7000008, false), FAULT_NONE);
	assert_int_equal(faults_touch(&f, 1, 0x7001000, false), FAULT_FILE);
	/* a process that was forked gets pages of its own */
	assert_int_equal(faults_touch(&f, 2, 0x7000000, true), FAULT_FRESH);
	for (uint64_t i = 0; i < 100000; i++)
		assert_int_equal(faults_touch(&f, 1, 0x100000000 + i * FAULTS_PAGE, true),
				 FAULT_FRESH);
	for (uint64_t i = 0; i < 100000; i++)
		assert_int_equal(faults_touch(&f, 1, 0x100000000 + i * FAULTS_PAGE, true),
				 FAULT_NONE);
	assert_int_equal(f.count, 100006);
	/* its memory has a limit */
	for (uint64_t i = 0; i < 3000000; i++)
		faults_touch(&f, 1, 0x10000000000 + i * FAULTS_PAGE, true);
	assert_true(f.mask < 2000000);
	faults_fini(&f);
}

RUN_TESTS(NULL, NULL)
