/* SPDX-License-Identifier: MIT
 *
 * Stores of blocks and of what is known about them: where they come from, their categories, what
 * was measured, what models predict.  A store is one SQLite file; doc/formats.md describes its
 * tables.
 *
 * A store and its iterators belong to one thread at a time, and to the process that opened the
 * store: a child process after fork must not use them.  Different stores may be used by different
 * threads at once, even if they are the same file.
 *
 * Everything that is written is checked first.  What SQLite refuses comes back as one of these, in
 * every function that takes a store or an iterator:
 * -TACT_E_IO: the file cannot be read or written, the disk is full, or the store is read only.
 * -TACT_E_LIMIT: another program keeps the store locked.
 * -TACT_E_FORMAT: the file is damaged.
 * -TACT_E_NOMEM: out of memory.
 * They are called errors of the store below.
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

/* ---- opening ---- */

enum tact_store_flag {
	TACT_STORE_CREATE = 1 << 0,  /* makes the file if there is none, or if it is empty */
	TACT_STORE_READONLY = 1 << 1 /* changes nothing; not together with CREATE */
};

struct tact_store;

/* Opens a store; flags are bits of enum tact_store_flag.  A store of an older version is upgraded,
 * unless it is opened read only.  The caller closes *out; it is NULL on failure.
 * -TACT_E_INVAL: out or path is NULL, path is "", or the flags are unknown or contradict.
 * -TACT_E_IO: the file cannot be opened, read or written.
 * -TACT_E_FORMAT: the file is not a store, or it is damaged.
 * -TACT_E_VERSION: the store comes from a newer version of tact; or, read only, from an older one.
 * -TACT_E_LIMIT: another program keeps the store locked.
 * -TACT_E_NOMEM: out of memory.
 */
int tact_store_open(struct tact_store **out, const char *path, unsigned flags,
		    struct tact_diag *diag);

/* Closes a store.  Its iterators must have been destroyed.  NULL is allowed. */
void tact_store_close(struct tact_store *store);

/* When this returns 0, all that was written before is on the disk and survives a loss of power; it
 * survives the end of the process anyway.  tact_store_end and tact_store_merge do this themselves.
 * Of rows that were put one by one, those of more than a second before the last one are there, too.
 * -TACT_E_INVAL: store is NULL.
 * It also fails with errors of the store.
 */
int tact_store_sync(struct tact_store *store, struct tact_diag *diag);

/* Returns whether a file begins as an SQLite database does; false if it cannot be read, or if path
 * is NULL.
 */
bool tact_store_is_store(const char *path);

/* ---- measurements of this machine ---- */

/* Adds the result for a block on this machine; it replaces one with the same block, mode and init.
 * When this returns, the row survives the end of the process, however it ends (unless it is part
 * of a larger transaction, see tact_store_begin).  tact_store_sync makes it survive a loss of power.
 * -TACT_E_INVAL: store, code or m is NULL; the block is empty or longer than TACT_BLOCK_MAX_BYTES;
 *     or a field of the measurement is out of range: an unknown status, rung, mode, init or flag,
 *     mode AUTO, low above high, more rounds that agree than rounds, a reason that is not a text
 *     of one line; or, with status OK, cycles that are not a number above 0, or a spread that is
 *     not a number of at least 0.  diag says which.
 * It also fails with errors of the store.
 */
int tact_store_put_measurement(struct tact_store *store, const uint8_t *code, size_t size,
			       const struct tact_measurement *m, struct tact_diag *diag);

/* Returns 1 if the store has a row for the block on this machine, with or without a number; 0 if it
 * has none.
 * -TACT_E_INVAL: store or code is NULL, size is 0, mode is neither LOOP nor UNROLL, or init is
 *     unknown.
 * It also fails with errors of the store.
 */
int tact_store_has_measurement(struct tact_store *store, const uint8_t *code, size_t size,
			       enum tact_mode mode, enum tact_init init, struct tact_diag *diag);

/* Copies the row for the block on this machine to *out and returns 1; returns 0 if the store has
 * none, or one that no version of tact writes.
 * -TACT_E_INVAL: as above, or out is NULL, or out->size is 0.
 * It also fails with errors of the store.
 */
int tact_store_get_measurement(struct tact_store *store, const uint8_t *code, size_t size,
			       enum tact_mode mode, enum tact_init init,
			       struct tact_measurement *out, struct tact_diag *diag);

/* ---- many rows ---- */

/* Begins to write the rows of tact_store_put_* in transactions of many rows.  Whatever ends the
 * process leaves a good store with all transactions but the last.  Other processes that write wait
 * for the end of each.  Without this, each row is a transaction of its own.
 * -TACT_E_INVAL: store is NULL, or this is a second begin without an end.
 * It also fails with errors of the store.
 */
int tact_store_begin(struct tact_store *store, struct tact_diag *diag);

/* Writes the last transaction, and lets all of them reach the disk.  A put that fails (other than
 * with -TACT_E_INVAL) rolls its transaction back and has the effect of an end; tact_store_close
 * rolls back as well.
 * -TACT_E_INVAL: store is NULL, or there was no begin.
 * It also fails with errors of the store.
 */
int tact_store_end(struct tact_store *store, struct tact_diag *diag);

/* Longest name of an application, category, classifier, model, status, version or origin.  Names
 * have at least one byte and no control characters.
 */
enum { TACT_STORE_NAME_MAX = 63 };

/* Adds a block without any other row.  Returns 1 if the block is new, 0 if the store had it.  *id
 * is what the functions below take; it holds for this store only.  id may be NULL.
 * -TACT_E_INVAL: store or code is NULL, or the block is empty or longer than TACT_BLOCK_MAX_BYTES.
 * It also fails with errors of the store.
 */
int tact_store_put_block(struct tact_store *store, const uint8_t *code, size_t size, int64_t *id,
			 struct tact_diag *diag);

/* Adds a row that says: the block comes from this application, with this weight; NAN: not known.
 * There is one row for each block and application.  A known weight replaces the previous one; it is
 * not added to it.
 * -TACT_E_INVAL: store is NULL, the store has no such block, app is not a name, or the weight is
 *     infinite.
 * It also fails with errors of the store.
 */
int tact_store_put_source(struct tact_store *store, int64_t block, const char *app, double weight,
			  struct tact_diag *diag);

/* Does the same between tact_store_begin and _end, but adds up the weights that a block and an
 * application get since the begin.  A file that has a block several times can thus be imported, and
 * imported again.
 * -TACT_E_INVAL: as above, and outside of begin and end.
 * It also fails with errors of the store.
 */
int tact_store_add_source(struct tact_store *store, int64_t block, const char *app, double weight,
			  struct tact_diag *diag);

/* Adds the category that a classifier gives a block, for an architecture (a name of up to 15 bytes;
 * "" if the classifier needs none).  There is one row for each block, classifier and architecture;
 * a new label replaces the old one.
 * -TACT_E_INVAL: store is NULL, the store has no such block, or one of the others is not a name.
 * It also fails with errors of the store.
 */
int tact_store_put_category(struct tact_store *store, int64_t block, const char *classifier,
			    const char *arch, const char *label, struct tact_diag *diag);

/* The machine that a row was measured on: the CPU, not the host.  Two hosts that agree in
 * everything but arch are the same machine.  A machine whose rows were imported has no vendor: its
 * brand is the name that it was given, and everything else is zero.
 */
struct tact_machine {
	size_t size; /* sizeof(struct tact_machine) */
	int64_t id;  /* in its store */
	char vendor[16];
	char brand[64];
	unsigned family, model, stepping;
	char microcode[24]; /* "" if it could not be read */
	bool is_virtual;
	char arch[16]; /* tact's name for it; "": it is not modelled */
};
#define TACT_MACHINE_INIT TACT_SIZED(struct tact_machine)

/* Finds the machine in the store, or adds it; `id` of the struct does not count.  A machine without
 * an arch gets it from this call.  Sets *id.
 * -TACT_E_INVAL: store, machine or id is NULL; a text is not terminated, or has control characters;
 *     there is neither brand nor vendor; or the store has the machine with another arch.
 * It also fails with errors of the store.
 */
int tact_store_put_machine(struct tact_store *store, const struct tact_machine *machine,
			   int64_t *id, struct tact_diag *diag);

/* Whether a measurement is free of known defects, such as aliasing. */
enum tact_clean { TACT_CLEAN_UNKNOWN, TACT_CLEAN_YES, TACT_CLEAN_NO };

/* What belongs to a measurement that was not made here, apart from its numbers. */
struct tact_store_import {
	size_t size;		  /* sizeof(struct tact_store_import) */
	int64_t machine;	  /* of tact_store_put_machine */
	const char *origin;	  /* where it comes from: the name of a file; NULL: not known */
	const char *version;	  /* of the tact that measured it; NULL: another program */
	const char *flags;	  /* letters, or "-"; NULL: those of the measurement */
	const uint8_t *loop_code; /* the loop that ran, with its branch; NULL: not known */
	size_t loop_size;
	enum tact_clean clean;
	bool has_spread;    /* the measurement's spread is known */
	const char *host;   /* name of the computer, and release of its kernel; NULL or "": not */
	const char *kernel; /* known.  A kernel needs a host. */
};
#define TACT_STORE_IMPORT_INIT TACT_SIZED(struct tact_store_import)

/* Adds a measurement of any machine; it replaces one with the same block, machine, mode and init.
 * -TACT_E_INVAL: as tact_store_put_measurement; import is NULL, or one of its fields is out of
 *     range; or the store has no such block or machine.
 * It also fails with errors of the store.
 */
int tact_store_put_import(struct tact_store *store, int64_t block, const struct tact_measurement *m,
			  const struct tact_store_import *import, struct tact_diag *diag);

struct tact_store_prediction {
	size_t size;		  /* sizeof(struct tact_store_prediction) */
	const char *arch, *model; /* names */
	const char *version;	  /* of the model; "" or NULL: not known */
	enum tact_mode mode;	  /* LOOP or UNROLL */
	enum tact_init init;
	const char *status;	     /* "ok", or why there is no number */
	double cycles_per_iteration; /* only if the status is "ok" */
	double coverage;	     /* 0 to 1, only if the status is "ok"; NAN: not known */
	const char *bottlenecks;     /* names with + between them; "" or NULL: none known */
};
#define TACT_STORE_PREDICTION_INIT TACT_SIZED(struct tact_store_prediction)

/* Adds a prediction; it replaces one with the same block, arch, mode, init, model and version.
 * -TACT_E_INVAL: store or prediction is NULL; the store has no such block; arch, model, version
 *     or status is not a name, or bottlenecks not a line of up to 1023 bytes; mode or init is out
 *     of range; or, with status "ok", the cycles or the coverage are.
 * It also fails with errors of the store.
 */
int tact_store_put_prediction(struct tact_store *store, int64_t block,
			      const struct tact_store_prediction *prediction,
			      struct tact_diag *diag);

/* ---- walking ---- */

/* An application that a block comes from.  This struct never changes. */
struct tact_store_source {
	char app[TACT_STORE_NAME_MAX + 1];
	double weight; /* NAN: not known */
};

/* A category of a block.  This struct never changes. */
struct tact_store_category {
	char classifier[TACT_STORE_NAME_MAX + 1];
	char arch[16];
	char label[TACT_STORE_NAME_MAX + 1];
};

/* Which rows.  All zeros but size: all of them. */
struct tact_store_filter {
	size_t size;		/* sizeof(struct tact_store_filter) */
	const char *machine;	/* its brand; NULL: any */
	const char *arch;	/* of the machine, or of the prediction; NULL: any */
	enum tact_mode mode;	/* AUTO: any */
	bool has_init;		/* only rows with this init; otherwise any */
	enum tact_init init;	/* only if has_init */
	const char *app;	/* blocks of this application; NULL: any */
	const char *classifier; /* whose category; NULL: the first one by name */
	const char *model;	/* predictions; NULL: any */
	const char *version;	/* predictions; NULL: any */
	bool is_by_code;  /* in the order of the code's bytes, instead of that in which blocks were
			    added: slower, but the same whatever the order was */
	const char *host; /* measurements of this host; NULL: any */
};
#define TACT_STORE_FILTER_INIT TACT_SIZED(struct tact_store_filter)

/* A measured block.  The iterator owns everything that is pointed to, until its next call.  The
 * structs that are pointed to say with `size` how much of them there is.
 */
struct tact_store_row {
	size_t size; /* sizeof(struct tact_store_row) */
	const uint8_t *code;
	size_t code_size;
	const struct tact_machine *machine;
	const struct tact_measurement *measurement;
	const char *version; /* of the tact that measured it; "": another program */
	int64_t block;
	const char *origin; /* the name of a file; "": measured into this store */
	const char *flags;  /* letters; may have some that struct tact_measurement does not know */
	const uint8_t *loop_code; /* the loop that ran; NULL: not known */
	size_t loop_size;
	enum tact_clean clean;
	bool has_spread;
	const struct tact_store_source *sources; /* by name */
	size_t n_sources;
	const char *category;	   /* "": none */
	const char *host, *kernel; /* "": not known */
};
#define TACT_STORE_ROW_INIT TACT_SIZED(struct tact_store_row)

struct tact_store_iter;

/* Creates an iterator over the measurements of a store, in the order in which their blocks were
 * added.  filter may be NULL.  The store may be written to meanwhile; rows that are added may or
 * may not come up.  The caller destroys *out before closing the store; it is NULL on failure.
 * -TACT_E_INVAL: out or store is NULL, or the filter has an unknown mode or init.
 * It also fails with errors of the store.
 */
int tact_store_iter_create(struct tact_store_iter **out, struct tact_store *store,
			   const struct tact_store_filter *filter, struct tact_diag *diag);

/* Fills *row and returns 1, or returns 0 after the last row.  Rows that no version of tact writes
 * are skipped and counted; a rung that is not known is AUTO.
 * -TACT_E_INVAL: iter or row is NULL, or row->size is 0.
 * It also fails with errors of the store.
 */
int tact_store_iter_next(struct tact_store_iter *iter, struct tact_store_row *row,
			 struct tact_diag *diag);

/* Returns how many rows were skipped so far because they could not be read; 0 for NULL. */
uint64_t tact_store_iter_skipped(const struct tact_store_iter *iter);

/* Destroys an iterator.  NULL is allowed. */
void tact_store_iter_destroy(struct tact_store_iter *iter);

/* A block, measured or not.  The iterator owns everything that is pointed to, until its next
 * call.
 */
struct tact_store_block {
	size_t size; /* sizeof(struct tact_store_block) */
	int64_t id;
	const uint8_t *code;
	size_t code_size;
	const struct tact_store_source *sources; /* by name */
	size_t n_sources;
	const struct tact_store_category *categories; /* by classifier and arch */
	size_t n_categories;
};
#define TACT_STORE_BLOCK_INIT TACT_SIZED(struct tact_store_block)

struct tact_store_blocks;

/* Creates an iterator over the blocks of a store, in the order in which they were added.  Only the
 * app of the filter counts; filter may be NULL.  Everything else is as for tact_store_iter_create.
 * -TACT_E_INVAL: out or store is NULL, or the filter has an unknown mode or init.
 * It also fails with errors of the store.
 */
int tact_store_blocks_create(struct tact_store_blocks **out, struct tact_store *store,
			     const struct tact_store_filter *filter, struct tact_diag *diag);

/* Fills *block and returns 1, or returns 0 after the last block.  Blocks that no version of tact
 * writes are skipped and counted.
 * -TACT_E_INVAL: blocks or block is NULL, or block->size is 0.
 * It also fails with errors of the store.
 */
int tact_store_blocks_next(struct tact_store_blocks *blocks, struct tact_store_block *block,
			   struct tact_diag *diag);

/* Returns how many blocks were skipped so far because they could not be read; 0 for NULL. */
uint64_t tact_store_blocks_skipped(const struct tact_store_blocks *blocks);

/* Destroys an iterator.  NULL is allowed. */
void tact_store_blocks_destroy(struct tact_store_blocks *blocks);

/* Copies the code of one block to `code`, which has room for `capacity` bytes; TACT_BLOCK_MAX_BYTES
 * is always enough.  Returns 1 with *size set, or 0 if the store has no such block.
 * -TACT_E_INVAL: store, code or size is NULL.
 * -TACT_E_LIMIT: the block is longer than `capacity`; or the store is locked.
 * -TACT_E_FORMAT: the block cannot be read.
 * It also fails with errors of the store.
 */
int tact_store_get_block(struct tact_store *store, int64_t id, uint8_t *code, size_t capacity,
			 size_t *size, struct tact_diag *diag);

struct tact_store_predictions;

/* Creates an iterator over the predictions of a store, in the order of their blocks.  The filter,
 * which may be NULL, counts except for its machine and classifier.  Everything else is as for
 * tact_store_iter_create.
 * -TACT_E_INVAL: out or store is NULL, or the filter has an unknown mode or init.
 * It also fails with errors of the store.
 */
int tact_store_predictions_create(struct tact_store_predictions **out, struct tact_store *store,
				  const struct tact_store_filter *filter, struct tact_diag *diag);

/* Fills *prediction and returns 1, or returns 0 after the last one.  block, code and code_size may
 * be NULL.  The iterator owns the code and the strings, until its next call.  Predictions that no
 * version of tact writes are skipped and counted.
 * -TACT_E_INVAL: predictions or prediction is NULL, or prediction->size is 0.
 * It also fails with errors of the store.
 */
int tact_store_predictions_next(struct tact_store_predictions *predictions, int64_t *block,
				const uint8_t **code, size_t *code_size,
				struct tact_store_prediction *prediction, struct tact_diag *diag);

/* Returns how many predictions were skipped so far because they could not be read; 0 for NULL. */
uint64_t tact_store_predictions_skipped(const struct tact_store_predictions *predictions);

/* Destroys an iterator.  NULL is allowed. */
void tact_store_predictions_destroy(struct tact_store_predictions *predictions);

/* ---- several stores ---- */

/* How many rows a merge has added or replaced. */
struct tact_merge {
	size_t size; /* sizeof(struct tact_merge) */
	int64_t blocks, sources, categories, measurements, predictions;
	int64_t stores; /* that were merged */
};
#define TACT_MERGE_INIT TACT_SIZED(struct tact_merge)

/* Adds everything that another store knows, in transactions of many rows.  Where both have a row for
 * the same thing, these rules apply.  Weights: the larger one.  Measurements: one with a number that
 * two rounds confirm, then one with a number, then the one of the newer version of tact, then the
 * one that more rounds confirm, then the one with the smaller spread, then the one with fewer
 * cycles.  Predictions: one with a number, then the one with the larger coverage, then the one with
 * more cycles.  Categories: the last one by name.  What is still equal is decided by the other
 * columns.  So a second merge changes nothing, and the order and the grouping of merges do not
 * matter.  out may be NULL.
 * -TACT_E_INVAL: store or path is NULL, out->size is 0, both are the same file, a name stands for
 *     different machines in the two, or the call is between tact_store_begin and _end.
 * It also fails with errors of tact_store_open for the other file, and with errors of the store.
 */
int tact_store_merge(struct tact_store *store, const char *path, struct tact_merge *out,
		     struct tact_diag *diag);

struct tact_merge_options {
	size_t size;
	/* Whether a store may come about that has measurements of more cores than each of those
	 * that it is made of.
	 */
	bool mixes_cores;
	const char *const *without_hosts; /* whose measurements are left out */
	size_t n_without_hosts;
	/* Called for each store once it was read: status < 0 if it failed, with the reason in diag;
	 * a store that cannot be read is then left out, and the others are merged.  NULL: the first
	 * failure ends the merge.
	 */
	void (*on_store)(void *context, size_t i, int status, const struct tact_diag *diag);
	void *context;
};
#define TACT_MERGE_OPTIONS_INIT TACT_SIZED(struct tact_merge_options)

/* Does the same with n stores.  Their rows are gathered in SQLite's temporary files, and sorted: that
 * is faster than one after the other, and needs memory that does not depend on their size.
 * -TACT_E_INVAL: as above, n is 0, or the stores have measurements of different cores (see
 *     mixes_cores); then nothing is written.
 * It also fails with errors of the store and, without on_store, of tact_store_open.
 */
int tact_store_merge_all(struct tact_store *store, const char *const *paths, size_t n,
			 const struct tact_merge_options *opt, struct tact_merge *out,
			 struct tact_diag *diag);

/* ---- counting ---- */

/* What is counted, and by what. */
enum tact_count_kind {
	TACT_COUNT_BLOCKS,	 /* one group: all blocks */
	TACT_COUNT_APPS,	 /* by app, with the sum of weights; app "": blocks of none */
	TACT_COUNT_CATEGORIES,	 /* by classifier, arch, category */
	TACT_COUNT_MEASUREMENTS, /* by machine, arch, mode, init, status */
	TACT_COUNT_PREDICTIONS,	 /* by model, version, arch, mode, init, status */
	TACT_COUNT_HOSTS,	 /* measurements of known hosts, by host, kernel, machine,
				    microcode, arch, rung */
	TACT_N_COUNT_KINDS
};

/* A group of rows that agree in all of these texts, which are valid during the call only.  What the
 * kind does not count by is "".
 */
struct tact_count {
	size_t size; /* set by the library: how much of the struct there is */
	const char *app, *classifier, *category, *machine, *model, *version, *arch, *mode, *init,
		*status;
	int64_t n;
	double weight; /* NAN: none is known */
	const char *host, *kernel, *microcode, *rung;
};

/* Calls each() for every group, in alphabetical order, until it returns something other than 0,
 * and returns that; returns 0 after the last group.  each() must not use the store.
 * -TACT_E_INVAL: store or each is NULL, or the kind is unknown.
 * It also fails with errors of the store.
 */
int tact_store_count(struct tact_store *store, enum tact_count_kind kind,
		     int (*each)(void *context, const struct tact_count *count), void *context,
		     struct tact_diag *diag);

#ifdef __cplusplus
}
#endif

#endif /* TACT_STORE_H */
