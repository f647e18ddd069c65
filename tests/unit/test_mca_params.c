/* SPDX-License-Identifier: MIT
 *
 * Parameters of the machine of llvm-mca: defaults, bounds, files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "support.h"

#include <tact/mca.h>

#include "mca/mca.h"

/* ---- parameters ---- */

static void defaults_are_within_bounds(void **state)
{
	const struct tact_arch *arch = NULL;

	(void)state;
	while ((arch = tact_arch_next(arch))) {
		struct tact_mca_params *params;

		assert_int_equal(tact_mca_params_create(&params, arch, NULL), 0);
		assert_ptr_equal(tact_mca_params_arch(params), arch);
		for (unsigned kind = 0; kind < TACT_MCA_N_KINDS; kind++) {
			const struct tact_mca_info *info = tact_mca_get_info(kind);
			unsigned n = info->global ? 1 : tact_isa_form_count(tact_isa_default());

			for (unsigned at = 0; at < n * info->count; at++) {
				unsigned form = at / info->count, index = at % info->count;
				int value, again;

				assert_int_equal(tact_mca_get(params, form, kind, index, &value),
						 0);
				assert_in_range(value, info->low, info->high);
				assert_int_equal(tact_mca_default(arch, form, kind, index, &again),
						 0);
				assert_int_equal(value, again);
				if (kind == TACT_MCA_PORT_CYCLES && value && index != 9)
					assert_true(tact_arch_ports(arch) >> index & 1);
			}
		}
		tact_mca_params_destroy(params);
	}
	assert_null(tact_mca_get_info(TACT_MCA_N_KINDS));
}

static void defaults_of_known_forms(void **state)
{
	static const struct {
		const char *form;
		int micro_ops, latency, port[TACT_MCA_PORTS];
	} cases[] = {
		{"ADD_01 (R64, R64)", 1, 1, {0}},	   /* 1*p0156: no port is held */
		{"IMUL (R64, R64)", 1, 3, {0, 1}},	   /* 1*p1 */
		{"MOV (R64, M64)", 1, 5, {0}},		   /* 1*p23 */
		{"MOV (M64, R64)", 1, 1, {0, 0, 0, 0, 1}}, /* 1*p237+1*p4; makes no register */
		{"VDIVPS (XMM, XMM, XMM)",
		 1,
		 10,
		 {1, [9] = 7}}, /* 1*p0; the divider for 7 cycles */
		{"ADD_LOCK (M64, R64)", 8, 17, {2, 1, 1, 1, 1, 1, 2, [9] = 19}},
		{"MOV_89 (R64, R64)", 1, 0, {0}}, /* eliminated */
		{"JNZ (Rel8)", 1, 1, {[6] = 1}},
	};
	const struct tact_arch *arch = tact_arch_find("HSW");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct mca_form f;

		mca_form_derive(&f, arch, tact_isa_form_find(tact_isa_default(), cases[i].form));
		assert_int_equal(f.micro_ops, cases[i].micro_ops);
		assert_int_equal(f.latency, cases[i].latency);
		for (unsigned p = 0; p < TACT_MCA_PORTS; p++) {
			assert_int_equal(f.port[p], cases[i].port[p]);
			assert_int_equal(f.ports >> p & 1, cases[i].port[p] > 0);
		}
	}
}

static void values_out_of_bounds(void **state)
{
	struct tact_mca_params *params;
	int value;

	(void)state;
	assert_int_equal(tact_mca_params_create(&params, tact_arch_find("SKL"), NULL), 0);
	for (unsigned kind = 0; kind < TACT_MCA_N_KINDS; kind++) {
		const struct tact_mca_info *info = tact_mca_get_info(kind);

		for (unsigned i = 0; i < info->count; i++) {
			assert_int_equal(tact_mca_set(params, 7, kind, i, info->high), 0);
			assert_int_equal(tact_mca_get(params, 7, kind, i, &value), 0);
			assert_int_equal(value, info->high);
			assert_int_equal(tact_mca_set(params, 7, kind, i, info->low), 0);
			assert_int_equal(tact_mca_set(params, 7, kind, i, info->low - 1),
					 -TACT_E_LIMIT);
			assert_int_equal(tact_mca_set(params, 7, kind, i, info->high + 1),
					 -TACT_E_LIMIT);
		}
		assert_int_equal(tact_mca_set(params, 7, kind, info->count, 1), -TACT_E_INVAL);
		assert_int_equal(tact_mca_get(params, 7, kind, info->count, &value), -TACT_E_INVAL);
	}
	assert_int_equal(tact_mca_set(params, tact_isa_form_count(tact_isa_default()), 0, 0, 1),
			 -TACT_E_INVAL);
	assert_int_equal(tact_mca_get(params, TACT_FORM_NONE, 0, 0, &value), -TACT_E_INVAL);
	assert_int_equal(tact_mca_get(params, 0, TACT_MCA_N_KINDS, 0, &value), -TACT_E_INVAL);
	assert_int_equal(tact_mca_get(params, 0, 0, 0, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mca_set(NULL, 0, 0, 0, 1), -TACT_E_INVAL);
	assert_int_equal(tact_mca_default(NULL, 0, 0, 0, &value), -TACT_E_INVAL);
	tact_mca_params_destroy(params);
}

/* ---- files ---- */

static void make_file(char *path, const char *text, size_t length)
{
	int fd;

	strcpy(path, "/tmp/tact-mca-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, length), length);
	close(fd);
}

static void round_trip(void **state)
{
	struct tact_mca_params *params, *loaded, *copy;
	struct tact_diag diag;
	struct rng rng = {3};
	char path[40];

	(void)state;
	assert_int_equal(tact_mca_params_create(&params, tact_arch_find("HSW"), NULL), 0);
	assert_int_equal(tact_mca_params_create(&loaded, tact_arch_find("HSW"), NULL), 0);
	make_file(path, "", 0);
	assert_int_equal(tact_mca_params_save(params, path, NULL, &diag), 0);
	tact_mca_set(loaded, 0, TACT_MCA_LATENCY, 0, 77);
	assert_int_equal(tact_mca_params_load(loaded, path, &diag), 0); /* the defaults again */
	assert_memory_equal(params, loaded, sizeof(*params));
	for (unsigned i = 0; i < params->n_forms; i++)
		assert_true(mca_form_equal(&params->forms[i], &loaded->forms[i]));
	for (unsigned n = 0; n < 5000; n++) {
		unsigned kind = rng_below(&rng, TACT_MCA_N_KINDS);
		const struct tact_mca_info *info = tact_mca_get_info(kind);

		assert_int_equal(
			tact_mca_set(params,
				     rng_below(&rng, tact_isa_form_count(tact_isa_default())), kind,
				     rng_below(&rng, info->count),
				     info->low + (int)rng_below(&rng, 200)),
			0);
	}
	assert_int_equal(tact_mca_params_save(params, path, "trained on\nnothing", &diag), 0);
	assert_int_equal(tact_mca_params_load(loaded, path, &diag), 0);
	assert_int_equal(tact_mca_params_copy(&copy, params, NULL), 0);
	assert_int_equal(loaded->dispatch_width, copy->dispatch_width);
	assert_int_equal(loaded->reorder_buffer, copy->reorder_buffer);
	for (unsigned i = 0; i < params->n_forms; i++)
		assert_true(mca_form_equal(&copy->forms[i], &loaded->forms[i]));
	unlink(path);
	tact_mca_params_destroy(params);
	tact_mca_params_destroy(loaded);
	tact_mca_params_destroy(copy);
}

#define MAGIC "#tact-mca 1\n"
#define ADD   "ADD_01 (R64, R64)"
#define GOOD  ADD "\t1\t1\t0,0,0\t0,0,0,0,0,0,0,0,0,0\n"

static void what_files_may_say(void **state)
{
	static const struct {
		const char *text;
		int status;
		unsigned line;
	} cases[] = {
		{MAGIC, 0, 0},
		{"#tact-mca 1", 0, 0},
		{"#tact-mca 1\r\n\r\ndispatch_width = 6\r\n", 0, 0},
		{MAGIC "# a comment\n\n" GOOD "reorder_buffer=100 # behind\n", 0, 0},
		{MAGIC "arch = HSW\narch = haswell\n", 0, 0},
		{"", TACT_E_FORMAT, 1},
		{"\n", TACT_E_FORMAT, 1},
		{"dispatch_width = 4\n", TACT_E_FORMAT, 1},
		{"#tact-mca one\n", TACT_E_FORMAT, 1},
		{"#tact-mca 2\n", TACT_E_VERSION, 1},
		{"#tact-mca 11\n", TACT_E_VERSION, 1},
		{MAGIC "arch = SKL\n", TACT_E_FORMAT, 2},
		{MAGIC "arch = Z80\n", TACT_E_FORMAT, 2},
		{MAGIC "dispatch_width = 0\n", TACT_E_FORMAT, 2},
		{MAGIC "dispatch_width = 257\n", TACT_E_FORMAT, 2},
		{MAGIC "dispatch_width = four\n", TACT_E_FORMAT, 2},
		{MAGIC "dispatch_width = -4\n", TACT_E_FORMAT, 2},
		{MAGIC "dispatch_width = 4,4\n", TACT_E_FORMAT, 2},
		{MAGIC "dispatch_width =\n", TACT_E_FORMAT, 2},
		{MAGIC "dispatch_width\n", TACT_E_FORMAT, 2},
		{MAGIC "dispatch_width = 4\ndispatch_width = 4\n", TACT_E_FORMAT, 3},
		{MAGIC "\nreorder_buffer = 0\n", TACT_E_FORMAT, 3},
		{MAGIC "reorder_buffer = 99999999999999999999\n", TACT_E_FORMAT, 2},
		{MAGIC "latency = 4\n", TACT_E_FORMAT, 2},
		{MAGIC "NONE (R99)\t1\t1\t0,0,0\t0,0,0,0,0,0,0,0,0,0\n", TACT_E_FORMAT, 2},
		{MAGIC "\t1\t1\t0,0,0\t0,0,0,0,0,0,0,0,0,0\n", TACT_E_FORMAT, 2},
		{MAGIC ADD "\t0\t1\t0,0,0\t0,0,0,0,0,0,0,0,0,0\n", TACT_E_FORMAT, 2},
		{MAGIC ADD "\t1\t65536\t0,0,0\t0,0,0,0,0,0,0,0,0,0\n", TACT_E_FORMAT, 2},
		{MAGIC ADD "\t1\t1\t0,0\t0,0,0,0,0,0,0,0,0,0\n", TACT_E_FORMAT, 2},
		{MAGIC ADD "\t1\t1\t0,0,0,0\t0,0,0,0,0,0,0,0,0,0\n", TACT_E_FORMAT, 2},
		{MAGIC ADD "\t1\t1\t0,,0\t0,0,0,0,0,0,0,0,0,0\n", TACT_E_FORMAT, 2},
		{MAGIC ADD "\t1\t1\t0,0,0\t0,0,0,0,0,0,0,0,0\n", TACT_E_FORMAT, 2},
		{MAGIC ADD "\t1\t1\t0,0,0\t0,0,0,0,0,0,0,0,0,0,\n", TACT_E_FORMAT, 2},
		{MAGIC ADD "\t1\t1\t0,0,0\t0,0,0,0,0,0,0,0,0,1.5\n", TACT_E_FORMAT, 2},
		{MAGIC ADD "\t1\t1\t0,0,0\n", TACT_E_FORMAT, 2},
		{MAGIC ADD "\t1\t1\t0,0,0\t0,0,0,0,0,0,0,0,0,0\t\n", TACT_E_FORMAT, 2},
		{MAGIC GOOD GOOD, TACT_E_FORMAT, 3},
	};
	struct tact_mca_params *params;
	char path[40];

	(void)state;
	assert_int_equal(tact_mca_params_create(&params, tact_arch_find("HSW"), NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tact_diag diag = {0};
		int value;

		tact_mca_set(params, 3, TACT_MCA_LATENCY, 0, 99);
		make_file(path, cases[i].text, strlen(cases[i].text));
		assert_int_equal(tact_mca_params_load(params, path, &diag), -cases[i].status);
		assert_int_equal(diag.line, cases[i].line);
		assert_int_equal(diag.text[0] != 0, cases[i].status != 0);
		assert_int_equal(tact_mca_get(params, 3, TACT_MCA_LATENCY, 0, &value), 0);
		assert_int_equal(value == 99, cases[i].status != 0); /* a failure changes nothing */
		unlink(path);
	}
	tact_mca_params_destroy(params);
}

static void files_that_are_not_there(void **state)
{
	struct tact_mca_params *params;
	char path[40], line[700];
	struct tact_diag diag;

	(void)state;
	assert_int_equal(tact_mca_params_create(&params, tact_arch_find("HSW"), NULL), 0);
	assert_int_equal(tact_mca_params_load(params, "/nowhere/mca", &diag), -TACT_E_IO);
	assert_int_equal(tact_mca_params_load(params, "/", &diag), -TACT_E_IO);
	assert_int_equal(tact_mca_params_save(params, "/nowhere/mca", NULL, &diag), -TACT_E_IO);
	assert_int_equal(tact_mca_params_load(params, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mca_params_load(NULL, "x", NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mca_params_save(params, NULL, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mca_params_save(NULL, "x", NULL, NULL), -TACT_E_INVAL);
	memset(line, '#', sizeof(line));
	memcpy(line, MAGIC, strlen(MAGIC));
	make_file(path, line, sizeof(line));
	assert_int_equal(tact_mca_params_load(params, path, &diag), -TACT_E_FORMAT);
	assert_int_equal(diag.line, 2);
	unlink(path);
	make_file(path, MAGIC "\0\n" GOOD, strlen(MAGIC) + 2);
	assert_int_equal(tact_mca_params_load(params, path, &diag), -TACT_E_FORMAT);
	assert_int_equal(diag.line, 2);
	line[sizeof(line) - 1] = 0;
	assert_int_equal(tact_mca_params_save(params, path, line, &diag), 0); /* shortened */
	assert_int_equal(tact_mca_params_load(params, path, &diag), 0);
	unlink(path);
	tact_mca_params_destroy(params);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_within_bounds),
		cmocka_unit_test(defaults_of_known_forms),
		cmocka_unit_test(values_out_of_bounds),
		cmocka_unit_test(round_trip),
		cmocka_unit_test(what_files_may_say),
		cmocka_unit_test(files_that_are_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
