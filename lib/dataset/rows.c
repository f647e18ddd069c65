/* SPDX-License-Identifier: MIT
 *
 * The rows of a store, one after the other.
 */
#include "dataset/dataset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

struct tact_store_iter {
	struct tact_store *store; /* borrowed */
	sqlite3_stmt *stmt;	  /* owned */
	struct tact_machine machine;
	uint8_t *code; /* owned */
	size_t capacity;
};

/* clang-format off: columns in the order of the enumeration */
static const char rows_sql[] =
	"SELECT hex, mode, init, rung, status, cycles_per_iteration, spread, kept, dropped, low, "
	"high,"
	" flags, n_pages, reason, version, machine.id, vendor, brand, family, model, stepping,"
	" microcode, hypervisor, arch"
	" FROM measurement JOIN block ON block.id = block JOIN machine ON machine.id = machine"
	" ORDER BY block, machine, mode, init";
enum {
	HEX,
	MODE,
	INIT,
	RUNG,
	STATUS,
	CYCLES,
	SPREAD,
	KEPT,
	DROPPED,
	LOW,
	HIGH,
	FLAGS,
	N_PAGES,
	REASON,
	VERSION,
	MACHINE,
	VENDOR,
	BRAND,
	FAMILY,
	MODEL,
	STEPPING,
	MICROCODE,
	HYPERVISOR,
	ARCH
};
/* clang-format on */

int tact_store_iter_create(struct tact_store_iter **out, struct tact_store *store,
			   struct tact_diag *diag)
{
	struct tact_store_iter *iter;
	int code;

	if (!out || !store)
		return tact_fail(diag, TACT_E_INVAL, "no store");
	iter = calloc(1, sizeof(*iter));
	if (!iter)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	iter->store = store;
	code = sqlite3_prepare_v2(store->db, rows_sql, -1, &iter->stmt, NULL);
	if (code != SQLITE_OK) {
		tact_store_iter_destroy(iter);
		return store_fail(store->db, code == SQLITE_ERROR ? SQLITE_CORRUPT : code, diag);
	}
	*out = iter;
	return 0;
}

void tact_store_iter_destroy(struct tact_store_iter *iter)
{
	if (!iter)
		return;
	sqlite3_finalize(iter->stmt);
	free(iter->code);
	free(iter);
}

static const char *column(const struct tact_store_iter *iter, int i)
{
	const char *text = (const char *)sqlite3_column_text(iter->stmt, i);

	return text ? text : "";
}

static unsigned number(const struct tact_store_iter *iter, int i)
{
	int64_t value = sqlite3_column_int64(iter->stmt, i);

	return value < 0 ? 0 : value > UINT32_MAX ? UINT32_MAX : (unsigned)value;
}

static void copy(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

static bool read_mode(const char *name, enum tact_mode *mode)
{
	*mode = strcmp(name, "loop") ? TACT_MODE_UNROLL : TACT_MODE_LOOP;
	return !strcmp(name, store_mode_name(*mode));
}

static bool read_init(const char *name, enum tact_init *init)
{
	for (int i = TACT_INIT_STACK; i <= (int)TACT_INIT_DIFF; i++) {
		*init = (enum tact_init)i;
		if (!strcmp(name, store_init_name(*init)))
			return true;
	}
	return false;
}

static bool read_rung(const char *name, enum tact_rung *rung)
{
	for (int i = TACT_RUNG_AUTO; i <= (int)TACT_RUNG_TSC; i++) {
		*rung = (enum tact_rung)i;
		if (!strcmp(name, tact_rung_name(*rung)))
			return true;
	}
	return false;
}

static bool read_status(const char *name, enum tact_measure_status *status)
{
	for (int i = 0; i < TACT_N_MEASURE_STATUS; i++) {
		*status = (enum tact_measure_status)i;
		if (!strcmp(name, tact_measure_status_name(*status)))
			return true;
	}
	return false;
}

/* Letters that this version does not know are left out: they only say more about a number. */
static uint32_t read_flags(const char *letters)
{
	uint32_t flags = 0;

	for (unsigned bit = 0; bit < 16; bit++) {
		char one[16];

		tact_measure_flags_text(1u << bit, one);
		if (one[0] && one[0] != '-' && strchr(letters, one[0]))
			flags |= 1u << bit;
	}
	return flags;
}

static bool read_measurement(const struct tact_store_iter *iter, struct tact_measurement *m)
{
	*m = (struct tact_measurement){
		.size = sizeof(*m),
		.cycles_per_iteration = sqlite3_column_double(iter->stmt, CYCLES),
		.spread = sqlite3_column_double(iter->stmt, SPREAD),
		.kept = number(iter, KEPT),
		.dropped = number(iter, DROPPED),
		.low = number(iter, LOW),
		.high = number(iter, HIGH),
		.flags = read_flags(column(iter, FLAGS)),
		.n_pages = number(iter, N_PAGES),
	};
	copy(m->reason, sizeof(m->reason), column(iter, REASON));
	return read_mode(column(iter, MODE), &m->mode) && read_init(column(iter, INIT), &m->init) &&
	       read_rung(column(iter, RUNG), &m->rung) &&
	       read_status(column(iter, STATUS), &m->status) &&
	       (m->status != TACT_MEASURE_OK ||
		sqlite3_column_type(iter->stmt, CYCLES) != SQLITE_NULL);
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
		.family = number(iter, FAMILY),
		.model = number(iter, MODEL),
		.stepping = number(iter, STEPPING),
		.is_virtual = number(iter, HYPERVISOR),
	};
	copy(machine->vendor, sizeof(machine->vendor), column(iter, VENDOR));
	copy(machine->brand, sizeof(machine->brand), column(iter, BRAND));
	copy(machine->microcode, sizeof(machine->microcode), column(iter, MICROCODE));
	copy(machine->arch, sizeof(machine->arch), column(iter, ARCH));
}

int tact_store_iter_next(struct tact_store_iter *iter, struct tact_store_row *row,
			 struct tact_diag *diag)
{
	const char *hex;
	size_t digits, bad;
	int code;

	if (!iter || !row)
		return tact_fail(diag, TACT_E_INVAL, "no iterator or row");
	code = sqlite3_step(iter->stmt);
	if (code == SQLITE_DONE)
		return 0;
	if (code != SQLITE_ROW)
		return store_fail(iter->store->db, code, diag);
	hex = column(iter, HEX);
	digits = strlen(hex);
	if (tact_grow(&iter->code, &iter->capacity, digits / 2 + 1, 1) < 0)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	*row = (struct tact_store_row){.size = sizeof(*row)};
	if (!digits || tact_hex_decode(iter->code, hex, digits, &bad) < 0 ||
	    !read_measurement(iter, &row->measurement))
		return tact_fail(diag, TACT_E_FORMAT,
				 "the store has a row that cannot be read: block %.40s", hex);
	read_machine(iter);
	row->code = iter->code;
	row->code_size = digits / 2;
	row->machine = &iter->machine;
	row->version = column(iter, VERSION);
	return 1;
}
