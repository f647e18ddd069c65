/* SPDX-License-Identifier: MIT
 *
 * Bytes as code, on the CPU, in the mode and with the options that the first two bytes pick: loaded,
 * predicted and explained.  What must always hold is checked.
 *
 * One block serves all executions, as in programs that predict many blocks: what one of them leaves
 * behind must not change the next.  Some executions compare it with a new one.
 *
 * No execution does everything: bits of the code's hash pick what is done beside the prediction, so
 * that more code is seen in the same time, and an input always does the same.
 */
#include <math.h>

#include <tact/tact.h>

#include "base/base.h"
#include "base/hash.h"
#include "fuzz_insns.h"

enum { HEAD = 2 }; /* options; CPU and mode */

static void check_prediction(const struct tact_prediction *p)
{
	double worst = 0;

	for (unsigned b = 0; b < TACT_N_BOUNDS; b++) {
		if (!(p->applies >> b & 1))
			continue;
		MUST(isfinite(p->bound[b]) && p->bound[b] >= 0);
		worst = fmax(worst, p->bound[b]);
	}
	MUST(p->cycles_per_iteration == worst);
	MUST(!(p->bottlenecks & ~p->applies));
	MUST(p->coverage >= 0 && p->coverage <= 1);
	MUST(p->mode == TACT_MODE_LOOP || p->mode == TACT_MODE_UNROLL);
}

static void check_insns(struct tact_block *block, size_t size)
{
	size_t at = 0;

	for (size_t i = 0; i < tact_block_length(block); i++) {
		struct tact_insn_cost cost = {.size = sizeof(cost)};
		struct tact_insn insn;

		MUST(tact_block_insn(block, i, &insn) == 0);
		MUST(tact_block_offset(block, i) == at);
		MUST(insn.length > 0 && insn.length <= TACT_MAX_INSN_BYTES);
		MUST(insn.opcode_offset < insn.length);
		MUST(insn.n_operands <= TACT_MAX_OPERANDS);
		at += insn.length;
		MUST(tact_block_cost(block, i, &cost) == 0);
		for (unsigned port = 0; port < 16; port++)
			MUST(isfinite(cost.port[port]) && cost.port[port] >= 0);
	}
	MUST(at == size);
}

static void check_explanations(struct tact_block *block, const struct tact_prediction *p)
{
	struct tact_front_end_group groups[8];
	struct tact_port_contention ports = TACT_PORT_CONTENTION_INIT;
	struct tact_chain chain = TACT_CHAIN_INIT;
	struct tact_edge edge;
	size_t n = tact_block_length(block);
	unsigned iterations;

	MUST(tact_explain_ports(block, &ports) == 0);
	for (size_t i = 0; i < ports.n_insns; i++)
		MUST(ports.insns[i] < n);
	MUST(tact_explain_chain(block, &chain) == 0);
	if (p->applies >> TACT_BOUND_PRECEDENCE & 1)
		MUST(chain.cycles_per_iteration >= p->bound[TACT_BOUND_PRECEDENCE] - 1e-6);
	for (size_t i = 0; i < chain.n_links; i++)
		MUST(chain.links[i].insn < n);
	for (size_t cursor = 0; tact_block_edge(block, &cursor, &edge) == 1;)
		MUST(edge.from < n && edge.to < n);
	MUST(tact_explain_predecoder(block, groups, ARRAY_SIZE(groups), &iterations) > 0);
	MUST(tact_explain_decoder(block, groups, ARRAY_SIZE(groups), &iterations) >= 0);
}

static void try_block(struct tact_block *block, unsigned choice, unsigned part)
{
	struct tact_predict_options opt = {.size = sizeof(opt),
					   .simple_predecoder = choice & 1,
					   .simple_decoder = choice & 2,
					   .exact_ports = choice & 4};
	struct tact_prediction p = TACT_PREDICTION_INIT, again = TACT_PREDICTION_INIT;

	MUST(tact_predict(block, NULL, &p) == 0);
	check_prediction(&p);
	if (part == 0) {
		check_explanations(block, &p);
		/* the explanations left no trace */
		MUST(tact_predict(block, NULL, &again) == 0);
		MUST(again.cycles_per_iteration == p.cycles_per_iteration);
	} else if (part == 1) {
		MUST(tact_predict(block, &opt, &p) == 0);
		check_prediction(&p);
	}
}

/* Text for an instruction of the same form: one line, as long as it says. */
static void check_example(struct tact_block *block, unsigned choice)
{
	const struct tact_isa *isa = tact_isa_default();
	struct tact_insn insn;
	char text[128];
	int n;

	MUST(tact_block_insn(block, choice % tact_block_length(block), &insn) == 0);
	if (insn.form == TACT_FORM_NONE)
		return;
	n = tact_isa_form_example(isa, insn.form, choice % 8, (int)(choice / 8 % 4) - 1, text,
				  sizeof(text));
	MUST(n > 0 ? strlen(text) == (size_t)n && !strchr(text, '\n')
		   : n == -TACT_E_NO_DATA || n == -TACT_E_INVAL || n == -TACT_E_LIMIT);
}

/* What an edited block is made of, loaded anew, is predicted as the edited one. */
static void check_edited(struct tact_block *block, const struct tact_arch *arch,
			 const struct tact_block_options *opt)
{
	static struct tact_block *fresh;
	struct tact_prediction p = TACT_PREDICTION_INIT, q = TACT_PREDICTION_INIT;
	const uint8_t *code;
	size_t size;

	code = tact_block_code(block, &size);
	MUST(code && size);
	check_insns(block, size);
	if (fresh)
		MUST(tact_block_rebind(fresh, arch, opt) == 0);
	else
		MUST(tact_block_create(&fresh, arch, opt, NULL) == 0);
	MUST(tact_block_load(fresh, code, size, NULL) == 0);
	MUST(tact_predict(block, NULL, &p) == 0);
	MUST(tact_predict(fresh, NULL, &q) == 0);
	MUST(!memcmp(&p, &q, sizeof(p)));
}

/* Replaces, inserts and removes an instruction, each made of one of the block's own. */
static void try_edits(struct tact_block *block, const struct tact_arch *arch,
		      const struct tact_block_options *opt, const uint8_t *code, unsigned choice)
{
	const size_t n = tact_block_length(block), from = choice % n, to = choice / 7 % n;
	const size_t begin = tact_block_offset(block, from);
	struct tact_insn insn;
	uint8_t bytes[TACT_MAX_INSN_BYTES];

	MUST(tact_block_insn(block, from, &insn) == 0);
	memcpy(bytes, code + begin, insn.length);
	if (tact_block_replace(block, to, bytes, insn.length, NULL) == 0)
		check_edited(block, arch, opt);
	if (tact_block_insert(block, to, bytes, insn.length, NULL) == 0) {
		MUST(tact_block_length(block) == n + 1);
		check_edited(block, arch, opt);
	}
	if (tact_block_erase(block, from, NULL) == 0) {
		MUST(tact_block_length(block) == n);
		check_edited(block, arch, opt);
	}
}

/* A block that nothing was loaded into before says the same. */
static void compare_with_new(struct tact_block *used, const struct tact_arch *arch,
			     const struct tact_block_options *opt, const uint8_t *code, size_t size)
{
	struct tact_prediction p = TACT_PREDICTION_INIT, q = TACT_PREDICTION_INIT;
	struct tact_block *block;

	MUST(tact_block_create(&block, arch, opt, NULL) == 0);
	MUST(tact_block_load(block, code, size, NULL) == 0);
	MUST(tact_predict(block, NULL, &p) == 0);
	MUST(tact_predict(used, NULL, &q) == 0);
	MUST(!memcmp(&p, &q, sizeof(p)));
	tact_block_destroy(block);
}

static void check_loaded(struct tact_block *block, const struct tact_arch *arch,
			 const struct tact_block_options *opt, const uint8_t *code, size_t size,
			 unsigned choice)
{
	struct tact_block_options other = *opt;
	const uint64_t parts = hash_bytes(code, size);

	try_block(block, choice, parts % 4);
	if (parts % 4 == 2)
		check_insns(block, size);
	if (parts % 4 == 3)
		check_example(block, choice);
	if (parts / 4 % 32 == 1) {
		try_edits(block, arch, opt, code, choice);
		return;
	}
	if (parts / 4 % 128)
		return;
	compare_with_new(block, arch, opt, code, size);
	/* every other mode and CPU, and back */
	for (; arch; arch = tact_arch_next(arch)) {
		other.mode = (enum tact_mode)((other.mode + 1) % 3);
		MUST(tact_block_rebind(block, arch, &other) == 0);
		try_block(block, choice, parts % 4);
	}
	check_insns(block, size);
}

static const struct tact_arch *pick_arch(unsigned number)
{
	static const struct tact_arch *archs[64];
	static unsigned n;

	for (const struct tact_arch *a = NULL; !n || archs[n - 1]; archs[n++] = a)
		a = tact_arch_next(a);
	return archs[number % (n - 1)];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tact_block *block;
	struct tact_block_options opt = {.size = sizeof(opt)};
	const struct tact_arch *arch;
	struct tact_diag diag;
	unsigned choice;
	int status;

	if (size < HEAD)
		return 0;
	choice = data[0];
	arch = pick_arch(data[1] / 3);
	opt.init = (enum tact_init)(choice % 3);
	opt.alignment = choice % 64;
	opt.mode = (enum tact_mode)(data[1] % 3);
	opt.paper = choice & 8;
	data += HEAD;
	size -= HEAD;
	if (block)
		MUST(tact_block_rebind(block, arch, &opt) == 0);
	else
		MUST(tact_block_create(&block, arch, &opt, &diag) == 0);
	status = tact_block_load(block, data, size, &diag);
	if (status >= 0) {
		check_loaded(block, arch, &opt, data, size, choice);
	} else {
		MUST(status == -TACT_E_DECODE || status == -TACT_E_INVAL ||
		     status == -TACT_E_LIMIT);
		MUST(status != -TACT_E_DECODE || diag.offset < size);
		MUST(tact_block_length(block) == 0);
	}
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return fuzz_mutate_insns(tact_isa_default(), HEAD, data, size, max_size, seed);
}
