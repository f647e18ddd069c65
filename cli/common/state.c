/* SPDX-License-Identifier: MIT */
#include "common/state.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Makes the folder of a file, and those above it. */
static bool make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		bool failed;

		*slash = '\0';
		failed = mkdir(path, 0700) < 0 && errno != EEXIST;
		*slash = '/';
		if (failed)
			return false;
	}
	return true;
}

const char *state_path(const char *name, char path[STATE_PATH])
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n = -1;

	/* The specification of these variables: a path that is not absolute is ignored. */
	if (state && *state == '/')
		n = snprintf(path, STATE_PATH, "%s/tact/%s", state, name);
	else if (home && *home == '/')
		n = snprintf(path, STATE_PATH, "%s/.local/state/tact/%s", home, name);
	return n > 0 && n < STATE_PATH && make_folders(path) ? path : NULL;
}
