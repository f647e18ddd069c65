/* SPDX-License-Identifier: MIT
 *
 * Stores into files, and back.
 */
#include <unistd.h>

#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "support.h"

static const char content[] =
	"hex,record,app,weight,category,mode,init,model,arch,status,cycles_per_iteration,coverage,"
	"machine\n"
	"4801d8,source,zlib,2.5,,,,,,,,,\n"
	"4801d8,category,,,scalar,,,,,,,,\n"
	"4829d8,measurement,,,,unroll,same,,SKL,ok,1,,\"a machine, with a comma\"\n"
	"4831d8,prediction,,,,loop,diff,facile,SKL,ok,1.25,1,\n"
	"90,block,,,,,,,,,,,\n";

static void make_path(char path[60], const char *suffix)
{
	snprintf(path, 60, "/tmp/tact-export-%d%s", (int)getpid(), suffix);
	unlink(path);
}

static struct tact_store *make_store(const char *text, size_t size, const char *name)
{
	char csv[60], path[60];
	struct tact_imported n;
	struct tact_diag diag = {0};
	struct tact_store *store;
	FILE *file;

	make_path(csv, ".csv");
	make_path(path, name);
	file = fopen(csv, "w");
	fwrite(text, 1, size, file);
	fclose(file);
	assert_int_equal(tact_store_open(&store, path, TACT_STORE_CREATE, NULL), 0);
	if (tact_store_import_file(store, csv, NULL, &n, &diag) < 0 || n.bad)
		fail_msg("%s", diag.text);
	unlink(csv);
	unlink(path); /* it stays open */
	return store;
}

static size_t lines_of(struct text *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->size; i++)
		n += t->data[i] == '\n';
	return n;
}

static void export(struct tact_store *store, const struct tact_export_options *opt, struct text *to)
{
	struct tact_diag diag = {0};

	text_reset(to);
	if (tact_store_export(store, opt, collect_text, to, &diag))
		fail_msg("%s", diag.text);
	assert_non_null(text_string(to));
}

/* What comes out goes in again and comes out the same. */
TEST(test_round)
{
	struct tact_store *store = make_store(content, sizeof(content) - 1, "a.db"), *again;
	struct text first = {0}, second = {0};

	export(store, NULL, &first);
	/* A header, a source, a category, a measurement, a prediction, a block alone. */
	assert_int_equal(lines_of(&first), 6);
	assert_non_null(strstr(first.data, "4801d8,source,zlib,2.5"));
	assert_non_null(strstr(first.data, "\"a machine, with a comma\""));
	assert_non_null(strstr(first.data, "90,block,"));
	again = make_store(first.data, first.size, "b.db");
	export(again, NULL, &second);
	assert_string_equal(first.data, second.data);
	text_free(&first);
	text_free(&second);
	tact_store_close(store);
	tact_store_close(again);
}

/* Rounds of a file are kept, whoever made them. */
TEST(test_rounds)
{
	static const char rounds[] = "app,hex,cycles,rounds,agree,flags,clean\n"
				     "zlib,4801d8,1.0,8,5,-,1\n"
				     "zlib,4829d8,1.5,,,-,1\n";
	static const char full[] =
		"hex,cycles,alignment,rounds,agree,disturbed,cpu,memory,vectors\n"
		"4801d8,1,16,4,3,1,7,float,ordinary\n"
		"4829d8,1,,,2,,Zen,int,zero\n";
	struct tact_store *store = make_store(rounds, sizeof(rounds) - 1, "a.db"), *again;
	struct text first = {0}, second = {0};

	export(store, NULL, &first);
	assert_non_null(strstr(first.data, ",0,8,5,0,,pointer,zero,"));
	assert_non_null(strstr(first.data, ",0,,,,,pointer,zero,")); /* not known */
	again = make_store(first.data, first.size, "b.db");
	export(again, NULL, &second);
	assert_string_equal(first.data, second.data);
	tact_store_close(store);
	tact_store_close(again);
	store = make_store(full, sizeof(full) - 1, "a.db");
	export(store, NULL, &first);
	assert_non_null(strstr(first.data, ",16,4,3,1,7,float,ordinary,,\n"));
	assert_non_null(strstr(first.data, ",0,2,2,0,,int,zero,,\n"));
	again = make_store(first.data, first.size, "b.db");
	export(again, NULL, &second);
	assert_string_equal(first.data, second.data);
	text_free(&first);
	text_free(&second);
	tact_store_close(store);
	tact_store_close(again);
}

TEST(test_kinds)
{
	static const size_t wanted[] = {
		[TACT_EXPORT_ALL] = 5,	       [TACT_EXPORT_BLOCK] = 4,
		[TACT_EXPORT_SOURCE] = 1,      [TACT_EXPORT_CATEGORY] = 1,
		[TACT_EXPORT_MEASUREMENT] = 1, [TACT_EXPORT_PREDICTION] = 1,
	};
	struct tact_store *store = make_store(content, sizeof(content) - 1, "a.db");
	struct tact_store_filter filter = {.size = sizeof(filter), .arch = "ZEN4"};
	struct tact_export_options opt = {.size = sizeof(opt), .is_json = true};
	struct text text = {0};

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		opt.kind = (enum tact_export_kind)i;
		export(store, &opt, &text);
		assert_int_equal(lines_of(&text), wanted[i]);
		assert_memory_equal(text.data, "{\"schema\":\"tact.dataset/1\",\"hex\":\"", 34);
	}
	/* No row is of that CPU; everything else about the blocks remains. */
	opt.kind = TACT_EXPORT_MEASUREMENT;
	opt.filter = &filter;
	export(store, &opt, &text);
	assert_int_equal(text.size, 0);
	text_free(&text);
	tact_store_close(store);
}

TEST(test_bad)
{
	struct tact_store *store = make_store(content, sizeof(content) - 1, "a.db");
	struct tact_export_options opt = {.size = sizeof(opt), .kind = 99};
	int calls = 0;

	assert_int_equal(tact_store_export(NULL, NULL, stop_at_once, &calls, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_store_export(store, NULL, NULL, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_store_export(store, &opt, stop_at_once, &calls, NULL), -TACT_E_INVAL);
	assert_int_equal(calls, 0);
	assert_int_equal(tact_store_export(store, NULL, stop_at_once, &calls, NULL), 0);
	assert_int_equal(calls, 1);
	tact_store_close(store);
}

TEST(test_empty)
{
	struct tact_store *store = make_store("hex\n", 4, "a.db");
	struct text text = {0};

	export(store, NULL, &text);
	assert_int_equal(lines_of(&text), 1);
	text_free(&text);
	tact_store_close(store);
}

RUN_TESTS(NULL, NULL)
