/* SPDX-License-Identifier: MIT
 *
 * Hunts between two models that differ in a known class of blocks: it must be found, shrunk to its
 * smallest block, and be found as this class and no other.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#include <tact-program/hunt.h>

#include "hunt/hunt.h"
#include "support.h"

/* ---- two models ---- */

/* One instruction takes one cycle; the judge adds `extra` to the blocks that it knows better. */
struct fake {
	bool (*is_off)(const struct hunt_code *code, const struct hunt_names *names);
	struct hunt_names names;
	double extra;
	size_t n_asked;
};

static int ask_fake(void *context, const struct tact_hunt_block *blocks, size_t n,
		    struct tact_hunt_value *out, struct tact_diag *diag)
{
	struct fake *f = context;

	(void)diag;
	for (size_t i = 0; i < n; i++) {
		struct hunt_code code;

		out[i] = (struct tact_hunt_value){.answer = TACT_HUNT_NO_NUMBER};
		if (hunt_decode(&code, blocks[i].code, blocks[i].code_size, &f->names) < 0)
			continue;
		out[i] = (struct tact_hunt_value){.cycles = (double)code.n,
						  .answer = TACT_HUNT_NUMBER};
		if (f->is_off && f->is_off(&code, &f->names))
			out[i].cycles += f->extra * (double)code.n;
	}
	f->n_asked += n;
	return 0;
}

static unsigned count(const struct hunt_code *code, const struct hunt_names *names,
		      const char *mnemonic)
{
	unsigned n = 0;

	for (size_t i = 0; i < code->n; i++)
		n += !strcmp(names->name[code->insn[i].value[HUNT_MNEMONIC]], mnemonic);
	return n;
}

static bool has_zeroing_mask(const struct hunt_code *code, const struct hunt_names *names)
{
	(void)names;
	for (size_t i = 0; i < code->n; i++)
		if (code->insn[i].value[HUNT_MASK] == ISA_MASKING_ZEROES)
			return true;
	return false;
}

static bool has_two_shifts_and_a_product(const struct hunt_code *code,
					 const struct hunt_names *names)
{
	return count(code, names, "SHL") >= 2 && count(code, names, "IMUL") >= 1;
}

static bool has_a_chain_of_popcnt(const struct hunt_code *code, const struct hunt_names *names)
{
	for (size_t i = 0; i < code->n; i++)
		if (!strcmp(names->name[code->insn[i].value[HUNT_MNEMONIC]], "POPCNT") &&
		    code->producers[i] >> i & 1)
			return true;
	return false;
}

static bool has_indexed_load(const struct hunt_code *code, const struct hunt_names *names)
{
	(void)names;
	for (size_t i = 0; i < code->n; i++)
		if (code->insn[i].value[HUNT_MEMORY] == HUNT_LOADS &&
		    code->insn[i].value[HUNT_ADDRESS] == HUNT_INDEXED)
			return true;
	return false;
}

/* ---- hunts ---- */

static const char *const real[] = {
	"48c1e203 480fafc3 4801d8 48c1e105 4889c7 4829f0",
	"488b07 4883c708 4801c3 4839f7",
	"f3480fb8c0 4801c2 4883c308",
	"f3480fb8c1 4801c2 4883c308",
	"488b04cf 4801d0 48890437",
	"0fb60437 83c001 880437 4883c601",
	"c5fc58c1 c5f459ca c5fd6f16",
	"4885c0 480f44c2 488d0c02 c1e204",
	"31c0 31d2 4c89e6 4d89ef",
	"f20f58c1 f20f59ca 660fefd2",
};

static void add_real(struct tact_hunt *h)
{
	for (size_t i = 0; i < ARRAY_SIZE(real); i++) {
		uint8_t code[128];
		size_t size = bytes_of(code, sizeof(code), real[i]);

		assert_int_equal(tact_hunt_add(h, code, size, 0, 1 + (double)i, 0), 1);
	}
}

static struct fake model, judge;

static struct tact_hunt_options options_for(bool (*is_off)(const struct hunt_code *,
							   const struct hunt_names *))
{
	const struct tact_arch *arch = tact_arch_find("ICX");
	struct tact_hunt_options o = {.size = sizeof(o), .arch = arch, .mode = TACT_MODE_UNROLL};

	hunt_names_free(&model.names);
	hunt_names_free(&judge.names);
	model = (struct fake){.names = {.arch = arch}};
	judge = (struct fake){.names = {.arch = arch}, .is_off = is_off, .extra = 1};
	o.model = (struct tact_hunt_side){ask_fake, &model};
	o.judge = (struct tact_hunt_side){ask_fake, &judge};
	o.most_blocks = 6000;
	o.is_forms = true;
	o.seed = 7;
	return o;
}

static struct tact_hunt *run(const struct tact_hunt_options *o)
{
	struct tact_hunt *h;

	assert_int_equal(tact_hunt_create(&h, o, NULL), 0);
	add_real(h);
	assert_int_equal(tact_hunt_run(h, NULL), 0);
	return h;
}

TEST(models_that_agree_give_nothing)
{
	struct tact_hunt_options o = options_for(NULL);
	struct tact_hunt_counts counts;
	struct tact_hunt *h;

	o.most_blocks = 1000;
	h = run(&o);
	tact_hunt_get_counts(h, &counts);
	assert_true(counts.n_blocks >= 1000);
	assert_int_equal(counts.n_off, 0);
	assert_int_equal(tact_hunt_count(h), 0);
	assert_null(tact_hunt_get(h, 0));
	tact_hunt_destroy(h);
}

TEST(a_zeroing_mask_is_found_whatever_the_instruction)
{
	const struct tact_hunt_options o = options_for(has_zeroing_mask);
	struct tact_hunt *h = run(&o);

	/* It does not depend on anything else, so there is one class, and it says nothing else. */
	assert_int_equal(tact_hunt_count(h), 1);
	assert_string_equal(tact_hunt_get(h, 0)->words, "any instruction, zero-masked");
	assert_int_equal(h->result[0]->example.n, 1);
	assert_int_equal(h->result[0]->class.n, 1);
	assert_int_equal(h->result[0]->class.pattern[0].fixed, 1 << HUNT_MASK);
	assert_int_equal(h->result[0]->view.n_off, h->result[0]->view.n_tried);
	assert_true(h->result[0]->view.judged > h->result[0]->view.predicted);
	assert_false(h->result[0]->view.is_single);
	assert_int_equal(h->result[0]->view.n_rows, 0);
	tact_hunt_destroy(h);
}

TEST(two_shifts_and_a_product_are_found_in_a_longer_block)
{
	struct tact_hunt_options o = options_for(has_two_shifts_and_a_product);
	const struct tact_hunt_finding *f;
	struct tact_hunt *h;
	struct hunt_code code;

	o.is_forms = false;
	h = run(&o);
	assert_int_equal(tact_hunt_count(h), 1);
	f = tact_hunt_get(h, 0);
	assert_int_equal(hunt_decode(&code, f->code, f->code_size, &judge.names), 0);
	assert_int_equal(code.n, 3); /* the smallest block that has it */
	assert_int_equal(count(&code, &judge.names, "SHL"), 2);
	assert_int_equal(count(&code, &judge.names, "IMUL"), 1);
	assert_non_null(strstr(f->words, "2 x SHL"));
	assert_non_null(strstr(f->words, "IMUL"));
	assert_null(strstr(f->words, "order"));
	assert_null(strstr(f->words, "waits"));
	assert_int_equal(f->n_rows, 1); /* of the data set: the first block, with weight 1 of 55 */
	assert_true(fabs(f->weight - 1.0 / 55) < 1e-9);
	assert_int_equal(f->n_real, 1);
	assert_int_equal(f->n_real_off, 1);
	assert_true(fabs(f->weight_off - 1.0 / 55) < 1e-9);
	tact_hunt_destroy(h);
}

TEST(a_chain_is_found_where_only_a_chain_matters)
{
	const struct tact_hunt_options o = options_for(has_a_chain_of_popcnt);
	struct tact_hunt *h = run(&o);

	assert_true(tact_hunt_count(h) >= 1);
	for (size_t i = 0; i < tact_hunt_count(h); i++) {
		const struct hunt_result *r = h->result[i];

		assert_int_equal(r->class.n, 1);
		assert_true(r->class.pattern[0].fixed & 1 << HUNT_MNEMONIC);
		assert_non_null(strstr(r->view.words, "POPCNT"));
		/* popcnt of a register to itself is always a chain. */
		assert_true(r->class.relations & HUNT_DEPENDENCES
				    ? !!strstr(r->view.words, "waits for its own result")
				    : !!strstr(r->view.words, "all registers the same"));
	}
	tact_hunt_destroy(h);
}

TEST(an_index_is_found_whatever_is_loaded)
{
	const struct tact_hunt_options o = options_for(has_indexed_load);
	struct tact_hunt *h = run(&o);

	assert_int_equal(tact_hunt_count(h), 1);
	assert_string_equal(tact_hunt_get(h, 0)->words, "any load with an index");
	assert_true(tact_hunt_get(h, 0)->n_rows == 2);
	tact_hunt_destroy(h);
}

static void words_of(const struct tact_hunt *h, struct text *out)
{
	for (size_t i = 0; i < tact_hunt_count(h); i++) {
		const struct tact_hunt_finding *f = tact_hunt_get(h, i);

		text_printf(out, "%s %zu/%zu ", f->words, f->n_off, f->n_tried);
		text_hex(out, f->code, f->code_size);
		text_add(out, "\n");
	}
}

TEST(the_seed_decides_everything)
{
	struct text texts[2] = {{0}, {0}};

	for (int i = 0; i < 2; i++) {
		const struct tact_hunt_options o = options_for(has_two_shifts_and_a_product);
		struct tact_hunt *h = run(&o);

		words_of(h, &texts[i]);
		tact_hunt_destroy(h);
	}
	assert_true(texts[0].size > 0);
	assert_string_equal(text_string(&texts[0]), text_string(&texts[1]));
	text_free(&texts[0]);
	text_free(&texts[1]);
}

TEST(it_stops_when_it_is_told_to)
{
	struct tact_hunt_options o = options_for(has_indexed_load);
	struct tact_hunt *h;

	o.most_classes = 1;
	h = run(&o);
	assert_int_equal(tact_hunt_count(h), 1);
	tact_hunt_destroy(h);
	o.most_classes = 0;
	o.most_blocks = 1;
	o.batch = 16;
	h = run(&o);
	assert_true(judge.n_asked < 1000000);
	tact_hunt_destroy(h);
}

/* ---- blocks that are measured elsewhere ---- */

enum { MAX_TODO = 200000 };

struct elsewhere {
	struct tact_hunt_block *todo;
	uint8_t (*code)[HUNT_MAX_CODE];
	size_t n;
};

static void note(void *context, const struct tact_hunt_block *block,
		 const struct tact_hunt_value *value)
{
	struct elsewhere *e = context;

	assert_int_equal(value->answer, TACT_HUNT_LATER);
	assert_true(e->n < MAX_TODO);
	e->todo[e->n] = *block;
	memcpy(e->code[e->n], block->code, block->code_size);
	e->todo[e->n].code = e->code[e->n];
	e->n++;
}

TEST(blocks_may_be_judged_later_and_elsewhere)
{
	struct tact_hunt_options o = options_for(has_indexed_load);
	struct text direct = {0}, apart = {0};
	struct elsewhere e = {.n = 0};
	struct tact_hunt_memory *memory;
	const struct tact_hunt_memory_options mo = {
		.size = sizeof(mo), .news = note, .context = &e};
	struct tact_hunt *h;
	unsigned rounds = 0;
	size_t done = 0;

	o.batch = 64;
	o.most_classes = 1;
	o.is_forms = false;
	h = run(&o);
	words_of(h, &direct);
	tact_hunt_destroy(h);

	e.todo = calloc(MAX_TODO, sizeof(*e.todo));
	e.code = calloc(MAX_TODO, sizeof(*e.code));
	assert_int_equal(tact_hunt_memory_create(&memory, &mo), 0);
	o.judge = (struct tact_hunt_side){tact_hunt_memory_ask, memory};
	for (; rounds < 100; rounds++) {
		h = run(&o);
		if (tact_hunt_count(h))
			break;
		tact_hunt_destroy(h);
		assert_true(e.n > done); /* each round asks for more */
		for (; done < e.n; done++) {
			struct tact_hunt_value value;

			ask_fake(&judge, &e.todo[done], 1, &value, NULL);
			assert_int_equal(tact_hunt_memory_add(memory, &e.todo[done], &value), 0);
		}
	}
	assert_true(rounds > 1 && rounds < 100);
	words_of(h, &apart);
	assert_string_equal(text_string(&direct), text_string(&apart));
	tact_hunt_destroy(h);
	tact_hunt_memory_destroy(memory);
	text_free(&direct);
	text_free(&apart);
	FREE_ALL(e.todo, e.code);
}

TEST(a_memory_asks_what_is_behind_it_once)
{
	const struct tact_arch *arch = tact_arch_find("ICX");
	struct fake behind = {.names = {.arch = arch}};
	const struct tact_hunt_memory_options o = {.size = sizeof(o),
						   .behind = {ask_fake, &behind}};
	const uint8_t code[] = {0x90};
	const struct tact_hunt_block blocks[] = {{code, 1, 0}, {code, 1, 0}, {code, 1, 16}};
	struct tact_hunt_value values[3];
	struct tact_hunt_memory *memory;

	assert_int_equal(tact_hunt_memory_create(&memory, &o), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(tact_hunt_memory_ask(memory, blocks, 3, values, NULL), 0);
		assert_int_equal(behind.n_asked, 3);
		assert_int_equal(values[2].answer, TACT_HUNT_NUMBER);
		assert_true(values[2].cycles == 1);
	}
	assert_int_equal(tact_hunt_memory_add(memory, NULL, values), -TACT_E_INVAL);
	tact_hunt_memory_destroy(memory);
	tact_hunt_memory_destroy(NULL);
	hunt_names_free(&behind.names);
}

/* ---- rows ---- */

TEST(rows_with_a_wrong_instruction_are_one_class)
{
	struct tact_hunt_options o = options_for(NULL);
	struct rng rng = {99};
	struct tact_hunt_counts counts;
	const struct tact_hunt_finding *f;
	struct tact_hunt *h;

	static const char *const parts[] = {"480fafc3", "4801d8",   "4889c7",
					    "488b07",	"c5fc58c1", "4883c308"};

	assert_int_equal(tact_hunt_create(&h, &o, NULL), 0);
	for (unsigned i = 0; i < 400; i++) {
		uint8_t code[64];
		size_t size = 0, n = 1 + rng_below(&rng, 5);
		bool is_wrong = false;

		for (size_t k = 0; k < n; k++) {
			unsigned part = rng_below(&rng, ARRAY_SIZE(parts));

			is_wrong |= !part;
			size += bytes_of(code + size, sizeof(code) - size, parts[part]);
		}
		assert_int_equal(
			tact_hunt_add(h, code, size, 0, 1, is_wrong ? 2.0 * (double)n : (double)n),
			1);
	}
	assert_int_equal(tact_hunt_rows(h, NULL), 0);
	assert_int_equal(tact_hunt_count(h), 1);
	f = tact_hunt_get(h, 0);
	assert_non_null(strstr(f->words, "IMUL"));
	assert_int_equal(f->code_size, 4); /* the product alone */
	assert_int_equal(f->n_off, f->n_tried);
	assert_true(fabs(f->error + 0.5) < 1e-9);
	assert_true(f->has_mape);
	tact_hunt_get_counts(h, &counts);
	assert_int_equal(counts.n_blocks, 400);
	assert_int_equal(counts.n_off, f->n_off);
	assert_true(fabs(counts.mape - f->mape) < 1e-9);
	assert_true(fabs(counts.weight_in_class - counts.weight_off) < 1e-9);
	tact_hunt_destroy(h);
}

/* ---- contracts ---- */

TEST(wrong_arguments_are_refused)
{
	struct tact_hunt_options o = options_for(NULL);
	const uint8_t nop[] = {0x90}, bad[] = {0x06}, jump[] = {0x75, 0xfe};
	struct tact_hunt *h;

	assert_int_equal(tact_hunt_create(NULL, &o, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_hunt_create(&h, NULL, NULL), -TACT_E_INVAL);
	o.mode = TACT_MODE_AUTO;
	assert_int_equal(tact_hunt_create(&h, &o, NULL), -TACT_E_INVAL);
	assert_null(h);
	o = options_for(NULL);
	o.share = 2;
	assert_int_equal(tact_hunt_create(&h, &o, NULL), -TACT_E_INVAL);
	o = options_for(NULL);
	o.is_forms = false;
	assert_int_equal(tact_hunt_create(&h, &o, NULL), 0);
	assert_int_equal(tact_hunt_run(h, NULL), -TACT_E_NO_DATA);
	assert_int_equal(tact_hunt_rows(h, NULL), -TACT_E_NO_DATA);
	assert_int_equal(tact_hunt_add(h, nop, 1, 64, 1, 0), -TACT_E_INVAL);
	assert_int_equal(tact_hunt_add(h, nop, 1, 0, 0, 0), -TACT_E_INVAL);
	assert_int_equal(tact_hunt_add(h, nop, 1, 0, 1, NAN), -TACT_E_INVAL);
	assert_int_equal(tact_hunt_add(h, bad, 1, 0, 1, 0), 0);
	assert_int_equal(tact_hunt_add(h, jump, 2, 0, 1, 0), 0);
	assert_int_equal(tact_hunt_add(NULL, nop, 1, 0, 1, 0), -TACT_E_INVAL);
	assert_int_equal(tact_hunt_run(NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_hunt_count(NULL), 0);
	tact_hunt_destroy(h);
	tact_hunt_destroy(NULL);
}

TEST(a_model_is_a_side)
{
	const struct tact_arch *arch = tact_arch_find("SKL");
	const uint8_t add[] = {0x48, 0x01, 0xd8}, loop[] = {0x48, 0xff, 0xc8, 0x75, 0xfb};
	const struct tact_hunt_block blocks[] = {{add, sizeof(add), 0}, {loop, sizeof(loop), 0}};
	struct tact_hunt_value values[2];
	struct tact_hunt_model *m;

	assert_int_equal(tact_hunt_model_create(&m, "no such model", arch, TACT_MODE_LOOP,
						TACT_INIT_STACK, 1, NULL),
			 -TACT_E_INVAL);
	assert_int_equal(tact_hunt_model_create(&m, "facile", arch, TACT_MODE_LOOP, TACT_INIT_STACK,
						1, NULL),
			 0);
	assert_int_equal(tact_hunt_model_ask(m, blocks, 2, values, NULL), 0);
	assert_int_equal(values[0].answer, TACT_HUNT_NUMBER);
	assert_true(values[0].cycles == 1);
	assert_int_equal(values[1].answer, TACT_HUNT_NUMBER);
	assert_true(values[1].cycles == 1); /* its own branch, and no counter */
	tact_hunt_model_destroy(m);
}

/* ---- measurements ---- */

static bool is_time_up;

static bool is_over(void *context)
{
	(void)context;
	return is_time_up;
}

/* A nop takes a cycle, one byte of another kind differs from visit to visit, and the rest fails. */
static int visit(void *context, int cpu, const struct tact_campaign_block *block,
		 struct tact_measurement *out)
{
	static double number = 1;

	(void)context;
	*out = (struct tact_measurement){.size = sizeof(*out),
					 .mode = TACT_MODE_UNROLL,
					 .alignment = block->alignment,
					 .cpu = cpu,
					 .cycles_per_iteration = 1,
					 .low = 100,
					 .high = 10000};
	if (block->code[0] == 0x90)
		return 0;
	if (block->code_size == 1)
		out->cycles_per_iteration = number *= 1.5;
	else
		out->status = TACT_MEASURE_REFUSED;
	return 0;
}

TEST(only_confirmed_measurements_count)
{
	const uint8_t nop[] = {0x90}, cdq[] = {0x99}, call[] = {0x0f, 0x05};
	const struct tact_hunt_block blocks[] = {{nop, 1, 0}, {cdq, 1, 0}, {call, 2, 0}};
	const int cpus[] = {-1};
	const struct tact_hunt_measure_options o = {
		.size = sizeof(o),
		.measure = {.size = sizeof(o.measure), .mode = TACT_MODE_UNROLL},
		.cpus = cpus,
		.n_cpus = 1,
		.n_workers = 1,
		.rounds = 3,
		.is_over = is_over,
		.visit = visit};
	struct tact_hunt_value values[3];
	struct tact_hunt_measure *m;

	assert_int_equal(tact_hunt_measure_create(&m, &o, NULL), 0);
	assert_int_equal(tact_hunt_measure_ask(m, blocks, 3, values, NULL), 0);
	assert_int_equal(values[0].answer, TACT_HUNT_NUMBER);
	assert_true(fabs(values[0].cycles - 1) < 1e-9);
	assert_int_equal(values[1].answer, TACT_HUNT_NO_NUMBER);
	assert_int_equal(values[2].answer, TACT_HUNT_NO_NUMBER);
	assert_int_equal(tact_hunt_measure_ask(m, blocks, 0, values, NULL), 0);
	tact_hunt_measure_destroy(m);
	assert_int_equal(tact_hunt_measure_create(&m, NULL, NULL), -TACT_E_INVAL);
}

static int tear_down(void **state)
{
	(void)state;
	hunt_names_free(&model.names);
	hunt_names_free(&judge.names);
	return 0;
}

RUN_TESTS(NULL, tear_down)
