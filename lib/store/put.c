/* SPDX-License-Identifier: MIT
 *
 * Puts rows into a store.
 */
#include "store/store.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

enum { ARCH_SIZE = sizeof(((struct tact_store_category *)0)->arch) };

/* ---- statements ---- */

void store_bind(sqlite3_stmt *stmt, int column, const char *text)
{
	sqlite3_bind_text(stmt, column, text, -1, SQLITE_STATIC);
}

int store_step_once(sqlite3_stmt *stmt, int64_t *number)
{
	int code = sqlite3_step(stmt);

	if (code == SQLITE_ROW && number)
		*number = sqlite3_column_int64(stmt, 0);
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	return code;
}

/* Binds NULL if the value is not known. */
static void bind_number(sqlite3_stmt *stmt, int column, double value)
{
	if (isfinite(value))
		sqlite3_bind_double(stmt, column, value);
}

static void write_hex(char *to, const uint8_t *code, size_t size)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < size; i++) {
		to[2 * i] = digits[code[i] >> 4];
		to[2 * i + 1] = digits[code[i] & 15];
	}
}

int store_bind_hex(struct tact_store *store, sqlite3_stmt *stmt, const uint8_t *code, size_t size)
{
	if (tact_grow(&store->hex, &store->hex_capacity, 2 * size, 1) < 0)
		return SQLITE_NOMEM;
	write_hex(store->hex, code, size);
	return sqlite3_bind_text64(stmt, 1, store->hex, 2 * size, SQLITE_STATIC, SQLITE_UTF8);
}

/* ---- blocks ---- */

int store_find_block(struct tact_store *store, const uint8_t *code, size_t size, int64_t *id,
		     bool *is_new)
{
	sqlite3_stmt *find = store->stmt[STORE_FIND_BLOCK], *add = store->stmt[STORE_ADD_BLOCK];
	const bool adds_first = store->was_new;
	int result;

	/* After a new block comes another one, mostly: then adding it is all that there is to do. */
	if (is_new)
		*is_new = false;
	if (!adds_first) {
		result = store_bind_hex(store, find, code, size);
		if (result == SQLITE_OK)
			result = store_step_once(find, id);
		if (result != SQLITE_DONE)
			return result == SQLITE_ROW ? SQLITE_OK : result;
	}
	result = store_bind_hex(store, add, code, size);
	if (result == SQLITE_OK)
		result = store_step_once(add, NULL);
	if (result != SQLITE_DONE)
		return result;
	store->was_new = sqlite3_changes(store->db) > 0;
	if (is_new)
		*is_new = store->was_new;
	if (store->was_new) {
		*id = sqlite3_last_insert_rowid(store->db);
		if (store->is_bulk)
			store->own[store->n_own - 1].last = *id;
		return SQLITE_OK;
	}
	result = store_bind_hex(store, find, code, size);
	if (result == SQLITE_OK)
		result = store_step_once(find, id);
	return result == SQLITE_ROW ? SQLITE_OK : result == SQLITE_DONE ? SQLITE_CORRUPT : result;
}

int tact_store_put_block(struct tact_store *store, const uint8_t *code, size_t size, int64_t *id,
			 struct tact_diag *diag)
{
	int64_t found = 0;
	bool is_new;
	int result;

	if (!store)
		return tact_fail(diag, TACT_E_INVAL, "no store");
	result = store_check_block(code, size, diag);
	if (result >= 0)
		result = store_start(store, diag);
	if (result < 0)
		return result;
	result = store_find_block(store, code, size, &found, &is_new);
	result = store_finish(store, result, diag);
	if (result < 0)
		return result;
	if (id)
		*id = found;
	return is_new;
}

/* ---- sources, categories, predictions ---- */

int tact_store_put_source(struct tact_store *store, int64_t block, const char *app, double weight,
			  struct tact_diag *diag)
{
	sqlite3_stmt *put;
	int result;

	if (!store || block <= 0)
		return tact_fail(diag, TACT_E_INVAL, "no store or block");
	if (!store_is_name(app))
		return store_fail_name(diag, "an application");
	if (isinf(weight))
		return tact_fail(diag, TACT_E_INVAL, "an infinite weight");
	result = store_start(store, diag);
	if (result < 0)
		return result;
	put = store->stmt[STORE_PUT_SOURCE];
	sqlite3_bind_int64(put, 1, block);
	store_bind(put, 2, app);
	bind_number(put, 3, weight);
	return store_finish(store, store_step_once(put, NULL), diag);
}

int tact_store_add_source(struct tact_store *store, int64_t block, const char *app, double weight,
			  struct tact_diag *diag)
{
	sqlite3_stmt *stmt;
	int result;

	if (!store || block <= 0 || !store->is_bulk)
		return tact_fail(diag, TACT_E_INVAL, "no store or block, or nothing has begun");
	if (!store_is_name(app))
		return store_fail_name(diag, "an application");
	if (!isfinite(weight))
		return tact_store_put_source(store, block, app, weight, diag);
	if (store_is_own(store, block)) { /* all that is known of it came since then */
		result = store_start(store, diag);
		if (result < 0)
			return result;
		stmt = store->stmt[STORE_SUM_SOURCE];
		sqlite3_bind_int64(stmt, 1, block);
		store_bind(stmt, 2, app);
		bind_number(stmt, 3, weight);
		return store_finish(store, store_step_once(stmt, NULL), diag);
	}
	stmt = store->stmt[STORE_MARK_SOURCE];
	sqlite3_bind_int64(stmt, 1, block);
	store_bind(stmt, 2, app);
	result = store_step_once(stmt, NULL);
	if (result != SQLITE_DONE)
		return store_finish(store, result, diag);
	if (sqlite3_changes(store->db)) /* the first one */
		return tact_store_put_source(store, block, app, weight, diag);
	stmt = store->stmt[STORE_ADD_WEIGHT];
	sqlite3_bind_int64(stmt, 1, block);
	store_bind(stmt, 2, app);
	bind_number(stmt, 3, weight);
	return store_finish(store, store_step_once(stmt, NULL), diag);
}

int tact_store_put_category(struct tact_store *store, int64_t block, const char *classifier,
			    const char *arch, const char *label, struct tact_diag *diag)
{
	sqlite3_stmt *put;
	int result;

	if (!store || block <= 0)
		return tact_fail(diag, TACT_E_INVAL, "no store or block");
	if (!arch || (*arch && !store_is_name(arch)) || strlen(arch) >= ARCH_SIZE)
		return tact_fail(diag, TACT_E_INVAL, "the arch of a category has 0 to %d bytes",
				 ARCH_SIZE - 1);
	if (!store_is_name(classifier) || !store_is_name(label))
		return store_fail_name(diag, "a classifier or category");
	result = store_start(store, diag);
	if (result < 0)
		return result;
	put = store->stmt[STORE_PUT_CATEGORY];
	sqlite3_bind_int64(put, 1, block);
	store_bind(put, 2, classifier);
	store_bind(put, 3, arch);
	store_bind(put, 4, label);
	return store_finish(store, store_step_once(put, NULL), diag);
}

int tact_store_put_prediction(struct tact_store *store, int64_t block,
			      const struct tact_store_prediction *prediction,
			      struct tact_diag *diag)
{
	struct tact_store_prediction own;
	const struct tact_store_prediction *p = &own;
	sqlite3_stmt *put;
	int result;

	if (!store || block <= 0)
		return tact_fail(diag, TACT_E_INVAL, "no store or block");
	result = store_check_prediction(&own, prediction, diag);
	if (result >= 0)
		result = store_start(store, diag);
	if (result < 0)
		return result;
	put = store->stmt[STORE_PUT_PREDICTION];
	sqlite3_bind_int64(put, 1, block);
	store_bind(put, 2, p->arch);
	store_bind(put, 3, tact_mode_name(p->mode));
	store_bind(put, 4, tact_init_name(p->init));
	store_bind(put, 5, p->model);
	store_bind(put, 6, p->version);
	store_bind(put, 7, p->status);
	if (!strcmp(p->status, "ok")) {
		bind_number(put, 8, p->cycles_per_iteration);
		bind_number(put, 9, p->coverage);
	}
	store_bind(put, 10, p->bottlenecks);
	return store_finish(store, store_step_once(put, NULL), diag);
}

/* ---- machines ---- */

/* Binds what tells machines apart, from parameter 1 on. */
static void bind_machine(sqlite3_stmt *stmt, const struct tact_machine *machine)
{
	store_bind(stmt, 1, machine->vendor);
	store_bind(stmt, 2, machine->brand);
	sqlite3_bind_int64(stmt, 3, machine->family);
	sqlite3_bind_int64(stmt, 4, machine->model);
	sqlite3_bind_int64(stmt, 5, machine->stepping);
	store_bind(stmt, 6, machine->microcode);
	sqlite3_bind_int(stmt, 7, machine->is_virtual);
}

int store_find_machine(sqlite3 *db, const struct tact_machine *machine, int64_t *id, char *arch,
		       size_t arch_size)
{
	static const char sql[] =
		"SELECT id, arch FROM machine WHERE vendor = ? AND brand = ? AND family = ?"
		" AND model = ? AND stepping = ? AND microcode = ? AND hypervisor = ?";
	sqlite3_stmt *stmt = NULL;
	int code = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);

	*id = 0;
	if (code == SQLITE_OK) {
		bind_machine(stmt, machine);
		code = sqlite3_step(stmt);
	}
	if (code == SQLITE_ROW) {
		*id = sqlite3_column_int64(stmt, 0);
		if (arch)
			store_copy(arch, arch_size, store_column(stmt, 1));
	}
	sqlite3_finalize(stmt);
	return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

int store_add_machine(sqlite3 *db, const struct tact_machine *machine, int64_t *id)
{
	static const char sql[] =
		"INSERT INTO machine(vendor, brand, family, model, stepping, microcode, hypervisor,"
		" arch) VALUES(?, ?, ?, ?, ?, ?, ?, ?)";
	sqlite3_stmt *stmt = NULL;
	int code = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);

	if (code != SQLITE_OK)
		return code;
	bind_machine(stmt, machine);
	if (*machine->arch)
		store_bind(stmt, 8, machine->arch);
	code = sqlite3_step(stmt);
	sqlite3_finalize(stmt);
	if (code != SQLITE_DONE)
		return code;
	*id = sqlite3_last_insert_rowid(db);
	return SQLITE_OK;
}

static int set_arch(sqlite3 *db, int64_t id, const char *arch)
{
	sqlite3_stmt *stmt = NULL;
	int code =
		sqlite3_prepare_v2(db, "UPDATE machine SET arch = ? WHERE id = ?", -1, &stmt, NULL);

	if (code == SQLITE_OK) {
		store_bind(stmt, 1, arch);
		sqlite3_bind_int64(stmt, 2, id);
		code = sqlite3_step(stmt);
	}
	sqlite3_finalize(stmt);
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

int tact_store_put_machine(struct tact_store *store, const struct tact_machine *machine,
			   int64_t *id, struct tact_diag *diag)
{
	struct tact_machine m;
	char arch[sizeof(m.arch)] = "";
	int64_t found = 0;
	int result;

	if (!store || !id)
		return tact_fail(diag, TACT_E_INVAL, "no store, or no place for the machine's id");
	result = store_check_machine(&m, machine, diag);
	if (result < 0)
		return result;
	result = store_find_machine(store->db, &m, &found, arch, sizeof(arch));
	if (result != SQLITE_OK)
		return store_fail(store->db, result, diag);
	if (found && *arch && *m.arch && strcmp(arch, m.arch) != 0)
		return tact_fail(diag, TACT_E_INVAL,
				 "the store has the machine '%s' as %s, not as %s", m.brand, arch,
				 m.arch);
	if (!found || (!*arch && *m.arch)) {
		result = store_start(store, diag);
		if (result < 0)
			return result;
		result = found ? set_arch(store->db, found, m.arch)
			       : store_add_machine(store->db, &m, &found);
		result = store_finish(store, result, diag);
		if (result < 0)
			return result;
	}
	*id = found;
	return 0;
}

/* ---- measurements ---- */

static int bind_loop(sqlite3_stmt *put, int column, const struct tact_store_import *import)
{
	char *hex;

	if (!import->loop_code || !import->loop_size)
		return SQLITE_OK;
	hex = sqlite3_malloc64(2 * import->loop_size);
	if (!hex)
		return SQLITE_NOMEM;
	write_hex(hex, import->loop_code, import->loop_size);
	return sqlite3_bind_text64(put, column, hex, 2 * import->loop_size, sqlite3_free,
				   SQLITE_UTF8);
}

int store_put_measurement(struct tact_store *store, int64_t block, const struct tact_measurement *m,
			  const struct tact_store_import *import, int64_t host)
{
	sqlite3_stmt *put = store->stmt[STORE_PUT_MEASUREMENT];
	char flags[TACT_MEASURE_FLAGS_SIZE];
	int code;

	sqlite3_bind_int64(put, 1, block);
	sqlite3_bind_int64(put, 2, import->machine);
	store_bind(put, 3, tact_mode_name(m->mode));
	store_bind(put, 4, tact_init_name(m->init));
	store_bind(put, 5, tact_rung_name(m->rung));
	store_bind(put, 6, tact_measure_status_name(m->status));
	if (m->status == TACT_MEASURE_OK) { /* NULL otherwise */
		sqlite3_bind_double(put, 7, m->cycles_per_iteration);
		if (import->has_spread)
			sqlite3_bind_double(put, 8, m->spread);
	}
	sqlite3_bind_int64(put, 9, m->kept);
	sqlite3_bind_int64(put, 10, m->dropped);
	sqlite3_bind_int64(put, 11, m->low);
	sqlite3_bind_int64(put, 12, m->high);
	store_bind(put, 13,
		   import->flags ? import->flags : tact_measure_flags_text(m->flags, flags));
	sqlite3_bind_int64(put, 14, m->n_pages);
	store_bind(put, 15, m->reason);
	store_bind(put, 16, import->version ? import->version : "");
	if (import->clean != TACT_CLEAN_UNKNOWN)
		sqlite3_bind_int(put, 17, import->clean == TACT_CLEAN_YES);
	store_bind(put, 18, import->origin ? import->origin : "");
	if (m->rounds) { /* NULL: not known */
		sqlite3_bind_int64(put, 20, m->rounds);
		sqlite3_bind_int64(put, 21, m->agree);
		sqlite3_bind_int64(put, 22, m->disturbed);
	}
	if (m->cpu >= 0)
		sqlite3_bind_int(put, 23, m->cpu);
	store_bind(put, 24, tact_contents_name(m->memory));
	store_bind(put, 25, tact_vectors_name(m->vectors));
	sqlite3_bind_int64(put, 26, m->alignment);
	if (host)
		sqlite3_bind_int64(put, 27, host);
	code = bind_loop(put, 19, import);
	if (code == SQLITE_OK)
		code = store_step_once(put, NULL);
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

int tact_store_put_import(struct tact_store *store, int64_t block, const struct tact_measurement *m,
			  const struct tact_store_import *import, struct tact_diag *diag)
{
	struct tact_measurement measurement;
	struct tact_store_import own;
	int64_t host;
	int result;

	if (!store || block <= 0)
		return tact_fail(diag, TACT_E_INVAL, "no store or block");
	result = store_check_import(&own, import, diag);
	if (result >= 0)
		result = store_check_measurement(&measurement, m, own.has_spread, diag);
	if (result >= 0)
		result = store_start(store, diag);
	if (result < 0)
		return result;
	result = store_find_host(store, own.host, own.kernel, &host);
	if (result == SQLITE_OK)
		result = store_put_measurement(store, block, &measurement, &own, host);
	return store_finish(store, result, diag);
}
