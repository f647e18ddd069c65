/* SPDX-License-Identifier: MIT
 *
 * Code of the test program itself, for recordings that name a file.
 */
#ifndef TESTS_OWN_CODE_H
#define TESTS_OWN_CODE_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#include "testing.h"

/* Returns where code of this program is in its file. */
static uint64_t offset_in_file(const char *code)
{
	const uint64_t here = (uint64_t)(uintptr_t)code;
	FILE *file = fopen("/proc/self/maps", "r");
	uint64_t begin, end, offset, found = 0;
	char line[4096];

	assert_non_null(file);
	while (!found && fgets(line, sizeof(line), file))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &begin, &end, &offset) ==
			    3 &&
		    here >= begin && here < end)
			found = here - begin + offset;
	fclose(file);
	assert_true(found > 0);
	return found;
}

#endif /* TESTS_OWN_CODE_H */
