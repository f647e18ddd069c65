/* SPDX-License-Identifier: MIT
 *
 * Blocks whose cycles are known, on known CPUs: within 2%.
 *
 * Where the figures come from:
 *   U   uops.info's table for that CPU (latency for chains, throughput otherwise)
 *   A   AMD, Software Optimization Guide for the Zen4 Microarchitecture (57647): four instructions
 *       decoded a cycle; three memory operations, two of them stores at most
 *   B   AMD, Software Optimization Guide for the AMD Family 19h Processors (56665): four
 *       instructions decoded a cycle; three memory operations, two of them stores at most
 *   F   an independent harness on an Ice Lake server core (family 6, model 106)
 *   M   controlled experiments on an Emerald Rapids core (family 6, model 207): the lowest of several
 *       rounds, which at least two others confirm within 1%
 *   S   only seen with this harness
 *   E   uops.info's tables of all cores from Airmont and Sandy Bridge to Golden Cove and Zen 4 agree
 *
 * Those for Zen 5 were seen on a family 26, model 2; no figures of others are known for most of them.
 * Those for Zen 3 were seen on a family 25, model 1.  Those for Zen 4 were seen on a family 25,
 * model 17, with zeros in vector registers; the ones that merge, with ordinary numbers.  Those for
 * Ice Lake have not been run with this harness.  On Zen 3, unrolled chains of division, square root
 * and x87 read half a cycle less or more than the latency; they count as loops only.  With time
 * stamps a chain of imul is the clock itself: it then tests that the clock agrees with itself, and
 * the other chains that it is right.
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
	{"zen4_cvtsi2sd_merges", "f20f2ac0", "U", BOTH, 3},
	{"zen4_sqrtss_merges", "f30f51c1", "U", L, 15},
	{"zen4_divsd_chain", "f20f5ec1", "U", L, 13},
	{"zen4_divsd", "f20f5ec10f28c2", "U", U, 5},
	{"zen4_sqrtsd_chain", "f20f51c0", "U", L, 21},
	{"zen4_vdivps", "c5f05ec2", "U", L, 3},
	{"zen4_vdivps_ymm", "c5f45ec2", "U", L, 3},
	{"zen4_vdivps_chain", "c5f85ec2", "U", L, 11},
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

static const struct known zen5[] = {
	{"zen5_sub_chain", "4829d1", "S", BOTH, 1},
	{"zen5_adc_chain", "4811d8", "S", BOTH, 1},
	{"zen5_bswap_chain", "480fc8", "S", BOTH, 1},
	{"zen5_shl_chain", "48c1e003", "S", BOTH, 1},
	{"zen5_popcnt_chain", "f3480fb8c0", "S", BOTH, 1},
	{"zen5_cmov_chain", "480f44c3", "S", BOTH, 1},
	{"zen5_crc32_chain", "f2480f38f1c3", "S", BOTH, 3},
	{"zen5_pdep_chain", "c4e2fbf5c3", "S", BOTH, 3},
	{"zen5_imul_throughput", "480fafc6480fafde480fafce480fafd6", "S", BOTH, 3},
	{"zen5_mul_chain", "48f7e1", "S", BOTH, 3},
	{"zen5_four_adds", "4801f04801f34801f14801f2", "S", U, 1},
	{"zen5_load_to_use", "488b00", "S", BOTH, 4},
	{"zen5_load_to_use_32", "8b00", "S", BOTH, 4},
	{"zen5_three_loads", "488b06488b1f488b0a", "S", U, 0.75},
	{"zen5_two_loads_vector", "0f28060f280f", "S", BOTH, 1},
	{"zen5_one_store", "488906", "S", U, 0.5},
	{"zen5_two_stores", "48890648895e08", "S", BOTH, 1},
	{"zen5_store_vector", "0f2906", "S", U, 0.5},
	{"zen5_addsd_chain", "f20f58c1", "S", BOTH, 2},
	{"zen5_mulsd_chain", "f20f59c1", "S", BOTH, 3},
	{"zen5_vaddps_chain", "c5fc58c1", "S", BOTH, 2},
	{"zen5_vaddps_zmm_chain", "62f17c4858c1", "S", BOTH, 2},
	{"zen5_vfmadd_chain", "c4e2f1b9c2", "S", BOTH, 4},
	{"zen5_vfmadd_ymm_chain", "c4e2f5b8c2", "S", BOTH, 4},
	{"zen5_six_mulps", "0f59c10f59d10f59d90f59e10f59e90f59f1", "S", BOTH, 3},
	{"zen5_four_vaddps", "c4c13c58c1c4c13c58c9c4c13c58d1c4c13c58d9", "S", BOTH, 2},
	{"zen5_two_vaddps_zmm", "62d13c4858c162d13c4858c9", "S", BOTH, 1},
	{"zen5_paddd_chain", "660ffec1", "S", BOTH, 2},
	{"zen5_pshufb_chain", "660f3800c1", "S", BOTH, 2},
	{"zen5_pmulld_chain", "660f3840c1", "S", BOTH, 3},
	{"zen5_aesenc_chain", "660f38dcc1", "S", BOTH, 4},
	{"zen5_vpermd_chain", "c4e27d36c9", "S", BOTH, 4},
	{"zen5_pclmulqdq_chain", "660f3a44c100", "S", BOTH, 5},
	{"zen5_sha256rnds2_chain", "0f38cbc1", "S", BOTH, 4},
	{"zen5_gf2p8mulb_chain", "660f38cfc1", "S", BOTH, 3},
	{"zen5_sqrtss_merges", "f30f51c1", "S", BOTH, 14},
	{"zen5_divsd_chain", "f20f5ec1", "S", BOTH, 13},
	{"zen5_divsd", "f20f5ec10f28c2", "S", BOTH, 4},
	{"zen5_sqrtsd_chain", "f20f51c0", "S", BOTH, 20},
	{"zen5_vdivps", "c5f05ec2", "S", BOTH, 2.5},
	{"zen5_vdivps_ymm", "c5f45ec2", "S", BOTH, 2.5},
	{"zen5_vdivps_chain", "c5f85ec2", "S", BOTH, 10},
	{"zen5_vsqrtps", "c5f851c1", "S", BOTH, 4.5},
	{"zen5_div_32", "31d2b864000000f7f1", "S", BOTH, 6},
	{"zen5_vpgatherdd_ymm", "c4e26d90040e", "S", BOTH, 12},
	{"zen5_nop_decoded", "90", "S", U, 0.25},
	{"zen5_four_nops_decoded", "90909090", "S", BOTH, 1},
	{"zen5_xor_zero_idiom_decoded", "31c0", "S", U, 0.25},
	{"zen5_move_eliminated_decoded", "4889d8", "S", U, 0.25},
	{"zen5_moves_eliminated_decoded", "4889d84889c3", "S", U, 0.5},
	{"zen5_xchg", "4893", "S", U, 0.25},
	{"zen5_three_pushes", "505153", "S", BOTH, 1.5},
	{"zen5_load_and_walk", "488b074883c740", "S", U, 1},
	{"zen5_lodsq", "48ad", "S", BOTH, 3},
	{"zen5_paddb_mmx_chain", "0ffcc1", "S", BOTH, 2},
	{"zen5_fadd_chain", "d8c1", "S", BOTH, 6},
	{"zen5_fmul_chain", "d8c9", "S", BOTH, 6},
	{"zen5_vmaskmovps_load", "c4e2752c06", "S", U, 0.5},
};

static const struct known zen3[] = {
	{"zen3_sub_chain", "4829d1", "U", BOTH, 1},
	{"zen3_adc_chain", "4811d8", "U", BOTH, 1},
	{"zen3_bswap_chain", "480fc8", "U", BOTH, 1},
	{"zen3_shl_chain", "48c1e003", "U", BOTH, 1},
	{"zen3_popcnt_chain", "f3480fb8c0", "U", BOTH, 1},
	{"zen3_cmov_chain", "480f44c3", "U", BOTH, 1},
	{"zen3_crc32_chain", "f2480f38f1c3", "U", BOTH, 3},
	{"zen3_pdep_chain", "c4e2fbf5c3", "U", BOTH, 3},
	{"zen3_imul_throughput", "480fafc6480fafde480fafce480fafd6", "U", BOTH, 4},
	{"zen3_mul_chain", "48f7e1", "U", BOTH, 3},
	{"zen3_four_adds", "4801f04801f34801f14801f2", "U", U, 1},
	{"zen3_load_to_use", "488b00", "U", BOTH, 4},
	{"zen3_load_to_use_32", "8b00", "U", BOTH, 4},
	{"zen3_three_loads", "488b06488b1f488b0a", "U B", U, 1},
	{"zen3_two_loads_vector", "0f28060f280f", "U", BOTH, 1},
	{"zen3_one_store", "488906", "U B", U, 0.5},
	{"zen3_store_vector", "0f2906", "U", BOTH, 1},
	/* walks: the rates must be those of blocks that stay where they are */
	{"zen3_three_pushes", "505153", "U B", U, 1.5},
	{"zen3_load_and_walk", "488b074883c740", "U", U, 1},
	{"zen3_lodsq", "48ad", "U", BOTH, 3},
	{"zen3_addsd_chain", "f20f58c1", "U", BOTH, 3},
	{"zen3_mulsd_chain", "f20f59c1", "U", BOTH, 3},
	{"zen3_vaddps_chain", "c5fc58c1", "U", BOTH, 3},
	{"zen3_vfmadd_chain", "c4e2f1b9c2", "U", BOTH, 4},
	{"zen3_vfmadd_ymm_chain", "c4e2f5b8c2", "U", BOTH, 4},
	{"zen3_six_mulps", "0f59c10f59d10f59d90f59e10f59e90f59f1", "U", BOTH, 3},
	{"zen3_four_vaddps", "c4c13c58c1c4c13c58c9c4c13c58d1c4c13c58d9", "U", BOTH, 2},
	{"zen3_paddd_chain", "660ffec1", "U", BOTH, 1},
	{"zen3_paddb_mmx_chain", "0ffcc1", "U", U, 1},
	{"zen3_pshufb_chain", "660f3800c1", "U", U, 1},
	{"zen3_pmulld_chain", "660f3840c1", "U", BOTH, 3},
	{"zen3_aesenc_chain", "660f38dcc1", "U", BOTH, 4},
	{"zen3_sha256rnds2_chain", "0f38cbc1", "U", BOTH, 4},
	{"zen3_cvtsi2sd_merges", "f20f2ac0", "U", BOTH, 3},
	{"zen3_divsd_chain", "f20f5ec1", "U", L, 13},
	{"zen3_vsqrtps", "c5f851c1", "U", BOTH, 5},
	{"zen3_fadd_chain", "d8c1", "S", L, 7},
	{"zen3_fmul_chain", "d8c9", "S", L, 7},
	{"zen3_div_32", "31d2b864000000f7f1", "U", BOTH, 6},
	{"zen3_vmaskmovps_load", "c4e2752c06", "U", U, 0.5},
	{"zen3_nop_decoded", "90", "B", U, 0.25},
	{"zen3_four_nops_decoded", "90909090", "B", U, 1},
	{"zen3_xor_zero_idiom_decoded", "31c0", "B", U, 0.25},
	{"zen3_move_eliminated_decoded", "4889d8", "B", U, 0.25},
	{"zen3_moves_eliminated_decoded", "4889d84889c3", "B", U, 0.5},
};

static const struct known golden_cove[] = {
	{"glc_or_chain", "4809f0", "M", BOTH, 1},
	{"glc_shl_chain", "48c1e003", "M", BOTH, 1},
	{"glc_adc_chain", "4811f0", "M", BOTH, 1},
	{"glc_not_chain", "48f7d0", "M", BOTH, 1},
	{"glc_imul_chain_64", "480fafc6", "M U", BOTH, 3},
	{"glc_crc32_chain", "f2480f38f1c6", "M U", BOTH, 3},
	{"glc_popcnt", "f3480fb8c6", "M U", BOTH, 1},
	{"glc_two_popcnt", "f3480fb8c6f3480fb8de", "M U", BOTH, 2},
	{"glc_pext", "c4e2caf5c7", "M U", BOTH, 1},
	{"glc_two_pext", "c4e2caf5c7c4e2caf5df", "M U", BOTH, 2},
	{"glc_two_bsf", "480fbcc6480fbcde", "M U", BOTH, 3},
	{"glc_shlx", "c4e2c1f7c6", "M U", U, 0.5},
	{"glc_three_loads", "488b06488b5e08488b4e10", "M", BOTH, 1},
	{"glc_two_loads_zmm", "62f17c48100662f17c48104e01", "M", BOTH, 1},
	{"glc_two_stores_one_line", "48890648895e08", "M", BOTH, 1},
	{"glc_two_stores_two_lines", "48890648894640", "M", BOTH, 2},
	{"glc_three_stores_three_lines", "4889064889464048898680000000", "M", BOTH, 3},
	{"glc_store_zmm", "62f17c481106", "M", BOTH, 1},
	{"glc_ten_pushes", "50535152415041514152415341544155", "M", L, 5},
	{"glc_addps_chain", "c4c17858c3", "M", BOTH, 2},
	{"glc_addsd_chain", "c4c17b58c3", "M", BOTH, 2},
	{"glc_mulps_chain", "c4c17859c3", "M U", BOTH, 4},
	{"glc_mulsd_chain", "c4c17b59c3", "M U", BOTH, 4},
	{"glc_mulps_zmm_chain", "62d17c4859c3", "M U", L, 4},
	{"glc_vfmadd_chain", "c4c229b8c3", "M U", BOTH, 4},
	{"glc_pmulld_chain", "c4c27940c3", "M U", L, 10},
	{"glc_pmuludq_chain", "c4c179f4c3", "M U", L, 5},
	{"glc_pshufb_chain", "c4c27900c3", "M U", BOTH, 1},
	{"glc_pcmpgtq_chain", "c4c27937c3", "M U", BOTH, 3},
	{"glc_aesenc_chain", "c4c279dcc3", "M U", BOTH, 3},
	{"glc_two_pclmulqdq", "c4c32944c301c4c32944cb01", "M U", BOTH, 2},
	{"glc_two_ptest", "c4c27917c2c4c27917ca", "M U", U, 2},
	{"glc_haddps", "c4c12b7cc3", "M U", BOTH, 2},
	{"glc_sqrtps", "c4c17851c2", "M U", BOTH, 3},
	{"glc_divps_chain", "c4c1785ec3", "M U", BOTH, 11},
	{"glc_divsd_chain", "c4c17b5ec3", "S", BOTH, 14}, /* 13 with zeros (M) */
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

/* The models of Zen 3: Milan and Chagall, Vermeer, Rembrandt, Cezanne. */
static bool is_zen3(const struct hw_cpu *cpu)
{
	return !strcmp(cpu->vendor, "AuthenticAMD") && cpu->family == 25 &&
	       (cpu->model <= 0xf || (cpu->model >= 0x20 && cpu->model <= 0x5f));
}

/* The servers, Sapphire Rapids and Emerald Rapids; clients have small cores, too. */
static bool is_golden_cove(const struct hw_cpu *cpu)
{
	static const unsigned models[] = {143, 207};

	for (size_t i = 0; i < ARRAY_SIZE(models); i++)
		if (cpu->model == models[i])
			return !strcmp(cpu->vendor, "GenuineIntel") && cpu->family == 6;
	return false;
}

/* The models of Zen 4: Genoa and Storm Peak, Raphael, Phoenix, Bergamo. */
static bool is_zen4(const struct hw_cpu *cpu)
{
	return !strcmp(cpu->vendor, "AuthenticAMD") && cpu->family == 25 &&
	       ((cpu->model >= 0x10 && cpu->model <= 0x1f) ||
		(cpu->model >= 0x60 && cpu->model <= 0x7f) ||
		(cpu->model >= 0xa0 && cpu->model <= 0xaf));
}

/* The models of Zen 5: Turin and Shimada Peak, Strix Point, Granite Ridge, Krackan and Strix Halo. */
static bool is_zen5(const struct hw_cpu *cpu)
{
	return !strcmp(cpu->vendor, "AuthenticAMD") && cpu->family == 26 &&
	       (cpu->model <= 0x2f || (cpu->model >= 0x40 && cpu->model <= 0x4f) ||
		(cpu->model >= 0x60 && cpu->model <= 0x7f));
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

	if (is_zen5(&cpu))
		n += add_tests(tests + n, zen5, ARRAY_SIZE(zen5));
	else if (is_zen4(&cpu))
		n += add_tests(tests + n, zen4, ARRAY_SIZE(zen4));
	else if (is_zen3(&cpu))
		n += add_tests(tests + n, zen3, ARRAY_SIZE(zen3));
	else if (is_golden_cove(&cpu))
		n += add_tests(tests + n, golden_cove, ARRAY_SIZE(golden_cove));
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
