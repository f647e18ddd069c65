/* SPDX-License-Identifier: MIT
 *
 * The largest cycle ratio, against a slow way to find it: with the ratio subtracted from every edge
 * that leads to the next iteration, no cycle may be longer than nothing; with a little less, one
 * must be (Lawler 1976).
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "block/block.h"
#include "support.h"

/* True if a cycle is longer than 0 when each iteration costs `ratio`: longest paths by Bellman and
 * Ford still grow after as many rounds as there are nodes.
 */
static bool has_positive_cycle(const struct tact_block *block, const struct block_node *nodes,
			       bool forwarding, double ratio, double *distance)
{
	bool changed = true;

	for (size_t v = 0; v < block->n_nodes; v++)
		distance[v] = 0;
	for (size_t round = 0; changed && round <= block->n_nodes; round++) {
		changed = false;
		for (size_t v = 0; v < block->n_nodes; v++) {
			const struct block_node *node = &nodes[v];
			const struct block_insn *producer;

			if (node->producer == BLOCK_NO_PRODUCER)
				continue;
			producer = &block->insns[node->producer];
			for (unsigned in = 0; in < producer->lowered->n_in; in++) {
				unsigned latency;
				double length;

				if (!block_latency(block, node->producer, in, node->output, node,
						   forwarding, &latency))
					continue;
				length = distance[producer->first_node + in] + latency -
					 ratio * node->iterations;
				if (length > distance[v] + 1e-9) {
					distance[v] = length;
					changed = true;
				}
			}
		}
	}
	return changed;
}

/* Two views: the smaller of their ratios. */
static void check_one(const struct tact_block *block, const struct block_node *one,
		      const struct block_node *other, bool forwarding, double ratio)
{
	double *distance = calloc(block->n_nodes + 1, sizeof(*distance));

	assert_non_null(distance);
	if (has_positive_cycle(block, one, forwarding, ratio + 1e-3, distance) &&
	    has_positive_cycle(block, other, forwarding, ratio + 1e-3, distance))
		fail_msg("there is a cycle with a ratio above %.4f", ratio);
	if (ratio > 0 && (!has_positive_cycle(block, one, forwarding, ratio - 1e-3, distance) ||
			  !has_positive_cycle(block, other, forwarding, ratio - 1e-3, distance)))
		fail_msg("there is no cycle with a ratio of %.4f", ratio);
	free(distance);
}

/* With the latencies of the tables, and with those of store-to-load forwarding. */
static void check_ratio(struct tact_block *block)
{
	const struct block_node *known;
	struct tact_prediction p = TACT_PREDICTION_INIT;

	block_connect(block);
	known = block_nodes(block);
	assert_int_equal(tact_predict(block, NULL, &p), 0);
	check_one(block, block->nodes, known, false, p.bound[TACT_BOUND_PRECEDENCE]);
	check_one(block, known, known, true,
		  fmax(p.bound[TACT_BOUND_PRECEDENCE], p.bound[TACT_BOUND_FORWARDING]));
}

TEST(ratio_is_the_largest)
{
	static const char *const archs[] = {"SNB", "HSW", "SKL", "ICL"};
	unsigned long cyclic = 0, n = 0;

	for (size_t a = 0; a < ARRAY_SIZE(archs); a++) {
		struct rng rng = {31 + a};
		struct tact_block *block;

		assert_int_equal(tact_block_create(&block, tact_arch_find(archs[a]), NULL, NULL),
				 0);
		for (unsigned i = 0; i < rounds(2500); i++) {
			uint8_t code[40 * TACT_MAX_INSN_BYTES];
			size_t size = random_block(&rng, code, i % 10 ? 10 : 40);
			struct tact_prediction p = TACT_PREDICTION_INIT;

			assert_int_equal(tact_block_load(block, code, size, NULL), 0);
			check_ratio(block);
			assert_int_equal(tact_predict(block, NULL, &p), 0);
			cyclic += p.bound[TACT_BOUND_PRECEDENCE] > 0;
			n++;
		}
		tact_block_destroy(block);
	}
	print_message("%lu of %lu blocks have a cycle\n", cyclic, n);
	assert_true(cyclic > n / 2);
}

/* Few registers make long chains: sums and moves among four of them. */
TEST(dense_graphs)
{
	struct rng rng = {8};
	struct tact_block *block;

	assert_int_equal(tact_block_create(&block, tact_arch_find("SNB"), NULL, NULL), 0);
	for (unsigned i = 0; i < rounds(3000); i++) {
		uint8_t code[64 * 4];
		size_t size = 0;

		for (unsigned n = 2 + rng_below(&rng, 40); n; n--) {
			unsigned to = rng_below(&rng, 4), from = rng_below(&rng, 4);
			uint8_t modrm = (uint8_t)(0xc0 | to << 3 | from);

			code[size++] = 0x48;
			switch (rng_below(&rng, 4)) {
			case 0:
				code[size++] = 0x03; /* add */
				break;
			case 1:
				code[size++] = 0x8b; /* mov */
				break;
			case 2:
				code[size++] = 0x0f; /* imul */
				code[size++] = 0xaf;
				break;
			default:
				code[size++] = 0x13; /* adc */
			}
			code[size++] = modrm;
		}
		assert_int_equal(tact_block_load(block, code, size, NULL), 0);
		check_ratio(block);
	}
	tact_block_destroy(block);
}

RUN_TESTS(NULL, NULL)
