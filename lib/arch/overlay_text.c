/* SPDX-License-Identifier: MIT
 *
 * Instruction data as lines of a parameter file:
 *
 *   FORM <tab> plain|indexed|same <tab> uops=1 fused=1 ports=1*p0156 lat=r0>r0:1,r1>r0:1
 *
 * Keys and values are those of the columns `indexed` and `same` of data/insn/<ARCH>.tsv.  What a
 * line does not say is as in the tables.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact/insn.h>

#include "arch/arch.h"
#include "arch/notation.h"
#include "base/file.h"
#include "base/text.h"

static const char *const situations[ARCH_N_SITUATIONS] = {"plain", "indexed", "same"};

const char *arch_situation_name(enum arch_situation situation)
{
	return situations[situation];
}

/* ---- reading ---- */

static int read_count(const char *key, const char *value, unsigned low, uint16_t *out,
		      struct tact_diag *diag)
{
	unsigned long n;
	char *end;

	n = strtoul(value, &end, 10);
	if (!isdigit((unsigned char)*value) || *end || n < low || n > ARCH_COUNT_MAX)
		return tact_fail(diag, TACT_E_FORMAT, "%s: '%.40s' is not a number from %u to %d",
				 key, value, low, ARCH_COUNT_MAX);
	*out = (uint16_t)n;
	return 0;
}

static int read_key(struct arch_own *own, char *key, struct tact_diag *diag)
{
	struct arch_variant *v = &own->variant;
	const struct {
		const char *name;
		unsigned low;
		uint16_t *field;
	} counts[] = {
		{"uops", 0, &v->uops}, {"fused", 1, &v->fused}, {"mite", 1, &v->mite},
		{"ms", 0, &v->ms},     {"div", 0, &v->divider}, {"tp", 0, &v->cycles},
	};
	char *value = strchr(key, '=');

	if (!value || !value[1])
		return tact_fail(diag, TACT_E_FORMAT, "'%.40s' is not key=value", key);
	*value++ = 0;
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		if (!strcmp(key, counts[i].name))
			return read_count(key, value, counts[i].low, counts[i].field, diag);
	if (!strcmp(key, "ports"))
		return notation_read_ports(own->ports, value, diag);
	if (!strcmp(key, "lat"))
		return notation_read_latencies(own->latency, value, diag);
	return tact_fail(diag, TACT_E_FORMAT, "unknown key '%.40s'", key);
}

int overlay_read_line(struct tact_arch *arch, char *line, struct tact_diag *diag)
{
	char *situation = strchr(line, '\t'), *keys, *key, *save = NULL;
	struct arch_own *own;
	unsigned form, k = 0;

	keys = situation && *line != '#' ? strchr(situation + 1, '\t') : NULL;
	if (!keys)
		return 0;
	while (k < ARCH_N_SITUATIONS &&
	       (strncmp(situation + 1, situations[k], (size_t)(keys - situation - 1)) ||
		strlen(situations[k]) != (size_t)(keys - situation - 1)))
		k++;
	if (k == ARCH_N_SITUATIONS)
		return 0;
	*situation = *keys++ = 0;
	if (arch->llvm)
		return tact_fail(diag, TACT_E_FORMAT,
				 "LLVM's model says what instructions of %s cost: a file can only "
				 "change its parameters",
				 arch->name);
	form = tact_isa_form_find(arch->isa, line);
	if (form == TACT_FORM_NONE)
		return tact_fail(diag, TACT_E_FORMAT, "unknown form '%.80s'", line);
	own = arch_own_of(arch, form, (enum arch_situation)k);
	if (!own)
		return tact_fail(diag, TACT_E_FORMAT, "%s has no data for '%.80s' (%s)", arch->name,
				 line, situations[k]);
	for (key = strtok_r(keys, " \r\n", &save); key; key = strtok_r(NULL, " \r\n", &save))
		if (read_key(own, key, diag) < 0)
			return -TACT_E_FORMAT;
	arch_changed(arch);
	return 1;
}

/* ---- writing ---- */

static int put(char *text, size_t size, size_t *used, const char *piece)
{
	size_t n = strlen(piece);

	if (*used + n >= size)
		return -TACT_E_LIMIT;
	memcpy(text + *used, piece, n + 1);
	*used += n;
	return 0;
}

static int put_ports(const struct arch_port_use *use, char *text, size_t size, size_t *used)
{
	char piece[64];
	int status = put(text, size, used, use->count ? " ports=" : " ports=-");

	for (const struct arch_port_use *first = use; use->count && !status; use++) {
		int n = snprintf(piece, sizeof(piece), "%s%u*p", use == first ? "" : "+",
				 use->count);

		for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
			if (use->mask >> p & 1)
				piece[n++] = notation_port(p);
		piece[n] = 0;
		status = put(text, size, used, piece);
	}
	return status;
}

static void print_operand(uint8_t op, bool is_source, char *text, size_t size)
{
	unsigned number = op & 15;
	const char *part = (op & 0xf0) == ARCH_OP_BASE	  ? ".b"
			   : (op & 0xf0) == ARCH_OP_INDEX ? ".i"
							  : ".m";

	if ((op & 0xf0) == ARCH_OP_REG)
		snprintf(text, size, "r%u", number);
	else if (number == ARCH_OP_AGEN)
		snprintf(text, size, "a%s", part);
	else
		snprintf(text, size, "m%u%s", number, is_source ? part : "");
}

static int put_latencies(const struct arch_latency *list, char *text, size_t size, size_t *used)
{
	bool is_empty = list->from == ARCH_OP_END;
	int status = put(text, size, used, is_empty ? " lat=-" : " lat=");

	for (const struct arch_latency *l = list; l->from != ARCH_OP_END && !status; l++) {
		char from[8], to[8], piece[40];

		print_operand(l->from, true, from, sizeof(from));
		print_operand(l->to, false, to, sizeof(to));
		snprintf(piece, sizeof(piece), "%s%s>%s:%u", l == list ? "" : ",", from, to,
			 l->cycles);
		status = put(text, size, used, piece);
	}
	return status;
}

int arch_view_print(const struct arch_view *view, char *text, size_t size)
{
	const struct arch_variant *v = view->variant;
	char piece[120];
	size_t used = 0;
	int status;

	snprintf(piece, sizeof(piece), "uops=%u fused=%u mite=%u ms=%u div=%u tp=%u", v->uops,
		 v->fused, v->mite, v->ms, v->divider, v->cycles);
	status = put(text, size, &used, piece);
	if (!status)
		status = put_ports(view->ports, text, size, &used);
	if (!status)
		status = put_latencies(view->latency, text, size, &used);
	return status;
}

/* Parameters that are not those of `base`. */
static void save_params(struct text *t, const struct tact_arch *arch, const struct tact_arch *base)
{
	struct tact_param mine = TACT_PARAM_INIT, its = TACT_PARAM_INIT;

	for (size_t i = 0; tact_arch_param(arch, i, &mine); i++) {
		tact_arch_param(base, i, &its);
		if (strcmp(mine.value, its.value))
			text_printf(t, "%s = %s\n", mine.name, mine.value);
	}
}

static void save_forms(struct text *t, const struct tact_arch *arch, const struct tact_arch *base)
{
	char mine[4096], its[4096];
	struct arch_view view;

	for (unsigned form = 0; form < tact_isa_form_count(arch->isa); form++) {
		for (unsigned k = 0; k < ARCH_N_SITUATIONS; k++) {
			enum arch_situation s = (enum arch_situation)k;

			if (!overlay_view(arch->overlay, form, s, &view) ||
			    arch_view_print(&view, mine, sizeof(mine)) < 0)
				continue;
			its[0] = 0;
			if (arch_view_of(base, form, s, &view))
				arch_view_print(&view, its, sizeof(its));
			if (strcmp(mine, its))
				text_printf(t, "%s\t%s\t%s\n", tact_isa_form_name(arch->isa, form),
					    situations[k], mine);
		}
	}
}

int tact_arch_save(const struct tact_arch *arch, const char *path, const char *comment,
		   struct tact_diag *diag)
{
	const struct tact_arch *base = arch ? tact_arch_find(arch->name) : NULL;
	struct text text = {0};

	if (!base || !path)
		return tact_fail(diag, TACT_E_INVAL, "an argument is missing");
	text_comment(&text, comment, SIZE_MAX);
	save_params(&text, arch, base);
	if (arch->overlay)
		save_forms(&text, arch, base);
	return file_write_text(path, &text, diag);
}
