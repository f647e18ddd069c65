/* SPDX-License-Identifier: MIT */
#include <tact-program/mixfile.h>

#include "base/text.h"
#include <string.h>

#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int write_to(void *text, const char *piece, size_t size)
{
	text_add_bytes(text, piece, size);
	return 0;
}

/* Files of lines that are added up by key.  What is written can be read, and stays the same. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tact_mixfile *first = NULL, *again = NULL;
	struct text text = {0}, second = {0};
	char path[40];
	int fd = fuzz_file_open(path, data, size), copy = -1;

	if (fd < 0)
		return 0;
	if (tact_mixfile_create(&first) || tact_mixfile_add(first, path, NULL) < 0 ||
	    tact_mixfile_write(first, write_to, &text) || !text.size)
		goto out;
	copy = fuzz_file_open(path, (const uint8_t *)text.data, text.size);
	if (copy < 0 || tact_mixfile_create(&again))
		goto out;
	if (tact_mixfile_add(again, path, NULL) < 0 ||
	    tact_mixfile_write(again, write_to, &second) || second.size != text.size ||
	    memcmp(second.data, text.data, text.size) != 0)
		__builtin_trap();
out:
	tact_mixfile_destroy(first);
	tact_mixfile_destroy(again);
	text_free(&text);
	text_free(&second);
	close(fd);
	if (copy >= 0)
		close(copy);
	return 0;
}
