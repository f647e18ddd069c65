/* SPDX-License-Identifier: MIT
 *
 * What the columns of CSV files mean for blocks.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include <tact-program/dataset.h>

#include "support.h"
/* ---- records ---- */

static struct tact_records *open_records(const char *text, const struct tact_records_options *opt)
{
	struct tact_records *records;
	struct tact_diag diag = {0};

	if (tact_records_open_memory(&records, text, strlen(text), opt, &diag) < 0)
		fail_msg("%s", diag.text);
	return records;
}

static void next(struct tact_records *records, struct tact_record *record)
{
	struct tact_diag diag = {0};

	if (tact_records_next(records, record, &diag) != 1)
		fail_msg("%s", diag.text);
}

TEST(hex_list)
{
	struct tact_records *records = open_records("4801d8\n0x90\n# x\n4\n90 90\n", NULL);
	struct tact_record r;
	struct tact_diag diag;

	assert_string_equal(tact_records_description(records), "hex list");
	next(records, &r);
	assert_int_equal(r.code_size, 3);
	assert_false(r.has_source || r.has_category || r.has_measurement || r.has_prediction);
	next(records, &r);
	assert_int_equal(r.code_size, 1);
	assert_int_equal(tact_records_next(records, &r, &diag), -TACT_E_FORMAT);
	assert_int_equal(diag.line, 4);
	assert_int_equal(tact_records_next(records, &r, &diag), -TACT_E_FORMAT);
	assert_int_equal(tact_records_next(records, &r, &diag), 0);
	tact_records_close(records);
}

/* Two columns without a header: weights, BHive's cycles, or cycles if the options say so. */
TEST(without_header)
{
	struct tact_records_options opt = {.size = sizeof(opt), .origin = "gzip.csv"};
	struct tact_records *records = open_records("90,0.5\n4801d8,\n", &opt);
	struct tact_record r;

	next(records, &r);
	assert_true(r.has_source && !r.has_measurement);
	assert_string_equal(r.app, "gzip");
	assert_true(r.weight == 0.5);
	next(records, &r);
	assert_true(r.has_source && isnan(r.weight));
	tact_records_close(records);

	records = open_records("90,25\n4801d8,100.5\n", &opt);
	assert_non_null(strstr(tact_records_description(records), "100 iterations"));
	next(records, &r);
	assert_true(r.has_measurement && !r.has_source);
	assert_true(r.measurement.cycles_per_iteration == 0.25);
	assert_string_equal(r.import.origin, "gzip.csv");
	assert_int_equal(r.measurement.mode, TACT_MODE_UNROLL);
	next(records, &r);
	assert_true(r.measurement.cycles_per_iteration == 1.005);
	tact_records_close(records);

	opt.unit = TACT_UNIT_ITERATION;
	records = open_records("90,0.25\n", &opt);
	next(records, &r);
	assert_true(r.has_measurement && r.measurement.cycles_per_iteration == 0.25);
	tact_records_close(records);

	opt.unit = TACT_UNIT_AUTO;
	opt.is_second_weight = true;
	records = open_records("90,25\n", &opt);
	next(records, &r);
	assert_true(r.has_source && r.weight == 25);
	tact_records_close(records);
}

TEST(measured_columns)
{
	struct tact_records *records =
		open_records("app,HEX,hex_loop,cycles,cv,flags,clean,unknown\n"
			     "gzip,4801d8,4801d849ffcf75f8,1.5,0.01,LM,1,x\n"
			     ",90,,2,,-,,\n"
			     "a,90,,,,,,\n"
			     "a,90,,-1,,,,\n"
			     "a,90,,nan,,,,\n"
			     "a,90,,1,,,2,\n"
			     "a,90,4,1,,,,\n"
			     "a\n",
			     NULL);
	struct tact_record r;

	assert_non_null(strstr(tact_records_description(records), "ignored: unknown"));
	assert_true(tact_records_has_cycles(records));
	next(records, &r);
	assert_string_equal(r.app, "gzip");
	assert_int_equal(r.measurement.mode, TACT_MODE_LOOP);
	assert_true(r.measurement.spread == 0.01 && r.import.has_spread);
	assert_string_equal(r.import.flags, "LM");
	assert_int_equal(r.import.clean, TACT_CLEAN_YES);
	assert_int_equal(r.import.loop_size, 8);
	assert_int_equal(r.line, 2);
	next(records, &r);
	assert_false(r.has_source || r.import.has_spread);
	assert_int_equal(r.import.clean, TACT_CLEAN_UNKNOWN);
	next(records, &r);
	assert_true(r.has_source && !r.has_measurement);
	for (uint64_t line = 5; line <= 9; line++) {
		struct tact_diag diag = {0};

		/* The last one has no hex digits. */
		assert_int_equal(tact_records_next(records, &r, &diag),
				 line < 9 ? -TACT_E_FORMAT : -TACT_E_NO_DATA);
		assert_int_equal(diag.line, line);
	}
	assert_int_equal(tact_records_next(records, &r, NULL), 0);
	tact_records_close(records);
}

TEST(columns_of_rounds)
{
	static const char *const bad[] = {
		"90,1,x,1,,,\n",   "90,1,2,-1,,,\n",	"90,1,2,3,,,\n",	"90,1,2,2,,9,\n",
		"90,1,1,1,64,,\n", "90,1,1,1,,,fire\n", "90,1,12345678,1,,,\n",
	};
	struct tact_records *records = open_records("hex,cycles,rounds,agree,cpu,memory\n"
						    "90,1,8,5,3,float\n"
						    "90,1,,,,\n",
						    NULL);
	struct tact_record r;

	next(records, &r);
	assert_int_equal(r.measurement.rounds, 8);
	assert_int_equal(r.measurement.agree, 5);
	assert_int_equal(r.measurement.cpu, 3);
	assert_int_equal(r.measurement.memory, TACT_CONTENTS_FLOAT);
	next(records, &r);
	assert_int_equal(r.measurement.rounds, 0);
	assert_int_equal(r.measurement.cpu, -1);
	assert_int_equal(r.measurement.memory, TACT_CONTENTS_POINTER);
	assert_int_equal(r.measurement.vectors, TACT_VECTORS_ZERO);
	tact_records_close(records);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char text[160];

		snprintf(text, sizeof(text),
			 "hex,cycles,rounds,agree,alignment,disturbed,vectors\n%s", bad[i]);
		records = open_records(text, NULL);
		if (tact_records_next(records, &r, NULL) != -TACT_E_FORMAT)
			fail_msg("taken: %s", bad[i]);
		tact_records_close(records);
	}
}

TEST(own_formats)
{
	struct tact_records_options opt = {.size = sizeof(opt)};
	struct tact_records *records =
		open_records("hex,mode,status,cycles_per_iteration,spread,kept,dropped,rung,flags,"
			     "reason,init,low,"
			     "high,pages\n"
			     "90,loop,ok,1,0.1,7,8,tsc,LX,,stack,10,20,3\n"
			     "0f05,unroll,refused,,,0,0,tsc,-,\"a, b\",same,0,0,0\n",
			     NULL);
	struct tact_record r;
	struct tact_diag diag;

	next(records, &r);
	assert_int_equal(r.measurement.mode, TACT_MODE_LOOP);
	assert_int_equal(r.measurement.init, TACT_INIT_STACK);
	assert_int_equal(r.measurement.rung, TACT_RUNG_TSC);
	assert_int_equal(r.measurement.kept + r.measurement.high, 27);
	assert_int_equal(r.measurement.flags, TACT_MFLAG_CROSSES_LINE | TACT_MFLAG_ALIAS_PAGE);
	next(records, &r);
	assert_int_equal(r.measurement.status, TACT_MEASURE_REFUSED);
	assert_string_equal(r.measurement.reason, "a, b");
	tact_records_close(records);

	records = open_records(
		"hex,arch,mode,status,cycles_per_iteration,coverage,predec,bottlenecks\n"
		"90,SKL,unroll,ok,0.25,1,1,Issue\n"
		"06,SKL,,decode,,,,\n",
		NULL);
	assert_true(tact_records_has_predictions(records));
	next(records, &r);
	assert_true(r.has_prediction && !r.has_measurement);
	assert_string_equal(r.prediction.model, "facile");
	assert_string_equal(r.prediction.bottlenecks, "Issue");
	next(records, &r);
	assert_string_equal(r.prediction.status, "decode");
	tact_records_close(records);

	/* whose predictions? */
	assert_int_equal(tact_records_open_memory(&records,
						  "hex,coverage,bottlenecks,"
						  "facile_cycles_per_iteration\n",
						  52, NULL, &diag),
			 -TACT_E_INVAL);
	opt.model = "sim";
	opt.arch = "SKL";
	records = open_records("hex,coverage,bottlenecks,cycles_per_iteration,"
			       "facile_cycles_per_iteration\n90,1,,2,3\n",
			       &opt);
	next(records, &r);
	assert_string_equal(r.prediction.model, "sim");
	assert_string_equal(r.prediction.arch, "SKL");
	assert_true(r.prediction.cycles_per_iteration == 2);
	tact_records_close(records);
}

TEST(not_records)
{
	static const char *const texts[] = {"",
					    "# only a remark\n",
					    "name,cycles\nx,1\n",
					    "mov rax, rbx\n",
					    "hex,hex\n90,90\n",
					    "hex,cycles,cycles_per_iteration\n"};
	struct tact_records_options opt = {.size = sizeof(opt), .unit = 9};
	struct tact_records *records;
	char name[100];

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_int_equal(
			tact_records_open_memory(&records, texts[i], strlen(texts[i]), NULL, NULL),
			-TACT_E_FORMAT);
	assert_int_equal(tact_records_open_memory(&records, "90\n", 3, &opt, NULL), -TACT_E_INVAL);
	opt.unit = TACT_UNIT_AUTO;
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	opt.app = name;
	assert_int_equal(tact_records_open_memory(&records, "90\n", 3, &opt, NULL), -TACT_E_INVAL);
	tact_records_close(NULL);
}

RUN_TESTS(NULL, NULL)
