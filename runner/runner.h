/* SPDX-License-Identifier: MIT
 *
 * The program that runs blocks.  It is freestanding: no C library, no writable global, nothing
 * inherited.  doc/measure.md explains how it keeps a block from everything that is not its own.
 */
#ifndef TACT_RUNNER_H
#define TACT_RUNNER_H

#include <signal.h>
#include <ucontext.h>

#include "measure/counter.h"
#include "measure/runner_wire.h"

/* What runs between two runs of a block is kept together, so that it takes few ways of the
 * instruction cache, which the block's own code fills for the most part.
 */
#define HOT __attribute__((section(".text.hot"), noinline))

enum { RUNNER_STACK = 1 << 14 };

/* Everything that a block must neither see nor change, at a random address.  Functions get it as an
 * argument; after a block has run, the kernel tells where it is, because it knows the stack of
 * signal handlers.
 */
struct runner {
	uint8_t signal_stack[MEASURE_SIGNAL_BYTES];
	uint64_t saved_stack;  /* where gate_enter left the stack */
	uint64_t begin, proof; /* of the last run: emitted code writes them */
	uint64_t random[2];
	uint64_t nonce, number; /* of the order that is being served */
	int32_t counter;	/* perf's descriptor, or -1 */
	uint32_t rung;
	uint32_t running, stepping;
	uint32_t n_physical; /* pages of the data area that are there */
	uint8_t stack[RUNNER_STACK] __attribute__((aligned(16)));
	struct measure_host host;
};

enum { HIDDEN_BYTES = (sizeof(struct runner) + MEASURE_PAGE - 1) / MEASURE_PAGE * MEASURE_PAGE };

/* What the keeper has instead; a child gives it up before it runs a block. */
struct keeper {
	struct measure_start start; /* for the child that is being made */
	uint8_t stack[RUNNER_STACK] __attribute__((aligned(16)));
};

enum { KEEPER_BYTES = (sizeof(struct keeper) + MEASURE_PAGE - 1) / MEASURE_PAGE * MEASURE_PAGE };

#define STAMP ((struct measure_stamp *)MEASURE_STAMP_BASE)

/* ---- gates.c: machine code ---- */

long gate_syscall(long number, long a, long b, long c, long d, long e, long f);
extern const char gate_syscall_return[], gate_found_return[];
extern const char gate_restorer_return[];
void gate_restorer(void);

/* Goes to emitted code with the runner's address and the two keys in registers, which that clears.
 * Returns when the block has ended, or was left, with the counter at its end.
 */
uint64_t gate_enter(struct runner *r, uint64_t entry, const uint64_t key[2]);

/* Runs a clock: emitted code that returns.  The times are in the stamp. */
void gate_clock(uint64_t entry);
/* Returns the time stamp, and the CPU that it ran on. */
uint64_t gate_stamp(uint32_t *cpu);

/* Continues on another stack. */
void gate_switch_stack(void *argument, void *top, void (*next)(void *)) __attribute__((noreturn));

extern const uint32_t gate_audit_arch;	/* AUDIT_ARCH_* of its system calls */
extern const uint64_t gate_user_access; /* config1 of an event that is read in user mode */
extern const uint64_t gate_address_end; /* of what a process can map */
uint64_t gate_pc(const ucontext_t *context);
/* Records a step, and lets the block go on to the next one. */
void gate_record_step(struct measure_step *step, ucontext_t *context);
/* Lets the block go on, or leave: there is no room for more steps. */
void gate_stop_stepping(ucontext_t *context, uint64_t stack);
void gate_leave_block(ucontext_t *context, uint64_t stack);
void gate_begin_run(struct measure_stamp *stamp, uint64_t body, uint64_t stack, bool step);
/* What emitted code computes from the counter at the start and the two keys. */
uint64_t gate_proof(uint64_t begin, const uint64_t key[2]);
bool gate_set_thread_data(void);

/* Whether the instruction at this address reads a counter, and faulted for that; blocks have none. */
bool gate_is_counter_fault(int signal, const siginfo_t *info, uint64_t pc);
/* Whether a fault of an access has no address: what is accessed cannot be at all. */
bool gate_is_protection_fault(const siginfo_t *info);
/* Goes on after an instruction that reads a counter and has faulted. */
void gate_skip_counter(ucontext_t *context);
/* Runs that many dependent multiplications of 3 cycles; and reads a counter of perf's around them.
 */
void gate_run_chain(unsigned links);
/* Makes sure that code which the library has written since is what runs. */
void gate_see_code(void);
void gate_count_chain(unsigned links, uint32_t index, uint64_t *begin, uint64_t *end);

/* ---- confine.c; emulated/unconfined.c has none of it ---- */

/* Unmaps everything that is not the keeper's; the stack must have been switched. */
void sandbox_clear(void);
/* Installs the filter of system calls. */
void sandbox_filter(const struct runner *r);
/* Takes over what the library has written to the code area. */
void sandbox_see_code(void);

/* ---- sandbox.c: each ends the process, with a message, if a part is missing ---- */

void sandbox_keeper(void);
void sandbox_must(enum measure_part part, long result);
/* Maps the hidden memory of a child. */
struct runner *sandbox_hide(void);
/* Gives up the keeper's memory, and privileges; installs the filter. */
void sandbox_child(struct runner *r);
/* Unmaps all data pages but the first n: what no run fills would keep what a block leaves there for
 * its later runs.  Returns false if they are not there, or cannot be unmapped.
 */
bool sandbox_drop_data(struct runner *r, uint32_t n);
void sandbox_fail(enum measure_part part, long error) __attribute__((noreturn));
void runner_exit(int status) __attribute__((noreturn));

/* ---- faults.c ---- */

void faults_on_signal(int signal, siginfo_t *info, void *context);

/* ---- counting.c ---- */

/* The counter before a run. */
struct counting {
	struct counter_view view;
	struct counter_reading before;
};

/* Opens the counter that the rung needs, and tries it.  These return 0, or why there is none: an
 * errno, or an enum counter_error.
 */
int counting_open(struct runner *r, const struct measure_start *start);
int counting_begin(const struct runner *r, struct counting *c);
/* Takes the cycles of a run; begin and end are what emitted code has read. */
int counting_end(const struct runner *r, const struct counting *c, uint64_t begin, uint64_t end,
		 uint64_t *cycles);

/* ---- runs.c ---- */

void runs_serve(struct runner *r) __attribute__((noreturn));

/* Sends a message; one that cannot be sent ends the process. */
void runner_send(const struct measure_header *header, const void *body, size_t size);

#endif /* TACT_RUNNER_H */
