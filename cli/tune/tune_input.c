/* SPDX-License-Identifier: MIT
 *
 * The measured rows that tact tune learns from: tables and stores.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tact/dataset.h>
#include <tact/evaluate.h>

#include "common/cli.h"
#include "tuning.h"

/* A row as it comes; all is borrowed. */
struct incoming {
	const uint8_t *code, *loop;
	size_t code_size, loop_size;
	double cycles;
	bool has_cycles;
	int clean;
	const char *app, *category, *arch;
	int mode; /* enum tact_mode; AUTO: nothing is said */
};

static char *copy(const char *text)
{
	char *to = strdup(text);

	if (!to)
		cli_out_of_memory();
	return to;
}

static void note_labels(struct tuning *p, const struct incoming *in)
{
	if (p->n_rows == p->row_capacity) {
		p->row_capacity = p->row_capacity ? 2 * p->row_capacity : 1024;
		p->apps = cli_realloc(p->apps, p->row_capacity * sizeof(*p->apps));
		p->categories =
			cli_realloc(p->categories, p->row_capacity * sizeof(*p->categories));
	}
	p->apps[p->n_rows] = copy(in->app);
	p->categories[p->n_rows++] = copy(in->category);
}

/* The tuner works in one mode: rows of the other one, and of other CPUs, are left out. */
static bool fits(struct tuning *p, const struct incoming *in)
{
	const struct tact_arch *arch = *in->arch ? tact_arch_find(in->arch) : NULL;

	if (p->is_clean && in->clean != 1)
		return false;
	if (!in->has_cycles || !(in->cycles > 0)) {
		p->n_unmeasured++;
		return false;
	}
	if (in->mode != TACT_MODE_AUTO && in->mode != p->mode) {
		p->n_other_mode++;
		return false;
	}
	if (arch && p->archs.names &&
	    strcmp(tact_arch_name(arch), tact_arch_name(p->archs.arch[0]))) {
		p->n_other_arch++;
		return false;
	}
	return true;
}

/* Whether the code ends in a branch to its start. */
static bool is_loop(struct tuning *p, const struct incoming *in)
{
	if (!p->probe &&
	    tact_block_create(&p->probe, p->archs.arch[0], NULL, NULL) == -TACT_E_NOMEM)
		cli_out_of_memory();
	return tact_block_load(p->probe, in->code, in->code_size, NULL) >= 0 &&
	       tact_block_mode(p->probe) == TACT_MODE_LOOP;
}

/* The code that ran: a loop has its branch. */
static int add_code(struct tuning *p, const struct incoming *in, struct tact_diag *diag)
{
	uint8_t *looped;
	int status;

	if (p->mode != TACT_MODE_LOOP || (!in->loop_size && is_loop(p, in)))
		return tact_tuner_add(p->tuner, in->code, in->code_size, in->cycles, in->app, diag);
	if (in->loop_size)
		return tact_tuner_add(p->tuner, in->loop, in->loop_size, in->cycles, in->app, diag);
	looped = cli_alloc(in->code_size + TACT_MEASURE_LOOP_BYTES);
	status =
		tact_tuner_add(p->tuner, looped, tact_measure_loop(looped, in->code, in->code_size),
			       in->cycles, in->app, diag);
	free(looped);
	return status;
}

static void add_row(struct tuning *p, const struct incoming *in)
{
	struct tact_diag diag = {0};
	int status;

	if (!fits(p, in))
		return;
	status = add_code(p, in, &diag);
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (status > 0)
		note_labels(p, in);
	else
		*(status < 0 ? &p->n_bad : &p->n_twice) += 1;
}

static void complain(const char *path, const struct tact_diag *diag, int status)
{
	struct text err = {0};

	cli_place(&err, path, diag->line, diag->text[0] ? diag->text : tact_strerror(status));
	text_to_stderr(&err);
	text_free(&err);
}

static int mode_of(const char *name)
{
	return !strcmp(name, "loop")	 ? TACT_MODE_LOOP
	       : !strcmp(name, "unroll") ? TACT_MODE_UNROLL
					 : TACT_MODE_AUTO;
}

static int read_table(struct tuning *p, const char *path)
{
	enum { SHOWN = 5 };
	struct tact_table_row row = {.size = sizeof(row)};
	struct tact_diag diag = {0};
	struct tact_table *table;
	size_t n_bad = 0;
	int status = tact_table_open(&table, path, &diag);

	if (status < 0) {
		complain(path, &diag, status);
		return CLI_FAILED;
	}
	while ((status = tact_table_next(table, &row, &diag))) {
		if (status < 0) {
			if (n_bad++ < SHOWN)
				complain(path, &diag, status);
			if (status != -TACT_E_FORMAT)
				break;
			diag = (struct tact_diag){0};
			continue;
		}
		add_row(p, &(struct incoming){.code = row.code,
					      .code_size = row.code_size,
					      .loop = row.loop,
					      .loop_size = row.loop_size,
					      .cycles = row.cycles,
					      .has_cycles = row.has_cycles,
					      .clean = row.clean,
					      .app = row.app,
					      .category = row.category,
					      .arch = row.arch,
					      .mode = row.loop_size ? TACT_MODE_LOOP
								    : mode_of(row.mode)});
	}
	tact_table_close(table);
	if (n_bad > SHOWN)
		cli_message("%s: %zu more bad rows", path, n_bad - SHOWN);
	return n_bad ? CLI_FAILED : CLI_GOOD;
}

static int read_rows(struct tuning *p, struct tact_store *store, struct tact_diag *diag)
{
	struct tact_store_row row = {.size = sizeof(row)};
	struct tact_store_iter *iter;
	int status = tact_store_iter_create(&iter, store, diag);

	if (status < 0)
		return status;
	while ((status = tact_store_iter_next(iter, &row, diag)) > 0) {
		const struct tact_measurement *m = &row.measurement;

		add_row(p, &(struct incoming){.code = row.code,
					      .code_size = row.code_size,
					      .loop = row.loop_code,
					      .loop_size = row.loop_code ? row.loop_size : 0,
					      .cycles = m->cycles_per_iteration,
					      .has_cycles = m->status == TACT_MEASURE_OK,
					      .clean = row.clean,
					      .app = row.n_sources ? row.sources[0].app : "",
					      .category = row.category,
					      .arch = row.machine->arch,
					      .mode = (int)m->mode});
	}
	tact_store_iter_destroy(iter);
	return status;
}

static int read_store(struct tuning *p, const char *path)
{
	struct tact_diag diag = {0};
	struct tact_store *store;
	int status = tact_store_open(&store, path, TACT_STORE_READONLY, &diag);

	if (status >= 0) {
		status = read_rows(p, store, &diag);
		tact_store_close(store);
	}
	if (status >= 0)
		return CLI_GOOD;
	complain(path, &diag, status);
	return CLI_FAILED;
}

static void remark(const struct tuning *p)
{
	if (p->n_bad)
		cli_message("%zu rows whose code cannot be decoded were left out", p->n_bad);
	if (p->is_quiet)
		return;
	if (p->n_other_mode)
		cli_message("%zu rows of the other mode were left out; --mode chooses",
			    p->n_other_mode);
	if (p->n_other_arch)
		cli_message("%zu rows of other CPUs were left out", p->n_other_arch);
	if (p->n_unmeasured)
		cli_message("%zu rows without a measured number were left out", p->n_unmeasured);
	if (p->n_twice && p->is_verbose)
		cli_message("%zu rows of blocks that were there already were left out", p->n_twice);
}

int tuning_read(struct tuning *p)
{
	int status = CLI_GOOD;

	for (size_t i = 0; i < p->n_inputs; i++) {
		const char *path = p->inputs[i];
		int one = tact_store_is_store(path) ? read_store(p, path) : read_table(p, path);

		if (one)
			status = one;
	}
	remark(p);
	return status;
}

void tuning_rows_fini(struct tuning *p)
{
	for (size_t i = 0; i < p->n_rows; i++) {
		free(p->apps[i]);
		free(p->categories[i]);
	}
	tact_block_destroy(p->probe);
	free(p->apps);
	free(p->categories);
	free(p->inputs);
}
