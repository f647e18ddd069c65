/* SPDX-License-Identifier: MIT
 *
 * The graph of a function: edges, dominators, loops; markers.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "code/code.h"
#include "code/graph.h"
#include "code/transfers.h"
#include "support.h"

/* ---- edges ---- */

/* "0>1,2": a block and its successors, by number. */
static void expect_edges(const char *hex, const char *expected)
{
	uint8_t code[128];
	struct code_graph graph;
	char text[512] = "";

	assert_int_equal(code_graph_create(&graph, tact_isa_next(NULL), code,
					   bytes_of(code, sizeof(code), hex), false),
			 0);
	for (size_t i = 0; i < graph.blocks.n; i++) {
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%zu>", i ? " " : "",
			 i);
		for (int s = 0; s < 2; s++)
			if (graph.successors[i][s] != CODE_NONE)
				snprintf(text + strlen(text), sizeof(text) - strlen(text), "%u,",
					 graph.successors[i][s]);
	}
	assert_string_equal(text, expected);
	code_graph_destroy(&graph);
}

TEST(test_edges)
{
	expect_edges("", "");
	expect_edges("90", "0>");
	expect_edges("75 01 90 c3", "0>2,1, 1>2, 2>");
	expect_edges("e8 00 00 00 00 ff d0 c3", "0>");
	expect_edges("eb 01 90 ff e0", "0>2, 1> 2>"); /* padding after a jump leads nowhere */
	/* an indirect jump leads to what nothing else leads to */
	expect_edges("eb 02 ff c0 ff e0", "0>2, 1>2, 2>1,");
	expect_edges("ff e0 ff c0 c3 ff c1 c3 ff c2 c3", "0>1,2, 1> 2> 3>");
	expect_edges("75 03 ff e0 c3 90 c3", "0>3,1, 1>2, 2> 3>");
	expect_edges("06 90", "0> 1>"); /* nothing follows bytes that are not an instruction */
	expect_edges("b8 01 00 00 00 eb fa", "0>"); /* into an instruction */
	expect_edges("eb 7f 75", "0> 1>");	    /* out of it; cut short */
}

/* ---- dominators ---- */

/* Dominators against the definition: a dominates b if b is not reached without a. */
static void mark_reached(const struct code_graph *graph, uint32_t block, uint32_t without,
			 uint8_t *reached)
{
	if (block == CODE_NONE || block == without || reached[block])
		return;
	reached[block] = 1;
	for (int s = 0; s < 2; s++)
		mark_reached(graph, graph->successors[block][s], without, reached);
}

static void check_dominators(const struct code_graph *graph)
{
	struct code_dominators dom;
	uint8_t from_entry[64] = {0};

	assert_int_equal(code_dominators_create(&dom, graph), 0);
	mark_reached(graph, 0, CODE_NONE, from_entry);
	for (uint32_t a = 0; a < graph->blocks.n; a++) {
		uint8_t reached[64] = {0};

		mark_reached(graph, 0, a, reached);
		for (uint32_t b = 0; b < graph->blocks.n; b++)
			if (from_entry[b] && from_entry[a])
				assert_int_equal(code_dominates(&dom, a, b), !reached[b]);
	}
	code_dominators_destroy(&dom);
}

/* No block is the target of an indirect jump. */
static uint32_t none[40];

TEST(test_dominators)
{
	uint32_t random = 12345;

	memset(none, 0xff, sizeof(none));

	for (int round = 0; round < 3000; round++) {
		uint32_t successors[40][2];
		const size_t n = 1 + (size_t)round % 40;
		const struct code_graph graph = {{NULL, n, 0}, successors, none, none};

		for (size_t i = 0; i < n; i++)
			for (int s = 0; s < 2; s++) {
				random = random * 1664525 + 1013904223;
				successors[i][s] = (random >> 8) % (n + 3);
				if (successors[i][s] >= n)
					successors[i][s] = CODE_NONE;
			}
		/* Extra roots lead into the graph as well: only a single-rooted one compares. */
		for (size_t i = 1; i < n; i++)
			successors[i - 1][1] = (uint32_t)i;
		check_dominators(&graph);
	}
}

TEST(test_no_blocks)
{
	const struct code_graph graph = {{NULL, 0, 0}, NULL, NULL, NULL};
	struct code_predecessors pred;
	struct code_dominators dom;

	assert_int_equal(code_dominators_create(&dom, &graph), 0);
	code_dominators_destroy(&dom);
	assert_int_equal(code_predecessors_create(&pred, &graph), 0);
	code_predecessors_destroy(&pred);
}

/* Each of two blocks can be entered first: neither dominates the other. */
TEST(test_irreducible)
{
	uint32_t successors[][2] = {{1, 2}, {2, CODE_NONE}, {1, 3}, {CODE_NONE, CODE_NONE}};
	const struct code_graph graph = {{NULL, 4, 0}, successors, none, none};
	struct code_predecessors pred;
	struct code_dominators dom;

	memset(none, 0xff, sizeof(none));
	check_dominators(&graph);
	assert_int_equal(code_dominators_create(&dom, &graph), 0);
	assert_false(code_dominates(&dom, 1, 2));
	assert_false(code_dominates(&dom, 2, 1));
	assert_true(code_dominates(&dom, 2, 3));
	assert_true(code_dominates(&dom, 0, 3));
	code_dominators_destroy(&dom);
	assert_int_equal(code_predecessors_create(&pred, &graph), 0);
	assert_int_equal(pred.first[0], pred.first[1]);
	assert_int_equal(pred.first[2] - pred.first[1], 2);
	assert_int_equal(pred.list[pred.first[1]], 0);
	assert_int_equal(pred.list[pred.first[1] + 1], 2);
	assert_int_equal(pred.first[4] - pred.first[3], 1);
	code_predecessors_destroy(&pred);
}

/* ---- loops and markers of a section ---- */

static struct obj_file file_of(struct obj_section *section, uint8_t *code, size_t capacity,
			       const char *hex)
{
	*section = (struct obj_section){.name = ".text", .data = code, .address = 0x1000};
	section->size = bytes_of(code, capacity, hex);
	return (struct obj_file){.isa = tact_isa_default(),
				 .type = OBJ_EXECUTABLE,
				 .sections = section,
				 .n_sections = 1};
}

static void show_ranges(const struct code_ranges *ranges, char *text, size_t size)
{
	*text = '\0';
	for (size_t i = 0; i < ranges->count; i++)
		snprintf(text + strlen(text), size - strlen(text), "%s%zu-%zu", i ? " " : "",
			 ranges->items[i].begin, ranges->items[i].end);
}

static void expect_loops(const char *hex, const char *expected)
{
	struct code_loops loops = {0};
	struct code_ranges ranges = {0};
	struct obj_section section;
	uint8_t code[128];
	char text[256];
	const struct obj_file obj = file_of(&section, code, sizeof(code), hex);
	const struct obj_range all = {0, 0, section.size};

	assert_int_equal(code_find_loops(&obj, &all, &loops), 0);
	for (size_t i = 0; i < loops.count; i++)
		assert_int_equal(code_ranges_add(&ranges, 0, loops.items[i].range.begin,
						 loops.items[i].range.end),
				 0);
	show_ranges(&ranges, text, sizeof(text));
	assert_string_equal(text, expected);
	free(loops.items);
	free(ranges.items);
}

TEST(test_loops)
{
	expect_loops("", "");
	expect_loops("90 c3", "");
	expect_loops("75 fe", "0-2");
	expect_loops("90 ff c9 75 fc c3", "1-5");
	/* Nested: the innermost one only; two of them, in order. */
	expect_loops("90 90 75 fd 75 fa c3", "1-4");
	expect_loops("90 90 75 fd 90 75 fd 75 f7 c3", "1-4 4-7");
	/* Two ways back to one header are one loop. */
	expect_loops("90 75 fd 90 75 fa c3", "0-6");
	/* An irreducible loop does not count. */
	expect_loops("74 01 90 90 eb fc", "");
	/* The back edge is before the header, the end elsewhere, and a return between. */
	expect_loops("eb 03 90 eb 05 85 c0 75 f9 c3 90 eb f8", "2-13");
	/* Padding in front of a loop is no way into it. */
	expect_loops("eb 06 90 90 ff c9 74 06 85 c0 75 f8 eb f8 c3", "4-14");
	/* Bytes that are not code are not a loop. */
	expect_loops("90 06 75 fc", "");
	/* Nothing is known to reach it. */
	expect_loops("ff e0 ff c9 75 fc c3", "2-6");
}

TEST(test_is_block)
{
	static const struct {
		const char *hex;
		bool is_block;
	} list[] = {
		{"90", true},	    {"90 c3", true},
		{"c3 90", false},   {"e8 00 00 00 00 c3", true},
		{"0f 05 c3", true}, {"75 00 c3", false},
		{"06 90", false},   {"90 06", true},
		{"", true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		struct obj_section section;
		uint8_t code[32];
		const struct obj_file obj = file_of(&section, code, sizeof(code), list[i].hex);
		const struct obj_range all = {0, 0, section.size};

		assert_int_equal(code_is_block(&obj, &all), list[i].is_block);
	}
}

#define BEGIN	   "bb 6f 00 00 00 64 67 90 "
#define LONG_BEGIN "c7 c3 6f 00 00 00 64 67 90 "
#define END	   "bb de 00 00 00 64 67 90 "

static void expect_markers(const char *hex, int status, const char *expected, size_t n_lost)
{
	struct code_ranges regions = {0};
	struct code_lost lost;
	struct obj_section section;
	uint8_t code[128];
	char text[256];
	const struct obj_file obj = file_of(&section, code, sizeof(code), hex);

	assert_int_equal(code_find_markers(&obj, &regions, &lost, NULL), status);
	assert_int_equal(lost.n_starts, n_lost);
	show_ranges(&regions, text, sizeof(text));
	assert_string_equal(text, expected);
	free(regions.items);
}

TEST(test_markers)
{
	expect_markers("", 0, "", 0);
	expect_markers("90 90 90", 0, "", 0);
	expect_markers("64 67 90", 0, "", 0);
	expect_markers(BEGIN "90" END, 0, "8-9", 0);
	expect_markers(LONG_BEGIN "90 90" END "90", 0, "9-11", 0);
	expect_markers(BEGIN "90" BEGIN "90" END END, 0, "17-18", 1);
	expect_markers(END BEGIN "90" END BEGIN "90" END, 0, "16-17 33-34", 0);
	expect_markers(BEGIN "90", -TACT_E_FORMAT, "", 1);
	expect_markers(END BEGIN, -TACT_E_FORMAT, "", 1);
	expect_markers(BEGIN END, -TACT_E_FORMAT, "", 0);
	expect_markers("bb 70 00 00 00 64 67 90", 0, "", 0);
}

/* The quick look must not miss a call that decoding finds. */
TEST(test_may_call)
{
	static const uint8_t likely[] = {0xe8, 0xff, 0xcd, 0x0f, 0x05, 0x34, 0x41, 0x66,
					 0xf2, 0x3e, 0xd0, 0x10, 0x48, 0x90, 0x89, 0xd8};
	const struct tact_isa *isa = tact_isa_next(NULL);
	uint32_t random = 1;
	unsigned calls = 0, others = 0;

	for (int round = 0; round < 200000; round++) {
		uint8_t code[24];
		const struct isa_step *step;
		struct code_walk walk;
		bool has_call = false, is_valid = true;

		for (size_t i = 0; i < sizeof(code); i++) {
			random = random * 1664525 + 1013904223;
			code[i] =
				random >> 30 ? likely[random >> 16 & 15] : (uint8_t)(random >> 16);
		}
		code_walk_init(&walk, isa, code, sizeof(code));
		while ((step = code_walk_next(&walk))) {
			is_valid &= step->is_valid;
			has_call |= step->flow == TACT_FLOW_CALL || step->flow == TACT_FLOW_KERNEL;
		}
		if (!is_valid)
			continue; /* there is no prediction that a remark would belong to */
		if (has_call)
			assert_true(isa->may_call(code, sizeof(code)));
		calls += has_call;
		others += !has_call && !isa->may_call(code, sizeof(code));
	}
	assert_true(calls > 1000 && others > 100);
}

RUN_TESTS(NULL, NULL)
