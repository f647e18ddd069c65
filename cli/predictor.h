/* SPDX-License-Identifier: MIT
 *
 * What the files of `tact predict` share.
 */
#ifndef TACT_PREDICTOR_H
#define TACT_PREDICTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/block.h>
#include <tact/predict.h>

#include "archlist.h"
#include "output.h"
#include "source.h"

enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* What the options say; nothing changes any more once blocks are read, so threads may share it. */
struct predictor {
	struct source_options source;
	struct archlist archs;

	int mode, init, model, format, color;
	bool paper, simple_predecoder, simple_decoder, exact_ports, is_all_alignments,
		is_alignment_given;
	unsigned alignment;
	uint32_t only, without; /* bits of bounds; `only` 0: all */

	bool is_idealized, is_number_only, is_quiet, is_verbose;
	const char *output, *graph;
	unsigned threads; /* 0: as many as there are cores */
	char why[160];	  /* room for a message */

	/* made from the above */
	struct tact_block_options block_options;
	struct tact_predict_options predict_options;
	unsigned n_alignments;		/* 1 or 64 */
	const char *bold, *red, *plain; /* of a terminal; "" without colours */
	bool is_many;			/* more than one block: each has a heading */
};

/* One thread's tools.  The block remembers decoded instructions, so it lives as long as the run. */
struct predict_worker {
	const struct predictor *p;
	struct tact_block *block;     /* owned */
	const struct tact_arch *arch; /* that the block is bound to */
	unsigned alignment;
	size_t n_blocks, n_failed, n_candidates;
	bool is_unable;	 /* a program is missing */
	struct text err; /* messages */
};

int predict_worker_init(struct predict_worker *w, const struct predictor *p);
void predict_worker_fini(struct predict_worker *w);

/* Loads a block into w->block.  Returns 0, or its failure with the message in w->err. */
int predict_load(struct predict_worker *w, const struct source_block *block);

/* Predicts what is loaded, for the i-th architecture. */
int predict_at(struct predict_worker *w, size_t arch, unsigned alignment,
	       struct tact_prediction *out);

/* The k-th of p->n_alignments: as asked for, else where the block lies in its file. */
unsigned predict_alignment(const struct predictor *p, const struct source_block *block, unsigned k);

/* "decode_error", "bad_hex", ...: a failure in CSV and JSON. */
const char *predict_status_name(int status);

/* Bits of the bounds that count, `without` and `only` taken into account. */
uint32_t predict_bounds(const struct predictor *p);

/* The prediction if bound b were no limit; false if nothing else is left. */
bool predict_idealized(struct predict_worker *w, unsigned b, double *cycles);

/* Reads all blocks and writes all results.  Returns an exit code. */
int predict_run(struct predictor *p, struct output *out);

/* A format: what stands in front of everything, and a block's result. */
void predict_csv_header(const struct predictor *p, struct text *out);
void predict_csv(struct predict_worker *w, const struct source_block *block, struct text *out);
void predict_json(struct predict_worker *w, const struct source_block *block, struct text *out);
void predict_text(struct predict_worker *w, const struct source_block *block, struct text *out);

/* A block's instructions as text, for reports. */
struct listing {
	size_t n;
	char (*line)[112]; /* owned */
	size_t widest;	   /* of the first 48 columns */
};
void listing_init(struct listing *listing, const struct tact_block *block, uint64_t address);
void listing_fini(struct listing *listing);

/* Pieces of the text format. */
void predict_names(struct text *out, uint32_t bounds, const char *separator);
void predict_names_within(struct text *out, uint32_t bounds, size_t width); /* "Ports, Issue +2" */
void predict_headline(const struct predictor *p, struct text *out, double low, double high,
		      uint32_t bottlenecks);
void predict_cost_table(struct predict_worker *w, const struct listing *listing, struct text *out);
void predict_explain(struct predict_worker *w, const struct tact_prediction *prediction,
		     const struct listing *listing, struct text *out);
void predict_arch_table(struct predict_worker *w, const struct source_block *block,
			struct text *out);
void predict_alignment_table(struct predict_worker *w, size_t arch, struct text *out);
void predict_idealize_table(struct predict_worker *w, const struct tact_prediction *prediction,
			    struct text *out);
void predict_candidate(struct predict_worker *w, const struct source_block *block,
		       struct text *out);
const char *predict_mode_name(enum tact_mode mode);

/* Notes on instructions, in the order of their letters. */
struct predict_note {
	unsigned bit;
	char letter; /* 0: not shown in tables */
	const char *name, *help;
};
extern const struct predict_note predict_notes[]; /* bit 0 ends it */

/* Through what a value passes: "rax", "flags", "memory". */
const char *predict_value_name(unsigned kind, unsigned reg);

/* Draws the loaded block's dependence graph into p->graph.  Returns an exit code. */
int predict_draw(struct predict_worker *w, const struct source_block *block);

#endif /* TACT_PREDICTOR_H */
