/* SPDX-License-Identifier: MIT
 *
 * Instructions that tables have no data for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <tact-program/coverage.h>

/* vpaddd zmm0, zmm1, zmm2: in the tables, but not of CPUs without AVX-512. */
static const uint8_t wide[] = {0x62, 0xf1, 0x75, 0x48, 0xfe, 0xc2};
static const uint8_t add[] = {0x48, 0x01, 0xd8};
static const uint8_t cut_short[] = {0x48, 0x01, 0xd8, 0x48};

static void test_counts(void **state)
{
	const struct tact_arch *archs[] = {tact_arch_find("SNB"), tact_arch_find("SKX")};
	struct tact_coverage *c = NULL;
	const struct tact_gap *gaps = NULL;
	struct tact_diag diag = {0};
	size_t n = 9;

	(void)state;
	assert_int_equal(tact_coverage_create(&c, archs, 2, NULL), 0);
	assert_int_equal(tact_coverage_gaps(c, &gaps, &n), 0);
	assert_int_equal(n, 0);
	assert_int_equal(tact_coverage_add(c, add, sizeof(add), NULL), 0);
	assert_int_equal(tact_coverage_add(c, wide, sizeof(wide), NULL), 0);
	assert_int_equal(tact_coverage_add(c, wide, sizeof(wide), NULL), 0);
	assert_int_equal(tact_coverage_add(c, NULL, 0, NULL), 0);
	assert_int_equal(tact_coverage_blocks(c), 4);
	assert_int_equal(tact_coverage_insns(c), 3);
	assert_int_equal(tact_coverage_gaps(c, &gaps, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(gaps[0].count, 2);
	assert_int_equal(gaps[0].missing, 1);
	assert_int_equal(gaps[0].example_size, sizeof(wide));
	assert_memory_equal(gaps[0].example, wide, sizeof(wide));
	assert_string_equal(gaps[0].name, tact_isa_form_name(tact_isa_default(), gaps[0].form));
	assert_int_equal(tact_coverage_missing(c, 0), 2);
	assert_int_equal(tact_coverage_missing(c, 1), 0);
	assert_int_equal(tact_coverage_missing(c, 2), 0);

	/* Instructions before the fault count, the block does not. */
	assert_int_equal(tact_coverage_add(c, cut_short, sizeof(cut_short), &diag), -TACT_E_DECODE);
	assert_non_null(strstr(diag.text, "at byte 3"));
	assert_int_equal(tact_coverage_insns(c), 4);
	assert_int_equal(tact_coverage_blocks(c), 4);
	tact_coverage_destroy(c);
}

static void test_refused(void **state)
{
	const struct tact_arch *arch = tact_arch_find("SKL");
	struct tact_coverage *c = NULL;
	const struct tact_gap *gaps;
	size_t n;

	(void)state;
	assert_int_equal(tact_coverage_create(NULL, &arch, 1, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_coverage_create(&c, NULL, 1, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_coverage_create(&c, &arch, 0, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_coverage_create(&c, &arch, TACT_COVERAGE_MAX_ARCHS + 1, NULL),
			 -TACT_E_INVAL);
	assert_null(c);
	assert_int_equal(tact_coverage_add(NULL, add, sizeof(add), NULL), -TACT_E_INVAL);
	assert_int_equal(tact_coverage_gaps(NULL, &gaps, &n), -TACT_E_INVAL);
	assert_int_equal(tact_coverage_insns(NULL), 0);
	tact_coverage_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
