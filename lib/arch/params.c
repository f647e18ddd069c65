/* SPDX-License-Identifier: MIT
 *
 * One parser for data/arch and for users' files: the generator links this file as well.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact/arch.h>

#include "arch/params.h"
#include "base/base.h"

enum param_type { TYPE_int, TYPE_choice, TYPE_ports, TYPE_unroll, TYPE_cycles };

static const struct param {
	enum param_type type;
	const char *name;
	size_t offset;
	int low, high;
	const char *preset, *help;
	const char *words; /* of a choice, with blanks between */
} params_list[] = {
#define PARAM(type, name, low, high, preset, help)                                                 \
	{TYPE_##type, #name, offsetof(struct arch_params, name), low, high, preset, help, NULL},
#define CHOICE(name, words, preset, help)                                                          \
	{TYPE_choice, #name, offsetof(struct arch_params, name), 0, 0, preset, help, words},
#include "arch/params.def"
#undef PARAM
#undef CHOICE
};

static int parse_int(const struct param *p, params_int *out, const char *value,
		     struct tact_diag *diag)
{
	char *end;
	long v = strtol(value, &end, 10);

	if (end == value || *end)
		return tact_fail(diag, TACT_E_FORMAT, "%s: '%s' is not a number", p->name, value);
	if (v < p->low || v > p->high)
		return tact_fail(diag, TACT_E_FORMAT, "%s: %ld is not in %d..%d", p->name, v,
				 p->low, p->high);
	*out = (params_int)v;
	return 0;
}

static int parse_choice(const struct param *p, params_choice *out, const char *value,
			struct tact_diag *diag)
{
	const char *word = p->words;
	size_t n;

	for (int i = 0; *word; i++, word += n + (word[n] != 0)) {
		n = strcspn(word, " ");
		if (strlen(value) != n || strncmp(word, value, n))
			continue;
		*out = i;
		return 0;
	}
	return tact_fail(diag, TACT_E_FORMAT, "%s: '%s' is none of: %s", p->name, value, p->words);
}

static int parse_ports(const struct param *p, params_ports *out, const char *value,
		       struct tact_diag *diag)
{
	unsigned mask = 0;

	if (!strcmp(value, "none"))
		value = "";
	while (*value) {
		char *end;
		unsigned long port = strtoul(value, &end, 10);

		if (end == value || port >= TACT_MAX_PORTS || (*end && *end != ','))
			return tact_fail(diag, TACT_E_FORMAT, "%s: ports are written as 0,1,5",
					 p->name);
		mask |= 1u << port;
		value = *end ? end + 1 : end;
	}
	if (__builtin_popcount(mask) < p->low)
		return tact_fail(diag, TACT_E_FORMAT, "%s: at least one port is needed", p->name);
	*out = (params_ports)mask;
	return 0;
}

/* A table by number of uops: copies and cycles are written alike. */
static int parse_table(const struct param *p, uint16_t *out, const char *value,
		       struct tact_diag *diag)
{
	uint16_t table[PARAMS_UNROLL_MAX] = {0};

	if (!strcmp(value, "none"))
		value = "";
	while (*value) {
		unsigned first, last, copies;
		int used = 0;

		if (sscanf(value, "%u-%u:%u%n", &first, &last, &copies, &used) != 3) {
			if (sscanf(value, "%u:%u%n", &first, &copies, &used) != 2)
				goto malformed;
			last = first;
		}
		if (first > last || last >= PARAMS_UNROLL_MAX || !copies || copies > 10000)
			goto malformed;
		for (unsigned i = first; i <= last; i++)
			table[i] = (uint16_t)copies;
		value += used;
		value += strspn(value, " ");
	}
	memcpy(out, table, sizeof(table));
	return 0;

malformed:
	return tact_fail(diag, TACT_E_FORMAT, "%s: a table is written as '1-6:6 7:4', or none",
			 p->name);
}

int params_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(params_list); i++)
		if (!strcmp(params_list[i].name, name))
			return (int)i;
	return -1;
}

const char *params_name(size_t index)
{
	return params_list[index].name;
}

const char *params_preset(size_t index)
{
	return params_list[index].preset;
}

int params_set(struct arch_params *params, const char *name, const char *value,
	       struct tact_diag *diag)
{
	int index = params_find(name);
	const struct param *p = &params_list[index < 0 ? 0 : index];
	void *field = (char *)params + p->offset;

	if (index < 0)
		return tact_fail(diag, TACT_E_INVAL, "unknown parameter '%s'", name);
	switch (p->type) {
	case TYPE_int:
		return parse_int(p, field, value, diag);
	case TYPE_choice:
		return parse_choice(p, field, value, diag);
	case TYPE_ports:
		return parse_ports(p, field, value, diag);
	case TYPE_unroll:
	case TYPE_cycles:
		break;
	}
	return parse_table(p, field, value, diag);
}

static void print_choice(const struct param *p, int choice, char *value, size_t size)
{
	const char *word = p->words;

	while (choice--)
		word += strcspn(word, " ") + 1;
	snprintf(value, size, "%.*s", (int)strcspn(word, " "), word);
}

static void print_ports(params_ports mask, char *value, size_t size)
{
	size_t n = 0;

	snprintf(value, size, "none");
	for (unsigned i = 0; i < TACT_MAX_PORTS; i++)
		if (mask >> i & 1 && n < size)
			n += (size_t)snprintf(value + n, size - n, "%s%u", n ? "," : "", i);
}

static void print_table(const uint16_t *table, char *value, size_t size)
{
	size_t n = 0;

	snprintf(value, size, "none");
	for (unsigned first = 0, last; first < PARAMS_UNROLL_MAX; first = last + 1) {
		for (last = first; last + 1 < PARAMS_UNROLL_MAX && table[last + 1] == table[first];)
			last++;
		if (!table[first] || n >= size)
			continue;
		n += (size_t)snprintf(value + n, size - n, "%s%u-%u:%u", n ? " " : "", first, last,
				      table[first]);
	}
}

bool params_get(const struct arch_params *params, size_t index, char *name, size_t name_size,
		char *value, size_t value_size, const char **help)
{
	const struct param *p;
	const void *field;

	if (index >= ARRAY_SIZE(params_list))
		return false;
	p = &params_list[index];
	field = (const char *)params + p->offset;
	snprintf(name, name_size, "%s", p->name);
	*help = p->help;
	switch (p->type) {
	case TYPE_int:
		snprintf(value, value_size, "%d", *(const params_int *)field);
		break;
	case TYPE_choice:
		print_choice(p, *(const params_choice *)field, value, value_size);
		break;
	case TYPE_ports:
		print_ports(*(const params_ports *)field, value, value_size);
		break;
	case TYPE_unroll:
	case TYPE_cycles:
		print_table(field, value, value_size);
		break;
	}
	return true;
}

static char *trim(char *s)
{
	size_t n;

	while (isspace((unsigned char)*s))
		s++;
	for (n = strlen(s); n && isspace((unsigned char)s[n - 1]); n--)
		s[n - 1] = 0;
	return s;
}

int params_find_key(const char *name)
{
	static const char *const keys[PARAMS_N_KEYS] = {
		[PARAMS_KEY_BASE] = "base",
		[PARAMS_KEY_NAME] = "name",
		[PARAMS_KEY_ISA] = "isa",
		[PARAMS_KEY_FULL_NAME] = "full_name",
		[PARAMS_KEY_LLVM_NAME] = "llvm_name",
		[PARAMS_KEY_LLVM_CPU] = "llvm_cpu",
		[PARAMS_KEY_NAMES] = "names",
		[PARAMS_KEY_CPUID] = "cpuid",
		[PARAMS_KEY_ORDER] = "order",
		[PARAMS_KEY_PORT_NAMES] = "port_names",
		[PARAMS_KEY_VERIFIED] = "verified",
	};

	for (int i = 0; i < PARAMS_N_KEYS; i++)
		if (!strcmp(keys[i], name))
			return i;
	return -1;
}

/* The words that a source begins with; data/SOURCES.md says what each means. */
static const struct source {
	const char *word;
	bool is_measured;
} sources[] = {
	{"experiment", true}, {"BHive", true},	   {"uops.info", true},
	{"uiCA", true},	      {"FACILE", true},	   {"vendor", true},
	{"inferred", true},   {"reported", false}, {"unmeasured", false},
};

static const struct source *source_of(const char *text)
{
	size_t n = strcspn(text, " :;");

	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		if (strlen(sources[i].word) == n && !strncmp(text, sources[i].word, n))
			return &sources[i];
	return NULL;
}

bool params_source_is_known(const char *source)
{
	return source_of(source) != NULL;
}

bool params_source_is_measured(const char *source)
{
	const struct source *s = source_of(source);

	return s && s->is_measured;
}

char *params_cut_comment(char *line)
{
	char *comment = strchr(line, '#');

	if (!comment)
		return line + strlen(line);
	*comment = 0;
	return trim(comment + 1);
}

int params_split_line(char *line, char **name, char **value)
{
	char *equals;

	line[strcspn(line, "#\r\n")] = 0;
	line = trim(line);
	if (!*line)
		return 0;
	equals = strchr(line, '=');
	if (!equals)
		return -TACT_E_FORMAT;
	*equals = 0;
	*name = trim(line);
	*value = trim(equals + 1);
	return **name && **value ? 1 : -TACT_E_FORMAT;
}
