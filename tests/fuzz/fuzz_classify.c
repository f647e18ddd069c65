/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tact/classify.h>

#include "base/file.h"
#include "classify/classify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Models of tact classify.  What is read can be written, reads as the same, and labels blocks. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t code[] = {0x48, 0x01, 0xd8, 0x48, 0x8b, 0x07, 0x0f, 0xaf, 0xc3};
	struct tact_classifier *first = NULL, *again = NULL;
	int fd = memfd_create("model", MFD_CLOEXEC), copy = memfd_create("copy", MFD_CLOEXEC);
	struct tact_block *block = NULL;
	struct tact_label label = TACT_LABEL_INIT;
	struct tact_diag diag;
	char path[40], copy_path[40];
	struct text text = {0};
	size_t n;

	if (fd < 0 || copy < 0)
		goto out;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	snprintf(copy_path, sizeof(copy_path), "/proc/self/fd/%d", copy);
	if (write(fd, data, size) != (ssize_t)size || tact_classifier_load(&first, path, &diag) < 0)
		goto out;
	classify_print(first, NULL, &text);
	if (text.failed || file_write_all(copy, text.data, text.size) < 0 ||
	    tact_classifier_load(&again, copy_path, &diag) < 0)
		__builtin_trap();
	n = (size_t)first->prior.n_topics * first->prior.n_words;
	if (memcmp(first->lambda, again->lambda, n * sizeof(*first->lambda)) != 0 ||
	    memcmp(first->names, again->names, sizeof(first->names)) != 0 ||
	    memcmp(first->words, again->words, sizeof(first->words)) != 0)
		__builtin_trap();
	if (tact_block_create(&block, first->arch, NULL, NULL) < 0 ||
	    tact_block_load(block, code, sizeof(code), NULL) < 0)
		goto out;
	if (tact_classifier_apply(first, block, &label, &diag) < 0 ||
	    label.topic >= (int)first->prior.n_topics)
		__builtin_trap();
out:
	tact_block_destroy(block);
	tact_classifier_destroy(first);
	tact_classifier_destroy(again);
	text_free(&text);
	close(fd);
	close(copy);
	return 0;
}
