/* SPDX-License-Identifier: MIT
 *
 * Stores of blocks and measurements: one SQLite file; doc/formats.md describes its tables.
 */
#ifndef TACT_DATASET_H
#define TACT_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/block.h>
#include <tact/measure.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tact_store_flag {
	TACT_STORE_CREATE = 1 << 0,  /* makes the file if there is none, or if it is empty */
	TACT_STORE_READONLY = 1 << 1 /* changes nothing; not together with CREATE */
};

/* The machine that a row was measured on: the CPU, not the host.  Two hosts that agree in all of
 * this but arch are the same machine.
 */
struct tact_machine {
	size_t size;
	int64_t id;         /* in its store */
	char vendor[16];
	char brand[64];
	unsigned family, model, stepping;
	char microcode[24]; /* "" if it could not be read */
	bool is_virtual;
	char arch[16];      /* tact's name of it; "": it is not modelled */
};

struct tact_store; /* one thread at a time */

/* Opens a store.  One of an older version is upgraded, unless it is read only.
 * Returns -TACT_E_IO if the file cannot be opened, read or written, -TACT_E_FORMAT if it is not a
 * store, or damaged, -TACT_E_VERSION if it comes from a newer version (or, read only, from an older
 * one), -TACT_E_LIMIT if another program keeps it locked, -TACT_E_INVAL, -TACT_E_NOMEM.
 */
int tact_store_open(struct tact_store **out, const char *path, unsigned flags,
		    struct tact_diag *diag);

/* NULL is allowed.  Iterators of the store must be closed before. */
void tact_store_close(struct tact_store *store);

/* Whether a file begins as a database of SQLite does.  False if it cannot be read. */
bool tact_store_is_store(const char *path);

/* Adds the result for a block on this machine; one with the same block, mode and init is replaced.
 * When this returns, the row survives the end of the process, however it ends.
 * Returns -TACT_E_IO (disk full, read only), -TACT_E_LIMIT (locked), -TACT_E_FORMAT (damaged),
 * -TACT_E_INVAL, -TACT_E_NOMEM.
 */
int tact_store_put_measurement(struct tact_store *store, const uint8_t *code, size_t size,
			       const struct tact_measurement *m, struct tact_diag *diag);

/* 1 if there is a row for the block on this machine, good or bad, 0 if there is none; < 0 as above.
 * mode is LOOP or UNROLL.
 */
int tact_store_has_measurement(struct tact_store *store, const uint8_t *code, size_t size,
			       enum tact_mode mode, enum tact_init init, struct tact_diag *diag);

/* Rows in the order in which their blocks came. */
struct tact_store_row {
	size_t size;
	const uint8_t *code; /* owned by the iterator until its next call */
	size_t code_size;
	const struct tact_machine *machine; /* likewise */
	struct tact_measurement measurement;
	const char *version; /* of tact that measured it; likewise */
};

struct tact_store_iter;

/* Returns -TACT_E_INVAL, -TACT_E_NOMEM, and those of tact_store_open for a bad file. */
int tact_store_iter_create(struct tact_store_iter **out, struct tact_store *store,
			   struct tact_diag *diag);

/* 1 with *row filled, 0 behind the last row, or < 0; -TACT_E_FORMAT for a row that no version of
 * tact writes.
 */
int tact_store_iter_next(struct tact_store_iter *iter, struct tact_store_row *row,
			 struct tact_diag *diag);
void tact_store_iter_destroy(struct tact_store_iter *iter); /* NULL is allowed */

/* How well predictions agree with measurements. */
struct tact_agreement {
	size_t size;
	size_t n;
	double mape;   /* mean of |predicted - measured| / measured */
	double median; /* of the same */
	double tau;    /* Kendall's tau-b; only if has_tau */
	bool has_tau;  /* false for fewer than two pairs, or if all values of a side are the same */
};

/* Returns -TACT_E_INVAL if n is 0 or a measured value is not positive, -TACT_E_NOMEM. */
int tact_agreement_compute(const double *predicted, const double *measured, size_t n,
			   struct tact_agreement *out);

#ifdef __cplusplus
}
#endif

#endif /* TACT_DATASET_H */
