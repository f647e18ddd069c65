/* SPDX-License-Identifier: MIT
 *
 * Every form of the tables must be reached by some encoding.  This walks through the encodings of
 * 64-bit mode: opcode maps, prefixes, W, L, masks, broadcast, rounding, the fields of ModRM,
 * address shapes, and immediates of zero and not zero.
 */
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tact/tact.h>

#include "base/base.h"

/* Forms that no encoding reaches, and why: patterns as a shell has them.
 * A form that is on this list and is reached all the same fails the test too.
 */
static const struct {
	const char *form, *why;
} unreachable[] = {
	{"LEA_D8 (*", "an address of a displacement alone has 32 bits of it"},
	{"LEA_I (*", "an index without a base comes with 32 bits of displacement"},
	{"LEA_IS (*", "an index without a base comes with 32 bits of displacement"},
	{"LEA_I_D8 (*", "an index without a base comes with 32 bits of displacement"},
	{"LEA_IS_D8 (*", "an index without a base comes with 32 bits of displacement"},
	{"LEA_R (*", "rip comes with 32 bits of displacement"},
	{"LEA_R_D8 (*", "rip comes with 32 bits of displacement"},
	{"BND??_D8 (BND)", "an address of a displacement alone has 32 bits of it"},
	{"BND??_I (BND)", "an index without a base comes with 32 bits of displacement"},
	{"BND??_IS (BND)", "an index without a base comes with 32 bits of displacement"},
	{"BND??_I_D8 (BND)", "an index without a base comes with 32 bits of displacement"},
	{"BND??_IS_D8 (BND)", "an index without a base comes with 32 bits of displacement"},
};

static uint8_t *hit; /* by form */
static unsigned long n_decoded;

static void try_code(const uint8_t *code, size_t size)
{
	struct tact_insn insn;

	if (tact_isa_decode(tact_isa_default(), &insn, code, size) < 0)
		return;
	n_decoded++;
	if (insn.form != TACT_FORM_NONE)
		hit[insn.form] = 1;
}

/* Head, then bytes that serve as SIB, displacement and immediate: zeros, and others. */
static void try_head(const uint8_t *head, size_t size)
{
	uint8_t code[TACT_MAX_INSN_BYTES + 16] = {0};

	memcpy(code, head, size);
	try_code(code, TACT_MAX_INSN_BYTES);
	memset(code + size, 0x11, sizeof(code) - size);
	try_code(code, TACT_MAX_INSN_BYTES);
}

/* ---- legacy encodings ---- */

static const struct {
	uint8_t bytes[2], n;
} prefixes[] = {
	{{0}, 0},	   {{0x66}, 1},	      {{0xf2}, 1},	 {{0xf3}, 1}, {{0xf0}, 1},
	{{0x66, 0xf2}, 2}, {{0x66, 0xf3}, 2}, {{0x66, 0xf0}, 2}, {{0x67}, 1},
};

static void try_modrms(uint8_t *head, size_t n)
{
	for (unsigned modrm = 0xc0; modrm < 0x100; modrm++) {
		head[n] = (uint8_t)modrm;
		try_head(head, n + 1);
	}
	for (unsigned reg = 0; reg < 8; reg++) {
		head[n] = (uint8_t)(reg << 3);
		try_head(head, n + 1);
	}
}

static void try_legacy(void)
{
	static const uint8_t rexes[] = {0, 0x40, 0x48};

	for (size_t p = 0; p < ARRAY_SIZE(prefixes); p++) {
		for (size_t r = 0; r < sizeof(rexes); r++) {
			for (unsigned map = 0; map < 4; map++) {
				for (unsigned opcode = 0; opcode < 256; opcode++) {
					uint8_t head[16];
					size_t n = prefixes[p].n;

					memcpy(head, prefixes[p].bytes, n);
					if (rexes[r])
						head[n++] = rexes[r];
					if (map)
						head[n++] = 0x0f;
					if (map > 1)
						head[n++] = map == 2 ? 0x38 : 0x3a;
					head[n++] = (uint8_t)opcode;
					try_modrms(head, n);
				}
			}
		}
	}
}

/* ---- addresses ---- */

/* An opcode with every kind of address: base, index, scale, displacement, rip, 32-bit registers. */
static void try_addresses(const uint8_t *opcode, size_t n)
{
	static const uint8_t sibs[] = {0x00, 0x40, 0x25, 0x05, 0x45, 0x24};
	uint8_t head[16];

	memcpy(head, opcode, n);
	for (unsigned mod = 0; mod < 3; mod++) {
		for (unsigned rm = 0; rm < 8; rm++) {
			head[n] = (uint8_t)(mod << 6 | rm);
			if (rm != 4) {
				try_head(head, n + 1);
				continue;
			}
			for (size_t s = 0; s < sizeof(sibs); s++) {
				head[n + 1] = sibs[s];
				try_head(head, n + 2);
			}
		}
	}
}

static void try_computed_addresses(void)
{
	static const struct {
		uint8_t bytes[4], n;
	} opcodes[] = {
		{{0x8d}, 1}, /* lea */
		{{0x66, 0x8d}, 2},
		{{0x48, 0x8d}, 2},
		{{0x67, 0x8d}, 2},
		{{0x67, 0x66, 0x8d}, 3},
		{{0x67, 0x48, 0x8d}, 3},
		{{0xf3, 0x0f, 0x1b}, 3}, /* bndmk */
		{{0xf3, 0x0f, 0x1a}, 3}, /* bndcl */
		{{0xf2, 0x0f, 0x1a}, 3}, /* bndcu */
		{{0xf2, 0x0f, 0x1b}, 3}, /* bndcn */
		{{0x0f, 0x1a}, 2},	 /* bndldx */
		{{0x0f, 0x1b}, 2},	 /* bndstx */
	};

	for (size_t i = 0; i < ARRAY_SIZE(opcodes); i++)
		try_addresses(opcodes[i].bytes, opcodes[i].n);
}

/* ---- VEX ---- */

static void try_vex_opcode(uint8_t *head)
{
	for (unsigned reg = 0; reg < 8; reg++) {
		head[4] = (uint8_t)(0xc2 | reg << 3); /* register 2 */
		try_head(head, 5);
		head[4] = (uint8_t)(reg << 3); /* [rax] */
		try_head(head, 5);
		head[4] = (uint8_t)(4 |
				    reg << 3); /* [rax + reg 5]; gathers need all registers apart */
		head[5] = 0x28;
		try_head(head, 6);
	}
}

static void try_vex(void)
{
	for (unsigned map = 1; map < 4; map++) {
		for (unsigned rest = 0; rest < 32; rest++) { /* W, vvvv, L, pp */
			for (unsigned opcode = 0; opcode < 256; opcode++) {
				uint8_t head[16] = {0xc4};

				head[1] = (uint8_t)(0xe0 | map);
				head[2] = (uint8_t)((rest & 1) << 7 | (rest & 2 ? 0x78 : 0x20) |
						    rest >> 2);
				head[3] = (uint8_t)opcode;
				try_vex_opcode(head);
			}
		}
	}
}

/* ---- EVEX ---- */

static void try_evex_opcode(uint8_t *head)
{
	/* Only the groups of shifts, gathers and prefetches have an opcode extension. */
	unsigned map = head[1] & 7, opcode = head[4];
	unsigned regs = (map == 1 && opcode >= 0x71 && opcode <= 0x73) ||
					(map == 2 && (opcode == 0xc6 || opcode == 0xc7))
				? 8
				: 1;

	for (unsigned reg = 0; reg < regs; reg++) {
		head[5] = (uint8_t)(0xc2 | reg << 3);
		try_head(head, 6);
		head[5] = (uint8_t)(reg << 3);
		try_head(head, 6);
		head[5] = (uint8_t)(4 | reg << 3);
		head[6] = 0x28;
		try_head(head, 7);
	}
}

static void try_evex(void)
{
	for (unsigned map = 1; map < 7; map++) {
		for (unsigned w = 0; w < 16; w++) {		     /* W, vvvv, pp */
			for (unsigned last = 0; last < 64; last++) { /* z, L'L, b, aaa */
				for (unsigned opcode = 0; opcode < 256; opcode++) {
					uint8_t head[16] = {0x62};

					head[1] = (uint8_t)(0xf0 | map);
					head[2] = (uint8_t)((w & 1) << 7 | (w & 2 ? 0x78 : 0x20) |
							    4 | w >> 2);
					head[3] = (uint8_t)((last & 1) << 7 | (last >> 1 & 3) << 5 |
							    (last >> 3 & 1) << 4 | 8 |
							    (last >> 4 & 1));
					head[4] = (uint8_t)opcode;
					if (last < 32)
						try_evex_opcode(head);
				}
			}
		}
	}
}

/* ---- the test ---- */

static const char *reason(const char *form)
{
	for (size_t i = 0; i < ARRAY_SIZE(unreachable); i++)
		if (!fnmatch(unreachable[i].form, form, 0))
			return unreachable[i].why;
	return NULL;
}

static void every_form_is_reached(void **state)
{
	unsigned n = tact_isa_form_count(tact_isa_default()), n_hit = 0, lost = 0, stale = 0;

	(void)state;
	hit = calloc(n, 1);
	assert_non_null(hit);
	try_legacy();
	try_computed_addresses();
	try_vex();
	try_evex();
	for (unsigned i = 0; i < n; i++) {
		const char *name = tact_isa_form_name(tact_isa_default(), i), *why = reason(name);

		n_hit += hit[i];
		if (!hit[i] && !why) {
			print_message("no encoding reaches %s\n", name);
			lost++;
		}
		if (hit[i] && why) {
			print_message("%s is reached, but listed: %s\n", name, why);
			stale++;
		}
	}
	print_message("%lu encodings reach %u of %u forms\n", n_decoded, n_hit, n);
	free(hit);
	assert_int_equal(lost, 0);
	assert_int_equal(stale, 0);
}

/* Names and numbers go both ways. */
static void names_are_numbered(void **state)
{
	(void)state;
	for (unsigned i = 0; i < tact_isa_form_count(tact_isa_default()); i++)
		assert_int_equal(tact_isa_form_find(tact_isa_default(),
						    tact_isa_form_name(tact_isa_default(), i)),
				 i);
	assert_int_equal(tact_isa_form_find(tact_isa_default(), "FROB (R64)"), TACT_FORM_NONE);
	assert_int_equal(tact_isa_form_find(tact_isa_default(), ""), TACT_FORM_NONE);
	assert_string_equal(tact_isa_form_name(tact_isa_default(), TACT_FORM_NONE), "unknown");
	assert_string_equal(
		tact_isa_form_name(tact_isa_default(), tact_isa_form_count(tact_isa_default())),
		"unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_numbered),
		cmocka_unit_test(every_form_is_reached),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
