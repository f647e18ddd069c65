/* SPDX-License-Identifier: MIT
 *
 * FACILE in one table with one row per bound.  The throughput is the largest bound that applies
 * (equations 1 to 3).
 */
#include <math.h>
#include <string.h>

#include "facile/facile.h"

/* When a bound applies: always, only if the uops come from this source, or not in the paper. */
enum applies { ALWAYS, FROM_MITE, FROM_DSB, FROM_LSD, BEYOND_PAPER };

static const struct bound {
	const char *name, *column;
	enum applies applies;
	facile_bound *cycles;
	facile_derivation *derive;
} bounds[TACT_N_BOUNDS] = {
	[TACT_BOUND_PREDECODE] = {"Predecoder", "predec", FROM_MITE, facile_predecode,
				  facile_derive_predecode},
	[TACT_BOUND_DECODE] = {"Decoder", "dec", FROM_MITE, facile_decode, facile_derive_decode},
	[TACT_BOUND_DSB] = {"DSB", "dsb", FROM_DSB, facile_dsb, facile_derive_dsb},
	[TACT_BOUND_LSD] = {"LSD", "lsd", FROM_LSD, facile_lsd, facile_derive_lsd},
	[TACT_BOUND_ISSUE] = {"Issue", "issue", ALWAYS, facile_issue, facile_derive_issue},
	[TACT_BOUND_PORTS] = {"Ports", "ports", ALWAYS, facile_ports, facile_derive_ports},
	[TACT_BOUND_PRECEDENCE] = {"Dependencies", "precedence", ALWAYS, facile_precedence,
				   facile_derive_precedence},
	[TACT_BOUND_DIVIDER] = {"Divider", "divider", BEYOND_PAPER, facile_divider,
				facile_derive_divider},
	[TACT_BOUND_STACK_SYNC] = {"StackSync", "stack_sync", BEYOND_PAPER, facile_stack_sync,
				   facile_derive_stack_sync},
	[TACT_BOUND_FORWARDING] = {"Forwarding", "forwarding", BEYOND_PAPER, facile_forwarding,
				   facile_derive_forwarding},
	[TACT_BOUND_BLOCKED] = {"Blocked", "blocked", BEYOND_PAPER, facile_blocked,
				facile_derive_blocked},
	[TACT_BOUND_STORES] = {"Stores", "stores", BEYOND_PAPER, facile_stores,
			       facile_derive_stores},
	[TACT_BOUND_MICROCODE] = {"Microcode", "microcoded", BEYOND_PAPER, facile_microcode,
				  facile_derive_microcode},
	/* It follows from the others. */
	[TACT_BOUND_LOADS] = {"Loads", "loads", BEYOND_PAPER, facile_loads, facile_derive_loads},
	[TACT_BOUND_BINDING] = {"Binding", "binding", BEYOND_PAPER, NULL, facile_derive_binding},
};

const char *tact_bound_name(enum tact_bound bound)
{
	return bound < TACT_N_BOUNDS ? bounds[bound].name : "unknown";
}

const char *tact_bound_name_on(const struct tact_arch *arch, enum tact_bound bound)
{
	static const char *const amd[TACT_N_BOUNDS] = {[TACT_BOUND_PREDECODE] = "Fetch",
						       [TACT_BOUND_DSB] = "Op cache",
						       [TACT_BOUND_ISSUE] = "Dispatch"};

	if (arch && arch->params.terms == PARAMS_TERMS_AMD && bound < TACT_N_BOUNDS && amd[bound])
		return amd[bound];
	return tact_bound_name(bound);
}

const char *tact_bound_column(enum tact_bound bound)
{
	return bound < TACT_N_BOUNDS ? bounds[bound].column : "unknown";
}

/* The order in which bounds are computed: the cheapest first, since the first one above stop_above
 * ends the prediction.  Those from FIRST_CONNECTED on need the dependence graph, or to know
 * that it has no cycle (block_survey).
 */
enum { FIRST_CONNECTED = 8 };
static const uint8_t order[TACT_N_BOUNDS] = {
	TACT_BOUND_ISSUE,      TACT_BOUND_DIVIDER,    TACT_BOUND_MICROCODE,  TACT_BOUND_LSD,
	TACT_BOUND_DSB,	       TACT_BOUND_DECODE,     TACT_BOUND_PORTS,	     TACT_BOUND_PREDECODE,
	TACT_BOUND_STORES,     TACT_BOUND_STACK_SYNC, TACT_BOUND_PRECEDENCE, TACT_BOUND_BLOCKED,
	TACT_BOUND_FORWARDING, TACT_BOUND_LOADS,      TACT_BOUND_BINDING,
};

/* When bounds apply to this block: bits of enum applies. */
static unsigned reasons_of(const struct tact_block *block)
{
	static const enum applies from[] = {[BLOCK_FROM_MITE] = FROM_MITE,
					    [BLOCK_FROM_DSB] = FROM_DSB,
					    [BLOCK_FROM_LSD] = FROM_LSD,
					    [BLOCK_FROM_ANYWHERE] = ALWAYS};

	return 1u << ALWAYS | 1u << from[block_source_of(block)] |
	       (block->opt.paper ? 0 : 1u << BEYOND_PAPER);
}

enum {
	FRONT_END = 1u << TACT_BOUND_PREDECODE | 1u << TACT_BOUND_DECODE | 1u << TACT_BOUND_DSB |
		    1u << TACT_BOUND_LSD | 1u << TACT_BOUND_ISSUE
};

double facile_pace(struct tact_block *block)
{
	const struct tact_predict_options opt = TACT_PREDICT_OPTIONS_INIT;
	const unsigned reasons = reasons_of(block);
	double worst = 0;

	for (unsigned b = 0; b < TACT_N_BOUNDS; b++) {
		double cycles;

		if (!(FRONT_END >> b & 1) || !(reasons >> bounds[b].applies & 1))
			continue;
		cycles = bounds[b].cycles(block, &opt);
		if (cycles < 0)
			return cycles;
		worst = cycles > worst ? cycles : worst;
	}
	return worst;
}

enum { ALL_BOUNDS = (1u << TACT_N_BOUNDS) - 1, OTHERS = ALL_BOUNDS & ~(1u << TACT_BOUND_BINDING) };

/* Returns the bound that needs all others; `so_far` has those that the options ask for. */
static double binding_beside(struct tact_block *block, const struct tact_predict_options *opt,
			     const struct tact_prediction *so_far)
{
	struct tact_prediction others;

	if (!opt->bounds || !(OTHERS & ~opt->bounds))
		return facile_binding(block, so_far);
	return facile_predict_others(block, opt, &others) < 0 ? -1 : facile_binding(block, &others);
}

/* Fills *out, which is all zeros. */
static int predict(struct tact_block *block, const struct tact_predict_options *opt,
		   struct tact_prediction *out)
{
	const uint32_t mask = opt->bounds ? opt->bounds : ~0u;
	const unsigned reasons = reasons_of(block);
	const double limit = opt->stop_above > 0 ? opt->stop_above : HUGE_VAL;
	double worst = 0;

	out->mode = block->mode;
	out->coverage = tact_block_coverage(block);
	for (unsigned i = 0; i < TACT_N_BOUNDS && worst <= limit; i++) {
		const unsigned b = order[i];

		if (!(mask >> b & 1) || !(reasons >> bounds[b].applies & 1))
			continue;
		if (i >= FIRST_CONNECTED)
			block_survey(block);
		if ((b == TACT_BOUND_BINDING && !block->arch->params.binding_losses) ||
		    (b == TACT_BOUND_LOADS && !block->arch->params.load_window))
			continue;
		out->bound[b] = b == TACT_BOUND_BINDING ? binding_beside(block, opt, out)
							: bounds[b].cycles(block, opt);
		if (out->bound[b] < 0)
			return -TACT_E_NOMEM;
		out->applies |= 1u << b;
		if (out->bound[b] > worst)
			worst = out->bound[b];
	}
	out->is_stopped = worst > limit;
	out->cycles_per_iteration = worst;
	for (uint32_t left = worst > 0 ? out->applies : 0; left; left &= left - 1) {
		const unsigned b = (unsigned)__builtin_ctz(left);

		if (out->bound[b] >= worst - 1e-9)
			out->bottlenecks |= 1u << b;
	}
	return 0;
}

int facile_predict_others(struct tact_block *block, const struct tact_predict_options *opt,
			  struct tact_prediction *out)
{
	struct tact_predict_options options = *opt;

	options.bounds = OTHERS;
	options.stop_above = 0;
	memset(out, 0, sizeof(*out));
	return predict(block, &options, out);
}

int tact_predict(struct tact_block *block, const struct tact_predict_options *opt,
		 struct tact_prediction *out)
{
	struct tact_predict_options options;
	struct tact_prediction p;
	int status;

	if (!block || !block->n_insns || !tact_can_fill(out) ||
	    tact_read_options(&options, sizeof(options), opt) < 0 || !facile_are_valid(&options))
		return -TACT_E_INVAL;
	if (out->size == sizeof(*out)) {
		memset(out, 0, sizeof(*out));
		out->size = sizeof(*out);
		return predict(block, &options, out);
	}
	memset(&p, 0, sizeof(p));
	status = predict(block, &options, &p);
	return status < 0 ? status : tact_fill(out, &p, sizeof(p));
}

/* Returns what the numbers of a derivation give. */
static double evaluate(const struct tact_derivation *d)
{
	switch (d->rule) {
	case TACT_RULE_CEILING:
		return (d->amount + d->per - 1) / d->per;
	case TACT_RULE_COPIES:
		return (double)((d->amount * d->copies + d->per - 1) / d->per) / d->copies;
	case TACT_RULE_TABLE:
		return d->cycles_per_iteration;
	default:
		return (double)d->amount * d->each / d->per;
	}
}

int tact_explain_bound(struct tact_block *block, const struct tact_predict_options *opt,
		       enum tact_bound bound, struct tact_derivation *out)
{
	struct tact_derivation d = TACT_DERIVATION_INIT;
	struct tact_predict_options options;
	int status;

	if (!block || !block->n_insns || (unsigned)bound >= TACT_N_BOUNDS || !tact_can_fill(out) ||
	    tact_read_options(&options, sizeof(options), opt) < 0 || !facile_are_valid(&options))
		return -TACT_E_INVAL;
	d.per = d.each = d.copies = 1;
	block_connect(block);
	status = bounds[bound].derive(block, &options, &d);
	if (status < 0)
		return status;
	d.cycles_per_iteration = evaluate(&d);
	return tact_fill(out, &d, sizeof(d));
}
