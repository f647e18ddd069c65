/* SPDX-License-Identifier: MIT
 *
 * The method `surrogate`: shared by its files.
 */
#ifndef TACT_SURROGATE_H
#define TACT_SURROGATE_H

#include "tune/tune.h"
#include "tune/tune_net.h"

/* Parameters of an instruction as the network sees them: those of its form, then the machine's. */
enum {
	SURROGATE_FORM_INPUTS = 2 + TACT_MCA_READS + TACT_MCA_PORTS,
	SURROGATE_INPUTS = SURROGATE_FORM_INPUTS + 2
};

/* Adam (Kingma, Ba, 2015). */
struct adam {
	float *m, *v; /* owned */
	size_t n;
	uint64_t steps;
};

/* The state of a run.  All of it is in a checkpoint. */
enum surrogate_phase { PHASE_NETWORK, PHASE_TABLE, PHASE_DONE };
struct surrogate_state {
	uint32_t phase, round, epoch, batch; /* the next batch to do */
	double loss;			     /* of the batches of this epoch so far, summed */
	double best;			     /* validation error of best_values; of the model */
	double network_error;		     /* of the last pass over simulated blocks */
};

struct surrogate {
	struct tact_tuner *t;
	struct net net;
	uint64_t fingerprint; /* hash of options and rows: a checkpoint belongs to one run */

	struct net_type *types; /* owned */
	size_t n_types, type_capacity;
	unsigned vocabulary;
	uint32_t **row_types;	     /* owned; by row; NULL: has no instruction */
	uint32_t *row_length;	     /* owned */
	struct bound_graph **graphs; /* owned; by row; NULL: the network works without bounds */
	uint32_t *train;	     /* owned; training rows */
	size_t n_train;

	/* Simulated blocks: row, parameters of each instruction, cycles. */
	uint8_t *sampled;  /* owned; SURROGATE_INPUTS bytes per instruction */
	size_t *sample_at; /* owned; by sample */
	float *simulated;  /* owned; logarithm of cycles */
	size_t n_samples;

	float *weights; /* owned */
	struct adam network_adam;
	float *table;	/* owned; by parameter of the tuner: above its lower bound, any sign */
	float *rounded; /* owned; the table as the network sees it */
	struct adam table_adam;
	int32_t *param_at; /* owned; by site and input: number of the parameter, -1: none */
	int *values, *best_values, *centre; /* owned; by parameter */
	struct surrogate_state state;

	struct shard *shards; /* owned */
	float *vectors;	      /* owned; of all types, when the network is frozen */
	double last_saved;
	double seconds_before; /* that earlier runs of this checkpoint took */
};

struct bound_graph;
struct bound_memory {
	void *data; /* owned */
	size_t capacity;
};

/* ---- inputs and simulated blocks (surrogate_samples.c) ---- */

/* Says what the k-th input of an instruction is. */
struct surrogate_input {
	uint8_t kind, index; /* enum tact_mca_kind */
	float scale;	     /* of the value above its lower bound */
};
struct surrogate_input surrogate_input(unsigned k);

/* Returns the k-th input of a form under a table, above its lower bound. */
int surrogate_value(const struct tact_mca_params *params, unsigned form, unsigned k);
unsigned surrogate_form(const struct surrogate *s, uint32_t row, size_t i);
uint32_t surrogate_row(const struct surrogate *s, size_t sample);

/* Returns the range of values of a parameter in the samples of this round. */
void surrogate_reach(const struct surrogate *s, size_t param, int *low, int *high);
int surrogate_simulate(struct surrogate *s); /* Makes all samples of this round. */

/* ---- batches (surrogate_batch.c) ---- */

enum { SURROGATE_SHARDS = 8 };

struct shard {
	struct net_work *work; /* owned */
	float *gradient;       /* owned; of the weights */
	float *table_gradient; /* owned; of the parameters */
	size_t n, capacity;
	uint32_t *length;			     /* owned; by block, as the pointers */
	const uint32_t **types;			     /* owned */
	const float **inputs;			     /* owned */
	float **slopes;				     /* owned */
	float *input, *slope_of_input, *out, *slope; /* owned */
	size_t input_capacity, slope_capacity;
	uint32_t *item;			  /* owned; row or sample of each block */
	float *raw, *bound_slope, *bound; /* owned; as input, as input, by block */
	size_t raw_capacity, bound_capacity;
	struct bound_memory memory;
	double loss;
};

int surrogate_shards_create(struct surrogate *s);
void surrogate_shards_destroy(struct surrogate *s);

struct surrogate_batch {
	struct surrogate *s;
	const uint32_t *items; /* samples, or rows */
	size_t n;
	bool is_checked; /* only the error, no gradients */
};

/* Both fill loss and gradient of a shard: by the weights, on simulated blocks, and by the table, on
 * measured ones.
 */
tune_item_fn surrogate_network_shard, surrogate_table_shard;

/* ---- bounds (surrogate_bounds.c) ---- */

int surrogate_graph_create(struct bound_graph **out, const struct tact_mca_code *code);
void surrogate_graph_destroy(struct bound_graph *graph); /* NULL is allowed */

/* Computes the logarithm of a smooth lower bound of a block's cycles; inputs are SURROGATE_INPUTS
 * values above their lower bounds for each instruction.  slopes, of the same form, may be NULL; the
 * machine's are at the first instruction.  Returns 0 or -TACT_E_NOMEM.
 */
int surrogate_bound(const struct bound_graph *graph, const float *inputs,
		    struct bound_memory *memory, float *out, float *slopes);

int surrogate_tokens(struct surrogate *s); /* types, row_types, row_length */

/* Reads a checkpoint, if there is a file.  Returns 1; 0 if there is none; -TACT_E_FORMAT: damaged,
 * or of another run; -TACT_E_VERSION, -TACT_E_IO.
 */
int surrogate_load(struct surrogate *s, const char *path, struct tact_diag *diag);
int surrogate_save(struct surrogate *s, const char *path, struct tact_diag *diag);

#endif /* TACT_SURROGATE_H */
