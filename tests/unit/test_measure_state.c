/* SPDX-License-Identifier: MIT
 *
 * The state that a block starts from: the code that loads vector, mask and x87 registers is decoded
 * for every kind of CPU, and executed on this one.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "testing.h"

#include <Zydis/Zydis.h>

#include "measure/native.h"
#include "measure/x86/emit_bytes.h"
#include "support.h"

enum { ENTRY = 4096, AREA = 3 * 4096 };

/* ---- decoded ---- */

/* What the registers hold, as far as the code says. */
struct state {
	uint64_t vector[32]; /* the 8 bytes that all elements have */
	unsigned width[32];  /* bytes; 0: zero */
	uint64_t mask[8];
	unsigned n_media, n_stack, n_init;
	uint32_t mxcsr;
	bool is_upper_clean;
};

static uint64_t constant_at(const uint8_t *area, const ZydisDecodedInstruction *zi,
			    const ZydisDecodedOperand *op, size_t at)
{
	uint64_t value;

	assert_int_equal(op->type, ZYDIS_OPERAND_TYPE_MEMORY);
	assert_int_equal(op->mem.base, ZYDIS_REGISTER_RIP);
	memcpy(&value, area + at + zi->length + op->mem.disp.value, sizeof(value));
	return value;
}

static void interpret(struct state *s, const uint8_t *area, const ZydisDecodedInstruction *zi,
		      const ZydisDecodedOperand *ops, size_t at)
{
	unsigned r = ZydisRegisterGetId(ops[0].reg.value) & 31;
	unsigned width = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, ops[0].reg.value) / 8u;

	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_LDMXCSR:
		s->mxcsr = (uint32_t)constant_at(area, zi, &ops[0], at);
		break;
	case ZYDIS_MNEMONIC_FNINIT:
		s->n_init++;
		break;
	case ZYDIS_MNEMONIC_FLD:
		assert_int_equal(
			constant_at(area, zi, &ops[ops[0].type != ZYDIS_OPERAND_TYPE_MEMORY], at),
			measure_x86_ordinary(s->n_stack));
		s->n_stack++;
		break;
	case ZYDIS_MNEMONIC_PXOR:
		assert_int_equal(r, s->n_media++);
		break;
	case ZYDIS_MNEMONIC_MOVQ:
		if (width == 8) {
			assert_int_equal(r, s->n_media++);
			assert_int_equal(constant_at(area, zi, &ops[1], at),
					 measure_x86_ordinary(r));
			break;
		}
		/* fall through */
	case ZYDIS_MNEMONIC_VMOVDDUP:
	case ZYDIS_MNEMONIC_VBROADCASTSD:
		s->vector[r] = constant_at(area, zi, &ops[zi->operand_count_visible - 1], at);
		s->width[r] = zi->mnemonic == ZYDIS_MNEMONIC_MOVQ ? 8 : width;
		s->is_upper_clean = false;
		break;
	case ZYDIS_MNEMONIC_PUNPCKLQDQ:
		assert_int_equal(ops[1].reg.value, ops[0].reg.value);
		assert_int_equal(s->width[r], 8);
		s->width[r] = 16;
		break;
	case ZYDIS_MNEMONIC_XORPS:
	case ZYDIS_MNEMONIC_VPXORD:
		assert_int_equal(ops[zi->operand_count_visible - 1].reg.value, ops[0].reg.value);
		assert_int_equal(ops[zi->operand_count_visible - 2].reg.value, ops[0].reg.value);
		s->vector[r] = s->width[r] = 0;
		break;
	case ZYDIS_MNEMONIC_VZEROALL:
		for (r = 0; r < 16; r++)
			s->vector[r] = s->width[r] = 0;
		s->is_upper_clean = true;
		break;
	case ZYDIS_MNEMONIC_VZEROUPPER:
		for (r = 0; r < 16; r++)
			s->width[r] = s->width[r] > 16 ? 16 : s->width[r];
		s->is_upper_clean = true;
		break;
	case ZYDIS_MNEMONIC_KXNORW:
	case ZYDIS_MNEMONIC_KXNORQ:
		assert_int_equal(ops[1].reg.value, ops[0].reg.value);
		assert_int_equal(ops[2].reg.value, ops[0].reg.value);
		s->mask[r & 7] = zi->mnemonic == ZYDIS_MNEMONIC_KXNORW ? 0xffff : ~0ull;
		break;
	default:
		fail_msg("instruction %s", ZydisMnemonicGetString(zi->mnemonic));
	}
}

static size_t emit_state(uint8_t *area, const struct measure_plan *plan)
{
	struct buffer b = {.p = area, .capacity = AREA};
	uint32_t constants = emit_constants(&b);

	assert_int_equal(constants % 64, 0);
	emit_align(&b, ENTRY);
	emit_vector_state(&b, plan, constants);
	assert_false(b.full);
	return b.n;
}

static void decode_state(struct state *s, const struct measure_plan *plan)
{
	static uint8_t area[AREA];
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zi;
	ZydisDecoder decoder;
	size_t end = emit_state(area, plan);

	*s = (struct state){.n_init = 0};
	for (size_t r = 0; r < ARRAY_SIZE(s->width); r++)
		s->vector[r] = 0xbad, s->width[r] = 1;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t at = ENTRY; at < end; at += zi.length) {
		assert_true(ZYAN_SUCCESS(
			ZydisDecoderDecodeFull(&decoder, area + at, end - at, &zi, ops)));
		interpret(s, area, &zi, ops, at);
	}
}

static void check_vectors(const struct measure_plan *plan, const struct state *s)
{
	unsigned n = plan->features & X86_HAS_AVX512 ? 32 : 16;
	unsigned width = plan->needs.vector_bytes;

	if (width < 16 || !(plan->features & X86_HAS_AVX))
		width = 16;
	if (width == 64 && !(plan->features & X86_HAS_AVX512))
		width = 32;
	for (unsigned r = 0; r < n; r++) {
		unsigned expected = width;

		if (r >= 16 && !(plan->features & X86_HAS_AVX512_VL_BW))
			expected = 64; /* cannot be loaded in part */
		if (plan->needs.mask_vectors >> r & 1) {
			assert_int_equal(s->vector[r], ~0ull);
		} else if (plan->vectors == TACT_VECTORS_ZERO) {
			assert_int_equal(s->vector[r], 0);
			expected = 0;
		} else if (plan->needs.index_vectors >> r & 1) {
			assert_in_range(s->vector[r], 1, 4096);
		} else {
			assert_int_equal(s->vector[r], measure_x86_ordinary(r));
		}
		assert_int_equal(s->width[r], expected);
	}
	if (plan->features & X86_HAS_AVX && width == 16)
		assert_true(s->is_upper_clean);
	for (unsigned k = 0; k < 8; k++)
		assert_int_equal(s->mask[k], !(plan->features & X86_HAS_AVX512)	     ? 0
					     : plan->features & X86_HAS_AVX512_VL_BW ? ~0ull
										     : 0xffff);
}

TEST(loads_every_register)
{
	static const unsigned features[] = {0, X86_HAS_AVX, X86_HAS_AVX | X86_HAS_AVX512,
					    X86_HAS_AVX | X86_HAS_AVX512 | X86_HAS_AVX512_VL_BW};
	static const unsigned widths[] = {0, 16, 32, 64};

	for (unsigned i = 0; i < 4 * 4 * 2 * 2 * 2; i++) {
		const struct measure_plan plan = {
			.features = features[i & 3],
			.vectors = i & 16 ? TACT_VECTORS_ZERO : TACT_VECTORS_ORDINARY,
			.needs = {.vector_bytes = widths[i >> 2 & 3],
				  .uses_media = i & 32,
				  .stack_depth = i & 32 ? 8 : i % 9,
				  .mask_vectors = i & 64 ? 0x80010102u : 0,
				  .index_vectors = i & 64 ? 0x40024001u : 0},
		};
		struct state s;

		decode_state(&s, &plan);
		check_vectors(&plan, &s);
		assert_int_equal(s.mxcsr, 0x9fc0);
		assert_int_equal(s.n_init, 1);
		assert_int_equal(s.n_media, plan.needs.uses_media ? 8 : 0);
		assert_int_equal(s.n_stack, plan.needs.uses_media ? 0 : plan.needs.stack_depth);
	}
}

/* As a double, as singles and as half-precision numbers, of every register: not special, no power
 * of two, and none twice.
 */
TEST(values_are_ordinary)
{
	for (unsigned r = 0; r < 32; r++) {
		uint64_t bits = measure_x86_ordinary(r);
		uint16_t half[4];
		float single[2];
		double number;

		memcpy(&number, &bits, 8);
		memcpy(single, &bits, 8);
		memcpy(half, &bits, 8);
		assert_true(number > 1.01 && number < 1.02);
		assert_true(single[0] > 1.001f && single[0] < 1.002f);
		assert_true(single[1] > 1.8f && single[1] < 1.9f);
		for (unsigned i = 0; i < 4; i++)
			assert_true(half[i] >> 10 == 15 && half[i] & 0x3ff);
		for (unsigned other = 0; other < r; other++) {
			float others[2];

			memcpy(others, (uint64_t[]){measure_x86_ordinary(other)}, 8);
			assert_true(others[0] < single[0] && others[1] < single[1]);
		}
	}
}

/* ---- executed ---- */

#ifdef __x86_64__

/* The standard layout of XSAVE up to AVX. */
struct saved {
	uint16_t control, status;
	uint8_t tags, reserved;
	uint16_t opcode;
	uint8_t pointers[16];
	uint32_t mxcsr, mxcsr_mask;
	uint8_t stack[8][16], xmm[16][16], unused[96];
	uint64_t state_bv, compact, header[6];
	uint8_t upper[16][16];
	uint8_t more[8192];
};

static void run_state(struct saved *saved, const struct measure_plan *plan)
{
	static const uint8_t tail[] = {
		0xb8, 7,    0,	  0,	0,	   /* mov eax, 7: x87, SSE, AVX */
		0x31, 0xd2,			   /* xor edx, edx */
		0x48, 0x0f, 0xae, 0x27,		   /* xsave64 [rdi] */
		0xdb, 0xe3, 0xc5, 0xf8, 0x77, 0xc3 /* fninit; vzeroupper; ret */
	};
	uint8_t *area = mmap(NULL, AREA, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned before;
	size_t n;

	assert_true(area != MAP_FAILED);
	n = emit_state(area, plan);
	memcpy(area + n, tail, sizeof(tail));
	memset(saved, 0, sizeof(*saved));
	before = __builtin_ia32_stmxcsr();
	((void (*)(struct saved *))(uintptr_t)(area + ENTRY))(saved);
	__builtin_ia32_ldmxcsr(before);
	munmap(area, AREA);
}

static void check_saved(const struct saved *saved, const struct measure_plan *plan)
{
	bool is_zero = plan->vectors == TACT_VECTORS_ZERO;
	bool is_wide = plan->needs.vector_bytes == 32 && !is_zero;

	assert_int_equal(saved->mxcsr, 0x9fc0);
	assert_int_equal(saved->control, 0x37f);
	assert_int_equal(saved->status >> 11 & 7, (8 - plan->needs.stack_depth) & 7);
	assert_int_equal(saved->tags, 0xff00u >> plan->needs.stack_depth & 0xff);
	for (unsigned r = 0; r < 16; r++) {
		uint64_t expected = is_zero ? 0 : measure_x86_ordinary(r);

		for (unsigned i = 0; i < 16; i += 8) {
			uint64_t got = 0, upper = 0;

			memcpy(&upper, saved->upper[r] + i, 8);
			memcpy(&got, saved->xmm[r] + i, 8);
			assert_int_equal(got, expected);
			assert_int_equal(upper, is_wide ? expected : 0);
		}
	}
	assert_int_equal(saved->state_bv >> 2 & 1, is_wide); /* else as it is after vzeroupper */
}

TEST(state_is_there)
{
	static _Alignas(64) struct saved saved;

	if (!(native_features() & X86_HAS_AVX))
		skip();
	for (unsigned i = 0; i < 9 * 4; i++) {
		const struct measure_plan plan = {
			.features = native_features() & X86_HAS_AVX,
			.vectors = i & 1 ? TACT_VECTORS_ZERO : TACT_VECTORS_ORDINARY,
			.needs = {.vector_bytes = i & 2 ? 32 : 16,
				  .stack_depth = i / 4,
				  .uses_media = i / 4 == 8},
		};

		run_state(&saved, &plan);
		check_saved(&saved, &plan);
	}
}

#endif

/* ---- what blocks need ---- */

static struct measure_needs needs_of(const char *hex)
{
	char reason[160];
	struct measure_screen s;
	uint8_t code[64];
	size_t bad;
	long size = tact_hex_decode(code, hex, strlen(hex), &bad);

	assert_true(size > 0);
	measure_x86_screen(&s, code, (size_t)size, false, reason, sizeof(reason));
	assert_int_equal(s.status, TACT_MEASURE_OK);
	return s.needs;
}

TEST(upper_halves)
{
	assert_int_equal(needs_of("4801d8").vector_bytes, 0);
	assert_int_equal(needs_of("0f58c1").vector_bytes, 16);	     /* addps */
	assert_int_equal(needs_of("c5f858c1").vector_bytes, 16);     /* vaddps xmm */
	assert_int_equal(needs_of("c5fc58c1").vector_bytes, 32);     /* vaddps ymm */
	assert_int_equal(needs_of("62f17c4858c1").vector_bytes, 64); /* vaddps zmm */
	assert_int_equal(needs_of("c5fc58c162f17c4858c1").vector_bytes, 64);
	assert_int_equal(needs_of("c5fc58c10f58c1").vector_bytes, 16); /* and addps */
	assert_int_equal(needs_of("0f58c1c5fc58c1").vector_bytes, 16);
	assert_int_equal(needs_of("c5f877").vector_bytes, 0);		   /* vzeroupper */
	assert_int_equal(needs_of("c4e2fbf5c3c5fc58c1").vector_bytes, 32); /* pdep by VEX */
}

TEST(masks_and_indices)
{
	struct measure_needs n = needs_of("c4e26d90040e"); /* vpgatherdd ymm0, [rsi+ymm1], ymm2 */

	assert_int_equal(n.mask_vectors, 1 << 2);
	assert_int_equal(n.index_vectors, 1 << 1);
	n = needs_of("62f27d4990040e"); /* vpgatherdd zmm0{k1}, [rsi+zmm1] */
	assert_int_equal(n.mask_vectors, 0);
	assert_int_equal(n.index_vectors, 1 << 1);
	n = needs_of("c4e2752c06"); /* vmaskmovps ymm0, ymm1, [rsi] */
	assert_int_equal(n.mask_vectors, 1 << 1);
	n = needs_of("c462752e06"); /* vmaskmovps [rsi], ymm1, ymm8 */
	assert_int_equal(n.mask_vectors, 1 << 1);
	assert_int_equal(n.index_vectors, 0);
}

RUN_TESTS(NULL, NULL)
