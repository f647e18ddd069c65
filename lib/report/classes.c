/* SPDX-License-Identifier: MIT
 *
 * Categories of blocks: labels as CSV and JSON, one block for people, and the summary.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"

struct tact_class_report {
	struct report report;
	const struct tact_classifier *classifier;
	enum tact_format format;
	unsigned n_topics;
};

enum { MAX_LEADING = 5 }; /* port combinations that describe a topic */
static const double LEADING_FROM = 0.02;

static unsigned topics_of(const struct tact_classifier *classifier)
{
	struct tact_classifier_info info = TACT_CLASSIFIER_INFO_INIT;

	tact_classifier_get_info(classifier, &info);
	return info.topics;
}

static struct tact_topic topic_at(const struct tact_classifier *classifier, unsigned k)
{
	struct tact_topic topic = TACT_TOPIC_INIT;

	tact_classifier_get_topic(classifier, k, &topic);
	return topic;
}

static struct tact_share share_at(const struct tact_shares *shares, size_t i)
{
	struct tact_share share;

	tact_shares_get(shares, i, &share);
	return share;
}

/* ---- a row for each block ---- */

static void csv_header(const struct tact_class_report *r, struct text *out)
{
	text_add(out, "hex,app,weight,status,category,uops,coverage");
	for (unsigned k = 0; k < r->n_topics; k++)
		text_printf(out, ",share_%s", topic_at(r->classifier, k).name);
	text_add(out, "\n");
}

static void csv_row(const struct tact_class_report *r, const struct tact_class_row *b,
		    struct text *out)
{
	text_hex(out, b->code, b->code_size);
	text_add(out, ",");
	text_csv_field(out, b->app, strlen(b->app), false);
	text_add(out, ",");
	if (!isnan(b->weight))
		text_printf(out, "%.9g", b->weight);
	text_printf(out, ",%s,", b->status);
	if (strcmp(b->status, "ok") != 0) {
		text_add(out, ",,");
		for (unsigned k = 0; k < r->n_topics; k++)
			text_add(out, ",");
		text_add(out, "\n");
		return;
	}
	text_printf(out, "%s,%" PRIu64 ",%.4g",
		    topic_at(r->classifier, (unsigned)b->label.topic).name, b->label.uops,
		    b->coverage);
	for (unsigned k = 0; k < r->n_topics; k++)
		text_printf(out, ",%.4f", b->label.weight[k]);
	text_add(out, "\n");
}

static void json_row(const struct tact_class_report *r, const struct tact_class_row *b,
		     struct text *out)
{
	struct json json = {.out = out};

	json_begin_object(&json, NULL);
	json_put_string(&json, "schema", "tact.classify/1");
	json_put_string(&json, "file", b->file);
	if (b->line && strcmp(b->file, "-x") != 0)
		json_put_count(&json, "line", b->line);
	if (b->name[0])
		json_put_string(&json, "name", b->name);
	json_put_hex(&json, "hex", b->code, b->code_size);
	if (b->app[0])
		json_put_string(&json, "app", b->app);
	if (!isnan(b->weight))
		json_printf(&json, "weight", "%.9g", b->weight);
	json_put_string(&json, "status", b->status);
	if (!strcmp(b->status, "ok")) {
		json_put_string(&json, "category",
				topic_at(r->classifier, (unsigned)b->label.topic).name);
		json_put_count(&json, "uops", b->label.uops);
		json_printf(&json, "coverage", "%.4g", b->coverage);
		json_begin_object(&json, "shares");
		for (unsigned k = 0; k < r->n_topics; k++)
			json_put_fixed(&json, topic_at(r->classifier, k).name, b->label.weight[k],
				       4);
		json_end(&json);
	}
	json_end_line(&json);
}

/* ---- one block for people ---- */

static void explain(const struct tact_class_report *r, const struct tact_class_row *b,
		    const struct tact_bags *bags, uint32_t bag, struct text *out)
{
	char ports[TACT_CLASSIFY_PORTS_SIZE];
	uint64_t count;
	int topic;

	text_hex(out, b->code, b->code_size);
	if (strcmp(b->status, "ok") != 0) {
		text_printf(out, "\nCategory: none (%s)\n\n",
			    !strcmp(b->status, "no_uops") ? "no uop needs a port of the model"
							  : b->status);
		return;
	}
	text_printf(out, "\nCategory: %s\n",
		    topic_at(r->classifier, (unsigned)b->label.topic).name);
	if (b->coverage < 1)
		text_printf(out, "Coverage: %.2f (the rest has no data and was left out)\n",
			    b->coverage);
	text_add(out, "Shares:  ");
	for (unsigned k = 0; k < r->n_topics; k++)
		text_printf(out, " %s %.2f", topic_at(r->classifier, k).name, b->label.weight[k]);
	text_add(out, "\nUops:\n");
	for (unsigned i = 0;
	     tact_classifier_term(r->classifier, bags, bag, i, ports, &count, &topic) > 0; i++)
		text_printf(out, "  %4" PRIu64 " * %-10s %s\n", count, ports,
			    topic < 0 ? "(not in the model)"
				      : topic_at(r->classifier, (unsigned)topic).name);
	text_add(out, "\n");
}

/* ---- summary: text ---- */

static void text_topics(const struct tact_classifier *classifier, struct text *out)
{
	text_printf(out, "%-16s%7s%7s%7s%7s%7s  %s\n", "Topic", "uops", "load", "store", "scalar",
		    "vector", "leading port combinations");
	for (unsigned k = 0; k < topics_of(classifier); k++) {
		struct tact_topic t = topic_at(classifier, k);
		char ports[TACT_CLASSIFY_PORTS_SIZE];
		double p;

		text_printf(out, "%-16s%6.1f%%%6.0f%%%6.0f%%%6.0f%%%6.0f%%", t.name, 100 * t.share,
			    100 * t.load, 100 * t.store, 100 * t.scalar, 100 * t.vector);
		for (unsigned i = 0; i < MAX_LEADING; i++)
			if (tact_classifier_leading(classifier, k, i, ports, &p) > 0 &&
			    (!i || p >= LEADING_FROM))
				text_printf(out, "%s %s %.2f", i ? "," : " ", ports, p);
		text_add(out, "\n");
	}
}

/* Writes one line of a table of shares: of blocks, or of weights. */
static void share_line(const char *name, double total, const double *part, unsigned n,
		       bool by_weight, struct text *out)
{
	text_printf(out, by_weight ? "%-20s%12.6g" : "%-20s%12.0f", name[0] ? name : "(none)",
		    total);
	for (unsigned k = 0; k < n; k++) {
		if (total > 0)
			text_printf(out, "%11.1f%%", 100 * part[k] / total);
		else
			text_printf(out, "%12s", "-");
	}
	text_add(out, "\n");
}

static void text_shares(const struct tact_classifier *classifier, const struct tact_shares *shares,
			bool by_weight, struct text *out)
{
	double all[TACT_CLASSIFY_MAX_TOPICS] = {0}, sum = 0;
	const unsigned n = topics_of(classifier);

	text_printf(out, "\n%-20s%12s", "Application", by_weight ? "weight" : "blocks");
	for (unsigned k = 0; k < n; k++)
		text_printf(out, " %11.11s", topic_at(classifier, k).name);
	text_add(out, "\n");
	for (size_t i = 0; i < tact_shares_count(shares); i++) {
		const struct tact_share app = share_at(shares, i);
		double part[TACT_CLASSIFY_MAX_TOPICS], total = 0;

		for (unsigned k = 0; k < n; k++) {
			part[k] = by_weight ? app.by_weight[k] : (double)app.count[k];
			total += part[k];
			all[k] += part[k];
		}
		sum += total;
		share_line(app.app, total, part, n, by_weight, out);
	}
	/* Weights of different applications may have different units. */
	if (!by_weight && tact_shares_count(shares) > 1)
		share_line("all", sum, all, n, false, out);
}

static void text_summary(const struct tact_classifier *classifier, const struct tact_shares *shares,
			 bool is_applied, struct text *out)
{
	struct tact_shares_totals t;
	struct tact_classifier_info info = TACT_CLASSIFIER_INFO_INIT;

	tact_shares_get_totals(shares, &t);
	tact_classifier_get_info(classifier, &info);
	text_printf(out,
		    "Model:      %u topics of %u port combinations on %s; %" PRIu64
		    " blocks, %" PRIu64 " different bags, %" PRIu64 " uops\n",
		    info.topics, info.words, tact_arch_name(info.arch), info.blocks, info.bags,
		    info.uops);
	text_printf(out, "Perplexity: %.4f in training", info.perplexity);
	if (is_applied && t.uops)
		text_printf(out, ", %.4f on these blocks", t.perplexity);
	text_add(out, "\n\n");
	text_topics(classifier, out);
	text_shares(classifier, shares, false, out);
	if (t.has_weights)
		text_shares(classifier, shares, true, out);
	if (t.unlabelled)
		text_printf(out,
			    "\nBlocks without a category, as no uop needs a port: %" PRIu64 "\n",
			    t.unlabelled);
	if (t.unknown)
		text_printf(out,
			    "\nUops whose port combination the model does not have: %" PRIu64 "\n",
			    t.unknown);
}

/* ---- summary: CSV and JSON ---- */

static void csv_summary(const struct tact_classifier *classifier, const struct tact_shares *shares,
			struct text *out)
{
	struct tact_shares_totals t;

	tact_shares_get_totals(shares, &t);
	text_add(out, "app,category,blocks,weight\n");
	for (size_t i = 0; i < tact_shares_count(shares); i++) {
		const struct tact_share app = share_at(shares, i);

		for (unsigned k = 0; k < topics_of(classifier); k++) {
			text_csv_field(out, app.app, strlen(app.app), false);
			text_printf(out, ",%s,%" PRIu64 ",", topic_at(classifier, k).name,
				    app.count[k]);
			if (t.has_weights)
				text_printf(out, "%.9g", app.by_weight[k]);
			text_add(out, "\n");
		}
	}
}

static void json_topics(const struct tact_classifier *classifier, struct json *json)
{
	json_begin_array(json, "topics");
	for (unsigned k = 0; k < topics_of(classifier); k++) {
		struct tact_topic t = topic_at(classifier, k);
		char ports[TACT_CLASSIFY_PORTS_SIZE];
		double p;

		json_begin_object(json, NULL);
		json_put_string(json, "name", t.name);
		json_put_fixed(json, "share", t.share, 4);
		json_put_fixed(json, "load", t.load, 4);
		json_put_fixed(json, "store", t.store, 4);
		json_put_fixed(json, "scalar", t.scalar, 4);
		json_put_fixed(json, "vector", t.vector, 4);
		json_begin_object(json, "ports");
		for (unsigned i = 0; tact_classifier_leading(classifier, k, i, ports, &p) > 0; i++)
			json_put_fixed(json, ports, p, 4);
		json_end(json);
		json_end(json);
	}
	json_end(json);
}

static void json_app(const struct tact_classifier *classifier, const struct tact_share *app,
		     bool has_weights, struct json *json)
{
	json_begin_object(json, NULL);
	json_put_string(json, "app", app->app);
	json_put_count(json, "blocks", app->blocks);
	if (has_weights)
		json_printf(json, "weight", "%.9g", app->weight);
	json_begin_object(json, "categories");
	for (unsigned k = 0; k < topics_of(classifier); k++) {
		json_begin_object(json, topic_at(classifier, k).name);
		json_put_count(json, "blocks", app->count[k]);
		json_printf(json, "weight", "%.9g", app->by_weight[k]);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

static void json_summary(const struct tact_classifier *classifier, const struct tact_shares *shares,
			 bool is_applied, struct text *out)
{
	struct json json = {.out = out};
	struct tact_classifier_info info = TACT_CLASSIFIER_INFO_INIT;
	struct tact_shares_totals t;

	tact_shares_get_totals(shares, &t);
	tact_classifier_get_info(classifier, &info);
	json_begin_object(&json, NULL);
	json_put_string(&json, "schema", "tact.classify.summary/1");
	json_put_string(&json, "arch", tact_arch_name(info.arch));
	json_printf(&json, "alpha", "%.9g", info.alpha);
	json_printf(&json, "beta", "%.9g", info.beta);
	json_put_count(&json, "seed", info.seed);
	json_put_count(&json, "starts", info.starts);
	json_begin_object(&json, "training");
	json_put_count(&json, "blocks", info.blocks);
	json_put_count(&json, "bags", info.bags);
	json_put_count(&json, "uops", info.uops);
	json_put_fixed(&json, "perplexity", info.perplexity, 6);
	json_end(&json);
	json_topics(classifier, &json);
	json_put_count(&json, "blocks", t.blocks);
	json_put_count(&json, "unlabelled", t.unlabelled);
	if (is_applied) {
		json_put_count(&json, "uops", t.uops);
		json_put_count(&json, "unknown_uops", t.unknown);
		if (t.uops)
			json_put_fixed(&json, "perplexity", t.perplexity, 6);
	}
	json_begin_array(&json, "applications");
	for (size_t i = 0; i < tact_shares_count(shares); i++) {
		const struct tact_share app = share_at(shares, i);

		json_app(classifier, &app, t.has_weights, &json);
	}
	json_end_line(&json);
}

/* ---- the whole ---- */

int tact_class_report_create(struct tact_class_report **out,
			     const struct tact_classifier *classifier, enum tact_format format,
			     int (*write)(void *arg, const char *data, size_t size), void *arg)
{
	struct tact_class_report *r;

	*out = NULL;
	if (!classifier || !write)
		return -TACT_E_INVAL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -TACT_E_NOMEM;
	r->report.write = write;
	r->report.arg = arg;
	r->classifier = classifier;
	r->format = format;
	r->n_topics = topics_of(classifier);
	*out = r;
	return 0;
}

void tact_class_report_header(struct tact_class_report *r)
{
	if (r->format == TACT_FORMAT_CSV)
		csv_header(r, &r->report.text);
}

void tact_class_report_row(struct tact_class_report *r, const struct tact_class_row *row)
{
	if (r->format == TACT_FORMAT_CSV)
		csv_row(r, row, &r->report.text);
	else if (r->format == TACT_FORMAT_JSON)
		json_row(r, row, &r->report.text);
	report_flush(&r->report);
}

void tact_class_report_explain(struct tact_class_report *r, const struct tact_class_row *row,
			       const struct tact_bags *bags, uint32_t bag)
{
	explain(r, row, bags, bag, &r->report.text);
	report_flush(&r->report);
}

void tact_class_report_summary(struct tact_class_report *r, const struct tact_shares *shares,
			       bool is_applied)
{
	struct text *out = &r->report.text;

	if (r->format == TACT_FORMAT_JSON)
		json_summary(r->classifier, shares, is_applied, out);
	else if (r->format == TACT_FORMAT_CSV)
		csv_summary(r->classifier, shares, out);
	else
		text_summary(r->classifier, shares, is_applied, out);
}

int tact_class_report_finish(struct tact_class_report *r)
{
	int status = r ? report_end(&r->report) : 0;

	free(r);
	return status;
}
