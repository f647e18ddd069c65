/* SPDX-License-Identifier: MIT
 *
 * What measuring does before and after a block runs: nothing is run here.  The first byte picks the
 * part, and the instruction set.
 *
 * - Screen and emitter: what the screen lets through has no instruction that leaves the block, and
 *   the code around it is as long as it says and contains the block.
 * - Accesses of steps that a runner reports, with any registers.
 * - Numbers that a runner reports: what is concluded from them lies between them.
 * - The file with what is known about the core.
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "fuzz_file.h"
#include "fuzz_insns.h"
#include "fuzz_llvm.h"
#include "measure/measure_priv.h"
#include "measure/pointer_walk.h"

enum { HEAD = 8 };

/* ---- screen and emitter ---- */

static void check_screened(const struct measure_set *set, const struct measure_screen *s,
			   const uint8_t *code, size_t size)
{
	size_t at = 0, n = 0;

	while (at < size) {
		struct tact_insn insn;
		const int length = tact_isa_decode(set->isa, &insn, code + at, size - at);

		MUST(length > 0);
		at += (size_t)length;
		n++;
		/* Only the branch of a loop goes anywhere. */
		if (insn.flow != TACT_FLOW_NEXT)
			MUST(at == size && s->is_loop && insn.flow != TACT_FLOW_CALL &&
			     insn.flow != TACT_FLOW_RETURN);
	}
	MUST(n == s->n_insns && s->branch_size <= size);
	MUST(s->fixup_size <= MEASURE_MAX_FIXUP && s->own_counter >= -1 &&
	     s->own_counter < ISA_MAX_GENERAL);
}

static void check_layout(const struct measure_layout *l, const struct measure_plan *plan,
			 const uint8_t *area)
{
	const uint32_t places[] = {l->entry,	   l->body,	  l->body_low,
				   l->chain_short, l->chain_long, l->enter_low,
				   l->enter_high,  l->enter_end,  l->enter_step};

	MUST(l->end <= MEASURE_CODE_BYTES);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		MUST(places[i] < MEASURE_CODE_BYTES);
	MUST(l->body % MEASURE_LINE == plan->alignment % MEASURE_LINE);
	MUST(!memcmp(area + l->body, plan->code, plan->size));
}

static void try_emit(const struct measure_set *set, const struct measure_screen *s,
		     const uint8_t *head, const uint8_t *code, size_t size)
{
	static uint8_t area[MEASURE_CODE_BYTES], again[MEASURE_CODE_BYTES];
	struct measure_layout layout = {0}, second = {0};
	struct measure_plan plan = {.code = code,
				    .size = size,
				    .loop = head[1] & 1,
				    .alignment = head[2] % MEASURE_LINE,
				    .reads_counter = head[1] & 2,
				    .asks_kernel = s->uses_kept || head[1] & 4,
				    .init = (enum tact_init)(head[1] >> 3 & 1),
				    .memory = (enum tact_contents)(head[3] % 4),
				    .vectors = (enum tact_vectors)(head[3] >> 2 & 1),
				    .features = head[4] & 15u,
				    .needs = s->needs,
				    .core = {head[5] % 9, head[5] * 4u, head[1] & 16}};
	int counter = s->own_counter, status;

	if (size > MEASURE_MAX_BLOCK)
		return;
	if (set->isa != tact_isa_default())
		plan.alignment &= ~3u; /* instructions are words */
	if (plan.loop) {
		plan.own_branch = counter >= 0 && !s->fixup_size;
		if (!plan.own_branch) {
			plan.size -= s->is_loop ? s->branch_size : 0;
			counter = measure_free_register(set->isa, s->used);
		}
		if (counter < 0)
			return;
		plan.counter = (uint8_t)counter;
		plan.copies = 1 + head[6] % 8;
		plan.low = 64;
		plan.high = 256;
	} else {
		if (s->is_loop)
			return;
		plan.low = 1 + head[6] % 16;
		plan.high = plan.copies = plan.low + 1 + head[7] % 64;
	}
	memset(area, 0xcc, sizeof(area));
	memset(again, 0xcc, sizeof(again));
	status = set->emit(area, &plan, &layout);
	MUST(status == 0 || status == -TACT_E_LIMIT);
	if (status)
		return;
	check_layout(&layout, &plan, area);
	MUST(set->emit(again, &plan, &second) == 0);
	MUST(!memcmp(area, again, sizeof(area)) && !memcmp(&layout, &second, sizeof(layout)));
}

static void try_code(const struct measure_set *set, const uint8_t *head, const uint8_t *code,
		     size_t size)
{
	struct measure_screen s, again;
	char reason[160] = "", second[160] = "";

	memset(&s, 0, sizeof(s));
	memset(&again, 0, sizeof(again));
	set->screen(&s, code, size, head[1] & 1, reason, sizeof(reason));
	set->screen(&again, code, size, head[1] & 1, second, sizeof(second));
	MUST(s.status == again.status && !strcmp(reason, second));
	MUST(s.status == TACT_MEASURE_OK || *reason);
	if (s.status != TACT_MEASURE_OK)
		return;
	check_screened(set, &s, code, size);
	try_emit(set, &s, head, code, size);
}

/* ---- steps ---- */

static void try_steps(const struct measure_set *set, const uint8_t *data, size_t size)
{
	struct measure_access accesses[MEASURE_MAX_ACCESSES];
	struct measure_step step = {0};
	uint64_t random = 1;
	unsigned n;

	if (size < 9)
		return;
	memcpy(&random, data, 8);
	random |= 1;
	for (size_t i = 0; i < ARRAY_SIZE(step.reg); i++)
		step.reg[i] =
			fuzz_pick(&random, 4) ? fuzz_pick(&random, 1 << 20) : fuzz_random(&random);
	step.pc = MEASURE_CODE_BASE;
	n = set->accesses(accesses, data + 8, size - 8, &step);
	MUST(n <= MEASURE_MAX_ACCESSES);
	for (unsigned i = 0; i < n; i++)
		MUST(accesses[i].is_load || accesses[i].is_store);
}

static void try_walk(const struct measure_set *set, const uint8_t *head, const uint8_t *code,
		     size_t size)
{
	static struct measure_host host;
	struct measure_walk walk;
	uint8_t back[MEASURE_MAX_BACK];
	uint64_t pc = MEASURE_CODE_BASE + 64;
	size_t at = 0;

	memset(&host, 0, sizeof(host));
	host.n_steps = 4 + head[2] % 60u;
	for (uint32_t i = 0; i < host.n_steps; i++) {
		struct tact_insn insn;
		const int length = tact_isa_decode(set->isa, &insn, code + at, size - at);

		if (length <= 0)
			return;
		host.step[i].pc = pc;
		for (size_t r = 0; r < ARRAY_SIZE(host.step[i].reg); r++)
			host.step[i].reg[r] = 0x1000 + i * (head[3] + r * head[4]) * 8;
		at += (size_t)length;
		pc += (size_t)length;
		if (at >= size)
			at = 0;
		if (!at && head[1] & 1)
			pc = MEASURE_CODE_BASE + 64;
	}
	measure_trace_flags(set, &host, code, size, MEASURE_CODE_BASE + 64, head[1] & 1);
	if (!measure_find_walk(&walk, set, &host, code, size, MEASURE_CODE_BASE + 64, head[1] & 1))
		return;
	MUST(measure_walk_group(&walk) % MEASURE_WALK_UNIT == 0);
	if (measure_walk_iterations(&walk))
		MUST(measure_walk_back(&walk, set, measure_walk_iterations(&walk), back) <=
		     sizeof(back));
}

/* ---- kernels of sweeps ---- */

static void try_sweep(const struct measure_set *set, const uint8_t *head)
{
	static uint8_t code[1 << 16];
	const size_t room = (size_t)head[2] << 8 | head[3];
	const uint64_t n = (uint64_t)head[4] << 6, step = 16u << head[5] % 8;
	size_t size;

	if (!set->sweep)
		return;
	memset(code, 0xa5, sizeof(code));
	size = set->sweep((enum sweep_kernel)(head[1] % SWEEP_NONE), n, step, head[6] & 15u, code,
			  room);
	MUST(size <= room);
	for (size_t i = room; i < sizeof(code); i++)
		MUST(code[i] == 0xa5);
}

/* ---- numbers ---- */

static void try_pass(const struct measure_set *set, const uint8_t *data, size_t size)
{
	static struct measure_sample samples[MEASURE_MAX_SAMPLES];
	struct measure_reading first = {0};
	struct measure_core core = {4, 200, data[1] & 1};
	struct measure_floor floor;
	struct measure_pass pass = {0};
	const unsigned n =
		(unsigned)(size / 8 < MEASURE_MAX_SAMPLES ? size / 8 : MEASURE_MAX_SAMPLES);

	measure_floor_init(&floor, set, &core, 1 + data[2] % 40u);
	memset(samples, 0, sizeof(samples));
	for (unsigned i = 0; i < n; i++) {
		const uint8_t *p = data + (size_t)i * 8;
		struct measure_sample *s = &samples[i];

		s->low = (uint64_t)(p[0] | p[1] << 8);
		s->high = s->low + (uint64_t)(p[2] | p[3] << 8);
		s->disturbed = p[4] & 1;
		s->after.begin = i * 1000u;
		s->after.chain_short = 700u + p[5];
		s->after.chain_long = 3700u + p[6];
		for (unsigned k = 0; k < MEASURE_CANARIES; k++)
			s->after.canary[k] = 300u + p[7] * k;
	}
	first = samples[0].after;
	measure_floor_learn(&floor, &first, 1);
	measure_evaluate_pass(&pass, &first, samples, n, data[1] & 2, &floor);
	MUST(pass.kept + pass.dropped <= n);
	if (pass.valid)
		MUST(isfinite(pass.low) && isfinite(pass.high) && pass.kept);
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void try_conclusion(const uint8_t *data, size_t size)
{
	struct tact_measurement m = TACT_MEASUREMENT_INIT;
	double value[64], sorted[64];
	const unsigned n = (unsigned)(size < 64 ? size : 64);

	for (unsigned i = 0; i < n; i++)
		sorted[i] = value[i] = data[i] / 16.0;
	qsort(sorted, n, sizeof(*sorted), compare);
	measure_conclude(&m, value, n, data[0] / 100.0, 0.1);
	if (m.status == TACT_MEASURE_OK)
		MUST(n && m.cycles_per_iteration >= sorted[0] &&
		     m.cycles_per_iteration <= sorted[n - 1] && m.spread >= 0);
	else
		MUST(*m.reason);
}

/* What several rounds show does not depend on their order, and is one of them or between them. */
static void try_rounds(const uint8_t *data, size_t size)
{
	struct tact_measurement m[12], a = TACT_MEASUREMENT_INIT, b = TACT_MEASUREMENT_INIT;
	const size_t n = size / 4 < ARRAY_SIZE(m) ? size / 4 : ARRAY_SIZE(m);
	struct tact_rounds *forth, *back;
	double low = HUGE_VAL, high = 0;

	if (!n)
		return;
	MUST(tact_rounds_create(&forth) == 0 && tact_rounds_create(&back) == 0);
	for (size_t i = 0; i < n; i++) {
		const uint8_t *p = data + i * 4;

		m[i] = (struct tact_measurement){
			.size = sizeof(m[i]),
			.status = p[0] < 200 ? TACT_MEASURE_OK
					     : (enum tact_measure_status)(p[0] % 14),
			.cycles_per_iteration = 1 + p[1] / 64.0,
			.spread = p[2] / 1000.0,
			.disturbance = p[3] / 100.0,
			.mode = TACT_MODE_UNROLL,
			.low = 50,
			.high = 100,
			.cpu = -1,
			.rounds = 1,
			.agree = p[0] < 200};
		if (m[i].status == TACT_MEASURE_OK) {
			low = fmin(low, m[i].cycles_per_iteration);
			high = fmax(high, m[i].cycles_per_iteration);
		} else {
			snprintf(m[i].reason, sizeof(m[i].reason), "reason %d", p[0]);
		}
		MUST(tact_rounds_add(forth, &m[i]) >= 0 || m[i].status != TACT_MEASURE_OK);
	}
	for (size_t i = n; i-- > 0;)
		tact_rounds_add(back, &m[i]);
	if (tact_rounds_result(forth, &a) >= 0) {
		MUST(tact_rounds_result(back, &b) >= 0);
		MUST(a.status == b.status && a.rounds == b.rounds && a.agree == b.agree);
		MUST(tact_rounds_is_confirmed(forth) == tact_rounds_is_confirmed(back));
		if (a.status == TACT_MEASURE_OK)
			MUST(a.cycles_per_iteration == b.cycles_per_iteration &&
			     a.cycles_per_iteration >= low && a.cycles_per_iteration <= high);
		MUST(a.agree <= a.rounds);
	}
	tact_rounds_destroy(forth);
	tact_rounds_destroy(back);
}

static void try_floor(const struct measure_set *set, const uint8_t *data, size_t size)
{
	const struct measure_core core = {4, 200, false};
	struct measure_floor floor;
	char path[40];
	const int fd = fuzz_file_open(path, data, size);

	if (fd < 0)
		return;
	measure_floor_init(&floor, set, &core, 1);
	measure_floor_load(&floor, path, "a-cpu");
	for (unsigned i = 0; i < floor.n_parts; i++)
		MUST(floor.best[i] == 0 || floor.best[i] >= floor.least[i]);
	close(fd);
}

static const struct measure_set *pick_set(unsigned number)
{
	const struct tact_arch *other;

	if (number & 1 && fuzz_load_llvm() && (other = tact_arch_find("cortex-a57")) &&
	    measure_set_of(tact_arch_isa(other)))
		return measure_set_of(tact_arch_isa(other));
	return measure_set_of(tact_isa_default());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct measure_set *set;

	if (size <= HEAD)
		return 0;
	set = pick_set(data[0]);
	switch (data[0] / 2 % 8) {
	case 0:
		try_steps(set, data + 1, size - 1);
		break;
	case 1:
		try_sweep(set, data);
		break;
	case 2:
		try_pass(set, data, size);
		break;
	case 3:
		try_conclusion(data + 1, size - 1);
		try_rounds(data + 1, size - 1);
		break;
	case 4:
		try_floor(set, data + 1, size - 1);
		break;
	case 5:
		try_walk(set, data, data + HEAD, size - HEAD);
		break;
	default:
		try_code(set, data, data + HEAD, size - HEAD);
	}
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	if (size && (data[0] / 2 % 8 > 4 || data[0] / 2 % 8 == 0) && !(data[0] & 1))
		return fuzz_mutate_insns(tact_isa_default(), HEAD, data, size, max_size, seed);
	return LLVMFuzzerMutate(data, size, max_size);
}
