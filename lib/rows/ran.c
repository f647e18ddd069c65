/* SPDX-License-Identifier: MIT
 *
 * The code of a row as it ran: loops have their branch.
 */
#include <stdlib.h>

#include "code/transfers.h"
#include "rows/rows.h"

struct tact_ran {
	uint8_t *code; /* owned */
	size_t capacity;
};

int tact_ran_create(struct tact_ran **out)
{
	return tact_new(out, sizeof(**out), out, "no place for the result", NULL);
}

void tact_ran_destroy(struct tact_ran *ran)
{
	if (!ran)
		return;
	free(ran->code);
	free(ran);
}

bool tact_ran_is_loop(const struct tact_isa *isa, const uint8_t *code, size_t size)
{
	return code_is_loop(isa, code, size);
}

int tact_ran_code(struct tact_ran *ran, const struct tact_isa *isa, const struct tact_row *row,
		  enum tact_mode mode, const uint8_t **code, size_t *size)
{
	*code = row->code;
	*size = row->code_size;
	if (mode != TACT_MODE_LOOP)
		return 0;
	if (row->loop_size) {
		*code = row->loop;
		*size = row->loop_size;
	} else if (!tact_ran_is_loop(isa, row->code, row->code_size)) {
		if (tact_grow(&ran->code, &ran->capacity, row->code_size + TACT_MEASURE_LOOP_BYTES,
			      1) < 0)
			return -TACT_E_NOMEM;
		*size = tact_measure_loop(isa, ran->code, row->code, row->code_size);
		*code = ran->code;
	}
	return 0;
}
