/* SPDX-License-Identifier: MIT
 *
 * Where a loop lies in its cache lines: 16, 32 or 64 bytes of alignment, or other padding.
 */
#include "advice/advisor.h"

/* Predicts the block itself at another offset. */
static double cycles_at(struct tact_advisor *a, unsigned offset)
{
	offset %= ADVICE_LINES;
	if (a->placed[offset] < 0) {
		advice_begin(a, "padding");
		advice_copy(a);
		a->draft.alignment = offset;
		a->draft.is_placed = true;
		a->draft.after = a->before;
		advice_try(a);
		a->placed[offset] = a->draft.after;
	}
	return a->placed[offset];
}

/* Bytes up to the next multiple of 1 << power. */
static unsigned padding_to(unsigned offset, unsigned power)
{
	return -offset & ((1u << power) - 1);
}

/* Finds the least alignment, or else the least padding, that is about as good as the best. */
static unsigned choose_padding(struct tact_advisor *a, unsigned offset, unsigned *power)
{
	const unsigned step = a->opt.is_slow ? 8 : 1;
	const double enough = a->best_place + 0.01 * a->before;

	for (*power = 4; *power <= 6; ++*power) {
		const unsigned padding = padding_to(offset, *power);

		if (padding && cycles_at(a, offset + padding) <= enough)
			return padding;
	}
	*power = 0;
	for (unsigned padding = step; padding < ADVICE_LINES; padding += step)
		if (cycles_at(a, offset + padding) <= enough)
			return padding;
	return 0;
}

void advise_place(struct tact_advisor *a)
{
	const unsigned offset = a->block->opt.alignment % ADVICE_LINES;
	const unsigned step = a->opt.is_slow ? 8 : 1;
	const bool jcc = a->block->jcc_erratum;
	struct advice_found *f;
	unsigned padding, power;

	/* Code that is unrolled comes to lie everywhere. */
	if (a->block->mode != TACT_MODE_LOOP)
		return;
	a->placed[offset] = a->before;
	for (unsigned k = step; k < ADVICE_LINES; k += step)
		if (cycles_at(a, offset + k) < a->best_place)
			a->best_place = cycles_at(a, offset + k);
	if (a->before - a->best_place < a->opt.least_gain * a->before)
		return;
	padding = choose_padding(a, offset, &power);
	a->placed[(offset + padding) % ADVICE_LINES] = -1;
	cycles_at(a, offset + padding); /* the draft, once more */
	if (!padding || a->draft.after >= a->before)
		return;
	if (jcc && !a->other->jcc_erratum)
		a->draft.name = "jcc-erratum";
	f = advice_keep(a);
	if (!f)
		return;
	if (jcc && !a->other->jcc_erratum)
		text_add(&f->text, "the branch crosses or ends on a 32-byte boundary, which keeps "
				   "the loop out of the DSB; ");
	if (power)
		text_printf(&f->text, "align the loop to %u bytes (.p2align %u), here by ",
			    1u << power, power);
	else
		text_add(&f->text, "put the loop elsewhere by ");
	text_printf(&f->text, "%u byte%s of padding before it", padding, padding > 1 ? "s" : "");
}
