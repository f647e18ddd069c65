/* SPDX-License-Identifier: MIT
 *
 * Remembers the rows of blocks that come again: lists that follow a program's execution have the same
 * few blocks over and over.  A block is only noted when it comes for the first time, so that lists
 * without repetitions pay for little more than a hash; its row is kept from the second time on.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "common/cli.h"
#include "predictor.h"

enum {
	NOTED = 1 << 16, /* powers of two */
	KEPT = 1 << 13,
	MAX_ROW = 1024 /* bytes of hex and row together: a worker keeps at most 8 MB */
};

struct kept_row {
	char *text; /* owned; the hex digits, then the row */
	size_t n_digits, size;
};

struct predict_recall {
	uint32_t noted[NOTED]; /* upper halves of hashes */
	struct kept_row rows[KEPT];
	struct kept_row *present;	/* NULL: the row that is made will not be kept */
	size_t begin, messages, failed; /* what there was before it: output, messages, failures */
};

/* Rows of models that are not ours need not be the same again. */
struct predict_recall *predict_recall_create(const struct predictor *p)
{
	struct predict_recall *r;

	if (p->format != FORMAT_CSV || p->is_number_only ||
	    (!p->command->simulates && !p->is_facile && strcmp(p->model, "sim")))
		return NULL;
	r = cli_alloc(sizeof(*r));
	memset(r, 0, sizeof(*r));
	return r;
}

void predict_recall_destroy(struct predict_recall *r)
{
	for (size_t i = 0; r && i < KEPT; i++)
		free(r->rows[i].text);
	free(r);
}

/* Whether the row follows from the hex digits alone. */
static bool is_plain(const struct source_block *block)
{
	const struct tact_region *r = &block->region;

	return block->status >= 0 && !block->is_input && !block->is_elf && !block->candidate &&
	       r->text_size && !r->function[0] && !r->source[0] && !r->n_latencies &&
	       !r->n_settings && !r->remarks && !r->moving && !r->setting && !r->placement &&
	       !r->alignment;
}

bool predict_recall_row(struct predict_worker *w, const struct source_block *block,
			struct text *out)
{
	struct predict_recall *r = w->recall;
	const struct tact_region *region = &block->region;
	struct kept_row *row;
	uint64_t hash;
	uint32_t *noted;

	if (!r)
		return false;
	r->present = NULL;
	if (!is_plain(block) || region->text_size > MAX_ROW)
		return false;
	hash = hash_bytes(region->text, region->text_size);
	noted = &r->noted[hash % NOTED];
	if (*noted != hash >> 32) {
		*noted = (uint32_t)(hash >> 32);
		return false;
	}
	row = &r->rows[hash % KEPT];
	if (row->n_digits == region->text_size && !memcmp(row->text, region->text, row->n_digits)) {
		text_add_bytes(out, row->text + row->n_digits, row->size - row->n_digits);
		w->n_blocks++;
		return true;
	}
	r->present = row;
	r->begin = out->size;
	r->messages = w->err.size;
	r->failed = w->n_failed;
	return false;
}

void predict_recall_keep(struct predict_worker *w, const struct source_block *block,
			 const struct text *out)
{
	struct predict_recall *r = w->recall;
	const size_t digits = block->region.text_size;
	struct kept_row *row = r ? r->present : NULL;

	/* A failure is counted each time, and each message comes again. */
	if (!row || w->err.size != r->messages || w->n_failed != r->failed ||
	    out->size - r->begin > MAX_ROW - digits)
		return;
	r->present = NULL;
	free(row->text);
	row->n_digits = digits;
	row->size = digits + out->size - r->begin;
	row->text = cli_alloc(row->size);
	memcpy(row->text, block->region.text, digits);
	memcpy(row->text + digits, out->data + r->begin, row->size - digits);
}
