/* SPDX-License-Identifier: MIT */
#include "fuzz_lines.h"

/* CSV files, the hex in the first column. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_lines(data, size, TACT_INPUT_CSV);
}
