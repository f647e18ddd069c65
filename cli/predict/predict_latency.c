/* SPDX-License-Identifier: MIT
 *
 * Latencies that comments of the text give.
 */
#include <string.h>

#include "common/cli.h"
#include "predictor.h"

static unsigned latency_of(const struct tact_region *region, size_t offset)
{
	unsigned cycles = 0;

	for (size_t k = 0; k < region->n_latencies; k++)
		if (offset >= region->latencies[k].begin && offset < region->latencies[k].end)
			cycles = region->latencies[k].cycles;
	return cycles;
}

/* The model computes with the tables of FACILE. */
static bool can_obey(const struct predict_worker *w)
{
	return w->simulator || w->p->is_facile || !strcmp(w->p->model, "sim");
}

int predict_set_latencies(struct predict_worker *w)
{
	const struct tact_region *region = &w->source->region;
	const size_t n = tact_block_length(w->block);
	int status = 0;

	for (size_t i = 0; i < n && status >= 0 && can_obey(w); i++) {
		const unsigned cycles = latency_of(region, tact_block_offset(w->block, i));

		if (cycles)
			status = tact_block_set_latency(w->block, i, cycles);
	}
	return status;
}

void predict_remark_latencies(struct predict_worker *w)
{
	enum { MOST = 8 };
	const struct tact_region *region = &w->source->region;
	const size_t n = tact_block_length(w->block);
	struct text list = {0};
	size_t found = 0;

	if (!can_obey(w)) {
		predict_remark(w, "annotations-ignored",
			       "LLVM-MCA-LATENCY ignored: the model %s has latencies of its own",
			       w->p->model);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const unsigned cycles = latency_of(region, tact_block_offset(w->block, i));

		if (cycles && ++found <= MOST)
			text_printf(&list, "%s%zu: %u", found > 1 ? ", " : "", i + 1, cycles);
	}
	if (found > MOST)
		text_printf(&list, " and %zu more", found - MOST);
	if (found && !text_string(&list))
		cli_out_of_memory();
	if (found)
		predict_remark(w, "latency-given",
			       "LLVM-MCA-LATENCY gives latencies (instruction: cycles): %s",
			       text_string(&list));
	text_free(&list);
}
