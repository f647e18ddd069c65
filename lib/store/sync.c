/* SPDX-License-Identifier: MIT
 *
 * When rows reach the disk.
 *
 * A commit to the write-ahead log does not wait for the disk (synchronous = NORMAL): measuring would
 * wait most of the time.  Syncing the log makes all earlier commits permanent, as SQLite reads a log
 * up to its last valid commit ("Write-Ahead Logging", section 2; "WAL-mode File Format", section
 * 4.4).  What is no longer in the log was synced in the database before (section 4.3).
 */
#include <time.h>

#include "base/base.h"
#include "store/store.h"

#define SYNC_SECONDS 1.0

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int store_sync(struct tact_store *store)
{
	sqlite3_file *log = NULL;
	int code = sqlite3_file_control(store->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);

	if (code != SQLITE_OK)
		return code;
	/* Without methods it is not open: nothing has been written. */
	if (log && log->pMethods)
		code = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
	if (code == SQLITE_OK)
		store->synced = seconds();
	return code;
}

int store_sync_now_and_then(struct tact_store *store)
{
	/* The first commit is not old. */
	if (!(store->synced > 0))
		store->synced = seconds();
	return seconds() - store->synced >= SYNC_SECONDS ? store_sync(store) : SQLITE_OK;
}

int tact_store_sync(struct tact_store *store, struct tact_diag *diag)
{
	int code;

	if (!store)
		return tact_fail(diag, TACT_E_INVAL, "no store");
	if (store->is_readonly)
		return 0;
	code = store_sync(store);
	return code == SQLITE_OK ? 0 : store_fail(store->db, code, diag);
}
