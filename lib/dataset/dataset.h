/* SPDX-License-Identifier: MIT
 *
 * What the files of the dataset module share.
 */
#ifndef DATASET_DATASET_H
#define DATASET_DATASET_H

#include <sqlite3.h>

#include <tact/dataset.h>

/* "tact" in the header of the file: what tells our databases from others. */
enum { STORE_APPLICATION_ID = 0x74616374 };

/* What brings a store from version i to version i + 1: the i-th step.  The first one makes the
 * tables of an empty database.
 */
extern const char *const store_steps[];
extern const int store_n_steps; /* the version that this library writes */

struct tact_store {
	sqlite3 *db;					  /* owned */
	sqlite3_stmt *find_block, *add_block, *put, *has; /* owned */
	int64_t machine; /* this one's row; 0: the store does not have it yet */
	bool is_readonly;
};

/* Brings a database to version n_steps; a step and its number are one transaction.  Does nothing
 * to one that has it.  Returns -TACT_E_VERSION for a newer one, and SQLite's failures.
 */
int store_upgrade(sqlite3 *db, const char *const *steps, int n_steps, struct tact_diag *diag);

/* A failure of SQLite as ours; the message leaves the file's name to the caller.  db may be NULL.
 */
int store_fail(sqlite3 *db, int code, struct tact_diag *diag);

/* Names that the columns hold. */
const char *store_mode_name(enum tact_mode mode); /* "loop", "unroll" */
const char *store_init_name(enum tact_init init); /* "stack", "same", "diff" */

#endif /* DATASET_DATASET_H */
