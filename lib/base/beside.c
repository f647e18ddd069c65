/* SPDX-License-Identifier: MIT */
#include "base/beside.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

#ifndef TACT_PLUGIN_DIR
#define TACT_PLUGIN_DIR "/usr/local/lib/tact"
#endif

/* The file that holds this code.  False if it cannot be told. */
static bool own_file(char *path, size_t size)
{
	struct link_map *map = NULL;
	Dl_info info;
	ssize_t n;

	/* The program itself has no name there, and argv[0] may be anything. */
	if (dladdr1((const void *)(uintptr_t)beside_find, &info, (void **)&map, RTLD_DL_LINKMAP) &&
	    map && map->l_name && *map->l_name) {
		char real[PATH_MAX];

		return realpath(map->l_name, real) &&
		       (size_t)snprintf(path, size, "%s", real) < size;
	}
	n = readlink("/proc/self/exe", path, size - 1);
	path[n > 0 ? n : 0] = '\0';
	return n > 0;
}

int beside_find(const char *name, char *path, size_t size)
{
	static const char *const near[] = {
		"",		/* where all was built */
		"tact/",	/* of the library, as installed */
		"../lib/tact/", /* of a program, as installed */
	};
	char self[PATH_MAX], place[PATH_MAX + 64];
	const char *slash;

	snprintf(place, sizeof(place), "%s/%s", TACT_PLUGIN_DIR, name);
	slash = own_file(self, sizeof(self)) ? strrchr(self, '/') : NULL;
	for (size_t i = 0; slash && i < ARRAY_SIZE(near); i++) {
		char candidate[PATH_MAX + 64];

		snprintf(candidate, sizeof(candidate), "%.*s/%s%s", (int)(slash - self), self,
			 near[i], name);
		if (!access(candidate, R_OK)) {
			memcpy(place, candidate, sizeof(place));
			break;
		}
	}
	if (access(place, R_OK))
		return -TACT_E_NO_TOOL;
	return (size_t)snprintf(path, size, "%s", place) < size ? 0 : -TACT_E_LIMIT;
}
