/* SPDX-License-Identifier: MIT
 *
 * What the files of `tact classify` share.
 */
#ifndef TACT_CLASSIFYING_H
#define TACT_CLASSIFYING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact-program/dataset.h>
#include <tact-program/report.h>
#include <tact/classify.h>

#include "common/output.h"
#include "common/progress.h"
#include "common/source.h"

/* Values of the options. */
struct classifying {
	struct source_options source;
	const char *train, *apply;	       /* paths of models */
	const char *arch_name;		       /* NULL: HSW, or the model's */
	struct tact_classify_options training; /* 0: the library's default */
	unsigned seed;
	const char *output, *store_path, *classifier_name;
	int format;
	bool is_quiet;
	char why[120]; /* room for a message */

	/* made from the above */
	const struct tact_arch *arch;
	struct tact_store *store; /* of --store; owned; NULL: none */
	bool is_store_failed;
	bool is_hex_only; /* all inputs are -x */
	struct progress progress;
};

/* Both return an exit code. */
int classify_train(struct classifying *p, struct output *out);
int classify_apply(struct classifying *p, struct output *out);

/* ---- blocks of all inputs ---- */

struct classify_block {
	struct tact_class_row row; /* without its label; pointers are valid until the next call */
	bool is_again;		   /* the block of the previous call, in another application */
};

struct classify_feed {
	struct classifying *p; /* borrowed */
	size_t next_item;
	const char *path;
	struct tact_corpus *corpus; /* owned; NULL: `source` is open, or nothing */
	struct source source;
	struct source_options one;	   /* of `source`; its items are borrowed */
	char app[TACT_STORE_NAME_MAX + 1]; /* of `source`: the file's name */
	bool is_source_open;

	size_t n_failed; /* lines and inputs; messages were given */
	bool is_unable;	 /* because a program is missing */
};

void feed_init(struct classify_feed *feed, struct classifying *p);
void feed_fini(struct classify_feed *feed);

/* Reads the next block; reports anything that is not a block.  Returns false at the end. */
bool feed_next(struct classify_feed *feed, struct classify_block *block);

/* Reports a bad block. */
void feed_complain(const struct classify_block *block, const char *why);

#endif /* TACT_CLASSIFYING_H */
