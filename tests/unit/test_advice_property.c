/* SPDX-License-Identifier: MIT
 *
 * Advice on random and real blocks: the changed code, loaded afresh, takes the cycles that were
 * said; and what assumes nothing leaves the same registers, flags and memory, on this CPU.
 */
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "support.h"

struct run {
	struct tact_block *block, *fresh;
	struct tact_advisor *advisor;
	unsigned blocks, advices, skip;
};

static const char *const arch_names[] = {"SNB", "HSW", "SKL", "ICL", "RKL", "ZEN4"};

static void open_run(struct run *r)
{
	memset(r, 0, sizeof(*r));
	assert_int_equal(tact_block_create(&r->block, tact_arch_find("SKL"), NULL, NULL), 0);
	assert_int_equal(tact_block_create(&r->fresh, tact_arch_find("SKL"), NULL, NULL), 0);
	assert_int_equal(tact_advisor_create(&r->advisor, NULL), 0);
}

static void close_run(struct run *r)
{
	tact_advisor_destroy(r->advisor);
	tact_block_destroy(r->fresh);
	tact_block_destroy(r->block);
}

static double predicted(struct tact_block *block)
{
	struct tact_prediction x = TACT_PREDICTION_INIT;

	assert_int_equal(tact_predict(block, NULL, &x), 0);
	return x.cycles_per_iteration;
}

static void check_one(struct run *r, const struct tact_advice *a, double before)
{
	struct tact_block_options opt = TACT_BLOCK_OPTIONS_INIT;

	opt.mode = tact_block_mode(r->block);
	opt.alignment = a->alignment;
	assert_int_equal(tact_block_rebind(r->fresh, tact_block_arch(r->block), &opt), 0);
	assert_int_equal(tact_block_load(r->fresh, a->code, a->code_size, NULL), 0);
	assert_true(a->before == before);
	assert_true(fabs(predicted(r->fresh) / a->copies - a->after) < 1e-9);
	assert_true(a->before - a->after >= 0.04 * a->before);
	assert_true(a->name[0] && a->text[0]);
	for (size_t k = 0; k < a->n_insns; k++)
		assert_true(a->insns[k] < tact_block_length(r->block));
}

/* Loops, too, are still loops without being told. */
static void check_block(const uint8_t *code, size_t size, void *arg)
{
	struct run *r = arg;
	struct tact_block_options opt = TACT_BLOCK_OPTIONS_INIT;
	const char *arch = arch_names[r->blocks % ARRAY_SIZE(arch_names)];
	double before;
	int n;

	if (r->skip && r->blocks++ % r->skip)
		return;
	r->blocks += !r->skip;
	opt.alignment = (unsigned)(r->blocks * 7 % 64);
	assert_int_equal(tact_block_rebind(r->block, tact_arch_find(arch), &opt), 0);
	if (tact_block_load(r->block, code, size, NULL) < 0)
		return;
	before = predicted(r->block);
	n = tact_advisor_run(r->advisor, r->block, NULL);
	assert_true(n >= 0);
	assert_true(predicted(r->block) == before); /* the block is as it was */
	for (size_t i = 0; i < (size_t)n; i++) {
		struct tact_advice a = TACT_ADVICE_INIT;

		assert_int_equal(tact_advisor_get(r->advisor, i, &a), 0);
		check_one(r, &a, before);
		if (tact_block_mode(r->block) == TACT_MODE_LOOP) {
			opt.mode = TACT_MODE_AUTO;
			assert_int_equal(tact_block_rebind(r->fresh, NULL, &opt), 0);
			assert_int_equal(tact_block_mode(r->fresh), TACT_MODE_LOOP);
		}
		r->advices++;
	}
}

/* Every second block ends in a branch to its start. */
TEST(gains_are_reproduced_on_random_blocks)
{
	struct rng rng = {.state = 77};
	struct run r;

	open_run(&r);
	for (unsigned i = 0; i < rounds(3000); i++) {
		uint8_t code[1024];
		size_t size = random_block(&rng, code, 12);

		if (i & 1 && size < 120) {
			code[size] = 0x75;
			code[size + 1] = (uint8_t) - (int)(size + 2);
			size += 2;
		}
		check_block(code, size, &r);
	}
	assert_true(r.advices > rounds(100));
	close_run(&r);
}

TEST(gains_are_reproduced_on_real_blocks)
{
	struct run r;

	open_run(&r);
	r.skip = rounds(10) == 10 ? 101 : 1001;
	if (!for_each_bhive_block(check_block, &r)) {
		close_run(&r);
		skip();
	}
	assert_true(r.advices > rounds(20));
	close_run(&r);
}

TEST(long_blocks_get_no_advice)
{
	static uint8_t code[4 * (TACT_ADVICE_MAX_INSNS + 1)];
	struct run r;

	open_run(&r);
	for (size_t i = 0; i < sizeof(code); i += 4)
		memcpy(code + i, "\x48\x0f\xaf\xc3", 4);
	assert_int_equal(tact_block_load(r.block, code, sizeof(code), NULL), 0);
	assert_int_equal(tact_advisor_run(r.advisor, r.block, NULL), 0);
	assert_int_equal(tact_block_load(r.block, code, sizeof(code) - 4, NULL), 0);
	assert_true(tact_advisor_run(r.advisor, r.block, NULL) > 0);
	close_run(&r);
}

#ifdef __x86_64__

/* rax, rbx, rcx, rdx, rsi, rdi, r8 to r11, flags */
struct state {
	uint64_t reg[10], flags;
};

void run_code(struct state *state, const void *code);
__asm__(".text\n"
	".globl run_code\n"
	"run_code:\n"
	"	push %rbx\n	push %rdi\n	push %rsi\n"
	"	pushq 80(%rdi)\n	popfq\n"
	"	mov (%rdi), %rax\n	mov 8(%rdi), %rbx\n	mov 16(%rdi), %rcx\n"
	"	mov 24(%rdi), %rdx\n	mov 32(%rdi), %rsi\n	mov 48(%rdi), %r8\n"
	"	mov 56(%rdi), %r9\n	mov 64(%rdi), %r10\n	mov 72(%rdi), %r11\n"
	"	mov 40(%rdi), %rdi\n"
	"	call *(%rsp)\n"
	"	pushfq\n	push %rax\n"
	"	mov 24(%rsp), %rax\n"
	"	mov %rbx, 8(%rax)\n	mov %rcx, 16(%rax)\n	mov %rdx, 24(%rax)\n"
	"	mov %rsi, 32(%rax)\n	mov %rdi, 40(%rax)\n	mov %r8, 48(%rax)\n"
	"	mov %r9, 56(%rax)\n	mov %r10, 64(%rax)\n	mov %r11, 72(%rax)\n"
	"	pop %rcx\n	mov %rcx, (%rax)\n"
	"	pop %rcx\n	mov %rcx, 80(%rax)\n"
	"	pop %rsi\n	pop %rdi\n	pop %rbx\n"
	"	ret\n");

/* Instructions that may run, most of them with something to improve. */
static const char *const pieces[] = {
	"488d445805",	  /* lea rax, [rax+rbx*2+5] */
	"4d8d540a11",	  /* lea r10, [r10+rcx+17] */
	"48c7c101000000", /* mov rcx, 1 */
	"4881c201000000", /* add rdx, 1 */
	"488b9f10000000", /* mov rbx, [rdi+16] */
	"48898f20000000", /* mov [rdi+32], rcx */
	"f3480fb8c3",	  /* popcnt rax, rbx */
	"f34c0fb8c2",	  /* popcnt r8, rdx */
	"4883f900",	  /* cmp rcx, 0 */
	"4809d2",	  /* or rdx, rdx */
	"4d01c8",	  /* add r8, r9 */
	"4c0fafc1",	  /* imul r8, rcx */
	"4d31da",	  /* xor r10, r11 */
	"48014708",	  /* add [rdi+8], rax */
	"66c7471034a2",	  /* mov word [rdi+16], 0xa234 */
};

static void execute(const uint8_t *code, size_t size, uint8_t *page, struct state *state,
		    uint64_t *memory)
{
	memcpy(page, code, size);
	page[size] = 0xc3;
	for (unsigned i = 0; i < 10; i++)
		state->reg[i] = 0x0123456789abcdefu * (i + 3);
	state->reg[5] = (uint64_t)(uintptr_t)memory;
	state->flags = 0x202;
	for (unsigned i = 0; i < 8; i++)
		memory[i] = 0xfedcba9876543210u * (i + 1);
	run_code(state, page);
	state->flags &= 0x8c5; /* CF, PF, ZF, SF, OF */
}

/* imul leaves some flags undefined; here, CPUs do the same in both. */
TEST(what_assumes_nothing_changes_nothing)
{
	uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct tact_advice_options opt = TACT_ADVICE_OPTIONS_INIT;
	struct rng rng = {.state = 4};
	unsigned checked = 0;
	struct run r;

	if (page == (uint8_t *)MAP_FAILED || !__builtin_cpu_supports("popcnt"))
		skip();
	open_run(&r);
	opt.least_gain = 1e-6;
	for (unsigned i = 0; i < 500; i++) {
		struct bytes b = {.size = 0};

		for (unsigned k = 0; k < 2 + i % 6; k++) {
			uint8_t piece[16];
			const char *hex = pieces[rng_below(&rng, ARRAY_SIZE(pieces))];

			put_bytes(&b, piece, bytes_of(piece, sizeof(piece), hex));
		}
		assert_int_equal(tact_block_load(r.block, b.data, b.size, NULL), 0);
		for (int k = tact_advisor_run(r.advisor, r.block, &opt); k-- > 0;) {
			struct tact_advice a = TACT_ADVICE_INIT;
			uint64_t memory[2][8];
			struct state left[2];

			assert_int_equal(tact_advisor_get(r.advisor, (size_t)k, &a), 0);
			if (a.assumes[0])
				continue;
			execute(b.data, b.size, page, &left[0], memory[0]);
			execute(a.code, a.code_size, page, &left[1], memory[1]);
			left[0].reg[5] = left[1].reg[5] = 0; /* where the memory is */
			assert_memory_equal(&left[0], &left[1], sizeof(left[0]));
			assert_memory_equal(memory[0], memory[1], sizeof(memory[0]));
			checked++;
		}
	}
	assert_true(checked > 100);
	munmap(page, 4096);
	close_run(&r);
}

#endif

RUN_TESTS(NULL, NULL)
