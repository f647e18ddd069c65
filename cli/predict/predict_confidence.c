/* SPDX-License-Identifier: MIT
 *
 * How far to trust a prediction: the interval, for people and in CSV.
 */
#include <stdio.h>
#include <string.h>

#include "predictor.h"

/* The model as it was calibrated; NULL if options change what it computes. */
static const char *calibrated_model(const struct predictor *p)
{
	if (p->paper || p->simple_predecoder || p->simple_decoder || p->exact_ports ||
	    p->predict_options.bounds || p->archs.params)
		return NULL;
	return p->command->simulates ? "sim" : p->model;
}

const struct tact_confidence *predict_confidence(struct predict_worker *w,
						 const struct tact_prediction *x)
{
	struct tact_prediction bounds = w->p->command->simulates ? *w->simulation.bounds : *x;

	bounds.cycles_per_iteration = x->cycles_per_iteration;
	w->confidence.size = sizeof(w->confidence);
	if (tact_confidence_find(w->block, calibrated_model(w->p), &bounds, &w->confidence) < 0)
		return NULL;
	return &w->confidence;
}

/* Two digits, or four where two do not tell the ends apart. */
static void add_ends(const struct tact_confidence *c, struct text *out)
{
	const int digits = c->high - c->low < 0.02 ? 4 : 2;

	text_printf(out, "%.*f - %.*f", digits, c->low, digits, c->high);
}

void predict_wrapped(const struct predictor *p, const char *words, size_t line_start,
		     struct text *out)
{
	while (*words) {
		size_t n = strcspn(words, " ");

		if (out->size - line_start + n + 1 > p->width) {
			text_add(out, "\n ");
			line_start = out->size - 1;
		}
		text_add(out, " ");
		text_add_bytes(out, words, n);
		words += n + (words[n] == ' ');
	}
}

void predict_interval(struct predict_worker *w, const struct tact_prediction *x, struct text *out)
{
	const struct tact_confidence *c = predict_confidence(w, x);
	size_t line_start = out->size;
	char words[sizeof(c->reason) + 3];

	if (!c)
		return;
	text_add(out, "90% interval: ");
	if (c->has_interval)
		add_ends(c, out);
	else
		text_add(out, "none");
	snprintf(words, sizeof(words), "(%s)", c->reason);
	predict_wrapped(w->p, words, line_start, out);
	text_add(out, "\n");
}

/* ---- CSV ---- */

const char predict_interval_titles[] = ",interval_low,interval_high,interval_class";

char *predict_interval_values(struct predict_worker *w, const struct tact_prediction *x, char *p)
{
	const struct tact_confidence *c = predict_confidence(w, x);
	size_t n;

	if (!c || !c->has_interval) {
		memcpy(p, ",,,", 3);
		return p + 3;
	}
	*p++ = ',';
	p = put_cycles(p, c->low);
	*p++ = ',';
	p = put_cycles(p, c->high);
	*p++ = ',';
	n = strlen(c->kind);
	memcpy(p, c->kind, n);
	return p + n;
}
