/* SPDX-License-Identifier: MIT
 *
 * Kernels of sweeps: small loops that show what memory, branches and code cost.  The folder of each
 * instruction set makes them.
 */
#ifndef TACT_MEASURE_SWEEP_CODE_H
#define TACT_MEASURE_SWEEP_CODE_H

#include <stddef.h>
#include <stdint.h>

/* A kernel is called as kernel(a, b, n); what these are is said here.  Bytes are multiples of 64. */
enum sweep_kernel {
	SWEEP_CLOCK,   /* n chains of SWEEP_CHAIN dependent multiplications */
	SWEEP_CANARY,  /* n times SWEEP_NOPS instructions that only need to be issued */
	SWEEP_CHASE,   /* n times SWEEP_CHASES loads from a, each from where the last one said;
				returns where the next one would be from */
	SWEEP_RANDOM,  /* n loads at a + the next 32-bit offset from b, which do not wait */
	SWEEP_READ,    /* n bytes of a */
	SWEEP_WRITE,   /* n bytes of a */
	SWEEP_COPY,    /* n bytes from b to a */
	SWEEP_STREAM,  /* the same with stores that pass the caches by */
	SWEEP_FORWARD, /* n times SWEEP_CHASES stores to a and loads of what was stored */
	SWEEP_REPEATED_COPY, /* n instructions that copy `size` bytes from b to a */
	SWEEP_REPEATED_FILL, /* n that fill `size` bytes of a */
	SWEEP_BRANCH,	     /* n branches, each taken if the next byte of b is not 0 */
	SWEEP_CODE,	     /* n passes through `size` bytes of instructions of 4 bytes */
	SWEEP_JUMPS,	     /* n passes through `size` jumps, `step` bytes apart */
	SWEEP_CALLS,	     /* n times `size` calls inside each other */
	SWEEP_NONE	     /* no kernel */
};

enum { SWEEP_CHAIN = 64, SWEEP_CHASES = 8, SWEEP_NOPS = 240 };

/* Makes a kernel.  size, step: where the list above names them, otherwise ignored.  features: as
 * native_features.  Returns the bytes that it takes, or 0 if they are more than `room`.
 */
size_t sweep_emit(enum sweep_kernel kernel, uint64_t size, uint64_t step, uint32_t features,
		  uint8_t *to, size_t room);

#endif /* TACT_MEASURE_SWEEP_CODE_H */
