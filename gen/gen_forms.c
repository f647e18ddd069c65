/* SPDX-License-Identifier: MIT
 *
 * The tables as a whole: which forms there are, and the record of each on each CPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen.h"

static const char *const column_names[N_COLUMNS] = {
	"form", "uops", "fused", "mite", "ms",	 "dec",	    "ports", "div",
	"tp",	"lat",	"rf",	 "wf",	 "fuse", "indexed", "same",  "src",
};

struct gen_form gen_forms[MAX_FORMS];
unsigned gen_n_forms;

static int form_compare(const void *a, const void *b)
{
	return strcmp(((const struct gen_form *)a)->name, ((const struct gen_form *)b)->name);
}

static int form_find(const char *name)
{
	struct gen_form key = {.name = (char *)name};
	struct gen_form *f =
		bsearch(&key, gen_forms, gen_n_forms, sizeof(gen_forms[0]), form_compare);

	return f ? (int)(f - gen_forms) : -1;
}

static void split(char *line, char **columns)
{
	for (int i = 0; i < N_COLUMNS; i++) {
		columns[i] = line;
		line = strchr(line, '\t');
		if (!line && i + 1 < N_COLUMNS)
			gen_die("%d columns instead of %d", i + 1, N_COLUMNS);
		if (line)
			*line++ = 0;
	}
	if (line)
		gen_die("more than %d columns", N_COLUMNS);
	for (int i = 0; i < N_COLUMNS; i++)
		if (!*columns[i])
			gen_die("column '%s' is empty", column_names[i]);
}

/* Calls fn for every form of a table, the tables that it is based on first; `sources` (NULL: nobody
 * asks) gets what the letters of the column src mean.
 */
typedef void line_fn(char **columns, void *arg);

/* Keeps "#src X text". */
static void read_source(const char *line, char *sources, size_t size)
{
	const size_t n = strlen(sources);

	if (strncmp(line, "#src ", 5) != 0 || !sources)
		return;
	if (!line[5] || line[6] != ' ' || !line[7] || strpbrk(line, "\"\\"))
		gen_die("'#src LETTER text' expected, without quotes");
	for (const char *s = sources; *s; s = strchr(s, '\n') + 1)
		if (s[0] == line[5])
			gen_die("the letter %c has a meaning already", s[0]);
	if (n + strlen(line) > size - 8)
		gen_die("the texts of #src are too long");
	strcat(sources, line + 5);
	strcat(sources, "\n");
}

static void read_table(const char *dir, const char *arch, line_fn *fn, void *arg, char *sources,
		       int depth)
{
	char path[MAX_PATH], line[MAX_LINE], previous[256] = "", *columns[N_COLUMNS], based_on[16];
	const struct gen_place outer = gen_place;
	unsigned number_of_line = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/insn/%s.tsv", dir, arch);
	f = fopen(path, "r");
	if (!f)
		gen_die("cannot read %s", path);
	if (depth > MAX_CPUS)
		gen_die("tables are based on each other in a circle");
	while (fgets(line, sizeof(line), f)) {
		size_t n = strlen(line);

		gen_place = (struct gen_place){path, ++number_of_line};
		if (!n || line[n - 1] != '\n')
			gen_die("line too long, or the last one without its end");
		line[n - 1] = 0;
		if (number_of_line == 1 && strcmp(line, "#tact-insn 1"))
			gen_die("the first line of a table is '#tact-insn 1'");
		if (sscanf(line, "#base %15s", based_on) == 1)
			read_table(dir, based_on, fn, arg, sources, depth + 1);
		if (sources)
			read_source(line, sources, sizeof(gen_cpus[0]->sources));
		if (line[0] == '#' || !strncmp(line, "form\t", 5))
			continue;
		split(line, columns);
		if (strcmp(previous, columns[C_FORM]) >= 0)
			gen_die("'%s' is not sorted after '%s'", columns[C_FORM], previous);
		snprintf(previous, sizeof(previous), "%s", columns[C_FORM]);
		fn(columns, arg);
	}
	fclose(f);
	gen_place = outer;
}

/* Forms that the sorted part does not have are appended to it; merge_forms sorts them in. */
static void collect_form(char **c, void *arg)
{
	unsigned *n_new = arg;
	struct gen_form *f;

	if (form_find(c[C_FORM]) >= 0)
		return;
	if (gen_n_forms + *n_new == MAX_FORMS)
		gen_die("more than %d forms", MAX_FORMS);
	f = &gen_forms[gen_n_forms + (*n_new)++];
	f->name = strdup(c[C_FORM]);
	f->flags_read = gen_insn_flags(c[C_RF]);
	f->flags_written = gen_insn_flags(c[C_WF]);
}

/* A form that is new in a base and in what is based on it comes twice: one stays. */
static void merge_forms(unsigned n_new)
{
	unsigned n = 0;

	gen_n_forms += n_new;
	qsort(gen_forms, gen_n_forms, sizeof(gen_forms[0]), form_compare);
	for (unsigned i = 0; i < gen_n_forms; i++)
		if (!n || strcmp(gen_forms[n - 1].name, gen_forms[i].name))
			gen_forms[n++] = gen_forms[i];
	gen_n_forms = n;
}

static void collect_record(char **c, void *arg)
{
	struct gen_cpu *cpu = arg;
	int form = form_find(c[C_FORM]);
	const char *s = cpu->sources;
	unsigned record;

	if (gen_insn_flags(c[C_RF]) != gen_forms[form].flags_read ||
	    gen_insn_flags(c[C_WF]) != gen_forms[form].flags_written)
		gen_die("'%s' has other flags than on another CPU", c[C_FORM]);
	while (*s && s[0] != c[C_SRC][0])
		s = strchr(s, '\n') + 1;
	if (!*s || c[C_SRC][1])
		gen_die("src: no line '#src %s ...' above says what it means", c[C_SRC]);
	record = gen_insn_record(c);
	if (record > 0xffff)
		gen_die("too many records");
	cpu->record_of_form[form] = (uint16_t)record;
}

void gen_forms_collect(const char *data, const char *arch)
{
	unsigned n_new = 0;

	read_table(data, arch, collect_form, &n_new, NULL, 0);
	merge_forms(n_new);
}

void gen_forms_records(const char *data, struct gen_cpu *cpu)
{
	read_table(data, cpu->name, collect_record, cpu, cpu->sources, 0);
}
