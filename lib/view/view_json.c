/* SPDX-License-Identifier: MIT
 *
 * Predictions as JSON: one object per line, schema tact.predict/1, and what the schema of
 * simulations shares with it.  Instructions are numbered from 0, like elements of "instructions".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/view.h"

/* ---- pieces ---- */

static void put_hex_text(struct json *json, const struct tact_region *r)
{
	char *lower;

	if (!r->text_size) {
		json_put_hex(json, "hex", r->code, r->code_size);
		return;
	}
	lower = malloc(r->text_size + 8);
	if (!lower) {
		json->out->failed = true;
		return;
	}
	put_lower(lower, r->text, r->text_size);
	json_put_bytes(json, "hex", lower, r->text_size);
	free(lower);
}

/* Where the block comes from. */
void view_json_input(const struct maker *m, const char *schema, struct json *json)
{
	const struct tact_region *r = m->view->region;
	const char *file = m->view->file;

	json_begin_object(json, NULL);
	json_put_string(json, "schema", schema);
	if (file)
		json_put_string(json, "file", file);
	if (!r)
		return;
	if (r->line && !(file && !strcmp(file, "-x")))
		json_put_count(json, "line", r->line);
	if (r->name[0])
		json_put_string(json, "name", r->name);
	if (r->function[0])
		json_put_string(json, "function", r->function);
	if (r->symbol && strcmp(r->symbol, r->function))
		json_put_string(json, "symbol", r->symbol);
	if (r->source[0])
		json_put_string(json, "source", r->source);
	if (r->inlined && r->inlined[0])
		json_put_string(json, "inlined", r->inlined);
	if (r->address)
		json_put_count(json, "address", r->address);
	if (m->view->loop)
		json_put_count(json, "loop", m->view->loop);
	put_hex_text(json, r);
}

void view_json_remarks(const struct tact_remarks *remarks, struct json *json)
{
	if (!tact_remarks_count(remarks))
		return;
	json_begin_array(json, "remarks");
	for (size_t i = 0; i < tact_remarks_count(remarks); i++) {
		json_begin_object(json, NULL);
		json_put_string(json, "name", tact_remarks_name(remarks, i));
		json_put_string(json, "text", tact_remarks_text(remarks, i));
		json_end(json);
	}
	json_end(json);
}

static void put_confidence(const struct tact_confidence *c, struct json *json)
{
	json_begin_object(json, "confidence");
	json_put_number(json, "level", c->level);
	if (c->has_interval) {
		json_put_number(json, "low", c->low);
		json_put_number(json, "high", c->high);
		json_put_string(json, "class", c->kind);
		json_put_string(json, "learned_on", c->learned_on);
		json_put_bool(json, "borrowed", c->is_borrowed);
		json_put_count(json, "rows", c->rows);
	}
	json_put_count(json, "instructions_known", c->n_known);
	json_put_count(json, "instructions", c->n_insns);
	json_put_string(json, "reason", c->reason);
	json_end(json);
}

void view_json_result(const struct maker *m, struct json *json)
{
	const struct tact_view *v = m->view;

	json_put_string(json, "arch", tact_arch_name(v->arch));
	json_put_bool(json, "verified", tact_arch_is_verified(v->arch));
	if (v->status) {
		json_put_string(json, "status", v->status);
		json_put_string(json, "error", v->error ? v->error : "");
		view_json_remarks(v->remarks, json);
		return;
	}
	json_put_string(json, "mode", view_mode_name(v->prediction->mode));
	json_put_count(json, "alignment", v->alignment);
	json_put_string(json, "status", "ok");
	json_put_number(json, "cycles_per_iteration", v->prediction->cycles_per_iteration);
	json_put_number(json, "coverage", v->prediction->coverage);
	if (v->confidence)
		put_confidence(v->confidence, json);
	view_json_remarks(v->remarks, json);
}

void view_json_names(struct json *json, const struct tact_arch *arch, uint32_t bottlenecks)
{
	json_begin_array(json, "bottlenecks");
	for (uint32_t bits = bottlenecks; bits; bits &= bits - 1)
		json_put_string(json, NULL,
				tact_view_bottleneck_name_on(arch, (unsigned)__builtin_ctz(bits)));
	json_end(json);
}

void view_json_bounds(struct json *json, const struct tact_prediction *x)
{
	json_begin_object(json, "bounds");
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++)
		if (x->applies >> b & 1)
			json_put_number(json, tact_bound_column((enum tact_bound)b), x->bound[b]);
	json_end(json);
}

void view_json_notes(struct json *json, unsigned notes)
{
	json_begin_array(json, "notes");
	for (const struct tact_view_note *note = tact_view_notes; note->bit; note++)
		if (notes & note->bit)
			json_put_string(json, NULL, note->name);
	json_end(json);
}

/* By port, those that are not zero. */
void view_json_shares(struct json *json, const char *key, const double *values, size_t n)
{
	char name[24];

	json_begin_object(json, key);
	for (size_t i = 0; i < n; i++) {
		if (values[i] <= 0)
			continue;
		snprintf(name, sizeof(name), "%zu", i);
		json_put_number(json, name, values[i]);
	}
	json_end(json);
}

void view_json_set(struct json *json, const char *key, unsigned bits)
{
	json_begin_array(json, key);
	for (; bits; bits &= bits - 1)
		json_put_count(json, NULL, (unsigned)__builtin_ctz(bits));
	json_end(json);
}

int view_json_instruction(const struct maker *m, size_t i, struct tact_insn_cost *cost,
			  struct json *json)
{
	struct tact_block *block = m->view->block;
	size_t size, offset = tact_block_offset(block, i);
	const uint8_t *code = tact_block_code(block, &size);
	struct tact_insn insn;

	cost->size = sizeof(*cost);
	if (tact_block_insn(block, i, &insn) < 0 || tact_block_cost(block, i, cost) < 0)
		return -1;
	json_begin_object(json, NULL);
	json_put_count(json, "offset", offset);
	json_put_hex(json, "hex", code + offset, insn.length);
	json_put_string(json, "text", m->listing->line[i]);
	if (insn.form != TACT_FORM_NONE)
		json_put_string(
			json, "form",
			tact_isa_form_name(tact_arch_isa(tact_block_arch(block)), insn.form));
	return 0;
}

void view_json_advice(const struct maker *m, struct json *json)
{
	struct tact_advice a = TACT_ADVICE_INIT;

	if (!m->view->advisor)
		return;
	json_begin_array(json, "advice");
	for (size_t i = 0; tact_advisor_get(m->view->advisor, i, &a) >= 0; i++) {
		json_begin_object(json, NULL);
		json_put_string(json, "name", a.name);
		json_put_string(json, "text", a.text);
		json_put_string(json, "assumes", a.assumes);
		json_put_number(json, "cycles_before", a.before);
		json_put_number(json, "cycles_after", a.after);
		json_begin_array(json, "instructions");
		for (size_t k = 0; k < a.n_insns; k++)
			json_put_count(json, NULL, a.insns[k]);
		json_end(json);
		json_put_hex(json, "hex", a.code, a.code_size);
		json_put_count(json, "alignment", a.alignment);
		json_put_count(json, "iterations", a.copies);
		json_put_string(json, "changes", a.changes);
		json_end(json);
	}
	json_end(json);
}

/* ---- predictions ---- */

static void put_idealized(const struct maker *m, struct json *json)
{
	const struct tact_prediction *x = m->view->prediction;
	double cycles;

	json_begin_object(json, "idealized");
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++)
		if (x->applies >> b & 1 &&
		    tact_view_idealized(m->view->block, m->view->idealization, b, &cycles))
			json_put_number(json, tact_bound_column((enum tact_bound)b), cycles);
	json_end(json);
}

/* How the cycles divide among bounds, and what is left without those that tie. */
static void put_shares(const struct maker *m, struct json *json)
{
	const struct tact_prediction *x = m->view->prediction;
	struct tact_shares s = TACT_SHARES_INIT;

	if (tact_explain_shares(x, &s) < 0)
		return;
	json_begin_object(json, "idealized_set");
	json_begin_array(json, "bounds");
	for (uint32_t bits = s.set; bits; bits &= bits - 1)
		json_put_string(json, NULL,
				tact_bound_column((enum tact_bound)__builtin_ctz(bits)));
	json_end(json);
	if (s.without > 0)
		json_put_number(json, "cycles_per_iteration", s.without);
	json_end(json);
	json_begin_object(json, "shares");
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++)
		if (x->applies >> b & 1)
			json_put_fixed(json, tact_bound_column((enum tact_bound)b), s.share[b], 4);
	json_end(json);
}

static void put_instructions(const struct maker *m, struct json *json)
{
	struct tact_insn_cost cost = TACT_INSN_COST_INIT;

	json_begin_array(json, "instructions");
	for (size_t i = 0; i < m->listing->n; i++) {
		if (view_json_instruction(m, i, &cost, json) < 0)
			continue;
		json_put_count(json, "uops", cost.uops);
		json_put_count(json, "issued", cost.issued);
		json_put_count(json, "mite", cost.mite);
		json_put_count(json, "ms", cost.ms);
		json_put_count(json, "divider", cost.divider);
		view_json_shares(json, "ports", cost.port, ARRAY_SIZE(cost.port));
		view_json_notes(json, cost.notes);
		json_end(json);
	}
	json_end(json);
}

static void put_contention(const struct maker *m, struct json *json)
{
	struct tact_port_contention c = TACT_PORT_CONTENTION_INIT;

	if (tact_explain_ports(m->view->block, &c) < 0 || !c.ports)
		return;
	json_begin_object(json, "port_contention");
	view_json_set(json, "ports", c.ports);
	json_put_number(json, "uops", c.uops);
	json_begin_array(json, "instructions");
	for (size_t i = 0; i < c.n_insns; i++)
		json_put_count(json, NULL, c.insns[i]);
	json_end(json);
	json_end(json);
}

static void put_link(const struct maker *m, const struct tact_chain_link *l, struct json *json)
{
	static const char *const kinds[] = {"register", "address", "flags", "memory"};
	const struct tact_block *block = m->view->block;

	json_begin_object(json, NULL);
	json_put_count(json, "instruction", l->insn);
	json_put_count(json, "latency", l->latency);
	json_put_count(json, "iterations", l->iterations);
	json_put_string(json, "from", tact_explain_value(block, l->from_kind, l->from_reg));
	json_put_string(json, "from_kind", kinds[l->from_kind & 3]);
	json_put_string(json, "to", tact_explain_value(block, l->to_kind, l->to_reg));
	json_put_string(json, "to_kind", kinds[l->to_kind & 3]);
	json_end(json);
}

static void put_links(const struct maker *m, const struct tact_chain *c, struct json *json)
{
	json_begin_array(json, "links");
	for (size_t i = 0; i < c->n_links; i++)
		put_link(m, &c->links[i], json);
	json_end(json);
}

static void put_chain(const struct maker *m, struct json *json)
{
	struct tact_chain c = TACT_CHAIN_INIT;

	if (tact_explain_chain(m->view->block, &c) < 0 || !c.n_links)
		return;
	json_begin_object(json, "chain");
	json_put_count(json, "latency", c.latency);
	json_put_count(json, "iterations", c.iterations);
	json_put_number(json, "cycles_per_iteration", c.cycles_per_iteration);
	put_links(m, &c, json);
	json_end(json);
}

/* The latency of one pass. */
static void put_pass(const struct maker *m, struct json *json)
{
	struct tact_chain c = TACT_CHAIN_INIT;

	if (!m->view->with_pass || tact_explain_pass(m->view->block, &c) < 0)
		return;
	json_begin_object(json, "pass");
	json_put_count(json, "latency_cycles", c.latency);
	put_links(m, &c, json);
	json_end(json);
}

static void put_groups(const struct maker *m, const char *key, explain_groups *explain,
		       struct json *json)
{
	unsigned iterations;
	size_t n;
	struct tact_front_end_group *groups = view_groups(m, explain, &n, &iterations);

	if (!groups)
		return;
	json_begin_object(json, key);
	json_put_count(json, "iterations", iterations);
	json_begin_array(json, "groups");
	for (size_t i = 0; i < n; i++) {
		json_begin_object(json, NULL);
		json_put_count(json, "first", groups[i].first_insn);
		json_put_count(json, "count", groups[i].n_insns);
		json_put_count(json, "cycles", groups[i].cycles);
		json_put_count(json, "lcp_cycles", groups[i].lcp_cycles);
		json_end(json);
	}
	json_end(json);
	json_end(json);
	free(groups);
}

int view_prediction(const struct maker *m)
{
	const struct tact_prediction *x = m->view->prediction;
	const char *model = m->view->model ? m->view->model : "facile";
	struct json json = {.out = m->out};

	view_json_input(m, "tact.predict/1", &json);
	view_json_result(m, &json);
	if (!m->view->status) {
		json_put_string(&json, "model", model);
		view_json_names(&json, NULL, x->bottlenecks);
		if (strcmp(model, "facile") != 0)
			json_put_number(&json, "facile_cycles_per_iteration",
					m->view->facile_cycles);
		view_json_bounds(&json, x);
		if (m->view->idealization) {
			put_idealized(m, &json);
			put_shares(m, &json);
		}
		put_instructions(m, &json);
		put_contention(m, &json);
		put_chain(m, &json);
		put_pass(m, &json);
		if (x->applies >> TACT_BOUND_PREDECODE & 1)
			put_groups(m, "predecoder", tact_explain_predecoder, &json);
		if (x->applies >> TACT_BOUND_DECODE & 1)
			put_groups(m, "decoder", tact_explain_decoder, &json);
		view_json_advice(m, &json);
	}
	json_end_line(&json);
	return 0;
}
