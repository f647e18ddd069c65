/* SPDX-License-Identifier: MIT
 *
 * tact dataset lint: what cannot be right, where it is and what to do about it.
 */
#include <tact-program/lint.h>
#include <tact/input.h>

#include "base/tabular.h"
#include "common/cli.h"
#include "datasets.h"

enum { SHOWN_FINDINGS = 10, WRITE_AT = 1 << 16 };

struct printer {
	const struct dataset *d;
	struct output *out;
	struct text text;
	struct table table;
	size_t found[TACT_N_LINT_CHECKS];
	struct progress progress;
};

/* ---- findings ---- */

static void add_text(struct text *out, const char *check, const struct tact_finding *f)
{
	text_printf(out, "%s: ", check);
	if (f->code) {
		text_hex(out, f->code, f->code_size);
		text_add(out, ": ");
	}
	if (*f->machine)
		text_printf(out, "on %s%s%s%s%s: ", f->machine, *f->mode ? ", " : "", f->mode,
			    *f->origin ? ", from " : "", f->origin);
	if (*f->app)
		text_printf(out, "in %s: ", f->app);
	text_printf(out, "%s; %s\n", f->what, f->todo);
}

static struct cell get_check(const struct cell_at *at)
{
	const struct tact_finding *f = at->row;

	return cell_string(tact_lint_name((unsigned)__builtin_ctz(f->check)));
}

static struct cell get_hex(const struct cell_at *at)
{
	const struct tact_finding *f = at->row;

	return f->code ? cell_hex(f->code, f->code_size) : cell_none();
}

#define TEXT(name, member)                                                                         \
	{                                                                                          \
		NULL, name, COLUMN_FIELD(struct tact_finding, member, STRING),                     \
			.flags = COLUMN_SKIP_EMPTY                                                 \
	}

/* For programs. */
static const struct column columns[] = {
	{NULL, "check", .get = get_check},
	{NULL, "hex", .get = get_hex},
	TEXT("machine", machine),
	TEXT("arch", arch),
	TEXT("mode", mode),
	TEXT("origin", origin),
	TEXT("app", app),
	{NULL, "value", COLUMN_FIELD(struct tact_finding, value, DOUBLE)},
	{NULL, "bound", COLUMN_FIELD(struct tact_finding, bound, DOUBLE)},
	TEXT("what", what),
	TEXT("todo", todo),
};

/* People need only a few findings of each kind. */
static bool is_cut(const struct dataset *d)
{
	return d->format != FORMAT_CSV && d->format != FORMAT_JSON && !d->is_verbose;
}

static int report(void *context, const struct tact_finding *f)
{
	struct printer *p = context;
	unsigned check = (unsigned)__builtin_ctz(f->check);

	if (p->found[check]++ >= SHOWN_FINDINGS && is_cut(p->d))
		return 0;
	if (p->table.format == FORMAT_TEXT)
		add_text(&p->text, tact_lint_name(check), f);
	else
		table_row(&p->table, f);
	if (p->text.size > WRITE_AT)
		output_write(p->out, &p->text);
	return p->out->failed;
}

static void report_unknown(void *context, const char *machine, enum tact_mode mode)
{
	const struct printer *p = context;

	if (!p->d->is_quiet)
		cli_message("%s: the microarchitecture of '%s' (%s) is unknown: units and bounds "
			    "are not checked",
			    p->d->paths[1], machine, tact_mode_name(mode));
}

static void show_progress(void *context, uint64_t done)
{
	progress_show(&((struct printer *)context)->progress, done);
}

/* ---- lists of blocks ---- */

static int read_set(struct tact_block_set *set, const char *path, bool is_quiet)
{
	struct tact_input *input;
	struct tact_region region = TACT_REGION_INIT;
	struct tact_diag diag = {0};
	size_t bad = 0;
	int status = tact_input_open(&input, path, NULL, &diag);

	if (status < 0) {
		cli_message("%s: %s", path, diag.text);
		return CLI_FAILED;
	}
	while ((status = tact_input_next(input, &region, &diag)) > 0 || status == -TACT_E_FORMAT ||
	       status == -TACT_E_NO_DATA) {
		if (status < 0)
			bad++;
		else if (tact_block_set_add(set, region.code, region.code_size) == -TACT_E_NOMEM)
			cli_out_of_memory();
	}
	tact_input_close(input);
	if (status < 0) {
		cli_message("%s: %s", path, diag.text);
		return CLI_FAILED;
	}
	if (bad && !is_quiet)
		cli_message("%s: %zu lines are not blocks", path, bad);
	return CLI_GOOD;
}

/* ---- the action ---- */

/* How many there are of each kind.  Numbers that were never confirmed may be right. */
static int conclude(const struct printer *p)
{
	const unsigned doubts = TACT_LINT_UNCONFIRMED;
	struct text text = {0};
	size_t all = 0, wrong = 0;

	for (unsigned i = 0; i < TACT_N_LINT_CHECKS; i++) {
		if (p->found[i])
			text_printf(&text, "%s%zu %s", all ? ", " : "", p->found[i],
				    tact_lint_name(i));
		if (p->found[i] > SHOWN_FINDINGS && is_cut(p->d))
			text_printf(&text, " (%d shown; -v shows all)", SHOWN_FINDINGS);
		all += p->found[i];
		wrong += doubts >> i & 1 ? 0 : p->found[i];
	}
	if (!p->d->is_quiet)
		cli_message("%s: %s%s", p->d->paths[1], all ? "found: " : "nothing found",
			    cli_string(&text));
	text_free(&text);
	return wrong ? CLI_FAILED : CLI_GOOD;
}

static int print_findings(struct printer *p, struct tact_store *store,
			  const struct tact_block_set *suspects)
{
	const struct dataset *d = p->d;
	const struct tact_store_filter filter = dataset_filter(d);
	const struct tact_lint_options options = {
		.size = sizeof(options),
		.checks = d->checks,
		.tolerance = d->tolerance,
		.filter = &filter,
		.suspects = suspects,
		.report = report,
		.unknown = report_unknown,
		.progress = show_progress,
		.context = p,
	};
	struct tact_diag diag = {0};
	int status;

	if (output_open(p->out, d->output))
		return CLI_FAILED;
	p->table = (struct table){.columns = columns,
				  .n_columns = CLI_ARRAY_SIZE(columns),
				  .format = d->format < 0 ? FORMAT_TEXT : d->format,
				  .out = &p->text,
				  .schema = "tact.dataset.lint/1"};
	if (d->format == FORMAT_CSV)
		table_header(&p->table);
	progress_init(&p->progress, "blocks and rows", 0, d->is_quiet);
	status = tact_lint(store, &options, &diag);
	progress_clear(&p->progress);
	output_write(p->out, &p->text);
	table_fini(&p->table);
	text_free(&p->text);
	if (status < 0) {
		output_abandon(p->out);
		return cli_complain(d->paths[1], &diag, status, CLI_FAILED);
	}
	if (output_close(p->out))
		return CLI_FAILED;
	if (status > 0)
		cli_message("%s: rows that cannot be read, left out: %d", d->paths[1], status);
	return conclude(p) || status ? CLI_FAILED : CLI_GOOD;
}

int dataset_lint(const struct dataset *d)
{
	struct output out;
	struct printer p = {.d = d, .out = &out};
	struct tact_block_set *suspects = NULL;
	struct tact_store *store;
	int result = CLI_FAILED;

	if (tact_block_set_create(&suspects) < 0)
		cli_out_of_memory();
	if (!d->may_alias || !read_set(suspects, d->may_alias, d->is_quiet)) {
		store = dataset_open(d->paths[1]);
		if (store)
			result = print_findings(&p, store, suspects);
		tact_store_close(store);
	}
	tact_block_set_destroy(suspects);
	return result;
}
