/* SPDX-License-Identifier: MIT
 *
 * What predict and simulate do: blocks in, results out, in the same order.
 *
 * The first batch is copied to see whether there is more than one block and whether threads are
 * worthwhile.  With one thread, all other blocks are processed in place, without a copy.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/progress.h"
#include "common/terminal.h"
#include "predictor.h"

enum {
	FLUSH_BYTES = 64 << 10, /* text is written once it is this long */
	MAX_THREADS = 256
};

void predict_remarked(int status)
{
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
}

/* ---- one block ---- */

static void close_worker(struct predict_worker *w)
{
	tact_advisor_destroy(w->advisor);
	tact_simulator_destroy(w->trial);
	tact_simulator_destroy(w->simulator);
	tact_model_close(w->estimator);
	tact_block_destroy(w->block);
	predict_recall_destroy(w->recall);
	text_free(&w->err);
	text_free(&w->later);
	tact_remarks_destroy(w->remarks);
	tact_remarks_destroy(w->all_remarks);
	free(w->results);
}

static int open_worker(struct predict_worker *w, const struct predictor *p)
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
	w->results = cli_alloc(p->archs.n * p->n_alignments * sizeof(*w->results));
	predict_remarked(tact_remarks_create(&w->remarks));
	predict_remarked(tact_remarks_create(&w->all_remarks));
	w->recall = predict_recall_create(p);
	status = tact_block_create(&w->block, w->arch, &p->block_options, &diag);
	if (status >= 0 && p->command->simulates)
		status = tact_simulator_create(&w->simulator, &diag);
	else if (status >= 0)
		status = tact_model_open(&w->estimator, p->model, &options, &diag);
	if (status < 0) {
		close_worker(w);
		cli_message("%s", diag.text[0] ? diag.text : tact_strerror(status));
		return CLI_FAILED;
	}
	return 0;
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

static int load(struct predict_worker *w, const struct source_block *block)
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
	if (w->p->n_memories)
		predict_set_memories(w);
	if (block->region.n_latencies && predict_set_latencies(w) < 0)
		cli_out_of_memory();
	if (block->region.n_settings && predict_set_settings(w) < 0)
		cli_out_of_memory();
	return 0;
}

static int simulate(struct predict_worker *w, struct tact_prediction *out)
{
	struct tact_simulation *s = &w->simulation;
	const struct tact_sim_options options = {.size = sizeof(options),
						 .max_cycles = w->p->max_cycles,
						 .only_repeats = w->p->max_cycles != 0};
	int status;

	s->size = sizeof(*s);
	status = tact_simulate(w->simulator, w->block, &options, s);
	if (status < 0)
		return status;
	*out = *s->bounds;
	out->cycles_per_iteration = s->cycles_per_iteration;
	out->coverage = s->coverage;
	out->mode = s->mode;
	out->bottlenecks = s->bottlenecks | (uint32_t)s->scheduling << TACT_VIEW_SCHEDULING;
	return 0;
}

static int estimate(struct predict_worker *w, struct tact_prediction *out)
{
	struct tact_estimate e = TACT_ESTIMATE_INIT;
	int status = tact_model_estimate(w->estimator, w->block, &e);

	if (status < 0)
		return status;
	*out = *e.bounds; /* they were asked for */
	w->facile_cycles = out->cycles_per_iteration;
	out->cycles_per_iteration = e.cycles_per_iteration;
	out->coverage = e.coverage;
	out->bottlenecks = e.bottlenecks | (uint32_t)e.scheduling << TACT_VIEW_SCHEDULING;
	return 0;
}

const char *predict_failure(int status)
{
	return status == -PREDICT_E_BUDGET ? "no iteration ended within the maximum number of "
					     "cycles; raise simulate --max-cycles"
					   : tact_strerror(status);
}

/* The block was loaded, so a failure now is specific to this architecture. */
static int fail_at(struct predict_worker *w, int status)
{
	char why[160];

	snprintf(why, sizeof(why), "%s: %s", tact_arch_name(w->arch), predict_failure(status));
	return fail(w, w->source, status, why);
}

/* Code of a file may be a loop although its bytes do not tell; hex always tells. */
static bool is_forced_loop(const struct predict_worker *w)
{
	const struct tact_region *r = &w->source->region;

	return w->p->mode == TACT_MODE_AUTO && r->is_loop && !r->text_size;
}

static int predict(struct predict_worker *w, size_t arch, unsigned alignment,
		   struct tact_prediction *out)
{
	const struct tact_arch *wanted = w->p->archs.arch[arch];
	const uint32_t moving = w->source->region.moving;
	const uint16_t setting = w->source->region.setting;
	const bool is_forced = is_forced_loop(w);
	int status = 0;

	if (w->arch != wanted || w->alignment != alignment || w->moving != moving ||
	    w->setting != setting || w->is_forced != is_forced) {
		struct tact_block_options options = w->p->block_options;

		options.alignment = alignment;
		options.moving = moving;
		options.setting = setting;
		if (is_forced)
			options.mode = TACT_MODE_LOOP;
		status = tact_block_rebind(w->block, wanted, &options);
		w->arch = wanted;
		w->alignment = alignment;
		w->moving = moving;
		w->setting = setting;
		w->is_forced = is_forced;
	}
	if (status >= 0)
		status = w->simulator ? simulate(w, out) : estimate(w, out);
	if (status >= 0)
		return 0;
	return fail_at(w, status == -TACT_E_LIMIT ? -PREDICT_E_BUDGET : status);
}

static unsigned alignment_of(const struct predictor *p, const struct source_block *block,
			     unsigned k)
{
	if (p->is_alignment_given)
		return p->block_options.alignment + k;
	return block->region.alignment;
}

/* Before and after each result: most blocks have no remarks. */
static void begin_remarks(struct predict_worker *w, const struct source_block *block)
{
	const struct tact_arch *assumed = w->p->archs.assumed;

	if (tact_remarks_count(w->remarks))
		tact_remarks_clear(w->remarks);
	if (assumed)
		predict_remarked(tact_remarks_add(w->remarks, "cpu-assumed",
						  "The name given names no CPU; %s (%s) is assumed",
						  tact_arch_name(assumed),
						  tact_arch_full_name(assumed)));
	if (w->p->unused)
		predict_remark(w, "parameter-unused",
			       "--params changes what the model %s does not use: %s",
			       w->p->is_facile ? "facile" : "sim", w->p->unused);
	if (block->region.remarks)
		predict_remarked(tact_remarks_append(w->remarks, block->region.remarks));
}

static void keep_remarks(struct predict_worker *w, bool is_first)
{
	if (is_first && tact_remarks_count(w->all_remarks))
		tact_remarks_clear(w->all_remarks);
	if (tact_remarks_count(w->remarks))
		predict_remarked(tact_remarks_append(w->all_remarks, w->remarks));
}

/* Code that is not linked may come to lie elsewhere in a line: remarks the cycles that it takes at
 * the places where its section can be put.
 */
static void remark_placement(struct predict_worker *w, size_t arch, unsigned alignment)
{
	const unsigned step = w->source->region.placement;
	struct tact_prediction x = TACT_PREDICTION_INIT;
	double low = HUGE_VAL, high = 0;

	for (unsigned k = 0; k < 64; k += step) {
		if (predict(w, arch, (alignment + k) % 64, &x) < 0)
			return;
		low = x.cycles_per_iteration < low ? x.cycles_per_iteration : low;
		high = x.cycles_per_iteration > high ? x.cycles_per_iteration : high;
	}
	if (high > 1.005 * low)
		predict_remark(
			w, "placement-open",
			"The section is aligned to %u bytes, and the linker may move it in a "
			"line: %.2f to %.2f cycles; see --alignment",
			step, low, high);
}

/* All results of a block, for its CPUs and alignments. */
static void find_results(struct predict_worker *w, const struct source_block *block,
			 struct text *out)
{
	const struct predictor *p = w->p;
	const int status = load(w, block);
	struct predict_result *r = w->results;

	w->is_loaded = status >= 0;
	if (block->is_input)
		return;
	for (size_t a = 0; a < p->archs.n; a++) {
		for (unsigned k = 0; k < p->n_alignments; k++, r++) {
			r->arch = a;
			r->alignment = alignment_of(p, block, k);
			r->status = status;
			r->why = w->why;
			begin_remarks(w, block);
			if (status >= 0 && block->region.placement && !p->is_alignment_given)
				remark_placement(w, a, r->alignment);
			if (status >= 0) {
				r->status = predict(w, a, r->alignment, &r->x);
				r->why = predict_failure(r->status);
				if (p->memory || p->n_memories || p->is_alias || p->is_noalias)
					predict_remark_memory(w);
				if (block->region.n_latencies)
					predict_remark_latencies(w);
			}
			if (r->status >= 0) {
				predict_remark_addresses(w, &r->x);
				predict_remark_insns(w);
				predict_remark_settings(w);
			}
			keep_remarks(w, r == w->results);
			p->shape->result(w, block, r, out);
		}
	}
	if (p->shape->end)
		p->shape->end(w, block, out);
}

static void work(struct predict_worker *w, const struct source_block *block, struct text *out)
{
	if (predict_recall_row(w, block, out))
		return;
	find_results(w, block, out);
	predict_recall_keep(w, block, out);
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

/* ---- all blocks ---- */

static void run_in_place(struct predict_worker *w, struct source *source, bool more,
			 struct output *out, struct text *text)
{
	struct source_block block;
	struct progress progress;

	progress_init(&progress, "blocks", 0, w->p->is_quiet || terminal_is_output(w->p->output));
	while (more && !out->failed && (more = source_next(source, &block))) {
		work(w, &block, text);
		if (progress.is_shown)
			progress_show(&progress, w->n_blocks);
		if (w->err.size)
			text_to_stderr(&w->err);
		if (text->size >= FLUSH_BYTES || w->p->format == FORMAT_TEXT)
			output_write(out, text);
	}
	progress_clear(&progress);
	output_write(out, text);
}

/* Only if nothing follows the first batch is the number of blocks known. */
static int make_files(struct predict_worker *w, const struct predict_batch *first, bool more,
		      const char *option)
{
	const struct source_block *block = &first->rows[0];
	struct tact_prediction x = TACT_PREDICTION_INIT;
	int status = CLI_GOOD;

	if (more || first->n != 1)
		return cli_wrong("%s draws a single block, but the input has more; select one with "
				 "--loop, --function or --addr",
				 option);
	begin_remarks(w, block);
	if (load(w, block) >= 0 && predict(w, 0, alignment_of(w->p, block, 0), &x) >= 0)
		status = w->p->command->make_files(w, block, &x);
	/* The block returns with the results, and so do messages. */
	w->n_blocks = w->n_failed = w->n_candidates = w->err.size = 0;
	w->is_unable = false;
	return status;
}

static int finish(const struct predictor *p, const struct predict_worker *total)
{
	if (!p->is_quiet && p->is_many && total->n_candidates && p->format == FORMAT_TEXT)
		cli_message("these loops were found; --loop N, --function NAME or --addr A-B shows "
			    "one in detail");
	if (p->is_verbose)
		cli_message("%zu blocks, %zu failed", total->n_blocks, total->n_failed);
	if (total->is_unable)
		return CLI_UNABLE;
	return total->n_failed ? CLI_FAILED : CLI_GOOD;
}

static const struct predict_crew crew = {open_worker, close_worker, work};

static int run(struct predictor *p, struct output *out)
{
	struct predict_worker w;
	struct source source;
	struct predict_batch first;
	unsigned threads = p->threads ? p->threads : cli_cores();
	bool more;
	int status = open_worker(&w, p);

	if (status) {
		output_abandon(out);
		return status;
	}
	source_init(&source, &p->source, p->is_quiet);
	predict_batch_init(&first);
	more = predict_batch_fill(&first, &source);
	p->is_many = more || first.n > 1;
	if (p->command->file_option(p))
		status = make_files(&w, &first, more, p->command->file_option(p));
	if (status) {
		output_abandon(out);
		goto out_free;
	}
	if (p->shape->begin)
		p->shape->begin(p, &first.out);
	if (more && threads > 1) {
		status = predict_batches(p, &source, &first,
					 threads < MAX_THREADS ? threads : MAX_THREADS, out, &w);
		if (status)
			output_abandon(out);
	} else {
		predict_batch_work(&first, &w);
		predict_batch_write(&first, out);
		run_in_place(&w, &source, more, out, &first.out);
	}
	if (!status)
		status = finish(p, &w);
out_free:
	predict_batch_fini(&first);
	source_fini(&source);
	close_worker(&w);
	return status;
}

static int check(struct predictor *p)
{
	const char *option = p->command->file_option(p);

	if (!source_has_input(&p->source))
		return cli_wrong("no input: give -x HEX, a file, or - for standard input");
	if (p->is_alias && p->is_noalias)
		return cli_wrong("--alias and --noalias exclude each other");
	if (p->is_advised && (p->format == FORMAT_CSV || p->is_number_only))
		return cli_wrong("--advice needs the format text or json");
	if (option && p->archs.n > 1)
		return cli_wrong("%s draws for one microarchitecture; --arch names %zu", option,
				 p->archs.n);
	return p->command->check(p);
}

/* Returns whether the CPU without --params has the same value. */
static bool is_as_before(const struct tact_arch *before, size_t i, const struct tact_param *now)
{
	struct tact_param param = TACT_PARAM_INIT;

	return before && tact_arch_param(before, i, &param) && !strcmp(param.value, now->value);
}

/* Finds what --params changes although the model does not obey it. */
static void find_unused(struct predictor *p)
{
	const char *model = p->is_facile ? "facile" : "sim";
	const struct tact_arch *arch = p->archs.arch[0];
	const struct tact_arch *before = tact_arch_find(tact_arch_name(arch));
	struct tact_param param = TACT_PARAM_INIT;
	const bool is_sim = p->command->simulates || !strcmp(p->model, "sim");
	struct text names = {0};

	if (!p->archs.params || (!p->is_facile && !is_sim))
		return;
	for (size_t i = 0; tact_arch_param(arch, i, &param); i++)
		if (!strcmp(param.from, "file") && *param.models && !strstr(param.models, model) &&
		    !is_as_before(before, i, &param))
			text_printf(&names, "%s%s", names.size ? ", " : "", param.name);
	if (names.size && !(p->unused = strdup(cli_string(&names))))
		cli_out_of_memory();
	text_free(&names);
}

int predict_main(void *target)
{
	struct predictor *p = target;
	struct output out;
	int status = archlist_resolve(&p->archs, NULL, p->is_quiet || !p->source.n_items);

	if (!status)
		status = check(p);
	if (status)
		return status;
	p->source.isa = tact_arch_isa(p->archs.arch[0]);
	predict_prepare(p);
	find_unused(p);
	if (output_open(&out, p->output))
		return CLI_FAILED;
	p->crew = &crew;
	p->shape = p->is_number_only	      ? &predict_shape_numbers
		   : p->format == FORMAT_CSV  ? &predict_shape_csv
		   : p->format == FORMAT_JSON ? &predict_shape_json
					      : &predict_shape_text;
	status = run(p, &out);
	if (output_close(&out) && !status)
		status = CLI_FAILED;
	return status;
}
