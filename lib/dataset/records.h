/* SPDX-License-Identifier: MIT
 *
 * Declarations that the readers of records share.
 */
#ifndef DATASET_RECORDS_H
#define DATASET_RECORDS_H

#include <tact-program/dataset.h>

#include "rows/rows.h"
#include "store/store.h"

enum { RECORDS_MAX_DESCRIPTION = 400 };

struct tact_records {
	struct rows_file file;
	struct tact_records_options opt; /* strings copied to `strings` */
	char strings[6][TACT_STORE_NAME_MAX + 1], weight_app[TACT_STORE_NAME_MAX + 1];
	bool has_predictions;
	double iterations; /* that the cycles are for */
	char description[RECORDS_MAX_DESCRIPTION];
	uint8_t *code, *loop_code; /* owned */
	size_t capacity, loop_capacity;
	bool is_pending; /* the first record is data and has been read */
};

#endif /* DATASET_RECORDS_H */
