/* SPDX-License-Identifier: MIT
 *
 * The engine of tact trace: a made-up run of up to four threads over a few pieces of code, with any
 * accesses, calls of the kernel and windows.  The first bytes pick the CPU and what is modelled; up
 * to a byte of zeros there is code, after that each pair of bytes is an event.
 *
 * What must hold: cycles of threads and of blocks add up to the total, those of instructions to their
 * block's, no port takes more than a uop a cycle, and stalls are not more than cycles.
 */
#include <math.h>
#include <string.h>

#include <tact/cycles.h>

#include "base/base.h"
#include "base/hash.h"
#include "fuzz_insns.h"
#include "fuzz_program.h"

enum { HEAD = 4, THREADS = 4, EVENTS = 400, ACCESSES = 32 };

static size_t make_accesses(struct tact_trace_access out[ACCESSES],
			    const struct tact_trace_block *b, uint64_t *random)
{
	size_t n = 0, at = 0;

	for (uint16_t i = 0; i < b->n_insns && n + 2 <= ACCESSES; i++) {
		struct tact_insn insn;
		const uint64_t address =
			fuzz_pick(random, 4)
				? 0x10000 + fuzz_pick(random, 64) * 64 + fuzz_pick(random, 64)
				: fuzz_random(random) >> 17;

		at += (size_t)tact_isa_decode(b->isa, &insn, b->code + at, b->code_size - at);
		if (insn.attributes & TACT_INSN_LOAD)
			out[n++] = (struct tact_trace_access){address, i, false,
							      1u << fuzz_pick(random, 7)};
		if (insn.attributes & TACT_INSN_STORE)
			out[n++] = (struct tact_trace_access){address, i, true,
							      1u << fuzz_pick(random, 7)};
	}
	return n;
}

/* Feeds an event.  Returns false if the pipeline does not accept the block. */
static bool feed(struct tact_cycles *cycles, struct fuzz_program *p, const uint8_t *pair,
		 uint64_t *random, uint64_t executed[FUZZ_BLOCKS])
{
	struct tact_trace_access accesses[ACCESSES];
	struct tact_trace_event e = TACT_TRACE_EVENT_INIT;
	int status;

	e.thread = pair[0] % THREADS;
	e.text = "";
	e.kind = TACT_TRACE_EXEC;
	if (pair[0] >= 0xf8)
		e.kind = TACT_TRACE_CALL;
	else if (pair[0] >= 0xf4)
		e.kind = TACT_TRACE_CALLEE;
	e.count = pair[1];
	if (e.kind == TACT_TRACE_EXEC) {
		e.block = &p->blocks[pair[1] % p->n];
		e.accesses = accesses;
		e.n_accesses = make_accesses(accesses, e.block, random);
	}
	status = tact_cycles_event(cycles, &e, NULL);
	MUST(status == 0 || status == -TACT_E_LIMIT);
	if (e.kind == TACT_TRACE_EXEC && !status)
		executed[e.block->number]++;
	return !status;
}

static bool is_close(double a, double b)
{
	return fabs(a - b) <= 1e-6 * (1 + fabs(a) + fabs(b));
}

/* Adds up a block's numbers.  Returns its cycles. */
static double check_block(struct tact_cycles *cycles, const struct tact_trace_block *block,
			  uint64_t executed, bool has_insns)
{
	struct tact_cycles_block b = TACT_CYCLES_BLOCK_INIT;
	double insns[64], sum = 0;

	if (!executed) {
		MUST(tact_cycles_get_block(cycles, block->number, &b) < 0);
		return 0;
	}
	MUST(tact_cycles_get_block(cycles, block->number, &b) == 0);
	MUST(b.executions == executed && b.block == block);
	MUST(isfinite(b.cycles) && b.cycles >= 0 && isfinite(b.bound));
	MUST(block->n_insns <= 64);
	if (has_insns) {
		MUST(tact_cycles_get_insns(cycles, block->number, insns) == 0);
		for (size_t i = 0; i < block->n_insns; i++)
			sum += insns[i];
		MUST(is_close(sum, b.cycles));
	}
	return b.cycles;
}

static void check(struct tact_cycles *cycles, struct fuzz_program *p,
		  const uint64_t executed[FUZZ_BLOCKS], bool has_insns)
{
	struct tact_cycles_totals t = TACT_CYCLES_TOTALS_INIT;
	uint64_t executions = 0, instructions = 0, n;
	double blocks = 0, threads = 0, stalls = 0, one;

	MUST(tact_cycles_get_totals(cycles, &t) == 0);
	for (size_t i = 0; i < p->n; i++) {
		executions += executed[i];
		instructions += executed[i] * p->blocks[i].n_insns;
		blocks += check_block(cycles, &p->blocks[i], executed[i], has_insns);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		if (tact_cycles_get_thread(cycles, i, &one, &n) == 0)
			threads += one;
	for (unsigned i = 0; i < TACT_N_STALLS; i++) {
		MUST(t.stalls[i] >= 0);
		stalls += t.stalls[i];
	}
	MUST(t.executions == executions && t.instructions == instructions);
	MUST(is_close(threads, t.cycles) && is_close(blocks, t.cycles));
	MUST(t.mispredicted <= t.branches && t.unknown <= t.instructions);
	MUST(stalls <= t.cycles * (1 + 1e-6) + 1e-6);
	for (unsigned i = 0; i < TACT_MAX_PORTS; i++)
		MUST(t.uops[i] >= 0 && t.uops[i] <= t.cycles * (1 + 1e-6) + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tact_cycles_options opt = {.size = sizeof(opt)};
	uint64_t executed[FUZZ_BLOCKS] = {0}, random;
	const struct tact_arch *arch = NULL;
	struct tact_cycles *cycles;
	struct fuzz_program p;
	bool is_good = true;
	size_t at;

	if (size <= HEAD + 2)
		return 0;
	for (unsigned i = 0; i <= data[0] % 15u || !arch; i++)
		arch = tact_arch_next(arch);
	opt.exact = data[1] & 1;
	opt.caches = data[1] & 2;
	opt.branches = data[1] & 4;
	opt.insns = data[1] & 8;
	opt.warm = data[1] & 16;
	opt.thorough = data[1] & 32;
	opt.partial = data[1] & 64;
	if (data[2] & 1)
		opt.cache_bytes[0] = 4096u << data[2] % 5;
	at = HEAD + fuzz_make_program(&p, data + HEAD, size - HEAD, data[3]);
	if (!p.n || tact_cycles_create(&cycles, arch, &opt, NULL) < 0)
		return 0;
	random = hash_bytes(data, size) | 1;
	for (int n = 0; n < EVENTS && is_good && at + 2 <= size; n++, at += 2)
		is_good = feed(cycles, &p, data + at, &random, executed);
	if (is_good && tact_cycles_finish(cycles, NULL) == 0)
		check(cycles, &p, executed, opt.insns);
	tact_cycles_destroy(cycles);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return fuzz_mutate_program(HEAD, data, size, max_size, seed);
}
