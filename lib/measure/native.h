/* SPDX-License-Identifier: MIT
 *
 * What the child needs of the machine that it runs on, apart from Linux.  The folder of each
 * instruction set implements it.  Nothing here uses the C library or thread-local data, which
 * belong to the blocks.  These are functions instead of a table because a block could overwrite a
 * table.
 */
#ifndef TACT_MEASURE_NATIVE_H
#define TACT_MEASURE_NATIVE_H

#include <ucontext.h>

#include "measure/measure_priv.h"

#if defined(__has_attribute)
#if __has_attribute(no_stack_protector)
#define BARE __attribute__((no_stack_protector))
#endif
#endif
#ifndef BARE
#define BARE __attribute__((optimize("no-stack-protector")))
#endif

/* The only system call instructions that seccomp allows, the way into a run, and the way out of a
 * run that a signal has ended.
 */
long measure_syscall(long number, long a, long b, long c, long d, long e, long f);
extern const char measure_syscall_return[], measure_restorer_return[];
void measure_restorer(void);
void measure_enter(uint64_t entry);

extern const uint32_t native_audit_arch; /* AUDIT_ARCH_* of its system calls */

uint64_t native_pc(const ucontext_t *context);

/* Records the registers before the next instruction. */
void native_record_step(struct measure_step *step, const ucontext_t *context);

/* Lets the rest of a run go at full speed. */
void native_stop_stepping(ucontext_t *context);

/* Leaves the block and returns from measure_enter, whatever the block has done to registers. */
void native_leave_block(ucontext_t *context, const struct measure_host *host);

/* Fills in what the emitted code needs to enter the body. */
void native_begin_run(struct measure_host *host, uint64_t body, bool step);

/* Whether the instruction at this address of emitted code reads a counter; blocks have none. */
bool native_reads_counter(uint64_t pc);

/* Goes on after an instruction that reads a counter and has faulted. */
void native_skip_counter(ucontext_t *context);

/* Runs that many dependent multiplications of 3 cycles, and reads a counter of perf's around them.
 */
void native_run_chain(unsigned links);
void native_count_chain(unsigned links, uint32_t index, uint64_t *begin, uint64_t *end);

/* Moves thread-local data to MEASURE_THREAD_BASE. */
void native_move_thread_data(void);

/* For the parent: its clock, and the CPU's features that the emitted code depends on. */
uint64_t native_clock(void);
uint32_t native_features(void);

#endif /* TACT_MEASURE_NATIVE_H */
