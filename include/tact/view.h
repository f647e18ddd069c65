/* SPDX-License-Identifier: MIT
 *
 * Views of results, as text that is returned: JSON, explanations, drawings, timelines.  They are
 * the same whether a program prints them, writes them to a file or serves them.
 *
 * What a view shows (block, simulator) belongs to one thread at a time; different threads may make
 * views of different things at once.
 */
#ifndef TACT_VIEW_H
#define TACT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/advice.h>
#include <tact/block.h>
#include <tact/confidence.h>
#include <tact/input.h>
#include <tact/predict.h>
#include <tact/remark.h>
#include <tact/simulate.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- bottlenecks ---- */

/* In sets of bottlenecks, the bit that stands for no bound: the pipeline loses more than any single
 * bound says.  No bound has this number.
 */
enum { TACT_VIEW_SCHEDULING = 31 };

/* Returns the name of a bound or of TACT_VIEW_SCHEDULING, or "unknown". */
const char *tact_view_bottleneck_name(unsigned b);

/* The same in the words of a core's vendor, as tact_bound_name_on has them.  NULL for arch: as
 * above.
 */
const char *tact_view_bottleneck_name_on(const struct tact_arch *arch, unsigned b);

/* Tells what FACILE predicts if bound b were no limit.  opt as in tact_predict; it may be NULL.  Its
 * stop_above is ignored.
 * Returns false, and leaves *cycles alone, if no other bound applies, if an argument is missing or
 * wrong, or if memory ran out.
 */
bool tact_view_idealized(struct tact_block *block, const struct tact_predict_options *opt,
			 unsigned b, double *cycles);

/* ---- views ---- */

/* Kinds of views.  Values are stable; new ones go to the end. */
enum tact_view_kind {
	TACT_VIEW_PREDICTION,  /* JSON, schema tact.predict/1: one line */
	TACT_VIEW_SIMULATION,  /* JSON, schema tact.simulate/1: one line */
	TACT_VIEW_PAGE,	       /* JSON, schema tact.simulate.page/1: the data of its web page */
	TACT_VIEW_EXPLANATION, /* one paragraph per bottleneck: how its figure comes about */
	TACT_VIEW_GRAPH_SVG,   /* the dependence graph as a drawing */
	TACT_VIEW_GRAPH_DOT,   /* the dependence graph for Graphviz */
	TACT_VIEW_CHART,       /* the timeline for a terminal: uops as rows, cycles as columns */
	TACT_VIEW_PERFETTO,    /* the timeline in Chrome's trace format */
	TACT_VIEW_KONATA,      /* the timeline as a log of Konata */
	TACT_N_VIEWS
};

/* What to show.  Nothing of it is kept.  Structs that it points to may be of another size than this
 * library knows, as options may.
 */
struct tact_view {
	size_t size;		  /* sizeof(struct tact_view) */
	struct tact_block *block; /* loaded for `arch` */
	const struct tact_arch *arch;
	unsigned alignment;
	const struct tact_prediction
		*prediction; /* its bottlenecks may have TACT_VIEW_SCHEDULING */

	/* Where the block comes from. */
	const struct tact_region *region; /* NULL: unknown */
	const char *file;		  /* "-x": the command line; NULL: unknown */
	size_t loop;			  /* among those found by searching, from 1; 0: none */

	/* JSON of a block that failed: its status and why; NULL: there is a prediction. */
	const char *status, *error;

	/* For predictions. */
	const char *model;				 /* whose cycles these are; NULL: facile */
	double facile_cycles;				 /* FACILE's, if that is another model */
	const struct tact_predict_options *idealization; /* add each bound as no limit; or NULL */

	bool with_pass; /* JSON: add the latency of one pass, and its chain */

	/* For simulations.  Views of timelines simulate the block again, and what
	 * tact_simulated_insn says is lost: make TACT_VIEW_SIMULATION and TACT_VIEW_PAGE first.
	 */
	struct tact_simulator *simulator;	  /* whose last block was `block` */
	const struct tact_simulation *simulation; /* its result */
	unsigned iterations;			  /* of the timeline; 0: the default of the view */
	uint64_t from;	    /* the first iteration, from 1; 0: one in the steady state */
	bool with_timeline; /* in JSON, too */

	/* For explanations. */
	const struct tact_predict_options *options; /* of the prediction; NULL: all zeros */
	bool explains_all; /* every bound that applies and is not 0, not only the bottlenecks */

	/* For texts that people read. */
	bool is_whole;		  /* do not cut long lists */
	bool in_color;		  /* for a terminal with colours */
	size_t width;		  /* of the chart, in columns; 0: 100 */
	const char *bold, *plain; /* begin and end highlighting; NULL: nothing */

	/* What was assumed, for JSON; NULL: nothing.  The region's own remarks are not added. */
	const struct tact_remarks *remarks;
	/* JSON of predictions and simulations: what it found on this block; NULL: nothing. */
	const struct tact_advisor *advisor;

	/* How far to trust it, for JSON; NULL: it is not said. */
	const struct tact_confidence *confidence;
};
#define TACT_VIEW_INIT TACT_SIZED(struct tact_view)

/* Makes a view.  *text becomes a NUL-terminated text, which the caller frees; *size, if size is not
 * NULL, its length.  On failure *text is NULL.
 * Returns 0, or
 *   -TACT_E_INVAL  an argument is missing, something is missing that the view needs, or there is no
 *                  such kind
 *   -TACT_E_NOMEM  out of memory
 *   -TACT_E_LIMIT  a timeline: there is no such iteration
 */
int tact_view_make(const struct tact_view *view, enum tact_view_kind kind, char **text,
		   size_t *size);

#ifdef __cplusplus
}
#endif

#endif /* TACT_VIEW_H */
