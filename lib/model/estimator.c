/* SPDX-License-Identifier: MIT
 *
 * A model at work, whichever it is.
 */
#include <stdlib.h>
#include <string.h>

#include "block/block.h"
#include "model/model.h"

int tact_model_open(struct tact_estimator **out, const char *name,
		    const struct tact_model_options *opt, struct tact_diag *diag)
{
	const struct model_entry *entry;
	struct tact_estimator *e;
	const char *parts;
	int status;

	if (!out || !name)
		return tact_fail(diag, TACT_E_INVAL, "no model");
	entry = model_entry_of(name, &parts, diag);
	if (!entry)
		return -TACT_E_INVAL;
	e = calloc(1, sizeof(*e));
	if (!e)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	e->entry = entry;
	status = tact_read_options(&e->opt, sizeof(e->opt), opt);
	if (status >= 0)
		status = tact_read_options(&e->facile, sizeof(e->facile), e->opt.facile);
	e->facile.size = sizeof(e->facile);
	if (status < 0)
		tact_fail(diag, TACT_E_INVAL, "options that this library does not know");
	else
		status = entry->open(e, parts, diag);
	if (status < 0) {
		tact_model_close(e);
		return status;
	}
	*out = e;
	return 0;
}

void tact_model_close(struct tact_estimator *e)
{
	if (!e)
		return;
	if (e->entry->close)
		e->entry->close(e);
	free(e);
}

static int fill(struct tact_estimator *e, struct tact_block *block, struct tact_estimate *out)
{
	int status;

	out->cycles_per_iteration = out->coverage = 0;
	out->bottlenecks = 0;
	out->scheduling = false;
	out->bounds.size = 0;
	status = e->entry->estimate(e, block, out);
	if (status < 0 || !e->opt.bounds || out->bounds.size)
		return status;
	status = tact_predict(block, &e->facile, &out->bounds);
	out->bottlenecks = out->bounds.bottlenecks;
	return status;
}

int tact_model_estimate(struct tact_estimator *e, struct tact_block *block,
			struct tact_estimate *out)
{
	struct tact_estimate all;
	int status;

	if (!e || !block || !block->n_insns || !out ||
	    out->size < offsetof(struct tact_estimate, bottlenecks))
		return -TACT_E_INVAL;
	if (out->size >= sizeof(all))
		return fill(e, block, out);
	all.size = out->size;
	status = fill(e, block, &all);
	memcpy(out, &all, out->size);
	return status;
}
