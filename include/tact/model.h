/* SPDX-License-Identifier: MIT
 *
 * The registry of models: whatever says how many cycles a block takes is found here by its name.
 *
 * A name may carry parts: `facile`, `facile:only=predec+ports`, `facile:without=lsd`,
 * `facile:simple-predec:simple-dec`, `facile:exact-ports`, `facile:paper`, `sim`, `mca`,
 * `mca:params=FILE`.
 */
#ifndef TACT_MODEL_H
#define TACT_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/block.h>
#include <tact/predict.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the registry ---- */

enum tact_model_trait {
	TACT_MODEL_STREAM = 1 << 0 /* takes a stream of different blocks, too */
};

/* A row of it. */
struct tact_model {
	const char *name; /* what its names begin with */
	const char *form; /* of its names: "mca[:params=FILE]" */
	const char *help;
	unsigned traits; /* bits of enum tact_model_trait */
};

/* The model that a name, with its parts, belongs to; NULL with the reason in diag if there is none,
 * or if it does not have such parts.
 */
const struct tact_model *tact_model_find(const char *name, struct tact_diag *diag);

/* All of them: the one behind `model`, or the first one behind NULL; NULL ends. */
const struct tact_model *tact_model_next(const struct tact_model *model);

/* Names with commas between them, of which some stand for several: `facile:ablations` for the
 * variants of Table 3 of the FACILE paper.  Calls add for each one; what add returns ends it if it
 * is not 0.  Returns 0, what add returned, or -TACT_E_INVAL with the reason in diag.
 */
int tact_model_expand(const char *list, int (*add)(void *arg, const char *name), void *arg,
		      struct tact_diag *diag);

/* ---- estimates ---- */

struct tact_mca_options;

struct tact_model_options {
	size_t size;
	const struct tact_arch *arch; /* of all blocks; NULL: not known yet */
	bool bounds; /* FACILE's bounds are wanted, even of a model that does not need them */
	const struct tact_predict_options *facile; /* to which the parts of a name add; or NULL */
	const struct tact_mca_options *mca;	   /* copied, but for its parameters; or NULL */
	uint64_t max_cycles; /* that sim may take for a block; 0: its default */
};

struct tact_estimate {
	size_t size;
	double cycles_per_iteration;
	double coverage;	       /* share of the instructions with data */
	uint32_t bottlenecks;	       /* bits of enum tact_bound, where the model tells them */
	bool scheduling;	       /* sim: the pipeline loses more than any single bound says */
	struct tact_prediction bounds; /* FACILE's; its size is 0 if there are none */
};

/* A model at work: it keeps its memory, so that no estimate allocates once buffers have grown.  For
 * one thread at a time.
 */
struct tact_estimator;

/* opt may be NULL; it is copied, what it points to must last as long as the estimator.  Returns
 * -TACT_E_INVAL for a name that is not in the registry, -TACT_E_NOMEM, and for a file that the name
 * speaks of -TACT_E_IO, -TACT_E_VERSION, -TACT_E_FORMAT; diag has the reason.
 */
int tact_model_open(struct tact_estimator **out, const char *name,
		    const struct tact_model_options *opt, struct tact_diag *diag);
void tact_model_close(struct tact_estimator *estimator); /* NULL is allowed */

/* The steady state of a loaded block that repeats.  out->size says how much of it is wanted: all,
 * or less than `bounds`.  Returns -TACT_E_INVAL for an empty block, -TACT_E_NOMEM, -TACT_E_LIMIT if
 * sim does not come to an end.
 */
int tact_model_estimate(struct tact_estimator *estimator, struct tact_block *block,
			struct tact_estimate *out);

#ifdef __cplusplus
}
#endif

#endif /* TACT_MODEL_H */
