/* SPDX-License-Identifier: MIT
 *
 * Declarations that the files about evaluations share.
 */
#ifndef EVALUATE_EVALUATION_H
#define EVALUATE_EVALUATION_H

#include <stdatomic.h>

#include <tact-program/evaluate.h>

#include "base/base.h"
#include "base/hash.h"
#include "confidence/confidence.h"

enum { EVALUATION_MAX_ARCHS = 64 };

/* Members of the groups of one kind. */
struct evaluation_members {
	size_t group_capacity;
	struct hash index;  /* of the groups */
	uint32_t *row, *of; /* a row and its group; owned */
	double *weight;	    /* of the row in the group; owned */
	size_t n, capacity;
};

struct evaluation {
	struct tact_evaluation view; /* first: callers see this; its arrays are owned */
	struct tact_evaluation_options opt;
	struct tact_arena arena; /* for code, labels and names */
	struct tact_ran *ran;	 /* owned */
	size_t capacity, set_capacity, model_capacity, bottlenecks_capacity;
	struct evaluation_members by[TACT_N_GROUPINGS];
	const struct tact_arch *arch[EVALUATION_MAX_ARCHS];
	struct tact_arch *derived[EVALUATION_MAX_ARCHS]; /* owned; NULL: it is a built-in one */
	unsigned n_archs;
	const char *default_arch;
	bool has_default;
	atomic_size_t n_estimated; /* of all models and bottlenecks */
};

static inline struct evaluation *evaluation_of(struct tact_evaluation *view)
{
	return (struct evaluation *)view;
}

static inline const struct evaluation *evaluation_of_const(const struct tact_evaluation *view)
{
	return (const struct evaluation *)view;
}

/* Finds a CPU by its name, with the changed parameters.  Returns 1, 0 if the name is unknown or
 * there is no room for more, or an error of tact_arch_derive.
 */
int evaluation_arch(struct evaluation *e, const char *name, const struct tact_arch **arch,
		    struct tact_diag *diag);

/* Puts a row into a group, creating the group if it is new.  Returns 0 or -TACT_E_NOMEM. */
int evaluation_join(struct evaluation *e, enum tact_grouping kind, size_t row, uint32_t set,
		    const char *label, double weight);

/* Calls fn for each good row of a set (or TACT_ALL_SETS) of the model facile or sim, with the class
 * of its block.  Returns 0 or -TACT_E_NOMEM.
 */
typedef void evaluation_class_fn(void *arg, size_t row, struct confidence_class of);
int evaluation_classify(const struct evaluation *e, size_t model, uint32_t set,
			evaluation_class_fn *fn, void *arg);

/* Steps of tact_evaluation_run. */
int evaluation_hold(struct evaluation *e, struct tact_diag *diag);
int evaluation_find_bottlenecks(struct evaluation *e, struct tact_diag *diag);
int evaluation_score(struct evaluation *e, struct tact_diag *diag);

/* Returns the rows in the form that models take, for an arch or, if it is NULL, for their own.  The
 * caller frees them.
 */
struct tact_model_row *evaluation_model_rows(const struct evaluation *e,
					     const struct tact_arch *arch);

#endif /* EVALUATE_EVALUATION_H */
