/* SPDX-License-Identifier: MIT
 *
 * tact doctor: what this machine can do.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <tact/arch.h>
#include <tact/doctor.h>
#include <tact/measure.h>

#include "common/cli.h"
#include "common/options.h"
#include "common/output.h"
#include "common/state.h"
#include "common/terminal.h"
#include "doctor/self_test.h"

static const char help[] =
	"usage: tact doctor [OPTIONS]\n\n"
	"Reports what this machine can do for tact: its CPU, counters, sandbox, "
	"memory and tools, what is worse than it could be, and what helps. The "
	"exit status is 0 if blocks can be measured here, else 3.\n\n"
	"{options}\n\n"
	"With --self-test, known blocks are measured with every counter that works\n"
	"here, in less than 20 seconds; the exit status is 1 if something is off. The\n"
	"report names no host, user, file or program, so that you can send it.\n";

struct doctor {
	int format;
	const char *output;
	bool is_quiet, is_self_test;
	size_t width; /* of text, in columns */

	struct tact_host host;
	const struct tact_arch *arch; /* NULL: not modelled */
	struct tact_check check[TACT_N_CHECKS];
	bool can_measure;
	const char *rung;
	char trial[200];		   /* what measuring a known block gave */
	char emulator[TACT_EMULATOR_SIZE]; /* that executes this program; "": none */
};

#define OPTION_HOLDER doctor

static const struct option_spec specs[] = {
	OPTION_FORMAT(format, OPTION_BIT(FORMAT_TEXT) | OPTION_BIT(FORMAT_JSON),
		      "text (default) or json (one object)"),
	OPTION_OUTPUT(output, "write the report to FILE"),
	OPTION_QUIET(is_quiet, "print only what is not good, and whether blocks can be measured"),
	OPTION_END,
};

static const struct option_spec trial_specs[] = {
	OPTION_FLAG(0, "self-test", is_self_test,
		    "measure blocks with known answers in every way that this machine allows, and "
		    "report that"),
	OPTION_END,
};

static const struct option_group groups[] = {
	OPTION_OWN("Test", trial_specs),
	OPTION_OWN("Output", specs),
	OPTION_NO_ARGUMENTS,
};

/* ---- a trial ---- */

static void measure_trial(struct doctor *d, struct tact_harness *harness)
{
	struct tact_measurement m = {.size = sizeof(m)};
	const struct tact_known *known = tact_known();
	int status = tact_measure(harness, known->trial, known->trial_size, &m);

	d->rung = tact_rung_name(tact_harness_rung(harness));
	if (status < 0) {
		snprintf(d->trial, sizeof(d->trial), "the harness failed: %s",
			 tact_strerror(status));
		return;
	}
	/* A machine with a wrong number, or without one because of noise, can still measure. */
	d->can_measure = m.status == TACT_MEASURE_OK || m.status == TACT_MEASURE_UNSTABLE ||
			 m.status == TACT_MEASURE_DISTURBED;
	if (m.status != TACT_MEASURE_OK)
		snprintf(d->trial, sizeof(d->trial), "%s has no number: %s (%s)", known->trial_name,
			 tact_measure_status_name(m.status), m.reason);
	else
		snprintf(d->trial, sizeof(d->trial),
			 "%s takes %.2f cycles, spread %.1f%%, %u of %u samples kept",
			 known->trial_name, m.cycles_per_iteration, 100 * m.spread, m.kept,
			 m.kept + m.dropped);
}

static void examine(struct doctor *d)
{
	struct tact_measure_options options = TACT_MEASURE_OPTIONS_INIT;
	struct tact_harness *harness = NULL;
	struct tact_diag diag = {0};
	char path[STATE_PATH];
	int status;

	tact_host_emulator(d->emulator, sizeof(d->emulator));
	d->host.size = sizeof(d->host);
	tact_host_probe(&d->host);
	d->arch = tact_arch_host();
	for (int i = 0; i < TACT_N_CHECKS; i++) {
		d->check[i].size = sizeof(d->check[i]);
		tact_check_run((enum tact_check_id)i, &d->check[i]);
	}
	options.state = state_path("canary", path);
	status = tact_harness_create(&harness, &options, &diag);
	if (status < 0)
		snprintf(d->trial, sizeof(d->trial), "%.190s",
			 diag.text[0] ? diag.text : tact_strerror(status));
	else
		measure_trial(d, harness);
	tact_harness_destroy(harness);
}

/* ---- text ---- */

enum { MAX_WIDTH = 100 };

static void add_advice(const struct doctor *d, struct text *out, const char *key, const char *words)
{
	size_t start = out->size;

	if (!*words)
		return;
	text_printf(out, "%14s%-8s", "", key);
	doctor_add_words(out, words, 22, start, d->width < MAX_WIDTH ? d->width : MAX_WIDTH);
}

static void add_check(const struct doctor *d, struct text *out, const struct tact_check *c)
{
	const size_t start = out->size;

	text_printf(out, "%-10s  %-28s", tact_check_state_name(c->state), c->title);
	doctor_add_words(out, c->found, d->width < 80 ? 14 : 40, start, d->width);
	add_advice(d, out, "effect:", c->effect);
	add_advice(d, out, "fix:", c->fix);
}

/* Which core it is, and what comes nearest. */
static void say_no_model(struct text *out)
{
	struct tact_cpu cpu = TACT_CPU_INIT;
	const int status = tact_cpu_find("native", &cpu);

	text_printf(out,
		    "none%s%s; predictions without --arch are for SKL, so they match "
		    "measurements here only roughly",
		    status < 0 ? "" : " of ", status < 0 ? "" : cpu.core);
	if (cpu.nearest)
		text_printf(out, "; the nearest is -a %s, %s", tact_arch_name(cpu.nearest),
			    cpu.relation);
}

static void add_cpu(struct text *out, const struct doctor *d)
{
	const struct tact_host *h = &d->host;
	struct text words = {0};
	size_t start = out->size;

	text_printf(&words, "%s (%s, family %u, model %u, stepping %u%s%s)",
		    h->brand[0] ? h->brand : "no name", h->vendor, h->family, h->model, h->stepping,
		    h->microcode[0] ? ", microcode " : "", h->microcode);
	text_add(out, "CPU: ");
	doctor_add_words(out, cli_string(&words), 5, start, d->width);
	words.size = 0;
	if (d->arch)
		text_printf(&words, "%s (%s)", tact_arch_name(d->arch),
			    tact_arch_full_name(d->arch));
	else
		say_no_model(&words);
	start = out->size;
	text_add(out, "Model: ");
	doctor_add_words(out, cli_string(&words), 7, start, d->width);
	text_add(out, "\n");
	text_free(&words);
}

static void add_trial(const struct doctor *d, struct text *out)
{
	const size_t start = out->size;
	struct text words = {0};

	if (d->can_measure)
		text_printf(out, "Measuring works, with the rung %s: ", d->rung);
	else
		text_add(out, "Measuring does not work: ");
	doctor_add_words(out, d->trial, 2, start, d->width);
	if (*d->emulator) {
		text_printf(&words, "%s executes this program: its numbers mean nothing",
			    d->emulator);
		doctor_add_words(out, cli_string(&words), 2, out->size, d->width);
		text_free(&words);
	}
}

static void text_report(const struct doctor *d, struct text *out)
{
	size_t count[3] = {0};

	if (!d->is_quiet)
		add_cpu(out, d);
	for (int i = 0; i < TACT_N_CHECKS; i++) {
		count[d->check[i].state]++;
		if (!d->is_quiet || d->check[i].state != TACT_CHECK_GOOD)
			add_check(d, out, &d->check[i]);
	}
	text_printf(out, "\n%zu good, %zu degraded, %zu missing\n", count[TACT_CHECK_GOOD],
		    count[TACT_CHECK_DEGRADED], count[TACT_CHECK_MISSING]);
	add_trial(d, out);
}

/* ---- JSON ---- */

void doctor_put_cpu(const struct tact_host *h, const struct tact_arch *arch, struct json *json)
{
	json_begin_object(json, "cpu");
	json_put_string(json, "vendor", h->vendor);
	json_put_string(json, "brand", h->brand);
	json_put_count(json, "family", h->family);
	json_put_count(json, "model", h->model);
	json_put_count(json, "stepping", h->stepping);
	json_put_string(json, "microcode", h->microcode);
	json_put_string(json, "arch", arch ? tact_arch_name(arch) : NULL);
	json_put_bool(json, "is_virtual", h->is_virtual);
	json_put_string(json, "hypervisor", h->hypervisor);
	json_put_count(json, "cpus_online", h->n_online);
	json_put_count(json, "cpus_allowed", h->n_allowed);
	json_put_count(json, "cores", h->n_cores);
	json_put_count(json, "threads_per_core", h->threads_per_core);
	json_put_bool(json, "invariant_tsc", h->has_invariant_tsc);
	json_put_fixed(json, "tsc_mhz", h->tsc_hz / 1e6, 0);
	json_end(json);
}

static void json_report(const struct doctor *d, struct text *out)
{
	struct json json = {.out = out};

	json_begin_object(&json, NULL);
	json_put_string(&json, "schema", "tact.doctor/1");
	doctor_put_cpu(&d->host, d->arch, &json);
	json_begin_array(&json, "checks");
	for (int i = 0; i < TACT_N_CHECKS; i++) {
		const struct tact_check *c = &d->check[i];

		json_begin_object(&json, NULL);
		json_put_string(&json, "name", c->name);
		json_put_string(&json, "state", tact_check_state_name(c->state));
		json_put_string(&json, "found", c->found);
		json_put_string(&json, "effect", c->effect);
		json_put_string(&json, "fix", c->fix);
		json_put_bool(&json, "is_vital", c->is_vital);
		json_end(&json);
	}
	json_end(&json);
	json_put_bool(&json, "can_measure", d->can_measure);
	if (d->rung)
		json_put_string(&json, "rung", d->rung);
	json_put_string(&json, "trial", d->trial);
	if (*d->emulator)
		json_put_string(&json, "emulator", d->emulator);
	json_end_line(&json);
}

static int run_self_test(const struct doctor *d)
{
	struct self_test test;
	struct text text = {0};
	int code;

	self_test_run(&test);
	if (d->format == FORMAT_JSON)
		self_test_json(&test, &text);
	else
		self_test_text(&test, &text, d->width, d->is_quiet);
	code = !self_test_measures(&test) ? CLI_UNABLE : test.n_off ? CLI_FAILED : CLI_GOOD;
	self_test_free(&test);
	return output_all(d->output, &text) ? CLI_FAILED : code;
}

static int run(void *target)
{
	struct doctor *d = target;
	struct text text = {0};

	d->width = terminal_width(d->output);
	if (!d->width)
		d->width = SIZE_MAX; /* in pipes and files, only long explanations are wrapped */
	if (d->is_self_test)
		return run_self_test(d);
	examine(d);
	if (d->format == FORMAT_JSON)
		json_report(d, &text);
	else
		text_report(d, &text);
	if (output_all(d->output, &text))
		return CLI_FAILED;
	return d->can_measure ? CLI_GOOD : CLI_UNABLE;
}

static const struct option_command command = {help, groups, run, NULL};

int cmd_doctor(int argc, char **argv)
{
	struct doctor d = {0};

	return option_command_run(&command, &d, argc, argv);
}
