/* SPDX-License-Identifier: MIT
 *
 * Walks over the blocks and the predictions of a store, and what all walks share.
 */
#include "store/store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* ---- columns ---- */

const char *store_column(sqlite3_stmt *stmt, int i)
{
	const char *text = (const char *)sqlite3_column_text(stmt, i);

	return text ? text : "";
}

void store_copy(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

bool store_read_mode(const char *name, enum tact_mode *mode)
{
	*mode = strcmp(name, "loop") ? TACT_MODE_UNROLL : TACT_MODE_LOOP;
	return !strcmp(name, tact_mode_name(*mode));
}

bool store_read_init(const char *name, enum tact_init *init)
{
	for (int i = TACT_INIT_STACK; i <= (int)TACT_INIT_DIFF; i++) {
		*init = (enum tact_init)i;
		if (!strcmp(name, tact_init_name(*init)))
			return true;
	}
	return false;
}

bool store_is_out_of_memory(sqlite3_stmt *stmt)
{
	return sqlite3_errcode(sqlite3_db_handle(stmt)) == SQLITE_NOMEM;
}

int store_read_hex(sqlite3_stmt *stmt, int i, uint8_t **code, size_t *capacity, size_t *size,
		   struct tact_diag *diag)
{
	const char *hex = store_column(stmt, i);
	size_t digits = strlen(hex), bad;

	if (store_is_out_of_memory(stmt))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (!digits || digits / 2 > TACT_BLOCK_MAX_BYTES + TACT_MEASURE_LOOP_BYTES)
		return 0;
	if (tact_grow(code, capacity, digits / 2 + 1, 1) < 0)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (tact_hex_decode(*code, hex, digits, &bad) < 0)
		return 0;
	*size = digits / 2;
	return 1;
}

double store_number(sqlite3_stmt *stmt, int i)
{
	double value = sqlite3_column_double(stmt, i); /* 0 for NULL */
	int type = sqlite3_column_type(stmt, i);

	return (type == SQLITE_FLOAT || type == SQLITE_INTEGER) && isfinite(value) ? value
										   : (double)NAN;
}

/* ---- filters ---- */

int store_read_filter(struct tact_store_filter *to, const struct tact_store_filter *from,
		      struct tact_diag *diag)
{
	if (tact_read_options(to, sizeof(*to), from) < 0)
		return tact_fail(diag, TACT_E_INVAL, "a filter of another version");
	if ((unsigned)to->mode > TACT_MODE_UNROLL || (unsigned)to->init > TACT_INIT_DIFF ||
	    (to->init && !to->has_init))
		return tact_fail(diag, TACT_E_INVAL, "a filter with an unknown mode or init");
	return 0;
}

void store_bind_filter(sqlite3_stmt *stmt, const struct tact_store_filter *filter)
{
	const char *const values[] = {
		filter->machine,
		filter->arch,
		filter->mode == TACT_MODE_AUTO ? NULL : tact_mode_name(filter->mode),
		filter->has_init ? tact_init_name(filter->init) : NULL,
		filter->app,
		filter->classifier,
		filter->model,
		filter->version,
		filter->host,
	};
	const int n = sqlite3_bind_parameter_count(stmt);

	for (int i = 0; i < n && i < (int)ARRAY_SIZE(values); i++)
		if (values[i])
			sqlite3_bind_text(stmt, i + 1, values[i], -1, SQLITE_TRANSIENT);
}

/* ---- details ---- */

/* Steps to the first row of a block or of a later one.  A step is cheaper than a search, and most
 * blocks that are asked for are neighbours: so a few steps are tried first.
 */
static int follow(struct store_follower *f, int64_t block)
{
	enum { STEPS = 16 };
	int code = SQLITE_ROW;

	if (block < f->asked)
		f->is_started = false;
	f->asked = block;
	for (int i = 0; !f->is_started || f->block < block; i++) {
		if (!f->is_started || i == STEPS) {
			sqlite3_reset(f->stmt);
			sqlite3_bind_int64(f->stmt, 1, block);
			f->is_started = true;
		}
		code = sqlite3_step(f->stmt);
		f->block = code == SQLITE_ROW ? sqlite3_column_int64(f->stmt, 0) : INT64_MAX;
		if (code != SQLITE_ROW)
			break;
	}
	if (code == SQLITE_ROW || code == SQLITE_DONE)
		return SQLITE_OK;
	f->is_started = false;
	return code;
}

/* Steps to the next row. */
static int next_row(struct store_follower *f)
{
	int code = sqlite3_step(f->stmt);

	f->block = code == SQLITE_ROW ? sqlite3_column_int64(f->stmt, 0) : INT64_MAX;
	return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

int store_details_init(struct store_details *details, sqlite3 *db)
{
	int code = sqlite3_prepare_v2(db,
				      "SELECT block, app, weight FROM source WHERE block >= ?"
				      " ORDER BY block, app",
				      -1, &details->follow_sources.stmt, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_prepare_v2(db,
					  "SELECT block, classifier, arch, label FROM category"
					  " WHERE block >= ? ORDER BY block, classifier, arch",
					  -1, &details->follow_categories.stmt, NULL);
	return code;
}

void store_details_fini(struct store_details *details)
{
	sqlite3_finalize(details->follow_sources.stmt);
	sqlite3_finalize(details->follow_categories.stmt);
	FREE_ALL(details->sources, details->categories);
}

static int read_sources(struct store_details *d, int64_t block)
{
	struct store_follower *f = &d->follow_sources;
	int code = follow(f, block);

	while (code == SQLITE_OK && f->block == block) {
		struct tact_store_source *source;

		if (tact_grow(&d->sources, &d->source_capacity, d->n_sources + 1,
			      sizeof(*d->sources)) < 0)
			return SQLITE_NOMEM;
		source = &d->sources[d->n_sources++];
		store_copy(source->app, sizeof(source->app), store_column(f->stmt, 1));
		source->weight = store_number(f->stmt, 2);
		code = next_row(f);
	}
	return code;
}

static int read_categories(struct store_details *d, int64_t block)
{
	struct store_follower *f = &d->follow_categories;
	int code = follow(f, block);

	while (code == SQLITE_OK && f->block == block) {
		struct tact_store_category *c;

		if (tact_grow(&d->categories, &d->category_capacity, d->n_categories + 1,
			      sizeof(*d->categories)) < 0)
			return SQLITE_NOMEM;
		c = &d->categories[d->n_categories++];
		store_copy(c->classifier, sizeof(c->classifier), store_column(f->stmt, 1));
		store_copy(c->arch, sizeof(c->arch), store_column(f->stmt, 2));
		store_copy(c->label, sizeof(c->label), store_column(f->stmt, 3));
		code = next_row(f);
	}
	return code;
}

/* The block of the last call may be asked for again: what was read is still there. */
int store_details_read(struct store_details *details, int64_t block)
{
	int code;

	if (details->block == block)
		return SQLITE_OK;
	details->block = 0;
	details->n_sources = details->n_categories = 0;
	code = read_sources(details, block);
	if (code == SQLITE_OK)
		code = read_categories(details, block);
	if (code == SQLITE_OK)
		details->block = block;
	return code;
}

/* ---- blocks ---- */

int store_select(struct tact_store *store, const char *sql, const struct tact_store_filter *filter,
		 sqlite3_stmt **stmt, struct store_details *details, struct tact_diag *diag)
{
	struct tact_store_filter f;
	int code = store_read_filter(&f, filter, diag);

	if (code < 0)
		return code;
	code = sqlite3_prepare_v2(store->db, sql, -1, stmt, NULL);
	if (code == SQLITE_OK) {
		store_bind_filter(*stmt, &f);
		code = details ? store_details_init(details, store->db) : SQLITE_OK;
	}
	if (code == SQLITE_OK)
		return 0;
	return store_fail(store->db, code == SQLITE_ERROR ? SQLITE_CORRUPT : code, diag);
}

struct tact_store_blocks {
	struct tact_store *store; /* borrowed */
	sqlite3_stmt *stmt;	  /* owned */
	struct store_details details;
	uint8_t *code; /* owned */
	size_t capacity;
	uint64_t n_skipped;
};

int store_next(struct tact_store *store, sqlite3_stmt **stmt, struct tact_diag *diag)
{
	int code = *stmt ? sqlite3_step(*stmt) : SQLITE_DONE;

	if (code == SQLITE_DONE) {
		/* Another step would begin at the first row again. */
		sqlite3_finalize(*stmt);
		*stmt = NULL;
		return 0;
	}
	return code == SQLITE_ROW ? 1 : store_fail(store->db, code, diag);
}

int tact_store_blocks_create(struct tact_store_blocks **out, struct tact_store *store,
			     const struct tact_store_filter *filter, struct tact_diag *diag)
{
#define BLOCKS                                                                                     \
	"SELECT id, hex FROM block WHERE ?5 IS NULL OR"                                            \
	" EXISTS(SELECT 1 FROM source WHERE block = id AND app = ?5) ORDER BY "
	static const char sql[] = BLOCKS "id", by_code_sql[] = BLOCKS "hex";
	struct tact_store_filter f;
	struct tact_store_blocks *blocks;
	int status;

	if (out)
		*out = NULL;
	status = store_read_filter(&f, filter, diag);
	if (status >= 0)
		status = tact_new(&blocks, sizeof(*blocks), out && store, "no store", diag);
	if (status < 0)
		return status;
	blocks->store = store;
	status = store_select(store, f.is_by_code ? by_code_sql : sql, filter, &blocks->stmt,
			      &blocks->details, diag);
	return HAND_OVER(out, blocks, status, tact_store_blocks_destroy);
}

/* Reads the current block.  Returns 1, 0 if it cannot be read, or < 0. */
static int read_block(struct tact_store_blocks *blocks, struct tact_store_block *block,
		      struct tact_diag *diag)
{
	int status = store_read_hex(blocks->stmt, 1, &blocks->code, &blocks->capacity,
				    &block->code_size, diag);
	int code;

	if (status <= 0 || block->code_size > TACT_BLOCK_MAX_BYTES)
		return status < 0 ? status : 0;
	block->id = sqlite3_column_int64(blocks->stmt, 0);
	code = store_details_read(&blocks->details, block->id);
	if (code != SQLITE_OK)
		return store_fail(blocks->store->db, code, diag);
	block->code = blocks->code;
	block->sources = blocks->details.sources;
	block->n_sources = blocks->details.n_sources;
	block->categories = blocks->details.categories;
	block->n_categories = blocks->details.n_categories;
	return 1;
}

int tact_store_blocks_next(struct tact_store_blocks *blocks, struct tact_store_block *block,
			   struct tact_diag *diag)
{
	struct tact_store_block b = {.size = sizeof(b)};
	int status;

	if (!blocks || !tact_can_fill(block))
		return tact_fail(diag, TACT_E_INVAL, "no iterator or block");
	while ((status = store_next(blocks->store, &blocks->stmt, diag)) > 0) {
		status = read_block(blocks, &b, diag);
		if (status)
			break;
		blocks->n_skipped++;
	}
	return status > 0 ? tact_fill(block, &b, sizeof(b)), 1 : status;
}

uint64_t tact_store_blocks_skipped(const struct tact_store_blocks *blocks)
{
	return blocks ? blocks->n_skipped : 0;
}

void tact_store_blocks_destroy(struct tact_store_blocks *blocks)
{
	if (!blocks)
		return;
	sqlite3_finalize(blocks->stmt);
	store_details_fini(&blocks->details);
	FREE_ALL(blocks->code, blocks);
}

int tact_store_get_block(struct tact_store *store, int64_t id, uint8_t *code, size_t capacity,
			 size_t *size, struct tact_diag *diag)
{
	sqlite3_stmt *stmt;
	const char *hex;
	size_t digits, bad;
	int result, status;

	if (!store || !code || !size)
		return tact_fail(diag, TACT_E_INVAL, "no store, or no room for a block");
	stmt = store->stmt[STORE_GET_BLOCK];
	sqlite3_bind_int64(stmt, 1, id);
	result = sqlite3_step(stmt);
	status = result == SQLITE_DONE ? 0 : 1;
	if (result == SQLITE_ROW) {
		hex = store_column(stmt, 0);
		digits = strlen(hex);
		if (store_is_out_of_memory(stmt))
			status = tact_fail(diag, TACT_E_NOMEM, "out of memory");
		else if (digits / 2 > capacity)
			status = tact_fail(diag, TACT_E_LIMIT, "a block of %zu bytes", digits / 2);
		else if (!digits || tact_hex_decode(code, hex, digits, &bad) < 0)
			status = tact_fail(diag, TACT_E_FORMAT,
					   "the store has a block that cannot be read: %.40s", hex);
		else
			*size = digits / 2;
	} else if (result != SQLITE_DONE) {
		status = store_fail(store->db, result, diag);
	}
	sqlite3_reset(stmt);
	return status;
}

/* ---- predictions ---- */

struct tact_store_predictions {
	struct tact_store *store; /* borrowed */
	sqlite3_stmt *stmt;	  /* owned */
	uint8_t *code;		  /* owned */
	size_t capacity;
	uint64_t n_skipped;
};

int tact_store_predictions_create(struct tact_store_predictions **out, struct tact_store *store,
				  const struct tact_store_filter *filter, struct tact_diag *diag)
{
#define COLUMNS                                                                                    \
	"SELECT block, hex, arch, mode, init, model, version, status, cycles_per_iteration,"       \
	" coverage, bottlenecks FROM "
#define WHERE                                                                                      \
	" WHERE (?2 IS NULL OR arch = ?2) AND (?3 IS NULL OR mode = ?3)"                           \
	" AND (?4 IS NULL OR init = ?4)"                                                           \
	" AND (?5 IS NULL OR EXISTS(SELECT 1 FROM source WHERE source.block = block.id"            \
	" AND app = ?5))"                                                                          \
	" AND (?7 IS NULL OR model = ?7) AND (?8 IS NULL OR version = ?8)"
	static const char sql[] = COLUMNS "prediction JOIN block ON block.id = block" WHERE
					  " ORDER BY block, arch, mode, init, model, version";
	static const char by_code_sql[] =
		COLUMNS "block CROSS JOIN prediction ON prediction.block = block.id" WHERE
			" ORDER BY hex, arch, mode, init, model, version";
	struct tact_store_filter f;
	struct tact_store_predictions *iter;
	int status;

	if (out)
		*out = NULL;
	status = store_read_filter(&f, filter, diag);
	if (status >= 0)
		status = tact_new(&iter, sizeof(*iter), out && store, "no store", diag);
	if (status < 0)
		return status;
	iter->store = store;
	status = store_select(store, f.is_by_code ? by_code_sql : sql, filter, &iter->stmt, NULL,
			      diag);
	return HAND_OVER(out, iter, status, tact_store_predictions_destroy);
}

/* Reads the current prediction and the code of its block.  Returns 1, 0 if it cannot be read, or
 * < 0.
 */
static int read_prediction(struct tact_store_predictions *iter, struct tact_store_prediction *p,
			   size_t *size, struct tact_diag *diag)
{
	struct tact_store_prediction checked;
	sqlite3_stmt *stmt = iter->stmt;
	size_t own_size;
	int status = store_read_hex(stmt, 1, &iter->code, &iter->capacity, &own_size, diag);

	if (status <= 0 || own_size > TACT_BLOCK_MAX_BYTES)
		return status < 0 ? status : 0;
	*p = (struct tact_store_prediction){
		.size = sizeof(*p),
		.arch = store_column(stmt, 2),
		.model = store_column(stmt, 5),
		.version = store_column(stmt, 6),
		.status = store_column(stmt, 7),
		.coverage = store_number(stmt, 9),
		.bottlenecks = store_column(stmt, 10),
	};
	*size = own_size;
	status = store_read_mode(store_column(stmt, 3), &p->mode) &&
		 store_read_init(store_column(stmt, 4), &p->init);
	if (!strcmp(p->status, "ok"))
		p->cycles_per_iteration = store_number(stmt, 8);
	if (store_is_out_of_memory(stmt))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	return status && store_check_prediction(&checked, p, NULL) >= 0;
}

int tact_store_predictions_next(struct tact_store_predictions *iter, int64_t *block,
				const uint8_t **code, size_t *code_size,
				struct tact_store_prediction *prediction, struct tact_diag *diag)
{
	struct tact_store_prediction p;
	size_t size = 0;
	int status;

	if (!iter || !tact_can_fill(prediction))
		return tact_fail(diag, TACT_E_INVAL, "no iterator or prediction");
	while ((status = store_next(iter->store, &iter->stmt, diag)) > 0) {
		status = read_prediction(iter, &p, &size, diag);
		if (status)
			break;
		iter->n_skipped++;
	}
	if (status <= 0)
		return status;
	if (block)
		*block = sqlite3_column_int64(iter->stmt, 0);
	if (code)
		*code = iter->code;
	if (code_size)
		*code_size = size;
	tact_fill(prediction, &p, sizeof(p));
	return 1;
}

uint64_t tact_store_predictions_skipped(const struct tact_store_predictions *iter)
{
	return iter ? iter->n_skipped : 0;
}

void tact_store_predictions_destroy(struct tact_store_predictions *iter)
{
	if (!iter)
		return;
	sqlite3_finalize(iter->stmt);
	FREE_ALL(iter->code, iter);
}
