/* SPDX-License-Identifier: MIT
 *
 * Page faults: which pages the kernel has given to the program.
 */
#ifndef TRACE_PAGE_FAULTS_H
#define TRACE_PAGE_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FAULTS_PAGE = 4096 };

/* What an access needs of the kernel: nothing; pages of a file, or a page of zeros or of a copy. */
enum fault { FAULT_NONE, FAULT_FILE, FAULT_FRESH };

struct faults {
	uint64_t *seen; /* owned; NULL: none yet */
	size_t mask, n;
	uint64_t count;	 /* faults */
	bool has_failed; /* there was no memory */
};

void faults_fini(struct faults *f);

/* Touches an address of a process.  A page is fresh when it is first stored to.  One that is first read belongs
 * to a file: Linux maps 64 KiB around it.  Without memory, which `has_failed` says, or beyond half a
 * million pages, nothing is a fault.
 */
enum fault faults_touch(struct faults *f, uint32_t process, uint64_t address, bool is_store);

/* Returns whether an address was touched, or may have been.  */
bool faults_has(const struct faults *f, uint32_t process, uint64_t address);

#endif /* TRACE_PAGE_FAULTS_H */
