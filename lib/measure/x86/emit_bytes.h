/* SPDX-License-Identifier: MIT
 *
 * Writes machine code into a buffer.
 */
#ifndef TACT_MEASURE_EMIT_BYTES_H
#define TACT_MEASURE_EMIT_BYTES_H

#include "measure/x86/measure_x86.h"

struct buffer {
	uint8_t *p;
	size_t n, capacity;
	bool full; /* something did not fit */
};

void emit_bytes(struct buffer *b, const void *bytes, size_t n);
void emit_32(struct buffer *b, uint32_t v);
void emit_64(struct buffer *b, uint64_t v);
void emit_align(struct buffer *b, size_t to); /* with nops */

#define PUT(b, ...)                                                                                \
	do {                                                                                       \
		const uint8_t bytes_[] = {__VA_ARGS__};                                            \
		emit_bytes(b, bytes_, sizeof(bytes_));                                             \
	} while (0)

/* The address of a field of struct measure_stamp in the runner. */
#define STAMP_AT(field) (MEASURE_STAMP_BASE + offsetof(struct measure_stamp, field))

/* Absolute addresses need rax: mov moffs64, eax; mov rax, moffs64. */
void emit_store_eax(struct buffer *b, uint64_t address);
void emit_load_rax(struct buffer *b, uint64_t address);
void emit_immediate(struct buffer *b, unsigned reg, uint64_t v);

/* Reads the counter into edx:eax; clobbers rcx. */
void emit_read_counter(struct buffer *b, const struct measure_plan *plan);

/* Reads the time stamp into edx:eax, and stores its halves. */
void emit_store_time(struct buffer *b, uint64_t low, uint64_t high);

/* ---- entry_state.c: registers at the start of a run ---- */

/* Values that the entry loads.  Returns their offset. */
uint32_t emit_constants(struct buffer *b);
/* Vector, mask and floating-point registers, and their modes.  Leaves r12, r13 and r15 alone: they
 * serve until the start was recorded.
 */
void emit_vector_state(struct buffer *b, const struct measure_plan *plan, uint32_t constants);
void emit_registers(struct buffer *b, const struct measure_plan *plan);

/* ---- clocks.c ---- */

/* The clock's two chains and the canary; the same in every code area of a machine. */
void emit_clocks(struct buffer *b, const struct measure_plan *plan, struct measure_layout *layout);

#endif /* TACT_MEASURE_EMIT_BYTES_H */
