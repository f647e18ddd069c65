/* SPDX-License-Identifier: MIT
 *
 * The generator's validator: our own tables pass, and each kind of damage is found.
 * Runs $TACT_BUILD/gen/gen_tables (default: build).
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing.h"

#include "support.h"

#define VERSION "#tact-insn 1\n"
#define FIRST	VERSION "#src U a test\n"
#define COLUMNS                                                                                    \
	"form\tuops\tfused\tmite\tms\tdec\tports\tdiv\ttp\tlat\trf\twf\tfuse\tindexed\tsame\tsrc"  \
	"\n"
#define ADD                                                                                        \
	"ADD (R64, R64)\t1\t1\t1\t0\t-\t1*p0156\t-\t-\tr0>r0:1 "                                   \
	"r1>r0:1\t-\tACOPSZ\tB,NB,Z,NZ\t-\t-\tU\n"
#define SUB                                                                                        \
	"SUB (R64, M64)\t2\t1\t1\t0\t-\t1*p0156+1*p23\t-\t-\tm0.b>r0:6 "                           \
	"r0>r0:1\t-\tACOPSZ\t-\tfused=2\t-\tU\n"

/* A file of the directory `dir`; text NULL: it goes away. */
static void put_file(const char *dir, const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (!text) {
		unlink(path);
		return;
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void make_folder(const char *dir, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

/* A CPU with the required parameters; others can be appended. */
#define CPU                                                                                        \
	"#tact-arch 1\nisa = x86\norder = 1\nfull_name = X X X\n"                                  \
	"iq_size = 25 # uiCA\npredecode_width = 5 # uiCA\ndecoders = 4 # uiCA\n"                   \
	"dsb_width = 4 # uiCA\ndsb_window = 32 # uiCA\ndsb_lines = 3 # uiCA\n"                     \
	"dsb_line_uops = 6 # uiCA\nidq_size = 64 # uiCA\nissue_width = 4 # vendor\n"               \
	"rob_size = 200 # vendor\nrs_size = 90 # vendor\nretire_width = 4 # vendor\n"              \
	"port_binding = eight # uiCA\nload_latency = 5 # uiCA\nload_latency_vec = 6 # "            \
	"uiCA\nstore_forward = 4 # uiCA\n"                                                         \
	"store_blocked = 13 # uiCA\nstore_forward_vec = 5 # uiCA\nbranch_penalty = 16 # "          \
	"reported\n"                                                                               \
	"l1_kib = 32 # vendor\nl1_ways = 8 # vendor\nl2_kib = 256 # vendor\nl2_ways = 4 # "        \
	"vendor\n"                                                                                 \
	"l2_latency = 12 # reported\nl3_kib = 8192 # vendor\nl3_ways = 16 # vendor\n"              \
	"l3_latency = 40 # reported\nmemory_latency = 200 # reported\nports = 0,1,2,3 # vendor\n"  \
	"alu_ports = 0,1 # vendor\nvec_ports = 0,1 # vendor\nload_ports = 2 # vendor\n"            \
	"store_address_ports = 2 # vendor\nstore_data_ports = 3 # vendor\n"                        \
	"taken_branch_ports = 0 # vendor\n"

/* A directory with one CPU. */
static void make_data(char *dir, const char *table)
{
	strcpy(dir, "/tmp/tact_data_XXXXXX");
	assert_non_null(mkdtemp(dir));
	make_folder(dir, "insn");
	make_folder(dir, "arch");
	put_file(dir, "insn/XXX.tsv", table);
	put_file(dir, "arch/XXX.arch", CPU);
}

static void remove_data(const char *dir)
{
	static const char *const names[] = {"XXX", "YYY", "ZZZ"};
	static const char *const folders[] = {"insn", "arch"};
	char path[128];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "insn/%s.tsv", names[i]);
		put_file(dir, path, NULL);
		snprintf(path, sizeof(path), "arch/%s.arch", names[i]);
		put_file(dir, path, NULL);
	}
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, folders[i]);
		rmdir(path);
	}
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

TEST(our_tables_pass)
{
	char output[1024];

	if (check("data", "", output, sizeof(output)))
		fail_msg("%s", output);
	if (check("data", "RKL SNB", output, sizeof(output)))
		fail_msg("%s", output);
}

TEST(a_small_table_passes)
{
	char dir[64], output[1024];
	int status;

	make_data(dir, FIRST "# a comment\n" COLUMNS ADD SUB);
	status = check(dir, "XXX", output, sizeof(output));
	remove_data(dir);
	if (status)
		fail_msg("%s", output);
}

TEST(damage_is_found)
{
	static const struct {
		const char *what, *table, *message; /* a part of it */
	} rows[] = {
		{"no first line", COLUMNS ADD, ":1:"},
		{"unsorted", FIRST COLUMNS SUB ADD, ":5:"},
		{"twice", FIRST COLUMNS ADD ADD, ":5:"},
		{"a source that nothing explains", VERSION COLUMNS ADD, "'#src U ...'"},
		{"a source without a text", VERSION "#src U\n" COLUMNS ADD, "'#src LETTER"},
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

/* ---- files of CPUs ---- */

/* Status of the check with XXX.arch and, if they are given, YYY.arch and ZZZ.arch. */
static int check_cpus(const char *x, const char *y, const char *z, char *output, size_t size)
{
	char dir[64];
	int status;

	make_data(dir, FIRST COLUMNS ADD);
	put_file(dir, "arch/XXX.arch", x);
	if (y) {
		put_file(dir, "arch/YYY.arch", y);
		put_file(dir, "insn/YYY.tsv", VERSION "#base XXX\n" COLUMNS SUB);
	}
	if (z) {
		put_file(dir, "arch/ZZZ.arch", z);
		put_file(dir, "insn/ZZZ.tsv", VERSION "#base YYY\n");
	}
	status = check(dir, "", output, size);
	remove_data(dir);
	return status;
}

/* A file may be nothing but what differs, and its table nothing but the base. */
TEST(a_cpu_is_based_on_another)
{
	char output[1024];
	int status;

	status = check_cpus(CPU, "#tact-arch 1\nbase = XXX\norder = 2\nfull_name = Y\n",
			    "#tact-arch 1\n\n# ours\nbase = YYY\norder = 0\nfull_name = Z\n"
			    "issue_width = 6 # experiment: more\nnames = zed z80\n",
			    output, sizeof(output));
	if (status || !strstr(output, "3 architectures"))
		fail_msg("%d: %s", status, output);
}

TEST(bad_cpus_are_found)
{
	static const struct {
		const char *what, *x, *y, *message;
	} rows[] = {
		{"no first line", "isa = x86\n", NULL, "XXX.arch:1: the first line"},
		{"a base that is not there", "#tact-arch 1\nbase = QQQ\n", NULL,
		 "XXX.arch:2: cannot read"},
		{"a CPU based on itself", "#tact-arch 1\nbase = XXX\n", NULL,
		 "XXX.arch:2: XXX is based on itself"},
		{"a circle", "#tact-arch 1\nbase = YYY\n", "#tact-arch 1\nbase = XXX\n",
		 ".arch:2: "},
		{"a base too late", "#tact-arch 1\nisa = x86\nbase = YYY\n", NULL,
		 "XXX.arch:3: base must stand"},
		{"a base that is no name", "#tact-arch 1\nbase = ../X\n", NULL,
		 "XXX.arch:2: '../X'"},
		{"a value that is missing",
		 "#tact-arch 1\nisa = x86\norder = 1\nfull_name = X\nissue_width = 4 # vendor\n",
		 NULL, "has neither a value nor a default"},
		{"no instruction set", "#tact-arch 1\norder = 1\n", NULL, "XXX.arch:"},
		{"a value out of range", CPU "nop_fusion = 2 # vendor\n", NULL,
		 ": 2 is not in 0..1"},
		{"a value out of range has its line", "#tact-arch 1\n\nissue_width = 99 # vendor\n",
		 NULL, "XXX.arch:3: issue_width: 99"},
		{"no such choice", "#tact-arch 1\nport_binding = 8 # uiCA\n", NULL,
		 "XXX.arch:2: port_binding: '8' is none of: six eight"},
		{"no ports", "#tact-arch 1\nports = none # uiCA\n", NULL, "at least one port"},
		{"no number", "#tact-arch 1\nissue_width = four # vendor\n", NULL, "XXX.arch:2: "},
		{"an unknown parameter", "#tact-arch 1\nfrobs = 4 # vendor\n", NULL, "'frobs'"},
		{"no source", "#tact-arch 1\nissue_width = 4\n", NULL,
		 "XXX.arch:2: issue_width: '' does not begin with a source"},
		{"no such source", "#tact-arch 1\nissue_width = 4 # hearsay\n", NULL, "'hearsay'"},
		{"a parameter twice", CPU "issue_width = 4 # vendor\n", NULL, "second time"},
		{"a key twice", CPU "isa = x86\n", NULL, "second time"},
		{"no equals sign", "#tact-arch 1\nissue_width 4 # vendor\n", NULL, "XXX.arch:2: "},
		{"an order that is no number",
		 "#tact-arch 1\nbase = YYY\norder = new\nfull_name = X\n", CPU,
		 "'new' is not a number"},
		{"another name than the file's", CPU "name = YYY\n", NULL,
		 "name: the file says XXX"},
		{"no full name", "#tact-arch 1\nbase = YYY\norder = 2\n", CPU,
		 "full_name is missing"},
		{"no order", "#tact-arch 1\nbase = YYY\nfull_name = X\n", CPU, "order is missing"},
		{"a quote", "#tact-arch 1\nfull_name = \"X\"\n", NULL, "quotes"},
		{"a name of another CPU",
		 "#tact-arch 1\nbase = YYY\norder = 2\nfull_name = x X X\n", CPU, "both called"},
		{"one of its names is another CPU's",
		 "#tact-arch 1\nbase = YYY\norder = 2\nfull_name = X\nnames = a yyy\n", CPU,
		 "both called 'yyy'"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char output[1024];
		int status = check_cpus(rows[i].x, rows[i].y, NULL, output, sizeof(output));

		if (status != 1)
			fail_msg("%s: status %d", rows[i].what, status);
		if (!strstr(output, rows[i].message))
			fail_msg("%s: says '%s'", rows[i].what, output);
	}
}

TEST(usage_is_checked)
{
	char output[1024];

	assert_int_equal(check("/nonexistent", "SKL", output, sizeof(output)), 1);
	assert_int_equal(check("/nonexistent", "", output, sizeof(output)), 1);
	assert_int_equal(check("data", "QQQ", output, sizeof(output)), 1);
	assert_int_equal(check("", "", output, sizeof(output)), 2);
}

RUN_TESTS(NULL, NULL)
