/* SPDX-License-Identifier: MIT
 *
 * What the public headers declare, as other tools want it:
 *
 *	gen_interface names HEADER...			the names, one on a line: for objcopy
 *	gen_interface roots HEADER...			the same as options of the linker
 *	gen_interface list VERSION LIST HEADER...	gen/symbols.txt as it should be
 *	gen_interface map VERSION LIST HEADER...	a version script for the linker
 *	gen_interface manual DATE DIRECTORY HEADER...	manual pages of section 3
 *
 * LIST is gen/symbols.txt: which version of the library was the first to have a symbol.  Those that
 * it does not have belong to VERSION, the one being built.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "headers.h"
#include "manual.h"

struct symbol {
	const char *name;
	const char *version; /* NULL: not known yet */
};

struct symbols {
	struct symbol *all; /* sorted by name */
	size_t n;
};

static int compare_symbols(const void *a, const void *b)
{
	return strcmp(((const struct symbol *)a)->name, ((const struct symbol *)b)->name);
}

static struct symbols collect(const struct header *headers, size_t n)
{
	struct symbols s = {0};
	size_t capacity = 0;

	for (size_t i = 0; i < n; i++)
		capacity += headers[i].n;
	s.all = gen_alloc(capacity * sizeof(*s.all));
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < headers[i].n; k++) {
			const struct item *item = &headers[i].items[k];

			if (item->kind == ITEM_FUNCTION || item->kind == ITEM_DATA)
				s.all[s.n++].name = item->name;
			if (item->kind == ITEM_FUNCTION && strncmp(item->name, "tact_", 5))
				gen_fail(headers[i].path, item->line, "what is this?");
		}
	}
	qsort(s.all, s.n, sizeof(*s.all), compare_symbols);
	return s;
}

/* Lines of a version and a name; # begins a comment. */
static void read_versions(struct symbols *s, const char *path)
{
	char line[256], version[64], name[128];
	FILE *file = fopen(path, "r");
	unsigned n = 0;

	if (!file)
		gen_fail(path, 0, strerror(errno));
	while (fgets(line, sizeof(line), file)) {
		struct symbol *found;

		n++;
		if (*line == '#' || *line == '\n')
			continue;
		if (sscanf(line, "%63s %127s", version, name) != 2)
			gen_fail(path, n, "a line is a version and a name");
		found = bsearch(&(struct symbol){.name = name}, s->all, s->n, sizeof(*s->all),
				compare_symbols);
		if (found)
			found->version = gen_copy(version, strlen(version));
	}
	fclose(file);
}

static void put_list(const struct symbols *s)
{
	puts("# What libtact.so exports, and the version of the library that had it first.\n"
	     "#\n"
	     "# make symbols writes this file from include/tact/*.h; a test compares them.  A name "
	     "that\n"
	     "# goes away breaks programs: from 1.0 on, that asks for a new major version.\n");
	for (size_t i = 0; i < s->n; i++)
		printf("%s %s\n", s->all[i].version, s->all[i].name);
}

/* A node for each version, each based on the one before.  Versions are few, and the list has them
 * in no order.
 */
static void put_map(const struct symbols *s, const char *current)
{
	const char *last = "", *before = "";

	puts("/* Made by gen/gen_interface.c: do not edit. */");
	for (;;) {
		const char *next = NULL;

		for (size_t i = 0; i < s->n; i++) {
			const char *v = s->all[i].version;

			if (strverscmp(v, last) > 0 && (!next || strverscmp(v, next) < 0))
				next = v;
		}
		if (!next)
			break;
		printf("%s {\n\tglobal:\n", next);
		for (size_t i = 0; i < s->n; i++)
			if (strcmp(s->all[i].version, next) == 0)
				printf("\t\t%s;\n", s->all[i].name);
		printf("%s} %s;\n", *last ? "" : "\tlocal:\n\t\t*;\n", before);
		last = before = next;
	}
	if (strverscmp(last, current) > 0)
		gen_fail("symbols.txt", 0, "has a version that is newer than the library");
}

static int usage(void)
{
	fputs("usage: gen_interface names|roots HEADER...\n"
	      "       gen_interface list|map VERSION LIST HEADER...\n"
	      "       gen_interface manual DATE DIRECTORY HEADER...\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	const bool is_versioned =
		argc > 1 && (strcmp(argv[1], "list") == 0 || strcmp(argv[1], "map") == 0);
	const bool is_manual = argc > 1 && strcmp(argv[1], "manual") == 0;
	const int first = is_versioned || is_manual ? 4 : 2;
	struct header *headers;
	struct symbols s;

	if (argc <= first)
		return usage();
	headers = gen_alloc((size_t)(argc - first) * sizeof(*headers));
	for (int i = first; i < argc; i++)
		header_read(&headers[i - first], argv[i]);
	s = collect(headers, (size_t)(argc - first));
	if (is_manual) {
		manual_write(argv[3], argv[2], headers, (size_t)(argc - first));
	} else if (is_versioned) {
		read_versions(&s, argv[3]);
		for (size_t i = 0; i < s.n; i++)
			if (!s.all[i].version)
				s.all[i].version = argv[2];
		if (strcmp(argv[1], "list") == 0)
			put_list(&s);
		else
			put_map(&s, argv[2]);
	} else if (strcmp(argv[1], "names") == 0 || strcmp(argv[1], "roots") == 0) {
		for (size_t i = 0; i < s.n; i++)
			printf("%s%s\n", strcmp(argv[1], "roots") ? "" : "-u ", s.all[i].name);
	} else {
		return usage();
	}
	if (fflush(stdout) != 0 || ferror(stdout))
		gen_fail("standard output", 0, strerror(errno));
	return 0;
}
