/* SPDX-License-Identifier: MIT
 *
 * Bytes as code of the sets that LLVM decodes, on the CPU that the first byte picks: scanned, loaded,
 * printed, predicted and run on the machines.  Nothing to do where the module was not built.
 */
#include <math.h>

#include "fuzz_llvm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_walk(const struct tact_isa *isa, const uint8_t *data, size_t size)
{
	struct isa_step steps[8];
	const size_t n = isa->scan(steps, 8, data, size);
	size_t at = 0;

	MUST(n <= 8 && (n || !size));
	for (size_t i = 0; i < n; i++) {
		char text[96];

		MUST(steps[i].length && at + steps[i].length <= size);
		if (steps[i].is_valid)
			MUST(tact_isa_format(isa, data + at, size - at, 0, text, sizeof(text)) > 0);
		at += steps[i].length;
	}
}

static void try_models(struct tact_block *block)
{
	const struct tact_mca_options few = {.size = sizeof(few), .iterations = 5};
	struct tact_prediction p = TACT_PREDICTION_INIT;
	struct tact_mca_result r = TACT_MCA_RESULT_INIT;
	struct tact_mca *machine;

	MUST(tact_predict(block, NULL, &p) == 0);
	MUST(isfinite(p.cycles_per_iteration) && p.cycles_per_iteration >= 0);
	MUST(tact_mca_create(&machine, &few, NULL) == 0);
	MUST(tact_mca_estimate(machine, block, &r) == 0);
	MUST(r.cycles_per_iteration > 0 && r.coverage >= 0 && r.coverage <= 1);
	tact_mca_destroy(machine);
}

/* The pipeline, in order or out of order, as the CPU is. */
static void try_pipeline(struct tact_block *block)
{
	static struct tact_simulator *simulator;
	const struct tact_sim_options few = {.size = sizeof(few), .max_cycles = 400};
	struct tact_simulation r = TACT_SIMULATION_INIT, again = TACT_SIMULATION_INIT;
	double spent = 0;
	int status;

	if (!simulator)
		MUST(tact_simulator_create(&simulator, NULL) == 0);
	status = tact_simulate(simulator, block, &few, &r);
	MUST(status == 0 || status == -TACT_E_LIMIT);
	if (status)
		return;
	MUST(isfinite(r.cycles_per_iteration) && r.cycles_per_iteration > 0 && r.period);
	for (size_t i = 0; i < tact_block_length(block); i++) {
		struct tact_sim_insn insn = TACT_SIM_INSN_INIT;

		MUST(tact_simulated_insn(simulator, i, &insn) == 0);
		MUST(insn.spent >= 0 && insn.issued >= 0);
		spent += insn.spent;
	}
	MUST(fabs(spent - r.cycles_per_iteration) <= 1e-6 * (1 + spent));
	MUST(tact_simulate(simulator, block, &few, &again) == 0);
	MUST(again.cycles_per_iteration == r.cycles_per_iteration);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tact_arch *arch = fuzz_arch(data, size);
	struct tact_block *block;
	struct tact_diag diag;
	int status;

	if (!arch)
		return 0;
	data++;
	size--;
	try_walk(tact_arch_isa(arch), data, size);
	MUST(tact_block_create(&block, arch, NULL, &diag) == 0);
	status = tact_block_load(block, data, size, &diag);
	if (status >= 0) {
		try_models(block);
		try_pipeline(block);
	} else {
		MUST(status == -TACT_E_DECODE || status == -TACT_E_INVAL ||
		     status == -TACT_E_LIMIT);
	}
	tact_block_destroy(block);
	return 0;
}
