/* SPDX-License-Identifier: MIT
 *
 * The state that a block starts from: its registers.
 */
#include "measure/x86/emit_bytes.h"

static bool has_avx(const struct measure_plan *plan)
{
	return plan->features & X86_HAS_AVX;
}

static bool has_avx512(const struct measure_plan *plan)
{
	return plan->features & X86_HAS_AVX512;
}

/* Clears all vector and mask registers with their upper halves; empties the x87 stack. */
void emit_vector_state(struct buffer *b, const struct measure_plan *plan)
{
	emit_immediate(b, 0, HOST(float_control));
	PUT(b, 0x0f, 0xae, 0x10); /* ldmxcsr [rax] */
	/* fninit does not change the registers themselves, which MMX shares: zero them in between.
	 */
	PUT(b, 0xdb, 0xe3);
	for (unsigned r = 0; r < 8; r++)
		PUT(b, 0x0f, 0xef, (uint8_t)(0xc0 | r * 9)); /* pxor mm, mm */
	PUT(b, 0xdb, 0xe3);
	if (has_avx(plan))
		PUT(b, 0xc5, 0xfc, 0x77);		    /* vzeroall */
	for (unsigned r = 0; r < 16 && !has_avx(plan); r++) /* xorps xmm, xmm */
		PUT(b, (uint8_t)(0x40 | (r >> 3) * 5), 0x0f, 0x57, (uint8_t)(0xc0 | (r & 7) * 9));
	for (unsigned k = 0; k < 8 && has_avx512(plan); k++) /* kxorw k, k, k */
		PUT(b, 0xc5, (uint8_t)(0x84 | (~k & 15) << 3), 0x47, (uint8_t)(0xc0 | k * 9));
	for (unsigned r = 16; r < 32 && has_avx512(plan); r++) {
		/* vpxord zmm, zmm, zmm: R and B (bit 3), X and R' (bit 4), vvvv and V' are inverted
		 */
		unsigned x = r & 15;

		PUT(b, 0x62, x < 8 ? 0xa1 : 0x01, (uint8_t)(0x05 | (~x & 15) << 3), 0x40, 0xef,
		    (uint8_t)(0xc0 | (x & 7) * 9));
	}
}

void emit_registers(struct buffer *b, const struct measure_plan *plan)
{
	if (plan->loop) {
		emit_load_rax(b, HOST(counter));
		/* mov counter, rax */
		PUT(b, (uint8_t)(0x48 | plan->counter >> 3), 0x89,
		    (uint8_t)(0xc0 | (plan->counter & 7)));
	}
	for (unsigned r = 0; r < 16; r++) {
		uint64_t value = MEASURE_INIT_VALUE;

		if (plan->init == TACT_INIT_STACK && r == 5)
			value = MEASURE_INIT_FRAME;
		if (r == 4)
			value = HOST(frame); /* iretq takes the real one from there */
		if (!(plan->loop && r == plan->counter))
			emit_immediate(b, r, value);
	}
}
