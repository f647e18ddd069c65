/* SPDX-License-Identifier: MIT
 *
 * What several unit tests need.  Include after cmocka.h.
 */
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tact-program/program.h>
#include <tact/tact.h>

#include "base/base.h"
#include "base/text.h"

#define MAYBE_UNUSED __attribute__((unused))

/* xorshift64* (Vigna 2016): the same numbers on every machine. */
struct rng {
	uint64_t state;
};

MAYBE_UNUSED static uint64_t rng_next(struct rng *rng)
{
	rng->state ^= rng->state >> 12;
	rng->state ^= rng->state << 25;
	rng->state ^= rng->state >> 27;
	return rng->state * 0x2545f4914f6cdd1du;
}

MAYBE_UNUSED static unsigned rng_below(struct rng *rng, unsigned limit)
{
	return (unsigned)((rng_next(rng) >> 32) % limit);
}

/* Bytes of a hex string; blanks are left out.  Returns their number. */
MAYBE_UNUSED static size_t bytes_of(uint8_t *out, size_t capacity, const char *hex)
{
	char digits[1024];
	size_t n = 0, bad;
	long size;

	for (; *hex; hex++)
		if (*hex != ' ' && n < sizeof(digits))
			digits[n++] = *hex;
	assert_true(n / 2 <= capacity);
	size = tact_hex_decode(out, digits, n, &bad);
	assert_true(size >= 0);
	return (size_t)size;
}

/* A random instruction that the tables know: random bytes with likely prefixes, tried until one
 * is.  Returns its length.
 */
MAYBE_UNUSED static size_t random_insn(struct rng *rng, uint8_t *code, struct tact_insn *insn)
{
	static const uint8_t starts[][3] = {
		{0, 0, 0},	 {0, 0, 0},	     {0x48, 0, 0},    {0x66, 0, 0},
		{0x0f, 0, 0},	 {0x66, 0x0f, 0},    {0xf3, 0x0f, 0}, {0xf2, 0x0f, 0},
		{0xc5, 0, 0},	 {0xc4, 0xe2, 0},    {0xc4, 0xe3, 0}, {0x62, 0xf1, 0},
		{0x62, 0xf3, 0}, {0x48, 0x0f, 0},    {0x48, 0x8b, 0}, {0x48, 0x89, 0},
		{0x48, 0x8d, 0}, {0x66, 0x0f, 0x3a},
	};

	for (;;) {
		const uint8_t *start = starts[rng_below(rng, ARRAY_SIZE(starts))];
		uint64_t random[2] = {rng_next(rng), rng_next(rng)};
		size_t n = 0;
		int length;

		while (n < 3 && start[n]) {
			code[n] = start[n];
			n++;
		}
		memcpy(code + n, random, TACT_MAX_INSN_BYTES - n);
		length = tact_isa_decode(tact_isa_default(), insn, code, TACT_MAX_INSN_BYTES);
		if (length > 0 && insn->form != TACT_FORM_NONE)
			return (size_t)length;
	}
}

/* A block of 1 to `most` random instructions.  Returns its size in bytes. */
MAYBE_UNUSED static size_t random_block(struct rng *rng, uint8_t *code, unsigned most)
{
	unsigned n = 1 + rng_below(rng, most);
	struct tact_insn insn;
	size_t size = 0;

	while (n--) {
		uint8_t one[16] = {0};
		size_t length = random_insn(rng, one, &insn);

		memcpy(code + size, one, length);
		size += length;
	}
	return size;
}

/* Writes a text to a new file, whose path is like mkstemp's. */
MAYBE_UNUSED static void write_text(char *path, const char *text)
{
	const int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

/* A CPU with what a parameter file of this text changes; status as that of tact_arch_derive. */
MAYBE_UNUSED static int derive_from_text(struct tact_arch **out, const char *base, const char *text,
					 struct tact_diag *diag)
{
	char path[] = "/tmp/tact_params_XXXXXX";
	int status;

	write_text(path, text);
	status = tact_arch_derive(out, tact_arch_find(base), path, diag);
	unlink(path);
	return status;
}

/* Under a sanitizer (TACT_SLOW=1), which takes time and memory of its own. */
MAYBE_UNUSED static bool is_slow(void)
{
	const char *slow = getenv("TACT_SLOW");

	return slow && *slow == '1';
}

/* 1, or a tenth under a sanitizer. */
MAYBE_UNUSED static unsigned rounds(unsigned n)
{
	return is_slow() ? n / 10 + 1 : n;
}

/* Calls visit for every block of ../shared/data/bhive; returns false if it does not exist. */
MAYBE_UNUSED static bool
for_each_bhive_block(void (*visit)(const uint8_t *code, size_t size, void *arg), void *arg)
{
	static const char directory[] = "../shared/data/bhive";
	struct dirent *entry;
	DIR *dir = opendir(directory);

	if (!dir)
		return false;
	while ((entry = readdir(dir))) {
		char path[512], line[8192];
		FILE *f;

		if (!strstr(entry->d_name, ".csv"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		f = fopen(path, "r");
		assert_non_null(f);
		while (fgets(line, sizeof(line), f)) {
			uint8_t code[sizeof(line) / 2];
			size_t digits = strcspn(line, ",\r\n"), bad;
			long size = tact_hex_decode(code, line, digits, &bad);

			if (size > 0)
				visit(code, (size_t)size, arg);
		}
		fclose(f);
	}
	closedir(dir);
	return true;
}

/* A block for Skylake, and a simulator for it. */
struct models {
	struct tact_block *block;
	struct tact_simulator *simulator;
};

MAYBE_UNUSED static void models_open(struct models *m)
{
	assert_int_equal(tact_block_create(&m->block, tact_arch_find("SKL"), NULL, NULL), 0);
	assert_int_equal(tact_simulator_create(&m->simulator, NULL), 0);
}

MAYBE_UNUSED static void models_close(struct models *m)
{
	tact_simulator_destroy(m->simulator);
	tact_block_destroy(m->block);
}

/* Sinks for what writes to one: into a struct text, and one that has enough at once and counts how
 * often it is asked all the same.
 */
MAYBE_UNUSED static int collect_text(void *text, const char *data, size_t size)
{
	text_add_bytes(text, data, size);
	return 0;
}

MAYBE_UNUSED static int stop_at_once(void *calls, const char *data, size_t size)
{
	(void)data;
	(void)size;
	++*(int *)calls;
	return 1;
}

MAYBE_UNUSED static void expect_parts(struct text *text, const char *const *parts)
{
	for (; *parts; parts++)
		if (!strstr(text_string(text), *parts))
			fail_msg("'%s' is not in: %.1000s", *parts, text_string(text));
}

/* Makes a new report, and looks for all of these in it. */
#define EXPECT_REPORT(make, report, text, ...)                                                     \
	do {                                                                                       \
		text_reset(text);                                                                  \
		assert_int_equal(make(report, collect_text, text), 0);                             \
		expect_parts(text, (const char *const[]){__VA_ARGS__, NULL});                      \
	} while (0)

MAYBE_UNUSED static bool text_has(struct text *text, const char *what)
{
	return strstr(text_string(text), what) != NULL;
}

/* What a test has open, and whether it has children: both as before when all is over. */
MAYBE_UNUSED static unsigned count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

MAYBE_UNUSED static bool has_children(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

/* Bytes of machine code, or of a file, built part by part. */
struct bytes {
	uint8_t data[8192];
	size_t size;
};

MAYBE_UNUSED static void put_bytes(struct bytes *b, const void *data, size_t size)
{
	assert_true(b->size + size <= sizeof(b->data));
	memcpy(b->data + b->size, data, size);
	b->size += size;
}

#endif /* TESTS_SUPPORT_H */
