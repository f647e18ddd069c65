/* SPDX-License-Identifier: MIT
 *
 * tact archs NAME: all parameters of a CPU, and where they come from.
 */
#include <string.h>

#include "archs.h"
#include "base/tabular.h"
#include "common/cli.h"

/* A parameter and its CPU. */
struct row {
	const char *arch;
	struct tact_param param;
};

static struct cell get_measured(const struct cell_at *at)
{
	const struct row *row = at->row;

	return cell_bool(!row->param.is_unmeasured);
}

static const struct column columns[] = {
	{NULL, "arch", COLUMN_FIELD(struct row, arch, STRING)},
	{NULL, "parameter", COLUMN_FIELD(struct row, param.name, CHARS)},
	{NULL, "value", COLUMN_FIELD(struct row, param.value, CHARS)},
	{NULL, "explanation", COLUMN_FIELD(struct row, param.help, CHARS)},
	{NULL, "from", COLUMN_FIELD(struct row, param.from, CHARS)},
	{NULL, "source", COLUMN_FIELD(struct row, param.source, CHARS)},
	{NULL, "measured", .get = get_measured},
	{NULL, "models", COLUMN_FIELD(struct row, param.models, CHARS)},
};

/* In the form that --params reads; in brackets the CPU that the value is inherited from, and its
 * source.
 */
static void show_param(const struct row *row, struct text *out)
{
	const struct tact_param *p = &row->param;
	bool is_own = !strcmp(p->from, row->arch);
	size_t start = out->size;

	text_printf(out, "%s = %s", p->name, p->value);
	text_pad(out, 30, start);
	text_printf(out, "  # %s [%s%s%s]\n", p->help, is_own ? "" : p->from,
		    is_own || !*p->source ? "" : ", ", p->source);
}

static void show_unmeasured(const struct tact_arch *arch, struct text *out)
{
	struct tact_param param = TACT_PARAM_INIT;
	bool is_any = false;

	for (size_t i = 0; tact_arch_param(arch, i, &param); i++) {
		if (!param.is_unmeasured)
			continue;
		text_printf(out, "%s %s", is_any ? "," : "# never measured:", param.name);
		is_any = true;
	}
	text_add(out, is_any ? "\n" : "");
}

static void show_text(const struct tact_arch *arch, struct text *out)
{
	struct row row = {.arch = tact_arch_name(arch), .param.size = sizeof(row.param)};
	const char *base = tact_arch_base(arch);
	char aliases[512];

	text_printf(out, "# %s: %s, LLVM's %s; %u instruction forms\n", tact_arch_name(arch),
		    tact_arch_full_name(arch), tact_arch_llvm_name(arch),
		    tact_arch_form_count(arch));
	text_printf(out, "# %s%s%sin brackets: %sthe source of the value\n",
		    *base ? "based on " : "", base, *base ? "; " : "",
		    *base ? "the microarchitecture that the value is inherited from, and " : "");
	if (tact_arch_aliases(arch, aliases, sizeof(aliases)))
		text_printf(out, "# other names: %s\n", aliases);
	text_printf(out, "# verified: %s%s%s%s\n",
		    *tact_arch_verified_on(arch) ? tact_arch_verified_on(arch) : "never measured",
		    *tact_arch_verified_by(arch) ? " (" : "", tact_arch_verified_by(arch),
		    *tact_arch_verified_by(arch) ? ")" : "");
	if (*tact_arch_port_names(arch))
		text_printf(out, "# ports: %s\n", tact_arch_port_names(arch));
	for (size_t i = 0; tact_arch_param(arch, i, &row.param); i++)
		show_param(&row, out);
	show_unmeasured(arch, out);
}

void archs_show(const struct archs *a, struct text *out)
{
	struct table table = archs_table(a, columns, CLI_ARRAY_SIZE(columns), "parameter", out);

	for (size_t i = 0; i < a->list.n; i++) {
		struct row row = {.arch = tact_arch_name(a->list.arch[i]),
				  .param.size = sizeof(row.param)};

		if (a->format == FORMAT_TEXT) {
			show_text(a->list.arch[i], out);
			continue;
		}
		if (!i)
			table_header(&table);
		for (size_t k = 0; tact_arch_param(a->list.arch[i], k, &row.param); k++)
			table_row(&table, &row);
	}
	table_fini(&table);
}
