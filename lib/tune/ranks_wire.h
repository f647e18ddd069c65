/* SPDX-License-Identifier: MIT
 *
 * What the library and its module tact_mpi.so share.  The module alone is linked with MPI.
 */
#ifndef TUNE_RANKS_WIRE_H
#define TUNE_RANKS_WIRE_H

#include <stddef.h>
#include <stdint.h>

enum { RANKS_WIRE_VERSION = 1 };
#define RANKS_WIRE_SYMBOL "tact_mpi_api"

struct ranks_api {
	uint32_t version, size;

	/* Returns 0, or -1 with the reason. */
	int (*open)(unsigned *rank, unsigned *n, char *why, size_t why_size);

	/* Replaces each value by the sum, modulo 2^64, of those of all ranks.  Returns 0 or -1. */
	int (*sum)(uint64_t *values, size_t n);

	void (*close)(void);
};

#endif /* TUNE_RANKS_WIRE_H */
