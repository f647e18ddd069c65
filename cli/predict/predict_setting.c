/* SPDX-License-Identifier: MIT
 *
 * What comments of the text set that costs depend on, and what is not known of it.
 */
#include <stdio.h>

#include "common/cli.h"
#include "predictor.h"

int predict_set_settings(struct predict_worker *w)
{
	const struct tact_region *region = &w->source->region;
	const size_t n = tact_block_length(w->block);
	int status = 0;
	size_t i = 0;

	for (size_t k = 0; k < region->n_settings && status >= 0; k++) {
		while (i < n && tact_block_offset(w->block, i) < region->settings[k].at)
			i++;
		if (i < n)
			status = tact_block_set_setting(w->block, i, region->settings[k].setting);
	}
	return status;
}

/* Code that the CPU cannot execute is predicted nevertheless. */
static void remark_foreign(struct predict_worker *w)
{
	size_t first = 0, size;
	const size_t found = tact_block_foreign(w->block, &first);
	const uint8_t *code;
	char text[128];

	if (!found)
		return;
	first = tact_block_offset(w->block, first);
	code = tact_block_code(w->block, &size);
	if (tact_isa_format(tact_arch_isa(w->arch), code + first, size - first, 0, text,
			    sizeof(text)) < 0)
		snprintf(text, sizeof(text), "at byte %zu", first);
	predict_remark(w, "extension-missing",
		       "%s has no such instruction, by LLVM's list of its extensions (%zu): %s",
		       tact_arch_name(w->arch), found, text);
}

void predict_remark_settings(struct predict_worker *w)
{
	const size_t n = tact_block_unset(w->block);

	remark_foreign(w);

	if (n)
		predict_remark(w, "setting-unknown",
			       "%zu instruction%s what the code before has set, which is not known "
			       "(the vector type): LLVM's default costs",
			       n, n == 1 ? " depends on" : "s depend on");
}
