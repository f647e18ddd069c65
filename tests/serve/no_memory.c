/* SPDX-License-Identifier: MIT
 *
 * Loaded into the service before other libraries: the first NO_MEMORY buffers that libmicrohttpd asks
 * for a connection are refused.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

enum { BUFFER = 32 << 10 }; /* HEADER_BYTES of serve_http.c */

void *__libc_malloc(size_t size);
void *malloc(size_t size);

static atomic_int left = -1;

void *malloc(size_t size)
{
	if (size >= BUFFER && size < BUFFER + 64) {
		const char *n = getenv("NO_MEMORY");

		if (atomic_load(&left) < 0)
			atomic_store(&left, n ? atoi(n) : 0);
		if (atomic_load(&left) > 0) {
			atomic_fetch_sub(&left, 1);
			errno = ENOMEM;
			return NULL;
		}
	}
	return __libc_malloc(size);
}
