/* SPDX-License-Identifier: MIT
 *
 * A model at work, of any kind.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "block/block.h"
#include "model/model.h"

enum { TIMEOUT = 300 }; /* seconds */

static int read_options(struct tact_estimator *e, const struct tact_model_options *opt,
			struct tact_diag *diag)
{
	if (tact_read_options(&e->opt, sizeof(e->opt), opt) < 0 ||
	    tact_read_options(&e->facile, sizeof(e->facile), e->opt.facile) < 0)
		return tact_fail(diag, TACT_E_INVAL, "options that this library does not know");
	if (e->facile.bounds >> TACT_N_BOUNDS)
		return tact_fail(diag, TACT_E_INVAL, "bounds that this library does not know");
	if (!(e->facile.stop_above >= 0))
		return tact_fail(diag, TACT_E_INVAL, "a stop_above below 0");
	if (e->opt.n_stores && !e->opt.stores)
		return tact_fail(diag, TACT_E_INVAL, "no stores");
	e->facile.size = sizeof(e->facile);
	e->facile.stop_above = 0; /* an estimate has no way to say that it is a lower bound */
	if (!e->opt.timeout)
		e->opt.timeout = TIMEOUT;
	return 0;
}

int tact_model_open(struct tact_estimator **out, const char *name,
		    const struct tact_model_options *opt, struct tact_diag *diag)
{
	const struct model_entry *entry;
	struct tact_estimator *e;
	const char *parts;
	int status;

	if (out)
		*out = NULL;
	if (!out || !name)
		return tact_fail(diag, TACT_E_INVAL, "no model");
	entry = model_entry_of(name, &parts, diag);
	if (!entry)
		return -TACT_E_INVAL;
	e = calloc(1, sizeof(*e));
	if (!e)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	e->entry = entry;
	status = read_options(e, opt, diag);
	e->name = strdup(name);
	e->parts = parts && e->name ? e->name + (parts - name) : NULL;
	if (status >= 0 && !e->name)
		status = tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (status >= 0 && entry->open)
		status = entry->open(e, e->parts, diag);
	return HAND_OVER(out, e, status, tact_model_close);
}

void tact_model_close(struct tact_estimator *e)
{
	if (!e)
		return;
	if (e->entry->close)
		e->entry->close(e);
	FREE_ALL(e->name, e);
}

void model_say(const struct tact_estimator *e, const char *format, ...)
{
	struct text text = {0};
	va_list args;

	if (!e->opt.say)
		return;
	text_printf(&text, "%.*s: ", (int)tact_model_title(e->name), e->name);
	va_start(args, format);
	text_vprintf(&text, format, args);
	va_end(args);
	if (text_string(&text))
		e->opt.say(e->opt.say_arg, text.data);
	text_free(&text);
}

/* Estimates a batch of one. */
static int estimate_alone(struct tact_estimator *e, struct tact_block *block,
			  struct tact_estimate *out)
{
	struct tact_model_row row = {.size = sizeof(row),
				     .code = block->code,
				     .code_size = block->code_size,
				     .arch = block->arch,
				     .mode = block->mode,
				     .init = block->opt.init};
	struct model_answer answer = {.status = -TACT_E_FORMAT};
	int status = e->entry->estimate_many(
		e, &(struct model_batch){.rows = &row, .answers = &answer, .n = 1});

	out->cycles_per_iteration = answer.cycles;
	out->coverage = answer.coverage;
	return status < 0 ? status : answer.status;
}

static int fill(struct tact_estimator *e, struct tact_block *block, struct tact_estimate *out)
{
	int status;

	e->bounds.size = sizeof(e->bounds);
	*out = (struct tact_estimate){.size = sizeof(*out)};
	status = e->entry->estimate ? e->entry->estimate(e, block, out)
				    : estimate_alone(e, block, out);
	if (status < 0 || !e->opt.bounds || out->bounds)
		return status;
	status = tact_predict(block, &e->facile, &e->bounds);
	out->bounds = &e->bounds;
	out->bottlenecks = e->bounds.bottlenecks;
	return status;
}

int tact_model_estimate(struct tact_estimator *e, struct tact_block *block,
			struct tact_estimate *out)
{
	struct tact_estimate all;
	int status;

	if (!e || !block || !block->n_insns || !tact_can_fill(out))
		return -TACT_E_INVAL;
	status = fill(e, block, &all);
	if (status < 0)
		return status;
	tact_fill(out, &all, sizeof(all));
	return 0;
}

int tact_model_stream_create(struct tact_stream **out, const char *name, struct tact_diag *diag)
{
	const struct model_entry *entry;
	const char *parts;

	if (out)
		*out = NULL;
	if (!out || !name)
		return tact_fail(diag, TACT_E_INVAL, "no model");
	entry = model_entry_of(name, &parts, diag);
	if (!entry)
		return -TACT_E_INVAL;
	if (!entry->stream)
		return tact_fail(diag, TACT_E_INVAL, "%s has a steady state only", name);
	return entry->stream(out, diag);
}
