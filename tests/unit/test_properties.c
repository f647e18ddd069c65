/* SPDX-License-Identifier: MIT
 *
 * What holds for every block, tried on random blocks of known instructions.
 */
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "support.h"

enum { BLOCKS = 1500, MOST_INSNS = 12, MAX_BYTES = MOST_INSNS * TACT_MAX_INSN_BYTES };

struct sample {
	uint8_t code[MAX_BYTES];
	size_t size;
};

static struct sample *samples;
static size_t n_samples;

static int make_samples(void **state)
{
	struct rng rng = {4711};

	(void)state;
	n_samples = rounds(BLOCKS);
	samples = calloc(n_samples, sizeof(*samples));
	if (!samples)
		return -1;
	for (size_t i = 0; i < n_samples; i++)
		samples[i].size = random_block(&rng, samples[i].code, MOST_INSNS);
	return 0;
}

static int free_samples(void **state)
{
	(void)state;
	free(samples);
	return 0;
}

static struct tact_block *create(const char *arch, enum tact_mode mode, bool paper)
{
	const struct tact_block_options opt = {.size = sizeof(opt), .mode = mode, .paper = paper};
	struct tact_block *block;

	assert_int_equal(tact_block_create(&block, tact_arch_find(arch), &opt, NULL), 0);
	return block;
}

static void load(struct tact_block *block, const struct sample *s)
{
	struct tact_diag diag;

	if (tact_block_load(block, s->code, s->size, &diag) < 0)
		fail_msg("%s", diag.text);
}

static struct tact_prediction predict(struct tact_block *block,
				      const struct tact_predict_options *opt)
{
	struct tact_prediction p = TACT_PREDICTION_INIT;

	assert_int_equal(tact_predict(block, opt, &p), 0);
	return p;
}

static bool same(const struct tact_prediction *a, const struct tact_prediction *b)
{
	if (a->cycles_per_iteration != b->cycles_per_iteration || a->coverage != b->coverage ||
	    a->mode != b->mode || a->applies != b->applies || a->bottlenecks != b->bottlenecks)
		return false;
	for (unsigned i = 0; i < TACT_N_BOUNDS; i++)
		if (a->applies >> i & 1 && a->bound[i] != b->bound[i])
			return false;
	return true;
}

/* Calls check with every sample on every arch in both modes. */
static void for_all(void (*check)(struct tact_block *block, const struct sample *s), size_t step)
{
	for (const struct tact_arch *arch = NULL; (arch = tact_arch_next(arch));) {
		for (int mode = TACT_MODE_LOOP; mode <= (int)TACT_MODE_UNROLL; mode++) {
			struct tact_block *block =
				create(tact_arch_name(arch), (enum tact_mode)mode, false);

			for (size_t i = 0; i < n_samples; i += step) {
				load(block, &samples[i]);
				check(block, &samples[i]);
			}
			tact_block_destroy(block);
		}
	}
}

static void check_is_maximum(struct tact_block *block, const struct sample *s)
{
	struct tact_prediction p = predict(block, NULL);
	double worst = 0;

	(void)s;
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++) {
		if (!(p.applies >> b & 1)) {
			assert_false(p.bottlenecks >> b & 1);
			continue;
		}
		assert_true(isfinite(p.bound[b]) && p.bound[b] >= 0);
		worst = fmax(worst, p.bound[b]);
	}
	assert_true(p.cycles_per_iteration == worst);
	assert_true(p.cycles_per_iteration > 0); /* every instruction is issued */
	assert_true(p.bottlenecks != 0);
	assert_int_equal(p.bottlenecks & ~p.applies, 0);
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++)
		if (p.bottlenecks >> b & 1)
			assert_true(fabs(p.bound[b] - worst) < 1e-6);
	assert_true(p.coverage >= 0 && p.coverage <= 1);
	assert_int_equal(p.size, sizeof(p));
}

TEST(prediction_is_the_largest_bound)
{
	for_all(check_is_maximum, 2);
}

static void check_without(struct tact_block *block, const struct sample *s)
{
	struct tact_prediction all = predict(block, NULL);

	(void)s;
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++) {
		struct tact_predict_options opt = {.size = sizeof(opt)};
		struct tact_prediction p = TACT_PREDICTION_INIT;

		opt.bounds = ((1u << TACT_N_BOUNDS) - 1) & ~(1u << b);
		p = predict(block, &opt);
		assert_true(p.cycles_per_iteration <= all.cycles_per_iteration);
		assert_false(p.applies >> b & 1);
		if (!(all.bottlenecks >> b & 1))
			assert_true(p.cycles_per_iteration == all.cycles_per_iteration);
		opt.bounds = 1u << b;
		p = predict(block, &opt);
		assert_int_equal(p.applies & ~(1u << b), 0);
		if (all.applies >> b & 1)
			assert_true(p.cycles_per_iteration == all.bound[b]);
	}
}

/* Leaving out a component never makes it slower; alone, it gives what it gave before. */
TEST(leaving_out_a_component)
{
	for_all(check_without, 8);
}

static unsigned long n_compared, n_equal;

static void check_ports(struct tact_block *block, const struct sample *s)
{
	struct tact_predict_options opt = {.size = sizeof(opt), .exact_ports = true};
	double pairs = predict(block, NULL).bound[TACT_BOUND_PORTS];
	double exact = predict(block, &opt).bound[TACT_BOUND_PORTS];

	(void)s;
	assert_true(exact >= pairs - 1e-9);
	n_compared++;
	n_equal += fabs(exact - pairs) < 1e-9;
}

/* The paper's unions of pairs find the worst set almost always (section 4.8). */
TEST(pairs_of_ports_suffice)
{
	n_compared = n_equal = 0;
	for_all(check_ports, 1);
	print_message("%lu of %lu are equal\n", n_equal, n_compared);
	assert_true((double)n_equal > 0.999 * (double)n_compared);
}

/* Bounds beyond the paper do not apply there. */
TEST(paper_has_seven_bounds)
{
	struct tact_block *block = create("SKL", TACT_MODE_UNROLL, true);

	for (size_t i = 0; i < n_samples; i++) {
		load(block, &samples[i]);
		assert_int_equal(predict(block, NULL).applies >> (TACT_BOUND_PRECEDENCE + 1), 0);
	}
	tact_block_destroy(block);
}

/* To another core and back, and through other options and back. */
TEST(rebinding_goes_round)
{
	struct tact_block *block = create("SKL", TACT_MODE_UNROLL, false);
	struct tact_block_options there = {.size = sizeof(there),
					   .mode = TACT_MODE_LOOP,
					   .init = TACT_INIT_SAME,
					   .alignment = 17,
					   .paper = true};
	struct tact_block_options back = {.size = sizeof(back), .mode = TACT_MODE_UNROLL};

	for (size_t i = 0; i < n_samples; i++) {
		const struct tact_arch *arch = NULL;
		struct tact_prediction before = TACT_PREDICTION_INIT, direct = TACT_PREDICTION_INIT,
				       after = TACT_PREDICTION_INIT;

		for (size_t k = 0; k <= i % 13; k++)
			arch = tact_arch_next(arch);
		load(block, &samples[i]);
		before = predict(block, NULL);
		assert_int_equal(tact_block_rebind(block, arch, &there), 0);
		assert_ptr_equal(tact_block_arch(block), arch);
		after = predict(block, NULL);
		load(block, &samples[i]); /* loaded there again: the same */
		direct = predict(block, NULL);
		assert_true(same(&after, &direct));
		assert_int_equal(tact_block_rebind(block, tact_arch_find("SKL"), &back), 0);
		after = predict(block, NULL);
		assert_true(same(&before, &after));
		assert_int_equal(tact_block_rebind(block, NULL, NULL), 0);
		after = predict(block, NULL);
		assert_true(same(&before, &after));
	}
	tact_block_destroy(block);
}

/* Forwards, backwards, and each in a block of its own: what was loaded before does not matter. */
TEST(order_does_not_matter)
{
	struct tact_prediction *first = calloc(n_samples, sizeof(*first));
	struct tact_block *block = create("ICL", TACT_MODE_UNROLL, false);

	assert_non_null(first);
	for (size_t i = 0; i < n_samples; i++) {
		load(block, &samples[i]);
		first[i] = predict(block, NULL);
	}
	tact_block_destroy(block);
	block = create("ICL", TACT_MODE_UNROLL, false);
	for (size_t i = n_samples; i--;) {
		struct tact_prediction p = TACT_PREDICTION_INIT;

		load(block, &samples[i]);
		p = predict(block, NULL);
		assert_true(same(&p, &first[i]));
	}
	tact_block_destroy(block);
	for (size_t i = 0; i < n_samples; i += 20) {
		struct tact_prediction p = TACT_PREDICTION_INIT;

		block = create("ICL", TACT_MODE_UNROLL, false);
		load(block, &samples[i]);
		p = predict(block, NULL);
		assert_true(same(&p, &first[i]));
		tact_block_destroy(block);
	}
	free(first);
}

/* A failed load leaves nothing that a later one would see. */
TEST(failures_leave_no_trace)
{
	const uint8_t bad[] = {0x48, 0x01, 0xd8, 0x06};
	struct tact_block *block = create("SKL", TACT_MODE_UNROLL, false);
	struct tact_block *clean = create("SKL", TACT_MODE_UNROLL, false);

	for (size_t i = 0; i < n_samples; i += 4) {
		struct tact_prediction a = TACT_PREDICTION_INIT, b = TACT_PREDICTION_INIT;

		assert_int_equal(tact_block_load(block, bad, sizeof(bad), NULL), -TACT_E_DECODE);
		assert_int_equal(tact_block_length(block), 0);
		assert_int_equal(tact_predict(block, NULL, &a), -TACT_E_INVAL);
		load(block, &samples[i]);
		load(clean, &samples[i]);
		a = predict(block, NULL);
		b = predict(clean, NULL);
		assert_true(same(&a, &b));
	}
	tact_block_destroy(block);
	tact_block_destroy(clean);
}

/* ---- threads ---- */

struct thread {
	pthread_t id;
	struct tact_prediction *results;
};

static void *predict_all(void *arg)
{
	struct thread *t = arg;
	const struct tact_block_options opt = {.size = sizeof(opt), .mode = TACT_MODE_LOOP};
	struct tact_block *block;

	if (tact_block_create(&block, tact_arch_find("SKL"), &opt, NULL) < 0)
		return NULL;
	for (size_t i = 0; i < n_samples; i++) {
		t->results[i].size = sizeof(t->results[i]);
		if (tact_block_load(block, samples[i].code, samples[i].size, NULL) < 0 ||
		    tact_predict(block, NULL, &t->results[i]) < 0)
			t->results[i].size = 0;
	}
	tact_block_destroy(block);
	return t;
}

TEST(threads_agree)
{
	struct thread threads[4];

	for (size_t t = 0; t < ARRAY_SIZE(threads); t++) {
		threads[t].results = calloc(n_samples, sizeof(struct tact_prediction));
		assert_non_null(threads[t].results);
		assert_int_equal(pthread_create(&threads[t].id, NULL, predict_all, &threads[t]), 0);
	}
	for (size_t t = 0; t < ARRAY_SIZE(threads); t++) {
		void *done;

		assert_int_equal(pthread_join(threads[t].id, &done), 0);
		assert_non_null(done);
	}
	for (size_t t = 1; t < ARRAY_SIZE(threads); t++)
		for (size_t i = 0; i < n_samples; i++)
			assert_true(threads[t].results[i].size &&
				    same(&threads[t].results[i], &threads[0].results[i]));
	for (size_t t = 0; t < ARRAY_SIZE(threads); t++)
		free(threads[t].results);
}

/* The batch call gives what single calls give for every block, with any number of threads. */
TEST(batch_equals_single_calls)
{
	static const uint8_t bad[] = {0x06};
	const struct tact_block_options opt = {.size = sizeof(opt), .mode = TACT_MODE_UNROLL};
	struct tact_block *block = create("HSW", TACT_MODE_UNROLL, false);
	struct tact_job *jobs = calloc(n_samples, sizeof(*jobs));

	assert_non_null(jobs);
	for (unsigned threads = 0; threads < 4; threads++) {
		unsigned failures = 0;

		for (size_t i = 0; i < n_samples; i++) {
			bool fails = i % 100 == 7;

			failures += fails;
			jobs[i] = (struct tact_job){.size = sizeof(*jobs),
						    .code = fails ? bad : samples[i].code,
						    .code_size = fails ? 1 : samples[i].size};
		}
		assert_int_equal(tact_predict_batch(tact_arch_find("HSW"), &opt, NULL, jobs,
						    n_samples, threads),
				 failures);
		for (size_t i = 0; i < n_samples; i++) {
			struct tact_prediction p = TACT_PREDICTION_INIT;

			if (i % 100 == 7) {
				assert_int_equal(jobs[i].status, -TACT_E_DECODE);
				continue;
			}
			assert_int_equal(jobs[i].status, 0);
			load(block, &samples[i]);
			p = predict(block, NULL);
			assert_true(same(&p, &jobs[i].prediction));
		}
	}
	tact_block_destroy(block);
	free(jobs);
}

/* ---- explanations ---- */

static void check_explanations(struct tact_block *block, const struct sample *s)
{
	struct tact_prediction p = predict(block, NULL);
	struct tact_port_contention ports = TACT_PORT_CONTENTION_INIT;
	struct tact_derivation derived = TACT_DERIVATION_INIT;
	struct tact_chain chain = TACT_CHAIN_INIT;
	struct tact_edge edge;
	size_t n = tact_block_length(block);
	unsigned latency = 0, iterations = 0;

	(void)s;
	assert_int_equal(tact_explain_ports(block, &ports), 0);
	assert_int_equal(tact_explain_bound(block, NULL, TACT_BOUND_PORTS, &derived), 0);
	if (p.bound[TACT_BOUND_PORTS] > 0) {
		double cycles = ports.uops / __builtin_popcount(ports.ports);

		/* the set that is named explains the number, unless banks of the cache do */
		assert_true(ports.n_insns > 0);
		assert_int_equal(ports.ports & ~tact_arch_ports(tact_block_arch(block)), 0);
		if (derived.counted == TACT_COUNTED_LOADS) {
			assert_true(cycles < p.bound[TACT_BOUND_PORTS]);
			cycles = (double)derived.amount / derived.per;
		}
		assert_true(fabs(cycles - p.bound[TACT_BOUND_PORTS]) < 1e-9);
	}
	for (size_t i = 0; i < ports.n_insns; i++)
		assert_true(ports.insns[i] < n && (!i || ports.insns[i] > ports.insns[i - 1]));
	assert_int_equal(tact_explain_chain(block, &chain), 0);
	assert_true(fabs(chain.cycles_per_iteration - fmax(p.bound[TACT_BOUND_PRECEDENCE],
							   p.bound[TACT_BOUND_FORWARDING])) < 1e-6);
	for (size_t i = 0; i < chain.n_links; i++) {
		assert_true(chain.links[i].insn < n);
		latency += chain.links[i].latency;
		iterations += chain.links[i].iterations;
	}
	assert_int_equal(latency, chain.latency);
	assert_int_equal(iterations, chain.iterations);
	if (chain.cycles_per_iteration > 0)
		assert_true(iterations > 0 &&
			    fabs((double)latency / iterations - chain.cycles_per_iteration) < 1e-6);
	for (size_t cursor = 0; tact_block_edge(block, &cursor, &edge) == 1;) {
		assert_true(edge.from < n && edge.to < n);
	}
}

/* The reasons that are given add up to the bound. */
TEST(explanations_explain)
{
	for_all(check_explanations, 3);
}

static void check_front_end(struct tact_block *block, const struct sample *s)
{
	struct tact_front_end_group groups[4096];
	struct tact_prediction p = predict(block, NULL);
	unsigned iterations = 0, cycles = 0;
	uint64_t insns = 0;
	int n;

	(void)s;
	n = tact_explain_predecoder(block, groups, ARRAY_SIZE(groups), &iterations);
	assert_true(n > 0 && n <= (int)ARRAY_SIZE(groups) && iterations > 0);
	for (int i = 0; i < n; i++) {
		assert_true(groups[i].first_insn < tact_block_length(block));
		cycles += groups[i].cycles;
		insns += groups[i].n_insns;
	}
	assert_int_equal(insns, iterations * tact_block_length(block));
	if (p.applies >> TACT_BOUND_PREDECODE & 1)
		assert_true(fabs((double)cycles / iterations - p.bound[TACT_BOUND_PREDECODE]) <
			    1e-6);
	/* The number does not depend on the room that is given. */
	assert_int_equal(tact_explain_predecoder(block, NULL, 0, &iterations), n);
	n = tact_explain_decoder(block, groups, ARRAY_SIZE(groups), &iterations);
	assert_true(n >= 0 && n <= (int)ARRAY_SIZE(groups) && iterations > 0);
	if (p.applies >> TACT_BOUND_DECODE & 1)
		assert_true(fabs((double)n / iterations - p.bound[TACT_BOUND_DECODE]) <
			    1.0 / iterations + 1e-6);
	insns = 0;
	for (int i = 0; i < n; i++)
		insns += groups[i].n_insns;
	assert_int_equal(insns, n ? iterations * tact_block_length(block) : 0);
	assert_int_equal(tact_explain_decoder(block, NULL, 0, &iterations), n);
}

TEST(front_end_groups_add_up)
{
	for_all(check_front_end, 3);
}

static void check_costs(struct tact_block *block, const struct sample *s)
{
	unsigned ports = tact_arch_ports(tact_block_arch(block));

	(void)s;
	for (size_t i = 0; i < tact_block_length(block); i++) {
		struct tact_insn_cost cost = {.size = sizeof(cost)};

		assert_int_equal(tact_block_cost(block, i, &cost), 0);
		for (unsigned port = 0; port < TACT_MAX_PORTS; port++) {
			assert_true(isfinite(cost.port[port]) && cost.port[port] >= 0);
			if (!(ports >> port & 1))
				assert_true(cost.port[port] == 0);
		}
		if (cost.notes & TACT_NOTE_FUSED_PREV)
			assert_true(i > 0);
	}
}

TEST(costs_stay_on_ports)
{
	for_all(check_costs, 3);
}

RUN_TESTS(make_samples, free_samples)
