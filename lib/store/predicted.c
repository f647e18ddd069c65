/* SPDX-License-Identifier: MIT
 *
 * Predictions of a model for blocks whose numbers are known.
 */
#include "store/store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

int store_look_for_block(struct tact_store *store, const uint8_t *code, size_t size, int64_t *id,
			 struct tact_diag *diag)
{
	sqlite3_stmt *find = store->stmt[STORE_FIND_BLOCK];
	int result = store_bind_hex(store, find, code, size);

	*id = 0;
	if (result == SQLITE_OK)
		result = store_step_once(find, id);
	return result == SQLITE_ROW || result == SQLITE_DONE ? 0
							     : store_fail(store->db, result, diag);
}

struct store_predicted {
	struct tact_store *store; /* borrowed */
	sqlite3_stmt *stmt;	  /* owned */
	uint64_t n_skipped;
};

int store_predicted_create(struct store_predicted **out, struct tact_store *store,
			   const char *model, const char *version, struct tact_diag *diag)
{
	static const char sql[] =
		"SELECT block, arch, mode, init, status, cycles_per_iteration, coverage"
		" FROM prediction WHERE block BETWEEN ?1 AND ?2 AND model = ?3"
		" AND (?4 IS NULL OR version = ?4)"
		" ORDER BY block, arch, mode, init, model, version";
	struct store_predicted *p;
	int status = tact_new(&p, sizeof(*p), out && store && model, "no store or model", diag);
	int code;

	if (status < 0)
		return status;
	p->store = store;
	code = sqlite3_prepare_v2(store->db, sql, -1, &p->stmt, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_bind_text(p->stmt, 3, model, -1, SQLITE_TRANSIENT);
	if (code == SQLITE_OK && version)
		code = sqlite3_bind_text(p->stmt, 4, version, -1, SQLITE_TRANSIENT);
	if (code != SQLITE_OK)
		status = store_fail(store->db, code == SQLITE_ERROR ? SQLITE_CORRUPT : code, diag);
	return HAND_OVER(out, p, status, store_predicted_destroy);
}

int store_predicted_between(struct store_predicted *p, int64_t first, int64_t last,
			    struct tact_diag *diag)
{
	int code;

	sqlite3_reset(p->stmt);
	code = sqlite3_bind_int64(p->stmt, 1, first);
	if (code == SQLITE_OK)
		code = sqlite3_bind_int64(p->stmt, 2, last);
	return code == SQLITE_OK ? 0 : store_fail(p->store->db, code, diag);
}

/* Returns whether the current row can be read. */
static bool read_row(const struct store_predicted *p, struct tact_store_prediction *x)
{
	*x = (struct tact_store_prediction){
		.size = sizeof(*x),
		.arch = store_column(p->stmt, 1),
		.status = store_column(p->stmt, 4),
		.coverage = store_number(p->stmt, 6),
	};
	if (!strcmp(x->status, "ok"))
		x->cycles_per_iteration = store_number(p->stmt, 5);
	return store_is_name(x->arch) && store_is_name(x->status) &&
	       store_read_mode(store_column(p->stmt, 2), &x->mode) &&
	       store_read_init(store_column(p->stmt, 3), &x->init);
}

int store_predicted_next(struct store_predicted *p, int64_t *block,
			 struct tact_store_prediction *prediction, struct tact_diag *diag)
{
	int code;

	while ((code = sqlite3_step(p->stmt)) == SQLITE_ROW) {
		*block = sqlite3_column_int64(p->stmt, 0);
		if (read_row(p, prediction))
			return 1;
		if (store_is_out_of_memory(p->stmt))
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
		p->n_skipped++;
	}
	return code == SQLITE_DONE ? 0 : store_fail(p->store->db, code, diag);
}

uint64_t store_predicted_skipped(const struct store_predicted *p)
{
	return p->n_skipped;
}

void store_predicted_destroy(struct store_predicted *p)
{
	if (!p)
		return;
	sqlite3_finalize(p->stmt);
	free(p);
}
