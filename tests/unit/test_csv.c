/* SPDX-License-Identifier: MIT
 *
 * CSV files of all kinds, also hostile ones.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "base/csv.h"
#include "support.h"
static struct csv *open_csv(const char *data, size_t size)
{
	struct csv *csv;

	assert_int_equal(csv_open_memory(&csv, data, size, NULL), 0);
	return csv;
}

static void expect(struct csv *csv, uint64_t line, size_t n, const char *const *expected)
{
	const struct csv_field *fields;
	size_t found;

	assert_int_equal(csv_next(csv, &fields, &found, NULL), 1);
	assert_int_equal(csv_line(csv), line);
	assert_int_equal(found, n);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(fields[i].text, expected[i]);
		assert_int_equal(fields[i].size, strlen(expected[i]));
	}
}

static void expect_bad(struct csv *csv, uint64_t line)
{
	const struct csv_field *fields;
	struct tact_diag diag;
	size_t n;

	assert_int_equal(csv_next(csv, &fields, &n, &diag), -TACT_E_FORMAT);
	assert_int_equal(diag.line, line);
}

static void expect_end(struct csv *csv)
{
	const struct csv_field *fields;
	size_t n;

	assert_int_equal(csv_next(csv, &fields, &n, NULL), 0);
	assert_int_equal(csv_next(csv, &fields, &n, NULL), 0);
	csv_close(csv);
}

#define EXPECT(csv, line, ...)                                                                     \
	expect(csv, line, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *),                  \
	       (const char *[]){__VA_ARGS__})
#define OPEN(text) open_csv(text, sizeof(text) - 1)

TEST(plain_and_quoted)
{
	struct csv *csv = OPEN("\357\273\277a,b,c\r\n"
			       "# a remark, with commas\r\n"
			       "\r\n"
			       " 1 ,\"x,\"\"y\"\"\nz\", \"\" \n"
			       "2,a\"b,\n"
			       "\"\",,\"q\"rest\n"
			       "last");

	EXPECT(csv, 1, "a", "b", "c");
	EXPECT(csv, 4, "1", "x,\"y\"\nz", "");
	EXPECT(csv, 6, "2", "a\"b", "");
	EXPECT(csv, 7, "", "", "q");
	EXPECT(csv, 8, "last");
	expect_end(csv);
}

TEST(separators)
{
	struct csv *csv = OPEN("# no, separator\na\tb\n1,2\t3\n");

	EXPECT(csv, 2, "a", "b");
	EXPECT(csv, 3, "1,2", "3");
	expect_end(csv);
	csv = OPEN("a;b\n1;2\n");
	EXPECT(csv, 1, "a", "b");
	EXPECT(csv, 2, "1", "2");
	expect_end(csv);
}

TEST(hostile)
{
	struct csv *csv = OPEN("a,b\n1\0,2\n3,\"open\n4,5\n");
	size_t size = 3 << 20;
	char *data = malloc(size);

	EXPECT(csv, 1, "a", "b");
	expect_bad(csv, 2); /* NUL */
	expect_bad(csv, 3); /* continues after the line, not past the end of the file */
	EXPECT(csv, 4, "4", "5");
	expect_end(csv);
	/* a line of three mebibytes, and one after it */
	memset(data, '9', size);
	memcpy(data + size - 5, "\n1,2\n", 5);
	csv = open_csv(data, size);
	expect_bad(csv, 1);
	EXPECT(csv, 2, "1", "2");
	expect_end(csv);
	/* a quote that is open for three mebibytes */
	data[0] = '"';
	data[10] = '\n';
	csv = open_csv(data, size);
	expect_bad(csv, 1);
	expect_bad(csv, 2);
	EXPECT(csv, 3, "1", "2");
	expect_end(csv);
	/* commas only */
	memset(data, ',', 1000);
	csv = open_csv(data, 1000);
	{
		const struct csv_field *fields;
		size_t n;

		assert_int_equal(csv_next(csv, &fields, &n, NULL), 1);
		assert_int_equal(n, 1001);
	}
	expect_end(csv);
	expect_end(OPEN(""));
	expect_end(OPEN("\n\n# nothing\n"));
	free(data);
}

TEST(not_text)
{
	static const struct {
		const char *data;
		size_t size;
		const char *why;
	} files[] = {
		{"\177ELF\2\1\1", 7, "ELF"},
		{"SQLite format 3\0abc", 19, "SQLite"},
		{"\037\213\010\0", 4, "compressed"},
		{"\377\376h\0e\0x\0", 8, "UTF-16"},
	};
	struct csv *csv;
	struct tact_diag diag;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		assert_int_equal(csv_open_memory(&csv, files[i].data, files[i].size, &diag),
				 -TACT_E_FORMAT);
		assert_non_null(strstr(diag.text, files[i].why));
	}
	assert_int_equal(csv_open(&csv, "/nonexistent/x.csv", &diag), -TACT_E_IO);
	assert_int_equal(csv_open(&csv, "/", &diag), -TACT_E_IO);
	assert_int_equal(csv_open(NULL, "x", NULL), -TACT_E_INVAL);
	assert_int_equal(csv_open_memory(&csv, NULL, 1, NULL), -TACT_E_INVAL);
	csv_close(NULL);
}

RUN_TESTS(NULL, NULL)
