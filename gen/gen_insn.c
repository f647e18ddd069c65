/* SPDX-License-Identifier: MIT
 *
 * One line of data/insn/<ARCH>.tsv -> a record.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/notation.h"
#include "gen.h"

/* Condition codes in the order of their encoding (Intel SDM vol. 1, appendix B). */
static const char *const conditions[16] = {
	"O", "NO", "B", "NB", "Z", "NZ", "BE", "NBE", "S", "NS", "P", "NP", "L", "NL", "LE", "NLE",
};

struct gen_pool gen_variants, gen_ports, gen_latencies, gen_records;

static unsigned number(const char *text)
{
	char *end;
	unsigned long v;

	if (!strcmp(text, "-"))
		return 0;
	v = strtoul(text, &end, 10);
	if (end == text || *end || !isdigit((unsigned char)text[0]))
		gen_die("'%s' is not a number", text);
	return v > ARCH_COUNT_MAX ? ARCH_COUNT_MAX : (unsigned)v;
}

static unsigned parse_ports(const char *text)
{
	struct arch_port_use list[ARCH_MAX_PORT_USES];
	struct tact_diag diag;
	int n;

	memset(list, 0, sizeof(list));
	n = notation_read_ports(list, text, &diag);
	if (n < 0)
		gen_die("%s", diag.text);
	return gen_pool_add(&gen_ports, list, (size_t)n + 1);
}

static unsigned parse_latencies(const char *text)
{
	struct arch_latency list[ARCH_MAX_LATENCIES];
	struct tact_diag diag;
	int n;

	memset(list, 0, sizeof(list));
	n = notation_read_latencies(list, text, &diag);
	if (n < 0)
		gen_die("%s", diag.text);
	return gen_pool_add(&gen_latencies, list, (size_t)n + 1);
}

static void parse_decoder(struct arch_variant *v, const char *text)
{
	v->complex_decoder = 0;
	v->simple_beside = 0xff;
	if (!strcmp(text, "-"))
		return;
	if (text[0] != 'c')
		gen_die("'%s' is not a decoder (cN or -)", text);
	v->complex_decoder = 1;
	v->simple_beside = (uint8_t)number(text + 1);
}

static void set_key(struct arch_variant *v, const char *key, const char *value)
{
	const struct {
		const char *name;
		uint16_t *field;
	} counts[] = {
		{"uops", &v->uops}, {"fused", &v->fused}, {"mite", &v->mite},
		{"ms", &v->ms},	    {"div", &v->divider}, {"tp", &v->cycles},
	};

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		if (strcmp(key, counts[i].name))
			continue;
		*counts[i].field = (uint16_t)number(value);
		return;
	}
	if (!strcmp(key, "dec"))
		parse_decoder(v, value);
	else if (!strcmp(key, "ports"))
		v->ports = (uint16_t)parse_ports(value);
	else if (!strcmp(key, "lat"))
		v->latency = parse_latencies(value);
	else
		gen_die("unknown key '%s'", key);
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
			gen_die("'%s' is not key=value", key);
		*value++ = 0;
		if (!*key && !*value)
			continue;
		set_key(&v, key, value);
	}
	return gen_pool_add(&gen_variants, &v, 1);
}

unsigned char gen_insn_flags(const char *text)
{
	unsigned char groups = 0;

	for (; strcmp(text, "-") && *text; text++) {
		if (!strchr("ACOPSZ", *text))
			gen_die("'%c' is not a flag", *text);
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
			gen_die("'%s' is not a condition", c);
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
		gen_die("fused and mite are at least 1");
}

unsigned gen_insn_record(char *const *c)
{
	struct arch_variant plain;
	struct arch_record r;
	unsigned index;

	memset(&r, 0, sizeof(r));
	parse_plain(&plain, c);
	index = gen_pool_add(&gen_variants, &plain, 1);
	if (index > 0xffff)
		gen_die("too many variants");
	r.plain = (uint16_t)index;
	r.indexed = (uint16_t)parse_variant(&plain, c[C_INDEXED]);
	r.same = (uint16_t)parse_variant(&plain, c[C_SAME]);
	r.fuse = parse_fuse(c[C_FUSE]);
	r.source = (unsigned char)c[C_SRC][0];
	return gen_pool_add(&gen_records, &r, 1);
}

void gen_insn_init(void)
{
	const struct arch_variant no_variant = {.simple_beside = 0xff};
	const struct arch_record no_record = {0};

	gen_pool_init(&gen_variants, sizeof(struct arch_variant));
	gen_pool_init(&gen_ports, sizeof(struct arch_port_use));
	gen_pool_init(&gen_latencies, sizeof(struct arch_latency));
	gen_pool_init(&gen_records, sizeof(struct arch_record));
	gen_pool_add(&gen_variants, &no_variant, 1); /* index 0 means "none", or an empty list */
	parse_ports("-");
	parse_latencies("-");
	gen_pool_add(&gen_records, &no_record, 1);
}
