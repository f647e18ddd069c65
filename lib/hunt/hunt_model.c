/* SPDX-License-Identifier: MIT
 *
 * Models of the registry as a side of a hunt.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tact-program/rows.h>
#include <tact/model.h>

#include "hunt/hunt.h"

struct tact_hunt_model {
	char *name; /* owned */
	const struct tact_arch *arch;
	enum tact_mode mode;
	enum tact_init init;
	unsigned threads;
	uint8_t *code; /* owned; loops */
	size_t capacity;
	struct tact_model_row *row; /* owned */
	size_t row_capacity;
};

int tact_hunt_model_create(struct tact_hunt_model **out, const char *name,
			   const struct tact_arch *arch, enum tact_mode mode, enum tact_init init,
			   unsigned threads, struct tact_diag *diag)
{
	struct tact_hunt_model *m;
	int status;

	if (out)
		*out = NULL;
	if (name && !tact_model_find(name, diag))
		return -TACT_E_INVAL;
	status = tact_new(&m, sizeof(*m), out && name && arch, "an argument is missing", diag);
	if (status < 0)
		return status;
	*m = (struct tact_hunt_model){
		.name = strdup(name), .arch = arch, .mode = mode, .init = init, .threads = threads};
	if (!m->name) {
		free(m);
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	*out = m;
	return 0;
}

void tact_hunt_model_destroy(struct tact_hunt_model *m)
{
	if (!m)
		return;
	FREE_ALL(m->name, m->code, m->row, m);
}

static void take(void *values, size_t model, size_t row, int status, const struct tact_estimate *x)
{
	struct tact_hunt_value *v = &((struct tact_hunt_value *)values)[row];

	(void)model;
	*v = (struct tact_hunt_value){.answer = TACT_HUNT_NO_NUMBER};
	if (status || x->coverage < 1 || (x->bounds && !x->bounds->applies) ||
	    !isfinite(x->cycles_per_iteration) || !(x->cycles_per_iteration > 0))
		return;
	v->cycles = x->cycles_per_iteration;
	v->answer = TACT_HUNT_NUMBER;
	v->bottlenecks = x->bottlenecks;
}

/* The code of all blocks as it would run. */
static int lay_out(struct tact_hunt_model *m, const struct tact_hunt_block *blocks, size_t n)
{
	size_t size = 0, at = 0;

	for (size_t i = 0; i < n; i++)
		size += blocks[i].code_size + TACT_MEASURE_LOOP_BYTES;
	if (tact_grow(&m->code, &m->capacity, size + 1, 1) < 0 ||
	    tact_grow(&m->row, &m->row_capacity, n + 1, sizeof(*m->row)) < 0)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct tact_hunt_block *b = &blocks[i];
		size_t length = b->code_size;

		if (m->mode == TACT_MODE_LOOP &&
		    !tact_ran_is_loop(tact_arch_isa(m->arch), b->code, b->code_size))
			length = tact_measure_loop(tact_arch_isa(m->arch), m->code + at, b->code,
						   b->code_size);
		else
			memcpy(m->code + at, b->code, b->code_size);
		m->row[i] = (struct tact_model_row){.size = sizeof(*m->row),
						    .code = m->code + at,
						    .code_size = length,
						    .arch = m->arch,
						    .mode = m->mode,
						    .init = m->init,
						    .alignment = b->alignment};
		at += length;
	}
	return 0;
}

int tact_hunt_model_ask(void *model, const struct tact_hunt_block *blocks, size_t n,
			struct tact_hunt_value *out, struct tact_diag *diag)
{
	struct tact_hunt_model *m = model;
	const char *names[1];
	struct tact_model_options opt = {.size = sizeof(opt)};

	if (!m || !out || (n && !blocks))
		return tact_fail(diag, TACT_E_INVAL, "an argument is missing");
	if (!n)
		return 0;
	if (lay_out(m, blocks, n) < 0)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	names[0] = m->name;
	opt.threads = m->threads;
	return tact_model_run(names, 1, m->row, n, &opt, take, out, diag);
}
