/* SPDX-License-Identifier: MIT
 *
 * Writes AArch64 code into a buffer (encodings: Arm ARM, C4.1).
 */
#ifndef TACT_MEASURE_WORDS_A64_H
#define TACT_MEASURE_WORDS_A64_H

#include "measure/aarch64/measure_a64.h"

struct words {
	uint8_t *p;
	size_t n, capacity;
	bool full; /* something did not fit */
};

#define A64_NOP 0xd503201fu
#define A64_ISB 0xd5033fdfu
#define A64_BRK 0xd4200000u
#define A64_RET 0xd65f03c0u

/* The address of a field of struct measure_stamp in the runner, from its base. */
#define A64_STAMP(field) ((unsigned)offsetof(struct measure_stamp, field))

void a64_put(struct words *w, uint32_t word);
void a64_put_bytes(struct words *w, const void *bytes, size_t n);
void a64_put_64(struct words *w, uint64_t value);
void a64_align(struct words *w, size_t to); /* with nops */

void a64_put_immediate(struct words *w, unsigned reg, uint64_t value);
/* x registers at base + offset, a multiple of 8 below 32768 */
void a64_put_load(struct words *w, unsigned reg, unsigned base, unsigned offset);
void a64_put_store(struct words *w, unsigned reg, unsigned base, unsigned offset);
void a64_put_add(struct words *w, unsigned to, unsigned a, unsigned b);
/* to = from + by; `by` below 4096, or negative */
void a64_put_add_constant(struct words *w, unsigned to, unsigned from, int by);

/* Branches to a place that is known: b, bl; cbnz x. */
void a64_put_jump(struct words *w, size_t target);
void a64_put_call(struct words *w, size_t target);
void a64_put_unless_zero(struct words *w, unsigned reg, size_t target);
void a64_put_return(struct words *w, unsigned reg);
/* A jump whose target is not known yet: a64_land says that it is here. */
size_t a64_put_open_jump(struct words *w);
void a64_land(struct words *w, size_t jump);

/* Reads the timer, shifted, or perf's counter. */
void a64_put_time(struct words *w, unsigned reg, uint32_t features);
void a64_put_counter(struct words *w, unsigned reg, const struct measure_plan *plan);

/* ---- clocks_a64.c ---- */

void a64_put_clocks(struct words *w, const struct measure_plan *plan,
		    struct measure_layout *layout);

/* ---- entry_a64.c ---- */

/* Values that the entry loads.  Returns their offset. */
uint32_t a64_put_constants(struct words *w);
/* Vector registers and modes.  Leaves x19 to x21 alone: they serve until the start was recorded. */
void a64_put_vector_state(struct words *w, const struct measure_plan *plan, uint32_t constants);
/* All other registers but one, which it returns; that holds the address to go on at. */
unsigned a64_put_registers(struct words *w, const struct measure_plan *plan);
/* The value of a register at the start of a run. */
uint64_t a64_initial_value(const struct measure_plan *plan, unsigned reg);

#endif /* TACT_MEASURE_WORDS_A64_H */
