/* SPDX-License-Identifier: MIT
 *
 * Copies everything that other stores know into a store.
 *
 * The rows of all of them are first gathered in temporary tables, as they come.  Then they are
 * sorted by the digits of their blocks and put into the store in that order.  Blocks of shards are
 * strewn over all digits: put as they come, each row would fall on another page of the store's
 * index, and a page would be read and written again for nearly every row.  In order, each page is
 * visited once.  Memory stays the same, whatever the size: SQLite sorts on disk.
 *
 * What is kept of two rows for the same thing is the greater one in an order of all rows (see
 * better).  A greatest element does not depend on the order in which rows come, nor on how often:
 * so merges may be repeated, and made in any order and grouping.
 *
 * Blocks are the same if their code is; their ids differ.
 */
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"

enum { CACHE_KIB = 24576, TEMPORARY_KIB = 8192 };

/* ---- which of two rows ---- */

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

/* An order of all values.  Numbers come before text, NULL before both. */
static int compare_values(sqlite3_value *a, sqlite3_value *b)
{
	const int x = sqlite3_value_type(a), y = sqlite3_value_type(b);
	const bool is_number = x != SQLITE_TEXT && x != SQLITE_NULL && x != SQLITE_BLOB;

	if ((x == SQLITE_NULL) != (y == SQLITE_NULL))
		return x == SQLITE_NULL ? -1 : 1;
	if (x == SQLITE_NULL)
		return 0;
	if (is_number != (y != SQLITE_TEXT && y != SQLITE_BLOB))
		return is_number ? -1 : 1;
	if (is_number)
		return (sqlite3_value_double(a) > sqlite3_value_double(b)) -
		       (sqlite3_value_double(a) < sqlite3_value_double(b));
	return strcmp(text_of(a), text_of(b));
}

/* tact_better(status, agree, version, spread, other columns ..., the same of the old row): whether a
 * measurement is to replace the old one.  The other columns only decide between rows that are
 * equally good.
 */
static void better(sqlite3_context *context, int n, sqlite3_value **v)
{
	sqlite3_value **old = v + n / 2;
	int order = rank(v[0], v[1]) - rank(old[0], old[1]);

	if (!order)
		order = compare_versions(text_of(v[2]), text_of(old[2]));
	if (!order)
		order = sqlite3_value_int(v[1]) - sqlite3_value_int(old[1]);
	if (!order) /* a small spread is good, none is worst */
		order = sqlite3_value_type(v[3]) == SQLITE_NULL ||
					sqlite3_value_type(old[3]) == SQLITE_NULL
				? compare_values(v[3], old[3])
				: compare_values(old[3], v[3]);
	for (int i = 4; i < n / 2 && !order; i++)
		order = compare_values(v[i], old[i]);
	sqlite3_result_int(context, order > 0);
}

/* tact_greater(columns ..., the same of the old row). */
static void greater(sqlite3_context *context, int n, sqlite3_value **v)
{
	int order = 0;

	for (int i = 0; i < n / 2 && !order; i++)
		order = compare_values(v[i], v[n / 2 + i]);
	sqlite3_result_int(context, order > 0);
}

/* ---- statements ---- */

/* clang-format off: one clause per line */

/* Columns of a measurement other than those that tell rows apart, the good first; with their host's
 * names, because its id is another one in each store.
 */
#define MEASURED                                                                                   \
	"cycles_per_iteration, rung, kept, dropped, low, high, flags, n_pages, reason,"            \
	" clean, origin, hex_loop, rounds, disturbed, cpu, memory, vectors, alignment"
#define GOOD "status, agree, version, spread, "

/* A table that is merged.  `gather` copies the rows of the attached store, with the digits of their
 * blocks and with the store's own ids of machines and hosts; `sort` sorts them; `put` puts one, with
 * the block's id for its first parameter.
 */
static const struct kind {
	const char *name, *create, *gather, *sort, *put;
} kinds[] = {
	{"g_block", "CREATE TEMP TABLE g_block(hex)",
	 "INSERT INTO temp.g_block SELECT hex FROM other.block",
	 "CREATE TEMP TABLE sorted AS SELECT DISTINCT hex FROM temp.g_block ORDER BY hex", NULL},

	{"g_source", "CREATE TEMP TABLE g_source(hex, app, weight)",
	 "INSERT INTO temp.g_source SELECT hex, app, weight FROM other.source x"
	 " JOIN other.block b ON b.id = x.block",
	 "CREATE TEMP TABLE sorted AS SELECT * FROM temp.g_source ORDER BY hex",
	 "INSERT INTO main.source(block, app, weight) VALUES(?, ?, ?)"
	 " ON CONFLICT DO UPDATE SET weight = excluded.weight"
	 " WHERE excluded.weight > weight OR (weight IS NULL AND excluded.weight IS NOT NULL)"},

	{"g_category", "CREATE TEMP TABLE g_category(hex, classifier, arch, label)",
	 "INSERT INTO temp.g_category SELECT hex, classifier, arch, label FROM other.category x"
	 " JOIN other.block b ON b.id = x.block",
	 "CREATE TEMP TABLE sorted AS SELECT * FROM temp.g_category ORDER BY hex",
	 "INSERT INTO main.category(block, classifier, arch, label) VALUES(?, ?, ?, ?)"
	 " ON CONFLICT DO UPDATE SET label = excluded.label WHERE excluded.label > label"},

	{"g_measurement",
	 "CREATE TEMP TABLE g_measurement(hex, machine, mode, init, host, " GOOD MEASURED ")",
	 "INSERT INTO temp.g_measurement SELECT hex, m.own, mode, init, h.own, " GOOD MEASURED
	 " FROM other.measurement x JOIN other.block b ON b.id = x.block"
	 " JOIN temp.merged_machine m ON m.id = x.machine"
	 " LEFT JOIN temp.merged_host h ON h.id = x.host"
	 " WHERE x.host IS NULL OR h.own IS NOT NULL",
	 "CREATE TEMP TABLE sorted AS SELECT * FROM temp.g_measurement ORDER BY hex",
	 "INSERT INTO main.measurement(block, machine, mode, init, host, " GOOD MEASURED ")"
	 " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	 " ON CONFLICT DO UPDATE SET host = excluded.host, status = excluded.status,"
	 " agree = excluded.agree, version = excluded.version, spread = excluded.spread,"
	 " cycles_per_iteration = excluded.cycles_per_iteration, rung = excluded.rung,"
	 " kept = excluded.kept, dropped = excluded.dropped, low = excluded.low,"
	 " high = excluded.high, flags = excluded.flags, n_pages = excluded.n_pages,"
	 " reason = excluded.reason, clean = excluded.clean, origin = excluded.origin,"
	 " hex_loop = excluded.hex_loop, rounds = excluded.rounds,"
	 " disturbed = excluded.disturbed, cpu = excluded.cpu, memory = excluded.memory,"
	 " vectors = excluded.vectors, alignment = excluded.alignment"
	 " WHERE tact_better(excluded.status, excluded.agree, excluded.version, excluded.spread,"
	 " -excluded.cycles_per_iteration, excluded.rung, excluded.kept, excluded.dropped,"
	 " excluded.low, excluded.high, excluded.flags, excluded.n_pages, excluded.reason,"
	 " excluded.clean, excluded.origin, excluded.hex_loop, excluded.rounds,"
	 " excluded.disturbed, excluded.cpu, excluded.memory, excluded.vectors,"
	 " excluded.alignment,"
	 " (SELECT name FROM main.host WHERE id = excluded.host),"
	 " (SELECT kernel FROM main.host WHERE id = excluded.host),"
	 " status, agree, version, spread,"
	 " -cycles_per_iteration, rung, kept, dropped, low, high, flags, n_pages, reason, clean,"
	 " origin, hex_loop, rounds, disturbed, cpu, memory, vectors, alignment,"
	 " (SELECT name FROM main.host WHERE id = measurement.host),"
	 " (SELECT kernel FROM main.host WHERE id = measurement.host))"},

	{"g_prediction",
	 "CREATE TEMP TABLE g_prediction(hex, arch, mode, init, model, version, status,"
	 " cycles_per_iteration, coverage, bottlenecks)",
	 "INSERT INTO temp.g_prediction SELECT hex, arch, mode, init, model, version, status,"
	 " cycles_per_iteration, coverage, bottlenecks FROM other.prediction x"
	 " JOIN other.block b ON b.id = x.block",
	 "CREATE TEMP TABLE sorted AS SELECT * FROM temp.g_prediction ORDER BY hex",
	 "INSERT INTO main.prediction(block, arch, mode, init, model, version, status,"
	 " cycles_per_iteration, coverage, bottlenecks) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	 " ON CONFLICT DO UPDATE SET status = excluded.status,"
	 " cycles_per_iteration = excluded.cycles_per_iteration, coverage = excluded.coverage,"
	 " bottlenecks = excluded.bottlenecks"
	 " WHERE tact_greater(excluded.status = 'ok', excluded.coverage,"
	 " excluded.cycles_per_iteration, excluded.status, excluded.bottlenecks,"
	 " status = 'ok', coverage, cycles_per_iteration, status, bottlenecks)"},
};

/* What there is little of goes to the store at once.  One of the stores may know a CPU that the other
 * does not.  Of two names for a machine, the greater one is kept.
 */
static const char places_sql[] =
	"DROP TABLE IF EXISTS temp.merged_machine;"
	"CREATE TEMP TABLE merged_machine(id INTEGER PRIMARY KEY, own INTEGER NOT NULL);"
	"INSERT OR IGNORE INTO main.machine(vendor, brand, family, model, stepping, microcode,"
	" hypervisor, arch) SELECT vendor, brand, family, model, stepping, microcode, hypervisor,"
	" arch FROM other.machine ORDER BY id;"
	"INSERT INTO temp.merged_machine SELECT o.id, m.id FROM other.machine o JOIN main.machine m"
	" USING(vendor, brand, family, model, stepping, microcode, hypervisor);"
	"UPDATE main.machine SET arch = o.arch FROM other.machine o, temp.merged_machine x"
	" WHERE x.id = o.id AND x.own = main.machine.id AND o.arch IS NOT NULL"
	" AND (main.machine.arch IS NULL OR o.arch > main.machine.arch);"
	"DROP TABLE IF EXISTS temp.merged_host;"
	"CREATE TEMP TABLE merged_host(id INTEGER PRIMARY KEY, own INTEGER NOT NULL);"
	"INSERT OR IGNORE INTO main.host(name, kernel) SELECT name, kernel FROM other.host"
	" WHERE name NOT IN (SELECT name FROM temp.left_host) ORDER BY id;"
	"INSERT INTO temp.merged_host SELECT o.id, h.id FROM other.host o JOIN main.host h"
	" USING(name, kernel) WHERE name NOT IN (SELECT name FROM temp.left_host);"
	"INSERT INTO main.canary(hex, mode, init, memory, vectors, machine, host, rung,"
	" cycles_per_iteration) SELECT c.hex, c.mode, c.init, c.memory, c.vectors, m.own, h.own,"
	" c.rung, c.cycles_per_iteration FROM other.canary c"
	" JOIN temp.merged_machine m ON m.id = c.machine"
	" JOIN temp.merged_host h ON h.id = c.host WHERE true"
	" ON CONFLICT DO UPDATE SET cycles_per_iteration = excluded.cycles_per_iteration"
	" WHERE excluded.cycles_per_iteration < cycles_per_iteration;";

static const char conflict_sql[] =
	"SELECT m.brand, m.arch, o.arch FROM other.machine o JOIN main.machine m"
	" USING(vendor, brand, family, model, stepping, microcode, hypervisor)"
	" WHERE m.vendor = '' AND m.arch <> o.arch";

/* A core is what predictions would be made for.  One without a model has no other name. */
static const char cores_sql[] =
	"SELECT DISTINCT coalesce(nullif(arch, ''), vendor || ' ' || family || '/' || model ||"
	" CASE vendor WHEN '' THEN ' ' || brand ELSE '' END)"
	" FROM main.machine WHERE EXISTS"
	" (SELECT 1 FROM main.measurement WHERE machine = machine.id) ORDER BY 1";
/* clang-format on */

/* ---- which cores ---- */

enum { MAX_CORES = 64, CORE_SIZE = 96 };

struct cores {
	char name[MAX_CORES][CORE_SIZE];
	size_t n;
};

static void add_core(struct cores *cores, const char *name)
{
	for (size_t i = 0; i < cores->n; i++)
		if (!strncmp(cores->name[i], name, CORE_SIZE - 1))
			return;
	if (cores->n < MAX_CORES)
		store_copy(cores->name[cores->n++], CORE_SIZE, name);
}

static int read_cores(struct tact_store *store, struct cores *cores, struct tact_diag *diag)
{
	sqlite3_stmt *stmt = NULL;
	int code = sqlite3_prepare_v2(store->db, cores_sql, -1, &stmt, NULL);

	while (code == SQLITE_OK && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
		add_core(cores, store_column(stmt, 0));
		code = SQLITE_OK;
	}
	sqlite3_finalize(stmt);
	return code == SQLITE_DONE ? 0 : store_fail(store->db, code, diag);
}

/* Notes the cores of one of the stores.  Nothing is mixed if one of them has all cores that there
 * are: that does not depend on the order.
 */
static int note_cores(struct tact_store *store, struct cores *all, size_t *most,
		      struct tact_diag *diag)
{
	struct cores *own = calloc(1, sizeof(*own));
	int status =
		own ? read_cores(store, own, diag) : tact_fail(diag, TACT_E_NOMEM, "out of memory");

	for (size_t i = 0; status >= 0 && i < own->n; i++)
		add_core(all, own->name[i]);
	if (status >= 0 && own->n > *most)
		*most = own->n;
	free(own);
	return status;
}

/* ---- gathering ---- */

struct merger {
	struct tact_store *store;
	struct tact_merge_options opt;
	struct tact_merge *out;
	struct tact_diag *diag;
};

/* Opens a store that is to be merged, upgraded if it is older. */
static int open_other(struct tact_store **other, const char *path, struct tact_diag *diag)
{
	int status = tact_store_open(other, path, TACT_STORE_READONLY, diag);

	return status == -TACT_E_VERSION ? tact_store_open(other, path, 0, diag) : status;
}

static bool is_itself(const struct tact_store *store, const char *path)
{
	const char *own = sqlite3_db_filename(store->db, "main");
	struct stat a, b;

	return own && !stat(own, &a) && !stat(path, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
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

/* In one transaction: of a store that cannot be read to its end, nothing is taken. */
static int gather_attached(struct tact_store *store, struct tact_diag *diag)
{
	int status = check_machines(store, diag), code;

	if (status < 0)
		return status;
	code = sqlite3_exec(store->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_exec(store->db, places_sql, NULL, NULL, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(kinds) && code == SQLITE_OK; i++)
		code = sqlite3_exec(store->db, kinds[i].gather, NULL, NULL, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL);
	if (code != SQLITE_OK)
		status = store_fail(store->db, code, diag);
	if (!sqlite3_get_autocommit(store->db))
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	return status;
}

static int gather(struct tact_store *store, const char *path, struct tact_diag *diag)
{
	sqlite3_stmt *attach = NULL;
	int code = sqlite3_prepare_v2(store->db, "ATTACH ? AS other", -1, &attach, NULL), status;

	if (code == SQLITE_OK) {
		store_bind(attach, 1, path);
		code = sqlite3_step(attach);
	}
	sqlite3_finalize(attach);
	if (code != SQLITE_DONE)
		return store_fail(store->db, code, diag);
	status = gather_attached(store, diag);
	sqlite3_exec(store->db, "DETACH other", NULL, NULL, NULL);
	return status;
}

/* Whether merging can go on after a store has failed: the target did not. */
static bool is_others_fault(const struct merger *m, const char *path, int status)
{
	struct tact_store *other = NULL;
	int64_t n;

	if (status == -TACT_E_NOMEM)
		return false;
	if (status == -TACT_E_INVAL || open_other(&other, path, NULL) < 0)
		return true;
	tact_store_close(other);
	n = sqlite3_exec(m->store->db, "SELECT count(*) FROM machine", NULL, NULL, NULL);
	return n == SQLITE_OK && status == -TACT_E_FORMAT;
}

static int gather_all(struct merger *m, const char *const *paths, const bool *left_out, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int status;

		if (left_out[i])
			continue;
		status = gather(m->store, paths[i], m->diag);
		if (m->opt.on_store)
			m->opt.on_store(m->opt.context, i, status, m->diag);
		if (status < 0 && (!m->opt.on_store || !is_others_fault(m, paths[i], status)))
			return status;
		m->out->stores += status >= 0;
	}
	return 0;
}

/* ---- putting ---- */

/* Puts a row; the first column of `from` are the digits of its block, whose id is known. */
static int put_row(sqlite3_stmt *put, sqlite3_stmt *from, int64_t block)
{
	const int n = sqlite3_column_count(from);
	int code = sqlite3_bind_int64(put, 1, block);

	for (int i = 1; i < n && code == SQLITE_OK; i++)
		code = sqlite3_bind_value(put, i + 1, sqlite3_column_value(from, i));
	return code == SQLITE_OK ? store_step_once(put, NULL) : code;
}

/* Finds the block with these digits, or adds it with `add`.  Blocks come in order: most rows are of
 * the last one.
 */
struct last_block {
	char *hex; /* owned */
	size_t capacity;
	int64_t id;
};

static int find_block(struct tact_store *store, struct last_block *last, const char *hex, bool add)
{
	sqlite3_stmt *find = store->stmt[STORE_FIND_BLOCK], *put = store->stmt[STORE_ADD_BLOCK];
	const size_t size = strlen(hex) + 1;
	int code;

	if (last->hex && !strcmp(last->hex, hex))
		return SQLITE_OK;
	if (tact_grow(&last->hex, &last->capacity, size, 1) < 0)
		return SQLITE_NOMEM;
	memcpy(last->hex, hex, size);
	last->id = 0;
	store_bind(find, 1, last->hex);
	code = store_step_once(find, &last->id);
	if (code != SQLITE_DONE || !add)
		return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
	store_bind(put, 1, last->hex);
	code = store_step_once(put, NULL);
	last->id = sqlite3_last_insert_rowid(store->db);
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* Puts rows after the first `*after` of the sorted ones, as many as make a transaction.  While a
 * statement reads, SQLite writes nothing of its log to the store, so it ends before the transaction
 * does.  Returns how many there were, or < 0.
 */
static int64_t put_some(struct merger *m, sqlite3_stmt *from, sqlite3_stmt *put, int64_t *after)
{
	struct tact_store *store = m->store;
	struct last_block last = {0};
	const char *hex;
	int64_t n = 0;
	int code = SQLITE_OK, step;

	sqlite3_bind_int64(from, 1, *after);
	sqlite3_bind_int64(from, 2, (int64_t)store->chunk);
	while (code == SQLITE_OK && (step = sqlite3_step(from)) != SQLITE_DONE) {
		if (step != SQLITE_ROW) {
			code = step;
			break;
		}
		/* Text for which there was no memory looks like none. */
		hex = store_column(from, 0);
		code = store_is_out_of_memory(from) ? SQLITE_NOMEM
						    : find_block(store, &last, hex, !put);
		if (code == SQLITE_OK && put && last.id)
			code = put_row(put, from, last.id);
		code = code == SQLITE_DONE ? SQLITE_OK : code;
		n++;
	}
	sqlite3_reset(from);
	free(last.hex);
	*after += n;
	return store_next_chunk(store, code, m->diag) < 0 ? -1 : n;
}

/* Puts what was gathered of a kind, and counts the rows that change something. */
static int put_kind(struct merger *m, const struct kind *kind, int64_t *count)
{
	static const char rows[] =
		"SELECT * FROM temp.sorted WHERE rowid > ? ORDER BY rowid LIMIT ?";
	sqlite3 *db = m->store->db;
	const int64_t before = sqlite3_total_changes(db);
	sqlite3_stmt *from = NULL, *put = NULL;
	int64_t after = 0, n = 1, sorted;
	char drop[64];
	int code;

	snprintf(drop, sizeof(drop), "DROP TABLE temp.%s", kind->name);
	code = sqlite3_exec(db, kind->sort, NULL, NULL, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_exec(db, drop, NULL, NULL, NULL);
	sorted = sqlite3_total_changes(db) - before;
	if (code == SQLITE_OK)
		code = sqlite3_prepare_v2(db, rows, -1, &from, NULL);
	if (code == SQLITE_OK && kind->put)
		code = sqlite3_prepare_v2(db, kind->put, -1, &put, NULL);
	if (code != SQLITE_OK)
		n = store_next_chunk(m->store, code, m->diag);
	while (n > 0)
		n = put_some(m, from, put, &after);
	*count = sqlite3_total_changes(db) - before - sorted;
	sqlite3_finalize(from);
	sqlite3_finalize(put);
	/* The next kind has a table of this name. */
	code = sqlite3_exec(db, "DROP TABLE IF EXISTS temp.sorted", NULL, NULL, NULL);
	if (n >= 0 && code != SQLITE_OK)
		n = store_next_chunk(m->store, code, m->diag);
	return n < 0 ? m->store->failure : 0;
}

static int put_all(struct merger *m)
{
	int64_t *const counts[] = {&m->out->blocks, &m->out->sources, &m->out->categories,
				   &m->out->measurements, &m->out->predictions};
	int status = tact_store_begin(m->store, m->diag), end;
	char sql[64];

	if (status < 0)
		return status;
	snprintf(sql, sizeof(sql), "PRAGMA main.cache_size = -%d", CACHE_KIB);
	sqlite3_exec(m->store->db, sql, NULL, NULL, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(kinds) && status >= 0; i++)
		status = put_kind(m, &kinds[i], counts[i]);
	if (!m->store->is_bulk) /* a failure has ended the transaction */
		return status;
	end = tact_store_end(m->store, status < 0 ? NULL : m->diag);
	return status < 0 ? status : end;
}

/* ---- merging ---- */

static int leave_out_hosts(struct merger *m)
{
	sqlite3_stmt *put = NULL;
	int code =
		sqlite3_exec(m->store->db, "CREATE TEMP TABLE left_host(name)", NULL, NULL, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_prepare_v2(m->store->db, "INSERT INTO temp.left_host VALUES(?)", -1,
					  &put, NULL);
	for (size_t i = 0; i < m->opt.n_without_hosts && code == SQLITE_OK; i++) {
		store_bind(put, 1, m->opt.without_hosts[i]);
		code = store_step_once(put, NULL) == SQLITE_DONE ? SQLITE_OK : SQLITE_NOMEM;
	}
	sqlite3_finalize(put);
	return code;
}

static int prepare(struct merger *m)
{
	sqlite3 *db = m->store->db;
	char sql[64];
	int code;

	snprintf(sql, sizeof(sql), "PRAGMA temp.cache_size = -%d", TEMPORARY_KIB);
	sqlite3_exec(db, sql, NULL, NULL, NULL);
	code = sqlite3_create_function(db, "tact_better", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
				       NULL, better, NULL, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_create_function(db, "tact_greater", -1,
					       SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, greater,
					       NULL, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(kinds) && code == SQLITE_OK; i++)
		code = sqlite3_exec(db, kinds[i].create, NULL, NULL, NULL);
	if (code == SQLITE_OK)
		code = leave_out_hosts(m);
	return code == SQLITE_OK ? 0 : store_fail(db, code, m->diag);
}

static void drop(struct merger *m)
{
	sqlite3_exec(m->store->db,
		     "DROP TABLE IF EXISTS temp.merged_machine;"
		     "DROP TABLE IF EXISTS temp.merged_host; DROP TABLE IF EXISTS temp.g_block;"
		     "DROP TABLE IF EXISTS temp.g_source; DROP TABLE IF EXISTS temp.g_category;"
		     "DROP TABLE IF EXISTS temp.g_measurement;"
		     "DROP TABLE IF EXISTS temp.g_prediction;"
		     "DROP TABLE IF EXISTS temp.left_host; DROP TABLE IF EXISTS temp.sorted",
		     NULL, NULL, NULL);
}

static int refuse_cores(const struct cores *all, struct tact_diag *diag)
{
	return tact_fail(diag, TACT_E_INVAL,
			 "the stores have measurements of different cores (%s, %s%s), and no one "
			 "of them has all",
			 all->name[0], all->name[1], all->n > 2 ? ", ..." : "");
}

/* Looks at all stores before anything is written. */
static int check_all(struct merger *m, const char *const *paths, bool *left_out, size_t n)
{
	struct cores *all = calloc(1, sizeof(*all));
	size_t most = 0;
	int status = all ? note_cores(m->store, all, &most, m->diag)
			 : tact_fail(m->diag, TACT_E_NOMEM, "out of memory");

	for (size_t i = 0; i < n && status >= 0; i++) {
		struct tact_store *other = NULL;

		status = open_other(&other, paths[i], m->diag);
		if (status >= 0 && is_itself(m->store, paths[i]))
			status = tact_fail(m->diag, TACT_E_INVAL,
					   "a store cannot be merged into itself");
		if (status >= 0)
			status = note_cores(other, all, &most, m->diag);
		tact_store_close(other);
		if (status >= 0 || status == -TACT_E_NOMEM || !m->opt.on_store)
			continue;
		left_out[i] = true;
		m->opt.on_store(m->opt.context, i, status, m->diag);
		status = 0;
	}
	if (status >= 0 && !m->opt.mixes_cores && most < all->n)
		status = refuse_cores(all, m->diag);
	free(all);
	return status;
}

int tact_store_merge_all(struct tact_store *store, const char *const *paths, size_t n,
			 const struct tact_merge_options *opt, struct tact_merge *out,
			 struct tact_diag *diag)
{
	struct tact_merge merge = {.size = sizeof(merge)};
	struct merger m = {.store = store, .out = &merge, .diag = diag};
	struct tact_diag unused = {0};
	bool *left_out;
	int status;

	if (!diag)
		m.diag = diag = &unused; /* on_store needs one */
	if (!store || !paths || !n || store->is_bulk || (out && !tact_can_fill(out)) ||
	    tact_read_options(&m.opt, sizeof(m.opt), opt) < 0)
		return tact_fail(diag, TACT_E_INVAL, "no store or path, or it is being written");
	for (size_t i = 0; i < n; i++)
		if (!paths[i])
			return tact_fail(diag, TACT_E_INVAL, "no path");
	if (store->is_readonly)
		return store_fail(NULL, SQLITE_READONLY, diag);
	left_out = calloc(n, sizeof(*left_out));
	if (!left_out)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	status = check_all(&m, paths, left_out, n);
	if (status >= 0)
		status = prepare(&m);
	if (status >= 0)
		status = gather_all(&m, paths, left_out, n);
	if (status >= 0)
		status = put_all(&m);
	drop(&m);
	free(left_out);
	return status < 0 ? status : out ? tact_fill(out, &merge, sizeof(merge)) : 0;
}

int tact_store_merge(struct tact_store *store, const char *path, struct tact_merge *out,
		     struct tact_diag *diag)
{
	const struct tact_merge_options opt = {.size = sizeof(opt), .mixes_cores = true};

	return tact_store_merge_all(store, &path, 1, &opt, out, diag);
}
