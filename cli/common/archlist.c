/* SPDX-License-Identifier: MIT
 *
 * The architectures that a command works on.
 */
#include "archlist.h"

#include <stdlib.h>
#include <string.h>

#include <tact/insn.h>

#include "cli.h"
#include "output.h"

#define OPTION_HOLDER archlist

#define PARAMS_HELP                                                                                \
	"change parameters of the microarchitecture: lines 'name = value', as 'tact archs SKL' "   \
	"prints them"

const struct option_spec archlist_option_specs[] = {
	OPTION_ARCH(names, "microarchitecture: a name from 'tact archs', several separated by "
			   "commas, or all"),
	OPTION_PARAMS(params, PARAMS_HELP),
	OPTION_END,
};

const struct option_spec archlist_one_option_specs[] = {
	OPTION_ARCH(names, "microarchitecture: a name from 'tact archs'"),
	OPTION_PARAMS(params, PARAMS_HELP),
	OPTION_END,
};

/* Names in both forms, so that "skylak" has a near match. */
static const char *any_name(size_t i, const void *context)
{
	const struct tact_arch *arch = tact_arch_next(NULL);

	(void)context;
	for (size_t k = 0; k < i / 2 && arch; k++)
		arch = tact_arch_next(arch);
	return arch ? (i % 2 ? tact_arch_llvm_name(arch) : tact_arch_name(arch)) : NULL;
}

const struct tact_arch *archlist_find(const char *name)
{
	const struct tact_arch *arch = tact_arch_find(name);
	struct text list = {0};
	const char *near;
	size_t n = 0;

	if (arch)
		return arch;
	for (const struct tact_arch *a = tact_arch_next(NULL); a; a = tact_arch_next(a)) {
		text_printf(&list, "%s%s", n ? " " : "", tact_arch_name(a));
		n += 2;
	}
	text_add_bytes(&list, "", 1);
	near = strlen(name) >= 3 ? cli_nearest(name, n, any_name, NULL) : NULL;
	cli_message("unknown microarchitecture '%s'%s%s%s; known: %s all", name,
		    near ? " (did you mean " : "", near ? near : "", near ? "?)" : "", list.data);
	text_free(&list);
	return NULL;
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

static int add_name(struct archlist *list, const char *name)
{
	const struct tact_arch *arch;

	if (!strcmp(name, "all")) {
		int status = 0;

		for (arch = tact_arch_next(NULL); arch && !status; arch = tact_arch_next(arch))
			if (list->is_any_set || tact_arch_isa(arch) == tact_isa_default())
				status = add(list, arch);
		return status;
	}
	arch = archlist_find(name);
	return arch ? add(list, arch) : CLI_USAGE;
}

static int add_names(struct archlist *list, const char *names)
{
	char *copy = strdup(names), *rest = copy, *name;
	int status = 0;

	if (!copy)
		cli_out_of_memory();
	while (!status && (name = strsep(&rest, ",")))
		if (*name)
			status = add_name(list, name);
	free(copy);
	if (!status && !list->n) {
		cli_message("--arch: '%s' contains no name", names);
		status = CLI_USAGE;
	}
	return status;
}

static int add_this_cpu(struct archlist *list, bool is_quiet)
{
	const struct tact_arch *arch = tact_arch_host();

	if (!arch) {
		arch = tact_arch_find("SKL");
		if (!is_quiet)
			cli_message("this CPU is unknown; predicting for %s (%s)",
				    tact_arch_name(arch), tact_arch_full_name(arch));
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
	int status = names ? add_names(list, names) : add_this_cpu(list, is_quiet);

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
