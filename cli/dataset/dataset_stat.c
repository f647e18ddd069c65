/* SPDX-License-Identifier: MIT
 *
 * tact dataset stat: how many rows of which kind.
 */
#include <stdlib.h>
#include <string.h>

#include "base/tabular.h"
#include "common/cli.h"
#include "common/progress.h"
#include "common/terminal.h"
#include "datasets.h"

static const char *const kind_names[TACT_N_COUNT_KINDS] = {
	[TACT_COUNT_BLOCKS] = "blocks",		  [TACT_COUNT_APPS] = "applications",
	[TACT_COUNT_CATEGORIES] = "categories",	  [TACT_COUNT_MEASUREMENTS] = "measurements",
	[TACT_COUNT_PREDICTIONS] = "predictions", [TACT_COUNT_HOSTS] = "hosts",
};

struct statistics {
	struct output *out;
	struct text text;
	struct table table;
	enum tact_count_kind kind;
	struct tact_count *rows; /* owned, with their texts: of the kind, until all are known */
	size_t n, capacity;
};

static struct cell get_kind(const struct cell_at *at)
{
	const struct statistics *s = at->table->context;

	return cell_string(kind_names[s->kind]);
}

static struct cell get_classifier(const struct cell_at *at)
{
	const struct tact_count *c = at->row;

	return cell_printf(at->table, "%s%s%s", c->classifier, *c->arch ? " on " : "", c->arch);
}

static struct cell get_model(const struct cell_at *at)
{
	const struct tact_count *c = at->row;

	return cell_printf(at->table, "%s %s", c->model, c->version);
}

enum {
	APPS = 1 << TACT_COUNT_APPS,
	CATEGORIES = 1 << TACT_COUNT_CATEGORIES,
	MEASUREMENTS = 1 << TACT_COUNT_MEASUREMENTS,
	PREDICTIONS = 1 << TACT_COUNT_PREDICTIONS,
	HOSTS = 1 << TACT_COUNT_HOSTS,
	RESULTS = MEASUREMENTS | PREDICTIONS,
};

#define FIELD(member, kind) COLUMN_FIELD(struct tact_count, member, kind)
#define STRING(member)	    FIELD(member, STRING), .flags = COLUMN_SKIP_EMPTY

/* clang-format off: a column stays together */
static const struct column columns[] = {
	{NULL, "of", .get = get_kind},
	{"Application", "app", STRING(app), .none = "(none)", .width = 24, .least = 12,
	 .views = APPS},
	{"Category", "category", STRING(category), .width = 24, .least = 12, .views = CATEGORIES},
	{NULL, "classifier", STRING(classifier)},
	{"Host", NULL, STRING(host), .none = "(not known)", .width = 16, .least = 8,
	 .views = HOSTS},
	{"Kernel", NULL, STRING(kernel), .none = "-", .width = 12, .least = 8, .gap = 1, .rank = 2,
	 .views = HOSTS},
	{"Machine", "machine", STRING(machine), .width = 24, .least = 12, .gap = 1,
	 .views = MEASUREMENTS | HOSTS},
	{"Microcode", NULL, STRING(microcode), .none = "-", .width = 10, .gap = 1, .rank = 1,
	 .views = HOSTS},
	{"Model", NULL, .get = get_model, .width = 24, .least = 12, .views = PREDICTIONS},
	{NULL, "model", STRING(model)},
	{NULL, "version", STRING(version)},
	{"CPU", "arch", STRING(arch), .none = "-", .width = 5, .gap = 1, .views = RESULTS | HOSTS},
	{"Counter", NULL, STRING(rung), .none = "-", .width = 7, .gap = 1, .views = HOSTS},
	{"Mode", "mode", STRING(mode), .width = 7, .gap = 1, .views = RESULTS},
	{"Init", "init", STRING(init), .width = 6, .gap = 1, .views = RESULTS, .rank = 2},
	{"Status", "status", STRING(status), .width = 13, .gap = 1, .views = RESULTS, .rank = 1},
	{"Blocks", NULL, FIELD(n, INT64), .width = 10, .gap = 1, .views = APPS | CATEGORIES},
	{"Measurements", NULL, FIELD(n, INT64), .width = 12, .gap = 1,
	 .views = MEASUREMENTS | HOSTS},
	{"Predictions", NULL, FIELD(n, INT64), .width = 12, .gap = 1, .views = PREDICTIONS},
	{NULL, "count", FIELD(n, INT64)},
	{"Weight", "weight", FIELD(weight, DOUBLE), .form = FORM_EXACT, .decimals = -6, .width = 13,
	 .gap = 1, .views = APPS, .rank = 1},
	{"Classifier", NULL, .get = get_classifier, .views = CATEGORIES},
	{NULL, "host", STRING(host)},
	{NULL, "kernel", STRING(kernel)},
	{NULL, "microcode", STRING(microcode)},
	{NULL, "rung", STRING(rung)},
};
/* clang-format on */

/* ---- text: columns are as wide as the rows need ---- */

enum { N_TEXTS = 14 };

static void texts_of(struct tact_count *c, const char **texts[N_TEXTS])
{
	const char **all[N_TEXTS] = {&c->app,	    &c->classifier, &c->category, &c->machine,
				     &c->model,	    &c->version,    &c->arch,	  &c->mode,
				     &c->init,	    &c->status,	    &c->host,	  &c->kernel,
				     &c->microcode, &c->rung};

	memcpy(texts, all, sizeof(all));
}

static void keep(struct statistics *s, const struct tact_count *count)
{
	const char **texts[N_TEXTS];

	if (s->n == s->capacity) {
		s->capacity = s->capacity ? 2 * s->capacity : 64;
		s->rows = cli_realloc(s->rows, s->capacity * sizeof(*s->rows));
	}
	s->rows[s->n] = *count;
	texts_of(&s->rows[s->n++], texts);
	for (int i = 0; i < N_TEXTS; i++) {
		const size_t size = strlen(*texts[i]) + 1;

		*texts[i] = memcpy(cli_realloc(NULL, size), *texts[i], size);
	}
}

static void write_kept(struct statistics *s)
{
	const char **texts[N_TEXTS];

	memset(s->table.fitted, 0, sizeof(s->table.fitted));
	s->table.dropped = 0;
	for (size_t i = 0; i < s->n; i++)
		table_fit(&s->table, &s->rows[i]);
	if (s->n) {
		text_add(&s->text, "\n");
		table_header(&s->table);
	}
	for (size_t i = 0; i < s->n; i++) {
		table_row(&s->table, &s->rows[i]);
		texts_of(&s->rows[i], texts);
		for (int k = 0; k < N_TEXTS; k++)
			free((char *)*texts[k]);
	}
	s->n = 0;
}

static int add(void *context, const struct tact_count *count)
{
	struct statistics *s = context;

	if (s->table.format == FORMAT_CSV || s->table.format == FORMAT_JSON)
		table_row(&s->table, count);
	else if (s->kind == TACT_COUNT_BLOCKS)
		text_printf(&s->text, "Blocks: %lld\n", (long long)count->n);
	else
		keep(s, count);
	if (s->text.size > 1 << 16)
		output_write(s->out, &s->text);
	return 0;
}

int dataset_stat(const struct dataset *d)
{
	struct output out;
	struct statistics s = {.out = &out};
	struct tact_store *store = dataset_open(d->paths[1]);
	struct tact_diag diag = {0};
	struct progress progress;
	int status = 0;

	s.table = (struct table){.columns = columns,
				 .n_columns = CLI_ARRAY_SIZE(columns),
				 .format = d->format,
				 .out = &s.text,
				 .screen = terminal_width(d->output),
				 .is_cut = terminal_is_output(d->output),
				 .schema = "tact.dataset.stat/1",
				 .context = &s};
	if (!store)
		return CLI_FAILED;
	if (output_open(&out, d->output)) {
		tact_store_close(store);
		return CLI_FAILED;
	}
	progress_init(&progress, "tables", TACT_N_COUNT_KINDS, d->is_quiet);
	if (d->format == FORMAT_CSV)
		table_header(&s.table);
	for (int kind = 0; kind < TACT_N_COUNT_KINDS && status >= 0; kind++) {
		s.kind = (enum tact_count_kind)kind;
		s.table.view = 1u << kind;
		progress_show(&progress, (uint64_t)kind);
		status = tact_store_count(store, s.kind, add, &s, &diag);
		write_kept(&s);
	}
	progress_clear(&progress);
	if (status < 0)
		cli_message("%s: %s", d->paths[1], diag.text);
	output_write(&out, &s.text);
	table_fini(&s.table);
	text_free(&s.text);
	free(s.rows);
	tact_store_close(store);
	return output_close(&out) || status < 0 ? CLI_FAILED : CLI_GOOD;
}
