/* SPDX-License-Identifier: MIT
 *
 * Copies everything that one store knows into another.
 *
 * The other store is attached, and SQLite copies.  A transaction copies a range of its blocks, with
 * every row that belongs to them.  Blocks are the same if their code is; their ids differ.
 */
#include "store/store.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"

enum { BLOCKS_AT_ONCE = 16384, BLOCKS_SHARE = 8 };

/* ---- which of two measurements ---- */

/* "0.10.2" is newer than "0.9"; "" is older than any other. */
static int compare_versions(const char *a, const char *b)
{
	while (*a || *b) {
		char *a_end, *b_end;
		unsigned long x = strtoul(a, &a_end, 10), y = strtoul(b, &b_end, 10);

		if (x != y)
			return x < y ? -1 : 1;
		if (a_end == a && b_end == b)
			return strcmp(a, b);
		if ((a_end == a) != (b_end == b))
			return a_end == a ? -1 : 1;
		a = *a_end == '.' ? a_end + 1 : a_end;
		b = *b_end == '.' ? b_end + 1 : b_end;
	}
	return 0;
}

static const char *text_of(sqlite3_value *value)
{
	const char *text = (const char *)sqlite3_value_text(value);

	return text ? text : "";
}

/* 2: a number that rounds confirm; 1: a number; 0: none */
static int rank(sqlite3_value *status, sqlite3_value *agree)
{
	return strcmp(text_of(status), "ok") ? 0 : 1 + (sqlite3_value_int(agree) >= 2);
}

/* better(status, agree, version, spread, old status, old agree, old version, old spread) */
static void better(sqlite3_context *context, int n, sqlite3_value **v)
{
	sqlite3_value **old = v + n / 2;
	int order = rank(v[0], v[1]) - rank(old[0], old[1]);

	if (!order)
		order = compare_versions(text_of(v[2]), text_of(old[2]));
	if (!order)
		order = sqlite3_value_int(v[1]) - sqlite3_value_int(old[1]);
	if (!order && sqlite3_value_type(v[3]) != SQLITE_NULL)
		order = sqlite3_value_type(old[3]) == SQLITE_NULL ||
			sqlite3_value_double(v[3]) < sqlite3_value_double(old[3]);
	sqlite3_result_int(context, order > 0);
}

/* ---- statements ---- */

/* Parameters: the blocks of the other store after the first one, up to the second one. */
#define FROM_BLOCKS " FROM other.block b JOIN main.block d ON d.hex = b.hex JOIN other."
#define OF_RANGE    " x ON x.block = b.id WHERE b.id > ?1 AND b.id <= ?2 "

/* clang-format off: one clause per line */
static const char *const copies[] = {
	"INSERT OR IGNORE INTO main.block(hex)"
	" SELECT hex FROM other.block WHERE id > ?1 AND id <= ?2 ORDER BY id",

	"INSERT INTO main.source(block, app, weight)"
	" SELECT d.id, x.app, x.weight" FROM_BLOCKS "source" OF_RANGE
	"ON CONFLICT DO UPDATE SET weight = excluded.weight"
	" WHERE excluded.weight > weight OR (weight IS NULL AND excluded.weight IS NOT NULL)",

	"INSERT OR IGNORE INTO main.category(block, classifier, arch, label)"
	" SELECT d.id, x.classifier, x.arch, x.label" FROM_BLOCKS "category" OF_RANGE,

	"INSERT INTO main.measurement(block, machine, mode, init, rung, status,"
	" cycles_per_iteration, spread, kept, dropped, low, high, flags, n_pages, reason,"
	" version, clean, origin, hex_loop, rounds, agree, disturbed, cpu, memory, vectors,"
	" alignment)"
	" SELECT d.id, m.own, x.mode, x.init, x.rung, x.status, x.cycles_per_iteration, x.spread,"
	" x.kept, x.dropped, x.low, x.high, x.flags, x.n_pages, x.reason, x.version, x.clean,"
	" x.origin, x.hex_loop, x.rounds, x.agree, x.disturbed, x.cpu, x.memory, x.vectors,"
	" x.alignment"
	" FROM other.block b JOIN main.block d ON d.hex = b.hex"
	" JOIN other.measurement x ON x.block = b.id JOIN temp.merged_machine m ON m.id = x.machine"
	" WHERE b.id > ?1 AND b.id <= ?2 "
	"ON CONFLICT DO UPDATE SET rung = excluded.rung, status = excluded.status,"
	" cycles_per_iteration = excluded.cycles_per_iteration, spread = excluded.spread,"
	" kept = excluded.kept, dropped = excluded.dropped, low = excluded.low,"
	" high = excluded.high, flags = excluded.flags, n_pages = excluded.n_pages,"
	" reason = excluded.reason, version = excluded.version, clean = excluded.clean,"
	" origin = excluded.origin, hex_loop = excluded.hex_loop, rounds = excluded.rounds,"
	" agree = excluded.agree, disturbed = excluded.disturbed, cpu = excluded.cpu,"
	" memory = excluded.memory, vectors = excluded.vectors, alignment = excluded.alignment"
	" WHERE tact_better(excluded.status, excluded.agree, excluded.version, excluded.spread,"
	" status, agree, version, spread)",

	"INSERT INTO main.prediction(block, arch, mode, init, model, version, status,"
	" cycles_per_iteration, coverage, bottlenecks)"
	" SELECT d.id, x.arch, x.mode, x.init, x.model, x.version, x.status,"
	" x.cycles_per_iteration, x.coverage, x.bottlenecks" FROM_BLOCKS "prediction" OF_RANGE
	"ON CONFLICT DO UPDATE SET status = excluded.status,"
	" cycles_per_iteration = excluded.cycles_per_iteration, coverage = excluded.coverage,"
	" bottlenecks = excluded.bottlenecks"
	" WHERE prediction.status <> 'ok' AND excluded.status = 'ok'",
};

/* One of the stores may know a CPU that the other does not. */
static const char machines_sql[] =
	"DROP TABLE IF EXISTS temp.merged_machine;"
	"CREATE TEMP TABLE merged_machine(id INTEGER PRIMARY KEY, own INTEGER NOT NULL);"
	"INSERT OR IGNORE INTO main.machine(vendor, brand, family, model, stepping, microcode,"
	" hypervisor, arch) SELECT vendor, brand, family, model, stepping, microcode, hypervisor,"
	" arch FROM other.machine ORDER BY id;"
	"INSERT INTO temp.merged_machine SELECT o.id, m.id FROM other.machine o JOIN main.machine m"
	" USING(vendor, brand, family, model, stepping, microcode, hypervisor);"
	"UPDATE main.machine SET arch = (SELECT o.arch FROM other.machine o JOIN"
	" temp.merged_machine x ON x.id = o.id WHERE x.own = main.machine.id)"
	" WHERE arch IS NULL AND id IN (SELECT own FROM temp.merged_machine)";

static const char conflict_sql[] =
	"SELECT m.brand, m.arch, o.arch FROM other.machine o JOIN main.machine m"
	" USING(vendor, brand, family, model, stepping, microcode, hypervisor)"
	" WHERE m.vendor = '' AND m.arch <> o.arch";

static const char range_sql[] =
	"SELECT max(id) FROM (SELECT id FROM other.block WHERE id > ?1 ORDER BY id LIMIT ?2)";
/* clang-format on */

/* ---- merging ---- */

static int check_other(const struct tact_store *store, const char *path, struct tact_diag *diag)
{
	const char *own = sqlite3_db_filename(store->db, "main");
	struct tact_store *other;
	struct stat a, b;
	int status = tact_store_open(&other, path, TACT_STORE_READONLY, diag);

	if (status == -TACT_E_VERSION) /* upgrades an older one */
		status = tact_store_open(&other, path, 0, diag);
	if (status < 0)
		return status;
	tact_store_close(other);
	if (own && !stat(own, &a) && !stat(path, &b) && a.st_dev == b.st_dev &&
	    a.st_ino == b.st_ino)
		return tact_fail(diag, TACT_E_INVAL, "a store cannot be merged into itself");
	return 0;
}

static int check_machines(struct tact_store *store, struct tact_diag *diag)
{
	sqlite3_stmt *stmt = NULL;
	int code = sqlite3_prepare_v2(store->db, conflict_sql, -1, &stmt, NULL), status = 0;

	if (code == SQLITE_OK)
		code = sqlite3_step(stmt);
	if (code == SQLITE_ROW)
		status = tact_fail(diag, TACT_E_INVAL,
				   "the machine '%s' is of architecture %s here and of %s there",
				   store_column(stmt, 0), store_column(stmt, 1),
				   store_column(stmt, 2));
	else if (code != SQLITE_DONE)
		status = store_fail(store->db, code, diag);
	sqlite3_finalize(stmt);
	return status;
}

/* Finds the next blocks after `after`, up to *up_to; *up_to is 0 if there are no more.  A damaged file
 * may give the same ones again, without end.
 */
static int find_range(sqlite3_stmt *range, int64_t after, int64_t at_once, int64_t *up_to)
{
	int code;

	*up_to = 0;
	sqlite3_bind_int64(range, 1, after);
	sqlite3_bind_int64(range, 2, at_once);
	code = store_step_once(range, up_to);
	if (code == SQLITE_ROW && *up_to && *up_to <= after)
		return SQLITE_CORRUPT;
	return code == SQLITE_ROW ? SQLITE_OK : code;
}

static int copy_range(struct tact_store *store, sqlite3_stmt **copy, int64_t after, int64_t up_to,
		      int64_t *counts)
{
	int64_t changes[ARRAY_SIZE(copies)];
	int code = sqlite3_exec(store->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);

	for (size_t i = 0; i < ARRAY_SIZE(copies) && code == SQLITE_OK; i++) {
		int64_t before = sqlite3_total_changes(store->db);

		sqlite3_bind_int64(copy[i], 1, after);
		sqlite3_bind_int64(copy[i], 2, up_to);
		code = store_step_once(copy[i], NULL);
		changes[i] = sqlite3_total_changes(store->db) - before;
		if (code == SQLITE_DONE)
			code = SQLITE_OK;
	}
	if (code == SQLITE_OK)
		code = sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL);
	if (code != SQLITE_OK)
		return code;
	for (size_t i = 0; i < ARRAY_SIZE(copies); i++)
		counts[i] += changes[i];
	return SQLITE_OK;
}

static int copy_all(struct tact_store *store, int64_t *counts)
{
	sqlite3_stmt *copy[ARRAY_SIZE(copies)] = {0}, *range = NULL;
	int64_t after = 0, up_to = 0, at_once = BLOCKS_AT_ONCE;
	int code = sqlite3_prepare_v2(store->db, range_sql, -1, &range, NULL);

	for (size_t i = 0; i < ARRAY_SIZE(copies) && code == SQLITE_OK; i++)
		code = sqlite3_prepare_v2(store->db, copies[i], -1, &copy[i], NULL);
	while (code == SQLITE_OK) {
		code = find_range(range, after, at_once, &up_to);
		if (code != SQLITE_OK || !up_to)
			break;
		code = copy_range(store, copy, after, up_to, counts);
		after = up_to;
		if (after / BLOCKS_SHARE > at_once) /* as in tact_store_begin */
			at_once = after / BLOCKS_SHARE;
	}
	for (size_t i = 0; i < ARRAY_SIZE(copies); i++)
		sqlite3_finalize(copy[i]);
	sqlite3_finalize(range);
	return code;
}

static int merge_attached(struct tact_store *store, int64_t *counts, struct tact_diag *diag)
{
	int status = check_machines(store, diag), code;

	if (status < 0)
		return status;
	sqlite3_exec(store->db, "PRAGMA main.cache_size = -65536", NULL, NULL, NULL);
	code = sqlite3_create_function(store->db, "tact_better", 8,
				       SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, better, NULL,
				       NULL);
	if (code == SQLITE_OK)
		code = sqlite3_exec(store->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_exec(store->db, machines_sql, NULL, NULL, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL);
	if (code == SQLITE_OK)
		code = copy_all(store, counts);
	if (code == SQLITE_OK)
		code = store_sync(store);
	if (code != SQLITE_OK)
		status = store_fail(store->db, code, diag);
	if (!sqlite3_get_autocommit(store->db))
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	sqlite3_exec(store->db, "DROP TABLE IF EXISTS temp.merged_machine", NULL, NULL, NULL);
	return status;
}

int tact_store_merge(struct tact_store *store, const char *path, struct tact_merge *out,
		     struct tact_diag *diag)
{
	int64_t counts[ARRAY_SIZE(copies)] = {0};
	struct tact_merge merge = {.size = sizeof(merge)};
	sqlite3_stmt *attach = NULL;
	int status, code;

	if (!store || !path || store->is_bulk || (out && !tact_can_fill(out)))
		return tact_fail(diag, TACT_E_INVAL, "no store or path, or it is being written");
	if (store->is_readonly)
		return store_fail(NULL, SQLITE_READONLY, diag);
	status = check_other(store, path, diag);
	if (status < 0)
		return status;
	code = sqlite3_prepare_v2(store->db, "ATTACH ? AS other", -1, &attach, NULL);
	if (code == SQLITE_OK) {
		store_bind(attach, 1, path);
		code = sqlite3_step(attach);
	}
	sqlite3_finalize(attach);
	if (code != SQLITE_DONE)
		return store_fail(store->db, code, diag);
	status = merge_attached(store, counts, diag);
	sqlite3_exec(store->db, "DETACH other", NULL, NULL, NULL);
	if (status < 0)
		return status;
	merge.blocks = counts[0];
	merge.sources = counts[1];
	merge.categories = counts[2];
	merge.measurements = counts[3];
	merge.predictions = counts[4];
	return out ? tact_fill(out, &merge, sizeof(merge)) : 0;
}
