/* SPDX-License-Identifier: MIT
 *
 * What the files that read records share.
 */
#ifndef DATASET_RECORDS_H
#define DATASET_RECORDS_H

#include <tact/dataset.h>

#include "base/csv.h"
#include "store/store.h"

/* Columns that are known. */
enum column {
	COL_HEX,
	COL_RECORD,
	COL_APP,
	COL_WEIGHT,
	COL_CATEGORY,
	COL_CLASSIFIER,
	COL_ARCH,
	COL_MODE,
	COL_INIT,
	COL_MODEL,
	COL_VERSION,
	COL_STATUS,
	COL_CYCLES,
	COL_COVERAGE,
	COL_BOTTLENECKS,
	COL_SPREAD,
	COL_KEPT,
	COL_DROPPED,
	COL_LOW,
	COL_HIGH,
	COL_RUNG,
	COL_FLAGS,
	COL_PAGES,
	COL_REASON,
	COL_CLEAN,
	COL_ORIGIN,
	COL_HEX_LOOP,
	COL_MACHINE,
	COL_VENDOR,
	COL_FAMILY,
	COL_CPU_MODEL,
	COL_STEPPING,
	COL_MICROCODE,
	COL_HYPERVISOR,
	N_COLUMNS
};

enum { RECORDS_MAX_DESCRIPTION = 400 };

struct tact_records {
	struct csv *csv;		 /* owned */
	struct tact_records_options opt; /* strings copied to `strings` */
	char strings[6][TACT_STORE_NAME_MAX + 1], weight_app[TACT_STORE_NAME_MAX + 1];
	int at[N_COLUMNS]; /* where a column is; -1: nowhere */
	bool has_predictions;
	double iterations; /* that cycles are for */
	char description[RECORDS_MAX_DESCRIPTION];
	uint8_t *code, *loop_code; /* owned */
	size_t capacity, loop_capacity;
	const struct csv_field *fields;
	size_t n_fields;
	bool is_pending; /* the first record is data, and was read */
};

#endif /* DATASET_RECORDS_H */
