/* SPDX-License-Identifier: MIT */
#include "arch/notation.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

static const char port_letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUV";

char notation_port(unsigned port)
{
	return port_letters[port];
}

/* Reads the letters of a set up to '+' or the end.  Returns 0 if the set is empty or a letter is
 * not a port.
 */
static unsigned read_set(const char **text)
{
	unsigned mask = 0;

	for (; **text && **text != '+'; (*text)++) {
		const char *letter = strchr(port_letters, **text);

		if (!letter)
			return 0;
		mask |= 1u << (letter - port_letters);
	}
	return mask;
}

static uint16_t clamp(unsigned long count)
{
	return (uint16_t)(count > ARCH_COUNT_MAX ? ARCH_COUNT_MAX : count);
}

int notation_read_ports(struct arch_port_use *list, const char *text, struct tact_diag *diag)
{
	const char *all = text;
	int n = 0;

	if (!strcmp(text, "-"))
		text = "";
	while (*text) {
		char *end;
		unsigned long count = strtoul(text, &end, 10);
		unsigned mask;

		if (!isdigit((unsigned char)*text) || end[0] != '*' || end[1] != 'p' || !count)
			goto bad;
		text = end + 2;
		mask = read_set(&text);
		if (!mask || (*text && !text[1]))
			goto bad;
		if (n + 1 >= ARCH_MAX_PORT_USES)
			return tact_fail(diag, TACT_E_FORMAT, "ports: more than %d uses",
					 ARCH_MAX_PORT_USES - 1);
		list[n].mask = mask;
		list[n++].count = clamp(count);
		text += *text != 0;
	}
	list[n] = (struct arch_port_use){0, 0};
	return n;
bad:
	return tact_fail(diag, TACT_E_FORMAT, "ports: '%.60s' is not written as 1*p0156+1*p23",
			 all);
}

/* Reads rN, mN, mN.b, mN.i, mN.m, a.b or a.i.  Returns its code or -1. */
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

int notation_read_latencies(struct arch_latency *list, const char *text, struct tact_diag *diag)
{
	const char *all = text;
	int n = 0;

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
		if (*end && ((*end != ',' && *end != ' ') || !end[1]))
			goto bad;
		if (n + 1 >= ARCH_MAX_LATENCIES)
			return tact_fail(diag, TACT_E_FORMAT, "lat: more than %d latencies",
					 ARCH_MAX_LATENCIES - 1);
		list[n++] = (struct arch_latency){(uint8_t)from, (uint8_t)to, clamp(cycles)};
		text = *end ? end + 1 : end;
	}
	list[n] = (struct arch_latency){.from = ARCH_OP_END};
	return n;
bad:
	return tact_fail(diag, TACT_E_FORMAT, "lat: '%.60s' is not written as r1>r0:1,m0.b>r0:5",
			 all);
}
