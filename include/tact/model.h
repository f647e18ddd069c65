/* SPDX-License-Identifier: MIT
 *
 * The one seam between engines and their users.
 */
#ifndef TACT_MODEL_H
#define TACT_MODEL_H

#include <stdint.h>

#include <tact/block.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tact_estimate {
	double cycles_per_iteration;
	double coverage; /* share of the instructions with data */
};

struct tact_model {
	const char *name, *help;

	/* Steady state of one block repeated. */
	int (*estimate)(const void *self, struct tact_block *block, struct tact_estimate *out);

	/* A stream of different blocks that share pipeline state.  NULL if the engine has a steady
	 * state only.
	 */
	int (*stream_open)(const void *self, void **stream);
	int (*stream_feed)(void *stream, struct tact_block *block);
	int (*stream_close)(void *stream, uint64_t *cycles);

	const void *self; /* engine options; borrowed */
};

extern const struct tact_model tact_model_facile;
extern const struct tact_model tact_model_sim;

#ifdef __cplusplus
}
#endif

#endif /* TACT_MODEL_H */
