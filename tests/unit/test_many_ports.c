/* SPDX-License-Identifier: MIT
 *
 * A core of more than sixteen ports, through tables, blocks, FACILE and the pipeline.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "support.h"

/* imul of rax, rcx, rdx and rsi, all by rbx. */
static const char code_hex[] = "480fafc3 480fafcb 480fafd3 480faff3";

/* Twenty ports and the last one there can be; multiplications run on `ports`. */
static struct tact_arch *make_arch(const char *binding, const char *ports)
{
	struct tact_arch *arch;
	char text[512];

	snprintf(text, sizeof(text),
		 "ports = 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,31\n"
		 "port_binding = %s\n"
		 "IMUL (R64, R64)\tplain\tports=1*p%s lat=r0>r0:1,r1>r0:1\n",
		 binding, ports);
	assert_int_equal(derive_from_text(&arch, "ICL", text, NULL), 0);
	assert_int_equal(tact_arch_validate(arch, NULL), 0);
	assert_int_equal(tact_arch_ports(arch), 0x800fffffu);
	return arch;
}

static struct tact_block *load(const struct tact_arch *arch)
{
	const struct tact_block_options opt = {.size = sizeof(opt), .mode = TACT_MODE_UNROLL};
	struct tact_block *block;
	uint8_t code[64];
	size_t size = bytes_of(code, sizeof(code), code_hex);

	assert_int_equal(tact_block_create(&block, arch, &opt, NULL), 0);
	assert_int_equal(tact_block_load(block, code, size, NULL), 0);
	return block;
}

static void bounds_know_high_ports(void **state)
{
	static const struct {
		const char *ports;
		unsigned mask;
		double cycles;
	} rows[] = {
		{"J", 1u << 19, 4},
		{"IJ", 3u << 18, 2},
		{"JV", 1u << 19 | 1u << 31, 2},
		{"FGHV", 7u << 15 | 1u << 31, 1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tact_predict_options exact = {.size = sizeof(exact), .exact_ports = true};
		struct tact_arch *arch = make_arch("wide", rows[i].ports);
		struct tact_block *block = load(arch);
		struct tact_prediction p = {.size = sizeof(p)};
		struct tact_port_contention c = TACT_PORT_CONTENTION_INIT;
		struct tact_insn_cost cost = TACT_INSN_COST_INIT;

		assert_int_equal(tact_predict(block, NULL, &p), 0);
		assert_true(p.bound[TACT_BOUND_PORTS] == rows[i].cycles);
		assert_int_equal(tact_predict(block, &exact, &p), 0);
		assert_true(p.bound[TACT_BOUND_PORTS] == rows[i].cycles);
		assert_int_equal(tact_explain_ports(block, &c), 0);
		assert_int_equal(c.ports, rows[i].mask);
		assert_int_equal(tact_block_cost(block, 0, &cost), 0);
		for (unsigned port = 0; port < TACT_MAX_PORTS; port++) {
			double share = rows[i].mask >> port & 1 ? rows[i].cycles / 4 : 0;

			assert_true(fabs(cost.port[port] - share) < 1e-9);
		}
		tact_block_destroy(block);
		tact_arch_destroy(arch);
	}
}

/* Each rule of binding finds them. */
static void pipeline_uses_high_ports(void **state)
{
	static const char *const bindings[] = {"six", "eight", "wide", "least"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bindings); i++) {
		struct tact_arch *arch = make_arch(bindings[i], "JV");
		struct tact_block *block = load(arch);
		struct tact_simulation s = {.size = sizeof(s)};
		struct tact_simulator *simulator;
		struct tact_sim_insn insn = TACT_SIM_INSN_INIT;
		double low = 0, high[2] = {0};

		assert_int_equal(tact_simulator_create(&simulator, NULL), 0);
		assert_int_equal(tact_simulate(simulator, block, NULL, &s), 0);
		if (fabs(s.cycles_per_iteration - 2) > 0.1)
			fail_msg("%s: %f cycles", bindings[i], s.cycles_per_iteration);
		for (size_t k = 0; k < 4; k++) {
			assert_int_equal(tact_simulated_insn(simulator, k, &insn), 0);
			for (unsigned port = 0; port < TACT_MAX_PORTS; port++)
				low += port == 19 || port == 31 ? 0 : insn.port[port];
			high[0] += insn.port[19];
			high[1] += insn.port[31];
		}
		assert_true(low == 0);
		assert_true(fabs(high[0] - 2) < 0.2 && fabs(high[1] - 2) < 0.2);
		tact_simulator_destroy(simulator);
		tact_block_destroy(block);
		tact_arch_destroy(arch);
	}
}

/* Loads on three high ports, which are taken in turn. */
static void turns_are_taken(void **state)
{
	static const char text[] = "ports = 0,1,2,3,4,5,6,7,8,9,17,18,31\nload_ports = 17,18,31\n"
				   "ports_in_turn = 17,18,31\n"
				   "MOV (R64, M64)\tplain\tports=1*pHIV\n";
	const struct tact_block_options opt = {.size = sizeof(opt), .mode = TACT_MODE_UNROLL};
	struct tact_simulation s = {.size = sizeof(s)};
	struct tact_simulator *simulator;
	struct tact_sim_insn insn = TACT_SIM_INSN_INIT;
	struct tact_block *block;
	struct tact_arch *arch;
	uint8_t code[16];
	size_t size = bytes_of(code, sizeof(code), "488b03 488b0b 488b13");

	(void)state;
	assert_int_equal(derive_from_text(&arch, "ICL", text, NULL), 0);
	assert_int_equal(tact_block_create(&block, arch, &opt, NULL), 0);
	assert_int_equal(tact_block_load(block, code, size, NULL), 0);
	assert_int_equal(tact_simulator_create(&simulator, NULL), 0);
	assert_int_equal(tact_simulate(simulator, block, NULL, &s), 0);
	assert_true(fabs(s.cycles_per_iteration - 1) < 0.05);
	for (size_t k = 0; k < 3; k++) {
		assert_int_equal(tact_simulated_insn(simulator, k, &insn), 0);
		assert_true(fabs(insn.port[k == 0 ? 17 : k == 1 ? 18 : 31] - 1) < 0.05);
	}
	tact_simulator_destroy(simulator);
	tact_block_destroy(block);
	tact_arch_destroy(arch);
}

/* What is written is read again. */
static void files_go_round(void **state)
{
	struct tact_arch *arch = make_arch("least", "FGV"), *again;
	char path[] = "/tmp/tact_ports_XXXXXX";
	struct tact_param mine = TACT_PARAM_INIT, its = TACT_PARAM_INIT;
	struct arch_view view;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(tact_arch_save(arch, path, NULL, NULL), 0);
	assert_int_equal(tact_arch_derive(&again, tact_arch_find("ICL"), path, NULL), 0);
	unlink(path);
	for (size_t i = 0; tact_arch_param(arch, i, &mine); i++) {
		assert_true(tact_arch_param(again, i, &its));
		assert_string_equal(mine.value, its.value);
	}
	assert_true(arch_view_of(again, tact_isa_form_find(tact_isa_default(), "IMUL (R64, R64)"),
				 ARCH_PLAIN, &view));
	assert_int_equal(view.ports[0].mask, 3u << 15 | 1u << 31);
	tact_arch_destroy(again);
	tact_arch_destroy(arch);
}

/* Blocks count uops by set of ports, in lists that are long enough for every valid core. */
static void too_many_sets_are_found(void **state)
{
	static char text[16384];
	struct tact_diag diag = {.text = ""};
	struct tact_arch *arch;
	size_t used = 0;
	unsigned n = 0;

	(void)state;
	for (unsigned form = 0; form < tact_isa_form_count(tact_isa_default()) && n < 64; form++) {
		struct arch_view view;

		if (!arch_view_of(tact_arch_find("ICL"), form, ARCH_PLAIN, &view) ||
		    !view.variant->uops || !view.ports->count)
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s\tplain\tports=1*p%c%c%c\n",
					 tact_isa_form_name(tact_isa_default(), form),
					 "0123"[n / 16], "4567"[n / 4 % 4], "89AB"[n % 4]);
		n++;
	}
	snprintf(text + used, sizeof(text) - used, "ports = 0,1,2,3,4,5,6,7,8,9,10,11\n");
	assert_int_equal(derive_from_text(&arch, "ICL", text, NULL), 0);
	assert_int_equal(tact_arch_validate(arch, &diag), 1);
	assert_non_null(strstr(diag.text, "sets of ports"));
	assert_int_equal(tact_arch_validate(arch, NULL), 1);
	tact_arch_destroy(arch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds_know_high_ports),
		cmocka_unit_test(pipeline_uses_high_ports),
		cmocka_unit_test(turns_are_taken),
		cmocka_unit_test(files_go_round),
		cmocka_unit_test(too_many_sets_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
