/* SPDX-License-Identifier: MIT
 *
 * Programs that run natively: addresses from registers, blocks of stepped instructions, and what
 * windows say about a run.  Programs themselves are run by tests/cli.
 */
#include <math.h>
#include <stdlib.h>

#include "testing.h"

#include "isa/isa.h"
#include "support.h"
#include "trace/engine.h"
#include "trace/native_blocks.h"
#include "trace/native_run.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

static const struct tact_isa *isa(void)
{
	const struct tact_isa *set = isa_native();

	if (!set || !set->native || !set->native->tracing)
		skip();
	return set;
}

/* ---- addresses ---- */

struct access {
	uint64_t address;
	unsigned size;
	bool is_store;
};

static struct access access_of(uint64_t word)
{
	return (struct access){word & WIRE_ADDRESS, 1u << (word >> WIRE_SIZE_SHIFT & 7),
			       (word & WIRE_STORE) != 0};
}

static size_t accesses(const char *code, size_t size, const struct isa_state *state,
		       uint64_t *words)
{
	struct tact_insn insn;

	assert_int_equal(tact_isa_decode(isa(), &insn, (const uint8_t *)code, size), size);
	return native_accesses(isa(), &insn, state, 0, words, 16);
}

TEST(addresses_come_from_registers)
{
	const struct isa_state s = {.pc = 0x400000,
				    .bases = {0x7000, 0x9000},
				    .general = {[RAX] = 0x1000, [RCX] = 3, [RSP] = 0x8000}};
	/* Code, its size, address, bytes, store. */
	static const struct {
		const char *code;
		size_t size;
		struct access is;
	} cases[] = {
		{"\x48\x8b\x44\x88\x10",
		 5,
		 {0x1000 + 4 * 3 + 16, 8, false}},  /* mov rax,[rax+4*rcx+16] */
		{"\x89\x08", 2, {0x1000, 4, true}}, /* mov [rax],ecx */
		{"\x48\x8b\x05\x10\x00\x00\x00", 7, {0x400017, 8, false}}, /* mov rax,[rip+16] */
		{"\x50", 1, {0x7ff8, 8, true}},				   /* push rax */
		{"\x58", 1, {0x8000, 8, false}},			   /* pop rax */
		{"\xe8\x00\x00\x00\x00", 5, {0x7ff8, 8, true}},		   /* call */
		{"\xc3", 1, {0x8000, 8, false}},			   /* ret */
		{"\x64\x48\x8b\x04\x25\x28\x00\x00\x00",
		 9,
		 {0x7028, 8, false}},				     /* mov rax,fs:[40] */
		{"\x65\x8b\x08", 3, {0xa000, 4, false}},	     /* mov ecx,gs:[rax] */
		{"\xc5\xfd\x6f\x00", 4, {0x1000, 32, false}},	     /* vmovdqa ymm0,[rax] */
		{"\x62\xf1\x7c\x48\x11\x00", 6, {0x1000, 64, true}}, /* vmovups [rax],zmm0 */
	};
	uint64_t words[16];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct access is;

		assert_int_equal(accesses(cases[i].code, cases[i].size, &s, words), 1);
		is = access_of(words[0]);
		assert_int_equal(is.address, cases[i].is.address);
		assert_int_equal(is.size, cases[i].is.size);
		assert_int_equal(is.is_store, cases[i].is.is_store);
	}
	assert_int_equal(accesses("\x48\x8d\x00", 3, &s, words), 0); /* lea rax,[rax] */
	/* add [rax],ecx: the load comes first; a gather is unknown; ten bytes are two words. */
	assert_int_equal(accesses("\x01\x08", 2, &s, words), 2);
	assert_false(access_of(words[0]).is_store);
	assert_true(access_of(words[1]).is_store);
	assert_int_equal(accesses("\xc4\xe2\x6d\x90\x04\x88", 6, &s, words), 0);
	assert_int_equal(accesses("\xdb\x28", 2, &s, words), 2);
	assert_int_equal(access_of(words[1]).address, 0x1008);
}

TEST(repetitions_are_runs)
{
	const struct isa_state s = {.general = {[RSI] = 0x1000, [RDI] = 0x2000}};
	struct isa_state down = s;
	uint64_t words[64], bytes = 0;
	struct tact_insn insn;
	size_t n;

	assert_int_equal(tact_isa_decode(isa(), &insn, (const uint8_t *)"\xf3\x48\xa5", 3), 3);
	assert_true(insn.attributes & TACT_INSN_REP);
	n = native_repetitions(isa(), &insn, &s, 11, words, 64); /* rep movsq */
	for (size_t i = 0; i < n; i++) {
		struct access a = access_of(words[i]);

		assert_in_range(a.address, a.is_store ? 0x2008 : 0x1008,
				a.is_store ? 0x2057 : 0x1057);
		bytes += a.size;
	}
	assert_int_equal(bytes, 2 * 80);
	down.flags = 1 << 10;
	native_repetitions(isa(), &insn, &down, 11, words, 64);
	assert_int_equal(access_of(words[0]).address & 0xfff, 0xfb0);
	assert_int_equal(native_repetitions(isa(), &insn, &s, 1, words, 64), 0);
	assert_int_equal(native_repetitions(isa(), &insn, &s, 1000000, words, 64), 64);
}

/* ---- blocks ---- */

struct seen {
	unsigned executions, blocks, parts[4], accesses;
	uint64_t words[1 << 16];
	size_t n;
};

static void take_pieces(struct native_blocks *b, struct seen *seen)
{
	struct trace_piece piece;
	int status;

	while ((status = native_blocks_finish(b, &piece)) > 0) {
		assert_true(seen->n + piece.n_words < 1 << 16);
		if (piece.n_words)
			memcpy(seen->words + seen->n, piece.words, piece.n_words * 8);
		seen->n += piece.n_words;
	}
	assert_int_equal(status, 0);
	for (size_t i = 0; i < seen->n;) {
		const uint64_t word = seen->words[i];

		if (!(word & WIRE_LONG)) {
			seen->accesses++;
			i++;
			continue;
		}
		seen->executions += (word >> 60 & 7) == WIRE_EXEC;
		seen->blocks += (word >> 60 & 7) == WIRE_BLOCK;
		if ((word >> 60 & 7) == WIRE_NOTE && (uint32_t)word == WIRE_NOTE_WINDOW)
			seen->parts[seen->words[i + 1]]++;
		i += 1 + (word >> 32 & 0xffff);
	}
}

/* A loop of three instructions, entered at its second one: dec; mov; jnz. */
static void step_loop(struct native_blocks *b, unsigned n)
{
	static const uint8_t code[3][16] = {{0x48, 0xff, 0xc9}, {0x8b, 0x00}, {0x75, 0xf9}};
	static const uint64_t at[3] = {0x1000, 0x1003, 0x1005};
	struct isa_state s = {.general = {[RAX] = 0x5000}};

	assert_int_equal(native_blocks_thread(b, 10, 10, 1), 0);
	assert_int_equal(native_blocks_window(b, 10, 1000), 0);
	for (unsigned i = 1; i <= n; i++) {
		s.pc = at[i % 3];
		assert_int_equal(native_blocks_step(b, &s, code[i % 3]), 0);
	}
	s.pc = at[(n + 1) % 3];
	assert_int_equal(native_blocks_window_end(b, &s), 0);
	assert_int_equal(native_blocks_time(b, 5, 6, 7), 0);
}

TEST(steps_become_blocks)
{
	struct seen *seen = calloc(1, sizeof(*seen));
	struct native_blocks *b;

	assert_non_null(seen);
	assert_int_equal(native_blocks_create(&b, isa(), WIRE_TRACE), 0);
	step_loop(b, NATIVE_STEPS / 3 * 3);
	take_pieces(b, seen);
	assert_int_equal(seen->blocks, 3); /* the beginning, the loop, the part at the end */
	assert_in_range(seen->executions, NATIVE_STEPS / 3, NATIVE_STEPS / 3 + 2);
	assert_in_range(seen->accesses, NATIVE_STEPS / 3, NATIVE_STEPS / 3 + 1);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(seen->parts[i], 1);
	native_blocks_destroy(b);
	free(seen);
}

/* A window begins and ends anywhere. */
TEST(only_whole_blocks_are_counted)
{
	struct seen *seen = calloc(1, sizeof(*seen));
	struct native_blocks *b;

	assert_non_null(seen);
	assert_int_equal(native_blocks_create(&b, isa(), WIRE_COUNT), 0);
	step_loop(b, 300);
	take_pieces(b, seen);
	assert_int_equal(seen->blocks, 1);
	assert_int_equal(seen->executions, 0);
	for (size_t i = 0; i < seen->n; i++)
		if (seen->words[i] >> 60 == (WIRE_LONG >> 60 | WIRE_COUNTED))
			assert_in_range(seen->words[i + 1], 98, 99);
	native_blocks_destroy(b);
	free(seen);
}

TEST(mappings_become_modules)
{
	char text[] = "1000-2000 r-xp 00003000 08:01 123    /bin/one two\n"
		      "4000-5000 rw-p 00000000 00:00 0 \n"
		      "junk\n"
		      "5000-6000 r-xp 00000000 00:00 0      [vdso]\n";
	struct seen *seen = calloc(1, sizeof(*seen));
	struct native_blocks *b;
	bool found = false;

	assert_non_null(seen);
	assert_int_equal(native_blocks_create(&b, isa(), WIRE_TRACE), 0);
	assert_int_equal(native_blocks_maps(b, 10, text, sizeof(text) - 1), 0);
	step_loop(b, 30);
	take_pieces(b, seen);
	for (size_t i = 0; i < seen->n; i++)
		if (seen->words[i] >> 60 == (WIRE_LONG >> 60 | WIRE_MODULE)) {
			found = true;
			assert_int_equal(seen->words[i + 1], 0x1000);
			assert_int_equal(seen->words[i + 3], 0x3000);
			assert_memory_equal(&seen->words[i + 5], "/bin/one two", 12);
		}
	assert_true(found);
	native_blocks_destroy(b);
	free(seen);
}

/* ---- windows ---- */

static void feed(struct tact_cycles *c, enum tact_trace_part part, uint64_t span,
		 struct tact_trace_block *block, unsigned n)
{
	struct tact_trace_event e = TACT_TRACE_EVENT_INIT;

	e.kind = TACT_TRACE_WINDOW;
	e.window = part;
	e.span_ns = span;
	assert_int_equal(tact_cycles_event(c, &e, NULL), 0);
	e.kind = TACT_TRACE_EXEC;
	e.block = block;
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(tact_cycles_event(c, &e, NULL), 0);
}

/* Half of the time in a chain of three cycles an instruction, half in one of a cycle. */
TEST(windows_stand_for_time)
{
	static const uint8_t slow[] = {0x48, 0x0f, 0xaf, 0xc0}, fast[] = {0x48, 0x01, 0xc0};
	struct tact_trace_block blocks[2] = {
		{.isa = isa(), .address = 0x1000, .code = slow, .code_size = 4, .n_insns = 1},
		{.isa = isa(),
		 .address = 0x2000,
		 .code = fast,
		 .code_size = 3,
		 .n_insns = 1,
		 .number = 1}};
	struct tact_cycles_totals t = TACT_CYCLES_TOTALS_INIT;
	struct tact_trace_event time = TACT_TRACE_EVENT_INIT;
	struct tact_cycles_block b = {.size = sizeof(b)};
	struct tact_cycles *c;

	assert_int_equal(tact_cycles_create(&c, tact_arch_find("SKL"), NULL, NULL), 0);
	for (unsigned i = 0; i < 8; i++) {
		/* Twice as many windows of the fast one, which stand for half the time each. */
		struct tact_trace_block *x = &blocks[i % 4 != 0];
		const uint64_t span = i % 4 ? 1000 : 3000;

		feed(c, TACT_TRACE_WARMING, span, x, 300);
		feed(c, TACT_TRACE_WINDOWED, 0, x, 200);
		feed(c, TACT_TRACE_COOLING, 0, x, 100);
		feed(c, TACT_TRACE_NO_WINDOW, 0, x, 0);
	}
	feed(c, TACT_TRACE_WARMING, 1000, &blocks[0], 10); /* too short to count */
	feed(c, TACT_TRACE_NO_WINDOW, 0, NULL, 0);
	time.kind = TACT_TRACE_TIME;
	time.user_ns = 2000000000;
	time.hertz = 3000000000;
	assert_int_equal(tact_cycles_event(c, &time, NULL), 0);
	assert_int_equal(tact_cycles_finish(c, NULL), 0);
	assert_int_equal(tact_cycles_get_totals(c, &t), 0);
	assert_int_equal(t.windows, 8);
	assert_true(fabs(t.cycles / 6e9 - 1) < 1e-9);
	/* Three billion cycles each: a third as many instructions of the slow one. */
	assert_true(fabs((double)t.instructions / 4e9 - 1) < 0.01);
	assert_int_equal(tact_cycles_get_block(c, 0, &b), 0);
	assert_true(fabs(b.cycles / 3e9 - 1) < 1e-6);
	assert_true(fabs((double)b.executions / 1e9 - 1) < 0.01);
	assert_true(t.error > 0 && t.error < t.cycles);
	tact_cycles_destroy(c);
}

/* ---- reuse ---- */

static uint64_t next_random(uint64_t *random)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return *random >> 33;
}

/* Some lines that every window accesses, and others out of many. */
TEST(lines_in_common_tell_how_many_there_are)
{
	enum { ALL = 20000, HOT = 50, EACH = 200, WINDOWS = 150 };
	struct reuse r = {0};
	uint64_t random = 1;
	double distance, hot = 0, cold = 0;
	unsigned n_hot = 0, n_cold = 0;

	for (unsigned w = 0; w < WINDOWS; w++) {
		assert_int_equal(reuse_begin(&r), 0);
		for (uint64_t i = 0; i < HOT; i++)
			if (reuse_access(&r, i, 7, &distance) && w > WINDOWS / 2) {
				hot += distance;
				n_hot++;
			}
		for (unsigned i = 0; i < EACH; i++)
			if (reuse_access(&r, 1000 + next_random(&random) % ALL, 7, &distance) &&
			    w > WINDOWS / 2) {
				cold += distance;
				n_cold++;
			}
		assert_false(reuse_access(&r, 0, 7, &distance));
	}
	assert_in_range(hot / n_hot, HOT, 2 * (HOT + EACH));
	assert_in_range(cold / n_cold, ALL / 4, 2 * ALL);
	/* Another process has other lines. */
	assert_true(reuse_access(&r, 0, 8, &distance));
	reuse_fini(&r);
}

/* Accesses 0 to x of a window touch x^0.5 lines: all of them hit a cache of 100 lines that were
 * accessed within 10,000 accesses.
 */
TEST(locality_within_windows_tells_what_misses)
{
	struct reuse r = {0};
	double distance;

	assert_true(reuse_miss(&r, 100) == 1);
	for (unsigned w = 0; w < 5; w++) {
		assert_int_equal(reuse_begin(&r), 0);
		for (unsigned i = 0, root = 0; i < 676; i++) {
			root += (root + 1) * (root + 1) <= i;
			reuse_access(&r, 1000 * w + root, 7, &distance);
		}
	}
	assert_true(fabs(reuse_miss(&r, 100) - sqrt(0.0676)) < 0.02);
	assert_true(reuse_miss(&r, 1000) < reuse_miss(&r, 100) / 5);
	assert_true(reuse_miss(&r, 10) == 1);
	reuse_fini(&r);
	/* A loop over few lines hardly misses; a stream always does. */
	for (unsigned stream = 0; stream < 2; stream++) {
		r = (struct reuse){0};
		assert_int_equal(reuse_begin(&r), 0);
		for (unsigned i = 0; i < 600; i++)
			reuse_access(&r, stream ? i : i % 32, 7, &distance);
		assert_true(stream ? reuse_miss(&r, 768) > 0.99 : reuse_miss(&r, 768) < 0.001);
		reuse_fini(&r);
	}
}

/* ---- attaching ---- */

TEST(attaching_to_nothing_fails)
{
	struct tact_trace_options opt = TACT_TRACE_OPTIONS_INIT;
	struct tact_trace *t = NULL;
	struct tact_diag diag = {0};

	isa();
	assert_int_equal(tact_trace_attach(&t, NULL, 0, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_trace_attach(NULL, NULL, 1, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_trace_attach(&t, NULL, 1 << 29, &diag), -TACT_E_IO);
	assert_null(t);
	opt.mode = 77;
	assert_int_equal(tact_trace_attach(&t, &opt, 1 << 29, &diag), -TACT_E_INVAL);
}

RUN_TESTS(NULL, NULL)
