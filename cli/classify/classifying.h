/* SPDX-License-Identifier: MIT
 *
 * What the files of `tact classify` share.
 */
#ifndef TACT_CLASSIFYING_H
#define TACT_CLASSIFYING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/classify.h>
#include <tact/dataset.h>

#include "common/output.h"
#include "common/source.h"

/* What the options say. */
struct classifying {
	struct source_options source;
	const char *train, *apply; /* paths of models */
	const char *arch_name;	   /* NULL: HSW, or the model's */
	unsigned topics, seed, starts, jobs;
	double alpha, beta; /* 0: the library's default */
	const char *output, *store_path, *classifier_name;
	int format;
	bool is_quiet;
	char why[120]; /* room for a message */

	/* made from the above */
	const struct tact_arch *arch;
	struct tact_store *store; /* of --store; owned; NULL: none */
	bool is_store_failed;
	bool is_hex_only; /* all inputs are -x */
};

/* Both return an exit code. */
int classify_train(struct classifying *p, struct output *out);
int classify_apply(struct classifying *p, struct output *out);

/* ---- blocks of all inputs ---- */

struct classify_block {
	const char *path; /* for messages; "-x" for hex of the command line */
	uint64_t line;	  /* 0: none */
	const uint8_t *code;
	size_t code_size;
	const char *name; /* "" if none */
	const char *app;  /* "" if none; all pointers hold until the next call */
	double weight;	  /* NAN: not known */
	bool is_again;	  /* the block of the call before, in another application */
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

/* Next block; complains about what is none.  Returns false behind the last one. */
bool feed_next(struct classify_feed *feed, struct classify_block *block);

/* Complains about a block. */
void feed_complain(const struct classify_block *block, const char *why);

/* ---- formats ---- */

struct classify_result {
	const struct classify_block *block;
	const char *status;	 /* "ok", "no_uops", "decode_error" */
	struct tact_label label; /* if the status is "ok" */
	double coverage;
};

void classify_header(const struct classifying *p, const struct tact_classifier *classifier,
		     struct text *out);
void classify_row(const struct classifying *p, const struct tact_classifier *classifier,
		  const struct classify_result *result, struct text *out);

/* One block for people: its category, and the topic of each port combination. */
void classify_explain(const struct tact_classifier *classifier, const struct tact_bags *bags,
		      uint32_t bag, const struct classify_result *result, struct text *out);

/* Topics, shares by application, perplexity. */
void classify_summary(const struct classifying *p, const struct tact_classifier *classifier,
		      const struct tact_shares *shares, struct text *out);

#endif /* TACT_CLASSIFYING_H */
