/* SPDX-License-Identifier: MIT
 *
 * The registry of models: everything that says how many cycles a block takes is found here by its
 * name.
 *
 * A name may carry parts: `facile`, `facile:only=predec+ports`, `facile:without=lsd`,
 * `facile:simple-predec:simple-dec`, `facile:exact-ports`, `facile:paper`, `sim`, `mca`,
 * `mca:params=FILE`, `llvm-mca`, `llvm-mca-19`, `stored:NAME`, `stored:NAME@VERSION`,
 * `NAME=COMMAND`.
 *
 * A handle belongs to one thread at a time; different handles may be used by different threads at
 * once.  The functions of the registry may be called from any thread.
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
	TACT_MODEL_STREAM = 1 << 0,  /* also takes a stream of different blocks */
	TACT_MODEL_BATCH = 1 << 1,   /* takes hardly longer for many blocks than for one */
	TACT_MODEL_PROGRAM = 1 << 2, /* another program does the work */
	TACT_MODEL_TABLES = 1 << 3,  /* works with the tables of an architecture */
	TACT_MODEL_PARAMS = 1 << 4,  /* has parameters of its own: struct tact_mca_params */
	TACT_MODEL_BOUNDS = 1 << 5   /* the largest of FACILE's bounds is its estimate */
};

/* A model of the registry.  Constant; lives as long as the program. */
struct tact_model {
	size_t size;	  /* sizeof(struct tact_model), as this library knows it */
	const char *name; /* what its names begin with */
	const char *form; /* of its names: "mca[:params=FILE]" */
	const char *help;
	unsigned traits; /* bits of enum tact_model_trait */
};

/* Returns the model that a name, with its parts, belongs to.  Returns NULL, with the reason in
 * diag, if there is none, if it does not have such parts, or if name is NULL.
 */
const struct tact_model *tact_model_find(const char *name, struct tact_diag *diag);

/* Returns the model after `model`, or the first one for NULL; NULL after the last one. */
const struct tact_model *tact_model_next(const struct tact_model *model);

/* Returns the number of characters of a name that stand for it in tables: for NAME=COMMAND those
 * of NAME, otherwise all; 0 for NULL.
 */
size_t tact_model_title(const char *name);

/* Splits a list of names: names separated by commas, or one NAME=COMMAND.  Some names stand for
 * several models: `facile:ablations` for the variants of Table 3 of the FACILE paper.  Calls add
 * for each model; the name is valid during the call.  A result of add other than 0 ends the list.
 * Returns 0, what add returned if that is not 0, or
 *   -TACT_E_INVAL  an argument is missing, or a name is not in the registry; diag has the reason
 *   -TACT_E_NOMEM  out of memory
 */
int tact_model_expand(const char *list, int (*add)(void *arg, const char *name), void *arg,
		      struct tact_diag *diag);

/* ---- estimates ---- */

struct tact_mca_options;

/* How to open a model.  All zeros, or NULL, is the default. */
struct tact_model_options {
	size_t size;		      /* sizeof(struct tact_model_options) */
	const struct tact_arch *arch; /* of all blocks; NULL: not known yet */
	bool bounds; /* fill in FACILE's bounds even if the model does not need them */
	const struct tact_predict_options
		*facile;		    /* to which the parts of a name add; or NULL.  Its
						      stop_above is ignored */
	const struct tact_mca_options *mca; /* or NULL */
	uint64_t max_cycles;		    /* that sim may simulate for a block; 0: its default */
	unsigned timeout;		    /* seconds that a program may print nothing; 0: 300 */
	unsigned threads;		    /* for many blocks; 0: as many as there are cores */
	const char *const *stores;	    /* files with the predictions of stored:NAME */
	size_t n_stores;
	/* Hears what a program or a store did wrong, in a sentence that begins with the model's
	 * name.  May be NULL.
	 */
	void (*say)(void *arg, const char *text);
	void *say_arg;
};
#define TACT_MODEL_OPTIONS_INIT TACT_SIZED(struct tact_model_options)

/* What a model says about a block. */
struct tact_estimate {
	size_t size; /* sizeof(struct tact_estimate) */
	double cycles_per_iteration;
	double coverage;      /* share of the instructions with data */
	uint32_t bottlenecks; /* bits of enum tact_bound, where the model tells them */
	bool scheduling;      /* sim: the pipeline loses more than any single bound says */
	/* FACILE's bounds; NULL if there are none.  Owned by the estimator; valid until its next
	 * estimate or its end.
	 */
	const struct tact_prediction *bounds;
};
#define TACT_ESTIMATE_INIT TACT_SIZED(struct tact_estimate)

/* A model at work.  It keeps its memory, so that no estimate allocates once buffers have grown. */
struct tact_estimator;

/* Opens a model by its name.  opt may be NULL; it is copied, together with the options that it
 * points to.  What those refer to (architecture, parameters of mca, names of stores, say_arg) must
 * outlive the estimator.
 * Returns 0, or, with the reason in diag,
 *   -TACT_E_INVAL    an argument is missing, the name is not in the registry, or options are wrong
 *   -TACT_E_NOMEM    out of memory
 *   -TACT_E_IO       a file that the name refers to cannot be read
 *   -TACT_E_VERSION  such a file has a version that this library does not know
 *   -TACT_E_FORMAT   such a file is malformed
 */
int tact_model_open(struct tact_estimator **out, const char *name,
		    const struct tact_model_options *opt, struct tact_diag *diag);

/* Closes a model.  NULL is allowed. */
void tact_model_close(struct tact_estimator *estimator);

/* Estimates the steady state of a loaded block that repeats.
 * Returns 0, or
 *   -TACT_E_INVAL    an argument is missing, the block is empty, its architecture is not that of
 *                    the model's parameters, or out->size is wrong
 *   -TACT_E_NOMEM    out of memory
 *   -TACT_E_LIMIT    the model does not come to an end
 *   -TACT_E_FORMAT   the model gives no number for this block
 *   -TACT_E_DECODE   another program does not know the code
 *   -TACT_E_NO_TOOL  that program is not installed
 *   -TACT_E_NO_DATA  no store has a prediction for this block
 *   -TACT_E_IO, -TACT_E_VERSION  a store cannot be read
 */
int tact_model_estimate(struct tact_estimator *estimator, struct tact_block *block,
			struct tact_estimate *out);

/* ---- streams ---- */

struct tact_stream;

/* Creates a stream of different blocks through a model that has TACT_MODEL_STREAM.  It is used and
 * destroyed by the functions tact_stream_* of tact/simulate.h.
 * Returns 0, or, with the reason in diag,
 *   -TACT_E_INVAL  an argument is missing, the name is not in the registry, or the model has no
 *                  streams
 *   -TACT_E_NOMEM  out of memory
 */
int tact_model_stream_create(struct tact_stream **out, const char *name, struct tact_diag *diag);

/* ---- many blocks ---- */

/* A block to estimate.  All pointers are borrowed for the call. */
struct tact_model_row {
	size_t size; /* sizeof(struct tact_model_row) */
	const uint8_t *code;
	size_t code_size;
	const struct tact_arch *arch;
	enum tact_mode mode;
	enum tact_init init;
	uint32_t store;	    /* 1 + index in opt->stores of the store that has the block; 0: none */
	int64_t block;	    /* its number there */
	unsigned alignment; /* of the first byte, 0 to 63 */
};
#define TACT_MODEL_ROW_INIT TACT_SIZED(struct tact_model_row)

/* Estimates n rows with n_models models, which are given by their names and may be of any kind, on
 * several threads.  opt may be NULL; its arch is not used: rows have theirs.  The distance from one
 * row to the next is rows[0].size bytes.
 *
 * take is called once for every model and row, from several threads at once.  status is 0, or one
 * of tact_block_load or tact_model_estimate, or -TACT_E_NO_TOOL where the model's program is not
 * installed, and then estimate is NULL.  The estimate is valid during the call.  opt->say is called
 * on the calling thread only.
 * Returns 0, or
 *   -TACT_E_INVAL    an argument is missing; a row has no architecture, a code_size without code,
 *                    or a mode, init, store or size that does not exist; or as for
 *                    tact_model_open.  Nothing was called
 *   -TACT_E_NOMEM    out of memory; take was not called for all
 *   -TACT_E_IO, -TACT_E_VERSION  as for tact_model_open; nothing was called
 *   -TACT_E_NO_TOOL  a program is not installed; the other models did their work
 *   -TACT_E_FORMAT   as for tact_model_open; or a model could not do its work, the others did, and
 *                    opt->say has heard why
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
