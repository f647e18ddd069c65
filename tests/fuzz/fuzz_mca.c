/* SPDX-License-Identifier: MIT */
#include <tact/mca.h>

#include "fuzz_file.h"
#include "mca/mca.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Parameter files of the model mca.  What is read can be written, and reads as the same. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tact_mca_params *params = NULL, *again = NULL;
	struct tact_diag diag;
	char path[40];
	int fd = fuzz_file_open(path, data, size);

	if (fd < 0)
		return 0;
	if (tact_mca_params_create(&params, tact_arch_find("HSW"), NULL) < 0 ||
	    tact_mca_params_create(&again, tact_arch_find("HSW"), NULL) < 0)
		goto out;
	if (tact_mca_params_load(params, path, &diag) < 0)
		goto out;
	if (tact_mca_params_save(params, path, NULL, &diag) < 0 ||
	    tact_mca_params_load(again, path, &diag) < 0)
		__builtin_trap();
	for (unsigned i = 0; i < params->n_forms; i++)
		if (!mca_form_equal(&params->forms[i], &again->forms[i]))
			__builtin_trap();
out:
	tact_mca_params_destroy(params);
	tact_mca_params_destroy(again);
	close(fd);
	return 0;
}
