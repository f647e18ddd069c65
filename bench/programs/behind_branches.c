/* SPDX-License-Identifier: MIT
 *
 * Loads behind mispredicted branches: how many cycles one operation of each kind takes.
 *
 *	gcc -O2 -o behind_branches behind_branches.c
 *	./behind_branches [ROUNDS [KIND...]]
 *
 * Prints KIND,CYCLES,OPERATIONS for all kinds or those named: cycles of a chain of multiplications right
 * before and after each round; the fewest of all rounds count.  Under tact trace, the cycles of
 * measured_KIND divided by ROUNDS and OPERATIONS are the same figure: bench/behind_branches.py.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <x86intrin.h>

#define NOINLINE __attribute__((noinline, noclone))

enum {
	OPERATIONS = 20000, /* of a round */
	WORDS = 64 << 20 >> 3,
	SLOTS = 16 << 20 >> 3,
	SORTED = 8 << 20 >> 3,
	NODES = 1 << 19, /* of lists: 64 bytes each */
	LISTED = 2000,	 /* bytes */
	SMALL = 4096
};

struct node {
	struct node *next;
	uint64_t value, padding[6];
};

static uint64_t *words, *slots, *sorted, small[SMALL];
static struct node *nodes, *at;
static volatile uint64_t sink;

static uint64_t seed = 88172645463325252u;

static inline uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	return *x ^= *x << 17;
}

/* What a branch does that the compiler must not replace by a conditional move. */
#define DO(text, operand) __asm__ volatile(text : "+r"(operand))

/* ---- random loads from 64 MiB ---- */

/* None depends on another. */
static NOINLINE uint64_t measured_loads(void)
{
	uint64_t x = seed, sum = 0;

	for (int i = 0; i < OPERATIONS; i++)
		sum += words[next_random(&x) % WORDS] & 1;
	seed = x;
	return sum;
}

/* A branch goes by what was loaded; what follows is the same. */
static NOINLINE uint64_t measured_branch(void)
{
	uint64_t x = seed, sum = 0;

	for (int i = 0; i < OPERATIONS; i++)
		if (words[next_random(&x) % WORDS] & 1)
			DO("add $3, %0", sum);
	seed = x;
	return sum;
}

/* Both sides do something, and a branch of one side repeats. */
static NOINLINE uint64_t measured_sides(void)
{
	uint64_t x = seed, sum = 0, other = 0;

	for (int i = 0; i < OPERATIONS; i++) {
		const uint64_t v = words[next_random(&x) % WORDS];

		if (v & 1) {
			DO("add $3, %0", sum);
		} else {
			DO("add $5, %0", other);
			if (v & 6)
				DO("add $7, %0", other);
		}
	}
	seed = x;
	return sum + other;
}

/* The next address depends on where the branch went. */
static NOINLINE uint64_t measured_apart(void)
{
	uint64_t x = seed, sum = 0;

	for (int i = 0; i < OPERATIONS; i++)
		if (words[next_random(&x) % WORDS] & 1)
			DO("lea 0x1234567(%0), %0", x);
	seed = x;
	return sum;
}

/* The same, but the next address does not come from the loop's own registers: each operation loads
 * twice, and the second address depends on the side.
 */
static NOINLINE uint64_t measured_second(void)
{
	uint64_t x = seed, sum = 0;

	for (int i = 0; i < OPERATIONS; i++) {
		uint64_t index = next_random(&x), other = index >> 30;

		if (words[index % WORDS] & 1)
			DO("add $99, %0", other);
		sum += words[other % WORDS] & 1;
	}
	seed = x;
	return sum;
}

/* ---- one load behind another one, whose branch is mispredicted; each pair waits for the last ---- */

#define PAIR(name, between)                                                                        \
	static NOINLINE uint64_t measured_##name(void)                                             \
	{                                                                                          \
		uint64_t x = seed, sum = 0;                                                        \
		for (int i = 0; i < OPERATIONS; i++) {                                             \
			uint64_t index = next_random(&x), other = index >> 30;                     \
			if (words[index % WORDS] & 1)                                              \
				DO("add $3, %0", sum);                                             \
			between;                                                                   \
			x += words[other % WORDS] >> 63; /* 0 */                                   \
		}                                                                                  \
		seed = x;                                                                          \
		return sum;                                                                        \
	}
#define FILL(n) __asm__ volatile(".rept " #n "\nmov %%r8, %%r9\n.endr" : : : "r9")

PAIR(gap0, )
PAIR(gap64, FILL(64))
PAIR(gap128, FILL(128))
PAIR(gap192, FILL(192))
PAIR(gap240, FILL(240))
PAIR(gap272, FILL(272))
PAIR(gap304, FILL(304))
PAIR(gap352, FILL(352))
PAIR(gap448, FILL(448))
/* A second branch in between, which is mispredicted, too: its data are near, or as far. */
PAIR(near, if (small[index % SMALL] & 1) DO("add $5, %0", sum))
PAIR(far, if (words[(index >> 15) % WORDS] & 1) DO("add $5, %0", sum))
/* A branch in between decides about the address, and is known soon. */
PAIR(decided, if (small[index % SMALL] & 1) DO("add $99, %0", other))
/* A store in between, to where it is loaded from again: to one place, or to the one of the branch. */
PAIR(stored, ((volatile uint64_t *)small)[0] = other; other = ((volatile uint64_t *)small)[0])

/* The same without a branch. */
static NOINLINE uint64_t measured_none(void)
{
	uint64_t x = seed, sum = 0;

	for (int i = 0; i < OPERATIONS; i++) {
		uint64_t index = next_random(&x), other = index >> 30;

		sum += words[index % WORDS] & 1;
		x += words[other % WORDS] >> 63;
	}
	seed = x;
	return sum;
}

/* One after the other. */
static NOINLINE uint64_t measured_chain(void)
{
	uint64_t x = seed, sum = 0;

	for (int i = 0; i < OPERATIONS; i++)
		x += words[next_random(&x) % WORDS] >> 63;
	seed = x;
	return sum;
}

/* ---- hash tables, searches, lists ---- */

static uint64_t hash(uint64_t key)
{
	return key * 0x9e3779b97f4a7c15u >> 20;
}

/* Half of the keys are found, at the first place or some later one. */
static NOINLINE uint64_t measured_table(void)
{
	uint64_t x = seed, sum = 0;

	for (int i = 0; i < OPERATIONS; i++) {
		const uint64_t key = next_random(&x) % SLOTS + 1;
		uint64_t place = hash(key);

		while (slots[place % SLOTS] && slots[place % SLOTS] != key)
			place++;
		if (slots[place % SLOTS])
			DO("add $1, %0", sum);
	}
	seed = x;
	return sum;
}

static NOINLINE uint64_t measured_search(void)
{
	uint64_t x = seed, sum = 0;

	for (int i = 0; i < OPERATIONS / 10; i++) {
		const uint64_t key = next_random(&x) >> 1;
		uint64_t from = 0, n = SORTED;

		while (n > 1) {
			const uint64_t half = n / 2;

			n -= half;
			if (sorted[from + half] <= key)
				__asm__ volatile("add %1, %0" : "+r"(from) : "r"(half));
		}
		sum += from;
	}
	seed = x;
	return sum;
}

/* Nodes in random order; a branch goes by each value. */
static NOINLINE uint64_t measured_list(void)
{
	struct node *n = at;
	uint64_t sum = 0;

	for (int i = 0; i < OPERATIONS; i++) {
		if (n->value & 1)
			DO("add $3, %0", sum);
		n = n->next;
	}
	at = n;
	return sum;
}

/* A list without order, and for each node a random load by a branch that goes by its value. */
static NOINLINE uint64_t measured_list_loads(void)
{
	struct node *n = at;
	uint64_t sum = 0;

	for (int i = 0; i < OPERATIONS; i++) {
		if (words[n->padding[0] % WORDS] & 1)
			DO("add $3, %0", sum);
		n = n->next;
	}
	at = n;
	return sum;
}

/* ---- the second level: 256 KiB ---- */

static NOINLINE uint64_t measured_l2_loads(void)
{
	uint64_t x = seed, sum = 0;

	for (int i = 0; i < OPERATIONS; i++)
		sum += words[next_random(&x) % (256 << 7)] & 1;
	seed = x;
	return sum;
}

static NOINLINE uint64_t measured_l2_branch(void)
{
	uint64_t x = seed, sum = 0;

	for (int i = 0; i < OPERATIONS; i++)
		if (words[next_random(&x) % (256 << 7)] & 1)
			DO("add $3, %0", sum);
	seed = x;
	return sum;
}

/* ---- the clock ---- */

static NOINLINE double chain_ticks(uint64_t n)
{
	unsigned cpu;
	uint64_t x = 1, start = __rdtscp(&cpu);

	for (uint64_t i = 0; i < n; i++)
		__asm__ volatile(".rept 8\nimul %0, %0\n.endr" : "+r"(x));
	return (double)(__rdtscp(&cpu) - start);
}

static double ticks_of_cycle(void)
{
	double least = 1e30;

	for (int i = 0; i < 5; i++) {
		const double ticks = (chain_ticks(1600) - chain_ticks(100)) / (1500 * 24);

		least = ticks < least ? ticks : least;
	}
	return least;
}

/* ---- kinds ---- */

static const struct {
	const char *name;
	uint64_t (*run)(void);
	int operations;
} KINDS[] = {
#define KIND(name)                                                                                 \
	{                                                                                          \
#name, measured_##name, OPERATIONS                                                 \
	}
	KIND(loads),	KIND(branch),
	KIND(sides),	KIND(apart),
	KIND(second),	KIND(chain),
	KIND(none),	KIND(gap0),
	KIND(gap64),	KIND(gap128),
	KIND(gap192),	KIND(gap240),
	KIND(gap272),	KIND(gap304),
	KIND(gap352),	KIND(gap448),
	KIND(near),	KIND(far),
	KIND(decided),	KIND(stored),
	KIND(table),	{"search", measured_search, OPERATIONS / 10},
	KIND(list),	KIND(list_loads),
	KIND(l2_loads), KIND(l2_branch),
};

static void *get_memory(uint64_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(2);
	madvise(p, bytes, MADV_NOHUGEPAGE);
	return p;
}

static void make_list(void)
{
	uint32_t *order = malloc(NODES * sizeof(*order));

	nodes = get_memory(NODES * sizeof(*nodes));
	for (uint32_t i = 0; i < NODES; i++)
		order[i] = i;
	for (uint32_t i = NODES - 1; i; i--) {
		const uint32_t k = (uint32_t)(next_random(&seed) >> 8) % i, held = order[i];

		order[i] = order[k];
		order[k] = held;
	}
	for (uint32_t i = 0; i < NODES; i++) {
		nodes[order[i]].next = &nodes[order[(i + 1) % NODES]];
		nodes[order[i]].value = next_random(&seed) >> 20;
		nodes[order[i]].padding[0] = next_random(&seed) >> 20;
	}
	at = &nodes[order[0]];
	free(order);
}

static void make_data(void)
{
	words = get_memory(WORDS * 8);
	slots = get_memory(SLOTS * 8);
	sorted = get_memory(SORTED * 8);
	for (uint64_t i = 0; i < WORDS; i++)
		words[i] = next_random(&seed) >> 8;
	for (uint64_t i = 0; i < SMALL; i++)
		small[i] = next_random(&seed) >> 8;
	for (uint64_t i = 0; i < SORTED; i++)
		sorted[i] = i * (UINT64_MAX / 2 / SORTED);
	for (uint64_t i = 0; i < SLOTS / 2; i++) {
		const uint64_t key = next_random(&seed) % SLOTS + 1;
		uint64_t place = hash(key);

		while (slots[place % SLOTS] && slots[place % SLOTS] != key)
			place++;
		slots[place % SLOTS] = key;
	}
	make_list();
}

static void measure(unsigned kind, int rounds)
{
	double least = 1e30;
	unsigned cpu;

	for (int i = 0; i < rounds; i++) {
		const double before = ticks_of_cycle();
		const uint64_t start = __rdtscp(&cpu);
		double ticks, after;

		sink = KINDS[kind].run();
		ticks = (double)(__rdtscp(&cpu) - start);
		after = ticks_of_cycle();
		if (before > 1.03 * after || after > 1.03 * before)
			continue;
		ticks /= KINDS[kind].operations * (before < after ? before : after);
		least = ticks < least ? ticks : least;
	}
	printf("%s,%.1f,%d\n", KINDS[kind].name, least, KINDS[kind].operations);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 100;

	make_data();
	for (unsigned k = 0; k < sizeof(KINDS) / sizeof(KINDS[0]); k++) {
		int is_asked = argc < 3;

		for (int i = 2; i < argc; i++)
			is_asked |= !strcmp(argv[i], KINDS[k].name);
		if (is_asked)
			measure(k, rounds);
	}
	return 0;
}
