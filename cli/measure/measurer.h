/* SPDX-License-Identifier: MIT
 *
 * What the files of `tact measure` share.
 */
#ifndef TACT_MEASURER_H
#define TACT_MEASURER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/measure.h>
#include <tact/store.h>

#include "common/archlist.h"
#include "common/output.h"
#include "common/progress.h"
#include "common/source.h"
#include "common/state.h"

/* A block of the input, or a line that is not a block. */
struct measure_block {
	const char *path; /* borrowed from argv; "-x" for hex of the command line */
	uint64_t line;	  /* 0: none */
	uint64_t address;
	const uint8_t *code; /* all pointers from here on: into `memory` */
	size_t code_size;
	const char *name, *function, *source;
	const char *text; /* hex digits as in the input; "" if there are none */
	const char *why;  /* not "": the reason why there is no block */
	void *memory;	  /* owned */
	bool is_loop;	  /* ends in a branch to its start */
	bool is_copy;	  /* `memory` belongs to the block before */
	unsigned alignment;
};

struct measure_list {
	struct measure_block *block; /* owned */
	size_t n, capacity;
	size_t n_failed; /* inputs that could not be read; the messages were given */
	size_t n_moving; /* blocks with addresses that a loop around them changes */
	bool is_unable;	 /* because a program is missing */
};

/* Values of the options. */
struct measurer {
	struct source_options source;
	struct archlist archs;

	int mode, init, rung, memory, vectors;
	unsigned pages, max_pages, passes, samples, timeout_ms; /* 0: the library's default */
	unsigned cpu;
	bool is_cpu_given;
	bool has_no_namespaces, is_noisy;
	unsigned jobs; /* 0: one for each core */
	unsigned rounds;
	bool is_until_confirmed;

	unsigned limit, sample; /* 0: all */
	unsigned seed;
	bool is_shuffled, is_resumed, is_compared, is_forced;
	bool is_alignment_given, is_all_alignments;
	bool is_shard_given;
	unsigned shard, n_shards; /* n_shards 0: all blocks */
	const char *host;
	unsigned alignment;
	size_t n_moving; /* of the list, for --compare */

	int format; /* -1: not given */
	bool is_format_given, is_number_only, is_quiet, is_verbose;
	const char *output;
	char why[160]; /* room for a message */

	/* made from the above */
	bool is_store; /* `output` is one */
	bool is_many;  /* more than one block */
	struct tact_measure_options options;
	char state[STATE_PATH];
};

/* Reads all inputs, and reports those that fail. */
void measure_list_read(struct measure_list *list, const struct measurer *p);
/* --alignment: where each block is to be; all: 64 of each. */
void measure_list_place(struct measure_list *list, const struct measurer *p);
/* --shard, then --sample and --shuffle. */
void measure_list_choose(struct measure_list *list, const struct measurer *p);
void measure_list_fini(struct measure_list *list);

/* The results of the blocks. */
struct measure_outcome {
	struct measure_list *list;	   /* borrowed */
	struct tact_measurement **results; /* owned; with --compare one per block; NULL: none */
	size_t n_done;
	double seconds;
};

/* Measures all blocks of the list.  Returns an exit code. */
int measure_run(const struct measurer *p, struct measure_outcome *o, struct output *out);

/* Formats: the text before all results, and one result; m is NULL for a line that is not a block.
 */
void measure_header(const struct measurer *p, struct text *out);
void measure_row(const struct measurer *p, const struct measure_block *block,
		 const struct tact_measurement *m, struct text *out);

/* Parts of formats. */
struct measure_flag {
	uint32_t bit;
	const char *name, *help;
};
extern const struct measure_flag measure_flags[]; /* bit 0 ends it */
void measure_add_label(struct text *out, const char *name, const uint8_t *code, size_t size,
		       size_t width);

/* --compare: its CPU; then with what was measured now, or with a store.  These return an exit code.
 */
int measure_compare_check(struct measurer *p, const char *store);
int measure_compare_results(struct measurer *p, const struct measure_outcome *o,
			    struct output *out);
int measure_compare_store(struct measurer *p, const char *path, struct output *out);

#endif /* TACT_MEASURER_H */
