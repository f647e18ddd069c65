/* SPDX-License-Identifier: MIT
 *
 * Emits the code around a block, which sets every register, reads the counter, enters the block by
 * iretq, and comes back without needing any register.
 *
 *   entry:   clears vector and x87 state, loads MXCSR; counter -> host.begin; loads all registers;
 *            iretq from host.frame
 *   body:    copies of the block, at the offset in a cache line that is asked for; as a loop, the
 *            block and its counter
 *   end:     counter -> host.end; rsp from host.saved_stack; ret
 *
 * iretq sets rip, rsp and flags at once and drains the front end, so that every run begins in the
 * same state.  (After lfence, the decode queue would be ahead by a varying amount.)
 */
#include <string.h>

#include "measure/x86/measure_x86.h"

struct buffer {
	uint8_t *p;
	size_t n, capacity;
	bool full;
};

static void put(struct buffer *b, const void *bytes, size_t n)
{
	if (b->n + n > b->capacity) {
		b->full = true;
		return;
	}
	memcpy(b->p + b->n, bytes, n);
	b->n += n;
}

#define PUT(b, ...)                                                                                \
	do {                                                                                       \
		const uint8_t bytes_[] = {__VA_ARGS__};                                            \
		put(b, bytes_, sizeof(bytes_));                                                    \
	} while (0)

static void put64(struct buffer *b, uint64_t v)
{
	put(b, &v, 8);
}

static void put32(struct buffer *b, uint32_t v)
{
	put(b, &v, 4);
}

static bool has_avx(const struct measure_plan *plan)
{
	return plan->features & X86_HAS_AVX;
}

static bool has_avx512(const struct measure_plan *plan)
{
	return plan->features & X86_HAS_AVX512;
}

static void align(struct buffer *b, size_t to)
{
	while (b->n % to && !b->full)
		PUT(b, 0x90);
}

static uint64_t host_address(size_t offset)
{
	return MEASURE_HOST_BASE + offset;
}

#define HOST(field) host_address(offsetof(struct measure_host, field))

/* Absolute addresses need rax: mov moffs64, eax / mov rax, moffs64. */
static void store_eax(struct buffer *b, uint64_t address)
{
	PUT(b, 0xa3);
	put64(b, address);
}

static void load_rax(struct buffer *b, uint64_t address)
{
	PUT(b, 0x48, 0xa1);
	put64(b, address);
}

static void load_immediate(struct buffer *b, unsigned reg, uint64_t v)
{
	PUT(b, (uint8_t)(0x48 | reg >> 3), (uint8_t)(0xb8 | (reg & 7)));
	put64(b, v);
}

/* lfence; counter in edx:eax; lfence; to memory.  The first lfence keeps the counter from being
 * read before the block has ended; the second keeps the block from beginning before the counter is
 * read.
 */
static void read_counter(struct buffer *b, const struct measure_plan *plan, uint64_t low,
			 uint64_t high)
{
	PUT(b, 0x0f, 0xae, 0xe8);
	if (plan->reads_counter) {
		load_rax(b, HOST(counter_index));
		PUT(b, 0x89, 0xc1, 0x0f, 0x33); /* mov ecx, eax; rdpmc */
	} else {
		PUT(b, 0x0f, 0x31);
	}
	PUT(b, 0x0f, 0xae, 0xe8);
	store_eax(b, low);
	PUT(b, 0x89, 0xd0); /* mov eax, edx */
	store_eax(b, high);
}

/* Clears all vector and mask registers with their upper halves; empties the x87 stack. */
static void clean_vectors(struct buffer *b, const struct measure_plan *plan)
{
	load_immediate(b, 0, HOST(float_control));
	PUT(b, 0x0f, 0xae, 0x10); /* ldmxcsr [rax] */
	/* fninit does not change the registers themselves, which MMX shares: zero them in between.
	 */
	PUT(b, 0xdb, 0xe3);
	for (unsigned r = 0; r < 8; r++)
		PUT(b, 0x0f, 0xef, (uint8_t)(0xc0 | r * 9)); /* pxor mm, mm */
	PUT(b, 0xdb, 0xe3);
	if (has_avx(plan))
		PUT(b, 0xc5, 0xfc, 0x77);		    /* vzeroall */
	for (unsigned r = 0; r < 16 && !has_avx(plan); r++) /* xorps xmm, xmm */
		PUT(b, (uint8_t)(0x40 | (r >> 3) * 5), 0x0f, 0x57, (uint8_t)(0xc0 | (r & 7) * 9));
	for (unsigned k = 0; k < 8 && has_avx512(plan); k++) /* kxorw k, k, k */
		PUT(b, 0xc5, (uint8_t)(0x84 | (~k & 15) << 3), 0x47, (uint8_t)(0xc0 | k * 9));
	for (unsigned r = 16; r < 32 && has_avx512(plan); r++) {
		/* vpxord zmm, zmm, zmm: R and B (bit 3), X and R' (bit 4), vvvv and V' are inverted
		 */
		unsigned x = r & 15;

		PUT(b, 0x62, x < 8 ? 0xa1 : 0x01, (uint8_t)(0x05 | (~x & 15) << 3), 0x40, 0xef,
		    (uint8_t)(0xc0 | (x & 7) * 9));
	}
}

static void set_registers(struct buffer *b, const struct measure_plan *plan)
{
	if (plan->loop) {
		load_rax(b, HOST(counter));
		/* mov counter, rax */
		PUT(b, (uint8_t)(0x48 | plan->counter >> 3), 0x89,
		    (uint8_t)(0xc0 | (plan->counter & 7)));
	}
	for (unsigned r = 0; r < 16; r++) {
		uint64_t value = MEASURE_INIT_VALUE;

		if (plan->init == TACT_INIT_STACK && r == 5)
			value = MEASURE_INIT_FRAME;
		if (r == 4)
			value = HOST(frame); /* iretq takes the real one from there */
		if (!(plan->loop && r == plan->counter))
			load_immediate(b, r, value);
	}
}

size_t measure_x86_put_counter(uint8_t *to, unsigned reg, size_t distance)
{
	int32_t back = -(int32_t)(distance + 3 + 2);
	uint8_t *p = to;

	*p++ = (uint8_t)(0x48 | reg >> 3); /* dec reg */
	*p++ = 0xff;
	*p++ = (uint8_t)(0xc8 | (reg & 7));
	if (back >= -128) { /* jnz */
		*p++ = 0x75;
		*p++ = (uint8_t)back;
	} else {
		back -= 4;
		*p++ = 0x0f;
		*p++ = 0x85;
		memcpy(p, &back, sizeof(back));
		p += sizeof(back);
	}
	return (size_t)(p - to);
}

static void put_body(struct buffer *b, const struct measure_plan *plan,
		     struct measure_layout *layout)
{
	align(b, MEASURE_LINE);
	for (unsigned i = 0; i < plan->alignment; i++)
		PUT(b, 0x90); /* iretq jumps over them */
	layout->body = (uint32_t)b->n;
	for (unsigned i = 0; i < plan->copies; i++)
		put(b, plan->code, plan->size);
	if (plan->loop && !plan->own_branch) {
		uint8_t counter[TACT_MEASURE_LOOP_BYTES];

		put(b, counter,
		    measure_x86_put_counter(counter, plan->counter, b->n - layout->body));
	}
	layout->copy_size = (uint32_t)plan->size;
	layout->end = (uint32_t)b->n;
}

/* Returns to the child's measure_enter, whose return address is at saved_stack. */
static void put_end(struct buffer *b, const struct measure_plan *plan)
{
	read_counter(b, plan, HOST(end_low), HOST(end_high));
	load_rax(b, HOST(saved_stack));
	PUT(b, 0x48, 0x89, 0xc4, 0xc3); /* mov rsp, rax; ret */
}

/* The clocks are functions; they clobber rax, rcx and rdx. */
static void begin_clock(struct buffer *b, const struct measure_plan *plan, uint32_t *offset)
{
	align(b, 64);
	*offset = (uint32_t)b->n;
	read_counter(b, plan, HOST(begin_low), HOST(begin_high));
}

static void end_clock(struct buffer *b, const struct measure_plan *plan)
{
	read_counter(b, plan, HOST(end_low), HOST(end_high));
	PUT(b, 0xc3);
}

/* n dependent multiplications, in a loop that takes little of the instruction cache. */
static void put_chain(struct buffer *b, const struct measure_plan *plan, unsigned n,
		      uint32_t *offset)
{
	begin_clock(b, plan, offset);
	PUT(b, 0xb9); /* mov ecx, n / unroll */
	put32(b, n / MEASURE_CHAIN_UNROLL);
	/* imul eax, eax: 3 cycles on every core since 2011; rax would take 5 on small ones
	 * (uops.info) */
	for (unsigned i = 0; i < MEASURE_CHAIN_UNROLL; i++)
		PUT(b, 0x40, 0x0f, 0xaf, 0xc0);
	PUT(b, 0xff, 0xc9, 0x0f, 0x85); /* dec ecx; jnz */
	put32(b, (uint32_t) - (4 * MEASURE_CHAIN_UNROLL + 8));
	end_clock(b, plan);
}

/* Independent uops at the full width of the core.  What a sibling thread takes shows at once.  The
 * loop is small, so that caches of decoded instructions always hold it.
 */
static void put_canary(struct buffer *b, const struct measure_plan *plan, uint32_t *offset)
{
	begin_clock(b, plan, offset);
	PUT(b, 0xb9); /* mov ecx, iterations */
	put32(b, MEASURE_CANARY_NOPS / MEASURE_CANARY_UNROLL);
	for (unsigned i = 0; i < MEASURE_CANARY_UNROLL; i++)
		PUT(b, 0x0f, 0x1f, 0x40, 0x00); /* nop dword [rax+0] */
	PUT(b, 0xff, 0xc9, 0x75, (uint8_t) - (4 * MEASURE_CANARY_UNROLL + 4)); /* dec ecx; jnz */
	end_clock(b, plan);
}

int measure_x86_emit(uint8_t *area, const struct measure_plan *plan, struct measure_layout *layout)
{
	struct buffer b = {.p = area, .capacity = MEASURE_CODE_BYTES};
	struct measure_plan tsc = *plan;

	/* The clocks come first, so that they are in the same place for every block. */
	tsc.reads_counter = false;
	put_chain(&b, &tsc, MEASURE_CHAIN_SHORT, &layout->chain_short);
	put_chain(&b, &tsc, MEASURE_CHAIN_LONG, &layout->chain_long);
	put_canary(&b, &tsc, &layout->canary);
	align(&b, MEASURE_PAGE);
	layout->entry = (uint32_t)b.n;
	clean_vectors(&b, plan);
	read_counter(&b, plan, HOST(begin_low), HOST(begin_high));
	set_registers(&b, plan);
	PUT(&b, 0x48, 0xcf); /* iretq */
	put_body(&b, plan, layout);
	put_end(&b, plan);
	return b.full ? -TACT_E_LIMIT : 0;
}
