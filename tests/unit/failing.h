/* SPDX-License-Identifier: MIT
 *
 * Allocations that are counted and that fail on demand, for tests that are linked with --wrap for
 * the functions below (see the Makefile).  Shared libraries have allocations of their own, which do
 * not fail.
 */
#ifndef TESTS_FAILING_H
#define TESTS_FAILING_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "testing.h"

#include <tact/status.h>

void *__real_malloc(size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__real_strndup(const char *text, size_t n);
char *__wrap_strndup(const char *text, size_t n);
ssize_t __real_getline(char **line, size_t *capacity, FILE *file);
ssize_t __wrap_getline(char **line, size_t *capacity, FILE *file);

static unsigned long n_allocations;
static long fail_after = -1; /* this many succeed, the next one fails; -1: none fails */
static bool is_lasting;	     /* all that follow the first one fail as well */
static bool has_failed;

static bool must_fail(void)
{
	n_allocations++;
	if (fail_after < 0 || fail_after-- > 0)
		return false;
	has_failed = true;
	fail_after = is_lasting ? 0 : -1;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return must_fail() ? NULL : __real_malloc(size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return must_fail() ? NULL : __real_aligned_alloc(alignment, size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return must_fail() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return must_fail() ? NULL : __real_realloc(p, size);
}

char *__wrap_strdup(const char *text)
{
	return must_fail() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t n)
{
	return must_fail() ? NULL : __real_strndup(text, n);
}

ssize_t __wrap_getline(char **line, size_t *capacity, FILE *file)
{
	if (!must_fail())
		return __real_getline(line, capacity, file);
	errno = ENOMEM;
	return -1;
}

/* Lets the n-th allocation fail, for every n until all is well; the status must say so each time.
 * Returns how many failed.
 */
__attribute__((unused)) static unsigned try_failures(int (*run)(void *arg), void *arg)
{
	for (long n = 0;; n++) {
		int status;

		fail_after = n;
		has_failed = false;
		status = run(arg);
		fail_after = -1;
		if (!has_failed) { /* it needed fewer than that */
			assert_int_equal(status, 0);
			return (unsigned)n;
		}
		if (status != -TACT_E_NOMEM)
			fail_msg("allocation %ld failed: %s", n, tact_strerror(status));
	}
}

#endif /* TESTS_FAILING_H */
