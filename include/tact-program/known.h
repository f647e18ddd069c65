/* SPDX-License-Identifier: MIT
 *
 * Blocks by which `tact doctor` judges what measuring gives here.
 */
#ifndef TACT_KNOWN_H
#define TACT_KNOWN_H

#include <stddef.h>
#include <stdint.h>

enum { TACT_KNOWN_ANSWERS = 8, TACT_KNOWN_BLOCKS = 20 };

/* A block with a known answer. */
struct tact_known_answer {
	const char *name, *hex;
	double low, high; /* cycles that it takes, on any core */
};

/* What is known of an instruction set. */
struct tact_known {
	struct tact_known_answer answer[TACT_KNOWN_ANSWERS];
	const char *block[TACT_KNOWN_BLOCKS]; /* to be measured twice, as hex */
	const char *trial_name;		      /* "a multiplication": the shortest trial */
	uint8_t trial[16];
	size_t trial_size;
};

/* Returns what is known of the set of this machine. */
const struct tact_known *tact_known(void);

#endif /* TACT_KNOWN_H */
