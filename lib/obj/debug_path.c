/* SPDX-License-Identifier: MIT
 *
 * Where debug files are: below /usr/lib/debug, and, for a file of a sysroot, below the sysroot's own
 * usr/lib/debug.  The sysroot need not be told: it is a directory above the file.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "obj/lines.h"

/* libdwfl's default: beside the file, in .debug beside it, below /usr/lib/debug. */
static const char standard[] = ":.debug:/usr/lib/debug";

/* libdwfl looks below such a directory for .build-id, and for debug links as if each of the
 * directories above the file were the root.
 */
static size_t add_root(char out[OBJ_DEBUG_PATH], size_t at, const char *root, size_t length)
{
	char text[PATH_MAX];
	const int n = snprintf(text, sizeof(text), ":%.*s/usr/lib/debug", (int)length, root);

	if (n < 0 || (size_t)n >= sizeof(text) || (size_t)n >= OBJ_DEBUG_PATH - at ||
	    strchr(text + 1, ':') || access(text + 1, X_OK))
		return at;
	memcpy(out + at, text, (size_t)n + 1);
	return at + (size_t)n;
}

void obj_debug_path(char out[OBJ_DEBUG_PATH], const char *path)
{
	size_t at = sizeof(standard) - 1;

	memcpy(out, standard, sizeof(standard));
	for (size_t length = strlen(path); length > 1;) {
		while (length && path[--length] != '/')
			;
		if (length)
			at = add_root(out, at, path, length);
	}
}
