/* SPDX-License-Identifier: MIT
 *
 * Datasets of blocks: CSV files into stores (tact/store.h), and stores into files.
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
	TACT_UNIT_AUTO,	     /* as the names of the columns say; without a header, BHive's */
	TACT_UNIT_ITERATION, /* cycles for one iteration */
	TACT_UNIT_HUNDRED    /* cycles for a hundred iterations, as BHive publishes them */
};

/* Defaults for rows that do not say. */
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
	const char *model;	/* of predictions; NULL: "facile", if the columns show that */
	const char *version;	/* of predictions; NULL: "" */
	bool is_second_weight;	/* without a header, the second column is always a weight */
};

/* One row.  The records own strings and code, until their next call. */
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

/* Opens a list of hex strings or a CSV file.  opt may be NULL.  A header names the columns, in any
 * case and order; doc/formats.md lists them, and others are ignored.  Without a header, the first
 * column is hex, and the second one a weight if its first values are below 1, otherwise cycles.
 * Returns -TACT_E_IO, -TACT_E_NOMEM, -TACT_E_FORMAT if there is no hex; -TACT_E_INVAL if the
 * options do not fit the file.
 */
int tact_records_open(struct tact_records **out, const char *path,
		      const struct tact_records_options *opt, struct tact_diag *diag);
int tact_records_open_memory(struct tact_records **out, const void *data, size_t size,
			     const struct tact_records_options *opt, struct tact_diag *diag);
void tact_records_close(struct tact_records *records); /* NULL is allowed */

/* Reads the next row.  Returns 1, 0 at the end, -TACT_E_FORMAT for a bad row or -TACT_E_NO_DATA for
 * one without hex digits, with its line and the reason; the next call goes on with the next row.
 * Other errors end the file.
 */
int tact_records_next(struct tact_records *records, struct tact_record *record,
		      struct tact_diag *diag);

/* Returns what was found and assumed, for people: "CSV: hex, cycles (for one iteration), app;
 * ignored: x".
 */
const char *tact_records_description(const struct tact_records *records);

/* Return whether rows have measurements, predictions, an application, a machine. */
bool tact_records_has_cycles(const struct tact_records *records);
bool tact_records_has_predictions(const struct tact_records *records);
bool tact_records_has_machines(const struct tact_records *records);

/* ---- files into a store ---- */

struct tact_import_options {
	size_t size;
	const struct tact_records_options *records; /* borrowed; NULL: defaults.  Its origin does
						       not matter: it is the file's name */
	const char
		*machine; /* of rows that do not name one; NULL: the file's name, up to its dot */

	/* All may be NULL.  on_open: the records are open, but nothing was read yet; `machine` is
	 * that of rows that do not name one.  on_bad_line: a line, bad or empty, is left out, and why.
	 * on_row: so many rows are imported.
	 */
	void (*on_open)(void *arg, const struct tact_records *records,
			const struct tact_machine *machine);
	void (*on_bad_line)(void *arg, uint64_t line, const char *why);
	void (*on_row)(void *arg, int64_t rows);
	void *arg;
};

struct tact_imported {
	size_t size;
	int64_t rows, blocks; /* blocks: only new ones */
	int64_t sources, categories, measurements, predictions;
	int64_t bad;	      /* lines that were left out */
	int64_t empty;	      /* rows without hex digits, which were left out */
	bool is_opened;	      /* the file could be opened */
	bool is_store_failed; /* the store failed, not the file */
};

/* Imports a hex list or a CSV file, in transactions of many rows; importing the same file again
 * changes nothing.  Bad lines are left out.  Returns 0, errors of tact_records_open, or errors of
 * the store.  What was written before an error is kept, and importing the file again completes it.
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
	bool is_json; /* one object per line (schema tact.dataset/1); otherwise CSV with a header */
};

/* Writes a record for each thing that a store knows about a block, block by block; the CSV can be
 * imported again.  `write` gets the text in parts; if it returns anything but 0, the export ends.
 * opt may be NULL.  Returns how many rows could not be read and were left out, -TACT_E_INVAL,
 * -TACT_E_NOMEM, or errors of the store: what was read up to them has been written.
 */
int tact_store_export(struct tact_store *store, const struct tact_export_options *opt,
		      int (*write)(void *arg, const char *data, size_t size), void *arg,
		      struct tact_diag *diag);

/* ---- blocks with the applications that they come from ---- */

struct tact_corpus;

/* Returns whether a file is a store, a hex list or a CSV file with a column hex; anything else is
 * for tact_input_open.  Standard input and pipes, which can be read only once, count as such a
 * file.
 */
bool tact_corpus_is_one(const char *path);

/* Opens such a file.  `store` is a store that is already open, from `store_path`; if `path` is the
 * same file, blocks are read through that handle.  Both may be NULL.  Rows that do not name an
 * application get the name of the file without its suffix.
 * Returns errors of tact_store_open or tact_records_open.
 */
int tact_corpus_open(struct tact_corpus **out, const char *path, struct tact_store *store,
		     const char *store_path, struct tact_diag *diag);
void tact_corpus_close(struct tact_corpus *corpus); /* NULL is allowed */

/* Returns what was found in a list, for people; NULL for a store. */
const char *tact_corpus_description(const struct tact_corpus *corpus);

struct tact_corpus_block {
	size_t size;
	uint64_t line; /* 0: none */
	const uint8_t *code;
	size_t code_size;
	const char *app; /* "" if there is none; all pointers are valid until the next call */
	double weight;	 /* NAN: not known */
	bool is_again; /* of a store: the same block as in the last call, in another application */
};

/* Reads the next block.  Returns 1, 0 after the last one, -TACT_E_FORMAT for a bad row or
 * -TACT_E_NO_DATA for one without hex digits, with its line and the reason; the next call goes on
 * with the next row.  Other errors end the file.
 */
int tact_corpus_next(struct tact_corpus *corpus, struct tact_corpus_block *block,
		     struct tact_diag *diag);

/* Writes the name of a file without directory and suffix, fit for a store. */
void tact_corpus_app(const char *path, char name[TACT_STORE_NAME_MAX + 1]);

#ifdef __cplusplus
}
#endif

#endif /* TACT_PROGRAM_DATASET_H */
