/* SPDX-License-Identifier: MIT
 *
 * What the files of the store module share.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <sqlite3.h>

#include <tact/store.h>

/* "tact" in the header of the file: what tells our databases from others. */
enum { STORE_APPLICATION_ID = 0x74616374 };

/* What brings a store from version i to version i + 1: the i-th step.  The first one makes the
 * tables of an empty database.
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
	STORE_PUT_SOURCE,
	STORE_PUT_CATEGORY,
	STORE_PUT_PREDICTION,
	STORE_N_STMTS,
	/* made by tact_store_begin */
	STORE_MARK_SOURCE = STORE_N_STMTS,
	STORE_ADD_WEIGHT,
	STORE_N_ALL_STMTS
};

struct tact_store {
	sqlite3 *db;			       /* owned */
	sqlite3_stmt *stmt[STORE_N_ALL_STMTS]; /* owned */
	char *hex;			       /* owned: digits of the block at hand */
	size_t hex_capacity;
	int64_t machine;		    /* this one's row; 0: the store does not have it yet */
	int64_t committed_machine;	    /* what it is after a transaction was taken back */
	uint64_t n_rows, chunk;		    /* of the transaction at hand; how many are one */
	bool is_readonly, is_open, is_bulk; /* is_open: prepared; is_bulk: in tact_store_begin */
};

/* Brings a database to version n_steps; a step and its number are one transaction.  Does nothing
 * to one that has it.  Returns -TACT_E_VERSION for a newer one, and SQLite's failures.
 */
int store_upgrade(sqlite3 *db, const char *const *steps, int n_steps, struct tact_diag *diag);

/* A failure of SQLite as ours; the message leaves the file's name to the caller.  db may be NULL.
 */
int store_fail(sqlite3 *db, int code, struct tact_diag *diag);

/* The next row of a statement: 1; 0 at its end; a failure as above. */
int store_next(struct tact_store *store, sqlite3_stmt *stmt, struct tact_diag *diag);

/* Around a row: a transaction, or a part of that of tact_store_begin.  store_finish takes the
 * result of SQLite, SQLITE_OK or SQLITE_DONE if it was good, and gives ours.
 */
int store_start(struct tact_store *store, struct tact_diag *diag);
int store_finish(struct tact_store *store, int code, struct tact_diag *diag);

/* Runs a statement to its first row or its end, and makes it ready for the next time. */
int store_step_once(sqlite3_stmt *stmt, int64_t *number);
/* The text must live until then. */
void store_bind(sqlite3_stmt *stmt, int column, const char *text);

/* The id of a block, which is added if it is not there; *is_new may be NULL.  SQLite's codes. */
int store_find_block(struct tact_store *store, const uint8_t *code, size_t size, int64_t *id,
		     bool *is_new);
/* Parameter 1: the code as hex digits, in the store's buffer. */
int store_bind_hex(struct tact_store *store, sqlite3_stmt *stmt, const uint8_t *code, size_t size);

int store_put_measurement(struct tact_store *store, int64_t block, const struct tact_measurement *m,
			  const struct tact_store_import *import);

/* The host's row. */
void store_host(struct tact_machine *machine);
/* The machine's row: 0 if there is none.  SQLite's codes. */
int store_find_machine(sqlite3 *db, const struct tact_machine *machine, int64_t *id, char *arch,
		       size_t arch_size);
int store_add_machine(sqlite3 *db, const struct tact_machine *machine, int64_t *id);

/* Rows of a table about blocks, in the order of the blocks. */
struct store_follower {
	sqlite3_stmt *stmt; /* owned; its first column is the block */
	int64_t block;	    /* of the row at hand; INT64_MAX: there are no more */
	bool is_started;
};

/* Sources and categories of blocks, which are asked for in their order. */
struct store_details {
	int64_t block; /* whose these are; 0: nothing was read yet */
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
/* Binds the filter to parameters ?1 .. ?8 in the order of its fields, as far as the statement has
 * them; what is not asked for is NULL.
 */
void store_bind_filter(sqlite3_stmt *stmt, const struct tact_store_filter *filter);

/* A statement that walks over the rows that a filter lets through, and what is told of blocks
 * beside them (details NULL: nothing).  Returns -TACT_E_INVAL, -TACT_E_NOMEM, -TACT_E_IO,
 * -TACT_E_FORMAT.
 */
int store_select(struct tact_store *store, const char *sql, const struct tact_store_filter *filter,
		 sqlite3_stmt **stmt, struct store_details *details, struct tact_diag *diag);

/* Text of a column, "" for NULL. */
const char *store_column(sqlite3_stmt *stmt, int i);
/* Reads hex digits of a column as bytes into a buffer that grows.  Returns 1, 0 if they are not
 * those of a block, or -TACT_E_NOMEM.
 */
int store_read_hex(sqlite3_stmt *stmt, int i, uint8_t **code, size_t *capacity, size_t *size,
		   struct tact_diag *diag);
/* Returns whether the row at hand looks unreadable only because memory ran out in between. */
bool store_is_out_of_memory(sqlite3_stmt *stmt);
/* Number of a column; NAN for NULL, for what is not a number and for what is not finite. */
double store_number(sqlite3_stmt *stmt, int i);
void store_copy(char *to, size_t size, const char *from);

/* ---- check.c: rows before they go in ---- */

/* Each returns 0, or -TACT_E_INVAL with the reason.  Those with `to` read the caller's struct by
 * its size.
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

/* Names that the columns hold. */
bool store_read_mode(const char *name, enum tact_mode *mode);
bool store_read_init(const char *name, enum tact_init *init);
bool store_read_rung(const char *name, enum tact_rung *rung);
bool store_read_status(const char *name, enum tact_measure_status *status);
/* Letters that this version does not know are left out: they only say more about a number. */
uint32_t store_read_flags(const char *letters);

#endif /* STORE_STORE_H */
