/* SPDX-License-Identifier: MIT
 *
 * A directory for the stores of a test.  Include after cmocka.h.
 */
#ifndef TESTS_STORE_FIXTURE_H
#define TESTS_STORE_FIXTURE_H

#include <unistd.h>

#include <tact/store.h>

#include "support.h"

struct fixture {
	char directory[64], path[80], other[80]; /* names of two stores */
	struct tact_store *store;		 /* the test's; closed at its end */
	struct tact_diag diag;
};

static int make_directory(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	snprintf(f->directory, sizeof(f->directory), "/tmp/tact-store-XXXXXX");
	if (!mkdtemp(f->directory))
		return -1;
	snprintf(f->path, sizeof(f->path), "%s/x.db", f->directory);
	snprintf(f->other, sizeof(f->other), "%s/y.db", f->directory);
	*state = f;
	return 0;
}

static int remove_directory(void **state)
{
	struct fixture *f = *state;
	struct dirent *entry;
	DIR *directory;

	tact_store_close(f->store);
	directory = opendir(f->directory);
	while (directory && (entry = readdir(directory))) {
		char path[sizeof(f->directory) + sizeof(entry->d_name) + 1];

		snprintf(path, sizeof(path), "%s/%s", f->directory, entry->d_name);
		unlink(path);
	}
	if (directory)
		closedir(directory);
	rmdir(f->directory);
	free(f);
	return 0;
}

#endif /* TESTS_STORE_FIXTURE_H */
