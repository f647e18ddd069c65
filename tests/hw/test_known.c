/* SPDX-License-Identifier: MIT
 *
 * Blocks whose cycles are known, on known CPUs: within 2%.
 *
 * Where the figures come from:
 *   U   uops.info's table for that CPU (latency for chains, throughput otherwise)
 *   A   AMD, Software Optimization Guide for the Zen4 Microarchitecture (57647): four instructions
 *       decoded a cycle; three memory operations, two of them stores at most
 *   F   an independent harness on an Ice Lake server core (family 6, model 106)
 *   E   uops.info's tables of all cores from Airmont and Sandy Bridge to Golden Cove and Zen 4
 * agree All of those for Zen 4 were seen on a family 25, model 17 as well; those for Ice Lake have
 * not been run with this harness yet.  With time stamps a chain of imul is the clock itself: it
 * then tests that the clock agrees with itself, and the other chains that it is right.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hw.h"

enum { U = 1, L = 2, BOTH = 3 };

struct known {
	const char *name, *hex, *source;
	unsigned modes;
	double cycles; /* an iteration */
};

/* On everything since 2011. */
static const struct known every[] = {
	{"every_imul_chain", "0fafc3", "E", BOTH, 3},
	{"every_imul_two_chains", "0fafc30fafcb", "E", BOTH, 3},
	{"every_add_chain", "4801d8", "E", BOTH, 1}, /* no constant: nothing to fold */
	{"every_add_chain_of_ten", "4801d84801d84801d84801d84801d84801d84801d84801d84801d84801d8",
	 "E", BOTH, 10},
};

static const struct known zen4[] = {
	{"zen4_sub_chain", "4829d1", "U", BOTH, 1},
	{"zen4_adc_chain", "4811d8", "U", BOTH, 1},
	{"zen4_bswap_chain", "480fc8", "U", BOTH, 1},
	{"zen4_shl_chain", "48c1e003", "U", BOTH, 1},
	{"zen4_popcnt_chain", "f3480fb8c0", "U", BOTH, 1},
	{"zen4_cmov_chain", "480f44c3", "U", BOTH, 1},
	{"zen4_crc32_chain", "f2480f38f1c3", "U", BOTH, 3},
	{"zen4_pdep_chain", "c4e2fbf5c3", "U", BOTH, 3},
	{"zen4_imul_throughput", "480fafc6480fafde480fafce480fafd6", "U", BOTH, 4},
	{"zen4_mul_chain", "48f7e1", "U", BOTH, 3},
	{"zen4_four_adds", "4801f04801f34801f14801f2", "U", U, 1},
	{"zen4_load_to_use", "488b00", "U", BOTH, 4},
	{"zen4_load_to_use_32", "8b00", "U", BOTH, 4},
	{"zen4_three_loads", "488b06488b1f488b0a", "U A", BOTH, 1},
	{"zen4_two_loads_vector", "0f28060f280f", "U", BOTH, 1},
	{"zen4_one_store", "488906", "U A", U, 0.5},
	{"zen4_two_stores", "48890648895e08", "U A", BOTH, 1},
	{"zen4_store_vector", "0f2906", "U", BOTH, 1},
	{"zen4_addsd_chain", "f20f58c1", "U", BOTH, 3},
	{"zen4_mulsd_chain", "f20f59c1", "U", BOTH, 3},
	{"zen4_vaddps_chain", "c5fc58c1", "U", BOTH, 3},
	{"zen4_vaddps_zmm_chain", "62f17c4858c1", "U", BOTH, 3},
	{"zen4_vfmadd_chain", "c4e2f1b9c2", "U", BOTH, 4},
	{"zen4_vfmadd_ymm_chain", "c4e2f5b8c2", "U", BOTH, 4},
	{"zen4_six_mulps", "0f59c10f59d10f59d90f59e10f59e90f59f1", "U", BOTH, 3},
	{"zen4_four_vaddps", "c4c13c58c1c4c13c58c9c4c13c58d1c4c13c58d9", "U", BOTH, 2},
	{"zen4_two_vaddps_zmm", "62d13c4858c162d13c4858c9", "U", BOTH, 2},
	{"zen4_paddd_chain", "660ffec1", "U", BOTH, 1},
	{"zen4_pshufb_chain", "660f3800c1", "U", BOTH, 2},
	{"zen4_pmulld_chain", "660f3840c1", "U", BOTH, 3},
	{"zen4_aesenc_chain", "660f38dcc1", "U", BOTH, 4},
	{"zen4_vpermd_chain", "c4e27d36c9", "U", BOTH, 4},
	{"zen4_pclmulqdq_chain", "660f3a44c100", "U", BOTH, 4},
	{"zen4_sha256rnds2_chain", "0f38cbc1", "U", BOTH, 4},
	{"zen4_gf2p8mulb_chain", "660f38cfc1", "U", BOTH, 3},
	{"zen4_divsd_chain", "f20f5ec1", "U", BOTH, 13},
	{"zen4_divsd", "f20f5ec10f28c2", "U", U, 5},
	{"zen4_sqrtsd_chain", "f20f51c0", "U", BOTH, 21},
	{"zen4_vdivps", "c5f05ec2", "U", BOTH, 3},
	{"zen4_vdivps_ymm", "c5f45ec2", "U", BOTH, 3},
	{"zen4_vdivps_chain", "c5f85ec2", "U", BOTH, 11},
	{"zen4_vsqrtps", "c5f851c1", "U", BOTH, 5},
	{"zen4_div_32", "31d2b864000000f7f1", "U", BOTH, 6},
	{"zen4_vpgatherdd_ymm", "c4e26d90040e", "U", BOTH, 8},
	{"zen4_nop_decoded", "90", "A", U, 0.25},
	{"zen4_four_nops_decoded", "90909090", "A", U, 1},
	{"zen4_xor_zero_idiom_decoded", "31c0", "A", U, 0.25},
	{"zen4_move_eliminated_decoded", "4889d8", "A", U, 0.25},
	{"zen4_moves_eliminated_decoded", "4889d84889c3", "A", U, 0.5},
	{"zen4_xchg", "4893", "U", U, 1 / 3.0},
};

static const struct known ice_lake_server[] = {
	{"icx_load_to_use", "488b00", "F U", BOTH, 5},
	{"icx_mulsd_chain", "f20f59c1", "F U", BOTH, 4},
	{"icx_vaddps_chain", "c5fc58c1", "F U", BOTH, 4},
	{"icx_vfmadd_chain", "c4e2f1b9c2", "F U", BOTH, 4},
	{"icx_two_loads", "488b06488b1f", "F", BOTH, 1},
	{"icx_one_store", "488906", "F", U, 0.5},
	{"icx_two_stores_one_line", "48890648895e08", "F", BOTH, 1},
	{"icx_two_stores_two_lines", "48890648895e40", "F", BOTH, 2},
	{"icx_nop_decoded", "90", "F", U, 0.25},
	{"icx_nop_of_3_bytes", "0f1f00", "F", U, 0.3125},
	{"icx_xor_zero_idiom_decoded", "31c0", "F", U, 0.25},
	{"icx_vsqrtps_xmm", "c5f851c1", "F", BOTH, 3},
	{"icx_vsqrtps_ymm", "c5fc51c1", "F", BOTH, 6},
	{"icx_vdivps_xmm", "c5f05ec2", "F", BOTH, 3},
	{"icx_divsd", "f20f5ec10f28c2", "F", U, 4},
	{"icx_div_32", "31d2f7f1", "F", U, 11},
	{"icx_fetch_7_bytes", "0f1f8000000000", "F", U, 0.4375},
	{"icx_fetch_8_bytes", "0f1f840000000000", "F", U, 0.5},
	{"icx_fetch_10_bytes", "662e0f1f840000000000", "F", U, 0.625},
	{"icx_length_changing_prefix", "66053412", "F", U, 3.25},
	{"icx_loop_of_9_nops", "909090909090909090", "F", L, 2},
	{"icx_loop_of_14_nops", "9090909090909090909090909090", "F", L, 3},
	{"icx_loop_of_24_nops", "909090909090909090909090909090909090909090909090", "F", L, 5},
};

static struct tact_harness *harness[2]; /* of modes U and L */

static void measure_one(const struct known *k, struct tact_harness *h, const char *mode)
{
	struct tact_measurement m = TACT_MEASUREMENT_INIT;
	uint8_t code[64];
	size_t bad;
	long size = tact_hex_decode(code, k->hex, strlen(k->hex), &bad);

	assert_true(size > 0);
	switch (hw_expect(h, code, (size_t)size, k->cycles, &m)) {
	case HW_RIGHT:
		return;
	case HW_WRONG:
		fail_msg("%s (%s, %s): %.4f cycles instead of %.4f; %s %s", k->name, mode,
			 k->source, m.cycles_per_iteration, k->cycles,
			 tact_measure_status_name(m.status), m.reason);
		return;
	case HW_NOISY:
		print_message("skip: %s (%s): this machine is too noisy now: %s\n", k->name, mode,
			      m.reason);
		skip();
	}
}

static void known(void **state)
{
	const struct known *k = *state;

	if (!harness[0] || !harness[1])
		skip();
	if (k->modes & U)
		measure_one(k, harness[0], "unrolled");
	if (k->modes & L)
		measure_one(k, harness[1], "loop");
}

static void no_table_for_this_cpu(void **state)
{
	struct hw_cpu cpu = hw_cpu();

	(void)state;
	print_message("skip: nothing is known of this CPU, %s %u-%u, but what holds for all\n",
		      cpu.vendor, cpu.family, cpu.model);
	skip();
}

/* The models of Zen 4: Genoa and Storm Peak, Raphael, Phoenix, Bergamo. */
static bool is_zen4(const struct hw_cpu *cpu)
{
	return !strcmp(cpu->vendor, "AuthenticAMD") && cpu->family == 25 &&
	       ((cpu->model >= 0x10 && cpu->model <= 0x1f) ||
		(cpu->model >= 0x60 && cpu->model <= 0x7f) ||
		(cpu->model >= 0xa0 && cpu->model <= 0xaf));
}

static bool is_ice_lake_server(const struct hw_cpu *cpu)
{
	return !strcmp(cpu->vendor, "GenuineIntel") && cpu->family == 6 &&
	       (cpu->model == 106 || cpu->model == 108);
}

static size_t add_tests(struct CMUnitTest *tests, const struct known *k, size_t n)
{
	for (size_t i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){.name = k[i].name,
					       .test_func = known,
					       .initial_state = (void *)(uintptr_t)&k[i]};
	return n;
}

int main(void)
{
	struct CMUnitTest tests[128];
	struct hw_cpu cpu = hw_cpu();
	size_t n = add_tests(tests, every, ARRAY_SIZE(every));
	int failed;

	if (is_zen4(&cpu))
		n += add_tests(tests + n, zen4, ARRAY_SIZE(zen4));
	else if (is_ice_lake_server(&cpu))
		n += add_tests(tests + n, ice_lake_server, ARRAY_SIZE(ice_lake_server));
	else
		tests[n++] = (struct CMUnitTest)cmocka_unit_test(no_table_for_this_cpu);
	harness[0] = hw_harness(TACT_MODE_UNROLL, TACT_INIT_SAME, 0);
	harness[1] = hw_harness(TACT_MODE_LOOP, TACT_INIT_SAME, 0);
	failed = _cmocka_run_group_tests("known", tests, n, NULL, NULL);
	tact_harness_destroy(harness[0]);
	tact_harness_destroy(harness[1]);
	return failed;
}
