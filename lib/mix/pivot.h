/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of pivot tables.
 */
#ifndef MIX_PIVOT_H
#define MIX_PIVOT_H

#include "mix/bias.h"
#include "mix/mix.h"

/* An instruction as it is counted. */
struct pivot_item {
	struct tact_mix *mix;
	const struct mix_profile *profile;
	struct mix_module *module;
	const struct mix_code *code;
	uint32_t thread, offset;
	struct isa_properties properties;
	const struct tact_mix_taxonomy *taxonomy;
};

/* Returns the text of a key, static or in the buffer. */
const char *pivot_value(const struct pivot_item *x, enum tact_mix_key key, char *text, size_t size);
bool pivot_passes(const struct pivot_item *x, const struct tact_mix_pivot_options *o);

/* Whether a key or a filter tells threads or processes apart. */
bool pivot_is_by_thread(const struct tact_mix_pivot_options *o);

#endif /* MIX_PIVOT_H */
