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
	struct tact_diag diag = {0};
	int status;

	*w = (struct predict_worker){
		.p = p, .arch = p->archs.arch[0], .alignment = p->block_options.alignment};
	status = tact_block_create(&w->block, w->arch, &p->block_options, &diag);
	if (status >= 0 && (p->command->simulates || p->model == MODEL_SIM))
		status = tact_simulator_create(&w->simulator, &diag);
	if (status >= 0 && p->model == MODEL_MCA)
		status = tact_model_open(
			&w->mca, "mca",
			&(struct tact_model_options){.size = sizeof(struct tact_model_options),
						     .facile = &p->predict_options,
						     .mca = &p->mca_options,
						     .bounds = true},
			&diag);
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
	tact_model_close(w->mca);
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
		return status == -TACT_E_LIMIT ? -PREDICT_E_BUDGET : status;
	*out = s->bounds;
	out->cycles_per_iteration = s->cycles_per_iteration;
	out->coverage = s->coverage;
	out->mode = s->mode;
	out->bottlenecks = s->bottlenecks;
	if (s->scheduling)
		out->bottlenecks |= 1u << PREDICT_SCHEDULING;
	return 0;
}

static int predict(struct predict_worker *w, struct tact_prediction *out)
{
	struct tact_estimate estimate = {.size = sizeof(estimate)};
	int status;

	if (w->simulator) {
		status = simulate(w, out);
		w->facile_cycles = w->simulation.bounds.cycles_per_iteration;
		return status;
	}
	if (!w->mca) {
		status = tact_predict(w->block, &w->p->predict_options, out);
		w->facile_cycles = out->cycles_per_iteration;
		return status;
	}
	status = tact_model_estimate(w->mca, w->block, &estimate);
	if (status < 0)
		return status;
	*out = estimate.bounds;
	w->facile_cycles = out->cycles_per_iteration;
	out->cycles_per_iteration = estimate.cycles_per_iteration;
	out->coverage = estimate.coverage;
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
		status = predict(w, out);
	return status < 0 ? fail_at(w, status) : 0;
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

bool predict_idealized(struct predict_worker *w, unsigned b, double *cycles)
{
	struct tact_predict_options options = w->p->predict_options;
	struct tact_prediction prediction;

	options.bounds = predict_bounds(w->p) & ~(1u << b);
	if (!options.bounds || tact_predict(w->block, &options, &prediction) < 0)
		return false;
	*cycles = prediction.cycles_per_iteration;
	return prediction.applies != 0;
}
