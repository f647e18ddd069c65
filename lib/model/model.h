/* SPDX-License-Identifier: MIT
 *
 * Layer 5: the registry of models, and the models behind it.
 */
#ifndef TACT_MODEL_PRIVATE_H
#define TACT_MODEL_PRIVATE_H

#include <tact/mca.h>
#include <tact/model.h>
#include <tact/simulate.h>

#include "base/base.h"

/* A row of the registry: what is public of it, and what it does. */
struct model_entry {
	struct tact_model model;

	/* Whether a name is of this model; where its parts begin, or NULL if it has none. */
	bool (*owns)(const struct model_entry *entry, const char *name, const char **parts);

	/* Looks at the parts, or lets an estimator have them.  Returns 0 or -TACT_E_* with the
	 * reason in diag.
	 */
	int (*check)(const char *parts, struct tact_diag *diag);
	int (*open)(struct tact_estimator *e, const char *parts, struct tact_diag *diag);
	void (*close)(struct tact_estimator *e); /* NULL: there is nothing to do */

	/* Fills all of `out`, which is empty, but for its size. */
	int (*estimate)(struct tact_estimator *e, struct tact_block *block,
			struct tact_estimate *out);

	/* Names that a part stands for, NULL ends them; or NULL. */
	const char *const *(*names)(const char *parts);
};

struct tact_estimator {
	const struct model_entry *entry;
	struct tact_model_options opt;
	struct tact_predict_options facile; /* opt.facile with the parts of the name */
	bool paper;			    /* blocks are restricted to what the paper describes */
	struct tact_simulator *simulator;   /* owned; sim */
	struct tact_mca *machine;	    /* owned; mca */
	struct tact_mca_params *params;	    /* owned; mca:params=FILE */
};

/* The row and the parts of a name; NULL with the reason in diag. */
const struct model_entry *model_entry_of(const char *name, const char **parts,
					 struct tact_diag *diag);

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

#endif /* TACT_MODEL_PRIVATE_H */
