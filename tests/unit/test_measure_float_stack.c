/* SPDX-License-Identifier: MIT
 *
 * The x87 stack: what is started with and added between iterations keeps random blocks from
 * overflowing and underflowing it.  The CPU itself is the judge.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "testing.h"

#include "measure/x86/measure_x86.h"
#include "support.h"

static struct measure_screen screen_code(const uint8_t *code, size_t size)
{
	struct measure_screen s;
	char reason[160];

	measure_x86_screen(&s, code, size, false, reason, sizeof(reason));
	assert_int_equal(s.status, TACT_MEASURE_OK);
	return s;
}

static struct measure_screen screen_hex(const char *hex)
{
	uint8_t code[64];
	size_t bad;
	long size = tact_hex_decode(code, hex, strlen(hex), &bad);

	assert_true(size > 0);
	return screen_code(code, (size_t)size);
}

#define BOTH (TACT_MFLAG_COMPENSATED | TACT_MFLAG_STACK_FAULT)

static void check(const char *hex, unsigned depth, uint32_t flags, const char *fixup)
{
	struct measure_screen s = screen_hex(hex);
	uint8_t bytes[64];
	size_t bad;
	long size = tact_hex_decode(bytes, fixup, strlen(fixup), &bad);

	assert_int_equal(s.needs.stack_depth, depth);
	assert_int_equal(s.flags & BOTH, flags);
	assert_int_equal(s.fixup_size, *fixup ? size : 0);
	assert_memory_equal(s.fixup, bytes, s.fixup_size);
}

TEST(known_blocks)
{
	check("4801d8", 0, 0, "");
	check("d8c1", 8, 0, "");			  /* fadd st0, st1 */
	check("d906d91e", 7, 0, "");			  /* fld; fstp */
	check("d9e8d9e8dec1ddd8", 6, 0, "");		  /* fld1; fld1; faddp; fstp st0 */
	check("d906", 7, TACT_MFLAG_COMPENSATED, "ddd8"); /* fld */
	check("d906d8c1", 7, TACT_MFLAG_COMPENSATED, "ddd8");
	check("dec1", 8, TACT_MFLAG_COMPENSATED, "d9c6");     /* faddp: fld st6 */
	check("ded9", 8, TACT_MFLAG_COMPENSATED, "d9c5d9c6"); /* fcompp */
	check("dbe3d9e8", 8, 0, "");			      /* fninit; fld1 */
	check("0ffcc1", 8, 0, "");			      /* paddb mm0, mm1 */
	check("0ffcc10f77", 8, 0, "");			      /* and emms */
	check("0f77d9e8", 8, 0, "");			      /* emms; fld1 */
	check("d9f7", 0, 0, "");			      /* fincstp */
	check("d9fb", 7, TACT_MFLAG_COMPENSATED, "ddd8");     /* fsincos */
	check("d9e5", 8, 0, "");			      /* fxam */
	check("d9e8d9e8d9e8d9e8d9e8d9e8d9e8d9e8d9e8", 8, TACT_MFLAG_STACK_FAULT, "");
	assert_true(screen_hex("0ffcc1").needs.uses_media);
	assert_false(screen_hex("d8c1").needs.uses_media);
	/* fadd st0, st3; ffree st3: puts back the one in the middle */
	assert_true(screen_hex("d8c3ddc3").flags & TACT_MFLAG_COMPENSATED);
}

#ifdef __x86_64__

enum { ITERATIONS = 24, AREA = 1 << 16 };

/* Instructions on registers, of all kinds; i: st(i) or mm(i) may be added to the last
 * byte.  fsincos and fptan are not there: they push nothing if their operand is too large.
 */
static const struct {
	uint8_t bytes[3], size;
	bool has_register;
} insns[] = {
	{{0xd9, 0xc0}, 2, true},       {{0xd9, 0xe8}, 2, false}, {{0xd9, 0xee}, 2, false},
	{{0xd8, 0xc0}, 2, true},       {{0xdc, 0xc8}, 2, true},	 {{0xde, 0xc0}, 2, true},
	{{0xde, 0xc8}, 2, true},       {{0xde, 0xe8}, 2, true},	 {{0xde, 0xf8}, 2, true},
	{{0xdd, 0xd8}, 2, true},       {{0xdd, 0xd0}, 2, true},	 {{0xd9, 0xc8}, 2, true},
	{{0xd9, 0xe0}, 2, false},      {{0xd9, 0xfa}, 2, false}, {{0xd9, 0xf1}, 2, false},
	{{0xd9, 0xf3}, 2, false},      {{0xd9, 0xf4}, 2, false}, {{0xd9, 0xf5}, 2, false},
	{{0xd9, 0xf6}, 2, false},      {{0xd9, 0xf7}, 2, false}, {{0xd9, 0xf8}, 2, false},
	{{0xd9, 0xf9}, 2, false},      {{0xd9, 0xfd}, 2, false}, {{0xde, 0xd9}, 2, false},
	{{0xda, 0xe9}, 2, false},      {{0xdb, 0xe8}, 2, true},	 {{0xdf, 0xe8}, 2, true},
	{{0xdf, 0xf0}, 2, true},       {{0xdb, 0xf0}, 2, true},	 {{0xda, 0xc0}, 2, true},
	{{0xdd, 0xe0}, 2, true},       {{0xdd, 0xe8}, 2, true},	 {{0xd8, 0xd8}, 2, true},
	{{0xdd, 0xc0}, 2, true},       {{0xdf, 0xc0}, 2, true},	 {{0xd9, 0xe4}, 2, false},
	{{0xd9, 0xe5}, 2, false},      {{0xdb, 0xe3}, 2, false}, {{0x0f, 0x77}, 2, false},
	{{0x0f, 0xfc, 0xc0}, 3, true}, {{0xd9, 0xd0}, 2, false},
};

static size_t random_float_block(uint8_t *code, struct rng *rng)
{
	unsigned n = 1 + rng_below(rng, 6);
	size_t size = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned k = rng_below(rng, ARRAY_SIZE(insns));

		/* Those that reset all registers are rarer. */
		if (insns[k].bytes[0] == 0x0f || insns[k].bytes[1] == 0xe3)
			k = rng_below(rng, ARRAY_SIZE(insns));
		memcpy(code + size, insns[k].bytes, insns[k].size);
		size += insns[k].size;
		if (insns[k].has_register)
			code[size - 1] = (uint8_t)(code[size - 1] + rng_below(rng, 8));
	}
	return size;
}

/* Runs the block several times on a stack of that depth.  Returns the status word; bit 6: stack
 * fault.
 */
static uint16_t run_stack(uint8_t *area, const uint8_t *code, size_t size,
			  const struct measure_screen *s)
{
	static const uint8_t head[] = {0xdb, 0xe3}, push[] = {0xd9, 0xe8};
	static const uint8_t tail[] = {0xdf, 0xe0, 0xdb, 0xe3, 0xc3}; /* fnstsw ax; fninit; ret */
	uint8_t *p = area;

#define APPEND(bytes, n) (memcpy(p, bytes, n), p += (n))
	APPEND(head, 2);
	for (unsigned i = 0; i < s->needs.stack_depth; i++)
		APPEND(push, 2);
	for (unsigned i = 0; i < ITERATIONS; i++) {
		APPEND(code, size);
		APPEND(s->fixup, s->fixup_size);
	}
	APPEND(tail, sizeof(tail));
	return ((uint16_t(*)(void))(uintptr_t)area)();
}

TEST(random_blocks_stay_level)
{
	uint8_t *area = mmap(NULL, AREA, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rng rng = {1};
	unsigned level = 0, compensated = 0, faulty = 0;

	assert_true(area != MAP_FAILED);
	for (unsigned i = 0; i < 20000; i++) {
		uint8_t code[64];
		size_t size = random_float_block(code, &rng);
		struct measure_screen s = screen_code(code, size);
		uint16_t status = run_stack(area, code, size, &s);

		if (s.flags & TACT_MFLAG_STACK_FAULT) {
			faulty++;
			assert_int_equal(s.fixup_size, 0);
		} else if (status & 0x40) {
			fail_msg("stack fault in block %u (%02x%02x, %zu bytes), depth %u", i,
				 code[0], code[1], size, s.needs.stack_depth);
		}
		compensated += s.fixup_size != 0;
		level += !(s.flags & BOTH);
	}
	munmap(area, AREA);
	/* All three kinds were there, and what is given up on is rare. */
	assert_true(level > 2000 && compensated > 2000 && faulty > 10 && faulty < 6000);
}

#endif

RUN_TESTS(NULL, NULL)
