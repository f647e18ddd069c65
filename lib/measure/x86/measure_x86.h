/* SPDX-License-Identifier: MIT
 *
 * How x86-64 code is measured.
 */
#ifndef TACT_MEASURE_X86_H
#define TACT_MEASURE_X86_H

#include "isa/x86/x86.h"
#include "measure/measure_priv.h"

/* Bits of measure_plan.features. */
enum { X86_HAS_AVX = 1, X86_HAS_AVX512 = 2, X86_HAS_AVX512_VL_BW = 4, X86_HAS_GS_BASE = 8 };

extern const struct measure_set measure_x86;
extern const struct tact_known measure_x86_known;

/* The ordinary number that all elements of vector register r start with. */
uint64_t measure_x86_ordinary(unsigned r);

/* Finds how deep the floating-point stack of a block starts, and what keeps it level. */
void measure_x86_level_stack(struct measure_screen *s, const uint8_t *code, size_t size);

/* Adds what an instruction needs of the vector registers. */
void measure_x86_note_vectors(struct measure_screen *s, const ZydisDecodedInstruction *zi,
			      const ZydisDecodedOperand *ops);

void measure_x86_screen(struct measure_screen *s, const uint8_t *code, size_t size, bool loop,
			char *reason, size_t reason_size);
int measure_x86_emit(uint8_t *area, const struct measure_plan *plan, struct measure_layout *layout);
int measure_x86_emit_clocks(uint8_t *area, const struct measure_plan *plan,
			    struct measure_layout *layout);
unsigned measure_x86_canaries(struct measure_canary out[MEASURE_CANARIES],
			      const struct measure_core *core);
bool measure_x86_core_of(const char *name, struct measure_core *core);
size_t measure_x86_put_counter(uint8_t *to, unsigned reg, size_t distance);
size_t measure_x86_put_move(uint8_t *to, unsigned reg, int32_t by);
unsigned measure_x86_accesses(struct measure_access *out, const uint8_t *code, size_t size,
			      const struct measure_step *step);
size_t measure_x86_sweep(enum sweep_kernel kernel, uint64_t size, uint64_t step, uint32_t features,
			 uint8_t *to, size_t room);

#endif /* TACT_MEASURE_X86_H */
