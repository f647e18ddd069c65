/* SPDX-License-Identifier: MIT
 *
 * data/arch/<ARCH>.arch: the parameters of a CPU.
 */
#include <string.h>

#include "gen.h"

/* A parameter as a designated initialiser. */
static void write_param(FILE *f, const char *name, const char *value)
{
	struct arch_params p;
	struct tact_diag diag;

	memset(&p, 0, sizeof(p));
	if (params_set(&p, name, value, &diag) < 0)
		gen_die("%s", diag.text);
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
void gen_cpu_write(FILE *f, const char *data, const struct gen_cpu *cpu)
{
	char path[MAX_PATH], line[MAX_LINE], *name, *value;
	int n_params = 0, status;
	bool has_isa = false;
	FILE *in;

	snprintf(path, sizeof(path), "%s/arch/%s.arch", data, cpu->name);
	in = fopen(path, "r");
	if (!in)
		gen_die("cannot read %s", path);
	gen_place = (struct gen_place){path, 0};
	fprintf(f, "\t{ .record_of_form = record_of_form_%s,\n\t  ", cpu->name);
	while (fgets(line, sizeof(line), in)) {
		gen_place.line++;
		if (gen_place.line == 1 && strcmp(line, "#tact-arch 1\n"))
			gen_die("the first line is '#tact-arch 1'");
		status = params_split_line(line, &name, &value);
		if (status < 0)
			gen_die("'name = value' expected");
		if (!status)
			continue;
		if (strpbrk(value, "\"\\"))
			gen_die("quotes and backslashes cannot stand in a value");
		if (!strcmp(name, "name") || !strcmp(name, "full_name") ||
		    !strcmp(name, "llvm_name") || !strcmp(name, "cpuid")) {
			fprintf(f, ".%s = \"%s\", ", name, value);
			continue;
		}
		if (!strcmp(name, "isa")) {
			fprintf(f, ".isa = &isa_%s, ", value);
			has_isa = true;
			continue;
		}
		if (!n_params++)
			fprintf(f, ".params = { ");
		write_param(f, name, value);
	}
	fprintf(f, "} },\n");
	if (!has_isa)
		gen_die("'isa = NAME' is missing");
	if (n_params != count_params())
		gen_die("%d parameters instead of %d", n_params, count_params());
	fclose(in);
	gen_place.file = NULL;
}
