/* SPDX-License-Identifier: MIT
 *
 * Finds the plugin for QEMU: near the library, or near the program that the library is linked into,
 * or where the plugin was meant to be installed.
 */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/trace.h"

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
	if (dladdr1((const void *)(uintptr_t)tact_trace_plugin, &info, (void **)&map,
		    RTLD_DL_LINKMAP) &&
	    map && map->l_name && *map->l_name) {
		char real[PATH_MAX];

		return realpath(map->l_name, real) &&
		       (size_t)snprintf(path, size, "%s", real) < size;
	}
	n = readlink("/proc/self/exe", path, size - 1);
	path[n > 0 ? n : 0] = '\0';
	return n > 0;
}

int tact_trace_plugin(char *path, size_t size)
{
	static const char *const near[] = {
		"tact_trace.so",	     /* where all was built */
		"tact/tact_trace.so",	     /* of the library, as installed */
		"../lib/tact/tact_trace.so", /* of a program, as installed */
	};
	char self[PATH_MAX], place[PATH_MAX + 32] = TACT_PLUGIN_DIR "/tact_trace.so", *slash;
	bool is_known;

	if (!path || !size)
		return -TACT_E_INVAL;
	*path = '\0';
	is_known = own_file(self, sizeof(self));
	slash = is_known ? strrchr(self, '/') : NULL;
	for (size_t i = 0; slash && i < ARRAY_SIZE(near); i++) {
		char candidate[PATH_MAX + 32];

		snprintf(candidate, sizeof(candidate), "%.*s/%s", (int)(slash - self), self,
			 near[i]);
		if (!access(candidate, R_OK)) {
			memcpy(place, candidate, sizeof(place));
			break;
		}
	}
	if (access(place, R_OK))
		return -TACT_E_NO_TOOL;
	if ((size_t)snprintf(path, size, "%s", place) < size)
		return 0;
	*path = '\0';
	return -TACT_E_LIMIT;
}
