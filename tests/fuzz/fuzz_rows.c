/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include <tact-program/rows.h>

#include "base/base.h"
#include "base/hash.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Tables of measured blocks: what comes out is within its contract. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tact_rows *rows;
	struct tact_row row;
	struct tact_diag diag;
	int status;

	if (tact_rows_open_memory(&rows, data, size, &diag) < 0)
		return 0;
	while ((status = tact_rows_next(rows, &row, &diag))) {
		if (status == -TACT_E_FORMAT)
			continue;
		if (status < 0)
			break;
		if (!row.code_size || row.code_size > size || row.loop_size > size)
			__builtin_trap();
		if ((row.has_cycles && !isfinite(row.cycles)) || !(row.weight > 0) ||
		    row.clean < -1 || row.clean > 1)
			__builtin_trap();
		/* Touches every byte. */
		hash_bytes(row.code, row.code_size);
		hash_bytes(row.loop, row.loop_size);
		if ((row.n_sources && strlen(row.sources[0].app) > 255) ||
		    strlen(row.category) > 255)
			__builtin_trap();
	}
	tact_rows_close(rows);
	return 0;
}
