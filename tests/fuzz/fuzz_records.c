/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include <tact-program/dataset.h>

#include "base/csv.h"
#include "base/hash.h"

#include "base/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* CSV files as `tact dataset import` reads them. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tact_records_options opt = {.size = sizeof(opt), .origin = "a.csv"};
	const struct csv_field *fields;
	struct tact_records *records;
	struct tact_record r;
	struct csv *csv;
	struct tact_diag diag;
	uint64_t line = 0;
	size_t n;
	int status;

	if (csv_open_memory(&csv, data, size, &diag) < 0)
		return 0;
	while ((status = csv_next(csv, &fields, &n, &diag)))
		for (size_t i = 0; status > 0 && i < n; i++)
			if (strlen(fields[i].text) != fields[i].size)
				__builtin_trap();
	csv_close(csv);
	if (tact_records_open_memory(&records, data, size, &opt, &diag) < 0)
		return 0;
	while ((status = tact_records_next(records, &r, &diag))) {
		if (status < 0)
			continue;
		if (!r.code_size || r.line <= line ||
		    (r.has_measurement && r.measurement.status == TACT_MEASURE_OK &&
		     !(isfinite(r.measurement.cycles_per_iteration) &&
		       r.measurement.cycles_per_iteration > 0)) ||
		    (r.has_source && !*r.app))
			__builtin_trap();
		line = r.line;
		hash_bytes(r.code, r.code_size);
	}
	tact_records_close(records);
	return 0;
}
