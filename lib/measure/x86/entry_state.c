/* SPDX-License-Identifier: MIT
 *
 * The state that a block starts from: its registers.
 *
 * Vector registers hold ordinary numbers: zeros hide dependences, because Zen knows which registers
 * have a zero upper part and does not wait for a merge with it (sqrtss xmm0, xmm1 takes 5 cycles
 * with zeros and 15 otherwise).  Every element is ordinary, whatever its type: a double near 1.015,
 * with singles near 1.877 and 1.002 in its halves, and half-precision numbers from 1 to 2 in its
 * quarters.  So near to 1, a chain of 6,000 multiplications or divisions of doubles, or of
 * scalar singles, neither overflows nor underflows.  Chains that grow faster (x + x, packed singles)
 * end at infinity or, because MXCSR flushes denormals, at zero.  Since Sandy Bridge and Zen these
 * take as long as ordinary numbers to add and to multiply; only denormals take longer, and there are
 * none.  Division and square root may end early for them and for powers of two: no element starts as
 * one, and no two registers are equal, so that a quotient is not 1.
 *
 * The upper halves of vector registers are zero as after vzeroupper if the block has an instruction
 * of legacy SSE, or none that uses ymm or zmm registers: what compilers guarantee, because Intel's
 * cores otherwise merge or switch states.  Only a block of nothing but VEX and EVEX starts with full
 * ymm or zmm registers.
 *
 * Registers that are the index of a gather or scatter hold small integers, so that its addresses
 * exist.  Those that mask an access, and all mask registers, hold ones: an access that is masked out
 * does not map its page, and then takes an assist every time.
 */
#include "measure/x86/emit_bytes.h"

/* The constants: in the code area, because loads from there need no register. */
enum {
	N_VECTORS = 32,
	CONST_INDEX = 8 * N_VECTORS,
	CONST_ONES = CONST_INDEX + 8,
	CONST_MXCSR = CONST_ONES + 8,

	INDEX = 16,
	/* flush to zero, denormals are zero, all exceptions masked */
	MXCSR = 0x9fc0
};

uint64_t measure_x86_ordinary(unsigned r)
{
	return 0x3ff03c5a3f803c3dull + 0x1500000013ull * r;
}

uint32_t emit_constants(struct buffer *b)
{
	uint32_t at;

	emit_align(b, MEASURE_LINE);
	at = (uint32_t)b->n;
	for (unsigned r = 0; r < N_VECTORS; r++)
		emit_64(b, measure_x86_ordinary(r));
	emit_64(b, INDEX);
	emit_64(b, ~0ull);
	emit_64(b, MXCSR);
	return at;
}

/* ModRM and displacement of an operand relative to rip, at the end of an instruction. */
static void put_operand(struct buffer *b, unsigned reg, uint32_t address)
{
	PUT(b, (uint8_t)(5 | (reg & 7) << 3));
	emit_32(b, address - (uint32_t)b->n - 4);
}

/* Fills the elements of a vector register with the 8 bytes at `address`, up to `width` bytes, and
 * zeroes the rest of it if the CPU has AVX.
 */
static void put_vector(struct buffer *b, const struct measure_plan *plan, unsigned r,
		       unsigned width, uint32_t address)
{
	if (r >= 16 || width == 64) {
		bool is_short = width == 16;

		/* vmovddup xmm or vbroadcastsd ymm or zmm, by EVEX: R and R' are inverted */
		PUT(b, 0x62,
		    (uint8_t)((r & 8 ? 0 : 0x80) | 0x60 | (r & 16 ? 0 : 0x10) | (is_short ? 1 : 2)),
		    is_short ? 0xff : 0xfd,
		    (uint8_t)(width == 64 ? 0x48
			      : is_short  ? 0x08
					  : 0x28),
		    is_short ? 0x12 : 0x19);
	} else if (width == 32) { /* vbroadcastsd ymm */
		PUT(b, 0xc4, r & 8 ? 0x62 : 0xe2, 0x7d, 0x19);
	} else if (plan->features & X86_HAS_AVX) { /* vmovddup xmm */
		PUT(b, 0xc5, r & 8 ? 0x7b : 0xfb, 0x12);
	} else { /* movq xmm */
		PUT(b, 0xf3);
		if (r & 8)
			PUT(b, 0x44);
		PUT(b, 0x0f, 0x7e);
	}
	put_operand(b, r, address);
	if (!(plan->features & X86_HAS_AVX)) /* punpcklqdq xmm, xmm */
		PUT(b, 0x66, (uint8_t)(0x40 | (r >> 3) * 5), 0x0f, 0x6c,
		    (uint8_t)(0xc0 | (r & 7) * 9));
}

static void put_zero_vectors(struct buffer *b, const struct measure_plan *plan)
{
	if (plan->features & X86_HAS_AVX)
		PUT(b, 0xc5, 0xfc, 0x77);				     /* vzeroall */
	for (unsigned r = 0; r < 16 && !(plan->features & X86_HAS_AVX); r++) /* xorps xmm, xmm */
		PUT(b, (uint8_t)(0x40 | (r >> 3) * 5), 0x0f, 0x57, (uint8_t)(0xc0 | (r & 7) * 9));
	for (unsigned r = 16; r < N_VECTORS && plan->features & X86_HAS_AVX512; r++) {
		/* vpxord zmm, zmm, zmm: R and B (bit 3), X and R' (bit 4), vvvv and V' are inverted
		 */
		unsigned x = r & 15;

		PUT(b, 0x62, x < 8 ? 0xa1 : 0x01, (uint8_t)(0x05 | (~x & 15) << 3), 0x40, 0xef,
		    (uint8_t)(0xc0 | (x & 7) * 9));
	}
}

static void put_masks(struct buffer *b, const struct measure_plan *plan)
{
	for (unsigned k = 0; k < 8 && plan->features & X86_HAS_AVX512; k++) {
		uint8_t vvvv = (uint8_t)(0x84 | (~k & 15) << 3);

		if (plan->features & X86_HAS_AVX512_VL_BW)
			PUT(b, 0xc4, 0xe1, vvvv, 0x46, (uint8_t)(0xc0 | k * 9)); /* kxnorq */
		else
			PUT(b, 0xc5, vvvv, 0x46, (uint8_t)(0xc0 | k * 9)); /* kxnorw */
	}
}

static void put_vectors(struct buffer *b, const struct measure_plan *plan, uint32_t constants)
{
	const struct measure_needs *needs = &plan->needs;
	unsigned n = plan->features & X86_HAS_AVX512 ? N_VECTORS : 16;
	unsigned width = needs->vector_bytes;
	bool is_zero = plan->vectors == TACT_VECTORS_ZERO;

	if (width < 16 || !(plan->features & X86_HAS_AVX))
		width = 16;
	if (width == 64 && !(plan->features & X86_HAS_AVX512))
		width = 32;
	if (is_zero)
		put_zero_vectors(b, plan);
	for (unsigned r = 0; r < n; r++) {
		bool is_short_able = r < 16 || plan->features & X86_HAS_AVX512_VL_BW;
		uint32_t from = constants + 8 * r;

		if (needs->mask_vectors >> r & 1)
			from = constants + CONST_ONES;
		else if (is_zero)
			continue;
		else if (needs->index_vectors >> r & 1)
			from = constants + CONST_INDEX;
		put_vector(b, plan, r, is_short_able ? width : 64, from);
	}
	if (width == 16 && plan->features & X86_HAS_AVX)
		PUT(b, 0xc5, 0xf8, 0x77); /* vzeroupper */
}

/* fninit empties the stack.  Registers of MMX are those of the stack; using them marks all as
 * valid.
 */
static void put_float_stack(struct buffer *b, const struct measure_plan *plan, uint32_t constants)
{
	const struct measure_needs *needs = &plan->needs;

	PUT(b, 0xdb, 0xe3);
	for (unsigned r = 0; r < 8 && needs->uses_media; r++) {
		if (plan->vectors == TACT_VECTORS_ZERO) {
			PUT(b, 0x0f, 0xef, (uint8_t)(0xc0 | r * 9)); /* pxor mm, mm */
		} else {
			PUT(b, 0x0f, 0x6f); /* movq mm */
			put_operand(b, r, constants + 8 * r);
		}
	}
	for (unsigned i = 0; i < needs->stack_depth && !needs->uses_media; i++) {
		PUT(b, 0xdd); /* fld qword */
		put_operand(b, 0, constants + 8 * i);
	}
}

/* Loads every line of the pages that the block uses: through the addresses that it uses, because
 * Zen's first-level cache finds a line only under the address of its last access.
 */
static void touch_pages(struct buffer *b, const struct measure_plan *plan)
{
	for (unsigned i = 0; i < plan->n_pages; i++) {
		emit_immediate(b, 0, plan->page[i]);
		PUT(b, 0xb9, MEASURE_PAGE / MEASURE_LINE, 0, 0, 0); /* mov ecx, lines */
		/* mov dl, [rax]; add rax, 64; dec ecx; jnz */
		PUT(b, 0x8a, 0x10, 0x48, 0x83, 0xc0, MEASURE_LINE, 0xff, 0xc9, 0x75, 0xf6);
	}
}

void emit_vector_state(struct buffer *b, const struct measure_plan *plan, uint32_t constants)
{
	touch_pages(b, plan);
	PUT(b, 0x0f, 0xae); /* ldmxcsr */
	put_operand(b, 2, constants + CONST_MXCSR);
	put_float_stack(b, plan, constants);
	put_masks(b, plan);
	put_vectors(b, plan, constants);
}

void emit_registers(struct buffer *b, const struct measure_plan *plan)
{
	if (plan->loop) {
		emit_load_rax(b, STAMP_AT(counter));
		/* mov counter, rax */
		PUT(b, (uint8_t)(0x48 | plan->counter >> 3), 0x89,
		    (uint8_t)(0xc0 | (plan->counter & 7)));
	}
	for (unsigned r = 0; r < 16; r++) {
		uint64_t value = MEASURE_INIT_VALUE;

		if (plan->init == TACT_INIT_STACK && r == 5)
			value = MEASURE_INIT_FRAME;
		if (r == 4)
			value = STAMP_AT(frame); /* iretq takes the real one from there */
		if (!(plan->loop && r == plan->counter))
			emit_immediate(b, r, value);
	}
}
