/* SPDX-License-Identifier: MIT
 *
 * Writes the stored form of a result: JSON, one object per line (doc/formats.md).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <tact/predict.h>

#include "base/base.h"
#include "base/json.h"
#include "obj/obj.h"
#include "trace/result.h"

enum { WRITE_SIZE = 1 << 16 };

static double ratio(double a, double b)
{
	return b > 0 ? a / b : 0;
}

static void begin(struct json *json, const char *kind)
{
	json_begin_object(json, NULL);
	json_put_string(json, "schema", "tact.trace/1");
	json_put_string(json, "kind", kind);
}

/* Leaves out what is unknown. */
static void put_known(struct json *json, const char *key, const char *text)
{
	if (*text)
		json_put_string(json, key, text);
}

static void put_uops(struct json *json, const double uops[TACT_MAX_PORTS],
		     const double stalls[TACT_N_STALLS])
{
	json_begin_object(json, "ports");
	for (unsigned i = 0; i < TACT_MAX_PORTS; i++) {
		char port[12];

		if (uops[i] <= 0)
			continue;
		snprintf(port, sizeof(port), "%u", i);
		json_put_number(json, port, uops[i]);
	}
	json_end(json);
	json_begin_object(json, "stalls");
	for (unsigned i = 0; i < TACT_N_STALLS; i++)
		json_put_number(json, result_stall_column((enum tact_stall)i), stalls[i]);
	json_end(json);
}

void result_put_left_out(struct json *json, const struct tact_result *r)
{
	const char *name;

	json_begin_array(json, "not_modelled");
	for (size_t i = 0; (name = tact_result_unmodelled(r, i)); i++)
		json_put_string(json, NULL, name);
	json_end(json);
	json_begin_array(json, "not_measured");
	for (size_t i = 0; (name = tact_result_unmeasured(r, i)); i++)
		json_put_string(json, NULL, name);
	json_end(json);
}

static void put_totals(struct json *json, const struct tact_result *r)
{
	const struct tact_result_info *info = &r->info;
	const struct tact_cycles_totals *t = &r->totals;

	begin(json, "totals");
	json_put_count(json, "instructions", t->instructions);
	json_put_number(json, "cycles", t->cycles);
	if (t->error > 0)
		json_put_number(json, "error", t->error);
	if (t->windows) {
		json_put_count(json, "windows", t->windows);
		json_put_number(json, "user_seconds", t->user_seconds);
		json_put_number(json, "hertz", t->hertz);
		json_put_bool(json, "measured", t->is_measured);
	}
	json_put_number(json, "ipc", ratio((double)t->instructions, t->cycles));
	put_known(json, "arch", info->arch);
	if (tact_arch_find(info->arch))
		json_put_bool(json, "verified", tact_arch_is_verified(tact_arch_find(info->arch)));
	put_known(json, "command", info->command);
	json_put_bool(json, "exact", info->is_exact);
	json_put_bool(json, "caches", info->has_caches);
	json_put_bool(json, "branches", info->has_branches);
	json_put_bool(json, "partial", info->is_partial);
	json_put_count(json, "threads", t->n_threads);
	json_put_count(json, "executions", t->executions);
	json_put_count(json, "simulated", t->simulated);
	json_put_count(json, "unknown", t->unknown);
	json_put_count(json, "system_calls", t->system_calls);
	result_put_left_out(json, r);
	json_put_count(json, "accesses", t->accesses);
	if (info->has_caches) {
		json_begin_array(json, "misses");
		for (unsigned i = 0; i < 3; i++)
			json_put_count(json, NULL, t->misses[i]);
		json_end(json);
		json_put_count(json, "tlb_misses", t->tlb_misses);
		json_put_count(json, "page_walks", t->page_walks);
		if (!t->windows)
			json_put_count(json, "page_faults", t->page_faults);
		json_put_count(json, "prefetches", t->prefetches);
		json_put_count(json, "unknown_prefetches", t->unknown_prefetches);
	}
	if (info->has_branches) {
		json_put_count(json, "executed_branches", t->branches);
		json_put_count(json, "mispredicted", t->mispredicted);
		json_put_count(json, "followed_branches", t->followed);
	}
	put_uops(json, t->uops, t->stalls);
	json_end_line(json);
}

static void put_place(struct json *json, const struct tact_result_row *row)
{
	char *name = obj_demangle(row->function, true);

	put_known(json, "module", row->module);
	put_known(json, "function", name ? name : row->function);
	if (name)
		json_put_string(json, "symbol", row->function);
	free(name);
	put_known(json, "source", row->source);
	if (row->line)
		json_put_integer(json, "line", row->line);
	if (row->address)
		json_printf_string(json, "address", "0x%" PRIx64, row->address);
	if (row->code_size)
		json_put_hex(json, "hex", row->code, row->code_size);
	if (!row->bottlenecks)
		return;
	json_begin_array(json, "bottlenecks");
	for (unsigned i = 0; i < TACT_N_BOUNDS; i++)
		if (row->bottlenecks >> i & 1)
			json_put_string(json, NULL, tact_bound_name((enum tact_bound)i));
	json_end(json);
}

static void put_row(struct json *json, const struct tact_result_row *row,
		    enum tact_result_kind kind, double all)
{
	static const char *const names[TACT_N_RESULT_KINDS] = {"function", "block", "line",
							       "thread"};

	begin(json, names[kind]);
	put_place(json, row);
	if (kind == TACT_RESULT_THREAD) {
		json_put_count(json, "process", row->process);
		json_put_count(json, "thread", row->thread);
	} else {
		json_put_count(json, "executions", row->executions);
	}
	json_put_count(json, "instructions", row->instructions);
	json_put_number(json, "cycles", row->cycles);
	json_put_fixed(json, "share", ratio(row->cycles, all), 6);
	if (kind != TACT_RESULT_THREAD) {
		json_put_number(json, "bound", row->bound);
		if (row->unknown)
			json_put_count(json, "unknown", row->unknown);
		put_uops(json, row->uops, row->stalls);
	}
	if (row->insns) {
		json_begin_array(json, "insns");
		for (uint32_t i = 0; i < row->n_insns; i++)
			json_put_number(json, NULL, (double)row->insns[i]);
		json_end(json);
	}
	json_end_line(json);
}

static void put_call(struct json *json, const struct tact_result *r, size_t i)
{
	const struct tact_result_call *c = &r->calls[i];
	char *name = obj_demangle(c->function, true);

	begin(json, "call");
	json_put_count(json, "number", i + 1);
	json_put_count(json, "caller", c->parent == TACT_NO_ROW ? 0 : c->parent + 1);
	put_known(json, "module", c->module);
	json_put_string(json, "function", name ? name : c->function);
	if (name)
		json_put_string(json, "symbol", c->function);
	free(name);
	json_put_count(json, "calls", c->calls);
	json_put_count(json, "instructions", c->instructions);
	json_put_number(json, "cycles", c->cycles);
	json_put_number(json, "self", c->self);
	json_end_line(json);
}

/* Writes the slices of one thread, from slice `first` on.  Returns the number of the first one of the
 * next thread.
 */
static size_t put_slices(struct json *json, const struct tact_result *r, size_t first)
{
	static const char *const levels[] = {"l1_misses", "l2_misses", "l3_misses"};
	const struct result_slice *x = &r->slices[first];
	size_t n = 0;

	while (first + n < r->n_slices && x[n].thread == x->thread)
		n++;
	begin(json, "slices");
	json_put_count(json, "thread", x->thread);
	json_put_fixed(json, "cycles", x[n - 1].cycles, 0);
	json_begin_object(json, "course");
	json_begin_array(json, "cycles");
	for (size_t i = 0; i < n; i++)
		json_put_fixed(json, NULL, x[i].cycles, 0);
	json_end(json);
	json_begin_array(json, "instructions");
	for (size_t i = 0; i < n; i++)
		json_put_count(json, NULL, x[i].instructions);
	json_end(json);
	for (size_t k = 0; k < ARRAY_SIZE(levels) && r->info.has_caches; k++) {
		json_begin_array(json, levels[k]);
		for (size_t i = 0; i < n; i++)
			json_put_count(json, NULL, x[i].misses[k]);
		json_end(json);
	}
	if (r->info.has_branches) {
		json_begin_array(json, "mispredicted");
		for (size_t i = 0; i < n; i++)
			json_put_count(json, NULL, x[i].mispredicted);
		json_end(json);
	}
	if (r->n_calls) {
		json_begin_array(json, "calls");
		for (size_t i = 0; i < n; i++)
			json_put_count(json, NULL, x[i].call == RESULT_NO_CALL ? 0 : x[i].call + 1);
		json_end(json);
	}
	json_end_line(json);
	return first + n;
}

/* Returns 0, 1 if the sink wants no more, -TACT_E_NOMEM. */
static int flush(struct text *text, int (*write)(void *arg, const char *data, size_t size),
		 void *arg)
{
	const int status = text->failed ? -TACT_E_NOMEM : write(arg, text->data, text->size) != 0;

	text_reset(text);
	return status;
}

int tact_result_write(const struct tact_result *r,
		      int (*write)(void *arg, const char *data, size_t size), void *arg)
{
	static const enum tact_result_kind order[] = {TACT_RESULT_THREAD, TACT_RESULT_FUNCTION,
						      TACT_RESULT_LINE, TACT_RESULT_BLOCK};
	struct text text = {0};
	struct json json = {.out = &text};
	int status = 0;

	if (!r || !write)
		return -TACT_E_INVAL;
	put_totals(&json, r);
	for (size_t k = 0; k < ARRAY_SIZE(order) && !status; k++) {
		size_t n;
		const struct tact_result_row *rows = result_rows(r, order[k], &n);

		for (size_t i = 0; i < n && !status; i++) {
			put_row(&json, &rows[i], order[k], r->totals.cycles);
			if (text.size >= WRITE_SIZE)
				status = flush(&text, write, arg);
		}
	}
	for (size_t i = 0; i < r->n_calls && !status; i++) {
		put_call(&json, r, i);
		if (text.size >= WRITE_SIZE)
			status = flush(&text, write, arg);
	}
	for (size_t i = 0; i < r->n_slices && !status;) {
		i = put_slices(&json, r, i);
		if (text.size >= WRITE_SIZE)
			status = flush(&text, write, arg);
	}
	if (!status)
		status = flush(&text, write, arg);
	text_free(&text);
	return status < 0 ? status : 0;
}
