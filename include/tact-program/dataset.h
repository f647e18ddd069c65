/* SPDX-License-Identifier: MIT
 *
 * Datasets of blocks: what CSV files say about them, for a store (tact/store.h).
 */
#ifndef TACT_PROGRAM_DATASET_H
#define TACT_PROGRAM_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/store.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what CSV files say about blocks ---- */

enum tact_unit {
	TACT_UNIT_AUTO,	     /* by the columns' names; without a header, BHive's */
	TACT_UNIT_ITERATION, /* cycles for one iteration */
	TACT_UNIT_HUNDRED    /* for a hundred, as BHive publishes them */
};

/* What holds for rows that do not say it themselves. */
struct tact_records_options {
	size_t size;
	enum tact_unit unit;
	enum tact_mode mode; /* AUTO: loop if there is a column hex_loop, else unroll */
	enum tact_init init;
	const char *origin; /* name of the file: where measurements come from, and, up to its dot,
			       the application of weights; NULL: not known */
	const char *app;    /* NULL: that of the weights, none for other rows */
	const char *classifier; /* of categories; NULL: "import" */
	const char *arch;	/* of predictions and categories; NULL: none */
	const char *model;	/* of predictions; NULL: "facile", where the columns show that */
	const char *version;	/* of predictions; NULL: "" */
	bool is_second_weight;	/* no header: the second column is a weight in any case */
};

/* One row.  Strings and code are owned by the records until the next call. */
struct tact_record {
	size_t size;
	uint64_t line;
	const uint8_t *code;
	size_t code_size;
	bool has_source, has_category, has_measurement, has_prediction, has_machine;
	const char *app;
	double weight; /* NAN: not known */
	const char *category, *classifier, *category_arch;
	struct tact_measurement measurement;
	struct tact_store_import import; /* without its machine */
	struct tact_machine machine;	 /* without its id; only with has_machine */
	struct tact_store_prediction prediction;
};

struct tact_records;

/* Opens a list of hex strings or a CSV file.  opt may be NULL.  A header names the columns (case
 * aside; any order; others are ignored): doc/formats.md lists them.  Without one, the first column
 * is hex and the second a weight, if all of the first ones are below 1, or else cycles. Returns
 * -TACT_E_IO, -TACT_E_NOMEM, -TACT_E_FORMAT if there is no hex; -TACT_E_INVAL for options that the
 * file does not go with.
 */
int tact_records_open(struct tact_records **out, const char *path,
		      const struct tact_records_options *opt, struct tact_diag *diag);
int tact_records_open_memory(struct tact_records **out, const void *data, size_t size,
			     const struct tact_records_options *opt, struct tact_diag *diag);
void tact_records_close(struct tact_records *records); /* NULL is allowed */

/* Next row: 1 with it, 0 at the end; -TACT_E_FORMAT with line and reason for a row that is none:
 * the next call goes on behind it.  Other errors end the file.
 */
int tact_records_next(struct tact_records *records, struct tact_record *record,
		      struct tact_diag *diag);

/* What was found and assumed, for people: "CSV: hex, cycles (for one iteration), app; ignored: x".
 */
const char *tact_records_description(const struct tact_records *records);

/* Whether rows have measurements; predictions; an application; of which machine they are. */
bool tact_records_has_cycles(const struct tact_records *records);
bool tact_records_has_predictions(const struct tact_records *records);
bool tact_records_has_machines(const struct tact_records *records);

/* ---- files into a store ---- */

struct tact_import_options {
	size_t size;
	const struct tact_records_options *records; /* borrowed; NULL: defaults.  Its origin does
						       not matter: it is the file's name */
	const char *machine; /* of rows that name none; NULL: the file's name, up to its dot */

	/* All may be NULL.  The records are open and nothing was read of them; `machine` is that of
	 * rows that name none.  A line that is not taken, and why.
	 */
	void (*on_open)(void *arg, const struct tact_records *records,
			const struct tact_machine *machine);
	void (*on_bad_line)(void *arg, uint64_t line, const char *why);
	void *arg;
};

struct tact_imported {
	size_t size;
	int64_t rows, blocks; /* blocks: new ones */
	int64_t sources, categories, measurements, predictions;
	int64_t bad;	      /* lines that were not taken */
	bool is_opened;	      /* the file was read, not only looked for */
	bool is_store_failed; /* what fails is the store, and not the file */
};

/* Adds a hex list or a CSV file, in transactions of many rows; the same file again changes nothing.
 * Lines that are wrong are left out.  Returns 0, as tact_records_open, or as the store: what was
 * written before is kept, and importing the file again completes it.
 */
int tact_store_import_file(struct tact_store *store, const char *path,
			   const struct tact_import_options *opt, struct tact_imported *out,
			   struct tact_diag *diag);

/* ---- a store into a file ---- */

enum tact_export_kind {
	TACT_EXPORT_ALL,
	TACT_EXPORT_BLOCK,
	TACT_EXPORT_SOURCE,
	TACT_EXPORT_CATEGORY,
	TACT_EXPORT_MEASUREMENT,
	TACT_EXPORT_PREDICTION
};

struct tact_export_options {
	size_t size;
	const struct tact_store_filter *filter; /* borrowed; NULL: everything */
	enum tact_export_kind kind;
	bool is_json; /* an object a line (schema tact.dataset/1), or CSV with a header */
};

/* Writes a record for each thing that a store knows about a block, block by block; the CSV can be
 * imported again.  `write` gets pieces of text; if it returns anything but 0, that is the end.  opt
 * may be NULL.  Returns how many rows could not be read and were left out, -TACT_E_INVAL,
 * -TACT_E_NOMEM, or errors of the store: what was read up to them has been written.
 */
int tact_store_export(struct tact_store *store, const struct tact_export_options *opt,
		      int (*write)(void *arg, const char *data, size_t size), void *arg,
		      struct tact_diag *diag);

/* ---- blocks with the applications that they come from ---- */

struct tact_corpus;

/* Whether a file is a store, a hex list or a CSV file with a column hex; anything else is for
 * tact_input_open.  Standard input and pipes, which can be looked at only once, are.
 */
bool tact_corpus_is_one(const char *path);

/* Opens such a file.  `store` is one that is open already and was opened from `store_path`: if the
 * path leads to the same file, its blocks are read through that handle; both may be NULL.
 * The application of rows that name none is the name of the file without its suffix.
 * Returns as tact_store_open or tact_records_open do.
 */
int tact_corpus_open(struct tact_corpus **out, const char *path, struct tact_store *store,
		     const char *store_path, struct tact_diag *diag);
void tact_corpus_close(struct tact_corpus *corpus); /* NULL is allowed */

/* What was found in a list, for people; NULL for a store. */
const char *tact_corpus_description(const struct tact_corpus *corpus);

struct tact_corpus_block {
	size_t size;
	uint64_t line; /* 0: none */
	const uint8_t *code;
	size_t code_size;
	const char *app; /* "" if none; all pointers hold until the next call */
	double weight;	 /* NAN: not known */
	bool is_again;	 /* of a store: the block of the call before, in another application */
};

/* Next block: 1 with it, 0 behind the last one; -TACT_E_FORMAT with line and reason for a row that
 * is none: the next call goes on behind it.  Other errors end the file.
 */
int tact_corpus_next(struct tact_corpus *corpus, struct tact_corpus_block *block,
		     struct tact_diag *diag);

/* The name of a file without directory and suffix, as a store may hold it. */
void tact_corpus_app(const char *path, char name[TACT_STORE_NAME_MAX + 1]);

#ifdef __cplusplus
}
#endif

#endif /* TACT_PROGRAM_DATASET_H */
