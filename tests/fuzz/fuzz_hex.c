/* SPDX-License-Identifier: MIT */
#include "fuzz_lines.h"

/* Lists of hex strings, and telling what a file is. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_lines(data, size, TACT_INPUT_HEX);
}
