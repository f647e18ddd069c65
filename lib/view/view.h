/* SPDX-License-Identifier: MIT
 *
 * What views share: the instructions as text, pieces of JSON, recorded timelines.
 */
#ifndef TACT_VIEW_PRIVATE_H
#define TACT_VIEW_PRIVATE_H

#include <tact-program/drawing.h>
#include <tact/view.h>

#include "base/base.h"
#include "base/json.h"
#include "base/text.h"

/* Columns of the chart, at least. */
enum { VIEW_MIN_WIDTH = 60 };

/* A view that is being made. */
struct maker {
	const struct tact_view *view;
	const struct tact_listing *listing;
	struct text *out; /* says whether memory ran out */
};

/* ---- pieces of JSON ---- */

const char *view_mode_name(enum tact_mode mode);
void view_json_input(const struct maker *m, const char *schema, struct json *json);
void view_json_result(const struct maker *m, struct json *json); /* arch ... coverage */
void view_json_remarks(const struct tact_remarks *remarks, struct json *json); /* if any */
void view_json_advice(const struct maker *m, struct json *json);
/* arch: whose words are used; NULL: those of formats for programs. */
void view_json_names(struct json *json, const struct tact_arch *arch, uint32_t bottlenecks);
void view_json_bounds(struct json *json, const struct tact_prediction *x);
void view_json_notes(struct json *json, unsigned notes);
void view_json_shares(struct json *json, const char *key, const double *values, size_t n);
void view_json_set(struct json *json, const char *key, unsigned bits); /* [0,5] */

/* Puts the i-th instruction as an object that stays open.  Returns 0, or -1 if there is none. */
int view_json_instruction(const struct maker *m, size_t i, struct tact_insn_cost *cost,
			  struct json *json);

/* ---- groups of the front end ---- */

typedef int explain_groups(struct tact_block *block, struct tact_front_end_group *groups, size_t n,
			   unsigned *iterations);

/* Gets what tact_explain_predecoder or tact_explain_decoder says: n groups, which the caller frees;
 * NULL if there are none.
 */
struct tact_front_end_group *view_groups(const struct maker *m, explain_groups *explain, size_t *n,
					 unsigned *iterations);

/* ---- timelines ---- */

/* A port that is taken, by a uop of the stretch or another one. */
struct timeline_busy {
	int64_t cycle;
	uint64_t iteration;
	uint32_t insn;
	uint8_t port;
};

/* Some iterations, uop by uop. */
struct timeline {
	uint64_t first;		   /* iteration */
	uint64_t n_iterations;	   /* that are there, at least in part */
	struct tact_sim_uop *uops; /* owned; in order of retirement, which is that of the program */
	size_t n, capacity;
	int64_t begin, end;	    /* first and last cycle of its uops */
	struct timeline_busy *busy; /* owned; all ports from begin to end, if asked for */
	size_t n_busy, busy_capacity;
	bool failed; /* out of memory */
};

/* How many iterations if the view does not say. */
enum { TIMELINE_ITERATIONS = 3, TIMELINE_FILE_ITERATIONS = 12 };

/* Simulates the loaded block again and records some iterations, from the steady state or from the
 * given iteration on.  What tact_simulated_insn says is lost.  Returns 0 or a status; the timeline
 * must be freed in any case.
 */
int timeline_record(const struct tact_view *view, unsigned iterations, bool with_ports,
		    struct timeline *t);
void timeline_fini(struct timeline *t);

/* Returns when a uop entered the pipeline: those of the stack engine come from the renamer. */
int64_t timeline_start(const struct tact_sim_uop *u);

/* The phases of a uop, without gaps: a uop without a port has no cycles there. */
enum phase { PHASE_IDQ, PHASE_RS, PHASE_EXECUTE, PHASE_RETIRE, N_PHASES };
extern const char *const timeline_phase_names[N_PHASES];

/* Sets the cycles [*begin, *end) of a phase; returns false if it has none. */
bool timeline_phase(const struct tact_sim_uop *u, enum phase phase, int64_t *begin, int64_t *end);

/* Returns whether the instruction of the block is known that makes what the uop waits for. */
bool timeline_waits_for_insn(const struct tact_sim_uop *u);

/* Returns the uop that makes what a uop waits for; NULL if it is not in the timeline. */
const struct tact_sim_uop *timeline_producer(const struct timeline *t,
					     const struct tact_sim_uop *u);

/* A wait and how long it took; cycles 0: unknown. */
struct reason {
	enum tact_wait wait;
	int64_t cycles;
	const struct tact_sim_uop *uop;
};
enum { MAX_REASONS = 4 };
unsigned timeline_reasons(const struct tact_sim_uop *u, struct reason reasons[MAX_REASONS]);
void timeline_reason_text(const struct reason *reason, const struct tact_arch *arch,
			  const struct tact_listing *listing,
			  struct text *out); /* "#3 (imul) 12", "port 5 busy 2" */
void timeline_all_reasons(const struct tact_sim_uop *u, const struct tact_arch *arch,
			  const struct tact_listing *listing,
			  struct text *out); /* "waits for #3 (imul) 12, port 5 busy 2" */

/* Adds the first word of an instruction, after its prefixes. */
void timeline_mnemonic(const struct tact_listing *listing, size_t insn, struct text *out);

/* Returns what the n instructions did, which the caller frees; NULL: out of memory. */
struct tact_sim_insn *timeline_insns(const struct tact_view *view);

/* ---- the views ---- */

int view_prediction(const struct maker *m);
int view_simulation(const struct maker *m);
int view_page(const struct maker *m);
int view_explanation(const struct maker *m);
int view_graph_svg(const struct maker *m);
int view_graph_dot(const struct maker *m);
int view_chart(const struct maker *m);
int view_perfetto(const struct maker *m);
int view_konata(const struct maker *m);

#endif /* TACT_VIEW_PRIVATE_H */
