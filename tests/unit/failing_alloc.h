/* SPDX-License-Identifier: MIT
 *
 * Allocations that are counted and that may fail.  For programs that are linked with --wrap for
 * malloc, calloc, realloc, strdup and strndup.
 */
#ifndef TESTS_FAILING_ALLOC_H
#define TESTS_FAILING_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

#include "testing.h"

#include <tact/status.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);

static unsigned long n_allocations;
static long fail_after = -1; /* this many succeed, the next one fails; -1: none fails */

static bool must_fail(void)
{
	n_allocations++;
	return fail_after >= 0 && fail_after-- == 0;
}

void *__wrap_malloc(size_t size)
{
	return must_fail() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return must_fail() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return must_fail() ? NULL : __real_realloc(p, size);
}

char *__wrap_strdup(const char *s)
{
	return must_fail() ? NULL : __real_strdup(s);
}

char *__wrap_strndup(const char *s, size_t n)
{
	return must_fail() ? NULL : __real_strndup(s, n);
}

/* Lets the n-th allocation fail, for every n until all is well; returns how many failed. */
static unsigned try_failures(int (*run)(void *arg), void *arg)
{
	for (long n = 0;; n++) {
		int status;

		fail_after = n;
		status = run(arg);
		if (fail_after >= 0) { /* it needed fewer than that */
			fail_after = -1;
			assert_int_equal(status, 0);
			return (unsigned)n;
		}
		fail_after = -1;
		assert_int_equal(status, -TACT_E_NOMEM);
	}
}

#endif /* TESTS_FAILING_ALLOC_H */
