/* SPDX-License-Identifier: MIT
 *
 * A file of exact counts, of code in this very program.
 */
#ifndef TESTS_MIX_FIXTURE_H
#define TESTS_MIX_FIXTURE_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "own_code.h"
#include "testing.h"

/* A loop of one block, and a block without a loop. */
__asm__(".text\n"
	".globl fixture_loop, fixture_rest, fixture_end\n"
	".type fixture_loop, @function\n"
	"fixture_loop:\n"
	"	imul %rax, %rax\n"
	"	dec %rdx\n"
	"	jnz fixture_loop\n"
	"fixture_rest:\n"
	"	add $1, %rbx\n"
	"	ret\n"
	"fixture_end:\n"
	".size fixture_loop, . - fixture_loop\n");
extern const char fixture_loop[], fixture_rest[], fixture_end[];

/* Writes the counts to `path`, as mkstemp takes it; `missing` names a module that does not exist.
 */
static void fixture_write(char *path, const char *missing)
{
	char self[3000];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");

	assert_true(file && n > 0);
	self[n] = '\0';
	fprintf(file, "#tact.mix.counts/1\nmodule - %s\n", self);
	fprintf(file, "code %" PRIx64 " %x 1000\n", offset_in_file(fixture_loop),
		(unsigned)(fixture_rest - fixture_loop));
	fprintf(file, "code %" PRIx64 " %x 7\n", offset_in_file(fixture_rest),
		(unsigned)(fixture_end - fixture_rest));
	if (missing)
		fprintf(file, "module - %s\ncode 10 10 5\n", missing);
	fclose(file);
}

#endif /* TESTS_MIX_FIXTURE_H */
