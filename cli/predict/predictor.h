/* SPDX-License-Identifier: MIT
 *
 * What `tact predict` and `tact simulate` share: options, workers, formats.
 */
#ifndef TACT_PREDICTOR_H
#define TACT_PREDICTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/block.h>
#include <tact/mca.h>
#include <tact/model.h>
#include <tact/predict.h>
#include <tact/simulate.h>

#include "common/archlist.h"
#include "common/output.h"
#include "common/source.h"

enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
enum { MODEL_FACILE, MODEL_SIM, MODEL_MCA };

/* Beside the bounds, in sets of bottlenecks: the pipeline loses more than any single one says. */
enum { PREDICT_SCHEDULING = TACT_N_BOUNDS };

/* A failure beside those of the library: no iteration ended within the budget of cycles. */
enum { PREDICT_E_BUDGET = 1000 };

struct predict_command;

/* What the options say; nothing changes any more once blocks are read, so threads may share it. */
struct predictor {
	const struct predict_command *command;
	struct source_options source;
	struct archlist archs;

	int mode, init, model, format, color;
	bool paper, simple_predecoder, simple_decoder, exact_ports, is_all_alignments,
		is_alignment_given;
	unsigned alignment;
	uint32_t only, without; /* bits of bounds; `only` 0: all */

	bool is_idealized, is_number_only, is_quiet, is_verbose;
	const char *output, *graph, *mca_params_path;
	unsigned threads; /* 0: as many as there are cores */
	char why[160];	  /* room for a message */

	/* of simulate alone */
	unsigned max_cycles, iterations, from; /* 0: the default; `from` counts from 1 */
	bool is_timeline;
	const char *html, *perfetto, *konata;

	/* made from the above */
	struct tact_block_options block_options;
	struct tact_predict_options predict_options;
	struct tact_mca_options mca_options;
	struct tact_mca_params *mca_params; /* owned; NULL: the defaults */
	unsigned n_alignments;		    /* 1 or 64 */
	const char *bold, *red, *plain;	    /* of a terminal; "" without colours */
	bool is_many;			    /* more than one block: each has a heading */
};

/* One thread's tools.  The block remembers decoded instructions, so it lives as long as the run. */
struct predict_worker {
	const struct predictor *p;
	struct tact_block *block;     /* owned */
	const struct tact_arch *arch; /* that the block is bound to */
	unsigned alignment;
	struct tact_simulator *simulator;  /* owned; NULL: FACILE alone predicts */
	struct tact_simulation simulation; /* the last one */
	struct tact_estimator *mca;	   /* owned; NULL: it is not asked for */
	double facile_cycles;		   /* of the last prediction, whatever the model */
	const struct source_block *source; /* what was loaded last */
	size_t n_blocks, n_failed, n_candidates;
	bool is_unable;	 /* a program is missing */
	struct text err; /* messages */
};

int predict_worker_init(struct predict_worker *w, const struct predictor *p);
void predict_worker_fini(struct predict_worker *w);

/* Loads a block into w->block.  Returns 0, or its failure with the message in w->err. */
int predict_load(struct predict_worker *w, const struct source_block *block);

/* Predicts what is loaded, for the i-th architecture.  With a simulator the cycles and bottlenecks
 * are the simulation's, which stands in w->simulation; with MODEL_MCA the cycles are that model's.
 * Everything else is FACILE's.  Returns 0, or a failure with the message in w->err.
 */
int predict_at(struct predict_worker *w, size_t arch, unsigned alignment,
	       struct tact_prediction *out);

/* The k-th of p->n_alignments: as asked for, else where the block lies in its file. */
unsigned predict_alignment(const struct predictor *p, const struct source_block *block, unsigned k);

/* "decode_error", "bad_hex", ...: a failure in CSV and JSON; and what there is to say about one of
 * predict_at.
 */
const char *predict_status_name(int status);
const char *predict_failure(int status);

/* Bits of the bounds that count, `without` and `only` taken into account. */
uint32_t predict_bounds(const struct predictor *p);

/* The prediction if bound b were no limit; false if nothing else is left. */
bool predict_idealized(struct predict_worker *w, unsigned b, double *cycles);

/* A block's instructions as text, for reports. */
struct listing {
	size_t n;
	char (*line)[112]; /* owned */
	size_t widest;	   /* of the first 48 columns */
};
void listing_init(struct listing *listing, const struct tact_block *block, uint64_t address);
void listing_fini(struct listing *listing);

/* What differs from command to command. */
struct predict_command {
	bool simulates;

	/* Looks at the options and reads what they name.  Returns CLI_GOOD, or an exit code with
	 * the message given.
	 */
	int (*check)(struct predictor *p);

	/* A report on what was predicted last. */
	void (*report)(struct predict_worker *w, const struct source_block *block,
		       const struct tact_prediction *x, struct text *out);

	/* CSV, behind the column `coverage`: titles, a row's values, how many there are.  p has
	 * PREDICT_CSV_ROOM bytes.
	 */
	void (*csv_titles)(const struct predictor *p, struct text *out);
	char *(*csv_values)(struct predict_worker *w, const struct tact_prediction *x, char *p);
	unsigned (*csv_columns)(const struct predictor *p);

	/* JSON: the schema's name, and members behind `coverage`. */
	const char *schema;
	void (*json_members)(struct predict_worker *w, const struct tact_prediction *x,
			     const struct listing *listing, struct text *out);

	/* The option, if given, that makes a file about one block; and what makes it.  The block is
	 * loaded.  Returns an exit code.
	 */
	const char *(*file_option)(const struct predictor *p);
	int (*make_files)(struct predict_worker *w, const struct source_block *block);
};
enum { PREDICT_CSV_ROOM = 1024 + TACT_N_BOUNDS * 2 * PUT_CYCLES_ROOM };

/* Rows of options that both commands have, for a group whose target is a struct predictor. */
extern const struct option_spec predict_mode_specs[], predict_output_specs[];

/* Names of MODEL_*, in their order. */
extern const struct option_choice predict_models[];

/* Such rows: a field of a type, a flag, one of several words. */
/* All that a command does once its options are taken, and behind it; the target is a predictor. */
int predict_main(void *target);
void predict_fini(void *target);

/* Reads all blocks and writes all results.  Returns an exit code. */
int predict_run(struct predictor *p, struct output *out);

/* A format: what stands in front of everything, and a block's result. */
void predict_csv_header(const struct predictor *p, struct text *out);
char *predict_csv_names(char *p, uint32_t bounds);
void predict_csv(struct predict_worker *w, const struct source_block *block, struct text *out);
void predict_json(struct predict_worker *w, const struct source_block *block, struct text *out);
void predict_text(struct predict_worker *w, const struct source_block *block, struct text *out);

/* Pieces of the formats. */
const char *predict_bottleneck_name(unsigned b); /* of a bound, or PREDICT_SCHEDULING */
void predict_json_string(struct text *out, const char *key, const char *value); /* ,"key":... */
void predict_json_number(struct text *out, const char *key, double value);
void predict_json_hex(struct text *out, const uint8_t *code, size_t size);
void predict_json_names(struct text *out, uint32_t bottlenecks);
void predict_json_bounds(struct text *out, const struct tact_prediction *x);
void predict_json_notes(struct text *out, unsigned notes);
void predict_json_instruction(struct predict_worker *w, const struct listing *listing, size_t i,
			      const struct tact_insn *insn, struct text *out); /* not closed */
void predict_properties(const struct predict_worker *w, const struct source_block *block,
			enum tact_mode mode, struct text *out);
void predict_coverage(struct predict_worker *w, double coverage, const struct listing *listing,
		      struct text *out);
void predict_bound_list(const struct predictor *p, const struct tact_prediction *x,
			const char *title, struct text *out);
void predict_share(struct text *out, double share); /* five columns; blank if it is nothing */
size_t predict_count_letters(unsigned notes);
void predict_letters(unsigned notes, size_t width, struct text *out); /* padded; width 0: nothing */
void predict_legend(unsigned notes, struct text *out);
void predict_bytes(const struct tact_block *block, size_t i, struct text *out);
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

/* Draws the loaded block's dependence graph into p->graph.  Returns an exit code. */
int predict_draw(struct predict_worker *w, const struct source_block *block);

/* The commands: predict in cmd_predict.c, simulate in cmd_simulate.c. */
void predict_report(struct predict_worker *w, const struct source_block *block,
		    const struct tact_prediction *x, struct text *out);
void predict_csv_titles(const struct predictor *p, struct text *out);
char *predict_csv_values(struct predict_worker *w, const struct tact_prediction *x, char *p);
unsigned predict_csv_columns(const struct predictor *p);
void predict_json_members(struct predict_worker *w, const struct tact_prediction *x,
			  const struct listing *listing, struct text *out);

#endif /* TACT_PREDICTOR_H */
