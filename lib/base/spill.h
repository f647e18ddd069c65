/* SPDX-License-Identifier: MIT
 *
 * A temporary file without a name: it goes away with the process, however that ends.
 */
#ifndef TACT_BASE_SPILL_H
#define TACT_BASE_SPILL_H

#include <stddef.h>
#include <stdint.h>

#include <tact/status.h>

struct spill {
	int fd;		    /* owned; -1: none yet */
	uint64_t size;	    /* of what was written */
	const char *folder; /* borrowed */
};
#define SPILL_INIT(in)                                                                             \
	{                                                                                          \
		.fd = -1, .folder = (in)                                                           \
	}

/* Appends; the first call makes the file.  Returns 0, or -TACT_E_IO with a message that names the
 * folder.
 */
int spill_write(struct spill *spill, const void *data, size_t size, struct tact_diag *diag);

/* Reads exactly so many bytes from an offset.  Any thread may call it.  Returns 0 or -TACT_E_IO. */
int spill_read(const struct spill *spill, void *to, size_t size, uint64_t offset,
	       struct tact_diag *diag);

/* Gives the disk back what nobody will read again; it is not told if that cannot be done. */
void spill_forget(struct spill *spill, uint64_t begin, uint64_t end);

void spill_close(struct spill *spill);

#endif /* TACT_BASE_SPILL_H */
