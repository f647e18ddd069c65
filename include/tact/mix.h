/* SPDX-License-Identifier: MIT
 *
 * Instruction mixes of real runs: how often each basic block ran, estimated from samples of the
 * PMU, and what its instructions are.  doc/models/mix.md describes the method.
 *
 * A handle belongs to one thread at a time, together with everything that refers to it; different
 * handles may be used by different threads at once.  Rules, taxonomies, pivots, comparisons and
 * costs do not change once they are made: any number of threads may read them at once.
 */
#ifndef TACT_MIX_H
#define TACT_MIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/arch.h>
#include <tact/predict.h>
#include <tact/simulate.h>
#include <tact/status.h>
#include <tact/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the number of executions of a block was found. */
enum tact_mix_method {
	TACT_MIX_HYBRID,  /* by a rule: one of the next two for each block */
	TACT_MIX_EBS,	  /* samples in the block, divided by its length */
	TACT_MIX_LBR,	  /* streams between taken branches */
	TACT_MIX_EXACT,	  /* counted, not sampled */
	TACT_MIX_WINDOWS, /* windows of a program that runs natively */
	TACT_N_MIX_METHODS
};

/* Returns "hybrid", "ebs", "lbr", "exact" or "windows"; "unknown" for other values. */
const char *tact_mix_method_name(enum tact_mix_method method);

/* What the machine can sample, best first; but values are stable, and new ones are added at the end.
 */
enum tact_mix_rung {
	TACT_MIX_RUNG_EXACT,	    /* every execution was counted */
	TACT_MIX_RUNG_LBR,	    /* instructions and taken branches, both with branch stacks */
	TACT_MIX_RUNG_STACKS,	    /* branch stacks, taken by one event of another kind */
	TACT_MIX_RUNG_AMD,	    /* AMD's branch records */
	TACT_MIX_RUNG_PRECISE,	    /* instructions, precise, no branch stacks */
	TACT_MIX_RUNG_INSTRUCTIONS, /* instructions, with skid */
	TACT_MIX_RUNG_CYCLES,	    /* time in cycles: not executions */
	TACT_MIX_RUNG_CLOCK,	    /* time by a clock: not executions */
	TACT_MIX_RUNG_NONE,	    /* nothing can be sampled */
	TACT_MIX_RUNG_WINDOWS, /* windows at random moments, stepped through: no PMU is needed */
	TACT_N_MIX_RUNGS
};
enum { TACT_MAX_MIX_RUNGS = 16 }; /* room for rungs in structs */

/* The name of a rung ("lbr", "clock", ...), and the error to expect of it, for people.  Both return
 * "unknown" for other values.
 */
const char *tact_mix_rung_name(enum tact_mix_rung rung);
const char *tact_mix_rung_error(enum tact_mix_rung rung);

/* ---- rules: which of two estimates a block gets ---- */

struct tact_mix_rule;

/* Creates the rule of the HBBP paper: blocks of up to 18 instructions by LBR, others by EBS.
 * Returns 0 with a rule for tact_mix_rule_destroy, -TACT_E_INVAL without `out`, -TACT_E_NOMEM.
 */
int tact_mix_rule_create(struct tact_mix_rule **out, struct tact_diag *diag);

/* Loads a rule from a file of tact_mix_rule_save, or from its text in memory, which is not needed
 * after the call.  Both return 0 with a rule for tact_mix_rule_destroy, or:
 *   -TACT_E_INVAL   a pointer other than diag is NULL
 *   -TACT_E_IO      the file cannot be read
 *   -TACT_E_FORMAT  not a rule (diag->line says where), or a file of more than 64 KiB
 *   -TACT_E_NOMEM
 */
int tact_mix_rule_load(struct tact_mix_rule **out, const char *path, struct tact_diag *diag);
int tact_mix_rule_load_memory(struct tact_mix_rule **out, const char *text, size_t size,
			      struct tact_diag *diag);

/* Writes a rule to a file.  Returns 0, -TACT_E_INVAL without a rule or path, -TACT_E_IO,
 * -TACT_E_NOMEM.
 */
int tact_mix_rule_save(const struct tact_mix_rule *rule, const char *path, struct tact_diag *diag);

/* Destroys a rule.  NULL is allowed. */
void tact_mix_rule_destroy(struct tact_mix_rule *rule);

/* Prints the tree of a rule as indented text, cut to `size` bytes with the NUL; text may be NULL if
 * size is 0.  Returns the length of the whole text; 0 without a rule or memory.
 */
size_t tact_mix_rule_print(const struct tact_mix_rule *rule, char *text, size_t size);

/* ---- profiles ---- */

struct tact_mix;

/* How a profile is read.  All pointers are borrowed for the call. */
struct tact_mix_options {
	size_t size;
	enum tact_mix_method method;	  /* TACT_MIX_HYBRID, _EBS or _LBR */
	const struct tact_mix_rule *rule; /* NULL: the paper's */
	const char *root;	  /* directory below which files are looked for first; NULL: none */
	const char *const *files; /* n_files paths that replace recorded ones of the same name or
				     build-id; or RECORDED=PATH */
	size_t n_files;
	bool is_mangled; /* names of functions as in the symbol table, not as in the source */
	/* Copies of /proc/kallsyms and /proc/kcore of the machine that was recorded, made by root;
	 * both or neither.  NULL: those of this machine.
	 */
	const char *kallsyms, *kcore;
};
#define TACT_MIX_OPTIONS_INIT TACT_SIZED(struct tact_mix_options)

/* Opens a recording of perf or of tact, or a file of counts; the path "-" means standard
 * input.  opt may be NULL.  Returns 0 with a profile for tact_mix_close, or:
 *   -TACT_E_INVAL    no path, or an unknown method
 *   -TACT_E_IO       the file cannot be read
 *   -TACT_E_FORMAT   neither a recording nor a file of counts
 *   -TACT_E_VERSION  a recording of an unknown version
 *   -TACT_E_NO_DATA  there are no samples
 *   -TACT_E_NOMEM
 */
int tact_mix_open(struct tact_mix **out, const char *path, const struct tact_mix_options *opt,
		  struct tact_diag *diag);

/* Closes a profile.  NULL is allowed. */
void tact_mix_close(struct tact_mix *mix);

struct tact_mix_summary {
	size_t size;
	enum tact_mix_rung rung;
	enum tact_mix_method method; /* hybrid only if there are both kinds of samples */
	uint64_t samples, ebs_samples, lbr_samples, branches;
	uint64_t lost, throttled, unknown_records, bad_records;
	uint64_t outside_samples;    /* whose instruction pointer is in no known code */
	uint64_t streams;	     /* between two taken branches */
	uint64_t outside_streams;    /* in no known code */
	uint64_t impossible_streams; /* that control flow does not allow */
	double newest_impossible;    /* share of impossible ones among the newest of each stack */
	double other_impossible;     /* and among the others */
	bool newest_dropped;	     /* the newest of each stack were left out for that reason */
	size_t blocks, biased_blocks, modules, threads;
	size_t missing_modules;		     /* for tact_mix_get_missing */
	size_t blocks_by_lbr, blocks_by_ebs; /* as the rule chose */
	double instructions;		     /* executed, as estimated */
	double instructions_by_lbr; /* share of them from blocks that the rule gave to LBR */
	bool is_relative;  /* only shares have a meaning: no event says how much it counts */
	double flow_error; /* sum of |in - out| over sum of in, for blocks of LBR; < 0: unknown */
	uint64_t flow_blocks;		   /* blocks that were checked for that */
	uint64_t flow_outliers;		   /* blocks beyond four standard errors */
	uint64_t bytes;			   /* read */
	const char *command;		   /* as recorded; "" if unknown; owned by the mix */
	const char *ebs_event, *lbr_event; /* names; "" if there is none; owned by the mix */
	uint64_t ebs_period, lbr_period;   /* 0: not fixed */
	size_t recordings;		   /* that were added up; 1 for one profile */
	uint64_t windows; /* that counts come from; 0: they are exact, or there are samples */
};
#define TACT_MIX_SUMMARY_INIT TACT_SIZED(struct tact_mix_summary)

/* Gets the summary of a profile.  Returns 0, or -TACT_E_INVAL without a mix or out->size. */
int tact_mix_get_summary(const struct tact_mix *mix, struct tact_mix_summary *out);

/* Gets one summary of n profiles whose executions are added up.  Its rung is the worst of theirs.
 * `blocks`, `biased_blocks` and `modules` count what several of them have once; shares are weighted
 * means.  If the profiles differ in it, `method` is TACT_MIX_HYBRID, `command` is "", the name of an
 * event is "several events", and a period is 0.  Texts are owned by the profiles or static.  Returns
 * 0, or:
 *   -TACT_E_INVAL         a pointer other than diag or an element is NULL, n is 0, or out->size is
 *   -TACT_E_NOT_MODELLED  they do not add up: one is relative and another is not, or both are, by
 *                         different events
 *   -TACT_E_NOMEM
 */
int tact_mix_get_summary_all(const struct tact_mix *const *mixes, size_t n,
			     struct tact_mix_summary *out, struct tact_diag *diag);

/* A module whose code could not be read. */
struct tact_mix_missing {
	size_t size;
	const char *path, *why; /* owned by the mix */
	uint64_t samples;	/* in it, with ends of streams */
};
#define TACT_MIX_MISSING_INIT TACT_SIZED(struct tact_mix_missing)

/* Gets the i-th module whose code could not be read.  Returns 0, or -TACT_E_INVAL if there is no
 * such module, without a mix or out->size.
 */
int tact_mix_get_missing(const struct tact_mix *mix, size_t i, struct tact_mix_missing *out);

/* Gets the i-th module for which a file of this machine was taken although the recording has no
 * build-id of it: it may be another one.  Neither root nor files named it.  `samples` is 0.
 * Returns 0, or -TACT_E_INVAL if there is no such module, without a mix or out->size.
 */
int tact_mix_get_assumed(const struct tact_mix *mix, size_t i, struct tact_mix_missing *out);

/* A block that ran.  Pointers are owned by the mix. */
struct tact_mix_block {
	size_t size;
	const char *module, *function;
	uint64_t address; /* in its file */
	const uint8_t *code;
	size_t code_size;
	unsigned length; /* instructions */
	double executions;
	double error;	 /* of the executions: relative, one standard deviation; < 0: unknown */
	double ebs, lbr; /* the two estimates; < 0: there is none */
	uint64_t ebs_samples, lbr_streams;
	double bias;		     /* share of its branch's records in the oldest entry */
	enum tact_mix_method method; /* the one that was chosen */
	bool is_biased;
	bool is_loop;	       /* it can branch to its own start */
	uint64_t next, target; /* addresses after it and of its branch; 0: unknown, or none */
};
#define TACT_MIX_BLOCK_INIT TACT_SIZED(struct tact_mix_block)

/* Returns the number of blocks; 0 for NULL. */
size_t tact_mix_block_count(const struct tact_mix *mix);

/* Gets block i.  Returns 0, or -TACT_E_INVAL if there is no such block, without a mix or out->size.
 */
int tact_mix_get_block(const struct tact_mix *mix, size_t i, struct tact_mix_block *out);

/* ---- taxonomies: groups of instructions that a user defines ---- */

struct tact_mix_taxonomy;

/* Loads groups from a file, or from its text in memory, which is not needed after the call.  Each
 * line is "GROUP: PATTERN..."; doc/formats.md describes patterns.  The caller gives *out to
 * tact_mix_taxonomy_destroy.
 *
 * Return 0, or with *out set to NULL:
 *   -TACT_E_INVAL   a pointer other than diag is NULL
 *   -TACT_E_IO      the file cannot be read
 *   -TACT_E_FORMAT  it is not a taxonomy (diag->line says where), or is longer than 1 MiB
 *   -TACT_E_NOMEM   out of memory
 */
int tact_mix_taxonomy_load(struct tact_mix_taxonomy **out, const char *path,
			   struct tact_diag *diag);
int tact_mix_taxonomy_load_memory(struct tact_mix_taxonomy **out, const char *text, size_t size,
				  struct tact_diag *diag);

/* Destroys a taxonomy.  NULL is allowed. */
void tact_mix_taxonomy_destroy(struct tact_mix_taxonomy *taxonomy);

/* ---- pivots: executed instructions by their properties ---- */

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
	TACT_MIX_BY_OPERANDS, /* how many the instruction's text has */
	TACT_MIX_BY_IMMEDIATE,
	TACT_MIX_BY_MASKING,
	TACT_MIX_BY_LOCK,
	TACT_MIX_BY_LATENCY, /* long: divisions, roots, locks, fences */
	TACT_MIX_BY_FLOPS,   /* floating-point operations of one execution */
	TACT_MIX_BY_BYTES,
	TACT_MIX_BY_LENGTH, /* instructions of the block that it is in */
	TACT_MIX_BY_RING,   /* user or kernel */
	TACT_MIX_BY_PROCESS,
	TACT_MIX_BY_INSTRUCTION, /* its file and address */
	TACT_N_MIX_KEYS
};
enum { TACT_MIX_MAX_KEYS = 6 }; /* of one pivot */

/* Returns "thread", "module", ...; "unknown" for other values. */
const char *tact_mix_key_name(enum tact_mix_key key);

/* Keeps instructions whose value of a key matches a pattern.  This struct never changes. */
struct tact_mix_filter {
	enum tact_mix_key key;
	const char *pattern; /* * and ? as in a shell; upper and lower case are the same */
	bool is_negated;     /* keeps those that do not match */
};

/* What is counted.  All pointers are borrowed for the call. */
struct tact_mix_pivot_options {
	size_t size;
	enum tact_mix_key keys[TACT_MIX_MAX_KEYS];
	size_t n_keys; /* 0: mnemonic */
	const struct tact_mix_filter *filters;
	size_t n_filters;
	const struct tact_mix_taxonomy *taxonomy; /* needed for TACT_MIX_BY_TAXONOMY */
};
#define TACT_MIX_PIVOT_OPTIONS_INIT TACT_SIZED(struct tact_mix_pivot_options)

struct tact_mix_pivot;

/* Counts executed instructions by their keys.  opt may be NULL.  The pivot does not need the mix
 * after the call.  Returns 0 with a pivot for tact_mix_pivot_destroy, -TACT_E_INVAL without a mix,
 * for unknown keys, a filter without a pattern or a missing taxonomy, -TACT_E_NOMEM.
 */
int tact_mix_pivot_create(struct tact_mix_pivot **out, struct tact_mix *mix,
			  const struct tact_mix_pivot_options *opt, struct tact_diag *diag);

/* Counts the executed instructions of n profiles together.  Returns as above; -TACT_E_INVAL also if n
 * is 0 or an element is NULL, and -TACT_E_NOT_MODELLED if they do not add up, as for
 * tact_mix_get_summary_all.
 */
int tact_mix_pivot_create_all(struct tact_mix_pivot **out, struct tact_mix *const *mixes, size_t n,
			      const struct tact_mix_pivot_options *opt, struct tact_diag *diag);

/* Destroys a pivot.  NULL is allowed. */
void tact_mix_pivot_destroy(struct tact_mix_pivot *pivot);

struct tact_mix_row {
	size_t size;
	const char
		*key[TACT_MIX_MAX_KEYS]; /* "" beyond the keys of the pivot; owned by the pivot */
	double executions;		 /* of instructions */
	double share;			 /* of everything that passed the filters */
	double error;	  /* relative, one standard deviation, chance and bias; < 0: unknown */
	double low, high; /* executions; 19 of 20 rows have the truth between them; < 0: unknown */
	double entries;	  /* executions of blocks with such instructions */
	double flops;	  /* floating-point operations */
	const uint8_t
		*code; /* if blocks are told apart: the block's, owned by the pivot; or NULL */
	size_t code_size;
	uint64_t address; /* of that block, in its file */
};
#define TACT_MIX_ROW_INIT TACT_SIZED(struct tact_mix_row)

/* Returns the number of rows of a pivot; 0 for NULL. */
size_t tact_mix_pivot_count(const struct tact_mix_pivot *pivot);

/* Gets row i; the row with the most executions is row 0.  Returns 0, or -TACT_E_INVAL if there is
 * no such row, without a pivot or out->size.
 */
int tact_mix_pivot_get_row(const struct tact_mix_pivot *pivot, size_t i, struct tact_mix_row *out);

/* Gets the keys of a pivot and returns how many there are; 0 if a pointer is NULL. */
size_t tact_mix_pivot_get_keys(const struct tact_mix_pivot *pivot,
			       enum tact_mix_key keys[TACT_MIX_MAX_KEYS]);

/* ---- cross tables: some keys make rows, others make columns ---- */

struct tact_mix_cross;

/* Counts as tact_mix_pivot_create_all does, with one row for each combination of opt->keys and one
 * column for each of the n_columns keys `columns`.  Returns 0 with a table for
 * tact_mix_cross_destroy; errors are those of tact_mix_pivot_create_all; -TACT_E_INVAL also without
 * columns and if there are more keys than TACT_MIX_MAX_KEYS in all.
 */
int tact_mix_cross_create(struct tact_mix_cross **out, struct tact_mix *const *mixes, size_t n,
			  const struct tact_mix_pivot_options *opt,
			  const enum tact_mix_key *columns, size_t n_columns,
			  struct tact_diag *diag);

/* Destroys a table.  NULL is allowed. */
void tact_mix_cross_destroy(struct tact_mix_cross *cross);

/* Return the sums of all rows and of all columns, most executions first; NULL for NULL.  Owned by the
 * table.
 */
const struct tact_mix_pivot *tact_mix_cross_rows(const struct tact_mix_cross *cross);
const struct tact_mix_pivot *tact_mix_cross_columns(const struct tact_mix_cross *cross);

/* Gets the cell of row i and column j of these two.  Returns 1, 0 with zeros if there is nothing in
 * it, or -TACT_E_INVAL if there is no such row or column, without a table or out->size.
 */
int tact_mix_cross_get_cell(const struct tact_mix_cross *cross, size_t i, size_t j,
			    struct tact_mix_row *out);

/* Figures over everything that passed the filters. */
struct tact_mix_figures {
	size_t size;
	double instructions;
	double vectorisation; /* share of packed ones among those that compute or move in vector
				 registers, scalar or packed */
	double flops_per_instruction;
	double branch_density; /* branches, calls and returns per instruction */
	double load_density, store_density;
	double instructions_per_block;
	double simd_density; /* instructions on vector registers, scalar or packed */
	double packed_flops; /* share of the floating-point operations that packed ones do */
};
#define TACT_MIX_FIGURES_INIT TACT_SIZED(struct tact_mix_figures)

/* Gets the figures of a pivot.  Returns 0, or -TACT_E_INVAL without a pivot or out->size. */
int tact_mix_pivot_get_figures(const struct tact_mix_pivot *pivot, struct tact_mix_figures *out);

/* Computes the average weighted error of a measured mix (HBBP paper, section VI): the sum over all
 * keys of |reference - measured|, divided by the sum of the reference.  With is_scaled, the
 * measured mix is brought to the reference's total first.  Returns 0, or -TACT_E_INVAL if the
 * pivots have different numbers of keys, the reference is empty, or a pointer is NULL.
 */
int tact_mix_compare(const struct tact_mix_pivot *reference, const struct tact_mix_pivot *measured,
		     bool is_scaled, double *error);

/* ---- two pivots side by side ---- */

struct tact_mix_diff;

/* Compares two pivots with the same keys, which must outlive the comparison.  With is_scaled, the
 * second is brought to the first one's total.  Where a compiler made other clones of a function
 * (hash and hash.constprop.0), the function and its clones are one row, with the shortest of their
 * names.  Returns 0 with a handle for tact_mix_diff_destroy, -TACT_E_INVAL if a
 * pivot is missing, the keys differ or the first pivot is empty, -TACT_E_NOMEM.
 */
int tact_mix_diff_create(struct tact_mix_diff **out, const struct tact_mix_pivot *first,
			 const struct tact_mix_pivot *second, bool is_scaled,
			 struct tact_diag *diag);

/* Destroys a comparison.  NULL is allowed. */
void tact_mix_diff_destroy(struct tact_mix_diff *diff);

struct tact_mix_diff_row {
	size_t size;
	const char *key[TACT_MIX_MAX_KEYS]; /* owned by the pivots */
	double executions[2];		    /* in the first and in the second */
};
#define TACT_MIX_DIFF_ROW_INIT TACT_SIZED(struct tact_mix_diff_row)

/* Returns the number of rows, from either pivot; 0 for NULL. */
size_t tact_mix_diff_count(const struct tact_mix_diff *diff);

/* Gets row i; the row whose executions changed most is row 0.  Returns 0, or -TACT_E_INVAL if there
 * is no such row, without a comparison or out->size.
 */
int tact_mix_diff_get_row(const struct tact_mix_diff *diff, size_t i,
			  struct tact_mix_diff_row *out);

/* Gets the keys of both pivots and returns how many there are; 0 if a pointer is NULL. */
size_t tact_mix_diff_get_keys(const struct tact_mix_diff *diff,
			      enum tact_mix_key keys[TACT_MIX_MAX_KEYS]);

struct tact_mix_diff_totals {
	size_t size;
	double executions[2]; /* before scaling */
	double error;	      /* as tact_mix_compare computes it, over these rows */
	bool is_scaled;	      /* the second pivot was */
};
#define TACT_MIX_DIFF_TOTALS_INIT TACT_SIZED(struct tact_mix_diff_totals)

/* Gets the sums over all rows.  Returns 0, or -TACT_E_INVAL without a comparison or out->size. */
int tact_mix_diff_get_totals(const struct tact_mix_diff *diff, struct tact_mix_diff_totals *out);

/* ---- costs: where the cycles go ---- */

struct tact_mix_costs;

/* Predicts the cycles of each block by a model of tact/model.h (NULL: sim) and multiplies them by its
 * executions.  A model that takes a stream of blocks gets an execution that is made up: it visits the
 * blocks as often as the profile says, in an order that the profile allows, through the pipeline that
 * tact/cycles.h runs traces on.  Other models get each block, or loop of several blocks, alone.
 * Cache misses, mispredictions and first executions of code are not included: these are core
 * cycles, as those of a trace without caches and branches.  The mix must outlive the costs, which
 * refer to its names and code; arch and model are borrowed for the call.  Returns 0 with a handle for
 * tact_mix_costs_destroy, -TACT_E_INVAL without a mix or an architecture, errors of tact_model_open,
 * -TACT_E_LIMIT if the pipeline does not accept a block, -TACT_E_NOMEM.
 */
int tact_mix_costs_create(struct tact_mix_costs **out, const struct tact_mix *mix,
			  const struct tact_arch *arch, const char *model, struct tact_diag *diag);

/* Adds up the costs of n profiles, all of which must outlive them: a block that several have is one
 * row; a loop of several blocks is one if its length is the same in both.  A block without a
 * prediction counts once for each profile.  Returns as above; -TACT_E_INVAL also if n is 0 or an
 * element is NULL, and -TACT_E_NOT_MODELLED if they do not add up, as for tact_mix_get_summary_all.
 */
int tact_mix_costs_create_all(struct tact_mix_costs **out, const struct tact_mix *const *mixes,
			      size_t n, const struct tact_arch *arch, const char *model,
			      struct tact_diag *diag);

/* Destroys costs.  NULL is allowed. */
void tact_mix_costs_destroy(struct tact_mix_costs *costs);

/* A block, or a loop of several blocks along its usual path, which counts as one.  Pointers are
 * owned by the mix.
 */
struct tact_mix_cost {
	size_t size;
	const char *module, *function; /* of the block, or of the loop's first block; so are: */
	uint64_t address;	       /* in its file */
	const uint8_t *code;
	size_t code_size;
	unsigned length;      /* instructions; of a loop: of all its blocks */
	double executions;    /* of a loop: mean over its instructions */
	double cycles;	      /* per execution */
	double total;	      /* cycles of all executions */
	double gain;	      /* cycles that its bottlenecks cost in all executions */
	uint32_t bottlenecks; /* bits of enum tact_bound */
	double coverage;      /* share of the instructions with data */
	bool is_loop;
	unsigned n_blocks;
	/* Cycles of an execution in which nothing retires, by enum tact_stall, if the model takes
	 * streams.  Without bottlenecks, the longest one is the reason, and the gain is what it takes.
	 */
	double stalls[TACT_MAX_STALLS];
};
#define TACT_MIX_COST_INIT TACT_SIZED(struct tact_mix_cost)

/* Returns the number of rows; 0 for NULL. */
size_t tact_mix_costs_count(const struct tact_mix_costs *costs);

/* Gets row i; the row with the most cycles is row 0.  Returns 0, or -TACT_E_INVAL if there is no
 * such row, without costs or out->size.
 */
int tact_mix_costs_get_row(const struct tact_mix_costs *costs, size_t i, struct tact_mix_cost *out);

struct tact_mix_costs_totals {
	size_t size;
	double cycles;
	size_t failed; /* blocks without a prediction */
	/* By enum tact_bound; a block with several bottlenecks counts for the first one. */
	double by_bound[TACT_MAX_BOUNDS], gain_by_bound[TACT_MAX_BOUNDS];
	/* By enum tact_stall: of blocks that no bound explains, for the longest stall. */
	double by_stall[TACT_MAX_STALLS], gain_by_stall[TACT_MAX_STALLS];
	bool is_walked; /* the model took a stream of blocks */
};
#define TACT_MIX_COSTS_TOTALS_INIT TACT_SIZED(struct tact_mix_costs_totals)

/* Gets the sums over all rows.  Returns 0, or -TACT_E_INVAL without costs or out->size. */
int tact_mix_costs_get_totals(const struct tact_mix_costs *costs,
			      struct tact_mix_costs_totals *out);

/* ---- learning a rule ---- */

struct tact_mix_trainer;

/* Creates a trainer without examples.  Returns 0 with a handle for tact_mix_trainer_destroy,
 * -TACT_E_INVAL without `out`, -TACT_E_NOMEM.
 */
int tact_mix_trainer_create(struct tact_mix_trainer **out, struct tact_diag *diag);

/* Destroys a trainer.  NULL is allowed. */
void tact_mix_trainer_destroy(struct tact_mix_trainer *trainer);

/* Adds the blocks of a sampled run with exact counts of the same run; both may be closed after the
 * call.  Returns the number of blocks used, or:
 *   -TACT_E_INVAL    something is missing, or `exact` has no exact counts
 *   -TACT_E_NO_DATA  the sampled run lacks one of the two kinds of samples
 *   -TACT_E_NOMEM
 */
long tact_mix_trainer_add(struct tact_mix_trainer *trainer, const struct tact_mix *sampled,
			  const struct tact_mix *exact, struct tact_diag *diag);

struct tact_mix_train_options {
	size_t size;
	unsigned max_leaves; /* 0: 4 */
	double min_weight;   /* of a leaf, as share of everything; 0: 0.05 */
};
#define TACT_MIX_TRAIN_OPTIONS_INIT TACT_SIZED(struct tact_mix_train_options)

/* Learns a rule from what was added.  opt may be NULL.  Returns 0 with a rule for
 * tact_mix_rule_destroy, -TACT_E_INVAL without a trainer or `out` and for a min_weight outside of 0
 * to 1, -TACT_E_NO_DATA if nothing was added, -TACT_E_NOMEM.
 */
int tact_mix_trainer_fit(const struct tact_mix_trainer *trainer,
			 const struct tact_mix_train_options *opt, struct tact_mix_rule **out,
			 struct tact_diag *diag);

enum { TACT_MIX_MIN_PROGRAMS = 3 }; /* that it takes to judge a rule */

/* How a learned rule did on programs that it was not learned from. */
struct tact_mix_verdict {
	size_t size;
	bool is_used;	   /* the learned rule is given; otherwise the default */
	size_t programs;   /* by the name of what was recorded */
	size_t worse;	   /* programs that the best learned rule was worse on than the default */
	double by_default; /* average weighted error of mnemonics, mean over programs */
	double by_learned; /* the same, each program by a rule learned from all others; < 0: unknown */
	unsigned leaves; /* of the best learned rule */
};
#define TACT_MIX_VERDICT_INIT TACT_SIZED(struct tact_mix_verdict)

/* Learns a rule as tact_mix_trainer_fit does, unless the default is better.  For each number of leaves
 * from 2 to opt->max_leaves and each program, a rule is learned from all other programs and tried on
 * this one.  The best number of leaves for which no program is worse than by the default wins; if
 * there is none, or fewer than TACT_MIX_MIN_PROGRAMS programs, *out is the default rule.  verdict may
 * be NULL.  Returns as tact_mix_trainer_fit.
 */
int tact_mix_trainer_choose(const struct tact_mix_trainer *trainer,
			    const struct tact_mix_train_options *opt, struct tact_mix_rule **out,
			    struct tact_mix_verdict *verdict, struct tact_diag *diag);

/* ---- recording ---- */

/* What is sampled.  All pointers are borrowed for the call. */
struct tact_mix_record_options {
	size_t size;
	const char *output;		 /* path of the new file; required */
	char *const *argv;		 /* program to run; NULL: none */
	int pid;			 /* > 0: a running process; argv must be NULL then */
	bool all_cpus;			 /* the whole system, while argv runs if there is one */
	uint64_t ebs_period, lbr_period; /* 0: as expected_seconds suggests */
	double expected_seconds;	 /* how long the run takes; 0: some seconds */
	bool user_only;			 /* do not sample the kernel */
	enum tact_mix_rung best;	 /* better rungs are not tried; 0: all are */
	bool (*stop)(void *arg);	 /* asked now and then; NULL: until the program ends */
	void *arg;
};
#define TACT_MIX_RECORD_OPTIONS_INIT TACT_SIZED(struct tact_mix_record_options)

struct tact_mix_recorded {
	size_t size;
	enum tact_mix_rung rung;
	bool user_only;	 /* the kernel was not sampled, or may not be */
	int exit_status; /* of the program, as waitpid gives it */
	uint64_t bytes, lost;
	uint64_t ebs_period, lbr_period;
	char why[TACT_MAX_MIX_RUNGS][120]; /* why a better rung cannot be had; "" if not tried */
};
#define TACT_MIX_RECORDED_INIT TACT_SIZED(struct tact_mix_recorded)

/* Runs a program, or watches what runs, and records samples of it with the best rung that works
 * here.  *out is filled on failure, too, unless its size is not set.  Returns 0, or:
 *   -TACT_E_INVAL         no file, not exactly one of a program, a process and the whole system, or
 *                         an unknown rung
 *   -TACT_E_NOT_MODELLED  no rung works here; diag says which setting or feature is missing
 *   -TACT_E_IO            the file cannot be written, or the program cannot be run
 *   -TACT_E_NOMEM
 */
int tact_mix_record(const struct tact_mix_record_options *opt, struct tact_mix_recorded *out,
		    struct tact_diag *diag);

/* ---- exact counts, and a simulated PMU ----
 *
 * The program runs under QEMU's user mode with tact's plugin (tact/trace.h).  Every execution is
 * counted.  If a recording is asked for, the run is also sampled as hardware does it: instructions
 * retire in the cycles that the simulated pipeline of a CPU gives; some of the samples are not of
 * the instruction that was counted but of the first one that retires some cycles after it; the
 * branch stack is finite, often lacks the record before the newest, and some branches are in its
 * oldest entry too often.  doc/models/mix.md gives the source of each of these.
 */

/* What is run and written.  All pointers are borrowed for the call. */
struct tact_mix_emulate_options {
	size_t size;
	const char *output;		      /* path of the recording; NULL: none */
	const char *exact;		      /* path of the counts; NULL: none */
	char *const *argv;		      /* program to run; required */
	const struct tact_trace_options *run; /* how; its mode does not matter; NULL: defaults */
	const struct tact_arch *arch;	      /* whose pipeline; required for a recording */
	uint64_t seed;
	uint64_t ebs_period, lbr_period; /* 0: 10007 and 1009 */
	unsigned depth;			 /* of the branch stack, 4 to 64; 0: 16 */
	int skid;	 /* cycles from an overflow to the sample, up to 1000; 0: 4; -1: none */
	int shadow;	 /* percent of precise samples that skid all the same; 0: 25; -1: none */
	int lost_newest; /* percent of stacks that lack a record; 0: 20; -1: none */
	int biased; /* per mille of branches that are the oldest record too often; 0: 10; -1: none
		     */
	bool (*stop)(void *arg); /* asked now and then; NULL: until the program ends */
	void *arg;
};
#define TACT_MIX_EMULATE_OPTIONS_INIT TACT_SIZED(struct tact_mix_emulate_options)

struct tact_mix_emulated {
	size_t size;
	uint64_t instructions, branches; /* executed; taken */
	uint64_t ebs_samples, lbr_samples;
	uint32_t blocks, simulated, threads, native;
	int exit_status; /* as waitpid gives it */
};
#define TACT_MIX_EMULATED_INIT TACT_SIZED(struct tact_mix_emulated)

/* Runs a program under QEMU and writes exact counts, a recording of the simulated PMU, or both.
 * Returns 0, errors of tact_trace_launch and tact_trace_next, or:
 *   -TACT_E_INVAL  no program, nothing to write, no architecture for a recording, or a value out of
 *                  its range
 *   -TACT_E_IO     a file cannot be written
 *   -TACT_E_NOMEM
 */
int tact_mix_emulate(const struct tact_mix_emulate_options *opt, struct tact_mix_emulated *out,
		     struct tact_diag *diag);

/* ---- windows of a program that runs natively ----
 *
 * No PMU and no QEMU is needed.  A trace of a program that runs natively (tact/trace.h) has windows at
 * random moments of its CPU time, so a window stands for time.  The pipeline of the CPU that the
 * program runs on tells how many cycles the instructions of a window take, and so how often they ran
 * in that time.
 */

/* What is written.  All pointers are borrowed for the call. */
struct tact_mix_windows_options {
	size_t size;
	const char *output;	      /* path of the counts; required */
	const char *command;	      /* for reports; NULL: unknown */
	const struct tact_arch *arch; /* CPU that the program runs on; NULL: this one */
};
#define TACT_MIX_WINDOWS_OPTIONS_INIT TACT_SIZED(struct tact_mix_windows_options)

struct tact_mix_windowed {
	size_t size;
	uint64_t windows, stepped; /* windows that count; instructions in them */
	double instructions;	   /* of the whole run, as estimated */
	double seconds;		   /* of CPU time in user mode, of all threads */
	size_t blocks;
};
#define TACT_MIX_WINDOWED_INIT TACT_SIZED(struct tact_mix_windowed)

/* Reads a trace of a program that runs natively to its end, and writes how often its blocks ran in
 * user mode.  The trace has the mode TACT_TRACE_FULL and comes from tact_trace_launch with `native`,
 * from tact_trace_attach, or from a recording of such a run; it stays the caller's.  *out is filled
 * on failure, too, unless its size is not set; nothing is written then.  Returns 0, errors of
 * tact_trace_next and tact_cycles_event, or:
 *   -TACT_E_INVAL    no trace, no file, or a trace of another mode
 *   -TACT_E_NO_ARCH  there is no model of this CPU
 *   -TACT_E_NO_DATA  there are no windows: the program hardly ran, or under QEMU
 *   -TACT_E_IO       the file cannot be written
 *   -TACT_E_NOMEM
 */
int tact_mix_count_windows(struct tact_trace *trace, const struct tact_mix_windows_options *opt,
			   struct tact_mix_windowed *out, struct tact_diag *diag);

#ifdef __cplusplus
}
#endif

#endif /* TACT_MIX_H */
