/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"

static int fail(const struct spill *spill, struct tact_diag *diag)
{
	return tact_fail(diag, TACT_E_IO, "temporary file in %s: %s", spill->folder,
			 errno ? strerror(errno) : "it is shorter than it was");
}

/* Not every file system has files without a name: there it has one for a moment. */
static int make(struct spill *spill, struct tact_diag *diag)
{
	char name[4096];

	spill->fd = open(spill->folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	if (spill->fd >= 0)
		return 0;
	if (snprintf(name, sizeof(name), "%s/tact-XXXXXX", spill->folder) >= (int)sizeof(name)) {
		errno = ENAMETOOLONG;
		return fail(spill, diag);
	}
	spill->fd = mkostemp(name, O_CLOEXEC);
	if (spill->fd < 0)
		return fail(spill, diag);
	unlink(name);
	return 0;
}

int spill_write(struct spill *spill, const void *data, size_t size, struct tact_diag *diag)
{
	if (spill->fd < 0 && make(spill, diag) < 0)
		return -TACT_E_IO;
	if (file_write_all(spill->fd, data, size) < 0)
		return fail(spill, diag);
	spill->size += size;
	return 0;
}

int spill_read(const struct spill *spill, void *to, size_t size, uint64_t offset,
	       struct tact_diag *diag)
{
	errno = 0;
	if (!file_read_at(spill->fd, to, size, offset))
		return fail(spill, diag);
	return 0;
}

void spill_forget(struct spill *spill, uint64_t begin, uint64_t end)
{
	if (spill->fd >= 0 && begin < end)
		fallocate(spill->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)begin,
			  (off_t)(end - begin));
}

void spill_close(struct spill *spill)
{
	if (spill->fd >= 0)
		close(spill->fd);
	spill->fd = -1;
	spill->size = 0;
}
