/* SPDX-License-Identifier: MIT
 *
 * Instruction mixes of real runs: how often each basic block ran, from samples of the PMU, and what
 * its instructions are.
 */
#ifndef TACT_MIX_H
#define TACT_MIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/arch.h>
#include <tact/predict.h>
#include <tact/status.h>
#include <tact/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the number of executions of a block was found. */
enum tact_mix_method {
	TACT_MIX_HYBRID, /* by the rule: one of the next two for each block */
	TACT_MIX_EBS,	 /* samples in the block, divided by its length */
	TACT_MIX_LBR,	 /* streams between taken branches */
	TACT_MIX_EXACT,	 /* counted, not sampled */
	TACT_N_MIX_METHODS
};
const char *tact_mix_method_name(enum tact_mix_method method); /* "hybrid", "ebs", "lbr", "exact" */

/* What the machine gave, best first.  Values are stable: new ones go to the end. */
enum tact_mix_rung {
	TACT_MIX_RUNG_EXACT,	    /* every execution was counted */
	TACT_MIX_RUNG_LBR,	    /* instructions and taken branches, both with branch stacks */
	TACT_MIX_RUNG_STACKS,	    /* branch stacks, taken by one event of another kind */
	TACT_MIX_RUNG_AMD,	    /* AMD's branch records */
	TACT_MIX_RUNG_PRECISE,	    /* instructions, precise, no branch stacks */
	TACT_MIX_RUNG_INSTRUCTIONS, /* instructions, with skid */
	TACT_MIX_RUNG_CYCLES,	    /* time in cycles: not executions */
	TACT_MIX_RUNG_CLOCK,	    /* time by a clock: not executions */
	TACT_MIX_RUNG_NONE,
	TACT_N_MIX_RUNGS
};
const char *tact_mix_rung_name(enum tact_mix_rung rung);  /* "lbr", "clock", ... */
const char *tact_mix_rung_error(enum tact_mix_rung rung); /* the error to expect, for people */

/* ---- a rule: which of two estimates a block gets ---- */

struct tact_mix_rule;

/* The paper's: up to 18 instructions LBR, else EBS.  Returns -TACT_E_NOMEM. */
int tact_mix_rule_create(struct tact_mix_rule **out, struct tact_diag *diag);
/* From a file of tact_mix_rule_save.  Returns -TACT_E_IO, -TACT_E_FORMAT, -TACT_E_NOMEM. */
int tact_mix_rule_load(struct tact_mix_rule **out, const char *path, struct tact_diag *diag);
int tact_mix_rule_load_memory(struct tact_mix_rule **out, const char *text, size_t size,
			      struct tact_diag *diag);
int tact_mix_rule_save(const struct tact_mix_rule *rule, const char *path, struct tact_diag *diag);
void tact_mix_rule_destroy(struct tact_mix_rule *rule); /* NULL is allowed */
/* The tree as text, indented, NUL-terminated.  Returns its length, or what it would need. */
size_t tact_mix_rule_print(const struct tact_mix_rule *rule, char *text, size_t size);

/* ---- a profile ---- */

struct tact_mix;

struct tact_mix_options {
	size_t size;
	enum tact_mix_method method;
	const struct tact_mix_rule *rule; /* borrowed for the call; NULL: the paper's */
	const char *root;	  /* files are looked for below this directory first; NULL: none */
	const char *const *files; /* n_files paths that stand for recorded ones of the same name or
				     build-id; or RECORDED=PATH */
	size_t n_files;
};

/* Reads a recording of perf or of tact, or a file of exact counts; "-" is standard input.  opt may
 * be NULL. Returns -TACT_E_IO, -TACT_E_FORMAT, -TACT_E_VERSION, -TACT_E_NOMEM, -TACT_E_INVAL;
 * -TACT_E_NO_DATA if it has no samples.
 */
int tact_mix_open(struct tact_mix **out, const char *path, const struct tact_mix_options *opt,
		  struct tact_diag *diag);
void tact_mix_close(struct tact_mix *mix); /* NULL is allowed */

struct tact_mix_summary {
	size_t size;
	enum tact_mix_rung rung;
	enum tact_mix_method method; /* hybrid only if there are both */
	uint64_t samples, ebs_samples, lbr_samples, branches;
	uint64_t lost, throttled, unknown_records, bad_records;
	uint64_t outside_samples; /* of the instruction pointer: no known code there */
	uint64_t streams, outside_streams,
		impossible_streams; /* and streams that no control flow allows */
	double newest_impossible,
		other_impossible; /* share of impossible pairs, of the newest and of the others */
	bool newest_dropped;	  /* the newest pair of each stack was left out for that */
	size_t blocks, biased_blocks, modules, threads, missing_modules;
	size_t blocks_by_lbr, blocks_by_ebs; /* as the rule chose */
	double instructions;		     /* executed, as estimated */
	double instructions_by_lbr; /* share of them from blocks that the rule gave to LBR */
	bool is_relative;  /* only shares mean something: no event says how much it counts */
	double flow_error; /* sum of |in - out| over sum of in, blocks of LBR; < 0: unknown */
	uint64_t flow_blocks,
		flow_outliers; /* blocks that were checked; beyond four standard errors */
	uint64_t bytes;	       /* read */
	const char *command;   /* as recorded; "" if not; owned by the mix */
	const char *ebs_event, *lbr_event; /* names; "" if there is none */
	uint64_t ebs_period, lbr_period;   /* 0: not fixed */
};
int tact_mix_get_summary(const struct tact_mix *mix, struct tact_mix_summary *out);

/* What is not there: modules whose code could not be read, number i; returns 0, or 1 behind the
 * last. */
struct tact_mix_missing {
	size_t size;
	const char *path, *why; /* owned by the mix */
	uint64_t samples;	/* of it, and ends of streams */
};
int tact_mix_get_missing(const struct tact_mix *mix, size_t i, struct tact_mix_missing *out);

/* A block that ran.  Pointers are owned by the mix. */
struct tact_mix_block {
	size_t size;
	const char *module, *function;
	uint64_t address; /* in its file */
	const uint8_t *code;
	size_t code_size;
	unsigned length;	  /* instructions */
	double executions, error; /* error: relative, one standard deviation; < 0: unknown */
	double ebs, lbr;	  /* the two estimates; < 0: there is none */
	uint64_t ebs_samples, lbr_streams;
	double bias;		     /* share of its branch's records in the oldest entry */
	enum tact_mix_method method; /* the one that was chosen */
	bool is_biased, is_loop;     /* loop: it can branch to its own start */
	uint64_t next,
		target; /* where it goes on, and where its branch leads to; 0: nowhere known */
};
size_t tact_mix_block_count(const struct tact_mix *mix);
int tact_mix_get_block(const struct tact_mix *mix, size_t i, struct tact_mix_block *out);

/* ---- instructions by their properties ---- */

enum tact_mix_key {
	TACT_MIX_BY_THREAD,
	TACT_MIX_BY_MODULE,
	TACT_MIX_BY_FUNCTION,
	TACT_MIX_BY_BLOCK,
	TACT_MIX_BY_LINE,
	TACT_MIX_BY_MNEMONIC,
	TACT_MIX_BY_FORM,
	TACT_MIX_BY_EXTENSION,
	TACT_MIX_BY_CATEGORY,
	TACT_MIX_BY_PACKING,
	TACT_MIX_BY_WIDTH,
	TACT_MIX_BY_MEMORY,
	TACT_MIX_BY_TAXONOMY,
	TACT_MIX_BY_METHOD,
	TACT_N_MIX_KEYS
};
const char *tact_mix_key_name(enum tact_mix_key key); /* "thread", "module", ... */

enum { TACT_MIX_MAX_KEYS = 6 };

/* Groups of instructions that a user makes: lines of "GROUP: PATTERN...". */
struct tact_mix_taxonomy;
int tact_mix_taxonomy_load(struct tact_mix_taxonomy **out, const char *path,
			   struct tact_diag *diag);
int tact_mix_taxonomy_load_memory(struct tact_mix_taxonomy **out, const char *text, size_t size,
				  struct tact_diag *diag);
void tact_mix_taxonomy_destroy(struct tact_mix_taxonomy *taxonomy); /* NULL is allowed */

struct tact_mix_filter {
	enum tact_mix_key key;
	const char *pattern; /* * and ? as in the shell; letters of either case are the same;
				borrowed */
	bool is_negated;
};

struct tact_mix_pivot_options {
	size_t size;
	enum tact_mix_key keys[TACT_MIX_MAX_KEYS];
	size_t n_keys; /* 0: mnemonic */
	const struct tact_mix_filter *filters;
	size_t n_filters;
	const struct tact_mix_taxonomy *taxonomy; /* needed for TACT_MIX_BY_TAXONOMY; borrowed */
};

struct tact_mix_pivot;

/* Returns -TACT_E_INVAL, -TACT_E_NOMEM.  Rows come by executions, most first. */
int tact_mix_pivot_create(struct tact_mix_pivot **out, struct tact_mix *mix,
			  const struct tact_mix_pivot_options *opt, struct tact_diag *diag);
void tact_mix_pivot_destroy(struct tact_mix_pivot *pivot); /* NULL is allowed */

struct tact_mix_row {
	size_t size;
	const char *key[TACT_MIX_MAX_KEYS]; /* owned by the pivot */
	double executions;		    /* of instructions */
	double share;			    /* of all that passed the filters */
	double error;			    /* relative, one standard deviation; < 0: unknown */
};
size_t tact_mix_pivot_rows(const struct tact_mix_pivot *pivot);
/* What they are by; returns how many keys there are. */
size_t tact_mix_pivot_keys(const struct tact_mix_pivot *pivot,
			   enum tact_mix_key keys[TACT_MIX_MAX_KEYS]);
int tact_mix_pivot_get_row(const struct tact_mix_pivot *pivot, size_t i, struct tact_mix_row *out);

/* Of what passed the filters. */
struct tact_mix_figures {
	size_t size;
	double instructions;
	double vectorisation; /* share of packed ones among scalar and packed */
	double flops_per_instruction;
	double branch_density; /* branches, calls and returns an instruction */
	double load_density, store_density;
	double instructions_per_block;
};
int tact_mix_pivot_get_figures(const struct tact_mix_pivot *pivot, struct tact_mix_figures *out);

/* Average weighted error of two mixes (HBBP paper, section VI): the sum over all keys of |reference
 * - measured|, divided by the sum of the reference.  Both pivots need the same keys.  is_scaled:
 * the measured one is brought to the reference's total first.
 */
int tact_mix_compare(const struct tact_mix_pivot *reference, const struct tact_mix_pivot *measured,
		     bool is_scaled, double *error);

/* ---- two tables side by side ---- */

struct tact_mix_diff; /* refers to both pivots, which have to stay */

struct tact_mix_diff_row {
	size_t size;
	const char *key[TACT_MIX_MAX_KEYS]; /* owned by the pivots */
	double executions[2];		    /* 0: only in the other */
};

struct tact_mix_diff_totals {
	size_t size;
	double executions[2]; /* as they are, also of a second one that was scaled */
	double error;	      /* tact_mix_compare of the two */
	bool is_scaled;	      /* the second one was */
};

/* Rows of either pivot, those whose executions changed most first.  is_scaled: the second one is
 * brought to the first one's total.  Returns -TACT_E_INVAL if the keys are not the same, or if
 * nothing was executed in the first; -TACT_E_NOMEM.
 */
int tact_mix_diff_create(struct tact_mix_diff **out, const struct tact_mix_pivot *first,
			 const struct tact_mix_pivot *second, bool is_scaled,
			 struct tact_diag *diag);
void tact_mix_diff_destroy(struct tact_mix_diff *diff); /* NULL is allowed */
size_t tact_mix_diff_rows(const struct tact_mix_diff *diff);
size_t tact_mix_diff_keys(const struct tact_mix_diff *diff,
			  enum tact_mix_key keys[TACT_MIX_MAX_KEYS]);
int tact_mix_diff_get_row(const struct tact_mix_diff *diff, size_t i,
			  struct tact_mix_diff_row *out);
int tact_mix_diff_get_totals(const struct tact_mix_diff *diff, struct tact_mix_diff_totals *out);

/* ---- where the cycles go ---- */

struct tact_mix_costs; /* refers to the mix, which has to stay */

/* A block, or a loop of several blocks on its usual way round, which counts as one. */
struct tact_mix_cost {
	size_t size;
	struct tact_mix_block block; /* of a loop: its first one, with the instructions of all and
					the mean of their executions */
	double cycles;		     /* of one execution */
	double total;		     /* of all */
	double gain;		     /* cycles of all that its bottlenecks cost */
	uint32_t bottlenecks;	     /* bits of enum tact_bound */
	double coverage;
	bool is_loop;
	unsigned n_blocks;
};

struct tact_mix_costs_totals {
	size_t size;
	double cycles;
	size_t failed; /* blocks without a prediction */
	/* A block with several bottlenecks counts for the first. */
	double by_bound[TACT_N_BOUNDS], gain_by_bound[TACT_N_BOUNDS];
};

/* Executions times predicted cycles, without cache misses and mispredictions, by a model of
 * tact/model.h (NULL: facile).  Rows come by cycles, most first.  Returns -TACT_E_INVAL,
 * -TACT_E_NOMEM.
 */
int tact_mix_costs_create(struct tact_mix_costs **out, const struct tact_mix *mix,
			  const struct tact_arch *arch, const char *model, struct tact_diag *diag);
void tact_mix_costs_destroy(struct tact_mix_costs *costs); /* NULL is allowed */
size_t tact_mix_costs_rows(const struct tact_mix_costs *costs);
int tact_mix_costs_get_row(const struct tact_mix_costs *costs, size_t i, struct tact_mix_cost *out);
int tact_mix_costs_get_totals(const struct tact_mix_costs *costs,
			      struct tact_mix_costs_totals *out);

/* ---- learning a rule ---- */

struct tact_mix_trainer;
struct tact_mix_train_options {
	size_t size;
	unsigned max_leaves; /* 0: 4 */
	double min_weight;   /* of a leaf, as share of all; 0: 0.05 */
};
int tact_mix_trainer_create(struct tact_mix_trainer **out, struct tact_diag *diag);
void tact_mix_trainer_destroy(struct tact_mix_trainer *trainer); /* NULL is allowed */
/* Blocks of a sampled run, with exact counts of the same run.  Returns the number of blocks used,
 * or -TACT_E_INVAL, -TACT_E_NO_DATA if the sampled one has not both methods, -TACT_E_NOMEM.
 */
long tact_mix_trainer_add(struct tact_mix_trainer *trainer, const struct tact_mix *sampled,
			  const struct tact_mix *exact, struct tact_diag *diag);
int tact_mix_trainer_fit(const struct tact_mix_trainer *trainer,
			 const struct tact_mix_train_options *opt, struct tact_mix_rule **out,
			 struct tact_diag *diag);

/* ---- recording ---- */

struct tact_mix_record_options {
	size_t size;
	const char *output; /* path of the new file */
	char *const *argv;  /* program to run; NULL: none */
	int pid;	    /* > 0: a process that runs; argv is NULL then */
	bool all_cpus;	    /* the whole system; argv is run beside it if it is there */
	uint64_t ebs_period, lbr_period; /* 0: by expected_seconds */
	double expected_seconds;	 /* 0: seconds */
	bool user_only;
	enum tact_mix_rung best; /* rungs above it are not tried; 0: all */
	bool (*stop)(void *arg); /* asked now and then; NULL: until the program ends */
	void *arg;
};

struct tact_mix_recorded {
	size_t size;
	enum tact_mix_rung rung;
	bool user_only;	 /* the kernel was not allowed to be sampled */
	int exit_status; /* of the program, as wait() gives it */
	uint64_t bytes, lost;
	uint64_t ebs_period, lbr_period;
	char why[TACT_N_MIX_RUNGS]
		[120]; /* why a better rung is not there; "" if it was not tried */
};

/* Returns 0; -TACT_E_NOT_MODELLED if no rung works here (diag says which setting or feature is
 * missing), -TACT_E_IO for the file or a program that cannot be run, -TACT_E_INVAL, -TACT_E_NOMEM.
 */
int tact_mix_record(const struct tact_mix_record_options *opt, struct tact_mix_recorded *out,
		    struct tact_diag *diag);

/* ---- exact counts, and a PMU that is simulated ----
 *
 * The program runs under QEMU user mode with tact's plugin (tact/trace.h).  Every execution is
 * counted; and, if a recording is asked for, the run is sampled as hardware does it: instructions
 * retire in cycles that the simulated pipeline of a CPU gives; what is sampled is, some of the
 * time, not the instruction that was counted but the first one that retires some cycles after it;
 * the branch stack is finite, often lacks a record in front of the newest, and some branches stand
 * in its oldest entry too often.  doc/models/mix.md has where each of these comes from.
 */
struct tact_mix_emulate_options {
	size_t size;
	const char *output; /* path of the recording; NULL: none */
	const char *exact;  /* path of the counts; NULL: none */
	char *const *argv;
	const struct tact_trace_options
		*run;		      /* how; its mode does not matter; borrowed for the call */
	const struct tact_arch *arch; /* whose pipeline */
	uint64_t seed;
	uint64_t ebs_period, lbr_period; /* 0: 10007 and 1009 */
	unsigned depth;			 /* of the branch stack, 4 to 64; 0: 16 */
	/* Below 0: the default. */
	int skid;	 /* cycles from an overflow to the sample */
	int shadow;	 /* percent of the precise samples that skid all the same */
	int lost_newest; /* percent of the stacks that lack a record */
	int biased;	 /* per mille of the branches that are too often the oldest record */
	bool (*stop)(void *arg); /* asked now and then; NULL: until the program ends */
	void *arg;
};

struct tact_mix_emulated {
	size_t size;
	uint64_t instructions, branches; /* executed; taken */
	uint64_t ebs_samples, lbr_samples;
	uint32_t blocks, simulated, threads, native;
	int exit_status; /* as wait() gives it */
};

/* Returns 0; -TACT_E_NO_TOOL without QEMU or the plugin, -TACT_E_IO, -TACT_E_FORMAT if it is no
 * program of a known instruction set, -TACT_E_INVAL, -TACT_E_NOMEM.
 */
int tact_mix_emulate(const struct tact_mix_emulate_options *opt, struct tact_mix_emulated *out,
		     struct tact_diag *diag);

/* Prime sampling periods for a run of about so many seconds (HBBP paper, table 4). */
void tact_mix_periods(double seconds, uint64_t *ebs, uint64_t *lbr);

#ifdef __cplusplus
}
#endif

#endif /* TACT_MIX_H */
