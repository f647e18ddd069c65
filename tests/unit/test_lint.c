/* SPDX-License-Identifier: MIT
 *
 * Stores with something wrong in them, and sets of blocks.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing.h"

#include <tact-program/lint.h>

#include "support.h"

struct fixture {
	char path[40];
	struct tact_store *store;
	size_t found[TACT_N_LINT_CHECKS];
	size_t n_unknown;
	size_t stop_after; /* 0: never */
	char what[200];
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int fd;

	strcpy(f->path, "/tmp/tact-lint-XXXXXX");
	fd = mkstemp(f->path);
	if (fd < 0)
		return -1;
	close(fd);
	*state = f;
	return tact_store_open(&f->store, f->path, TACT_STORE_CREATE, NULL);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	tact_store_close(f->store);
	unlink(f->path);
	free(f);
	return 0;
}

static void put_rounds(struct fixture *f, const void *code, size_t size, const char *arch,
		       const char *flags, double cycles, unsigned rounds, unsigned agree)
{
	struct tact_machine machine = {.size = sizeof(machine), .brand = "box"};
	const struct tact_measurement m = {.size = sizeof(m),
					   .status = cycles > 0 ? TACT_MEASURE_OK
								: TACT_MEASURE_UNCONFIRMED,
					   .cycles_per_iteration = cycles,
					   .mode = TACT_MODE_UNROLL,
					   .init = TACT_INIT_SAME,
					   .rounds = rounds,
					   .agree = agree};
	struct tact_store_import import = {
		.size = sizeof(import), .origin = "x.csv", .flags = flags};
	int64_t id;

	snprintf(machine.arch, sizeof(machine.arch), "%s", arch);
	assert_true(tact_store_put_block(f->store, code, size, &id, NULL) >= 0);
	assert_int_equal(tact_store_put_machine(f->store, &machine, &import.machine, NULL), 0);
	assert_int_equal(tact_store_put_import(f->store, id, &m, &import, NULL), 0);
}

static void put(struct fixture *f, const void *code, size_t size, const char *arch,
		const char *flags, double cycles)
{
	put_rounds(f, code, size, arch, flags, cycles, 0, 0);
}

static int take(void *context, const struct tact_finding *finding)
{
	struct fixture *f = context;
	size_t all = 0;

	f->found[__builtin_ctz(finding->check)]++;
	snprintf(f->what, sizeof(f->what), "%s", finding->what);
	for (unsigned i = 0; i < TACT_N_LINT_CHECKS; i++)
		all += f->found[i];
	return f->stop_after && all == f->stop_after;
}

static void take_unknown(void *context, const char *machine, enum tact_mode mode)
{
	struct fixture *f = context;

	assert_string_equal(machine, "box");
	assert_int_equal(mode, TACT_MODE_UNROLL);
	f->n_unknown++;
}

static int lint(struct fixture *f, unsigned checks, const struct tact_block_set *suspects)
{
	const struct tact_lint_options options = {.size = sizeof(options),
						  .checks = checks,
						  .suspects = suspects,
						  .report = take,
						  .unknown = take_unknown,
						  .context = f};
	struct tact_diag diag = {0};

	memset(f->found, 0, sizeof(f->found));
	f->n_unknown = 0;
	return tact_lint(f->store, &options, &diag);
}

static void expect(const struct fixture *f, size_t decode, size_t weights, size_t duplicates,
		   size_t units, size_t bounds, size_t alias)
{
	const size_t expected[TACT_N_LINT_CHECKS] = {decode, weights, duplicates,
						     units,  bounds,  alias};

	for (unsigned i = 0; i < TACT_N_LINT_CHECKS; i++)
		assert_int_equal(f->found[i], expected[i]);
}

TEST_WITH(an_empty_store, set_up, tear_down)
{
	struct fixture *f = *state;

	assert_int_equal(lint(f, 0, NULL), 0);
	expect(f, 0, 0, 0, 0, 0, 0);
}

TEST_WITH(bad_blocks, set_up, tear_down)
{
	struct fixture *f = *state;
	int64_t id;

	assert_true(tact_store_put_block(f->store, (const uint8_t *)"\x06", 1, &id, NULL) >= 0);
	assert_true(tact_store_put_block(f->store, (const uint8_t *)"\x48\x01\xd8", 3, &id, NULL) >=
		    0); /* add rax, rbx */
	assert_int_equal(tact_store_put_source(f->store, id, "a", 0, NULL), 0);
	assert_true(tact_store_put_block(f->store, (const uint8_t *)"\x48\x03\xc3", 3, &id, NULL) >=
		    0); /* the same by the other opcode */
	assert_int_equal(lint(f, 0, NULL), 0);
	expect(f, 1, 1, 1, 0, 0, 0);
	assert_string_equal(f->what, "the same instructions as 4801d8");
	assert_int_equal(lint(f, TACT_LINT_WEIGHTS, NULL), 0);
	expect(f, 0, 1, 0, 0, 0, 0);
	f->stop_after = 2;
	assert_int_equal(lint(f, 0, NULL), 0);
	assert_int_equal(f->found[0] + f->found[1] + f->found[2], 2);
}

TEST_WITH(bad_measurements, set_up, tear_down)
{
	static const uint8_t add[] = {0x48, 0x01, 0xd8}, nop[] = {0x90};
	struct fixture *f = *state;
	struct tact_block_set *set;

	put(f, add, sizeof(add), "SKL", "-", 1.0);
	put(f, nop, sizeof(nop), "SKL", "XD", 0.1); /* four in a cycle at most */
	assert_int_equal(lint(f, 0, NULL), 0);
	expect(f, 0, 0, 0, 0, 1, 1);
	assert_int_equal(tact_block_set_create(&set), 0);
	assert_int_equal(tact_block_set_add(set, add, sizeof(add)), 1);
	assert_int_equal(lint(f, TACT_LINT_ALIAS, set), 0);
	expect(f, 0, 0, 0, 0, 0, 2);
	tact_block_set_destroy(set);
}

/* If all numbers of a file are off, they are not reported one by one. */
TEST_WITH(wrong_units, set_up, tear_down)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < 12; i++) {
		const uint8_t code[] = {0x48, 0x83, 0xc0, (uint8_t)(i + 2)}; /* add rax, i */

		put(f, code, sizeof(code), "SKL", "-", 0.01);
	}
	assert_int_equal(lint(f, 0, NULL), 0);
	expect(f, 0, 0, 0, 1, 0, 0);
	assert_non_null(strstr(f->what, "12 of 12"));
	assert_non_null(strstr(f->what, "smaller"));
}

TEST_WITH(an_unknown_cpu, set_up, tear_down)
{
	struct fixture *f = *state;

	put(f, "\x90", 1, "", "-", 0.01);
	assert_int_equal(lint(f, 0, NULL), 0);
	expect(f, 0, 0, 0, 0, 0, 0);
	assert_int_equal(f->n_unknown, 1);
	assert_int_equal(lint(f, TACT_LINT_ALIAS, NULL), 0);
	assert_int_equal(f->n_unknown, 0);
}

TEST_WITH(unconfirmed_numbers, set_up, tear_down)
{
	struct fixture *f = *state;

	put_rounds(f, "\x48\x01\xd8", 3, "", "-", 1, 2, 2);
	put_rounds(f, "\x48\x01\xd9", 3, "", "-", 1, 0, 0); /* does not say */
	assert_int_equal(lint(f, 0, NULL), 0);
	expect(f, 0, 0, 0, 0, 0, 0);
	put_rounds(f, "\x48\x01\xda", 3, "", "-", 1.25, 1, 1);
	assert_int_equal(lint(f, TACT_LINT_UNCONFIRMED, NULL), 0);
	assert_int_equal(f->found[6], 1);
	assert_string_equal(f->what, "1.25 cycles measured once, confirmed by no second round");
	put_rounds(f, "\x48\x01\xdb", 3, "", "-", 1.5, 3, 1);
	assert_int_equal(lint(f, TACT_LINT_UNCONFIRMED, NULL), 0);
	assert_int_equal(f->found[6], 2);
	assert_string_equal(f->what, "1.50 cycles measured once, and other rounds do not agree");
	put_rounds(f, "\x48\x01\xdc", 3, "", "-", 0, 8, 0);
	assert_int_equal(lint(f, 0, NULL), 0);
	assert_int_equal(f->found[6], 3);
	assert_string_equal(f->what, "no two of 8 rounds confirm a number");
}

TEST_WITH(misuse, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct tact_lint_options none = {.size = sizeof(none)};

	assert_int_equal(tact_lint(f->store, &none, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_lint(f->store, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(lint(f, 1u << TACT_N_LINT_CHECKS, NULL), -TACT_E_INVAL);
	assert_string_equal(tact_lint_name(5), "alias");
	assert_string_equal(tact_lint_name(6), "unconfirmed");
	assert_null(tact_lint_name(TACT_N_LINT_CHECKS));
}

TEST(sets)
{
	enum { N = 5000 };
	struct tact_block_set *set;

	assert_int_equal(tact_block_set_create(NULL), -TACT_E_INVAL);
	assert_int_equal(tact_block_set_create(&set), 0);
	assert_false(tact_block_set_has(set, (const uint8_t *)"", 1));
	assert_false(tact_block_set_has(NULL, (const uint8_t *)"", 1));
	assert_int_equal(tact_block_set_add(set, (const uint8_t *)"", 0), -TACT_E_INVAL);
	for (uint16_t i = 0; i < N; i++)
		assert_int_equal(
			tact_block_set_add(set, (const uint8_t *)&i, 1 + (i > 255 ? 1 : 0)), 1);
	for (uint16_t i = 0; i < N; i++)
		assert_int_equal(
			tact_block_set_add(set, (const uint8_t *)&i, 1 + (i > 255 ? 1 : 0)), 0);
	assert_false(tact_block_set_has(set, (const uint8_t *)"\xff\xff", 2));
	tact_block_set_destroy(set);
	tact_block_set_destroy(NULL);
}

RUN_TESTS(NULL, NULL)
