/* SPDX-License-Identifier: MIT
 *
 * How fast a superoptimizer can go: mutations of a block per second on one thread.
 *
 *   embed [--arch NAME] [--mutations N] [--blocks CSV] [--limit N] [--json FILE] [--figures]
 *
 * A mutation replaces one instruction of a block of ten by another one, and asks for a prediction.
 * Four ways do the same mutations: with a fresh load of the code; with tact_block_replace; the same
 * with stop_above at the best prediction so far; and as a search, which takes a mutation back
 * unless the block became at least as good.
 *
 * Then the blocks of a CSV file (first column: hex) are mutated, and each result is compared with
 * that of a fresh load.  Exits with 1 if any differs.  --figures prints nothing but lines of a name
 * and a value.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tact/tact.h>

#include "base/base.h"

enum {
	MAX_CODE = 4096,
	N_INSNS = 10,
	ROUNDS = 20, /* in which the ways take turns; the best one counts, against noise */
	MUTATIONS_PER_BLOCK = 16
};

struct insn {
	uint8_t length, bytes[15];
};

/* A block of ten instructions, and what they are replaced by. */
static const struct insn start[N_INSNS] = {
	{4, {0x48, 0x8b, 0x47, 0x08}},	     /* mov rax, [rdi+8] */
	{3, {0x48, 0x01, 0xd8}},	     /* add rax, rbx */
	{4, {0x48, 0x0f, 0xaf, 0xc8}},	     /* imul rcx, rax */
	{5, {0x48, 0x8d, 0x54, 0x81, 0x03}}, /* lea rdx, [rcx+rax*4+3] */
	{2, {0x31, 0xf6}},		     /* xor esi, esi */
	{3, {0x49, 0x29, 0xd0}},	     /* sub r8, rdx */
	{4, {0x4c, 0x89, 0x47, 0x10}},	     /* mov [rdi+16], r8 */
	{4, {0x49, 0xc1, 0xe1, 0x03}},	     /* shl r9, 3 */
	{3, {0x4d, 0x21, 0xc1}},	     /* and r9, r8 */
	{3, {0x4d, 0x39, 0xd1}},	     /* cmp r9, r10 */
};

static const struct insn others[] = {
	{3, {0x48, 0x01, 0xd8}},	     /* add rax, rbx */
	{3, {0x48, 0x29, 0xd1}},	     /* sub rcx, rdx */
	{3, {0x48, 0x31, 0xf2}},	     /* xor rdx, rsi */
	{3, {0x4c, 0x21, 0xc0}},	     /* and rax, r8 */
	{3, {0x4d, 0x09, 0xc8}},	     /* or r8, r9 */
	{3, {0x48, 0x89, 0xc1}},	     /* mov rcx, rax */
	{3, {0x4d, 0x89, 0xd1}},	     /* mov r9, r10 */
	{2, {0x31, 0xc0}},		     /* xor eax, eax */
	{5, {0xb9, 0x07, 0x00, 0x00, 0x00}}, /* mov ecx, 7 */
	{4, {0x48, 0x83, 0xc0, 0x05}},	     /* add rax, 5 */
	{4, {0x48, 0xc1, 0xe2, 0x02}},	     /* shl rdx, 2 */
	{4, {0x49, 0xc1, 0xe8, 0x07}},	     /* shr r8, 7 */
	{4, {0x48, 0x0f, 0xaf, 0xc1}},	     /* imul rax, rcx */
	{4, {0x4c, 0x0f, 0xaf, 0xc2}},	     /* imul r8, rdx */
	{4, {0x48, 0x8d, 0x0c, 0x10}},	     /* lea rcx, [rax+rdx] */
	{5, {0x4c, 0x8d, 0x44, 0x88, 0x04}}, /* lea r8, [rax+rcx*4+4] */
	{4, {0x48, 0x8b, 0x57, 0x10}},	     /* mov rdx, [rdi+16] */
	{4, {0x48, 0x03, 0x4f, 0x18}},	     /* add rcx, [rdi+24] */
	{4, {0x48, 0x89, 0x47, 0x20}},	     /* mov [rdi+32], rax */
	{4, {0x48, 0x0f, 0x44, 0xc1}},	     /* cmove rax, rcx */
	{4, {0x4d, 0x0f, 0x42, 0xc8}},	     /* cmovb r9, r8 */
	{5, {0xf3, 0x48, 0x0f, 0xb8, 0xc1}}, /* popcnt rax, rcx */
	{3, {0x48, 0xf7, 0xd8}},	     /* neg rax */
	{3, {0x49, 0xff, 0xc0}},	     /* inc r8 */
	{3, {0x48, 0x85, 0xc0}},	     /* test rax, rax */
	{4, {0x48, 0x0f, 0xb6, 0xc9}},	     /* movzx rcx, cl */
	{4, {0x66, 0x0f, 0xfe, 0xc1}},	     /* paddd xmm0, xmm1 */
	{5, {0x66, 0x0f, 0x38, 0x40, 0xc2}}, /* pmulld xmm0, xmm2 */
	{4, {0xf3, 0x0f, 0x58, 0xc1}},	     /* addss xmm0, xmm1 */
	{4, {0xc5, 0xf4, 0x59, 0xc2}},	     /* vmulps ymm0, ymm1, ymm2 */
	{5, {0xc4, 0xe2, 0x75, 0xb8, 0xc2}}, /* vfmadd231ps ymm0, ymm1, ymm2 */
};

enum { N_OTHERS = ARRAY_SIZE(others) };

/* xorshift64* (Vigna 2016) */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1du >> 32;
}

/* Of this thread, so that others on the machine count for less. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what)
{
	fprintf(stderr, "embed: %s\n", what);
	exit(2);
}

static void must(int status, const char *what)
{
	if (status < 0) {
		fprintf(stderr, "embed: %s: %s\n", what, tact_strerror(status));
		exit(2);
	}
}

/* ---- one block of ten instructions ---- */

enum way { FRESH, REPLACE, STOP, SEARCH, N_WAYS };

static const struct {
	const char *title, *key;
} ways[N_WAYS] = {
	[FRESH] = {"fresh load, predict", "fresh"},
	[REPLACE] = {"replace, predict", "replace"},
	[STOP] = {"replace, predict with stop_above", "replace_stop"},
	[SEARCH] = {"the same, taken back unless as good", "search"},
};

struct walk {
	enum way way;
	uint64_t random;
	struct insn insns[N_INSNS];
	struct tact_block *block;
	struct tact_predict_options opt;
	struct tact_prediction p;
	double best, sum, seconds; /* of the fastest round */
};

static size_t write_code(const struct insn *insns, uint8_t *code)
{
	size_t size = 0;

	for (size_t i = 0; i < N_INSNS; i++) {
		memcpy(code + size, insns[i].bytes, insns[i].length);
		size += insns[i].length;
	}
	return size;
}

static void begin(struct walk *w, enum way way, const struct tact_arch *arch)
{
	uint8_t code[N_INSNS * 15];

	memset(w, 0, sizeof(*w));
	w->way = way;
	w->random = 88172645463325252u;
	w->opt.size = sizeof(w->opt);
	w->p.size = sizeof(w->p);
	memcpy(w->insns, start, sizeof(start));
	must(tact_block_create(&w->block, arch, NULL, NULL), "create");
	must(tact_block_load(w->block, code, write_code(w->insns, code), NULL), "load");
	must(tact_predict(w->block, NULL, &w->p), "predict");
	w->best = w->p.cycles_per_iteration;
}

static void mutate(struct walk *w)
{
	const size_t i = (size_t)(next_random(&w->random) % N_INSNS);
	const struct insn *insn = &others[next_random(&w->random) % N_OTHERS];
	uint8_t code[N_INSNS * 15];

	if (w->way == FRESH) {
		w->insns[i] = *insn;
		tact_block_load(w->block, code, write_code(w->insns, code), NULL);
	} else {
		tact_block_replace(w->block, i, insn->bytes, insn->length, NULL);
	}
	if (w->way >= STOP)
		w->opt.stop_above = w->best;
	tact_predict(w->block, &w->opt, &w->p);
	if (w->p.cycles_per_iteration <= w->best) {
		w->best = w->p.cycles_per_iteration;
		if (w->way == SEARCH)
			w->insns[i] = *insn;
	} else if (w->way == SEARCH) {
		tact_block_replace(w->block, i, w->insns[i].bytes, w->insns[i].length, NULL);
	}
	w->sum += w->p.cycles_per_iteration;
}

/* Mutations per second of each way. */
static void time_ways(const struct tact_arch *arch, size_t n, double *rates)
{
	struct walk *walks = calloc(N_WAYS, sizeof(*walks));

	if (!walks)
		die("out of memory");
	for (int way = 0; way < N_WAYS; way++)
		begin(&walks[way], (enum way)way, arch);
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (int way = 0; way < N_WAYS; way++) {
			struct walk *w = &walks[way];
			double at = now();

			for (size_t i = 0; i < n / ROUNDS; i++)
				mutate(w);
			at = now() - at;
			if (!round || at < w->seconds)
				w->seconds = at;
		}
	}
	if (walks[FRESH].sum != walks[REPLACE].sum || walks[FRESH].best != walks[STOP].best)
		die("the ways do not agree");
	for (int way = 0; way < N_WAYS; way++) {
		rates[way] = (double)(n / ROUNDS) / walks[way].seconds;
		tact_block_destroy(walks[way].block);
	}
	free(walks);
}

/* ---- real blocks ---- */

struct real {
	size_t n, n_mutations, n_refused, n_different;
	double fresh_seconds, replace_seconds;
};

/* A block's mutations: which instruction becomes what, the code of each, what was predicted. */
struct trial {
	size_t size; /* of the block */
	uint8_t block[MAX_CODE];
	size_t at[MUTATIONS_PER_BLOCK];
	const struct insn *insn[MUTATIONS_PER_BLOCK];
	uint8_t code[MUTATIONS_PER_BLOCK * MAX_CODE]; /* one after the other */
	size_t code_size[MUTATIONS_PER_BLOCK];
	struct tact_prediction replaced[MUTATIONS_PER_BLOCK], fresh[MUTATIONS_PER_BLOCK];
};

static void choose(struct trial *t, struct tact_block *block, uint64_t *random)
{
	size_t used = 0;

	memset(t->replaced, 0, sizeof(t->replaced));
	memset(t->fresh, 0, sizeof(t->fresh));
	for (unsigned k = 0; k < MUTATIONS_PER_BLOCK; k++) {
		const uint8_t *code;

		t->at[k] = (size_t)(next_random(random) % tact_block_length(block));
		t->insn[k] = &others[next_random(random) % N_OTHERS];
		t->replaced[k].size = t->fresh[k].size = sizeof(t->fresh[k]);
		must(tact_block_replace(block, t->at[k], t->insn[k]->bytes, t->insn[k]->length,
					NULL),
		     "replace");
		code = tact_block_code(block, &t->code_size[k]);
		memcpy(t->code + used, code, t->code_size[k]);
		used += t->code_size[k];
	}
}

static void replace_each(struct real *r, struct trial *t, struct tact_block *block)
{
	double begin_at;

	must(tact_block_load(block, t->block, t->size, NULL), "load");
	begin_at = now();
	for (unsigned k = 0; k < MUTATIONS_PER_BLOCK; k++)
		if (tact_block_replace(block, t->at[k], t->insn[k]->bytes, t->insn[k]->length,
				       NULL) < 0 ||
		    tact_predict(block, NULL, &t->replaced[k]) < 0)
			r->n_refused++;
	r->replace_seconds += now() - begin_at;
}

static void load_each(struct real *r, struct trial *t, struct tact_block *block)
{
	double begin_at = now();
	size_t used = 0;

	for (unsigned k = 0; k < MUTATIONS_PER_BLOCK; used += t->code_size[k++])
		if (tact_block_load(block, t->code + used, t->code_size[k], NULL) < 0 ||
		    tact_predict(block, NULL, &t->fresh[k]) < 0)
			r->n_refused++;
	r->fresh_seconds += now() - begin_at;
}

/* stop_above says of each mutation whether it is better than the one before. */
static void stop_each(struct real *r, const struct trial *t, struct tact_block *block)
{
	struct tact_predict_options opt = TACT_PREDICT_OPTIONS_INIT;
	struct tact_prediction p = TACT_PREDICTION_INIT;

	must(tact_block_load(block, t->block, t->size, NULL), "load");
	for (unsigned k = 0; k < MUTATIONS_PER_BLOCK; k++) {
		const double cycles = t->fresh[k].cycles_per_iteration;

		opt.stop_above = t->fresh[k ? k - 1 : 0].cycles_per_iteration;
		tact_block_replace(block, t->at[k], t->insn[k]->bytes, t->insn[k]->length, NULL);
		if (tact_predict(block, &opt, &p) < 0)
			r->n_refused++;
		r->n_different += p.is_stopped != (cycles > opt.stop_above) ||
				  (!p.is_stopped && memcmp(&p, &t->fresh[k], sizeof(p)));
	}
}

/* The way that goes first pays for what is new in a block: they take turns. */
static void mutate_real(struct real *r, struct tact_block *block, struct tact_block *fresh,
			struct trial *t, uint64_t *random)
{
	if (tact_block_load(block, t->block, t->size, NULL) < 0)
		return;
	choose(t, block, random);
	if (r->n % 2)
		replace_each(r, t, block);
	load_each(r, t, fresh);
	if (r->n % 2 == 0)
		replace_each(r, t, block);
	for (unsigned k = 0; k < MUTATIONS_PER_BLOCK; k++)
		r->n_different += memcmp(&t->replaced[k], &t->fresh[k], sizeof(t->fresh[k])) != 0;
	stop_each(r, t, block);
	r->n++;
	r->n_mutations += MUTATIONS_PER_BLOCK;
}

static bool mutate_file(struct real *r, const struct tact_arch *arch, const char *path,
			size_t limit)
{
	char line[2 * MAX_CODE + 256];
	struct tact_block *block, *fresh;
	uint64_t random = 0x9e3779b97f4a7c15u;
	struct trial *t = malloc(sizeof(*t));
	FILE *f = fopen(path, "r");

	if (!f || !t) {
		fprintf(stderr, "embed: %s: %s\n", path, strerror(errno));
		exit(2);
	}
	must(tact_block_create(&block, arch, NULL, NULL), "create");
	must(tact_block_create(&fresh, arch, NULL, NULL), "create");
	while (r->n < limit && fgets(line, sizeof(line), f)) {
		size_t digits = strspn(line, "0123456789abcdefABCDEF"), bad;
		long size = digits && digits < MAX_CODE /* which leaves room to grow */
				    ? tact_hex_decode(t->block, line, digits, &bad)
				    : 0;

		t->size = size > 0 ? (size_t)size : 0;
		if (t->size)
			mutate_real(r, block, fresh, t, &random);
	}
	fclose(f);
	free(t);
	tact_block_destroy(block);
	tact_block_destroy(fresh);
	return r->n > 0;
}

/* ---- results ---- */

static void write_json(const char *path, const struct tact_arch *arch, size_t mutations,
		       const double *rates, const struct real *r)
{
	FILE *f = fopen(path, "w");

	if (!f) {
		fprintf(stderr, "embed: %s: %s\n", path, strerror(errno));
		exit(2);
	}
	fprintf(f, "{\"arch\":\"%s\",\"instructions\":%d,\"mutations\":%zu", tact_arch_name(arch),
		N_INSNS, mutations);
	for (int way = 0; way < N_WAYS; way++)
		fprintf(f, ",\"%s\":%.0f", ways[way].key, rates[way]);
	if (r->n)
		fprintf(f,
			",\"real_blocks\":%zu,\"real_mutations\":%zu,\"real_different\":%zu,"
			"\"real_fresh\":%.0f,\"real_replace\":%.0f",
			r->n, r->n_mutations, r->n_different,
			(double)r->n_mutations / r->fresh_seconds,
			(double)r->n_mutations / r->replace_seconds);
	fprintf(f, "}\n");
	if (fclose(f))
		die("cannot write the JSON file");
}

static void print_table(const char *arch, size_t mutations, const double *rates,
			const struct real *r)
{
	printf("%zu mutations of a block of %d instructions on one thread (%s)\n\n", mutations,
	       N_INSNS, arch);
	for (int way = 0; way < N_WAYS; way++)
		printf("%-38s %6.2f M/s  %5.2fx\n", ways[way].title, rates[way] / 1e6,
		       rates[way] / rates[FRESH]);
	if (!r->n) {
		printf("\nno real blocks: give a CSV file with --blocks\n");
		return;
	}
	printf("\n%zu real blocks, %zu mutations: %zu differ from a fresh load, %zu refused\n"
	       "fresh load, predict %.2f M/s; replace, predict %.2f M/s\n",
	       r->n, r->n_mutations, r->n_different, r->n_refused,
	       (double)r->n_mutations / r->fresh_seconds / 1e6,
	       (double)r->n_mutations / r->replace_seconds / 1e6);
}

static void print_figures(const double *rates, const struct real *r)
{
	for (int way = 0; way < N_WAYS; way++)
		printf("%s %.0f\n", ways[way].key, rates[way]);
	if (r->n)
		printf("real_blocks %zu\nreal_different %zu\n", r->n, r->n_different);
}

int main(int argc, char **argv)
{
	const char *name = "SKL", *blocks = NULL, *json = NULL;
	bool is_figures = argc > 1 && !strcmp(argv[argc - 1], "--figures");
	size_t mutations = 1000000, limit = 20000;
	const struct tact_arch *arch;
	struct real real = {0};
	double rates[N_WAYS];

	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--arch"))
			name = argv[i + 1];
		else if (!strcmp(argv[i], "--mutations"))
			mutations = strtoul(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--blocks"))
			blocks = argv[i + 1];
		else if (!strcmp(argv[i], "--limit"))
			limit = strtoul(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--json"))
			json = argv[i + 1];
	}
	arch = tact_arch_find(name);
	if (!arch)
		die("no such microarchitecture");
	time_ways(arch, mutations, rates);
	if (blocks && !mutate_file(&real, arch, blocks, limit))
		die("no blocks");
	if (is_figures)
		print_figures(rates, &real);
	else
		print_table(name, mutations, rates, &real);
	if (json)
		write_json(json, arch, mutations, rates, &real);
	return real.n_different || real.n_refused;
}
