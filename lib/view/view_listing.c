/* SPDX-License-Identifier: MIT
 *
 * Names of what views show: instructions, their notes, bottlenecks.
 */
#include <stdlib.h>
#include <string.h>

#include "view/view.h"

enum { MAX_COLUMN = 48 };

const struct tact_view_note tact_view_notes[] = {
	{TACT_NOTE_FUSED_PREV, 'M', "fused_prev", "macro-fused with the instruction before"},
	{TACT_NOTE_FUSED_NEXT, 0, "fused_next", "macro-fused with the next instruction"},
	{TACT_NOTE_ELIMINATED, 'E', "eliminated", "a move that the renamer may execute"},
	{TACT_NOTE_IDIOM, 'I', "idiom", "needs no port and does not wait for its registers"},
	{TACT_NOTE_JCC, 'J', "jcc_erratum", "keeps its window out of the DSB (JCC erratum)"},
	{TACT_NOTE_COMPLEX, 'C', "complex", "needs the complex decoder"},
	{TACT_NOTE_MICROCODED, 'S', "microcoded", "microcoded"},
	{TACT_NOTE_LCP, 'L', "lcp", "length-changing prefix"},
	{TACT_NOTE_UNLAMINATED, 'U', "unlaminated", "unlaminated: more uops after the decoders"},
	{TACT_NOTE_STACK_SYNC, 'Y', "stack_sync", "a stack synchronisation uop before it"},
	{TACT_NOTE_SWITCHES, 'V', "switches", "saves or restores upper parts of vector registers"},
	{TACT_NOTE_UNKNOWN, 'X', "unknown", "no data: counted as one uop that needs no port"},
	{0, 0, NULL, NULL},
};

int tact_listing_init(struct tact_listing *listing, const struct tact_block *block,
		      uint64_t address)
{
	size_t code_size = 0;
	const uint8_t *code = block ? tact_block_code(block, &code_size) : NULL;

	if (!listing)
		return -TACT_E_INVAL;
	*listing = (struct tact_listing){.n = 0};
	if (!block)
		return -TACT_E_INVAL;
	*listing = (struct tact_listing){.n = tact_block_length(block)};
	listing->line = calloc(listing->n ? listing->n : 1, sizeof(*listing->line));
	if (!listing->line) {
		listing->n = 0;
		return -TACT_E_NOMEM;
	}
	for (size_t i = 0; i < listing->n; i++) {
		size_t offset = tact_block_offset(block, i), length;

		if (tact_isa_format(tact_arch_isa(tact_block_arch(block)), code + offset,
				    code_size - offset, address + offset, listing->line[i],
				    sizeof(listing->line[i])) < 0)
			memcpy(listing->line[i], "?", 2);
		length = strlen(listing->line[i]);
		if (length > listing->widest)
			listing->widest = length < MAX_COLUMN ? length : MAX_COLUMN;
	}
	return 0;
}

void tact_listing_fini(struct tact_listing *listing)
{
	if (!listing)
		return;
	free(listing->line);
	*listing = (struct tact_listing){0};
}

const char *tact_view_bottleneck_name_on(const struct tact_arch *arch, unsigned b)
{
	return b == TACT_VIEW_SCHEDULING ? "Scheduling"
					 : tact_bound_name_on(arch, (enum tact_bound)b);
}

const char *tact_view_bottleneck_name(unsigned b)
{
	return b == TACT_VIEW_SCHEDULING ? "Scheduling" : tact_bound_name((enum tact_bound)b);
}

const char *view_mode_name(enum tact_mode mode)
{
	return mode == TACT_MODE_LOOP ? "loop" : "unroll";
}

bool tact_view_idealized(struct tact_block *block, const struct tact_predict_options *opt,
			 unsigned b, double *cycles)
{
	struct tact_predict_options options;
	struct tact_prediction prediction = TACT_PREDICTION_INIT;
	const uint32_t all = (1u << TACT_N_BOUNDS) - 1;

	if (!block || !cycles || b >= TACT_N_BOUNDS ||
	    tact_read_options(&options, sizeof(options), opt) < 0)
		return false;
	if (!(options.stop_above >= 0))
		return false;
	options.size = sizeof(options);
	options.stop_above = 0;
	options.bounds = (options.bounds ? options.bounds : all) & ~(1u << b);
	if (!options.bounds || tact_predict(block, &options, &prediction) < 0)
		return false;
	if (!prediction.applies)
		return false;
	*cycles = prediction.cycles_per_iteration;
	return true;
}
