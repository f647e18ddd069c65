/* SPDX-License-Identifier: MIT
 *
 * Known answers: what Arm's software optimization guides say of cores from Cortex-A53 to Neoverse
 * V2.  None of them was measured.
 */
#include "measure/aarch64/measure_a64.h"

const struct tact_known measure_a64_known = {
	.answer =
		{
			{"addition", "0000018b", 1, 1},
			{"ten additions",
			 "0000018b0000018b0000018b0000018b0000018b"
			 "0000018b0000018b0000018b0000018b0000018b",
			 10, 10},
			{"multiplication", "007c019b", 2, 5},
			{"two chains of multiplications", "007c029b217c029b", 2, 10},
			{"load to use", "000040f9", 3, 5},
			{"multiplication, double", "0008611e", 3, 6},
			{"division, double", "0018611e", 7, 33},
			{"nop", "1f2003d5", 0.1, 0.51},
		},
	.block =
		{
			"0000018b",		    /* add x0, x0, x1 */
			"007c019b",		    /* mul x0, x0, x1 */
			"000040f9",		    /* ldr x0, [x0] */
			"0028611e",		    /* fadd d0, d0, d1 */
			"0008611e",		    /* fmul d0, d0, d1 */
			"0018611e",		    /* fdiv d0, d0, d1 */
			"0004009121040091",	    /* add x0, x0, #1; add x1, x1, #1 */
			"c00000f9c10400f9",	    /* two stores */
			"c00040f9e10040f9",	    /* two loads */
			"00f07dd3",		    /* lsl x0, x0, #3 */
			"000cc0da",		    /* rev x0, x0 */
			"0084a14e",		    /* add v0.4s, v0.4s, v1.4s */
			"201ca14e00d4224e",	    /* mov v0, v1; fadd v0.4s, v0.4s, v2.4s */
			"1f0001eb2030809a",	    /* cmp x0, x1; csel x0, x1, x0, lo */
			"001c0053",		    /* uxtb w0, w0 */
			"000080d22100008b",	    /* mov x0, #0; add x1, x1, x0 */
			"2008028b",		    /* add x0, x1, x2, lsl #2 */
			"007cc19b",		    /* umulh x0, x0, x1 */
			"c00040f90000018be00000f9", /* load, add, store */
			"1f2003d51f2003d51f2003d51f2003d5",
		},
	.trial_name = "a chain of three additions",
	.trial = {0x00, 0x00, 0x01, 0x8b, 0x00, 0x00, 0x01, 0x8b, 0x00, 0x00, 0x01, 0x8b},
	.trial_size = 12,
};
