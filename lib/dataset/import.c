/* SPDX-License-Identifier: MIT
 *
 * Imports what CSV files say about blocks into a store.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact-program/dataset.h>

#include "base/base.h"
#include "base/file.h"

struct machine_id {
	struct tact_machine machine;
	int64_t id;
};

struct importer {
	struct tact_store *store;
	struct tact_import_options opt;
	char origin[TACT_STORE_NAME_MAX + 1];
	struct machine_id *machines; /* owned: the machines seen in the file */
	size_t n_machines, machines_capacity;
	int64_t own_machine; /* of rows that do not name one; 0: not looked up yet */
	int64_t last_block;  /* of the last measurement; 0: none yet */
	struct tact_measurement last;
	struct tact_imported *n;
};

/* Makes the name of the file fit for a store. */
static void set_origin(struct importer *in, const char *path)
{
	snprintf(in->origin, sizeof(in->origin), "%s",
		 strcmp(path, "-") ? file_base_name(path) : "stdin");
	for (char *p = in->origin; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
}

/* Describes the machine of rows that do not name one. */
static void default_machine(const struct importer *in, struct tact_machine *machine)
{
	const char *name = in->opt.machine ? in->opt.machine : in->origin;
	size_t size = in->opt.machine || !strchr(name + 1, '.') ? strlen(name)
								: strcspn(name + 1, ".") + 1;

	*machine = (struct tact_machine){.size = sizeof(*machine)};
	snprintf(machine->brand, sizeof(machine->brand), "%.*s", (int)size, name);
	if (in->opt.records && in->opt.records->arch)
		snprintf(machine->arch, sizeof(machine->arch), "%s", in->opt.records->arch);
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

	if (!record->has_machine) {
		if (!in->own_machine) {
			default_machine(in, &machine);
			status =
				tact_store_put_machine(in->store, &machine, &in->own_machine, diag);
			if (status < 0)
				return status;
		}
		*id = in->own_machine;
		return 0;
	}
	for (size_t i = 0; i < in->n_machines; i++)
		if (same_machine(&in->machines[i].machine, &record->machine)) {
			*id = in->machines[i].id;
			return 0;
		}
	status = tact_store_put_machine(in->store, &record->machine, id, diag);
	if (status < 0)
		return status;
	if (tact_grow(&in->machines, &in->machines_capacity, in->n_machines + 1,
		      sizeof(*in->machines)))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	in->machines[in->n_machines++] = (struct machine_id){record->machine, *id};
	return 0;
}

/* Rows of --alignment all follow each other; only one of them can be in a store. */
static int check_again(struct importer *in, int64_t block, const struct tact_measurement *m,
		       struct tact_diag *diag)
{
	const bool is_again = in->last_block == block && in->last.mode == m->mode &&
			      in->last.init == m->init && in->last.alignment != m->alignment;

	if (is_again)
		return tact_fail(diag, TACT_E_INVAL,
				 "the same block at alignment %u, after %u: a store has one row "
				 "for a block, wherever it begins",
				 m->alignment, in->last.alignment);
	in->last_block = block;
	in->last = *m;
	return 0;
}

static int put_record(struct importer *in, const struct tact_record *record, struct tact_diag *diag)
{
	struct tact_store_import import = record->import;
	int64_t block = 0;
	int status = tact_store_put_block(in->store, record->code, record->code_size, &block, diag);

	if (status < 0)
		return status;
	in->n->blocks += status;
	if (record->has_source) {
		status = tact_store_add_source(in->store, block, record->app, record->weight, diag);
		in->n->sources += status >= 0;
	}
	if (status >= 0 && record->has_category) {
		status = tact_store_put_category(in->store, block, record->classifier,
						 record->category_arch, record->category, diag);
		in->n->categories += status >= 0;
	}
	if (status >= 0 && record->has_measurement) {
		status = check_again(in, block, &record->measurement, diag);
		if (status >= 0)
			status = find_machine(in, record, &import.machine, diag);
		if (status >= 0)
			status = tact_store_put_import(in->store, block, &record->measurement,
						       &import, diag);
		in->n->measurements += status >= 0;
	}
	if (status >= 0 && record->has_prediction) {
		status = tact_store_put_prediction(in->store, block, &record->prediction, diag);
		in->n->predictions += status >= 0;
	}
	return status;
}

static void bad_line(struct importer *in, uint64_t line, const char *why)
{
	in->n->bad++;
	if (in->opt.on_bad_line)
		in->opt.on_bad_line(in->opt.arg, line, why);
}

/* Imports all rows.  Returns < 0 only for errors that end the import. */
static int put_all(struct importer *in, struct tact_records *records, struct tact_diag *diag)
{
	struct tact_record record;
	int status;

	while ((status = tact_records_next(records, &record, diag))) {
		if (status == -TACT_E_NO_DATA) {
			in->n->empty++;
			if (in->opt.on_bad_line)
				in->opt.on_bad_line(in->opt.arg, diag->line, diag->text);
			continue;
		}
		if (status == -TACT_E_FORMAT) {
			bad_line(in, diag->line, diag->text);
			continue;
		}
		if (status < 0)
			return status;
		in->n->rows++;
		if (in->opt.on_row)
			in->opt.on_row(in->opt.arg, in->n->rows);
		status = put_record(in, &record, diag);
		if (status == -TACT_E_INVAL)
			bad_line(in, record.line, diag->text);
		else if (status < 0)
			break;
	}
	in->n->is_store_failed = status < 0;
	return status;
}

static int put_file(struct importer *in, struct tact_records *records, struct tact_diag *diag)
{
	int status = tact_store_begin(in->store, diag), end;

	in->n->is_store_failed = status < 0;
	if (status >= 0)
		status = put_all(in, records, diag);
	/* If reading the file fails in the middle, the rows before that are kept. */
	if (!in->n->is_store_failed) {
		end = tact_store_end(in->store, status < 0 ? NULL : diag);
		in->n->is_store_failed = end < 0;
		status = status < 0 ? status : end;
	}
	return status;
}

int tact_store_import_file(struct tact_store *store, const char *path,
			   const struct tact_import_options *opt, struct tact_imported *out,
			   struct tact_diag *diag)
{
	struct tact_records_options how = {.size = sizeof(how)};
	struct importer in = {.store = store, .n = out};
	struct tact_records *records;
	struct tact_machine machine;
	struct tact_diag unused;
	int status;

	if (!store || !path || !out || tact_read_options(&in.opt, sizeof(in.opt), opt) ||
	    tact_read_options(&how, sizeof(how), in.opt.records))
		return tact_fail(diag, TACT_E_INVAL, "a store, a file and good options are needed");
	if (!diag)
		diag = &unused; /* bad lines need one */
	*out = (struct tact_imported){.size = sizeof(*out)};
	set_origin(&in, path);
	how.size = sizeof(how);
	how.origin = in.origin;
	status = tact_records_open(&records, path, &how, diag);
	if (status < 0)
		return status;
	out->is_opened = true;
	default_machine(&in, &machine);
	if (in.opt.on_open)
		in.opt.on_open(in.opt.arg, records, &machine);
	status = put_file(&in, records, diag);
	tact_records_close(records);
	free(in.machines);
	return status < 0 ? status : 0;
}
