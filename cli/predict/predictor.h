/* SPDX-License-Identifier: MIT
 *
 * What `tact predict` and `tact simulate` share: options, workers, formats.
 */
#ifndef TACT_PREDICTOR_H
#define TACT_PREDICTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact-program/drawing.h>
#include <tact/advice.h>
#include <tact/block.h>
#include <tact/confidence.h>
#include <tact/mca.h>
#include <tact/model.h>
#include <tact/predict.h>
#include <tact/remark.h>
#include <tact/simulate.h>
#include <tact/view.h>

#include "common/archlist.h"
#include "common/output.h"
#include "common/source.h"

/* Columns of text where nobody says how many there are.  Narrower pages lose columns of tables. */
enum { PREDICT_PAGE_WIDTH = 100 };
enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
/* A mode that the library does not have: the latency of one pass, beside the throughput. */
enum { PREDICT_ONCE = 1 + TACT_MODE_UNROLL };
enum { PREDICT_MAX_MEMORIES = 64 };
/* EXPLAIN_DEFAULT: bottlenecks in texts, nothing in JSON. */
enum { EXPLAIN_DEFAULT, EXPLAIN_BOTTLENECKS, EXPLAIN_ALL, EXPLAIN_NONE };
/* A failure that the library does not have: no iteration ended within the budget of cycles. */
enum { PREDICT_E_BUDGET = 1000 };

struct predict_command;

/* Values of the options; constant once blocks are read, so threads may share them. */
struct predictor {
	const struct predict_command *command;
	const struct predict_shape *shape;
	const struct predict_crew *crew;
	struct source_options source;
	struct archlist archs;

	int mode, init, format, color, memory;
	/* Of single instructions, which count from 1: values of enum tact_memory. */
	struct {
		unsigned insn;
		int memory;
	} memories[PREDICT_MAX_MEMORIES];
	unsigned n_memories;
	bool is_alias, is_noalias; /* options; neither: as addresses tell */
	bool is_once;		   /* the latency of one pass is asked for, too */
	bool paper, simple_predecoder, simple_decoder, exact_ports, is_all_alignments,
		is_alignment_given;
	unsigned alignment;
	uint32_t only, without; /* bits of bounds; `only` 0: all */

	bool is_info, is_idealized, is_number_only, is_quiet, is_verbose;
	bool has_graph;			 /* in JSON; no option sets it */
	bool has_intervals;		 /* in CSV */
	bool is_advised, is_not_advised; /* by options; neither: on a terminal */
	int explained;			 /* EXPLAIN_... */
	const char *output, *graph, *mca_params_path, *model;
	unsigned threads; /* 0: as many as there are cores */
	char why[160];	  /* room for a message */

	/* of simulate alone */
	unsigned max_cycles, iterations, from; /* 0: the default; `from` counts from 1 */
	bool is_timeline;
	const char *html, *perfetto, *konata;

	/* made from the above */
	struct tact_block_options block_options;
	size_t width;	  /* of text, in columns */
	bool is_terminal; /* names that are too long lose their middle */
	struct tact_predict_options predict_options;
	struct tact_mca_options mca_options;
	struct tact_mca_params *mca_params;  /* owned; NULL: the defaults */
	unsigned n_alignments;		     /* 1 or 64 */
	const char *bold, *red, *plain;	     /* of a terminal; "" without colours */
	bool is_facile, has_own_bottlenecks; /* of the model */
	char *unused;			     /* owned; what --params changes in vain, or NULL */
	bool is_many;			     /* more than one block: each has a heading */
};

/* A result for one architecture and alignment: a prediction, or a failure. */
struct predict_result {
	size_t arch;
	unsigned alignment;
	int status;	 /* 0 or -TACT_E_* */
	const char *why; /* it failed */
	struct tact_prediction x;
};

/* The tools of one thread.  The block caches decoded instructions, so it lives as long as the run.
 */
struct predict_worker {
	const struct predictor *p;
	struct tact_block *block;     /* owned */
	const struct tact_arch *arch; /* that the block is bound to */
	unsigned alignment;
	uint32_t moving;		   /* of struct tact_block_options */
	uint16_t setting;		   /* of it, too */
	bool is_forced;			   /* it is a loop because its region is */
	struct tact_estimator *estimator;  /* owned: the model of predict */
	struct tact_simulator *simulator;  /* owned: that of simulate */
	struct tact_advisor *advisor;	   /* owned, as is trial; NULL until there is advice */
	struct tact_simulator *trial;	   /* of simulate, for changed blocks */
	struct tact_simulation simulation; /* the last one */
	struct tact_confidence confidence; /* of the last one that was shown */
	double facile_cycles;		   /* of the last prediction, whatever the model */
	const struct source_block *source; /* what was loaded last */
	size_t n_blocks, n_failed, n_candidates;
	bool is_loaded;			/* the last block could be */
	bool is_unable;			/* a program is missing */
	struct predict_recall *recall;	/* owned; NULL: rows are not remembered */
	struct text err;		/* messages */
	struct text later;		/* what a format appends to the results of a block */
	struct predict_result *results; /* owned: of the last block, alignment by alignment */
	char why[256];			/* the last failure */

	/* What was assumed; both owned.  That of the result that is made or shown: what the region
	 * says and what the command adds (predict_remark).  And that of all results of the block so
	 * far, for tables.
	 */
	struct tact_remarks *remarks, *all_remarks;
};

/* A format of results: the text before all blocks, a result, the end of a block.  When a result is
 * shown, the block is bound to its architecture and alignment; `begin` and `end` may be NULL.
 */
struct predict_shape {
	void (*begin)(const struct predictor *p, struct text *out);
	void (*result)(struct predict_worker *w, const struct source_block *block,
		       const struct predict_result *r, struct text *out);
	void (*end)(struct predict_worker *w, const struct source_block *block, struct text *out);
};
extern const struct predict_shape predict_shape_text, predict_shape_numbers, predict_shape_csv,
	predict_shape_json;

/* The workers of the threads. */
struct predict_crew {
	int (*init)(struct predict_worker *w, const struct predictor *p);
	void (*fini)(struct predict_worker *w);
	void (*work)(struct predict_worker *w, const struct source_block *block, struct text *out);
};

/* Adds a remark to the result that is being made: a name and a sentence, as tact_remarks_add. */
#define predict_remark(w, ...) predict_remarked(tact_remarks_add((w)->remarks, __VA_ARGS__))
void predict_remarked(int status);

/* What the formats show of remarks: "Remark: TEXT [NAME]", a line each; names, joined. */
void predict_remark_lines(const struct predictor *p, const struct tact_remarks *remarks,
			  struct text *out);
void predict_remark_names(const struct tact_remarks *remarks, const char *separator,
			  struct text *out);

/* "decode_error", "bad_hex", ...: a failure in CSV and JSON; and what there is to say about one of
 * predict_at.
 */
const char *predict_status_name(int status);
const char *predict_failure(int status);

/* Bits of the bounds in use, after `without` and `only`. */
uint32_t predict_bounds(const struct predictor *p);

/* Columns of CSV: titles, a row's values, how many there are.  p has PREDICT_CSV_ROOM bytes. */
struct predict_columns {
	void (*titles)(const struct predictor *p, struct text *out);
	char *(*values)(struct predict_worker *w, const struct tact_prediction *x, char *p);
	unsigned (*count)(const struct predictor *p);
};
extern const struct predict_columns predict_columns;

/* What differs from command to command. */
struct predict_command {
	bool simulates;

	/* Checks the options and reads the files that they name.  Returns CLI_GOOD, or an exit code
	 * with the message given.
	 */
	int (*check)(struct predictor *p);

	/* A report on what was predicted last. */
	void (*report)(struct predict_worker *w, const struct source_block *block,
		       const struct tact_prediction *x, struct text *out);

	const struct predict_columns *csv; /* after the column `coverage` */

	enum tact_view_kind json;

	/* The option, if given, that writes a file about one block, and the function that writes
	 * it.  The block is loaded and predicted.  Returns an exit code.
	 */
	const char *(*file_option)(const struct predictor *p);
	int (*make_files)(struct predict_worker *w, const struct source_block *block,
			  const struct tact_prediction *x);
};
enum { PREDICT_CSV_ROOM = 1024 + TACT_N_BOUNDS * 3 * PUT_CYCLES_ROOM };

/* Rows of options that both commands have, for a group whose target is a struct predictor. */
extern const struct option_spec predict_mode_specs[], predict_output_specs[];

/* The first groups of both commands. */
/* clang-format off */
#define PREDICT_GROUPS                                                                             \
	OPTION_GROUP("Input", source_option_specs, source, source_options_fini),                   \
	OPTION_GROUP("CPU", archlist_option_specs, archs, archlist_fini),                          \
	OPTION_OWN("Model", predict_mode_specs)
/* clang-format on */

/* Runs a command once its options are read, and cleans up; the target is a predictor. */
int predict_main(void *target);
void predict_fini(void *target);

/* `tact predict` for others: with bounds on what it reads (NULL: none), and with the dependence graph
 * as a drawing in JSON.  Returns an exit code.
 */
int predict_within(int argc, char **argv, struct source_limits *limits, bool has_graph);

/* Call once: sets up what follows from the options. */
void predict_prepare(struct predictor *p);

/* Copies of blocks, with their results. */
struct predict_batch {
	struct source_block *rows; /* owned */
	size_t n;
	struct tact_remarks **remarks; /* owned: those of the rows that have any */
	size_t n_remarks;
	struct predict_chunk *chunks; /* owned: what the rows point to */
	struct text out, err;
	bool is_done;
};
void predict_batch_init(struct predict_batch *b);
void predict_batch_fini(struct predict_batch *b);
bool predict_batch_fill(struct predict_batch *b,
			struct source *source); /* false: the input has ended */
void predict_batch_work(struct predict_batch *b, struct predict_worker *w);
void predict_batch_write(struct predict_batch *b, struct output *out);

/* Processes everything after the first batch, which is filled, with n threads.  Adds what they
 * count to total.  Returns 0, or an exit code with the message given.
 */
int predict_batches(const struct predictor *p, struct source *source, struct predict_batch *first,
		    unsigned n, struct output *out, struct predict_worker *total);

/* The data of a view of the last prediction; and a view, after the text.  Returns 0 or a status. */
struct tact_view predict_view(struct predict_worker *w, const struct source_block *block,
			      const struct tact_prediction *x);
int predict_view_add(const struct tact_view *view, enum tact_view_kind kind, struct text *out);
void predict_explain(const struct tact_view *view, const struct predictor *p, struct text *out);
struct tact_listing predict_listing(const struct tact_block *block, uint64_t address);

/* How far to trust what was predicted last: owned by the worker; NULL: it cannot be said.  The same
 * as a line for people, and as columns of CSV.
 */
const struct tact_confidence *predict_confidence(struct predict_worker *w,
						 const struct tact_prediction *x);
void predict_interval(struct predict_worker *w, const struct tact_prediction *x, struct text *out);
extern const char predict_interval_titles[];
char *predict_interval_values(struct predict_worker *w, const struct tact_prediction *x, char *p);

char *predict_csv_names(char *p, uint32_t bounds);

/* Rows of CSV of blocks that come again.  create returns NULL if rows need not be the same again.
 * predict_recall_row appends the row of a block that is remembered, and counts the block; otherwise
 * predict_recall_keep is told once the row is there.
 */
struct predict_recall *predict_recall_create(const struct predictor *p);
void predict_recall_destroy(struct predict_recall *r);
bool predict_recall_row(struct predict_worker *w, const struct source_block *block,
			struct text *out);
void predict_recall_keep(struct predict_worker *w, const struct source_block *block,
			 const struct text *out);

/* Parts of the formats. */
/* Adds the CPU with what is to be said about it: "Zen 2 (ZEN2, not verified)". */
void predict_add_cpu(const struct tact_arch *arch, struct text *out);

void predict_properties(const struct predict_worker *w, const struct source_block *block,
			enum tact_mode mode, struct text *out);
void predict_coverage(struct predict_worker *w, double coverage, const struct tact_listing *listing,
		      struct text *out);
void predict_bound_list(const struct predictor *p, const struct tact_prediction *x,
			const char *title, struct text *out);
/* Adds words, each after a blank, broken at the width of the page and indented from the second line
 * on; `line_start` is where the page's line begins.
 */
void predict_wrapped(const struct predictor *p, const char *words, size_t line_start,
		     struct text *out);
/* The last column of a line that began at `start`; shortened if a terminal is too narrow. */
void predict_instruction(const struct predictor *p, const char *line, size_t start,
			 struct text *out);
void predict_share(struct text *out, double share); /* five columns; blank if it is zero */
size_t predict_count_letters(unsigned notes);
void predict_letters(unsigned notes, size_t width, struct text *out); /* padded; width 0: nothing */
void predict_end_table(const struct predictor *p, unsigned notes, struct text *out);
void predict_bytes(const struct tact_block *block, size_t i, struct text *out);
void predict_names(struct text *out, uint32_t bounds, const char *separator);
void predict_names_on(struct text *out, const struct tact_arch *arch, uint32_t bounds,
		      const char *separator); /* in the words of a core's vendor */
void predict_names_within(struct text *out, const struct tact_arch *arch, uint32_t bounds,
			  size_t width); /* "Ports, Issue +2" */
void predict_headline(const struct predictor *p, struct text *out, double low, double high,
		      uint32_t bottlenecks);
void predict_cost_table(struct predict_worker *w, const struct tact_listing *listing,
			struct text *out);
void predict_info_table(struct predict_worker *w, const struct tact_listing *listing,
			struct text *out);
void predict_arch_table(struct predict_worker *w, struct text *out);
void predict_alignment_table(struct predict_worker *w, struct text *out);
/* Returns how many of the n results, from the first on, are the same. */
unsigned predict_count_same(const struct predict_result *r, unsigned n);
void predict_idealize_table(struct predict_worker *w, const struct tact_prediction *prediction,
			    struct text *out);
/* A row of the table of candidates: a result, for n offsets in a cache line if the table is over
 * these; and the rows of all offsets.
 */
void predict_candidate(struct predict_worker *w, const struct source_block *block,
		       const struct predict_result *r, unsigned n, struct text *out);
void predict_candidate_alignments(struct predict_worker *w, const struct source_block *block,
				  struct text *out);

/* Tell the loaded block the latencies that its text gives, and say which these are.  The first
 * returns 0 or an error of tact_block_set_latency.
 */
int predict_set_settings(struct predict_worker *w);
void predict_remark_settings(struct predict_worker *w);
int predict_set_latencies(struct predict_worker *w);
void predict_remark_latencies(struct predict_worker *w);

/* Remarks instructions whose time depends on what is not known. */
void predict_remark_insns(struct predict_worker *w);

/* Tell the loaded block which memories single loads have; say where loads find their data, if that
 * is not the first level.
 */
void predict_set_memories(struct predict_worker *w);
void predict_remark_memory(struct predict_worker *w);
/* Says that addresses are taken not to change, if what was predicted last depends on it. */
void predict_remark_addresses(struct predict_worker *w, const struct tact_prediction *x);
/* LEVEL or N=LEVEL, separated by commas: for an option. */
const char *predict_read_memory(void *target, const char *value);

/* The latency of one pass of the loaded block (-m once): its figure and its chain, which belongs to
 * the block until its next call; the first line; the chain as text.
 */
unsigned predict_pass(struct predict_worker *w, struct tact_chain *chain);
void predict_pass_headline(struct predict_worker *w, struct text *out);
void predict_pass_chain(struct predict_worker *w, const struct tact_listing *listing,
			struct text *out);

/* Advice on the loaded block, after the text; and for a view: NULL if none is asked for. */
bool predict_is_advised(const struct predict_worker *w);
void predict_advice(struct predict_worker *w, const struct source_block *block, struct text *out);
const struct tact_advisor *predict_advisor(struct predict_worker *w,
					   const struct source_block *block);

/* Draws the loaded block's dependence graph into p->graph.  Returns an exit code. */
int predict_draw(struct predict_worker *w, const struct source_block *block,
		 const struct tact_prediction *x);

/* The commands: predict in cmd_predict.c, simulate in cmd_simulate.c. */
void predict_report(struct predict_worker *w, const struct source_block *block,
		    const struct tact_prediction *x, struct text *out);

#endif /* TACT_PREDICTOR_H */
