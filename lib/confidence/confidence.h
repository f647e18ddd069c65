/* SPDX-License-Identifier: MIT
 *
 * Layer 5: classes of blocks, and the tables of intervals that were learned for them.
 */
#ifndef TACT_CONFIDENCE_PRIVATE_H
#define TACT_CONFIDENCE_PRIVATE_H

#include <tact/confidence.h>

#include "base/base.h"

#define CONFIDENCE_LEVEL 0.9

enum confidence_kind {
#define CLASS(id, name, words) CONFIDENCE_##id,
#include "confidence/classes.def"
#undef CLASS
	CONFIDENCE_N_KINDS,
	CONFIDENCE_ANY_KIND = CONFIDENCE_N_KINDS /* in tables: those that have no line */
};

enum confidence_length {
	CONFIDENCE_ANY_LENGTH, /* in tables: those that have no line */
	CONFIDENCE_SHORT,      /* up to 4 instructions */
	CONFIDENCE_MEDIUM,     /* up to 8 */
	CONFIDENCE_LONG,       /* up to 16 */
	CONFIDENCE_VERY_LONG,
	CONFIDENCE_N_LENGTHS
};

enum confidence_model { CONFIDENCE_FACILE, CONFIDENCE_SIM, CONFIDENCE_N_MODELS };

struct confidence_class {
	uint8_t kind, length;
};

/* A line of a table: 5 to 10 of 100 measured blocks of this class took less than `low` or more than
 * `high` times what was predicted.
 */
struct confidence_line {
	uint8_t mode, model; /* enum tact_mode, enum confidence_model */
	struct confidence_class of;
	uint32_t rows;
	double low, high;
};

/* The table of a CPU, or the CPU whose table it borrows. */
struct confidence_table {
	const char *arch, *borrowed; /* borrowed NULL: its own lines */
	const char *note;	     /* on the rows that it was learned from; "": none */
	const struct confidence_line *lines;
	size_t n;
};

const char *confidence_kind_name(unsigned kind);     /* "any" for CONFIDENCE_ANY_KIND */
const char *confidence_length_name(unsigned length); /* "any", "1-4", ... */

/* Returns the number of a model of the registry, or -1. */
int confidence_model_find(const char *name);

/* Says which class a loaded block belongs to, if the model predicts so many cycles and FACILE these
 * bounds.
 */
struct confidence_class confidence_classify(const struct tact_block *block,
					    enum confidence_model model,
					    const struct tact_prediction *bounds, double cycles);

/* Returns the line for a class: its own, that of its kind, or that of all others.  NULL: none. */
const struct confidence_line *confidence_find(const struct confidence_line *lines, size_t n,
					      enum tact_mode mode, enum confidence_model model,
					      struct confidence_class of);

/* Returns the built-in table of a CPU, following one loan; NULL if it has none. */
const struct confidence_table *confidence_table_of(const char *arch);

#endif /* TACT_CONFIDENCE_PRIVATE_H */
