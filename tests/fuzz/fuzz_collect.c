/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "base/hash.h"

#include <tact/collect.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int touch(void *arg, const struct tact_collect_block *block)
{
	size_t *n = arg;

	hash_bytes(block->code, block->code_size);
	hash_bytes(block->function, strlen(block->function));
	return ++*n == 100000;
}

/* Object files: descent along branches, unwind tables, gaps. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tact_collect_options opt = {.size = sizeof(opt), .no_branch = size & 1};
	struct tact_collect *collect;
	size_t n = 0;
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size || tact_collect_create(&collect, &opt))
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	tact_collect_file(collect, path, NULL);
	tact_collect_finish(collect, touch, &n);
	tact_collect_destroy(collect);
	close(fd);
	return 0;
}
