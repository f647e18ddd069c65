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

static int read_port(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* 1*p0156+1*p23, or - */
static int read_ports(struct arch_port_use *list, const char *text, struct tact_diag *diag)
{
	const char *all = text;
	size_t n = 0;

	if (!strcmp(text, "-"))
		text = "";
	while (*text) {
		char *end;
		unsigned long count = strtoul(text, &end, 10);
		unsigned mask = 0;

		if (!isdigit((unsigned char)*text) || end[0] != '*' || end[1] != 'p' || !count ||
		    count > ARCH_COUNT_MAX || n + 1 >= ARCH_MAX_PORT_USES)
			goto bad;
		for (end += 2; *end && *end != '+'; end++) {
			if (read_port(*end) < 0)
				goto bad;
			mask |= 1u << read_port(*end);
		}
		if (!mask || (*end && !end[1]))
			goto bad;
		list[n++] = (struct arch_port_use){(uint16_t)mask, (uint16_t)count};
		text = *end ? end + 1 : end;
	}
	list[n] = (struct arch_port_use){0, 0};
	return 0;
bad:
	return tact_fail(diag, TACT_E_FORMAT, "ports: '%.60s' is not written as 1*p0156+1*p23",
			 all);
}

/* rN, mN, mN.b, mN.i, mN.m, a.b, a.i.  Returns its code or -1. */
static int read_operand(const char **text, bool is_source)
{
	const char *p = *text;
	int number, kind;

	if (p[0] == 'a' && p[1] == '.') {
		number = ARCH_OP_AGEN;
		p++;
	} else if ((p[0] == 'r' || p[0] == 'm') && isdigit((unsigned char)p[1])) {
		number = p[1] - '0';
		p += 2;
	} else {
		return -1;
	}
	kind = (*text)[0] == 'r' ? ARCH_OP_REG : ARCH_OP_MEM;
	if (is_source && (*text)[0] != 'r') {
		if (p[0] != '.' || !p[1] || !strchr("bim", p[1]))
			return -1;
		kind = p[1] == 'b' ? ARCH_OP_BASE : p[1] == 'i' ? ARCH_OP_INDEX : ARCH_OP_MEM;
		p += 2;
	}
	*text = p;
	return kind | number;
}

static int read_latencies(struct arch_latency *list, const char *text, struct tact_diag *diag)
{
	const char *all = text;
	size_t n = 0;

	if (!strcmp(text, "-"))
		text = "";
	while (*text) {
		int from = read_operand(&text, true), to;
		unsigned long cycles;
		char *end;

		if (from < 0 || *text++ != '>')
			goto bad;
		to = read_operand(&text, false);
		if (to < 0 || *text++ != ':' || !isdigit((unsigned char)*text))
			goto bad;
		cycles = strtoul(text, &end, 10);
		if (cycles > ARCH_COUNT_MAX || n + 1 >= ARCH_MAX_LATENCIES ||
		    (*end && (*end != ',' || !end[1])))
			goto bad;
		list[n++] = (struct arch_latency){(uint8_t)from, (uint8_t)to, (uint16_t)cycles};
		text = *end ? end + 1 : end;
	}
	list[n] = (struct arch_latency){.from = ARCH_OP_END};
	return 0;
bad:
	return tact_fail(diag, TACT_E_FORMAT, "lat: '%.60s' is not written as r1>r0:1,m0.b>r0:5",
			 all);
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
		return read_ports(own->ports, value, diag);
	if (!strcmp(key, "lat"))
		return read_latencies(own->latency, value, diag);
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
	form = tact_form_find(line);
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

		for (unsigned p = 0; p < 16; p++)
			if (use->mask >> p & 1)
				piece[n++] = "0123456789ABCDEF"[p];
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
static void save_params(struct tact_text *t, const struct tact_arch *arch,
			const struct tact_arch *base)
{
	struct tact_param mine, its;

	for (size_t i = 0; tact_arch_param(arch, i, &mine); i++) {
		tact_arch_param(base, i, &its);
		if (strcmp(mine.value, its.value))
			tact_text_put(t, "%s = %s\n", mine.name, mine.value);
	}
}

static void save_forms(struct tact_text *t, const struct tact_arch *arch,
		       const struct tact_arch *base)
{
	char mine[4096], its[4096];
	struct arch_view view;

	for (unsigned form = 0; form < tact_form_count(); form++) {
		for (unsigned k = 0; k < ARCH_N_SITUATIONS; k++) {
			enum arch_situation s = (enum arch_situation)k;

			if (!overlay_view(arch->overlay, form, s, &view) ||
			    arch_view_print(&view, mine, sizeof(mine)) < 0)
				continue;
			its[0] = 0;
			if (arch_view_of(base, form, s, &view))
				arch_view_print(&view, its, sizeof(its));
			if (strcmp(mine, its))
				tact_text_put(t, "%s\t%s\t%s\n", tact_form_name(form),
					      situations[k], mine);
		}
	}
}

int tact_arch_save(const struct tact_arch *arch, const char *path, const char *comment,
		   struct tact_diag *diag)
{
	const struct tact_arch *base = arch ? tact_arch_find(arch->name) : NULL;
	struct tact_text text = {0};
	int status;

	if (!base || !path)
		return tact_fail(diag, TACT_E_INVAL, "an argument is missing");
	tact_text_comment(&text, comment);
	save_params(&text, arch, base);
	if (arch->overlay)
		save_forms(&text, arch, base);
	status = text.failed ? tact_fail(diag, TACT_E_NOMEM, "out of memory")
			     : tact_file_write(path, text.data, text.size, diag);
	tact_text_fini(&text);
	return status;
}
