/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing.h"

#include <tact/input.h>

static struct tact_input *open_text(const char *text, size_t size, enum tact_input_kind kind)
{
	const struct tact_input_options opt = {.size = sizeof(opt), .kind = kind};
	struct tact_diag diag = {0};
	struct tact_input *in = NULL;

	assert_int_equal(tact_input_open_memory(&in, text, size, &opt, &diag), 0);
	return in;
}

static void expect_code(struct tact_input *in, uint64_t line, const char *hex)
{
	struct tact_region region = TACT_REGION_INIT;
	struct tact_diag diag = {0};
	char text[64] = "";
	size_t i;

	assert_int_equal(tact_input_next(in, &region, &diag), 1);
	assert_true(region.code_size < sizeof(text) / 2);
	for (i = 0; i < region.code_size; i++)
		sprintf(text + 2 * i, "%02x", region.code[i]);
	assert_string_equal(text, hex);
	assert_int_equal(region.line, line);
	assert_string_equal(region.name, "");
	assert_string_equal(region.function, "");
	assert_string_equal(region.source, "");
	assert_false(region.is_candidate);
}

static void expect_status(struct tact_input *in, uint64_t line, int status, const char *text)
{
	struct tact_region region = TACT_REGION_INIT;
	struct tact_diag diag = {0};

	assert_int_equal(tact_input_next(in, &region, &diag), status);
	assert_int_equal(diag.line, line);
	assert_int_equal(region.line, line);
	assert_string_equal(diag.text, text);
}

static void expect_error(struct tact_input *in, uint64_t line, const char *text)
{
	expect_status(in, line, -TACT_E_FORMAT, text);
}

static void expect_end(struct tact_input *in)
{
	struct tact_region region = TACT_REGION_INIT;

	assert_int_equal(tact_input_next(in, &region, NULL), 0);
	assert_int_equal(tact_input_next(in, &region, NULL), 0);
	tact_input_close(in);
}

static void expect_open_fails(const char *text, size_t size, enum tact_input_kind kind, int status,
			      const char *part)
{
	const struct tact_input_options opt = {.size = sizeof(opt), .kind = kind};
	struct tact_diag diag = {0};
	struct tact_input *in = (struct tact_input *)(uintptr_t)1;

	assert_int_equal(tact_input_open_memory(&in, text, size, &opt, &diag), status);
	assert_null(in);
	if (!strstr(diag.text, part))
		fail_msg("'%s' does not have '%s'", diag.text, part);
}

TEST(test_null)
{
	struct tact_region region = TACT_REGION_INIT;
	struct tact_input *in;

	tact_input_close(NULL);
	assert_string_equal(tact_input_description(NULL), "");
	assert_int_equal(tact_input_get_kind(NULL), TACT_INPUT_AUTO);
	assert_int_equal(tact_input_next(NULL, &region, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_input_open(NULL, "x", NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_input_open(&in, NULL, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_input_open_memory(&in, NULL, 3, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_input_open_memory(&in, NULL, 0, NULL, NULL), -TACT_E_FORMAT);
}

TEST(test_options)
{
	struct {
		struct tact_input_options opt;
		char more[8];
	} newer = {.opt = {.size = sizeof(newer), .kind = TACT_INPUT_HEX}};
	struct tact_input_options opt = {0};
	struct tact_input *in;

	assert_int_equal(tact_input_open_memory(&in, "90", 2, &opt, NULL), -TACT_E_INVAL);
	opt = (struct tact_input_options){.size = sizeof(opt), .loop = -1};
	assert_int_equal(tact_input_open_memory(&in, "90", 2, &opt, NULL), -TACT_E_INVAL);
	opt = (struct tact_input_options){.size = sizeof(opt), .addr_begin = 4, .addr_end = 4};
	assert_int_equal(tact_input_open_memory(&in, "90", 2, &opt, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_input_open_memory(&in, "90", 2, &newer.opt, NULL), 0);
	tact_input_close(in);
	newer.more[3] = 1;
	assert_int_equal(tact_input_open_memory(&in, "90", 2, &newer.opt, NULL), -TACT_E_INVAL);
	/* Options of an older library: only the kind. */
	opt = (struct tact_input_options){.size = offsetof(struct tact_input_options, syntax),
					  .kind = TACT_INPUT_HEX,
					  .loop = -1};
	assert_int_equal(tact_input_open_memory(&in, "90", 2, &opt, NULL), 0);
	tact_input_close(in);
}

TEST(test_hex)
{
	static const char text[] =
		"# first\n4801d8\r\n\n \t 0x90 \t\r\n0XcC\n  # c\n48 01 d8\nABcd";
	struct tact_input *in = open_text(text, strlen(text), TACT_INPUT_AUTO);

	assert_int_equal(tact_input_get_kind(in), TACT_INPUT_HEX);
	assert_string_equal(tact_input_description(in), "hex list");
	expect_code(in, 2, "4801d8");
	expect_code(in, 4, "90");
	expect_code(in, 5, "cc");
	expect_code(in, 7, "4801d8");
	expect_code(in, 8, "abcd");
	expect_end(in);
}

TEST(test_hex_text)
{
	struct tact_input *in = open_text(" 0x4801D8 \n", 11, TACT_INPUT_HEX);
	struct tact_region region = TACT_REGION_INIT;

	assert_int_equal(tact_input_next(in, &region, NULL), 1);
	assert_int_equal(region.text_size, 6);
	assert_memory_equal(region.text, "4801D8", 6);
	expect_end(in);
}

TEST(test_bad_lines)
{
	static const char text[] =
		"90\n4801d84801d84\n4801g8\n\x01\n0x\n90\n48 0\n90 9g\n90z\n90\n90\n90\n90\n90\n";
	struct tact_input *in = open_text(text, strlen(text), TACT_INPUT_AUTO);
	int i;

	expect_code(in, 1, "90");
	expect_error(in, 2, "odd number of hex digits (13)");
	expect_error(in, 3, "'g' at column 5 is not a hex digit");
	expect_error(in, 4, "byte 0x01 at column 1 is not a hex digit");
	expect_error(in, 5, "no hex digits");
	expect_code(in, 6, "90");
	expect_error(in, 7, "odd number of hex digits (3)");
	expect_error(in, 8, "'g' at column 5 is not a hex digit");
	expect_error(in, 9, "'z' at column 3 is not a hex digit");
	for (i = 10; i < 15; i++)
		expect_code(in, (uint64_t)i, "90");
	expect_end(in);
}

TEST(test_error_keeps_text)
{
	struct tact_input *in = open_text("48zz\n", 5, TACT_INPUT_HEX);
	struct tact_region region = TACT_REGION_INIT;

	assert_int_equal(tact_input_next(in, &region, NULL), -TACT_E_FORMAT);
	assert_int_equal(region.line, 1);
	assert_int_equal(region.text_size, 4);
	assert_memory_equal(region.text, "48zz", 4);
	assert_int_equal(region.code_size, 0);
	expect_end(in);
}

TEST(test_csv)
{
	static const char text[] = "hex,value\r\n4801d8,1.5\r\n\"90\",\"a,b\"\n\n# c\n cc , 3\n,4\n"
				   "0x31c0,\nzz,1\n";
	struct tact_input *in = open_text(text, strlen(text), TACT_INPUT_AUTO);

	assert_int_equal(tact_input_get_kind(in), TACT_INPUT_CSV);
	assert_string_equal(tact_input_description(in), "CSV");
	expect_code(in, 2, "4801d8");
	expect_code(in, 3, "90");
	expect_code(in, 6, "cc");
	expect_status(in, 7, -TACT_E_NO_DATA, "no hex digits");
	expect_code(in, 8, "31c0");
	expect_error(in, 9, "'z' at column 1 is not a hex digit");
	expect_end(in);
}

TEST(test_csv_forms)
{
	struct tact_input *in;

	in = open_text("4801d8,\n", 8, TACT_INPUT_AUTO); /* BHive's files: no header */
	assert_int_equal(tact_input_get_kind(in), TACT_INPUT_CSV);
	expect_code(in, 1, "4801d8");
	expect_end(in);
	in = open_text("hex\n90\n", 7, TACT_INPUT_AUTO); /* one column */
	assert_int_equal(tact_input_get_kind(in), TACT_INPUT_CSV);
	expect_code(in, 2, "90");
	expect_end(in);
	in = open_text("90\t3\ncc;4\n", 10, TACT_INPUT_CSV);
	expect_code(in, 1, "90");
	expect_code(in, 2, "cc");
	expect_end(in);
	/* A header is the first line only, and never a line that starts with a digit. */
	in = open_text("4g,1\n90,1\n", 10, TACT_INPUT_CSV);
	expect_error(in, 1, "'g' at column 2 is not a hex digit");
	expect_code(in, 2, "90");
	expect_end(in);
}

TEST(test_no_code)
{
	struct tact_region region = TACT_REGION_INIT;
	struct tact_diag diag = {0};
	struct tact_input *in;

	expect_open_fails("", 0, TACT_INPUT_AUTO, -TACT_E_FORMAT, "no code");
	expect_open_fails("", 0, TACT_INPUT_RAW, -TACT_E_FORMAT, "no code");
	expect_open_fails("\n \n# x\n", 7, TACT_INPUT_AUTO, -TACT_E_FORMAT, "no code");
	expect_open_fails("\n \n# x\n", 7, TACT_INPUT_HEX, -TACT_E_FORMAT, "no code");
	in = open_text("hex,tp\n", 7, TACT_INPUT_CSV);
	assert_int_equal(tact_input_next(in, &region, &diag), -TACT_E_FORMAT);
	assert_string_equal(diag.text, "no code");
	expect_end(in);
}

TEST(test_foreign)
{
	expect_open_fails("ab\0cd", 5, TACT_INPUT_AUTO, -TACT_E_FORMAT, "neither text nor an ELF");
	expect_open_fails("!<arch>\nfoo", 11, TACT_INPUT_AUTO, -TACT_E_FORMAT, "archive");
	expect_open_fails("\x1f\x8b\0\0", 4, TACT_INPUT_AUTO, -TACT_E_FORMAT, "gzip");
	expect_open_fails("\177ELF", 4, TACT_INPUT_AUTO, -TACT_E_FORMAT, "ELF");
	expect_open_fails("90", 2, TACT_INPUT_ELF, -TACT_E_FORMAT, "not an ELF file");
}

TEST(test_byte_order_mark)
{
	struct tact_input *in = open_text("\xef\xbb\xbf"
					  "90\n",
					  6, TACT_INPUT_AUTO);

	expect_code(in, 1, "90");
	expect_end(in);
}

TEST(test_raw)
{
	struct tact_input *in = open_text("\x48\x01\xd8", 3, TACT_INPUT_RAW);

	assert_string_equal(tact_input_description(in), "raw bytes");
	expect_code(in, 0, "4801d8");
	expect_end(in);
}

static int open_marked(struct tact_input **in, const char *data, size_t size,
		       enum tact_input_kind kind, struct tact_diag *diag)
{
	const struct tact_input_options opt = {
		.size = sizeof(opt), .kind = kind, .is_marked = true};

	return tact_input_open_memory(in, data, size, &opt, diag);
}

/* IACA's markers around code, in a file that is nothing else. */
TEST(test_marked_bytes)
{
	static const char data[] = "junk\xbb\x6f\0\0\0\x64\x67\x90\x48\x01\xd8"
				   "\xbb\xde\0\0\0\x64\x67\x90\xcc"
				   "\xbb\x6f\0\0\0\x64\x67\x90\x90"
				   "\xbb\xde\0\0\0\x64\x67\x90";
	struct tact_diag diag = {0};
	struct tact_input *in;

	assert_int_equal(open_marked(&in, data, sizeof(data) - 1, TACT_INPUT_RAW, &diag), 0);
	expect_code(in, 0, "4801d8");
	expect_code(in, 0, "90");
	expect_end(in);
	assert_int_equal(open_marked(&in, data, 20, TACT_INPUT_RAW, &diag), -TACT_E_FORMAT);
	assert_non_null(strstr(diag.text, "do not match"));
	assert_int_equal(open_marked(&in, "\x90", 1, TACT_INPUT_RAW, &diag), -TACT_E_FORMAT);
	assert_string_equal(diag.text, "there are no markers around the code");
	assert_int_equal(open_marked(&in, "nop\n", 4, TACT_INPUT_ASM, &diag), -TACT_E_FORMAT);
	assert_string_equal(diag.text, "there are no markers around the code");
}

TEST(test_is_loop)
{
	static const struct {
		const char *hex;
		bool is_loop;
	} cases[] = {
		{"4801d875fb", true}, {"4801d875fa", false},	       {"ebfe", true},
		{"90ebfe", false},    {"900f85f9ffffff", true},	       {"90e9faffffff", true},
		{"e2fe", true},	      {"900f05f9ffffff", false},       {"75", false},
		{"90e3fd", true},     {"c70000000000fafafafa", false},
	};
	struct tact_region region = TACT_REGION_INIT;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tact_input *in =
			open_text(cases[i].hex, strlen(cases[i].hex), TACT_INPUT_HEX);

		assert_int_equal(tact_input_next(in, &region, NULL), 1);
		if (region.is_loop != cases[i].is_loop)
			fail_msg("%s", cases[i].hex);
		expect_end(in);
	}
}

/* A line longer than any buffer, and lines across the ends of chunks. */
static void write_long_list(const char *path)
{
	FILE *file = fopen(path, "w");
	int i;

	assert_non_null(file);
	for (i = 0; i < 100000; i++)
		fprintf(file, "4801d8%02x\n", i & 255);
	for (i = 0; i < 1000000; i++)
		fputs("00", file);
	fputs("\n90", file);
	assert_int_equal(fclose(file), 0);
}

static void read_long_list(struct tact_input *in)
{
	struct tact_region region = TACT_REGION_INIT;
	int i;

	for (i = 0; i < 100000; i++) {
		assert_int_equal(tact_input_next(in, &region, NULL), 1);
		assert_int_equal(region.line, i + 1);
		assert_int_equal(region.code_size, 4);
		assert_int_equal(region.code[3], i & 255);
	}
	assert_int_equal(tact_input_next(in, &region, NULL), 1);
	assert_int_equal(region.code_size, 1000000);
	assert_int_equal(region.text_size, 2000000);
	expect_code(in, 100002, "90");
	expect_end(in);
}

TEST(test_long_list)
{
	static const struct tact_input_options opt = {.size = sizeof(opt), .kind = TACT_INPUT_HEX};
	const char *directory = *state;
	struct tact_input *in;
	char path[256], command[300];
	FILE *pipe;

	snprintf(path, sizeof(path), "%s/long", directory);
	write_long_list(path);
	assert_int_equal(tact_input_open(&in, path, NULL, NULL), 0);
	assert_int_equal(tact_input_get_kind(in), TACT_INPUT_HEX);
	read_long_list(in);
	/* The same through a pipe, with and without looking at it first. */
	snprintf(command, sizeof(command), "cat %s", path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	snprintf(command, sizeof(command), "/proc/self/fd/%d", fileno(pipe));
	assert_int_equal(tact_input_open(&in, command, NULL, NULL), 0);
	read_long_list(in);
	pclose(pipe);
	snprintf(command, sizeof(command), "cat %s", path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	snprintf(command, sizeof(command), "/proc/self/fd/%d", fileno(pipe));
	assert_int_equal(tact_input_open(&in, command, &opt, NULL), 0);
	read_long_list(in);
	pclose(pipe);
}

TEST(test_files)
{
	const char *directory = *state;
	struct tact_diag diag = {0};
	struct tact_input *in;
	char path[256];

	assert_int_equal(tact_input_open(&in, directory, NULL, &diag), -TACT_E_IO);
	assert_string_equal(diag.text, "Is a directory");
	snprintf(path, sizeof(path), "%s/missing", directory);
	assert_int_equal(tact_input_open(&in, path, NULL, &diag), -TACT_E_IO);
	assert_string_equal(diag.text, "No such file or directory");
	snprintf(path, sizeof(path), "%s/secret", directory);
	fclose(fopen(path, "w"));
	chmod(path, 0);
	if (geteuid()) {
		assert_int_equal(tact_input_open(&in, path, NULL, &diag), -TACT_E_IO);
		assert_string_equal(diag.text, "Permission denied");
	}
	assert_int_equal(tact_input_open(&in, "/dev/null", NULL, &diag), -TACT_E_FORMAT);
}

static int make_directory(void **state)
{
	static char path[] = "/tmp/tact-test-XXXXXX";

	*state = mkdtemp(path);
	return *state ? 0 : -1;
}

static int remove_directory(void **state)
{
	static const char *const names[] = {"long", "secret"};
	char path[256];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", (const char *)*state, names[i]);
		unlink(path);
	}
	return rmdir(*state);
}

RUN_TESTS(make_directory, remove_directory)
