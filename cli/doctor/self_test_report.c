/* SPDX-License-Identifier: MIT
 *
 * Writes what a self-test has found.  Nothing in it names a host, a user, a file or a program.
 */
#include <stdarg.h>
#include <string.h>

#include <tact/version.h>

#include "base/json.h"
#include "common/cli.h"
#include "doctor/self_test.h"

static const char promise[] = "This report names no host, user, file or program. Send it as it is.";

/* ---- text ---- */

void doctor_add_words(struct text *out, const char *words, size_t column, size_t start,
		      size_t width)
{
	while (*words) {
		size_t n = strcspn(words, " ");

		if (out->size - start + n > width && out->size > start + column) {
			text_trim(out, start); /* the blank before it */
			text_add(out, "\n");
			start = out->size;
			text_pad(out, column, start);
		}
		text_add_bytes(out, words, n);
		words += n;
		if (*words) {
			text_add(out, " ");
			words++;
		}
	}
	text_add(out, "\n");
}

/* A line "Name:  what", wrapped. */
static void add_figure(struct text *out, size_t width, const char *name, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void add_figure(struct text *out, size_t width, const char *name, const char *format, ...)
{
	const size_t start = out->size;
	struct text words = {0};
	va_list args;

	va_start(args, format);
	text_vprintf(&words, format, args);
	va_end(args);
	text_printf(out, "%-14s ", name);
	doctor_add_words(out, cli_string(&words), 15, start, width);
	text_free(&words);
}

static void add_rungs(const struct self_test *t, struct text *out, size_t width)
{
	text_add(out, "\nRungs\n");
	for (int r = 0; r < SELF_RUNGS; r++) {
		const size_t start = out->size;

		text_printf(out, "  %-6s ", tact_rung_name((enum tact_rung)(r + 1)));
		text_add(out, t->rung[r].works ? "works" : "no: ");
		doctor_add_words(out, t->rung[r].reason, 9, start, width);
	}
}

static void add_answer(const struct self_answer *a, const char *rung, struct text *out)
{
	text_printf(out, "  %-6s", rung);
	if (a->m.status == TACT_MEASURE_OK)
		text_printf(out, " %7.2f  %s", a->m.cycles_per_iteration, self_test_verdict(a));
	else
		text_printf(out, "       -  %s", self_test_verdict(a));
	if (a->tries > 2)
		text_printf(out, ", %u tries", a->tries);
}

static void add_known(const struct self_test *t, struct text *out)
{
	text_add(out, "\nKnown answers (cycles)          expected\n");
	for (int i = 0; i < SELF_KNOWN; i++) {
		const struct tact_known_answer *k = &tact_known()->answer[i];
		bool has_line = false;
		size_t start = out->size;

		text_printf(out, "  %-29s ", k->name);
		if (k->low < k->high)
			text_printf(out, "%g-%g", k->low, k->high);
		else
			text_printf(out, "%g", k->low);
		for (int r = 0; r < SELF_RUNGS; r++) {
			if (!t->answer[i][r].is_tried)
				continue;
			if (has_line) {
				text_add(out, "\n");
				start = out->size;
			}
			text_pad(out, 41, start);
			add_answer(&t->answer[i][r], tact_rung_name((enum tact_rung)(r + 1)), out);
			has_line = true;
		}
		text_add(out, "\n");
	}
}

static void add_machine(const struct self_test *t, struct text *out, size_t width)
{
	const struct tact_host *h = &t->host;

	add_figure(out, width, "CPU:", "%s (%s, family %u, model %u, stepping %u%s%s)",
		   h->brand[0] ? h->brand : "no name", h->vendor, h->family, h->model, h->stepping,
		   h->microcode[0] ? ", microcode " : "", h->microcode);
	add_figure(out, width, "Model:", "%s", t->arch ? tact_arch_name(t->arch) : "none");
	add_figure(out, width, "Hypervisor:", "%s",
		   !h->is_virtual     ? "none"
		   : h->hypervisor[0] ? h->hypervisor
				      : "yes");
	add_figure(out, width, "CPUs:", "%u, of which %u on %u cores may be used", h->n_online,
		   h->n_allowed, h->n_cores);
	add_figure(out, width, "Time stamps:", "%s, %.0f MHz",
		   h->has_invariant_tsc ? "invariant" : "not invariant", h->tsc_hz / 1e6);
	add_figure(out, width, "Kernel:", "Linux %s", t->kernel[0] ? t->kernel : "unknown");
	add_figure(out, width, "tact:", "%d.%d.%d", TACT_VERSION_MAJOR, TACT_VERSION_MINOR,
		   TACT_VERSION_PATCH);
}

static void add_repeat(const struct self_test *t, struct text *out, size_t width)
{
	static const char *const names[SELF_WAYS] = {"Repeated:", "Confirmed:"};

	for (int i = 0; i < SELF_WAYS; i++) {
		const struct self_repeat *r = &t->repeat[i];

		if (!r->both)
			add_figure(out, width, names[i], "no block has two numbers");
		else
			add_figure(out, width, names[i],
				   "%u of %d blocks have two numbers by %s%s, %u of them within "
				   "1%%; they differ by %.1f%% at most",
				   r->both, SELF_BLOCKS, t->best,
				   i ? ", each confirmed by another round" : "", r->near,
				   100 * r->largest);
	}
	if (t->best)
		add_figure(out, width, "Rate:", "%.0f blocks a second", t->repeat[0].rate);
}

static void add_figures(const struct self_test *t, struct text *out, size_t width)
{
	const unsigned long samples = t->kept + t->dropped;

	text_add(out, "\n");
	if (t->compared)
		add_figure(out, width, "Agreement:",
			   "%u of %u known answers are the same on all rungs, within 2%%; at most "
			   "%.1f%% apart (%s)",
			   t->agree, t->compared, 100 * t->largest_difference, t->differs);
	else
		add_figure(out, width, "Agreement:", "no two rungs to compare");
	add_repeat(t, out, width);
	add_figure(out, width, "Quiet:",
		   "of %u measurements, %u were disturbed and %u unstable; %.0f%% of the samples "
		   "were kept; code that needs the whole core took up to %.0f%% longer",
		   t->measured, t->disturbed, t->unstable,
		   samples ? 100.0 * (double)t->kept / (double)samples : 0.0, 100 * t->disturbance);
	add_figure(out, width, "Time:", "%.1f s", t->seconds);
}

static void add_sandbox(const struct self_test *t, struct text *out)
{
	text_printf(out, "\nSandbox: %s\n", self_test_measures(t) ? "complete" : "not complete");
	for (int i = 0; i < SELF_PARTS; i++)
		text_printf(out, "  %-28s %-9s %s\n", t->part[i].title,
			    tact_check_state_name(t->part[i].state), t->part[i].found);
}

void self_test_text(struct self_test *t, struct text *out, size_t width, bool is_quiet)
{
	const char *off = t->n_off ? cli_string(&t->off) : "";

	if (!is_quiet) {
		text_printf(out, "%s\n\n", promise);
		add_machine(t, out, width);
		add_rungs(t, out, width);
		add_known(t, out);
		add_figures(t, out, width);
		add_sandbox(t, out);
		text_add(out, "\n");
	}
	while (*off) {
		const size_t n = strcspn(off, "\n");

		text_printf(out, "off: %.*s\n", (int)n, off);
		off += n + 1;
	}
	if (!self_test_measures(t))
		text_add(out, "Result: nothing can be measured here.\n");
	else if (t->n_off)
		text_printf(out, "Result: %u thing%s off.\n", t->n_off,
			    t->n_off == 1 ? " is" : "s are");
	else
		text_add(out, "Result: good.\n");
}

/* ---- JSON ---- */

static void put_machine(const struct self_test *t, struct json *json)
{
	doctor_put_cpu(&t->host, t->arch, json);
	json_put_string(json, "kernel", t->kernel);
}

static void put_answers(const struct self_test *t, int known, struct json *json)
{
	json_begin_array(json, "measured");
	for (int r = 0; r < SELF_RUNGS; r++) {
		const struct self_answer *a = &t->answer[known][r];

		if (!a->is_tried)
			continue;
		json_begin_object(json, NULL);
		json_put_string(json, "rung", tact_rung_name((enum tact_rung)(r + 1)));
		json_put_string(json, "status", tact_measure_status_name(a->m.status));
		if (a->m.status == TACT_MEASURE_OK) {
			json_put_fixed(json, "cycles_per_iteration", a->m.cycles_per_iteration, 4);
			json_put_fixed(json, "spread", a->m.spread, 5);
			json_put_bool(json, "is_right", a->is_right);
		}
		json_put_fixed(json, "disturbance", a->m.disturbance, 3);
		json_put_count(json, "tries", a->tries);
		json_end(json);
	}
	json_end(json);
}

static void put_known(const struct self_test *t, struct json *json)
{
	json_begin_array(json, "rungs");
	for (int r = 0; r < SELF_RUNGS; r++) {
		json_begin_object(json, NULL);
		json_put_string(json, "name", tact_rung_name((enum tact_rung)(r + 1)));
		json_put_bool(json, "works", t->rung[r].works);
		json_put_string(json, "reason", t->rung[r].reason);
		json_end(json);
	}
	json_end(json);
	json_begin_array(json, "known");
	for (int i = 0; i < SELF_KNOWN; i++) {
		json_begin_object(json, NULL);
		json_put_string(json, "name", tact_known()->answer[i].name);
		json_put_string(json, "hex", tact_known()->answer[i].hex);
		json_put_fixed(json, "expected_low", tact_known()->answer[i].low, 2);
		json_put_fixed(json, "expected_high", tact_known()->answer[i].high, 2);
		put_answers(t, i, json);
		json_end(json);
	}
	json_end(json);
}

static void put_figures(const struct self_test *t, struct json *json)
{
	json_begin_object(json, "agreement");
	json_put_count(json, "compared", t->compared);
	json_put_count(json, "agree", t->agree);
	json_put_fixed(json, "largest", t->largest_difference, 4);
	json_end(json);
	json_put_string(json, "best_rung", t->best);
	for (int i = 0; i < SELF_WAYS; i++) {
		const struct self_repeat *r = &t->repeat[i];

		json_begin_object(json, i ? "confirmed" : "repeated");
		json_put_count(json, "blocks", SELF_BLOCKS);
		json_put_count(json, "both", r->both);
		json_put_count(json, "near", r->near);
		json_put_count(json, "far", r->far);
		json_put_fixed(json, "largest", r->largest, 4);
		json_put_fixed(json, "blocks_per_second", r->rate, 1);
		json_end(json);
	}
	json_begin_object(json, "quiet");
	json_put_count(json, "measured", t->measured);
	json_put_count(json, "disturbed", t->disturbed);
	json_put_count(json, "unstable", t->unstable);
	json_put_count(json, "kept", t->kept);
	json_put_count(json, "dropped", t->dropped);
	json_put_fixed(json, "disturbance", t->disturbance, 3);
	json_end(json);
}

void self_test_json(struct self_test *t, struct text *out)
{
	struct json json = {.out = out};
	const char *off = t->n_off ? cli_string(&t->off) : "";

	json_begin_object(&json, NULL);
	json_put_string(&json, "schema", "tact.self_test/1");
	json_printf_string(&json, "version", "%d.%d.%d", TACT_VERSION_MAJOR, TACT_VERSION_MINOR,
			   TACT_VERSION_PATCH);
	put_machine(t, &json);
	put_known(t, &json);
	put_figures(t, &json);
	json_begin_array(&json, "sandbox");
	for (int i = 0; i < SELF_PARTS; i++) {
		json_begin_object(&json, NULL);
		json_put_string(&json, "name", t->part[i].name);
		json_put_string(&json, "state", tact_check_state_name(t->part[i].state));
		json_put_string(&json, "found", t->part[i].found);
		json_end(&json);
	}
	json_end(&json);
	json_put_fixed(&json, "seconds", t->seconds, 1);
	json_put_bool(&json, "is_cut", t->is_cut);
	json_put_bool(&json, "can_measure", self_test_measures(t));
	json_begin_array(&json, "off");
	while (*off) {
		const size_t n = strcspn(off, "\n");

		json_put_bytes(&json, NULL, off, n);
		off += n + 1;
	}
	json_end_line(&json);
}
