/* SPDX-License-Identifier: MIT
 *
 * Which instructions of some code the tables of architectures have no data for.
 */
#include <tact-program/coverage.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/text.h"

/* What is known about a form that occurs. */
struct seen {
	size_t count;
	uint8_t bytes[TACT_MAX_INSN_BYTES], length; /* of the first one */
};

struct tact_coverage {
	const struct tact_isa *isa; /* of the CPUs */
	const struct tact_arch *arch[TACT_COVERAGE_MAX_ARCHS];
	size_t n_archs, n_blocks, n_insns;
	struct seen *forms;	  /* owned: by form */
	struct tact_gap *unknown; /* owned: instructions without a form */
	size_t n_unknown, unknown_capacity;
	struct tact_gap *gaps; /* owned: of the last call */
	size_t n_gaps, gaps_capacity;
};

int tact_coverage_create(struct tact_coverage **out, const struct tact_arch *const *archs, size_t n,
			 struct tact_diag *diag)
{
	struct tact_coverage *c;

	if (out)
		*out = NULL;
	if (!out || !archs || !n || n > TACT_COVERAGE_MAX_ARCHS)
		return tact_fail(diag, TACT_E_INVAL, "1 to %d CPUs are needed",
				 TACT_COVERAGE_MAX_ARCHS);
	for (size_t i = 0; i < n; i++)
		if (!archs[i] || tact_arch_isa(archs[i]) != tact_arch_isa(archs[0]))
			return tact_fail(diag, TACT_E_INVAL,
					 "CPUs of one instruction set are needed");
	c = calloc(1, sizeof(*c));
	if (c)
		c->forms = calloc(tact_isa_form_count(tact_arch_isa(archs[0])), sizeof(*c->forms));
	if (!c || !c->forms) {
		tact_coverage_destroy(c);
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	memcpy(c->arch, archs, n * sizeof(*archs));
	c->n_archs = n;
	c->isa = tact_arch_isa(archs[0]);
	*out = c;
	return 0;
}

void tact_coverage_destroy(struct tact_coverage *c)
{
	if (!c)
		return;
	FREE_ALL(c->forms, c->unknown, c->gaps, c);
}

/* ---- counting ---- */

static const char *operand_letter(const struct tact_operand *o)
{
	switch (o->kind) {
	case TACT_OPERAND_MEM:
		return "M";
	case TACT_OPERAND_AGEN:
		return "AGEN";
	case TACT_OPERAND_IMM:
		return "I";
	}
	return "R";
}

/* Makes a name like "VPXX (R256, M256)" for what the tables have no name for. */
static int name_unknown(const struct tact_isa *isa, const struct tact_insn *insn,
			const uint8_t *code, char *name, size_t size)
{
	struct text text = {0};
	char line[112] = "?", *p = line;
	const char *string;
	bool first = true;

	tact_isa_format(isa, code, insn->length, 0, line, sizeof(line));
	for (; *p && *p != ' '; p++)
		*p = (char)toupper((unsigned char)*p);
	text_add_bytes(&text, line, (size_t)(p - line));
	for (unsigned i = 0; i < insn->n_operands; i++) {
		if (!insn->operand[i].explicit_operand)
			continue;
		text_printf(&text, "%s%s%u", first ? " (" : ", ", operand_letter(&insn->operand[i]),
			    insn->operand[i].bits);
		first = false;
	}
	text_printf(&text, "%s (not in the tables)", first ? "" : ")");
	string = text_string(&text);
	if (string) {
		size_t n = text.size < size ? text.size : size - 1;

		memcpy(name, string, n);
		name[n] = '\0';
	}
	text_free(&text);
	return string ? 0 : -TACT_E_NOMEM;
}

static struct tact_gap *add_gap(struct tact_gap **gaps, size_t *n, size_t *capacity)
{
	if (tact_grow(gaps, capacity, *n + 1, sizeof(**gaps)) < 0)
		return NULL;
	(*gaps)[*n] = (struct tact_gap){.form = TACT_FORM_NONE};
	return &(*gaps)[(*n)++];
}

/* There are few of these, so a list will do. */
static int count_unknown(struct tact_coverage *c, const struct tact_insn *insn, const uint8_t *code)
{
	struct tact_gap *gap;
	char name[sizeof(gap->name)];

	if (name_unknown(c->isa, insn, code, name, sizeof(name)) < 0)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < c->n_unknown; i++) {
		if (!strcmp(c->unknown[i].name, name)) {
			c->unknown[i].count++;
			return 0;
		}
	}
	gap = add_gap(&c->unknown, &c->n_unknown, &c->unknown_capacity);
	if (!gap)
		return -TACT_E_NOMEM;
	memcpy(gap->name, name, sizeof(name));
	gap->count = 1;
	memcpy(gap->example, code, insn->length);
	gap->example_size = insn->length;
	return 0;
}

static int count_insn(struct tact_coverage *c, const struct tact_insn *insn, const uint8_t *code)
{
	struct seen *seen;

	c->n_insns++;
	if (insn->form == TACT_FORM_NONE || insn->form >= tact_isa_form_count(c->isa))
		return count_unknown(c, insn, code);
	seen = &c->forms[insn->form];
	if (!seen->count++) {
		memcpy(seen->bytes, code, insn->length);
		seen->length = insn->length;
	}
	return 0;
}

int tact_coverage_add(struct tact_coverage *c, const uint8_t *code, size_t size,
		      struct tact_diag *diag)
{
	struct tact_insn insn;

	if (!c || (!code && size))
		return tact_fail(diag, TACT_E_INVAL, "no code");
	for (size_t offset = 0; offset < size; offset += insn.length) {
		if (tact_isa_decode(c->isa, &insn, code + offset, size - offset) < 0)
			return tact_fail(diag, TACT_E_DECODE,
					 "no instruction, or one that is cut short, at byte %zu",
					 offset);
		if (count_insn(c, &insn, code + offset) < 0)
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	c->n_blocks++;
	return 0;
}

size_t tact_coverage_blocks(const struct tact_coverage *c)
{
	return c ? c->n_blocks : 0;
}

size_t tact_coverage_insns(const struct tact_coverage *c)
{
	return c ? c->n_insns : 0;
}

/* ---- gaps ---- */

static int by_count(const void *a, const void *b)
{
	const struct tact_gap *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->name, y->name);
}

static int add_form(struct tact_coverage *c, unsigned form)
{
	const struct seen *seen = &c->forms[form];
	const char *name = tact_isa_form_name(c->isa, form);
	struct tact_gap *gap;
	uint64_t missing = 0;

	for (size_t i = 0; i < c->n_archs && seen->count; i++)
		if (!tact_arch_has_form(c->arch[i], form))
			missing |= UINT64_C(1) << i;
	if (!missing)
		return 0;
	gap = add_gap(&c->gaps, &c->n_gaps, &c->gaps_capacity);
	if (!gap)
		return -TACT_E_NOMEM;
	strncpy(gap->name, name, sizeof(gap->name) - 1);
	gap->form = form;
	gap->count = seen->count;
	gap->missing = missing;
	memcpy(gap->example, seen->bytes, sizeof(gap->example));
	gap->example_size = seen->length;
	return 0;
}

int tact_coverage_gaps(struct tact_coverage *c, const struct tact_gap **gaps, size_t *n)
{
	struct tact_gap *gap;

	if (!c || !gaps || !n)
		return -TACT_E_INVAL;
	c->n_gaps = 0;
	for (size_t i = 0; i < c->n_unknown; i++) {
		gap = add_gap(&c->gaps, &c->n_gaps, &c->gaps_capacity);
		if (!gap)
			return -TACT_E_NOMEM;
		*gap = c->unknown[i];
		gap->missing = UINT64_MAX >> (TACT_COVERAGE_MAX_ARCHS - c->n_archs);
	}
	for (unsigned form = 0; form < tact_isa_form_count(c->isa); form++)
		if (add_form(c, form) < 0)
			return -TACT_E_NOMEM;
	if (c->n_gaps)
		qsort(c->gaps, c->n_gaps, sizeof(*c->gaps), by_count);
	*gaps = c->gaps;
	*n = c->n_gaps;
	return 0;
}

size_t tact_coverage_missing(const struct tact_coverage *c, size_t i)
{
	size_t n = 0;

	if (!c || i >= c->n_archs)
		return 0;
	for (size_t k = 0; k < c->n_gaps; k++)
		if (c->gaps[k].missing >> i & 1)
			n += c->gaps[k].count;
	return n;
}
