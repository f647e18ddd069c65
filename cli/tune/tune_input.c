/* SPDX-License-Identifier: MIT
 *
 * The measured rows that tact tune learns from: tables and stores.
 */
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/measured.h"
#include "tuning.h"

static char *copy(const char *text)
{
	char *to = strdup(text);

	if (!to)
		cli_out_of_memory();
	return to;
}

/* One application is enough. */
static const char *app_of(const struct tact_row *in)
{
	return in->n_sources ? in->sources[0].app : "";
}

static void note_labels(struct tuning *p, const struct tact_row *in)
{
	if (p->n_rows == p->row_capacity) {
		p->row_capacity = p->row_capacity ? 2 * p->row_capacity : 1024;
		p->apps = cli_realloc(p->apps, p->row_capacity * sizeof(*p->apps));
		p->categories =
			cli_realloc(p->categories, p->row_capacity * sizeof(*p->categories));
	}
	p->apps[p->n_rows] = copy(app_of(in));
	p->categories[p->n_rows++] = copy(in->category);
}

/* The tuner works in one mode: rows of the other one, and of other CPUs, are left out. */
static bool fits(struct tuning *p, const struct tact_row *in)
{
	const struct tact_arch *arch = *in->arch ? tact_arch_find(in->arch) : NULL;
	const bool is_several = p->archs.n > 1;
	/* A file with loops is in loop mode, whatever else it says. */
	enum tact_mode mode = in->loop_size && in->line ? TACT_MODE_LOOP : in->mode;

	if (p->is_clean && in->clean != 1)
		return false;
	if (!tact_row_has_number(in)) {
		p->n_unmeasured++;
		return false;
	}
	if (mode != TACT_MODE_AUTO && (int)mode != p->mode) {
		p->n_other_mode++;
		return false;
	}
	if (in->alignment) { /* the tuner's blocks begin a cache line */
		p->n_other_alignment++;
		return false;
	}
	/* Nobody knows which of several CPUs a row without a name is of. */
	if (!*in->arch && is_several) {
		p->n_unnamed++;
		return false;
	}
	if (arch ? p->archs.names && strcmp(tact_arch_name(arch), tact_arch_name(p->arch))
		 : is_several) {
		p->n_other_arch++;
		return false;
	}
	return true;
}

static void add_row(void *context, const struct tact_row *in)
{
	struct tuning *p = context;
	struct tact_diag diag = {0};
	const uint8_t *code;
	size_t size;
	int status;

	if (!fits(p, in))
		return;
	status = tact_ran_code(p->ran, tact_arch_isa(p->arch), in, (enum tact_mode)p->mode, &code,
			       &size);
	if (status >= 0)
		status = tact_tuner_add(p->tuner, code, size, in->cycles, app_of(in), &diag);
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (status > 0)
		note_labels(p, in);
	else
		*(status < 0 ? &p->n_bad : &p->n_twice) += 1;
}

static void remark(const struct tuning *p)
{
	if (p->n_unnamed && p->arch == p->archs.arch[0])
		cli_message("%zu rows that do not name their CPU were left out; with one CPU for "
			    "-a, they are used",
			    p->n_unnamed);
	if (p->n_bad)
		cli_message("%zu rows whose code cannot be decoded were left out", p->n_bad);
	if (p->is_quiet)
		return;
	if (p->n_other_mode)
		cli_message("%zu rows of the other mode were left out; --mode selects",
			    p->n_other_mode);
	if (p->n_other_arch)
		cli_message("%zu rows of other microarchitectures were left out", p->n_other_arch);
	if (p->n_other_alignment)
		cli_message("%zu rows of blocks that do not begin a cache line were left out",
			    p->n_other_alignment);
	if (p->n_unmeasured)
		cli_message("%zu rows without a measured number were left out", p->n_unmeasured);
	if (p->n_twice && p->is_verbose)
		cli_message("%zu rows of blocks that were there already were left out", p->n_twice);
}

int tuning_read(struct tuning *p)
{
	int status = CLI_GOOD;

	if (tact_ran_create(&p->ran) < 0)
		cli_out_of_memory();
	for (size_t i = 0; i < p->n_inputs; i++)
		if (measured_read(p->inputs[i], add_row, p))
			status = CLI_FAILED;
	remark(p);
	return status;
}

void tuning_rows_fini(struct tuning *p)
{
	for (size_t i = 0; i < p->n_rows; i++) {
		free(p->apps[i]);
		free(p->categories[i]);
	}
	tact_ran_destroy(p->ran);
	free(p->apps);
	free(p->categories);
	p->ran = NULL;
	p->apps = p->categories = NULL;
	p->n_rows = p->row_capacity = 0;
	p->n_twice = p->n_other_mode = p->n_other_arch = p->n_other_alignment = 0;
	p->n_unmeasured = p->n_bad = p->n_unnamed = 0;
}
