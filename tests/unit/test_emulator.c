/* SPDX-License-Identifier: MIT
 *
 * Emulators are known by the machine of the program that the kernel runs.
 */
#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "base/emulator.h"
#include "support.h"

/* Writes a file that begins as a program of a machine. */
static void write_program(const char *path, unsigned machine, size_t size)
{
	const Elf64_Ehdr header = {.e_machine = (Elf64_Half)machine};
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(&header, 1, size, file), size);
	fclose(file);
}

TEST(compares_machines)
{
	char dir[] = "/tmp/tact-emulator-XXXXXX", a[64], b[64];

	assert_non_null(mkdtemp(dir));
	snprintf(a, sizeof(a), "%s/a", dir);
	snprintf(b, sizeof(b), "%s/b", dir);
	write_program(a, EM_AARCH64, sizeof(Elf64_Ehdr));
	write_program(b, EM_X86_64, sizeof(Elf64_Ehdr));
	assert_true(emulator_is_other(a, b));
	assert_false(emulator_is_other(a, a));
	/* Nobody knows: then none is assumed, and the sandbox stays whole. */
	assert_false(emulator_is_other(a, "/nowhere/at/all"));
	assert_false(emulator_is_other("/nowhere/at/all", b));
	assert_false(emulator_is_other(a, dir));
	write_program(b, EM_X86_64, 10);
	assert_false(emulator_is_other(a, b));
	write_program(b, EM_NONE, sizeof(Elf64_Ehdr));
	assert_false(emulator_is_other(a, b));
	remove(a);
	remove(b);
	remove(dir);
}

TEST(is_none_here)
{
	char path[TACT_EMULATOR_SIZE] = "x";

	assert_false(emulator_find(path, sizeof(path)));
	assert_string_equal(path, "");
	assert_false(tact_host_emulator(path, sizeof(path)));
	assert_false(tact_host_emulator(NULL, 10));
	assert_false(tact_host_emulator(path, 0));
}

RUN_TESTS(NULL, NULL)
