/* SPDX-License-Identifier: MIT */
#include <string.h>

#include <tact/result.h>

#include "base/base.h"
#include "base/hash.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void touch(const struct tact_result *r)
{
	for (unsigned kind = 0; kind < TACT_N_RESULT_KINDS; kind++) {
		struct tact_result_row row = TACT_RESULT_ROW_INIT;

		for (size_t i = 0; !tact_result_get_row(r, (enum tact_result_kind)kind, i, &row);
		     i++) {
			hash_bytes(row.function, strlen(row.function));
			hash_bytes(row.source, strlen(row.source));
			if (row.code_size)
				hash_bytes(row.code, row.code_size);
		}
	}
}

/* A stored result, and the same against its first half. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tact_result *a, *b;
	struct tact_diff_insn insns[8];
	struct tact_diff *diff;
	struct tact_diag diag;

	if (tact_result_load_memory(&a, data, size, &diag) < 0)
		return 0;
	touch(a);
	if (tact_result_load_memory(&b, data, size / 2, &diag) < 0)
		b = NULL;
	if (!tact_diff_create(&diff, a, b ? b : a, &diag)) {
		const size_t n = tact_diff_count(diff, TACT_RESULT_FUNCTION);

		tact_diff_get_insns(diff, n ? 0 : TACT_NO_ROW, insns, ARRAY_SIZE(insns));
		tact_diff_destroy(diff);
	}
	tact_result_destroy(a);
	tact_result_destroy(b);
	return 0;
}
