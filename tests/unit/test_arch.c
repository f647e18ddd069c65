/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "support.h"

/* The list is the folder data/arch and is not repeated here: some names of it, in order, with
 * others in between.
 */
static void all_are_found(void **state)
{
	static const char *const some[] = {"SNB", "IVB", "HSW", "BDW", "SKL", "SKX", "KBL",
					   "CFL", "CLX", "ICL", "ICX", "TGL", "RKL", "ZEN4"};
	const struct tact_arch *arch = NULL;
	unsigned n = 0;

	(void)state;
	while ((arch = tact_arch_next(arch))) {
		char lower[32];

		n += n < ARRAY_SIZE(some) && !strcmp(tact_arch_name(arch), some[n]);
		assert_ptr_equal(tact_arch_find(tact_arch_name(arch)), arch);
		assert_ptr_equal(tact_arch_find(tact_arch_full_name(arch)), arch);
		assert_ptr_equal(tact_arch_find(tact_arch_llvm_name(arch)), arch);
		assert_non_null(tact_arch_find(tact_arch_llvm_cpu(arch)));
		assert_non_null(tact_arch_isa(arch));
		assert_true(!tact_arch_base(arch)[0] || tact_arch_find(tact_arch_base(arch)));
		for (size_t i = 0; i <= strlen(tact_arch_name(arch)); i++)
			lower[i] = (char)(tact_arch_name(arch)[i] |
					  (tact_arch_name(arch)[i] ? 0x20 : 0));
		assert_ptr_equal(tact_arch_find(lower), arch);
	}
	assert_int_equal(n, ARRAY_SIZE(some));
}

/* A name belongs to one core alone. */
static void names_are_unique(void **state)
{
	(void)state;
	for (const struct tact_arch *a = NULL; (a = tact_arch_next(a));) {
		for (const struct tact_arch *b = NULL; (b = tact_arch_next(b)) && b != a;) {
			assert_string_not_equal(tact_arch_name(a), tact_arch_name(b));
			assert_string_not_equal(tact_arch_full_name(a), tact_arch_full_name(b));
			assert_string_not_equal(tact_arch_llvm_name(a), tact_arch_llvm_name(b));
		}
	}
}

static void known_names(void **state)
{
	static const struct {
		const char *name, *arch;
	} rows[] = {
		{"sandybridge", "SNB"}, {"ivybridge", "IVB"},	   {"haswell", "HSW"},
		{"broadwell", "BDW"},	{"skylake", "SKL"},	   {"skylake-avx512", "SKX"},
		{"cascadelake", "CLX"}, {"icelake-client", "ICL"}, {"icelake-server", "ICX"},
		{"tigerlake", "TGL"},	{"rocketlake", "RKL"},	   {"SkyLake", "SKL"},
		{"znver4", "ZEN4"},	{"Zen 4", "ZEN4"},	   {"skx", "SKX"},
		{"core-avx2", "HSW"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct tact_arch *arch = tact_arch_find(rows[i].name);

		if (!arch || strcmp(tact_arch_name(arch), rows[i].arch))
			fail_msg("%s is not %s", rows[i].name, rows[i].arch);
	}
	assert_null(tact_arch_find("Z80"));
	assert_null(tact_arch_find(""));
	assert_null(tact_arch_find(NULL));
	assert_null(tact_arch_find("SKLX"));
	assert_null(tact_arch_find("SK"));
	assert_null(tact_arch_find("core-avx"));
	assert_string_equal(tact_arch_llvm_cpu(tact_arch_find("KBL")), "skylake");
	assert_string_equal(tact_arch_llvm_cpu(tact_arch_find("HSW")), "haswell");
	assert_string_equal(tact_arch_base(tact_arch_find("SKX")), "SKL");
	assert_string_equal(tact_isa_name(tact_arch_isa(tact_arch_find("SKX"))), "x86");
}

/* NULL, or one of ours; never anything else, and no crash on other vendors' machines. */
static void host_is_one_of_them(void **state)
{
	const struct tact_arch *host = tact_arch_host(), *arch = NULL;

	(void)state;
	if (!host)
		return;
	while ((arch = tact_arch_next(arch)))
		if (arch == host)
			return;
	fail();
}

static void tables_are_valid(void **state)
{
	(void)state;
	for (const struct tact_arch *arch = NULL; (arch = tact_arch_next(arch));) {
		struct tact_diag diag = {.text = ""};

		if (tact_arch_validate(arch, &diag) != 0)
			fail_msg("%s: %s", tact_arch_name(arch), diag.text);
	}
}

/* No table shrinks unnoticed: uops.info has some 3,500 forms before and 12,000 with AVX-512. */
static void tables_have_their_size(void **state)
{
	(void)state;
	for (const struct tact_arch *arch = NULL; (arch = tact_arch_next(arch));) {
		unsigned n = tact_arch_form_count(arch), counted = 0;

		for (unsigned form = 0; form < tact_isa_form_count(tact_isa_default()); form++)
			counted += tact_arch_has_form(arch, form);
		assert_int_equal(n, counted);
		assert_true(n > 2500 && n <= tact_isa_form_count(tact_isa_default()));
		assert_false(tact_arch_has_form(arch, TACT_FORM_NONE));
		assert_false(tact_arch_has_form(arch, tact_isa_form_count(tact_isa_default())));
	}
}

/* What everybody knows of these cores. */
static void well_known_facts(void **state)
{
	static const struct {
		const char *arch, *parameter, *value;
	} rows[] = {
		{"SNB", "issue_width", "4"},
		{"SKL", "issue_width", "4"},
		{"ICL", "issue_width", "5"},
		{"SNB", "ports", "0,1,2,3,4,5"},
		{"HSW", "ports", "0,1,2,3,4,5,6,7"},
		{"ICL", "ports", "0,1,2,3,4,5,6,7,8,9"},
		{"SKL", "jcc_erratum", "1"},
		{"HSW", "jcc_erratum", "0"},
		{"SKL", "lsd", "0"},
		{"HSW", "lsd", "1"},
		{"SKL", "rob_size", "224"},
		{"ICL", "rob_size", "352"},
		{"SNB", "port_binding", "six"},
		{"SKL", "port_binding", "eight"},
		{"RKL", "port_binding", "wide"},
		{"ZEN4", "port_binding", "least"},
		{"SKL", "ports_in_turn", "2,3"},
		{"TGL", "ports_in_turn", "2,3,4,7,8,9"},
		{"ZEN4", "ports_in_turn", "4,5,6"},
		{"SKL", "zmm_blocked_ports", "none"},
		{"SKX", "zmm_blocked_ports", "1"},
		{"ZEN4", "issue_width", "6"},
		{"ZEN4", "rob_size", "320"},
		{"ZEN4", "lsd", "0"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct tact_arch *arch = tact_arch_find(rows[i].arch);
		struct tact_param p = TACT_PARAM_INIT;
		bool found = false;

		for (size_t k = 0; tact_arch_param(arch, k, &p); k++) {
			if (strcmp(p.name, rows[i].parameter))
				continue;
			found = true;
			if (strcmp(p.value, rows[i].value))
				fail_msg("%s: %s is %s", rows[i].arch, p.name, p.value);
		}
		if (!found)
			fail_msg("there is no parameter %s", rows[i].parameter);
	}
	assert_int_equal(tact_arch_ports(tact_arch_find("SNB")), 0x3f);
	assert_int_equal(tact_arch_ports(tact_arch_find("SKL")), 0xff);
	assert_int_equal(tact_arch_ports(tact_arch_find("ICL")), 0x3ff);
}

static struct tact_param param_of(const struct tact_arch *arch, const char *name)
{
	struct tact_param p = TACT_PARAM_INIT;

	for (size_t i = 0; tact_arch_param(arch, i, &p); i++)
		if (!strcmp(p.name, name))
			return p;
	fail_msg("there is no parameter %s", name);
	return p;
}

/* Own values, those of bases, defaults, and what a file changed. */
static void values_have_origins(void **state)
{
	static const struct {
		const char *arch, *parameter, *from, *source;
		bool is_unmeasured;
	} rows[] = {
		{"SKX", "l2_ways", "SKX", "vendor", false},
		{"SKX", "iq_size", "SKL", "uiCA", false},
		{"CLX", "iq_size", "SKL", "uiCA", false},
		{"CLX", "lcp_stall", "default", "FACILE 4.3", false},
		{"SNB", "l2_latency", "SNB", "reported", true},
		{"SNB", "alias_cycles", "default", "unmeasured: not followed", true},
	};
	struct tact_arch *arch;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tact_param p = param_of(tact_arch_find(rows[i].arch), rows[i].parameter);

		assert_string_equal(p.from, rows[i].from);
		assert_string_equal(p.source, rows[i].source);
		assert_int_equal(p.is_unmeasured, rows[i].is_unmeasured);
	}
	assert_int_equal(derive_from_text(&arch, "SKX", "l2_latency = 9\n", NULL), 0);
	assert_string_equal(param_of(arch, "l2_latency").from, "file");
	assert_string_equal(param_of(arch, "l2_latency").source, "");
	assert_false(param_of(arch, "l2_latency").is_unmeasured);
	assert_string_equal(param_of(arch, "l2_ways").from, "SKX");
	tact_arch_destroy(arch);
}

/* Each value of each core has a source with a known first word, and nothing is cut off. */
static void sources_are_known(void **state)
{
	struct tact_param p = TACT_PARAM_INIT;

	(void)state;
	for (const struct tact_arch *arch = NULL; (arch = tact_arch_next(arch));) {
		for (size_t i = 0; tact_arch_param(arch, i, &p); i++) {
			assert_true(params_source_is_known(p.source));
			assert_true(!strcmp(p.from, "default") || tact_arch_find(p.from));
			assert_true(strlen(p.source) + 1 < sizeof(p.source));
			assert_true(strlen(p.help) + 1 < sizeof(p.help));
			assert_true(strlen(p.value) + 1 < sizeof(p.value));
		}
	}
	assert_false(params_source_is_known(""));
	assert_false(params_source_is_known("vendors"));
	assert_false(params_source_is_known("ven"));
	assert_true(params_source_is_known("vendor; experiment: both"));
	assert_false(params_source_is_measured("unmeasured"));
	assert_false(params_source_is_measured("hearsay"));
}

/* ---- parameter files ---- */

static int derive(struct tact_arch **out, const char *text, struct tact_diag *diag)
{
	return derive_from_text(out, "SKL", text, diag);
}

/* Printing all parameters and reading them again changes nothing, for every core. */
static void parameters_go_round(void **state)
{
	(void)state;
	for (const struct tact_arch *arch = NULL; (arch = tact_arch_next(arch));) {
		char text[32768] = "# all of them\n";
		struct tact_arch *copy;
		struct tact_param p = TACT_PARAM_INIT;
		size_t n;

		for (n = 0; tact_arch_param(arch, n, &p); n++) {
			size_t used = strlen(text);

			assert_true(p.name[0] && p.value[0] && p.help[0]);
			snprintf(text + used, sizeof(text) - used, "%s = %s # %s\n", p.name,
				 p.value, p.help);
		}
		assert_true(n > 30 && strlen(text) + 1 < sizeof(text));
		/* on another core as the base, so that every line matters */
		assert_int_equal(derive_from_text(&copy,
						  arch == tact_arch_find("SNB") ? "ICL" : "SNB",
						  text, NULL),
				 0);
		assert_memory_equal(&copy->params, &arch->params, sizeof(copy->params));
		tact_arch_destroy(copy);
	}
}

static void good_files_are_read(void **state)
{
	struct tact_arch *arch;

	(void)state;
	assert_int_equal(derive(&arch, "", NULL), 0);
	assert_memory_equal(&arch->params, &tact_arch_find("SKL")->params, sizeof(arch->params));
	tact_arch_destroy(arch);
	assert_int_equal(derive(&arch, "# nothing\n\n  \t\n", NULL), 0);
	tact_arch_destroy(arch);
	assert_int_equal(derive(&arch,
				"issue_width=6\r\n\tdecoders =\t5 # more\nlsd_unroll = 1-2:3 4:5",
				NULL),
			 0);
	assert_int_equal(arch->params.issue_width, 6);
	assert_int_equal(arch->params.decoders, 5);
	assert_int_equal(arch->params.lsd_unroll[2], 3);
	assert_int_equal(arch->params.lsd_unroll[3], 0);
	assert_int_equal(arch->params.lsd_unroll[4], 5);
	assert_int_equal(arch->params.dsb_width, tact_arch_find("SKL")->params.dsb_width);
	tact_arch_destroy(arch);
	assert_int_equal(derive(&arch, "port_binding = least\nzmm_blocked_ports = 1,5\n", NULL), 0);
	assert_int_equal(arch->params.port_binding, PARAMS_PORT_BINDING_LEAST);
	assert_int_equal(arch->params.zmm_blocked_ports, 0x22);
	tact_arch_destroy(arch);
	assert_int_equal(derive(&arch, "base = icl\nfull_name = X\nissue_width = 6\n", NULL), 0);
	assert_int_equal(arch->params.issue_width, 6);
	assert_int_equal(arch->params.rob_size, tact_arch_find("ICL")->params.rob_size);
	tact_arch_destroy(arch);
	tact_arch_destroy(NULL);
}

static void bad_files_are_refused(void **state)
{
	static const struct {
		const char *text;
		uint64_t line;
	} rows[] = {
		{"issue_width\n", 1},
		{"\n\nissue_width = four\n", 3},
		{"issue_width = 0\n", 1},
		{"issue_width = 17\n", 1},
		{"issue_width = -1\n", 1},
		{"issue_width = 4x\n", 1},
		{"issue_width =\n", 1},
		{"= 4\n", 1},
		{"issue_width = 99999999999999999999\n", 1},
		{"issue_width = 4\nfrobs = 3\n", 2},
		{"issue_width = 4\nbase = Z80\n", 2},
		{"ports = none\n", 1},
		{"port_binding = 1\n", 1},
		{"port_binding = sixes\n", 1},
		{"port_binding = si\n", 1},
		{"ports = 0,32\n", 1},
		{"ports = 0;1\n", 1},
		{"lsd_unroll = 1-2\n", 1},
		{"lsd_unroll = 2-1:3\n", 1},
		{"lsd_unroll = 1:0\n", 1},
		{"lsd_unroll = 1-9999:2\n", 1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tact_arch *arch = NULL;
		struct tact_diag diag = {.text = ""};

		if (derive(&arch, rows[i].text, &diag) != -TACT_E_FORMAT)
			fail_msg("accepted: %s", rows[i].text);
		assert_null(arch);
		assert_int_equal(diag.line, rows[i].line);
		assert_true(diag.text[0]);
		assert_int_equal(derive(&arch, rows[i].text, NULL), -TACT_E_FORMAT);
	}
}

static void missing_files_are_refused(void **state)
{
	const struct tact_arch *base = tact_arch_find("SKL");
	struct tact_arch *arch = NULL;
	struct tact_diag diag;

	(void)state;
	assert_int_equal(tact_arch_derive(&arch, base, "/nonexistent/file", &diag), -TACT_E_IO);
	assert_true(diag.text[0]);
	assert_int_equal(tact_arch_derive(&arch, base, "/tmp", &diag),
			 -TACT_E_IO); /* a directory */
	assert_int_equal(tact_arch_derive(&arch, base, NULL, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_arch_derive(&arch, NULL, "/dev/null", &diag), -TACT_E_INVAL);
	assert_int_equal(tact_arch_derive(NULL, base, "/dev/null", &diag), -TACT_E_INVAL);
	assert_null(arch);
}

/* A wrong table must not pass: the validator sees what single lines do not show. */
static void broken_parameters_are_found(void **state)
{
	struct tact_arch *arch;
	struct tact_diag diag = {.text = ""};

	(void)state;
	assert_int_equal(derive(&arch, "ports = 0,1,2,3\n", NULL), 0);
	assert_true(tact_arch_validate(arch, &diag) > 0);
	assert_true(diag.text[0]);
	assert_true(tact_arch_validate(arch, NULL) > 0);
	tact_arch_destroy(arch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_found),
		cmocka_unit_test(names_are_unique),
		cmocka_unit_test(known_names),
		cmocka_unit_test(host_is_one_of_them),
		cmocka_unit_test(tables_are_valid),
		cmocka_unit_test(tables_have_their_size),
		cmocka_unit_test(well_known_facts),
		cmocka_unit_test(values_have_origins),
		cmocka_unit_test(sources_are_known),
		cmocka_unit_test(parameters_go_round),
		cmocka_unit_test(good_files_are_read),
		cmocka_unit_test(bad_files_are_refused),
		cmocka_unit_test(missing_files_are_refused),
		cmocka_unit_test(broken_parameters_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
