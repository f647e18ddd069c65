/* SPDX-License-Identifier: MIT
 *
 * Hosts: where rows were measured, and what each host makes of the canaries, blocks that all of them
 * measure.
 *
 * Rows of one machine may come from many hosts.  Of a canary's numbers on one host, the lowest is
 * kept, so that the order of merges does not matter.
 */
#include "store/store.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/base.h"

/* A name as the store takes it, whatever the system says. */
static void copy_name(char to[TACT_STORE_NAME_MAX + 1], const char *from)
{
	snprintf(to, TACT_STORE_NAME_MAX + 1, "%.*s", TACT_STORE_NAME_MAX, from);
	for (char *p = to; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
}

void store_here(struct store_place *place)
{
	struct utsname name;

	*place = (struct store_place){0};
	if (uname(&name))
		return;
	copy_name(place->name, name.nodename);
	copy_name(place->kernel, name.release);
}

int store_find_host(struct tact_store *store, const char *name, const char *kernel, int64_t *id)
{
	sqlite3_stmt *find = store->stmt[STORE_FIND_HOST], *add = store->stmt[STORE_ADD_HOST];
	int code;

	*id = 0;
	if (!name || !*name)
		return SQLITE_OK;
	store_bind(find, 1, name);
	store_bind(find, 2, kernel ? kernel : "");
	code = store_step_once(find, id);
	if (code != SQLITE_DONE)
		return code == SQLITE_ROW ? SQLITE_OK : code;
	store_bind(add, 1, name);
	store_bind(add, 2, kernel ? kernel : "");
	code = store_step_once(add, NULL);
	if (code == SQLITE_DONE)
		*id = sqlite3_last_insert_rowid(store->db);
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* ---- canaries ---- */

static int put_canary(struct tact_store *store, const uint8_t *code, size_t size,
		      const struct tact_measurement *m)
{
	sqlite3_stmt *put = store->stmt[STORE_PUT_CANARY];
	int result = store_bind_hex(store, put, code, size);

	if (result != SQLITE_OK)
		return result;
	store_bind(put, 2, tact_mode_name(m->mode));
	store_bind(put, 3, tact_init_name(m->init));
	store_bind(put, 4, tact_contents_name(m->memory));
	store_bind(put, 5, tact_vectors_name(m->vectors));
	sqlite3_bind_int64(put, 6, store->machine);
	sqlite3_bind_int64(put, 7, store->host);
	store_bind(put, 8, tact_rung_name(m->rung));
	sqlite3_bind_double(put, 9, m->cycles_per_iteration);
	return store_step_once(put, NULL);
}

int store_put_canary(struct tact_store *store, const uint8_t *code, size_t size,
		     const struct tact_measurement *m, struct tact_diag *diag)
{
	int result = store_check_block(code, size, diag);

	if (result >= 0 && m->status != TACT_MEASURE_OK)
		return 0;
	if (result >= 0)
		result = store_start(store, diag);
	if (result < 0)
		return result;
	result = store_find_here(store);
	if (result == SQLITE_OK && store->host)
		result = put_canary(store, code, size, m);
	return store_finish(store, result, diag);
}

int store_each_canary(struct tact_store *store,
		      int (*each)(void *context, const struct store_canary *canary), void *context,
		      struct tact_diag *diag)
{
	/* Cores without a model have no name but their numbers. */
	static const char sql[] =
		"SELECT hex, mode, init, memory, vectors,"
		" coalesce(nullif(arch, ''), vendor || ' ' || family || '/' || model) AS core,"
		" brand, host.name, rung, min(cycles_per_iteration)"
		" FROM canary JOIN machine ON machine.id = machine JOIN host ON host.id = host"
		" WHERE cycles_per_iteration > 0"
		" GROUP BY 1, 2, 3, 4, 5, 6, brand, host.name, rung"
		" ORDER BY 1, 2, 3, 4, 5, 6, 10, host.name, rung, brand";
	sqlite3_stmt *stmt = NULL;
	int code = sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL), result = 0;

	while (code == SQLITE_OK && !result) {
		struct store_canary c;

		code = sqlite3_step(stmt);
		if (code != SQLITE_ROW)
			break;
		c = (struct store_canary){
			.hex = store_column(stmt, 0),
			.mode = store_column(stmt, 1),
			.init = store_column(stmt, 2),
			.memory = store_column(stmt, 3),
			.vectors = store_column(stmt, 4),
			.core = store_column(stmt, 5),
			.machine = store_column(stmt, 6),
			.host = store_column(stmt, 7),
			.rung = store_column(stmt, 8),
			.cycles = sqlite3_column_double(stmt, 9),
		};
		result = each(context, &c);
		code = SQLITE_OK;
	}
	if (code != SQLITE_OK && code != SQLITE_DONE)
		result = store_fail(store->db, code, diag);
	sqlite3_finalize(stmt);
	return result;
}
