/* SPDX-License-Identifier: MIT
 *
 * Two versions of the library in one run: how many blocks a second each predicts and simulates, and
 * whether they say the same.
 *
 *   against [--blocks DIR] [--archs NAME,...] BEFORE AFTER
 *
 * BEFORE and AFTER are shared libraries.  They take turns, and the best turn of each counts, so that
 * the ratio holds on a machine that does other things, too.  The blocks are those of DIR/<name>.csv
 * (first column hex; default ../shared/data/bhive).  Exits with 1 if any cycles differ.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tact/tact.h>

#include "base/base.h"

enum {
	TURNS = 5,
	PREDICTED = 20000, /* blocks of a turn, evenly from all */
	SIMULATED = 400
};

struct code {
	uint8_t *bytes; /* owned */
	size_t size;
};

struct codes {
	struct code *list; /* owned */
	size_t n, capacity;
};

/* What is called of a library. */
struct version {
	__typeof__(&tact_arch_find) arch_find;
	__typeof__(&tact_block_create) block_create;
	__typeof__(&tact_block_destroy) block_destroy;
	__typeof__(&tact_block_load) block_load;
	__typeof__(&tact_predict) predict;
	__typeof__(&tact_simulator_create) simulator_create;
	__typeof__(&tact_simulator_destroy) simulator_destroy;
	__typeof__(&tact_simulate) simulate;
};

/* A turn: what it took, and a hash of all cycles. */
struct turn {
	double seconds;
	uint64_t cycles;
};

static void die(const char *what, const char *why)
{
	fprintf(stderr, "against: %s: %s\n", what, why);
	exit(2);
}

static void take(void *library, const char *name, void *function)
{
	void *address = dlsym(library, name);

	if (!address)
		die("dlsym", dlerror());
	memcpy(function, &address, sizeof(address));
}

static struct version open_version(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	struct version v;

	if (!library)
		die("dlopen", dlerror());
	take(library, "tact_arch_find", &v.arch_find);
	take(library, "tact_block_create", &v.block_create);
	take(library, "tact_block_destroy", &v.block_destroy);
	take(library, "tact_block_load", &v.block_load);
	take(library, "tact_predict", &v.predict);
	take(library, "tact_simulator_create", &v.simulator_create);
	take(library, "tact_simulator_destroy", &v.simulator_destroy);
	take(library, "tact_simulate", &v.simulate);
	return v;
}

static void add_file(struct codes *all, const char *path)
{
	char line[16384];
	FILE *f = fopen(path, "r");

	if (!f)
		die(path, strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		const size_t digits = strspn(line, "0123456789abcdefABCDEF");
		struct code *code;
		size_t bad;

		if (!digits || digits % 2 || (line[digits] != ',' && line[digits] != '\n'))
			continue;
		if (tact_grow(&all->list, &all->capacity, all->n + 1, sizeof(*all->list)) < 0)
			die(path, "no memory");
		code = &all->list[all->n++];
		code->size = digits / 2;
		code->bytes = malloc(code->size);
		if (!code->bytes || tact_hex_decode(code->bytes, line, digits, &bad) < 0)
			die(path, "no memory");
	}
	fclose(f);
}

static void add_directory(struct codes *all, const char *directory)
{
	struct dirent **entries;
	int n = scandir(directory, &entries, NULL, alphasort);

	if (n < 0)
		die(directory, strerror(errno));
	for (int i = 0; i < n; i++) {
		const size_t length = strlen(entries[i]->d_name);
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", directory, entries[i]->d_name);
		if (length > 4 && !strcmp(entries[i]->d_name + length - 4, ".csv"))
			add_file(all, path);
		free(entries[i]);
	}
	free(entries);
}

static double processor_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void note(struct turn *turn, double cycles)
{
	uint64_t bits;

	memcpy(&bits, &cycles, sizeof(bits));
	turn->cycles = turn->cycles * 31 + bits;
}

/* Predicts, or with a simulator simulates, every step-th block. */
static struct turn run(const struct version *v, const char *arch, enum tact_mode mode,
		       const struct codes *all, size_t step, bool simulates)
{
	const struct tact_block_options opt = {.size = sizeof(opt), .mode = mode};
	struct tact_simulator *simulator = NULL;
	struct tact_block *block;
	struct turn turn = {0};

	if (v->block_create(&block, v->arch_find(arch), &opt, NULL) < 0 ||
	    (simulates && v->simulator_create(&simulator, NULL) < 0))
		die(arch, "cannot begin");
	turn.seconds = processor_now();
	for (size_t i = 0; i < all->n; i += step) {
		struct tact_prediction p = TACT_PREDICTION_INIT;
		struct tact_simulation s = TACT_SIMULATION_INIT;

		if (v->block_load(block, all->list[i].bytes, all->list[i].size, NULL) < 0)
			continue;
		if (simulates && v->simulate(simulator, block, NULL, &s) == 0)
			note(&turn, s.cycles_per_iteration);
		else if (!simulates && v->predict(block, NULL, &p) == 0)
			for (unsigned b = 0; b < TACT_N_BOUNDS; b++)
				note(&turn, p.bound[b]);
	}
	turn.seconds = processor_now() - turn.seconds;
	if (simulates)
		v->simulator_destroy(simulator);
	v->block_destroy(block);
	return turn;
}

/* Prints blocks per second of both and their ratio; returns whether they say the same. */
static bool compare(const struct version *versions, const char *arch, enum tact_mode mode,
		    const struct codes *all, bool simulates)
{
	const size_t step = all->n / (simulates ? SIMULATED : PREDICTED) + 1;
	const double n = (double)((all->n + step - 1) / step);
	struct turn best[2] = {{0}};

	for (unsigned t = 0; t < TURNS; t++)
		for (unsigned k = 0; k < 2; k++) {
			struct turn turn = run(&versions[k], arch, mode, all, step, simulates);

			if (!t || turn.seconds < best[k].seconds)
				best[k] = turn;
		}
	printf("  %9.0f %9.0f %5.2f%s", n / best[0].seconds, n / best[1].seconds,
	       best[0].seconds / best[1].seconds, best[0].cycles == best[1].cycles ? "" : "!");
	fflush(stdout);
	return best[0].cycles == best[1].cycles;
}

static bool is_wanted(const char *archs, const char *name)
{
	const char *at = archs ? strstr(archs, name) : name;

	return at && (!archs || ((at == archs || at[-1] == ',') && strchr(",", at[strlen(name)])));
}

int main(int argc, char **argv)
{
	const char *directory = "../shared/data/bhive", *archs = NULL, *paths[2] = {NULL, NULL};
	struct version versions[2];
	struct codes all = {0};
	bool same = true;
	unsigned n = 0;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--blocks") && i + 1 < argc)
			directory = argv[++i];
		else if (!strcmp(argv[i], "--archs") && i + 1 < argc)
			archs = argv[++i];
		else if (n < 2)
			paths[n++] = argv[i];
	}
	if (n < 2)
		die("usage", "against [--blocks DIR] [--archs NAME,...] BEFORE AFTER");
	for (unsigned k = 0; k < 2; k++)
		versions[k] = open_version(paths[k]);
	add_directory(&all, directory);
	if (!all.n)
		die(directory, "no blocks");
	printf("Blocks a second before, after and their ratio; !: the cycles differ\n\n");
	printf("arch    predict unrolled            predict loop                simulate unrolled  "
	       "         simulate loop\n");
	for (const struct tact_arch *a = NULL; (a = tact_arch_next(a));) {
		const char *name = tact_arch_name(a);

		if (!is_wanted(archs, name) || !versions[0].arch_find(name))
			continue;
		printf("%-6s", name);
		for (unsigned k = 0; k < 4; k++)
			same &= compare(versions, name, k % 2 ? TACT_MODE_LOOP : TACT_MODE_UNROLL,
					&all, k > 1);
		printf("\n");
	}
	for (size_t i = 0; i < all.n; i++)
		free(all.list[i].bytes);
	free(all.list);
	return !same;
}
