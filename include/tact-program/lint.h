/* SPDX-License-Identifier: MIT
 *
 * Finds what cannot be right in a store of blocks and measurements, or is suspicious.
 */
#ifndef TACT_PROGRAM_LINT_H
#define TACT_PROGRAM_LINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/store.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Checks: bits. */
enum tact_lint_check {
	TACT_LINT_DECODE = 1 << 0,	/* bytes that are not code */
	TACT_LINT_WEIGHTS = 1 << 1,	/* weights that are not positive */
	TACT_LINT_DUPLICATES = 1 << 2,	/* the same instructions in other bytes */
	TACT_LINT_UNITS = 1 << 3,	/* files whose numbers are off by a factor of a hundred */
	TACT_LINT_BOUNDS = 1 << 4,	/* fewer cycles than the CPU needs */
	TACT_LINT_ALIAS = 1 << 5,	/* loads of data that was stored through another address */
	TACT_LINT_UNCONFIRMED = 1 << 6, /* numbers that no second round confirms; not an error */
	TACT_LINT_HOSTS = 1 << 7,	/* hosts that disagree with others */
	TACT_LINT_ALL = (1 << 8) - 1
};
enum { TACT_N_LINT_CHECKS = 8 };

/* Returns the name of the i-th bit: "decode", "weights", ...; NULL after the last one. */
const char *tact_lint_name(unsigned i);

struct tact_finding {
	size_t size;
	enum tact_lint_check check;
	const uint8_t *code; /* NULL: not about one block */
	size_t code_size;
	const char *machine, *arch, *mode, *origin, *app; /* "" where there is none */
	double value, bound;				  /* NAN where there is none */
	const char *what, *todo;
};

/* A set of blocks, identified by their bytes. */
struct tact_block_set;
int tact_block_set_create(struct tact_block_set **out);
void tact_block_set_destroy(struct tact_block_set *set); /* NULL is allowed */
/* Returns 1 if the block is new, 0 if the set has it, -TACT_E_INVAL for no bytes, -TACT_E_NOMEM. */
int tact_block_set_add(struct tact_block_set *set, const uint8_t *code, size_t size);
bool tact_block_set_has(const struct tact_block_set *set, const uint8_t *code, size_t size);

struct tact_lint_options {
	size_t size;
	unsigned checks;			/* 0: all */
	double tolerance;			/* of bounds, in percent */
	const struct tact_store_filter *filter; /* which rows; NULL: all */
	const struct tact_block_set
		*suspects; /* blocks suspected of aliasing; NULL: none are known */
	/* Called for each finding; its pointers are valid during the call only.  A result other
	 * than 0 ends the search, without an error.
	 */
	int (*report)(void *context, const struct tact_finding *finding);
	/* Called for rows of a CPU that is not modelled, whose units and bounds are not checked.
	 * May be NULL.
	 */
	void (*unknown)(void *context, const char *machine, enum tact_mode mode);
	/* Called with the number of blocks and rows that were looked at.  May be NULL. */
	void (*progress)(void *context, uint64_t done);
	void *context;
};

/* Checks blocks first, then measurements by CPU and mode, then hosts.
 * Returns how many rows could not be read, whatever else was found; errors of walking over a
 * store; -TACT_E_INVAL, -TACT_E_NOMEM.
 */
int tact_lint(struct tact_store *store, const struct tact_lint_options *opt,
	      struct tact_diag *diag);

#ifdef __cplusplus
}
#endif

#endif /* TACT_PROGRAM_LINT_H */
