/* SPDX-License-Identifier: MIT
 *
 * The registry of models: whatever says how many cycles a block takes is found here by its name.
 *
 * A name may carry parts: `facile`, `facile:only=predec+ports`, `facile:without=lsd`,
 * `facile:simple-predec:simple-dec`, `facile:exact-ports`, `facile:paper`, `sim`, `mca`,
 * `mca:params=FILE`, `llvm-mca`, `llvm-mca-19`, `stored:NAME`, `stored:NAME@VERSION`,
 * `NAME=COMMAND`.
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
	TACT_MODEL_STREAM = 1 << 0,  /* takes a stream of different blocks, too */
	TACT_MODEL_BATCH = 1 << 1,   /* many blocks at once cost it hardly more than one */
	TACT_MODEL_PROGRAM = 1 << 2, /* another program does the work */
	TACT_MODEL_TABLES = 1 << 3,  /* works with the tables of a CPU, which --params changes */
	TACT_MODEL_PARAMS = 1 << 4,  /* has parameters of its own: struct tact_mca_params */
	TACT_MODEL_BOUNDS = 1 << 5   /* the largest of FACILE's bounds is its estimate */
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

/* Characters of a name that stand for it in tables: of NAME=COMMAND only NAME. */
size_t tact_model_title(const char *name);

/* Names with commas between them, or one NAME=COMMAND; of names some stand for several:
 * `facile:ablations` for the variants of Table 3 of the FACILE paper.  Calls add for each one; what
 * add returns ends it if it is not 0.  Returns 0, what add returned, or -TACT_E_INVAL with the
 * reason in diag.
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
	uint64_t max_cycles;	   /* that sim may take for a block; 0: its default */
	unsigned timeout;	   /* seconds that a program may print nothing; 0: 300 */
	unsigned threads;	   /* for many blocks; 0: as many as there are cores */
	const char *const *stores; /* files with the predictions of stored:NAME */
	size_t n_stores;
	/* What a program or a store did wrong, in a sentence with the name in it.  May be NULL. */
	void (*say)(void *arg, const char *text);
	void *say_arg;
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
 * the model does not come to an end, -TACT_E_FORMAT if it gives no number, -TACT_E_DECODE if
 * another program does not know the code, -TACT_E_NO_TOOL if that program is not there.
 */
int tact_model_estimate(struct tact_estimator *estimator, struct tact_block *block,
			struct tact_estimate *out);

/* ---- streams ---- */

struct tact_stream;

/* A stream of different blocks through a model (TACT_MODEL_STREAM), to be driven by tact_stream_*
 * of tact/simulate.h.  Returns -TACT_E_INVAL for a name that is not in the registry, or of a model
 * that has a steady state only, and -TACT_E_NOMEM; diag has the reason.
 */
int tact_model_stream(struct tact_stream **out, const char *name, struct tact_diag *diag);

/* ---- many blocks ---- */

/* All pointers are borrowed. */
struct tact_model_row {
	const uint8_t *code;
	size_t code_size;
	const struct tact_arch *arch;
	enum tact_mode mode;
	enum tact_init init;
	uint32_t
		store; /* 1 + number of the store, of opt->stores, that the row is in; 0: in none */
	int64_t block; /* there */
};

/* Lets n_models models, by their names, estimate n rows on several threads; whichever they are, the
 * caller sees no difference.  opt may be NULL; its arch is taken from the rows.  take is called
 * once for every model and row, from several threads at once: estimate is NULL if status is not 0,
 * as of tact_block_load or tact_model_estimate.  Returns 0; errors of tact_model_open with the
 * reason in diag, and nothing was called then; or, if a model could not do its work, and all others
 * did, -TACT_E_NO_TOOL if a program is not there, else -TACT_E_FORMAT: then opt->say has heard why.
 */
int tact_model_run(const char *const *names, size_t n_models, const struct tact_model_row *rows,
		   size_t n, const struct tact_model_options *opt,
		   void (*take)(void *arg, size_t model, size_t row, int status,
				const struct tact_estimate *estimate),
		   void *arg, struct tact_diag *diag);

#ifdef __cplusplus
}
#endif

#endif /* TACT_MODEL_H */
