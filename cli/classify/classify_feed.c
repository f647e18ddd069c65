/* SPDX-License-Identifier: MIT
 *
 * Blocks of all inputs: stores, lists and CSV files, with their applications and weights;
 * everything else as the other commands read it.
 */
#include <math.h>
#include <string.h>

#include "classifying.h"
#include "common/cli.h"

void feed_init(struct classify_feed *feed, struct classifying *p)
{
	*feed = (struct classify_feed){.p = p};
}

static void close_item(struct classify_feed *feed)
{
	tact_corpus_close(feed->corpus);
	feed->corpus = NULL;
	if (feed->is_source_open)
		source_fini(&feed->source);
	feed->is_source_open = false;
}

void feed_fini(struct classify_feed *feed)
{
	close_item(feed);
}

static void complain_at(const char *path, uint64_t line, const char *why)
{
	struct text err = {0};

	cli_place(&err, path, line, why);
	text_to_stderr(&err);
	text_free(&err);
}

static void complain(struct classify_feed *feed, const struct tact_diag *diag, int status)
{
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	complain_at(feed->path, diag->line, diag->text[0] ? diag->text : tact_strerror(status));
	feed->n_failed += status != -TACT_E_NO_DATA; /* a row without hex digits is none */
}

void feed_complain(const struct classify_block *block, const char *why)
{
	complain_at(block->row.file, block->row.line, why);
}

/* ---- opening ---- */

static void open_corpus(struct classify_feed *feed, const char *path)
{
	struct tact_diag diag = {0};
	int status =
		tact_corpus_open(&feed->corpus, path, feed->p->store, feed->p->store_path, &diag);

	if (status < 0)
		complain(feed, &diag, status);
	else if (tact_corpus_description(feed->corpus) && !feed->p->is_quiet)
		cli_message("%s: %s", feed->path, tact_corpus_description(feed->corpus));
}

static void open_item(struct classify_feed *feed)
{
	struct source_item *item = &feed->p->source.items[feed->next_item++];

	feed->path = item->is_hex		? "-x"
		     : strcmp(item->value, "-") ? item->value
						: "standard input";
	if (!item->is_hex && (feed->p->source.is_raw ? tact_store_is_store(item->value)
						     : tact_corpus_is_one(item->value))) {
		open_corpus(feed, item->value);
		return;
	}
	tact_corpus_app(item->is_hex || !strcmp(item->value, "-") ? "" : item->value, feed->app);
	feed->one = feed->p->source;
	feed->one.items = item;
	feed->one.n_items = 1;
	feed->one.isa = tact_arch_isa(feed->p->arch);
	source_init(&feed->source, &feed->one, feed->p->is_quiet);
	feed->is_source_open = true;
}

/* ---- walking: each returns 1 with a block, 0 at the end, -1 for a bad one ---- */

static int next_in_corpus(struct classify_feed *feed, struct classify_block *block)
{
	struct tact_corpus_block b;
	struct tact_diag diag = {0};
	int status = tact_corpus_next(feed->corpus, &b, &diag);

	if (status < 0)
		complain(feed, &diag, status);
	if (status <= 0)
		return status;
	block->row.line = b.line;
	block->row.code = b.code;
	block->row.code_size = b.code_size;
	block->row.app = b.app;
	block->row.weight = b.weight;
	block->is_again = b.is_again;
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
	block->row.line = region.region.line;
	block->row.code = region.region.code;
	block->row.code_size = region.region.code_size;
	block->row.name = region.region.name;
	block->row.app = feed->app;
	return 1;
}

bool feed_next(struct classify_feed *feed, struct classify_block *block)
{
	for (;;) {
		int status;

		if (!feed->corpus && !feed->is_source_open) {
			if (feed->next_item == feed->p->source.n_items)
				return false;
			open_item(feed);
			continue;
		}
		*block = (struct classify_block){.row = {.size = sizeof(block->row),
							 .file = feed->path,
							 .name = "",
							 .app = "",
							 .weight = NAN}};
		status = feed->corpus ? next_in_corpus(feed, block) : next_region(feed, block);
		if (status > 0)
			return true;
		if (!status)
			close_item(feed);
	}
}
