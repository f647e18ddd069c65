/* SPDX-License-Identifier: MIT
 *
 * Reads blocks with their application and weight from stores, lists and CSV files.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include <tact-program/dataset.h>
#include <tact/input.h>

#include "base/base.h"
#include "base/csv.h"
#include "base/file.h"

struct tact_corpus {
	char stem[TACT_STORE_NAME_MAX + 1]; /* the application, unless a row names one */
	struct tact_records *records;	    /* owned, as are the next ones; NULL: it is a store */
	struct tact_store *own_store;	    /* NULL: the caller's store is read */
	struct tact_store_blocks *blocks;
	struct tact_store_block row; /* of the store */
	size_t next_source;
	bool is_over; /* after an error */
};

/* BHive has a file for each application. */
void tact_corpus_app(const char *path, char name[TACT_STORE_NAME_MAX + 1])
{
	const char *base = file_base_name(path);
	const char *dot = strrchr(base, '.');
	size_t n = dot && dot != base ? (size_t)(dot - base) : strlen(base);

	if (n > TACT_STORE_NAME_MAX)
		n = TACT_STORE_NAME_MAX;
	memcpy(name, base, n);
	name[n] = '\0';
	for (char *p = name; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 127)
			*p = '_';
}

/* ---- what it is ---- */

/* Whether it is a header with a column hex, in any place. */
static bool has_hex_column(const char *path)
{
	const struct csv_field *fields;
	struct csv *csv;
	bool found = false;
	size_t n;

	if (csv_open(&csv, path, NULL) < 0)
		return false;
	if (csv_next(csv, &fields, &n, NULL) > 0)
		for (size_t i = 0; i < n && n > 1; i++)
			found |= !strcasecmp(fields[i].text, "hex");
	csv_close(csv);
	return found;
}

bool tact_corpus_is_one(const char *path)
{
	struct tact_input *input;
	enum tact_input_kind kind;
	struct stat info;

	if (!strcmp(path, "-") || (!stat(path, &info) && S_ISFIFO(info.st_mode)))
		return true;
	if (tact_store_is_store(path) || has_hex_column(path))
		return true;
	if (tact_input_open(&input, path, NULL, NULL) < 0)
		return false; /* opening it again will say why */
	kind = tact_input_get_kind(input);
	tact_input_close(input);
	return kind == TACT_INPUT_HEX || kind == TACT_INPUT_CSV;
}

/* ---- opening ---- */

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return a && !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* A store that is being written is read through the same handle: a second one would wait for it. */
static int open_store(struct tact_corpus *c, const char *path, struct tact_store *store,
		      const char *store_path, struct tact_diag *diag)
{
	if (!store || !is_same_file(store_path, path)) {
		int status = tact_store_open(&c->own_store, path, TACT_STORE_READONLY, diag);

		if (status < 0)
			return status;
		store = c->own_store;
	}
	return tact_store_blocks_create(&c->blocks, store, NULL, diag);
}

static int open_list(struct tact_corpus *c, const char *path, struct tact_diag *diag)
{
	const struct tact_records_options opt = {
		.size = sizeof(opt), .app = c->stem, .is_second_weight = true};

	return tact_records_open(&c->records, path, &opt, diag);
}

int tact_corpus_open(struct tact_corpus **out, const char *path, struct tact_store *store,
		     const char *store_path, struct tact_diag *diag)
{
	struct tact_corpus *c;
	int status;

	*out = NULL;
	status = tact_new(&c, sizeof(*c), path, "a file is needed", diag);
	if (status < 0)
		return status;
	tact_corpus_app(strcmp(path, "-") ? path : "", c->stem);
	status = tact_store_is_store(path) ? open_store(c, path, store, store_path, diag)
					   : open_list(c, path, diag);
	if (status < 0)
		tact_corpus_close(c);
	else
		*out = c;
	return status < 0 ? status : 0;
}

void tact_corpus_close(struct tact_corpus *c)
{
	if (!c)
		return;
	tact_records_close(c->records);
	tact_store_blocks_destroy(c->blocks);
	tact_store_close(c->own_store);
	free(c);
}

const char *tact_corpus_description(const struct tact_corpus *c)
{
	return c->records ? tact_records_description(c->records) : NULL;
}

/* ---- walking ---- */

static int next_record(struct tact_corpus *c, struct tact_corpus_block *block,
		       struct tact_diag *diag)
{
	struct tact_record record = {.size = sizeof(record)};
	int status = tact_records_next(c->records, &record, diag);

	if (status <= 0)
		return status;
	block->line = record.line;
	block->code = record.code;
	block->code_size = record.code_size;
	block->app = record.has_source ? record.app : c->stem;
	block->weight = record.has_source ? record.weight : NAN;
	return 1;
}

/* A block comes once for each of its applications. */
static int next_stored(struct tact_corpus *c, struct tact_corpus_block *block,
		       struct tact_diag *diag)
{
	const struct tact_store_block *row = &c->row;

	block->is_again = c->next_source > 0 && c->next_source < row->n_sources;
	if (!block->is_again) {
		int status;

		c->row.size = sizeof(c->row);
		c->next_source = 0;
		status = tact_store_blocks_next(c->blocks, &c->row, diag);
		if (status <= 0)
			return status;
	}
	block->code = row->code;
	block->code_size = row->code_size;
	if (c->next_source < row->n_sources) {
		block->app = row->sources[c->next_source].app;
		block->weight = row->sources[c->next_source].weight;
		c->next_source++;
	}
	return 1;
}

int tact_corpus_next(struct tact_corpus *c, struct tact_corpus_block *block, struct tact_diag *diag)
{
	int status = 0;

	*block = (struct tact_corpus_block){.size = sizeof(*block), .app = "", .weight = NAN};
	if (!c->is_over)
		status = c->records ? next_record(c, block, diag) : next_stored(c, block, diag);
	/* Only in a list does a bad or an empty row leave the others usable. */
	if (status < 0 && (!c->records || (status != -TACT_E_FORMAT && status != -TACT_E_NO_DATA)))
		c->is_over = true;
	return status;
}
