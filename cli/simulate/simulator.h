/* SPDX-License-Identifier: MIT
 *
 * What the files of `tact simulate` share: a recorded stretch of a simulation and views of it.
 */
#ifndef TACT_SIMULATOR_H
#define TACT_SIMULATOR_H

#include "predict/predictor.h"

/* A port that is taken, by a uop of the stretch or another. */
struct timeline_busy {
	int64_t cycle;
	uint64_t iteration;
	uint32_t insn;
	uint8_t port;
};

/* Some iterations, uop by uop. */
struct timeline {
	uint64_t first;		   /* iteration */
	uint64_t n_iterations;	   /* that are there as a whole or in part */
	struct tact_sim_uop *uops; /* owned; in order of retirement, which is that of the program */
	size_t n, capacity;
	int64_t begin, end;	    /* first and last cycle of what is in it */
	struct timeline_busy *busy; /* owned; all ports from begin to end, if asked for */
	size_t n_busy, busy_capacity;
};

/* Simulates the loaded block again and keeps `iterations` of it, from the steady state on or from
 * the one that was asked for.  What tact_simulated_insn says is lost.  Returns 0 or a status.
 */
int timeline_record(struct predict_worker *w, unsigned iterations, bool with_ports,
		    struct timeline *t);
void timeline_fini(struct timeline *t);

/* How many iterations if --iterations does not say. */
enum { TIMELINE_ITERATIONS = 3, TIMELINE_FILE_ITERATIONS = 12 };
unsigned timeline_iterations(const struct predictor *p, unsigned fallback);

/* When a uop came into the pipeline: those of the stack engine come from the renamer. */
int64_t timeline_start(const struct tact_sim_uop *u);

/* What is known of a uop, without holes: a uop without a port has no cycles there. */
enum phase { PHASE_IDQ, PHASE_RS, PHASE_EXECUTE, PHASE_RETIRE, N_PHASES };
extern const char *const phase_names[N_PHASES];

/* Cycles [*begin, *end) of a phase; false: it has none. */
bool timeline_phase(const struct tact_sim_uop *u, enum phase phase, int64_t *begin, int64_t *end);

/* Whether an instruction of the block is known that makes what the uop waits for. */
bool timeline_waits_for_insn(const struct tact_sim_uop *u);

/* The uop that makes what a uop waits for; NULL: it is not in the timeline. */
const struct tact_sim_uop *timeline_producer(const struct timeline *t,
					     const struct tact_sim_uop *u);

/* A wait and how long it took; cycles 0: that is not known. */
struct reason {
	enum tact_wait wait;
	int64_t cycles;
	const struct tact_sim_uop *uop;
};
enum { MAX_REASONS = 4 };
unsigned timeline_reasons(const struct tact_sim_uop *u, struct reason reasons[MAX_REASONS]);
void timeline_reason_text(const struct reason *reason, const struct listing *listing,
			  struct text *out); /* "#3 (imul) 12", "port 5 busy 2" */
void timeline_all_reasons(const struct tact_sim_uop *u, const struct listing *listing,
			  struct text *out); /* "waits for #3 (imul) 12, port 5 busy 2" */

/* What a uop does in a cycle, as a letter, and what the letters that occur mean. */
enum { TIMELINE_LETTERS = 128 };
char timeline_letter(const struct tact_sim_uop *u, int64_t cycle);
void timeline_legend(const bool occurs[TIMELINE_LETTERS], struct text *out);

/* The first word of an instruction, behind its prefixes. */
void timeline_mnemonic(const struct listing *listing, size_t insn, struct text *out);

/* What the instructions did: n of them, owned by the caller. */
struct tact_sim_insn *simulate_insns(struct predict_worker *w);

/* Views. */
void simulate_report(struct predict_worker *w, const struct source_block *block,
		     const struct tact_prediction *x, struct text *out);
void simulate_table(struct predict_worker *w, const struct listing *listing, struct text *out);
void simulate_timeline(struct predict_worker *w, const struct listing *listing, struct text *out);
void simulate_csv_titles(const struct predictor *p, struct text *out);
char *simulate_csv_values(struct predict_worker *w, const struct tact_prediction *x, char *p);
unsigned simulate_csv_columns(const struct predictor *p);
void simulate_json_members(struct predict_worker *w, const struct tact_prediction *x,
			   const struct listing *listing, struct text *out);

/* A file's content. */
struct simulate_view {
	struct predict_worker *w;
	const struct source_block *block;
	const struct tact_prediction *x;
	const struct listing *listing;
	const struct tact_sim_insn *insns;
	const struct timeline *timeline;
};
void simulate_html(const struct simulate_view *view, struct text *out);
void simulate_perfetto(const struct simulate_view *view, struct text *out);
void simulate_konata(const struct simulate_view *view, struct text *out);
int simulate_files(struct predict_worker *w, const struct source_block *block);

/* The page, in front of and behind its data. */

#endif /* TACT_SIMULATOR_H */
