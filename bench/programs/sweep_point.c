/* SPDX-License-Identifier: MIT
 *
 * One point of a sweep over memory, branches or code: what one operation costs.
 *
 * usage: sweep_point KIND SIZE STEP OPERATIONS ROUNDS
 *
 * Warms up, runs ROUNDS times about OPERATIONS operations and prints
 * KIND,SIZE,STEP,CYCLES,OPERATIONS: the fewest core cycles for one operation, and how many operations
 * a round really has.  Cycles come from the time stamp counter and a chain of multiplications before
 * and after each round.  A round whose two chains disagree, or in which something else ran on the CPU,
 * does not count; if none is left, CYCLES is "-".
 *
 * bench/memory_sweep.py runs the same under tact trace: it counts from begin() on, and asks for the
 * functions measured_KIND, or for the difference of two numbers of rounds.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <x86intrin.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif
#define INLINE static inline __attribute__((always_inline))
enum {
	LINE = 64,
	PAGE = 4096,
	OFFSETS = 1024,
	SETTLES = 512 << 10, /* a second-level cache */
	CACHED = 48 << 20    /* more than most caches hold */
};

struct work {
	char *a, *b;	     /* memory, of `size` bytes each */
	uint32_t *offsets;   /* of `random`: OFFSETS of them */
	uint8_t *code;	     /* of kinds that make some */
	void **at;	     /* the next pointer of `chase` */
	void **chains[8];    /* of `chases` */
	uint64_t size, step; /* as given */
	uint64_t place;	     /* where passes through memory go on */
	uint64_t ops;	     /* of a round */
	uint64_t all_ops;    /* of all rounds, or more */
	double per_op;	     /* operations for each that counts as one */
};

static uint64_t next_random(void)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

/* Pages of 4 KiB, each of which is there. */
static void *get_memory(uint64_t bytes, int more_rights)
{
	char *p = mmap(NULL, bytes + PAGE, PROT_READ | PROT_WRITE | more_rights,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		fputs("sweep_point: out of memory\n", stderr);
		exit(2);
	}
	madvise(p, bytes + PAGE, MADV_NOHUGEPAGE);
	for (uint64_t i = 0; i < bytes; i += PAGE)
		p[i] = 1;
	return p;
}

/* ---- memory ---- */

/* Maps the numbers below 2^bits to each other, in no order that can be seen. */
static uint64_t shuffled(uint64_t i, unsigned bits)
{
	const uint64_t mask = ((uint64_t)1 << bits) - 1;

	i = i * 0x9e3779b97f4a7c15 & mask;
	i ^= i >> (bits + 1) / 2;
	i = i * 0xbf58476d1ce4e5b9 & mask;
	i ^= i >> (bits + 1) / 2;
	return i * 0x94d049bb133111eb & mask;
}

/* Links every step-th place to another one, so that all are one ring in no order; `most` of them
 * suffice.
 */
static void link_ring(char *p, uint64_t bytes, uint64_t step, uint64_t most)
{
	const uint64_t n = bytes / step;
	uint64_t linked = 0;
	void **last = NULL, **first = NULL;
	unsigned bits = 1;

	while ((uint64_t)1 << bits < n)
		bits++;
	for (uint64_t i = 0; i >> bits == 0 && linked < most; i++) {
		const uint64_t to = shuffled(i, bits);
		void **at = (void **)(void *)(p + to * step);

		if (to >= n)
			continue;
		if (last)
			*last = at;
		else
			first = at;
		last = at;
		linked++;
	}
	*last = first;
}

INLINE void chase(struct work *w, uint64_t ops)
{
	void **p = w->at;
	uint64_t n = ops / 4;

	__asm__ volatile(
		".p2align 6\n1: mov (%0), %0\n mov (%0), %0\n mov (%0), %0\n mov (%0), %0\n"
		"dec %1\n jnz 1b"
		: "+r"(p), "+r"(n)
		:
		: "memory", "cc");
	w->at = p;
}

INLINE void chases(struct work *w, uint64_t ops)
{
	void **c[8];
	uint64_t n = ops / 8;

	memcpy(c, w->chains, sizeof(c));
#define CHASES(text)                                                                               \
	__asm__ volatile(".p2align 6\n1:" text "dec %8\n jnz 1b"                                   \
			 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]), "+r"(c[4]), "+r"(c[5]), \
			   "+r"(c[6]), "+r"(c[7]), "+r"(n)                                         \
			 :                                                                         \
			 : "memory", "cc")
#define TWO  "mov (%0), %0\n mov (%1), %1\n"
#define FOUR TWO "mov (%2), %2\n mov (%3), %3\n"
	if (w->step == 2)
		CHASES(TWO TWO TWO TWO);
	else if (w->step == 4)
		CHASES(FOUR FOUR);
	else
		CHASES(FOUR "mov (%4), %4\n mov (%5), %5\n mov (%6), %6\n mov (%7), %7\n");
	memcpy(w->chains, c, sizeof(c));
}

/* Loads, or additions, that do not wait for each other: at offsets that repeat, from a place that
 * does not.
 */
INLINE void load_random(struct work *w, uint64_t ops, bool stores)
{
	for (; ops; ops -= OFFSETS) {
		const uint32_t *offset = w->offsets, *end = offset + OFFSETS;
		char *from = w->a + next_random() % (w->size / 2 / LINE) * LINE;
		uint64_t sum = 0, at;

		if (stores)
			__asm__ volatile(".p2align 6\n1: mov (%1), %k2\n incq (%4,%2)\n"
					 "add $4, %1\n cmp %3, %1\n jne 1b"
					 : "+&r"(sum), "+&r"(offset), "=&r"(at)
					 : "r"(end), "r"(from)
					 : "memory", "cc");
		else
			__asm__ volatile(".p2align 6\n1: mov (%1), %k2\n add (%4,%2), %0\n"
					 "add $4, %1\n cmp %3, %1\n jne 1b"
					 : "+&r"(sum), "+&r"(offset), "=&r"(at)
					 : "r"(end), "r"(from)
					 : "memory", "cc");
	}
}

INLINE void random_loads(struct work *w, uint64_t ops)
{
	load_random(w, ops, false);
}

INLINE void random_changes(struct work *w, uint64_t ops)
{
	load_random(w, ops, true);
}

/* Runs through memory line by line, in passes: text is for %0 (a) and %1 (b) at the line. */
#define LINES(name, text, last)                                                                    \
	INLINE void name(struct work *w, uint64_t ops)                                             \
	{                                                                                          \
		while (ops) {                                                                      \
			const uint64_t left = (w->size - w->place) / LINE,                         \
				       lines = ops < left ? ops : left;                            \
			char *a = w->a + w->place, *b = w->b + w->place, *end = a + lines * LINE;  \
			__asm__ volatile(".p2align 6\n1:" text                                     \
					 "add $64, %0\n add $64, %1\n cmp %2, %0\n jne 1b\n" last  \
					 : "+&r"(a), "+&r"(b)                                      \
					 : "r"(end)                                                \
					 : "memory", "cc", "xmm0", "xmm1");                        \
			ops -= lines;                                                              \
			w->place = (w->place + lines * LINE) % w->size;                            \
		}                                                                                  \
	}
LINES(read_lines, "vpxor (%0), %%ymm0, %%ymm0\n vpxor 32(%0), %%ymm1, %%ymm1\n", "vzeroupper")
LINES(write_lines, "vmovdqa %%ymm0, (%0)\n vmovdqa %%ymm1, 32(%0)\n", "vzeroupper")
LINES(copy_lines,
      "vmovdqa (%1), %%ymm0\n vmovdqa 32(%1), %%ymm1\n vmovdqa %%ymm0, (%0)\n vmovdqa %%ymm1, "
      "32(%0)\n",
      "vzeroupper")
LINES(stream_lines,
      "vmovdqa (%1), %%ymm0\n vmovdqa 32(%1), %%ymm1\n vmovntdq %%ymm0, (%0)\n vmovntdq %%ymm1, "
      "32(%0)\n",
      "sfence\n vzeroupper")

/* Every step-th byte of memory, in passes. */
INLINE void stride(struct work *w, uint64_t ops)
{
	uint64_t sum = 0;

	while (ops) {
		const uint64_t left = (w->size - w->place + w->step - 1) / w->step,
			       n = ops < left ? ops : left;
		char *a = w->a + w->place, *end = a + n * w->step;

		__asm__ volatile(".p2align 6\n1: add (%1), %0\n add %2, %1\n cmp %3, %1\n jne 1b"
				 : "+&r"(sum), "+&r"(a)
				 : "r"(w->step), "r"(end)
				 : "memory", "cc");
		ops -= n;
		w->place += n * w->step;
		if (w->place >= w->size)
			w->place = 0;
	}
}

/* All words of a matrix with rows of `step` bytes, column by column; a pass is an operation. */
INLINE void columns(struct work *w, uint64_t ops)
{
	uint64_t sum = 0;

	for (; ops; ops--)
		for (uint64_t c = 0; c < w->step; c += 8) {
			char *a = w->a + c, *end = a + w->size;

			__asm__ volatile(
				".p2align 6\n1: add (%1), %0\n add %2, %1\n cmp %3, %1\n jb 1b"
				: "+&r"(sum), "+&r"(a)
				: "r"(w->step), "r"(end)
				: "memory", "cc");
		}
}

/* Words that are copied: loads follow the stores by `step` bytes and some pages. */
INLINE void alias(struct work *w, uint64_t ops)
{
	while (ops) {
		const uint64_t n = ops < w->size / 8 ? ops : w->size / 8;
		char *to = w->a, *from = w->b + w->step, *end = to + n * 8;

		__asm__ volatile(".p2align 6\n1: mov (%1), %%rax\n mov %%rax, (%0)\n"
				 "add $8, %0\n add $8, %1\n cmp %2, %0\n jne 1b"
				 : "+&r"(to), "+&r"(from)
				 : "r"(end)
				 : "memory", "cc", "rax");
		ops -= n;
	}
}

/* One instruction that copies or fills `size` bytes; the step is added to the target's address. */
#define REPEATED(name, insn, unit)                                                                 \
	INLINE void name(struct work *w, uint64_t ops)                                             \
	{                                                                                          \
		for (; ops; ops--) {                                                               \
			void *to = w->a + w->step, *from = w->b;                                   \
			uint64_t n = w->size / (unit);                                             \
			__asm__ volatile("rep " insn                                               \
					 : "+D"(to), "+S"(from), "+c"(n)                           \
					 : "a"(0)                                                  \
					 : "memory");                                              \
		}                                                                                  \
	}
REPEATED(copy_bytes, "movsb", 1)
REPEATED(copy_words, "movsq", 8)
REPEATED(fill_bytes, "stosb", 1)
REPEATED(fill_words, "stosq", 8)

/* Each body twice, so that warming up can be told apart. */
#define TWICE(name, body)                                                                          \
	static NOINLINE void warm_##name(struct work *w, uint64_t ops)                             \
	{                                                                                          \
		body(w, ops);                                                                      \
	}                                                                                          \
	static NOINLINE void measured_##name(struct work *w, uint64_t ops)                         \
	{                                                                                          \
		body(w, ops);                                                                      \
	}
TWICE(chase, chase)
TWICE(chases, chases)
TWICE(random, random_loads)
TWICE(rmw, random_changes)
TWICE(read, read_lines)
TWICE(write, write_lines)
TWICE(copy, copy_lines)
TWICE(stream, stream_lines)
TWICE(stride, stride)
TWICE(column, columns)
TWICE(alias, alias)
TWICE(movs, copy_bytes)
TWICE(movsq, copy_words)
TWICE(stos, fill_bytes)
TWICE(stosq, fill_words)

/* ---- branches and code ---- */

/* `size` outcomes that repeat. */
static NOINLINE void measured_branch(struct work *w, uint64_t ops)
{
	const char *from = w->a, *end = w->a + w->size;

	__asm__ volatile(
		".p2align 6\n1: cmpb $0, (%0)\n je 2f\n lea 1(%2), %2\n 2: inc %0\n cmp %3, %0\n"
		"cmove %4, %0\n dec %1\n jnz 1b"
		: "+&r"(from), "+&r"(ops), "+&r"(w->place)
		: "r"(end), "r"(w->a)
		: "memory", "cc");
}

/* Passes through the code. */
static NOINLINE void measured_code(struct work *w, uint64_t ops)
{
	__asm__ volatile(".p2align 6\n1: call *%1\n dec %0\n jnz 1b"
			 : "+r"(ops)
			 : "r"(w->code)
			 : "rax", "rcx", "memory", "cc");
}

/* SIZE bytes of instructions of four bytes: additions to two registers in turn. */
static uint64_t make_code(struct work *w)
{
	const uint64_t n = w->size / 4;

	w->code = get_memory(w->size + 1, PROT_EXEC);
	for (uint64_t i = 0; i < n; i++)
		memcpy(w->code + 4 * i, i & 1 ? "\x48\x8d\x49\x01" : "\x48\x8d\x40\x01", 4);
	w->code[4 * n] = 0xc3;
	return n;
}

static uint8_t *put_jump(uint8_t *at, uint8_t opcode, const uint8_t *to)
{
	const int32_t distance = (int32_t)(to - (at + 5));

	at[0] = opcode;
	memcpy(at + 1, &distance, sizeof(distance));
	return at + 5;
}

/* SIZE jumps, each to the next one, STEP bytes further on. */
static uint64_t make_jumps(struct work *w)
{
	w->code = get_memory(w->size * w->step + 1, PROT_EXEC);
	for (uint64_t i = 0; i < w->size; i++)
		put_jump(w->code + i * w->step, 0xe9, w->code + (i + 1) * w->step);
	w->code[w->size * w->step] = 0xc3;
	return w->size;
}

/* SIZE functions of STEP bytes, called in a random order that is always the same. */
static uint64_t make_functions(struct work *w)
{
	const uint64_t n = w->size, first = (5 * n + 1 + LINE) / LINE * LINE;
	uint32_t *order = malloc(n * sizeof(*order));
	uint8_t *at;

	at = w->code = get_memory(first + n * w->step + LINE, PROT_EXEC);
	for (uint64_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	for (uint64_t i = n - 1; i > 0; i--) {
		const uint64_t j = next_random() % (i + 1);
		const uint32_t t = order[i];

		order[i] = order[j];
		order[j] = t;
	}
	for (uint64_t i = 0; i < n; i++)
		at = put_jump(at, 0xe8, w->code + first + order[i] * w->step);
	*at = 0xc3;
	for (uint64_t i = 0; i < n; i++) {
		uint8_t *end;

		at = w->code + first + i * w->step;
		end = at + w->step - 1;
		for (; at + 4 <= end; at += 4)
			memcpy(at, "\x48\x83\xc0\x01", 4); /* add rax, 1 */
		memset(at, 0x90, (size_t)(end - at));
		*end = 0xc3;
	}
	free(order);
	return n;
}

/* SIZE calls inside each other. */
static uint64_t make_depth(struct work *w)
{
	w->code = get_memory(w->size * 16 + 1, PROT_EXEC);
	for (uint64_t i = 0; i < w->size; i++)
		*put_jump(w->code + i * 16, 0xe8, w->code + (i + 1) * 16) = 0xc3;
	w->code[w->size * 16] = 0xc3;
	return w->size;
}

/* ---- a point ---- */

struct kind {
	const char *name;
	void (*warm)(struct work *, uint64_t), (*measured)(struct work *, uint64_t);
	uint64_t (*make)(struct work *); /* of code: returns the operations of a pass */
};

static const struct kind kinds[] = {
#define MEMORY(name)                                                                               \
	{                                                                                          \
#name, warm_##name, measured_##name, NULL                                          \
	}
	MEMORY(chase),
	MEMORY(chases),
	MEMORY(random),
	MEMORY(rmw),
	MEMORY(read),
	MEMORY(write),
	MEMORY(copy),
	MEMORY(stream),
	MEMORY(stride),
	MEMORY(column),
	MEMORY(alias),
	MEMORY(movs),
	MEMORY(movsq),
	MEMORY(stos),
	MEMORY(stosq),
	{"branch", measured_branch, measured_branch, NULL},
	{"code", measured_code, measured_code, make_code},
	{"jumps", measured_code, measured_code, make_jumps},
	{"functions", measured_code, measured_code, make_functions},
	{"depth", measured_code, measured_code, make_depth},
};

static bool is_one_of(const char *name, const char *list)
{
	const char *at = strstr(list, name);
	const size_t n = strlen(name);

	return at && (at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n]);
}

/* Sets everything up.  Returns how many calls of an operation warm up. */
static uint64_t prepare(struct work *w, const struct kind *k)
{
	const char *name = k->name;

	w->per_op = 1;
	if (k->make) {
		const uint64_t per_pass = k->make(w);

		w->per_op = (double)per_pass;
		w->ops = w->ops > per_pass ? w->ops / per_pass : 1;
		return w->ops;
	}
	w->a = get_memory(w->size + PAGE, 0);
	if (is_one_of(name, "copy stream alias movs movsq"))
		w->b = get_memory(w->size + PAGE, 0);
	else
		w->b = w->a;
	if (!strcmp(name, "branch")) {
		for (uint64_t i = 0; i < w->size; i++)
			w->a[i] = (next_random() >> 33) % 100 < w->step;
		return w->ops;
	}
	if (!strcmp(name, "chase")) {
		link_ring(w->a, w->size, w->step, w->all_ops);
		w->at = (void **)(void *)w->a;
		return w->size / w->step;
	}
	if (!strcmp(name, "chases")) {
		const uint64_t bytes = w->size / w->step / LINE * LINE;

		for (unsigned i = 0; i < w->step && i < 8; i++) {
			link_ring(w->a + i * bytes, bytes, LINE, w->all_ops);
			w->chains[i] = (void **)(void *)(w->a + i * bytes);
		}
		return w->size / LINE;
	}
	if (is_one_of(name, "random rmw")) {
		w->offsets = get_memory(OFFSETS * sizeof(*w->offsets), 0);
		for (unsigned i = 0; i < OFFSETS; i++)
			w->offsets[i] = (uint32_t)(next_random() % (w->size / 2 / LINE) * LINE);
		w->ops = (w->ops + OFFSETS - 1) / OFFSETS * OFFSETS;
		/* Three times as many as there are lines, after touch_all. */
		return (3 * w->size / LINE + OFFSETS - 1) / OFFSETS * OFFSETS;
	}
	if (is_one_of(name, "movs movsq stos stosq")) {
		w->per_op = (double)w->size;
		w->ops = w->ops / w->size ? w->ops / w->size : 1;
		return w->ops;
	}
	if (!strcmp(name, "column")) {
		w->per_op = (double)(w->size / 8);
		w->ops = w->ops / (w->size / 8) ? w->ops / (w->size / 8) : 1;
		return 1;
	}
	if (!strcmp(name, "stride"))
		return w->size / w->step;
	if (!strcmp(name, "alias"))
		return w->size / 8;
	w->per_op = LINE; /* lines, of which bytes count */
	w->ops /= LINE;
	return w->size / LINE;
}

/* Traces are counted from here on. */
static NOINLINE void begin(void)
{
	__asm__ volatile("");
}

static NOINLINE double chain_ticks(uint64_t n)
{
	uint64_t x = 3, start;
	unsigned cpu;

	start = __rdtscp(&cpu);
	for (; n; n--)
		__asm__ volatile("imul %0, %0\n imul %0, %0\n imul %0, %0\n imul %0, %0\n"
				 "imul %0, %0\n imul %0, %0\n imul %0, %0\n imul %0, %0"
				 : "+r"(x));
	return (double)(__rdtscp(&cpu) - start);
}

/* Ticks of the time stamp counter for a cycle of the core: eight multiplications take 24. */
static double ticks_per_cycle(void)
{
	double best = 0;

	for (int i = 0; i < 5; i++) {
		const double ticks = (chain_ticks(1600) - chain_ticks(100)) / (1500 * 24);

		if (ticks > 0 && (!best || ticks < best))
			best = ticks;
	}
	return best;
}

/* How often something else took the CPU. */
static long interruptions(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nivcsw + usage.ru_nvcsw;
}

/* Accesses in any order leave out some lines for long, most of them near the ends. */
static NOINLINE void touch_all(const struct work *w)
{
	for (uint64_t i = 0; w->offsets && i < w->size; i += LINE)
		((volatile char *)w->a)[i];
}

int main(int argc, char **argv)
{
	struct work w = {0};
	const struct kind *k = NULL;
	double best = 0;
	uint64_t warming, rounds;
	bool is_short;

	for (size_t i = 0; argc == 6 && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, argv[1]))
			k = &kinds[i];
	if (!k) {
		fputs("usage: sweep_point KIND SIZE STEP OPERATIONS ROUNDS\n", stderr);
		return 2;
	}
	w.size = strtoull(argv[2], NULL, 0);
	w.step = strtoull(argv[3], NULL, 0);
	w.ops = strtoull(argv[4], NULL, 0) / 8 * 8;
	rounds = strtoull(argv[5], NULL, 0);
	/* In a trace, of one or two rounds, what no cache holds need not be touched before. */
	is_short = rounds < 3 && w.size > CACHED;
	w.all_ops = is_short ? CACHED / LINE : UINT64_MAX;
	warming = prepare(&w, k);
	if (is_short && warming > w.ops)
		warming = w.ops;
	if (warming >= 8)
		warming = warming / 8 * 8;
	/* A cache that is nearly full settles after some passes. */
	if (rounds < 3 && w.size >= SETTLES && w.size <= 8 * SETTLES)
		warming *= 8;
	begin();
	if (!is_short)
		touch_all(&w);
	k->warm(&w, warming);
	for (uint64_t i = 0; i < rounds; i++) {
		const long was = interruptions();
		const double before = ticks_per_cycle();
		unsigned cpu;
		uint64_t start = __rdtscp(&cpu);
		double ticks, after, cycles;

		k->measured(&w, w.ops);
		ticks = (double)(__rdtscp(&cpu) - start);
		after = ticks_per_cycle();
		cycles = ticks / (before < after ? before : after) / ((double)w.ops * w.per_op);
		if (before < 1.1 * after && after < 1.1 * before && interruptions() == was &&
		    (!best || cycles < best))
			best = cycles;
	}
	printf("%s,%llu,%llu,", k->name, (unsigned long long)w.size, (unsigned long long)w.step);
	if (best)
		printf("%.4f", best);
	else
		putchar('-');
	printf(",%.0f\n", (double)w.ops * w.per_op);
	return 0;
}
