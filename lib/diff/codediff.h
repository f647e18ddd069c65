/* SPDX-License-Identifier: MIT
 *
 * Layer 8: two versions of code side by side.
 *
 *   code_load.c   a file as pieces of code
 *   pairing.c     which pieces belong together
 *   codediff.c    what they cost, and in which order they are shown
 */
#ifndef TACT_DIFF_CODEDIFF_H
#define TACT_DIFF_CODEDIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact-program/codediff.h>
#include <tact/input.h>
#include <tact/predict.h>
#include <tact/remark.h>

#include "base/base.h"

/* A loop, or the code of a function without loops. */
struct code_piece {
	const char *name, *function, *source,
		*source_path; /* "" if unknown; in the arena, like code and hashes */
	const uint8_t *code;
	size_t code_size;
	uint64_t address, line;
	uint64_t content;	   /* hash of all instructions */
	const uint64_t *insns;	   /* hashes of the instructions, one by one */
	const uint64_t *mnemonics; /* numbers of their mnemonics */
	const uint32_t *offsets;   /* where they begin; n_insns + 1 of them */
	size_t n_insns;		   /* that can be decoded */
	bool is_loop;
	unsigned alignment;
	uint32_t moving;	      /* of struct tact_block_options */
	uint16_t setting;	      /* of it, too */
	struct tact_remarks *remarks; /* owned; NULL: none */
};

struct tact_code {
	struct code_piece *pieces; /* owned */
	size_t n, capacity;
	const struct tact_isa *isa; /* NULL: there is no code */
	struct tact_arena memory;
	char description[96];
};

enum { PIECE_NONE = -1 };

/* Creates a version without code, and adds a piece to a version, whose set must be known to be that of
 * the region: all but `size` and what code_piece has is ignored.  Return 0 or -TACT_E_NOMEM.
 */
int code_create(struct tact_code **out, const struct tact_isa *isa);
int code_add(struct tact_code *code, const struct tact_region *region);

/* Finds which pieces belong together: other_a[i] is the number of the piece of B that belongs to
 * piece i of A, or PIECE_NONE, and other_b vice versa.  Returns 0 or -TACT_E_NOMEM.
 */
int diff_pair(const struct tact_code *a, const struct tact_code *b, long *other_a, long *other_b);

/* What a piece costs on a CPU. */
struct code_cost {
	int status; /* 0, or why there is none */
	double cycles, coverage;
	uint32_t bottlenecks; /* bits of enum tact_bound */
	bool scheduling;
};

enum codediff_kind {
	CODEDIFF_CHANGED, /* in both versions, with other cycles on a CPU at least */
	CODEDIFF_FAILED,  /* in both, but a prediction is missing */
	CODEDIFF_ONLY,	  /* in one */
	CODEDIFF_SAME	  /* in both, with the same cycles */
};

struct codediff_row {
	enum codediff_kind kind;
	const struct code_piece *side[2]; /* NULL: not there */
	const struct code_cost *cost[2];  /* n_archs of them; NULL: not there */
	double change; /* largest logarithm of a ratio, without its sign; only in one: most cycles */
	size_t order;  /* as the pieces stand in the files */
};

struct tact_codediff {
	const struct tact_code *side[2];
	const struct tact_arch **archs; /* owned: the list */
	size_t n_archs;
	struct codediff_row *rows; /* owned; what changed most comes first */
	size_t n_rows;
	struct code_cost *costs; /* owned */
	struct tact_codediff_summary summary;
};

/* Returns the ratio of cycles, B to A, of a row that both versions have; 0 if it has none.  Costs
 * that print the same are the same.
 */
double codediff_ratio(const struct codediff_row *row, size_t arch);

/* Which instructions of a row both versions have. */
struct codediff_common {
	bool *side[2]; /* side[0]: one piece of memory for both, which the caller frees */
	size_t n;      /* how many there are */
};

/* Finds them.  Returns 0 or -TACT_E_NOMEM, with nothing to free. */
int codediff_common(struct codediff_common *out, const struct codediff_row *row);

#endif /* TACT_DIFF_CODEDIFF_H */
