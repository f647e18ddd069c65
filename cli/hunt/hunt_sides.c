/* SPDX-License-Identifier: MIT
 *
 * The two sides of a hunt: the model, and what it is compared with.
 */
#include <stdio.h>
#include <string.h>

#include <tact/doctor.h>

#include "base/file.h"
#include "common/cli.h"
#include "hunter.h"

bool hunter_is_over(void *context)
{
	const struct hunter *p = context;

	return *p->interrupted ||
	       (p->seconds && progress_seconds() - p->start >= (double)p->seconds);
}

/* "facile:ICL" is facile on ICL, "facile:paper" is a variant of facile. */
static int split_against(struct hunter *p)
{
	const char *colon = strrchr(p->against, ':');

	p->other_arch = p->archs.arch[0];
	snprintf(p->other_model, sizeof(p->other_model), "%s", p->against);
	if (colon && tact_arch_find(colon + 1)) {
		p->other_arch = tact_arch_find(colon + 1);
		snprintf(p->other_model, sizeof(p->other_model), "%.*s", (int)(colon - p->against),
			 p->against);
	}
	if (tact_arch_isa(p->other_arch) != tact_arch_isa(p->archs.arch[0]))
		return cli_wrong("--against: %s has another instruction set", colon + 1);
	return CLI_GOOD;
}

int hunter_create_model(struct hunter *p, struct tact_hunt_model **side, const char *name,
			const struct tact_arch *arch)
{
	struct tact_diag diag = {0};
	int status = tact_hunt_model_create(side, name, arch, (enum tact_mode)p->mode,
					    (enum tact_init)p->init, p->jobs, &diag);

	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	return status < 0 ? cli_wrong("%s", diag.text) : CLI_GOOD;
}

static int create_measure(struct hunter *p)
{
	static int cpus[HUNTER_MAX_WORKERS];
	unsigned n = tact_host_cores(cpus, HUNTER_MAX_WORKERS);
	struct tact_hunt_measure_options o = {
		.size = sizeof(o),
		.measure = {.size = sizeof(o.measure),
			    .mode = (enum tact_mode)p->mode,
			    .init = (enum tact_init)p->init,
			    .passes = 3,
			    .state = state_path("canary", p->state),
			    .no_namespaces = p->has_no_namespaces,
			    .noisy = p->is_noisy},
		.cpus = cpus,
		.rounds = p->rounds,
		.interrupt = p->interrupted,
		.is_over = hunter_is_over,
		.context = p,
	};
	struct tact_diag diag = {0};
	int status;

	cli_warn_of_emulator();
	n = n > HUNTER_MAX_WORKERS ? HUNTER_MAX_WORKERS : n;
	o.n_cpus = n;
	o.n_workers = p->jobs && p->jobs < n ? p->jobs : n;
	status = tact_hunt_measure_create(&p->measure, &o, &diag);
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (status < 0) {
		cli_message("%s", diag.text);
		cli_message("'tact doctor' tells what is missing and what helps");
		return CLI_UNABLE;
	}
	p->jobs = o.n_workers;
	return CLI_GOOD;
}

static int open_log(struct hunter *p)
{
	struct text text = {0};
	const bool is_new = !file_begins_with(p->log, "hex,");

	if (!is_new)
		option_words_add(&p->measured, p->log);
	if (is_new) {
		struct tact_diag diag = {0};

		hunter_put_header(&text, true);
		if (file_write_text(p->log, &text, &diag) < 0)
			return cli_complain(p->log, &diag, -TACT_E_IO, CLI_FAILED);
	}
	return CLI_GOOD;
}

static void news(void *context, const struct tact_hunt_block *block,
		 const struct tact_hunt_value *value)
{
	struct hunter *p = context;
	struct text text = {0};

	hunter_put_block(p, block, p->emit ? NULL : value, &text);
	output_write(p->emit ? &p->emitted : &p->logged, &text);
	text_free(&text);
	p->n_emitted++;
}

int hunter_create_judge(struct hunter *p, struct tact_hunt_options *o)
{
	struct tact_hunt_memory_options m = {.size = sizeof(m), .context = p};
	int status = CLI_GOOD;

	if (strcmp(p->against, "measure")) {
		status = split_against(p);
		if (!status)
			status = hunter_create_model(p, &p->other, p->other_model, p->other_arch);
		o->judge = (struct tact_hunt_side){tact_hunt_model_ask, p->other};
		return status;
	}
	if (!p->emit) {
		status = create_measure(p);
		m.behind = (struct tact_hunt_side){tact_hunt_measure_ask, p->measure};
	}
	if (!status && p->log)
		status = open_log(p);
	m.news = p->emit || p->log ? news : NULL;
	if (!status && tact_hunt_memory_create(&p->memory, &m) < 0)
		cli_out_of_memory();
	o->judge = (struct tact_hunt_side){tact_hunt_memory_ask, p->memory};
	return status;
}

/* "Zen 2 (not verified)" */
static const char *name_cpu(const struct tact_arch *arch, char buffer[static 80])
{
	const char *caveat = tact_arch_caveat(arch);

	snprintf(buffer, 80, "%s%s%s%s", tact_arch_full_name(arch), *caveat ? " (" : "", caveat,
		 *caveat ? ")" : "");
	return buffer;
}

void hunter_say_what(struct hunter *p)
{
	const char *mode = p->mode == TACT_MODE_LOOP ? "loops" : "unrolled";
	char buffer[80], other[80];
	const char *arch = name_cpu(p->archs.arch[0], buffer);

	if (p->truth)
		snprintf(p->what, sizeof(p->what), "%s on %s against measurements in %s, %s",
			 p->model, arch, file_base_name(p->truth), mode);
	else if (p->other)
		snprintf(p->what, sizeof(p->what), "%s on %s against %s on %s, %s", p->model, arch,
			 p->other_model, name_cpu(p->other_arch, other), mode);
	else
		snprintf(p->what, sizeof(p->what), "%s on %s against measurements on %s, %s",
			 p->model, arch, p->emit ? "another machine" : "this machine", mode);
}
