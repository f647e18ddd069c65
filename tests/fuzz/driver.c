/* SPDX-License-Identifier: MIT
 *
 * Runs a fuzz target without libFuzzer: over all files of the directories (or over files) given,
 * and over mutations of these that depend only on the seed.  Half of them are made by the target's
 * own mutator, if it has one.
 *
 *   fuzz_x [--mutate N] [--seconds S] [--seed S] [--keep FILE] DIRECTORY|FILE...
 *
 * With --seconds it ends by then, even if mutations are left; without --mutate, only then.  The input
 * that it ends with is written to FILE.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
#pragma weak LLVMFuzzerInitialize
#pragma weak LLVMFuzzerCustomMutator

enum { ROOM = 1024 }; /* bytes by which a mutator may let an input grow */

struct sample {
	uint8_t *data;
	size_t size;
};

struct corpus {
	struct sample *samples;
	size_t count;
};

static void die(const char *what)
{
	fprintf(stderr, "fuzz driver: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void *must(void *memory)
{
	if (!memory)
		die("memory");
	return memory;
}

static void add_file(struct corpus *corpus, const char *path)
{
	FILE *file = fopen(path, "rb");
	struct sample sample = {NULL, 0};
	size_t capacity = 0, done;

	if (!file)
		die(path);
	do {
		if (sample.size == capacity) {
			capacity = capacity ? 2 * capacity : 4096;
			sample.data = must(realloc(sample.data, capacity));
		}
		done = fread(sample.data + sample.size, 1, capacity - sample.size, file);
		sample.size += done;
	} while (done);
	fclose(file);
	corpus->samples =
		must(realloc(corpus->samples, (corpus->count + 1) * sizeof(*corpus->samples)));
	corpus->samples[corpus->count++] = sample;
}

static void add_path(struct corpus *corpus, const char *path)
{
	struct dirent **entries;
	struct stat info;
	int n, i;

	if (stat(path, &info))
		die(path);
	if (!S_ISDIR(info.st_mode)) {
		add_file(corpus, path);
		return;
	}
	n = scandir(path, &entries, NULL, alphasort); /* sorted, or the order would be random */
	if (n < 0)
		die(path);
	for (i = 0; i < n; i++) {
		char name[4096];

		snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.')
			add_path(corpus, name);
		free(entries[i]);
	}
	free(entries);
}

/* ---- the input that ends the program ---- */

static struct sample current;
static int kept = -1; /* where it is written to */

static void keep(void)
{
	if (kept >= 0 && write(kept, current.data, current.size) < 0)
		kept = -1;
}

static void end(int number)
{
	keep();
	signal(number, SIG_DFL);
	raise(number);
}

/* Sanitizers do not end the program by a signal. */
void __sanitizer_set_death_callback(void (*callback)(void));
#pragma weak __sanitizer_set_death_callback

static void keep_last(const char *path)
{
	static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGALRM};

	kept = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (kept < 0)
		die(path);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(keep);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (!__sanitizer_set_death_callback || signals[i] == SIGALRM)
			signal(signals[i], end);
}

/* An exact copy on the heap, so that reading past its end is noticed. */
static void run(const uint8_t *data, size_t size)
{
	enum { LONGEST = 60 };
	uint8_t *copy = must(malloc(size ? size : 1));

	if (size)
		memcpy(copy, data, size);
	current = (struct sample){copy, size};
	alarm(LONGEST); /* an input that takes that long is a finding, too */
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void change(uint8_t *data, size_t size, uint64_t *random)
{
	static const uint8_t special[] = {0, 1, 0x7f, 0x80, 0xff, '\n', ',', '"', '#', ';', '/'};
	const size_t at = fuzz_pick(random, size);
	size_t length;

	switch (fuzz_pick(random, 6)) {
	case 0:
		data[at] ^= (uint8_t)(1u << fuzz_pick(random, 8));
		break;
	case 1:
		data[at] = (uint8_t)fuzz_random(random);
		break;
	case 2:
		data[at] = special[fuzz_pick(random, sizeof(special))];
		break;
	case 3:
		length = fuzz_pick(random, size - at < 8 ? size - at : 8);
		memset(data + at, fuzz_pick(random, 2) ? 0xff : 0, length);
		break;
	case 4:
		length = fuzz_pick(random, size - at);
		memmove(data + at, data + fuzz_pick(random, size - length), length);
		break;
	default:
		data[at]++;
	}
}

/* What targets with a mutator of their own call for bytes without a structure. */
static uint64_t own_random = 1;

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size)
{
	if (!size && max_size)
		data[size++] = 0;
	for (size_t n = 1 + fuzz_pick(&own_random, 4); n > 0 && size; n--)
		change(data, size, &own_random);
	return size;
}

/* One sample changed in a few places, sometimes cut off or followed by part of another. */
static size_t mutate_bytes(uint8_t *data, size_t size, const struct sample *other, uint64_t *random)
{
	size_t n;

	if (fuzz_pick(random, 8) == 0)
		size = fuzz_pick(random, size + 1);
	if (fuzz_pick(random, 8) == 0) {
		const size_t from = fuzz_pick(random, other->size);

		memcpy(data + size, other->data + from, other->size - from);
		size += other->size - from;
	}
	for (n = 1 + fuzz_pick(random, 8); n > 0 && size; n--)
		change(data, size, random);
	return size;
}

static size_t mutate_by_target(uint8_t *data, size_t size, size_t max_size, uint64_t *random)
{
	for (size_t n = 1 + fuzz_pick(random, 4); n > 0; n--) {
		own_random = fuzz_random(random) | 1;
		size = LLVMFuzzerCustomMutator(data, size, max_size, (unsigned)fuzz_random(random));
	}
	return size;
}

static void run_mutation(const struct corpus *corpus, uint64_t *random)
{
	const struct sample *sample = &corpus->samples[fuzz_pick(random, corpus->count)];
	const struct sample *other = &corpus->samples[fuzz_pick(random, corpus->count)];
	const size_t max_size = sample->size + other->size + ROOM;
	uint8_t *data = must(malloc(max_size));
	size_t size = sample->size;

	if (size)
		memcpy(data, sample->data, size);
	if (LLVMFuzzerCustomMutator && fuzz_pick(random, 2))
		size = mutate_by_target(data, size, max_size, random);
	else
		size = mutate_bytes(data, size, other, random);
	run(data, size);
	free(data);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Returns how many were run. */
static unsigned long run_mutations(const struct corpus *corpus, unsigned long most, double until,
				   uint64_t random)
{
	unsigned long n = 0;

	while (n < most && (n % 16 || seconds() < until)) {
		run_mutation(corpus, &random);
		n++;
	}
	return n;
}

int main(int argc, char **argv)
{
	const double start = seconds();
	struct corpus corpus = {NULL, 0};
	unsigned long mutations = 0, n;
	double limit = 0;
	uint64_t random = 1;
	size_t i;
	int arg;

	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	for (arg = 1; arg < argc; arg++) {
		if (!strcmp(argv[arg], "--mutate") && arg + 1 < argc)
			mutations = strtoul(argv[++arg], NULL, 0);
		else if (!strcmp(argv[arg], "--seconds") && arg + 1 < argc)
			limit = strtod(argv[++arg], NULL);
		else if (!strcmp(argv[arg], "--seed") && arg + 1 < argc)
			random = strtoull(argv[++arg], NULL, 0) * 2 + 1; /* never 0 */
		else if (!strcmp(argv[arg], "--keep") && arg + 1 < argc)
			keep_last(argv[++arg]);
		else
			add_path(&corpus, argv[arg]);
	}
	if (!corpus.count) {
		fprintf(stderr, "fuzz driver: no files\n");
		return 2;
	}
	for (i = 0; i < corpus.count; i++)
		run(corpus.samples[i].data, corpus.samples[i].size);
	n = run_mutations(&corpus, mutations || limit <= 0 ? mutations : ULONG_MAX,
			  limit > 0 ? start + limit : HUGE_VAL, random);
	printf("%s: %zu files, %lu mutations, %.1f seconds\n", argv[0], corpus.count, n,
	       seconds() - start);
	for (i = 0; i < corpus.count; i++)
		free(corpus.samples[i].data);
	free(corpus.samples);
	return 0;
}
