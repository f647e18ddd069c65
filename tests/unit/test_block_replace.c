/* SPDX-License-Identifier: MIT
 *
 * A block with one instruction replaced, inserted or erased is what a fresh load of the changed
 * code gives, to the last bit; and a change that fails leaves it as it was.
 */
#include "testing.h"

#include "support.h"

#include "block/block.h"

enum { MOST_INSNS = 12, MAX_CODE = 64 * TACT_MAX_INSN_BYTES };

static struct tact_block *create(const struct tact_arch *arch, const struct tact_block_options *opt)
{
	struct tact_block *block;

	assert_int_equal(tact_block_create(&block, arch, opt, NULL), 0);
	return block;
}

/* ---- two blocks that are the same to anyone who asks ---- */

static void compare_predictions(struct tact_block *a, struct tact_block *b)
{
	const struct tact_predict_options options[] = {
		{.size = sizeof(options[0])},
		{.size = sizeof(options[0]), .exact_ports = true},
		{.size = sizeof(options[0]), .simple_predecoder = true, .simple_decoder = true},
		{.size = sizeof(options[0]), .stop_above = 2},
		{.size = sizeof(options[0]), .bounds = 1u << TACT_BOUND_STORES},
	};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		struct tact_prediction x = TACT_PREDICTION_INIT, y = TACT_PREDICTION_INIT;

		assert_int_equal(tact_predict(a, &options[i], &x), 0);
		assert_int_equal(tact_predict(b, &options[i], &y), 0);
		assert_memory_equal(&x, &y, sizeof(x));
	}
}

static void compare_insns(struct tact_block *a, struct tact_block *b)
{
	for (size_t i = 0; i < tact_block_length(a); i++) {
		struct tact_insn_cost x = TACT_INSN_COST_INIT, y = TACT_INSN_COST_INIT;
		struct tact_insn p, q;

		assert_int_equal(tact_block_cost(a, i, &x), 0);
		assert_int_equal(tact_block_cost(b, i, &y), 0);
		assert_memory_equal(&x, &y, sizeof(x));
		assert_int_equal(tact_block_insn(a, i, &p), 0);
		assert_int_equal(tact_block_insn(b, i, &q), 0);
		assert_int_equal(p.form, q.form);
		assert_true(p.displacement == q.displacement && p.immediate == q.immediate);
		assert_int_equal(tact_block_offset(a, i), tact_block_offset(b, i));
	}
}

static void compare_graphs(struct tact_block *a, struct tact_block *b)
{
	size_t at_a = 0, at_b = 0;
	int more;

	do {
		struct tact_edge x = {0}, y = {0};

		more = tact_block_edge(a, &at_a, &x);
		assert_int_equal(tact_block_edge(b, &at_b, &y), more);
		assert_true(x.from == y.from && x.to == y.to && x.latency == y.latency &&
			    x.iterations == y.iterations && x.kind == y.kind && x.reg == y.reg);
	} while (more > 0);
	at_a = at_b = 0;
	do {
		struct tact_blocked_load x = {0}, y = {0};

		more = tact_explain_blocked(a, &at_a, &x);
		assert_int_equal(tact_explain_blocked(b, &at_b, &y), more);
		assert_memory_equal(&x, &y, sizeof(x));
	} while (more > 0);
}

static void compare_explanations(struct tact_block *a, struct tact_block *b)
{
	struct tact_front_end_group x[64], y[64];
	struct tact_chain c = TACT_CHAIN_INIT, d = TACT_CHAIN_INIT;
	struct tact_port_contention p = TACT_PORT_CONTENTION_INIT, q = TACT_PORT_CONTENTION_INIT;
	unsigned m, n;
	int k;

	assert_int_equal(tact_explain_chain(a, &c), 0);
	assert_int_equal(tact_explain_chain(b, &d), 0);
	assert_true(c.latency == d.latency && c.iterations == d.iterations);
	assert_int_equal(c.n_links, d.n_links);
	for (size_t i = 0; i < c.n_links; i++)
		assert_true(c.links[i].insn == d.links[i].insn &&
			    c.links[i].latency == d.links[i].latency);
	assert_int_equal(tact_explain_ports(a, &p), 0);
	assert_int_equal(tact_explain_ports(b, &q), 0);
	assert_true(p.ports == q.ports && p.uops == q.uops && p.n_insns == q.n_insns);
	k = tact_explain_predecoder(a, x, ARRAY_SIZE(x), &m);
	assert_int_equal(tact_explain_predecoder(b, y, ARRAY_SIZE(y), &n), k);
	assert_int_equal(m, n);
	assert_memory_equal(x, y, (size_t)(k < 64 ? k : 64) * sizeof(x[0]));
	k = tact_explain_decoder(a, x, ARRAY_SIZE(x), &m);
	assert_int_equal(tact_explain_decoder(b, y, ARRAY_SIZE(y), &n), k);
	assert_memory_equal(x, y, (size_t)(k < 64 ? k : 64) * sizeof(x[0]));
}

static void compare(struct tact_block *a, struct tact_block *b)
{
	size_t size, other;
	const uint8_t *code = tact_block_code(a, &size), *others = tact_block_code(b, &other);

	assert_int_equal(size, other);
	assert_memory_equal(code, others, size);
	assert_int_equal(tact_block_length(a), tact_block_length(b));
	assert_int_equal(tact_block_mode(a), tact_block_mode(b));
	assert_true(tact_block_coverage(a) == tact_block_coverage(b));
	compare_predictions(a, b);
	compare_insns(a, b);
	compare_graphs(a, b);
	compare_explanations(a, b);
}

static void compare_with_fresh(struct tact_block *block, struct tact_block *fresh)
{
	size_t size;
	const uint8_t *code = tact_block_code(block, &size);

	assert_int_equal(tact_block_load(fresh, code, size, NULL), 0);
	compare(block, fresh);
}

/* ---- random changes ---- */

/* Often a branch to the start, a nop, a push or a store: what neighbours or later bounds look at.
 */
static size_t pick_insn(struct rng *rng, uint8_t *code)
{
	static const struct {
		uint8_t length, bytes[8];
	} often[] = {
		{2, {0x75, 0xf0}},		     /* jne */
		{3, {0x48, 0x39, 0xf7}},	     /* cmp rdi, rsi */
		{1, {0x90}},			     /* nop */
		{1, {0x50}},			     /* push rax */
		{1, {0x5b}},			     /* pop rbx */
		{4, {0x48, 0x89, 0x47, 0x08}},	     /* mov [rdi+8], rax */
		{4, {0x48, 0x8b, 0x47, 0x08}},	     /* mov rax, [rdi+8] */
		{3, {0x8b, 0x4f, 0x0c}},	     /* mov ecx, [rdi+12] */
		{4, {0x48, 0x83, 0xc7, 0x08}},	     /* add rdi, 8 */
		{5, {0x66, 0x81, 0xc1, 0x34, 0x12}}, /* add cx, 0x1234 */
		{3, {0x48, 0x89, 0xc8}},	     /* mov rax, rcx */
		{2, {0x31, 0xc0}},		     /* xor eax, eax */
		{3, {0x48, 0x01, 0xe0}},	     /* add rax, rsp */
	};
	struct tact_insn insn;

	if (rng_below(rng, 2)) {
		unsigned k = rng_below(rng, ARRAY_SIZE(often));

		memcpy(code, often[k].bytes, often[k].length);
		return often[k].length;
	}
	memset(code, 0, 16);
	return random_insn(rng, code, &insn);
}

static void change(struct tact_block *block, struct rng *rng)
{
	size_t n = tact_block_length(block), i = rng_below(rng, (unsigned)n);
	uint8_t code[16];
	size_t size = pick_insn(rng, code);
	unsigned what = rng_below(rng, 6);

	if (what == 0 && n < 2 * MOST_INSNS)
		assert_int_equal(
			tact_block_insert(block, rng_below(rng, (unsigned)n + 1), code, size, NULL),
			0);
	else if (what == 1 && n > 1)
		assert_int_equal(tact_block_erase(block, i, NULL), 0);
	else
		assert_int_equal(tact_block_replace(block, i, code, size, NULL), 0);
}

static void walk(const struct tact_arch *arch, const struct tact_block_options *opt, uint64_t seed)
{
	struct tact_block *block = create(arch, opt), *fresh = create(arch, opt);
	struct rng rng = {seed};

	for (unsigned b = 0; b < rounds(6); b++) {
		uint8_t code[MAX_CODE];
		size_t size = random_block(&rng, code, MOST_INSNS);

		assert_int_equal(tact_block_load(block, code, size, NULL), 0);
		for (unsigned k = 0; k < 12; k++) {
			change(block, &rng);
			/* Some changes follow others before anyone looks. */
			if (k % 3 != 1)
				compare_with_fresh(block, fresh);
		}
	}
	tact_block_destroy(block);
	tact_block_destroy(fresh);
}

TEST(changed_blocks_are_those_of_a_fresh_load)
{
	uint64_t seed = 1;

	for (const struct tact_arch *arch = NULL; (arch = tact_arch_next(arch));)
		for (int mode = TACT_MODE_AUTO; mode <= TACT_MODE_UNROLL; mode++)
			for (int init = TACT_INIT_STACK; init <= TACT_INIT_DIFF; init++) {
				struct tact_block_options opt = TACT_BLOCK_OPTIONS_INIT;

				opt.mode = (enum tact_mode)mode;
				opt.init = (enum tact_init)init;
				opt.alignment = (unsigned)(seed * 7 % 64);
				opt.paper = seed % 4 == 3;
				walk(arch, &opt, ++seed);
			}
}

/* The cases of the tests: each instruction of each block, in turn, by something else. */
TEST(every_instruction_in_turn)
{
	static const char *const blocks[] = {
		"4801d8",
		"488b4708480faf0748894708",
		"5058 4883c408 50",
		"48ffc975fb",
		"4889d84801c848ffc94839f775f2",
		"660f58c1660f59c2f30f1107f30f5807",
		"c5fc58c1c4e275b8c262f1744858c2",
		"48f7f14889c24801d8",
	};

	for (size_t b = 0; b < ARRAY_SIZE(blocks); b++) {
		const struct tact_arch *arch = tact_arch_find(b % 2 ? "SKX" : "ZEN4");
		struct tact_block *block = create(arch, NULL), *fresh = create(arch, NULL);
		uint8_t code[64], insn[16];
		size_t size = bytes_of(code, sizeof(code), blocks[b]);
		struct rng rng = {b + 99};

		assert_int_equal(tact_block_load(block, code, size, NULL), 0);
		for (unsigned k = 0; k < 60; k++) {
			size_t i = k % tact_block_length(block), n = pick_insn(&rng, insn);

			assert_int_equal(tact_block_replace(block, i, insn, n, NULL), 0);
			compare_with_fresh(block, fresh);
		}
		tact_block_destroy(block);
		tact_block_destroy(fresh);
	}
}

/* ---- failures ---- */

TEST(a_change_that_fails_changes_nothing)
{
	static const uint8_t add[] = {0x48, 0x01, 0xd8}, bad[] = {0x06}, cut[] = {0x48, 0x01},
			     two[] = {0x90, 0x90}, many[20] = {0x66, 0x66, 0x66};
	struct tact_block *block = create(tact_arch_find("SKL"), NULL),
			  *fresh = create(tact_arch_find("SKL"), NULL);
	struct tact_diag diag = {0};
	uint8_t code[16];
	size_t size = bytes_of(code, sizeof(code), "4801d8480fafc84801cb");

	assert_int_equal(tact_block_load(block, code, size, NULL), 0);
	assert_int_equal(tact_block_load(fresh, code, size, NULL), 0);
	assert_int_equal(tact_block_replace(block, 1, bad, 1, &diag), -TACT_E_DECODE);
	assert_int_equal(diag.offset, 3);
	assert_true(diag.text[0]);
	assert_int_equal(tact_block_replace(block, 1, cut, 2, NULL), -TACT_E_DECODE);
	assert_int_equal(tact_block_replace(block, 1, two, 2, NULL), -TACT_E_DECODE);
	assert_int_equal(tact_block_replace(block, 1, many, 20, NULL), -TACT_E_DECODE);
	assert_int_equal(tact_block_insert(block, 0, bad, 1, NULL), -TACT_E_DECODE);
	assert_int_equal(tact_block_replace(block, 3, add, 3, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_block_insert(block, 4, add, 3, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_block_erase(block, 3, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_block_replace(block, 0, add, 0, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_block_replace(block, 0, NULL, 3, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_block_replace(NULL, 0, add, 3, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_block_insert(NULL, 0, add, 3, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_block_erase(NULL, 0, NULL), -TACT_E_INVAL);
	compare(block, fresh);
	tact_block_destroy(block);
	tact_block_destroy(fresh);
}

TEST(limits)
{
	static const uint8_t nop = 0x90, add[] = {0x48, 0x01, 0xd8};
	struct tact_block *block = create(tact_arch_find("SKL"), NULL);
	uint8_t *code = malloc(TACT_BLOCK_MAX_BYTES);

	assert_non_null(code);
	memset(code, 0x90, TACT_BLOCK_MAX_BYTES);
	assert_int_equal(tact_block_insert(block, 0, &nop, 1, NULL), -TACT_E_INVAL); /* empty */
	assert_int_equal(tact_block_load(block, &nop, 1, NULL), 0);
	assert_int_equal(tact_block_erase(block, 0, NULL), -TACT_E_INVAL); /* the last one */
	assert_int_equal(tact_block_length(block), 1);
	assert_int_equal(tact_block_load(block, code, TACT_BLOCK_MAX_BYTES, NULL), 0);
	assert_int_equal(tact_block_insert(block, 5, &nop, 1, NULL), -TACT_E_LIMIT);
	assert_int_equal(tact_block_replace(block, 5, add, 3, NULL), -TACT_E_LIMIT);
	assert_int_equal(tact_block_length(block), TACT_BLOCK_MAX_BYTES);
	assert_int_equal(tact_block_erase(block, 5, NULL), 0);
	assert_int_equal(tact_block_length(block), TACT_BLOCK_MAX_BYTES - 1);
	tact_block_destroy(block);
	free(code);
}

/* Encodings that are never remembered fill the cache of instructions, which then starts anew. */
TEST(a_full_cache)
{
	static const uint8_t add[] = {0x48, 0x01, 0xd8};
	static const uint8_t bad[] = {0x06};
	uint8_t rare[15] = {0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
			    0x66, 0x66, 0x66, 0x66, 0x66, 0x01, 0xc8};
	struct tact_block *block = create(tact_arch_find("SKL"), NULL),
			  *fresh = create(tact_arch_find("SKL"), NULL);
	unsigned full = 0;

	assert_int_equal(tact_block_load(block, add, sizeof(add), NULL), 0);
	assert_int_equal(tact_block_insert(block, 1, add, sizeof(add), NULL), 0);
	for (unsigned i = 0; i < 101000; i++) {
		if (block_cache_is_full(block) && !full++) {
			assert_int_equal(tact_block_replace(block, 1, bad, 1, NULL),
					 -TACT_E_DECODE);
			assert_int_equal(tact_block_length(block), 2);
		}
		assert_int_equal(tact_block_replace(block, 1, rare, sizeof(rare), NULL), 0);
	}
	assert_int_equal(full, 1);
	compare_with_fresh(block, fresh);
	tact_block_destroy(block);
	tact_block_destroy(fresh);
}

/* ---- stop_above ---- */

static void check_stop(struct tact_block *block, const struct tact_prediction *all, double limit)
{
	struct tact_predict_options opt = TACT_PREDICT_OPTIONS_INIT;
	struct tact_prediction p = TACT_PREDICTION_INIT;

	opt.stop_above = limit;
	assert_int_equal(tact_predict(block, &opt, &p), 0);
	assert_int_equal(p.is_stopped, all->cycles_per_iteration > limit);
	if (!p.is_stopped) {
		assert_memory_equal(&p, all, sizeof(p));
		return;
	}
	assert_true(p.cycles_per_iteration > limit);
	assert_true(p.cycles_per_iteration <= all->cycles_per_iteration);
	assert_false(p.applies & ~all->applies);
	assert_true(p.bottlenecks && !(p.bottlenecks & ~p.applies));
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++)
		assert_true(p.bound[b] == (p.applies >> b & 1 ? all->bound[b] : 0));
}

TEST(stopping_early)
{
	static const double factors[] = {0.25, 0.5, 0.9, 1, 1.1, 2};
	struct rng rng = {17};

	for (const struct tact_arch *arch = NULL; (arch = tact_arch_next(arch));) {
		struct tact_block *block = create(arch, NULL);

		for (unsigned i = 0; i < rounds(60); i++) {
			struct tact_prediction all = TACT_PREDICTION_INIT;
			uint8_t code[MAX_CODE];
			size_t size = random_block(&rng, code, MOST_INSNS);

			assert_int_equal(tact_block_load(block, code, size, NULL), 0);
			assert_int_equal(tact_predict(block, NULL, &all), 0);
			assert_false(all.is_stopped);
			for (size_t k = 0; k < ARRAY_SIZE(factors); k++) {
				/* Again, as what comes after a change is made when it is needed. */
				assert_int_equal(tact_block_load(block, code, size, NULL), 0);
				check_stop(block, &all, factors[k] * all.cycles_per_iteration);
			}
		}
		tact_block_destroy(block);
	}
}

TEST(a_limit_that_is_none)
{
	static const uint8_t add[] = {0x48, 0x01, 0xd8};
	struct tact_block *block = create(tact_arch_find("SKL"), NULL);
	struct tact_predict_options opt = TACT_PREDICT_OPTIONS_INIT;
	struct tact_prediction p = TACT_PREDICTION_INIT;

	assert_int_equal(tact_block_load(block, add, sizeof(add), NULL), 0);
	opt.stop_above = -1;
	assert_int_equal(tact_predict(block, &opt, &p), -TACT_E_INVAL);
	opt.stop_above = 0.0 / 0.0;
	assert_int_equal(tact_predict(block, &opt, &p), -TACT_E_INVAL);
	opt.stop_above = 1e300;
	assert_int_equal(tact_predict(block, &opt, &p), 0);
	assert_true(p.cycles_per_iteration == 1 && !p.is_stopped);
	tact_block_destroy(block);
}

/* A search copies instructions of the block itself. */
TEST(bytes_of_the_block_itself)
{
	static const uint8_t code[] = {0x48, 0x01, 0xd8,       /* add rax, rbx */
				       0x48, 0x0f, 0xaf, 0xc8, /* imul rcx, rax */
				       0x48, 0xff, 0xca};      /* dec rdx */
	static const uint8_t twice[] = {0x48, 0x0f, 0xaf, 0xc8, 0x48, 0x01, 0xd8,
					0x48, 0x0f, 0xaf, 0xc8, 0x48, 0xff, 0xca};
	struct tact_block *block;
	const uint8_t *own;
	size_t size;

	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), NULL, NULL), 0);
	assert_int_equal(tact_block_load(block, code, sizeof(code), NULL), 0);
	assert_int_equal(tact_block_insert(block, 0, tact_block_code(block, NULL) + 3, 4, NULL), 0);
	own = tact_block_code(block, &size);
	assert_int_equal(size, sizeof(twice));
	assert_memory_equal(own, twice, sizeof(twice));
	/* The buffer moves when it grows. */
	while (tact_block_length(block) < 1000)
		assert_int_equal(tact_block_insert(block, 0, tact_block_code(block, NULL), 4, NULL),
				 0);
	own = tact_block_code(block, &size);
	for (size_t i = 0; i < size - 10; i += 4)
		assert_memory_equal(own + i, twice, 4);
	assert_int_equal(tact_block_load(block, own + size - sizeof(code), sizeof(code), NULL), 0);
	assert_memory_equal(tact_block_code(block, NULL), code, sizeof(code));
	assert_int_equal(tact_block_replace(block, 0, tact_block_code(block, NULL) + 3, 4, NULL),
			 0);
	own = tact_block_code(block, &size);
	assert_memory_equal(own, code + 3, 4);
	assert_memory_equal(own + 4, code + 3, 7);
	tact_block_destroy(block);
}

RUN_TESTS(NULL, NULL)
