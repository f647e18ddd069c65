/* SPDX-License-Identifier: MIT
 *
 * Two ways to do the same, for bench/trace_accuracy.py: ways.c -DKERNEL=NAME -DWAY=0 or 1, run with
 * the number of rounds.  What differs is how often branches are mispredicted, or where the data are.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef WAY
#define WAY 0
#endif

static uint64_t state = 88172645463325252u;

/* Marsaglia's xorshift. */
static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Memory that is there before the rounds begin. */
static void *own(size_t bytes)
{
	void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);

	if (!p)
		exit(1);
	memset(p, 1, bytes);
	return p;
}

#define ONCE(pointer) if (!(pointer))

static int up(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* ---- branches ---- */

/* Binary search for random keys, with a branch or with a conditional move. */
static uint64_t search(void)
{
	enum { N = 1 << 14, KEYS = 1 << 12 };
	static uint32_t *sorted;
	uint64_t sum = 0;

	ONCE(sorted)
	{
		sorted = own(N * sizeof(*sorted));
		for (int i = 0; i < N; i++)
			sorted[i] = (uint32_t)i * 1000;
	}
	for (int k = 0; k < KEYS; k++) {
		const uint32_t *at = sorted, key = (uint32_t)(next() % (N * 1000u));

		for (unsigned n = N / 2; n; n /= 2) {
#if WAY
			__asm__("cmpl %[key], -4(%[at],%[n],4)\n\t"
				"lea (%[at],%[n],4), %%rax\n\t"
				"cmovb %%rax, %[at]"
				: [at] "+r"(at)
				: [n] "r"((uint64_t)n), [key] "r"(key)
				: "rax", "cc", "memory");
#else
			if (at[n - 1] < key) {
				at += n;
				__asm__ volatile("" : "+r"(at));
			}
#endif
		}
		sum += (uint64_t)(at - sorted);
	}
	return sum;
}

/* The sum of what is above a limit: of random data, or of the same data in order. */
static uint64_t above(void)
{
	enum { N = 1 << 15, ALL = 8 * N };
	static uint32_t *data, at;
	const uint32_t *part;
	uint64_t sum = 0;

	ONCE(data)
	{
		data = own(ALL * sizeof(*data));
		for (int i = 0; i < ALL; i++)
			data[i] = (uint32_t)(next() >> 40);
		for (int i = 0; WAY && i < ALL; i += N)
			qsort(data + i, N, sizeof(*data), up);
	}
	part = data + at++ % 8 * N;
	for (int i = 0; i < N; i++)
		if (part[i] >= 1u << 23) {
			sum += part[i];
			__asm__ volatile("" : "+r"(sum));
		}
	return sum;
}

/* An interpreter: one dispatch for all instructions, or one for each of them.  The program is short
 * enough for a CPU to learn it, as the loops of real ones are.
 */
static uint64_t run_program(void)
{
	enum { N = 1 << 8 };
	static unsigned char *program;
	uint64_t a = 1, b = 2;
	const unsigned char *p;

	ONCE(program)
	{
		program = own(N);
		for (int i = 0; i < N - 1; i++)
			program[i] = (unsigned char)(next() % 7);
		program[N - 1] = 7;
	}
	p = program;
#if WAY
	static const void *const labels[] = {&&l0, &&l1, &&l2, &&l3, &&l4, &&l5, &&l6, &&l7};
#define NEXT goto *labels[*p++]
	NEXT;
l0:
	a += b;
	NEXT;
l1:
	b ^= a;
	NEXT;
l2:
	a = a << 1 | a >> 63;
	NEXT;
l3:
	b -= a;
	NEXT;
l4:
	a += 3;
	NEXT;
l5:
	b = ~b;
	NEXT;
l6:
	a ^= b >> 3;
	NEXT;
l7:
	return a + b;
#else
	for (;;) {
		switch (*p++) {
		case 0:
			a += b;
			break;
		case 1:
			b ^= a;
			break;
		case 2:
			a = a << 1 | a >> 63;
			break;
		case 3:
			b -= a;
			break;
		case 4:
			a += 3;
			break;
		case 5:
			b = ~b;
			break;
		case 6:
			a ^= b >> 3;
			break;
		default:
			return a + b;
		}
	}
#endif
}

static uint64_t interpreter(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < 16; i++)
		sum += run_program();
	return sum;
}

static void quick(uint32_t *v, int n)
{
	while (n > 12) {
		uint32_t pivot = v[n / 2];
		int i = 0, k = n - 1;

		while (i <= k) {
			while (v[i] < pivot)
				i++;
			while (v[k] > pivot)
				k--;
			if (i <= k) {
				const uint32_t x = v[i];

				v[i++] = v[k];
				v[k--] = x;
			}
		}
		quick(v, k + 1);
		v += i;
		n -= i;
	}
	for (int i = 1; i < n; i++) {
		const uint32_t x = v[i];
		int k = i;

		for (; k > 0 && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

/* Sorting random numbers: libc's function, or one with the comparison in place. */
static uint64_t sorting(void)
{
	enum { N = 1 << 13 };
	static uint32_t *data, *work;

	ONCE(data)
	{
		data = own(N * sizeof(*data));
		work = own(N * sizeof(*work));
	}
	for (int i = 0; i < N; i++)
		work[i] = (uint32_t)(next() >> 33);
	if (WAY)
		quick(work, N);
	else
		qsort(work, N, sizeof(*work), up);
	return work[N / 2];
}

static uint64_t add_one(uint64_t x)
{
	return x + 1;
}
static uint64_t turn(uint64_t x)
{
	return x << 3 | x >> 61;
}
static uint64_t flip(uint64_t x)
{
	return ~x;
}
static uint64_t triple(uint64_t x)
{
	return 3 * x;
}

/* Calls through pointers, in random order or sorted by target. */
static uint64_t calls(void)
{
	enum { N = 1 << 14, ALL = 16 * N };
	static unsigned char *kinds;
	static unsigned at;
	const unsigned char *part;
	static uint64_t (*const volatile function[])(uint64_t) = {add_one, turn, flip, triple};
	uint64_t x = 1;

	ONCE(kinds)
	{
		kinds = own(ALL);
		for (int i = 0; i < ALL; i++)
			kinds[i] = (unsigned char)(WAY ? 4 * (i % N) / N : next() % 4);
	}
	part = kinds + at++ % 16 * N;
	for (int i = 0; i < N; i++)
		x = function[part[i]](x);
	return x;
}

/* Numbers in text, of one to nine digits or of five digits. */
static uint64_t numbers(void)
{
	enum { N = 1 << 12, PARTS = 32 };
	static char *text[PARTS];
	static unsigned at;
	uint64_t sum = 0;

	for (int k = 0; k < PARTS && !text[PARTS - 1]; k++) {
		char *p = text[k] = own(N * 12);

		for (int i = 0; i < N; i++) {
			int digits = WAY ? 5 : 1 + (int)(next() % 9);

			while (digits--)
				*p++ = (char)('0' + next() % 10);
			*p++ = ' ';
		}
		*p = 0;
	}
	for (const char *p = text[at++ % PARTS]; *p; p++) {
		uint64_t x = 0;

		for (; *p != ' '; p++)
			x = 10 * x + (uint64_t)(*p - '0');
		sum += x;
	}
	return sum;
}

/* ---- memory ---- */

/* The sum of a square of 4 MB by columns or by rows. */
static uint64_t square(void)
{
	enum { N = 1024 };
	static uint32_t(*data)[N];
	uint64_t sum = 0;

	ONCE(data)
	data = own(N * sizeof(*data));
	for (int i = 0; i < N; i++)
		for (int k = 0; k < N; k++) {
			sum += WAY ? data[i][k] : data[k][i];
			__asm__ volatile("" : "+r"(sum));
		}
	return sum;
}

/* One member of a million records: among the others, or in an array of its own. */
static uint64_t records(void)
{
	enum { N = 1 << 18 };
	static struct {
		uint64_t wanted, others[7];
	} * whole;
	static uint64_t *wanted, sum;

	ONCE(whole)
	{
		whole = own(N * sizeof(*whole));
		wanted = own(N * sizeof(*wanted));
	}
	for (int i = 0; i < N; i++)
		sum += WAY ? wanted[i] : whole[i].wanted;
	return sum;
}

/* A list of 2^18 elements: in random order, or one after the other. */
static uint64_t list(void)
{
	enum { N = 1 << 18 };
	struct element {
		struct element *next;
		uint64_t value, more[2];
	};
	static struct element *first;
	uint64_t sum = 0;

	ONCE(first)
	{
		struct element *all = own(N * sizeof(*all));
		uint32_t *order = own(N * sizeof(*order));

		for (uint32_t i = 0; i < N; i++)
			order[i] = i;
		for (uint32_t i = N - 1; i > 0 && !WAY; i--) {
			const uint32_t k = (uint32_t)(next() % (i + 1)), x = order[i];

			order[i] = order[k];
			order[k] = x;
		}
		for (uint32_t i = 0; i < N; i++)
			all[order[i]].next = i + 1 < N ? &all[order[i + 1]] : NULL;
		first = &all[order[0]];
	}
	for (const struct element *e = first; e; e = e->next)
		sum += e->value;
	return sum;
}

/* Transposing a square of 8 MB, row by row or in blocks. */
static uint64_t transpose(void)
{
	enum { N = 1024, BLOCK = 8 };
	static double(*from)[N], (*to)[N];

	ONCE(from)
	{
		from = own(N * sizeof(*from));
		to = own(N * sizeof(*to));
	}
#if WAY
	for (int i = 0; i < N; i += BLOCK)
		for (int k = 0; k < N; k += BLOCK)
			for (int y = i; y < i + BLOCK; y++)
				for (int x = k; x < k + BLOCK; x++)
					to[x][y] = from[y][x];
#else
	for (int i = 0; i < N; i++)
		for (int k = 0; k < N; k++)
			to[k][i] = from[i][k];
#endif
	return (uint64_t)to[5][7];
}

/* A product of matrices, with the inner loop along a column or along a row. */
static uint64_t product(void)
{
	enum { N = 192 };
	static double(*a)[N], (*b)[N], (*c)[N];

	ONCE(a)
	{
		a = own(N * sizeof(*a));
		b = own(N * sizeof(*b));
		c = own(N * sizeof(*c));
		for (int i = 0; i < N * N;
		     i++) /* bytes of 1 would be tiny, and slow where products vanish */
			a[i / N][i % N] = b[i / N][i % N] = 1.5 + i % 7;
	}
	for (int i = 0; i < N; i++) {
#if WAY
		memset(c[i], 0, sizeof(c[i]));
		for (int k = 0; k < N; k++)
			for (int j = 0; j < N; j++)
				c[i][j] += a[i][k] * b[k][j];
#else
		for (int j = 0; j < N; j++) {
			double x = 0;

			for (int k = 0; k < N; k++)
				x += a[i][k] * b[k][j];
			c[i][j] = x;
		}
#endif
	}
	return (uint64_t)c[3][4];
}

/* Reading 32 MB at random indices, or at the same indices in order. */
static uint64_t indices(void)
{
	enum { N = 1 << 22, READS = 1 << 18 };
	static uint64_t *data;
	static uint32_t *at;
	uint64_t sum = 0;

	ONCE(data)
	{
		data = own(N * sizeof(*data));
		at = own(READS * sizeof(*at));
		for (int i = 0; i < READS; i++)
			at[i] = (uint32_t)(next() % N);
		if (WAY)
			qsort(at, READS, sizeof(*at), up);
	}
	for (int i = 0; i < READS; i++)
		sum += data[at[i]];
	return sum;
}

/* Random reads that depend on each other's data a little: without and with a prefetch. */
static uint64_t prefetch(void)
{
	enum { N = 1 << 22, READS = 1 << 17, AHEAD = 16 };
	static uint64_t *data;
	static uint32_t *at;
	uint64_t sum = 0;

	ONCE(data)
	{
		data = own(N * sizeof(*data));
		at = own((READS + AHEAD) * sizeof(*at));
		for (int i = 0; i < READS + AHEAD; i++)
			at[i] = (uint32_t)(next() % N);
	}
	for (int i = 0; i < READS; i++) {
		uint64_t x = data[at[i]];

		if (WAY)
			__builtin_prefetch(&data[at[i + AHEAD]]);
		for (int k = 0; k < 24; k++)
			x = x * 3 + (x >> 7);
		sum += x;
	}
	return sum;
}

/* Copying 16 MB at once, or 16 KB a thousand times. */
static uint64_t copy(void)
{
	enum { N = 1 << 24, PART = 1 << 14 };
	static char *from, *to;

	ONCE(from)
	{
		from = own(N);
		to = own(N);
	}
	for (int i = 0; i < N / PART; i++) {
		const size_t at = WAY ? 0 : (size_t)i * PART;

		memcpy(to + at, from + at, PART);
		__asm__ volatile("" : : : "memory");
	}
	return (uint64_t)to[77];
}

/* Looking numbers up in a hash table: of 16 MB, or of 64 KB. */
static uint64_t table(void)
{
	enum { KEYS = 1 << 15, BITS = WAY ? 13 : 21 };
	static uint64_t *slots, key = 1;
	uint64_t found = 0;

	ONCE(slots)
	{
		slots = own(sizeof(*slots) << BITS);
		memset(slots, 0, sizeof(*slots) << BITS);
		for (int i = 0; i < 1 << (BITS - 1); i++) {
			const uint64_t x = (uint64_t)i * 2 + 1;
			uint64_t at = x * 0x9e3779b97f4a7c15u >> (64 - BITS);

			while (slots[at])
				at = (at + 1) & ((1u << BITS) - 1);
			slots[at] = x;
		}
	}
	for (int i = 0; i < KEYS; i++) {
		uint64_t x, at;

		key = key * 6364136223846793005u + 1442695040888963407u;
		x = key >> (64 - BITS);
		at = x * 0x9e3779b97f4a7c15u >> (64 - BITS);
		while (slots[at] && slots[at] != x)
			at = (at + 1) & ((1u << BITS) - 1);
		found += slots[at] == x;
	}
	return found;
}

/* One word of each of 8192 pages, or 8192 words of the same number of lines close together. */
static uint64_t pages(void)
{
	enum { N = 8192, STEP = WAY ? 64 : 4096 + 64 };
	static char *data;
	uint64_t sum = 0;

	ONCE(data)
	data = own((size_t)N * STEP);
	for (int i = 0; i < N; i++)
		sum += (uint64_t)data[(size_t)(i * 2654435761u % N) * STEP];
	return sum;
}

int main(int argc, char **argv)
{
	const long rounds = argc > 1 ? atol(argv[1]) : 1;
	uint64_t sum = KERNEL(); /* the data are there, and were used once */

	for (long i = 0; i < rounds; i++) {
		sum += KERNEL();
		__asm__ volatile("" : : : "memory");
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
