/* SPDX-License-Identifier: MIT
 *
 * FACILE in one table: a row a bound.  The throughput is the largest bound that applies
 * (equations 1 to 3).
 */
#include <string.h>

#include "facile/facile.h"

/* When a bound applies: always, only if the uops come from this source, or not in the paper. */
enum applies { ALWAYS, FROM_MITE, FROM_DSB, FROM_LSD, BEYOND_PAPER };

static const struct bound {
	const char *name, *column;
	enum applies applies;
	facile_bound *cycles;
} bounds[TACT_N_BOUNDS] = {
	[TACT_BOUND_PREDECODE] = {"Predecoder", "predec", FROM_MITE, facile_predecode},
	[TACT_BOUND_DECODE] = {"Decoder", "dec", FROM_MITE, facile_decode},
	[TACT_BOUND_DSB] = {"DSB", "dsb", FROM_DSB, facile_dsb},
	[TACT_BOUND_LSD] = {"LSD", "lsd", FROM_LSD, facile_lsd},
	[TACT_BOUND_ISSUE] = {"Issue", "issue", ALWAYS, facile_issue},
	[TACT_BOUND_PORTS] = {"Ports", "ports", ALWAYS, facile_ports},
	[TACT_BOUND_PRECEDENCE] = {"Dependencies", "precedence", ALWAYS, facile_precedence},
	[TACT_BOUND_DIVIDER] = {"Divider", "divider", BEYOND_PAPER, facile_divider},
	[TACT_BOUND_STACK_SYNC] = {"StackSync", "stack_sync", BEYOND_PAPER, facile_stack_sync},
	[TACT_BOUND_FORWARDING] = {"Forwarding", "forwarding", BEYOND_PAPER, facile_forwarding},
	[TACT_BOUND_BLOCKED] = {"Blocked", "blocked", BEYOND_PAPER, facile_blocked},
	[TACT_BOUND_STORES] = {"Stores", "stores", BEYOND_PAPER, facile_stores},
};

const char *tact_bound_name(enum tact_bound bound)
{
	return bound < TACT_N_BOUNDS ? bounds[bound].name : "unknown";
}

const char *tact_bound_column(enum tact_bound bound)
{
	return bound < TACT_N_BOUNDS ? bounds[bound].column : "unknown";
}

static bool applies(enum applies when, enum block_source source, bool paper)
{
	switch (when) {
	case ALWAYS:
		return true;
	case FROM_MITE:
		return source == BLOCK_FROM_MITE;
	case FROM_DSB:
		return source == BLOCK_FROM_DSB;
	case FROM_LSD:
		return source == BLOCK_FROM_LSD;
	case BEYOND_PAPER:
		return !paper;
	}
	return false;
}

/* For a caller whose struct is not ours. */
static int predict_other_size(struct tact_block *block, const struct tact_predict_options *opt,
			      struct tact_prediction *out)
{
	struct tact_prediction p = TACT_PREDICTION_INIT;
	int status = tact_can_fill(out) ? tact_predict(block, opt, &p) : -TACT_E_INVAL;

	return status < 0 ? status : tact_fill(out, &p, sizeof(p));
}

int tact_predict(struct tact_block *block, const struct tact_predict_options *opt,
		 struct tact_prediction *out)
{
	struct tact_predict_options options;
	enum block_source source;
	double worst = 0;

	if (!block || !block->n_insns || !out)
		return -TACT_E_INVAL;
	if (tact_read_options(&options, sizeof(options), opt) < 0 ||
	    options.bounds >> TACT_N_BOUNDS)
		return -TACT_E_INVAL;
	if (out->size != sizeof(*out))
		return predict_other_size(block, opt, out);
	opt = &options;
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	out->mode = block->mode;
	out->coverage = tact_block_coverage(block);
	source = block_source_of(block);
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++) {
		if (opt->bounds && !(opt->bounds >> b & 1))
			continue;
		if (!applies(bounds[b].applies, source, block->opt.paper))
			continue;
		out->applies |= 1u << b;
		out->bound[b] = bounds[b].cycles(block, opt);
		if (out->bound[b] < 0)
			return -TACT_E_NOMEM;
		if (out->bound[b] > worst)
			worst = out->bound[b];
	}
	out->cycles_per_iteration = worst;
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++)
		if (out->applies >> b & 1 && worst > 0 && out->bound[b] >= worst - 1e-9)
			out->bottlenecks |= 1u << b;
	return 0;
}
