/* SPDX-License-Identifier: MIT
 *
 * Declarations that the files of the store module share.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <sqlite3.h>

#include <tact/store.h>

/* "tact" in the header of the file: tells our databases from others. */
enum { STORE_APPLICATION_ID = 0x74616374 };

/* The i-th step upgrades a store from version i to version i + 1.  The first one makes the tables
 * of an empty database.
 */
extern const char *const store_steps[];
extern const int store_n_steps; /* the version that this library writes */

/* Statements that live as long as the store. */
enum store_stmt {
	STORE_FIND_BLOCK,
	STORE_ADD_BLOCK,
	STORE_GET_BLOCK,
	STORE_PUT_MEASUREMENT,
	STORE_HAS_MEASUREMENT,
	STORE_GET_MEASUREMENT,
	STORE_PUT_SOURCE,
	STORE_PUT_CATEGORY,
	STORE_PUT_PREDICTION,
	STORE_FIND_HOST,
	STORE_ADD_HOST,
	STORE_PUT_CANARY,
	STORE_N_STMTS,
	/* prepared by tact_store_begin */
	STORE_MARK_SOURCE = STORE_N_STMTS,
	STORE_ADD_WEIGHT,
	STORE_SUM_SOURCE,
	STORE_N_ALL_STMTS
};

struct store_range {
	int64_t after, last;
};

struct tact_store {
	sqlite3 *db;			       /* owned */
	sqlite3_stmt *stmt[STORE_N_ALL_STMTS]; /* owned */
	char *hex;			       /* owned: digits of the current block */
	size_t hex_capacity;
	int64_t machine; /* row of this machine; 0: the store does not have it yet */
	int64_t host;	 /* the same for this host */
	int64_t committed_machine, committed_host; /* their values after a rollback */
	char host_name[TACT_STORE_NAME_MAX + 1];   /* "": the host's own name */
	double synced;		 /* when commits were last made to reach the disk; 0: not yet */
	struct store_range *own; /* owned: blocks that were added since tact_store_begin */
	size_t n_own, own_capacity;
	bool was_new;			    /* the last block that was put */
	uint64_t n_rows, chunk;		    /* rows of the current transaction; how many make one */
	int failure;			    /* of store_next_chunk */
	bool is_readonly, is_open, is_bulk; /* is_open: prepared; is_bulk: in tact_store_begin */
};

/* Upgrades a database to version n_steps, if it is older.  A step and its version number are one
 * transaction.  Returns 0, -TACT_E_VERSION for a newer database, or a failure of SQLite.
 */
int store_upgrade(sqlite3 *db, const char *const *steps, int n_steps, struct tact_diag *diag);

/* Translates a failure of SQLite to one of ours.  The caller adds the name of the file to the
 * message.  db may be NULL.
 */
int store_fail(sqlite3 *db, int code, struct tact_diag *diag);

/* Steps to the next row of a statement.  Returns 1, 0 at its end, or a failure as above.  At the
 * end, the statement is finalized and *stmt becomes NULL; further calls return 0.
 */
int store_next(struct tact_store *store, sqlite3_stmt **stmt, struct tact_diag *diag);

/* Enclose the writing of a row: as a transaction of its own, or as part of that of
 * tact_store_begin. store_finish takes the result of SQLite (good: SQLITE_OK or SQLITE_DONE) and
 * returns ours.
 */
int store_start(struct tact_store *store, struct tact_diag *diag);
int store_finish(struct tact_store *store, int code, struct tact_diag *diag);

/* Between tact_store_begin and _end: ends a transaction and begins the next, or rolls it back if the
 * result of SQLite is a failure.  Returns what it then leaves in store->failure.
 */
int store_next_chunk(struct tact_store *store, int code, struct tact_diag *diag);

/* Returns whether a block was added since tact_store_begin, by this store. */
bool store_is_own(const struct tact_store *store, int64_t block);

/* Lets all commits reach the disk; the second one if the last time is a second ago.  SQLite's codes.
 */
int store_sync(struct tact_store *store);
int store_sync_now_and_then(struct tact_store *store);

/* Runs a statement to its first row or its end, and resets it for the next time. */
int store_step_once(sqlite3_stmt *stmt, int64_t *number);
/* The text must outlive the step. */
void store_bind(sqlite3_stmt *stmt, int column, const char *text);

/* Finds the id of a block; adds the block if it is new.  is_new may be NULL.  SQLite's codes. */
int store_find_block(struct tact_store *store, const uint8_t *code, size_t size, int64_t *id,
		     bool *is_new);
/* Binds the code as hex digits, in the store's buffer, to parameter 1. */
int store_bind_hex(struct tact_store *store, sqlite3_stmt *stmt, const uint8_t *code, size_t size);

/* A measurement as a statement selects it, first of all its columns, and in this order. */
#define STORE_MEASURED                                                                             \
	" mode, init, rung, status, cycles_per_iteration, spread, kept, dropped, low, high, "      \
	"flags,"                                                                                   \
	" n_pages, reason, rounds, agree, disturbed, cpu, memory, vectors, alignment"
enum store_measured {
	STORE_MODE,
	STORE_INIT,
	STORE_RUNG,
	STORE_STATUS,
	STORE_CYCLES,
	STORE_SPREAD,
	STORE_KEPT,
	STORE_DROPPED,
	STORE_LOW,
	STORE_HIGH,
	STORE_FLAGS,
	STORE_N_PAGES,
	STORE_REASON,
	STORE_ROUNDS,
	STORE_AGREE,
	STORE_DISTURBED,
	STORE_CPU,
	STORE_MEMORY,
	STORE_VECTORS,
	STORE_ALIGNMENT,
	STORE_N_MEASURED
};

/* Reads the measurement of the current row.  Returns false if that is impossible.  A rung of
 * another version counts as unknown.
 */
bool store_read_measurement(sqlite3_stmt *stmt, struct tact_measurement *m);

int store_put_measurement(struct tact_store *store, int64_t block, const struct tact_measurement *m,
			  const struct tact_store_import *import, int64_t host);

/* Describes the machine that this runs on. */
void store_host(struct tact_machine *machine);
/* Finds the row of a machine; *id is 0 if it has none.  SQLite's codes. */
int store_find_machine(sqlite3 *db, const struct tact_machine *machine, int64_t *id, char *arch,
		       size_t arch_size);
int store_add_machine(sqlite3 *db, const struct tact_machine *machine, int64_t *id);

/* Finds the row of a host, or adds it; *id is 0 without a name.  SQLite's codes. */
int store_find_host(struct tact_store *store, const char *name, const char *kernel, int64_t *id);
/* Gives this machine and this host their rows.  SQLite's codes. */
int store_find_here(struct tact_store *store);
/* Names the host and the kernel that this runs on. */
struct store_place {
	char name[TACT_STORE_NAME_MAX + 1], kernel[TACT_STORE_NAME_MAX + 1];
};
void store_here(struct store_place *place);

/* Notes the cycles of a block that every host measures; of several numbers, the lowest is kept. */
int store_put_canary(struct tact_store *store, const uint8_t *code, size_t size,
		     const struct tact_measurement *m, struct tact_diag *diag);

/* Such a number.  The strings live until the next one. */
struct store_canary {
	const char *hex, *mode, *init, *memory, *vectors; /* what was measured */
	const char *core, *machine, *host, *rung;	  /* where */
	double cycles;
};
/* Calls each() for all of them, those of one block and core after each other, until it returns
 * something other than 0.
 */
int store_each_canary(struct tact_store *store,
		      int (*each)(void *context, const struct store_canary *canary), void *context,
		      struct tact_diag *diag);

/* Walks over a table about blocks, in the order of the blocks. */
struct store_follower {
	sqlite3_stmt *stmt; /* owned; its first column is the block */
	int64_t block;	    /* of the current row; INT64_MAX: there are no more */
	int64_t asked;	    /* which block was asked for last */
	bool is_started;
};

/* Reads sources and categories of blocks.  It is fastest if blocks are asked for in ascending order.
 */
struct store_details {
	int64_t block; /* the block that was read last; 0: none yet */
	struct store_follower follow_sources, follow_categories;
	struct tact_store_source *sources;	/* owned */
	struct tact_store_category *categories; /* owned */
	size_t n_sources, n_categories, source_capacity, category_capacity;
};
int store_details_init(struct store_details *details, sqlite3 *db);
int store_details_read(struct store_details *details, int64_t block); /* SQLite's codes */
void store_details_fini(struct store_details *details);

/* Reads a caller's filter.  Returns -TACT_E_INVAL. */
int store_read_filter(struct tact_store_filter *to, const struct tact_store_filter *from,
		      struct tact_diag *diag);
/* Binds the filter to those of the parameters ?1 to ?8 that the statement has, in the order of its
 * fields.  Parameters that do not filter are NULL.
 */
void store_bind_filter(sqlite3_stmt *stmt, const struct tact_store_filter *filter);

/* Prepares a statement that walks over the rows that pass a filter, and the reading of sources and
 * categories (details NULL: of nothing).  Returns -TACT_E_INVAL, -TACT_E_NOMEM, -TACT_E_IO,
 * -TACT_E_FORMAT.
 */
int store_select(struct tact_store *store, const char *sql, const struct tact_store_filter *filter,
		 sqlite3_stmt **stmt, struct store_details *details, struct tact_diag *diag);

/* Returns the text of a column, "" for NULL. */
const char *store_column(sqlite3_stmt *stmt, int i);
/* Reads hex digits of a column as bytes into a buffer that grows.  Returns 1, 0 if they are not
 * those of a block, or -TACT_E_NOMEM.
 */
int store_read_hex(sqlite3_stmt *stmt, int i, uint8_t **code, size_t *capacity, size_t *size,
		   struct tact_diag *diag);
/* Returns whether the current row looks unreadable only because memory ran out. */
bool store_is_out_of_memory(sqlite3_stmt *stmt);
/* Returns the number in a column; NAN if it is NULL, not a number, or not finite. */
double store_number(sqlite3_stmt *stmt, int i);
void store_copy(char *to, size_t size, const char *from);

/* ---- predicted.c ---- */

/* Finds the number of a block; *id is 0 if the store does not have it.  Returns 0 or a failure. */
int store_look_for_block(struct tact_store *store, const uint8_t *code, size_t size, int64_t *id,
			 struct tact_diag *diag);

/* Walks over the predictions of a model, of blocks that follow each other.  version NULL: any. */
struct store_predicted;
int store_predicted_create(struct store_predicted **out, struct tact_store *store,
			   const char *model, const char *version, struct tact_diag *diag);
int store_predicted_between(struct store_predicted *p, int64_t first, int64_t last,
			    struct tact_diag *diag);
/* Returns 1, 0 after the last one, or a failure.  Strings are valid until the next call; those that the
 * caller knows are NULL.
 */
int store_predicted_next(struct store_predicted *p, int64_t *block,
			 struct tact_store_prediction *prediction, struct tact_diag *diag);
uint64_t store_predicted_skipped(const struct store_predicted *p); /* rows that cannot be read */
void store_predicted_destroy(struct store_predicted *p);

/* ---- check.c ---- */

/* Check rows before they go into a store.  Each returns 0, or -TACT_E_INVAL with the reason.  Those
 * with `to` copy the caller's struct by its size.
 */
int store_check_block(const uint8_t *code, size_t size, struct tact_diag *diag);
int store_check_setting(enum tact_mode mode, enum tact_init init, struct tact_diag *diag);
int store_check_measurement(struct tact_measurement *to, const struct tact_measurement *from,
			    bool has_spread, struct tact_diag *diag);
int store_check_import(struct tact_store_import *to, const struct tact_store_import *from,
		       struct tact_diag *diag);
int store_check_prediction(struct tact_store_prediction *to,
			   const struct tact_store_prediction *from, struct tact_diag *diag);
int store_check_machine(struct tact_machine *to, const struct tact_machine *from,
			struct tact_diag *diag);
bool store_is_name(const char *name);
int store_fail_name(struct tact_diag *diag, const char *what); /* -TACT_E_INVAL */

/* Read names that the columns hold.  Return whether the name is known. */
bool store_read_mode(const char *name, enum tact_mode *mode);
bool store_read_init(const char *name, enum tact_init *init);
bool store_read_rung(const char *name, enum tact_rung *rung);
bool store_read_status(const char *name, enum tact_measure_status *status);
bool store_read_contents(const char *name, enum tact_contents *contents);
bool store_read_vectors(const char *name, enum tact_vectors *vectors);
/* Ignores letters that this version does not know: they only say more about a number. */
uint32_t store_read_flags(const char *letters);

#endif /* STORE_STORE_H */
