/* SPDX-License-Identifier: MIT
 *
 * Walks over the measurements of a store.
 */
#include "store/store.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

struct tact_store_iter {
	struct tact_store *store; /* borrowed */
	sqlite3_stmt *stmt;	  /* owned */
	struct store_details details;
	struct tact_machine machine;
	char classifier[TACT_STORE_NAME_MAX + 1]; /* "": the first one */
	uint8_t *code, *loop_code;		  /* owned */
	size_t capacity, loop_capacity;
	struct tact_measurement measurement;
	uint64_t n_skipped;
};

/* clang-format off: columns in the order of the enumeration */
#define COLUMNS                                                                                    \
	"SELECT" STORE_MEASURED ", version, machine.id, vendor, brand, family, model, stepping, "  \
	"microcode, hypervisor, arch,"                                                             \
	" block.id, clean, origin, hex, hex_loop, host.name, kernel"
#define WHERE                                                                                      \
	" LEFT JOIN host ON host.id = measurement.host WHERE (?1 IS NULL OR brand = ?1) AND (?2 "  \
	"IS NULL OR arch = ?2)"                                                                    \
	" AND (?3 IS NULL OR mode = ?3) AND (?4 IS NULL OR init = ?4)"                             \
	" AND (?5 IS NULL OR EXISTS(SELECT 1 FROM source WHERE source.block = block.id"            \
	" AND app = ?5)) AND (?9 IS NULL OR host.name = ?9)"
static const char rows_sql[] = COLUMNS " FROM measurement JOIN block ON block.id = block"
				       " JOIN machine ON machine.id = machine" WHERE
				       " ORDER BY block, brand, machine, mode, init";
/* Ids differ between stores with the same rows; these orders do not. */
static const char rows_by_code_sql[] =
	COLUMNS " FROM block CROSS JOIN measurement ON measurement.block = block.id"
		" CROSS JOIN machine ON machine.id = machine" WHERE
		" ORDER BY hex, brand, vendor, family, model, stepping, microcode, hypervisor,"
		" mode, init";
enum {
	VERSION = STORE_N_MEASURED,
	MACHINE,
	VENDOR,
	BRAND,
	FAMILY,
	MODEL,
	STEPPING,
	MICROCODE,
	HYPERVISOR,
	ARCH,
	BLOCK,
	CLEAN,
	ORIGIN,
	HEX,
	HEX_LOOP,
	HOST,
	KERNEL
};
/* clang-format on */

int tact_store_iter_create(struct tact_store_iter **out, struct tact_store *store,
			   const struct tact_store_filter *filter, struct tact_diag *diag)
{
	struct tact_store_filter f;
	struct tact_store_iter *iter;
	int status;

	if (out)
		*out = NULL;
	status = store_read_filter(&f, filter, diag); /* by the caller's size */
	if (status >= 0)
		status = tact_new(&iter, sizeof(*iter), out && store, "no store", diag);
	if (status < 0)
		return status;
	iter->store = store;
	store_copy(iter->classifier, sizeof(iter->classifier), f.classifier ? f.classifier : "");
	status = store_select(store, f.is_by_code ? rows_by_code_sql : rows_sql, filter,
			      &iter->stmt, &iter->details, diag);
	return HAND_OVER(out, iter, status, tact_store_iter_destroy);
}

void tact_store_iter_destroy(struct tact_store_iter *iter)
{
	if (!iter)
		return;
	sqlite3_finalize(iter->stmt);
	store_details_fini(&iter->details);
	FREE_ALL(iter->code, iter->loop_code, iter);
}

static const char *column(const struct tact_store_iter *iter, int i)
{
	return store_column(iter->stmt, i);
}

static unsigned whole(sqlite3_stmt *stmt, int i)
{
	int64_t value = sqlite3_column_int64(stmt, i);

	return value < 0 ? 0 : value > UINT32_MAX ? UINT32_MAX : (unsigned)value;
}

static bool has_spread(sqlite3_stmt *stmt)
{
	return store_number(stmt, STORE_SPREAD) >= 0;
}

bool store_read_rung(const char *name, enum tact_rung *rung)
{
	for (int i = TACT_RUNG_AUTO; i <= (int)TACT_RUNG_TSC; i++) {
		*rung = (enum tact_rung)i;
		if (!strcmp(name, tact_rung_name(*rung)))
			return true;
	}
	return false;
}

bool store_read_status(const char *name, enum tact_measure_status *status)
{
	for (int i = 0; i < TACT_N_MEASURE_STATUS; i++) {
		*status = (enum tact_measure_status)i;
		if (!strcmp(name, tact_measure_status_name(*status)))
			return true;
	}
	return false;
}

bool store_read_contents(const char *name, enum tact_contents *contents)
{
	for (int i = TACT_CONTENTS_POINTER; i <= (int)TACT_CONTENTS_FLOAT; i++) {
		*contents = (enum tact_contents)i;
		if (!strcmp(name, tact_contents_name(*contents)))
			return true;
	}
	return false;
}

bool store_read_vectors(const char *name, enum tact_vectors *vectors)
{
	*vectors = strcmp(name, "zero") ? TACT_VECTORS_ORDINARY : TACT_VECTORS_ZERO;
	return !strcmp(name, tact_vectors_name(*vectors));
}

/* Ignores letters that this version does not know: they only say more about a number. */
uint32_t store_read_flags(const char *letters)
{
	uint32_t flags = 0;

	for (unsigned bit = 0; bit < 16; bit++) {
		char one[TACT_MEASURE_FLAGS_SIZE];

		tact_measure_flags_text(1u << bit, one);
		if (one[0] && one[0] != '-' && strchr(letters, one[0]))
			flags |= 1u << bit;
	}
	return flags;
}

/* NULL, or what no version writes: not known. */
static int read_cpu(sqlite3_stmt *stmt)
{
	int64_t cpu = sqlite3_column_int64(stmt, STORE_CPU);

	return sqlite3_column_type(stmt, STORE_CPU) == SQLITE_INTEGER && cpu >= 0 && cpu <= INT_MAX
		       ? (int)cpu
		       : -1;
}

bool store_read_measurement(sqlite3_stmt *stmt, struct tact_measurement *m)
{
	*m = (struct tact_measurement){
		.size = sizeof(*m),
		.kept = whole(stmt, STORE_KEPT),
		.dropped = whole(stmt, STORE_DROPPED),
		.low = whole(stmt, STORE_LOW),
		.high = whole(stmt, STORE_HIGH),
		.flags = store_read_flags(store_column(stmt, STORE_FLAGS)),
		.n_pages = whole(stmt, STORE_N_PAGES),
		.alignment = whole(stmt, STORE_ALIGNMENT),
		.cpu = read_cpu(stmt),
		.rounds = whole(stmt, STORE_ROUNDS),
		.agree = whole(stmt, STORE_AGREE),
		.disturbed = whole(stmt, STORE_DISTURBED),
	};
	store_copy(m->reason, sizeof(m->reason), store_column(stmt, STORE_REASON));
	if (!store_read_rung(store_column(stmt, STORE_RUNG), &m->rung))
		m->rung = TACT_RUNG_AUTO;
	if (!store_read_mode(store_column(stmt, STORE_MODE), &m->mode) ||
	    !store_read_init(store_column(stmt, STORE_INIT), &m->init) ||
	    !store_read_status(store_column(stmt, STORE_STATUS), &m->status) ||
	    !store_read_contents(store_column(stmt, STORE_MEMORY), &m->memory) ||
	    !store_read_vectors(store_column(stmt, STORE_VECTORS), &m->vectors) ||
	    m->alignment > 63)
		return false;
	if (m->status != TACT_MEASURE_OK)
		return true;
	m->cycles_per_iteration = store_number(stmt, STORE_CYCLES);
	m->spread = has_spread(stmt) ? store_number(stmt, STORE_SPREAD) : 0;
	return m->cycles_per_iteration > 0;
}

static void read_machine(struct tact_store_iter *iter)
{
	struct tact_machine *machine = &iter->machine;
	int64_t id = sqlite3_column_int64(iter->stmt, MACHINE);

	if (id == machine->id)
		return;
	*machine = (struct tact_machine){
		.size = sizeof(*machine),
		.id = id,
		.family = whole(iter->stmt, FAMILY),
		.model = whole(iter->stmt, MODEL),
		.stepping = whole(iter->stmt, STEPPING),
		.is_virtual = whole(iter->stmt, HYPERVISOR),
	};
	store_copy(machine->vendor, sizeof(machine->vendor), column(iter, VENDOR));
	store_copy(machine->brand, sizeof(machine->brand), column(iter, BRAND));
	store_copy(machine->microcode, sizeof(machine->microcode), column(iter, MICROCODE));
	store_copy(machine->arch, sizeof(machine->arch), column(iter, ARCH));
}

static const char *find_category(const struct tact_store_iter *iter)
{
	for (size_t i = 0; i < iter->details.n_categories; i++) {
		const struct tact_store_category *c = &iter->details.categories[i];

		if (!*iter->classifier || !strcmp(c->classifier, iter->classifier))
			return c->label;
	}
	return "";
}

/* Returns 1, 0 if the code cannot be read, or < 0.  A loop that cannot be read counts as unknown.
 */
static int read_code(struct tact_store_iter *iter, struct tact_store_row *row,
		     struct tact_diag *diag)
{
	int status = store_read_hex(iter->stmt, HEX, &iter->code, &iter->capacity, &row->code_size,
				    diag);

	if (status <= 0 || row->code_size > TACT_BLOCK_MAX_BYTES)
		return status < 0 ? status : 0;
	row->code = iter->code;
	status = store_read_hex(iter->stmt, HEX_LOOP, &iter->loop_code, &iter->loop_capacity,
				&row->loop_size, diag);
	if (status > 0)
		row->loop_code = iter->loop_code;
	return status < 0 ? status : 1;
}

static enum tact_clean read_clean(const struct tact_store_iter *iter)
{
	if (sqlite3_column_type(iter->stmt, CLEAN) == SQLITE_NULL)
		return TACT_CLEAN_UNKNOWN;
	return sqlite3_column_int(iter->stmt, CLEAN) > 0 ? TACT_CLEAN_YES : TACT_CLEAN_NO;
}

/* Reads the current row.  Returns 1, 0 if it cannot be read, or < 0. */
static int read_row(struct tact_store_iter *iter, struct tact_store_row *row,
		    struct tact_diag *diag)
{
	int code, status = read_code(iter, row, diag);

	if (status > 0)
		status = store_read_measurement(iter->stmt, &iter->measurement);
	if (status >= 0 && store_is_out_of_memory(iter->stmt))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (status <= 0)
		return status;
	row->block = sqlite3_column_int64(iter->stmt, BLOCK);
	code = store_details_read(&iter->details, row->block);
	if (code != SQLITE_OK)
		return store_fail(iter->store->db, code, diag);
	read_machine(iter);
	row->machine = &iter->machine;
	row->measurement = &iter->measurement;
	row->has_spread = has_spread(iter->stmt);
	row->clean = read_clean(iter);
	row->version = column(iter, VERSION);
	row->origin = column(iter, ORIGIN);
	row->host = column(iter, HOST);
	row->kernel = column(iter, KERNEL);
	row->flags = column(iter, STORE_FLAGS);
	row->sources = iter->details.sources;
	row->n_sources = iter->details.n_sources;
	row->category = find_category(iter);
	return 1;
}

int tact_store_iter_next(struct tact_store_iter *iter, struct tact_store_row *row,
			 struct tact_diag *diag)
{
	struct tact_store_row r;
	int status;

	if (!iter || !tact_can_fill(row))
		return tact_fail(diag, TACT_E_INVAL, "no iterator or row");
	while ((status = store_next(iter->store, &iter->stmt, diag)) > 0) {
		r = (struct tact_store_row){.size = sizeof(r)};
		status = read_row(iter, &r, diag);
		if (status)
			break;
		iter->n_skipped++;
	}
	return status > 0 ? tact_fill(row, &r, sizeof(r)), 1 : status;
}

uint64_t tact_store_iter_skipped(const struct tact_store_iter *iter)
{
	return iter ? iter->n_skipped : 0;
}
