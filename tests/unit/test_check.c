/* SPDX-License-Identifier: MIT
 *
 * Code and its baseline: INI files, what they mean, baselines that are written and read, verdicts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing.h"

#include <tact-program/codecheck.h>
#include <tact-program/report.h>
#include <tact/arch.h>
#include <tact/remark.h>

#include "base/file.h"
#include "base/text.h"
#include "check/check.h"
#include "check/ini.h"

/* ---- INI files ---- */

static int list(void *arg, const struct ini_entry *e)
{
	struct text *out = arg;

	if (e->key)
		text_printf(out, "%d:%s=%s|", (int)e->line, e->key, e->value);
	else
		text_printf(out, "%d:[%s]|", (int)e->line, e->section);
	return e->key && !strcmp(e->key, "stop") ? 7 : 0;
}

static void expect_ini(const char *text, int status, const char *expected, unsigned line)
{
	struct text out = {0};
	struct tact_diag diag = {0};

	assert_int_equal(ini_read(text, strlen(text), list, &out, &diag), status);
	assert_string_equal(text_string(&out), expected);
	assert_int_equal(diag.line, line);
	text_free(&out);
}

TEST(ini_files_are_read)
{
	expect_ini("", 0, "", 0);
	expect_ini("\xef\xbb\xbf[a b]\r\nk = v w \t\r\n", 0, "1:[a b]|2:k=v w|", 0);
	expect_ini("# x\n; y\n\n[ a ] # z\nk=v#w # x\nl=; none\nm =", 0, "4:[a]|5:k=v#w|6:l=|7:m=|",
		   0);
	expect_ini("[a]\nk = \" v # w \" # x\nstop=1\nl=2", 7, "1:[a]|2:k= v # w |3:stop=1|", 0);
	expect_ini("[a]\nk = b=c", 0, "1:[a]|2:k=b=c|", 0);
	expect_ini("k = v", -TACT_E_FORMAT, "", 1);
	expect_ini("[a]\n\nword", -TACT_E_FORMAT, "1:[a]|", 3);
	expect_ini("[a", -TACT_E_FORMAT, "", 1);
	expect_ini("[]", -TACT_E_FORMAT, "", 1);
	expect_ini("[a] b", -TACT_E_FORMAT, "", 1);
	expect_ini("[a]\n= v", -TACT_E_FORMAT, "1:[a]|", 2);
	expect_ini("[a]\nk = \"v", -TACT_E_FORMAT, "1:[a]|", 2);
	expect_ini("[a]\nk = \"v\" w", -TACT_E_FORMAT, "1:[a]|", 2);
}

TEST(a_byte_zero_is_no_text)
{
	struct tact_diag diag = {0};
	struct text out = {0};

	assert_int_equal(ini_read("[a]\nk=\0v\n", 9, list, &out, &diag), -TACT_E_FORMAT);
	assert_int_equal(diag.line, 2);
	text_free(&out);
}

/* ---- checks ---- */

static char directory[] = "/tmp/tact-check-XXXXXX";

static const char *path_of(const char *name)
{
	static char path[64];

	if (strstr(directory, "XXXXXX"))
		assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static void put(const char *name, const char *content)
{
	assert_int_equal(file_write(path_of(name), content, strlen(content), NULL), 0);
}

static struct tact_codecheck *open_check(const char *config)
{
	const struct tact_arch *const archs[] = {tact_arch_find("SKL"), tact_arch_find("ZEN4")};
	struct tact_codecheck *check;

	put("tact.ini", config);
	assert_int_equal(tact_codecheck_create(&check, path_of("tact.ini"), NULL), 0);
	for (size_t i = 0; i < tact_codecheck_count(check); i++)
		assert_int_equal(tact_codecheck_set_archs(check, i, archs, 2), 0);
	return check;
}

static void refuse(const char *config, unsigned line, const char *reason)
{
	struct tact_diag diag = {0};
	struct tact_codecheck *check;

	put("tact.ini", config);
	assert_int_equal(tact_codecheck_create(&check, path_of("tact.ini"), &diag), -TACT_E_FORMAT);
	assert_null(check);
	assert_int_equal(diag.line, line);
	assert_non_null(strstr(diag.text, reason));
}

TEST(what_an_ini_file_means)
{
	struct tact_codecheck *check = open_check(
		"[own]\nfunction = f\nloop = 2\nfail-above = 0.5 cycles\nmax-cycles = 4\nmodel = "
		"sim\n"
		"[marked]\nmarker = a b\nfile = /abs\nfail-above = none\n"
		"[check]\nfile = k.o\narch = SKL\nfail-above=1.5%\nbaseline = b.jsonl\n");
	const struct check_section *own = &check->sections[0], *marked = &check->sections[1];
	char expected[80];

	assert_int_equal(tact_codecheck_count(check), 2);
	assert_string_equal(tact_codecheck_section(check, 0), "own");
	assert_string_equal(tact_codecheck_archs(check, 1), "SKL");
	snprintf(expected, sizeof(expected), "%s/k.o", directory);
	assert_string_equal(own->file, expected);
	assert_string_equal(own->model, "sim");
	assert_int_equal(own->loop, 2);
	assert_false(own->limit.is_percent);
	assert_true(own->limit.value == 0.5 && own->max_cycles == 4);
	assert_string_equal(marked->file, "/abs");
	assert_string_equal(marked->marker, "a b");
	assert_string_equal(marked->model, "facile");
	assert_true(marked->limit.is_none);
	snprintf(expected, sizeof(expected), "%s/b.jsonl", directory);
	assert_string_equal(tact_codecheck_baseline(check), expected);
	tact_codecheck_destroy(check);

	check = open_check("[check]\nfile = k.o\narch = SKL\n");
	assert_int_equal(tact_codecheck_count(check), 1);
	assert_true(check->sections[0].limit.is_percent && check->sections[0].limit.value == 2);
	tact_codecheck_destroy(check);
}

TEST(wrong_ini_files_are_refused)
{
	refuse("", 0, "no section");
	refuse("[check]\narch = SKL\n", 1, "names no file");
	refuse("[check]\nfile = a\n[check]\n", 3, "two sections [check]");
	refuse("[a]\nfile = a\n[a]\n", 3, "two sections [a]");
	refuse("[check]\nfile = a\nfile = b\n", 3, "already");
	refuse("[check]\nfiel = a\n", 2, "did you mean file?");
	refuse("[check]\nzzzzzzzz = a\n", 2, "keys are");
	refuse("[check]\nfunction = f\n", 2, "chooses code");
	refuse("[a]\nbaseline = f\n", 2, "belongs to [check]");
	refuse("[check]\nfail-above = 2\n", 2, "unit");
	refuse("[check]\nfail-above = -2%\n", 2, "give 2%");
	refuse("[check]\nfail-above = nan%\n", 2, "give 2%");
	refuse("[check]\nfail-above = 1e999 cycles\n", 2, "give 2%");
	refuse("[check]\nmax-cycles = 0\n", 2, "number of cycles");
	refuse("[a]\nloop = 0\n", 2, "from 1");
	refuse("[a]\nloop = 1x\n", 2, "from 1");
	refuse("[check]\nmodel = none\n", 2, "facile or sim");
	refuse("[check]\nmodel = x=rm -rf\n", 2, "facile or sim");
	refuse("[check]\nfile =\n", 2, "no value");
}

static struct tact_codecheck_summary run(struct tact_codecheck *check, bool is_needed)
{
	struct tact_codecheck_summary s = TACT_CODECHECK_SUMMARY_INIT;

	assert_int_equal(tact_codecheck_run(check, is_needed, NULL, NULL, NULL), 0);
	assert_int_equal(tact_codecheck_get_summary(check, &s), 0);
	return s;
}

static const char config_hex[] = "[check]\nfile = k.hex\narch = SKL\nfail-above = 10%\n";

/* Writes the baseline of some code, and checks other code against it. */
static struct tact_codecheck *change(const char *before, const char *now)
{
	struct tact_codecheck *check;

	put("k.hex", before);
	unlink(path_of("tact-baseline.jsonl"));
	check = open_check(config_hex);
	run(check, false);
	assert_int_equal(tact_codecheck_update(check, NULL), 0);
	tact_codecheck_destroy(check);
	put("k.hex", now);
	return open_check(config_hex);
}

static const char add[] = "4801d84801d8\n", imul[] = "480fafc34801d8\n";

TEST(slower_code_is_over_its_limit)
{
	struct tact_codecheck *check = change(add, imul);
	struct tact_codecheck_summary s = run(check, true);

	assert_true(s.n == 2 && s.n_over == 2 && !s.n_lower_bounds);
	assert_int_equal(check->rows[0].status, CHECK_OVER);
	assert_true(check->rows[0].ratio == 2 && !check->rows[0].has_other_tact);
	assert_int_equal(tact_remarks_count(check->remarks), 0);
	tact_codecheck_destroy(check);

	check = change(imul, add);
	s = run(check, true);
	assert_true(s.n == 2 && s.n_faster == 2 && !s.n_over);
	tact_codecheck_destroy(check);

	check = change(add, add);
	s = run(check, true);
	assert_true(s.n == 2 && s.n_same == 2);
	assert_int_equal(tact_codecheck_run(check, true, NULL, NULL, NULL), -TACT_E_INVAL);
	tact_codecheck_destroy(check);
}

TEST(code_comes_and_goes)
{
	struct tact_codecheck *check = change("4801d84801d8\n0f28c1\n", "0f28c1\nc4e271b8c2\n");
	struct tact_codecheck_summary s = run(check, true);

	assert_int_equal(s.n_same + s.n_new + s.n_gone + s.n_over + s.n_slower + s.n_faster, s.n);
	assert_true(s.n_same >= 2);
	tact_codecheck_destroy(check);
}

TEST(baselines_are_stable)
{
	struct tact_codecheck *check = change(add, add);
	struct text first = {0}, second = {0};

	run(check, true);
	assert_int_equal(file_read(check->baseline, 1 << 20, &first, NULL), 0);
	baseline_print(check, &second);
	assert_int_equal(first.size, second.size);
	assert_memory_equal(first.data, second.data, first.size);
	text_free(&first);
	text_free(&second);
	tact_codecheck_destroy(check);
}

TEST(a_baseline_is_needed)
{
	struct tact_codecheck *check;
	struct tact_diag diag = {0};

	put("k.hex", add);
	unlink(path_of("tact-baseline.jsonl"));
	check = open_check(config_hex);
	assert_int_equal(tact_codecheck_run(check, true, NULL, NULL, &diag), -TACT_E_NO_DATA);
	tact_codecheck_destroy(check);
	put("tact.ini", config_hex);
	assert_int_equal(tact_codecheck_create(&check, path_of("tact.ini"), NULL), 0);
	assert_int_equal(tact_codecheck_run(check, false, NULL, NULL, &diag), -TACT_E_INVAL);
	assert_non_null(strstr(diag.text, "names no CPU"));
	tact_codecheck_destroy(check);
}

static int write_to(void *text, const char *data, size_t size)
{
	text_add_bytes(text, data, size);
	return 0;
}

TEST(reports_refuse_what_is_wrong)
{
	struct tact_codecheck *check = change(add, imul);
	struct tact_check_report report = {.size = sizeof(report), .check = check};
	struct text out = {0};

	assert_int_equal(tact_report_check(&report, write_to, &out), -TACT_E_INVAL);
	run(check, true);
	assert_int_equal(tact_report_check(&report, NULL, &out), -TACT_E_INVAL);
	for (int f = TACT_FORMAT_TEXT; f <= TACT_FORMAT_JUNIT; f++) {
		report.format = (enum tact_format)f;
		text_reset(&out);
		assert_int_equal(tact_report_check(&report, write_to, &out), 0);
		assert_true(out.size > 0);
	}
	report.format = (enum tact_format)99;
	assert_int_equal(tact_report_check(&report, write_to, &out), -TACT_E_INVAL);
	text_free(&out);
	tact_codecheck_destroy(check);
	tact_codecheck_destroy(NULL);
	assert_int_equal(tact_codecheck_count(NULL), 0);
}

TEST(text_for_xml)
{
	struct text out = {0};

	text_xml(&out, "a<b>&\"c\"\n\x01\xff\xc3\xa9");
	assert_string_equal(text_string(&out), "a&lt;b&gt;&amp;&quot;c&quot;\n??\xc3\xa9");
	text_free(&out);
}

static int remove_files(void **state)
{
	(void)state;
	unlink(path_of("tact.ini"));
	unlink(path_of("k.hex"));
	unlink(path_of("tact-baseline.jsonl"));
	rmdir(directory);
	return 0;
}

RUN_TESTS(NULL, remove_files)
