/* SPDX-License-Identifier: MIT
 *
 * Intervals: data/confidence/<ARCH>.tsv, as `tact evaluate --calibrate` writes it, or with the line
 * "borrow", a tab and the name of another CPU.  A line "note" has words on the rows it was learned
 * from.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gen.h"

enum { MODE, MODEL, CLASS_NAME, LENGTH, ROWS, LOW, HIGH, N_FIELDS };

static const char *const titles[N_FIELDS] = {"mode", "model", "class", "length",
					     "rows", "low",   "high"};
static const char *const modes[] = {"TACT_MODE_LOOP", "loop", "TACT_MODE_UNROLL", "unroll", NULL};
static const char *const models[] = {"CONFIDENCE_FACILE", "facile", "CONFIDENCE_SIM", "sim", NULL};
static const char *const kinds[] = {
#define CLASS(id, name, words) "CONFIDENCE_" #id, name,
#include "confidence/classes.def"
#undef CLASS
	"CONFIDENCE_ANY_KIND", "any", NULL};
static const char *const lengths[] = {"CONFIDENCE_ANY_LENGTH",
				      "any",
				      "CONFIDENCE_SHORT",
				      "1-4",
				      "CONFIDENCE_MEDIUM",
				      "5-8",
				      "CONFIDENCE_LONG",
				      "9-16",
				      "CONFIDENCE_VERY_LONG",
				      "17-",
				      NULL};

/* The enumerator that a name stands for. */
static const char *enumerator(const char *const *names, const char *name, const char *what)
{
	for (; *names; names += 2)
		if (!strcmp(names[1], name))
			return names[0];
	gen_die("no %s '%s'", what, name);
}

static double number(const char *text, double low, double high)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= low && value <= high))
		gen_die("'%s' is not a number from %g to %g", text, low, high);
	return value;
}

static unsigned split(char *line, char **fields)
{
	unsigned n = 0;

	line[strcspn(line, "\r\n")] = 0;
	for (char *save, *word = strtok_r(line, "\t", &save); word;
	     word = strtok_r(NULL, "\t", &save)) {
		if (n == N_FIELDS)
			gen_die("more than %d columns", N_FIELDS);
		fields[n++] = word;
	}
	return n;
}

static void write_line(char **field, FILE *f)
{
	const char *mode = enumerator(modes, field[MODE], titles[MODE]);
	const char *model = enumerator(models, field[MODEL], titles[MODEL]);
	const char *kind = enumerator(kinds, field[CLASS_NAME], titles[CLASS_NAME]);
	const char *length = enumerator(lengths, field[LENGTH], titles[LENGTH]);
	double rows = number(field[ROWS], 1, 1e9), low = number(field[LOW], 1e-6, 1),
	       high = number(field[HIGH], 1, 1e6);

	if (f)
		fprintf(f, "\t{ %s, %s, { %s, %s }, %.0f, %.5f, %.5f },\n", mode, model, kind,
			length, rows, low, high);
}

static bool is_cpu(const char *data, const char *name)
{
	char path[MAX_PATH];

	snprintf(path, sizeof(path), "%s/arch/%s.arch", data, name);
	return !access(path, R_OK);
}

/* What a file says besides its lines. */
struct heading {
	char borrowed[16], note[128];
};

static bool read_heading(char **field, unsigned n_fields, const char *data, const char *arch,
			 struct heading *h)
{
	if (n_fields != 2)
		return false;
	if (!strcmp(field[0], "note")) {
		if (strlen(field[1]) >= sizeof(h->note) || strpbrk(field[1], "\"\\"))
			gen_die("the note is too long, or has quotes");
		snprintf(h->note, sizeof(h->note), "%s", field[1]);
		return true;
	}
	if (strcmp(field[0], "borrow"))
		return false;
	if (!is_cpu(data, field[1]) || !strcmp(field[1], arch))
		gen_die("no other CPU '%s'", field[1]);
	snprintf(h->borrowed, sizeof(h->borrowed), "%s", field[1]);
	return true;
}

/* Reads a table and writes its lines; returns how many there are. */
static unsigned read_lines(FILE *in, const char *data, const char *arch, struct heading *h, FILE *f)
{
	char line[MAX_LINE], *field[N_FIELDS];
	unsigned n = 0;

	for (gen_place.line = 1; fgets(line, sizeof(line), in); gen_place.line++) {
		unsigned n_fields = line[0] == '#' ? 0 : split(line, field);

		if (!n_fields || !strcmp(field[0], titles[0]))
			continue;
		if (read_heading(field, n_fields, data, arch, h))
			continue;
		if (n_fields != N_FIELDS)
			gen_die("%u columns instead of %d", n_fields, N_FIELDS);
		if (!n++ && f)
			fprintf(f, "static const struct confidence_line confidence_%s[] = {\n",
				arch);
		write_line(field, f);
	}
	if (n && f)
		fprintf(f, "};\n");
	if (!n == !h->borrowed[0])
		gen_die("neither lines nor 'borrow', or both");
	return n;
}

void gen_confidence(const char *data, FILE *f)
{
	static struct heading heading[MAX_CPUS];
	static unsigned n[MAX_CPUS];
	char path[MAX_PATH];

	for (int i = 0; i < gen_n_cpus; i++) {
		FILE *in;

		snprintf(path, sizeof(path), "%s/confidence/%s.tsv", data, gen_cpus[i]->name);
		in = fopen(path, "r");
		if (!in)
			continue; /* never measured */
		gen_place = (struct gen_place){.file = path};
		n[i] = read_lines(in, data, gen_cpus[i]->name, &heading[i], f);
		fclose(in);
	}
	gen_place = (struct gen_place){0};
	if (!f)
		return;
	fprintf(f, "static const struct confidence_table confidence_tables[] = {\n");
	for (int i = 0; i < gen_n_cpus; i++)
		if (n[i])
			fprintf(f, "\t{ \"%s\", NULL, \"%s\", confidence_%s, %u },\n",
				gen_cpus[i]->name, heading[i].note, gen_cpus[i]->name, n[i]);
		else if (heading[i].borrowed[0])
			fprintf(f, "\t{ \"%s\", \"%s\", \"\", NULL, 0 },\n", gen_cpus[i]->name,
				heading[i].borrowed);
	fprintf(f, "\t{ \"\", NULL, \"\", NULL, 0 },\n};\n"); /* so that it is never empty */
}
