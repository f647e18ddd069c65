/* SPDX-License-Identifier: MIT
 *
 * Loads behind mispredicted branches: which of them a wrong path executes.
 *
 * A round is a load from memory, a branch that goes by it, what only one side does, and a load from
 * memory behind that; the next round waits for it.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "testing.h"

#include <tact/tact.h>

#include "arch/arch.h"

enum { ROUNDS = 300, MOST_ACCESSES = 8 };

#define FIRST "488b06a801"     /* mov rax, [rsi]; test al, 1 */
#define LAST  "488b0c374801ce" /* mov rcx, [rdi + rsi]; add rsi, rcx */

struct round {
	const char *first;  /* before the branch, which jumps over `side` */
	const char *side;   /* what one side does */
	const char *common; /* what both do */
	/* Where loads and stores of the three go: instructions of the code, from the lowest. */
	struct {
		uint16_t insn;
		bool is_store, is_near;
	} side_access, common_access[3];
	bool has_side_access;
	unsigned n_common;
	bool always_same; /* the side is passed over each time */
	bool is_right;	  /* the branch is predicted */
};

struct code {
	uint8_t bytes[4096];
	size_t n;
};

static void append(struct code *c, const char *hex)
{
	size_t bad;
	const long n = tact_hex_decode(c->bytes + c->n, hex, strlen(hex), &bad);

	assert_true(n >= 0);
	c->n += (size_t)n;
}

static uint32_t add(struct tact_stream *stream, const struct code *c)
{
	const struct tact_block_options opt = {.size = sizeof(opt), .mode = TACT_MODE_UNROLL};
	struct tact_block *block;
	uint32_t number;

	assert_int_equal(tact_block_create(&block, tact_arch_find("ZEN4"), &opt, NULL), 0);
	assert_int_equal(tact_block_load(block, c->bytes, c->n, NULL), 0);
	assert_int_equal(tact_stream_add(stream, block, &number), 0);
	tact_block_destroy(block);
	return number;
}

struct feeder {
	struct tact_stream *stream;
	struct tact_stream_access accesses[MOST_ACCESSES];
	struct tact_stream_trip trips[MOST_ACCESSES];
	size_t n;
	uint64_t line;
};

/* An access of a line that is nowhere near, or of one that is. */
static void access(struct feeder *f, unsigned insn, bool is_store, bool is_near)
{
	const uint64_t line = is_near ? 0x1000 : f->line++ * 5 + 0x100000;

	f->accesses[f->n] = (struct tact_stream_access){
		.address = line * 64, .insn = (uint16_t)insn, .size = 8, .is_store = is_store};
	f->trips[f->n++] = (struct tact_stream_trip){.line = line, .level = is_near ? 0 : 3};
}

static void execute(struct feeder *f, uint32_t number, uint64_t address, bool is_wrong)
{
	const struct tact_stream_execution x = {.size = sizeof(x),
						.number = number,
						.address = address,
						.accesses = f->accesses,
						.trips = f->trips,
						.n_accesses = f->n,
						.was_executed = true,
						.is_mispredicted = is_wrong};

	assert_int_equal(tact_stream_execute(f->stream, &x), 0);
	f->n = 0;
}

/* Returns the cycles of a round. */
static double cycles_of(const struct round *r)
{
	enum { BEGIN = 0x1000 };
	struct tact_stream_totals totals = TACT_STREAM_TOTALS_INIT;
	struct code first = {.n = 0}, both = {.n = 0}, common = {.n = 0};
	struct feeder f = {.n = 0};
	uint32_t numbers[3];
	size_t side, n_side;

	assert_int_equal(tact_stream_create(&f.stream, NULL), 0);
	append(&both, r->side);
	side = both.n;
	append(&first, r->first);
	first.bytes[first.n++] = 0x75; /* jne */
	first.bytes[first.n++] = (uint8_t)side;
	append(&both, r->common);
	append(&common, r->common);
	append(&both, "ffe3"); /* jmp rbx */
	append(&common, "ffe3");
	numbers[0] = add(f.stream, &first);
	numbers[1] = add(f.stream, &both);
	numbers[2] = add(f.stream, &common);
	n_side = side / 4; /* all instructions of sides have four bytes */
	for (unsigned i = 0; i < ROUNDS; i++) {
		const bool passes_side = r->always_same || i * 0x9e3779b9u >> 31;

		access(&f, 0, false, false);
		execute(&f, numbers[0], BEGIN, false);
		if (!passes_side && r->has_side_access)
			access(&f, r->side_access.insn, r->side_access.is_store,
			       r->side_access.is_near);
		for (unsigned k = 0; k < r->n_common; k++)
			access(&f, (passes_side ? 0 : (unsigned)n_side) + r->common_access[k].insn,
			       r->common_access[k].is_store, r->common_access[k].is_near);
		execute(&f, numbers[passes_side ? 2 : 1],
			BEGIN + first.n + (passes_side ? side : 0), !r->is_right);
	}
	assert_int_equal(tact_stream_drain(f.stream), 0);
	assert_int_equal(tact_stream_get_totals(f.stream, &totals), 0);
	tact_stream_destroy(f.stream);
	return (double)totals.cycles / ROUNDS;
}

/* About how often a round waits for memory. */
static double waits(const struct round *r)
{
	return cycles_of(r) / tact_arch_find("ZEN4")->params.memory_latency;
}

#define ONE_LOAD .common_access = {{.insn = 0}}, .n_common = 1

TEST(a_load_behind_the_meeting_starts_at_once)
{
	struct round r = {.first = FIRST, .side = "4983c003", .common = LAST, ONE_LOAD};
	double predicted, wrong;

	wrong = waits(&r);
	r.is_right = true;
	predicted = waits(&r);
	assert_true(predicted > 1 && predicted < 1.1);
	assert_true(wrong < 1.1);
}

TEST(where_a_branch_never_went_nobody_follows)
{
	const struct round r = {
		.first = FIRST, .side = "4983c003", .common = LAST, ONE_LOAD, .always_same = true};

	assert_true(waits(&r) > 2);
}

/* add rdi, 3 on one side: the address is another one. */
TEST(an_address_that_one_side_makes_is_not_known)
{
	const struct round r = {.first = FIRST, .side = "4883c703", .common = LAST, ONE_LOAD};

	assert_true(waits(&r) > 2);
}

/* The same, but both sides set it again: mov rdi, r9. */
TEST(an_address_that_is_made_again_is_known)
{
	const struct round r = {.first = FIRST,
				.side = "4883c703",
				.common = "4c89cf" LAST,
				.common_access = {{.insn = 1}},
				.n_common = 1};

	assert_true(waits(&r) < 1.1);
}

/* One side stores (mov [r10], rbx), both load it as an address (mov rdi, [r10]); or another place. */
TEST(what_one_side_stores_is_not_known)
{
	struct round r = {.first = FIRST,
			  .side = "49895a00",
			  .common = "498b7a00" LAST,
			  .has_side_access = true,
			  .side_access = {.insn = 0, .is_store = true, .is_near = true},
			  .common_access = {{.insn = 0, .is_near = true}, {.insn = 1}},
			  .n_common = 2};

	assert_true(waits(&r) > 2);
	r.side_access.is_near = false;
	r.side = "49895b00"; /* mov [r11], rbx */
	assert_true(waits(&r) < 1.3);
}

/* An address that comes from memory: both loads wait, one after the other, and the branch is known
 * before the second one.
 */
TEST(a_chain_behind_the_meeting_takes_its_time)
{
	struct round r = {.first = FIRST,
			  .side = "4983c003",
			  .common = "488b7e08" LAST, /* mov rdi, [rsi + 8] */
			  .common_access = {{.insn = 0}, {.insn = 1}},
			  .n_common = 2};
	const double wrong = waits(&r);

	r.is_right = true;
	assert_true(wrong > waits(&r) - 0.02 && wrong < waits(&r) + 0.1);
	assert_true(wrong > 2);
}

/* As far as the reorder buffer reaches. */
TEST(the_reorder_buffer_is_the_limit)
{
	static const unsigned counts[] = {200, 400};
	double found[2];

	for (unsigned i = 0; i < 2; i++) {
		char common[4096] = "";
		struct round r = {.first = FIRST, .side = "4983c003", .n_common = 1};

		for (unsigned k = 0; k < counts[i]; k++)
			strcat(common, "89ca"); /* mov edx, ecx */
		strcat(common, LAST);
		r.common = common;
		r.common_access[0].insn = (uint16_t)counts[i];
		found[i] = waits(&r);
	}
	assert_true(found[0] < 1.3);
	assert_true(found[1] > 2);
}

/* Returns how often a round waits for memory that has a second branch: it is mispredicted as well, goes by
 * a load of its own, and decides about the address (add rdi, 3).
 */
static double waits_with_two(bool is_near)
{
	enum { BEGIN = 0x1000, SIDE = 4 };
	struct tact_stream_totals totals = TACT_STREAM_TOTALS_INIT;
	struct code blocks[5] = {{.n = 0}};
	struct feeder f = {.n = 0};
	uint32_t numbers[5];
	uint64_t address[5] = {BEGIN};

	append(&blocks[0], FIRST "7504");
	append(&blocks[1], "4983c303"); /* add r11, 3 */
	for (unsigned i = 1; i < 3; i++)
		append(&blocks[i], "42f60406017504"); /* test byte [rsi + r8], 1; jne */
	append(&blocks[3], "4883c703");
	for (unsigned i = 3; i < 5; i++)
		append(&blocks[i], LAST "ffe3");
	address[1] = address[0] + blocks[0].n;
	address[2] = address[1] + SIDE;
	address[3] = address[2] + blocks[2].n;
	address[4] = address[3] + SIDE;
	assert_int_equal(tact_stream_create(&f.stream, NULL), 0);
	for (unsigned i = 0; i < 5; i++)
		numbers[i] = add(f.stream, &blocks[i]);
	for (unsigned i = 0; i < ROUNDS; i++) {
		const unsigned second = 1 + (i * 0x9e3779b9u >> 31),
			       third = 3 + (i * 0x7feb352du >> 31);

		access(&f, 0, false, false);
		execute(&f, numbers[0], address[0], false);
		access(&f, second == 1, false, is_near);
		execute(&f, numbers[second], address[second], true);
		access(&f, third == 3, false, false);
		execute(&f, numbers[third], address[third], true);
	}
	assert_int_equal(tact_stream_drain(f.stream), 0);
	assert_int_equal(tact_stream_get_totals(f.stream, &totals), 0);
	tact_stream_destroy(f.stream);
	return (double)totals.cycles / ROUNDS / tact_arch_find("ZEN4")->params.memory_latency;
}

TEST(an_inner_branch_is_executed_on_the_wrong_path)
{
	assert_true(waits_with_two(true) < 1.2);
	assert_true(waits_with_two(false) > 1.9);
}

/* Nothing of a block is looked at once it is gone (under valgrind or with a sanitizer). */
TEST(forgotten_blocks_lead_nowhere)
{
	struct code first = {.n = 0}, last = {.n = 0};
	struct feeder f = {.n = 0};

	append(&first, FIRST "7504");
	append(&last, LAST "ffe3");
	assert_int_equal(tact_stream_create(&f.stream, NULL), 0);
	for (unsigned round = 0; round < 3; round++) {
		const uint32_t a = add(f.stream, &first), b = add(f.stream, &last);

		for (unsigned i = 0; i < 100; i++) {
			access(&f, 0, false, false);
			execute(&f, a, 0x1000, false);
			access(&f, 0, false, false);
			execute(&f, b, i & 1 ? 0x100b : 0x1007, true);
		}
		assert_int_equal(tact_stream_drain(f.stream), 0);
		tact_stream_forget(f.stream);
	}
	tact_stream_destroy(f.stream);
}

RUN_TESTS(NULL, NULL)
