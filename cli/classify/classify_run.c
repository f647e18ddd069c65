/* SPDX-License-Identifier: MIT
 *
 * Training and application, from blocks to results.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <tact-program/shares.h>
#include <tact/version.h>

#include "classifying.h"
#include "common/archlist.h"
#include "common/cli.h"
#include "common/terminal.h"

/* State that both share while they read the inputs. */
struct classify_run {
	struct classifying *p;
	struct classify_feed feed;
	struct tact_shares *shares; /* owned */
	struct tact_block *block;   /* owned */
	size_t n_seen;		    /* blocks */
	size_t n_bad;		    /* blocks that do not decode */
	size_t n_partial;	    /* blocks with instructions that have no data */
};

static int run_init(struct classify_run *run, struct classifying *p)
{
	const struct tact_block_options opt = {.size = sizeof(opt), .mode = TACT_MODE_UNROLL};

	*run = (struct classify_run){.p = p};
	progress_init(&p->progress, "blocks", 0,
		      p->is_quiet || (p->format != FORMAT_TEXT && terminal_is_output(p->output)));
	feed_init(&run->feed, p);
	if (tact_block_create(&run->block, p->arch, &opt, NULL) < 0 ||
	    tact_shares_create(&run->shares) < 0)
		cli_out_of_memory();
	return 0;
}

static void run_fini(struct classify_run *run)
{
	feed_fini(&run->feed);
	tact_shares_destroy(run->shares);
	tact_block_destroy(run->block);
}

static int run_status(const struct classify_run *run)
{
	if (run->feed.is_unable)
		return CLI_UNABLE;
	return run->feed.n_failed || run->n_bad ? CLI_FAILED : CLI_GOOD;
}

/* Loads the next block into run->block.  Returns 1, 0 at the end, or -1 for a block that does not
 * decode; the message was given.
 */
static int run_next(struct classify_run *run, struct classify_block *block)
{
	struct tact_diag diag = {0};
	int status;

	if (!feed_next(&run->feed, block)) {
		progress_clear(&run->p->progress);
		return 0;
	}
	progress_show(&run->p->progress, ++run->n_seen);
	if (block->is_again)
		return 1;
	status = tact_block_load(run->block, block->row.code, block->row.code_size, &diag);
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (status < 0) {
		feed_complain(block, diag.text);
		run->n_bad++;
		return -1;
	}
	run->n_partial += tact_block_coverage(run->block) < 1;
	return 1;
}

static void say_partial(const struct classify_run *run)
{
	if (run->n_partial && !run->p->is_quiet)
		cli_message("%zu blocks have instructions without data for %s; these instructions "
			    "were left out",
			    run->n_partial, tact_arch_name(run->p->arch));
}

/* ---- training ---- */

/* Do not overwrite a list of blocks that was meant as an input. */
static int check_target(const struct classifying *p)
{
	struct stat info;

	if (stat(p->train, &info) || !S_ISREG(info.st_mode) || !info.st_size ||
	    tact_classifier_is_model(p->train))
		return CLI_GOOD;
	cli_message("%s exists and is not a model; --train does not overwrite it", p->train);
	return CLI_USAGE;
}

static int read_bags(struct classify_run *run, struct tact_bags *bags)
{
	struct classify_block block;
	struct tact_diag diag = {0};
	int status;

	while ((status = run_next(run, &block))) {
		uint32_t bag;

		if (status < 0)
			continue;
		status = tact_bags_add(bags, run->block, &bag, &diag);
		if (status < 0) {
			feed_complain(&block, diag.text);
			return CLI_FAILED;
		}
		status = status ? tact_shares_add_bag(run->shares, block.row.app, block.row.weight,
						      bag)
				: tact_shares_add(run->shares, block.row.app, block.row.weight,
						  &(struct tact_label){.topic = -1});
		if (status < 0)
			cli_out_of_memory();
	}
	return CLI_GOOD;
}

static int save(const struct classifying *p, const struct tact_classifier *classifier)
{
	struct text comment = {0};
	struct tact_diag diag = {0};
	int status;

	text_printf(&comment,
		    "Categories of blocks by port combinations; made by tact %d.%d.%d from",
		    TACT_VERSION_MAJOR, TACT_VERSION_MINOR, TACT_VERSION_PATCH);
	for (size_t i = 0; i < p->source.n_items; i++) {
		const char *path = p->source.items[i].value, *slash = strrchr(path, '/');

		/* Names, not places: the model goes to other machines. */
		text_printf(&comment, "\n  %s",
			    p->source.items[i].is_hex ? "-x"
			    : slash		      ? slash + 1
						      : path);
	}
	status = tact_classifier_save(classifier, p->train, cli_string(&comment), &diag);
	text_free(&comment);
	if (status >= 0)
		return CLI_GOOD;
	cli_message("%s: %s", p->train, diag.text);
	return CLI_FAILED;
}

/* Opens the output once there is something to print. */
static struct tact_class_report *open_report(const struct classifying *p, struct output *out,
					     const struct tact_classifier *classifier)
{
	struct tact_class_report *report;

	if (tact_class_report_create(&report, classifier, (enum tact_format)p->format, output_sink,
				     out) < 0)
		cli_out_of_memory();
	return report;
}

static void finish_report(struct tact_class_report *report)
{
	if (tact_class_report_finish(report) < 0)
		cli_out_of_memory();
}

static int finish_training(struct classify_run *run, const struct tact_classifier *classifier,
			   const struct tact_bags *bags, struct output *out)
{
	struct tact_class_report *report;
	int status = save(run->p, classifier);

	if (status)
		return status;
	if (tact_shares_label(run->shares, classifier, bags) < 0)
		cli_out_of_memory();
	tact_shares_finish(run->shares);
	if (output_open(out, run->p->output))
		return CLI_FAILED;
	report = open_report(run->p, out, classifier);
	tact_class_report_summary(report, run->shares, false);
	finish_report(report);
	return run_status(run);
}

static void show_training(void *context, double done)
{
	struct classifying *p = context;

	progress_show(&p->progress, (uint64_t)(1000 * done));
}

int classify_train(struct classifying *p, struct output *out)
{
	struct tact_classifier *classifier = NULL;
	struct tact_bags *bags = NULL;
	struct tact_diag diag = {0};
	struct classify_run run;
	int status = check_target(p);

	if (status)
		return status;
	p->training.size = sizeof(p->training);
	p->training.seed = p->seed;
	p->training.report = show_training;
	p->training.context = p;
	if (!p->training.jobs)
		p->training.jobs = cli_cores();
	run_init(&run, p);
	if (tact_bags_create(&bags, p->arch, NULL) < 0)
		cli_out_of_memory();
	status = read_bags(&run, bags);
	if (!status && !tact_bags_count(bags)) {
		cli_message("the inputs have no block to learn from");
		status = CLI_FAILED;
	}
	if (!status) {
		say_partial(&run);
		progress_init(&p->progress, NULL, 1000, p->is_quiet);
		if (tact_classifier_train(&classifier, bags, &p->training, &diag) < 0) {
			cli_message("%s", diag.text);
			status = CLI_FAILED;
		}
	}
	progress_clear(&p->progress);
	if (!status)
		status = finish_training(&run, classifier, bags, out);
	tact_classifier_destroy(classifier);
	tact_bags_destroy(bags);
	run_fini(&run);
	return status;
}

/* ---- application ---- */

static int store_category(struct classifying *p, const struct tact_class_row *row,
			  const char *category)
{
	struct tact_diag diag = {0};
	int64_t id;
	int status = tact_store_put_block(p->store, row->code, row->code_size, &id, &diag);

	if (status >= 0)
		status = tact_store_put_category(p->store, id, p->classifier_name,
						 tact_arch_name(p->arch), category, &diag);
	if (status >= 0)
		return CLI_GOOD;
	p->is_store_failed = true;
	cli_message("%s: %s", p->store_path, diag.text);
	return CLI_FAILED;
}

/* Labels the loaded block. */
static int label(struct classify_run *run, struct tact_classifier *classifier,
		 struct classify_block *block)
{
	struct tact_class_row *row = &block->row;
	struct tact_diag diag = {0};
	struct tact_topic topic = TACT_TOPIC_INIT;

	row->label.size = sizeof(row->label);
	if (tact_classifier_apply(classifier, run->block, &row->label, &diag) < 0) {
		feed_complain(block, diag.text);
		return CLI_FAILED;
	}
	row->coverage = tact_block_coverage(run->block);
	row->status = row->label.topic < 0 ? "no_uops" : "ok";
	if (tact_shares_add(run->shares, row->app, row->weight, &row->label) < 0)
		cli_out_of_memory();
	if (!run->p->store || row->label.topic < 0 || block->is_again)
		return CLI_GOOD;
	tact_classifier_get_topic(classifier, (unsigned)row->label.topic, &topic);
	return store_category(run->p, row, topic.name);
}

/* Text shows only blocks of the command line one by one. */
static void show(struct classify_run *run, struct tact_class_report *report,
		 const struct tact_class_row *row)
{
	struct tact_bags *bags = NULL;
	uint32_t bag = 0;

	if (run->p->format != FORMAT_TEXT) {
		tact_class_report_row(report, row);
		return;
	}
	if (!run->p->is_hex_only)
		return;
	if (tact_bags_create(&bags, run->p->arch, NULL) < 0)
		cli_out_of_memory();
	if (!strcmp(row->status, "ok") && tact_bags_add(bags, run->block, &bag, NULL) < 0)
		cli_out_of_memory();
	tact_class_report_explain(report, row, bags, bag);
	tact_bags_destroy(bags);
}

static int label_all(struct classify_run *run, struct tact_classifier *classifier,
		     struct tact_class_report *report, const struct output *out)
{
	struct classify_block block;
	int status;

	tact_class_report_header(report);
	while ((status = run_next(run, &block)) && !out->failed) {
		block.row.status = "decode_error";
		if (status > 0 && label(run, classifier, &block))
			return CLI_FAILED;
		show(run, report, &block.row);
	}
	return CLI_GOOD;
}

/* In the formats for programs the summary is a separate JSON object, or a note. */
static void finish(struct classify_run *run, struct tact_class_report *report)
{
	struct classifying *p = run->p;
	struct tact_shares_totals t;

	tact_shares_finish(run->shares);
	tact_shares_get_totals(run->shares, &t);
	say_partial(run);
	if (p->format == FORMAT_JSON || (p->format == FORMAT_TEXT && !p->is_hex_only && t.blocks))
		tact_class_report_summary(report, run->shares, true);
	else if (p->format == FORMAT_CSV && t.uops && !p->is_quiet)
		cli_message("perplexity %.4f on these blocks", t.perplexity);
}

static int open_store(struct classifying *p)
{
	struct tact_diag diag = {0};

	if (!p->store_path)
		return CLI_GOOD;
	if (tact_store_open(&p->store, p->store_path, TACT_STORE_CREATE, &diag) >= 0 &&
	    tact_store_begin(p->store, &diag) >= 0)
		return CLI_GOOD;
	p->is_store_failed = true;
	cli_message("%s: %s", p->store_path, diag.text);
	return CLI_FAILED;
}

static int close_store(struct classifying *p, int status)
{
	struct tact_diag diag = {0};

	/* Where a row could not be written, its transaction is gone, and the message was given. */
	if (p->store && !p->is_store_failed && tact_store_end(p->store, &diag) < 0) {
		cli_message("%s: %s", p->store_path, diag.text);
		status = CLI_FAILED;
	}
	tact_store_close(p->store);
	p->store = NULL;
	return status;
}

static int load(struct classifying *p, struct tact_classifier **classifier)
{
	struct tact_classifier_info info = TACT_CLASSIFIER_INFO_INIT;
	struct tact_diag diag = {0};
	struct text err = {0};

	if (tact_classifier_load(classifier, p->apply, &diag) < 0) {
		cli_place(&err, p->apply, diag.line, diag.text);
		text_to_stderr(&err);
		text_free(&err);
		return CLI_FAILED;
	}
	tact_classifier_get_info(*classifier, &info);
	if (p->arch && p->arch != info.arch) {
		cli_message("%s is a model for %s, not for %s", p->apply, tact_arch_name(info.arch),
			    tact_arch_name(p->arch));
		return CLI_USAGE;
	}
	p->arch = info.arch;
	return CLI_GOOD;
}

static int apply(struct classifying *p, struct tact_classifier *classifier, struct output *out)
{
	struct tact_class_report *report = open_report(p, out, classifier);
	struct classify_run run;
	int status;

	run_init(&run, p);
	status = label_all(&run, classifier, report, out);
	if (!status) {
		finish(&run, report);
		status = run_status(&run);
	} else {
		output_abandon(out);
	}
	finish_report(report);
	run_fini(&run);
	return status;
}

int classify_apply(struct classifying *p, struct output *out)
{
	struct tact_classifier *classifier = NULL;
	int status = load(p, &classifier);

	if (!status) {
		status = open_store(p);
		if (!status)
			status = output_open(out, p->output) ? CLI_FAILED
							     : apply(p, classifier, out);
		status = close_store(p, status);
	}
	tact_classifier_destroy(classifier);
	return status;
}
