/* SPDX-License-Identifier: MIT
 *
 * The architectures that a command works on.
 */
#include "archlist.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact/insn.h>

#include "cli.h"
#include "output.h"

#define OPTION_HOLDER archlist

const struct option_spec archlist_option_specs[] = {
	OPTION_ARCH(names,
		    "microarchitecture: a name from 'tact archs', a compiler's name or a product "
		    "(i7-8700K), native, several separated by commas, or all; also -mcpu=NAME"),
	OPTION_PARAMS(params,
		      "change parameters of the microarchitecture: lines 'name = value', as "
		      "'tact archs SKL' prints them"),
	OPTION_END,
};

/* ---- names ---- */

/* Returns a known name that differs by a slip of the finger; NULL if there is none.  Short names of
 * CPUs differ by a letter or two, so only one edit counts as a slip there, and a digit never does:
 * znver3 is not a misspelt znver4.
 */
static const char *near_name(const char *name, char *text, size_t size)
{
	const unsigned most = strlen(name) < 7 ? 1 : 2;
	unsigned best = most + 1;
	size_t found = SIZE_MAX;
	const char *known;

	if (strlen(name) < 3 || strpbrk(name, "0123456789"))
		return NULL;
	for (size_t i = 0; (known = tact_cpu_name(i, text, size)); i++) {
		const unsigned d = cli_distance(name, known);

		if (d < best && !strpbrk(known, "0123456789")) {
			best = d;
			found = i;
		}
	}
	return found == SIZE_MAX ? NULL : tact_cpu_name(found, text, size);
}

/* LLVM's name that differs least; NULL if none is alike, or if its models cannot be asked. */
static const char *near_llvm_name(const char *name, char *text, size_t size)
{
	unsigned best = 3;
	char known[64];

	text[0] = '\0';
	for (const struct tact_isa *isa = NULL; (isa = tact_isa_next(isa));)
		for (size_t i = 0; tact_arch_llvm_cpu_at(isa, i, known, sizeof(known)); i++) {
			const unsigned d = cli_distance(name, known);

			if (d < best) {
				best = d;
				snprintf(text, size, "%s", known);
			}
		}
	return text[0] ? text : NULL;
}

/* LLVM's names have a hyphen or a prefix, all but a few. */
static void report_unknown_to_llvm(const char *name)
{
	const bool is_like_one = strpbrk(name, "-:") != NULL;
	struct tact_diag diag = {0};
	const char *near;
	char text[64];

	if (tact_arch_llvm_check(&diag) < 0) {
		if (is_like_one)
			cli_message("%s", diag.text);
		return;
	}
	near = strlen(name) > 5 ? near_llvm_name(name, text, sizeof(text)) : NULL;
	if (tact_arch_llvm_lists(name))
		cli_message(
			"LLVM knows %s, but has no model of what its instructions cost, or it is a "
			"CPU of 32 bits; 'tact archs' lists those that it has",
			name);
	else if (near && (is_like_one || !strchr(near, ':')))
		cli_message("LLVM has a model of %s: did you mean that?", near);
	else if (is_like_one)
		cli_message("LLVM has no model of that name either; 'tact archs' lists those that "
			    "it has");
}

static void report_unknown(const char *name)
{
	struct text list = {0};
	const char *near;
	char text[40];

	if (!strcasecmp(name, "help") || !strcasecmp(name, "list") || !strcmp(name, "?")) {
		cli_message("'tact archs' lists the microarchitectures and their names");
		return;
	}
	for (const struct tact_arch *a = NULL; (a = tact_arch_next(a));)
		text_printf(&list, "%s ", tact_arch_name(a));
	near = near_name(name, text, sizeof(text));
	cli_message("unknown microarchitecture '%s'%s%s%s; known: %sall", name,
		    near ? " (did you mean " : "", near ? near : "", near ? "?)" : "",
		    cli_string(&list));
	text_free(&list);
	report_unknown_to_llvm(name);
}

/* "Sapphire Rapids (Golden Cove)" */
static void add_line(struct text *out, const struct tact_cpu *cpu)
{
	text_add(out, cpu->line);
	if (*cpu->core && strcmp(cpu->core, cpu->line))
		text_printf(out, " (%s)", cpu->core);
}

static void add_host(struct text *out, const struct tact_cpu *cpu)
{
	text_printf(out, "this CPU is %s, family %u model %u",
		    *cpu->brand	   ? cpu->brand
		    : *cpu->vendor ? cpu->vendor
				   : "unknown",
		    cpu->family, cpu->model);
	if (*cpu->line) {
		text_add(out, ": ");
		add_line(out, cpu);
	}
}

/* Says what the name means, and what comes nearest. */
static void report_no_model(const char *name, const struct tact_cpu *cpu)
{
	struct text text = {0};

	if (!strcasecmp(name, "native")) {
		add_host(&text, cpu);
	} else {
		text_printf(&text, "'%s' is %s's ", name, cpu->vendor);
		add_line(&text, cpu);
	}
	text_add(&text, ", which tact has no model of; ");
	if (cpu->nearest)
		text_printf(&text, "the nearest is %s (%s), %s: -a %s",
			    tact_arch_name(cpu->nearest), tact_arch_full_name(cpu->nearest),
			    cpu->relation, tact_arch_name(cpu->nearest));
	else
		text_add(&text, "no model is near; 'tact archs' lists those that there are");
	cli_message("%s", cli_string(&text));
	text_free(&text);
}

static const struct tact_arch *find(const char *name, bool is_quiet,
				    const struct tact_arch **assumed)
{
	struct tact_cpu cpu = TACT_CPU_INIT;
	const int status = tact_cpu_find(name, &cpu);

	if (status < 0 && strcasecmp(name, "native"))
		report_unknown(name);
	else if (!cpu.arch)
		report_no_model(name, &cpu);
	else if (cpu.is_level && !is_quiet)
		cli_message("'%s' names no CPU: taking %s (%s); -a NAME chooses another", name,
			    tact_arch_name(cpu.arch), tact_arch_full_name(cpu.arch));
	if (cpu.is_level)
		*assumed = cpu.arch;
	return cpu.arch;
}

const struct tact_arch *archlist_find(const char *name)
{
	const struct tact_arch *assumed;

	return find(name, false, &assumed);
}

static int add(struct archlist *list, const struct tact_arch *arch)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->arch[i] == arch)
			return 0;
	if (list->n && !list->is_any_set && tact_arch_isa(arch) != tact_arch_isa(list->arch[0])) {
		cli_message("%s and %s have different instruction sets",
			    tact_arch_name(list->arch[0]), tact_arch_name(arch));
		return CLI_USAGE;
	}
	if (list->n < ARCHLIST_MAX)
		list->arch[list->n++] = arch;
	return 0;
}

/* The set of this machine, or of the first CPU if that has no models of its own. */
static const struct tact_isa *set_of_all(void)
{
	const struct tact_arch *arch;

	for (arch = tact_arch_next(NULL); arch; arch = tact_arch_next(arch))
		if (tact_arch_isa(arch) == tact_isa_default())
			return tact_isa_default();
	return tact_arch_isa(tact_arch_next(NULL));
}

static int add_name(struct archlist *list, const char *name, bool is_quiet)
{
	const struct tact_arch *arch;

	if (!strcmp(name, "all")) {
		int status = 0;

		for (arch = tact_arch_next(NULL); arch && !status; arch = tact_arch_next(arch))
			if (list->is_any_set || tact_arch_isa(arch) == set_of_all())
				status = add(list, arch);
		return status;
	}
	arch = find(name, is_quiet, &list->assumed);
	return arch ? add(list, arch) : CLI_USAGE;
}

static int add_names(struct archlist *list, const char *names, bool is_quiet)
{
	char *copy = strdup(names), *rest = copy, *name;
	int status = 0;

	if (!copy)
		cli_out_of_memory();
	while (!status && (name = strsep(&rest, ",")))
		if (*name)
			status = add_name(list, name, is_quiet);
	free(copy);
	if (!status && !list->n) {
		cli_message("--arch: '%s' contains no name", names);
		status = CLI_USAGE;
	}
	return status;
}

/* Without -a, on a CPU that there is no model of. */
static void report_default(const struct tact_arch *arch)
{
	struct tact_cpu cpu = TACT_CPU_INIT;
	struct text text = {0};

	tact_cpu_find("native", &cpu);
	add_host(&text, &cpu);
	text_printf(&text, ", which tact has no model of; predicting for %s (%s)",
		    tact_arch_name(arch), tact_arch_full_name(arch));
	if (cpu.nearest)
		text_printf(&text, "; the nearest is -a %s", tact_arch_name(cpu.nearest));
	cli_message("%s", cli_string(&text));
	text_free(&text);
}

static int add_this_cpu(struct archlist *list, bool is_quiet)
{
	const struct tact_arch *arch = tact_arch_host();

	if (!arch) {
		arch = tact_arch_find("SKL");
		if (!is_quiet)
			report_default(arch);
	} else if (!is_quiet) {
		cli_message("predicting for this CPU, %s (%s)", tact_arch_name(arch),
			    tact_arch_full_name(arch));
	}
	return add(list, arch);
}

static int derive(struct archlist *list)
{
	struct tact_diag diag = {0};
	struct text err = {0};
	int status = 0;

	for (size_t i = 0; i < list->n && status >= 0; i++) {
		status = tact_arch_derive(&list->derived[i], list->arch[i], list->params, &diag);
		if (status >= 0)
			list->arch[i] = list->derived[i];
	}
	if (status >= 0)
		return 0;
	cli_place(&err, list->params, diag.line, diag.text[0] ? diag.text : tact_strerror(status));
	text_to_stderr(&err);
	text_free(&err);
	return CLI_USAGE;
}

int archlist_resolve(struct archlist *list, const char *fallback, bool is_quiet)
{
	const char *names = list->names ? list->names : fallback;
	int status = names ? add_names(list, names, is_quiet) : add_this_cpu(list, is_quiet);

	if (!status && list->params)
		status = derive(list);
	return status;
}

void archlist_fini(void *target)
{
	struct archlist *list = target;

	for (size_t i = 0; i < list->n; i++)
		tact_arch_destroy(list->derived[i]);
	list->n = 0;
}

unsigned archlist_param(const struct tact_arch *arch, const char *name)
{
	struct tact_param param = TACT_PARAM_INIT;

	for (size_t i = 0; tact_arch_param(arch, i, &param); i++)
		if (!strcmp(param.name, name))
			return (unsigned)strtoul(param.value, NULL, 10);
	return 0;
}
