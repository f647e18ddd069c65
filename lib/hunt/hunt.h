/* SPDX-License-Identifier: MIT
 *
 * What the files about hunts share: features of instructions, classes, the pool.
 */
#ifndef HUNT_HUNT_H
#define HUNT_HUNT_H

#include <tact-program/hunt.h>

#include "base/base.h"
#include "base/hash.h"
#include "base/text.h"
#include "isa/isa.h"

enum { HUNT_MAX_INSNS = 64, HUNT_MAX_CODE = HUNT_MAX_INSNS * TACT_MAX_INSN_BYTES };

/* ---- features ---- */

/* What can be said about one instruction.  The first four say ever less about what it does. */
enum hunt_feature {
	HUNT_FORM,
	HUNT_MNEMONIC,
	HUNT_PORTS, /* of its uops, without those that load and store */
	HUNT_GROUP, /* the category of the set */
	HUNT_MEMORY,
	HUNT_ADDRESS,
	HUNT_WIDTH,
	HUNT_MASK,
	HUNT_IMMEDIATE, /* its encoded bits */
	HUNT_SAME,	/* all registers are the same one */
	HUNT_HIGH,	/* a part of a register that is not its lowest */
	HUNT_N_FEATURES
};

enum { HUNT_ALL = (1 << HUNT_N_FEATURES) - 1 };

enum hunt_memory { HUNT_NO_MEMORY, HUNT_LOADS, HUNT_STORES, HUNT_UPDATES, HUNT_COMPUTES };
enum hunt_address { HUNT_NO_ADDRESS, HUNT_PLAIN, HUNT_INDEXED, HUNT_PC_RELATIVE };

/* Registers and groups of flags. */
struct hunt_keys {
	uint64_t bits[2];
};

struct hunt_insn {
	uint32_t value[HUNT_N_FEATURES];
	struct hunt_keys reads, writes;
	uint16_t offset;
	uint8_t length;
	bool is_branch;
};

struct hunt_code {
	uint8_t code[HUNT_MAX_CODE];
	size_t size;
	struct hunt_insn insn[HUNT_MAX_INSNS];
	size_t n;
	/* Bit p of producers[i]: i reads what p wrote last, perhaps in the iteration before. */
	uint64_t producers[HUNT_MAX_INSNS];
};

/* Texts of features that are no small numbers: mnemonics, ports, groups. */
struct hunt_names {
	const struct tact_arch *arch;
	struct tact_arena arena;
	const char **name; /* owned */
	size_t n, capacity;
	struct hash index;
	struct hunt_decoded *decoded; /* owned; instructions that were seen before */
	size_t n_decoded, decoded_capacity;
	struct hash decoded_index;
};

/* Returns the number of a text, the same for the same text; UINT32_MAX: out of memory. */
uint32_t hunt_name(struct hunt_names *names, const char *text);
void hunt_names_free(struct hunt_names *names);

/* Decodes code and finds its features.  A branch at the end is left out.  Returns 0; -TACT_E_DECODE
 * if it is no code; -TACT_E_LIMIT if it is too long, or nothing is left; -TACT_E_NOMEM.
 */
int hunt_decode(struct hunt_code *out, const uint8_t *code, size_t size, struct hunt_names *names);

/* Decodes one instruction.  Returns its length, or as above. */
int hunt_decode_one(struct hunt_insn *insn, const uint8_t *code, size_t size,
		    struct hunt_names *names);

/* Finds the producers of all instructions. */
void hunt_connect(struct hunt_code *code);

/* ---- classes ---- */

/* An instruction of a class: the features in `fixed` have these values. */
struct hunt_pattern {
	uint16_t fixed; /* bits of enum hunt_feature */
	uint32_t value[HUNT_N_FEATURES];
};

enum hunt_relation {
	HUNT_DEPENDENCES = 1 << 0, /* what waits for what is as in the example */
	HUNT_ORDER = 1 << 1,	   /* the instructions are in this order */
	HUNT_ALIGNMENT = 1 << 2,
	HUNT_COPIES = 1 << 3 /* each occurs once */
};

enum { HUNT_MAX_PATTERNS = 16 };

struct hunt_class {
	size_t n;
	struct hunt_pattern pattern[HUNT_MAX_PATTERNS];
	uint64_t producers[HUNT_MAX_PATTERNS];
	unsigned relations;  /* bits of enum hunt_relation that hold */
	uint32_t bottleneck; /* of rows: 1 + enum tact_bound that limits them; 0: any */
};

/* Makes the class that has nothing but a block and its like: all features are fixed. */
void hunt_class_of(struct hunt_class *class, const struct hunt_code *code);

bool hunt_pattern_fits(const struct hunt_pattern *pattern, const struct hunt_insn *insn);

/* Returns whether the block has, among others, instructions as the class says. */
bool hunt_class_is_in(const struct hunt_class *class, const struct hunt_code *code);

/* Returns whether the block is a member of the class: these instructions and no others. */
bool hunt_class_has(const struct hunt_class *class, const struct hunt_code *code);

/* Writes the class in words. */
void hunt_class_words(const struct hunt_class *class, const struct hunt_names *names,
		      struct text *out);

/* ---- making blocks ---- */

struct hunt_part {
	uint8_t code[TACT_MAX_INSN_BYTES];
	uint32_t next; /* of the same mnemonic, 1 + its number; 0: none */
	struct hunt_insn insn;
};

/* Instructions to make blocks of, each once. */
struct hunt_pool {
	struct hunt_part *part; /* owned; those of the data set come first */
	size_t n, capacity, n_real;
	struct hash index;
	uint32_t *first; /* owned; part of each mnemonic, 1 + its number; 0: none */
	size_t first_capacity;
};

struct hunt_maker {
	struct hunt_names *names;
	struct hunt_pool *pool;
	const struct tact_isa *isa;
	enum tact_mode mode;
	uint64_t random;
	unsigned most_insns;
};

void hunt_pool_free(struct hunt_pool *pool);

/* Adds the instructions of a real block, and writes their numbers to `pieces`; HASH_NONE: no part,
 * because it is a branch.  Returns 0 or -TACT_E_NOMEM.
 */
int hunt_pool_add(struct hunt_pool *pool, const struct hunt_code *code, uint32_t *pieces);

/* Adds an instruction of each form that the CPU has data for and that the set can encode. */
int hunt_pool_add_forms(struct hunt_pool *pool, struct hunt_names *names);

/* Makes a block: from one of the data set, if base is not NULL, or of parts.  Returns false if that
 * did not work this time.
 */
bool hunt_make(struct hunt_maker *maker, const struct hunt_code *base, struct hunt_code *out);

/* Makes a block of one instruction; is_chain: with one register where it can have several. */
bool hunt_make_one(struct hunt_maker *maker, const struct hunt_part *part, bool is_chain,
		   struct hunt_code *out);

/* Makes a member of a class after its example.  `differs`: where instruction `insn` must have
 * another value of one of these features than the example; 0: it need not.
 */
bool hunt_make_member(struct hunt_maker *maker, const struct hunt_class *class,
		      const struct hunt_code *example, size_t insn, unsigned differs,
		      struct hunt_code *out);

/* Returns a part that fits a pattern and does not fit another one (NULL: whatever that is), each
 * nearly as likely as the others; NULL: there is none.
 */
const struct hunt_part *hunt_pool_choose(const struct hunt_pool *pool,
					 const struct hunt_pattern *pattern,
					 const struct hunt_pattern *but, uint64_t *random);

/* Returns whether the pool has an instruction that fits the pattern with another value of one of
 * these features.
 */
bool hunt_pool_varies(const struct hunt_pool *pool, const struct hunt_pattern *pattern,
		      unsigned differs);

/* Leaves out instructions from `first` up to, not including, `end`.  Returns false if nothing would
 * be left.
 */
bool hunt_without(const struct hunt_code *code, size_t first, size_t end, struct hunt_names *names,
		  struct hunt_code *out);

/* ---- findings ---- */

struct hunt_row {
	const uint8_t *code; /* in the arena */
	uint32_t code_size;
	uint8_t alignment;
	uint32_t n_pieces; /* parts of the pool that it consists of, from this one on */
	size_t first_piece;
	uint32_t bottlenecks;
	double weight, judged, predicted; /* judged 0: not known; predicted 0: no number */
};

struct hunt_result {
	struct tact_hunt_finding view; /* first */
	struct hunt_class class;
	struct hunt_code example;
	char *words; /* owned */
};

/* A block on which the sides disagree, on its way to a class: first it is made shorter, then each of
 * its features is tried alone, then all that do not matter together, then real blocks of the class.
 */
enum hunt_stage { HUNT_SHRINKING, HUNT_TRYING, HUNT_JOINING, HUNT_REAL, HUNT_DONE };

/* One thing that may not matter. */
struct hunt_trial {
	size_t insn;	   /* of features */
	unsigned features; /* of this instruction that are free; 0: a relation is */
	unsigned relation;
	unsigned n, n_off; /* members with numbers; those that disagree alike */
	bool is_vacuous;   /* no instruction differs only in this */
};

enum { HUNT_MAX_TRIALS = 12 * HUNT_MAX_PATTERNS + 4 };

struct hunt_prey {
	enum hunt_stage stage;
	struct hunt_code block;
	unsigned alignment;
	double judged, predicted;
	int sign; /* of predicted - judged */
	size_t chunk;
	struct hunt_trial trial[HUNT_MAX_TRIALS];
	size_t n_trials;
	size_t n_dropped;	 /* trials, the boldest first, that are not part of the class */
	struct hunt_class class; /* what is tried now */
	unsigned n_tried, n_off, n_real, n_real_off;
	double error; /* sum over those that disagree */
	uint64_t seed;
	bool is_stuck; /* an answer is missing */
	size_t n_found;
};

/* One block of a batch, and what it is for. */
struct hunt_request {
	struct hunt_code *code; /* owned by the batch */
	unsigned alignment;
	uint32_t prey;	/* HASH_NONE: a new block */
	uint32_t trial; /* of the prey */
	struct tact_hunt_value model, judge;
};

struct hunt_batch {
	struct hunt_request *request; /* owned */
	size_t n, capacity;
};

struct tact_hunt {
	struct tact_hunt_options opt;
	struct hunt_names names;
	struct tact_arena arena; /* code of rows */
	struct hunt_row *row;	 /* owned */
	size_t n_rows, row_capacity;
	uint32_t *piece; /* owned; of all rows */
	size_t n_pieces, piece_capacity;
	double total_weight;
	struct hunt_pool pool;
	struct hunt_maker maker;
	struct hunt_prey **prey; /* owned, each too; active ones */
	size_t n_prey, prey_capacity;
	struct hunt_result **result; /* owned, each too */
	size_t n_results, result_capacity;
	uint32_t *sweep; /* owned; parts to be tried alone: one of each form and kind of address */
	size_t n_sweep, next_sweep;
	struct hash seen; /* new blocks that were asked about */
	size_t n_made;
	struct tact_hunt_counts counts;
	double *cumulated; /* owned; of weights, to choose rows */
	bool is_waiting;   /* the judge has no answer for a new block yet */
};

/* Returns +1 or -1 if the sides disagree, else 0. */
int hunt_disagree(const struct tact_hunt *h, double judged, double predicted);

/* Asks both sides about a batch.  Returns 0 or an error of a side. */
int hunt_ask(struct tact_hunt *h, struct hunt_batch *batch, struct tact_diag *diag);

/* Adds to the batch what prey number i needs next; takes the answers.  Return 0 or -TACT_E_NOMEM. */
int hunt_prey_request(struct tact_hunt *h, size_t i, struct hunt_batch *batch);
int hunt_prey_take(struct tact_hunt *h, size_t i, const struct hunt_batch *batch);

/* Begins and ends the trials of a prey that cannot be made shorter (hunt_trials.c). */
void hunt_trials_begin(struct tact_hunt *h, struct hunt_prey *prey);
int hunt_trials_request(struct tact_hunt *h, size_t i, struct hunt_batch *batch);
void hunt_trials_take(struct tact_hunt *h, size_t i, const struct hunt_batch *batch);

int hunt_batch_add(struct hunt_batch *batch, const struct hunt_code *code, unsigned alignment,
		   uint32_t prey, uint32_t trial);
void hunt_batch_clear(struct hunt_batch *batch);

/* Adds a finding; words and weights are found here.  Returns 0 or -TACT_E_NOMEM. */
int hunt_add_result(struct tact_hunt *h, const struct hunt_class *class,
		    const struct hunt_code *example, const struct tact_hunt_finding *view);

/* Returns whether a class was found that has this block as a member, and counts it. */
bool hunt_is_found(struct tact_hunt *h, const struct hunt_code *block, int sign);

/* Finds which share of the data set has blocks with the instructions of a class. */
void hunt_weigh(struct tact_hunt *h, const struct hunt_class *class,
		struct tact_hunt_finding *view);

/* Chooses up to `most` such blocks, heavy ones more often.  Returns how many. */
enum { HUNT_MAX_REAL = 64 };
size_t hunt_sample_rows(struct tact_hunt *h, const struct hunt_class *class, size_t most,
			uint64_t *random, size_t rows[HUNT_MAX_REAL]);

/* Sorts the findings: the ones with the most weight first. */
void hunt_sort(struct tact_hunt *h);

#endif /* HUNT_HUNT_H */
