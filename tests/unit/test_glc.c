/* SPDX-License-Identifier: MIT
 *
 * Golden Cove: blocks whose cycles were measured on the core (family 6, model 207), each of which
 * shows one fact of its instruction table.  Both models come within 6%.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#include <tact/tact.h>

#include "base/base.h"

enum { U = TACT_MODE_UNROLL, L = TACT_MODE_LOOP };

static const struct {
	const char *what, *hex;
	int mode;
	double cycles;
} measured[] = {
	{"additions in a chain", "c4c17858c3", U, 2},
	{"an addition and a division", "c5b358ccc5db5ee1c5fb59c4c5fb59c6c5f92ec7", U, 16},
	{"lea with a scaled index", "488d04c508000000", U, 2},
	{"a multiplication", "c4c17859c3", U, 4},
	{"between the sides", "c4e1f96ec0c4e1f97ec0", U, 4},
	{"sha256rnds2 in a chain", "0f38cbca", U, 4},
	{"aesenc of 512 bits in a chain", "62d27d48dcc3", U, 3},
	{"stosb", "aa", U, 2},
	{"popfq, which loads first", "9d", U, 23},
	{"pause", "f390", U, 40},
};

TEST(blocks_take_what_was_measured)
{
	struct tact_simulator *simulator;
	unsigned wrong = 0;

	assert_int_equal(tact_simulator_create(&simulator, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(measured); i++) {
		const struct tact_block_options opt = {.size = sizeof(opt),
						       .mode = (enum tact_mode)measured[i].mode,
						       .init = TACT_INIT_SAME};
		struct tact_prediction facile = TACT_PREDICTION_INIT;
		struct tact_simulation sim = TACT_SIMULATION_INIT;
		struct tact_block *block;
		uint8_t code[256];
		size_t bad;
		long n = tact_hex_decode(code, measured[i].hex, strlen(measured[i].hex), &bad);

		assert_true(n > 0);
		assert_int_equal(tact_block_create(&block, tact_arch_find("SPR"), &opt, NULL), 0);
		assert_int_equal(tact_block_load(block, code, (size_t)n, NULL), 0);
		assert_true(tact_block_coverage(block) == 1);
		assert_int_equal(tact_predict(block, NULL, &facile), 0);
		assert_int_equal(tact_simulate(simulator, block, NULL, &sim), 0);
		if (fabs(facile.cycles_per_iteration / measured[i].cycles - 1) > 0.06 ||
		    fabs(sim.cycles_per_iteration / measured[i].cycles - 1) > 0.06) {
			print_error("%s: measured %.2f, facile %.2f, sim %.2f\n", measured[i].what,
				    measured[i].cycles, facile.cycles_per_iteration,
				    sim.cycles_per_iteration);
			wrong++;
		}
		tact_block_destroy(block);
	}
	tact_simulator_destroy(simulator);
	assert_int_equal(wrong, 0);
}

RUN_TESTS(NULL, NULL)
