/* SPDX-License-Identifier: MIT
 *
 * Parameter files of the model mca.  What is read can be written, and reads as the same; a file that
 * cannot be read changes nothing; and the next file does not see the one before it.
 */
#include <string.h>

#include <tact/mca.h>

#include "base/hash.h"
#include "fuzz.h"
#include "fuzz_file.h"
#include "mca/mca.h"

static bool are_equal(const struct tact_mca_params *a, const struct tact_mca_params *b)
{
	return a->dispatch_width == b->dispatch_width && a->reorder_buffer == b->reorder_buffer &&
	       a->has_memory == b->has_memory && a->memory == b->memory &&
	       !memcmp(a->forms, b->forms, a->n_forms * sizeof(a->forms[0]));
}

static void check_values(const struct tact_mca_params *params)
{
	MUST(params->dispatch_width && params->dispatch_width <= MCA_MAX_DISPATCH_WIDTH);
	MUST(params->reorder_buffer && params->reorder_buffer <= MCA_MAX_REORDER_BUFFER);
	for (unsigned i = 0; i < params->n_forms; i++)
		MUST(params->forms[i].micro_ops > 0 &&
		     !params->forms[i].read_advance[TACT_MCA_READS]);
}

static uint64_t hash_forms(const struct tact_mca_params *params)
{
	return hash_bytes(params->forms, params->n_forms * sizeof(params->forms[0]));
}

/* Parameters are made once, as in programs that read many files, and only some executions look at all
 * of them: both take longer than everything else.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tact_mca_params *params, *again;
	const bool is_checked = hash_bytes(data, size) % 64 == 0;
	uint64_t before = 0;
	struct tact_diag diag;
	char path[40];
	const int fd = fuzz_file_open(path, data, size);

	MUST(fd >= 0);
	if (!params) {
		MUST(tact_mca_params_create(&params, tact_arch_find("HSW"), NULL) == 0);
		MUST(tact_mca_params_create(&again, tact_arch_find("HSW"), NULL) == 0);
	}
	if (is_checked)
		before = hash_forms(params);
	if (tact_mca_params_load(params, path, &diag) < 0) {
		MUST(*diag.text);
		MUST(!is_checked || hash_forms(params) == before);
	} else if (is_checked) {
		check_values(params);
		MUST(tact_mca_params_save(params, path, NULL, &diag) >= 0);
		MUST(tact_mca_params_load(again, path, &diag) >= 0);
		MUST(are_equal(params, again));
	}
	close(fd);
	return 0;
}
