/* SPDX-License-Identifier: MIT
 *
 * What the files of `tact diff` share.
 */
#ifndef TACT_DIFFER_H
#define TACT_DIFFER_H

#include "trace/tracer.h"

struct diff_view {
	const struct tact_diff *diff;
	const struct tact_result *results[2];
	const char *names[2]; /* of A and B, for people */
	size_t top;
	double threshold; /* as a ratio, such as 1.02; 0: none */
};

double diff_ratio(const struct diff_view *view); /* cycles of B over those of A */
bool diff_is_over(const struct diff_view *view);

void diff_print_text(const struct diff_view *view, struct text *out);
void diff_print_markdown(const struct diff_view *view, struct text *out);
void diff_print_json(const struct diff_view *view, struct text *out, struct output *to);

/* The reason whose stalls changed most in the direction of the cycles; TACT_N_STALLS: none did.
 * In words: "Ports -> Dependencies; loads +1,234".
 */
enum tact_stall diff_cause(const double stalls[2][TACT_N_STALLS], double change);
void diff_add_cause(struct text *out, const struct tact_diff_row *row);

/* "imul +100,000, lea -50,000": up to `n` mnemonics whose number changed; false if none did. */
bool diff_add_insns(struct text *out, const struct diff_view *view, const struct tact_diff_row *row,
		    size_t n);
const struct tact_result_row *diff_some(const struct tact_diff_row *row); /* of B, or of A */

#endif /* TACT_DIFFER_H */
