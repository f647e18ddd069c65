/* SPDX-License-Identifier: MIT
 *
 * Stores of blocks and what is known about them: where they come from, their category, what was
 * measured, what models predict.  One SQLite file; doc/formats.md describes its tables.
 */
#ifndef TACT_STORE_H
#define TACT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/block.h>
#include <tact/measure.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tact_store_flag {
	TACT_STORE_CREATE = 1 << 0,  /* makes the file if there is none, or if it is empty */
	TACT_STORE_READONLY = 1 << 1 /* changes nothing; not together with CREATE */
};

/* The machine that a row was measured on: the CPU, not the host.  Two hosts that agree in all of
 * this but arch are the same machine.  One whose rows were imported has no vendor: its brand is the
 * name that was given to it, and all else is zero.
 */
struct tact_machine {
	size_t size;
	int64_t id; /* in its store */
	char vendor[16];
	char brand[64];
	unsigned family, model, stepping;
	char microcode[24]; /* "" if it could not be read */
	bool is_virtual;
	char arch[16]; /* tact's name of it; "": it is not modelled */
};

struct tact_store; /* one thread at a time */

/* Opens a store.  One of an older version is upgraded, unless it is read only.
 * Returns -TACT_E_IO if the file cannot be opened, read or written, -TACT_E_FORMAT if it is not a
 * store, or damaged, -TACT_E_VERSION if it comes from a newer version (or, read only, from an older
 * one), -TACT_E_LIMIT if another program keeps it locked, -TACT_E_INVAL, -TACT_E_NOMEM.
 */
int tact_store_open(struct tact_store **out, const char *path, unsigned flags,
		    struct tact_diag *diag);

/* NULL is allowed.  Iterators of the store must be closed before. */
void tact_store_close(struct tact_store *store);

/* Whether a file begins as a database of SQLite does.  False if it cannot be read. */
bool tact_store_is_store(const char *path);

/* Adds the result for a block on this machine; one with the same block, mode and init is replaced.
 * When this returns, the row survives the end of the process, however it ends.
 * Returns -TACT_E_IO (disk full, read only), -TACT_E_LIMIT (locked), -TACT_E_FORMAT (damaged),
 * -TACT_E_INVAL, -TACT_E_NOMEM.
 */
int tact_store_put_measurement(struct tact_store *store, const uint8_t *code, size_t size,
			       const struct tact_measurement *m, struct tact_diag *diag);

/* 1 if there is a row for the block on this machine, good or bad, 0 if there is none; < 0 as above.
 * mode is LOOP or UNROLL.
 */
int tact_store_has_measurement(struct tact_store *store, const uint8_t *code, size_t size,
			       enum tact_mode mode, enum tact_init init, struct tact_diag *diag);

/* ---- many rows ---- */

/* From here on the rows of tact_store_put_* are written in transactions of many: whatever ends the
 * process leaves a good store with all transactions but the last.  Rows of other processes wait for
 * the end of each.  Without this, each row is a transaction of its own.
 * The functions of this part return errors as tact_store_put_measurement does; -TACT_E_INVAL also
 * for a block or machine that the store does not have, and for a second begin without an end.
 */
int tact_store_begin(struct tact_store *store, struct tact_diag *diag);

/* Writes the last transaction.  A put that fails (other than with -TACT_E_INVAL) takes its
 * transaction back and ends this as well; so does tact_store_close.
 */
int tact_store_end(struct tact_store *store, struct tact_diag *diag);

/* Names of applications, categories, classifiers, models: up to 63 bytes, no control characters. */
enum { TACT_STORE_NAME_MAX = 63 };

/* A block without anything else.  *id, which may be NULL, is what the functions below take; it
 * holds for this store.  Returns 1 if the block is new, 0 if it was there.
 */
int tact_store_put_block(struct tact_store *store, const uint8_t *code, size_t size, int64_t *id,
			 struct tact_diag *diag);

/* The block comes from this application, with this weight; NAN: not known.  One row for each block
 * and application: a known weight replaces the one before, it is not added.
 */
int tact_store_put_source(struct tact_store *store, int64_t block, const char *app, double weight,
			  struct tact_diag *diag);

/* Between tact_store_begin and _end: the same, but weights that come for a block and application
 * more than once since the begin add up.  So a file that has a block several times can be imported,
 * and imported again.  -TACT_E_INVAL outside of them.
 */
int tact_store_add_source(struct tact_store *store, int64_t block, const char *app, double weight,
			  struct tact_diag *diag);

/* The category of the block by a classifier, for an architecture ("" if it needs none).  One row
 * for each block, classifier and architecture: the new label replaces the one before.
 */
int tact_store_put_category(struct tact_store *store, int64_t block, const char *classifier,
			    const char *arch, const char *label, struct tact_diag *diag);

/* Finds the machine in the store, or adds it.  Returns -TACT_E_INVAL if it is there with another
 * arch, or has no brand; a machine that has none yet gets the arch.
 */
int tact_store_put_machine(struct tact_store *store, const struct tact_machine *machine,
			   int64_t *id, struct tact_diag *diag);

/* What a measurement has beside its numbers, where it was not made here. */
struct tact_store_import {
	size_t size;
	int64_t machine;	  /* of tact_store_put_machine */
	const char *origin;	  /* where it comes from: a file's name; NULL: not known */
	const char *version;	  /* of tact that measured it; NULL: another program */
	const char *flags;	  /* letters; NULL: those of the measurement */
	const uint8_t *loop_code; /* the loop that ran, with its branch; NULL: not known */
	size_t loop_size;
	int clean;	 /* 1, 0; < 0: not known */
	bool has_spread; /* the measurement's spread is known */
};

/* As tact_store_put_measurement, for any machine. */
int tact_store_put_import(struct tact_store *store, int64_t block, const struct tact_measurement *m,
			  const struct tact_store_import *import, struct tact_diag *diag);

struct tact_store_prediction {
	size_t size;
	const char *arch, *model; /* names */
	const char *version;	  /* of the model; "" if it is not known */
	enum tact_mode mode;	  /* LOOP or UNROLL */
	enum tact_init init;
	const char *status;	     /* "ok", or why there is no number */
	double cycles_per_iteration; /* only if the status is "ok" */
	double coverage;	     /* likewise; NAN: not known */
	const char *bottlenecks;     /* names with + between them; "" if none are known */
};

/* One row for each block, arch, mode, init, model and version: the new one replaces the old one. */
int tact_store_put_prediction(struct tact_store *store, int64_t block,
			      const struct tact_store_prediction *prediction,
			      struct tact_diag *diag);

/* ---- walking ---- */

struct tact_store_source {
	char app[TACT_STORE_NAME_MAX + 1];
	double weight; /* NAN: not known */
};

struct tact_store_category {
	char classifier[TACT_STORE_NAME_MAX + 1];
	char arch[16];
	char label[TACT_STORE_NAME_MAX + 1];
};

/* Which rows.  All zero but size and init: all of them. */
struct tact_store_filter {
	size_t size;
	const char *machine;	/* its brand; NULL: any */
	const char *arch;	/* of the machine, or of the prediction; NULL: any */
	enum tact_mode mode;	/* AUTO: any */
	int init;		/* enum tact_init; < 0: any */
	const char *app;	/* blocks of this application; NULL: any */
	const char *classifier; /* whose category; NULL: the first one by name */
	const char *model;	/* predictions; NULL: any */
	const char *version;	/* predictions; NULL: any */
};

/* A measured block.  Rows come in the order in which their blocks came. */
struct tact_store_row {
	size_t size;
	const uint8_t *code; /* owned by the iterator until its next call, as all that follows */
	size_t code_size;
	const struct tact_machine *machine;
	struct tact_measurement measurement;
	const char *version; /* of tact that measured it; "": another program */
	int64_t block;
	const char *origin; /* a file's name; "": measured into this store */
	const char *flags;  /* letters; may have some that struct tact_measurement does not know */
	const uint8_t *loop_code; /* the loop that ran; NULL: not known */
	size_t loop_size;
	int clean; /* 1, 0; -1: not known */
	bool has_spread;
	const struct tact_store_source *sources; /* by name */
	size_t n_sources;
	const char *category; /* "": none */
};

struct tact_store_iter;

/* Returns -TACT_E_INVAL, -TACT_E_NOMEM, and those of tact_store_open for a bad file.  Writing to
 * the store while it is walked is allowed; rows added meanwhile may or may not come up.
 */
int tact_store_iter_create(struct tact_store_iter **out, struct tact_store *store,
			   struct tact_diag *diag);
/* filter may be NULL */
int tact_store_iter_create_filtered(struct tact_store_iter **out, struct tact_store *store,
				    const struct tact_store_filter *filter, struct tact_diag *diag);

/* 1 with *row filled, 0 behind the last row, or < 0; -TACT_E_FORMAT for a row that no version of
 * tact writes.
 */
int tact_store_iter_next(struct tact_store_iter *iter, struct tact_store_row *row,
			 struct tact_diag *diag);
void tact_store_iter_destroy(struct tact_store_iter *iter); /* NULL is allowed */

/* A block, measured or not.  Blocks come in the order in which they were added. */
struct tact_store_block {
	size_t size;
	int64_t id;
	const uint8_t *code; /* owned by the iterator until its next call, as all that follows */
	size_t code_size;
	const struct tact_store_source *sources; /* by name */
	size_t n_sources;
	const struct tact_store_category *categories; /* by classifier and arch */
	size_t n_categories;
};

struct tact_store_blocks;

/* Of the filter, which may be NULL, only app counts.  Otherwise as the iterator above. */
int tact_store_blocks_create(struct tact_store_blocks **out, struct tact_store *store,
			     const struct tact_store_filter *filter, struct tact_diag *diag);
int tact_store_blocks_next(struct tact_store_blocks *blocks, struct tact_store_block *block,
			   struct tact_diag *diag);
void tact_store_blocks_destroy(struct tact_store_blocks *blocks); /* NULL is allowed */

/* The code of one block.  1 with *size, 0 if the store has no such block; -TACT_E_LIMIT if
 * `capacity`, for which TACT_BLOCK_MAX_BYTES is always enough, is too small.
 */
int tact_store_get_block(struct tact_store *store, int64_t id, uint8_t *code, size_t capacity,
			 size_t *size, struct tact_diag *diag);

/* Predictions, in the order of their blocks.  Of the filter, which may be NULL, all but machine and
 * classifier count.  The strings are the iterator's until its next call.
 */
struct tact_store_predictions;
int tact_store_predictions_create(struct tact_store_predictions **out, struct tact_store *store,
				  const struct tact_store_filter *filter, struct tact_diag *diag);
int tact_store_predictions_next(struct tact_store_predictions *predictions, int64_t *block,
				const uint8_t **code, size_t *code_size,
				struct tact_store_prediction *prediction, struct tact_diag *diag);
void tact_store_predictions_destroy(struct tact_store_predictions *predictions);

/* ---- several stores ---- */

/* Rows that a merge has added or replaced. */
struct tact_merge {
	size_t size;
	int64_t blocks, sources, categories, measurements, predictions;
};

/* Adds everything that another store knows, in transactions of many rows; a second time changes
 * nothing.  Where both have a row for the same: of two weights the larger one counts; of two
 * measurements one with a number before one without, then that of the newer version of tact, then
 * the smaller spread, then the store's own; of two predictions one with a number, then the store's
 * own; of two categories the store's own.
 * Returns errors of tact_store_open for the other file, -TACT_E_INVAL if it is the same file, if a
 * name stands for different machines in the two, or between tact_store_begin and _end; and those of
 * tact_store_put_measurement.
 */
int tact_store_merge(struct tact_store *store, const char *path, struct tact_merge *out,
		     struct tact_diag *diag);

enum tact_count_kind {
	TACT_COUNT_BLOCKS,	 /* one row: n blocks */
	TACT_COUNT_APPS,	 /* app, n blocks, sum of weights; app "": blocks of none */
	TACT_COUNT_CATEGORIES,	 /* classifier, arch, category */
	TACT_COUNT_MEASUREMENTS, /* machine, arch, mode, init, status */
	TACT_COUNT_PREDICTIONS,	 /* model, version, arch, mode, init, status */
	TACT_N_COUNT_KINDS
};

/* How many rows have all of this; what a kind does not count by is "". */
struct tact_count {
	size_t size;
	const char *app, *classifier, *category, *machine, *model, *version, *arch, *mode, *init,
		*status; /* hold during the call */
	int64_t n;
	double weight; /* NAN: none is known */
};

/* Calls each() for every group, in alphabetical order, until it returns other than 0, which is then
 * returned.
 */
int tact_store_count(struct tact_store *store, enum tact_count_kind kind,
		     int (*each)(void *context, const struct tact_count *count), void *context,
		     struct tact_diag *diag);

#ifdef __cplusplus
}
#endif

#endif /* TACT_STORE_H */
