/* SPDX-License-Identifier: MIT
 *
 * tact dataset import, merge and export: what goes into a store and what comes out.
 */
#include <string.h>
#include <unistd.h>

#include "common/cli.h"
#include "datasets.h"

enum { SHOWN_LINES = 10 };

/* A file that is being imported. */
struct importer {
	const struct dataset *d;
	const char *path;
	int64_t bad;
	struct progress progress;
};

static void on_bad_line(void *arg, uint64_t line, const char *why)
{
	struct importer *in = arg;
	struct text text = {0};

	if (in->bad++ >= SHOWN_LINES && !in->d->is_verbose)
		return;
	cli_place(&text, in->path, line, why);
	text_to_stderr(&text);
	text_free(&text);
}

static void on_row(void *arg, int64_t rows)
{
	struct importer *in = arg;

	progress_show(&in->progress, (uint64_t)rows);
}

static void add_count(struct text *out, int64_t n, const char *what)
{
	if (n)
		text_printf(out, ", %lld %s", (long long)n, what);
}

static void report(const struct importer *in, const struct tact_imported *n)
{
	struct text text = {0};

	if (n->bad + n->empty > SHOWN_LINES && !in->d->is_verbose)
		cli_message("%s: %lld more such lines; -v shows all", in->path,
			    (long long)(n->bad + n->empty) - SHOWN_LINES);
	if (in->d->is_quiet)
		return;
	text_printf(&text, "%lld row%s, %lld new block%s", (long long)n->rows,
		    n->rows == 1 ? "" : "s", (long long)n->blocks, n->blocks == 1 ? "" : "s");
	add_count(&text, n->sources, "with an application");
	add_count(&text, n->categories, "with a category");
	add_count(&text, n->measurements, "with a measurement");
	add_count(&text, n->predictions, "with a prediction");
	add_count(&text, n->empty, "without hex digits, left out");
	add_count(&text, n->bad, "bad");
	cli_message("%s: %s", in->path, cli_string(&text));
	text_free(&text);
}

static void on_open(void *arg, const struct tact_records *records,
		    const struct tact_machine *machine)
{
	const struct importer *in = arg;

	if (in->d->is_quiet)
		return;
	cli_message("%s: %s", in->path, tact_records_description(records));
	if (!tact_records_has_cycles(records) || tact_records_has_machines(records))
		return;
	cli_message("%s: measured on '%s'%s%s%s", in->path, machine->brand,
		    in->d->machine ? "" : ", after the name of the file (set it with --machine)",
		    *machine->arch ? ", "
				   : ", of an unknown microarchitecture (set it with --arch)",
		    machine->arch);
}

static const char *advice(const char *path, const char *why)
{
	if (tact_store_is_store(path))
		return "; 'tact dataset merge' adds a store";
	if (strstr(why, "ELF"))
		return "; blocks of a program come from 'tact collect'";
	if (strstr(why, "does not name"))
		return "; say --model";
	return "";
}

static void complain(const struct importer *in, const struct tact_imported *n,
		     const struct tact_diag *diag)
{
	struct text text = {0};

	if (!n->is_opened) {
		cli_place(&text, in->path, diag->line, diag->text);
		text.size--; /* the newline */
		text_printf(&text, "%s\n", advice(in->path, diag->text));
		text_to_stderr(&text);
		text_free(&text);
	} else if (n->is_store_failed) {
		cli_message("%s: %s; what was written is kept; import %s again to complete it",
			    in->d->paths[1], diag->text, in->path);
	} else {
		cli_message("%s: %s", in->path, diag->text);
	}
}

static int import_file(const struct dataset *d, struct tact_store *store, const char *path)
{
	struct importer in = {.d = d, .path = path};
	const struct tact_records_options records = {
		.size = sizeof(records),
		.unit = (enum tact_unit)d->unit,
		.mode = d->mode < 0 ? TACT_MODE_AUTO : (enum tact_mode)d->mode,
		.init = d->init < 0 ? TACT_INIT_SAME : (enum tact_init)d->init,
		.app = d->app,
		.classifier = d->classifier,
		.arch = d->arch,
		.model = d->model,
		.version = d->version,
		.is_second_weight = d->is_second_weight,
	};
	const struct tact_import_options opt = {
		.size = sizeof(opt),
		.records = &records,
		.machine = d->machine,
		.on_open = on_open,
		.on_bad_line = on_bad_line,
		.on_row = on_row,
		.arg = &in,
	};
	struct tact_imported n;
	struct tact_diag diag = {0};
	int status;

	progress_init(&in.progress, "rows", 0, d->is_quiet);
	status = tact_store_import_file(store, path, &opt, &n, &diag);
	progress_clear(&in.progress);
	if (status < 0)
		complain(&in, &n, &diag);
	if (n.is_opened && !n.is_store_failed)
		report(&in, &n);
	return status < 0 || n.bad ? CLI_FAILED : CLI_GOOD;
}

/* NULL: the message was given. */
static struct tact_store *open_target(const struct dataset *d)
{
	struct tact_store *store;
	struct tact_diag diag = {0};

	if (tact_store_open(&store, d->paths[1], TACT_STORE_CREATE, &diag) >= 0)
		return store;
	cli_message("%s: %s", d->paths[1], diag.text);
	return NULL;
}

int dataset_import(const struct dataset *d)
{
	struct tact_store *store = open_target(d);
	int result = CLI_GOOD;

	if (!store)
		return CLI_FAILED;
	for (size_t i = 2; i < d->n_paths; i++)
		if (import_file(d, store, d->paths[i]))
			result = CLI_FAILED;
	tact_store_close(store);
	return result;
}

/* Records on their way out. */
struct exporter {
	struct output out;
	struct progress progress;
	uint64_t n;
};

static int export_part(void *arg, const char *data, size_t size)
{
	struct exporter *e = arg;
	const int status = output_sink(&e->out, data, size);

	for (size_t i = 0; i < size; i++)
		e->n += data[i] == '\n';
	progress_show(&e->progress, e->n);
	return status;
}

int dataset_export(const struct dataset *d)
{
	const struct tact_store_filter filter = dataset_filter(d);
	const struct tact_export_options opt = {
		.size = sizeof(opt),
		.filter = &filter,
		.kind = (enum tact_export_kind)d->record,
		.is_json = d->format == FORMAT_JSON,
	};
	struct tact_diag diag = {0};
	struct exporter e = {.n = 0};
	struct tact_store *store;
	int status;

	if (d->format == FORMAT_TEXT) {
		cli_message("export writes csv or json, not text");
		return CLI_USAGE;
	}
	store = dataset_open(d->paths[1]);
	if (!store)
		return CLI_FAILED;
	if (output_open(&e.out, d->output)) {
		tact_store_close(store);
		return CLI_FAILED;
	}
	progress_init(&e.progress, "records", 0, d->is_quiet);
	status = tact_store_export(store, &opt, export_part, &e, &diag);
	progress_clear(&e.progress);
	if (status < 0) {
		output_abandon(&e.out);
		cli_complain(d->paths[1], &diag, status, CLI_FAILED);
	}
	if (status > 0)
		cli_message("%s: rows that cannot be read, left out: %d", d->paths[1], status);
	tact_store_close(store);
	return output_close(&e.out) || status ? CLI_FAILED : CLI_GOOD;
}
