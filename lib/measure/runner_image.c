/* SPDX-License-Identifier: MIT
 *
 * The program of runner/, as bytes.  The Makefile says where they are.
 */
#include "measure/harness.h"

__asm__(".section .rodata\n"
	".globl runner_image, runner_image_end\n"
	".hidden runner_image, runner_image_end\n"
	".balign 16\n"
	"runner_image:\n"
	".incbin \"" RUNNER_IMAGE "\"\n"
	"runner_image_end:\n"
	".byte 0\n"
	".previous\n");
