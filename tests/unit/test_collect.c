/* SPDX-License-Identifier: MIT
 *
 * What QEMU translated becomes basic blocks.
 */
#include <unistd.h>

#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "collect/collect.h"
#include "support.h"

struct expected {
	uint64_t address;
	const char *hex;
	uint64_t count;
};

struct check {
	const struct expected *next;
	size_t n;
};

static int check_block(void *arg, const struct tact_collect_block *b)
{
	struct check *c = arg;
	char hex[256];

	assert_true(c->n > 0);
	assert_true(2 * b->code_size < sizeof(hex));
	for (size_t i = 0; i < b->code_size; i++)
		snprintf(hex + 2 * i, 3, "%02x", b->code[i]);
	assert_string_equal(hex, c->next->hex);
	assert_int_equal(b->address, c->next->address);
	assert_int_equal(b->count, c->next->count);
	assert_string_equal(b->module, "");
	assert_string_equal(b->function, "");
	c->next++;
	c->n--;
	return 0;
}

static struct tact_collect *begin(bool no_branch)
{
	const struct tact_collect_options opt = {.size = sizeof(opt), .no_branch = no_branch};
	struct tact_collect *c;

	assert_int_equal(tact_collect_create(&c, &opt), 0);
	assert_int_equal(code_nodes_create(&c->nodes, tact_isa_next(NULL)), 0);
	return c;
}

static void add(struct tact_collect *c, uint64_t place, const char *hex, uint64_t count)
{
	uint8_t code[128];
	size_t bad;
	long n = tact_hex_decode(code, hex, strlen(hex), &bad);

	assert_true(n > 0);
	assert_int_equal(
		code_nodes_add(c->nodes, 0, place, code, (size_t)n, count, &c->summary.n_undecoded),
		0);
}

static void expect(struct tact_collect *c, const struct expected *blocks, size_t n)
{
	struct check check = {blocks, n};

	assert_int_equal(tact_collect_finish(c, check_block, &check), 0);
	assert_int_equal(check.n, 0);
	tact_collect_destroy(c);
}

#define EXPECT(c, ...)                                                                             \
	do {                                                                                       \
		const struct expected list[] = {__VA_ARGS__};                                      \
		expect(c, list, ARRAY_SIZE(list));                                                 \
	} while (0)

/* nop; nop; jz 0x1005.  What follows is entered from both; a jump leads to the second nop. */
TEST(test_cut_at_targets)
{
	struct tact_collect *c = begin(false);

	add(c, 0x1000, "90907401", 5); /* up to the branch */
	add(c, 0x1001, "907401", 3);   /* entered at the second one */
	add(c, 0x1004, "90c3", 6);     /* not taken */
	add(c, 0x1005, "c3", 2);       /* taken */
	EXPECT(c, {0x1001, "907401", 8}, {0x1005, "c3", 8}, {0x1004, "90", 6}, {0x1000, "90", 5});
	/* A target that was never reached is still a target. */
	c = begin(false);
	add(c, 0x1000, "90909075fc", 4);
	EXPECT(c, {0x1000, "90", 4}, {0x1001, "909075fc", 4});
}

/* QEMU ends its blocks at pages and sizes: equal counts without a branch are one block. */
TEST(test_join)
{
	struct tact_collect *c = begin(false);

	add(c, 0x1ffd, "909090", 7);
	add(c, 0x2000, "90c3", 7);
	EXPECT(c, {0x1ffd, "90909090c3", 7});
	/* The last execution did not come to its second half. */
	c = begin(false);
	add(c, 0x1ffd, "909090", 8);
	add(c, 0x2000, "90c3", 7);
	EXPECT(c, {0x1ffd, "909090", 8}, {0x2000, "90c3", 7});
	/* Calls of the kernel end a block. */
	c = begin(false);
	add(c, 0x1000, "0f05", 2);
	add(c, 0x1002, "c3", 2);
	EXPECT(c, {0x1000, "0f05", 2}, {0x1002, "c3", 2});
}

TEST(test_no_branch)
{
	struct tact_collect *c = begin(true);
	struct tact_collect_summary s = TACT_COLLECT_SUMMARY_INIT;
	struct check check;
	const struct expected one = {0x1000, "90", 2};

	add(c, 0x1000, "90c3", 2);
	add(c, 0x2000, "eb0e", 2); /* nothing else: left out */
	add(c, 0x2010, "e800000000", 1);
	check = (struct check){&one, 1};
	assert_int_equal(tact_collect_finish(c, check_block, &check), 0);
	tact_collect_get_summary(c, &s);
	assert_int_equal(s.n_blocks, 1);
	assert_int_equal(s.n_insns, 1);
	assert_int_equal(s.executed_blocks, 2);
	assert_int_equal(s.executed_insns, 2);
	tact_collect_destroy(c);
}

/* Other code at the same address is another block; the same code translated again is not. */
TEST(test_changed_code)
{
	struct tact_collect *c = begin(false);

	add(c, 0x1000, "b80100000001f8c3", 10);
	add(c, 0x1000, "b80200000001f8c3", 20);
	add(c, 0x1000, "b80100000001f8c3", 1);
	add(c, 0x1005, "01f8c3", 5); /* fits both: goes to the first */
	EXPECT(c, {0x1000, "b80200000001f8c3", 20}, {0x1005, "01f8c3", 16},
	       {0x1000, "b801000000", 11});
	/* Again and again: more than there are layers. */
	c = begin(true);
	for (unsigned i = 0; i < 600; i++) {
		char hex[32];

		snprintf(hex, sizeof(hex), "b8%02x%02x0000c3", i & 255, i >> 8);
		add(c, 0x1000, hex, 600 - i);
	}
	{
		struct expected all[600];
		char hex[600][16];

		for (unsigned i = 0; i < 600; i++) {
			snprintf(hex[i], sizeof(hex[i]), "b8%02x%02x0000", i & 255, i >> 8);
			all[i] = (struct expected){0x1000, hex[i], 600 - i};
		}
		expect(c, all, 600);
	}
}

/* Jumps into instructions: two ways to read the same bytes. */
TEST(test_overlap)
{
	struct tact_collect *c = begin(false);

	add(c, 0x1000, "b890909090c3", 3); /* mov eax, 0x90909090; ret */
	add(c, 0x1001, "90909090c3", 3);
	EXPECT(c, {0x1005, "c3", 6}, {0x1000, "b890909090", 3}, {0x1001, "90909090", 3});
}

TEST(test_undecoded)
{
	struct tact_collect *c = begin(false);
	struct tact_collect_summary s = TACT_COLLECT_SUMMARY_INIT;
	const struct expected one = {0x1000, "90", 4};
	struct check check = {&one, 1};

	add(c, 0x1000, "9006", 4);
	assert_int_equal(tact_collect_finish(c, check_block, &check), 0);
	tact_collect_get_summary(c, &s);
	assert_int_equal(s.n_undecoded, 1);
	tact_collect_destroy(c);
}

TEST(test_misuse)
{
	struct tact_collect_options opt = {.size = 1};
	struct tact_collect_summary s = {.size = 0};
	struct tact_collect *c = (struct tact_collect *)&opt;
	struct tact_diag diag;

	assert_int_equal(tact_collect_create(NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_collect_create(&c, &opt), -TACT_E_INVAL);
	assert_null(c);
	assert_int_equal(tact_collect_file(NULL, "/", &diag), -TACT_E_INVAL);
	assert_int_equal(tact_collect_trace(NULL, NULL, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_collect_finish(NULL, check_block, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_collect_create(&c, NULL), 0);
	assert_int_equal(tact_collect_file(c, "/nonexistent", &diag), -TACT_E_IO);
	assert_int_equal(tact_collect_file(c, "/dev/null", &diag), -TACT_E_IO);
	assert_int_equal(tact_collect_file(c, "/", &diag), -TACT_E_IO);
	assert_int_equal(tact_collect_file(c, NULL, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_collect_trace(c, NULL, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_collect_finish(c, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_collect_finish(c, check_block, NULL), 0);
	assert_int_equal(tact_collect_get_summary(c, &s), -TACT_E_INVAL);
	assert_int_equal(tact_collect_get_summary(c, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_collect_get_summary(NULL, &s), -TACT_E_INVAL);
	tact_collect_destroy(c);
	tact_collect_destroy(NULL);
}

/* The same code at two places is one block of a store. */
TEST(test_store)
{
	char path[] = "/tmp/tact-collect-XXXXXX";
	struct tact_store_blocks *blocks;
	struct tact_store_block b = TACT_STORE_BLOCK_INIT;
	struct tact_store *store;
	struct tact_collect *c = begin(false);
	struct tact_collect_summary s = TACT_COLLECT_SUMMARY_INIT;
	struct tact_diag diag = {0};
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(tact_store_open(&store, path, TACT_STORE_CREATE, NULL), 0);
	assert_int_equal(tact_collect_store(NULL, store, "x", true, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_collect_store(c, NULL, "x", true, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_collect_store(c, store, NULL, true, &diag), -TACT_E_INVAL);
	/* a name that is refused does not leave the store in a transaction */
	assert_int_equal(tact_collect_store(c, store, "a\nb", true, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_store_begin(store, NULL), 0);
	assert_int_equal(tact_store_end(store, NULL), 0);
	add(c, 0x1000, "4801d8c3", 5);
	add(c, 0x2000, "4829d8c3", 9);
	add(c, 0x3000, "4801d8c3", 3);
	assert_int_equal(tact_collect_store(c, store, "x", true, &diag), 0);
	for (int i = 0; i < 2; i++) { /* twice is not counted twice */
		assert_int_equal(tact_collect_get_summary(c, &s), 0);
		assert_int_equal(s.n_blocks, 3);
		assert_int_equal(s.executed_blocks, 17);
		assert_int_equal(tact_collect_store(c, store, "x", true, &diag), 0);
	}
	assert_int_equal(tact_store_blocks_create(&blocks, store, NULL, NULL), 0);
	assert_int_equal(tact_store_blocks_next(blocks, &b, NULL), 1);
	assert_int_equal(b.code[1], 0x29);
	assert_int_equal(b.n_sources, 1);
	assert_string_equal(b.sources[0].app, "x");
	assert_int_equal((int)b.sources[0].weight, 9);
	assert_int_equal(tact_store_blocks_next(blocks, &b, NULL), 1);
	assert_int_equal((int)b.sources[0].weight, 8);
	assert_int_equal(tact_store_blocks_next(blocks, &b, NULL), 0);
	tact_store_blocks_destroy(blocks);
	tact_collect_destroy(c);

	/* Blocks of files have no number of executions. */
	c = begin(false);
	add(c, 0x1000, "4831d8c3", 1);
	assert_int_equal(tact_collect_store(c, store, "y", false, &diag), 0);
	tact_collect_destroy(c);
	tact_store_close(store);
	unlink(path);
}

RUN_TESTS(NULL, NULL)
