/* SPDX-License-Identifier: MIT
 *
 * The library's side of a harness: the runner, orders and answers, the watchdog.
 */
#ifndef TACT_MEASURE_HARNESS_H
#define TACT_MEASURE_HARNESS_H

#include <fcntl.h>
#include <sched.h>
#include <sys/types.h>

#include "measure/measure_priv.h"

struct tact_harness {
	struct tact_measure_options opt; /* with defaults filled in */
	enum tact_rung rung;
	char refusal[TACT_RUNG_TSC + 1][160];	/* why a rung does not work; "": it does, or was not
						 tried */
	unsigned aperf_type, aperf_config;	/* of perf's msr device; type 0: there is none */
	uint32_t core_type[MEASURE_CORE_TYPES]; /* of perf's devices for other kinds of cores */
	uint32_t features; /* of the CPU; the instruction set defines the bits */
	unsigned quantum;  /* step of the time stamp counter */
	struct measure_core core;
	struct measure_floor floor;
	char *state;	    /* owned: file that keeps the floor; NULL: none */
	char cpu_model[48]; /* as in that file */
	char emulator[256]; /* that executes us; "": none */
	cpu_set_t allowed;  /* CPUs that the keeper may move to */
	unsigned n_learned; /* blocks so far */

	pid_t child;	     /* ours: it waits for the keeper, and ends with it; 0: none */
	pid_t keeper;	     /* starts a process for each block */
	pid_t runner;	     /* the process of this block; 0: none */
	uint64_t nonce;	     /* of that process */
	uint64_t number;     /* of the last order */
	int cpu;	     /* that the keeper is bound to; -1: any */
	bool is_ending;	     /* a process has been told to quit; the keeper will say when it has */
	bool is_refused_cpu; /* the kernel does not let it run there */
	bool was_killed;     /* the last process that died was, by SIGKILL */
	int end_status;	     /* of wait, of the last process that died */
	int counter_error;
	enum measure_part failed_part; /* of the sandbox, when a start failed */
	bool is_sandbox_missing;       /* the runner said so itself */
	int failed_error;	       /* errno of that; 0: none known */

	int socket_fd;
	int image_fd, code_fd, data_fd;
	uint8_t *code;		   /* owned: a view of the code area */
	struct measure_host *host; /* owned: the orders and the last answers */
};

int harness_create_areas(struct tact_harness *h);
void harness_destroy_areas(struct tact_harness *h);

/* Makes what was written to the code area visible to those who execute it. */
void harness_publish_code(const struct tact_harness *h);

/* Makes sure that a fresh process waits for orders: no block has run in it.  Returns 0; or -1, and
 * failed_part and failed_error say why.
 */
int harness_begin_block(struct tact_harness *h);

/* Ends the process of a block, which may have done anything. */
void harness_end_block(struct tact_harness *h);

/* Ends all processes of the harness. */
void harness_kill(struct tact_harness *h);

/* Binds this and all later processes to a CPU.  Returns 0, or -1 if the kernel refuses it. */
int harness_move(struct tact_harness *h, int cpu);

/* Gives an order and waits for the answer.  Returns 0, -1 if the process died, -2 if it took too
 * long, -3 if the answer is not one that the runner gives.
 */
int harness_order(struct tact_harness *h, enum measure_order order, long deadline_ms);
long harness_deadline(const struct tact_harness *h);
long harness_now_ms(void);

/* The call that makes a part of the sandbox, and what it is for. */
void harness_describe_part(enum measure_part part, const char **call, const char **purpose);

/* ---- spawn.c ---- */

/* In a process of our own that shares nothing but descriptors: becomes the one that waits for the
 * keeper.  Does not return.
 */
void harness_spawn(const struct tact_harness *h, int socket_fd) __attribute__((noreturn));

/* ---- quiet_wait.c ---- */

/* Finds out how fast the core can be, and where the child may run.  Returns -1 if memory runs out.
 */
int harness_know_core(struct tact_harness *h);

/* Tells the child where the clock and the canary are. */
void harness_use_clocks(struct tact_harness *h, const struct measure_layout *layout);

/* Learns from a new process, before a block has run in it; not every time.  Returns what
 * harness_order returns.
 */
int harness_learn(struct tact_harness *h);

/* Waits until the core is quiet, on another CPU if it may.  Returns 0, 1 if it is not by then, or
 * what harness_order returns.
 */
int harness_wait_quiet(struct tact_harness *h, long until_ms);

/* ---- runner_image.c ---- */

extern const uint8_t runner_image[], runner_image_end[];
extern const uint8_t emulated_image[], emulated_image_end[]; /* for emulators */

#endif /* TACT_MEASURE_HARNESS_H */
