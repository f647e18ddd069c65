/* SPDX-License-Identifier: MIT
 *
 * Layer 5: how often blocks ran, from samples.
 *
 *   spaces.c     processes, what was mapped where and when
 *   tally.c      counters by address
 *   modules.c    files and their code
 *   blockmap.c   basic blocks of a file's code
 *   sampled.c    recording -> counters by address
 *   attribution.c  counters by address -> counters by block; streams; bias; flow
 *   balance.c    streams, balanced by what is known of control flow
 *   counts.c     files of counts; counts_write.c writes them
 *   rule.c       decision trees; rule_train.c learns them
 *   sampling.c   records a run; targets.c: of whom
 *   emulate.c    runs a program under QEMU: exact counts; virtual.c: and samples of it
 *   windowed.c   windows of a program that runs natively: counts; spread.c: their error
 *   retirement.c when the instructions of a block retire
 *   sums.c       files of lines, added up by key; sums_read.c reads them; bolt.c makes BOLT's, which
 *                bolt_read.c takes for recordings
 *   pivot.c      tables; taxonomy.c: a user's groups; pivot_diff.c: two of them side by side
 *   costs.c      executions times predicted cycles
 *   generated_code.c  code that no file holds
 *   block_flow.c  where execution goes after each block
 *   block_walk.c  an execution made up from it, on the pipeline of traces; values.c: its addresses
 */
#ifndef MIX_MIX_H
#define MIX_MIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/insn.h>
#include <tact/mix.h>

#include "base/base.h"
#include "base/hash.h"
#include "code/code.h"
#include "pmu/perfdata.h"

#define MIX_NONE UINT32_MAX

/* ---- counters by address ---- */

struct mix_tally_key {
	uint32_t epoch, thread;
	uint64_t a, b; /* instruction pointer; or begin and end of a stream */
};

/* Streams are also counted by where in their stack they were, from the newest quarter to the oldest:
 * if stacks ended at random places, all would show the same.
 */
enum { MIX_PLACES = 4 };

struct mix_tally_entry {
	struct mix_tally_key key;
	double weight, newest;	  /* newest: the part of it from the newest pair of a stack */
	float places[MIX_PLACES]; /* the weight, by place in the stack; of streams */
	uint32_t hits, newest_hits;
	uint32_t settled;      /* hits that are not near the newest end of a stack */
	uint32_t mispredicted; /* of a branch */
};

struct mix_tally {
	struct mix_tally_entry *slots; /* open hash; hits 0: free */
	size_t n, capacity;	       /* a power of two */
};

/* Returns the entry of a key, created if there is none; NULL: out of memory. */
struct mix_tally_entry *mix_tally_at(struct mix_tally *t, const struct mix_tally_key *key);
void mix_tally_fini(struct mix_tally *t);

/* ---- address spaces ---- */

struct mix_map {
	uint64_t begin, end; /* addresses */
	uint64_t offset;     /* of begin in the file; for the kernel: begin */
	uint32_t module;
};

/* Maps that do not overlap.  A map that would overlap another, or a new program, begins a new
 * epoch.
 */
struct mix_epoch {
	uint64_t time; /* from then on */
	struct mix_map *maps;
	size_t n, capacity;
	uint32_t process;
};

struct mix_process {
	uint32_t pid;
	uint32_t *epochs; /* numbers, by time */
	size_t n, capacity;
};

struct mix_thread {
	uint32_t pid, tid, process;
	char comm[16];
};

struct mix_spaces {
	struct mix_epoch *epochs;
	size_t n_epochs, epochs_capacity;
	struct mix_process *processes;
	size_t n_processes, processes_capacity;
	struct mix_thread *threads;
	size_t n_threads, threads_capacity;
	struct hash process_of, thread_of; /* of the two arrays */
	uint32_t kernel;		   /* its epoch */
};

int mix_spaces_init(struct mix_spaces *s);
void mix_spaces_fini(struct mix_spaces *s);
/* All return numbers >= 0 or -TACT_E_NOMEM. */
long mix_spaces_process(struct mix_spaces *s, uint32_t pid);
long mix_spaces_thread(struct mix_spaces *s, uint32_t pid, uint32_t tid);
int mix_spaces_map(struct mix_spaces *s, uint32_t pid, uint64_t time, const struct mix_map *map,
		   bool is_kernel);
int mix_spaces_exec(struct mix_spaces *s, uint32_t pid, uint64_t time);
int mix_spaces_fork(struct mix_spaces *s, uint32_t pid, uint32_t parent, uint64_t time);
int mix_spaces_comm(struct mix_spaces *s, uint32_t pid, uint32_t tid, const char *comm);
/* Returns the epoch of a process at a time (0: the last). */
uint32_t mix_spaces_epoch(const struct mix_spaces *s, uint32_t process, uint64_t time);
const struct mix_map *mix_spaces_find(const struct mix_spaces *s, uint32_t epoch, uint64_t address);

/* User code that continues after an interrupt: in mix_tally_key.a of a stream. */
#define MIX_RESUMED (UINT64_C(1) << 62)

static inline bool mix_is_kernel(uint64_t address)
{
	return address >> 63;
}

/* ---- code ---- */

/* A section of a module with its blocks. */
struct mix_code {
	const struct tact_isa *isa;
	const uint8_t *data;
	size_t size;
	uint64_t file_offset; /* of data[0], as recorded maps count; for the kernel: the address */
	uint64_t address;
	size_t section; /* of obj */
	struct code_blocks blocks;
	uint32_t *profiles; /* owned; by block: number of the counters plus one, 0: it has none;
			       NULL until there are blocks */
};

struct mix_module {
	char *path; /* as recorded */
	uint8_t build_id[PMU_MAX_BUILD_ID];
	uint8_t build_id_size;
	bool is_kernel;
	bool is_mangled;      /* names of functions as in the symbol table */
	bool is_loaded;	      /* loading was tried */
	bool is_assumed;      /* nothing says that the file is the recorded one */
	char why[120];	      /* what went wrong; "" if nothing did */
	uint64_t outside;     /* samples in it that found no code */
	struct obj_file *obj; /* NULL for the kernel as well */
	struct obj_image image;
	struct mix_code *codes;
	size_t n_codes;
	uint64_t *leaders; /* file offsets of branch targets that were seen */
	size_t n_leaders, leaders_capacity;
	struct mix_touched {
		uint64_t begin, end; /* file offsets of code that was seen to run, both inclusive */
	} * touched;		     /* only functions around them are examined */
	size_t n_touched, touched_capacity;
	struct mix_kernel *kernel;	 /* names of the kernel's functions */
	struct mix_generated *generated; /* code and names, if no file holds it */
};

struct mix_modules {
	struct mix_module *items;
	size_t n, capacity;
	const char *root;
	const char *const *files;
	size_t n_files;
	bool is_mangled;	      /* names of functions as in the symbol table */
	const char *kallsyms, *kcore; /* of the recorded machine; NULL: of this one */
};

/* Returns the number of the module of a path, created if it is new; or -TACT_E_NOMEM. */
long mix_modules_find(struct mix_modules *m, const char *path, bool is_kernel);
void mix_modules_fini(struct mix_modules *m);
/* Reads its file, once.  Returns 0 or -TACT_E_NOMEM; a missing file leaves its reason in `why`. */
int mix_module_load(struct mix_modules *m, struct mix_module *module);
struct mix_code *mix_module_code(struct mix_module *module, uint64_t offset);
int mix_module_add_leader(struct mix_module *module, uint64_t offset);
int mix_module_touch(struct mix_module *module, uint64_t begin, uint64_t end);
const char *mix_module_function(const struct mix_module *module, const struct mix_code *code,
				uint32_t offset);
bool mix_module_line(struct mix_module *module, const struct mix_code *code, uint32_t offset,
		     const char **file, int *line);

/* Splits all code of a module into blocks.  Returns 0 or -TACT_E_NOMEM. */
int mix_blockmap_build(struct mix_module *module);

/* The kernel's live text. */
struct mix_kernel *mix_kernel_create(void); /* NULL: it cannot be read */

/* The same from files of the form of /proc/kallsyms and /proc/kcore. */
struct mix_kernel *mix_kernel_read(const char *symbols, const char *memory);
void mix_kernel_destroy(struct mix_kernel *k);
const uint8_t *mix_kernel_text(const struct mix_kernel *k, uint64_t *address, size_t *size);
const char *mix_kernel_symbol(const struct mix_kernel *k, uint64_t address, uint64_t *begin);
size_t mix_kernel_symbols(const struct mix_kernel *k);
uint64_t mix_kernel_symbol_at(const struct mix_kernel *k, size_t i);

/* ---- counters by block ---- */

struct mix_profile {
	uint32_t module, code, block;
	double ebs, lbr;	   /* samples times period; streams times weight, scaled */
	double completed;	   /* as lbr, with the streams that stacks do not show */
	double places[MIX_PLACES]; /* as lbr, by place in the stack */
	uint64_t ebs_hits, lbr_hits;
	double in, out;		   /* taken branches that arrive, and that leave */
	double fall_in, fall_out;  /* streams that come from the block before, continue after */
	uint64_t oldest, branches; /* records of its branch in the oldest entry, and in all */
	double exact;		   /* counted, or from windows */
	double executions, error;
	uint8_t method; /* enum tact_mix_method */
	bool is_biased;
	uint32_t first_share, n_shares;
};

/* The part of a block's counters that belongs to a thread. */
struct mix_share {
	uint32_t profile, thread;
	double ebs, lbr, completed, exact;
};

/* A recorded branch from the end of one block to the beginning of another. */
struct mix_arc {
	uint32_t from, to; /* profiles */
	double weight;	   /* of the same scale as streams */
};

/* Counts from windows of a program come with their error: windows are dealt out to a few groups, so
 * that each group is a sample of the whole run, and groups differ as much as chance lets them.
 */
enum { MIX_GROUPS = 16 };

struct tact_mix;

/* Returns the variance of what was found in each group of windows, added up; < 0: unknown. */
double mix_groups_variance(const struct tact_mix *mix, const double found[MIX_GROUPS]);

/* Returns the standard error of that sum, relative to it; < 0: unknown. */
double mix_groups_error(const struct tact_mix *mix, const double found[MIX_GROUPS]);

struct tact_mix {
	struct mix_spaces spaces;
	struct mix_modules modules;
	struct mix_tally ebs, lbr, edges; /* edges: branches; newest: records in the oldest entry */
	struct mix_profile *profiles;
	size_t n_profiles, profiles_capacity;
	struct mix_share *shares; /* by profile, thread */
	size_t n_shares, shares_capacity;
	struct mix_arc *arcs;
	size_t n_arcs, arcs_capacity;
	struct tact_mix_summary summary;
	double stack_depth; /* mean number of records */
	double ebs_total;   /* samples times period */
	bool has_ebs, has_lbr, has_exact, has_windows;
	double (*spreads)[MIX_GROUPS]; /* by profile: executions in each group of windows */
	double in_groups[MIX_GROUPS];  /* instructions */
	size_t n_spreads, spreads_capacity;
	bool lbr_is_absolute, ebs_is_absolute;
	bool is_plain; /* the paper's LBR: streams that stacks show, nothing completed */
	char *command, *ebs_event, *lbr_event;
};

int mix_read_recording(struct tact_mix *mix, const char *path, struct tact_diag *diag);
int mix_resolve(struct tact_mix *mix, struct tact_diag *diag);
int mix_estimate(struct tact_mix *mix, const struct tact_mix_rule *rule,
		 enum tact_mix_method method);
/* Returns the counters of a block, created if there are none; or -TACT_E_NOMEM. */
long mix_profile_at(struct tact_mix *mix, uint32_t module, uint32_t code, uint32_t block);
int mix_share_add(struct tact_mix *mix, uint32_t profile, uint32_t thread,
		  const struct mix_share *more);
int mix_shares_sort(struct tact_mix *mix); /* merges those of one profile and thread */

/* Returns 0 if the executions of n profiles can be added up; -TACT_E_INVAL, -TACT_E_NOT_MODELLED. */
int mix_check_all(const struct tact_mix *const *mixes, size_t n, struct tact_diag *diag);

bool mix_is_bolt(const char *path);
int mix_read_bolt(struct tact_mix *mix, const char *path, struct tact_diag *diag);
bool mix_is_counts(const char *path);
int mix_read_counts(struct tact_mix *mix, const char *path, struct tact_diag *diag);

/* Returns the exact executions of the instruction at an offset of a file; < 0: that file has none.
 */
double mix_exact_at(const struct tact_mix *exact, const struct mix_module *module,
		    const struct mix_code *code, uint32_t offset);

static inline const struct code_block *mix_block_of(const struct tact_mix *mix,
						    const struct mix_profile *p)
{
	return &mix->modules.items[p->module].codes[p->code].blocks.items[p->block];
}

/* ---- rules ---- */

enum mix_feature {
	MIX_FEATURE_LENGTH,
	MIX_FEATURE_BIAS,
	MIX_FEATURE_EBS_SAMPLES,
	MIX_FEATURE_LBR_STREAMS,
	MIX_FEATURE_BYTES,
	MIX_FEATURE_LONG_LATENCY, /* divisions, roots, ...: how many */
	MIX_FEATURE_LOADS,
	MIX_FEATURE_STORES,
	MIX_N_FEATURES
};

struct mix_rule_node {
	bool is_leaf;
	uint8_t feature;
	uint8_t method; /* of a leaf */
	double limit;	/* not above it: left */
	uint32_t left, right;
	double weight, gini;
	uint64_t samples;
};

enum { MIX_RULE_MAX_NODES = 255 };

struct tact_mix_rule {
	struct mix_rule_node nodes[MIX_RULE_MAX_NODES];
	uint32_t n;
};

void mix_features(const struct tact_mix *mix, const struct mix_profile *p,
		  double features[MIX_N_FEATURES]);
enum tact_mix_method mix_rule_choose(const struct tact_mix_rule *rule,
				     const double features[MIX_N_FEATURES]);

/* ---- properties of instructions ---- */

/* Returns the group of an instruction; MIX_NONE: none. */
uint32_t mix_taxonomy_group(const struct tact_mix_taxonomy *t, const struct isa_properties *p);
const char *mix_taxonomy_name(const struct tact_mix_taxonomy *t, uint32_t group);
bool mix_glob(const char *pattern, const char *text);

#endif /* MIX_MIX_H */
