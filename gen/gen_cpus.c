/* SPDX-License-Identifier: MIT
 *
 * data/arch/<ARCH>.arch: the names of a CPU and its parameters.  The folder is the list of CPUs. A
 * file may be based on another one and then sets only what differs; parameters that no file sets
 * have the defaults of params.def.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gen.h"

struct gen_cpu *gen_cpus[MAX_CPUS];
int gen_n_cpus;

static struct gen_cpu *all[MAX_CPUS]; /* those that others are based on as well */
static int n_all;

static struct gen_cpu *cpu_of(const char *name)
{
	struct gen_cpu *cpu;

	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) || strlen(name) >= sizeof(cpu->name))
			gen_die("'%s': a name has letters and digits, fewer than %zu", name,
				sizeof(cpu->name));
	for (int i = 0; i < n_all; i++)
		if (!strcmp(all[i]->name, name))
			return all[i];
	if (n_all == MAX_CPUS)
		gen_die("more than %d CPUs", MAX_CPUS);
	cpu = gen_alloc(sizeof(*cpu));
	snprintf(cpu->name, sizeof(cpu->name), "%s", name);
	all[n_all++] = cpu;
	return cpu;
}

/* A copy of text that goes into C verbatim. */
static char *keep(const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		gen_die("out of memory");
	if (strpbrk(text, "\"\\"))
		gen_die("quotes and backslashes cannot stand in a value");
	return copy;
}

static void set_param(struct gen_cpu *cpu, const char *name, const char *value, const char *source,
		      const char *from)
{
	struct tact_diag diag;

	if (params_set(&cpu->params, name, value, &diag) < 0)
		gen_die("%s", diag.text);
	if (!params_source_is_known(source))
		gen_die("%s: '%s' does not begin with a source (data/SOURCES.md)", name, source);
	cpu->origin[params_find(name)] = (struct params_origin){from, keep(source)};
}

/* Defaults are written as in a file. */
static void set_presets(struct gen_cpu *cpu)
{
	char line[MAX_LINE], *source, *name, *value;

	for (size_t i = 0; i < PARAMS_COUNT; i++) {
		if (!params_preset(i))
			continue;
		snprintf(line, sizeof(line), "%s = %s", params_name(i), params_preset(i));
		source = params_cut_comment(line);
		if (params_split_line(line, &name, &value) != 1)
			gen_die("params.def: %s: a default is 'value # source'", params_name(i));
		set_param(cpu, name, value, source, NULL);
	}
}

static void read_cpu(const char *data, struct gen_cpu *cpu);

/* Values that are not set are inherited; names and numbers of the CPU itself are not. */
static void take_over(struct gen_cpu *cpu, const char *data, const char *name)
{
	struct gen_cpu *base = cpu_of(name);

	if (base->state == GEN_CPU_READING)
		gen_die("%s is based on itself", name);
	if (base->state == GEN_CPU_NEW)
		read_cpu(data, base);
	cpu->params = base->params;
	memcpy(cpu->origin, base->origin, sizeof(cpu->origin));
	cpu->text[PARAMS_KEY_ISA] = base->text[PARAMS_KEY_ISA];
	cpu->text[PARAMS_KEY_PORT_NAMES] = base->text[PARAMS_KEY_PORT_NAMES];
}

static void read_line(const char *data, struct gen_cpu *cpu, char *line, bool is_first,
		      bool *is_said)
{
	char *source = params_cut_comment(line), *name, *value;
	int key, status = params_split_line(line, &name, &value), index;

	if (status < 0)
		gen_die("'name = value' expected");
	key = params_find_key(name);
	index = key < 0 ? params_find(name) : key + PARAMS_COUNT;
	if (index >= 0 && is_said[index])
		gen_die("%s stands here for the second time", name);
	if (index >= 0)
		is_said[index] = true;
	if (key == PARAMS_KEY_BASE) {
		if (!is_first)
			gen_die("base must stand before everything else");
		take_over(cpu, data, value);
	}
	if (key == PARAMS_KEY_NAME && strcmp(value, cpu->name))
		gen_die("name: the file says %s", cpu->name);
	if (key == PARAMS_KEY_VERIFIED) {
		if (!params_source_is_known(source))
			gen_die("verified: '%s' does not begin with a source", source);
		cpu->verified_by = keep(source);
	}
	if (key >= 0)
		cpu->text[key] = keep(value);
	else
		set_param(cpu, name, value, source, cpu->name);
}

/* LLVM knows a core by its name there, or it is taken for its base. */
static char *llvm_cpu_of(struct gen_cpu *cpu)
{
	if (cpu->text[PARAMS_KEY_LLVM_NAME])
		return cpu->text[PARAMS_KEY_LLVM_NAME];
	if (cpu->text[PARAMS_KEY_BASE])
		return cpu_of(cpu->text[PARAMS_KEY_BASE])->text[PARAMS_KEY_LLVM_CPU];
	return cpu->name;
}

static void finish(struct gen_cpu *cpu)
{
	static const enum params_key needed[] = {PARAMS_KEY_ISA, PARAMS_KEY_FULL_NAME,
						 PARAMS_KEY_ORDER};
	static const char *const names[] = {"isa", "full_name", "order"};
	char *end;

	for (size_t i = 0; i < PARAMS_COUNT; i++)
		if (!cpu->origin[i].source)
			gen_die("%s has neither a value nor a default", params_name(i));
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		if (!cpu->text[needed[i]])
			gen_die("%s is missing", names[i]);
	cpu->order = strtol(cpu->text[PARAMS_KEY_ORDER], &end, 10);
	if (*end)
		gen_die("order: '%s' is not a number", cpu->text[PARAMS_KEY_ORDER]);
	if (!cpu->text[PARAMS_KEY_LLVM_CPU])
		cpu->text[PARAMS_KEY_LLVM_CPU] = llvm_cpu_of(cpu);
	if (!cpu->text[PARAMS_KEY_LLVM_NAME])
		cpu->text[PARAMS_KEY_LLVM_NAME] = cpu->name;
	for (int key = 0; key < PARAMS_N_KEYS; key++)
		if (!cpu->text[key])
			cpu->text[key] = keep("");
	cpu->state = GEN_CPU_READ;
}

static void read_cpu(const char *data, struct gen_cpu *cpu)
{
	bool is_said[PARAMS_COUNT + PARAMS_N_KEYS] = {false}, is_first = true;
	const struct gen_place outer = gen_place;
	char path[MAX_PATH], line[MAX_LINE];
	FILE *in;

	snprintf(path, sizeof(path), "%s/arch/%s.arch", data, cpu->name);
	in = fopen(path, "r");
	if (!in)
		gen_die("cannot read %s", path);
	gen_place = (struct gen_place){path, 0};
	cpu->state = GEN_CPU_READING;
	set_presets(cpu);
	while (fgets(line, sizeof(line), in)) {
		gen_place.line++;
		if (gen_place.line == 1 && strcmp(line, "#tact-arch 1\n"))
			gen_die("the first line is '#tact-arch 1'");
		if (!line[strspn(line, " \t\r\n")] || line[strspn(line, " \t")] == '#')
			continue;
		read_line(data, cpu, line, is_first, is_said);
		is_first = false;
	}
	fclose(in);
	finish(cpu);
	gen_place = outer;
}

/* ---- the list ---- */

static int by_order(const void *a, const void *b)
{
	const struct gen_cpu *x = *(struct gen_cpu *const *)a, *y = *(struct gen_cpu *const *)b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return strcmp(x->name, y->name);
}

static bool has_word(const char *words, const char *word, size_t length)
{
	for (size_t n; *words; words += n + strspn(words + n, " ")) {
		n = strcspn(words, " ");
		if (n == length && !strncasecmp(words, word, n))
			return true;
	}
	return false;
}

static bool is_called(const struct gen_cpu *cpu, const char *name, size_t length)
{
	const char *const whole[] = {cpu->name, cpu->text[PARAMS_KEY_FULL_NAME],
				     cpu->text[PARAMS_KEY_LLVM_NAME]};

	for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
		if (strlen(whole[i]) == length && !strncasecmp(whole[i], name, length))
			return true;
	return has_word(cpu->text[PARAMS_KEY_NAMES], name, length);
}

/* A name belongs to one CPU alone. */
static void check_names(const struct gen_cpu *a, const struct gen_cpu *b)
{
	const char *const whole[] = {a->name, a->text[PARAMS_KEY_FULL_NAME],
				     a->text[PARAMS_KEY_LLVM_NAME]};
	const char *words = a->text[PARAMS_KEY_NAMES];

	for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
		if (is_called(b, whole[i], strlen(whole[i])))
			gen_die("%s and %s are both called '%s'", a->name, b->name, whole[i]);
	for (size_t n; *words; words += n + strspn(words + n, " ")) {
		n = strcspn(words, " ");
		if (is_called(b, words, n))
			gen_die("%s and %s are both called '%.*s'", a->name, b->name, (int)n,
				words);
	}
}

/* A CPU is verified by its own rows, or by those of another that is. */
static void check_verified(const struct gen_cpu *cpu)
{
	const char *on = cpu->text[PARAMS_KEY_VERIFIED];

	if (!*on || !strcmp(on, cpu->name))
		return;
	for (int i = 0; i < n_all; i++)
		if (!strcmp(all[i]->name, on) && !strcmp(all[i]->text[PARAMS_KEY_VERIFIED], on))
			return;
	gen_die("%s: verified on %s, which is not verified itself", cpu->name, on);
}

static void list_folder(const char *data)
{
	char path[MAX_PATH], name[256];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/arch", data);
	dir = opendir(path);
	if (!dir)
		gen_die("cannot read %s", path);
	while ((entry = readdir(dir))) {
		size_t n = strlen(entry->d_name);

		if (entry->d_name[0] == '.' || n < 6 || strcmp(entry->d_name + n - 5, ".arch"))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(n - 5), entry->d_name);
		gen_cpus[gen_n_cpus++] = cpu_of(name);
	}
	closedir(dir);
	if (!gen_n_cpus)
		gen_die("there is no file in %s", path);
}

void gen_cpus_read(const char *data, char **names, int n)
{
	for (int i = 0; i < n; i++)
		gen_cpus[gen_n_cpus++] = cpu_of(names[i]);
	if (!n)
		list_folder(data);
	for (int i = 0; i < gen_n_cpus; i++)
		if (gen_cpus[i]->state == GEN_CPU_NEW)
			read_cpu(data, gen_cpus[i]);
	qsort(gen_cpus, (size_t)gen_n_cpus, sizeof(gen_cpus[0]), by_order);
	for (int i = 0; !n && i < gen_n_cpus; i++)
		check_verified(gen_cpus[i]);
	for (int a = 0; a < gen_n_cpus; a++)
		for (int b = 0; b < a; b++)
			check_names(gen_cpus[a], gen_cpus[b]);
}

/* ---- output ---- */

static void write_table(FILE *f, const char *name, const uint16_t *table)
{
	fprintf(f, ".%s = {", name);
	for (int i = 0; i < PARAMS_UNROLL_MAX; i++)
		fprintf(f, "%u,", table[i]);
	fprintf(f, "}, ");
}

static void write_params(FILE *f, const struct arch_params *p)
{
#define WRITE_int(field)			    fprintf(f, ".%s = %d, ", #field, p->field);
#define WRITE_choice(field)			    WRITE_int(field)
#define WRITE_ports(field)			    fprintf(f, ".%s = 0x%x, ", #field, p->field);
#define WRITE_unroll(field)			    write_table(f, #field, p->field);
#define WRITE_cycles(field)			    write_table(f, #field, p->field);
#define PARAM(type, field, low, high, preset, help) WRITE_##type(field)
#include "arch/params.def"
#undef PARAM
}

void gen_cpu_write_origins(FILE *f, const struct gen_cpu *cpu)
{
	fprintf(f, "static const struct params_origin origins_%s[PARAMS_COUNT] = {\n", cpu->name);
	for (size_t i = 0; i < PARAMS_COUNT; i++) {
		const struct params_origin *o = &cpu->origin[i];

		fprintf(f, "\t{ %s%s%s, \"%s\" },\n", o->cpu ? "\"" : "", o->cpu ? o->cpu : "NULL",
			o->cpu ? "\"" : "", o->source);
	}
	fprintf(f, "};\n");
}

static void write_verified(FILE *f, const struct gen_cpu *cpu)
{
	const char *on = cpu->text[PARAMS_KEY_VERIFIED];
	const bool is_itself = !strcmp(on, cpu->name);

	fprintf(f, ".verified_on = \"%s\", .verified_by = \"%s\", ", on,
		cpu->verified_by ? cpu->verified_by : "");
	fprintf(f, ".caveat = \"%s%s\",\n\t  ",
		is_itself ? ""
		: *on	  ? "verified on "
			  : "not verified",
		is_itself ? "" : on);
}

void gen_cpu_write(FILE *f, const struct gen_cpu *cpu)
{
	static const struct {
		enum params_key key;
		const char *field;
	} texts[] = {
		{PARAMS_KEY_FULL_NAME, "full_name"},   {PARAMS_KEY_LLVM_NAME, "llvm_name"},
		{PARAMS_KEY_LLVM_CPU, "llvm_cpu"},     {PARAMS_KEY_NAMES, "names"},
		{PARAMS_KEY_CPUID, "cpuid"},	       {PARAMS_KEY_BASE, "base"},
		{PARAMS_KEY_PORT_NAMES, "port_names"},
	};

	fprintf(f, "\t{ .record_of_form = record_of_form_%s, .origins = origins_%s,\n\t  ",
		cpu->name, cpu->name);
	fprintf(f, ".isa = &isa_%s, .name = \"%s\", ", cpu->text[PARAMS_KEY_ISA], cpu->name);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		fprintf(f, ".%s = \"%s\", ", texts[i].field, cpu->text[texts[i].key]);
	write_verified(f, cpu);
	fprintf(f, ".sources = \"");
	for (const char *c = cpu->sources; *c; c++)
		fprintf(f, *c == '\n' ? "\\n" : "%c", *c);
	fprintf(f, "\",\n\t  .params = { ");
	write_params(f, &cpu->params);
	fprintf(f, "} },\n");
}
