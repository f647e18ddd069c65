/* SPDX-License-Identifier: MIT
 *
 * Runs a fuzz target without libFuzzer: over all files of the directories (or over files) given,
 * and over mutations of these that depend only on the seed.
 *
 *   fuzz_x [--mutate N] [--seed S] DIRECTORY|FILE...
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

/* Deterministic: xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift
 * generators, scrambled", 2016).
 */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1du;
}

static size_t pick(uint64_t *state, size_t limit)
{
	return limit ? (size_t)((next_random(state) >> 16) % limit) : 0;
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

/* An exact copy on the heap, so that reading past its end is noticed. */
static void run(const uint8_t *data, size_t size)
{
	uint8_t *copy = must(malloc(size ? size : 1));

	if (size)
		memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void change(uint8_t *data, size_t size, uint64_t *random)
{
	static const uint8_t special[] = {0, 1, 0x7f, 0x80, 0xff, '\n', ',', '"', '#', ';', '/'};
	const size_t at = pick(random, size);
	size_t length;

	switch (pick(random, 6)) {
	case 0:
		data[at] ^= (uint8_t)(1u << pick(random, 8));
		break;
	case 1:
		data[at] = (uint8_t)next_random(random);
		break;
	case 2:
		data[at] = special[pick(random, sizeof(special))];
		break;
	case 3:
		length = pick(random, size - at < 8 ? size - at : 8);
		memset(data + at, pick(random, 2) ? 0xff : 0, length);
		break;
	case 4:
		length = pick(random, size - at);
		memmove(data + at, data + pick(random, size - length), length);
		break;
	default:
		data[at]++;
	}
}

/* One sample changed in a few places, sometimes cut off or followed by part of another. */
static void run_mutation(const struct corpus *corpus, uint64_t *random)
{
	const struct sample *sample = &corpus->samples[pick(random, corpus->count)];
	const struct sample *other = &corpus->samples[pick(random, corpus->count)];
	uint8_t *data = must(malloc(sample->size + other->size + 1));
	size_t size = sample->size, n;

	memcpy(data, sample->data, size);
	if (pick(random, 8) == 0)
		size = pick(random, size + 1);
	if (pick(random, 8) == 0) {
		const size_t from = pick(random, other->size);

		memcpy(data + size, other->data + from, other->size - from);
		size += other->size - from;
	}
	for (n = 1 + pick(random, 8); n > 0 && size; n--)
		change(data, size, random);
	run(data, size);
	free(data);
}

int main(int argc, char **argv)
{
	struct corpus corpus = {NULL, 0};
	unsigned long mutations = 0, n;
	uint64_t random = 1;
	size_t i;
	int arg;

	for (arg = 1; arg < argc; arg++) {
		if (!strcmp(argv[arg], "--mutate") && arg + 1 < argc)
			mutations = strtoul(argv[++arg], NULL, 0);
		else if (!strcmp(argv[arg], "--seed") && arg + 1 < argc)
			random = strtoull(argv[++arg], NULL, 0) * 2 + 1; /* never 0 */
		else
			add_path(&corpus, argv[arg]);
	}
	if (!corpus.count) {
		fprintf(stderr, "fuzz driver: no files\n");
		return 2;
	}
	for (i = 0; i < corpus.count; i++)
		run(corpus.samples[i].data, corpus.samples[i].size);
	for (n = 0; n < mutations; n++)
		run_mutation(&corpus, &random);
	printf("%s: %zu files, %lu mutations\n", argv[0], corpus.count, mutations);
	for (i = 0; i < corpus.count; i++)
		free(corpus.samples[i].data);
	free(corpus.samples);
	return 0;
}
