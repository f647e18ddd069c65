/* SPDX-License-Identifier: MIT
 *
 * The parent's handle.
 */
#ifndef TACT_MEASURE_HARNESS_H
#define TACT_MEASURE_HARNESS_H

#include <fcntl.h>
#include <sys/types.h>

#include "measure/measure_priv.h"

struct tact_harness {
	struct tact_measure_options opt; /* with defaults filled in */
	enum tact_rung rung;
	char refusal[TACT_RUNG_TSC + 1][160]; /* why a rung does not work; "": it does, or was not
						 tried */
	unsigned aperf_type, aperf_config;    /* of perf's msr device; type 0: there is none */
	uint32_t features;		      /* of the CPU; the instruction set defines the bits */
	unsigned quantum;		      /* step of the time stamp counter */
	double canary_floor; /* fastest canary so far, in units of the clock's chain */
	unsigned blocks_of_child;

	struct measure_child_state child_state; /* as it was when the child started */
	pid_t child;				/* 0: none */
	bool was_killed;			/* the last child that died was, by SIGKILL */
	int order_fd, answer_fd;
	int order_end_fd; /* the child's end: while it is open, an order to a dead child raises no
			     SIGPIPE */
	int code_fd, host_fd, data_fd;
	uint8_t *code; /* owned: views of the shared areas */
	struct measure_host *host;
};

int harness_create_areas(struct tact_harness *h);
void harness_destroy_areas(struct tact_harness *h);
int harness_start_child(struct tact_harness *h);
void harness_kill_child(struct tact_harness *h);
bool harness_has_child(struct tact_harness *h); /* whether it is alive */

/* Gives an order and waits for the answer.  Returns 0, -1 if the child died, -2 if it took too
 * long, -3 if the block has overwritten the child's orders.
 */
int harness_order(struct tact_harness *h, enum measure_order order, long deadline_ms);
long harness_deadline(const struct tact_harness *h);

#endif /* TACT_MEASURE_HARNESS_H */
