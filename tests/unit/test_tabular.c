/* SPDX-License-Identifier: MIT
 *
 * Tables: one list of columns in three forms.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "testing.h"

#include "base/base.h"
#include "base/tabular.h"

struct item {
	const char *name;
	char label[8];
	int change;
	unsigned small;
	int64_t less;
	uint64_t executions;
	size_t blocks;
	float weight;
	double cycles, share;
	bool is_loop;
	uint8_t code[2];
};

static const struct item items[] = {
	{"plain", "a", -1, 2, -3, 1234567, 4, 0.5f, 1.0625, 0.25, true, {0x48, 0x0f}},
	{"com,ma\x1b", "", 0, 0, 0, 0, 0, 0, NAN, -0.5, false, {0, 0}},
	{NULL, "longer", 7, 8, 9, 123, 10, 2, 11, 1, true, {1, 2}},
};

static struct cell get_code(const struct cell_at *at)
{
	const struct item *item = at->row;

	return cell_hex(item->code, item->code[0] ? sizeof(item->code) : 0);
}

static struct cell get_place(const struct cell_at *at)
{
	const struct item *item = at->row;

	return cell_printf(at->table, "%s:%u", (const char *)at->table->context,
			   item->small + at->column->argument);
}

#define FIELD(member, kind) COLUMN_FIELD(struct item, member, kind)

static void expect(struct text *text, const char *expected)
{
	assert_string_equal(text_string(text), expected);
	text_reset(text);
}

static void print(struct table *table, const struct column *columns, size_t n, int format)
{
	table->columns = columns;
	table->n_columns = n;
	table->format = format;
	table_header(table);
	for (size_t i = 0; i < ARRAY_SIZE(items); i++)
		table_row(table, &items[i]);
}

TEST(one_list_gives_three_forms)
{
	static const struct column columns[] = {
		{"Name", "name", FIELD(name, STRING), .width = 8, .none = "(none)"},
		{"Cycles", "cycles_per_iteration", FIELD(cycles, DOUBLE), .width = 7,
		 .flags = COLUMN_CYCLES, .none = "-"},
		{"Share", "share", FIELD(share, DOUBLE), .width = 7, .gap = 1, .decimals = 1,
		 .form = FORM_DECIMALS(3), .flags = COLUMN_PERCENT | COLUMN_SIGNED},
		{"Runs", "runs", FIELD(executions, UINT64), .width = 9,
		 .flags = COLUMN_SEPARATED | COLUMN_SKIP_ZERO},
		{"Code", "hex", .get = get_code, .flags = COLUMN_SKIP_EMPTY},
	};
	struct text text = {0};
	struct table table = {.out = &text, .schema = "tact.test/1", .kind = "item"};

	print(&table, columns, ARRAY_SIZE(columns), FORMAT_TEXT);
	expect(&text, "Name       Cycles   Share       Runs  Code\n"
		      "plain        1.06  +25.0%  1,234,567  480f\n"
		      "com,ma?         -  -50.0%\n"
		      "(none)      11.00 +100.0%        123  0102\n");
	print(&table, columns, ARRAY_SIZE(columns), FORMAT_CSV);
	expect(&text, "name,cycles_per_iteration,share,runs,hex\n"
		      "plain,1.0625,0.250,1234567,480f\n"
		      "\"com,ma\x1b\",,-0.500,,\n"
		      ",11.00,1.000,123,0102\n");
	print(&table, columns, ARRAY_SIZE(columns), FORMAT_JSON);
	expect(&text, "{\"schema\":\"tact.test/1\",\"kind\":\"item\",\"name\":\"plain\","
		      "\"cycles_per_iteration\":1.0625,\"share\":0.250,\"runs\":1234567,"
		      "\"hex\":\"480f\"}\n"
		      "{\"schema\":\"tact.test/1\",\"kind\":\"item\",\"name\":\"com,ma\\u001b\","
		      "\"share\":-0.500}\n"
		      "{\"schema\":\"tact.test/1\",\"kind\":\"item\","
		      "\"cycles_per_iteration\":11.00,\"share\":1.000,\"runs\":123,"
		      "\"hex\":\"0102\"}\n");
	table_fini(&table);
	text_free(&text);
}

TEST(every_field_is_read)
{
	static const struct column columns[] = {
		{"l", "l", FIELD(label, CHARS)},
		{"i", "i", FIELD(change, INT), .flags = COLUMN_SIGNED},
		{"u", "u", FIELD(small, UNSIGNED)},
		{"6", "6", FIELD(less, INT64)},
		{"z", "z", FIELD(blocks, SIZE)},
		{"f", "f", FIELD(weight, FLOAT), .decimals = -3, .form = FORM_DIGITS(2)},
		{"d", "d", FIELD(cycles, DOUBLE), .decimals = 4, .form = FORM_EXACT},
		{"b", "b", FIELD(is_loop, BOOL)},
		{"n", "n", .field = FIELD_NONE, .flags = COLUMN_NULL},
		{"p", "p", .get = get_place, .argument = 5},
	};
	struct text text = {0};
	struct table table = {.out = &text, .context = "here"};

	print(&table, columns, ARRAY_SIZE(columns), FORMAT_TEXT);
	expect(&text, "l  i  u  6  z  f  d  b  n  p\n"
		      "a  -1  2  -3  4  0.5  1.0625  yes    here:7\n"
		      "  +0  0  0  0  0    no    here:5\n"
		      "longer  +7  8  9  10  2  11.0000  yes    here:13\n");
	print(&table, columns, ARRAY_SIZE(columns), FORMAT_CSV);
	expect(&text, "l,i,u,6,z,f,d,b,n,p\n"
		      "a,-1,2,-3,4,0.5,1.0625,yes,,here:7\n"
		      ",0,0,0,0,0,,no,,here:5\n"
		      "longer,7,8,9,10,2,11,yes,,here:13\n");
	table.n_columns = ARRAY_SIZE(columns);
	table.format = FORMAT_JSON;
	table_row(&table, &items[0]);
	expect(&text, "{\"l\":\"a\",\"i\":-1,\"u\":2,\"6\":-3,\"z\":4,\"f\":0.5,\"d\":1.0625,"
		      "\"b\":true,\"n\":null,\"p\":\"here:7\"}\n");
	table_fini(&table);
	text_free(&text);
}

TEST(views_and_names_select_columns)
{
	static const struct column columns[] = {
		{"One", NULL, FIELD(small, UNSIGNED), .width = 3, .views = 1},
		{"Two", NULL, FIELD(small, UNSIGNED), .width = 5, .views = 2},
		{"Both", NULL, FIELD(label, CHARS), .views = 3},
		{NULL, "data", FIELD(small, UNSIGNED)},
	};
	struct text text = {0};
	struct table table = {
		.out = &text, .columns = columns, .n_columns = ARRAY_SIZE(columns), .view = 1};

	table_header(&table);
	table_row(&table, &items[0]);
	expect(&text, "One  Both\n  2  a\n");
	table.view = 2;
	table_header(&table);
	table_row(&table, &items[0]);
	expect(&text, "  Two  Both\n    2  a\n");
	table.format = FORMAT_CSV;
	table_header(&table);
	table_row(&table, &items[0]);
	expect(&text, "data\n2\n");
	text_free(&text);
}

TEST(columns_of_names_grow)
{
	static const struct column columns[] = {
		{"Name", "name", FIELD(name, STRING), .least = 6},
		{"Label", "label", FIELD(label, CHARS), .least = 4, .flags = COLUMN_RIGHT},
		{"Runs", "runs", FIELD(executions, UINT64), .width = 2, .flags = COLUMN_LEFT},
		{"Last", "last", FIELD(change, INT)},
	};
	struct text text = {0};
	struct table table = {.out = &text, .columns = columns, .n_columns = ARRAY_SIZE(columns)};

	for (size_t i = 0; i < ARRAY_SIZE(items); i++)
		table_fit(&table, &items[i]);
	assert_int_equal(text.size, 0);
	print(&table, columns, ARRAY_SIZE(columns), FORMAT_TEXT);
	expect(&text, "Name      Label  Runs  Last\n"
		      "plain         a  1234567  -1\n"
		      "com,ma?          0   0\n"
		      "         longer  123  7\n");
	text_free(&text);
}

static const struct item long_names[] = {
	{.name = "std::vector<int>::resize(unsigned long)", .blocks = 1, .change = 2, .small = 3},
	{.name = "main", .blocks = 10, .change = 20, .small = 30},
};

static void print_within(struct table *table, size_t screen, bool is_cut)
{
	table->screen = screen;
	table->is_cut = is_cut;
	for (size_t i = 0; i < ARRAY_SIZE(long_names); i++)
		table_fit(table, &long_names[i]);
	table_header(table);
	for (size_t i = 0; i < ARRAY_SIZE(long_names); i++)
		table_row(table, &long_names[i]);
}

TEST(a_narrow_screen_drops_columns_and_only_a_terminal_cuts_names)
{
	static const struct column columns[] = {
		{"Name", "name", FIELD(name, STRING), .least = 12},
		{"A", "a", FIELD(blocks, SIZE), .width = 8},
		{"B", "b", FIELD(change, INT), .width = 8, .rank = 2},
		{"C", "c", FIELD(small, UNSIGNED), .width = 8, .rank = 1},
	};
	struct text text = {0};
	struct table table = {.out = &text, .columns = columns, .n_columns = ARRAY_SIZE(columns)};

	print_within(&table, 0, true);
	expect(&text, "Name                                            A         B         C\n"
		      "std::vector<int>::resize(unsigned long)         1         2         3\n"
		      "main                                           10        20        30\n");
	print_within(&table, 42, true);
	expect(&text, "Name                 A         B         C\n"
		      "std::...ong)         1         2         3\n"
		      "main                10        20        30\n");
	text_free(&text);
}

TEST(what_is_dropped_first_has_the_highest_rank)
{
	static const struct column columns[] = {
		{"Name", "name", FIELD(name, STRING), .least = 12},
		{"A", "a", FIELD(blocks, SIZE), .width = 8},
		{"B", "b", FIELD(change, INT), .width = 8, .rank = 2},
		{"C", "c", FIELD(small, UNSIGNED), .width = 8, .rank = 1},
	};
	struct text text = {0};
	struct table table = {.out = &text, .columns = columns, .n_columns = ARRAY_SIZE(columns)};

	print_within(&table, 36, true);
	expect(&text, "Name                     A         C\n"
		      "std::ve... long)         1         3\n"
		      "main                    10        30\n");
	print_within(&table, 36, false);
	expect(&text, "Name                                            A         C\n"
		      "std::vector<int>::resize(unsigned long)         1         3\n"
		      "main                                           10        30\n");
	print_within(&table, 10, true);
	expect(&text, "Name                 A\n"
		      "std::...ong)         1\n"
		      "main                10\n");
	table.format = FORMAT_CSV;
	table_header(&table);
	expect(&text, "name,a,b,c\n");
	text_free(&text);
}

TEST(rows_nest_in_other_json)
{
	static const struct column columns[] = {
		{"Name", "name", FIELD(name, STRING)},
		{"Cycles", "cycles", FIELD(cycles, DOUBLE)},
		{"Text", NULL, FIELD(change, INT)},
	};
	struct text text = {0};
	struct table table = {.out = &text, .columns = columns, .n_columns = ARRAY_SIZE(columns)};
	struct json json = {.out = &text};

	json_begin_object(&json, NULL);
	json_begin_object(&json, "row");
	table_members(&table, &items[2], &json);
	json_end(&json);
	json_begin_array(&json, "values");
	table_values(&table, &items[2], &json);
	json_end_line(&json);
	expect(&text, "{\"row\":{\"cycles\":11.00},\"values\":[null,11.00]}\n");
	text_free(&text);
}

TEST(a_table_may_be_empty)
{
	struct text text = {0};
	struct table table = {.out = &text};

	table_header(&table);
	table_row(&table, &items[0]);
	expect(&text, "\n\n");
	table.format = FORMAT_JSON;
	table_header(&table);
	table_row(&table, &items[0]);
	expect(&text, "{}\n");
	table_fini(&table);
	table_fini(&table);
	text_free(&text);
}

RUN_TESTS(NULL, NULL)
