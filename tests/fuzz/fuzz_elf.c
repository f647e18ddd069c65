/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/base.h"
#include "base/hash.h"
#include "input/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(const uint8_t *data, size_t size, const struct tact_input_options *opt)
{
	struct tact_input *in;
	struct tact_region region = TACT_REGION_INIT;
	struct tact_diag diag;
	size_t n = 0;

	if (tact_input_open_memory(&in, data, size, opt, &diag) < 0)
		return;
	while (tact_input_next(in, &region, &diag) > 0) {
		/* Touches every byte. */
		hash_bytes(region.code, region.code_size);
		hash_bytes(region.name, strlen(region.name));
		hash_bytes(region.function, strlen(region.function));
		hash_bytes(region.source, strlen(region.source));
		if (++n == 1000)
			break;
	}
	tact_input_close(in);
}

/* Object files: sections, symbols, relocations, lines, loops, markers. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tact_input_options opt = {.size = sizeof(opt), .kind = TACT_INPUT_ELF};

	read_all(data, size, &opt);
	opt.function = "dot";
	read_all(data, size, &opt);
	opt.function = NULL;
	opt.addr_begin = 1;
	opt.addr_end = 7;
	read_all(data, size, &opt);
	return 0;
}
