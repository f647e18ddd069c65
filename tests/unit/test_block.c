/* SPDX-License-Identifier: MIT
 *
 * What a block is made of: instructions, fusion, where inputs come from, modes; and the state of a
 * block after a failure.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "testing.h"

#include "support.h"

#include "block/block.h"

static struct tact_block *open_block(const char *arch, enum tact_mode mode)
{
	const struct tact_block_options options = {.size = sizeof(options), .mode = mode};
	struct tact_block *block = NULL;

	assert_int_equal(tact_block_create(&block, tact_arch_find(arch), &options, NULL), 0);
	return block;
}

static int load(struct tact_block *block, const char *hex, struct tact_diag *diag)
{
	uint8_t code[256];

	return tact_block_load(block, code, bytes_of(code, sizeof(code), hex), diag);
}

/* cmp rdi, rsi; jne to the start */
#define LOOP "4839f775fb"

TEST(modes)
{
	static const struct {
		const char *hex;
		enum tact_mode mode;
	} cases[] = {
		{LOOP, TACT_MODE_LOOP},
		{"4839f775fc", TACT_MODE_UNROLL},	/* into its own middle */
		{"4839f77500", TACT_MODE_UNROLL},	/* to what follows */
		{"904839f775fb", TACT_MODE_UNROLL},	/* after the first instruction */
		{"4839f775fb90", TACT_MODE_UNROLL},	/* not at the end */
		{"ebfe", TACT_MODE_LOOP},		/* jmp to itself */
		{"4839f70f85f7ffffff", TACT_MODE_LOOP}, /* a displacement of 32 bits */
	};
	struct tact_block *block = open_block("SKL", TACT_MODE_AUTO);

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(load(block, cases[i].hex, NULL), 0);
		assert_int_equal(tact_block_mode(block), cases[i].mode);
	}
	tact_block_destroy(block);
	/* An explicit request is not questioned. */
	block = open_block("SKL", TACT_MODE_UNROLL);
	assert_int_equal(load(block, LOOP, NULL), 0);
	assert_int_equal(tact_block_mode(block), TACT_MODE_UNROLL);
	tact_block_destroy(block);
}

TEST(fusion)
{
	struct tact_block *block = open_block("SKL", TACT_MODE_AUTO);
	struct tact_insn_cost cost = {.size = sizeof(cost)};

	assert_int_equal(load(block, LOOP, NULL), 0);
	assert_int_equal(tact_block_length(block), 2);
	assert_int_equal(tact_block_offset(block, 1), 3);
	assert_true(block->insns[0].fused_next && block->insns[1].fused_prev);
	assert_int_equal(tact_block_cost(block, 0, &cost), 0);
	assert_true(cost.notes & TACT_NOTE_FUSED_NEXT);
	assert_int_equal(cost.issued, 1);
	/* An instruction between them keeps them apart. */
	assert_int_equal(load(block, "4839f79075fa", NULL), 0);
	assert_false(block->insns[0].fused_next || block->insns[2].fused_prev);
	tact_block_destroy(block);
}

/* add rax, rbx; imul rcx, rax; add rbx, rcx: each waits for the one before, the first one for the
 * last one of the iteration before.
 */
/* lea for ports 1 and 5, ten addps for 0 and 1, four shufps for 5: five for each of them.  A lea that
 * goes to the port that is idle when it comes, port 1, is in the way of addps.
 */
TEST(busiest_port_is_as_idle_as_possible)
{
	struct tact_block *block = open_block("SKL", TACT_MODE_UNROLL);
	double level[TACT_MAX_PORTS] = {0};
	char hex[160] = "";

	for (unsigned i = 0; i < 4; i++)
		strcat(hex, "0fc6e101");
	strcat(hex, "4b8d3429");
	for (unsigned i = 0; i < 10; i++)
		strcat(hex, "410f58c9");
	assert_int_equal(load(block, hex, NULL), 0);
	for (size_t i = 0; i < tact_block_length(block); i++) {
		struct tact_insn_cost cost = TACT_INSN_COST_INIT;

		assert_int_equal(tact_block_cost(block, i, &cost), 0);
		for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
			level[p] += cost.port[p];
	}
	assert_true(fabs(level[0] - 5) < 1e-3 && fabs(level[1] - 5) < 1e-3 &&
		    fabs(level[5] - 5) < 1e-3);
	tact_block_destroy(block);
}

TEST(producers)
{
	struct tact_block *block = open_block("SKL", TACT_MODE_UNROLL);
	unsigned from_before = 0, from_here = 0;

	assert_int_equal(load(block, "4801d8480fafc84801cb", NULL), 0);
	block_connect(block);
	assert_int_equal(tact_block_length(block), 3);
	for (size_t i = 0; i < block->n_nodes; i++) {
		const struct block_node *node = &block->nodes[i];

		if (node->producer == BLOCK_NO_PRODUCER)
			continue;
		if (node->iterations) {
			assert_true(node->producer >= node->insn);
			from_before++;
		} else {
			assert_int_equal(node->producer, node->insn - 1);
			from_here++;
		}
	}
	assert_int_equal(from_here, 2);
	assert_int_equal(from_before, 4); /* rax, rbx; rcx; rbx */
	tact_block_destroy(block);
}

/* A store and a load of the same address meet; of another one they do not. */
TEST(memory)
{
	struct tact_block *block = open_block("SKL", TACT_MODE_UNROLL);

	assert_int_equal(load(block, "488947084c8b4708", NULL), 0); /* [rdi+8], [rdi+8] */
	block_connect(block);
	assert_true(block->has_forwarding);
	assert_int_equal(load(block, "488947084c8b4710", NULL), 0); /* [rdi+8], [rdi+16] */
	block_connect(block);
	assert_false(block->has_forwarding);
	assert_int_equal(load(block, "488947084c8b470c", NULL), 0); /* its upper half */
	block_connect(block);
	assert_true(block->has_blocked);
	tact_block_destroy(block);
}

static double cycles_with(enum tact_alias alias, uint32_t moving, const char *hex)
{
	const struct tact_block_options options = {
		.size = sizeof(options), .alias = alias, .moving = moving};
	struct tact_prediction x = TACT_PREDICTION_INIT;
	struct tact_block *block = NULL;

	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), &options, NULL), 0);
	assert_int_equal(load(block, hex, NULL), 0);
	assert_int_equal(tact_predict(block, NULL, &x), 0);
	tact_block_destroy(block);
	return x.cycles_per_iteration;
}

/* Bit 7 is rdi. */
TEST(loads_meet_stores_as_the_options_say)
{
	static const char add[] = "480107";		      /* add [rdi], rax */
	static const char two[] = "4801074801442408";	      /* and add [rsp + 8], rax */
	static const char other[] = "488946404889f8488b4708"; /* mov [rsi + 64], rax; mov rax, rdi;
								 mov rax, [rdi + 8] */

	assert_true(cycles_with(TACT_ALIAS_ADDRESSES, 0, add) > 4);
	assert_true(cycles_with(TACT_ALIAS_NEVER, 0, add) < 2);
	assert_true(cycles_with(TACT_ALIAS_ADDRESSES, 1u << 7, add) < 2);
	assert_true(cycles_with(TACT_ALIAS_ADDRESSES, 1u << 6, add) > 4);
	assert_true(cycles_with(TACT_ALIAS_ADDRESSES, UINT32_MAX, add) < 2);
	/* Only what uses the register moves. */
	assert_true(cycles_with(TACT_ALIAS_ADDRESSES, 1u << 7, two) > 4);
	assert_true(cycles_with(TACT_ALIAS_NEVER, 0, two) < 3);
	assert_true(cycles_with(TACT_ALIAS_ADDRESSES, 0, other) < 2);
	assert_true(cycles_with(TACT_ALIAS_ALWAYS, 0, other) > 3);
	assert_int_equal(tact_block_rebind(NULL, NULL, NULL), -TACT_E_INVAL);
}

TEST(failures)
{
	struct tact_block *block = open_block("SKL", TACT_MODE_AUTO);
	struct tact_diag diag = {0};
	struct tact_insn insn;
	uint8_t *large = calloc(1, TACT_BLOCK_MAX_BYTES + 1);

	assert_int_equal(load(block, "4801d806", &diag), -TACT_E_DECODE);
	assert_int_equal(diag.offset, 3);
	assert_int_equal(tact_block_length(block), 0);
	assert_int_equal(load(block, "4801", NULL), -TACT_E_DECODE); /* cut short */
	assert_int_equal(tact_block_load(block, large, 0, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_block_load(block, large, TACT_BLOCK_MAX_BYTES + 1, NULL),
			 -TACT_E_LIMIT);
	assert_int_equal(tact_block_length(block), 0);
	assert_true(tact_block_insn(block, 0, &insn) < 0);
	/* It is as good as new. */
	assert_int_equal(load(block, LOOP, NULL), 0);
	assert_int_equal(tact_block_length(block), 2);
	tact_block_destroy(block);
	tact_block_destroy(NULL);
	free(large);
}

/* Bound to another CPU, a block is what it would be if it had been loaded for it. */
TEST(rebinding)
{
	struct tact_block *block = open_block("SNB", TACT_MODE_AUTO), *fresh;

	assert_int_equal(load(block, "4889d84801c848ffc94839f775f2", NULL), 0);
	for (const struct tact_arch *arch = tact_arch_next(NULL); arch;
	     arch = tact_arch_next(arch)) {
		fresh = open_block(tact_arch_name(arch), TACT_MODE_AUTO);
		assert_int_equal(load(fresh, "4889d84801c848ffc94839f775f2", NULL), 0);
		assert_int_equal(tact_block_rebind(block, arch, NULL), 0);
		assert_ptr_equal(tact_block_arch(block), arch);
		block_connect(block);
		block_connect(fresh);
		assert_int_equal(block->n_nodes, fresh->n_nodes);
		for (size_t i = 0; i < tact_block_length(block); i++) {
			struct tact_insn_cost a = {.size = sizeof(a)}, b = {.size = sizeof(b)};

			assert_int_equal(tact_block_cost(block, i, &a), 0);
			assert_int_equal(tact_block_cost(fresh, i, &b), 0);
			assert_int_equal(a.notes, b.notes);
			assert_int_equal(a.issued, b.issued);
			assert_memory_equal(a.port, b.port, sizeof(a.port));
		}
		tact_block_destroy(fresh);
	}
	tact_block_destroy(block);
}

RUN_TESTS(NULL, NULL)
