/* SPDX-License-Identifier: MIT
 *
 * A stored baseline: JSON lines, one for each piece of code, after one that says which version of tact
 * wrote them.  What a later version adds to a line is ignored.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <tact/remark.h>

#include "check/check.h"

enum { MOST_LINE = 16 << 20 };

struct baseline_reader {
	struct tact_codecheck *check;
	struct tact_diag *diag;
	uint64_t line;
	bool has_head;
};

static int wrong(struct baseline_reader *r, const char *what)
{
	return tact_fail_at(r->diag, TACT_E_FORMAT, r->line, 0, "%s", what);
}

static int no_memory(struct baseline_reader *r)
{
	return tact_fail(r->diag, TACT_E_NOMEM, "out of memory");
}

static const char *text_of(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? text : "";
}

/* A whole number that fits; 0 for anything else. */
static uint64_t whole_of(const json_t *o, const char *key, uint64_t most)
{
	const json_int_t value = json_integer_value(json_object_get(o, key));

	return value > 0 && (uint64_t)value <= most ? (uint64_t)value : 0;
}

static struct check_section *find_section(struct tact_codecheck *check, const char *name)
{
	for (size_t i = 0; i < check->n; i++)
		if (!strcmp(check->sections[i].name, name))
			return &check->sections[i];
	return NULL;
}

/* Reads "cycles" and "coverage" of a piece. */
static int read_costs(struct baseline_reader *r, const json_t *o, struct baseline_piece *piece)
{
	json_t *cycles = json_object_get(o, "cycles"), *coverage = json_object_get(o, "coverage");
	const char *arch;
	json_t *value;

	if (!json_is_object(cycles))
		return wrong(r, "a piece of code has no cycles");
	piece->costs = tact_arena_take(&r->check->memory,
				       (json_object_size(cycles) + 1) * sizeof(*piece->costs));
	if (!piece->costs)
		return no_memory(r);
	json_object_foreach(cycles, arch, value)
	{
		const json_t *share = json_object_get(coverage, arch);
		struct baseline_cost *cost = &piece->costs[piece->n_costs++];

		cost->arch = check_keep(r->check, arch);
		if (!cost->arch)
			return no_memory(r);
		cost->cycles = json_is_number(value) ? json_number_value(value) : -1;
		cost->coverage = json_is_number(share) ? json_number_value(share) : 1;
		if (!json_is_number(value) && !json_is_null(value))
			return wrong(r, "cycles are numbers");
		if (!isfinite(cost->cycles) || (json_is_number(value) && cost->cycles < 0))
			return wrong(r, "cycles are not negative");
	}
	return 0;
}

static int add_piece(struct baseline_reader *r, struct check_section *s, const json_t *o,
		     const struct tact_region *region)
{
	struct baseline_piece piece = {0};
	int status = read_costs(r, o, &piece);

	if (status < 0)
		return status;
	if (!s->code[0] && code_create(&s->code[0], region->isa))
		return no_memory(r);
	if (s->code[0]->isa != region->isa)
		return wrong(r, "a section has code of two instruction sets");
	if (tact_grow(&s->base, &s->base_capacity, s->n_base + 1, sizeof(*s->base)) ||
	    code_add(s->code[0], region))
		return no_memory(r);
	s->base[s->n_base++] = piece;
	return 0;
}

static int read_piece(struct baseline_reader *r, const json_t *o)
{
	struct check_section *s = find_section(r->check, text_of(o, "section"));
	const char *hex = text_of(o, "code");
	const size_t n = strlen(hex);
	struct tact_region region = TACT_REGION_INIT;
	uint8_t *code;
	size_t bad;
	int status;

	if (!s) {
		status = tact_remarks_add(r->check->remarks, "section-gone",
					  "section [%s] of the baseline is not in the INI file",
					  text_of(o, "section"));
		return status < 0 ? no_memory(r) : 0;
	}
	if (!*s->base_model)
		s->base_model = check_keep(r->check, text_of(o, "model"));
	region.isa = tact_isa_find(text_of(o, "isa"));
	if (!region.isa)
		return wrong(r, "an instruction set that this version does not know");
	region.name = text_of(o, "name");
	region.function = text_of(o, "function");
	region.source = text_of(o, "source");
	region.source_path = ""; /* it need not be there any more */
	region.is_loop = json_is_true(json_object_get(o, "loop"));
	region.alignment = (unsigned)whole_of(o, "alignment", 63);
	region.moving = (uint32_t)whole_of(o, "moving", UINT32_MAX);
	code = malloc(n / 2 + 1);
	if (!code || !s->base_model) {
		free(code);
		return no_memory(r);
	}
	region.code = code;
	region.code_size = n / 2;
	status = !n || tact_hex_decode(code, hex, n, &bad) < 0
			 ? wrong(r, "a piece of code has no hexadecimal digits")
			 : add_piece(r, s, o, &region);
	free(code);
	return status;
}

static int read_object(struct baseline_reader *r, const json_t *o)
{
	const char *schema = text_of(o, "schema"), *kind = text_of(o, "kind");

	if (strcmp(schema, BASELINE_SCHEMA) != 0) {
		if (!strncmp(schema, "tact.baseline/", strlen("tact.baseline/")))
			return tact_fail_at(
				r->diag, TACT_E_VERSION, r->line, 0,
				"schema %s: this version of tact reads " BASELINE_SCHEMA, schema);
		return wrong(r, "not a baseline of tact check");
	}
	if (!strcmp(kind, "baseline")) {
		const char *tact = text_of(o, "tact");

		strncpy(r->check->tact, *tact ? tact : "?", sizeof(r->check->tact) - 1);
		r->has_head = true;
		return 0;
	}
	if (!r->has_head)
		return wrong(r, "the first line of a baseline is missing");
	return !strcmp(kind, "code") ? read_piece(r, o) : 0;
}

static int read_line(struct baseline_reader *r, const char *line, size_t size)
{
	json_error_t error = {0}; /* jansson leaves its text empty when memory runs out */
	json_t *o;
	int status;

	r->line++;
	while (size && strchr(" \t\r", line[size - 1]))
		size--;
	if (!size)
		return 0;
	if (size > MOST_LINE)
		return wrong(r, "the line is too long");
	o = json_loadb(line, size, JSON_REJECT_DUPLICATES, &error);
	if (!o && !error.text[0])
		return no_memory(r);
	if (json_is_object(o))
		status = read_object(r, o);
	else if (size >= 7 && (!memcmp(line, "<<<<<<<", 7) || !memcmp(line, "=======", 7) ||
			       !memcmp(line, ">>>>>>>", 7)))
		status = wrong(r, "two versions were merged, and both were kept: write the "
				  "baseline anew");
	else
		status = wrong(r, "not a JSON object; is the file cut short?");
	json_decref(o);
	return status;
}

int baseline_read(struct tact_codecheck *check, const char *data, size_t size,
		  struct tact_diag *diag)
{
	struct baseline_reader r = {.check = check, .diag = diag};
	const char *end = data + size;
	int status = 0;

	while (data < end && !status) {
		const char *stop = memchr(data, '\n', (size_t)(end - data));

		stop = stop ? stop : end;
		status = read_line(&r, data, (size_t)(stop - data));
		data = stop + 1;
	}
	if (!status && !r.has_head)
		status = tact_fail(diag, TACT_E_FORMAT, "not a baseline of tact check");
	return status;
}
