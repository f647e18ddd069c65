/* SPDX-License-Identifier: MIT
 *
 * A store of blocks and measurements.
 *
 * With a write-ahead log and synchronous = NORMAL a committed transaction is in the kernel's hands:
 * the end of the process, by whatever signal, loses none of them, and a commit costs no fsync
 * (SQLite's manual, "Write-Ahead Logging", section 2.3).  Only the end of the whole machine may
 * lose the last ones, and even then the file is intact.
 */
#include "dataset/dataset.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tact/arch.h>
#include <tact/doctor.h>
#include <tact/version.h>

#include "base/base.h"
#include "pmu/pmu.h"

enum { BUSY_MS = 5000 };

const char *store_mode_name(enum tact_mode mode)
{
	return mode == TACT_MODE_LOOP ? "loop" : "unroll";
}

const char *store_init_name(enum tact_init init)
{
	switch (init) {
	case TACT_INIT_STACK:
		return "stack";
	case TACT_INIT_SAME:
		return "same";
	case TACT_INIT_DIFF:
		return "diff";
	}
	return "same";
}

/* ---- opening ---- */

/* The first column of the first row of a query. */
static int query_number(sqlite3 *db, const char *sql, int64_t *number)
{
	sqlite3_stmt *stmt = NULL;
	int code = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_step(stmt);
	if (code == SQLITE_ROW)
		*number = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return code == SQLITE_ROW ? SQLITE_OK : code;
}

/* Whether the database is ours, or an empty one that may become ours. */
static int check_owner(struct tact_store *store, unsigned flags, struct tact_diag *diag)
{
	int64_t id = 0, version = 0, tables = 0;
	int code = query_number(store->db, "PRAGMA application_id", &id);

	if (code == SQLITE_OK)
		code = query_number(store->db, "PRAGMA user_version", &version);
	if (code == SQLITE_OK)
		code = query_number(store->db, "SELECT count(*) FROM sqlite_master", &tables);
	if (code != SQLITE_OK)
		return store_fail(store->db, code, diag);
	if (!tables && !id && !version) {
		if (flags & TACT_STORE_CREATE)
			return 0;
		return tact_fail(diag, TACT_E_FORMAT, "not a tact store (it is empty)");
	}
	if (id != STORE_APPLICATION_ID)
		return tact_fail(diag, TACT_E_FORMAT,
				 "not a tact store (a database of something else)");
	if (store->is_readonly && version < store_n_steps)
		return tact_fail(diag, TACT_E_VERSION,
				 "the store is of version %d, this tact reads %d; opening it for "
				 "writing brings it up to date",
				 (int)version, store_n_steps);
	return 0;
}

/* Changing the journal does not wait for locks by itself. */
static int use_log(sqlite3 *db)
{
	int code;

	for (unsigned ms = 0;; ms += 10) {
		code = sqlite3_exec(db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
		if ((code & 0xff) != SQLITE_BUSY || ms >= BUSY_MS)
			break;
		usleep(10000);
	}
	if (code == SQLITE_OK)
		code = sqlite3_exec(db, "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON",
				    NULL, NULL, NULL);
	return code;
}

static int prepare(struct tact_store *store, struct tact_diag *diag)
{
	const struct {
		sqlite3_stmt **stmt;
		const char *sql;
	} table[] = {
		{&store->find_block, "SELECT id FROM block WHERE hex = ?"},
		{&store->add_block, "INSERT INTO block(hex) VALUES(?)"},
		{&store->put,
		 "INSERT OR REPLACE INTO measurement(block, machine, mode, init, rung, status,"
		 " cycles_per_iteration, spread, kept, dropped, low, high, flags, n_pages, reason,"
		 " version) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
		{&store->has, "SELECT 1 FROM measurement JOIN block ON block.id = block"
			      " WHERE hex = ? AND machine = ? AND mode = ? AND init = ?"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		int code = sqlite3_prepare_v3(store->db, table[i].sql, -1,
					      SQLITE_PREPARE_PERSISTENT, table[i].stmt, NULL);

		/* The version was right, so the tables have been tampered with. */
		if (code == SQLITE_ERROR)
			return tact_fail(diag, TACT_E_FORMAT, "the store is damaged: %s",
					 sqlite3_errmsg(store->db));
		if (code != SQLITE_OK)
			return store_fail(store->db, code, diag);
	}
	return 0;
}

static void bind_text(sqlite3_stmt *stmt, int column, const char *text)
{
	sqlite3_bind_text(stmt, column, text, -1, SQLITE_TRANSIENT);
}

/* What tells machines apart, from parameter 1 on. */
static void bind_machine(sqlite3_stmt *stmt, const struct tact_host *host)
{
	bind_text(stmt, 1, host->vendor);
	bind_text(stmt, 2, host->brand);
	sqlite3_bind_int64(stmt, 3, host->family);
	sqlite3_bind_int64(stmt, 4, host->model);
	sqlite3_bind_int64(stmt, 5, host->stepping);
	bind_text(stmt, 6, host->microcode);
	sqlite3_bind_int(stmt, 7, host->is_virtual);
}

/* Sets store->machine if this machine has a row; with `add` it gets one. */
static int find_machine(struct tact_store *store, bool add)
{
	static const char find_sql[] =
		"SELECT id FROM machine WHERE vendor = ? AND brand = ? AND family = ? AND model = ?"
		" AND stepping = ? AND microcode = ? AND hypervisor = ?";
	static const char add_sql[] =
		"INSERT INTO machine(vendor, brand, family, model, stepping, microcode, hypervisor,"
		" arch) VALUES(?, ?, ?, ?, ?, ?, ?, ?)";
	const struct tact_arch *arch = tact_arch_host();
	struct tact_host host = {.size = sizeof(host)};
	sqlite3_stmt *stmt = NULL;
	int code = sqlite3_prepare_v2(store->db, find_sql, -1, &stmt, NULL);

	pmu_host_identify(&host);
	if (code == SQLITE_OK) {
		bind_machine(stmt, &host);
		code = sqlite3_step(stmt);
	}
	if (code == SQLITE_ROW)
		store->machine = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	if (code != SQLITE_DONE || !add)
		return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
	code = sqlite3_prepare_v2(store->db, add_sql, -1, &stmt, NULL);
	if (code != SQLITE_OK)
		return code;
	bind_machine(stmt, &host);
	if (arch)
		bind_text(stmt, 8, tact_arch_name(arch));
	code = sqlite3_step(stmt);
	sqlite3_finalize(stmt);
	if (code != SQLITE_DONE)
		return code;
	store->machine = sqlite3_last_insert_rowid(store->db);
	return SQLITE_OK;
}

static int open_database(struct tact_store *store, const char *path, unsigned flags,
			 struct tact_diag *diag)
{
	int mode = store->is_readonly	       ? SQLITE_OPEN_READONLY
		   : flags & TACT_STORE_CREATE ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
					       : SQLITE_OPEN_READWRITE;
	int code = sqlite3_open_v2(path, &store->db, mode | SQLITE_OPEN_NOMUTEX, NULL);
	int status;

	if (code != SQLITE_OK)
		return store_fail(store->db, code, diag);
	sqlite3_busy_timeout(store->db, BUSY_MS);
	status = check_owner(store, flags, diag);
	if (status < 0)
		return status;
	if (store->is_readonly)
		return store_upgrade(store->db, store_steps, store_n_steps, diag);
	/* SQLite falls back to reading when the file cannot be written. */
	if (sqlite3_db_readonly(store->db, "main") == 1)
		return store_fail(store->db, SQLITE_READONLY, diag);
	code = use_log(store->db);
	if (code != SQLITE_OK)
		return store_fail(store->db, code, diag);
	return store_upgrade(store->db, store_steps, store_n_steps, diag);
}

int tact_store_open(struct tact_store **out, const char *path, unsigned flags,
		    struct tact_diag *diag)
{
	const unsigned both = TACT_STORE_CREATE | TACT_STORE_READONLY;
	struct tact_store *store;
	int status, code;

	if (!out || !path || !*path || flags & ~both || (flags & both) == both)
		return tact_fail(diag, TACT_E_INVAL, "no path, or wrong flags");
	store = calloc(1, sizeof(*store));
	if (!store)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	store->is_readonly = flags & TACT_STORE_READONLY;
	status = open_database(store, path, flags, diag);
	if (status >= 0)
		status = prepare(store, diag);
	if (status >= 0) {
		code = find_machine(store, false);
		if (code != SQLITE_OK)
			status = store_fail(store->db, code, diag);
	}
	if (status < 0) {
		tact_store_close(store);
		return status;
	}
	*out = store;
	return 0;
}

void tact_store_close(struct tact_store *store)
{
	if (!store)
		return;
	sqlite3_finalize(store->find_block);
	sqlite3_finalize(store->add_block);
	sqlite3_finalize(store->put);
	sqlite3_finalize(store->has);
	/* Without the log a store is one file, which can be read where nothing can be written.
	 * While others have it open this fails, and the last one does it.
	 */
	if (store->db && !store->is_readonly && store->put) {
		sqlite3_busy_timeout(store->db, 0);
		sqlite3_exec(store->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
	}
	sqlite3_close(store->db);
	free(store);
}

bool tact_store_is_store(const char *path)
{
	static const char magic[16] = "SQLite format 3"; /* with its NUL */
	char start[sizeof(magic)];
	bool same = false;
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;

	if (fd < 0)
		return false;
	if (pread(fd, start, sizeof(start), 0) == (ssize_t)sizeof(start))
		same = !memcmp(start, magic, sizeof(magic));
	close(fd);
	return same;
}

/* ---- rows ---- */

/* Parameter 1 of stmt: the code as hex digits. */
static int bind_hex(sqlite3_stmt *stmt, const uint8_t *code, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	char *hex = sqlite3_malloc64(2 * size);

	if (!hex)
		return SQLITE_NOMEM;
	for (size_t i = 0; i < size; i++) {
		hex[2 * i] = digits[code[i] >> 4];
		hex[2 * i + 1] = digits[code[i] & 15];
	}
	return sqlite3_bind_text64(stmt, 1, hex, 2 * size, sqlite3_free, SQLITE_UTF8);
}

/* Runs a statement to its first row or its end, and makes it ready for the next time. */
static int step_once(sqlite3_stmt *stmt, int64_t *number)
{
	int code = sqlite3_step(stmt);

	if (code == SQLITE_ROW)
		*number = sqlite3_column_int64(stmt, 0);
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	return code;
}

static int find_block(struct tact_store *store, const uint8_t *code, size_t size, int64_t *id)
{
	int result = bind_hex(store->find_block, code, size);

	if (result == SQLITE_OK)
		result = step_once(store->find_block, id);
	if (result != SQLITE_DONE)
		return result == SQLITE_ROW ? SQLITE_OK : result;
	result = bind_hex(store->add_block, code, size);
	if (result == SQLITE_OK)
		result = step_once(store->add_block, id);
	if (result != SQLITE_DONE)
		return result;
	*id = sqlite3_last_insert_rowid(store->db);
	return SQLITE_OK;
}

static int put_row(struct tact_store *store, int64_t block, const struct tact_measurement *m)
{
	sqlite3_stmt *put = store->put;
	char flags[16], version[24];
	int64_t unused;
	int code;

	snprintf(version, sizeof(version), "%d.%d.%d", TACT_VERSION_MAJOR, TACT_VERSION_MINOR,
		 TACT_VERSION_PATCH);
	sqlite3_bind_int64(put, 1, block);
	sqlite3_bind_int64(put, 2, store->machine);
	bind_text(put, 3, store_mode_name(m->mode));
	bind_text(put, 4, store_init_name(m->init));
	bind_text(put, 5, tact_rung_name(m->rung));
	bind_text(put, 6, tact_measure_status_name(m->status));
	if (m->status == TACT_MEASURE_OK) { /* NULL otherwise */
		sqlite3_bind_double(put, 7, m->cycles_per_iteration);
		sqlite3_bind_double(put, 8, m->spread);
	}
	sqlite3_bind_int64(put, 9, m->kept);
	sqlite3_bind_int64(put, 10, m->dropped);
	sqlite3_bind_int64(put, 11, m->low);
	sqlite3_bind_int64(put, 12, m->high);
	bind_text(put, 13, tact_measure_flags_text(m->flags, flags));
	sqlite3_bind_int64(put, 14, m->n_pages);
	bind_text(put, 15, m->reason);
	bind_text(put, 16, version);
	code = step_once(put, &unused);
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

int tact_store_put_measurement(struct tact_store *store, const uint8_t *code, size_t size,
			       const struct tact_measurement *m, struct tact_diag *diag)
{
	int64_t block = 0, machine;
	int result;

	if (!store || !code || !size || !m || m->status >= TACT_N_MEASURE_STATUS)
		return tact_fail(diag, TACT_E_INVAL, "no store, block or measurement");
	if (store->is_readonly)
		return store_fail(NULL, SQLITE_READONLY, diag);
	machine = store->machine;
	result = sqlite3_exec(store->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	if (result != SQLITE_OK)
		return store_fail(store->db, result, diag);
	if (!machine)
		result = find_machine(store, true);
	if (result == SQLITE_OK)
		result = find_block(store, code, size, &block);
	if (result == SQLITE_OK)
		result = put_row(store, block, m);
	if (result == SQLITE_OK)
		result = sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL);
	if (result == SQLITE_OK)
		return 0;
	result = store_fail(store->db, result, diag);
	if (!sqlite3_get_autocommit(store->db)) /* a full disk has ended it already */
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	store->machine = machine; /* its row has gone with the rest */
	return result;
}

int tact_store_has_measurement(struct tact_store *store, const uint8_t *code, size_t size,
			       enum tact_mode mode, enum tact_init init, struct tact_diag *diag)
{
	int64_t one = 0;
	int result;

	if (!store || !code || !size || (mode != TACT_MODE_LOOP && mode != TACT_MODE_UNROLL))
		return tact_fail(diag, TACT_E_INVAL, "no store or block, or mode auto");
	result = bind_hex(store->has, code, size);
	if (result != SQLITE_OK)
		return store_fail(store->db, result, diag);
	sqlite3_bind_int64(store->has, 2, store->machine);
	bind_text(store->has, 3, store_mode_name(mode));
	bind_text(store->has, 4, store_init_name(init));
	result = step_once(store->has, &one);
	if (result == SQLITE_ROW)
		return 1;
	return result == SQLITE_DONE ? 0 : store_fail(store->db, result, diag);
}
