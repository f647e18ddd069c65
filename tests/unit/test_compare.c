/* SPDX-License-Identifier: MIT
 *
 * One model next to measurements, row by row.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "testing.h"

#include <tact-program/evaluate.h>

#include "support.h"

static struct tact_row row_of(const void *code, size_t size, double cycles)
{
	return (struct tact_row){.size = sizeof(struct tact_row),
				 .code = code,
				 .code_size = size,
				 .cycles = cycles,
				 .has_cycles = true,
				 .mode = TACT_MODE_UNROLL,
				 .init = TACT_INIT_SAME};
}

TEST(largest_first)
{
	const struct tact_arch *skl = tact_arch_find("SKL");
	struct tact_row row = row_of("\x48\x01\xd8", 3, 1); /* add rax, rbx */
	struct tact_agreement a = {.size = sizeof(a)};
	struct tact_comparison *c;

	assert_int_equal(tact_comparison_create(&c, "facile", NULL), 0);
	assert_int_equal(tact_comparison_add(c, &row, "right", skl), 1);
	row.mode = TACT_MODE_LOOP;
	row.flags = TACT_MFLAG_PARTIAL;
	row.cycles = 4;
	assert_int_equal(tact_comparison_add(c, &row, "wrong", skl), 1);
	row.has_cycles = false;
	assert_int_equal(tact_comparison_add(c, &row, "", NULL), 0);
	row = row_of("\x06", 1, 1);
	assert_int_equal(tact_comparison_add(c, &row, "", skl), 0);
	assert_int_equal(c->n, 2);
	assert_int_equal(c->n_numberless, 1);
	assert_int_equal(c->n_unpredicted, 1);
	assert_string_equal(c->row[0].name, "right");
	tact_comparison_sort(c);
	assert_string_equal(c->row[0].name, "wrong");
	assert_true(fabs(c->row[0].error + 0.75) < 1e-9);
	assert_int_equal(c->row[0].code_size, 3); /* as it was given, without its counter */
	assert_int_equal(c->row[1].bottlenecks, 1u << TACT_BOUND_PRECEDENCE);
	assert_int_equal(tact_comparison_agreement(c, NULL, 0, &a), 0);
	assert_int_equal(a.n, 2);
	assert_int_equal(tact_comparison_agreement(c, NULL, TACT_MFLAG_PARTIAL, &a), 0);
	assert_int_equal(a.n, 1);
	assert_true(a.mape < 1e-9);
	row = row_of("\x48\x01\xd8", 3, 2);
	assert_int_equal(tact_comparison_add(c, &row, "", tact_arch_find("ICL")), 1);
	assert_int_equal(tact_comparison_agreement(c, tact_arch_find("ICL"), 0, &a), 0);
	assert_int_equal(a.n, 1);
	assert_true(fabs(a.mape - 0.5) < 1e-9);
	assert_int_equal(tact_comparison_agreement(c, skl, 0, &a), 0);
	assert_int_equal(a.n, 2);
	tact_comparison_destroy(c);
}

TEST(misuse)
{
	struct tact_row row = row_of("\x90", 1, 1);
	struct tact_agreement a = {.size = sizeof(a)};
	struct tact_comparison *c;

	assert_int_equal(tact_comparison_create(NULL, "facile", NULL), -TACT_E_INVAL);
	assert_int_equal(tact_comparison_create(&c, "no such model", NULL), -TACT_E_INVAL);
	assert_int_equal(tact_comparison_create(&c, "facile", NULL), 0);
	assert_int_equal(tact_comparison_add(c, &row, "", NULL), -TACT_E_INVAL);
	row.mode = TACT_MODE_AUTO;
	assert_int_equal(tact_comparison_add(c, &row, "", tact_arch_find("SKL")), -TACT_E_INVAL);
	tact_comparison_sort(c); /* of nothing */
	assert_int_equal(tact_comparison_agreement(c, NULL, 0, &a), -TACT_E_INVAL);
	tact_comparison_destroy(c);
	tact_comparison_destroy(NULL);
}

RUN_TESTS(NULL, NULL)
