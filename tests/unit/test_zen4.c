/* SPDX-License-Identifier: MIT
 *
 * Zen 4: blocks whose cycles were measured on the core (family 25, model 17), each of which shows
 * one thing that Intel's cores do otherwise.  Both models come within 6%.
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
	{"mov to memory and back, add", "4889442408488b4424084883c001", U, 1},
	{"add to memory", "4801048b", U, 1},
	{"push and pop", "5b53", U, 1},
	{"a byte to memory and back, add", "884424080fb64424084883c001", U, 7.6},
	{"movaps to memory and back", "0f2904240f280424", U, 9},
	{"two stores to 32 bytes", "48890648894608", U, 1},
	{"two stores 32 bytes apart", "48890648894620", U, 2},
	{"twelve nops in a loop", "90909090909090909090909049ffcf75ef", L, 7 / 6.},
	{"three instructions of two macro-ops", "48934887d14887fe", U, 1},
	{"shifts and bit tests", "48c1e00348c1e303480fbae203480fbae703", U, 2},
	{"cmov and setcc", "480f44c50f94c3480f44d5400f94c7", U, 2},
	{"lea with three parts", "488d441808", U, 2},
	{"between the sides", "66480f7ec066480f6ec0", U, 7},
	{"shift by cl", "48d3e04801c1", U, 2},
	{"four loads and stores", "488b0e488b5608488b7e1048895e40", U, 4 / 3.},
	{"addps of 512 bits", "62d13c4858c162d13c4858c9", U, 2},
	{"stack engine", "4883c4085b", U, 2},
	{"ten macro-ops: two lines",
	 "4889d84889d94889da4889df4889de4989d84989d94989da4989db49ffcf75e0", L, 2},
	{"long constants, 16 bytes a cycle",
	 "4805785634124881c3785634124881c2785634124881c678563412", U, 27 / 16.},
	{"zeroing of vectors takes a pipe", "660fefc0660fefc9660fefd2660fefdb660fefe449ffcf75e7", L,
	 1.25},
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
		assert_int_equal(tact_block_create(&block, tact_arch_find("znver4"), &opt, NULL),
				 0);
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
