/* SPDX-License-Identifier: MIT
 *
 * Calls followed through made-up blocks: recursion, tail calls, longjmp, signals, unmatched returns,
 * and the limits of the tree.
 */
#include "testing.h"

#include "support.h"
#include "trace/calls.h"
#include "trace/result.h"

/* Functions have 0x1000 bytes each; their names are letters, the first one at 0x1000. */
enum { PAGE_BYTES = 0x1000 };

/* Last instructions: all have five bytes, so that a block ends where the next one may begin. */
static const uint8_t NEXT[] = {0x0f, 0x1f, 0x44, 0x00, 0x00}, CALL[] = {0xe8, 0, 0, 0, 0},
		     RETURN[] = {0xc3}, JUMP[] = {0xff, 0xe0}, SYSTEM[] = {0x0f, 0x05};

struct world {
	struct calls *calls;
	struct tact_trace_block *blocks[512]; /* owned */
	uint32_t n;
	uint32_t node; /* of the last execution */
};

static int place_of(void *arg, const struct tact_trace_block *b, struct tact_place *out)
{
	static const char *const names[] = {"?", "main", "b", "c",	"d",
					    "e", "f",	 "g", "b.cold", "[x .plt]"};
	const uint64_t page = b->address / PAGE_BYTES;

	(void)arg;
	*out = (struct tact_place){.size = sizeof(*out),
				   .module = page < 64 ? "/bin/x" : "",
				   .function = page < ARRAY_SIZE(names) ? names[page] : "many",
				   .begin = page * PAGE_BYTES,
				   .address = b->address};
	if (page >= 64)
		out->function = "[generated]";
	return 0;
}

static struct tact_trace_block *block_at(struct world *w, uint64_t address, const uint8_t *code,
					 uint32_t size)
{
	struct tact_trace_block *b;

	for (uint32_t i = 0; i < w->n; i++)
		if (w->blocks[i]->address == address && w->blocks[i]->code == code)
			return w->blocks[i];
	assert_true(w->n < ARRAY_SIZE(w->blocks));
	b = calloc(1, sizeof(*b));
	assert_non_null(b);
	*b = (struct tact_trace_block){.isa = tact_isa_default(),
				       .address = address,
				       .code = code,
				       .code_size = size,
				       .n_insns = 1,
				       .number = w->n};
	return w->blocks[w->n++] = b;
}

static void run(struct world *w, uint32_t thread, uint64_t address, const uint8_t *code,
		uint32_t size)
{
	const struct tact_trace_event event = {.size = sizeof(event),
					       .kind = TACT_TRACE_EXEC,
					       .thread = thread,
					       .block = block_at(w, address, code, size)};

	assert_int_equal(calls_enter(w->calls, &event, &w->node), 0);
	calls_count(w->calls, w->node, 1);
}

#define RUN(address, code) run(&w, 1, address, code, sizeof(code))

static void begin(struct world *w, size_t max_nodes)
{
	*w = (struct world){.n = 0};
	assert_int_equal(calls_create(&w->calls, place_of, NULL, max_nodes), 0);
}

static void end(struct world *w)
{
	calls_destroy(w->calls);
	for (uint32_t i = 0; i < w->n; i++)
		free(w->blocks[i]);
}

/* Where the last execution was: "main/b/c". */
static const char *path(const struct world *w)
{
	static char text[256];
	char more[sizeof(text)];

	text[0] = '\0';
	for (uint32_t i = w->node; i; i = w->calls->nodes[i].parent) {
		const struct calls_function *f = &w->calls->functions[w->calls->nodes[i].function];

		snprintf(more, sizeof(more), "%.*s%s%.200s", (int)f->length, f->name,
			 *text ? "/" : "", text);
		strcpy(text, more);
	}
	return text;
}

TEST(calls_and_returns_are_followed)
{
	struct world w;

	begin(&w, 0);
	RUN(0x1000, CALL);
	assert_string_equal(path(&w), "main");
	RUN(0x2000, CALL);
	assert_string_equal(path(&w), "main/b");
	RUN(0x3000, RETURN);
	assert_string_equal(path(&w), "main/b/c");
	RUN(0x2005, RETURN);
	assert_string_equal(path(&w), "main/b");
	RUN(0x1005, CALL);
	assert_string_equal(path(&w), "main");
	RUN(0x3000, RETURN);
	assert_string_equal(path(&w), "main/c");
	/* A call to the next instruction is no call: code finds its own address that way. */
	RUN(0x100a, CALL);
	RUN(0x100f, NEXT);
	assert_string_equal(path(&w), "main");
	/* Another thread has a stack of its own. */
	run(&w, 2, 0x3000, NEXT, sizeof(NEXT));
	assert_string_equal(path(&w), "c");
	RUN(0x1014, NEXT);
	assert_string_equal(path(&w), "main");
	calls_end(w.calls, 2);
	assert_int_equal(w.calls->n_nodes, 6);
	end(&w);
}

TEST(recursion_stays_within_limits)
{
	struct world w;

	begin(&w, 0);
	RUN(0x1000, CALL);
	for (unsigned i = 0; i < 3 * CALLS_FRAMES; i++)
		RUN(0x2000, CALL);
	assert_string_equal(path(&w), "main/b");
	assert_int_equal(w.calls->nodes[w.node].calls, CALLS_FRAMES - 1);
	RUN(0x2000, RETURN);
	for (unsigned i = 0; i < 3 * CALLS_FRAMES; i++)
		RUN(0x2005, RETURN);
	assert_string_equal(path(&w), "main/b");
	RUN(0x1005, NEXT);
	assert_string_equal(path(&w), "main");
	/* Two functions that call each other are as deep as they are, up to a limit. */
	RUN(0x100a, CALL);
	for (unsigned i = 0; i < 1000; i++) {
		RUN(0x3000, CALL);
		RUN(0x4000, CALL);
	}
	assert_int_equal(w.calls->nodes[w.node].depth, CALLS_DEPTH);
	assert_true(w.calls->n_nodes < CALLS_DEPTH + 5);
	for (unsigned i = 0; i < 1000; i++) {
		RUN(0x3005, RETURN);
		RUN(0x4005, RETURN);
	}
	end(&w);
}

TEST(tail_calls_take_the_place_of_their_caller)
{
	struct world w;

	begin(&w, 0);
	RUN(0x1000, CALL);
	RUN(0x9000, JUMP); /* a stub of the dynamic linker */
	RUN(0x3000, JUMP);
	assert_string_equal(path(&w), "main/c");
	RUN(0x4000, RETURN);
	assert_string_equal(path(&w), "main/d");
	RUN(0x1005, CALL);
	assert_string_equal(path(&w), "main");
	/* The cold part of a function belongs to it. */
	RUN(0x2000, JUMP);
	RUN(0x8010, JUMP);
	assert_string_equal(path(&w), "main/b");
	RUN(0x2010, RETURN);
	RUN(0x100a, NEXT);
	assert_string_equal(path(&w), "main");
	end(&w);
}

TEST(longjmp_and_exceptions_leave_functions)
{
	struct world w;

	begin(&w, 0);
	RUN(0x1000, CALL);
	RUN(0x2000, CALL);
	RUN(0x3000, CALL);
	RUN(0x4000, JUMP);
	assert_string_equal(path(&w), "main/b/c/d");
	RUN(0x1020, CALL);
	assert_string_equal(path(&w), "main");
	RUN(0x5000, RETURN);
	assert_string_equal(path(&w), "main/e");
	RUN(0x1025, NEXT);
	/* From below all frames that are known. */
	for (unsigned i = 0; i < CALLS_FRAMES + 10; i++)
		RUN(0x2000, CALL);
	RUN(0x4000, JUMP);
	RUN(0x1020, CALL);
	assert_string_equal(path(&w), "main");
	RUN(0x5000, RETURN);
	assert_string_equal(path(&w), "main/e");
	/* An exception returns into the middle of a caller. */
	RUN(0x1025, CALL);
	RUN(0x2000, CALL);
	RUN(0x3000, RETURN);
	RUN(0x1040, NEXT);
	assert_string_equal(path(&w), "main");
	end(&w);
}

TEST(signal_handlers_are_called_from_where_they_interrupt)
{
	struct world w;

	begin(&w, 0);
	RUN(0x1000, CALL);
	RUN(0x2000, NEXT);
	RUN(0x3000, RETURN); /* the handler, at any time */
	assert_string_equal(path(&w), "main/b/c");
	RUN(0x4000, SYSTEM); /* to which the handler returns */
	assert_string_equal(path(&w), "main/b/d");
	RUN(0x2005, RETURN);
	assert_string_equal(path(&w), "main/b");
	RUN(0x1005, NEXT);
	assert_string_equal(path(&w), "main");
	end(&w);
}

TEST(unmatched_returns_do_no_harm)
{
	struct world w;

	begin(&w, 0);
	RUN(0x2000, RETURN); /* the trace begins in the middle */
	RUN(0x1005, RETURN);
	assert_string_equal(path(&w), "main");
	RUN(0x3010, RETURN);
	assert_string_equal(path(&w), "c");
	for (unsigned i = 0; i < 100; i++)
		RUN(0x1000 * (1 + i % 7) + 0x10, RETURN);
	/* Code that is only traced in part: the callee is missing. */
	RUN(0x1000, CALL);
	RUN(0x1005, CALL);
	assert_string_equal(path(&w), "main");
	/* The callee never returned: it was longjmp. */
	RUN(0x2000, CALL);
	RUN(0x1040, NEXT);
	assert_string_equal(path(&w), "main");
	end(&w);
}

TEST(generated_code_is_followed)
{
	struct world w;

	begin(&w, 0);
	RUN(0x1000, CALL);
	RUN(0x40000, JUMP);
	RUN(0x50000, CALL);
	assert_string_equal(path(&w), "main/[generated]");
	RUN(0x60000, RETURN);
	assert_string_equal(path(&w), "main/[generated]/[generated]");
	RUN(0x50005, RETURN);
	RUN(0x1005, NEXT);
	assert_string_equal(path(&w), "main");
	end(&w);
}

/* Many callees in a small tree: hot paths stay, cycles stay, frames stay valid. */
TEST(a_full_tree_keeps_what_is_hot)
{
	struct rng rng = {42};
	struct world w;
	uint64_t executed = 0;
	unsigned pruned = 0;
	double sums[64];
	uint32_t *map;

	begin(&w, 64);
	RUN(0x1000, CALL);
	executed++;
	for (unsigned i = 0; i < 20000; i++) {
		const unsigned depth = 1 + rng_below(&rng, 6);

		if (calls_are_full(w.calls)) {
			assert_int_equal(calls_prune(w.calls, &map), 0);
			assert_true(w.calls->n_nodes <= 64 / 2 + 8);
			free(map);
			pruned++;
		}
		for (unsigned k = 0; k < depth; k++)
			RUN(0x1000 * (2 + (i % 3 ? k % 2 : rng_below(&rng, 5))), CALL);
		RUN(0x7000, JUMP);
		RUN(0x1020, CALL);
		executed += depth + 2;
	}
	assert_true(pruned > 10);
	calls_sum(w.calls, sums);
	assert_int_equal((uint64_t)(sums[CALLS_ROOT] + 0.5), executed);
	RUN(0x2000, CALL);
	RUN(0x3000, CALL);
	assert_non_null(strstr(path(&w), "main"));
	end(&w);
}

/* Names, order and sums of the result. */
TEST(a_result_has_names_order_and_sums)
{
	struct tact_result *r = result_new();
	struct tact_result_call c = TACT_RESULT_CALL_INIT;
	uint32_t *rows;
	struct world w;

	begin(&w, 0);
	RUN(0x1000, CALL);
	for (unsigned i = 0; i < 10; i++) {
		RUN(0x9000, JUMP);
		RUN(0x3000, i % 5 ? RETURN : CALL);
		if (i % 5 == 0)
			run(&w, 1, 0x5000, RETURN, sizeof(RETURN));
		if (i % 5 == 0)
			RUN(0x3005, RETURN);
		RUN(0x1005 + 5 * i, CALL);
	}
	assert_int_equal(result_add_calls(r, w.calls, place_of, NULL, &rows), 0);
	assert_int_equal(rows[w.node], 0);
	free(rows);
	assert_int_equal(tact_result_count_calls(r), 3);
	assert_int_equal(tact_result_get_call(r, 0, &c), 0);
	assert_string_equal(c.function, "main");
	assert_true(c.parent == TACT_NO_ROW && c.depth == 0);
	assert_true(c.cycles == 35 && c.instructions == 35);
	assert_true(c.self == 21); /* with the stub */
	assert_int_equal(tact_result_get_call(r, 1, &c), 0);
	assert_string_equal(c.function, "c");
	assert_true(c.parent == 0 && c.cycles == 14 && c.self == 12);
	assert_int_equal(tact_result_get_call(r, 2, &c), 0);
	assert_string_equal(c.function, "e");
	assert_true(c.parent == 1 && c.depth == 2 && c.calls == 2 && c.cycles == 2);
	assert_int_equal(tact_result_get_call(r, 3, &c), -TACT_E_INVAL);
	assert_int_equal(tact_result_count_calls(NULL), 0);
	end(&w);
	tact_result_destroy(r);
}

RUN_TESTS(NULL, NULL)
