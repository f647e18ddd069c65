/* SPDX-License-Identifier: MIT
 *
 * The generator's validator: our own tables pass, and each kind of damage is found.
 * Runs $TACT_BUILD/gen/gen_tables (default: build).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support.h"

#define FIRST "#tact-insn 1\n"
#define COLUMNS                                                                                    \
	"form\tuops\tfused\tmite\tms\tdec\tports\tdiv\ttp\tlat\trf\twf\tfuse\tindexed\tsame\tsrc"  \
	"\n"
#define ADD                                                                                        \
	"ADD (R64, R64)\t1\t1\t1\t0\t-\t1*p0156\t-\t-\tr0>r0:1 "                                   \
	"r1>r0:1\t-\tACOPSZ\tB,NB,Z,NZ\t-\t-\tU\n"
#define SUB                                                                                        \
	"SUB (R64, M64)\t2\t1\t1\t0\t-\t1*p0156+1*p23\t-\t-\tm0.b>r0:6 "                           \
	"r0>r0:1\t-\tACOPSZ\t-\tfused=2\t-\tU\n"

/* A directory with one table. */
static void make_data(char *dir, const char *table)
{
	char path[128];
	FILE *f;

	strcpy(dir, "/tmp/tact_data_XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/insn", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/insn/XXX.tsv", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(table, f);
	fclose(f);
}

static void remove_data(const char *dir)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/insn/XXX.tsv", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/insn", dir);
	rmdir(path);
	rmdir(dir);
}

/* Exit status of gen_tables --check; its messages go to `output`. */
static int check(const char *dir, const char *archs, char *output, size_t size)
{
	const char *build = getenv("TACT_BUILD");
	char command[512];
	size_t n;
	FILE *f;

	snprintf(command, sizeof(command), "%s/gen/gen_tables --check %s %s 2>&1",
		 build ? build : "build", dir, archs);
	f = popen(command, "r");
	assert_non_null(f);
	n = fread(output, 1, size - 1, f);
	output[n] = 0;
	return WEXITSTATUS(pclose(f));
}

static void our_tables_pass(void **state)
{
	char output[1024];

	(void)state;
	if (check("data", "SNB IVB HSW BDW SKL SKX KBL CFL CLX ICL ICX TGL RKL", output,
		  sizeof(output)))
		fail_msg("%s", output);
}

static void a_small_table_passes(void **state)
{
	char dir[64], output[1024];
	int status;

	(void)state;
	make_data(dir, FIRST "# a comment\n" COLUMNS ADD SUB);
	status = check(dir, "XXX", output, sizeof(output));
	remove_data(dir);
	if (status)
		fail_msg("%s", output);
}

static void damage_is_found(void **state)
{
	static const struct {
		const char *what, *table, *message; /* a part of it */
	} rows[] = {
		{"no first line", COLUMNS ADD, ":1:"},
		{"unsorted", FIRST COLUMNS SUB ADD, ":4:"},
		{"twice", FIRST COLUMNS ADD ADD, ":4:"},
		{"too few columns", FIRST COLUMNS "ADD (R64, R64)\t1\t1\n", "3 columns"},
		{"too many columns",
		 FIRST COLUMNS "ADD (R64)\t1\t1\t1\t0\t-\t1*p0\t-\t-\t-\t-\t-\t-\t-\t-\tU\tX\n",
		 "columns"},
		{"an empty column",
		 FIRST COLUMNS "ADD (R64)\t1\t\t1\t0\t-\t1*p0\t-\t-\t-\t-\t-\t-\t-\t-\tU\n",
		 "'fused' is empty"},
		{"no number",
		 FIRST COLUMNS "ADD (R64)\tone\t1\t1\t0\t-\t1*p0\t-\t-\t-\t-\t-\t-\t-\t-\tU\n",
		 "'one'"},
		{"a negative number",
		 FIRST COLUMNS "ADD (R64)\t-1\t1\t1\t0\t-\t1*p0\t-\t-\t-\t-\t-\t-\t-\t-\tU\n",
		 "'-1'"},
		{"no fused uop",
		 FIRST COLUMNS "ADD (R64)\t1\t0\t1\t0\t-\t1*p0\t-\t-\t-\t-\t-\t-\t-\t-\tU\n",
		 "at least 1"},
		{"a bad port",
		 FIRST COLUMNS "ADD (R64)\t1\t1\t1\t0\t-\t1*p0x\t-\t-\t-\t-\t-\t-\t-\t-\tU\n",
		 "'1*p0x' is not written as"},
		{"ports without a count",
		 FIRST COLUMNS "ADD (R64)\t1\t1\t1\t0\t-\tp01\t-\t-\t-\t-\t-\t-\t-\t-\tU\n",
		 "ports: "},
		{"a count of 0",
		 FIRST COLUMNS "ADD (R64)\t1\t1\t1\t0\t-\t0*p01\t-\t-\t-\t-\t-\t-\t-\t-\tU\n",
		 "ports: "},
		{"a bad decoder",
		 FIRST COLUMNS "ADD (R64)\t1\t1\t1\t0\tx3\t1*p0\t-\t-\t-\t-\t-\t-\t-\t-\tU\n",
		 "decoder"},
		{"a bad operand",
		 FIRST COLUMNS "ADD (R64)\t1\t1\t1\t0\t-\t1*p0\t-\t-\tx0>r0:1\t-\t-\t-\t-\t-\tU\n",
		 "lat: 'x0>r0:1'"},
		{"memory without its part",
		 FIRST COLUMNS "ADD (R64)\t1\t1\t1\t0\t-\t1*p0\t-\t-\tm0>r0:1\t-\t-\t-\t-\t-\tU\n",
		 "lat: 'm0>r0:1'"},
		{"a latency without cycles",
		 FIRST COLUMNS "ADD (R64)\t1\t1\t1\t0\t-\t1*p0\t-\t-\tr0>r0:\t-\t-\t-\t-\t-\tU\n",
		 "lat: 'r0>r0:'"},
		{"a bad flag",
		 FIRST COLUMNS "ADD (R64)\t1\t1\t1\t0\t-\t1*p0\t-\t-\t-\tQ\t-\t-\t-\t-\tU\n",
		 "'Q' is not a flag"},
		{"a bad condition",
		 FIRST COLUMNS "ADD (R64)\t1\t1\t1\t0\t-\t1*p0\t-\t-\t-\t-\t-\tXX\t-\t-\tU\n",
		 "condition"},
		{"an unknown key",
		 FIRST COLUMNS "ADD (R64)\t1\t1\t1\t0\t-\t1*p0\t-\t-\t-\t-\t-\t-\tfrobs=1\t-\tU\n",
		 "'frobs'"},
		{"a key without a value",
		 FIRST COLUMNS "ADD (R64)\t1\t1\t1\t0\t-\t1*p0\t-\t-\t-\t-\t-\t-\tfused\t-\tU\n",
		 "key=value"},
		{"a last line without its end", FIRST COLUMNS "ADD", "without its end"},
		{"a base that is not there", FIRST "#base YYY\n" COLUMNS ADD, "YYY.tsv"},
		{"a base in a circle", FIRST "#base XXX\n" COLUMNS ADD, "circle"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char dir[64], output[1024];
		int status;

		make_data(dir, rows[i].table);
		status = check(dir, "XXX", output, sizeof(output));
		remove_data(dir);
		if (status != 1)
			fail_msg("%s: status %d", rows[i].what, status);
		if (!strstr(output, rows[i].message))
			fail_msg("%s: says '%s'", rows[i].what, output);
	}
}

static void usage_is_checked(void **state)
{
	char output[1024];

	(void)state;
	assert_int_equal(check("/nonexistent", "SKL", output, sizeof(output)), 1);
	assert_int_equal(check("data", "QQQ", output, sizeof(output)), 1);
	assert_int_equal(check("", "", output, sizeof(output)), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(our_tables_pass),
		cmocka_unit_test(a_small_table_passes),
		cmocka_unit_test(damage_is_found),
		cmocka_unit_test(usage_is_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
