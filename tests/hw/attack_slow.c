/* SPDX-License-Identifier: MIT
 *
 * Blocks that take long, and pairs of blocks of which the first prepares what the second needs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attack.h"

enum { MOST_BYTES = 700 };

static const struct {
	const char *hex, *what;
} slow[] = {
	{"f348a5", "rep movsq with a huge count"},
	{"be00563412bf00563412b900010000f348a5", "rep movsq"},
	{"be00563412bf00563412b900010000f3a6", "repe cmpsb"},
	{"bf00563412b900080000f2ae", "repne scasb"},
	{"fdbe00563412bf01563412b900010000f3a4fc", "rep movsb, downwards and overlapping"},
	{"31d248f7f0", "div"},
	{"48c7c2010000004883c8ff48f7f2", "div by 1"},
	{"48994883c8ff4899b9ffffff7f48f7f9", "idiv"},
	{"f0480158ff", "a locked add across lines"},
	{"f0480118", "a locked add"},
	{"f048015 83e", "a locked add, at another offset"},
	{"4887583f", "xchg across lines"},
	{"0fae38488b00", "clflush; load"},
	{"0faef00faef0", "mfence"},
	{"0fae08", "fxrstor"},
	{"0fae00", "fxsave"},
	{"dd30dd20", "fnsave; frstor"},
	{"d9fe", "fsin"},
	{"d9f2d9e8", "fptan"},
	{"d9f8", "fprem"},
	{"d9f5", "fprem1"},
	{"d9fa", "fsqrt"},
	{"df20df30", "fbld; fbstp"},
	{"f390", "pause"},
	{"0f01e8", "serialize"},
	{"0fc7f8", "rdseed"},
	{"660fae38", "clflushopt"},
	{"b801000000660f6ec0f30f59c0", "denormal numbers"},
	{"0fa2", "cpuid"},
	{"c4e2790040 10", "vgatherdps without its mask"},
	{"0f01d0", "xgetbv"},
	{"660fae300faef8", "clwb; sfence"},
	{"c8ff001f", "enter with 31 levels"},
	{"488b00488b00488b00488b00", "pointers"},
	{"480fb110480fc110", "cmpxchg; xadd"},
	{"9c9d", "pushfq; popfq"},
	{"8c6c24f8", "mov [rsp - 8], gs"},
	{"0f18060f180e0f18160f181e", "prefetches"},
	{"660f38db c0660f3adfc000", "aesimc; aeskeygenassist"},
	{"f30fa7c8", "xcrypt of VIA"},
};

/* As often as fits. */
static void put_repeated(struct attack *a, const char *hex, unsigned most)
{
	struct bytes one = {.size = 0};

	code_hex(&one, hex);
	for (unsigned i = 0; i < most && a->code.size + one.size <= MOST_BYTES; i++)
		put_bytes(&a->code, one.data, one.size);
}

void attack_slow(struct attack_sink *sink)
{
	static const unsigned counts[] = {1, 8, 700};
	static struct attack a;

	a.code.size = 0;
	for (unsigned k = 0; k < ARRAY_SIZE(slow); k++)
		for (unsigned i = 0; i < ARRAY_SIZE(counts); i++) {
			put_repeated(&a, slow[k].hex, counts[i]);
			attack_put(sink, &a, "%s, %u times at most", slow[k].what, counts[i]);
		}
}

/* ---- pairs ---- */

/* What the first block leaves: registers, modes, memory, predictors, caches. */
static const struct {
	const char *hex, *what;
} first[] = {
	{"48b800000000003f000048c70000000000", "a zero in the old host area"},
	{"48b808000000003f0000830010", "a time stamp that is ahead"},
	{"48b800000000002000 00c600c3", "a ret in the code area"},
	{"b800563412c70055555555", "a mark in its own page"},
	{"bf00503412b900100000f3aa", "a page full of marks"},
	{"4989c7be00563412", "values in all registers"},
	{"68801d00000fae1424", "unmasked exceptions"},
	{"686c030000d92c24", "unmasked x87 exceptions"},
	{"6802014400 9d", "trap and alignment flags"},
	{"fd", "the direction flag"},
	{"c5fd76c0", "vectors full of ones"},
	{"d9c0d9c0d9c0d9c0", "values on the x87 stack"},
	{"0f6fc1", "a used x87 stack"},
	{"48bc00700500003f0000", "rsp in the old signal stack"},
	{"48bc0800000000000080", "a non-canonical rsp"},
	{"83c8ff31c931d20f01ef", "protection keys"},
	{"b800000022488900b800100022488900b800200022488900", "pages that it has mapped"},
	{"488b042500000000", "a fault"},
	{"31c0f7f0", "a division by zero"},
	{"0f04", "nothing: it is no code"},
};

/* What the second one hopes to find, or does with it. */
static const struct {
	const char *hex, *what;
} second[] = {
	{"8b042500563412", "loads from its own page"},
	{"488b0c2500563412488b01", "uses what is there as an address"},
	{"488b0c25f85634120fb7c9488b01", "uses 16 bits of it as an address"},
	{"0f58c10f5ec1", "divides vectors"},
	{"d8c1d8f1", "divides x87 numbers"},
	{"9c599d", "reads flags"},
	{"488b4001", "loads from a misaligned address"},
	{"be00563412bf10563412a4", "moves a byte"},
	{"8b042500000022", "loads from a page of the other"},
	{"48b800000000003f0000488b00", "reads the old host area"},
};

void attack_pairs(struct attack_sink *sink)
{
	static struct attack a;

	a.code.size = 0;
	for (unsigned i = 0; i < ARRAY_SIZE(first); i++)
		for (unsigned k = 0; k < ARRAY_SIZE(second); k++) {
			code_hex(&a.code, first[i].hex);
			code_chain(&a.code);
			a.facts = ATTACK_CHAIN | ATTACK_FIRST;
			attack_put(sink, &a, "leaves %s", first[i].what);
			code_hex(&a.code, second[k].hex);
			code_chain(&a.code);
			a.facts = ATTACK_CHAIN;
			attack_put(sink, &a, "%s, after %s", second[k].what, first[i].what);
		}
}

/* ---- random ones ---- */

/* Addresses that matter in some registers, then random instructions. */
void attack_random(struct attack_sink *sink)
{
	enum { N = 1500, MOST = 8 };
	struct rng rng = {sink->seed * 0x9e3779b97f4a7c15u + 99};
	static struct attack a;
	unsigned n_places = 0;

	a.code.size = 0;
	while (attack_place(n_places))
		n_places++;
	for (unsigned i = 0; i < N; i++) {
		uint8_t code[16 * MOST];
		size_t size;

		for (unsigned r = rng_below(&rng, 4); r; r--)
			code_place(&a.code, rng_below(&rng, 16),
				   attack_place(rng_below(&rng, n_places)));
		size = random_block(&rng, code, MOST);
		put_bytes(&a.code, code, size);
		attack_put(sink, &a, "random block %u", i);
	}
}
