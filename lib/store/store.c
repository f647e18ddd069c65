/* SPDX-License-Identifier: MIT
 *
 * Stores of blocks: opening, transactions, measurements of this machine.
 *
 * With a write-ahead log and synchronous = NORMAL, a committed transaction is in the kernel's
 * hands: whatever signal ends the process, no transaction is lost, and a commit costs no fsync
 * (SQLite's manual, "Write-Ahead Logging", section 2.3).  Only a crash of the whole machine, or a
 * loss of power, may lose the last transactions, and even then the file is intact; sync.c says which
 * ones.
 */
#include "store/store.h"

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

/* ---- opening ---- */

/* Returns the first column of the first row of a query in *number. */
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

/* Bytes of a value and of a row: some lines of text, which have 4 MB at most. */
enum { MOST_VALUE = 16 << 20 };

/* A store may come from somebody else.  No value takes all memory, or minutes.  What it says of
 * triggers and views is not run, its schema calls no function that does something, and no statement
 * writes to the schema's own tables.
 */
static int distrust(sqlite3 *db)
{
	static const struct {
		int what, value;
	} settings[] = {
		{SQLITE_DBCONFIG_DEFENSIVE, 1},	      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
		{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},  {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
		{SQLITE_DBCONFIG_DQS_DDL, 0},	      {SQLITE_DBCONFIG_DQS_DML, 0},
		{SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0}, {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
	};
	int code = SQLITE_OK;

	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, MOST_VALUE);
	for (size_t i = 0; i < ARRAY_SIZE(settings) && code == SQLITE_OK; i++)
		code = sqlite3_db_config(db, settings[i].what, settings[i].value, (int *)NULL);
	return code;
}

/* What tells whose database it is. */
struct owner {
	int64_t id, version, tables, views;
};

/* In one transaction, because another process may be creating the store. */
static int read_owner(sqlite3 *db, struct owner *owner)
{
	int code = sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);

	if (code == SQLITE_OK)
		code = query_number(db, "PRAGMA application_id", &owner->id);
	if (code == SQLITE_OK)
		code = query_number(db, "PRAGMA user_version", &owner->version);
	if (code == SQLITE_OK)
		code = query_number(db, "SELECT count(*) FROM sqlite_master", &owner->tables);
	if (code == SQLITE_OK)
		code = query_number(db, "SELECT count(*) FROM sqlite_master WHERE type = 'view'",
				    &owner->views);
	if (!sqlite3_get_autocommit(db)) {
		const int end = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);

		code = code == SQLITE_OK ? end : code;
	}
	return code;
}

/* Checks that the database is ours, or an empty one that may become ours. */
static int check_owner(struct tact_store *store, unsigned flags, struct tact_diag *diag)
{
	struct owner owner = {0};
	int code, extended;

	/* An empty file beside a log that somebody left: SQLite deletes the log, and fails for the
	 * one of two processes that comes second.  Then it is gone, which is all that was wanted.
	 */
	do {
		code = read_owner(store->db, &owner);
		extended = sqlite3_extended_errcode(store->db);
	} while (code != SQLITE_OK && extended == SQLITE_IOERR_DELETE_NOENT);
	if (code != SQLITE_OK)
		return store_fail(store->db, code, diag);
	if (!owner.tables && !owner.id && !owner.version) {
		if (flags & TACT_STORE_CREATE)
			return 0;
		return tact_fail(diag, TACT_E_FORMAT, "not a tact store (it is empty)");
	}
	if (owner.id != STORE_APPLICATION_ID)
		return tact_fail(diag, TACT_E_FORMAT,
				 "not a tact store (a database of something else)");
	if (owner.views)
		return tact_fail(diag, TACT_E_FORMAT,
				 "the store is damaged: it has views, which no tact writes");
	if (store->is_readonly && owner.version < store_n_steps)
		return tact_fail(diag, TACT_E_VERSION,
				 "the store is of version %d, this tact reads %d; opening it for "
				 "writing brings it up to date",
				 (int)owner.version, store_n_steps);
	return 0;
}

/* Notes whether the answer of a PRAGMA is "wal". */
static int note_log(void *is_log, int n, char **values, char **names)
{
	(void)names;
	*(bool *)is_log = n == 1 && values[0] && !strcmp(values[0], "wal");
	return 0;
}

/* Changing the journal mode does not wait for locks, so this does.  Where there is no shared memory
 * for a log, such as on a network file system, SQLite keeps its rollback journal: then each commit
 * waits for the disk.
 */
static int use_log(sqlite3 *db)
{
	bool is_log = false;
	int code;

	for (unsigned ms = 0;; ms += 10) {
		code = sqlite3_exec(db, "PRAGMA journal_mode = WAL", note_log, &is_log, NULL);
		if ((code & 0xff) != SQLITE_BUSY || ms >= BUSY_MS)
			break;
		usleep(10000);
	}
	if (code == SQLITE_OK)
		code = sqlite3_exec(db,
				    is_log ? "PRAGMA synchronous = NORMAL;"
					     "PRAGMA foreign_keys = ON"
					   : "PRAGMA synchronous = EXTRA; PRAGMA foreign_keys = ON",
				    NULL, NULL, NULL);
	return code;
}

static const char *const statements[STORE_N_ALL_STMTS] = {
	[STORE_FIND_BLOCK] = "SELECT id FROM block WHERE hex = ?",
	[STORE_ADD_BLOCK] = "INSERT INTO block(hex) VALUES(?) ON CONFLICT DO NOTHING",
	[STORE_GET_BLOCK] = "SELECT hex FROM block WHERE id = ?",
	[STORE_PUT_MEASUREMENT] =
		"INSERT OR REPLACE INTO measurement(block, machine, mode, init, rung, status,"
		" cycles_per_iteration, spread, kept, dropped, low, high, flags, n_pages, reason,"
		" version, clean, origin, hex_loop, rounds, agree, disturbed, cpu, memory, vectors,"
		" alignment, host) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
		" ?, ?, ?, ?, ?, ?, ?, ?)",
	[STORE_HAS_MEASUREMENT] = "SELECT 1 FROM measurement JOIN block ON block.id = block"
				  " WHERE hex = ? AND machine = ? AND mode = ? AND init = ?",
	[STORE_GET_MEASUREMENT] =
		"SELECT" STORE_MEASURED " FROM measurement JOIN block ON block.id = block"
		" WHERE hex = ? AND machine = ? AND mode = ? AND init = ?",
	[STORE_PUT_SOURCE] = "INSERT INTO source(block, app, weight) VALUES(?, ?, ?)"
			     " ON CONFLICT DO UPDATE SET weight = excluded.weight"
			     " WHERE excluded.weight IS NOT NULL AND excluded.weight IS NOT weight",
	[STORE_PUT_CATEGORY] =
		"INSERT INTO category(block, classifier, arch, label) VALUES(?, ?, ?, ?)"
		" ON CONFLICT DO UPDATE SET label = excluded.label"
		" WHERE excluded.label IS NOT label",
	[STORE_PUT_PREDICTION] =
		"INSERT OR REPLACE INTO prediction(block, arch, mode, init, model, version, status,"
		" cycles_per_iteration, coverage, bottlenecks)"
		" VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[STORE_FIND_HOST] = "SELECT id FROM host WHERE name = ? AND kernel = ?",
	[STORE_ADD_HOST] = "INSERT INTO host(name, kernel) VALUES(?, ?)",
	[STORE_PUT_CANARY] =
		"INSERT INTO canary(hex, mode, init, memory, vectors, machine, host, rung,"
		" cycles_per_iteration) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)"
		" ON CONFLICT DO UPDATE SET cycles_per_iteration = excluded.cycles_per_iteration"
		" WHERE excluded.cycles_per_iteration < cycles_per_iteration",
	[STORE_MARK_SOURCE] = "INSERT OR IGNORE INTO temp.seen_source(block, app) VALUES(?, ?)",
	[STORE_SUM_SOURCE] = "INSERT INTO source(block, app, weight) VALUES(?, ?, ?)"
			     " ON CONFLICT DO UPDATE SET weight = coalesce(weight, 0) +"
			     " excluded.weight",
	[STORE_ADD_WEIGHT] = "UPDATE source SET weight = coalesce(weight, 0) + ?3"
			     " WHERE block = ?1 AND app = ?2",
};

static int prepare(struct tact_store *store, size_t first, size_t end, struct tact_diag *diag)
{
	for (size_t i = first; i < end; i++) {
		int code = sqlite3_prepare_v3(store->db, statements[i], -1,
					      SQLITE_PREPARE_PERSISTENT, &store->stmt[i], NULL);

		/* The version is right, so somebody has changed the tables. */
		if (code == SQLITE_ERROR)
			return tact_fail(diag, TACT_E_FORMAT, "the store is damaged: %s",
					 sqlite3_errmsg(store->db));
		if (code != SQLITE_OK)
			return store_fail(store->db, code, diag);
	}
	return 0;
}

void store_host(struct tact_machine *machine)
{
	const struct tact_arch *arch = tact_arch_host();
	struct tact_host host = {.size = sizeof(host)};

	pmu_host_identify(&host);
	*machine = (struct tact_machine){
		.size = sizeof(*machine),
		.family = host.family,
		.model = host.model,
		.stepping = host.stepping,
		.is_virtual = host.is_virtual,
	};
	store_copy(machine->vendor, sizeof(machine->vendor), host.vendor);
	store_copy(machine->brand, sizeof(machine->brand), host.brand);
	store_copy(machine->microcode, sizeof(machine->microcode), host.microcode);
	store_copy(machine->arch, sizeof(machine->arch), arch ? tact_arch_name(arch) : "");
}

/* Sets store->machine if this machine has a row; with `add`, gives it one. */
static int find_host(struct tact_store *store, bool add)
{
	struct tact_machine host;
	int code;

	store_host(&host);
	code = store_find_machine(store->db, &host, &store->machine, NULL, 0);
	if (code == SQLITE_OK && !store->machine && add)
		code = store_add_machine(store->db, &host, &store->machine);
	return code;
}

int store_find_here(struct tact_store *store)
{
	struct store_place here;
	int code = store->machine ? SQLITE_OK : find_host(store, true);

	if (code != SQLITE_OK || store->host)
		return code;
	store_here(&here);
	return store_find_host(store, *store->host_name ? store->host_name : here.name, here.kernel,
			       &store->host);
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
	code = distrust(store->db);
	if (code != SQLITE_OK)
		return store_fail(store->db, code, diag);
	sqlite3_busy_timeout(store->db, BUSY_MS);
	status = check_owner(store, flags, diag);
	if (status < 0)
		return status;
	if (store->is_readonly)
		return store_upgrade(store->db, store_steps, store_n_steps, diag);
	/* SQLite falls back to read-only if the file cannot be written. */
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

	if (out)
		*out = NULL;
	if (!out || !path || !*path || flags & ~both || (flags & both) == both)
		return tact_fail(diag, TACT_E_INVAL, "no path, or wrong flags");
	store = calloc(1, sizeof(*store));
	if (!store)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	store->is_readonly = flags & TACT_STORE_READONLY;
	status = open_database(store, path, flags, diag);
	if (status >= 0)
		status = prepare(store, 0, STORE_N_STMTS, diag);
	if (status >= 0) {
		store->is_open = true;
		code = find_host(store, false);
		store->committed_machine = store->machine;
		if (code != SQLITE_OK)
			status = store_fail(store->db, code, diag);
	}
	return HAND_OVER(out, store, status, tact_store_close);
}

/* Without the log, a store is one file, which can be read from a read-only directory.  While others
 * have the store open, this fails, and the last one to close it succeeds.  Two that close it at the
 * same time stand in each other's way, so they try again, each at moments of its own.
 */
static void end_log(sqlite3 *db)
{
	enum { TRIES = 6, WAIT_US = 2000 };
	bool is_log = true;

	sqlite3_busy_timeout(db, 0);
	for (unsigned i = 0; i < TRIES && is_log; i++) {
		unsigned moment;

		sqlite3_randomness(sizeof(moment), &moment);
		if (i)
			usleep(moment % WAIT_US);
		/* Where others are in the way, it fails, or succeeds and says: still a log. */
		sqlite3_exec(db, "PRAGMA journal_mode = DELETE", note_log, &is_log, NULL);
	}
}

void tact_store_close(struct tact_store *store)
{
	if (!store)
		return;
	for (size_t i = 0; i < STORE_N_ALL_STMTS; i++)
		sqlite3_finalize(store->stmt[i]);
	if (store->is_bulk && !sqlite3_get_autocommit(store->db))
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	if (store->db && !store->is_readonly && store->is_open)
		end_log(store->db);
	sqlite3_close(store->db);
	FREE_ALL(store->hex, store->own, store);
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

/* ---- transactions ---- */

/* A transaction writes each page that it touches once.  The digits of new blocks fall on pages all
 * over their index.  So the number of rows in a transaction grows with the store; the number of
 * bytes written per row then does not.
 */
enum { CHUNK_ROWS = 32768, CHUNK_SHARE = 4 };

/* No one else adds blocks in a transaction of ours: those that follow are our own.  Usually they go on
 * where the last transaction ended.
 */
static int begin_own(struct tact_store *store, int64_t last)
{
	struct store_range *own = store->n_own ? &store->own[store->n_own - 1] : NULL;

	if (own && own->last == last)
		return SQLITE_OK;
	if (tact_grow(&store->own, &store->own_capacity, store->n_own + 1, sizeof(*own)) < 0)
		return SQLITE_NOMEM;
	store->own[store->n_own++] = (struct store_range){last, last};
	return SQLITE_OK;
}

bool store_is_own(const struct tact_store *store, int64_t block)
{
	for (size_t i = store->n_own; i-- > 0;)
		if (block > store->own[i].after)
			return block <= store->own[i].last;
	return false;
}

static int begin(struct tact_store *store)
{
	int64_t blocks = 0;
	int code = sqlite3_exec(store->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);

	store->n_rows = 0;
	if (code != SQLITE_OK || !store->is_bulk)
		return code;
	code = query_number(store->db, "SELECT max(id) FROM block", &blocks);
	if (code == SQLITE_OK)
		code = begin_own(store, blocks);
	store->chunk = CHUNK_ROWS;
	if (blocks / CHUNK_SHARE > CHUNK_ROWS)
		store->chunk = (uint64_t)blocks / CHUNK_SHARE;
	return code;
}

static int commit(struct tact_store *store)
{
	int code = sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL);

	if (code != SQLITE_OK)
		return code;
	store->committed_machine = store->machine;
	store->committed_host = store->host;
	return store_sync_now_and_then(store);
}

static int fail_transaction(struct tact_store *store, int code, struct tact_diag *diag)
{
	int status = store_fail(store->db, code, diag);

	if (!sqlite3_get_autocommit(store->db)) /* a full disk has already ended it */
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	store->machine = store->committed_machine; /* their rows were rolled back as well */
	store->host = store->committed_host;
	store->is_bulk = false;
	return status;
}

int store_start(struct tact_store *store, struct tact_diag *diag)
{
	int code;

	if (store->is_readonly)
		return store_fail(NULL, SQLITE_READONLY, diag);
	if (store->is_bulk)
		return 0;
	code = begin(store);
	return code == SQLITE_OK ? 0 : store_fail(store->db, code, diag);
}

int store_finish(struct tact_store *store, int code, struct tact_diag *diag)
{
	if (code == SQLITE_DONE)
		code = SQLITE_OK;
	if ((code & 0xff) == SQLITE_CONSTRAINT && store->is_bulk) /* only this row is lost */
		return store_fail(store->db, code, diag);
	if (code == SQLITE_OK && (!store->is_bulk || ++store->n_rows >= store->chunk)) {
		code = commit(store);
		if (code == SQLITE_OK && store->is_bulk)
			code = begin(store);
	}
	return code == SQLITE_OK ? 0 : fail_transaction(store, code, diag);
}

int store_next_chunk(struct tact_store *store, int code, struct tact_diag *diag)
{
	if (code == SQLITE_OK)
		code = commit(store);
	if (code == SQLITE_OK)
		code = begin(store);
	store->failure = code == SQLITE_OK ? 0 : fail_transaction(store, code, diag);
	return store->failure;
}

/* Blocks that got a weight since the begin are remembered on disk: there may be many. */
static int forget_sources(struct tact_store *store, struct tact_diag *diag)
{
	int code = sqlite3_exec(store->db,
				"CREATE TEMP TABLE IF NOT EXISTS seen_source(block INTEGER,"
				" app TEXT, PRIMARY KEY(block, app)) WITHOUT ROWID;"
				"DELETE FROM temp.seen_source",
				NULL, NULL, NULL);

	if (code != SQLITE_OK)
		return store_fail(store->db, code, diag);
	if (store->stmt[STORE_MARK_SOURCE])
		return 0;
	return prepare(store, STORE_N_STMTS, STORE_N_ALL_STMTS, diag);
}

int tact_store_begin(struct tact_store *store, struct tact_diag *diag)
{
	int code;

	if (!store || store->is_bulk)
		return tact_fail(diag, TACT_E_INVAL, "no store, or it has begun already");
	if (store->is_readonly)
		return store_fail(NULL, SQLITE_READONLY, diag);
	/* Room for the inner pages of a large index: KiB, taken as needed. */
	sqlite3_exec(store->db, "PRAGMA cache_size = -65536", NULL, NULL, NULL);
	code = forget_sources(store, diag);
	if (code < 0)
		return code;
	store->is_bulk = true;
	store->n_own = 0;
	code = begin(store);
	return code == SQLITE_OK ? 0 : fail_transaction(store, code, diag);
}

int tact_store_end(struct tact_store *store, struct tact_diag *diag)
{
	int code;

	if (!store || !store->is_bulk)
		return tact_fail(diag, TACT_E_INVAL, "no store, or nothing has begun");
	code = commit(store);
	if (code == SQLITE_OK)
		code = store_sync(store);
	if (code != SQLITE_OK)
		return fail_transaction(store, code, diag);
	store->is_bulk = false;
	return 0;
}

/* ---- what this machine measures ---- */

int tact_store_put_measurement(struct tact_store *store, const uint8_t *code, size_t size,
			       const struct tact_measurement *m, struct tact_diag *diag)
{
	struct tact_store_import own = {.has_spread = true};
	struct tact_measurement measurement;
	char version[24];
	int64_t block = 0;
	int result;

	if (!store)
		return tact_fail(diag, TACT_E_INVAL, "no store");
	result = store_check_block(code, size, diag);
	if (result >= 0)
		result = store_check_measurement(&measurement, m, true, diag);
	if (result >= 0)
		result = store_start(store, diag);
	if (result < 0)
		return result;
	if (!measurement.rounds) {
		measurement.rounds = 1;
		measurement.agree = measurement.status == TACT_MEASURE_OK;
	}
	snprintf(version, sizeof(version), "%d.%d.%d", TACT_VERSION_MAJOR, TACT_VERSION_MINOR,
		 TACT_VERSION_PATCH);
	own.version = version;
	result = store_find_here(store);
	own.machine = store->machine;
	if (result == SQLITE_OK)
		result = store_find_block(store, code, size, &block, NULL);
	if (result == SQLITE_OK)
		result = store_put_measurement(store, block, &measurement, &own, store->host);
	return store_finish(store, result, diag);
}

/* Prepares to look for a row of this machine. */
static int ask(struct tact_store *store, enum store_stmt which, const uint8_t *code, size_t size,
	       enum tact_mode mode, enum tact_init init, struct tact_diag *diag)
{
	sqlite3_stmt *stmt;
	int result;

	if (!store)
		return tact_fail(diag, TACT_E_INVAL, "no store");
	result = store_check_block(code, size, diag);
	if (result >= 0)
		result = store_check_setting(mode, init, diag);
	if (result < 0)
		return result;
	stmt = store->stmt[which];
	result = store_bind_hex(store, stmt, code, size);
	if (result != SQLITE_OK)
		return store_fail(store->db, result, diag);
	sqlite3_bind_int64(stmt, 2, store->machine);
	store_bind(stmt, 3, tact_mode_name(mode));
	store_bind(stmt, 4, tact_init_name(init));
	return 0;
}

int tact_store_has_measurement(struct tact_store *store, const uint8_t *code, size_t size,
			       enum tact_mode mode, enum tact_init init, struct tact_diag *diag)
{
	int64_t one = 0;
	int result = ask(store, STORE_HAS_MEASUREMENT, code, size, mode, init, diag);

	if (result < 0)
		return result;
	result = store_step_once(store->stmt[STORE_HAS_MEASUREMENT], &one);
	if (result == SQLITE_ROW)
		return 1;
	return result == SQLITE_DONE ? 0 : store_fail(store->db, result, diag);
}

int tact_store_get_measurement(struct tact_store *store, const uint8_t *code, size_t size,
			       enum tact_mode mode, enum tact_init init,
			       struct tact_measurement *out, struct tact_diag *diag)
{
	struct tact_measurement m;
	sqlite3_stmt *get;
	bool is_read;
	int code_of_step, result;

	if (!tact_can_fill(out))
		return tact_fail(diag, TACT_E_INVAL, "no place for a measurement");
	result = ask(store, STORE_GET_MEASUREMENT, code, size, mode, init, diag);
	if (result < 0)
		return result;
	get = store->stmt[STORE_GET_MEASUREMENT];
	code_of_step = sqlite3_step(get);
	is_read = code_of_step == SQLITE_ROW && store_read_measurement(get, &m);
	if (code_of_step == SQLITE_ROW && store_is_out_of_memory(get))
		code_of_step = SQLITE_NOMEM;
	if (code_of_step != SQLITE_ROW && code_of_step != SQLITE_DONE)
		result = store_fail(store->db, code_of_step, diag);
	sqlite3_reset(get);
	sqlite3_clear_bindings(get);
	if (result < 0 || !is_read)
		return result;
	return tact_fill(out, &m, sizeof(m)), 1;
}
