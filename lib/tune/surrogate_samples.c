/* SPDX-License-Identifier: MIT
 *
 * Blocks under random parameters, which the surrogate is trained on.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune/surrogate.h"

/* ---- inputs ---- */

struct surrogate_input surrogate_input(unsigned k)
{
	if (k == 0)
		return (struct surrogate_input){TACT_MCA_MICRO_OPS, 0, 0.2f};
	if (k == 1)
		return (struct surrogate_input){TACT_MCA_LATENCY, 0, 0.4f};
	if (k < 2 + TACT_MCA_READS)
		return (struct surrogate_input){TACT_MCA_READ_ADVANCE, (uint8_t)(k - 2), 0.4f};
	if (k < SURROGATE_FORM_INPUTS)
		return (struct surrogate_input){TACT_MCA_PORT_CYCLES,
						(uint8_t)(k - 2 - TACT_MCA_READS), 1};
	if (k == SURROGATE_FORM_INPUTS)
		return (struct surrogate_input){TACT_MCA_DISPATCH_WIDTH, 0, 0.2f};
	return (struct surrogate_input){TACT_MCA_REORDER_BUFFER, 0, 0.01f};
}

int surrogate_value(const struct tact_mca_params *params, unsigned form, unsigned k)
{
	struct surrogate_input in = surrogate_input(k);
	int value = tact_mca_get_info(in.kind)->low;

	tact_mca_get(params, form, in.kind, in.index, &value);
	return value - tact_mca_get_info(in.kind)->low;
}

/* ---- simulated blocks ---- */

/* Returns the range of values of a parameter in the samples of this round. */
void surrogate_reach(const struct surrogate *s, size_t i, int *low, int *high)
{
	static const int most[TACT_MCA_N_KINDS] = {10, 5, 5, 2, 10, 250};
	const struct tune_param *p = &s->t->params[i];
	int reach = p->kind == TACT_MCA_REORDER_BUFFER ? 30
		    : p->kind == TACT_MCA_PORT_CYCLES  ? 1
						       : 2;

	*low = p->low;
	*high = most[p->kind];
	if (p->kind == TACT_MCA_LATENCY && s->t->opt.what == TACT_TUNE_LATENCY)
		*high = 10;
	if (p->kind == TACT_MCA_REORDER_BUFFER)
		*low = 50;
	if (!s->state.round)
		return;
	*low = s->centre[i] - reach > p->low ? s->centre[i] - reach : p->low;
	*high = s->centre[i] + reach;
}

/* Draws new values for the learned parameters of a form, or of the machine: from the paper's
 * distribution or, in later rounds, near the learned values.
 */
static void sample_around(struct surrogate *s, struct tact_mca_params *params, size_t first,
			  size_t n, double rate, uint64_t *rng)
{
	for (size_t i = first; i < first + n; i++) {
		const struct tune_param *p = &s->t->params[i];
		double share = p->kind == TACT_MCA_PORT_CYCLES ? rate / 3 : rate;
		int low, high, value = s->centre[i];

		surrogate_reach(s, i, &low, &high);
		if (random_unit(rng) < share)
			value = random_in(rng, low, high);
		tact_mca_set(params, p->form == TACT_FORM_NONE ? 0 : p->form, p->kind, p->index,
			     value);
	}
}

static void sample_form(struct surrogate *s, struct tact_mca_params *params, unsigned form,
			double rate, uint64_t *rng)
{
	const struct tune_site *site = tune_site_of(s->t, form, ARCH_PLAIN);

	if (s->state.round && site)
		sample_around(s, params, site->first_param, site->n_params, rate, rng);
	else
		tune_sample_form(params, form, s->t->opt.what, rng);
}

static void sample_globals(struct surrogate *s, struct tact_mca_params *params, double rate,
			   uint64_t *rng)
{
	if (s->state.round) {
		sample_around(s, params, 0, s->t->n_globals, rate, rng);
		return;
	}
	for (size_t i = 0; i < s->t->n_globals; i++)
		tact_mca_set(params, 0, s->t->params[i].kind, 0,
			     tune_sample_value(s->t->params[i].kind, rng));
}

unsigned surrogate_form(const struct surrogate *s, uint32_t row, size_t i)
{
	return tact_mca_code_form(s->t->codes[row], i);
}

uint32_t surrogate_row(const struct surrogate *s, size_t sample)
{
	return s->train[sample % s->n_train];
}

/* Parameters that a sample changes, to be restored: in long blocks, further forms stay as they are.
 */
enum { MAX_FORMS = 64 };
struct saved {
	int width, buffer;
	unsigned n, form[MAX_FORMS];
	int value[MAX_FORMS][SURROGATE_FORM_INPUTS];
};

/* Remembers a parameter; false if there is no room, or it is there already. */
static bool save_form(struct saved *saved, const struct tact_mca_params *params, unsigned form)
{
	for (unsigned i = 0; i < saved->n; i++)
		if (saved->form[i] == form)
			return false;
	if (saved->n == MAX_FORMS || form == TACT_FORM_NONE)
		return false;
	for (unsigned k = 0; k < SURROGATE_FORM_INPUTS; k++)
		saved->value[saved->n][k] = surrogate_value(params, form, k);
	saved->form[saved->n++] = form;
	return true;
}

static void put_back(const struct saved *saved, struct tact_mca_params *params)
{
	for (unsigned i = 0; i < saved->n; i++) {
		for (unsigned k = 0; k < SURROGATE_FORM_INPUTS; k++) {
			struct surrogate_input in = surrogate_input(k);

			tact_mca_set(params, saved->form[i], in.kind, in.index,
				     saved->value[i][k] + tact_mca_get_info(in.kind)->low);
		}
	}
	tact_mca_set(params, 0, TACT_MCA_DISPATCH_WIDTH, 0, saved->width);
	tact_mca_set(params, 0, TACT_MCA_REORDER_BUFFER, 0, saved->buffer);
}

/* Writes the inputs of a block's instructions, one byte each. */
static void write_inputs(const struct surrogate *s, const struct tact_mca_params *params,
			 uint32_t row, uint8_t *to)
{
	for (uint32_t i = 0; i < s->row_length[row]; i++) {
		unsigned form = surrogate_form(s, row, i);

		for (unsigned k = 0; k < SURROGATE_INPUTS; k++) {
			bool is_none = form == TACT_FORM_NONE && k < SURROGATE_FORM_INPUTS;
			int value = is_none ? 0 : surrogate_value(params, form, k);

			*to++ = (uint8_t)(value > 255 ? 255 : value);
		}
	}
}

/* Simulates one block under random parameters of its forms.  The table is restored. */
static int simulate(struct tune_worker *w, size_t sample, void *context)
{
	/* In later rounds, a quarter of the blocks keeps the learned values, and the others change
	 * more and more of them: the network must be right where the table is.
	 */
	static const double rates[] = {0, 1.0 / 16, 1.0 / 6, 1.0 / 2};
	struct surrogate *s = context;
	struct tact_mca_params *params = w->table.mca;
	uint32_t row = surrogate_row(s, sample);
	uint64_t rng = s->t->opt.seed ^ (sample + 1) * 0x9e3779b97f4a7c15u ^
		       (uint64_t)s->state.round << 56;
	struct saved saved = {.n = 0};
	double cycles = 1, rate;
	int status;

	random_next(&rng);
	rate = rates[random_below(&rng, ARRAY_SIZE(rates))];
	tact_mca_get(params, 0, TACT_MCA_DISPATCH_WIDTH, 0, &saved.width);
	tact_mca_get(params, 0, TACT_MCA_REORDER_BUFFER, 0, &saved.buffer);
	sample_globals(s, params, rate, &rng);
	for (uint32_t i = 0; i < s->row_length[row]; i++) {
		unsigned form = surrogate_form(s, row, i);

		if (save_form(&saved, params, form))
			sample_form(s, params, form, rate, &rng);
	}
	write_inputs(s, params, row, s->sampled + s->sample_at[sample]);
	status = tune_predict(w, row, &cycles);
	s->simulated[sample] = (float)log(cycles);
	put_back(&saved, params);
	return status;
}

int surrogate_simulate(struct surrogate *s)
{
	size_t at = 0;
	int status;

	s->n_samples = s->n_train * s->t->network.samples;
	FREE_ALL(s->sampled, s->sample_at, s->simulated);
	s->sample_at = calloc(s->n_samples, sizeof(*s->sample_at));
	s->simulated = calloc(s->n_samples, sizeof(*s->simulated));
	if (!s->sample_at || !s->simulated)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < s->n_samples; i++) {
		s->sample_at[i] = at;
		at += (size_t)s->row_length[surrogate_row(s, i)] * SURROGATE_INPUTS;
	}
	s->sampled = malloc(at ? at : 1);
	if (!s->sampled)
		return -TACT_E_NOMEM;
	if (s->state.round)
		tune_values_set(s->t, s->centre);
	status = tune_parallel(s->t, s->n_samples, simulate, s);
	s->t->evaluations += s->n_samples;
	if (status >= 0)
		status = tune_report(s->t, "simulate", s->state.round + 1, s->t->network.rounds, 1,
				     NAN, NAN, NAN);
	return status;
}
