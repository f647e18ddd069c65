/* SPDX-License-Identifier: MIT
 *
 * The figures of an instruction form for people: ports, latencies, reciprocal throughput.
 */
#include "insninfo.h"

#include "archlist.h"

void insninfo_ports(struct text *out, const struct tact_form_info *info, const char *plus)
{
	if (!info->n_port_uses)
		text_add(out, "-");
	for (uint32_t i = 0; i < info->n_port_uses; i++) {
		uint32_t ports = info->port_uses[i].ports;
		const char *between = "";

		text_printf(out, "%s%u*p", i ? plus : "", info->port_uses[i].uops);
		for (; ports;
		     ports &= ports - 1, between = info->port_uses[i].ports >> 10 ? "," : "")
			text_printf(out, "%s%d", between, __builtin_ctz(ports));
	}
}

bool insninfo_latency(const struct tact_form_info *info, unsigned *low, unsigned *high)
{
	*low = UINT16_MAX;
	*high = 0;
	for (uint32_t i = 0; i < info->n_latencies; i++) {
		const unsigned cycles = info->latencies[i].cycles;

		*low = cycles < *low ? cycles : *low;
		*high = cycles > *high ? cycles : *high;
	}
	return info->n_latencies > 0;
}

void insninfo_add_latency(struct text *out, const struct tact_form_info *info)
{
	unsigned low, high;

	if (!insninfo_latency(info, &low, &high))
		text_add(out, "-");
	else if (low == high)
		text_printf(out, "%u", low);
	else
		text_printf(out, "%u-%u", low, high);
}

/* The bound of a set of ports: uops that can go nowhere else, over ports. */
static double bound_of(const struct tact_form_info *info, uint32_t ports)
{
	unsigned uops = 0;

	for (uint32_t i = 0; i < info->n_port_uses; i++)
		if (!(info->port_uses[i].ports & ~ports))
			uops += info->port_uses[i].uops;
	return ports ? (double)uops / __builtin_popcount(ports) : 0;
}

/* All unions of a form's sets of ports; of three at most where there are many. */
static double port_bound(const struct tact_form_info *info)
{
	const uint32_t n = info->n_port_uses;
	double worst = 0;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = i; k < n; k++)
			for (uint32_t m = k; m < n; m++) {
				const double bound = bound_of(
					info, info->port_uses[i].ports | info->port_uses[k].ports |
						      info->port_uses[m].ports);

				worst = bound > worst ? bound : worst;
			}
	return worst;
}

double insninfo_throughput(const struct tact_arch *arch, const struct tact_form_info *info)
{
	const unsigned width = archlist_param(arch, "issue_width");
	const double parts[] = {width ? (double)info->issued / width : 0, (double)info->divider,
				(double)info->cycles};
	double worst = port_bound(info);

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		worst = parts[i] > worst ? parts[i] : worst;
	return worst;
}

enum tact_situation insninfo_situation(const struct tact_insn *insn)
{
	return insn->attributes & TACT_INSN_SAME_REG  ? TACT_SITUATION_SAME
	       : insn->attributes & TACT_INSN_INDEXED ? TACT_SITUATION_INDEXED
						      : TACT_SITUATION_PLAIN;
}

void insninfo_fusion(struct text *out, const struct tact_form_info *info)
{
	/* as the tables of the vendors call them */
	static const char *const conditions[] = {"o", "no", "b", "ae", "e", "ne", "be", "a",
						 "s", "ns", "p", "np", "l", "ge", "le", "g"};
	const char *between = "";

	for (unsigned c = 0; c < 16; c++)
		if (info->fuses_with >> c & 1) {
			text_printf(out, "%sj%s", between, conditions[c]);
			between = " ";
		}
}
