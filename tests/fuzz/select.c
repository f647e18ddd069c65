/* SPDX-License-Identifier: MIT
 *
 * All targets in one program: TACT_FUZZ=NAME in the environment, or the program's own name,
 * fuzz_NAME, says which one runs.  One link instead of one for each target, and one program for
 * coverage over all of them.
 */
#include <string.h>

#include "fuzz.h"

typedef int fuzz_run_fn(const uint8_t *data, size_t size);
typedef size_t fuzz_mutate_fn(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* The build lists the targets from their files, and gives their functions names of their own. */
#define FUZZ_TARGET(name)                                                                          \
	fuzz_run_fn fuzz_run_##name;                                                               \
	fuzz_mutate_fn fuzz_mutate_##name __attribute__((weak));
#include "fuzz_targets.inc"
#undef FUZZ_TARGET

static const struct target {
	const char *name;
	fuzz_run_fn *run;
	fuzz_mutate_fn *mutate; /* NULL: bytes without a structure */
} targets[] = {
#define FUZZ_TARGET(name) {#name, fuzz_run_##name, fuzz_mutate_##name},
#include "fuzz_targets.inc"
#undef FUZZ_TARGET
};

static const struct target *chosen;

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = getenv("TACT_FUZZ"), *slash = strrchr((*argv)[0], '/');

	(void)argc;
	if (!name)
		name = slash ? slash + 1 : (*argv)[0];
	if (!strncmp(name, "fuzz_", 5))
		name += 5;
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		if (!strcmp(name, targets[i].name))
			chosen = &targets[i];
	if (chosen)
		return 0;
	fprintf(stderr, "there is no fuzz target '%s'; TACT_FUZZ names one of these:\n", name);
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		fprintf(stderr, "%s\n", targets[i].name);
	exit(2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return chosen->run(data, size);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return chosen->mutate ? chosen->mutate(data, size, max_size, seed)
			      : LLVMFuzzerMutate(data, size, max_size);
}
