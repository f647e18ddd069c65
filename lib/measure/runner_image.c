/* SPDX-License-Identifier: MIT
 *
 * The programs of runner/, as bytes.  The Makefile says where they are.
 */
#include "measure/harness.h"

#define IMAGE(name, file)                                                                          \
	__asm__(".section .rodata\n"                                                               \
		".globl " name ", " name "_end\n"                                                  \
		".hidden " name ", " name "_end\n"                                                 \
		".balign 16\n" name ":\n"                                                          \
		".incbin \"" file "\"\n" name "_end:\n"                                            \
		".byte 0\n"                                                                        \
		".previous\n")

IMAGE("runner_image", RUNNER_IMAGE);
IMAGE("emulated_image", EMULATED_IMAGE);
