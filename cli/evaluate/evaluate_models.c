/* SPDX-License-Identifier: MIT
 *
 * The models of tact evaluate: what the values of --model name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "evaluator.h"

static struct evaluate_model *add(struct evaluator *p, const char *name, size_t length,
				  enum evaluate_model_kind kind)
{
	struct evaluate_model *model;

	p->models = cli_realloc(p->models, (p->n_models + 1) * sizeof(*p->models));
	model = &p->models[p->n_models++];
	*model = (struct evaluate_model){.kind = kind};
	model->options.size = sizeof(model->options);
	model->name = strndup(name, length);
	if (!model->name)
		cli_out_of_memory();
	return model;
}

void evaluate_model_fini(struct evaluate_model *model)
{
	tact_mca_params_destroy(model->mca_params);
	free(model->name);
	free(model->command);
	free(model->predicted);
	free(model->outcomes);
}

static char *copy(const char *text, size_t length)
{
	char *result = strndup(text, length);

	if (!result)
		cli_out_of_memory();
	return result;
}

/* ---- FACILE and its parts ---- */

static int find_bound(const char *name, size_t length)
{
	for (int b = 0; b < TACT_N_BOUNDS; b++) {
		const char *column = tact_bound_column((enum tact_bound)b);
		const char *full = tact_bound_name((enum tact_bound)b);

		if ((strlen(column) == length && !strncasecmp(column, name, length)) ||
		    (strlen(full) == length && !strncasecmp(full, name, length)))
			return b;
	}
	return -1;
}

/* Names of bounds with + between them. */
static const char *read_bounds(struct evaluator *p, const char *list, size_t length, uint32_t *bits)
{
	const char *end = list + length;

	*bits = 0;
	while (list < end) {
		size_t n = strcspn(list, "+");
		int b;

		if (n > (size_t)(end - list))
			n = (size_t)(end - list);
		b = find_bound(list, n);
		if (b < 0) {
			snprintf(p->why, sizeof(p->why),
				 "'%.*s' is no limit of FACILE: those are the columns of 'tact "
				 "predict -f csv', with + between them",
				 n > 30 ? 30 : (int)n, list);
			return p->why;
		}
		*bits |= 1u << b;
		list += n + 1;
	}
	return *bits ? NULL : "a list of limits is empty";
}

static bool is_word(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && !memcmp(text, word, length);
}

static bool has_prefix(const char *text, size_t length, const char *prefix)
{
	return length >= strlen(prefix) && !memcmp(text, prefix, strlen(prefix));
}

static const char *read_facile_option(struct evaluator *p, struct evaluate_model *model,
				      const char *option, size_t length)
{
	const uint32_t all = (1u << TACT_N_BOUNDS) - 1;
	uint32_t bits = 0, *bounds = &model->options.bounds;
	bool is_only = has_prefix(option, length, "only=");
	const char *why;

	if (is_only || has_prefix(option, length, "without=")) {
		size_t skip = strcspn(option, "=") + 1;

		why = read_bounds(p, option + skip, length - skip, &bits);
		if (why)
			return why;
		*bounds = (*bounds ? *bounds : all) & (is_only ? bits : ~bits);
		return *bounds ? NULL : "no limit at all is left";
	}
	if (is_word(option, length, "simple-predec") ||
	    is_word(option, length, "simple-predecoder"))
		model->options.simple_predecoder = true;
	else if (is_word(option, length, "simple-dec") || is_word(option, length, "simple-decoder"))
		model->options.simple_decoder = true;
	else if (is_word(option, length, "exact-ports"))
		model->options.exact_ports = true;
	else if (is_word(option, length, "paper"))
		model->paper = true;
	else {
		snprintf(p->why, sizeof(p->why),
			 "facile:%.*s: what follows facile: is only=LIST, without=LIST, "
			 "simple-predec, simple-dec, exact-ports, paper or ablations",
			 length > 30 ? 30 : (int)length, option);
		return p->why;
	}
	return NULL;
}

/* Rows of Table 3 of the FACILE paper. */
static const char *add_ablations(struct evaluator *p)
{
	static const char *const variants[] = {
		"facile",
		"facile:simple-predec",
		"facile:simple-dec",
		"facile:only=predec",
		"facile:only=dec",
		"facile:only=dsb",
		"facile:only=lsd",
		"facile:only=issue",
		"facile:only=ports",
		"facile:only=precedence",
		"facile:only=predec+ports",
		"facile:only=precedence+ports",
		"facile:without=predec",
		"facile:without=dec",
		"facile:without=dsb",
		"facile:without=lsd",
		"facile:without=issue",
		"facile:without=ports",
		"facile:without=precedence",
	};

	for (size_t i = 0; i < CLI_ARRAY_SIZE(variants); i++) {
		const char *why = evaluate_add_models(p, variants[i]);

		if (why)
			return why;
	}
	return NULL;
}

static const char *add_facile(struct evaluator *p, const char *name, size_t length)
{
	struct evaluate_model *model;
	const char *option = name + strlen("facile"), *end = name + length, *why;

	if (is_word(name, length, "facile:ablations"))
		return add_ablations(p);
	model = add(p, name, length, EVALUATE_FACILE);
	while (option < end) {
		size_t n = strcspn(++option, ":");

		if (n > (size_t)(end - option))
			n = (size_t)(end - option);
		why = read_facile_option(p, model, option, n);
		if (why)
			return why;
		option += n;
	}
	return NULL;
}

/* ---- all models ---- */

static const char *add_one(struct evaluator *p, const char *name, size_t length)
{
	struct evaluate_model *model;

	for (size_t i = 0; i < p->n_models; i++)
		if (is_word(name, length, p->models[i].name))
			return NULL; /* once is enough */
	if (is_word(name, length, "facile") || has_prefix(name, length, "facile:"))
		return add_facile(p, name, length);
	if (is_word(name, length, "sim")) {
		add(p, name, length, EVALUATE_SIM);
	} else if (is_word(name, length, "mca")) {
		add(p, name, length, EVALUATE_MCA);
	} else if (has_prefix(name, length, "mca:params=")) {
		model = add(p, name, length, EVALUATE_MCA);
		model->command = copy(strchr(name, '=') + 1, length - strlen("mca:params="));
	} else if (has_prefix(name, length, "stored:") && length > strlen("stored:")) {
		model = add(p, name, length, EVALUATE_STORED);
		model->command = copy(strchr(name, ':') + 1, length - strlen("stored:"));
	} else if (has_prefix(name, length, "llvm-mca")) {
		model = add(p, name, length, EVALUATE_LLVM);
		model->command = copy(name, length);
	} else {
		snprintf(p->why, sizeof(p->why),
			 "'%.*s' is none of facile, facile:PART, sim, mca, mca:params=FILE, "
			 "llvm-mca, stored:NAME, and no NAME=COMMAND",
			 length > 40 ? 40 : (int)length, name);
		return p->why;
	}
	return NULL;
}

/* A name in front of = without a colon is that of a command; all else is a list. */
static bool is_command(const char *value)
{
	size_t n = strcspn(value, "=:,");

	return n && value[n] == '=';
}

const char *evaluate_add_models(void *evaluator, const char *value)
{
	struct evaluator *p = evaluator;
	const char *why = NULL;
	struct evaluate_model *model;

	if (is_command(value)) {
		size_t n = strcspn(value, "=");

		if (!value[n + strspn(value + n, "= \t")])
			return "there is no command behind =";
		model = add(p, value, n, EVALUATE_COMMAND);
		model->command = copy(value + n + 1, strlen(value + n + 1));
		return NULL;
	}
	do {
		size_t n = strcspn(value, ",");

		why = n ? add_one(p, value, n) : "a name is empty";
		value += n;
	} while (!why && *value++ == ',');
	return why;
}

int evaluate_model_prepare(struct evaluator *p, struct evaluate_model *model)
{
	struct tact_diag diag = {0};
	struct text err = {0};
	int status;

	if (model->kind != EVALUATE_MCA || !model->command)
		return CLI_GOOD;
	if (p->n_archs > 1) {
		cli_message("%s: parameters are for one CPU; the rows are of %u", model->name,
			    p->n_archs);
		return CLI_USAGE;
	}
	status = tact_mca_params_create(&model->mca_params, p->arch[0], &diag);
	if (status >= 0)
		status = tact_mca_params_load(model->mca_params, model->command, &diag);
	if (status >= 0)
		return CLI_GOOD;
	cli_place(&err, model->command, diag.line,
		  diag.text[0] ? diag.text : tact_strerror(status));
	text_to_stderr(&err);
	text_free(&err);
	return CLI_USAGE;
}
