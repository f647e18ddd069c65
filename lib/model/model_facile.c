/* SPDX-License-Identifier: MIT
 *
 * FACILE as a model, whole or in parts.
 */
#include <string.h>
#include <strings.h>

#include "block/block.h"
#include "model/model.h"

/* ---- parts of a name ---- */

struct parts {
	struct tact_predict_options options;
	bool paper;
};

static bool is_word(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && !strncasecmp(text, word, length);
}

static int find_bound(const char *name, size_t length)
{
	for (int b = 0; b < TACT_N_BOUNDS; b++)
		if (is_word(name, length, tact_bound_column((enum tact_bound)b)) ||
		    is_word(name, length, tact_bound_name((enum tact_bound)b)))
			return b;
	return -1;
}

/* Reads names of bounds with + between them. */
static int read_bounds(const char *list, size_t length, uint32_t *bits, struct tact_diag *diag)
{
	const char *end = list + length;

	*bits = 0;
	while (list < end) {
		size_t n = strcspn(list, "+:");
		int b = find_bound(list, n);

		if (b < 0)
			return tact_fail(
				diag, TACT_E_INVAL,
				"'%.*s' is not a bound of FACILE: bounds are the columns of "
				"'tact predict -f csv', with + between them",
				n > 30 ? 30 : (int)n, list);
		*bits |= 1u << b;
		list += n + 1;
	}
	return *bits ? 0 : tact_fail(diag, TACT_E_INVAL, "a list of bounds is empty");
}

static int read_list(struct parts *to, const char *part, size_t length, struct tact_diag *diag)
{
	const uint32_t all = (1u << TACT_N_BOUNDS) - 1;
	size_t skip = strcspn(part, "=") + 1;
	uint32_t bits, *bounds = &to->options.bounds;
	int status = read_bounds(part + skip, length - skip, &bits, diag);

	if (status < 0)
		return status;
	*bounds = (*bounds ? *bounds : all) & (*part == 'o' ? bits : ~bits);
	return *bounds ? 0 : tact_fail(diag, TACT_E_INVAL, "no bound is left");
}

static int read_part(struct parts *to, const char *part, size_t length, struct tact_diag *diag)
{
	const struct {
		const char *word, *other; /* the paper's word, and the full one */
		bool *flag;
	} flags[] = {
		{"simple-predec", "simple-predecoder", &to->options.simple_predecoder},
		{"simple-dec", "simple-decoder", &to->options.simple_decoder},
		{"exact-ports", "exact-ports", &to->options.exact_ports},
		{"paper", "paper", &to->paper},
	};

	if (!strncmp(part, "only=", 5) || !strncmp(part, "without=", 8))
		return read_list(to, part, length, diag);
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (is_word(part, length, flags[i].word) || is_word(part, length, flags[i].other)) {
			*flags[i].flag = true;
			return 0;
		}
	return tact_fail(diag, TACT_E_INVAL,
			 "facile:%.*s: what follows facile: is only=LIST, without=LIST, "
			 "simple-predec, simple-dec, exact-ports, paper or ablations",
			 length > 30 ? 30 : (int)length, part);
}

static int read_parts(struct parts *to, const char *parts, struct tact_diag *diag)
{
	int status = 0;

	while (parts && status >= 0) {
		size_t n = strcspn(parts, ":");

		status = read_part(to, parts, n, diag);
		parts = parts[n] ? parts + n + 1 : NULL;
	}
	return status;
}

/* Rows of Table 3 of the FACILE paper. */
const char *const *model_facile_names(const char *parts)
{
	static const char *const ablations[] = {
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
		NULL,
	};

	return parts && !strcmp(parts, "ablations") ? ablations : NULL;
}

int model_facile_check(const char *parts, struct tact_diag *diag)
{
	struct parts read = {.paper = false};

	if (model_facile_names(parts))
		return tact_fail(diag, TACT_E_INVAL,
				 "facile:%s stands for several models: one is wanted here", parts);
	return read_parts(&read, parts, diag);
}

/* ---- estimates ---- */

int model_facile_open(struct tact_estimator *e, const char *parts, struct tact_diag *diag)
{
	struct parts read = {.options = e->facile};
	int status = read_parts(&read, parts, diag);

	e->facile = read.options;
	e->paper = read.paper;
	return status;
}

/* Leaves the block as it was: it is lowered for the paper's model and back. */
static int estimate_as_paper(struct tact_estimator *e, struct tact_block *block,
			     struct tact_prediction *out)
{
	struct tact_block_options before = block->opt, options;
	int status;

	before.size = sizeof(before); /* a block that was made without options has none */
	options = before;
	options.paper = true;
	status = tact_block_rebind(block, NULL, &options);
	if (status >= 0)
		status = tact_predict(block, &e->facile, out);
	if (status >= 0)
		status = tact_block_rebind(block, NULL, &before);
	return status;
}

int model_facile_estimate(struct tact_estimator *e, struct tact_block *block,
			  struct tact_estimate *out)
{
	struct tact_prediction *x = &e->bounds;
	int status = e->paper && !block->opt.paper ? estimate_as_paper(e, block, x)
						   : tact_predict(block, &e->facile, x);

	if (status < 0)
		return status;
	out->cycles_per_iteration = x->cycles_per_iteration;
	out->coverage = x->coverage;
	out->bottlenecks = x->bottlenecks;
	out->bounds = x;
	return 0;
}
