/* SPDX-License-Identifier: MIT
 *
 * Models next to measured rows: sets, groups, scores, bottlenecks, and what is left out.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#include <tact-program/evaluate.h>

#include "support.h"

static const uint8_t add[] = {0x48, 0x01, 0xd8}, nop[] = {0x90}, no_code[] = {0x06};
static const struct tact_row_source both[] = {{"a", 2}, {"b", 3}};

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

static struct tact_row row_of(const uint8_t *code, size_t size, double cycles)
{
	struct tact_row row = {.size = sizeof(row), .code = code, .code_size = size};

	row.has_cycles = true;
	row.cycles = cycles;
	row.weight = 1;
	row.clean = row.init = -1;
	row.status = "ok";
	row.letters = row.arch = row.machine = row.category = row.origin = "";
	return row;
}

static struct tact_evaluation *create(const struct tact_evaluation_options *from)
{
	static const struct tact_evaluation_input inputs[] = {{NULL, "SKL", -1, -1},
							      {NULL, NULL, -1, -1}};
	struct tact_evaluation_options options = *from;
	struct tact_evaluation *e;

	options.size = sizeof(options);
	options.inputs = inputs;
	options.n_inputs = 2;
	options.threads = 2;
	assert_int_equal(tact_evaluation_create(&e, &options), 0);
	return e;
}

static void add_row(struct tact_evaluation *e, size_t input, const struct tact_row *row,
		    int expected)
{
	struct tact_diag diag = {0};

	assert_int_equal(tact_evaluation_add_row(e, input, row, &diag), expected);
}

static const char *choose(void *context)
{
	++*(unsigned *)context;
	return "HSW";
}

/* Every row is taken or counted. */
TEST(what_is_taken)
{
	unsigned asked = 0;
	const struct tact_evaluation_options options = {
		.is_clean = true, .default_arch = choose, .context = &asked};
	struct tact_evaluation *e = create(&options);
	struct tact_row row = row_of(add, sizeof(add), 1);

	add_row(e, 0, &row, 0); /* not known to be clean */
	row.clean = 1;
	add_row(e, 0, &row, 1);
	add_row(e, 1, &row, 1); /* of the CPU that is asked for, */
	add_row(e, 1, &row, 1); /* once */
	row.machine = "a CPU of the moon";
	add_row(e, 1, &row, 0);
	row.arch = "ICX";
	row.mode = TACT_MODE_LOOP;
	add_row(e, 1, &row, 1);
	row.cycles = 0;
	add_row(e, 1, &row, 0);
	row.has_cycles = false;
	add_row(e, 1, &row, 0);
	add_row(e, 2, &row, -TACT_E_INVAL);
	assert_int_equal(asked, 1);
	assert_int_equal(e->n, 4);
	assert_int_equal(e->n_sets, 3);
	assert_int_equal(e->set[1].n, 2);
	assert_string_equal(tact_arch_name(e->set[2].arch), "ICX");
	assert_int_equal(e->set[2].mode, TACT_MODE_LOOP);
	assert_int_equal(e->row[3].code_size, sizeof(add) + 5); /* with its counter */
	assert_int_equal(e->row[0].init, TACT_INIT_STACK);
	assert_int_equal(e->n_unclean, 1);
	assert_int_equal(e->n_unknown_arch, 1);
	assert_string_equal(e->unknown_arch, "a CPU of the moon");
	assert_int_equal(e->n_not_positive, 1);
	assert_int_equal(e->n_unmeasured, 1);
	tact_evaluation_destroy(e);
}

TEST(only_what_is_confirmed)
{
	struct tact_evaluation *e = create(&(struct tact_evaluation_options){.is_confirmed = true});
	struct tact_row row = row_of(add, sizeof(add), 1);

	row.arch = "SKL";
	add_row(e, 0, &row, 0); /* does not say */
	row.rounds = 3;
	row.agree = 1;
	add_row(e, 0, &row, 0);
	row.agree = 2;
	add_row(e, 0, &row, 1);
	row.has_cycles = false;
	add_row(e, 0, &row, 0);
	assert_int_equal(e->n_unconfirmed, 2);
	assert_int_equal(e->n_unmeasured, 1);
	tact_evaluation_destroy(e);
}

TEST(scores_and_groups)
{
	struct tact_evaluation *e = create(&(struct tact_evaluation_options){.is_common = true});
	struct tact_row row = row_of(add, sizeof(add), 2);
	struct tact_diag diag = {0};
	uint32_t *order;

	row.category = "z";
	row.sources = both;
	row.n_sources = 2;
	add_row(e, 0, &row, 1);
	row = row_of(nop, sizeof(nop), 0.25);
	row.category = "y";
	add_row(e, 0, &row, 1);
	row = row_of(no_code, sizeof(no_code), 1);
	add_row(e, 0, &row, 1);
	assert_int_equal(tact_evaluation_add_model(e, "facile"), 1);
	assert_int_equal(tact_evaluation_add_model(e, "facile"), 0);
	assert_int_equal(tact_evaluation_add_model(e, "facile:only=ports"), 1);
	assert_int_equal(tact_evaluation_run(e, &diag), 0);
	assert_string_equal(e->model[1].name, "facile:only=ports");
	assert_true(near(e->model[0].predicted[0], 1) && near(e->model[0].predicted[1], 0.25));
	assert_int_equal(e->model[0].outcomes[2], TACT_OUTCOME_UNDECODABLE);
	/* of the rows that both predict */
	assert_int_equal(e->model[0].scores[TACT_BY_NOTHING][0].n, 2);
	assert_true(near(e->model[0].scores[TACT_BY_NOTHING][0].mape, 0.25));
	assert_int_equal(e->by[TACT_BY_APP].n, 2);
	assert_true(near(e->model[0].scores[TACT_BY_APP][1].mape, 0.5));
	assert_int_equal(tact_scores_failed(&e->model[0].scores[TACT_BY_SET][0]), 0);
	assert_int_equal(tact_evaluation_order(e, TACT_BY_CATEGORY, 0, &order), 2);
	assert_string_equal(e->by[TACT_BY_CATEGORY].group[order[0]].label, "y");
	free(order);
	assert_int_equal(tact_evaluation_order(e, TACT_BY_CATEGORY, 1, &order), 0);
	free(order);
	tact_evaluation_destroy(e);
}

/* Weights count; predictions can be rounded to two decimals. */
TEST(weighted_and_rounded)
{
	const struct tact_evaluation_options options = {.is_weighted = true, .is_rounded = true};
	struct tact_evaluation *e = create(&options);
	struct tact_row row = row_of(add, sizeof(add), 2);
	const struct tact_scores *s;
	struct tact_diag diag = {0};

	row.weight = 3;
	add_row(e, 0, &row, 1);
	row = row_of(add, sizeof(add), 2.001);
	add_row(e, 0, &row, 1);
	row = row_of(nop, sizeof(nop), 0.25);
	add_row(e, 0, &row, 1);
	assert_int_equal(tact_evaluation_add_model(e, "facile"), 1);
	assert_int_equal(tact_evaluation_run(e, &diag), 0);
	s = &e->model[0].scores[TACT_BY_NOTHING][0];
	assert_true(near(s->weight, 5));
	assert_true(near(s->mape, (3 * 0.5 + 1.001 / 2.001) / 5));
	assert_true(s->has_tau && near(s->tau, 1)); /* 2 and 2.001 are the same */
	tact_evaluation_destroy(e);
}

TEST(bottlenecks)
{
	struct tact_evaluation *e = create(&(struct tact_evaluation_options){0});
	double flow[TACT_N_BOTTLENECKS * TACT_N_BOTTLENECKS], sum = 0;
	struct tact_row row = row_of(add, sizeof(add), 1);
	struct tact_block *block;
	struct tact_diag diag = {0};

	add_row(e, 0, &row, 1);
	row = row_of(no_code, sizeof(no_code), 1);
	add_row(e, 0, &row, 1);
	assert_int_equal(tact_evaluation_add_model(e, "facile"), 1);
	assert_int_equal(tact_evaluation_add_bottlenecks(e, "SNB", &diag), 0);
	assert_int_equal(tact_evaluation_add_bottlenecks(e, "RKL", &diag), 0);
	assert_int_equal(tact_evaluation_add_bottlenecks(e, "none", &diag), -TACT_E_INVAL);
	assert_int_equal(tact_evaluation_run(e, &diag), 0);
	for (unsigned a = 0; a < 2; a++) {
		assert_int_equal(e->bottlenecks[a].kind[0], TACT_BOUND_PRECEDENCE);
		assert_int_equal(e->bottlenecks[a].kind[1], TACT_N_BOUNDS);
		assert_true(near(e->bottlenecks[a].share[TACT_BOUND_PRECEDENCE], 0.5));
		assert_true(e->bottlenecks[a].has_gain[TACT_BOUND_PRECEDENCE]);
		assert_true(e->bottlenecks[a].speedup[TACT_BOUND_PRECEDENCE] > 1);
		assert_true(near(e->bottlenecks[a].speedup[TACT_BOUND_DSB], 1));
	}
	tact_evaluation_flow(e, 0, flow);
	for (unsigned i = 0; i < ARRAY_SIZE(flow); i++)
		sum += flow[i];
	assert_true(near(sum, 2));
	assert_true(
		near(flow[TACT_BOUND_PRECEDENCE * TACT_N_BOTTLENECKS + TACT_BOUND_PRECEDENCE], 1));
	assert_string_equal(tact_bottleneck_name(TACT_N_BOUNDS), "no data");
	assert_int_equal(tact_block_create(&block, tact_arch_find("RKL"), NULL, NULL), 0);
	assert_int_equal(tact_evaluation_load(e, 0, block), 0);
	assert_int_equal(tact_block_length(block), 1);
	assert_true(tact_evaluation_load(e, 1, block) < 0);
	assert_int_equal(tact_evaluation_load(e, 2, block), -TACT_E_INVAL);
	tact_block_destroy(block);
	tact_evaluation_destroy(e);
}

TEST(misuse)
{
	struct tact_evaluation *e;
	struct tact_diag diag = {0};
	struct tact_row row = row_of(add, sizeof(add), 1);

	assert_int_equal(tact_evaluation_create(NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_evaluation_create(&e, NULL), 0);
	add_row(e, 0, &row, -TACT_E_INVAL); /* no inputs */
	assert_int_equal(tact_evaluation_run(e, &diag), -TACT_E_INVAL);
	tact_evaluation_destroy(e);
	tact_evaluation_destroy(NULL);
	e = create(&(struct tact_evaluation_options){.params = "/nowhere/at/all"});
	add_row(e, 0, &row, -TACT_E_IO);
	tact_evaluation_destroy(e);
	e = create(&(struct tact_evaluation_options){0});
	add_row(e, 0, &row, 1);
	assert_int_equal(tact_evaluation_add_model(e, "mca:params=/nowhere/at/all"), 1);
	assert_int_equal(tact_evaluation_run(e, &diag), -TACT_E_IO);
	assert_true(diag.text[0]);
	tact_evaluation_destroy(e);
}

RUN_TESTS(NULL, NULL)
