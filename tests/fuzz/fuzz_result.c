/* SPDX-License-Identifier: MIT */
#include <string.h>

#include <tact/result.h>

#include "base/base.h"
#include "base/hash.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void touch(const struct tact_result *r)
{
	for (unsigned kind = 0; kind < TACT_N_RESULT_KINDS; kind++) {
		size_t n;
		const struct tact_result_row *rows =
			tact_result_rows(r, (enum tact_result_kind)kind, &n);

		for (size_t i = 0; i < n; i++) {
			hash_bytes(rows[i].function, strlen(rows[i].function));
			hash_bytes(rows[i].source, strlen(rows[i].source));
			if (rows[i].code_size)
				hash_bytes(rows[i].code, rows[i].code_size);
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
		size_t n;
		const struct tact_diff_row *rows = tact_diff_rows(diff, TACT_RESULT_FUNCTION, &n);

		tact_diff_insns(diff, n ? rows : NULL, insns, ARRAY_SIZE(insns));
		tact_diff_destroy(diff);
	}
	tact_result_destroy(a);
	tact_result_destroy(b);
	return 0;
}
