/* SPDX-License-Identifier: MIT
 *
 * The shortcuts around the decoder: layout.c finds lengths, cache.c remembers instructions.  Both
 * must agree with Zydis.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "isa/cache.h"
#include "isa/x86/x86.h"
#include "support.h"

static unsigned zydis_length(const uint8_t *code, size_t size)
{
	ZydisDecodedInstruction zi;
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, ZYAN_NULL, code, size, &zi)))
		return 0;
	return zi.length;
}

static void show(const char *what, const uint8_t *code, size_t size)
{
	char hex[2 * 16 + 1] = "";

	for (size_t i = 0; i < size && i < 16; i++)
		sprintf(hex + 2 * i, "%02x", code[i]);
	print_message("%s: %s\n", what, hex);
}

/* Where both see an instruction they agree on its length. */
static void compare_length(const uint8_t *code, size_t size, unsigned long *n, unsigned long *wrong)
{
	struct isa_layout layout;
	unsigned zydis = zydis_length(code, size);
	int ours;

	if (!zydis)
		return;
	++*n;
	ours = x86_layout_of(&layout, code, size);
	if (!ours)
		return;
	if ((unsigned)ours == zydis && layout.length == zydis &&
	    layout.head + layout.disp_size + layout.imm_size == layout.length)
		return;
	if ((*wrong)++ < 20)
		show("length differs", code, zydis);
}

/* Random bytes after random prefixes, so that deep opcode maps occur as well. */
static void random_code(struct rng *rng, uint8_t *code, size_t size)
{
	static const uint8_t starts[][4] = {
		{0},
		{0x66},
		{0xf2},
		{0xf3},
		{0x48},
		{0x0f},
		{0x66, 0x0f},
		{0xf3, 0x0f},
		{0x0f, 0x38},
		{0x66, 0x0f, 0x38},
		{0x66, 0x0f, 0x3a},
		{0xc5},
		{0xc4, 0xe1},
		{0xc4, 0xe2},
		{0xc4, 0xe3},
		{0x62, 0xf1},
		{0x62, 0xf2},
		{0x62, 0xf3},
		{0x67},
		{0x64},
		{0x66, 0x48},
		{0x8f},
		{0x0f, 0x0f},
		{0x66, 0x67},
	};
	const uint8_t *start = starts[rng_below(rng, ARRAY_SIZE(starts))];

	for (size_t i = 0; i < size; i++)
		code[i] = (uint8_t)(rng_next(rng) >> 24);
	for (size_t i = 0; i < 4 && start[i] && i < size; i++)
		code[i] = start[i];
}

static void layout_agrees_on_random_bytes(void **state)
{
	struct rng rng = {20240501};
	unsigned long n = 0, wrong = 0;

	(void)state;
	for (unsigned i = 0; i < rounds(400000); i++) {
		uint8_t code[32];

		random_code(&rng, code, sizeof(code));
		compare_length(code, TACT_MAX_INSN_BYTES, &n, &wrong);
	}
	print_message("%lu instructions\n", n);
	assert_true(n > rounds(400000) / 4);
	assert_int_equal(wrong, 0);
}

/* Cut anywhere: no length that reaches past the end, and none for what Zydis refuses for its end.
 */
static void layout_stays_within_the_code(void **state)
{
	struct rng rng = {7};

	(void)state;
	for (unsigned i = 0; i < rounds(50000); i++) {
		struct isa_layout layout;
		struct tact_insn insn;
		uint8_t code[16], *cut;
		size_t length = random_insn(&rng, code, &insn),
		       n = rng_below(&rng, (unsigned)length);

		cut = malloc(n ? n : 1);
		assert_non_null(cut);
		memcpy(cut, code, n);
		if (x86_layout_of(&layout, cut, n))
			show("a cut instruction has a layout", code, length);
		assert_int_equal(x86_layout_of(&layout, cut, n), 0);
		free(cut);
	}
}

struct lengths {
	unsigned long n, wrong, blocks;
};

static void compare_block(const uint8_t *code, size_t size, void *arg)
{
	struct lengths *l = arg;

	l->blocks++;
	for (size_t at = 0; at < size;) {
		unsigned length = zydis_length(code + at, size - at);

		if (!length)
			return;
		compare_length(code + at, size - at, &l->n, &l->wrong);
		at += length;
	}
}

static void layout_agrees_on_real_code(void **state)
{
	struct lengths l = {0, 0, 0};

	(void)state;
	if (!for_each_bhive_block(compare_block, &l)) {
		print_message("skip: ../shared/data/bhive is not here\n");
		skip();
	}
	print_message("%lu blocks, %lu instructions\n", l.blocks, l.n);
	assert_true(l.n > 100000);
	assert_int_equal(l.wrong, 0);
}

/* ---- cache ---- */

static bool operand_equal(const struct tact_operand *a, const struct tact_operand *b)
{
	return a->kind == b->kind && a->access == b->access && a->number == b->number &&
	       a->explicit_operand == b->explicit_operand && a->bits == b->bits &&
	       a->reg == b->reg && a->first_byte == b->first_byte && a->role == b->role &&
	       a->implicit_pointer == b->implicit_pointer && a->base == b->base &&
	       a->index == b->index && a->scale == b->scale && a->segment == b->segment;
}

/* What differs, or NULL. */
static const char *difference(const struct tact_insn *a, const struct tact_insn *b)
{
	if (a->form != b->form)
		return "form";
	if (a->mnemonic != b->mnemonic)
		return "mnemonic";
	if (a->attributes != b->attributes)
		return "attributes";
	if (a->length != b->length || a->opcode_offset != b->opcode_offset)
		return "length or opcode_offset";
	if (a->immediate_bits != b->immediate_bits)
		return "immediate_bits";
	if (a->condition != b->condition || a->pointer_change != b->pointer_change ||
	    a->flow != b->flow)
		return "condition, flow or pointer_change";
	if (a->flags_read != b->flags_read || a->flags_written != b->flags_written)
		return "flags";
	if (a->value_effect != b->value_effect)
		return "value_effect";
	if (a->n_operands != b->n_operands)
		return "n_operands";
	for (unsigned i = 0; i < a->n_operands; i++)
		if (!operand_equal(&a->operand[i], &b->operand[i]))
			return "an operand";
	if (a->displacement != b->displacement)
		return "displacement";
	if (a->immediate != b->immediate)
		return "immediate";
	return NULL;
}

static void compare_insns(struct tact_block *block, const uint8_t *code, size_t size,
			  unsigned long *n, unsigned long *wrong)
{
	size_t at = 0;

	for (size_t i = 0; i < tact_block_length(block); i++) {
		struct tact_insn direct, cached;
		const char *what;

		assert_int_equal(tact_block_offset(block, i), at);
		assert_true(tact_isa_decode(tact_isa_default(), &direct, code + at, size - at) > 0);
		assert_int_equal(tact_block_insn(block, i, &cached), 0);
		what = difference(&direct, &cached);
		if (what && ((*wrong)++ < 20 || strcmp(what, "immediate")))
			show(what, code + at, direct.length);
		at += direct.length;
		++*n;
	}
	assert_int_equal(at, size);
}

/* Every instruction several times with other constants, so that the cache is used. */
static void cache_agrees_on_random_code(void **state)
{
	struct rng rng = {99};
	unsigned long n = 0, wrong = 0;
	struct tact_block *block;

	(void)state;
	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), NULL, NULL), 0);
	for (unsigned i = 0; i < rounds(60000); i++) {
		uint8_t code[64];
		size_t size = 0;
		struct tact_insn insn;

		while (size < 40) {
			uint8_t one[16];
			size_t length = random_insn(&rng, one, &insn);

			/* half of the time constants that are likely to be special */
			if (insn.immediate_bits && rng_below(&rng, 2))
				memset(one + length - insn.immediate_bits / 8u,
				       rng_below(&rng, 2) ? 0 : 0xff, insn.immediate_bits / 8u);
			memcpy(code + size, one, length);
			size += length;
		}
		if (tact_block_load(block, code, size, NULL) < 0)
			continue;
		compare_insns(block, code, size, &n, &wrong);
	}
	print_message("%lu instructions\n", n);
	tact_block_destroy(block);
	assert_true(n > rounds(60000));
	assert_int_equal(wrong, 0);
}

/* A common instruction with every immediate and displacement. */
static void constants_come_from_the_bytes(void **state)
{
	struct tact_block *block;

	(void)state;
	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), NULL, NULL), 0);
	for (int d = -128; d < 128; d++) {
		/* add dword ptr [rbx + d], d; add eax, d; cmp word ptr [rax + d], d */
		const uint8_t code[] = {0x83,
					0x43,
					(uint8_t)d,
					(uint8_t)d,
					0x83,
					0xc0,
					(uint8_t)d,
					0x66,
					0x81,
					0x78,
					(uint8_t)d,
					(uint8_t)d,
					(uint8_t)(d < 0 ? 0xff : 0)};
		struct tact_insn insn;

		assert_int_equal(tact_block_load(block, code, sizeof(code), NULL), 0);
		assert_int_equal(tact_block_length(block), 3);
		for (size_t i = 0; i < 3; i++) {
			assert_int_equal(tact_block_insn(block, i, &insn), 0);
			assert_int_equal((int)insn.immediate, d);
			assert_int_equal((int)insn.displacement, i == 1 ? 0 : d);
		}
		/* the form for an immediate of zero is its own */
		assert_int_equal(tact_block_insn(block, 1, &insn), 0);
		assert_string_equal(tact_isa_form_name(tact_isa_default(), insn.form),
				    d ? "ADD (R32, I8)" : "ADD (R32, 0)");
	}
	tact_block_destroy(block);
}

/* The high half of the last byte is a register here (is4), not a constant. */
static void register_in_the_immediate(void **state)
{
	struct tact_block *block;

	(void)state;
	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), NULL, NULL), 0);
	for (unsigned reg = 0; reg < 16; reg++) {
		/* vblendvps ymm0, ymm1, ymm2, ymm[reg] */
		const uint8_t code[] = {0xc4, 0xe3, 0x75, 0x4a, 0xc2, (uint8_t)(reg << 4)};
		struct tact_insn insn;

		assert_int_equal(tact_block_load(block, code, sizeof(code), NULL), 0);
		assert_int_equal(tact_block_insn(block, 0, &insn), 0);
		assert_int_equal(insn.operand[3].reg, X86_REG_VEC0 + reg);
	}
	tact_block_destroy(block);
}

struct bhive_check {
	struct tact_block *block;
	unsigned long n, wrong;
};

static void compare_bhive_block(const uint8_t *code, size_t size, void *arg)
{
	struct bhive_check *c = arg;

	if (tact_block_load(c->block, code, size, NULL) == 0)
		compare_insns(c->block, code, size, &c->n, &c->wrong);
}

static void cache_agrees_on_real_code(void **state)
{
	struct bhive_check c = {NULL, 0, 0};
	bool present;

	(void)state;
	assert_int_equal(tact_block_create(&c.block, tact_arch_find("SKL"), NULL, NULL), 0);
	present = for_each_bhive_block(compare_bhive_block, &c);
	tact_block_destroy(c.block);
	if (!present) {
		print_message("skip: ../shared/data/bhive is not here\n");
		skip();
	}
	print_message("%lu instructions\n", c.n);
	assert_int_equal(c.wrong, 0);
}

static long decode_one(struct isa_cache *cache, const uint8_t *code, size_t size,
		       struct isa_instance *constants)
{
	struct isa_layout layout;

	assert_int_equal(isa_x86.lay_out(&layout, 1, code, size), 1);
	return isa_cache_decode(cache, &layout, code, size, constants);
}

static void flushed_cache_starts_anew(void **state)
{
	const uint8_t code[32] = {0x48, 0x01, 0xd8}, other[32] = {0x48, 0x29, 0xd8};
	struct isa_instance constants;
	struct isa_cache cache;

	(void)state;
	assert_int_equal(isa_cache_init(&cache, &isa_x86), 0);
	assert_int_equal(decode_one(&cache, code, 3, &constants), 0);
	assert_int_equal(decode_one(&cache, other, 3, &constants), 1);
	assert_int_equal(decode_one(&cache, code, 3, &constants), 0);
	assert_int_equal(cache.n_entries, 2);
	isa_cache_flush(&cache);
	assert_int_equal(cache.n_entries, 0);
	assert_int_equal(decode_one(&cache, other, 3, &constants), 0);
	assert_string_equal(tact_isa_form_name(tact_isa_default(), cache.entries[0].form),
			    "SUB_29 (R64, R64)");
	assert_int_equal(decode_one(&cache, code, 2, &constants), -TACT_E_DECODE);
	isa_cache_fini(&cache);
}

/* More distinct instructions than there are slots at first: nothing is lost when it grows. */
static void cache_grows(void **state)
{
	struct isa_instance constants;
	struct isa_cache cache;
	struct rng rng = {3};

	(void)state;
	assert_int_equal(isa_cache_init(&cache, &isa_x86), 0);
	for (unsigned i = 0; i < 20000; i++) {
		uint8_t code[32] = {0};
		struct tact_insn insn;
		size_t length = random_insn(&rng, code, &insn);
		long first = decode_one(&cache, code, length, &constants);

		assert_true(first >= 0);
		assert_int_equal(cache.entries[first].form, insn.form);
	}
	assert_true(cache.n_entries > 4096);
	isa_cache_fini(&cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layout_agrees_on_random_bytes),
		cmocka_unit_test(layout_stays_within_the_code),
		cmocka_unit_test(layout_agrees_on_real_code),
		cmocka_unit_test(cache_agrees_on_random_code),
		cmocka_unit_test(constants_come_from_the_bytes),
		cmocka_unit_test(register_in_the_immediate),
		cmocka_unit_test(cache_agrees_on_real_code),
		cmocka_unit_test(flushed_cache_starts_anew),
		cmocka_unit_test(cache_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
