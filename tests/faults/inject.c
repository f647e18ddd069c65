/* SPDX-License-Identifier: MIT
 *
 * A library that is loaded before all others into the program, counts its calls of the C library by
 * the place that they come from, and lets one of them fail.
 *
 * FAULT_PROGRAM  the program that is disturbed; those that it starts are not
 * FAULT_TABLE  a file of 2^16 pairs of 64-bit numbers, zeros at first: place and count of calls.
 *              Processes that the program forks share it.  A place is a hash of the return
 *              addresses, which are the same in each run if addresses are not random; its lowest
 *              four bits are the kind of call.
 * FAULT_DEPTH  how many return addresses make a place (default: 14, most: 22)
 * FAULT_PLACE  the place whose FAULT_NTH-th call (the first is 1; 0: all calls) fails
 * FAULT_ERRNO  with this number; 0: it does less than it was asked for
 * FAULT_NAPS   a number: calls of all processes but allocations wait for up to two milliseconds at
 *              random, so that others come between them
 * FAULT_SHOW   a file: where the call that fails comes from, as backtrace_symbols(3) writes it
 * FAULT_LOG    a file: what happens to files is appended, see inject_log.c
 * FAULT_CLOCK  the time of day jumps by so many seconds, forth and back
 */
#include "inject.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 1 << 16, DEPTH = 24, SKIPPED = 2 };

struct slot {
	_Atomic uint64_t place, count;
};

static struct slot *table;
static uint64_t wanted, nth;
static int wanted_errno, depth = 14;
static _Atomic uint64_t naps; /* state of the random numbers; 0: none */
static bool is_on;
static __thread bool is_inside;

void *inject_find(const char *name)
{
	const bool was = is_inside;
	void *found;

	is_inside = true;
	found = dlsym(RTLD_NEXT, name);
	is_inside = was;
	return found;
}

static uint64_t place_of(enum kind kind)
{
	void *frames[DEPTH];
	const int n = backtrace(frames, depth + SKIPPED);
	uint64_t hash = 1469598103934665603u;

	for (int i = SKIPPED; i < n; i++)
		hash = (hash ^ (uintptr_t)frames[i]) * 1099511628211u;
	return ((hash ^ hash >> 32) << 4 | kind) + 16;
}

/* Returns which call of its place this is. */
static uint64_t count(uint64_t place)
{
	for (uint64_t i = 0; i < SLOTS; i++) {
		struct slot *slot = &table[(place / 16 + i) % SLOTS];
		uint64_t none = 0;

		if (atomic_compare_exchange_strong(&slot->place, &none, place) || none == place)
			return atomic_fetch_add(&slot->count, 1) + 1;
	}
	return 0;
}

/* Says where this call comes from. */
static void show(void)
{
	const char *path = getenv("FAULT_SHOW");
	const int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
	void *frames[DEPTH];

	if (fd < 0)
		return;
	backtrace_symbols_fd(frames, backtrace(frames, DEPTH), fd);
	close(fd);
}

/* One call of four waits. */
static void nap(enum kind kind)
{
	uint64_t x = atomic_load(&naps);
	struct timespec time = {0};

	if (!x || kind == ALLOC)
		return;
	x = atomic_fetch_add(&naps, 0x9e3779b97f4a7c15u);
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u; /* SplitMix64 */
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	x ^= x >> 31;
	if (x & 3)
		return;
	time.tv_nsec = (long)(x >> 2) & 0x1fffff;
	syscall(SYS_nanosleep, &time, NULL);
}

bool inject_fails_or(enum kind kind, bool *is_short)
{
	const int error = errno;
	uint64_t place, now;

	nap(kind);
	errno = error;

	if (!is_on || is_inside)
		return false;
	is_inside = true;
	place = place_of(kind);
	now = count(place);
	if (place == wanted && (!nth || now == nth))
		show();
	is_inside = false;
	errno = error;
	if (place != wanted || (nth && now != nth))
		return false;
	if (!wanted_errno && is_short)
		*is_short = true;
	if (!wanted_errno)
		return false;
	errno = wanted_errno;
	return true;
}

bool inject_fails(enum kind kind)
{
	return inject_fails_or(kind, NULL);
}

void inject_naps(void)
{
	const int error = errno;

	if (is_on && !is_inside)
		nap(N_KINDS);
	errno = error;
}

static uint64_t number_of(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : 0;
}

__attribute__((constructor)) static void start(void)
{
	const char *path = getenv("FAULT_TABLE"), *program = getenv("FAULT_PROGRAM");
	char self[4096];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	void *frames[4];
	int fd;

	if (n < 0 || !path || !program)
		return;
	self[n] = 0;
	if (strcmp(self, program) != 0)
		return;
	is_inside = true;
	backtrace(frames, 4); /* loads a library the first time */
	fd = open(path, O_RDWR | O_CLOEXEC);
	table = mmap(NULL, SLOTS * sizeof(*table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (number_of("FAULT_DEPTH") && number_of("FAULT_DEPTH") <= DEPTH - SKIPPED)
		depth = (int)number_of("FAULT_DEPTH");
	wanted = number_of("FAULT_PLACE");
	nth = number_of("FAULT_NTH");
	wanted_errno = (int)number_of("FAULT_ERRNO");
	is_on = table != MAP_FAILED;
	naps = number_of("FAULT_NAPS") ? number_of("FAULT_NAPS") + (uint64_t)getpid() : 0;
	is_inside = false;
}

/* ---- memory ---- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
	return inject_fails(ALLOC) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return inject_fails(ALLOC) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	return inject_fails(ALLOC) ? NULL : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return inject_fails(ALLOC) ? NULL : __libc_realloc(old, bytes);
}

void *memalign(size_t alignment, size_t size)
{
	return inject_fails(ALLOC) ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return inject_fails(ALLOC) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	*out = inject_fails(ALLOC) ? NULL : __libc_memalign(alignment, size);
	return *out ? 0 : ENOMEM;
}
