/* SPDX-License-Identifier: MIT
 *
 * How AArch64 code is measured.
 */
#ifndef TACT_MEASURE_A64_H
#define TACT_MEASURE_A64_H

#include "isa/aarch64/aarch64.h"
#include "measure/measure_priv.h"

/* measure_plan.features: by how many bits the timer is shifted, see timer_a64.h. */
enum { A64_FEATURE_SHIFT = 15 };

extern const struct measure_set measure_aarch64;
extern const struct tact_known measure_a64_known;

/* The ordinary number that both halves of vector register r start with. */
uint64_t measure_a64_ordinary(unsigned r);

/* Returns why an instruction is not run; NULL if it may run. */
const char *measure_a64_refusal(uint32_t word);

void measure_a64_screen(struct measure_screen *s, const uint8_t *code, size_t size, bool loop,
			char *reason, size_t reason_size);
int measure_a64_emit(uint8_t *area, const struct measure_plan *plan, struct measure_layout *layout);
int measure_a64_emit_clocks(uint8_t *area, const struct measure_plan *plan,
			    struct measure_layout *layout);
uint64_t measure_a64_step_pc(const struct measure_layout *layout, uint64_t pc);
unsigned measure_a64_canaries(struct measure_canary out[MEASURE_CANARIES],
			      const struct measure_core *core);
bool measure_a64_core_of(const char *name, struct measure_core *core);
size_t measure_a64_put_counter(uint8_t *to, unsigned reg, size_t distance);
size_t measure_a64_put_move(uint8_t *to, unsigned reg, int32_t by);
unsigned measure_a64_accesses(struct measure_access *out, const uint8_t *code, size_t size,
			      const struct measure_step *step);

#endif /* TACT_MEASURE_A64_H */
