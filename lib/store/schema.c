/* SPDX-License-Identifier: MIT
 *
 * The tables of a store, and the upgrade of older stores.
 */
#include "store/store.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

/* Columns hold names instead of numbers, so that the file can be read without this library.  A new
 * version is a new step at the end; steps that were released never change.
 */
/* clang-format off: one column per line */
static const char step_1[] =
	"CREATE TABLE meta("
	"	key TEXT PRIMARY KEY NOT NULL,"
	"	value TEXT NOT NULL"
	") WITHOUT ROWID;"
	"CREATE TABLE machine("
	"	id INTEGER PRIMARY KEY,"
	"	vendor TEXT NOT NULL,"
	"	brand TEXT NOT NULL,"
	"	family INTEGER NOT NULL,"
	"	model INTEGER NOT NULL,"
	"	stepping INTEGER NOT NULL,"
	"	microcode TEXT NOT NULL,"
	"	hypervisor INTEGER NOT NULL,"
	"	arch TEXT,"
	"	UNIQUE(vendor, brand, family, model, stepping, microcode, hypervisor)"
	");"
	"CREATE TABLE block("
	"	id INTEGER PRIMARY KEY,"
	"	hex TEXT NOT NULL UNIQUE"
	");"
	"CREATE TABLE measurement("
	"	block INTEGER NOT NULL REFERENCES block(id),"
	"	machine INTEGER NOT NULL REFERENCES machine(id),"
	"	mode TEXT NOT NULL,"
	"	init TEXT NOT NULL,"
	"	rung TEXT NOT NULL,"
	"	status TEXT NOT NULL,"
	"	cycles_per_iteration REAL,"
	"	spread REAL,"
	"	kept INTEGER NOT NULL,"
	"	dropped INTEGER NOT NULL,"
	"	low INTEGER NOT NULL,"
	"	high INTEGER NOT NULL,"
	"	flags TEXT NOT NULL,"
	"	n_pages INTEGER NOT NULL,"
	"	reason TEXT NOT NULL,"
	"	version TEXT NOT NULL,"
	"	UNIQUE(block, machine, mode, init)"
	");"
	"PRAGMA application_id = 1952539508;"; /* STORE_APPLICATION_ID */

/* Tables that are walked in the order of the blocks are stored in that order. */
static const char step_2[] = "CREATE TABLE source("
			     "	block INTEGER NOT NULL REFERENCES block(id),"
			     "	app TEXT NOT NULL,"
			     "	weight REAL,"
			     "	PRIMARY KEY(block, app)"
			     ") WITHOUT ROWID;"
			     "CREATE TABLE category("
			     "	block INTEGER NOT NULL REFERENCES block(id),"
			     "	classifier TEXT NOT NULL,"
			     "	arch TEXT NOT NULL,"
			     "	label TEXT NOT NULL,"
			     "	PRIMARY KEY(block, classifier, arch)"
			     ") WITHOUT ROWID;"
			     "CREATE TABLE prediction("
			     "	block INTEGER NOT NULL REFERENCES block(id),"
			     "	arch TEXT NOT NULL,"
			     "	mode TEXT NOT NULL,"
			     "	init TEXT NOT NULL,"
			     "	model TEXT NOT NULL,"
			     "	version TEXT NOT NULL,"
			     "	status TEXT NOT NULL,"
			     "	cycles_per_iteration REAL,"
			     "	coverage REAL,"
			     "	bottlenecks TEXT NOT NULL,"
			     "	PRIMARY KEY(block, arch, mode, init, model, version)"
			     ") WITHOUT ROWID;"
			     "ALTER TABLE measurement ADD COLUMN clean INTEGER;"
			     "ALTER TABLE measurement ADD COLUMN origin TEXT NOT NULL DEFAULT '';"
			     "ALTER TABLE measurement ADD COLUMN hex_loop TEXT;";

/* What older versions measured: once, with pointers in memory and zeros in vectors. */
static const char step_3[] =
	"ALTER TABLE measurement ADD COLUMN rounds INTEGER;"
	"ALTER TABLE measurement ADD COLUMN agree INTEGER;"
	"ALTER TABLE measurement ADD COLUMN disturbed INTEGER;"
	"ALTER TABLE measurement ADD COLUMN cpu INTEGER;"
	"ALTER TABLE measurement ADD COLUMN memory TEXT NOT NULL DEFAULT 'pointer';"
	"ALTER TABLE measurement ADD COLUMN vectors TEXT NOT NULL DEFAULT 'zero';"
	"ALTER TABLE measurement ADD COLUMN alignment INTEGER NOT NULL DEFAULT 0;"
	"UPDATE measurement SET rounds = 1, agree = status = 'ok', disturbed = 0"
	" WHERE version <> '';";

/* Where a row was measured, and what each host made of blocks that all of them measure. */
static const char step_4[] = "CREATE TABLE host("
			     "	id INTEGER PRIMARY KEY,"
			     "	name TEXT NOT NULL,"
			     "	kernel TEXT NOT NULL,"
			     "	UNIQUE(name, kernel)"
			     ");"
			     "ALTER TABLE measurement ADD COLUMN host INTEGER REFERENCES host(id);"
			     "CREATE TABLE canary("
			     "	hex TEXT NOT NULL,"
			     "	mode TEXT NOT NULL,"
			     "	init TEXT NOT NULL,"
			     "	memory TEXT NOT NULL,"
			     "	vectors TEXT NOT NULL,"
			     "	machine INTEGER NOT NULL REFERENCES machine(id),"
			     "	host INTEGER NOT NULL REFERENCES host(id),"
			     "	rung TEXT NOT NULL,"
			     "	cycles_per_iteration REAL NOT NULL,"
			     "	PRIMARY KEY(hex, mode, init, memory, vectors, machine, host, rung)"
			     ") WITHOUT ROWID;";
/* clang-format on */

const char *const store_steps[] = {step_1, step_2, step_3, step_4};
const int store_n_steps = ARRAY_SIZE(store_steps);

static int fail_errno(sqlite3 *db, const char *what, struct tact_diag *diag)
{
	int error = db ? sqlite3_system_errno(db) : 0;

	return tact_fail(diag, TACT_E_IO, "%s%s%s", error ? "" : what, error ? strerror(error) : "",
			 error == ENOTDIR || error == ENOENT ? " (the file, or its directory)"
							     : "");
}

int store_fail(sqlite3 *db, int code, struct tact_diag *diag)
{
	switch (code & 0xff) { /* the other bits are details */
	case SQLITE_NOMEM:
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	case SQLITE_FULL:
		return tact_fail(diag, TACT_E_IO, "no space left for the store");
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return tact_fail(diag, TACT_E_LIMIT, "another program keeps the store locked");
	case SQLITE_READONLY:
		return tact_fail(diag, TACT_E_IO, "the store, or its directory, is read only");
	case SQLITE_NOTADB:
		return tact_fail(diag, TACT_E_FORMAT, "not a tact store (no SQLite database)");
	case SQLITE_CORRUPT:
		return tact_fail(diag, TACT_E_FORMAT, "the store is damaged, or cut short");
	case SQLITE_CONSTRAINT:
		return tact_fail(diag, TACT_E_INVAL, "the store has no such block or machine");
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
		return fail_errno(db, "cannot be opened", diag);
	case SQLITE_IOERR:
		return fail_errno(db, "input/output error", diag);
	default:
		return tact_fail(diag, TACT_E_INTERNAL, "SQLite: %s",
				 db ? sqlite3_errmsg(db) : sqlite3_errstr(code));
	}
}

static int user_version(sqlite3 *db, int *version)
{
	sqlite3_stmt *stmt = NULL;
	int code = sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &stmt, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_step(stmt);
	if (code == SQLITE_ROW)
		*version = sqlite3_column_int(stmt, 0);
	sqlite3_finalize(stmt);
	return code == SQLITE_ROW ? SQLITE_OK : code == SQLITE_DONE ? SQLITE_CORRUPT : code;
}

/* Makes one step, if there is one left.  The version is read under the lock: another process may be
 * upgrading the store at the same time.
 */
static int upgrade_once(sqlite3 *db, const char *const *steps, int n_steps, int *version)
{
	char set[64];
	int code = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);

	if (code != SQLITE_OK)
		return code;
	code = user_version(db, version);
	if (code == SQLITE_OK && *version >= 0 && *version < n_steps) {
		code = sqlite3_exec(db, steps[*version], NULL, NULL, NULL);
		++*version;
		snprintf(set, sizeof(set), "PRAGMA user_version = %d", *version);
		if (code == SQLITE_OK)
			code = sqlite3_exec(db, set, NULL, NULL, NULL);
	}
	if (code == SQLITE_OK)
		code = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	if (code != SQLITE_OK && !sqlite3_get_autocommit(db))
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return code;
}

int store_upgrade(sqlite3 *db, const char *const *steps, int n_steps, struct tact_diag *diag)
{
	int version = 0, code = user_version(db, &version);

	while (code == SQLITE_OK && version >= 0 && version < n_steps)
		code = upgrade_once(db, steps, n_steps, &version);
	if (code != SQLITE_OK)
		return store_fail(db, code, diag);
	if (version != n_steps)
		return tact_fail(diag, TACT_E_VERSION,
				 "the store is of version %d; this tact knows up to %d", version,
				 n_steps);
	return 0;
}
