/* SPDX-License-Identifier: MIT
 *
 * Code on the two machines, the pipeline and that of llvm-mca, on the CPU, in the mode and with the
 * options that the first bytes pick; then as a stream of executions with accesses to memory.
 *
 * What must hold: a uop goes through the stages in their order and retires in the order of the
 * program; instructions' cycles add up to the block's; neither machine issues more than its width;
 * a second run says the same.
 */
#include <math.h>
#include <string.h>

#include <tact/tact.h>

#include "arch/arch.h"
#include "base/base.h"
#include "base/hash.h"
#include "fuzz_insns.h"

enum { HEAD = 4, MOST_CODE = 512 };

static const struct tact_arch *pick_arch(unsigned number)
{
	static const struct tact_arch *archs[64];
	static unsigned n;

	for (const struct tact_arch *a = NULL; !n || archs[n - 1]; archs[n++] = a)
		a = tact_arch_next(a);
	return archs[number % (n - 1)];
}

/* ---- the pipeline ---- */

struct seen {
	uint64_t iteration, n;
	int64_t retired;
	size_t n_insns;
};

static int see(void *arg, const struct tact_sim_uop *u)
{
	struct seen *s = arg;

	MUST(u->insn < s->n_insns);
	MUST(u->iteration >= s->iteration);
	MUST(u->retired >= s->retired); /* in order */
	MUST(u->delivered <= u->issued && u->issued <= u->retired);
	/* A load whose data nobody waits for retires before they come. */
	if (u->port >= 0 && !u->eliminated)
		MUST(u->issued <= u->dispatched && u->ready <= u->dispatched &&
		     u->dispatched < u->executed && u->dispatched < u->retired);
	s->iteration = u->iteration;
	s->retired = u->retired;
	s->n++;
	return 0;
}

static void check_insns(const struct tact_simulator *simulator, const struct tact_simulation *r,
			size_t n, unsigned width)
{
	double spent = 0, issued = 0;

	for (size_t i = 0; i < n; i++) {
		struct tact_sim_insn insn = TACT_SIM_INSN_INIT;

		MUST(tact_simulated_insn(simulator, i, &insn) == 0);
		MUST(insn.issued >= 0 && insn.spent >= 0);
		spent += insn.spent;
		issued += insn.issued;
		for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
			MUST(insn.port[p] >= 0);
	}
	MUST(fabs(spent - r->cycles_per_iteration) <= 1e-6 * (1 + spent));
	/* Of a state that does not repeat, both are means over different iterations. */
	MUST(!r->repeats || issued <= width * r->cycles_per_iteration * (1 + 1e-9) + 1e-9);
}

static void try_pipeline(struct tact_block *block, const struct tact_arch *arch, unsigned choice)
{
	static struct tact_simulator *simulator;
	struct seen seen = {.n_insns = tact_block_length(block)};
	struct tact_sim_options opt = {.size = sizeof(opt), .max_cycles = 200 + choice % 8 * 200};
	struct tact_simulation r = TACT_SIMULATION_INIT, again = TACT_SIMULATION_INIT;
	int status;

	if (!simulator)
		MUST(tact_simulator_create(&simulator, NULL) == 0);
	if (choice & 8) {
		opt.on_uop = see;
		opt.arg = &seen;
	}
	opt.only_repeats = choice & 16;
	status = tact_simulate(simulator, block, &opt, &r);
	MUST(status == 0 || status == -TACT_E_LIMIT);
	if (status)
		return;
	MUST(r.cycles_per_iteration > 0 && isfinite(r.cycles_per_iteration));
	MUST(r.coverage >= 0 && r.coverage <= 1 && r.cycles && r.iterations && r.period);
	MUST(r.uncertainty >= 0 && !(r.repeats && r.uncertainty > 0));
	check_insns(simulator, &r, seen.n_insns, (unsigned)arch->params.issue_width);
	opt.on_uop = NULL;
	MUST(tact_simulate(simulator, block, &opt, &again) == 0);
	MUST(again.cycles_per_iteration == r.cycles_per_iteration && again.period == r.period);
}

/* ---- llvm-mca's machine ---- */

/* Parameters of each CPU are made once; what an input changes is changed back. */
static struct tact_mca_params *params_of(const struct tact_arch *arch, unsigned number)
{
	static struct tact_mca_params *all[256];

	if (!all[number])
		MUST(tact_mca_params_create(&all[number], arch, NULL) == 0);
	return all[number];
}

struct change {
	unsigned form, kind, index;
};

static void change_back(struct tact_mca_params *params, const struct change *c)
{
	const struct tact_arch *arch = tact_mca_params_arch(params);
	int value;

	MUST(tact_mca_default(arch, c->form, c->kind, c->index, &value) == 0);
	MUST(tact_mca_set(params, c->form, c->kind, c->index, value) == 0);
}

/* Gives one parameter, of a form of the block or of the machine, another value. */
static struct change change_one(struct tact_mca_params *params, struct tact_block *block,
				unsigned a, unsigned b)
{
	struct change c = {0, a % TACT_MCA_N_KINDS, 0};
	const struct tact_mca_info *info = tact_mca_get_info(c.kind);
	struct tact_insn insn;
	int value;

	MUST(tact_block_insn(block, b % tact_block_length(block), &insn) == 0);
	if (insn.form != TACT_FORM_NONE)
		c.form = insn.form;
	c.index = b % info->count;
	value = info->low + (int)(b * 7 % (unsigned)(info->high < 300 ? info->high : 300));
	MUST(tact_mca_set(params, c.form, c.kind, c.index, value) == 0);
	MUST(tact_mca_get(params, c.form, c.kind, c.index, &value) == 0 && value >= info->low);
	return c;
}

/* Micro-ops of an iteration, and those of its last instruction. */
static double micro_ops_of(const struct tact_mca_params *params, struct tact_block *block,
			   double *last)
{
	double sum = 0;

	for (size_t i = 0; i < tact_block_length(block); i++) {
		struct tact_insn insn;
		int n = 1;

		MUST(tact_block_insn(block, i, &insn) == 0);
		if (insn.form != TACT_FORM_NONE)
			MUST(tact_mca_get(params, insn.form, TACT_MCA_MICRO_OPS, 0, &n) == 0);
		sum += n;
		*last = n;
	}
	return sum;
}

static void try_machine(struct tact_block *block, const struct tact_arch *arch, const uint8_t *head)
{
	struct tact_mca_params *params = params_of(arch, head[0]);
	const struct change change = change_one(params, block, head[2], head[3]);
	struct tact_mca_options opt = {.size = sizeof(opt),
				       .params = params,
				       .iterations = 1 + head[2] % 20,
				       .memory = (enum tact_mca_memory)(head[3] % 3)};
	struct tact_mca_result r = TACT_MCA_RESULT_INIT, by_code = TACT_MCA_RESULT_INIT;
	struct tact_mca_code *code;
	struct tact_mca *machine;
	double sum, last = 0;
	int width;

	MUST(tact_mca_create(&machine, &opt, NULL) == 0);
	MUST(tact_mca_estimate(machine, block, &r) == 0);
	MUST(r.cycles_per_iteration > 0 && isfinite(r.cycles_per_iteration));
	MUST(r.coverage >= 0 && r.coverage <= 1);
	MUST(tact_mca_get(params, 0, TACT_MCA_DISPATCH_WIDTH, 0, &width) == 0);
	/* What does not fit a cycle goes on in the next ones, but nobody waits for the last of that. */
	sum = micro_ops_of(params, block, &last) * opt.iterations - last;
	MUST(r.cycles_per_iteration * opt.iterations * width >= sum * (1 - 1e-9));
	MUST(tact_mca_code_create(&code, block, opt.memory, NULL) == 0);
	MUST(tact_mca_code_length(code) == tact_block_length(block));
	MUST(tact_mca_run(machine, code, &by_code) == 0);
	MUST(by_code.cycles_per_iteration == r.cycles_per_iteration);
	tact_mca_code_destroy(code);
	tact_mca_destroy(machine);
	change_back(params, &change);
}

/* ---- streams ---- */

struct flow {
	uint64_t last, n;
};

static void retire(void *arg, uint64_t cycle)
{
	struct flow *f = arg;

	MUST(cycle >= f->last);
	f->last = cycle;
	f->n++;
}

/* The loads and stores of an execution, at addresses that repeat. */
static size_t make_accesses(struct tact_stream_access *out, size_t most, struct tact_block *block,
			    uint64_t *random)
{
	size_t n = 0;

	for (size_t i = 0; i < tact_block_length(block) && n + 2 <= most; i++) {
		struct tact_insn insn;

		MUST(tact_block_insn(block, i, &insn) == 0);
		if (insn.attributes & TACT_INSN_LOAD)
			out[n++] = (struct tact_stream_access){
				fuzz_pick(random, 8) * 8 + 0x1000, (uint32_t)i,
				(uint16_t)(1u << fuzz_pick(random, 7)),
				(uint16_t)(fuzz_pick(random, 4) ? 0 : fuzz_pick(random, 300)),
				false};
		if (insn.attributes & TACT_INSN_STORE)
			out[n++] = (struct tact_stream_access){fuzz_pick(random, 8) * 8 + 0x1000,
							       (uint32_t)i, 8, 0, true};
	}
	return n;
}

static void make_trips(struct tact_stream_trip *trips, const struct tact_stream_access *accesses,
		       size_t n, uint64_t *random)
{
	for (size_t i = 0; i < n; i++) {
		trips[i] = (struct tact_stream_trip){.line = accesses[i].address / 64,
						     .level = (uint8_t)fuzz_pick(random, 4),
						     .page = (uint8_t)fuzz_pick(random, 5)};
		if (fuzz_pick(random, 4) == 0) {
			trips[i].n_fetched = 1;
			trips[i].fetched[0] = (struct tact_stream_fetch){trips[i].line + 1, 3, 1};
		}
	}
}

static void try_stream(struct tact_block *block, const uint8_t *head, uint64_t seed)
{
	struct tact_stream_execution x = TACT_STREAM_EXECUTION_INIT;
	struct tact_stream_totals totals = TACT_STREAM_TOTALS_INIT;
	struct tact_stream_block sums = TACT_STREAM_BLOCK_INIT;
	struct tact_stream_access accesses[64];
	struct tact_stream_trip trips[64];
	const unsigned n = 1 + head[3] % 12;
	struct flow flow = {0, 0};
	struct tact_stream *stream;
	uint64_t stalled = 0;
	int status = 0;

	MUST(tact_stream_create(&stream, NULL) == 0);
	MUST(tact_stream_add(stream, block, &x.number) == 0);
	tact_stream_on_retire(stream, retire, &flow);
	for (unsigned i = 0; i < n && !status; i++) {
		x.address = 0x400000 + (fuzz_pick(&seed, 4) ? 0 : 64 * fuzz_pick(&seed, 100));
		x.accesses = accesses;
		x.n_accesses = make_accesses(accesses, ARRAY_SIZE(accesses), block, &seed);
		make_trips(trips, accesses, x.n_accesses, &seed);
		x.trips = head[2] & 32 ? trips : NULL;
		x.is_mispredicted = fuzz_pick(&seed, 4) == 0;
		x.is_redirected = fuzz_pick(&seed, 4) == 0;
		x.fetch_delay = (uint16_t)fuzz_pick(&seed, 20);
		x.code_lines = fuzz_pick(&seed, 3) ? 0 : fuzz_random(&seed);
		x.is_decoded = fuzz_pick(&seed, 8) == 0;
		status = tact_stream_execute(stream, &x);
	}
	MUST(status == 0 || status == -TACT_E_LIMIT);
	if (!status)
		status = tact_stream_drain(stream);
	MUST(status == 0 || status == -TACT_E_LIMIT);
	MUST(tact_stream_get_totals(stream, &totals) == 0);
	MUST(tact_stream_get_block(stream, x.number, &sums) == 0);
	if (!status) {
		MUST(flow.n == n && totals.blocks == n && totals.blocks_retired == n);
		MUST(totals.cycles >= flow.last && sums.executions == n);
		MUST(totals.instructions == n * tact_block_length(block));
		MUST(sums.cycles <= totals.cycles);
		for (unsigned i = 0; i < TACT_N_STALLS; i++)
			stalled += sums.stalls[i];
		MUST(stalled <= sums.cycles);
	}
	tact_stream_destroy(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tact_block *block;
	struct tact_block_options opt = {.size = sizeof(opt)};
	const struct tact_arch *arch;
	const uint8_t *head = data;

	if (size <= HEAD || size > HEAD + MOST_CODE)
		return 0;
	arch = pick_arch(head[0]);
	opt.mode = (enum tact_mode)(head[1] % 3);
	opt.alignment = head[1] / 3 % 64;
	opt.init = (enum tact_init)(head[2] % 3);
	if (block)
		MUST(tact_block_rebind(block, arch, &opt) == 0);
	else
		MUST(tact_block_create(&block, arch, &opt, NULL) == 0);
	if (tact_block_load(block, data + HEAD, size - HEAD, NULL) < 0)
		return 0;
	try_pipeline(block, arch, head[2]);
	if (head[1] & 64)
		try_machine(block, arch, head);
	if (head[1] & 128)
		try_stream(block, head, hash_bytes(data, size) | 1);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return fuzz_mutate_insns(tact_isa_default(), HEAD, data, size, max_size, seed);
}
