/* SPDX-License-Identifier: MIT
 *
 * The models in one table, one row per model.  There is no other list of them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/model.h"

/* Accepts the model's own name, with parts after a colon if there are any. */
static bool is_named(const struct model_entry *entry, const char *name, const char **parts)
{
	size_t n = strlen(entry->model.name);

	if (strncmp(name, entry->model.name, n) != 0 || (name[n] && name[n] != ':'))
		return false;
	*parts = name[n] ? name + n + 1 : NULL;
	return true;
}

/* Accepts llvm-mca, llvm-mca-19: what the programs are called. */
static bool begins_so(const struct model_entry *entry, const char *name, const char **parts)
{
	*parts = NULL;
	return !strncmp(name, entry->model.name, strlen(entry->model.name)) &&
	       !strpbrk(name, ":=, /");
}

/* A name before = without a colon is that of a command. */
static bool is_command(const struct model_entry *entry, const char *name, const char **parts)
{
	size_t n = strcspn(name, "=:,");

	(void)entry;
	*parts = name + n + 1;
	return n && name[n] == '=';
}

static int no_parts(const char *parts, struct tact_diag *diag)
{
	return parts ? tact_fail(diag, TACT_E_INVAL, "nothing follows the name of this model") : 0;
}

/* clang-format off: one row per model */
#define SIZE sizeof(struct tact_model)
static const struct model_entry registry[] = {
	{{SIZE, "facile", "facile[:PART]...",
	  "analytical bounds of FACILE and more; PART is only=LIST or without=LIST of bounds (the "
	  "columns of 'tact predict -f csv', with + between them), simple-predec, simple-dec, "
	  "exact-ports, paper, or ablations: all variants of the paper's Table 3",
	  TACT_MODEL_TABLES | TACT_MODEL_BOUNDS},
	 .owns = is_named,
	 .check = model_facile_check,
	 .open = model_facile_open,
	 .estimate = model_facile_estimate,
	 .names = model_facile_names},
	{{SIZE, "sim", "sim", "cycle-level pipeline", TACT_MODEL_TABLES | TACT_MODEL_STREAM},
	 .owns = is_named,
	 .check = no_parts,
	 .open = model_sim_open,
	 .close = model_sim_close,
	 .estimate = model_sim_estimate,
	 .stream = tact_stream_create},
	{{SIZE, "mca", "mca[:params=FILE]",
	  "the plain machine of llvm-mca, with the parameters that 'tact tune' learns",
	  TACT_MODEL_PARAMS},
	 .owns = is_named,
	 .check = model_mca_check,
	 .open = model_mca_open,
	 .close = model_mca_close,
	 .estimate = model_mca_estimate},
	{{SIZE, "llvm-mca", "llvm-mca[-VERSION]", "LLVM's analyser, as it is installed",
	  TACT_MODEL_BATCH | TACT_MODEL_PROGRAM},
	 .owns = begins_so,
	 .check = no_parts,
	 .estimate_many = model_llvm_many},
	{{SIZE, "stored", "stored:NAME[@VERSION]", "predictions that a store has",
	  TACT_MODEL_BATCH},
	 .owns = is_named,
	 .check = model_stored_check,
	 .estimate_many = model_stored_many},
	{{SIZE, "column", "column:NAME",
	  "predictions that a column of a CSV has, as 'tact evaluate --rows' writes them",
	  TACT_MODEL_BATCH},
	 .owns = is_named,
	 .check = model_column_check,
	 .estimate_many = model_column_many},
	{{SIZE, "command", "NAME=COMMAND",
	  "a shell's command line that reads hex strings, one per line, and prints a number for "
	  "each, or anything else for a block that it cannot do; TACT_ARCH and TACT_MODE in its "
	  "environment say for which architecture and mode",
	  TACT_MODEL_BATCH | TACT_MODEL_PROGRAM},
	 .owns = is_command,
	 .check = model_command_check,
	 .estimate_many = model_command_many},
};
/* clang-format on */

/* "facile[:PART]..., sim, mca[:params=FILE]" */
static int fail_unknown(const char *name, struct tact_diag *diag)
{
	struct text all = {0};

	for (size_t i = 0; i < ARRAY_SIZE(registry); i++)
		text_printf(&all, "%s%s", i ? ", " : "", registry[i].model.form);
	tact_fail(diag, TACT_E_INVAL, "'%.40s' is not one of %s", name,
		  text_string(&all) ? all.data : "the models");
	text_free(&all);
	return -TACT_E_INVAL;
}

const struct model_entry *model_entry_of(const char *name, const char **parts,
					 struct tact_diag *diag)
{
	for (size_t i = 0; i < ARRAY_SIZE(registry); i++)
		if (registry[i].owns(&registry[i], name, parts))
			return registry[i].check(*parts, diag) < 0 ? NULL : &registry[i];
	fail_unknown(name, diag);
	return NULL;
}

const struct tact_model *tact_model_find(const char *name, struct tact_diag *diag)
{
	const struct model_entry *entry;
	const char *parts;

	if (!name || !*name) {
		tact_fail(diag, TACT_E_INVAL, "a name is empty");
		return NULL;
	}
	entry = model_entry_of(name, &parts, diag);
	return entry ? &entry->model : NULL;
}

const struct tact_model *tact_model_next(const struct tact_model *model)
{
	size_t next = 0;

	while (model && next < ARRAY_SIZE(registry))
		if (&registry[next++].model == model)
			break;
	return next < ARRAY_SIZE(registry) ? &registry[next].model : NULL;
}

/* Only a command has an = before any colon. */
size_t tact_model_title(const char *name)
{
	size_t n = name ? strcspn(name, "=:,") : 0;

	if (!name)
		return 0;

	return name[n] == '=' ? n : strlen(name);
}

/* ---- lists ---- */

static int expand_one(const char *name, int (*add)(void *arg, const char *name), void *arg,
		      struct tact_diag *diag)
{
	const struct model_entry *entry;
	const char *const *names = NULL;
	const char *parts;
	int status = 0;

	if (!*name)
		return tact_fail(diag, TACT_E_INVAL, "a name is empty");
	for (size_t i = 0; i < ARRAY_SIZE(registry) && !names; i++)
		if (registry[i].names && registry[i].owns(&registry[i], name, &parts))
			names = registry[i].names(parts);
	if (names) {
		while (*names && !status)
			status = add(arg, *names++);
		return status;
	}
	entry = model_entry_of(name, &parts, diag);
	return entry ? add(arg, name) : -TACT_E_INVAL;
}

int tact_model_expand(const char *list, int (*add)(void *arg, const char *name), void *arg,
		      struct tact_diag *diag)
{
	int status = 0;

	if (!list || !add)
		return tact_fail(diag, TACT_E_INVAL, "there is no list of models");
	if (tact_model_title(list) < strlen(list))
		return expand_one(list, add, arg, diag); /* a command may have commas */
	do {
		size_t n = strcspn(list, ",");
		char *name = strndup(list, n);

		status = name ? expand_one(name, add, arg, diag)
			      : tact_fail(diag, TACT_E_NOMEM, "out of memory");
		free(name);
		list += n;
	} while (!status && *list++ == ',');
	return status;
}
