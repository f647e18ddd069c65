/* SPDX-License-Identifier: MIT
 *
 * Processes that share the work of a tuner: those that mpirun has started.
 */
#ifndef TACT_PROGRAM_RANKS_H
#define TACT_PROGRAM_RANKS_H

#include <stddef.h>
#include <stdint.h>

#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tact_ranks {
	size_t size;
	unsigned rank, n;
	int (*sum)(void *group, uint64_t *values, size_t n); /* as tact_tune_options.sum */
	void *group;
	void (*close)(void); /* when all is done; a process that ends without it ends all */
};

/* Joins the processes.  It is done once in a process, and by all of them.
 * -TACT_E_INVAL: out is NULL, or out->size is 0.
 * -TACT_E_NO_TOOL: the module tact_mpi.so is not there, or cannot be loaded, or MPI refuses; diag says
 *     what helps.
 */
int tact_ranks_open(struct tact_ranks *out, struct tact_diag *diag);

#ifdef __cplusplus
}
#endif

#endif /* TACT_PROGRAM_RANKS_H */
