/* SPDX-License-Identifier: MIT
 *
 * Known answers: latencies of uops.info's tables, from Sandy Bridge and Zen to Golden Cove and Zen 4;
 * nops as wide as decoders are.
 */
#include "measure/x86/measure_x86.h"

const struct tact_known measure_x86_known = {
	.answer =
		{
			{"addition", "4801d8", 1, 1},
			{"ten additions",
			 "4801d84801d84801d84801d84801d84801d84801d84801d84801d84801d8", 10, 10},
			{"multiplication", "0fafc3", 3, 3},
			{"two chains of multiplications", "0fafc30fafcb", 3, 3},
			{"load to use", "488b00", 4, 5},
			{"multiplication, double", "f20f59c1", 3, 5},
			{"division, double", "f20f5ec1", 10, 24},
			{"nop", "90", 0.12, 0.34},
		},
	.block =
		{
			"4801d8",	      /* add rax, rbx */
			"480fafc3",	      /* imul rax, rbx */
			"488b00",	      /* mov rax, [rax] */
			"f20f58c1",	      /* addsd xmm0, xmm1 */
			"f20f59c1",	      /* mulsd xmm0, xmm1 */
			"f20f5ec1",	      /* divsd xmm0, xmm1 */
			"4883c0014883c301",   /* add rax, 1; add rbx, 1 */
			"48890648895e08",     /* two stores */
			"488b06488b1f",	      /* two loads */
			"48c1e003",	      /* shl rax, 3 */
			"480fc8",	      /* bswap rax */
			"660ffec1",	      /* paddd xmm0, xmm1 */
			"0f28c10f58c2",	      /* movaps xmm0, xmm1; addps xmm0, xmm2 */
			"4839d8480f42c3",     /* cmp rax, rbx; cmovb rax, rbx */
			"480fb6c0",	      /* movzx rax, al */
			"31c04801c3",	      /* xor eax, eax; add rbx, rax */
			"488d0419",	      /* lea rax, [rcx+rbx] */
			"48f7e1",	      /* mul rcx */
			"488b064801d8488907", /* load, add, store */
			"90909090",	      /* four nops */
		},
	/* imul rax, rax: three cycles on every CPU of the last fifteen years */
	.trial_name = "a multiplication",
	.trial = {0x48, 0x0f, 0xaf, 0xc0},
	.trial_size = 4,
};
