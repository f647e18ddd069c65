/* SPDX-License-Identifier: MIT
 *
 * Reads what the rows of a CSV file say about blocks.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "dataset/records.h"

/* ---- fields ---- */

/* The row that is being read; `bad` is the first thing wrong with it. */
struct row {
	const struct tact_records *r;
	const char *bad, *bad_value;
};

static const char *text(const struct row *row, enum rows_column column)
{
	return rows_field(&row->r->file, column);
}

/* Returns the field, or the value for the whole file if it is empty. */
static const char *text_or(const struct row *row, enum rows_column column, const char *other)
{
	const char *value = text(row, column);

	return *value ? value : other ? other : "";
}

static void bad(struct row *row, const char *what, const char *value)
{
	if (!row->bad) {
		row->bad = what;
		row->bad_value = value;
	}
}

static double number_or(struct row *row, enum rows_column column, double other, const char *what)
{
	const char *value = text(row, column);
	double number;
	char *end;

	if (!*value)
		return other;
	number = strtod(value, &end);
	if (*end || !isfinite(number) ||
	    (!isdigit((unsigned char)*value) && !strchr(".-+", *value)))
		bad(row, what, value);
	return number;
}

static unsigned whole(struct row *row, enum rows_column column, const char *what)
{
	double number = number_or(row, column, 0, what);

	if (number >= 0 && number <= UINT32_MAX && number == floor(number))
		return (unsigned)number;
	bad(row, what, text(row, column));
	return 0;
}

static int fail_hex(const struct tact_records *r, const struct csv_field *field, size_t at,
		    struct tact_diag *diag)
{
	uint64_t line = csv_line(r->file.csv);

	if (!field->size)
		return tact_fail_at(diag, TACT_E_NO_DATA, line, 0, "no hex digits");
	if (at >= field->size)
		return tact_fail_at(diag, TACT_E_FORMAT, line, at, "odd number of hex digits (%zu)",
				    field->size);
	if (isprint((unsigned char)field->text[at]))
		return tact_fail_at(diag, TACT_E_FORMAT, line, at, "'%c' is not a hex digit",
				    field->text[at]);
	return tact_fail_at(diag, TACT_E_FORMAT, line, at, "byte 0x%02x is not a hex digit",
			    (unsigned char)field->text[at]);
}

static int read_hex(const struct tact_records *r, int at, uint8_t **code, size_t *capacity,
		    size_t *size, struct tact_diag *diag)
{
	const struct csv_field none = {"", 0};
	struct csv_field field =
		at >= 0 && (size_t)at < r->file.n_fields ? r->file.fields[at] : none;
	size_t wrong = 0;
	long n;

	if (field.size >= 2 && field.text[0] == '0' && (field.text[1] | 32) == 'x') {
		field.text += 2;
		field.size -= 2;
	}
	if (field.size / 2 > TACT_BLOCK_MAX_BYTES)
		return tact_fail_at(diag, TACT_E_FORMAT, csv_line(r->file.csv), 0,
				    "a block of more than %d bytes", TACT_BLOCK_MAX_BYTES);
	if (tact_grow(code, capacity, field.size / 2 + 1, 1) < 0)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	n = tact_hex_decode(*code, field.text, field.size, &wrong);
	if (n <= 0)
		return fail_hex(r, &field, wrong, diag);
	*size = (size_t)n;
	return 0;
}

/* ---- rows ---- */

static enum tact_mode read_mode(struct row *row)
{
	const struct tact_records *r = row->r;
	const char *name = text(row, COL_MODE);
	enum tact_mode mode = r->opt.mode;

	if (*name && !store_read_mode(name, &mode))
		bad(row, "is neither loop nor unroll", name);
	if (mode != TACT_MODE_AUTO)
		return mode;
	return r->file.at[COL_HEX_LOOP] >= 0 ? TACT_MODE_LOOP : TACT_MODE_UNROLL;
}

static enum tact_init read_init(struct row *row)
{
	const char *name = text(row, COL_INIT);
	enum tact_init init = row->r->opt.init;

	if (*name && !store_read_init(name, &init))
		bad(row, "is none of same, stack and diff", name);
	return init;
}

static void read_machine(struct row *row, struct tact_record *record)
{
	struct tact_machine *machine = &record->machine;

	record->has_machine = *text(row, COL_MACHINE) || *text(row, COL_VENDOR);
	if (!record->has_machine)
		return;
	*machine = (struct tact_machine){
		.size = sizeof(*machine),
		.family = whole(row, COL_FAMILY, "is not a CPU family"),
		.model = whole(row, COL_CPU_MODEL, "is not a CPU model"),
		.stepping = whole(row, COL_STEPPING, "is not a stepping"),
		.is_virtual = whole(row, COL_HYPERVISOR, "is neither 0 nor 1"),
	};
	store_copy(machine->vendor, sizeof(machine->vendor), text(row, COL_VENDOR));
	store_copy(machine->brand, sizeof(machine->brand), text(row, COL_MACHINE));
	store_copy(machine->microcode, sizeof(machine->microcode), text(row, COL_MICROCODE));
	store_copy(machine->arch, sizeof(machine->arch), text(row, COL_ARCH));
}

static enum tact_clean read_clean(struct row *row)
{
	const char *value = text(row, COL_CLEAN);

	if (!*value)
		return TACT_CLEAN_UNKNOWN;
	if ((*value != '0' && *value != '1') || value[1])
		bad(row, "is neither 0 nor 1", value);
	return *value == '1' ? TACT_CLEAN_YES : TACT_CLEAN_NO;
}

/* Files that do not say have what older versions of tact and other harnesses had: pointers in
 * memory, zeros in vectors.
 */
static void read_start(struct row *row, struct tact_measurement *m)
{
	const char *memory = text_or(row, COL_MEMORY, "pointer");
	const char *vectors = text_or(row, COL_VECTORS, "zero");

	if (!store_read_contents(memory, &m->memory))
		bad(row, "is none of pointer, zero, int and float", memory);
	if (!store_read_vectors(vectors, &m->vectors))
		bad(row, "is neither ordinary nor zero", vectors);
	if (!rows_alignment(&row->r->file, &m->alignment))
		bad(row, "is not an alignment from 0 to 63", text(row, COL_ALIGNMENT));
}

static unsigned count(struct row *row, enum rows_column column)
{
	unsigned n;

	if (!rows_count(&row->r->file, column, &n))
		bad(row, "is not a number of rounds", text(row, column));
	return n;
}

/* Other programs may have another idea of a column `cpu`: what is not a number is not known. */
static void read_rounds(struct row *row, struct tact_measurement *m)
{
	unsigned cpu;

	m->rounds = count(row, COL_ROUNDS);
	m->agree = count(row, COL_AGREE);
	m->disturbed = count(row, COL_DISTURBED);
	m->cpu = *text(row, COL_CPU) && rows_count(&row->r->file, COL_CPU, &cpu) ? (int)cpu : -1;
	if (!m->rounds)
		m->rounds = m->agree;
	if (m->agree > m->rounds)
		bad(row, "rounds agree, but there were fewer", text(row, COL_AGREE));
	if (m->disturbed > m->rounds)
		bad(row, "rounds were disturbed, but there were fewer", text(row, COL_DISTURBED));
}

static void read_measurement(struct row *row, struct tact_record *record)
{
	struct tact_measurement *m = &record->measurement;
	const char *status = text_or(row, COL_STATUS, "ok"), *rung = text_or(row, COL_RUNG, "auto");

	*m = (struct tact_measurement){
		.size = sizeof(*m),
		.mode = read_mode(row),
		.init = read_init(row),
		.kept = whole(row, COL_KEPT, "is not a number of samples"),
		.dropped = whole(row, COL_DROPPED, "is not a number of samples"),
		.low = whole(row, COL_LOW, "is not a number of copies"),
		.high = whole(row, COL_HIGH, "is not a number of copies"),
		.n_pages = whole(row, COL_PAGES, "is not a number of pages"),
		.spread = number_or(row, COL_SPREAD, 0, "is not a spread"),
		.cycles_per_iteration = number_or(row, COL_CYCLES, 0, "is not a number of cycles") /
					row->r->iterations,
	};
	if (!store_read_status(status, &m->status))
		bad(row, "is no status of a measurement", status);
	if (!store_read_rung(rung, &m->rung))
		bad(row, "is nothing that counts cycles", rung);
	if (m->status == TACT_MEASURE_OK && !(m->cycles_per_iteration > 0))
		bad(row, "is not a positive number of cycles", text(row, COL_CYCLES));
	if (m->status != TACT_MEASURE_OK)
		m->cycles_per_iteration = m->spread = 0;
	store_copy(m->reason, sizeof(m->reason), text(row, COL_REASON));
	record->import = (struct tact_store_import){
		.size = sizeof(record->import),
		.origin = row->r->file.at[COL_ORIGIN] >= 0
				  ? text(row, COL_ORIGIN)
				  : text_or(row, COL_ORIGIN, row->r->opt.origin),
		.version = text(row, COL_VERSION),
		.flags = text_or(row, COL_FLAGS, "-"),
		.clean = read_clean(row),
		.has_spread = m->status == TACT_MEASURE_OK && *text(row, COL_SPREAD),
		.host = text(row, COL_HOST),
		.kernel = *text(row, COL_HOST) ? text(row, COL_KERNEL) : "",
	};
	m->flags = store_read_flags(record->import.flags);
	read_start(row, m);
	read_rounds(row, m);
	record->has_measurement = true;
	read_machine(row, record);
}

static void read_prediction(struct row *row, struct tact_record *record)
{
	const struct tact_records *r = row->r;
	struct tact_store_prediction *p = &record->prediction;

	*p = (struct tact_store_prediction){
		.size = sizeof(*p),
		.arch = text_or(row, COL_ARCH, r->opt.arch),
		.model = text_or(row, COL_MODEL, r->opt.model),
		.version = text_or(row, COL_VERSION, r->opt.version),
		.mode = read_mode(row),
		.init = read_init(row),
		.status = text_or(row, COL_STATUS, "ok"),
		.cycles_per_iteration = number_or(row, COL_CYCLES, 0, "is not a number of cycles"),
		.coverage = number_or(row, COL_COVERAGE, (double)NAN, "is not a share"),
		.bottlenecks = text(row, COL_BOTTLENECKS),
	};
	if (!*p->arch)
		bad(row, "there is no architecture for the prediction", "");
	if (!strcmp(p->status, "ok") && !*text(row, COL_CYCLES))
		bad(row, "there are no cycles although the status is ok", "");
	record->has_prediction = true;
}

static void read_source(struct row *row, struct tact_record *record)
{
	const struct tact_records *r = row->r;

	record->app = text_or(row, COL_APP, r->opt.app);
	if (!*record->app && r->file.at[COL_WEIGHT] >= 0 && r->file.at[COL_APP] < 0)
		record->app = r->weight_app;
	record->weight = number_or(row, COL_WEIGHT, (double)NAN, "is not a weight");
	record->has_source = *record->app;
}

static void read_category(struct row *row, struct tact_record *record)
{
	const struct tact_records *r = row->r;

	record->category = text(row, COL_CATEGORY);
	record->classifier =
		text_or(row, COL_CLASSIFIER, r->opt.classifier ? r->opt.classifier : "import");
	/* in a CSV of measurements, the column has the architecture of the CPU instead */
	if (r->file.at[COL_CLASSIFIER] >= 0)
		record->category_arch = text(row, COL_ARCH);
	else if (r->opt.classifier && r->opt.arch)
		record->category_arch = r->opt.arch;
	record->has_category = *record->category;
}

/* Rows of an export say what they are. */
static void read_by_kind(struct row *row, const char *kind, struct tact_record *record)
{
	if (!strcmp(kind, "source"))
		read_source(row, record);
	else if (!strcmp(kind, "category"))
		read_category(row, record);
	else if (!strcmp(kind, "measurement"))
		read_measurement(row, record);
	else if (!strcmp(kind, "prediction"))
		read_prediction(row, record);
	else if (strcmp(kind, "block") != 0)
		bad(row, "is no kind of record", kind);
}

static void read_row(struct row *row, struct tact_record *record)
{
	const struct tact_records *r = row->r;

	if (r->file.at[COL_RECORD] >= 0) {
		read_by_kind(row, text(row, COL_RECORD), record);
		return;
	}
	read_source(row, record);
	read_category(row, record);
	if (r->has_predictions)
		read_prediction(row, record);
	else if (*text(row, COL_CYCLES) ||
		 (*text(row, COL_STATUS) && strcmp(text(row, COL_STATUS), "ok") != 0))
		read_measurement(row, record);
}

/* A store does not say where the blocks of predictions begin: at the start of a line. */
static void check_alignment(struct row *row)
{
	unsigned alignment;

	if (!rows_alignment(&row->r->file, &alignment))
		bad(row, "is not an alignment from 0 to 63", text(row, COL_ALIGNMENT));
	else if (alignment)
		bad(row,
		    "is an alignment other than 0: a store has only predictions for blocks that "
		    "begin a cache line",
		    text(row, COL_ALIGNMENT));
}

int tact_records_next(struct tact_records *r, struct tact_record *record, struct tact_diag *diag)
{
	struct row row = {.r = r};
	int status = 1;

	if (!r || !record)
		return tact_fail(diag, TACT_E_INVAL, "no records");
	if (!r->is_pending)
		status = csv_next(r->file.csv, &r->file.fields, &r->file.n_fields, diag);
	r->is_pending = false;
	if (status <= 0)
		return status;
	*record = (struct tact_record){.size = sizeof(*record), .line = csv_line(r->file.csv)};
	record->weight = (double)NAN;
	record->app = record->category = record->classifier = record->category_arch = "";
	status = read_hex(r, r->file.at[COL_HEX], &r->code, &r->capacity, &record->code_size, diag);
	record->code = r->code;
	if (status < 0)
		return status;
	read_row(&row, record);
	if (record->has_prediction)
		check_alignment(&row);
	if (record->has_measurement && *text(&row, COL_HEX_LOOP)) {
		status = read_hex(r, r->file.at[COL_HEX_LOOP], &r->loop_code, &r->loop_capacity,
				  &record->import.loop_size, diag);
		record->import.loop_code = r->loop_code;
	}
	if (status >= 0 && row.bad)
		status = tact_fail_at(diag, TACT_E_FORMAT, record->line, 0, "%s%.60s%s%s",
				      *row.bad_value ? "'" : "", row.bad_value,
				      *row.bad_value ? "' " : "", row.bad);
	return status < 0 ? status : 1;
}
