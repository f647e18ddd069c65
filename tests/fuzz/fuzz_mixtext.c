/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mix/mix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Text files of tact mix: rules, taxonomies, exact counts.  What is read can be used; a rule reads
 * again as the same.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t code[] = {0xf0, 0x48, 0x0f, 0xb1, 0x0f}; /* lock cmpxchg */
	double features[MIX_N_FEATURES] = {19, 1, 5, 5, 60, 1, 1, 1};
	struct tact_mix_taxonomy *taxonomy;
	struct tact_mix_rule *rule, *again;
	struct isa_properties properties;
	struct tact_mix *mix;
	struct tact_diag diag;
	char path[40];
	int fd = memfd_create("text", MFD_CLOEXEC);

	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	tact_isa_default()->describe(&properties, code, sizeof(code));
	if (tact_mix_taxonomy_load_memory(&taxonomy, (const char *)data, size, &diag) >= 0) {
		mix_taxonomy_name(taxonomy, mix_taxonomy_group(taxonomy, &properties));
		tact_mix_taxonomy_destroy(taxonomy);
	}
	if (tact_mix_rule_load_memory(&rule, (const char *)data, size, &diag) >= 0) {
		if (tact_mix_rule_save(rule, path, &diag) < 0 ||
		    tact_mix_rule_load(&again, path, &diag) < 0 ||
		    mix_rule_choose(rule, features) != mix_rule_choose(again, features))
			__builtin_trap();
		tact_mix_rule_print(rule, NULL, 0);
		tact_mix_rule_destroy(rule);
		tact_mix_rule_destroy(again);
	}
	if (!ftruncate(fd, 0) && pwrite(fd, data, size, 0) == (ssize_t)size &&
	    tact_mix_open(&mix, path, NULL, &diag) >= 0)
		tact_mix_close(mix);
	close(fd);
	return 0;
}
