/* SPDX-License-Identifier: MIT
 *
 * Code by its name: the first line is a name as --region takes it, a sysroot and a command line, with
 * blanks between; what follows is the file that names come from.
 *
 * The name may also be that of a CPU.
 *
 * What must hold: a region has bytes, lies in the file that was asked for, and the same name gives the
 * same region; the words of a command line contain what it is made of.
 */
#include <string.h>

#include <tact-program/tracing.h>
#include <tact/arch.h>
#include <tact/symbols.h>

#include "base/base.h"
#include "fuzz.h"
#include "fuzz_file.h"
#include "obj/obj.h"

enum { MAX_NAME = 200, REGIONS = 16 };

static void check_regions(struct tact_symbols *symbols, const char *name, const char *path)
{
	struct tact_trace_region regions[REGIONS], one;
	struct tact_diag diag = {0};
	const long n = tact_symbols_regions(symbols, name, path, "", regions, REGIONS, &diag);

	MUST(n >= 0 || *diag.text);
	MUST(n <= REGIONS);
	for (long i = 0; i < n; i++)
		MUST(regions[i].begin < regions[i].end);
	if (tact_symbols_region(symbols, name, path, "", &one, NULL) >= 0) {
		MUST(one.begin < one.end);
		MUST(n >= 1);
	}
}

static void check_choice(struct tact_symbols *symbols, const char *name, const char *path)
{
	const struct tact_chosen chosen[] = {{name, false}, {"main", true}};
	struct tact_trace_options opt = TACT_TRACE_OPTIONS_INIT;
	const char *wrong = NULL;
	struct tact_choice *choice;

	if (tact_choice_create(&choice, symbols, path, "", chosen, ARRAY_SIZE(chosen), name, NULL,
			       &wrong, NULL) < 0)
		return;
	tact_choice_apply(choice, &opt);
	MUST(opt.n_regions && opt.from);
	for (size_t i = 0; i < opt.n_regions; i++)
		MUST(opt.regions[i].begin < opt.regions[i].end);
	tact_choice_destroy(choice);
}

static void check_words(const char *command)
{
	size_t all = 0, n = 0;
	char **words;

	if (tact_trace_split(&words, command, NULL) < 0)
		return;
	for (; words[n]; n++)
		all += strlen(words[n]);
	MUST(all <= strlen(command) && n <= strlen(command));
	free(words);
}

/* Names as symbol tables have them. */
static void check_demangled(const char *name)
{
	char *whole = obj_demangle(name, true), *brief = obj_demangle(name, false);

	MUST(!whole || *whole);
	MUST(!brief || !whole || strlen(brief) <= strlen(whole) + 8);
	free(whole);
	free(brief);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *line = memchr(data, '\n', size);
	const size_t n = line ? (size_t)(line - data) : 0;
	struct tact_symbols *symbols;
	struct tact_cpu cpu = TACT_CPU_INIT;
	char name[MAX_NAME + 1], path[40];
	int fd;

	if (!n || n > MAX_NAME || memchr(data, 0, n))
		return 0;
	memcpy(name, data, n);
	name[n] = '\0';
	check_words(name);
	if (tact_cpu_find(name, &cpu) >= 0)
		MUST((*cpu.line || *cpu.core) && (!cpu.arch || cpu.nearest == cpu.arch));
	check_demangled(name);
	fd = fuzz_file_open(path, line + 1, size - n - 1);
	MUST(fd >= 0);
	if (tact_symbols_create(&symbols) >= 0) {
		tact_symbols_set_sysroot(symbols, "/nowhere");
		check_regions(symbols, name, path);
		check_choice(symbols, name, path);
		tact_symbols_destroy(symbols);
	}
	close(fd);
	return 0;
}
