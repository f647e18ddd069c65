/* SPDX-License-Identifier: MIT
 *
 * How much each instruction matters: by blocks worked out by hand, and by the definitions.
 */
#include "testing.h"

#include <math.h>

#include "support.h"

#include "block/block.h"

static struct tact_block *loaded(const char *arch, enum tact_mode mode, const char *hex)
{
	const struct tact_block_options opt = {.size = sizeof(opt), .mode = mode};
	struct tact_block *block;
	uint8_t code[64];

	assert_int_equal(tact_block_create(&block, tact_arch_find(arch), &opt, NULL), 0);
	assert_int_equal(tact_block_load(block, code, bytes_of(code, sizeof(code), hex), NULL), 0);
	return block;
}

static struct tact_criticality criticality_of(struct tact_block *block, size_t i)
{
	struct tact_criticality c = TACT_CRITICALITY_INIT;

	assert_int_equal(tact_explain_criticality(block, NULL, i, &c), 0);
	return c;
}

/* imul rax, rbx; add rcx, rdx; mov rsi, [rdi] */
TEST(a_chain_and_its_neighbours)
{
	struct tact_block *block = loaded("SKL", TACT_MODE_UNROLL, "480fafc3 4801d1 488b37");
	struct tact_criticality c = criticality_of(block, 0);

	assert_true(c.slack == 0 && c.is_erasable);
	assert_true(c.saved == 2); /* add rcx, rdx is left: 1 cycle */
	c = criticality_of(block, 1);
	assert_true(c.slack == 2 && c.saved == 0);
	c = criticality_of(block, 2);
	assert_true(isinf(c.slack) && c.saved == 0);
	tact_block_destroy(block);
}

/* The branch of a loop cannot go; the only instruction neither. */
TEST(what_cannot_be_erased)
{
	struct tact_block *block = loaded("SKL", TACT_MODE_AUTO, "480fafc3 48ffc9 75f7");

	assert_int_equal(tact_block_mode(block), TACT_MODE_LOOP);
	assert_false(criticality_of(block, 2).is_erasable);
	assert_true(criticality_of(block, 2).saved == 0);
	assert_true(criticality_of(block, 0).is_erasable);
	assert_true(criticality_of(block, 0).saved == 2); /* still a loop: of one cycle */
	assert_int_equal(tact_block_mode(block), TACT_MODE_LOOP);
	tact_block_destroy(block);
	block = loaded("SKL", TACT_MODE_UNROLL, "480fafc3");
	assert_false(criticality_of(block, 0).is_erasable);
	tact_block_destroy(block);
}

/* xor eax, eax breaks the chain of add rax, rbx; imul rax, rcx. */
TEST(an_idiom_saves_cycles)
{
	struct tact_block *block = loaded("SKL", TACT_MODE_UNROLL, "31c0 4801d8 480fafc1");

	assert_true(criticality_of(block, 0).saved < 0);
	tact_block_destroy(block);
}

static double without(struct tact_block *block, struct tact_block *other, size_t i)
{
	struct tact_prediction p = TACT_PREDICTION_INIT;
	const size_t begin = tact_block_offset(block, i), end = tact_block_offset(block, i + 1);
	uint8_t code[16 * TACT_MAX_INSN_BYTES];
	size_t size;
	const uint8_t *from = tact_block_code(block, &size);

	memcpy(code, from, begin);
	memcpy(code + begin, from + end, size - end);
	assert_int_equal(tact_block_load(other, code, size - (end - begin), NULL), 0);
	assert_int_equal(tact_predict(other, NULL, &p), 0);
	return p.cycles_per_iteration;
}

/* Lets all latencies of an instruction grow, in the block alone. */
static void grow(const struct block_lowered *l, int cycles)
{
	uint16_t *latency = (uint16_t *)(uintptr_t)l->latency,
		 *forwarded = (uint16_t *)(uintptr_t)l->forwarded;

	for (unsigned k = 0; k < (unsigned)l->n_in * l->n_out; k++) {
		if (forwarded != latency && forwarded[k])
			forwarded[k] = (uint16_t)(forwarded[k] + cycles);
		if (latency[k])
			latency[k] = (uint16_t)(latency[k] + cycles);
	}
}

static double chain_with(struct tact_block *block, size_t i, int cycles)
{
	struct tact_chain chain = TACT_CHAIN_INIT;

	grow(block->insns[i].lowered, cycles);
	assert_int_equal(tact_explain_chain(block, &chain), 0);
	grow(block->insns[i].lowered, -cycles);
	return chain.cycles_per_iteration;
}

/* Moves that take no time, stores, and instructions that stand there twice are left aside: their
 * latencies are not theirs alone.
 */
static bool can_grow(const struct tact_block *block, size_t i)
{
	if (block->insns[i].lowered->eliminated || block->insns[i].lowered->n_stores)
		return false;
	for (size_t k = 0; k < block->n_insns; k++)
		if (k != i && block->insns[k].entry == block->insns[i].entry)
			return false;
	return true;
}

TEST(definitions_hold)
{
	static const char *const archs[] = {"SNB", "SKL", "ICL", "ZEN4"};
	unsigned n_finite = 0, n_all = 0;

	for (size_t a = 0; a < ARRAY_SIZE(archs); a++) {
		const struct tact_block_options opt = {.size = sizeof(opt),
						       .mode = TACT_MODE_UNROLL};
		struct rng rng = {a + 5};
		struct tact_block *block, *other;

		assert_int_equal(tact_block_create(&block, tact_arch_find(archs[a]), &opt, NULL),
				 0);
		assert_int_equal(tact_block_create(&other, tact_arch_find(archs[a]), &opt, NULL),
				 0);
		for (unsigned b = 0; b < rounds(120); b++) {
			struct tact_prediction p = TACT_PREDICTION_INIT, q = TACT_PREDICTION_INIT;
			uint8_t code[16 * TACT_MAX_INSN_BYTES];
			size_t size = random_block(&rng, code, 10);

			assert_int_equal(tact_block_load(block, code, size, NULL), 0);
			assert_int_equal(tact_predict(block, NULL, &p), 0);
			for (size_t i = 0; i < tact_block_length(block); i++) {
				struct tact_criticality c = criticality_of(block, i);

				n_all++;
				assert_true(c.slack >= 0);
				if (c.is_erasable)
					assert_true(c.saved == p.cycles_per_iteration -
								       without(block, other, i));
				if (isinf(c.slack) || c.slack > 1000 || !can_grow(block, i))
					continue;
				n_finite++;
				assert_true(chain_with(block, i, (int)floor(c.slack + 1e-6)) <=
					    p.cycles_per_iteration + 1e-6);
				assert_true(chain_with(block, i, (int)floor(c.slack + 1e-6) + 1) >
					    p.cycles_per_iteration);
			}
			/* It is as it was. */
			assert_int_equal(tact_predict(block, NULL, &q), 0);
			assert_memory_equal(&p, &q, sizeof(p));
		}
		tact_block_destroy(block);
		tact_block_destroy(other);
	}
	print_message("%u of %u instructions are on a cycle\n", n_finite, n_all);
	assert_true(n_finite > n_all / 20);
}

TEST(misuse)
{
	struct tact_block *block = loaded("SKL", TACT_MODE_UNROLL, "480fafc3 4801d1");
	const struct tact_predict_options unknown = {.size = sizeof(unknown), .bounds = 1u << 30};
	struct tact_criticality c = TACT_CRITICALITY_INIT, no_size = {.size = 0};

	assert_int_equal(tact_explain_criticality(NULL, NULL, 0, &c), -TACT_E_INVAL);
	assert_int_equal(tact_explain_criticality(block, NULL, 2, &c), -TACT_E_INVAL);
	assert_int_equal(tact_explain_criticality(block, NULL, 0, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_explain_criticality(block, NULL, 0, &no_size), -TACT_E_INVAL);
	assert_int_equal(tact_explain_criticality(block, &unknown, 0, &c), -TACT_E_INVAL);
	tact_block_destroy(block);
}

RUN_TESTS(NULL, NULL)
