/* SPDX-License-Identifier: MIT
 *
 * Two ways to do the same, for bench/other_sets_pairs.py: other_sets.c -DKERNEL=NAME -DWAY=0 or 1, run
 * with the number of rounds.  Which way is faster on any core of today follows from counts of
 * instructions, published latencies, or how often branches and caches miss; the script says it.
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

#define ONCE(pointer)  if (!(pointer))
#define HIDDEN(x)      __asm__("" : "+r"(x)) /* the compiler does not know the value */
#define HIDDEN_REAL(x) __asm__("" : "+w"(x))
#ifdef __riscv
#undef HIDDEN_REAL
#define HIDDEN_REAL(x) __asm__("" : "+f"(x))
#endif

enum { N = 4096 };

static double *reals(void)
{
	static double *r;

	ONCE(r)
	{
		r = own(N * sizeof(*r));
		for (int i = 0; i < N; i++)
			r[i] = 1 + (double)(next() % 1000) / 1e4;
	}
	return r;
}

static uint64_t *numbers(void)
{
	static uint64_t *v;

	ONCE(v)
	{
		v = own(N * sizeof(*v));
		for (int i = 0; i < N; i++)
			v[i] = next() >> 20 | 1;
	}
	return v;
}

/* ---- chains ---- */

/* A sum of floating-point numbers, in one sum or in four. */
uint64_t sums(void)
{
	const double *r = reals();
	double a = 0, b = 0, c = 0, d = 0;

	for (int i = 0; i < N; i += 4) {
#if WAY
		a += r[i], b += r[i + 1], c += r[i + 2], d += r[i + 3];
#else
		a += r[i], a += r[i + 1], a += r[i + 2], a += r[i + 3];
#endif
	}
	return (uint64_t)(a + b + c + d);
}

/* A polynomial of degree 7, whose value is the next argument: Horner's rule, or in pairs. */
uint64_t polynomial(void)
{
	const double *k = reals();
	double x = 0.5;

	for (int i = 0; i < N / 4; i++) {
#if WAY
		const double x2 = x * x, x4 = x2 * x2;

		x = ((k[7] * x + k[6]) * x2 + (k[5] * x + k[4])) * x4 +
		    ((k[3] * x + k[2]) * x2 + (k[1] * x + k[0]));
#else
		x = ((((((k[7] * x + k[6]) * x + k[5]) * x + k[4]) * x + k[3]) * x + k[2]) * x +
		     k[1]) * x +
		    k[0];
#endif
		x *= 1e-3;
	}
	return (uint64_t)(x * 1e6);
}

/* How often bytes occur, where most are equal: one table, or four. */
uint64_t histogram(void)
{
	static uint32_t t[4][256];
	static unsigned char *text;

	ONCE(text)
	{
		text = own(N);
		for (int i = 0; i < N; i++)
			text[i] = (unsigned char)(i / 64);
	}
	for (int i = 0; i < N; i += 4)
		for (int k = 0; k < 4; k++)
			t[WAY ? k : 0][text[i + k]]++;
	return t[0][3];
}

/* ---- divisions ---- */

/* Remainders by 10, by a division or by a product with the inverse. */
uint64_t remainders(void)
{
	const uint64_t *v = numbers();
	uint64_t sum = 0;
	uint32_t by = 10;

	HIDDEN(by);
	for (int i = 0; i < N; i++) {
		const uint32_t x = (uint32_t)v[i];

#if WAY
		sum += x - (uint32_t)((uint64_t)x * 0xcccccccdu >> 35) * 10;
#else
		sum += x % by;
#endif
	}
	return sum;
}

/* Quotients of 64 bits, or of 32 where they fit; each is a part of the next number. */
uint64_t quotients(void)
{
	const uint64_t *v = numbers();
	uint64_t x = 1, by = 7;

	HIDDEN(by);
	for (int i = 0; i < N; i++) {
#if WAY
		x = ((uint32_t)x ^ (uint32_t)v[i]) / (uint32_t)by;
#else
		x = (x ^ v[i]) / by;
#endif
	}
	return x;
}

/* Divided by a number, or multiplied by its inverse. */
uint64_t scaled(void)
{
	const double *r = reals();
	double by = 1.7, sum = 0;

	HIDDEN_REAL(by);
#if WAY
	by = 1 / by;
	HIDDEN_REAL(by);
#endif
	for (int i = 0; i < N; i += 4)
		for (int k = 0; k < 4; k++)
#if WAY
			sum += r[i + k] * by;
#else
			sum += r[i + k] / by;
#endif
	return (uint64_t)sum;
}

/* ---- branches ---- */

/* The sum of what is above a limit, of random data: with a branch, or with a mask. */
uint64_t above(void)
{
	enum { ALL = 1 << 17, PART = 1 << 14 };
	static uint32_t *data, at;
	const uint32_t *part;
	uint64_t sum = 0;

	ONCE(data)
	{
		data = own(ALL * sizeof(*data));
		for (int i = 0; i < ALL; i++)
			data[i] = (uint32_t)(next() >> 40);
	}
	part = data + at++ % (ALL / PART) * PART;
	for (int i = 0; i < PART; i++) {
#if WAY
		uint64_t mask = (uint64_t)((int64_t)((1u << 23) - 1 - (int64_t)part[i]) >> 63);

		HIDDEN(mask);
		sum += part[i] & mask;
#else
		if (part[i] >= 1u << 23) {
			sum += part[i];
			HIDDEN(sum);
		}
#endif
	}
	return sum;
}

static int up(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The same with the branch, on random data or on the same data in order. */
uint64_t ordered(void)
{
	enum { ALL = 1 << 16, PART = 1 << 13 };
	static uint32_t *data, at;
	const uint32_t *part;
	uint64_t sum = 0;

	ONCE(data)
	{
		data = own(ALL * sizeof(*data));
		for (int i = 0; i < ALL; i++)
			data[i] = (uint32_t)(next() >> 40);
		for (int i = 0; i < ALL; i += PART)
			qsort(data + i, PART, sizeof(*data), up);
		for (int i = ALL - 1; i && !WAY; i--) {
			const uint32_t k = (uint32_t)(next() % (uint64_t)i), x = data[i];

			data[i] = data[k], data[k] = x;
		}
	}
	part = data + at++ % (ALL / PART) * PART;
	for (int i = 0; i < PART; i++)
		if (part[i] >= 1u << 23) {
			sum += part[i];
			HIDDEN(sum);
		}
	return sum;
}

/* Looking for keys: one element after the other, or by halves. */
uint64_t lookup(void)
{
	const uint64_t keys = 64;
	static uint64_t *sorted;
	uint64_t sum = 0;

	ONCE(sorted)
	{
		sorted = own(N * sizeof(*sorted));
		for (int i = 0; i < N; i++)
			sorted[i] = (uint64_t)i * 1000;
	}
	for (uint64_t k = 0; k < keys; k++) {
		const uint64_t key = next() % (N * 1000ul);
		uint64_t low = 0, n = N;

#if WAY
		while (n > 1) {
			if (sorted[low + n / 2] <= key)
				low += n / 2;
			n -= n / 2;
		}
#else
		while (low + 1 < n && sorted[low + 1] <= key)
			low++;
#endif
		sum += low;
	}
	return sum;
}

/* ---- memory ---- */

/* One member of records of 64 bytes, or the same numbers in an array of their own. */
uint64_t records(void)
{
	enum { ALL = 1 << 17 };
	struct record {
		uint64_t key, other[WAY ? 0 : 7];
	};
	static struct record *all;
	uint64_t sum = 0;

	ONCE(all)
	{
		all = own(ALL * sizeof(*all));
	}
	for (int i = 0; i < ALL; i++)
		sum += all[i].key;
	return sum;
}

/* A square of numbers, by columns or by rows. */
uint64_t square(void)
{
	enum { SIDE = 1024 };
	static uint32_t *all;
	uint64_t sum = 0;

	ONCE(all)
	{
		all = own(SIDE * SIDE * sizeof(*all));
	}
	for (int i = 0; i < SIDE; i++)
		for (int k = 0; k < SIDE; k++)
			sum += WAY ? all[i * SIDE + k] : all[k * SIDE + i];
	return sum;
}

/* A list of 4 MB, whose nodes are anywhere, or one after the other. */
uint64_t list(void)
{
	enum { NODES = 1 << 16 };
	struct node {
		struct node *next;
		uint64_t pad[7];
	};
	static struct node *nodes;
	const struct node *at;
	uint64_t sum = 0;

	ONCE(nodes)
	{
		uint32_t *order = own(NODES * sizeof(*order));

		nodes = own(NODES * sizeof(*nodes));
		for (uint32_t i = 0; i < NODES; i++)
			order[i] = i;
		for (uint32_t i = NODES - 1; i && !WAY; i--) {
			const uint32_t k = (uint32_t)(next() % i), x = order[i];

			order[i] = order[k], order[k] = x;
		}
		for (uint32_t i = 0; i < NODES; i++)
			nodes[order[i]].next = &nodes[order[(i + 1) % NODES]];
		free(order);
	}
	at = nodes;
	for (int i = 0; i < NODES; i++)
		sum += at->pad[0], at = at->next;
	return sum;
}

/* A copy, by bytes or by words. */
uint64_t copy(void)
{
	static unsigned char *from, *to;

	ONCE(from)
	{
		from = own(N);
		to = own(N);
	}
#if WAY
	for (int i = 0; i < N; i += 8) {
		uint64_t x;

		memcpy(&x, __builtin_assume_aligned(from + i, 8), 8);
		HIDDEN(x);
		memcpy(__builtin_assume_aligned(to + i, 8), &x, 8);
	}
#else
	for (int i = 0; i < N; i++) {
		unsigned x = from[i];

		HIDDEN(x);
		to[i] = (unsigned char)x;
	}
#endif
	return to[5];
}

/* ---- arithmetic ---- */

/* A check sum, bit by bit or with a table for eight bits. */
uint64_t crc(void)
{
	static uint32_t *table;
	uint32_t c = ~0u;

	ONCE(table)
	{
		table = own(256 * sizeof(*table));
		for (uint32_t i = 0; i < 256; i++) {
			table[i] = i;
			for (int k = 0; k < 8; k++)
				table[i] = table[i] >> 1 ^ (0xedb88320u & -(table[i] & 1));
		}
	}
	for (uint32_t i = 0; i < N; i++) {
		c ^= i & 255;
#if WAY
		c = c >> 8 ^ table[c & 255];
#else
		for (int k = 0; k < 8; k++)
			c = c >> 1 ^ (0xedb88320u & -(c & 1));
#endif
	}
	return c;
}

/* Bits that are set: one after the other, or in all fields of a word at once. */
uint64_t bits(void)
{
	const uint64_t *v = numbers();
	uint64_t sum = 0;

	for (int i = 0; i < N; i++) {
		uint64_t x = v[i];

#if WAY
		x -= x >> 1 & 0x5555555555555555u;
		x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
		x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
		sum += x * 0x0101010101010101u >> 56;
#else
		for (; x; x &= x - 1)
			sum++;
#endif
	}
	return sum;
}

/* Whatever the compiler has for it: options of the script differ. */
uint64_t population(void)
{
	const uint64_t *v = numbers();
	uint64_t sum = 0;

	for (int i = 0; i < N; i++)
		sum += (uint64_t)__builtin_popcountll(v[i]);
	return sum;
}

uint64_t larger(void)
{
	enum { PART = 1 << 12, ALL = 8 * PART };
	static int64_t *v, at;
	const int64_t *part;
	uint64_t sum = 0;

	ONCE(v)
	{
		v = own((ALL + 1) * sizeof(*v));
		for (int i = 0; i <= ALL; i++)
			v[i] = (int64_t)(next() >> 20);
	}
	part = v + at++ % 8 * PART;
	for (int i = 0; i < PART; i++)
		sum += (uint64_t)(part[i] > part[i + 1] ? part[i] : part[i + 1]);
	return sum;
}

uint64_t indexed(void)
{
	const uint64_t *v = numbers();
	uint64_t sum = 0;

	for (int i = 0; i < N; i++)
		sum += v[(uint32_t)(v[i] >> 7) % N];
	return sum;
}

uint64_t total(void)
{
	const uint32_t *v = (const uint32_t *)numbers();
	uint32_t sum = 0;

	for (int i = 0; i < 2 * N; i++)
		sum += v[i] ^ (uint32_t)i;
	return sum;
}

/* Products of small matrices. */
uint64_t matrix(void)
{
	enum { M = 32 };
	const double *r = reals();
	static double product[M * M];

	for (int i = 0; i < M; i++)
		for (int j = 0; j < M; j++)
			product[i * M + j] = 0;
	for (int i = 0; i < M; i++)
		for (int k = 0; k < M; k++)
			for (int j = 0; j < M; j++)
				product[i * M + j] += r[i * M + k] * r[k * M + j];
	return (uint64_t)product[M + 1];
}

__attribute__((unused)) static void quick(uint32_t *v, int n)
{
	uint32_t pivot, x;
	int i = 0, k = n - 1;

	if (n < 2)
		return;
	for (pivot = v[n / 2];; i++, k--) {
		while (v[i] < pivot)
			i++;
		while (v[k] > pivot)
			k--;
		if (i >= k)
			break;
		x = v[i], v[i] = v[k], v[k] = x;
	}
	quick(v, i);
	quick(v + i, n - i);
}

/* Sorting: by selection, or quickly. */
uint64_t sorting(void)
{
	enum { PART = 512 };
	uint32_t v[PART];

	for (int i = 0; i < PART; i++)
		v[i] = (uint32_t)next();
#if WAY
	quick(v, PART);
#else
	for (int i = 0; i < PART; i++) {
		int least = i;
		uint32_t x;

		for (int k = i + 1; k < PART; k++)
			if (v[k] < v[least])
				least = k;
		x = v[i], v[i] = v[least], v[least] = x;
	}
#endif
	return v[7];
}

/* A call for each number, or none. */
__attribute__((noinline, unused)) static uint64_t called(uint64_t x)
{
	__asm__("" : "+r"(x));
	return x ^ x >> 3;
}

uint64_t calls(void)
{
	const uint64_t *v = numbers();
	uint64_t sum = 0;

	for (int i = 0; i < N; i++) {
#if WAY
		uint64_t x = v[i];

		__asm__("" : "+r"(x));
		sum += x ^ x >> 3;
#else
		sum += called(v[i]);
#endif
	}
	return sum;
}

/* ---- of one machine ---- */

/* Counters in memory that others may change: a reserved load and a conditional store, or one atomic
 * instruction.  Nobody else asks for them.
 */
uint64_t atomics(void)
{
	static uint64_t *counters;

	ONCE(counters)
	{
		counters = own(64 * 64);
	}
	for (uint64_t i = 0; i < N; i++) {
		uint64_t *at = counters + i % 64 * 8, one = 1;

#ifdef __riscv
#if WAY
		__asm__ volatile("amoadd.d zero, %1, %0" : "+A"(*at) : "r"(one));
#else
		uint64_t x, failed;

		__asm__ volatile(
			"1: lr.d %0, %2\n\tadd %0, %0, %3\n\tsc.d %1, %0, %2\n\tbnez %1, 1b"
			: "=&r"(x), "=&r"(failed), "+A"(*at)
			: "r"(one));
#endif
#else
#if WAY
		uint64_t old;

		__asm__ volatile(".arch armv8.1-a\n\tldadd %2, %0, %1"
				 : "=r"(old), "+Q"(*at)
				 : "r"(one));
#else
		uint64_t x;
		uint32_t failed;

		__asm__ volatile(
			"1: ldxr %0, %2\n\tadd %0, %0, %3\n\tstxr %w1, %0, %2\n\tcbnz %w1, 1b"
			: "=&r"(x), "=&r"(failed), "+Q"(*at)
			: "r"(one));
#endif
#endif
	}
	return counters[8];
}

#ifdef __aarch64__
/* Words that are loaded alone, or in pairs. */
uint64_t pairs(void)
{
	const uint64_t *at = numbers(), *end = at + N;
	uint64_t a = 0, b = 0, w, x, y, z;

	while (at < end) {
#if WAY
		__asm__("ldp %0, %1, [%4]\n\tldp %2, %3, [%4, #16]"
			: "=&r"(w), "=&r"(x), "=&r"(y), "=&r"(z)
			: "r"(at)
			: "memory");
#else
		__asm__("ldr %0, [%4]\n\tldr %1, [%4, #8]\n\tldr %2, [%4, #16]\n\tldr %3, [%4, #24]"
			: "=&r"(w), "=&r"(x), "=&r"(y), "=&r"(z)
			: "r"(at)
			: "memory");
#endif
		a ^= w ^ x;
		b ^= y ^ z;
		at += 4;
	}
	return a ^ b;
}

/* A check sum of eight bytes, with shifts and exclusive ors of four bits, or by the instruction. */
uint64_t crc_insn(void)
{
	const uint64_t *v = numbers();
	uint32_t c = ~0u;

	for (int i = 0; i < N; i++) {
#if WAY
		__asm__(".arch armv8-a+crc\n\tcrc32x %w0, %w0, %1" : "+r"(c) : "r"(v[i]));
#else
		uint64_t x = v[i] ^ c;

		for (int k = 0; k < 64; k++)
			x = x >> 1 ^ (0xedb88320u & -(x & 1));
		c = (uint32_t)x;
#endif
	}
	return c;
}
#endif

int main(int argc, char **argv)
{
	const long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
	uint64_t sum = 0;

	for (long i = 0; i < rounds; i++)
		sum += KERNEL();
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
