/* SPDX-License-Identifier: MIT
 *
 * Kernels of sweeps.  Arguments are in rdi (a), rsi (b) and rdx (n), as the System V ABI has them;
 * rax, rcx, r8, r9 and the vector registers are free.
 */
#include <string.h>

#include "measure/sweep_code.h"
#include "measure/x86/emit_bytes.h"

/* Ends a loop that counts rdx down, and the function. */
static void put_end(struct buffer *b, size_t start)
{
	PUT(b, 0x48, 0xff, 0xca, 0x0f, 0x85); /* dec rdx; jnz start */
	emit_32(b, (uint32_t)(start - (b->n + 4)));
}

/* Ends a loop over rdx bytes by 64. */
static void put_next_line(struct buffer *b, size_t start)
{
	PUT(b, 0x48, 0x83, 0xea, 0x40, 0x0f, 0x85); /* sub rdx, 64; jnz start */
	emit_32(b, (uint32_t)(start - (b->n + 4)));
}

static void put_clock(struct buffer *b)
{
	const size_t start = b->n;

	for (unsigned i = 0; i < SWEEP_CHAIN; i++)
		PUT(b, 0x0f, 0xaf, 0xc0); /* imul eax, eax: 3 cycles (uops.info) */
	put_end(b, start);
}

/* One-byte nops: as many a cycle as are issued, if nobody else issues any. */
static void put_canary(struct buffer *b)
{
	const size_t start = b->n;

	for (unsigned i = 0; i < SWEEP_NOPS - 1; i++)
		PUT(b, 0x90);
	put_end(b, start);
}

/* Stores 64 bits to [rdi+r8*8] and loads the upper half of them: no core takes the stored register
 * instead.
 */
static void put_forward(struct buffer *b)
{
	size_t start;

	PUT(b, 0x45, 0x31, 0xc0); /* xor r8d, r8d */
	PUT(b, 0x31, 0xc0);	  /* xor eax, eax */
	start = b->n;
	for (unsigned i = 0; i < SWEEP_CHASES; i++) {
		PUT(b, 0x4a, 0x89, 0x04, 0xc7);	      /* mov [rdi+r8*8], rax */
		PUT(b, 0x42, 0x8b, 0x44, 0xc7, 0x04); /* mov eax, [rdi+r8*8+4] */
		PUT(b, 0x49, 0xff, 0xc0);	      /* inc r8 */
	}
	PUT(b, 0x41, 0x83, 0xe0, 0x3f); /* and r8d, 63 */
	put_end(b, start);
}

static void put_chase(struct buffer *b)
{
	const size_t start = b->n;

	for (unsigned i = 0; i < SWEEP_CHASES; i++)
		PUT(b, 0x48, 0x8b, 0x3f); /* mov rdi, [rdi] */
	put_end(b, start);
	PUT(b, 0x48, 0x89, 0xf8); /* mov rax, rdi */
}

static void put_random(struct buffer *b)
{
	const size_t start = b->n;

	PUT(b, 0x8b, 0x06);		/* mov eax, [rsi] */
	PUT(b, 0x48, 0x03, 0x0c, 0x07); /* add rcx, [rdi+rax] */
	PUT(b, 0x48, 0x83, 0xc6, 0x04); /* add rsi, 4 */
	put_end(b, start);
}

/* Loads a line from rsi or rdi (`base` as in ModRM), or stores it: 32 bytes at a time where the CPU
 * can.
 */
static void put_line(struct buffer *b, bool is_wide, uint8_t opcode, uint8_t base)
{
	for (uint8_t i = 0; i < (is_wide ? 2 : 4); i++) {
		if (is_wide) /* vmovaps ymm<i>, [base+32*i], or vmovntps */
			PUT(b, 0xc5, 0xfc, opcode, (uint8_t)(0x40 | i << 3 | base),
			    (uint8_t)(32 * i));
		else
			PUT(b, 0x0f, opcode, (uint8_t)(0x40 | i << 3 | base), (uint8_t)(16 * i));
	}
}

enum { LOAD = 0x28, STORE = 0x29, STORE_PAST = 0x2b, FROM_RSI = 6, FROM_RDI = 7 };

static void put_lines(struct buffer *b, bool is_wide, bool loads, uint8_t store)
{
	const size_t start = b->n;

	if (loads) {
		put_line(b, is_wide, LOAD, store ? FROM_RSI : FROM_RDI);
		if (store)
			PUT(b, 0x48, 0x83, 0xc6, 0x40); /* add rsi, 64 */
	}
	if (store)
		put_line(b, is_wide, store, FROM_RDI);
	PUT(b, 0x48, 0x83, 0xc7, 0x40); /* add rdi, 64 */
	put_next_line(b, start);
	if (store == STORE_PAST)
		PUT(b, 0x0f, 0xae, 0xf8); /* sfence */
	if (is_wide)
		PUT(b, 0xc5, 0xf8, 0x77); /* vzeroupper */
}

static void put_repeated(struct buffer *b, uint64_t bytes, uint8_t opcode)
{
	size_t start;

	PUT(b, 0x49, 0x89, 0xf8, 0x49, 0x89, 0xf1, 0x31,
	    0xc0); /* mov r8, rdi; mov r9, rsi; xor eax, eax */
	start = b->n;
	PUT(b, 0x4c, 0x89, 0xc7, 0x4c, 0x89, 0xce,
	    0xb9); /* mov rdi, r8; mov rsi, r9; mov ecx, bytes */
	emit_32(b, (uint32_t)bytes);
	PUT(b, 0xf3, opcode); /* rep movsb, rep stosb */
	put_end(b, start);
}

static void put_branch(struct buffer *b)
{
	const size_t start = b->n;

	PUT(b, 0x80, 0x3e, 0x00); /* cmp byte [rsi], 0 */
	PUT(b, 0x74, 0x03);	  /* je over the next one */
	PUT(b, 0x83, 0xc0, 0x03); /* add eax, 3 */
	PUT(b, 0x48, 0xff, 0xc6); /* inc rsi */
	put_end(b, start);
}

/* Two chains that need two cycles for four instructions on any core: decoders and caches can be
 * slower, nothing else.
 */
static void put_code(struct buffer *b, uint64_t size)
{
	const size_t start = b->n;

	for (uint64_t i = 0; i < size / 4; i++) {
		static const uint8_t insns[4][4] = {
			{0x0f, 0x1f, 0x40, 0x00},  /* nop */
			{0x48, 0x8d, 0x40, 0x01},  /* lea rax, [rax+1] */
			{0x0f, 0x1f, 0x40, 0x00},  /* nop */
			{0x48, 0x8d, 0x49, 0x01}}; /* lea rcx, [rcx+1] */

		emit_bytes(b, insns[i % 4], 4);
	}
	put_end(b, start);
}

static void put_jumps(struct buffer *b, uint64_t n, uint64_t step)
{
	const size_t start = b->n;

	for (uint64_t i = 0; i < n && !b->full; i++) {
		const size_t next = b->n + step;

		PUT(b, 0xe9); /* jmp next */
		emit_32(b, (uint32_t)(step - 5));
		while (b->n < next && !b->full)
			PUT(b, 0xcc);
	}
	put_end(b, start);
}

/* Functions of 16 bytes, each of which calls the next one. */
static void put_calls(struct buffer *b, uint64_t n)
{
	const size_t start = b->n, over = 5 + 3 + 6 + 1;
	size_t at;

	PUT(b, 0xe8); /* call the first one, which is behind this loop */
	emit_32(b, (uint32_t)(over - 5));
	put_end(b, start);
	PUT(b, 0xc3);
	for (uint64_t i = 0; i < n && !b->full; i++) {
		at = b->n;
		if (i + 1 < n) {
			PUT(b, 0xe8);
			emit_32(b, 16 - 5);
		}
		PUT(b, 0xc3);
		while (b->n < at + 16 && !b->full)
			PUT(b, 0xcc);
	}
}

size_t measure_x86_sweep(enum sweep_kernel kernel, uint64_t size, uint64_t step, uint32_t features,
			 uint8_t *to, size_t room)
{
	struct buffer b = {.p = to, .capacity = room};
	const bool is_wide = features & X86_HAS_AVX;

	switch (kernel) {
	case SWEEP_CLOCK:
		PUT(&b, 0xb8, 3, 0, 0, 0); /* mov eax, 3 */
		put_clock(&b);
		break;
	case SWEEP_CANARY:
		put_canary(&b);
		break;
	case SWEEP_FORWARD:
		put_forward(&b);
		break;
	case SWEEP_CHASE:
		put_chase(&b);
		break;
	case SWEEP_RANDOM:
		put_random(&b);
		break;
	case SWEEP_READ:
		put_lines(&b, is_wide, true, 0);
		break;
	case SWEEP_WRITE:
		put_lines(&b, is_wide, false, STORE);
		break;
	case SWEEP_COPY:
		put_lines(&b, is_wide, true, STORE);
		break;
	case SWEEP_STREAM:
		put_lines(&b, is_wide, true, STORE_PAST);
		break;
	case SWEEP_REPEATED_COPY:
		put_repeated(&b, size, 0xa4);
		break;
	case SWEEP_REPEATED_FILL:
		put_repeated(&b, size, 0xaa);
		break;
	case SWEEP_BRANCH:
		put_branch(&b);
		break;
	case SWEEP_CODE:
		put_code(&b, size);
		break;
	case SWEEP_JUMPS:
		put_jumps(&b, size, step);
		break;
	case SWEEP_CALLS:
		put_calls(&b, size);
		break;
	default:
		return 0;
	}
	PUT(&b, 0xc3);
	return b.full ? 0 : b.n;
}
