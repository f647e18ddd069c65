/* SPDX-License-Identifier: MIT
 *
 * What comments of the text set that costs depend on, and what is not known of it.
 */
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

void predict_remark_settings(struct predict_worker *w)
{
	const size_t n = tact_block_unset(w->block);

	if (n)
		predict_remark(w, "setting-unknown",
			       "%zu instruction%s what the code before has set, which is not known "
			       "(the vector type): LLVM's default costs",
			       n, n == 1 ? " depends on" : "s depend on");
}
