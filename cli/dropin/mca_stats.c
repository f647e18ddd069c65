/* SPDX-License-Identifier: MIT
 *
 * llvm-mca's statistics of dispatch, schedulers, retirement and registers, and its view of
 * bottlenecks, of what tact's pipeline did.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/archlist.h"
#include "common/cli.h"
#include "mca_front.h"

/* ---- how many cycles had how many ---- */

static double percent(const struct mca_view *v, uint64_t cycles)
{
	return v->run->cycles ? (double)cycles * 100 / (double)v->run->cycles : 0;
}

/* The two columns differ from view to view by a few blanks. */
static void add_histogram(const struct mca_view *v, const uint32_t *by_cycle, const char *format,
			  struct text *out)
{
	uint32_t most = 0;
	uint64_t *counts;

	for (uint64_t i = 0; i < v->run->cycles; i++)
		most = by_cycle[i] > most ? by_cycle[i] : most;
	counts = cli_alloc((most + 1) * sizeof(*counts));
	memset(counts, 0, (most + 1) * sizeof(*counts));
	for (uint64_t i = 0; i < v->run->cycles; i++)
		counts[by_cycle[i]]++;
	for (uint32_t k = 0; k <= most; k++)
		if (counts[k])
			text_printf(out, format, k, (unsigned long long)counts[k],
				    percent(v, counts[k]));
	free(counts);
}

struct usage {
	uint64_t most;
	double mean;
};

static struct usage usage_of(const struct mca_view *v, const int32_t *changes)
{
	struct usage u = {0};
	int64_t now = 0;
	double sum = 0;

	for (uint64_t i = 0; i < v->run->cycles; i++) {
		now += changes[i];
		sum += (double)now;
		if (now > (int64_t)u.most)
			u.most = (uint64_t)now;
	}
	u.mean = v->run->cycles ? sum / (double)v->run->cycles : 0;
	return u;
}

/* ---- dispatch ---- */

static void add_stall(const struct mca_view *v, const char *name, uint64_t cycles, struct text *out)
{
	text_printf(out, "%s%llu", name, (unsigned long long)cycles);
	if (cycles)
		text_printf(out, "  (%.1f%%)", percent(v, cycles));
	text_add(out, "\n");
}

void mca_dispatch_stats(const struct mca_view *v, struct text *out)
{
	const uint64_t *stalls = v->run->stats.stalls;

	text_add(out, "\n\nDynamic Dispatch Stall Cycles:\n");
	add_stall(v, "RAT     - Register unavailable:                      ",
		  stalls[DROPIN_STALL_OPERANDS], out);
	add_stall(v,
		  "RCU     - Retire tokens unavailable:                 ", stalls[DROPIN_STALL_ROB],
		  out);
	add_stall(v,
		  "SCHEDQ  - Scheduler full:                            ", stalls[DROPIN_STALL_RS],
		  out);
	add_stall(v, "LQ      - Load queue full:                           ", 0, out);
	add_stall(v, "SQ      - Store queue full:                          ", 0, out);
	add_stall(v, "GROUP   - Static restrictions on the dispatch group: ",
		  stalls[DROPIN_STALL_SERIAL], out);
	add_stall(v, "USH     - Uncategorised Structural Hazard:           ",
		  stalls[DROPIN_STALL_OTHER], out);
	text_add(out,
		 "\n\nDispatch Logic - number of cycles where we saw N micro opcodes dispatched:\n"
		 "[# dispatched], [# cycles]\n");
	add_histogram(v, v->run->stats.dispatched, " %u,              %llu  (%.1f%%)\n", out);
}

/* ---- schedulers, retirement, registers ---- */

void mca_scheduler_stats(const struct mca_view *v, struct text *out)
{
	const struct usage u = usage_of(v, v->run->stats.in_queue);
	size_t start;

	text_add(out, "\n\nSchedulers - number of cycles where we saw N micro opcodes issued:\n"
		      "[# issued], [# cycles]\n");
	add_histogram(v, v->run->stats.issued, " %u,          %llu  (%.1f%%)\n", out);
	text_add(out, "\nScheduler's queue usage:\n");
	if (v->run->in_order) {
		text_add(out, "No scheduler resources used.\n");
		return;
	}
	text_add(out, "[1] Resource name.\n"
		      "[2] Average number of used buffer entries.\n"
		      "[3] Maximum number of used buffer entries.\n"
		      "[4] Total number of buffer entries.\n\n"
		      " [1]            [2]        [3]        [4]\n");
	start = out->size;
	text_printf(out, "%sScheduler", tact_arch_name(v->run->arch));
	mca_pad(out, 17, start);
	text_printf(out, "%.0f", u.mean);
	mca_pad(out, 28, start);
	text_printf(out, "%llu", (unsigned long long)u.most);
	mca_pad(out, 39, start);
	text_printf(out, "%u\n", archlist_param(v->run->arch, "rs_size"));
}

void mca_retire_stats(const struct mca_view *v, struct text *out)
{
	const struct usage u = usage_of(v, v->run->stats.in_rob);
	const unsigned size = archlist_param(v->run->arch, "rob_size");
	const double share = size ? 100.0 / size : 0;

	text_add(out,
		 "\n\nRetire Control Unit - number of cycles where we saw N instructions retired:\n"
		 "[# retired], [# cycles]\n");
	add_histogram(v, v->run->stats.retired, " %u,           %llu  (%.1f%%)\n", out);
	text_printf(out, "\nTotal ROB Entries:                %u\n", size);
	text_printf(out, "Max Used ROB Entries:             %llu  ( %.1f%% )\n",
		    (unsigned long long)u.most, (double)u.most * share);
	text_printf(out, "Average Used ROB Entries per cy:  %.0f  ( %.1f%% )\n", u.mean,
		    u.mean * share);
}

void mca_register_stats(const struct mca_view *v, struct text *out)
{
	const struct usage u = usage_of(v, v->run->stats.mappings);

	text_printf(out,
		    "\n\nRegister File statistics:\nTotal number of mappings created:    %llu\n",
		    (unsigned long long)v->run->stats.n_mappings);
	text_printf(out, "Max number of mappings used:         %llu\n", (unsigned long long)u.most);
}

/* ---- bottlenecks ---- */

static bool is_memory_bound(const struct mca_view *v)
{
	struct tact_chain chain = TACT_CHAIN_INIT;

	if (tact_explain_chain(v->run->block, &chain) < 0)
		return false;
	for (size_t k = 0; k < chain.n_links; k++)
		if (chain.links[k].to_kind == 3)
			return true;
	return false;
}

struct mca_pressures mca_pressures(const struct mca_view *v)
{
	struct tact_port_contention c = TACT_PORT_CONTENTION_INIT;
	const struct dropin_stats *s = &v->run->stats;
	struct mca_pressures p = {.is_memory = is_memory_bound(v)};

	for (uint64_t i = 0; i < v->run->cycles; i++) {
		p.port += s->wait_port[i];
		p.operand += s->wait_operand[i];
		p.either += s->wait_port[i] || s->wait_operand[i];
	}
	/* The busiest ports: those of the contention that the bound is about. */
	if (p.port && tact_explain_ports(v->run->block, &c) >= 0)
		p.ports = c.ports;
	return p;
}

static void add_share(const struct mca_view *v, const char *what, uint64_t cycles, struct text *out)
{
	text_printf(out, "%s[ %.2f%% ]\n", what, 100.0 * (double)cycles / (double)v->run->cycles);
}

/* A register as the instruction has it: with %, or without. */
static const char *sigil_of(const char *insn, const char *value)
{
	char word[64];

	snprintf(word, sizeof(word), "%%%s", value);
	return strstr(insn, word) ? "%" : "";
}

static void add_sequence_row(const struct mca_view *v, const struct tact_chain *chain, size_t k,
			     struct text *out)
{
	const struct tact_chain_link *link = &chain->links[k];
	const struct tact_chain_link *before =
		&chain->links[(k + chain->n_links - 1) % chain->n_links];
	const size_t start = out->size;
	const bool is_memory = before->to_kind == 3;
	const char *value = tact_explain_value(v->run->block, before->to_kind, before->to_reg);
	const char *insn = link->insn < v->region->n_insns ? v->region->insns[link->insn].text : "";

	text_printf(out, "%s%u.", k ? " +----> " : "        ", link->insn);
	mca_pad(out, 14, start);
	dropin_tab(out, insn);
	mca_pad(out, 58, start);
	text_printf(out, "## %s dependency:  %s%s\n", is_memory ? "MEMORY" : "REGISTER",
		    sigil_of(insn, value), value);
}

static void add_sequence(const struct mca_view *v, struct text *out)
{
	struct tact_chain chain = TACT_CHAIN_INIT;

	if (tact_explain_chain(v->run->block, &chain) < 0 || !chain.n_links)
		return;
	text_add(out, "\nCritical sequence based on the simulation:\n\n"
		      "              Instruction                                 Dependency "
		      "Information\n");
	for (size_t k = 0; k < chain.n_links; k++) {
		add_sequence_row(v, &chain, k, out);
		if (chain.links[k].iterations)
			text_add(out, " |\n |    < loop carried > \n |\n");
	}
}

void mca_bottleneck(const struct mca_view *v, struct text *out)
{
	const struct mca_pressures p = mca_pressures(v);
	char name[64], line[80];

	if (!p.either) {
		text_add(out, "\n\nNo resource or data dependency bottlenecks discovered.\n");
		return;
	}
	add_share(v, "\n\nCycles with backend pressure increase ", p.either, out);
	text_add(out, "Throughput Bottlenecks: \n");
	add_share(v, "  Resource Pressure       ", p.port, out);
	for (unsigned k = 0; k < TACT_MAX_PORTS; k++) {
		if (!(p.ports >> k & 1))
			continue;
		snprintf(line, sizeof(line), "  - %s  ",
			 dropin_port_name(v->run->arch, k, name, sizeof(name)));
		add_share(v, line, p.port, out);
	}
	add_share(v, "  Data Dependencies:      ", p.operand, out);
	add_share(v, "  - Register Dependencies ", p.is_memory ? 0 : p.operand, out);
	add_share(v, "  - Memory Dependencies   ", p.is_memory ? p.operand : 0, out);
	add_sequence(v, out);
}
