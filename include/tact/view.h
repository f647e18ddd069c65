/* SPDX-License-Identifier: MIT
 *
 * Views of results, as text that is returned: JSON, explanations, drawings, timelines.  The same
 * whether a program prints it, writes it to a file or serves it.
 */
#ifndef TACT_VIEW_H
#define TACT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/block.h>
#include <tact/input.h>
#include <tact/pipeline.h>
#include <tact/predict.h>
#include <tact/simulate.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- instructions ---- */

/* A block's instructions as text. */
struct tact_listing {
	size_t n;
	char (*line)[112]; /* owned */
	size_t widest;	   /* of the first 48 columns */
};

/* address: of the first byte.  Returns 0 or -TACT_E_NOMEM. */
int tact_listing_init(struct tact_listing *listing, const struct tact_block *block,
		      uint64_t address);
void tact_listing_fini(struct tact_listing *listing);

/* Notes on instructions (TACT_NOTE_*), in the order of their letters; bit 0 ends the list. */
struct tact_view_note {
	unsigned bit;
	char letter; /* 0: not shown in tables */
	const char *name, *help;
};
extern const struct tact_view_note tact_view_notes[];

/* ---- bottlenecks ---- */

/* Beside the bounds, in sets of bottlenecks: the pipeline loses more than any single one says. */
enum { TACT_VIEW_SCHEDULING = TACT_N_BOUNDS };
const char *tact_view_bottleneck_name(unsigned b); /* of a bound, or of TACT_VIEW_SCHEDULING */

/* What FACILE predicts if bound b were no limit.  opt as in tact_predict.  False if nothing else is
 * left.
 */
bool tact_view_idealized(struct tact_block *block, const struct tact_predict_options *opt,
			 unsigned b, double *cycles);

/* ---- views ---- */

enum tact_view_kind {
	TACT_VIEW_PREDICTION,  /* JSON, schema tact.predict/1: a line */
	TACT_VIEW_SIMULATION,  /* JSON, schema tact.simulate/1: a line */
	TACT_VIEW_PAGE,	       /* JSON, schema tact.simulate.page/1: what the page of it shows */
	TACT_VIEW_EXPLANATION, /* a paragraph for each bottleneck: who waits for what */
	TACT_VIEW_GRAPH_SVG,   /* the dependence graph, drawn */
	TACT_VIEW_GRAPH_DOT,   /* the same for Graphviz */
	TACT_VIEW_CHART,       /* the timeline for a terminal: a row a uop, a column a cycle */
	TACT_VIEW_PERFETTO,    /* the timeline in Chrome's trace format */
	TACT_VIEW_KONATA,      /* the timeline as a log of Konata */
	TACT_N_VIEWS
};

/* What is to be shown.  Nothing of it is kept. */
struct tact_view {
	size_t size;
	struct tact_block *block; /* loaded, and bound to `arch` */
	const struct tact_arch *arch;
	unsigned alignment;
	const struct tact_prediction
		*prediction; /* its bottlenecks may have TACT_VIEW_SCHEDULING */

	/* Where the block comes from. */
	const struct tact_region *region; /* NULL: nothing is known */
	const char *file;		  /* "-x": the command line */
	size_t loop;			  /* among those found by searching, from 1; 0: none */

	/* JSON of a block that failed: its status and why; NULL: there is a prediction. */
	const char *status, *error;

	/* Of predictions. */
	const char *model;				 /* whose the cycles are */
	double facile_cycles;				 /* FACILE's, if that is another one */
	const struct tact_predict_options *idealization; /* also: each bound no limit; or NULL */

	/* Of simulations.  Views of timelines simulate the block again, and what
	 * tact_simulated_insn says is lost: TACT_VIEW_SIMULATION and TACT_VIEW_PAGE come first.
	 */
	struct tact_simulator *simulator;
	const struct tact_simulation *simulation;
	unsigned iterations; /* of the timeline; 0: the default of the view */
	uint64_t from;	     /* the first one, from 1; 0: in the steady state */
	bool with_timeline;  /* JSON has it, too */

	/* Of texts for people. */
	bool is_whole;		  /* long lists are not cut */
	bool in_color;		  /* for a terminal that has colours */
	size_t width;		  /* of the chart; 0: 100 */
	const char *bold, *plain; /* what highlights; NULL: nothing */
};

/* Makes a text, NUL-terminated, which the caller frees.  *size may be NULL.  Returns -TACT_E_INVAL
 * if something is missing that the view needs, -TACT_E_NOMEM, and for timelines what tact_simulate
 * returns; -TACT_E_LIMIT also if there is no such iteration.
 */
int tact_view_make(const struct tact_view *view, enum tact_view_kind kind, char **text,
		   size_t *size);

/* ---- uops in cycles ---- */

/* What a uop does in a cycle, as a letter of the chart; ' ' in front of and behind it. */
char tact_view_letter(const struct tact_sim_uop *uop, int64_t cycle);

/* What the letters that occur mean: some lines, which the caller frees.  NULL: out of memory. */
char *tact_view_legend(const bool occurs[256]);

#ifdef __cplusplus
}
#endif

#endif /* TACT_VIEW_H */
