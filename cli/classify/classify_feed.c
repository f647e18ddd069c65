/* SPDX-License-Identifier: MIT
 *
 * Blocks with their application and weight, from whatever the inputs are: stores; lists and CSV
 * files, whose columns app and weight count; everything else as the other commands read it.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/csv.h"
#include "classifying.h"
#include "common/cli.h"

void feed_init(struct classify_feed *feed, struct classifying *p)
{
	*feed = (struct classify_feed){.p = p};
}

static void close_item(struct classify_feed *feed)
{
	tact_records_close(feed->records);
	feed->records = NULL;
	tact_store_blocks_destroy(feed->blocks);
	feed->blocks = NULL;
	if (feed->owns_store)
		tact_store_close(feed->store);
	feed->store = NULL;
	feed->owns_store = false;
	if (feed->is_source_open)
		source_fini(&feed->source);
	feed->is_source_open = false;
}

void feed_fini(struct classify_feed *feed)
{
	close_item(feed);
}

static void complain(struct classify_feed *feed, uint64_t line, const char *why, int status)
{
	struct text err = {0};

	cli_place(&err, feed->path, line, why[0] ? why : tact_strerror(status));
	text_to_stderr(&err);
	text_free(&err);
	feed->n_failed++;
}

void feed_complain(const struct classify_block *block, const char *why)
{
	struct text err = {0};

	cli_place(&err, block->path, block->line, why);
	text_to_stderr(&err);
	text_free(&err);
}

/* ---- opening ---- */

/* The file's name without directory and suffix: BHive has a file for each application. */
static void set_stem(struct classify_feed *feed, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	size_t n = dot && dot != name ? (size_t)(dot - name) : strlen(name);

	if (n >= sizeof(feed->stem))
		n = sizeof(feed->stem) - 1;
	memcpy(feed->stem, name, n);
	feed->stem[n] = 0;
	for (char *p = feed->stem; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 127)
			*p = '_';
}

/* A header with a column hex, wherever it stands. */
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

/* A list or a CSV file?  Standard input can be looked at only once: it is one. */
static bool is_list(const struct classify_feed *feed, const char *path)
{
	struct tact_input *input;
	enum tact_input_kind kind;
	struct stat info;

	if (feed->p->source.is_raw)
		return false;
	/* Neither can a pipe. */
	if (!strcmp(path, "-") || (!stat(path, &info) && S_ISFIFO(info.st_mode)))
		return true;
	if (has_hex_column(path))
		return true;
	if (tact_input_open(&input, path, NULL, NULL) < 0)
		return false; /* who opens it again says why */
	kind = tact_input_get_kind(input);
	tact_input_close(input);
	return kind == TACT_INPUT_HEX || kind == TACT_INPUT_CSV;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return a && !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The store that is written to is read through the same handle: a second one would wait for it. */
static int open_store(struct classify_feed *feed, const char *path, struct tact_diag *diag)
{
	int status = 0;

	if (feed->p->store && is_same_file(feed->p->store_path, path)) {
		feed->store = feed->p->store;
	} else {
		status = tact_store_open(&feed->store, path, TACT_STORE_READONLY, diag);
		feed->owns_store = status >= 0;
	}
	if (status >= 0)
		status = tact_store_blocks_create(&feed->blocks, feed->store, NULL, diag);
	feed->row.n_sources = feed->next_source = 0;
	return status;
}

static int open_list(struct classify_feed *feed, const char *path, struct tact_diag *diag)
{
	const struct tact_records_options opt = {
		.size = sizeof(opt), .app = feed->stem, .is_second_weight = true};
	int status = tact_records_open(&feed->records, path, &opt, diag);

	if (status >= 0 && !feed->p->is_quiet)
		cli_message("%s: %s", feed->path, tact_records_description(feed->records));
	return status;
}

static void open_item(struct classify_feed *feed)
{
	struct source_item *item = &feed->p->source.items[feed->next_item++];
	struct tact_diag diag = {0};
	int status = 0;

	feed->path = item->is_hex		? "-x"
		     : strcmp(item->value, "-") ? item->value
						: "standard input";
	set_stem(feed, item->is_hex || !strcmp(item->value, "-") ? "" : item->value);
	if (!item->is_hex && tact_store_is_store(item->value)) {
		status = open_store(feed, item->value, &diag);
	} else if (!item->is_hex && is_list(feed, item->value)) {
		status = open_list(feed, item->value, &diag);
	} else {
		feed->one = feed->p->source;
		feed->one.items = item;
		feed->one.n_items = 1;
		source_init(&feed->source, &feed->one, feed->p->is_quiet);
		feed->is_source_open = true;
	}
	if (status < 0) {
		complain(feed, diag.line, diag.text, status);
		close_item(feed);
	}
}

/* ---- walking: each returns 1 with a block, 0 behind the last one, -1 for what is none ---- */

static int next_record(struct classify_feed *feed, struct classify_block *block)
{
	struct tact_record record = {.size = sizeof(record)};
	struct tact_diag diag = {0};
	int status = tact_records_next(feed->records, &record, &diag);

	if (status < 0) {
		complain(feed, diag.line, diag.text, status);
		return status == -TACT_E_FORMAT ? -1 : 0;
	}
	if (!status)
		return 0;
	block->line = record.line;
	block->code = record.code;
	block->code_size = record.code_size;
	block->app = record.has_source ? record.app : feed->stem;
	block->weight = record.has_source ? record.weight : NAN;
	return 1;
}

/* A block comes once for each of its applications. */
static int next_stored(struct classify_feed *feed, struct classify_block *block)
{
	struct tact_diag diag = {0};
	const struct tact_store_block *row = &feed->row;
	int status;

	block->is_again = feed->next_source > 0 && feed->next_source < row->n_sources;
	if (!block->is_again) {
		feed->row.size = sizeof(feed->row);
		feed->next_source = 0;
		status = tact_store_blocks_next(feed->blocks, &feed->row, &diag);
		if (status < 0)
			complain(feed, 0, diag.text, status);
		if (status <= 0)
			return 0;
	}
	block->code = row->code;
	block->code_size = row->code_size;
	if (feed->next_source < row->n_sources) {
		block->app = row->sources[feed->next_source].app;
		block->weight = row->sources[feed->next_source].weight;
		feed->next_source++;
	}
	return 1;
}

static int next_region(struct classify_feed *feed, struct classify_block *block)
{
	struct source_block region;

	if (!source_next(&feed->source, &region))
		return 0;
	if (region.status < 0) {
		struct text err = {0};

		source_complain(&err, &region, region.diag.text);
		text_to_stderr(&err);
		text_free(&err);
		feed->n_failed++;
		feed->is_unable |= region.status == -TACT_E_NO_TOOL;
		return -1;
	}
	block->line = region.region.line;
	block->code = region.region.code;
	block->code_size = region.region.code_size;
	block->name = region.region.name;
	block->app = feed->stem;
	return 1;
}

bool feed_next(struct classify_feed *feed, struct classify_block *block)
{
	for (;;) {
		int status;

		if (!feed->records && !feed->blocks && !feed->is_source_open) {
			if (feed->next_item == feed->p->source.n_items)
				return false;
			open_item(feed);
			continue;
		}
		*block = (struct classify_block){
			.path = feed->path, .name = "", .app = "", .weight = NAN};
		status = feed->records	? next_record(feed, block)
			 : feed->blocks ? next_stored(feed, block)
					: next_region(feed, block);
		if (status > 0)
			return true;
		if (!status)
			close_item(feed);
	}
}
