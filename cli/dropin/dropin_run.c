/* SPDX-License-Identifier: MIT
 *
 * Runs of a block for drop-ins: so many iterations from an empty pipeline, as llvm-mca counts them,
 * with what each instruction does; on tact's pipeline, or on llvm-mca's machine for CPUs whose facts
 * are LLVM's.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/archlist.h"
#include "common/cli.h"
#include "dropin.h"

const struct tact_arch *dropin_arch(const char *name)
{
	struct tact_cpu cpu = TACT_CPU_INIT;
	const struct tact_arch *arch = NULL;
	char text[80];

	if (tact_cpu_find(name, &cpu) >= 0 && cpu.arch)
		return cpu.arch;
	snprintf(text, sizeof(text), "llvm:%s", name);
	arch = tact_arch_find(text);
	return arch ? arch : archlist_find(name);
}

/* ---- cycles ---- */

enum { MOST_CYCLES = 1 << 24 };

#define GROW(array, old, new)                                                                      \
	do {                                                                                       \
		(array) = cli_realloc(array, (new) * sizeof(*(array)));                            \
		memset((array) + (old), 0, ((new) - (old)) * sizeof(*(array)));                    \
	} while (0)

/* Makes room for a cycle; false: there are too many. */
static bool reach(struct dropin_stats *s, int64_t cycle)
{
	size_t capacity = s->capacity ? s->capacity : 4096;

	if (cycle < 0 || cycle >= MOST_CYCLES - 2)
		return false;
	while (capacity < (size_t)cycle + 2)
		capacity *= 2;
	if (capacity == s->capacity)
		return true;
	GROW(s->dispatched, s->capacity, capacity);
	GROW(s->issued, s->capacity, capacity);
	GROW(s->retired, s->capacity, capacity);
	GROW(s->in_queue, s->capacity, capacity);
	GROW(s->in_rob, s->capacity, capacity);
	GROW(s->mappings, s->capacity, capacity);
	GROW(s->wait_port, s->capacity, capacity);
	GROW(s->wait_operand, s->capacity, capacity);
	s->capacity = capacity;
	return true;
}

static void mark(uint8_t *cycles, int64_t from, int64_t to)
{
	if (to > from)
		memset(cycles + from, 1, (size_t)(to - from));
}

/* ---- what instructions do ---- */

static void count_writes(struct dropin_run *run, uint32_t insn, int64_t dispatched, int64_t retired)
{
	struct dropin_stats *s = &run->stats;
	const int32_t n = (int32_t)run->n_writes[insn];

	s->n_mappings += (uint64_t)n;
	s->mappings[dispatched] += n;
	s->mappings[retired] -= n;
}

static struct dropin_event *event_of(struct dropin_run *run, uint64_t iteration, uint32_t insn)
{
	return iteration < run->kept ? &run->events[iteration * run->n + insn] : NULL;
}

static void stall(struct dropin_run *run, enum dropin_stall why, int64_t dispatched)
{
	if (run->last_dispatch >= 0 && dispatched > run->last_dispatch + 1)
		run->stats.stalls[why] += (uint64_t)(dispatched - run->last_dispatch - 1);
}

static enum dropin_stall why_not_issued(const struct tact_sim_uop *u)
{
	switch ((enum tact_wait)u->issue_wait) {
	case TACT_WAIT_ROB:
		return DROPIN_STALL_ROB;
	case TACT_WAIT_RS:
		return DROPIN_STALL_RS;
	case TACT_WAIT_SERIALIZE:
		return DROPIN_STALL_SERIAL;
	default:
		return DROPIN_STALL_OTHER;
	}
}

/* The first uop of an instruction, the first of a slot: what is counted once. */
static void begin_slot(struct dropin_run *run, const struct tact_sim_uop *u,
		       const struct dropin_event *e)
{
	const bool is_new = u->iteration != run->last_iteration || u->insn != run->last_insn ||
			    run->last_dispatch < 0;
	struct dropin_stats *s = &run->stats;

	if (is_new) {
		s->retired[e->retired]++;
		count_writes(run, u->insn, e->dispatched, e->retired);
	}
	if (is_new || u->slot != run->last_slot) {
		stall(run, why_not_issued(u), e->dispatched);
		s->dispatched[e->dispatched]++;
		s->in_rob[e->dispatched]++;
		s->in_rob[e->retired]--;
		run->uops++;
	}
	run->last_iteration = u->iteration;
	run->last_insn = u->insn;
	run->last_slot = u->slot;
	run->last_dispatch = e->dispatched;
}

static void widen(struct dropin_event *to, const struct dropin_event *e)
{
	if (to->retired < 0) {
		*to = *e;
		return;
	}
	to->dispatched = e->dispatched < to->dispatched ? e->dispatched : to->dispatched;
	to->issued = e->issued < to->issued ? e->issued : to->issued;
	to->ready = e->ready < to->ready ? e->ready : to->ready;
	to->executed = e->executed > to->executed ? e->executed : to->executed;
	to->retired = e->retired > to->retired ? e->retired : to->retired;
}

/* A uop that needs no port is issued and executed as soon as it is dispatched. */
static struct dropin_event event_from(const struct dropin_run *run, const struct tact_sim_uop *u)
{
	struct dropin_event e = {.dispatched = u->issued - run->origin};

	e.issued = u->dispatched < 0 ? e.dispatched : u->dispatched - run->origin;
	e.ready = u->ready < 0 || u->dispatched < 0 ? e.issued : u->ready - run->origin;
	e.executed = u->executed < 0 ? e.issued : u->executed - run->origin;
	e.retired = u->retired - run->origin;
	if (e.ready < e.dispatched)
		e.ready = e.dispatched;
	return e;
}

static int on_uop(void *arg, const struct tact_sim_uop *u)
{
	struct dropin_run *run = arg;
	struct dropin_stats *s = &run->stats;
	struct dropin_event e, *kept;

	if (u->iteration >= run->iterations)
		return 0;
	if (run->origin < 0)
		run->origin = u->issued;
	e = event_from(run, u);
	if (e.dispatched < 0 || !reach(s, e.retired)) {
		run->failed = true;
		return 1;
	}
	begin_slot(run, u, &e);
	if (u->dispatched >= 0) {
		s->issued[e.issued]++;
		s->in_queue[e.dispatched]++;
		s->in_queue[e.issued]--;
		mark(s->wait_operand, e.dispatched + 1, e.ready);
		mark(s->wait_port, e.ready > e.dispatched ? e.ready : e.dispatched + 1, e.issued);
	}
	kept = event_of(run, u->iteration, u->insn);
	if (kept)
		widen(kept, &e);
	if ((uint64_t)e.retired + 1 > run->cycles)
		run->cycles = (uint64_t)e.retired + 1;
	return 0;
}

static void on_insn(void *arg, const struct tact_mca_event *m)
{
	struct dropin_run *run = arg;
	struct dropin_stats *s = &run->stats;
	const struct dropin_event e = {m->dispatched, run->in_order ? m->issued : m->ready,
				       m->issued, m->executed, m->retired};
	struct dropin_event *kept;

	if (run->failed || !reach(s, e.retired)) {
		run->failed = true;
		return;
	}
	if (!run->in_order || e.dispatched > run->last_dispatch) {
		stall(run, run->in_order ? DROPIN_STALL_OPERANDS : DROPIN_STALL_ROB, e.dispatched);
		run->last_dispatch = e.dispatched;
	}
	s->dispatched[e.dispatched] += m->micro_ops;
	s->issued[e.issued] += m->micro_ops;
	s->retired[e.retired]++;
	s->in_rob[e.dispatched] += (int32_t)m->micro_ops;
	s->in_rob[e.retired] -= (int32_t)m->micro_ops;
	s->in_queue[e.dispatched]++;
	s->in_queue[e.issued]--;
	mark(s->wait_operand, e.dispatched + 1, e.ready);
	mark(s->wait_port, e.ready > e.dispatched ? e.ready : e.dispatched + 1, e.issued);
	count_writes(run, m->insn, e.dispatched, e.retired);
	run->uops += m->micro_ops;
	kept = event_of(run, m->iteration, m->insn);
	if (kept)
		*kept = e;
}

/* ---- running ---- */

static int fail(const char *what, int status)
{
	cli_message("%s: %s", what, tact_strerror(status));
	return CLI_FAILED;
}

static int fail_long(void)
{
	cli_message("the run takes more than %d cycles: fewer iterations, or less code",
		    MOST_CYCLES);
	return CLI_FAILED;
}

static void begin_again(struct dropin_run *run)
{
	struct dropin_stats *s = &run->stats;
	const size_t n = s->capacity;

	memset(run->events, 0xff, run->kept * run->n * sizeof(*run->events));
	memset(s->dispatched, 0, n * sizeof(*s->dispatched));
	memset(s->issued, 0, n * sizeof(*s->issued));
	memset(s->retired, 0, n * sizeof(*s->retired));
	memset(s->in_queue, 0, n * sizeof(*s->in_queue));
	memset(s->in_rob, 0, n * sizeof(*s->in_rob));
	memset(s->mappings, 0, n * sizeof(*s->mappings));
	memset(s->wait_port, 0, n);
	memset(s->wait_operand, 0, n);
	memset(s->stalls, 0, sizeof(s->stalls));
	s->n_mappings = run->cycles = run->uops = 0;
	run->origin = run->last_dispatch = -1;
}

static int run_sim(struct dropin_run *run)
{
	const struct tact_sim_options opt = {.size = sizeof(opt),
					     .min_iterations = run->iterations,
					     .on_uop = on_uop,
					     .arg = run};
	struct tact_simulation result = TACT_SIMULATION_INIT;
	struct tact_sim_options longer = opt;
	int status = tact_simulator_create(&run->simulator, NULL);

	if (status >= 0)
		status = tact_simulate(run->simulator, run->block, &opt, &result);
	if (status == -TACT_E_LIMIT && !run->failed) { /* rdrand, which takes thousands */
		begin_again(run);
		longer.max_cycles = MOST_CYCLES / 4;
		status = tact_simulate(run->simulator, run->block, &longer, &result);
	}
	if (status >= 0 && run->failed)
		status = -TACT_E_LIMIT;
	if (status == -TACT_E_LIMIT)
		return fail_long();
	if (status < 0)
		return fail("the pipeline", status);
	run->cycles_per_iteration = result.cycles_per_iteration;
	for (size_t i = 0; i < run->n; i++)
		tact_simulated_insn(run->simulator, i, &run->insns[i]);
	return CLI_GOOD;
}

static int run_mca(struct dropin_run *run, enum tact_alias alias)
{
	const struct tact_mca_options opt = {
		.size = sizeof(opt),
		.iterations = run->iterations,
		.memory = alias == TACT_ALIAS_ALWAYS ? TACT_MCA_ALIAS : TACT_MCA_NO_ALIAS,
		.on_insn = on_insn,
		.arg = run};
	struct tact_mca_result result = TACT_MCA_RESULT_INIT;
	int status = tact_mca_create(&run->mca, &opt, NULL);

	if (status >= 0)
		status = tact_mca_estimate(run->mca, run->block, &result);
	if (run->failed || status == -TACT_E_LIMIT)
		return fail_long();
	if (status < 0)
		return fail("llvm-mca's machine", status);
	run->cycles_per_iteration = result.cycles_per_iteration;
	run->cycles = (uint64_t)llround(result.cycles_per_iteration * run->iterations);
	for (size_t i = 0; i < run->n; i++) {
		memcpy(run->insns[i].port, run->costs[i].port, sizeof(run->insns[i].port));
		run->insns[i].issued = run->costs[i].issued;
	}
	return CLI_GOOD;
}

/* The second of a macro-fused pair does what the first one does. */
static void fill_pairs(struct dropin_run *run)
{
	for (unsigned k = 0; k < run->kept; k++)
		for (size_t i = 1; i < run->n; i++)
			if (run->events[k * run->n + i].retired < 0)
				run->events[k * run->n + i] = run->events[k * run->n + i - 1];
}

static unsigned writes_of(const struct tact_insn *insn)
{
	unsigned n = insn->flags_written != 0;

	for (unsigned i = 0; i < insn->n_operands; i++)
		n += insn->operand[i].kind == TACT_OPERAND_REG &&
		     insn->operand[i].role == TACT_ROLE_NONE &&
		     (insn->operand[i].access & (TACT_ACCESS_WRITE | TACT_ACCESS_COND_WRITE));
	return n;
}

static void survey(struct dropin_run *run)
{
	for (size_t i = 0; i < run->n; i++) {
		struct tact_insn insn;

		run->costs[i] = (struct tact_insn_cost)TACT_INSN_COST_INIT;
		run->insns[i] = (struct tact_sim_insn)TACT_SIM_INSN_INIT;
		tact_block_cost(run->block, i, &run->costs[i]);
		if (tact_block_insn(run->block, i, &insn) >= 0)
			run->n_writes[i] = writes_of(&insn);
	}
}

static void erase_insn(struct dropin_region *region, size_t i)
{
	free(region->insns[i].text);
	memmove(&region->insns[i], &region->insns[i + 1],
		(region->n_insns - i - 1) * sizeof(*region->insns));
	region->n_insns--;
}

/* Says which instructions have no data; or leaves them out. */
static int check_data(struct dropin_run *run, struct dropin_region *region, bool skips)
{
	for (size_t i = 0; i < tact_block_length(run->block);) {
		struct tact_insn_cost cost = TACT_INSN_COST_INIT;

		tact_block_cost(run->block, i, &cost);
		if (!(cost.notes & TACT_NOTE_UNKNOWN) || i >= region->n_insns) {
			i++;
			continue;
		}
		cli_message("warning: no data for '%s' on %s: %s", region->insns[i].text,
			    tact_arch_name(run->arch),
			    skips ? "it is left out"
				  : "it counts as one uop without a port, a lower bound");
		if (!skips) {
			i++;
			continue;
		}
		if (tact_block_length(run->block) == 1 ||
		    tact_block_erase(run->block, i, NULL) < 0) {
			cli_message("no assembly instructions found");
			return CLI_FAILED;
		}
		erase_insn(region, i);
	}
	return CLI_GOOD;
}

static void set_latencies(struct dropin_run *run, const struct dropin_region *region)
{
	for (size_t k = 0; k < region->n_latencies; k++)
		for (size_t i = 0; i < region->n_insns; i++)
			if (region->insns[i].place >= region->latencies[k].begin &&
			    region->insns[i].place < region->latencies[k].end)
				tact_block_set_latency(run->block, i, region->latencies[k].cycles);
}

/* What comments of the text set, such as the type of vectors. */
static int set_settings(struct dropin_run *run, const struct dropin_region *region)
{
	int status = 0;
	size_t i = 0;

	for (size_t k = 0; k < region->n_settings && status >= 0; k++) {
		while (i < region->n_insns && region->insns[i].place < region->settings[k].at)
			i++;
		if (i < region->n_insns)
			status = tact_block_set_setting(run->block, i, region->settings[k].setting);
	}
	return status;
}

static int load(struct dropin_run *run, struct dropin_region *region,
		const struct dropin_run_options *o)
{
	const struct tact_block_options opt = {
		.size = sizeof(opt),
		.mode = o->mode != TACT_MODE_AUTO ? o->mode
			: region->is_loop	  ? TACT_MODE_LOOP
						  : TACT_MODE_UNROLL,
		.init = o->init,
		.alignment = o->alignment >= 0 ? (unsigned)o->alignment : region->alignment,
		.alias = o->alias,
		.setting = region->setting,
	};
	struct tact_diag diag = {0};
	int status = tact_block_create(&run->block, o->arch, &opt, &diag);

	if (status >= 0)
		status = tact_block_load(run->block, region->code, region->code_size, &diag);
	if (status < 0) {
		cli_message("%s", diag.text[0] ? diag.text : tact_strerror(status));
		return CLI_FAILED;
	}
	if (set_settings(run, region) < 0)
		return fail("settings", -TACT_E_NOMEM);
	status = check_data(run, region, o->skip_without_data);
	if (!status)
		set_latencies(run, region);
	return status;
}

int dropin_run(struct dropin_run *run, struct dropin_region *region,
	       const struct dropin_run_options *o)
{
	int status;

	*run = (struct dropin_run){.arch = o->arch, .origin = -1, .last_dispatch = -1};
	status = load(run, region, o);
	if (status)
		return status;
	run->n = tact_block_length(run->block);
	run->iterations = o->iterations;
	run->in_order = archlist_param(o->arch, "in_order") > 0;
	run->kept = o->kept < o->iterations ? o->kept : o->iterations;
	run->events = cli_alloc(run->kept * run->n * sizeof(*run->events));
	memset(run->events, 0xff, run->kept * run->n * sizeof(*run->events)); /* -1 */
	run->costs = cli_alloc(run->n * sizeof(*run->costs));
	run->insns = cli_alloc(run->n * sizeof(*run->insns));
	run->n_writes = cli_alloc(run->n * sizeof(*run->n_writes));
	survey(run);
	run->bounds = (struct tact_prediction)TACT_PREDICTION_INIT;
	status = tact_predict(run->block, NULL, &run->bounds);
	if (status < 0)
		return fail("the bounds", status);
	if (o->is_static)
		return CLI_GOOD;
	reach(&run->stats, 1);
	status = tact_arch_is_llvm(o->arch) ? run_mca(run, o->alias) : run_sim(run);
	if (!status)
		fill_pairs(run);
	return status;
}

void dropin_run_fini(struct dropin_run *run)
{
	struct dropin_stats *s = &run->stats;

	tact_simulator_destroy(run->simulator);
	tact_mca_destroy(run->mca);
	tact_block_destroy(run->block);
	free(run->events);
	free(run->costs);
	free(run->insns);
	free(run->n_writes);
	free(s->dispatched);
	free(s->issued);
	free(s->retired);
	free(s->in_queue);
	free(s->in_rob);
	free(s->mappings);
	free(s->wait_port);
	free(s->wait_operand);
	*run = (struct dropin_run){0};
}
