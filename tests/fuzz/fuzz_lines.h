/* SPDX-License-Identifier: MIT
 *
 * What the fuzzers of files with a block a line share.
 */
#ifndef FUZZ_LINES_H
#define FUZZ_LINES_H

#include "base/base.h"
#include "base/hash.h"
#include "input/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline int fuzz_lines(const uint8_t *data, size_t size, enum tact_input_kind as)
{
	const struct tact_input_options opt = {.size = sizeof(opt), .kind = as};
	enum tact_input_kind kind;
	struct tact_input *in;
	struct tact_region region = TACT_REGION_INIT;
	struct tact_diag diag;
	int status;

	input_detect((const char *)data, size, size & 1, &kind, &diag);
	if (tact_input_open_memory(&in, data, size, &opt, &diag) < 0)
		return 0;
	while ((status = tact_input_next(in, &region, &diag))) {
		if (status > 0 && region.code_size > region.text_size / 2)
			__builtin_trap();
		/* Touches every byte. */
		hash_bytes(region.code, region.code_size);
		hash_bytes(region.text, region.text_size);
	}
	tact_input_close(in);
	return 0;
}

#endif /* FUZZ_LINES_H */
