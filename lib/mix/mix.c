/* SPDX-License-Identifier: MIT
 *
 * A profile as a whole: estimates of the blocks, the methods chosen, and the summary.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "code/transfers.h"
#include "mix/mix.h"

static const char *const method_names[TACT_N_MIX_METHODS] = {"hybrid", "ebs", "lbr", "exact",
							     "windows"};

const char *tact_mix_method_name(enum tact_mix_method method)
{
	return (unsigned)method < TACT_N_MIX_METHODS ? method_names[method] : "unknown";
}

/* Errors: average weighted error of mnemonics, HBBP paper, abstract and section VIII.A (SPEC
 * CPU2006). */
static const struct {
	const char *name, *error;
} rungs[TACT_N_MIX_RUNGS] = {
	[TACT_MIX_RUNG_EXACT] = {"exact", "none: every execution was counted"},
	[TACT_MIX_RUNG_LBR] = {"lbr",
			       "about 2% of the mix (hybrid of precise samples and branch stacks)"},
	[TACT_MIX_RUNG_STACKS] = {"stacks", "about 3% of the mix (branch stacks alone)"},
	[TACT_MIX_RUNG_AMD] = {"amd", "about 3% of the mix (AMD's branch records)"},
	[TACT_MIX_RUNG_PRECISE] = {"precise", "about 4.5% of the mix (precise samples alone)"},
	[TACT_MIX_RUNG_INSTRUCTIONS] = {"instructions",
					"5% to 15% of the mix (samples with skid and shadows)"},
	[TACT_MIX_RUNG_CYCLES] = {"cycles",
				  "unknown: it is a mix of time, not of executions; what is slow "
				  "counts too much"},
	[TACT_MIX_RUNG_CLOCK] = {"clock",
				 "unknown: it is a mix of time, not of executions, with skid; "
				 "what is slow counts too much"},
	[TACT_MIX_RUNG_NONE] = {"none", "there is nothing"},
	/* Measured: doc/models/mix.md, section "Windows". */
	[TACT_MIX_RUNG_WINDOWS] = {"windows",
				   "about 9% of the mix after some seconds of CPU time (windows at "
				   "random moments); more of the number of instructions"},
};

const char *tact_mix_rung_name(enum tact_mix_rung rung)
{
	return (unsigned)rung < TACT_N_MIX_RUNGS ? rungs[rung].name : "unknown";
}

const char *tact_mix_rung_error(enum tact_mix_rung rung)
{
	return (unsigned)rung < TACT_N_MIX_RUNGS ? rungs[rung].error : "unknown";
}

/* ---- estimates ---- */

void mix_features(const struct tact_mix *mix, const struct mix_profile *p,
		  double features[MIX_N_FEATURES])
{
	const struct mix_code *code = &mix->modules.items[p->module].codes[p->code];
	const struct code_block *b = &code->blocks.items[p->block];
	struct isa_properties q;

	memset(features, 0, MIX_N_FEATURES * sizeof(*features));
	features[MIX_FEATURE_LENGTH] = b->n_insns;
	features[MIX_FEATURE_BIAS] =
		p->branches ? (double)p->oldest * mix->stack_depth / (double)p->branches : 0;
	features[MIX_FEATURE_EBS_SAMPLES] = (double)p->ebs_hits;
	features[MIX_FEATURE_LBR_STREAMS] = (double)p->lbr_hits;
	features[MIX_FEATURE_BYTES] = b->end - b->begin;
	for (uint32_t at = b->begin; at < b->end; at += q.length ? q.length : 1) {
		code->isa->describe(&q, code->data + at, b->end - at);
		features[MIX_FEATURE_LONG_LATENCY] += q.is_long_latency;
		features[MIX_FEATURE_LOADS] += q.loads;
		features[MIX_FEATURE_STORES] += q.stores;
	}
}

static enum tact_mix_method choose(const struct tact_mix *mix, const struct mix_profile *p,
				   const struct tact_mix_rule *rule, enum tact_mix_method method)
{
	double features[MIX_N_FEATURES];

	if (mix->has_exact || mix->has_windows)
		return mix->has_exact ? TACT_MIX_EXACT : TACT_MIX_WINDOWS;
	if (!mix->has_lbr)
		return TACT_MIX_EBS;
	if (!mix->has_ebs || !mix->ebs_is_absolute)
		return method == TACT_MIX_EBS && mix->has_ebs ? TACT_MIX_EBS : TACT_MIX_LBR;
	if (method != TACT_MIX_HYBRID)
		return method;
	mix_features(mix, p, features);
	return mix_rule_choose(rule, features);
}

/* Returns one standard deviation of counting.  Streams of one stack are not independent of each
 * other: at worst they are all the same one, and only stacks count.
 */
static double counting_error(const struct tact_mix *mix, const struct mix_profile *p)
{
	double n = p->method == TACT_MIX_EBS ? (double)p->ebs_hits
					     : (double)p->lbr_hits / fmax(1, mix->stack_depth - 1);

	if (p->method == TACT_MIX_EXACT)
		return 0;
	if (p->method == TACT_MIX_WINDOWS)
		return mix_groups_error(mix, mix->spreads[p - mix->profiles]);
	return n > 0 ? 1 / sqrt(n) : -1;
}

static enum tact_mix_method method_of(const struct tact_mix *mix, enum tact_mix_method asked)
{
	if (mix->has_exact || mix->has_windows)
		return mix->has_exact ? TACT_MIX_EXACT : TACT_MIX_WINDOWS;
	if (!mix->has_lbr)
		return TACT_MIX_EBS;
	if (mix->has_ebs && mix->ebs_is_absolute)
		return asked;
	return asked == TACT_MIX_EBS && mix->has_ebs ? TACT_MIX_EBS : TACT_MIX_LBR;
}

static bool is_relative(const struct tact_mix *mix, enum tact_mix_method method)
{
	if (mix->has_exact || mix->has_windows)
		return false;
	if (mix->has_ebs && mix->ebs_is_absolute)
		return false;
	return method == TACT_MIX_EBS || !mix->lbr_is_absolute;
}

static void estimate_block(struct tact_mix *mix, struct mix_profile *p)
{
	switch (p->method) {
	case TACT_MIX_EXACT:
	case TACT_MIX_WINDOWS:
		p->executions = p->exact;
		break;
	case TACT_MIX_EBS:
		p->executions = p->ebs / mix_block_of(mix, p)->n_insns;
		break;
	default:
		p->executions = mix->is_plain ? p->lbr : p->completed;
	}
	p->error = counting_error(mix, p);
}

/* The number of executed instructions is known: samples times period.  Streams say how they are
 * distributed; where they add up to something else, the streams are wrong.
 */
static void match_total(struct tact_mix *mix)
{
	double all = 0, by_ebs = 0, by_lbr = 0, factor;

	for (size_t i = 0; i < mix->n_profiles; i++) {
		const struct mix_profile *p = &mix->profiles[i];
		double n = p->executions * mix_block_of(mix, p)->n_insns;

		all += p->ebs;
		*(p->method == TACT_MIX_EBS ? &by_ebs : &by_lbr) += n;
	}
	if (!(by_lbr > 0) || all <= by_ebs)
		return;
	factor = (all - by_ebs) / by_lbr;
	for (size_t i = 0; i < mix->n_profiles; i++)
		if (mix->profiles[i].method == TACT_MIX_LBR)
			mix->profiles[i].executions *= factor;
}

int mix_estimate(struct tact_mix *mix, const struct tact_mix_rule *rule,
		 enum tact_mix_method method)
{
	struct tact_mix_summary *s = &mix->summary;
	double by_lbr = 0;

	mix->is_plain = method == TACT_MIX_LBR;
	s->method = method_of(mix, method);
	s->is_relative = is_relative(mix, s->method);
	s->blocks = s->blocks_by_lbr = s->blocks_by_ebs = 0;
	s->instructions = 0;
	for (size_t i = 0; i < mix->n_profiles; i++) {
		mix->profiles[i].method = (uint8_t)choose(mix, &mix->profiles[i], rule, method);
		estimate_block(mix, &mix->profiles[i]);
	}
	if (s->method == TACT_MIX_HYBRID)
		match_total(mix);
	for (size_t i = 0; i < mix->n_profiles; i++) {
		const struct mix_profile *p = &mix->profiles[i];
		double n = p->executions * mix_block_of(mix, p)->n_insns;

		s->blocks += p->executions > 0;
		s->blocks_by_lbr += p->method == TACT_MIX_LBR;
		s->blocks_by_ebs += p->method == TACT_MIX_EBS;
		s->instructions += n;
		by_lbr += p->method == TACT_MIX_LBR ? n : 0;
	}
	s->instructions_by_lbr = s->instructions > 0 ? by_lbr / s->instructions : 0;
	return 0;
}

/* ---- the public face ---- */

static int load(struct tact_mix *mix, const char *path, const struct tact_mix_options *o,
		const struct tact_mix_rule *rule, struct tact_diag *diag)
{
	int status;

	if (mix_spaces_init(&mix->spaces))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (mix_is_counts(path)) {
		status = mix_read_counts(mix, path, diag);
	} else {
		status = mix_is_bolt(path) ? mix_read_bolt(mix, path, diag)
					   : mix_read_recording(mix, path, diag);
		if (status >= 0)
			status = mix_resolve(mix, diag);
	}
	if (status < 0)
		return status;
	for (size_t i = 0; i < mix->modules.n; i++) {
		mix->summary.modules += mix->modules.items[i].n_codes > 0;
		mix->summary.missing_modules += mix->modules.items[i].why[0] != '\0';
	}
	/* They belong to the caller and are no longer needed. */
	mix->modules.root = NULL;
	mix->modules.files = NULL;
	mix->modules.kallsyms = mix->modules.kcore = NULL;
	mix->modules.n_files = 0;
	return mix_estimate(mix, rule, o->method);
}

int tact_mix_open(struct tact_mix **out, const char *path, const struct tact_mix_options *opt,
		  struct tact_diag *diag)
{
	struct tact_mix_options o;
	struct tact_mix_rule *paper = NULL;
	struct tact_mix *mix;
	int status;

	if (out)
		*out = NULL;
	if (!out || !path || tact_read_options(&o, sizeof(o), opt) ||
	    (unsigned)o.method > TACT_MIX_LBR)
		return tact_fail(diag, TACT_E_INVAL,
				 "no path, options of another version, or no such method");
	if (!o.kallsyms != !o.kcore)
		return tact_fail(diag, TACT_E_INVAL, "kallsyms and kcore belong together");
	for (size_t i = 0; i < o.n_files; i++)
		if (!o.files || !o.files[i])
			return tact_fail(diag, TACT_E_INVAL, "a file without a path");
	mix = calloc(1, sizeof(*mix));
	if (!mix)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	mix->summary.flow_error = -1;
	mix->modules = (struct mix_modules){.root = o.root,
					    .files = o.files,
					    .n_files = o.n_files,
					    .is_mangled = o.is_mangled,
					    .kallsyms = o.kallsyms,
					    .kcore = o.kcore};
	status = o.rule ? 0 : tact_mix_rule_create(&paper, diag);
	if (status >= 0)
		status = load(mix, path, &o, o.rule ? o.rule : paper, diag);
	tact_mix_rule_destroy(paper);
	return HAND_OVER(out, mix, status, tact_mix_close);
}

void tact_mix_close(struct tact_mix *mix)
{
	if (!mix)
		return;
	mix_tally_fini(&mix->ebs);
	mix_tally_fini(&mix->lbr);
	mix_tally_fini(&mix->edges);
	mix_spaces_fini(&mix->spaces);
	mix_modules_fini(&mix->modules);
	free(mix->profiles);
	free(mix->shares);
	free(mix->arcs);
	free(mix->spreads);
	free(mix->command);
	free(mix->ebs_event);
	free(mix->lbr_event);
	free(mix);
}

int tact_mix_get_summary(const struct tact_mix *mix, struct tact_mix_summary *out)
{
	struct tact_mix_summary s;

	if (!mix)
		return -TACT_E_INVAL;
	s = mix->summary;
	s.recordings = 1;
	s.command = mix->command ? mix->command : "";
	s.ebs_event = mix->ebs_event ? mix->ebs_event : "";
	s.lbr_event = mix->lbr_event ? mix->lbr_event : "";
	return tact_fill(out, &s, sizeof(s));
}

int tact_mix_get_missing(const struct tact_mix *mix, size_t i, struct tact_mix_missing *out)
{
	for (size_t m = 0; mix && m < mix->modules.n; m++) {
		const struct mix_module *module = &mix->modules.items[m];
		const struct tact_mix_missing missing = {sizeof(missing), module->path, module->why,
							 module->outside};

		if (module->why[0] && !i--)
			return tact_fill(out, &missing, sizeof(missing));
	}
	return -TACT_E_INVAL;
}

int tact_mix_get_assumed(const struct tact_mix *mix, size_t i, struct tact_mix_missing *out)
{
	for (size_t m = 0; mix && m < mix->modules.n; m++) {
		const struct mix_module *module = &mix->modules.items[m];
		const struct tact_mix_missing assumed = {sizeof(assumed), module->path, "", 0};

		if (module->is_assumed && module->n_codes && !i--)
			return tact_fill(out, &assumed, sizeof(assumed));
	}
	return -TACT_E_INVAL;
}

size_t tact_mix_block_count(const struct tact_mix *mix)
{
	return mix ? mix->n_profiles : 0;
}

int tact_mix_get_block(const struct tact_mix *mix, size_t i, struct tact_mix_block *out)
{
	const struct mix_profile *p;
	const struct mix_module *module;
	const struct mix_code *code;
	struct tact_mix_block block;
	const struct code_block *b;
	bool goes_on;

	if (i >= tact_mix_block_count(mix))
		return -TACT_E_INVAL;
	p = &mix->profiles[i];
	module = &mix->modules.items[p->module];
	code = &module->codes[p->code];
	b = &code->blocks.items[p->block];
	goes_on = code_goes_on((enum tact_flow)b->flow);
	block = (struct tact_mix_block){
		.size = sizeof(block),
		.module = module->path,
		.function = mix_module_function(module, code, b->begin),
		.address = code->address + b->begin,
		.code = code->data + b->begin,
		.code_size = b->end - b->begin,
		.length = b->n_insns,
		.executions = p->executions,
		.error = p->error,
		.ebs = mix->has_ebs ? p->ebs / b->n_insns : -1,
		.lbr = mix->has_lbr ? p->lbr : -1,
		.ebs_samples = p->ebs_hits,
		.lbr_streams = p->lbr_hits,
		.bias = p->branches ? (double)p->oldest / (double)p->branches : 0,
		.method = (enum tact_mix_method)p->method,
		.is_biased = p->is_biased,
		.is_loop = b->target == b->begin,
		.next = goes_on ? code->address + b->end : 0,
		.target = b->target != CODE_NONE ? code->address + b->target : 0,
	};
	return tact_fill(out, &block, sizeof(block));
}
