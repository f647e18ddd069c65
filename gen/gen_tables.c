/* SPDX-License-Identifier: MIT
 *
 * Build-time generator: data/arch/<ARCH>.arch and data/insn/<ARCH>.tsv -> C tables.
 *
 * usage: gen_tables DATA_DIR OUT_DIR ARCH...      writes OUT_DIR/forms.inc and OUT_DIR/archs.inc
 *        gen_tables --check DATA_DIR ARCH...      validates the tables, writes nothing
 *
 * Every line is validated here; an error names file and line and ends the run.  This is a program
 * of the build, not of the library: it exits on errors and does not free.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/params.h"
#include "arch/table.h"
#include "base/base.h"

enum { MAX_ARCHS = 32, MAX_FORMS = 32768, MAX_LINE = 8192, N_COLUMNS = 16 };

enum column {
	C_FORM,
	C_UOPS,
	C_FUSED,
	C_MITE,
	C_MS,
	C_DEC,
	C_PORTS,
	C_DIV,
	C_TP,
	C_LAT,
	C_RF,
	C_WF,
	C_FUSE,
	C_INDEXED,
	C_SAME,
	C_SRC
};

static const char *const column_names[N_COLUMNS] = {
	"form", "uops", "fused", "mite", "ms",	 "dec",	    "ports", "div",
	"tp",	"lat",	"rf",	 "wf",	 "fuse", "indexed", "same",  "src",
};

/* Condition codes in the order of their encoding (Intel SDM vol. 1, appendix B). */
static const char *const conditions[16] = {
	"O", "NO", "B", "NB", "Z", "NZ", "BE", "NBE", "S", "NS", "P", "NP", "L", "NL", "LE", "NLE",
};

static const char *current_file;
static unsigned current_line;

static void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

static void die(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "gen_tables: ");
	if (current_file)
		fprintf(stderr, "%s:%u: ", current_file, current_line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

/* ---- pools: every distinct value once, in order of first use ---- */

struct pool {
	unsigned char *data;
	size_t count, capacity, element;
	unsigned *hash; /* index + 1 of the first element of each stored list */
	unsigned *length;
	size_t buckets, lists;
	unsigned *list_start;
};

static unsigned hash_of(const void *p, size_t n)
{
	const unsigned char *c = p;
	unsigned h = 2166136261u; /* FNV-1a */

	while (n--)
		h = (h ^ *c++) * 16777619u;
	return h;
}

static void pool_init(struct pool *p, size_t element)
{
	memset(p, 0, sizeof(*p));
	p->element = element;
	p->buckets = 1 << 18;
	p->hash = calloc(p->buckets, sizeof(unsigned));
	p->list_start = calloc(p->buckets, sizeof(unsigned));
	p->length = calloc(p->buckets, sizeof(unsigned));
	if (!p->hash || !p->list_start || !p->length)
		die("out of memory");
}

/* Index of the first element of a list of n elements, stored if it is new. */
static unsigned pool_add(struct pool *p, const void *list, size_t n)
{
	size_t b = hash_of(list, n * p->element) % p->buckets;

	for (; p->hash[b]; b = (b + 1) % p->buckets) {
		unsigned l = p->hash[b] - 1;

		if (p->length[l] == n &&
		    !memcmp(p->data + p->list_start[l] * p->element, list, n * p->element))
			return p->list_start[l];
	}
	if (p->count + n > p->capacity) {
		p->capacity = (p->count + n) * 2;
		p->data = realloc(p->data, p->capacity * p->element);
		if (!p->data)
			die("out of memory");
	}
	memcpy(p->data + p->count * p->element, list, n * p->element);
	if (p->lists + 1 >= p->buckets)
		die("too many distinct lists");
	p->list_start[p->lists] = (unsigned)p->count;
	p->length[p->lists] = (unsigned)n;
	p->hash[b] = (unsigned)++p->lists;
	p->count += n;
	return p->list_start[p->lists - 1];
}

/* ---- forms ---- */

struct form {
	char *name;
	unsigned char flags_read, flags_written;
};

static struct form forms[MAX_FORMS];
static unsigned n_forms;

static int form_compare(const void *a, const void *b)
{
	return strcmp(((const struct form *)a)->name, ((const struct form *)b)->name);
}

static int form_find(const char *name)
{
	struct form key = {.name = (char *)name};
	struct form *f = bsearch(&key, forms, n_forms, sizeof(forms[0]), form_compare);

	return f ? (int)(f - forms) : -1;
}

static struct pool variants, ports, latencies, records;

/* ---- parsing of one line ---- */

static unsigned number(const char *text)
{
	char *end;
	unsigned long v;

	if (!strcmp(text, "-"))
		return 0;
	v = strtoul(text, &end, 10);
	if (end == text || *end || !isdigit((unsigned char)text[0]))
		die("'%s' is not a number", text);
	return v > ARCH_COUNT_MAX ? ARCH_COUNT_MAX : (unsigned)v;
}

static unsigned port_digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'A' && c <= 'F')
		return (unsigned)(c - 'A' + 10);
	die("'%c' is not a port", c);
	return 0;
}

/* 1*p0156+1*p23 */
static unsigned parse_ports(const char *text)
{
	struct arch_port_use list[ARCH_MAX_PORT_USES];
	size_t n = 0;

	memset(list, 0, sizeof(list));
	while (strcmp(text, "-") && *text) {
		char *end;
		unsigned long count = strtoul(text, &end, 10);
		unsigned mask = 0;

		if (end == text || end[0] != '*' || end[1] != 'p' || !end[2])
			die("'%s' is not a list of port uses", text);
		for (end += 2; *end && *end != '+'; end++)
			mask |= 1u << port_digit(*end);
		if (n + 1 >= sizeof(list) / sizeof(list[0]) || !count)
			die("too many port uses, or none");
		list[n].mask = (uint16_t)mask;
		list[n++].count = (uint16_t)(count > ARCH_COUNT_MAX ? ARCH_COUNT_MAX : count);
		text = *end ? end + 1 : end;
	}
	return pool_add(&ports, list, n + 1);
}

static uint8_t parse_operand(const char **text, bool source)
{
	const char *p = *text;
	unsigned n = 0;
	uint8_t op;

	if (p[0] == 'a' && p[1] == '.') {
		n = ARCH_OP_AGEN;
		p += 1;
	} else if ((p[0] == 'r' || p[0] == 'm') && isdigit((unsigned char)p[1])) {
		n = (unsigned)(p[1] - '0');
		p += 2;
	} else {
		die("'%s' is not an operand", *text);
	}
	op = (uint8_t)(((*text)[0] == 'r' ? ARCH_OP_REG : ARCH_OP_MEM) | n);
	if (source && (*text)[0] != 'r') {
		if (p[0] != '.' || !strchr("bim", p[1]) || !p[1])
			die("'%s': a memory source needs .b, .i or .m", *text);
		op = (uint8_t)((p[1] == 'b'   ? ARCH_OP_BASE
				: p[1] == 'i' ? ARCH_OP_INDEX
					      : ARCH_OP_MEM) |
			       n);
		p += 2;
	}
	*text = p;
	return op;
}

/* r1>r0:1 m0.b>r0:5, separated by blanks or commas */
static unsigned parse_latencies(const char *text)
{
	struct arch_latency list[ARCH_MAX_LATENCIES];
	size_t n = 0;

	memset(list, 0, sizeof(list));
	while (strcmp(text, "-") && *text) {
		char *end;
		unsigned long cycles;

		if (n + 1 >= sizeof(list) / sizeof(list[0]))
			die("too many latencies");
		list[n].from = parse_operand(&text, true);
		if (*text++ != '>')
			die("'>' expected before '%s'", text - 1);
		list[n].to = parse_operand(&text, false);
		if (*text++ != ':')
			die("':' expected before '%s'", text - 1);
		cycles = strtoul(text, &end, 10);
		if (end == text || (*end && *end != ' ' && *end != ','))
			die("'%s' is not a number of cycles", text);
		list[n++].cycles = (uint16_t)(cycles > ARCH_COUNT_MAX ? ARCH_COUNT_MAX : cycles);
		text = *end ? end + 1 : end;
	}
	list[n].from = ARCH_OP_END;
	return pool_add(&latencies, list, n + 1);
}

static void parse_decoder(struct arch_variant *v, const char *text)
{
	v->complex_decoder = 0;
	v->simple_beside = 0xff;
	if (!strcmp(text, "-"))
		return;
	if (text[0] != 'c')
		die("'%s' is not a decoder (cN or -)", text);
	v->complex_decoder = 1;
	v->simple_beside = (uint8_t)number(text + 1);
}

/* key=value ... relative to the plain variant; "=": measured, and no different */
static unsigned parse_variant(const struct arch_variant *plain, char *text)
{
	struct arch_variant v = *plain;
	char *key, *save = NULL;

	if (!strcmp(text, "-"))
		return 0;
	for (key = strtok_r(text, " ", &save); key; key = strtok_r(NULL, " ", &save)) {
		char *value = strchr(key, '=');

		if (!value)
			die("'%s' is not key=value", key);
		*value++ = 0;
		if (!*key && !*value)
			continue;
		if (!strcmp(key, "uops"))
			v.uops = (uint16_t)number(value);
		else if (!strcmp(key, "fused"))
			v.fused = (uint16_t)number(value);
		else if (!strcmp(key, "mite"))
			v.mite = (uint16_t)number(value);
		else if (!strcmp(key, "ms"))
			v.ms = (uint16_t)number(value);
		else if (!strcmp(key, "div"))
			v.divider = (uint16_t)number(value);
		else if (!strcmp(key, "tp"))
			v.cycles = (uint16_t)number(value);
		else if (!strcmp(key, "dec"))
			parse_decoder(&v, value);
		else if (!strcmp(key, "ports"))
			v.ports = (uint16_t)parse_ports(value);
		else if (!strcmp(key, "lat"))
			v.latency = parse_latencies(value);
		else
			die("unknown key '%s'", key);
	}
	return pool_add(&variants, &v, 1);
}

/* Bit 0 the carry, bit 1 any of the others: flags are renamed in these two groups. */
static unsigned char parse_flags(const char *text)
{
	unsigned char groups = 0;

	for (; strcmp(text, "-") && *text; text++) {
		if (!strchr("ACOPSZ", *text))
			die("'%c' is not a flag", *text);
		groups |= *text == 'C' ? 1 : 2;
	}
	return groups;
}

static uint16_t parse_fuse(char *text)
{
	char *c, *save = NULL;
	unsigned mask = 0;

	if (!strcmp(text, "-"))
		return 0;
	for (c = strtok_r(text, ",", &save); c; c = strtok_r(NULL, ",", &save)) {
		unsigned i = 0;

		while (i < 16 && strcmp(conditions[i], c))
			i++;
		if (i == 16)
			die("'%s' is not a condition", c);
		mask |= 1u << i;
	}
	return (uint16_t)mask;
}

static void parse_plain(struct arch_variant *v, char *const *c)
{
	memset(v, 0, sizeof(*v));
	v->uops = (uint16_t)number(c[C_UOPS]);
	v->fused = (uint16_t)number(c[C_FUSED]);
	v->mite = (uint16_t)number(c[C_MITE]);
	v->ms = (uint16_t)number(c[C_MS]);
	v->divider = (uint16_t)number(c[C_DIV]);
	v->cycles = (uint16_t)number(c[C_TP]);
	parse_decoder(v, c[C_DEC]);
	v->ports = (uint16_t)parse_ports(c[C_PORTS]);
	v->latency = parse_latencies(c[C_LAT]);
	if (!v->fused || !v->mite)
		die("fused and mite are at least 1");
}

static unsigned parse_record(char *const *c)
{
	struct arch_variant plain;
	struct arch_record r;
	unsigned index;

	memset(&r, 0, sizeof(r));
	parse_plain(&plain, c);
	index = pool_add(&variants, &plain, 1);
	if (index > 0xffff)
		die("too many variants");
	r.plain = (uint16_t)index;
	r.indexed = (uint16_t)parse_variant(&plain, c[C_INDEXED]);
	r.same = (uint16_t)parse_variant(&plain, c[C_SAME]);
	r.fuse = parse_fuse(c[C_FUSE]);
	return pool_add(&records, &r, 1);
}

static void split(char *line, char **columns)
{
	for (int i = 0; i < N_COLUMNS; i++) {
		columns[i] = line;
		line = strchr(line, '\t');
		if (!line && i + 1 < N_COLUMNS)
			die("%d columns instead of %d", i + 1, N_COLUMNS);
		if (line)
			*line++ = 0;
	}
	if (line)
		die("more than %d columns", N_COLUMNS);
	for (int i = 0; i < N_COLUMNS; i++)
		if (!*columns[i])
			die("column '%s' is empty", column_names[i]);
}

/* Calls fn for every form of a table, the tables that it is based on first. */
typedef void line_fn(char **columns, void *arg);

static void read_table(const char *dir, const char *arch, line_fn *fn, void *arg, int depth)
{
	char path[512], line[MAX_LINE], previous[256] = "", *columns[N_COLUMNS], based_on[16];
	const char *outer_file = current_file;
	unsigned number_of_line = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/insn/%s.tsv", dir, arch);
	f = fopen(path, "r");
	if (!f)
		die("cannot read %s", path);
	if (depth > 4)
		die("tables are based on each other in a circle");
	while (fgets(line, sizeof(line), f)) {
		size_t n = strlen(line);

		current_file = path;
		current_line = ++number_of_line;
		if (!n || line[n - 1] != '\n')
			die("line too long, or the last one without its end");
		line[n - 1] = 0;
		if (number_of_line == 1 && strcmp(line, "#tact-insn 1"))
			die("the first line of a table is '#tact-insn 1'");
		if (sscanf(line, "#base %15s", based_on) == 1)
			read_table(dir, based_on, fn, arg, depth + 1);
		if (line[0] == '#' || !strncmp(line, "form\t", 5))
			continue;
		split(line, columns);
		if (strcmp(previous, columns[C_FORM]) >= 0)
			die("'%s' is not in order behind '%s'", columns[C_FORM], previous);
		snprintf(previous, sizeof(previous), "%s", columns[C_FORM]);
		fn(columns, arg);
	}
	fclose(f);
	current_file = outer_file;
}

/* Forms that the sorted part does not have go behind it; merge_forms sorts them in. */
static void collect_form(char **c, void *arg)
{
	unsigned *n_new = arg;
	struct form *f;

	if (form_find(c[C_FORM]) >= 0)
		return;
	if (n_forms + *n_new == MAX_FORMS)
		die("more than %d forms", MAX_FORMS);
	f = &forms[n_forms + (*n_new)++];
	f->name = strdup(c[C_FORM]);
	f->flags_read = parse_flags(c[C_RF]);
	f->flags_written = parse_flags(c[C_WF]);
}

static void merge_forms(unsigned n_new)
{
	n_forms += n_new;
	qsort(forms, n_forms, sizeof(forms[0]), form_compare);
	for (unsigned i = 1; i < n_forms; i++)
		if (!strcmp(forms[i - 1].name, forms[i].name))
			die("form '%s' stands twice in a table and its base", forms[i].name);
}

struct arch_tables {
	const char *name;
	uint16_t record[MAX_FORMS];
};

static struct arch_tables tables[MAX_ARCHS];

static void collect_record(char **c, void *arg)
{
	struct arch_tables *t = arg;
	int form = form_find(c[C_FORM]);
	unsigned record;

	if (parse_flags(c[C_RF]) != forms[form].flags_read ||
	    parse_flags(c[C_WF]) != forms[form].flags_written)
		die("'%s' has other flags than on another CPU", c[C_FORM]);
	record = parse_record(c);
	if (record > 0xffff)
		die("too many records");
	t->record[form] = (uint16_t)record;
}

/* ---- output ---- */

static FILE *create(const char *dir, const char *name)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!f)
		die("cannot write %s", path);
	fprintf(f, "/* Generated by gen/gen_tables.c from data/: do not edit. */\n");
	return f;
}

static void close_output(FILE *f)
{
	if (fflush(f) || ferror(f) || fclose(f))
		die("cannot write the output");
}

/* Open addressing over tact_hash_bytes of the name; slots hold the number of a form plus one. */
static void write_form_hash(FILE *f)
{
	static uint16_t slots[2 * MAX_FORMS];
	const size_t n = 2 * MAX_FORMS;

	for (unsigned i = 0; i < n_forms; i++) {
		size_t s = tact_hash_bytes(forms[i].name, strlen(forms[i].name)) % n;

		while (slots[s])
			s = (s + 1) % n;
		slots[s] = (uint16_t)(i + 1);
	}
	fprintf(f,
		"enum { N_FORM_SLOTS = %zu };\nstatic const uint16_t form_slots[N_FORM_SLOTS] = {",
		n);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%s%u,", i % 16 ? " " : "\n\t", slots[i]);
	fprintf(f, "\n};\n");
}

static void write_forms(const char *dir)
{
	FILE *f = create(dir, "forms.inc");
	unsigned offset = 0;

	fprintf(f, "enum { N_FORMS = %u };\nstatic const char form_names[] =\n", n_forms);
	for (unsigned i = 0; i < n_forms; i++)
		fprintf(f, "\t\"%s\\0\"\n", forms[i].name);
	fprintf(f, "\t;\nstatic const struct isa_form form_table[] = {\n");
	for (unsigned i = 0; i < n_forms; i++) {
		fprintf(f, "\t{ %u, %u, %u },\n", offset, forms[i].flags_read,
			forms[i].flags_written);
		offset += (unsigned)strlen(forms[i].name) + 1;
	}
	fprintf(f, "};\n");
	write_form_hash(f);
	close_output(f);
}

static void write_pools(FILE *f)
{
	const struct arch_variant *v = (const void *)variants.data;
	const struct arch_port_use *p = (const void *)ports.data;
	const struct arch_latency *l = (const void *)latencies.data;
	const struct arch_record *r = (const void *)records.data;

	fprintf(f, "static const struct arch_port_use port_uses[] = {\n");
	for (size_t i = 0; i < ports.count; i++)
		fprintf(f, "\t{ 0x%x, %u },\n", p[i].mask, p[i].count);
	fprintf(f, "};\nstatic const struct arch_latency latency_lists[] = {\n");
	for (size_t i = 0; i < latencies.count; i++)
		fprintf(f, "\t{ %u, %u, %u },\n", l[i].from, l[i].to, l[i].cycles);
	fprintf(f, "};\nstatic const struct arch_variant variants[] = {\n");
	for (size_t i = 0; i < variants.count; i++)
		fprintf(f, "\t{ %u, %u, %u, %u, %u, %u, %u, %u, %u, %u },\n", v[i].uops, v[i].fused,
			v[i].mite, v[i].ms, v[i].divider, v[i].cycles, v[i].complex_decoder,
			v[i].simple_beside, v[i].ports, v[i].latency);
	fprintf(f, "};\nstatic const struct arch_record records[] = {\n");
	for (size_t i = 0; i < records.count; i++)
		fprintf(f, "\t{ %u, %u, %u, 0x%x },\n", r[i].plain, r[i].indexed, r[i].same,
			r[i].fuse);
	fprintf(f, "};\n");
}

/* A parameter as a designated initialiser. */
static void write_param(FILE *f, const char *name, const char *value)
{
	struct arch_params p;
	struct tact_diag diag;

	memset(&p, 0, sizeof(p));
	if (params_set(&p, name, value, &diag) < 0)
		die("%s", diag.text);
#define WRITE_int(field)   fprintf(f, ".%s = %d, ", name, p.field)
#define WRITE_ports(field) fprintf(f, ".%s = 0x%x, ", name, p.field)
#define WRITE_unroll(field)                                                                        \
	do {                                                                                       \
		fprintf(f, ".%s = {", name);                                                       \
		for (int i = 0; i < PARAMS_UNROLL_MAX; i++)                                        \
			fprintf(f, "%u,", p.field[i]);                                             \
		fprintf(f, "}, ");                                                                 \
	} while (0)
#define WRITE_cycles(field) WRITE_unroll(field)
#define PARAM(type, field, low, high, help)                                                        \
	if (!strcmp(name, #field))                                                                 \
		WRITE_##type(field);
#include "arch/params.def"
#undef PARAM
}

static int count_params(void)
{
#define PARAM(type, field, low, high, help) +1
	return 0
#include "arch/params.def"
		;
#undef PARAM
}

/* One struct tact_arch from its .arch file; every parameter must be there. */
static void write_arch(FILE *f, const char *dir, const char *arch)
{
	char path[512], line[MAX_LINE], *name, *value;
	int n_params = 0, status;
	FILE *in;

	snprintf(path, sizeof(path), "%s/arch/%s.arch", dir, arch);
	in = fopen(path, "r");
	if (!in)
		die("cannot read %s", path);
	current_file = path;
	current_line = 0;
	fprintf(f, "\t{ .record_of_form = record_of_form_%s,\n\t  ", arch);
	while (fgets(line, sizeof(line), in)) {
		current_line++;
		if (current_line == 1 && strcmp(line, "#tact-arch 1\n"))
			die("the first line is '#tact-arch 1'");
		status = params_split_line(line, &name, &value);
		if (status < 0)
			die("'name = value' expected");
		if (!status)
			continue;
		if (strpbrk(value, "\"\\"))
			die("quotes and backslashes cannot stand in a value");
		if (!strcmp(name, "name") || !strcmp(name, "full_name") ||
		    !strcmp(name, "llvm_name") || !strcmp(name, "cpuid")) {
			fprintf(f, ".%s = \"%s\", ", name, value);
			continue;
		}
		if (!n_params++)
			fprintf(f, ".params = { ");
		write_param(f, name, value);
	}
	fprintf(f, "} },\n");
	if (n_params != count_params())
		die("%d parameters instead of %d", n_params, count_params());
	fclose(in);
	current_file = NULL;
}

static void write_archs(const char *dir, const char *data, int n_archs)
{
	FILE *f = create(dir, "archs.inc");

	fprintf(f, "enum { N_FORMS = %u };\n", n_forms);
	write_pools(f);
	for (int a = 0; a < n_archs; a++) {
		fprintf(f, "static const uint16_t record_of_form_%s[N_FORMS] = {", tables[a].name);
		for (unsigned i = 0; i < n_forms; i++)
			fprintf(f, "%s%u,", i % 16 ? " " : "\n\t", tables[a].record[i]);
		fprintf(f, "\n};\n");
	}
	fprintf(f, "static const struct tact_arch archs[] = {\n");
	for (int a = 0; a < n_archs; a++)
		write_arch(f, data, tables[a].name);
	fprintf(f, "};\n");
	close_output(f);
}

int main(int argc, char **argv)
{
	bool check = argc > 1 && !strcmp(argv[1], "--check");
	const struct arch_variant no_variant = {.simple_beside = 0xff};
	const struct arch_record no_record = {0};
	const char *data = argv[check ? 2 : 1];
	int first = 3, n_archs = argc - first;

	if (n_archs < 1 || n_archs > MAX_ARCHS) {
		fprintf(stderr, "usage: gen_tables DATA_DIR OUT_DIR ARCH...\n"
				"       gen_tables --check DATA_DIR ARCH...\n");
		return 2;
	}
	pool_init(&variants, sizeof(struct arch_variant));
	pool_init(&ports, sizeof(struct arch_port_use));
	pool_init(&latencies, sizeof(struct arch_latency));
	pool_init(&records, sizeof(struct arch_record));
	pool_add(&variants, &no_variant, 1); /* index 0 means "none", or an empty list */
	parse_ports("-");
	parse_latencies("-");
	pool_add(&records, &no_record, 1);
	for (int a = 0; a < n_archs; a++) {
		unsigned n_new = 0;

		read_table(data, argv[first + a], collect_form, &n_new, 0);
		merge_forms(n_new);
	}
	for (int a = 0; a < n_archs; a++) {
		tables[a].name = argv[first + a];
		read_table(data, argv[first + a], collect_record, &tables[a], 0);
	}
	if (ports.count > 0xffff)
		die("too many port uses");
	printf("%d architectures, %u forms, %zu records, %zu variants, %zu port uses, %zu "
	       "latencies\n",
	       n_archs, n_forms, records.count, variants.count, ports.count, latencies.count);
	if (check)
		return 0;
	write_forms(argv[2]);
	write_archs(argv[2], data, n_archs);
	return 0;
}
