/* SPDX-License-Identifier: MIT
 *
 * Instruction data from parameter files.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "support.h"

#include "arch/arch.h"

static const char imul[] = "IMUL (R64, R64)";

static int derive(struct tact_arch **arch, const char *text, struct tact_diag *diag)
{
	return derive_from_text(arch, "SKL", text, diag);
}

static double cycles_of(const struct tact_arch *arch, const char *hex)
{
	const struct tact_block_options opt = {.size = sizeof(opt), .mode = TACT_MODE_UNROLL};
	struct tact_block *block;
	struct tact_prediction p = {.size = sizeof(p)};
	uint8_t code[64];
	size_t size = bytes_of(code, sizeof(code), hex);

	assert_int_equal(tact_block_create(&block, arch, &opt, NULL), 0);
	assert_int_equal(tact_block_load(block, code, size, NULL), 0);
	assert_int_equal(tact_predict(block, NULL, &p), 0);
	tact_block_destroy(block);
	return p.cycles_per_iteration;
}

static void lines_count(void **state)
{
	struct tact_arch *arch;

	(void)state;
	assert_true(cycles_of(tact_arch_find("SKL"), "480fafc3") == 3);
	assert_int_equal(derive(&arch,
				"# learned\n"
				"issue_width = 4\n"
				"IMUL (R64, R64)\tplain\tlat=r0>r0:7,r1>r0:7 ports=2*p1\n",
				NULL),
			 0);
	assert_true(cycles_of(arch, "480fafc3") == 7);
	assert_true(cycles_of(arch, "480fafc3 480fafcb") == 7);
	assert_true(cycles_of(arch, "480fafc3 480fafcb 480fafd3 480faff3") == 8);
	assert_true(cycles_of(tact_arch_find("SKL"), "480fafc3") == 3);
	tact_arch_destroy(arch);
}

static void bad_lines(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{"NO SUCH (FORM)\tplain\tuops=1\n", "unknown form"},
		{"IMUL (R64, R64)\tindexed\tuops=1\n", "has no data"},
		{"IMUL (R64, R64)\tplain\tuops\n", "key=value"},
		{"IMUL (R64, R64)\tplain\tuops=\n", "key=value"},
		{"IMUL (R64, R64)\tplain\tuops=-1\n", "not a number"},
		{"IMUL (R64, R64)\tplain\tuops=99999999\n", "not a number"},
		{"IMUL (R64, R64)\tplain\tfused=0\n", "not a number"},
		{"IMUL (R64, R64)\tplain\tspeed=1\n", "unknown key"},
		{"IMUL (R64, R64)\tplain\tports=1*q1\n", "ports"},
		{"IMUL (R64, R64)\tplain\tports=0*p1\n", "ports"},
		{"IMUL (R64, R64)\tplain\tports=1*p\n", "ports"},
		{"IMUL (R64, R64)\tplain\tports=1*p1+\n", "ports"},
		{"IMUL (R64, R64)\tplain\tlat=r0>r0\n", "lat"},
		{"IMUL (R64, R64)\tplain\tlat=m0>r0:1\n", "lat"},
		{"IMUL (R64, R64)\tplain\tlat=r0>r0:1,\n", "lat"},
		{"IMUL (R64, R64)\tsometimes\tuops=1\n", "'name = value' expected"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tact_arch *arch = NULL;
		struct tact_diag diag = {0};
		char text[200];

		snprintf(text, sizeof(text), "# first\n%s", cases[i].text);
		assert_int_equal(derive(&arch, text, &diag), -TACT_E_FORMAT);
		if (!strstr(diag.text, cases[i].why) && i + 1 < ARRAY_SIZE(cases))
			fail_msg("%s: %s", cases[i].text, diag.text);
		assert_int_equal(diag.line, 2);
		assert_null(arch);
	}
}

/* What is written reads as the same, and only what differs is written. */
static void files_come_back(void **state)
{
	char path[] = "/tmp/tact_params_XXXXXX", text[4096] = "", lists[2][2048];
	struct tact_arch *arch, *again;
	struct arch_view view;
	struct arch_own *own;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(tact_arch_copy(&arch, tact_arch_find("SKL")), 0);
	assert_non_null(
		arch_own_of(arch, tact_isa_form_find(tact_isa_default(), "NEG (R64)"), ARCH_PLAIN));
	own = arch_own_of(arch, tact_isa_form_find(tact_isa_default(), imul), ARCH_PLAIN);
	assert_non_null(own);
	own->latency[0].cycles = 11;
	own->ports[0].mask = 0x61;
	own->variant.fused = 3;
	arch->params.issue_width = 5;
	arch_changed(arch);
	assert_int_equal(tact_arch_save(arch, path, "one\ntwo", NULL), 0);
	fd = open(path, O_RDONLY); /* another file than before */
	assert_true(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	assert_non_null(strstr(text, "# one\n# two\nissue_width = 5\nIMUL (R64, R64)\tplain\t"));
	assert_null(strstr(text, "NEG"));
	assert_int_equal(tact_arch_derive(&again, tact_arch_find("SKL"), path, NULL), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(arch_view_of(i ? again : arch,
					 tact_isa_form_find(tact_isa_default(), imul), ARCH_PLAIN,
					 &view));
		assert_int_equal(arch_view_print(&view, lists[i], sizeof(lists[i])), 0);
	}
	assert_string_equal(lists[0], lists[1]);
	tact_arch_destroy(arch);
	tact_arch_destroy(again);
	assert_int_equal(tact_arch_save(tact_arch_find("SKL"), "/no/such/place", NULL, NULL),
			 -TACT_E_IO);
	assert_int_equal(tact_arch_save(NULL, path, NULL, NULL), -TACT_E_INVAL);
	unlink(path);
}

/* A block notices that its architecture has changed. */
static void blocks_notice(void **state)
{
	struct tact_prediction p = {.size = sizeof(p)};
	struct tact_block *block;
	struct tact_arch *arch;
	uint8_t code[16];
	size_t size = bytes_of(code, sizeof(code), "480fafc3");

	(void)state;
	assert_int_equal(tact_arch_copy(&arch, tact_arch_find("SKL")), 0);
	assert_int_equal(tact_block_create(&block, arch, NULL, NULL), 0);
	for (unsigned cycles = 3; cycles < 9; cycles++) {
		struct arch_own *own =
			arch_own_of(arch, tact_isa_form_find(tact_isa_default(), imul), ARCH_PLAIN);

		for (unsigned i = 0; own->latency[i].from != ARCH_OP_END; i++)
			own->latency[i].cycles = (uint16_t)cycles;
		arch_changed(arch);
		assert_int_equal(tact_block_load(block, code, size, NULL), 0);
		assert_int_equal(tact_predict(block, NULL, &p), 0);
		assert_true(p.cycles_per_iteration == cycles);
	}
	tact_block_destroy(block);
	tact_arch_destroy(arch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_count),
		cmocka_unit_test(bad_lines),
		cmocka_unit_test(files_come_back),
		cmocka_unit_test(blocks_notice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
