/* SPDX-License-Identifier: MIT
 *
 * What a block must neither read nor change: memory and files of the process that measures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "attack.h"

enum { GUARD = 0x5a, GUARD_BYTES = 1 << 14, SECRET_AT = 4096 + 64, SHORTEST = 3 };

static char in_data[64] = "not yet";

/* A page or more with the secret in the middle. */
static uint8_t *guarded(struct secrets *s, unsigned which, int flags, int fd)
{
	uint8_t *p = mmap(NULL, GUARD_BYTES, PROT_READ | PROT_WRITE, flags, fd, 0);

	assert_true(p != MAP_FAILED);
	memset(p, GUARD, GUARD_BYTES);
	memcpy(p + SECRET_AT, s->text, SECRET_BYTES);
	s->owned[which] = p;
	return p + SECRET_AT;
}

struct secrets *secrets_plant(uint64_t seed)
{
	struct secrets *s = calloc(1, sizeof(*s));
	struct rng rng = {seed * 0x9e3779b97f4a7c15u + 1};
	char *heap = malloc(SECRET_BYTES + 1);

	assert_true(s && heap);
	for (unsigned i = 0; i < SECRET_BYTES; i++)
		s->text[i] = (char)('b' + rng_below(&rng, 25));
	setenv("TACT_ATTACK_SECRET", s->text, 1);
	memcpy(in_data, s->text, sizeof(s->text));
	memcpy(heap, s->text, sizeof(s->text));
	s->file = open("/tmp", O_TMPFILE | O_RDWR, 0600); /* on purpose without O_CLOEXEC */
	assert_true(s->file >= 0 && pipe(s->pipe) == 0);
	assert_int_equal(ftruncate(s->file, GUARD_BYTES), 0);
	s->kind[0] = "the environment";
	s->at[0] = (const uint8_t *)getenv("TACT_ATTACK_SECRET");
	s->kind[1] = "static data";
	s->at[1] = (const uint8_t *)in_data;
	s->kind[2] = "the heap";
	s->at[2] = (const uint8_t *)heap;
	s->kind[3] = "private memory";
	s->at[3] = guarded(s, 0, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	s->kind[4] = "shared memory";
	s->at[4] = guarded(s, 1, MAP_SHARED | MAP_ANONYMOUS, -1);
	s->kind[5] = "a file";
	s->at[5] = guarded(s, 2, MAP_SHARED, s->file);
	return s;
}

const char *secrets_check(const struct secrets *s)
{
	struct pollfd p = {.fd = s->pipe[0], .events = POLLIN};
	struct stat st;

	for (unsigned i = 0; i < ARRAY_SIZE(s->owned); i++) {
		const uint8_t *guard = s->owned[i];

		for (size_t k = 0; k < GUARD_BYTES; k++)
			if (guard[k] != GUARD && (k < SECRET_AT || k >= SECRET_AT + SECRET_BYTES))
				return "memory has changed";
	}
	for (unsigned i = 0; i < N_SECRETS; i++)
		if (memcmp(s->at[i], s->text, SECRET_BYTES))
			return s->kind[i];
	if (poll(&p, 1, 0) != 0)
		return "something is in the pipe";
	if (fstat(s->file, &st) || st.st_size != GUARD_BYTES || lseek(s->file, 0, SEEK_CUR) != 0)
		return "the file has changed";
	/* A harness whose child has died has fewer. */
	if (s->n_descriptors && count_descriptors() > s->n_descriptors)
		return "there are more descriptors";
	return NULL;
}

const char *secrets_in_answer(const struct secrets *s, const struct tact_measurement *m)
{
	if (strstr(m->reason, s->text))
		return "the secret is in the reason";
	for (unsigned n = SHORTEST; n <= SECRET_BYTES; n++)
		for (unsigned at = 0; at + n <= SECRET_BYTES; at++) {
			uint64_t value = 0;
			char hex[20];

			memcpy(&value, s->text + at, n);
			snprintf(hex, sizeof(hex), "%llx", (unsigned long long)value);
			if (strstr(m->reason, hex))
				return "bytes of the secret are in the reason, as a number";
		}
	return NULL;
}

void secrets_free(struct secrets *s)
{
	for (unsigned i = 0; i < ARRAY_SIZE(s->owned); i++)
		munmap(s->owned[i], GUARD_BYTES);
	free((void *)(uintptr_t)s->at[2]);
	unsetenv("TACT_ATTACK_SECRET");
	close(s->file);
	close(s->pipe[0]);
	close(s->pipe[1]);
	free(s);
}
