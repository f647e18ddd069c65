/* SPDX-License-Identifier: MIT
 *
 * Decision trees that choose between two estimates of a block, as files and as text.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "mix/mix.h"

enum {
	PAPER_LENGTH = 18, /* HBBP paper, section IV.B: the cutoff is consistently close to it */
	MAX_FILE = 1 << 16
};

static const char magic[] = "#tact.mix.rule/1";

static const char *const feature_names[MIX_N_FEATURES] = {
	"length", "bias", "ebs_samples", "lbr_streams", "bytes", "long", "loads", "stores",
};

int tact_mix_rule_create(struct tact_mix_rule **out, struct tact_diag *diag)
{
	struct tact_mix_rule *rule;
	int status;

	if (out)
		*out = NULL;
	status = tact_new(&rule, sizeof(*rule), out, "nowhere to put the rule", diag);
	if (status < 0)
		return status;
	rule->nodes[0] = (struct mix_rule_node){
		.feature = MIX_FEATURE_LENGTH, .limit = PAPER_LENGTH, .left = 1, .right = 2};
	rule->nodes[1] = (struct mix_rule_node){.is_leaf = true, .method = TACT_MIX_LBR};
	rule->nodes[2] = (struct mix_rule_node){.is_leaf = true, .method = TACT_MIX_EBS};
	rule->n = 3;
	*out = rule;
	return 0;
}

void tact_mix_rule_destroy(struct tact_mix_rule *rule)
{
	free(rule);
}

enum tact_mix_method mix_rule_choose(const struct tact_mix_rule *rule,
				     const double features[MIX_N_FEATURES])
{
	uint32_t at = 0;

	/* Children come after their parents, so that this ends. */
	while (!rule->nodes[at].is_leaf)
		at = features[rule->nodes[at].feature] <= rule->nodes[at].limit
			     ? rule->nodes[at].left
			     : rule->nodes[at].right;
	return (enum tact_mix_method)rule->nodes[at].method;
}

/* ---- text ---- */

static int find_feature(const char *name)
{
	for (int i = 0; i < MIX_N_FEATURES; i++)
		if (!strcmp(feature_names[i], name))
			return i;
	return -1;
}

/* Parses "N split FEATURE LIMIT LEFT RIGHT" or "N leaf METHOD"; N counts from 0. */
static int parse_line(struct tact_mix_rule *rule, const char *line, uint64_t number,
		      struct tact_diag *diag)
{
	struct mix_rule_node *node = &rule->nodes[rule->n];
	char what[16], name[32];
	unsigned n;
	int used = 0, feature;

	if (rule->n >= MIX_RULE_MAX_NODES)
		return tact_fail_at(diag, TACT_E_FORMAT, number, 0, "more than %d nodes",
				    MIX_RULE_MAX_NODES);
	if (sscanf(line, "%u %15s %31s%n", &n, what, name, &used) != 3 || n != rule->n)
		return tact_fail_at(diag, TACT_E_FORMAT, number, 0,
				    "expected node %u: its number, split or leaf, and what",
				    rule->n);
	*node = (struct mix_rule_node){0};
	if (!strcmp(what, "leaf") && (!strcmp(name, "ebs") || !strcmp(name, "lbr"))) {
		node->is_leaf = true;
		node->method = !strcmp(name, "ebs") ? TACT_MIX_EBS : TACT_MIX_LBR;
		rule->n++;
		return 0;
	}
	feature = find_feature(name);
	if (strcmp(what, "split") || feature < 0 ||
	    sscanf(line + used, "%lf %u %u", &node->limit, &node->left, &node->right) != 3)
		return tact_fail_at(diag, TACT_E_FORMAT, number, 0,
				    "neither a leaf (ebs or lbr) nor a split by a known feature");
	node->feature = (uint8_t)feature;
	if (node->left <= rule->n || node->right <= rule->n)
		return tact_fail_at(diag, TACT_E_FORMAT, number, 0,
				    "a split leads back to an earlier node");
	rule->n++;
	return 0;
}

static int parse(struct tact_mix_rule *rule, const char *text, size_t size, struct tact_diag *diag)
{
	const char *end = size ? text + size : text;
	uint64_t number = 0;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((newline ? newline : end) - text);
		char line[256];

		number++;
		if (n >= sizeof(line))
			return tact_fail_at(diag, TACT_E_FORMAT, number, 0, "a line too long");
		memcpy(line, text, n);
		line[n] = '\0';
		text += n + 1;
		if (number == 1 && strncmp(line, magic, strlen(magic)))
			return tact_fail_at(diag, TACT_E_FORMAT, 1, 0,
					    "not a rule: the first line is not %s", magic);
		if (line[0] == '#' || !line[strspn(line, " \t\r")])
			continue;
		if (parse_line(rule, line, number, diag) < 0)
			return -TACT_E_FORMAT;
	}
	if (!rule->n)
		return tact_fail(diag, TACT_E_FORMAT, "a rule without nodes");
	for (uint32_t i = 0; i < rule->n; i++)
		if (!rule->nodes[i].is_leaf &&
		    (rule->nodes[i].left >= rule->n || rule->nodes[i].right >= rule->n))
			return tact_fail(diag, TACT_E_FORMAT,
					 "node %u leads to one that is not there", i);
	return 0;
}

int tact_mix_rule_load_memory(struct tact_mix_rule **out, const char *text, size_t size,
			      struct tact_diag *diag)
{
	struct tact_mix_rule *rule;
	int status;

	if (out)
		*out = NULL;
	status = tact_new(&rule, sizeof(*rule), out && (text || !size), "no text", diag);
	if (status < 0)
		return status;
	status = parse(rule, text, size, diag);
	return HAND_OVER(out, rule, status, free);
}

int tact_mix_rule_load(struct tact_mix_rule **out, const char *path, struct tact_diag *diag)
{
	struct text text = {0};
	int status;

	if (out)
		*out = NULL;
	if (!out || !path)
		return tact_fail(diag, TACT_E_INVAL, "no path");
	status = file_read(path, MAX_FILE, &text, diag);
	if (status >= 0)
		status = tact_mix_rule_load_memory(out, text.data, text.size, diag);
	text_free(&text);
	return status;
}

int tact_mix_rule_save(const struct tact_mix_rule *rule, const char *path, struct tact_diag *diag)
{
	struct text text = {0};

	if (!rule || !path)
		return tact_fail(diag, TACT_E_INVAL, "no rule, or no path");
	text_printf(&text, "%s\n", magic);
	for (uint32_t i = 0; i < rule->n; i++) {
		const struct mix_rule_node *x = &rule->nodes[i];

		if (x->is_leaf)
			text_printf(&text, "%u leaf %s\n", i,
				    tact_mix_method_name((enum tact_mix_method)x->method));
		else
			text_printf(&text, "%u split %s %.9g %u %u\n", i, feature_names[x->feature],
				    x->limit, x->left, x->right);
	}
	return file_write_text(path, &text, diag);
}

/* ---- for people ---- */

static void print_node(struct text *out, const struct tact_mix_rule *rule, uint32_t at, int depth)
{
	const struct mix_rule_node *x = &rule->nodes[at];

	if (x->is_leaf) {
		text_printf(out, "%*s%s", 2 * depth, "",
			    tact_mix_method_name((enum tact_mix_method)x->method));
		if (x->samples)
			text_printf(out, "  (%llu blocks, weight %.3f, gini %.3f)",
				    (unsigned long long)x->samples, x->weight, x->gini);
		text_printf(out, "\n");
		return;
	}
	if (depth > 64)
		return;
	text_printf(out, "%*s%s <= %.6g:\n", 2 * depth, "", feature_names[x->feature], x->limit);
	print_node(out, rule, x->left, depth + 1);
	text_printf(out, "%*selse:\n", 2 * depth, "");
	print_node(out, rule, x->right, depth + 1);
}

size_t tact_mix_rule_print(const struct tact_mix_rule *rule, char *text, size_t size)
{
	struct text whole = {0};
	size_t length;

	if (rule)
		print_node(&whole, rule, 0, 0);
	length = whole.failed ? 0 : whole.size;
	if (text && size)
		snprintf(text, size, "%.*s", (int)length, length ? whole.data : "");
	text_free(&whole);
	return length;
}
