/* SPDX-License-Identifier: MIT
 *
 * Labels as CSV and JSON, a block for people, and the summary.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "classifying.h"
#include "common/cli.h"

enum { MAX_LEADING = 5 }; /* port combinations that describe a topic */
static const double LEADING_FROM = 0.02;

static unsigned topics_of(const struct tact_classifier *classifier)
{
	struct tact_classifier_info info;

	tact_classifier_info(classifier, &info);
	return info.topics;
}

static struct tact_topic topic_at(const struct tact_classifier *classifier, unsigned k)
{
	struct tact_topic topic;

	tact_classifier_topic(classifier, k, &topic);
	return topic;
}

static struct tact_share share_at(const struct tact_shares *shares, size_t i)
{
	struct tact_share share;

	tact_shares_get(shares, i, &share);
	return share;
}

static void json_key(struct text *out, const char *key, const char *value)
{
	text_printf(out, ",\"%s\":", key);
	text_json_string(out, value, strlen(value));
}

/* ---- a row for each block ---- */

void classify_header(const struct classifying *p, const struct tact_classifier *classifier,
		     struct text *out)
{
	if (p->format != FORMAT_CSV)
		return;
	text_add(out, "hex,app,weight,status,category,uops,coverage");
	for (unsigned k = 0; k < topics_of(classifier); k++)
		text_printf(out, ",share_%s", topic_at(classifier, k).name);
	text_add(out, "\n");
}

static void csv_row(const struct tact_classifier *classifier, const struct classify_result *r,
		    struct text *out)
{
	const unsigned n_topics = topics_of(classifier);
	const struct classify_block *b = r->block;

	text_hex(out, b->code, b->code_size);
	text_add(out, ",");
	text_csv_field(out, b->app, strlen(b->app), false);
	text_add(out, ",");
	if (!isnan(b->weight))
		text_printf(out, "%.9g", b->weight);
	text_printf(out, ",%s,", r->status);
	if (strcmp(r->status, "ok") != 0) {
		text_add(out, ",,");
		for (unsigned k = 0; k < n_topics; k++)
			text_add(out, ",");
		text_add(out, "\n");
		return;
	}
	text_printf(out, "%s,%" PRIu64 ",%.4g", topic_at(classifier, (unsigned)r->label.topic).name,
		    r->label.uops, r->coverage);
	for (unsigned k = 0; k < n_topics; k++)
		text_printf(out, ",%.4f", r->label.weight[k]);
	text_add(out, "\n");
}

static void json_row(const struct tact_classifier *classifier, const struct classify_result *r,
		     struct text *out)
{
	const struct classify_block *b = r->block;

	text_add(out, "{\"schema\":\"tact.classify/1\"");
	json_key(out, "file", b->path);
	if (b->line && strcmp(b->path, "-x") != 0)
		text_printf(out, ",\"line\":%" PRIu64, b->line);
	if (b->name[0])
		json_key(out, "name", b->name);
	text_add(out, ",\"hex\":\"");
	text_hex(out, b->code, b->code_size);
	text_add(out, "\"");
	if (b->app[0])
		json_key(out, "app", b->app);
	if (!isnan(b->weight))
		text_printf(out, ",\"weight\":%.9g", b->weight);
	json_key(out, "status", r->status);
	if (!strcmp(r->status, "ok")) {
		json_key(out, "category", topic_at(classifier, (unsigned)r->label.topic).name);
		text_printf(out, ",\"uops\":%" PRIu64 ",\"coverage\":%.4g,\"shares\":{",
			    r->label.uops, r->coverage);
		for (unsigned k = 0; k < topics_of(classifier); k++)
			text_printf(out, "%s\"%s\":%.4f", k ? "," : "",
				    topic_at(classifier, k).name, r->label.weight[k]);
		text_add(out, "}");
	}
	text_add(out, "}\n");
}

void classify_row(const struct classifying *p, const struct tact_classifier *classifier,
		  const struct classify_result *result, struct text *out)
{
	if (p->format == FORMAT_CSV)
		csv_row(classifier, result, out);
	else if (p->format == FORMAT_JSON)
		json_row(classifier, result, out);
}

/* ---- one block for people ---- */

void classify_explain(const struct tact_classifier *classifier, const struct tact_bags *bags,
		      uint32_t bag, const struct classify_result *r, struct text *out)
{
	char ports[TACT_CLASSIFY_PORTS_SIZE];
	uint64_t count;
	int topic;

	text_hex(out, r->block->code, r->block->code_size);
	if (strcmp(r->status, "ok") != 0) {
		text_printf(out, "\nCategory: none (%s)\n\n",
			    !strcmp(r->status, "no_uops") ? "no uop needs a port of the model"
							  : r->status);
		return;
	}
	text_printf(out, "\nCategory: %s\n", topic_at(classifier, (unsigned)r->label.topic).name);
	if (r->coverage < 1)
		text_printf(out, "Coverage: %.2f (the rest has no data and was left out)\n",
			    r->coverage);
	text_add(out, "Shares:  ");
	for (unsigned k = 0; k < topics_of(classifier); k++)
		text_printf(out, " %s %.2f", topic_at(classifier, k).name, r->label.weight[k]);
	text_add(out, "\nUops:\n");
	for (unsigned i = 0;
	     tact_classifier_term(classifier, bags, bag, i, ports, &count, &topic) > 0; i++)
		text_printf(out, "  %4" PRIu64 " * %-10s %s\n", count, ports,
			    topic < 0 ? "(not in the model)"
				      : topic_at(classifier, (unsigned)topic).name);
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

/* One line of a table of shares: of blocks, or of weights. */
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
	/* Weights of different applications need not have the same unit. */
	if (!by_weight && tact_shares_count(shares) > 1)
		share_line("all", sum, all, n, false, out);
}

static void text_summary(const struct classifying *p, const struct tact_classifier *classifier,
			 const struct tact_shares *shares, struct text *out)
{
	struct tact_shares_totals t;
	struct tact_classifier_info info;

	tact_shares_totals(shares, &t);
	tact_classifier_info(classifier, &info);
	text_printf(out,
		    "Model:      %u topics of %u port combinations on %s; %" PRIu64
		    " blocks, %" PRIu64 " different bags, %" PRIu64 " uops\n",
		    info.topics, info.words, tact_arch_name(info.arch), info.blocks, info.bags,
		    info.uops);
	text_printf(out, "Perplexity: %.4f in training", info.perplexity);
	if (p->apply && t.uops)
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

	tact_shares_totals(shares, &t);
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

static void json_topics(const struct tact_classifier *classifier, struct text *out)
{
	text_add(out, ",\"topics\":[");
	for (unsigned k = 0; k < topics_of(classifier); k++) {
		struct tact_topic t = topic_at(classifier, k);
		char ports[TACT_CLASSIFY_PORTS_SIZE];
		double p;

		text_printf(out,
			    "%s{\"name\":\"%s\",\"share\":%.4f,\"load\":%.4f,\"store\":%.4f,"
			    "\"scalar\":%.4f,\"vector\":%.4f,\"ports\":{",
			    k ? "," : "", t.name, t.share, t.load, t.store, t.scalar, t.vector);
		for (unsigned i = 0; tact_classifier_leading(classifier, k, i, ports, &p) > 0; i++)
			text_printf(out, "%s\"%s\":%.4f", i ? "," : "", ports, p);
		text_add(out, "}}");
	}
	text_add(out, "]");
}

static void json_summary(const struct classifying *p, const struct tact_classifier *classifier,
			 const struct tact_shares *shares, struct text *out)
{
	struct tact_shares_totals t;
	struct tact_classifier_info info;

	tact_shares_totals(shares, &t);
	tact_classifier_info(classifier, &info);
	text_printf(out,
		    "{\"schema\":\"tact.classify.summary/1\",\"arch\":\"%s\",\"alpha\":%.9g,"
		    "\"beta\":%.9g,\"seed\":%" PRIu64
		    ",\"starts\":%u,\"training\":{\"blocks\":%" PRIu64 ",\"bags\":%" PRIu64
		    ",\"uops\":%" PRIu64 ",\"perplexity\":%.6f}",
		    tact_arch_name(info.arch), info.alpha, info.beta, info.seed, info.starts,
		    info.blocks, info.bags, info.uops, info.perplexity);
	json_topics(classifier, out);
	text_printf(out, ",\"blocks\":%" PRIu64 ",\"unlabelled\":%" PRIu64, t.blocks, t.unlabelled);
	if (p->apply) {
		text_printf(out, ",\"uops\":%" PRIu64 ",\"unknown_uops\":%" PRIu64, t.uops,
			    t.unknown);
		if (t.uops)
			text_printf(out, ",\"perplexity\":%.6f", t.perplexity);
	}
	text_add(out, ",\"applications\":[");
	for (size_t i = 0; i < tact_shares_count(shares); i++) {
		const struct tact_share app = share_at(shares, i);

		text_printf(out, "%s{\"app\":", i ? "," : "");
		text_json_string(out, app.app, strlen(app.app));
		text_printf(out, ",\"blocks\":%" PRIu64, app.blocks);
		if (t.has_weights)
			text_printf(out, ",\"weight\":%.9g", app.weight);
		text_add(out, ",\"categories\":{");
		for (unsigned k = 0; k < info.topics; k++)
			text_printf(out, "%s\"%s\":{\"blocks\":%" PRIu64 ",\"weight\":%.9g}",
				    k ? "," : "", topic_at(classifier, k).name, app.count[k],
				    app.by_weight[k]);
		text_add(out, "}}");
	}
	text_add(out, "]}\n");
}

void classify_summary(const struct classifying *p, const struct tact_classifier *classifier,
		      const struct tact_shares *shares, struct text *out)
{
	if (p->format == FORMAT_JSON)
		json_summary(p, classifier, shares, out);
	else if (p->format == FORMAT_CSV)
		csv_summary(classifier, shares, out);
	else
		text_summary(p, classifier, shares, out);
}
