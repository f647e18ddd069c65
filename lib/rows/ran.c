/* SPDX-License-Identifier: MIT
 *
 * The code of a row as it ran: a loop has its branch.
 */
#include <stdlib.h>
#include <string.h>

#include <tact/arch.h>

#include "rows/rows.h"

struct tact_ran {
	struct tact_block *block; /* owned; tells loops from other code */
	uint8_t *code;		  /* owned */
	size_t capacity;
};

int tact_ran_create(struct tact_ran **out)
{
	struct tact_ran *ran;
	int status;

	if (!out)
		return -TACT_E_INVAL;
	ran = calloc(1, sizeof(*ran));
	if (!ran)
		return -TACT_E_NOMEM;
	status = tact_block_create(&ran->block, tact_arch_next(NULL), NULL, NULL);
	if (status < 0) {
		free(ran);
		return status;
	}
	*out = ran;
	return 0;
}

void tact_ran_destroy(struct tact_ran *ran)
{
	if (!ran)
		return;
	tact_block_destroy(ran->block);
	free(ran->code);
	free(ran);
}

/* Whether the last bytes can be a branch to the start; most code has none, and need not be decoded
 * for that.
 */
static bool may_be_loop(const uint8_t *code, size_t size)
{
	int32_t back;

	if (size >= 2 && size <= 128 && (int8_t)code[size - 1] == -(int)size)
		return true;
	if (size < 5)
		return false;
	memcpy(&back, code + size - 4, sizeof(back));
	return back == -(int32_t)size;
}

bool tact_ran_is_loop(struct tact_ran *ran, const uint8_t *code, size_t size)
{
	return may_be_loop(code, size) && tact_block_load(ran->block, code, size, NULL) >= 0 &&
	       tact_block_mode(ran->block) == TACT_MODE_LOOP;
}

int tact_ran_code(struct tact_ran *ran, const struct tact_row *row, enum tact_mode mode,
		  const uint8_t **code, size_t *size)
{
	*code = row->code;
	*size = row->code_size;
	if (mode != TACT_MODE_LOOP)
		return 0;
	if (row->loop_size) {
		*code = row->loop;
		*size = row->loop_size;
	} else if (!tact_ran_is_loop(ran, row->code, row->code_size)) {
		if (tact_grow(&ran->code, &ran->capacity, row->code_size + TACT_MEASURE_LOOP_BYTES,
			      1) < 0)
			return -TACT_E_NOMEM;
		*size = tact_measure_loop(ran->code, row->code, row->code_size);
		*code = ran->code;
	}
	return 0;
}
