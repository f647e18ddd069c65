/* SPDX-License-Identifier: MIT
 *
 * Two versions of code: which names, sequences and pieces belong together, and what they cost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing.h"

#include <tact-program/codediff.h>
#include <tact-program/report.h>
#include <tact/arch.h>

#include "base/text.h"
#include "code/likeness.h"
#include "diff/codediff.h"

TEST(sequences_are_aligned)
{
	const uint64_t a[] = {1, 2, 3, 4, 5, 9}, b[] = {1, 3, 7, 5, 8, 9};
	bool in_a[6], in_b[6];
	uint64_t *many = malloc(5000 * sizeof(*many));
	bool *marks = malloc(2 * 5000);

	assert_int_equal(code_align(a, 6, b, 6, in_a, in_b), 4);
	assert_true(in_a[0] && !in_a[1] && in_a[2] && !in_a[3] && in_a[4] && in_a[5]);
	assert_true(in_b[0] && in_b[1] && !in_b[2] && in_b[3] && !in_b[4] && in_b[5]);
	assert_int_equal(code_align(a, 0, b, 6, in_a, in_b), 0);
	assert_int_equal(code_align(a, 6, a, 6, in_a, in_b), 6);
	/* Too long for a table: the equal ends are found all the same. */
	for (size_t i = 0; i < 5000; i++)
		many[i] = i;
	assert_int_equal(code_align(many, 5000, many, 5000, marks, marks + 5000), 5000);
	assert_int_equal(code_align(many, 5000, many + 1, 4999, marks, marks + 5000), 4999);
	free(many);
	free(marks);
}

static struct tact_code *load(const char *text)
{
	char path[] = "/tmp/tact-codediff-XXXXXX";
	const int fd = mkstemp(path);
	struct tact_code *code = NULL;

	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	assert_int_equal(tact_code_load(&code, path, NULL, NULL), 0);
	unlink(path);
	return code;
}

struct fixture {
	struct tact_code *a, *b;
	struct tact_codediff *diff;
	struct tact_codediff_summary summary;
};

static void compare(struct fixture *f, const char *a, const char *b)
{
	const struct tact_arch *const archs[] = {tact_arch_find("SKL"), tact_arch_find("ZEN4")};
	const struct tact_codediff_options opt = {
		.size = sizeof(opt), .archs = archs, .n_archs = 2};

	*f = (struct fixture){.summary = TACT_CODEDIFF_SUMMARY_INIT};
	f->a = load(a);
	f->b = load(b);
	assert_int_equal(tact_codediff_create(&f->diff, f->a, f->b, &opt, NULL), 0);
	assert_int_equal(tact_codediff_get_summary(f->diff, &f->summary), 0);
}

static void close_fixture(struct fixture *f)
{
	tact_codediff_destroy(f->diff);
	tact_code_destroy(f->a);
	tact_code_destroy(f->b);
}

/* Three loops of one function: imul rax, rbx, dec rcx, jnz is changed; nops are inserted; the last
 * one is as it was.
 */
TEST(changed_pieces_are_paired_and_new_ones_listed)
{
	struct fixture f;

	compare(&f, "4801d84803024889d148ffc975f2\n0fafc30fafc30fafc348ffc975f2\n",
		"4801d84803024889d148ffc975f2\n90909090909090909090eb90\n0fafc30fafc348ffc975f5\n");
	assert_int_equal(f.summary.n_pairs, 2);
	assert_int_equal(f.summary.n_faster, 1);
	assert_int_equal(f.summary.n_slower, 0);
	assert_int_equal(f.summary.n_same, 1);
	assert_int_equal(f.summary.n_only[0], 0);
	assert_int_equal(f.summary.n_only[1], 1);
	/* Three multiplications in a chain of three cycles each became two. */
	assert_int_equal(f.diff->rows[0].kind, CODEDIFF_CHANGED);
	assert_true(codediff_ratio(&f.diff->rows[0], 0) > 0.66 &&
		    codediff_ratio(&f.diff->rows[0], 0) < 0.67);
	assert_int_equal(f.diff->rows[2].kind, CODEDIFF_SAME);
	close_fixture(&f);
}

/* However different the only piece of both is, it is compared; bytes that are no code are not. */
TEST(the_only_piece_of_both_is_compared)
{
	struct fixture f;

	compare(&f, "4801d8\n", "0fafc30fafc30fafc3\n");
	assert_int_equal(f.summary.n_pairs, 1);
	assert_int_equal(f.summary.n_slower, 1);
	assert_true(f.summary.worst > 8.9 && f.summary.worst < 9.1);
	assert_non_null(f.summary.worst_cpu);
	close_fixture(&f);
	compare(&f, "06\n", "06\n");
	assert_int_equal(f.summary.n_pairs, 1);
	assert_int_equal(f.summary.n_failed, 1);
	assert_null(f.summary.worst_cpu);
	close_fixture(&f);
}

static int append(void *text, const char *data, size_t size)
{
	text_add_bytes(text, data, size);
	return 0;
}

TEST(every_format_states_the_change)
{
	static const char *const wanted[] = {
		[TACT_FORMAT_TEXT] = "Dependencies 9.00 -> 6.00",
		[TACT_FORMAT_CSV] = "both,SKL,9.00,Dependencies,6.00,Dependencies,0.666667,",
		[TACT_FORMAT_JSON] = "\"went\":[\"imul eax, ebx\"],\"came\":[]",
		[TACT_FORMAT_MARKDOWN] = "| SKL | 9.00 | 6.00 | -33.3% |",
	};
	struct fixture f;

	compare(&f, "0fafc30fafc30fafc3\n", "0fafc30fafc3\n");
	for (unsigned i = 0; i < ARRAY_SIZE(wanted); i++) {
		struct tact_code_report report = {.size = sizeof(report),
						  .diff = f.diff,
						  .names = {"a", "b"},
						  .format = (enum tact_format)i,
						  .top = 10};
		struct text text = {0};

		assert_int_equal(tact_report_code(&report, append, &text), 0);
		assert_non_null(strstr(text_string(&text), wanted[i]));
		text_free(&text);
		report.diff = NULL;
		assert_int_equal(tact_report_code(&report, append, &text), -TACT_E_INVAL);
	}
	close_fixture(&f);
}

TEST(misuse_is_refused)
{
	const struct tact_code_options no_such = {.size = sizeof(no_such), .function = "none"};
	struct tact_codediff_summary summary = TACT_CODEDIFF_SUMMARY_INIT;
	struct tact_codediff *diff;
	struct tact_code *code;
	struct tact_diag diag;

	assert_int_equal(tact_code_load(NULL, "x", NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_code_load(&code, NULL, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_code_load(&code, "/nowhere", NULL, &diag), -TACT_E_IO);
	assert_null(code);
	assert_true(tact_code_load(&code, "/proc/self/exe", &no_such, &diag) == -TACT_E_INVAL);
	assert_int_equal(tact_codediff_create(&diff, NULL, NULL, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_codediff_get_summary(NULL, &summary), -TACT_E_INVAL);
	assert_string_equal(tact_code_description(NULL), "");
	tact_codediff_destroy(NULL);
	tact_code_destroy(NULL);
}

RUN_TESTS(NULL, NULL)
