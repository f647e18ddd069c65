/* SPDX-License-Identifier: MIT
 *
 * What this machine says of an instruction: independent copies, and chains.
 */
#include <stdio.h>
#include <string.h>

#include <tact/block.h>
#include <tact/measure.h>
#include <tact/predict.h>

#include "common/cli.h"
#include "common/state.h"
#include "insns.h"

enum { COPIES = 8, MAX_CODE = 256 };

/* Instructions of the form, one after the other.  Returns the size of the code, 0 or less: none. */
static long make_code(const struct insns *q, unsigned form, unsigned copies, int chain,
		      uint8_t *code)
{
	struct text text = {0};
	long size = 1;

	text_add(&text, ".intel_syntax noprefix\n");
	for (unsigned i = 0; i < copies && size > 0; i++) {
		char line[INSN_TEXT];

		if (tact_isa_form_example(q->isa, form, i, chain, line, sizeof(line)) < 0)
			size = 0;
		else
			text_printf(&text, "%s\n", line);
	}
	if (size > 0)
		size = insn_assemble(q, cli_string(&text), code, MAX_CODE);
	text_free(&text);
	return size;
}

static double predict(const struct tact_arch *arch, const uint8_t *code, size_t size)
{
	const struct tact_block_options opt = {.size = sizeof(opt), .mode = TACT_MODE_UNROLL};
	struct tact_prediction x = TACT_PREDICTION_INIT;
	struct tact_block *block;

	if (tact_block_create(&block, arch, &opt, NULL) < 0)
		cli_out_of_memory();
	if (tact_block_load(block, code, size, NULL) < 0 || tact_predict(block, NULL, &x) < 0)
		x.cycles_per_iteration = 0;
	tact_block_destroy(block);
	return x.cycles_per_iteration;
}

/* Measures code.  Returns false, with the reason. */
static bool measure(struct tact_harness *harness, const uint8_t *code, size_t size, double *cycles,
		    char *why, size_t room)
{
	struct tact_measurement m = TACT_MEASUREMENT_INIT;

	if (tact_measure(harness, code, size, &m) < 0) {
		snprintf(why, room, "the harness failed");
		return false;
	}
	if (m.status != TACT_MEASURE_OK) {
		snprintf(why, room, "%s",
			 m.reason[0] ? m.reason : tact_measure_status_name(m.status));
		return false;
	}
	*cycles = m.cycles_per_iteration;
	return true;
}

/* Whether an instruction reads, with its explicit operand `i`, the register that it writes first. */
static bool is_chain(const struct tact_insn *insn, unsigned i, unsigned *reg, bool *is_address)
{
	unsigned n = 0, written = TACT_REG_NONE;

	for (size_t k = 0; k < insn->n_operands; k++) {
		const struct tact_operand *o = &insn->operand[k];

		if (!o->explicit_operand ||
		    (o->kind == TACT_OPERAND_REG && o->role == TACT_ROLE_UNMASKED))
			continue;
		if (!n && o->kind == TACT_OPERAND_REG && o->access & TACT_ACCESS_WRITE)
			written = o->reg;
		if (n++ != i || written == TACT_REG_NONE)
			continue;
		*reg = written;
		*is_address = o->kind != TACT_OPERAND_REG;
		return *is_address ? o->base == written
				   : o->reg == written && o->access & TACT_ACCESS_READ;
	}
	return false;
}

static void measure_chain(const struct insns *q, struct tact_harness *harness,
			  const struct tact_arch *arch, const struct insn_choice *choice,
			  unsigned operand, struct insn_measured *out)
{
	struct insn_chain *chain = &out->chain[out->n_chains];
	struct tact_insn insn;
	uint8_t code[MAX_CODE];
	char why[160];
	unsigned reg;
	bool is_address;
	const long size = make_code(q, choice->form, 1, (int)operand, code);

	if (size <= 0 || tact_isa_decode(q->isa, &insn, code, (size_t)size) != size ||
	    insn.form != choice->form || !is_chain(&insn, operand, &reg, &is_address))
		return;
	if (operand && insn.attributes & TACT_INSN_SAME_REG &&
	    insn.operand[0].access & TACT_ACCESS_READ)
		return; /* an idiom, or two chains at once */
	if (!measure(harness, code, (size_t)size, &chain->cycles, why, sizeof(why)))
		return;
	chain->predicted = predict(arch, code, (size_t)size);
	snprintf(chain->from, sizeof(chain->from), "operand %u%s", operand + 1,
		 is_address ? ", its address" : "");
	out->n_chains++;
}

void insn_measure(const struct insns *q, struct tact_harness *harness, const struct tact_arch *arch,
		  const struct insn_choice *choice, struct insn_measured *out)
{
	uint8_t code[MAX_CODE];
	long size = make_code(q, choice->form, COPIES, -1, code);
	unsigned copies = COPIES;

	*out = (struct insn_measured){.throughput = 0};
	if (size <= 0 && choice->has_code) { /* what was given, repeated */
		size = choice->insn.length;
		memcpy(code, choice->code, (size_t)size);
		copies = 1;
	}
	if (size <= 0) {
		snprintf(out->why, sizeof(out->why), "tact cannot write this form as text");
		return;
	}
	out->copies = copies;
	if (measure(harness, code, (size_t)size, &out->throughput, out->why, sizeof(out->why))) {
		out->throughput /= copies;
		out->predicted = predict(arch, code, (size_t)size) / copies;
	}
	for (unsigned i = 0; i < CLI_ARRAY_SIZE(out->chain); i++)
		measure_chain(q, harness, arch, choice, i, out);
}

int insn_start_harness(struct tact_harness **out, struct tact_diag *diag)
{
	struct tact_measure_options options = TACT_MEASURE_OPTIONS_INIT;
	char path[STATE_PATH];

	cli_warn_of_emulator();
	options.state = state_path("canary", path);
	return tact_harness_create(out, &options, diag);
}
