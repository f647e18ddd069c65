/* SPDX-License-Identifier: MIT
 *
 * Memory: predictions do not allocate, and every allocation may fail.  Linked with --wrap for
 * malloc, calloc and realloc.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include <tact-program/campaign.h>

#include "failing.h"
#include "support.h"

enum { BLOCKS = 500, BYTES = 12 * TACT_MAX_INSN_BYTES };

static void explain(struct tact_block *block)
{
	struct tact_front_end_group groups[16];
	struct tact_port_contention ports = TACT_PORT_CONTENTION_INIT;
	struct tact_chain chain = TACT_CHAIN_INIT;
	unsigned iterations;

	assert_int_equal(tact_explain_ports(block, &ports), 0);
	assert_int_equal(tact_explain_chain(block, &chain), 0);
	assert_true(tact_explain_predecoder(block, groups, 16, &iterations) > 0);
	assert_true(tact_explain_decoder(block, groups, 16, &iterations) >= 0);
}

/* Predicting allocates for the first time at most; loading what was seen before does not either. */
TEST(no_allocation_after_set_up)
{
	static uint8_t code[BLOCKS][BYTES];
	static size_t size[BLOCKS];
	struct tact_prediction p = TACT_PREDICTION_INIT;
	struct tact_block *block;
	struct rng rng = {5};

	for (unsigned i = 0; i < BLOCKS; i++)
		size[i] = random_block(&rng, code[i], 12);
	for (int mode = TACT_MODE_LOOP; mode <= (int)TACT_MODE_UNROLL; mode++) {
		const struct tact_block_options opt = {.size = sizeof(opt),
						       .mode = (enum tact_mode)mode};

		assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), &opt, NULL), 0);
		for (unsigned i = 0; i < BLOCKS; i++) {
			assert_int_equal(tact_block_load(block, code[i], size[i], NULL), 0);
			assert_int_equal(tact_predict(block, NULL, &p), 0);
			explain(block);
		}
		n_allocations = 0;
		for (unsigned i = 0; i < BLOCKS; i++) {
			assert_int_equal(tact_block_load(block, code[i], size[i], NULL), 0);
			assert_int_equal(tact_predict(block, NULL, &p), 0);
			explain(block);
		}
		/* Encodings that are decoded again each time fill the arena: at most one chunk. */
		assert_true(n_allocations <= 1);
		tact_block_destroy(block);
	}
}

/* A load allocates only while buffers grow: many small blocks of common code settle. */
TEST(allocations_settle)
{
	struct tact_prediction p = TACT_PREDICTION_INIT;
	struct tact_block *block;

	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), NULL, NULL), 0);
	for (unsigned round = 0; round < 3; round++) {
		n_allocations = 0;
		for (unsigned i = 0; i < 10000; i++) {
			/* mov eax, i; add [rbx + i], eax: constants do not count */
			const uint8_t code[] = {0xb8, (uint8_t)i, (uint8_t)(i >> 8), 0, 0, 0x01,
						0x83, (uint8_t)i, (uint8_t)(i >> 8), 0, 0};

			assert_int_equal(tact_block_load(block, code, sizeof(code), NULL), 0);
			assert_int_equal(tact_predict(block, NULL, &p), 0);
		}
		if (round)
			assert_int_equal(n_allocations, 0);
	}
	tact_block_destroy(block);
}

static int load_and_predict(void *arg)
{
	/* 40 times add [rax+i], ecx; mov rdx, [rax+i]: insns, nodes, stores, cache and scratch grow
	 */
	uint8_t code[40 * 7];
	struct tact_block *block = NULL;
	struct tact_prediction p = TACT_PREDICTION_INIT;
	int status;

	(void)arg;
	for (unsigned i = 0; i < 40; i++) {
		const uint8_t pair[7] = {0x01, 0x48, (uint8_t)i, 0x48, 0x8b, 0x50, (uint8_t)i};

		memcpy(code + 7 * i, pair, sizeof(pair));
	}
	status = tact_block_create(&block, tact_arch_find("SKL"), NULL, NULL);
	if (status < 0)
		return status;
	status = tact_block_load(block, code, sizeof(code), NULL);
	if (status < 0)
		assert_int_equal(tact_block_length(block), 0);
	else
		status = tact_predict(block, NULL, &p);
	tact_block_destroy(block);
	return status;
}

TEST(every_allocation_may_fail)
{
	assert_true(try_failures(load_and_predict, NULL) > 3);
}

/* Replacing what was seen before allocates nothing. */
TEST(replacing_does_not_allocate)
{
	static const uint8_t insns[][4] = {{0x48, 0x01, 0xd8, 0}, /* of 3 and of 4 bytes */
					   {0x48, 0x89, 0x47, 0x08},
					   {0x48, 0x8b, 0x4f, 0x08},
					   {0x48, 0x0f, 0xaf, 0xc1}};
	struct tact_prediction p = TACT_PREDICTION_INIT;
	struct tact_block *block;

	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), NULL, NULL), 0);
	assert_int_equal(tact_block_load(block, (const uint8_t *)"\x90\x90\x90\x90", 4, NULL), 0);
	for (unsigned round = 0; round < 3; round++) {
		n_allocations = 0;
		for (unsigned i = 0; i < 1000; i++) {
			unsigned k = i * 7 % 4;

			assert_int_equal(
				tact_block_replace(block, i % 4, insns[k], k ? 4 : 3, NULL), 0);
			assert_int_equal(tact_predict(block, NULL, &p), 0);
		}
		if (round)
			assert_int_equal(n_allocations, 0);
	}
	tact_block_destroy(block);
}

/* Memory that is missing leaves the block as it was. */
static int grow_by_inserting(void *arg)
{
	struct tact_block *block = NULL;
	struct tact_prediction p = TACT_PREDICTION_INIT, q = TACT_PREDICTION_INIT;
	int status = tact_block_create(&block, tact_arch_find("SKL"), NULL, NULL);

	(void)arg;
	if (status >= 0)
		status = tact_block_load(block, (const uint8_t *)"\x90", 1, NULL);
	for (unsigned i = 0; i < 60 && status >= 0; i++) {
		const uint8_t store[] = {0x48, 0x89, (uint8_t)(0x40 | i % 4 << 3), (uint8_t)i};

		status = tact_predict(block, NULL, &p);
		if (status < 0)
			break;
		status = tact_block_insert(block, i, store, sizeof(store), NULL);
		if (status >= 0)
			continue;
		assert_int_equal(tact_block_length(block), i + 1);
		assert_int_equal(tact_predict(block, NULL, &q), 0);
		assert_memory_equal(&p, &q, sizeof(p));
	}
	tact_block_destroy(block);
	return status;
}

TEST(inserting_may_fail)
{
	assert_true(try_failures(grow_by_inserting, NULL) > 5);
}

static int derive(void *arg)
{
	struct tact_arch *arch;
	int status = tact_arch_derive(&arch, tact_arch_find("SKL"), "/dev/null", NULL);

	(void)arg;
	if (status == 0)
		tact_arch_destroy(arch);
	return status;
}

TEST(derive_may_fail)
{
	assert_true(try_failures(derive, NULL) > 0);
}

static int five_rounds(void *arg)
{
	struct tact_measurement m = {
		.size = sizeof(m), .cycles_per_iteration = 1, .mode = TACT_MODE_UNROLL};
	struct tact_rounds *rounds;
	int status = tact_rounds_create(&rounds);

	(void)arg;
	for (int i = 0; i < 5 && status >= 0; i++) {
		status = tact_rounds_add(rounds, &m);
		if (status >= 0)
			assert_int_equal(tact_rounds_result(rounds, &m), 0);
	}
	tact_rounds_destroy(rounds);
	return status;
}

TEST(rounds_may_fail)
{
	assert_true(try_failures(five_rounds, NULL) > 0);
}

static int visit(void *context, int cpu, const struct tact_campaign_block *block,
		 struct tact_measurement *out)
{
	(void)context;
	(void)block;
	*out = (struct tact_measurement){.size = sizeof(*out),
					 .cycles_per_iteration = 1,
					 .mode = TACT_MODE_UNROLL,
					 .cpu = cpu};
	return 0;
}

static int campaign(void *arg)
{
	static const struct tact_campaign_block blocks[] = {{(const uint8_t *)"\x90", 1, false, 0},
							    {(const uint8_t *)"\x91", 1, false, 0}};
	static const int cpu = 0;
	const struct tact_campaign_options opt = {
		.size = sizeof(opt), .cpus = &cpu, .n_workers = 1, .rounds = 3, .visit = visit};
	struct tact_campaign_progress now;
	struct tact_campaign *c;
	int status = tact_campaign_create(&c, blocks, 2, &opt);

	(void)arg;
	if (status < 0)
		return status;
	tact_campaign_start(c);
	do
		tact_campaign_wait(c, 10, &now);
	while (now.is_running);
	tact_campaign_destroy(c);
	if (now.end == TACT_CAMPAIGN_FAILED)
		return -TACT_E_NOMEM;
	assert_int_equal(now.n_confirmed, 2);
	return 0;
}

TEST(a_campaign_may_fail)
{
	assert_true(try_failures(campaign, NULL) > 0);
}

static int batch(void *arg)
{
	static const uint8_t code[] = {0x48, 0x01, 0xd8};
	struct tact_job jobs[3] = {{.size = sizeof(*jobs), .code = code, .code_size = 3},
				   {.size = sizeof(*jobs), .code = code, .code_size = 3},
				   {.size = sizeof(*jobs), .code = code, .code_size = 3}};
	long status = tact_predict_batch(tact_arch_find("SKL"), NULL, NULL, jobs, 3, 1);

	(void)arg;
	/* memory that is missing in the middle makes single jobs fail */
	return status > 0 ? jobs[0].status ? jobs[0].status : jobs[1].status : (int)status;
}

TEST(batch_may_fail)
{
	assert_true(try_failures(batch, NULL) > 0);
}

/* Estimates the same random blocks twice; returns how often the second round allocated.  All of them
 * must fit into the cache of instructions: it takes memory again after it was full.
 */
static unsigned long
allocations_of_second_round(uint64_t seed, unsigned n, struct tact_block *block,
			    int (*estimate)(void *self, struct tact_block *block), void *self)
{
	for (unsigned round = 0; round < 2; round++) {
		struct rng rng = {seed};

		n_allocations = 0;
		for (unsigned i = 0; i < n; i++) {
			uint8_t code[BYTES];
			size_t size = random_block(&rng, code, 12);

			assert_int_equal(tact_block_load(block, code, size, NULL), 0);
			assert_int_equal(estimate(self, block), 0);
		}
	}
	return n_allocations;
}

/* ---- the machine of llvm-mca ---- */

static int estimate_mca(void *machine, struct tact_block *block)
{
	struct tact_mca_result result = TACT_MCA_RESULT_INIT;

	return tact_mca_estimate(machine, block, &result);
}

TEST(mca_does_not_allocate)
{
	struct tact_mca_params *params;
	struct tact_mca_options opt = {.size = sizeof(opt), .iterations = 5};
	struct tact_mca *machine;
	struct tact_block *block;

	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), NULL, NULL), 0);
	assert_int_equal(tact_mca_params_create(&params, tact_arch_find("SKL"), NULL), 0);
	opt.params = params;
	assert_int_equal(tact_mca_create(&machine, &opt, NULL), 0);
	assert_int_equal(allocations_of_second_round(6, BLOCKS / 2, block, estimate_mca, machine),
			 0);
	tact_mca_destroy(machine);
	tact_mca_params_destroy(params);
	tact_block_destroy(block);
}

static int mca_parameters(void *arg)
{
	struct tact_mca_params *params = NULL, *copy = NULL;
	int status = tact_mca_params_create(&params, tact_arch_find("SKL"), NULL);

	(void)arg;
	if (!status)
		status = tact_mca_params_copy(&copy, params, NULL);
	if (!status)
		status = tact_mca_params_save(params, "/dev/null", NULL, NULL);
	if (!status) {
		status = tact_mca_params_load(params, "/dev/null", NULL);
		status = status == -TACT_E_FORMAT ? 0 : status; /* the file is empty */
	}
	tact_mca_params_destroy(params);
	tact_mca_params_destroy(copy);
	return status;
}

/* `arg` is a loaded block. */
static int mca_estimates(void *arg)
{
	struct tact_mca_code *code = NULL;
	struct tact_mca *machine = NULL;
	struct tact_mca_result e = TACT_MCA_RESULT_INIT;
	int status = tact_mca_create(&machine, NULL, NULL);

	if (!status)
		status = tact_mca_estimate(machine, arg, &e);
	if (!status)
		status = tact_mca_code_create(&code, arg, TACT_MCA_ALIAS, NULL);
	tact_mca_code_destroy(code);
	tact_mca_destroy(machine);
	return status;
}

TEST(mca_may_fail)
{
	static const uint8_t code[] = {0x48, 0x01, 0xd8, 0x01, 0x07};
	struct tact_block *block;

	assert_true(try_failures(mca_parameters, NULL) > 4);
	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), NULL, NULL), 0);
	assert_int_equal(tact_block_load(block, code, sizeof(code), NULL), 0);
	assert_true(try_failures(mca_estimates, block) > 2);
	tact_block_destroy(block);
}

/* ---- the registry ---- */

static int estimate_model(void *e, struct tact_block *block)
{
	struct tact_estimate x = {.size = sizeof(x)};

	return tact_model_estimate(e, block, &x);
}

/* A model keeps its memory: all blocks once, and once more without an allocation. */
TEST(models_do_not_allocate)
{
	static const char *const names[] = {"facile", "facile:paper", "facile:only=ports", "sim",
					    "mca"};
	const struct tact_model_options opt = {.size = sizeof(opt), .bounds = true};
	struct tact_estimator *e;
	struct tact_block *block;

	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), NULL, NULL), 0);
	for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
		assert_int_equal(tact_model_open(&e, names[k], &opt, NULL), 0);
		assert_int_equal(
			allocations_of_second_round(7, BLOCKS / 5, block, estimate_model, e), 0);
		tact_model_close(e);
	}
	tact_block_destroy(block);
}

static int all_models(void *arg)
{
	struct tact_estimate x = {.size = sizeof(x)};
	struct tact_estimator *e;
	int status = 0;

	for (const struct tact_model *m = NULL; (m = tact_model_next(m)) && !status;) {
		if (m->traits & TACT_MODEL_BATCH)
			continue;
		status = tact_model_open(&e, m->name, NULL, NULL);
		if (status < 0)
			break;
		status = tact_model_estimate(e, arg, &x);
		tact_model_close(e);
	}
	return status;
}

TEST(models_may_fail)
{
	static const uint8_t code[] = {0x48, 0x01, 0xd8, 0x01, 0x07};
	struct tact_block *block;

	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), NULL, NULL), 0);
	assert_int_equal(tact_block_load(block, code, sizeof(code), NULL), 0);
	assert_true(try_failures(all_models, block) > 5);
	tact_block_destroy(block);
}

RUN_TESTS(NULL, NULL)
