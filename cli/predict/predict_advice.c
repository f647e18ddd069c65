/* SPDX-License-Identifier: MIT
 *
 * Advice on a block, with the model of the command.
 */
#include <string.h>

#include "common/cli.h"
#include "predictor.h"

/* Takes the model of predict, or the simulator of its own that simulate has for this: what the
 * other one knows of the block is shown later.
 */
static int predict_changed(void *arg, struct tact_block *block, double *cycles)
{
	struct predict_worker *w = arg;
	const struct tact_sim_options options = {.size = sizeof(options),
						 .max_cycles = w->p->max_cycles};
	struct tact_simulation s = TACT_SIMULATION_INIT;
	struct tact_estimate e = TACT_ESTIMATE_INIT;
	int status;

	if (w->estimator) {
		status = tact_model_estimate(w->estimator, block, &e);
		*cycles = e.cycles_per_iteration;
		return status;
	}
	status = tact_simulate(w->trial, block, &options, &s);
	*cycles = s.cycles_per_iteration;
	return status;
}

bool predict_is_advised(const struct predict_worker *w)
{
	const struct predictor *p = w->p;

	if (p->is_advised || p->is_not_advised)
		return p->is_advised && !p->is_not_advised;
	return p->is_terminal && p->format == FORMAT_TEXT && !p->is_many;
}

/* Returns the number of advices; 0 if there is none, or if the model fails on the block. */
static int advise(struct predict_worker *w, const struct source_block *block)
{
	const struct tact_advice_options options = {.size = sizeof(options),
						    .predict = predict_changed,
						    .arg = w,
						    .is_slow = !w->estimator || !w->p->is_facile,
						    .address = block->region.address};
	int status = w->advisor ? 0 : tact_advisor_create(&w->advisor, NULL);

	if (status >= 0 && !w->estimator && !w->trial)
		status = tact_simulator_create(&w->trial, NULL);
	if (status >= 0)
		status = tact_advisor_run(w->advisor, w->block, &options);
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	return status < 0 ? 0 : status;
}

const struct tact_advisor *predict_advisor(struct predict_worker *w,
					   const struct source_block *block)
{
	if (!predict_is_advised(w))
		return NULL;
	advise(w, block);
	return w->advisor;
}

/* Lines of changed code, cut unless all is to be seen. */
static void add_changes(const struct predictor *p, const char *changes, size_t column,
			struct text *out)
{
	enum { MOST = 12 };
	unsigned n = 0, left = 0;

	for (const char *line = changes; *line;) {
		const size_t length = strcspn(line, "\n");

		if (n++ < MOST || p->is_verbose)
			text_printf(out, "%*s%.*s\n", (int)column, "", (int)length, line);
		else
			left++;
		line += length + (line[length] == '\n');
	}
	if (left)
		text_printf(out, "%*s... and %u more lines (-v)\n", (int)column, "", left);
}

void predict_advice(struct predict_worker *w, const struct source_block *block, struct text *out)
{
	enum { COLUMN = 4 };
	const struct predictor *p = w->p;
	struct text words = {0};
	int n;

	if (!predict_is_advised(w))
		return;
	n = advise(w, block);
	if (!n)
		text_printf(out, "\n%sAdvice%s: none of the changes that tact knows gains\n",
			    p->bold, p->plain);
	else
		text_printf(out,
			    "\n%sAdvice%s (cycles per iteration before and after, all "
			    "predicted):\n",
			    p->bold, p->plain);
	for (int i = 0; i < n; i++) {
		struct tact_advice a = TACT_ADVICE_INIT;

		if (tact_advisor_get(w->advisor, (size_t)i, &a) < 0)
			continue;
		text_add(out, "  ");
		text_printf(out, "%s", p->bold);
		text_cycles2(out, a.before, 0);
		text_add(out, " -> ");
		text_cycles2(out, a.after, 0);
		text_printf(out, "%s  %s\n", p->plain, a.name);
		text_wrap(out, a.text, COLUMN, out->size);
		if (a.assumes[0]) {
			text_reset(&words);
			text_printf(&words, "(if %s)", a.assumes);
			text_wrap(out, text_string(&words) ? words.data : "", COLUMN, out->size);
		}
		add_changes(p, a.changes, COLUMN, out);
	}
	text_free(&words);
}
