/* SPDX-License-Identifier: MIT
 *
 * Layer 5: the registry of models, and its models.
 */
#ifndef TACT_MODEL_PRIVATE_H
#define TACT_MODEL_PRIVATE_H

#include <tact/mca.h>
#include <tact/model.h>
#include <tact/simulate.h>

#include "base/base.h"

/* What becomes of a row. */
struct model_answer {
	int status; /* 0 or -TACT_E_* */
	double cycles, coverage;
};

struct model_batch {
	const struct tact_model_row *rows; /* borrowed */
	struct model_answer *answers;	   /* one per row; borrowed */
	size_t n;
};

/* A row of the registry: its public part, and its functions. */
struct model_entry {
	struct tact_model model;

	/* Returns whether a name belongs to this model; sets where its parts begin, or NULL if it
	 * has none.
	 */
	bool (*owns)(const struct model_entry *entry, const char *name, const char **parts);

	/* Check the parts, or give them to an estimator.  Return 0, or -TACT_E_* with the reason in
	 * diag.
	 */
	int (*check)(const char *parts, struct tact_diag *diag);
	int (*open)(struct tact_estimator *e, const char *parts, struct tact_diag *diag);
	void (*close)(struct tact_estimator *e); /* NULL: there is nothing to do */

	/* Fills all of `out`, which is empty; may use e->bounds.  NULL: the model takes many blocks
	 * at once.
	 */
	int (*estimate)(struct tact_estimator *e, struct tact_block *block,
			struct tact_estimate *out);

	/* Fills the answers, which have -TACT_E_FORMAT at first.  Returns 0, -TACT_E_NOMEM, or
	 * -TACT_E_* if it could not do its work; then it has said why.
	 */
	int (*estimate_many)(struct tact_estimator *e, const struct model_batch *batch);

	/* Creates a stream; NULL: the model has none. */
	int (*stream)(struct tact_stream **out, struct tact_diag *diag);

	/* Returns the names that a part stands for, ended by NULL; or NULL. */
	const char *const *(*names)(const char *parts);
};

struct tact_estimator {
	const struct model_entry *entry;
	char *name;	   /* owned */
	const char *parts; /* of the name; NULL: none */
	struct tact_model_options opt;
	struct tact_predict_options facile; /* opt.facile with the parts of the name */
	struct tact_prediction bounds;	    /* of the last estimate, if the simulator has none */
	bool is_part; /* there are more rows: finding nothing for these is no failure */
	bool paper;   /* blocks are restricted to what the paper describes */
	struct tact_simulator *simulator; /* owned; sim */
	struct tact_mca *machine;	  /* owned; mca */
	struct tact_mca_params *params;	  /* owned; mca:params=FILE */
};

/* Finds the row and the parts of a name; NULL with the reason in diag. */
const struct model_entry *model_entry_of(const char *name, const char **parts,
					 struct tact_diag *diag);

/* Tells opt.say, beginning with the model's title. */
void model_say(const struct tact_estimator *e, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Does what tact_model_run does, for rows that are a part of more. */
int model_run_part(const char *const *names, size_t n_models, const struct tact_model_row *rows,
		   size_t n, const struct tact_model_options *opt,
		   void (*take)(void *arg, size_t model, size_t row, int status,
				const struct tact_estimate *estimate),
		   void *arg, struct tact_diag *diag);

/* Rows of one architecture and mode, ascending, in parts of at most `most`. */
struct model_part {
	const size_t *row; /* numbers; borrowed */
	size_t n;
};
struct model_parts {
	size_t *rows;		 /* owned */
	struct model_part *part; /* owned */
	size_t n;
};
int model_parts_make(struct model_parts *parts, const struct model_batch *batch, size_t most);
void model_parts_free(struct model_parts *parts);

/* FACILE (model_facile.c). */
int model_facile_check(const char *parts, struct tact_diag *diag);
int model_facile_open(struct tact_estimator *e, const char *parts, struct tact_diag *diag);
int model_facile_estimate(struct tact_estimator *e, struct tact_block *block,
			  struct tact_estimate *out);
const char *const *model_facile_names(const char *parts);

/* The pipelines (model_pipelines.c). */
int model_sim_open(struct tact_estimator *e, const char *parts, struct tact_diag *diag);
int model_sim_estimate(struct tact_estimator *e, struct tact_block *block,
		       struct tact_estimate *out);
void model_sim_close(struct tact_estimator *e);
int model_mca_check(const char *parts, struct tact_diag *diag);
int model_mca_open(struct tact_estimator *e, const char *parts, struct tact_diag *diag);
int model_mca_estimate(struct tact_estimator *e, struct tact_block *block,
		       struct tact_estimate *out);
void model_mca_close(struct tact_estimator *e);

/* Other programs, and stored predictions (model_llvm.c, model_command.c, model_stored.c). */
int model_llvm_many(struct tact_estimator *e, const struct model_batch *batch);
int model_command_check(const char *parts, struct tact_diag *diag);
int model_command_many(struct tact_estimator *e, const struct model_batch *batch);
int model_column_check(const char *parts, struct tact_diag *diag);
int model_column_many(struct tact_estimator *e, const struct model_batch *batch);
int model_stored_check(const char *parts, struct tact_diag *diag);
int model_stored_many(struct tact_estimator *e, const struct model_batch *batch);

#endif /* TACT_MODEL_PRIVATE_H */
