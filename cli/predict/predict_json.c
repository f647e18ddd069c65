/* SPDX-License-Identifier: MIT
 *
 * Predictions as JSON: one object a line, schema tact.predict/1 (and what the schema of simulate
 * has in common with it).  Instructions are numbered from 0, as elements of "instructions" are.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "predictor.h"

void predict_json_string(struct text *out, const char *key, const char *value)
{
	text_printf(out, ",\"%s\":", key);
	text_json_string(out, value, strlen(value));
}

void predict_json_number(struct text *out, const char *key, double value)
{
	text_printf(out, ",\"%s\":", key);
	text_number(out, value);
}

void predict_json_hex(struct text *out, const uint8_t *code, size_t size)
{
	text_add(out, "\"");
	text_hex(out, code, size);
	text_add(out, "\"");
}

/* Where the block comes from. */
static void add_input(const struct predictor *p, const struct source_block *block, struct text *out)
{
	const struct tact_region *r = &block->region;

	text_printf(out, "{\"schema\":\"%s\"", p->command->schema);
	predict_json_string(out, "file", block->path);
	if (r->line && strcmp(block->path, "-x"))
		text_printf(out, ",\"line\":%" PRIu64, r->line);
	if (r->name[0])
		predict_json_string(out, "name", r->name);
	if (r->function[0])
		predict_json_string(out, "function", r->function);
	if (r->source[0])
		predict_json_string(out, "source", r->source);
	if (r->address)
		text_printf(out, ",\"address\":%" PRIu64, r->address);
	if (block->candidate)
		text_printf(out, ",\"loop\":%zu", block->candidate);
	text_add(out, ",\"hex\":");
	if (r->text_size) {
		char *lower = cli_alloc(r->text_size + 8);

		put_lower(lower, r->text, r->text_size);
		text_json_string(out, lower, r->text_size);
		free(lower);
	} else {
		predict_json_hex(out, r->code, r->code_size);
	}
}

static void add_failure(const struct predictor *p, const struct source_block *block, size_t arch,
			int status, const char *why, struct text *out)
{
	add_input(p, block, out);
	predict_json_string(out, "arch", tact_arch_name(p->archs.arch[arch]));
	predict_json_string(out, "status", predict_status_name(status));
	predict_json_string(out, "error", why);
	text_add(out, "}\n");
}

void predict_json_names(struct text *out, uint32_t bottlenecks)
{
	const char *comma = "";

	text_add(out, ",\"bottlenecks\":[");
	for (uint32_t bits = bottlenecks; bits; bits &= bits - 1, comma = ",")
		text_printf(out, "%s\"%s\"", comma,
			    predict_bottleneck_name((unsigned)__builtin_ctz(bits)));
	text_add(out, "]");
}

void predict_json_bounds(struct text *out, const struct tact_prediction *x)
{
	const char *comma = "";

	text_add(out, ",\"bounds\":{");
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++) {
		if (!(x->applies >> b & 1))
			continue;
		text_printf(out, "%s\"%s\":", comma, tact_bound_column((enum tact_bound)b));
		text_number(out, x->bound[b]);
		comma = ",";
	}
	text_add(out, "}");
}

static void add_idealized(struct predict_worker *w, const struct tact_prediction *x,
			  struct text *out)
{
	const char *comma = "";

	text_add(out, ",\"idealized\":{");
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++) {
		double cycles;

		if (!(x->applies >> b & 1) || !predict_idealized(w, b, &cycles))
			continue;
		text_printf(out, "%s\"%s\":", comma, tact_bound_column((enum tact_bound)b));
		text_number(out, cycles);
		comma = ",";
	}
	text_add(out, "}");
}

static void add_cost(const struct tact_insn_cost *cost, struct text *out)
{
	const char *comma = "";

	text_printf(out,
		    ",\"uops\":%u,\"issued\":%u,\"mite\":%u,\"ms\":%u,\"divider\":%u,\"ports\":{",
		    cost->uops, cost->issued, cost->mite, cost->ms, cost->divider);
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++) {
		if (cost->port[p] <= 0)
			continue;
		text_printf(out, "%s\"%u\":", comma, p);
		text_number(out, cost->port[p]);
		comma = ",";
	}
	text_add(out, "}");
}

void predict_json_notes(struct text *out, unsigned notes)
{
	const char *comma = "";

	text_add(out, ",\"notes\":[");
	for (const struct predict_note *note = predict_notes; note->bit; note++) {
		if (!(notes & note->bit))
			continue;
		text_printf(out, "%s\"%s\"", comma, note->name);
		comma = ",";
	}
	text_add(out, "]");
}

void predict_json_instruction(struct predict_worker *w, const struct listing *listing, size_t i,
			      const struct tact_insn *insn, struct text *out)
{
	size_t size, offset = tact_block_offset(w->block, i);
	const uint8_t *code = tact_block_code(w->block, &size);

	text_printf(out, "%s{\"offset\":%zu,\"hex\":", i ? "," : "", offset);
	predict_json_hex(out, code + offset, insn->length);
	predict_json_string(out, "text", listing->line[i]);
	if (insn->form != TACT_FORM_NONE)
		predict_json_string(out, "form", tact_form_name(insn->form));
}

static void add_instructions(struct predict_worker *w, const struct listing *listing,
			     struct text *out)
{
	text_add(out, ",\"instructions\":[");
	for (size_t i = 0; i < listing->n; i++) {
		struct tact_insn insn;
		struct tact_insn_cost cost;

		cost.size = sizeof(cost);
		if (tact_block_insn(w->block, i, &insn) < 0 ||
		    tact_block_cost(w->block, i, &cost) < 0)
			continue;
		predict_json_instruction(w, listing, i, &insn, out);
		add_cost(&cost, out);
		predict_json_notes(out, cost.notes);
		text_add(out, "}");
	}
	text_add(out, "]");
}

static void add_contention(struct predict_worker *w, struct text *out)
{
	struct tact_port_contention c;
	const char *comma = "";

	if (tact_explain_ports(w->block, &c) < 0 || !c.ports)
		return;
	text_add(out, ",\"port_contention\":{\"ports\":[");
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++) {
		if (!(c.ports >> p & 1))
			continue;
		text_printf(out, "%s%u", comma, p);
		comma = ",";
	}
	text_add(out, "]");
	predict_json_number(out, "uops", c.uops);
	text_add(out, ",\"instructions\":[");
	for (size_t i = 0; i < c.n_insns; i++)
		text_printf(out, "%s%u", i ? "," : "", c.insns[i]);
	text_add(out, "]}");
}

static void add_chain(struct predict_worker *w, struct text *out)
{
	static const char *const kinds[] = {"register", "address", "flags", "memory"};
	struct tact_chain c;

	if (tact_explain_chain(w->block, &c) < 0 || !c.n_links)
		return;
	text_printf(out, ",\"chain\":{\"latency\":%u,\"iterations\":%u", c.latency, c.iterations);
	predict_json_number(out, "cycles_per_iteration", c.cycles_per_iteration);
	text_add(out, ",\"links\":[");
	for (size_t i = 0; i < c.n_links; i++) {
		const struct tact_chain_link *l = &c.links[i];

		text_printf(
			out,
			"%s{\"instruction\":%u,\"latency\":%u,\"iterations\":%u,\"from\":\"%s\","
			"\"from_kind\":\"%s\",\"to\":\"%s\",\"to_kind\":\"%s\"}",
			i ? "," : "", l->insn, l->latency, l->iterations,
			tact_explain_value(w->block, l->from_kind, l->from_reg),
			kinds[l->from_kind & 3],
			tact_explain_value(w->block, l->to_kind, l->to_reg), kinds[l->to_kind & 3]);
	}
	text_add(out, "]}");
}

static void add_groups(struct predict_worker *w, const char *key, struct text *out,
		       int (*explain)(struct tact_block *, struct tact_front_end_group *, size_t,
				      unsigned *))
{
	unsigned iterations = 1;
	int n = explain(w->block, NULL, 0, &iterations);
	struct tact_front_end_group *groups;

	if (n <= 0)
		return;
	groups = cli_alloc((size_t)n * sizeof(*groups));
	explain(w->block, groups, (size_t)n, &iterations);
	text_printf(out, ",\"%s\":{\"iterations\":%u,\"groups\":[", key, iterations);
	for (int i = 0; i < n; i++)
		text_printf(out, "%s{\"first\":%u,\"count\":%u,\"cycles\":%u,\"lcp_cycles\":%u}",
			    i ? "," : "", groups[i].first_insn, groups[i].n_insns, groups[i].cycles,
			    groups[i].lcp_cycles);
	text_add(out, "]}");
	free(groups);
}

void predict_json_members(struct predict_worker *w, const struct tact_prediction *x,
			  const struct listing *listing, struct text *out)
{
	predict_json_string(out, "model", predict_models[w->p->model].name);
	predict_json_names(out, x->bottlenecks);
	if (w->p->model != MODEL_FACILE)
		predict_json_number(out, "facile_cycles_per_iteration", w->facile_cycles);
	predict_json_bounds(out, x);
	if (w->p->is_idealized)
		add_idealized(w, x, out);
	add_instructions(w, listing, out);
	add_contention(w, out);
	add_chain(w, out);
	if (x->applies >> TACT_BOUND_PREDECODE & 1)
		add_groups(w, "predecoder", out, tact_explain_predecoder);
	if (x->applies >> TACT_BOUND_DECODE & 1)
		add_groups(w, "decoder", out, tact_explain_decoder);
}

static void add_object(struct predict_worker *w, const struct source_block *block,
		       unsigned alignment, const struct tact_prediction *x, struct text *out)
{
	struct listing listing;

	listing_init(&listing, w->block, block->region.address);
	add_input(w->p, block, out);
	predict_json_string(out, "arch", tact_arch_name(w->arch));
	predict_json_string(out, "mode", predict_mode_name(x->mode));
	text_printf(out, ",\"alignment\":%u", alignment);
	predict_json_string(out, "status", "ok");
	predict_json_number(out, "cycles_per_iteration", x->cycles_per_iteration);
	predict_json_number(out, "coverage", x->coverage);
	w->p->command->json_members(w, x, &listing, out);
	text_add(out, "}\n");
	listing_fini(&listing);
}

void predict_json(struct predict_worker *w, const struct source_block *block, struct text *out)
{
	const struct predictor *p = w->p;
	struct tact_diag diag = {0};
	int status = predict_load(w, block);

	if (block->is_input)
		return;
	if (status < 0 && block->status >= 0) /* again, for the reason alone */
		tact_block_load(w->block, block->region.code, block->region.code_size, &diag);
	for (size_t a = 0; a < p->archs.n; a++) {
		for (unsigned k = 0; k < p->n_alignments; k++) {
			unsigned alignment = predict_alignment(p, block, k);
			struct tact_prediction x;
			int failed;

			if (status < 0)
				add_failure(p, block, a, status,
					    block->status < 0 ? block->diag.text : diag.text, out);
			else if ((failed = predict_at(w, a, alignment, &x)) >= 0)
				add_object(w, block, alignment, &x, out);
			else
				add_failure(p, block, a, failed, predict_failure(failed), out);
		}
	}
}
