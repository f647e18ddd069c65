/* SPDX-License-Identifier: MIT
 *
 * Finds where a model is wrong.
 *
 * A hunt has two sides that say how many cycles a block takes: the model, and a judge (a
 * measurement, measured rows, or another model).  It finds blocks on which they disagree, makes
 * each as short as it gets, and finds out what of it matters: the class of blocks that disagree in
 * the same way.
 */
#ifndef TACT_PROGRAM_HUNT_H
#define TACT_PROGRAM_HUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact-program/campaign.h>
#include <tact/block.h>
#include <tact/measure.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the two sides ---- */

struct tact_hunt_block {
	const uint8_t *code; /* a loop has a branch only if the data set's block has one */
	size_t code_size;
	unsigned alignment; /* of its first byte, 0 to 63 */
};

enum tact_hunt_answer {
	TACT_HUNT_NO_NUMBER, /* the side has none for this block: the block does not count */
	TACT_HUNT_NUMBER,
	TACT_HUNT_LATER /* the side cannot say yet: whatever needs it has to wait */
};

struct tact_hunt_value {
	double cycles; /* of one iteration, above 0; only if the answer is NUMBER */
	enum tact_hunt_answer answer;
	uint32_t bottlenecks; /* of a model that tells them: bits of enum tact_bound */
};

/* Fills out[i] for each block; the hunt asks from one thread.  Returns 0, or -TACT_E_*, which ends
 * the hunt.
 */
typedef int tact_hunt_ask(void *context, const struct tact_hunt_block *blocks, size_t n,
			  struct tact_hunt_value *out, struct tact_diag *diag);

struct tact_hunt_side {
	tact_hunt_ask *ask;
	void *context;
};

/* ---- results ---- */

/* A class of blocks on which the sides disagree.  The hunt owns everything. */
struct tact_hunt_finding {
	const char *words;   /* the class: "2 x SHL (64 bits)" */
	const uint8_t *code; /* its smallest example, without the branch of a loop */
	size_t code_size;
	unsigned alignment; /* of the example */
	double judged, predicted;
	/* Blocks of the class that were tried, or rows that it has; how many of these disagree in the
	 * same direction; and their mean error, signed, relative to the judge.
	 */
	size_t n_tried, n_off;
	double error;
	/* In the data set: the share of its weight that blocks with these instructions have; the part
	 * of it that disagrees, as far as those that were tried tell (n_real; without any: 0); and, if
	 * its blocks were judged, what they add to the mean error of all, in the same unit.
	 */
	double weight, weight_off;
	double mape;
	bool has_mape;
	size_t n_rows;		   /* blocks of the data set that have these instructions */
	size_t n_real, n_real_off; /* of these: tried as they are, and how many disagree alike */
	bool is_single; /* no class was found: only the example, or hardly more, disagrees */
	size_t n_found; /* times that the hunt came upon it */
};

struct tact_hunt_counts {
	size_t n_blocks;  /* new ones, or rows, that both sides gave a number for */
	size_t n_off;	  /* of these: they disagree */
	size_t n_tried;	  /* blocks that were made to find classes */
	size_t n_without; /* that one side has no number for */
	size_t n_later;	  /* that one side could not answer yet */
	size_t n_ticks;
	/* Of rows: the weight of those that disagree, of those in a class, and the mean error. */
	double weight_off, weight_in_class, mape;
};

/* ---- hunting ---- */

struct tact_hunt_options {
	size_t size;
	const struct tact_arch *arch; /* of the model: its tables tell which ports are used */
	enum tact_mode mode;	      /* LOOP or UNROLL */
	struct tact_hunt_side model, judge;
	double relative;     /* they disagree above both of these; 0: 0.1 of the judge's number, */
	double absolute;     /* and 0.1 cycles */
	unsigned samples;    /* blocks to try for each step from a block to a class; 0: 10 */
	double share;	     /* of these that must disagree; 0: 0.75 */
	unsigned most_insns; /* in a block that is made; 0: 8 */
	unsigned active;     /* findings that are worked on at a time; 0: 16 */
	unsigned batch;	     /* blocks that sides are asked about at a time; 0: 256 */
	size_t most_blocks; /* to be asked about, and then what active findings need; 0: no limit */
	size_t most_classes; /* 0: no limit; of rows: 30 */
	uint64_t seed;
	bool is_forms;	 /* blocks are also made of forms that the data set does not have */
	bool is_aligned; /* the judge can place blocks: loops are also tried at other addresses */
	/* Returns whether to stop; called between batches.  May be NULL. */
	bool (*is_over)(void *context);
	/* Returns whether to begin nothing new, but to end what has begun.  May be NULL. */
	bool (*is_closing)(void *context);
	/* Called when a class is complete, and between batches.  May be NULL. */
	void (*found)(void *context, const struct tact_hunt_finding *finding);
	void (*progress)(void *context, const struct tact_hunt_counts *counts);
	void *context;
};

struct tact_hunt; /* one thread at a time */

/* Creates a hunt.  Returns 0, or with *out set to NULL:
 *   -TACT_E_INVAL  an argument or a side is missing, or an option is out of range
 *   -TACT_E_NOMEM  out of memory
 */
int tact_hunt_create(struct tact_hunt **out, const struct tact_hunt_options *opt,
		     struct tact_diag *diag);
void tact_hunt_destroy(struct tact_hunt *hunt); /* NULL is allowed */

/* Adds a block of the data set, which is copied.  A branch at its end is no part of classes.  `judged` is what
 * it took according to the judge; 0: not known.  Returns 1, 0 if there is nothing in it to hunt for
 * (it does not decode, or has no instruction but a branch), -TACT_E_INVAL, -TACT_E_NOMEM.
 */
int tact_hunt_add(struct tact_hunt *hunt, const uint8_t *code, size_t size, unsigned alignment,
		  double weight, double judged);

/* Makes blocks, asks both sides, and finds classes, until it is over: too many blocks or classes, or
 * is_over, or nothing to do before the judge knows more.  Returns 0, errors of the sides,
 * -TACT_E_NO_DATA if there is nothing to make blocks of, -TACT_E_NOMEM.
 */
int tact_hunt_run(struct tact_hunt *hunt, struct tact_diag *diag);

/* Finds classes among the blocks that were added with a number, and makes no new ones: the sides'
 * judge is not asked.  Returns as tact_hunt_run; -TACT_E_NO_DATA if there are no such blocks.
 */
int tact_hunt_rows(struct tact_hunt *hunt, struct tact_diag *diag);

/* Return what was found, by weight and error, and what was done.  The findings are valid until the
 * hunt runs again or is destroyed.
 */
size_t tact_hunt_count(const struct tact_hunt *hunt);
const struct tact_hunt_finding *tact_hunt_get(const struct tact_hunt *hunt, size_t i);
void tact_hunt_get_counts(const struct tact_hunt *hunt, struct tact_hunt_counts *counts);

/* ---- sides ---- */

/* A model of the registry.  Blocks become loops as the harness makes them. */
struct tact_hunt_model;
int tact_hunt_model_create(struct tact_hunt_model **out, const char *name,
			   const struct tact_arch *arch, enum tact_mode mode, enum tact_init init,
			   unsigned threads, struct tact_diag *diag);
void tact_hunt_model_destroy(struct tact_hunt_model *model); /* NULL is allowed */
int tact_hunt_model_ask(void *model, const struct tact_hunt_block *blocks, size_t n,
			struct tact_hunt_value *out, struct tact_diag *diag);

/* A memory of what a judge has said, with another judge behind it for what it does not know, or
 * none: then blocks that it does not know are asked for, and the answer is LATER.
 */
struct tact_hunt_memory;
struct tact_hunt_memory_options {
	size_t size;
	struct tact_hunt_side behind; /* ask NULL: none */
	/* Called for each block that is not known, once; or, with `behind`, for each new answer.  May
	 * be NULL.
	 */
	void (*news)(void *context, const struct tact_hunt_block *block,
		     const struct tact_hunt_value *value);
	void *context;
};
int tact_hunt_memory_create(struct tact_hunt_memory **out,
			    const struct tact_hunt_memory_options *opt);
void tact_hunt_memory_destroy(struct tact_hunt_memory *memory); /* NULL is allowed */
int tact_hunt_memory_add(struct tact_hunt_memory *memory, const struct tact_hunt_block *block,
			 const struct tact_hunt_value *value);
int tact_hunt_memory_ask(void *memory, const struct tact_hunt_block *blocks, size_t n,
			 struct tact_hunt_value *out, struct tact_diag *diag);

/* Measurements on this machine, with several harnesses at a time and in several rounds: only numbers
 * that two rounds confirm count.
 */
struct tact_hunt_measure;
struct tact_hunt_measure_options {
	size_t size;
	struct tact_measure_options measure;
	const int *cpus; /* as in struct tact_campaign_options */
	unsigned n_cpus, n_workers;
	unsigned rounds;	       /* at most; 0: 6 */
	const volatile int *interrupt; /* may be NULL */
	bool is_unconfirmed;	       /* one round is enough */
	/* Returns whether to stop: what is not measured then is for later.  May be NULL. */
	bool (*is_over)(void *context);
	/* As in struct tact_campaign_options; NULL: a harness. */
	int (*visit)(void *context, int cpu, const struct tact_campaign_block *block,
		     struct tact_measurement *out);
	void *context;
};
int tact_hunt_measure_create(struct tact_hunt_measure **out,
			     const struct tact_hunt_measure_options *opt, struct tact_diag *diag);
void tact_hunt_measure_destroy(struct tact_hunt_measure *measure); /* NULL is allowed */
int tact_hunt_measure_ask(void *measure, const struct tact_hunt_block *blocks, size_t n,
			  struct tact_hunt_value *out, struct tact_diag *diag);

#ifdef __cplusplus
}
#endif

#endif /* TACT_PROGRAM_HUNT_H */
