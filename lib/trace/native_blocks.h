/* SPDX-License-Identifier: MIT
 *
 * Instructions that were stepped through, as words of a trace: see wire.h.
 */
#ifndef TRACE_NATIVE_BLOCKS_H
#define TRACE_NATIVE_BLOCKS_H

#include "isa/isa.h"
#include "trace/trace.h"

struct native_blocks;

/* All of them return 0 or -TACT_E_NOMEM, unless something else is said. */
int native_blocks_create(struct native_blocks **out, const struct tact_isa *isa,
			 enum wire_mode mode);
void native_blocks_destroy(struct native_blocks *blocks); /* NULL is allowed */

int native_blocks_thread(struct native_blocks *b, uint32_t tid, uint32_t pid, uint32_t parent);
int native_blocks_end(struct native_blocks *b, uint32_t tid);

/* Takes the mappings of a process, as /proc/PID/maps has them, for all windows that follow. */
int native_blocks_maps(struct native_blocks *b, uint32_t pid, char *text, size_t size);

/* A window of a thread that stands for so many ns: its instructions, each with the registers before
 * it and 15 bytes of code, then the registers at its end, with pc 0 if they are unknown.
 */
int native_blocks_window(struct native_blocks *b, uint32_t tid, uint64_t span);
int native_blocks_step(struct native_blocks *b, const struct isa_state *state, const uint8_t *code);
int native_blocks_window_end(struct native_blocks *b, const struct isa_state *state);

/* Takes the CPU time so far. */
int native_blocks_time(struct native_blocks *b, uint64_t user_ns, uint64_t system_ns,
		       uint64_t hertz);

/* Gets words that are ready.  Returns 1, 0 if there are none, -TACT_E_NOMEM. */
int native_blocks_piece(struct native_blocks *b, struct trace_piece *piece);
/* The same after the last record: ends all threads, one after the other. */
int native_blocks_finish(struct native_blocks *b, struct trace_piece *piece);

/* ---- native_access.c ---- */

enum { NATIVE_MAX_ACCESSES = 1 << 18 }; /* words of one instruction */

/* Writes the accesses of an instruction as words, with the given number of the instruction.  `state`
 * is that before it.  Accesses that need vector registers are left out.  Returns how many there
 * are; those that `to` has no room for are left out.
 */
size_t native_accesses(const struct tact_isa *isa, const struct tact_insn *insn,
		       const struct isa_state *state, unsigned number, uint64_t *to,
		       size_t capacity);

/* The same for the repetitions after the first of n, as one ascending run for each operand. */
size_t native_repetitions(const struct tact_isa *isa, const struct tact_insn *insn,
			  const struct isa_state *state, uint64_t n, uint64_t *to, size_t capacity);

#endif /* TRACE_NATIVE_BLOCKS_H */
