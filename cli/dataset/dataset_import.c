/* SPDX-License-Identifier: MIT
 *
 * tact dataset import and merge: what goes into a store.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "datasets.h"

enum { SHOWN_LINES = 10 };

struct machine_id {
	struct tact_machine machine;
	int64_t id;
};

struct importer {
	const struct dataset *d;
	struct tact_store *store;
	const char *path;
	char origin[TACT_STORE_NAME_MAX + 1];
	struct machine_id *machines; /* owned: those seen in the file */
	size_t n_machines;
	int64_t own_machine; /* of rows that name none; 0: not looked up yet */
	int64_t rows, blocks, sources, categories, measurements, predictions, bad;
	bool is_store_failed;
};

/* The file's name as a store may hold it. */
static void set_origin(struct importer *in)
{
	snprintf(in->origin, sizeof(in->origin), "%s", dataset_file_name(in->path));
	for (char *p = in->origin; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
}

/* The machine of rows that do not name theirs. */
static void default_machine(const struct importer *in, struct tact_machine *machine)
{
	const char *name = in->d->machine ? in->d->machine : in->origin;
	size_t size = in->d->machine || !strchr(name + 1, '.') ? strlen(name)
							       : strcspn(name + 1, ".") + 1;

	*machine = (struct tact_machine){.size = sizeof(*machine)};
	snprintf(machine->brand, sizeof(machine->brand), "%.*s", (int)size, name);
	snprintf(machine->arch, sizeof(machine->arch), "%s", in->d->arch ? in->d->arch : "");
}

static bool same_machine(const struct tact_machine *a, const struct tact_machine *b)
{
	return a->family == b->family && a->model == b->model && a->stepping == b->stepping &&
	       a->is_virtual == b->is_virtual && !strcmp(a->brand, b->brand) &&
	       !strcmp(a->vendor, b->vendor) && !strcmp(a->microcode, b->microcode) &&
	       !strcmp(a->arch, b->arch);
}

static int find_machine(struct importer *in, const struct tact_record *record, int64_t *id,
			struct tact_diag *diag)
{
	struct tact_machine machine;
	int status;

	if (!record->has_machine && in->own_machine) {
		*id = in->own_machine;
		return 0;
	}
	if (!record->has_machine) {
		default_machine(in, &machine);
		status = tact_store_put_machine(in->store, &machine, &in->own_machine, diag);
		*id = in->own_machine;
		return status;
	}
	for (size_t i = 0; i < in->n_machines; i++)
		if (same_machine(&in->machines[i].machine, &record->machine)) {
			*id = in->machines[i].id;
			return 0;
		}
	status = tact_store_put_machine(in->store, &record->machine, id, diag);
	if (status < 0)
		return status;
	in->machines = cli_realloc(in->machines, (in->n_machines + 1) * sizeof(*in->machines));
	in->machines[in->n_machines++] = (struct machine_id){record->machine, *id};
	return 0;
}

static int put_record(struct importer *in, const struct tact_record *record, struct tact_diag *diag)
{
	struct tact_store_import import = record->import;
	int64_t block = 0;
	int status = tact_store_put_block(in->store, record->code, record->code_size, &block, diag);

	if (status < 0)
		return status;
	in->blocks += status;
	if (status >= 0 && record->has_source) {
		status = tact_store_add_source(in->store, block, record->app, record->weight, diag);
		in->sources += status >= 0;
	}
	if (status >= 0 && record->has_category) {
		status = tact_store_put_category(in->store, block, record->classifier,
						 record->category_arch, record->category, diag);
		in->categories += status >= 0;
	}
	if (status >= 0 && record->has_measurement) {
		status = find_machine(in, record, &import.machine, diag);
		if (status >= 0)
			status = tact_store_put_import(in->store, block, &record->measurement,
						       &import, diag);
		in->measurements += status >= 0;
	}
	if (status >= 0 && record->has_prediction) {
		status = tact_store_put_prediction(in->store, block, &record->prediction, diag);
		in->predictions += status >= 0;
	}
	return status;
}

static void bad_line(struct importer *in, uint64_t line, const char *why)
{
	struct text text = {0};

	if (in->bad++ >= SHOWN_LINES && !in->d->is_verbose)
		return;
	cli_place(&text, in->path, line, why);
	text_to_stderr(&text);
	text_free(&text);
}

/* All rows.  Returns < 0 only for what ends the import. */
static int put_all(struct importer *in, struct tact_records *records, struct tact_diag *diag)
{
	struct tact_record record;
	int status;

	while ((status = tact_records_next(records, &record, diag))) {
		if (status == -TACT_E_FORMAT) {
			bad_line(in, diag->line, diag->text);
			continue;
		}
		if (status < 0)
			return status;
		in->rows++;
		status = put_record(in, &record, diag);
		if (status == -TACT_E_INVAL)
			bad_line(in, record.line, diag->text);
		else if (status < 0)
			break;
	}
	in->is_store_failed = status < 0;
	return status;
}

static void add_count(struct text *out, int64_t n, const char *what)
{
	if (n)
		text_printf(out, ", %lld %s", (long long)n, what);
}

static void report(const struct importer *in)
{
	struct text text = {0};

	if (in->bad > SHOWN_LINES && !in->d->is_verbose)
		cli_message("%s: %lld more bad lines; -v shows all", in->path,
			    (long long)in->bad - SHOWN_LINES);
	if (in->d->is_quiet)
		return;
	text_printf(&text, "%lld row%s, %lld new block%s", (long long)in->rows,
		    in->rows == 1 ? "" : "s", (long long)in->blocks, in->blocks == 1 ? "" : "s");
	add_count(&text, in->sources, "with an application");
	add_count(&text, in->categories, "with a category");
	add_count(&text, in->measurements, "with a measurement");
	add_count(&text, in->predictions, "with a prediction");
	add_count(&text, in->bad, "bad");
	text_add_bytes(&text, "", 1);
	cli_message("%s: %s", in->path, text.data);
	text_free(&text);
}

static void say_what(const struct importer *in, const struct tact_records *records)
{
	struct tact_machine machine;

	if (in->d->is_quiet)
		return;
	cli_message("%s: %s", in->path, tact_records_description(records));
	if (!tact_records_has_cycles(records) || tact_records_has_machines(records))
		return;
	default_machine(in, &machine);
	cli_message("%s: measured on '%s'%s%s%s", in->path, machine.brand,
		    in->d->machine ? "" : ", by the file's name (--machine)",
		    *machine.arch ? ", " : ", of no known architecture (--arch)", machine.arch);
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

static int import_file(struct importer *in)
{
	const struct dataset *d = in->d;
	const struct tact_records_options options = {
		.size = sizeof(options),
		.unit = (enum tact_unit)d->unit,
		.mode = d->mode < 0 ? TACT_MODE_AUTO : (enum tact_mode)d->mode,
		.init = d->init < 0 ? TACT_INIT_SAME : (enum tact_init)d->init,
		.origin = in->origin,
		.app = d->app,
		.classifier = d->classifier,
		.arch = d->arch,
		.model = d->model,
		.version = d->version,
		.is_second_weight = d->is_second_weight,
	};
	struct tact_records *records;
	struct tact_diag diag = {0};
	int status = tact_records_open(&records, in->path, &options, &diag), end;

	if (status < 0) {
		struct text text = {0};

		cli_place(&text, in->path, diag.line, diag.text);
		text.size--; /* the newline */
		text_printf(&text, "%s\n", advice(in->path, diag.text));
		text_to_stderr(&text);
		text_free(&text);
		return CLI_FAILED;
	}
	say_what(in, records);
	status = tact_store_begin(in->store, &diag);
	in->is_store_failed = status < 0;
	if (status >= 0)
		status = put_all(in, records, &diag);
	/* What could be read of a file that fails is kept. */
	if (!in->is_store_failed) {
		end = tact_store_end(in->store, status < 0 ? NULL : &diag);
		in->is_store_failed = end < 0;
		status = status < 0 ? status : end;
	}
	tact_records_close(records);
	if (in->is_store_failed)
		cli_message("%s: %s; what was written before is kept, and importing %s again "
			    "completes it",
			    d->paths[1], diag.text, in->path);
	else if (status < 0)
		cli_message("%s: %s", in->path, diag.text);
	if (!in->is_store_failed)
		report(in);
	return status < 0 || in->bad ? CLI_FAILED : CLI_GOOD;
}

int dataset_import(const struct dataset *d)
{
	struct tact_store *store;
	struct tact_diag diag = {0};
	int result = CLI_GOOD;

	if (tact_store_open(&store, d->paths[1], TACT_STORE_CREATE, &diag) < 0) {
		cli_message("%s: %s", d->paths[1], diag.text);
		return CLI_FAILED;
	}
	for (size_t i = 2; i < d->n_paths; i++) {
		struct importer in = {.d = d, .store = store, .path = d->paths[i]};

		set_origin(&in);
		if (import_file(&in))
			result = CLI_FAILED;
		free(in.machines);
	}
	tact_store_close(store);
	return result;
}

int dataset_merge(const struct dataset *d)
{
	struct tact_store *store;
	struct tact_diag diag = {0};
	int result = CLI_GOOD;

	if (tact_store_open(&store, d->paths[1], TACT_STORE_CREATE, &diag) < 0) {
		cli_message("%s: %s", d->paths[1], diag.text);
		return CLI_FAILED;
	}
	for (size_t i = 2; i < d->n_paths; i++) {
		struct tact_merge merge = {.size = sizeof(merge)};

		if (tact_store_merge(store, d->paths[i], &merge, &diag) < 0) {
			cli_message("%s: %s", d->paths[i], diag.text);
			result = CLI_FAILED;
		} else if (!d->is_quiet) {
			cli_message("%s: %lld new block%s; added or replaced: %lld applications, "
				    "%lld categories, %lld measurements, %lld predictions",
				    d->paths[i], (long long)merge.blocks,
				    merge.blocks == 1 ? "" : "s", (long long)merge.sources,
				    (long long)merge.categories, (long long)merge.measurements,
				    (long long)merge.predictions);
		}
	}
	tact_store_close(store);
	return result;
}
