/* SPDX-License-Identifier: MIT
 *
 * What other tools print of single instructions and of ports.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/archlist.h"
#include "common/cli.h"
#include "dropin.h"

double dropin_throughput(const struct tact_prediction *bounds)
{
	static const enum tact_bound dependences[] = {TACT_BOUND_PRECEDENCE, TACT_BOUND_FORWARDING,
						      TACT_BOUND_BLOCKED, TACT_BOUND_LOADS};
	uint32_t left = bounds->applies;
	double most = 0;

	for (size_t i = 0; i < CLI_ARRAY_SIZE(dependences); i++)
		left &= ~(1u << dependences[i]);
	for (; left; left &= left - 1) {
		const double b = bounds->bound[__builtin_ctz(left)];

		most = b > most ? b : most;
	}
	return most;
}

/* The longest way through the instruction, as the tables have it. */
static unsigned table_latency(const struct dropin_run *run, const struct tact_insn *insn)
{
	const enum tact_situation situation =
		insn->attributes & TACT_INSN_SAME_REG  ? TACT_SITUATION_SAME
		: insn->attributes & TACT_INSN_INDEXED ? TACT_SITUATION_INDEXED
						       : TACT_SITUATION_PLAIN;
	struct tact_form_info info = TACT_FORM_INFO_INIT;
	unsigned most = 0;

	if (tact_arch_form(run->arch, insn->form, situation, &info) < 0)
		return 1;
	for (uint32_t i = 0; i < info.n_latencies; i++)
		if (info.latencies[i].to == TACT_LATENCY_REG && info.latencies[i].cycles > most)
			most = info.latencies[i].cycles;
	return most ? most : info.uops ? 1 : 0;
}

unsigned dropin_latency(const struct dropin_run *run, size_t i)
{
	struct tact_insn insn;

	if (tact_arch_is_llvm(run->arch)) {
		const struct dropin_event *e = &run->events[i];

		return run->kept ? (unsigned)(e->executed - e->issued) : 0;
	}
	if (tact_block_insn(run->block, i, &insn) < 0)
		return 0;
	return table_latency(run, &insn);
}

/* The instruction alone, without its dependences and without the front end. */
double dropin_reciprocal(const struct dropin_run *run, size_t i)
{
	const struct tact_block_options one = {.size = sizeof(one), .mode = TACT_MODE_UNROLL};
	const struct tact_predict_options opt = {
		.size = sizeof(opt),
		.bounds = 1u << TACT_BOUND_PORTS | 1u << TACT_BOUND_DIVIDER |
			  1u << TACT_BOUND_STORES | 1u << TACT_BOUND_MICROCODE};
	struct tact_prediction p = TACT_PREDICTION_INIT;
	struct tact_block *block;
	size_t size, at = tact_block_offset(run->block, i);
	const uint8_t *code = tact_block_code(run->block, &size);
	double cycles = 0;

	if (tact_block_create(&block, run->arch, &one, NULL) < 0)
		cli_out_of_memory();
	if (tact_block_load(block, code + at, tact_block_offset(run->block, i + 1) - at, NULL) >=
		    0 &&
	    tact_predict(block, &opt, &p) >= 0)
		cycles = p.cycles_per_iteration;
	tact_block_destroy(block);
	/* Without a resource, the width counts. */
	return cycles > 0 ? cycles
			  : (double)run->costs[i].issued / archlist_param(run->arch, "issue_width");
}

double dropin_even_pressure(const struct dropin_run *run, size_t i, unsigned port)
{
	struct tact_form_info info = TACT_FORM_INFO_INIT;
	struct tact_insn insn;
	double sum = 0;

	if (tact_arch_is_llvm(run->arch) || tact_block_insn(run->block, i, &insn) < 0 ||
	    tact_arch_form(run->arch, insn.form, TACT_SITUATION_PLAIN, &info) < 0)
		return run->costs[i].port[port];
	for (uint32_t u = 0; u < info.n_port_uses; u++)
		if (info.port_uses[u].ports >> port & 1)
			sum += (double)info.port_uses[u].uops /
			       __builtin_popcount(info.port_uses[u].ports);
	return sum;
}

/* Of LLVM's CPUs, "LLVM's: 0 N1UnitB, 1 N1UnitD". */
static bool find_name(const char *names, unsigned port, char *text, size_t size)
{
	const char *p = strchr(names, ':');

	for (p = p ? p + 1 : names; *p;) {
		char *end;
		const unsigned long number = strtoul(p, &end, 10);
		const size_t length = strcspn(end, ",");

		if (end == p)
			return false;
		if (number == port && length > 1) {
			snprintf(text, size, "%.*s", (int)(length - 1), end + 1);
			return true;
		}
		p = end + length + (end[length] != '\0');
	}
	return false;
}

const char *dropin_port_name(const struct tact_arch *arch, unsigned port, char *text, size_t size)
{
	if (!tact_arch_is_llvm(arch) || !find_name(tact_arch_port_names(arch), port, text, size))
		snprintf(text, size, "%sPort%u", tact_arch_name(arch), port);
	return text;
}
