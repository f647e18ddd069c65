/* SPDX-License-Identifier: MIT
 *
 * One thread's tools: loads a block and predicts or simulates it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/cli.h"
#include "predictor.h"

int predict_worker_init(struct predict_worker *w, const struct predictor *p)
{
	const struct tact_model_options options = {.size = sizeof(options),
						   .arch = p->archs.n == 1 ? p->archs.arch[0]
									   : NULL,
						   .facile = &p->predict_options,
						   .mca = &p->mca_options,
						   .bounds = true};
	struct tact_diag diag = {0};
	int status;

	*w = (struct predict_worker){
		.p = p, .arch = p->archs.arch[0], .alignment = p->block_options.alignment};
	status = tact_block_create(&w->block, w->arch, &p->block_options, &diag);
	if (status >= 0 && p->command->simulates)
		status = tact_simulator_create(&w->simulator, &diag);
	else if (status >= 0)
		status = tact_model_open(&w->estimator, p->model, &options, &diag);
	if (status < 0) {
		predict_worker_fini(w);
		cli_message("%s", diag.text[0] ? diag.text : tact_strerror(status));
		return CLI_FAILED;
	}
	return 0;
}

void predict_worker_fini(struct predict_worker *w)
{
	tact_simulator_destroy(w->simulator);
	tact_model_close(w->estimator);
	tact_block_destroy(w->block);
	text_free(&w->err);
}

static int fail(struct predict_worker *w, const struct source_block *block, int status,
		const char *why)
{
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (status == -TACT_E_NO_TOOL)
		w->is_unable = true;
	w->n_failed++;
	source_complain(&w->err, block, why);
	if (why != w->why)
		snprintf(w->why, sizeof(w->why), "%s", why);
	return status;
}

int predict_load(struct predict_worker *w, const struct source_block *block)
{
	struct tact_diag diag;
	int status;

	w->source = block;
	w->n_blocks += !block->is_input;
	w->n_candidates += block->candidate > 0;
	if (block->status < 0)
		return fail(w, block, block->status, block->diag.text);
	diag.text[0] = '\0';
	status = tact_block_load(w->block, block->region.code, block->region.code_size, &diag);
	if (status < 0)
		return fail(w, block, status, diag.text[0] ? diag.text : tact_strerror(status));
	return 0;
}

static int simulate(struct predict_worker *w, struct tact_prediction *out)
{
	struct tact_simulation *s = &w->simulation;
	const struct tact_sim_options options = {.size = sizeof(options),
						 .max_cycles = w->p->max_cycles};
	int status;

	s->size = sizeof(*s);
	status = tact_simulate(w->simulator, w->block, &options, s);
	if (status < 0)
		return status;
	*out = s->bounds;
	out->cycles_per_iteration = s->cycles_per_iteration;
	out->coverage = s->coverage;
	out->mode = s->mode;
	out->bottlenecks = s->bottlenecks | (uint32_t)s->scheduling << TACT_VIEW_SCHEDULING;
	return 0;
}

static int estimate(struct predict_worker *w, struct tact_prediction *out)
{
	struct tact_estimate e;
	int status;

	e.size = sizeof(e);
	status = tact_model_estimate(w->estimator, w->block, &e);
	if (status < 0)
		return status;
	*out = e.bounds;
	w->facile_cycles = out->cycles_per_iteration;
	out->cycles_per_iteration = e.cycles_per_iteration;
	out->coverage = e.coverage;
	out->bottlenecks = e.bottlenecks | (uint32_t)e.scheduling << TACT_VIEW_SCHEDULING;
	return 0;
}

const char *predict_failure(int status)
{
	return status == -PREDICT_E_BUDGET
		       ? "no iteration ended within what simulate --max-cycles allows"
		       : tact_strerror(status);
}

/* The block was loaded, so that what fails now has to do with this architecture. */
static int fail_at(struct predict_worker *w, int status)
{
	char why[160];

	snprintf(why, sizeof(why), "%s: %s", tact_arch_name(w->arch), predict_failure(status));
	return fail(w, w->source, status, why);
}

int predict_at(struct predict_worker *w, size_t arch, unsigned alignment,
	       struct tact_prediction *out)
{
	const struct tact_arch *wanted = w->p->archs.arch[arch];
	int status = 0;

	if (w->arch != wanted || w->alignment != alignment) {
		struct tact_block_options options = w->p->block_options;

		options.alignment = alignment;
		status = tact_block_rebind(w->block, wanted, &options);
		w->arch = wanted;
		w->alignment = alignment;
	}
	if (status >= 0)
		status = w->simulator ? simulate(w, out) : estimate(w, out);
	if (status >= 0)
		return 0;
	return fail_at(w, status == -TACT_E_LIMIT ? -PREDICT_E_BUDGET : status);
}

unsigned predict_alignment(const struct predictor *p, const struct source_block *block, unsigned k)
{
	if (p->is_alignment_given)
		return p->block_options.alignment + k;
	return block->is_elf ? (unsigned)(block->region.address % 64) : 0;
}

const char *predict_status_name(int status)
{
	switch (status < 0 ? -status : status) {
	case TACT_OK:
		return "ok";
	case TACT_E_FORMAT:
		return "bad_hex";
	case TACT_E_DECODE:
		return "decode_error";
	case TACT_E_LIMIT:
		return "too_long";
	case TACT_E_INVAL:
		return "empty";
	case PREDICT_E_BUDGET:
		return "budget";
	default:
		return "error";
	}
}

uint32_t predict_bounds(const struct predictor *p)
{
	uint32_t all = (1u << TACT_N_BOUNDS) - 1;

	return (p->only ? p->only : all) & ~p->without;
}

void predict_each(struct predict_worker *w, const struct source_block *block, predict_row *row,
		  struct text *out)
{
	const struct predictor *p = w->p;
	const int status = predict_load(w, block);
	struct predict_result r;

	if (block->is_input)
		return;
	for (r.arch = 0; r.arch < p->archs.n; r.arch++) {
		for (unsigned k = 0; k < p->n_alignments; k++) {
			r.alignment = predict_alignment(p, block, k);
			r.status = status;
			r.why = w->why;
			if (status >= 0) {
				r.status = predict_at(w, r.arch, r.alignment, &r.x);
				r.why = predict_failure(r.status);
			}
			row(w, block, &r, out);
		}
	}
}
